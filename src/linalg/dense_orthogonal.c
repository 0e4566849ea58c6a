// Orthogonal reductions of small dense matrices: symmetric eigenvalues by Householder and implicit
// QL (Bowdler, Martin, Reinsch and Wilkinson 1968), least squares by Householder QR with column
// pivoting (Businger and Golub 1965). All inner loops run along rows.
#include "linalg/dense.h"

#include <float.h>
#include <math.h>

static double *at(double *A, int32_t stride, int32_t i, int32_t j) {
    return A + (size_t)i * (size_t)stride + (size_t)j;
}

// The reflection I - tau v v' with v_0 = 1 that takes x (count numbers, `step` apart) to (beta, 0,
// ..., 0). x becomes (beta, v_1, v_2, ...). Returns tau, 0 for the identity.
static double make_reflection(double *x, int32_t count, ptrdiff_t step) {
    // Scale by the largest entry, so that squares neither overflow nor underflow.
    double largest = 0, sum = 0;
    for (int32_t k = 1; k < count; k++) {
        largest = fmax(largest, fabs(x[k * step]));
    }

    if (largest == 0) {
        return 0;
    }

    largest = fmax(largest, fabs(x[0]));
    for (int32_t k = 0; k < count; k++) {
        double scaled = x[k * step] / largest;
        sum += scaled * scaled;
    }

    // The sign of beta avoids cancellation in x_0 - beta.
    double beta = -copysign(largest * sqrt(sum), x[0]);
    double tau = (beta - x[0]) / beta;
    double scale = 1 / (x[0] - beta);

    for (int32_t k = 1; k < count; k++) {
        x[k * step] *= scale;
    }

    x[0] = beta;
    return tau;
}

// B -= v w' + w v' for the leading i x i lower triangle B, with w = tau B v - (tau^2 / 2)(v'Bv) v:
// the reflection from both sides.
static void reflect_both(double *A, int32_t stride, int32_t i, double tau, const double *v,
                         double *w) {
    for (int32_t r = 0; r < i; r++) {
        w[r] = 0;
    }

    // w = B v, from the lower triangle.
    for (int32_t r = 0; r < i; r++) {
        const double *row = at(A, stride, r, 0);
        double sum = row[r] * v[r];
        for (int32_t c = 0; c < r; c++) {
            sum += row[c] * v[c];
            w[c] += row[c] * v[r];
        }

        w[r] += sum;
    }

    // w = tau (w - tau/2 (v'Bv) v)
    double vw = 0;
    for (int32_t r = 0; r < i; r++) {
        vw += tau * w[r] * v[r];
    }

    for (int32_t r = 0; r < i; r++) {
        w[r] = tau * (w[r] - 0.5 * vw * v[r]);
    }

    // The rank-two update.
    for (int32_t r = 0; r < i; r++) {
        double *row = at(A, stride, r, 0);
        for (int32_t c = 0; c <= r; c++) {
            row[c] -= v[r] * w[c] + w[r] * v[c];
        }
    }
}

// Reduces A to tridiagonal form, last row first. The diagonal goes to d, the entry that couples
// i - 1 and i to e[i], and A becomes the transpose of the orthogonal matrix Q with A = Q T Q'.
static void reduce(double *A, int32_t n, int32_t stride, double *d, double *e) {
    // Eliminate row i left of the subdiagonal; the reflection stays in the row.
    for (int32_t i = n - 1; i > 0; i--) {
        double *v = at(A, stride, i, 0);
        double tau = make_reflection(v + i - 1, i, -1);
        double beta = v[i - 1];

        v[i - 1] = 1;

        if (tau != 0) {
            reflect_both(A, stride, i, tau, v, e); // e[0 .. i) is still free
        }

        e[i] = beta;
        d[i] = tau;
    }

    e[0] = 0;

    // Q' = P_1 P_2 ... P_(n-1), built from the upper left corner; the reflections are stored in the
    // rows below.
    for (int32_t i = 0; i < n; i++) {
        double *v = at(A, stride, i, 0);
        double tau = i > 0 ? d[i] : 0;
        if (tau != 0) {
            // Apply I - tau v v' to the rows above, from the right.
            for (int32_t r = 0; r < i; r++) {
                double *row = at(A, stride, r, 0);
                double sum = 0;
                for (int32_t c = 0; c < i; c++) {
                    sum += row[c] * v[c];
                }

                for (int32_t c = 0; c < i; c++) {
                    row[c] -= tau * sum * v[c];
                }
            }
        }

        // Store the diagonal and reset row and column i to those of the unit matrix.
        d[i] = v[i];
        for (int32_t c = 0; c < i; c++) {
            v[c] = *at(A, stride, c, i) = 0;
        }

        v[i] = 1;
    }
}

static void rotate_rows(double *a, double *b, int32_t n, double c, double s) {
    for (int32_t k = 0; k < n; k++) {
        double x = a[k];
        double y = b[k];
        a[k] = c * x - s * y;
        b[k] = s * x + c * y;
    }
}

// One implicit QL step on the unreduced block [l, m], shifted by the eigenvalue of its upper 2x2
// corner that is closer to d[l].
static void ql_step(double *A, int32_t n, int32_t stride, double *d, double *e, int32_t l,
                    int32_t m) {
    // The shift.
    double g = (d[l + 1] - d[l]) / (2 * e[l + 1]);
    double r = hypot(g, 1);

    g = d[m] - d[l] + e[l + 1] / (g + copysign(r, g));
    double s = 1, c = 1, p = 0;

    // Chase the bulge upwards with plane rotations.
    for (int32_t i = m; i-- > l;) {
        double f = s * e[i + 1];
        double b = c * e[i + 1];

        r = hypot(f, g);
        if (i + 2 <= m) {
            e[i + 2] = r;
        }
        if (r == 0) { // the matrix decouples here
            d[i + 1] -= p;

            if (m + 1 < n) {
                e[m + 1] = 0;
            }
            return;
        }

        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate_rows(at(A, stride, i, 0), at(A, stride, i + 1, 0), n, c, s);
    }

    d[l] -= p;
    e[l + 1] = g;
}

static void sort_ascending(double *A, int32_t n, int32_t stride, double *values) {
    for (int32_t i = 0; i < n; i++) {
        int32_t least = i;
        for (int32_t j = i + 1; j < n; j++) {
            if (values[j] < values[least]) {
                least = j;
            }
        }

        if (least == i) {
            continue;
        }

        double swap = values[i];

        // Swap the eigenvalues, then the eigenvectors.
        values[i] = values[least];
        values[least] = swap;

        for (int32_t k = 0; k < n; k++) {
            swap = *at(A, stride, i, k);
            *at(A, stride, i, k) = *at(A, stride, least, k);
            *at(A, stride, least, k) = swap;
        }
    }
}

bool sn_dense_symmetric_eigen(double *A, int32_t n, int32_t stride, double *values, double *work) {
    SN_ASSERT(n >= 0 && stride >= n);
    enum { MAX_STEPS = 60 };
    if (n == 0) {
        return true;
    }

    double *d = values;
    double *e = work;

    reduce(A, n, stride, d, e);

    // Deflate the eigenvalues one by one.
    for (int32_t l = 0; l < n; l++) {
        for (int step = 0;; step++) {
            // The unreduced block [l, m] ends at the first negligible coupling.
            int32_t m = l;
            while (m + 1 < n && !(fabs(e[m + 1]) <= DBL_EPSILON * (fabs(d[m]) + fabs(d[m + 1])))) {
                m++;
            }

            if (m == l) {
                break;
            }
            if (step == MAX_STEPS) {
                return false;
            }

            ql_step(A, n, stride, d, e, l, m);
        }

        if (!isfinite(d[l])) {
            return false;
        }
    }

    sort_ascending(A, n, stride, values);
    return true;
}

// Applies the reflection stored in column k of A from row k down to a column x of another matrix.
static void reflect_column(const double *A, int32_t m, int32_t stride, int32_t k, double tau,
                           double *x, int32_t x_stride) {
    double sum = x[0];
    for (int32_t i = k + 1; i < m; i++) {
        sum += A[(size_t)i * (size_t)stride + (size_t)k] * x[(size_t)(i - k) * (size_t)x_stride];
    }

    sum *= tau;
    x[0] -= sum;
    for (int32_t i = k + 1; i < m; i++) {
        x[(size_t)(i - k) * (size_t)x_stride] -= sum * A[(size_t)i * (size_t)stride + (size_t)k];
    }
}

// The column from k on with the greatest norm below row k, and that norm.
static int32_t longest_column(double *A, int32_t m, int32_t n, int32_t stride, int32_t k,
                              double *length) {
    int32_t best = k;
    *length = -1;
    for (int32_t j = k; j < n; j++) {
        // A scaled norm, which neither overflows nor underflows.
        double largest = 0, sum = 0;
        for (int32_t i = k; i < m; i++) {
            largest = fmax(largest, fabs(*at(A, stride, i, j)));
        }

        if (largest > 0) {
            for (int32_t i = k; i < m; i++) {
                double scaled = *at(A, stride, i, j) / largest;
                sum += scaled * scaled;
            }
        }

        if (largest * sqrt(sum) > *length) {
            *length = largest * sqrt(sum);
            best = j;
        }
    }

    return best;
}

static bool all_finite(const double *A, int32_t m, int32_t n, int32_t stride) {
    for (int32_t i = 0; i < m; i++) {
        for (int32_t j = 0; j < n; j++) {
            if (!isfinite(A[(size_t)i * (size_t)stride + (size_t)j])) {
                return false;
            }
        }
    }

    return true;
}

// Removes R_12 by reflections of the columns k and rank ... n - 1 from the right, last row first,
// which gives the solution of least norm.
static void reduce_from_right(double *A, int32_t n, int32_t stride, int32_t rank, double *tau) {
    for (int32_t k = rank; k-- > 0;) {
        // The reflection needs equally spaced numbers: move R_kk next to R_12 for the moment.
        double *row = at(A, stride, k, 0);
        double corner = row[rank - 1];
        if (k != rank - 1) {
            row[rank - 1] = row[k];
        }

        tau[k] = make_reflection(row + rank - 1, n - rank + 1, 1);
        double beta = row[rank - 1];
        if (k != rank - 1) {
            row[rank - 1] = corner;
        }

        row[k] = beta;

        // Apply the reflection to the rows above.
        for (int32_t i = 0; i < k; i++) {
            double *above = at(A, stride, i, 0);
            double sum = above[k];
            for (int32_t j = rank; j < n; j++) {
                sum += above[j] * row[j];
            }

            sum *= tau[k];
            above[k] -= sum;
            for (int32_t j = rank; j < n; j++) {
                above[j] -= sum * row[j];
            }
        }
    }
}

// Back substitution, the reflections from the right, and the original order of the columns, for one
// right-hand side.
static void solve_column(double *A, int32_t n, int32_t stride, int32_t rank, const double *tau,
                         const double *order, double *x, int32_t step) {
    // Back substitution with the leading triangle.
    for (int32_t i = rank; i-- > 0;) {
        double *x_i = x + (size_t)i * (size_t)step;
        for (int32_t j = i + 1; j < rank; j++) {
            *x_i -= *at(A, stride, i, j) * x[(size_t)j * (size_t)step];
        }
        *x_i /= *at(A, stride, i, i);
    }

    for (int32_t i = rank; i < n; i++) {
        x[(size_t)i * (size_t)step] = 0;
    }

    if (rank < n) {
        for (int32_t k = 0; k < rank; k++) {
            double sum = x[(size_t)k * (size_t)step];
            for (int32_t j = rank; j < n; j++) {
                sum += *at(A, stride, k, j) * x[(size_t)j * (size_t)step];
            }

            sum *= tau[k];
            x[(size_t)k * (size_t)step] -= sum;
            for (int32_t j = rank; j < n; j++) {
                x[(size_t)j * (size_t)step] -= sum * *at(A, stride, k, j);
            }
        }
    }

    // Undo the column exchanges in reverse order.
    for (int32_t k = n; k-- > 0;) {
        size_t p = (size_t)order[k] * (size_t)step;
        size_t q = (size_t)k * (size_t)step;
        double swap = x[p];
        x[p] = x[q];
        x[q] = swap;
    }
}

int32_t sn_dense_least_squares(double *A, int32_t m, int32_t n, int32_t stride, double *B,
                               int32_t right_count, int32_t right_stride, double relative_rank,
                               double *work) {
    SN_ASSERT(m >= 0 && n >= 0 && stride >= n && right_stride >= right_count && relative_rank >= 0);
    if (!all_finite(A, m, n, stride)) {
        return -1;
    }

    // The arrays of the caller's work space, and the default tolerance.
    double *tau = work;
    double *order = work + n;
    double first = 0;
    if (relative_rank == 0) {
        relative_rank = n * DBL_EPSILON;
    }

    int32_t rank = 0;
    for (int32_t k = 0; k < n; k++) {
        order[k] = k;
    }

    for (int32_t k = 0; k < n && k < m; k++) {
        // The longest column that is left; the rank is found when none is long enough.
        double length;
        int32_t pivot = longest_column(A, m, n, stride, k, &length);
        if (k == 0) {
            first = length;
        }
        if (!(length > relative_rank * first)) {
            break;
        }

        // Exchange it with column k.
        order[k] = pivot;
        if (pivot != k) {
            for (int32_t i = 0; i < m; i++) {
                double swap = *at(A, stride, i, k);
                *at(A, stride, i, k) = *at(A, stride, i, pivot);
                *at(A, stride, i, pivot) = swap;
            }
        }

        // Reflect it onto the axis, and everything to its right.
        double reflection = make_reflection(at(A, stride, k, k), m - k, stride);
        for (int32_t j = k + 1; j < n; j++) {
            reflect_column(A, m, stride, k, reflection, at(A, stride, k, j), stride);
        }

        for (int32_t j = 0; j < right_count; j++) {
            reflect_column(A, m, stride, k, reflection, at(B, right_stride, k, j), right_stride);
        }

        rank++;
    }

    // With a deficit in rank, the shortest solution.
    if (rank < n) {
        reduce_from_right(A, n, stride, rank, tau);
    }

    for (int32_t j = 0; j < right_count; j++) {
        solve_column(A, n, stride, rank, tau, order, B + j, right_stride);
    }

    return rank;
}
