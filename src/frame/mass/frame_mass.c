// Builds G (mass.h) from the moments of the weights, and multiplies with M. Also gravity,
// gyroscopic forces and momenta. Cost of a product: the pairs of controls.
#include "frame/mass/mass.h"

#include "base/threads.h"

#include <string.h>

enum { QUADRATICS = 10, VOXELS_CHUNK = 1 << 14 };

// The exponents of a node's monomials, in the node's order.
static const int8_t exponents[QUADRATICS][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                                {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {1, 1, 0},
                                                {0, 1, 1}, {1, 0, 1}};

// The index of the product of two monomials in the list of sn_monomials().
typedef struct product_map {
    int32_t degree, monomials; // of the products
    int32_t at[QUADRATICS][QUADRATICS];
} product_map;

static product_map map_products(int32_t degree) {
    int8_t list[SN_MAX_MONOMIALS][3];
    product_map map = {.degree = degree, .monomials = sn_monomials(degree, list)};
    for (int a = 0; a < QUADRATICS; a++) {
        for (int b = 0; b < QUADRATICS; b++) {
            map.at[a][b] = -1; // of a higher degree than asked for
            for (int32_t i = 0; i < map.monomials; i++) {
                bool same = true;
                for (int k = 0; k < 3; k++) {
                    same = same && list[i][k] == exponents[a][k] + exponents[b][k];
                }

                if (same) {
                    map.at[a][b] = i;
                }
            }
        }
    }

    return map;
}

static int32_t product_degree(const sn_nodes *nodes) {
    int32_t degree = 0;
    for (int32_t i = 0; i < nodes->count; i++) {
        int32_t wanted = nodes->items[i].kind == SINEW_NODE_QUADRATIC ? 4
                         : nodes->items[i].kind == SINEW_NODE_POINT   ? 0
                                                                      : 2;
        degree = wanted > degree ? wanted : degree;
    }

    return degree;
}

static sinew_status push_blocks(sn_arena *arena, const sn_nodes *nodes, int32_t count,
                                sn_frame_mass *mass) {
    size_t controls = 3 * (size_t)nodes->control_count;
    mass->count = count;
    mass->blocks = SN_PUSH(arena, sn_mass_block, count);
    mass->rigid = SN_PUSH(arena, sn_rigid_mass, count);
    mass->share = SN_PUSH(arena, double, nodes->control_count);
    mass->controls = SN_PUSH(arena, double, controls);
    mass->velocity = SN_PUSH(arena, double, controls);
    mass->product = SN_PUSH(arena, double, controls);

    return sn_arena_status(arena);
}

static sinew_status push_block(sn_arena *arena, const sn_nodes *nodes, int32_t i, int32_t j,
                               sn_mass_block *block) {
    *block = (sn_mass_block){
        i, j,
        SN_PUSH(arena, double,
                (size_t)nodes->items[i].control_count *(size_t)nodes->items[j].control_count)};
    return sn_arena_status(arena);
}

// Row sums need the moments of every node about itself and nothing else.
static sinew_status fill_row_sums(sn_arena *arena, const sn_nodes *nodes, const product_map *map,
                                  const double *moments, sn_frame_mass *mass) {
    SN_TRY(push_blocks(arena, nodes, nodes->count, mass));
    for (int32_t i = 0; i < nodes->count; i++) {
        SN_TRY(push_block(arena, nodes, i, i, &mass->blocks[i]));
        int32_t controls = nodes->items[i].control_count;
        for (int32_t a = 0; a < controls; a++) {
            for (int32_t b = 0; b < controls; b++) {
                mass->blocks[i].G[a * controls + b] = moments[i * map->monomials + map->at[a][b]];
            }
        }
    }

    return SINEW_OK;
}

// Expresses the monomials of a node about its origin by those about `center`: m_a = sum_p S[a][p]
// e_p, with the binomial (e + d)^n = sum over r of (n over r) e^r d^(n-r).
static void shift_monomials(const sn_node *node, sn_vec3 center, double S[QUADRATICS][QUADRATICS]) {
    const double d[3] = {center.x - node->origin.x, center.y - node->origin.y,
                         center.z - node->origin.z};

    memset(S, 0, sizeof(double[QUADRATICS][QUADRATICS]));
    for (int a = 0; a < node->control_count; a++) {
        for (int p = 0; p < QUADRATICS; p++) {
            double factor = 1;
            for (int k = 0; k < 3; k++) {
                int n = exponents[a][k];
                int r = exponents[p][k];
                if (r > n) {
                    factor = 0;
                }
                if (r == n) {
                    continue;
                }
                factor *= n - r == 2 ? d[k] * d[k] : n == 2 ? 2 * d[k] : d[k];
            }
            S[a][p] = factor;
        }
    }
}

// G = S_i (moments of products) S_j'.
static void fill_pair(const sn_nodes *nodes, const sn_mass_block *block, sn_vec3 center,
                      const product_map *map, const double *moments) {
    const sn_node *row = &nodes->items[block->i];
    const sn_node *column = &nodes->items[block->j];
    int32_t rows = row->control_count;
    int32_t columns = column->control_count;
    double S[QUADRATICS][QUADRATICS], T[QUADRATICS][QUADRATICS];

    shift_monomials(row, center, S);
    shift_monomials(column, center, T);
    for (int32_t a = 0; a < rows; a++) {
        for (int32_t b = 0; b < columns; b++) {
            double sum = 0;
            for (int p = 0; p < QUADRATICS; p++) {
                for (int q = 0; q < QUADRATICS; q++) {
                    if (S[a][p] != 0 && T[b][q] != 0) {
                        sum += S[a][p] * T[b][q] * moments[map->at[p][q]];
                    }
                }
            }

            block->G[a * columns + b] = sum;
        }
    }
}

static sinew_status fill_pairs(sn_arena *arena, const sn_nodes *nodes, const product_map *map,
                               const sn_mass_pairs *pairs, sn_frame_mass *mass) {
    bool diagonal = mass->kind == SINEW_FRAME_MASS_DIAGONAL;
    SN_TRY(push_blocks(arena, nodes, diagonal ? nodes->count : pairs->count, mass));

    int32_t count = 0;
    for (int32_t k = 0; k < pairs->count; k++) {
        int32_t low = pairs->pair[k][0];
        int32_t high = pairs->pair[k][1];
        if (diagonal && low != high) {
            continue;
        }

        sn_mass_block *block = &mass->blocks[count++];
        SN_TRY(push_block(arena, nodes, high, low, block));
        fill_pair(nodes, block, pairs->center, map,
                  pairs->moments + (size_t)k * (size_t)map->monomials);
    }

    mass->count = count;
    return SINEW_OK;
}

// The share of gravity is the row sum of the consistent mass over translations, whichever kind of
// mass is used.
static void fill_shares(const sn_nodes *nodes, int32_t monomials, const double *moments,
                        const product_map *map, sn_frame_mass *mass) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        for (int32_t a = 0; a < node->control_count; a++) {
            mass->share[node->control + a] = moments[i * monomials + map->at[0][a]];
        }
    }
}

// Computes the mass of a rigid node from its moments G.
static void fill_rigid(const double *G, sn_rigid_mass *out) {
    sn_mat3 S; // second moments about the node
    out->m = G[0];
    out->c = sn_scale(1 / G[0], sn_v3(G[1], G[2], G[3]));

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            S.m[i][j] = G[4 * (1 + i) + 1 + j];
        }
    }

    S = sn_mat3_sub(S, sn_mat3_scale(out->m, sn_outer(out->c, out->c)));
    out->I = sn_mat3_sub(sn_mat3_scale(sn_mat3_trace(S), sn_mat3_identity()), S);

    double size = sn_mat3_norm(out->I);
    out->usable = out->m > 0 && sn_mat3_det(out->I) > 1e-12 * size * size * size;
    if (out->usable) {
        out->solver = sn_mat3_inverse(out->I);
    }
}

static sinew_status find_base(const sn_mass_source *source, const product_map *map) {
    sn_mass_base *base = source->base;
    if (base->moments && base->degree == map->degree) {
        return SINEW_OK;
    }

    double *moments = SN_PUSH(source->base_arena, double,
                              (size_t)source->shape->node_count *(size_t)map->monomials);

    SN_TRY(sn_arena_status(source->base_arena));
    SN_TRY(sn_compute_mass_moments(source->shape, map->degree, moments));
    *base = (sn_mass_base){map->degree, moments};

    return SINEW_OK;
}

// Computes the moments, and those of pairs if the kind of mass needs them: from the mass before a
// change, or from scratch.
static sinew_status integrate(sn_arena *arena, const sn_mass_source *source, const sn_nodes *nodes,
                              const product_map *map, sn_frame_mass *mass) {
    const sn_shape *shape = source->shape;
    bool local =
        source->change && source->old->degree == map->degree && source->insertion_count > 0;

    mass->degree = map->degree;
    mass->moments = SN_PUSH(arena, double, (size_t)nodes->count *(size_t)map->monomials);
    SN_TRY(sn_arena_status(arena));

    // Moments of the shape's own nodes, which all insertions start from.
    SN_TRY(find_base(source, map));

    if (local) {
        sn_insertions_change_mass(shape, source->change, map->degree, source->old->moments,
                                  mass->moments);
    } else {
        SN_TRY(sn_insertions_compute_mass(shape, source->insertions, source->insertion_count,
                                          map->degree, source->base->moments, mass->moments));
    }

    // Pairs: only the consistent and the diagonal mass need them.
    if (mass->kind == SINEW_FRAME_MASS_ROW_SUM) {
        return SINEW_OK;
    }

    if (local) {
        return sn_change_mass_pairs(shape, source->change, arena, map->degree, &source->old->pairs,
                                    &mass->pairs);
    }

    return sn_compute_mass_pairs(shape, source->insertions, source->insertion_count, arena,
                                 map->degree, &mass->pairs);
}

// Fills in blocks and shares from moments of the weights.
static sinew_status fill_from_moments(sn_arena *arena, const sn_mass_source *source,
                                      const sn_nodes *nodes, sn_frame_mass *mass) {
    product_map map = map_products(product_degree(nodes));
    SN_TRY(integrate(arena, source, nodes, &map, mass));

    const double *moments = mass->moments;
    if (mass->kind == SINEW_FRAME_MASS_ROW_SUM) {
        SN_TRY(fill_row_sums(arena, nodes, &map, moments, mass));
    } else {
        SN_TRY(fill_pairs(arena, nodes, &map, &mass->pairs, mass));
    }

    fill_shares(nodes, map.monomials, moments, &map, mass);
    return SINEW_OK;
}

static sinew_status build(sn_arena *arena, const sn_mass_source *source, const sn_nodes *nodes,
                          sn_frame_mass *mass) {
    bool from_points = sn_shape_is_smooth(source->shape) && mass->kind != SINEW_FRAME_MASS_ROW_SUM;
    SN_TRY(from_points ? sn_fill_point_mass(arena, source, nodes, mass)
                       : fill_from_moments(arena, source, nodes, mass));

    for (int32_t k = 0; k < mass->count; k++) {
        const sn_mass_block *block = &mass->blocks[k];
        if (block->i == block->j && nodes->items[block->i].kind == SINEW_NODE_RIGID) {
            fill_rigid(block->G, &mass->rigid[k]);
        }
    }

    mass->all_rigid = mass->kind == SINEW_FRAME_MASS_ROW_SUM && mass->count == nodes->count;
    for (int32_t k = 0; k < mass->count; k++) {
        mass->all_rigid = mass->all_rigid && mass->rigid[k].usable;
    }

    return SINEW_OK;
}

static double count_negative(void *data, int32_t begin, int32_t end) {
    const sn_weight_table *table = data;
    int64_t count = 0;
    for (int64_t k = table->start[begin]; k < table->start[end]; k++) {
        count += table->weight[k] < -1e-9;
    }
    return (double)count;
}

static bool has_negative_weights(const sn_shape *shape) {
    sn_weight_table table = shape->table;
    return sn_parallel_sum(shape->context, shape->voxels->count, VOXELS_CHUNK, count_negative,
                           &table) > 0;
}

// Row sums of quadratic nodes give modes that the solid does not have: the mass of a node about
// itself says nothing about how the second-degree motions of neighbours cancel. Beside rigid nodes
// they stay, since a coupled mass that rotates would cost momentum.
static bool is_quadratic(const sn_nodes *nodes) {
    bool quadratic = false;
    for (int32_t i = 0; i < nodes->count; i++) {
        if (nodes->items[i].kind == SINEW_NODE_RIGID) {
            return false;
        }
        quadratic = quadratic || nodes->items[i].kind == SINEW_NODE_QUADRATIC;
    }
    return quadratic;
}

sinew_status sn_frame_mass_create(sn_arena *arena, const sn_mass_source *source,
                                  const sn_nodes *nodes, sinew_frame_mass kind,
                                  sn_frame_mass **out) {
    SN_ASSERT(nodes->count == source->shape->node_count + source->insertion_count);
    sn_frame_mass *mass = SN_PUSH(arena, sn_frame_mass, 1);

    SN_TRY(sn_arena_status(arena));

    // Insertions only scale the weights of other nodes down, so the kind of mass stays.
    bool negative = source->old
                        ? source->old->kind != SINEW_FRAME_MASS_ROW_SUM
                        : sn_shape_is_smooth(source->shape) || has_negative_weights(source->shape);

    if (kind == SINEW_FRAME_MASS_ROW_SUM && negative) {
        return sn_fail(
            arena->context, SINEW_INVALID_ARGUMENT,
            "the row sum of weights that go negative, as spectral ones do, is no mass; take the "
            "consistent one");
    }

    mass->kind = kind;
    if (kind == SINEW_FRAME_MASS_AUTO && source->old) {
        mass->kind = source->old->kind;
    } else if (kind == SINEW_FRAME_MASS_AUTO) {
        bool couples = negative || is_quadratic(nodes);
        mass->kind = couples ? SINEW_FRAME_MASS_CONSISTENT : SINEW_FRAME_MASS_ROW_SUM;
    }

    *out = mass;
    return build(arena, source, nodes, mass);
}

sinew_status sn_frame_mass_create_rigid(sn_arena *arena, const sn_nodes *nodes, const double G[16],
                                        sn_frame_mass **out) {
    SN_ASSERT(nodes->count == 1 && nodes->items[0].kind == SINEW_NODE_RIGID);
    sn_frame_mass *mass = SN_PUSH(arena, sn_frame_mass, 1);
    SN_TRY(sn_arena_status(arena));
    mass->kind = SINEW_FRAME_MASS_ROW_SUM;
    SN_TRY(push_blocks(arena, nodes, 1, mass));
    SN_TRY(push_block(arena, nodes, 0, 0, &mass->blocks[0]));

    memcpy(mass->blocks[0].G, G, 16 * sizeof *G);
    memcpy(mass->share, G, 4 * sizeof *G);
    fill_rigid(G, &mass->rigid[0]);
    mass->all_rigid = mass->rigid[0].usable;
    *out = mass;
    return SINEW_OK;
}

sinew_status sn_frame_mass_row_sets(sn_arena *arena, const sn_nodes *nodes,
                                    const sn_frame_mass *mass, sn_bsr_sets *sets) {
    int32_t *offsets = SN_PUSH(arena, int32_t, mass->count + 1);
    SN_TRY(sn_arena_status(arena));

    // Count the rows that each block couples.
    for (int32_t k = 0; k < mass->count; k++) {
        const sn_mass_block *block = &mass->blocks[k];
        int32_t other = block->i == block->j ? 0 : nodes->items[block->j].row_count;
        offsets[k + 1] = offsets[k] + nodes->items[block->i].row_count + other;
    }

    int32_t *members = SN_PUSH(arena, int32_t, offsets[mass->count]);
    int32_t next = 0;

    SN_TRY(sn_arena_status(arena));

    // List them, the node's own rows first.
    for (int32_t k = 0; k < mass->count; k++) {
        const sn_mass_block *block = &mass->blocks[k];
        const sn_node *i = &nodes->items[block->i];
        const sn_node *j = &nodes->items[block->j];

        for (int32_t r = 0; r < i->row_count; r++) {
            members[next++] = i->row + r;
        }

        if (i != j) {
            for (int32_t r = 0; r < j->row_count; r++) {
                members[next++] = j->row + r;
            }
        }
    }

    *sets = (sn_bsr_sets){.count = mass->count, .offsets = offsets, .members = members};
    return SINEW_OK;
}

// Returns the controls that a row moves: one, or the three columns of a rigid node.
static int32_t first_control(const sn_node *node, int32_t r, int32_t *count) {
    bool rigid = node->kind == SINEW_NODE_RIGID;
    *count = rigid && r == 0 ? 3 : 1;
    return rigid ? 1 - r : r;
}

// Sums J_c' G_cd J_d over the controls c of row r and d of row s. J = -[a]x for columns, where J_c'
// J_d = (a.b) I - b a'.
static sn_mat3 mass_block(const sn_node *i, int32_t r, const sn_node *j, int32_t s, const double *G,
                          const double *controls) {
    int32_t rows, columns;
    int32_t c0 = first_control(i, r, &rows);
    int32_t d0 = first_control(j, s, &columns);
    int32_t width = j->control_count;
    const double *a = controls + 3 * (i->control + c0);
    const double *b = controls + 3 * (j->control + d0);

    // Rows of single controls move independently: J = I.
    if (rows == 1 && columns == 1) {
        return sn_mat3_scale(G[c0 * width + d0], sn_mat3_identity());
    }

    // A row that rotates moves several controls. Sum over them, with w = sum_d G_cd b_d.
    sn_mat3 M = {{{0}}};
    sn_vec3 sum = {0, 0, 0};
    for (int32_t c = 0; c < rows; c++) {
        const double *g = G + (c0 + c) * width + d0;
        sn_vec3 u = sn_load3(a + 3 * c);
        sn_vec3 w = sn_v3(0, 0, 0);

        for (int32_t d = 0; d < columns; d++) {
            w = sn_madd(w, g[d], sn_load3(b + 3 * d));
        }

        if (rows == 1) {
            sum = sn_scale(-1, w);
        } else if (columns == 1) {
            sum = sn_madd(sum, g[0], u);
        } else {
            double trace = sn_dot(u, w);
            M = sn_mat3_sub(M, sn_outer(w, u));
            for (int e = 0; e < 3; e++) {
                M.m[e][e] += trace;
            }
        }
    }

    return rows == columns ? M : sn_cross_matrix(sum);
}

// A rigid node in its current rotation: its centre from the node, its inertia about the centre.
typedef struct turned_mass {
    double m;
    sn_vec3 c;
    sn_mat3 R, I;
} turned_mass;

static turned_mass turn_mass(const sn_node *node, const sn_rigid_mass *mass, const double *q) {
    sn_mat3 R = sn_node_matrix(node, q);
    return (turned_mass){mass->m, sn_mat3_apply(R, mass->c), R, mass->I};
}

// Returns I w in world axes.
static sn_vec3 turn_momentum(const turned_mass *t, sn_vec3 w) {
    return sn_mat3_apply(t->R, sn_mat3_apply(t->I, sn_mat3_apply_transposed(t->R, w)));
}

// Adds the lower triangle of [I + m (c.c - c c'), m [c]x; -m [c]x, m].
static void add_rigid(const sn_nodes *nodes, const sn_frame_mass *mass, const sn_bsr *pattern,
                      double *A, double s, const double *q) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        turned_mass t = turn_mass(node, &mass->rigid[i], q);
        sn_mat3 I = sn_mat3_mul(sn_mat3_mul(t.R, t.I), sn_mat3_transpose(t.R));
        sn_vec3 c = sn_scale(s * t.m, t.c);
        double size = sn_dot(c, t.c);
        sn_mat3 turn = sn_mat3_sub(sn_mat3_scale(s, I), sn_outer(c, t.c));
        sn_mat3 between = sn_cross_matrix(c);
        double *own = A + 9 * (size_t)pattern->diagonal[node->row];
        double *below = A + 9 * (size_t)pattern->diagonal[node->row + 1];

        SN_ASSERT(pattern->columns[pattern->diagonal[node->row + 1] - 1] == node->row);
        for (int e = 0; e < 9; e++) {
            own[e] += turn.m[e / 3][e % 3] + (e % 4 == 0 ? size : 0);
            below[e - 9] -= between.m[e / 3][e % 3];
        }

        for (int e = 0; e < 9; e += 4) {
            below[e] += s * t.m;
        }
    }
}

// Momenta about the nodes.
static void multiply_rigid(const sn_nodes *nodes, const sn_frame_mass *mass, double *y,
                           const double *x, const double *q) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        turned_mass t = turn_mass(node, &mass->rigid[i], q);
        sn_vec3 w = sn_load3(x + 3 * node->row);
        sn_vec3 P = sn_scale(t.m, sn_add(sn_load3(x + 3 * node->row + 3), sn_cross(w, t.c)));
        sn_store3(y + 3 * node->row, sn_add(turn_momentum(&t, w), sn_cross(t.c, P)));
        sn_store3(y + 3 * node->row + 3, P);
    }
}

const sn_rigid_mass *sn_frame_mass_find_free(const sn_nodes *nodes, const sn_frame_mass *mass,
                                             const uint8_t *mask, int32_t i) {
    if (mass->kind == SINEW_FRAME_MASS_CONSISTENT) {
        return NULL;
    }

    SN_ASSERT(mass->blocks[i].i == i); // one block a node
    if (!mass->rigid[i].usable) {
        return NULL;
    }

    for (int r = 0; r < 6; r++) {
        if (mask[3 * nodes->items[i].row + r]) {
            return NULL;
        }
    }

    return &mass->rigid[i];
}

// The angular velocity that costs a force: that of nodes which are not free to spin.
static sn_vec3 find_turning(const sn_nodes *nodes, const sn_frame_mass *mass, int32_t i,
                            const double *v, const uint8_t *mask) {
    if (!v || (mask && sn_frame_mass_find_free(nodes, mass, mask, i))) {
        return sn_v3(0, 0, 0);
    }
    return sn_load3(v + 3 * nodes->items[i].row);
}

static void add_rigid_gravity(const sn_nodes *nodes, const sn_frame_mass *mass, double *force,
                              const double *g, const double *q, const double *v,
                              const uint8_t *mask) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        turned_mass t = turn_mass(node, &mass->rigid[i], q);
        sn_vec3 w = find_turning(nodes, mass, i, v, mask);
        sn_vec3 pull = sn_scale(t.m, sn_sub(sn_load3(g), sn_cross(w, sn_cross(w, t.c))));
        sn_add_to3(force + 3 * node->row,
                   sn_sub(sn_cross(t.c, pull), sn_cross(w, turn_momentum(&t, w))));
        sn_add_to3(force + 3 * node->row + 3, pull);
    }
}

void sn_frame_mass_add(const sn_nodes *nodes, const sn_frame_mass *mass, const sn_bsr *pattern,
                       double *A, double s, const double *q) {
    if (mass->all_rigid) {
        add_rigid(nodes, mass, pattern, A, s, q);
        return;
    }

    // The rows of rotation depend on where the controls are now.
    sn_nodes_compute_controls(nodes, q, mass->controls);
    for (int32_t k = 0; k < mass->count; k++) {
        const sn_mass_block *block = &mass->blocks[k];
        const sn_node *i = &nodes->items[block->i];
        const sn_node *j = &nodes->items[block->j];

        // The matrix is symmetric: of a node's own block only the lower triangle is stored.
        for (int32_t r = 0; r < i->row_count; r++) {
            for (int32_t c = 0; c < (i == j ? r + 1 : j->row_count); c++) {
                sn_mat3 M = mass_block(i, r, j, c, block->G, mass->controls);
                int32_t slot = sn_bsr_find(pattern, i->row + r, j->row + c);
                SN_ASSERT(slot >= 0);
                double *out = A + 9 * (size_t)slot;

                for (int e = 0; e < 9; e++) {
                    out[e] += s * M.m[e / 3][e % 3];
                }
            }
        }
    }
}

// Computes the velocities of the controls: B x.
static void carry(const sn_nodes *nodes, const double *controls, const double *x,
                  double *velocity) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        for (int32_t c = 0; c < node->control_count; c++) {
            int32_t at = 3 * (node->control + c);
            sn_vec3 v = sn_load3(x + 3 * (node->row + sn_node_row_of_control(node, c)));
            sn_store3(velocity + at,
                      sn_node_control_turns(node, c) ? sn_cross(v, sn_load3(controls + at)) : v);
        }
    }
}

// product = (G (x) I) velocity
static void weigh(const sn_nodes *nodes, const sn_frame_mass *mass) {
    memset(mass->product, 0, 3 * (size_t)nodes->control_count * sizeof *mass->product);
    for (int32_t k = 0; k < mass->count; k++) {
        const sn_mass_block *block = &mass->blocks[k];
        const sn_node *i = &nodes->items[block->i];
        const sn_node *j = &nodes->items[block->j];
        const double *to = mass->velocity + 3 * i->control;
        const double *from = mass->velocity + 3 * j->control;

        // A block between two nodes acts in both directions.
        for (int32_t c = 0; c < i->control_count; c++) {
            const double *g = block->G + c * j->control_count;
            sn_vec3 sum = sn_v3(0, 0, 0);
            sn_vec3 v = sn_load3(to + 3 * c);

            for (int32_t d = 0; d < j->control_count; d++) {
                sum = sn_madd(sum, g[d], sn_load3(from + 3 * d));
            }

            sn_add_to3(mass->product + 3 * (i->control + c), sum);
            if (i != j) {
                for (int32_t d = 0; d < j->control_count; d++) {
                    sn_add_to3(mass->product + 3 * (j->control + d), sn_scale(g[d], v));
                }
            }
        }
    }
}

// y += s B' product
static void add_rows(const sn_nodes *nodes, const sn_frame_mass *mass, double s, double *y) {
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        for (int32_t c = 0; c < node->control_count; c++) {
            int32_t at = 3 * (node->control + c);
            sn_vec3 p = sn_scale(s, sn_load3(mass->product + at));
            if (sn_node_control_turns(node, c)) {
                p = sn_cross(sn_load3(mass->controls + at), p);
            }
            sn_add_to3(y + 3 * (node->row + sn_node_row_of_control(node, c)), p);
        }
    }
}

void sn_frame_mass_multiply(const sn_nodes *nodes, const sn_frame_mass *mass, double *y,
                            const double *x, const double *q) {
    if (mass->all_rigid) {
        multiply_rigid(nodes, mass, y, x, q);
        return;
    }

    sn_nodes_compute_controls(nodes, q, mass->controls);
    carry(nodes, mass->controls, x, mass->velocity);
    weigh(nodes, mass);
    memset(y, 0, 3 * (size_t)nodes->row_count * sizeof *y);
    add_rows(nodes, mass, 1, y);
}

void sn_frame_mass_add_gravity(const sn_nodes *nodes, const sn_frame_mass *mass, double *force,
                               const double *g, const double *q, const double *v,
                               const uint8_t *mask) {
    if (mass->all_rigid) {
        add_rigid_gravity(nodes, mass, force, g, q, v, mask);
        return;
    }

    sn_nodes_compute_controls(nodes, q, mass->controls);

    // Bdot v: the columns of rigid nodes are accelerated by w x (w x a).
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        sn_vec3 w =
            node->kind == SINEW_NODE_RIGID ? find_turning(nodes, mass, i, v, mask) : sn_v3(0, 0, 0);

        for (int32_t c = 0; c < node->control_count; c++) {
            int32_t at = 3 * (node->control + c);
            sn_vec3 a = sn_v3(0, 0, 0);
            if (sn_node_control_turns(node, c)) {
                a = sn_cross(w, sn_cross(w, sn_load3(mass->controls + at)));
            }
            sn_store3(mass->velocity + at, a);
        }
    }

    weigh(nodes, mass);
    for (int32_t c = 0; c < nodes->control_count; c++) {
        sn_vec3 weight = sn_scale(mass->share[c], sn_load3(g));
        sn_store3(mass->product + 3 * c, sn_sub(weight, sn_load3(mass->product + 3 * c)));
    }

    add_rows(nodes, mass, 1, force);
}

void sn_frame_mass_compute_momenta(const sn_nodes *nodes, const sn_frame_mass *mass,
                                   const double *q, const double *v, sn_frame_momenta *momenta) {
    *momenta = (sn_frame_momenta){0};
    sn_nodes_compute_controls(nodes, q, mass->controls);
    carry(nodes, mass->controls, v, mass->velocity);
    weigh(nodes, mass);

    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        momenta->mass += mass->share[node->control];
        sn_add_to3(momenta->momentum, sn_load3(mass->product + 3 * node->control));

        for (int32_t c = 0; c < node->control_count; c++) {
            int32_t at = 3 * (node->control + c);
            sn_vec3 a = sn_load3(mass->controls + at);
            sn_vec3 p = sn_load3(mass->product + at);
            sn_add_to3(momenta->first_moment, sn_scale(mass->share[node->control + c], a));
            sn_add_to3(momenta->angular_momentum, sn_cross(a, p));
            momenta->kinetic_energy += 0.5 * sn_dot(sn_load3(mass->velocity + at), p);
        }
    }
}
