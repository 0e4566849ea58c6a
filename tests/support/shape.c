// Shape functions for tests; see shape.h.
#include "support/shape.h"

static const double five_nodes[15] = {-0.3, 0, 0, 0.2, 0.1,  0,    0.35, -0.2,
                                      0.1,  0, 0, 0.2, -0.1, 0.25, -0.1};

sn_shape *test_shape(sinew_context *context, const sinew_voxels *voxels,
                     const sinew_tissue *tissues, int32_t tissue_count, const double *nodes,
                     int32_t count, const sinew_weights_def *def) {
    sn_shape *shape = NULL;
    sinew_status status =
        sn_shape_create(context, voxels, tissues, tissue_count, nodes, count, def, &shape);
    if (status != SINEW_OK) {
        fail_msg("no shape: %s", sinew_context_message(context));
    }

    return shape;
}

double test_table_weight(const sn_shape *shape, int32_t voxel, int32_t node) {
    for (int64_t k = shape->table.start[voxel]; k < shape->table.start[voxel + 1]; k++) {
        if (shape->table.node[k] == node) {
            return shape->table.weight[k];
        }
    }
    return 0;
}

double test_weight_at(const sn_shape *shape, sn_vec3 p, int32_t node) {
    sn_shape_point point;
    sn_shape_at_point(shape, p, &point);
    for (int32_t k = 0; k < point.count; k++) {
        if (point.node[k] == node) {
            return point.weight[k];
        }
    }

    return 0;
}

void test_shape_threads(const sinew_weights_def *def) {
    sinew_context *contexts[3];
    sinew_voxels *voxels[3];
    sn_shape *shapes[3];

    for (int i = 0; i < 3; i++) {
        contexts[i] = test_context(1 << i);
        voxels[i] = test_solid(contexts[i], SINEW_SOLID_SPHERE, 1, 0.8, 0.6, 0.04);
        shapes[i] = test_shape(contexts[i], voxels[i], NULL, 0, five_nodes, 5, def);
        assert_int_equal(shapes[i]->report.entry_count, shapes[0]->report.entry_count);
        assert_memory_equal(shapes[i]->table.weight, shapes[0]->table.weight,
                            (size_t)shapes[0]->report.entry_count * sizeof(double));
    }

    for (int i = 0; i < 3; i++) {
        sn_shape_destroy(shapes[i]);
        sinew_voxels_destroy(voxels[i]);
        sinew_context_destroy(contexts[i]);
    }
}

void test_shape_shortage(const sinew_weights_def *def) {
    bool whole = false;
    for (int64_t fail_at = 0; !whole; fail_at++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);
        sinew_voxels *solid = test_solid(context, SINEW_SOLID_BOX, 1, 0.8, 0.6, 0.06);

        allocator.fail_at = allocator.calls + fail_at;
        sn_shape *shape = NULL;
        sinew_status status = sn_shape_create(context, solid, NULL, 0, five_nodes, 5, def, &shape);

        whole = status == SINEW_OK;
        if (!whole) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        sn_shape_destroy(shape);
        sinew_voxels_destroy(solid);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}
