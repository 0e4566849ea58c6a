// The isotropic solid with Green's strain (St. Venant-Kirchhoff) without singular values.
//
//   E = (F'F - I)/2,   S = 2 mu E + lambda tr(E) I,   psi = mu |E|^2 + lambda/2 tr(E)^2,   P = F S
//   H_(ij)(kl) = d_ik S_jl + mu (F F')_ik d_jl + mu F_il F_kj + lambda F_ij F_kl
//
// Projection. In the principal axes H has the following eigenvalues (isotropic_simd.c), with t = tr
// E, J = det F and c the third axis of a pair (a, b):
//
//   twist      mu (s_a^2 - s_a s_b + s_b^2 - 1) + lambda t
//              = mu (|F|^2 - s_c^2 - J/s_c - 1) + lambda t
//   flip       mu (|F|^2 - s_c^2 + J/s_c - 1) + lambda t
//   stretches  3 mu s_a^2 - mu + lambda t on the diagonal, plus lambda s s'
//
// The twists are the first to become negative: under any pressure. The deficit of a negative twist
// is a function of s_c and acts on R [v_c], so the projection adds L M L' with
// M = sum deficit_c / 2 v_c v_c' and L, R as in corotational_simd.c. If S has no negative
// eigenvalue, no twist has, and nothing is decomposed. A block with negative flips or stretches,
// with a stretch below the threshold of the extended energy, or with a volume term is evaluated by
// isotropic_simd.c, with the same result.
//
// Cost: about 300 fused operations for H; under pressure also a polar and an eigenvalue
// decomposition. Checked by: tests/material/test_green.c, against isotropic_simd.c.
#include "material/kernels.h"
#include "material/stretch.h"
#include "math/lanes_polar.h"

typedef struct group {
    sn_lanes3 F, R;
    sn_lanes_sym3 E, S, M;
    sn_lanes mu, lambda, i1, J, pressure; // i1 = |F|^2, pressure = lambda tr E
} group;

SN_INLINE sn_mask find_definite(const sn_lanes_sym3 *A) {
    sn_lanes_sym3 adjugate = sn_lanes_sym3_adjugate(A);
    return (sn_mask)((A->xx >= 0.0) & (adjugate.zz >= 0.0) &
                     (sn_lanes_sym3_det(A, &adjugate) >= 0.0));
}

// Returns whether all stretches are above the threshold.
SN_INLINE bool find_strain(group *g) {
    sn_lanes_sym3 C = sn_lanes3_gram(&g->F);
    sn_lanes_sym3 above = C;
    sn_lanes3 cofactor = sn_lanes3_cofactor(&g->F);
    const double least = SN_GREEN_THRESHOLD * SN_GREEN_THRESHOLD;

    // F'F - threshold^2 I is definite if all stretches are above the threshold.
    above.xx -= least;
    above.yy -= least;
    above.zz -= least;
    g->i1 = C.xx + C.yy + C.zz;
    g->J = g->F.m[0][0] * cofactor.m[0][0] + g->F.m[0][1] * cofactor.m[0][1] +
           g->F.m[0][2] * cofactor.m[0][2];
    g->E = (sn_lanes_sym3){0.5 * (C.xx - 1.0), 0.5 * C.xy, 0.5 * C.xz,
                           0.5 * (C.yy - 1.0), 0.5 * C.yz, 0.5 * (C.zz - 1.0)};
    g->pressure = g->lambda * (g->E.xx + g->E.yy + g->E.zz);

    // S = 2 mu E + lambda tr(E) I
    sn_lanes two_mu = g->mu + g->mu;
    g->S = (sn_lanes_sym3){
        two_mu * g->E.xx + g->pressure, two_mu * g->E.xy, two_mu * g->E.xz,
        two_mu * g->E.yy + g->pressure, two_mu * g->E.yz, two_mu * g->E.zz + g->pressure};

    // Strictly above, so that J > 0 excludes two mirrored stretches as well as one.
    return sn_all(find_definite(&above) & (sn_mask)(above.xx > 0.0) & (sn_mask)(g->J > 0.0));
}

SN_INLINE sn_lanes energy_of(const group *g) {
    const sn_lanes_sym3 *E = &g->E;
    const sn_lanes_sym3 *S = &g->S;
    return 0.5 * (E->xx * S->xx + E->yy * S->yy + E->zz * S->zz) +
           (E->xy * S->xy + E->xz * S->xz + E->yz * S->yz);
}

// M of each group. False if something other than a twist is negative.
SN_INLINE bool find_deficits(group *groups, int count) {
    sn_lanes3 F[2 * SN_GROUPS], R[2 * SN_GROUPS];
    sn_lanes_sym3 stretch[2 * SN_GROUPS];
    sn_lanes_spectrum spectrum[2 * SN_GROUPS];
    sn_lanes zero = sn_lanes_all(0);
    bool fine = true;

    // Principal stretches.
    for (int g = 0; g < count; g++) {
        F[g] = groups[g].F;
    }

    sn_groups_polar(R, stretch, F, count);
    sn_groups_spectrum(spectrum, stretch, count);
    for (int g = 0; g < count; g++) {
        group *x = &groups[g];
        sn_lanes s[3], deficit[3];
        sn_lanes base = x->mu * (x->i1 - 1.0) + x->pressure;

        // Eigenvalues of H: twists give deficits, flips and stretches must not be negative.
        sn_lanes_eigenvalues(s, &spectrum[g]);
        for (int c = 0; c < 3; c++) {
            sn_lanes square = s[c] * s[c];
            sn_lanes pair = x->J / s[c];
            sn_lanes rest = base - x->mu * square;
            deficit[c] = 0.5 * sn_lanes_max(x->mu * pair - rest, zero);
            sn_mask bad = (sn_mask)(rest + x->mu * pair < 0.0) |
                          (sn_mask)(3.0 * x->mu * square - x->mu + x->pressure < 0.0);
            fine = fine && !sn_any(bad);
        }

        x->R = R[g];
        x->M = sn_lanes_matrix_function(&spectrum[g], deficit);
    }

    return fine;
}

SN_INLINE void store_stress(double *P, const group *g) {
    sn_lanes3 result = sn_lanes3_mul_sym(&g->F, &g->S);
    sn_lanes3_store(P, &result);
}

// Rows for one i and every k >= i.
SN_INLINE void store_tangent_row(double *H, const group *g, int i, bool deficits) {
    const sn_lanes *f = g->F.m[i];
    const sn_lanes *a = g->R.m[i];
    const sn_lanes_sym3 *M = &g->M;
    const sn_lanes_sym3 *S = &g->S;
    const sn_lanes own[3][3] = {
        {S->xx, S->xy, S->xz}, {S->xy, S->yy, S->yz}, {S->xz, S->yz, S->zz}};
    sn_lanes Y[3][3] = {{{0}}};

    if (deficits) {
        const sn_lanes m[3][3] = {
            {M->xx, M->xy, M->xz}, {M->xy, M->yy, M->yz}, {M->xz, M->yz, M->zz}};
        // [rho_i] M
        for (int j = 0; j < 3; j++) {
            int p = (j + 1) % 3;
            int q = (j + 2) % 3;
            for (int l = 0; l < 3; l++) {
                Y[j][l] = a[p] * m[q][l] - a[q] * m[p][l];
            }
        }
    }

    // The terms of H, and the deficit L M L'.
    for (int k = i; k < 3; k++) {
        const sn_lanes *h = g->F.m[k];
        const sn_lanes *b = g->R.m[k];
        sn_lanes gram = g->mu * (f[0] * h[0] + f[1] * h[1] + f[2] * h[2]);

        for (int j = 0; j < 3; j++) {
            sn_lanes x = g->lambda * f[j];
            sn_lanes y = g->mu * h[j];
            for (int l = i == k ? j : 0; l < 3; l++) {
                int p = (l + 1) % 3;
                int q = (l + 2) % 3;
                sn_lanes value = x * h[l] + y * f[l];
                if (deficits) {
                    value += Y[j][q] * b[p] - Y[j][p] * b[q];
                }
                if (j == l) {
                    value += gram;
                }
                if (i == k) {
                    value += own[j][l];
                }

                sn_lanes_store(H + sn_sym9(3 * i + j, 3 * k + l) * SN_BLOCK, value);
            }
        }
    }
}

static void store_tangent(double *H, const group *g) {
    for (int i = 0; i < 3; i++) {
        store_tangent_row(H, g, i, false);
    }
}

static void store_projected_tangent(double *H, const group *g) {
    for (int i = 0; i < 3; i++) {
        store_tangent_row(H, g, i, true);
    }
}

// Whether no sample of one block is under pressure.
SN_INLINE bool is_tense(const group *groups) {
    for (int g = 0; g < SN_GROUPS; g++) {
        if (!sn_all(find_definite(&groups[g].S) & (sn_mask)(groups[g].lambda >= 0.0))) {
            return false;
        }
    }
    return true;
}

// One block or two. False, with nothing valid written, if the block needs isotropic_simd.c.
SN_INLINE bool evaluate(int want, const sn_material_block *in, const sn_material_result *out,
                        int blocks) {
    group groups[2 * SN_GROUPS];
    int count = blocks * SN_GROUPS;
    for (int b = 0; b < blocks; b++) {
        if (sn_any_parameter(&in[b], SN_PARAMETER_VOLUME)) {
            return false;
        }
    }

    // Strain; nearly inverted states need the general kernel.
    for (int g = 0; g < count; g++) {
        const double *own =
            in[g / SN_GROUPS].parameters + SN_PARAMETER_LAW * SN_BLOCK + g % SN_GROUPS * SN_LANES;
        groups[g].F = sn_lanes3_load(in[g / SN_GROUPS].F + g % SN_GROUPS * SN_LANES);
        groups[g].mu = sn_parameter(own, 0);
        groups[g].lambda = sn_parameter(own, 1);

        if (!find_strain(&groups[g])) {
            return false;
        }
    }

    bool deficits[2] = {false, false};
    for (int b = 0; b < blocks; b++) {
        deficits[b] = (want & SN_MATERIAL_PROJECTED) && !is_tense(groups + b * SN_GROUPS);
    }

    // Deficits of the twists, where a block is under pressure.
    if (deficits[0] || deficits[1]) {
        // A negative lambda lowers the eigenvalues of the stretches.
        for (int g = 0; g < count; g++) {
            if (sn_any((sn_mask)(groups[g].lambda < 0.0))) {
                return false;
            }
        }

        if (!find_deficits(groups, count)) {
            return false;
        }
    }

    // Store what is requested.
    for (int g = 0; g < count; g++) {
        const sn_material_result *to = &out[g / SN_GROUPS];
        int lane = g % SN_GROUPS * SN_LANES;
        if (want & SN_MATERIAL_ENERGY) {
            sn_lanes_store(to->psi + lane, energy_of(&groups[g]));
        }
        if (want & SN_MATERIAL_STRESS) {
            store_stress(to->P + lane, &groups[g]);
        }
        if (!(want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED))) {
            continue;
        }

        if (deficits[g / SN_GROUPS]) {
            store_projected_tangent(to->H + lane, &groups[g]);
        } else {
            store_tangent(to->H + lane, &groups[g]);
        }
    }

    for (int b = 0; b < blocks; b++) {
        sn_add_fibre(want, &in[b], &out[b]);
    }

    return true;
}

void SN_ISA_NAME(sn_evaluate_green)(const sn_material *material, int want,
                                    const sn_material_block *in, const sn_material_result *out) {
    if (!evaluate(want, in, out, 1)) {
        SN_ISA_NAME(sn_evaluate_isotropic)(material, want, in, out);
    }
}

void SN_ISA_NAME(sn_evaluate_green_pair)(const sn_material *material, int want,
                                         const sn_material_block *in,
                                         const sn_material_result *out) {
    if (evaluate(want, in, out, 2)) {
        return;
    }
    for (int b = 0; b < 2; b++) {
        SN_ISA_NAME(sn_evaluate_green)(material, want, &in[b], &out[b]);
    }
}
