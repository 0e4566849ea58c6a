// Small symmetric dense matrices: Jacobi eigenvalues, clamping, Cholesky; see dense.h.
#include "math/dense.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

// Applies the rotation in the plane (p, q) that makes the entry (p, q) of `a` vanish to both sides
// of `a`, and accumulates it in the rows of `vectors` (Golub and Van Loan, 8.5).
static void rotate(double *a, double *vectors, int n, int p, int q) {
    // The smaller of the two rotations that annihilate the entry.
    double apq = a[p * n + q];
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
    double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1);
    double s = t * c;

    // Columns p and q, then rows p and q.
    for (int k = 0; k < n; k++) {
        double akp = a[k * n + p];
        double akq = a[k * n + q];
        a[k * n + p] = c * akp - s * akq;
        a[k * n + q] = s * akp + c * akq;
    }

    for (int k = 0; k < n; k++) {
        double apk = a[p * n + k];
        double aqk = a[q * n + k];
        a[p * n + k] = c * apk - s * aqk;
        a[q * n + k] = s * apk + c * aqk;
        double vp = vectors[p * n + k];
        double vq = vectors[q * n + k];
        vectors[p * n + k] = c * vp - s * vq;
        vectors[q * n + k] = s * vp + c * vq;
    }

    a[p * n + q] = a[q * n + p] = 0;
}

static void sort_decreasing(double *values, double *vectors, int n) {
    for (int i = 0; i < n; i++) {
        int largest = i;
        for (int j = i + 1; j < n; j++) {
            if (values[j] > values[largest]) {
                largest = j;
            }
        }

        if (largest == i) {
            continue;
        }

        double value = values[i];
        values[i] = values[largest];
        values[largest] = value;

        for (int k = 0; k < n; k++) {
            double entry = vectors[i * n + k];
            vectors[i * n + k] = vectors[largest * n + k];
            vectors[largest * n + k] = entry;
        }
    }
}

void sn_eigen_symmetric(double *values, double *vectors, const double *A, int n) {
    SN_ASSERT(n >= 1 && n <= SN_DENSE_MAX);

    // Scale by a power of two, which is exact, so that squares neither overflow nor underflow.
    double largest = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            largest = fmax(largest, fabs(A[i * n + j]));
        }
    }

    int exponent = 0;
    if (largest > 0) {
        frexp(largest, &exponent);
    }

    // Start from the scaled copy of A and V = I.
    double a[SN_DENSE_MAX * SN_DENSE_MAX];
    memset(vectors, 0, sizeof(double) * (size_t)(n * n));
    for (int i = 0; i < n; i++) {
        vectors[i * n + i] = 1;
        for (int j = i; j < n; j++) {
            a[i * n + j] = a[j * n + i] = ldexp(A[i * n + j], -exponent);
        }
    }

    // Cyclic Jacobi. It converges quadratically; 6 to 8 sweeps reach rounding error.
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0;
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) {
                if (fabs(a[p * n + q]) <= 1e-18) {
                    continue;
                }
                off = fmax(off, fabs(a[p * n + q]));
                rotate(a, vectors, n, p, q);
            }
        }

        if (!(off > 1e-17)) {
            break;
        }
    }

    // Undo the scaling.
    for (int i = 0; i < n; i++) {
        values[i] = ldexp(a[i * n + i], exponent);
    }

    sort_decreasing(values, vectors, n);
}

bool sn_clamp_semidefinite(double *A, int n) {
    double values[SN_DENSE_MAX], vectors[SN_DENSE_MAX * SN_DENSE_MAX];
    sn_eigen_symmetric(values, vectors, A, n);

    // Symmetrise from the upper triangle.
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            A[i * n + j] = A[j * n + i];
        }
    }

    if (!(values[n - 1] < 0)) {
        return false;
    }

    // Subtracting the negative part from A keeps more digits than summing the positive part.
    for (int k = 0; k < n; k++) {
        if (!(values[k] < 0)) {
            continue;
        }

        const double *v = vectors + k * n;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                A[i * n + j] -= values[k] * v[i] * v[j];
            }
        }
    }

    return true;
}

bool sn_cholesky(double *A, int n) {
    for (int j = 0; j < n; j++) {
        double pivot = A[j * n + j];
        for (int k = 0; k < j; k++) {
            pivot -= A[j * n + k] * A[j * n + k];
        }

        if (!(pivot > 0)) {
            return false;
        }

        double root = sqrt(pivot);
        A[j * n + j] = root;
        for (int i = j + 1; i < n; i++) {
            double sum = A[i * n + j];
            for (int k = 0; k < j; k++) {
                sum -= A[i * n + k] * A[j * n + k];
            }
            A[i * n + j] = sum / root;
        }
    }

    return true;
}

void sn_cholesky_solve(double *x, const double *L, int n) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            x[i] -= L[i * n + k] * x[k];
        }
        x[i] /= L[i * n + i];
    }

    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            x[i] -= L[k * n + i] * x[k];
        }
        x[i] /= L[i * n + i];
    }
}
