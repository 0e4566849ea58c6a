// Expected errors of numbers of frames: they fall as frames are added, are infinite where frames
// are too few, show that stiff kinds of weights are stiff, and invalid input is refused.
#include "sinew/autorig.h"
#include "support/test.h"

#include <math.h>

typedef struct bar {
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_autorig_def def;
} bar;

// A bar of 5 : 1 : 1, `across` cells thick, and another one beside it if `pair`.
static void open_bar(bar *b, int32_t across, bool pair) {
    sinew_solid_def solids[2] = {sinew_default_solid_def(), sinew_default_solid_def()};
    sinew_voxel_def grid = sinew_default_voxel_def();
    const double size[3] = {1, 0.2, 0.2};
    for (int k = 0; k < 3; k++) {
        solids[0].size[k] = solids[1].size[k] = size[k];
        grid.spacing[k] = 0.2 / across;
    }
    solids[1].center[1] = 0.6;

    b->context = test_context(2);
    b->def = sinew_default_autorig_def();
    assert_int_equal(
        sinew_voxels_create_from_solids(b->context, solids, pair ? 2 : 1, &grid, &b->voxels),
        SINEW_OK);
    b->def.voxels = b->voxels;
    b->def.weights.kind = SINEW_WEIGHTS_SPECTRAL;
    b->def.placement.kind = SINEW_PLACEMENT_SPECTRAL;
    b->def.kind = SINEW_NODE_QUADRATIC;
}

static void close_bar(bar *b) {
    sinew_voxels_destroy(b->voxels);
    sinew_context_destroy(b->context);
}

// Frequencies fall towards those of the solid as the space of motions grows.
static void test_more_frames(void **state) {
    (void)state;
    static const int32_t frames[3] = {2, 4, 8};
    double errors[3];
    bar b;
    open_bar(&b, 4, false);
    assert_int_equal(sinew_autorig_estimate_error(b.context, &b.def, frames, 3, errors), SINEW_OK);
    assert_true(errors[0] > errors[1] && errors[1] > errors[2] && errors[2] > 0);

    // Two frames cannot follow six modes; the eight are those of the reference, which are off by
    // what two numbers of frames extrapolate to.
    assert_true(errors[0] > 0.05);
    assert_true(errors[2] < 0.2);
    close_bar(&b);
}

// Affine frames with Voronoi weights are far too stiff, which the estimate has to show.
static void test_stiff_frames(void **state) {
    (void)state;
    static const int32_t frames[1] = {4};
    double spectral, voronoi;
    bar b;
    open_bar(&b, 4, false);
    assert_int_equal(sinew_autorig_estimate_error(b.context, &b.def, frames, 1, &spectral),
                     SINEW_OK);
    b.def.weights.kind = SINEW_WEIGHTS_VORONOI;
    b.def.placement.kind = sinew_default_placement_def().kind;
    b.def.kind = SINEW_NODE_AFFINE;
    b.def.sampling.kind = SINEW_SAMPLING_MIDPOINT; // one point for each voxel: nothing is softened
    assert_int_equal(sinew_autorig_estimate_error(b.context, &b.def, frames, 1, &voronoi),
                     SINEW_OK);
    assert_true(voronoi > 2 * spectral);
    close_bar(&b);
}

static void test_invalid(void **state) {
    (void)state;
    int32_t frames[1] = {1};
    double error;
    bar b;

    // Two parts need two frames.
    open_bar(&b, 4, true);
    assert_int_equal(sinew_autorig_estimate_error(b.context, &b.def, frames, 1, &error), SINEW_OK);
    assert_true(isinf(error));

    frames[0] = 0;
    assert_int_equal(sinew_autorig_estimate_error(b.context, &b.def, frames, 1, &error),
                     SINEW_INVALID_ARGUMENT);
    frames[0] = 4;
    assert_int_equal(sinew_autorig_estimate_error(b.context, &b.def, frames, 0, &error),
                     SINEW_INVALID_ARGUMENT);
    b.def.voxels = NULL;
    assert_int_equal(sinew_autorig_estimate_error(b.context, &b.def, frames, 1, &error),
                     SINEW_INVALID_ARGUMENT);
    close_bar(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_more_frames),
                                       cmocka_unit_test(test_stiff_frames),
                                       cmocka_unit_test(test_invalid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
