// Inverted states: the energy of every extended law falls monotonically from deep inversion to rest
// and is continuously differentiable across the threshold, and Newton's method brings a single F
// back to rest from any initial state.
#include "cases.h"

#include "math/dense.h"
#include "math/svd.h"

static bool is_extended(const sinew_material_def *def) {
    bool anisotropic =
        def->law == SINEW_MATERIAL_ORTHOTROPIC || def->law == SINEW_MATERIAL_TRANSVERSE;
    return !((def->law == SINEW_MATERIAL_HOOKE || anisotropic) &&
             def->strain == SINEW_STRAIN_INFINITESIMAL);
}

// Along the third stretch, the others fixed: the stress is negative everywhere from deep inversion
// to the threshold and pushes towards rest.
static void test_energy_falls_towards_rest(void **state) {
    (void)state;
    static const double others[][2] = {{1, 1}, {1, 0.9}, {0.6, 0.6}, {0.3, 0.25}, {1.3, 0.8}};
    static const double ratios[] = {0, 0.3, 0.45, 0.49};

    for (int i = 0; i < ISOTROPIC_CASES; i++) {
        for (size_t r = 0; r < sizeof ratios / sizeof ratios[0]; r++) {
            material_case c = isotropic_case(i);
            if (!is_extended(&c.def)) {
                continue;
            }

            c.def.poisson = ratios[r];
            sample s = make_sample(&c.def, NULL, sn_isa_detect());
            for (size_t k = 0; k < sizeof others / sizeof others[0]; k++) {
                double previous = INFINITY;
                for (double x = -0.99 * others[k][1]; x < 0.25; x += 0.005) {
                    sn_mat3 F = {{{others[k][0], 0, 0}, {0, others[k][1], 0}, {0, 0, x}}};
                    double psi = energy_at(&s, F);
                    double force = stress_at(&s, F).m[2][2];

                    if (!(psi < previous && force < 0)) {
                        fail_msg(
                            "%s, poisson %g, stretches %g %g %g: energy %g after %g, stress %g",
                            c.name, ratios[r], others[k][0], others[k][1], x, psi, previous, force);
                    }

                    previous = psi;
                }
            }
        }
    }
}

// Differences over a fine grid are as small as the grid: stress and tangent do not jump, also at
// thresholds.
static void test_smooth_across_the_threshold(void **state) {
    (void)state;
    for (int i = 0; i < ISOTROPIC_CASES; i++) {
        material_case c = isotropic_case(i);
        sample s = make_sample(&c.def, NULL, sn_isa_detect());
        static const double thresholds[] = {0.25, 0.3, 0.35};

        for (int k = 0; k < 3; k++) {
            double h = 1e-7, H[2][81];
            sn_mat3 F[2] = {{{{1.1, 0, 0}, {0, 0.9, 0}, {0, 0, thresholds[k] - h}}},
                            {{{1.1, 0, 0}, {0, 0.9, 0}, {0, 0, thresholds[k] + h}}}};

            for (int side = 0; side < 2; side++) {
                sn_material_tangent(H[side], &s.material, s.parameters, F[side], false);
            }

            double jump = sn_mat3_norm(sn_mat3_sub(stress_at(&s, F[1]), stress_at(&s, F[0])));
            assert_true(jump < 1e3 * h);
            assert_true(test_relative_error(H[1], H[0], 81) < 1e3 * h);
        }
    }
}

// One projected Newton step with backtracking. False if no step lowers the energy.
static bool descend(const sample *s, sn_mat3 *F, sn_mat3 P) {
    double psi = energy_at(s, *F);
    double H[81], step[9];
    double slope = 0;

    sn_material_tangent(H, &s->material, s->parameters, *F, true);
    for (int i = 0; i < 9; i++) {
        H[10 * i] += 0.02; // stands for inertia; the moduli are about 1
        step[i] = -P.m[i / 3][i % 3];
    }

    assert_true(sn_cholesky(H, 9));
    sn_cholesky_solve(step, H, 9);
    for (int i = 0; i < 9; i++) {
        slope += step[i] * P.m[i / 3][i % 3];
    }

    assert_true(slope < 0);
    for (double t = 1; t > 1e-9; t *= 0.5) {
        sn_mat3 next = *F;
        for (int i = 0; i < 9; i++) {
            next.m[i / 3][i % 3] += t * step[i];
        }

        if (energy_at(s, next) > psi + 1e-4 * t * slope) {
            continue;
        }

        *F = next;
        return true;
    }

    return false;
}

// Minimises psi(F) over the nine entries; false if it does not come to rest. A crease of the energy
// (sigma2 + sigma3 = 0 under strong stretch) can stop a line search; a small random push, like the
// motion of a body, gets past it.
static bool relax(const sample *s, sn_mat3 *F, sn_random *random) {
    for (int iteration = 0, pushes = 0; iteration < 400 && pushes < 40; iteration++) {
        sn_mat3 P = stress_at(s, *F);
        if (sn_mat3_norm(P) < 1e-7) {
            return true; // below this, rounding hides the descent of the energy
        }
        if (descend(s, F, P)) {
            continue;
        }

        pushes++;
        *F = sn_mat3_add(*F, random_matrix(random, 0.1));
    }

    return false;
}

static sn_mat3 bad_state(sn_random *random, int kind) {
    sn_mat3 noise = random_matrix(random, 1e-6);
    switch (kind) {
    case 0: return sn_mat3_add((sn_mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, -1}}}, noise); // mirrored
    case 1:
        // Turned inside out.
        return sn_mat3_add((sn_mat3){{{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}}}, noise);
    case 2: return sn_mat3_add((sn_mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}}}, noise); // flattened
    case 3: return sn_mat3_add((sn_mat3){{{0, 0, 0}, {0, 1, 0}, {0, 0, 0}}}, noise); // a line
    case 4: return noise; // a point, almost
    case 5: return random_matrix(random, 1);
    case 6: return random_matrix(random, 10);
    default: return stretched(random, 1.5, 1, sn_random_range(random, -0.98, -0.02));
    }
}

static void test_every_law_recovers(void **state) {
    (void)state;
    sn_random random = sn_random_seed(83);
    for (int i = 0; i < ALL_CASES; i++) {
        material_case c = any_case(i);
        if (!is_extended(&c.def)) {
            continue;
        }

        c.def.fibre_stress = 0;
        for (int trial = 0; trial < 64; trial++) {
            sn_mat3 frame = random_rotation(&random);
            sn_mat3 F = bad_state(&random, trial % 8);
            sn_mat3 start = F;
            sample s = make_sample(&c.def, &frame, sn_isa_detect());

            if (!relax(&s, &F, &random)) {
                sn_svd a = sn_svd3(start);
                sn_svd b = sn_svd3(F);
                fail_msg("%s, kind %d: stuck at stretches %g %g %g, stress %g, from %g %g %g",
                         c.name, trial % 8, b.sigma[0], b.sigma[1], b.sigma[2],
                         sn_mat3_norm(stress_at(&s, F)), a.sigma[0], a.sigma[1], a.sigma[2]);
            }

            sn_mat3 C = sn_mat3_mul(sn_mat3_transpose(F), F);
            test_close(c.name, sn_mat3_norm(sn_mat3_sub(C, sn_mat3_identity())), 0, 1e-6);
            test_close(c.name, sn_mat3_det(F), 1, 1e-6);
        }
    }
}

// No F leads to overflow.
static void test_extreme_states_are_finite(void **state) {
    (void)state;
    sn_random random = sn_random_seed(89);
    for (int i = 0; i < ALL_CASES; i++) {
        material_case c = any_case(i);
        for (int trial = 0; trial < 200; trial++) {
            double size = pow(10, sn_random_range(&random, -8, 4));
            double H[81];
            sn_mat3 frame = random_rotation(&random);
            sn_mat3 F = random_matrix(&random, size);

            if (trial % 10 == 0) {
                F = (sn_mat3){{{0}}};
            }
            if (trial % 10 == 1) {
                F = (sn_mat3){{{size, 0, 0}, {0, -size, 0}, {0, 0, 0}}};
            }
            if (trial % 10 == 2) {
                F = sn_mat3_scale(-size, random_rotation(&random));
            }

            sample s = make_sample(&c.def, &frame, sn_isa_detect());
            assert_true(isfinite(energy_at(&s, F)));
            assert_true(isfinite(sn_mat3_norm(stress_at(&s, F))));

            for (int projected = 0; projected < 2; projected++) {
                sn_material_tangent(H, &s.material, s.parameters, F, projected);
                for (int k = 0; k < 81; k++) {
                    if (!isfinite(H[k])) {
                        fail_msg("%s, trial %d, size %g, projected %d: H[%d] = %g", c.name, trial,
                                 size, projected, k, H[k]);
                    }
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_energy_falls_towards_rest),
        cmocka_unit_test(test_smooth_across_the_threshold),
        cmocka_unit_test(test_every_law_recovers),
        cmocka_unit_test(test_extreme_states_are_finite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
