// A dozen points with the moments of a region up to degree four, where a selection among the
// voxels' own points needs up to 35 (quadrature_select.c).
//
// Fourteen points of Hammer and Stroud (1958), which integrate over a cube up to degree five, are
// placed in the covariance of the region. Newton's method then moves them and changes their volumes
// until the moments are those of the voxels. There are 35 equations and more unknowns than that, so
// each step is the smallest one that solves the linearised equations, after a pull on points that
// are outside the bounding box and on volumes that are too small:
//
//   J z = r,    z = p + J' (J J')^-1 (r - J p)
//
// Then the point with the smallest volume is left out and the others adapt, as long as they can
// (Xiao and Gimbutas 2010).
//
// The points of a box are found at once. A region of a shape too far from a box may have no such
// points; the caller selects points instead.
//
// Cost: 35 numbers for each voxel, and about 0.1 Mflop for each step, of which there are about 60.
#include "frame/sampling/samples_internal.h"

#include "linalg/dense.h"

#include <string.h>

enum {
    DEGREE = SN_FIT_DEGREE,
    MOST_POINTS = SN_FIT_POINTS,
    FEWEST_POINTS = 10,
    FUNCTIONS = 35,
    UNKNOWNS = 4 * MOST_POINTS,
    MOST_STEPS = 60
};

_Static_assert(SN_FIT_WORK >= FUNCTIONS * (UNKNOWNS + FUNCTIONS), "work holds J and J J'");

// Relative to the volume: what may be left of a moment, and the least share of a point; the mean is
// 1/14 or more.
static const double TOLERANCE = 1e-13, LEAST_SHARE = 0.005;

// Points in units of the bounding box, [-1, 1], and their shares of the volume.
typedef struct fit {
    int count;
    double at[MOST_POINTS][3], share[MOST_POINTS];
} fit;

// Places the points: six on the axes and eight at the corners of a cube with the variance of the
// region.
static void start(fit *f, const sn_box_map *map, sn_vec3 center, const sn_mat3 *root) {
    const double axis = sqrt(3) * sqrt(19.0 / 30), corner = sqrt(3) * sqrt(19.0 / 33);
    f->count = MOST_POINTS;
    for (int i = 0; i < MOST_POINTS; i++) {
        double d[3] = {0}, X[3];
        if (i < 6) {
            d[i / 2] = i & 1 ? axis : -axis;
        } else {
            for (int a = 0; a < 3; a++) {
                d[a] = (i - 6) >> a & 1 ? corner : -corner;
            }
        }

        sn_store3(X, sn_add(center, sn_mat3_apply(*root, sn_load3(d))));
        for (int a = 0; a < 3; a++) {
            f->at[i][a] = (X[a] - map->middle[a]) * map->scale[a];
        }
        f->share[i] = i < 6 ? 40.0 / 361 : 121.0 / 2888;
    }
}

// Legendre polynomials up to DEGREE and their derivatives.
static void list_legendre(double x, double P[DEGREE + 1], double D[DEGREE + 1]) {
    P[0] = 1;
    P[1] = x;
    D[0] = 0;
    D[1] = 1;
    for (int k = 1; k < DEGREE; k++) {
        P[k + 1] = ((2 * k + 1) * x * P[k] - k * P[k - 1]) / (k + 1);
        D[k + 1] = (2 * k + 1) * P[k] + D[k - 1];
    }
}

// Fills the four columns of J of a point, and subtracts its moments from `rest`. A share is an
// unknown in units of the mean share, so that a step changes shares and positions alike.
static void add_point(const fit *f, int i, double *J, double *rest) {
    double P[3][DEGREE + 1], D[3][DEGREE + 1];
    for (int a = 0; a < 3; a++) {
        list_legendre(f->at[i][a], P[a], D[a]);
    }

    // Products in the order of sn_box_functions.
    int row = 0;
    for (int k = 0; k <= DEGREE; k++) {
        for (int a = k; a >= 0; a--) {
            for (int b = k - a; b >= 0; b--, row++) {
                int c = k - a - b;
                double *columns = J + row * UNKNOWNS + 4 * i;
                double value = P[0][a] * P[1][b] * P[2][c];
                columns[0] = f->share[i] * D[0][a] * P[1][b] * P[2][c];
                columns[1] = f->share[i] * P[0][a] * D[1][b] * P[2][c];
                columns[2] = f->share[i] * P[0][a] * P[1][b] * D[2][c];
                columns[3] = value / f->count;
                rest[row] -= f->share[i] * value;
            }
        }
    }
}

// Computes the pull: half-way to the inside, with some room. Returns whether there is none.
static bool find_pull(const fit *f, double pull[UNKNOWNS]) {
    const double bound = 0.98, least = 2 * LEAST_SHARE;
    bool inside = true;
    for (int i = 0; i < f->count; i++) {
        for (int a = 0; a < 3; a++) {
            double x = f->at[i][a];
            pull[4 * i + a] = fabs(x) > 1 ? 0.5 * (copysign(bound, x) - x) : 0;
            inside = inside && fabs(x) <= 1;
        }
        double share = f->share[i];
        pull[4 * i + 3] = share < LEAST_SHARE ? 0.5 * (least - share) * f->count : 0;
        inside = inside && share >= LEAST_SHARE;
    }
    return inside;
}

// z = p + J' (J J')^-1 (rest - J p); `z` holds p. Returns false if J J' is singular.
static bool solve_step(const double *J, double *JJ, int unknowns, double *rest, double *z) {
    for (int r = 0; r < FUNCTIONS; r++) {
        const double *row = J + r * UNKNOWNS;
        for (int k = 0; k < unknowns; k++) {
            rest[r] -= row[k] * z[k];
        }
        for (int c = 0; c <= r; c++) {
            const double *other = J + c * UNKNOWNS;
            double sum = 0;
            for (int k = 0; k < unknowns; k++) {
                sum += row[k] * other[k];
            }
            JJ[r * FUNCTIONS + c] = sum;
        }
    }

    if (sn_dense_cholesky(JJ, FUNCTIONS, FUNCTIONS) >= 0) {
        return false;
    }

    sn_dense_cholesky_solve(JJ, FUNCTIONS, FUNCTIONS, rest);
    for (int r = 0; r < FUNCTIONS; r++) {
        for (int k = 0; k < unknowns; k++) {
            z[k] += J[r * UNKNOWNS + k] * rest[r];
        }
    }
    return true;
}

// Takes a step, shortened if it is long.
static void take_step(fit *f, const double *step) {
    const double longest = 0.3;
    double largest = 0;
    for (int k = 0; k < 4 * f->count; k++) {
        largest = fmax(largest, fabs(step[k]));
    }

    double scale = largest > longest ? longest / largest : 1;
    for (int i = 0; i < f->count; i++) {
        for (int a = 0; a < 3; a++) {
            f->at[i][a] += scale * step[4 * i + a];
        }
        f->share[i] += scale * step[4 * i + 3] / f->count;
    }
}

// Newton's method. Returns whether points inside with positive shares have the moments.
static bool iterate(fit *f, const double *moment, double *work) {
    double *J = work, *JJ = work + FUNCTIONS * UNKNOWNS;
    double rest[FUNCTIONS], step[UNKNOWNS];

    for (int k = 0; k < MOST_STEPS; k++) {
        memcpy(rest, moment, sizeof rest);
        for (int i = 0; i < f->count; i++) {
            add_point(f, i, J, rest);
        }

        double largest = 0;
        for (int r = 0; r < FUNCTIONS; r++) {
            largest = fmax(largest, fabs(rest[r]));
        }

        bool inside = find_pull(f, step);
        if (inside && largest < TOLERANCE) {
            return true;
        }
        if (!(largest < 1e3) || !solve_step(J, JJ, 4 * f->count, rest, step)) {
            return false;
        }
        take_step(f, step);
    }

    return false;
}

// Leaves out the point with the smallest share.
static void drop_smallest(fit *f) {
    int smallest = 0;
    for (int i = 1; i < f->count; i++) {
        smallest = f->share[i] < f->share[smallest] ? i : smallest;
    }

    f->count--;
    for (int i = smallest; i < f->count; i++) {
        memcpy(f->at[i], f->at[i + 1], sizeof f->at[i]);
        f->share[i] = f->share[i + 1];
    }
}

int32_t sn_fit_points(const sn_fit_input *input, double *positions, double *volumes, double *work) {
    sn_box_map map = sn_map_box(input->centers, input->count, input->box, DEGREE);
    double values[FUNCTIONS], moment[FUNCTIONS] = {0};
    fit found;

    // The moments of the voxels, relative to the volume.
    for (int32_t i = 0; i < input->count; i++) {
        sn_box_functions(values, DEGREE, &map, sn_at3(input->centers, i));
        for (int k = 0; k < FUNCTIONS; k++) {
            moment[k] += input->parts[i] / input->volume * values[k];
        }
    }

    start(&found, &map, input->center, input->root);
    if (!iterate(&found, moment, work)) {
        return 0;
    }

    // As few as possible.
    fit fewer = found;
    while (fewer.count > FEWEST_POINTS) {
        drop_smallest(&fewer);
        if (!iterate(&fewer, moment, work)) {
            break;
        }
        found = fewer;
    }

    for (int i = 0; i < found.count; i++) {
        for (int a = 0; a < 3; a++) {
            positions[3 * i + a] = map.middle[a] + found.at[i][a] / map.scale[a];
        }
        volumes[i] = found.share[i] * input->volume;
    }

    return found.count;
}
