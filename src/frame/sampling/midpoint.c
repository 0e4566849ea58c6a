// Midpoint samples. In: the voxels and the requested number of samples. Out: a partition of the
// voxels. The grid is divided into blocks of about equal size, so many that the number of samples
// comes close to the request; the voxels of one label in a block form one sample.
//
// A block border never passes through the centre of a voxel, so mirroring the grid mirrors the
// partition. Cost: one pass over the voxels for each trial of the block size.
#include "frame/sampling/samples_internal.h"

#include <stdlib.h>
#include <string.h>

enum { LABELS = 65536, TRIALS = 24 };

// Whether the centre x + 1/2 of some voxel lies on a border k cells / blocks, that is, whether
// (2 x + 1) blocks = 2 k cells has a solution.
static bool has_ties(int32_t cells, int32_t blocks) {
    if (blocks % 2) {
        return false; // an odd number cannot equal an even one
    }

    for (int32_t x = 0; x < cells; x++) {
        if ((int64_t)(2 * x + 1) * blocks % (2 * (int64_t)cells) == 0) {
            return true;
        }
    }

    return false;
}

typedef struct block_grid {
    int32_t blocks[3];
} block_grid;

static block_grid choose_blocks(const sinew_voxels *voxels, double edge) {
    block_grid grid;
    for (int a = 0; a < 3; a++) {
        double wanted = floor(voxels->cells[a] * voxels->spacing[a] / edge + 0.5);
        int32_t blocks = (int32_t)fmin(fmax(wanted, 1), voxels->cells[a]);
        // Blocks that have ties are even in number, so at least 2.
        grid.blocks[a] = has_ties(voxels->cells[a], blocks) ? blocks - 1 : blocks;
    }

    return grid;
}

static int64_t block_of(const sinew_voxels *voxels, const block_grid *grid, int32_t voxel) {
    int32_t c[3];
    sn_cell_coordinates(voxels->cells, voxels->cell[voxel], c);
    int64_t b[3];

    for (int a = 0; a < 3; a++) {
        b[a] = (int64_t)(2 * c[a] + 1) * grid->blocks[a] / (2 * (int64_t)voxels->cells[a]);
    }

    return (b[2] * grid->blocks[1] + b[1]) * grid->blocks[0] + b[0];
}

static int64_t block_total(const block_grid *grid) {
    return (int64_t)grid->blocks[0] * grid->blocks[1] * grid->blocks[2];
}

// Marks the (block, label) pairs that occur, and counts them.
static int32_t mark_pairs(const sn_shape *shape, const block_grid *grid, const int32_t *label_index,
                          int32_t labels, uint8_t *marks) {
    const sinew_voxels *voxels = shape->voxels;
    memset(marks, 0, (size_t)(block_total(grid) * labels));

    int32_t count = 0;

    for (int32_t v = 0; v < voxels->count; v++) {
        uint8_t *mark = &marks[block_of(voxels, grid, v) * labels + label_index[voxels->label[v]]];
        count += !*mark;
        *mark = 1;
    }

    return count;
}

static sinew_status partition_singles(const sn_shape *shape, sn_arena *arena,
                                      sn_partition *partition) {
    partition->count = shape->voxels->count;
    partition->sample_of = SN_PUSH(arena, int32_t, partition->count);
    SN_TRY(sn_arena_status(arena));

    for (int32_t v = 0; v < partition->count; v++) {
        partition->sample_of[v] = v;
    }

    return SINEW_OK;
}

// Finds the block size by bisection; more blocks nearly always give more samples.
static block_grid find_blocks(const sn_shape *shape, int32_t requested, const int32_t *label_index,
                              int32_t labels, uint8_t *marks) {
    const sinew_voxels *voxels = shape->voxels;

    // From blocks as small as a voxel to one block that holds the whole solid.
    double low = fmin(voxels->spacing[0], fmin(voxels->spacing[1], voxels->spacing[2]));
    double high = 0;

    for (int a = 0; a < 3; a++) {
        high = fmax(high, 2 * voxels->cells[a] * voxels->spacing[a]);
    }

    block_grid best = choose_blocks(voxels, high);
    int32_t best_count = mark_pairs(shape, &best, label_index, labels, marks);

    // Bisect in the logarithm of the edge, and keep the best count so far.
    for (int trial = 0; trial < TRIALS && best_count != requested; trial++) {
        double edge = sqrt(low * high);
        block_grid grid = choose_blocks(voxels, edge);
        int32_t count = mark_pairs(shape, &grid, label_index, labels, marks);

        if (abs(count - requested) < abs(best_count - requested)) {
            best = grid;
            best_count = count;
        }

        if (count > requested) {
            low = edge;
        } else {
            high = edge;
        }
    }

    return best;
}

// The blocks that the definition gives, at most one for each cell.
static block_grid given_blocks(const sinew_voxels *voxels, const int32_t counts[3]) {
    block_grid grid;
    for (int a = 0; a < 3; a++) {
        grid.blocks[a] = counts[a] < voxels->cells[a] ? counts[a] : voxels->cells[a];
    }
    return grid;
}

sinew_status sn_partition_blocks(const sn_shape *shape, const sinew_sampling_def *def,
                                 sn_arena *arena, sn_partition *partition) {
    const sinew_voxels *voxels = shape->voxels;
    int32_t requested = def->count;
    bool given = def->counts[0] > 0;
    if (!given && (requested == 0 || requested >= voxels->count)) {
        return partition_singles(shape, arena, partition);
    }

    int32_t *label_index = SN_PUSH(arena, int32_t, LABELS);
    partition->sample_of = SN_PUSH(arena, int32_t, voxels->count);
    SN_TRY(sn_arena_status(arena));

    int32_t labels = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        label_index[voxels->label[v]] = 1;
    }

    for (int32_t label = 0; label < LABELS; label++) {
        label_index[label] = label_index[label] ? labels++ : -1;
    }

    size_t cells = (size_t)voxels->cells[0] * (size_t)voxels->cells[1] * (size_t)voxels->cells[2];
    // There are at most as many blocks as cells.
    uint8_t *marks = SN_PUSH(arena, uint8_t, cells * (size_t)labels);

    SN_TRY(sn_arena_status(arena));
    block_grid grid = given ? given_blocks(voxels, def->counts)
                            : find_blocks(shape, requested, label_index, labels, marks);

    mark_pairs(shape, &grid, label_index, labels, marks);
    int64_t pairs = block_total(&grid) * labels;
    int32_t *number = SN_PUSH(arena, int32_t, pairs);

    SN_TRY(sn_arena_status(arena));
    for (int64_t pair = 0; pair < pairs; pair++) {
        number[pair] = marks[pair] ? partition->count++ : -1;
    }

    for (int32_t v = 0; v < voxels->count; v++) {
        partition->sample_of[v] =
            number[block_of(voxels, &grid, v) * labels + label_index[voxels->label[v]]];
    }

    return SINEW_OK;
}
