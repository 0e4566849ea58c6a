// Selects a few of many points, with positive volumes, that have the same moments as all of them.
//
// The functions are products of Legendre polynomials over the bounding box of the points, which
// keeps the systems well conditioned. In each round the candidates are gathered into at most 2 m
// clusters, m being the number of functions. A positive combination of at most m clusters with the
// same sums is found, and the other clusters are dropped; in the last round the clusters are single
// points. The combination is a vertex of the polytope of all positive combinations. It is reached
// from "everything once" by reducing one cluster after the other to zero, with pivots as in the
// simplex method. A final least-squares step removes the rounding error.
#include "frame/sampling/sampling.h"

#include "linalg/dense.h"

#include <string.h>

// Maps the bounding box of the points to [-1, 1], flat directions to 0.
typedef struct box_map {
    double middle[3], scale[3];
} box_map;

static box_map map_box(const double *positions, int32_t n) {
    box_map map;
    for (int a = 0; a < 3; a++) {
        double low = positions[a];
        double high = low;
        for (int32_t i = 1; i < n; i++) {
            low = fmin(low, positions[3 * (size_t)i + (size_t)a]);
            high = fmax(high, positions[3 * (size_t)i + (size_t)a]);
        }

        map.middle[a] = 0.5 * (low + high);
        map.scale[a] = high > low ? 2 / (high - low) : 0;
    }

    return map;
}

static void compute_functions(double *values, int32_t degree, const box_map *map,
                              const double *position) {
    double P[3][SN_MAX_DEGREE + 1];
    for (int a = 0; a < 3; a++) {
        double x = (position[a] - map->middle[a]) * map->scale[a];
        P[a][0] = 1;
        P[a][1] = x;
        for (int k = 1; k < degree; k++) {
            P[a][k + 1] = ((2 * k + 1) * x * P[a][k] - k * P[a][k - 1]) / (k + 1);
        }
    }

    int32_t count = 0;
    for (int32_t k = 0; k <= degree; k++) {
        for (int32_t a = k; a >= 0; a--) {
            for (int32_t b = k - a; b >= 0; b--) {
                values[count++] = P[0][a] * P[1][b] * P[2][k - a - b];
            }
        }
    }
}

typedef struct tableau {
    int32_t rows, columns; // rows: the functions, later only the independent ones
    double *T;             // [rows][2 m]
    int32_t stride;
    double *share;  // one for each column
    int32_t *basis; // the column of each row
} tableau;

static void eliminate(tableau *t, int32_t row, int32_t column) {
    double *pivot_row = t->T + (size_t)row * (size_t)t->stride;
    double inverse = 1 / pivot_row[column];
    for (int32_t c = 0; c < t->columns; c++) {
        pivot_row[c] *= inverse;
    }

    for (int32_t r = 0; r < t->rows; r++) {
        double *other = t->T + (size_t)r * (size_t)t->stride;
        double factor = other[column];
        if (r == row || factor == 0) {
            continue;
        }

        for (int32_t c = 0; c < t->columns; c++) {
            other[c] -= factor * pivot_row[c];
        }

        other[column] = 0;
    }

    t->basis[row] = column;
}

// Gauss-Jordan elimination with complete pivoting, until only rounding errors are left; the
// remaining rows depend on those above.
static void find_basis(tableau *t) {
    double first = 0;
    for (int32_t s = 0; s < t->rows; s++) {
        double largest = 0;
        int32_t row = s;
        int32_t column = 0;

        for (int32_t r = s; r < t->rows; r++) {
            const double *values = t->T + (size_t)r * (size_t)t->stride;
            for (int32_t c = 0; c < t->columns; c++) {
                if (fabs(values[c]) > largest) {
                    largest = fabs(values[c]);
                    row = r;
                    column = c;
                }
            }
        }

        if (s == 0) {
            first = largest;
        }

        if (!(largest > 1e-10 * first)) {
            t->rows = s;
            return;
        }

        if (row != s) {
            for (int32_t c = 0; c < t->columns; c++) {
                double *a = t->T + (size_t)s * (size_t)t->stride + c;
                double *b = t->T + (size_t)row * (size_t)t->stride + c;
                double keep = *a;
                *a = *b, *b = keep;
            }
        }

        eliminate(t, s, column);
    }
}

// Reduces column j to zero: its share moves to the basis, until a member of the basis reaches zero
// and j replaces it.
static void drop_column(tableau *t, int32_t j) {
    double step = t->share[j];
    int32_t leaving = -1;
    for (int32_t r = 0; r < t->rows; r++) {
        double rate = t->T[(size_t)r * (size_t)t->stride + (size_t)j];
        if (rate < -1e-11 && t->share[t->basis[r]] < -step * rate) {
            step = t->share[t->basis[r]] / -rate;
            leaving = r;
        }
    }

    for (int32_t r = 0; r < t->rows; r++) {
        double *share = &t->share[t->basis[r]];
        *share = fmax(*share + step * t->T[(size_t)r * (size_t)t->stride + (size_t)j], 0);
    }

    if (leaving < 0) {
        t->share[j] = 0;
        return;
    }

    t->share[j] -= step;
    t->share[t->basis[leaving]] = 0;
    eliminate(t, leaving, j);
}

static void reduce(tableau *t) {
    for (int32_t c = 0; c < t->columns; c++) {
        t->share[c] = 1;
    }

    find_basis(t);
    for (int32_t c = 0; c < t->columns; c++) {
        bool basic = false;
        for (int32_t r = 0; r < t->rows; r++) {
            basic = basic || t->basis[r] == c;
        }

        if (!basic) {
            drop_column(t, c);
        }
    }
}

static int32_t function_count(int32_t degree) {
    return (degree + 1) * (degree + 2) * (degree + 3) / 6;
}

size_t sn_select_work(int32_t degree) {
    size_t m = (size_t)function_count(degree);
    return 2 * m * m + 6 * m; // tableau, shares, basis, values and right-hand sides
}

// Distributes the remaining error of the moments over the chosen points, as evenly as possible.
static void polish(int32_t degree, const box_map *map, const double *positions, int32_t n,
                   double volume, int32_t count, const int32_t *chosen, double *volumes,
                   double *work) {
    int32_t m = function_count(degree);
    double *A = work;
    double *rest = work + (size_t)m * (size_t)count;
    double *values = rest + m;
    double *scratch = values + m;

    memset(rest, 0, (size_t)m * sizeof *rest);
    for (int32_t i = 0; i < n; i++) {
        compute_functions(values, degree, map, sn_at3(positions, i));
        for (int32_t k = 0; k < m; k++) {
            rest[k] += volume * values[k];
        }
    }

    for (int32_t i = 0; i < count; i++) {
        compute_functions(values, degree, map, sn_at3(positions, chosen[i]));
        for (int32_t k = 0; k < m; k++) {
            A[(size_t)k * (size_t)count + (size_t)i] = values[k];
            rest[k] -= volumes[i] * values[k];
        }
    }

    if (sn_dense_least_squares(A, m, count, count, rest, 1, 1, 1e-10, scratch) < 0) {
        return;
    }

    for (int32_t i = 0; i < count; i++) {
        if (volumes[i] + rest[i] > 0) {
            volumes[i] += rest[i];
        }
    }
}

int32_t sn_select_points(int32_t degree, const double *positions, int32_t n, double volume,
                         int32_t *chosen, double *volumes, double *work) {
    SN_ASSERT(degree >= 1 && degree <= SN_MAX_DEGREE && n > 0);
    int32_t m = function_count(degree);
    int32_t left = n;

    for (int32_t i = 0; i < n; i++) {
        chosen[i] = i;
        volumes[i] = volume;
    }

    if (n <= m) {
        return n;
    }

    box_map map = map_box(positions, n);
    tableau t = {.T = work, .stride = 2 * m, .share = work + 2 * (size_t)m * (size_t)m};
    double *values = t.share + 2 * (size_t)m;

    t.basis = (int32_t *)(values + m);
    for (bool single = false; !single;) {
        int32_t clusters = left < 2 * m ? left : 2 * m;
        int32_t kept = 0;

        single = clusters == left;
        t.rows = m;
        t.columns = clusters;
        memset(t.T, 0, 2 * (size_t)m * (size_t)m * sizeof *t.T);

        for (int32_t c = 0; c < clusters; c++) {
            for (int64_t i = (int64_t)c * left / clusters; i < (int64_t)(c + 1) * left / clusters;
                 i++) {
                compute_functions(values, degree, &map, sn_at3(positions, chosen[i]));
                for (int32_t k = 0; k < m; k++) {
                    t.T[(size_t)k * (size_t)t.stride + (size_t)c] += volumes[i] * values[k];
                }
            }
        }

        reduce(&t);
        for (int32_t c = 0; c < clusters; c++) {
            int64_t begin = (int64_t)c * left / clusters;
            int64_t end = (int64_t)(c + 1) * left / clusters;
            if (t.share[c] > 0) {
                for (int64_t i = begin; i < end; i++) {
                    chosen[kept] = chosen[i];
                    volumes[kept++] = volumes[i] * t.share[c];
                }
            }
        }

        left = kept;
    }

    polish(degree, &map, positions, n, volume, left, chosen, volumes, work);
    return left;
}
