// For every law: the stress is the gradient of the energy and the tangent the derivative of the
// stress, by central differences whose error falls with the square of the step and ends below 1e-6;
// at rest, strongly stretched, flat and inverted states.
#include "cases.h"

static const uint64_t seed = 7;

// Errors of central differences over three steps, each half of the previous one, relative to
// `scale`. A second-order method quarters them, down to rounding.
static void check_slope(const char *what, const double errors[3]) {
    for (int i = 0; i < 2; i++) {
        if (errors[i + 1] < 1e-8) {
            continue;
        }

        double ratio = errors[i] / errors[i + 1];
        if (!(ratio > 3.2 && ratio < 4.9)) {
            fail_msg("%s: halving the step divides the error by %g, not by 4 (errors %g, %g)", what,
                     ratio, errors[i], errors[i + 1]);
        }
    }
}

static sn_mat3 along(sn_mat3 F, double h, sn_mat3 dF) {
    return sn_mat3_add(F, sn_mat3_scale(h, dF));
}

// The step must be small compared with the distance to the next kink or pole of the energy.
static double first_step(const test_state *state) {
    double distance = fmin(state->s[1] + state->s[2], fabs(state->s[2]) < 0.15 ? 0.05 : 1);
    return 0.02 * fmin(distance, 1);
}

static void check_gradient(const char *name, const sample *s, sn_mat3 F, sn_mat3 dF, double step,
                           double scale) {
    double exact = sn_mat3_contract(stress_at(s, F), dF);
    double errors[3];
    for (int i = 0; i < 3; i++) {
        double h = step / (1 << i);
        errors[i] =
            fabs((energy_at(s, along(F, h, dF)) - energy_at(s, along(F, -h, dF))) / (2 * h) -
                 exact) /
            scale;
    }

    check_slope(name, errors);
    double h = 1e-2 * step;
    double numeric = (energy_at(s, along(F, h, dF)) - energy_at(s, along(F, -h, dF))) / (2 * h);

    test_close(name, numeric / scale, exact / scale, 1e-6);
}

static void check_tangent(const char *name, const sample *s, sn_mat3 F, sn_mat3 dF, double step,
                          double scale) {
    sn_mat3 exact = material_differential(&s->material, s->parameters, F, dF, false);
    double errors[3];
    for (int i = 0; i < 3; i++) {
        double h = step / (1 << i);
        sn_mat3 numeric = sn_mat3_scale(
            0.5 / h, sn_mat3_sub(stress_at(s, along(F, h, dF)), stress_at(s, along(F, -h, dF))));
        errors[i] = sn_mat3_norm(sn_mat3_sub(numeric, exact)) / scale;
    }

    check_slope(name, errors);
    double h = 1e-2 * step;
    sn_mat3 numeric = sn_mat3_scale(
        0.5 / h, sn_mat3_sub(stress_at(s, along(F, h, dF)), stress_at(s, along(F, -h, dF))));

    test_close(name, sn_mat3_norm(sn_mat3_sub(numeric, exact)) / scale, 0, 1e-6);
}

static void check_case(const material_case *c, sn_isa isa) {
    sn_random random = sn_random_seed(seed);
    for (int k = 0; k < TEST_STATES; k++) {
        sn_mat3 frame = random_rotation(&random);
        sample s = make_sample(&c->def, &frame, isa);
        sn_mat3 F = test_state_F(&random, k);
        sn_mat3 dF = random_matrix(&random, 1);
        double step = first_step(&test_states[k]);
        double H[81];
        double norm = 0;

        sn_material_tangent(H, &s.material, s.parameters, F, false);
        for (int i = 0; i < 81; i++) {
            norm += H[i] * H[i];
        }

        double scale = sqrt(norm) * sn_mat3_norm(dF);
        assert_true(scale > 0.1);

        char name[128];
        snprintf(name, sizeof name, "%s, %s, %s, energy", c->name, test_states[k].name,
                 sn_isa_name(isa));
        check_gradient(name, &s, F, dF, step, scale);
        snprintf(name, sizeof name, "%s, %s, %s, stress", c->name, test_states[k].name,
                 sn_isa_name(isa));
        check_tangent(name, &s, F, dF, step, scale);
    }
}

static void test_derivatives(void **state) {
    (void)state;
    for (int i = 0; i < ALL_CASES; i++) {
        material_case c = any_case(i);
        for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
            if (sn_isa_available(isa)) {
                check_case(&c, isa);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_derivatives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
