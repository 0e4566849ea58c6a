// Surfaces of shapes, and their voxels.
#ifndef TEST_GEOM_SURFACES_H
#define TEST_GEOM_SURFACES_H

#include "support/solid.h"

static inline sinew_mesh *make_surface(sinew_context *context, sinew_shape shape, double size,
                                       int32_t cells) {
    sinew_shape_def def = sinew_default_shape_def();
    def.shape = shape;
    def.element = SINEW_ELEMENT_TRIANGLE;
    def.size[0] = size;
    def.size[1] = 0.9 * size;
    def.size[2] = 0.8 * size;

    for (int a = 0; a < 3; a++) {
        def.cells[a] = cells;
    }

    sinew_mesh *mesh = NULL;
    sinew_status status = sinew_mesh_create_shape(context, &def, &mesh);
    if (status != SINEW_OK) {
        fail_msg("no shape: %s", sinew_context_message(context));
    }

    return mesh;
}

static inline sinew_voxels *voxelize(sinew_context *context, const sinew_mesh *mesh,
                                     int32_t resolution, sinew_voxel_report *report) {
    sinew_labelled_surface surface = {mesh, 1, 0};
    sinew_voxel_def grid = sinew_default_voxel_def();

    grid.resolution = resolution;
    sinew_voxels *voxels = NULL;
    sinew_status status =
        sinew_voxels_create_from_surfaces(context, &surface, 1, &grid, &voxels, report);

    if (status != SINEW_OK) {
        fail_msg("no voxels: %s", sinew_context_message(context));
    }

    return voxels;
}

#endif
