// Gaussian elimination for small general systems, as a reference.
#ifndef SN_TESTS_SUPPORT_DENSE_H
#define SN_TESTS_SUPPORT_DENSE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Solves A x = b by elimination with partial pivoting; A, row by row, is overwritten, b becomes x.
// Returns false if a pivot is zero or not a number.
static inline bool test_dense_solve(double *A, int32_t n, double *x) {
    for (int32_t k = 0; k < n; k++) {
        int32_t p = k;
        for (int32_t i = k + 1; i < n; i++) {
            if (fabs(A[i * n + k]) > fabs(A[p * n + k])) {
                p = i;
            }
        }

        double pivot = A[p * n + k];
        if (pivot == 0 || !isfinite(pivot)) {
            return false;
        }

        for (int32_t j = 0; j < n; j++) {
            double swap = A[p * n + j];
            A[p * n + j] = A[k * n + j];
            A[k * n + j] = swap;
        }
        double swap = x[p];
        x[p] = x[k];
        x[k] = swap;

        for (int32_t i = k + 1; i < n; i++) {
            double l = A[i * n + k] / pivot;
            for (int32_t j = k + 1; j < n; j++) {
                A[i * n + j] -= l * A[k * n + j];
            }
            x[i] -= l * x[k];
        }
    }

    for (int32_t k = n - 1; k >= 0; k--) {
        for (int32_t j = k + 1; j < n; j++) {
            x[k] -= A[k * n + j] * x[j];
        }
        x[k] /= A[k * n + k];
    }

    return true;
}

#endif
