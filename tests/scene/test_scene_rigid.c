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

#define ARM                                                                                        \
    "\"model\": \"rigid\", \"shape\": {\"kind\": \"box\", \"size\": [0.2, 0.1, 0.1], \"cells\": "  \
    "[2, 1, 1]}, \"rigid\": {\"mass\": 1}"

// Two arms on a held block: one follows its drive to 30 degrees, the other falls to its limit.
static const char arms[] =
    "{\"version\": 1, \"gravity\": [0, 0, -10], \"bodies\": ["
    "{\"name\": \"block\", " BOX ", \"rigid\": {\"held\": true}},"
    "{\"name\": \"a\", " ARM ", \"position\": [0.3, 0, 0]},"
    "{\"name\": \"b\", " ARM ", \"position\": [-0.3, 0, 0]}],"
    "\"joints\": [{\"kind\": \"hinge\", \"body\": \"a\", \"to\": \"block\", \"position\": [0.15, "
    "0, 0], "
    "\"axis\": [0, -1, 0], \"drive\": {\"degrees\": {\"keys\": [[0, 0], [0.2, 30]]}, "
    "\"stiffness\": 2000}}, {\"kind\": \"hinge\", \"body\": \"b\", \"to\": \"block\", "
    "\"position\": [-0.15, 0, 0], \"axis\": [0, 1, 0], \"limits\": [-20, 20]}]}";

static void test_drives(void **state) {
    (void)state;
    fixture f;
    make(&f, arms);
    assert_int_equal(f.status, SINEW_OK);
    run(&f, 100);

    // The drive gives way by the torque of the weight, 1 kg at 0.15 m, over its stiffness.
    const double degrees = acos(-1) / 180;
    double sag = 10 * 0.15 * cos(30 * degrees) / 2000;
    double angle = sinew_rigid_joint_get_angle(f.world->joints[0]);
    assert_true(fabs(angle - 30 * degrees + sag) < 0.02 * sag);

    // A limit holds within a thousandth of a radian.
    assert_true(fabs(sinew_rigid_joint_get_angle(f.world->joints[1]) + 20 * degrees) < 1e-3);
    destroy(&f);
}

// A snapshot from the middle of the motion continues in another world with the same bits.
static void test_drive_snapshot(void **state) {
    (void)state;
    fixture f, g;
    make(&f, arms);
    make(&g, arms);
    run(&f, 9);

    char bytes[8192];
    size_t size = sinew_world_get_snapshot_size(f.world->world);
    assert_true(size <= sizeof bytes);
    assert_int_equal(sinew_world_take_snapshot(f.world->world, bytes, size), SINEW_OK);
    run(&f, 10);

    assert_int_equal(sn_scene_world_restore(g.world, bytes, size), SINEW_OK);
    run(&g, 10);
    double position[2][3], rotation[2][4];
    for (int k = 0; k < 2; k++) {
        sinew_body *body = (k == 0 ? &f : &g)->world->members[1].body;
        assert_int_equal(sinew_frame_body_get_node(body, 0, position[k], rotation[k]), SINEW_OK);
    }
    assert_memory_equal(position[0], position[1], sizeof position[0]);
    assert_memory_equal(rotation[0], rotation[1], sizeof rotation[0]);
    destroy(&f);
    destroy(&g);
}

// Glue of a scene; one of two holds.
static void test_glue(void **state) {
    (void)state;
    fixture f;
    make(&f, "{\"version\": 1, \"gravity\": [0, 0, -10], \"bodies\": ["
             "{\"name\": \"top\", " BOX ", \"rigid\": {\"held\": true}},"
             "{\"name\": \"a\", " BOX ", \"position\": [0, 0, -0.2], \"rigid\": {\"mass\": 1}},"
             "{\"name\": \"b\", " BOX ", \"position\": [0, 0, 0.2], \"rigid\": {\"mass\": 3}}],"
             "\"glue\": [{\"body\": \"a\", \"to\": \"top\", \"strength\": 20},"
             "{\"body\": \"b\", \"to\": \"top\", \"strength\": 20, \"reach\": 0.01}]}");
    assert_int_equal(f.status, SINEW_OK);
    run(&f, 5);
    assert_false(sinew_glue_is_broken(f.world->glues[0]));
    assert_true(sinew_glue_is_broken(f.world->glues[1]));
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
    refuse("{\"version\": 1, \"bodies\": [{\"name\": \"a\", " BOX "}], \"joints\": [{\"kind\": "
           "\"fixed\", \"body\": \"a\", \"position\": [0, 0, 0], \"limits\": [0, 1]}, {\"kind\": "
           "\"hinge\", \"body\": \"a\", \"position\": [0, 0, 0], \"limits\": [20, 10], \"drive\": "
           "{\"degrees\": 10}}]}",
           3);
    refuse("{\"version\": 1, \"bodies\": [{\"name\": \"a\", " BOX "}], \"attachments\": "
           "[{\"body\": \"a\", \"where\": {\"all\": true}}]}",
           1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_motion), cmocka_unit_test(test_joints),
        cmocka_unit_test(test_drives), cmocka_unit_test(test_drive_snapshot),
        cmocka_unit_test(test_glue),   cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
