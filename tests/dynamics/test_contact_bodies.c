// Bodies that touch each other: no intersection by the exact test after every step, momentum and
// energy of free collisions, a stack that comes to rest, every kind with every other, the same bits
// for any number of threads and after a snapshot.
#include "support/hash.h"
#include "support/kinds.h"
#include "support/touch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BODIES = 8 };

typedef struct setting {
    sinew_context *context;
    sinew_world *world;
    sinew_body *bodies[MOST_BODIES];
    int32_t count;
    sinew_mesh *cube;
    double young; // of cubes [Pa]
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

static setting make_setting(sinew_context *context, sinew_contact_mode mode, double gravity,
                            double friction) {
    sinew_contact_def contact = sinew_default_contact_def();
    contact.mode = mode;
    contact.friction = friction;
    setting s = {
        .context = context, .world = test_touch_world(context, &contact, gravity), .young = 1e5};

    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = shape.size[1] = shape.size[2] = 0.2;
    shape.cell_size = 0.2 / 3;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &s.cube));
    return s;
}

// A cube, turned about z.
static void add_cube(setting *s, double x, double z, double angle, double velocity) {
    sinew_material_def material = sinew_default_material_def();
    material.young = s->young;
    material.poisson = 0.3;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = s->cube;
    def.materials = &material;
    def.material_count = 1;
    def.position[0] = x;
    def.position[2] = z;
    def.rotation[2] = sin(angle / 2);
    def.rotation[3] = cos(angle / 2);
    def.velocity[2] = velocity;
    def.stiffness_damping = velocity == 0 ? 0.002 : 0;
    check(s, sinew_body_create(s->world, &def, &s->bodies[s->count++]));
}

static void add_floor(setting *s) {
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    check(s, sinew_obstacle_create(s->world, &floor, NULL));
}

static void destroy_bodies(setting *s) {
    sinew_world_destroy(s->world);
    sinew_mesh_destroy(s->cube);
}

static void destroy_setting(setting *s) {
    destroy_bodies(s);
    sinew_context_destroy(s->context);
}

static void step(setting *s) {
    check(s, sinew_world_step(s->world, NULL));
    assert_int_equal(test_count_body_crossings(s->bodies, s->count), 0);
}

// Two cubes meet in free flight: momentum is kept up to rounding, whatever the solver, and energy
// does not rise.
static void check_collision(sinew_contact_mode mode, double friction, sinew_solver solver) {
    setting s = make_setting(test_context(1), mode, 0, friction);
    sinew_world_def def = sinew_world_get_def(s.world);
    def.solver = solver;
    check(&s, sinew_world_set_def(s.world, &def));
    add_cube(&s, 0, 0, 0, 0);
    add_cube(&s, 0.05, 0.25, 0.4, -1);

    sinew_measures before, after;
    sinew_world_get_measures(s.world, &before);
    for (int i = 0; i < 60; i++) {
        step(&s);
        sinew_world_get_measures(s.world, &after);
        double energy = after.kinetic_energy + after.elastic_energy;
        assert_true(energy <= before.kinetic_energy * (1 + 1e-9));
    }

    double error = fabs(after.momentum[2] - before.momentum[2]);
    assert_true(error < 1e-12 * fabs(before.momentum[2]));
    sinew_body_get_measures(s.bodies[0], &after);
    assert_true(after.momentum[2] < 0.2 * before.momentum[2]); // it was hit
    destroy_setting(&s);
}

static void test_collision(void **state) {
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        for (int rough = 0; rough < 2; rough++) {
            check_collision((sinew_contact_mode)mode, 0.5 * rough, SINEW_SOLVER_AUTO);
            check_collision((sinew_contact_mode)mode, 0.5 * rough, SINEW_SOLVER_CHOLESKY0);
        }
    }
}

// The cubes rest with the gap that they are to keep, and the floor carries all of them, at this
// very instant.
static void check_rest(const setting *s, int mode) {
    sinew_measures measures;
    sinew_world_get_measures(s->world, &measures);
    assert_true(measures.kinetic_energy < 1e-6); // 40 kg at 0.2 mm/s

    const double thickness = 1e-3 * 0.2 * sqrt(3);
    const sinew_contact *contacts;
    int32_t count = sinew_world_get_contacts(s->world, &contacts);
    double carried = 0;
    for (int32_t i = 0; i < count; i++) {
        const sinew_contact *contact = &contacts[i];
        double gap = contact->obstacle ? thickness : 2 * thickness;
        carried += contact->obstacle ? contact->force[2] : 0;
        if (!(fabs(contact->gap / gap - 1) < 0.05)) {
            fail_msg("mode %d: a gap of %g m instead of %g", mode, contact->gap, gap);
        }
    }
    if (!(fabs(carried / (9.81 * measures.mass) - 1) < 1e-3)) {
        fail_msg("mode %d: the floor carries %g of %g N", mode, carried, 9.81 * measures.mass);
    }
}

// Five turned cubes on a floor come to rest. They are stiff enough not to buckle: their weight of
// q = 392 N/m is below 7.8 E I / L^3 = 1040 N/m.
static void test_stack(void **state) {
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        setting s = make_setting(test_context(1), (sinew_contact_mode)mode, -9.81, 0.5);
        s.young = 1e6;
        add_floor(&s);
        for (int i = 0; i < 5; i++) {
            add_cube(&s, 0, 0.102 + 0.203 * i, 0.3 * i, 0);
        }

        int32_t solves = 0;
        for (int i = 0; i < 120; i++) {
            step(&s);
            int32_t now = sinew_world_get_contact_report(s.world).solves;
            assert_true(now <= (mode == SINEW_CONTACT_RELIABLE ? 10 : 2));
            solves += now;
        }
        assert_true(solves <= 5 * 120);
        check_rest(&s, mode);
        destroy_setting(&s);
    }
}

// Every kind of body falls on every other.
static void test_kinds_on_kinds(void **state) {
    (void)state;
    const test_kind kinds[] = {TEST_TET4,         TEST_TET10,         TEST_EMBEDDED,
                               TEST_RIGID_FRAMES, TEST_AFFINE_FRAMES, TEST_DUAL_FRAMES};
    enum { COUNT = 6 };
    for (int a = 0; a < COUNT; a++) {
        for (int b = a; b < COUNT; b += TEST_SANITIZED ? 4 : 1) {
            test_kinds t = test_kinds_create_world();
            sinew_world_def def = sinew_world_get_def(t.world);
            def.gravity[2] = -9.81;
            def.step = 0.01;
            assert_int_equal(sinew_world_set_def(t.world, &def), SINEW_OK);
            sinew_obstacle_def floor = sinew_default_obstacle_def();
            assert_int_equal(sinew_obstacle_create(t.world, &floor, NULL), SINEW_OK);
            sinew_body *bodies[2] = {test_kinds_add(&t, kinds[a], (double[]){0, 0, 0.11}),
                                     test_kinds_add(&t, kinds[b], (double[]){0.3, 0.03, 0.36})};
            int32_t most = 0;
            for (int i = 0; i < 50; i++) {
                if (sinew_world_step(t.world, NULL) != SINEW_OK) {
                    fail_msg("%s on %s: %s", test_kind_name(kinds[b]), test_kind_name(kinds[a]),
                             sinew_context_message(t.context));
                }
                if (test_count_body_crossings(bodies, 2) != 0) {
                    fail_msg("%s on %s: they intersect", test_kind_name(kinds[b]),
                             test_kind_name(kinds[a]));
                }
                const sinew_contact *contacts;
                int32_t count = sinew_world_get_contacts(t.world, &contacts);
                for (int32_t c = 0; c < count; c++) {
                    most += contacts[c].other != NULL;
                }
            }
            assert_true(most > 10); // they did meet
            test_kinds_destroy(&t);
        }
    }
}

static uint64_t hash_stack(sinew_context *context, void *user) {
    (void)user;
    setting s = make_setting(context, SINEW_CONTACT_INTERACTIVE, -9.81, 0.5);
    add_floor(&s);
    for (int i = 0; i < 3; i++) {
        add_cube(&s, 0.03 * i, 0.102 + 0.21 * i, 0.3 * i, 0);
    }

    for (int i = 0; i < 40; i++) {
        check(&s, sinew_world_step(s.world, NULL));
    }

    uint64_t hash = sinew_world_get_hash(s.world);
    destroy_bodies(&s);
    return hash;
}

static void test_threads(void **state) {
    (void)state;
    test_over_threads("stack of three cubes", hash_stack, NULL);
}

static setting make_loose_stack(sinew_context *context) {
    setting s = make_setting(context, SINEW_CONTACT_INTERACTIVE, -9.81, 0.3);
    add_floor(&s);
    add_cube(&s, 0, 0.11, 0, 0);
    add_cube(&s, 0.05, 0.34, 0.3, 0);
    add_cube(&s, -0.04, 0.6, 0.6, 0);
    return s;
}

// The same bits from a snapshot taken while the cubes fall onto each other.
static void test_snapshot(void **state) {
    (void)state;
    setting s = make_loose_stack(test_context(1));
    setting other = make_loose_stack(s.context);
    for (int i = 0; i < 12; i++) {
        step(&s);
    }

    test_touch_snapshot(s.context, s.world, other.world, 30);
    destroy_bodies(&other);
    destroy_setting(&s);
}

int main(void) {
    if (TEST_WATCHES_THREADS) {
        cmocka_set_test_filter("test_threads*");
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_collision),      cmocka_unit_test(test_stack),
        cmocka_unit_test(test_kinds_on_kinds), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
