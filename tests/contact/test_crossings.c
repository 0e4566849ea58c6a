// The exact test for intersections, which the tests of contact rely on: known cases, and random
// triangles against all pairs in extended precision.
#include "support/crossings.h"

#include "contact_support.h"

#include <stdlib.h>

static int64_t count_of(const double *x, int32_t vertices, const int32_t *triangles, int32_t count,
                        const int32_t *parts) {
    test_surfaces surfaces = {x, vertices, triangles, count, parts, false};
    return test_count_crossings(&surfaces, NULL);
}

static void test_orientations(void **state) {
    (void)state;
    const double a[3] = {0, 0, 0}, b[3] = {1, 0, 0}, c[3] = {0, 1, 0};
    assert_int_equal(test_orientation(a, b, c, (double[]){0.3, 0.3, 1}), 1);
    assert_int_equal(test_orientation(a, b, c, (double[]){0.3, 0.3, -1}), -1);
    assert_int_equal(test_orientation(a, b, c, (double[]){7, -3, 0}), 0);

    // A plane through the diagonal, x = y, and points about it that differ in the last bits: the
    // sign follows from the coordinates.
    const double s[3] = {12, 12, 12}, t[3] = {24, 24, 24}, u[3] = {1, 1, 5};
    int positive = test_orientation(s, t, u, (double[]){1, 0, 0});
    assert_int_equal(positive * positive, 1);
    sn_random random = sn_random_seed(1);
    int signs[3] = {0};

    for (int i = 0; i < 2000; i++) {
        double d[3] = {0.5, 0.5, 0.5};
        for (int k = 0; k < 2; k++) {
            d[k] += 0x1p-53 * (double)(sn_random_u32(&random) % 64);
        }

        int side = (d[0] > d[1]) - (d[0] < d[1]);
        assert_int_equal(test_orientation(s, t, u, d), side * positive);
        signs[side + 1]++;
    }
    assert_true(signs[0] > 100 && signs[1] > 5 && signs[2] > 100);
}

static void test_known_pairs(void **state) {
    (void)state;
    const int32_t two[6] = {0, 1, 2, 3, 4, 5}, parts[6] = {0, 0, 0, 1, 1, 1};
    double x[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, -1, 0.2, 0.2, 1, 0.3, 5, 1};
    assert_int_equal(count_of(x, 6, two, 2, NULL), 1);

    // The edge just above the plane, touching it, and beside the triangle.
    x[11] = 0x1p-60;
    assert_int_equal(count_of(x, 6, two, 2, NULL), 0);
    x[11] = 0;
    assert_int_equal(count_of(x, 6, two, 2, NULL), 1);
    x[9] = x[12] = 0.9;
    x[11] = -1;
    assert_int_equal(count_of(x, 6, two, 2, NULL), 0);

    // Coplanar: counts between bodies only.
    const double flat[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.1, 0.1, 0, 0.2, 0.1, 0, 0.1, 0.2, 0};
    assert_int_equal(count_of(flat, 6, two, 2, NULL), 0);
    assert_int_equal(count_of(flat, 6, two, 2, parts), 1);
    const double apart[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.8, 0.8, 0, 2, 0.8, 0, 0.8, 2, 0};
    assert_int_equal(count_of(apart, 6, two, 2, parts), 0);

    // Neighbours: a common edge never counts; with a common corner the opposite edge does.
    const int32_t hinge[6] = {0, 1, 2, 1, 0, 3}, fan[6] = {0, 1, 2, 0, 3, 4};
    const double h[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0.1};
    assert_int_equal(count_of(h, 4, hinge, 2, NULL), 0);
    const double open[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0, 0.5, -1, 0, -0.5};
    const double through[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2, 0.2, 0.5, 0.2, 0.2, -0.5};
    assert_int_equal(count_of(open, 5, fan, 2, NULL), 0);
    assert_int_equal(count_of(through, 5, fan, 2, NULL), 1);
}

static long double volume(const double *a, const double *b, const double *c, const double *d) {
    long double m[3][3];
    for (int k = 0; k < 3; k++) {
        m[0][k] = (long double)b[k] - a[k];
        m[1][k] = (long double)c[k] - a[k];
        m[2][k] = (long double)d[k] - a[k];
    }
    return m[2][0] * (m[0][1] * m[1][2] - m[0][2] * m[1][1]) +
           m[2][1] * (m[0][2] * m[1][0] - m[0][0] * m[1][2]) +
           m[2][2] * (m[0][0] * m[1][1] - m[0][1] * m[1][0]);
}

static bool pierces(const double *x, const int32_t *s, const int32_t *t) {
    const double *a = x + 3 * t[0], *b = x + 3 * t[1], *c = x + 3 * t[2];
    for (int k = 0; k < 3; k++) {
        const double *p = x + 3 * s[k], *q = x + 3 * s[(k + 1) % 3];
        long double u = volume(p, q, a, b), v = volume(p, q, b, c), w = volume(p, q, c, a);
        bool crosses = volume(a, b, c, p) * volume(a, b, c, q) < 0;
        if (crosses && ((u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0))) {
            return true;
        }
    }
    return false;
}

static void test_random_soup(void **state) {
    (void)state;
    enum { TRIANGLES = 400 };
    sn_random random = sn_random_seed(4);
    double x[9 * TRIANGLES];
    int32_t triangles[3 * TRIANGLES];
    int64_t expected = 0;

    for (int32_t i = 0; i < TRIANGLES; i++) {
        sn_vec3 center = random_vector(&random, 1);
        for (int k = 0; k < 3; k++) {
            triangles[3 * i + k] = 3 * i + k;
            double size = i % 50 ? 0.3 : 1;
            sn_store3(x + 9 * i + 3 * k, sn_add(center, random_vector(&random, size)));
        }
    }

    for (int32_t i = 0; i < TRIANGLES; i++) {
        for (int32_t k = 0; k < i; k++) {
            expected += pierces(x, triangles + 3 * i, triangles + 3 * k) ||
                        pierces(x, triangles + 3 * k, triangles + 3 * i);
        }
    }
    assert_true(expected > 100);
    assert_int_equal(count_of(x, 3 * TRIANGLES, triangles, TRIANGLES, NULL), expected);
}

static void test_bodies(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *ball = make_surface(context, SINEW_SHAPE_SPHERE, 1, 10);
    sinew_mesh *box = make_surface(context, SINEW_SHAPE_BOX, 1, 4);
    assert_int_equal(
        count_of(ball->points, ball->point_count, ball->indices, ball->element_count, NULL), 0);
    assert_int_equal(
        count_of(box->points, box->point_count, box->indices, box->element_count, NULL), 0);

    // Two copies of the ball, half a diameter apart: the curve of intersection crosses many.
    int32_t n = ball->point_count, m = ball->element_count;
    double *x = calloc(6 * (size_t)n, sizeof *x);
    int32_t *triangles = calloc(6 * (size_t)m, sizeof *triangles);
    for (int32_t i = 0; i < 6 * n; i++) {
        x[i] = ball->points[i % (3 * n)] + (i >= 3 * n ? 0.5 : 0);
    }
    for (int32_t i = 0; i < 6 * m; i++) {
        triangles[i] = ball->indices[i % (3 * m)] + (i >= 3 * m ? n : 0);
    }
    assert_true(count_of(x, 2 * n, triangles, 2 * m, NULL) > 20);

    free(x);
    free(triangles);
    sinew_mesh_destroy(ball);
    sinew_mesh_destroy(box);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orientations),
        cmocka_unit_test(test_known_pairs),
        cmocka_unit_test(test_random_soup),
        cmocka_unit_test(test_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
