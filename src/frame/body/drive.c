// Driving frames from outside: held axes and their targets, velocities, forces on frames.
#include "frame/body/frame_body.h"

#include "math/svd.h"

#include <math.h>
#include <string.h>

sinew_status sn_frame_body_find_node(const sinew_body *body, int32_t index, const sn_node **node) {
    const sn_nodes *nodes = sn_frame_nodes_of(body);
    int32_t count = nodes ? nodes->count : 0;
    if (index < 0 || index >= count) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "frame %d of body \"%s\": there are %d", index, body->name, count);
    }

    *node = &nodes->items[index];
    return SINEW_OK;
}

// Returns the bits of a row's held axes.
static int32_t held_axes(int32_t hold, bool translation) {
    if (hold & (translation ? SINEW_HOLD_TRANSLATION : SINEW_HOLD_ROTATION)) {
        return 7;
    }
    return hold / (translation ? SINEW_HOLD_X : SINEW_HOLD_TURN_X) & 7;
}

sinew_status sinew_frame_body_hold(sinew_body *body, int32_t index, int32_t hold) {
    SN_NEED(NULL, body);

    const int32_t axes = 7 * SINEW_HOLD_X;
    const int32_t turns = 7 * SINEW_HOLD_TURN_X;
    const sn_node *node = NULL;

    SN_TRY(sn_frame_body_find_node(body, index, &node));
    if (hold & ~(SINEW_HOLD_ALL | axes | turns)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "hold is %d; valid are 0 to %d", hold,
                       SINEW_HOLD_ALL | axes | turns);
    }

    if ((hold & turns) && node->kind != SINEW_NODE_RIGID) {
        return sn_fail(
            body->context, SINEW_INVALID_ARGUMENT,
            "frame %d of body \"%s\" is not rigid: its turning is held as a whole or not at all",
            index, body->name);
    }

    // The row of the translation and the other rows have different axes held.
    for (int32_t r = 0; r < node->row_count; r++) {
        int32_t held = held_axes(hold, node->row + r == sn_node_translation_row(node));
        for (int k = 0; k < 3; k++) {
            body->mask[3 * (node->row + r) + k] = held >> k & 1;
        }
    }

    // A held frame stays where it is until it is moved.
    memcpy(body->target + node->config, body->q + node->config,
           (size_t)sn_node_config_count(node) * sizeof(double));

    return SINEW_OK;
}

// Moves the targets of frames that may rotate about some axes only to their current rotations: such
// a frame does not rotate back, but continues about those axes.
void sn_frame_body_settle(sinew_body *body) {
    const sn_frame_model *model = body->model;
    for (int32_t i = 0; i < model->nodes.count; i++) {
        const sn_node *node = &model->nodes.items[i];
        const uint8_t *mask = body->mask + 3 * node->row;
        if (node->kind != SINEW_NODE_RIGID || mask[0] + mask[1] + mask[2] == 0 ||
            (mask[0] && mask[1] && mask[2])) {
            continue;
        }

        memcpy(body->target + node->config, body->q + node->config, 4 * sizeof(double));
    }
}

static sinew_status check_pose(const sinew_body *body, int32_t index, const double *position,
                               const double *rotation) {
    double norm = 0;
    if (rotation) {
        for (int k = 0; k < 4; k++) {
            norm += rotation[k] * rotation[k];
        }
    }

    if ((!position || sn_finite3(sn_load3(position))) &&
        (!rotation || (norm > 1e-12 && isfinite(norm)))) {
        return SINEW_OK;
    }

    return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                   "the target of frame %d of body \"%s\" must be finite, its quaternion not zero",
                   index, body->name);
}

// Writes the arguments that are not NULL into the target of a node.
static void set_target(sinew_body *body, const sn_node *node, const double *position,
                       const double *rotation) {
    double *target = body->target + node->config;
    bool rigid = node->kind == SINEW_NODE_RIGID;
    if (position) {
        memcpy(target + (rigid ? 4 : 0), position, 3 * sizeof *target);
    }
    if (!rotation || node->kind == SINEW_NODE_POINT) {
        return;
    }

    sn_quat q = sn_quat_normalize((sn_quat){rotation[0], rotation[1], rotation[2], rotation[3]});
    if (rigid) {
        // Choose the closer of q and -q, so that the motion continues without a jump.
        sn_quat now = sn_node_rotation(node, body->q);
        if (sn_quat_dot(now, q) < 0) {
            q = sn_quat_scale(-1, q);
        }

        target[0] = q.x;
        target[1] = q.y;
        target[2] = q.z;
        target[3] = q.w;

        return;
    }

    sn_mat3 R = sn_quat_to_mat3(q);
    for (int k = 0; k < 3; k++) {
        sn_store3(target + 3 + 3 * k, sn_mat3_column(R, k));
    }
}

sinew_status sinew_frame_body_move(sinew_body *body, int32_t index, const double position[3],
                                   const double rotation[4]) {
    SN_NEED(NULL, body);
    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));
    SN_TRY(check_pose(body, index, position, rotation));
    set_target(body, node, position, rotation);
    return SINEW_OK;
}

sinew_status sinew_frame_body_set_node(sinew_body *body, int32_t index, const double position[3],
                                       const double rotation[4]) {
    SN_NEED(NULL, body);

    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));
    SN_TRY(check_pose(body, index, position, rotation));

    size_t bytes = (size_t)sn_node_config_count(node) * sizeof(double);
    if (!rotation) {
        memcpy(body->target + node->config, body->q + node->config, bytes); // position and all
    }

    const double *now = body->q + node->config + (node->kind == SINEW_NODE_RIGID ? 4 : 0);
    set_target(body, node, position ? position : now, rotation);

    double *copies[] = {body->q, body->previous_q, body->balance_q};
    for (int i = 0; i < 3; i++) {
        memcpy(copies[i] + node->config, body->target + node->config, bytes);
    }

    memset(body->v + 3 * node->row, 0, 3 * (size_t)node->row_count * sizeof(double));
    *body->history = 0;

    return SINEW_OK;
}

static sinew_status check_pair(const sinew_body *body, int32_t index, const char *what,
                               const double *a, const double *b) {
    if ((!a || sn_finite3(sn_load3(a))) && (!b || sn_finite3(sn_load3(b)))) {
        return SINEW_OK;
    }
    return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                   "%s of frame %d of body \"%s\" must be finite", what, index, body->name);
}

sinew_status sinew_frame_body_get_velocity(const sinew_body *body, int32_t index,
                                           double velocity[3], double spin[3]) {
    SN_NEED(NULL, body);

    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));

    const double *rates = body->v + 3 * node->row;
    if (velocity) {
        memcpy(velocity, body->v + 3 * sn_node_translation_row(node), 3 * sizeof *velocity);
    }
    if (!spin) {
        return SINEW_OK;
    }

    sn_vec3 w = node->kind == SINEW_NODE_RIGID ? sn_load3(rates) : sn_v3(0, 0, 0);
    if (node->kind >= SINEW_NODE_AFFINE) {
        sn_mat3 S;
        sn_mat3 R = sn_polar3(&S, sn_node_matrix(node, body->q));
        w = sn_polar_spin3(
            R, S, sn_mat3_columns(sn_load3(rates + 3), sn_load3(rates + 6), sn_load3(rates + 9)));
    }

    sn_store3(spin, w);
    return SINEW_OK;
}

sinew_status sinew_frame_body_set_velocity(sinew_body *body, int32_t index,
                                           const double velocity[3], const double spin[3]) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, velocity && spin);

    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));
    SN_TRY(check_pair(body, index, "the velocity", velocity, spin));

    double *rates = body->v + 3 * node->row;
    memset(rates, 0, 3 * (size_t)node->row_count * sizeof *rates);
    memcpy(body->v + 3 * sn_node_translation_row(node), velocity, 3 * sizeof *velocity);
    *body->history = 0;

    if (node->kind == SINEW_NODE_RIGID) {
        memcpy(rates, spin, 3 * sizeof *spin);
    }

    if (node->kind != SINEW_NODE_RIGID) {
        for (int32_t c = 1; c < node->row_count; c++) {
            sn_store3(rates + 3 * c,
                      sn_cross(sn_load3(spin), sn_load3(body->q + node->config + 3 * c)));
        }
    }

    return SINEW_OK;
}

// Applies a torque to columns a_c: the forces w x a_c with sum of a_c x (w x a_c) = torque.
static sinew_status add_torque(sinew_body *body, int32_t index, const sn_node *node,
                               sn_vec3 torque) {
    sn_mat3 N = {{{0}}};
    for (int32_t c = 1; c < 4; c++) {
        sn_vec3 a = sn_load3(body->q + node->config + 3 * c);
        N = sn_mat3_add(
            N, sn_mat3_sub(sn_mat3_scale(sn_dot(a, a), sn_mat3_identity()), sn_outer(a, a)));
    }

    double size = sn_mat3_norm(N);
    if (!(sn_mat3_det(N) > 1e-12 * size * size * size)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "frame %d of body \"%s\" is flat: nothing to turn it by", index, body->name);
    }

    sn_vec3 w = sn_mat3_apply(sn_mat3_inverse(N), torque);
    for (int32_t c = 1; c < 4; c++) {
        sn_vec3 a = sn_load3(body->q + node->config + 3 * c);
        sn_add_to3(body->applied + 3 * (node->row + c), sn_cross(w, a));
    }

    return SINEW_OK;
}

sinew_status sinew_frame_body_add_node_force(sinew_body *body, int32_t index, const double force[3],
                                             const double torque[3]) {
    SN_NEED(NULL, body);

    const sn_node *node = NULL;
    SN_TRY(sn_frame_body_find_node(body, index, &node));
    SN_TRY(check_pair(body, index, "the force", force, torque));

    bool turns = torque && (torque[0] != 0 || torque[1] != 0 || torque[2] != 0);
    if (turns && node->kind == SINEW_NODE_POINT) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "frame %d of body \"%s\" is a point: it takes no torque", index, body->name);
    }

    if (turns && node->kind == SINEW_NODE_RIGID) {
        sn_add_to3(body->applied + 3 * node->row, sn_load3(torque));
    }
    if (turns && node->kind != SINEW_NODE_RIGID) {
        SN_TRY(add_torque(body, index, node, sn_load3(torque)));
    }
    if (force) {
        sn_add_to3(body->applied + 3 * sn_node_translation_row(node), sn_load3(force));
    }

    return SINEW_OK;
}

void sn_frame_node_force(const sinew_body *body, const sn_node *node, const double *rows,
                         sn_vec3 *force, sn_vec3 *torque) {
    *force = sn_load3(rows + 3 * sn_node_translation_row(node));
    *torque = node->kind == SINEW_NODE_RIGID ? sn_load3(rows + 3 * node->row) : sn_v3(0, 0, 0);
    if (node->kind != SINEW_NODE_RIGID) {
        for (int32_t c = 1; c < node->row_count; c++) {
            sn_vec3 a = sn_load3(body->q + node->config + 3 * c);
            *torque = sn_add(*torque, sn_cross(a, sn_load3(rows + 3 * (node->row + c))));
        }
    }
}
