// Overlaps at the start: number and depth of known ones, and bodies that are pushed apart and keep
// the certificate from then on.
#include "contact_support.h"

#include "contact/overlap.h"

static sn_contact_overlaps overlaps_of(touch_scene *t) {
    sn_contact_overlaps overlaps;
    assert_ok(t->context, sn_contact_overlaps_find(t->scene, t->x, &overlaps));
    return overlaps;
}

static void test_known_overlaps(void **state) {
    (void)state;
    sinew_context *context = test_context(1);

    // Boxes of 1 m, by which the second is higher than the first.
    const double heights[4] = {1.001, 1, 0.9, 0.4};
    for (int i = 0; i < 4; i++) {
        touch_scene t = touch_begin(context);
        touch_add_shape(&t, SINEW_SHAPE_BOX, 1, 4, sn_v3(0, 0, 0));
        touch_add_shape(&t, SINEW_SHAPE_BOX, 1, 3, sn_v3(0.03, 0.04, heights[i]));
        touch_create(&t);
        sn_contact_overlaps overlaps = overlaps_of(&t);
        assert_int_equal(overlaps.count, i > 0);
        if (i > 0) {
            const sn_contact_overlap *overlap = &overlaps.items[0];
            assert_int_equal(overlap->crossing_count, touch_crossings(&t, t.x));
            assert_int_equal(overlap->part[0], 0);
            assert_int_equal(overlap->part[1], 1);
            assert_false(overlap->whole);
        }
        if (i > 1) {
            const sn_contact_overlap *overlap = &overlaps.items[0];
            double depth = i == 2 ? 0.1 : 0.6 - 0.04; // the sides are closer than the upper face
            assert_true(overlap->inside_count >= 10);
            assert_true(overlap->depth <= fmin(depth, 0.5) + 1e-9 && overlap->depth > 0.09);
            assert_true(overlap->direction.z < (i == 2 ? -0.9 : -0.5));
        }

        sn_contact_overlaps_release(&overlaps);
        touch_end(&t);
    }
    sinew_context_destroy(context);
}

// A small body deep inside a fine large one, where no triangles are near each other.
static void test_nested(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int hollow = 0; hollow < 2; hollow++) {
        touch_scene t = touch_begin(context);
        touch_add_shape(&t, SINEW_SHAPE_BOX, 0.1, 2, sn_v3(0.05, 0, 0));
        touch_add_shape(&t, hollow ? SINEW_SHAPE_TUBE : SINEW_SHAPE_SPHERE, 1, 24, sn_v3(0, 0, 0));
        assert_true(t.shapes[1]->triangle_count > 2048);
        touch_create(&t);
        sn_contact_overlaps overlaps = overlaps_of(&t);
        assert_int_equal(overlaps.count, hollow ? 0 : 1);
        if (!hollow) {
            assert_int_equal(overlaps.items[0].crossing_count, 0);
            assert_int_equal(overlaps.items[0].inside_count, t.shapes[0]->vertex_count);
            test_close("depth", overlaps.items[0].depth, 0.5, 0.06);
            test_close("direction", overlaps.items[0].direction.x, 1, 0.01);
        }
        sn_contact_overlaps_release(&overlaps);
        touch_end(&t);
    }
    sinew_context_destroy(context);
}

// A sheet through a box, and a body through itself: no inside, but the intersections are found.
static void test_open_and_self(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_shape_def def = sinew_default_shape_def();
    def.shape = SINEW_SHAPE_RECTANGLE;
    def.element = SINEW_ELEMENT_TRIANGLE;
    def.cells[0] = def.cells[1] = 5;
    sinew_mesh *sheet = make_shape(context, &def);

    touch_scene t = touch_begin(context);
    touch_add_shape(&t, SINEW_SHAPE_BOX, 0.5, 3, sn_v3(0.01, 0.02, 0.03));
    touch_add(&t, sheet, sn_v3(0, 0, 0));
    touch_create(&t);
    sn_contact_overlaps overlaps = overlaps_of(&t);
    assert_int_equal(overlaps.count, 1);
    assert_true(overlaps.items[0].whole && overlaps.items[0].crossing_count > 8);
    assert_ok(context, sn_contact_find(t.scene, t.x, t.x, 0.2));
    sn_contact_overlaps_exempt(t.scene, &overlaps);
    int32_t exempt = 0;
    for (int32_t i = 0; i < t.scene->pair_count; i++) {
        const sn_contact_pair *pair = &t.scene->pairs[i];
        assert_int_equal(pair->exempt, pair->part[0] != pair->part[1]);
        exempt += pair->exempt;
    }
    assert_true(exempt > 0);
    sn_contact_overlaps_release(&overlaps);
    touch_end(&t);

    // One end of a bar pushed through the other face.
    t = touch_begin(context);
    touch_add_shape(&t, SINEW_SHAPE_BOX, 1, 4, sn_v3(0, 0, 0));
    touch_create(&t);
    for (int32_t v = 0; v < t.vertex_count; v++) {
        double *x = sn_at3(t.x, v);
        x[2] = x[2] > 0.49 && fabs(x[0]) < 0.1 && fabs(x[1]) < 0.1 ? -0.8 : x[2];
    }
    overlaps = overlaps_of(&t);
    assert_int_equal(overlaps.count, 1);
    assert_true(overlaps.items[0].part[0] == 0 && overlaps.items[0].part[1] == 0);
    assert_int_equal(overlaps.items[0].crossing_count, touch_crossings(&t, t.x));
    sn_contact_overlaps_release(&overlaps);
    touch_end(&t);
    sinew_mesh_destroy(sheet);
    sinew_context_destroy(context);
}

// Pushes overlapping parts apart by at most `most` each time, through the certified commit; returns
// the number of rounds.
static int32_t heal(touch_scene *t, double most) {
    sn_contact_overlaps overlaps = overlaps_of(t);
    double *target = SN_PUSH(&t->arena, double, 3 * (size_t)t->vertex_count);
    touch_shares room;
    int32_t rounds = 0;

    while (overlaps.count > 0 && rounds < 400) {
        memcpy(target, t->x, 3 * (size_t)t->vertex_count * sizeof *target);
        for (int32_t i = 0; i < overlaps.count; i++) {
            const sn_contact_overlap *overlap = &overlaps.items[i];
            double step = fmin(most, 0.5 * overlap->depth + 0.01);
            for (int32_t v = 0; v < t->vertex_count; v++) {
                int32_t part = t->scene->vertex_part[v];
                double along = (part == overlap->part[0]) - (part == overlap->part[1]);
                sn_add_to3(sn_at3(target, v), sn_scale(along * step, overlap->direction));
            }
        }

        sn_contact_motion motion = {.x = t->x, .target = target};
        assert_ok(t->context, sn_contact_find(t->scene, t->x, target, 0.02));
        sn_contact_overlaps_exempt(t->scene, &overlaps);
        sn_contact_measure(t->scene, t->x);
        touch_limit(t, &motion, &room);
        touch_accept(t, &motion, &room);
        assert_ok(t->context, sn_contact_overlaps_update(t->scene, t->x, &overlaps));
        rounds++;
    }

    assert_int_equal(overlaps.count, 0);
    sn_contact_overlaps_release(&overlaps);
    return rounds;
}

static void test_random_starts_heal(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(31);
    const sinew_shape kinds[3] = {SINEW_SHAPE_BOX, SINEW_SHAPE_SPHERE, SINEW_SHAPE_CYLINDER};
    int32_t starts = TEST_SANITIZED ? 10 : 60, most = 0, overlapping = 0;

    for (int32_t start = 0; start < starts; start++) {
        touch_scene t = touch_begin(context);
        int32_t bodies = 2 + start % 3;
        for (int32_t i = 0; i < bodies; i++) {
            double size = sn_random_range(&random, 0.4, 1);
            touch_add_shape(&t, kinds[sn_random_u32(&random) % 3], size, 4,
                            random_vector(&random, 0.5));
        }
        touch_create(&t);
        overlapping += touch_crossings(&t, t.x) > 0;
        int32_t rounds = heal(&t, 0.1);
        most = rounds > most ? rounds : most;
        assert_int_equal(touch_crossings(&t, t.x), 0);
        touch_end(&t);
    }

    print_message("%d of %d starts intersected; at most %d rounds\n", overlapping, starts, most);
    assert_true(overlapping > starts / 2);
    sinew_context_destroy(context);
}

// Memory that runs out at any point is reported and leaves nothing behind.
static void test_shortage(void **state) {
    (void)state;
    for (int64_t fail_at = 0;; fail_at++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);
        touch_scene t = touch_begin(context);
        touch_add_shape(&t, SINEW_SHAPE_BOX, 1, 2, sn_v3(0, 0, 0));
        touch_add_shape(&t, SINEW_SHAPE_BOX, 1, 2, sn_v3(0.3, 0.2, 0.1));

        const sn_contact_shape *shapes[2] = {t.shapes[0], t.shapes[1]};
        int64_t live = allocator.live;
        sn_contact_overlaps overlaps = {0};
        allocator.fail_at = allocator.calls + fail_at;
        sinew_status status = sn_contact_scene_create(context, shapes, 2, t.x, &t.scene);
        if (status == SINEW_OK) {
            status = sn_contact_overlaps_find(t.scene, t.x, &overlaps);
        }
        if (status == SINEW_OK) {
            status = sn_contact_find(t.scene, t.x, t.x, 0.3);
            sn_contact_overlaps_release(&overlaps);
        }
        sn_contact_scene_destroy(t.scene);
        t.scene = NULL;
        assert_int_equal(allocator.live, live);
        touch_end(&t);
        sinew_context_destroy(context);
        if (status == SINEW_OK) {
            assert_true(fail_at > 5);
            return;
        }
        assert_int_equal(status, SINEW_OUT_OF_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_overlaps), cmocka_unit_test(test_nested),
        cmocka_unit_test(test_open_and_self),  cmocka_unit_test(test_random_starts_heal),
        cmocka_unit_test(test_shortage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
