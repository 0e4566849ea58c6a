// Initial position and velocity of the whole body, and of frames given one by one.
#include "frame/body/frame_body.h"

#include <math.h>
#include <string.h>

sinew_status sn_frame_body_check_placement(sinew_context *context,
                                           const sinew_frame_body_def *def) {
    const double *r = def->rotation;
    double norm = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3];
    if (!(norm > 1e-12) || !isfinite(norm)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "rotation is (%g, %g, %g, %g); a quaternion must be finite and not zero",
                       r[0], r[1], r[2], r[3]);
    }

    if (!sn_finite3(sn_load3(def->position)) || !sn_finite3(sn_load3(def->velocity)) ||
        !sn_finite3(sn_load3(def->angular_velocity))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "position, velocity and angular_velocity must be finite");
    }

    return SINEW_OK;
}

// Computes the rates of a rigid motion v + w x (x - t) at the configuration q.
static void set_velocity(sinew_body *body, sn_vec3 t, sn_vec3 v, sn_vec3 w) {
    const sn_frame_model *model = body->model;
    double *controls = model->blend.controls;

    sn_nodes_compute_controls(&model->nodes, body->q, controls);
    for (int32_t i = 0; i < model->nodes.count; i++) {
        const sn_node *node = &model->nodes.items[i];
        for (int32_t c = 0; c < node->control_count; c++) {
            sn_vec3 a = sn_load3(controls + 3 * (node->control + c));
            sn_vec3 rate = c == 0 ? sn_add(v, sn_cross(w, sn_sub(a, t))) : sn_cross(w, a);
            sn_store3(body->v + 3 * (node->row + sn_node_row_of_control(node, c)),
                      sn_node_control_turns(node, c) ? w : rate);
        }
    }
}

void sn_frame_body_place(sinew_body *body, const sinew_frame_body_def *def) {
    sn_frame_model *model = body->model;
    const double *r = def->rotation;
    sn_quat R = sn_quat_normalize((sn_quat){r[0], r[1], r[2], r[3]});
    sn_vec3 t = sn_load3(def->position);
    size_t bytes = (size_t)body->config_count * sizeof(double);

    model->placed_R = R;
    model->placed_t = t;
    sn_nodes_place(&model->nodes, body->rest, sn_quat_identity(), sn_v3(0, 0, 0));
    sn_nodes_place(&model->nodes, body->q, R, t);

    double *copies[] = {body->previous_q, body->target, body->balance_q};
    for (int i = 0; i < 3; i++) {
        memcpy(copies[i], body->q, bytes);
    }

    set_velocity(body, t, sn_load3(def->velocity), sn_load3(def->angular_velocity));
}
