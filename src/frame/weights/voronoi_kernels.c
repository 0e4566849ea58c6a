// Voronoi kernels (Gilles et al. 2013, 1.5.3) in the compliance or the Euclidean metric.
//
// The kernel of a node is 1 at the node and 1/2 on the border S1 of its Voronoi cell. Outside, S2
// (value 1/4) is the border between S1 and the other nodes, S3 (1/8) that between S2 and the other
// nodes, and so on to the last level. Inside, I2 (3/4) is the border between S1 and the node, I3
// (7/8) that between I2 and the node. Between two surfaces with values a > b, at the distances da
// and db from them,
//
//   w = (a db + b da) / (da + db);     beyond the last one, w = b (2 - d / l), not below 0,
//
// where d is the distance from the last but one and l the part of its path up to the last: the
// straight continuation. It is also held below b o / (d - l + o), o being the distance from the
// nearest other node: on the line between two nodes both agree, and the bound makes w exactly 0 at
// every other node. Along such a line w falls linearly. The table normalises the kernels.
//
// Surfaces are located between voxels, where the difference of two distances changes sign; the
// distance from a surface starts from the crossings of the axes, combined as if the surface were
// flat there.
//
// Cost: each front covers a cell or a shell of the kernel's support; with two levels the cell is
// covered three times and the rest of the support once or twice. Nodes run side by side.
#include "frame/weights/voronoi_cells.h"

#include "frame/weights/table.h"

// The state of a voxel while a kernel is built.
typedef struct record {
    double outward; // distance from the previous surface; in the end the kernel
    double inward;  // distance from the next surface; beyond the last one, the length of the path
                    // up to it
    double split;   // negative on the inner side of the current surface, positive or zero beyond
} record;

// The workspace of one node's kernel. Lists of voxels are ascending, so that memory is read in
// order.
typedef struct workspace {
    const sn_shape *shape;
    const sn_voronoi *voronoi;
    sn_front *front;
    int32_t node;
    record *records; // of each voxel
    // Of each voxel: `present` on the inner side of the current surface, 1 more beyond it; any
    // other number outside the current region.
    int32_t *stamp;
    int32_t present; // even
    int32_t *region; // voxels of the current region
    int32_t region_count;
    int32_t *core; // voxels of the cell, then of smaller and smaller parts around the node
    int32_t core_count;
    int32_t *surface; // voxels next to the current surface
    double *surface_distance;
    int32_t surface_count;
    sn_voxel_set reached; // by the front; empty otherwise
    sn_voxel_set support; // voxels whose kernel is done
    int32_t support_count;
} workspace;

// Starts a new region, on both sides of a surface. A voxel that is not stamped again does not
// belong to it.
static void enter_region(workspace *work, const int32_t *voxels, int32_t count) {
    work->present += 2;
    for (int32_t k = 0; k < count; k++) {
        work->stamp[voxels[k]] = work->present + !(work->records[voxels[k]].split < 0);
    }
}

static bool is_present(const workspace *work, int32_t voxel) {
    return (work->stamp[voxel] & ~1) == work->present;
}

// Closes a voxel, which lies behind a surface that was passed: outward fronts do not return to it.
static void close_voxel(workspace *work, int32_t voxel) {
    work->stamp[voxel] = -1 - work->node;
}

static bool is_closed(const workspace *work, int32_t voxel) {
    return work->stamp[voxel] == -1 - work->node;
}

// Marks the kernel of a voxel as done.
static void finish(workspace *work, int32_t voxel) {
    close_voxel(work, voxel);
    if (!(work->records[voxel].outward > 0)) {
        return;
    }
    sn_voxel_set_add(&work->support, voxel);
    work->support_count++;
}

// Interpolates between two surfaces; where one is out of reach, takes the value of the other.
static double blend(double upper, double from_upper, double lower, double from_lower) {
    double sum = from_upper + from_lower;
    if (from_lower == INFINITY) {
        return upper;
    }
    if (from_upper == INFINITY) {
        return lower;
    }

    return sum > 0 ? (upper * from_lower + lower * from_upper) / sum : 0.5 * (upper + lower);
}

// Whether a neighbour in the region lies on the other side of the surface.
static bool is_beside_surface(const workspace *work, int32_t voxel) {
    const int32_t *neighbor = work->front->metric->voxels->neighbor[voxel];
    const int32_t *stamp = work->stamp;
    int32_t other = stamp[voxel] ^ 1;
    bool beside = false;

    for (int d = 0; d < SN_VOXEL_FACES; d++) {
        beside |= stamp[neighbor[d]] == other;
    }

    return beside;
}

// Returns the distance of a voxel next to the surface from it, computed from the crossings along
// the axes.
static double crossing_distance(const workspace *work, int32_t voxel) {
    const sn_metric *metric = work->front->metric;
    double own = work->records[voxel].split;
    double sum = 0;
    int32_t other = work->stamp[voxel] ^ 1;

    for (int axis = 0; axis < 3; axis++) {
        // The nearest crossing along the axis, by linear interpolation.
        double nearest = INFINITY;
        for (int d = 2 * axis; d < 2 * axis + 2; d++) {
            int32_t u = metric->voxels->neighbor[voxel][d];
            if (work->stamp[u] != other) {
                continue;
            }

            double a = fabs(own);
            double b = fabs(work->records[u].split);
            double share = a + b > 0 ? a / (a + b) : 0;
            if (!(share <= 1)) {
                share = 0.5; // the other side is unknown
            }

            double distance = share * sn_metric_step(metric, voxel, u, d);
            nearest = distance < nearest ? distance : nearest;
        }

        // The distance to the plane through the crossings: 1/d^2 = sum 1/d_a^2.
        if (nearest <= 0) {
            return 0;
        }
        if (nearest < INFINITY) {
            sum += 1 / (nearest * nearest);
        }
    }

    return 1 / sqrt(sum);
}

// Voxels exactly on a surface, as symmetry may put them there, count as beyond it, whatever the
// rounding.
static double set_split(workspace *work, int32_t voxel, double ahead, double behind) {
    double split = behind - ahead;
    if (fabs(split) < 1e-9 * (double)work->voronoi->near[voxel].band) {
        split = 0;
    }
    return work->records[voxel].split = split;
}

// Finds the voxels next to the surface in the current region, on both sides, and their distances
// from it.
static void find_surface(workspace *work, const int32_t *voxels, int32_t count) {
    work->surface_count = 0;
    for (int32_t k = 0; k < count; k++) {
        if (!is_beside_surface(work, voxels[k])) {
            continue;
        }
        work->surface[work->surface_count] = voxels[k];
        work->surface_distance[work->surface_count++] = crossing_distance(work, voxels[k]);
    }
}

// Prepares a front that starts at the surface just found and covers its inner (negative) or outer
// side.
static void start_at_surface(workspace *work, bool near_side) {
    sn_front_reset(work->front);
    for (int32_t k = 0; k < work->surface_count; k++) {
        int32_t v = work->surface[k];
        if ((work->records[v].split < 0) == near_side) {
            sn_front_hold(work->front, v, work->surface_distance[k], 0);
        } else {
            sn_front_block(work->front, v);
        }
    }
}

static bool stay_in_region(void *data, sn_front *front, int32_t voxel, double distance) {
    (void)front;
    (void)distance;
    return is_present(data, voxel);
}

// Outward fronts determine the sides of the next surface as they proceed. All but the last stop a
// few voxels beyond the surface half-way to the other nodes.
static bool reach_border(void *data, sn_front *front, int32_t voxel, double distance) {
    workspace *work = data;
    if (is_closed(work, voxel)) {
        return false;
    }

    double split =
        set_split(work, voxel, sn_other_distance(work->voronoi, work->node, voxel), distance);
    (void)front;

    return split <= (double)work->voronoi->near[voxel].band;
}

// The last outward front carries the length of its path up to the last surface, and stops where the
// kernel reaches 0.
static bool reach_zero(void *data, sn_front *front, int32_t voxel, double distance) {
    workspace *work = data;
    if (is_closed(work, voxel)) {
        return false;
    }

    double split =
        set_split(work, voxel, sn_other_distance(work->voronoi, work->node, voxel), distance);
    if (split < 0) {
        return true;
    }

    int32_t neighbors[3];
    double weights[3];
    int32_t count = sn_front_upwind(front, voxel, neighbors, weights);
    // For starts beyond the surface: as if the two fronts had met head-on.
    double met = distance - 0.5 * split;
    double length = count ? 0 : met;

    for (int32_t i = 0; i < count; i++) {
        int32_t n = neighbors[i];
        double before = work->records[n].split;
        double part = is_closed(work, n) ? met : work->records[n].inward;
        if (before < 0 && !is_closed(work, n)) { // the surface lies in between
            double share = before > -INFINITY ? before / (before - split) : 0.5;

            part = front->distance[n] + (distance - front->distance[n]) * share;
        }
        length += weights[i] * part;
    }

    work->records[voxel].inward = length;
    // The kernel is exactly 0 at another node; rounding must not let the front pass it.
    return distance < 2 * length * (1 - 1e-9);
}

// Chooses the arrays that an outward front, or one inside a region, reads.
static void set_companions(workspace *work, bool outward) {
    sn_front *front = work->front;
    front->companion[0] = (sn_companion){work->stamp, sizeof *work->stamp};
    front->companion[1] = outward ? (sn_companion){work->voronoi->near, sizeof *work->voronoi->near}
                                  : (sn_companion){0};
    front->companion[2] =
        outward ? (sn_companion){work->records, sizeof *work->records} : (sn_companion){0};
}

// Runs an outward front and makes what it reached the current region.
static void run_outward(workspace *work, bool last) {
    sn_front *front = work->front;
    set_companions(work, true);
    sn_front_run(front, INFINITY, last ? reach_zero : reach_border, work);

    for (int32_t k = 0; k < front->accepted_count; k++) {
        if (!is_closed(work, front->accepted[k])) {
            sn_voxel_set_add(&work->reached, front->accepted[k]);
        }
    }

    work->region_count = sn_voxel_set_drain(&work->reached, work->region);
    for (int32_t k = 0; k < work->region_count; k++) {
        int32_t v = work->region[k];
        work->records[v].outward = front->distance[v];
    }

    enter_region(work, work->region, work->region_count);
}

// The same for the first surface. The node's front has already been run to find the cells.
static void take_cell(workspace *work) {
    const sn_node_field *cell = &work->voronoi->cells[work->node];
    work->region_count = 0;
    for (int32_t k = 0; k < cell->count; k++) {
        int32_t v = cell->voxel[k];
        const sn_near *near = &work->voronoi->near[v];
        if (cell->value[k] > near->first + (double)near->band) {
            continue; // farther away than the border can be
        }

        work->region[work->region_count++] = v;
        work->records[v].outward = cell->value[k];
        set_split(work, v, sn_other_distance(work->voronoi, work->node, v), cell->value[k]);
    }

    enter_region(work, work->region, work->region_count);
}

static void run_in_region(workspace *work) {
    set_companions(work, false);
    sn_front_run(work->front, INFINITY, stay_in_region, work);
}

// Computes the distance of the region's inner side from the next surface.
static void run_inward(workspace *work) {
    sn_front *front = work->front;
    find_surface(work, work->region, work->region_count);
    start_at_surface(work, true);
    run_in_region(work);

    for (int32_t k = 0; k < work->region_count; k++) {
        int32_t v = work->region[k];
        if (work->records[v].split < 0) {
            work->records[v].inward = front->distance[v];
        }
    }
}

// Fills the cell: surfaces half-way between the last one and the node, with values 3/4, 7/8, ...
static void fill_cell(workspace *work) {
    double outer = 0.5;
    for (int32_t level = 2; level <= work->shape->def.levels; level++) {
        double inner = 1 - ldexp(1, -level);

        // The surface where the distances to the last one and to the node are equal.
        for (int32_t k = 0; k < work->core_count; k++) {
            int32_t v = work->core[k];
            set_split(work, v, work->records[v].inward, work->records[v].outward);
        }

        enter_region(work, work->core, work->core_count);
        find_surface(work, work->core, work->core_count);
        if (work->surface_count == 0) {
            break;
        }

        // Outside of it, blend between the two values.
        start_at_surface(work, false);
        run_in_region(work);
        for (int32_t k = 0; k < work->core_count; k++) {
            int32_t v = work->core[k];
            if (work->records[v].split >= 0) {
                work->records[v].outward =
                    blend(inner, work->front->distance[v], outer, work->records[v].inward);
            }
        }

        // Inside, go on with the next level.
        start_at_surface(work, true);
        run_in_region(work);

        int32_t kept = 0;
        for (int32_t k = 0; k < work->core_count; k++) {
            int32_t v = work->core[k];
            if (work->records[v].split >= 0) {
                finish(work, v);
            } else {
                work->records[v].inward = work->front->distance[v];
                work->core[kept++] = v;
            }
        }

        work->core_count = kept;
        outer = inner;
    }

    // What is left is filled up to 1 at the node.
    for (int32_t k = 0; k < work->core_count; k++) {
        int32_t v = work->core[k];
        work->records[v].outward =
            blend(1, work->records[v].outward, outer, work->records[v].inward);
        finish(work, v);
    }
}

// Fills the inner side of a shell outside the cell.
static void fill_shell(workspace *work, double upper, double lower) {
    for (int32_t k = 0; k < work->region_count; k++) {
        int32_t v = work->region[k];
        if (work->records[v].split < 0) {
            work->records[v].outward =
                blend(upper, work->records[v].outward, lower, work->records[v].inward);
        }
    }
}

// Leaves the inner side behind. That of the first surface, the cell, is finished later.
static void leave_near_side(workspace *work, bool done) {
    for (int32_t k = 0; k < work->region_count; k++) {
        int32_t v = work->region[k];
        if (work->records[v].split >= 0) {
            continue;
        }

        if (done) {
            finish(work, v);
        } else {
            close_voxel(work, v);
        }
    }
}

// Fills the region beyond the last surface, whose value is `last`.
static void fill_beyond(workspace *work, double last) {
    for (int32_t k = 0; k < work->region_count; k++) {
        int32_t v = work->region[k];
        if (work->records[v].split < 0) {
            continue;
        }

        double length = work->records[v].inward;
        double distance = work->records[v].outward;
        double past = distance - length;
        if (!(past > 0)) {
            past = 0;
        }

        double other = sn_other_distance(work->voronoi, work->node, v);
        double straight = length > 0 ? fmin(fmax(last * (2 - distance / length), 0), last) : 0;

        work->records[v].outward = fmin(straight, blend(last, past, 0, other));
        finish(work, v);
    }
}

static void make_kernel(workspace *work) {
    int32_t levels = work->shape->def.levels;
    work->support_count = work->core_count = 0;

    // The cell of the node is known; with a single level it is not needed.
    if (levels > 1) {
        take_cell(work);
    } else {
        sn_front_reset(work->front);
        sn_seed_node(work->shape, work->front, work->node, 0);
        run_outward(work, levels == 1);
    }

    for (int32_t level = 1; level <= levels; level++) {
        double upper = ldexp(1, 1 - level);
        double lower = ldexp(1, -level);

        // From the border of the last region back to the node.
        run_inward(work);
        if (level == 1) { // filled at the end: keep its distances
            for (int32_t k = 0; k < work->region_count; k++) {
                int32_t v = work->region[k];
                if (work->records[v].split < 0) {
                    work->core[work->core_count++] = v;
                }
            }
        } else {
            fill_shell(work, upper, lower);
        }

        // Each level halves the value, half-way between the last surface and the next nodes.
        bool further = level < levels && work->surface_count > 0;
        if (further) {
            start_at_surface(work, false);
        }

        leave_near_side(work, level > 1);
        if (level == levels) {
            fill_beyond(work, lower);
        }
        if (!further) {
            break;
        }

        run_outward(work, level == levels - 1);
    }

    fill_cell(work);
}

static int32_t compute_kernel(void *data, int32_t node, int32_t slot) {
    workspace *work = (workspace *)data + slot;
    work->node = node;
    make_kernel(work);
    return work->support_count;
}

static void store_kernel(void *data, int32_t slot, int32_t *voxels, double *values) {
    workspace *work = (workspace *)data + slot;
    sn_voxel_set_drain(&work->support, voxels);
    for (int32_t k = 0; k < work->support_count; k++) {
        values[k] = work->records[voxels[k]].outward;
    }
}

static sinew_status push_workspace(sn_arena *arena, const sn_shape *shape,
                                   const sn_voronoi *voronoi, sn_front *front, workspace *work) {
    int32_t count = shape->voxels->count;
    *work = (workspace){.shape = shape, .voronoi = voronoi, .front = front};
    work->records = SN_PUSH(arena, record, count);

    int32_t *stamp = SN_PUSH(arena, int32_t, (size_t)count + 1);
    work->stamp = stamp ? stamp + 1 : NULL; // read at index -1
    work->region = SN_RESERVE(arena, int32_t, count);
    work->core = SN_RESERVE(arena, int32_t, count);
    work->surface = SN_RESERVE(arena, int32_t, count);
    work->surface_distance = SN_RESERVE(arena, double, count);
    work->reached = sn_voxel_set_push(arena, count);
    work->support = sn_voxel_set_push(arena, count);

    return sn_arena_status(arena);
}

static sinew_status make_fields(sn_shape *shape, sn_arena *scratch, sn_arena *arena,
                                sn_node_field *fields) {
    int32_t slots = sn_field_slots(shape->context, shape->voxels->count, shape->node_count);
    int32_t *order;
    sn_front *fronts[SN_FIELD_SLOTS];
    workspace works[SN_FIELD_SLOTS];
    sn_voronoi voronoi;

    for (int32_t i = 0; i < slots; i++) {
        SN_TRY(sn_front_create(scratch, &shape->metric, SN_DISTANCE_MARCHING_2, &fronts[i]));
    }

    SN_TRY(sn_find_voronoi(shape, fronts, slots, scratch, &voronoi));
    for (int32_t i = 0; i < slots; i++) {
        SN_TRY(push_workspace(scratch, shape, &voronoi, fronts[i], &works[i]));
    }

    SN_TRY(sn_order_fields(voronoi.cells, shape->node_count, scratch, &order));
    sn_field_maker maker = {compute_kernel, store_kernel, works, slots};

    return sn_make_fields(shape, &maker, order, shape->node_count, arena, fields);
}

static void fill_kernel_row(const void *data, int32_t voxel, sn_row *row) {
    const sn_weight_table *kernels = data;
    for (int64_t k = kernels->start[voxel]; k < kernels->start[voxel + 1]; k++) {
        sn_row_add(row, kernels->node[k], kernels->weight[k]);
    }
}

sinew_status sn_build_voronoi(sn_shape *shape) {
    sn_arena arena = sn_arena_create(shape->context);
    sn_arena rows = sn_arena_create(shape->context);
    sn_node_field *fields = SN_PUSH(&arena, sn_node_field, shape->node_count);
    sn_weight_table kernels;
    sn_arena scratch = sn_arena_create(shape->context);
    sinew_status status =
        fields ? make_fields(shape, &scratch, &arena, fields) : SINEW_OUT_OF_MEMORY;

    sn_arena_destroy(&scratch);
    if (status == SINEW_OK) {
        status = sn_transpose_fields(shape->context, &rows, fields, shape->node_count,
                                     shape->voxels->count, &kernels);
    }

    sn_arena_destroy(&arena);
    if (status == SINEW_OK) {
        status = sn_build_table(shape, fill_kernel_row, &kernels);
    }

    sn_arena_destroy(&rows);
    return status;
}
