// The loops of the coarse level; see coarse.h.
#include "linalg/coarse.h"
#include "linalg/kernels.h"
#include "math/quad.h"

#include <string.h>

// Components that are free, as factors: index bit c for component c.
static const double free_factors[8][4] SN_ALIGNED = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0},
                                                     {0, 0, 1, 0}, {1, 0, 1, 0}, {0, 1, 1, 0}, {1, 1, 1, 0}};

enum { SLOTS = SN_COARSE_SLOTS };

// sums[frame] += w (r, x x r) over the rows of a part.
void SN_ISA_NAME(sn_kernel_coarse_restrict)(double *sums, const sn_coarse *coarse, const double *r, int32_t part) {
    const sn_packed *packed = coarse->packed;
    memset(sums, 0, 8 * (size_t)coarse->frames * sizeof *sums);
    for (int32_t i = packed->part_starts[part]; i < packed->part_starts[part + 1]; i++) {
        sn_quad force = sn_quad_mul(sn_quad_load(r + 4 * (size_t)i), sn_quad_load(free_factors[coarse->free[i]]));
        sn_quad torque = sn_quad_cross(sn_quad_load(coarse->position + 4 * (size_t)i), force);
        for (int s = 0; s < SLOTS; s++) {
            sn_quad w = sn_quad_all(coarse->packed_weight[SLOTS * (size_t)i + (size_t)s]);
            double *sum = sums + coarse->packed_frame[SLOTS * (size_t)i + (size_t)s];
            sn_quad_store(sum, sn_quad_fma(w, force, sn_quad_load(sum)));
            sn_quad_store(sum + 4, sn_quad_fma(w, torque, sn_quad_load(sum + 4)));
        }
    }
}

// z_i += sum of w (t + omega x x_i) over the rows of a part.
void SN_ISA_NAME(sn_kernel_coarse_prolong)(double *z, const sn_coarse *coarse, const double *motion, int32_t part) {
    const sn_packed *packed = coarse->packed;
    for (int32_t i = packed->part_starts[part]; i < packed->part_starts[part + 1]; i++) {
        sn_quad t = sn_quad_all(0), omega = t;
        for (int s = 0; s < SLOTS; s++) {
            sn_quad w = sn_quad_all(coarse->packed_weight[SLOTS * (size_t)i + (size_t)s]);
            const double *of = motion + coarse->packed_frame[SLOTS * (size_t)i + (size_t)s];
            t = sn_quad_fma(w, sn_quad_load(of), t);
            omega = sn_quad_fma(w, sn_quad_load(of + 4), omega);
        }
        sn_quad u = sn_quad_add(t, sn_quad_cross(omega, sn_quad_load(coarse->position + 4 * (size_t)i)));
        u = sn_quad_mul(u, sn_quad_load(free_factors[coarse->free[i]]));
        sn_quad_store(z + 4 * (size_t)i, sn_quad_add(sn_quad_load(z + 4 * (size_t)i), u));
    }
}

// products[local frame] += w A_ij R_j for one block: three rows of (A_r, x_j x A_r).
static inline void add_block(double *products, sn_quad a0, sn_quad a1, sn_quad a2, sn_quad x, const double *weight,
                             const uint8_t *local) {
    sn_quad b0 = sn_quad_cross(x, a0), b1 = sn_quad_cross(x, a1), b2 = sn_quad_cross(x, a2);
    for (int s = 0; s < SLOTS; s++) {
        if (weight[s] == 0) return; // empty slots come last
        sn_quad w = sn_quad_all(weight[s]);
        double *out = products + 24 * (size_t)local[s];
        sn_quad_store(out, sn_quad_fma(w, a0, sn_quad_load(out)));
        sn_quad_store(out + 4, sn_quad_fma(w, b0, sn_quad_load(out + 4)));
        sn_quad_store(out + 8, sn_quad_fma(w, a1, sn_quad_load(out + 8)));
        sn_quad_store(out + 12, sn_quad_fma(w, b1, sn_quad_load(out + 12)));
        sn_quad_store(out + 16, sn_quad_fma(w, a2, sn_quad_load(out + 16)));
        sn_quad_store(out + 20, sn_quad_fma(w, b2, sn_quad_load(out + 20)));
    }
}

// The row (A P)_i as blocks of 3 x 8 by local frame. Finds the free components of the row on the way: those that are coupled.
static void multiply_row(double *products, sn_coarse *coarse, const double *A, int32_t i) {
    const sn_bsr *pattern = coarse->pattern;
    int32_t count = coarse->row_starts[i + 1] - coarse->row_starts[i];
    memset(products, 0, 24 * (size_t)count * sizeof *products);
    sn_quad c0 = sn_quad_all(0), c1 = c0, c2 = c0;
    for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
        if (k == pattern->diagonal[i]) continue;
        const double *a = A + 9 * (size_t)k;
        size_t j = (size_t)pattern->columns[k];
        sn_quad a0 = sn_quad_load3(a), a1 = sn_quad_load3(a + 3), a2 = sn_quad_load3(a + 6);
        c0 = sn_quad_fma(a0, a0, c0);
        c1 = sn_quad_fma(a1, a1, c1);
        c2 = sn_quad_fma(a2, a2, c2);
        add_block(products, a0, a1, a2, sn_quad_load(coarse->row_position + 4 * j), coarse->weight + SLOTS * j,
                  coarse->local + SLOTS * (size_t)k);
    }
    const double *a = A + 9 * (size_t)pattern->diagonal[i];
    double coupling[4] SN_ALIGNED;
    sn_quad_store(coupling, sn_quad_sum_each(c0, c1, c2));
    int free = (coupling[0] > 0 || a[1] != 0 || a[2] != 0) + 2 * (coupling[1] > 0 || a[3] != 0 || a[5] != 0) +
               4 * (coupling[2] > 0 || a[6] != 0 || a[7] != 0);
    coarse->free_row[i] = (uint8_t)free;
    // The others have nothing but their diagonal, which must not weigh on the frames.
    const double *factor = free_factors[free];
    sn_quad keep = sn_quad_load(factor);
    add_block(products, sn_quad_mul(sn_quad_mul(sn_quad_load3(a), keep), sn_quad_all(factor[0])),
              sn_quad_mul(sn_quad_mul(sn_quad_load3(a + 3), keep), sn_quad_all(factor[1])),
              sn_quad_mul(sn_quad_mul(sn_quad_load3(a + 6), keep), sn_quad_all(factor[2])),
              sn_quad_load(coarse->row_position + 4 * (size_t)i), coarse->weight + SLOTS * (size_t)i,
              coarse->local + SLOTS * (size_t)pattern->diagonal[i]);
}

// Adds w_ia R_i' (A P)_ib for all pairs a >= b of a row's frames. R_i' takes a row to itself and to x_i x of it.
static void add_row(double *partial, const double *products, const sn_coarse *coarse, const double *x, int32_t i) {
    for (int32_t l = 0; l < coarse->row_starts[i + 1] - coarse->row_starts[i]; l++) {
        int32_t b = coarse->row_frames[coarse->row_starts[i] + l];
        sn_quad g[6][2];
        for (int h = 0; h < 2; h++) {
            const double *in = products + 24 * (size_t)l + 4 * h;
            g[0][h] = sn_quad_load(in);
            g[1][h] = sn_quad_load(in + 8);
            g[2][h] = sn_quad_load(in + 16);
            g[3][h] = sn_quad_sub(sn_quad_mul(sn_quad_all(x[1]), g[2][h]), sn_quad_mul(sn_quad_all(x[2]), g[1][h]));
            g[4][h] = sn_quad_sub(sn_quad_mul(sn_quad_all(x[2]), g[0][h]), sn_quad_mul(sn_quad_all(x[0]), g[2][h]));
            g[5][h] = sn_quad_sub(sn_quad_mul(sn_quad_all(x[0]), g[1][h]), sn_quad_mul(sn_quad_all(x[1]), g[0][h]));
        }
        for (int s = 0; s < SLOTS; s++) {
            int32_t a = coarse->frame[SLOTS * (size_t)i + (size_t)s] / 8;
            double weight = coarse->weight[SLOTS * (size_t)i + (size_t)s];
            if (a < b || weight == 0) continue;
            double *out = partial + 48 * (size_t)coarse->pair[a * coarse->frames + b];
            sn_quad w = sn_quad_all(weight);
            for (int r = 0; r < 6; r++) {
                sn_quad_store(out + 8 * r, sn_quad_fma(w, g[r][0], sn_quad_load(out + 8 * r)));
                sn_quad_store(out + 8 * r + 4, sn_quad_fma(w, g[r][1], sn_quad_load(out + 8 * r + 4)));
            }
        }
    }
}

void SN_ISA_NAME(sn_kernel_coarse_assemble)(double *partial, sn_coarse *coarse, const double *A, int32_t begin, int32_t end) {
    double products[24 * SN_COARSE_MAX_FRAMES] SN_ALIGNED;
    memset(partial, 0, 48 * (size_t)coarse->pairs * sizeof *partial);
    for (int32_t i = begin; i < end; i++) {
        multiply_row(products, coarse, A, i);
        if (coarse->free_row[i]) add_row(partial, products, coarse, coarse->row_position + 4 * (size_t)i, i);
    }
}
