// Skinning: weights by distance, both blends compared with plain formulas in every instruction set,
// rigid motion, invalid weights.
#include "support/hash.h"
#include "support/test.h"

#include "math/quat.h"
#include "skeleton/skin.h"

#include <stdlib.h>

enum { POINTS = 1003, JOINTS = 6 };

static sinew_skeleton *make_chain(sinew_context *context) {
    static const char *const names[JOINTS] = {"a", "b", "c", "d", "e", "f"};
    sinew_joint_def joints[JOINTS];
    for (int i = 0; i < JOINTS; i++) {
        joints[i] = sinew_default_joint_def();
        joints[i].name = names[i];
        joints[i].parent = i - 1;
        sn_rigid_store(&joints[i].rest,
                       (sn_rigid){sn_quat_exp(sn_v3(0.1 * i, 0.2, 0)), sn_v3(0, 1, 0)});
        joints[i].has_tip = i == JOINTS - 1;
        joints[i].tip[1] = 1;
    }

    sinew_skeleton *skeleton = NULL;
    assert_int_equal(sinew_skeleton_create(context, joints, JOINTS, &skeleton), SINEW_OK);

    return skeleton;
}

static void make_points(double *points) {
    sn_random random = sn_random_seed(11);
    for (int i = 0; i < 3 * POINTS; i++) {
        points[i] = sn_random_range(&random, -4, 4);
    }
}

static void bend(const sinew_skeleton *skeleton, sinew_transform *world, double amount) {
    sinew_transform local[JOINTS];
    memcpy(local, sinew_skeleton_rest_local(skeleton), sizeof local);
    for (int i = 0; i < JOINTS; i++) {
        sn_rigid joint = sn_rigid_load(&local[i]);
        joint.q = sn_quat_mul(joint.q, sn_quat_exp(sn_v3(amount, -0.4 * amount * i, 0.7)));

        // The sign of a quaternion has no meaning and must not change the result.
        if (i % 2) {
            joint.q = sn_quat_scale(-1, joint.q);
        }

        sn_rigid_store(&local[i], joint);
    }

    assert_int_equal(sinew_skeleton_compute_world(skeleton, local, world), SINEW_OK);
}

static sn_vec3 blend_plainly(const sinew_transform *offsets, const int32_t *joints,
                             const double *weights, sn_vec3 X, bool dual) {
    sn_vec3 sum = {0, 0, 0};
    sn_quat real = {0, 0, 0, 0};
    sn_quat part = {0, 0, 0, 0};

    for (int k = 0; k < SN_INFLUENCES; k++) {
        sn_rigid first = sn_rigid_load_unit(&offsets[joints[0]]);
        sn_rigid a = sn_rigid_load_unit(&offsets[joints[k]]);
        sum = sn_madd(sum, weights[k], sn_rigid_apply(a, X));
        double weight = sn_quat_dot(first.q, a.q) < 0 ? -weights[k] : weights[k];
        real = sn_quat_add(real, sn_quat_scale(weight, a.q));
        part = sn_quat_add(
            part, sn_quat_scale(0.5 * weight, sn_quat_mul((sn_quat){a.t.x, a.t.y, a.t.z, 0}, a.q)));
    }

    if (!dual) {
        return sum;
    }

    double length = sqrt(sn_quat_dot(real, real));
    real = sn_quat_scale(1 / length, real);

    sn_quat t = sn_quat_scale(2 / length, sn_quat_mul(part, sn_quat_conjugate(real)));
    return sn_add(sn_quat_rotate(real, X), sn_v3(t.x, t.y, t.z));
}

static void test_blending(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_skeleton *skeleton = make_chain(context);
    double points[3 * POINTS], moved[3 * POINTS];

    make_points(points);
    sinew_skin *skin = NULL;

    assert_int_equal(sinew_skin_create(context, skeleton, points, POINTS, &skin), SINEW_OK);
    sinew_transform world[JOINTS];

    bend(skeleton, world, 0.5);
    sinew_transform offsets[JOINTS];

    sinew_skeleton_compute_offsets(skeleton, world, offsets);
    for (sn_isa isa = 0; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        skin->linear = SN_ISA_PICK(isa, sn_skin_linear);
        skin->dual = SN_ISA_PICK(isa, sn_skin_dual);
        for (int dual = 0; dual < 2; dual++) {
            sinew_skin_compute(skin, world, dual ? SINEW_SKIN_DUAL_QUATERNION : SINEW_SKIN_LINEAR,
                               moved);
            for (int i = 0; i < POINTS; i++) {
                sn_vec3 expected =
                    blend_plainly(offsets, sinew_skin_joints(skin) + 4 * i,
                                  sinew_skin_weights(skin) + 4 * i, sn_load3(points + 3 * i), dual);
                test_close("blended", sn_distance(sn_load3(moved + 3 * i), expected), 0,
                           1e-13 * 30);
            }
        }
    }

    // At rest nothing moves, and both blends follow a rigid motion of the whole.
    for (int dual = 0; dual < 2; dual++) {
        sinew_skin_compute(skin, sinew_skeleton_rest_world(skeleton), (sinew_skin_method)dual,
                           moved);
        test_close("rest", test_relative_error(moved, points, 3 * POINTS), 0, 1e-14);

        sn_rigid whole = {sn_quat_exp(sn_v3(1, 2, -1)), {3, -2, 1}};
        for (int i = 0; i < JOINTS; i++) {
            sn_rigid_store(
                &world[i],
                sn_rigid_mul(whole, sn_rigid_load(&sinew_skeleton_rest_world(skeleton)[i])));
        }

        sinew_skin_compute(skin, world, (sinew_skin_method)dual, moved);
        for (int i = 0; i < POINTS; i++) {
            sn_vec3 expected = sn_rigid_apply(whole, sn_load3(points + 3 * i));
            test_close("rigid", sn_distance(sn_load3(moved + 3 * i), expected), 0, 1e-13 * 30);
        }
    }

    sinew_skin_destroy(skin);
    sinew_skeleton_destroy(skeleton);
    sinew_context_destroy(context);
}

static double distance_by_sampling(sn_vec3 p, const sinew_bone *bone) {
    double best = INFINITY;
    for (int i = 0; i <= 4000; i++) {
        sn_vec3 x =
            sn_madd(sn_scale(1 - i / 4000.0, sn_load3(bone->from)), i / 4000.0, sn_load3(bone->to));
        best = fmin(best, sn_distance(p, x));
    }

    return best;
}

static void test_weights(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_skeleton *skeleton = make_chain(context);
    double points[3 * POINTS];

    make_points(points);
    int32_t bone_count = 0;
    const sinew_bone *bones = sinew_skeleton_bones(skeleton, &bone_count);

    assert_int_equal(bone_count, JOINTS);
    sn_store3(points, sn_load3(bones[2].from)); // on a bone, and on its neighbour's end

    // Weights by distance: sorted, positive, and in the ratio of inverse fourth powers.
    sinew_skin *skin = NULL;
    assert_int_equal(sinew_skin_create(context, skeleton, points, POINTS, &skin), SINEW_OK);
    for (int i = 0; i < POINTS; i++) {
        const int32_t *joints = sinew_skin_joints(skin) + 4 * i;
        const double *weights = sinew_skin_weights(skin) + 4 * i;
        test_close("sum", weights[0] + weights[1] + weights[2] + weights[3], 1, 1e-14);

        if (i > 0) {
            for (int k = 1; k < 4; k++) {
                assert_true(weights[k] <= weights[k - 1] && weights[k] > 0);
                double near = distance_by_sampling(sn_load3(points + 3 * i), &bones[joints[0]]);
                double far = distance_by_sampling(sn_load3(points + 3 * i), &bones[joints[k]]);
                test_close("ratio", weights[k] / weights[0], pow(near / far, 4), 2e-3);
            }
        }
    }

    test_close("shared end", sinew_skin_weights(skin)[0], 0.5, 1e-6);
    sinew_skin_destroy(skin);

    // Weights of the caller are normalised.
    int32_t joints[4 * POINTS];
    double weights[4 * POINTS];
    for (int i = 0; i < 4 * POINTS; i++) {
        joints[i] = i % JOINTS;
        weights[i] = i % 4 == 3 ? 0 : 2;
    }

    assert_int_equal(
        sinew_skin_create_from_weights(context, skeleton, points, POINTS, joints, weights, &skin),
        SINEW_OK);
    test_close("normalised", sinew_skin_weights(skin)[5], 1.0 / 3, 1e-15);
    sinew_skin_destroy(skin);

    // Invalid joints and weights are refused.
    skin = NULL;
    joints[9] = JOINTS;
    assert_int_equal(
        sinew_skin_create_from_weights(context, skeleton, points, POINTS, joints, weights, &skin),
        SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "vertex 2"));
    joints[9] = 0;
    weights[17] = -1;
    assert_int_equal(
        sinew_skin_create_from_weights(context, skeleton, points, POINTS, joints, weights, &skin),
        SINEW_INVALID_DATA);

    for (int k = 0; k < 4; k++) {
        weights[16 + k] = 0;
    }

    assert_int_equal(
        sinew_skin_create_from_weights(context, skeleton, points, POINTS, joints, weights, &skin),
        SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "vertex 4"));
    assert_null(skin);
    sinew_skeleton_destroy(skeleton);
    sinew_context_destroy(context);
}

static uint64_t simulate(sinew_context *context, void *user) {
    (void)user;
    sinew_skeleton *skeleton = make_chain(context);

    enum { MANY = 9000 };
    double *points = malloc(3 * MANY * sizeof *points);
    double *moved = malloc(3 * MANY * sizeof *moved);

    for (int i = 0; i < 3 * MANY; i++) {
        points[i] = 3 * sin(i);
    }

    sinew_skin *skin = NULL;
    assert_int_equal(sinew_skin_create(context, skeleton, points, MANY, &skin), SINEW_OK);

    sinew_transform world[JOINTS];
    uint64_t hash = TEST_HASH_START;
    for (int dual = 0; dual < 2; dual++) {
        bend(skeleton, world, 0.3);
        sinew_skin_compute(skin, world, (sinew_skin_method)dual, moved);
        hash = test_hash(hash, moved, 3 * MANY * sizeof *moved);
    }

    sinew_skin_destroy(skin);
    sinew_skeleton_destroy(skeleton);
    free(points);
    free(moved);

    return hash;
}

static void test_threads(void **state) {
    (void)state;
    test_over_threads("skin", simulate, NULL);
}

static void test_memory_shortage(void **state) {
    (void)state;
    double points[3 * POINTS];

    make_points(points);
    bool succeeded = false;
    for (int64_t fail_at = 0; !succeeded; fail_at++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);
        sinew_skeleton *skeleton = make_chain(context);

        allocator.fail_at = allocator.calls + fail_at;
        sinew_skin *skin = NULL;
        sinew_status status = sinew_skin_create(context, skeleton, points, POINTS, &skin);

        succeeded = status == SINEW_OK;
        assert_true(succeeded || (status == SINEW_OUT_OF_MEMORY && !skin));
        sinew_skin_destroy(skin);
        sinew_skeleton_destroy(skeleton);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blending),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
