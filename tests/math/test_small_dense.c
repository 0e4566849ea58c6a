// Small dense matrices: eigenvalues, clamping, Cholesky; and dual quaternions against matrices.
#include "support/test.h"

#include "math/dense.h"
#include "math/dualquat.h"

static void random_symmetric(double *A, int n, sn_random *random) {
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            A[i * n + j] = A[j * n + i] = sn_random_range(random, -1, 1);
        }
    }
}

static void test_eigenvalues(void **state) {
    (void)state;
    sn_random random = sn_random_seed(3);
    for (int n = 1; n <= SN_DENSE_MAX; n++) {
        for (int trial = 0; trial < 50; trial++) {
            double A[144], values[12], V[144];
            random_symmetric(A, n, &random);
            if (trial % 3 == 1) { // of rank one, so that n - 1 eigenvalues coincide
                for (int i = 0; i < n; i++) {
                    for (int j = 0; j < n; j++) {
                        A[i * n + j] = (i + 1) * (j + 1) * 1e-3;
                    }
                }
            }

            sn_eigen_symmetric(values, V, A, n);
            for (int i = 0; i < n; i++) {
                if (i) {
                    assert_true(values[i - 1] >= values[i]);
                }

                for (int j = 0; j < n; j++) {
                    double dot = 0, entry = 0;
                    for (int k = 0; k < n; k++) {
                        dot += V[i * n + k] * V[j * n + k];
                        entry += values[k] * V[k * n + i] * V[k * n + j];
                    }

                    test_close("orthonormal", dot, i == j, 1e-14);
                    test_close("residual", entry, A[i * n + j], 2e-14 * n);
                }
            }
        }
    }
}

static void test_clamping(void **state) {
    (void)state;
    sn_random random = sn_random_seed(4);
    for (int trial = 0; trial < 100; trial++) {
        double A[81], B[81], values[9], V[81], before[9];
        random_symmetric(A, 9, &random);
        if (trial % 2) {
            for (int i = 0; i < 9; i++) {
                A[10 * i] += 8; // definite already
            }
        }

        memcpy(B, A, sizeof A);
        sn_eigen_symmetric(before, V, A, 9);
        assert_int_equal(sn_clamp_semidefinite(B, 9), before[8] < 0);
        if (trial % 2) {
            assert_memory_equal(A, B, sizeof A);
        }

        sn_eigen_symmetric(values, V, B, 9);
        for (int i = 0; i < 9; i++) {
            test_close("clamped", values[i], fmax(before[i], 0), 1e-13);
        }
    }
}

static void test_cholesky(void **state) {
    (void)state;
    sn_random random = sn_random_seed(5);
    for (int n = 1; n <= 9; n++) {
        double A[81], L[81], x[9], b[9];
        random_symmetric(A, n, &random);
        for (int i = 0; i < n; i++) {
            A[i * n + i] += n;
        }

        memcpy(L, A, sizeof A);
        assert_true(sn_cholesky(L, n));
        for (int i = 0; i < n; i++) {
            x[i] = b[i] = sn_random_range(&random, -1, 1);
        }

        sn_cholesky_solve(x, L, n);
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < n; j++) {
                sum += A[i * n + j] * x[j];
            }
            test_close("solution", sum, b[i], 1e-14);
        }

        A[0] = -1;
        assert_false(sn_cholesky(A, n));
    }
}

static sn_vec3 random_vector(sn_random *random, double size) {
    return sn_v3(sn_random_range(random, -size, size), sn_random_range(random, -size, size),
                 sn_random_range(random, -size, size));
}

static void test_dual_quaternions(void **state) {
    (void)state;
    sn_random random = sn_random_seed(6);
    for (int trial = 0; trial < 200; trial++) {
        sn_quat qa = sn_quat_exp(random_vector(&random, 3));
        sn_quat qb = sn_quat_exp(random_vector(&random, 3));
        sn_vec3 ta = random_vector(&random, 5);
        sn_vec3 tb = random_vector(&random, 5);
        sn_vec3 x = random_vector(&random, 2);
        sn_dualquat a = sn_dualquat_make(qa, ta);
        sn_dualquat b = sn_dualquat_make(qb, tb);

        test_close("translation", sn_distance(sn_dualquat_translation(a), ta), 0, 1e-14);

        // The product applies b first.
        sn_vec3 inner = sn_add(sn_quat_rotate(qb, x), tb);
        sn_vec3 outer = sn_add(sn_quat_rotate(qa, inner), ta);

        test_close("product", sn_distance(sn_dualquat_apply(sn_dualquat_mul(a, b), x), outer), 0,
                   1e-13);

        sn_vec3 back = sn_dualquat_apply(sn_dualquat_conjugate(a), sn_dualquat_apply(a, x));
        test_close("inverse", sn_distance(back, x), 0, 1e-13);

        // A blend, normalised, is a rigid motion: unit real part, dual part orthogonal to it;
        // scaling does not matter.
        sn_dualquat blend = sn_dualquat_add(sn_dualquat_scale(0.3, a), sn_dualquat_scale(0.9, b));
        if (sn_quat_dot(blend.real, blend.real) < 1e-2) {
            continue;
        }

        sn_dualquat unit = sn_dualquat_normalize(blend);
        sn_dualquat same = sn_dualquat_normalize(sn_dualquat_scale(7, blend));

        test_close("unit", sn_quat_dot(unit.real, unit.real), 1, 1e-14);
        test_close("orthogonal", sn_quat_dot(unit.real, unit.dual), 0, 1e-13);
        test_close("scale", sn_distance(sn_dualquat_apply(unit, x), sn_dualquat_apply(same, x)), 0,
                   1e-12);

        sn_dualquat identity = sn_dualquat_normalize(sn_dualquat_identity());
        test_close("identity", sn_distance(sn_dualquat_apply(identity, x), x), 0, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eigenvalues),
        cmocka_unit_test(test_clamping),
        cmocka_unit_test(test_cholesky),
        cmocka_unit_test(test_dual_quaternions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
