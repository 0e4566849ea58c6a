// Surfaces that an island meets but does not solve for: mesh obstacles, fixed and moving, and
// bodies under position dynamics among others.
#include "support/crossings.h"
#include "support/kinds.h"
#include "support/test.h"
#include "support/touch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BODIES = 3 };

typedef struct setting {
    sinew_context *context;
    sinew_world *world;
    sinew_body *bodies[MOST_BODIES];
    int32_t count;
    sinew_mesh *cube, *plate;
    sinew_obstacle *obstacle;
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

static sinew_mesh *make_box(const setting *s, sinew_element element, double x, double y, double z,
                            double cell) {
    sinew_shape_def shape = sinew_default_shape_def();
    shape.element = element;
    shape.size[0] = x;
    shape.size[1] = y;
    shape.size[2] = z;
    shape.cell_size = cell;
    sinew_mesh *mesh = NULL;
    check(s, sinew_mesh_create_shape(s->context, &shape, &mesh));
    return mesh;
}

static setting make_setting(int32_t threads, double gravity) {
    setting s = {.context = test_context(threads)};
    sinew_world_def world = sinew_default_world_def();
    world.gravity[2] = -gravity;
    check(&s, sinew_world_create(s.context, &world, &s.world));
    sinew_contact_def contact = sinew_default_contact_def();
    check(&s, sinew_world_set_contact(s.world, &contact));
    s.cube = make_box(&s, SINEW_ELEMENT_TET4, 0.2, 0.2, 0.2, 0.2 / 3);
    return s;
}

static void add_mesh(setting *s, double x, double y, double z, const double position[3]) {
    s->plate = make_box(s, SINEW_ELEMENT_TRIANGLE, x, y, z, 1);
    sinew_obstacle_def def = sinew_default_obstacle_def();
    def.kind = SINEW_OBSTACLE_MESH;
    def.mesh = s->plate;
    memcpy(def.position, position, sizeof def.position);
    check(s, sinew_obstacle_create(s->world, &def, &s->obstacle));
}

// A cube of tets, or one under position dynamics.
static sinew_body *add_cube(setting *s, bool positions, double x, double z, double vz) {
    sinew_body *body = NULL;
    const double turn[4] = {0, 0, sin(0.2 * s->count), cos(0.2 * s->count)};

    if (positions) {
        sinew_pbd_material material = sinew_isotropic_pbd_material(2e5, 0.3, 1000);
        sinew_pbd_body_def def = sinew_default_pbd_body_def();
        def.mesh = s->cube;
        def.pbd.mode = SINEW_PBD_COMPLIANCE;
        def.pbd.materials = &material;
        def.pbd.material_count = 1;
        def.position[0] = x;
        def.position[2] = z;
        def.velocity[2] = vz;
        memcpy(def.rotation, turn, sizeof turn);
        check(s, sinew_pbd_body_create(s->world, &def, &body));
    } else {
        sinew_material_def material = sinew_default_material_def();
        material.young = 2e5;
        material.poisson = 0.3;
        sinew_body_def def = sinew_default_body_def();
        def.mesh = s->cube;
        def.materials = &material;
        def.material_count = 1;
        def.stiffness_damping = vz == 0 ? 0.002 : 0;
        def.position[0] = x;
        def.position[2] = z;
        def.velocity[2] = vz;
        memcpy(def.rotation, turn, sizeof turn);
        check(s, sinew_body_create(s->world, &def, &body));
    }
    s->bodies[s->count++] = body;
    return body;
}

static void destroy_setting(setting *s) {
    sinew_world_destroy(s->world);
    sinew_mesh_destroy(s->cube);
    sinew_mesh_destroy(s->plate);
    sinew_context_destroy(s->context);
}

// Intersections of the first body with the mesh obstacle, which has not been rotated.
static int64_t count_obstacle_crossings(const setting *s) {
    const sinew_mesh *surface = sinew_body_get_surface(s->bodies[0]);
    int32_t own = surface->point_count;
    int32_t points = own + s->plate->point_count;
    int32_t triangles = surface->element_count + s->plate->element_count;
    double *x = calloc(3 * (size_t)points, sizeof *x);
    int32_t *indices = calloc(3 * (size_t)triangles, sizeof *indices);
    int32_t *part = calloc((size_t)points, sizeof *part);
    double position[3];

    sinew_body_compute_surface(s->bodies[0], x, NULL);
    sinew_obstacle_get_pose(s->obstacle, position, NULL);

    for (int32_t i = 0; i < 3 * s->plate->point_count; i++) {
        x[3 * own + i] = s->plate->points[i] + position[i % 3];
    }
    for (int32_t i = own; i < points; i++) {
        part[i] = 1;
    }
    for (int32_t i = 0; i < 3 * triangles; i++) {
        int32_t first = 3 * surface->element_count;
        indices[i] = i < first ? surface->indices[i] : own + s->plate->indices[i - first];
    }

    test_surfaces surfaces = {x, points, indices, triangles, part, false};
    int64_t crossings = test_count_crossings(&surfaces, NULL);
    free(x);
    free(indices);
    free(part);
    return crossings;
}

static void step(setting *s) {
    check(s, sinew_world_step(s->world, NULL));

    if (s->obstacle) {
        assert_int_equal(count_obstacle_crossings(s), 0);
    } else {
        assert_int_equal(test_count_body_crossings(s->bodies, s->count), 0);
    }
}

// Rests on a mesh as it would on a plane: with the gap to keep, and its weight on the obstacle.
static void test_rest_on_mesh(void **state) {
    (void)state;

    for (int positions = 0; positions < 2; positions++) {
        setting s = make_setting(1, 9.81);
        add_mesh(&s, 0.7, 0.7, 0.1, (const double[3]){0, 0, -0.05});
        add_cube(&s, positions, 0.03, 0.12, 0);

        for (int i = 0; i < (TEST_SANITIZED ? 15 : 60); i++) {
            step(&s);
        }

        double force[3];
        const double thickness = 1e-3 * 0.2 * sqrt(3);
        sinew_contact_report report = sinew_world_get_contact_report(s.world);
        sinew_obstacle_get_force(s.obstacle, force, NULL);

        if (!TEST_SANITIZED) {
            assert_true(fabs(-force[2] / (8 * 9.81) - 1) < 1e-3);
            assert_true(fabs(report.smallest_gap / thickness - 1) < 0.05);
        }
        const sinew_contact *contacts;
        assert_true(sinew_world_get_contacts(s.world, &contacts) > 3);
        assert_ptr_equal(contacts[0].obstacle, s.obstacle);
        assert_ptr_equal(contacts[0].body, s.bodies[0]);
        assert_true(contacts[0].normal[2] > 0.99);
        destroy_setting(&s);
    }
}

// A snapshot taken while the cube rests on the mesh continues in another world.
static void test_mesh_snapshot(void **state) {
    (void)state;
    setting s[2];
    for (int k = 0; k < 2; k++) {
        s[k] = make_setting(1, 9.81);
        add_mesh(&s[k], 0.7, 0.7, 0.1, (const double[3]){0, 0, -0.05});
        add_cube(&s[k], false, 0.03, 0.102, 0);
    }
    for (int i = 0; i < 15; i++) {
        step(&s[0]);
    }

    const sinew_contact *contacts;
    assert_true(sinew_world_get_contacts(s[0].world, &contacts) > 0);
    test_touch_snapshot(s[0].context, s[0].world, s[1].world, 5);
    destroy_setting(&s[0]);
    destroy_setting(&s[1]);
}

// Frames of every sort land on a mesh.
static void test_kinds_on_mesh(void **state) {
    (void)state;

    for (test_kind kind = TEST_EMBEDDED; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        setting s = {.context = t.context, .world = t.world, .bodies = {t.body}, .count = 1};
        sinew_world_def def = sinew_world_get_def(t.world);
        def.gravity[2] = -9.81;
        def.step = 0.01;
        def.integrator = SINEW_INTEGRATOR_IMPLICIT_EULER;
        check(&s, sinew_world_set_def(t.world, &def));
        double low = INFINITY;
        const sinew_mesh *surface = sinew_body_get_surface(t.body);
        double *x = calloc(3 * (size_t)surface->point_count, sizeof *x);
        sinew_body_compute_surface(t.body, x, NULL);

        for (int32_t i = 0; i < surface->point_count; i++) {
            low = fmin(low, x[3 * i + 2]);
        }
        free(x);

        add_mesh(&s, 2, 2, 0.1, (const double[3]){0, 0, low - 0.06});

        for (int i = 0; i < (TEST_SANITIZED ? 5 : 30); i++) {
            step(&s);
        }
        sinew_measures measures;
        double force[3];
        sinew_body_get_measures(t.body, &measures);
        sinew_obstacle_get_force(s.obstacle, force, NULL);
        // Some still bounce or sway: a half of the weight.
        if (!TEST_SANITIZED && !(fabs(-force[2] / (9.81 * measures.mass) - 1) < 0.5)) {
            fail_msg("%s: %g of %g N", test_kind_name(kind), -force[2], 9.81 * measures.mass);
        }
        sinew_mesh_destroy(s.plate);
        test_kinds_destroy(&t);
    }
}

// A plate of 1 mm that moves by 10 mm a step pushes a free cube in front of it, and stops in front
// of a held one, where it stays.
static void test_fast_plate(void **state) {
    (void)state;

    for (int positions = 0; positions < 2; positions++) {
        for (int held = 0; held < 2; held++) {
            setting s = make_setting(1, 0);
            add_mesh(&s, 0.001, 0.5, 0.5, (const double[3]){-0.15, 0, 0});
            sinew_body *body = add_cube(&s, positions, 0, 0, 0);
            for (int32_t i = 0; held && i < s.cube->point_count; i++) {
                check(&s, sinew_body_fix_nodes(body, &i, 1, SINEW_AXIS_ALL));
            }

            for (int i = 1; i <= 20; i++) {
                const double to[3] = {-0.15 + 0.01 * i, 0, 0}, turn[4] = {0, 0, 0, 1};
                check(&s, sinew_obstacle_move(s.obstacle, to, turn));
                step(&s);
            }

            double position[3];
            sinew_measures measures;
            sinew_obstacle_get_pose(s.obstacle, position, NULL);
            sinew_body_get_measures(body, &measures);
            if (held) {
                assert_true(position[0] < -0.1 && position[0] > -0.11);
            } else {
                assert_true(measures.momentum[0] > 0.5 * 8); // the plate has 1 m/s
                assert_true(position[0] > 0);
            }
            destroy_setting(&s);
        }
    }
}

// A cube of either sort hits one of the other: momentum to 1e-7, the precision of projections, and
// no more energy than before.
static void test_mixed_collision(void **state) {
    (void)state;

    for (int moving = 0; moving < 2; moving++) {
        setting s = make_setting(1, 0);
        add_cube(&s, moving == 0, 0, 0, 1e-9);
        add_cube(&s, moving == 1, 0.03, 0.25, -1);
        sinew_measures before, after;
        sinew_world_get_measures(s.world, &before);

        for (int i = 0; i < 20; i++) {
            step(&s);
            sinew_world_get_measures(s.world, &after);
            assert_true(after.kinetic_energy < before.kinetic_energy * (1 + 1e-9));
        }
        assert_true(fabs(after.momentum[2] / before.momentum[2] - 1) < 1e-7);
        sinew_body_get_measures(s.bodies[0], &after);
        assert_true(after.momentum[2] < 0.3 * before.momentum[2]); // it was hit
        destroy_setting(&s);
    }
}

static setting make_pile(int32_t threads, int below) {
    setting s = make_setting(threads, 9.81);
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    check(&s, sinew_obstacle_create(s.world, &floor, NULL));
    add_cube(&s, below, 0, 0.101, 0);
    add_cube(&s, !below, 0.02, 0.32, 0);
    return s;
}

// One on the other: nothing intersects, and the floor carries both on average.
static void test_mixed_pile(void **state) {
    (void)state;

    for (int below = 0; below < 2; below++) {
        setting s = make_pile(1, below);
        double mean = 0;
        int steps = TEST_SANITIZED ? 10 : 110;

        for (int i = 0; i < steps; i++) {
            step(&s);
            double force[3];
            sinew_obstacle_get_force(sinew_world_get_obstacle(s.world, 0), force, NULL);
            mean += i >= steps - 60 ? -force[2] / 60 : 0;
        }
        assert_true(TEST_SANITIZED || fabs(mean / (16 * 9.81) - 1) < 0.02);
        destroy_setting(&s);
    }
}

static void test_same_bits(void **state) {
    (void)state;
    double *expected = NULL;
    int steps = TEST_SANITIZED ? 4 : 15;

    for (int32_t threads = 1; threads <= 4; threads++) {
        setting s = make_pile(threads, 1);
        add_mesh(&s, 0.3, 0.3, 0.05, (const double[3]){0.2, 0, 0.6});
        size_t size = 0;
        void *snapshot = NULL;

        for (int run = 0; run < (threads == 4 ? 3 : 2); run++) {
            for (int i = 0; i < steps; i++) {
                double down = run == 0 ? 0.6 - 0.01 * i : 0.6 - 0.01 * (steps + i);
                const double to[3] = {0.2, 0, down}, turn[4] = {0, 0, 0, 1};
                check(&s, sinew_obstacle_move(s.obstacle, to, turn));
                check(&s, sinew_world_step(s.world, NULL));
            }
            if (run == 0) {
                size = sinew_world_get_snapshot_size(s.world);
                snapshot = malloc(size);
                check(&s, sinew_world_take_snapshot(s.world, snapshot, size));
            } else if (run == 1 && threads == 4) {
                check(&s, sinew_world_restore_snapshot(s.world, snapshot, size));
            }
        }
        free(snapshot);

        size_t count = 3 * (size_t)sinew_body_get_node_count(s.bodies[0]);
        double *now = malloc(2 * count * sizeof *now);

        for (size_t i = 0; i < 2; i++) {
            memcpy(now + i * count, sinew_body_get_positions(s.bodies[i]), count * sizeof *now);
        }
        if (expected) {
            assert_memory_equal(now, expected, 2 * count * sizeof *now);
            free(now);
        } else {
            expected = now;
        }
        destroy_setting(&s);
    }
    free(expected);
}

// Surfaces that are no solids are refused with the reason, and nothing is left behind.
static void test_bad_meshes(void **state) {
    (void)state;
    setting s = make_setting(1, 0);
    sinew_mesh *box = make_box(&s, SINEW_ELEMENT_TRIANGLE, 1, 1, 1, 1);
    int32_t *indices = malloc(3 * (size_t)box->element_count * sizeof *indices);
    sinew_mesh bad = *box;
    bad.indices = indices;
    sinew_obstacle_def def = sinew_default_obstacle_def();
    def.kind = SINEW_OBSTACLE_MESH;
    assert_int_equal(sinew_obstacle_create(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.mesh = s.cube;
    assert_int_equal(sinew_obstacle_create(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.mesh = &bad;

    // Open.
    size_t bytes = 3 * (size_t)box->element_count * sizeof *indices;
    memcpy(indices, box->indices, bytes);
    bad.element_count--;
    assert_int_equal(sinew_obstacle_create(s.world, &def, NULL), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(s.context), "closed"));

    // Inside out.
    bad.element_count++;

    for (int32_t t = 0; t < bad.element_count; t++) {
        indices[3 * t] = box->indices[3 * t + 1];
        indices[3 * t + 1] = box->indices[3 * t];
    }
    assert_int_equal(sinew_obstacle_create(s.world, &def, NULL), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(s.context), "outwards"));

    // A point out of range.
    memcpy(indices, box->indices, bytes);
    indices[0] = box->point_count;
    assert_int_not_equal(sinew_obstacle_create(s.world, &def, NULL), SINEW_OK);

    // Flat: all points in one plane.
    double *points = malloc(3 * (size_t)box->point_count * sizeof *points);
    memcpy(indices, box->indices, bytes);

    for (int32_t i = 0; i < 3 * box->point_count; i++) {
        points[i] = i % 3 == 2 ? 0 : box->points[i];
    }
    bad.points = points;
    assert_int_equal(sinew_obstacle_create(s.world, &def, NULL), SINEW_INVALID_DATA);
    assert_int_equal(sinew_world_get_obstacle_count(s.world), 0);
    free(points);
    free(indices);
    sinew_mesh_destroy(box);
    destroy_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_on_mesh),    cmocka_unit_test(test_mesh_snapshot),
        cmocka_unit_test(test_kinds_on_mesh),   cmocka_unit_test(test_fast_plate),
        cmocka_unit_test(test_mixed_collision), cmocka_unit_test(test_mixed_pile),
        cmocka_unit_test(test_same_bits),       cmocka_unit_test(test_bad_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
