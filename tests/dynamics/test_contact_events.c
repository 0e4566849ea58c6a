// Events of contact: every kind of body begins to touch as it lands, on a plane, on a mesh and on
// another body, and ends when gravity turns.
#include "support/kinds.h"

#include <string.h>

static void check(const test_kinds *t, test_kind kind, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s: %s", test_kind_name(kind), sinew_context_message(t->context));
    }
}

static void set_gravity(const test_kinds *t, double z) {
    sinew_world_def def = sinew_world_get_def(t->world);
    def.gravity[2] = z;
    def.step = 0.01;
    check(t, TEST_TET4, sinew_world_set_def(t->world, &def));
}

// Adds up begun and ended events, which must be of this body and its support.
static int32_t count_events(const test_kinds *t, const sinew_body *body, const sinew_body *other,
                            const sinew_obstacle *obstacle) {
    const sinew_contact_event *events;
    int32_t count = sinew_world_get_contact_events(t->world, &events);
    int32_t sum = 0;
    for (int32_t e = 0; e < count; e++) {
        bool first = events[e].body == body && events[e].other == other;
        bool second = other && events[e].body == other && events[e].other == body;
        assert_true(first || second);
        assert_ptr_equal(events[e].obstacle, obstacle);
        assert_null(events[e].glue);
        sum += events[e].began ? 1 : -1;
    }
    return sum;
}

// Lands on what is below, and flies up again.
static void check_visit(const test_kinds *t, test_kind kind, const sinew_body *body,
                        const sinew_body *other, const sinew_obstacle *obstacle) {
    int32_t touching = 0, most = 0;
    for (int i = 0; i < 25; i++) {
        set_gravity(t, i < 12 ? -9.81 : 9.81);
        check(t, kind, sinew_world_step(t->world, NULL));
        touching += count_events(t, body, other, obstacle);
        assert_true(touching == 0 || touching == 1);
        most = touching > most ? touching : most;
    }
    if (most != 1 || touching != 0) {
        fail_msg("%s: at most %d, %d at the end", test_kind_name(kind), (int)most, (int)touching);
    }
}

static sinew_mesh *make_plate(const test_kinds *t) {
    sinew_shape_def shape = sinew_default_shape_def();
    sinew_mesh *plate = NULL;
    shape.element = SINEW_ELEMENT_TRIANGLE;
    shape.size[0] = 2;
    shape.cell_size = 1;
    check(t, TEST_TET4, sinew_mesh_create_shape(t->context, &shape, &plate));
    return plate;
}

static test_kinds make_world(void) {
    test_kinds t = test_kinds_create_world();
    sinew_contact_def contact = sinew_default_contact_def();
    check(&t, TEST_TET4, sinew_world_set_contact(t.world, &contact));
    return t;
}

static void test_obstacles(void **state) {
    (void)state;
    for (int mesh = 0; mesh < 2; mesh++) {
        for (int kind = 0; kind < TEST_KINDS; kind++) {
            test_kinds t = make_world();
            const sinew_body *body = test_kinds_add(&t, (test_kind)kind, (double[]){0, 0, 0.105});
            sinew_obstacle_def floor = sinew_default_obstacle_def();
            sinew_mesh *plate = make_plate(&t);
            if (mesh) {
                floor.kind = SINEW_OBSTACLE_MESH;
                floor.mesh = plate;
                floor.position[2] = -0.5;
            }

            sinew_obstacle *obstacle;
            check(&t, (test_kind)kind, sinew_obstacle_create(t.world, &floor, &obstacle));
            check_visit(&t, (test_kind)kind, body, NULL, obstacle);
            sinew_mesh_destroy(plate);
            test_kinds_destroy(&t);
        }
    }
}

// A held rigid plate below, which position dynamics meets as a body of the other sort.
static void test_bodies(void **state) {
    (void)state;
    for (int kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = make_world();
        const sinew_body *body = test_kinds_add(&t, (test_kind)kind, (double[]){0, 0, 0.105});
        sinew_mesh *plate = make_plate(&t);
        sinew_rigid_body_def def = sinew_default_rigid_body_def();
        sinew_body *other = NULL;
        def.surface = plate;
        def.held = true;
        def.position[2] = -0.5;
        check(&t, (test_kind)kind, sinew_rigid_body_create(t.world, &def, &other));
        check_visit(&t, (test_kind)kind, body, other, NULL);
        sinew_mesh_destroy(plate);
        test_kinds_destroy(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_obstacles),
        cmocka_unit_test(test_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
