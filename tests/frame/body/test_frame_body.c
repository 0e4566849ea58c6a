// Frame bodies: forces and stiffness by finite differences for every kind of node, exact affine
// motion, rigid motion without energy, mass, free fall, momentum, threads.
#include "support/frames.h"
#include "support/points.h"

#include "body/body.h"
#include "frame/body/frame_body.h"

#include <math.h>
#include <stdlib.h>

static const sinew_node_kind all_kinds[] = {SINEW_NODE_POINT, SINEW_NODE_RIGID, SINEW_NODE_AFFINE,
                                            SINEW_NODE_QUADRATIC};

// A bar with three frames of the given kinds.
static test_frames make(const sinew_node_kind kinds[3], const char *law,
                        sinew_integrator integrator, int32_t threads) {
    sinew_context *context = test_context(threads);
    test_frames_def def = test_default_frames_def(SINEW_NODE_POINT, 0.5);
    for (int i = 0; i < 3; i++) {
        def.nodes[i].kind = kinds[i];
    }

    def.world.integrator = integrator;
    def.world.newton_tolerance = 1e-12;
    assert_int_equal(sinew_material_set_law(context, law, &def.material), SINEW_OK);
    def.material.poisson = 0.3;
    def.body.weights.adopt_outside = true;
    def.body.geometric_stiffness = true;

    return test_frames_create(context, &def);
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

static void check_derivatives(sinew_body *body, const char *what) {
    size_t n = (size_t)sn_body_size(body);
    double *q = calloc((size_t)body->config_count, sizeof *q);
    double *d = calloc(n, sizeof *d);
    double *force = calloc(n, sizeof *force);
    double *A = calloc(sn_bsr_value_count(&body->pattern), sizeof *A);
    double *product = calloc(n, sizeof *product);

    test_frames_deform(body, q);
    sn_random random = sn_random_seed(5);
    for (size_t i = 0; i < n; i++) {
        d[i] = sn_random_range(&random, -1, 1);
    }

    sn_evaluation evaluation = {.q = q, .force = force, .matrix = A};
    body->ops->elasticity.evaluate(body, &evaluation);
    sn_bsr_mirror(body->context, &body->pattern, A);
    sn_bsr_multiply(body->context, &body->pattern, product, A, d);

    double slope = 0, curvature = 0, h = 1e-5, k = 1e-4;
    for (size_t i = 0; i < n; i++) {
        slope -= force[i] * d[i];
        curvature += d[i] * product[i];
    }

    double first = (energy_at(body, q, d, h) - energy_at(body, q, d, -h)) / (2 * h);
    double second =
        (energy_at(body, q, d, k) - 2 * energy_at(body, q, d, 0) + energy_at(body, q, d, -k)) /
        (k * k);

    assert_true(fabs(slope) > 1e-3 && fabs(curvature) > 1);
    if (fabs(first - slope) > 1e-6 * fabs(slope)) {
        fail_msg("%s: slope %g, energy says %g", what, slope, first);
    }
    if (fabs(second - curvature) > 1e-4 * fabs(curvature)) {
        fail_msg("%s: curvature %g, energy says %g", what, curvature, second);
    }

    free(q);
    free(d);
    free(force);
    free(A);
    free(product);
}

static void test_derivatives(void **state) {
    (void)state;
    for (int32_t law = 0; law < sinew_material_law_count(); law++) {
        for (int kind = 0; kind < 5; kind++) {
            // Point frames on one axis leave no thickness: F has rank one, where only the linear
            // law has a second derivative.
            if (all_kinds[kind % 4] == SINEW_NODE_POINT && kind < 4 && law > 0) {
                continue;
            }

            sinew_node_kind mixed[] = {SINEW_NODE_RIGID, SINEW_NODE_QUADRATIC, SINEW_NODE_AFFINE};
            sinew_node_kind same[] = {all_kinds[kind % 4], all_kinds[kind % 4],
                                      all_kinds[kind % 4]};
            test_frames f = make(kind == 4 ? mixed : same, sinew_material_law_name(law),
                                 SINEW_INTEGRATOR_NEWTON_EULER, 1);

            check_derivatives(f.body, sinew_material_law_name(law));
            test_frames_destroy(&f);
        }
    }
}

// Laws that support every strain measure, with each of them.
static void test_strains(void **state) {
    (void)state;
    const char *const laws[] = {"corotational", "orthotropic", "transverse"};
    for (int law = 0; law < 3; law++) {
        for (int kind = 1; kind < 5; kind++) {
            sinew_node_kind mixed[] = {SINEW_NODE_RIGID, SINEW_NODE_QUADRATIC, SINEW_NODE_AFFINE};
            sinew_node_kind same[] = {all_kinds[kind % 4], all_kinds[kind % 4],
                                      all_kinds[kind % 4]};
            if (same[0] == SINEW_NODE_POINT && kind < 4) {
                continue; // see above
            }

            test_frames f =
                make(kind == 4 ? mixed : same, laws[law], SINEW_INTEGRATOR_NEWTON_EULER, 1);
            sinew_material_def def = ((const sn_frame_model *)f.body->model)->materials[0];

            for (int strain = SINEW_STRAIN_INFINITESIMAL; strain <= SINEW_STRAIN_COROTATIONAL;
                 strain++) {
                def.strain = (sinew_strain)strain;
                assert_int_equal(sinew_body_set_material(f.body, 0, &def), SINEW_OK);
                check_derivatives(f.body, laws[law]);
            }
            test_frames_destroy(&f);
        }
    }
}

// F at every sample follows the motion of the nodes.
static void check_F(const sinew_body *body, sn_mat3 A) {
    const sn_layer *layer = ((const sn_frame_model *)body->model)->layers.items[0];
    const sn_frame_samples *points = layer->points;

    sn_blend_prepare(&layer->nodes, &layer->blend, body->q);
    for (int32_t p = 0; p < points->count; p++) {
        int32_t start = points->start[p];
        sn_blend_point point = {.X = sn_load3(points->position + 3 * p),
                                .count = points->start[p + 1] - start,
                                .node = points->node + start,
                                .weight = points->weight + start,
                                .gradient = points->gradient + 3 * (size_t)start};
        sn_mat3 F = sn_blend_get_motion(&layer->nodes, &layer->blend, &point, NULL).F;
        assert_true(sn_mat3_norm(sn_mat3_sub(F, A)) < 1e-12);
    }
}

static void test_affine_motion_is_exact(void **state) {
    (void)state;
    sinew_node_kind kinds[] = {SINEW_NODE_AFFINE, SINEW_NODE_QUADRATIC, SINEW_NODE_AFFINE};
    test_frames f = make(kinds, "corotational", SINEW_INTEGRATOR_NEWTON_EULER, 1);
    sn_mat3 A = {{{1.2, 0.3, -0.1}, {0.2, 0.7, 0.4}, {-0.5, 0.1, 1.1}}};
    const sn_frame_model *model = f.body->model;

    for (int32_t i = 0; i < model->nodes.count; i++) {
        double *q = f.body->q + model->nodes.items[i].config;
        sn_store3(q, sn_mat3_apply(A, model->nodes.items[i].origin));
        for (int k = 0; k < 3; k++) {
            sn_store3(q + 3 + 3 * k, sn_mat3_column(A, k));
        }
    }

    double smallest, largest, volume;
    f.body->ops->elasticity.measure(f.body, &smallest, &largest, &volume);
    test_close("smallest J", smallest, sn_mat3_det(A), 1e-12);
    test_close("largest J", largest, sn_mat3_det(A), 1e-12);
    check_F(f.body, A);

    double rest[3] = {0.13, 0.04, -0.07};
    double x[3];

    assert_int_equal(test_get_position(f.body, rest, x), SINEW_OK);
    assert_true(sn_distance(sn_load3(x), sn_mat3_apply(A, sn_load3(rest))) < 1e-12);
    test_frames_destroy(&f);
}

static void test_rigid_motion_is_free(void **state) {
    (void)state;
    sinew_node_kind kinds[] = {SINEW_NODE_RIGID, SINEW_NODE_QUADRATIC, SINEW_NODE_AFFINE};
    test_frames f = make(kinds, "stable-neo-hookean", SINEW_INTEGRATOR_NEWTON_EULER, 1);
    const sn_frame_model *model = f.body->model;
    double *q = calloc((size_t)f.body->config_count, sizeof *q);
    double *force = calloc((size_t)sn_body_size(f.body), sizeof *force);

    sn_nodes_place(&model->nodes, q, sn_quat_exp(sn_v3(2, 1, -1)), sn_v3(5, -3, 1));
    sn_evaluation evaluation = {.q = q, .want_energy = true, .force = force};

    f.body->ops->elasticity.evaluate(f.body, &evaluation);
    for (int32_t i = 0; i < sn_body_size(f.body); i++) {
        assert_true(fabs(force[i]) < 1e-9 * 1e6 * 0.04);
    }

    free(q);
    free(force);
    test_frames_destroy(&f);
}

// Free fall at exactly g in a deformed shape; mass, momentum and energy of a rigid motion of the
// rest shape are exact.
static void test_mass(void **state) {
    (void)state;
    sinew_node_kind kinds[] = {SINEW_NODE_RIGID, SINEW_NODE_QUADRATIC, SINEW_NODE_AFFINE};
    test_frames f = make(kinds, "corotational", SINEW_INTEGRATOR_NEWTON_EULER, 1);
    const sn_frame_model *model = f.body->model;
    sn_vec3 v = {0.3, -1, 2};
    sn_vec3 w = {2, 1, -3};

    for (int32_t i = 0; i < model->nodes.count; i++) {
        const sn_node *node = &model->nodes.items[i];
        double *out = f.body->v + 3 * node->row;
        sn_vec3 at = sn_add(v, sn_cross(w, node->origin));

        if (node->kind == SINEW_NODE_RIGID) {
            sn_store3(out, w);
            sn_store3(out + 3, at);
            continue;
        }

        sn_store3(out, at);
        sn_mat3 W = sn_cross_matrix(w);
        for (int k = 0; k < 3; k++) {
            sn_store3(out + 3 + 3 * k, sn_mat3_column(W, k));
        }
    }

    sinew_measures m;
    sinew_body_get_measures(f.body, &m);

    // A box about the origin: inertia m/12 (b^2 + c^2) and so on.
    double mass = 40;
    double Ix = mass / 12 * 0.08;
    double Iy = mass / 12 * 1.04;

    test_close("mass", m.mass, mass, 1e-11);
    test_close("momentum", m.momentum[2], mass * 2, 1e-10);
    test_close("angular momentum x", m.angular_momentum[0], Ix * 2, 1e-11);
    test_close("angular momentum z", m.angular_momentum[2], Iy * -3, 1e-10);

    double energy = 0.5 * mass * sn_dot(v, v) + 0.5 * (Ix * 4 + Iy * 1 + Iy * 9);
    test_close("kinetic energy", m.kinetic_energy, energy, 1e-10);
    test_frames_destroy(&f);
}

static void test_free_fall(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        sinew_node_kind kinds[] = {all_kinds[kind], all_kinds[kind], all_kinds[kind]};
        test_frames f = make(kinds, "corotational", SINEW_INTEGRATOR_MIDPOINT, 1);
        double rest[3] = {0.2, 0.05, 0};
        double before[3], after[3];

        assert_int_equal(test_get_position(f.body, rest, before), SINEW_OK);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        assert_int_equal(test_get_position(f.body, rest, after), SINEW_OK);
        test_close("fall", after[2] - before[2], -0.5 * 9.81 * 0.04, 1e-12);
        test_frames_destroy(&f);
    }
}

static void test_hanging_bar(void **state) {
    (void)state;
    sinew_node_kind kinds[] = {SINEW_NODE_AFFINE, SINEW_NODE_AFFINE, SINEW_NODE_AFFINE};
    test_frames f = make(kinds, "corotational", SINEW_INTEGRATOR_IMPLICIT_EULER, 1);

    assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
    sinew_static_def statics = sinew_default_static_def();
    sinew_step_report report;
    if (sinew_world_solve_static(f.world, &statics, &report) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f.context));
    }

    assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);
    double position[3];

    assert_int_equal(sinew_frame_body_get_node(f.body, 2, position, NULL), SINEW_OK);
    assert_true(position[2] < -0.005 && position[2] > -0.5);
    test_frames_destroy(&f);
}

static void test_threads_give_the_same_bits(void **state) {
    (void)state;
    uint64_t hash = 0;
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        sinew_node_kind kinds[] = {SINEW_NODE_RIGID, SINEW_NODE_QUADRATIC, SINEW_NODE_AFFINE};
        test_frames f = make(kinds, "neo-hookean", SINEW_INTEGRATOR_IMPLICIT_EULER, threads);

        assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        if (threads == 1) {
            hash = sinew_world_get_hash(f.world);
        }

        assert_true(sinew_world_get_hash(f.world) == hash);
        test_frames_destroy(&f);
    }
}

int main(void) {
    if (TEST_WATCHES_THREADS) {
        cmocka_set_test_filter("test_threads*");
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_strains),
        cmocka_unit_test(test_affine_motion_is_exact),
        cmocka_unit_test(test_rigid_motion_is_free),
        cmocka_unit_test(test_mass),
        cmocka_unit_test(test_free_fall),
        cmocka_unit_test(test_hanging_bar),
        cmocka_unit_test(test_threads_give_the_same_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
