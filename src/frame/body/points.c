// Rest points of a frame body as a public object.
#include "sinew/frame_points.h"

#include "frame/body/frame_body.h"
#include "frame/body/state.h"

#include <string.h>

struct sinew_frame_points {
    sn_arena arena; // holds this struct too
    sinew_body *body;
    sn_frame_points points;
};

sinew_status sinew_frame_points_create(sinew_body *body, const double *rest, int32_t count,
                                       sinew_frame_points **points) {
    if (!sn_frame_model_of(body)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "the body \"%s\" has no frames",
                       sinew_body_get_name(body));
    }

    if (count < 0) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "%d points: at least 0", (int)count);
    }

    for (int32_t i = 0; i < count; i++) {
        if (!sn_finite3(sn_load3(sn_at3(rest, i)))) {
            return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "point %d is not finite", (int)i);
        }
    }

    sn_arena arena = sn_arena_create(body->context);
    sinew_frame_points *made = SN_PUSH(&arena, sinew_frame_points, 1);
    double *copy = SN_PUSH(&arena, double, 3 * (size_t)count);
    sinew_status status = sn_arena_status(&arena);

    if (status == SINEW_OK) {
        memcpy(copy, rest, 3 * (size_t)count * sizeof *copy);
        made->body = body;
        status = sn_frame_points_create(&arena, body, copy, count, &made->points);
    }

    if (status != SINEW_OK) {
        sn_arena_destroy(&arena);
        return status;
    }

    made->arena = arena;
    *points = made;

    return SINEW_OK;
}

void sinew_frame_points_destroy(sinew_frame_points *points) {
    if (!points) {
        return;
    }
    sn_arena arena = points->arena; // a copy: the arena holds the struct
    sn_arena_destroy(&arena);
}

void sinew_frame_points_compute(const sinew_frame_points *points, double *positions,
                                double *velocities, sinew_element_state *states) {
    sn_frame_points_compute(&points->points, points->body, positions, velocities, states);
}

void sinew_frame_points_add_forces(const sinew_frame_points *points, const double *forces) {
    sn_frame_points_add_forces(&points->points, points->body, forces);
}

void sinew_frame_points_get_weights(const sinew_frame_points *points, const int32_t **starts,
                                    const int32_t **nodes, const double **weights) {
    if (starts) {
        *starts = points->points.start;
    }
    if (nodes) {
        *nodes = points->points.node;
    }
    if (weights) {
        *weights = points->points.weight;
    }
}
