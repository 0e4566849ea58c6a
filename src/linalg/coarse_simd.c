// The loops of the coarse level; see coarse.h.
#include "linalg/coarse.h"
#include "linalg/kernels.h"
#include "math/quad.h"

#include <string.h>

// The free components as factors; bit c of the index stands for component c.
static const double free_factors[8][4] SN_ALIGNED = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0},
                                                     {1, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 1, 0},
                                                     {0, 1, 1, 0}, {1, 1, 1, 0}};

enum { SLOTS = SN_COARSE_SLOTS, STRIDE = SN_COARSE_STRIDE };

// sums[frame] += w (r, x x r) over the rows of a chunk.
void SN_ISA_NAME(sn_kernel_coarse_restrict)(double *sums, const sn_coarse *coarse, const double *r,
                                            int32_t chunk) {
    const sn_packed *packed = coarse->packed;
    memset(sums, 0, 8 * (size_t)coarse->frames * sizeof *sums);
    for (int32_t i = sn_packed_chunk_begin(packed, chunk); i < sn_packed_chunk_end(packed, chunk);
         i++) {
        sn_quad force = sn_quad_mul(sn_quad_load(r + 4 * (size_t)i),
                                    sn_quad_load(free_factors[coarse->free[i]]));
        sn_quad torque = sn_quad_cross(sn_quad_load_float(coarse->position + 4 * (size_t)i), force);
        for (int s = 0; s < SLOTS; s++) {
            sn_quad w = sn_quad_all((double)coarse->weight[STRIDE * (size_t)i + (size_t)s]);
            double *sum = sums + 8 * (size_t)coarse->frame[STRIDE * (size_t)i + (size_t)s];
            sn_quad_store(sum, sn_quad_fma(w, force, sn_quad_load(sum)));
            sn_quad_store(sum + 4, sn_quad_fma(w, torque, sn_quad_load(sum + 4)));
        }
    }
}

// z_i += sum of w (t + omega x x_i) over the rows of a chunk.
void SN_ISA_NAME(sn_kernel_coarse_prolong)(double *z, const sn_coarse *coarse, const double *motion,
                                           int32_t chunk) {
    const sn_packed *packed = coarse->packed;
    for (int32_t i = sn_packed_chunk_begin(packed, chunk); i < sn_packed_chunk_end(packed, chunk);
         i++) {
        // Blend the motions of the row's frames.
        sn_quad t = sn_quad_all(0);
        sn_quad omega = t;
        for (int s = 0; s < SLOTS; s++) {
            sn_quad w = sn_quad_all((double)coarse->weight[STRIDE * (size_t)i + (size_t)s]);
            const double *of = motion + 8 * (size_t)coarse->frame[STRIDE * (size_t)i + (size_t)s];
            t = sn_quad_fma(w, sn_quad_load(of), t);
            omega = sn_quad_fma(w, sn_quad_load(of + 4), omega);
        }

        // Displacement of the row, free components only.
        sn_quad u = sn_quad_add(
            t, sn_quad_cross(omega, sn_quad_load_float(coarse->position + 4 * (size_t)i)));
        u = sn_quad_mul(u, sn_quad_load(free_factors[coarse->free[i]]));
        sn_quad_store(z + 4 * (size_t)i, sn_quad_add(sn_quad_load(z + 4 * (size_t)i), u));
    }
}

// The products B_ij R_j of a row, six quads per block: (B_r, x_j x B_r) for its three rows r, where
// B is A below the diagonal and half of A on it.
static void multiply_row(double *products, const sn_coarse *coarse, int32_t i) {
    const sn_packed *packed = coarse->packed;
    const double *a = packed->values + 9 * (size_t)packed->below[i];
    double *out = products;

    // (B_r, x_j x B_r) for each row r of each block.
    for (int32_t k = packed->below[i]; k < packed->starts[i + 1]; k++, a += 9, out += 24) {
        sn_quad x = sn_quad_load(coarse->row_position + packed->columns[k]);
        sn_quad a0 = sn_quad_load3(a);
        sn_quad a1 = sn_quad_load3(a + 3);
        sn_quad a2 = sn_quad_load3(a + 6);
        sn_quad_store(out, a0);
        sn_quad_store(out + 4, sn_quad_cross(x, a0));
        sn_quad_store(out + 8, a1);
        sn_quad_store(out + 12, sn_quad_cross(x, a1));
        sn_quad_store(out + 16, a2);
        sn_quad_store(out + 20, sn_quad_cross(x, a2));
    }

    // Components that are not free have only their diagonal, which must not add stiffness to the
    // frames.
    out -= 24;

    for (int r = 0; r < 3; r++) {
        sn_quad half = sn_quad_all(coarse->free[i] >> r & 1 ? 0.5 : 0);
        sn_quad_store(out + 8 * r, sn_quad_mul(half, sn_quad_load(out + 8 * r)));
        sn_quad_store(out + 8 * r + 4, sn_quad_mul(half, sn_quad_load(out + 8 * r + 4)));
    }
}

// The block (B P)_ib of row i for one of its frames, as three rows of (translation, rotation): a
// weighted sum of products.
SN_INLINE void sum_products(sn_quad sums[3][2], const sn_coarse *coarse, const double *products,
                            int32_t list) {
    for (int r = 0; r < 3; r++) {
        sums[r][0] = sums[r][1] = sn_quad_all(0);
    }

    for (int32_t e = coarse->entry_starts[list]; e < coarse->entry_starts[list + 1]; e++) {
        sn_quad w = sn_quad_all((double)coarse->entry_weight[e]);
        const double *product = products + 24 * (size_t)coarse->entry_block[e];
        for (int r = 0; r < 3; r++) {
            sums[r][0] = sn_quad_fma(w, sn_quad_load(product + 8 * r), sums[r][0]);
            sums[r][1] = sn_quad_fma(w, sn_quad_load(product + 8 * r + 4), sums[r][1]);
        }
    }
}

// Adds w_ia R_i' (B P)_ib for all pairs of a row's frames. R_i' maps a row to itself and to x_i x
// it.
static void add_row(double *partial, int32_t first_pair, const double *products,
                    const sn_coarse *coarse, int32_t i) {
    const double *x = coarse->row_position + 4 * (size_t)i;
    for (int32_t list = coarse->row_starts[i]; list < coarse->row_starts[i + 1]; list++) {
        int32_t b = coarse->row_frames[list];
        sn_quad g[6][2];

        sum_products(g, coarse, products, list);

        // Append the moments x_i x g of the three force rows.
        for (int h = 0; h < 2; h++) {
            g[3][h] = sn_quad_sub(sn_quad_mul(sn_quad_all(x[1]), g[2][h]),
                                  sn_quad_mul(sn_quad_all(x[2]), g[1][h]));
            g[4][h] = sn_quad_sub(sn_quad_mul(sn_quad_all(x[2]), g[0][h]),
                                  sn_quad_mul(sn_quad_all(x[0]), g[2][h]));
            g[5][h] = sn_quad_sub(sn_quad_mul(sn_quad_all(x[0]), g[1][h]),
                                  sn_quad_mul(sn_quad_all(x[1]), g[0][h]));
        }

        // Add to the pairs (a, b) of all frames a of the row.
        for (int s = 0; s < SLOTS; s++) {
            int32_t a = coarse->frame[STRIDE * (size_t)i + (size_t)s];
            float weight = coarse->weight[STRIDE * (size_t)i + (size_t)s];
            if (weight == 0) {
                break;
            }

            double *out =
                partial + 48 * (size_t)(coarse->pair[a * coarse->frames + b] - first_pair);
            sn_quad w = sn_quad_all((double)weight);

            for (int r = 0; r < 6; r++) {
                sn_quad_store(out + 8 * r, sn_quad_fma(w, g[r][0], sn_quad_load(out + 8 * r)));
                sn_quad_store(out + 8 * r + 4,
                              sn_quad_fma(w, g[r][1], sn_quad_load(out + 8 * r + 4)));
            }
        }
    }
}

void SN_ISA_NAME(sn_kernel_coarse_assemble)(double *partial, int32_t first_pair, double *products,
                                            const sn_coarse *coarse, int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        if (!coarse->free[i]) {
            continue;
        }
        multiply_row(products, coarse, i);
        add_row(partial, first_pair, products, coarse, i);
    }
}
