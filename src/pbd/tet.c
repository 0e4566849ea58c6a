// One tet under strain-based position dynamics, in plain doubles: the reference for the kernel of
// project_simd.c. See tet.h for the formulas.
#include "pbd/tet.h"

#include "base/assert.h"

sn_mat3 sn_pbd_rest_matrix(const sn_vec3 X[4], sn_mat3 Q) {
    sn_mat3 Dm = sn_mat3_columns(sn_sub(X[1], X[0]), sn_sub(X[2], X[0]), sn_sub(X[3], X[0]));
    return sn_mat3_mul(sn_mat3_inverse(Dm), Q);
}

sn_mat3 sn_pbd_gradient(const sn_vec3 x[4], sn_mat3 B) {
    sn_mat3 Ds = sn_mat3_columns(sn_sub(x[1], x[0]), sn_sub(x[2], x[0]), sn_sub(x[3], x[0]));
    return sn_mat3_mul(Ds, B);
}

void sn_pbd_values(double c[SN_PBD_CONSTRAINTS], sn_mat3 G) {
    sn_vec3 g[3] = {sn_mat3_column(G, 0), sn_mat3_column(G, 1), sn_mat3_column(G, 2)};
    for (int i = 0; i < 3; i++) {
        c[i] = sn_length(g[i]) - 1;
        c[3 + i] = sn_dot(g[(i + 1) % 3], g[(i + 2) % 3]);
    }
    c[6] = sn_mat3_det(G) - 1;
}

static sn_mat3 with_columns(const sn_vec3 h[3]) {
    return sn_mat3_columns(h[0], h[1], h[2]);
}

sn_mat3 sn_pbd_value_gradient(int constraint, sn_mat3 G) {
    SN_ASSERT(constraint >= 0 && constraint < SN_PBD_CONSTRAINTS);
    sn_vec3 h[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (constraint == 6) {
        return sn_mat3_cofactor(G);
    }

    if (constraint < 3) {
        h[constraint] = sn_normalize(sn_mat3_column(G, constraint));
    } else {
        int i = (constraint + 1) % 3;
        int j = (constraint + 2) % 3;
        h[i] = sn_mat3_column(G, j);
        h[j] = sn_mat3_column(G, i);
    }

    return with_columns(h);
}

// With a = |h_i|, h_i = g_j x g_k, n = h_i/a and y = det G / a:
//
//   dy/dg_i = n,   dy/dg_j = (h_j - y g_k x n)/a,   dy/dg_k = (h_k - y n x g_j)/a
double sn_pbd_height(sn_mat3 *gradient, int axis, sn_mat3 G) {
    int i = axis;
    int j = (i + 1) % 3;
    int k = (i + 2) % 3;
    sn_mat3 H = sn_mat3_cofactor(G);
    sn_vec3 g_j = sn_mat3_column(G, j);
    sn_vec3 g_k = sn_mat3_column(G, k);
    sn_vec3 q[3];
    double a = sn_length(sn_mat3_column(H, i));
    double y = sn_mat3_det(G) / a;

    SN_ASSERT(a > 0);
    q[i] = sn_scale(1 / a, sn_mat3_column(H, i));
    q[j] = sn_scale(1 / a, sn_madd(sn_mat3_column(H, j), -y, sn_cross(g_k, q[i])));
    q[k] = sn_scale(1 / a, sn_madd(sn_mat3_column(H, k), -y, sn_cross(q[i], g_j)));
    *gradient = with_columns(q);

    return y;
}

// The shared state of one tet's projections: G, the impulses P, and A.
typedef struct state {
    sn_mat3 G, P, A;
    double softening;
} state;

// sum_ij A_ij h_i . h_j = (H A) : H
static double metric(const state *tet, sn_mat3 H) {
    return sn_mat3_contract(sn_mat3_mul(H, tet->A), H);
}

static void apply(state *tet, double s, sn_mat3 H) {
    tet->P = sn_mat3_add(tet->P, sn_mat3_scale(s, H));
    tet->G = sn_mat3_add(tet->G, sn_mat3_scale(s, sn_mat3_mul(H, tet->A)));
}

// A mirrored tet satisfies all stretches and shears, which would then hold it against its volume.
// So it is first made upright along the axis of smallest height (the largest opposite area),
// whatever its stiffness. Returns whether it is still inverted: stretch must then not push it
// further.
static bool make_upright(state *tet) {
    sn_mat3 H = sn_mat3_cofactor(tet->G);
    sn_mat3 gradient;
    int axis = 0;
    double area[3];

    for (int i = 0; i < 3; i++) {
        area[i] = sn_dot(sn_mat3_column(H, i), sn_mat3_column(H, i));
    }

    for (int i = 1; i < 3; i++) {
        axis = area[i] > area[axis] ? i : axis;
    }

    double y = sn_pbd_height(&gradient, axis, tet->G);
    apply(tet, (SN_PBD_UPRIGHT - y) / (metric(tet, gradient) + tet->softening), gradient);

    return sn_mat3_det(tet->G) < 0;
}

static void project_constraint(state *tet, int constraint, double stiffness, double *multiplier,
                               bool inverted) {
    double c[SN_PBD_CONSTRAINTS];
    sn_pbd_values(c, tet->G);

    sn_mat3 H = sn_pbd_value_gradient(constraint, tet->G);

    // The softening scales with the gradient it is added to, except for volume, whose gradient must
    // not vanish.
    double scale = constraint < 3 || constraint == 6 ? 1 : sn_mat3_contract(H, H);
    double denominator = metric(tet, H) + tet->softening * scale;
    double s;

    // The multiplier step of Macklin et al., or the plain fraction.
    if (multiplier) {
        s = -(c[constraint] + stiffness * *multiplier) / (denominator + stiffness + 1e-300);
    } else {
        s = -stiffness * c[constraint] / (denominator + 1e-300);
    }

    // An inverted tet must not be stretched further.
    if (constraint < 3 && inverted) {
        s = fmin(s, 0);
    }
    if (multiplier) {
        *multiplier += s;
    }

    apply(tet, s, H);
}

void sn_pbd_project(sn_vec3 x[4], const double w[4], sn_mat3 B,
                    const double stiffness[SN_PBD_CONSTRAINTS], double *multipliers) {
    double row[4][3];

    // The four rows of B.
    for (int i = 0; i < 3; i++) {
        for (int k = 1; k < 4; k++) {
            row[k][i] = B.m[k - 1][i];
        }
        row[0][i] = -(row[1][i] + row[2][i] + row[3][i]);
    }

    // G and A.
    state tet = {.G = sn_pbd_gradient(x, B)};
    for (int k = 0; k < 4; k++) {
        tet.A =
            sn_mat3_add(tet.A, sn_mat3_scale(w[k], sn_outer(sn_load3(row[k]), sn_load3(row[k]))));
    }

    // Project the constraints one after the other on G, then move the nodes once.
    tet.softening = SN_PBD_SOFTENING * sn_mat3_trace(tet.A);
    bool inverted = sn_mat3_det(tet.G) < 0 && make_upright(&tet);
    for (int i = 0; i < SN_PBD_CONSTRAINTS; i++) {
        project_constraint(&tet, i, stiffness[i], multipliers ? &multipliers[i] : NULL, inverted);
    }

    for (int k = 0; k < 4; k++) {
        x[k] = sn_madd(x[k], w[k], sn_mat3_apply(tet.P, sn_load3(row[k])));
    }
}
