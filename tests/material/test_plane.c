// Triangles: plane strain and plane stress of every law. In plane stress the condensed stress and
// tangent are derivatives of the condensed energy, and Hooke's law agrees with its closed form.
#include "cases.h"

static sample make_plane(const sinew_material_def *def, const sn_mat3 *frame, sn_plane plane) {
    sample s = {.material = sn_material_prepare(def, plane, sn_isa_detect())};
    sn_material_parameters(s.parameters, &s.material, def, frame);
    return s;
}

static sn_mat3 in_plane(double a, double b, double c, double d) {
    return (sn_mat3){{{a, b, 0}, {c, d, 0}, {0, 0, 1}}};
}

static const double states[][4] = {{1, 0, 0, 1},
                                   {1.2, 0.1, -0.2, 0.9},
                                   {0.1, -1.3, 0.9, 0.2},
                                   {1.8, 0.3, 0.1, 0.7},
                                   {0.7, 0, 0.05, 0.75}};

// Frames that keep the third axis across the plane, so that the solid is symmetric about it.
static sn_mat3 frame_about_normal(double angle) {
    return (sn_mat3){{{cos(angle), -sin(angle), 0}, {sin(angle), cos(angle), 0}, {0, 0, 1}}};
}

static void test_plane_stress_derivatives(void **state) {
    (void)state;
    for (int i = 0; i < ALL_CASES; i++) {
        material_case c = any_case(i);
        c.def.fibre_stress = 0;

        sn_mat3 frame = frame_about_normal(0.4);
        sample s = make_plane(&c.def, &frame, SN_PLANE_STRESS);
        for (size_t k = 0; k < sizeof states / sizeof states[0]; k++) {
            if (c.def.strain == SINEW_STRAIN_INFINITESIMAL && k == 2) {
                continue; // a quarter turn is not a small strain
            }

            sn_mat3 F = in_plane(states[k][0], states[k][1], states[k][2], states[k][3]);
            sn_mat3 P = stress_at(&s, F);
            double H[81], h = 1e-5;

            sn_material_tangent(H, &s.material, s.parameters, F, false);

            // P33 vanishes; with the reduced lambda it is not a stress of the solid and is not
            // checked.
            if (!s.material.reduced) {
                test_close(c.name, P.m[2][2], 0, 1e-12);
            }

            for (int a = 0; a < 4; a++) {
                int p = a / 2;
                int q = a % 2;
                sn_mat3 up = F;
                sn_mat3 down = F;

                up.m[p][q] += h;
                down.m[p][q] -= h;
                test_close(c.name, (energy_at(&s, up) - energy_at(&s, down)) / (2 * h), P.m[p][q],
                           1e-8);

                sn_mat3 dP =
                    sn_mat3_scale(0.5 / h, sn_mat3_sub(stress_at(&s, up), stress_at(&s, down)));
                for (int b = 0; b < 4; b++) {
                    test_close(c.name, dP.m[b / 2][b % 2], H[9 * (3 * (b / 2) + b % 2) + 3 * p + q],
                               1e-7);
                }
            }
        }
    }
}

// The reduced lambda compared with solving for the thickness: a negligible volume term selects the
// second method.
static void test_hooke_agrees_with_the_general_way(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        material_case c = isotropic_case(i);
        sample reduced = make_plane(&c.def, NULL, SN_PLANE_STRESS);

        assert_true(reduced.material.reduced);
        c.def.volume_stiffness = 1e-300;

        sample solved = make_plane(&c.def, NULL, SN_PLANE_STRESS);
        assert_false(solved.material.reduced);
        for (size_t k = 0; k < sizeof states / sizeof states[0]; k++) {
            sn_mat3 F = in_plane(states[k][0], states[k][1], states[k][2], states[k][3]);
            test_close(c.name, energy_at(&solved, F), energy_at(&reduced, F), 1e-13);
            sn_mat3 a = stress_at(&solved, F);
            sn_mat3 b = stress_at(&reduced, F);

            for (int j = 0; j < 4; j++) {
                test_close(c.name, a.m[j / 2][j % 2], b.m[j / 2][j % 2], 1e-12);
            }
        }
    }
}

// Pulled in one direction with free sides, a sheet in plane stress follows Young's modulus, one in
// plane strain E / (1 - nu^2).
static void test_sheet_moduli(void **state) {
    (void)state;
    for (int i = 0; i < 7; i++) {
        for (int plane = SN_PLANE_STRAIN; plane <= SN_PLANE_STRESS; plane++) {
            material_case c = isotropic_case(i);
            sample s = make_plane(&c.def, NULL, (sn_plane)plane);
            double H[81];
            sn_material_tangent(H, &s.material, s.parameters, sn_mat3_identity(), false);

            // H_1111 - H_1122 H_2211 / H_2222: the second direction is free.
            double modulus = H[0] - H[4] * H[4] / H[40];
            double nu = c.def.poisson;
            test_close(c.name, modulus, plane == SN_PLANE_STRESS ? 1 : 1 / (1 - nu * nu), 1e-11);
        }
    }
}

static void test_projected_is_definite(void **state) {
    (void)state;
    for (int i = 0; i < ALL_CASES; i++) {
        material_case c = any_case(i);
        sample s = make_plane(&c.def, NULL, SN_PLANE_STRESS);
        for (size_t k = 0; k < sizeof states / sizeof states[0]; k++) {
            sn_mat3 F = in_plane(states[k][0], states[k][1], states[k][2], states[k][3]);
            for (int trial = 0; trial < 8; trial++) {
                sn_mat3 dF =
                    in_plane(cos(trial), sin(2.0 * trial), cos(3.0 * trial), sin(5.0 * trial + 1));
                dF.m[2][2] = 0;
                sn_mat3 dP = material_differential(&s.material, s.parameters, F, dF, true);
                assert_true(sn_mat3_contract(dP, dF) > -1e-12);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane_stress_derivatives),
        cmocka_unit_test(test_hooke_agrees_with_the_general_way),
        cmocka_unit_test(test_sheet_moduli),
        cmocka_unit_test(test_projected_is_definite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
