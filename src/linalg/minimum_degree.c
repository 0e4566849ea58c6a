// Approximate minimum degree ordering (Amestoy, Davis and Duff 1996) on the quotient graph.
//
// An eliminated row becomes an element: the set of rows it couples. A row keeps a list of elements,
// then one of rows to which it is still directly coupled; the remaining matrix is never formed.
// Rows that have become indistinguishable are merged and counted by `weight`. The degree of a row
// is bounded from above by the sizes of its elements minus their overlap with the newest one.
#include "linalg/graph.h"

#include <math.h>
#include <string.h>

enum { NONE = -1 };

// The state of a row or element.
enum { ROW, ELEMENT, GONE };

typedef struct quotient {
    int32_t n;
    int32_t *lists;        // all lists, one after the other
    int32_t capacity, end; // of `lists`
    int32_t *start, *length,
        *elements;   // of each row or element: its list, the part of it that are elements
    int32_t *weight; // merged rows; negative while a row is in the newest element
    int32_t *degree; // bound of a row; size of an element
    uint8_t *kind;
    int32_t *stamp; // marks, see compute_overlaps
    int32_t clock;
    int32_t *head, *next, *previous; // rows by degree
    int32_t least;                   // no shorter degree list has a row
    int32_t *member, *member_tail; // chains of merged rows, in the order they are to be eliminated
    int32_t eliminated;
} quotient;

static void unlink_row(quotient *q, int32_t i) {
    if (q->next[i] != NONE) {
        q->previous[q->next[i]] = q->previous[i];
    }

    if (q->previous[i] != NONE) {
        q->next[q->previous[i]] = q->next[i];
    } else {
        q->head[q->degree[i]] = q->next[i];
    }
}

static void link_row(quotient *q, int32_t i) {
    int32_t d = q->degree[i];
    q->next[i] = q->head[d];
    q->previous[i] = NONE;
    if (q->head[d] != NONE) {
        q->previous[q->head[d]] = i;
    }

    q->head[d] = i;
    if (d < q->least) {
        q->least = d;
    }
}

// Row i is merged into row j and eliminated right after it.
static void merge(quotient *q, int32_t i, int32_t j) {
    q->kind[i] = GONE;
    q->weight[i] = 0;
    q->member[q->member_tail[j]] = i;
    q->member_tail[j] = q->member_tail[i];
}

// Moves all live lists to the front. The first entry of each list is replaced by its owner, so that
// the pass can find the lists.
static void compress(quotient *q) {
    // Put the owner where each list begins; the entry it replaces is kept in `start`.
    for (int32_t i = 0; i < q->n; i++) {
        if (q->kind[i] == GONE || q->length[i] == 0) {
            continue;
        }
        int32_t first = q->lists[q->start[i]];
        q->lists[q->start[i]] = -2 - i;
        q->start[i] = first;
    }

    // Slide the lists to the front.
    int32_t to = 0;
    for (int32_t from = 0; from < q->end;) {
        int32_t mark = q->lists[from];
        if (mark >= 0) { // belongs to a list that is gone
            from++;
            continue;
        }

        int32_t i = -2 - mark;
        int32_t first = q->start[i];

        q->start[i] = to;
        q->lists[to] = first;
        memmove(q->lists + to + 1, q->lists + from + 1,
                (size_t)(q->length[i] - 1) * sizeof(int32_t));
        to += q->length[i];
        from += q->length[i];
    }

    q->end = to;
}

// Adds row i to the element that is being built, unless it is in it or gone.
static void take_row(quotient *q, int32_t i, int32_t *size) {
    if (q->weight[i] <= 0) {
        return;
    }

    *size += q->weight[i];
    q->weight[i] = -q->weight[i];
    q->lists[q->end++] = i;
    unlink_row(q, i);
}

// Turns the pivot into an element: the union of its rows and those of its elements, which it
// absorbs. Returns its size.
static int32_t build_element(quotient *q, int32_t pivot) {
    // The union cannot be longer than the number of rows left.
    if (q->capacity - q->end < q->n - q->eliminated) {
        compress(q);
    }

    SN_ASSERT(q->capacity - q->end >= q->n - q->eliminated);
    int32_t first = q->end;
    int32_t size = 0;

    // The union of the rows of the pivot's elements and of its own rows.
    q->weight[pivot] = 0; // no row any more
    for (int32_t k = 0; k < q->length[pivot]; k++) {
        int32_t other = q->lists[q->start[pivot] + k];
        if (k >= q->elements[pivot]) {
            take_row(q, other, &size);
            continue;
        }

        for (int32_t l = 0; l < q->length[other]; l++) {
            take_row(q, q->lists[q->start[other] + l], &size);
        }

        q->kind[other] = GONE;
    }

    q->kind[pivot] = ELEMENT;
    q->start[pivot] = first;
    q->length[pivot] = q->end - first;
    q->elements[pivot] = 0;
    q->degree[pivot] = size;

    return size;
}

// stamp[e] - clock becomes the number of rows of each element e that are not in the newest one, for
// all e that touch it.
static void compute_overlaps(quotient *q, int32_t newest) {
    for (int32_t k = 0; k < q->length[newest]; k++) {
        int32_t i = q->lists[q->start[newest] + k];
        int32_t weight = -q->weight[i];
        for (int32_t l = 0; l < q->elements[i]; l++) {
            int32_t e = q->lists[q->start[i] + l];
            if (q->stamp[e] < q->clock) {
                q->stamp[e] = q->clock + q->degree[e];
            }
            q->stamp[e] -= weight;
        }
    }
}

// Rebuilds the list of row i with the newest element and without what is gone or absorbed, and
// bounds its degree without the newest element's contribution. Returns a hash of the list.
static uint32_t update_row(quotient *q, int32_t i, int32_t newest) {
    int32_t *list = q->lists + q->start[i];
    int32_t to = 0;
    int32_t degree = 0;
    uint32_t hash = (uint32_t)newest;

    // Elements: drop those that are gone or lie within the newest one.
    for (int32_t l = 0; l < q->elements[i]; l++) {
        int32_t e = list[l];
        int32_t outside = q->stamp[e] - q->clock;
        if (q->kind[e] == GONE) {
            continue;
        }
        if (outside == 0) { // lies within the newest element
            q->kind[e] = GONE;
            continue;
        }

        degree += outside;
        list[to++] = e;
        hash += (uint32_t)e;
    }

    int32_t elements = to;

    // Rows: drop those that the newest element covers.
    for (int32_t l = q->elements[i]; l < q->length[i]; l++) {
        int32_t j = list[l];
        if (q->weight[j] <= 0) {
            continue; // gone, or in the newest element
        }

        degree += q->weight[j];
        list[to++] = j;
        hash += (uint32_t)j;
    }

    // There is room: the pivot, or an element that it absorbed, was in the list.
    SN_ASSERT(to < q->length[i]);
    list[to] = list[elements];
    list[elements] = newest;
    q->elements[i] = elements + 1;
    q->length[i] = to + 1;

    // The bound can only shrink.
    if (degree < q->degree[i]) {
        q->degree[i] = degree;
    }

    return hash;
}

static bool same_lists(const quotient *q, int32_t i, int32_t j) {
    if (q->length[i] != q->length[j] || q->elements[i] != q->elements[j]) {
        return false;
    }

    for (int32_t l = 0; l < q->length[j]; l++) {
        if (q->stamp[q->lists[q->start[j] + l]] != q->clock) {
            return false;
        }
    }

    return true;
}

// Merges the rows of one hash chain whose lists are the same.
static void merge_equal(quotient *q, int32_t first) {
    for (int32_t i = first; i != NONE && q->next[i] != NONE; i = q->next[i]) {
        // Mark the list of row i, then compare the later rows of the chain with it.
        q->clock++;
        for (int32_t l = 0; l < q->length[i]; l++) {
            q->stamp[q->lists[q->start[i] + l]] = q->clock;
        }

        for (int32_t before = i, j = q->next[i]; j != NONE; j = q->next[j]) {
            if (same_lists(q, i, j)) {
                q->weight[i] += q->weight[j];
                merge(q, j, i);
                q->next[before] = q->next[j];
            } else {
                before = j;
            }
        }
    }
}

// Updates all rows of the newest element: eliminates those that are coupled to nothing else, and
// merges equal ones. `bucket` (n entries) is all NONE on entry and exit.
static void update_rows(quotient *q, int32_t newest, int32_t *bucket) {
    for (int32_t k = 0; k < q->length[newest]; k++) {
        int32_t i = q->lists[q->start[newest] + k];
        uint32_t hash = update_row(q, i, newest) % (uint32_t)q->n;
        if (q->length[i] == 1) { // can be eliminated along with the pivot without more fill
            q->degree[newest] += q->weight[i];
            q->eliminated -= q->weight[i];
            merge(q, i, newest);
            continue;
        }

        // Candidates for merging share a hash; `previous` is free to hold it.
        q->previous[i] = (int32_t)hash;
        q->next[i] = bucket[hash];
        bucket[hash] = i;
    }

    q->clock += q->n; // beyond every stamp

    // Merge within each bucket, and empty it.
    for (int32_t k = 0; k < q->length[newest]; k++) {
        int32_t i = q->lists[q->start[newest] + k];
        if (q->kind[i] == GONE) {
            continue;
        }

        int32_t first = bucket[q->previous[i]];
        bucket[q->previous[i]] = NONE;
        merge_equal(q, first);
    }
}

// Returns the rows of the newest element to the degree lists, and drops merged ones from it.
static void finish_element(quotient *q, int32_t newest, int32_t total) {
    int32_t *list = q->lists + q->start[newest];
    int32_t to = 0;
    int32_t size = q->degree[newest];

    for (int32_t k = 0; k < q->length[newest]; k++) {
        int32_t i = list[k];
        if (q->kind[i] == GONE) {
            continue;
        }

        // Degree bound: own part plus the newest element without the row itself.
        list[to++] = i;
        int32_t weight = q->weight[i] = -q->weight[i];
        int32_t degree = q->degree[i] + size - weight;
        int32_t left = total - q->eliminated - weight;

        q->degree[i] = degree < left ? degree : left;
        link_row(q, i);
    }

    q->length[newest] = to;
}

// Copies the graph without its diagonal, sets rows with very many neighbours aside (they are
// eliminated last), and links the others by degree. Returns the number of rows set aside.
static int32_t load(quotient *q, const int32_t *starts, const int32_t *columns) {
    int32_t aside = 0;

    // Rows with very many neighbours.
    double limit = fmax(16, 10 * sqrt(q->n));
    for (int32_t i = 0; i < q->n; i++) {
        if (starts[i + 1] - starts[i] > limit) {
            q->kind[i] = GONE;
        }
    }

    // Copy the lists of the others.
    for (int32_t i = 0; i < q->n; i++) {
        q->member[i] = NONE;
        q->member_tail[i] = i;
        q->head[i] = NONE;

        if (q->kind[i] == GONE) {
            q->length[i] = NONE;
            aside++;
            continue;
        }

        q->weight[i] = 1;
        q->start[i] = q->end;
        for (int32_t k = starts[i]; k < starts[i + 1]; k++) {
            if (columns[k] != i && q->kind[columns[k]] != GONE) {
                q->lists[q->end++] = columns[k];
            }
        }

        q->length[i] = q->degree[i] = q->end - q->start[i];
    }

    for (int32_t i = 0; i < q->n; i++) {
        if (q->kind[i] != GONE) {
            link_row(q, i);
        }
    }

    return aside;
}

// `order` and `bucket` have n entries.
static void eliminate_all(quotient *q, int32_t total, int32_t *order, int32_t *bucket) {
    int32_t pivots = 0;
    for (int32_t i = 0; i < q->n; i++) {
        bucket[i] = NONE;
    }

    // Eliminate one row of least degree after the other.
    while (q->eliminated < total) {
        while (q->head[q->least] == NONE) {
            q->least++;
        }

        int32_t pivot = q->head[q->least];
        unlink_row(q, pivot);
        q->eliminated += q->weight[pivot];
        build_element(q, pivot);

        // Start the stamps again before they overflow.
        if (q->clock > INT32_MAX - 4 * q->n) {
            memset(q->stamp, 0, (size_t)q->n * sizeof(int32_t));
            q->clock = 1;
        }

        compute_overlaps(q, pivot);
        update_rows(q, pivot, bucket);
        finish_element(q, pivot, total);
        order[pivots++] = pivot;
        q->clock += q->n;
    }

    // Each pivot stands for a chain of rows.
    for (int32_t i = 0; i < pivots; i++) {
        bucket[i] = order[i];
    }

    int32_t out = 0;
    for (int32_t p = 0; p < pivots; p++) {
        for (int32_t i = bucket[p]; i != NONE; i = q->member[i]) {
            order[out++] = i;
        }
    }

    // Rows that were set aside come last.
    for (int32_t i = 0; i < q->n; i++) {
        if (q->length[i] == NONE) {
            order[out++] = i;
        }
    }
}

sinew_status sn_graph_minimum_degree(sinew_context *context, int32_t n, const int32_t *starts,
                                     const int32_t *columns, int32_t *order) {
    if (n > INT32_MAX / 8 || starts[n] > INT32_MAX - n) {
        return sn_fail(context, SINEW_OUT_OF_MEMORY,
                       "a matrix of %d rows and %d entries exceeds the index range", n, starts[n]);
    }

    // The quotient graph: lists of each vertex, its state, and lists of vertices by degree.
    sn_arena scratch = sn_arena_create(context);
    size_t count = (size_t)n;
    quotient q = {.n = n, .clock = 1, .capacity = starts[n] + n};

    q.lists = SN_PUSH(&scratch, int32_t, q.capacity);
    q.start = SN_PUSH(&scratch, int32_t, count);
    q.length = SN_PUSH(&scratch, int32_t, count);
    q.elements = SN_PUSH(&scratch, int32_t, count);
    q.weight = SN_PUSH(&scratch, int32_t, count);
    q.degree = SN_PUSH(&scratch, int32_t, count);
    q.kind = SN_PUSH(&scratch, uint8_t, count);
    q.stamp = SN_PUSH(&scratch, int32_t, count);
    q.head = SN_PUSH(&scratch, int32_t, count);
    q.next = SN_PUSH(&scratch, int32_t, count);
    q.previous = SN_PUSH(&scratch, int32_t, count);
    q.member = SN_PUSH(&scratch, int32_t, count);
    q.member_tail = SN_PUSH(&scratch, int32_t, count);

    int32_t *bucket = SN_PUSH(&scratch, int32_t, count);

    // Dense rows come last; all others are eliminated by degree.
    if (!scratch.failed) {
        int32_t aside = load(&q, starts, columns);
        eliminate_all(&q, n - aside, order, bucket);
    }

    sinew_status status = sn_arena_status(&scratch);
    sn_arena_destroy(&scratch);

    return status;
}
