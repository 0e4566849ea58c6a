// Anisotropic solids with Green's strain: psi = E' C E / 2, E = (F'F - I)/2 in Voigt form with
// engineering shear.
//
//   P = F T,  T = C E;      H_(ij)(kl) = d_ik T_jl + sum_ac F_ia C_(aj)(cl) F_kc
//
// Projection: the second term of H is semi-definite, and the first one is if T is. If H is not
// (tested by factoring it), the negative eigenvalues of T are set to 0.
//
// Inverted states: the energy of this law does not distinguish a mirrored state, so stretches below
// a threshold are driven back by the term that isotropic_simd.c has for laws that are defined
// everywhere.
//
// Cost: about 400 fused operations for H, no decomposition unless the state is nearly inverted or H
// is indefinite. Checked by: tests/material/test_anisotropic.c.
#include "material/elastic.h"
#include "material/kernels.h"
#include "math/lanes_eigen.h"

typedef struct group {
    sn_lanes3 F;
    sn_lanes_elastic C;
    sn_lanes strain[6], T[6];
} group;

static void find_stress(group *g) {
    sn_lanes_sym3 A = sn_lanes3_gram(&g->F);
    const sn_lanes strain[6] = {
        0.5 * (A.xx - 1.0), 0.5 * (A.yy - 1.0), 0.5 * (A.zz - 1.0), A.yz, A.xz, A.xy};

    for (int i = 0; i < 6; i++) {
        g->strain[i] = strain[i];
    }

    sn_elastic_apply(g->T, &g->C, strain);
}

static void store_stress(double *P, const group *g) {
    sn_lanes_sym3 T = {g->T[0], g->T[5], g->T[4], g->T[1], g->T[3], g->T[2]};
    sn_lanes3 result = sn_lanes3_mul_sym(&g->F, &T);
    sn_lanes3_store(P, &result);
}

// X_v,(kl) = sum_c C_v,(cl) F_kc for one row k of F; then H_(ij)(kl) = sum_a F_ia X_(aj),(kl) for
// every i <= k
SN_INLINE void store_tangent_row(double *H, const group *g, int k) {
    sn_lanes X[6][3];
    for (int v = 0; v < 6; v++) {
        for (int l = 0; l < 3; l++) {
            X[v][l] = g->C.c[sn_sym6(v, sn_voigt(0, l))] * g->F.m[k][0] +
                      g->C.c[sn_sym6(v, sn_voigt(1, l))] * g->F.m[k][1] +
                      g->C.c[sn_sym6(v, sn_voigt(2, l))] * g->F.m[k][2];
        }
    }

    for (int i = 0; i <= k; i++) {
        for (int j = 0; j < 3; j++) {
            for (int l = i == k ? j : 0; l < 3; l++) {
                sn_lanes sum = g->F.m[i][0] * X[sn_voigt(0, j)][l] +
                               g->F.m[i][1] * X[sn_voigt(1, j)][l] +
                               g->F.m[i][2] * X[sn_voigt(2, j)][l];
                if (i == k) {
                    sum += g->T[sn_voigt(j, l)];
                }

                sn_lanes_store(H + sn_sym9(3 * i + j, 3 * k + l) * SN_BLOCK, sum);
            }
        }
    }
}

static void store_tangent(double *H, const group *g) {
    store_tangent_row(H, g, 0);
    store_tangent_row(H, g, 1);
    store_tangent_row(H, g, 2);
}

// The tangents with the negative eigenvalues of T set to 0.
static void store_definite_tangents(double *H, const group groups[SN_GROUPS]) {
    sn_lanes_sym3 T[SN_GROUPS];
    sn_lanes_spectrum spectrum[SN_GROUPS];
    for (int g = 0; g < SN_GROUPS; g++) {
        const sn_lanes *t = groups[g].T;
        T[g] = (sn_lanes_sym3){t[0], t[5], t[4], t[1], t[3], t[2]};
    }

    sn_block_spectrum(spectrum, T);
    for (int g = 0; g < SN_GROUPS; g++) {
        sn_lanes_sym3 D = sn_lanes_semidefinite_deficit(&spectrum[g]);
        const sn_lanes deficit[6] = {D.xx, D.yy, D.zz, D.yz, D.xz, D.xy};
        group definite = groups[g];

        for (int i = 0; i < 6; i++) {
            definite.T[i] += deficit[i];
        }

        store_tangent(H + g * SN_LANES, &definite);
    }
}

void SN_ISA_NAME(sn_evaluate_anisotropic_green)(const sn_material *material, int want,
                                                const sn_material_block *in,
                                                const sn_material_result *out) {
    bool projected = (want & SN_MATERIAL_PROJECTED) != 0;
    bool volume = sn_any_parameter(in, SN_PARAMETER_VOLUME);
    int plain = projected ? (want & ~SN_MATERIAL_PROJECTED) | SN_MATERIAL_STIFFNESS : want;
    group groups[SN_GROUPS];

    // Elastic part.
    for (int g = 0; g < SN_GROUPS; g++) {
        int lane = g * SN_LANES;
        groups[g].F = sn_lanes3_load(in->F + lane);
        sn_elastic_load(&groups[g].C, false, in->parameters + lane);
        find_stress(&groups[g]);

        if (want & SN_MATERIAL_ENERGY) {
            sn_lanes_store(out->psi + lane, sn_elastic_energy(groups[g].strain, groups[g].T));
        }
        if (want & SN_MATERIAL_STRESS) {
            store_stress(out->P + lane, &groups[g]);
        }
        if (plain & SN_MATERIAL_STIFFNESS) {
            store_tangent(out->H + lane, &groups[g]);
        }
    }

    // Terms for volume and inversion.
    if (volume) {
        sn_add_volume_term(plain, in, out, false);
    }

    bool resisting = material->inversion && SN_ISA_NAME(sn_add_resistance)(plain, in, out);

    // Where the sum is indefinite, take the sum of the definite parts.
    sn_mask bad[SN_GROUPS];
    if (projected && sn_find_indefinite(bad, out->H)) {
        double definite[SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;
        sn_material_result part = {.H = definite};

        store_definite_tangents(definite, groups);
        if (volume) {
            sn_add_volume_term(SN_MATERIAL_PROJECTED, in, &part, true);
        }
        if (resisting) {
            SN_ISA_NAME(sn_add_resistance)(SN_MATERIAL_PROJECTED, in, &part);
        }

        sn_replace_indefinite(out->H, definite, bad);
    }

    sn_add_fibre(want, in, out);
}
