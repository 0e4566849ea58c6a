// Distances inside a solid: compared with closed forms and with Bellman-Ford on small grids; in
// layered material, around rigid parts; under rotation, mirroring and scaling; the queue with
// adverse keys; memory shortage.
#include "support/test.h"

#include "geom/distance/distance.h"
#include "geom/distance/distance_queue.h"

#include <math.h>
#include <stdio.h>

static sinew_voxels *make_solid(sinew_context *context, sinew_solid solid, double x, double y,
                                double z, double h) {
    sinew_solid_def def = sinew_default_solid_def();
    def.solid = solid;
    def.size[0] = x;
    def.size[1] = y;
    def.size[2] = z;

    sinew_voxel_def grid = sinew_default_voxel_def();
    for (int a = 0; a < 3; a++) {
        grid.spacing[a] = h;
    }

    sinew_voxels *voxels = NULL;
    assert_int_equal(sinew_voxels_create_from_solids(context, &def, 1, &grid, &voxels), SINEW_OK);

    return voxels;
}

// The largest error compared with straight distances from p in a convex solid, in cells.
static double ball_error(sinew_context *context, const sinew_voxels *voxels,
                         sn_distance_method method, sn_vec3 p) {
    sn_metric metric = sn_metric_euclidean(voxels);
    sn_arena arena = sn_arena_create(context);
    sn_front *front = NULL;

    assert_int_equal(sn_front_create(&arena, &metric, method, &front), SINEW_OK);
    assert_true(sn_front_seed_point(front, p, SN_FRONT_SEED_RADIUS, 0, 0));
    sn_front_run(front, INFINITY, NULL, NULL);
    assert_int_equal(front->accepted_count, voxels->count);

    double worst = 0, last = 0;
    for (int32_t i = 0; i < voxels->count; i++) {
        double straight = sn_distance(sn_voxel_center(voxels, i), p);
        worst = fmax(worst, fabs(front->distance[i] - straight));
        assert_true(front->distance[front->accepted[i]] >= last); // the order of acceptance
        last = front->distance[front->accepted[i]];
    }

    sn_arena_destroy(&arena);
    return worst / voxels->spacing[0];
}

static void test_methods_in_a_ball(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *voxels = make_solid(context, SINEW_SOLID_SPHERE, 1, 1, 1, 1.0 / 40);
    sn_vec3 p = sn_v3(0.03, 0.05, -0.02);
    double error[5];

    for (int method = 0; method < 5; method++) {
        error[method] = ball_error(context, voxels, (sn_distance_method)method, p);
    }

    print_message("largest error in cells, radius 20: graph 6 %.2f, 18 %.2f, 26 %.2f, marching "
                  "%.2f, second order %.2f\n",
                  error[0], error[1], error[2], error[3], error[4]);

    for (int method = 1; method < 5; method++) {
        assert_true(error[method] < error[method - 1]);
    }

    assert_true(error[SN_DISTANCE_MARCHING_1] < 1.5);  // grows with the logarithm of the radius
    assert_true(error[SN_DISTANCE_MARCHING_2] < 0.25); // does not grow
    sinew_voxels_destroy(voxels);
    voxels = make_solid(context, SINEW_SOLID_SPHERE, 1, 1, 1, 1.0 / 80);

    double finer = ball_error(context, voxels, SN_DISTANCE_MARCHING_2, p);
    assert_true(finer < 0.25);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

static void test_around_the_corner(void **state) {
    (void)state;

    // In an L the shortest path bends at the inner corner: the sum of two straight pieces.
    sinew_context *context = test_context(1);
    sinew_solid_def def = sinew_default_solid_def();

    def.solid = SINEW_SOLID_L;
    def.thickness = 0.2;

    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.resolution = 50;

    sinew_voxels *voxels = NULL;
    assert_int_equal(sinew_voxels_create_from_solids(context, &def, 1, &grid, &voxels), SINEW_OK);

    sn_metric metric = sn_metric_euclidean(voxels);
    sn_arena arena = sn_arena_create(context);
    sn_front *front = NULL;

    assert_int_equal(sn_front_create(&arena, &metric, SN_DISTANCE_MARCHING_2, &front), SINEW_OK);
    sn_vec3 from = sn_v3(0.45, -0.4, 0);
    sn_vec3 to = sn_v3(-0.4, 0.45, 0);
    sn_vec3 corner = sn_v3(-0.3, -0.3, 0);

    assert_true(sn_front_seed_point(front, from, SN_FRONT_SEED_RADIUS, 0, 0));
    sn_front_run(front, INFINITY, NULL, NULL);

    double to_array[3];
    sn_store3(to_array, to);

    int32_t v = sinew_voxels_find_nearest(voxels, to_array, 1);
    sn_vec3 end = sn_voxel_center(voxels, v);
    double expected = sn_distance(from, corner) + sn_distance(corner, end);

    // One cell at the corner.
    test_close("path around a corner", front->distance[v], expected, 0.02 * expected);
    sn_arena_destroy(&arena);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

// Bellman-Ford over all pairs of face neighbours: slow, and obviously right.
static void brute_force(const sn_metric *metric, int32_t start, double *distance) {
    const sinew_voxels *voxels = metric->voxels;
    for (int32_t v = 0; v < voxels->count; v++) {
        distance[v] = v == start ? 0 : INFINITY;
    }

    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t v = 0; v < voxels->count; v++) {
            for (int d = 0; d < SN_VOXEL_FACES; d++) {
                int32_t u = voxels->neighbor[v][d];
                if (u < 0) {
                    continue;
                }

                double through = distance[u] + sn_metric_step(metric, v, u, d);
                if (through < distance[v]) {
                    distance[v] = through;
                    changed = true;
                }
            }
        }
    }
}

// A random blob of 9 x 8 x 7 cells with three labels.
static sinew_voxels *make_blob(sinew_context *context, sn_random *random) {
    uint16_t labels[9 * 8 * 7];
    for (int i = 0; i < 9 * 8 * 7; i++) {
        labels[i] = sn_random_unit(random) < 0.75 ? (uint16_t)(1 + sn_random_u32(random) % 3) : 0;
    }

    labels[0] = 1;
    sinew_label_grid grid = {.cells = {9, 8, 7}, .spacing = {0.1, 0.12, 0.15}, .labels16 = labels};
    sinew_voxels *voxels = NULL;

    assert_int_equal(sinew_voxels_create_from_labels(context, &grid, SIZE_MAX, &voxels), SINEW_OK);

    return voxels;
}

static void test_graph_against_brute_force(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(5);
    static double young[65536];
    static bool rigid[65536];

    young[1] = 1;
    young[2] = 30;
    young[3] = 4000;

    for (int round = 0; round < 8; round++) {
        rigid[3] = round % 2 == 1;
        sinew_voxels *voxels = make_blob(context, &random);
        sn_arena arena = sn_arena_create(context);
        sn_metric metric;

        assert_int_equal(sn_metric_compliance(voxels, &arena, young, rigid, &metric), SINEW_OK);
        sn_front *front = NULL;

        assert_int_equal(sn_front_create(&arena, &metric, SN_DISTANCE_GRAPH_6, &front), SINEW_OK);
        double *expected = SN_PUSH(&arena, double, voxels->count);
        for (int again = 0; again < 3; again++) { // buffers are used again
            int32_t start = (int32_t)(sn_random_u32(&random) % (uint32_t)voxels->count);

            brute_force(&metric, start, expected);
            sn_front_reset(front);
            sn_front_seed(front, start, 0, 0);
            sn_front_run(front, INFINITY, NULL, NULL);
            for (int32_t v = 0; v < voxels->count; v++) {
                if (expected[v] == INFINITY) {
                    assert_true(front->distance[v] == INFINITY);
                } else {
                    test_close("graph distance", front->distance[v], expected[v], 1e-12);
                }
            }
        }
        sn_arena_destroy(&arena);
        sinew_voxels_destroy(voxels);
    }

    sinew_context_destroy(context);
}

static void test_layers_are_exact_across(void **state) {
    (void)state;

    // A front along an axis gives the exact integral of 1/E in any layering, with every method.
    sinew_context *context = test_context(1);
    sinew_voxels *voxels = make_solid(context, SINEW_SOLID_BOX, 1, 0.1, 0.1, 0.02);
    sn_random random = sn_random_seed(9);
    double factor[50];

    for (int i = 0; i < 50; i++) {
        factor[i] = exp(sn_random_range(&random, -4, 4));
    }

    sn_arena arena = sn_arena_create(context);
    double *stiffness = SN_PUSH(&arena, double, voxels->count);
    for (int32_t v = 0; v < voxels->count; v++) {
        stiffness[v] = factor[voxels->cell[v] % 50];
    }

    assert_int_equal(sinew_voxels_set_stiffness(voxels, stiffness), SINEW_OK);
    static double young[65536];
    static bool rigid[65536];

    young[1] = 1;
    sn_metric metric;

    assert_int_equal(sn_metric_compliance(voxels, &arena, young, rigid, &metric), SINEW_OK);
    double softest = INFINITY;
    for (int i = 0; i < 50; i++) {
        softest = fmin(softest, factor[i]);
    }

    for (int method = 0; method < 5; method++) {
        sn_front *front = NULL;
        assert_int_equal(sn_front_create(&arena, &metric, (sn_distance_method)method, &front),
                         SINEW_OK);

        for (int32_t v = 0; v < voxels->count; v++) {
            if (voxels->cell[v] % 50 == 0) {
                sn_front_seed(front, v, 0.5 * 0.02 * softest / factor[0], 0);
            }
        }

        sn_front_run(front, INFINITY, NULL, NULL);
        for (int32_t v = 0; v < voxels->count; v++) {
            int32_t column = voxels->cell[v] % 50;
            double expected = 0.5 * 0.02 * softest / factor[column];
            for (int i = 0; i < column; i++) {
                expected += 0.02 * softest / factor[i];
            }
            test_close("compliance", front->distance[v], expected, 1e-13);
        }
    }

    sn_arena_destroy(&arena);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

static void test_rigid_part_is_one_point(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *voxels = make_solid(context, SINEW_SOLID_BOX, 1, 0.4, 0.4, 0.05);
    sinew_solid_def bone = sinew_default_solid_def();

    bone.size[0] = 0.5;
    bone.size[1] = 0.2;
    bone.size[2] = 0.2;
    bone.label = 2;
    assert_int_equal(sinew_voxels_paint(voxels, &bone), SINEW_OK);

    static double young[65536];
    static bool rigid[65536];

    young[1] = 2e5;
    young[2] = 1e9;
    rigid[2] = true;

    sn_arena arena = sn_arena_create(context);
    sn_metric metric;

    assert_int_equal(sn_metric_compliance(voxels, &arena, young, rigid, &metric), SINEW_OK);
    assert_int_equal(metric.cluster_count, 1);

    // A front from the left end reaches every voxel.
    sn_front *front = NULL;
    assert_int_equal(sn_front_create(&arena, &metric, SN_DISTANCE_MARCHING_2, &front), SINEW_OK);
    assert_true(
        sn_front_seed_point(front, sn_v3(-0.475, 0.025, 0.025), SN_FRONT_SEED_RADIUS, 0, 3));
    sn_front_run(front, INFINITY, NULL, NULL);
    assert_int_equal(front->accepted_count, voxels->count);

    // All voxels of the bone have the same distance.
    double bone_distance = -1;
    for (int32_t v = 0; v < voxels->count; v++) {
        assert_int_equal(sn_front_source(front, v), 3);
        if (voxels->label[v] != 2) {
            continue;
        }
        if (bone_distance < 0) {
            bone_distance = front->distance[v];
        }

        assert_true(front->distance[v] == bone_distance);
    }

    test_close("to the bone", bone_distance, 0.225, 1e-12); // from x = -0.475 to its face at -0.25
    double far_end[3] = {0.475, 0.025, 0.025};
    int32_t v = sinew_voxels_find_nearest(voxels, far_end, 1);

    test_close("through the bone", front->distance[v], 2 * 0.225, 1e-9); // the bone costs nothing
    sn_arena_destroy(&arena);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

static bool stop_at_half(void *data, sn_front *front, int32_t voxel, double distance) {
    (void)front;
    (void)voxel;
    return distance < *(double *)data;
}

static void test_stops_and_sources(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *voxels = make_solid(context, SINEW_SOLID_BOX, 1, 0.3, 0.3, 0.05);
    sn_metric metric = sn_metric_euclidean(voxels);
    sn_arena arena = sn_arena_create(context);
    sn_front *front = NULL;

    assert_int_equal(sn_front_create(&arena, &metric, SN_DISTANCE_MARCHING_2, &front), SINEW_OK);
    sn_vec3 nodes[2] = {{-0.4, 0.01, 0.02}, {0.35, -0.02, 0}};
    for (int i = 0; i < 2; i++) {
        assert_true(sn_front_seed_point(front, nodes[i], SN_FRONT_SEED_RADIUS, 0, i));
    }

    sn_front_run(front, INFINITY, NULL, NULL);
    for (int32_t v = 0; v < voxels->count; v++) {
        double d0 = sn_distance(nodes[0], sn_voxel_center(voxels, v));
        double d1 = sn_distance(nodes[1], sn_voxel_center(voxels, v));
        if (fabs(d0 - d1) > 0.05) {
            assert_int_equal(sn_front_source(front, v), d0 < d1 ? 0 : 1);
        }
    }

    double limit = 0.2;
    for (int kind = 0; kind < 2; kind++) { // by the limit, and by the visitor
        sn_front_reset(front);

        assert_true(sn_front_seed_point(front, nodes[0], SN_FRONT_SEED_RADIUS, 0, 0));
        sn_front_run(front, kind ? INFINITY : limit, kind ? stop_at_half : NULL, &limit);
        assert_true(front->accepted_count > 50 && front->accepted_count < voxels->count / 2);
        for (int32_t i = 0; i < front->accepted_count; i++) {
            assert_true(front->distance[front->accepted[i]] < limit + kind * 0.06);
        }
    }

    // A point outside is accepted only if it is close enough.
    sn_front_reset(front);
    assert_false(sn_front_seed_point(front, sn_v3(0.7, 0, 0), SN_FRONT_SEED_RADIUS, 0.1, 0));
    assert_false(sn_front_seed_point(front, sn_v3(1e300, 0, 0), SN_FRONT_SEED_RADIUS, 0.1, 0));
    assert_true(
        sn_front_seed_point(front, sn_v3(0.55, 0.025, 0.025), SN_FRONT_SEED_RADIUS, 0.1, 0));
    sn_arena_destroy(&arena);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

// Cell (x, y, z) of the original goes to: axes permuted, some reversed.
typedef struct turn {
    int axis[3];
    bool flip[3];
} turn;

static double turned_difference(sinew_context *context, turn t, double scale) {
    enum { N = 14 };
    static const int32_t cells[3] = {N, N - 3, N - 5};
    static const double spacing[3] = {0.1, 0.13, 0.08};
    uint16_t labels[N * N * N], turned[N * N * N];
    double stiffness[N * N * N], turned_stiffness[N * N * N];
    sn_random random = sn_random_seed(77);
    sinew_label_grid a = {
        .cells = {cells[0], cells[1], cells[2]}, .spacing = {0.1, 0.13, 0.08}, .labels16 = labels};
    sinew_label_grid b = a;

    // The image's cells and spacing.
    for (int k = 0; k < 3; k++) {
        b.cells[k] = cells[t.axis[k]];
        b.spacing[k] = scale * spacing[t.axis[k]];
    }

    b.labels16 = turned;
    int32_t count = cells[0] * cells[1] * cells[2];

    // A random solid of two labels with random stiffness.
    for (int32_t i = 0; i < count; i++) {
        labels[i] = sn_random_unit(&random) < 0.85 ? (uint16_t)(1 + sn_random_u32(&random) % 2) : 0;
        stiffness[i] = exp(sn_random_range(&random, -1, 1));
    }

    // Its image under the symmetry.
    for (int32_t i = 0; i < count; i++) {
        int32_t c[3], m[3];
        sn_cell_coordinates(a.cells, i, c);
        for (int k = 0; k < 3; k++) {
            m[k] = t.flip[k] ? b.cells[k] - 1 - c[t.axis[k]] : c[t.axis[k]];
        }

        int32_t j = (m[2] * b.cells[1] + m[1]) * b.cells[0] + m[0];
        turned[j] = labels[i];
        turned_stiffness[j] = stiffness[i];
    }

    sinew_voxels *voxels[2];
    assert_int_equal(sinew_voxels_create_from_labels(context, &a, SIZE_MAX, &voxels[0]), SINEW_OK);
    assert_int_equal(sinew_voxels_create_from_labels(context, &b, SIZE_MAX, &voxels[1]), SINEW_OK);

    sn_arena arena = sn_arena_create(context);
    static double young[65536];
    static bool rigid[65536];

    young[1] = 1;
    young[2] = 7;

    sn_front *front[2];
    sn_metric metric[2];
    sn_vec3 p = sn_v3(0.72, 0.61, 0.37);

    // Run a front from the same point of both.
    for (int side = 0; side < 2; side++) {
        double *values = SN_PUSH(&arena, double, voxels[side]->count);
        for (int32_t v = 0; v < voxels[side]->count; v++) {
            values[v] =
                side ? turned_stiffness[voxels[side]->cell[v]] : stiffness[voxels[side]->cell[v]];
        }

        assert_int_equal(sinew_voxels_set_stiffness(voxels[side], values), SINEW_OK);
        assert_int_equal(sn_metric_compliance(voxels[side], &arena, young, rigid, &metric[side]),
                         SINEW_OK);
        assert_int_equal(
            sn_front_create(&arena, &metric[side], SN_DISTANCE_MARCHING_2, &front[side]), SINEW_OK);

        double from[3], q[3];
        sn_store3(from, p);
        for (int k = 0; k < 3; k++) {
            double x = from[t.axis[k]];
            q[k] = scale * (t.flip[k] ? cells[t.axis[k]] * spacing[t.axis[k]] - x : x);
        }

        assert_true(
            sn_front_seed_point(front[side], side ? sn_load3(q) : p, SN_FRONT_SEED_RADIUS, 1, 0));
        sn_front_run(front[side], INFINITY, NULL, NULL);
    }

    // Compare the distances of corresponding voxels.
    double worst = 0;
    int32_t compared = 0;
    for (int32_t v = 0; v < voxels[0]->count; v++) {
        int32_t c[3], m[3];
        sn_cell_coordinates(a.cells, voxels[0]->cell[v], c);
        for (int k = 0; k < 3; k++) {
            m[k] = t.flip[k] ? b.cells[k] - 1 - c[t.axis[k]] : c[t.axis[k]];
        }

        int32_t u = sn_voxel_at(voxels[1], m[0], m[1], m[2]);
        assert_true((front[0]->distance[v] == INFINITY) == (front[1]->distance[u] == INFINITY));
        if (front[0]->distance[v] == INFINITY) {
            continue;
        }

        worst = fmax(worst, fabs(front[0]->distance[v] - front[1]->distance[u] / scale) /
                                front[0]->distance[v]);
        compared++;
    }

    assert_true(compared > 500);
    sn_arena_destroy(&arena);
    for (int side = 0; side < 2; side++) {
        sinew_voxels_destroy(voxels[side]);
    }

    return worst;
}

static void test_turns_mirrors_scales(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    static const int axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                   {1, 0, 2}, {0, 2, 1}, {2, 1, 0}};

    for (int k = 0; k < 48; k++) { // all symmetries of the cube
        turn t = {{axes[k / 8][0], axes[k / 8][1], axes[k / 8][2]}, {k & 1, k & 2, k & 4}};

        double difference = turned_difference(context, t, k % 3 == 0 ? 1 : 3.7);
        if (difference > 1e-12) {
            fail_msg("symmetry %d changes a distance by %g", k, difference);
        }
    }

    sinew_context_destroy(context);
}

static void test_queue_is_sorted(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    sn_front_queue *queue = NULL;

    enum { COUNT = 5000 };
    assert_int_equal(sn_queue_create(&arena, COUNT, &queue), SINEW_OK);

    sn_random random = sn_random_seed(3);
    for (int round = 0; round < 6; round++) {
        // From all in one bucket to nearly all beyond the ring.
        double scale = pow(10, 2 * round - 6);

        sn_queue_reset(queue, 1);
        for (int32_t i = 0; i < COUNT; i++) {
            assert_int_equal(sn_queue_take(queue, COUNT - i), i); // all were taken back
            sn_queue_push(queue, i, scale * sn_random_unit(&random));
        }

        for (int32_t i = 0; i < COUNT; i += 3) {
            sn_queue_push(queue, i, queue->item[i].key * sn_random_unit(&random));
        }

        for (int32_t i = 0; i < COUNT; i += 7) {
            sn_queue_remove(queue, i);
        }

        double last = 0;
        int32_t popped = 0;
        for (int32_t item; (item = sn_queue_pop(queue)) >= 0; popped++) {
            assert_int_not_equal(item % 7, 0);
            assert_true(queue->item[item].key >= last);
            last = queue->item[item].key;
        }

        assert_int_equal(popped, COUNT - (COUNT + 6) / 7);
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

// The current bucket with few and many items: they come out in order while others are added, get
// smaller keys and are removed.
static void test_present_bucket(void **state) {
    (void)state;
    enum { MOST = 2000 };

    static double key[MOST];
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    sn_front_queue *queue = NULL;

    assert_int_equal(sn_queue_create(&arena, MOST, &queue), SINEW_OK);
    sn_random random = sn_random_seed(5);
    for (int32_t first = 10; first <= 1000; first *= 10) {
        sn_queue_reset(queue, 1);
        int32_t taken = 0, item;
        for (double last = 0;; last = key[item], key[item] = INFINITY) {
            // Add one item, or all of them at first.
            for (int32_t wanted = taken == 0 ? first : taken + (taken < 2 * first); taken < wanted;
                 taken++) {
                assert_int_equal(sn_queue_take(queue, taken), taken);
                key[taken] = sn_random_range(&random, last, 1e-3);
                sn_queue_push(queue, taken, key[taken]);
            }

            // Lower the key of one item and remove another.
            int32_t lowered = (int32_t)(sn_random_unit(&random) * taken);
            int32_t removed = (int32_t)(sn_random_unit(&random) * taken);
            if (key[lowered] < INFINITY) {
                key[lowered] = sn_random_range(&random, last, key[lowered]);
                sn_queue_push(queue, lowered, key[lowered]);
            }

            if (removed % 5 == 0) {
                sn_queue_remove(queue, removed);
                key[removed] = INFINITY;
            }

            // The queue returns the item with the smallest key.
            int32_t smallest = 0;
            for (int32_t i = 1; i < taken; i++) {
                smallest = key[i] < key[smallest] ? i : smallest;
            }

            item = sn_queue_pop(queue);
            if (item < 0) {
                assert_true(key[smallest] == INFINITY);
                break;
            }

            assert_int_equal(item, smallest);
        }

        assert_int_equal(taken, 2 * first);
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

// Blocks of cells: mirrored cells are in mirrored blocks, none is wider than the factor, and all
// have voxels where the solid is full. Costs are those of the voxels on average, a block that is
// mostly rigid is rigid.
static void test_blocks(void **state) {
    (void)state;
    for (int32_t cells = 1; cells < 40; cells++) {
        for (int32_t factor = 2; factor < 5; factor++) {
            int32_t last = sn_block_of(cells, factor, cells - 1);
            int32_t width = 0;
            int32_t previous = -1;

            assert_int_equal(sn_block_of(cells, factor, 0), 0);
            for (int32_t c = 0; c < cells; c++) {
                int32_t block = sn_block_of(cells, factor, c);
                assert_int_equal(sn_block_of(cells, factor, cells - 1 - c), last - block);
                assert_true(block == previous || block == previous + 1);
                width = block == previous ? width + 1 : 1;
                assert_true(width <= factor);
                previous = block;
            }
        }
    }

    sinew_context *context = test_context(1);
    sinew_voxels *voxels = make_solid(context, SINEW_SOLID_BOX, 1.2, 0.4, 0.4, 0.1);
    sinew_voxels *blocks;
    sn_arena arena = sn_arena_create(context);
    double *young = SN_PUSH(&arena, double, 65536);
    bool *rigid = SN_PUSH(&arena, bool, 65536);

    young[1] = 2;
    young[2] = 8;
    rigid[3] = true;

    // Along x: two cells of label 2, two of 1, a block with a few of 2, three of 3.
    for (int32_t v = 0; v < voxels->count; v++) {
        int32_t c[3];
        sn_cell_coordinates(voxels->cells, voxels->cell[v], c);
        voxels->label[v] = c[0] < 2 || c[0] == 4 ? 2 : c[0] > 8 ? 3 : 1;
    }

    sn_metric fine, coarse;
    assert_int_equal(sn_metric_compliance(voxels, &arena, young, rigid, &fine), SINEW_OK);
    assert_int_equal(sn_metric_coarsen(&fine, 2, &arena, &blocks, &coarse), SINEW_OK);
    assert_int_equal(blocks->count, 6 * 2 * 2);

    const double expected[6] = {0.25, 1, 0.625, 1, 1, 0};
    for (int32_t v = 0; v < blocks->count; v++) {
        test_close("cost", coarse.cost[v], expected[blocks->cell[v] % 6], 1e-15);
    }

    assert_int_equal(coarse.cluster_count, 1);
    assert_int_equal(coarse.cluster_start[1], 2 * 2);
    test_close("spacing", blocks->spacing[0], 0.2, 1e-15);
    sinew_voxels_destroy(blocks);
    sn_arena_destroy(&arena);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    int64_t allocations = 1;
    bool whole = false;

    for (int64_t fail_at = 1; !whole; fail_at++) {
        test_allocator allocator = {.fail_at = fail_at};
        sinew_context *context = test_context_failing(&allocator);

        assert_non_null(context);
        sinew_solid_def solid = sinew_default_solid_def();
        sinew_voxel_def grid = sinew_default_voxel_def();

        grid.resolution = 24;
        sinew_voxels *voxels = NULL;
        sinew_status status = sinew_voxels_create_from_solids(context, &solid, 1, &grid, &voxels);

        if (status == SINEW_OK) {
            sn_metric metric = sn_metric_euclidean(voxels);
            sn_arena arena = sn_arena_create(context);
            sn_front *front = NULL;
            status = sn_front_create(&arena, &metric, SN_DISTANCE_MARCHING_2, &front);
            whole = status == SINEW_OK;
            sn_arena_destroy(&arena);
            sinew_voxels_destroy(voxels);
        }

        if (!whole) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        allocations = fail_at;
    }

    assert_true(allocations > 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_methods_in_a_ball),
        cmocka_unit_test(test_around_the_corner),
        cmocka_unit_test(test_graph_against_brute_force),
        cmocka_unit_test(test_layers_are_exact_across),
        cmocka_unit_test(test_rigid_part_is_one_point),
        cmocka_unit_test(test_stops_and_sources),
        cmocka_unit_test(test_turns_mirrors_scales),
        cmocka_unit_test(test_queue_is_sorted),
        cmocka_unit_test(test_present_bucket),
        cmocka_unit_test(test_memory_shortage),
        cmocka_unit_test(test_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
