// The lattice: signs, cuts, and points moved onto cuts.
//
// A cut is too close to a point below 0.24999 of a long edge or 0.41189 of a short one: the values
// with which Labelle and Shewchuk bound the dihedral angles of their stencils by 10.7 and 164.8
// degrees.
#include "geom/tetrahedralize/lattice.h"

#include "base/threads.h"

#include <string.h>

enum { CHUNK = 256, FIRST_SHORT = 6, BLOCK = 4 };

static const double too_close_long = 0.24999, too_close_short = 0.41189;

// Accuracy of winding numbers: errors of 5e-3 do not matter, because inside and outside differ by
// 1.
static const double winding_accuracy = 2;

static sn_vec3 original_point(const sn_lattice *lattice, int32_t point) {
    int32_t cell = point / 2;
    int32_t row = cell / lattice->cells[0];
    double shift = point % 2 ? 0.5 : 0;
    sn_vec3 at = sn_v3(cell % lattice->cells[0] + shift, row % lattice->cells[1] + shift,
                       row / lattice->cells[1] + shift);
    return sn_madd(lattice->lower, lattice->h, at);
}

sn_vec3 sn_lattice_point(const sn_lattice *lattice, int32_t point) {
    int32_t cut = lattice->moved_to[point];
    return cut < 0 ? original_point(lattice, point) : sn_load3(sn_at3(lattice->points, cut));
}

int32_t sn_lattice_parity(const sn_lattice *lattice, int32_t point) {
    int32_t cell = point / 2;
    int32_t row = cell / lattice->cells[0];
    return (cell % lattice->cells[0] + row % lattice->cells[1] + row / lattice->cells[1]) % 2;
}

// The points that edge e of a cell joins, the owning cell's first.
static void edge_points(const sn_lattice *lattice, int32_t cell, int32_t edge, int32_t points[2]) {
    if (edge < FIRST_SHORT) {
        points[0] = 2 * cell + edge / 3;
        points[1] = 2 * (cell + lattice->strides[edge % 3]) + edge / 3;
    } else {
        points[0] = 2 * cell + 1;
        points[1] = 2 * (cell + lattice->corner_stride[edge - FIRST_SHORT]);
    }
}

static int32_t count_bits(uint32_t bits) {
    int32_t count = 0;
    for (; bits; bits &= bits - 1) {
        count++;
    }
    return count;
}

static int32_t cut_number(const sn_lattice *lattice, int32_t cell, int32_t edge) {
    SN_ASSERT(lattice->cut[cell] >> edge & 1);
    return lattice->first_cut[cell] + count_bits(lattice->cut[cell] & ((1u << edge) - 1));
}

int32_t sn_lattice_cut_between(const sn_lattice *lattice, int32_t a, int32_t b) {
    SN_ASSERT(a != b);
    int32_t kind_a = a % 2;
    int32_t kind_b = b % 2;

    // A long edge, between points of the same kind.
    if (kind_a == kind_b) {
        int32_t low = a < b ? a : b;
        int32_t stride = (a < b ? b - a : a - b) / 2;
        int32_t axis = 0;

        while (axis < 2 && lattice->strides[axis] != stride) {
            axis++;
        }

        SN_ASSERT(lattice->strides[axis] == stride); // neighbours
        return cut_number(lattice, low / 2, 3 * kind_a + axis);
    }

    // A short edge, from a centre to a corner.
    int32_t cell = (kind_a ? a : b) / 2;
    int32_t stride = (kind_a ? b : a) / 2 - cell;
    int32_t corner = 0;

    while (corner < 7 && lattice->corner_stride[corner] != stride) {
        corner++;
    }

    SN_ASSERT(lattice->corner_stride[corner] == stride);
    return cut_number(lattice, cell, FIRST_SHORT + corner);
}

typedef struct lattice_job {
    sn_lattice *lattice;
    const sn_triangle_tree *tree;
    bool closed;
    sn_box box;
    int32_t blocks[3]; // of BLOCK^3 cells
} lattice_job;

static int8_t sign_at(const lattice_job *job, int32_t point) {
    sn_vec3 p = original_point(job->lattice, point);
    bool inside = sn_box_contains(job->box, p) &&
                  sn_triangle_tree_winding(job->tree, p, winding_accuracy) > 0.5;
    return inside ? 1 : -1;
}

static bool note_triangle(void *data, int32_t item) {
    (void)item;
    *(bool *)data = true;
    return false;
}

// Whether a triangle may lie among the points of cells [first, last): tests the box of their
// corners and centres.
static bool holds_triangles(const lattice_job *job, const int32_t first[3], const int32_t last[3]) {
    sn_vec3 lower = sn_v3(first[0], first[1], first[2]);
    sn_vec3 upper = sn_v3(last[0], last[1], last[2]);
    sn_box box = {sn_madd(job->lattice->lower, job->lattice->h, lower),
                  sn_madd(job->lattice->lower, job->lattice->h, upper)};
    bool found = false;
    sn_bvh_overlap(&job->tree->bvh, box, note_triangle, &found);

    return found;
}

static void sign_block(const lattice_job *job, int32_t block) {
    const sn_lattice *lattice = job->lattice;
    int32_t first[3], last[3];
    int32_t index[3] = {block % job->blocks[0], block / job->blocks[0] % job->blocks[1],
                        block / job->blocks[0] / job->blocks[1]};

    for (int k = 0; k < 3; k++) {
        first[k] = BLOCK * index[k];
        last[k] = first[k] + BLOCK < lattice->cells[k] ? first[k] + BLOCK : lattice->cells[k];
    }

    // One winding number is enough for a block that the surface does not cross.
    bool alike = job->closed && !holds_triangles(job, first, last);
    int32_t corner = first[0] + first[1] * lattice->strides[1] + first[2] * lattice->strides[2];
    int8_t sign = alike ? sign_at(job, 2 * corner) : 0;

    for (int32_t k = first[2]; k < last[2]; k++) {
        for (int32_t j = first[1]; j < last[1]; j++) {
            int32_t row = j * lattice->strides[1] + k * lattice->strides[2];
            for (int32_t point = 2 * (row + first[0]); point < 2 * (row + last[0]); point++) {
                lattice->signs[point] = alike ? sign : sign_at(job, point);
            }
        }
    }
}

static void sign_chunk(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    for (int32_t block = begin; block < end; block++) {
        sign_block(data, block);
    }
}

// Finds the edges that join inside and outside. The grid's last layers own no such edge: everything
// beyond the box is outside.
static void mark_chunk(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    sn_lattice *lattice = ((lattice_job *)data)->lattice;
    int32_t last = lattice->cell_count - lattice->corner_stride[7];

    for (int32_t cell = begin; cell < end && cell < last; cell++) {
        uint16_t cut = 0;
        for (int32_t edge = 0; edge < SN_LATTICE_EDGES; edge++) {
            int32_t points[2];
            edge_points(lattice, cell, edge, points);
            if (lattice->signs[points[0]] != lattice->signs[points[1]]) {
                cut = (uint16_t)(cut | 1u << edge);
            }
        }

        lattice->cut[cell] = lattice->kept[cell] = cut;
    }
}

static double winding_at(const lattice_job *job, sn_vec3 a, sn_vec3 d, double t) {
    return sn_triangle_tree_winding(job->tree, sn_madd(a, t, d), winding_accuracy);
}

// Where the surface cuts the edge from a to a + d, one end of which is inside. If there is one
// triangle between the ends, the cut is on it; with several (folds, overlaps) or none (a hole), the
// interval is bisected by winding numbers until one is left or it is short.
static double find_cut(const lattice_job *job, sn_vec3 a, sn_vec3 d, bool starts_inside) {
    double low = 0, high = 1;
    for (int iteration = 0; iteration < 16; iteration++) {
        // The first triangle from either end.
        sn_vec3 from = sn_madd(a, low, d);
        sn_vec3 back = sn_madd(a, high, d);
        sn_ray_hit first = sn_triangle_tree_ray(job->tree, from, d, high - low);
        sn_ray_hit last = first;

        if (first.triangle >= 0) {
            last = sn_triangle_tree_ray(job->tree, back, sn_scale(-1, d), high - low);
        }

        // The same from both ends: the only crossing.
        if (first.triangle >= 0 && last.triangle >= 0 &&
            fabs(low + first.t - (high - last.t)) < 1e-9) {
            return low + first.t;
        }

        // Otherwise keep the half whose ends differ.
        double middle = (low + high) / 2;
        if ((winding_at(job, a, d, middle) > 0.5) == starts_inside) {
            low = middle;
        } else {
            high = middle;
        }
    }

    return (low + high) / 2;
}

static void cut_chunk(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    lattice_job *job = data;
    sn_lattice *lattice = job->lattice;

    for (int32_t cell = begin; cell < end; cell++) {
        int32_t cut = lattice->first_cut[cell];
        for (int32_t edge = 0; edge < SN_LATTICE_EDGES; edge++) {
            if (!(lattice->cut[cell] >> edge & 1)) {
                continue;
            }

            int32_t points[2];
            edge_points(lattice, cell, edge, points);

            // Find the cut between the original positions of the ends.
            sn_vec3 a = original_point(lattice, points[0]);
            sn_vec3 d = sn_sub(original_point(lattice, points[1]), a);
            double t = find_cut(job, a, d, lattice->signs[points[0]] > 0);

            SN_ASSERT(t >= 0 && t <= 1 + 1e-9 && cut < lattice->cut_count);
            lattice->parameters[cut] = t;
            sn_store3(sn_at3(lattice->points, cut++), sn_madd(a, t, d));
        }
    }
}

// One of the 14 edges that meet at a point.
typedef struct point_edge {
    int32_t cell, edge;
    bool first; // the point is the edge's first
} point_edge;

static point_edge edge_of_point(const sn_lattice *lattice, int32_t point, int32_t i) {
    int32_t cell = point / 2;
    int32_t kind = point % 2;
    if (i < 3) {
        return (point_edge){cell, 3 * kind + i, true};
    }
    if (i < 6) {
        return (point_edge){cell - lattice->strides[i - 3], 3 * kind + i - 3, false};
    }
    if (kind == 1) {
        return (point_edge){cell, i, true};
    }

    return (point_edge){cell - lattice->corner_stride[i - FIRST_SHORT], i, false};
}

// Moves a point onto its nearest kept cut if that is too close; `scale` reduces the limit.
static void move_point(sn_lattice *lattice, int32_t point, double scale) {
    int32_t onto = -1;
    double nearest = INFINITY;

    // The nearest cut among those that are too close.
    for (int32_t i = 0; i < SN_LATTICE_EDGES; i++) {
        point_edge e = edge_of_point(lattice, point, i);
        if (e.cell < 0 || !(lattice->kept[e.cell] >> e.edge & 1)) {
            continue;
        }

        int32_t cut = cut_number(lattice, e.cell, e.edge);
        double at = e.first ? lattice->parameters[cut] : 1 - lattice->parameters[cut];
        bool is_long = e.edge < FIRST_SHORT;
        double distance = at * (is_long ? 1 : 0.86602540378443865); // in units of h

        if (at >= scale * (is_long ? too_close_long : too_close_short) || distance >= nearest) {
            continue;
        }

        nearest = distance;
        onto = cut;
    }

    if (onto < 0) {
        return;
    }

    // The point is now on the surface, and its edges have no cuts.
    SN_ASSERT(lattice->moved_to[point] < 0);
    lattice->signs[point] = 0;
    lattice->moved_to[point] = onto;

    for (int32_t i = 0; i < SN_LATTICE_EDGES; i++) {
        point_edge e = edge_of_point(lattice, point, i);
        if (e.cell >= 0) {
            lattice->kept[e.cell] = (uint16_t)(lattice->kept[e.cell] & ~(1u << e.edge));
        }
    }
}

// Points that are on the surface up to rounding come first: their sign is arbitrary, and so are
// their other cuts.
static void move_points(sn_lattice *lattice) {
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t point = 0; point < 2 * lattice->cell_count; point++) {
            if (lattice->signs[point] != 0) {
                move_point(lattice, point, pass == 0 ? 1e-4 : 1);
            }
        }
    }
}

static double cells_along(double extent, double h) {
    return ceil(extent / h) + 4; // a layer outside on either side, and rounding
}

double sn_lattice_cell_count(sn_box box, double h) {
    sn_vec3 size = sn_box_size(box);
    return cells_along(size.x, h) * cells_along(size.y, h) * cells_along(size.z, h);
}

static void set_up_lattice(sn_lattice *lattice, sn_box box, double h) {
    sn_vec3 size = sn_box_size(box);
    sn_vec3 center = sn_box_center(box);
    const double extent[3] = {size.x, size.y, size.z};

    for (int k = 0; k < 3; k++) {
        lattice->cells[k] = (int32_t)cells_along(extent[k], h);
    }

    lattice->strides[0] = 1;
    lattice->strides[1] = lattice->cells[0];
    lattice->strides[2] = lattice->cells[0] * lattice->cells[1];

    for (int b = 0; b < 8; b++) {
        lattice->corner_stride[b] = 0;
        for (int k = 0; k < 3; k++) {
            lattice->corner_stride[b] += (b >> k & 1) * lattice->strides[k];
        }
    }

    lattice->cell_count = lattice->strides[2] * lattice->cells[2];
    lattice->h = h;

    // Symmetric about the centre of the box, so that symmetric shapes get symmetric meshes as far
    // as their lattice allows.
    lattice->lower =
        sn_madd(center, -0.5 * h,
                sn_v3(lattice->cells[0] - 1, lattice->cells[1] - 1, lattice->cells[2] - 1));
}

static sinew_status count_cuts(sinew_context *context, sn_lattice *lattice) {
    int64_t count = 0;
    for (int32_t cell = 0; cell < lattice->cell_count; cell++) {
        lattice->first_cut[cell] = (int32_t)count;
        count += count_bits(lattice->cut[cell]);
        if (count + 2 * (int64_t)lattice->cell_count > INT32_MAX) {
            return sn_fail(context, SINEW_OUT_OF_MEMORY,
                           "the lattice has more than %d cuts and points", INT32_MAX);
        }
    }

    lattice->cut_count = (int32_t)count;
    return SINEW_OK;
}

sinew_status sn_lattice_build(sn_arena *arena, const sn_triangle_tree *tree, bool closed,
                              sn_box box, double h, sn_lattice *lattice) {
    SN_ASSERT(h > 0 && sn_lattice_cell_count(box, h) <= SN_LATTICE_MAX_CELLS);
    *lattice = (sn_lattice){0};
    set_up_lattice(lattice, box, h);

    size_t cells = (size_t)lattice->cell_count;
    lattice->signs = SN_PUSH(arena, int8_t, 2 * cells);
    lattice->moved_to = SN_PUSH(arena, int32_t, 2 * cells);
    lattice->cut = SN_PUSH(arena, uint16_t, cells);
    lattice->kept = SN_PUSH(arena, uint16_t, cells);
    lattice->first_cut = SN_PUSH(arena, int32_t, cells);
    SN_TRY(sn_arena_status(arena));
    memset(lattice->moved_to, -1, 2 * cells * sizeof *lattice->moved_to);

    lattice_job job = {.lattice = lattice, .tree = tree, .closed = closed, .box = box};
    for (int k = 0; k < 3; k++) {
        job.blocks[k] = sn_chunk_count(lattice->cells[k], BLOCK);
    }

    // Signs of the points, edges with a cut, positions of the cuts.
    sn_parallel_for(arena->context, job.blocks[0] * job.blocks[1] * job.blocks[2], 4, sign_chunk,
                    &job);
    sn_parallel_for(arena->context, lattice->cell_count, CHUNK, mark_chunk, &job);
    SN_TRY(count_cuts(arena->context, lattice));
    lattice->parameters = SN_PUSH(arena, double, lattice->cut_count);
    lattice->points = SN_PUSH(arena, double, 3 * (size_t)lattice->cut_count);
    SN_TRY(sn_arena_status(arena));
    sn_parallel_for(arena->context, lattice->cell_count, CHUNK, cut_chunk, &job);
    move_points(lattice);

    return SINEW_OK;
}
