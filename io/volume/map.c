// Samples a map, a volume of numbers, at the centres of voxels.
#include "io/volume/volume.h"

#include "math/vec.h"

#include <math.h>

// The cells on both sides of a coordinate, and the share of the second.
static void find_cells(const sinew_label_grid *grid, int axis, double x, int32_t cell[2],
                       double *share) {
    double at = (x - grid->lower[axis]) / grid->spacing[axis] - 0.5;
    at = fmin(fmax(at, 0), grid->cells[axis] - 1);
    cell[0] = (int32_t)floor(at);
    cell[1] = cell[0] + 1 < grid->cells[axis] ? cell[0] + 1 : cell[0];
    *share = at - cell[0];

    // Centres that coincide up to rounding are the same.
    if (*share < 1e-9 || *share > 1 - 1e-9) {
        cell[0] = cell[1] = *share < 0.5 ? cell[0] : cell[1];
        *share = 0;
    }
}

// Whether a point is in one of the cells.
static bool is_covered(const sinew_label_grid *grid, const double p[3]) {
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        double at = (p[k] - grid->lower[k]) / grid->spacing[k];
        inside = inside && at > -1e-6 && at < grid->cells[k] + 1e-6;
    }
    return inside;
}

static double sample(const sn_volume_file *file, const double p[3]) {
    int32_t cell[3][2];
    double share[3];
    for (int k = 0; k < 3; k++) {
        find_cells(&file->grid, k, p[k], cell[k], &share[k]);
    }

    double sum = 0;
    for (int i = 0; i < 8; i++) {
        double weight = 1;
        size_t at = 0;
        for (int k = 2; k >= 0; k--) {
            int side = i >> k & 1;
            weight *= side ? share[k] : 1 - share[k];
            at = at * (size_t)file->grid.cells[k] + (size_t)cell[k][side];
        }
        sum += weight > 0 ? weight * file->values[at] : 0;
    }
    return sum;
}

sinew_status sn_volume_sample(sinew_context *context, const sn_source *source,
                              const sn_volume_file *file, const sinew_voxels *voxels, double *out) {
    if (file->askew) {
        return sn_source_fail(context, source, SINEW_UNSUPPORTED,
                              "the axes of the map are not those of the world; resample it");
    }

    for (int32_t v = 0; v < sinew_voxels_get_count(voxels); v++) {
        double center[3];
        sinew_voxels_get_center(voxels, v, center);
        if (!is_covered(&file->grid, center)) {
            return sn_source_fail(context, source, SINEW_INVALID_DATA,
                                  "the map does not cover the solid, which contains (%g, %g, %g) m",
                                  center[0], center[1], center[2]);
        }
        out[v] = sample(file, center);
        if (!(out[v] > 0)) {
            return sn_source_fail(context, source, SINEW_INVALID_DATA,
                                  "the map is %g at (%g, %g, %g) m, inside the solid; it must be "
                                  "above 0 there",
                                  out[v], center[0], center[1], center[2]);
        }
    }
    return SINEW_OK;
}
