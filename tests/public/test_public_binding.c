// Bodies that follow a skeleton, with public headers only: every kind of body bound to the same two
// bones, driven, posed and let go.
#include "support/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOINTS = 2 };

// A bone along the left half of the bar and one along the right half. With a `scale`, as in another
// unit: too large, it lies beside the bar.
static sinew_skeleton *make_skeleton(sinew_context *context, double scale) {
    sinew_joint_def joints[JOINTS] = {sinew_default_joint_def(), sinew_default_joint_def()};
    joints[0].name = "left";
    joints[0].rest.translation[0] = -0.5 * scale;
    joints[0].rest.translation[1] = scale > 1 ? 0.3 * scale : 0;
    joints[1].name = "right";
    joints[1].parent = 0;
    joints[1].rest.translation[0] = 0.5 * scale;
    joints[1].has_tip = true;
    joints[1].tip[0] = 0.5 * scale;

    sinew_skeleton *skeleton = NULL;
    assert_int_equal(sinew_skeleton_create(context, joints, JOINTS, &skeleton), SINEW_OK);
    return skeleton;
}

// The right half rotates about y by an angle at the middle of the bar, the left half moves up.
static void make_pose(const sinew_skeleton *skeleton, double angle, double lift,
                      sinew_transform pose[JOINTS]) {
    memcpy(pose, sinew_skeleton_rest_local(skeleton), JOINTS * sizeof *pose);
    pose[0].translation[2] += lift;
    pose[1].rotation[1] = sin(0.5 * angle);
    pose[1].rotation[3] = cos(0.5 * angle);
    assert_int_equal(sinew_skeleton_compute_world(skeleton, pose, pose), SINEW_OK);
}

// The same motion written down by hand, for a rest point that follows a joint.
static void follow(double x[3], const double X[3], int32_t joint, double angle, double lift) {
    double s = joint == 1 ? sin(angle) : 0;
    double c = joint == 1 ? cos(angle) : 1;
    x[0] = c * X[0] + s * X[2];
    x[1] = X[1];
    x[2] = -s * X[0] + c * X[2] + lift;
}

static void get_item(const sinew_body *body, int32_t item, double rest[3], double x[3]) {
    if (sinew_body_get_node_count(body) > 0) {
        memcpy(rest, sinew_body_get_rest_positions(body) + 3 * (size_t)item, 3 * sizeof(double));
        memcpy(x, sinew_body_get_positions(body) + 3 * (size_t)item, 3 * sizeof(double));
        return;
    }
    assert_int_equal(sinew_frame_body_get_rest(body, item, rest), SINEW_OK);
    assert_int_equal(sinew_frame_body_get_node(body, item, x, NULL), SINEW_OK);
}

// Bound nodes and frames are where the skeleton takes them; exactly, but for rounding.
static void check_bound(test_kind kind, const sinew_body *body, const sinew_binding *binding,
                        double angle, double lift, const double moved[3]) {
    int32_t count;
    const int32_t *bound = sinew_binding_get_bound(binding, &count);
    const int32_t *joints = sinew_binding_get_joints(binding);
    const double *targets = sinew_binding_get_targets(binding);
    int32_t of_joint[JOINTS] = {0, 0};
    assert_true(count > 0);

    for (int32_t i = 0; i < count; i++) {
        double rest[3], x[3], expected[3];
        get_item(body, bound[i], rest, x);
        follow(expected, rest, joints[i], angle, lift);
        of_joint[joints[i]]++;
        for (int k = 0; k < 3; k++) {
            test_kind_close(kind, "bound", x[k], expected[k] + moved[k], 1e-12);
            test_kind_close(kind, "target", targets[3 * i + k], expected[k] + moved[k], 1e-12);
        }
    }
    assert_true(of_joint[0] > 0 && of_joint[1] > 0);
}

static void step(test_kinds *t, test_kind kind) {
    if (sinew_world_step(t->world, NULL) != SINEW_OK) {
        fail_msg("%s: %s", test_kind_name(kind), sinew_context_message(t->context));
    }
}

static void test_drive(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_REDUCED; kind++) {
        const double moved[3] = {1, 2, 3};
        test_kinds t = test_kinds_create_world();
        t.body = test_kinds_add(&t, kind, moved);
        sinew_skeleton *skeleton = make_skeleton(t.context, 1);

        sinew_binding_def def = sinew_default_binding_def();
        memcpy(def.placement.translation, moved, sizeof moved);
        sinew_binding_report report;
        sinew_binding *binding = NULL;
        if (sinew_binding_create(t.body, skeleton, &def, &report, &binding) != SINEW_OK) {
            fail_msg("%s: %s", test_kind_name(kind), sinew_context_message(t.context));
        }

        int32_t count;
        sinew_binding_get_bound(binding, &count);
        assert_int_equal(report.bound_count, count);
        assert_true((report.elements.bound_elements > 0) == !test_kind_has_frames(kind));
        if (test_kind_has_frames(kind)) {
            assert_int_equal(count, 2); // the middle one lies on both bones
        } else {
            test_kind_close(kind, "ratio", report.size_ratio, 0.5 / sqrt(1.08), 1e-12);
        }

        sinew_transform pose[JOINTS];
        for (int i = 1; i <= 5; i++) {
            double angle = 0.01 * i, lift = 0.002 * i;
            make_pose(skeleton, angle, lift, pose);
            assert_int_equal(sinew_binding_drive(binding, pose), SINEW_OK);
            step(&t, kind);
            check_bound(kind, t.body, binding, angle, lift, moved);
        }

        sinew_binding_destroy(binding);
        sinew_skeleton_destroy(skeleton);
        test_kinds_destroy(&t);
    }
}

// The whole body takes a pose at once: also free nodes, which lie between the bones.
static void test_set_pose(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_REDUCED; kind++) {
        const double nowhere[3] = {0, 0, 0};
        test_kinds t = test_kinds_create(kind);
        sinew_skeleton *skeleton = make_skeleton(t.context, 1);
        sinew_binding_def def = sinew_default_binding_def();
        sinew_binding *binding = NULL;
        assert_int_equal(sinew_binding_create(t.body, skeleton, &def, NULL, &binding), SINEW_OK);

        sinew_transform pose[JOINTS];
        make_pose(skeleton, 0.5, 0.2, pose);
        assert_int_equal(sinew_binding_set_pose(binding, pose), SINEW_OK);
        check_bound(kind, t.body, binding, 0.5, 0.2, nowhere);

        // A corner at the right end hangs with its bone: free in bodies of elements, by weights.
        if (!test_kind_has_frames(kind)) {
            sinew_point *corner = NULL;
            const double rest[3] = {0.5, 0.1, 0.1};
            double x[3], expected[3];
            assert_int_equal(sinew_point_create(t.body, rest, &corner), SINEW_OK);
            assert_int_equal(sinew_point_get_position(corner, x), SINEW_OK);
            follow(expected, rest, 1, 0.5, 0.2);
            for (int k = 0; k < 3; k++) {
                test_kind_close(kind, "corner", x[k], expected[k], 0.01);
            }
        }

        // It starts from there: what is bound does not move without being driven.
        step(&t, kind);
        check_bound(kind, t.body, binding, 0.5, 0.2, nowhere);
        sinew_binding_destroy(binding);
        sinew_skeleton_destroy(skeleton);
        test_kinds_destroy(&t);
    }
}

// Unbound, the body falls freely.
static void test_unbind(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_REDUCED; kind++) {
        test_kinds t = test_kinds_create(kind);
        sinew_world_def world = sinew_world_get_def(t.world);
        world.gravity[2] = -10;
        assert_int_equal(sinew_world_set_def(t.world, &world), SINEW_OK);

        sinew_skeleton *skeleton = make_skeleton(t.context, 1);
        sinew_binding_def def = sinew_default_binding_def();
        sinew_binding *binding = NULL;
        assert_int_equal(sinew_binding_create(t.body, skeleton, &def, NULL, &binding), SINEW_OK);
        sinew_binding_destroy(binding);
        sinew_binding_destroy(NULL);
        step(&t, kind);

        // All of it, at once and alike.
        sinew_measures measures;
        sinew_body_get_measures(t.body, &measures);
        test_kind_close(kind, "momentum", measures.momentum[2], -0.01 * measures.mass,
                        1e-9 * measures.mass);
        sinew_skeleton_destroy(skeleton);
        test_kinds_destroy(&t);
    }
}

// The host says which nodes follow which joint.
static void test_own_choice(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_REDUCED; kind++) {
        test_kinds t = test_kinds_create(kind);
        sinew_skeleton *skeleton = make_skeleton(t.context, 1);
        bool frames = test_kind_has_frames(kind);
        int32_t count =
            frames ? sinew_frame_body_get_node_count(t.body) : sinew_body_get_node_count(t.body);
        int32_t *joints = malloc((size_t)count * sizeof *joints);
        assert_non_null(joints);

        int32_t chosen = 0;
        for (int32_t i = 0; i < count; i++) {
            double rest[3], x[3];
            get_item(t.body, i, rest, x);
            joints[i] = rest[0] < -0.35 ? 0 : rest[0] > 0.35 ? 1 : -1;
            chosen += joints[i] >= 0;
        }

        sinew_binding_def def = sinew_default_binding_def();
        def.joints = joints;
        sinew_binding_report report;
        sinew_binding *binding = NULL;
        assert_int_equal(sinew_binding_create(t.body, skeleton, &def, &report, &binding), SINEW_OK);
        assert_int_equal(report.bound_count, chosen);

        sinew_transform pose[JOINTS];
        make_pose(skeleton, 0.01, 0, pose);
        assert_int_equal(sinew_binding_drive(binding, pose), SINEW_OK);
        step(&t, kind);
        check_bound(kind, t.body, binding, 0.01, 0, (const double[3]){0, 0, 0});
        sinew_binding_destroy(binding);

        joints[0] = JOINTS;
        assert_int_equal(sinew_binding_create(t.body, skeleton, &def, NULL, &binding),
                         SINEW_INVALID_ARGUMENT);
        assert_non_null(strstr(sinew_context_message(t.context), "joint 2; valid are 0 to 1"));
        free(joints);
        sinew_skeleton_destroy(skeleton);
        test_kinds_destroy(&t);
    }
}

// By weights all nodes move as a skin does, and nothing is left to simulate.
static void test_skins(void **state) {
    (void)state;
    for (sinew_binding_mode mode = SINEW_BINDING_LINEAR; mode <= SINEW_BINDING_DUAL_QUATERNION;
         mode++) {
        test_kinds t = test_kinds_create(TEST_TET4);
        sinew_skeleton *skeleton = make_skeleton(t.context, 1);
        sinew_binding_def def = sinew_default_binding_def();
        def.mode = mode;
        sinew_binding *binding = NULL;
        assert_int_equal(sinew_binding_create(t.body, skeleton, &def, NULL, &binding), SINEW_OK);

        int32_t count, nodes = sinew_body_get_node_count(t.body);
        sinew_binding_get_bound(binding, &count);
        assert_int_equal(count, nodes);
        assert_null(sinew_binding_get_joints(binding));

        sinew_skin *skin = NULL;
        double *expected = malloc(3 * (size_t)nodes * sizeof *expected);
        assert_non_null(expected);
        assert_int_equal(sinew_skin_create(t.context, skeleton,
                                           sinew_body_get_rest_positions(t.body), nodes, &skin),
                         SINEW_OK);

        sinew_transform pose[JOINTS];
        make_pose(skeleton, 0.02, 0.001, pose);
        assert_int_equal(sinew_binding_drive(binding, pose), SINEW_OK);
        step(&t, TEST_TET4);
        sinew_skin_compute(skin, pose,
                           mode == SINEW_BINDING_LINEAR ? SINEW_SKIN_LINEAR
                                                        : SINEW_SKIN_DUAL_QUATERNION,
                           expected);
        for (int32_t i = 0; i < 3 * nodes; i++) {
            test_kind_close(TEST_TET4, "skin", sinew_body_get_positions(t.body)[i], expected[i],
                            1e-12);
        }

        free(expected);
        sinew_skin_destroy(skin);
        sinew_binding_destroy(binding);
        sinew_skeleton_destroy(skeleton);
        test_kinds_destroy(&t);
    }
}

static void refuse(test_kinds *t, const sinew_skeleton *skeleton, const sinew_binding_def *def,
                   sinew_status expected, const char *word) {
    sinew_binding *binding = NULL;
    sinew_status status = sinew_binding_create(t->body, skeleton, def, NULL, &binding);
    if (status != expected || binding || !strstr(sinew_context_message(t->context), word)) {
        fail_msg("%s: \"%s\" instead of \"%s\"", sinew_status_name(status),
                 sinew_context_message(t->context), word);
    }
}

static void test_misuse(void **state) {
    (void)state;
    static const test_kind kinds[] = {TEST_HEX8, TEST_RIGID_FRAMES, TEST_POSITIONS};
    for (int i = 0; i < 3; i++) {
        test_kinds t = test_kinds_create(kinds[i]);
        sinew_skeleton *skeleton = make_skeleton(t.context, 1);
        sinew_skeleton *large = make_skeleton(t.context, 100);
        sinew_skeleton *small = make_skeleton(t.context, 0.0001);
        uint64_t before = sinew_world_get_hash(t.world);
        const int32_t joints[1] = {0};

        sinew_binding_def def = {.mode = SINEW_BINDING_BONES};
        refuse(&t, skeleton, &def, SINEW_INVALID_ARGUMENT, "sinew_default_binding_def");
        refuse(&t, skeleton, NULL, SINEW_INVALID_ARGUMENT, "sinew_default_binding_def");
        def = sinew_default_binding_def();
        refuse(&t, NULL, &def, SINEW_INVALID_ARGUMENT, "no skeleton");
        def.mode = 7;
        refuse(&t, skeleton, &def, SINEW_INVALID_ARGUMENT, "mode 7");
        def = sinew_default_binding_def();
        def.reach = NAN;
        refuse(&t, skeleton, &def, SINEW_INVALID_ARGUMENT, "nan m");
        def = sinew_default_binding_def();
        def.placement.rotation[3] = 0;
        refuse(&t, skeleton, &def, SINEW_INVALID_ARGUMENT, "placement");
        def = sinew_default_binding_def();
        def.mode = SINEW_BINDING_LINEAR;
        if (kinds[i] == TEST_RIGID_FRAMES) {
            refuse(&t, skeleton, &def, SINEW_UNSUPPORTED, "bones only");
        } else {
            def.joints = joints;
            refuse(&t, skeleton, &def, SINEW_INVALID_ARGUMENT, "SINEW_BINDING_BONES");
        }

        // A skeleton in centimetres misses, one in tenths of a millimetre is too small.
        def = sinew_default_binding_def();
        refuse(&t, large, &def, SINEW_INVALID_DATA,
               kinds[i] == TEST_RIGID_FRAMES ? "within 0.05 m" : "does its unit fit");
        if (kinds[i] == TEST_RIGID_FRAMES) {
            refuse(&t, small, &def, SINEW_INVALID_DATA, "but where bones meet a frame is free");
        }
        assert_true(sinew_world_get_hash(t.world) == before);

        // A pose that is no pose leaves the targets alone.
        sinew_binding *binding = NULL;
        sinew_transform pose[JOINTS];
        assert_int_equal(sinew_binding_create(t.body, skeleton, &def, NULL, &binding), SINEW_OK);
        make_pose(skeleton, 0, 0, pose);
        pose[1].translation[1] = NAN;
        assert_int_equal(sinew_binding_drive(binding, pose), SINEW_INVALID_ARGUMENT);
        assert_non_null(strstr(sinew_context_message(t.context), "joint 1 ('right')"));
        assert_int_equal(sinew_binding_set_pose(binding, pose), SINEW_INVALID_ARGUMENT);
        assert_true(sinew_world_get_hash(t.world) == before);

        sinew_binding_destroy(binding);
        sinew_skeleton_destroy(skeleton);
        sinew_skeleton_destroy(large);
        sinew_skeleton_destroy(small);
        test_kinds_destroy(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drive),  cmocka_unit_test(test_set_pose),
        cmocka_unit_test(test_unbind), cmocka_unit_test(test_own_choice),
        cmocka_unit_test(test_skins),  cmocka_unit_test(test_misuse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
