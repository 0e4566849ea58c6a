// Grids of hexahedra between orthogonal lines, and the mesh of a voxel volume.
#include "geom/shapes/shapes.h"

#include "geom/mesh/mesh.h"

// The number of lattice points of a grid, or -1 if node numbers cannot represent it.
static int64_t count_lattice(const int32_t cells[3]) {
    int64_t count = 1;
    for (int k = 0; k < 3; k++) {
        SN_ASSERT(cells[k] >= 1);
        count *= (int64_t)cells[k] + 1;
        if (count > INT32_MAX) {
            return -1;
        }
    }

    return count;
}

// Lattice offsets of a cell's corners from its lower corner, in the order of HEX8.
static void compute_corner_offsets(const int32_t cells[3], int32_t offsets[8]) {
    static const int8_t corners[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                         {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    int32_t row = cells[0] + 1;
    int32_t layer = row * (cells[1] + 1);

    for (int i = 0; i < 8; i++) {
        offsets[i] = corners[i][0] + row * corners[i][1] + layer * corners[i][2];
    }
}

// For every filled cell: marks its lattice points (hexes == NULL), or writes its element.
static int64_t visit_cells(const sn_grid_lines *grid, const uint8_t *mask, int32_t *numbers,
                           sn_owned_mesh *hexes) {
    const int32_t *cells = grid->cells;
    int32_t offsets[8];
    int32_t row = cells[0] + 1;
    int32_t layer = row * (cells[1] + 1);

    compute_corner_offsets(cells, offsets);
    int64_t element = 0, cell = 0;
    for (int32_t k = 0; k < cells[2]; k++) {
        for (int32_t j = 0; j < cells[1]; j++) {
            for (int32_t i = 0; i < cells[0]; i++, cell++) {
                if (mask && mask[cell] == 0) {
                    continue;
                }

                // Mark the corners, or write the element.
                int32_t corner = i + row * j + layer * k;
                for (int c = 0; c < 8; c++) {
                    if (hexes) {
                        hexes->indices[8 * element + c] = numbers[corner + offsets[c]];
                    } else {
                        numbers[corner + offsets[c]] = 1;
                    }
                }

                if (hexes && hexes->labels) {
                    hexes->labels[element] = mask ? mask[cell] : 0;
                }

                element++;
            }
        }
    }

    return element;
}

// Numbers the marked lattice points in order. If `points` is given, also writes their coordinates.
static int64_t number_lattice(const sn_grid_lines *grid, int32_t *numbers, double *points) {
    int64_t next = 0, corner = 0;
    for (int32_t k = 0; k <= grid->cells[2]; k++) {
        for (int32_t j = 0; j <= grid->cells[1]; j++) {
            for (int32_t i = 0; i <= grid->cells[0]; i++, corner++) {
                if (!numbers[corner]) {
                    continue;
                }

                if (points) {
                    sn_store3(points + 3 * next,
                              sn_v3(grid->lines[0][i], grid->lines[1][j], grid->lines[2][k]));
                    numbers[corner] = (int32_t)next;
                }

                next++;
            }
        }
    }

    return next;
}

sinew_status sn_create_grid_hexes(sinew_context *context, const sn_grid_lines *grid,
                                  const uint8_t *mask, bool with_labels, sn_owned_mesh **hexes) {
    int64_t lattice = count_lattice(grid->cells);
    if (lattice < 0) {
        return sn_fail(context, SINEW_OUT_OF_MEMORY,
                       "a grid of %d x %d x %d cells has more than %d corners", grid->cells[0],
                       grid->cells[1], grid->cells[2], INT32_MAX);
    }

    int32_t *numbers = sn_allocate(context, (size_t)lattice, sizeof *numbers);
    if (!numbers) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Count cells and corners in use, then write them.
    int64_t elements = visit_cells(grid, mask, numbers, NULL);
    sinew_status status =
        elements > 0 ? SINEW_OK
                     : sn_fail(context, SINEW_INVALID_DATA, "all %d x %d x %d voxels are empty (0)",
                               grid->cells[0], grid->cells[1], grid->cells[2]);

    if (status == SINEW_OK) {
        status =
            sn_owned_mesh_create(context, SINEW_ELEMENT_HEX8, number_lattice(grid, numbers, NULL),
                                 elements, with_labels, hexes);
    }

    if (status == SINEW_OK) {
        number_lattice(grid, numbers, (*hexes)->points);
        visit_cells(grid, mask, numbers, *hexes);
    }

    sn_release(context, numbers, (size_t)lattice, sizeof *numbers);
    return status;
}

sinew_voxel_mesh_def sinew_default_voxel_mesh_def(void) {
    return (sinew_voxel_mesh_def){.spacing = {1, 1, 1},
                                  .element = SINEW_ELEMENT_HEX8,
                                  .tets_per_cell = 5,
                                  .filled = SN_DEF_FILLED};
}

static sinew_status check_voxels(sinew_context *context, const sinew_voxel_mesh_def *def) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_voxel_mesh_def"));
    if (!def->voxels) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "voxels is NULL");
    }

    SN_TRY(sn_check_cutting(context, def->element, def->tets_per_cell));

    // Along each axis: a number of cells, their size, and where they start.
    for (int k = 0; k < 3; k++) {
        if (def->cells[k] < 1 || def->cells[k] == INT32_MAX) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "cells[%d] is %d; it must be at least 1", k, def->cells[k]);
        }

        if (!(def->spacing[k] > 0) || !isfinite(def->spacing[k])) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "spacing[%d] is %g m; it must be finite and above 0", k,
                           def->spacing[k]);
        }

        if (!isfinite(def->lower[k])) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT, "lower[%d] is %g m; it must be finite",
                           k, def->lower[k]);
        }
    }

    return SINEW_OK;
}

sinew_status sinew_mesh_create_voxels(sinew_context *context, const sinew_voxel_mesh_def *def,
                                      sinew_mesh **mesh) {
    SN_NEED(NULL, context);

    SN_TRY(check_voxels(context, def));
    sn_arena scratch = sn_arena_create(context);
    sn_grid_lines grid;

    for (int k = 0; k < 3; k++) {
        grid.cells[k] = def->cells[k];
        grid.lines[k] = SN_PUSH(&scratch, double, (size_t)def->cells[k] + 1);
        if (grid.lines[k]) {
            for (int32_t i = 0; i <= def->cells[k]; i++) {
                grid.lines[k][i] = def->lower[k] + i * def->spacing[k];
            }
        }
    }

    // Without labels a grid of hexahedra; every other element kind is cut from it.
    sn_owned_mesh *hexes = NULL;
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        status = sn_create_grid_hexes(context, &grid, def->voxels, true, &hexes);
    }

    sn_arena_destroy(&scratch);
    SN_TRY(status);

    return sn_finish_hexes(context, hexes, def->element, def->tets_per_cell, mesh);
}
