// What automatic frames become: spectral for a solid in one piece, Voronoi for rigid parts,
// separate parts, given positions, many frames and frames that do not bend; decisions of the caller
// stay.
#include "support/solid.h"

#include "sinew/autorig.h"

#include "frame/body/frame_body.h"

typedef struct setting {
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_tissue tissues[2];
} setting;

// A bar; with the label 2 around `center`.
static void open_bar(setting *s, double center) {
    s->context = test_context(1);
    s->voxels = test_solid(s->context, SINEW_SOLID_BOX, 1, 0.2, 0.2, 0.05);
    test_paint_box(s->voxels, sn_v3(center, 0, 0), sn_v3(0.2, 0.1, 0.1), 2);
    for (int i = 0; i < 2; i++) {
        s->tissues[i] = sinew_default_tissue();
        s->tissues[i].label = i + 1;
    }
}

static void close_bar(setting *s) {
    sinew_voxels_destroy(s->voxels);
    sinew_context_destroy(s->context);
}

static sinew_frame_choice choose(const setting *s, sinew_frame_choice choice) {
    assert_int_equal(sinew_choose_frames(s->context, s->voxels, s->tissues, 2, &choice), SINEW_OK);
    assert_int_not_equal(choice.weights, SINEW_WEIGHTS_AUTO);
    assert_int_not_equal(choice.placement, SINEW_PLACEMENT_AUTO);
    assert_int_not_equal(choice.kind, SINEW_NODE_AUTO);
    assert_true(choice.count > 0);
    return choice;
}

static void test_materials(void **state) {
    (void)state;
    setting s;
    open_bar(&s, 0);

    // One stiffness, although there are two labels.
    sinew_frame_choice made = choose(&s, sinew_default_frame_choice());
    assert_int_equal(made.weights, SINEW_WEIGHTS_SPECTRAL);
    assert_int_equal(made.placement, SINEW_PLACEMENT_SPECTRAL);
    assert_int_equal(made.kind, SINEW_NODE_QUADRATIC);
    assert_int_equal(made.count, 6);

    s.tissues[1].young *= 10;
    assert_int_equal(choose(&s, sinew_default_frame_choice()).kind, SINEW_NODE_COMPLIANT);

    // A rigid part has a frame of its own, and needs three soft ones beside it.
    s.tissues[1].young = s.tissues[0].young;
    s.tissues[1].rigid = true;
    made = choose(&s, sinew_default_frame_choice());
    assert_int_equal(made.weights, SINEW_WEIGHTS_SPECTRAL);
    assert_int_equal(made.kind, SINEW_NODE_COMPLIANT);
    assert_int_equal(made.count, 6);
    made = sinew_default_frame_choice();
    made.count = 3;
    assert_int_equal(choose(&s, made).weights, SINEW_WEIGHTS_VORONOI);

    // A bound part follows a frame that is given.
    s.tissues[1].rigid = false;
    s.tissues[1].node = 0;
    made = choose(&s, sinew_default_frame_choice());
    assert_int_equal(made.weights, SINEW_WEIGHTS_VORONOI);
    assert_int_equal(made.placement, SINEW_PLACEMENT_EVEN);
    assert_int_equal(made.kind, SINEW_NODE_AFFINE);
    assert_int_equal(made.count, 10);
    close_bar(&s);
}

// One layer of voxels has no room for motions that are quadratic across it.
static void test_sheet(void **state) {
    (void)state;
    setting s;
    s.context = test_context(1);
    s.voxels = test_solid(s.context, SINEW_SOLID_BOX, 1, 1, 0.05, 0.05);
    assert_true(sinew_voxels_get_count(s.voxels) >= 200);
    sinew_frame_choice choice = sinew_default_frame_choice();
    assert_int_equal(sinew_choose_frames(s.context, s.voxels, NULL, 0, &choice), SINEW_OK);
    assert_int_equal(choice.weights, SINEW_WEIGHTS_VORONOI);
    close_bar(&s);
}

static void test_decisions(void **state) {
    (void)state;
    setting s;
    open_bar(&s, 0);

    sinew_frame_choice given = sinew_default_frame_choice();
    given.count = 9;
    assert_int_equal(choose(&s, given).weights, SINEW_WEIGHTS_VORONOI);
    given.count = 8;
    assert_int_equal(choose(&s, given).weights, SINEW_WEIGHTS_SPECTRAL);
    assert_int_equal(choose(&s, given).count, 8);
    given.fixed_count = 1;
    assert_int_equal(choose(&s, given).weights, SINEW_WEIGHTS_VORONOI);

    given = sinew_default_frame_choice();
    given.kind = SINEW_NODE_AFFINE;
    assert_int_equal(choose(&s, given).weights, SINEW_WEIGHTS_VORONOI);
    given.kind = SINEW_NODE_RIGID;
    given.blend = SINEW_BLEND_DUAL_QUATERNION;
    assert_int_equal(choose(&s, given).kind, SINEW_NODE_RIGID);

    given = sinew_default_frame_choice();
    given.weights = SINEW_WEIGHTS_HARMONIC;
    assert_int_equal(choose(&s, given).weights, SINEW_WEIGHTS_HARMONIC);
    assert_int_equal(choose(&s, given).placement, SINEW_PLACEMENT_EVEN);
    given.fixed_count = -1;
    assert_int_equal(sinew_choose_frames(s.context, s.voxels, s.tissues, 2, &given),
                     SINEW_INVALID_ARGUMENT);
    close_bar(&s);
}

// The default of an automatic rig, and what its report says about it.
static void test_autorig(void **state) {
    (void)state;
    setting s;
    open_bar(&s, 0.1);
    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = NULL;
    sinew_body *body = NULL;
    sinew_autorig_report report;
    sinew_autorig_def def = sinew_default_autorig_def();
    def.voxels = s.voxels;

    assert_int_equal(sinew_world_create(s.context, &world_def, &world), SINEW_OK);
    assert_int_equal(sinew_autorig_create(world, &def, &report, &body), SINEW_OK);
    assert_int_equal(report.chosen.weights, SINEW_WEIGHTS_SPECTRAL);
    assert_int_equal(report.chosen.count, 6);
    assert_int_equal(sinew_frame_body_get_node_count(body), 6);
    assert_int_equal(report.unknown_count, 180);

    sinew_world_destroy(world);
    close_bar(&s);
}

// All of a rigid part follows its frame alone: modes are constant there.
static void test_rigid_part(void **state) {
    (void)state;
    setting s;
    open_bar(&s, 0.1);
    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = NULL;
    sinew_body *body = NULL;
    sinew_autorig_tissue tissues[2];
    for (int i = 0; i < 2; i++) {
        tissues[i] = sinew_default_autorig_tissue();
        tissues[i].label = i + 1;
        tissues[i].rigid = i == 1;
    }
    sinew_autorig_def def = sinew_default_autorig_def();
    def.voxels = s.voxels;
    def.tissues = tissues;
    def.tissue_count = 2;
    assert_int_equal(sinew_world_create(s.context, &world_def, &world), SINEW_OK);
    assert_int_equal(sinew_autorig_create(world, &def, NULL, &body), SINEW_OK);

    const sn_shape *shape = sn_frame_model_of(body)->shape;
    int32_t count = 0;
    for (int32_t v = 0; v < s.voxels->count; v++) {
        if (s.voxels->label[v] != 2) {
            continue;
        }
        sn_shape_point at;
        sn_shape_at_voxel(shape, v, &at);

        // The conductivity of rigid voxels is finite, so the last digits differ.
        for (int32_t k = 0; k < at.count; k++) {
            sinew_node_kind kind = sn_frame_model_of(body)->nodes.items[at.node[k]].kind;
            double expected = kind == SINEW_NODE_RIGID ? 1 : 0;
            assert_true(fabs(at.weight[k] - expected) < 1e-3);
            count += kind == SINEW_NODE_RIGID;
        }
    }
    assert_true(count >= 16);

    sinew_world_destroy(world);
    close_bar(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_materials), cmocka_unit_test(test_sheet),
        cmocka_unit_test(test_decisions), cmocka_unit_test(test_rigid_part),
        cmocka_unit_test(test_autorig),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
