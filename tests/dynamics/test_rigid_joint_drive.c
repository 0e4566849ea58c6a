// Drives and limits of hinges: the balance of a drive and a weight, its largest torque, a bar that
// falls onto a limit and rests there, between bodies and against the world, and what is refused.
#include "support/test.h"

#include "sinew/sinew.h"

#include <math.h>

static const double gravity = 9.81;
static const double length = 0.6; // of the bar, which weighs 6 kg

typedef struct setting {
    sinew_context *context;
    sinew_world *world;
    sinew_mesh *bar;
    sinew_body *body, *base;
    sinew_rigid_joint *hinge;
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

static sinew_body *add_bar(const setting *s, double z, bool held) {
    sinew_rigid_body_def def = sinew_default_rigid_body_def();
    def.surface = s->bar;
    def.position[2] = z;
    def.held = held;
    def.mass_damping = 4;
    sinew_body *body = NULL;
    check(s, sinew_rigid_body_create(s->world, &def, &body));
    return body;
}

// A bar that hangs from a hinge about y, at a held bar above it or at the world.
static setting make_setting(bool on_body) {
    setting s = {.context = test_context(1)};
    sinew_world_def world = sinew_default_world_def();
    check(&s, sinew_world_create(s.context, &world, &s.world));
    sinew_shape_def shape = sinew_default_shape_def();
    shape.element = SINEW_ELEMENT_TRIANGLE;
    shape.size[0] = shape.size[1] = 0.1;
    shape.size[2] = length;
    shape.cell_size = 0.1;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &s.bar));

    s.body = add_bar(&s, -length / 2, false);
    s.base = on_body ? add_bar(&s, length / 2, true) : NULL;
    sinew_rigid_joint_def def = sinew_default_rigid_joint_def();
    def.kind = SINEW_RIGID_JOINT_HINGE;
    def.body = s.body;
    def.target = s.base;
    def.axis[1] = 1;
    def.axis[2] = 0;
    def.reach = 0.2;
    check(&s, sinew_rigid_joint_create(s.world, &def, &s.hinge));
    return s;
}

static void destroy_setting(setting *s) {
    sinew_world_destroy(s->world);
    sinew_mesh_destroy(s->bar);
    sinew_context_destroy(s->context);
}

static void run(const setting *s, int steps) {
    for (int i = 0; i < steps; i++) {
        check(s, sinew_world_step(s->world, NULL));
    }
}

static void set_drive(const setting *s, double angle, double stiffness, double largest) {
    sinew_rigid_joint_drive drive = sinew_default_rigid_joint_drive();
    drive.angle = angle;
    drive.stiffness = stiffness;
    drive.largest_torque = largest;
    check(s, sinew_rigid_joint_set_drive(s->hinge, &drive));
}

static double weight_torque(double angle) {
    return 6 * gravity * length / 2 * sin(angle);
}

// At rest the drive carries the weight: k sin(aim - angle) = m g l sin(angle). A thousandth is left
// for a motion that still fades, by exp(-2 s / 0.5 s) in 2 s, a second time with another angle.
static void test_balance(void **state) {
    (void)state;
    for (int on_body = 0; on_body < 2; on_body++) {
        setting s = make_setting(on_body);
        for (int turn = 0; turn < 2; turn++) {
            double aim = turn ? -0.8 : 0.5;
            set_drive(&s, aim, 60, 0);
            run(&s, TEST_SANITIZED ? 20 : 400);
            double angle = sinew_rigid_joint_get_angle(s.hinge);
            double torque = sinew_rigid_joint_get_drive_torque(s.hinge);
            if (!TEST_SANITIZED) {
                assert_true(fabs(60 * sin(aim - angle) / weight_torque(angle) - 1) < 1e-3);
                assert_true(fabs(torque / weight_torque(angle) - 1) < 1e-3);
            }
        }
        destroy_setting(&s);
    }
}

// A drive that is too weak lifts the bar to where its torque suffices, and never has more.
static void test_largest_torque(void **state) {
    (void)state;
    setting s = make_setting(false);
    set_drive(&s, 2, 1e5, 5);
    for (int i = 0; i < (TEST_SANITIZED ? 10 : 300); i++) {
        run(&s, 1);
        assert_true(fabs(sinew_rigid_joint_get_drive_torque(s.hinge)) < 5 * 1.001);
    }
    double torque = sinew_rigid_joint_get_drive_torque(s.hinge);
    double angle = sinew_rigid_joint_get_angle(s.hinge);
    assert_true(TEST_SANITIZED || fabs(torque / weight_torque(angle) - 1) < 1e-2);
    assert_true(TEST_SANITIZED || (torque > 2 && angle > 0.05));
    destroy_setting(&s);
}

// Driven against one limit and then against the other, the bar stops there. The step that reaches a
// limit exceeds it by what torque adds, at most (90 + 18 N m) / 0.72 kg m^2 h^2 = 0.015 rad; then
// the bar stays within 1e-3.
static void test_limits(void **state) {
    (void)state;
    for (int on_body = 0; on_body < 2; on_body++) {
        setting s = make_setting(on_body);
        check(&s, sinew_rigid_joint_set_limits(s.hinge, -0.3, 1));
        for (int side = 0; side < 2; side++) {
            set_drive(&s, side ? -2 : 2, 90, 0);
            for (int i = 0; i < (TEST_SANITIZED ? 20 : 150); i++) {
                run(&s, 1);
                double angle = sinew_rigid_joint_get_angle(s.hinge);
                assert_true(angle < 1 + 0.016 && angle > -0.3 - 0.016);
            }
            double angle = sinew_rigid_joint_get_angle(s.hinge);
            assert_true(TEST_SANITIZED || fabs(angle - (side ? -0.3 : 1)) < 1e-3);
        }

        set_drive(&s, 0, 0, 0);
        // Without limits it hangs straight.
        check(&s, sinew_rigid_joint_set_limits(s.hinge, -INFINITY, INFINITY));
        run(&s, TEST_SANITIZED ? 5 : 300);
        assert_true(TEST_SANITIZED || fabs(sinew_rigid_joint_get_angle(s.hinge)) < 1e-2);
        destroy_setting(&s);
    }
}

static void test_refusals(void **state) {
    (void)state;
    setting s = make_setting(true);
    sinew_rigid_joint_drive drive = sinew_default_rigid_joint_drive();
    drive.angle = 4;
    assert_int_equal(sinew_rigid_joint_set_drive(s.hinge, &drive), SINEW_INVALID_ARGUMENT);
    drive.angle = 0;
    drive.stiffness = -1;
    assert_int_equal(sinew_rigid_joint_set_drive(s.hinge, &drive), SINEW_INVALID_ARGUMENT);
    drive.stiffness = NAN;
    assert_int_equal(sinew_rigid_joint_set_drive(s.hinge, &drive), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_rigid_joint_set_limits(s.hinge, 1, 0), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_rigid_joint_set_limits(s.hinge, NAN, 0), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_rigid_joint_set_limits(s.hinge, 0, 4), SINEW_INVALID_ARGUMENT);
    assert_true(sinew_rigid_joint_get_drive_torque(s.hinge) == 0);

    sinew_rigid_joint_def def = sinew_default_rigid_joint_def();
    def.body = add_bar(&s, 2, false);
    sinew_rigid_joint *fixed = NULL;
    check(&s, sinew_rigid_joint_create(s.world, &def, &fixed));
    drive.stiffness = 1;
    assert_int_equal(sinew_rigid_joint_set_drive(fixed, &drive), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_rigid_joint_set_limits(fixed, -1, 1), SINEW_INVALID_ARGUMENT);

    // Everything goes with the joint, and the joint with a body.
    check(&s, sinew_rigid_joint_set_drive(s.hinge, &drive));
    check(&s, sinew_rigid_joint_set_limits(s.hinge, -1, 1));
    run(&s, 1);
    sinew_rigid_joint_destroy(fixed);
    sinew_body_destroy(s.base);
    run(&s, 1);
    destroy_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balance),
        cmocka_unit_test(test_largest_torque),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
