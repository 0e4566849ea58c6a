// Simple solids, and grids made of them: a cell belongs to a solid if its centre does, the surface
// included. Solids are processed in order, slice by slice of the grid. The filled parts of the
// voxels are found from points in the cells (voxel_fill.h).
#include "geom/voxel/voxel_coarse.h"
#include "geom/voxel/voxel_fill.h"

#include "base/threads.h"
#include "math/quat.h"

sinew_solid_def sinew_default_solid_def(void) {
    return (sinew_solid_def){.label = 1,
                             .size = {1, 1, 1},
                             .thickness = 0.25,
                             .rotation = {0, 0, 0, 1},
                             .filled = SN_DEF_FILLED};
}

static sn_quat solid_rotation(const sinew_solid_def *solid) {
    return sn_quat_normalize(
        (sn_quat){solid->rotation[0], solid->rotation[1], solid->rotation[2], solid->rotation[3]});
}

// Extents of the bounding box along the solid's own axes.
static sn_vec3 solid_extents(const sinew_solid_def *solid) {
    const double *s = solid->size;
    switch (solid->solid) {
    case SINEW_SOLID_CAPSULE: return sn_v3(s[0], s[0], s[2]);
    case SINEW_SOLID_TORUS: return sn_v3(s[0], s[0], solid->thickness);
    default: return sn_v3(s[0], s[1], s[2]);
    }
}

static sinew_status check_thickness(sinew_context *context, const sinew_solid_def *solid,
                                    int32_t index) {
    const double *s = solid->size;
    double limit = 0;
    switch (solid->solid) {
    case SINEW_SOLID_TORUS: limit = 0.5 * s[0]; break;
    case SINEW_SOLID_L:
    case SINEW_SOLID_T: limit = fmin(s[0], s[1]); break;
    case SINEW_SOLID_U: limit = fmin(0.5 * s[0], s[1]); break;
    default: return SINEW_OK;
    }

    if (!(solid->thickness > 0) || !(solid->thickness < limit)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "solid %d has thickness %g m; it must be above 0 and below %g", index,
                       solid->thickness, limit);
    }

    return SINEW_OK;
}

sinew_status sn_check_solid(sinew_context *context, const sinew_solid_def *solid, int32_t index) {
    SN_TRY(SN_CHECK_DEF(context, solid, "sinew_default_solid_def"));

    // Kind and label.
    if (solid->solid < SINEW_SOLID_BOX || solid->solid > SINEW_SOLID_U ||
        solid->operation < SINEW_SOLID_ADD || solid->operation > SINEW_SOLID_PAINT) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "solid %d is of unknown kind %d or operation %d", index, (int)solid->solid,
                       (int)solid->operation);
    }

    if (solid->label < 1 || solid->label > UINT16_MAX) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "solid %d has label %d; labels are in [1, 65535]", index, solid->label);
    }

    // Position and orientation.
    double norm2 = 0;
    for (int k = 0; k < 4; k++) {
        norm2 += solid->rotation[k] * solid->rotation[k];
    }

    if (!sn_finite3(sn_load3(solid->center)) || !isfinite(norm2) || !(norm2 > 0)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "solid %d needs a finite centre and a rotation that is not zero", index);
    }

    // Size.
    for (int a = 0; a < 3; a++) {
        if (!(solid->size[a] > 0) || !isfinite(solid->size[a])) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "solid %d has size %g m along axis %d; it must be above 0", index,
                           solid->size[a], a);
        }
    }

    if (solid->solid == SINEW_SOLID_CAPSULE && solid->size[2] < solid->size[0]) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "capsule %d is %g m long, less than its diameter %g", index, solid->size[2],
                       solid->size[0]);
    }

    return check_thickness(context, solid, index);
}

sn_box sn_solid_box(const sinew_solid_def *solid) {
    sn_mat3 R = sn_quat_to_mat3(solid_rotation(solid));
    sn_vec3 e = sn_scale(0.5, solid_extents(solid));
    sn_vec3 c = sn_load3(solid->center);
    sn_vec3 half = sn_v3(fabs(R.m[0][0]) * e.x + fabs(R.m[0][1]) * e.y + fabs(R.m[0][2]) * e.z,
                         fabs(R.m[1][0]) * e.x + fabs(R.m[1][1]) * e.y + fabs(R.m[1][2]) * e.z,
                         fabs(R.m[2][0]) * e.x + fabs(R.m[2][1]) * e.y + fabs(R.m[2][2]) * e.z);

    return (sn_box){sn_sub(c, half), sn_add(c, half)};
}

static bool in_ellipse(double x, double y, double z, double a, double b, double c) {
    return x * x / (a * a) + y * y / (b * b) + z * z / (c * c) <= 1;
}

// p are coordinates along the solid's own axes from its centre; t enlarges the solid.
static bool contains_local(const sinew_solid_def *solid, sn_vec3 p, double t) {
    const double *s = solid->size;
    const double w = solid->thickness;
    double x = fabs(p.x);
    double y = fabs(p.y);
    double z = fabs(p.z);

    // Round solids.
    switch (solid->solid) {
    case SINEW_SOLID_SPHERE:
        return in_ellipse(p.x, p.y, p.z, 0.5 * s[0] + t, 0.5 * s[1] + t, 0.5 * s[2] + t);
    case SINEW_SOLID_CYLINDER:
        return z <= 0.5 * s[2] + t && in_ellipse(p.x, p.y, 0, 0.5 * s[0] + t, 0.5 * s[1] + t, 1);
    case SINEW_SOLID_CAPSULE: {
        double beyond = fmax(z - 0.5 * (s[2] - s[0]), 0);
        return sqrt(x * x + y * y + beyond * beyond) <= 0.5 * s[0] + t;
    }
    case SINEW_SOLID_TORUS: {
        double around = sqrt(x * x + y * y) - 0.5 * (s[0] - w);
        return sqrt(around * around + z * z) <= 0.5 * w + t;
    }
    case SINEW_SOLID_BOX:
    case SINEW_SOLID_L:
    case SINEW_SOLID_T:
    case SINEW_SOLID_U: break;
    }

    // The others fit into a box; L, T and U fill a part of it.
    if (x > 0.5 * s[0] + t || y > 0.5 * s[1] + t || z > 0.5 * s[2] + t) {
        return false;
    }

    switch (solid->solid) {
    case SINEW_SOLID_L: return p.y <= -0.5 * s[1] + w + t || p.x <= -0.5 * s[0] + w + t;
    case SINEW_SOLID_T: return p.y >= 0.5 * s[1] - w - t || x <= 0.5 * w + t;
    case SINEW_SOLID_U: return x >= 0.5 * s[0] - w - t || p.y <= -0.5 * s[1] + w + t;
    default: return true;
    }
}

bool sn_solid_contains(const sinew_solid_def *solid, sn_vec3 p, double tolerance) {
    sn_vec3 local = sn_quat_rotate(sn_quat_conjugate(solid_rotation(solid)),
                                   sn_sub(p, sn_load3(solid->center)));
    return contains_local(solid, local, tolerance);
}

typedef struct solid_job {
    sinew_context *context;
    const sinew_solid_def *solids;
    int32_t solid_count;
    const sn_grid_frame *frame;
    uint16_t *labels;
} solid_job;

// The first and one past the last cell along an axis whose centres can be in [low, high].
static void cell_range(const sn_grid_frame *frame, int axis, double low, double high,
                       int32_t range[2]) {
    double first = (low - frame->lower[axis]) / frame->spacing[axis] - 1;
    double last = (high - frame->lower[axis]) / frame->spacing[axis] + 1;
    range[0] = (int32_t)fmin(fmax(floor(first), 0), frame->cells[axis]);
    range[1] = (int32_t)fmin(fmax(ceil(last), 0), frame->cells[axis]);
}

static void apply_to_slice(const solid_job *job, const sinew_solid_def *solid, int32_t z) {
    const sn_grid_frame *frame = job->frame;
    sn_box box = sn_solid_box(solid);
    int32_t rx[2], ry[2], rz[2];

    cell_range(frame, 0, box.lower.x, box.upper.x, rx);
    cell_range(frame, 1, box.lower.y, box.upper.y, ry);
    cell_range(frame, 2, box.lower.z, box.upper.z, rz);
    if (z < rz[0] || z >= rz[1]) {
        return;
    }

    // Cell centres in the solid's own axes.
    double tolerance = 1e-9 * fmin(frame->spacing[0], fmin(frame->spacing[1], frame->spacing[2]));
    sn_mat3 to_local = sn_quat_to_mat3(sn_quat_conjugate(solid_rotation(solid)));
    sn_vec3 center = sn_load3(solid->center);
    uint16_t painted = solid->operation == SINEW_SOLID_CUT ? 0 : (uint16_t)solid->label;

    for (int32_t y = ry[0]; y < ry[1]; y++) {
        size_t row = ((size_t)z * (size_t)frame->cells[1] + (size_t)y) * (size_t)frame->cells[0];
        for (int32_t x = rx[0]; x < rx[1]; x++) {
            uint16_t *label = &job->labels[row + (size_t)x];
            if (*label == painted || (solid->operation != SINEW_SOLID_ADD && !*label)) {
                continue; // nothing would change
            }

            sn_vec3 p = sn_v3(frame->lower[0] + (x + 0.5) * frame->spacing[0],
                              frame->lower[1] + (y + 0.5) * frame->spacing[1],
                              frame->lower[2] + (z + 0.5) * frame->spacing[2]);
            if (contains_local(solid, sn_mat3_apply(to_local, sn_sub(p, center)), tolerance)) {
                *label = painted;
            }
        }
    }
}

static void fill_slices(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const solid_job *job = data;
    for (int32_t z = begin; z < end; z++) {
        for (int32_t i = 0; i < job->solid_count; i++) {
            apply_to_slice(job, &job->solids[i], z);
        }
    }
}

static sinew_status fill_grid(void *data, const sn_grid_frame *frame, uint16_t *labels) {
    solid_job job = *(const solid_job *)data;
    job.frame = frame;
    job.labels = labels;
    sn_parallel_for(job.context, frame->cells[2], 4, fill_slices, &job);
    return SINEW_OK;
}

// The volume of a solid. [m3]
static double solid_volume(const sinew_solid_def *solid) {
    const double pi = 3.14159265358979323846;
    const double *s = solid->size;
    const double w = solid->thickness;

    switch (solid->solid) {
    case SINEW_SOLID_BOX: return s[0] * s[1] * s[2];
    case SINEW_SOLID_SPHERE: return pi / 6 * s[0] * s[1] * s[2];
    case SINEW_SOLID_CYLINDER: return pi / 4 * s[0] * s[1] * s[2];
    case SINEW_SOLID_CAPSULE: return pi / 4 * s[0] * s[0] * (s[2] - s[0] / 3);
    case SINEW_SOLID_TORUS: return pi * pi / 4 * (s[0] - w) * w * w;
    case SINEW_SOLID_L:
    case SINEW_SOLID_T: return (s[0] + s[1] - w) * w * s[2];
    case SINEW_SOLID_U: return (s[0] + 2 * (s[1] - w)) * w * s[2];
    }

    return 0;
}

// What the points of a cell are tested against.
typedef struct prepared_solids {
    const sinew_solid_def *solids;
    sn_box *box;
    sn_mat3 *turn; // from the grid's axes to each solid's
    int32_t count;
    double tolerance;
} prepared_solids;

static bool boxes_touch(sn_box a, sn_box b) {
    return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && a.lower.y <= b.upper.y &&
           b.lower.y <= a.upper.y && a.lower.z <= b.upper.z && b.lower.z <= a.upper.z;
}

// The last solid that contains a point decides. The list ends with -1.
static bool contains_point(const prepared_solids *all, const int32_t *list, sn_vec3 p) {
    for (int32_t k = 0; list[k] >= 0; k++) {
        const sinew_solid_def *solid = &all->solids[list[k]];
        sn_vec3 local = sn_mat3_apply(all->turn[list[k]], sn_sub(p, sn_load3(solid->center)));
        if (contains_local(solid, local, all->tolerance)) {
            return solid->operation == SINEW_SOLID_ADD;
        }
    }

    return false;
}

static bool is_convex(sinew_solid solid) {
    return solid == SINEW_SOLID_BOX || solid == SINEW_SOLID_SPHERE ||
           solid == SINEW_SOLID_CYLINDER || solid == SINEW_SOLID_CAPSULE;
}

// Whether the solid that decides contains all points of a cell: if it is convex, its corner points
// are enough.
static bool contains_cell(const prepared_solids *all, int32_t last, sn_box cell) {
    const sinew_solid_def *solid = &all->solids[last];
    if (solid->operation != SINEW_SOLID_ADD || !is_convex(solid->solid)) {
        return false;
    }

    const int32_t list[2] = {last, -1};
    sn_vec3 margin = sn_scale(0.5 / SN_FILL_POINTS, sn_box_size(cell));
    sn_vec3 low = sn_add(cell.lower, margin);
    sn_vec3 high = sn_sub(cell.upper, margin);
    for (int k = 0; k < 8; k++) {
        sn_vec3 p = sn_v3(k & 1 ? high.x : low.x, k & 2 ? high.y : low.y, k & 4 ? high.z : low.z);
        if (!contains_point(all, list, p)) {
            return false;
        }
    }
    return true;
}

// Of more solids than LOCAL in one cell, those processed last count.
static int32_t count_inside(const void *data, sn_box cell) {
    enum { LOCAL = 255 };
    const prepared_solids *all = data;
    int32_t list[LOCAL + 1];
    int32_t length = 0;

    // The solids that matter in this cell.
    for (int32_t i = all->count - 1; i >= 0 && length < LOCAL; i--) {
        if (all->solids[i].operation != SINEW_SOLID_PAINT && boxes_touch(all->box[i], cell)) {
            list[length++] = i;
        }
    }

    // A regular grid of points.
    const int n = SN_FILL_POINTS;
    sn_vec3 step = sn_scale(1.0 / n, sn_box_size(cell));
    int32_t inside = 0;
    list[length] = -1;
    if (length == 0) {
        return 0;
    }
    if (contains_cell(all, list[0], cell)) {
        return n * n * n;
    }

    for (int k = 0; k < n * n * n; k++) {
        sn_vec3 p =
            sn_v3(cell.lower.x + (k % n + 0.5) * step.x, cell.lower.y + (k / n % n + 0.5) * step.y,
                  cell.lower.z + (k / (n * n) + 0.5) * step.z);
        inside += contains_point(all, list, p);
    }

    return inside;
}

static sinew_status fill_voxels(const solid_job *job, sinew_voxels *voxels) {
    const double *h = voxels->spacing;
    sn_arena arena = sn_arena_create(job->context);
    prepared_solids all = {.solids = job->solids,
                           .box = SN_PUSH(&arena, sn_box, job->solid_count),
                           .turn = SN_PUSH(&arena, sn_mat3, job->solid_count),
                           .count = job->solid_count,
                           .tolerance = 1e-9 * fmin(h[0], fmin(h[1], h[2]))};
    sinew_status status = sn_arena_status(&arena);

    if (status == SINEW_OK) {
        for (int32_t i = 0; i < all.count; i++) {
            all.box[i] = sn_solid_box(&job->solids[i]);
            all.turn[i] = sn_quat_to_mat3(sn_quat_conjugate(solid_rotation(&job->solids[i])));
        }
        status = sn_fill_by_points(voxels, count_inside, &all);
    }

    sn_arena_destroy(&arena);
    return status;
}

sinew_status sinew_voxels_create_from_solids(sinew_context *context, const sinew_solid_def *solids,
                                             int32_t solid_count, const sinew_voxel_def *def,
                                             sinew_voxels **voxels) {
    SN_NEED(NULL, context);

    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_voxel_def"));
    if (solid_count > 0) {
        SN_TRY(SN_CHECK_DEF(context, solids, "sinew_default_solid_def"));
    }

    // The grid covers the solids that add material.
    sn_box box = sn_box_empty();
    for (int32_t i = 0; i < solid_count; i++) {
        SN_TRY(sn_check_solid(context, &solids[i], i));
        if (solids[i].operation == SINEW_SOLID_ADD) {
            box = sn_box_union(box, sn_solid_box(&solids[i]));
        }
    }

    if (!(box.lower.x < box.upper.x)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "none of the %d solids adds anything",
                       solid_count);
    }

    sn_grid_frame frame;
    SN_TRY(sn_fit_grid(context, def, box, &frame));

    // Reject grids that need too much memory before they are filled.
    solid_job job = {.context = context, .solids = solids, .solid_count = solid_count};
    SN_TRY(sn_check_inside(context, &frame, def->memory_limit, fill_grid, &job));

    size_t count = (size_t)frame.cells[0] * (size_t)frame.cells[1] * (size_t)frame.cells[2];
    uint16_t *labels = sn_allocate(context, count, sizeof *labels);
    if (!labels) {
        return SINEW_OUT_OF_MEMORY;
    }

    sinew_voxels *made = NULL;
    fill_grid(&job, &frame, labels);
    sinew_status status = sn_voxels_create(context, frame.cells, frame.spacing, frame.lower, labels,
                                           def->memory_limit, &made);

    sn_release(context, labels, count, sizeof *labels);
    if (status == SINEW_OK) {
        made->shape_volume = solid_count == 1 ? solid_volume(&solids[0]) : 0;
        status = fill_voxels(&job, made);
    }

    if (status != SINEW_OK) {
        sinew_voxels_destroy(made);
        return status;
    }

    *voxels = made;
    return SINEW_OK;
}
