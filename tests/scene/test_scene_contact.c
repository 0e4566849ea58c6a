// Scenes with contact: the ground, obstacles, motions, what a body says, and what is refused.
#include "scene/read_scene.h"

#include <math.h>
#include <string.h>

#define BODY                                                                                       \
    "\"bodies\": [{\"shape\": {\"kind\": \"box\", \"size\": [0.2, 0.2, 0.2], \"cells\": [2, 2, "   \
    "2]},"                                                                                         \
    " \"position\": [0, 0, 0.3]"

static void make(fixture *f, const char *text) {
    read_text(f, test_context(1), text, NULL, 0);
    build(f, NULL, NULL);
}

static double lowest_after(fixture *f, int steps, int axis, double sign) {
    run(f, steps);

    const sinew_body *body = f->world->members[0].body;
    const double *x = sinew_body_get_positions(body);
    double low = INFINITY;
    for (int32_t i = 0; i < sinew_body_get_node_count(body); i++) {
        low = fmin(low, sign * x[3 * (size_t)i + (size_t)axis]);
    }
    return low;
}

static void test_ground(void **state) {
    (void)state;
    fixture f;
    make(&f, "{\"version\": 1, " BODY "}], \"contact\": {\"ground\": true}}");
    assert_true(f.scene.preview.ground && f.scene.preview.ground_height == 0);
    double low = lowest_after(&f, 100, 2, 1);
    assert_true(low > 0 && low < 2e-3);
    destroy(&f);

    // Across gravity, at a height; lengths are in the unit of the scene.
    make(&f, "{\"version\": 1, \"units\": \"cm\", \"gravity\": [9.81, 0, 0], "
             "\"bodies\": [{\"shape\": {\"kind\": \"box\", \"size\": [20, 20, 20], \"cells\": [2, "
             "2, 2]}}], \"contact\": {\"ground\": {\"height\": -30, \"friction\": 0}}}");
    low = lowest_after(&f, 100, 0, -1);
    assert_true(low > -0.3 && low < -0.298);
    destroy(&f);

    // No ground: nothing is drawn, and the body falls.
    make(&f, "{\"version\": 1, " BODY "}]}");
    assert_false(f.scene.preview.ground);
    assert_true(lowest_after(&f, 100, 2, 1) < -1);
    destroy(&f);
}

static void test_obstacles(void **state) {
    (void)state;
    fixture f;
    make(&f,
         "{\"version\": 1, " BODY "}], \"obstacles\": [{\"kind\": \"box\", \"size\": [1, 1, "
         "0.2], \"motion\": {\"translate\": [0, 0, {\"keys\": [[0, 0], [1, 0.5]]}]}}, "
         "{\"kind\": \"capsule\", \"radius\": 0.1, \"length\": 0.5, \"position\": [3, 0, 0]}]}");
    double low = lowest_after(&f, 100, 2, 1);
    assert_true(low > 0.6 && low < 0.605);
    assert_int_equal(sinew_world_get_obstacle_count(f.world->world), 2);
    destroy(&f);

    make(&f, "{\"version\": 1, " BODY ", \"contact\": false}], \"contact\": {\"ground\": true}}");
    assert_true(lowest_after(&f, 100, 2, 1) < -1);
    destroy(&f);
}

static void expect_mistake(const char *text, const char *words) {
    fixture f;
    make(&f, text);
    assert_int_not_equal(f.status, SINEW_OK);
    assert_int_equal(f.mistakes.count, 1);
    if (!strstr(f.mistakes.items[0].message, words)) {
        fail_msg("\"%s\" does not say \"%s\"", f.mistakes.items[0].message, words);
    }
    destroy(&f);
}

static void test_mistakes(void **state) {
    (void)state;
    expect_mistake("{\"version\": 1, " BODY "}], \"contact\": {\"friction\": -1}}", "0");
    expect_mistake("{\"version\": 1, " BODY "}], \"contact\": {\"mode\": \"reliabel\"}}",
                   "reliable");
    expect_mistake("{\"version\": 1, " BODY "}], \"obstacles\": [{\"kind\": \"cone\"}]}", "plane");
    expect_mistake("{\"version\": 1, " BODY "}], \"obstacles\": [{\"kind\": \"sphere\", "
                   "\"radius\": -2}]}",
                   "above 0");
    expect_mistake("{\"version\": 1, \"integrator\": \"midpoint\", " BODY
                   "}], \"contact\": {\"ground\": true}}",
                   "bdf2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ground),
        cmocka_unit_test(test_obstacles),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
