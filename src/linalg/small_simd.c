// Small symmetric positive definite systems, such as those of a few frames: A = L D L' without
// square roots, four columns at a time.
//
// Columns have `n` doubles (a multiple of four), are aligned and follow one another; numbers above
// the diagonal of a panel's first column are never used. Each panel first subtracts the product
// with earlier columns (eight sums in registers), then eliminates its own four columns one by one.
// Keeping C = L D next to L leaves one division per column and no square root, so the chains of
// dependent operations stay short.
//
// Cost: n^3 / 6 multiply-adds for the factor, n^2 for a solve. Checked by:
// tests/linalg/test_solver.c.
#include "linalg/kernels.h"
#include "math/quad.h"

#include <math.h>

// The elimination among a panel's own columns: factor[c][d] times column c is subtracted from
// column d > c.
typedef struct panel_factors {
    double factor[4][4], inverse[4];
} panel_factors;

// C and L of four columns for `quads` quads of rows starting at `row`: subtracts the product with
// earlier columns and, if `own` is given, among the four.
SN_INLINE void do_strip(double *C, double *L, int32_t n, int32_t first, int32_t row, int quads,
                        const panel_factors *own) {
    sn_quad sums[4][2];
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < quads; i++) {
            sums[c][i] = sn_quad_load(C + (size_t)(first + c) * (size_t)n + row + 4 * i);
        }
    }

    // Subtract the product with earlier columns.
    for (int32_t k = 0; k < first; k++) {
        const double *left = L + (size_t)k * (size_t)n + first;
        const double *right = C + (size_t)k * (size_t)n + row;
        for (int c = 0; c < 4; c++) {
            sn_quad l = sn_quad_all(left[c]);
            for (int i = 0; i < quads; i++) {
                sums[c][i] = sn_quad_sub(sums[c][i], sn_quad_mul(l, sn_quad_load(right + 4 * i)));
            }
        }
    }

    // Eliminate among the four columns.
    if (own) {
        for (int c = 0; c < 4; c++) {
            for (int d = c + 1; d < 4; d++) {
                sn_quad l = sn_quad_all(own->factor[c][d]);
                for (int i = 0; i < quads; i++) {
                    sums[d][i] = sn_quad_sub(sums[d][i], sn_quad_mul(l, sums[c][i]));
                }
            }
        }
    }

    // Store C, and L = C D^-1 if the pivots are known.
    for (int c = 0; c < 4; c++) {
        size_t at = (size_t)(first + c) * (size_t)n + (size_t)row;
        sn_quad inverse = sn_quad_all(own ? own->inverse[c] : 0);
        for (int i = 0; i < quads; i++) {
            sn_quad_store(C + at + 4 * i, sums[c][i]);
            if (own) {
                sn_quad_store(L + at + 4 * i, sn_quad_mul(inverse, sums[c][i]));
            }
        }
    }
}

// The corner of a panel whose products with earlier columns are done. Returns -1 or the column of
// the bad pivot.
SN_INLINE int32_t do_corner(double *C, double *L, int32_t n, panel_factors *own) {
    for (int c = 0; c < 4; c++) {
        double *column = C + (size_t)c * (size_t)n;
        double pivot = column[c];
        if (!(pivot > 0) || !isfinite(pivot)) {
            return c;
        }

        // Column c of L, and its contribution to the later columns of the corner.
        own->inverse[c] = 1 / pivot;
        for (int d = c + 1; d < 4; d++) {
            own->factor[c][d] = L[(size_t)c * (size_t)n + (size_t)d] = column[d] * own->inverse[c];
            double *other = C + (size_t)d * (size_t)n;
            for (int e = d; e < 4; e++) {
                other[e] -= own->factor[c][d] * column[e];
            }
        }
    }

    return -1;
}

int32_t SN_ISA_NAME(sn_kernel_small_factor)(double *C, double *L, double *inverse, int32_t n) {
    for (int32_t first = 0; first < n; first += 4) {
        panel_factors own;
        size_t corner = (size_t)first * (size_t)n + (size_t)first;

        // The corner gives the pivots.
        do_strip(C, L, n, first, first, 1, NULL);
        int32_t bad = do_corner(C + corner, L + corner, n, &own);
        int32_t row = first + 4;
        if (bad >= 0) {
            return first + bad;
        }

        for (int c = 0; c < 4; c++) {
            inverse[first + c] = own.inverse[c];
        }

        // The rows below, eight at a time.
        for (; row + 8 <= n; row += 8) {
            do_strip(C, L, n, first, row, 2, &own);
        }

        if (row < n) {
            do_strip(C, L, n, first, row, 1, &own);
        }
    }

    return -1;
}

// The products of four columns with x below them: one number each.
SN_INLINE void multiply_below(double sums[4], const double *L, int32_t n, int32_t first,
                              const double *x) {
    sn_quad s[4] = {sn_quad_all(0), sn_quad_all(0), sn_quad_all(0), sn_quad_all(0)};
    for (int32_t row = first + 4; row < n; row += 4) {
        sn_quad value = sn_quad_load(x + row);
        for (int c = 0; c < 4; c++) {
            s[c] = sn_quad_fma(sn_quad_load(L + (size_t)c * (size_t)n + row), value, s[c]);
        }
    }

    for (int c = 0; c < 4; c++) {
        sums[c] = sn_quad_sum(s[c]);
    }
}

void SN_ISA_NAME(sn_kernel_small_solve)(double *x, const double *L, const double *inverse,
                                        int32_t n) {
    // L x = b, four columns at a time.
    for (int32_t first = 0; first < n; first += 4) {
        const double *own = L + (size_t)first * (size_t)n;
        for (int c = 0; c < 3; c++) {
            for (int d = c + 1; d < 4; d++) {
                x[first + d] -= own[(size_t)c * (size_t)n + (size_t)(first + d)] * x[first + c];
            }
        }

        sn_quad factor[4];
        for (int c = 0; c < 4; c++) {
            factor[c] = sn_quad_all(-x[first + c]);
        }

        for (int32_t row = first + 4; row < n; row += 4) {
            sn_quad sum = sn_quad_load(x + row);
            for (int c = 0; c < 4; c++) {
                sum = sn_quad_fma(factor[c], sn_quad_load(own + (size_t)c * (size_t)n + row), sum);
            }
            sn_quad_store(x + row, sum);
        }
    }

    // D x = b
    for (int32_t i = 0; i < n; i += 4) {
        sn_quad_store(x + i, sn_quad_mul(sn_quad_load(x + i), sn_quad_load(inverse + i)));
    }

    // L'x = b, backwards.
    for (int32_t first = n - 4; first >= 0; first -= 4) {
        const double *own = L + (size_t)first * (size_t)n;
        double sums[4];

        multiply_below(sums, own, n, first, x);

        for (int c = 3; c >= 0; c--) {
            double value = x[first + c] - sums[c];
            for (int d = c + 1; d < 4; d++) {
                value -= own[(size_t)c * (size_t)n + (size_t)(first + d)] * x[first + d];
            }
            x[first + c] = value;
        }
    }
}
