// The isotropic corotational law without singular values: the hottest kernel of the library.
//
//   psi = mu |S - I|^2 + lambda/2 tr(S - I)^2,     F = R S
//   P   = 2 mu F + c R,                            c = lambda (tr S - 3) - 2 mu
//   H   = 2 mu I + lambda r r' + L M L',           M = c G^-1,  G = tr(S) I - S
//
// r is R as a vector, and L maps a rotation vector w to R [w]: the last term is c dR, with the
// exact differential of the polar rotation dR = R [G^-1 L' dF]. L'L is 2 I and L is orthogonal to
// r, so on its range H has the eigenvalues 2 mu + 2 c/g_k with g_k those of G; elsewhere H is
// positive. Projecting H therefore means raising the eigenvalues of M to at least -mu. The energy
// is finite for every F and pushes inverted elements back, so it needs no extension.
//
// Cost: a polar decomposition; with projection an eigenvalue decomposition of S; about 200 fused
// operations for H. Checked by: tests/material/test_isotropic.c, against isotropic_simd.c among
// others.
#include "material/kernels.h"
#include "material/stretch.h"
#include "math/lanes_polar.h"

// G is singular where sigma2 + sigma3 = 0 and R is not unique. Lower bounds of its eigenvalues
// relative to tr S: one keeps the inverse finite; the larger one, for projected tangents, keeps the
// condition of the linear systems moderate.
static const double ridge = 1e-9, blunt_ridge = 1e-3;

typedef struct group {
    const sn_lanes3 *F, *R;
    const sn_lanes_sym3 *S;
    sn_lanes mu, lambda, trace, c;
    sn_lanes_sym3 M;
} group;

static sn_lanes energy_of(const group *g) {
    const sn_lanes_sym3 *S = g->S;
    sn_lanes x = S->xx - 1.0;
    sn_lanes y = S->yy - 1.0;
    sn_lanes z = S->zz - 1.0;
    sn_lanes t = x + y + z;
    sn_lanes off = S->xy * S->xy + S->xz * S->xz + S->yz * S->yz;

    return g->mu * (x * x + y * y + z * z + off + off) + 0.5 * g->lambda * t * t;
}

static void find_rotation_term(group *g) {
    sn_lanes_sym3 G = sn_lanes_pair_sums(g->S);
    sn_lanes_sym3 A = sn_lanes_sym3_adjugate(&G);
    sn_lanes det = sn_lanes_sym3_det(&G, &A);
    sn_lanes cube = g->trace * g->trace * g->trace;
    sn_lanes s = g->c / sn_lanes_max(det, ridge * cube + 0x1p-500);
    g->M = (sn_lanes_sym3){s * A.xx, s * A.xy, s * A.xz, s * A.yy, s * A.yz, s * A.zz};
}

SN_INLINE void find_projected_rotation_terms(group *groups, int count) {
    sn_lanes_spectrum spectrum[2 * SN_GROUPS];
    sn_groups_spectrum(spectrum, groups[0].S, count);
    for (int g = 0; g < count; g++) {
        sn_lanes s[3], m[3];
        sn_lanes c = groups[g].c;
        sn_lanes trace = groups[g].trace;
        sn_lanes least = blunt_ridge * trace + 0x1p-200;

        // Eigenvalues of G, limited from below.
        sn_lanes_eigenvalues(s, &spectrum[g]);
        for (int i = 0; i < 3; i++) {
            s[i] = sn_lanes_max(trace - s[i], least);
        }

        // One division instead of three; stretches are far from the limits of doubles.
        sn_lanes yz = s[1] * s[2];
        sn_lanes q = c / (s[0] * yz);

        m[0] = q * yz;
        m[1] = q * (s[0] * s[2]);
        m[2] = q * (s[0] * s[1]);

        // Raise the eigenvalues of M to -mu.
        for (int i = 0; i < 3; i++) {
            m[i] = sn_lanes_max(m[i], -groups[g].mu);
        }

        groups[g].M = sn_lanes_matrix_function(&spectrum[g], m);
    }
}

// Row i of L is [rho_i] with rho_i row i of R, so the block (i, k) of L M L' is [rho_i] M [rho_k]'.
// Here for one i and every k >= i.
SN_INLINE void store_tangent_row(double *H, const group *g, int i) {
    const sn_lanes *a = g->R->m[i];
    const sn_lanes diagonal = g->mu + g->mu;
    const sn_lanes_sym3 *M = &g->M;

    // Y = [rho_i] M
    const sn_lanes Y[3][3] = {
        {a[1] * M->xz - a[2] * M->xy, a[1] * M->yz - a[2] * M->yy, a[1] * M->zz - a[2] * M->yz},
        {a[2] * M->xx - a[0] * M->xz, a[2] * M->xy - a[0] * M->yz, a[2] * M->xz - a[0] * M->zz},
        {a[0] * M->xy - a[1] * M->xx, a[0] * M->yy - a[1] * M->xy, a[0] * M->yz - a[1] * M->xz},
    };

    // Y [rho_k]' + lambda r r' + 2 mu I
    for (int j = 0; j < 3; j++) {
        sn_lanes x = g->lambda * a[j];
        for (int k = i; k < 3; k++) {
            const sn_lanes *b = g->R->m[k];
            for (int l = i == k ? j : 0; l < 3; l++) {
                int m = (l + 1) % 3;
                int n = (l + 2) % 3;
                sn_lanes value = x * b[l] + (Y[j][n] * b[m] - Y[j][m] * b[n]);
                if (i == k && j == l) {
                    value += diagonal;
                }

                sn_lanes_store(H + sn_sym9(3 * i + j, 3 * k + l) * SN_BLOCK, value);
            }
        }
    }
}

static void store_rotated(double *H, const group *g) {
    const sn_lanes3 *R = g->R;
    sn_lanes3 T = sn_lanes3_mul_sym(R, &g->M);

    sn_lanes_store(H + SN_ROTATED_SCALE * SN_BLOCK, g->mu + g->mu);
    sn_lanes_store(H + SN_ROTATED_LAMBDA * SN_BLOCK, g->lambda);
    sn_lanes3_store(H + SN_ROTATED_R * SN_BLOCK, R);
#define STORE_N(place, i, j)                                                                       \
    sn_lanes_store(H + (SN_ROTATED_N + place) * SN_BLOCK,                                          \
                   T.m[i][0] * R->m[j][0] + T.m[i][1] * R->m[j][1] + T.m[i][2] * R->m[j][2])
    STORE_N(0, 0, 0);
    STORE_N(1, 0, 1);
    STORE_N(2, 0, 2);
    STORE_N(3, 1, 1);
    STORE_N(4, 1, 2);
    STORE_N(5, 2, 2);
#undef STORE_N
}

static void store_tangent(double *H, const group *g) {
    store_tangent_row(H, g, 0);
    store_tangent_row(H, g, 1);
    store_tangent_row(H, g, 2);
}

static void store_stress(double *P, const group *g) {
    sn_lanes3 result;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            result.m[i][j] = (g->mu + g->mu) * g->F->m[i][j] + g->c * g->R->m[i][j];
        }
    }

    sn_lanes3_store(P, &result);
}

SN_INLINE void store_tangents(int want, const sn_material_block *in, const sn_material_result *out,
                              group *groups, int blocks) {
    int count = blocks * SN_GROUPS;
    if (want & SN_MATERIAL_PROJECTED) {
        find_projected_rotation_terms(groups, count);
    } else {
        for (int g = 0; g < count; g++) {
            find_rotation_term(&groups[g]);
        }
    }

    // The rotated form has no room for a fibre term.
    for (int b = 0; b < blocks; b++) {
        bool rotated = out[b].form && !sn_any_parameter(&in[b], SN_PARAMETER_FIBRE_STRESS);
        if (rotated) {
            *out[b].form = SN_TANGENT_ROTATED;
        }

        for (int g = 0; g < SN_GROUPS; g++) {
            if (rotated) {
                store_rotated(out[b].H + g * SN_LANES, &groups[b * SN_GROUPS + g]);
            } else {
                store_tangent(out[b].H + g * SN_LANES, &groups[b * SN_GROUPS + g]);
            }
        }
    }
}

// One block or two, without the volume term.
SN_INLINE void evaluate(int want, const sn_material_block *in, const sn_material_result *out,
                        int blocks) {
    sn_lanes3 F[2 * SN_GROUPS], R[2 * SN_GROUPS];
    sn_lanes_sym3 S[2 * SN_GROUPS];
    group groups[2 * SN_GROUPS];
    int count = blocks * SN_GROUPS;

    // F = R S
    for (int g = 0; g < count; g++) {
        F[g] = sn_lanes3_load(in[g / SN_GROUPS].F + g % SN_GROUPS * SN_LANES);
    }

    sn_groups_polar(R, S, F, count);

    // Constants of each lane.
    for (int g = 0; g < count; g++) {
        const double *own =
            in[g / SN_GROUPS].parameters + SN_PARAMETER_LAW * SN_BLOCK + g % SN_GROUPS * SN_LANES;
        group *x = &groups[g];
        x->F = &F[g];
        x->R = &R[g];
        x->S = &S[g];
        x->mu = sn_parameter(own, 0);
        x->lambda = sn_parameter(own, 1);
        x->trace = S[g].xx + S[g].yy + S[g].zz;
        x->c = x->lambda * (x->trace - 3.0) - (x->mu + x->mu);
    }

    for (int g = 0; g < count; g++) {
        const sn_material_result *to = &out[g / SN_GROUPS];
        int lane = g % SN_GROUPS * SN_LANES;
        if (want & SN_MATERIAL_ENERGY) {
            sn_lanes_store(to->psi + lane, energy_of(&groups[g]));
        }
        if (want & SN_MATERIAL_STRESS) {
            store_stress(to->P + lane, &groups[g]);
        }
    }

    if (want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED)) {
        store_tangents(want, in, out, groups, blocks);
    }

    for (int b = 0; b < blocks; b++) {
        sn_add_fibre(want, &in[b], &out[b]);
    }
}

void SN_ISA_NAME(sn_evaluate_corotational)(const sn_material *material, int want,
                                           const sn_material_block *in,
                                           const sn_material_result *out) {
    if (sn_any_parameter(in, SN_PARAMETER_VOLUME)) {
        // The volume term couples the stretches: use the general form.
        SN_ISA_NAME(sn_evaluate_isotropic)(material, want, in, out);
    } else {
        evaluate(want, in, out, 1);
    }
}

void SN_ISA_NAME(sn_evaluate_corotational_pair)(const sn_material *material, int want,
                                                const sn_material_block *in,
                                                const sn_material_result *out) {
    if (sn_any_parameter(&in[0], SN_PARAMETER_VOLUME) ||
        sn_any_parameter(&in[1], SN_PARAMETER_VOLUME)) {
        for (int b = 0; b < 2; b++) {
            SN_ISA_NAME(sn_evaluate_corotational)(material, want, &in[b], &out[b]);
        }
    } else {
        evaluate(want, in, out, 2);
    }
}
