// Invalid frame bodies: the message names the cause, the world is unchanged, nothing leaks.
#include "support/test.h"

#include "sinew/sinew.h"

#include <math.h>

typedef struct fixture {
    test_allocator allocator;
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_frame_node nodes[3];
    sinew_frame_body_def def;
} fixture;

static void open_fixture(fixture *f) {
    f->allocator = (test_allocator){.fail_at = INT64_MAX};
    f->context = test_context_failing(&f->allocator);
    assert_non_null(f->context);

    sinew_solid_def solid = sinew_default_solid_def();
    solid.solid = SINEW_SOLID_BOX;
    solid.size[0] = 1;
    solid.size[1] = 0.2;
    solid.size[2] = 0.2;

    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.spacing[0] = grid.spacing[1] = grid.spacing[2] = 0.1;
    assert_int_equal(sinew_voxels_create_from_solids(f->context, &solid, 1, &grid, &f->voxels),
                     SINEW_OK);

    sinew_world_def world = sinew_default_world_def();
    assert_int_equal(sinew_world_create(f->context, &world, &f->world), SINEW_OK);
    for (int i = 0; i < 3; i++) {
        f->nodes[i] = (sinew_frame_node){SINEW_NODE_RIGID, {-0.4 + 0.4 * i, 0, 0}};
    }

    f->def = sinew_default_frame_body_def();
    f->def.voxels = f->voxels;
    f->def.nodes = f->nodes;
    f->def.node_count = 3;
}

// Creation is refused with a message that contains `word`; then the same world accepts a valid
// body.
static void refuse(fixture *f, const char *word) {
    sinew_body *body = NULL;
    int64_t live = f->allocator.live;
    sinew_status status = sinew_frame_body_create(f->world, &f->def, &body);
    if (status == SINEW_OK) {
        fail_msg("a body without '%s' was made", word);
    }
    if (!strstr(sinew_context_message(f->context), word)) {
        fail_msg("no '%s' in: %s", word, sinew_context_message(f->context));
    }

    assert_null(body);
    assert_int_equal(sinew_world_get_body_count(f->world), 0);
    assert_int_equal(f->allocator.live, live);
    sinew_world_destroy(f->world);
    sinew_voxels_destroy(f->voxels);
    sinew_context_destroy(f->context);
    assert_int_equal(f->allocator.live, 0);
    open_fixture(f);
}

static void test_refusals(void **state) {
    (void)state;
    fixture f;

    open_fixture(&f);
    f.def.voxels = NULL;
    refuse(&f, "voxels");
    f.def.node_count = 0;
    refuse(&f, "frame");
    f.nodes[1].position[0] = f.nodes[0].position[0]; // coincident
    refuse(&f, "nodes 0 and 1");
    f.nodes[2].position[1] = 0.9; // outside
    refuse(&f, "outside");
    f.nodes[2].position[1] = NAN;
    refuse(&f, "frame 2");
    f.nodes[2].kind = (sinew_node_kind)11;
    refuse(&f, "frame 2");
    f.def.weights.kind = SINEW_WEIGHTS_RADIAL; // points that no frame reaches
    f.def.weights.range = 0.15;
    refuse(&f, "reaches");
    f.def.weights.normalize = false;
    refuse(&f, "sum to 1");
    f.nodes[1].kind = SINEW_NODE_AFFINE;
    f.def.springs = true;
    refuse(&f, "frame 1");
    f.nodes[1].kind = SINEW_NODE_POINT;
    f.def.blend = SINEW_BLEND_DUAL_QUATERNION;
    refuse(&f, "frame 1");
    f.def.mass_damping = -1;
    refuse(&f, "damping");
    f.def.sampling.degree = 9;
    refuse(&f, "degree");
    f.def.material_count = 2;
    f.def.materials =
        (sinew_material_def[]){sinew_default_material_def(), sinew_default_material_def()};
    refuse(&f, "material_labels");

    sinew_body *body;
    assert_int_equal(sinew_frame_body_create(f.world, &f.def, &body), SINEW_OK);
    sinew_world_destroy(f.world);
    sinew_voxels_destroy(f.voxels);
    sinew_context_destroy(f.context);
}

// Solids without a voxel, and grids larger than the memory allowed, are reported before anything is
// built on them.
static void test_no_voxels(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *voxels = NULL;
    sinew_solid_def solid = sinew_default_solid_def();

    solid.solid = SINEW_SOLID_SPHERE;
    sinew_voxel_def grid = sinew_default_voxel_def();

    grid.spacing[0] = grid.spacing[1] = grid.spacing[2] = 1e-4;
    grid.memory_limit = 1 << 20;
    assert_int_equal(sinew_voxels_create_from_solids(context, &solid, 1, &grid, &voxels),
                     SINEW_OUT_OF_MEMORY);
    assert_null(voxels);

    sinew_solid_def hollow[2] = {solid, solid};
    hollow[1].operation = SINEW_SOLID_CUT;
    grid.spacing[0] = grid.spacing[1] = grid.spacing[2] = 0.2;
    grid.memory_limit = 0;
    assert_int_not_equal(sinew_voxels_create_from_solids(context, hollow, 2, &grid, &voxels),
                         SINEW_OK);
    assert_null(voxels);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_no_voxels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
