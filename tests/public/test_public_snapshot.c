// What a snapshot holds, with public headers only: forces on points and surfaces, attachments, for
// every kind of body. What follows a restore is bitwise what followed the snapshot.
#include "support/kinds.h"

#include <stdlib.h>
#include <string.h>

typedef struct saved {
    void *bytes;
    size_t size;
} saved;

static saved save(const test_kinds *t) {
    saved s = {.size = sinew_world_get_snapshot_size(t->world)};
    s.bytes = malloc(s.size);
    assert_non_null(s.bytes);
    assert_int_equal(sinew_world_take_snapshot(t->world, s.bytes, s.size), SINEW_OK);
    return s;
}

static void step(const test_kinds *t, int count) {
    for (int i = 0; i < count; i++) {
        if (sinew_world_step(t->world, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(t->context));
        }
    }
}

static void restore(const test_kinds *t, test_kind kind, saved s) {
    if (sinew_world_restore_snapshot(t->world, s.bytes, s.size) != SINEW_OK) {
        fail_msg("%s: %s", test_kind_name(kind), sinew_context_message(t->context));
    }
}

// The same force on every vertex of the surface.
static void push_surface(const test_kinds *t, double force) {
    int32_t count = sinew_body_get_surface(t->body)->point_count;
    double *forces = calloc(3 * (size_t)count, sizeof *forces);
    assert_non_null(forces);
    for (int32_t i = 0; i < count; i++) {
        forces[3 * (size_t)i + 2] = force / count;
    }
    assert_int_equal(sinew_body_set_surface_forces(t->body, forces), SINEW_OK);
    free(forces);
}

// What a hand does to a body: a spring, a hard tie, two points.
typedef struct hand {
    sinew_attachment *spring, *tie;
    sinew_point *points[2];
} hand;

static sinew_attachment *attach(const test_kinds *t, double x, double stiffness) {
    sinew_attachment_def def = sinew_default_attachment_def();
    sinew_attachment *attachment = NULL;
    def.body = t->body;
    def.rest[0] = x;
    def.stiffness = stiffness;
    assert_int_equal(sinew_world_attach(t->world, &def, &attachment), SINEW_OK);
    return attachment;
}

static hand touch(const test_kinds *t, test_kind kind) {
    hand h = {0};
    for (int i = 0; i < 2; i++) {
        const double rest[3] = {0.1 * i, 0.03, 0.02};
        assert_int_equal(sinew_point_create(t->body, rest, &h.points[i]), SINEW_OK);
    }
    if (kind != TEST_POSITIONS) {
        h.spring = attach(t, 0.4, 300);
        h.tie = attach(t, -0.4, 0);
    }
    return h;
}

// Moves everything that can be moved; `s` says how far.
static void move(const test_kinds *t, const hand *h, double s) {
    for (int i = 0; i < 2; i++) {
        const double force[3] = {0.1 * s, -0.2 * s, 0.3 * s * i};
        assert_int_equal(sinew_point_set_force(h->points[i], force), SINEW_OK);
    }
    push_surface(t, s);
    if (h->spring) {
        const double here[3] = {0.4, 1e-3 * s, 0}, there[3] = {-0.4, 0, 1e-4 * s};
        assert_int_equal(sinew_attachment_set_target(h->spring, here), SINEW_OK);
        assert_int_equal(sinew_attachment_set_target(h->tie, there), SINEW_OK);
        assert_int_equal(sinew_attachment_set_stiffness(h->spring, 300 + s), SINEW_OK);
    }
}

static void test_forces_and_targets(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        hand h = touch(&t, kind);
        move(&t, &h, 1);
        step(&t, 2);
        saved s = save(&t);
        step(&t, 3);
        uint64_t expected = sinew_world_get_hash(t.world);

        // Other forces, and a spring that has become a hard tie.
        move(&t, &h, -2);
        if (h.spring) {
            assert_int_equal(sinew_attachment_set_stiffness(h.spring, 0), SINEW_OK);
        }
        step(&t, 2);
        restore(&t, kind, s);
        if (h.spring) {
            assert_true(sinew_attachment_get_stiffness(h.spring) == 301);
        }
        step(&t, 3);
        if (sinew_world_get_hash(t.world) != expected) {
            fail_msg("%s: another state after the restore", test_kind_name(kind));
        }

        // Without the forces it is another one.
        restore(&t, kind, s);
        assert_int_equal(sinew_body_set_surface_forces(t.body, NULL), SINEW_OK);
        step(&t, 3);
        assert_true(sinew_world_get_hash(t.world) != expected);

        free(s.bytes);
        test_kinds_destroy(&t);
    }
}

// A snapshot without forces takes away those that came since, and those of new points.
static void test_no_forces(void **state) {
    (void)state;
    const double force[3] = {0, 0, 1}, rest[3] = {0.2, 0, 0};
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        test_kinds_deform(&t, kind);
        assert_int_equal(sinew_body_set_surface_forces(t.body, NULL), SINEW_OK);
        saved s = save(&t);
        step(&t, 3);
        uint64_t expected = sinew_world_get_hash(t.world);

        sinew_point *point = NULL;
        assert_int_equal(sinew_point_create(t.body, rest, &point), SINEW_OK);
        assert_int_equal(sinew_point_set_force(point, force), SINEW_OK);
        push_surface(&t, 2);
        step(&t, 1);
        restore(&t, kind, s);
        step(&t, 3);
        if (sinew_world_get_hash(t.world) != expected) {
            fail_msg("%s: forces remain after the restore", test_kind_name(kind));
        }
        free(s.bytes);
        test_kinds_destroy(&t);
    }
}

// Points may come and go, as long as those that had forces are there.
static void test_points_come_and_go(void **state) {
    (void)state;
    const double force[3] = {0, 0, 1}, probe[3] = {0.2, 0, 0}, pushed[3] = {0.3, 0, 0};
    test_kinds t = test_kinds_create(TEST_TET4);
    sinew_point *points[3] = {NULL};
    assert_int_equal(sinew_point_create(t.body, probe, &points[0]), SINEW_OK);
    assert_int_equal(sinew_point_create(t.body, pushed, &points[1]), SINEW_OK);
    assert_int_equal(sinew_point_set_force(points[1], force), SINEW_OK);
    saved s = save(&t);
    step(&t, 2);
    uint64_t expected = sinew_world_get_hash(t.world);

    // The probe goes, another comes.
    sinew_point_destroy(points[0]);
    assert_int_equal(sinew_point_create(t.body, probe, &points[2]), SINEW_OK);
    restore(&t, TEST_TET4, s);
    step(&t, 2);
    assert_true(sinew_world_get_hash(t.world) == expected);

    // The point with the force goes: refused, and nothing has changed.
    sinew_point_destroy(points[1]);
    assert_int_equal(sinew_world_restore_snapshot(t.world, s.bytes, s.size), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(t.context), "0.3"));
    assert_true(sinew_world_get_hash(t.world) == expected);

    // It is made again.
    assert_int_equal(sinew_point_create(t.body, pushed, &points[1]), SINEW_OK);
    restore(&t, TEST_TET4, s);
    step(&t, 2);
    assert_true(sinew_world_get_hash(t.world) == expected);
    free(s.bytes);
    test_kinds_destroy(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_and_targets),
        cmocka_unit_test(test_no_forces),
        cmocka_unit_test(test_points_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
