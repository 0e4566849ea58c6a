// The geometric stiffness P : d2F of dual quaternion blending, in lanes; included by rigid_simd.c
// alone.
//
// F is a rational function of b0, c = sum w q and the gradients of both (frame/blend/dualquat.h),
// quadratic over |b0|^2 and linear in the gradients, so its second derivative in the motions (dp,
// dq) of two nodes is a form with few coefficients, sums over the columns S_k = V P e_k of the
// stress; there is no term between dq and dq. With S_i = sum_k dw_i,k S_k, w = w_i w_j and Z = w_j
// S_i + w_i S_j - 2 w T it sends the motion (p', q') of node j to
//
//   p_s: w (6 Theta p_s' + 2 a0 p_s' + 2 a1.p' + 4 T.q') - 2 w_i g_j - 2 w c0 p_s'
//        + 2 Z.q' - 4 w_j S_i.q'
//   p  : w (-2 (Theta + a0) p' + 2 M p' + 2 (a1 - c1) p_s' - 4 N'q') - 2 (q_s' Z + Z x q')
//   q  : p_s' (-2 w c2 - 4 w_j S_i - 4 w_i S_j + 2 Z + 4 w T) - 2 p' x Z - 4 w N p'
//   q_s: -2 w c3 p_s' - 2 Z.p'
//
//   with g_j = w_j (c0 p_s' + c1.p' + c2.q' + c3 q_s') + 2 S_j.q'
//
// A node's own motion is of second order too: along (w, t) its p and q bend so that, with L = (L_p,
// L_q) the first derivative in p and q and z = L_q p*, the form gains
// -(L_p.p + L_q.q) |w|^2 / 4 + (t x w).z / 2 - (t.w) z_s / 2.
#ifndef SN_FRAME_BLEND_RIGID_GEOMETRIC_H
#define SN_FRAME_BLEND_RIGID_GEOMETRIC_H

#include "frame/blend/rigid_lanes.h"

typedef struct geometric_sums {
    sn_lanes theta, a0, c0, c3;
    sn_lanes_vec a1, c1, c2, T;
    sn_lanes_vec M[3], N[3]; // columns
} geometric_sums;

// The coefficients; `sample` holds P_k, Q_k,s and R_k as rigid_simd.c keeps them.
SN_INLINE geometric_sums sum_geometric(const sn_lanes_vec S[3], const sn_lanes_vec F[3],
                                       const double *sample) {
    geometric_sums g = {0};
    for (int k = 0; k < 3; k++) {
        sn_lanes_quat P = sn_lanes_quat_load(sample + 4 * k * SN_BLOCK);
        sn_lanes_vec R = sn_lanes_load3(sample + (15 + 3 * k) * SN_BLOCK);
        sn_lanes_vec P_vec = {P.x, P.y, P.z};
        sn_lanes Q_s = sn_lanes_load(sample + (12 + k) * SN_BLOCK);
        sn_lanes minus_two = sn_lanes_all(-2);

        // Terms with one factor of stress.
        g.theta += sn_lanes_dot3(S[k], F[k]);
        g.a0 += sn_lanes_dot3(S[k], R);
        g.a1 = sn_lanes_add3(g.a1, sn_lanes_cross3(R, S[k]));
        g.c1 = sn_lanes_add3(g.c1, sn_lanes_cross3(sn_lanes_add3(R, F[k]), S[k]));
        g.c1 = sn_lanes_madd3(g.c1, -2.0 * Q_s, S[k]);
        g.T = sn_lanes_madd3(g.T, P.w, S[k]);
        g.c2 = sn_lanes_madd3(g.c2, minus_two,
                              sn_lanes_madd3(sn_lanes_cross3(P_vec, S[k]), P.w, S[k]));
        g.c3 -= 2.0 * sn_lanes_dot3(S[k], P_vec);

        // Matrices M = sum S R' + R S' and N = sum S P', column by column.
        const sn_lanes R_parts[3] = {R.x, R.y, R.z};
        const sn_lanes S_parts[3] = {S[k].x, S[k].y, S[k].z};
        const sn_lanes P_parts[3] = {P.x, P.y, P.z};

        for (int j = 0; j < 3; j++) {
            g.M[j] = sn_lanes_madd3(sn_lanes_madd3(g.M[j], S_parts[j], R), R_parts[j], S[k]);
            g.N[j] = sn_lanes_madd3(g.N[j], P_parts[j], S[k]);
        }
    }

    g.c0 = g.a0 + g.theta;
    return g;
}

// Columns of a node's map: for w = e_a, p = e_a p / 2 and q = (e_a q + (e_a x d) p) / 2; for
// t = e_a, q = e_a p / 2.
SN_INLINE void find_geometric_map(double *map, sn_lanes_quat p, sn_lanes_quat q, sn_lanes_vec d) {
    sn_lanes zero = {0};
    sn_lanes half = sn_lanes_all(0.5);
    const sn_lanes_vec axes[3] = {{half, zero, zero}, {zero, half, zero}, {zero, zero, half}};
    const sn_lanes_quat none = {zero, zero, zero, zero};

    for (int a = 0; a < 3; a++) {
        sn_lanes_quat turned = sn_lanes_quat_mul_vec(axes[a], p);
        sn_lanes_quat moved =
            sn_lanes_quat_add(sn_lanes_quat_mul_vec(axes[a], q),
                              sn_lanes_quat_mul_vec(sn_lanes_cross3(axes[a], d), p));
        sn_lanes_quat columns[2][2] = {{turned, moved}, {none, turned}};

        for (int c = 0; c < 2; c++) {
            for (int part = 0; part < 2; part++) {
                double *out = map + (8 * (a + 3 * c) + 4 * part) * SN_LANES;
                sn_lanes_store(out, columns[c][part].x);
                sn_lanes_store(out + SN_LANES, columns[c][part].y);
                sn_lanes_store(out + 2 * SN_LANES, columns[c][part].z);
                sn_lanes_store(out + 3 * SN_LANES, columns[c][part].w);
            }
        }
    }
}

typedef struct geometric_node {
    sn_lanes w;
    sn_lanes_vec S; // sum_k dw_k S_k
} geometric_node;

// The form applied to a motion (p, q) of node j: out[8] as p, p_s, q, q_s of node i.
SN_INLINE void apply_geometric(sn_lanes out[8], const geometric_sums *g, const geometric_node *i,
                               const geometric_node *j, const double *column) {
    sn_lanes_vec p = {sn_lanes_load(column), sn_lanes_load(column + SN_LANES),
                      sn_lanes_load(column + 2 * SN_LANES)};
    sn_lanes p_s = sn_lanes_load(column + 3 * SN_LANES);
    const double *next = column + 4 * SN_LANES;
    sn_lanes_vec q = {sn_lanes_load(next), sn_lanes_load(next + SN_LANES),
                      sn_lanes_load(next + 2 * SN_LANES)};
    sn_lanes q_s = sn_lanes_load(next + 3 * SN_LANES);

    // What both nodes share.
    sn_lanes w = i->w * j->w;
    sn_lanes two = sn_lanes_all(2);
    sn_lanes_vec Z = sn_lanes_madd3(sn_lanes_scale3(j->w, i->S), i->w, j->S);
    sn_lanes_vec both = Z;

    Z = sn_lanes_madd3(Z, -2.0 * w, g->T);
    sn_lanes slope =
        j->w * (g->c0 * p_s + sn_lanes_dot3(g->c1, p) + sn_lanes_dot3(g->c2, q) + g->c3 * q_s) +
        2.0 * sn_lanes_dot3(j->S, q);

    // The scalar part of p.
    out[3] = w * ((6.0 * g->theta + 2.0 * g->a0 - 2.0 * g->c0) * p_s +
                  2.0 * sn_lanes_dot3(g->a1, p) + 4.0 * sn_lanes_dot3(g->T, q)) -
             2.0 * i->w * slope + 2.0 * sn_lanes_dot3(Z, q) - 4.0 * j->w * sn_lanes_dot3(i->S, q);

    // The vector part of p.
    sn_lanes_vec to_p = sn_lanes_scale3(-2.0 * (g->theta + g->a0), p);
    to_p = sn_lanes_madd3(sn_lanes_madd3(to_p, 2.0 * p_s, g->a1), -2.0 * p_s, g->c1);
    to_p = sn_lanes_madd3(to_p, 2.0 * p.x, g->M[0]);
    to_p = sn_lanes_madd3(sn_lanes_madd3(to_p, 2.0 * p.y, g->M[1]), 2.0 * p.z, g->M[2]);

    sn_lanes_vec turned = {sn_lanes_dot3(g->N[0], q), sn_lanes_dot3(g->N[1], q),
                           sn_lanes_dot3(g->N[2], q)};

    to_p = sn_lanes_scale3(w, sn_lanes_madd3(to_p, sn_lanes_all(-4), turned));
    to_p = sn_lanes_madd3(sn_lanes_madd3(to_p, -2.0 * q_s, Z), -two, sn_lanes_cross3(Z, q));

    // Both parts of q; q enters the energy linearly, so it meets only p.
    sn_lanes_vec to_q = sn_lanes_madd3(sn_lanes_scale3(-2.0 * w, g->c2), sn_lanes_all(-4), both);
    to_q = sn_lanes_scale3(p_s, sn_lanes_madd3(sn_lanes_madd3(to_q, two, Z), 4.0 * w, g->T));
    to_q = sn_lanes_madd3(to_q, -two, sn_lanes_cross3(p, Z));

    sn_lanes_vec N_p =
        sn_lanes_madd3(sn_lanes_madd3(sn_lanes_scale3(p.x, g->N[0]), p.y, g->N[1]), p.z, g->N[2]);

    to_q = sn_lanes_madd3(to_q, -4.0 * w, N_p);
    out[0] = to_p.x;
    out[1] = to_p.y;
    out[2] = to_p.z;
    out[4] = to_q.x;
    out[5] = to_q.y;
    out[6] = to_q.z;
    out[7] = -2.0 * w * g->c3 * p_s - 2.0 * sn_lanes_dot3(Z, p);
}

// The contribution of the node's own motion: diagonal * I between w and w, (-[axis]x + scalar I)
// between t (rows) and w (columns).
SN_INLINE void bend_geometric(sn_lanes *diagonal, sn_lanes_quat *between, const geometric_sums *g,
                              const geometric_node *node, sn_lanes_quat p, sn_lanes_quat q) {
    sn_lanes w = node->w;
    sn_lanes_vec to_q = sn_lanes_madd3(sn_lanes_scale3(sn_lanes_all(2), node->S), w, g->c2);
    sn_lanes_quat L_q = {to_q.x, to_q.y, to_q.z, w * g->c3};
    sn_lanes_quat L_p = {w * g->c1.x, w * g->c1.y, w * g->c1.z, w * (g->c0 - 2.0 * g->theta)};
    *diagonal = -0.25 * (sn_lanes_quat_dot(L_p, p) + sn_lanes_quat_dot(L_q, q));
    *between = sn_lanes_quat_scale(sn_lanes_all(0.25), sn_lanes_quat_mul_conjugate(L_q, p));
    between->w = -between->w;
}

#endif
