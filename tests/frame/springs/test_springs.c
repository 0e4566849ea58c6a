// Springs between frames: forces are the gradient of the energy at any relative rotation, the
// stiffness is the derivative of the forces at rest and equals that of the samples for two frames,
// rigid motions cost no energy, both momenta are conserved, the energy is bounded from below, and
// the cost does not depend on the samples.
#include "support/frames.h"
#include "support/points.h"

#include "body/body.h"
#include "frame/body/frame_body.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A bar along x; `wide` gives every frame influence everywhere.
typedef struct options {
    int32_t nodes;
    bool wide, samples;
    double cutoff; // of the weights; 0: the default
    sinew_integrator integrator;
    int32_t threads;
} options;

static test_frames_def bar_of(options o) {
    test_frames_def def = test_default_frames_def(SINEW_NODE_RIGID, 0);
    def.size[2] = 0.3;
    def.world.gravity[2] = 0;
    def.world.integrator = o.integrator;
    def.world.newton_tolerance = 1e-11;
    def.body.node_count = o.nodes;

    for (int32_t i = 0; i < o.nodes; i++) {
        def.nodes[i] = (sinew_frame_node){
            SINEW_NODE_RIGID, {-0.4 + 0.8 * i / (o.nodes - 1), 0.02 * i, -0.03 * (i % 2)}};
    }

    if (o.wide) {
        def.body.weights.kind = SINEW_WEIGHTS_RADIAL;
    }
    if (o.cutoff > 0) {
        def.body.weights.cutoff = o.cutoff;
    }

    def.body.springs = !o.samples;
    return def;
}

static test_frames make(options o) {
    test_frames_def def = bar_of(o);
    return test_frames_create(test_context(o.threads ? o.threads : 1), &def);
}

// Rotates frames against each other by up to `turn` radians on top of a common rotation, and adds
// random displacements.
static void stir(const sinew_body *body, double turn, double *q) {
    const sn_frame_model *model = body->model;
    sn_random random = sn_random_seed(12);
    double *xi = calloc((size_t)sn_body_size(body), sizeof *xi);

    for (int32_t i = 0; i < sn_body_size(body); i++) {
        xi[i] = sn_random_range(&random, -0.05, 0.05);
    }

    for (int32_t i = 0; i < model->nodes.count; i++) {
        // Each frame is rotated by `turn` more than the previous one.
        sn_vec3 axis = sn_normalize(sn_v3(1, 0.5 * i, -0.3));
        sn_store3(xi + 6 * i, sn_scale(turn * i, axis));
    }

    test_frames_place(body, xi, q);
    free(xi);
}

static double energy_at(sinew_body *body, const double *base, const double *direction, double h) {
    double *xi = calloc((size_t)sn_body_size(body), sizeof *xi);
    double *q = calloc((size_t)body->config_count, sizeof *q);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        xi[i] = h * direction[i];
    }

    sn_body_retract(body, q, base, xi);
    sn_evaluation evaluation = {.q = q, .want_energy = true};

    body->ops->elasticity.evaluate(body, &evaluation);
    free(xi);
    free(q);

    return evaluation.energy;
}

static void test_forces(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        test_frames f = make((options){.nodes = 3, .wide = wide});
        int32_t n = sn_body_size(f.body);
        static const double turns[] = {0, 1e-5, 1e-3, 0.4, 1.5, 2.5};

        for (int t = 0; t < 6; t++) {
            double *q = calloc((size_t)f.body->config_count, sizeof *q);
            double *force = calloc((size_t)n, sizeof *force);
            double *d = calloc((size_t)n, sizeof *d);
            double slope = 0;
            double error[2];
            sn_random random = sn_random_seed(4);

            stir(f.body, turns[t], q);
            sn_evaluation evaluation = {.q = q, .force = force};

            f.body->ops->elasticity.evaluate(f.body, &evaluation);
            for (int32_t i = 0; i < n; i++) {
                d[i] = sn_random_range(&random, -1, 1);
                slope -= force[i] * d[i];
            }

            for (int k = 0; k < 2; k++) {
                double h = k ? 1e-4 : 1e-3;
                error[k] =
                    fabs((energy_at(f.body, q, d, h) - energy_at(f.body, q, d, -h)) / (2 * h) -
                         slope) /
                    fabs(slope);
            }

            assert_true(fabs(slope) > 1);

            // Second order: a tenth of the step leaves a hundredth of the error, down to rounding.
            if (!(error[1] < 1e-6 && error[1] < 0.02 * error[0] + 1e-8)) {
                fail_msg("turn %g: %g, %g", turns[t], error[0], error[1]);
            }

            free(q);
            free(force);
            free(d);
        }

        test_frames_destroy(&f);
    }
}

// Both stiffnesses at rest, lower triangle.
static double *rest_matrix(sinew_body *body) {
    double *A = calloc(sn_bsr_value_count(&body->pattern), sizeof *A);
    sn_evaluation evaluation = {.q = body->rest, .matrix = A};
    body->ops->elasticity.evaluate(body, &evaluation);
    return A;
}

static void test_stiffness_at_rest(void **state) {
    (void)state;
    test_frames two = make((options){.nodes = 2, .wide = true});
    test_frames dense = make((options){.nodes = 2, .wide = true, .samples = true});
    double *A = rest_matrix(two.body);
    double *B = rest_matrix(dense.body);
    double difference;

    sn_bsr_mirror(two.context, &two.body->pattern, A);
    sn_bsr_mirror(dense.context, &dense.body->pattern, B);
    assert_true(test_relative_error(A, B, sn_bsr_value_count(&two.body->pattern)) < 1e-9);
    assert_int_equal(sinew_frame_body_get_springs(two.body, NULL, &difference), SINEW_OK);
    assert_true(difference < 1e-9);
    assert_int_equal(sinew_frame_body_get_springs(dense.body, NULL, &difference),
                     SINEW_INVALID_ARGUMENT);
    free(A);
    free(B);
    test_frames_destroy(&two);
    test_frames_destroy(&dense);

    // With more frames: the derivative of the force at rest, by differences of forces.
    test_frames f = make((options){.nodes = 5, .wide = true});
    int32_t n = sn_body_size(f.body);
    int32_t count;
    double *K = rest_matrix(f.body);
    double *d = calloc((size_t)n, sizeof *d);
    double *product = calloc((size_t)n, sizeof *product);
    double *q = calloc((size_t)f.body->config_count, sizeof *q);
    double *change = calloc((size_t)n, sizeof *change);
    double h = 1e-6;

    sn_bsr_mirror(f.context, &f.body->pattern, K);
    sn_random random = sn_random_seed(6);
    for (int32_t i = 0; i < n; i++) {
        d[i] = sn_random_range(&random, -1, 1);
    }

    sn_bsr_multiply(f.context, &f.body->pattern, product, K, d);
    for (int side = 0; side < 2; side++) {
        double *xi = calloc((size_t)n, sizeof *xi);
        double *force = calloc((size_t)n, sizeof *force);
        for (int32_t i = 0; i < n; i++) {
            xi[i] = (side ? h : -h) * d[i];
        }

        sn_body_retract(f.body, q, f.body->rest, xi);
        sn_evaluation evaluation = {.q = q, .force = force};

        f.body->ops->elasticity.evaluate(f.body, &evaluation);
        for (int32_t i = 0; i < n; i++) {
            change[i] += (side ? -1 : 1) * force[i] / (2 * h);
        }

        free(xi);
        free(force);
    }

    assert_true(test_relative_error(change, product, (size_t)n) < 1e-6);
    assert_int_equal(sinew_frame_body_get_springs(f.body, &count, &difference), SINEW_OK);
    assert_int_equal(count, 10);
    assert_true(difference > 0 && difference < 0.5);
    free(K);
    free(d);
    free(product);
    free(q);
    free(change);
    test_frames_destroy(&f);
}

static void test_rigid_motion_is_free(void **state) {
    (void)state;
    test_frames f = make((options){.nodes = 4, .wide = true});
    const sn_frame_model *model = f.body->model;
    double *q = calloc((size_t)f.body->config_count, sizeof *q);
    double *force = calloc((size_t)sn_body_size(f.body), sizeof *force);

    sn_nodes_place(&model->nodes, q, sn_quat_exp(sn_v3(2, 1, -1)), sn_v3(5, -3, 1));
    sn_evaluation evaluation = {.q = q, .want_energy = true, .force = force};

    f.body->ops->elasticity.evaluate(f.body, &evaluation);
    assert_true(evaluation.energy < 1e-18);
    for (int32_t i = 0; i < sn_body_size(f.body); i++) {
        assert_true(fabs(force[i]) < 1e-8);
    }

    free(q);
    free(force);
    test_frames_destroy(&f);
}

// The forces of any state add up to zero, and so do their torques.
static void test_momentum(void **state) {
    (void)state;
    test_frames f = make((options){.nodes = 5, .wide = true});
    const sn_frame_model *model = f.body->model;
    double *force = calloc((size_t)sn_body_size(f.body), sizeof *force);

    stir(f.body, 0.7, f.body->q);
    sn_evaluation evaluation = {.q = f.body->q, .force = force};

    f.body->ops->elasticity.evaluate(f.body, &evaluation);
    sn_vec3 sum = sn_v3(0, 0, 0);
    sn_vec3 torque = sum;
    double scale = 0;

    for (int32_t i = 0; i < model->nodes.count; i++) {
        const sn_node *node = &model->nodes.items[i];
        sn_vec3 p = sn_load3(force + 3 * node->row + 3);
        sn_vec3 x = sn_load3(sn_node_translation(node, f.body->q));
        sum = sn_add(sum, p);
        torque = sn_add(torque, sn_add(sn_load3(force + 3 * node->row), sn_cross(x, p)));
        scale = fmax(scale, sn_length(p));
    }

    assert_true(scale > 1);
    assert_true(sn_length(sum) < 1e-13 * scale && sn_length(torque) < 1e-12 * scale);
    free(force);
    test_frames_destroy(&f);
}

// A body that starts with a velocity and is held at one end only loses energy by implicit Euler.
// Pairs of splines along an axis are indefinite one by one; as quadratic springs they gave away
// energy without a bound once the frames had rotated, 1e12 times what the body began with.
static void test_indefinite_pairs(void **state) {
    (void)state;
    test_frames_def def =
        bar_of((options){.nodes = 5, .integrator = SINEW_INTEGRATOR_NEWTON_EULER});
    memcpy(def.size, (double[3]){0.4413, 0.564, 0.3069}, sizeof def.size);
    def.cell = 0.0564;
    def.body.sampling = sinew_default_frame_body_def().sampling;
    def.world.step = 0.0165;
    def.material.young = 155e3;
    def.material.poisson = 0.1365;
    def.material.density = 1217;
    def.body.weights.kind = SINEW_WEIGHTS_AXIS_CUBIC;
    for (int32_t i = 0; i < 5; i++) {
        def.nodes[i] = (sinew_frame_node){SINEW_NODE_RIGID, {0.08826 * (i - 2), 0, 0}};
    }

    test_frames f = test_frames_create(test_context(1), &def);
    const sn_springs *springs = ((const sn_frame_model *)f.body->model)->springs;
    int weak = 0;
    for (int32_t k = 0; k < springs->count; k++) {
        weak += springs->items[k].weak_count;
    }
    assert_true(weak > 0 && !springs->clamped);

    assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
    for (int32_t i = 1; i < 5; i++) {
        f.body->v[6 * i + 3] = 0.45;
        f.body->v[6 * i + 4] = -0.13;
        f.body->v[6 * i + 5] = 0.09;
    }

    sinew_measures first, last;
    sinew_body_get_measures(f.body, &first);
    for (int i = 0; i < 150; i++) {
        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        sinew_body_get_measures(f.body, &last);
        assert_true(fabs(last.elastic_energy) + last.kinetic_energy < 1.05 * first.kinetic_energy);
    }

    test_frames_destroy(&f);
}

// A slightly bent bar behaves like its samples; a strongly bent one returns to rest.
static void test_small_and_large(void **state) {
    (void)state;
    double tip[2];
    for (int samples = 0; samples < 2; samples++) {
        test_frames f = make((options){.nodes = 2, .samples = samples});
        const double end[3] = {0.4, 0.02, -0.03};
        const double pull[3] = {0, 0, 2};
        double position[3];

        assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
        assert_int_equal(test_add_force(f.body, end, pull), SINEW_OK);

        sinew_static_def statics = sinew_default_static_def();
        if (sinew_world_solve_static(f.world, &statics, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(f.context));
        }

        assert_int_equal(test_get_position(f.body, end, position), SINEW_OK);
        tip[samples] = position[2] - end[2];
        test_frames_destroy(&f);
    }

    assert_true(tip[1] > 1e-5);
    test_close("small strain", tip[0] / tip[1], 1, 0.02);

    test_frames f = make((options){.nodes = 4, .wide = true});
    stir(f.body, 0.5, f.body->q);

    sinew_measures first, last;
    sinew_body_get_measures(f.body, &first);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
    }

    sinew_body_get_measures(f.body, &last);
    assert_true(first.elastic_energy > 100 && last.elastic_energy < 1e-4 * first.elastic_energy);
    test_frames_destroy(&f);
}

static void test_threads_and_material(void **state) {
    (void)state;
    uint64_t hash = 0;
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        test_frames f = make((options){.nodes = 4, .wide = true, .threads = threads});
        stir(f.body, 0.5, f.body->q);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        sinew_material_def material = sinew_default_material_def();
        material.young *= 3;

        double before = energy_at(f.body, f.body->q, f.body->v, 0);
        assert_int_equal(sinew_body_set_material(f.body, 0, &material), SINEW_OK);

        sinew_material_def muscle = material; // springs cannot represent active fibres
        muscle.fibre_stress = 1e4;
        assert_int_equal(sinew_body_set_material(f.body, 0, &muscle), SINEW_UNSUPPORTED);
        assert_int_equal(sinew_body_set_fibre_stress(f.body, 0, 1e4), SINEW_UNSUPPORTED);
        test_close("three times as stiff", energy_at(f.body, f.body->q, f.body->v, 0), 3 * before,
                   1e-9 * before);

        for (int i = 0; i < 5; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        if (threads == 1) {
            hash = sinew_world_get_hash(f.world);
        }

        assert_true(sinew_world_get_hash(f.world) == hash);
        test_frames_destroy(&f);
    }
}

// A frame inserted into a body of springs gets its own springs; momentum is conserved.
static void test_insertion(void **state) {
    (void)state;
    test_frames f = make((options){.nodes = 3});
    int32_t before, after;

    assert_int_equal(sinew_frame_body_get_springs(f.body, &before, NULL), SINEW_OK);
    stir(f.body, 0.2, f.body->q);
    f.body->v[4] = 1;
    f.body->v[7] = -2;

    sinew_measures old, now;
    sinew_body_get_measures(f.body, &old);

    sinew_frame_insert_def def = sinew_default_frame_insert_def();
    def.position[0] = 0.2;
    def.range = 0.2;
    if (sinew_frame_body_insert(f.body, &def, NULL) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f.context));
    }

    assert_int_equal(sinew_frame_body_get_springs(f.body, &after, NULL), SINEW_OK);
    assert_true(after > before);
    sinew_body_get_measures(f.body, &now);

    for (int k = 0; k < 3; k++) {
        test_close("momentum", now.momentum[k], old.momentum[k], 1e-11 * old.mass);
        test_close("angular momentum", now.angular_momentum[k], old.angular_momentum[k],
                   1e-11 * old.mass);
    }

    for (int i = 0; i < 5; i++) {
        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
    }

    def.kind = SINEW_NODE_AFFINE;
    def.position[0] = -0.2;
    assert_int_equal(sinew_frame_body_insert(f.body, &def, NULL), SINEW_INVALID_ARGUMENT);
    test_frames_destroy(&f);
}

// Springs connect frames that share a sample: neighbours if weights are local, all frames if
// weights extend everywhere, and fewer with a larger cutoff.
static void test_cutoff_makes_them_sparse(void **state) {
    (void)state;
    const options cases[] = {
        {.nodes = 6}, {.nodes = 6, .wide = true, .cutoff = 0.1}, {.nodes = 6, .wide = true}};
    int32_t count[3];

    for (int i = 0; i < 3; i++) {
        test_frames f = make(cases[i]);
        assert_int_equal(sinew_frame_body_get_springs(f.body, &count[i], NULL), SINEW_OK);
        test_frames_destroy(&f);
    }

    assert_int_equal(count[0], 5);
    assert_int_equal(count[2], 15);
    assert_true(count[1] > 5 && count[1] < 15);
}

static void test_shortage(void **state) {
    (void)state;
    bool done = false;
    for (int64_t n = 20; !done && n < 1000; n += n < 100 ? 1 : 5) {
        test_allocator allocator = {.fail_at = n};
        sinew_context *context = test_context_failing(&allocator);
        if (!context) {
            continue;
        }

        test_frames f;
        test_frames_def def = bar_of((options){.nodes = 3});

        done = test_frames_try(&f, context, &def) == SINEW_OK;
        test_frames_destroy(&f);
        assert_int_equal(allocator.live, 0);
    }

    assert_true(done);
}

int main(void) {
    if (TEST_WATCHES_THREADS) {
        cmocka_set_test_filter("test_threads*");
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces),
        cmocka_unit_test(test_stiffness_at_rest),
        cmocka_unit_test(test_rigid_motion_is_free),
        cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_indefinite_pairs),
        cmocka_unit_test(test_small_and_large),
        cmocka_unit_test(test_threads_and_material),
        cmocka_unit_test(test_insertion),
        cmocka_unit_test(test_cutoff_makes_them_sparse),
        cmocka_unit_test(test_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
