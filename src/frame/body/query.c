// Reading frames, and what is known of the body they carry.
#include "frame/body/frame_body.h"

#include "math/quat.h"

#include <math.h>
#include <string.h>

int32_t sinew_frame_body_get_node_count(const sinew_body *body) {
    SN_NEED_OR(0, body);
    const sn_nodes *nodes = sn_frame_nodes_of(body);
    return nodes ? nodes->count : 0;
}

sinew_status sinew_frame_body_get_kind(const sinew_body *body, int32_t index,
                                       sinew_node_kind *kind) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, kind);
    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));
    *kind = node->kind;
    return SINEW_OK;
}

sinew_status sinew_frame_body_get_rest(const sinew_body *body, int32_t index, double rest[3]) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, rest);
    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));
    sn_store3(rest, node->origin);
    return SINEW_OK;
}

sinew_status sinew_frame_body_get_node(const sinew_body *body, int32_t index, double position[3],
                                       double rotation[4]) {
    SN_NEED(NULL, body);

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
    SN_NEED(NULL, body);
    SN_NEED(body->context, matrix);
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

void sinew_frame_body_clear_forces(sinew_body *body) {
    SN_NEED_OR(, body);
    memset(body->applied, 0, (size_t)sn_body_size(body) * sizeof(double));
}

sinew_status sinew_frame_body_get_weights(const sinew_body *body, const double rest[3],
                                          double *weights) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, rest && weights);

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
    SN_NEED_OR(NULL, body);
    const sn_frame_model *model = sn_frame_model_of(body);
    return model ? model->shape->voxels : NULL;
}

sinew_status sinew_frame_body_get_report(const sinew_body *body, sinew_weights_report *weights,
                                         sinew_sampling_report *sampling) {
    SN_NEED(NULL, body);

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

sinew_status sinew_frame_body_compute_regions(const sinew_body *body, int32_t *samples) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, samples);

    const sn_frame_model *model = sn_frame_model_of(body);
    if (!model) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "body \"%s\" has no frames",
                       body->name);
    }

    const sn_frame_samples *from = model->base_samples;
    for (int32_t s = 0; s < from->count; s++) {
        for (int32_t k = from->voxel_start[s]; k < from->voxel_start[s + 1]; k++) {
            samples[from->voxel[k]] = s;
        }
    }
    return SINEW_OK;
}

sinew_status sinew_frame_body_get_last_change(const sinew_body *body, sinew_frame_change *change) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, change);
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
    SN_NEED(NULL, body);

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
