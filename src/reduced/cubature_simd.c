// Kernels of the cubature for one block of eight samples; see cubature.h. Built once for each
// instruction set.
#include "reduced/cubature.h"

#include "math/simd.h"

enum { VALUES = 9 * SN_BLOCK };

SN_INLINE double sum_lanes(sn_lanes a) {
    double sum = 0;
    for (int l = 0; l < SN_LANES; l++) {
        sum += a[l];
    }
    return sum;
}

// A : B over all samples of the block.
SN_INLINE double contract(const double *A, const double *B) {
    sn_lanes sum = sn_lanes_all(0);
    for (int i = 0; i < VALUES; i += SN_LANES) {
        sum = sn_lanes_fma(sn_lanes_load(A + i), sn_lanes_load(B + i), sum);
    }
    return sum_lanes(sum);
}

void SN_ISA_NAME(sn_reduced_compute_F)(double *F, const sn_reduced_block *block, const double *y,
                                       int32_t size) {
    for (int i = 0; i < VALUES; i += SN_LANES) {
        sn_lanes sum = sn_lanes_load(block->F0 + i);
        for (int32_t k = 0; k < size; k++) {
            const double *G = block->G + (size_t)k * VALUES + i;
            sum = sn_lanes_fma(sn_lanes_all(y[k]), sn_lanes_load(G), sum);
        }
        sn_lanes_store(F + i, sum);
    }
}

void SN_ISA_NAME(sn_reduced_add_force)(double *force, const sn_reduced_block *block,
                                       const double *P, int32_t size) {
    double weighted[VALUES] SN_ALIGNED;
    for (int i = 0; i < VALUES; i += SN_LANES) {
        sn_lanes V = sn_lanes_load(block->volume + i % SN_BLOCK);
        sn_lanes_store(weighted + i, V * sn_lanes_load(P + i));
    }

    for (int32_t k = 0; k < size; k++) {
        force[k] -= contract(weighted, block->G + (size_t)k * VALUES);
    }
}

// V H G_k.
SN_INLINE void apply_tangent(double *out, const double *volume, const double *H, const double *G) {
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes V = sn_lanes_load(volume + lane);
        sn_lanes g[9], sum[9];
        for (int a = 0; a < 9; a++) {
            g[a] = sn_lanes_load(G + a * SN_BLOCK + lane);
            sum[a] = sn_lanes_all(0);
        }

        int index = 0;
        for (int a = 0; a < 9; a++) {
            for (int b = a; b < 9; b++, index++) {
                sn_lanes h = sn_lanes_load(H + index * SN_BLOCK + lane);
                sum[a] = sn_lanes_fma(h, g[b], sum[a]);
                if (b > a) {
                    sum[b] = sn_lanes_fma(h, g[a], sum[b]);
                }
            }
        }

        for (int a = 0; a < 9; a++) {
            sn_lanes_store(out + a * SN_BLOCK + lane, V * sum[a]);
        }
    }
}

// Adds A : G_l and B : G_l, lane by lane, for four fields.
SN_INLINE void add_four(double *a, double *b, const double *A, const double *B, const double *G) {
    sn_lanes first[4], second[4];
    for (int c = 0; c < 4; c++) {
        first[c] = sn_lanes_load(a + c * SN_BLOCK);
        second[c] = sn_lanes_load(b + c * SN_BLOCK);
    }

    SN_KEEP_LOOP
    for (int i = 0; i < VALUES; i += SN_LANES) {
        sn_lanes x = sn_lanes_load(A + i);
        sn_lanes y = sn_lanes_load(B + i);
        for (int c = 0; c < 4; c++) {
            sn_lanes g = sn_lanes_load(G + c * VALUES + i);
            first[c] = sn_lanes_fma(x, g, first[c]);
            second[c] = sn_lanes_fma(y, g, second[c]);
        }
    }

    for (int c = 0; c < 4; c++) {
        sn_lanes_store(a + c * SN_BLOCK, first[c]);
        sn_lanes_store(b + c * SN_BLOCK, second[c]);
    }
}

SN_INLINE void add_one(double *a, const double *A, const double *G) {
    sn_lanes sum = sn_lanes_load(a);
    for (int i = 0; i < VALUES; i += SN_LANES) {
        sum = sn_lanes_fma(sn_lanes_load(A + i), sn_lanes_load(G + i), sum);
    }
    sn_lanes_store(a, sum);
}

// Two rows and four columns at a time share their loads.
void SN_ISA_NAME(sn_reduced_add_tangent)(double *tangent, const sn_reduced_block *block,
                                         const double *H, int32_t size) {
    double products[2][VALUES] SN_ALIGNED;
    size_t stride = (size_t)size * SN_BLOCK;
    for (int32_t k = 0; k < size; k += 2) {
        double *rows[2] = {tangent + (size_t)k * stride, tangent + (size_t)(k + 1) * stride};
        int32_t count = k + 1 < size ? 2 : 1;
        for (int32_t i = 0; i < count; i++) {
            apply_tangent(products[i], block->volume, H, block->G + (size_t)(k + i) * VALUES);
        }

        int32_t l = 0;
        if (count == 2) {
            for (; l + 4 <= k + 1; l += 4) {
                size_t at = (size_t)l * SN_BLOCK;
                add_four(rows[0] + at, rows[1] + at, products[0], products[1],
                         block->G + (size_t)l * VALUES);
            }
        }
        for (int32_t i = 0; i < count; i++) {
            for (int32_t rest = l; rest <= k + i; rest++) {
                add_one(rows[i] + (size_t)rest * SN_BLOCK, products[i],
                        block->G + (size_t)rest * VALUES);
            }
        }
    }
}
