// Nodes: configurations at rest and placed, motion by increments of the rows, controls and tables.
// The kinds are listed in nodes.h.
#include "frame/blend/nodes.h"

#include "math/svd.h"

#include <string.h>

static const int32_t config_counts[] = {3, 7, 12, 30, 48}, row_counts[] = {1, 2, 4, 10, 16},
                     control_counts[] = {1, 4, 4, 10, 16};

sinew_status sn_nodes_create(sn_arena *arena, const sinew_frame_node *defs, int32_t count,
                             sn_nodes *nodes) {
    *nodes = (sn_nodes){.count = count, .items = SN_PUSH(arena, sn_node, count)};
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < count; i++) {
        sinew_node_kind kind = defs[i].kind;
        nodes->items[i] = (sn_node){kind,
                                    sn_load3(defs[i].position),
                                    nodes->config_count,
                                    nodes->row_count,
                                    nodes->control_count,
                                    row_counts[kind],
                                    control_counts[kind],
                                    NULL};
        nodes->config_count += config_counts[kind];
        nodes->row_count += row_counts[kind];
        nodes->control_count += control_counts[kind];
    }

    return SINEW_OK;
}

static void store_quat(double *q, sn_quat a) {
    q[0] = a.x;
    q[1] = a.y;
    q[2] = a.z;
    q[3] = a.w;
}

static sn_quat load_quat(const double *q) {
    return (sn_quat){q[0], q[1], q[2], q[3]};
}

void sn_nodes_place(const sn_nodes *nodes, double *q, sn_quat R, sn_vec3 t) {
    sn_mat3 turn = sn_quat_to_mat3(R);
    memset(q, 0, (size_t)nodes->config_count * sizeof *q);
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        double *config = q + node->config;
        sn_vec3 x = sn_add(sn_mat3_apply(turn, node->origin), t);

        if (node->kind == SINEW_NODE_RIGID) {
            store_quat(config, R);
            sn_store3(config + 4, x);
            continue;
        }

        sn_store3(config, x);
        if (node->kind != SINEW_NODE_POINT) {
            for (int k = 0; k < 3; k++) {
                sn_store3(config + 3 + 3 * k, sn_mat3_column(turn, k));
            }
        }
    }
}

// The monomials 1, d, c and c_a d_b.
static void compliant_monomials(const sn_node *node, sn_rest_point *point, double *m, sn_vec3 *dm) {
    // The compliance is the same for all nodes at a point.
    if (!point->known) {
        sn_shape_compliance_at(node->compliance, point->X, point->c, point->dc);
        point->known = true;
    }

    sn_vec3 d = sn_sub(point->X, node->origin);
    const double linear[4] = {1, d.x, d.y, d.z};
    const sn_vec3 axes[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

    // Each of 1, d_x, d_y and d_z, alone and times the three components of c.
    for (int b = 0; b < 4; b++) {
        if (m) {
            m[b] = linear[b];
        }
        if (dm) {
            dm[b] = axes[b];
        }
        for (int a = 0; a < 3; a++) {
            int k = b == 0 ? 4 + a : 7 + 3 * a + b - 1;
            if (m) {
                m[k] = point->c[a] * linear[b];
            }
            if (dm) {
                dm[k] = sn_madd(sn_scale(point->c[a], axes[b]), linear[b], point->dc[a]);
            }
        }
    }
}

int32_t sn_node_monomials(const sn_node *node, sn_rest_point *point, double m[SN_NODE_MAX_CONTROLS],
                          sn_vec3 dm[SN_NODE_MAX_CONTROLS]) {
    if (node->kind == SINEW_NODE_COMPLIANT) {
        compliant_monomials(node, point, m, dm);
        return node->control_count;
    }

    sn_vec3 d = sn_sub(point->X, node->origin);
    double values[] = {1,         d.x,       d.y,       d.z,       d.x * d.x,
                       d.y * d.y, d.z * d.z, d.x * d.y, d.y * d.z, d.z * d.x};
    sn_vec3 gradients[] = {{0, 0, 0},       {1, 0, 0},       {0, 1, 0},       {0, 0, 1},
                           {2 * d.x, 0, 0}, {0, 2 * d.y, 0}, {0, 0, 2 * d.z}, {d.y, d.x, 0},
                           {0, d.z, d.y},   {d.z, 0, d.x}};

    for (int32_t k = 0; k < node->control_count; k++) {
        if (m) {
            m[k] = values[k];
        }
        if (dm) {
            dm[k] = gradients[k];
        }
    }

    return node->control_count;
}

void sn_nodes_compute_controls(const sn_nodes *nodes, const double *q, double *controls) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        double *out = controls + 3 * node->control;
        if (node->kind == SINEW_NODE_RIGID) {
            sn_mat3 R = sn_quat_to_mat3(load_quat(q + node->config));
            memcpy(out, q + node->config + 4, 3 * sizeof *out);
            for (int k = 0; k < 3; k++) {
                sn_store3(out + 3 + 3 * k, sn_mat3_column(R, k));
            }
        } else {
            memcpy(out, q + node->config, 3 * (size_t)node->control_count * sizeof *out);
        }
    }
}

void sn_nodes_compute_table(const sn_nodes *nodes, const double *q, double *table) {
    for (int32_t i = 0; i < nodes->count; i++, table += SN_RIGID_TABLE) {
        const sn_node *node = &nodes->items[i];
        SN_ASSERT(node->kind == SINEW_NODE_RIGID);
        sn_quat a = load_quat(q + node->config);
        sn_mat3 R = sn_quat_to_mat3(a);
        store_quat(table + SN_RIGID_QUAT, a);
        memcpy(table + SN_RIGID_ROTATION, R.m, sizeof R.m);
        memcpy(table + SN_RIGID_TRANSLATION, q + node->config + 4, 3 * sizeof *table);
        sn_store3(table + SN_RIGID_ORIGIN, node->origin);
    }
}

void sn_nodes_retract(const sn_nodes *nodes, double *q, const double *base, const double *xi) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        const double *from = base + node->config;
        const double *step = xi + 3 * node->row;
        double *to = q + node->config;

        if (node->kind == SINEW_NODE_RIGID) {
            // Normalising keeps rounding from growing; it does not change the sign.
            store_quat(
                to, sn_quat_normalize(sn_quat_mul(sn_quat_exp(sn_load3(step)), load_quat(from))));
            for (int k = 0; k < 3; k++) {
                to[4 + k] = from[4 + k] + step[3 + k];
            }
        } else {
            for (int32_t k = 0; k < 3 * node->row_count; k++) {
                to[k] = from[k] + step[k];
            }
        }
    }
}

void sn_nodes_translate(const sn_nodes *nodes, double *q, sn_vec3 by) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        sn_add_to3(q + node->config + (node->kind == SINEW_NODE_RIGID ? 4 : 0), by);
    }
}

void sn_nodes_difference(const sn_nodes *nodes, double *xi, const double *q, const double *base) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        const double *to = q + node->config;
        const double *from = base + node->config;
        double *step = xi + 3 * node->row;

        if (node->kind == SINEW_NODE_RIGID) {
            sn_store3(step,
                      sn_quat_log(sn_quat_mul(load_quat(to), sn_quat_conjugate(load_quat(from)))));
            for (int k = 0; k < 3; k++) {
                step[3 + k] = to[4 + k] - from[4 + k];
            }
        } else {
            for (int32_t k = 0; k < 3 * node->row_count; k++) {
                step[k] = to[k] - from[k];
            }
        }
    }
}

sn_mat3 sn_node_matrix(const sn_node *node, const double *q) {
    const double *config = q + node->config;
    if (node->kind == SINEW_NODE_POINT) {
        return sn_mat3_identity();
    }
    if (node->kind == SINEW_NODE_RIGID) {
        return sn_quat_to_mat3(load_quat(config));
    }

    return sn_mat3_columns(sn_load3(config + 3), sn_load3(config + 6), sn_load3(config + 9));
}

sn_quat sn_node_rotation(const sn_node *node, const double *q) {
    if (node->kind == SINEW_NODE_RIGID) {
        return load_quat(q + node->config);
    }
    return sn_quat_from_mat3(sn_polar3(NULL, sn_node_matrix(node, q)));
}
