// Assumed transverse strain: derivatives of the condensed energy against finite differences for
// every law, patch test, six zero motions, the bending stiffness of rods and sheets.
#include "support/frames.h"

#include "body/body.h"
#include "frame/body/frame_body.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct bar_def {
    const char *law;
    double poisson;
    int32_t frames, regions;
    bool assumed;
    int32_t threads;
    sinew_node_kind kind; // 0: affine
    sinew_blend blend;
} bar_def;

static test_frames make(bar_def bar) {
    sinew_context *context = test_context(bar.threads ? bar.threads : 1);
    sinew_node_kind kind = bar.kind ? bar.kind : SINEW_NODE_AFFINE;
    test_frames_def def = test_default_frames_def(kind, 0.5);
    def.body.blend = bar.blend;
    for (int32_t i = 0; i < bar.frames; i++) {
        def.nodes[i] = (sinew_frame_node){kind, {(double)i / (bar.frames - 1) - 0.5, 0, 0}};
    }

    assert_int_equal(sinew_material_set_law(context, bar.law, &def.material), SINEW_OK);
    def.material.young = 1e5;
    def.material.poisson = bar.poisson;
    def.world.gravity[2] = 0;
    def.body.node_count = bar.frames;
    def.body.assumed_strain = bar.assumed;
    def.body.sampling.kind = SINEW_SAMPLING_REGIONS;
    def.body.sampling.count = bar.regions;
    def.body.sampling.degree = 2;
    return test_frames_create(context, &def);
}

static double evaluate(sinew_body *body, const double *q, double *force, double *matrix) {
    sn_evaluation evaluation = {.q = q, .want_energy = true, .force = force, .matrix = matrix};
    body->ops->elasticity.evaluate(body, &evaluation);
    return evaluation.energy;
}

// Relative errors of the slope of the energy and of the product of the stiffness, by central
// differences.
static void find_errors(sinew_body *body, const double *q, double h, double errors[2]) {
    size_t size = (size_t)sn_body_size(body);
    double *direction = calloc(size, sizeof *direction);
    double *xi = calloc(size, sizeof *xi);
    double *moved = calloc((size_t)body->config_count, sizeof *moved);
    double *force = calloc(size, sizeof *force);
    double *product = calloc(size, sizeof *product);
    double *sides[2] = {calloc(size, sizeof(double)), calloc(size, sizeof(double))};
    double *matrix = calloc(sn_bsr_value_count(&body->pattern), sizeof *matrix);
    sn_random random = sn_random_seed(3);
    double energy[2], slope = 0;

    for (size_t k = 0; k < size; k++) {
        direction[k] = sn_random_range(&random, -1, 1);
    }

    evaluate(body, q, force, matrix);
    sn_bsr_mirror(body->context, &body->pattern, matrix);
    sn_bsr_multiply(body->context, &body->pattern, product, matrix, direction);
    for (int side = 0; side < 2; side++) {
        for (size_t k = 0; k < size; k++) {
            xi[k] = (side ? -h : h) * direction[k];
        }
        sn_body_retract(body, moved, q, xi);
        energy[side] = evaluate(body, moved, sides[side], NULL);
    }

    for (size_t k = 0; k < size; k++) {
        slope -= force[k] * direction[k];
        sides[0][k] = (sides[1][k] - sides[0][k]) / (2 * h);
    }

    assert_true(fabs(slope) > 1);
    errors[0] = fabs((energy[0] - energy[1]) / (2 * h) - slope) / fabs(slope);
    errors[1] = test_relative_error(sides[0], product, size);

    free(direction);
    free(xi);
    free(moved);
    free(force);
    free(product);
    free(sides[0]);
    free(sides[1]);
    free(matrix);
}

static bool has_modes(const sinew_body *body) {
    const sn_frame_model *model = body->model;
    return model->layers.items[0]->blend.groups.items[0].modes != NULL;
}

// Random states after a large rotation: the error falls with the square of the step.
static void test_derivatives(void **state) {
    (void)state;
    int tested = 0;
    for (int32_t law = 0; law < sinew_material_law_count(); law++) {
        const char *name = sinew_material_law_name(law);
        bar_def bar = {.law = name, .poisson = 0.3, .frames = 3, .regions = 4, .assumed = true};
        test_frames f = make(bar);
        double *q = calloc((size_t)f.body->config_count, sizeof *q);
        double coarse[2], fine[2];

        assert_true(has_modes(f.body));
        test_frames_deform(f.body, q);
        find_errors(f.body, q, 1e-3, coarse);
        find_errors(f.body, q, 1e-4, fine);
        for (int k = 0; k < 2; k++) {
            if (!(fine[k] < 1e-5 && (fine[k] < 0.03 * coarse[k] || fine[k] < 1e-7))) {
                fail_msg("%s, %s: %g, with a step ten times as large %g", name,
                         k ? "stiffness" : "force", fine[k], coarse[k]);
            }
        }

        tested++;
        free(q);
        test_frames_destroy(&f);
    }

    assert_true(tested >= 8);
}

// A uniform F has no modes: energy and force are those without them.
static void test_patch(void **state) {
    (void)state;
    double energy[2];
    double *force[2];
    size_t size = 0;
    for (int assumed = 0; assumed < 2; assumed++) {
        test_frames f = make((bar_def){.law = "neo-hookean",
                                       .poisson = 0.3,
                                       .frames = 3,
                                       .regions = 4,
                                       .assumed = assumed == 1});
        const sn_frame_model *model = f.body->model;
        double *q = calloc((size_t)f.body->config_count, sizeof *q);
        const sn_mat3 F = {{{1.2, 0.1, -0.3}, {0.05, 0.9, 0.2}, {0.1, -0.1, 1.1}}};

        size = (size_t)sn_body_size(f.body);
        force[assumed] = calloc(size, sizeof(double));
        for (int32_t i = 0; i < model->nodes.count; i++) {
            const sn_node *node = &model->nodes.items[i];
            sn_store3(q + node->config, sn_mat3_apply(F, node->origin));
            for (int k = 0; k < 3; k++) {
                sn_store3(q + node->config + 3 + 3 * k, sn_mat3_column(F, k));
            }
        }

        energy[assumed] = evaluate(f.body, q, force[assumed], NULL);
        free(q);
        test_frames_destroy(&f);
    }

    assert_true(energy[0] > 100);
    test_close("energy", energy[1], energy[0], 1e-12 * energy[0]);
    assert_true(test_relative_error(force[1], force[0], size) < 1e-10);
    free(force[0]);
    free(force[1]);
}

static int32_t count_zero_motions(bool assumed) {
    test_frames f = make((bar_def){
        .law = "corotational", .poisson = 0.3, .frames = 3, .regions = 4, .assumed = assumed});
    sinew_body *body = f.body;
    int32_t n = sn_body_size(body);
    double *matrix = calloc(sn_bsr_value_count(&body->pattern), sizeof *matrix);
    double *A = calloc((size_t)n * (size_t)n, sizeof *A);
    double *values = calloc((size_t)n, sizeof *values);
    double *work = calloc((size_t)n, sizeof *work);

    evaluate(body, body->rest, NULL, matrix);
    for (int32_t row = 0; row < body->rows; row++) {
        for (int32_t k = body->pattern.starts[row]; k <= body->pattern.diagonal[row]; k++) {
            for (int e = 0; e < 9; e++) {
                A[(3 * row + e / 3) * n + 3 * body->pattern.columns[k] + e % 3] =
                    matrix[9 * (size_t)k + (size_t)e];
            }
        }
    }

    int32_t zeros = 0;
    assert_true(sn_dense_symmetric_eigen(A, n, n, values, work));
    for (int32_t i = 0; i < n; i++) {
        zeros += fabs(values[i]) < 1e-8 * values[n - 1];
    }

    free(matrix);
    free(A);
    free(values);
    free(work);
    test_frames_destroy(&f);
    return zeros;
}

// The modes add no zero motion to the six rigid ones and the three that linear weights on one line
// have anyway: a zigzag along the line that their columns make up for.
static void test_rank(void **state) {
    (void)state;
    assert_int_equal(count_zero_motions(false), 9);
    assert_int_equal(count_zero_motions(true), 9);
}

// The deflection of a bar, held at its first frame, under a small force at the other end.
static double deflect(bar_def bar) {
    test_frames f = make(bar);
    const double tip[3] = {0.5, 0, 0};
    const double force[3] = {0, 0, -1e-3};
    sinew_static_def statics = sinew_default_static_def();
    double x[3];

    assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
    sinew_point *point;
    assert_int_equal(sinew_point_create(f.body, tip, &point), SINEW_OK);
    assert_int_equal(sinew_point_set_force(point, force), SINEW_OK);
    assert_int_equal(sinew_world_solve_static(f.world, &statics, NULL), SINEW_OK);
    assert_int_equal(sinew_point_get_position(point, x), SINEW_OK);
    test_frames_destroy(&f);
    return -x[2];
}

static double deflection(double poisson, bool assumed, int32_t frames) {
    return deflect((bar_def){.law = "corotational",
                             .poisson = poisson,
                             .frames = frames,
                             .regions = 4 * (frames - 1),
                             .assumed = assumed});
}

// Bending depends on E alone: with assumed strain a Poisson ratio changes nothing, without it the
// bar bends as if its sides were held. 2 % is left for the held end.
static void test_bending(void **state) {
    (void)state;
    for (int32_t frames = 3; frames <= 6; frames += 3) {
        double plain = deflection(0, false, frames);
        test_close("no Poisson ratio, no difference", deflection(0, true, frames), plain,
                   1e-3 * plain);
        for (int k = 0; k < 2; k++) {
            double poisson = k ? 0.45 : 0.3;
            double held = (1 + poisson) * (1 - 2 * poisson) / (1 - poisson);
            double without = deflection(poisson, false, frames) / plain;
            double with = deflection(poisson, true, frames) / plain;

            printf("%d frames, Poisson ratio %g: deflection %.3f, without assumed strain %.3f "
                   "(sides held %.3f)\n",
                   frames, poisson, with, without, held);
            test_close("deflection", with, 1, 0.02);
            assert_true(without < 1.1 * held);
        }
    }
}

// Rigid frames measure bending in the middle of each region, where it causes no shear. Without a
// Poisson ratio five of them are then as compliant as affine ones; 8 % is left for shear, which is
// constant between rigid frames.
static void test_rigid(void **state) {
    (void)state;
    double affine = deflection(0, true, 5);
    for (int dual = 0; dual < 2; dual++) {
        bar_def bar = {.law = "corotational",
                       .frames = 5,
                       .regions = 4,
                       .assumed = true,
                       .kind = SINEW_NODE_RIGID,
                       .blend = dual ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR};
        double middle = deflect(bar) / affine;
        bar.assumed = false;
        double plain = deflect(bar) / affine;

        printf("five rigid frames: deflection %.3f of affine ones, with points everywhere %.3f\n",
               middle, plain);
        test_close("deflection", middle, 1, 0.08);
        assert_true(plain < 0.8);
    }
}

static uint64_t hash_energy(int32_t threads) {
    test_frames f = make((bar_def){.law = "neo-hookean",
                                   .poisson = 0.3,
                                   .frames = 5,
                                   .regions = 40,
                                   .assumed = true,
                                   .threads = threads});
    double *q = calloc((size_t)f.body->config_count, sizeof *q);
    double *force = calloc((size_t)sn_body_size(f.body), sizeof *force);
    test_frames_deform(f.body, q);
    double energy = evaluate(f.body, q, force, NULL);
    uint64_t hash = 14695981039346656037u;
    const unsigned char *bytes = (const unsigned char *)force;

    for (size_t i = 0; i < (size_t)sn_body_size(f.body) * sizeof(double); i++) {
        hash = (hash ^ bytes[i]) * 1099511628211u;
    }

    assert_true(energy > 0);
    free(q);
    free(force);
    test_frames_destroy(&f);
    return hash;
}

static void test_threads(void **state) {
    (void)state;
    uint64_t one = hash_energy(1);
    assert_true(hash_energy(2) == one && hash_energy(4) == one);
}

int main(void) {
    if (TEST_WATCHES_THREADS) {
        cmocka_set_test_filter("test_threads*");
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives), cmocka_unit_test(test_patch),
        cmocka_unit_test(test_rank),        cmocka_unit_test(test_bending),
        cmocka_unit_test(test_rigid),       cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
