// The isotropic corotational law without singular values: the hottest kernel of the library.
//
//   psi = mu |S - I|^2 + lambda/2 tr(S - I)^2,     F = R S
//   P   = 2 mu F + c R,                            c = lambda (tr S - 3) - 2 mu
//   H   = 2 mu I + lambda r r' + L M L',           M = c G^-1,  G = tr(S) I - S
//
// r is R as a vector, and L maps a rotation vector w to R [w]: the last term is c dR, with the exact differential of the polar
// rotation dR = R [G^-1 L' dF]. L has 2 on the diagonal of L'L and is orthogonal to r, so on its range H has the eigenvalues
// 2 mu + 2 c/g_k, g_k those of G; elsewhere H is positive. Projecting H therefore means raising those of M to at least -mu.
// The energy is finite for every F and pushes inverted elements back, so nothing is extended.
//
// Cost: a polar decomposition; with projection an eigenvalue decomposition of S; about 200 fused operations for H.
// Checked by: tests/material/test_isotropic.c, against isotropic_simd.c among others.
#include "material/kernels.h"
#include "material/stretch.h"
#include "math/lanes_polar.h"

// G is singular where sigma2 + sigma3 = 0, and R not unique; this keeps its inverse finite.
static const double ridge = 1e-9;

typedef struct group {
    sn_lanes mu, lambda, trace, c;
    sn_lanes3 R;
    sn_lanes_sym3 S, M;
} group;

static sn_lanes energy_of(const group *g) {
    sn_lanes x = g->S.xx - 1.0, y = g->S.yy - 1.0, z = g->S.zz - 1.0, t = x + y + z;
    sn_lanes off = g->S.xy * g->S.xy + g->S.xz * g->S.xz + g->S.yz * g->S.yz;
    return g->mu * (x * x + y * y + z * z + off + off) + 0.5 * g->lambda * t * t;
}

static void find_rotation_term(group *g) {
    sn_lanes_sym3 G = sn_lanes_pair_sums(&g->S), A = sn_lanes_sym3_adjugate(&G);
    sn_lanes det = sn_lanes_sym3_det(&G, &A), cube = g->trace * g->trace * g->trace;
    sn_lanes s = g->c / sn_lanes_max(det, ridge * cube);
    g->M = (sn_lanes_sym3){s * A.xx, s * A.xy, s * A.xz, s * A.yy, s * A.yz, s * A.zz};
}

static void find_projected_rotation_term(group groups[SN_GROUPS]) {
    sn_lanes_sym3 S[SN_GROUPS];
    sn_lanes_eigen eigen[SN_GROUPS];
    for (int g = 0; g < SN_GROUPS; g++) S[g] = groups[g].S;
    sn_block_eigen(eigen, S);
    for (int g = 0; g < SN_GROUPS; g++) {
        sn_lanes s[3], m[3], least = ridge * groups[g].trace;
        sn_lanes_eigen_values(s, &eigen[g]);
        for (int i = 0; i < 3; i++)
            m[i] = sn_lanes_max(groups[g].c / sn_lanes_max(groups[g].trace - s[i], least), -groups[g].mu);
        groups[g].M = sn_lanes_eigen_compose(&eigen[g], m);
    }
}

// The rows (i, .) of L are [rho_i], rho_i row i of R; so the block (i, k) of L M L' is [rho_i] M [rho_k]'.
SN_INLINE void store_tangent_block(double *H, const group *g, int i, int k) {
    const sn_lanes *a = g->R.m[i], *b = g->R.m[k];
    const sn_lanes_sym3 *M = &g->M;
    const sn_lanes Y[3][3] = {
        {a[1] * M->xz - a[2] * M->xy, a[1] * M->yz - a[2] * M->yy, a[1] * M->zz - a[2] * M->yz},
        {a[2] * M->xx - a[0] * M->xz, a[2] * M->xy - a[0] * M->yz, a[2] * M->xz - a[0] * M->zz},
        {a[0] * M->xy - a[1] * M->xx, a[0] * M->yy - a[1] * M->xy, a[0] * M->yz - a[1] * M->xz},
    };
    for (int j = 0; j < 3; j++) {
        sn_lanes x = g->lambda * a[j];
        const sn_lanes row[3] = {x * b[0] + (Y[j][2] * b[1] - Y[j][1] * b[2]), x * b[1] + (Y[j][0] * b[2] - Y[j][2] * b[0]),
                                 x * b[2] + (Y[j][1] * b[0] - Y[j][0] * b[1])};
        for (int l = i == k ? j : 0; l < 3; l++) {
            sn_lanes value = i == k && j == l ? row[l] + (g->mu + g->mu) : row[l];
            sn_lanes_store(H + sn_sym9(3 * i + j, 3 * k + l) * SN_BLOCK, value);
        }
    }
}

static void store_tangent(double *H, const group *g) {
    for (int i = 0; i < 3; i++) {
        for (int k = i; k < 3; k++) store_tangent_block(H, g, i, k);
    }
}

static void store_stress(double *P, const group *g, const sn_lanes3 *F) {
    sn_lanes3 result;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) result.m[i][j] = (g->mu + g->mu) * F->m[i][j] + g->c * g->R.m[i][j];
    }
    sn_lanes3_store(P, &result);
}

void SN_ISA_NAME(sn_evaluate_corotational)(const sn_material *material, int want, const sn_material_block *in,
                                           const sn_material_result *out) {
    if (sn_has_volume_term(in)) {
        // The volume term couples the stretches: the general form serves.
        SN_ISA_NAME(sn_evaluate_isotropic)(material, want, in, out);
        return;
    }
    const double *own = in->parameters + SN_PARAMETER_LAW * SN_BLOCK;
    sn_lanes3 F[SN_GROUPS], R[SN_GROUPS];
    sn_lanes_sym3 S[SN_GROUPS];
    group groups[SN_GROUPS];
    for (int g = 0; g < SN_GROUPS; g++) F[g] = sn_lanes3_load(in->F + g * SN_LANES);
    sn_block_polar(R, S, F);
    for (int g = 0; g < SN_GROUPS; g++) {
        sn_lanes mu = sn_parameter(own + g * SN_LANES, 0), lambda = sn_parameter(own + g * SN_LANES, 1);
        sn_lanes trace = S[g].xx + S[g].yy + S[g].zz;
        groups[g] = (group){.mu = mu, .lambda = lambda, .trace = trace, .R = R[g], .S = S[g]};
        groups[g].c = lambda * (trace - 3.0) - (mu + mu);
    }
    if (want & SN_MATERIAL_STIFFNESS) {
        for (int g = 0; g < SN_GROUPS; g++) find_rotation_term(&groups[g]);
    }
    if (want & SN_MATERIAL_PROJECTED) find_projected_rotation_term(groups);
    for (int g = 0; g < SN_GROUPS; g++) {
        int lane = g * SN_LANES;
        if (want & SN_MATERIAL_ENERGY) sn_lanes_store(out->psi + lane, energy_of(&groups[g]));
        if (want & SN_MATERIAL_STRESS) store_stress(out->P + lane, &groups[g], &F[g]);
        if (want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED)) store_tangent(out->H + lane, &groups[g]);
        sn_add_fibre(want, in, out, lane);
    }
}
