// Joints: the period of a physical pendulum, forces and torques of a bracket, momentum of bodies
// that are joined in flight, gaps, angles, and definitions that are refused.
#include "support/test.h"

#include "sinew/sinew.h"

#include <math.h>
#include <stdlib.h>

static const double gravity = 9.81;

typedef struct setting {
    sinew_context *context;
    sinew_world *world;
    sinew_mesh *bar; // 0.1 x 0.1 x 0.6, 6 kg
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

static setting make_setting(sinew_integrator integrator, double step, double weight) {
    setting s = {.context = test_context(1)};
    sinew_world_def world = sinew_default_world_def();
    world.gravity[2] = -weight;
    world.integrator = integrator;
    world.step = step;
    check(&s, sinew_world_create(s.context, &world, &s.world));

    sinew_shape_def shape = sinew_default_shape_def();
    shape.element = SINEW_ELEMENT_TRIANGLE;
    shape.size[0] = shape.size[1] = 0.1;
    shape.size[2] = 0.6;
    shape.cell_size = 0.1;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &s.bar));
    return s;
}

static void destroy_setting(setting *s) {
    sinew_world_destroy(s->world);
    sinew_mesh_destroy(s->bar);
    sinew_context_destroy(s->context);
}

static sinew_body *add_bar(const setting *s, double x, double z, double tilt) {
    sinew_rigid_body_def def = sinew_default_rigid_body_def();
    def.surface = s->bar;
    def.position[0] = x;
    def.position[2] = z;
    def.rotation[1] = sin(tilt / 2);
    def.rotation[3] = cos(tilt / 2);
    sinew_body *body;
    check(s, sinew_rigid_body_create(s->world, &def, &body));
    return body;
}

static void run(const setting *s, int32_t steps) {
    for (int32_t i = 0; i < steps; i++) {
        check(s, sinew_world_step(s->world, NULL));
    }
}

static void assert_close(double actual, double expected, double tolerance) {
    if (!(fabs(actual - expected) <= tolerance)) {
        fail_msg("%.12g is not %.12g within %g", actual, expected, tolerance);
    }
}

// A bar that swings about its upper end: T = 2 pi sqrt(I / (m g l)), and amplitude^2 / 16 longer.
static void test_pendulum(void **state) {
    (void)state;
    double tilt = 0.1, h = 0.005;
    setting s = make_setting(SINEW_INTEGRATOR_BDF2, h, gravity);
    sinew_body *bar = add_bar(&s, 0.3 * sin(tilt), 1 + 0.3 * cos(tilt), tilt);
    sinew_rigid_joint_def def = sinew_default_rigid_joint_def();
    def.kind = SINEW_RIGID_JOINT_HINGE;
    def.body = bar;
    def.axis[1] = 2;
    def.axis[2] = 0;
    def.position[0] = 0.6 * sin(tilt);
    def.position[2] = 1 + 0.6 * cos(tilt);
    sinew_rigid_joint *joint;
    check(&s, sinew_rigid_joint_create(s.world, &def, &joint));

    // Times at which it passes the middle, by the angle since the start.
    double passes[8], last = sinew_rigid_joint_get_angle(joint) + tilt, worst = 0;
    int32_t count = 0;
    assert_close(last, tilt, 1e-12);
    for (int32_t i = 1; count < 5 && i < 2000; i++) {
        run(&s, 1);
        double angle = sinew_rigid_joint_get_angle(joint) + tilt, gap;
        if (angle * last < 0) {
            passes[count++] = h * (i - angle / (angle - last));
        }
        last = angle;
        sinew_rigid_joint_get_position(joint, NULL, &gap);
        worst = fmax(worst, gap);
    }
    assert_int_equal(count, 5);

    double inertia = 6 * (0.01 + 0.36) / 12 + 6 * 0.09;
    double expected = 2 * acos(-1) * sqrt(inertia / (6 * gravity * 0.3)) * (1 + tilt * tilt / 16);
    assert_close((passes[4] - passes[0]) / 2, expected, 0.01 * expected);
    assert_true(worst < 1e-7); // [m] does not drift
    destroy_setting(&s);
}

// A bar that lies on a bracket: the joint carries its weight and its moment.
static void test_bracket(void **state) {
    (void)state;
    setting s = make_setting(SINEW_INTEGRATOR_IMPLICIT_EULER, 0.01, gravity);
    sinew_body *bar = add_bar(&s, 0.3, 0, acos(0)); // from x = 0 to 0.6
    sinew_body *wall = add_bar(&s, -0.06, 0, 0);
    check(&s, sinew_frame_body_hold(wall, 0, SINEW_HOLD_ALL));
    sinew_rigid_joint_def def = sinew_default_rigid_joint_def();
    def.body = bar;
    def.target = wall;
    sinew_rigid_joint *joint;
    check(&s, sinew_rigid_joint_create(s.world, &def, &joint));
    run(&s, 50);

    double force[3], torque[3], gap;
    check(&s, sinew_rigid_joint_get_force(joint, force, torque));
    assert_close(force[2], 6 * gravity, 1e-4 * 6 * gravity);
    assert_close(torque[1], -6 * gravity * 0.3, 1e-3 * 6 * gravity * 0.3);
    assert_close(torque[0], 0, 1e-6);
    assert_close(sinew_rigid_joint_get_angle(joint), 0, 0);
    sinew_rigid_joint_get_position(joint, NULL, &gap);
    assert_true(gap < 1e-6);

    // The joint goes with a body, and what it held falls.
    sinew_body_destroy(wall);
    run(&s, 10);
    double position[3];
    check(&s, sinew_frame_body_get_node(bar, 0, position, NULL));
    assert_true(position[2] < -0.03);
    destroy_setting(&s);
}

// A chain of three bars, hinged and fixed, spins in free flight.
static void test_flight(void **state) {
    (void)state;
    setting s = make_setting(SINEW_INTEGRATOR_IMPLICIT_EULER, 0.002, 0);
    sinew_body *bars[3];
    sinew_rigid_joint *joints[2];
    for (int k = 0; k < 3; k++) {
        bars[k] = add_bar(&s, 0, 0.6 * k, 0);
    }
    for (int k = 0; k < 2; k++) {
        sinew_rigid_joint_def def = sinew_default_rigid_joint_def();
        def.kind = k ? SINEW_RIGID_JOINT_FIXED : SINEW_RIGID_JOINT_HINGE;
        def.body = bars[k];
        def.target = bars[k + 1];
        def.axis[0] = 1;
        def.position[2] = 0.6 * k + 0.3;
        check(&s, sinew_rigid_joint_create(s.world, &def, &joints[k]));
    }
    check(&s, sinew_frame_body_set_velocity(bars[0], 0, (const double[3]){0, 1, 0},
                                            (const double[3]){2, 0, 1}));

    sinew_measures start, now;
    sinew_world_get_measures(s.world, &start);
    size_t size = sinew_world_get_snapshot_size(s.world);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    run(&s, 100);
    check(&s, sinew_world_take_snapshot(s.world, bytes, size));
    run(&s, 400);
    sinew_world_get_measures(s.world, &now);
    for (int k = 0; k < 3; k++) {
        double gap;
        assert_close(now.momentum[k], start.momentum[k], 1e-8);
        sinew_rigid_joint_get_position(joints[k % 2], NULL, &gap);
        assert_true(gap < 1e-5);
    }
    assert_true(fabs(sinew_rigid_joint_get_angle(joints[0])) > 0.1);

    uint64_t hash = sinew_world_get_hash(s.world);
    check(&s, sinew_world_restore_snapshot(s.world, bytes, size));
    run(&s, 400);
    assert_true(sinew_world_get_hash(s.world) == hash);
    sinew_rigid_joint_destroy(joints[0]);
    sinew_rigid_joint_destroy(NULL);
    run(&s, 1);
    free(bytes);
    destroy_setting(&s);
}

static void test_misuse(void **state) {
    (void)state;
    setting s = make_setting(SINEW_INTEGRATOR_IMPLICIT_EULER, 0.01, gravity);
    sinew_rigid_joint_def def = sinew_default_rigid_joint_def();
    assert_int_equal(sinew_rigid_joint_create(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.body = def.target = add_bar(&s, 0, 0, 0);
    assert_int_equal(sinew_rigid_joint_create(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.target = NULL;
    def.kind = SINEW_RIGID_JOINT_HINGE;
    def.axis[2] = NAN;
    assert_int_equal(sinew_rigid_joint_create(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.axis[2] = 0;
    assert_int_equal(sinew_rigid_joint_create(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.axis[2] = 1;
    def.reach = -1;
    assert_int_equal(sinew_rigid_joint_create(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.reach = 0;
    def.stiffness = -1; // found by the first attachment: nothing is left behind
    assert_int_equal(sinew_rigid_joint_create(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.stiffness = 0;
    def.filled = 0;
    assert_int_equal(sinew_rigid_joint_create(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_world_detach(s.world, def.body, NULL), 0);
    destroy_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_bracket),
        cmocka_unit_test(test_flight),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
