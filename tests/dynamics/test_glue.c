// Glue: holds at 0.99 of its strength and breaks at 1.01, for bodies of all sorts; events,
// snapshots, contact afterwards.
#include "support/test.h"
#include "support/touch.h"

#include <math.h>
#include <stdlib.h>

static const double side = 0.2;
static const double mass = 8; // of a cube of 1 000 kg/m^3

typedef struct setting {
    sinew_context *context;
    sinew_world *world;
    sinew_body *upper, *lower;
    sinew_glue *glue;
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

static sinew_body *add_cube(setting *s, bool rigid, bool held, double z) {
    sinew_body *body = NULL;
    sinew_shape_def shape = sinew_default_shape_def();
    sinew_mesh *mesh = NULL;
    shape.element = rigid ? SINEW_ELEMENT_TRIANGLE : SINEW_ELEMENT_TET4;
    for (int k = 0; k < 3; k++) {
        shape.size[k] = side;
        shape.cells[k] = 3;
    }
    check(s, sinew_mesh_create_shape(s->context, &shape, &mesh));

    if (rigid) {
        sinew_rigid_body_def def = sinew_default_rigid_body_def();
        def.surface = mesh;
        def.held = held;
        def.position[2] = z;
        check(s, sinew_rigid_body_create(s->world, &def, &body));
    } else {
        sinew_material_def material = sinew_default_material_def();
        sinew_body_def def = sinew_default_body_def();
        def.mesh = mesh;
        def.materials = &material;
        def.material_count = 1;
        def.mass_damping = 20;
        def.stiffness_damping = 0.01;
        def.position[2] = z;
        check(s, sinew_body_create(s->world, &def, &body));
        for (int32_t i = 0; held && i < mesh->point_count; i++) {
            if (mesh->points[3 * i + 2] > 0.4 * side) {
                check(s, sinew_body_fix_nodes(body, &i, 1, SINEW_AXIS_ALL));
            }
        }
    }
    sinew_mesh_destroy(mesh);
    return body;
}

static void set_gravity(const setting *s, double gravity) {
    sinew_world_def def = sinew_world_get_def(s->world);
    def.gravity[2] = -gravity;
    check(s, sinew_world_set_def(s->world, &def));
}

// A cube glued to the lower side of another that is held, with a strength of 8 kg times 10 m/s^2.
static setting make(bool rigid_upper, bool rigid_lower, double stiffness) {
    setting s = {.context = test_context(1)};
    sinew_contact_def contact = sinew_default_contact_def();
    s.world = test_touch_world(s.context, &contact, 0);
    s.upper = add_cube(&s, rigid_upper, true, side);
    s.lower = add_cube(&s, rigid_lower, false, -1e-4);

    sinew_glue_def def = sinew_default_glue_def();
    def.body = s.lower;
    def.target = s.upper;
    def.stiffness = stiffness;
    def.strength = mass * 10;
    check(&s, sinew_glue_create(s.world, &def, &s.glue));
    return s;
}

static void destroy(setting *s) {
    sinew_world_destroy(s->world);
    sinew_context_destroy(s->context);
}

// Raises gravity slowly. Returns how many events of broken glue there were.
static int ramp(const setting *s, double from, double to, int steps) {
    int broken = 0;
    for (int i = 1; i <= steps; i++) {
        set_gravity(s, from + (to - from) * fmin(1, i / (0.5 * steps)));
        check(s, sinew_world_step(s->world, NULL));
        const sinew_contact_event *events;
        int32_t count = sinew_world_get_contact_events(s->world, &events);
        for (int32_t k = 0; k < count; k++) {
            if (events[k].glue) {
                assert_ptr_equal(events[k].glue, s->glue);
                assert_ptr_equal(events[k].body, s->lower);
                assert_ptr_equal(events[k].other, s->upper);
                assert_false(events[k].began);
                broken++;
            }
        }
    }
    return broken;
}

static void test_strength(void **state) {
    (void)state;
    const struct {
        bool rigid_upper, rigid_lower;
        double stiffness;
    } cases[] = {
        {true, true, 0}, {true, false, 0}, {false, false, 0}, {true, true, 1e5}, {false, true, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        setting s = make(cases[k].rigid_upper, cases[k].rigid_lower, cases[k].stiffness);
        assert_int_equal(sinew_glue_get_count(s.glue), 16); // of one side
        assert_int_equal(ramp(&s, 0, 9.9, 100), 0);

        // It carries the weight; what still sways is less than the half per cent up to the limit.
        double force[3];
        check(&s, sinew_glue_get_force(s.glue, force));
        print_message("case %d: %.5f of the weight\n", (int)k, force[2] / (mass * 9.9));
        assert_true(fabs(force[2] / (mass * 9.9) - 1) < 5e-3);
        assert_false(sinew_glue_is_broken(s.glue));

        assert_int_equal(ramp(&s, 9.9, 10.1, 60), 1);
        assert_true(sinew_glue_is_broken(s.glue));
        check(&s, sinew_glue_get_force(s.glue, force));
        assert_true(force[2] == 0);
        destroy(&s);
    }
}

// Broken glue stays broken, and the bodies touch each other.
static void test_afterwards(void **state) {
    (void)state;
    setting s = make(true, true, 0);
    assert_int_equal(ramp(&s, 0, 12, 20), 1);

    // Up again: the lower cube would fall through the upper one if they did not touch.
    set_gravity(&s, -30);
    sinew_body *bodies[] = {s.upper, s.lower};
    for (int i = 0; i < 60; i++) {
        check(&s, sinew_world_step(s.world, NULL));
        assert_int_equal(test_count_body_crossings(bodies, 2), 0);
    }
    const sinew_contact *contacts;
    assert_true(sinew_world_get_contacts(s.world, &contacts) > 0);
    sinew_glue_destroy(s.glue);
    check(&s, sinew_world_step(s.world, NULL));
    destroy(&s);
}

// Snapshots of either state fit a world with the same glue.
static void test_snapshots(void **state) {
    (void)state;
    setting s = make(true, false, 0);
    setting copy = make(true, false, 0);
    ramp(&s, 0, 5, 10);
    set_gravity(&copy, 5);
    test_touch_snapshot(s.context, s.world, copy.world, 3);

    ramp(&s, 5, 15, 30);
    set_gravity(&copy, 15);
    assert_true(sinew_glue_is_broken(s.glue));
    assert_false(sinew_glue_is_broken(copy.glue));
    test_touch_snapshot(s.context, s.world, copy.world, 3);
    assert_true(sinew_glue_is_broken(copy.glue));
    destroy(&s);
    destroy(&copy);
}

static void test_misuse(void **state) {
    (void)state;
    setting s = make(true, true, 0);
    sinew_glue_def def = sinew_default_glue_def();
    assert_int_equal(sinew_glue_create(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.body = def.target = s.lower;
    assert_int_equal(sinew_glue_create(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.target = s.upper;
    def.strength = -1;
    assert_int_equal(sinew_glue_create(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.strength = 0;
    def.reach = 1e-9;
    assert_int_equal(sinew_glue_create(s.world, &def, NULL), SINEW_INVALID_ARGUMENT);

    // Glue goes with a body.
    sinew_body_destroy(s.lower);
    check(&s, sinew_world_step(s.world, NULL));
    destroy(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strength),
        cmocka_unit_test(test_afterwards),
        cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
