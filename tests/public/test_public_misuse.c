// Calls that do not fit, with public headers only: numbers of nodes on bodies without nodes,
// definitions that were never filled in, and what a host hangs on a body.
#include "support/kinds.h"

#include <string.h>

static void test_nodes_of_frames(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        if (!test_kind_has_frames(kind)) {
            continue;
        }

        test_kinds t = test_kinds_create(kind);
        uint64_t before = sinew_world_get_hash(t.world);
        const int32_t node = 0;
        double numbers[3] = {7, 8, 9};
        const double same[3] = {7, 8, 9};
        sinew_element_state feels;
        assert_int_equal(sinew_body_get_node_count(t.body), 0);
        assert_null(sinew_body_get_positions(t.body));
        assert_null(sinew_body_get_velocities(t.body));
        assert_int_equal(sinew_body_set_positions(t.body, numbers), SINEW_UNSUPPORTED);
        assert_int_equal(sinew_body_set_velocities(t.body, numbers), SINEW_UNSUPPORTED);
        assert_int_equal(sinew_body_fix_nodes(t.body, &node, 1, SINEW_AXIS_ALL), SINEW_UNSUPPORTED);
        assert_int_equal(sinew_body_move_nodes(t.body, &node, 1, numbers), SINEW_UNSUPPORTED);
        assert_int_equal(sinew_body_set_forces(t.body, &node, 1, numbers), SINEW_UNSUPPORTED);
        assert_int_equal(sinew_body_get_element_state(t.body, 0, &feels), SINEW_UNSUPPORTED);
        assert_int_equal(sinew_body_compute_modes(t.body, 1, numbers, numbers), SINEW_UNSUPPORTED);

        // Without nodes, nothing is read or written.
        sinew_body_compute_elastic_forces(t.body, numbers);
        sinew_body_compute_reactions(t.body, numbers);
        sinew_body_compute_element_states(t.body, NULL);
        assert_memory_equal(numbers, same, sizeof same);
        assert_true(sinew_world_get_hash(t.world) == before);
        test_kinds_destroy(&t);
    }
}

static void test_frames_of_elements(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_TET4);
    double numbers[9];
    assert_int_equal(sinew_frame_body_get_node_count(t.body), 0);
    assert_int_equal(sinew_frame_body_get_node(t.body, 0, numbers, NULL), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_frame_body_hold(t.body, 0, SINEW_HOLD_ALL), SINEW_INVALID_ARGUMENT);
    test_kinds_destroy(&t);
}

// The message names the default-maker.
static void refused(const test_kinds *t, sinew_status status, const char *maker) {
    assert_int_equal(status, SINEW_INVALID_ARGUMENT);
    if (!strstr(sinew_context_message(t->context), maker)) {
        fail_msg("\"%s\" does not name %s", sinew_context_message(t->context), maker);
    }
}

static void test_unfilled(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_RIGID_FRAMES);
    for (int garbage = 0; garbage < 2; garbage++) {
        sinew_world_def world;
        sinew_body_def body;
        sinew_frame_body_def frames;
        sinew_pbd_body_def positions;
        sinew_load_def load;
        sinew_attachment_def attachment;
        sinew_frame_insert_def insert;
        sinew_material_def material;
        sinew_static_def solve;
        int byte = garbage ? 0xa5 : 0;
        memset(&world, byte, sizeof world);
        memset(&body, byte, sizeof body);
        memset(&frames, byte, sizeof frames);
        memset(&positions, byte, sizeof positions);
        memset(&load, byte, sizeof load);
        memset(&attachment, byte, sizeof attachment);
        memset(&insert, byte, sizeof insert);
        memset(&material, byte, sizeof material);
        memset(&solve, byte, sizeof solve);

        sinew_world *none = NULL;
        refused(&t, sinew_world_create(t.context, &world, &none), "sinew_default_world_def");
        refused(&t, sinew_world_set_def(t.world, &world), "sinew_default_world_def");
        refused(&t, sinew_body_create(t.world, &body, NULL), "sinew_default_body_def");
        refused(&t, sinew_pbd_body_create(t.world, &positions, NULL), "sinew_default_pbd_body_def");
        refused(&t, sinew_body_add_load(t.body, &load, NULL), "sinew_default_load_def");
        refused(&t, sinew_world_attach(t.world, &attachment, NULL), "sinew_default_attachment_def");
        refused(&t, sinew_frame_body_insert(t.body, &insert, NULL),
                "sinew_default_frame_insert_def");
        refused(&t, sinew_check_material(t.context, &material), "sinew_default_material_def");
        refused(&t, sinew_world_solve_static(t.world, &solve, NULL), "sinew_default_static_def");
        refused(&t, sinew_frame_body_create(t.world, &frames, NULL),
                "sinew_default_frame_body_def");
    }

    assert_int_equal(sinew_world_get_body_count(t.world), 1);
    test_kinds_destroy(&t);
}

static void test_user(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_POSITIONS);
    assert_null(sinew_body_get_user(t.body));
    sinew_body_set_user(t.body, &t);
    assert_ptr_equal(sinew_body_get_user(t.body), &t);
    sinew_body_destroy(NULL);
    sinew_point_destroy(NULL);
    sinew_attachment_destroy(NULL);
    sinew_world_destroy(NULL);
    test_kinds_destroy(&t);
}

static void test_gravity_points_down(void **state) {
    (void)state;
    double down[2] = {sinew_default_world_def().gravity[2], sinew_default_pbd_def().gravity[2]};
    assert_true(down[0] == -9.81 && down[1] == -9.81);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_of_frames),
        cmocka_unit_test(test_frames_of_elements),
        cmocka_unit_test(test_unfilled),
        cmocka_unit_test(test_user),
        cmocka_unit_test(test_gravity_points_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
