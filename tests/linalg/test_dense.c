// Small dense linear algebra compared with products of known factors, for every size up to a few
// panels and every instruction set.
#include "support/test.h"

#include "linalg/dense.h"
#include "linalg/kernels.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static void fill_random(double *A, size_t count, uint64_t seed) {
    sn_random random = sn_random_seed(seed);
    for (size_t k = 0; k < count; k++) {
        A[k] = sn_random_range(&random, -1, 1);
    }
}

// G G' + s I: positive definite for s > 0.
static void make_symmetric(double *A, int32_t n, int32_t stride, double s, uint64_t seed) {
    double *G = malloc((size_t)(n * n + 1) * sizeof *G);
    assert_non_null(G);
    fill_random(G, (size_t)(n * n), seed);

    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            double sum = i == j ? s : 0;
            for (int32_t k = 0; k < n; k++) {
                sum += G[i * n + k] * G[j * n + k];
            }
            A[i * stride + j] = sum;
        }
    }

    free(G);
}

static double *allocate(int32_t rows, int32_t stride) {
    double *A = calloc((size_t)(rows * stride + 8), sizeof *A);
    assert_non_null(A);
    return A;
}

static void check_cholesky(const sn_linalg_kernels *kernels, int32_t n, int32_t stride) {
    double *A = allocate(n, stride);
    double *L = allocate(n, stride);
    double *x = allocate(n, 1);
    double *b = allocate(n, 1);

    make_symmetric(A, n, stride, 1, (uint64_t)n);
    memcpy(L, A, (size_t)(n * stride) * sizeof *A);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = i + 1; j < n; j++) {
            L[i * stride + j] = NAN; // must not be touched
        }
    }

    assert_int_equal(kernels->dense_factor(L, n, n, stride), -1);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j <= i; j++) {
            double sum = 0;
            for (int32_t k = 0; k <= j; k++) {
                sum += L[i * stride + k] * L[j * stride + k];
            }
            test_close("L L'", sum, A[i * stride + j], 1e-14 * (n + 10) * n);
        }

        for (int32_t j = i + 1; j < n; j++) {
            assert_true(isnan(L[i * stride + j]));
        }
    }

    fill_random(x, (size_t)n, 5);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            b[i] += A[i * stride + j] * x[j];
        }
    }

    kernels->dense_forward(L, n, stride, b);
    kernels->dense_backward(L, n, stride, b);
    if (n > 0) {
        assert_true(test_relative_error(b, x, (size_t)n) < 1e-10);
    }

    free(A);
    free(L);
    free(x);
    free(b);
}

static void test_cholesky(void **state) {
    (void)state;
    for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        const sn_linalg_kernels *kernels = sn_linalg_kernels_for(isa);
        for (int32_t n = 0; n <= 40; n++) {
            check_cholesky(kernels, n, n + n % 3);
        }

        check_cholesky(kernels, 275, 275); // more than one depth of a panel
        check_cholesky(kernels, 281, 288);
    }
}

static void test_cholesky_names_the_bad_row(void **state) {
    (void)state;
    for (int32_t n = 1; n <= 30; n += 3) {
        for (int32_t bad = 0; bad < n; bad++) {
            for (int kind = 0; kind < 2; kind++) {
                double *A = allocate(n, n);
                make_symmetric(A, n, n, 1, 3);
                A[bad * n + bad] = kind ? NAN : -1;
                assert_int_equal(sn_dense_cholesky(A, n, n), bad);
                free(A);
            }
        }
    }
}

static void check_eigen(const double *A, int32_t n) {
    double *V = allocate(n, n);
    double *values = allocate(n, 1);
    double *work = allocate(n, 1);

    memcpy(V, A, (size_t)(n * n) * sizeof *A);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = i + 1; j < n; j++) {
            V[i * n + j] = NAN; // only the lower triangle is read
        }
    }

    assert_true(sn_dense_symmetric_eigen(V, n, n, values, work));
    double scale = DBL_MIN;
    for (int32_t i = 0; i < n; i++) {
        scale = fmax(scale, fabs(values[i]));
    }

    for (int32_t k = 0; k < n; k++) {
        if (k > 0) {
            assert_true(values[k - 1] <= values[k]);
        }

        for (int32_t i = 0; i < n; i++) {
            double sum = 0;
            for (int32_t j = 0; j < n; j++) {
                sum += A[i * n + j] * V[k * n + j];
            }
            test_close("A v - lambda v", sum, values[k] * V[k * n + i], 1e-14 * (n + 5) * scale);
        }

        for (int32_t l = 0; l <= k; l++) {
            double dot = 0;
            for (int32_t i = 0; i < n; i++) {
                dot += V[k * n + i] * V[l * n + i];
            }
            test_close("orthonormal", dot, k == l, 1e-14 * (n + 5));
        }
    }

    free(V);
    free(values);
    free(work);
}

static void test_symmetric_eigen(void **state) {
    (void)state;
    for (int32_t n = 1; n <= 60; n += n < 12 ? 1 : 16) {
        double *A = allocate(n, n);
        make_symmetric(A, n, n, -1, (uint64_t)n);
        check_eigen(A, n);
        memset(A, 0, (size_t)(n * n) * sizeof *A);
        check_eigen(A, n); // zero

        for (int32_t i = 0; i < n; i++) {
            A[i * n + i] = i % 3; // diagonal with multiple eigenvalues
        }

        check_eigen(A, n);
        for (int32_t i = 0; i < n * n; i++) {
            A[i] = 1; // rank one
        }

        check_eigen(A, n);
        for (int32_t i = 0; i < n; i++) { // graded over 20 orders of magnitude
            for (int32_t j = 0; j < n; j++) {
                A[i * n + j] = pow(10, -10.0 * (i + j) / n);
            }
        }

        check_eigen(A, n);
        free(A);
    }

    // The second difference has 2 - 2 cos(k pi / (n + 1)).
    enum { N = 24 };

    double A[N * N] = {0}, values[N], work[N];
    for (int i = 0; i < N; i++) {
        A[i * N + i] = 2;
        if (i > 0) {
            A[i * N + i - 1] = -1;
        }
    }

    assert_true(sn_dense_symmetric_eigen(A, N, N, values, work));
    for (int k = 0; k < N; k++) {
        test_close("chain", values[k], 2 - 2 * cos((k + 1) * acos(-1) / (N + 1)), 1e-14);
    }

    double bad[4] = {1, 0, NAN, 2};
    assert_false(sn_dense_symmetric_eigen(bad, 2, 2, values, work));
}

// A = U diag(s) V' with orthogonal U and V from eigenvectors; the pseudo-inverse is known.
static void check_least_squares(int32_t m, int32_t n, int32_t rank) {
    int32_t most = m > n ? m : n;
    double *U = allocate(m, m);
    double *V = allocate(n, n);
    double *A = allocate(m, n);
    double *values = allocate(most, 1);
    double *work = allocate(3 * most, 1);
    double *B = allocate(most, 2);
    double *X = allocate(n, 2);

    make_symmetric(U, m, m, 0, 21);
    make_symmetric(V, n, n, 0, 22);
    assert_true(sn_dense_symmetric_eigen(U, m, m, values, work));
    assert_true(sn_dense_symmetric_eigen(V, n, n, values, work));
    fill_random(B, (size_t)(2 * m), 23);

    for (int32_t k = 0; k < rank; k++) {
        double s = 1.0 / (1 + k);
        double beta[2] = {0};
        for (int32_t i = 0; i < m; i++) {
            for (int32_t j = 0; j < n; j++) {
                A[i * n + j] += s * U[k * m + i] * V[k * n + j];
            }
            for (int c = 0; c < 2; c++) {
                beta[c] += U[k * m + i] * B[2 * i + c];
            }
        }

        for (int32_t j = 0; j < n; j++) {
            for (int c = 0; c < 2; c++) {
                X[2 * j + c] += beta[c] / s * V[k * n + j];
            }
        }
    }

    assert_int_equal(sn_dense_least_squares(A, m, n, n, B, 2, 2, 1e-12, work), rank);
    assert_true(test_relative_error(B, X, (size_t)(2 * n)) < 1e-10);
    free(U);
    free(V);
    free(A);
    free(values);
    free(work);
    free(B);
    free(X);
}

static void test_least_squares(void **state) {
    (void)state;
    for (int32_t m = 1; m <= 13; m += 2) {
        for (int32_t n = 1; n <= 12; n += 1) {
            for (int32_t rank = 0; rank <= m && rank <= n; rank++) {
                check_least_squares(m, n, rank);
            }
        }
    }

    double A[2] = {1, NAN};
    double B[2] = {1, 1};
    double work[2];

    assert_int_equal(sn_dense_least_squares(A, 2, 1, 1, B, 1, 1, 0, work), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cholesky),
        cmocka_unit_test(test_cholesky_names_the_bad_row),
        cmocka_unit_test(test_symmetric_eigen),
        cmocka_unit_test(test_least_squares),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
