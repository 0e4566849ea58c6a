// Bad input of contact: numbers that make no sense are refused with a reason; obstacles faster than
// anything and bodies inside one another do no harm.
#include "support/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void expect(sinew_context *context, sinew_status status, const char *text) {
    assert_int_equal(status, SINEW_INVALID_ARGUMENT);
    if (!strstr(sinew_context_message(context), text)) {
        fail_msg("\"%s\" does not mention \"%s\"", sinew_context_message(context), text);
    }
}

static void test_numbers(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_TET4);
    const double bad[] = {-1, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sinew_contact_def def = sinew_default_contact_def();
        def.friction = bad[i];
        expect(t.context, sinew_world_set_contact(t.world, &def), "friction");
        def = sinew_default_contact_def();
        def.thickness = bad[i];
        expect(t.context, sinew_world_set_contact(t.world, &def), "thickness");

        sinew_obstacle_def ball = sinew_default_obstacle_def();
        ball.kind = SINEW_OBSTACLE_SPHERE;
        ball.radius = bad[i];
        expect(t.context, sinew_obstacle_create(t.world, &ball, NULL), "radius");
    }
    assert_false(sinew_world_get_contact(t.world, NULL));
    assert_int_equal(sinew_world_get_obstacle_count(t.world), 0);
    test_kinds_destroy(&t);
}

// A ball of 0.1 m crosses the bar, 1 m at a step: it stops in front of it, and the bar stays whole.
static void test_fast_obstacle(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_POSITIONS; kind++) {
        test_kinds t = test_kinds_create(kind);
        sinew_obstacle_def def = sinew_default_obstacle_def();
        def.kind = SINEW_OBSTACLE_SPHERE;
        def.radius = 0.1;
        def.position[2] = 0.5;
        sinew_obstacle *ball = NULL;
        assert_int_equal(sinew_obstacle_create(t.world, &def, &ball), SINEW_OK);

        int32_t count = sinew_body_get_surface(t.body)->point_count;
        double *x = calloc(3 * (size_t)count, sizeof *x);
        assert_non_null(x);
        for (int i = 0; i < 10; i++) {
            const double target[3] = {0, 0, 0.5 - (i + 1)};
            double now[3];
            assert_int_equal(sinew_obstacle_move(ball, target, def.rotation), SINEW_OK);
            if (sinew_world_step(t.world, NULL) != SINEW_OK) {
                fail_msg("%s: %s", test_kind_name(kind), sinew_context_message(t.context));
            }

            sinew_obstacle_get_pose(ball, now, NULL);
            sinew_body_compute_surface(t.body, x, NULL);
            for (int32_t v = 0; v < count; v++) {
                const double *p = x + 3 * v;
                double distance = hypot(hypot(p[0] - now[0], p[1] - now[1]), p[2] - now[2]);
                if (!(distance > 0.1)) {
                    fail_msg("%s: vertex %d is %g m inside the ball in step %d",
                             test_kind_name(kind), v, 0.1 - distance, i);
                }
            }
        }
        free(x);
        test_kinds_destroy(&t);
    }
}

// A bar at the very place of another: steps succeed, and positions stay finite.
static void test_same_place(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_TET4);
    sinew_contact_def def = sinew_default_contact_def();
    assert_int_equal(sinew_world_set_contact(t.world, &def), SINEW_OK);
    sinew_body *other = test_kinds_add(&t, TEST_TET4, (double[]){0.01, 0.02, 0.005});
    for (int i = 0; i < 20; i++) {
        if (sinew_world_step(t.world, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(t.context));
        }
    }
    sinew_measures measures;
    sinew_body_get_measures(other, &measures);
    assert_true(isfinite(measures.kinetic_energy) && isfinite(measures.elastic_energy));
    test_kinds_destroy(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_fast_obstacle),
        cmocka_unit_test(test_same_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
