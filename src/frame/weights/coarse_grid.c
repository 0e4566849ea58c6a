// A coarse copy of a grid, for what need not be known to a voxel: positions of nodes, the start of
// iterations, and estimates of errors. Cost: one pass over the grid.
#include "frame/weights/table.h"

// Gives the coarse voxels the mean factors of their blocks; compliances add up.
static sinew_status copy_maps(const sinew_voxels *fine, const double *young, const int32_t *inside,
                              const double *compliance, const double *density, sn_arena *scratch,
                              sinew_voxels *coarse) {
    double *stiffness_factor = SN_PUSH(scratch, double, coarse->count);
    double *density_factor = SN_PUSH(scratch, double, coarse->count);
    SN_TRY(sn_arena_status(scratch));

    for (int32_t v = 0; v < coarse->count; v++) {
        int32_t block = coarse->cell[v];
        stiffness_factor[v] = inside[block] / compliance[block] / young[coarse->label[v]];
        density_factor[v] = density[block] / inside[block];
    }

    SN_TRY(sinew_voxels_set_stiffness(coarse, stiffness_factor));
    return fine->density ? sinew_voxels_set_density(coarse, density_factor) : SINEW_OK;
}

sinew_status sn_coarsen_voxels(const sinew_voxels *fine, int32_t factor, const double *young,
                               sinew_voxels **coarse) {
    sinew_context *context = fine->context;
    int32_t cells[3];
    double spacing[3];

    for (int a = 0; a < 3; a++) {
        cells[a] = (fine->cells[a] + factor - 1) / factor;
        spacing[a] = factor * fine->spacing[a];
    }

    size_t total = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
    sn_arena scratch = sn_arena_create(context);
    uint16_t *label = SN_PUSH(&scratch, uint16_t, total);
    int32_t *votes = SN_PUSH(&scratch, int32_t, total);
    int32_t *inside = SN_PUSH(&scratch, int32_t, total);
    double *compliance = SN_PUSH(&scratch, double, total);
    double *density = SN_PUSH(&scratch, double, total);
    sinew_status status = sn_arena_status(&scratch);
    if (status != SINEW_OK) {
        sn_arena_destroy(&scratch);
        return status;
    }

    // Count each block's cells, sum their compliances and vote on its label.
    for (int32_t v = 0; v < fine->count; v++) {
        int32_t c[3];
        sn_cell_coordinates(fine->cells, fine->cell[v], c);

        size_t block = ((size_t)(c[2] / factor) * (size_t)cells[1] + (size_t)(c[1] / factor)) *
                           (size_t)cells[0] +
                       (size_t)(c[0] / factor);
        uint16_t own = fine->label[v];

        inside[block]++;
        density[block] += sn_voxel_density(fine, v);
        compliance[block] += 1 / (young[own] * sn_voxel_stiffness(fine, v));
        if (votes[block] == 0) {
            label[block] = own;
        }

        votes[block] += label[block] == own ? 1 : -1;
    }

    // A block with too few cells is outside.
    for (size_t block = 0; block < total; block++) {
        if (4 * (int64_t)inside[block] < (int64_t)factor * factor * factor) {
            label[block] = 0;
        }
    }

    status = sn_voxels_create(context, cells, spacing, fine->lower, label, SIZE_MAX, coarse);
    if (status == SINEW_OK) {
        status = copy_maps(fine, young, inside, compliance, density, &scratch, *coarse);
    }

    sn_arena_destroy(&scratch);
    return status;
}
