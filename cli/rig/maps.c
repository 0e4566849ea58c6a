// Continuous maps of stiffness and density, which replace the constants of the tissues.
#include "rig.h"

#include "sinew/io/volume_file.h"

#include <stdlib.h>

// The material of a label.
static sinew_material_def find_material(const rig_run *rig, int32_t label) {
    int32_t count = 0;
    const sinew_autorig_tissue *tissues =
        rig->tissues ? sinew_tissue_table_get(rig->tissues, &count) : NULL;
    for (int32_t i = 0; i < count; i++) {
        if (tissues[i].label == label) {
            return tissues[i].material;
        }
    }
    return sinew_default_autorig_tissue().material;
}

// Reads a map and sets the factors that it means; *values keeps the numbers of the map.
static sinew_status apply_map(rig_run *rig, const char *path, double unit, bool density,
                              double **values) {
    sinew_volume_file *file = NULL;
    sinew_volume_read_def def = sinew_default_volume_read_def();
    def.unit = unit;
    def.use_values = true;
    int32_t count = sinew_voxels_get_count(rig->voxels);
    double *factors = calloc((size_t)count, sizeof *factors);
    *values = calloc((size_t)count, sizeof **values);

    sinew_status status = factors && *values ? SINEW_OK : SINEW_OUT_OF_MEMORY;
    if (status == SINEW_OK) {
        status = sinew_volume_file_load(rig->context, path, &def, &file);
    }
    if (status == SINEW_OK) {
        status = sinew_volume_file_sample(file, rig->voxels, *values);
    }

    if (status == SINEW_OK) {
        const uint16_t *labels = sinew_voxels_get_labels(rig->voxels);
        for (int32_t v = 0; v < count; v++) {
            sinew_material_def material = find_material(rig, labels[v]);
            factors[v] =
                (*values)[v] / (density ? material.density : sinew_material_get_young(&material));
        }
        status = density ? sinew_voxels_set_density(rig->voxels, factors)
                         : sinew_voxels_set_stiffness(rig->voxels, factors);
    }

    sinew_volume_file_destroy(file);
    free(factors);
    return status;
}

int rig_read_maps(rig_run *rig, const char *stiffness, const char *density, double unit) {
    if (stiffness && apply_map(rig, stiffness, unit, false, &rig->stiffness_values) != SINEW_OK) {
        return rig_fail(rig);
    }
    if (density && apply_map(rig, density, unit, true, &rig->density_values) != SINEW_OK) {
        return rig_fail(rig);
    }
    return CLI_OK;
}

void rig_free_maps(rig_run *rig) {
    free(rig->stiffness_values);
    free(rig->density_values);
}
