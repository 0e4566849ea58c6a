// Anisotropic solids with corotational strain: psi = eps' C eps / 2, eps = S - I in Voigt's form, F = R S.
//
// The stress sigma = C eps does not commute with S, so the change of R with F contributes (the differential of the polar
// rotation as in corotational_simd.c: dR = R [omega], omega = G^-1 a, a = axial(A - A'), A = R'dF, G = tr(S) I - S):
//
//   P = R (sigma - [w]),   G w = axial(sigma S - S sigma)
//
// For the tangent let A = (eta, a), eta its symmetric part in Voigt's form with engineering shear. Then d eps = eta - N omega,
// N e_k = sym([e_k] S), and the second variation of psi is
//
//   d eps' C d eps + 2 omega' Y d eps + omega' Theta omega
//   Y D   = -axial(sigma D - D sigma) + (tr(D) I - D) w
//   Theta = tr(sigma S) I - sym(sigma S) + sym([w] S)
//
// so that in the coordinates (eta, a):  K_ee = C,  K_ea = (Y' - C N) G^-1,  K_aa = G^-1 (N'C N - Y N - N'Y' + Theta) G^-1.
// Its Schur complement is G^-1 (Theta - Y C^-1 Y') G^-1, and C is definite: H is semi-definite exactly if the 3x3 matrix in
// the middle is. Projection clamps the eigenvalues of that matrix, which for isotropic C is the eigenvalue clamp of H itself.
//
// Without `exact_rotation` the rotation is taken as fixed, as warped stiffness does (Mueller et al. 2002): P = R sigma, H = R
// C R'.
//
// Cost: a polar decomposition and about 900 fused operations for H.
// Checked by: tests/material/test_anisotropic.c.
#include "material/elastic.h"
#include "material/kernels.h"
#include "math/lanes_polar.h"

// Where sigma2 + sigma3 nearly vanishes R turns arbitrarily fast with F; below this bound on det G / tr(S)^3 it is held back.
static const double ridge = 1e-4;
// In projected tangents, where 1/det G enters squared, below this det G (at rest it is 8), for the sake of the systems they
// enter.
static const double blunt_ridge = 0.05;

typedef struct group {
    sn_lanes3 R;
    sn_lanes_sym3 S, inverse; // of G
    sn_lanes det;             // of G
    sn_lanes_elastic C;
    sn_lanes strain[6], sigma[6], w[3];
} group;

// Voigt's indices by name
enum { XX, YY, ZZ, YZ, ZX, XY };

static void find_stress(group *g, bool exact) {
    const sn_lanes_sym3 *S = &g->S;
    const sn_lanes strain[6] = {S->xx - 1.0, S->yy - 1.0, S->zz - 1.0, S->yz + S->yz, S->xz + S->xz, S->xy + S->xy};
    sn_lanes *s = g->sigma;
    for (int i = 0; i < 6; i++) g->strain[i] = strain[i];
    sn_elastic_apply(s, &g->C, strain);
    if (!exact) return;
    sn_lanes_sym3 G = sn_lanes_pair_sums(S), A = sn_lanes_sym3_adjugate(&G);
    sn_lanes trace = S->xx + S->yy + S->zz, det = sn_lanes_max(sn_lanes_sym3_det(&G, &A), ridge * trace * trace * trace);
    g->det = sn_lanes_max(det, sn_lanes_all(0x1p-1000));
    sn_lanes q = 1.0 / g->det;
    g->inverse = (sn_lanes_sym3){q * A.xx, q * A.xy, q * A.xz, q * A.yy, q * A.yz, q * A.zz};
    // axial(sigma S - S sigma)
    sn_lanes x = s[ZX] * S->xy - s[XY] * S->xz + s[YZ] * (S->yy - S->zz) + (s[ZZ] - s[YY]) * S->yz;
    sn_lanes y = s[XY] * S->yz - s[YZ] * S->xy + s[ZX] * (S->zz - S->xx) + (s[XX] - s[ZZ]) * S->xz;
    sn_lanes z = s[YZ] * S->xz - s[ZX] * S->yz + s[XY] * (S->xx - S->yy) + (s[YY] - s[XX]) * S->xy;
    g->w[0] = g->inverse.xx * x + g->inverse.xy * y + g->inverse.xz * z;
    g->w[1] = g->inverse.xy * x + g->inverse.yy * y + g->inverse.yz * z;
    g->w[2] = g->inverse.xz * x + g->inverse.yz * y + g->inverse.zz * z;
}

static void store_stress(double *P, const group *g, bool exact) {
    const sn_lanes *s = g->sigma;
    sn_lanes3 T = {{{s[XX], s[XY], s[ZX]}, {s[XY], s[YY], s[YZ]}, {s[ZX], s[YZ], s[ZZ]}}};
    if (exact) {
        T.m[0][1] += g->w[2];
        T.m[1][0] -= g->w[2];
        T.m[0][2] -= g->w[1];
        T.m[2][0] += g->w[1];
        T.m[1][2] += g->w[0];
        T.m[2][1] -= g->w[0];
    }
    T = sn_lanes3_mul(&g->R, &T);
    sn_lanes3_store(P, &T);
}

// Y' and N, six rows of three; the shear rows of Y' halved for engineering strain.
typedef struct variation {
    sn_lanes Y[6][3], N[6][3];
} variation;

static variation find_variation(const group *g) {
    const sn_lanes *s = g->sigma, *w = g->w, zero = sn_lanes_all(0);
    const sn_lanes_sym3 *S = &g->S;
    return (variation){
        .Y = {{zero, s[ZX] + w[1], w[2] - s[XY]},
              {w[0] - s[YZ], zero, s[XY] + w[2]},
              {s[YZ] + w[0], w[1] - s[ZX], zero},
              {0.5 * (s[YY] - s[ZZ]), -0.5 * (s[XY] + w[2]), 0.5 * (s[ZX] - w[1])},
              {0.5 * (s[XY] - w[2]), 0.5 * (s[ZZ] - s[XX]), -0.5 * (s[YZ] + w[0])},
              {-0.5 * (s[ZX] + w[1]), 0.5 * (s[YZ] - w[0]), 0.5 * (s[XX] - s[YY])}},
        .N = {{zero, S->xz, -S->xy},
              {-S->yz, zero, S->xy},
              {S->yz, -S->xz, zero},
              {S->yy - S->zz, -S->xy, S->xz},
              {S->xy, S->zz - S->xx, -S->yz},
              {-S->xz, S->yz, S->xx - S->yy}},
    };
}

// tr(sigma S) I - sym(sigma S) + sym([w] S)
static sn_lanes_sym3 find_theta(const group *g) {
    const sn_lanes *s = g->sigma, *w = g->w;
    const sn_lanes_sym3 *S = &g->S;
    sn_lanes xx = s[XX] * S->xx + s[XY] * S->xy + s[ZX] * S->xz, yy = s[XY] * S->xy + s[YY] * S->yy + s[YZ] * S->yz;
    sn_lanes zz = s[ZX] * S->xz + s[YZ] * S->yz + s[ZZ] * S->zz;
    sn_lanes xy = s[XX] * S->xy + s[XY] * S->yy + s[ZX] * S->yz + s[XY] * S->xx + s[YY] * S->xy + s[YZ] * S->xz;
    sn_lanes xz = s[XX] * S->xz + s[XY] * S->yz + s[ZX] * S->zz + s[ZX] * S->xx + s[YZ] * S->xy + s[ZZ] * S->xz;
    sn_lanes yz = s[XY] * S->xz + s[YY] * S->yz + s[YZ] * S->zz + s[ZX] * S->xy + s[YZ] * S->yy + s[ZZ] * S->yz;
    return (sn_lanes_sym3){
        yy + zz + (w[1] * S->xz - w[2] * S->xy),
        0.5 * (w[1] * S->yz - w[2] * S->yy + w[2] * S->xx - w[0] * S->xz - xy),
        0.5 * (w[1] * S->zz - w[2] * S->yz + w[0] * S->xy - w[1] * S->xx - xz),
        xx + zz + (w[2] * S->xy - w[0] * S->yz),
        0.5 * (w[2] * S->xz - w[0] * S->zz + w[0] * S->yy - w[1] * S->xy - yz),
        xx + yy + (w[0] * S->yz - w[1] * S->xz),
    };
}

// Theta - Y C^-1 Y', by the factors C = L D L'
static sn_lanes_sym3 schur_complement(const sn_lanes_elastic *C, const variation *d, const sn_lanes_sym3 *theta) {
    sn_lanes L[6][6], X[6][3], inverse[6], scaled[6][3];
    for (int j = 0; j < 6; j++) {
        sn_lanes pivot = C->c[sn_sym6(j, j)];
        for (int k = 0; k < j; k++) pivot -= L[j][k] * L[j][k] * inverse[k];
        inverse[j] = 1.0 / pivot;
        for (int i = j + 1; i < 6; i++) {
            L[i][j] = C->c[sn_sym6(i, j)]; // L D
            for (int k = 0; k < j; k++) L[i][j] -= L[i][k] * L[j][k] * inverse[k];
        }
        for (int k = 0; k < 3; k++) {
            X[j][k] = d->Y[j][k];
            for (int i = 0; i < j; i++) X[j][k] -= L[j][i] * scaled[i][k];
            scaled[j][k] = X[j][k] * inverse[j];
        }
    }
    sn_lanes_sym3 Z = *theta;
    for (int v = 0; v < 6; v++) {
        Z.xx -= X[v][0] * scaled[v][0];
        Z.xy -= X[v][0] * scaled[v][1];
        Z.xz -= X[v][0] * scaled[v][2];
        Z.yy -= X[v][1] * scaled[v][1];
        Z.yz -= X[v][1] * scaled[v][2];
        Z.zz -= X[v][2] * scaled[v][2];
    }
    return Z;
}

// Theta plus what the Schur complement lacks to be semi-definite.
static void project_theta(sn_lanes_sym3 theta[SN_GROUPS], sn_lanes_sym3 Z[SN_GROUPS]) {
    sn_lanes_spectrum spectrum[SN_GROUPS];
    sn_block_spectrum(spectrum, Z);
    for (int g = 0; g < SN_GROUPS; g++) {
        sn_lanes_sym3 D = sn_lanes_semidefinite_lack(&spectrum[g]), *T = &theta[g];
        *T = (sn_lanes_sym3){T->xx + D.xx, T->xy + D.xy, T->xz + D.xz, T->yy + D.yy, T->yz + D.yz, T->zz + D.zz};
    }
}

// K_ea and K_aa
typedef struct coupling {
    sn_lanes ea[6][3];
    sn_lanes3 aa;
} coupling;

static void find_coupling(coupling *K, const group *g, const variation *d, const sn_lanes_sym3 *theta, bool projected) {
    sn_lanes_sym3 inverse = g->inverse;
    if (projected) {
        // A congruence: it does not matter for definiteness.
        sn_lanes s = sn_lanes_min(g->det * (1 / blunt_ridge), sn_lanes_all(1));
        inverse =
            (sn_lanes_sym3){s * inverse.xx, s * inverse.xy, s * inverse.xz, s * inverse.yy, s * inverse.yz, s * inverse.zz};
    }
    sn_lanes T[6][3]; // C N - 2 Y', so that N'C N - Y N - N'Y' = sym(N'T)
    sn_lanes3 rows, middle;
    for (int v = 0; v < 6; v++) {
        sn_lanes row[3];
        for (int k = 0; k < 3; k++) {
            sn_lanes sum = g->C.c[sn_sym6(v, 0)] * d->N[0][k];
            for (int u = 1; u < 6; u++) sum += g->C.c[sn_sym6(v, u)] * d->N[u][k];
            row[k] = d->Y[v][k] - sum;
            T[v][k] = -row[k] - d->Y[v][k];
        }
        K->ea[v][0] = row[0] * inverse.xx + row[1] * inverse.xy + row[2] * inverse.xz;
        K->ea[v][1] = row[0] * inverse.xy + row[1] * inverse.yy + row[2] * inverse.yz;
        K->ea[v][2] = row[0] * inverse.xz + row[1] * inverse.yz + row[2] * inverse.zz;
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            sn_lanes sum = d->N[0][i] * T[0][k];
            for (int v = 1; v < 6; v++) sum += d->N[v][i] * T[v][k];
            rows.m[i][k] = sum;
        }
    }
    const sn_lanes t[3][3] = {
        {theta->xx, theta->xy, theta->xz}, {theta->xy, theta->yy, theta->yz}, {theta->xz, theta->yz, theta->zz}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) middle.m[i][k] = 0.5 * (rows.m[i][k] + rows.m[k][i]) + t[i][k];
    }
    rows = sn_lanes3_mul_sym(&middle, &inverse);
    // G^-1 (middle G^-1) is symmetric: (middle G^-1)' G^-1
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) middle.m[i][k] = rows.m[k][i];
    }
    K->aa = sn_lanes3_mul_sym(&middle, &inverse);
}

// The entry (m, n) of H in the rotated frame. Entry (i, j), i != j, of A counts in component 3 - i - j of a, with this sign.
SN_INLINE sn_lanes rotated_entry(const group *g, const coupling *K, int m, int n) {
    int v = sn_voigt(m / 3, m % 3), u = sn_voigt(n / 3, n % 3);
    int p = 3 - m / 3 - m % 3, q = 3 - n / 3 - n % 3;
    bool turns_m = m / 3 != m % 3, turns_n = n / 3 != n % 3;
    bool plus_m = (m / 3 - m % 3 + 3) % 3 == 1, plus_n = (n / 3 - n % 3 + 3) % 3 == 1;
    sn_lanes sum = g->C.c[sn_sym6(v, u)];
    if (!K) return sum;
    if (turns_n) sum = plus_n ? sum + K->ea[v][q] : sum - K->ea[v][q];
    if (turns_m) sum = plus_m ? sum + K->ea[u][p] : sum - K->ea[u][p];
    if (turns_m && turns_n) sum = plus_m == plus_n ? sum + K->aa.m[p][q] : sum - K->aa.m[p][q];
    return sum;
}

// H_(ij)(kl) = sum_ac R_ia R_kc K_(aj)(cl), for one pair of columns j <= l
SN_INLINE void store_tangent_columns(double *H, const group *g, const coupling *K, int j, int l) {
    sn_lanes3 X;
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) X.m[a][c] = rotated_entry(g, K, 3 * a + j, 3 * c + l);
    }
    X = sn_lanes3_mul(&g->R, &X);
    for (int i = 0; i < 3; i++) {
        for (int k = j == l ? i : 0; k < 3; k++) {
            sn_lanes sum = X.m[i][0] * g->R.m[k][0] + X.m[i][1] * g->R.m[k][1] + X.m[i][2] * g->R.m[k][2];
            sn_lanes_store(H + sn_sym9(3 * i + j, 3 * k + l) * SN_BLOCK, sum);
        }
    }
}

SN_INLINE void store_tangent(double *H, const group *g, const coupling *K) {
    store_tangent_columns(H, g, K, 0, 0);
    store_tangent_columns(H, g, K, 0, 1);
    store_tangent_columns(H, g, K, 0, 2);
    store_tangent_columns(H, g, K, 1, 1);
    store_tangent_columns(H, g, K, 1, 2);
    store_tangent_columns(H, g, K, 2, 2);
}

static void store_exact_tangents(double *H, const group groups[SN_GROUPS], bool projected) {
    sn_lanes_sym3 theta[SN_GROUPS], Z[SN_GROUPS];
    for (int g = 0; g < SN_GROUPS; g++) theta[g] = find_theta(&groups[g]);
    if (projected) {
        for (int g = 0; g < SN_GROUPS; g++) {
            variation d = find_variation(&groups[g]);
            Z[g] = schur_complement(&groups[g].C, &d, &theta[g]);
        }
        project_theta(theta, Z);
    }
    for (int g = 0; g < SN_GROUPS; g++) {
        variation d = find_variation(&groups[g]);
        coupling K;
        find_coupling(&K, &groups[g], &d, &theta[g], projected);
        store_tangent(H + g * SN_LANES, &groups[g], &K);
    }
}

static void store_tangents(double *H, const group groups[SN_GROUPS], bool exact, bool projected) {
    if (exact) {
        store_exact_tangents(H, groups, projected);
    } else {
        for (int g = 0; g < SN_GROUPS; g++) store_tangent(H + g * SN_LANES, &groups[g], NULL);
    }
}

void SN_ISA_NAME(sn_evaluate_anisotropic)(const sn_material *material, int want, const sn_material_block *in,
                                          const sn_material_result *out) {
    sn_lanes3 F[SN_GROUPS], R[SN_GROUPS];
    sn_lanes_sym3 S[SN_GROUPS];
    group groups[SN_GROUPS];
    bool exact = material->exact_rotation, volume = sn_any_parameter(in, SN_PARAMETER_VOLUME);
    for (int g = 0; g < SN_GROUPS; g++) F[g] = sn_lanes3_load(in->F + g * SN_LANES);
    sn_block_polar(R, S, F);
    for (int g = 0; g < SN_GROUPS; g++) {
        int lane = g * SN_LANES;
        groups[g].R = R[g];
        groups[g].S = S[g];
        sn_elastic_load(&groups[g].C, false, in->parameters + lane);
        find_stress(&groups[g], exact);
        if (want & SN_MATERIAL_ENERGY) sn_lanes_store(out->psi + lane, sn_elastic_energy(groups[g].strain, groups[g].sigma));
        if (want & SN_MATERIAL_STRESS) store_stress(out->P + lane, &groups[g], exact);
    }
    if (want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED)) {
        store_tangents(out->H, groups, exact, (want & SN_MATERIAL_PROJECTED) != 0 && !volume);
    }
    if (volume) {
        sn_mask bad[SN_GROUPS];
        sn_add_volume_term(want, in, out, false);
        if ((want & SN_MATERIAL_PROJECTED) && sn_find_indefinite(bad, out->H)) {
            double definite[SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;
            store_tangents(definite, groups, exact, true);
            sn_add_volume_term(SN_MATERIAL_PROJECTED, in, &(sn_material_result){.H = definite}, true);
            sn_replace_indefinite(out->H, definite, bad);
        }
    }
    sn_add_fibre(want, in, out);
}
