// Orthotropic and transversely isotropic solids: off-axis constants compared with an explicitly
// rotated compliance, agreement with the isotropic laws, material frames, contracting fibres, and
// the warped form.
#include "cases.h"

#include "material/anisotropic.h"
#include "math/dense.h"

// Rotation by `angle` about axis 3.
static sn_mat3 about_z(double angle) {
    double c = cos(angle);
    double s = sin(angle);
    return (sn_mat3){{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
}

// The compliance of a material in the rest frame: the inverse of C from the parameters.
static void compliance(double S[36], const sample *s) {
    double C[36];
    for (int a = 0; a < 6; a++) {
        for (int b = 0; b < 6; b++) {
            C[6 * a + b] = s->parameters[SN_PARAMETER_LAW + sn_sym6(a, b)];
        }
    }

    assert_true(sn_cholesky(C, 6));
    for (int b = 0; b < 6; b++) {
        double column[6] = {0};
        column[b] = 1;
        sn_cholesky_solve(column, C, 6);
        for (int a = 0; a < 6; a++) {
            S[6 * a + b] = column[a];
        }
    }
}

// Lekhnitskii's formulas for tension along x of a lamina whose axis 1 is rotated by t from x.
static void test_off_axis_constants(void **state) {
    (void)state;
    material_case c = anisotropic_case(2);
    const sinew_orthotropic *o = &c.def.orthotropic;

    for (int degrees = 0; degrees <= 90; degrees += 15) {
        double t = degrees * acos(-1) / 180;
        double m = cos(t);
        double n = sin(t);
        double S[36];
        sn_mat3 frame = about_z(t);
        sample s = make_sample(&c.def, &frame, sn_isa_detect());

        compliance(S, &s);
        double S11 = 1 / o->young_1;
        double S22 = 1 / o->young_2;
        double S12 = -o->poisson_12 / o->young_1;
        double S66 = 1 / o->shear_12;
        double modulus =
            m * m * m * m * S11 + (2 * S12 + S66) * m * m * n * n + n * n * n * n * S22;
        double lateral = (S11 + S22 - S66) * m * m * n * n + S12 * (m * m * m * m + n * n * n * n);
        double shear =
            (2 * S11 - 2 * S12 - S66) * n * m * m * m - (2 * S22 - 2 * S12 - S66) * n * n * n * m;

        test_close("off-axis modulus", S[0], modulus, 1e-14);
        test_close("off-axis lateral contraction", S[1], lateral, 1e-14);
        test_close("shear coupling", S[5], shear, 1e-14);

        // Out of the plane: nu_13 and nu_23 mix, S_13 and S_23 being -nu_31/E_3 and -nu_23/E_2.
        double S13 = -o->poisson_31 / o->young_3;
        double S23 = -o->poisson_23 / o->young_2;

        test_close("contraction across the plane", S[2], m * m * S13 + n * n * S23, 1e-14);

        // The energy of that small uniaxial stress state is sigma^2 / (2 E), whatever the strain
        // measure.
        double sigma = 1e-5, e[6];

        for (int i = 0; i < 6; i++) {
            e[i] = sigma * S[6 * i];
        }

        sn_mat3 F = {{{1 + e[0], e[5] / 2, e[4] / 2},
                      {e[5] / 2, 1 + e[1], e[3] / 2},
                      {e[4] / 2, e[3] / 2, 1 + e[2]}}};

        for (int strain = 0; strain < 3; strain++) {
            c.def.strain = (sinew_strain)strain;
            sample other = make_sample(&c.def, &frame, sn_isa_detect());
            sn_mat3 P = stress_at(&other, F);
            test_close("stress along the axis", P.m[0][0] / sigma, 1, 1e-4);
            test_close("no lateral stress", P.m[1][1] / sigma, 0, 1e-4);
            test_close("no shear stress", P.m[0][1] / sigma, 0, 1e-4);
        }

        c.def.strain = SINEW_STRAIN_COROTATIONAL;
    }
}

static void test_transverse_constants(void **state) {
    (void)state;
    material_case c = anisotropic_case(5);
    const sinew_transverse *t = &c.def.transverse;
    double S[36];
    sample s = make_sample(&c.def, NULL, sn_isa_detect());

    compliance(S, &s);
    test_close("S33", S[14], 1 / t->young_fibre, 1e-15);
    test_close("S11", S[0], 1 / t->young_plane, 1e-15);
    test_close("S22", S[7], 1 / t->young_plane, 1e-15);
    test_close("S12", S[1], -t->poisson_plane / t->young_plane, 1e-15);
    test_close("S13", S[2], -t->poisson_fibre / t->young_fibre, 1e-15);
    test_close("S23", S[8], -t->poisson_fibre / t->young_fibre, 1e-15);
    test_close("S44", S[21], 1 / t->shear_fibre, 1e-15);
    test_close("S66", S[35], 2 * (1 + t->poisson_plane) / t->young_plane, 1e-14);

    // Rotation about the fibres changes nothing; C66 = (C11 - C12)/2.
    const double *C = s.parameters + SN_PARAMETER_LAW;

    test_close("C66", C[sn_sym6(5, 5)], 0.5 * (C[0] - C[1]), 1e-15);
    sn_mat3 frame = about_z(0.7);
    sample turned = make_sample(&c.def, &frame, sn_isa_detect());

    for (int i = 0; i < SN_ELASTIC_COUNT; i++) {
        test_close("turned about the fibres", turned.parameters[SN_PARAMETER_LAW + i], C[i], 1e-14);
    }
}

// Isotropic constants in the anisotropic laws, nine or four of them, in any frame.
static void test_isotropic_limit(void **state) {
    (void)state;
    sn_random random = sn_random_seed(67);
    for (int strain = 0; strain < 3; strain++) {
        for (int form = 0; form < 3; form++) {
            sinew_material_def isotropic = sinew_default_material_def();
            sinew_material_def def = isotropic;

            isotropic.young = 1;
            isotropic.poisson = def.poisson = 0.35;
            isotropic.strain = def.strain = (sinew_strain)strain;

            double G = 1 / (2 * 1.35);
            def.law = form < 2 ? SINEW_MATERIAL_ORTHOTROPIC : SINEW_MATERIAL_TRANSVERSE;
            def.orthotropic = (sinew_orthotropic){1, 1, 1, form == 0, 0.35, 0.35, 0.35, G, G, G};
            def.transverse = (sinew_transverse){1, 1, 0.35, 0.35, G};

            for (int k = 0; k < TEST_STATES; k++) {
                // Inverted states are extended from different moduli.
                if (strain == SINEW_STRAIN_GREEN && test_states[k].s[2] < 0.5) {
                    continue;
                }

                sn_mat3 frame = random_rotation(&random);
                sn_mat3 F = test_state_F(&random, k);
                sample a = make_sample(&isotropic, NULL, sn_isa_detect());
                sample b = make_sample(&def, &frame, sn_isa_detect());

                test_close("energy", energy_at(&b, F), energy_at(&a, F),
                           1e-14 * fmax(energy_at(&a, F), 1));

                sn_mat3 P = stress_at(&a, F);
                double scale = fmax(sn_mat3_norm(P), 1);
                double HA[81], HB[81];

                test_close("stress", sn_mat3_norm(sn_mat3_sub(stress_at(&b, F), P)) / scale, 0,
                           3e-14);
                for (int projected = 0; projected < 2; projected++) {
                    // With Green's strain the two laws project differently.
                    if (projected && strain == SINEW_STRAIN_GREEN) {
                        continue;
                    }

                    sn_material_tangent(HA, &a.material, a.parameters, F, projected);
                    sn_material_tangent(HB, &b.material, b.parameters, F, projected);
                    test_close("tangent", test_relative_error(HB, HA, 81), 0, 1e-11);
                }
            }
        }
    }
}

// Rotating the frame and the rest state together does not change energy and stress: psi(F Q', frame
// Q) = psi(F, frame).
static void test_turned_frames(void **state) {
    (void)state;
    sn_random random = sn_random_seed(71);
    for (int i = 1; i < ANISOTROPIC_CASES; i++) {
        material_case c = anisotropic_case(i);
        if (c.def.strain == SINEW_STRAIN_INFINITESIMAL) {
            continue;
        }

        for (int k = 0; k < TEST_STATES; k++) {
            sn_mat3 frame = random_rotation(&random);
            sn_mat3 Q = random_rotation(&random);
            sn_mat3 F = test_state_F(&random, k);
            sn_mat3 turned = sn_mat3_mul(Q, frame);
            sn_mat3 back = sn_mat3_mul(F, sn_mat3_transpose(Q));
            sample a = make_sample(&c.def, &frame, sn_isa_detect());
            sample b = make_sample(&c.def, &turned, sn_isa_detect());
            double psi = energy_at(&a, F);
            double scale = fmax(sn_mat3_norm(stress_at(&a, F)), 1);

            test_close(c.name, energy_at(&b, back), psi, 1e-12 * fmax(psi, 1));
            sn_mat3 P = sn_mat3_mul(stress_at(&a, F), sn_mat3_transpose(Q));

            test_close(c.name, sn_mat3_norm(sn_mat3_sub(stress_at(&b, back), P)) / scale, 0, 1e-12);
        }
    }
}

// Fibres pull along axis 3: at rest P = T a3 a3', and the stress can be changed in the parameters
// alone.
static void test_fibre_tension(void **state) {
    (void)state;
    sn_random random = sn_random_seed(73);
    for (int i = 0; i < ALL_CASES; i++) {
        material_case c = any_case(i);
        c.def.fibre_stress = 0.2;

        sn_mat3 frame = random_rotation(&random);
        sample s = make_sample(&c.def, &frame, sn_isa_detect());
        sn_vec3 a = sn_mat3_column(frame, 2);
        sn_mat3 expected = sn_mat3_scale(0.2, sn_outer(a, a));
        sn_mat3 P = stress_at(&s, sn_mat3_identity());

        test_close(c.name, sn_mat3_norm(sn_mat3_sub(P, expected)), 0, 1e-14);
        s.parameters[SN_PARAMETER_FIBRE_STRESS] = 0.5;
        P = stress_at(&s, sn_mat3_identity());
        test_close(c.name, sn_mat3_norm(sn_mat3_sub(P, sn_mat3_scale(2.5, expected))), 0, 1e-14);
    }
}

// The warped form: P = R sigma, H = R C R', the same energy, and the same results at small strain.
static void test_warped_form(void **state) {
    (void)state;
    sn_random random = sn_random_seed(79);
    material_case c = anisotropic_case(2);
    sn_mat3 frame = random_rotation(&random);
    sn_mat3 R = random_rotation(&random);
    sample exact = make_sample(&c.def, &frame, sn_isa_detect());

    c.def.exact_rotation = false;
    sample warped = make_sample(&c.def, &frame, sn_isa_detect());
    sn_mat3 F = stretched(&random, 1.3, 1.1, 0.8);

    test_close("energy", energy_at(&warped, F), energy_at(&exact, F), 0);
    double plain[81], projected[81], rest[81];

    sn_material_tangent(plain, &warped.material, warped.parameters, F, false);
    sn_material_tangent(projected, &warped.material, warped.parameters, F, true);
    assert_memory_equal(plain, projected, sizeof plain);
    sn_material_tangent(plain, &warped.material, warped.parameters, R, false);
    sn_material_tangent(rest, &exact.material, exact.parameters, R, false);
    test_close("tangent at rest", test_relative_error(plain, rest, 81), 0, 1e-13);

    // Strains of 0.3 make a force error of several per cent.
    double difference = sn_mat3_norm(sn_mat3_sub(stress_at(&warped, F), stress_at(&exact, F))) /
                        sn_mat3_norm(stress_at(&exact, F));

    assert_true(difference > 0.01 && difference < 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_off_axis_constants), cmocka_unit_test(test_transverse_constants),
        cmocka_unit_test(test_isotropic_limit),    cmocka_unit_test(test_turned_frames),
        cmocka_unit_test(test_fibre_tension),      cmocka_unit_test(test_warped_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
