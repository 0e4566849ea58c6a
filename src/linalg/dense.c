// Small dense solves: Cholesky (loops in dense_simd.c) and LU; see dense.h.
// Eigenvalues and least squares are in dense_orthogonal.c.
#include "linalg/dense.h"

#include "linalg/kernels.h"

#include <math.h>

static double *at(double *A, int32_t stride, int32_t i, int32_t j) {
    return A + (size_t)i * (size_t)stride + (size_t)j;
}

int32_t sn_dense_cholesky(double *A, int32_t n, int32_t stride) {
    SN_ASSERT(n >= 0 && stride >= n);
    return sn_linalg_kernels_get()->dense_factor(A, n, n, stride);
}

void sn_dense_cholesky_solve(const double *L, int32_t n, int32_t stride, double *x) {
    SN_ASSERT(n >= 0 && stride >= n);
    const sn_linalg_kernels *kernels = sn_linalg_kernels_get();
    kernels->dense_forward(L, n, stride, x);
    kernels->dense_backward(L, n, stride, x);
}

static void swap_values(double *x, int32_t p, int32_t q) {
    double swap = x[p];
    x[p] = x[q];
    x[q] = swap;
}

bool sn_dense_solve(double *A, int32_t n, int32_t stride, double *x) {
    SN_ASSERT(n >= 0 && stride >= n);
    for (int32_t k = 0; k < n; k++) {
        int32_t p = k;
        for (int32_t i = k + 1; i < n; i++) {
            if (fabs(*at(A, stride, i, k)) > fabs(*at(A, stride, p, k))) {
                p = i;
            }
        }

        double pivot = *at(A, stride, p, k);
        if (pivot == 0 || !isfinite(pivot)) {
            return false;
        }

        if (p != k) {
            for (int32_t j = k; j < n; j++) {
                double swap = *at(A, stride, p, j);
                *at(A, stride, p, j) = *at(A, stride, k, j);
                *at(A, stride, k, j) = swap;
            }
        }

        swap_values(x, k, p);
        for (int32_t i = k + 1; i < n; i++) {
            double l = *at(A, stride, i, k) / pivot;
            for (int32_t j = k + 1; j < n; j++) {
                *at(A, stride, i, j) -= l * *at(A, stride, k, j);
            }
            x[i] -= l * x[k];
        }
    }

    for (int32_t k = n - 1; k >= 0; k--) {
        for (int32_t j = k + 1; j < n; j++) {
            x[k] -= *at(A, stride, k, j) * x[j];
        }

        x[k] /= *at(A, stride, k, k);
        if (!isfinite(x[k])) {
            return false;
        }
    }

    return true;
}
