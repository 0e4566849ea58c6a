// Scenes with rigid bodies and joints: mass, motion, joints, attachments, and what is refused.
#include "scene/read_scene.h"

#include <math.h>
#include <string.h>

static void make(fixture *f, const char *text) {
    read_text(f, test_context(1), text, NULL, 0);
    build(f, NULL, NULL);
}

#define BOX                                                                                        \
    "\"model\": \"rigid\", \"shape\": {\"kind\": \"box\", \"size\": [0.2, 0.2, 0.2], \"cells\": "  \
    "[2, 2, 2]}"

// A table that rises carries a box; a soft cube hangs from it.
static void test_motion(void **state) {
    (void)state;
    fixture f;
    make(&f, "{\"version\": 1, \"contact\": {\"friction\": 0.5}, \"bodies\": ["
             "{\"name\": \"table\", " BOX ", \"position\": [0, 0, 1], \"rigid\": {\"motion\": "
             "{\"translate\": [0, 0, {\"keys\": [[0, 0], [0.5, 0.1]], \"smooth\": true}]}}},"
             "{\"name\": \"box\", " BOX ", \"position\": [0, 0, 1.201], \"rigid\": {\"mass\": 2}},"
             "{\"name\": \"hung\", \"shape\": {\"kind\": \"box\", \"size\": [0.1, 0.1, 0.1], "
             "\"cells\": [2, 2, 2]}, \"position\": [0, 0, 0.8]}],"
             "\"attachments\": [{\"body\": \"hung\", \"to\": \"table\", \"where\": {\"box\": "
             "{\"lower\": [-1, -1, 0.049]}}}]}");
    run(&f, 60);
    double x[3];
    const sn_scene_member *members = f.world->members;
    assert_int_equal(sinew_frame_body_get_node(members[0].body, 0, x, NULL), SINEW_OK);
    assert_true(fabs(x[2] - 1.1) < 1e-12);
    assert_int_equal(sinew_frame_body_get_node(members[1].body, 0, x, NULL), SINEW_OK);
    assert_true(x[2] > 1.3 && x[2] < 1.302);
    sinew_rigid_mass mass;
    assert_int_equal(sinew_rigid_body_get_mass(members[1].body, &mass), SINEW_OK);
    assert_true(fabs(mass.mass - 2) < 1e-14 && fabs(mass.inertia[0] - 2 * 0.08 / 12) < 1e-14);
    destroy(&f);
}

// A box swings from a hinge, with another fixed to it.
static void test_joints(void **state) {
    (void)state;
    fixture f;
    make(&f, "{\"version\": 1, \"units\": \"cm\", \"bodies\": [{\"name\": \"a\", \"model\": "
             "\"rigid\", \"shape\": {\"kind\": \"box\", \"size\": [20, 20, 20], \"cells\": [1, 1, "
             "1]}}, {\"name\": \"b\", \"model\": \"rigid\", \"shape\": {\"kind\": \"box\", "
             "\"size\": [20, 20, 20], \"cells\": [1, 1, 1]}, \"position\": [20, 0, 0]}],"
             "\"joints\": [{\"kind\": \"hinge\", \"body\": \"a\", \"position\": [-10, 0, 0], "
             "\"axis\": [0, 1, 0]}, {\"kind\": \"fixed\", \"body\": \"b\", \"to\": \"a\", "
             "\"position\": [10, 0, 0]}]}");
    run(&f, 40);
    double a[3], b[3];
    assert_int_equal(sinew_frame_body_get_node(f.world->members[0].body, 0, a, NULL), SINEW_OK);
    assert_int_equal(sinew_frame_body_get_node(f.world->members[1].body, 0, b, NULL), SINEW_OK);
    assert_true(fabs(hypot(a[0] + 0.1, a[2]) - 0.1) < 1e-5);
    assert_true(fabs(hypot(b[0] + 0.1, b[2]) - 0.3) < 1e-5);
    assert_true(b[2] < -0.1 && fabs(b[1]) < 1e-9);
    destroy(&f);
}

static void refuse(const char *text, int32_t mistakes) {
    fixture f;
    make(&f, text);
    assert_int_not_equal(f.status, SINEW_OK);
    assert_int_equal(f.mistakes.count, mistakes);
    destroy(&f);
}

static void test_mistakes(void **state) {
    (void)state;
    refuse("{\"version\": 1, \"bodies\": [{" BOX ", \"fixed\": [], \"rigid\": {\"mass\": -1}}]}",
           2);
    refuse("{\"version\": 1, \"bodies\": [{" BOX
           ", \"rigid\": {\"inertia\": [1, 1, 3, 0, 0, 0]}}]}",
           1);
    refuse("{\"version\": 1, \"bodies\": [{\"model\": \"rigid\", \"shape\": {\"kind\": "
           "\"rectangle\"}}]}",
           1);
    refuse("{\"version\": 1, \"bodies\": [{\"shape\": {\"kind\": \"box\"}, \"rigid\": {}}]}", 1);
    refuse("{\"version\": 1, \"bodies\": [{\"name\": \"a\", " BOX "}], \"joints\": [{\"kind\": "
           "\"screw\", \"body\": \"b\"}]}",
           3);
    refuse("{\"version\": 1, \"bodies\": [{\"name\": \"a\", " BOX "}], \"joints\": [{\"kind\": "
           "\"hinge\", \"body\": \"a\", \"position\": [0, 0, 0], \"axis\": [0, 0, 0]}]}",
           1);
    refuse("{\"version\": 1, \"bodies\": [{\"name\": \"a\", " BOX "}], \"attachments\": "
           "[{\"body\": \"a\", \"where\": {\"all\": true}}]}",
           1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_motion),
        cmocka_unit_test(test_joints),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
