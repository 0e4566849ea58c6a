// Free motion of rigid nodes and transport of their momentum; mass.h gives the method (implicit
// midpoint rule on the rotation group). Cost: a few fixed-point iterations for each rigid node.
#include "frame/mass/mass.h"

#include "math/quat.h"

enum { ITERATIONS = 50 };

// Below this rotation in a step, a straight step is as good: it causes strains of half the square.
// [rad]
static const double SLOW = 1e-3;

bool sn_frame_moves_freely(const sn_nodes *nodes, const sn_frame_mass *mass) {
    if (mass->kind == SINEW_FRAME_MASS_CONSISTENT) {
        return false;
    }

    for (int32_t i = 0; i < nodes->count; i++) {
        if (nodes->items[i].kind == SINEW_NODE_RIGID) {
            return true;
        }
    }

    return false;
}

static sn_vec3 sandwich(sn_mat3 R, sn_mat3 A, sn_vec3 v) {
    return sn_mat3_apply(R, sn_mat3_apply(A, sn_mat3_apply_transposed(R, v)));
}

// Solves theta = h I^-1 L with the inertia half-way, in the axes of the node, in which only L
// rotates.
static sn_vec3 free_turn(const sn_rigid_mass *mass, sn_quat q, sn_vec3 w, double h) {
    sn_vec3 own = sn_quat_rotate(sn_quat_conjugate(q), w);
    sn_vec3 L = sn_mat3_apply(mass->I, own);
    sn_vec3 theta = sn_scale(h, own);

    for (int i = 0; i < ITERATIONS; i++) {
        sn_vec3 next = sn_scale(
            h, sn_mat3_apply(mass->solver, sn_quat_rotate(sn_quat_exp(sn_scale(-0.5, theta)), L)));
        double change = sn_distance(next, theta);
        theta = next;

        if (!(change > 1e-15 * sn_length(theta))) {
            break;
        }
    }

    return sn_quat_rotate(q, theta);
}

void sn_frame_free_motion(const sn_nodes *nodes, const sn_frame_mass *mass, const uint8_t *mask,
                          const double *q, const double *v, double h, double *xi) {
    // Everything moves along its velocity, except free rigid nodes that spin.
    for (int32_t i = 0; i < 3 * nodes->row_count; i++) {
        xi[i] = h * v[i];
    }

    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        const sn_rigid_mass *own =
            node->kind == SINEW_NODE_RIGID ? sn_frame_mass_find_free(nodes, mass, mask, i) : NULL;
        if (!own) {
            continue;
        }

        sn_quat turn = sn_node_rotation(node, q);
        sn_vec3 w = sn_load3(v + 3 * node->row);
        sn_vec3 arm = sn_quat_rotate(turn, own->c);
        if (sn_dot(w, w) == 0) {
            continue;
        }

        // The centre of mass moves along a line, the node about it by the free rotation.
        sn_vec3 theta = free_turn(own, turn, w, h);
        sn_vec3 turned = sn_quat_rotate(sn_quat_exp(theta), arm);
        sn_vec3 center = sn_scale(h, sn_add(sn_load3(v + 3 * node->row + 3), sn_cross(w, arm)));

        sn_store3(xi + 3 * node->row, theta);
        sn_store3(xi + 3 * node->row + 3, sn_add(center, sn_sub(arm, turned)));
    }
}

// The momentum of a node, angular about the node; and the velocity that has it.
typedef struct node_momentum {
    sn_vec3 L, P;
} node_momentum;

static node_momentum find_momentum(const sn_rigid_mass *own, sn_mat3 R, const double *v) {
    sn_vec3 w = sn_load3(v);
    sn_vec3 arm = sn_mat3_apply(R, own->c);
    sn_vec3 P = sn_scale(own->m, sn_add(sn_load3(v + 3), sn_cross(w, arm)));
    return (node_momentum){sn_add(sandwich(R, own->I, w), sn_cross(arm, P)), P};
}

static void set_momentum(double *v, const sn_rigid_mass *own, sn_mat3 R, node_momentum p) {
    sn_vec3 arm = sn_mat3_apply(R, own->c);
    sn_vec3 w = sandwich(R, own->solver, sn_sub(p.L, sn_cross(arm, p.P)));
    sn_store3(v, w);
    sn_store3(v + 3, sn_sub(sn_scale(1 / own->m, p.P), sn_cross(w, arm)));
}

// Returns the displacement of a node's translation.
static sn_vec3 find_displacement(const sn_node *node, const double *from, const double *to) {
    return sn_sub(sn_load3(sn_node_translation(node, to)),
                  sn_load3(sn_node_translation(node, from)));
}

// Solves theta = d/3 + 2h/3 w, where w is the velocity at the end of the step whose momentum is L.
static sn_vec3 free_turn_bdf2(const sn_rigid_mass *mass, sn_quat q, sn_vec3 L, sn_vec3 d,
                              double h) {
    sn_vec3 theta = d;
    for (int i = 0; i < ITERATIONS; i++) {
        sn_mat3 end = sn_quat_to_mat3(sn_quat_mul(sn_quat_exp(theta), q));
        sn_vec3 next = sn_madd(sn_scale(1.0 / 3, d), 2 * h / 3, sandwich(end, mass->solver, L));
        double change = sn_distance(next, theta);
        theta = next;

        if (!(change > 1e-15 * sn_length(theta))) {
            break;
        }
    }

    return theta;
}

void sn_frame_free_motion_bdf2(const sn_nodes *nodes, const sn_frame_mass *mass,
                               const sinew_body *body, double h, double *xi, double *momentum) {
    // Extrapolate with the weights of BDF2: (4 v - v_old) / 3, and the displacement likewise.
    sn_nodes_difference(nodes, xi, body->q, body->previous_q);
    for (int32_t i = 0; i < 3 * nodes->row_count; i++) {
        momentum[i] = (4 * body->v[i] - body->previous_v[i]) / 3;
    }

    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        const sn_rigid_mass *own = node->kind == SINEW_NODE_RIGID
                                       ? sn_frame_mass_find_free(nodes, mass, body->mask, i)
                                       : NULL;
        int32_t at = 3 * node->row;

        if (!own) {
            for (int32_t k = at; k < at + 3 * node->row_count; k++) {
                xi[k] = xi[k] / 3 + 2 * h / 3 * momentum[k];
            }
            continue;
        }

        // Of a free rigid node momenta are extrapolated, since velocities are not conserved in a
        // spin.
        sn_mat3 R = sn_node_matrix(node, body->q);
        sn_mat3 S = sn_node_matrix(node, body->previous_q);
        sn_vec3 arm = sn_mat3_apply(R, own->c);
        sn_vec3 displacement = find_displacement(node, body->previous_q, body->q);
        node_momentum p = find_momentum(own, R, body->v + at);
        node_momentum old = find_momentum(own, S, body->previous_v + at);

        old.L = sn_sub(old.L, sn_cross(displacement, old.P)); // about where the node is now
        p.L = sn_sub(sn_scale(4.0 / 3, p.L), sn_scale(1.0 / 3, old.L));
        p.P = sn_sub(sn_scale(4.0 / 3, p.P), sn_scale(1.0 / 3, old.P));
        set_momentum(momentum + at, own, R, p);

        // Centre of mass and rotation about it follow from the momenta.
        sn_vec3 center = sn_add(displacement, sn_sub(arm, sn_mat3_apply(S, own->c)));
        sn_vec3 spin = sn_sub(p.L, sn_cross(arm, p.P));

        center = sn_madd(sn_scale(1.0 / 3, center), 2 * h / (3 * own->m), p.P);
        sn_vec3 theta =
            free_turn_bdf2(own, sn_node_rotation(node, body->q), spin, sn_load3(xi + at), h);
        sn_vec3 turned = sn_quat_rotate(sn_quat_exp(theta), arm);

        sn_store3(xi + at, theta);
        sn_store3(xi + at + 3, sn_add(center, sn_sub(arm, turned)));
    }
}

// Computes the centre of all nodes, and the inverse of the inertia about it; nodes are rotated as
// in q and positioned as in `place`.
typedef struct whole_mass {
    sn_vec3 center;
    sn_mat3 solver;
} whole_mass;

static whole_mass find_whole(const sn_nodes *nodes, const sn_frame_mass *mass, const double *q,
                             const double *place) {
    whole_mass whole = {{0, 0, 0}, {{{0}}}};
    sn_mat3 sum = {{{0}}};
    double m = 0;

    // First the common centre of mass, then the inertia about it, with Steiner's term for each
    // node.
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < nodes->count; i++) {
            const sn_rigid_mass *own = &mass->rigid[i];
            sn_mat3 R = sn_node_matrix(&nodes->items[i], q);
            sn_vec3 c = sn_add(sn_load3(sn_node_translation(&nodes->items[i], place)),
                               sn_mat3_apply(R, own->c));

            if (pass == 0) {
                whole.center = sn_madd(whole.center, own->m, c);
                m += own->m;
                continue;
            }

            sn_vec3 r = sn_sub(c, whole.center);
            sn_mat3 steiner =
                sn_mat3_sub(sn_mat3_scale(sn_dot(r, r), sn_mat3_identity()), sn_outer(r, r));
            sn_mat3 I = sn_mat3_mul(sn_mat3_mul(R, own->I), sn_mat3_transpose(R));

            sum = sn_mat3_add(sum, sn_mat3_add(I, sn_mat3_scale(own->m, steiner)));
        }

        if (pass == 0) {
            whole.center = sn_scale(1 / m, whole.center);
        }
    }

    whole.solver = sn_mat3_inverse(sum);
    return whole;
}

bool sn_frame_find_rigid_step(const sn_nodes *nodes, const sn_frame_mass *mass, const double *q,
                              const double *v, double h, double *xi) {
    if (!mass->all_rigid) {
        return false;
    }

    // The rigid motion that carries the body's whole momentum.
    sn_frame_momenta sums;
    sn_frame_mass_compute_momenta(nodes, mass, q, v, &sums);

    whole_mass whole = find_whole(nodes, mass, q, q);
    sn_vec3 P = sn_load3(sums.momentum);
    sn_vec3 L = sn_sub(sn_load3(sums.angular_momentum), sn_cross(whole.center, P));
    sn_vec3 theta = sn_scale(h, sn_mat3_apply(whole.solver, L));
    sn_vec3 displacement = sn_scale(h / sums.mass, P);

    if (!(sn_length(theta) > SLOW)) {
        return false;
    }

    // All nodes take part in it.
    sn_quat turn = sn_quat_exp(theta);
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        sn_vec3 r = sn_sub(sn_load3(sn_node_translation(node, q)), whole.center);
        sn_store3(xi + 3 * node->row, theta);
        sn_store3(xi + 3 * node->row + 3, sn_add(displacement, sn_sub(sn_quat_rotate(turn, r), r)));
    }

    return true;
}

void sn_frame_find_rigid_turn(const sn_nodes *nodes, const sn_frame_mass *mass, const double *q,
                              const double *place, const double *force, double *a) {
    whole_mass whole = find_whole(nodes, mass, q, place);
    sn_vec3 torque = {0, 0, 0};
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        sn_vec3 r = sn_sub(sn_load3(sn_node_translation(node, place)), whole.center);
        sn_vec3 own = sn_load3(force + 3 * node->row);
        sn_vec3 f = sn_load3(force + 3 * node->row + 3);
        torque = sn_add(torque, sn_add(own, sn_cross(r, f)));
    }

    sn_vec3 turn = sn_mat3_apply(whole.solver, torque);
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        sn_vec3 r = sn_sub(sn_load3(sn_node_translation(node, place)), whole.center);
        sn_store3(a + 3 * node->row, turn);
        sn_store3(a + 3 * node->row + 3, sn_cross(turn, r));
    }
}

void sn_frame_transport(const sn_nodes *nodes, const sn_frame_mass *mass, const uint8_t *mask,
                        const double *from, const double *to, const double *mean, double *v) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        const sn_rigid_mass *own =
            node->kind == SINEW_NODE_RIGID ? sn_frame_mass_find_free(nodes, mass, mask, i) : NULL;
        if (!own) {
            continue;
        }

        sn_mat3 R = sn_node_matrix(node, from);
        const double *middle = mean + 3 * node->row;
        sn_vec3 arm = sn_mat3_apply(R, own->c);
        sn_vec3 P_mean =
            sn_scale(own->m, sn_add(sn_load3(middle + 3), sn_cross(sn_load3(middle), arm)));

        // Angular momentum about the node, which itself moves: its change is the torque less t' x
        // P.
        node_momentum p = find_momentum(own, R, v + 3 * node->row);

        p.L = sn_sub(p.L, sn_cross(find_displacement(node, from, to), P_mean));
        set_momentum(v + 3 * node->row, own, sn_node_matrix(node, to), p);
    }
}

void sn_frame_transport_acceleration(const sn_nodes *nodes, const sn_frame_mass *mass,
                                     const uint8_t *mask, const double *from, const double *to,
                                     double *a) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        const sn_rigid_mass *own =
            node->kind == SINEW_NODE_RIGID ? sn_frame_mass_find_free(nodes, mass, mask, i) : NULL;
        if (!own) {
            continue;
        }

        node_momentum force = find_momentum(own, sn_node_matrix(node, from), a + 3 * node->row);
        set_momentum(a + 3 * node->row, own, sn_node_matrix(node, to), force);
    }
}

void sn_frame_restore_turn(const sn_nodes *nodes, const sn_frame_mass *mass, sinew_body *body,
                           const double *place, double h) {
    if (!mass->all_rigid) {
        return;
    }

    sn_vec3 lost = {0, 0, 0};
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        sn_mat3 R = sn_node_matrix(node, body->previous_q);
        node_momentum force = find_momentum(&mass->rigid[i], R, body->acceleration + 3 * node->row);
        lost = sn_add(
            lost, sn_scale(h, sn_cross(find_displacement(node, body->previous_q, place), force.P)));
    }

    whole_mass whole = find_whole(nodes, mass, body->q, body->q);
    sn_vec3 turn = sn_mat3_apply(whole.solver, lost);
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        sn_vec3 r = sn_sub(sn_load3(sn_node_translation(node, body->q)), whole.center);
        sn_add_to3(body->v + 3 * node->row, turn);
        sn_add_to3(body->v + 3 * node->row + 3, sn_cross(turn, r));
    }
}
