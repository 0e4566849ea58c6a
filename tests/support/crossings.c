// Orientations by a floating-point filter and, where that cannot decide, by expansions (Shewchuk
// 1997): sums of doubles that do not overlap, smallest first, added and multiplied without error.
#include "support/crossings.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TERMS = 192 };

typedef struct expansion {
    int count;
    double term[MOST_TERMS];
} expansion;

static double two_sum(double a, double b, double *error) {
    double sum = a + b;
    double virtual_b = sum - a;
    *error = (a - (sum - virtual_b)) + (b - virtual_b);
    return sum;
}

// Adds one number, dropping zeros.
static void add_term(expansion *e, double b) {
    double carry = b;
    int count = 0;
    for (int i = 0; i < e->count; i++) {
        double error;
        carry = two_sum(carry, e->term[i], &error);
        if (error != 0) {
            e->term[count++] = error;
        }
    }

    if (carry != 0) {
        assert(count < MOST_TERMS);
        e->term[count++] = carry;
    }
    e->count = count;
}

static expansion difference(double a, double b) {
    expansion e;
    e.count = 0;
    add_term(&e, a);
    add_term(&e, -b);
    return e;
}

// sum += sign a b
static void add_product(expansion *sum, double sign, const expansion *a, const expansion *b) {
    for (int i = 0; i < a->count; i++) {
        for (int k = 0; k < b->count; k++) {
            double high = a->term[i] * b->term[k];
            double low = fma(a->term[i], b->term[k], -high);
            add_term(sum, sign * low);
            add_term(sum, sign * high);
        }
    }
}

static int sign_of(double a) {
    return (a > 0) - (a < 0);
}

// The terms do not overlap, so the largest, which is the last, has the sign of the sum.
static int expansion_sign(const expansion *e) {
    return e->count ? sign_of(e->term[e->count - 1]) : 0;
}

static int orientation_exact(const double *a, const double *b, const double *c, const double *d) {
    expansion r[3][3];
    for (int k = 0; k < 3; k++) {
        r[0][k] = difference(b[k], a[k]);
        r[1][k] = difference(c[k], a[k]);
        r[2][k] = difference(d[k], a[k]);
    }

    expansion sum;
    sum.count = 0;
    for (int k = 0; k < 3; k++) {
        expansion minor;
        minor.count = 0;
        int l = (k + 1) % 3, m = (k + 2) % 3;
        add_product(&minor, 1, &r[0][l], &r[1][m]);
        add_product(&minor, -1, &r[0][m], &r[1][l]);
        add_product(&sum, 1, &minor, &r[2][k]);
    }
    return expansion_sign(&sum);
}

int test_orientation(const double *a, const double *b, const double *c, const double *d) {
    double u[3], v[3], w[3];
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
        w[k] = d[k] - a[k];
    }

    // Shewchuk's bound for the rounding errors is below 8 units of the sum of magnitudes.
    double determinant = 0, magnitude = 0;
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        determinant += w[k] * (u[l] * v[m] - u[m] * v[l]);
        magnitude += fabs(w[k]) * (fabs(u[l] * v[m]) + fabs(u[m] * v[l]));
    }

    if (fabs(determinant) > 8 * DBL_EPSILON * magnitude) {
        return sign_of(determinant);
    }
    return orientation_exact(a, b, c, d);
}

// The orientation of abc in the coordinate plane without `axis`.
static int orientation_in_plane(const double *a, const double *b, const double *c, int axis) {
    int l = (axis + 1) % 3, m = (axis + 2) % 3;
    expansion u = difference(b[l], a[l]), v = difference(b[m], a[m]);
    expansion p = difference(c[l], a[l]), q = difference(c[m], a[m]);
    expansion sum;
    sum.count = 0;
    add_product(&sum, 1, &u, &q);
    add_product(&sum, -1, &v, &p);
    return expansion_sign(&sum);
}

static bool segments_meet_in_plane(const double *p, const double *q, const double *a,
                                   const double *b, int axis) {
    int s = orientation_in_plane(p, q, a, axis) * orientation_in_plane(p, q, b, axis);
    int t = orientation_in_plane(a, b, p, axis) * orientation_in_plane(a, b, q, axis);
    if (s > 0 || t > 0) {
        return false;
    }

    // On one line: they meet where their ranges do.
    for (int k = 0; k < 3; k++) {
        if (fmax(p[k], q[k]) < fmin(a[k], b[k]) || fmax(a[k], b[k]) < fmin(p[k], q[k])) {
            return false;
        }
    }
    return true;
}

// An edge in the plane of a triangle.
static bool meets_in_plane(const double *p, const double *q, const double *const corner[3]) {
    // An axis along which the triangle keeps an area; none if it has no area at all.
    int axis = 0;
    while (axis < 3 && orientation_in_plane(corner[0], corner[1], corner[2], axis) == 0) {
        axis++;
    }
    if (axis == 3) {
        return false;
    }

    int inside = 0;
    for (int k = 0; k < 3; k++) {
        inside += orientation_in_plane(corner[k], corner[(k + 1) % 3], p, axis);
        if (segments_meet_in_plane(p, q, corner[k], corner[(k + 1) % 3], axis)) {
            return true;
        }
    }
    return inside == 3 || inside == -3;
}

// An edge and a triangle without common vertices.
static bool edge_meets(const double *p, const double *q, const double *const corner[3],
                       bool same_part) {
    int from = test_orientation(corner[0], corner[1], corner[2], p);
    int to = test_orientation(corner[0], corner[1], corner[2], q);
    if (from * to > 0) {
        return false;
    }
    if (from == 0 && to == 0) {
        return !same_part && meets_in_plane(p, q, corner);
    }

    // The line through p and q passes the three sides on the same hand.
    int least = 1, most = -1;
    for (int k = 0; k < 3; k++) {
        int side = test_orientation(p, q, corner[k], corner[(k + 1) % 3]);
        least = side < least ? side : least;
        most = side > most ? side : most;
    }
    return least >= 0 || most <= 0;
}

static int shared_corners(const int32_t *s, const int32_t *t) {
    int count = 0;
    for (int i = 0; i < 9; i++) {
        count += s[i / 3] == t[i % 3];
    }
    return count;
}

static bool sides_meet(const test_surfaces *surfaces, const int32_t *s, const int32_t *t,
                       bool same_part) {
    const double *corner[3];
    for (int k = 0; k < 3; k++) {
        corner[k] = surfaces->x + 3 * (size_t)t[k];
    }

    for (int k = 0; k < 3; k++) {
        int32_t p = s[k], q = s[(k + 1) % 3];
        bool shared = p == t[0] || p == t[1] || p == t[2] || q == t[0] || q == t[1] || q == t[2];
        if (!shared && edge_meets(surfaces->x + 3 * (size_t)p, surfaces->x + 3 * (size_t)q, corner,
                                  same_part)) {
            return true;
        }
    }
    return false;
}

static bool triangles_meet(const test_surfaces *surfaces, int32_t a, int32_t b) {
    const int32_t *s = surfaces->triangles + 3 * (size_t)a;
    const int32_t *t = surfaces->triangles + 3 * (size_t)b;
    bool same_part =
        !surfaces->vertex_part || surfaces->vertex_part[s[0]] == surfaces->vertex_part[t[0]];
    return !(same_part && surfaces->apart) && shared_corners(s, t) < 2 &&
           (sides_meet(surfaces, s, t, same_part) || sides_meet(surfaces, t, s, same_part));
}

// A grid of about one cell per triangle over the box of all vertices.
typedef struct grid {
    const test_surfaces *surfaces;
    double lower[3], cell[3];
    int32_t cells[3];
    int32_t *offsets, *items; // the triangles of each cell
} grid;

typedef struct cell_range {
    int32_t from[3], to[3];
} cell_range;

static void triangle_box(const test_surfaces *surfaces, int32_t triangle, double lower[3],
                         double upper[3]) {
    for (int k = 0; k < 3; k++) {
        lower[k] = INFINITY;
        upper[k] = -INFINITY;
        for (int i = 0; i < 3; i++) {
            double at =
                surfaces->x[3 * (size_t)surfaces->triangles[3 * (size_t)triangle + (size_t)i] +
                            (size_t)k];
            lower[k] = fmin(lower[k], at);
            upper[k] = fmax(upper[k], at);
        }
    }
}

static cell_range cells_of(const grid *g, int32_t triangle) {
    double lower[3], upper[3];
    cell_range range;
    triangle_box(g->surfaces, triangle, lower, upper);
    for (int k = 0; k < 3; k++) {
        double last = g->cells[k] - 1;
        range.from[k] = (int32_t)fmin(floor((lower[k] - g->lower[k]) / g->cell[k]), last);
        range.to[k] = (int32_t)fmin(floor((upper[k] - g->lower[k]) / g->cell[k]), last);
    }
    return range;
}

// False if a position is not finite.
static bool size_grid(grid *g) {
    const test_surfaces *surfaces = g->surfaces;
    double upper[3] = {-INFINITY, -INFINITY, -INFINITY}, longest = 0;
    for (int k = 0; k < 3; k++) {
        g->lower[k] = INFINITY;
    }

    for (size_t i = 0; i < 3 * (size_t)surfaces->vertex_count; i++) {
        if (!isfinite(surfaces->x[i])) {
            return false;
        }
        g->lower[i % 3] = fmin(g->lower[i % 3], surfaces->x[i]);
        upper[i % 3] = fmax(upper[i % 3], surfaces->x[i]);
    }
    for (int k = 0; k < 3; k++) {
        longest = fmax(longest, upper[k] - g->lower[k]);
    }

    double across = ceil(cbrt(surfaces->triangle_count));
    for (int k = 0; k < 3; k++) {
        double size = upper[k] - g->lower[k];
        double cells = longest > 0 ? ceil(across * size / longest) : 1;
        g->cells[k] = (int32_t)fmax(cells, 1);
        g->cell[k] = size > 0 ? size / g->cells[k] : 1;
    }
    return true;
}

// Counts the triangles of each cell, or puts them there.
static void visit_cells(grid *g, bool put) {
    for (int32_t t = 0; t < g->surfaces->triangle_count; t++) {
        cell_range range = cells_of(g, t);
        for (int32_t z = range.from[2]; z <= range.to[2]; z++) {
            for (int32_t y = range.from[1]; y <= range.to[1]; y++) {
                for (int32_t x = range.from[0]; x <= range.to[0]; x++) {
                    int32_t cell = (z * g->cells[1] + y) * g->cells[0] + x;
                    if (put) {
                        g->items[g->offsets[cell]++] = t;
                    } else {
                        g->offsets[cell + 1]++;
                    }
                }
            }
        }
    }
}

// False if there is no memory.
static bool fill_grid(grid *g) {
    int32_t count = g->cells[0] * g->cells[1] * g->cells[2];
    g->offsets = calloc((size_t)count + 2, sizeof *g->offsets);
    if (!g->offsets) {
        return false;
    }

    visit_cells(g, false);
    for (int32_t i = 0; i < count; i++) {
        g->offsets[i + 1] += g->offsets[i];
    }

    g->items = calloc((size_t)g->offsets[count] + 1, sizeof *g->items);
    if (!g->items) {
        return false;
    }
    visit_cells(g, true);

    // Putting moved each offset to the next one.
    memmove(g->offsets + 1, g->offsets, (size_t)count * sizeof *g->offsets);
    g->offsets[0] = 0;
    return true;
}

// Whether a cell is the first that both triangles lie in, so that each pair counts once.
static bool is_first_common(const grid *g, int32_t cell, int32_t a, int32_t b) {
    cell_range s = cells_of(g, a), t = cells_of(g, b);
    int32_t at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = s.from[k] > t.from[k] ? s.from[k] : t.from[k];
    }
    return (at[2] * g->cells[1] + at[1]) * g->cells[0] + at[0] == cell;
}

static bool boxes_overlap(const test_surfaces *surfaces, int32_t a, int32_t b) {
    double lower[2][3], upper[2][3];
    triangle_box(surfaces, a, lower[0], upper[0]);
    triangle_box(surfaces, b, lower[1], upper[1]);
    for (int k = 0; k < 3; k++) {
        if (lower[0][k] > upper[1][k] || lower[1][k] > upper[0][k]) {
            return false;
        }
    }
    return true;
}

int64_t test_count_crossings(const test_surfaces *surfaces, int32_t first[2]) {
    if (surfaces->triangle_count == 0) {
        return 0;
    }

    grid g = {.surfaces = surfaces};
    if (!size_grid(&g) || !fill_grid(&g)) {
        free(g.offsets);
        return -1;
    }

    int64_t found = 0;
    int32_t count = g.cells[0] * g.cells[1] * g.cells[2];

    for (int32_t cell = 0; cell < count; cell++) {
        for (int32_t i = g.offsets[cell]; i < g.offsets[cell + 1]; i++) {
            for (int32_t k = i + 1; k < g.offsets[cell + 1]; k++) {
                int32_t a = g.items[i], b = g.items[k];
                if (!boxes_overlap(surfaces, a, b) || !is_first_common(&g, cell, a, b) ||
                    !triangles_meet(surfaces, a, b)) {
                    continue;
                }
                if (found++ == 0 && first) {
                    first[0] = a;
                    first[1] = b;
                }
            }
        }
    }

    free(g.offsets);
    free(g.items);
    return found;
}
