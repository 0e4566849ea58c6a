// Anisotropic solids with corotational strain: psi = eps' C eps / 2, eps = S - I in Voigt form,
// F = R S.
//
// The stress sigma = C eps does not commute with S, so the change of R with F contributes. The
// differential of the polar rotation is the one of corotational_simd.c:
//
//   dR = R [omega],    omega = G^-1 a,    a = axial(A - A'),    A = R'dF,    G = tr(S) I - S
//   P  = R (sigma - [w]),    G w = axial(sigma S - S sigma)
//
// For the tangent let A = (eta, a), eta its symmetric part in Voigt form with engineering shear.
// Then d eps = eta - N omega, N e_k = sym([e_k] S), and the second variation of psi is
//
//   d eps' C d eps + 2 omega' Y d eps + omega' Theta omega
//   Y U   = -axial(sigma U - U sigma) + (tr(U) I - U) w
//   Theta = tr(sigma S) I - sym(sigma S) + sym([w] S)
//
// In the coordinates (eta, a) this is
//
//   K_ee = C,    K_ea = D G^-1,    K_aa = G^-1 B G^-1,    D = Y' - C N
//
// and, since subtracting the symmetric part of 2 Y N from Theta cancels w and half of the other
// terms,
//
//   B = N'C N + X,   omega' X omega = tr(sigma [omega] S [omega]')
//
// The Schur complement is G^-1 (B - D'C^-1 D) G^-1, and C is definite: H is semi-definite exactly
// if the 3x3 matrix in the middle is. Projection clamps the eigenvalues of that matrix, which for
// isotropic C is the eigenvalue clamp of H itself. C^-1 = W'W with W triangular is a parameter. In
// the axes of the material C and W have nine numbers each.
//
// Linear tets take H in the axes of R (SN_TANGENT_EXACT in material.h) and rotate their blocks
// instead.
//
// Without `exact_rotation` the rotation is taken as fixed, as in warped stiffness (Mueller et al.
// 2002): P = R sigma, H = R C R'.
//
// Cost: a polar decomposition and about 800 fused operations for H, 350 with the rotation fixed;
// 500 and none for the short forms for tets. Checked by: tests/material/test_anisotropic.c.
#include "material/elastic.h"
#include "material/kernels.h"
#include "math/lanes_polar.h"

// Where sigma2 + sigma3 nearly vanishes, R rotates arbitrarily fast with F; the rate is limited
// where det G / tr(S)^3 is below this bound.
static const double ridge = 1e-4;
// The same limit for projected tangents, in which 1/det G enters squared: below this det G (8 at
// rest), to keep the condition of the linear systems moderate.
static const double blunt_ridge = 0.05;

typedef struct group {
    const double *C, *W; // parameters, at the first lane
    const sn_lanes3 *R;
    const sn_lanes_sym3 *S;
    sn_lanes_sym3 inverse; // of G
    sn_lanes det;          // of G
    sn_lanes sigma[6], w[3];
    sn_lanes D[6][3];
    sn_lanes_sym3 B;
} group;

// Voigt indices by name
enum { XX, YY, ZZ, YZ, ZX, XY };

SN_INLINE sn_lanes stiffness(const group *g, int v, int u) {
    return sn_parameter(g->C, sn_sym6(v, u));
}

// sigma = C eps; returns the energy.
SN_INLINE sn_lanes find_stress(group *g, bool own_axes) {
    const sn_lanes_sym3 *S = g->S;
    const sn_lanes strain[6] = {S->xx - 1.0,   S->yy - 1.0,   S->zz - 1.0,
                                S->yz + S->yz, S->xz + S->xz, S->xy + S->xy};

    for (int v = 0; v < 6; v++) {
        if (own_axes && v >= YZ) {
            g->sigma[v] = stiffness(g, v, v) * strain[v];
            continue;
        }

        g->sigma[v] = stiffness(g, v, 0) * strain[0];
        for (int u = 1; u < (own_axes ? 3 : 6); u++) {
            g->sigma[v] += stiffness(g, v, u) * strain[u];
        }
    }

    return sn_elastic_energy(strain, g->sigma);
}

SN_INLINE void find_rotation_rate(group *g) {
    const sn_lanes_sym3 *S = g->S;
    const sn_lanes *s = g->sigma;
    sn_lanes_sym3 G = sn_lanes_pair_sums(S);
    sn_lanes_sym3 A = sn_lanes_sym3_adjugate(&G);
    sn_lanes trace = S->xx + S->yy + S->zz;
    sn_lanes det = sn_lanes_max(sn_lanes_sym3_det(&G, &A), ridge * trace * trace * trace);

    // The inverse of G. The bounds keep it finite where R is not unique.
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

// tr(sigma [omega] S [omega]') = omega' X omega: the adjugate of sigma + S minus those of sigma and
// S.
SN_INLINE sn_lanes_sym3 mixed_adjugate(const sn_lanes s[6], const sn_lanes_sym3 *S) {
    sn_lanes yz = s[YZ] * S->yz;
    sn_lanes zx = s[ZX] * S->xz;
    sn_lanes xy = s[XY] * S->xy;

    return (sn_lanes_sym3){
        s[YY] * S->zz + s[ZZ] * S->yy - 2.0 * yz,
        s[ZX] * S->yz + s[YZ] * S->xz - s[XY] * S->zz - s[ZZ] * S->xy,
        s[XY] * S->yz + s[YZ] * S->xy - s[ZX] * S->yy - s[YY] * S->xz,
        s[XX] * S->zz + s[ZZ] * S->xx - 2.0 * zx,
        s[XY] * S->xz + s[ZX] * S->xy - s[YZ] * S->xx - s[XX] * S->yz,
        s[XX] * S->yy + s[YY] * S->xx - 2.0 * xy,
    };
}

// Y' and N, six rows of three; the shear rows of Y' are halved for engineering strain. The entries
// (0, 0), (1, 1), (2, 2) of both are zero and left out of sums.
typedef struct variation {
    sn_lanes Y[6][3], N[6][3];
} variation;

SN_INLINE bool is_zero(int v, int k) {
    return v == k;
}

// Whether C and W have a zero at (v, u): in the material's own axes a shear couples to itself only.
SN_INLINE bool is_apart(int v, int u, bool own_axes) {
    return own_axes && v != u && (v >= YZ || u >= YZ);
}

SN_INLINE void find_stress_variation(variation *d, const group *g) {
    const sn_lanes *s = g->sigma;
    const sn_lanes *w = g->w;

    // The six entries of the shear part.
    sn_lanes x = s[YZ] + w[0];
    sn_lanes y = s[ZX] + w[1];
    sn_lanes z = s[XY] + w[2];
    sn_lanes u = s[YZ] - w[0];
    sn_lanes v = s[ZX] - w[1];
    sn_lanes t = s[XY] - w[2];

    // Rows of normal stresses.
    d->Y[XX][1] = y;
    d->Y[XX][2] = -t;
    d->Y[YY][0] = -u;
    d->Y[YY][2] = z;
    d->Y[ZZ][0] = x;
    d->Y[ZZ][1] = -v;

    // Rows of shear stresses.
    d->Y[YZ][0] = 0.5 * (s[YY] - s[ZZ]);
    d->Y[YZ][1] = -0.5 * z;
    d->Y[YZ][2] = 0.5 * v;
    d->Y[ZX][0] = 0.5 * t;
    d->Y[ZX][1] = 0.5 * (s[ZZ] - s[XX]);
    d->Y[ZX][2] = -0.5 * x;
    d->Y[XY][0] = -0.5 * y;
    d->Y[XY][1] = 0.5 * u;
    d->Y[XY][2] = 0.5 * (s[XX] - s[YY]);
}

SN_INLINE void find_strain_variation(variation *d, const group *g) {
    const sn_lanes_sym3 *S = g->S;
    d->N[XX][1] = S->xz;
    d->N[XX][2] = -S->xy;
    d->N[YY][0] = -S->yz;
    d->N[YY][2] = S->xy;
    d->N[ZZ][0] = S->yz;
    d->N[ZZ][1] = -S->xz;
    d->N[YZ][0] = S->yy - S->zz;
    d->N[YZ][1] = -S->xy;
    d->N[YZ][2] = S->xz;
    d->N[ZX][0] = S->xy;
    d->N[ZX][1] = S->zz - S->xx;
    d->N[ZX][2] = -S->yz;
    d->N[XY][0] = -S->xz;
    d->N[XY][1] = S->yz;
    d->N[XY][2] = S->xx - S->yy;
}

// Row v of Y' - C N, and the contribution of row v of N to N'C N.
SN_INLINE void find_difference_row(group *g, const variation *d, int v, bool own_axes) {
    // Row v of C N.
    sn_lanes CN[3] = {{0}};
    for (int u = 0; u < 6; u++) {
        if (is_apart(v, u, own_axes)) {
            continue;
        }

        sn_lanes C = stiffness(g, v, u);
        for (int k = 0; k < 3; k++) {
            if (!is_zero(u, k)) {
                CN[k] += C * d->N[u][k];
            }
        }
    }

    // Row v of D.
    for (int k = 0; k < 3; k++) {
        g->D[v][k] = is_zero(v, k) ? -CN[k] : d->Y[v][k] - CN[k];
    }

    // Its contribution to B.
    const sn_lanes *N = d->N[v];
    if (!is_zero(v, 0)) {
        g->B.xx += N[0] * CN[0];
        g->B.xy += N[0] * CN[1];
        g->B.xz += N[0] * CN[2];
    }

    if (!is_zero(v, 1)) {
        g->B.yy += N[1] * CN[1];
        g->B.yz += N[1] * CN[2];
    }

    if (!is_zero(v, 2)) {
        g->B.zz += N[2] * CN[2];
    }
}

SN_INLINE void find_differences_in(group *g, bool own_axes) {
    variation d;
    find_stress_variation(&d, g);
    find_strain_variation(&d, g);
    g->B = mixed_adjugate(g->sigma, g->S);
    find_difference_row(g, &d, 0, own_axes);
    find_difference_row(g, &d, 1, own_axes);
    find_difference_row(g, &d, 2, own_axes);
    find_difference_row(g, &d, 3, own_axes);
    find_difference_row(g, &d, 4, own_axes);
    find_difference_row(g, &d, 5, own_axes);
}

static void find_differences(group *g, bool own_axes) {
    if (own_axes) {
        find_differences_in(g, true);
    } else {
        find_differences_in(g, false);
    }
}

// Subtracts the square of row v of W D from Z.
SN_INLINE void subtract_row(sn_lanes_sym3 *Z, const group *g, int v, bool own_axes) {
    sn_lanes X[3] = {{0}};
    for (int u = 0; u <= v; u++) {
        if (is_apart(v, u, own_axes)) {
            continue;
        }

        sn_lanes W = sn_parameter(g->W, sn_sym6(u, v));
        for (int k = 0; k < 3; k++) {
            X[k] += W * g->D[u][k];
        }
    }

    // Z -= X'X
    Z->xx -= X[0] * X[0];
    Z->xy -= X[0] * X[1];
    Z->xz -= X[0] * X[2];
    Z->yy -= X[1] * X[1];
    Z->yz -= X[1] * X[2];
    Z->zz -= X[2] * X[2];
}

// B - D'C^-1 D
SN_INLINE sn_lanes_sym3 schur_complement(const group *g, bool own_axes) {
    sn_lanes_sym3 Z = g->B;
    subtract_row(&Z, g, 0, own_axes);
    subtract_row(&Z, g, 1, own_axes);
    subtract_row(&Z, g, 2, own_axes);
    subtract_row(&Z, g, 3, own_axes);
    subtract_row(&Z, g, 4, own_axes);
    subtract_row(&Z, g, 5, own_axes);

    return Z;
}

// Adds to B what makes the Schur complement semi-definite. 1/det G is limited where it is large: a
// congruence, which does not affect definiteness.
SN_INLINE void project(group *groups, int count, bool own_axes) {
    sn_lanes_sym3 Z[2 * SN_GROUPS];
    sn_lanes_spectrum spectrum[2 * SN_GROUPS];

    SN_KEEP_LOOP
    for (int g = 0; g < count; g++) {
        Z[g] = schur_complement(&groups[g], own_axes);
    }

    sn_groups_spectrum(spectrum, Z, count);
    SN_KEEP_LOOP
    for (int g = 0; g < count; g++) {
        // Clamp the eigenvalues by adding the deficit.
        sn_lanes_sym3 D = sn_lanes_semidefinite_deficit(&spectrum[g]);
        sn_lanes_sym3 *B = &groups[g].B;
        sn_lanes_sym3 *A = &groups[g].inverse;
        *B = (sn_lanes_sym3){B->xx + D.xx, B->xy + D.xy, B->xz + D.xz,
                             B->yy + D.yy, B->yz + D.yz, B->zz + D.zz};

        // Limit 1 / det G.
        sn_lanes s = sn_lanes_min(groups[g].det * (1 / blunt_ridge), sn_lanes_all(1));
        *A = (sn_lanes_sym3){s * A->xx, s * A->xy, s * A->xz, s * A->yy, s * A->yz, s * A->zz};
    }
}

// K_ea and K_aa
typedef struct coupling {
    sn_lanes ea[6][3];
    sn_lanes_sym3 aa;
} coupling;

SN_INLINE void find_coupling(coupling *K, const group *g) {
    const sn_lanes_sym3 *A = &g->inverse;
    const sn_lanes_sym3 *B = &g->B;

    // K_ea = D G^-1
    for (int v = 0; v < 6; v++) {
        const sn_lanes *d = g->D[v];
        K->ea[v][0] = d[0] * A->xx + d[1] * A->xy + d[2] * A->xz;
        K->ea[v][1] = d[0] * A->xy + d[1] * A->yy + d[2] * A->yz;
        K->ea[v][2] = d[0] * A->xz + d[1] * A->yz + d[2] * A->zz;
    }

    // K_aa = G^-1 B G^-1
    sn_lanes3 full = {{{B->xx, B->xy, B->xz}, {B->xy, B->yy, B->yz}, {B->xz, B->yz, B->zz}}};
    full = sn_lanes3_mul_sym(&full, A);
    K->aa = (sn_lanes_sym3){
        A->xx * full.m[0][0] + A->xy * full.m[1][0] + A->xz * full.m[2][0],
        A->xx * full.m[0][1] + A->xy * full.m[1][1] + A->xz * full.m[2][1],
        A->xx * full.m[0][2] + A->xy * full.m[1][2] + A->xz * full.m[2][2],
        A->xy * full.m[0][1] + A->yy * full.m[1][1] + A->yz * full.m[2][1],
        A->xy * full.m[0][2] + A->yy * full.m[1][2] + A->yz * full.m[2][2],
        A->xz * full.m[0][2] + A->yz * full.m[1][2] + A->zz * full.m[2][2],
    };
}

// H in the axes of R. Entry (i, j), i != j, of A counts in component 3 - i - j of a, positive if i
// follows j.
SN_INLINE void store_entry(double *H, int a, int b, sn_lanes value) {
    sn_lanes_store(H + sn_sym9(a, b) * SN_BLOCK, value);
}

// The indices of the positive and of the negative entry of shear v.
SN_INLINE int positive_index(int v) {
    return v == YZ ? 7 : v == ZX ? 2 : 3;
}

SN_INLINE int negative_index(int v) {
    return v == YZ ? 5 : v == ZX ? 6 : 1;
}

// The entries of the normal strain a with the other normal ones and with all shears.
SN_INLINE void store_normal(double *H, const group *g, const coupling *K, int a, bool own_axes) {
    for (int b = a; b < 3; b++) {
        store_entry(H, 4 * a, 4 * b, stiffness(g, a, b));
    }

    for (int u = YZ; u <= XY; u++) {
        sn_lanes e = K->ea[a][u - YZ];
        store_entry(H, 4 * a, positive_index(u), own_axes ? e : stiffness(g, a, u) + e);
        store_entry(H, 4 * a, negative_index(u), own_axes ? -e : stiffness(g, a, u) - e);
    }
}

// The entries of two shears.
SN_INLINE void store_shears(double *H, const group *g, const coupling *K, int v, int u, sn_lanes aa,
                            bool own_axes) {
    sn_lanes e = K->ea[v][u - YZ];
    sn_lanes f = K->ea[u][v - YZ];
    sn_lanes same = aa;
    sn_lanes other = -aa;
    sn_lanes sum = e + f;
    sn_lanes difference = e - f;

    if (!is_apart(v, u, own_axes)) {
        same = stiffness(g, v, u) + aa;
        other = stiffness(g, v, u) - aa;
    }

    store_entry(H, positive_index(v), positive_index(u), same + sum);
    store_entry(H, negative_index(v), negative_index(u), same - sum);
    store_entry(H, negative_index(v), positive_index(u), other + difference);
    if (v != u) {
        store_entry(H, positive_index(v), negative_index(u), other - difference);
    }
}

SN_INLINE void store_rotated(double *H, const group *g, bool own_axes) {
    coupling K;
    find_coupling(&K, g);
    store_normal(H, g, &K, 0, own_axes);
    store_normal(H, g, &K, 1, own_axes);
    store_normal(H, g, &K, 2, own_axes);
    store_shears(H, g, &K, YZ, YZ, K.aa.xx, own_axes);
    store_shears(H, g, &K, YZ, ZX, K.aa.xy, own_axes);
    store_shears(H, g, &K, YZ, XY, K.aa.xz, own_axes);
    store_shears(H, g, &K, ZX, ZX, K.aa.yy, own_axes);
    store_shears(H, g, &K, ZX, XY, K.aa.yz, own_axes);
    store_shears(H, g, &K, XY, XY, K.aa.zz, own_axes);
}

// H_(ij)(kl) = sum_ac R_ia R_kc K_(aj)(cl), for one pair of columns j <= l; K is C itself if the
// rotation is fixed.
SN_INLINE void store_tangent_columns(double *H, const group *g, const double *K, int j, int l) {
    sn_lanes3 X;
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++) {
            X.m[a][c] = K ? sn_lanes_load(K + sn_sym9(3 * a + j, 3 * c + l) * SN_BLOCK)
                          : stiffness(g, sn_voigt(a, j), sn_voigt(c, l));
        }
    }

    X = sn_lanes3_mul(g->R, &X);
    for (int i = 0; i < 3; i++) {
        for (int k = j == l ? i : 0; k < 3; k++) {
            sn_lanes sum =
                X.m[i][0] * g->R->m[k][0] + X.m[i][1] * g->R->m[k][1] + X.m[i][2] * g->R->m[k][2];
            store_entry(H, 3 * i + j, 3 * k + l, sum);
        }
    }
}

SN_INLINE void store_tangent(double *H, const group *g, const double *K) {
    store_tangent_columns(H, g, K, 0, 0);
    store_tangent_columns(H, g, K, 0, 1);
    store_tangent_columns(H, g, K, 0, 2);
    store_tangent_columns(H, g, K, 1, 1);
    store_tangent_columns(H, g, K, 1, 2);
    store_tangent_columns(H, g, K, 2, 2);
}

static void store_exact_tangent(double *H, const group *g) {
    double K[SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;
    store_rotated(K, g, false);
    store_tangent(H, g, K);
}

static void store_fixed_tangent(double *H, const group *g) {
    store_tangent(H, g, NULL);
}

// H of one block or two, without the volume term.
SN_INLINE void store_tangents(const sn_material_result *out, group *groups, int blocks, bool exact,
                              bool projected) {
    int count = blocks * SN_GROUPS;
    if (exact && projected) {
        project(groups, count, false);
    }

    SN_KEEP_LOOP
    for (int g = 0; g < count; g++) {
        double *H = out[g / SN_GROUPS].H + g % SN_GROUPS * SN_LANES;
        if (exact) {
            store_exact_tangent(H, &groups[g]);
        } else {
            store_fixed_tangent(H, &groups[g]);
        }
    }
}

// The shorter forms of tangents; see material.h.
static void store_exact_form(double *H, const group *g) {
    store_rotated(H, g, true);
    sn_lanes3_store(H + SN_ROTATION_R * SN_BLOCK, g->R);
}

static void store_held_form(double *H, const group *g) {
    for (int a = 0, place = 0; a < 3; a++) {
        for (int b = a; b < 3; b++, place++) {
            sn_lanes_store(H + (SN_HELD_NORMAL + place) * SN_BLOCK, stiffness(g, a, b));
        }
        sn_lanes_store(H + (SN_HELD_SHEAR + a) * SN_BLOCK, stiffness(g, YZ + a, YZ + a));
    }

    sn_lanes3_store(H + SN_ROTATION_R * SN_BLOCK, g->R);
}

SN_INLINE void store_forms(const sn_material_result *out, group *groups, int blocks, bool exact,
                           bool projected) {
    int count = blocks * SN_GROUPS;
    if (exact && projected) {
        project(groups, count, true);
    }

    SN_KEEP_LOOP
    for (int g = 0; g < count; g++) {
        double *H = out[g / SN_GROUPS].H + g % SN_GROUPS * SN_LANES;
        if (exact) {
            store_exact_form(H, &groups[g]);
        } else {
            store_held_form(H, &groups[g]);
        }
    }

    for (int b = 0; b < blocks; b++) {
        *out[b].form = exact ? SN_TANGENT_EXACT : SN_TANGENT_HELD;
    }
}

// Rotations, stresses and everything requested except tangents, for one block or two.
SN_INLINE void begin(group *groups, sn_lanes3 *R, sn_lanes_sym3 *S, int want,
                     const sn_material_block *in, const sn_material_result *out, int blocks,
                     bool exact, bool own_axes) {
    sn_lanes3 F[2 * SN_GROUPS];
    int count = blocks * SN_GROUPS;

    // F = R S
    SN_KEEP_LOOP
    for (int g = 0; g < count; g++) {
        F[g] = sn_lanes3_load(in[g / SN_GROUPS].F + g % SN_GROUPS * SN_LANES);
    }

    sn_groups_polar(R, S, F, count);
    SN_KEEP_LOOP
    for (int g = 0; g < count; g++) {
        const sn_material_result *to = &out[g / SN_GROUPS];
        int lane = g % SN_GROUPS * SN_LANES;

        // Parameters of the law: C, then W.
        groups[g].C = in[g / SN_GROUPS].parameters + SN_PARAMETER_LAW * SN_BLOCK + lane;
        groups[g].W = groups[g].C + SN_ELASTIC_COUNT * SN_BLOCK;
        groups[g].R = &R[g];
        groups[g].S = &S[g];

        // Stress, and whatever else is requested.
        sn_lanes energy = find_stress(&groups[g], own_axes);
        if (exact) {
            find_rotation_rate(&groups[g]);
        }
        if (want & SN_MATERIAL_ENERGY) {
            sn_lanes_store(to->psi + lane, energy);
        }
        if (want & SN_MATERIAL_STRESS) {
            store_stress(to->P + lane, &groups[g], exact);
        }
        if (exact && (want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED))) {
            find_differences(&groups[g], own_axes);
        }
    }
}

// The volume term may make an indefinite tangent definite, and the other way round, so the sum is
// projected.
static void add_volume(int want, const sn_material_block *in, const sn_material_result *out,
                       group *groups, bool exact) {
    sn_mask bad[SN_GROUPS];
    sn_add_volume_term(want, in, out, false);
    if (!(want & SN_MATERIAL_PROJECTED) || !sn_find_indefinite(bad, out->H)) {
        return;
    }

    double definite[SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;
    sn_material_result to = {.H = definite};

    store_tangents(&to, groups, 1, exact, true);
    sn_add_volume_term(SN_MATERIAL_PROJECTED, in, &to, true);
    sn_replace_indefinite(out->H, definite, bad);
}

SN_INLINE void evaluate(const sn_material *material, int want, const sn_material_block *in,
                        const sn_material_result *out, int blocks, bool volume) {
    sn_lanes3 R[2 * SN_GROUPS];
    sn_lanes_sym3 S[2 * SN_GROUPS];
    group groups[2 * SN_GROUPS];
    bool exact = material->exact_rotation;
    bool projected = (want & SN_MATERIAL_PROJECTED) && !volume;
    bool fibres = false;
    bool tangents = want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED);

    for (int b = 0; b < blocks; b++) {
        fibres |= sn_any_parameter(&in[b], SN_PARAMETER_FIBRE_STRESS);
    }

    // Short forms where the caller accepts them and no other term has to be added.
    begin(groups, R, S, want, in, out, blocks, exact, material->own_axes);
    if (tangents && material->own_axes && out->form && !volume && !fibres) {
        store_forms(out, groups, blocks, exact, projected);
    } else if (tangents) {
        store_tangents(out, groups, blocks, exact, projected);
    }

    if (volume) {
        add_volume(want, in, out, groups, exact);
    }

    if (fibres) {
        for (int b = 0; b < blocks; b++) {
            sn_add_fibre(want, &in[b], &out[b]);
        }
    }
}

void SN_ISA_NAME(sn_evaluate_anisotropic)(const sn_material *material, int want,
                                          const sn_material_block *in,
                                          const sn_material_result *out) {
    evaluate(material, want, in, out, 1, sn_any_parameter(in, SN_PARAMETER_VOLUME));
}

void SN_ISA_NAME(sn_evaluate_anisotropic_pair)(const sn_material *material, int want,
                                               const sn_material_block *in,
                                               const sn_material_result *out) {
    if (sn_any_parameter(&in[0], SN_PARAMETER_VOLUME) ||
        sn_any_parameter(&in[1], SN_PARAMETER_VOLUME)) {
        for (int b = 0; b < 2; b++) {
            SN_ISA_NAME(sn_evaluate_anisotropic)(material, want, &in[b], &out[b]);
        }
    } else {
        evaluate(material, want, in, out, 2, false);
    }
}
