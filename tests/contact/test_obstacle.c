// Obstacles: distances against dense samples of their surfaces, and triangles against dense samples
// of the triangle.
#include "contact/obstacle.h"
#include "support/test.h"

#include <math.h>

static const sn_obstacle_shape shapes[] = {
    {SN_OBSTACLE_SPHERE, 0.3, {0, 0, 0}},
    {SN_OBSTACLE_BOX, 0, {0.2, 0.3, 0.4}},
    {SN_OBSTACLE_CAPSULE, 0.15, {0, 0, 0.4}},
};

static sn_rigid random_pose(sn_random *random) {
    sn_quat q = {sn_random_range(random, -1, 1), sn_random_range(random, -1, 1),
                 sn_random_range(random, -1, 1), 0.5};
    return (sn_rigid){sn_quat_normalize(q),
                      {sn_random_range(random, -1, 1), sn_random_range(random, -1, 1),
                       sn_random_range(random, -1, 1)}};
}

static sn_vec3 random_point(sn_random *random) {
    return sn_v3(sn_random_range(random, -2, 2), sn_random_range(random, -2, 2),
                 sn_random_range(random, -2, 2));
}

// The nearest point is on the surface, along the normal, and the support plane there separates.
static void test_nearest(void **state) {
    (void)state;
    sn_random random = sn_random_seed(3);
    for (int i = 0; i < 3000; i++) {
        const sn_obstacle_shape *shape = &shapes[i % 3];
        sn_rigid pose = random_pose(&random);
        sn_vec3 x = random_point(&random);
        sn_obstacle_point at = sn_obstacle_nearest(shape, pose, x);
        sn_vec3 back = sn_madd(x, -at.distance, at.normal);
        assert_true(sn_distance(back, at.point) < 1e-12);
        assert_true(fabs(sn_obstacle_nearest(shape, pose, at.point).distance) < 1e-12);
        if (at.distance > 0) {
            double support = sn_obstacle_support(shape, pose, at.normal);
            assert_true(fabs(sn_dot(at.normal, x) - support - at.distance) < 1e-12);
        }
    }
}

// No point of the triangle is nearer than the meeting says, and one is as near.
static void test_triangles(void **state) {
    (void)state;
    enum { STEPS = 40 };
    sn_random random = sn_random_seed(5);
    int clear = 0;
    for (int i = 0; i < 300; i++) {
        const sn_obstacle_shape *shape = &shapes[i % 3];
        sn_rigid pose = random_pose(&random);
        sn_vec3 corner[3];
        for (int k = 0; k < 3; k++) {
            corner[k] = random_point(&random);
        }

        double least = INFINITY;
        for (int a = 0; a <= STEPS; a++) {
            for (int b = 0; a + b <= STEPS; b++) {
                sn_vec3 p = sn_scale((double)a / STEPS, corner[0]);
                p = sn_madd(p, (double)b / STEPS, corner[1]);
                p = sn_madd(p, (double)(STEPS - a - b) / STEPS, corner[2]);
                least = fmin(least, sn_obstacle_nearest(shape, pose, p).distance);
            }
        }
        if (least < 0.2) {
            continue; // the samples are 0.1 apart, and may miss a piece inside
        }

        clear++;
        sn_obstacle_meeting meeting = sn_obstacle_meet_triangle(shape, pose, corner);
        assert_true(meeting.at.distance <= least + 1e-12);
        assert_true(meeting.at.distance > least - 0.15);
        double support = sn_obstacle_support(shape, pose, meeting.at.normal);
        for (int k = 0; k < 3; k++) {
            assert_true(sn_dot(meeting.at.normal, corner[k]) - support >
                        meeting.at.distance - 1e-9);
        }
    }
    assert_true(clear > 50);
}

static void test_poses(void **state) {
    (void)state;
    sn_random random = sn_random_seed(7);
    for (int i = 0; i < 200; i++) {
        sn_rigid a = random_pose(&random);
        sn_rigid b = random_pose(&random);
        sn_rigid half = sn_pose_between(a, b, 0.5);
        double angle = sn_pose_angle(a, b);
        assert_true(fabs(sn_pose_angle(a, half) - 0.5 * angle) < 1e-9);
        assert_true(fabs(sn_pose_angle(half, b) - 0.5 * angle) < 1e-9);
        assert_true(sn_pose_angle(b, sn_pose_between(a, b, 1)) < 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_triangles),
        cmocka_unit_test(test_poses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
