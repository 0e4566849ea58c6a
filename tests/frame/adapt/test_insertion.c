// Nodes that join a running body: they change only their range, keep the sums, can be removed in
// any order without a trace, and redistribute mass without losing any.
#include "support/solid.h"

#include "frame/adapt/vertex_patch.h"
#include "frame/mass/moments.h"

#include <math.h>
#include <stdlib.h>

typedef struct setup {
    sinew_context *context;
    sinew_voxels *voxels;
    sn_shape *shape;
    sn_frame_samples *samples;
    sn_arena arena;
    sn_vertex_weights vertices;
    sn_reach reach;
    double points[900];
} setup;

static const double nodes[9] = {-0.4, 0, 0, 0.05, 0.02, 0, 0.4, 0, 0.02};

static void open_setup(setup *setup, sinew_sampling kind) {
    setup->context = test_context(2);
    setup->voxels = test_solid(setup->context, SINEW_SOLID_U, 1, 0.8, 0.2, 0.04);

    sinew_weights_def weights = sinew_default_weights_def();
    weights.kind = SINEW_WEIGHTS_HARMONIC;

    const double at[9] = {-0.37, 0.2, 0, 0.02, -0.3, 0, 0.37, 0.2, 0.02};
    assert_int_equal(
        sn_shape_create(setup->context, setup->voxels, NULL, 0, at, 3, &weights, &setup->shape),
        SINEW_OK);

    sinew_sampling_def sampling = sinew_default_sampling_def();
    sampling.kind = kind;
    sampling.count = kind == SINEW_SAMPLING_MIDPOINT ? 400 : 60;
    assert_int_equal(sn_samples_create(setup->shape, &sampling, &setup->samples), SINEW_OK);
    setup->arena = sn_arena_create(setup->context);

    sn_random random = sn_random_seed(6);
    for (int i = 0; i < 300; i++) { // on and around the voxels
        int32_t v = (int32_t)(sn_random_u32(&random) % (uint32_t)setup->voxels->count);

        sn_vec3 jitter =
            sn_v3(sn_random_range(&random, -0.05, 0.05), sn_random_range(&random, -0.05, 0.05), 0);
        sn_store3(setup->points + 3 * i, sn_add(sn_voxel_center(setup->voxels, v), jitter));
    }

    assert_int_equal(sn_shape_compute_vertices(setup->shape, &setup->arena, setup->points, 300,
                                               &setup->vertices),
                     SINEW_OK);
    assert_int_equal(sn_reach_create(&setup->arena, setup->shape, setup->samples, setup->points,
                                     300, &setup->reach),
                     SINEW_OK);
}

static void close_setup(setup *setup) {
    sn_arena_destroy(&setup->arena);
    sn_samples_destroy(setup->samples);
    sn_shape_destroy(setup->shape);
    sinew_voxels_destroy(setup->voxels);
    sinew_context_destroy(setup->context);
}

static sn_insertion *insert(const setup *setup, sn_vec3 p, double range) {
    sn_insertion *insertion = NULL;
    sinew_status status = sn_insertion_create(&setup->reach, p, range, &insertion);
    if (status != SINEW_OK) {
        fail_msg("no insertion: %s", sinew_context_message(setup->context));
    }
    return insertion;
}

// The lists of all samples with some insertions.
static sn_sample_rows rows_with(setup *setup, const sn_insertion *const *insertions,
                                int32_t count) {
    int32_t *list = SN_PUSH(&setup->arena, int32_t, setup->samples->count);
    for (int32_t s = 0; s < setup->samples->count; s++) {
        list[s] = s;
    }

    sn_sample_rows rows;
    assert_int_equal(sn_insertions_compute_rows(&setup->arena, setup->samples, 3, insertions, count,
                                                list, setup->samples->count, &rows),
                     SINEW_OK);

    return rows;
}

static void check_sums(const sn_sample_rows *rows, int32_t count) {
    for (int32_t s = 0; s < count; s++) {
        double sum = 0, slope[3] = {0, 0, 0};
        for (int32_t k = rows->start[s]; k < rows->start[s + 1]; k++) {
            sum += rows->weight[k];
            for (int a = 0; a < 3; a++) {
                slope[a] += rows->gradient[3 * k + a];
            }
        }

        test_close("sum", sum, 1, 1e-9);
        for (int a = 0; a < 3; a++) {
            test_close("slope", slope[a], 0, 1e-7);
        }
    }
}

static bool same_rows(const sn_sample_rows *a, const sn_sample_rows *b, int32_t count) {
    size_t entries = (size_t)a->start[count];
    return memcmp(a->start, b->start, ((size_t)count + 1) * sizeof *a->start) == 0 &&
           memcmp(a->node, b->node, entries * sizeof *a->node) == 0 &&
           memcmp(a->weight, b->weight, entries * sizeof *a->weight) == 0 &&
           memcmp(a->gradient, b->gradient, 3 * entries * sizeof *a->gradient) == 0;
}

static sn_insertion_change joining(const sn_insertion *const *after, int32_t count) {
    return (sn_insertion_change){after, after, count - 1, count, after[count - 1], -1};
}

static void check_vertices(const setup *setup, const sn_insertion *const *list) {
    sn_vertex_patch *patch = NULL;
    sn_insertion_change change = joining(list, 1);

    assert_int_equal(sn_vertex_patch_create(setup->context, NULL, &setup->vertices, setup->points,
                                            3, &change, &patch),
                     SINEW_OK);
    assert_int_equal(patch->count, list[0]->vertex_count);

    for (int32_t i = 0; i < patch->count; i++) {
        double sum = 0;
        for (int32_t k = patch->weights.start[i]; k < patch->weights.start[i + 1]; k++) {
            sum += patch->weights.weight[k];
        }
        test_close("vertex", sum, 1, 1e-9);
        assert_int_equal(patch->vertex[i], list[0]->vertex[i]);
    }

    sn_vertex_patch_destroy(patch);
    assert_true(list[0]->vertex_count > 0 && list[0]->vertex_count < 150);
}

static void test_touches_only_its_range(void **state) {
    (void)state;
    setup setup;
    for (int kind = 0; kind < 2; kind++) {
        open_setup(&setup, kind ? SINEW_SAMPLING_REGIONS : SINEW_SAMPLING_MIDPOINT);
        const sn_vec3 p = sn_v3(-0.27, 0.3, 0.02); // beside the gap in the left arm
        int32_t touched[2];

        for (int wide = 0; wide < 2; wide++) {
            sn_insertion *insertion = insert(&setup, p, wide ? 0.3 : 0.15);
            touched[wide] = insertion->sample_count;

            const sn_insertion *list[1] = {insertion};
            sn_sample_rows rows = rows_with(&setup, list, 1);

            check_sums(&rows, setup.samples->count);
            int32_t next = 0;
            for (int32_t s = 0; s < setup.samples->count; s++) {
                bool is_touched = next < insertion->sample_count && insertion->sample[next] == s;
                next += is_touched;
                int32_t count = setup.samples->start[s + 1] - setup.samples->start[s];
                assert_int_equal(rows.start[s + 1] - rows.start[s], count + is_touched);

                if (!is_touched) {
                    // Unchanged bit for bit.
                    for (int32_t k = 0; k < count; k++) {
                        assert_true(rows.weight[rows.start[s] + k] ==
                                    setup.samples->weight[setup.samples->start[s] + k]);
                    }
                }
            }

            // The other arm is not touched, although the straight distance is small.
            for (int32_t k = 0; k < insertion->voxel_count; k++) {
                assert_true(sn_voxel_center(setup.voxels, insertion->voxel[k]).x < 0.1);
            }

            check_vertices(&setup, list);
            sn_insertion_release(insertion);
        }

        assert_true(touched[0] < touched[1]); // the range determines how local the dent is
        close_setup(&setup);
    }
}

// The front in a cut-out box equals one over the whole grid.
static void test_box_is_large_enough(void **state) {
    (void)state;
    setup setup;

    open_setup(&setup, SINEW_SAMPLING_MIDPOINT);
    const sn_vec3 p = sn_v3(-0.3, 0.28, 0.01);
    for (double range = 0.05; range < 2; range *= 2) {
        sn_insertion *insertion = insert(&setup, p, range);
        sn_metric metric = sn_metric_euclidean(setup.voxels);
        sn_front *front;

        assert_int_equal(sn_front_create(&setup.arena, &metric, SN_DISTANCE_MARCHING_2, &front),
                         SINEW_OK);
        assert_true(sn_front_seed_point(front, p, SN_FRONT_SEED_RADIUS, metric.largest_step, 0));
        sn_front_run(front, range, NULL, NULL);

        int32_t reached = 0;
        for (int32_t v = 0; v < setup.voxels->count; v++) {
            double u = 1 - front->distance[v] * front->distance[v] / (range * range);
            double w = u > 0 ? u * u : 0;
            test_close("weight", sn_insertion_at_voxel(insertion, v), w, 1e-12);
            reached += w > 1e-12;
        }

        assert_true(reached > 0 && abs(reached - insertion->voxel_count) <= 1);
        sn_insertion_release(insertion);
    }

    close_setup(&setup);
}

static void test_removal_leaves_no_trace(void **state) {
    (void)state;
    setup setup;

    open_setup(&setup, SINEW_SAMPLING_MIDPOINT);
    int32_t count = setup.samples->count;
    sn_insertion *a = insert(&setup, sn_v3(-0.3, 0.34, 0), 0.25);
    sn_insertion *b = insert(&setup, sn_v3(-0.3, 0.1, 0), 0.25);
    const sn_insertion *both[2] = {a, b};
    const sn_insertion *only_b[1] = {b};
    sn_sample_rows base = {setup.samples->start, setup.samples->node, setup.samples->weight,
                           setup.samples->gradient};
    sn_sample_rows none = rows_with(&setup, NULL, 0);
    sn_sample_rows with_both = rows_with(&setup, both, 2);
    sn_sample_rows with_b = rows_with(&setup, only_b, 1);

    assert_true(same_rows(&none, &base, count));
    check_sums(&with_both, count);
    check_sums(&with_b, count);
    assert_false(same_rows(&with_b, &with_both, count));

    // Vertices: after the first node is removed it leaves no trace.
    sn_vertex_patch *first = NULL, *second = NULL, *left = NULL, *alone = NULL;
    sn_insertion_change join_a = joining(both, 1);
    sn_insertion_change join_b = joining(both, 2);
    sn_insertion_change join_b_alone = joining(only_b, 1);
    sn_insertion_change leave_a = {both, only_b, 2, 1, a, 3};

    assert_int_equal(sn_vertex_patch_create(setup.context, NULL, &setup.vertices, setup.points, 3,
                                            &join_a, &first),
                     SINEW_OK);
    assert_int_equal(sn_vertex_patch_create(setup.context, first, &setup.vertices, setup.points, 3,
                                            &join_b, &second),
                     SINEW_OK);
    assert_int_equal(sn_vertex_patch_create(setup.context, second, &setup.vertices, setup.points, 3,
                                            &leave_a, &left),
                     SINEW_OK);
    assert_int_equal(sn_vertex_patch_create(setup.context, NULL, &setup.vertices, setup.points, 3,
                                            &join_b_alone, &alone),
                     SINEW_OK);
    assert_true(second->count > left->count && left->count == alone->count);

    size_t entries = (size_t)alone->weights.start[alone->count];
    assert_memory_equal(left->vertex, alone->vertex, (size_t)alone->count * sizeof(int32_t));
    assert_memory_equal(left->weights.node, alone->weights.node, entries * sizeof(int32_t));
    assert_memory_equal(left->weights.weight, alone->weights.weight, entries * sizeof(double));

    sn_vertex_patch *patches[4] = {first, second, left, alone};
    for (int i = 0; i < 4; i++) {
        sn_vertex_patch_destroy(patches[i]);
    }

    sn_insertion_release(a);
    sn_insertion_release(b);
    close_setup(&setup);
}

// Moments of nodes and pairs after a local change equal those computed from scratch.
static void test_mass_changes_in_range(void **state) {
    (void)state;
    setup setup;

    open_setup(&setup, SINEW_SAMPLING_MIDPOINT);
    sn_insertion *a = insert(&setup, sn_v3(-0.3, 0.3, 0), 0.2);
    sn_insertion *b = insert(&setup, sn_v3(-0.3, 0.2, 0), 0.25);
    const sn_insertion *both[2] = {a, b};
    const sn_insertion *only_b[1] = {b};
    double base[30], first[40], second[50], scratch[50], left[40];
    sn_mass_pairs pairs[5];

    assert_int_equal(sn_compute_mass_moments(setup.shape, 2, base), SINEW_OK);
    assert_int_equal(sn_compute_mass_pairs(setup.shape, NULL, 0, &setup.arena, 2, &pairs[0]),
                     SINEW_OK);

    // One node joins, a second joins, the first leaves.
    const sn_insertion_change changes[3] = {
        joining(both, 1), joining(both, 2), {both, only_b, 2, 1, a, 3}};
    const double *from[3] = {base, first, second};
    double *to[3] = {first, second, left};

    for (int i = 0; i < 3; i++) {
        const sn_insertion_change *c = &changes[i];

        // Moments of nodes.
        sn_insertions_change_mass(setup.shape, c, 2, from[i], to[i]);
        assert_int_equal(
            sn_insertions_compute_mass(setup.shape, c->after, c->after_count, 2, base, scratch),
            SINEW_OK);

        for (int k = 0; k < 10 * (3 + c->after_count); k++) {
            test_close("moment", to[i][k], scratch[k], 1e-13 * base[0]);
        }

        // Moments of pairs.
        assert_int_equal(
            sn_change_mass_pairs(setup.shape, c, &setup.arena, 2, &pairs[i], &pairs[i + 1]),
            SINEW_OK);

        sn_mass_pairs *whole = &pairs[4];
        sn_mass_pairs *local = &pairs[i + 1];

        assert_int_equal(
            sn_compute_mass_pairs(setup.shape, c->after, c->after_count, &setup.arena, 2, whole),
            SINEW_OK);
        assert_int_equal(local->count, whole->count);
        assert_memory_equal(local->pair, whole->pair, (size_t)whole->count * sizeof *whole->pair);

        for (int32_t k = 0; k < 10 * whole->count; k++) {
            test_close("pair", local->moments[k], whole->moments[k], 1e-13 * base[0]);
        }
    }

    sn_insertion_release(a);
    sn_insertion_release(b);
    close_setup(&setup);
}

static void test_mass_is_kept(void **state) {
    (void)state;
    setup setup;

    open_setup(&setup, SINEW_SAMPLING_MIDPOINT);
    sn_insertion *a = insert(&setup, sn_v3(-0.3, 0.3, 0), 0.2);
    sn_insertion *b = insert(&setup, sn_v3(-0.3, 0.2, 0), 0.25);
    const sn_insertion *both[2] = {a, b};
    double base[30], moments[50], after[30];

    assert_int_equal(sn_compute_mass_moments(setup.shape, 2, base), SINEW_OK);
    assert_int_equal(sn_insertions_compute_mass(setup.shape, both, 2, 2, base, moments), SINEW_OK);

    double mass[2] = {0, 0};
    double first[2] = {0, 0};
    for (int i = 0; i < 5; i++) {
        double x = i < 3 ? setup.shape->node_position[3 * i] : both[i - 3]->position.x;
        mass[1] += moments[10 * i];
        first[1] += moments[10 * i + 1] + x * moments[10 * i];

        if (i < 3) {
            mass[0] += base[10 * i];
            first[0] += base[10 * i + 1] + x * base[10 * i];
            assert_true(moments[10 * i] <= base[10 * i] + 1e-12);
        } else {
            assert_true(moments[10 * i] > 0);
        }
    }

    test_close("mass", mass[1], mass[0], 1e-10 * mass[0]);
    test_close("first moment", first[1], first[0], 1e-10 * mass[0]);
    assert_int_equal(sn_insertions_compute_mass(setup.shape, NULL, 0, 2, base, after), SINEW_OK);
    assert_memory_equal(after, base, sizeof base);
    sn_insertion_release(a);
    sn_insertion_release(b);
    close_setup(&setup);
}

// A bound label keeps only its node, and the new weight falls to zero beside it; a rigid label has
// a single weight.
static void test_rigid_parts(void **state) {
    (void)state;
    for (int bound = 0; bound < 2; bound++) {
        sinew_context *context = test_context(1);
        sinew_voxels *voxels = test_solid(context, SINEW_SOLID_BOX, 1, 0.2, 0.2, 0.04);

        test_paint_box(voxels, sn_v3(0.2, 0, 0.1), sn_v3(0.3, 0.3, 0.1), 2);
        sinew_tissue tissues[2] = {sinew_default_tissue(), sinew_default_tissue()};

        tissues[1].label = 2;
        tissues[1].rigid = true;
        tissues[1].node = bound ? 1 : -1;

        const double at[6] = {-0.38, 0, 0, 0.22, 0.02, 0.06};
        sinew_weights_def weights = sinew_default_weights_def();

        weights.kind = SINEW_WEIGHTS_HARMONIC;
        sn_shape *shape = NULL;
        sn_frame_samples *samples = NULL;
        sn_insertion *insertion = NULL;
        sinew_sampling_def sampling = sinew_default_sampling_def();

        sampling.kind = SINEW_SAMPLING_MIDPOINT;
        assert_int_equal(sn_shape_create(context, voxels, tissues, 2, at, 2, &weights, &shape),
                         SINEW_OK);
        assert_int_equal(sn_samples_create(shape, &sampling, &samples), SINEW_OK);

        const double vertex[3] = {0.34, 0, 0.1}; // on the far side of the rigid part
        sn_arena arena = sn_arena_create(context);
        sn_reach reach;

        assert_int_equal(sn_reach_create(&arena, shape, samples, vertex, 1, &reach), SINEW_OK);
        sinew_status status = sn_insertion_create(&reach, sn_v3(0.06, 0, -0.02), 0.25, &insertion);
        if (status != SINEW_OK) {
            fail_msg("%s", sinew_context_message(context));
        }

        double common = -1;
        int32_t rigid = 0;
        for (int32_t v = 0; v < voxels->count; v++) {
            if (voxels->label[v] != 2) {
                continue;
            }

            double weight = sn_insertion_at_voxel(insertion, v);
            if (common < 0) {
                common = weight;
            }

            assert_true(weight == common);
            rigid++;
        }

        assert_true(rigid > 20 && (bound ? common == 0 : common > 0.01));
        assert_int_equal(insertion->vertex_count, !bound);
        for (int32_t k = 0; k < insertion->sample_count; k++) { // single voxels
            if (samples->label[insertion->sample[k]] != 2) {
                continue;
            }
            assert_true(sn_length(sn_load3(insertion->sample_gradient[k])) == 0);
        }

        sn_insertion_release(insertion);

        // The middle of a bound part cannot bend.
        status = sn_insertion_create(&reach, sn_v3(0.22, 0.02, 0.09), 0.045, &insertion);
        assert_int_equal(status, bound ? SINEW_INVALID_ARGUMENT : SINEW_OK);
        if (!bound) {
            sn_insertion_release(insertion);
        }

        sn_arena_destroy(&arena);
        sn_samples_destroy(samples);
        sn_shape_destroy(shape);
        sinew_voxels_destroy(voxels);
        sinew_context_destroy(context);
    }
}

static void test_bad_input_and_shortage(void **state) {
    (void)state;
    setup setup;

    open_setup(&setup, SINEW_SAMPLING_MIDPOINT);
    sn_insertion *insertion = NULL;
    const sn_vec3 inside = sn_v3(-0.3, 0.3, 0);
    const sn_vec3 outside = sn_v3(0, 0.3, 0);
    const sn_vec3 nowhere = sn_v3(NAN, 0, 0);

    // Positions outside or not finite, and a range below a voxel.
    assert_int_equal(sn_insertion_create(&setup.reach, outside, 0.2, &insertion),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sn_insertion_create(&setup.reach, nowhere, 0.2, &insertion),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sn_insertion_create(&setup.reach, inside, 0.001, &insertion),
                     SINEW_INVALID_ARGUMENT);
    close_setup(&setup);

    // Every allocation fails once.
    bool whole = false;
    for (int64_t fail_at = 0; !whole; fail_at++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);
        sinew_voxels *voxels = test_solid(context, SINEW_SOLID_BOX, 1, 0.2, 0.2, 0.05);
        sn_shape *shape = NULL;
        sn_frame_samples *samples = NULL;
        sinew_weights_def weights = sinew_default_weights_def();

        weights.kind = SINEW_WEIGHTS_AXIS_LINEAR;
        assert_int_equal(sn_shape_create(context, voxels, NULL, 0, nodes, 3, &weights, &shape),
                         SINEW_OK);

        sinew_sampling_def sampling = sinew_default_sampling_def();
        sampling.kind = SINEW_SAMPLING_MIDPOINT;
        assert_int_equal(sn_samples_create(shape, &sampling, &samples), SINEW_OK);
        allocator.fail_at = allocator.calls + fail_at;
        insertion = NULL;

        sn_arena arena = sn_arena_create(context);
        sn_reach reach;
        sinew_status status = sn_reach_create(&arena, shape, samples, nodes, 3, &reach);
        if (status == SINEW_OK) {
            status = sn_insertion_create(&reach, sn_v3(0.1, 0, 0), 0.2, &insertion);
        }

        if (status == SINEW_OK) {
            const sn_insertion *list[1] = {insertion};
            sn_sample_rows rows;
            status = sn_insertions_compute_rows(&arena, samples, 3, list, 1, insertion->sample,
                                                insertion->sample_count, &rows);
        }

        whole = status == SINEW_OK;
        if (!whole) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        sn_arena_destroy(&arena);
        sn_insertion_release(insertion);
        sn_samples_destroy(samples);
        sn_shape_destroy(shape);
        sinew_voxels_destroy(voxels);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_touches_only_its_range),  cmocka_unit_test(test_box_is_large_enough),
        cmocka_unit_test(test_removal_leaves_no_trace), cmocka_unit_test(test_mass_is_kept),
        cmocka_unit_test(test_mass_changes_in_range),   cmocka_unit_test(test_rigid_parts),
        cmocka_unit_test(test_bad_input_and_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
