// The certified commit: planes for any pair, gaps that do not shrink below the floor, curved paths,
// and independence of order and threads.
#include "contact_support.h"

#include "support/hash.h"

static const double triangle_points[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
static const int32_t triangle_corners[3] = {0, 1, 2};

// Two triangles: 6 pairs of vertices and triangles, 9 of edges.
static touch_scene two_triangles(sinew_context *context) {
    sinew_mesh mesh = {.points = triangle_points,
                       .point_count = 3,
                       .element = SINEW_ELEMENT_TRIANGLE,
                       .indices = triangle_corners,
                       .element_count = 1};
    touch_scene t = touch_begin(context);
    touch_add(&t, &mesh, sn_v3(0, 0, 0));
    touch_add(&t, &mesh, sn_v3(0, 0, 1));
    touch_create(&t);
    assert_ok(context, sn_contact_find(t.scene, t.x, t.x, 1000));
    assert_int_equal(t.scene->pair_count, 15);
    return t;
}

// Moves the first feature of a pair along its normal to the given distance, which is also the gap
// to keep; the closest points stay the same.
static void set_distance(touch_scene *t, int32_t number, double distance) {
    t->scene->parts[0].thickness = t->scene->parts[1].thickness = 0.5 * distance;
    sn_contact_measure(t->scene, t->x);
    const sn_contact_pair *pair = &t->scene->pairs[number];
    sn_vec3 move = sn_scale(distance - pair->distance, pair->n);
    for (int k = 0; k < 3; k++) {
        sn_add_to3(sn_at3(t->x, 3 * pair->part[0] + k), move);
    }
    sn_contact_measure(t->scene, t->x);
}

// Any two features at least 1e-6 of their size apart have a separating plane, and moving as far as
// it lets them keeps them apart.
static void test_every_pair_has_a_plane(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    touch_scene t = two_triangles(context);
    sn_random random = sn_random_seed(11);
    double target[18], moved[18];
    touch_shares room;
    int32_t trials = TEST_SANITIZED ? 20000 : 200000, usable = 0, truncated = 0;

    for (int32_t trial = 0; trial < trials; trial++) {
        for (int i = 0; i < 6; i++) {
            sn_store3(sn_at3(t.x, i), random_vector(&random, 1));
        }

        int32_t number = (int32_t)(sn_random_u32(&random) % 15);
        double distance = pow(10, sn_random_range(&random, -6, 0));
        set_distance(&t, number, distance);
        const sn_contact_pair *pair = &t.scene->pairs[number];
        usable += pair->usable;

        double size = pow(10, sn_random_range(&random, -6, 0.5));
        for (int i = 0; i < 6; i++) {
            sn_vec3 move = random_vector(&random, size);
            sn_store3(sn_at3(target, i), sn_add(sn_load3(sn_at3(t.x, i)), move));
        }

        sn_contact_motion motion = {.x = t.x, .target = target};
        sn_contact_limit_report report = touch_limit(&t, &motion, &room);
        assert_false(pair->held);
        truncated += report.truncated > 0;

        for (int k = 1; k <= 4 && trial % 8 == 0; k++) {
            touch_moved(&t, &motion, &room, 0.25 * k, moved);
            sn_contact_measure(t.scene, moved);
            assert_true(pair->distance > 0.0499 * distance); // a plane that moves: half the floor
        }
    }

    // The trials are not all alike.
    assert_in_range(usable, trials / 100, trials);
    assert_in_range(truncated, trials / 4, trials);
    touch_end(&t);
    sinew_context_destroy(context);
}

// Two boxes pushed through each other fifty times: no distance falls below a tenth of the gap.
static void test_gaps_keep_the_floor(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(5);
    const double gap = 1e-3;

    for (int round = 0; round < 4; round++) {
        touch_scene t = touch_begin(context);
        touch_add_shape(&t, SINEW_SHAPE_BOX, 1, 3, sn_v3(0, 0, 0));
        touch_add_shape(&t, round % 2 ? SINEW_SHAPE_SPHERE : SINEW_SHAPE_BOX, 1, 4,
                        sn_v3(0.05, 0.1, 1 + gap));
        touch_create(&t);
        t.scene->parts[0].thickness = t.scene->parts[1].thickness = 0.5 * gap;
        t.scene->parts[1].together = round >= 2;

        size_t count = 3 * (size_t)t.vertex_count;
        double *target = SN_PUSH(&t.arena, double, count);
        touch_shares room;
        random_motion(&t, &random, 0.1, 0.05, target);
        for (size_t i = 2; i < count; i += 3) {
            target[i] += t.scene->parts[1].first_vertex <= (int32_t)(i / 3) ? -0.3 : 0.2;
        }

        double least = INFINITY;
        int32_t truncated = 0;
        assert_true(touch_crossings(&t, target) > 10);
        for (int commit = 0; commit < 50; commit++) {
            sn_contact_motion motion = {.x = t.x, .target = target};
            assert_ok(context, sn_contact_find(t.scene, t.x, target, 2 * gap));
            sn_contact_measure(t.scene, t.x);
            sn_contact_limit_report report = touch_limit(&t, &motion, &room);
            assert_int_equal(report.held, 0);
            truncated += report.truncated;
            touch_accept(&t, &motion, &room);
            assert_int_equal(touch_crossings(&t, t.x), 0);

            sn_contact_measure(t.scene, t.x);
            for (int32_t i = 0; i < t.scene->pair_count; i++) {
                least = fmin(least, t.scene->pairs[i].distance);
            }
        }

        // Along a normal that rounding rotates by 1e-16 of size over distance, gaps lose 1e-12 each
        // time.
        assert_true(truncated > 0);
        assert_true(least >= 0.1 * gap * (1 - 1e-6));
        assert_true(least < gap);
        touch_end(&t);
    }

    sinew_context_destroy(context);
}

// Edges that run side by side, closer than rounding can prove, stay where they are.
static void test_parallel_edges_are_held(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    touch_scene t = two_triangles(context);

    for (int far = 0; far < 2; far++) {
        // Far from the origin 1e-9 is within the rounding of the coordinates, at it it is not.
        double offset = far ? 1e7 : 0;
        const double x[18] = {offset, 0, 0,    offset + 1, 0, 0,    offset + 0.5, -1, 0,
                              offset, 0, 1e-9, offset + 1, 0, 1e-9, offset + 0.5, 1,  1e-9};
        double target[18];
        touch_shares room;
        for (int i = 0; i < 18; i++) {
            target[i] = x[i] + (i >= 9 && i % 3 == 2 ? -0.1 : 0);
        }

        sn_contact_motion motion = {.x = x, .target = target};
        assert_ok(context, sn_contact_find(t.scene, x, x, 1));
        sn_contact_measure(t.scene, x);
        sn_contact_limit_report report = touch_limit(&t, &motion, &room);
        assert_true(far ? report.held > 0 : report.held == 0);
        for (int v = 3; v < 6; v++) {
            double height = x[3 * v + 2] + room.vertex[v] * (target[3 * v + 2] - x[3 * v + 2]);
            assert_true(height > 0 && height <= 1e-9);
        }
    }

    touch_end(&t);
    sinew_context_destroy(context);
}

// Degenerate and non-finite positions end in a share, never in a crash.
static void test_bad_positions(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    touch_scene t = two_triangles(context);
    sn_random random = sn_random_seed(2);

    for (int trial = 0; trial < 2000; trial++) {
        double target[18];
        touch_shares room;
        for (int i = 0; i < 18; i++) {
            const double values[6] = {0, 1, NAN, INFINITY, 1e300, -1e-300};
            uint32_t pick = sn_random_u32(&random) % 12;
            t.x[i] = pick < 6 ? values[trial % 2 ? pick : pick % 2] : sn_random_unit(&random);
            target[i] = pick == 7 ? NAN : pick == 8 ? INFINITY : t.x[i] + 1;
        }

        sn_contact_motion motion = {.x = t.x, .target = target};
        assert_ok(context, sn_contact_find(t.scene, t.x, target, 0.1));
        sn_contact_measure(t.scene, t.x);
        touch_limit(&t, &motion, &room);
        for (int v = 0; v < 6; v++) {
            double share = room.vertex[v];
            assert_true(share >= 0 && share <= 1 && sn_finite3(room.shift[v / 3]));
            bool finite =
                sn_finite3(sn_load3(sn_at3(t.x, v))) && sn_finite3(sn_load3(sn_at3(target, v)));
            assert_true(finite || share == 0);
        }
    }

    touch_end(&t);
    sinew_context_destroy(context);
}

// The rotation of a triangle about the axis z through `center`.
static sn_vec3 rotated(sn_vec3 p, sn_vec3 center, double angle) {
    sn_vec3 r = sn_sub(p, center);
    return sn_add(center, sn_v3(cos(angle) * r.x - sin(angle) * r.y,
                                sin(angle) * r.x + cos(angle) * r.y, r.z));
}

// One triangle rotates, the other stays. The paths are arcs; with their deviation from the chord
// given, nothing touches anywhere on the way.
static void test_curved_paths_stay_apart(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    touch_scene t = two_triangles(context);
    sn_random random = sn_random_seed(21);
    t.scene->parts[1].together = true;
    int32_t trials = 2000, moved_far = 0, unsafe_without = 0;

    for (int32_t trial = 0; trial < trials; trial++) {
        for (int i = 0; i < 6; i++) {
            sn_store3(sn_at3(t.x, i), random_vector(&random, 1));
        }

        int32_t number = (int32_t)(sn_random_u32(&random) % 15);
        double distance = pow(10, sn_random_range(&random, -3, -0.5));
        set_distance(&t, number, distance);

        double target[18], bulge[6] = {0};
        touch_shares room[2];
        sn_vec3 center = random_vector(&random, 1.5);
        double angle = sn_random_range(&random, -2, 2);
        memcpy(target, t.x, sizeof target);
        for (int i = 3; i < 6; i++) {
            sn_vec3 p = sn_load3(sn_at3(t.x, i));
            double radius = hypot(p.x - center.x, p.y - center.y);
            sn_store3(sn_at3(target, i), rotated(p, center, angle));
            bulge[i] = radius * (1 - cos(0.5 * angle));
        }

        // With and without the deviation.
        for (int straight = 0; straight < 2; straight++) {
            sn_contact_motion motion = {
                .x = t.x, .target = target, .bulge = straight ? NULL : bulge};
            set_distance(&t, number, distance);
            touch_limit(&t, &motion, &room[straight]);

            double least = INFINITY;
            for (int k = 0; k <= 200; k++) {
                double y[18];
                memcpy(y, t.x, sizeof y);
                for (int i = 3; i < 6; i++) {
                    sn_vec3 p = sn_load3(sn_at3(t.x, i));
                    double s = room[straight].part[1] * k / 200.0;
                    sn_store3(sn_at3(y, i), rotated(p, center, s * angle));
                }
                sn_contact_measure(t.scene, y);
                least = fmin(least, t.scene->pairs[number].distance);
            }

            assert_true(straight || least > 0.0999 * distance);
            unsafe_without += straight && least < 0.0999 * distance;
        }
        moved_far += room[0].part[1] > 0.5;
    }

    // The test sees paths that need the deviation, and the deviation does not stop everything.
    assert_true(unsafe_without > trials / 100);
    assert_true(moved_far > trials / 20);
    touch_end(&t);
    sinew_context_destroy(context);
}

// Three cubes one millimetre apart fall together by fifty times that, each vibrating a little: as
// one group they reach their targets at once, alone the upper ones lag behind.
static void test_group_falls_freely(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int grouped = 0; grouped < 2; grouped++) {
        sn_random random = sn_random_seed(8);
        touch_scene t = touch_begin(context);
        for (int i = 0; i < 3; i++) {
            touch_add_shape(&t, SINEW_SHAPE_BOX, 1, 4, sn_v3(0.01 * i, 0.02 * i, 1.001 * i));
        }
        touch_create(&t);
        double *target = SN_PUSH(&t.arena, double, 3 * (size_t)t.vertex_count);
        random_motion(&t, &random, 0, 1e-4, target);
        for (int32_t v = 0; v < t.vertex_count; v++) {
            target[3 * v + 2] -= 0.05;
        }
        for (int p = 0; p < 3; p++) {
            t.scene->parts[p].thickness = 5e-4;
            t.scene->parts[p].group = grouped ? 0 : p;
        }

        touch_shares room;
        sn_contact_motion motion = {.x = t.x, .target = target};
        assert_ok(context, sn_contact_find(t.scene, t.x, target, 2e-3));
        sn_contact_measure(t.scene, t.x);
        sn_contact_limit_report report = touch_limit(&t, &motion, &room);
        assert_int_equal(report.held, 0);
        assert_true(grouped ? report.truncated == 0 : report.truncated > 50);
        touch_accept(&t, &motion, &room);
        assert_int_equal(touch_crossings(&t, t.x), 0);
        touch_end(&t);
    }
    sinew_context_destroy(context);
}

// A single body in flight does not meet itself.
static void test_flight_does_not_stop_itself(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(8);
    touch_scene t = touch_begin(context);
    touch_add_shape(&t, SINEW_SHAPE_TUBE, 1, 8, sn_v3(0, 0, 0));
    touch_create(&t);
    double *target = SN_PUSH(&t.arena, double, 3 * (size_t)t.vertex_count);
    random_motion(&t, &random, 0, 1e-3, target);
    for (int32_t v = 0; v < t.vertex_count; v++) {
        target[3 * v] += 3;
    }

    touch_shares room;
    sn_contact_motion motion = {.x = t.x, .target = target};
    assert_ok(context, sn_contact_find(t.scene, t.x, target, 1e-3));
    sn_contact_measure(t.scene, t.x);
    sn_contact_limit_report report = touch_limit(&t, &motion, &room);
    assert_int_equal(report.truncated, 0);
    assert_int_equal(report.leaving, 0);
    test_close("shift", room.shift[0].x, 3, 1e-3);

    // Other obstacles may bound the shift.
    const double bound = 0.25;
    motion.drift_bound = &bound;
    report = touch_limit(&t, &motion, &room);
    test_close("bounded shift", room.shift[0].x, 0.75, 1e-3);
    assert_int_equal(report.truncated, t.vertex_count);
    touch_end(&t);
    sinew_context_destroy(context);
}

static uint64_t limit_and_hash(sinew_context *context, void *user) {
    const bool *reverse = user;
    sn_random random = sn_random_seed(9);
    touch_scene t = touch_begin(context);
    for (int i = 0; i < 3; i++) {
        touch_add_shape(&t, SINEW_SHAPE_SPHERE, 1, 12, sn_v3(1.001 * i, 0, 0));
    }
    touch_create(&t);

    double *y = SN_PUSH(&t.arena, double, 3 * (size_t)t.vertex_count);
    touch_shares room;
    random_motion(&t, &random, 0.05, 0.02, y);
    assert_ok(context, sn_contact_find(t.scene, t.x, y, 0.01));
    assert_true(t.scene->pair_count > 1000);

    // The smallest share of a vertex must not depend on the order of the pairs within their kind.
    int32_t ends[3] = {0, t.scene->vertex_triangle_count, t.scene->pair_count};
    for (int kind = 0; kind < 2 && *reverse; kind++) {
        for (int32_t i = ends[kind], k = ends[kind + 1] - 1; i < k; i++, k--) {
            sn_contact_pair swap = t.scene->pairs[i];
            t.scene->pairs[i] = t.scene->pairs[k];
            t.scene->pairs[k] = swap;
        }
    }

    int64_t allocations = context->allocations;
    sn_contact_motion motion = {.x = t.x, .target = y};
    sn_contact_measure(t.scene, t.x);
    sn_contact_limit_report report = touch_limit(&t, &motion, &room);
    assert_int_equal(context->allocations, allocations);
    assert_true(report.truncated > 0);

    uint64_t hash =
        test_hash(TEST_HASH_START, room.vertex, (size_t)t.vertex_count * sizeof(double));
    hash = test_hash(hash, room.part, 3 * sizeof *room.part);
    hash = test_hash(hash, room.shift, 3 * sizeof *room.shift);
    hash = test_hash(hash, &report.smallest_gap, sizeof report.smallest_gap);
    touch_end(&t);
    return hash;
}

static void test_order_and_threads(void **state) {
    (void)state;
    bool reverse = false;
    uint64_t forward = test_over_threads("shares", limit_and_hash, &reverse);
    reverse = true;
    assert_true(test_over_threads("shares of reversed pairs", limit_and_hash, &reverse) == forward);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group_falls_freely),
        cmocka_unit_test(test_flight_does_not_stop_itself),
        cmocka_unit_test(test_every_pair_has_a_plane),
        cmocka_unit_test(test_gaps_keep_the_floor),
        cmocka_unit_test(test_parallel_edges_are_held),
        cmocka_unit_test(test_bad_positions),
        cmocka_unit_test(test_curved_paths_stay_apart),
        cmocka_unit_test(test_order_and_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
