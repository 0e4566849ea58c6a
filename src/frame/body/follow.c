// Rest points of a frame body that attachments follow: their nodes and weights are found once,
// their places and derivatives as often as the nodes move.
#include "frame/body/follow.h"

#include "frame/body/frame_body.h"

#include <math.h>

// What a moving point keeps.
typedef struct followed {
    sn_vec3 X;
    int32_t count;
    int32_t *node;
    double *weight;
    sn_blend_offset *offset; // by each event of the fade
} followed;

static sn_blend_point entries_of(const sinew_body *body, const sn_moving_point *point) {
    const followed *own = point->model;
    const sn_frame_model *model = body->model;

    return (sn_blend_point){.X = own->X,
                            .count = own->count,
                            .node = own->node,
                            .weight = own->weight,
                            .off = sn_fade_sum(&model->fade, *body->age, own->offset)};
}

bool sn_frame_find_rest_point(const sinew_body *body, sn_vec3 x, sn_vec3 *X) {
    const sn_frame_model *model = body->model;
    const double *h = model->shape->voxels->spacing;
    return sn_frame_find_point_anywhere(body, x, 1e-10 * fmin(h[0], fmin(h[1], h[2])), X);
}

sinew_status sn_frame_create_point(sn_arena *arena, const sinew_body *body, sn_vec3 X,
                                   sn_moving_point *point) {
    const sn_frame_model *model = body->model;
    sn_shape_point *at = sn_allocate(body->context, 1, sizeof *at);
    if (!at) {
        return SINEW_OUT_OF_MEMORY;
    }

    sn_frame_weights_at(model, X, at);
    followed *own = SN_PUSH(arena, followed, 1);
    int32_t *node = SN_PUSH(arena, int32_t, at->count);
    int32_t rows = 0;
    double *weight = SN_PUSH(arena, double, at->count);
    sn_blend_offset *offset = SN_PUSH(arena, sn_blend_offset, model->fade.count);
    sinew_status status = sn_arena_status(arena);

    if (status == SINEW_OK) {
        int32_t carrier = model->fade.count > 0 ? sn_fade_carrier(model->shape, X) : -1;
        for (int32_t k = 0; k < model->fade.count; k++) {
            offset[k] = sn_fade_event_offset(model->fade.events[k], model->shape, X, carrier);
        }

        *own = (followed){X, 0, node, weight, offset};
        for (int32_t k = 0; k < at->count; k++) {
            if (at->weight[k] == 0 && at->node[k] != carrier) {
                continue;
            }
            node[own->count] = at->node[k];
            weight[own->count++] = at->weight[k];
            rows += model->nodes.items[at->node[k]].row_count;
        }

        *point = (sn_moving_point){own, rows, SN_PUSH(arena, int32_t, rows),
                                   SN_PUSH(arena, sn_mat3, rows), X};
        status = sn_arena_status(arena);
    }

    sn_release(body->context, at, 1, sizeof *at);
    if (status != SINEW_OK) {
        return status;
    }

    sn_frame_prepare_points(body, body->q);
    sn_blend_point entries = entries_of(body, point);

    sn_blend_get_jacobian(&model->nodes, &model->blend, &entries, point->row, point->J);
    return SINEW_OK;
}

void sn_frame_prepare_points(const sinew_body *body, const double *q) {
    const sn_frame_model *model = body->model;
    sn_blend_prepare(&model->nodes, &model->blend, q);
}

void sn_frame_move_point(const sinew_body *body, sn_moving_point *point) {
    const sn_frame_model *model = body->model;
    sn_blend_point entries = entries_of(body, point);
    point->x = sn_blend_get_position(&model->nodes, &model->blend, &entries);
    sn_blend_get_jacobian(&model->nodes, &model->blend, &entries, NULL, point->J);
}

void sn_frame_add_curvature(const sinew_body *body, const sn_moving_point *point, sn_vec3 f,
                            sn_mat3 *blocks) {
    const sn_frame_model *model = body->model;
    sn_blend_point entries = entries_of(body, point);
    sn_blend_add_curvature(&model->nodes, &model->blend, &entries, f, blocks);
}
