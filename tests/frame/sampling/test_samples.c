// Midpoint samples and the integrals of the mass: counts, exact volumes, averages, symmetry, masses
// compared with closed forms.
#include "support/shape.h"

#include "frame/mass/moments.h"

#include <math.h>
#include <string.h>

static sn_shape *make(sinew_context *context, const sinew_voxels *voxels, const double *nodes,
                      int32_t count, sinew_weights kind) {
    sinew_weights_def def = sinew_default_weights_def();
    def.kind = kind;
    return test_shape(context, voxels, NULL, 0, nodes, count, &def);
}

static sn_frame_samples *sample(const sn_shape *shape, int32_t count) {
    sinew_sampling_def def = sinew_default_sampling_def();
    def.kind = SINEW_SAMPLING_MIDPOINT;
    def.count = count;

    sn_frame_samples *samples = NULL;
    sinew_status status = sn_samples_create(shape, &def, &samples);

    if (status != SINEW_OK) {
        fail_msg("no samples: %s", sinew_context_message(shape->context));
    }

    return samples;
}

static const double bar_nodes[9] = {-0.5, 0, 0, 0, 0, 0, 0.5, 0, 0};

static void test_counts_and_volumes(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_voxels *voxels = test_solid(context, SINEW_SOLID_SPHERE, 1.2, 0.7, 0.9, 0.04);
    sn_shape *shape = make(context, voxels, bar_nodes, 3, SINEW_WEIGHTS_RADIAL);
    static const int32_t requested[5] = {0, 1, 20, 300, 2000};

    for (int i = 0; i < 5; i++) {
        sn_frame_samples *samples = sample(shape, requested[i]);
        double volume = 0;
        for (int32_t s = 0; s < samples->count; s++) {
            volume += samples->volume[s];
            assert_true(samples->volume[s] > 0);
            test_close("first moment", samples->moment[s], samples->volume[s], 1e-13);
        }

        test_close("volume", volume, sinew_voxels_get_volume(voxels, NULL), 1e-12);
        test_close("mass", samples->report.mass, 1000 * volume, 1e-9);
        if (requested[i] == 0) {
            assert_int_equal(samples->count, voxels->count);
        } else {
            assert_true(samples->count <= 1.3 * requested[i] + 1 &&
                        samples->count >= 0.7 * requested[i]);
        }

        // Every voxel once.
        int64_t sum = 0;
        for (int32_t k = 0; k < voxels->count; k++) {
            sum += samples->voxel[k];
        }

        assert_true(sum == (int64_t)voxels->count * (voxels->count - 1) / 2);
        sn_samples_destroy(samples);
    }

    sn_shape_destroy(shape);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

static void test_averages_and_order(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_voxels *voxels = test_solid(context, SINEW_SOLID_BOX, 1, 0.2, 0.2, 0.025);

    test_paint_box(voxels, sn_v3(0.2, 0, 0), sn_v3(0.17, 1, 1), 3);
    sn_shape *shape = make(context, voxels, bar_nodes, 3, SINEW_WEIGHTS_AXIS_LINEAR);
    sn_frame_samples *samples = sample(shape, 90);
    int32_t last = 0;

    for (int32_t i = 0; i < samples->count; i++) {
        int32_t s = samples->order[i];
        int32_t nodes = samples->start[s + 1] - samples->start[s];

        assert_true(nodes >= last);
        last = nodes;

        double sum = 0, slope[3] = {0, 0, 0}, x = 0;
        for (int32_t k = samples->start[s]; k < samples->start[s + 1]; k++) {
            sum += samples->weight[k];
            x += samples->weight[k] * bar_nodes[3 * samples->node[k]];
            for (int a = 0; a < 3; a++) {
                slope[a] += samples->gradient[3 * k + a];
            }
        }

        test_close("sum", sum, 1, 1e-13);
        test_close("linear", x, samples->position[3 * s], 1e-13);
        for (int a = 0; a < 3; a++) {
            test_close("slope", slope[a], 0, 1e-12);
        }

        for (int32_t k = samples->voxel_start[s]; k < samples->voxel_start[s + 1]; k++) {
            // One material in each sample.
            assert_int_equal(voxels->label[samples->voxel[k]], samples->label[s]);
        }
    }

    sn_samples_destroy(samples);
    sn_shape_destroy(shape);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

// The samples of a rotated solid are the rotated samples.
static void test_turned(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *voxels = test_solid(context, SINEW_SOLID_L, 1, 0.7, 0.3, 0.05);
    double nodes[9] = {-0.4, 0.2, 0.05, -0.3, -0.3, 0, 0.4, -0.3, -0.1};
    sn_shape *shape = make(context, voxels, nodes, 3, SINEW_WEIGHTS_GEODESIC);
    sn_frame_samples *samples = sample(shape, 60);

    for (int number = 1; number < 48; number += 5) {
        // The rotated and scaled solid with its nodes.
        test_turn turn = test_turn_number(number);
        sinew_voxels *turned = test_turn_voxels(voxels, turn, 2.5, NULL);
        double turned_nodes[9];

        for (int i = 0; i < 3; i++) {
            sn_store3(turned_nodes + 3 * i,
                      sn_scale(2.5, test_turn_point(turn, sn_load3(nodes + 3 * i))));
        }

        sn_shape *other_shape = make(context, turned, turned_nodes, 3, SINEW_WEIGHTS_GEODESIC);
        sn_frame_samples *other = sample(other_shape, 60);

        // Every sample has a counterpart with the same weights and rotated gradients.
        assert_int_equal(other->count, samples->count);
        for (int32_t s = 0; s < samples->count; s++) {
            sn_vec3 p = sn_scale(2.5, test_turn_point(turn, sn_load3(samples->position + 3 * s)));
            int32_t match = -1;
            for (int32_t t = 0; t < other->count; t++) {
                if (sn_distance(p, sn_load3(other->position + 3 * t)) < 1e-9) {
                    match = t;
                }
            }

            assert_true(match >= 0);
            int32_t count = samples->start[s + 1] - samples->start[s];

            assert_int_equal(other->start[match + 1] - other->start[match], count);
            for (int32_t k = 0; k < count; k++) {
                int32_t i = samples->start[s] + k;
                int32_t j = other->start[match] + k;
                test_close("weight", other->weight[j], samples->weight[i], 1e-10);
                sn_vec3 g = test_turn_point(turn, sn_load3(samples->gradient + 3 * i));
                test_close("gradient",
                           sn_distance(sn_scale(2.5, sn_load3(other->gradient + 3 * j)), g), 0,
                           1e-9);
            }
        }

        sn_samples_destroy(other);
        sn_shape_destroy(other_shape);
        sinew_voxels_destroy(turned);
    }

    sn_samples_destroy(samples);
    sn_shape_destroy(shape);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

// Voxels with so many nodes that few of them share a sample, and integrals over each box for each
// node.
static void test_mass_of_many_nodes(void **state) {
    (void)state;
    enum { NODES = 90, DEGREE = 4, MONOMIALS = 35 };

    sinew_context *context = test_context(2);
    sinew_voxels *voxels = test_solid(context, SINEW_SOLID_BOX, 2, 0.3, 0.2, 0.05);
    double nodes[3 * NODES], moments[NODES * MONOMIALS], expected[NODES * MONOMIALS] = {0};

    for (int i = 0; i < NODES; i++) {
        sn_store3(nodes + 3 * i, sn_v3(-0.98 + 0.022 * i, 0.1 * sin(i), 0.05 * cos(i)));
    }

    sinew_weights_def def = sinew_default_weights_def();
    def.kind = SINEW_WEIGHTS_RADIAL;
    def.nodes_per_voxel = 40;

    sn_shape *shape = test_shape(context, voxels, NULL, 0, nodes, NODES, &def);
    // Two voxels of different nodes do not fit into one list of 64.
    assert_true(shape->report.mean_nodes > 33);

    int8_t exponents[SN_MAX_MONOMIALS][3];
    assert_int_equal(sn_monomials(DEGREE, exponents), MONOMIALS);
    for (int32_t v = 0; v < voxels->count; v++) {
        double p[3];
        sn_store3(p, sn_voxel_center(voxels, v));
        for (int64_t k = shape->table.start[v]; k < shape->table.start[v + 1]; k++) {
            int32_t i = shape->table.node[k];
            for (int32_t m = 0; m < MONOMIALS; m++) {
                double product = 1000 * shape->table.weight[k];
                for (int a = 0; a < 3; a++) {
                    double low = p[a] - 0.5 * voxels->spacing[a] - nodes[3 * i + a];
                    double high = low + voxels->spacing[a];
                    int n = exponents[m][a] + 1;
                    product *= (pow(high, n) - pow(low, n)) / n;
                }

                expected[MONOMIALS * i + m] += product;
            }
        }
    }

    assert_int_equal(sn_compute_mass_moments(shape, DEGREE, moments), SINEW_OK);
    for (int k = 0; k < NODES * MONOMIALS; k++) {
        test_close("moment of a node", moments[k], expected[k], 1e-12);
    }

    sn_shape_destroy(shape);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

// A bar with one node has the known moments of a box. With several nodes they add up to these.
static void test_mass_moments(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    const double size[3] = {1, 0.4, 0.2};
    const double center[3] = {0.1, -0.05, 0.02};
    const double origin[3] = {0, 0, 0};
    sinew_voxels *voxels = test_solid(context, SINEW_SOLID_BOX, 1, 0.4, 0.2, 0.02);
    sn_shape *one = make(context, voxels, center, 1, SINEW_WEIGHTS_RADIAL);
    int8_t exponents[SN_MAX_MONOMIALS][3];
    int32_t count = sn_monomials(4, exponents);

    assert_int_equal(count, 35);
    double moments[3 * 35];

    assert_int_equal(sn_compute_mass_moments(one, 4, moments), SINEW_OK);
    for (int32_t m = 0; m < count; m++) {
        double expected = 1000;
        for (int a = 0; a < 3; a++) {
            double low = -0.5 * size[a] - center[a];
            double high = 0.5 * size[a] - center[a];
            int k = exponents[m][a] + 1;
            expected *= (pow(high, k) - pow(low, k)) / k;
        }

        test_close("moment of a box", moments[m], expected, 1e-11 * 80);
    }

    sn_shape_destroy(one);
    sn_shape *three = make(context, voxels, bar_nodes, 3, SINEW_WEIGHTS_AXIS_LINEAR);

    assert_int_equal(sn_compute_mass_moments(three, 2, moments), SINEW_OK);
    double mass = 0, first = 0;
    for (int i = 0; i < 3; i++) {
        mass += moments[10 * i];
        first += moments[10 * i + 1] + bar_nodes[3 * i] * moments[10 * i]; // about the origin
    }

    test_close("mass", mass, 80, 1e-10);
    test_close("first moment", first, 0, 1e-10);

    // Rows of the consistent mass add up to the lumped mass.
    sn_arena arena = sn_arena_create(context);
    sn_mass_pairs pairs;

    assert_int_equal(sn_compute_mass_pairs(three, NULL, 0, &arena, 2, &pairs), SINEW_OK);
    assert_int_equal(pairs.count, 5); // 00 01 11 12 22
    test_close("centre", sn_distance(pairs.center, sn_load3(origin)), 0, 1e-12);

    double row[3] = {0, 0, 0};
    for (int32_t k = 0; k < pairs.count; k++) {
        row[pairs.pair[k][0]] += pairs.moments[10 * k];
        if (pairs.pair[k][0] != pairs.pair[k][1]) {
            row[pairs.pair[k][1]] += pairs.moments[10 * k];
        }
    }

    for (int i = 0; i < 3; i++) {
        test_close("row sum", row[i], moments[10 * i], 1e-10);
    }

    assert_int_equal(sn_compute_mass_moments(three, 5, moments), SINEW_INVALID_ARGUMENT);
    sn_arena_destroy(&arena);
    sn_shape_destroy(three);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

static void test_monomials(void **state) {
    (void)state;
    int8_t exponents[SN_MAX_MONOMIALS][3];
    double values[SN_MAX_MONOMIALS];
    static const int32_t expected[9] = {1, 4, 10, 20, 35, 56, 84, 120, 165};

    for (int32_t degree = 0; degree <= 8; degree++) {
        assert_int_equal(sn_monomials(degree, exponents), expected[degree]);
        sn_compute_monomials(values, degree, sn_v3(1.3, -0.7, 0.4));
        for (int32_t m = 0; m < expected[degree]; m++) {
            double product =
                pow(1.3, exponents[m][0]) * pow(-0.7, exponents[m][1]) * pow(0.4, exponents[m][2]);
            test_close("monomial", values[m], product, 1e-14 * 10);
        }
    }
}

static void test_threads_and_shortage(void **state) {
    (void)state;
    sn_frame_samples *reference = NULL;
    sinew_context *contexts[3];
    sinew_voxels *voxels[3];
    sn_shape *shapes[3];
    sn_frame_samples *samples[3];

    // The same samples with 1, 2 and 4 threads.
    for (int i = 0; i < 3; i++) {
        contexts[i] = test_context(1 << i);
        voxels[i] = test_solid(contexts[i], SINEW_SOLID_SPHERE, 1.2, 0.7, 0.9, 0.05);
        shapes[i] = make(contexts[i], voxels[i], bar_nodes, 3, SINEW_WEIGHTS_GEODESIC);
        samples[i] = sample(shapes[i], 200);

        if (i == 0) {
            reference = samples[0];
        }

        size_t entries = (size_t)reference->start[reference->count];
        assert_int_equal(samples[i]->count, reference->count);
        assert_memory_equal(samples[i]->weight, reference->weight, entries * sizeof(double));
        assert_memory_equal(samples[i]->gradient, reference->gradient,
                            3 * entries * sizeof(double));
        assert_memory_equal(samples[i]->position, reference->position,
                            3 * (size_t)reference->count * sizeof(double));
    }

    for (int i = 0; i < 3; i++) {
        sn_samples_destroy(samples[i]);
        sn_shape_destroy(shapes[i]);
        sinew_voxels_destroy(voxels[i]);
        sinew_context_destroy(contexts[i]);
    }

    // Every allocation fails once.
    bool whole = false;
    for (int64_t fail_at = 0; !whole; fail_at++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);
        sinew_voxels *solid = test_solid(context, SINEW_SOLID_BOX, 1.2, 0.4, 0.3, 0.05);
        sn_shape *shape = make(context, solid, bar_nodes, 3, SINEW_WEIGHTS_RADIAL);

        allocator.fail_at = allocator.calls + fail_at;
        sinew_sampling_def def = sinew_default_sampling_def();

        def.kind = SINEW_SAMPLING_MIDPOINT;
        def.count = 40;

        sn_frame_samples *made = NULL;
        sinew_status status = sn_samples_create(shape, &def, &made);

        whole = status == SINEW_OK;
        if (!whole) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        sn_samples_destroy(made);
        sn_shape_destroy(shape);
        sinew_voxels_destroy(solid);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

static void test_bad_input(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *voxels = test_solid(context, SINEW_SOLID_BOX, 1.2, 0.4, 0.3, 0.1);
    sn_shape *shape = make(context, voxels, bar_nodes, 3, SINEW_WEIGHTS_RADIAL);
    sinew_sampling_def bad[4];

    for (int i = 0; i < 4; i++) {
        bad[i] = sinew_default_sampling_def();
    }

    bad[0].kind = (sinew_sampling)5;
    bad[1].count = -1;
    bad[2].degree = 9;
    bad[3].fit_error = 0;

    for (int i = 0; i < 4; i++) {
        sn_frame_samples *samples = NULL;
        assert_int_equal(sn_samples_create(shape, &bad[i], &samples), SINEW_INVALID_ARGUMENT);
        assert_null(samples);
    }

    sn_shape_destroy(shape);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

static void count_steep(void *user, sinew_log_level level, const char *line) {
    *(int *)user += level == SINEW_LOG_WARNING && strstr(line, "node_radius");
}

// Harmonic weights of nodes that own a voxel are too steep for regions, which is reported. A ball
// of three voxels around each node, or midpoint samples, are as they should be.
static void test_steep_weights_are_reported(void **state) {
    (void)state;
    static const int expected[3] = {1, 0, 0};
    for (int i = 0; i < 3; i++) {
        int count = 0;
        sinew_context_def context_def = sinew_default_context_def();
        context_def.logger.write = count_steep;
        context_def.logger.user = &count;
        sinew_context *context = sinew_context_create(&context_def);
        sinew_voxels *voxels = test_solid(context, SINEW_SOLID_BOX, 1.25, 0.85, 0.85, 0.05);

        sinew_weights_def weights = sinew_default_weights_def();
        weights.kind = SINEW_WEIGHTS_HARMONIC;
        weights.node_radius = i == 1 ? 0.15 : 0;
        sn_shape *shape = test_shape(context, voxels, NULL, 0, bar_nodes, 3, &weights);
        sinew_sampling_def def = sinew_default_sampling_def();
        def.kind = i == 2 ? SINEW_SAMPLING_MIDPOINT : SINEW_SAMPLING_AUTO;
        sn_frame_samples *samples = NULL;
        assert_int_equal(sn_samples_create(shape, &def, &samples), SINEW_OK);
        assert_int_equal(count, expected[i]);

        sn_samples_destroy(samples);
        sn_shape_destroy(shape);
        sinew_voxels_destroy(voxels);
        sinew_context_destroy(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steep_weights_are_reported),
        cmocka_unit_test(test_counts_and_volumes),
        cmocka_unit_test(test_averages_and_order),
        cmocka_unit_test(test_turned),
        cmocka_unit_test(test_mass_moments),
        cmocka_unit_test(test_mass_of_many_nodes),
        cmocka_unit_test(test_monomials),
        cmocka_unit_test(test_threads_and_shortage),
        cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
