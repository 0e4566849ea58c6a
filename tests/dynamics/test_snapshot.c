// Snapshots: one format with version, length, checksum and fingerprints. Damaged and foreign bytes
// are refused and change nothing; the clock counts steps.
#include "support/body.h"
#include "support/frames.h"
#include "support/test.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct saved {
    void *bytes;
    size_t size;
} saved;

static saved save(sinew_world *world) {
    saved s = {.size = sinew_world_get_snapshot_size(world)};
    s.bytes = malloc(s.size);
    assert_int_equal(sinew_world_take_snapshot(world, s.bytes, s.size), SINEW_OK);
    return s;
}

static void step(test_beam *bar, int count) {
    for (int i = 0; i < count; i++) {
        assert_int_equal(sinew_world_step(bar->world, NULL), SINEW_OK);
    }
}

// Flips bits, overwrites runs of bytes, cuts the end off or appends to it.
static size_t damage(sn_random *random, unsigned char *bytes, size_t size, size_t room) {
    size_t at = (size_t)(sn_random_unit(random) * (double)size);
    switch ((int)(4 * sn_random_unit(random))) {
    case 0: bytes[at] ^= (unsigned char)(1 << (int)(8 * sn_random_unit(random))); break;
    case 1:
        for (size_t i = at; i < size && i < at + 16; i++) {
            bytes[i] = (unsigned char)(bytes[i] + 1 + (int)(255 * sn_random_unit(random)));
        }
        break;
    case 2: return at;
    default: return size + 1 + (size_t)(sn_random_unit(random) * (double)(room - size - 1));
    }
    return size;
}

static void test_damaged_bytes_are_refused(void **state) {
    (void)state;
    test_beam_def def = test_default_beam_def();
    def.cells_along = 2;
    test_beam bar = test_beam_create(&def);
    test_clamp(bar.body);
    step(&bar, 3);
    saved good = save(bar.world);
    step(&bar, 1);

    uint64_t hash = sinew_world_get_hash(bar.world);
    size_t room = good.size + 64;
    sn_random random = sn_random_seed(7);

    for (int i = 0; i < 10000; i++) {
        unsigned char *bytes = malloc(room);
        memset(bytes, 0, room);
        memcpy(bytes, good.bytes, good.size);
        size_t size = damage(&random, bytes, good.size, room);
        double time;

        assert_false(sinew_snapshot_get_time(bytes, size, &time));
        assert_int_equal(sinew_world_restore_snapshot(bar.world, bytes, size), SINEW_INVALID_DATA);
        free(bytes);
    }

    assert_true(sinew_world_get_hash(bar.world) == hash);
    assert_int_equal(sinew_world_restore_snapshot(bar.world, NULL, 0), SINEW_INVALID_DATA);
    assert_int_equal(sinew_world_take_snapshot(bar.world, NULL, 0), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_world_restore_snapshot(bar.world, good.bytes, good.size), SINEW_OK);
    free(good.bytes);
    test_beam_destroy(&bar);
}

// Worlds that differ from the first in one thing each, and the word that the message names it by.
static void test_foreign_bytes_are_refused(void **state) {
    (void)state;
    static const char *const words[] = {NULL,    "materials",  "meshes",
                                        "steps", "integrator", "bodies"};
    saved first = {NULL, 0};
    for (int i = 0; i < 6; i++) {
        test_beam_def def = test_default_beam_def();
        def.material.young *= i == 1 ? 1.5 : 1;
        def.length *= i == 2 ? 1.5 : 1;
        def.world.step *= i == 3 ? 0.5 : 1;
        def.world.integrator =
            i == 4 ? SINEW_INTEGRATOR_NEWTON_EULER : SINEW_INTEGRATOR_IMPLICIT_EULER;
        def.cells_along += i == 5;

        test_beam bar = test_beam_create(&def);
        if (i == 0) {
            step(&bar, 2);
            first = save(bar.world);
        }

        sinew_status status = sinew_world_restore_snapshot(bar.world, first.bytes, first.size);
        assert_int_equal(status, i == 0 ? SINEW_OK : SINEW_INVALID_DATA);
        if (words[i] && !strstr(sinew_context_message(bar.context), words[i])) {
            fail_msg("\"%s\" does not contain \"%s\"", sinew_context_message(bar.context),
                     words[i]);
        }
        test_beam_destroy(&bar);
    }
    free(first.bytes);
}

// Attachments move, stiffen and pull; a snapshot takes them back.
// Frame bodies with the same counts that were made otherwise: each change alone is noticed.
static void test_other_frames_are_refused(void **state) {
    (void)state;
    enum { CHANGES = 7 };
    saved first = {.size = 0};
    for (int change = -1; change < CHANGES; change++) {
        test_frames_def def = test_default_frames_def(SINEW_NODE_RIGID, 0.4);
        switch (change) {
        case 0: def.body.weights.axis[1] = 0.1; break;
        case 1: def.body.weights.kind = SINEW_WEIGHTS_AXIS_CUBIC; break;
        case 2: def.body.weights.cutoff = 1e-3; break;
        case 3: def.body.sampling.count = 40; break;
        case 4: def.body.mass = SINEW_FRAME_MASS_CONSISTENT; break;
        case 5: def.body.springs = true; break;
        case 6: def.material.young *= 2; break;
        default: break;
        }

        test_frames f = test_frames_create(test_context(1), &def);
        if (change < 0) {
            first = save(f.world);
        }
        sinew_status status = sinew_world_restore_snapshot(f.world, first.bytes, first.size);
        assert_int_equal(status, change < 0 ? SINEW_OK : SINEW_INVALID_DATA);
        test_frames_destroy(&f);
    }
    free(first.bytes);
}

// The same for elements: the axes of the material, and how volume is resisted.
static void test_other_elements_are_refused(void **state) {
    (void)state;
    saved first = {.size = 0};
    for (int change = -1; change < 3; change++) {
        sinew_context *context = test_context(1);
        sinew_shape_def shape = sinew_default_shape_def();
        sinew_mesh *mesh;
        sinew_world_def world_def = sinew_default_world_def();
        sinew_world *world;
        assert_int_equal(sinew_mesh_create_shape(context, &shape, &mesh), SINEW_OK);
        assert_int_equal(sinew_world_create(context, &world_def, &world), SINEW_OK);

        double *axes = calloc(9 * (size_t)mesh->element_count, sizeof *axes);
        for (int32_t e = 0; e < mesh->element_count; e++) {
            double sign = change == 0 ? -1 : 1;
            axes[9 * e] = axes[9 * e + 4] = sign;
            axes[9 * e + 8] = 1;
        }

        sinew_body_def def = sinew_default_body_def();
        def.mesh = mesh;
        def.material_axes = axes;
        def.volume = change == 1 ? SINEW_VOLUME_AVERAGED : SINEW_VOLUME_STANDARD;
        def.mass = change == 2 ? SINEW_MASS_CONSISTENT : SINEW_MASS_LUMPED;
        assert_int_equal(sinew_body_create(world, &def, NULL), SINEW_OK);
        if (change < 0) {
            first = save(world);
        }
        sinew_status status = sinew_world_restore_snapshot(world, first.bytes, first.size);
        assert_int_equal(status, change < 0 ? SINEW_OK : SINEW_INVALID_DATA);

        free(axes);
        sinew_world_destroy(world);
        sinew_mesh_destroy(mesh);
        sinew_context_destroy(context);
    }
    free(first.bytes);
}

static void test_attachments_are_part(void **state) {
    (void)state;
    test_beam_def def = test_default_beam_def();
    test_beam bar = test_beam_create(&def);
    test_clamp(bar.body);
    sinew_attachment_def tie = sinew_default_attachment_def();
    sinew_attachment *attachment;
    tie.body = bar.body;
    tie.node = sinew_body_get_node_count(bar.body) - 1;
    tie.stiffness = 50;
    assert_int_equal(sinew_world_attach(bar.world, &tie, &attachment), SINEW_OK);

    const double away[3] = {1, 0.3, 0.2};
    assert_int_equal(sinew_attachment_set_target(attachment, away), SINEW_OK);
    step(&bar, 3);
    saved early = save(bar.world);
    step(&bar, 3);
    uint64_t hash = sinew_world_get_hash(bar.world);

    const double other[3] = {0, 1, 0};
    assert_int_equal(sinew_attachment_set_target(attachment, other), SINEW_OK);
    assert_int_equal(sinew_attachment_set_stiffness(attachment, 0), SINEW_OK);
    step(&bar, 1);
    assert_int_equal(sinew_world_restore_snapshot(bar.world, early.bytes, early.size), SINEW_OK);
    step(&bar, 3);
    assert_true(sinew_world_get_hash(bar.world) == hash);
    assert_true(sinew_attachment_get_stiffness(attachment) == 50);

    sinew_attachment_destroy(attachment);
    assert_int_equal(sinew_world_restore_snapshot(bar.world, early.bytes, early.size),
                     SINEW_INVALID_DATA);
    free(early.bytes);
    test_beam_destroy(&bar);
}

// 0.1 s a thousand times is 100 s exactly, which a sum of tenths misses; and so with two lengths.
static void test_time_is_counted_in_steps(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_world_def def = sinew_default_world_def();
    sinew_world *world;
    def.step = 0.1;
    assert_int_equal(sinew_world_create(context, &def, &world), SINEW_OK);

    for (int i = 1; i <= 1000; i++) {
        double expected = sinew_world_get_time_after(world, 1);
        assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
        assert_true(sinew_world_get_time(world) == expected);
        assert_true(sinew_world_get_time(world) == i * 0.1);
    }

    def.step = 0.25;
    assert_int_equal(sinew_world_set_def(world, &def), SINEW_OK);
    assert_true(sinew_world_get_time(world) == 100);
    assert_int_equal(sinew_world_step(world, NULL), SINEW_OK);
    assert_true(sinew_world_get_time(world) == 100.25);
    sinew_world_destroy(world);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_bytes_are_refused),
        cmocka_unit_test(test_foreign_bytes_are_refused),
        cmocka_unit_test(test_other_frames_are_refused),
        cmocka_unit_test(test_other_elements_are_refused),
        cmocka_unit_test(test_attachments_are_part),
        cmocka_unit_test(test_time_is_counted_in_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
