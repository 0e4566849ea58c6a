// A metric on a coarser grid: blocks of cells, for distances that need not be exact.
#include "geom/distance/distance.h"

enum { PAD = 8, SOFT = 1, RIGID = 2 };

// Sums over a block of cells.
typedef struct block {
    double cost; // sum over the voxels that are not rigid
    int32_t soft, rigid;
} block;

sinew_status sn_find_blocks(sn_arena *arena, const int32_t cells[3], int32_t factor,
                            int32_t *blocks[3]) {
    for (int a = 0; a < 3; a++) {
        blocks[a] = SN_RESERVE(arena, int32_t, cells[a]);
    }

    SN_TRY(sn_arena_status(arena));
    for (int a = 0; a < 3; a++) {
        for (int32_t c = 0; c < cells[a]; c++) {
            blocks[a][c] = sn_block_of(cells[a], factor, c);
        }
    }

    return SINEW_OK;
}

static void sum_blocks(const sn_metric *fine, int32_t *const block_of[3], const int32_t cells[3],
                       block *blocks) {
    const sinew_voxels *voxels = fine->voxels;
    for (int32_t v = 0; v < voxels->count; v++) {
        int32_t c[3];
        sn_cell_coordinates(voxels->cells, voxels->cell[v], c);
        for (int a = 0; a < 3; a++) {
            c[a] = block_of[a][c[a]];
        }

        block *b = &blocks[((size_t)c[2] * (size_t)cells[1] + (size_t)c[1]) * (size_t)cells[0] +
                           (size_t)c[0]];
        if (fine->cost && !(fine->cost[v] > 0)) {
            b->rigid++;
        } else {
            b->soft++;
            b->cost += fine->cost ? fine->cost[v] : 1;
        }
    }
}

// Cells of a block along one axis.
static int32_t block_width(int32_t cells, int32_t factor, int32_t block) {
    int32_t half = cells / 2;
    int32_t blocks = (half + factor - 1) / factor;
    if (cells % 2 && block == blocks) {
        return 1;
    }
    if (block >= blocks) {
        block = 2 * blocks + cells % 2 - 1 - block;
    }

    int32_t left = half - block * factor;
    return left < factor ? left : factor;
}

static sinew_status make_grid(const sinew_voxels *fine, int32_t factor, const int32_t cells[3],
                              const block *blocks, sinew_voxels **coarse) {
    sinew_context *context = fine->context;
    size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
    double spacing[3];

    for (int a = 0; a < 3; a++) {
        spacing[a] = factor * fine->spacing[a];
    }

    uint16_t *labels = sn_allocate(context, count, sizeof *labels);
    if (!labels) {
        return SINEW_OUT_OF_MEMORY;
    }

    // A block is inside if a quarter of its cells are.
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        int32_t c[3];
        int32_t inside = blocks[i].soft + blocks[i].rigid;
        int32_t most = 1;
        if (inside == 0) {
            continue;
        }

        sn_cell_coordinates(cells, (int32_t)i, c);
        for (int a = 0; a < 3; a++) {
            most *= block_width(fine->cells[a], factor, c[a]);
        }

        if (4 * inside < most) {
            continue;
        }

        labels[i] = blocks[i].rigid > blocks[i].soft ? RIGID : SOFT;
        any = true;
    }

    sinew_status status = SINEW_OK;
    if (any) {
        status = sn_voxels_create(context, cells, spacing, fine->lower, labels, SIZE_MAX, coarse);
    }

    sn_release(context, labels, count, sizeof *labels);
    return status;
}

static sinew_status fill_costs(sn_arena *arena, const block *blocks, sn_metric *coarse) {
    static const bool rigid[3] = {false, false, true};
    const sinew_voxels *voxels = coarse->voxels;
    double *cost = SN_PUSH(arena, double, (size_t)voxels->count + PAD);

    SN_TRY(sn_arena_status(arena));
    coarse->cost = cost + PAD; // read at index -1

    for (int32_t v = 0; v < voxels->count; v++) {
        const block *b = &blocks[voxels->cell[v]];
        coarse->cost[v] = voxels->label[v] == RIGID ? 0 : b->cost / b->soft;
    }

    return sn_metric_find_clusters(voxels, arena, rigid, coarse);
}

sinew_status sn_metric_coarsen(const sn_metric *fine, int32_t factor, sn_arena *arena,
                               sinew_voxels **voxels, sn_metric *coarse) {
    sinew_context *context = fine->voxels->context;
    int32_t cells[3], *block_of[3];

    // Cells of the coarse grid, and sums over the blocks.
    SN_TRY(sn_find_blocks(arena, fine->voxels->cells, factor, block_of));
    for (int a = 0; a < 3; a++) {
        cells[a] = block_of[a][fine->voxels->cells[a] - 1] + 1;
    }

    size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
    block *blocks = sn_allocate(context, count, sizeof *blocks);
    if (!blocks) {
        return SINEW_OUT_OF_MEMORY;
    }

    *voxels = NULL;
    sum_blocks(fine, block_of, cells, blocks);

    // The grid, and the mean costs if the material is not uniform.
    sinew_status status = make_grid(fine->voxels, factor, cells, blocks, voxels);
    if (*voxels) {
        *coarse = sn_metric_euclidean(*voxels);
        if (fine->cost) {
            status = fill_costs(arena, blocks, coarse);
        }
        if (status != SINEW_OK) {
            sinew_voxels_destroy(*voxels);
        }
    }

    sn_release(context, blocks, count, sizeof *blocks);
    return status;
}
