// Dense Cholesky for systems of up to a few hundred unknowns, left-looking by panels of eight columns.
//
// A panel first receives the product of all earlier columns: four rows of L times the panel's own rows, which are copied
// transposed (and negated) so that eight columns are two quads; the sums stay in registers for the whole length. Then its
// triangle is factored and the rows below are solved against it, still in registers.
#include "linalg/kernels.h"
#include "math/quad.h"

#include <string.h>

enum { PANEL = 8, ROWS = 4, DEPTH = 256 }; // the copy of a panel, DEPTH columns at a time, stays in the first cache

// Copies -L[k0 .. k0 + 8)[begin .. end) transposed: panel[8 (k - begin) + c].
static void copy_panel(double *panel, const double *A, int32_t stride, int32_t k0, int32_t begin, int32_t end) {
    for (int32_t c = 0; c < PANEL; c++) {
        const double *row = A + (size_t)(k0 + c) * (size_t)stride;
        for (int32_t k = begin; k < end; k++) panel[PANEL * (k - begin) + c] = -row[k];
    }
}

// sums += the first `count` columns of `rows` (a constant) rows times the panel.
SN_INLINE void add_products(sn_quad sums[][2], int rows, const double *row, int32_t stride, const double *panel,
                            int32_t count) {
    for (int32_t k = 0; k < count; k++) {
        sn_quad low = sn_quad_load(panel + PANEL * k), high = sn_quad_load(panel + PANEL * k + 4);
        for (int r = 0; r < rows; r++) {
            sn_quad a = sn_quad_all(row[(size_t)r * (size_t)stride + (size_t)k]);
            sums[r][0] = sn_quad_fma(a, low, sums[r][0]);
            sums[r][1] = sn_quad_fma(a, high, sums[r][1]);
        }
    }
}

// One column of the substitution x T' = c for all rows: x_j = c_j / T_jj, then the columns behind lose x_j T_kj. `columns`
// holds the rows of T' (negated above the diagonal, the inverse on it), eight doubles each.
#define SUBSTITUTE(half, lane, j)                                                                                             \
    do {                                                                                                                      \
        const double *t = columns + PANEL * (j);                                                                              \
        sn_quad low = sn_quad_load(t), high = sn_quad_load(t + 4), inverse = sn_quad_all(t[j]);                               \
        for (int r = 0; r < rows; r++) {                                                                                      \
            sn_quad x = sn_quad_mul(sn_quad_spread(sums[r][half], lane), inverse);                                            \
            if ((j) < 4) sums[r][0] = sn_quad_fma(x, low, sums[r][0]);                                                        \
            sums[r][1] = sn_quad_fma(x, high, sums[r][1]);                                                                    \
            solved[r][j] = x;                                                                                                 \
        }                                                                                                                     \
    } while (0)

SN_INLINE void finish_rows(sn_quad sums[][2], int rows, double *row, int32_t stride, const double *columns) {
    sn_quad solved[ROWS][PANEL];
    SUBSTITUTE(0, 0, 0);
    SUBSTITUTE(0, 1, 1);
    SUBSTITUTE(0, 2, 2);
    SUBSTITUTE(0, 3, 3);
    SUBSTITUTE(1, 0, 4);
    SUBSTITUTE(1, 1, 5);
    SUBSTITUTE(1, 2, 6);
    SUBSTITUTE(1, 3, 7);
    for (int r = 0; r < rows; r++) {
        double *out = row + (size_t)r * (size_t)stride;
        for (int c = 0; c < PANEL; c++) {
            double value[4] SN_ALIGNED;
            sn_quad_store(value, solved[r][c]);
            out[c] = value[0];
        }
    }
}

// Handles `rows` rows of the panel at column k0: the product with the columns [begin, end), and with `columns` the
// substitution.
SN_INLINE void do_rows(int rows, double *row, int32_t stride, int32_t k0, const double *panel, int32_t begin, int32_t end,
                       const double *columns) {
    sn_quad sums[ROWS][2];
    for (int r = 0; r < rows; r++) {
        const double *in = row + (size_t)r * (size_t)stride + (size_t)k0;
        sums[r][0] = sn_quad_load_any(in);
        sums[r][1] = sn_quad_load_any(in + 4);
    }
    add_products(sums, rows, row + begin, stride, panel, end - begin);
    if (columns) {
        finish_rows(sums, rows, row + k0, stride, columns);
        return;
    }
    for (int r = 0; r < rows; r++) {
        double *out = row + (size_t)r * (size_t)stride + (size_t)k0;
        sn_quad_store_any(out, sums[r][0]);
        sn_quad_store_any(out + 4, sums[r][1]);
    }
}

// Factors a triangle of `width` rows whose products with earlier columns are done. Returns -1 or the bad row within.
static int32_t factor_triangle(double *A, int32_t stride, int32_t width) {
    for (int32_t j = 0; j < width; j++) {
        double *row = A + (size_t)j * (size_t)stride, pivot = row[j];
        for (int32_t k = 0; k < j; k++) pivot -= row[k] * row[k];
        if (!(pivot > 0) || !isfinite(pivot)) return j;
        row[j] = sqrt(pivot);
        double inverse = 1 / row[j];
        for (int32_t i = j + 1; i < width; i++) {
            double *below = A + (size_t)i * (size_t)stride;
            for (int32_t k = 0; k < j; k++) below[j] -= below[k] * row[k];
            below[j] *= inverse;
        }
    }
    return -1;
}

// The rows left over when n is no multiple of eight, by plain dot products.
static int32_t finish_corner(double *A, int32_t n, int32_t stride, int32_t k0) {
    for (int32_t i = k0; i < n; i++) {
        double *row = A + (size_t)i * (size_t)stride;
        for (int32_t j = k0; j <= i; j++) row[j] -= SN_ISA_NAME(sn_kernel_dot)(row, A + (size_t)j * (size_t)stride, k0);
    }
    int32_t bad = factor_triangle(A + (size_t)k0 * (size_t)stride + (size_t)k0, stride, n - k0);
    return bad < 0 ? -1 : k0 + bad;
}

// triangle += the product for the panel's own rows. It is a copy, since the upper triangle of A must come out as it was.
static void add_to_triangle(double *triangle, const double *rows, int32_t stride, const double *panel, int32_t count) {
    for (int r = 0; r < PANEL; r++) {
        sn_quad sums[ROWS][2] = {{sn_quad_load(triangle + PANEL * r), sn_quad_load(triangle + PANEL * r + 4)}};
        add_products(sums, 1, rows + (size_t)r * (size_t)stride, stride, panel, count);
        sn_quad_store(triangle + PANEL * r, sums[0][0]);
        sn_quad_store(triangle + PANEL * r + 4, sums[0][1]);
    }
}

// Factors the triangle, copies it back, and prepares `columns` for the substitution.
static int32_t finish_triangle(double *corner, int32_t stride, double *triangle, double *columns) {
    int32_t bad = factor_triangle(triangle, PANEL, PANEL);
    if (bad >= 0) return bad;
    for (int r = 0; r < PANEL; r++) {
        memcpy(corner + (size_t)r * (size_t)stride, triangle + PANEL * r, (size_t)(r + 1) * sizeof(double));
        for (int c = 0; c < r; c++) columns[PANEL * c + r] = -triangle[PANEL * r + c];
        columns[PANEL * r + r] = 1 / triangle[PANEL * r + r];
    }
    return -1;
}

static int32_t do_panel(double *A, int32_t n, int32_t stride, int32_t k0) {
    double panel[PANEL * DEPTH] SN_ALIGNED, triangle[PANEL * PANEL] SN_ALIGNED = {0}, columns[PANEL * PANEL] SN_ALIGNED = {0};
    double *rows = A + (size_t)k0 * (size_t)stride;
    for (int r = 0; r < PANEL; r++) {
        memcpy(triangle + PANEL * r, rows + (size_t)r * (size_t)stride + (size_t)k0, (size_t)(r + 1) * sizeof(double));
    }
    for (int32_t begin = 0, end = 0;; begin = end) {
        end = k0 - begin > DEPTH ? begin + DEPTH : k0;
        copy_panel(panel, A, stride, k0, begin, end);
        add_to_triangle(triangle, rows + begin, stride, panel, end - begin);
        if (end == k0) {
            int32_t bad = finish_triangle(rows + k0, stride, triangle, columns);
            if (bad >= 0) return k0 + bad;
        }
        int32_t i = k0 + PANEL;
        const double *finish = end == k0 ? columns : NULL;
        for (; i + ROWS <= n; i += ROWS) do_rows(ROWS, A + (size_t)i * (size_t)stride, stride, k0, panel, begin, end, finish);
        for (; i < n; i++) do_rows(1, A + (size_t)i * (size_t)stride, stride, k0, panel, begin, end, finish);
        if (end == k0) return -1;
    }
}

int32_t SN_ISA_NAME(sn_kernel_dense_cholesky)(double *A, int32_t n, int32_t stride) {
    int32_t k0 = 0;
    for (; k0 + PANEL <= n; k0 += PANEL) {
        int32_t bad = do_panel(A, n, stride, k0);
        if (bad >= 0) return bad;
    }
    return finish_corner(A, n, stride, k0);
}

// Forward: rows in fours, dot products with what is solved, then the little triangle. Backward: rows in fours are subtracted
// from all before them.
void SN_ISA_NAME(sn_kernel_dense_cholesky_solve)(const double *L, int32_t n, int32_t stride, double *x) {
    int32_t i = 0;
    for (; i + ROWS <= n; i += ROWS) {
        const double *row = L + (size_t)i * (size_t)stride;
        sn_quad s[ROWS] = {sn_quad_all(0), sn_quad_all(0), sn_quad_all(0), sn_quad_all(0)};
        for (int32_t k = 0; k < i; k += 4) {
            sn_quad v = sn_quad_load_any(x + k);
            for (int r = 0; r < ROWS; r++)
                s[r] = sn_quad_fma(sn_quad_load_any(row + (size_t)r * (size_t)stride + (size_t)k), v, s[r]);
        }
        for (int r = 0; r < ROWS; r++) {
            const double *l = row + (size_t)r * (size_t)stride;
            double value = x[i + r] - sn_quad_sum(s[r]);
            for (int c = 0; c < r; c++) value -= l[i + c] * x[i + c];
            x[i + r] = value / l[i + r];
        }
    }
    for (; i < n; i++) {
        const double *row = L + (size_t)i * (size_t)stride;
        x[i] = (x[i] - SN_ISA_NAME(sn_kernel_dot)(row, x, i)) / row[i];
    }
    for (; i % ROWS != 0; i--) {
        const double *row = L + (size_t)(i - 1) * (size_t)stride;
        x[i - 1] /= row[i - 1];
        SN_ISA_NAME(sn_kernel_add_scaled)(x, -x[i - 1], row, i - 1);
    }
    for (; i > 0; i -= ROWS) {
        const double *row = L + (size_t)(i - ROWS) * (size_t)stride;
        for (int r = ROWS; r-- > 0;) {
            int32_t at = i - ROWS + r;
            double value = x[at];
            for (int c = r + 1; c < ROWS; c++) value -= row[(size_t)c * (size_t)stride + (size_t)at] * x[i - ROWS + c];
            x[at] = value / row[(size_t)r * (size_t)stride + (size_t)at];
        }
        sn_quad s[ROWS];
        for (int r = 0; r < ROWS; r++) s[r] = sn_quad_all(-x[i - ROWS + r]);
        for (int32_t k = 0; k < i - ROWS; k += 4) {
            sn_quad v = sn_quad_load_any(x + k);
            for (int r = 0; r < ROWS; r++)
                v = sn_quad_fma(sn_quad_load_any(row + (size_t)r * (size_t)stride + (size_t)k), s[r], v);
            sn_quad_store_any(x + k, v);
        }
    }
}
