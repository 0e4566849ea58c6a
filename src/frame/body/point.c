// Rest points of a frame body: their weights, with those of inserted nodes, and their motion.
#include "frame/body/frame_body.h"

void sn_frame_weights_at(const sn_frame_model *model, sn_vec3 X, sn_shape_point *result) {
    sn_insertions_weights_at(model->shape, sn_frame_insertions(model), model->insertion_count, X,
                             result);
}

sn_frame_motion sn_frame_motion_at(const sinew_body *body, sn_vec3 X, const double *v) {
    const sn_frame_model *model = body->model;
    sn_shape_point at;

    sn_frame_weights_at(model, X, &at);
    sn_blend_point point = {.X = X,
                            .count = at.count,
                            .node = at.node,
                            .weight = at.weight,
                            .gradient = at.gradient[0],
                            .off = sn_fade_offset_at(&model->fade, model->shape, *body->age, X)};

    return sn_blend_get_motion(&model->nodes, &model->blend, &point, v);
}
