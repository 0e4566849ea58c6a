// Properties of every law: no energy and stress at rest, frame indifference, a semi-definite
// projection that does not change definite tangents, and the same numbers from every instruction
// set and in every lane.
#include "cases.h"

#include "math/dense.h"

static bool is_infinitesimal(const sinew_material_def *def) {
    bool linear = def->law == SINEW_MATERIAL_HOOKE || def->law == SINEW_MATERIAL_ORTHOTROPIC ||
                  def->law == SINEW_MATERIAL_TRANSVERSE;
    return linear && def->strain == SINEW_STRAIN_INFINITESIMAL;
}

static double norm81(const double *A) {
    double sum = 0;
    for (int i = 0; i < 81; i++) {
        sum += A[i] * A[i];
    }
    return sqrt(sum);
}

static double distance81(const double *A, const double *B) {
    double D[81];
    for (int i = 0; i < 81; i++) {
        D[i] = A[i] - B[i];
    }
    return norm81(D);
}

static void test_rest(void **state) {
    (void)state;
    sn_random random = sn_random_seed(31);
    for (int i = 0; i < ALL_CASES; i++) {
        material_case c = any_case(i);
        c.def.fibre_stress = 0; // contracted fibres are not at rest

        sn_mat3 frame = random_rotation(&random);
        sample s = make_sample(&c.def, &frame, sn_isa_detect());
        for (int trial = 0; trial < 20; trial++) {
            bool turned = trial > 0 && !is_infinitesimal(&c.def);
            sn_mat3 F = turned ? random_rotation(&random) : sn_mat3_identity();
            // The modulus is about 1, so these are ulps.
            test_close(c.name, energy_at(&s, F), 0, 1e-15);
            test_close(c.name, sn_mat3_norm(stress_at(&s, F)), 0, 4e-14);
        }
    }
}

// psi(Q F) = psi(F), P(Q F) = Q P(F); for isotropic solids also psi(F Q) = psi(F), P(F Q) = P(F) Q.
static void test_indifference(void **state) {
    (void)state;
    sn_random random = sn_random_seed(37);
    for (int i = 0; i < ALL_CASES; i++) {
        material_case c = any_case(i);
        if (is_infinitesimal(&c.def)) {
            continue;
        }

        sample s = make_sample(&c.def, NULL, sn_isa_detect());
        for (int k = 0; k < TEST_STATES; k++) {
            sn_mat3 F = test_state_F(&random, k);
            sn_mat3 Q = random_rotation(&random);
            sn_mat3 P = stress_at(&s, F);
            double psi = energy_at(&s, F);
            double scale = fmax(sn_mat3_norm(P), 1);

            test_close(c.name, energy_at(&s, sn_mat3_mul(Q, F)), psi, 1e-12 * fmax(psi, 1));
            sn_mat3 turned = stress_at(&s, sn_mat3_mul(Q, F));

            test_close(c.name, sn_mat3_norm(sn_mat3_sub(turned, sn_mat3_mul(Q, P))) / scale, 0,
                       1e-12);

            // No torque: P F' is symmetric.
            sn_mat3 T = sn_mat3_mul(P, sn_mat3_transpose(F));

            test_close(c.name, sn_mat3_norm(sn_mat3_sub(T, sn_mat3_transpose(T))) / scale, 0,
                       1e-12);
            if (i >= ISOTROPIC_CASES) {
                continue;
            }

            turned = stress_at(&s, sn_mat3_mul(F, Q));
            test_close(c.name, sn_mat3_norm(sn_mat3_sub(turned, sn_mat3_mul(P, Q))) / scale, 0,
                       1e-12);
        }
    }
}

// The thesis's form of the anisotropic corotational stress has a torque; the test above must detect
// it.
static void test_fixed_rotation_makes_torque(void **state) {
    (void)state;
    sn_random random = sn_random_seed(41);
    material_case c = anisotropic_case(2);
    c.def.exact_rotation = false;
    sample s = make_sample(&c.def, NULL, sn_isa_detect());
    sn_mat3 F = stretched(&random, 1.4, 1.1, 0.8);
    sn_mat3 T = sn_mat3_mul(stress_at(&s, F), sn_mat3_transpose(F));
    assert_true(sn_mat3_norm(sn_mat3_sub(T, sn_mat3_transpose(T))) > 1e-2 * sn_mat3_norm(T));
}

static void check_projection(const material_case *c, const sample *s, sn_mat3 F, int *definite,
                             int *indefinite) {
    double H[81], projected[81], clamped[81], values[9], V[81];
    sn_material_tangent(H, &s->material, s->parameters, F, false);
    sn_material_tangent(projected, &s->material, s->parameters, F, true);

    double scale = norm81(H);
    sn_eigen_symmetric(values, V, projected, 9);
    if (!(values[8] > -1e-9 * scale)) {
        fail_msg("%s: projected tangent has the eigenvalue %g (scale %g)", c->name, values[8],
                 scale);
    }

    sn_eigen_symmetric(values, V, H, 9);
    if (values[8] > -1e-13 * scale) {
        (*definite)++;
        test_close(c->name, distance81(H, projected) / scale, 0, 1e-10);
    } else {
        (*indefinite)++;

        // Isotropic laws: the nearest semi-definite tangent, as obtained by clamping eigenvalues.
        if (c->def.law <= SINEW_MATERIAL_ARRUDA_BOYCE && !is_infinitesimal(&c->def)) {
            memcpy(clamped, H, sizeof H);
            sn_clamp_semidefinite(clamped, 9);
            test_close(c->name, distance81(clamped, projected) / scale, 0, 1e-9);
        }
    }
}

static void test_projection(void **state) {
    (void)state;
    sn_random random = sn_random_seed(43);
    for (int i = 0; i < ALL_CASES; i++) {
        material_case c = any_case(i);
        sn_mat3 frame = random_rotation(&random);

        c.def.fibre_stress = 0; // fibres are added after the projection
        sample s = make_sample(&c.def, &frame, sn_isa_detect());
        int definite = 0, indefinite = 0;

        for (int k = 0; k < TEST_STATES; k++) {
            check_projection(&c, &s, test_state_F(&random, k), &definite, &indefinite);
        }

        for (int k = 0; k < 100; k++) {
            sn_mat3 F =
                sn_mat3_add(random_rotation(&random), random_matrix(&random, k < 50 ? 0.1 : 1));
            check_projection(&c, &s, F, &definite, &indefinite);
            double a = sn_random_range(&random, 1, 1.2);
            double b = sn_random_range(&random, 1, 1.2);
            double d = sn_random_range(&random, 1, 1.2);
            check_projection(&c, &s, stretched(&random, a, b, d), &definite, &indefinite);
        }

        assert_true(definite > 5);
        assert_true(indefinite > 5 || (is_infinitesimal(&c.def) && c.def.volume_stiffness == 0));
    }
}

typedef struct block_data {
    double F[9 * SN_BLOCK] SN_ALIGNED, parameters[SN_MATERIAL_MAX_PARAMETERS * SN_BLOCK] SN_ALIGNED;
    double psi[SN_BLOCK] SN_ALIGNED, P[9 * SN_BLOCK] SN_ALIGNED,
        H[SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;
} block_data;

static void evaluate(block_data *b, const sn_material *material, int want) {
    sn_material_evaluate(material, want, &(sn_material_block){b->F, b->parameters},
                         &(sn_material_result){.psi = b->psi, .P = b->P, .H = b->H});
}

// Two blocks at once give the same result as each block alone, up to the order of roundings that
// the compiler chose.
static void check_pair(const char *name, const sn_material *material, int want,
                       const block_data alone[2]) {
    block_data b[2] = {alone[0], alone[1]};
    for (int k = 0; k < 2; k++) {
        memset(b[k].psi, 0, sizeof b[k].psi);
        memset(b[k].P, 0, sizeof b[k].P);
        memset(b[k].H, 0, sizeof b[k].H);
    }

    const sn_material_block in[2] = {{b[0].F, b[0].parameters}, {b[1].F, b[1].parameters}};
    const sn_material_result out[2] = {{b[0].psi, b[0].P, b[0].H, NULL},
                                       {b[1].psi, b[1].P, b[1].H, NULL}};

    sn_material_evaluate_pair(material, want, in, out);
    for (int k = 0; k < 2; k++) {
        for (int lane = 0; lane < SN_BLOCK; lane++) {
            double difference = 0, scale = 0;
            for (int i = 0; i < SN_MATERIAL_H_COUNT; i++) {
                int place = i * SN_BLOCK + lane;
                difference = fmax(difference, fabs(b[k].H[place] - alone[k].H[place]));
                scale = fmax(scale, fabs(alone[k].H[place]));
                if (i < 9) {
                    difference = fmax(difference, fabs(b[k].P[place] - alone[k].P[place]));
                }
            }

            difference = fmax(difference, fabs(b[k].psi[lane] - alone[k].psi[lane]));
            test_close(name, difference / scale, 0, 1e-12);
        }
    }
}

// Different samples with different parameters in every lane; each lane gives the same result as the
// sample alone, in every instruction set.
static void check_lanes(const material_case *c, sn_isa isa, int want) {
    sn_random random = sn_random_seed(47);
    block_data blocks[2] = {0};
    for (int block = 0; block < 12; block++) {
        block_data b = {0};
        sn_mat3 F[SN_BLOCK];
        sample s[SN_BLOCK];

        // A different sample in every lane.
        for (int lane = 0; lane < SN_BLOCK; lane++) {
            sinew_material_def def = c->def;
            def.young *= 1 + 0.1 * lane;
            def.poisson = 0.1 + 0.04 * lane;
            def.fibre_stress *= lane % 3;

            sn_mat3 frame = random_rotation(&random);
            s[lane] = make_sample(&def, &frame, SN_ISA_BASE);
            F[lane] = block < 8 ? sn_mat3_add(random_rotation(&random), random_matrix(&random, 0.3))
                                : test_state_F(&random, 2 + (block + lane) % (TEST_STATES - 2));

            for (int i = 0; i < 9; i++) {
                b.F[i * SN_BLOCK + lane] = F[lane].m[i / 3][i % 3];
            }

            for (int i = 0; i < s[lane].material.parameter_count; i++) {
                b.parameters[i * SN_BLOCK + lane] = s[lane].parameters[i];
            }
        }

        sn_material material = sn_material_prepare(&c->def, SN_PLANE_NONE, isa);
        evaluate(&b, &material, SN_MATERIAL_ENERGY | SN_MATERIAL_STRESS | want);

        // Compare every lane with the sample alone.
        for (int lane = 0; lane < SN_BLOCK; lane++) {
            double H[81], alone[81];
            sn_mat3 P;
            sn_mat3 expected = stress_at(&s[lane], F[lane]);

            sn_material_tangent(alone, &s[lane].material, s[lane].parameters, F[lane],
                                want == SN_MATERIAL_PROJECTED);
            for (int i = 0; i < 9; i++) {
                P.m[i / 3][i % 3] = b.P[i * SN_BLOCK + lane];
            }

            for (int i = 0; i < 81; i++) {
                H[i] = b.H[sn_sym9(i / 9, i % 9) * SN_BLOCK + lane];
            }

            double psi = energy_at(&s[lane], F[lane]);
            double plain[81];

            sn_material_tangent(plain, &s[lane].material, s[lane].parameters, F[lane], false);
            double scale = norm81(plain);

            test_close(c->name, b.psi[lane] / scale, psi / scale, 1e-12);
            test_close(c->name, sn_mat3_norm(sn_mat3_sub(P, expected)) / scale, 0, 1e-12);
            test_close(c->name, distance81(H, alone) / scale, 0, 1e-12);
        }

        // Compare two blocks at once with single ones.
        blocks[block % 2] = b;
        if (block % 2) {
            check_pair(c->name, &material, SN_MATERIAL_ENERGY | SN_MATERIAL_STRESS | want, blocks);
        }
    }
}

static void test_instruction_sets(void **state) {
    (void)state;
    for (int i = 0; i < ALL_CASES; i++) {
        material_case c = any_case(i);
        for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
            if (!sn_isa_available(isa)) {
                continue;
            }
            check_lanes(&c, isa, SN_MATERIAL_STIFFNESS);
            check_lanes(&c, isa, SN_MATERIAL_PROJECTED);
        }
    }
}

// A kernel writes only the requested outputs.
static void test_only_what_is_wanted(void **state) {
    (void)state;
    for (int i = 0; i < ALL_CASES; i++) {
        material_case c = any_case(i);
        sn_mat3 I = sn_mat3_identity();
        sample s = make_sample(&c.def, &I, sn_isa_detect());

        for (int want = 1; want < 16; want++) {
            if ((want & 12) == 12) {
                continue;
            }

            block_data b = {0};
            for (int lane = 0; lane < SN_BLOCK; lane++) {
                for (int k = 0; k < 9; k++) {
                    b.F[k * SN_BLOCK + lane] = (k % 4 == 0) + 0.1 * k;
                }
                for (int k = 0; k < s.material.parameter_count; k++) {
                    b.parameters[k * SN_BLOCK + lane] = s.parameters[k];
                }
            }

            for (int k = 0; k < SN_MATERIAL_H_COUNT * SN_BLOCK; k++) {
                b.H[k] = -77;
            }

            for (int k = 0; k < 9 * SN_BLOCK; k++) {
                b.P[k] = -77;
            }

            for (int k = 0; k < SN_BLOCK; k++) {
                b.psi[k] = -77;
            }

            evaluate(&b, &s.material, want);
            for (int k = 0; k < SN_BLOCK; k++) {
                assert_int_equal(b.psi[k] == -77, !(want & SN_MATERIAL_ENERGY));
            }

            for (int k = 0; k < 9 * SN_BLOCK; k++) {
                assert_int_equal(b.P[k] == -77, !(want & SN_MATERIAL_STRESS));
            }

            for (int k = 0; k < SN_MATERIAL_H_COUNT * SN_BLOCK; k++) {
                assert_int_equal(b.H[k] == -77,
                                 !(want & (SN_MATERIAL_STIFFNESS | SN_MATERIAL_PROJECTED)));
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_indifference),
        cmocka_unit_test(test_fixed_rotation_makes_torque),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_only_what_is_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
