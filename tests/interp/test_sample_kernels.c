// The kernels of sample blocks compared with plain sums over controls, for every instruction set.
#include "support/test.h"

#include "interp/samples.h"

#include <math.h>

enum { SAMPLES = 21, CONTROLS = 41, MAX_WIDTH = 30 }; // three blocks, the last with padding

typedef struct problem {
    sinew_context *context;
    sn_arena arena;
    int32_t width;
    int32_t control[SAMPLES * MAX_WIDTH];
    sn_vec3 gradient[SAMPLES * MAX_WIDTH];
    double volume[SAMPLES];
    sn_bsr pattern;
    sn_samples samples;
    double a[3 * CONTROLS];
} problem;

static sn_vec3 random_vector(sn_random *random) {
    return sn_v3(sn_random_range(random, -1, 1), sn_random_range(random, -1, 1),
                 sn_random_range(random, -1, 1));
}

// Samples of the same `run` share their controls.
static void make_problem(problem *p, int32_t width, int run, bool tets) {
    sn_random random = sn_random_seed(5);
    *p = (problem){.context = test_context(1), .width = width};
    p->arena = sn_arena_create(p->context);

    for (int s = 0; s < SAMPLES; s++) {
        p->volume[s] = sn_random_range(&random, 0.5, 2);
        sn_vec3 sum = {0, 0, 0};
        for (int c = 0; c < width; c++) {
            // Distinct, not ascending.
            p->control[s * width + c] = (5 * (s / run) + 8 * c) % CONTROLS;
            sn_vec3 g = random_vector(&random);
            p->gradient[s * width + c] = tets && c == 3 ? sn_scale(-1, sum) : g;
            sum = sn_add(sum, g);
        }
    }

    for (int i = 0; i < 3 * CONTROLS; i++) {
        p->a[i] = sn_random_range(&random, -1, 1);
    }

    sn_bsr_sets sets = {.count = SAMPLES, .width = width, .members = p->control};
    assert_int_equal(sn_bsr_build(&p->arena, CONTROLS, &sets, 1, &p->pattern), SINEW_OK);

    sn_samples_input input = {.count = SAMPLES,
                              .width = width,
                              .control = p->control,
                              .gradient = p->gradient,
                              .volume = p->volume,
                              .control_count = CONTROLS,
                              .tets = tets};

    assert_int_equal(sn_samples_pack(&p->arena, &input, &p->samples), SINEW_OK);
    assert_int_equal(sn_samples_map(&p->arena, &p->samples, &p->pattern), SINEW_OK);
}

static void free_problem(problem *p) {
    sn_arena_destroy(&p->arena);
    sinew_context_destroy(p->context);
}

static void fill(double *x, int count, sn_random *random) {
    for (int k = 0; k < count; k++) {
        x[k] = sn_random_range(random, -1, 1);
    }
}

static double component(sn_vec3 v, int i) {
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

// A += V g_c H g_d on the lower triangle, control by control, of the dense matrix of one sample's
// H.
static void add_plain_stiffness(double *A, const problem *p, int s, double H[9][9]) {
    for (int c = 0; c < p->width; c++) {
        for (int d = 0; d < p->width; d++) {
            int32_t row = p->control[s * p->width + c];
            int32_t column = p->control[s * p->width + d];
            if (column > row) {
                continue;
            }

            double *block = A + 9 * (size_t)sn_bsr_find(&p->pattern, row, column);
            for (int e = 0; e < 81; e++) {
                int i = e / 27;
                int j = e / 9 % 3;
                int k = e / 3 % 3;
                int l = e % 3;
                block[3 * i + k] += p->volume[s] * component(p->gradient[s * p->width + c], j) *
                                    H[3 * i + j][3 * k + l] *
                                    component(p->gradient[s * p->width + d], l);
            }
        }
    }
}

static void check_stiffness(int32_t width, int run, bool tets) {
    problem p;
    make_problem(&p, width, run, tets);

    sn_random random = sn_random_seed(6);
    double *A = sn_bsr_push_values(&p.arena, &p.pattern);
    double *expected = sn_bsr_push_values(&p.arena, &p.pattern);

    double H[3][SN_MATERIAL_H_COUNT * SN_BLOCK] SN_ALIGNED;
    size_t count = 9 * (size_t)p.pattern.blocks;

    fill(&H[0][0], 3 * SN_MATERIAL_H_COUNT * SN_BLOCK, &random);
    for (int s = 0; s < SAMPLES; s++) {
        double full[9][9];
        for (int k = 0; k < 81; k++) {
            full[k / 9][k % 9] = H[s / SN_BLOCK][sn_sym9(k / 9, k % 9) * SN_BLOCK + s % SN_BLOCK];
        }
        add_plain_stiffness(expected, &p, s, full);
    }

    for (sn_isa isa = 0; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        for (int prefetch = 0; prefetch < 2; prefetch++) {
            p.samples.prefetch = prefetch != 0;
            memset(A, 0, count * sizeof *A);
            for (int32_t block = 0; block < p.samples.blocks; block++) {
                SN_ISA_PICK(isa, sn_samples_add_stiffness)(A, &p.samples, block, H[block]);
            }

            if (tets) {
                sn_bsr_close_diagonal(p.context, &p.pattern, A);
            }

            assert_true(test_relative_error(A, expected, count) < 1e-14);
        }
    }

    free_problem(&p);
}

static void test_stiffness(void **state) {
    (void)state;
    check_stiffness(4, 1, true);
    check_stiffness(4, 1, false);

    // Through the middle of blocks and over their ends.
    for (int run = 1; run <= SAMPLES; run += 2) {
        check_stiffness(3, run, false);
        check_stiffness(12, run, false);
        check_stiffness(17, run, false);
        check_stiffness(30, run, false);
    }
}

// The plain tangent that a rotated one represents: the derivative of s F + lambda tr(R'F) R + [N w]
// R by its definition.
static void expand_rotated(double H[9][9], const double *form) {
    double s = form[SN_ROTATED_SCALE * SN_BLOCK];
    double lambda = form[SN_ROTATED_LAMBDA * SN_BLOCK];
    const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    sn_mat3 R, N;

    for (int e = 0; e < 9; e++) {
        R.m[e / 3][e % 3] = form[(SN_ROTATED_R + e) * SN_BLOCK];
        N.m[e / 3][e % 3] = form[(SN_ROTATED_N + place[e / 3][e % 3]) * SN_BLOCK];
    }

    for (int b = 0; b < 9; b++) {
        sn_mat3 dF = {{{0}}};
        dF.m[b / 3][b % 3] = 1;

        sn_vec3 w = {0, 0, 0};
        for (int j = 0; j < 3; j++) {
            w = sn_add(w, sn_cross(sn_mat3_column(R, j), sn_mat3_column(dF, j)));
        }

        sn_mat3 turn = sn_mat3_mul(sn_cross_matrix(sn_mat3_apply(N, w)), R);
        for (int a = 0; a < 9; a++) {
            H[a][b] = s * dF.m[a / 3][a % 3] + lambda * R.m[b / 3][b % 3] * R.m[a / 3][a % 3] +
                      turn.m[a / 3][a % 3];
        }
    }
}

// The same in the axes of R: K[3 a + j][3 c + l], or the constants of a solid with axes, for which
// each strain of R'dF is one of six.
static void expand_turned(double H[9][9], const double *form, bool exact) {
    const int voigt[3][3] = {{0, 5, 4}, {5, 1, 3}, {4, 3, 2}};
    const int place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    double R[3][3];

    for (int e = 0; e < 9; e++) {
        R[e / 3][e % 3] = form[(SN_ROTATION_R + e) * SN_BLOCK];
    }

    memset(H, 0, 81 * sizeof(double));
    for (int k = 0; k < 81; k++) {
        int a = k / 27;
        int j = k / 9 % 3;
        int c = k / 3 % 3;
        int l = k % 3;
        int v = voigt[a][j];
        int u = voigt[c][l];
        double value = 0;

        if (exact) {
            value = form[sn_sym9(3 * a + j, 3 * c + l) * SN_BLOCK];
        } else if (v < 3 && u < 3) {
            value = form[(SN_HELD_NORMAL + place[v][u]) * SN_BLOCK];
        } else if (v == u) {
            value = form[(SN_HELD_SHEAR + v - 3) * SN_BLOCK];
        }

        for (int e = 0; e < 9; e++) {
            H[3 * (e / 3) + j][3 * (e % 3) + l] += R[e / 3][a] * R[e % 3][c] * value;
        }
    }
}

static void expand(double H[9][9], const double *numbers, sn_tangent_form form) {
    if (form == SN_TANGENT_ROTATED) {
        expand_rotated(H, numbers);
    }
    if (form == SN_TANGENT_HELD) {
        expand_turned(H, numbers, false);
    }
    if (form == SN_TANGENT_EXACT) {
        expand_turned(H, numbers, true);
    }
}

static sn_samples_stiffness_fn *kernel_of(sn_tangent_form form, sn_isa isa) {
    if (form == SN_TANGENT_HELD) {
        return SN_ISA_PICK(isa, sn_samples_add_held);
    }
    if (form == SN_TANGENT_EXACT) {
        return SN_ISA_PICK(isa, sn_samples_add_exact);
    }

    return SN_ISA_PICK(isa, sn_samples_add_rotated);
}

static void check_form(sn_tangent_form form) {
    problem p;
    make_problem(&p, 4, 1, true);

    sn_random random = sn_random_seed(7);
    double *A = sn_bsr_push_values(&p.arena, &p.pattern);
    double *expected = sn_bsr_push_values(&p.arena, &p.pattern);

    double H[3][SN_TANGENT_COUNT * SN_BLOCK] SN_ALIGNED;
    size_t count = 9 * (size_t)p.pattern.blocks;

    fill(&H[0][0], 3 * SN_TANGENT_COUNT * SN_BLOCK, &random);
    for (int s = 0; s < SAMPLES; s++) {
        double full[9][9];
        expand(full, H[s / SN_BLOCK] + s % SN_BLOCK, form);
        add_plain_stiffness(expected, &p, s, full);
    }

    for (sn_isa isa = 0; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        memset(A, 0, count * sizeof *A);
        for (int32_t block = 0; block < p.samples.blocks; block++) {
            kernel_of(form, isa)(A, &p.samples, block, H[block]);
        }

        sn_bsr_close_diagonal(p.context, &p.pattern, A);
        assert_true(test_relative_error(A, expected, count) < 1e-14);
    }

    free_problem(&p);
}

static void test_forms(void **state) {
    (void)state;
    check_form(SN_TANGENT_ROTATED);
    check_form(SN_TANGENT_HELD);
    check_form(SN_TANGENT_EXACT);
}

// A law gives the same tangent in both forms, at ordinary, large and inverted stretches.
static void check_law(const sinew_material_def *def, sn_tangent_form expected_form, sn_isa isa) {
    sn_random random = sn_random_seed(9);
    for (int round = 0; round < 60; round++) {
        sn_material material = sn_material_prepare(def, SN_PLANE_NONE, isa);
        double one[SN_MATERIAL_MAX_PARAMETERS],
            parameters[SN_MATERIAL_MAX_PARAMETERS * SN_BLOCK] SN_ALIGNED;

        double F[9 * SN_BLOCK] SN_ALIGNED, H[2][SN_TANGENT_COUNT * SN_BLOCK] SN_ALIGNED;
        sn_material_parameters(one, &material, def, NULL);
        for (int k = 0; k < material.parameter_count * SN_BLOCK; k++) {
            parameters[k] = one[k / SN_BLOCK];
        }

        for (int k = 0; k < 9 * SN_BLOCK; k++) {
            F[k] =
                (k / SN_BLOCK % 4 == 0) + sn_random_range(&random, -1, 1) * (round % 3 == 0   ? 0.05
                                                                             : round % 3 == 1 ? 0.5
                                                                                              : 2);
        }

        int want = round % 2 ? SN_MATERIAL_PROJECTED : SN_MATERIAL_STIFFNESS;
        sn_tangent_form form = SN_TANGENT_FULL;

        sn_material_evaluate(&material, want, &(sn_material_block){F, parameters},
                             &(sn_material_result){.H = H[0]});
        material.own_axes = true;
        sn_material_evaluate(&material, want, &(sn_material_block){F, parameters},
                             &(sn_material_result){.H = H[1], .form = &form});
        assert_int_equal(form, expected_form);

        for (int lane = 0; lane < SN_BLOCK; lane++) {
            double full[9][9], expected[9][9];
            expand(full, H[1] + lane, form);
            for (int k = 0; k < 81; k++) {
                expected[k / 9][k % 9] = H[0][sn_sym9(k / 9, k % 9) * SN_BLOCK + lane];
            }

            double error = test_relative_error(&full[0][0], &expected[0][0], 81);
            if (!(error < 1e-12)) {
                fail_msg("form %d, round %d: off by %g", form, round, error);
            }
        }
    }
}

static void test_forms_of_laws(void **state) {
    (void)state;
    for (sn_isa isa = 0; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        sinew_material_def def = sinew_default_material_def();
        check_law(&def, SN_TANGENT_ROTATED, isa);
        def.law = SINEW_MATERIAL_TRANSVERSE;
        check_law(&def, SN_TANGENT_EXACT, isa);
        def.law = SINEW_MATERIAL_ORTHOTROPIC;
        def.orthotropic = (sinew_orthotropic){2e6, 1e6, 4e6, false, 0.3, 0.2, 0.4, 9e5, 3e5, 5e5};
        check_law(&def, SN_TANGENT_EXACT, isa);
        def.exact_rotation = false;
        check_law(&def, SN_TANGENT_HELD, isa);
    }
}

static void check_F_and_force(int32_t width, int run) {
    problem p;
    make_problem(&p, width, run, false);

    sn_random random = sn_random_seed(8);
    double P[3][9 * SN_BLOCK] SN_ALIGNED, expected_F[9 * SAMPLES] = {0},
                                                         expected_f[3 * CONTROLS] = {0};
    fill(&P[0][0], 3 * 9 * SN_BLOCK, &random);

    for (int k = 0; k < SAMPLES * width * 9; k++) {
        int s = k / 9 / width;
        int c = k / 9 % width;
        int i = k / 3 % 3;
        int j = k % 3;
        int32_t control = p.control[s * width + c];
        double g = component(p.gradient[s * width + c], j);
        expected_F[9 * s + 3 * i + j] += p.a[3 * control + i] * g;
        expected_f[3 * control + i] -=
            p.volume[s] * P[s / SN_BLOCK][(3 * i + j) * SN_BLOCK + s % SN_BLOCK] * g;
    }

    for (sn_isa isa = 0; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        double F[9 * SN_BLOCK] SN_ALIGNED, found[9 * SAMPLES], f[3 * CONTROLS] = {0};
        for (int s = 0; s < SAMPLES; s++) {
            if (s % SN_BLOCK == 0) {
                SN_ISA_PICK(isa, sn_samples_compute_F)(F, &p.samples, s / SN_BLOCK, p.a);
            }

            if (s % SN_BLOCK == 0) {
                SN_ISA_PICK(isa, sn_samples_add_force)
                (f, &p.samples, s / SN_BLOCK, P[s / SN_BLOCK]);
            }

            for (int i = 0; i < 9; i++) {
                found[9 * s + i] = F[i * SN_BLOCK + s % SN_BLOCK];
            }
        }

        assert_true(test_relative_error(found, expected_F, 9 * SAMPLES) < 1e-14);
        assert_true(test_relative_error(f, expected_f, 3 * CONTROLS) < 1e-14);
    }

    free_problem(&p);
}

static void test_F_and_force(void **state) {
    (void)state;
    for (int32_t width = 3; width <= MAX_WIDTH; width++) {
        check_F_and_force(width, 1 + width % SAMPLES);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stiffness),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_forms_of_laws),
        cmocka_unit_test(test_F_and_force),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
