// Points of a frame body (sn_point_ops): nodes and weights are found once, positions and
// derivatives whenever the nodes move. Cost of a position: the control vectors of the point's
// nodes.
#include "frame/body/follow.h"

#include "frame/body/frame_body.h"
#include "frame/body/state.h"
#include "geom/voxel/voxel.h"

#include <math.h>

// The data of a point.
typedef struct followed {
    sn_vec3 X;
    int32_t count;
    int32_t *node;
    double *weight;
    sn_blend_offset *offset; // by each event of the fade
} followed;

static sn_blend_point entries_of(const sinew_body *body, const sn_point *point) {
    const followed *own = point->model;
    const sn_frame_model *model = body->model;

    return (sn_blend_point){.X = own->X,
                            .count = own->count,
                            .node = own->node,
                            .weight = own->weight,
                            .off = sn_fade_sum(&model->fade, *body->age, own->offset)};
}

// Finds the rest point that is now at x.
static sinew_status find_rest(const sinew_body *body, sn_vec3 x, sn_vec3 *X) {
    const sn_frame_model *model = body->model;
    const double *h = model->shape->voxels->spacing;
    if (sn_frame_find_point_anywhere(body, x, 1e-10 * fmin(h[0], fmin(h[1], h[2])), X)) {
        return SINEW_OK;
    }

    return sn_fail(
        body->context, SINEW_INVALID_ARGUMENT,
        "no point of body \"%s\" comes to (%g, %g, %g) m; give its rest position instead",
        body->name, x.x, x.y, x.z);
}

// Returns the distance of X from the nearest voxel of the solid.
static double distance_of(const sn_frame_model *model, sn_vec3 X) {
    const sinew_voxels *voxels = model->shape->voxels;
    int32_t nearest[8];
    double distance;
    if (sn_nearest_voxels(voxels, X, INFINITY, nearest, &distance) == 0) {
        return INFINITY;
    }

    sn_vec3 d = sn_sub(X, sn_voxel_center(voxels, nearest[0]));
    const double *h = voxels->spacing;
    return sn_length(sn_v3(fmax(fabs(d.x) - 0.5 * h[0], 0), fmax(fabs(d.y) - 0.5 * h[1], 0),
                           fmax(fabs(d.z) - 0.5 * h[2], 0)));
}

// Finds the nodes with non-zero weight at X, and the offsets that still fade there.
static sinew_status push_followed(sn_arena *arena, const sn_frame_model *model, sn_vec3 X,
                                  const sn_shape_point *at, followed **out, int32_t *rows) {
    followed *own = SN_PUSH(arena, followed, 1);
    int32_t *node = SN_PUSH(arena, int32_t, at->count);
    double *weight = SN_PUSH(arena, double, at->count);
    sn_blend_offset *offset = SN_PUSH(arena, sn_blend_offset, model->fade.count);
    SN_TRY(sn_arena_status(arena));

    sn_fade_find_offsets(&model->fade, model->shape, X, offset);
    int32_t carrier = model->fade.count > 0 ? offset[0].carrier : -1;

    *own = (followed){X, 0, node, weight, offset};
    *rows = 0;
    for (int32_t k = 0; k < at->count; k++) {
        if (at->weight[k] == 0 && at->node[k] != carrier) {
            continue;
        }
        node[own->count] = at->node[k];
        weight[own->count++] = at->weight[k];
        *rows += model->nodes.items[at->node[k]].row_count;
    }

    *out = own;
    return SINEW_OK;
}

sinew_status sn_frame_point_push(sn_arena *arena, const sinew_body *body, sn_vec3 X,
                                 const sn_shape_point *at, double distance, sn_point *point) {
    const sn_frame_model *model = body->model;
    followed *own;
    int32_t rows;

    SN_TRY(push_followed(arena, model, X, at, &own, &rows));
    *point = (sn_point){.X = X,
                        .distance = distance,
                        .element = -1,
                        .count = rows,
                        .row = SN_PUSH(arena, int32_t, rows),
                        .J = SN_PUSH(arena, sn_mat3, rows),
                        .x = X,
                        .model = own};
    SN_TRY(sn_arena_status(arena));

    sn_frame_points_prepare(body, body->q);
    sn_blend_point entries = entries_of(body, point);
    sn_blend_get_jacobian(&model->nodes, &model->blend, &entries, point->row, point->J);
    sn_frame_point_move(body, body->q, point);
    return SINEW_OK;
}

sinew_status sn_frame_point_create(sn_arena *arena, sinew_body *body, sn_vec3 X, bool deformed,
                                   sn_point *point) {
    const sn_frame_model *model = body->model;
    if (deformed) {
        SN_TRY(find_rest(body, X, &X));
    }

    sn_shape_point *at = sn_allocate(body->context, 1, sizeof *at);
    if (!at) {
        return SINEW_OUT_OF_MEMORY;
    }

    sn_frame_weights_at(model, X, at);
    sinew_status status = sn_frame_point_push(arena, body, X, at, distance_of(model, X), point);
    sn_release(body->context, at, 1, sizeof *at);
    return status;
}

void sn_frame_points_prepare(const sinew_body *body, const double *q) {
    const sn_frame_model *model = body->model;
    sn_blend_prepare(&model->nodes, &model->blend, q);
}

void sn_frame_point_move(const sinew_body *body, const double *q, sn_point *point) {
    (void)q; // of the last preparation
    const sn_frame_model *model = body->model;
    sn_blend_point entries = entries_of(body, point);
    point->x = sn_blend_get_position(&model->nodes, &model->blend, &entries);
    sn_blend_get_jacobian(&model->nodes, &model->blend, &entries, NULL, point->J);
}

void sn_frame_point_add_force(const sinew_body *body, const sn_point *point, sn_vec3 f,
                              double *rows) {
    const sn_frame_model *model = body->model;
    sn_blend_point entries = entries_of(body, point);
    sn_blend_add_force(&model->nodes, &model->blend, &entries, f, rows);
}

void sn_frame_point_add_curvature(const sinew_body *body, const sn_point *point, sn_vec3 f,
                                  sn_mat3 *blocks) {
    const sn_frame_model *model = body->model;
    sn_blend_point entries = entries_of(body, point);
    sn_blend_add_curvature(&model->nodes, &model->blend, &entries, f, blocks);
}

sinew_status sn_frame_point_get_state(sinew_body *body, const sn_point *point,
                                      sinew_element_state *state) {
    sn_arena scratch = sn_arena_create(body->context);
    sn_frame_points points;
    double rest[3];

    sn_store3(rest, point->X);
    sinew_status status = sn_frame_points_create(&scratch, body, rest, 1, &points);
    if (status == SINEW_OK) {
        sn_frame_points_compute(&points, body, NULL, NULL, state);
    }

    sn_arena_destroy(&scratch);
    return status;
}
