// The table of friction: a pair of materials replaces the mean of both coefficients.
#include "support/kinds.h"

#include <math.h>

enum { RUBBER = 1, ICE = 2 };

typedef struct setting {
    test_kinds kinds;
    sinew_body *body;
    sinew_obstacle *floor;
} setting;

// A bar of rubber on a slope of ice, as a rotated gravity; all coefficients are 0.5.
static setting make_slope(double tangent) {
    setting s = {.kinds = test_kinds_create_world()};
    double angle = atan(tangent);
    sinew_world_def def = sinew_world_get_def(s.kinds.world);
    def.gravity[0] = 9.81 * sin(angle);
    def.gravity[2] = -9.81 * cos(angle);
    def.step = 0.01;
    assert_int_equal(sinew_world_set_def(s.kinds.world, &def), SINEW_OK);

    sinew_obstacle_def floor = sinew_default_obstacle_def();
    floor.material = ICE;
    assert_int_equal(sinew_obstacle_create(s.kinds.world, &floor, &s.floor), SINEW_OK);

    s.body = test_kinds_add(&s.kinds, TEST_AFFINE_FRAMES, (double[]){0, 0, 0.1012});
    sinew_body_contact_def contact = sinew_default_body_contact_def();
    contact.material = RUBBER;
    assert_int_equal(sinew_body_set_contact(s.body, &contact), SINEW_OK);
    return s;
}

// The speed along the slope after a second.
static double slide(setting *s) {
    sinew_measures measures;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(sinew_world_step(s->kinds.world, NULL), SINEW_OK);
    }
    sinew_body_get_measures(s->body, &measures);
    return measures.momentum[0] / measures.mass;
}

// The slope of tangent 0.3 holds the bar at 0.5 and not at 0.1. It takes some hundredths of a
// second until the bar has settled and friction has its force, hence 5 %.
static void test_pair(void **state) {
    (void)state;
    setting s = make_slope(0.3);
    assert_true(fabs(slide(&s)) < 0.05);

    assert_int_equal(sinew_world_set_friction(s.kinds.world, ICE, RUBBER, 0.1), SINEW_OK);
    double angle = atan(0.3);
    double before = slide(&s);
    double gained = slide(&s) - before;
    assert_true(fabs(gained / (9.81 * (sin(angle) - 0.1 * cos(angle))) - 1) < 0.05);

    // Without the entry the mean acts again, and the bar comes to rest.
    assert_int_equal(sinew_world_set_friction(s.kinds.world, RUBBER, ICE, -1), SINEW_OK);
    for (int i = 0; i < 4; i++) {
        before = slide(&s);
    }
    assert_true(fabs(before) < 0.1);
    test_kinds_destroy(&s.kinds);
}

static void test_entries(void **state) {
    (void)state;
    setting s = make_slope(0);
    sinew_world *world = s.kinds.world;
    assert_true(sinew_world_get_friction(world, RUBBER, ICE) < 0);
    assert_int_equal(sinew_world_set_friction(world, RUBBER, ICE, 0.2), SINEW_OK);
    assert_int_equal(sinew_world_set_friction(world, RUBBER, RUBBER, 1.1), SINEW_OK);
    assert_int_equal(sinew_world_set_friction(world, ICE, RUBBER, 0.3), SINEW_OK);
    assert_true(sinew_world_get_friction(world, RUBBER, ICE) == 0.3);
    assert_true(sinew_world_get_friction(world, RUBBER, RUBBER) == 1.1);
    assert_int_equal(sinew_obstacle_get_def(s.floor).material, ICE);

    // What is refused changes nothing.
    assert_int_equal(sinew_world_set_friction(world, 0, ICE, 0.2), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_world_set_friction(world, RUBBER, ICE, NAN), SINEW_INVALID_ARGUMENT);
    assert_true(sinew_world_get_friction(world, ICE, RUBBER) == 0.3);

    sinew_body_contact_def contact = sinew_default_body_contact_def();
    contact.material = -1;
    assert_int_equal(sinew_body_set_contact(s.body, &contact), SINEW_INVALID_ARGUMENT);
    test_kinds_destroy(&s.kinds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pair),
        cmocka_unit_test(test_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
