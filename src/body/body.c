// Code shared by all bodies: the layout of the state, recovery, external forces, and the linear
// defaults of the operations.
#include "body/body.h"

#include "body/load.h"
#include "body/mass.h"
#include "body/point.h"
#include "body/surface.h"

#include <string.h>

void sn_body_destroy(sinew_body *body) {
    sn_points_release(body);
    sn_surface_release(body);
    if (body->ops && body->ops->release) {
        body->ops->release(body);
    }
    sn_arena arena = body->arena; // a copy, since the body itself is in the arena
    sn_arena_destroy(&arena);
}

sinew_status sn_body_allocate_state(sinew_body *body, sn_arena *arena) {
    SN_ASSERT(body->rows > 0 && body->config_count >= 0);
    size_t q = (size_t)body->config_count;
    size_t n = (size_t)sn_body_size(body);

    body->state_count = 4 * q + 5 * n + 3 + sizeof(sn_body_ledger) / sizeof(double);
    body->state = SN_PUSH(arena, double, body->state_count);
    body->mask = SN_PUSH(arena, uint8_t, n);
    body->scratch = SN_PUSH(arena, double, n);
    SN_TRY(sn_arena_status(arena));

    // Lay out the vectors in the order of a snapshot.
    double *next = body->state;
    double **configurations[] = {&body->q, &body->previous_q, &body->target, &body->balance_q};
    double **vectors[] = {&body->v, &body->previous_v, &body->acceleration, &body->inertia,
                          &body->applied};

    for (int i = 0; i < 4; i++, next += q) {
        *configurations[i] = next;
    }

    for (int i = 0; i < 5; i++, next += n) {
        *vectors[i] = next;
    }

    body->history = next++;
    body->age = next++;
    body->recovery = next++;
    body->ledger = (sn_body_ledger *)next;
    next += sizeof(sn_body_ledger) / sizeof(double);
    SN_ASSERT(next == body->state + body->state_count);

    return SINEW_OK;
}

// Recovery starts if more than this fraction of the volume is inverted, which no simulation
// produces by itself. It is given up after this many steps.
static const double largely_inverted = 0.1;
enum { RECOVERY_STEPS = 300 };

void sn_body_begin_recovery(sinew_body *body) {
    *body->recovery = 0;
    if (!body->ops->elasticity.measure_recovery) {
        return;
    }

    double inverted, deviation;
    body->ops->elasticity.measure_recovery(body, &inverted, &deviation);
    if (inverted > largely_inverted) {
        *body->recovery = RECOVERY_STEPS;
    }
}

void sn_body_end_recovery(sinew_body *body) {
    if (*body->recovery == 0) {
        return;
    }
    double inverted, deviation;
    body->ops->elasticity.measure_recovery(body, &inverted, &deviation);

    // |F - R| < 1 everywhere: the body has recovered.
    *body->recovery = deviation < 1 ? 0 : *body->recovery - 1;
}

void sn_body_retract(const sinew_body *body, double *q, const double *base, const double *xi) {
    if (body->ops->motion.retract) {
        body->ops->motion.retract(body, q, base, xi);
        return;
    }

    // What a configuration has beyond its rows does not follow a step.
    int32_t size = sn_body_size(body);
    for (int32_t i = 0; i < body->config_count; i++) {
        q[i] = i < size ? base[i] + xi[i] : base[i];
    }
}

void sn_body_difference(const sinew_body *body, double *xi, const double *q, const double *base) {
    if (body->ops->motion.difference) {
        body->ops->motion.difference(body, xi, q, base);
        return;
    }

    for (int32_t i = 0; i < sn_body_size(body); i++) {
        xi[i] = q[i] - base[i];
    }
}

void sn_body_translate(const sinew_body *body, double *q, sn_vec3 by) {
    if (body->ops->motion.translate) {
        body->ops->motion.translate(body, q, by);
        return;
    }
    for (int32_t row = 0; row < body->rows; row++) {
        sn_add_to3(q + 3 * (size_t)row, by);
    }
}

void sn_body_add_mass(sinew_body *body, const sn_bsr *pattern, double *matrix, double s,
                      const double *q) {
    SN_ASSERT(body->ops->motion.add_mass || pattern == &body->pattern);
    if (body->ops->motion.add_mass) {
        body->ops->motion.add_mass(body, pattern, matrix, s, q);
    } else if (body->consistent_mass) {
        sn_bsr_add_scaled(body->context, pattern, matrix, s, body->consistent_mass);
    } else {
        sn_bsr_add_diagonal(body->context, pattern, matrix, s, body->lumped_mass);
    }
}

void sn_body_multiply_mass(sinew_body *body, double *y, const double *x, const double *q) {
    if (body->ops->motion.multiply_mass) {
        body->ops->motion.multiply_mass(body, y, x, q);
    } else if (body->consistent_mass) {
        sn_bsr_multiply(body->context, &body->pattern, y, body->consistent_mass, x);
    } else {
        for (int32_t i = 0; i < sn_body_size(body); i++) {
            y[i] = body->lumped_mass[i] * x[i];
        }
    }
}

static void add_weight(const sinew_body *body, double *force, const double *gravity) {
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        force[i] += body->row_mass[i / 3] * gravity[i % 3];
    }
}

void sn_body_compute_external(sinew_body *body, double *force, const double *gravity,
                              bool gyroscopic) {
    memcpy(force, body->applied, (size_t)sn_body_size(body) * sizeof *force);
    sn_points_add_forces(body, force);
    sn_loads_add_surface_forces(body, force);
    if (body->ops->motion.add_gravity) {
        body->ops->motion.add_gravity(body, force, gravity, body->q, gyroscopic ? body->v : NULL);
    } else {
        add_weight(body, force, gravity);
    }

    sn_loads_add_face_forces(body, force);
}

void sn_body_move_point(const sinew_body *body, sn_point *point) {
    if (body->ops->points.prepare) {
        body->ops->points.prepare(body, body->q);
    }
    body->ops->points.move(body, body->q, point);
}

sn_vec3 sn_body_point_velocity(const sinew_body *body, const sn_point *point) {
    sn_vec3 v = {0, 0, 0};
    for (int32_t k = 0; k < point->count; k++) {
        v = sn_add(v, sn_mat3_apply(point->J[k], sn_load3(body->v + 3 * (size_t)point->row[k])));
    }
    return v;
}

sinew_status sn_body_push_doubles(sinew_body *body, size_t count, double **out) {
    sn_arena_mark before = sn_arena_get_mark(&body->arena);
    double *room = SN_PUSH(&body->arena, double, count);
    sinew_status status = sn_arena_status(&body->arena);
    if (status != SINEW_OK) {
        sn_arena_rewind(&body->arena, before);
        return status;
    }

    *out = room;
    return SINEW_OK;
}
