// Bodies of every kind against obstacles: nothing enters, forces balance weights, friction sticks
// and slides by Coulomb's law, scripted obstacles push and carry, energy does not rise.
#include "contact/obstacle.h"
#include "support/kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct setting {
    test_kinds kinds;
    sinew_body *body;
    double *x;
    int32_t vertices;
} setting;

static void step(setting *s) {
    if (sinew_world_step(s->kinds.world, NULL) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->kinds.context));
    }
    sinew_body_compute_surface(s->body, s->x, NULL);
}

// A bar of 1 m above the origin, in a world with gravity and contact.
static setting make_setting(test_kind kind, sinew_contact_mode mode, sinew_integrator integrator,
                            const double gravity[3], double height) {
    setting s = {.kinds = test_kinds_create_world()};
    sinew_world_def def = sinew_world_get_def(s.kinds.world);
    memcpy(def.gravity, gravity, sizeof def.gravity);
    def.step = 0.01;
    def.integrator = integrator;
    assert_int_equal(sinew_world_set_def(s.kinds.world, &def), SINEW_OK);

    sinew_contact_def contact = sinew_default_contact_def();
    contact.mode = mode;
    assert_int_equal(sinew_world_set_contact(s.kinds.world, &contact), SINEW_OK);
    s.body = test_kinds_add(&s.kinds, kind, (double[]){0, 0, height});
    s.vertices = sinew_body_get_surface(s.body)->point_count;
    s.x = calloc(3 * (size_t)s.vertices, sizeof *s.x);
    assert_non_null(s.x);
    return s;
}

static sinew_obstacle *add_obstacle(setting *s, const sinew_obstacle_def *def) {
    sinew_obstacle *obstacle;
    if (sinew_obstacle_create(s->kinds.world, def, &obstacle) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->kinds.context));
    }
    return obstacle;
}

static void destroy_setting(setting *s) {
    free(s->x);
    test_kinds_destroy(&s->kinds);
}

static const double down[3] = {0, 0, -9.81};

// Steps in a second. Sanitizers need the code to run, not the bodies to come to rest: they see a
// body land, and the tests of what it does afterwards are left to the other builds.
enum { SECOND = TEST_SANITIZED ? 40 : 100 };

static double lowest(const setting *s) {
    double low = INFINITY;
    for (int32_t v = 0; v < s->vertices; v++) {
        low = fmin(low, s->x[3 * (size_t)v + 2]);
    }
    return low;
}

// Falls 0.3 m, lands, comes to rest, and the floor carries its weight.
static void check_landing(test_kind kind, sinew_contact_mode mode) {
    setting s = make_setting(kind, mode, SINEW_INTEGRATOR_IMPLICIT_EULER, down, 0.4);
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    sinew_obstacle *obstacle = add_obstacle(&s, &floor);

    for (int i = 0; i < (TEST_SANITIZED ? SECOND : 5 * SECOND / 2); i++) {
        step(&s);
        if (!(lowest(&s) > 0)) {
            fail_msg("%s: a vertex is %g m below the floor", test_kind_name(kind), -lowest(&s));
        }
    }

    if (TEST_SANITIZED) {
        destroy_setting(&s);
        return;
    }

    sinew_measures measures;
    sinew_body_contact contact;
    double force[3];
    sinew_body_get_measures(s.body, &measures);
    assert_int_equal(sinew_body_get_contact(s.body, &contact), SINEW_OK);
    sinew_obstacle_get_force(obstacle, force, NULL);

    // Quadratic frames sway for long, and implicit Euler alone damps them.
    double tolerance = kind == TEST_QUADRATIC_FRAMES ? 0.05 : 0.01;
    double weight = 9.81 * measures.mass;
    test_kind_close(kind, "carried weight", contact.force[2] / weight, 1, tolerance);
    test_kind_close(kind, "force on the floor", force[2], -contact.force[2], 1e-9 * weight);
    assert_true(contact.area > 0 && contact.count > 0);
    test_kind_close(kind, "gap", lowest(&s), 1e-3, 0.5e-3);
    assert_true(measures.kinetic_energy < 0.01 * weight * 0.3);

    destroy_setting(&s);
}

static void test_landing(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_POSITIONS; kind++) {
        check_landing(kind, SINEW_CONTACT_INTERACTIVE);
        check_landing(kind, SINEW_CONTACT_RELIABLE);
    }
}

// Comes to rest on a floor, which then tilts, as gravity rotates: the acceleration along it from
// 2 s to 4 s after that.
static double slide(test_kind kind, sinew_contact_mode mode, double ratio, double *speed) {
    setting s = make_setting(kind, mode, SINEW_INTEGRATOR_IMPLICIT_EULER, down, 0.103);
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    add_obstacle(&s, &floor);
    for (int i = 0; i < 3 * SECOND / 2; i++) {
        step(&s);
    }

    // Tilt.
    double angle = atan(0.5 * ratio);
    sinew_world_def def = sinew_world_get_def(s.kinds.world);
    memcpy(def.gravity, (double[]){9.81 * sin(angle), 0, -9.81 * cos(angle)}, sizeof def.gravity);
    assert_int_equal(sinew_world_set_def(s.kinds.world, &def), SINEW_OK);

    // The speeds after two and after four seconds.
    double v[2];
    sinew_measures measures;
    for (int i = 0; i < 4 * SECOND; i++) {
        step(&s);
        sinew_body_get_measures(s.body, &measures);
        v[i / (2 * SECOND)] = measures.momentum[0] / measures.mass;
    }

    *speed = v[1];
    destroy_setting(&s);
    return (v[1] - v[0]) / 2;
}

// Friction is 0.5: sticks at 0.98 times tan and slides at 1.02 and 1.2 times (interactive), 0.99
// and 1.01 (reliable), with the acceleration g (sin - 0.5 cos).
static void test_slope(void **state) {
    (void)state;
    const test_kind kinds[] = {TEST_TET4, TEST_EMBEDDED, TEST_RIGID_FRAMES, TEST_AFFINE_FRAMES,
                               TEST_QUADRATIC_FRAMES};
    if (TEST_SANITIZED) {
        double speed;
        slide(TEST_TET4, SINEW_CONTACT_INTERACTIVE, 1.2, &speed);
        return;
    }

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (int mode = 0; mode < 2; mode++) {
            double near = mode ? 0.01 : 0.02;
            double ratios[] = {1 - near, 1 + near, 1.2};

            // Creeps at about the friction speed, 1 mm/s; affine frames sway a little faster.
            const double sticking = 4e-3;
            double speed;

            for (int r = 0; r < 3; r++) {
                double angle = atan(0.5 * ratios[r]);
                double expected = fmax(0, 9.81 * (sin(angle) - 0.5 * cos(angle)));
                double a = slide(kinds[k], (sinew_contact_mode)mode, ratios[r], &speed);

                double tolerance = 0.01 * 9.81 * sin(angle);
                bool right = fabs(a - expected) < (r == 0 ? 2e-3 : tolerance);
                if (!right) {
                    fail_msg("%s, mode %d, %g times tan: %g m/s^2 instead of %g",
                             test_kind_name(kinds[k]), mode, ratios[r], a, expected);
                }

                if (r == 0 && !(speed < sticking)) {
                    fail_msg("%s, mode %d: slides at %g m/s", test_kind_name(kinds[k]), mode,
                             speed);
                }

                assert_true(r == 0 || a > 0.02);
            }
        }
    }
}

// No triangle of the surface touches the obstacle: separated by its nearest direction.
static void check_clear(const setting *s, const sinew_obstacle *obstacle, const char *what) {
    sinew_obstacle_def def = sinew_obstacle_get_def(obstacle);
    sn_obstacle_shape shape = {(sn_obstacle_kind)def.kind,
                               def.radius,
                               {0.5 * def.size[0], 0.5 * def.size[1], 0.5 * def.size[2]}};
    if (def.kind == SINEW_OBSTACLE_CAPSULE) {
        shape.half.z = 0.5 * def.length;
    }

    sn_rigid pose = {{def.rotation[0], def.rotation[1], def.rotation[2], def.rotation[3]},
                     sn_load3(def.position)};
    const sinew_mesh *surface = sinew_body_get_surface(s->body);

    for (int32_t t = 0; t < surface->element_count; t++) {
        sn_vec3 corner[3];
        for (int k = 0; k < 3; k++) {
            corner[k] = sn_load3(s->x + 3 * (size_t)surface->indices[3 * t + k]);
        }

        sn_vec3 n = sn_obstacle_meet_triangle(&shape, pose, corner).at.normal;
        double support = sn_obstacle_support(&shape, pose, n);
        for (int k = 0; k < 3; k++) {
            if (!(sn_dot(n, corner[k]) > support)) {
                fail_msg("%s, kind %d: triangle %d is %g m inside", what, (int)def.kind, (int)t,
                         support - sn_dot(n, corner[k]));
            }
        }
    }
}

// The bar falls across a solid obstacle smaller than its triangles, and drapes or rolls off.
static void test_solid_obstacles(void **state) {
    (void)state;
    const test_kind kinds[] = {TEST_TET4, TEST_EMBEDDED, TEST_AFFINE_FRAMES, TEST_DUAL_FRAMES};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (int shape = SINEW_OBSTACLE_SPHERE; shape <= SINEW_OBSTACLE_CAPSULE; shape++) {
            setting s = make_setting(kinds[k], SINEW_CONTACT_INTERACTIVE,
                                     SINEW_INTEGRATOR_IMPLICIT_EULER, down, 0.3);

            // A slanted obstacle, of which each kind uses its own lengths.
            sinew_obstacle_def def = sinew_default_obstacle_def();
            def.kind = (sinew_obstacle_kind)shape;
            def.radius = 0.04;
            def.length = 0.6;
            def.size[0] = def.size[1] = 0.07;
            def.size[2] = 0.6;
            def.position[1] = 0.02;
            memcpy(def.rotation, (double[]){0.7, 0.1, 0.05, 0.7}, sizeof def.rotation);
            const sinew_obstacle *obstacle = add_obstacle(&s, &def);

            double largest = 0;
            for (int i = 0; i < SECOND; i++) {
                step(&s);
                check_clear(&s, obstacle, test_kind_name(kinds[k]));
                double force = sinew_world_get_contact_report(s.kinds.world).largest_force;
                largest = fmax(largest, force);
            }

            assert_true(largest > 10); // it did hit
            destroy_setting(&s);
        }
    }
}

// A box that rises under the bar lifts it; one that moves sideways carries it along by friction.
static void test_scripted(void **state) {
    (void)state;
    const test_kind kinds[] = {TEST_TET4, TEST_AFFINE_FRAMES};
    for (size_t k = 0; k < 2; k++) {
        setting s = make_setting(kinds[k], SINEW_CONTACT_INTERACTIVE,
                                 SINEW_INTEGRATOR_IMPLICIT_EULER, down, 0.102);
        sinew_obstacle_def def = sinew_default_obstacle_def();
        def.kind = SINEW_OBSTACLE_BOX;
        def.position[2] = -0.5;
        def.size[0] = def.size[1] = 3;
        sinew_obstacle *lift = add_obstacle(&s, &def);

        // Up.
        double position[3] = {0, 0, -0.5};
        for (int i = 0; i < 100; i++) {
            position[2] += 0.005; // 0.5 m/s
            assert_int_equal(sinew_obstacle_move(lift, position, def.rotation), SINEW_OK);
            step(&s);
            check_clear(&s, lift, "lift");
        }

        double now[3];
        sinew_obstacle_get_pose(lift, now, NULL);
        test_kind_close(kinds[k], "the lift arrives", now[2], position[2], 1e-12);
        test_kind_close(kinds[k], "the bar is on it", lowest(&s), now[2] + 0.5 + 1e-3, 1e-3);

        // Sideways.
        for (int i = 0; i < 100; i++) {
            position[0] += 0.003 * fmin(1, i / 20.0);
            assert_int_equal(sinew_obstacle_move(lift, position, def.rotation), SINEW_OK);
            step(&s);
        }

        sinew_measures measures;
        sinew_body_get_measures(s.body, &measures);
        test_kind_close(kinds[k], "carried along", measures.momentum[0] / measures.mass, 0.3, 5e-3);
        destroy_setting(&s);
    }
}

// Energy never rises above what it was, in reliable mode with each integrator that contact takes.
static void test_energy(void **state) {
    (void)state;
    const sinew_integrator integrators[] = {SINEW_INTEGRATOR_IMPLICIT_EULER,
                                            SINEW_INTEGRATOR_NEWTON_EULER};
    for (test_kind kind = 0; kind < TEST_POSITIONS; kind++) {
        for (size_t i = 0; i < 2; i++) {
            if (kind == TEST_WARPED) {
                continue; // has no energy
            }

            setting s = make_setting(kind, SINEW_CONTACT_RELIABLE, integrators[i], down, 0.3);
            sinew_obstacle_def floor = sinew_default_obstacle_def();
            add_obstacle(&s, &floor);

            sinew_measures measures;
            sinew_world_get_measures(s.kinds.world, &measures);
            double start =
                measures.kinetic_energy + measures.elastic_energy + measures.gravity_energy;

            for (int n = 0; n < SECOND; n++) {
                step(&s);
                sinew_world_get_measures(s.kinds.world, &measures);
                double energy =
                    measures.kinetic_energy + measures.elastic_energy + measures.gravity_energy;
                if (!(energy <= start + 1e-9 * fabs(start))) {
                    fail_msg("%s: %g J after %d steps, %g J at the start", test_kind_name(kind),
                             energy, n, start);
                }
            }

            destroy_setting(&s);
        }
    }
}

// Events say when the bar begins to touch, once.
static void test_events(void **state) {
    (void)state;
    setting s = make_setting(TEST_TET4, SINEW_CONTACT_INTERACTIVE, SINEW_INTEGRATOR_IMPLICIT_EULER,
                             down, 0.2);
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    const sinew_obstacle *obstacle = add_obstacle(&s, &floor);

    int began = 0, ended = 0;
    for (int i = 0; i < 200; i++) {
        step(&s);

        const sinew_contact_event *events;
        int32_t count = sinew_world_get_contact_events(s.kinds.world, &events);
        for (int32_t e = 0; e < count; e++) {
            assert_true(events[e].body == s.body && events[e].obstacle == obstacle);
            began += events[e].began;
            ended += !events[e].began;
        }
    }

    const sinew_contact *contacts;
    int32_t count = sinew_world_get_contacts(s.kinds.world, &contacts);
    assert_true(count > 3);
    assert_true(contacts[0].normal[2] == 1 && contacts[0].force[2] > 0);
    assert_true(contacts[0].position[2] > 0 && contacts[0].position[2] < 2e-3);
    assert_int_equal(began, ended + 1);
    assert_true(began <= 3);
    destroy_setting(&s);
}

// The same bits after a snapshot in the middle of a landing.
static void test_snapshot(void **state) {
    (void)state;
    const test_kind kinds[] = {TEST_TET4, TEST_RIGID_FRAMES};
    for (size_t k = 0; k < 2; k++) {
        setting s = make_setting(kinds[k], SINEW_CONTACT_INTERACTIVE,
                                 SINEW_INTEGRATOR_IMPLICIT_EULER, (double[]){2, 0, -9.81}, 0.15);
        sinew_obstacle_def floor = sinew_default_obstacle_def();
        sinew_obstacle *obstacle = add_obstacle(&s, &floor);
        for (int i = 0; i < 15; i++) {
            step(&s);
        }

        // The obstacle is on its way as the snapshot is taken.
        sinew_obstacle_move(obstacle, (double[]){0.01, 0, 0.001}, floor.rotation);
        size_t size = sinew_world_get_snapshot_size(s.kinds.world);
        void *bytes = malloc(size);
        assert_int_equal(sinew_world_take_snapshot(s.kinds.world, bytes, size), SINEW_OK);

        for (int i = 0; i < 20; i++) {
            step(&s);
        }

        uint64_t hash = sinew_world_get_hash(s.kinds.world);
        assert_int_equal(sinew_world_restore_snapshot(s.kinds.world, bytes, size), SINEW_OK);
        for (int i = 0; i < 20; i++) {
            step(&s);
        }

        assert_true(sinew_world_get_hash(s.kinds.world) == hash);
        free(bytes);
        destroy_setting(&s);
    }
}

// A body that begins inside the floor comes out, and not with a bang.
static void test_healing(void **state) {
    (void)state;
    setting s = make_setting(TEST_TET4, SINEW_CONTACT_INTERACTIVE, SINEW_INTEGRATOR_IMPLICIT_EULER,
                             down, 0.05);
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    add_obstacle(&s, &floor);

    step(&s);
    sinew_contact_report report = sinew_world_get_contact_report(s.kinds.world);
    assert_true(report.overlaps > 3);
    assert_true(fabs(report.deepest - 0.05) < 0.01);

    double fastest = 0;
    for (int i = 0; i < 100; i++) {
        step(&s);
        sinew_measures measures;
        sinew_body_get_measures(s.body, &measures);
        fastest = fmax(fastest, measures.momentum[2] / measures.mass);
    }

    report = sinew_world_get_contact_report(s.kinds.world);
    assert_int_equal(report.overlaps, 0);
    assert_true(lowest(&s) > 0);
    assert_true(fastest < 1);
    destroy_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_landing),         cmocka_unit_test(test_slope),
        cmocka_unit_test(test_solid_obstacles), cmocka_unit_test(test_scripted),
        cmocka_unit_test(test_energy),          cmocka_unit_test(test_events),
        cmocka_unit_test(test_snapshot),        cmocka_unit_test(test_healing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
