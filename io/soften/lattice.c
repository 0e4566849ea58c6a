// Neighbouring cells share the nodes of the face between them if their joints are linked. The nodes
// are therefore classes of corners, found by joining the corners of such cells (union-find); limbs
// that only touch get nodes of their own.
#include "io/soften/soften.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 30 }; // of smoothing weights inside

typedef struct builder {
    const sn_lattice_def *def;
    sn_arena *arena;
    sn_soft_cells cells;
    sn_lattice *lattice;
    int32_t *node; // [8 cell + corner]: first the corner it is joined to, then the node; -1: none
} builder;

static int32_t find_root(int32_t *parent, int32_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// The lower root wins, so that the result does not depend on the order.
static void join(int32_t *parent, int32_t i, int32_t j) {
    int32_t a = find_root(parent, i), b = find_root(parent, j);
    if (a < b) {
        parent[b] = a;
    } else {
        parent[a] = b;
    }
}

static bool are_linked(const sn_soft_cells *cells, int32_t a, int32_t b) {
    for (int32_t w = 0; w < cells->words; w++) {
        if (cells->joints[(size_t)a * (size_t)cells->words + (size_t)w] &
            cells->linked[(size_t)b * (size_t)cells->words + (size_t)w]) {
            return true;
        }
    }
    return false;
}

// Corner k of a cell is at its grid position plus the bits of k.
static void join_cells(builder *b) {
    const sn_soft_cells *cells = &b->cells;
    const size_t stride[3] = {1, (size_t)cells->size[0],
                              (size_t)cells->size[0] * (size_t)cells->size[1]};
    for (int32_t cell = 0; cell < cells->count; cell++) {
        if (cells->position[cell] < 0) {
            continue;
        }

        // The margin of the grid is empty, so that a next position exists.
        for (int axis = 0; axis < 3; axis++) {
            int32_t other = cells->first[(size_t)cells->position[cell] + stride[axis]];
            for (; other >= 0; other = cells->next[other]) {
                if (!are_linked(cells, cell, other)) {
                    continue;
                }

                for (int k = 0; k < 8; k++) {
                    if (k >> axis & 1) {
                        join(b->node, 8 * cell + k, 8 * other + (k & ~(1 << axis)));
                    }
                }
            }
        }
    }
}

static sn_vec3 corner_of(const sn_soft_cells *cells, int32_t cell, int corner) {
    int32_t at = cells->position[cell];
    int32_t x = at % cells->size[0], y = at / cells->size[0] % cells->size[1];
    int32_t z = at / cells->size[0] / cells->size[1];
    sn_vec3 offset = sn_v3(x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2));
    return sn_madd(cells->lower, cells->h, offset);
}

// Whether a cell before this one has the same nodes at the given corners: limbs that meet in a cell
// may be joined all around it.
static bool is_repeated(const builder *b, int32_t cell, const int8_t corners[4]) {
    const sn_soft_cells *cells = &b->cells;
    for (int32_t other = cells->first[cells->position[cell]]; other >= 0;
         other = cells->next[other]) {
        bool same = other < cell;
        for (int k = 0; k < 4; k++) {
            same = same && b->node[8 * other + corners[k]] == b->node[8 * cell + corners[k]];
        }
        if (same) {
            return true;
        }
    }
    return false;
}

// Five tets a cell, mirrored in every other one so that diagonals of shared faces agree. The last
// has a third of the volume, the others a sixth.
static void add_tets(const builder *b, int32_t cell, int32_t *indices, int32_t *used) {
    static const int8_t tets[2][5][4] = {
        {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}},
        {{1, 0, 5, 3}, {2, 3, 6, 0}, {4, 5, 0, 6}, {7, 6, 3, 5}, {0, 3, 5, 6}}};
    const sn_soft_cells *cells = &b->cells;
    int32_t at = cells->position[cell];
    int32_t odd = (at % cells->size[0] + at / cells->size[0] % cells->size[1] +
                   at / cells->size[0] / cells->size[1]) %
                  2;

    double h = cells->h;
    for (int t = 0; t < 5; t++) {
        if (is_repeated(b, cell, tets[odd][t])) {
            continue;
        }
        int32_t *out = indices + 4 * (size_t)*used;
        b->lattice->volumes[(*used)++] = h * h * h / (t == 4 ? 3 : 6);
        sn_vec3 x[4];
        for (int k = 0; k < 4; k++) {
            out[k] = b->node[8 * cell + tets[odd][t][k]];
            x[k] = corner_of(cells, cell, tets[odd][t][k]);
        }
        double volume =
            sn_dot(sn_cross(sn_sub(x[1], x[0]), sn_sub(x[2], x[0])), sn_sub(x[3], x[0]));
        if (volume < 0) {
            int32_t swap = out[0];
            out[0] = out[1];
            out[1] = swap;
        }
    }
}

static sinew_status build_mesh(builder *b) {
    const sn_soft_cells *cells = &b->cells;
    sinew_mesh *mesh = &b->lattice->mesh;
    b->node = SN_PUSH(b->arena, int32_t, 8 * (size_t)cells->count);
    SN_TRY(sn_arena_status(b->arena));
    for (int32_t i = 0; i < 8 * cells->count; i++) {
        b->node[i] = i;
    }
    join_cells(b);

    // Roots come before what is joined to them: one pass numbers the nodes.
    int32_t nodes = 0, used = 0;
    double *points = SN_PUSH(b->arena, double, 24 * (size_t)cells->count);
    int32_t *indices = SN_PUSH(b->arena, int32_t, 20 * (size_t)cells->count);
    b->lattice->volumes = SN_PUSH(b->arena, double, 5 * (size_t)cells->count);
    int32_t *number = SN_PUSH(b->arena, int32_t, 8 * (size_t)cells->count);
    SN_TRY(sn_arena_status(b->arena));
    for (int32_t i = 0; i < 8 * cells->count; i++) {
        if (cells->position[i / 8] < 0) {
            continue;
        }
        int32_t root = find_root(b->node, i);
        if (root == i) {
            number[i] = nodes;
            sn_store3(points + 3 * (size_t)nodes++, corner_of(cells, i / 8, i % 8));
        }
    }
    for (int32_t i = 8 * cells->count - 1; i >= 0; i--) {
        b->node[i] = cells->position[i / 8] < 0 ? -1 : number[find_root(b->node, i)];
    }

    for (int32_t cell = 0; cell < cells->count; cell++) {
        if (cells->position[cell] >= 0) {
            add_tets(b, cell, indices, &used);
        }
    }

    *mesh = (sinew_mesh){.points = points,
                         .point_count = nodes,
                         .element = SINEW_ELEMENT_TET4,
                         .indices = indices,
                         .element_count = used};
    return SINEW_OK;
}

// The eight nodes of a cell, and the trilinear shares of a point in it.
static void find_corners(const builder *b, int32_t cell, sn_vec3 p, int32_t nodes[8],
                         double shares[8]) {
    sn_vec3 from = sn_sub(p, corner_of(&b->cells, cell, 0));
    const double t[3] = {from.x / b->cells.h, from.y / b->cells.h, from.z / b->cells.h};
    for (int i = 0; i < 8; i++) {
        nodes[i] = b->node[8 * cell + i];
        shares[i] = 1;
        for (int k = 0; k < 3; k++) {
            double c = fmin(fmax(t[k], 0), 1);
            shares[i] *= i >> k & 1 ? c : 1 - c;
        }
    }
}

static sinew_status embed_points(builder *b) {
    sn_lattice *lattice = b->lattice;
    size_t count = (size_t)b->def->point_count;
    lattice->point_nodes = SN_PUSH(b->arena, int32_t, 8 * count);
    lattice->point_shares = SN_PUSH(b->arena, double, 8 * count);
    SN_TRY(sn_arena_status(b->arena));
    for (size_t i = 0; i < count; i++) {
        find_corners(b, b->cells.of_point[i], sn_load3(b->def->points + 3 * i),
                     lattice->point_nodes + 8 * i, lattice->point_shares + 8 * i);
    }
    return SINEW_OK;
}

typedef struct spreading {
    uint8_t *known, *reached; // [node]
    float *sums, *shares;     // room: [node * joint_count], [node]
} spreading;

// Weights of nodes that are not `known` become the mean of those around them that are reached.
// Returns how many nodes are reached then.
static int32_t spread(const builder *b, spreading *s) {
    const sinew_mesh *mesh = &b->lattice->mesh;
    float *weights = b->lattice->weights;
    size_t width = (size_t)b->def->joint_count;
    memset(s->sums, 0, (size_t)mesh->point_count * width * sizeof *s->sums);
    memset(s->shares, 0, (size_t)mesh->point_count * sizeof *s->shares);

    // Sums over the edges of all tets: 16 ordered pairs of corners each.
    for (int32_t e = 0; e < 16 * mesh->element_count; e++) {
        int32_t to = mesh->indices[e / 4];
        int32_t from = mesh->indices[e / 16 * 4 + e % 4];
        if (s->known[to] || to == from || !s->reached[from]) {
            continue;
        }
        for (size_t j = 0; j < width; j++) {
            s->sums[(size_t)to * width + j] += weights[(size_t)from * width + j];
        }
        s->shares[to] += 1;
    }

    // Means.
    int32_t count = 0;
    for (int32_t i = 0; i < mesh->point_count; i++) {
        if (s->shares[i] > 0) {
            for (size_t j = 0; j < width; j++) {
                weights[(size_t)i * width + j] = s->sums[(size_t)i * width + j] / s->shares[i];
            }
        }
        s->reached[i] = s->reached[i] || s->shares[i] > 0;
        count += s->reached[i];
    }

    return count;
}

// The artist's weights at the surface, continued into the solid: nodes around the surface take
// them over, the others the mean of their neighbours.
static sinew_status extend_weights(builder *b) {
    const sn_lattice_def *def = b->def;
    sn_lattice *lattice = b->lattice;
    size_t nodes = (size_t)lattice->mesh.point_count, width = (size_t)def->joint_count;
    if (width * nodes > (size_t)1 << 28) {
        return sn_fail(b->arena->context, SINEW_UNSUPPORTED,
                       "%d joints at %zu nodes are too many; ask for fewer tets",
                       (int)def->joint_count, nodes);
    }

    lattice->weights = SN_PUSH(b->arena, float, nodes *width);
    spreading s = {.known = SN_PUSH(b->arena, uint8_t, nodes),
                   .reached = SN_PUSH(b->arena, uint8_t, nodes),
                   .sums = SN_PUSH(b->arena, float, nodes *width),
                   .shares = SN_PUSH(b->arena, float, nodes)};
    SN_TRY(sn_arena_status(b->arena));

    // Nodes of the cells around the vertices: the mean of the vertices' weights.
    for (size_t i = 0; i < 8 * (size_t)def->point_count; i++) {
        size_t node = (size_t)lattice->point_nodes[i];
        float share = (float)lattice->point_shares[i];
        for (size_t j = 0; j < width; j++) {
            lattice->weights[node * width + j] += share * (float)def->weights[i / 8 * width + j];
        }
        s.shares[node] += share;
    }

    for (size_t i = 0; i < nodes; i++) {
        s.known[i] = s.reached[i] = s.shares[i] > 1e-3F;
        for (size_t j = 0; j < width; j++) {
            lattice->weights[i * width + j] /= s.known[i] ? s.shares[i] : 1;
        }
    }

    // The rest, until every node that can be reached is reached and smoothed.
    int32_t before = -1, after = 0;
    for (int sweep = 0; sweep < SWEEPS || after > before; sweep++) {
        before = after;
        after = spread(b, &s);
    }

    return SINEW_OK;
}

static double segment_distance(sn_vec3 p, const sn_soft_bone *bone) {
    sn_vec3 along = sn_sub(bone->to, bone->from);
    double length2 = sn_dot(along, along);
    double t = length2 > 0 ? sn_dot(sn_sub(p, bone->from), along) / length2 : 0;
    return sn_distance(p, sn_madd(bone->from, fmin(fmax(t, 0), 1), along));
}

// The cell at a point whose joints include one, or -1.
static int32_t find_cell(const sn_soft_cells *cells, sn_vec3 p, int32_t joint) {
    int32_t at[3];
    sn_soft_cells_locate(cells, p, at);
    int32_t cell = cells->first[sn_soft_cells_index(cells, at[0], at[1], at[2])];
    while (cell >= 0 && !(cells->joints[(size_t)cell * (size_t)cells->words + (size_t)joint / 64] >>
                              (joint % 64) &
                          1)) {
        cell = cells->next[cell];
    }
    return cell;
}

// Holds the nodes nearest to points of a bone, so that every bone inside moves the flesh around it
// however thin that is.
static void hold_along(const builder *b, const sn_soft_bone *bone) {
    double length = sn_distance(bone->from, bone->to);
    int32_t n = (int32_t)fmin(ceil(length / b->cells.h), 10000) + 1;
    for (int32_t i = 0; i <= n; i++) {
        double t = (double)i / n;
        sn_vec3 p = sn_add(sn_scale(1 - t, bone->from), sn_scale(t, bone->to));
        int32_t cell = find_cell(&b->cells, p, bone->joint);
        if (cell < 0) {
            continue;
        }

        int32_t nodes[8], best = 0;
        double shares[8];
        find_corners(b, cell, p, nodes, shares);
        for (int k = 1; k < 8; k++) {
            best = shares[k] > shares[best] ? k : best;
        }
        b->lattice->held[nodes[best]] = 1;
    }
}

// Parts of the lattice that no bone holds follow the skin as a whole: otherwise they would fly off.
static sinew_status hold_loose_parts(const builder *b) {
    const sinew_mesh *mesh = &b->lattice->mesh;
    uint8_t *tied = SN_PUSH(b->arena, uint8_t, mesh->point_count);
    SN_TRY(sn_arena_status(b->arena));
    memcpy(tied, b->lattice->held, (size_t)mesh->point_count);

    // Spread from held nodes through the tets until nothing changes.
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t e = 0; e < mesh->element_count; e++) {
            const int32_t *node = mesh->indices + 4 * (size_t)e;
            int sum = tied[node[0]] + tied[node[1]] + tied[node[2]] + tied[node[3]];
            if (sum > 0 && sum < 4) {
                for (int k = 0; k < 4; k++) {
                    tied[node[k]] = 1;
                    changed = true;
                }
            }
        }
    }

    // Hold what was not reached.
    for (int32_t i = 0; i < mesh->point_count; i++) {
        b->lattice->held[i] = b->lattice->held[i] || !tied[i];
        b->lattice->held_count += b->lattice->held[i];
    }

    return SINEW_OK;
}

static sinew_status hold_core(builder *b) {
    const sn_lattice_def *def = b->def;
    sn_lattice *lattice = b->lattice;
    size_t width = (size_t)def->joint_count;
    lattice->held = SN_PUSH(b->arena, uint8_t, lattice->mesh.point_count);
    SN_TRY(sn_arena_status(b->arena));

    for (int32_t i = 0; i < lattice->mesh.point_count; i++) {
        sn_vec3 p = sn_load3(lattice->mesh.points + 3 * (size_t)i);
        double nearest = INFINITY;
        for (int32_t k = 0; k < def->bone_count; k++) {
            // Only bones that the skin follows here: the hip does not hold a hand that touches it.
            if (lattice->weights[(size_t)i * width + (size_t)def->bones[k].joint] > 0.05F) {
                nearest = fmin(nearest, segment_distance(p, &def->bones[k]));
            }
        }
        double depth = sn_soft_cells_find_depth(&b->cells, p, NULL);
        lattice->held[i] = isfinite(nearest) && nearest < def->core * (nearest + depth);
    }

    for (int32_t k = 0; k < def->bone_count; k++) {
        hold_along(b, &def->bones[k]);
    }

    return hold_loose_parts(b);
}

sinew_status sn_lattice_create(sn_arena *arena, const sn_lattice_def *def, sn_lattice *lattice) {
    *lattice = (sn_lattice){0};
    builder b = {.def = def, .arena = arena, .lattice = lattice};
    SN_TRY(sn_soft_cells_create(arena, def, &b.cells));
    lattice->cell = b.cells.h;
    SN_TRY(build_mesh(&b));
    SN_TRY(embed_points(&b));
    SN_TRY(extend_weights(&b));

    return hold_core(&b);
}
