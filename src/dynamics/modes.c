// Natural frequencies and shapes of a body about its rest state, with its present supports.
#include "dynamics/world.h"

#include "linalg/modes.h"

#include <math.h>

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

static sinew_status compute(sinew_body *body, int32_t count, double *frequencies, double *shapes,
                            sn_arena *arena) {
    sn_modes_def def = {.pattern = &body->pattern, .mask = body->mask, .count = count};
    SN_TRY(push_matrices(body, arena, &def));
    if (!shapes) {
        shapes = SN_PUSH(arena, double, (size_t)count *(size_t)sn_body_size(body));
    }

    SN_TRY(sn_arena_status(arena));
    sn_modes_report report;

    SN_TRY(sn_modes_compute(body->context, &def, frequencies, shapes, &report));
    for (int32_t i = 0; i < count; i++) {
        bool rigid = i < report.rigid || frequencies[i] < 0;
        frequencies[i] = rigid ? 0 : sqrt(frequencies[i]) / two_pi;
    }

    return SINEW_OK;
}

sinew_status sinew_body_compute_modes(sinew_body *body, int32_t count, double *frequencies,
                                      double *shapes) {
    if (body->ops->stepping) {
        return sn_fail(
            body->context, SINEW_UNSUPPORTED,
            "body \"%s\" is under position dynamics: it has no stiffness, hence no modes",
            body->name);
    }

    if (shapes && body->mesh.point_count == 0) {
        return sn_fail(
            body->context, SINEW_UNSUPPORTED,
            "shapes of modes are given at nodes, and body \"%s\" has frames instead: ask "
            "for the frequencies alone",
            body->name);
    }

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
