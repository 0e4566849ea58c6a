// Variations, with w' = R_m' w and t' = R_m' t for the rates w, t of a frame, n = phi / |phi| and a = |phi|:
//
//   dphi = A (w_j' - w_i'),   A = n n' + (a/2) / sin(a/2) (I - n n')
//   w_m' = (w_i' + w_j') / 2 + T (w_j' - w_i'),   T = -tan(a/4) / (2 a) [phi]x
//   du   = t_j' - t_i' + w_j' x r_j' - w_i' x r_i' + u x w_m'
//
// The rotation half-way is R_i exp(phi / 2); A and T follow from the derivative of the exponential, whose part across n is a
// turn by half the angle times sin(a/2) / (a/2).
#include "frame/springs.h"

#include "linalg/dense.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

// What a joint looks like at a configuration, vectors in the axes half-way.
typedef struct joint {
    sn_mat3 R;        // R_m
    sn_vec3 phi, u;   // the gap
    sn_vec3 ri, rj;   // r_i', r_j'
    double across;    // (a/2) / sin(a/2), A's part across n
    double bend;      // tan(a/4) / (2 a)
    double turn_part; // (1 - across) / a^2: A = across I + turn_part phi phi'
} joint;

// The quaternions run on continuously, so that a turn of up to 360 degrees is told from the shorter one the other way.
static joint measure(const sn_nodes *nodes, const sn_spring *spring, const double *q) {
    const double *a = q + nodes->items[spring->i].config, *b = q + nodes->items[spring->j].config;
    sn_quat qi = {a[0], a[1], a[2], a[3]}, qj = {b[0], b[1], b[2], b[3]}, r = sn_quat_mul(sn_quat_conjugate(qi), qj);
    sn_vec3 axis = {r.x, r.y, r.z};
    double s = sn_length(axis), cosine = sqrt(fmax(0.5 * (1 + r.w), 1e-12)); // sin(a/2), cos(a/4)
    sn_vec3 sine = sn_scale(0.5 / cosine, axis);                             // sin(a/4) n
    joint out;
    out.R = sn_quat_to_mat3(sn_quat_mul(qi, (sn_quat){sine.x, sine.y, sine.z, cosine}));
    sn_vec3 ri = sn_quat_rotate(qi, spring->li), rj = sn_quat_rotate(qj, spring->lj);
    out.u = sn_mat3_apply_transposed(out.R, sn_sub(sn_add(sn_load3(b + 4), rj), sn_add(sn_load3(a + 4), ri)));
    out.ri = sn_mat3_apply_transposed(out.R, ri);
    out.rj = sn_mat3_apply_transposed(out.R, rj);
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

// Adds the forces of a joint whose generalised stress is (K phi part, K u part) = (g, p), in the axes half-way.
static void add_force(const sn_nodes *nodes, const sn_spring *spring, const joint *j, sn_vec3 g, sn_vec3 p, double *force) {
    // dW = (A g - T's).(w_j' - w_i') + p.(t_j' - t_i') + w_j'.(r_j' x p) - w_i'.(r_i' x p) - s.(w_i' + w_j') / 2, s = u x p
    sn_vec3 s = sn_cross(j->u, p);
    sn_vec3 h = sn_sub(apply_A(j, g), sn_scale(j->bend, sn_cross(j->phi, s))); // T' = bend [phi]x
    sn_vec3 half = sn_scale(0.5, s);
    sn_vec3 torque_i = sn_add(sn_add(h, sn_cross(j->ri, p)), half), torque_j = sn_sub(half, sn_add(h, sn_cross(j->rj, p)));
    sn_vec3 push = sn_mat3_apply(j->R, p);
    double *i_rows = force + 3 * nodes->items[spring->i].row, *j_rows = force + 3 * nodes->items[spring->j].row;
    sn_add_to3(i_rows, sn_mat3_apply(j->R, torque_i));
    sn_add_to3(i_rows + 3, push);
    sn_add_to3(j_rows, sn_mat3_apply(j->R, torque_j));
    sn_add_to3(j_rows + 3, sn_scale(-1, push));
}

static void add_turned(double *matrix, int32_t slot, sn_mat3 R, sn_mat3 B, double sign) {
    sn_mat3 block = sn_mat3_mul(sn_mat3_mul(R, B), sn_mat3_transpose(R));
    double *out = matrix + 9 * (size_t)slot;
    for (int e = 0; e < 9; e++) out[e] += sign * block.m[e / 3][e % 3];
}

static void add_plain(double *matrix, int32_t slot, sn_mat3 block, double sign) {
    double *out = matrix + 9 * (size_t)slot;
    for (int e = 0; e < 9; e++) out[e] += sign * block.m[e / 3][e % 3];
}

// J'KJ: with the turn of a frame, (dphi, du) = (sigma A, Y); with its shift, (0, sigma I), sigma = -1 for i and 1 for j.
static void add_matrix(const sn_spring *spring, const joint *j, sn_mat3 P, sn_mat3 Q, sn_mat3 U, double *matrix) {
    sn_mat3 A =
        sn_mat3_add(sn_mat3_scale(j->across, sn_mat3_identity()), sn_mat3_scale(j->turn_part, sn_outer(j->phi, j->phi)));
    // [u]x (I/2 +- T), T = -bend [phi]x
    sn_mat3 u = sn_cross_matrix(j->u), uT = sn_mat3_scale(-j->bend, sn_mat3_mul(u, sn_cross_matrix(j->phi)));
    sn_mat3 half = sn_mat3_scale(0.5, u);
    sn_mat3 Yi = sn_mat3_add(sn_cross_matrix(j->ri), sn_mat3_sub(half, uT));
    sn_mat3 Yj = sn_mat3_sub(sn_mat3_add(half, uT), sn_cross_matrix(j->rj));
    sn_mat3 PA = sn_mat3_mul(P, A), QA = sn_mat3_mul(sn_mat3_transpose(Q), A);
    // Stress by turning a frame: turn part v, shift part w.
    sn_mat3 vi = sn_mat3_sub(sn_mat3_mul(Q, Yi), PA), wi = sn_mat3_sub(sn_mat3_mul(U, Yi), QA);
    sn_mat3 vj = sn_mat3_add(sn_mat3_mul(Q, Yj), PA), wj = sn_mat3_add(sn_mat3_mul(U, Yj), QA);
    sn_mat3 YiT = sn_mat3_transpose(Yi), YjT = sn_mat3_transpose(Yj);
    const int32_t *slot = spring->slot;
    sn_mat3 turned_U = sn_mat3_mul(sn_mat3_mul(j->R, U), sn_mat3_transpose(j->R));
    add_turned(matrix, slot[0], j->R, sn_mat3_sub(sn_mat3_mul(YiT, wi), sn_mat3_mul(A, vi)), 1);
    sn_mat3 Wi = sn_mat3_mul(sn_mat3_mul(j->R, wi), sn_mat3_transpose(j->R));
    add_plain(matrix, slot[1], Wi, -1); // shift i, turn i
    add_plain(matrix, slot[2], turned_U, 1);
    add_turned(matrix, slot[3], j->R, sn_mat3_add(sn_mat3_mul(YjT, wi), sn_mat3_mul(A, vi)), 1); // turn j, turn i
    sn_mat3 Wj = sn_mat3_mul(sn_mat3_mul(j->R, wj), sn_mat3_transpose(j->R));
    add_plain(matrix, slot[4], sn_mat3_transpose(Wj), -1); // turn j, shift i
    add_turned(matrix, slot[5], j->R, sn_mat3_add(sn_mat3_mul(YjT, wj), sn_mat3_mul(A, vj)), 1);
    add_plain(matrix, slot[6], Wi, 1);        // shift j, turn i
    add_plain(matrix, slot[7], turned_U, -1); // shift j, shift i
    add_plain(matrix, slot[8], Wj, 1);        // shift j, turn j
    add_plain(matrix, slot[9], turned_U, 1);
}

double sn_springs_evaluate(const sn_nodes *nodes, const sn_springs *springs, const sn_springs_request *request) {
    double energy = 0;
    for (int32_t k = 0; k < springs->count; k++) {
        const sn_spring *spring = &springs->items[k];
        joint j = measure(nodes, spring, request->q);
        sn_vec3 g = sn_add(sn_mat3_apply(spring->P, j.phi), sn_mat3_apply(spring->Q, j.u));
        sn_vec3 p = sn_add(sn_mat3_apply_transposed(spring->Q, j.phi), sn_mat3_apply(spring->U, j.u));
        energy += 0.5 * (sn_dot(g, j.phi) + sn_dot(p, j.u));
        if (request->force) add_force(nodes, spring, &j, g, p, request->force);
        if (!request->matrix) continue;
        if (request->projected)
            add_matrix(spring, &j, spring->safe_P, spring->safe_Q, spring->safe_U, request->matrix);
        else
            add_matrix(spring, &j, spring->P, spring->Q, spring->U, request->matrix);
    }
    return energy;
}

// --- set-up

static bool is_coupled(const sn_nodes *nodes, const sn_bsr *pattern, int32_t i, int32_t j) {
    return sn_bsr_find(pattern, nodes->items[j].row, nodes->items[i].row) >= 0;
}

static void find_slots(const sn_nodes *nodes, const sn_bsr *pattern, sn_spring *spring) {
    int32_t i = nodes->items[spring->i].row, j = nodes->items[spring->j].row;
    const int32_t rows[4] = {i, i + 1, j, j + 1};
    for (int r = 0, k = 0; r < 4; r++) {
        for (int c = 0; c <= r; c++) {
            spring->slot[k] = sn_bsr_find(pattern, rows[r], rows[c]);
            SN_ASSERT(spring->slot[k] >= 0);
            k++;
        }
    }
}

sinew_status sn_springs_create(sn_arena *arena, const sn_nodes *nodes, const sn_bsr *pattern, const double *stiffness,
                               sn_springs **out) {
    int32_t count = 0;
    for (int32_t j = 0; j < nodes->count; j++) {
        SN_ASSERT(nodes->items[j].kind == SINEW_NODE_RIGID);
        for (int32_t i = 0; i < j; i++) count += is_coupled(nodes, pattern, i, j);
    }
    sn_springs *springs = SN_PUSH(arena, sn_springs, 1);
    sn_spring *items = SN_PUSH(arena, sn_spring, count);
    SN_TRY(sn_arena_status(arena));
    *springs = (sn_springs){.count = count, .items = items};
    for (int32_t j = 0, next = 0; j < nodes->count; j++) {
        for (int32_t i = 0; i < j; i++) {
            if (!is_coupled(nodes, pattern, i, j)) continue;
            sn_spring *spring = &items[next++];
            sn_vec3 Xi = nodes->items[i].origin, Xj = nodes->items[j].origin, m = sn_scale(0.5, sn_add(Xi, Xj));
            *spring = (sn_spring){.i = i, .j = j, .li = sn_sub(m, Xi), .lj = sn_sub(m, Xj)};
            find_slots(nodes, pattern, spring);
        }
    }
    *out = springs;
    return sn_springs_compute(arena->context, nodes, pattern, stiffness, springs);
}

static void split(const double K[36], sn_mat3 *P, sn_mat3 *Q, sn_mat3 *U) {
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            P->m[r][c] = K[6 * r + c];
            Q->m[r][c] = K[6 * r + 3 + c];
            U->m[r][c] = K[6 * (r + 3) + 3 + c];
        }
    }
}

// D(l): [l]x below a diagonal of ones. It takes the motion of the joint to that of a frame from which the joint is seen at l.
static void displacement(sn_vec3 l, double D[6][6]) {
    sn_mat3 cross = sn_cross_matrix(l);
    memset(D, 0, sizeof(double[6][6]));
    for (int r = 0; r < 6; r++) D[r][r] = 1;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) D[3 + r][c] = cross.m[r][c];
    }
}

// K of a joint: minus the symmetric part of D(l_j)' B D(l_i), B the block (j, i) of the stiffness, turns before shifts.
static void compute_joint(const double *stiffness, sn_spring *spring) {
    const int32_t at[2][2] = {{spring->slot[3], spring->slot[4]}, {spring->slot[6], spring->slot[7]}};
    double Di[6][6], Dj[6][6], M[6][6] = {{0}}, K[36], safe[36];
    displacement(spring->li, Di);
    displacement(spring->lj, Dj);
    for (int k = 0; k < 6; k++) {
        for (int l = 0; l < 6; l++) {
            double B = stiffness[9 * (size_t)at[k / 3][l / 3] + (size_t)(3 * (k % 3) + l % 3)];
            for (int r = 0; r < 6; r++) {
                for (int c = 0; c < 6; c++) M[r][c] += Dj[k][r] * B * Di[l][c];
            }
        }
    }
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 6; c++) K[6 * r + c] = -0.5 * (M[r][c] + M[c][r]);
    }
    memcpy(safe, K, sizeof safe);
    sn_clamp_semidefinite(safe, 6);
    split(K, &spring->P, &spring->Q, &spring->U);
    split(safe, &spring->safe_P, &spring->safe_Q, &spring->safe_U);
}

// Lower triangle of the springs' stiffness at rest.
static void rest_stiffness(const sn_nodes *nodes, const sn_springs *springs, double *q, double *matrix) {
    sn_nodes_place(nodes, q, sn_quat_identity(), sn_v3(0, 0, 0));
    sn_springs_request request = {.q = q, .matrix = matrix};
    sn_springs_evaluate(nodes, springs, &request);
}

// The Frobenius norm of A, or of A - B, of which the lower triangles are given.
static double norm_of(const sn_bsr *pattern, const double *A, const double *B) {
    double sum = 0;
    for (int32_t row = 0; row < pattern->rows; row++) {
        for (int32_t k = pattern->starts[row]; k <= pattern->diagonal[row]; k++) {
            double block = 0;
            for (size_t e = 9 * (size_t)k; e < 9 * (size_t)k + 9; e++) {
                double value = A[e] - (B ? B[e] : 0);
                block += value * value;
            }
            sum += k == pattern->diagonal[row] ? block : 2 * block;
        }
    }
    return sqrt(sum);
}

// Whether the whole matrix (lower triangle given) has an eigenvalue below zero by more than rounding.
static bool is_indefinite(sinew_context *context, const sn_bsr *pattern, double *matrix, double *dense) {
    size_t n = 3 * (size_t)pattern->rows;
    double largest = 0;
    sn_bsr_mirror(context, pattern, matrix);
    sn_bsr_to_dense(pattern, dense, matrix);
    for (size_t i = 0; i < n; i++) largest = fmax(largest, dense[i * n + i]);
    for (size_t i = 0; i < n; i++) dense[i * n + i] += 1e-8 * largest;
    return sn_dense_cholesky(dense, (int32_t)n, (int32_t)n) >= 0;
}

sinew_status sn_springs_compute(sinew_context *context, const sn_nodes *nodes, const sn_bsr *pattern, const double *stiffness,
                                sn_springs *springs) {
    size_t n = 3 * (size_t)pattern->rows;
    sn_arena scratch = sn_arena_create(context);
    double *q = SN_PUSH(&scratch, double, nodes->config_count), *matrix = sn_bsr_push_values(&scratch, pattern);
    double *dense = SN_PUSH(&scratch, double, n *n);
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        for (int32_t k = 0; k < springs->count; k++) compute_joint(stiffness, &springs->items[k]);
        rest_stiffness(nodes, springs, q, matrix);
        springs->clamped = is_indefinite(context, pattern, matrix, dense);
        if (springs->clamped) { // would fly apart: give up what makes it so
            for (int32_t k = 0; k < springs->count; k++) {
                sn_spring *spring = &springs->items[k];
                spring->P = spring->safe_P, spring->Q = spring->safe_Q, spring->U = spring->safe_U;
            }
        }
        sn_bsr_set_zero(context, pattern, matrix);
        rest_stiffness(nodes, springs, q, matrix);
        double size = norm_of(pattern, stiffness, NULL);
        springs->difference = size > 0 ? norm_of(pattern, matrix, stiffness) / size : 0;
    }
    sn_arena_destroy(&scratch);
    return status;
}
