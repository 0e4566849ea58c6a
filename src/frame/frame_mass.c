#include "frame/frame_mass.h"

#include "frame/samples.h"

// Exponents of the monomials of a node, in its order.
static const int8_t exponents[SN_NODE_MAX_CONTROLS][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0},
                                                          {0, 2, 0}, {0, 0, 2}, {1, 1, 0}, {0, 1, 1}, {1, 0, 1}};

static int32_t find_monomial(int8_t list[SN_MAX_MONOMIALS][3], int32_t count, int32_t a, int32_t b) {
    for (int32_t i = 0; i < count; i++) {
        bool same = true;
        for (int k = 0; k < 3; k++) same = same && list[i][k] == exponents[a][k] + exponents[b][k];
        if (same) return i;
    }
    SN_ASSERT(false);
    return 0;
}

static sn_mat3 rest_inertia(const sn_node_mass *mass) {
    sn_mat3 second = {{{0}}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) second.m[i][j] = mass->moment[1 + i][1 + j];
    }
    return sn_mat3_sub(sn_mat3_scale(sn_mat3_trace(second), sn_mat3_identity()), second);
}

sinew_status sn_frame_mass_create(sn_arena *arena, const sn_shape *shape, const sn_nodes *nodes, sn_node_mass **out) {
    int32_t degree = 0;
    for (int32_t i = 0; i < nodes->count; i++) {
        int32_t wanted = nodes->items[i].kind == SINEW_NODE_QUADRATIC ? 4 : nodes->items[i].kind == SINEW_NODE_POINT ? 0 : 2;
        degree = wanted > degree ? wanted : degree;
    }
    int8_t list[SN_MAX_MONOMIALS][3];
    int32_t count = sn_monomials(degree, list);
    sn_node_mass *mass = SN_PUSH(arena, sn_node_mass, nodes->count);
    double *moments = SN_PUSH(arena, double, (size_t)count *(size_t)nodes->count);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(sn_compute_mass_moments(shape, degree, moments));
    for (int32_t i = 0; i < nodes->count; i++) {
        int32_t controls = nodes->items[i].control_count;
        for (int32_t a = 0; a < controls; a++) {
            for (int32_t b = 0; b < controls; b++)
                mass[i].moment[a][b] = moments[i * count + find_monomial(list, count, a, b)];
        }
        mass[i].inertia = rest_inertia(&mass[i]);
    }
    *out = mass;
    return SINEW_OK;
}

static sn_vec3 first_moment(const sn_node_mass *mass) {
    return sn_v3(mass->moment[0][1], mass->moment[0][2], mass->moment[0][3]);
}

static sn_mat3 turned_inertia(const sn_node_mass *mass, sn_mat3 R) {
    return sn_mat3_mul(R, sn_mat3_mul(mass->inertia, sn_mat3_transpose(R)));
}

// The 3x3 block of rows (r, s) of one node.
static sn_mat3 mass_block(const sn_node *node, const sn_node_mass *mass, int32_t r, int32_t s, sn_mat3 R) {
    if (node->kind != SINEW_NODE_RIGID) return sn_mat3_scale(mass->moment[r][s], sn_mat3_identity());
    if (r == 0 && s == 0) return turned_inertia(mass, R);
    if (r == 1 && s == 1) return sn_mat3_scale(mass->moment[0][0], sn_mat3_identity());
    // da = w x (R d), so w meets t through [m c]x above and its transpose below.
    sn_mat3 cross = sn_cross_matrix(sn_mat3_apply(R, first_moment(mass)));
    return r == 0 ? cross : sn_mat3_transpose(cross);
}

void sn_frame_mass_add(const sn_nodes *nodes, const sn_node_mass *mass, const sn_bsr *pattern, double *A, double s,
                       const double *q) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        sn_mat3 R = sn_node_matrix(node, q);
        for (int32_t r = 0; r < node->row_count; r++) {
            for (int32_t c = 0; c <= r; c++) {
                sn_mat3 M = mass_block(node, &mass[i], r, c, R);
                double *block = A + 9 * (size_t)sn_bsr_find(pattern, node->row + r, node->row + c);
                for (int e = 0; e < 9; e++) block[e] += s * M.m[e / 3][e % 3];
            }
        }
    }
}

void sn_frame_mass_multiply(const sn_nodes *nodes, const sn_node_mass *mass, double *y, const double *x, const double *q) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        sn_mat3 R = sn_node_matrix(node, q);
        for (int32_t r = 0; r < node->row_count; r++) {
            sn_vec3 sum = {0, 0, 0};
            for (int32_t c = 0; c < node->row_count; c++) {
                sum = sn_add(sum, sn_mat3_apply(mass_block(node, &mass[i], r, c, R), sn_load3(x + 3 * (node->row + c))));
            }
            sn_store3(y + 3 * (node->row + r), sum);
        }
    }
}

static void add_rigid(const sn_node *node, const sn_node_mass *mass, double *force, sn_vec3 g, sn_mat3 R, sn_vec3 w) {
    sn_vec3 mc = sn_mat3_apply(R, first_moment(mass));
    sn_vec3 torque = sn_sub(sn_cross(mc, g), sn_cross(w, sn_mat3_apply(turned_inertia(mass, R), w)));
    sn_vec3 push = sn_sub(sn_scale(mass->moment[0][0], g), sn_cross(w, sn_cross(w, mc)));
    sn_add_to3(force + 3 * node->row, torque);
    sn_add_to3(force + 3 * (node->row + 1), push);
}

void sn_frame_mass_add_gravity(const sn_nodes *nodes, const sn_node_mass *mass, double *force, const double *g,
                               const double *q, const double *v) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        if (node->kind == SINEW_NODE_RIGID) {
            add_rigid(node, &mass[i], force, sn_load3(g), sn_node_matrix(node, q), sn_load3(v + 3 * node->row));
            continue;
        }
        for (int32_t r = 0; r < node->row_count; r++) {
            sn_add_to3(force + 3 * (node->row + r), sn_scale(mass[i].moment[0][r], sn_load3(g)));
        }
    }
}
