// Static solves of bodies that can still move as a whole: refused before the solve, and the message
// names the motion.
#include "support/body.h"
#include "support/frames.h"
#include "support/test.h"

#include <string.h>

// Holds the nodes with lower <= rest coordinate `axis` <= upper along `axes`.
static void hold(test_beam *bar, int axis, double lower, double upper, int32_t axes) {
    int32_t nodes[256];
    int32_t count = test_pick_nodes(bar->body, axis, lower, upper, nodes, 256);
    assert_int_equal(sinew_body_fix_nodes(bar->body, nodes, count, axes), SINEW_OK);
}

static void expect(sinew_context *context, sinew_world *world, const char *const *words,
                   const char *const *absent) {
    sinew_static_def def = sinew_default_static_def();
    uint64_t hash = sinew_world_get_hash(world);
    sinew_status status = sinew_world_solve_static(world, &def, NULL);
    const char *message = sinew_context_message(context);

    assert_int_equal(status, words[0] ? SINEW_INVALID_ARGUMENT : SINEW_OK);
    for (int i = 0; words[i]; i++) {
        if (!strstr(message, words[i])) {
            fail_msg("\"%s\" does not contain \"%s\"", message, words[i]);
        }
    }
    for (int i = 0; words[0] && absent[i]; i++) {
        assert_null(strstr(message, absent[i]));
    }
    if (words[0]) {
        assert_true(sinew_world_get_hash(world) == hash);
    }
}

#define WORDS(...)                                                                                 \
    (const char *const[]) {                                                                        \
        __VA_ARGS__, NULL                                                                          \
    }
#define NONE                                                                                       \
    (const char *const[]) {                                                                        \
        NULL                                                                                       \
    }

static void test_elements(void **state) {
    (void)state;
    test_beam_def def = test_default_beam_def();

    test_beam bar = test_beam_create(&def);
    expect(bar.context, bar.world,
           WORDS("bar", "translate along x", "translate along z", "rotate about z"), NONE);

    // A roller: the end may slide in its plane.
    hold(&bar, 0, -1e-9, 1e-9, 1);
    expect(bar.context, bar.world,
           WORDS("translate along y", "translate along z", "rotate about x"),
           WORDS("along x", "about y", "about z"));

    // Held across: it may slide along its axis, and rotate about the end's diameters.
    hold(&bar, 0, -1e-9, 1e-9, 6);
    expect(bar.context, bar.world, WORDS("translate along x"),
           WORDS("along y", "along z", "about x"));
    hold(&bar, 0, -1e-9, 1e-9, 7);
    expect(bar.context, bar.world, NONE, NONE);
    test_beam_destroy(&bar);
}

static void test_attachments(void **state) {
    (void)state;
    test_beam_def def = test_default_beam_def();
    test_beam bar = test_beam_create(&def);
    sinew_attachment_def tie = sinew_default_attachment_def();
    tie.body = bar.body;

    // One point is a ball joint; all points of one end hold it.
    tie.node = 0;
    assert_int_equal(sinew_world_attach(bar.world, &tie, NULL), SINEW_OK);
    expect(bar.context, bar.world, WORDS("rotate about x", "rotate about y", "rotate about z"),
           WORDS("translate"));

    int32_t nodes[64];
    int32_t count = test_pick_nodes(bar.body, 0, -1e-9, 1e-9, nodes, 64);
    for (int32_t i = 0; i < count; i++) {
        tie.node = nodes[i];
        tie.stiffness = 1e5;
        assert_int_equal(sinew_world_attach(bar.world, &tie, NULL), SINEW_OK);
    }
    expect(bar.context, bar.world, NONE, NONE);
    test_beam_destroy(&bar);
}

static void test_frames_of_each_kind(void **state) {
    (void)state;
    static const sinew_node_kind kinds[] = {SINEW_NODE_RIGID, SINEW_NODE_AFFINE};
    for (int i = 0; i < 2; i++) {
        test_frames_def def = test_default_frames_def(kinds[i], 0.4);
        test_frames f = test_frames_create(test_context(1), &def);

        assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_TRANSLATION), SINEW_OK);
        expect(f.context, f.world, WORDS("rotate about x", "rotate about y", "rotate about z"),
               WORDS("translate"));
        assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ROTATION), SINEW_OK);
        expect(f.context, f.world, WORDS("translate along x", "translate along y"),
               WORDS("rotate"));
        assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
        expect(f.context, f.world, NONE, NONE);
        test_frames_destroy(&f);
    }
}

// One frame is held; four samples have 24 strains, the two free frames 24 unknowns, and some of the
// strains are of the held frame alone.
static void test_too_few_samples(void **state) {
    (void)state;
    static const int32_t counts[] = {1, 2, 4, 60};
    for (int i = 0; i < 4; i++) {
        test_frames_def def = test_default_frames_def(SINEW_NODE_AFFINE, 0.4);
        def.body.sampling.kind = SINEW_SAMPLING_MIDPOINT;
        def.body.sampling.count = counts[i];

        test_frames f = test_frames_create(test_context(1), &def);
        assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
        if (counts[i] < 10) {
            expect(f.context, f.world, WORDS("frame", "without straining", "more samples"), NONE);
        } else {
            expect(f.context, f.world, NONE, NONE);
        }
        test_frames_destroy(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_attachments),
        cmocka_unit_test(test_frames_of_each_kind),
        cmocka_unit_test(test_too_few_samples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
