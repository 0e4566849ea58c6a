// Label grids: construction from labels, the index of inside cells, nearest voxels.
//
// Building the index takes one pass over the cells; memory is 84 bytes per brick of 512 cells and
// 38 bytes per voxel (estimated before anything is allocated).
#include "geom/voxel/voxel.h"

#include "base/threads.h"

#include <string.h>

enum { BRICKS = 64 }; // at a time
enum { BYTES_PER_VOXEL = 38 };
#define BYTES_PER_CELL 2.2 // while being made: the labels of the cells are there too

// 4 GiB, or half of a smaller address space.
static const size_t default_memory_limit =
    SIZE_MAX / 2 < (UINT64_C(4) << 30) ? SIZE_MAX / 2 : (size_t)(UINT64_C(4) << 30);

sinew_voxel_def sinew_default_voxel_def(void) {
    return (sinew_voxel_def){
        .resolution = 64, .memory_limit = default_memory_limit, .filled = SN_DEF_FILLED};
}

double sinew_voxels_estimate_memory(const int32_t cells[3], double inside) {
    SN_NEED_OR(0, cells);
    double count = (double)cells[0] * (double)cells[1] * (double)cells[2];
    return count * (BYTES_PER_CELL + inside * BYTES_PER_VOXEL);
}

sinew_status sn_check_cells(sinew_context *context, const int64_t cells[3], double inside,
                            size_t memory_limit) {
    // Each axis, then all cells: both must be indices.
    double count = 1;
    for (int a = 0; a < 3; a++) {
        if (cells[a] < 1 || cells[a] > INT32_MAX) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "a grid with %lld cells along axis %d; at least 1 and below 2^31",
                           (long long)cells[a], a);
        }
        count *= (double)cells[a];
    }

    if (count > INT32_MAX) {
        return sn_fail(context, SINEW_OUT_OF_MEMORY,
                       "a grid of %lld x %lld x %lld cells; at most 2^31 - 1 are possible: take "
                       "cells %.1f times as large",
                       (long long)cells[0], (long long)cells[1], (long long)cells[2],
                       0.05 + cbrt(count / INT32_MAX));
    }

    // The memory that the grid would need.
    int32_t small[3] = {(int32_t)cells[0], (int32_t)cells[1], (int32_t)cells[2]};
    double bytes = sinew_voxels_estimate_memory(small, inside);
    if (bytes > (double)memory_limit) {
        return sn_fail(context, SINEW_OUT_OF_MEMORY,
                       "a grid of %d x %d x %d cells needs about %.4g MB; the limit is %.4g MB: "
                       "take cells %.1f times as large",
                       small[0], small[1], small[2], bytes / 1e6, (double)memory_limit / 1e6,
                       0.05 + cbrt(bytes / (double)memory_limit));
    }

    return SINEW_OK;
}

static sinew_status check_frame(sinew_context *context, const double spacing[3],
                                const double lower[3]) {
    for (int a = 0; a < 3; a++) {
        if (!(spacing[a] > 0) || !isfinite(spacing[a])) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "the spacing along axis %d is %g m; it must be above 0", a, spacing[a]);
        }

        if (!isfinite(lower[a])) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "the grid's corner is not finite along axis %d", a);
        }
    }

    return SINEW_OK;
}

sinew_status sn_fit_grid(sinew_context *context, const sinew_voxel_def *def, sn_box box,
                         sn_grid_frame *frame) {
    sn_vec3 size3 = sn_box_size(box);
    sn_vec3 center3 = sn_box_center(box);
    if (!sn_finite3(size3) || !(size3.x > 0) || !(size3.y > 0) || !(size3.z > 0)) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "the shape's bounding box is %g x %g x %g m; a solid has extent", size3.x,
                       size3.y, size3.z);
    }

    double size[3], center[3];
    double longest = fmax(size3.x, fmax(size3.y, size3.z));

    sn_store3(size, size3);
    sn_store3(center, center3);

    bool given = def->spacing[0] != 0 || def->spacing[1] != 0 || def->spacing[2] != 0;
    if (!given && def->resolution < 1) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a resolution of %d cells; at least 1",
                       def->resolution);
    }

    // The number of cells along each axis, and a lower corner that centres the grid.
    int64_t cells[3];
    for (int a = 0; a < 3; a++) {
        frame->spacing[a] = given ? def->spacing[a] : longest / def->resolution;
        if (!(frame->spacing[a] > 0)) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "the spacing along axis %d is %g m; it must be above 0", a,
                           frame->spacing[a]);
        }

        // Rounding must not add a layer of cells to a shape that fits exactly.
        double wanted = fmax(1, ceil(size[a] / frame->spacing[a] - 1e-6));

        // Unless the spacing is given, the cells fit the box.
        if (!given) {
            frame->spacing[a] = size[a] / wanted;
        }

        cells[a] = wanted < 4e9 ? (int64_t)wanted : (int64_t)4e9;
        frame->lower[a] = center[a] - 0.5 * wanted * frame->spacing[a];
    }

    SN_TRY(sn_check_cells(context, cells, 0, def->memory_limit));
    for (int a = 0; a < 3; a++) {
        frame->cells[a] = (int32_t)cells[a];
    }

    return check_frame(context, frame->spacing, frame->lower);
}

static int32_t count_voxels(const sn_brick *brick) {
    return brick->before[SN_BRICK - 1] + sn_count_bits(brick->layer[SN_BRICK - 1]);
}

// The index while it is built, brick by brick, so that the six neighbours of a voxel are mostly
// close to it in memory.
typedef struct index_job {
    sinew_voxels *voxels;
    const uint16_t *labels;
} index_job;

// Corner of a brick, and one past its last cells.
static void brick_range(const sinew_voxels *voxels, int32_t brick, int32_t begin[3],
                        int32_t end[3]) {
    sn_cell_coordinates(voxels->bricks, brick, begin);
    for (int a = 0; a < 3; a++) {
        begin[a] *= SN_BRICK;
        end[a] = begin[a] + SN_BRICK < voxels->cells[a] ? begin[a] + SN_BRICK : voxels->cells[a];
    }
}

static void mark_bricks(void *data, int32_t first, int32_t last, int32_t chunk) {
    (void)chunk;
    const index_job *job = data;
    const int32_t *cells = job->voxels->cells;

    for (int32_t i = first; i < last; i++) {
        sn_brick *brick = &job->voxels->brick[i];
        int32_t begin[3], end[3];

        brick_range(job->voxels, i, begin, end);

        // One bit for each inside cell of a layer.
        for (int32_t z = begin[2]; z < end[2]; z++) {
            uint64_t bits = 0;
            for (int32_t y = begin[1]; y < end[1]; y++) {
                const uint16_t *row =
                    job->labels + ((size_t)z * (size_t)cells[1] + (size_t)y) * (size_t)cells[0];
                uint64_t here = 0;

                for (int32_t x = begin[0]; x < end[0]; x++) {
                    here |= (uint64_t)(row[x] != 0) << (x - begin[0]);
                }

                bits |= here << SN_BRICK * (y - begin[1]);
            }

            brick->layer[z - begin[2]] = bits;
        }

        // Running sums over the layers.
        for (int layer = 1; layer < SN_BRICK; layer++) {
            brick->before[layer] =
                (uint16_t)(brick->before[layer - 1] + sn_count_bits(brick->layer[layer - 1]));
        }
    }
}

static void list_voxels(void *data, int32_t first, int32_t last, int32_t chunk) {
    (void)chunk;
    const index_job *job = data;
    const int32_t *cells = job->voxels->cells;

    for (int32_t i = first; i < last; i++) {
        const sn_brick *brick = &job->voxels->brick[i];
        int32_t begin[3], end[3];
        int32_t voxel = brick->first;

        brick_range(job->voxels, i, begin, end);

        // Visit the inside cells in the order of their bits.
        for (int layer = 0; layer < SN_BRICK; layer++) {
            uint64_t bits = brick->layer[layer];
            for (int32_t k = 0; bits; k++, bits >>= 1) {
                if (!(bits & 1)) {
                    continue;
                }

                int32_t cell =
                    ((begin[2] + layer) * cells[1] + begin[1] + k / SN_BRICK) * cells[0] +
                    begin[0] + k % SN_BRICK;
                job->voxels->cell[voxel] = cell;
                job->voxels->label[voxel++] = job->labels[cell];
            }
        }
    }
}

// The numbers of the voxels of a brick and of the cells around it, -1 where there is none; the
// first cell is at (1, 1, 1).
enum { AROUND = SN_BRICK + 2 };
typedef int32_t brick_numbers[AROUND][AROUND][AROUND];

// Enters the numbers from another brick, which is `side` (-1, 0, 1) away along an axis; 0 is the
// brick itself.
static void number_cells(const sn_brick *brick, int axis, int side, brick_numbers numbers) {
    const uint64_t column = 0x0101010101010101u;
    const uint64_t row = 0xff;
    uint64_t mask = ~(uint64_t)0; // the cells that touch the brick
    if (axis == 0 && side) {
        mask = side < 0 ? column << (SN_BRICK - 1) : column;
    }
    if (axis == 1 && side) {
        mask = side < 0 ? row << SN_BRICK * (SN_BRICK - 1) : row;
    }

    int begin = axis == 2 && side < 0 ? SN_BRICK - 1 : 0;
    int end = axis == 2 && side > 0 ? 1 : SN_BRICK;
    int shift[3] = {1, 1, 1};

    // Enter the numbers of the inside cells, shifted by the offset between the two bricks.
    shift[axis] += SN_BRICK * side;
    for (int z = begin; z < end; z++) {
        uint64_t bits = brick->layer[z] & mask;
        for (int k = 0; bits; k++, bits >>= 1) {
            if (!(bits & 1)) {
                continue;
            }
            int32_t below = sn_count_bits(brick->layer[z] & (((uint64_t)1 << k) - 1));
            numbers[z + shift[2]][k / SN_BRICK + shift[1]][k % SN_BRICK + shift[0]] =
                brick->first + brick->before[z] + below;
        }
    }
}

static void find_neighbors(void *data, int32_t first, int32_t last, int32_t chunk) {
    (void)chunk;
    sinew_voxels *voxels = data;
    const int32_t *bricks = voxels->bricks;
    const int32_t step[3] = {1, bricks[0], bricks[0] * bricks[1]};

    for (int32_t i = first; i < last; i++) {
        const sn_brick *brick = &voxels->brick[i];
        brick_numbers n;
        int32_t c[3];
        int32_t voxel = brick->first;

        if (count_voxels(brick) == 0) {
            continue;
        }

        // Numbers of this brick's cells and of those of its six neighbours that touch it.
        memset(n, -1, sizeof n);
        sn_cell_coordinates(bricks, i, c);
        number_cells(brick, 0, 0, n);

        for (int axis = 0; axis < 3; axis++) {
            if (c[axis] > 0) {
                number_cells(brick - step[axis], axis, -1, n);
            }
            if (c[axis] + 1 < bricks[axis]) {
                number_cells(brick + step[axis], axis, 1, n);
            }
        }

        // Read the neighbours of each voxel from the table.
        for (int z = 1; z <= SN_BRICK; z++) {
            for (int y = 1; y <= SN_BRICK; y++) {
                for (int x = 1; x <= SN_BRICK; x++) {
                    if (n[z][y][x] < 0) {
                        continue;
                    }

                    const int32_t around[SN_VOXEL_FACES] = {n[z][y][x - 1], n[z][y][x + 1],
                                                            n[z][y - 1][x], n[z][y + 1][x],
                                                            n[z - 1][y][x], n[z + 1][y][x]};
                    memcpy(voxels->neighbor[voxel++], around, sizeof around);
                }
            }
        }
    }
}

// Marks which cells are inside, and counts the voxels.
static sinew_status push_bricks(sn_arena *arena, sinew_voxels *voxels, const uint16_t *labels) {
    for (int a = 0; a < 3; a++) {
        voxels->bricks[a] = (voxels->cells[a] + SN_BRICK - 1) / SN_BRICK;
    }

    int32_t count = voxels->bricks[0] * voxels->bricks[1] * voxels->bricks[2];
    voxels->brick = SN_PUSH(arena, sn_brick, count);
    SN_TRY(sn_arena_status(arena));

    index_job job = {voxels, labels};
    sn_parallel_for(arena->context, count, BRICKS, mark_bricks, &job);
    for (int32_t i = 0; i < count; i++) {
        sn_brick *brick = &voxels->brick[i];
        brick->first = voxels->count;
        voxels->count += count_voxels(brick);
    }

    return SINEW_OK;
}

static sinew_status build_index(sn_arena *arena, sinew_voxels *voxels, const uint16_t *labels,
                                size_t memory_limit) {
    const int32_t *cells = voxels->cells;
    const int64_t cells64[3] = {cells[0], cells[1], cells[2]};

    SN_TRY(push_bricks(arena, voxels, labels));
    if (voxels->count == 0) {
        return sn_fail(arena->context, SINEW_INVALID_DATA,
                       "none of the %d x %d x %d cells is inside: there is no voxel. Labels above "
                       "0 are inside; thin solids need smaller cells",
                       cells[0], cells[1], cells[2]);
    }

    // The share of inside cells is known now: check the memory again before the rest is allocated.
    double inside = voxels->count / ((double)cells[0] * cells[1] * cells[2]);
    SN_TRY(sn_check_cells(arena->context, cells64, inside, memory_limit));
    voxels->cell = SN_RESERVE(arena, int32_t, voxels->count);
    voxels->label = SN_RESERVE(arena, uint16_t, voxels->count);
    voxels->neighbor = (int32_t(*)[SN_VOXEL_FACES])SN_RESERVE(
        arena, int32_t, (size_t)SN_VOXEL_FACES * (size_t)voxels->count);
    SN_TRY(sn_arena_status(arena));

    index_job job = {voxels, labels};
    int32_t bricks = voxels->bricks[0] * voxels->bricks[1] * voxels->bricks[2];

    sn_parallel_for(arena->context, bricks, BRICKS, list_voxels, &job);
    sn_parallel_for(arena->context, bricks, BRICKS, find_neighbors, voxels);

    return SINEW_OK;
}

sinew_status sn_voxels_create(sinew_context *context, const int32_t cells[3],
                              const double spacing[3], const double lower[3],
                              const uint16_t *labels, size_t memory_limit, sinew_voxels **voxels) {
    SN_TRY(check_frame(context, spacing, lower));
    sn_arena arena = sn_arena_create(context);
    sinew_voxels *made = SN_PUSH(&arena, sinew_voxels, 1);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    // The grid and the index of its voxels; the arena goes with it.
    *made = (sinew_voxels){.context = context,
                           .cells = {cells[0], cells[1], cells[2]},
                           .spacing = {spacing[0], spacing[1], spacing[2]},
                           .lower = {lower[0], lower[1], lower[2]},
                           .volume = spacing[0] * spacing[1] * spacing[2]};

    sinew_status status = build_index(&arena, made, labels, memory_limit);
    if (status != SINEW_OK) {
        sn_arena_destroy(&arena);
        return status;
    }

    made->arena = arena;
    *voxels = made;

    return SINEW_OK;
}

static void copy_labels(const sinew_label_grid *grid, uint16_t *labels) {
    const int32_t *cells = grid->cells;
    size_t target = 0;
    for (int32_t z = 0; z < cells[2]; z++) {
        for (int32_t y = 0; y < cells[1]; y++) {
            for (int32_t x = 0; x < cells[0]; x++, target++) {
                size_t i = (size_t)(grid->flipped[0] ? cells[0] - 1 - x : x);
                size_t j = (size_t)(grid->flipped[1] ? cells[1] - 1 - y : y);
                size_t k = (size_t)(grid->flipped[2] ? cells[2] - 1 - z : z);
                size_t source = (k * (size_t)cells[1] + j) * (size_t)cells[0] + i;
                labels[target] = grid->labels8 ? grid->labels8[source] : grid->labels16[source];
            }
        }
    }
}

sinew_status sinew_voxels_create_from_labels(sinew_context *context, const sinew_label_grid *grid,
                                             size_t memory_limit, sinew_voxels **voxels) {
    SN_NEED(NULL, context);

    if (!grid || (grid->labels8 == NULL) == (grid->labels16 == NULL)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a label grid needs either 8-bit or 16-bit labels");
    }

    const int64_t cells[3] = {grid->cells[0], grid->cells[1], grid->cells[2]};
    SN_TRY(sn_check_cells(context, cells, 0, memory_limit));

    size_t count = (size_t)(cells[0] * cells[1] * cells[2]);
    bool flipped = grid->flipped[0] || grid->flipped[1] || grid->flipped[2];

    // 16-bit labels in the usual order need no copy.
    if (grid->labels16 && !flipped) {
        return sn_voxels_create(context, grid->cells, grid->spacing, grid->lower, grid->labels16,
                                memory_limit, voxels);
    }

    uint16_t *labels = sn_allocate(context, count, sizeof *labels);
    if (!labels) {
        return SINEW_OUT_OF_MEMORY;
    }

    copy_labels(grid, labels);
    sinew_status status = sn_voxels_create(context, grid->cells, grid->spacing, grid->lower, labels,
                                           memory_limit, voxels);

    sn_release(context, labels, count, sizeof *labels);
    return status;
}

void sinew_voxels_destroy(sinew_voxels *voxels) {
    if (!voxels) {
        return;
    }
    sn_arena arena = voxels->arena;
    sn_arena_destroy(&arena);
}

int32_t sinew_voxels_get_count(const sinew_voxels *voxels) {
    SN_NEED_OR(0, voxels);
    return voxels->count;
}

void sinew_voxels_get_grid(const sinew_voxels *voxels, int32_t cells[3], double spacing[3],
                           double lower[3]) {
    SN_NEED_OR(, voxels);

    for (int a = 0; a < 3; a++) {
        if (cells) {
            cells[a] = voxels->cells[a];
        }
        if (spacing) {
            spacing[a] = voxels->spacing[a];
        }
        if (lower) {
            lower[a] = voxels->lower[a];
        }
    }
}

int32_t sinew_voxels_get_label(const sinew_voxels *voxels, int32_t x, int32_t y, int32_t z) {
    SN_NEED_OR(0, voxels);
    int32_t voxel = sn_voxel_at(voxels, x, y, z);
    return voxel < 0 ? 0 : voxels->label[voxel];
}

int32_t sinew_voxels_get_voxel(const sinew_voxels *voxels, int32_t x, int32_t y, int32_t z) {
    SN_NEED_OR(-1, voxels);
    return sn_voxel_at(voxels, x, y, z);
}

const uint16_t *sinew_voxels_get_labels(const sinew_voxels *voxels) {
    SN_NEED_OR(NULL, voxels);
    return voxels->label;
}

const int32_t *sinew_voxels_get_cells(const sinew_voxels *voxels) {
    SN_NEED_OR(NULL, voxels);
    return voxels->cell;
}

const double *sinew_voxels_get_density(const sinew_voxels *voxels) {
    SN_NEED_OR(NULL, voxels);
    return voxels->density;
}

const double *sinew_voxels_get_stiffness(const sinew_voxels *voxels) {
    SN_NEED_OR(NULL, voxels);
    return voxels->stiffness;
}

double sinew_voxels_get_volume(const sinew_voxels *voxels, double *shape_volume) {
    SN_NEED_OR(0, voxels);

    double fill = voxels->count;
    if (voxels->fill) {
        fill = 0;
        for (int32_t v = 0; v < voxels->count; v++) {
            fill += voxels->fill[v];
        }
    }

    if (shape_volume) {
        *shape_volume = voxels->shape_volume;
    }

    return fill * voxels->volume;
}

const double *sinew_voxels_get_fill(const sinew_voxels *voxels) {
    SN_NEED_OR(NULL, voxels);
    return voxels->fill;
}

void sinew_voxels_get_center(const sinew_voxels *voxels, int32_t voxel, double center[3]) {
    SN_NEED_OR(, voxels && center);
    SN_ASSERT(voxel >= 0 && voxel < voxels->count);
    sn_store3(center, sn_voxel_center(voxels, voxel));
}

// Nearest voxels so far: all within `tie` of the smallest distance.
typedef struct nearest_search {
    const sinew_voxels *voxels;
    sn_vec3 p;
    double best, tie;
    int32_t *nearest;
    int32_t count;
} nearest_search;

static void offer_cell(nearest_search *search, int32_t x, int32_t y, int32_t z) {
    int32_t voxel = sn_voxel_at(search->voxels, x, y, z);
    if (voxel < 0) {
        return;
    }

    double distance = sn_distance(sn_voxel_center(search->voxels, voxel), search->p);
    if (distance > search->best + search->tie) {
        return;
    }
    if (distance < search->best - search->tie) {
        search->count = 0;
    }

    search->best = fmin(search->best, distance);
    if (search->count == 8) {
        return;
    }

    // Insert in ascending order.
    int32_t at = search->count++;
    while (at > 0 && search->nearest[at - 1] > voxel) {
        search->nearest[at] = search->nearest[at - 1];
        at--;
    }

    search->nearest[at] = voxel;
}

// The cells whose largest coordinate difference from `c` is r.
static void offer_shell(nearest_search *search, const int32_t c[3], int32_t r) {
    const int32_t *cells = search->voxels->cells;
    int32_t low[3], high[3];

    // The shell, clipped to the grid.
    for (int a = 0; a < 3; a++) {
        low[a] = c[a] - r > 0 ? c[a] - r : 0;
        high[a] = c[a] + r < cells[a] - 1 ? c[a] + r : cells[a] - 1;
    }

    // Whole rows on its faces, otherwise the two ends of a row.
    for (int32_t z = low[2]; z <= high[2]; z++) {
        for (int32_t y = low[1]; y <= high[1]; y++) {
            bool face = z == c[2] - r || z == c[2] + r || y == c[1] - r || y == c[1] + r;
            if (face) {
                for (int32_t x = low[0]; x <= high[0]; x++) {
                    offer_cell(search, x, y, z);
                }
            } else {
                offer_cell(search, c[0] - r, y, z);
                if (r > 0) {
                    offer_cell(search, c[0] + r, y, z);
                }
            }
        }
    }
}

int32_t sn_nearest_voxels(const sinew_voxels *voxels, sn_vec3 p, double limit, int32_t nearest[8],
                          double *distance) {
    double step = fmin(voxels->spacing[0], fmin(voxels->spacing[1], voxels->spacing[2]));
    nearest_search search = {voxels, p, limit, 1e-9 * step, nearest, 0};
    double u[3];
    int32_t c[3], last = 0;

    // Start at the cell of the point, moved into the grid.
    sn_store3(u, sn_voxel_units(voxels, p));
    for (int a = 0; a < 3; a++) {
        double clamped = fmin(fmax(floor(u[a] + 0.5), 0), voxels->cells[a] - 1);
        c[a] = (int32_t)clamped;
        last = c[a] > last ? c[a] : last;
        last = voxels->cells[a] - 1 - c[a] > last ? voxels->cells[a] - 1 - c[a] : last;
    }

    // Shells of growing radius, until no cell of the next one can be closer.
    for (int32_t r = 0; r <= last && (r - 0.5) * step <= search.best + search.tie; r++) {
        offer_shell(&search, c, r);
    }

    if (distance) {
        *distance = search.best;
    }

    return search.count;
}

int32_t sinew_voxels_find_nearest(const sinew_voxels *voxels, const double point[3], double limit) {
    SN_NEED_OR(-1, voxels && point);
    int32_t nearest[8];
    return sn_nearest_voxels(voxels, sn_load3(point), limit, nearest, NULL) ? nearest[0] : -1;
}
