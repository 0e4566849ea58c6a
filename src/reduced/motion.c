// Mass, gyroscopic forces, momenta and free motion of a reduced body.
//
// A point has r = R d, d = X - c + U y, and the velocity v + w x r + R U y'. Everything follows
// from integrals of products of the fields X - c and U_k, which are constant: with the rows
// (rotation, translation, coordinates) and a_k = integral of rho d x U_k,
//
//       | R J R'        [R m]       R a_k     |    m, s_k: integrals of rho d and rho U_k
//   M = | [R m]'        mass I      R s_k     |
//       | (R a_k)'      (R s_k)'    U_k . U_l |
//
// The gyroscopic force is minus the integral of rho (dx/d row)' (w x (w x r) + 2 w x R U y'). The
// rotation of a free body needs none: it begins a step with the free motion of a rigid body and
// ends it with the angular velocity that has the right angular momentum in the new configuration.
// As elastic forces act on the coordinates alone, momentum is conserved to rounding. Modal warping
// keeps the inertia of the fields that are not warped; gravity acts on the warped shape.
//
// Cost: size^2 products.
#include "reduced/model.h"

#include <string.h>

enum { MIDPOINT_ITERATIONS = 50 };

static sn_mat3 *second_of(const sn_reduced_inertia *inertia, int32_t a, int32_t b) {
    return &inertia->second[(size_t)a * (size_t)(inertia->size + 1) + (size_t)b];
}

// The vector of the antisymmetric part: integral of a x b from that of a b'.
static sn_vec3 axial(const sn_mat3 *A) {
    return sn_v3(A->m[1][2] - A->m[2][1], A->m[2][0] - A->m[0][2], A->m[0][1] - A->m[1][0]);
}

// Field a at node i: X - c or U_k.
static sn_vec3 field_at(const sn_reduced_model *model, int32_t a, int32_t i) {
    if (a == 0) {
        return sn_sub(sn_load3(model->full.mesh.points + 3 * (size_t)i), model->center);
    }
    size_t size = (size_t)model->size;
    return sn_load3(model->U + 3 * ((size_t)i * size + (size_t)(a - 1)));
}

sinew_status sn_reduced_inertia_create(sn_arena *arena, sn_reduced_model *model) {
    sn_reduced_inertia *inertia = &model->inertia;
    size_t fields = (size_t)model->size + 1;
    *inertia = (sn_reduced_inertia){.size = model->size,
                                    .first = SN_PUSH(arena, sn_vec3, fields),
                                    .second = SN_PUSH(arena, sn_mat3, fields * fields),
                                    .mixed = SN_PUSH(arena, sn_mat3, model->size),
                                    .y = SN_PUSH(arena, double, model->size)};
    SN_TRY(sn_arena_status(arena));
    sn_reduced_inertia_fill(model);
    return SINEW_OK;
}

void sn_reduced_inertia_fill(sn_reduced_model *model) {
    sn_reduced_inertia *inertia = &model->inertia;
    sinew_body *full = &model->full;
    int32_t nodes = full->mesh.point_count;
    double *field = full->q;
    double *product = model->full_v;

    inertia->mass = 0;
    inertia->known = false;
    for (int32_t i = 0; i < nodes; i++) {
        inertia->mass += full->row_mass[i];
    }

    // M times each field, then its products with the others.
    for (int32_t b = 0; b <= model->size; b++) {
        for (int32_t i = 0; i < nodes; i++) {
            sn_store3(field + 3 * (size_t)i, field_at(model, b, i));
        }
        sn_body_multiply_mass(full, product, field, full->rest);

        inertia->first[b] = sn_v3(0, 0, 0);
        for (int32_t a = 0; a <= model->size; a++) {
            *second_of(inertia, a, b) = (sn_mat3){{{0}}};
        }
        for (int32_t i = 0; i < nodes; i++) {
            sn_vec3 p = sn_load3(product + 3 * (size_t)i);
            inertia->first[b] = sn_add(inertia->first[b], p);
            for (int32_t a = 0; a <= model->size; a++) {
                sn_mat3 *sum = second_of(inertia, a, b);
                *sum = sn_mat3_add(*sum, sn_outer(field_at(model, a, i), p));
            }
        }
    }
}

void sn_reduced_inertia_update(sn_reduced_inertia *inertia, const double *y) {
    int32_t size = inertia->size;
    if (inertia->known && memcmp(inertia->y, y, (size_t)size * sizeof *y) == 0) {
        return;
    }
    inertia->known = true;
    memcpy(inertia->y, y, (size_t)size * sizeof *y);
    inertia->moment = inertia->first[0];
    for (int32_t k = 0; k < size; k++) {
        inertia->moment = sn_madd(inertia->moment, y[k], inertia->first[k + 1]);
    }

    // Integral of rho d phi_b' for each field, of which spread is the sum.
    inertia->spread = (sn_mat3){{{0}}};
    for (int32_t b = 0; b <= size; b++) {
        sn_mat3 sum = *second_of(inertia, 0, b);
        for (int32_t a = 0; a < size; a++) {
            sum = sn_mat3_add(sum, sn_mat3_scale(y[a], *second_of(inertia, a + 1, b)));
        }
        if (b > 0) {
            inertia->mixed[b - 1] = sum;
        }
        double factor = b == 0 ? 1 : y[b - 1];
        inertia->spread = sn_mat3_add(inertia->spread, sn_mat3_scale(factor, sum));
    }

    double trace = sn_mat3_trace(inertia->spread);
    inertia->J = sn_mat3_sub(sn_mat3_scale(trace, sn_mat3_identity()), inertia->spread);
}

// The integrals at a configuration, and its rotation.
static sn_reduced_inertia *inertia_at(const sinew_body *body, const double *q, sn_mat3 *R) {
    sn_reduced_model *model = body->model;
    *R = sn_quat_to_mat3(sn_reduced_rotation(q));
    sn_reduced_inertia_update(&model->inertia, q + SN_REDUCED_COORDINATES);
    return &model->inertia;
}

static sn_mat3 sandwich(sn_mat3 R, sn_mat3 A) {
    return sn_mat3_mul(R, sn_mat3_mul(A, sn_mat3_transpose(R)));
}

// Adds s times a 3x3 block; the pattern has all pairs of rows.
static void add_block(const sn_bsr *pattern, double *matrix, int32_t row, int32_t column, double s,
                      sn_mat3 A) {
    double *block = matrix + 9 * (size_t)sn_bsr_find(pattern, row, column);
    for (int i = 0; i < 9; i++) {
        block[i] += s * A.m[i / 3][i % 3];
    }
}

void sn_reduced_add_mass(sinew_body *body, const sn_bsr *pattern, double *matrix, double s,
                         const double *q) {
    sn_mat3 R;
    const sn_reduced_inertia *inertia = inertia_at(body, q, &R);
    add_block(pattern, matrix, 0, 0, s, sandwich(R, inertia->J));
    add_block(pattern, matrix, 1, 0, -s, sn_cross_matrix(sn_mat3_apply(R, inertia->moment)));
    add_block(pattern, matrix, 1, 1, s * inertia->mass, sn_mat3_identity());

    for (int32_t i = 0; i < inertia->size / 3; i++) {
        // Three coordinates at a time against the frame, and against those before them.
        sn_vec3 turns[3], moves[3];
        for (int32_t k = 0; k < 3; k++) {
            turns[k] = sn_mat3_apply(R, axial(&inertia->mixed[3 * i + k]));
            moves[k] = sn_mat3_apply(R, inertia->first[3 * i + k + 1]);
        }

        int32_t row = SN_REDUCED_FRAME_ROWS + i;
        add_block(pattern, matrix, row, 0, s,
                  sn_mat3_transpose(sn_mat3_columns(turns[0], turns[1], turns[2])));
        add_block(pattern, matrix, row, 1, s,
                  sn_mat3_transpose(sn_mat3_columns(moves[0], moves[1], moves[2])));
        for (int32_t j = 0; j <= i; j++) {
            sn_mat3 products;
            for (int k = 0; k < 9; k++) {
                const sn_mat3 *N = second_of(inertia, 3 * i + k / 3 + 1, 3 * j + k % 3 + 1);
                products.m[k / 3][k % 3] = sn_mat3_trace(*N);
            }
            add_block(pattern, matrix, row, SN_REDUCED_FRAME_ROWS + j, s, products);
        }
    }
}

// Angular momentum about t, and momentum, at the velocities v.
typedef struct momentum {
    sn_vec3 L, P;
} momentum;

static momentum find_momentum(const sn_reduced_inertia *inertia, sn_mat3 R, const double *v) {
    const double *rates = v + 3 * SN_REDUCED_FRAME_ROWS;
    sn_vec3 w = sn_mat3_apply_transposed(R, sn_load3(v));
    sn_vec3 u = sn_mat3_apply_transposed(R, sn_load3(v + 3));
    sn_vec3 L = sn_add(sn_mat3_apply(inertia->J, w), sn_cross(inertia->moment, u));
    sn_vec3 P = sn_add(sn_scale(inertia->mass, u), sn_cross(w, inertia->moment));
    for (int32_t k = 0; k < inertia->size; k++) {
        L = sn_madd(L, rates[k], axial(&inertia->mixed[k]));
        P = sn_madd(P, rates[k], inertia->first[k + 1]);
    }
    return (momentum){sn_mat3_apply(R, L), sn_mat3_apply(R, P)};
}

void sn_reduced_multiply_mass(sinew_body *body, double *y, const double *x, const double *q) {
    sn_mat3 R;
    const sn_reduced_inertia *inertia = inertia_at(body, q, &R);
    momentum frame = find_momentum(inertia, R, x);
    sn_vec3 w = sn_mat3_apply_transposed(R, sn_load3(x));
    sn_vec3 u = sn_mat3_apply_transposed(R, sn_load3(x + 3));
    sn_store3(y, frame.L);
    sn_store3(y + 3, frame.P);

    const double *rates = x + 3 * SN_REDUCED_FRAME_ROWS;
    for (int32_t k = 0; k < inertia->size; k++) {
        double sum = sn_dot(w, axial(&inertia->mixed[k])) + sn_dot(u, inertia->first[k + 1]);
        for (int32_t l = 0; l < inertia->size; l++) {
            sum += rates[l] * sn_mat3_trace(*second_of(inertia, k + 1, l + 1));
        }
        y[3 * SN_REDUCED_FRAME_ROWS + k] = sum;
    }
}

// Centrifugal and Coriolis forces, in the axes of the frame.
static void add_gyroscopic(const sinew_body *body, const sn_reduced_inertia *inertia, sn_mat3 R,
                           const double *v, double *force) {
    const double *rates = v + 3 * SN_REDUCED_FRAME_ROWS;
    sn_vec3 w = sn_mat3_apply_transposed(R, sn_load3(v));
    double square = sn_dot(w, w);
    if (square == 0) {
        return;
    }

    // Integrals of rho d U' and rho U, both with the rates.
    sn_mat3 mixed = {{{0}}};
    sn_vec3 drift = {0, 0, 0};
    for (int32_t k = 0; k < inertia->size; k++) {
        mixed = sn_mat3_add(mixed, sn_mat3_scale(rates[k], inertia->mixed[k]));
        drift = sn_madd(drift, rates[k], inertia->first[k + 1]);
    }

    // U_k . (w x (w x d)) + 2 U_k . (w x U y') for each coordinate.
    for (int32_t k = 0; k < inertia->size; k++) {
        const sn_mat3 *D = &inertia->mixed[k];
        sn_vec3 turn = {0, 0, 0};
        for (int32_t l = 0; l < inertia->size; l++) {
            turn = sn_madd(turn, rates[l], axial(second_of(inertia, l + 1, k + 1)));
        }
        double bias = sn_dot(w, sn_mat3_apply(*D, w)) - square * sn_mat3_trace(*D);
        force[3 * SN_REDUCED_FRAME_ROWS + k] -= bias + 2 * sn_dot(w, turn);
    }

    if (body->moves_freely) {
        return;
    }
    sn_vec3 torque = sn_sub(sn_scale(sn_mat3_trace(mixed), w), sn_mat3_apply_transposed(mixed, w));
    torque = sn_madd(sn_cross(w, sn_mat3_apply(inertia->J, w)), 2, torque);
    sn_vec3 push = sn_cross(w, sn_madd(sn_cross(w, inertia->moment), 2, drift));
    sn_add_to3(force, sn_scale(-1, sn_mat3_apply(R, torque)));
    sn_add_to3(force + 3, sn_scale(-1, sn_mat3_apply(R, push)));
}

void sn_reduced_add_gravity(sinew_body *body, double *force, const double *g, const double *q,
                            const double *v) {
    sn_mat3 R;
    const sn_reduced_inertia *inertia = inertia_at(body, q, &R);
    sn_vec3 own = sn_mat3_apply_transposed(R, sn_load3(g));
    sn_add_to3(force, sn_mat3_apply(R, sn_cross(inertia->moment, own)));
    sn_add_to3(force + 3, sn_scale(inertia->mass, sn_load3(g)));
    for (int32_t k = 0; k < inertia->size; k++) {
        force[3 * SN_REDUCED_FRAME_ROWS + k] += sn_dot(own, inertia->first[k + 1]);
    }
    const sn_reduced_model *model = body->model;
    if (model->turn && sn_dot(own, own) > 0) {
        sn_reduced_add_warped_weight(body, q, sn_load3(g), force);
    }
    if (v) {
        add_gyroscopic(body, inertia, R, v, force);
    }
}

void sn_reduced_add_momenta(sinew_body *body, const double *g, sinew_measures *measures) {
    double *product = body->scratch;
    sn_reduced_multiply_mass(body, product, body->v, body->q);
    sn_mat3 R;
    const sn_reduced_inertia *inertia = inertia_at(body, body->q, &R);
    sn_vec3 t = sn_load3(body->q + SN_REDUCED_TRANSLATION);
    sn_vec3 center = sn_madd(sn_mat3_apply(R, inertia->moment), inertia->mass, t);
    sn_vec3 P = sn_load3(product + 3);

    for (int32_t i = 0; i < sn_body_size(body); i++) {
        measures->kinetic_energy += 0.5 * product[i] * body->v[i];
    }
    measures->mass += inertia->mass;
    measures->gravity_energy -= sn_dot(sn_load3(g), center);
    const sn_reduced_model *model = body->model;
    if (model->turn) {
        measures->gravity_energy += sn_reduced_add_warped_weight(body, body->q, sn_load3(g), NULL);
    }
    sn_add_to3(measures->momentum, P);
    sn_add_to3(measures->angular_momentum, sn_add(sn_load3(product), sn_cross(t, P)));
}

// theta = h J^-1 L with the inertia half-way, in the axes of the frame, in which only L rotates.
static sn_vec3 find_free_rotation(const sn_reduced_inertia *inertia, sn_mat3 R, sn_vec3 w,
                                  double h) {
    sn_mat3 solver = sn_mat3_inverse(inertia->J);
    sn_vec3 own = sn_mat3_apply_transposed(R, w);
    sn_vec3 L = sn_mat3_apply(inertia->J, own);
    sn_vec3 theta = sn_scale(h, own);

    for (int i = 0; i < MIDPOINT_ITERATIONS; i++) {
        sn_quat half = sn_quat_exp(sn_scale(-0.5, theta));
        sn_vec3 next = sn_scale(h, sn_mat3_apply(solver, sn_quat_rotate(half, L)));
        double change = sn_distance(next, theta);
        theta = next;
        if (!(change > 1e-15 * sn_length(theta))) {
            break;
        }
    }
    return sn_mat3_apply(R, theta);
}

// The centre of mass moves along a line; the frame rotates about it.
static void find_step(const sinew_body *body, double *xi, double h) {
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        xi[i] = h * body->v[i];
    }

    sn_mat3 R;
    const sn_reduced_inertia *inertia = inertia_at(body, body->q, &R);
    sn_vec3 w = sn_load3(body->v);
    sn_vec3 theta = find_free_rotation(inertia, R, w, h);
    sn_vec3 arm = sn_scale(1 / inertia->mass, sn_mat3_apply(R, inertia->moment));
    sn_vec3 rotated = sn_quat_rotate(sn_quat_exp(theta), arm);
    sn_vec3 center = sn_scale(h, sn_add(sn_load3(body->v + 3), sn_cross(w, arm)));
    sn_store3(xi, theta);
    sn_store3(xi + 3, sn_add(center, sn_sub(arm, rotated)));
}

// The frame's velocities that have a momentum at the integrals given, with the rates in v.
static void find_frame_velocity(const sn_reduced_inertia *inertia, sn_mat3 R, momentum p,
                                const double *v, double *frame) {
    const double *rates = v + 3 * SN_REDUCED_FRAME_ROWS;
    sn_vec3 L = sn_mat3_apply_transposed(R, p.L);
    sn_vec3 P = sn_mat3_apply_transposed(R, p.P);
    for (int32_t k = 0; k < inertia->size; k++) {
        L = sn_madd(L, -rates[k], axial(&inertia->mixed[k]));
        P = sn_madd(P, -rates[k], inertia->first[k + 1]);
    }

    // About the centre of mass, which lies at `arm` from t.
    sn_vec3 arm = sn_scale(1 / inertia->mass, inertia->moment);
    sn_mat3 cross = sn_cross_matrix(arm);
    sn_mat3 about =
        sn_mat3_add(inertia->J, sn_mat3_scale(inertia->mass, sn_mat3_mul(cross, cross)));
    sn_vec3 w = sn_mat3_apply(sn_mat3_inverse(about), sn_sub(L, sn_cross(arm, P)));
    sn_vec3 u = sn_sub(sn_scale(1 / inertia->mass, P), sn_cross(w, arm));
    sn_store3(frame, sn_mat3_apply(R, w));
    sn_store3(frame + 3, sn_mat3_apply(R, u));
}

static void set_momentum(const sn_reduced_inertia *inertia, sn_mat3 R, momentum p, double *v) {
    find_frame_velocity(inertia, R, p, v, v);
}

static void transport_velocity(const sinew_body *body, double *v, const double *from,
                               const double *mean) {
    sn_mat3 R;
    const sn_reduced_inertia *inertia = inertia_at(body, from, &R);
    momentum p = find_momentum(inertia, R, v);
    sn_vec3 P = find_momentum(inertia, R, mean).P;

    // Angular momentum about t, which itself moves.
    sn_vec3 displacement =
        sn_sub(sn_load3(body->q + SN_REDUCED_TRANSLATION), sn_load3(from + SN_REDUCED_TRANSLATION));
    p.L = sn_sub(p.L, sn_cross(displacement, P));
    set_momentum(inertia_at(body, body->q, &R), R, p, v);
}

static void transport_acceleration(const sinew_body *body, double *a, const double *from) {
    sn_mat3 R;
    momentum force = find_momentum(inertia_at(body, from, &R), R, a);
    set_momentum(inertia_at(body, body->q, &R), R, force, a);
}

// Solves theta = d/3 + 2h/3 w with the angular velocity w that has the momentum p at the end.
static sn_vec3 find_bdf2_rotation(const sn_reduced_inertia *inertia, const double *q, momentum p,
                                  const double *mixed, sn_vec3 d, double h) {
    sn_vec3 theta = d;
    double frame[3 * SN_REDUCED_FRAME_ROWS];
    for (int i = 0; i < MIDPOINT_ITERATIONS; i++) {
        sn_quat end = sn_quat_mul(sn_quat_exp(theta), sn_reduced_rotation(q));
        find_frame_velocity(inertia, sn_quat_to_mat3(end), p, mixed, frame);
        sn_vec3 next = sn_madd(sn_scale(1.0 / 3, d), 2 * h / 3, sn_load3(frame));
        double change = sn_distance(next, theta);
        theta = next;
        if (!(change > 1e-15 * sn_length(theta))) {
            break;
        }
    }
    return theta;
}

// BDF2: the momentum of the step is 4/3 of the last one less a third of the one before, and
// xi = d/3 + 2h/3 v with d the last step and v the velocity at its end that has this momentum.
static void find_bdf2_step(const sinew_body *body, double *xi, double *mixed, double h) {
    sn_mat3 R;
    momentum before = find_momentum(inertia_at(body, body->previous_q, &R), R, body->previous_v);
    const sn_reduced_inertia *inertia = inertia_at(body, body->q, &R);
    momentum now = find_momentum(inertia, R, body->v);

    // About the present t.
    sn_vec3 d = sn_sub(sn_load3(body->q + SN_REDUCED_TRANSLATION),
                       sn_load3(body->previous_q + SN_REDUCED_TRANSLATION));
    before.L = sn_sub(before.L, sn_cross(d, before.P));
    momentum p = {sn_madd(sn_scale(4.0 / 3, now.L), -1.0 / 3, before.L),
                  sn_madd(sn_scale(4.0 / 3, now.P), -1.0 / 3, before.P)};
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        mixed[i] = (4 * body->v[i] - body->previous_v[i]) / 3;
    }
    set_momentum(inertia, R, p, mixed);

    sn_body_difference(body, xi, body->q, body->previous_q);
    sn_vec3 turned = sn_load3(xi);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        xi[i] = xi[i] / 3 + 2 * h / 3 * mixed[i];
    }
    sn_store3(xi, find_bdf2_rotation(inertia, body->q, p, mixed, turned, h));
}

// Elastic forces do not depend on the frame, so a step need not begin where it would rotate to.
static bool find_rigid_step(const sinew_body *body, double *xi, double h) {
    (void)body;
    (void)xi;
    (void)h;
    return false;
}

// ... and have no torque that a step could lose.
static void restore_rotation(sinew_body *body, const double *at, double h) {
    (void)body;
    (void)at;
    (void)h;
}

const sn_free_motion_ops sn_reduced_free_motion = {
    .find_step = find_step,
    .find_bdf2_step = find_bdf2_step,
    .find_rigid_step = find_rigid_step,
    .transport_velocity = transport_velocity,
    .transport_acceleration = transport_acceleration,
    .restore_rotation = restore_rotation,
};
