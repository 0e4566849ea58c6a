// Forward kinematics compared with matrices, names, bones, and invalid joints, which are refused
// with a message.
#include "support/joints.h"
#include "support/test.h"

#include "math/quat.h"
#include "skeleton/skeleton.h"

#include <stdio.h>

enum { COUNT = 40 };

static sn_quat random_rotation(sn_random *random) {
    return sn_quat_normalize(
        (sn_quat){sn_random_range(random, -1, 1), sn_random_range(random, -1, 1),
                  sn_random_range(random, -1, 1), sn_random_range(random, -1, 1)});
}

static sinew_transform random_transform(sn_random *random) {
    sn_rigid a = {random_rotation(random),
                  {sn_random_range(random, -1, 1), sn_random_range(random, -1, 1),
                   sn_random_range(random, -1, 1)}};
    sinew_transform transform;
    sn_rigid_store(&transform, a);
    return transform;
}

static char names[COUNT][16];

static void make_joints(sinew_joint_def *joints, sn_random *random) {
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "joint %d", i);
        joints[i] = sinew_default_joint_def();
        joints[i].name = names[i];
        joints[i].parent = i == 0 ? -1 : (int32_t)(sn_random_u32(random) % (uint32_t)i);
        joints[i].rest = random_transform(random);
    }
}

// World position of a joint's local point by walking up to the root with matrices.
static sn_vec3 walk_up(const sinew_joint_def *joints, const sinew_transform *local, int32_t joint,
                       sn_vec3 point) {
    for (; joint >= 0; joint = joints[joint].parent) {
        sn_rigid a = sn_rigid_load(&local[joint]);
        point = sn_add(sn_mat3_apply(sn_quat_to_mat3(a.q), point), a.t);
    }
    return point;
}

static void test_world_transforms(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(1);
    sinew_joint_def joints[COUNT];

    make_joints(joints, &random);
    sinew_skeleton *skeleton = NULL;

    assert_int_equal(sinew_skeleton_create(context, joints, COUNT, &skeleton), SINEW_OK);
    sinew_transform local[COUNT], world[COUNT];
    for (int i = 0; i < COUNT; i++) {
        local[i] = random_transform(&random);
    }

    assert_int_equal(sinew_skeleton_compute_world(skeleton, local, world), SINEW_OK);
    for (int i = 0; i < COUNT; i++) {
        sn_vec3 point = {0.3, -0.2, 0.7};
        sn_vec3 expected = walk_up(joints, local, i, point);
        sn_vec3 actual = sn_rigid_apply(sn_rigid_load(&world[i]), point);
        test_close("world position", sn_distance(actual, expected), 0, 1e-13);
    }

    // In place as well.
    assert_int_equal(sinew_skeleton_compute_world(skeleton, local, local), SINEW_OK);
    assert_memory_equal(local, world, sizeof world);

    // M T^-1 moves a rest point as the joint's own frame does.
    sinew_transform offsets[COUNT];

    sinew_skeleton_compute_offsets(skeleton, world, offsets);
    for (int i = 0; i < COUNT; i++) {
        sn_vec3 own = {0.1, 0.5, -0.4};
        sn_vec3 rest = sn_rigid_apply(sn_rigid_load(&sinew_skeleton_rest_world(skeleton)[i]), own);
        sn_vec3 expected = sn_rigid_apply(sn_rigid_load(&world[i]), own);
        sn_vec3 carried = sn_rigid_apply(sn_rigid_load(&offsets[i]), rest);
        test_close("carried point", sn_distance(carried, expected), 0, 1e-13);
    }

    local[7].rotation[2] = NAN;
    assert_int_equal(sinew_skeleton_compute_world(skeleton, local, world), SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "joint 7"));
    sinew_skeleton_destroy(skeleton);
    sinew_context_destroy(context);
}

static void test_names_and_bones(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const double here[3] = {0, 0, 0}, below[3] = {0, -1, 0}, tip[3] = {0, 0, 0.5};
    sinew_joint_def joints[4] = {
        test_joint("hip", -1, here, NULL),
        test_joint("knee", 0, below, NULL),
        test_joint("helper", 0, here, NULL), // a bone of no length
        test_joint("ankle", 1, below, tip),
    };

    sinew_skeleton *skeleton = NULL;
    assert_int_equal(sinew_skeleton_create(context, joints, 4, &skeleton), SINEW_OK);
    assert_int_equal(sinew_skeleton_find(skeleton, "ankle"), 3);
    assert_int_equal(sinew_skeleton_find(skeleton, "elbow"), -1);
    assert_string_equal(sinew_skeleton_joint_name(skeleton, 1), "knee");
    assert_int_equal(sinew_skeleton_joint_parent(skeleton, 3), 1);

    int32_t count = 0;
    const sinew_bone *bones = sinew_skeleton_bones(skeleton, &count);

    assert_int_equal(count, 3);
    assert_int_equal(bones[0].joint, 0);
    assert_int_equal(bones[0].child, 1);
    assert_int_equal(bones[1].child, 3);
    assert_int_equal(bones[2].child, -1);
    test_close("tip", sn_distance(sn_load3(bones[2].to), sn_v3(0, -2, 0.5)), 0, 1e-15);
    sinew_skeleton_destroy(skeleton);
    sinew_context_destroy(context);
}

static void expect_refusal(sinew_context *context, const sinew_joint_def *joints, int32_t count,
                           sinew_status status, const char *word) {
    sinew_skeleton *skeleton = NULL;
    assert_int_equal(sinew_skeleton_create(context, joints, count, &skeleton), status);
    assert_null(skeleton);
    if (!strstr(sinew_context_message(context), word)) {
        fail_msg("'%s' does not contain '%s'", sinew_context_message(context), word);
    }
}

static void test_bad_joints(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(2);
    sinew_joint_def joints[COUNT];

    make_joints(joints, &random);
    joints[5].parent = -1;
    expect_refusal(context, joints, COUNT, SINEW_UNSUPPORTED, "second root");
    make_joints(joints, &random);
    joints[5].parent = 9;
    expect_refusal(context, joints, COUNT, SINEW_INVALID_ARGUMENT, "parent 9");
    make_joints(joints, &random);
    joints[5].name = joints[8].name;
    expect_refusal(context, joints, COUNT, SINEW_INVALID_ARGUMENT, "both named");
    make_joints(joints, &random);
    joints[5].rest.translation[1] = INFINITY;
    expect_refusal(context, joints, COUNT, SINEW_INVALID_ARGUMENT, "joint 5");
    make_joints(joints, &random);
    joints[5].name = "";
    expect_refusal(context, joints, COUNT, SINEW_INVALID_ARGUMENT, "joint 5");
    expect_refusal(context, joints, 0, SINEW_INVALID_ARGUMENT, "0 joints");
    expect_refusal(context, joints, 1000000, SINEW_INVALID_ARGUMENT, "1000000 joints");
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    sn_random random = sn_random_seed(3);
    sinew_joint_def joints[COUNT];

    make_joints(joints, &random);
    bool succeeded = false;
    for (int64_t fail_at = 1; !succeeded; fail_at++) {
        test_allocator allocator = {.fail_at = fail_at};
        sinew_context *context = test_context_failing(&allocator);
        sinew_skeleton *skeleton = NULL;
        sinew_status status = sinew_skeleton_create(context, joints, COUNT, &skeleton);
        succeeded = status == SINEW_OK;
        assert_true(succeeded || (status == SINEW_OUT_OF_MEMORY && !skeleton));
        sinew_skeleton_destroy(skeleton);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_world_transforms),
        cmocka_unit_test(test_names_and_bones),
        cmocka_unit_test(test_bad_joints),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
