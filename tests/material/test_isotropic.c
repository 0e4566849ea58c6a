// Isotropic laws compared with their formulas: energy and stress in terms of F alone (no singular
// values), the moduli at small strain, and the stress of a bar pulled along one axis.
#include "cases.h"

enum { LAWS = 7 }; // the first cases, without added terms

typedef struct moduli {
    double mu, lambda, bulk;
} moduli;

static moduli moduli_of(const sinew_material_def *def) {
    double mu = def->young / (2 * (1 + def->poisson));
    double lambda = def->young * def->poisson / ((1 + def->poisson) * (1 - 2 * def->poisson));
    return (moduli){mu, lambda, lambda + 2 * mu / 3};
}

// mu A + lambda/2 ... of Hooke's laws: 2 mu E + lambda tr(E) I
static sn_mat3 hooke(moduli m, sn_mat3 E) {
    sn_mat3 T = sn_mat3_scale(2 * m.mu, E);
    for (int i = 0; i < 3; i++) {
        T.m[i][i] += m.lambda * sn_mat3_trace(E);
    }
    return T;
}

static double hooke_energy(moduli m, sn_mat3 E) {
    return 0.5 * sn_mat3_contract(hooke(m, E), E);
}

static double arruda_series(double N, double x, int derivative) {
    static const double c[5] = {1.0 / 2, 1.0 / 20, 11.0 / 1050, 19.0 / 7000, 519.0 / 673750};
    double sum = 0;
    for (int n = 1; n <= 5; n++) {
        double factor = c[n - 1] * pow(N, 1 - n);
        sum += derivative ? factor * n * pow(x, n - 1) : factor * (pow(x, n) - pow(3, n));
    }

    return sum;
}

// Energy and stress straight from the definitions; F has a positive determinant.
static double reference(sn_mat3 *P, const sinew_material_def *def, sn_mat3 F) {
    moduli m = moduli_of(def);
    sn_mat3 I = sn_mat3_identity();
    sn_mat3 C = sn_mat3_mul(sn_mat3_transpose(F), F);
    sn_mat3 cofactor = sn_mat3_cofactor(F);
    double J = sn_mat3_det(F);
    double I1 = sn_mat3_trace(C);
    double I2 = 0.5 * (I1 * I1 - sn_mat3_contract(C, C));
    // d I2 / d F = 2 (I1 F - F C)
    sn_mat3 dI2 = sn_mat3_scale(2, sn_mat3_sub(sn_mat3_scale(I1, F), sn_mat3_mul(F, C)));
    switch (def->law) {
    case SINEW_MATERIAL_HOOKE: {
        sn_mat3 E;
        if (def->strain == SINEW_STRAIN_INFINITESIMAL) {
            E = sn_mat3_sub(sn_mat3_scale(0.5, sn_mat3_add(F, sn_mat3_transpose(F))), I);
            *P = hooke(m, E);
        } else if (def->strain == SINEW_STRAIN_GREEN) {
            E = sn_mat3_scale(0.5, sn_mat3_sub(C, I));
            *P = sn_mat3_mul(F, hooke(m, E));
        } else {
            // The polar rotation by Higham's iteration R <- (R + R^-T)/2.
            sn_mat3 R = F;
            for (int i = 0; i < 60; i++) {
                R = sn_mat3_scale(
                    0.5, sn_mat3_add(R, sn_mat3_scale(1 / sn_mat3_det(R), sn_mat3_cofactor(R))));
            }
            E = sn_mat3_sub(sn_mat3_mul(sn_mat3_transpose(R), F), I);
            *P = sn_mat3_mul(R, hooke(m, E));
        }
        return hooke_energy(m, E);
    }
    case SINEW_MATERIAL_NEO_HOOKEAN:
        *P = sn_mat3_add(sn_mat3_scale(m.mu, F),
                         sn_mat3_scale((m.lambda * log(J) - m.mu) / J, cofactor));
        return 0.5 * m.mu * (I1 - 3) - m.mu * log(J) + 0.5 * m.lambda * log(J) * log(J);
    case SINEW_MATERIAL_STABLE_NEO_HOOKEAN: {
        double mu = 4 * m.mu / 3;
        double lambda = m.lambda + 5 * m.mu / 6;
        double alpha = 1 + mu / lambda - mu / (4 * lambda);
        *P = sn_mat3_add(sn_mat3_scale(mu * (1 - 1 / (I1 + 1)), F),
                         sn_mat3_scale(lambda * (J - alpha), cofactor));
        double at_rest = 0.5 * lambda * (1 - alpha) * (1 - alpha) - 0.5 * mu * log(4);
        return 0.5 * mu * (I1 - 3) + 0.5 * lambda * (J - alpha) * (J - alpha) -
               0.5 * mu * log(I1 + 1) - at_rest;
    }
    case SINEW_MATERIAL_MOONEY_RIVLIN: {
        double c10 = 0.4 * m.mu;
        double c01 = 0.1 * m.mu;
        double a = pow(J, -2.0 / 3);
        double dJ = m.bulk * (J - 1) - 2 * c10 * a * I1 / (3 * J) - 4 * c01 * a * a * I2 / (3 * J);
        *P = sn_mat3_add(sn_mat3_scale(2 * c10 * a, F),
                         sn_mat3_add(sn_mat3_scale(c01 * a * a, dI2), sn_mat3_scale(dJ, cofactor)));
        return c10 * (a * I1 - 3) + c01 * (a * a * I2 - 3) + 0.5 * m.bulk * (J - 1) * (J - 1);
    }
    default: {
        double N = def->chain_length;
        double a = pow(J, -2.0 / 3);
        double x = a * I1;
        // The small-strain shear modulus is 2 mu W'(3).
        double mu = m.mu / (2 * arruda_series(N, 3, 1));
        double W1 = mu * arruda_series(N, x, 1);
        *P = sn_mat3_add(sn_mat3_scale(2 * a * W1, F),
                         sn_mat3_scale(m.bulk * (J - 1) - 2 * W1 * x / (3 * J), cofactor));
        return mu * arruda_series(N, x, 0) + 0.5 * m.bulk * (J - 1) * (J - 1);
    }
    }
}

static void test_formulas(void **state) {
    (void)state;
    sn_random random = sn_random_seed(53);
    for (int i = 0; i < LAWS; i++) {
        for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
            if (!sn_isa_available(isa)) {
                continue;
            }

            for (int trial = 0; trial < 60; trial++) {
                material_case c = isotropic_case(i);
                c.def.poisson = sn_random_range(&random, -0.3, 0.49);
                c.def.young = sn_random_range(&random, 0.5, 2);

                sample s = make_sample(&c.def, NULL, isa);

                // No stretch below any threshold.
                double a = sn_random_range(&random, 0.6, 2.5);
                double b = sn_random_range(&random, 0.6, 2.5);
                sn_mat3 F = stretched(&random, a, b, sn_random_range(&random, 0.6, 2.5));
                sn_mat3 P;
                double psi = reference(&P, &c.def, F);
                double scale = fmax(psi, 1);

                test_close(c.name, energy_at(&s, F) / scale, psi / scale, 2e-13);
                scale = fmax(sn_mat3_norm(P), 1);
                test_close(c.name, sn_mat3_norm(sn_mat3_sub(stress_at(&s, F), P)) / scale, 0,
                           1e-12);
            }
        }
    }
}

// At rest H_(ij)(kl) = lambda d_ij d_kl + mu (d_ik d_jl + d_il d_jk), with the requested moduli.
static void test_small_strain_moduli(void **state) {
    (void)state;
    static const double ratios[] = {-0.5, 0, 0.3, 0.45, 0.49};
    for (int i = 0; i < LAWS; i++) {
        for (size_t k = 0; k < sizeof ratios / sizeof ratios[0]; k++) {
            material_case c = isotropic_case(i);
            c.def.poisson = ratios[k];
            c.def.young = 3;

            moduli m = moduli_of(&c.def);
            sample s = make_sample(&c.def, NULL, sn_isa_detect());
            double H[81];

            sn_material_tangent(H, &s.material, s.parameters, sn_mat3_identity(), false);
            for (int a = 0; a < 81; a++) {
                int p = a / 27;
                int q = a / 9 % 3;
                int r = a / 3 % 3;
                int t = a % 3;
                double expected = m.lambda * (p == q && r == t) +
                                  m.mu * ((p == r && q == t) + (p == t && q == r));
                test_close(c.name, H[a], expected, 1e-12 * (m.lambda + 2 * m.mu + 3));
            }
        }
    }
}

// The stress along the axis when the sides are free, by bisection for the side stretch.
static double pulled_bar(const sample *s, double stretch, double modulus) {
    double low = 0.3, high = 1.8;
    sn_mat3 P = {{{0}}};
    for (int i = 0; i < 100; i++) {
        double t = 0.5 * (low + high);
        P = stress_at(s, (sn_mat3){{{stretch, 0, 0}, {0, t, 0}, {0, 0, t}}});
        *(P.m[1][1] < 0 ? &low : &high) = t;
    }

    test_close("free side", P.m[1][1] / modulus, 0, 1e-13);
    return P.m[0][0];
}

// The root of a function that rises from negative to positive between 0.3 and 1.8.
typedef double side_function(double t, double stretch, moduli m);

static double bisect(side_function *f, double stretch, moduli m) {
    double low = 0.3, high = 1.8;
    for (int i = 0; i < 100; i++) {
        double t = 0.5 * (low + high);
        *(f(t, stretch, m) < 0 ? &low : &high) = t;
    }
    return 0.5 * (low + high);
}

static double neo_hookean_side(double t, double s, moduli m) {
    return m.mu * (t * t - 1) + m.lambda * log(s * t * t);
}

static double stable_side(double t, double s, moduli m) {
    double mu = 4 * m.mu / 3;
    double lambda = m.lambda + 5 * m.mu / 6;
    double alpha = 1 + 0.75 * mu / lambda;
    return mu * t * (1 - 1 / (s * s + 2 * t * t + 1)) + lambda * (s * t * t - alpha) * s * t;
}

static double analytic_curve(const sinew_material_def *def, double s) {
    moduli m = moduli_of(def);
    switch (def->law) {
    case SINEW_MATERIAL_HOOKE:
        // Green's strain along the axis times E, as second Piola-Kirchhoff stress; the others are
        // linear in the stretch.
        return def->strain == SINEW_STRAIN_GREEN ? def->young * s * (s * s - 1) / 2
                                                 : def->young * (s - 1);
    case SINEW_MATERIAL_NEO_HOOKEAN: {
        double t = bisect(neo_hookean_side, s, m);
        return (m.mu * (s * s - 1) + m.lambda * log(s * t * t)) / s;
    }
    case SINEW_MATERIAL_STABLE_NEO_HOOKEAN: {
        double mu = 4 * m.mu / 3;
        double lambda = m.lambda + 5 * m.mu / 6;
        double alpha = 1 + 0.75 * mu / lambda;
        double t = bisect(stable_side, s, m);
        return mu * s * (1 - 1 / (s * s + 2 * t * t + 1)) + lambda * (s * t * t - alpha) * t * t;
    }
    // Incompressible: 2 (W_1 + W_2/s) (s - 1/s^2)
    case SINEW_MATERIAL_MOONEY_RIVLIN: return 2 * (def->c10 + def->c01 / s) * (s - 1 / (s * s));
    default: {
        double N = def->chain_length;
        double I1 = s * s + 2 / s;
        return m.mu / arruda_series(N, 3, 1) * arruda_series(N, I1, 1) * (s - 1 / (s * s));
    }
    }
}

static void test_uniaxial_extension(void **state) {
    (void)state;
    static const double stretches[] = {0.7, 0.9, 1.05, 1.3, 2, 3};
    for (int i = 0; i < LAWS; i++) {
        material_case c = isotropic_case(i);
        c.def.young = 2;

        double tolerance = 1e-12;
        if (c.def.law == SINEW_MATERIAL_MOONEY_RIVLIN || c.def.law == SINEW_MATERIAL_ARRUDA_BOYCE) {
            // The curve is that of an incompressible solid; the deviation is of the order
            // stress / bulk.
            c.def.c10 = 0.3;
            c.def.c01 = 0.1;
            c.def.chain_length = 5;
            c.def.bulk = 1e6;
            tolerance = 1e-5;
        }

        sample s = make_sample(&c.def, NULL, sn_isa_detect());
        for (size_t k = 0; k < sizeof stretches / sizeof stretches[0]; k++) {
            // With Green's strain the sides vanish at a stretch of sqrt(1 + 1/nu) = 2.08.
            if (c.def.strain == SINEW_STRAIN_GREEN && c.def.law == SINEW_MATERIAL_HOOKE &&
                stretches[k] > 2) {
                continue;
            }

            double expected = analytic_curve(&c.def, stretches[k]);
            test_close(c.name, pulled_bar(&s, stretches[k], fmax(c.def.bulk, 1)), expected,
                       tolerance * fmax(fabs(expected), 1));
        }
    }
}

// The volume term on its own: k/2 (J - 1)^2, with the cofactor in the stress.
static void test_volume_term(void **state) {
    (void)state;
    sn_random random = sn_random_seed(59);
    for (int i = 0; i < LAWS; i++) {
        material_case c = isotropic_case(i);
        sample without = make_sample(&c.def, NULL, sn_isa_detect());

        c.def.volume_stiffness = 5;
        sample with = make_sample(&c.def, NULL, sn_isa_detect());
        sn_mat3 F = stretched(&random, 1.5, 1.1, 0.7);
        double J = sn_mat3_det(F);

        test_close(c.name, energy_at(&with, F) - energy_at(&without, F), 2.5 * (J - 1) * (J - 1),
                   1e-13);

        sn_mat3 difference = sn_mat3_sub(stress_at(&with, F), stress_at(&without, F));
        sn_mat3 expected = sn_mat3_scale(5 * (J - 1), sn_mat3_cofactor(F));

        test_close(c.name, sn_mat3_norm(sn_mat3_sub(difference, expected)), 0, 1e-13);
    }
}

// Without the extension the formulas also hold for inverted states, where they are defined.
static void test_bare_laws(void **state) {
    (void)state;
    sn_random random = sn_random_seed(61);
    for (int i = 0; i < LAWS; i++) {
        material_case c = isotropic_case(i);
        c.def.inversion = false;

        sample s = make_sample(&c.def, NULL, sn_isa_detect());
        sn_mat3 F = stretched(&random, 1.4, 1.1, -0.6);
        sn_mat3 P;
        if (c.def.law == SINEW_MATERIAL_NEO_HOOKEAN) {
            assert_true(energy_at(&s, F) == INFINITY);
        } else if (c.def.law == SINEW_MATERIAL_STABLE_NEO_HOOKEAN ||

                   c.def.strain == SINEW_STRAIN_GREEN) {
            double psi = reference(&P, &c.def, F);
            test_close(c.name, energy_at(&s, F), psi, 1e-12);
            test_close(c.name, sn_mat3_norm(sn_mat3_sub(stress_at(&s, F), P)), 0, 1e-12);
        }
        F = stretched(&random, 1.4, 0.9, 0.05);
        reference(&P, &c.def, F);

        if (c.def.law != SINEW_MATERIAL_HOOKE || c.def.strain == SINEW_STRAIN_GREEN) {
            test_close(c.name, sn_mat3_norm(sn_mat3_sub(stress_at(&s, F), P)) / sn_mat3_norm(P), 0,
                       1e-11);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas),           cmocka_unit_test(test_small_strain_moduli),
        cmocka_unit_test(test_uniaxial_extension), cmocka_unit_test(test_volume_term),
        cmocka_unit_test(test_bare_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
