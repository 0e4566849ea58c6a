// Small dense matrices: eigenvalues, clamping, Cholesky.
#include "support/test.h"

#include "math/dense.h"

#include <math.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eigenvalues),
        cmocka_unit_test(test_clamping),
        cmocka_unit_test(test_cholesky),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
