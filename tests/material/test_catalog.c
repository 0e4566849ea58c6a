// Material definitions: defaults are valid, names are found, invalid values are refused with a
// message that names field, value and range.
#include "cases.h"

static void test_defaults_are_valid(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_material_def def = sinew_default_material_def();

    assert_int_equal(sinew_check_material(context, &def), SINEW_OK);
    for (int i = 0; i < sinew_material_law_count(); i++) {
        assert_int_equal(sinew_material_set_law(context, sinew_material_law_name(i), &def),
                         SINEW_OK);
        assert_int_equal(sinew_check_material(context, &def), SINEW_OK);
    }

    int32_t count;
    const sinew_material_preset *presets = sinew_material_presets(&count);

    assert_true(count >= 10);
    for (int i = 0; i < count; i++) {
        assert_int_equal(sinew_material_set_preset(context, presets[i].name, &def), SINEW_OK);
        assert_int_equal(sinew_check_material(context, &def), SINEW_OK);
        assert_true(def.young == presets[i].young && def.poisson == presets[i].poisson &&
                    def.density == presets[i].density);
    }

    for (int i = 0; i < ALL_CASES; i++) {
        material_case c = any_case(i);
        assert_int_equal(sinew_check_material(context, &c.def), SINEW_OK);
    }

    sinew_context_destroy(context);
}

static void test_names(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    static const char *names[] = {"linear",       "st-venant-kirchhoff", "corotational",
                                  "neo-hookean",  "stable-neo-hookean",  "mooney-rivlin",
                                  "arruda-boyce", "orthotropic",         "transverse"};

    assert_int_equal(sinew_material_law_count(), 9);
    for (int i = 0; i < 9; i++) {
        assert_string_equal(sinew_material_law_name(i), names[i]);
    }

    assert_null(sinew_material_law_name(-1));
    assert_null(sinew_material_law_name(9));

    sinew_material_def def = sinew_default_material_def();
    assert_int_equal(sinew_material_set_law(context, "st-venant-kirchhoff", &def), SINEW_OK);
    assert_true(def.law == SINEW_MATERIAL_HOOKE && def.strain == SINEW_STRAIN_GREEN);

    // The strain of anisotropic laws is the user's choice.
    assert_int_equal(sinew_material_set_law(context, "transverse", &def), SINEW_OK);
    assert_true(def.law == SINEW_MATERIAL_TRANSVERSE && def.strain == SINEW_STRAIN_GREEN);

    sinew_material_def before = def;
    assert_int_equal(sinew_material_set_law(context, "jelly", &def), SINEW_NOT_FOUND);
    assert_non_null(strstr(sinew_context_message(context), "\"jelly\""));
    assert_non_null(strstr(sinew_context_message(context), "arruda-boyce"));
    assert_int_equal(sinew_material_set_preset(context, "unobtainium", &def), SINEW_NOT_FOUND);
    assert_non_null(strstr(sinew_context_message(context), "rubber"));
    assert_true(before.law == def.law && before.young == def.young);
    sinew_context_destroy(context);
}

// Sets one field of a definition, as a test's table can.
typedef struct bad_value {
    const char *law;
    size_t offset;
    double value;
    const char *words[3]; // what the message must contain
} bad_value;

#define FIELD(name) offsetof(sinew_material_def, name)

static void test_bad_values(void **state) {
    (void)state;
    static const bad_value table[] = {
        {"linear", FIELD(young), 0, {"young is 0 Pa", "> 0"}},
        {"corotational", FIELD(young), -5, {"young is -5 Pa", "> 0"}},
        {"neo-hookean", FIELD(young), NAN, {"young is", "nan", "> 0"}},
        {"neo-hookean", FIELD(young), INFINITY, {"young is inf"}},
        {"linear", FIELD(poisson), 0.5, {"poisson is 0.5", "-1", "0.5"}},
        {"linear", FIELD(poisson), -1, {"poisson is -1", "above -1"}},
        {"linear", FIELD(poisson), NAN, {"poisson is", "nan", "above -1"}},
        {"corotational", FIELD(density), 0, {"density is 0 kg/m^3", "> 0"}},
        {"corotational", FIELD(density), -1, {"density is -1"}},
        {"corotational", FIELD(volume_stiffness), -1, {"volume_stiffness is -1 Pa", ">= 0"}},
        {"corotational", FIELD(fibre_stress), -2, {"fibre_stress is -2 Pa", ">= 0"}},
        {"mooney-rivlin", FIELD(c10), -3, {"c10 = -3 Pa", "c01 = 0 Pa", "c10 + c01 > 0"}},
        {"mooney-rivlin", FIELD(bulk), -1, {"bulk is -1 Pa"}},
        {"arruda-boyce", FIELD(chain_length), 0.5, {"chain_length is 0.5", ">= 1"}},
        {"arruda-boyce", FIELD(bulk), NAN, {"bulk is"}},
        {"orthotropic", FIELD(orthotropic.young_2), 0, {"orthotropic.young_2 is 0 Pa", "> 0"}},
        {"orthotropic", FIELD(poisson), 0.6, {"poisson is 0.6"}},
        {"transverse", FIELD(transverse.young_fibre), -1, {"transverse.young_fibre is -1 Pa"}},
        {"transverse", FIELD(transverse.shear_fibre), 0, {"transverse.shear_fibre is 0 Pa"}},
        {"transverse",
         FIELD(transverse.poisson_plane),
         1.2,
         {"transverse.poisson_plane is 1.2", "|nu_plane| < 1 (",
          "nearest valid value given poisson_fibre: 0.9818"}},
        {"transverse",
         FIELD(transverse.poisson_fibre),
         NAN,
         {"transverse.poisson_fibre is", "nan", "a finite number"}},
        {"transverse",
         FIELD(transverse.poisson_fibre),
         4,
         {"transverse.poisson_fibre is 4", "E_fibre", "1.87"}},
    };
    sinew_context *context = test_context(1);

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        sinew_material_def def = sinew_default_material_def();
        assert_int_equal(sinew_material_set_law(context, table[i].law, &def), SINEW_OK);
        memcpy((char *)&def + table[i].offset, &table[i].value, sizeof(double));
        assert_int_equal(sinew_check_material(context, &def), SINEW_INVALID_ARGUMENT);

        for (int k = 0; k < 3 && table[i].words[k]; k++) {
            if (!strstr(sinew_context_message(context), table[i].words[k])) {
                fail_msg("\"%s\" is not in \"%s\"", table[i].words[k],
                         sinew_context_message(context));
            }
        }
    }

    sinew_material_def def = sinew_default_material_def();
    def.law = (sinew_material_law)99;
    assert_int_equal(sinew_check_material(context, &def), SINEW_INVALID_ARGUMENT);
    def = sinew_default_material_def();
    def.strain = (sinew_strain)7;
    assert_int_equal(sinew_check_material(context, &def), SINEW_INVALID_ARGUMENT);
    def = sinew_default_material_def();
    def.law = SINEW_MATERIAL_CUSTOM;
    assert_int_equal(sinew_check_material(context, &def), SINEW_INVALID_ARGUMENT);
    sinew_context_destroy(context);
}

static bool is_valid(sinew_context *context, const sinew_material_def *def) {
    return sinew_check_material(context, def) == SINEW_OK;
}

// Replaces the refused value by the one that the message suggests, and checks that a value slightly
// beyond it is refused.
static void take_nearest(sinew_context *context, sinew_material_def *def, double *value,
                         double little) {
    const char *suggestion = strstr(sinew_context_message(context), "nearest valid value");
    assert_non_null(suggestion);
    double given = *value;
    double nearest;
    assert_int_equal(sscanf(strchr(suggestion, ':'), ": %lf", &nearest), 1);
    *value = nearest + copysign(little, given - nearest);
    assert_false(is_valid(context, def));
    *value = nearest;
}

// Constants of all sizes, one or several of them inadmissible: with the values that the message
// suggests they are valid.
static void test_suggestions_are_valid(void **state) {
    (void)state;
    sn_random random = sn_random_seed(103);
    sinew_context *context = test_context(1);
    int alone = 0, together = 0, plane = 0, fibre = 0, both = 0;

    for (int i = 0; i < 2000; i++) {
        sinew_material_def def = sinew_default_material_def();
        double E[3];
        for (int k = 0; k < 3; k++) {
            E[k] = pow(10, sn_random_range(&random, 3, 7));
        }

        // Ratios relative to their individual limits.
        double r[3] = {sqrt(E[0] / E[1]), sqrt(E[1] / E[2]), sqrt(E[2] / E[0])};
        double a[3];
        for (int k = 0; k < 3; k++) {
            a[k] = sn_random_range(&random, -1.2, 1.2);
        }

        // Orthotropic: one ratio is too large, or all three together.
        def.law = SINEW_MATERIAL_ORTHOTROPIC;
        def.orthotropic = (sinew_orthotropic){E[0],        E[1],        E[2], false, a[0] * r[0],
                                              a[1] * r[1], a[2] * r[2], E[0], E[1],  E[2]};

        if (!is_valid(context, &def)) {
            double *ratios[3] = {&def.orthotropic.poisson_12, &def.orthotropic.poisson_23,
                                 &def.orthotropic.poisson_31};
            const char *set = strstr(sinew_context_message(context), "same proportion:");

            if (set != NULL) {
                assert_int_equal(
                    sscanf(set, "same proportion: %lf, %lf, %lf", ratios[0], ratios[1], ratios[2]),
                    3);
                together++;
            } else {
                int k = fabs(a[0]) >= 1 ? 0 : fabs(a[1]) >= 1 ? 1 : 2;
                take_nearest(context, &def, ratios[k], 3e-4 * r[k]);
                alone++;
            }

            if (!is_valid(context, &def)) {
                fail_msg("%s", sinew_context_message(context));
            }
        }

        // Transversely isotropic: the ratio in the plane, along the fibres, or both.
        def.law = SINEW_MATERIAL_TRANSVERSE;
        def.transverse =
            (sinew_transverse){.young_fibre = E[0], .young_plane = E[1], .shear_fibre = E[2]};
        def.transverse.poisson_plane = sn_random_range(&random, -1.2, 1.2);
        def.transverse.poisson_fibre = a[0] * r[0];

        if (is_valid(context, &def)) {
            continue;
        }

        const char *with = strstr(sinew_context_message(context), "with a poisson_plane of");
        if (with != NULL) {
            both += sscanf(with, "with a poisson_plane of %lf", &def.transverse.poisson_plane);
            take_nearest(context, &def, &def.transverse.poisson_fibre, 3e-4 * r[0]);
        } else if (fabs(def.transverse.poisson_plane) >= 1) {
            take_nearest(context, &def, &def.transverse.poisson_plane, 3e-4);
            plane++;
        } else {
            take_nearest(context, &def, &def.transverse.poisson_fibre, 3e-4 * r[0]);
            fibre++;
        }

        if (!is_valid(context, &def)) {
            fail_msg("%s", sinew_context_message(context));
        }
    }

    // Every kind of suggestion occurred.
    assert_true(alone > 100 && together > 100 && plane > 100 && fibre > 100 && both > 10);
    sinew_context_destroy(context);
}

// Constants that the conditions allow but double precision does not.
static void test_constants_beyond_precision(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_material_def def = sinew_default_material_def();

    def.law = SINEW_MATERIAL_ORTHOTROPIC;
    static const double cases[][3] = {{1e308, 1e6, 0.3},
                                      {1e-320, 1e6, 0.3},
                                      {1e200, 1e200, 0.3},
                                      {1e20, 1e6, 0.3},
                                      {1e6, 1e-8, 0.3},
                                      {1e6, 1e6, 0.49999999999999994},
                                      {1e6, 1e6, -0.9999999999999999}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        def.orthotropic.young_1 = cases[i][0];
        def.orthotropic.young_2 = cases[i][1];
        def.poisson = cases[i][2];
        assert_int_equal(sinew_check_material(context, &def), SINEW_INVALID_ARGUMENT);
        assert_non_null(strstr(sinew_context_message(context), "double precision"));
    }

    // The largest admissible ratio, in any frame.
    sn_random random = sn_random_seed(107);
    for (int i = 0; i < 40; i++) {
        def.orthotropic.young_1 = i % 2 ? 1e6 : 5e17;
        def.orthotropic.young_2 = 1e6;
        def.poisson = i % 2 ? 0.5 - 1e-12 : 0.3;
        assert_true(is_valid(context, &def));
        sn_mat3 frame = random_rotation(&random);
        sample s = make_sample(&def, &frame, SN_ISA_BASE);

        for (int k = 0; k < s.material.parameter_count; k++) {
            assert_true(isfinite(s.parameters[k]));
        }
    }

    sinew_context_destroy(context);
}

// The suggested values are valid, and only just.
static void test_nearest_valid_constants(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_material_def def = sinew_default_material_def();

    def.law = SINEW_MATERIAL_ORTHOTROPIC;
    def.orthotropic.four_parameters = false;
    def.orthotropic.young_1 = 4e6;
    def.orthotropic.poisson_12 = 2.5; // the limit is sqrt(4) = 2
    def.orthotropic.poisson_23 = def.orthotropic.poisson_31 = 0;
    assert_false(is_valid(context, &def));
    assert_non_null(strstr(sinew_context_message(context), "|nu_12| < sqrt(E_1/E_2) = 2"));
    take_nearest(context, &def, &def.orthotropic.poisson_12, 1e-3);
    assert_true(is_valid(context, &def));

    // Four parameters.
    def.orthotropic.four_parameters = true;
    for (int side = -1; side <= 1; side += 2) {
        def.poisson = side * 1.5;
        assert_false(is_valid(context, &def));
        take_nearest(context, &def, &def.poisson, 2e-4);
        assert_true(is_valid(context, &def));
    }

    // Each ratio by itself is admissible, all three together are not.
    def.orthotropic = (sinew_orthotropic){1, 1, 1, false, 0.8, 0.8, 0.8, 1, 1, 1};
    assert_int_equal(sinew_check_material(context, &def), SINEW_INVALID_ARGUMENT);

    double a, b, c;
    const char *suggestion = strstr(sinew_context_message(context), "same proportion:");

    assert_non_null(suggestion);
    assert_int_equal(sscanf(suggestion, "same proportion: %lf, %lf, %lf", &a, &b, &c), 3);
    test_close("equal ratios are stable below a half", a, 0.5, 1e-4);
    def.orthotropic.poisson_12 = a;
    def.orthotropic.poisson_23 = b;
    def.orthotropic.poisson_31 = c;
    assert_int_equal(sinew_check_material(context, &def), SINEW_OK);
    sinew_context_destroy(context);
}

// The four-parameter form is stable for every ratio and any moduli.
static void test_four_parameters(void **state) {
    (void)state;
    sn_random random = sn_random_seed(97);
    for (int i = 0; i < 200; i++) {
        sinew_material_def def = sinew_default_material_def();
        def.law = SINEW_MATERIAL_ORTHOTROPIC;
        def.poisson = sn_random_range(&random, -0.99, 0.499);
        def.orthotropic.young_1 = pow(10, sn_random_range(&random, -3, 3));
        def.orthotropic.young_2 = pow(10, sn_random_range(&random, -3, 3));

        sinew_context *context = test_context(1);
        assert_int_equal(sinew_check_material(context, &def), SINEW_OK);
        sinew_context_destroy(context);

        sample s = make_sample(&def, NULL, SN_ISA_BASE);
        for (int k = 0; k < s.material.parameter_count; k++) {
            assert_true(isfinite(s.parameters[k]));
        }
    }
}

// A law supplied by the caller: psi = c/2 |F - I|^2 along the first material axis.
static void spring_law(void *user, const double F[9], const double frame[9], double *energy,
                       double *P, double *H) {
    double c = *(const double *)user;
    double x[3];
    for (int i = 0; i < 3; i++) {
        x[i] = -frame[3 * i];
        for (int j = 0; j < 3; j++) {
            x[i] += F[3 * i + j] * frame[3 * j];
        }
    }

    if (energy) {
        *energy = 0.5 * c * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    }

    for (int a = 0; a < 9; a++) {
        if (P) {
            P[a] = c * x[a / 3] * frame[3 * (a % 3)];
        }
        if (H) {
            for (int b = 0; b < 9; b++) {
                H[9 * a + b] = a / 3 == b / 3 ? c * frame[3 * (a % 3)] * frame[3 * (b % 3)] : 0;
            }
        }
    }
}

static void test_custom_law(void **state) {
    (void)state;
    double c = 3;
    sinew_material_def def = sinew_default_material_def();

    def.law = SINEW_MATERIAL_CUSTOM;
    def.custom = (sinew_custom_material){spring_law, &c};
    def.volume_stiffness = 0.4;

    sn_random random = sn_random_seed(101);
    sn_mat3 frame = random_rotation(&random);
    sn_mat3 F = stretched(&random, 1.4, 1.1, 0.5);
    sample s = make_sample(&def, &frame, sn_isa_detect());
    sn_vec3 a = sn_mat3_column(frame, 0);
    sn_vec3 x = sn_sub(sn_mat3_apply(F, a), a);
    double J = sn_mat3_det(F);

    test_close("energy", energy_at(&s, F), 1.5 * sn_dot(x, x) + 0.2 * (J - 1) * (J - 1), 1e-14);
    sn_mat3 P = sn_mat3_add(sn_mat3_scale(3, sn_outer(x, a)),
                            sn_mat3_scale(0.4 * (J - 1), sn_mat3_cofactor(F)));

    test_close("stress", sn_mat3_norm(sn_mat3_sub(stress_at(&s, F), P)), 0, 1e-14);
    sn_mat3 dF = random_matrix(&random, 1);
    double h = 1e-5;
    sn_mat3 up = stress_at(&s, sn_mat3_add(F, sn_mat3_scale(h, dF)));
    sn_mat3 down = stress_at(&s, sn_mat3_sub(F, sn_mat3_scale(h, dF)));
    sn_mat3 dP = material_differential(&s.material, s.parameters, F, dF, false);

    test_close("tangent",
               sn_mat3_norm(sn_mat3_sub(sn_mat3_scale(0.5 / h, sn_mat3_sub(up, down)), dP)), 0,
               1e-8);
    assert_true(sn_mat3_contract(material_differential(&s.material, s.parameters, F, dF, true),
                                 dF) > -1e-12);
}

// One modulus of every kind of law, by hand.
static void test_young(void **state) {
    (void)state;
    sinew_material_def def = sinew_default_material_def();

    def.young = 7;
    test_close("isotropic", sinew_material_get_young(&def), 7, 0);
    def.law = SINEW_MATERIAL_MOONEY_RIVLIN;
    test_close("Mooney-Rivlin from young", sinew_material_get_young(&def), 7, 0);
    def.c10 = 2;
    def.c01 = 0.5;
    test_close("Mooney-Rivlin", sinew_material_get_young(&def), 15, 0);

    def.law = SINEW_MATERIAL_ORTHOTROPIC;
    def.orthotropic.young_1 = 1;
    def.orthotropic.young_2 = 8;
    def.orthotropic.young_3 = 27;
    test_close("orthotropic", sinew_material_get_young(&def), 6, 1e-14);

    def.law = SINEW_MATERIAL_TRANSVERSE;
    def.transverse.young_fibre = 64;
    def.transverse.young_plane = 8;
    test_close("transverse", sinew_material_get_young(&def), 16, 1e-14);
}

// Uniaxial stress and pure shear.
static void test_von_mises(void **state) {
    (void)state;
    const double uniaxial[6] = {0, -3, 0, 0, 0, 0};
    const double pressure[6] = {2, 2, 2, 0, 0, 0};
    const double shear[6] = {0, 0, 0, 0, 2, 0};

    test_close("uniaxial", sn_von_mises(uniaxial), 3, 1e-15);
    test_close("pressure", sn_von_mises(pressure), 0, 0);
    test_close("shear", sn_von_mises(shear), 2 * sqrt(3.0), 1e-14);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_valid),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_bad_values),
        cmocka_unit_test(test_nearest_valid_constants),
        cmocka_unit_test(test_suggestions_are_valid),
        cmocka_unit_test(test_constants_beyond_precision),
        cmocka_unit_test(test_four_parameters),
        cmocka_unit_test(test_custom_law),
        cmocka_unit_test(test_young),
        cmocka_unit_test(test_von_mises),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
