// Frequencies of a body as it stands: a block that lies on a floor vibrates like one whose lower
// face is held, by contact along the normal and by friction along the face. Blocks on each other
// vibrate together; what touches nothing is left out; hard attachments hold like supports.
#include "support/test.h"
#include "support/touch.h"

#include "sinew/sinew.h"

#include <math.h>

enum { MODES = 8 };

static const double edge = 0.2;

// The floor and friction are at least a hundred times as stiff as the vertices that press on them:
// each is a hundredth more compliant than a rigid support, and a frequency goes by the root.
static const double tolerance = 0.005;

typedef struct setting {
    sinew_context *context;
    sinew_mesh *cube;
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

static setting make_setting(void) {
    setting s = {.context = test_context(1)};
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = shape.size[1] = shape.size[2] = edge;
    shape.cells[0] = shape.cells[1] = shape.cells[2] = 3;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &s.cube));
    return s;
}

static void destroy_setting(setting *s) {
    sinew_mesh_destroy(s->cube);
    sinew_context_destroy(s->context);
}

static sinew_world *make_world(const setting *s) {
    sinew_world *world;
    sinew_world_def def = sinew_default_world_def();
    check(s, sinew_world_create(s->context, &def, &world));
    return world;
}

// The strain is infinitesimal, so that weight does not change the stiffness.
static sinew_body *add_cube(const setting *s, sinew_world *world, double x, double z) {
    sinew_material_def material = sinew_default_material_def();
    material.strain = SINEW_STRAIN_INFINITESIMAL;
    material.young = 1e6;
    material.poisson = 0.3;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = s->cube;
    def.materials = &material;
    def.material_count = 1;
    def.position[0] = x;
    def.position[2] = z;
    sinew_body *body;
    check(s, sinew_body_create(world, &def, &body));
    return body;
}

// Calls `hold` for the nodes of the lower face.
static void hold_face(const setting *s, sinew_body *body, int32_t axes) {
    for (int32_t i = 0; i < s->cube->point_count; i++) {
        if (s->cube->points[3 * i + 2] < -0.5 * edge + 1e-9) {
            check(s, sinew_body_fix_nodes(body, &i, 1, axes));
        }
    }
}

// A block on the floor, and one whose lower face is held along `axes`.
static void compare_on_floor(const setting *s, double friction, int32_t axes) {
    double expected[MODES], found[MODES];
    sinew_world *world = make_world(s);
    sinew_body *body = add_cube(s, world, 0, 0);
    hold_face(s, body, axes);
    check(s, sinew_body_compute_modes(body, MODES, expected, NULL));
    sinew_world_destroy(world);

    world = make_world(s);
    body = add_cube(s, world, 0, 0.5 * edge + 1e-3);
    sinew_body *other = add_cube(s, world, 3, 0.5 * edge + 1e-3);
    (void)other; // touches the same floor, but not the first
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    sinew_contact_def contact = sinew_default_contact_def();
    contact.friction = friction;
    check(s, sinew_obstacle_create(world, &floor, NULL));
    check(s, sinew_world_set_contact(world, &contact));
    sinew_static_def def = sinew_default_static_def();
    sinew_step_report report;
    check(s, sinew_world_solve_static(world, &def, &report));
    assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);

    uint64_t before = sinew_world_get_hash(world);
    check(s, sinew_body_compute_present_modes(body, MODES, found, NULL));
    assert_true(sinew_world_get_hash(world) == before);
    for (int i = 0; i < MODES; i++) {
        test_close("frequency", found[i], expected[i], tolerance * expected[i] + 1e-3);
    }
    sinew_world_destroy(world);
}

static void test_floor(void **state) {
    (void)state;
    setting s = make_setting();
    compare_on_floor(&s, 0, SINEW_AXIS_Z);
    compare_on_floor(&s, 1, SINEW_AXIS_ALL);
    destroy_setting(&s);
}

// Two cubes on each other, pressed, without friction: their lowest vertical mode is that of one of
// twice the height. Here the meshes match, so that it is the same discrete system.
static void test_stack(void **state) {
    (void)state;
    setting s = make_setting();
    double pair[MODES], one[MODES], shapes[MODES * 3 * 64];
    assert_int_equal(s.cube->point_count, 64);

    sinew_world *world = make_world(&s);
    sinew_body *lower = add_cube(&s, world, 0, 0.5 * edge + 1e-3);
    add_cube(&s, world, 0, 1.5 * edge + 2e-3);
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    sinew_contact_def contact = sinew_default_contact_def();
    contact.friction = 1;
    check(&s, sinew_obstacle_create(world, &floor, NULL));
    check(&s, sinew_world_set_contact(world, &contact));
    sinew_static_def def = sinew_default_static_def();
    check(&s, sinew_world_solve_static(world, &def, NULL));
    check(&s, sinew_body_compute_present_modes(lower, MODES, pair, shapes));
    sinew_world_destroy(world);

    // The same as one body.
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = shape.size[1] = edge;
    shape.size[2] = 2 * edge;
    shape.cells[0] = shape.cells[1] = 3;
    shape.cells[2] = 6;
    sinew_mesh *column;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &column));
    sinew_mesh *cube = s.cube;
    s.cube = column;
    world = make_world(&s);
    sinew_body *body = add_cube(&s, world, 0, 0);
    for (int32_t i = 0; i < column->point_count; i++) {
        if (column->points[3 * i + 2] < -edge + 1e-9) {
            check(&s, sinew_body_fix_nodes(body, &i, 1, SINEW_AXIS_ALL));
        }
    }
    check(&s, sinew_body_compute_modes(body, MODES, one, NULL));
    sinew_world_destroy(world);
    s.cube = cube;
    sinew_mesh_destroy(column);

    // Bending, torsion and stretch, among the first five.
    for (int i = 0; i < 4; i++) {
        test_close("frequency", pair[i], one[i], 0.02 * one[i]);
    }
    double moved = 0;
    for (int i = 0; i < 3 * 64; i++) {
        moved = fmax(moved, fabs(shapes[i]));
    }
    assert_true(moved > 0.01);
    destroy_setting(&s);
}

static void test_attachments(void **state) {
    (void)state;
    setting s = make_setting();
    double expected[MODES], found[MODES];
    sinew_world *world = make_world(&s);
    sinew_body *body = add_cube(&s, world, 0, 0);
    hold_face(&s, body, SINEW_AXIS_ALL);
    check(&s, sinew_body_compute_modes(body, MODES, expected, NULL));
    sinew_world_destroy(world);

    // Hard links have a penalty of a thousand times the stiffness around them.
    world = make_world(&s);
    body = add_cube(&s, world, 0, 0);
    for (int32_t i = 0; i < s.cube->point_count; i++) {
        if (s.cube->points[3 * i + 2] < -0.5 * edge + 1e-9) {
            sinew_attachment_def def = sinew_default_attachment_def();
            def.body = body;
            def.node = i;
            check(&s, sinew_world_attach(world, &def, NULL));
        }
    }
    check(&s, sinew_body_compute_present_modes(body, MODES, found, NULL));
    for (int i = 0; i < MODES; i++) {
        test_close("frequency", found[i], expected[i], 1e-3 * expected[i]);
    }

    // Without anything that acts, both are the same.
    sinew_world_destroy(world);
    world = make_world(&s);
    body = add_cube(&s, world, 0, 0);
    check(&s, sinew_body_compute_modes(body, MODES, expected, NULL));
    check(&s, sinew_body_compute_present_modes(body, MODES, found, NULL));
    for (int i = 0; i < MODES; i++) {
        test_close("frequency", found[i], expected[i], 1e-6 * expected[i] + 1e-3);
    }
    assert_int_equal(sinew_body_compute_present_modes(body, 0, found, NULL),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_body_compute_present_modes(body, 192, found, NULL),
                     SINEW_INVALID_ARGUMENT);
    sinew_world_destroy(world);
    destroy_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floor),
        cmocka_unit_test(test_stack),
        cmocka_unit_test(test_attachments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
