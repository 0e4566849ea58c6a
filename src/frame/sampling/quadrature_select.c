// Selects a few of many points or boxes, with positive volumes, that have the same moments as all
// of them.
//
// The functions are products of Legendre polynomials over the bounding box of the items, which
// keeps the systems well conditioned; those of a box are its means, by Gauss points. In each round
// the candidates are gathered into at most 2 m clusters, m being the number of functions. A
// positive combination of at most m clusters with the same sums is found, and the other clusters
// are dropped; in the last round the clusters are single points. The combination is a vertex of the
// polytope of all positive combinations. It is reached from "everything once" by reducing one
// cluster after the other to zero, with pivots as in the simplex method. A final least-squares step
// removes the rounding error.
#include "frame/sampling/samples_internal.h"

#include "linalg/dense.h"

#include <string.h>

sn_gauss sn_gauss_points(int32_t degree) {
    static const sn_gauss rules[] = {
        {1, {0}, {1}},
        {2, {-0.57735026918962576, 0.57735026918962576}, {0.5, 0.5}},
        {3, {-0.77459666924148338, 0, 0.77459666924148338}, {5 / 18.0, 8 / 18.0, 5 / 18.0}},
        {4,
         {-0.86113631159405258, -0.33998104358485626, 0.33998104358485626, 0.86113631159405258},
         {0.17392742256872693, 0.32607257743127307, 0.32607257743127307, 0.17392742256872693}},
        {5,
         {-0.90617984593866399, -0.53846931010568309, 0, 0.53846931010568309, 0.90617984593866399},
         {0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324,
          0.11846344252809454}}};

    SN_ASSERT(degree >= 0 && degree <= SN_MAX_DEGREE);
    return rules[degree / 2];
}

sn_box_map sn_map_box(const double *positions, int32_t n, const double *box, int32_t degree) {
    sn_box_map map = {.gauss = sn_gauss_points(box ? degree : 0)};
    for (int a = 0; a < 3; a++) {
        double low = positions[a];
        double high = low;
        for (int32_t i = 1; i < n; i++) {
            low = fmin(low, positions[3 * (size_t)i + (size_t)a]);
            high = fmax(high, positions[3 * (size_t)i + (size_t)a]);
        }

        double edge = box ? box[a] : 0;
        double length = high - low + edge;
        map.middle[a] = 0.5 * (low + high);
        map.scale[a] = length > 0 ? 2 / length : 0;
        map.half[a] = 0.5 * edge * map.scale[a];
    }

    return map;
}

void sn_box_functions(double *values, int32_t degree, const sn_box_map *map,
                      const double *position) {
    double P[3][SN_MAX_DEGREE + 1] = {{0}};

    // Legendre polynomials along each axis, by (k + 1) P_k+1 = (2 k + 1) x P_k - k P_k-1, averaged
    // over the cell.
    for (int a = 0; a < 3; a++) {
        double center = (position[a] - map->middle[a]) * map->scale[a];
        for (int g = 0; g < map->gauss.count; g++) {
            double x = center + map->half[a] * map->gauss.position[g];
            double before = 0, value = 1;
            for (int k = 0; k <= degree; k++) {
                double next = ((2 * k + 1) * x * value - k * before) / (k + 1);
                P[a][k] += map->gauss.weight[g] * value;
                before = value;
                value = next;
            }
        }
    }

    // Products up to the total degree.
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
        // The largest entry that is left is the pivot.
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

        // Move its row up.
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
    return 2 * m * m + 7 * m; // tableau, shares, basis, values, right-hand sides and sums
}

// Distributes the remaining error of the moments over the chosen points, as evenly as possible.
static void polish(int32_t degree, const sn_box_map *map, const double *positions,
                   const double *sums, int32_t count, const int32_t *chosen, double *volumes,
                   double *work) {
    int32_t m = function_count(degree);
    double *A = work;
    double *rest = work + (size_t)m * (size_t)count;
    double *values = rest + m;
    double *scratch = values + m;

    // What the moments of the chosen points miss.
    memcpy(rest, sums, (size_t)m * sizeof *rest);
    for (int32_t i = 0; i < count; i++) {
        sn_box_functions(values, degree, map, sn_at3(positions, chosen[i]));
        for (int32_t k = 0; k < m; k++) {
            A[(size_t)k * (size_t)count + (size_t)i] = values[k];
            rest[k] -= volumes[i] * values[k];
        }
    }

    // The smallest change of the volumes that makes it up; volumes stay positive.
    if (sn_dense_least_squares(A, m, count, count, rest, 1, 1, 1e-10, scratch) < 0) {
        return;
    }

    for (int32_t i = 0; i < count; i++) {
        if (volumes[i] + rest[i] > 0) {
            volumes[i] += rest[i];
        }
    }
}

int32_t sn_select_points(int32_t degree, const double *positions, int32_t n, const double *box,
                         int32_t *chosen, double *volumes, double *work) {
    SN_ASSERT(degree >= 1 && degree <= SN_MAX_DEGREE && n > 0);
    int32_t m = function_count(degree);
    int32_t left = n;

    for (int32_t i = 0; i < n; i++) {
        chosen[i] = i;
    }

    if (n <= m) {
        return n;
    }

    // The moments to be preserved.
    sn_box_map map = sn_map_box(positions, n, box, degree);
    double *sums = work + sn_select_work(degree) - m;
    tableau t = {.T = work, .stride = 2 * m, .share = work + 2 * (size_t)m * (size_t)m};
    double *values = t.share + 2 * (size_t)m;

    t.basis = (int32_t *)(values + m);
    memset(sums, 0, (size_t)m * sizeof *sums);
    for (int32_t i = 0; i < n; i++) {
        sn_box_functions(values, degree, &map, sn_at3(positions, i));
        for (int32_t k = 0; k < m; k++) {
            sums[k] += volumes[i] * values[k];
        }
    }

    // Caratheodory's theorem: m of any number of points can have the same m moments. Clusters of
    // points are eliminated as if each were one, until clusters are single points.
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
                sn_box_functions(values, degree, &map, sn_at3(positions, chosen[i]));
                for (int32_t k = 0; k < m; k++) {
                    t.T[(size_t)k * (size_t)t.stride + (size_t)c] += volumes[i] * values[k];
                }
            }
        }

        // Keep the points of clusters that have a share.
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

    polish(degree, &map, positions, sums, left, chosen, volumes, work);
    return left;
}
