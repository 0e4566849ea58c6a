// The pipeline from nodes to forces and stiffness and back, for every element, law and strain:
// forces are the energy's gradient, the matrix is the forces' derivative, rigid motions cost
// nothing, linear displacements are reproduced.
#include "support/body.h"
#include "support/test.h"

#include "body/body.h"

#include <math.h>
#include <stdlib.h>

static const sinew_element solids[] = {SINEW_ELEMENT_TET4, SINEW_ELEMENT_TET10, SINEW_ELEMENT_HEX8};

static test_beam make_bar(sinew_element element, int32_t law_index) {
    test_beam_def def = test_default_beam_def();
    def.cells_along = 2;
    def.element = element;
    sinew_context *context = test_context(1);
    def.material = test_law(context, law_index);
    sinew_context_destroy(context);

    return test_beam_create(&def);
}

static double energy_at(sinew_body *body, const double *q) {
    sn_evaluation evaluation = {.q = q, .want_energy = true};
    body->ops->elasticity.evaluate(body, &evaluation);
    return evaluation.energy;
}

static void force_at(sinew_body *body, const double *q, double *force) {
    memset(force, 0, (size_t)sn_body_size(body) * sizeof *force);
    sn_evaluation evaluation = {.q = q, .force = force};
    body->ops->elasticity.evaluate(body, &evaluation);
}

// A strongly deformed, rotated state: each node is moved by up to a tenth of the edge length.
static void deform(const sinew_body *body, double *q, uint64_t seed) {
    sn_random random = sn_random_seed(seed);
    memcpy(q, body->rest, (size_t)sn_body_size(body) * sizeof *q);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        q[i] += sn_random_range(&random, -0.02, 0.02);
    }
    test_rotate_positions(q, body->rows, 2.2);
}

// Central differences of the energy along a random direction compared with the force.
static double force_error(sinew_body *body, const double *q, const double *direction, double h) {
    int32_t n = sn_body_size(body);
    double *moved = calloc((size_t)n, sizeof *moved);
    double *force = calloc((size_t)n, sizeof *force);

    for (int32_t i = 0; i < n; i++) {
        moved[i] = q[i] + h * direction[i];
    }

    double plus = energy_at(body, moved);
    for (int32_t i = 0; i < n; i++) {
        moved[i] = q[i] - h * direction[i];
    }

    double minus = energy_at(body, moved);
    double exact = 0;

    force_at(body, q, force);
    for (int32_t i = 0; i < n; i++) {
        exact -= force[i] * direction[i];
    }

    assert_true(fabs(exact) > 1e-6);
    free(moved);
    free(force);

    return fabs((plus - minus) / (2 * h) - exact) / fabs(exact);
}

static void test_force_is_gradient(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        for (int32_t l = 0; l < test_law_count(); l++) {
            test_beam bar = make_bar(solids[e], l);
            int32_t n = sn_body_size(bar.body);
            double *q = calloc((size_t)n, sizeof *q);
            double *direction = calloc((size_t)n, sizeof *direction);

            deform(bar.body, q, 7);
            sn_random random = sn_random_seed(11);
            for (int32_t i = 0; i < n; i++) {
                direction[i] = sn_random_range(&random, -1, 1);
            }

            double coarse = force_error(bar.body, q, direction, 1e-3);
            double fine = force_error(bar.body, q, direction, 2e-6);
            if (!(fine < 1e-6)) {
                fail_msg("element %zu law %d: errors %g, %g", e, l, coarse, fine);
            }

            // Second order: the error falls with the square of the step, down to rounding.
            if (coarse > 1e-5) {
                assert_true(fine < coarse * 1e-2);
            }

            free(q);
            free(direction);
            test_beam_destroy(&bar);
        }
    }
}

static void test_matrix_is_derivative(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        for (int32_t l = 0; l < test_law_count(); l++) {
            test_beam bar = make_bar(solids[e], l);
            sinew_body *body = bar.body;
            size_t n = (size_t)sn_body_size(body);
            double *q = calloc(n, sizeof *q);
            double *d = calloc(n, sizeof *d);
            double *plus = calloc(n, sizeof *plus);
            double *minus = calloc(n, sizeof *minus);
            double *product = calloc(n, sizeof *product);
            double *A = calloc(sn_bsr_value_count(&body->pattern), sizeof *A);

            // The matrix times a random direction.
            deform(body, q, 3);
            sn_evaluation evaluation = {.q = q, .matrix = A};

            body->ops->elasticity.evaluate(body, &evaluation);
            sn_bsr_mirror(bar.context, &body->pattern, A);

            sn_random random = sn_random_seed(5);
            for (size_t i = 0; i < n; i++) {
                d[i] = sn_random_range(&random, -1, 1);
            }

            sn_bsr_multiply(bar.context, &body->pattern, product, A, d);

            // Central differences of the force.
            double h = 1e-6;
            for (size_t i = 0; i < n; i++) {
                q[i] += h * d[i];
            }

            force_at(body, q, plus);
            for (size_t i = 0; i < n; i++) {
                q[i] -= 2 * h * d[i];
            }

            force_at(body, q, minus);
            for (size_t i = 0; i < n; i++) {
                plus[i] = (minus[i] - plus[i]) / (2 * h);
            }

            double error = test_relative_error(plus, product, n);
            if (error > 1e-6) {
                fail_msg("element %zu law %d: stiffness is off by %g", e, l, error);
            }

            free(q);
            free(d);
            free(plus);
            free(minus);
            free(product);
            free(A);
            test_beam_destroy(&bar);
        }
    }
}

static void test_rigid_motion_is_free(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        for (int32_t l = 0; l < test_law_count(); l++) {
            if (l == 0) {
                continue; // the linear law is not invariant under rotation
            }

            test_beam bar = make_bar(solids[e], l);
            sinew_body *body = bar.body;
            size_t n = (size_t)sn_body_size(body);
            double *q = malloc(n * sizeof *q);
            double *force = malloc(n * sizeof *force);
            double largest = 0;

            memcpy(q, body->rest, n * sizeof *q);
            test_rotate_positions(q, body->rows, 2.9);
            force_at(body, q, force);

            for (size_t i = 0; i < n; i++) {
                largest = fmax(largest, fabs(force[i]));
            }

            // The scale: modulus times the area of a cell.
            assert_true(largest < 1e-9 * 1e6 * 0.04);
            free(q);
            free(force);
            test_beam_destroy(&bar);
        }
    }
}

static void test_net_force_and_torque_vanish(void **state) {
    (void)state;
    for (int32_t l = 1; l < test_law_count(); l++) {
        test_beam bar = make_bar(SINEW_ELEMENT_TET4, l);
        sinew_body *body = bar.body;
        size_t n = (size_t)sn_body_size(body);
        double *q = malloc(n * sizeof *q);
        double *force = malloc(n * sizeof *force);
        double size = 0;

        deform(body, q, 21);
        force_at(body, q, force);

        sn_vec3 net = {0, 0, 0}, torque = {0, 0, 0};
        for (int32_t i = 0; i < body->rows; i++) {
            net = sn_add(net, sn_load3(force + 3 * i));
            torque = sn_add(torque, sn_cross(sn_load3(q + 3 * i), sn_load3(force + 3 * i)));
            size += sn_length(sn_load3(force + 3 * i));
        }

        assert_true(size > 1);
        assert_true(sn_length(net) < 1e-12 * size);
        assert_true(sn_length(torque) < 1e-11 * size);
        free(q);
        free(force);
        test_beam_destroy(&bar);
    }
}

// Boundary nodes follow an affine map, inner nodes are displaced at random; the static solve must
// bring them onto the map.
static void test_patch(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        test_beam_def def = test_default_beam_def();
        def.length = def.thickness = 1;
        def.cells_along = def.cells_across = 3;
        def.element = solids[e];
        def.world.gravity[2] = 0;
        def.material.poisson = 0.3;

        test_beam bar = test_beam_create(&def);
        sinew_body *body = bar.body;
        const double *X = sinew_body_get_rest_positions(body);
        int32_t count = sinew_body_get_node_count(body);
        int32_t inner = 0;
        sn_mat3 G = {{{1e-3, 2e-3, -1e-3}, {4e-4, -2e-3, 7e-4}, {1e-3, 3e-4, 1.5e-3}}};

        // Prescribe the boundary.
        for (int32_t i = 0; i < count; i++) {
            bool boundary = fabs(X[3 * i] - 0.5) > 0.499 || fabs(X[3 * i + 1]) > 0.499 ||
                            fabs(X[3 * i + 2]) > 0.499;

            inner += !boundary;
            if (!boundary) {
                continue;
            }

            double target[3];
            sn_store3(target, sn_add(sn_load3(X + 3 * i), sn_mat3_apply(G, sn_load3(X + 3 * i))));
            assert_int_equal(sinew_body_fix_nodes(body, &i, 1, SINEW_AXIS_ALL), SINEW_OK);
            assert_int_equal(sinew_body_move_nodes(body, &i, 1, target), SINEW_OK);
        }

        assert_true(inner > 0);

        // Solve for the inner nodes.
        sinew_static_def statics = sinew_default_static_def();

        statics.newton_tolerance = 1e-13;
        statics.newton_iterations = 30;

        sinew_step_report report;
        assert_int_equal(sinew_world_solve_static(bar.world, &statics, &report), SINEW_OK);

        // All nodes are on the affine map.
        const double *x = sinew_body_get_positions(body);
        for (int32_t i = 0; i < count; i++) {
            sn_vec3 expected = sn_add(sn_load3(X + 3 * i), sn_mat3_apply(G, sn_load3(X + 3 * i)));
            assert_true(sn_distance(expected, sn_load3(x + 3 * i)) < 1e-12);
        }

        test_beam_destroy(&bar);
    }
}

static void test_mass_adds_up(void **state) {
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        for (int mass = SINEW_MASS_LUMPED; mass <= SINEW_MASS_CONSISTENT; mass++) {
            test_beam_def def = test_default_beam_def();
            def.element = solids[e];
            def.mass = (sinew_mass_kind)mass;

            test_beam bar = test_beam_create(&def);
            sinew_measures measures;

            sinew_body_get_measures(bar.body, &measures);
            test_close("mass", measures.mass, 1000 * 1 * 0.04, 1e-11);
            test_close("volume", measures.volume, 0.04, 1e-14);

            for (int32_t i = 0; i < sn_body_size(bar.body); i++) {
                assert_true(bar.body->lumped_mass[i] > 0);
            }

            test_beam_destroy(&bar);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_force_is_gradient),
        cmocka_unit_test(test_matrix_is_derivative),
        cmocka_unit_test(test_rigid_motion_is_free),
        cmocka_unit_test(test_net_force_and_torque_vanish),
        cmocka_unit_test(test_patch),
        cmocka_unit_test(test_mass_adds_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
