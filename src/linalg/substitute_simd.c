// Substitution with one supernode of a sparse factor (supernodal.h) for four right-hand sides at
// once: x[row][4], one quad each.
//
// A panel has `columns` columns, row by row: first its triangle, whose unknowns are x[first ..],
// then the rows below, whose unknowns are x[rows[p]]. Reading the panel is what takes the time, so
// it is read once, in single precision, while eight sums stay in registers.
#include "base/prefetch.h"
#include "linalg/kernels.h"
#include "math/quad.h"

enum { GROUP = 8 };

// sums[r] -= the first `count` columns of `group` rows (a constant) times own.
SN_INLINE void subtract_rows(sn_quad *sums, int group, const float *row, int32_t columns,
                             int32_t count, const double *own) {
    for (int32_t j = 0; j < count; j++) {
        sn_quad x = sn_quad_load(own + 4 * j);
        SN_PREFETCH(row + (size_t)group * (size_t)columns +
                    (size_t)(group * j)); // the rows behind these

        for (int r = 0; r < group; r++) {
            sums[r] = sn_quad_fma(
                sn_quad_all(-(double)row[(size_t)r * (size_t)columns + (size_t)j]), x, sums[r]);
        }
    }
}

// Rows of the triangle: subtracts the solved part, then solves the small triangle.
SN_INLINE void forward_triangle(double *own, const float *panel, int32_t columns, int32_t i,
                                int group) {
    const float *row = panel + (size_t)i * (size_t)columns;
    sn_quad sums[GROUP];
    for (int r = 0; r < group; r++) {
        sums[r] = sn_quad_load(own + 4 * (i + r));
    }

    subtract_rows(sums, group, row, columns, i, own);
    for (int r = 0; r < group; r++) {
        const float *l = row + (size_t)r * (size_t)columns + (size_t)i;
        for (int c = 0; c < r; c++) {
            sums[r] = sn_quad_fma(sn_quad_all(-(double)l[c]), sums[c], sums[r]);
        }
        sums[r] = sn_quad_mul(sums[r], sn_quad_all(1 / (double)l[r]));
        sn_quad_store(own + 4 * (i + r), sums[r]);
    }
}

SN_INLINE void forward_below(double *x, const double *own, const float *row, int32_t columns,
                             const int32_t *rows, int group) {
    sn_quad sums[GROUP];
    for (int r = 0; r < group; r++) {
        sums[r] = sn_quad_load(x + 4 * (size_t)rows[r]);
    }

    subtract_rows(sums, group, row, columns, columns, own);
    for (int r = 0; r < group; r++) {
        sn_quad_store(x + 4 * (size_t)rows[r], sums[r]);
    }
}

// L x = b for the columns of the supernode; its contribution is subtracted from the rows below.
void SN_ISA_NAME(sn_kernel_four_forward)(double *x, const float *panel, int32_t columns,
                                         int32_t first, const int32_t *rows, int32_t below) {
    double *own = x + 4 * (size_t)first;
    int32_t i = 0, p = 0;

    // The triangle of the supernode.
    for (; i + GROUP <= columns; i += GROUP) {
        forward_triangle(own, panel, columns, i, GROUP);
    }

    for (; i < columns; i++) {
        forward_triangle(own, panel, columns, i, 1);
    }

    // Subtract its contribution from the rows below.
    const float *row = panel + (size_t)columns * (size_t)columns;
    for (; p + GROUP <= below; p += GROUP, row += GROUP * (size_t)columns) {
        forward_below(x, own, row, columns, rows + p, GROUP);
    }

    for (; p + 2 <= below; p += 2, row += 2 * (size_t)columns) {
        forward_below(x, own, row, columns, rows + p, 2);
    }

    if (p < below) {
        forward_below(x, own, row, columns, rows + p, 1);
    }
}

// `group` columns starting at j: subtracts the contribution of the rows below and of the later rows
// of the triangle, then solves the small triangle.
SN_INLINE void backward_columns(double *x, double *own, const float *panel, int32_t columns,
                                const int32_t *rows, int32_t below, int32_t j, int group) {
    sn_quad sums[GROUP];
    for (int c = 0; c < group; c++) {
        sums[c] = sn_quad_load(own + 4 * (j + c));
    }

    // The rows below, which are known.
    const float *row = panel + (size_t)columns * (size_t)columns + (size_t)j;
    for (int32_t p = 0; p < below; p++, row += columns) {
        sn_quad v = sn_quad_load(x + 4 * (size_t)rows[p]);
        SN_PREFETCH(row + GROUP * (size_t)columns);
        for (int c = 0; c < group; c++) {
            sums[c] = sn_quad_fma(sn_quad_all(-(double)row[c]), v, sums[c]);
        }
    }

    // The later rows of the triangle.
    row = panel + (size_t)(j + group) * (size_t)columns + (size_t)j;
    for (int32_t i = j + group; i < columns; i++, row += columns) {
        sn_quad v = sn_quad_load(own + 4 * i);
        for (int c = 0; c < group; c++) {
            sums[c] = sn_quad_fma(sn_quad_all(-(double)row[c]), v, sums[c]);
        }
    }

    // The small triangle itself.
    for (int c = group; c-- > 0;) {
        const float *l = panel + (size_t)(j + c) * (size_t)columns + (size_t)j;
        sums[c] = sn_quad_mul(sums[c], sn_quad_all(1 / (double)l[c]));
        for (int b = 0; b < c; b++) {
            sums[b] = sn_quad_fma(sn_quad_all(-(double)l[b]), sums[c], sums[b]);
        }
        sn_quad_store(own + 4 * (j + c), sums[c]);
    }
}

// L'x = b for the columns of the supernode; the rows below are known.
void SN_ISA_NAME(sn_kernel_four_backward)(double *x, const float *panel, int32_t columns,
                                          int32_t first, const int32_t *rows, int32_t below) {
    double *own = x + 4 * (size_t)first;
    int32_t j = columns;
    for (; j % GROUP >= 4; j -= 4) {
        backward_columns(x, own, panel, columns, rows, below, j - 4, 4);
    }

    for (; j % GROUP != 0; j--) {
        backward_columns(x, own, panel, columns, rows, below, j - 1, 1);
    }

    for (; j > 0; j -= GROUP) {
        backward_columns(x, own, panel, columns, rows, below, j - GROUP, GROUP);
    }
}
