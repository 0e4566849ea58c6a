// Reading frames, and forces at points.
#include "frame/body/frame_body.h"

#include "math/quat.h"

#include <math.h>
#include <string.h>

int32_t sinew_frame_body_get_node_count(const sinew_body *body) {
    const sn_frame_model *model = sn_frame_model_of(body);
    return model ? model->nodes.count : 0;
}

sinew_status sinew_frame_body_get_rest(const sinew_body *body, int32_t index, double rest[3]) {
    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));
    sn_store3(rest, node->origin);
    return SINEW_OK;
}

sinew_status sinew_frame_body_get_node(const sinew_body *body, int32_t index, double position[3],
                                       double rotation[4]) {
    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));
    if (position) {
        memcpy(position, sn_node_translation(node, body->q), 3 * sizeof *position);
    }

    if (rotation) {
        sn_quat q = sn_node_rotation(node, body->q);
        rotation[0] = q.x;
        rotation[1] = q.y;
        rotation[2] = q.z;
        rotation[3] = q.w;
    }

    return SINEW_OK;
}

sinew_status sinew_frame_body_get_matrix(const sinew_body *body, int32_t index, double matrix[9]) {
    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));
    sn_mat3 A = sn_node_matrix(node, body->q);
    memcpy(matrix, A.m, sizeof A.m);
    return SINEW_OK;
}

static sn_frame_model *checked_model(const sinew_body *body, const double point[3],
                                     sinew_status *status) {
    sn_frame_model *model = sn_frame_model_of(body);
    *status = SINEW_OK;
    if (!model) {
        *status =
            sn_fail(body->context, SINEW_INVALID_ARGUMENT, "body \"%s\" has no frames", body->name);
    }

    if (model && !sn_finite3(sn_load3(point))) {
        *status = sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                          "the point (%g, %g, %g) is not finite", point[0], point[1], point[2]);
    }

    return model;
}

sinew_status sinew_frame_body_add_force(sinew_body *body, const double point[3],
                                        const double force[3]) {
    sinew_status status;
    const sn_frame_model *model = checked_model(body, point, &status);

    SN_TRY(status);
    sn_shape_point at;

    sn_frame_weights_at(model, sn_load3(point), &at);
    sn_blend_prepare(&model->nodes, &model->blend, body->q);

    sn_blend_point at_point = {
        .X = sn_load3(point),
        .count = at.count,
        .node = at.node,
        .weight = at.weight,
        .off = sn_fade_offset_at(&model->fade, model->shape, *body->age, sn_load3(point))};

    sn_blend_add_force(&model->nodes, &model->blend, &at_point, sn_load3(force), body->applied);
    return SINEW_OK;
}

void sinew_frame_body_clear_forces(sinew_body *body) {
    memset(body->applied, 0, (size_t)sn_body_size(body) * sizeof(double));
}

sinew_status sinew_frame_body_get_point(const sinew_body *body, const double rest[3],
                                        double position[3]) {
    sinew_status status;
    const sn_frame_model *model = checked_model(body, rest, &status);
    SN_TRY(status);
    sn_blend_prepare(&model->nodes, &model->blend, body->q);
    sn_store3(position, sn_frame_motion_at(body, sn_load3(rest), NULL).x);
    return SINEW_OK;
}

sinew_status sinew_frame_body_find_point(const sinew_body *body, const double position[3],
                                         double rest[3], int32_t *iterations) {
    sinew_status status;
    const sn_frame_model *model = checked_model(body, position, &status);

    SN_TRY(status);
    const double *h = model->shape->voxels->spacing;
    sn_vec3 X;
    int32_t count;

    if (!sn_frame_find_point(body, sn_load3(position), 1e-9 * fmin(h[0], fmin(h[1], h[2])), &X,
                             &count)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "no point of body \"%s\" is at (%g, %g, %g) m", body->name, position[0],
                       position[1], position[2]);
    }

    sn_store3(rest, X);
    if (iterations) {
        *iterations = count;
    }

    return SINEW_OK;
}

sinew_status sinew_frame_body_get_weights(const sinew_body *body, const double rest[3],
                                          double *weights) {
    sinew_status status;
    const sn_frame_model *model = checked_model(body, rest, &status);

    SN_TRY(status);
    sn_shape_point at;

    sn_frame_weights_at(model, sn_load3(rest), &at);
    memset(weights, 0, (size_t)model->nodes.count * sizeof *weights);

    for (int32_t k = 0; k < at.count; k++) {
        weights[at.node[k]] = at.weight[k];
    }

    return SINEW_OK;
}

const sinew_voxels *sinew_frame_body_get_voxels(const sinew_body *body) {
    const sn_frame_model *model = sn_frame_model_of(body);
    return model ? model->shape->voxels : NULL;
}

sinew_status sinew_frame_body_get_report(const sinew_body *body, sinew_weights_report *weights,
                                         sinew_sampling_report *sampling) {
    const sn_frame_model *model = sn_frame_model_of(body);
    if (!model) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "body \"%s\" has no frames",
                       body->name);
    }

    if (weights) {
        *weights = model->shape->report;
    }
    if (sampling) {
        *sampling = model->layers.items[0]->points->report;
    }

    return SINEW_OK;
}

sinew_status sinew_frame_body_get_last_change(const sinew_body *body, sinew_frame_change *change) {
    const sn_frame_model *model = sn_frame_model_of(body);
    if (!model) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "body \"%s\" has no frames",
                       body->name);
    }

    *change = model->last_change;
    return SINEW_OK;
}

sinew_status sinew_frame_body_get_springs(const sinew_body *body, int32_t *count,
                                          double *difference) {
    const sn_frame_model *model = sn_frame_model_of(body);
    if (!model || !model->springs) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "body \"%s\" has no springs between frames", body->name);
    }

    if (count) {
        *count = model->springs->count;
    }
    if (difference) {
        *difference = model->springs->difference;
    }

    return SINEW_OK;
}
