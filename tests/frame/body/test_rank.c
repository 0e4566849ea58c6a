// Motions that no sample resists: none with the default samples of any kind of weights, some with
// too few samples; parts that float by themselves do not count.
#include "support/solid.h"

#include "sinew/sinew.h"

typedef struct rank_case {
    sinew_weights weights;
    sinew_node_kind kind;
    int32_t frames, samples;
} rank_case;

static int32_t count_free(const rank_case *c) {
    sinew_context *context = test_context(1);
    sinew_voxels *voxels = test_solid(context, SINEW_SOLID_BOX, 1, 0.2, 0.2, 0.05);
    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = NULL;
    assert_int_equal(sinew_world_create(context, &world_def, &world), SINEW_OK);

    sinew_autorig_def def = sinew_default_autorig_def();
    sinew_autorig_report report;
    def.voxels = voxels;
    def.kind = c->kind;
    def.placement.count = c->frames;
    def.weights.kind = c->weights;
    if (c->weights == SINEW_WEIGHTS_SPECTRAL) {
        def.placement.kind = SINEW_PLACEMENT_SPECTRAL;
    }
    if (c->samples > 0) {
        def.sampling.kind = SINEW_SAMPLING_REGIONS;
        def.sampling.count = c->samples;
        def.sampling.degree = 0;
    }
    assert_int_equal(sinew_autorig_create(world, &def, &report, NULL), SINEW_OK);

    sinew_world_destroy(world);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
    return report.sampling.free_motions;
}

static void test_defaults(void **state) {
    (void)state;
    const rank_case cases[] = {
        {SINEW_WEIGHTS_VORONOI, SINEW_NODE_AFFINE, 5, 0},
        {SINEW_WEIGHTS_VORONOI, SINEW_NODE_RIGID, 5, 0},
        {SINEW_WEIGHTS_AXIS_LINEAR, SINEW_NODE_AFFINE, 3, 0},
        {SINEW_WEIGHTS_AXIS_LINEAR, SINEW_NODE_AFFINE, 5, 0},
        {SINEW_WEIGHTS_SPECTRAL, SINEW_NODE_QUADRATIC, 4, 0},
        {SINEW_WEIGHTS_VORONOI, SINEW_NODE_RIGID, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(count_free(&cases[i]), 0);
    }
}

// Two samples see 18 numbers, of which nine are rotations or their differences; five affine frames
// have 60 unknowns.
static void test_few_samples(void **state) {
    (void)state;
    const rank_case few = {SINEW_WEIGHTS_VORONOI, SINEW_NODE_AFFINE, 5, 2};
    assert_true(count_free(&few) >= 60 - 6 - 2 * 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_defaults),
                                       cmocka_unit_test(test_few_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
