// Rest points of a frame body: their weights, with those of inserted nodes, and their motion.
#include "frame/frame_body.h"

void sn_frame_weights_at(const sn_frame_model *model, sn_vec3 X, sn_shape_point *result) {
    sn_shape_at_point(model->shape, X, result);
    for (int32_t i = 0; i < model->insertion_count; i++) {
        const sn_insertion *insertion = model->insertions[i];
        if (result->count == SN_POINT_NODES) return;
        sn_vec3 slope;
        double weight = sn_insertion_at_point(insertion, model->shape, X, &slope);
        if (weight == 0 && sn_dot(slope, slope) == 0) continue;
        for (int32_t k = 0; k < result->count; k++) {
            sn_vec3 gradient = sn_load3(result->gradient[k]);
            sn_store3(result->gradient[k], sn_madd(sn_scale(1 - weight, gradient), -result->weight[k], slope));
            result->weight[k] *= 1 - weight;
        }
        result->node[result->count] = model->shape->node_count + i;
        result->weight[result->count] = weight;
        sn_store3(result->gradient[result->count++], slope);
    }
}

sn_frame_motion sn_frame_motion_at(const sn_frame_model *model, sn_vec3 X, const double *v) {
    sn_shape_point at;
    sn_frame_weights_at(model, X, &at);
    sn_blend_point point = {X, at.count, at.node, at.weight, at.gradient[0]};
    return sn_blend_get_motion(&model->nodes, &model->blend, &point, v);
}
