// Grabbing a point of a surface: stable at any stiffness, never above its largest force, and what
// is released flies on. Every kind of body.
#include "support/kinds.h"

#include <math.h>

static void step(test_kinds *t) {
    if (sinew_world_step(t->world, NULL) != SINEW_OK) {
        fail_msg("body %s: %s", sinew_body_get_name(t->body), sinew_context_message(t->context));
    }
}

// The point of the bar's upper side above (0.3, 0.02).
static sinew_surface_hit find_point(test_kinds *t) {
    sinew_surface_hit hit;
    const double origin[3] = {0.3, 0.02, 5}, down[3] = {0, 0, -1};
    assert_int_equal(sinew_world_cast_ray(t->world, origin, down, INFINITY, &hit), SINEW_OK);
    assert_ptr_equal(hit.body, t->body);
    return hit;
}

static sinew_attachment *grab(test_kinds *t, double stiffness, double largest) {
    sinew_surface_hit hit = find_point(t);
    sinew_grab_def def = sinew_default_grab_def();
    def.stiffness = stiffness;
    def.largest_force = largest;
    sinew_attachment *hand = NULL;
    if (sinew_surface_hit_grab(&hit, &def, &hand) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(t->context));
    }
    return hand;
}

static double distance(const double a[3], const double b[3]) {
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

static double length(const double a[3]) {
    return distance(a, (double[3]){0, 0, 0});
}

// The hand holds the point that the ray found, not one nearby: within a tenth of a millimetre, for
// the triangles of a surface are flat and the faces of ten-node tets curved.
static void test_holds_the_point(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        test_kinds_deform(&t, kind);
        sinew_surface_hit hit = find_point(&t);
        sinew_attachment *hand = grab(&t, 100, 0);
        double tied[3];
        sinew_attachment_get_positions(hand, tied, NULL);
        test_kind_close(kind, "distance of the held point", distance(tied, hit.position), 0, 1e-4);
        test_kinds_destroy(&t);
    }
}

// The hand moves the point up and down by 0.1 m, ten times a second, with any stiffness. The body's
// energy stays that of such a motion, m v^2 with v = 6.3 m/s and a margin of 5, for the bar is
// shaken at an end and whirls about; an unstable spring exceeds any margin within a few steps. The
// stiffest hand keeps the point within a millimetre.
static void check_shaking(test_kind kind, double stiffness) {
    test_kinds t = test_kinds_create(kind);
    sinew_attachment *hand = grab(&t, stiffness, 0);
    double start[3];
    sinew_attachment_get_positions(hand, start, NULL);

    for (int i = 1; i <= 100; i++) {
        double angle = 20 * 3.14159265358979 * i * sinew_world_get_def(t.world).step;
        const double target[3] = {start[0], start[1], start[2] + 0.1 - 0.1 * cos(angle)};
        assert_int_equal(sinew_attachment_set_target(hand, target), SINEW_OK);
        step(&t);

        double tied[3];
        sinew_measures measures;
        sinew_attachment_get_positions(hand, tied, NULL);
        sinew_body_get_measures(t.body, &measures);
        if (stiffness >= 1e9) {
            test_kind_close(kind, "lag of the point", distance(tied, target), 0, 1e-3);
        }
        if (!(measures.kinetic_energy < 5 * measures.mass * 6.3 * 6.3)) {
            fail_msg("%s, %g N/m: energy %g J in step %d", test_kind_name(kind), stiffness,
                     measures.kinetic_energy, i);
        }
    }
    test_kinds_destroy(&t);
}

static void test_stable_at_any_stiffness(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        for (double stiffness = 1e3; stiffness < 1e10; stiffness *= 1e2) {
            check_shaking(kind, stiffness);
        }
    }
}

// A force of 2 N that pulls towards a distant cursor. It acts on the whole body, so that it changes
// the momentum by 2 N s a second; and it is never exceeded, even by a hand of 1e9 N/m. A thousandth
// is left for elastic forces that pull the gap open within a step.
static void test_largest_force(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        sinew_attachment *hand = grab(&t, 1e9, 2);
        const double far[3] = {0, 0, 100};
        double step_length = sinew_world_get_def(t.world).step;
        double impulse = 0, largest = 0;
        assert_int_equal(sinew_attachment_set_target(hand, far), SINEW_OK);
        for (int i = 0; i < 50; i++) {
            double force[3];
            step(&t);
            assert_int_equal(sinew_attachment_get_force(hand, force), SINEW_OK);
            largest = fmax(largest, length(force));
            impulse += step_length * force[2];
        }

        sinew_measures measures;
        sinew_body_get_measures(t.body, &measures);
        assert_true(largest <= 2 * 1.001);
        assert_true(largest >= 2 * 0.99);
        test_kind_close(kind, "momentum", measures.momentum[2] / impulse, 1, test_kind_loss(kind));
        test_kinds_destroy(&t);
    }
}

// Dragged sideways and released: momentum stays what it was.
static void test_release_throws(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        sinew_attachment *hand = grab(&t, 1e4, 0);
        double start[3];
        sinew_attachment_get_positions(hand, start, NULL);
        for (int i = 1; i <= 20; i++) {
            const double target[3] = {start[0], start[1] + 0.02 * i, start[2]};
            assert_int_equal(sinew_attachment_set_target(hand, target), SINEW_OK);
            step(&t);
        }

        sinew_measures before, after;
        sinew_body_get_measures(t.body, &before);
        sinew_attachment_destroy(hand);
        for (int i = 0; i < 20; i++) {
            step(&t);
        }
        sinew_body_get_measures(t.body, &after);
        assert_true(before.momentum[1] > 0.1 * before.mass);
        test_kind_close(kind, "kept momentum",
                        distance(after.momentum, before.momentum) / length(before.momentum), 0,
                        20 * test_kind_loss(kind));
        test_kinds_destroy(&t);
    }
}

static void test_refusals(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_TET4);
    sinew_surface_hit hit = find_point(&t);
    sinew_attachment *hand = NULL;
    sinew_grab_def def = sinew_default_grab_def();
    def.stiffness = 0;
    assert_int_equal(sinew_surface_hit_grab(&hit, &def, &hand), SINEW_INVALID_ARGUMENT);
    def.stiffness = NAN;
    assert_int_equal(sinew_surface_hit_grab(&hit, &def, &hand), SINEW_INVALID_ARGUMENT);
    def.stiffness = 100;
    def.largest_force = -1;
    assert_int_equal(sinew_surface_hit_grab(&hit, &def, &hand), SINEW_INVALID_ARGUMENT);
    assert_null(hand);

    // A capped spring cannot become a hard tie, nor be one from the start.
    hand = grab(&t, 100, 5);
    assert_int_equal(sinew_attachment_set_stiffness(hand, 0), SINEW_INVALID_ARGUMENT);
    sinew_attachment_def hard = sinew_default_attachment_def();
    hard.body = t.body;
    hard.largest_force = 1;
    assert_int_equal(sinew_world_attach(t.world, &hard, NULL), SINEW_INVALID_ARGUMENT);
    test_kinds_destroy(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holds_the_point), cmocka_unit_test(test_stable_at_any_stiffness),
        cmocka_unit_test(test_largest_force),   cmocka_unit_test(test_release_throws),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
