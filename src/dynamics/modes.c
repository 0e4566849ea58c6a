// Natural frequencies and shapes of a body about its rest state, with its present supports.
#include "dynamics/world.h"

#include "linalg/modes.h"

#include <math.h>
#include <string.h>

static const double two_pi = 6.28318530717958647692;

// Stiffness and mass at rest. The mass is a matrix unless every row is a point with a mass of its
// own.
static sinew_status push_matrices(sinew_body *body, sn_arena *arena, sn_modes_def *def) {
    double *K = sn_bsr_push_values(arena, &body->pattern);
    double *M = sn_bsr_push_values(arena, &body->pattern);

    SN_TRY(sn_arena_status(arena));
    sn_evaluation evaluation = {.q = body->rest, .matrix = K};

    body->ops->elasticity.evaluate(body, &evaluation);
    sn_bsr_mirror(body->context, &body->pattern, K);
    def->stiffness = K;

    if (!body->ops->motion.add_mass && !body->consistent_mass) {
        def->lumped_mass = body->lumped_mass;
        return SINEW_OK;
    }

    sn_body_add_mass(body, &body->pattern, M, 1, body->rest);
    sn_bsr_mirror(body->context, &body->pattern, M);
    def->consistent_mass = M;

    return SINEW_OK;
}

// The motion of the surface's vertices in a mode given by rows, about the rest state: the
// velocities that the surface would have at these rates.
static sinew_status move_surface(sinew_body *body, const double *rows, sn_arena *arena,
                                 double *shape) {
    size_t configs = (size_t)body->config_count * sizeof(double);
    size_t rates = (size_t)sn_body_size(body) * sizeof(double);
    double *q = SN_PUSH(arena, double, body->config_count);
    double *v = SN_PUSH(arena, double, sn_body_size(body));
    SN_TRY(sn_arena_status(arena));

    memcpy(q, body->q, configs);
    memcpy(v, body->v, rates);
    memcpy(body->q, body->rest, configs);
    memcpy(body->v, rows, rates);

    sinew_status status = body->ops->surface.measure(body, shape, NULL);
    memcpy(body->q, q, configs);
    memcpy(body->v, v, rates);

    return status;
}

static sinew_status compute(sinew_body *body, int32_t count, double *frequencies, double *shapes,
                            sn_arena *arena) {
    sn_modes_def def = {.pattern = &body->pattern, .mask = body->mask, .count = count};
    SN_TRY(push_matrices(body, arena, &def));

    // Rows are nodes only where there are elements.
    bool nodal = body->mesh.point_count > 0;
    size_t size = (size_t)sn_body_size(body);
    double *rows = shapes && nodal ? shapes : SN_PUSH(arena, double, (size_t)count *size);

    SN_TRY(sn_arena_status(arena));
    sn_modes_report report;

    SN_TRY(sn_modes_compute(body->context, &def, frequencies, rows, &report));
    if (shapes && !nodal) {
        for (int32_t i = 0; i < count; i++) {
            SN_TRY(move_surface(body, rows + (size_t)i * size, arena,
                                shapes + 3 * (size_t)i * (size_t)body->surface->point_count));
        }
    }

    for (int32_t i = 0; i < count; i++) {
        bool rigid = i < report.rigid || frequencies[i] < 0;
        frequencies[i] = rigid ? 0 : sqrt(frequencies[i]) / two_pi;
    }

    return SINEW_OK;
}

sinew_status sinew_body_compute_modes(sinew_body *body, int32_t count, double *frequencies,
                                      double *shapes) {
    SN_NEED(NULL, body);

    if (body->ops->stepping) {
        return sn_fail(
            body->context, SINEW_UNSUPPORTED,
            "body \"%s\" is under position dynamics: it has no stiffness, hence no modes",
            body->name);
    }

    // One mode less than there are free unknowns: Lanczos needs a vector more.
    int32_t free_count = 0;
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        free_count += !body->mask[i];
    }

    if (count < 1 || count >= free_count) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "%d modes of body \"%s\" were asked for; valid are 1 to %d", count,
                       body->name, free_count - 1);
    }

    sn_arena arena = sn_arena_create(body->context);
    sinew_status status = compute(body, count, frequencies, shapes, &arena);

    sn_arena_destroy(&arena);
    return status;
}
