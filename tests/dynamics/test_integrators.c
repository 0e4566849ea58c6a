// The integrators: momentum of free bodies, energy, orders of accuracy, damping, prescribed motion,
// no allocation in a step, the same bits for any number of threads.
#include "support/body.h"
#include "support/test.h"

#include "body/body.h"

#include <math.h>
#include <stdlib.h>

static const sinew_integrator all[] = {
    SINEW_INTEGRATOR_IMPLICIT_EULER,   SINEW_INTEGRATOR_NEWTON_EULER,
    SINEW_INTEGRATOR_SYMPLECTIC_EULER, SINEW_INTEGRATOR_NEWMARK,
    SINEW_INTEGRATOR_MIDPOINT,         SINEW_INTEGRATOR_BDF2};

static void step(test_beam *bar, sinew_step_report *report) {
    if (sinew_world_step(bar->world, report) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(bar->context));
    }
}

// A free bar, spinning and stretched.
static test_beam spinning_bar(sinew_integrator integrator, double h, double tolerance) {
    test_beam_def def = test_default_beam_def();
    def.cells_along = 3;
    def.world.gravity[2] = 0;
    def.world.integrator = integrator;
    def.world.step = h;
    def.world.newton_tolerance = tolerance;
    def.world.solver = SINEW_SOLVER_DIRECT;
    def.material.poisson = 0.3;

    test_beam bar = test_beam_create(&def);
    int32_t n = sinew_body_get_node_count(bar.body);
    const double *X = sinew_body_get_rest_positions(bar.body);
    double *x = malloc(3 * (size_t)n * sizeof *x);
    double *v = malloc(3 * (size_t)n * sizeof *v);
    sn_vec3 spin = {1, 3, -2};

    for (int32_t i = 0; i < n; i++) {
        sn_store3(x + 3 * i, sn_v3(1.05 * X[3 * i], X[3 * i + 1], X[3 * i + 2]));
        sn_store3(v + 3 * i, sn_add(sn_cross(spin, sn_load3(X + 3 * i)), sn_v3(0.5, 0, 0.1)));
    }

    assert_int_equal(sinew_body_set_positions(bar.body, x), SINEW_OK);
    assert_int_equal(sinew_body_set_velocities(bar.body, v), SINEW_OK);
    free(x);
    free(v);

    return bar;
}

static void momentum_drift(sinew_integrator integrator, double h, double tolerance, int steps,
                           double *linear, double *angular) {
    test_beam bar = spinning_bar(integrator, h, tolerance);
    sinew_measures before, after;

    sinew_world_get_measures(bar.world, &before);
    for (int i = 0; i < steps; i++) {
        step(&bar, NULL);
    }

    sinew_world_get_measures(bar.world, &after);
    *linear = sn_distance(sn_load3(before.momentum), sn_load3(after.momentum)) /
              sn_length(sn_load3(before.momentum));

    // Angular momentum is about the origin, so a linear drift would show here too.
    *angular = sn_distance(sn_load3(before.angular_momentum), sn_load3(after.angular_momentum)) /
               sn_length(sn_load3(before.angular_momentum));
    test_beam_destroy(&bar);
}

static void test_momentum_is_kept(void **state) {
    (void)state;
    double linear, angular;
    int steps = TEST_SANITIZED ? 200 : 10000;
    momentum_drift(SINEW_INTEGRATOR_SYMPLECTIC_EULER, 1e-4, 0.5, steps, &linear, &angular);
    print_message("symplectic: linear %.2e, angular %.2e\n", linear, angular);
    assert_true(linear < 1e-11 && angular < 1e-10);
    momentum_drift(SINEW_INTEGRATOR_MIDPOINT, 1e-3, 1e-12, steps, &linear, &angular);
    print_message("midpoint: linear %.2e, angular %.2e\n", linear, angular);
    assert_true(linear < 1e-9 && angular < 1e-8);
}

// A released hanging bar: implicit Euler must not create energy.
static void test_implicit_euler_never_gains_energy(void **state) {
    (void)state;
    for (int law = 0; law < 2; law++) {
        test_beam_def def = test_default_beam_def();
        def.material.strain = law ? SINEW_STRAIN_COROTATIONAL : SINEW_STRAIN_INFINITESIMAL;
        def.material.young = 2e5;
        def.world.solver_tolerance = 1e-12;

        test_beam bar = test_beam_create(&def);
        test_clamp(bar.body);

        sinew_measures m;
        sinew_world_get_measures(bar.world, &m);

        double last = m.kinetic_energy + m.elastic_energy + m.gravity_energy;
        double worst = 0;
        double scale = 0;

        for (int i = 0; i < 300; i++) {
            step(&bar, NULL);
            sinew_world_get_measures(bar.world, &m);
            double energy = m.kinetic_energy + m.elastic_energy + m.gravity_energy;
            worst = fmax(worst, energy - last);
            scale = fmax(scale, m.elastic_energy);
            last = energy;
        }

        print_message("%s: largest gain in a step %.2e of the elastic energy\n",
                      law ? "corotational" : "linear", worst / scale);
        assert_true(worst <= (law ? 1e-2 : 1e-10) * scale);
        test_beam_destroy(&bar);
    }
}

// Tip position after a fixed time of free vibration at three step lengths.
static double tip_after(sinew_integrator integrator, double h) {
    test_beam_def def = test_default_beam_def();
    def.cells_along = 3;
    def.world.integrator = integrator;
    def.world.step = h;
    def.world.newton_tolerance = 1e-12;
    def.world.solver = SINEW_SOLVER_DIRECT;
    def.material.young = 1e5;

    test_beam bar = test_beam_create(&def);
    test_clamp(bar.body);
    for (int i = 0, n = (int)lround(0.128 / h); i < n; i++) {
        step(&bar, NULL);
    }

    double tip[3];
    test_tip_displacement(bar.body, 1, tip);
    test_beam_destroy(&bar);

    return tip[2];
}

static void test_orders(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double coarse = tip_after(all[i], 8e-4);
        double middle = tip_after(all[i], 4e-4);
        double fine = tip_after(all[i], 2e-4);
        double order = log2(fabs((coarse - middle) / (middle - fine)));
        bool second = all[i] >= SINEW_INTEGRATOR_NEWMARK;
        print_message("integrator %zu: order %.2f\n", i, order);
        test_close("order", order, second ? 2 : 1, 0.3);
    }
}

static void test_damping_dissipates(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double energy[2];
        for (int damped = 0; damped < 2; damped++) {
            test_beam_def def = test_default_beam_def();
            def.world.integrator = all[i];
            def.world.gravity[2] = 0;
            def.world.step = all[i] == SINEW_INTEGRATOR_SYMPLECTIC_EULER ? 1e-4 : 1e-3;
            def.mass_damping = damped ? 5 : 0;
            def.stiffness_damping = damped ? 1e-4 : 0;

            test_beam bar = test_beam_create(&def);
            test_clamp(bar.body);

            int32_t n = sinew_body_get_node_count(bar.body);
            double *v = calloc(3 * (size_t)n, sizeof *v);
            for (int32_t k = 0; k < n; k++) {
                v[3 * k + 2] = sinew_body_get_rest_positions(bar.body)[3 * k];
            }

            assert_int_equal(sinew_body_set_velocities(bar.body, v), SINEW_OK);
            for (int k = 0; k < (def.world.step < 5e-4 ? 1000 : 100); k++) {
                step(&bar, NULL);
            }

            sinew_measures m;
            sinew_world_get_measures(bar.world, &m);
            energy[damped] = m.kinetic_energy + m.elastic_energy;
            free(v);
            test_beam_destroy(&bar);
        }

        assert_true(energy[1] < 0.9 * energy[0] && energy[1] > 0);
    }
}

static void test_prescribed_motion_arrives(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_beam_def def = test_default_beam_def();
        def.world.integrator = all[i];
        def.world.step = all[i] == SINEW_INTEGRATOR_SYMPLECTIC_EULER ? 1e-4 : 1e-2;

        test_beam bar = test_beam_create(&def);
        test_clamp(bar.body);

        int32_t nodes[64];
        int32_t count = test_pick_nodes(bar.body, 0, -1e-9, 1e-9, nodes, 64);
        double target[192];

        for (int k = 0; k < 5; k++) {
            for (int32_t j = 0; j < count; j++) {
                sn_store3(target + 3 * j,
                          sn_madd(sn_load3(sinew_body_get_positions(bar.body) + 3 * nodes[j]), 1e-4,
                                  sn_v3(1, 2, 3)));
            }

            assert_int_equal(sinew_body_move_nodes(bar.body, nodes, count, target), SINEW_OK);
            step(&bar, NULL);
            for (int32_t j = 0; j < count; j++) {
                assert_memory_equal(sinew_body_get_positions(bar.body) + 3 * nodes[j],
                                    target + 3 * j, 3 * sizeof(double));
            }
        }

        test_beam_destroy(&bar);
    }
}

static void test_steps_allocate_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_beam_def def = test_default_beam_def();
        def.world.integrator = all[i];
        def.world.step = 1e-3;
        def.stiffness_damping = 1e-5;

        test_beam bar = test_beam_create(&def);
        test_clamp(bar.body);
        step(&bar, NULL);
        step(&bar, NULL);

        int64_t allocations = bar.context->allocations;
        for (int k = 0; k < 5; k++) {
            step(&bar, NULL);
        }

        assert_int_equal(bar.context->allocations, allocations);
        test_beam_destroy(&bar);
    }
}

static void test_threads_give_the_same_bits(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint64_t hash = 0;
        for (int32_t threads = 1; threads <= 4; threads *= 2) {
            test_beam_def def = test_default_beam_def();
            def.cells_along = 20;
            def.cells_across = 4;
            def.threads = threads;
            def.world.integrator = all[i];
            def.world.step = 1e-3;

            test_beam bar = test_beam_create(&def);
            test_clamp(bar.body);
            for (int k = 0; k < 3; k++) {
                step(&bar, NULL);
            }

            if (threads == 1) {
                hash = sinew_world_get_hash(bar.world);
            }

            assert_true(sinew_world_get_hash(bar.world) == hash);
            test_beam_destroy(&bar);
        }
    }
}

int main(void) {
    if (TEST_WATCHES_THREADS) {
        cmocka_set_test_filter("test_threads*");
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_momentum_is_kept),
        cmocka_unit_test(test_implicit_euler_never_gains_energy),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_damping_dissipates),
        cmocka_unit_test(test_prescribed_motion_arrives),
        cmocka_unit_test(test_steps_allocate_nothing),
        cmocka_unit_test(test_threads_give_the_same_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
