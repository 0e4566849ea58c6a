// Bodies that fall together, close to each other: until the first of them lands they fall as they
// would alone, later none is left hanging in the air, and energy never rises.
#include "support/test.h"
#include "support/touch.h"

#include "sinew/sinew.h"

#include <math.h>

enum { BODIES = 10 };

static const double gravity = 9.81;
static const double step_length = 0.01;

typedef enum pour_kind { POUR_AFFINE, POUR_RIGID_FRAMES, POUR_RIGID, POUR_ELEMENTS } pour_kind;

typedef struct setting {
    sinew_context *context;
    sinew_world *world;
    sinew_mesh *mesh, *surface;
    sinew_voxels *voxels;
    sinew_body *bodies[BODIES];
    sinew_point *centers[BODIES];
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

static setting make_setting(void) {
    setting s = {.world = NULL};
    sinew_context_def context = sinew_default_context_def();
    context.threads = 1;
    s.context = sinew_context_create(&context);
    assert_non_null(s.context);

    sinew_world_def world = sinew_default_world_def();
    world.gravity[2] = -gravity;
    world.step = step_length;
    check(&s, sinew_world_create(s.context, &world, &s.world));
    sinew_contact_def contact = sinew_default_contact_def();
    check(&s, sinew_world_set_contact(s.world, &contact));

    // Cubes of 0.1 m.
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = shape.size[1] = shape.size[2] = 0.1;
    shape.cells[0] = shape.cells[1] = shape.cells[2] = 3;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &s.mesh));
    shape.element = SINEW_ELEMENT_TRIANGLE;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &s.surface));
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();
    for (int k = 0; k < 3; k++) {
        solid.size[k] = 0.1;
        grid.spacing[k] = 0.02;
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

// A column whose members are a millimetre apart, each turned about z.
static void place(double *position, double *rotation, double *velocity, int i) {
    double angle = 0.3 * i;
    position[0] = 0.004 * (i % 3);
    position[2] = 0.5 + 0.101 * i;
    rotation[2] = sin(angle / 2);
    rotation[3] = cos(angle / 2);
    velocity[2] = -3;
}

static void add_body(setting *s, pour_kind kind, int i) {
    sinew_material_def material = sinew_default_material_def();
    material.young = 1e5;
    material.poisson = 0.3;
    if (kind == POUR_ELEMENTS) {
        sinew_body_def def = sinew_default_body_def();
        def.mesh = s->mesh;
        def.materials = &material;
        def.material_count = 1;
        place(def.position, def.rotation, def.velocity, i);
        check(s, sinew_body_create(s->world, &def, &s->bodies[i]));
    } else if (kind == POUR_RIGID) {
        sinew_rigid_body_def def = sinew_default_rigid_body_def();
        def.surface = s->surface;
        place(def.position, def.rotation, def.velocity, i);
        check(s, sinew_rigid_body_create(s->world, &def, &s->bodies[i]));
    } else {
        sinew_frame_node node = {.kind =
                                     kind == POUR_AFFINE ? SINEW_NODE_AFFINE : SINEW_NODE_RIGID};
        sinew_frame_body_def def = sinew_default_frame_body_def();
        def.voxels = s->voxels;
        def.nodes = &node;
        def.node_count = 1;
        def.materials = &material;
        def.material_count = 1;
        def.surface = s->surface;
        place(def.position, def.rotation, def.velocity, i);
        check(s, sinew_frame_body_create(s->world, &def, &s->bodies[i]));
    }
    check(s, sinew_point_create(s->bodies[i], (const double[3]){0, 0, 0}, &s->centers[i]));
}

// Intersections of different bodies: what a body does to itself is not asked for.
static int64_t count_meetings(const setting *s) {
    int64_t count = test_count_body_crossings(s->bodies, BODIES);
    for (int i = 0; i < BODIES; i++) {
        count -= test_count_body_crossings(&s->bodies[i], 1);
    }
    return count;
}

static double height(const setting *s, int i) {
    double position[3];
    check(s, sinew_point_get_position(s->centers[i], position));
    return position[2];
}

// Ten bodies in flight a millimetre apart, then on the floor.
static void check_pour(pour_kind kind) {
    setting s = make_setting();
    for (int i = 0; i < BODIES; i++) {
        add_body(&s, kind, i);
    }
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    check(&s, sinew_obstacle_create(s.world, &floor, NULL));

    double speed = -3;
    double fallen = 0; // by implicit Euler
    double start = 0;
    for (int n = 0; n < (TEST_SANITIZED ? 16 : 30); n++) {
        check(&s, sinew_world_step(s.world, NULL));
        if (n % 5 == 4) {
            assert_int_equal(count_meetings(&s), 0);
        }
        speed -= gravity * step_length;
        fallen += speed * step_length;

        // Elements are solved up to a tolerance of 1e-6; otherwise rounding is all there is.
        bool flies = 0.45 + fallen > 0.005;
        if (flies) {
            assert_true(sinew_world_get_contact_report(s.world).lag == 0);
        }
        for (int i = 0; i < BODIES; i++) {
            double free_height = 0.5 + 0.101 * i + fallen;
            if (flies) {
                assert_true(fabs(height(&s, i) - free_height) <
                            (kind == POUR_ELEMENTS ? 1e-6 : 1e-12));
            }

            // None hangs in the air: above both its free fall and its position in a stack by less
            // than what it moves in one step.
            double rest = 0.05 + 0.1 * i;
            assert_true(height(&s, i) - fmax(free_height, rest) < 0.045);
        }

        sinew_measures now;
        sinew_world_get_measures(s.world, &now);
        double energy = now.kinetic_energy + now.gravity_energy + now.elastic_energy;
        start = n == 0 ? energy : start;
        assert_true(energy <= start * (1 + 1e-9));
    }
    destroy_setting(&s);
}

static void test_affine(void **state) {
    (void)state;
    check_pour(POUR_AFFINE);
}

static void test_rigid_frames(void **state) {
    (void)state;
    check_pour(POUR_RIGID_FRAMES);
}

static void test_rigid(void **state) {
    (void)state;
    check_pour(POUR_RIGID);
}

static void test_elements(void **state) {
    (void)state;
    check_pour(POUR_ELEMENTS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_affine),
        cmocka_unit_test(test_rigid_frames),
        cmocka_unit_test(test_rigid),
        cmocka_unit_test(test_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
