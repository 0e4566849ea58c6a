// Region samples: exact for linear weights at every degree, within a few per cent for Voronoi
// weights, the requested number, one material each, equivariant under rotation, the same for any
// number of threads.
#include "support/shape.h"

#include "frame/sampling/sampling.h"

#include <math.h>

// A T-bone steak: muscle, a T-shaped bone, a rim of fat.
static sinew_voxels *make_steak(sinew_context *context, double h) {
    sinew_solid_def solids[4];
    for (int i = 0; i < 4; i++) {
        solids[i] = sinew_default_solid_def();
    }

    solids[0].solid = SINEW_SOLID_CYLINDER;
    solids[0].size[0] = 0.3;
    solids[0].size[1] = 0.2;
    solids[0].size[2] = 0.03;
    solids[1] = solids[0];
    solids[1].label = 2;
    solids[1].operation = SINEW_SOLID_PAINT; // muscle inside the fat
    solids[1].size[0] = 0.26;
    solids[1].size[1] = 0.16;
    solids[2].label = solids[3].label = 3;
    solids[2].operation = solids[3].operation = SINEW_SOLID_PAINT;
    solids[2].size[0] = 0.02;
    solids[2].size[1] = 0.12;
    solids[2].size[2] = 0.1;
    solids[2].center[1] = -0.01;
    solids[3].size[0] = 0.1;
    solids[3].size[1] = 0.02;
    solids[3].size[2] = 0.1;
    solids[3].center[1] = 0.05;

    sinew_voxel_def grid = sinew_default_voxel_def();
    for (int a = 0; a < 3; a++) {
        grid.spacing[a] = h;
    }

    sinew_voxels *voxels = NULL;
    assert_int_equal(sinew_voxels_create_from_solids(context, solids, 4, &grid, &voxels), SINEW_OK);

    return voxels;
}

static void steak_tissues(sinew_tissue tissues[3]) {
    for (int i = 0; i < 3; i++) {
        tissues[i] = sinew_default_tissue();
        tissues[i].label = i + 1;
    }

    tissues[0].young = 2e4;
    tissues[0].density = 900;
    tissues[1].young = 1e5;
    tissues[2].rigid = true;
    tissues[2].density = 1900;
}

static const double steak_nodes[30] = {
    0,     -0.04, 0, -0.11, 0.02,  0, 0.11,  0.02, 0, -0.06, 0.06,  0, 0.06,  0.065, 0,
    -0.07, -0.05, 0, 0.07,  -0.05, 0, -0.05, 0.0,  0, 0.045, 0.005, 0, -0.01, 0.085, 0};

static sn_frame_samples *sample(const sn_shape *shape, const sinew_sampling_def *def) {
    sn_frame_samples *samples = NULL;
    sinew_status status = sn_samples_create(shape, def, &samples);
    if (status != SINEW_OK) {
        fail_msg("no samples: %s", sinew_context_message(shape->context));
    }
    return samples;
}

static void check_samples(const sn_shape *shape, const sn_frame_samples *samples) {
    double volume = 0;
    for (int32_t s = 0; s < samples->count; s++) {
        double sum = 0, scale = 1;
        sn_vec3 slope = sn_v3(0, 0, 0);

        volume += samples->volume[s];
        for (int32_t k = samples->start[s]; k < samples->start[s + 1]; k++) {
            sum += samples->weight[k];
            slope = sn_add(slope, sn_load3(samples->gradient + 3 * k));
            scale = fmax(scale, sn_length(sn_load3(samples->gradient + 3 * k)));
        }

        test_close("sum of weights", sum, 1, 1e-10);
        test_close("sum of gradients", sn_length(slope), 0, 1e-8 * scale);

        const double *moment = samples->moment + (size_t)s * (size_t)samples->moment_count;
        test_close("moment 0", moment[0], samples->volume[s], 1e-12 * samples->volume[s]);
        if (samples->degree > 0) {
            for (int k = 1; k < 4; k++) {
                // About the centroid.
                test_close("moment 1", moment[k], 0, 1e-12 * samples->volume[s]);
            }
        }
    }

    test_close("volume", volume, sinew_voxels_get_volume(shape->voxels, NULL), 1e-10 * volume);
}

// The mean of (base + slope . x)^degree over a box with edges h about the origin: by Gauss points,
// exact up to degree 9.
static double mean_power(double base, sn_vec3 slope, const double h[3], int degree) {
    static const double at[5] = {-0.90617984593866399, -0.53846931010568309, 0, 0.53846931010568309,
                                 0.90617984593866399};
    static const double part[5] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444,
                                   0.23931433524968324, 0.11846344252809454};
    double sum = 0;
    for (int k = 0; k < 125; k++) {
        sn_vec3 x =
            sn_v3(0.5 * h[0] * at[k % 5], 0.5 * h[1] * at[k / 5 % 5], 0.5 * h[2] * at[k / 25]);
        sum += part[k % 5] * part[k / 5 % 5] * part[k / 25] * pow(base + sn_dot(slope, x), degree);
    }

    return sum;
}

// Any polynomial up to the degree of the moments is integrated like the sum over all voxels,
// because linear weights are fitted exactly.
static void test_linear_weights_are_exact(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_voxels *ball = test_solid(context, SINEW_SOLID_SPHERE, 1, 0.8, 0.6, 0.05);
    double *values = sn_allocate(context, (size_t)ball->count * 3, sizeof *values);
    const sn_vec3 slope[3] = {{0.3, -0.2, 0.1}, {-0.2, 0.3, 0.2}, {-0.1, -0.1, -0.3}};

    for (int32_t v = 0; v < ball->count; v++) {
        for (int i = 0; i < 3; i++) {
            values[3 * v + i] = 1.0 / 3 + sn_dot(slope[i], sn_voxel_center(ball, v));
        }
    }

    const double nodes[9] = {-0.2, 0, 0, 0.2, 0, 0, 0, 0.2, 0};
    sinew_weights_def def = sinew_default_weights_def();

    def.kind = SINEW_WEIGHTS_USER;
    def.values = values;
    def.cutoff = 0;

    sn_shape *shape = test_shape(context, ball, NULL, 0, nodes, 3, &def);
    sinew_sampling_def sampling = sinew_default_sampling_def();
    for (int round = 0; round < 2; round++) {
        sampling.count = round ? 12 : 1;
        sampling.degree = 8;

        sn_frame_samples *samples = sample(shape, &sampling);
        if (!round) {
            assert_int_equal(samples->count, 1); // more would not be more accurate
        }

        check_samples(shape, samples);
        test_close("fit error", samples->report.largest_fit_error, 0, 1e-12);

        // f = w_0^a w_1^b (c . x)^c for all exponents up to degree 8, expanded about the sample.
        sn_vec3 c = sn_v3(0.5, -0.3, 0.8);
        for (int degree = 0; degree <= 8; degree += 2) {
            double dense = 0, sparse = 0;
            for (int32_t v = 0; v < ball->count; v++) {
                double base = values[3 * v] + sn_dot(c, sn_voxel_center(ball, v));
                dense += sn_voxel_volume(ball, v) *
                         mean_power(base, sn_add(c, slope[0]), ball->spacing, degree);
            }

            int8_t e[SN_MAX_MONOMIALS][3];
            int32_t monomials = sn_monomials(8, e);
            for (int32_t s = 0; s < samples->count; s++) {
                sn_vec3 x = sn_load3(samples->position + 3 * s);
                int32_t k = samples->start[s]; // node 0 comes first

                assert_int_equal(samples->node[k], 0);
                double base = samples->weight[k] + sn_dot(c, x);
                sn_vec3 g = sn_add(sn_load3(samples->gradient + 3 * k), c);

                // (base + g . d)^degree by the multinomial theorem.
                for (int32_t m = 0; m < monomials; m++) {
                    int total = e[m][0] + e[m][1] + e[m][2];
                    if (total > degree) {
                        continue;
                    }

                    double coefficient = tgamma(degree + 1) / tgamma(degree - total + 1) /
                                         tgamma(e[m][0] + 1) / tgamma(e[m][1] + 1) /
                                         tgamma(e[m][2] + 1);

                    sparse +=
                        coefficient * pow(base, degree - total) * pow(g.x, e[m][0]) *
                        pow(g.y, e[m][1]) * pow(g.z, e[m][2]) *
                        samples->moment[(size_t)s * (size_t)samples->moment_count + (size_t)m];
                }
            }

            test_close("integral", sparse, dense, 1e-9 * fabs(dense));
        }

        sn_samples_destroy(samples);
    }

    sn_shape_destroy(shape);
    sn_release(context, values, (size_t)ball->count * 3, sizeof *values);
    sinew_voxels_destroy(ball);
    sinew_context_destroy(context);
}

static void test_steak(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_voxels *steak = make_steak(context, 0.003);
    sinew_tissue tissues[3];

    steak_tissues(tissues);
    sinew_weights_def def = sinew_default_weights_def();
    static const int32_t nodes[2] = {3, 10};
    static const int32_t counts[2] = {10, 53};

    for (int i = 0; i < 2; i++) {
        sn_shape *shape = test_shape(context, steak, tissues, 3, steak_nodes, nodes[i], &def);
        sinew_sampling_def sampling = sinew_default_sampling_def();
        for (int by_label = 0; by_label < 2; by_label++) {
            sampling.by_label = by_label;
            sampling.count = counts[i];

            sn_frame_samples *samples = sample(shape, &sampling);
            check_samples(shape, samples);
            print_message("steak, %d voxels, %d nodes, %s: %d samples, mean fit error %.4f, "
                          "largest rms %.3f, %.1f nodes a sample\n",
                          steak->count, nodes[i], by_label ? "by label" : "labels mixed",
                          samples->count, samples->report.mean_fit_error,
                          samples->report.largest_fit_error, samples->report.mean_nodes);
            assert_true(samples->count <= counts[i] + 4 && samples->count >= 0.8 * counts[i]);

            // Separating the labels leaves fewer regions for the weights.
            assert_true(samples->report.mean_fit_error < (by_label ? 0.05 : 0.03));
            if (by_label) {
                for (int32_t s = 0; s < samples->count; s++) {
                    for (int32_t k = samples->voxel_start[s]; k < samples->voxel_start[s + 1];
                         k++) {
                        assert_int_equal(steak->label[samples->voxel[k]], samples->label[s]);
                    }
                    test_close("stiffness", samples->stiffness[s], 1, 1e-12);
                }
            }

            sn_samples_destroy(samples);
        }

        sampling.count = 0;
        sampling.fit_error = 0.04;

        sn_frame_samples *samples = sample(shape, &sampling);
        check_samples(shape, samples);
        print_message("steak, %d nodes, fit error 0.04: %d samples, mean %.4f\n", nodes[i],
                      samples->count, samples->report.mean_fit_error);
        // Slightly more than 0.04 where weak nodes are dropped.
        assert_true(samples->report.largest_fit_error < 0.045);
        assert_true(samples->count < steak->count / 20);
        sn_samples_destroy(samples);
        sn_shape_destroy(shape);
    }

    sinew_voxels_destroy(steak);
    sinew_context_destroy(context);
}

// A requested number of samples is placed where the weights bend, not in the slivers between many
// nodes: the fit is better than with the same number of samples that all just meet a tolerance.
static void test_requested_number(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_voxels *steak = make_steak(context, 0.003);
    sinew_tissue tissues[3];

    steak_tissues(tissues);
    sinew_weights_def def = sinew_default_weights_def();
    sn_shape *shape = test_shape(context, steak, tissues, 3, steak_nodes, 10, &def);
    sinew_sampling_def sampling = sinew_default_sampling_def();
    sn_frame_samples *fitted = sample(shape, &sampling);

    sampling.count = fitted->count;
    sn_frame_samples *counted = sample(shape, &sampling);

    print_message("steak, %d samples by fit error: mean %.4f; %d by number: mean %.4f\n",
                  fitted->count, fitted->report.mean_fit_error, counted->count,
                  counted->report.mean_fit_error);
    assert_true(counted->count <= fitted->count);
    assert_true(counted->report.mean_fit_error < 0.9 * fitted->report.mean_fit_error);
    sn_samples_destroy(counted);
    sn_samples_destroy(fitted);
    sn_shape_destroy(shape);
    sinew_voxels_destroy(steak);
    sinew_context_destroy(context);
}

static void test_thin_plate(void **state) {
    (void)state;

    // One voxel thick: neither the fit nor the differences have a slope across.
    sinew_context *context = test_context(1);
    sinew_voxels *plate = test_solid(context, SINEW_SOLID_BOX, 1, 0.5, 0.02, 0.02);
    const double nodes[6] = {-0.5, 0, 0, 0.5, 0, 0};
    sinew_weights_def def = sinew_default_weights_def();

    def.kind = SINEW_WEIGHTS_AXIS_LINEAR;
    sn_shape *shape = test_shape(context, plate, NULL, 0, nodes, 2, &def);
    sinew_sampling_def sampling = sinew_default_sampling_def();

    sampling.count = 4;
    sn_frame_samples *samples = sample(shape, &sampling);

    check_samples(shape, samples);
    for (int32_t k = 0; k < samples->start[samples->count]; k++) {
        sn_vec3 g = sn_load3(samples->gradient + 3 * k);
        test_close("slope", sn_distance(g, sn_v3(samples->node[k] ? 1 : -1, 0, 0)), 0, 1e-9);
    }

    sn_samples_destroy(samples);
    sn_shape_destroy(shape);
    sinew_voxels_destroy(plate);
    sinew_context_destroy(context);
}

static void check_turned(sinew_context *context, const sinew_voxels *voxels,
                         const sinew_tissue *tissues, int32_t tissue_count, const double *nodes,
                         int32_t node_count, int32_t requested) {
    sinew_weights_def def = sinew_default_weights_def();
    sinew_sampling_def sampling = sinew_default_sampling_def();

    sampling.count = requested;
    sampling.degree = 2;

    sn_shape *shape = test_shape(context, voxels, tissues, tissue_count, nodes, node_count, &def);
    sn_frame_samples *samples = sample(shape, &sampling);
    for (int number = 0; number < 48; number += TEST_SANITIZED ? 13 : 1) {
        test_turn turn = test_turn_number(number);
        double scale = number % 2 ? 1 : 2.5;
        double turned_nodes[60];
        sinew_voxels *turned = test_turn_voxels(voxels, turn, scale, NULL);

        for (int i = 0; i < node_count; i++) {
            sn_store3(turned_nodes + 3 * i,
                      sn_scale(scale, test_turn_point(turn, sn_load3(nodes + 3 * i))));
        }

        sn_shape *other_shape =
            test_shape(context, turned, tissues, tissue_count, turned_nodes, node_count, &def);
        sn_frame_samples *other = sample(other_shape, &sampling);
        if (other->count != samples->count) {
            fail_msg("symmetry %d: %d samples, not %d", number, other->count, samples->count);
        }

        for (int32_t s = 0; s < samples->count; s++) {
            sn_vec3 p = sn_scale(scale, test_turn_point(turn, sn_load3(samples->position + 3 * s)));
            int32_t match = -1;
            for (int32_t t = 0; t < other->count; t++) {
                bool alike = fabs(other->volume[t] / (scale * scale * scale) - samples->volume[s]) <
                             1e-9 * samples->volume[s];
                if (alike && other->label[t] == samples->label[s] &&
                    sn_distance(p, sn_load3(other->position + 3 * t)) < 1e-9) {
                    match = t;
                }
            }

            if (match < 0) {
                fail_msg("symmetry %d: sample %d of %d has no image", number, s, samples->count);
            }

            int32_t count = samples->start[s + 1] - samples->start[s];
            assert_int_equal(other->start[match + 1] - other->start[match], count);
            for (int32_t k = 0; k < count; k++) {
                int32_t i = samples->start[s] + k;
                int32_t j = other->start[match] + k;
                test_close("weight", other->weight[j], samples->weight[i], 1e-9);
                sn_vec3 g = test_turn_point(turn, sn_load3(samples->gradient + 3 * i));
                double size = 1 + sn_length(g);
                test_close("gradient",
                           sn_distance(sn_scale(scale, sn_load3(other->gradient + 3 * j)), g), 0,
                           1e-9 * size);
            }
        }

        sn_samples_destroy(other);
        sn_shape_destroy(other_shape);
        sinew_voxels_destroy(turned);
    }

    sn_samples_destroy(samples);
    sn_shape_destroy(shape);
}

static void test_turned(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_tissue tissues[3];

    steak_tissues(tissues);
    sinew_voxels *steak = make_steak(context, 0.0075);

    check_turned(context, steak, tissues, 3, steak_nodes, 10, 40);
    sinew_voxels_destroy(steak);

    // A bar with its nodes on the axis has mirror symmetries, and odd numbers of layers.
    sinew_voxels *bar = test_solid(context, SINEW_SOLID_BOX, 1, 0.25, 0.25, 0.05);
    const double nodes[9] = {-0.45, 0, 0, 0.05, 0, 0, 0.45, 0, 0};

    check_turned(context, bar, NULL, 0, nodes, 3, 30);
    sinew_voxels_destroy(bar);
    sinew_context_destroy(context);
}

static void test_threads_and_shortage(void **state) {
    (void)state;
    sinew_tissue tissues[3];

    steak_tissues(tissues);
    sinew_weights_def def = sinew_default_weights_def();
    sinew_sampling_def sampling = sinew_default_sampling_def();

    sampling.count = 40;
    sinew_context *contexts[3];
    sinew_voxels *voxels[3];
    sn_shape *shapes[3];
    sn_frame_samples *samples[3];

    // The same samples with 1, 2 and 4 threads.
    for (int i = 0; i < 3; i++) {
        contexts[i] = test_context(1 << i);
        voxels[i] = make_steak(contexts[i], 0.005);
        shapes[i] = test_shape(contexts[i], voxels[i], tissues, 3, steak_nodes, 10, &def);
        samples[i] = sample(shapes[i], &sampling);

        size_t entries = (size_t)samples[0]->start[samples[0]->count];
        assert_int_equal(samples[i]->count, samples[0]->count);
        assert_memory_equal(samples[i]->weight, samples[0]->weight, entries * sizeof(double));
        assert_memory_equal(samples[i]->gradient, samples[0]->gradient,
                            3 * entries * sizeof(double));
        assert_memory_equal(samples[i]->moment, samples[0]->moment,
                            (size_t)(samples[0]->count * samples[0]->moment_count) *
                                sizeof(double));
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
        sinew_voxels *steak = make_steak(context, 0.01);
        sn_shape *shape = test_shape(context, steak, tissues, 3, steak_nodes, 10, &def);

        allocator.fail_at = allocator.calls + fail_at;
        sn_frame_samples *made = NULL;
        sinew_status status = sn_samples_create(shape, &sampling, &made);

        whole = status == SINEW_OK;
        if (!whole) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        sn_samples_destroy(made);
        sn_shape_destroy(shape);
        sinew_voxels_destroy(steak);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_weights_are_exact),
        cmocka_unit_test(test_steak),
        cmocka_unit_test(test_requested_number),
        cmocka_unit_test(test_thin_plate),
        cmocka_unit_test(test_turned),
        cmocka_unit_test(test_threads_and_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
