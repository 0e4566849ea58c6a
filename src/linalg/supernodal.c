// Symbolic phase of the sparse Cholesky factor: order, elimination tree, supernodes, rows, targets;
// see supernodal.h. Time is proportional to the number of blocks of the factor, memory to the
// number of supernodal rows.
#include "linalg/supernodal.h"

#include "linalg/graph.h"

#include <string.h>

enum { NONE = -1 };

typedef struct symbolic {
    int32_t n;
    const int32_t *starts, *columns;
    const double *positions; // NULL: none
    int32_t *number;         // of an original row in the order
    int32_t *parent;         // elimination tree
    int32_t *count;          // rows of each column of the factor, the diagonal included
    int32_t *stamp;          // n
    int32_t *first;          // of supernodes, shared with the result
    int32_t *super_parent, *owner;
    int32_t supernodes;
} symbolic;

// The elimination tree (Liu 1990): the parent of a column is its first row below the diagonal in
// the factor. `root` holds shortcuts to the root.
static void build_tree(symbolic *s, const int32_t *order, int32_t *root) {
    for (int32_t i = 0; i < s->n; i++) {
        s->parent[i] = root[i] = NONE;
        int32_t row = order[i];
        for (int32_t k = s->starts[row]; k < s->starts[row + 1]; k++) {
            int32_t j = s->number[s->columns[k]];
            while (j < i && j != NONE) {
                int32_t next = root[j];
                root[j] = i;
                if (next == NONE) {
                    s->parent[j] = i;
                }
                j = next == i ? NONE : next;
            }
        }
    }
}

// Changes the order to a postorder of the tree, so that subtrees are consecutive. `head` and `next`
// have n entries.
static void postorder(symbolic *s, int32_t *order, int32_t *head, int32_t *next, int32_t *stack,
                      int32_t *post) {
    for (int32_t i = 0; i < s->n; i++) {
        head[i] = NONE;
    }

    // Lists of children, ascending because they are prepended in descending order.
    for (int32_t i = s->n; i-- > 0;) {
        if (s->parent[i] == NONE) {
            continue;
        }
        next[i] = head[s->parent[i]];
        head[s->parent[i]] = i;
    }

    // Depth-first search from each root; a node is numbered after all its children.
    int32_t numbered = 0;
    for (int32_t root = 0; root < s->n; root++) {
        if (s->parent[root] != NONE) {
            continue;
        }

        int32_t depth = 0;
        stack[depth++] = root;
        while (depth > 0) {
            int32_t i = stack[depth - 1];
            if (head[i] != NONE) {
                stack[depth++] = head[i];
                head[i] = next[head[i]];
            } else {
                post[numbered++] = i;
                depth--;
            }
        }
    }

    // Renumber.
    for (int32_t i = 0; i < s->n; i++) {
        stack[i] = order[post[i]];
    }

    memcpy(order, stack, (size_t)s->n * sizeof(int32_t));
    for (int32_t i = 0; i < s->n; i++) {
        s->number[order[i]] = i;
    }
}

// The number of rows of each column: row i of the factor has the columns met on the paths from its
// entries up to i in the tree.
static void count_columns(symbolic *s, const int32_t *order) {
    for (int32_t i = 0; i < s->n; i++) {
        s->stamp[i] = NONE;
    }

    for (int32_t i = 0; i < s->n; i++) {
        s->stamp[i] = i;
        s->count[i] = 1;

        int32_t row = order[i];
        for (int32_t k = s->starts[row]; k < s->starts[row + 1]; k++) {
            for (int32_t j = s->number[s->columns[k]]; j < i && s->stamp[j] != i;
                 j = s->parent[j]) {
                s->stamp[j] = i;
                s->count[j]++;
            }
        }
    }
}

// Whether a child of `columns` columns and `rows` rows in all should be merged with its parent
// although that stores zeros: always while both are narrow, otherwise while the share of zeros is
// small.
static bool worth_merging(int64_t columns, int64_t rows, int64_t parent_columns,
                          int64_t parent_rows, int64_t *zeros) {
    int64_t wide = columns + parent_columns;
    int64_t high = columns + parent_rows;
    *zeros += columns * (high - rows);
    int64_t size = wide * high - wide * (wide - 1) / 2;
    double share = (double)*zeros / (double)size;

    return *zeros == 0 || (wide <= 4 && share < 0.8) || (wide <= 16 && share < 0.3) ||
           (wide <= 48 && share < 0.1) || share < 0.05;
}

// The fundamental supernodes: column j joins j - 1 if it is its parent and has the same rows except
// one.
static void find_supernodes(symbolic *s, int32_t *children) {
    // Count the children of each column.
    memset(children, 0, (size_t)s->n * sizeof(int32_t));
    for (int32_t j = 0; j < s->n; j++) {
        if (s->parent[j] != NONE) {
            children[s->parent[j]]++;
        }
    }

    // Start a supernode wherever a column cannot join the previous one.
    s->supernodes = 0;
    for (int32_t j = 0; j < s->n; j++) {
        bool joins = j > 0 && s->parent[j - 1] == j && s->count[j - 1] == s->count[j] + 1 &&
                     children[j] == 1;
        if (!joins) {
            s->first[s->supernodes++] = j;
        }
    }

    s->first[s->supernodes] = s->n;
}

// Merges each supernode with the next one if that is its parent and merging pays. `zeros` has n
// entries; the rows of a supernode are those of its first column.
static void merge_supernodes(symbolic *s, int64_t *zeros) {
    int32_t kept = 0; // first[0 .. kept) and the zeros of those
    for (int32_t t = 0; t < s->supernodes; t++) {
        int32_t begin = s->first[t];
        int32_t end = s->first[t + 1];
        int64_t rows = s->count[begin];
        int64_t own_zeros = 0;

        // Merge earlier supernodes one by one, as long as each is a child of the merged one.
        while (kept > 0) {
            int32_t child = s->first[kept - 1];
            int32_t last = begin - 1;
            if (s->parent[last] < begin || s->parent[last] >= end) {
                break;
            }

            int64_t columns = begin - child;
            int64_t total = own_zeros + zeros[kept - 1];
            if (!worth_merging(columns, s->count[child], end - begin, rows, &total)) {
                break;
            }

            own_zeros = total;
            rows += columns;
            begin = child;
            s->count[begin] = (int32_t)rows;
            kept--;
        }

        s->first[kept] = begin;
        zeros[kept++] = own_zeros;
    }

    s->first[kept] = s->n;
    s->supernodes = kept;
}

// Assigns supernode numbers to columns, and finds the parents of supernodes.
static void link_supernodes(symbolic *s) {
    for (int32_t t = 0; t < s->supernodes; t++) {
        for (int32_t j = s->first[t]; j < s->first[t + 1]; j++) {
            s->owner[j] = t;
        }
    }

    for (int32_t t = 0; t < s->supernodes; t++) {
        int32_t above = s->parent[s->first[t + 1] - 1];
        s->super_parent[t] = above == NONE ? NONE : s->owner[above];
    }
}

// Lists the rows below each supernode: like count_columns, but on the tree of supernodes. Rows are
// met in ascending order. If rows == NULL it only counts, into row_starts[t + 1].
static void list_rows(symbolic *s, const int32_t *order, int32_t *row_starts, int32_t *rows) {
    for (int32_t t = 0; t < s->supernodes; t++) {
        s->stamp[t] = NONE;
    }

    for (int32_t i = 0; i < s->n; i++) {
        int32_t row = order[i];
        int32_t own = s->owner[i];
        for (int32_t k = s->starts[row]; k < s->starts[row + 1]; k++) {
            int32_t j = s->number[s->columns[k]];
            if (j >= i) {
                continue;
            }

            for (int32_t t = s->owner[j]; t != own && s->stamp[t] != i; t = s->super_parent[t]) {
                s->stamp[t] = i;
                if (rows) {
                    rows[row_starts[t]++] = i;
                } else {
                    row_starts[t + 1]++;
                }
            }
        }
    }
}

static sinew_status analyze(sn_arena *arena, sn_arena *scratch, symbolic *s,
                            sn_supernodal *factor) {
    size_t n = (size_t)s->n;
    s->number = SN_PUSH(scratch, int32_t, n);
    s->parent = SN_PUSH(scratch, int32_t, n);
    s->count = SN_PUSH(scratch, int32_t, n);
    s->stamp = SN_PUSH(scratch, int32_t, n);
    s->super_parent = SN_PUSH(scratch, int32_t, n);

    int32_t *work[4];
    for (int w = 0; w < 4; w++) {
        work[w] = SN_PUSH(scratch, int32_t, n);
    }

    int64_t *zeros = SN_PUSH(scratch, int64_t, n);
    factor->order = SN_PUSH(arena, int32_t, n);
    factor->owner = s->owner = SN_PUSH(arena, int32_t, n);
    factor->first = s->first = SN_PUSH(arena, int32_t, n + 1);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(arena));

    // A fill-reducing order.
    if (s->positions != NULL) {
        SN_TRY(sn_graph_dissect(arena->context, s->n, s->starts, s->columns, s->positions,
                                factor->order));
    } else {
        SN_TRY(sn_graph_minimum_degree(arena->context, s->n, s->starts, s->columns, factor->order));
    }

    for (int32_t i = 0; i < s->n; i++) {
        s->number[factor->order[i]] = i;
    }

    // Tree and column counts. The postorder does not change the fill, but renumbers the tree.
    build_tree(s, factor->order, work[0]);
    postorder(s, factor->order, work[0], work[1], work[2], work[3]);
    build_tree(s, factor->order, work[0]);
    count_columns(s, factor->order);

    // Supernodes.
    find_supernodes(s, work[0]);
    merge_supernodes(s, zeros);
    link_supernodes(s);

    // Rows of the supernodes: count, allocate, list.
    factor->supernodes = s->supernodes;
    factor->row_starts = SN_PUSH(arena, int32_t, (size_t)s->supernodes + 1);
    SN_TRY(sn_arena_status(arena));
    list_rows(s, factor->order, factor->row_starts, NULL);

    int64_t total = 0;
    for (int32_t t = 0; t < s->supernodes; t++) {
        total += factor->row_starts[t + 1];
    }

    if (total > INT32_MAX) {
        return sn_fail(arena->context, SINEW_OUT_OF_MEMORY, "the factor has %lld rows",
                       (long long)total);
    }

    for (int32_t t = 0; t < s->supernodes; t++) {
        factor->row_starts[t + 1] += factor->row_starts[t];
    }

    factor->rows = SN_PUSH(arena, int32_t, total);
    SN_TRY(sn_arena_status(arena));
    list_rows(s, factor->order, factor->row_starts, factor->rows);

    // Writing has moved each start to the next one: move them back.
    for (int32_t t = s->supernodes; t > 0; t--) {
        factor->row_starts[t] = factor->row_starts[t - 1];
    }

    factor->row_starts[0] = 0;
    return SINEW_OK;
}

// The size of the largest product that one panel contributes to another.
static size_t largest_product(const sn_supernodal *factor) {
    size_t largest = 0;
    size_t b = (size_t)factor->block;
    for (int32_t t = 0; t < factor->supernodes; t++) {
        for (int32_t p = factor->row_starts[t], end; p < factor->row_starts[t + 1]; p = end) {
            int32_t target = factor->owner[factor->rows[p]];
            for (end = p;
                 end < factor->row_starts[t + 1] && factor->owner[factor->rows[end]] == target;) {
                end++;
            }

            // The rows from p on times the rows that belong to the target, padded to eight.
            size_t wide = ((size_t)(end - p) * b + 7) / 8 * 8;
            size_t high = (size_t)(factor->row_starts[t + 1] - p) * b;

            if (wide * high > largest) {
                largest = wide * high;
            }
        }
    }

    return largest;
}

// The targets of the input's blocks. Those of column j are found in row j of the input, as their
// mirrors.
static void find_targets(sn_supernodal *factor, const symbolic *s) {
    size_t b = (size_t)factor->block;
    int32_t next = 0;
    for (int32_t t = 0; t < factor->supernodes; t++) {
        int32_t begin = factor->first[t];
        int32_t end = factor->first[t + 1];
        size_t stride = (size_t)(end - begin) * b;

        // Index of each row in the panel: first the columns of the supernode, then the rows below.
        for (int32_t i = begin; i < end; i++) {
            factor->panel_row[i] = i - begin;
        }

        for (int32_t p = factor->row_starts[t]; p < factor->row_starts[t + 1]; p++) {
            factor->panel_row[factor->rows[p]] = end - begin + p - factor->row_starts[t];
        }

        // Column j of the lower triangle, read as row j of the upper one.
        for (int32_t j = begin; j < end; j++) {
            int32_t row = factor->order[j];
            for (int32_t k = s->starts[row]; k < s->starts[row + 1]; k++) {
                int32_t i = s->number[s->columns[k]];
                if (i < j) {
                    continue;
                }

                factor->sources[next] = k;
                factor->targets[next++] = factor->panels[t] +
                                          (size_t)factor->panel_row[i] * b * stride +
                                          (size_t)(j - begin) * b;
            }
        }

        factor->source_starts[t + 1] = next;
    }
}

static sinew_status allocate(sn_arena *arena, sn_supernodal *factor, int32_t entries) {
    size_t b = (size_t)factor->block;
    size_t supernodes = (size_t)factor->supernodes;
    size_t most_rows = 0;

    factor->panels = SN_PUSH(arena, size_t, supernodes);
    factor->source_starts = SN_PUSH(arena, int32_t, supernodes + 1);
    factor->sources = SN_PUSH(arena, int32_t, (entries + factor->n) / 2);
    factor->targets = SN_PUSH(arena, size_t, (entries + factor->n) / 2);
    factor->panel_row = SN_PUSH(arena, int32_t, factor->n);
    factor->stale = SN_PUSH(arena, bool, supernodes);
    factor->head = SN_PUSH(arena, int32_t, supernodes);
    factor->next = SN_PUSH(arena, int32_t, supernodes);
    factor->progress = SN_PUSH(arena, int32_t, supernodes);
    SN_TRY(sn_arena_status(arena));

    // Lay the panels out.
    for (int32_t t = 0; t < factor->supernodes; t++) {
        size_t columns = (size_t)(factor->first[t + 1] - factor->first[t]) * b;
        size_t rows = (size_t)(factor->row_starts[t + 1] - factor->row_starts[t]) * b;
        factor->panels[t] = factor->value_count;
        factor->value_count += columns * (columns + rows);

        if (rows > most_rows) {
            most_rows = rows;
        }
    }

    factor->values = SN_PUSH(arena, double, factor->value_count);
    factor->narrow = SN_PUSH(arena, float, b == 1 ? factor->value_count : 0);
    factor->product = SN_PUSH(arena, double, largest_product(factor));

    // Scalar matrices may be solved for many right-hand sides at once.
    factor->x = SN_PUSH(arena, double, (size_t)factor->n *(b == 1 ? SN_SUPERNODAL_MAX_SIDES : b));
    factor->gathered = SN_PUSH(arena, double, most_rows);

    return sn_arena_status(arena);
}

sinew_status sn_supernodal_build(sn_arena *arena, int32_t n, int32_t block, const int32_t *starts,
                                 const int32_t *columns, const double *positions,
                                 sn_supernodal *factor) {
    SN_ASSERT(n >= 0 && (block == 1 || block == 3));
    *factor = (sn_supernodal){.n = n, .block = block};

    sn_arena scratch = sn_arena_create(arena->context);
    symbolic s = {.n = n, .starts = starts, .columns = columns, .positions = positions};
    sinew_status status = analyze(arena, &scratch, &s, factor);
    if (status == SINEW_OK) {
        status = allocate(arena, factor, starts[n]);
    }
    if (status == SINEW_OK) {
        find_targets(factor, &s);
    }

    sn_arena_destroy(&scratch);
    return status;
}
