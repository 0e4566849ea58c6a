// Points of every kind of body, with public headers only: rest position, distance, position,
// velocity, state, force, lifetime.
#include "support/kinds.h"

#include <math.h>
#include <stdlib.h>

static const double spot[3] = {0.31, 0.04, -0.07};

static void test_at_rest(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        sinew_point *inside = NULL, *outside = NULL;
        double x[3], v[3];
        assert_int_equal(sinew_point_create(t.body, spot, &inside), SINEW_OK);
        assert_int_equal(sinew_point_create(t.body, (const double[3]){0.7, 0, 0}, &outside),
                         SINEW_OK);

        assert_ptr_equal(sinew_point_get_body(inside), t.body);
        test_kind_close(kind, "distance inside", sinew_point_get_distance(inside), 0, 0);
        test_kind_close(kind, "distance outside", sinew_point_get_distance(outside), 0.2, 1e-12);
        bool nodal = !test_kind_has_frames(kind) && !test_kind_is_reduced(kind);
        assert_true((sinew_point_get_element(inside) >= 0) == nodal);

        assert_int_equal(sinew_point_get_position(inside, x), SINEW_OK);
        assert_int_equal(sinew_point_get_velocity(inside, v), SINEW_OK);
        for (int k = 0; k < 3; k++) {
            test_kind_close(kind, "position", x[k], spot[k], 1e-12);
            test_kind_close(kind, "velocity", v[k], 0, 0);
        }

        sinew_element_state feels;
        assert_int_equal(sinew_point_get_state(inside, &feels), SINEW_OK);
        test_kind_close(kind, "J", feels.J, 1, 1e-12);
        test_kind_close(kind, "von Mises", feels.von_mises, 0, 1e-6);
        test_kinds_destroy(&t);
    }
}

// Ten-node tets are located as if their edges were straight; modal warping bends between nodes
// too, by the square of a small angle.
static double locating_error(test_kind kind) {
    if (kind == TEST_MODAL_WARPING) {
        return 1e-5;
    }
    return kind == TEST_TET10 ? 1e-2 : 1e-8;
}

// The velocity is the change of the position, and the point found at a position has the same rest
// position again.
static void test_in_motion(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        sinew_point *point = NULL, *again = NULL;
        double x[3], next[3], v[3], rest[3];
        assert_int_equal(sinew_point_create(t.body, spot, &point), SINEW_OK);
        test_kinds_deform(&t, kind);

        assert_int_equal(sinew_point_get_position(point, x), SINEW_OK);
        assert_int_equal(sinew_point_create_at(t.body, x, &again), SINEW_OK);
        sinew_point_get_rest(again, rest);
        for (int k = 0; k < 3; k++) {
            test_kind_close(kind, "rest", rest[k], spot[k], locating_error(kind));
        }

        assert_int_equal(sinew_world_step(t.world, NULL), SINEW_OK);
        assert_int_equal(sinew_point_get_position(point, next), SINEW_OK);
        assert_int_equal(sinew_point_get_velocity(point, v), SINEW_OK);
        double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        assert_true(speed > 1e-3);
        for (int k = 0; k < 3; k++) {
            test_kind_close(kind, "velocity", v[k], (next[k] - x[k]) / 0.001, 0.05 * speed);
        }

        test_kinds_destroy(&t);
    }
}

// Where F varies in an element, the state is that of the point: F = dx/dX by differences of points.
static void test_state_is_local(void **state) {
    (void)state;
    const double h = 1e-4;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        test_kinds_deform(&t, kind);
        sinew_point *point = NULL;
        sinew_element_state feels;
        assert_int_equal(sinew_point_create(t.body, spot, &point), SINEW_OK);
        assert_int_equal(sinew_point_get_state(point, &feels), SINEW_OK);

        for (int axis = 0; axis < 3; axis++) {
            double ends[2][3];
            for (int side = 0; side < 2; side++) {
                double X[3] = {spot[0], spot[1], spot[2]};
                sinew_point *beside = NULL;
                X[axis] += side ? h : -h;
                assert_int_equal(sinew_point_create(t.body, X, &beside), SINEW_OK);
                assert_int_equal(sinew_point_get_position(beside, ends[side]), SINEW_OK);
                sinew_point_destroy(beside);
            }

            // Weights of frames are interpolated from voxels, and their gradients likewise.
            bool smooth = test_kind_has_frames(kind) || kind == TEST_MODAL_WARPING;
            double tolerance = smooth ? 5e-3 : 1e-6;
            for (int k = 0; k < 3; k++) {
                test_kind_close(kind, "F", feels.F[3 * k + axis],
                                (ends[1][k] - ends[0][k]) / (2 * h), tolerance);
            }
        }

        assert_true(isfinite(feels.von_mises) && feels.von_mises > 0);
        test_kinds_destroy(&t);
    }
}

// A force at a point gives the body its momentum, and where bodies rotate it follows the point.
static void test_force(void **state) {
    (void)state;
    const double f[3] = {1, -2, 3};
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        sinew_point *point = NULL;
        sinew_measures measures;
        assert_int_equal(sinew_point_create(t.body, spot, &point), SINEW_OK);
        assert_int_equal(sinew_point_set_force(point, f), SINEW_OK);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(sinew_world_step(t.world, NULL), SINEW_OK);
        }

        sinew_body_get_measures(t.body, &measures);
        double lost = 0.03 * test_kind_loss(kind);
        for (int k = 0; k < 3; k++) {
            test_kind_close(kind, "momentum", measures.momentum[k], 0.01 * f[k], lost);
        }

        // It ends with the point.
        sinew_point_destroy(point);
        assert_int_equal(sinew_world_step(t.world, NULL), SINEW_OK);
        sinew_body_get_measures(t.body, &measures);
        for (int k = 0; k < 3; k++) {
            test_kind_close(kind, "momentum after", measures.momentum[k], 0.01 * f[k], lost);
        }
        test_kinds_destroy(&t);
    }
}

static void test_survives_frames(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_AFFINE_FRAMES);
    sinew_point *point = NULL;
    double before[3], after[3];
    assert_int_equal(sinew_point_create(t.body, spot, &point), SINEW_OK);
    assert_int_equal(sinew_point_set_force(point, (const double[3]){0, 0, 1}), SINEW_OK);
    test_kinds_deform(&t, TEST_AFFINE_FRAMES);
    assert_int_equal(sinew_point_get_position(point, before), SINEW_OK);

    sinew_frame_insert_def insert = sinew_default_frame_insert_def();
    insert.position[0] = 0.2;
    insert.range = 0.3;
    int32_t node;
    assert_int_equal(sinew_frame_body_insert(t.body, &insert, &node), SINEW_OK);
    assert_int_equal(sinew_point_get_position(point, after), SINEW_OK);
    for (int k = 0; k < 3; k++) {
        test_kind_close(TEST_AFFINE_FRAMES, "position", after[k], before[k], 1e-9);
    }

    for (int i = 0; i < 5; i++) {
        assert_int_equal(sinew_world_step(t.world, NULL), SINEW_OK);
    }
    assert_int_equal(sinew_frame_body_remove(t.body, node, 0.1), SINEW_OK);
    assert_int_equal(sinew_world_step(t.world, NULL), SINEW_OK);
    sinew_element_state feels;
    assert_int_equal(sinew_point_get_state(point, &feels), SINEW_OK);
    assert_true(isfinite(feels.J));
    test_kinds_destroy(&t);
}

static void test_bad_input(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_TET4);
    sinew_point *point = NULL;
    const double bad[3] = {0, NAN, 0};
    assert_int_equal(sinew_point_create(t.body, bad, &point), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_point_create_at(t.body, bad, &point), SINEW_INVALID_ARGUMENT);
    assert_null(point);
    assert_int_equal(sinew_point_create(t.body, spot, &point), SINEW_OK);
    assert_int_equal(sinew_point_set_force(point, bad), SINEW_INVALID_ARGUMENT);
    sinew_point_destroy(NULL);
    sinew_body_destroy(t.body); // and its points
    test_kinds_destroy(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_rest),         cmocka_unit_test(test_in_motion),
        cmocka_unit_test(test_state_is_local),  cmocka_unit_test(test_force),
        cmocka_unit_test(test_survives_frames), cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
