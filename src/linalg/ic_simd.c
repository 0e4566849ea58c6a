// The loops of the incomplete Cholesky factor; see ic.h and ic.c for the method.
#include "linalg/ic.h"
#include "linalg/kernels.h"
#include "math/quad.h"

// Smaller pivots, relative to the diagonal, are rounding error, because the factor is kept in
// single precision.
static const double least_pivot = 1e-5;

// C^-1 of D = C C' with D given by its columns; the columns of the inverse go to `inverse`, padded.
// Returns false if a pivot is not above its limit.
static bool invert_pivot(double *inverse, const double *D, const double *diagonal) {
    // Cholesky of the 3x3 block, pivot by pivot.
    double d0 = D[0];
    double d1, d2;
    if (!(d0 > least_pivot * diagonal[0])) {
        return false;
    }

    double i0 = 1 / sqrt(d0);
    double c10 = D[1] * i0;
    double c20 = D[2] * i0;

    d1 = D[5] - c10 * c10;
    if (!(d1 > least_pivot * diagonal[4])) {
        return false;
    }

    double i1 = 1 / sqrt(d1);
    double c21 = (D[6] - c20 * c10) * i1;

    d2 = D[10] - c20 * c20 - c21 * c21;
    if (!(d2 > least_pivot * diagonal[8])) {
        return false;
    }

    // Invert the triangle.
    double i2 = 1 / sqrt(d2);
    double m10 = -c10 * i0 * i1;
    double m21 = -c21 * i1 * i2;

    inverse[0] = i0;
    inverse[1] = m10;
    inverse[2] = -(c20 * i0 + c21 * m10) * i2;
    inverse[4] = 0;
    inverse[5] = i1;
    inverse[6] = m21;
    inverse[8] = inverse[9] = 0;
    inverse[10] = i2;
    inverse[3] = inverse[7] = inverse[11] = 0;

    return isfinite(i0) && isfinite(i1) && isfinite(i2);
}

// Column c of X -= U V', the columns of U given, V = (v0; v1; v2) by rows: X_c -= sum_f U_f V_cf.
#define SUBTRACT_COLUMN(x, u, v, shift)                                                            \
    sn_quad_sub(x, sn_quad_fma(u[0], sn_quad_spread(v, shift),                                     \
                               sn_quad_fma(u[1], sn_quad_spread(v, shift + 1),                     \
                                           sn_quad_mul(u[2], sn_quad_spread(v, shift + 2)))))

// Block `q` of row i before it is scaled by C_i^-1, as columns x[3].
static inline void eliminate(sn_quad *x, const sn_ic *ic, int32_t q, const double *row) {
    const double *a = ic->matrix->values + 9 * (size_t)ic->source[q];
    const double *inverse = ic->inverse + 3 * (size_t)ic->columns[q];
    sn_quad a0, a1, a2;

    sn_quad_transpose3(sn_quad_load_any(a), sn_quad_load_any(a + 3), sn_quad_load_any(a + 6), &a0,
                       &a1, &a2);

    // A_ij C_j^-T: column c is the sum over f <= c of column f of A times C^-1_cf.
    x[0] = sn_quad_mul(a0, sn_quad_all(inverse[0]));
    x[1] = sn_quad_fma(a0, sn_quad_all(inverse[1]), sn_quad_mul(a1, sn_quad_all(inverse[5])));
    x[2] = sn_quad_fma(a0, sn_quad_all(inverse[2]), sn_quad_mul(a1, sn_quad_all(inverse[6])));
    x[2] = sn_quad_fma(a2, sn_quad_all(inverse[10]), x[2]);

    // Subtract sL_im L_jm' for all m coupled to both rows.
    for (int32_t p = ic->pair_starts[q]; p < ic->pair_starts[q + 1]; p++) {
        const double *left = row + 12 * (size_t)ic->pair_first[p];
        const float *right = ic->values + 9 * (size_t)ic->pair_second[p];
        sn_quad u[3] = {sn_quad_load(left), sn_quad_load(left + 4), sn_quad_load(left + 8)};

        // Load the last row one number early: what follows may belong to another thread.
        sn_quad v0 = sn_quad_load_float(right);
        sn_quad v1 = sn_quad_load_float(right + 3);
        sn_quad v2 = sn_quad_load_float(right + 5);

        x[0] = SUBTRACT_COLUMN(x[0], u, v0, 0);
        x[1] = SUBTRACT_COLUMN(x[1], u, v1, 0);
        x[2] = SUBTRACT_COLUMN(x[2], u, v2, 1);
    }
}

// Scales the blocks of a finished row by C_i^-1 and stores them, row by row, in single precision.
static inline void store_row(sn_ic *ic, int32_t i, const double *row) {
    const double *inverse = ic->inverse + 12 * (size_t)i;
    sn_quad c0 = sn_quad_load(inverse);
    sn_quad c1 = sn_quad_load(inverse + 4);
    sn_quad c2 = sn_quad_load(inverse + 8);

    for (int32_t q = ic->starts[i]; q < ic->starts[i + 1]; q++) {
        const double *x = row + 12 * (size_t)(q - ic->starts[i]);
        float *out = ic->values + 9 * (size_t)q;
        sn_quad y[3], r0, r1, r2;

        for (int f = 0; f < 3; f++) {
            y[f] = sn_quad_fma(c0, sn_quad_all(x[4 * f]),
                               sn_quad_fma(c1, sn_quad_all(x[4 * f + 1]),
                                           sn_quad_mul(c2, sn_quad_all(x[4 * f + 2]))));
        }

        sn_quad_transpose3(y[0], y[1], y[2], &r0, &r1, &r2);
        sn_quad_store3_float(out, r0);
        sn_quad_store3_float(out + 3, r1);
        sn_quad_store3_float(out + 6, r2);
    }
}

int32_t SN_ISA_NAME(sn_kernel_ic_factor)(sn_ic *ic, int32_t part, double shift) {
    const sn_packed *A = ic->matrix;
    double *row = ic->row + 12 * (size_t)ic->longest * (size_t)part;
    for (int32_t i = A->part_starts[part]; i < A->part_starts[part + 1]; i++) {
        const double *diagonal = A->values + 9 * (size_t)(A->starts[i + 1] - 1);
        sn_quad d0, d1, d2;

        // D_i starts as the scaled diagonal block.
        sn_quad scale = sn_quad_all(1 + shift);

        sn_quad_transpose3(sn_quad_load_any(diagonal), sn_quad_load_any(diagonal + 3),
                           sn_quad_load_any(diagonal + 6), &d0, &d1, &d2);
        d0 = sn_quad_mul(d0, scale);
        d1 = sn_quad_mul(d1, scale);
        d2 = sn_quad_mul(d2, scale);

        // Eliminate the blocks of the row; each also reduces D_i by sL_im sL_im'.
        for (int32_t q = ic->starts[i]; q < ic->starts[i + 1]; q++) {
            sn_quad x[3];
            eliminate(x, ic, q, row);
            double *out = row + 12 * (size_t)(q - ic->starts[i]);

            for (int f = 0; f < 3; f++) {
                sn_quad_store(out + 4 * f, x[f]);
                d0 = sn_quad_sub(d0, sn_quad_mul(x[f], sn_quad_spread(x[f], 0)));
                d1 = sn_quad_sub(d1, sn_quad_mul(x[f], sn_quad_spread(x[f], 1)));
                d2 = sn_quad_sub(d2, sn_quad_mul(x[f], sn_quad_spread(x[f], 2)));
            }
        }

        // C_i^-1 completes the row.
        double D[12] SN_ALIGNED;
        sn_quad_store(D, d0);
        sn_quad_store(D + 4, d1);
        sn_quad_store(D + 8, d2);

        if (!invert_pivot(ic->inverse + 12 * (size_t)i, D, diagonal)) {
            return i;
        }

        store_row(ic, i, row);
    }

    return -1;
}

// t_i = C_i^-1 r_i - sum_j L_ij t_j, stored in z.
void SN_ISA_NAME(sn_kernel_ic_forward)(double *z, const sn_ic *ic, const double *r, int32_t part) {
    const sn_packed *A = ic->matrix;
    for (int32_t i = A->part_starts[part]; i < A->part_starts[part + 1]; i++) {
        const double *inverse = ic->inverse + 12 * (size_t)i;
        const double *r_i = r + 4 * (size_t)i;

        // C_i^-1 r_i
        sn_quad t = sn_quad_mul(sn_quad_load(inverse), sn_quad_all(r_i[0]));

        t = sn_quad_fma(sn_quad_load(inverse + 4), sn_quad_all(r_i[1]), t);
        t = sn_quad_fma(sn_quad_load(inverse + 8), sn_quad_all(r_i[2]), t);

        // Subtract the contributions of the rows before.
        sn_quad t0 = sn_quad_all(0);
        sn_quad t1 = t0;
        sn_quad t2 = t0;
        const float *l = ic->values + 9 * (size_t)ic->starts[i];

        for (int32_t q = ic->starts[i]; q < ic->starts[i + 1]; q++, l += 9) {
            sn_quad v = sn_quad_load(z + ic->columns[q]);
            t0 = sn_quad_fma(sn_quad_load_float(l), v, t0);
            t1 = sn_quad_fma(sn_quad_load_float(l + 3), v, t1);
            t2 = sn_quad_fma(sn_quad_load_float(l + 6), v, t2);
        }

        sn_quad_store(z + 4 * (size_t)i, sn_quad_sub(t, sn_quad_sum_each(t0, t1, t2)));
    }
}

// z_j -= L_ij' h for the block at `l`, with each number of h in all lanes of h0, h1, h2.
static inline void scatter_block(double *z_j, const float *l, sn_quad h0, sn_quad h1, sn_quad h2) {
    sn_quad z = sn_quad_load(z_j);
    sn_quad sum = sn_quad_mul(sn_quad_load_float(l), h0);
    sum = sn_quad_fma(sn_quad_load_float(l + 3), h1, sum);
    sum = sn_quad_fma(sn_quad_load_float(l + 6), h2, sum);
    sn_quad_store(z_j, sn_quad_sub(z, sum));
}

// Solves (I + L') h = t by scattering each finished row, and stores z = C^-T h. Returns r'z.
double SN_ISA_NAME(sn_kernel_ic_backward)(double *z, const sn_ic *ic, const double *r,
                                          int32_t part) {
    const sn_packed *A = ic->matrix;

    // A domain first receives the contributions of the separators, which are already solved.
    bool separator = part >= A->domains;
    for (int32_t k = separator ? 0 : ic->link_starts[part];
         k < (separator ? 0 : ic->link_starts[part + 1]); k++) {
        const double *h = ic->half + ic->link_row[k];
        scatter_block(z + ic->columns[ic->link_block[k]],
                      ic->values + 9 * (size_t)ic->link_block[k], sn_quad_all(h[0]),
                      sn_quad_all(h[1]), sn_quad_all(h[2]));
    }

    int32_t begin = A->part_starts[part];
    sn_quad dot = sn_quad_all(0);
    for (int32_t i = A->part_starts[part + 1]; i-- > begin;) {
        sn_quad h = sn_quad_clear_last(sn_quad_load(z + 4 * (size_t)i));
        sn_quad h0 = sn_quad_spread(h, 0);
        sn_quad h1 = sn_quad_spread(h, 1);
        sn_quad h2 = sn_quad_spread(h, 2);

        if (separator) {
            sn_quad_store(ic->half + 4 * (size_t)(i - A->part_starts[A->domains]), h);
        }

        // The blocks of a separator that couple to domains are applied when those are swept.
        for (int32_t q = ic->starts[i + 1] - 1; q >= ic->starts[i] && ic->columns[q] >= 4 * begin;
             q--) {
            scatter_block(z + ic->columns[q], ic->values + 9 * (size_t)q, h0, h1, h2);
        }

        // z_i = C_i^-T h_i, and the dot product on the way.
        const double *inverse = ic->inverse + 12 * (size_t)i;
        sn_quad z_i = sn_quad_sum_each(sn_quad_mul(sn_quad_load(inverse), h),
                                       sn_quad_mul(sn_quad_load(inverse + 4), h),
                                       sn_quad_mul(sn_quad_load(inverse + 8), h));

        sn_quad_store(z + 4 * (size_t)i, z_i);
        dot = sn_quad_fma(z_i, sn_quad_load(r + 4 * (size_t)i), dot);
    }

    return sn_quad_sum(dot);
}
