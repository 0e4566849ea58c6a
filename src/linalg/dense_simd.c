// Dense Cholesky for systems of up to a few hundred unknowns, left-looking by panels of eight
// columns.
//
// A panel first receives the product of all earlier columns: four rows of L times the panel's own
// rows, which are copied transposed and negated so that eight columns are two quads; the sums stay
// in registers all along. Then its triangle is factored and the rows below are solved against it,
// still in registers.
#include "linalg/kernels.h"
#include "math/quad.h"

#include <string.h>

enum {
    PANEL = 8,
    ROWS = 4,
    DEPTH = 256
}; // the copy of a panel, DEPTH columns at a time, stays in the first cache

// Copies -rows[c][begin .. end) transposed, for `width` <= 8 rows, to panel[8 (k - begin) + c]; the
// remaining columns become zero.
static void copy_panel(double *panel, const double *rows, int32_t stride, int32_t width,
                       int32_t begin, int32_t end) {
    for (int32_t c = 0; c < PANEL; c++) {
        const double *row = rows + (size_t)c * (size_t)stride;
        for (int32_t k = begin; k < end; k++) {
            panel[PANEL * (k - begin) + c] = c < width ? -row[k] : 0;
        }
    }
}

// sums += the first `count` columns of `rows` rows (a constant) times the panel.
SN_INLINE void add_products(sn_quad sums[][2], int rows, const double *row, int32_t stride,
                            const double *panel, int32_t count) {
    for (int32_t k = 0; k < count; k++) {
        sn_quad low = sn_quad_load(panel + PANEL * k);
        sn_quad high = sn_quad_load(panel + PANEL * k + 4);
        for (int r = 0; r < rows; r++) {
            sn_quad a = sn_quad_all(row[(size_t)r * (size_t)stride + (size_t)k]);
            sums[r][0] = sn_quad_fma(a, low, sums[r][0]);
            sums[r][1] = sn_quad_fma(a, high, sums[r][1]);
        }
    }
}

// One column of the substitution x T' = c for all rows: x_j = c_j / T_jj, then subtract x_j T_kj
// from the later columns. `columns` holds the rows of T' (negated above the diagonal, inverted on
// it), eight doubles each.
#define SUBSTITUTE(half, lane, j)                                                                  \
    do {                                                                                           \
        const double *t = columns + PANEL * (j);                                                   \
        sn_quad low = sn_quad_load(t), high = sn_quad_load(t + 4), inverse = sn_quad_all(t[j]);    \
        for (int r = 0; r < rows; r++) {                                                           \
            sn_quad x = sn_quad_mul(sn_quad_spread(sums[r][half], lane), inverse);                 \
            if ((j) < 4)                                                                           \
                sums[r][0] = sn_quad_fma(x, low, sums[r][0]);                                      \
            sums[r][1] = sn_quad_fma(x, high, sums[r][1]);                                         \
            solved[r][j] = x;                                                                      \
        }                                                                                          \
    } while (0)

SN_INLINE void finish_rows(sn_quad sums[][2], int rows, double *row, int32_t stride,
                           const double *columns) {
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

// Processes `rows` rows of the panel at column k0: the product with the columns [begin, end), and
// the substitution if `columns` is given.
SN_INLINE void do_rows(int rows, double *row, int32_t stride, int32_t k0, const double *panel,
                       int32_t begin, int32_t end, const double *columns) {
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

// The same for one row of a panel narrower than eight; columns beyond its width must not be
// touched.
static void do_narrow_row(double *row, int32_t k0, int32_t width, const double *panel,
                          int32_t begin, int32_t end, const double *columns) {
    double narrow[PANEL] SN_ALIGNED = {0};
    memcpy(narrow, row + k0, (size_t)width * sizeof(double));

    sn_quad sums[ROWS][2] = {{sn_quad_load(narrow), sn_quad_load(narrow + 4)}};
    add_products(sums, 1, row + begin, 0, panel, end - begin);
    if (columns) {
        finish_rows(sums, 1, narrow, 0, columns);
    } else {
        sn_quad_store(narrow, sums[0][0]);
        sn_quad_store(narrow + 4, sums[0][1]);
    }

    memcpy(row + k0, narrow, (size_t)width * sizeof(double));
}

// Factors a triangle of `width` rows whose products with earlier columns are done. Returns -1 or
// the row of the bad pivot.
static int32_t factor_triangle(double *A, int32_t stride, int32_t width) {
    for (int32_t j = 0; j < width; j++) {
        double *row = A + (size_t)j * (size_t)stride;
        double pivot = row[j];
        for (int32_t k = 0; k < j; k++) {
            pivot -= row[k] * row[k];
        }

        if (!(pivot > 0) || !isfinite(pivot)) {
            return j;
        }

        row[j] = sqrt(pivot);
        double inverse = 1 / row[j];
        for (int32_t i = j + 1; i < width; i++) {
            double *below = A + (size_t)i * (size_t)stride;
            for (int32_t k = 0; k < j; k++) {
                below[j] -= below[k] * row[k];
            }
            below[j] *= inverse;
        }
    }

    return -1;
}

// triangle += the product for the panel's own rows. The triangle is a copy, because the upper
// triangle of A must not change.
static void add_to_triangle(double *triangle, int32_t width, const double *rows, int32_t stride,
                            const double *panel, int32_t count) {
    for (int32_t r = 0; r < width; r++) {
        sn_quad sums[ROWS][2] = {
            {sn_quad_load(triangle + PANEL * r), sn_quad_load(triangle + PANEL * r + 4)}};
        add_products(sums, 1, rows + (size_t)r * (size_t)stride, stride, panel, count);
        sn_quad_store(triangle + PANEL * r, sums[0][0]);
        sn_quad_store(triangle + PANEL * r + 4, sums[0][1]);
    }
}

// Factors the triangle, copies it back, and prepares `columns` for the substitution.
static int32_t finish_triangle(double *corner, int32_t stride, int32_t width, double *triangle,
                               double *columns) {
    int32_t bad = factor_triangle(triangle, PANEL, width);
    if (bad >= 0) {
        return bad;
    }

    for (int32_t r = 0; r < width; r++) {
        memcpy(corner + (size_t)r * (size_t)stride, triangle + PANEL * r,
               (size_t)(r + 1) * sizeof(double));
        for (int32_t c = 0; c < r; c++) {
            columns[PANEL * c + r] = -triangle[PANEL * r + c];
        }
        columns[PANEL * r + r] = 1 / triangle[PANEL * r + r];
    }

    return -1;
}

// Factors the columns [k0, k0 + width) of `rows` rows; earlier columns are done.
static int32_t do_panel(double *A, int32_t rows, int32_t stride, int32_t k0, int32_t width) {
    double panel[PANEL * DEPTH] SN_ALIGNED,
        triangle[PANEL * PANEL] SN_ALIGNED = {0}, columns[PANEL * PANEL] SN_ALIGNED = {0};

    double *own = A + (size_t)k0 * (size_t)stride;

    // A copy of the triangle on the diagonal.
    for (int32_t r = 0; r < width; r++) {
        memcpy(triangle + PANEL * r, own + (size_t)r * (size_t)stride + (size_t)k0,
               (size_t)(r + 1) * sizeof(double));
    }

    for (int32_t begin = 0, end = 0;; begin = end) {
        // The columns to the left are subtracted in slices of DEPTH, which stay in the cache.
        end = k0 - begin > DEPTH ? begin + DEPTH : k0;
        copy_panel(panel, own, stride, width, begin, end);
        add_to_triangle(triangle, width, own + begin, stride, panel, end - begin);

        if (end == k0) {
            int32_t bad = finish_triangle(own + k0, stride, width, triangle, columns);
            if (bad >= 0) {
                return k0 + bad;
            }
        }

        // The rows below, four at a time.
        int32_t i = k0 + width;
        const double *finish = end == k0 ? columns : NULL;
        if (width < PANEL) {
            for (; i < rows; i++) {
                do_narrow_row(A + (size_t)i * (size_t)stride, k0, width, panel, begin, end, finish);
            }
        }

        for (; i + ROWS <= rows; i += ROWS) {
            do_rows(ROWS, A + (size_t)i * (size_t)stride, stride, k0, panel, begin, end, finish);
        }

        for (; i < rows; i++) {
            do_rows(1, A + (size_t)i * (size_t)stride, stride, k0, panel, begin, end, finish);
        }

        if (end == k0) {
            return -1;
        }
    }
}

int32_t SN_ISA_NAME(sn_kernel_dense_factor)(double *A, int32_t rows, int32_t columns,
                                            int32_t stride) {
    for (int32_t k0 = 0; k0 < columns; k0 += PANEL) {
        int32_t bad = do_panel(A, rows, stride, k0, columns - k0 < PANEL ? columns - k0 : PANEL);
        if (bad >= 0) {
            return bad;
        }
    }

    return -1;
}

// C = -A B', `m` rows of A and `n` of B, both of `depth` columns; C has a stride that is a multiple
// of eight and at least n.
void SN_ISA_NAME(sn_kernel_dense_product)(double *C, int32_t c_stride, const double *A, int32_t m,
                                          const double *B, int32_t n, int32_t depth,
                                          int32_t stride) {
    double panel[PANEL * DEPTH] SN_ALIGNED;
    for (int32_t j = 0; j < n; j += PANEL) {
        for (int32_t begin = 0, end = 0; begin < depth; begin = end) {
            end = depth - begin > DEPTH ? begin + DEPTH : depth;
            copy_panel(panel, B + (size_t)j * (size_t)stride, stride, n - j < PANEL ? n - j : PANEL,
                       begin, end);

            int32_t rows = ROWS;
            for (int32_t i = 0; i < m; i += rows) {
                if (m - i < ROWS) {
                    rows = 1;
                }

                // Sums continue from the slice before.
                double *out = C + (size_t)i * (size_t)c_stride + (size_t)j;
                sn_quad sums[ROWS][2];
                for (int32_t r = 0; r < ROWS; r++) {
                    bool more = begin > 0 && r < rows;
                    sums[r][0] =
                        more ? sn_quad_load(out + (size_t)r * (size_t)c_stride) : sn_quad_all(0);
                    sums[r][1] = more ? sn_quad_load(out + (size_t)r * (size_t)c_stride + 4)
                                      : sn_quad_all(0);
                }

                // Whole groups of rows, else one row.
                const double *row = A + (size_t)i * (size_t)stride + (size_t)begin;
                if (rows == ROWS) {
                    add_products(sums, ROWS, row, stride, panel, end - begin);
                } else {
                    add_products(sums, 1, row, stride, panel, end - begin);
                }

                for (int32_t r = 0; r < rows; r++) {
                    sn_quad_store(out + (size_t)r * (size_t)c_stride, sums[r][0]);
                    sn_quad_store(out + (size_t)r * (size_t)c_stride + 4, sums[r][1]);
                }
            }
        }
    }
}

// y = A x for m rows of n columns.
void SN_ISA_NAME(sn_kernel_dense_multiply)(double *y, const double *A, int32_t m, int32_t n,
                                           int32_t stride, const double *x) {
    int32_t i = 0;
    int32_t whole = n / 4 * 4;

    // Four rows at a time share the loads of x.
    for (; i + ROWS <= m; i += ROWS) {
        const double *row = A + (size_t)i * (size_t)stride;
        sn_quad s[ROWS] = {sn_quad_all(0), sn_quad_all(0), sn_quad_all(0), sn_quad_all(0)};
        for (int32_t k = 0; k < whole; k += 4) {
            sn_quad v = sn_quad_load_any(x + k);
            for (int r = 0; r < ROWS; r++) {
                s[r] = sn_quad_fma(sn_quad_load_any(row + (size_t)r * (size_t)stride + (size_t)k),
                                   v, s[r]);
            }
        }

        // The columns that do not fill four lanes.
        for (int r = 0; r < ROWS; r++) {
            y[i + r] = sn_quad_sum(s[r]);
            for (int32_t k = whole; k < n; k++) {
                y[i + r] += row[(size_t)r * (size_t)stride + (size_t)k] * x[k];
            }
        }
    }

    // The remaining rows.
    for (; i < m; i++) {
        y[i] = SN_ISA_NAME(sn_kernel_dot)(A + (size_t)i * (size_t)stride, x, n);
    }
}

// y -= A'x for m rows of n columns. x may lie behind y in the same array.
void SN_ISA_NAME(sn_kernel_dense_subtract_transposed)(double *y, const double *A, int32_t m,
                                                      int32_t n, int32_t stride, const double *x) {
    int32_t i = 0;
    int32_t whole = n / 4 * 4;

    // Four rows at a time share the loads and stores of y.
    for (; i + ROWS <= m; i += ROWS) {
        const double *row = A + (size_t)i * (size_t)stride;
        sn_quad s[ROWS];
        for (int r = 0; r < ROWS; r++) {
            s[r] = sn_quad_all(-x[i + r]);
        }

        for (int32_t k = 0; k < whole; k += 4) {
            sn_quad v = sn_quad_load_any(y + k);
            for (int r = 0; r < ROWS; r++) {
                v = sn_quad_fma(sn_quad_load_any(row + (size_t)r * (size_t)stride + (size_t)k),
                                s[r], v);
            }
            sn_quad_store_any(y + k, v);
        }

        for (int r = 0; r < ROWS; r++) {
            for (int32_t k = whole; k < n; k++) {
                y[k] -= row[(size_t)r * (size_t)stride + (size_t)k] * x[i + r];
            }
        }
    }

    // The remaining rows.
    for (; i < m; i++) {
        SN_ISA_NAME(sn_kernel_add_scaled)(y, -x[i], A + (size_t)i * (size_t)stride, n);
    }
}

// L x = b in place, four rows at a time: dot products with the solved part, then a 4x4 triangle.
void SN_ISA_NAME(sn_kernel_dense_forward)(const double *L, int32_t n, int32_t stride, double *x) {
    int32_t i = 0;
    for (; i + ROWS <= n; i += ROWS) {
        const double *row = L + (size_t)i * (size_t)stride;
        sn_quad s[ROWS] = {sn_quad_all(0), sn_quad_all(0), sn_quad_all(0), sn_quad_all(0)};

        // Dot products with what is solved.
        for (int32_t k = 0; k < i; k += 4) {
            sn_quad v = sn_quad_load_any(x + k);
            for (int r = 0; r < ROWS; r++) {
                s[r] = sn_quad_fma(sn_quad_load_any(row + (size_t)r * (size_t)stride + (size_t)k),
                                   v, s[r]);
            }
        }

        // The triangle.
        for (int r = 0; r < ROWS; r++) {
            const double *l = row + (size_t)r * (size_t)stride;
            double value = x[i + r] - sn_quad_sum(s[r]);
            for (int c = 0; c < r; c++) {
                value -= l[i + c] * x[i + c];
            }
            x[i + r] = value / l[i + r];
        }
    }

    // The remaining rows.
    for (; i < n; i++) {
        const double *row = L + (size_t)i * (size_t)stride;
        x[i] = (x[i] - SN_ISA_NAME(sn_kernel_dot)(row, x, i)) / row[i];
    }
}

// L'x = b in place, four rows at a time, each subtracted from all rows before it.
void SN_ISA_NAME(sn_kernel_dense_backward)(const double *L, int32_t n, int32_t stride, double *x) {
    int32_t i = n;
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
            for (int c = r + 1; c < ROWS; c++) {
                value -= row[(size_t)c * (size_t)stride + (size_t)at] * x[i - ROWS + c];
            }
            x[at] = value / row[(size_t)r * (size_t)stride + (size_t)at];
        }

        SN_ISA_NAME(sn_kernel_dense_subtract_transposed)
        (x, row, ROWS, i - ROWS, stride, x + i - ROWS);
    }
}
