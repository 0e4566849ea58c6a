// Small dense solves: Cholesky (loops in dense_simd.c), Bunch-Kaufman and LU; see dense.h.
// Eigenvalues and least squares are in dense_orthogonal.c.
#include "linalg/dense.h"

#include "linalg/kernels.h"

#include <math.h>

static double *at(double *A, int32_t stride, int32_t i, int32_t j) {
    return A + (size_t)i * (size_t)stride + (size_t)j;
}

static const double *at_const(const double *A, int32_t stride, int32_t i, int32_t j) {
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

// Swaps rows and columns p and q (p < q) of the symmetric matrix in the lower triangle, except in
// the columns before `first`.
static void swap_symmetric(double *A, int32_t n, int32_t stride, int32_t first, int32_t p,
                           int32_t q) {
    for (int32_t k = first; k < n; k++) {
        if (k == p || k == q) {
            continue;
        }

        double *a = k < p ? at(A, stride, p, k) : at(A, stride, k, p);
        double *b = k < q ? at(A, stride, q, k) : at(A, stride, k, q);
        double swap = *a;
        *a = *b;
        *b = swap;
    }

    double *a = at(A, stride, p, p);
    double *b = at(A, stride, q, q);
    double swap = *a;

    *a = *b;
    *b = swap;
}

// The row of the largest |A_ik| of column k below the diagonal, and its absolute value.
static int32_t largest_below(const double *A, int32_t n, int32_t stride, int32_t k, double *size) {
    int32_t row = k;
    *size = 0;
    for (int32_t i = k + 1; i < n; i++) {
        double a = fabs(*at_const(A, stride, i, k));
        if (a > *size) {
            *size = a;
            row = i;
        }
    }

    return row;
}

// The pivot choice of Bunch and Kaufman: returns the size of the pivot at k (1 or 2) and the row to
// exchange with its last row.
static int32_t choose_pivot(const double *A, int32_t n, int32_t stride, int32_t k,
                            int32_t *exchange) {
    const double alpha = (1 + sqrt(17.0)) / 8;
    double diagonal = fabs(*at_const(A, stride, k, k));
    double lambda;
    double sigma = 0;
    int32_t r = largest_below(A, n, stride, k, &lambda);

    *exchange = k;
    if (lambda == 0 || diagonal >= alpha * lambda) {
        return 1;
    }

    for (int32_t j = k; j < n; j++) {
        double a = j < r   ? fabs(*at_const(A, stride, r, j))
                   : j > r ? fabs(*at_const(A, stride, j, r))
                           : 0;
        sigma = fmax(sigma, a);
    }

    if (diagonal * sigma >= alpha * lambda * lambda) {
        return 1;
    }

    *exchange = r;
    return fabs(*at_const(A, stride, r, r)) >= alpha * sigma ? 1 : 2;
}

// A -= l d l' for a 1x1 pivot; the column becomes l.
static void eliminate_one(double *A, int32_t n, int32_t stride, int32_t k) {
    double inverse = 1 / *at(A, stride, k, k);
    for (int32_t i = k + 1; i < n; i++) {
        double l = *at(A, stride, i, k) * inverse;
        for (int32_t j = k + 1; j <= i; j++) {
            *at(A, stride, i, j) -= l * *at(A, stride, j, k);
        }
    }

    for (int32_t i = k + 1; i < n; i++) {
        *at(A, stride, i, k) *= inverse;
    }
}

// The same for a 2x2 pivot D = [a b; b c], for which the pivot choice ensures a c - b b < 0.
static void eliminate_two(double *A, int32_t n, int32_t stride, int32_t k) {
    double a = *at(A, stride, k, k);
    double b = *at(A, stride, k + 1, k);
    double c = *at(A, stride, k + 1, k + 1);
    double scale = 1 / (a * c - b * b);

    for (int32_t i = n - 1; i > k + 1;
         i--) { // upwards, since a row needs the columns of those above as they were
        double u = *at(A, stride, i, k);
        double v = *at(A, stride, i, k + 1);
        double l = (c * u - b * v) * scale;
        double m = (a * v - b * u) * scale;
        for (int32_t j = k + 2; j <= i; j++) {
            *at(A, stride, i, j) -= l * *at(A, stride, j, k) + m * *at(A, stride, j, k + 1);
        }
        *at(A, stride, i, k) = l;
        *at(A, stride, i, k + 1) = m;
    }
}

int32_t sn_dense_ldlt(double *A, int32_t n, int32_t stride, int32_t *pivots) {
    SN_ASSERT(n >= 0 && stride >= n);
    int32_t negative = 0;
    for (int32_t k = 0; k < n;) {
        int32_t exchange;
        int32_t size = choose_pivot(A, n, stride, k, &exchange);
        int32_t last = k + size - 1;
        if (exchange != last) {
            swap_symmetric(A, n, stride, k, last, exchange);
        }

        // A 2x2 pivot is marked by ~row in both entries.
        pivots[k] = pivots[last] = size == 1 ? exchange : ~exchange;

        double d = *at(A, stride, k, k);
        if (size == 1) {
            if (d == 0 || !isfinite(d)) {
                return -1;
            }
            negative += d < 0;
            eliminate_one(A, n, stride, k);
        } else {
            double b = *at(A, stride, k + 1, k);
            if (!isfinite(b) || !isfinite(d)) {
                return -1;
            }
            negative++; // one of each sign
            eliminate_two(A, n, stride, k);
        }

        k += size;
    }

    return negative;
}

static void swap_values(double *x, int32_t p, int32_t q) {
    double swap = x[p];
    x[p] = x[q];
    x[q] = swap;
}

void sn_dense_ldlt_solve(const double *A, int32_t n, int32_t stride, const int32_t *pivots,
                         double *x) {
    for (int32_t k = 0; k < n;) {
        int32_t size = pivots[k] < 0 ? 2 : 1;
        swap_values(x, k + size - 1, size == 1 ? pivots[k] : ~pivots[k]);
        for (int32_t c = k; c < k + size; c++) {
            for (int32_t i = k + size; i < n; i++) {
                x[i] -= *at_const(A, stride, i, c) * x[c];
            }
        }

        if (size == 1) {
            x[k] /= *at_const(A, stride, k, k);
        } else {
            double a = *at_const(A, stride, k, k);
            double b = *at_const(A, stride, k + 1, k);
            double c = *at_const(A, stride, k + 1, k + 1);
            double scale = 1 / (a * c - b * b);
            double u = x[k];
            double v = x[k + 1];
            x[k] = (c * u - b * v) * scale;
            x[k + 1] = (a * v - b * u) * scale;
        }

        k += size;
    }

    for (int32_t k = n - 1; k >= 0;) {
        int32_t size = pivots[k] < 0 ? 2 : 1;
        int32_t first = k - size + 1;
        for (int32_t c = first; c <= k; c++) {
            for (int32_t i = k + 1; i < n; i++) {
                x[c] -= *at_const(A, stride, i, c) * x[i];
            }
        }

        swap_values(x, k, size == 1 ? pivots[k] : ~pivots[k]);
        k = first - 1;
    }
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
