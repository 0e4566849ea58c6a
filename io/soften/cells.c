// A regular grid around the surface. Grid positions that the surface passes through, or that cannot
// be reached from outside without crossing it, are solid; holes smaller than a cell are closed.
//
// Sets of joints are bit sets. Two sets are linked if they share a joint, or if one holds the
// parent of a joint in the other; joints that no vertex follows are skipped on the way to the
// parent.
#include "io/soften/soften.h"

#include "math/box.h"

#include <math.h>
#include <string.h>

enum {
    TETS_PER_CELL = 5,
    MOST_POSITIONS = 1 << 26, // of the grid, empty ones included
    SIZE_ROUNDS = 4,          // of looking for the size of a cell
};

static const double least_weight = 0.1; // of a joint that a vertex is said to follow

typedef struct builder {
    const sn_lattice_def *def;
    sn_arena *arena;
    sn_soft_cells *cells;
    sn_box box;
    uint8_t *solid; // [grid position]
    int32_t solid_count;
    int32_t capacity;       // of the cells
    uint64_t *point_joints; // [point * words]
    uint64_t *point_linked; // [point * words]
    int32_t *sample_points; // [sample] the nearest corner of its triangle
} builder;

static size_t count_positions(const sn_soft_cells *cells) {
    return (size_t)cells->size[0] * (size_t)cells->size[1] * (size_t)cells->size[2];
}

void sn_soft_cells_locate(const sn_soft_cells *cells, sn_vec3 p, int32_t at[3]) {
    const double from[3] = {p.x - cells->lower.x, p.y - cells->lower.y, p.z - cells->lower.z};
    for (int k = 0; k < 3; k++) {
        at[k] = (int32_t)fmin(fmax(floor(from[k] / cells->h), 0), cells->size[k] - 1);
    }
}

static size_t position_of(const sn_soft_cells *cells, sn_vec3 p) {
    int32_t at[3];
    sn_soft_cells_locate(cells, p, at);
    return sn_soft_cells_index(cells, at[0], at[1], at[2]);
}

typedef void sample_fn(builder *b, sn_vec3 p, int32_t point);

// Points on every triangle, at most half a cell apart, each with the nearest corner.
static void visit_samples(builder *b, sample_fn *visit) {
    const sn_lattice_def *def = b->def;
    for (int32_t i = 0; i + 2 < def->index_count; i += 3) {
        const int32_t *corner = def->indices + i;
        sn_vec3 p0 = sn_load3(def->points + 3 * (size_t)corner[0]);
        sn_vec3 p1 = sn_load3(def->points + 3 * (size_t)corner[1]);
        sn_vec3 p2 = sn_load3(def->points + 3 * (size_t)corner[2]);
        double longest = fmax(sn_distance(p0, p1), fmax(sn_distance(p1, p2), sn_distance(p2, p0)));
        int32_t n = (int32_t)fmin(ceil(2 * longest / b->cells->h), 4096) + 1;

        for (int32_t u = 0; u <= n; u++) {
            for (int32_t v = 0; u + v <= n; v++) {
                double s = (double)u / n, t = (double)v / n;
                int32_t rest = n - u - v;
                int32_t nearest = rest >= u && rest >= v ? 0 : u >= v ? 1 : 2;
                visit(b, sn_madd(sn_madd(sn_scale(1 - s - t, p0), s, p1), t, p2), corner[nearest]);
            }
        }
    }
}

static void mark_position(builder *b, sn_vec3 p, int32_t point) {
    (void)point;
    b->solid[position_of(b->cells, p)] = 1;
}

// Marks what can be reached from the corner of the grid, whose margin is empty.
static sinew_status fill(builder *b) {
    enum { SURFACE = 1, OUTSIDE = 2 };
    const sn_soft_cells *cells = b->cells;
    size_t count = count_positions(cells), top = 0;
    sn_arena_mark mark = sn_arena_get_mark(b->arena);
    size_t *stack = SN_PUSH(b->arena, size_t, count);
    SN_TRY(sn_arena_status(b->arena));

    const size_t size[3] = {(size_t)cells->size[0], (size_t)cells->size[1], (size_t)cells->size[2]};
    const size_t stride[3] = {1, size[0], size[0] * size[1]};

    // Flood the outside, from neighbour to neighbour through empty cells.
    b->solid[0] = OUTSIDE;
    stack[top++] = 0;
    while (top > 0) {
        size_t from = stack[--top];
        const size_t at[3] = {from % size[0], from / size[0] % size[1], from / size[0] / size[1]};
        for (int k = 0; k < 6; k++) {
            int axis = k / 2;
            bool up = k % 2;
            if (up ? at[axis] + 1 == size[axis] : at[axis] == 0) {
                continue;
            }
            size_t to = up ? from + stride[axis] : from - stride[axis];
            if (b->solid[to] == 0) {
                b->solid[to] = OUTSIDE;
                stack[top++] = to;
            }
        }
    }

    // All else is solid: the surface and what it encloses.
    b->solid_count = 0;
    for (size_t i = 0; i < count; i++) {
        b->solid[i] = b->solid[i] != OUTSIDE;
        b->solid_count += b->solid[i];
    }

    sn_arena_rewind(b->arena, mark);
    return SINEW_OK;
}

static sinew_status try_size(builder *b, double h) {
    sn_vec3 extent = sn_box_size(b->box);
    const double size[3] = {extent.x, extent.y, extent.z};
    sn_soft_cells *cells = b->cells;
    double positions = 1;

    cells->h = h;
    cells->lower = sn_sub(b->box.lower, sn_v3(h, h, h));
    for (int k = 0; k < 3; k++) {
        cells->size[k] = (int32_t)fmin(floor(size[k] / h) + 3, 1 << 20);
        positions *= cells->size[k];
    }

    if (positions > MOST_POSITIONS) {
        return sn_fail(b->arena->context, SINEW_UNSUPPORTED,
                       "%d tets need a grid of %.0f cells; ask for fewer tets", (int)b->def->tets,
                       positions);
    }

    b->solid = SN_PUSH(b->arena, uint8_t, count_positions(cells));
    SN_TRY(sn_arena_status(b->arena));
    visit_samples(b, mark_position);
    return fill(b);
}

// A size of cells that gives about as many tets as were asked for.
static sinew_status choose_size(builder *b) {
    double wanted = fmax(1, b->def->tets / (double)TETS_PER_CELL);
    double h = sn_box_diagonal(b->box) / 12;
    for (int round = 0;; round++) {
        sn_arena_mark mark = sn_arena_get_mark(b->arena);
        SN_TRY(try_size(b, h));
        if (round == SIZE_ROUNDS || fabs(b->solid_count / wanted - 1) < 0.05) {
            return SINEW_OK;
        }
        h *= cbrt(b->solid_count / wanted);
        sn_arena_rewind(b->arena, mark);
    }
}

static void count_sample(builder *b, sn_vec3 p, int32_t point) {
    (void)point;
    b->cells->first_sample[position_of(b->cells, p) + 1]++;
}

static void keep_sample(builder *b, sn_vec3 p, int32_t point) {
    int32_t at = b->cells->first_sample[position_of(b->cells, p)]++;
    b->cells->samples[at] = p;
    b->sample_points[at] = point;
}

static sinew_status collect_samples(builder *b) {
    sn_soft_cells *cells = b->cells;
    size_t count = count_positions(cells);
    cells->first_sample = SN_PUSH(b->arena, int32_t, count + 1);
    SN_TRY(sn_arena_status(b->arena));
    visit_samples(b, count_sample);
    for (size_t i = 0; i < count; i++) {
        cells->first_sample[i + 1] += cells->first_sample[i];
    }

    cells->samples = SN_PUSH(b->arena, sn_vec3, cells->first_sample[count]);
    b->sample_points = SN_PUSH(b->arena, int32_t, cells->first_sample[count]);
    SN_TRY(sn_arena_status(b->arena));
    visit_samples(b, keep_sample);

    // Keeping them moved each start to the next one.
    for (size_t i = count; i > 0; i--) {
        cells->first_sample[i] = cells->first_sample[i - 1];
    }
    cells->first_sample[0] = 0;

    return SINEW_OK;
}

double sn_soft_cells_find_depth(const sn_soft_cells *cells, sn_vec3 p, int32_t *nearest) {
    int32_t c[3];
    sn_soft_cells_locate(cells, p, c);
    int32_t most = cells->size[0] + cells->size[1] + cells->size[2];
    double best = INFINITY;

    // Shells of cells around the point, until nothing nearer can follow.
    for (int32_t r = 0; r < most && best > (r - 1) * cells->h; r++) {
        for (int32_t z = c[2] - r; z <= c[2] + r; z++) {
            for (int32_t y = c[1] - r; y <= c[1] + r; y++) {
                bool face =
                    r == 0 || z == c[2] - r || z == c[2] + r || y == c[1] - r || y == c[1] + r;
                for (int32_t x = c[0] - r; x <= c[0] + r; x += face ? 1 : 2 * r) {
                    bool inside = x >= 0 && y >= 0 && z >= 0 && x < cells->size[0] &&
                                  y < cells->size[1] && z < cells->size[2];
                    if (!inside) {
                        continue;
                    }
                    size_t at = sn_soft_cells_index(cells, x, y, z);
                    for (int32_t s = cells->first_sample[at]; s < cells->first_sample[at + 1];
                         s++) {
                        double distance = sn_distance(p, cells->samples[s]);
                        if (distance < best) {
                            best = distance;
                            if (nearest) {
                                *nearest = s;
                            }
                        }
                    }
                }
            }
        }
    }

    return best;
}

static bool has(const uint64_t *set, int32_t joint) {
    return set[joint / 64] >> (joint % 64) & 1;
}

static void add(uint64_t *set, int32_t joint) {
    set[joint / 64] |= (uint64_t)1 << (joint % 64);
}

// The joints that each vertex follows, and those next to them.
static sinew_status collect_joints(builder *b) {
    const sn_lattice_def *def = b->def;
    int32_t words = b->cells->words = (def->joint_count + 63) / 64;
    uint64_t *used = SN_PUSH(b->arena, uint64_t, words);
    uint64_t *neighbors = SN_PUSH(b->arena, uint64_t, (size_t)words * (size_t)def->joint_count);
    size_t count = (size_t)words * (size_t)def->point_count;
    b->point_joints = SN_PUSH(b->arena, uint64_t, count);
    b->point_linked = SN_PUSH(b->arena, uint64_t, count);
    SN_TRY(sn_arena_status(b->arena));

    // The joints that each vertex follows.
    for (int32_t i = 0; i < def->point_count; i++) {
        const double *row = def->weights + (size_t)i * (size_t)def->joint_count;
        int32_t heaviest = 0;
        for (int32_t j = 0; j < def->joint_count; j++) {
            heaviest = row[j] > row[heaviest] ? j : heaviest;
            if (row[j] >= least_weight) {
                add(b->point_joints + (size_t)i * (size_t)words, j);
                add(used, j);
            }
        }
        add(b->point_joints + (size_t)i * (size_t)words, heaviest);
        add(used, heaviest);
    }

    // The neighbours of each joint: the closest joint above it that is used, and vice versa.
    for (int32_t j = 0; j < def->joint_count; j++) {
        int32_t parent = def->parents[j];
        while (parent >= 0 && !has(used, parent)) {
            parent = def->parents[parent];
        }
        add(neighbors + (size_t)j * (size_t)words, j);
        if (def->glued) {
            memset(neighbors + (size_t)j * (size_t)words, 0xff, (size_t)words * sizeof *neighbors);
        }
        if (parent >= 0) {
            add(neighbors + (size_t)j * (size_t)words, parent);
            add(neighbors + (size_t)parent * (size_t)words, j);
        }
    }

    // The joints next to those that each vertex follows.
    for (int32_t i = 0; i < def->point_count; i++) {
        const uint64_t *joints = b->point_joints + (size_t)i * (size_t)words;
        uint64_t *linked = b->point_linked + (size_t)i * (size_t)words;
        for (int32_t j = 0; j < def->joint_count; j++) {
            if (!has(joints, j)) {
                continue;
            }

            for (int32_t w = 0; w < words; w++) {
                linked[w] |= neighbors[(size_t)j * (size_t)words + (size_t)w];
            }
        }
    }

    return SINEW_OK;
}

static bool overlaps(const uint64_t *a, const uint64_t *b, int32_t words) {
    for (int32_t w = 0; w < words; w++) {
        if (a[w] & b[w]) {
            return true;
        }
    }
    return false;
}

// Adds the joints of a vertex to the cell at a grid position that is linked to them, and joins the
// cells that this links.
static void add_to_cell(builder *b, size_t position, int32_t point) {
    sn_soft_cells *cells = b->cells;
    size_t words = (size_t)cells->words;
    const uint64_t *joints = b->point_joints + (size_t)point * words;
    const uint64_t *linked = b->point_linked + (size_t)point * words;

    int32_t home = -1;
    for (int32_t *at = &cells->first[position]; *at >= 0;) {
        int32_t cell = *at;
        if (!overlaps(cells->joints + (size_t)cell * words, linked, cells->words)) {
            at = &cells->next[cell];
            continue;
        }
        if (home < 0) {
            home = cell;
            at = &cells->next[cell];
            continue;
        }

        // A second one: merge it into the first and take it out of the list.
        for (size_t w = 0; w < words; w++) {
            cells->joints[(size_t)home * words + w] |= cells->joints[(size_t)cell * words + w];
            cells->linked[(size_t)home * words + w] |= cells->linked[(size_t)cell * words + w];
        }
        *at = cells->next[cell];
        cells->position[cell] = -1;
    }

    if (home < 0) {
        bool full = cells->count == b->capacity;
        home = full ? cells->first[position] : cells->count++;
        if (home < 0) {
            return;
        }
        if (!full) {
            cells->position[home] = (int32_t)position;
            cells->next[home] = cells->first[position];
            cells->first[position] = home;
        }
    }

    for (size_t w = 0; w < words; w++) {
        cells->joints[(size_t)home * words + w] |= joints[w];
        cells->linked[(size_t)home * words + w] |= linked[w];
    }
}

static void add_sample(builder *b, sn_vec3 p, int32_t point) {
    add_to_cell(b, position_of(b->cells, p), point);
}

// Cells inside follow what the nearest piece of surface follows.
static void add_inner_cells(builder *b) {
    sn_soft_cells *cells = b->cells;
    size_t i = 0;
    for (int32_t z = 0; z < cells->size[2]; z++) {
        for (int32_t y = 0; y < cells->size[1]; y++) {
            for (int32_t x = 0; x < cells->size[0]; x++, i++) {
                if (!b->solid[i] || cells->first[i] >= 0) {
                    continue;
                }
                int32_t nearest = 0;
                sn_vec3 middle = sn_v3(x + 0.5, y + 0.5, z + 0.5);
                sn_soft_cells_find_depth(cells, sn_madd(cells->lower, cells->h, middle), &nearest);
                add_to_cell(b, i, b->sample_points[nearest]);
            }
        }
    }
}

static sinew_status add_cells(builder *b) {
    sn_soft_cells *cells = b->cells;
    size_t positions = count_positions(cells), words = (size_t)cells->words;
    b->capacity = 4 * b->solid_count + 1024;
    size_t capacity = (size_t)b->capacity;
    cells->first = SN_PUSH(b->arena, int32_t, positions);
    cells->next = SN_PUSH(b->arena, int32_t, capacity);
    cells->position = SN_PUSH(b->arena, int32_t, capacity);
    cells->joints = SN_PUSH(b->arena, uint64_t, capacity * words);
    cells->linked = SN_PUSH(b->arena, uint64_t, capacity * words);
    cells->of_point = SN_PUSH(b->arena, int32_t, b->def->point_count);
    SN_TRY(sn_arena_status(b->arena));

    // The cells of the surface, one for each set of joints that overlap there, then those inside.
    for (size_t i = 0; i < positions; i++) {
        cells->first[i] = -1;
    }

    visit_samples(b, add_sample);
    for (int32_t i = 0; i < b->def->point_count; i++) {
        add_sample(b, sn_load3(b->def->points + 3 * (size_t)i), i);
    }
    add_inner_cells(b);

    // Each vertex is in the cell of its position that shares a joint with it.
    for (int32_t i = 0; i < b->def->point_count; i++) {
        int32_t cell = cells->first[position_of(cells, sn_load3(b->def->points + 3 * (size_t)i))];
        cells->of_point[i] = cell;
        for (; cell >= 0; cell = cells->next[cell]) {
            if (overlaps(cells->joints + (size_t)cell * words, b->point_joints + (size_t)i * words,
                         cells->words)) {
                cells->of_point[i] = cell;
            }
        }
    }

    return SINEW_OK;
}

sinew_status sn_soft_cells_create(sn_arena *arena, const sn_lattice_def *def,
                                  sn_soft_cells *cells) {
    *cells = (sn_soft_cells){0};
    builder b = {.def = def,
                 .arena = arena,
                 .cells = cells,
                 .box = sn_box_of_points(def->points, def->point_count)};
    if (!(sn_box_diagonal(b.box) > 0) || def->index_count < 3) {
        return sn_fail(arena->context, SINEW_INVALID_DATA, "the character's surface has no extent");
    }

    SN_TRY(choose_size(&b));
    SN_TRY(collect_samples(&b));
    SN_TRY(collect_joints(&b));
    return add_cells(&b);
}
