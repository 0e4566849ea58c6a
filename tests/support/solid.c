// Voxel grids for tests; see solid.h.
#include "support/solid.h"

sinew_voxels *test_solid(sinew_context *context, sinew_solid solid, double x, double y, double z,
                         double h) {
    sinew_solid_def def = sinew_default_solid_def();
    def.solid = solid;
    def.size[0] = x;
    def.size[1] = y;
    def.size[2] = z;

    sinew_voxel_def grid = sinew_default_voxel_def();
    for (int a = 0; a < 3; a++) {
        grid.spacing[a] = h;
    }

    sinew_voxels *voxels = NULL;
    sinew_status status = sinew_voxels_create_from_solids(context, &def, 1, &grid, &voxels);
    if (status != SINEW_OK) {
        fail_msg("no solid: %s", sinew_context_message(context));
    }

    return voxels;
}

void test_paint_box(sinew_voxels *voxels, sn_vec3 center, sn_vec3 size, int32_t label) {
    sinew_solid_def def = sinew_default_solid_def();
    sn_store3(def.center, center);
    sn_store3(def.size, size);
    def.label = label;
    assert_int_equal(sinew_voxels_paint(voxels, &def), SINEW_OK);
}

test_turn test_turn_number(int number) {
    static const int axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                   {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};
    const int *axis = axes[number / 8];
    return (test_turn){{axis[0], axis[1], axis[2]}, {number & 1, number & 2, number & 4}};
}

sn_vec3 test_turn_point(test_turn turn, sn_vec3 p) {
    double from[3], to[3];
    sn_store3(from, p);
    for (int k = 0; k < 3; k++) {
        to[k] = turn.flip[k] ? -from[turn.axis[k]] : from[turn.axis[k]];
    }
    return sn_load3(to);
}

sinew_voxels *test_turn_voxels(const sinew_voxels *voxels, test_turn turn, double scale,
                               int32_t **voxel_of) {
    sinew_context *context = voxels->context;
    size_t count = (size_t)voxels->cells[0] * (size_t)voxels->cells[1] * (size_t)voxels->cells[2];
    uint16_t *labels = sn_allocate(context, count, sizeof *labels);
    int32_t *cell_of = sn_allocate(context, (size_t)voxels->count, sizeof *cell_of);

    assert_true(labels && cell_of);

    // The image's grid.
    sinew_label_grid grid = {.labels16 = labels};
    for (int k = 0; k < 3; k++) {
        int a = turn.axis[k];
        grid.cells[k] = voxels->cells[a];
        grid.spacing[k] = scale * voxels->spacing[a];
        double upper = voxels->lower[a] + voxels->cells[a] * voxels->spacing[a];
        grid.lower[k] = scale * (turn.flip[k] ? -upper : voxels->lower[a]);
    }

    // Labels of the image's cells.
    for (int32_t v = 0; v < voxels->count; v++) {
        int32_t c[3], m[3];
        sn_cell_coordinates(voxels->cells, voxels->cell[v], c);
        for (int k = 0; k < 3; k++) {
            m[k] = turn.flip[k] ? grid.cells[k] - 1 - c[turn.axis[k]] : c[turn.axis[k]];
        }

        cell_of[v] = (m[2] * grid.cells[1] + m[1]) * grid.cells[0] + m[0];
        labels[cell_of[v]] = voxels->label[v];
    }

    // The image, and its voxel for each original voxel.
    sinew_voxels *turned = NULL;
    assert_int_equal(sinew_voxels_create_from_labels(context, &grid, SIZE_MAX, &turned), SINEW_OK);
    for (int32_t v = 0; v < voxels->count; v++) {
        int32_t m[3];
        sn_cell_coordinates(grid.cells, cell_of[v], m);
        cell_of[v] = sn_voxel_at(turned, m[0], m[1], m[2]);
    }

    if (voxels->stiffness) {
        double *factors = sn_allocate(context, (size_t)voxels->count, sizeof *factors);
        for (int32_t v = 0; v < voxels->count; v++) {
            factors[cell_of[v]] = voxels->stiffness[v];
        }
        assert_int_equal(sinew_voxels_set_stiffness(turned, factors), SINEW_OK);
        sn_release(context, factors, (size_t)voxels->count, sizeof *factors);
    }

    if (voxels->fill) {
        turned->fill = SN_RESERVE(&turned->arena, double, turned->count);
        assert_non_null(turned->fill);
        for (int32_t v = 0; v < voxels->count; v++) {
            turned->fill[cell_of[v]] = voxels->fill[v];
        }
    }

    sn_release(context, labels, count, sizeof *labels);
    if (voxel_of) {
        *voxel_of = cell_of;
    } else {
        sn_release(context, cell_of, (size_t)voxels->count, sizeof *cell_of);
    }

    return turned;
}
