// Kernels of warped stiffness; see warp_block.h. Built once for each instruction set.
#include "body/warp_block.h"

#include "math/lanes_mat3.h"

void SN_ISA_NAME(sn_warp_enter)(double *S, double *R, const sn_mat3 *rotation,
                                const int32_t *vertex, const double *F) {
    for (int lane = 0; lane < SN_BLOCK; lane++) {
        const double *from = &rotation[vertex[lane]].m[0][0];
        for (int i = 0; i < 9; i++) {
            R[i * SN_BLOCK + lane] = from[i];
        }
    }

    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes3 r = sn_lanes3_load(R + lane);
        sn_lanes3 f = sn_lanes3_load(F + lane);
        sn_lanes3 s = sn_lanes3_mul_transposed(&r, &f);
        sn_lanes3_store(S + lane, &s);
    }
}

void SN_ISA_NAME(sn_warp_leave)(double *P, const double *R, const double *stress, double share) {
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes3 r = sn_lanes3_load(R + lane);
        sn_lanes3 s = sn_lanes3_load(stress + lane);
        sn_lanes3 p = sn_lanes3_mul(&r, &s);
        for (int i = 0; i < 9; i++) {
            double *sum = P + i * SN_BLOCK + lane;
            sn_lanes_store(
                sum, sn_lanes_fma(sn_lanes_all(share), p.m[i / 3][i % 3], sn_lanes_load(sum)));
        }
    }
}
