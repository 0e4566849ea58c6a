// Rigid bodies: mass and inertia, free rotation, contact with obstacles, soft bodies and each other
// against analytic motions, attachments, threads, snapshots, and definitions that are refused.
#include "support/hash.h"
#include "support/test.h"

#include "sinew/sinew.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double gravity = 9.81;

static void assert_close(double actual, double expected, double tolerance) {
    if (!(fabs(actual - expected) <= tolerance)) {
        fail_msg("%.12g is not %.12g within %g", actual, expected, tolerance);
    }
}

typedef struct setting {
    sinew_context *context;
    sinew_world *world;
    sinew_mesh *box, *ball;
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

static sinew_mesh *make_surface(const setting *s, sinew_shape kind, const double size[3],
                                double cell) {
    sinew_shape_def shape = sinew_default_shape_def();
    shape.shape = kind;
    shape.element = SINEW_ELEMENT_TRIANGLE;
    memcpy(shape.size, size, sizeof shape.size);
    shape.cell_size = cell;
    sinew_mesh *mesh;
    check(s, sinew_mesh_create_shape(s->context, &shape, &mesh));
    return mesh;
}

static setting make_setting(sinew_context *context) {
    setting s = {.context = context};

    sinew_world_def world = sinew_default_world_def();
    world.gravity[2] = 0;
    check(&s, sinew_world_create(s.context, &world, &s.world));
    s.box = make_surface(&s, SINEW_SHAPE_BOX, (double[3]){0.2, 0.3, 0.4}, 0.2);
    s.ball = make_surface(&s, SINEW_SHAPE_SPHERE, (double[3]){0.2, 0.2, 0.2}, 0.02);
    return s;
}

static void destroy_world(setting *s) {
    sinew_world_destroy(s->world);
    sinew_mesh_destroy(s->box);
    sinew_mesh_destroy(s->ball);
}

static void destroy_setting(setting *s) {
    destroy_world(s);
    sinew_context_destroy(s->context);
}

// A slope as a level floor under inclined gravity.
static void add_slope(const setting *s, sinew_contact_mode mode, double angle, double friction) {
    sinew_contact_def contact = sinew_default_contact_def();
    contact.mode = mode;
    contact.friction = friction;
    check(s, sinew_world_set_contact(s->world, &contact));
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    check(s, sinew_obstacle_create(s->world, &floor, NULL));

    sinew_world_def def = sinew_world_get_def(s->world);
    def.gravity[0] = gravity * sin(angle);
    def.gravity[2] = -gravity * cos(angle);
    check(s, sinew_world_set_def(s->world, &def));
}

static void run(const setting *s, int32_t steps) {
    for (int32_t i = 0; i < steps; i++) {
        check(s, sinew_world_step(s->world, NULL));
    }
}

static void test_mass(void **state) {
    (void)state;
    setting s = make_setting(test_context(1));
    sinew_rigid_body_def def = sinew_default_rigid_body_def();
    def.surface = s.box;
    sinew_body *body;
    check(&s, sinew_rigid_body_create(s.world, &def, &body));
    assert_true(sinew_body_is_rigid(body));
    sinew_rigid_mass mass;
    check(&s, sinew_rigid_body_get_mass(body, &mass));

    // A cuboid: m / 12 (b^2 + c^2).
    const double inertia[6] = {2 * (0.09 + 0.16), 2 * (0.04 + 0.16), 2 * (0.04 + 0.09)};
    assert_close(mass.mass, 24, 1e-11);
    for (int k = 0; k < 6; k++) {
        assert_close(mass.inertia[k], inertia[k], 1e-12);
    }

    // The same far from the origin of the rest shape, with a mass given.
    sinew_mesh *far;
    check(&s, sinew_mesh_copy(s.context, s.box, &far));
    double *points = malloc(3 * (size_t)far->point_count * sizeof *points);
    assert_non_null(points);
    for (int32_t i = 0; i < 3 * far->point_count; i++) {
        points[i] = far->points[i] + 100;
    }
    sinew_mesh moved = *far;
    moved.points = points;
    def.surface = &moved;
    def.mass = 12;
    check(&s, sinew_rigid_body_create(s.world, &def, &body));
    check(&s, sinew_rigid_body_get_mass(body, &mass));
    for (int k = 0; k < 3; k++) {
        assert_close(mass.center[k], 100, 1e-11);
        assert_close(mass.inertia[k], inertia[k] / 2, 1e-11);
    }

    // Both given. A ball's inertia is that of a polyhedron otherwise.
    const double given[6] = {0.016, 0.016, 0.016};
    def = sinew_default_rigid_body_def();
    def.surface = s.ball;
    def.mass = 4;
    def.inertia = given;
    def.center = (const double[3]){0.01, 0, 0};
    check(&s, sinew_rigid_body_create(s.world, &def, &body));
    check(&s, sinew_rigid_body_get_mass(body, &mass));
    assert_close(mass.center[0], 0.01, 0);
    for (int k = 0; k < 6; k++) {
        assert_close(mass.inertia[k], given[k], 1e-15);
    }

    free(points);
    sinew_mesh_destroy(far);
    destroy_setting(&s);
}

// A cuboid that spins about its middle axis, which is unstable: it tumbles, and keeps momentum,
// angular momentum and, for the mean of a tumble, energy.
static void test_free_spin(void **state) {
    (void)state;
    setting s = make_setting(test_context(1));
    sinew_rigid_body_def def = sinew_default_rigid_body_def();
    def.surface = s.box;
    def.position[2] = 0.5;
    def.velocity[0] = 1;
    def.angular_velocity[1] = 10;
    def.angular_velocity[2] = 0.1;
    sinew_body *body;
    check(&s, sinew_rigid_body_create(s.world, &def, &body));

    sinew_measures start, now;
    sinew_world_get_measures(s.world, &start);
    double least = 1;
    for (int32_t i = 0; i < 1000; i++) {
        run(&s, 1);
        sinew_world_get_measures(s.world, &now);
        double spin[3];
        check(&s, sinew_frame_body_get_velocity(body, 0, NULL, spin));
        least = fmin(least, spin[1] / 10);
        for (int k = 0; k < 3; k++) {
            assert_close(now.angular_momentum[k], start.angular_momentum[k], 1e-10);
            assert_close(now.momentum[k], start.momentum[k], 1e-10);
        }
        // The implicit midpoint rule on the rotation oscillates about the energy: by 1e-3 here.
        assert_close(now.kinetic_energy, start.kinetic_energy, 2e-3 * start.kinetic_energy);
    }
    double position[3];
    check(&s, sinew_frame_body_get_node(body, 0, position, NULL));
    assert_close(position[0], 10, 1e-9);
    assert_true(least < 1 - 1e-3);
    destroy_setting(&s);
}

// Above tan = mu a box accelerates by g (sin - mu cos); below it stays.
static void test_slope(void **state) {
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        for (int sticks = 0; sticks < 2; sticks++) {
            setting s = make_setting(test_context(1));
            double angle = 0.3;
            double friction = sticks ? 1.05 * tan(angle) : 0.2;
            add_slope(&s, mode ? SINEW_CONTACT_RELIABLE : SINEW_CONTACT_INTERACTIVE, angle,
                      friction);
            sinew_rigid_body_def def = sinew_default_rigid_body_def();
            def.surface = s.box;
            def.rotation[1] = sqrt(0.5); // on its largest face
            def.rotation[3] = sqrt(0.5);
            def.position[2] = 0.1005;
            sinew_body *body;
            check(&s, sinew_rigid_body_create(s.world, &def, &body));

            double before[3], after[3];
            run(&s, 20); // until it sits
            check(&s, sinew_frame_body_get_velocity(body, 0, before, NULL));
            run(&s, 50);
            check(&s, sinew_frame_body_get_velocity(body, 0, after, NULL));
            double acceleration = (after[0] - before[0]) / 0.5;
            double expected = gravity * (sin(angle) - friction * cos(angle));
            if (sticks) {
                assert_true(fabs(after[0]) < 1e-3); // the speed below which friction is smoothed
            } else {
                assert_close(acceleration, expected, 0.005 * expected);
            }
            destroy_setting(&s);
        }
    }
}

// A ball rolls down a slope with 5/7 g sin. It is a polyhedron here, of edges a fifteenth of its
// radius, but weighs as a ball.
static void test_rolling(void **state) {
    (void)state;
    setting s = make_setting(test_context(1));
    sinew_mesh *fine = make_surface(&s, SINEW_SHAPE_SPHERE, (double[3]){0.2, 0.2, 0.2}, 0.2 / 30);
    double angle = 0.2, mass = 4, radius = 0.1;
    double inertia[6] = {0.4 * mass * radius * radius, 0.4 * mass * radius * radius,
                         0.4 * mass * radius * radius};
    add_slope(&s, SINEW_CONTACT_RELIABLE, angle, 0.5);
    sinew_rigid_body_def def = sinew_default_rigid_body_def();
    def.surface = fine;
    def.mass = mass;
    def.inertia = inertia;
    def.position[2] = radius + 3e-4;
    sinew_body *body;
    check(&s, sinew_rigid_body_create(s.world, &def, &body));
    run(&s, 100);

    double velocity[3], spin[3];
    check(&s, sinew_frame_body_get_velocity(body, 0, velocity, spin));
    double expected = 5.0 / 7 * gravity * sin(angle);
    assert_close(velocity[0], expected, 0.01 * expected);
    assert_close(spin[1] * radius, velocity[0], 0.01 * expected);
    sinew_mesh_destroy(fine);
    destroy_setting(&s);
}

// A box on another, on the floor, with a soft cube between two others.
static int32_t add_pile(const setting *s, sinew_body *bodies[5]) {
    for (int32_t i = 0; i < 4; i++) {
        sinew_rigid_body_def def = sinew_default_rigid_body_def();
        def.surface = s->box;
        def.position[0] = i < 2 ? 0 : 1;
        def.position[2] = i == 0 ? 0.201 : i == 1 ? 0.605 : i == 2 ? 0.201 : 0.71;
        def.rotation[2] = sin(0.2 * i);
        def.rotation[3] = cos(0.2 * i);
        check(s, sinew_rigid_body_create(s->world, &def, &bodies[i]));
    }

    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = shape.size[1] = 0.2;
    shape.size[2] = 0.1;
    shape.cell_size = 0.1;
    sinew_mesh *mesh;
    check(s, sinew_mesh_create_shape(s->context, &shape, &mesh));
    sinew_material_def material = sinew_default_material_def();
    material.young = 2e5;
    material.poisson = 0.3;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.materials = &material;
    def.material_count = 1;
    def.stiffness_damping = 0.005;
    def.position[0] = 1;
    def.position[2] = 0.455;
    check(s, sinew_body_create(s->world, &def, &bodies[4]));
    sinew_mesh_destroy(mesh);
    return 5;
}

// Piles come to rest and stay there: multipliers that follow the gap too eagerly make them rock.
static void test_pile_rests(void **state) {
    (void)state;
    setting s = make_setting(test_context(1));
    sinew_body *bodies[5];
    add_slope(&s, SINEW_CONTACT_INTERACTIVE, 0, 0.5);
    add_pile(&s, bodies);
    run(&s, 300);
    for (int32_t i = 0; i < 300; i++) {
        run(&s, 1);
        sinew_measures measures;
        sinew_world_get_measures(s.world, &measures);
        assert_true(measures.kinetic_energy < 1e-5);
    }

    // Contact carries the weight.
    sinew_body_contact contact;
    double weight = 0;
    for (int32_t i = 0; i < 4; i += 2) {
        check(&s, sinew_body_get_contact(bodies[i], &contact));
        weight += contact.force[2];
    }
    // Each of the lower two: the net force on it is its weight.
    assert_close(weight, 2 * 24 * gravity, 1e-3 * 48 * gravity);
    destroy_setting(&s);
}

// Linear momentum of a collision is exact.
static void test_collision(void **state) {
    (void)state;
    setting s = make_setting(test_context(1));
    sinew_contact_def contact = sinew_default_contact_def();
    check(&s, sinew_world_set_contact(s.world, &contact));
    for (int32_t i = 0; i < 2; i++) {
        sinew_rigid_body_def def = sinew_default_rigid_body_def();
        def.surface = s.box;
        def.position[0] = 0.3 * i;
        def.position[1] = 0.05 * i;
        def.rotation[2] = sin(0.2 * i);
        def.rotation[3] = cos(0.2 * i);
        def.velocity[0] = i ? -1 : 2;
        check(&s, sinew_rigid_body_create(s.world, &def, NULL));
    }

    sinew_measures start, end;
    sinew_world_get_measures(s.world, &start);
    run(&s, 60);
    sinew_world_get_measures(s.world, &end);
    for (int k = 0; k < 3; k++) {
        assert_close(end.momentum[k], start.momentum[k], 1e-12);
    }
    assert_true(end.kinetic_energy < 0.9 * start.kinetic_energy);
    destroy_setting(&s);
}

static uint64_t run_pile(sinew_context *context, void *user) {
    (void)user;
    setting s = make_setting(context);
    sinew_body *bodies[5];
    add_slope(&s, SINEW_CONTACT_INTERACTIVE, 0.1, 0.5);
    add_pile(&s, bodies);
    run(&s, 40);
    uint64_t hash = sinew_world_get_hash(s.world);
    destroy_world(&s);
    return hash;
}

static void test_threads(void **state) {
    (void)state;
    test_over_threads("pile of rigid bodies", run_pile, NULL);
}

static void test_snapshot(void **state) {
    (void)state;
    setting s = make_setting(test_context(1));
    sinew_body *bodies[5];
    add_slope(&s, SINEW_CONTACT_INTERACTIVE, 0.1, 0.5);
    add_pile(&s, bodies);
    run(&s, 20);
    size_t size = sinew_world_get_snapshot_size(s.world);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    check(&s, sinew_world_take_snapshot(s.world, bytes, size));
    run(&s, 20);
    uint64_t hash = sinew_world_get_hash(s.world);
    check(&s, sinew_world_restore_snapshot(s.world, bytes, size));
    run(&s, 20);
    assert_true(sinew_world_get_hash(s.world) == hash);
    free(bytes);
    destroy_setting(&s);
}

// A body that is held follows its targets, carries what lies on it, and its points and rays move
// along. An attachment hangs a body from it.
static void test_held(void **state) {
    (void)state;
    setting s = make_setting(test_context(1));
    add_slope(&s, SINEW_CONTACT_INTERACTIVE, 0, 0.8);
    sinew_rigid_body_def def = sinew_default_rigid_body_def();
    def.surface = s.box;
    def.held = true;
    def.position[2] = 1;
    sinew_body *table, *box, *hung;
    check(&s, sinew_rigid_body_create(s.world, &def, &table));
    def.held = false;
    def.position[2] = 1.402;
    check(&s, sinew_rigid_body_create(s.world, &def, &box));
    def.position[2] = 0.5;
    check(&s, sinew_rigid_body_create(s.world, &def, &hung));

    sinew_attachment_def tie = sinew_default_attachment_def();
    tie.body = hung;
    tie.rest[2] = 0.25;
    tie.target = table;
    sinew_attachment *attachment;
    check(&s, sinew_world_attach(s.world, &tie, &attachment));
    sinew_point *point;
    check(&s, sinew_point_create(table, (const double[3]){0.1, 0.15, 0.2}, &point));
    assert_close(sinew_point_get_distance(point), 0, 1e-15);

    double target[3] = {0, 0, 1};
    for (int32_t i = 1; i <= 100; i++) {
        target[0] = 0.3 * (1 - cos(0.01 * i)); // at most 0.3 m/s^2
        check(&s, sinew_frame_body_move(table, 0, target, NULL));
        run(&s, 1);
    }
    double position[3], force[3], tied[3], to[3];
    check(&s, sinew_frame_body_get_node(table, 0, position, NULL));
    assert_close(position[0], target[0], 1e-15);
    check(&s, sinew_frame_body_get_node(box, 0, position, NULL));
    assert_close(position[0], target[0], 2e-3); // it creeps
    check(&s, sinew_point_get_position(point, position));
    assert_close(position[0], target[0] + 0.1, 1e-14);
    sinew_attachment_get_positions(attachment, tied, to);
    assert_close(tied[0], to[0], 1e-6);
    check(&s, sinew_frame_body_get_reaction(table, 0, force, NULL));
    assert_close(force[2], 3 * 24 * gravity, 0.02 * 72 * gravity);

    sinew_surface_hit hit;
    check(&s, sinew_world_cast_ray(s.world, (const double[3]){target[0], 0, 5},
                                   (const double[3]){0, 0, -1}, INFINITY, &hit));
    assert_ptr_equal(hit.body, box);
    destroy_setting(&s);
}

static void refuse(const setting *s, const sinew_rigid_body_def *def, sinew_status expected) {
    sinew_body *body = NULL;
    int32_t count = sinew_world_get_body_count(s->world);
    assert_int_equal(sinew_rigid_body_create(s->world, def, &body), expected);
    assert_int_equal(sinew_world_get_body_count(s->world), count);
    assert_true(strlen(sinew_context_message(s->context)) > 0);
}

static void test_misuse(void **state) {
    (void)state;
    setting s = make_setting(test_context(1));
    sinew_rigid_body_def good = sinew_default_rigid_body_def();
    good.surface = s.box;
    sinew_rigid_body_def bad = good;
    bad.surface = NULL;
    refuse(&s, &bad, SINEW_INVALID_ARGUMENT);
    bad = good;
    bad.density = 0;
    refuse(&s, &bad, SINEW_INVALID_ARGUMENT);
    bad = good;
    bad.mass = -1;
    refuse(&s, &bad, SINEW_INVALID_ARGUMENT);
    bad = good;
    bad.angular_velocity[1] = NAN;
    refuse(&s, &bad, SINEW_INVALID_ARGUMENT);
    bad = good;
    bad.inertia = (const double[6]){1, 1, 3, 0, 0, 0}; // more than the sum of the others
    refuse(&s, &bad, SINEW_INVALID_ARGUMENT);
    bad = good;
    bad.inertia = (const double[6]){1, 1, NAN, 0, 0, 0};
    refuse(&s, &bad, SINEW_INVALID_ARGUMENT);

    // Open, and inside out.
    sinew_mesh open = *s.box;
    open.element_count--;
    bad = good;
    bad.surface = &open;
    refuse(&s, &bad, SINEW_INVALID_DATA);
    int32_t *indices = malloc(3 * (size_t)s.box->element_count * sizeof *indices);
    assert_non_null(indices);
    for (int32_t i = 0; i < s.box->element_count; i++) {
        for (int k = 0; k < 3; k++) {
            indices[3 * i + k] = s.box->indices[3 * i + 2 - k];
        }
    }
    sinew_mesh inverted = *s.box;
    inverted.indices = indices;
    bad.surface = &inverted;
    refuse(&s, &bad, SINEW_INVALID_DATA);
    free(indices);

    // Calls for other bodies.
    sinew_body *body;
    check(&s, sinew_rigid_body_create(s.world, &good, &body));
    sinew_material_def material = sinew_default_material_def();
    assert_int_equal(sinew_body_set_material(body, 0, &material), SINEW_UNSUPPORTED);
    assert_int_equal(sinew_frame_body_hold(body, 1, SINEW_HOLD_ALL), SINEW_INVALID_ARGUMENT);
    assert_null(sinew_frame_body_get_voxels(body));
    destroy_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mass),       cmocka_unit_test(test_free_spin),
        cmocka_unit_test(test_slope),      cmocka_unit_test(test_rolling),
        cmocka_unit_test(test_pile_rests), cmocka_unit_test(test_collision),
        cmocka_unit_test(test_threads),    cmocka_unit_test(test_snapshot),
        cmocka_unit_test(test_held),       cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
