// Kernels of warped stiffness; see warp_block.h. Built once for each instruction set.
#include "body/warp_block.h"

#include "math/lanes_mat3.h"
#include "math/quad.h"

// The rotations of some lanes' vertices.
SN_INLINE sn_lanes3 gather(const sn_mat3 *rotation, const int32_t *vertex) {
    sn_lanes3 R;
    for (int i = 0; i < 3; i++) {
        sn_quad rows[SN_LANES];
        for (int l = 0; l < SN_LANES; l++) {
            rows[l] = sn_quad_load3(rotation[vertex[l]].m[i]);
        }
        sn_lanes_from_quads(R.m[i], rows);
    }
    return R;
}

void SN_ISA_NAME(sn_warp_enter)(double *S, double *R, const sn_mat3 *rotation,
                                const int32_t *vertex, const double *F) {
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes3 r = gather(rotation, vertex + lane);
        sn_lanes3 f = sn_lanes3_load(F + lane);
        sn_lanes3 s = sn_lanes3_mul_transposed(&r, &f);
        sn_lanes3_store(S + lane, &s);
        sn_lanes3_store(R + lane, &r);
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
