// Isotropic materials: from an energy psi(s1, s2, s3) of the principal stretches to stress, tangent
// and its projection.
//
// Input: F and a law (stretch.h). Output: psi, P, H. With F = U diag(s) V' (det U = det V = 1, s3
// carries the sign of det F):
//
//   P = U diag(psi_i) V'
//   H has the eigenspaces (Teran et al. 2005, Smith et al. 2019), written in the basis u_a v_b' :
//     stretch  span of u_a v_a'                  the Hessian psi_ab
//     flip     (u_a v_b' + u_b v_a') / sqrt 2    (psi_a - psi_b) / (s_a - s_b)
//     twist    (u_a v_b' - u_b v_a') / sqrt 2    (psi_a + psi_b) / (s_a + s_b)
//
// so clamping the eigenvalues of a 3x3 matrix and six numbers projects H onto the nearest
// semi-definite matrix.
//
// Inversion. Clamping the stretches (Irving et al. 2004) gives a stress that is not the gradient of
// any energy. Here, as in Stomakhin et al. 2012, the energy is extended below a threshold a, in a
// form that needs no third derivatives: with v = (1 - s/a)/(1 - f),
//
//   m(s)    = a (f + (1 - f)/(1 + v + v^2)) for s < a,   s otherwise
//   psi~(s) = psi(m(s1), m(s2), m(s3)) + k/2 sum (m(s_i) - s_i)^2
//
// m is twice continuously differentiable, increasing, and stays above f a >= 0, so a law that is
// singular at zero stretch is evaluated where it is defined; the second term is convex and keeps
// driving the stretch back up. Laws that are defined everywhere keep psi(s) and get only the second
// term (with f = 0). The extended energy is continuous everywhere. Across s2 + s3 = 0, deep among
// the inverted states, its gradient jumps; this is unavoidable because the nearest rotation jumps
// there.
//
// Cost: one decomposition in lanes, about 480 fused operations for H. Checked by:
// tests/material/test_isotropic.c, tests/material/test_inversion.c.
#include "material/kernels.h"
#include "material/stretch.h"
#include "math/lanes_polar.h"

// Difference quotients: if the stretches are closer than this, the derivative is more accurate than
// the quotient, and by symmetry its error is of second order in the distance.
static const double close = 4e-6;
// Lower bounds of the sum of two stretches: one keeps the twist finite on the ridge s2 + s3 = 0 of
// the extended energy; the larger one, for projected tangents, keeps the condition of the linear
// systems moderate.
static const double ridge = 1e-9, blunt_ridge = 1e-3;

typedef struct group {
    sn_lanes3 U, V;
    sn_lanes s[3];
    sn_stretch_energy energy;
    sn_lanes flip[3], twist[3]; // of the pairs (1,2), (2,0), (0,1), named by the missing index
} group;

// k/2 (J - 1)^2 with J = s1 s2 s3
static void add_volume_term(sn_stretch_energy *energy, const sn_lanes s[3], sn_lanes k) {
    sn_lanes excess = s[0] * s[1] * s[2] - 1.0;
    sn_lanes pressure = k * excess;
    sn_lanes dJ[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};

    energy->psi += 0.5 * pressure * excess;
    for (int i = 0; i < 3; i++) {
        energy->gradient[i] += pressure * dJ[i];
    }

    energy->hessian.xx += k * dJ[0] * dJ[0];
    energy->hessian.xy += k * dJ[0] * dJ[1] + pressure * s[2];
    energy->hessian.xz += k * dJ[0] * dJ[2] + pressure * s[1];
    energy->hessian.yy += k * dJ[1] * dJ[1];
    energy->hessian.yz += k * dJ[1] * dJ[2] + pressure * s[0];
    energy->hessian.zz += k * dJ[2] * dJ[2];
}

static void evaluate_bare(sn_stretch_energy *energy, const sn_isotropic_law *law,
                          const sn_lanes s[3], const double *parameters) {
    if (!law->energy) {
        *energy = (sn_stretch_energy){0};
        return;
    }

    law->energy(energy, s, parameters + SN_PARAMETER_LAW * SN_BLOCK);
    sn_lanes k = sn_parameter(parameters, SN_PARAMETER_VOLUME);
    if (sn_any((sn_mask)(k != 0.0))) {
        add_volume_term(energy, s, k);
    }
}

// m(s), m'(s), m''(s)
typedef struct extension {
    sn_lanes m, d, dd;
} extension;

static extension extend(sn_lanes s, double a, double f) {
    sn_mask below = (sn_mask)(s < a);
    sn_lanes zero = sn_lanes_all(0);
    sn_lanes v = sn_select(below, (1.0 - s * (1 / a)) * (1 / (1 - f)), zero);
    sn_lanes inverse = 1.0 / (1.0 + v + v * v);
    sn_lanes square = inverse * inverse;

    return (extension){sn_select(below, a * (f + (1 - f) * inverse), s), (1.0 + v + v) * square,
                       6 / (a * (1 - f)) * (v + v * v) * square * inverse};
}

// The extended energy, its gradient and Hessian in the stretches s.
static void evaluate_extended(sn_stretch_energy *energy, const sn_isotropic_law *law,
                              const sn_lanes s[3], const double *parameters) {
    extension e[3];
    sn_lanes m[3];

    // Evaluate the law at m(s) if it is singular.
    for (int i = 0; i < 3; i++) {
        e[i] = extend(s[i], law->threshold, law->floor);
        m[i] = law->singular ? e[i].m : s[i];
    }

    evaluate_bare(energy, law, m, parameters);
    sn_lanes *diagonal[3] = {&energy->hessian.xx, &energy->hessian.yy, &energy->hessian.zz};

    // Chain rule through m.
    if (law->singular) {
        for (int i = 0; i < 3; i++) {
            *diagonal[i] = *diagonal[i] * e[i].d * e[i].d + energy->gradient[i] * e[i].dd;
        }

        for (int i = 0; i < 3; i++) {
            energy->gradient[i] *= e[i].d;
        }

        energy->hessian.xy *= e[0].d * e[1].d;
        energy->hessian.xz *= e[0].d * e[2].d;
        energy->hessian.yz *= e[1].d * e[2].d;
    }

    // The convex term k/2 (m - s)^2.
    sn_lanes k = sn_parameter(parameters, SN_PARAMETER_RESISTANCE);
    for (int i = 0; i < 3; i++) {
        sn_lanes distance = e[i].m - s[i];
        sn_lanes slope = e[i].d - 1.0;
        energy->psi += 0.5 * k * distance * distance;
        energy->gradient[i] += k * distance * slope;
        *diagonal[i] += k * (slope * slope + distance * e[i].dd);
    }
}

// The eigenvalues of flips and twists from gradient and Hessian.
static void find_pairs(group *g, bool smooth, bool projected) {
    const sn_stretch_energy *e = &g->energy;
    const sn_lanes diagonal[3] = {e->hessian.xx, e->hessian.yy, e->hessian.zz};
    const sn_lanes off[3] = {e->hessian.yz, e->hessian.xz, e->hessian.xy};
    sn_lanes tiny = sn_lanes_all(ridge);
    sn_lanes least = sn_lanes_all(projected && !smooth ? blunt_ridge : ridge);

    for (int c = 0; c < 3; c++) {
        // The pair in the order of decreasing stretch, so that the difference and the sum are not
        // negative.
        int a = c == 0 ? 1 : 0;
        int b = c == 2 ? 1 : 2;
        sn_lanes difference = g->s[a] - g->s[b];
        sn_lanes sum = g->s[a] + g->s[b];
        sn_lanes mean = 0.5 * (diagonal[a] + diagonal[b]);
        sn_lanes flip = (e->gradient[a] - e->gradient[b]) / sn_lanes_max(difference, tiny);

        g->flip[c] = sn_select((sn_mask)(difference < close), mean - off[c], flip);
        sn_lanes twist = (e->gradient[a] + e->gradient[b]) / sn_lanes_max(sum, least);

        // A smooth law has a limit on the ridge; an extended one has a kink.
        g->twist[c] = smooth ? sn_select((sn_mask)(sum < close), mean + off[c], twist) : twist;
    }
}

static void project(group groups[SN_GROUPS]) {
    sn_lanes_sym3 A[SN_GROUPS];
    sn_lanes_spectrum spectrum[SN_GROUPS];
    sn_lanes zero = sn_lanes_all(0);

    // Eigenvalues of the stretch block.
    for (int g = 0; g < SN_GROUPS; g++) {
        A[g] = groups[g].energy.hessian;
    }

    sn_block_spectrum(spectrum, A);
    for (int g = 0; g < SN_GROUPS; g++) {
        // Adding the negative part leaves a definite Hessian exactly as it is.
        sn_lanes_sym3 D = sn_lanes_semidefinite_deficit(&spectrum[g]);
        sn_lanes_sym3 *H = &groups[g].energy.hessian;
        *H = (sn_lanes_sym3){H->xx + D.xx, H->xy + D.xy, H->xz + D.xz,
                             H->yy + D.yy, H->yz + D.yz, H->zz + D.zz};

        for (int c = 0; c < 3; c++) {
            groups[g].flip[c] = sn_lanes_max(groups[g].flip[c], zero);
            groups[g].twist[c] = sn_lanes_max(groups[g].twist[c], zero);
        }
    }
}

static void store_stress(double *P, const group *g) {
    sn_lanes3 result;
    for (int i = 0; i < 3; i++) {
        sn_lanes x[3];
        for (int a = 0; a < 3; a++) {
            x[a] = g->U.m[i][a] * g->energy.gradient[a];
        }

        for (int j = 0; j < 3; j++) {
            result.m[i][j] = x[0] * g->V.m[j][0] + x[1] * g->V.m[j][1] + x[2] * g->V.m[j][2];
        }
    }

    sn_lanes3_store(P, &result);
}

// The block (i, .), (k, .) of H:  V Q V',  with
//   Q_bb = U_ib U_kb psi_bb + sum_(a != b) U_ia U_ka (flip_ab + twist_ab)/2
//   Q_bd = U_ib U_kd psi_bd + U_id U_kb (flip_bd - twist_bd)/2
SN_INLINE void store_tangent_block(double *H, const group *g, int i, int k) {
    const sn_lanes_sym3 *A = &g->energy.hessian;
    sn_lanes same[3], cross[3], w[3][3], T[3][3];

    // (flip + twist) / 2 and (flip - twist) / 2
    for (int c = 0; c < 3; c++) {
        same[c] = 0.5 * (g->flip[c] + g->twist[c]);
        cross[c] = 0.5 * (g->flip[c] - g->twist[c]);
    }

    for (int b = 0; b < 3; b++) {
        for (int d = 0; d < 3; d++) {
            w[b][d] = g->U.m[i][b] * g->U.m[k][d];
        }
    }

    // Q, then V Q V'.
    const sn_lanes3 Q = {
        {{w[0][0] * A->xx + w[1][1] * same[2] + w[2][2] * same[1],
          w[0][1] * A->xy + w[1][0] * cross[2], w[0][2] * A->xz + w[2][0] * cross[1]},
         {w[1][0] * A->xy + w[0][1] * cross[2],
          w[1][1] * A->yy + w[0][0] * same[2] + w[2][2] * same[0],
          w[1][2] * A->yz + w[2][1] * cross[0]},
         {w[2][0] * A->xz + w[0][2] * cross[1], w[2][1] * A->yz + w[1][2] * cross[0],
          w[2][2] * A->zz + w[0][0] * same[1] + w[1][1] * same[0]}}};

    for (int j = 0; j < 3; j++) {
        for (int d = 0; d < 3; d++) {
            T[j][d] =
                g->V.m[j][0] * Q.m[0][d] + g->V.m[j][1] * Q.m[1][d] + g->V.m[j][2] * Q.m[2][d];
        }
    }

    for (int j = 0; j < 3; j++) {
        for (int l = i == k ? j : 0; l < 3; l++) {
            sn_lanes sum = T[j][0] * g->V.m[l][0] + T[j][1] * g->V.m[l][1] + T[j][2] * g->V.m[l][2];
            sn_lanes_store(H + sn_sym9(3 * i + j, 3 * k + l) * SN_BLOCK, sum);
        }
    }
}

static void store_tangent(double *H, const group *g) {
    for (int i = 0; i < 3; i++) {
        for (int k = i; k < 3; k++) {
            store_tangent_block(H, g, i, k);
        }
    }
}

static void evaluate(const sn_isotropic_law *law, bool extended, int want,
                     const sn_material_block *in, const sn_material_result *out) {
    // The corotational energy, which has no threshold, has a ridge of its own.
    bool smooth = !extended && law->threshold > 0;
    bool tangent = (want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED)) != 0;
    sn_lanes3 F[SN_GROUPS], U[SN_GROUPS], V[SN_GROUPS];
    sn_lanes s[SN_GROUPS][3];
    group groups[SN_GROUPS];

    // Principal stretches.
    for (int g = 0; g < SN_GROUPS; g++) {
        F[g] = sn_lanes3_load(in->F + g * SN_LANES);
    }

    sn_block_svd(U, s, V, F);

    // Energy and its derivatives in them.
    for (int g = 0; g < SN_GROUPS; g++) {
        const double *parameters = in->parameters + g * SN_LANES;
        groups[g].U = U[g];
        groups[g].V = V[g];

        for (int i = 0; i < 3; i++) {
            groups[g].s[i] = s[g][i];
        }

        if (extended) {
            evaluate_extended(&groups[g].energy, law, s[g], parameters);
        } else {
            evaluate_bare(&groups[g].energy, law, s[g], parameters);
        }

        if (tangent) {
            find_pairs(&groups[g], smooth, (want & SN_MATERIAL_PROJECTED) != 0);
        }
    }

    if (want & SN_MATERIAL_PROJECTED) {
        project(groups);
    }

    // Back to F.
    for (int g = 0; g < SN_GROUPS; g++) {
        int lane = g * SN_LANES;
        if (want & SN_MATERIAL_ENERGY) {
            sn_lanes_store(out->psi + lane, groups[g].energy.psi);
        }
        if (want & SN_MATERIAL_STRESS) {
            store_stress(out->P + lane, &groups[g]);
        }
        if (tangent) {
            store_tangent(out->H + lane, &groups[g]);
        }
    }
}

void SN_ISA_NAME(sn_evaluate_isotropic)(const sn_material *material, int want,
                                        const sn_material_block *in,
                                        const sn_material_result *out) {
    const sn_isotropic_law *law =
        SN_ISA_NAME(sn_isotropic_law_find)(material->law, material->strain);
    evaluate(law, material->inversion && law->threshold > 0, want, in, out);
    sn_add_fibre(want, in, out);
}

// Whether some stretch may be below a: F'F - a^2 I is not positive definite, or det F < 0.
static bool any_below(const sn_material_block *in, double a) {
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes3 F = sn_lanes3_load(in->F + lane);
        sn_lanes3 cofactor = sn_lanes3_cofactor(&F);
        sn_lanes J = F.m[0][0] * cofactor.m[0][0] + F.m[0][1] * cofactor.m[0][1] +
                     F.m[0][2] * cofactor.m[0][2];
        sn_lanes_sym3 C = sn_lanes3_gram(&F);

        C.xx -= a * a;
        C.yy -= a * a;
        C.zz -= a * a;

        sn_lanes_sym3 A = sn_lanes_sym3_adjugate(&C);
        sn_lanes det = C.xx * A.xx + C.xy * A.xy + C.xz * A.xz;
        if (!sn_all((sn_mask)((J > 0.0) & (C.xx > 0.0) & (A.zz > 0.0) & (det > 0.0)))) {
            return true;
        }
    }

    return false;
}

bool SN_ISA_NAME(sn_add_resistance)(int want, const sn_material_block *in,
                                    const sn_material_result *out) {
    static const sn_isotropic_law nothing = {.threshold = SN_GREEN_THRESHOLD};
    if (!any_below(in, nothing.threshold)) {
        return false;
    }

    double psi[SN_BLOCK] SN_ALIGNED, P[9 * SN_BLOCK] SN_ALIGNED,
        H[SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;

    sn_material_result part = {.psi = psi, .P = P, .H = H};
    evaluate(&nothing, true, want, in, &part);

    // Add the parts.
    bool tangent = (want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED)) != 0;
    if (want & SN_MATERIAL_ENERGY) {
        for (int i = 0; i < SN_BLOCK; i++) {
            out->psi[i] += psi[i];
        }
    }

    if (want & SN_MATERIAL_STRESS) {
        for (int i = 0; i < 9 * SN_BLOCK; i++) {
            out->P[i] += P[i];
        }
    }

    if (tangent) {
        for (int i = 0; i < SN_MATERIAL_H_COUNT * SN_BLOCK; i++) {
            out->H[i] += H[i];
        }
    }

    return true;
}
