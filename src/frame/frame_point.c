// Rest points of a frame body: their weights, with those of inserted nodes, and their motion.
#include "frame/frame_body.h"

void sn_frame_weights_at(const sn_frame_model *model, sn_vec3 X, sn_shape_point *result) {
    sn_shape_at_point(model->shape, X, result);
    for (int32_t i = 0; i < model->insertion_count; i++) {
        const sn_insertion *insertion = model->insertions[i];
        if (result->count == SN_POINT_NODES) return;
        sn_vec3 slope;
        double weight = sn_insertion_at_point(insertion, model->shape->voxels, X, &slope);
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

sn_vec3 sn_frame_point(const sn_nodes *nodes, const double *controls, sn_vec3 X, const int32_t *node, const double *weight,
                       int32_t count) {
    sn_vec3 x = {0, 0, 0};
    for (int32_t k = 0; k < count; k++) {
        const sn_node *n = &nodes->items[node[k]];
        double m[SN_NODE_MAX_CONTROLS];
        sn_node_monomials(n, X, m, NULL);
        for (int32_t c = 0; c < n->control_count; c++) {
            x = sn_madd(x, weight[k] * m[c], sn_load3(controls + 3 * (n->control + c)));
        }
    }
    return x;
}

sn_frame_motion sn_frame_motion_at(const sn_frame_model *model, sn_vec3 X, const double *v) {
    sn_frame_motion out = {.x = {0, 0, 0}};
    sn_shape_point at;
    sn_frame_weights_at(model, X, &at);
    for (int32_t k = 0; k < at.count; k++) {
        const sn_node *node = &model->nodes.items[at.node[k]];
        double m[SN_NODE_MAX_CONTROLS], w = at.weight[k];
        sn_vec3 dm[SN_NODE_MAX_CONTROLS], dw = sn_load3(at.gradient[k]);
        sn_node_monomials(node, X, m, dm);
        for (int32_t c = 0; c < node->control_count; c++) {
            sn_vec3 a = sn_load3(model->blend.controls + 3 * (node->control + c));
            sn_vec3 g = sn_add(sn_scale(m[c], dw), sn_scale(w, dm[c]));
            out.x = sn_madd(out.x, w * m[c], a);
            out.F = sn_mat3_add(out.F, sn_outer(a, g));
            if (!v) continue;
            sn_vec3 u = sn_load3(v + 3 * (node->row + sn_node_row_of_control(node, c)));
            if (sn_node_control_turns(node, c)) u = sn_cross(u, a);
            out.rate = sn_madd(out.rate, w * m[c], u);
            out.F_rate = sn_mat3_add(out.F_rate, sn_outer(u, g));
        }
    }
    return out;
}
