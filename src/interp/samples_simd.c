// The three kernels of a block of samples: F from controls, forces and stiffness back to them. Built once for each instruction
// set.
//
// Cost per sample and pair of controls: 27 fused multiply-adds, plus 81 per control; the scatter adds nine numbers per pair.
#include "interp/samples.h"

// Column k of the control vectors that the lanes from `lane` on refer to.
SN_INLINE sn_lanes gather(const double *a, const int32_t *control, int k) {
    sn_lanes x = {0};
    for (int l = 0; l < SN_LANES; l++) x[l] = a[3 * (size_t)control[l] + (size_t)k];
    return x;
}

void SN_ISA_NAME(sn_samples_compute_F)(double *F, const sn_samples *samples, int32_t block, const double *a) {
    int32_t width = samples->width;
    const int32_t *control = samples->control + (size_t)block * (size_t)width * SN_BLOCK;
    const double *gradient = samples->gradient + (size_t)block * (size_t)width * 3 * SN_BLOCK;
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes sum[9] = {{0}};
        if (samples->plane) sum[8] = sn_lanes_all(1);
        for (int32_t c = 0; c < width; c++) {
            const double *g = gradient + 3 * c * SN_BLOCK + lane;
            sn_lanes gx = sn_lanes_load(g), gy = sn_lanes_load(g + SN_BLOCK), gz = sn_lanes_load(g + 2 * SN_BLOCK);
            for (int k = 0; k < 3; k++) {
                sn_lanes x = gather(a, control + c * SN_BLOCK + lane, k);
                sum[3 * k + 0] = sn_lanes_fma(x, gx, sum[3 * k + 0]);
                sum[3 * k + 1] = sn_lanes_fma(x, gy, sum[3 * k + 1]);
                sum[3 * k + 2] = sn_lanes_fma(x, gz, sum[3 * k + 2]);
            }
        }
        for (int i = 0; i < 9; i++) sn_lanes_store(F + i * SN_BLOCK + lane, sum[i]);
    }
}

void SN_ISA_NAME(sn_samples_add_force)(double *f, const sn_samples *samples, int32_t block, const double *P) {
    int32_t width = samples->width;
    const int32_t *control = samples->control + (size_t)block * (size_t)width * SN_BLOCK;
    const double *gradient = samples->gradient + (size_t)block * (size_t)width * 3 * SN_BLOCK;
    const double *volume = samples->volume + (size_t)block * SN_BLOCK;
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes scaled[9], V = sn_lanes_load(volume + lane);
        for (int i = 0; i < 9; i++) scaled[i] = V * sn_lanes_load(P + i * SN_BLOCK + lane);
        for (int32_t c = 0; c < width; c++) {
            const double *g = gradient + 3 * c * SN_BLOCK + lane;
            sn_lanes gx = sn_lanes_load(g), gy = sn_lanes_load(g + SN_BLOCK), gz = sn_lanes_load(g + 2 * SN_BLOCK);
            const int32_t *index = control + c * SN_BLOCK + lane;
            for (int k = 0; k < 3; k++) {
                sn_lanes force = scaled[3 * k] * gx;
                force = sn_lanes_fma(scaled[3 * k + 1], gy, force);
                force = sn_lanes_fma(scaled[3 * k + 2], gz, force);
                for (int l = 0; l < SN_LANES; l++) f[3 * (size_t)index[l] + (size_t)k] -= force[l];
            }
        }
    }
}

// T[3 i + j][k] = V sum_l H[(i,j),(k,l)] g[l] for the lanes from `lane` on.
SN_INLINE void contract_right(sn_lanes T[9][3], const double *H, const double *g, sn_lanes weight, int lane) {
    sn_lanes wx = weight * sn_lanes_load(g + lane);
    sn_lanes wy = weight * sn_lanes_load(g + SN_BLOCK + lane);
    sn_lanes wz = weight * sn_lanes_load(g + 2 * SN_BLOCK + lane);
    for (int r = 0; r < 9; r++) {
        for (int k = 0; k < 3; k++) {
            sn_lanes t = sn_lanes_load(H + sn_sym9(r, 3 * k) * SN_BLOCK + lane) * wx;
            t = sn_lanes_fma(sn_lanes_load(H + sn_sym9(r, 3 * k + 1) * SN_BLOCK + lane), wy, t);
            T[r][k] = sn_lanes_fma(sn_lanes_load(H + sn_sym9(r, 3 * k + 2) * SN_BLOCK + lane), wz, t);
        }
    }
}

// K[i][k] = sum_j g[j] T[3 i + j][k]
SN_INLINE void contract_left(sn_lanes K[9], sn_lanes T[9][3], const double *g, int lane) {
    sn_lanes gx = sn_lanes_load(g + lane), gy = sn_lanes_load(g + SN_BLOCK + lane),
             gz = sn_lanes_load(g + 2 * SN_BLOCK + lane);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            K[3 * i + k] = sn_lanes_fma(gx, T[3 * i][k], sn_lanes_fma(gy, T[3 * i + 1][k], gz * T[3 * i + 2][k]));
        }
    }
}

SN_INLINE void scatter(double *A, const int32_t *slots, const sn_lanes K[9]) {
    for (int l = 0; l < SN_LANES; l++) {
        double *block = A + 9 * (size_t)slots[l];
        for (int e = 0; e < 9; e++) block[e] += K[e][l];
    }
}

void SN_ISA_NAME(sn_samples_add_stiffness)(double *A, const sn_samples *samples, int32_t block, const double *H) {
    int32_t width = samples->width;
    const double *gradient = samples->gradient + (size_t)block * (size_t)width * 3 * SN_BLOCK;
    const double *volume = samples->volume + (size_t)block * SN_BLOCK;
    const int32_t *slots = samples->slots + (size_t)block * (size_t)sn_pair_count(width) * SN_BLOCK;
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes weight = sn_lanes_load(volume + lane);
        for (int32_t d = 0; d < width; d++) {
            sn_lanes T[9][3], K[9];
            contract_right(T, H, gradient + 3 * d * SN_BLOCK, weight, lane);
            for (int32_t c = d; c < width; c++) {
                contract_left(K, T, gradient + 3 * c * SN_BLOCK, lane);
                scatter(A, slots + (sn_pair_count(c) + d) * SN_BLOCK + lane, K);
            }
        }
    }
}
