// Weights and gradients at voxels, at points and at vertices, from the table or in closed form.
//
// At a voxel, gradients are differences of the neighbours' weights. A point between voxels takes
// the trilinear blend of the eight voxels around it. Near the surface some of the eight are
// missing, and at the border of a stiff or rigid part the weights have a kink; there every usable
// voxel is extrapolated linearly to the point, so linear weights stay linear up to the surface.
//
// Cost: at most eight rows of the table for a point, and their neighbours' rows for gradients.
#include "frame/weights/table.h"

#include "base/threads.h"
#include "math/mat3.h"

#include <string.h>

enum { CHUNK = 256, ROOM = 16 * CHUNK };

int32_t sn_shape_point_strongest(const sn_shape_point *point) {
    int32_t best = 0;
    for (int32_t k = 1; k < point->count; k++) {
        if (point->weight[k] > point->weight[best]) {
            best = k;
        }
    }

    return point->node[best];
}

int32_t sn_point_entry(sn_shape_point *point, int32_t node) {
    // Entries are sorted by node.
    int32_t place = point->count;
    while (place > 0 && point->node[place - 1] >= node) {
        place--;
    }

    if (place < point->count && point->node[place] == node) {
        return place;
    }
    if (point->count == SN_POINT_NODES) {
        return SN_POINT_NODES; // more than any table holds: this goes into the spare entry
    }

    // Make room for a new one.
    for (int32_t i = point->count; i > place; i--) {
        point->node[i] = point->node[i - 1];
        point->weight[i] = point->weight[i - 1];
        for (int a = 0; a < 3; a++) {
            point->gradient[i][a] = point->gradient[i - 1][a];
        }
    }

    point->count++;
    point->node[place] = node;
    point->weight[place] = 0;

    for (int a = 0; a < 3; a++) {
        point->gradient[place][a] = 0;
    }

    return place;
}

// Whether the weights vary smoothly from voxel v to its neighbour u, so that a difference may use
// both.
static bool is_smooth(const sn_shape *shape, int32_t v, int32_t u) {
    uint16_t a = shape->voxels->label[v];
    uint16_t b = shape->voxels->label[u];
    if (a == b) {
        return true;
    }
    if (shape->bound_node[a] >= 0) {
        return shape->bound_node[a] == shape->bound_node[b];
    }
    if (shape->rigid[a]) {
        return shape->rigid[b];
    }
    if (shape->bound_node[b] >= 0 && !sn_shape_is_analytic(shape)) {
        return false; // a kink, where distances begin
    }

    return shape->def.metric == SINEW_METRIC_EUCLIDEAN || sn_shape_is_analytic(shape) ||
           shape->def.kind == SINEW_WEIGHTS_USER;
}

static bool is_bound(const sn_shape *shape, int32_t voxel, sn_shape_point *result) {
    int32_t node = shape->bound_node[shape->voxels->label[voxel]];
    if (node < 0) {
        return false;
    }

    result->count = 1;
    result->node[0] = node;
    result->weight[0] = 1;

    for (int a = 0; a < 3; a++) {
        result->gradient[0][a] = 0;
    }

    return true;
}

static void add_row(const sn_shape *shape, int32_t voxel, double factor, int axis, double slope,
                    sn_shape_point *result) {
    const sn_weight_table *table = &shape->table;
    int32_t place = 0;
    for (int64_t k = table->start[voxel]; k < table->start[voxel + 1]; k++) {
        place = sn_point_entry_from(result, place, table->node[k]);
        result->weight[place] += factor * table->weight[k];
        result->gradient[place][axis] += slope * table->weight[k];
    }
}

static void differences_at_voxel(const sn_shape *shape, int32_t voxel, sn_shape_point *result) {
    const sinew_voxels *voxels = shape->voxels;
    result->count = 0;
    add_row(shape, voxel, 1, 0, 0, result);

    for (int axis = 0; axis < 3; axis++) {
        int32_t lower = voxels->neighbor[voxel][2 * axis];
        int32_t upper = voxels->neighbor[voxel][2 * axis + 1];
        bool has_lower = lower >= 0 && is_smooth(shape, voxel, lower);
        bool has_upper = upper >= 0 && is_smooth(shape, voxel, upper);

        if (!has_lower && !has_upper) {
            continue;
        }

        double slope = 1 / (voxels->spacing[axis] * (has_lower && has_upper ? 2 : 1));
        add_row(shape, has_upper ? upper : voxel, 0, axis, slope, result);
        add_row(shape, has_lower ? lower : voxel, 0, axis, -slope, result);
    }
}

void sn_shape_at_voxel(const sn_shape *shape, int32_t voxel, sn_shape_point *result) {
    SN_ASSERT(voxel >= 0 && voxel < shape->voxels->count);
    if (is_bound(shape, voxel, result)) {
        return;
    }

    if (sn_shape_is_analytic(shape)) {
        sn_evaluate_analytic(shape, sn_voxel_center(shape->voxels, voxel), result);
        if (result->count > 0) {
            return; // otherwise out of range of every node: use the table's row
        }
    }

    if (sn_shape_is_smooth(shape)) {
        const double middle[3] = {0.5, 0.5, 0.5};
        sn_evaluate_smooth(shape, voxel, middle, result);
        return;
    }

    differences_at_voxel(shape, voxel, result);
}

// Adds factor (w + grad w . d) of a voxel, and factor times its gradient, to the result.
static void add_continued(const sn_shape *shape, int32_t voxel, double factor, sn_vec3 d,
                          sn_shape_point *result) {
    sn_shape_point at;
    sn_shape_at_voxel(shape, voxel, &at);
    for (int32_t k = 0, place = 0; k < at.count; k++) {
        place = sn_point_entry_from(result, place, at.node[k]);
        sn_vec3 gradient = sn_load3(at.gradient[k]);
        result->weight[place] += factor * (at.weight[k] + sn_dot(gradient, d));
        for (int a = 0; a < 3; a++) {
            result->gradient[place][a] += factor * at.gradient[k][a];
        }
    }
}

// Clamps extrapolated weights to [0, 1], unless this kind of weights can be negative.
static void clamp_point(const sn_shape *shape, sn_shape_point *point) {
    bool may_be_negative =
        (shape->def.kind >= SINEW_WEIGHTS_AXIS_CUBIC && shape->def.kind != SINEW_WEIGHTS_AUTO) ||
        !shape->def.normalize;
    double sum = 0;

    for (int32_t k = 0; k < point->count; k++) {
        if (!may_be_negative) {
            point->weight[k] = fmin(fmax(point->weight[k], 0), 1);
        }
        sum += point->weight[k];
    }

    if (shape->def.normalize) {
        for (int32_t k = 0; k < point->count; k++) {
            point->weight[k] /= sum;
        }
    }
}

typedef struct corner {
    int32_t voxel;
    double share;
    sn_vec3 offset; // from the voxel's centre to the point
} corner;

// Finds those of the eight voxels around a point that are inside and may be blended; `complete` if
// none is missing.
static int32_t find_corners(const sn_shape *shape, sn_vec3 p, int32_t home, corner corners[8],
                            bool *complete) {
    const sinew_voxels *voxels = shape->voxels;
    double u[3], low[3];

    sn_store3(u, sn_voxel_units(voxels, p));
    *complete = true;

    int32_t count = 0;
    for (int a = 0; a < 3; a++) {
        if (!(fabs(u[a]) < 1e9)) {
            return 0; // far outside the grid
        }
        low[a] = floor(u[a]);
    }

    // Trilinear shares of the corners.
    for (int i = 0; i < 8; i++) {
        double share = 1, offset[3];
        int32_t cell[3];
        for (int a = 0; a < 3; a++) {
            int bit = i >> a & 1;
            share *= bit ? u[a] - low[a] : 1 - (u[a] - low[a]);
            cell[a] = (int32_t)low[a] + bit;
            offset[a] = (u[a] - low[a] - bit) * voxels->spacing[a];
        }

        if (share <= 1e-12) {
            continue;
        }

        int32_t v = sn_voxel_at(voxels, cell[0], cell[1], cell[2]);
        if (v < 0 || (home >= 0 && !is_smooth(shape, home, v))) {
            *complete = false;
            continue;
        }

        corners[count++] = (corner){v, share, sn_load3(offset)};
    }

    return count;
}

// Returns the voxel whose box contains a point, or -1.
static int32_t home_of(const sinew_voxels *voxels, sn_vec3 p) {
    sn_vec3 u = sn_voxel_units(voxels, p);
    if (!(fabs(u.x) < 1e9 && fabs(u.y) < 1e9 && fabs(u.z) < 1e9)) {
        return -1;
    }
    return sn_voxel_at(voxels, (int32_t)floor(u.x + 0.5), (int32_t)floor(u.y + 0.5),
                       (int32_t)floor(u.z + 0.5));
}

// For a point outside the solid: finds the nearest voxels, to be extrapolated to the closest points
// of their boxes.
static int32_t find_nearest_corners(const sinew_voxels *voxels, sn_vec3 p, corner corners[8]) {
    int32_t nearest[8];
    int32_t count = sn_nearest_voxels(voxels, p, INFINITY, nearest, NULL);
    sn_vec3 half =
        sn_v3(0.5 * voxels->spacing[0], 0.5 * voxels->spacing[1], 0.5 * voxels->spacing[2]);

    for (int32_t i = 0; i < count; i++) {
        sn_vec3 offset = sn_sub(p, sn_voxel_center(voxels, nearest[i]));
        offset = sn_min3(sn_max3(offset, sn_scale(-1, half)), half);
        corners[i] = (corner){nearest[i], 1, offset};
    }

    return count;
}

// Evaluates smooth weights in the voxel of a point, or at the closest point of the nearest voxel.
static void evaluate_smooth_near(const sn_shape *shape, sn_vec3 p, int32_t home,
                                 sn_shape_point *result) {
    const sinew_voxels *voxels = shape->voxels;
    int32_t nearest[8] = {home};
    int32_t c[3];
    double at[3];

    if (home < 0) {
        sn_nearest_voxels(voxels, p, INFINITY, nearest, NULL);
    }

    sn_cell_coordinates(voxels->cells, voxels->cell[nearest[0]], c);
    sn_store3(at, sn_voxel_units(voxels, p));
    for (int a = 0; a < 3; a++) {
        // Rounding must not move a point off the centre or a face, where most terms are zero.
        double t = fmin(fmax(at[a] - c[a] + 0.5, 0), 1);
        double half = 0.5 * round(2 * t);
        at[a] = fabs(t - half) < 1e-12 ? half : t;
    }

    sn_evaluate_smooth(shape, nearest[0], at, result);
}

void sn_shape_at_point(const sn_shape *shape, sn_vec3 p, sn_shape_point *result) {
    const sinew_voxels *voxels = shape->voxels;
    int32_t home = home_of(voxels, p);
    if (home >= 0 && is_bound(shape, home, result)) {
        return;
    }

    // Analytic weights need no table, except inside bound parts and out of range.
    if (sn_shape_is_analytic(shape)) {
        int32_t near = home >= 0 ? home : -1;
        int32_t nearest[8];
        if (near < 0 && sn_nearest_voxels(voxels, p, INFINITY, nearest, NULL)) {
            near = nearest[0];
        }
        if (is_bound(shape, near, result)) {
            return;
        }

        sn_evaluate_analytic(shape, p, result);
        if (result->count > 0) {
            return; // otherwise out of range of every node: use the table's row
        }
    }

    if (sn_shape_is_smooth(shape)) {
        evaluate_smooth_near(shape, p, home, result);
        return;
    }

    // Trilinear between the voxels around; outside, continued from the nearest ones.
    corner corners[8];
    bool complete;
    int32_t count = find_corners(shape, p, home, corners, &complete);

    if (count == 0) {
        count = find_nearest_corners(voxels, p, corners);
        complete = false;
    }

    // Shares are relative to the corners that exist.
    double total = 0;
    for (int32_t i = 0; i < count; i++) {
        total += corners[i].share;
    }

    result->count = 0;
    for (int32_t i = 0; i < count; i++) {
        sn_vec3 offset = complete ? sn_v3(0, 0, 0) : corners[i].offset;
        add_continued(shape, corners[i].voxel, corners[i].share / total, offset, result);
    }

    clamp_point(shape, result);
}

// Vertices are visited twice, to count entries and to pack them. The first pass stores what it
// finds in a buffer of fixed size for each chunk; the second evaluates only the vertices that did
// not fit again.
typedef struct vertex_job {
    const sn_shape *shape;
    const double *points;
    sn_vertex_weights *result;
    int32_t *node; // ROOM entries for each chunk
    double *weight;
    int32_t *kept; // for each chunk, the first vertex that is not in its buffer
} vertex_job;

// Finds the non-zero weights of a vertex. Returns their number.
static int32_t find_vertex(const vertex_job *job, int32_t vertex, sn_shape_point *point) {
    int32_t count = 0;
    sn_shape_at_point(job->shape, sn_load3(sn_at3(job->points, vertex)), point);
    for (int32_t k = 0; k < point->count; k++) {
        if (point->weight[k] == 0) {
            continue;
        }
        point->node[count] = point->node[k];
        point->weight[count++] = point->weight[k];
    }

    return point->count = count;
}

static void count_vertices(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const vertex_job *job = data;
    sn_shape_point point;
    int32_t kept = begin;
    int32_t used = 0;

    for (int32_t i = begin; i < end; i++) {
        int32_t count = job->result->start[i + 1] = find_vertex(job, i, &point);
        if (kept < i || count > ROOM - used) {
            continue;
        }

        size_t place = (size_t)chunk * ROOM + (size_t)used;
        memcpy(job->node + place, point.node, (size_t)count * sizeof *job->node);
        memcpy(job->weight + place, point.weight, (size_t)count * sizeof *job->weight);
        used += count;
        kept = i + 1;
    }

    job->kept[chunk] = kept;
}

static void pack_vertices(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const vertex_job *job = data;
    const sn_vertex_weights *result = job->result;
    size_t first = (size_t)result->start[begin];
    size_t known = (size_t)result->start[job->kept[chunk]] - first;

    memcpy(result->node + first, job->node + (size_t)chunk * ROOM, known * sizeof *result->node);
    memcpy(result->weight + first, job->weight + (size_t)chunk * ROOM,
           known * sizeof *result->weight);

    sn_shape_point point;
    for (int32_t i = job->kept[chunk]; i < end; i++) {
        size_t count = (size_t)find_vertex(job, i, &point);
        size_t place = (size_t)result->start[i];
        SN_ASSERT(place + count == (size_t)result->start[i + 1]);
        memcpy(result->node + place, point.node, count * sizeof *result->node);
        memcpy(result->weight + place, point.weight, count * sizeof *result->weight);
    }
}

static sinew_status compute_vertices(vertex_job *job, sn_arena *arena, sn_arena *scratch) {
    sn_vertex_weights *result = job->result;
    size_t chunks = (size_t)sn_chunk_count(result->count, CHUNK);

    job->node = SN_RESERVE(scratch, int32_t, ROOM * chunks);
    job->weight = SN_RESERVE(scratch, double, ROOM *chunks);
    job->kept = SN_RESERVE(scratch, int32_t, chunks);
    SN_TRY(sn_arena_status(scratch));

    // Evaluate all vertices, and keep the rows of each chunk as far as its room goes.
    sn_parallel_for(arena->context, result->count, CHUNK, count_vertices, job);

    int64_t total = 0;
    for (int32_t i = 0; i < result->count; i++) {
        total += result->start[i + 1];
        if (total > INT32_MAX) {
            return sn_fail(arena->context, SINEW_OUT_OF_MEMORY,
                           "%d vertices have more than 2^31 weights", result->count);
        }
        result->start[i + 1] = (int32_t)total;
    }

    // Pack the rows; those that did not fit are evaluated again.
    result->node = SN_RESERVE(arena, int32_t, total);
    result->weight = SN_RESERVE(arena, double, total);
    SN_TRY(sn_arena_status(arena));
    sn_parallel_for(arena->context, result->count, CHUNK, pack_vertices, job);

    return SINEW_OK;
}

sinew_status sn_shape_compute_vertices(const sn_shape *shape, sn_arena *arena, const double *points,
                                       int32_t count, sn_vertex_weights *result) {
    for (int32_t i = 0; i < count; i++) {
        if (sn_finite3(sn_load3(sn_at3(points, i)))) {
            continue;
        }
        return sn_fail(shape->context, SINEW_INVALID_ARGUMENT, "vertex %d has no finite position",
                       i);
    }

    *result = (sn_vertex_weights){.count = count};
    result->start = SN_PUSH(arena, int32_t, (size_t)count + 1);
    SN_TRY(sn_arena_status(arena));

    vertex_job job = {.shape = shape, .points = points, .result = result};
    sn_arena scratch = sn_arena_create(shape->context);
    sinew_status status = compute_vertices(&job, arena, &scratch);

    sn_arena_destroy(&scratch);
    return status;
}
