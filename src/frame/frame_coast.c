#include "frame/frame_coast.h"

#include "math/quat.h"

enum { ITERATIONS = 50 };

bool sn_frame_coasts(const sn_nodes *nodes, const sn_frame_mass *mass) {
    if (mass->kind == SINEW_FRAME_MASS_CONSISTENT) return false;
    for (int32_t i = 0; i < nodes->count; i++) {
        if (nodes->items[i].kind == SINEW_NODE_RIGID) return true;
    }
    return false;
}

// The mass of a node that turns freely; NULL if it does not.
static const sn_rigid_mass *find_free(const sn_nodes *nodes, const sn_frame_mass *mass, const uint8_t *mask, int32_t k) {
    const sn_node *node = &nodes->items[mass->blocks[k].i];
    if (!mass->rigid[k].usable) return NULL;
    for (int r = 0; r < 6; r++) {
        if (mask[3 * node->row + r]) return NULL;
    }
    return &mass->rigid[k];
}

static sn_vec3 sandwich(sn_mat3 R, sn_mat3 A, sn_vec3 v) {
    return sn_mat3_apply(R, sn_mat3_apply(A, sn_mat3_apply_transposed(R, v)));
}

// theta = h I^-1 L with the inertia half-way, in the axes of the node, where only L turns.
static sn_vec3 free_turn(const sn_rigid_mass *mass, sn_quat q, sn_vec3 w, double h) {
    sn_vec3 own = sn_quat_rotate(sn_quat_conjugate(q), w), L = sn_mat3_apply(mass->I, own), theta = sn_scale(h, own);
    for (int i = 0; i < ITERATIONS; i++) {
        sn_vec3 next = sn_scale(h, sn_mat3_apply(mass->solver, sn_quat_rotate(sn_quat_exp(sn_scale(-0.5, theta)), L)));
        double change = sn_distance(next, theta);
        theta = next;
        if (!(change > 1e-15 * sn_length(theta))) break;
    }
    return sn_quat_rotate(q, theta);
}

void sn_frame_coast(const sn_nodes *nodes, const sn_frame_mass *mass, const uint8_t *mask, const double *q, const double *v,
                    double h, double *xi) {
    for (int32_t i = 0; i < 3 * nodes->row_count; i++) xi[i] = h * v[i];
    for (int32_t k = 0; k < mass->count; k++) {
        const sn_rigid_mass *own = find_free(nodes, mass, mask, k);
        if (!own) continue;
        const sn_node *node = &nodes->items[mass->blocks[k].i];
        sn_quat turn = sn_node_rotation(node, q);
        sn_vec3 w = sn_load3(v + 3 * node->row), arm = sn_quat_rotate(turn, own->c);
        if (sn_dot(w, w) == 0) continue;
        sn_vec3 theta = free_turn(own, turn, w, h), turned = sn_quat_rotate(sn_quat_exp(theta), arm);
        sn_vec3 center = sn_scale(h, sn_add(sn_load3(v + 3 * node->row + 3), sn_cross(w, arm)));
        sn_store3(xi + 3 * node->row, theta);
        sn_store3(xi + 3 * node->row + 3, sn_add(center, sn_sub(arm, turned)));
    }
}

void sn_frame_transport(const sn_nodes *nodes, const sn_frame_mass *mass, const uint8_t *mask, const double *from,
                        const double *to, const double *mean, double *v) {
    for (int32_t k = 0; k < mass->count; k++) {
        const sn_rigid_mass *own = find_free(nodes, mass, mask, k);
        if (!own) continue;
        const sn_node *node = &nodes->items[mass->blocks[k].i];
        double *out = v + 3 * node->row;
        const double *middle = mean + 3 * node->row;
        sn_mat3 R = sn_node_matrix(node, from), S = sn_node_matrix(node, to);
        sn_vec3 arm = sn_mat3_apply(R, own->c), turned = sn_mat3_apply(S, own->c), w = sn_load3(out);
        sn_vec3 P = sn_scale(own->m, sn_add(sn_load3(out + 3), sn_cross(w, arm)));
        sn_vec3 P_mean = sn_scale(own->m, sn_add(sn_load3(middle + 3), sn_cross(sn_load3(middle), arm)));
        // Angular momentum about the node, which itself moves on: its change is the torque less t' x P.
        sn_vec3 L = sn_add(sandwich(R, own->I, w), sn_cross(arm, P));
        sn_vec3 way = sn_sub(sn_load3(sn_node_translation(node, to)), sn_load3(sn_node_translation(node, from)));
        L = sn_sub(L, sn_cross(way, P_mean));
        w = sandwich(S, own->solver, sn_sub(L, sn_cross(turned, P)));
        sn_store3(out, w);
        sn_store3(out + 3, sn_sub(sn_scale(1 / own->m, P), sn_cross(w, turned)));
    }
}
