// Evaluation of the springs at a configuration: energy, forces and stiffness, spring by spring.
// Built for each instruction set, for its fused multiply-adds.
//
// Variations, with w' = R_m' w and t' = R_m' t for the rates w, t of a frame, n = phi / |phi| and
// a = |phi|:
//
//   dphi = A (w_j' - w_i'),   A = n n' + (a/2) / sin(a/2) (I - n n')
//   w_m' = (w_i' + w_j') / 2 + T (w_j' - w_i'),   T = -tan(a/4) / (2 a) [phi]x
//   du   = t_j' - t_i' + w_j' x r_j' - w_i' x r_i' + u x w_m'
//
// The half-way rotation is R_i exp(phi / 2). A and T follow from the derivative of the exponential,
// whose part across n is a rotation by half the angle times sin(a/2) / (a/2).
#include "frame/springs/springs.h"

#include "math/simd.h"

#include <math.h>

// A joint at a configuration; vectors in the half-way axes.
typedef struct joint {
    sn_mat3 R;        // R_m
    sn_vec3 phi, u;   // the gap
    sn_vec3 ri, rj;   // r_i', r_j'
    double across;    // (a/2) / sin(a/2), A's part across n
    double bend;      // tan(a/4) / (2 a)
    double turn_part; // (1 - across) / a^2: A = across I + turn_part phi phi'
} joint;

// The quaternions are continuous in time, which distinguishes a rotation of up to 360 degrees from
// the shorter one in the other direction.
static joint measure(const sn_nodes *nodes, const sn_spring *spring, const double *q) {
    const double *a = q + nodes->items[spring->i].config;
    const double *b = q + nodes->items[spring->j].config;
    sn_quat qi = {a[0], a[1], a[2], a[3]};
    sn_quat qj = {b[0], b[1], b[2], b[3]};

    // The axes of the joint rotate by half the relative rotation, whose quaternion is (s n, cos
    // a/2).
    sn_quat r = sn_quat_mul(sn_quat_conjugate(qi), qj);
    sn_vec3 axis = {r.x, r.y, r.z};
    double s = sn_length(axis);
    double cosine = sqrt(fmax(0.5 * (1 + r.w), 1e-12)); // sin(a/2), cos(a/4)
    sn_vec3 sine = sn_scale(0.5 / cosine, axis);        // sin(a/4) n
    joint out;

    out.R = sn_quat_to_mat3(sn_quat_mul(qi, (sn_quat){sine.x, sine.y, sine.z, cosine}));

    // The gap u between the two ends, in the axes of the joint.
    sn_vec3 ri = sn_quat_rotate(qi, spring->li);
    sn_vec3 rj = sn_quat_rotate(qj, spring->lj);

    out.u = sn_mat3_apply_transposed(
        out.R, sn_sub(sn_add(sn_load3(b + 4), rj), sn_add(sn_load3(a + 4), ri)));
    out.ri = sn_mat3_apply_transposed(out.R, ri);
    out.rj = sn_mat3_apply_transposed(out.R, rj);

    // Coefficients of the rotation vector and of its derivative.
    if (s < 1e-3 && r.w > 0) { // series in sin(a/2), exact to rounding
        double square = s * s;

        out.across = 1 + square / 6 + 3 * square * square / 40;
        out.turn_part = -1.0 / 24 + square / 1440;
        out.bend = 1.0 / 8 + square / 96;
    } else {
        double angle = 2 * atan2(s, r.w);
        out.across = 0.5 * angle / s;
        out.turn_part = (1 - out.across) / (angle * angle);
        out.bend = s / (2 * angle * (1 + fmax(r.w, -1 + 1e-9)));
    }
    out.phi = sn_scale(2 * out.across, axis);

    return out;
}

static sn_vec3 apply_A(const joint *j, sn_vec3 v) {
    return sn_madd(sn_scale(j->across, v), j->turn_part * sn_dot(j->phi, v), j->phi);
}

// Adds the forces of a joint whose generalised stress is (K phi part, K u part) = (g, p), in the
// half-way axes.
static void add_force(const sn_nodes *nodes, const sn_spring *spring, const joint *j, sn_vec3 g,
                      sn_vec3 p, double *force) {
    // dW = (A g - T's).(w_j' - w_i') + p.(t_j' - t_i') + w_j'.(r_j' x p)
    //      - w_i'.(r_i' x p) - s.(w_i' + w_j') / 2,   s = u x p
    sn_vec3 s = sn_cross(j->u, p);
    sn_vec3 h = sn_sub(apply_A(j, g), sn_scale(j->bend, sn_cross(j->phi, s))); // T' = bend [phi]x
    sn_vec3 half = sn_scale(0.5, s);
    sn_vec3 torque_i = sn_add(sn_add(h, sn_cross(j->ri, p)), half);
    sn_vec3 torque_j = sn_sub(half, sn_add(h, sn_cross(j->rj, p)));
    sn_vec3 push = sn_mat3_apply(j->R, p);
    double *i_rows = force + 3 * nodes->items[spring->i].row;
    double *j_rows = force + 3 * nodes->items[spring->j].row;

    sn_add_to3(i_rows, sn_mat3_apply(j->R, torque_i));
    sn_add_to3(i_rows + 3, push);
    sn_add_to3(j_rows, sn_mat3_apply(j->R, torque_j));
    sn_add_to3(j_rows + 3, sn_scale(-1, push));
}

static void add_block(double *matrix, int32_t slot, sn_mat3 block, double sign) {
    double *out = matrix + 9 * (size_t)slot;
    for (int e = 0; e < 9; e++) {
        out[e] += sign * block.m[e / 3][e % 3];
    }
}

// The blocks of K in world axes, and the effect of the frames' rotations there.
typedef struct world_joint {
    sn_mat3 P, Q, U;
    sn_mat3 Yi, Yj; // du for a rotation of the frame
    sn_vec3 phi;
    double across, turn_part;
} world_joint;

static sn_mat3 turn_block(sn_mat3 R, sn_mat3 B) {
    return sn_mat3_mul(sn_mat3_mul(R, B), sn_mat3_transpose(R));
}

static world_joint turn_joint(const joint *j, const sn_spring_stiffness *K) {
    world_joint w = {turn_block(j->R, K->P), turn_block(j->R, K->Q), turn_block(j->R, K->U),
                     .across = j->across, .turn_part = j->turn_part};
    sn_vec3 u = sn_mat3_apply(j->R, j->u);
    sn_vec3 half = sn_scale(0.5, u);
    sn_vec3 ri = sn_mat3_apply(j->R, j->ri);
    sn_vec3 rj = sn_mat3_apply(j->R, j->rj);

    w.phi = sn_mat3_apply(j->R, j->phi);

    // [u]x (I/2 +- T), T = -bend [phi]x, with [u]x [phi]x = phi u' - (u . phi) I
    sn_mat3 uT = sn_mat3_scale(-j->bend, sn_outer(w.phi, u));
    double trace = j->bend * sn_dot(u, w.phi);

    for (int k = 0; k < 3; k++) {
        uT.m[k][k] += trace;
    }

    w.Yi = sn_mat3_sub(sn_cross_matrix(sn_add(ri, half)), uT);
    w.Yj = sn_mat3_add(sn_cross_matrix(sn_sub(half, rj)), uT);

    return w;
}

// B A and A B, with A = across I + turn_part phi phi'.
static sn_mat3 times_A(const world_joint *w, sn_mat3 B) {
    sn_vec3 along = sn_scale(w->turn_part, sn_mat3_apply(B, w->phi));
    return sn_mat3_add(sn_mat3_scale(w->across, B), sn_outer(along, w->phi));
}

static sn_mat3 A_times(const world_joint *w, sn_mat3 B) {
    sn_vec3 along = sn_scale(w->turn_part, sn_mat3_apply_transposed(B, w->phi));
    return sn_mat3_add(sn_mat3_scale(w->across, B), sn_outer(w->phi, along));
}

// Adds J'KJ. A rotation of a frame gives (dphi, du) = (sigma A, Y), its translation (0, sigma I),
// with sigma = -1 for i and 1 for j.
static void add_matrix(const sn_spring *spring, const joint *j, const sn_spring_stiffness *K,
                       double *matrix) {
    world_joint w = turn_joint(j, K);
    sn_mat3 PA = times_A(&w, w.P);
    sn_mat3 QA = times_A(&w, sn_mat3_transpose(w.Q));

    // Stress for a rotation of a frame: rotation part v, translation part s.
    sn_mat3 vi = sn_mat3_sub(sn_mat3_mul(w.Q, w.Yi), PA);
    sn_mat3 si = sn_mat3_sub(sn_mat3_mul(w.U, w.Yi), QA);
    sn_mat3 vj = sn_mat3_add(sn_mat3_mul(w.Q, w.Yj), PA);
    sn_mat3 sj = sn_mat3_add(sn_mat3_mul(w.U, w.Yj), QA);
    sn_mat3 YiT = sn_mat3_transpose(w.Yi);
    sn_mat3 YjT = sn_mat3_transpose(w.Yj);
    sn_mat3 Avi = A_times(&w, vi);
    const int32_t *slot = spring->slot;

    add_block(matrix, slot[0], sn_mat3_sub(sn_mat3_mul(YiT, si), Avi), 1);
    add_block(matrix, slot[1], si, -1); // translation i, rotation i
    add_block(matrix, slot[2], w.U, 1);
    add_block(matrix, slot[3], sn_mat3_add(sn_mat3_mul(YjT, si), Avi), 1); // rotation j, rotation i
    add_block(matrix, slot[4], sn_mat3_transpose(sj), -1); // rotation j, translation i
    add_block(matrix, slot[5], sn_mat3_add(sn_mat3_mul(YjT, sj), A_times(&w, vj)), 1);
    add_block(matrix, slot[6], si, 1);   // translation j, rotation i
    add_block(matrix, slot[7], w.U, -1); // translation j, translation i
    add_block(matrix, slot[8], sj, 1);   // translation j, rotation j
    add_block(matrix, slot[9], w.U, 1);
}

// Subtracts b(s) of a weak direction from the energy, and its derivative from the stress (g, p).
// Returns b''.
static double weaken(const sn_spring_weakness *weak, const joint *j, sn_vec3 *g, sn_vec3 *p,
                     double *energy) {
    double s = sn_dot(weak->rotation, j->phi) + sn_dot(weak->translation, j->u);
    double share = s * s * weak->inverse_limit;
    double factor = 1 / (1 + share);
    double slope = s * factor * factor;

    *energy -= 0.5 * s * s * factor;
    *g = sn_madd(*g, -slope, weak->rotation);
    *p = sn_madd(*p, -slope, weak->translation);
    return (1 - 3 * share) * factor * factor * factor;
}

// K -= b'' e e'
static void weaken_stiffness(const sn_spring_weakness *weak, double curvature,
                             sn_spring_stiffness *K) {
    sn_vec3 turn = sn_scale(curvature, weak->rotation);
    sn_vec3 shift = sn_scale(curvature, weak->translation);
    K->P = sn_mat3_sub(K->P, sn_outer(turn, weak->rotation));
    K->Q = sn_mat3_sub(K->Q, sn_outer(turn, weak->translation));
    K->U = sn_mat3_sub(K->U, sn_outer(shift, weak->translation));
}

double SN_ISA_NAME(sn_springs_evaluate)(const sn_nodes *nodes, const sn_springs *springs,
                                        const sn_springs_request *request) {
    double energy = 0;
    for (int32_t k = 0; k < springs->count; k++) {
        const sn_spring *spring = &springs->items[k];
        sn_spring_stiffness K = spring->strong;
        joint j = measure(nodes, spring, request->q);

        // Moment g and force p: (g, p) = K (phi, u), and the energy is half their work.
        sn_vec3 g = sn_add(sn_mat3_apply(K.P, j.phi), sn_mat3_apply(K.Q, j.u));
        sn_vec3 p = sn_add(sn_mat3_apply_transposed(K.Q, j.phi), sn_mat3_apply(K.U, j.u));
        energy += 0.5 * (sn_dot(g, j.phi) + sn_dot(p, j.u));

        // Directions in which K is negative are bounded, so that energy has a minimum.
        for (int32_t w = 0; w < spring->weak_count; w++) {
            double curvature = weaken(&spring->weak[w], &j, &g, &p, &energy);
            if (request->matrix && (!request->projected || curvature < 0)) {
                weaken_stiffness(&spring->weak[w], curvature, &K);
            }
        }

        if (request->force) {
            add_force(nodes, spring, &j, g, p, request->force);
        }
        if (request->matrix) {
            add_matrix(spring, &j, &K, request->matrix);
        }
    }

    return energy;
}
