// Position dynamics with contact and attachments: a block on a slope, drop and rest, stacks and
// collisions without intersections, self contact, springs and ties, the same bits for any number of
// threads and after a snapshot.
#include "support/test.h"
#include "support/touch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BODIES = 4 };

typedef struct setting {
    sinew_context *context;
    sinew_world *world;
    sinew_body *bodies[MOST_BODIES];
    int32_t count;
    sinew_mesh *cube;
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

// Gravity at an angle takes the place of a slope.
static setting make_setting(int32_t threads, double gravity, double angle, bool self) {
    setting s = {.context = test_context(threads)};
    sinew_world_def world = sinew_default_world_def();
    world.gravity[0] = gravity * sin(angle);
    world.gravity[2] = -gravity * cos(angle);
    check(&s, sinew_world_create(s.context, &world, &s.world));
    sinew_contact_def contact = sinew_default_contact_def();
    contact.self = self;
    check(&s, sinew_world_set_contact(s.world, &contact));

    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = shape.size[1] = shape.size[2] = 0.2;
    shape.cell_size = 0.2 / 3;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &s.cube));
    return s;
}

static void add_floor(setting *s) {
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    check(s, sinew_obstacle_create(s->world, &floor, NULL));
}

static sinew_body *add_body(setting *s, const sinew_mesh *mesh, double x, double z, double vz) {
    sinew_pbd_material material = sinew_isotropic_pbd_material(2e5, 0.3, 1000);
    sinew_pbd_body_def def = sinew_default_pbd_body_def();
    def.mesh = mesh;
    def.pbd.mode = SINEW_PBD_COMPLIANCE;
    def.pbd.materials = &material;
    def.pbd.material_count = 1;
    def.pbd.iterations = 20;
    def.position[0] = x;
    def.position[2] = z;
    def.velocity[2] = vz;
    def.rotation[2] = sin(0.2 * s->count); // each turned a little further
    def.rotation[3] = cos(0.2 * s->count);
    sinew_body *body = NULL;
    check(s, sinew_pbd_body_create(s->world, &def, &body));
    s->bodies[s->count++] = body;
    return body;
}

static void destroy_setting(setting *s) {
    sinew_world_destroy(s->world);
    sinew_mesh_destroy(s->cube);
    sinew_context_destroy(s->context);
}

static void step(setting *s) {
    check(s, sinew_world_step(s->world, NULL));
}

static sinew_measures measure(sinew_body *body) {
    sinew_measures measures;
    sinew_body_get_measures(body, &measures);
    return measures;
}

// 2 % below tan = mu a block creeps slower than 1 cm/s (a twentieth of its size a second); 2 %
// above it slides with g (sin - mu cos), within a hundredth of g times the 2 %.
static void check_slope(double ratio) {
    const double angle = atan(0.5 * ratio);
    setting s = make_setting(1, 9.81, angle, false);
    add_floor(&s);
    sinew_body *body = add_body(&s, s.cube, 0, 0.1003, 0);

    int steps = TEST_SANITIZED ? 40 : 150;
    double before = 0;

    for (int i = 0; i < steps; i++) {
        before = i == steps - 20 ? measure(body).momentum[0] / 8 : before;
        step(&s);
    }
    double after = measure(body).momentum[0] / 8;
    double expected = 9.81 * (sin(angle) - 0.5 * cos(angle));

    if (ratio < 1) {
        assert_true(fabs(after) < 0.01 || TEST_SANITIZED);
    } else {
        assert_true(fabs((after - before) / 0.2 - expected) < 0.01 * 0.02 * 9.81 || TEST_SANITIZED);
    }
    destroy_setting(&s);
}

static void test_slope(void **state) {
    (void)state;
    check_slope(0.98);
    check_slope(1.02);
}

// Dropped from half its height it comes to rest with the gap it keeps, and the floor carries it.
static void test_drop_and_rest(void **state) {
    (void)state;
    setting s = make_setting(1, 9.81, 0, false);
    add_floor(&s);
    sinew_body *body = add_body(&s, s.cube, 0, 0.2, 0);

    for (int i = 0; i < 150; i++) {
        step(&s);
        const double *x = sinew_body_get_positions(body);

        for (int32_t n = 0; n < sinew_body_get_node_count(body); n++) {
            assert_true(x[3 * n + 2] > 0);
        }
    }

    const double thickness = 1e-3 * 0.2 * sqrt(3);
    sinew_body_contact contact;
    check(&s, sinew_body_get_contact(body, &contact));
    assert_true(measure(body).kinetic_energy < 1e-6); // 8 kg at 0.5 mm/s
    assert_true(fabs(contact.force[2] / (8 * 9.81) - 1) < 1e-3);
    assert_true(fabs(sinew_world_get_contact_report(s.world).smallest_gap / thickness - 1) < 0.05);
    destroy_setting(&s);
}

// Three cubes on each other, turned: no intersection after any step, all of the weight on the
// floor.
static void test_stack(void **state) {
    (void)state;
    setting s = make_setting(1, 9.81, 0, false);
    add_floor(&s);

    for (int i = 0; i < 3; i++) {
        add_body(&s, s.cube, 0.01 * i, 0.11 + 0.21 * i, 0);
    }
    int steps = TEST_SANITIZED ? 30 : 250;

    for (int i = 0; i < steps; i++) {
        step(&s);
        assert_int_equal(test_count_body_crossings(s.bodies, s.count), 0);
    }

    sinew_body_contact contact;
    check(&s, sinew_body_get_contact(s.bodies[0], &contact));
    double force[3], energy = 0;
    sinew_obstacle_get_force(sinew_world_get_obstacle(s.world, 0), force, NULL);

    for (int i = 0; i < 3; i++) {
        energy += measure(s.bodies[i]).kinetic_energy;
    }
    // 24 kg that creep at 1 cm/s; a hundredth of the weight is what still moves at 0.1 m/s^2.
    assert_true(TEST_SANITIZED || energy < 1.2e-3);
    assert_true(TEST_SANITIZED || fabs(-force[2] / (24 * 9.81) - 1) < 0.01);
    destroy_setting(&s);
}

// A free collision keeps momentum to 1e-7: tets are projected in single precision. Projection
// dissipates: the kinetic energy does not rise.
static void test_collision(void **state) {
    (void)state;
    setting s = make_setting(1, 0, 0, false);
    add_body(&s, s.cube, 0, 0, 0);
    add_body(&s, s.cube, 0.05, 0.3, -2);
    double start = measure(s.bodies[1]).momentum[2];
    double energy = measure(s.bodies[1]).kinetic_energy;

    for (int i = 0; i < 30; i++) {
        step(&s);
        assert_int_equal(test_count_body_crossings(s.bodies, s.count), 0);
        double now = measure(s.bodies[0]).kinetic_energy + measure(s.bodies[1]).kinetic_energy;
        assert_true(now < energy * (1 + 1e-9));
    }
    double end = measure(s.bodies[0]).momentum[2] + measure(s.bodies[1]).momentum[2];
    assert_true(fabs(end / start - 1) < 1e-7);
    assert_true(measure(s.bodies[0]).momentum[2] < 0.3 * start); // it was hit
    destroy_setting(&s);
}

// A bar whose ends are driven past each other meets itself.
static void test_self_contact(void **state) {
    (void)state;
    setting s = make_setting(1, 0, 0, true);
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = 1;
    shape.size[1] = shape.size[2] = 0.1;
    shape.cell_size = 0.05;
    sinew_mesh *bar = NULL;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &bar));
    sinew_body *body = add_body(&s, bar, 0, 0, 0);

    // Both ends go up and then through each other's place.
    int32_t nodes[2][64], count[2] = {0, 0};

    for (int32_t n = 0; n < bar->point_count; n++) {
        double x = bar->points[3 * n];

        if (fabs(x) > 0.49) {
            nodes[x > 0][count[x > 0]++] = n;
        }
    }
    for (int side = 0; side < 2; side++) {
        check(&s, sinew_body_fix_nodes(body, nodes[side], count[side], SINEW_AXIS_ALL));
    }

    int steps = TEST_SANITIZED ? 20 : 110;
    int32_t touching = 0;

    for (int i = 1; i <= steps; i++) {
        for (int side = 0; side < 2; side++) {
            double targets[3 * 64];
            double sign = side ? 1 : -1;
            double part = fmin(1, i / 60.0);
            for (int32_t k = 0; k < count[side]; k++) {
                const double *X = bar->points + 3 * nodes[side][k];
                // Turned upright, towards the middle and beyond it.
                double across = X[0] - sign * 0.5;
                double angle = part * 1.57;
                double center = sign * (0.5 - 0.5 * part) - sign * 0.1 * fmax(0, i / 60.0 - 1);
                targets[3 * k] = center + cos(angle) * across - sign * sin(angle) * X[2];
                targets[3 * k + 1] = X[1];
                targets[3 * k + 2] = 0.35 * part + cos(angle) * X[2] + sign * sin(angle) * across;
            }
            check(&s, sinew_body_move_nodes(body, nodes[side], count[side], targets));
        }
        step(&s);
        touching += sinew_world_get_contact_report(s.world).active > 0;
        assert_int_equal(test_count_body_crossings(s.bodies, s.count), 0);
    }
    assert_true(TEST_SANITIZED || touching > 10);
    sinew_mesh_destroy(bar);
    destroy_setting(&s);
}

// A spring carries the weight at W / k below its target; its stiffness changes while it does. A
// hard tie of two bodies keeps them together.
static void test_attachments(void **state) {
    (void)state;
    setting s = make_setting(1, 9.81, 0, false);
    sinew_body *body = add_body(&s, s.cube, 0, 0, 0);
    const double above[3] = {0, 0, 0.1};
    const double weight = 8 * 9.81;
    sinew_attachment_def def = sinew_default_attachment_def();
    def.body = body;
    def.rest[2] = 0.1;
    def.stiffness = 2000;
    sinew_attachment *spring = NULL;
    check(&s, sinew_world_attach(s.world, &def, &spring));

    int steps = TEST_SANITIZED ? 10 : 400;

    for (int stiff = 0; stiff < 2; stiff++) {
        double stiffness = stiff ? 8000 : 2000;
        check(&s, sinew_attachment_set_stiffness(spring, stiffness));
        check(&s, sinew_attachment_set_target(spring, above));

        for (int i = 0; i < steps; i++) {
            step(&s);
        }
        double tied[3], force[3];
        sinew_attachment_get_positions(spring, tied, NULL);
        check(&s, sinew_attachment_get_force(spring, force));
        assert_true(TEST_SANITIZED || fabs((above[2] - tied[2]) * stiffness / weight - 1) < 1e-2);
        assert_true(TEST_SANITIZED || fabs(force[2] / weight - 1) < 1e-2);
    }

    // A second body hangs on the first.
    sinew_body *lower = add_body(&s, s.cube, 0, -0.4, 0);
    def = sinew_default_attachment_def();
    def.body = lower;
    def.rest[2] = 0.1;
    def.target = body;
    def.at_node = false;
    def.point[2] = -0.1;
    sinew_attachment *tie = NULL;
    check(&s, sinew_world_attach(s.world, &def, &tie));

    for (int i = 0; i < steps / 4; i++) {
        step(&s);
    }
    double ends[2][3];
    sinew_attachment_get_positions(tie, ends[0], ends[1]);

    for (int k = 0; k < 3; k++) {
        assert_true(fabs(ends[0][k] - ends[1][k]) < 1e-9);
    }
    destroy_setting(&s);
}

static void run_scene(setting *s, int steps) {
    for (int i = 0; i < steps; i++) {
        step(s);
    }
}

static setting make_pile(int32_t threads) {
    setting s = make_setting(threads, 9.81, 0.2, true);
    add_floor(&s);

    for (int i = 0; i < 3; i++) {
        add_body(&s, s.cube, 0.05 * i, 0.12 + 0.22 * i, -1);
    }
    sinew_attachment_def def = sinew_default_attachment_def();
    def.body = s.bodies[2];
    def.stiffness = 100;
    check(&s, sinew_world_attach(s.world, &def, NULL));
    return s;
}

static void test_same_bits(void **state) {
    (void)state;
    double *expected = NULL;
    int steps = TEST_SANITIZED ? 8 : 40;

    for (int32_t threads = 1; threads <= 4; threads++) {
        setting s = make_pile(threads);
        run_scene(&s, steps / 2);
        size_t size = sinew_world_get_snapshot_size(s.world);
        void *snapshot = malloc(size);
        check(&s, sinew_world_take_snapshot(s.world, snapshot, size));
        run_scene(&s, steps - steps / 2);

        if (threads == 4) {
            check(&s, sinew_world_restore_snapshot(s.world, snapshot, size));
            run_scene(&s, steps - steps / 2);
        }
        free(snapshot);

        // All positions of all bodies.
        size_t count = 3 * (size_t)sinew_body_get_node_count(s.bodies[0]);
        double *now = malloc(3 * count * sizeof *now);

        for (size_t i = 0; i < 3; i++) {
            memcpy(now + i * count, sinew_body_get_positions(s.bodies[i]), count * sizeof *now);
        }
        if (expected) {
            assert_memory_equal(now, expected, 3 * count * sizeof *now);
            free(now);
        } else {
            expected = now;
        }
        destroy_setting(&s);
    }
    free(expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slope),        cmocka_unit_test(test_drop_and_rest),
        cmocka_unit_test(test_stack),        cmocka_unit_test(test_collision),
        cmocka_unit_test(test_self_contact), cmocka_unit_test(test_attachments),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
