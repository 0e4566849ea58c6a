// Kept matrices: steps of linear and warped bodies are those of the ordinary path, also with
// damping and moving supports, and any change that matters builds the matrix again.
#include "support/body.h"
#include "support/test.h"

#include "body/body.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINEAR, WARPED, KINDS };

static test_beam make(int kind) {
    test_beam_def def = test_default_beam_def();
    def.cells_along = 6;
    def.cells_across = 2;
    def.thickness = 0.2;
    def.material.young = 1e5;
    def.material.strain = SINEW_STRAIN_INFINITESIMAL;
    def.model = kind == WARPED ? SINEW_MODEL_WARPED : SINEW_MODEL_ELASTIC;
    def.stiffness_damping = 0.003;
    def.mass_damping = 0.1;
    def.world.solver_tolerance = 1e-12;
    test_beam bar = test_beam_create(&def);
    test_clamp(bar.body);
    return bar;
}

static void step(test_beam *bar) {
    assert_int_equal(sinew_world_step(bar->world, NULL), SINEW_OK);
}

// Moves the clamped end up and down.
static void shake(test_beam *bar, int count) {
    int32_t nodes[64];
    int32_t held = test_pick_nodes(bar->body, 0, -1e-9, 1e-9, nodes, 64);
    double targets[192];

    for (int32_t i = 0; i < held; i++) {
        memcpy(targets + 3 * i, bar->body->rest + 3 * nodes[i], 3 * sizeof *targets);
        targets[3 * i + 2] += 0.05 * sin(0.3 * count);
    }
    assert_int_equal(sinew_body_move_nodes(bar->body, nodes, held, targets), SINEW_OK);
}

// A spring that pulls with next to nothing puts a body onto the ordinary path.
static void test_same_as_ordinary(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        test_beam kept = make(kind), ordinary = make(kind);
        sinew_attachment_def spring = sinew_default_attachment_def();
        spring.body = ordinary.body;
        spring.stiffness = 1e-12;
        spring.rest[0] = 1;
        assert_int_equal(sinew_world_attach(ordinary.world, &spring, NULL), SINEW_OK);

        for (int i = 0; i < 60; i++) {
            shake(&kept, i);
            shake(&ordinary, i);
            step(&kept);
            step(&ordinary);
        }

        // Linear solves are accurate to 1e-12 of loads that bend the bar by its length.
        for (int32_t i = 0; i < sn_body_size(kept.body); i++) {
            test_close("position", kept.body->q[i], ordinary.body->q[i], 1e-9);
        }
        test_beam_destroy(&kept);
        test_beam_destroy(&ordinary);
    }
}

// What changes the matrix, one change at a time.
static void change(test_beam *bar, int number) {
    sinew_material_def material = sinew_default_material_def();
    sinew_world_def def;
    int32_t nodes[64];

    switch (number) {
    case 0:
        material.young = 3e5;
        material.strain = SINEW_STRAIN_INFINITESIMAL;
        assert_int_equal(sinew_body_set_material(bar->body, 0, &material), SINEW_OK);
        break;
    case 1:
        def = sinew_world_get_def(bar->world);
        def.step = 0.004;
        assert_int_equal(sinew_world_set_def(bar->world, &def), SINEW_OK);
        break;
    case 2:
        assert_int_equal(sinew_body_fix_nodes(bar->body, nodes,
                                              test_pick_nodes(bar->body, 0, 0.99, 2, nodes, 64),
                                              SINEW_AXIS_ALL),
                         SINEW_OK);
        break;
    case 3: // not whole rows, which the kept matrix of a warped body cannot hold
        assert_int_equal(sinew_body_fix_nodes(bar->body, nodes,
                                              test_pick_nodes(bar->body, 0, 0.99, 2, nodes, 64),
                                              SINEW_AXIS_Y),
                         SINEW_OK);
        break;
    default: break;
    }
}

// A world that stepped before the change goes on like a new one that begins with the snapshot.
static void test_changes(void **state) {
    (void)state;
    for (int k = 0; k < 4 * KINDS; k++) {
        test_beam old = make(k % KINDS), new = make(k % KINDS);
        for (int i = 0; i < 5; i++) {
            step(&old);
        }
        change(&old, k / KINDS);
        change(&new, k / KINDS);

        size_t size = sinew_world_get_snapshot_size(old.world);
        void *snapshot = malloc(size);
        assert_int_equal(sinew_world_take_snapshot(old.world, snapshot, size), SINEW_OK);
        assert_int_equal(sinew_world_restore_snapshot(new.world, snapshot, size), SINEW_OK);
        free(snapshot);

        uint64_t before = sinew_world_get_hash(old.world);
        for (int i = 0; i < 5; i++) {
            step(&old);
            step(&new);
        }
        assert_true(sinew_world_get_hash(old.world) != before);
        assert_true(sinew_world_get_hash(old.world) == sinew_world_get_hash(new.world));
        test_beam_destroy(&old);
        test_beam_destroy(&new);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_ordinary),
        cmocka_unit_test(test_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
