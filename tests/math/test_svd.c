// Singular values and polar decomposition, scalar and of every instruction set: residual,
// orthonormality, order and sign, on random, reflected, rank-deficient, repeated, huge and tiny
// matrices.
#include "support/test.h"

#include "math/decompose.h"
#include "math/eigen3.h"
#include "math/quat.h"
#include "math/simd.h"
#include "math/svd.h"

#include <stdio.h>

enum { KINDS = 14 };

static sn_mat3 random_matrix(sn_random *random) {
    sn_mat3 A;
    for (int i = 0; i < 9; i++) {
        A.m[i / 3][i % 3] = sn_random_range(random, -1, 1);
    }
    return A;
}

static sn_mat3 random_rotation(sn_random *random) {
    sn_vec3 v = {sn_random_range(random, -3, 3), sn_random_range(random, -3, 3),
                 sn_random_range(random, -3, 3)};
    return sn_quat_to_mat3(sn_quat_exp(v));
}

static sn_mat3 with_values(sn_random *random, double a, double b, double c) {
    sn_mat3 D = {{{a, 0, 0}, {0, b, 0}, {0, 0, c}}};
    return sn_mat3_mul(random_rotation(random),
                       sn_mat3_mul(D, sn_mat3_transpose(random_rotation(random))));
}

static sn_mat3 matrix_of_kind(sn_random *random, int kind) {
    double u = sn_random_unit(random);
    double tiny = pow(10, -16 * u);
    switch (kind) {
    case 0: return random_matrix(random);
    case 1: return random_rotation(random);
    case 2: return with_values(random, 1.1, 0.9, -0.8 * u); // reflected
    case 3: return with_values(random, 1, 1, -1);           // mirrored: the rotation is not unique
    case 4: return with_values(random, 1, 0.5, 0);          // flat
    case 5: return with_values(random, 1, 0, 0);            // a line
    case 6: return with_values(random, 1, 1 + tiny, 1 - tiny);
    case 7: return with_values(random, 1, tiny, tiny * u);
    case 8: return sn_mat3_scale(pow(10, 300 * (u - 0.5)), random_matrix(random));
    case 9: return sn_mat3_scale(1e-300, random_matrix(random));
    case 10: return sn_mat3_add(sn_mat3_identity(), sn_mat3_scale(tiny, random_matrix(random)));
    case 11: return (sn_mat3){{{0}}};
    case 12:
        // Next to the ridge where the rotation jumps.
        return with_values(random, 1, 0.7, -0.7 + tiny);
    default: return (sn_mat3){{{0, 2, 0}, {0, 0, 3}, {u, 0, 0}}};
    }
}

static double distance_to_rotation(sn_mat3 U) {
    return sn_mat3_norm(sn_mat3_sub(sn_mat3_mul(sn_mat3_transpose(U), U), sn_mat3_identity())) +
           fabs(sn_mat3_det(U) - 1);
}

static void check_svd(const char *name, sn_mat3 F, const sn_svd *svd, double tolerance) {
    const double *s = svd->sigma;
    double scale = s[0] > 0 ? s[0] : 1;

    assert_true(s[0] >= s[1] * (1 - 4e-15) && s[1] >= fabs(s[2]) - 4e-15 * s[0]);
    sn_mat3 US = svd->U;
    for (int i = 0; i < 9; i++) {
        US.m[i / 3][i % 3] *= s[i % 3] / scale;
    }

    sn_mat3 residual =
        sn_mat3_sub(sn_mat3_mul(US, sn_mat3_transpose(svd->V)), sn_mat3_scale(1 / scale, F));

    test_close(name, sn_mat3_norm(residual), 0, tolerance);
    test_close(name, distance_to_rotation(svd->U) + distance_to_rotation(svd->V), 0, tolerance);
}

// R'F is symmetric, R is a rotation, and no rotation is nearer: tr(R'F) is the sum of the singular
// values.
static void check_polar(const char *name, sn_mat3 F, sn_mat3 R, sn_mat3 S, const double sigma[3],
                        double tolerance) {
    double scale = sigma[0] > 0 ? sigma[0] : 1;
    test_close(name, distance_to_rotation(R), 0, tolerance);
    sn_mat3 T = sn_mat3_scale(1 / scale, sn_mat3_mul(sn_mat3_transpose(R), F));
    test_close(name, sn_mat3_norm(sn_mat3_sub(T, sn_mat3_transpose(T))), 0, tolerance);
    test_close(name, sn_mat3_norm(sn_mat3_sub(T, sn_mat3_scale(1 / scale, S))), 0, tolerance);
    test_close(name, sn_mat3_trace(T), (sigma[0] + sigma[1] + sigma[2]) / scale, tolerance);
}

static void test_scalar(void **state) {
    (void)state;
    sn_random random = sn_random_seed(11);
    for (int i = 0; i < 20000; i++) {
        sn_mat3 F = matrix_of_kind(&random, i % KINDS);
        sn_mat3 S;
        sn_svd svd = sn_svd3(F);
        char name[64];

        snprintf(name, sizeof name, "kind %d, sample %d", i % KINDS, i);
        check_svd(name, F, &svd, 2e-14);

        double scale = svd.sigma[0] > 0 ? svd.sigma[0] : 1;
        double product = svd.sigma[1] / scale * (svd.sigma[2] / scale);
        if (svd.sigma[0] > 0) {
            test_close(name, sn_mat3_det(sn_mat3_scale(1 / scale, F)), product, 1e-14);
        }

        sn_mat3 R = sn_polar3(&S, F);
        check_polar(name, F, R, S, svd.sigma, 2e-14);
    }
}

// One-sided rotations keep the relative accuracy of small singular values.
static void test_small_values_are_accurate(void **state) {
    (void)state;
    sn_mat3 F = {{{1, 0, 0}, {0, 1e-9, 0}, {0, 0, -1e-18}}};
    sn_random random = sn_random_seed(5);
    sn_svd svd = sn_svd3(sn_mat3_mul(random_rotation(&random), F));
    test_close("first", svd.sigma[0], 1, 4e-16);
    test_close("second", svd.sigma[1] * 1e9, 1, 1e-15);
    test_close("third", svd.sigma[2] * 1e18, -1, 1e-15);
}

static void unpack(sn_mat3 *A, const double *block, int lane) {
    for (int i = 0; i < 9; i++) {
        A->m[i / 3][i % 3] = block[i * SN_BLOCK + lane];
    }
}

static void check_blocks(sn_isa isa) {
    sn_random random = sn_random_seed(17);
    double F[9 * SN_BLOCK] SN_ALIGNED, U[9 * SN_BLOCK] SN_ALIGNED, V[9 * SN_BLOCK] SN_ALIGNED,
        s[3 * SN_BLOCK] SN_ALIGNED;
    double R[9 * SN_BLOCK] SN_ALIGNED, S[9 * SN_BLOCK] SN_ALIGNED;

    for (int block = 0; block < 4000; block++) {
        sn_mat3 samples[SN_BLOCK];
        for (int lane = 0; lane < SN_BLOCK; lane++) {
            samples[lane] = matrix_of_kind(&random, block % 2 ? lane + block % 7 : block % KINDS);
            for (int i = 0; i < 9; i++) {
                F[i * SN_BLOCK + lane] = samples[lane].m[i / 3][i % 3];
            }
        }

        SN_ISA_PICK(isa, sn_decompose_svd)(U, s, V, F);
        SN_ISA_PICK(isa, sn_decompose_polar)(R, S, F);
        for (int lane = 0; lane < SN_BLOCK; lane++) {
            sn_svd svd;
            sn_svd exact = sn_svd3(samples[lane]);
            sn_mat3 rotation, stretch;

            unpack(&svd.U, U, lane);
            unpack(&svd.V, V, lane);
            unpack(&rotation, R, lane);
            unpack(&stretch, S, lane);

            for (int i = 0; i < 3; i++) {
                svd.sigma[i] = s[i * SN_BLOCK + lane];
            }

            // The SIMD version does not support scales at which squares leave the range of doubles;
            // they do not occur in bodies.
            if (exact.sigma[0] < 1e-100 && exact.sigma[0] > 0) {
                continue;
            }

            if (exact.sigma[0] > 1e100) {
                continue;
            }

            char name[64];
            snprintf(name, sizeof name, "%s, block %d, lane %d", sn_isa_name(isa), block, lane);
            check_svd(name, samples[lane], &svd, 1e-14);
            check_polar(name, samples[lane], rotation, stretch, exact.sigma, 1e-14);

            double scale = exact.sigma[0] > 0 ? exact.sigma[0] : 1;
            for (int i = 0; i < 3; i++) {
                test_close(name, svd.sigma[i] / scale, exact.sigma[i] / scale, 6e-15);
            }
        }
    }
}

static void test_blocks(void **state) {
    (void)state;
    for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
        if (sn_isa_available(isa)) {
            check_blocks(isa);
        }
    }
}

static void test_symmetric_eigenvalues(void **state) {
    (void)state;
    sn_random random = sn_random_seed(23);
    for (int i = 0; i < 20000; i++) {
        sn_mat3 A = matrix_of_kind(&random, i % KINDS);
        sn_mat3 V;

        A = sn_mat3_scale(0.5, sn_mat3_add(A, sn_mat3_transpose(A)));
        double values[3];
        double norm = sn_mat3_norm(A);
        double scale = norm > 0 ? norm : 1;

        if (scale > 1e150 || scale < 1e-150) {
            continue; // the norm itself leaves the range
        }

        sn_eigen3(values, &V, A);
        assert_true(values[0] >= values[1] && values[1] >= values[2]);
        test_close("rotation", distance_to_rotation(V), 0, 1e-14);

        sn_mat3 VD = V;
        for (int k = 0; k < 9; k++) {
            VD.m[k / 3][k % 3] *= values[k % 3];
        }

        test_close("residual",
                   sn_mat3_norm(sn_mat3_sub(sn_mat3_mul(VD, sn_mat3_transpose(V)), A)) / scale, 0,
                   1e-14);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalar),
        cmocka_unit_test(test_small_values_are_accurate),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_symmetric_eigenvalues),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
