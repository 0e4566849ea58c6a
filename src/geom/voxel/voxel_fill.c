// Filled parts of voxels (voxel_fill.h). Solids are tested at points, in the cells next to the
// boundary only. Surfaces are crossed by lines: with the crossings of a line in order, the length
// inside each cell follows. Sums run in the order of cells or lines, on one thread.
#include "geom/voxel/voxel_fill.h"

#include "base/sort.h"
#include "base/threads.h"
#include "geom/voxel/voxel_surface.h"

#include <string.h>

enum { LINES = 4, CHUNK = 256 };

// Voxels that barely contain anything keep this part, so that they have mass.
static const double least = 1e-3;

// Whether all cells that touch a voxel are voxels: along z, then y, then x.
static bool is_surrounded(const sinew_voxels *voxels, int32_t voxel) {
    int32_t(*neighbor)[6] = voxels->neighbor;
    int32_t line[3] = {voxel, neighbor[voxel][4], neighbor[voxel][5]};
    for (int z = 0; z < 3; z++) {
        if (line[z] < 0) {
            return false;
        }
        const int32_t row[3] = {line[z], neighbor[line[z]][2], neighbor[line[z]][3]};
        for (int y = 0; y < 3; y++) {
            if (row[y] < 0 || neighbor[row[y]][0] < 0 || neighbor[row[y]][1] < 0) {
                return false;
            }
        }
    }
    return true;
}

// Marks the cells next to the boundary, one byte each: voxels that touch another cell, and these.
static void mark_boundary(const sinew_voxels *voxels, uint8_t *marks) {
    const int32_t *n = voxels->cells;
    for (int32_t v = 0; v < voxels->count; v++) {
        if (is_surrounded(voxels, v)) {
            continue;
        }

        int32_t c[3];
        sn_cell_coordinates(n, voxels->cell[v], c);
        for (int k = 0; k < 27; k++) {
            const int32_t at[3] = {c[0] + k % 3 - 1, c[1] + k / 3 % 3 - 1, c[2] + k / 9 - 1};
            bool in_grid = true;
            for (int a = 0; a < 3; a++) {
                in_grid = in_grid && at[a] >= 0 && at[a] < n[a];
            }

            // Beyond the grid there are no voxels, and no cells to mark.
            if (!in_grid) {
                marks[voxels->cell[v]] = 1;
            } else if (sn_voxel_at(voxels, at[0], at[1], at[2]) < 0) {
                marks[voxels->cell[v]] = 1;
                marks[((size_t)at[2] * (size_t)n[1] + (size_t)at[1]) * (size_t)n[0] +
                      (size_t)at[0]] = 1;
            }
        }
    }
}

// Lists the cells next to the boundary.
static sinew_status list_boundary(sn_arena *arena, const sinew_voxels *voxels, int32_t **list,
                                  int32_t *count) {
    const int32_t *n = voxels->cells;
    size_t cells = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    uint8_t *marks = SN_PUSH(arena, uint8_t, cells);
    SN_TRY(sn_arena_status(arena));
    mark_boundary(voxels, marks);

    *count = 0;
    for (size_t i = 0; i < cells; i++) {
        *count += marks[i];
    }

    *list = SN_RESERVE(arena, int32_t, *count);
    SN_TRY(sn_arena_status(arena));
    int32_t next = 0;
    for (size_t i = 0; i < cells; i++) {
        if (marks[i]) {
            (*list)[next++] = (int32_t)i;
        }
    }

    return SINEW_OK;
}

typedef struct point_job {
    const sinew_voxels *voxels;
    sn_count_inside *count_inside;
    const void *data;
    const int32_t *list;
    double *share; // of each cell in the list
} point_job;

static void test_points(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const point_job *job = data;
    const sinew_voxels *voxels = job->voxels;
    const double *h = voxels->spacing;

    for (int32_t i = begin; i < end; i++) {
        int32_t c[3];
        sn_cell_coordinates(voxels->cells, job->list[i], c);

        sn_vec3 lower = sn_v3(voxels->lower[0] + c[0] * h[0], voxels->lower[1] + c[1] * h[1],
                              voxels->lower[2] + c[2] * h[2]);
        sn_box cell = {lower, sn_add(lower, sn_v3(h[0], h[1], h[2]))};
        double points = SN_FILL_POINTS * SN_FILL_POINTS * SN_FILL_POINTS;
        job->share[i] = job->count_inside(job->data, cell) / points;
    }
}

// Gives the content of a cell to its voxel or, if it has none, to the voxels it touches: across
// faces, else across edges, else at corners.
static void credit(sinew_voxels *voxels, const int32_t c[3], double share) {
    int32_t own = sn_voxel_at(voxels, c[0], c[1], c[2]);
    if (own >= 0) {
        voxels->fill[own] += share;
        return;
    }

    for (int distance = 1; distance <= 3; distance++) {
        // All voxels at this distance share the content.
        int32_t found[12];
        int32_t count = 0;
        for (int k = 0; k < 27; k++) {
            int dx = k % 3 - 1;
            int dy = k / 3 % 3 - 1;
            int dz = k / 9 - 1;
            if (dx * dx + dy * dy + dz * dz != distance) {
                continue;
            }

            int32_t voxel = sn_voxel_at(voxels, c[0] + dx, c[1] + dy, c[2] + dz);
            if (voxel >= 0) {
                found[count++] = voxel;
            }
        }

        if (count > 0) {
            for (int32_t k = 0; k < count; k++) {
                voxels->fill[found[k]] += share / count;
            }
            return;
        }
    }
}

static sinew_status push_fill(sinew_voxels *voxels, double initial) {
    voxels->fill = SN_RESERVE(&voxels->arena, double, voxels->count);
    SN_TRY(sn_arena_status(&voxels->arena));
    for (int32_t v = 0; v < voxels->count; v++) {
        voxels->fill[v] = initial;
    }

    return SINEW_OK;
}

// Raises parts that are too small, and forgets them all if every voxel is full.
static void finish(sinew_voxels *voxels) {
    bool full = true;
    for (int32_t v = 0; v < voxels->count; v++) {
        voxels->fill[v] = fmax(voxels->fill[v], least);
        full = full && fabs(voxels->fill[v] - 1) < 1e-9;
    }

    if (full) {
        voxels->fill = NULL;
    }
}

sinew_status sn_fill_by_points(sinew_voxels *voxels, sn_count_inside *count_inside,
                               const void *data) {
    SN_TRY(push_fill(voxels, 1));

    sn_arena arena = sn_arena_create(voxels->context);
    int32_t *list = NULL;
    int32_t count = 0;

    // Only cells at the boundary are neither full nor empty.
    sinew_status status = list_boundary(&arena, voxels, &list, &count);
    double *share = SN_RESERVE(&arena, double, count);

    if (status == SINEW_OK) {
        status = sn_arena_status(&arena);
    }

    if (status == SINEW_OK) {
        // Test points in each, then correct the voxels around it.
        point_job job = {voxels, count_inside, data, list, share};
        sn_parallel_for(voxels->context, count, CHUNK, test_points, &job);

        for (int32_t i = 0; i < count; i++) {
            int32_t c[3];
            sn_cell_coordinates(voxels->cells, list[i], c);
            bool full = sn_voxel_at(voxels, c[0], c[1], c[2]) >= 0; // counted already
            credit(voxels, c, full ? share[i] - 1 : share[i]);
        }

        finish(voxels);
    }

    sn_arena_destroy(&arena);
    return status;
}

// Where lines cross surfaces: the line, the position along it in cells, the surface.
typedef struct crossings {
    uint64_t *line;
    double *position;
    int32_t *surface; // twice its number, plus 1 where the line leaves it
    size_t line_capacity, position_capacity, surface_capacity;
    size_t count;
} crossings;

static sinew_status append(sinew_context *context, crossings *all, uint64_t line, double position,
                           int32_t surface) {
    // Three arrays grow together; each keeps its own capacity.
    void *lines = all->line;
    void *positions = all->position;
    void *surfaces = all->surface;
    size_t used = all->count;
    sinew_status status =
        sn_grow(context, &lines, &all->line_capacity, used, used + 1, sizeof *all->line);

    if (status == SINEW_OK) {
        status = sn_grow(context, &positions, &all->position_capacity, used, used + 1,
                         sizeof *all->position);
    }

    if (status == SINEW_OK) {
        status = sn_grow(context, &surfaces, &all->surface_capacity, used, used + 1,
                         sizeof *all->surface);
    }

    all->line = lines;
    all->position = positions;
    all->surface = surfaces;
    SN_TRY(status);

    // The new crossing.
    all->line[used] = line;
    all->position[used] = position;
    all->surface[used] = surface;
    all->count++;

    return SINEW_OK;
}

static void release(sinew_context *context, crossings *all) {
    sn_release(context, all->line, all->line_capacity, sizeof *all->line);
    sn_release(context, all->position, all->position_capacity, sizeof *all->position);
    sn_release(context, all->surface, all->surface_capacity, sizeof *all->surface);
}

// Crosses a triangle with the lines through its projection. Its corners are in units of cells along
// x and of lines along y and z, from the first line.
static sinew_status cross_triangle(const sinew_voxels *voxels, double p[3][3], int32_t surface,
                                   crossings *all) {
    int32_t low[3], high[3];
    for (int a = 1; a < 3; a++) {
        double last = (double)LINES * voxels->cells[a] - 1;
        low[a] = (int32_t)fmax(ceil(fmin(p[0][a], fmin(p[1][a], p[2][a]))), 0);
        high[a] = (int32_t)fmin(floor(fmax(p[0][a], fmax(p[1][a], p[2][a]))), last);
    }

    uint64_t width = (uint64_t)LINES * (uint64_t)voxels->cells[1];
    for (int32_t v = low[2]; v <= high[2]; v++) {
        for (int32_t u = low[1]; u <= high[1]; u++) {
            int side = sn_line_hits(p, 1, 2, u, v);
            if (side == 0) {
                continue;
            }

            double x = sn_line_position(p, 0, u, v);
            SN_TRY(append(voxels->context, all, (uint64_t)v * width + (uint64_t)u,
                          fmin(fmax(x, 0), voxels->cells[0]), 2 * surface + (side > 0)));
        }
    }

    return SINEW_OK;
}

static sinew_status cross_surface(const sinew_voxels *voxels, const sn_fill_surface *surface,
                                  int32_t index, crossings *all) {
    for (int32_t t = 0; t < surface->triangle_count; t++) {
        double p[3][3];
        for (int k = 0; k < 3; k++) {
            const double *x =
                sn_at3(surface->points, surface->triangles[3 * (size_t)t + (size_t)k]);
            for (int a = 0; a < 3; a++) {
                double cells = (x[a] - voxels->lower[a]) / voxels->spacing[a];
                p[k][a] = a == 0 ? cells : LINES * cells - 0.5;
            }
        }

        SN_TRY(cross_triangle(voxels, p, index, all));
    }

    return SINEW_OK;
}

// Credits the cells of a row with the part of a line that is between two positions.
static void credit_interval(sinew_voxels *voxels, int32_t y, int32_t z, double from, double to) {
    int32_t last = (int32_t)fmin(ceil(to), voxels->cells[0]);
    for (int32_t x = (int32_t)floor(from); x < last; x++) {
        double length = fmin(to, x + 1) - fmax(from, x);
        const int32_t c[3] = {x, y, z};
        credit(voxels, c, length / (LINES * LINES));
    }
}

// Enters or leaves the surface of a crossing.
static void pass(const crossings *all, int32_t crossing, int32_t *inside) {
    inside[all->surface[crossing] / 2] += all->surface[crossing] % 2 ? -1 : 1;
}

// Credits the cells along one line from its crossings in order. `inside` counts how often the line
// has entered each surface less how often it has left; it is zero before and after.
static void sweep_line(sinew_voxels *voxels, const sn_fill_surface *surfaces, int32_t count,
                       const crossings *all, const int32_t *order, int32_t crossing_count,
                       uint64_t line, int32_t *inside) {
    uint64_t width = (uint64_t)LINES * (uint64_t)voxels->cells[1];
    int32_t y = (int32_t)(line % width / LINES);
    int32_t z = (int32_t)(line / width / LINES);

    // Some surface is entered and left unequally often: a hole.
    bool broken = false;
    for (int32_t i = 0; i < crossing_count; i++) {
        pass(all, order[i], inside);
    }

    for (int32_t i = 0; i < count; i++) {
        broken = broken || inside[i] != 0;
        inside[i] = 0;
    }

    if (broken) {
        for (int32_t x = 0; x < voxels->cells[0]; x++) {
            int32_t voxel = sn_voxel_at(voxels, x, y, z);
            if (voxel >= 0) {
                voxels->fill[voxel] += 1.0 / (LINES * LINES);
            }
        }
        return;
    }

    for (int32_t i = 0; i + 1 < crossing_count; i++) {
        int32_t top = count - 1;
        pass(all, order[i], inside);
        while (top >= 0 && inside[top] <= 0) {
            top--;
        }

        if (top >= 0 && !surfaces[top].cavity) {
            credit_interval(voxels, y, z, all->position[order[i]], all->position[order[i + 1]]);
        }
    }

    memset(inside, 0, (size_t)count * sizeof *inside);
}

// Orders the crossings by line, then by position.
static sinew_status sort_crossings(sn_arena *arena, const crossings *all, int32_t *order) {
    uint64_t *keys = SN_RESERVE(arena, uint64_t, all->count);
    SN_TRY(sn_arena_status(arena));

    // Positions are not negative, so their bits are in the same order as they are.
    for (size_t i = 0; i < all->count; i++) {
        double position = all->position[i] + 0.0;
        memcpy(&keys[i], &position, sizeof position);
        order[i] = (int32_t)i;
    }

    SN_TRY(sn_sort_by_key(arena, keys, order, (int32_t)all->count));
    for (size_t i = 0; i < all->count; i++) {
        keys[i] = all->line[order[i]];
    }

    return sn_sort_by_key(arena, keys, order, (int32_t)all->count);
}

static sinew_status sweep_lines(sinew_voxels *voxels, const sn_fill_surface *surfaces,
                                int32_t count, const crossings *all) {
    if (all->count > INT32_MAX) {
        return sn_fail(voxels->context, SINEW_OUT_OF_MEMORY,
                       "the surfaces cross %zu lines of the grid; at most %d are possible",
                       all->count, INT32_MAX);
    }

    sn_arena arena = sn_arena_create(voxels->context);

    // Crossings sorted by line and position.
    int32_t *order = SN_RESERVE(&arena, int32_t, all->count);
    int32_t *inside = SN_PUSH(&arena, int32_t, count);
    sinew_status status = sn_arena_status(&arena);

    if (status == SINEW_OK) {
        status = sort_crossings(&arena, all, order);
    }

    if (status == SINEW_OK) {
        // One line at a time.
        int32_t end = 0;
        for (int32_t begin = 0; begin < (int32_t)all->count; begin = end) {
            uint64_t line = all->line[order[begin]];
            end = begin;
            while (end < (int32_t)all->count && all->line[order[end]] == line) {
                end++;
            }

            sweep_line(voxels, surfaces, count, all, order + begin, end - begin, line, inside);
        }
    }

    sn_arena_destroy(&arena);
    return status;
}

sinew_status sn_fill_by_lines(sinew_voxels *voxels, const sn_fill_surface *surfaces,
                              int32_t count) {
    crossings all = {0};
    sinew_status status = push_fill(voxels, 0);
    for (int32_t i = 0; i < count && status == SINEW_OK; i++) {
        status = cross_surface(voxels, &surfaces[i], i, &all);
    }

    if (status == SINEW_OK) {
        status = sweep_lines(voxels, surfaces, count, &all);
    }

    release(voxels->context, &all);
    if (status == SINEW_OK) {
        finish(voxels);
    }

    return status;
}
