// Points of a frame body: position, F, rates, Jacobian and curvature, one point at a time, for
// linear blending and dual quaternions (dualquat.h). Where a fade is active, an offset carried by
// one node is added (blend.h). Cost: the control vectors of the point's nodes.
#include "frame/blend/blend.h"

#include "frame/blend/dualquat.h"

#include <string.h>

static bool is_dual(const sn_blend *blend) {
    return blend->is_rigid && blend->rigid.dual;
}

static sn_dual_input dual_input(const sn_blend *blend, const sn_blend_point *point) {
    return (sn_dual_input){blend->rigid.table, point->X,      point->count,
                           point->node,        point->weight, point->gradient};
}

sn_mat3 sn_blend_get_axes(const sn_nodes *nodes, const sn_blend *blend, int32_t node) {
    const sn_node *n = &nodes->items[node];
    if (n->kind == SINEW_NODE_POINT) {
        return sn_mat3_identity();
    }
    const double *a = blend->controls + 3 * (n->control + 1);
    return sn_mat3_columns(sn_load3(a), sn_load3(a + 3), sn_load3(a + 6));
}

// For monomials without gradients.
static sn_rest_point rest_of(const sn_blend_point *point) {
    sn_rest_point at = sn_rest_point_at(point->X);
    if (point->compliance) {
        memcpy(at.c, point->compliance, sizeof at.c);
        at.known = true;
    }
    return at;
}

static bool is_off(const sn_blend_point *point) {
    sn_vec3 o = point->off.offset;
    return o.x != 0 || o.y != 0 || o.z != 0;
}

static sn_vec3 world_offset(const sn_nodes *nodes, const sn_blend *blend,
                            const sn_blend_point *point) {
    return sn_mat3_apply(sn_blend_get_axes(nodes, blend, point->off.carrier), point->off.offset);
}

// Adds the offset's part of a motion.
static void add_offset(const sn_nodes *nodes, const sn_blend *blend, const sn_blend_point *point,
                       const double *v, sn_frame_motion *motion) {
    if (!is_off(point)) {
        return;
    }

    const sn_node *carrier = &nodes->items[point->off.carrier];
    sn_mat3 axes = sn_blend_get_axes(nodes, blend, point->off.carrier);
    sn_mat3 rates = {{{0}}};

    // x += A o and F += A grad o, with A the axes of the carrier.
    motion->x = sn_add(motion->x, sn_mat3_apply(axes, point->off.offset));
    motion->F = sn_mat3_add(motion->F, sn_mat3_mul(axes, point->off.slope));
    if (!v || carrier->kind == SINEW_NODE_POINT) {
        return;
    }

    // The same with the rate of the axes.
    const double *rate = v + 3 * carrier->row;
    if (carrier->kind == SINEW_NODE_RIGID) {
        rates = sn_mat3_mul(sn_cross_matrix(sn_load3(rate)), axes);
    } else {
        rates = sn_mat3_columns(sn_load3(rate + 3), sn_load3(rate + 6), sn_load3(rate + 9));
    }

    motion->rate = sn_add(motion->rate, sn_mat3_apply(rates, point->off.offset));
    motion->F_rate = sn_mat3_add(motion->F_rate, sn_mat3_mul(rates, point->off.slope));
}

static sn_vec3 blended_position(const sn_nodes *nodes, const sn_blend *blend,
                                const sn_blend_point *point) {
    if (is_dual(blend)) {
        sn_dual_input input = dual_input(blend, point);
        sn_dual_point at;
        input.gradient = NULL;
        sn_dual_evaluate(&at, &input);
        return at.x;
    }

    sn_vec3 x = {0, 0, 0};
    sn_rest_point at = rest_of(point);
    for (int32_t k = 0; k < point->count; k++) {
        const sn_node *n = &nodes->items[point->node[k]];
        double m[SN_NODE_MAX_CONTROLS];
        sn_node_monomials(n, &at, m, NULL);

        for (int32_t c = 0; c < n->control_count; c++) {
            x = sn_madd(x, point->weight[k] * m[c],
                        sn_load3(blend->controls + 3 * (n->control + c)));
        }
    }

    return x;
}

sn_vec3 sn_blend_get_position(const sn_nodes *nodes, const sn_blend *blend,
                              const sn_blend_point *point) {
    sn_vec3 x = blended_position(nodes, blend, point);
    return is_off(point) ? sn_add(x, world_offset(nodes, blend, point)) : x;
}

static sn_frame_motion dual_motion(const sn_nodes *nodes, const sn_blend *blend,
                                   const sn_blend_point *point, const double *v) {
    sn_frame_motion out = {.x = {0, 0, 0}};
    sn_dual_input input = dual_input(blend, point);
    sn_dual_point at;

    sn_dual_evaluate(&at, &input);
    out.x = at.x;
    out.F = at.F;

    if (v) {
        sn_dual_rates(&out.rate, &out.F_rate, &at, &input, nodes, v);
    }

    return out;
}

static sn_frame_motion linear_motion(const sn_nodes *nodes, const sn_blend *blend,
                                     const sn_blend_point *point, const double *v) {
    sn_frame_motion out = {.x = {0, 0, 0}};
    sn_rest_point at = sn_rest_point_at(point->X);
    for (int32_t k = 0; k < point->count; k++) {
        const sn_node *node = &nodes->items[point->node[k]];
        double m[SN_NODE_MAX_CONTROLS];
        double w = point->weight[k];
        sn_vec3 dm[SN_NODE_MAX_CONTROLS];
        sn_vec3 dw = sn_load3(point->gradient + 3 * k);

        sn_node_monomials(node, &at, m, dm);

        // x = sum w m a and F = sum a (m grad w + w grad m)', over the controls a.
        for (int32_t c = 0; c < node->control_count; c++) {
            sn_vec3 a = sn_load3(blend->controls + 3 * (node->control + c));
            sn_vec3 g = sn_add(sn_scale(m[c], dw), sn_scale(w, dm[c]));

            out.x = sn_madd(out.x, w * m[c], a);
            out.F = sn_mat3_add(out.F, sn_outer(a, g));
            if (!v) {
                continue;
            }

            // Rates: the same sums with the velocity of the control.
            sn_vec3 u = sn_load3(v + 3 * (node->row + sn_node_row_of_control(node, c)));
            if (sn_node_control_turns(node, c)) {
                u = sn_cross(u, a);
            }

            out.rate = sn_madd(out.rate, w * m[c], u);
            out.F_rate = sn_mat3_add(out.F_rate, sn_outer(u, g));
        }
    }

    return out;
}

sn_frame_motion sn_blend_get_motion(const sn_nodes *nodes, const sn_blend *blend,
                                    const sn_blend_point *point, const double *v) {
    SN_ASSERT(point->gradient);
    sn_frame_motion motion = is_dual(blend) ? dual_motion(nodes, blend, point, v)
                                            : linear_motion(nodes, blend, point, v);
    add_offset(nodes, blend, point, v, &motion);
    return motion;
}

static void add_dual_force(const sn_nodes *nodes, const sn_blend *blend,
                           const sn_blend_point *point, sn_vec3 f, double *rows) {
    sn_dual_input input = dual_input(blend, point);
    sn_dual_point at;

    input.gradient = NULL;
    sn_dual_evaluate(&at, &input);
    for (int32_t k = 0; k < point->count; k++) {
        sn_mat3 J_w, J_t;
        double *out = rows + 3 * nodes->items[point->node[k]].row;
        sn_dual_jacobian(&J_w, &J_t, &at, &input, k);
        sn_add_to3(out, sn_mat3_apply_transposed(J_w, f));
        sn_add_to3(out + 3, sn_mat3_apply_transposed(J_t, f));
    }
}

// Adds the effect of a force through the offset.
static void add_offset_force(const sn_nodes *nodes, const sn_blend *blend,
                             const sn_blend_point *point, sn_vec3 f, double *rows) {
    const sn_node *carrier = &nodes->items[point->off.carrier];
    if (!is_off(point) || carrier->kind == SINEW_NODE_POINT) {
        return;
    }

    double *out = rows + 3 * carrier->row;
    double o[3];

    sn_store3(o, point->off.offset);
    if (carrier->kind == SINEW_NODE_RIGID) {
        sn_add_to3(out, sn_cross(world_offset(nodes, blend, point), f));
    }

    if (carrier->kind != SINEW_NODE_RIGID) {
        for (int k = 0; k < 3; k++) {
            sn_add_to3(out + 3 * (1 + k), sn_scale(o[k], f));
        }
    }
}

void sn_blend_add_force(const sn_nodes *nodes, const sn_blend *blend, const sn_blend_point *point,
                        sn_vec3 f, double *rows) {
    add_offset_force(nodes, blend, point, f, rows);
    if (is_dual(blend)) {
        add_dual_force(nodes, blend, point, f, rows);
        return;
    }

    sn_rest_point at = rest_of(point);
    for (int32_t k = 0; k < point->count; k++) { // control by control
        const sn_node *node = &nodes->items[point->node[k]];

        double m[SN_NODE_MAX_CONTROLS];
        sn_node_monomials(node, &at, m, NULL);
        for (int32_t c = 0; c < node->control_count; c++) {
            sn_vec3 part = sn_scale(point->weight[k] * m[c], f);
            if (sn_node_control_turns(node, c)) {
                part = sn_cross(sn_load3(blend->controls + 3 * (node->control + c)), part);
            }
            sn_add_to3(rows + 3 * (node->row + sn_node_row_of_control(node, c)), part);
        }
    }
}

// The arm by which rigid node n alone rotates the point: w R d.
static sn_vec3 turned_arm(const sn_blend *blend, const sn_node *n, sn_vec3 X, double weight) {
    double m[SN_NODE_MAX_CONTROLS];
    sn_vec3 arm = {0, 0, 0};
    sn_rest_point at = sn_rest_point_at(X);
    sn_node_monomials(n, &at, m, NULL);

    for (int32_t c = 1; c < n->control_count; c++) {
        arm = sn_madd(arm, weight * m[c], sn_load3(blend->controls + 3 * (n->control + c)));
    }

    return arm;
}

static void node_jacobian(const sn_blend *blend, const sn_node *n, sn_rest_point *at, double weight,
                          sn_mat3 *J) {
    if (n->kind == SINEW_NODE_RIGID) {
        J[0] = sn_mat3_scale(-1, sn_cross_matrix(turned_arm(blend, n, at->X, weight)));
        J[1] = sn_mat3_scale(weight, sn_mat3_identity());
        return;
    }

    double m[SN_NODE_MAX_CONTROLS];
    sn_node_monomials(n, at, m, NULL);
    for (int32_t c = 0; c < n->control_count; c++) {
        J[c] = sn_mat3_scale(weight * m[c], sn_mat3_identity());
    }
}

// Adds the offset's part to the carrier's own blocks.
static void add_offset_jacobian(const sn_nodes *nodes, const sn_blend *blend,
                                const sn_blend_point *point, sn_mat3 *J) {
    const sn_node *carrier = &nodes->items[point->off.carrier];
    double o[3];

    sn_store3(o, point->off.offset);
    if (carrier->kind == SINEW_NODE_RIGID) {
        J[0] = sn_mat3_sub(J[0], sn_cross_matrix(world_offset(nodes, blend, point)));
    }
    if (carrier->kind == SINEW_NODE_RIGID || carrier->kind == SINEW_NODE_POINT) {
        return;
    }

    for (int k = 0; k < 3; k++) {
        J[1 + k] = sn_mat3_add(J[1 + k], sn_mat3_scale(o[k], sn_mat3_identity()));
    }
}

int32_t sn_blend_get_jacobian(const sn_nodes *nodes, const sn_blend *blend,
                              const sn_blend_point *point, int32_t *row, sn_mat3 *J) {
    sn_dual_input input = {0};
    sn_dual_point at;

    // Dual quaternions: what all nodes share is computed once.
    if (is_dual(blend)) {
        input = dual_input(blend, point);
        input.gradient = NULL;
        sn_dual_evaluate(&at, &input);
    }

    int32_t next = 0;
    sn_rest_point rest = rest_of(point);
    for (int32_t k = 0; k < point->count; k++) {
        const sn_node *n = &nodes->items[point->node[k]];
        if (is_dual(blend)) {
            sn_dual_jacobian(&J[next], &J[next + 1], &at, &input, k);
        } else {
            node_jacobian(blend, n, &rest, point->weight[k], J + next);
        }

        // A fading offset rotates with the node that carries it.
        if (is_off(point) && point->node[k] == point->off.carrier) {
            add_offset_jacobian(nodes, blend, point, J + next);
        }

        if (row) {
            for (int32_t r = 0; r < n->row_count; r++) {
                row[next + r] = n->row + r;
            }
        }

        next += n->row_count;
    }

    return next;
}

static int32_t count_rows(const sn_nodes *nodes, const sn_blend_point *point) {
    int32_t count = 0;
    for (int32_t k = 0; k < point->count; k++) {
        count += nodes->items[point->node[k]].row_count;
    }
    return count;
}

// Adds the second derivative of exp(w) r: w x (w x r).
static void add_arm_curvature(sn_mat3 *block, sn_vec3 r, sn_vec3 f) {
    sn_mat3 both = sn_mat3_scale(0.5, sn_mat3_add(sn_outer(r, f), sn_outer(f, r)));
    *block =
        sn_mat3_add(*block, sn_mat3_sub(both, sn_mat3_scale(sn_dot(r, f), sn_mat3_identity())));
}

void sn_blend_add_curvature(const sn_nodes *nodes, const sn_blend *blend,
                            const sn_blend_point *point, sn_vec3 f, sn_mat3 *blocks) {
    if (is_dual(blend)) {
        sn_dual_input input = dual_input(blend, point);
        sn_dual_point at;
        input.gradient = NULL;
        sn_dual_evaluate(&at, &input);
        sn_dual_add_curvature(blocks, &at, &input, f);
    }

    int32_t count = count_rows(nodes, point);
    int32_t next = 0;
    for (int32_t k = 0; k < point->count; k++) {
        const sn_node *n = &nodes->items[point->node[k]];
        sn_mat3 *own = &blocks[(size_t)next * (size_t)count + (size_t)next];
        if (n->kind == SINEW_NODE_RIGID && !is_dual(blend)) {
            add_arm_curvature(own, turned_arm(blend, n, point->X, point->weight[k]), f);
        }
        if (n->kind == SINEW_NODE_RIGID && is_off(point) && point->node[k] == point->off.carrier) {
            add_arm_curvature(own, world_offset(nodes, blend, point), f);
        }

        next += n->row_count;
    }
}
