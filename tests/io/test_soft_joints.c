// Motions as joints: displacements that two rigid parts of a joint's flesh make come back exactly,
// and every point keeps the weights of its skin. Names of joints mean the same in many rigs.
#include "support/test.h"

#include "io/motion/pair_names.h"
#include "io/soften/softener.h"

#include <math.h>
#include <string.h>

enum { POINTS = 60, IMAGES = 30, MOST = 4 };

// Points on both sides of x = 0 follow joint 0 of two; each side moves rigidly.
static void test_rigid_parts_become_joints(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    sn_random random = sn_random_seed(11);
    static double points[3 * POINTS], weights[2 * POINTS], images[IMAGES * 3 * POINTS];
    for (int i = 0; i < POINTS; i++) {
        double side = i % 2 ? 1 : -1;
        points[3 * i] = side * sn_random_range(&random, 0.5, 1.5);
        points[3 * i + 1] = sn_random_range(&random, -0.5, 0.5);
        points[3 * i + 2] = sn_random_range(&random, -0.5, 0.5);
        weights[2 * i] = 1;
    }
    for (int t = 0; t < IMAGES; t++) {
        for (int i = 0; i < POINTS; i++) {
            double angle = (i % 2 ? 0.1 : -0.06) * sin(0.4 * t),
                   shift = 0.05 * cos(0.3 * t + i % 2);
            const double *p = points + 3 * i;
            double *d = images + (size_t)(t * POINTS + i) * 3;
            d[0] = cos(angle) * p[0] - sin(angle) * p[1] - p[0] + shift;
            d[1] = sin(angle) * p[0] + cos(angle) * p[1] - p[1];
            d[2] = shift;
        }
    }

    sn_soft_joints_def def = {.points = points,
                              .point_count = POINTS,
                              .weights = weights,
                              .joint_count = 2,
                              .images = images,
                              .image_count = IMAGES,
                              .stride = 3 * (size_t)POINTS,
                              .most = MOST,
                              .slots = 4};
    sn_soft_joints joints;
    assert_int_equal(sn_soft_joints_create(&arena, &def, &joints), SINEW_OK);
    assert_in_range(joints.count, 2, MOST);

    // Rotations lean towards rest by 0.6 % for round clusters, 0.1 rad at 0.7 m from their middle;
    // twice as much is allowed for uneven ones.
    for (int t = 0; t < IMAGES; t++) {
        for (int i = 0; i < POINTS; i++) {
            double sum = 0, moved[3] = {0, 0, 0};
            for (int k = 4 * i; k < 4 * (i + 1); k++) {
                int32_t m = joints.joints[k] - 2;
                assert_true(joints.weights[k] >= 0);
                sum += joints.weights[k];
                if (m < 0 || joints.weights[k] == 0) {
                    continue;
                }
                assert_int_equal(joints.parents[m], 0);
                const double *T = joints.poses + 12 * (t * MOST + m);
                for (int r = 0; r < 3; r++) {
                    double x = T[3 * r] * points[3 * i] + T[3 * r + 1] * points[3 * i + 1] +
                               T[3 * r + 2] * points[3 * i + 2] + T[9 + r];
                    moved[r] += joints.weights[k] * (x - points[3 * i + r]);
                }
            }
            test_close("weights", sum, 1, 1e-12);
            for (int r = 0; r < 3; r++) {
                test_close("displacement", moved[r], images[(t * POINTS + i) * 3 + r], 1e-3);
            }
        }
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

static sinew_skeleton *make_skeleton(sinew_context *context, const char *const *names,
                                     int32_t count) {
    sinew_joint_def joints[8];
    for (int32_t i = 0; i < count; i++) {
        joints[i] = sinew_default_joint_def();
        joints[i].name = names[i];
        joints[i].parent = i - 1;
    }
    sinew_skeleton *skeleton;
    assert_int_equal(sinew_skeleton_create(context, joints, count, &skeleton), SINEW_OK);
    return skeleton;
}

static void test_names_mean_the_same(void **state) {
    (void)state;
    static const char *const from[] = {"Hips",         "LeftUpLeg", "LeftLeg",
                                       "RightForeArm", "Head",      "Prop"};
    static const char *const to[] = {"pelvis", "thigh.L", "shin_l", "mixamorig:RightForeArm",
                                     "Head",   "kneeIK.l"};
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    sinew_skeleton *source = make_skeleton(context, from, 6),
                   *target = make_skeleton(context, to, 6);
    sinew_name_pair given = {"Prop", "kneeIK.l"}, *pairs;
    int32_t count;
    assert_int_equal(sn_motion_pair_names(&arena, source, target, &given, 1, &pairs, &count),
                     SINEW_OK);

    // The given pair first; equal names are left to the transfer itself.
    assert_int_equal(count, 5);
    assert_string_equal(pairs[0].target, "kneeIK.l");
    for (int32_t i = 1; i < count; i++) {
        int32_t a = sinew_skeleton_find(source, pairs[i].source);
        assert_int_equal(a, sinew_skeleton_find(target, pairs[i].target));
        assert_in_range(a, 0, 3);
    }

    sinew_skeleton_destroy(source);
    sinew_skeleton_destroy(target);
    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rigid_parts_become_joints),
        cmocka_unit_test(test_names_mean_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
