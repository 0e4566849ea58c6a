// Nodes that join a running body: they touch only their range, keep the sums, can be taken out in any order without a trace,
// and move mass without losing any.
#include "support/solid.h"

#include "frame/insertion.h"

#include <math.h>

typedef struct setup {
    sinew_context *context;
    sinew_voxels *voxels;
    sn_shape *shape;
    sn_frame_samples *samples;
    sn_arena arena;
    sn_vertex_weights vertices;
    double points[900];
} setup;

static const double nodes[9] = {-0.4, 0, 0, 0.05, 0.02, 0, 0.4, 0, 0.02};

static void open_setup(setup *setup, sinew_sampling kind) {
    setup->context = test_context(2);
    setup->voxels = test_solid(setup->context, SINEW_SOLID_U, 1, 0.8, 0.2, 0.04);
    sinew_weights_def weights = sinew_default_weights_def();
    weights.kind = SINEW_WEIGHTS_HARMONIC;
    const double at[9] = {-0.37, 0.2, 0, 0.02, -0.3, 0, 0.37, 0.2, 0.02};
    assert_int_equal(sn_shape_create(setup->context, setup->voxels, NULL, 0, at, 3, &weights, &setup->shape), SINEW_OK);
    sinew_sampling_def sampling = sinew_default_sampling_def();
    sampling.kind = kind;
    sampling.count = kind == SINEW_SAMPLING_MIDPOINT ? 400 : 60;
    assert_int_equal(sn_samples_create(setup->shape, &sampling, &setup->samples), SINEW_OK);
    setup->arena = sn_arena_create(setup->context);
    sn_random random = sn_random_seed(6);
    for (int i = 0; i < 300; i++) { // on and around the voxels
        int32_t v = (int32_t)(sn_random_u32(&random) % (uint32_t)setup->voxels->count);
        sn_vec3 jitter = sn_v3(sn_random_range(&random, -0.05, 0.05), sn_random_range(&random, -0.05, 0.05), 0);
        sn_store3(setup->points + 3 * i, sn_add(sn_voxel_center(setup->voxels, v), jitter));
    }
    assert_int_equal(sn_shape_compute_vertices(setup->shape, &setup->arena, setup->points, 300, &setup->vertices), SINEW_OK);
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
    sinew_status status = sn_insertion_create(setup->shape, setup->samples, setup->points, 300, p, range, &insertion);
    if (status != SINEW_OK) fail_msg("no insertion: %s", sinew_context_message(setup->context));
    return insertion;
}

static void check_sums(const sn_frame_samples *samples) {
    for (int32_t s = 0; s < samples->count; s++) {
        double sum = 0, slope[3] = {0, 0, 0};
        for (int32_t k = samples->start[s]; k < samples->start[s + 1]; k++) {
            sum += samples->weight[k];
            for (int a = 0; a < 3; a++) slope[a] += samples->gradient[3 * k + a];
        }
        test_close("sum", sum, 1, 1e-9);
        for (int a = 0; a < 3; a++) test_close("slope", slope[a], 0, 1e-7);
    }
}

static bool same_samples(const sn_frame_samples *a, const sn_frame_samples *b) {
    size_t entries = (size_t)a->start[a->count];
    return memcmp(a->start, b->start, ((size_t)a->count + 1) * sizeof *a->start) == 0 &&
           memcmp(a->node, b->node, entries * sizeof *a->node) == 0 &&
           memcmp(a->weight, b->weight, entries * sizeof *a->weight) == 0 &&
           memcmp(a->gradient, b->gradient, 3 * entries * sizeof *a->gradient) == 0;
}

static void test_touches_only_its_range(void **state) {
    (void)state;
    setup setup;
    for (int kind = 0; kind < 2; kind++) {
        open_setup(&setup, kind ? SINEW_SAMPLING_REGIONS : SINEW_SAMPLING_MIDPOINT);
        const sn_vec3 p = sn_v3(-0.27, 0.3, 0.02); // in the left arm, beside the gap
        int32_t touched[2];
        for (int wide = 0; wide < 2; wide++) {
            double range = wide ? 0.3 : 0.15;
            sn_insertion *insertion = insert(&setup, p, range);
            touched[wide] = insertion->sample_count;
            const sn_insertion *list[1] = {insertion};
            sn_frame_samples *samples = NULL;
            assert_int_equal(sn_insertions_apply_samples(setup.context, setup.samples, 3, list, 1, &samples), SINEW_OK);
            check_sums(samples);
            int32_t next = 0;
            for (int32_t s = 0; s < samples->count; s++) {
                bool is_touched = next < insertion->sample_count && insertion->sample[next] == s;
                next += is_touched;
                int32_t count = setup.samples->start[s + 1] - setup.samples->start[s];
                assert_int_equal(samples->start[s + 1] - samples->start[s], count + is_touched);
                for (int32_t k = 0; k < count && !is_touched; k++) { // bit for bit
                    assert_true(samples->weight[samples->start[s] + k] == setup.samples->weight[setup.samples->start[s] + k]);
                }
            }
            // Not the other arm, though it is near through the air.
            for (int32_t k = 0; k < insertion->voxel_count; k++) {
                assert_true(sn_voxel_center(setup.voxels, insertion->voxel[k]).x < 0.1);
            }
            sn_vertex_weights vertices;
            assert_int_equal(sn_insertions_apply_vertices(&setup.arena, &setup.vertices, 3, list, 1, &vertices), SINEW_OK);
            for (int32_t i = 0; i < 300; i++) {
                double sum = 0;
                for (int32_t k = vertices.start[i]; k < vertices.start[i + 1]; k++) sum += vertices.weight[k];
                test_close("vertex", sum, 1, 1e-9);
            }
            assert_true(insertion->vertex_count > 0 && insertion->vertex_count < 150);
            sn_samples_destroy(samples);
            sn_insertion_destroy(insertion);
        }
        assert_true(touched[0] < touched[1]); // the range makes the dent more or less local
        close_setup(&setup);
    }
}

static void test_removal_leaves_no_trace(void **state) {
    (void)state;
    setup setup;
    open_setup(&setup, SINEW_SAMPLING_MIDPOINT);
    sn_insertion *a = insert(&setup, sn_v3(-0.3, 0.3, 0), 0.2), *b = insert(&setup, sn_v3(-0.3, 0.2, 0), 0.25);
    const sn_insertion *both[2] = {a, b}, *only_b[1] = {b};
    sn_frame_samples *none = NULL, *with_both = NULL, *with_b = NULL, *b_alone = NULL;
    assert_int_equal(sn_insertions_apply_samples(setup.context, setup.samples, 3, NULL, 0, &none), SINEW_OK);
    assert_true(same_samples(none, setup.samples));
    assert_int_equal(sn_insertions_apply_samples(setup.context, setup.samples, 3, both, 2, &with_both), SINEW_OK);
    check_sums(with_both);
    // The first is taken out: as if it had never been there.
    assert_int_equal(sn_insertions_apply_samples(setup.context, setup.samples, 3, only_b, 1, &with_b), SINEW_OK);
    assert_int_equal(sn_insertions_apply_samples(setup.context, setup.samples, 3, only_b, 1, &b_alone), SINEW_OK);
    assert_true(same_samples(with_b, b_alone));
    assert_false(same_samples(with_b, with_both));
    // Order of blocks: samples by number of nodes.
    int32_t last = 0;
    for (int32_t i = 0; i < with_both->count; i++) {
        int32_t count = with_both->start[with_both->order[i] + 1] - with_both->start[with_both->order[i]];
        assert_true(count >= last);
        last = count;
    }
    sn_samples_destroy(none);
    sn_samples_destroy(with_both);
    sn_samples_destroy(with_b);
    sn_samples_destroy(b_alone);
    sn_insertion_destroy(a);
    sn_insertion_destroy(b);
    close_setup(&setup);
}

static void test_mass_is_kept(void **state) {
    (void)state;
    setup setup;
    open_setup(&setup, SINEW_SAMPLING_MIDPOINT);
    sn_insertion *a = insert(&setup, sn_v3(-0.3, 0.3, 0), 0.2), *b = insert(&setup, sn_v3(-0.3, 0.2, 0), 0.25);
    const sn_insertion *both[2] = {a, b};
    double base[30], moments[50], after[30];
    assert_int_equal(sn_compute_mass_moments(setup.shape, 2, base), SINEW_OK);
    assert_int_equal(sn_insertions_compute_mass(setup.shape, both, 2, 2, base, moments), SINEW_OK);
    double mass[2] = {0, 0}, first[2] = {0, 0};
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
    sn_insertion_destroy(a);
    sn_insertion_destroy(b);
    close_setup(&setup);
}

// A bound label keeps its node alone, and the new weight goes to nothing beside it; a rigid one has a single weight.
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
        assert_int_equal(sn_shape_create(context, voxels, tissues, 2, at, 2, &weights, &shape), SINEW_OK);
        assert_int_equal(sn_samples_create(shape, &sampling, &samples), SINEW_OK);
        const double vertex[3] = {0.34, 0, 0.1}; // on the far side of the rigid part
        sinew_status status = sn_insertion_create(shape, samples, vertex, 1, sn_v3(0.06, 0, -0.02), 0.25, &insertion);
        if (status != SINEW_OK) fail_msg("%s", sinew_context_message(context));
        double common = -1;
        int32_t rigid = 0;
        for (int32_t v = 0; v < voxels->count; v++) {
            if (voxels->label[v] != 2) continue;
            double weight = sn_insertion_at_voxel(insertion, v);
            if (common < 0) common = weight;
            assert_true(weight == common);
            rigid++;
        }
        assert_true(rigid > 20 && (bound ? common == 0 : common > 0.01));
        assert_int_equal(insertion->vertex_count, !bound);
        for (int32_t k = 0; k < insertion->sample_count; k++) { // single voxels
            if (samples->label[insertion->sample[k]] != 2) continue;
            assert_true(sn_length(sn_load3(insertion->sample_gradient[k])) == 0);
        }
        sn_insertion_destroy(insertion);
        // In the middle of a bound part there is nothing to bend.
        status = sn_insertion_create(shape, samples, vertex, 1, sn_v3(0.22, 0.02, 0.09), 0.045, &insertion);
        assert_int_equal(status, bound ? SINEW_INVALID_ARGUMENT : SINEW_OK);
        if (!bound) sn_insertion_destroy(insertion);
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
    const sn_vec3 inside = sn_v3(-0.3, 0.3, 0), outside = sn_v3(0, 0.3, 0), nowhere = sn_v3(NAN, 0, 0);
    assert_int_equal(sn_insertion_create(setup.shape, setup.samples, NULL, 0, outside, 0.2, &insertion),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sn_insertion_create(setup.shape, setup.samples, NULL, 0, nowhere, 0.2, &insertion),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sn_insertion_create(setup.shape, setup.samples, NULL, 0, inside, 0.001, &insertion),
                     SINEW_INVALID_ARGUMENT);
    close_setup(&setup);
    bool whole = false;
    for (int64_t fail_at = 0; !whole; fail_at++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);
        sinew_voxels *voxels = test_solid(context, SINEW_SOLID_BOX, 1, 0.2, 0.2, 0.05);
        sn_shape *shape = NULL;
        sn_frame_samples *samples = NULL, *changed = NULL;
        sinew_weights_def weights = sinew_default_weights_def();
        weights.kind = SINEW_WEIGHTS_AXIS_LINEAR;
        assert_int_equal(sn_shape_create(context, voxels, NULL, 0, nodes, 3, &weights, &shape), SINEW_OK);
        sinew_sampling_def sampling = sinew_default_sampling_def();
        sampling.kind = SINEW_SAMPLING_MIDPOINT;
        assert_int_equal(sn_samples_create(shape, &sampling, &samples), SINEW_OK);
        allocator.fail_at = allocator.calls + fail_at;
        insertion = NULL;
        sinew_status status = sn_insertion_create(shape, samples, nodes, 3, sn_v3(0.1, 0, 0), 0.2, &insertion);
        if (status == SINEW_OK) {
            const sn_insertion *list[1] = {insertion};
            status = sn_insertions_apply_samples(context, samples, 3, list, 1, &changed);
        }
        whole = status == SINEW_OK;
        if (!whole) assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        sn_samples_destroy(changed);
        sn_insertion_destroy(insertion);
        sn_samples_destroy(samples);
        sn_shape_destroy(shape);
        sinew_voxels_destroy(voxels);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_touches_only_its_range), cmocka_unit_test(test_removal_leaves_no_trace),
        cmocka_unit_test(test_mass_is_kept),           cmocka_unit_test(test_rigid_parts),
        cmocka_unit_test(test_bad_input_and_shortage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
