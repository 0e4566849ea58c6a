// Voxelisation of surfaces. Along each of x, y and z, it counts how often the line through the
// centre of a cell has entered the solid before it less how often it has left: above zero means
// inside, so that shells which overlap are one solid and a shell that faces inwards is a cavity.
// Two of three directions decide where they agree or the others went through a hole. Where they
// do not, which happens near holes and self-intersections only, the generalised winding number
// does.
//
// Neighbouring triangles share the sign of their common edge, computed in the same way for both,
// with ties broken as if the line were shifted infinitesimally: a line through an edge or a corner
// is counted once. Cells whose centre is on the surface are inside, on every side of the solid, so
// that a mirrored surface gives mirrored voxels.
//
// Cost: three times the area of the surface in cells, and a pass over the grid.
#include "geom/voxel/voxel_surface.h"

#include "base/threads.h"
#include "geom/repair/repair.h"
#include "geom/search/search.h"
#include "geom/voxel/voxel_coarse.h"
#include "geom/voxel/voxel_fill.h"

#include <string.h>

// Bits of a cell while it is decided: inside along x, y, z; on a line that enters and leaves
// unequally often, which is a contradiction; on the surface; left to the winding number.
enum { INSIDE = 1, BROKEN = 8, ON_SURFACE = 64, DISPUTED = 128 };

// Accuracy of winding numbers: inside and outside differ by 1, errors of 5e-3 do not matter.
static const double winding_accuracy = 2;

typedef struct surface_job {
    const sn_grid_frame *frame;
    const double *points;
    const int32_t *triangles;
    int32_t triangle_count;
    uint8_t *cells;
    int axis;       // of the lines
    int16_t *steps; // [cell] crossings right before it along the axis: entered less left
    int16_t *lines; // [line] all of its crossings
    const sn_triangle_tree *tree; // for winding numbers
    uint16_t *labels, label;
    int64_t *disputed, *inside; // of each slice
} surface_job;

static size_t cell_index(const sn_grid_frame *frame, const int32_t c[3]) {
    return ((size_t)c[2] * (size_t)frame->cells[1] + (size_t)c[1]) * (size_t)frame->cells[0] +
           (size_t)c[0];
}

// Corners in units of cells; cell centres are at integers.
static void load_corners(const surface_job *job, int32_t triangle, double p[3][3]) {
    for (int k = 0; k < 3; k++) {
        const double *x = sn_at3(job->points, job->triangles[3 * (size_t)triangle + (size_t)k]);
        for (int a = 0; a < 3; a++) {
            p[k][a] = (x[a] - job->frame->lower[a]) / job->frame->spacing[a] - 0.5;
        }
    }
}

// On which side of the edge ab, seen along the axis, the line at (u, v) passes: 1 or -1. Both
// triangles at an edge call this with the same a and b, the lower point first. A line through the
// edge is treated as shifted by (e, e^2) with a tiny e.
static int edge_side(const double *a, const double *b, int iu, int iv, double u, double v) {
    double du = b[iu] - a[iu];
    double dv = b[iv] - a[iv];
    double cross = du * (v - a[iv]) - dv * (u - a[iu]);
    if (cross != 0) {
        return cross > 0 ? 1 : -1;
    }
    if (dv != 0) {
        return dv < 0 ? 1 : -1;
    }

    return du > 0 ? 1 : -1;
}

static bool is_lower(const double *a, const double *b) {
    for (int k = 0; k < 3; k++) {
        if (a[k] != b[k]) {
            return a[k] < b[k];
        }
    }
    return true;
}

// The line is on the same side of all edges, in circular order.
int sn_line_hits(double p[3][3], int iu, int iv, double u, double v) {
    int sides = 0;
    for (int k = 0; k < 3; k++) {
        const double *a = p[k];
        const double *b = p[(k + 1) % 3];
        sides += is_lower(a, b) ? edge_side(a, b, iu, iv, u, v) : -edge_side(b, a, iu, iv, u, v);
    }

    return sides == 3 ? 1 : sides == -3 ? -1 : 0;
}

double sn_line_position(double p[3][3], int a, double u, double v) {
    int iu = (a + 1) % 3;
    int iv = (a + 2) % 3;
    double n_u =
        (p[1][iv] - p[0][iv]) * (p[2][a] - p[0][a]) - (p[1][a] - p[0][a]) * (p[2][iv] - p[0][iv]);
    double n_v =
        (p[1][a] - p[0][a]) * (p[2][iu] - p[0][iu]) - (p[1][iu] - p[0][iu]) * (p[2][a] - p[0][a]);
    double n_a = (p[1][iu] - p[0][iu]) * (p[2][iv] - p[0][iv]) -
                 (p[1][iv] - p[0][iv]) * (p[2][iu] - p[0][iu]);
    double lowest = fmin(p[0][a], fmin(p[1][a], p[2][a]));
    double highest = fmax(p[0][a], fmax(p[1][a], p[2][a]));

    // A sliver seen edge-on has no usable plane: use its centre.
    double t = n_a != 0 ? p[0][a] - (n_u * (u - p[0][iu]) + n_v * (v - p[0][iv])) / n_a
                        : 0.5 * (lowest + highest);

    return fmin(fmax(t, lowest), highest);
}

// Adds to a counter that stops at its ends.
static void count(int16_t *counter, int step) {
    int sum = *counter + step;
    *counter = (int16_t)(sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum);
}

// Counts the crossings of a triangle with the lines along the axis at the first cell after each.
static void cross_triangle(surface_job *job, int32_t triangle) {
    const sn_grid_frame *frame = job->frame;
    int a = job->axis;
    int iu = (a + 1) % 3;
    int iv = (a + 2) % 3;
    double p[3][3];

    load_corners(job, triangle, p);
    int32_t low[2], high[2];

    // The lines that can hit it.
    for (int k = 0; k < 2; k++) {
        int i = k ? iv : iu;
        low[k] = (int32_t)fmax(ceil(fmin(p[0][i], fmin(p[1][i], p[2][i]))), 0);
        high[k] = (int32_t)fmin(floor(fmax(p[0][i], fmax(p[1][i], p[2][i]))), frame->cells[i] - 1);
    }

    for (int32_t v = low[1]; v <= high[1]; v++) {
        for (int32_t u = low[0]; u <= high[0]; u++) {
            int side = sn_line_hits(p, iu, iv, u, v);
            if (side == 0) {
                continue;
            }

            // A normal along the axis is met on the way out.
            int32_t c[3];
            c[iu] = u;
            c[iv] = v;
            c[a] = (int32_t)fmax(floor(sn_line_position(p, a, u, v)) + 1, 0);
            if (c[a] < frame->cells[a]) {
                count(&job->steps[cell_index(frame, c)], -side);
            }

            count(&job->lines[(size_t)v * (size_t)frame->cells[iu] + (size_t)u], -side);
        }
    }
}

// Sums the crossings along the lines of a slice of the grid.
static void sum_lines(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    surface_job *job = data;
    const sn_grid_frame *frame = job->frame;
    int a = job->axis;
    int iu = (a + 1) % 3;
    int iv = (a + 2) % 3;
    const size_t stride[3] = {1, (size_t)frame->cells[0],
                              (size_t)frame->cells[0] * (size_t)frame->cells[1]};

    for (int32_t v = begin; v < end; v++) {
        for (int32_t u = 0; u < frame->cells[iu]; u++) {
            size_t first = (size_t)u * stride[iu] + (size_t)v * stride[iv];
            bool broken = job->lines[(size_t)v * (size_t)frame->cells[iu] + (size_t)u] != 0;
            int sum = 0;

            for (int32_t k = 0; k < frame->cells[a]; k++) {
                size_t at = first + (size_t)k * stride[a];
                sum += job->steps[at];
                int bits = (sum > 0 ? INSIDE << a : 0) | (broken ? BROKEN << a : 0);
                job->cells[at] = (uint8_t)(job->cells[at] | bits);
            }
        }
    }
}

// Marks the cells whose centres are on a triangle, within a billionth of a cell: along the axis it
// faces most, the plane passes at most one centre per line.
static void mark_triangle(surface_job *job, int32_t triangle) {
    const sn_grid_frame *frame = job->frame;
    const double tolerance = 1e-9;
    double p[3][3];

    load_corners(job, triangle, p);
    sn_vec3 A = sn_load3(p[0]);
    sn_vec3 B = sn_load3(p[1]);
    sn_vec3 C = sn_load3(p[2]);
    double n[3], barycentric[3];

    // The axis that the triangle faces most.
    sn_store3(n, sn_cross(sn_sub(B, A), sn_sub(C, A)));
    int a = fabs(n[0]) > fabs(n[1]) ? 0 : 1;
    if (fabs(n[2]) > fabs(n[a])) {
        a = 2;
    }
    if (n[a] == 0) {
        return;
    }

    int iu = (a + 1) % 3;
    int iv = (a + 2) % 3;
    int32_t low[2], high[2];

    // The lines that can hit it.
    for (int k = 0; k < 2; k++) {
        int i = k ? iv : iu;
        low[k] = (int32_t)fmax(ceil(fmin(p[0][i], fmin(p[1][i], p[2][i])) - tolerance), 0);
        high[k] = (int32_t)fmin(floor(fmax(p[0][i], fmax(p[1][i], p[2][i])) + tolerance),
                                frame->cells[i] - 1);
    }

    // Test the cell centre closest to the plane on each line.
    for (int32_t v = low[1]; v <= high[1]; v++) {
        for (int32_t u = low[0]; u <= high[0]; u++) {
            double t = p[0][a] - (n[iu] * (u - p[0][iu]) + n[iv] * (v - p[0][iv])) / n[a];
            double k = floor(t + 0.5);
            double at[3];
            if (fabs(t - k) > 2 * tolerance || k < 0 || k >= frame->cells[a]) {
                continue;
            }

            at[a] = k;
            at[iu] = u;
            at[iv] = v;

            sn_vec3 middle = sn_load3(at);
            if (sn_distance(sn_closest_on_triangle(middle, A, B, C, barycentric), middle) >
                tolerance) {
                continue;
            }

            const int32_t c[3] = {(int32_t)at[0], (int32_t)at[1], (int32_t)at[2]};
            job->cells[cell_index(frame, c)] |= ON_SURFACE;
        }
    }
}

// Two of three decide; lines that went through a hole count only if the others do not decide.
// Where neither does, the cell is disputed.
static bool is_inside(uint8_t cell, bool *disputed) {
    int votes = 0, sound = 0, sound_votes = 0;
    for (int a = 0; a < 3; a++) {
        int vote = cell >> a & 1;
        votes += vote;
        if (cell & BROKEN << a) {
            continue;
        }

        sound++;
        sound_votes += vote;
    }

    *disputed = votes == 1 || votes == 2 || sound == 0;
    if (2 * sound_votes != sound) {
        return 2 * sound_votes > sound;
    }

    return votes >= 2;
}

static void decide_cells(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    surface_job *job = data;
    size_t slice = (size_t)job->frame->cells[0] * (size_t)job->frame->cells[1];

    for (int32_t z = begin; z < end; z++) {
        for (size_t i = (size_t)z * slice; i < ((size_t)z + 1) * slice; i++) {
            bool disputed = false;
            bool inside = is_inside(job->cells[i], &disputed) || job->cells[i] & ON_SURFACE;
            if (disputed && !(job->cells[i] & ON_SURFACE)) {
                job->cells[i] |= DISPUTED;
                job->disputed[z]++;
                continue;
            }
            if (!inside) {
                continue;
            }

            job->inside[z]++;
            job->labels[i] = job->label;
        }
    }
}

static void decide_disputed(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    surface_job *job = data;
    const sn_grid_frame *frame = job->frame;
    for (int32_t z = begin; z < end; z++) {
        for (int32_t y = 0; y < frame->cells[1]; y++) {
            for (int32_t x = 0; x < frame->cells[0]; x++) {
                const int32_t c[3] = {x, y, z};
                size_t at = cell_index(frame, c);
                if (!(job->cells[at] & DISPUTED)) {
                    continue;
                }

                double p[3];
                for (int k = 0; k < 3; k++) {
                    p[k] = frame->lower[k] + (c[k] + 0.5) * frame->spacing[k];
                }
                if (sn_triangle_tree_winding(job->tree, sn_load3(p), winding_accuracy) > 0.5) {
                    job->inside[z]++;
                    job->labels[at] = job->label;
                }
            }
        }
    }
}

// Fills the inside of one surface with its label.
static sinew_status fill_surface(surface_job *job, sinew_context *context,
                                 sinew_voxel_report *report) {
    const int32_t *cells = job->frame->cells;
    sn_arena arena = sn_arena_create(context);
    size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];

    job->cells = SN_PUSH(&arena, uint8_t, count);
    job->steps = SN_PUSH(&arena, int16_t, count);
    job->disputed = SN_PUSH(&arena, int64_t, cells[2]);
    job->inside = SN_PUSH(&arena, int64_t, cells[2]);

    // Crossings along the three axes.
    for (job->axis = 0; job->axis < 3 && !arena.failed; job->axis++) {
        int32_t u = cells[(job->axis + 1) % 3];
        int32_t v = cells[(job->axis + 2) % 3];

        job->lines = SN_PUSH(&arena, int16_t, (size_t)u * (size_t)v);
        if (arena.failed) {
            break;
        }

        memset(job->steps, 0, count * sizeof *job->steps);

        for (int32_t t = 0; t < job->triangle_count; t++) {
            cross_triangle(job, t);
        }

        sn_parallel_for(context, v, 4, sum_lines, job);
    }

    sinew_status status = sn_arena_status(&arena);
    if (status == SINEW_OK) {
        // Decide cell by cell.
        for (int32_t t = 0; t < job->triangle_count; t++) {
            mark_triangle(job, t);
        }

        sn_parallel_for(context, cells[2], 4, decide_cells, job);
        int64_t disputed = 0;
        for (int32_t z = 0; z < cells[2]; z++) {
            disputed += job->disputed[z];
        }

        report->disputed_cells += disputed;
        if (disputed > 0) {
            sn_triangle_tree tree;
            status = sn_triangle_tree_build(&arena, job->points, job->triangles,
                                            job->triangle_count, &tree);
            job->tree = &tree;
            if (status == SINEW_OK) {
                sn_parallel_for(context, cells[2], 1, decide_disputed, job);
            }
        }

        // Compare the volume of the cells with that of the surface.
        double inside = 0;
        double volume = 0;
        double *h =
            (double[]){job->frame->spacing[0], job->frame->spacing[1], job->frame->spacing[2]};

        for (int32_t z = 0; z < cells[2]; z++) {
            inside += (double)job->inside[z] * h[0] * h[1] * h[2];
        }

        for (int32_t t = 0; t < job->triangle_count; t++) {
            sn_vec3 p[3];
            for (size_t k = 0; k < 3; k++) {
                p[k] = sn_load3(sn_at3(job->points, job->triangles[3 * (size_t)t + k]));
            }
            sn_vec3 first = sn_load3(sn_at3(job->points, job->triangles[0]));
            volume += sn_tet_volume6(first, p[0], p[1], p[2]) / 6;
        }

        if (fabs(volume) > report->surface_volume[0]) {
            report->surface_volume[0] = fabs(volume);
            report->surface_volume[1] = inside;
        }
    }

    sn_arena_destroy(&arena);
    return status;
}

static sinew_status check_surface(sinew_context *context, const sinew_labelled_surface *surface,
                                  int32_t index) {
    if (!surface->mesh || surface->mesh->element != SINEW_ELEMENT_TRIANGLE ||
        surface->mesh->element_count < 1) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "surface %d is not a mesh of triangles",
                       index);
    }

    if (surface->label < 0 || surface->label > UINT16_MAX) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "surface %d has label %d; labels are in [0, 65535]", index, surface->label);
    }

    return sn_check_arrays(context, surface->mesh);
}

// Measures the openings of a surface, and rejects one that is wider than a limit that the caller
// set.
static sinew_status check_holes(sn_arena *scratch, const sinew_mesh *mesh,
                                const sn_repaired_surface *repaired, int32_t index, double limit,
                                sinew_voxel_report *report) {
    sn_hole_report holes;
    sn_arena_mark mark = sn_arena_get_mark(scratch);
    SN_TRY(sn_find_holes(scratch, mesh, repaired->triangles, repaired->triangle_count, &holes));
    sn_arena_rewind(scratch, mark);

    report->open_edges += holes.open_edges;
    report->hole_count += holes.holes;
    report->largest_hole = fmax(report->largest_hole, holes.largest);
    if (limit == 0 || holes.largest <= limit) {
        return SINEW_OK;
    }

    return sn_fail(scratch->context, SINEW_INVALID_DATA,
                   "surface %d is open: %d edges bound a hole of %g m around (%g, %g, %g) m; "
                   "hole_limit is %g m",
                   index, holes.open_edges, holes.largest, holes.center.x, holes.center.y,
                   holes.center.z, limit);
}

typedef struct surfaces_job {
    sinew_context *context;
    const sinew_labelled_surface *surfaces;
    int32_t count;
    sn_repaired_surface *repaired; // [count]
    sinew_voxel_report report;
} surfaces_job;

// The surface to be processed after those that are done: by ascending priority, equal ones in their
// order.
static int32_t next_surface(const surfaces_job *job, const bool *done) {
    int32_t next = -1;
    for (int32_t i = 0; i < job->count; i++) {
        if (!done[i] && (next < 0 || job->surfaces[i].priority < job->surfaces[next].priority)) {
            next = i;
        }
    }

    return next;
}

static sinew_status fill_grid(void *data, const sn_grid_frame *frame, uint16_t *labels) {
    surfaces_job *all = data;
    sn_arena arena = sn_arena_create(all->context);
    bool *done = SN_PUSH(&arena, bool, all->count);
    sinew_status status = sn_arena_status(&arena);

    all->report.disputed_cells = 0;
    memset(all->report.surface_volume, 0, sizeof all->report.surface_volume);
    for (int32_t round = 0; round < all->count && status == SINEW_OK; round++) {
        // Later surfaces have a higher priority, and overwrite.
        int32_t next = next_surface(all, done);
        surface_job job = {.frame = frame,
                           .points = all->repaired[next].points,
                           .triangles = all->repaired[next].triangles,
                           .triangle_count = all->repaired[next].triangle_count,
                           .labels = labels,
                           .label = (uint16_t)all->surfaces[next].label};

        done[next] = true;
        if (job.triangle_count > 0) {
            status = fill_surface(&job, all->context, &all->report);
        }
    }

    sn_arena_destroy(&arena);
    return status;
}

// Computes the filled parts of the voxels.
static sinew_status fill_voxels(const surfaces_job *job, sinew_voxels *voxels) {
    sn_arena arena = sn_arena_create(job->context);
    bool *done = SN_PUSH(&arena, bool, job->count);
    sn_fill_surface *list = SN_PUSH(&arena, sn_fill_surface, job->count);
    sinew_status status = sn_arena_status(&arena);

    if (status == SINEW_OK) {
        for (int32_t i = 0; i < job->count; i++) {
            int32_t next = next_surface(job, done);
            done[next] = true;
            list[i] = (sn_fill_surface){.points = job->repaired[next].points,
                                        .triangles = job->repaired[next].triangles,
                                        .triangle_count = job->repaired[next].triangle_count,
                                        .cavity = job->surfaces[next].label == 0};
        }
    }

    if (status == SINEW_OK) {
        status = sn_fill_by_lines(voxels, list, job->count);
    }

    sn_arena_destroy(&arena);
    return status;
}

// Welds and orients the surfaces, and looks for holes.
static sinew_status repair_surfaces(sn_arena *arena, double hole_limit, surfaces_job *job) {
    job->repaired = SN_PUSH(arena, sn_repaired_surface, job->count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < job->count; i++) {
        SN_TRY(sn_repair_surface(arena, job->surfaces[i].mesh, &job->repaired[i]));
        SN_TRY(check_holes(arena, job->surfaces[i].mesh, &job->repaired[i], i, hole_limit,
                           &job->report));
    }
    return SINEW_OK;
}

static sinew_status create_from_surfaces(surfaces_job *job, const sinew_voxel_def *def, sn_box box,
                                         sinew_voxels **voxels) {
    sinew_context *context = job->context;
    sn_grid_frame frame;
    SN_TRY(sn_fit_grid(context, def, box, &frame));

    // Reject grids that need too much memory before they are filled.
    SN_TRY(sn_check_inside(context, &frame, def->memory_limit, fill_grid, job));

    size_t count = (size_t)frame.cells[0] * (size_t)frame.cells[1] * (size_t)frame.cells[2];
    uint16_t *labels = sn_allocate(context, count, sizeof *labels);
    if (!labels) {
        return SINEW_OUT_OF_MEMORY;
    }

    sinew_voxels *made = NULL;
    sinew_status status = fill_grid(job, &frame, labels);
    if (status == SINEW_OK) {
        status = sn_voxels_create(context, frame.cells, frame.spacing, frame.lower, labels,
                                  def->memory_limit, &made);
    }

    sn_release(context, labels, count, sizeof *labels);
    if (status == SINEW_OK) {
        // The enclosed volume of an open surface, or of one that crosses itself, is not known.
        bool known = job->count == 1 && job->report.open_edges + job->report.disputed_cells == 0;
        made->shape_volume = known ? job->report.surface_volume[0] : 0;
        status = fill_voxels(job, made);
    }

    if (status != SINEW_OK) {
        sinew_voxels_destroy(made);
        return status;
    }

    *voxels = made;
    return SINEW_OK;
}
// The box of the triangles; points that none of them uses do not count.
static sn_box find_box(const sinew_mesh *mesh) {
    sn_box box = sn_box_empty();
    for (int32_t i = 0; i < 3 * mesh->element_count; i++) {
        box = sn_box_with_point(box, sn_load3(sn_at3(mesh->points, mesh->indices[i])));
    }
    return box;
}

sinew_status sinew_voxels_create_from_surfaces(sinew_context *context,
                                               const sinew_labelled_surface *surfaces,
                                               int32_t surface_count, const sinew_voxel_def *def,
                                               sinew_voxels **voxels, sinew_voxel_report *report) {
    SN_NEED(NULL, context);

    if (report) {
        *report = (sinew_voxel_report){0};
    }

    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_voxel_def"));
    if (!surfaces || surface_count < 1 || !(def->hole_limit >= 0)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "%d surfaces (at least 1) and a hole limit of %g m (at least 0)",
                       surfaces ? surface_count : 0, def->hole_limit);
    }

    // The grid covers the surfaces that add material.
    sn_box box = sn_box_empty();
    for (int32_t i = 0; i < surface_count; i++) {
        SN_TRY(check_surface(context, &surfaces[i], i));
        if (surfaces[i].label > 0) {
            box = sn_box_union(box, find_box(surfaces[i].mesh));
        }
    }

    sn_arena arena = sn_arena_create(context);
    surfaces_job job = {.context = context, .surfaces = surfaces, .count = surface_count};
    sinew_status status = repair_surfaces(&arena, def->hole_limit, &job);
    if (status == SINEW_OK) {
        status = create_from_surfaces(&job, def, box, voxels);
    }
    if (report) {
        *report = job.report;
    }

    sn_arena_destroy(&arena);
    return status;
}
