// Stress linear in the infinitesimal strain, isotropic or not:
//
//   eps = (F + F')/2 - I,  P = C eps,  H = C
//
// The tangent is constant. The law is not invariant under rotation and is never extended for
// inversion.
//
// Checked by: tests/material/test_isotropic.c, tests/material/test_anisotropic.c.
#include "material/elastic.h"
#include "material/kernels.h"

// H_(ij)(kl) = C_(ij)(kl) for one i and every k >= i
SN_INLINE void store_tangent_row(double *H, const sn_lanes_elastic *C, int i) {
    for (int j = 0; j < 3; j++) {
        for (int k = i; k < 3; k++) {
            for (int l = i == k ? j : 0; l < 3; l++) {
                sn_lanes_store(H + sn_sym9(3 * i + j, 3 * k + l) * SN_BLOCK,
                               C->c[sn_sym6(sn_voigt(i, j), sn_voigt(k, l))]);
            }
        }
    }
}

static void store_tangent(double *H, const sn_lanes_elastic *C) {
    store_tangent_row(H, C, 0);
    store_tangent_row(H, C, 1);
    store_tangent_row(H, C, 2);
}

void SN_ISA_NAME(sn_evaluate_linear)(const sn_material *material, int want,
                                     const sn_material_block *in, const sn_material_result *out) {
    bool isotropic = material->law == SINEW_MATERIAL_HOOKE;
    bool volume = sn_any_parameter(in, SN_PARAMETER_VOLUME);
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes3 F = sn_lanes3_load(in->F + lane);
        sn_lanes_elastic C;

        // Strain and stress in Voigt form.
        sn_elastic_load(&C, isotropic, in->parameters + lane);
        const sn_lanes strain[6] = {F.m[0][0] - 1.0,       F.m[1][1] - 1.0,
                                    F.m[2][2] - 1.0,       F.m[1][2] + F.m[2][1],
                                    F.m[2][0] + F.m[0][2], F.m[0][1] + F.m[1][0]};
        sn_lanes stress[6];

        sn_elastic_apply(stress, &C, strain);
        if (want & SN_MATERIAL_ENERGY) {
            sn_lanes_store(out->psi + lane, sn_elastic_energy(strain, stress));
        }

        if (want & SN_MATERIAL_STRESS) {
            for (int a = 0; a < 9; a++) {
                sn_lanes_store(out->P + a * SN_BLOCK + lane, stress[sn_voigt(a / 3, a % 3)]);
            }
        }

        if (want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED)) {
            store_tangent(out->H + lane, &C);
        }
    }

    // The volume term can make the tangent indefinite; project the sum then.
    if (volume) {
        sn_mask bad[SN_GROUPS];
        sn_add_volume_term(want, in, out, false);
        if ((want & SN_MATERIAL_PROJECTED) && sn_find_indefinite(bad, out->H)) {
            double definite[SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;
            for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
                sn_lanes_elastic C;
                sn_elastic_load(&C, isotropic, in->parameters + lane);
                store_tangent(definite + lane, &C);
            }

            sn_add_volume_term(SN_MATERIAL_PROJECTED, in, &(sn_material_result){.H = definite},
                               true);
            sn_replace_indefinite(out->H, definite, bad);
        }
    }

    sn_add_fibre(want, in, out);
}
