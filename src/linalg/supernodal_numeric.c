// Numeric phase of the sparse Cholesky factor, and the solves; see supernodal.h.
//
// A supernode collects its columns of A; for each earlier supernode with rows in it, it subtracts
// the product of those rows with all rows from there on; then it is factored as a tall dense panel.
// A supernode that has been used moves on to the owner of its next row. A supernode depends only on
// its descendants in the elimination tree, so that after a change of a few rows the others keep
// their panels and only contribute their products again.
#include "linalg/supernodal.h"

#include "linalg/kernels.h"
#include "linalg/supernodal_change.h"

#include <math.h>
#include <string.h>

enum { NONE = -1 };

static int32_t width(const sn_supernodal *factor, int32_t t) {
    return (factor->first[t + 1] - factor->first[t]) * factor->block;
}

static int32_t rows_below(const sn_supernodal *factor, int32_t t) {
    return (factor->row_starts[t + 1] - factor->row_starts[t]) * factor->block;
}

static void load_panel(sn_supernodal *factor, int32_t t, const double *A) {
    size_t b = (size_t)factor->block;
    size_t stride = (size_t)width(factor, t);

    memset(factor->values + factor->panels[t], 0,
           stride * (stride + (size_t)rows_below(factor, t)) * sizeof(double));
    for (int32_t e = factor->source_starts[t]; e < factor->source_starts[t + 1]; e++) {
        const double *from = A + b * b * (size_t)factor->sources[e];
        double *to = factor->values + factor->targets[e];
        for (size_t r = 0; r < b; r++) {
            for (size_t c = 0; c < b; c++) {
                to[r * stride + c] = from[c * b + r];
            }
        }
    }
}

// Moves a supernode on to the owner of its row p, if there is one.
static void send_on(sn_supernodal *factor, int32_t from, int32_t p) {
    factor->progress[from] = p;
    if (p == factor->row_starts[from + 1]) {
        return;
    }

    int32_t owner = factor->owner[factor->rows[p]];
    factor->next[from] = factor->head[owner];
    factor->head[owner] = from;
}

// The first row of `from` after those in supernode t.
static int32_t find_end(const sn_supernodal *factor, int32_t from, int32_t t) {
    int32_t end = factor->progress[from];
    while (end < factor->row_starts[from + 1] && factor->rows[end] < factor->first[t + 1]) {
        end++;
    }
    return end;
}

// Subtracts the contribution of the rows of supernode `from` up to `end` from `t`.
static void subtract_product(sn_supernodal *factor, const sn_linalg_kernels *kernels, int32_t from,
                             int32_t t, int32_t end) {
    int32_t b = factor->block;
    int32_t begin = factor->progress[from];
    int32_t last = factor->row_starts[from + 1];
    int32_t depth = width(factor, from);
    int32_t m = (last - begin) * b;
    int32_t n = (end - begin) * b;
    int32_t stride = (n + 7) / 8 * 8;
    size_t skip = (size_t)(begin - factor->row_starts[from]) * (size_t)b + (size_t)depth;
    const double *rows = factor->values + factor->panels[from] + skip * (size_t)depth;

    // The product of the rows in t with all rows from there on.
    kernels->dense_product(factor->product, stride, rows, m, rows, n, depth, depth);
    double *panel = factor->values + factor->panels[t];
    size_t panel_stride = (size_t)width(factor, t);

    // Subtract it (the kernel has negated it) at the rows and columns of the target panel.
    for (int32_t p = begin; p < last; p++) {
        for (int32_t r = 0; r < b; r++) {
            double *out =
                panel + (size_t)(factor->panel_row[factor->rows[p]] * b + r) * panel_stride;
            const double *in = factor->product + (size_t)((p - begin) * b + r) * (size_t)stride;
            for (int32_t q = begin; q < end; q++, in += b) {
                double *block = out + (factor->rows[q] - factor->first[t]) * b;
                for (int32_t c = 0; c < b; c++) {
                    block[c] += in[c];
                }
            }
        }
    }
}

// Marks the supernodes that hold changed rows, and all their ancestors.
static void find_stale(sn_supernodal *factor, const bool *changed) {
    for (int32_t t = 0; t < factor->supernodes; t++) {
        factor->stale[t] = changed == NULL;
    }

    if (changed == NULL) {
        return;
    }

    // In ascending order, so that a mark reaches all ancestors.
    for (int32_t t = 0; t < factor->supernodes; t++) {
        for (int32_t i = factor->first[t]; i < factor->first[t + 1]; i++) {
            factor->stale[t] |= changed[factor->order[i]];
        }
        if (factor->stale[t] && rows_below(factor, t) > 0) {
            factor->stale[factor->owner[factor->rows[factor->row_starts[t]]]] = true;
        }
    }
}

// Loads the panel of supernode t and subtracts the contributions of earlier ones, which then move
// on.
static void collect(sn_supernodal *factor, const sn_linalg_kernels *kernels, int32_t t,
                    const double *A) {
    int32_t begin = factor->first[t];
    int32_t end = factor->first[t + 1];
    if (factor->stale[t]) {
        load_panel(factor, t, A);
        for (int32_t i = begin; i < end; i++) {
            factor->panel_row[i] = i - begin;
        }

        for (int32_t p = factor->row_starts[t]; p < factor->row_starts[t + 1]; p++) {
            factor->panel_row[factor->rows[p]] = end - begin + p - factor->row_starts[t];
        }
    }

    // Each waiting supernode contributes, then waits for the owner of its next row.
    for (int32_t from = factor->head[t], next; from != NONE; from = next) {
        next = factor->next[from];
        int32_t last = find_end(factor, from, t);
        if (factor->stale[t]) {
            subtract_product(factor, kernels, from, t, last);
        }
        send_on(factor, from, last);
    }
}

static void narrow_panel(sn_supernodal *factor, int32_t t) {
    if (factor->block != 1) {
        return;
    }

    size_t columns = (size_t)width(factor, t);
    size_t count = columns * (columns + (size_t)rows_below(factor, t));
    const double *from = factor->values + factor->panels[t];
    float *to = factor->narrow + factor->panels[t];

    for (size_t k = 0; k < count; k++) {
        to[k] = (float)from[k];
    }
}

int32_t sn_supernodal_update(sn_supernodal *factor, const double *A, const bool *changed,
                             bool *pivot_finite) {
    const sn_linalg_kernels *kernels = sn_linalg_kernels_get();
    *pivot_finite = true;
    find_stale(factor, changed);

    for (int32_t t = 0; t < factor->supernodes; t++) {
        factor->head[t] = NONE;
    }

    for (int32_t t = 0; t < factor->supernodes; t++) {
        int32_t columns = width(factor, t);
        double *panel = factor->values + factor->panels[t];

        // Assemble and factor the panel.
        collect(factor, kernels, t, A);
        int32_t bad =
            factor->stale[t]
                ? kernels->dense_factor(panel, columns + rows_below(factor, t), columns, columns)
                : -1;

        if (bad >= 0) {
            // The pivot row, as the factorisation has left it, is finite unless the matrix is not.
            for (int32_t c = 0; c <= bad; c++) {
                *pivot_finite &= isfinite(panel[(size_t)bad * (size_t)columns + (size_t)c]) != 0;
            }
            return factor->order[factor->first[t] + bad / factor->block] * factor->block +
                   bad % factor->block;
        }

        if (factor->stale[t]) {
            narrow_panel(factor, t);
        }

        send_on(factor, t, factor->row_starts[t]);
    }

    return -1;
}

// Copies x[rows below] to `gathered`, or subtracts `gathered` from it.
static void gather_rows(const sn_supernodal *factor, int32_t t) {
    size_t b = (size_t)factor->block;
    double *to = factor->gathered;
    for (int32_t p = factor->row_starts[t]; p < factor->row_starts[t + 1]; p++, to += b) {
        for (size_t c = 0; c < b; c++) {
            to[c] = factor->x[(size_t)factor->rows[p] * b + c];
        }
    }
}

static void subtract_rows(const sn_supernodal *factor, int32_t t) {
    size_t b = (size_t)factor->block;
    const double *from = factor->gathered;
    for (int32_t p = factor->row_starts[t]; p < factor->row_starts[t + 1]; p++, from += b) {
        for (size_t c = 0; c < b; c++) {
            factor->x[(size_t)factor->rows[p] * b + c] -= from[c];
        }
    }
}

void sn_supernodal_solve(const sn_supernodal *factor, double *x) {
    const sn_linalg_kernels *kernels = sn_linalg_kernels_get();
    size_t b = (size_t)factor->block;

    // Permute, then L y = b.
    for (size_t i = 0; i < (size_t)factor->n; i++) {
        for (size_t c = 0; c < b; c++) {
            factor->x[i * b + c] = x[(size_t)factor->order[i] * b + c];
        }
    }

    for (int32_t t = 0; t < factor->supernodes; t++) {
        int32_t columns = width(factor, t);
        int32_t below = rows_below(factor, t);
        const double *panel = factor->values + factor->panels[t];
        double *own = factor->x + (size_t)factor->first[t] * b;
        kernels->dense_forward(panel, columns, columns, own);
        kernels->dense_multiply(factor->gathered, panel + (size_t)columns * (size_t)columns, below,
                                columns, columns, own);
        subtract_rows(factor, t);
    }

    // L'x = y, backwards.
    for (int32_t t = factor->supernodes; t-- > 0;) {
        int32_t columns = width(factor, t);
        int32_t below = rows_below(factor, t);
        const double *panel = factor->values + factor->panels[t];
        double *own = factor->x + (size_t)factor->first[t] * b;
        gather_rows(factor, t);
        kernels->dense_subtract_transposed(own, panel + (size_t)columns * (size_t)columns, below,
                                           columns, columns, factor->gathered);
        kernels->dense_backward(panel, columns, columns, own);
    }

    // Permute back.
    for (size_t i = 0; i < (size_t)factor->n; i++) {
        for (size_t c = 0; c < b; c++) {
            x[(size_t)factor->order[i] * b + c] = factor->x[i * b + c];
        }
    }
}

void sn_supernodal_solve_fours(const sn_supernodal *factor, const sn_supernodal_change *change,
                               double *x, int32_t count, size_t stride) {
    SN_ASSERT(factor->block == 1 && count % 4 == 0 && count <= SN_SUPERNODAL_MAX_SIDES);
    const sn_linalg_kernels *kernels = sn_linalg_kernels_get();
    size_t n = (size_t)factor->n;
    double *end = factor->x + n * (size_t)count; // groups of four right-hand sides

    // Gather four right-hand sides at a time, in the order of elimination.
    for (double *four = factor->x; four < end; four += 4 * n, x += 4) {
        for (size_t i = 0; i < n; i++) {
            memcpy(four + 4 * i, x + (size_t)factor->order[i] * stride, 4 * sizeof(double));
        }
    }

    // L y = b. Each panel serves all right-hand sides while it is in the cache.
    for (int32_t t = 0; t < factor->supernodes; t++) {
        for (double *four = factor->x; four < end; four += 4 * n) {
            kernels->four_forward(four, factor->narrow + factor->panels[t], width(factor, t),
                                  factor->first[t], factor->rows + factor->row_starts[t],
                                  rows_below(factor, t));
        }
    }

    // The correction for rows that have changed.
    if (change != NULL) {
        for (double *four = factor->x; four < end; four += 4 * n) {
            sn_supernodal_change_apply(factor, change, four);
        }
    }

    // L'x = y
    for (int32_t t = factor->supernodes; t-- > 0;) {
        for (double *four = factor->x; four < end; four += 4 * n) {
            kernels->four_backward(four, factor->narrow + factor->panels[t], width(factor, t),
                                   factor->first[t], factor->rows + factor->row_starts[t],
                                   rows_below(factor, t));
        }
    }

    // Scatter.
    x -= count;
    for (double *four = factor->x; four < end; four += 4 * n, x += 4) {
        for (size_t i = 0; i < n; i++) {
            memcpy(x + (size_t)factor->order[i] * stride, four + 4 * i, 4 * sizeof(double));
        }
    }
}
