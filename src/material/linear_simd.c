// Stress linear in the infinitesimal strain, isotropic or not:  eps = (F + F')/2 - I,  P = C eps,  H = C. Constant tangent,
// not invariant under rotation; never extended for inversion.
//
// Checked by: tests/material/test_isotropic.c, tests/material/test_anisotropic.c.
#include "material/elastic.h"
#include "material/kernels.h"

void SN_ISA_NAME(sn_evaluate_linear)(const sn_material *material, int want, const sn_material_block *in,
                                     const sn_material_result *out) {
    bool isotropic = material->law == SINEW_MATERIAL_HOOKE,
         tangent = (want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED)) != 0;
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes3 F = sn_lanes3_load(in->F + lane);
        sn_lanes_elastic C;
        sn_elastic_load(&C, isotropic, in->parameters + lane);
        const sn_lanes strain[6] = {F.m[0][0] - 1.0,       F.m[1][1] - 1.0,       F.m[2][2] - 1.0,
                                    F.m[1][2] + F.m[2][1], F.m[2][0] + F.m[0][2], F.m[0][1] + F.m[1][0]};
        sn_lanes stress[6];
        sn_elastic_apply(stress, &C, strain);
        if (want & SN_MATERIAL_ENERGY) sn_lanes_store(out->psi + lane, sn_elastic_energy(strain, stress));
        for (int a = 0; a < 9; a++) {
            int v = sn_voigt(a / 3, a % 3);
            if (want & SN_MATERIAL_STRESS) sn_lanes_store(out->P + a * SN_BLOCK + lane, stress[v]);
            for (int b = a; b < 9 && tangent; b++) {
                sn_lanes_store(out->H + sn_sym9(a, b) * SN_BLOCK + lane, C.c[sn_sym6(v, sn_voigt(b / 3, b % 3))]);
            }
        }
    }
    if (sn_has_volume_term(in)) {
        for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) sn_add_volume_term(want, in, out, lane);
        if (want & SN_MATERIAL_PROJECTED) sn_clamp_tangents(out->H);
    }
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) sn_add_fibre(want, in, out, lane);
}
