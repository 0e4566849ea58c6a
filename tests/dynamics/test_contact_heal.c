// Bodies that overlap when a run begins: healed, ignored or refused, and reported in every case.
#include "support/test.h"
#include "support/touch.h"

#include "sinew/sinew.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4 };

typedef struct setting {
    sinew_context *context;
    sinew_world *world;
    sinew_mesh *mesh, *surface;
    sinew_voxels *voxels;
    sinew_body *bodies[MOST];
    int count;
} setting;

typedef enum heal_kind { HEAL_ELEMENTS, HEAL_AFFINE, HEAL_RIGID } heal_kind;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

static setting make_setting(sinew_contact_overlap_rule rule, double gravity) {
    setting s = {.world = NULL};
    sinew_context_def context = sinew_default_context_def();
    context.threads = 1;
    s.context = sinew_context_create(&context);
    assert_non_null(s.context);

    sinew_world_def world = sinew_default_world_def();
    world.gravity[2] = -gravity;
    world.step = 0.01;
    check(&s, sinew_world_create(s.context, &world, &s.world));
    sinew_contact_def contact = sinew_default_contact_def();
    contact.overlaps = rule;
    check(&s, sinew_world_set_contact(s.world, &contact));

    // Cubes of 0.2 m.
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = shape.size[1] = shape.size[2] = 0.2;
    shape.cells[0] = shape.cells[1] = shape.cells[2] = 2;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &s.mesh));
    check(&s, sinew_mesh_create_surface(s.context, s.mesh, &s.surface, NULL));
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();
    for (int k = 0; k < 3; k++) {
        solid.size[k] = 0.2;
        grid.spacing[k] = 0.05;
    }
    check(&s, sinew_voxels_create_from_solids(s.context, &solid, 1, &grid, &s.voxels));
    return s;
}

static void destroy_setting(setting *s) {
    sinew_world_destroy(s->world);
    sinew_voxels_destroy(s->voxels);
    sinew_mesh_destroy(s->surface);
    sinew_mesh_destroy(s->mesh);
    sinew_context_destroy(s->context);
}

static void add_body(setting *s, heal_kind kind, const double position[3], const double rotation[4],
                     double scale) {
    sinew_material_def material = sinew_default_material_def();
    material.young = 1e5;
    material.poisson = 0.3;
    sinew_body **body = &s->bodies[s->count++];
    if (kind == HEAL_ELEMENTS) {
        sinew_body_def def = sinew_default_body_def();
        def.mesh = s->mesh;
        def.materials = &material;
        def.material_count = 1;
        memcpy(def.position, position, sizeof def.position);
        memcpy(def.rotation, rotation, sizeof def.rotation);
        check(s, sinew_body_create(s->world, &def, body));
    } else if (kind == HEAL_RIGID) {
        sinew_mesh *small;
        sinew_shape_def shape = sinew_default_shape_def();
        shape.size[0] = shape.size[1] = shape.size[2] = 0.2 * scale;
        shape.element = SINEW_ELEMENT_TRIANGLE;
        check(s, sinew_mesh_create_shape(s->context, &shape, &small));
        sinew_rigid_body_def def = sinew_default_rigid_body_def();
        def.surface = small;
        memcpy(def.position, position, sizeof def.position);
        memcpy(def.rotation, rotation, sizeof def.rotation);
        check(s, sinew_rigid_body_create(s->world, &def, body));
        sinew_mesh_destroy(small);
    } else {
        sinew_frame_node node = {.kind = SINEW_NODE_AFFINE};
        sinew_frame_body_def def = sinew_default_frame_body_def();
        def.voxels = s->voxels;
        def.nodes = &node;
        def.node_count = 1;
        def.materials = &material;
        def.material_count = 1;
        def.surface = s->surface;
        memcpy(def.position, position, sizeof def.position);
        memcpy(def.rotation, rotation, sizeof def.rotation);
        check(s, sinew_frame_body_create(s->world, &def, body));
    }
}

static int64_t count_meetings(const setting *s) {
    int64_t count = test_count_body_crossings(s->bodies, s->count);
    for (int i = 0; i < s->count; i++) {
        count -= test_count_body_crossings(&s->bodies[i], 1);
    }
    return count;
}

static const double upright[4] = {0, 0, 0, 1};

// Two to four bodies of any kind, at random positions so close together that most overlap. In free
// space they are led apart by their size, 0.35 m, a second; the deepest overlap of four cubes in a
// row takes three times their width, so two seconds are enough.
static void heal_random(uint32_t seed) {
    sn_random random = sn_random_seed(seed);
    setting s = make_setting(SINEW_OVERLAP_HEAL, 0);
    int count = 2 + (int)(sn_random_u32(&random) % 3);
    for (int i = 0; i < count; i++) {
        double position[3], rotation[4];
        for (int k = 0; k < 3; k++) {
            position[k] = sn_random_range(&random, -0.1, 0.1);
        }
        for (int k = 0; k < 4; k++) {
            rotation[k] = sn_random_range(&random, -1, 1);
        }
        add_body(&s, (heal_kind)(sn_random_u32(&random) % 3), position, rotation, 1);
    }

    bool overlapped = count_meetings(&s) > 0;
    int step = 0;
    for (; step < 200; step++) {
        check(&s, sinew_world_step(s.world, NULL));
        sinew_contact_report report = sinew_world_get_contact_report(s.world);
        if (step == 0 && overlapped) {
            assert_true(report.overlapping > 0);
        }
        if (report.overlapping == 0) {
            break;
        }
    }
    if (step == 200) {
        fail_msg("seed %u has not healed", seed);
    }
    assert_int_equal(count_meetings(&s), 0);

    // Nothing flies apart: healing moves, and gives no speed.
    sinew_measures now;
    sinew_world_get_measures(s.world, &now);
    assert_true(now.kinetic_energy < 0.5 * now.mass * 0.01);
    destroy_setting(&s);
}

static void test_random_starts(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= (TEST_SANITIZED ? 3 : 25); seed++) {
        heal_random(seed);
    }
}

// A small body in the middle of a large one comes out too, and is reported until then.
static void test_nested(void **state) {
    (void)state;
    setting s = make_setting(SINEW_OVERLAP_HEAL, 0);
    add_body(&s, HEAL_RIGID, (const double[3]){0, 0, 0}, upright, 1);
    add_body(&s, HEAL_RIGID, (const double[3]){0.01, 0, 0}, upright, 0.2);
    check(&s, sinew_world_step(s.world, NULL));
    sinew_contact_report report = sinew_world_get_contact_report(s.world);
    assert_int_equal(report.overlapping, 1);
    assert_true(report.deepest > 0.05);

    for (int step = 0; step < 200 && report.overlapping > 0; step++) {
        check(&s, sinew_world_step(s.world, NULL));
        report = sinew_world_get_contact_report(s.world);
    }
    assert_int_equal(report.overlapping, 0);
    assert_int_equal(count_meetings(&s), 0);
    destroy_setting(&s);
}

// On a floor, under gravity: what comes apart does not sink into each other meanwhile.
static void test_on_a_floor(void **state) {
    (void)state;
    for (heal_kind kind = HEAL_ELEMENTS; kind <= HEAL_RIGID; kind++) {
        setting s = make_setting(SINEW_OVERLAP_HEAL, 9.81);
        add_body(&s, kind, (const double[3]){0, 0, 0.101}, upright, 1);
        add_body(&s, kind, (const double[3]){0.01, 0.02, 0.28}, upright, 1);
        sinew_obstacle_def floor = sinew_default_obstacle_def();
        check(&s, sinew_obstacle_create(s.world, &floor, NULL));
        for (int step = 0; step < 60; step++) {
            check(&s, sinew_world_step(s.world, NULL));
        }
        assert_int_equal(sinew_world_get_contact_report(s.world).overlapping, 0);
        assert_int_equal(count_meetings(&s), 0);
        destroy_setting(&s);
    }
}

// Ignored bodies pass through each other and are still reported.
static void test_ignored(void **state) {
    (void)state;
    setting s = make_setting(SINEW_OVERLAP_IGNORE, 0);
    add_body(&s, HEAL_AFFINE, (const double[3]){0, 0, 0}, upright, 1);
    add_body(&s, HEAL_AFFINE, (const double[3]){0.1, 0.01, 0.02}, upright, 1);
    for (int step = 0; step < 5; step++) {
        check(&s, sinew_world_step(s.world, NULL));
        sinew_contact_report report = sinew_world_get_contact_report(s.world);
        assert_int_equal(report.overlapping, 1);
        assert_true(report.deepest > 0);
        assert_true(report.largest_force == 0);
    }
    sinew_measures now;
    sinew_world_get_measures(s.world, &now);
    assert_true(now.kinetic_energy < 1e-20);
    destroy_setting(&s);
}

static void test_refused(void **state) {
    (void)state;
    setting s = make_setting(SINEW_OVERLAP_REFUSE, 9.81);
    add_body(&s, HEAL_ELEMENTS, (const double[3]){0, 0, 0}, upright, 1);
    add_body(&s, HEAL_RIGID, (const double[3]){0.15, 0.01, 0.02}, upright, 1);
    for (int attempt = 0; attempt < 2; attempt++) {
        assert_int_equal(sinew_world_step(s.world, NULL), SINEW_INVALID_DATA);
        assert_non_null(strstr(sinew_context_message(s.context), "overlap"));
        assert_true(sinew_world_get_time(s.world) == 0);
    }
    destroy_setting(&s);

    // What is apart is not refused.
    s = make_setting(SINEW_OVERLAP_REFUSE, 9.81);
    add_body(&s, HEAL_ELEMENTS, (const double[3]){0, 0, 0}, upright, 1);
    add_body(&s, HEAL_RIGID, (const double[3]){0.21, 0.01, 0.02}, upright, 1);
    check(&s, sinew_world_step(s.world, NULL));
    destroy_setting(&s);
}

// A run continued from a snapshot heals with the same bits.
static void test_snapshot(void **state) {
    (void)state;
    double ends[2][3];
    for (int round = 0; round < 2; round++) {
        setting s = make_setting(SINEW_OVERLAP_HEAL, 0);
        add_body(&s, HEAL_AFFINE, (const double[3]){0, 0, 0}, upright, 1);
        add_body(&s, HEAL_ELEMENTS, (const double[3]){0.1, 0.01, 0.02}, upright, 1);
        sinew_point *point;
        check(&s, sinew_point_create(s.bodies[1], (const double[3]){0, 0, 0}, &point));
        for (int step = 0; step < 20; step++) {
            check(&s, sinew_world_step(s.world, NULL));
            if (round == 1 && step == 7) {
                size_t size = sinew_world_get_snapshot_size(s.world);
                void *bytes = malloc(size);
                assert_non_null(bytes);
                check(&s, sinew_world_take_snapshot(s.world, bytes, size));
                for (int more = 0; more < 3; more++) {
                    check(&s, sinew_world_step(s.world, NULL));
                }
                check(&s, sinew_world_restore_snapshot(s.world, bytes, size));
                free(bytes);
            }
        }
        check(&s, sinew_point_get_position(point, ends[round]));
        destroy_setting(&s);
    }
    assert_memory_equal(ends[0], ends[1], sizeof ends[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_starts), cmocka_unit_test(test_nested),
        cmocka_unit_test(test_on_a_floor),    cmocka_unit_test(test_ignored),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
