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
// C^-1 = W'W with W triangular is a parameter.
//
// Completing the square, with M = N - C^-1 Y', the second variation is also
//
//   (eta - M omega)' C (eta - M omega) + omega' (Theta - Y C^-1 Y') omega
//
// and that is how linear tets take it (SN_TANGENT_EXACT in material.h: t_v are the rows of L'M G^-1 R', N is R G^-1 (Theta - Y
// C^-1 Y') G^-1 R'), if the axes of the material are the coordinate axes, where C and W have nine numbers each.
//
// Without `exact_rotation` the rotation is taken as fixed, as warped stiffness does (Mueller et al. 2002): P = R sigma, H = R
// C R'.
//
// Cost: a polar decomposition and about 900 fused operations for H, 350 with the rotation fixed; 600 and 40 for the shorter
// forms.
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
    const double *C, *W; // parameters, at the first lane
    const sn_lanes3 *R;
    const sn_lanes_sym3 *S;
    sn_lanes_sym3 inverse; // of G
    sn_lanes_sym3 theta;
    sn_lanes det; // of G
    sn_lanes sigma[6], w[3];
    sn_lanes X[6][3]; // W Y', if the axes of the material are the coordinate axes
} group;

// Voigt's indices by name
enum { XX, YY, ZZ, YZ, ZX, XY };

SN_INLINE sn_lanes stiffness(const group *g, int v, int u) {
    return sn_parameter(g->C, sn_sym6(v, u));
}

// sigma = C eps; returns the energy.
SN_INLINE sn_lanes find_stress(group *g, bool own_axes) {
    const sn_lanes_sym3 *S = g->S;
    const sn_lanes strain[6] = {S->xx - 1.0, S->yy - 1.0, S->zz - 1.0, S->yz + S->yz, S->xz + S->xz, S->xy + S->xy};
    for (int v = 0; v < 6; v++) {
        if (own_axes && v >= YZ) {
            g->sigma[v] = stiffness(g, v, v) * strain[v];
            continue;
        }
        g->sigma[v] = stiffness(g, v, 0) * strain[0];
        for (int u = 1; u < (own_axes ? 3 : 6); u++) g->sigma[v] += stiffness(g, v, u) * strain[u];
    }
    return sn_elastic_energy(strain, g->sigma);
}

SN_INLINE void find_turn(group *g) {
    const sn_lanes_sym3 *S = g->S;
    const sn_lanes *s = g->sigma;
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
    T = sn_lanes3_mul(g->R, &T);
    sn_lanes3_store(P, &T);
}

// tr(sigma S) I - sym(sigma S) + sym([w] S)
SN_INLINE sn_lanes_sym3 find_theta(const group *g) {
    const sn_lanes *s = g->sigma, *w = g->w;
    const sn_lanes_sym3 *S = g->S;
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

// Y' and N, six rows of three; the shear rows of Y' halved for engineering strain. The entries (0, 0), (1, 1), (2, 2) of both
// are zero, and left out of sums.
typedef struct variation {
    sn_lanes Y[6][3], N[6][3];
} variation;

SN_INLINE bool is_zero(int v, int k) {
    return v == k;
}

SN_INLINE void find_stress_variation(variation *d, const group *g) {
    const sn_lanes *s = g->sigma, *w = g->w;
    sn_lanes x = s[YZ] + w[0], y = s[ZX] + w[1], z = s[XY] + w[2], u = s[YZ] - w[0], v = s[ZX] - w[1], t = s[XY] - w[2];
    d->Y[XX][1] = y, d->Y[XX][2] = -t;
    d->Y[YY][0] = -u, d->Y[YY][2] = z;
    d->Y[ZZ][0] = x, d->Y[ZZ][1] = -v;
    d->Y[YZ][0] = 0.5 * (s[YY] - s[ZZ]), d->Y[YZ][1] = -0.5 * z, d->Y[YZ][2] = 0.5 * v;
    d->Y[ZX][0] = 0.5 * t, d->Y[ZX][1] = 0.5 * (s[ZZ] - s[XX]), d->Y[ZX][2] = -0.5 * x;
    d->Y[XY][0] = -0.5 * y, d->Y[XY][1] = 0.5 * u, d->Y[XY][2] = 0.5 * (s[XX] - s[YY]);
}

SN_INLINE void find_strain_variation(variation *d, const group *g) {
    const sn_lanes_sym3 *S = g->S;
    d->N[XX][1] = S->xz, d->N[XX][2] = -S->xy;
    d->N[YY][0] = -S->yz, d->N[YY][2] = S->xy;
    d->N[ZZ][0] = S->yz, d->N[ZZ][1] = -S->xz;
    d->N[YZ][0] = S->yy - S->zz, d->N[YZ][1] = -S->xy, d->N[YZ][2] = S->xz;
    d->N[ZX][0] = S->xy, d->N[ZX][1] = S->zz - S->xx, d->N[ZX][2] = -S->yz;
    d->N[XY][0] = -S->xz, d->N[XY][1] = S->yz, d->N[XY][2] = S->xx - S->yy;
}

// Row v of W Y', taken from Z with the square of its length.
SN_INLINE void subtract_row(sn_lanes_sym3 *Z, const group *g, const variation *d, int v) {
    sn_lanes X[3] = {{0}};
    for (int u = 0; u <= v; u++) {
        sn_lanes W = sn_parameter(g->W, sn_sym6(u, v));
        for (int k = 0; k < 3; k++) {
            if (!is_zero(u, k)) X[k] += W * d->Y[u][k];
        }
    }
    Z->xx -= X[0] * X[0];
    Z->xy -= X[0] * X[1];
    Z->xz -= X[0] * X[2];
    Z->yy -= X[1] * X[1];
    Z->yz -= X[1] * X[2];
    Z->zz -= X[2] * X[2];
}

// Theta - Y C^-1 Y'
static sn_lanes_sym3 schur_complement(const group *g) {
    variation d;
    find_stress_variation(&d, g);
    sn_lanes_sym3 Z = g->theta;
    subtract_row(&Z, g, &d, 0);
    subtract_row(&Z, g, &d, 1);
    subtract_row(&Z, g, &d, 2);
    subtract_row(&Z, g, &d, 3);
    subtract_row(&Z, g, &d, 4);
    subtract_row(&Z, g, &d, 5);
    return Z;
}

// The same in the axes of the material, where W has three rows among the normal strains and a diagonal for the shears: W Y' is
// kept, and theta becomes Theta - Y C^-1 Y'.
static void reduce(group *g) {
    variation d;
    find_stress_variation(&d, g);
    sn_lanes_sym3 *Z = &g->theta;
    sn_lanes w[6], shear[3];
    for (int v = 0; v < 3; v++) {
        for (int u = 0; u <= v; u++) w[v * (v + 1) / 2 + u] = sn_parameter(g->W, sn_sym6(u, v));
        shear[v] = sn_parameter(g->W, sn_sym6(YZ + v, YZ + v));
    }
    sn_lanes X[6][3] = {
        {sn_lanes_all(0), w[0] * d.Y[XX][1], w[0] * d.Y[XX][2]},
        {w[2] * d.Y[YY][0], w[1] * d.Y[XX][1], w[1] * d.Y[XX][2] + w[2] * d.Y[YY][2]},
        {w[4] * d.Y[YY][0] + w[5] * d.Y[ZZ][0], w[3] * d.Y[XX][1] + w[5] * d.Y[ZZ][1], w[3] * d.Y[XX][2] + w[4] * d.Y[YY][2]},
        {shear[0] * d.Y[YZ][0], shear[0] * d.Y[YZ][1], shear[0] * d.Y[YZ][2]},
        {shear[1] * d.Y[ZX][0], shear[1] * d.Y[ZX][1], shear[1] * d.Y[ZX][2]},
        {shear[2] * d.Y[XY][0], shear[2] * d.Y[XY][1], shear[2] * d.Y[XY][2]},
    };
    for (int v = 0; v < 6; v++) {
        const sn_lanes *x = X[v];
        if (v > 0) {
            Z->xx -= x[0] * x[0];
            Z->xy -= x[0] * x[1];
            Z->xz -= x[0] * x[2];
        }
        Z->yy -= x[1] * x[1];
        Z->yz -= x[1] * x[2];
        Z->zz -= x[2] * x[2];
        for (int k = 0; k < 3; k++) g->X[v][k] = x[k];
    }
}

// Theta plus what the Schur complement lacks to be semi-definite; of reduced groups it is theta itself. 1/det G is held back
// where it is large: a congruence, which does not matter for definiteness.
SN_INLINE void project(group *groups, int count, bool reduced) {
    sn_lanes_sym3 Z[2 * SN_GROUPS];
    sn_lanes_spectrum spectrum[2 * SN_GROUPS];
    for (int g = 0; g < count; g++) Z[g] = reduced ? groups[g].theta : schur_complement(&groups[g]);
    sn_groups_spectrum(spectrum, Z, count);
    for (int g = 0; g < count; g++) {
        sn_lanes_sym3 D = sn_lanes_semidefinite_lack(&spectrum[g]), *T = &groups[g].theta, *A = &groups[g].inverse;
        *T = (sn_lanes_sym3){T->xx + D.xx, T->xy + D.xy, T->xz + D.xz, T->yy + D.yy, T->yz + D.yz, T->zz + D.zz};
        sn_lanes s = sn_lanes_min(groups[g].det * (1 / blunt_ridge), sn_lanes_all(1));
        *A = (sn_lanes_sym3){s * A->xx, s * A->xy, s * A->xz, s * A->yy, s * A->yz, s * A->zz};
    }
}

// K_ea and K_aa
typedef struct coupling {
    sn_lanes ea[6][3];
    sn_lanes_sym3 aa;
} coupling;

// Row v of Y' - C N and of K_ea; adds row v of -N'(Y' - C N + Y') to `middle`.
SN_INLINE void find_coupling_row(coupling *K, sn_lanes3 *middle, const group *g, const variation *d, int v) {
    const sn_lanes_sym3 *A = &g->inverse;
    sn_lanes row[3], T[3];
    for (int k = 0; k < 3; k++) row[k] = is_zero(v, k) ? sn_lanes_all(0) : d->Y[v][k];
    for (int u = 0; u < 6; u++) {
        sn_lanes C = stiffness(g, v, u);
        for (int k = 0; k < 3; k++) {
            if (!is_zero(u, k)) row[k] -= C * d->N[u][k];
        }
    }
    K->ea[v][0] = row[0] * A->xx + row[1] * A->xy + row[2] * A->xz;
    K->ea[v][1] = row[0] * A->xy + row[1] * A->yy + row[2] * A->yz;
    K->ea[v][2] = row[0] * A->xz + row[1] * A->yz + row[2] * A->zz;
    for (int k = 0; k < 3; k++) T[k] = is_zero(v, k) ? row[k] : row[k] + d->Y[v][k];
    for (int i = 0; i < 3; i++) {
        if (is_zero(v, i)) continue;
        for (int k = 0; k < 3; k++) middle->m[i][k] -= d->N[v][i] * T[k];
    }
}

SN_INLINE void find_coupling(coupling *K, const group *g) {
    const sn_lanes_sym3 *t = &g->theta;
    variation d;
    find_stress_variation(&d, g);
    find_strain_variation(&d, g);
    // Its symmetric part will be N'C N - Y N - N'Y' + Theta.
    sn_lanes3 middle = {{{t->xx, t->xy, t->xz}, {t->xy, t->yy, t->yz}, {t->xz, t->yz, t->zz}}};
    find_coupling_row(K, &middle, g, &d, 0);
    find_coupling_row(K, &middle, g, &d, 1);
    find_coupling_row(K, &middle, g, &d, 2);
    find_coupling_row(K, &middle, g, &d, 3);
    find_coupling_row(K, &middle, g, &d, 4);
    find_coupling_row(K, &middle, g, &d, 5);
    sn_lanes xy = 0.5 * (middle.m[0][1] + middle.m[1][0]), xz = 0.5 * (middle.m[0][2] + middle.m[2][0]);
    sn_lanes yz = 0.5 * (middle.m[1][2] + middle.m[2][1]);
    sn_lanes3 full = {{{middle.m[0][0], xy, xz}, {xy, middle.m[1][1], yz}, {xz, yz, middle.m[2][2]}}};
    full = sn_lanes3_mul_sym(&full, &g->inverse);
    const sn_lanes_sym3 *A = &g->inverse;
    K->aa = (sn_lanes_sym3){
        A->xx * full.m[0][0] + A->xy * full.m[1][0] + A->xz * full.m[2][0],
        A->xx * full.m[0][1] + A->xy * full.m[1][1] + A->xz * full.m[2][1],
        A->xx * full.m[0][2] + A->xy * full.m[1][2] + A->xz * full.m[2][2],
        A->xy * full.m[0][1] + A->yy * full.m[1][1] + A->yz * full.m[2][1],
        A->xy * full.m[0][2] + A->yy * full.m[1][2] + A->yz * full.m[2][2],
        A->xz * full.m[0][2] + A->yz * full.m[1][2] + A->zz * full.m[2][2],
    };
}

// H in the rotated frame, upper triangle. Entry (i, j), i != j, of A counts in component 3 - i - j of a, positive if i follows
// j.
typedef struct rotated {
    sn_lanes h[SN_MATERIAL_H_COUNT];
} rotated;

// The places of the positive and of the negative entry of shear v.
SN_INLINE int positive_place(int v) {
    return v == YZ ? 7 : v == ZX ? 2 : 3;
}

SN_INLINE int negative_place(int v) {
    return v == YZ ? 5 : v == ZX ? 6 : 1;
}

// The entries of the normal strain a with the other normal ones and with all shears.
SN_INLINE void fill_normal(rotated *H, const group *g, const coupling *K, int a) {
    for (int b = a; b < 3; b++) H->h[sn_sym9(4 * a, 4 * b)] = stiffness(g, a, b);
    for (int u = YZ; u <= XY; u++) {
        sn_lanes C = stiffness(g, a, u), e = K->ea[a][u - YZ];
        H->h[sn_sym9(4 * a, positive_place(u))] = C + e;
        H->h[sn_sym9(4 * a, negative_place(u))] = C - e;
    }
}

// The entries of two shears.
SN_INLINE void fill_shears(rotated *H, const group *g, const coupling *K, int v, int u, sn_lanes aa) {
    sn_lanes C = stiffness(g, v, u), e = K->ea[v][u - YZ], f = K->ea[u][v - YZ];
    sn_lanes same = C + aa, other = C - aa, sum = e + f, difference = e - f;
    H->h[sn_sym9(positive_place(v), positive_place(u))] = same + sum;
    H->h[sn_sym9(negative_place(v), negative_place(u))] = same - sum;
    H->h[sn_sym9(negative_place(v), positive_place(u))] = other + difference;
    H->h[sn_sym9(positive_place(v), negative_place(u))] = other - difference;
}

SN_INLINE void fill_rotated(rotated *H, const group *g, const coupling *K) {
    fill_normal(H, g, K, 0);
    fill_normal(H, g, K, 1);
    fill_normal(H, g, K, 2);
    fill_shears(H, g, K, YZ, YZ, K->aa.xx);
    fill_shears(H, g, K, YZ, ZX, K->aa.xy);
    fill_shears(H, g, K, YZ, XY, K->aa.xz);
    fill_shears(H, g, K, ZX, ZX, K->aa.yy);
    fill_shears(H, g, K, ZX, XY, K->aa.yz);
    fill_shears(H, g, K, XY, XY, K->aa.zz);
}

// H_(ij)(kl) = sum_ac R_ia R_kc K_(aj)(cl), for one pair of columns j <= l; K is C itself if the rotation is fixed.
SN_INLINE void store_tangent_columns(double *H, const group *g, const rotated *K, int j, int l) {
    sn_lanes3 X;
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            X.m[a][c] = K ? K->h[sn_sym9(3 * a + j, 3 * c + l)] : stiffness(g, sn_voigt(a, j), sn_voigt(c, l));
        }
    }
    X = sn_lanes3_mul(g->R, &X);
    for (int i = 0; i < 3; i++) {
        for (int k = j == l ? i : 0; k < 3; k++) {
            sn_lanes sum = X.m[i][0] * g->R->m[k][0] + X.m[i][1] * g->R->m[k][1] + X.m[i][2] * g->R->m[k][2];
            sn_lanes_store(H + sn_sym9(3 * i + j, 3 * k + l) * SN_BLOCK, sum);
        }
    }
}

SN_INLINE void store_tangent(double *H, const group *g, const rotated *K) {
    store_tangent_columns(H, g, K, 0, 0);
    store_tangent_columns(H, g, K, 0, 1);
    store_tangent_columns(H, g, K, 0, 2);
    store_tangent_columns(H, g, K, 1, 1);
    store_tangent_columns(H, g, K, 1, 2);
    store_tangent_columns(H, g, K, 2, 2);
}

static void store_exact_tangent(double *H, const group *g) {
    coupling K;
    rotated rotated_H;
    find_coupling(&K, g);
    fill_rotated(&rotated_H, g, &K);
    store_tangent(H, g, &rotated_H);
}

static void store_fixed_tangent(double *H, const group *g) {
    store_tangent(H, g, NULL);
}

// H of one block or two, without the volume term.
SN_INLINE void store_tangents(const sn_material_result *out, group *groups, int blocks, bool exact, bool projected) {
    int count = blocks * SN_GROUPS;
    if (exact && projected) project(groups, count, false);
    for (int g = 0; g < count; g++) {
        double *H = out[g / SN_GROUPS].H + g % SN_GROUPS * SN_LANES;
        if (exact) {
            store_exact_tangent(H, &groups[g]);
        } else {
            store_fixed_tangent(H, &groups[g]);
        }
    }
}

// L = C W' in the axes of the material: see SN_EXACT_ROOTS.
SN_INLINE void find_roots(sn_lanes L[9], const group *g) {
#define W_(u, v) sn_parameter(g->W, sn_sym6(u, v))
    L[0] = stiffness(g, 0, 0) * W_(0, 0);
    L[1] = stiffness(g, 1, 0) * W_(0, 0);
    L[2] = stiffness(g, 1, 0) * W_(0, 1) + stiffness(g, 1, 1) * W_(1, 1);
    L[3] = stiffness(g, 2, 0) * W_(0, 0);
    L[4] = stiffness(g, 2, 0) * W_(0, 1) + stiffness(g, 2, 1) * W_(1, 1);
    L[5] = stiffness(g, 2, 0) * W_(0, 2) + stiffness(g, 2, 1) * W_(1, 2) + stiffness(g, 2, 2) * W_(2, 2);
    for (int v = YZ; v <= XY; v++) L[3 + v] = stiffness(g, v, v) * W_(v, v);
#undef W_
}

// t_v = R G^-1 (L'N - W Y')_v
SN_INLINE void store_turn(double *H, const sn_lanes3 *T, sn_lanes x, sn_lanes y, sn_lanes z, int v) {
    for (int i = 0; i < 3; i++) {
        sn_lanes_store(H + (SN_EXACT_TURNS + 3 * v + i) * SN_BLOCK, T->m[i][0] * x + T->m[i][1] * y + T->m[i][2] * z);
    }
}

static void store_turns(double *H, const group *g, const sn_lanes3 *T, const sn_lanes L[9]) {
    variation d;
    find_strain_variation(&d, g);
    sn_lanes(*N)[3] = d.N;
    const sn_lanes(*X)[3] = g->X;
    store_turn(H, T, L[1] * N[YY][0] + L[3] * N[ZZ][0], L[0] * N[XX][1] + L[3] * N[ZZ][1] - X[0][1],
               L[0] * N[XX][2] + L[1] * N[YY][2] - X[0][2], 0);
    store_turn(H, T, L[2] * N[YY][0] + L[4] * N[ZZ][0] - X[1][0], L[4] * N[ZZ][1] - X[1][1], L[2] * N[YY][2] - X[1][2], 1);
    store_turn(H, T, L[5] * N[ZZ][0] - X[2][0], L[5] * N[ZZ][1] - X[2][1], -X[2][2], 2);
    for (int v = YZ; v <= XY; v++) {
        sn_lanes l = L[3 + v];
        store_turn(H, T, l * N[v][0] - X[v][0], l * N[v][1] - X[v][1], l * N[v][2] - X[v][2], v);
    }
}

// The shorter forms of tangents, see material.h.
static void store_form(double *H, const group *g, bool exact) {
    sn_lanes L[9];
    find_roots(L, g);
    for (int k = 0; k < 9; k++) sn_lanes_store(H + (SN_EXACT_ROOTS + k) * SN_BLOCK, L[k]);
    sn_lanes3_store(H + SN_EXACT_R * SN_BLOCK, g->R);
    if (!exact) return;
    sn_lanes3 T = sn_lanes3_mul_sym(g->R, &g->inverse), U = sn_lanes3_mul_sym(&T, &g->theta);
    store_turns(H, g, &T, L);
    for (int i = 0, place = 0; i < 3; i++) {
        for (int j = i; j < 3; j++, place++) {
            sn_lanes N = U.m[i][0] * T.m[j][0] + U.m[i][1] * T.m[j][1] + U.m[i][2] * T.m[j][2];
            sn_lanes_store(H + (SN_EXACT_N + place) * SN_BLOCK, N);
        }
    }
}

SN_INLINE void store_forms(const sn_material_result *out, group *groups, int blocks, bool exact, bool projected) {
    int count = blocks * SN_GROUPS;
    for (int g = 0; exact && g < count; g++) reduce(&groups[g]);
    if (exact && projected) project(groups, count, true);
    for (int g = 0; g < count; g++) store_form(out[g / SN_GROUPS].H + g % SN_GROUPS * SN_LANES, &groups[g], exact);
    for (int b = 0; b < blocks; b++) *out[b].form = exact ? SN_TANGENT_EXACT : SN_TANGENT_HELD;
}

// Rotations, stresses and what is wanted but tangents, of one block or two.
SN_INLINE void begin(group *groups, sn_lanes3 *R, sn_lanes_sym3 *S, int want, const sn_material_block *in,
                     const sn_material_result *out, int blocks, bool exact, bool own_axes) {
    sn_lanes3 F[2 * SN_GROUPS];
    int count = blocks * SN_GROUPS;
    for (int g = 0; g < count; g++) F[g] = sn_lanes3_load(in[g / SN_GROUPS].F + g % SN_GROUPS * SN_LANES);
    sn_groups_polar(R, S, F, count);
    for (int g = 0; g < count; g++) {
        const sn_material_result *to = &out[g / SN_GROUPS];
        int lane = g % SN_GROUPS * SN_LANES;
        groups[g].C = in[g / SN_GROUPS].parameters + SN_PARAMETER_LAW * SN_BLOCK + lane;
        groups[g].W = groups[g].C + SN_ELASTIC_COUNT * SN_BLOCK;
        groups[g].R = &R[g];
        groups[g].S = &S[g];
        sn_lanes energy = find_stress(&groups[g], own_axes);
        if (exact) find_turn(&groups[g]);
        if (want & SN_MATERIAL_ENERGY) sn_lanes_store(to->psi + lane, energy);
        if (want & SN_MATERIAL_STRESS) store_stress(to->P + lane, &groups[g], exact);
        if (exact && (want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED))) groups[g].theta = find_theta(&groups[g]);
    }
}

// The volume term may make an indefinite tangent definite, and the other way round.
static void add_volume(int want, const sn_material_block *in, const sn_material_result *out, group *groups, bool exact) {
    sn_mask bad[SN_GROUPS];
    sn_add_volume_term(want, in, out, false);
    if (!(want & SN_MATERIAL_PROJECTED) || !sn_find_indefinite(bad, out->H)) return;
    double definite[SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;
    sn_material_result to = {.H = definite};
    store_tangents(&to, groups, 1, exact, true);
    sn_add_volume_term(SN_MATERIAL_PROJECTED, in, &to, true);
    sn_replace_indefinite(out->H, definite, bad);
}

SN_INLINE void evaluate(const sn_material *material, int want, const sn_material_block *in, const sn_material_result *out,
                        int blocks, bool volume) {
    sn_lanes3 R[2 * SN_GROUPS];
    sn_lanes_sym3 S[2 * SN_GROUPS];
    group groups[2 * SN_GROUPS];
    bool exact = material->exact_rotation, projected = (want & SN_MATERIAL_PROJECTED) && !volume;
    bool fibres = false, tangents = want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED);
    for (int b = 0; b < blocks; b++) fibres |= sn_any_parameter(&in[b], SN_PARAMETER_FIBRE_STRESS);
    begin(groups, R, S, want, in, out, blocks, exact, material->own_axes);
    if (tangents && material->own_axes && out->form && !volume && !fibres) {
        store_forms(out, groups, blocks, exact, projected);
    } else if (tangents) {
        store_tangents(out, groups, blocks, exact, projected);
    }
    if (volume) add_volume(want, in, out, groups, exact);
    for (int b = 0; fibres && b < blocks; b++) sn_add_fibre(want, &in[b], &out[b]);
}

void SN_ISA_NAME(sn_evaluate_anisotropic)(const sn_material *material, int want, const sn_material_block *in,
                                          const sn_material_result *out) {
    evaluate(material, want, in, out, 1, sn_any_parameter(in, SN_PARAMETER_VOLUME));
}

void SN_ISA_NAME(sn_evaluate_anisotropic_pair)(const sn_material *material, int want, const sn_material_block *in,
                                               const sn_material_result *out) {
    if (sn_any_parameter(&in[0], SN_PARAMETER_VOLUME) || sn_any_parameter(&in[1], SN_PARAMETER_VOLUME)) {
        for (int b = 0; b < 2; b++) SN_ISA_NAME(sn_evaluate_anisotropic)(material, want, &in[b], &out[b]);
    } else {
        evaluate(material, want, in, out, 2, false);
    }
}
