// Nested dissection by position (George 1973; by coordinates as in Miller et al. 1997). Input: a
// graph whose rows have positions in space; output: an order with little fill.
//
// The rows are halved across the longest side of their bounding box; the rows of one half that
// touch the other separate the two and are eliminated last. In a solid such separators are nearly
// minimal, and a factor costs about n^2 operations and n^(4/3) numbers, several times fewer than
// with minimum degree. Cost: (rows + entries) log2 n.
#include "linalg/graph.h"

#include <math.h>

enum { LEAF = 20 };

typedef struct dissection {
    const int32_t *starts, *columns;
    const double *positions; // three coordinates per row
    int32_t *order, *scratch;
    int32_t *side; // per row: the number of the half that contains it
    int32_t halves;
} dissection;

static bool is_before(const dissection *d, int32_t a, int32_t b, int axis) {
    double x = d->positions[3 * (size_t)a + (size_t)axis];
    double y = d->positions[3 * (size_t)b + (size_t)axis];
    return x < y || (x == y && a < b); // ties by index, so that the order is unique
}

static int longest_axis(const dissection *d, int32_t begin, int32_t end) {
    int longest = 0;
    double most = -1;

    // Measure the bounding box along each axis.
    for (int axis = 0; axis < 3; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (int32_t k = begin; k < end; k++) {
            double x = d->positions[3 * (size_t)d->order[k] + (size_t)axis];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }

        if (high - low > most) {
            most = high - low;
            longest = axis;
        }
    }

    return longest;
}

static void swap(int32_t *a, int32_t *b) {
    int32_t kept = *a;
    *a = *b;
    *b = kept;
}

// Moves the rows of order[begin .. end) that come first along the axis in front of `middle`
// (quickselect, Hoare 1961).
static void select_middle(const dissection *d, int32_t begin, int32_t end, int32_t middle,
                          int axis) {
    int32_t *order = d->order;
    while (end - begin > 1) {
        int32_t i = begin;
        int32_t j = end - 1;
        int32_t pivot = order[begin + (end - begin) / 2];

        // Hoare partition around the middle row.
        while (i <= j) {
            while (is_before(d, order[i], pivot, axis)) {
                i++;
            }

            while (is_before(d, pivot, order[j], axis)) {
                j--;
            }

            if (i <= j) {
                swap(&order[i++], &order[j--]);
            }
        }

        // Continue in the part that contains `middle`.
        if (middle <= j) {
            end = j + 1;
        } else if (middle >= i) {
            begin = i;
        } else {
            return;
        }
    }
}

static bool touches(const dissection *d, int32_t row, int32_t side) {
    for (int32_t k = d->starts[row]; k < d->starts[row + 1]; k++) {
        if (d->side[d->columns[k]] == side) {
            return true;
        }
    }
    return false;
}

static int32_t count_touching(const dissection *d, int32_t begin, int32_t end, int32_t side) {
    int32_t count = 0;
    for (int32_t k = begin; k < end; k++) {
        count += touches(d, d->order[k], side);
    }
    return count;
}

// Moves the rows of order[begin .. end) that touch the other side behind the rest; returns where
// they begin.
static int32_t move_touching(dissection *d, int32_t begin, int32_t end, int32_t side) {
    int32_t kept = begin;
    int32_t moved = 0;

    // Compact the rows that stay and collect the others.
    for (int32_t k = begin; k < end; k++) {
        int32_t row = d->order[k];
        if (touches(d, row, side)) {
            d->scratch[moved++] = row;
        } else {
            d->order[kept++] = row;
        }
    }

    for (int32_t k = 0; k < moved; k++) {
        d->order[kept + k] = d->scratch[k];
    }

    return kept;
}

// Recursive; the depth is that of halving n.
static void dissect(dissection *d, int32_t begin, int32_t end) {
    if (end - begin <= LEAF) {
        return;
    }

    int32_t middle = begin + (end - begin) / 2;
    int32_t left = ++d->halves;
    int32_t right = ++d->halves;

    // Halve the rows across the longest side.
    select_middle(d, begin, end, middle, longest_axis(d, begin, end));
    for (int32_t k = begin; k < end; k++) {
        d->side[d->order[k]] = k < middle ? left : right;
    }

    // Take the separator from the half that touches the other with fewer rows: make it the second
    // half.
    if (count_touching(d, begin, middle, right) < count_touching(d, middle, end, left)) {
        for (int32_t k = 0; k < middle - begin; k++) {
            d->scratch[k] = d->order[begin + k];
        }
        for (int32_t k = middle; k < end; k++) {
            d->order[begin + k - middle] = d->order[k];
        }

        for (int32_t k = 0; k < middle - begin; k++) {
            d->order[begin + end - middle + k] = d->scratch[k];
        }

        middle = begin + end - middle;
        swap(&left, &right);
    }

    // The separator goes to the end of the range, where it is eliminated last.
    int32_t separator = move_touching(d, middle, end, left);
    dissect(d, begin, middle);
    dissect(d, middle, separator);
}

sinew_status sn_graph_dissect(sinew_context *context, int32_t n, const int32_t *starts,
                              const int32_t *columns, const double *positions, int32_t *order) {
    sn_arena arena = sn_arena_create(context);
    dissection d = {.starts = starts, .columns = columns, .positions = positions, .order = order};

    d.scratch = SN_PUSH(&arena, int32_t, n);
    d.side = SN_PUSH(&arena, int32_t, n);

    sinew_status status = sn_arena_status(&arena);
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < n; i++) {
            order[i] = i;
        }
        dissect(&d, 0, n);
    }

    sn_arena_destroy(&arena);
    return status;
}
