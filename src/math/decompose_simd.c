// Decompositions of blocks of 3x3 matrices; see decompose.h.
#include "math/decompose.h"

#include "math/lanes_polar.h"

static void load(sn_lanes3 F[SN_GROUPS], const double *block) {
    for (int g = 0; g < SN_GROUPS; g++) {
        F[g] = sn_lanes3_load(block + g * SN_LANES);
    }
}

void SN_ISA_NAME(sn_decompose_polar)(double *R, double *S, const double *F) {
    sn_lanes3 f[SN_GROUPS], r[SN_GROUPS];
    sn_lanes_sym3 s[SN_GROUPS];

    load(f, F);
    sn_block_polar(r, s, f);
    for (int g = 0; g < SN_GROUPS; g++) {
        sn_lanes3_store(R + g * SN_LANES, &r[g]);
        if (!S) {
            continue;
        }

        const sn_lanes3 full = {{{s[g].xx, s[g].xy, s[g].xz},
                                 {s[g].xy, s[g].yy, s[g].yz},
                                 {s[g].xz, s[g].yz, s[g].zz}}};
        sn_lanes3_store(S + g * SN_LANES, &full);
    }
}

void SN_ISA_NAME(sn_decompose_svd)(double *U, double *sigma, double *V, const double *F) {
    sn_lanes3 f[SN_GROUPS], u[SN_GROUPS], v[SN_GROUPS];
    sn_lanes s[SN_GROUPS][3];

    load(f, F);
    sn_block_svd(u, s, v, f);
    for (int g = 0; g < SN_GROUPS; g++) {
        sn_lanes3_store(U + g * SN_LANES, &u[g]);
        sn_lanes3_store(V + g * SN_LANES, &v[g]);
        for (int i = 0; i < 3; i++) {
            sn_lanes_store(sigma + i * SN_BLOCK + g * SN_LANES, s[g][i]);
        }
    }
}
