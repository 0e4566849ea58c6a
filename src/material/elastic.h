// The elasticity matrix C in lanes, shared by the kernels of laws that are linear in a strain. For
// *_simd.c files.
#ifndef SN_MATERIAL_ELASTIC_H
#define SN_MATERIAL_ELASTIC_H

#include "material/anisotropic.h"
#include "material/stretch.h"

// The upper triangle of a symmetric 6x6 matrix in Voigt order; see sn_sym6.
typedef struct sn_lanes_elastic {
    sn_lanes c[SN_ELASTIC_COUNT];
} sn_lanes_elastic;

// From the parameters of a group: 21 constants of an anisotropic law, or mu and lambda.
SN_INLINE void sn_elastic_load(sn_lanes_elastic *C, bool isotropic, const double *parameters) {
    const double *own = parameters + SN_PARAMETER_LAW * SN_BLOCK;
    if (!isotropic) {
        for (int i = 0; i < SN_ELASTIC_COUNT; i++) {
            C->c[i] = sn_parameter(own, i);
        }
        return;
    }

    sn_lanes mu = sn_parameter(own, 0);
    sn_lanes lambda = sn_parameter(own, 1);
    for (int a = 0; a < 6; a++) {
        for (int b = a; b < 6; b++) {
            sn_lanes normal = b < 3 ? lambda : sn_lanes_all(0);
            C->c[sn_sym6(a, b)] = a != b ? normal : a < 3 ? lambda + mu + mu : mu;
        }
    }
}

// y = C x
SN_INLINE void sn_elastic_apply(sn_lanes y[6], const sn_lanes_elastic *C, const sn_lanes x[6]) {
    for (int a = 0; a < 6; a++) {
        y[a] = C->c[sn_sym6(a, 0)] * x[0];
        for (int b = 1; b < 6; b++) {
            y[a] += C->c[sn_sym6(a, b)] * x[b];
        }
    }
}

// x' y / 2
SN_INLINE sn_lanes sn_elastic_energy(const sn_lanes strain[6], const sn_lanes stress[6]) {
    return 0.5 * (strain[0] * stress[0] + strain[1] * stress[1] + strain[2] * stress[2] +
                  strain[3] * stress[3] + strain[4] * stress[4] + strain[5] * stress[5]);
}

#endif
