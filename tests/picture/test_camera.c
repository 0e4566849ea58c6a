// Framing is exact: every point is seen, and the picture could not be tighter.
#include "support/test.h"

#include "picture/project.h"

#include <math.h>

static void check_fit(sn_vec3 up, double azimuth, double elevation, double aspect,
                      sn_random *random) {
    enum { COUNT = 50, HEIGHT = 600 };
    double points[3 * COUNT], margin = 0.1;
    for (int i = 0; i < 3 * COUNT; i++) {
        points[i] = 100 + sn_random_range(random, -1, 1) * (i % 3 + 1);
    }

    points[7] = NAN; // passed over
    sn_camera_fit fit = sn_camera_fit_begin(up, azimuth, elevation, 0.6, aspect, margin);

    sn_camera_fit_add(&fit, points, COUNT);
    sn_camera camera = sn_camera_fit_end(&fit);
    double width = aspect * HEIGHT;
    double low_x = INFINITY;
    double high_x = -INFINITY;
    double low_y = INFINITY;
    double high_y = -INFINITY;

    for (int i = 0; i < COUNT; i++) {
        double x, y;
        if (i == 2) {
            continue;
        }

        assert_true(project(&camera, (int32_t)width, HEIGHT, sn_load3(points + 3 * i), &x, &y));
        low_x = fmin(low_x, x);
        high_x = fmax(high_x, x);
        low_y = fmin(low_y, y);
        high_y = fmax(high_y, y);
    }

    double free_x = fmin(low_x, width - high_x) / width;
    double free_y = fmin(low_y, HEIGHT - high_y) / HEIGHT;

    assert_true(free_x > margin - 1e-6 && free_y > margin - 1e-6);

    // One direction is used up on both sides, and the other is centred.
    test_close("tight", fmin(free_x, free_y), margin, 1e-6);

    bool across = free_x < free_y;
    test_close("both sides", across ? low_x : low_y, across ? width - high_x : HEIGHT - high_y,
               1e-4);
}

static void test_framing_is_tight(void **state) {
    (void)state;
    sn_random random = sn_random_seed(5);
    const sn_vec3 ups[3] = {{0, 0, 1}, {0, 1, 0}, {0.6, 0, 0.8}};

    for (int k = 0; k < 3; k++) {
        for (int turn = 0; turn < 8; turn++) {
            check_fit(ups[k], turn * 0.8, (turn - 3) * 0.3, turn % 2 ? 4.0 / 3 : 0.5, &random);
        }
    }
}

static void test_axes(void **state) {
    (void)state;
    sn_camera_fit fit = sn_camera_fit_begin(sn_v3(0, 0, 1), 0.7, 0.4, 0.6, 1, 0.1);

    sn_camera_fit_add_box(&fit, sn_v3(-1, -2, 0), sn_v3(1, 2, 3));
    sn_camera camera = sn_camera_fit_end(&fit);
    sn_camera_axes axes = sn_camera_get_axes(&camera);

    test_close("x horizontal", axes.x.z, 0, 1e-12);
    test_close("from above", axes.z.z, sin(0.4), 1e-9);
    test_close("right-handed", sn_dot(axes.z, sn_cross(axes.x, axes.y)), 1, 1e-12);

    double x, y;
    assert_true(project(&camera, 200, 100, camera.target, &x, &y));
    test_close("the target in the middle", fabs(x - 100) + fabs(y - 50), 0, 1e-9);
    assert_false(project(&camera, 200, 100, sn_madd(camera.eye, 1, axes.z), &x, &y));
}

static void test_nothing_and_one_point(void **state) {
    (void)state;
    sn_camera_fit fit = sn_camera_fit_begin(sn_v3(0, 1, 0), 0, 0.3, 0.6, 1, 0.1);
    sn_camera camera = sn_camera_fit_end(&fit);

    assert_true(sn_distance(camera.eye, camera.target) > 0.1);
    sn_camera_fit_add(&fit, (double[3]){1000, 2, 3}, 1);
    camera = sn_camera_fit_end(&fit);
    test_close("looks at the point", sn_distance(camera.target, sn_v3(1000, 2, 3)), 0, 1e-6);
    assert_true(sn_distance(camera.eye, camera.target) > 0.1);

    sn_camera down = {.eye = {0, 0, 5}, .up = {0, 0, 1}, .field = 0.6}; // straight down: no upright
    sn_camera_axes axes = sn_camera_get_axes(&down);

    test_close("orthonormal all the same", sn_length(axes.x) * sn_length(axes.y), 1, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_framing_is_tight),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_nothing_and_one_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
