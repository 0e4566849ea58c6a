// Curves: exact circles by rational weights, arc length, frames that do not twist and converge at
// fourth order, invalid input.
#include "support/test.h"

#include "field/curve.h"
#include "sinew/field.h"

#include <stdlib.h>

static const double PI = 3.14159265358979323846;

// ---- Double reflection --------------------------------------------------------------------------

// A helix (a cos s, a sin s, b s). Its Frenet frame rotates about the tangent by the torsion
// b / (a^2 + b^2) per length, so that the rotation-minimising axis lies at minus that angle from
// the normal.
static double helix_error(int32_t count) {
    enum { MOST = 513 };
    sn_vec3 x[MOST], t[MOST], r[MOST];
    const double a = 1;
    const double b = 0.7;
    const double end = 5;
    const double speed = sqrt(a * a + b * b);

    assert_true(count <= MOST);
    double worst = 0;
    for (int32_t i = 0; i < count; i++) {
        double s = end * i / (count - 1);
        x[i] = sn_v3(a * cos(s), a * sin(s), b * s);
        t[i] = sn_scale(1 / speed, sn_v3(-a * sin(s), a * cos(s), b));
    }

    r[0] = sn_v3(-1, 0, 0);
    sn_double_reflection(r, x, t, count);
    for (int32_t i = 0; i < count; i++) {
        double s = end * i / (count - 1);
        double angle = -b / speed * s; // torsion times length
        sn_vec3 normal = sn_v3(-cos(s), -sin(s), 0);
        sn_vec3 binormal = sn_cross(t[i], normal);
        sn_vec3 exact = sn_add(sn_scale(cos(angle), normal), sn_scale(sin(angle), binormal));
        worst = fmax(worst, sn_distance(r[i], exact));
    }

    return worst;
}

static void test_fourth_order(void **state) {
    (void)state;
    double before = helix_error(17);
    assert_true(before > 1e-8);

    for (int32_t count = 33; count <= 129; count = 2 * count - 1) {
        double error = helix_error(count);
        test_close("order of double reflection", log2(before / error), 4, 0.1);
        before = error;
    }
}

// ---- Shape --------------------------------------------------------------------------------------

// A quarter circle as a rational cubic, raised from the quadratic with weights 1, sqrt(1/2), 1.
static void test_rational_circle(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    double w = (1 + 2 * sqrt(0.5)) / 3;
    double side = 2 * sqrt(0.5) / (1 + 2 * sqrt(0.5));
    double points[12] = {1, 0, 0, 1, side, 0, side, 1, 0, 0, 1, 0};
    double weights[4] = {1, w, w, 1};
    sinew_curve_def def = sinew_default_curve_def();

    def.points = points;
    def.point_count = 4;
    def.weights = weights;
    def.normal[2] = 1;

    double length, places[33 * 3], axes[33 * 9];
    assert_int_equal(sinew_curve_compute_length(context, &def, &length), SINEW_OK);
    test_close("quarter of a circle", length, 0.5 * PI, 1e-10); // quadrature of order 10 on eighths
    assert_int_equal(sinew_curve_compute_frames(context, &def, 33, places, axes), SINEW_OK);

    for (int i = 0; i < 33; i++) {
        double angle = 0.5 * PI * i / 32;
        test_close("x", places[3 * i], cos(angle), 1e-9);
        test_close("y", places[3 * i + 1], sin(angle), 1e-9);
        test_close("tangent", axes[9 * i + 6] * cos(angle) + axes[9 * i + 7] * sin(angle), 0, 1e-9);
        test_close("a plane curve does not twist", axes[9 * i + 2], 1, 1e-12);
    }

    // A quarter turn maps the second axis to the first, and the first to minus the second.
    double turned[33 * 9];

    def.turn = 0.5 * PI;
    assert_int_equal(sinew_curve_compute_frames(context, &def, 33, NULL, turned), SINEW_OK);
    for (int i = 0; i < 33; i++) {
        for (int k = 0; k < 3; k++) {
            test_close("turned first axis", turned[9 * i + k], axes[9 * i + 3 + k], 1e-12);
            test_close("turned second axis", turned[9 * i + 3 + k], -axes[9 * i + k], 1e-12);
            test_close("the tangent stays", turned[9 * i + 6 + k], axes[9 * i + 6 + k], 1e-12);
        }
    }

    sinew_context_destroy(context);
}

// Knots that repeat the clamped default give the same curve; a B-spline of collinear, evenly spaced
// points is a straight line.
static void test_knots(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    double points[18];
    double knots[10] = {0, 0, 0, 0, 1.0 / 3, 2.0 / 3, 1, 1, 1, 1};
    double a[15], b[15], shifted[10];

    for (int i = 0; i < 6; i++) {
        points[3 * i] = i;
        points[3 * i + 1] = sin(2.0 * i);
        points[3 * i + 2] = cos(3.0 * i);
    }

    sinew_curve_def def = sinew_default_curve_def();
    def.points = points;
    def.point_count = 6;
    assert_int_equal(sinew_curve_compute_frames(context, &def, 5, a, NULL), SINEW_OK);

    for (int i = 0; i < 10; i++) {
        shifted[i] = 7 + 3 * knots[i];
    }

    def.knots = shifted; // the unit and origin of the parameter do not matter
    assert_int_equal(sinew_curve_compute_frames(context, &def, 5, b, NULL), SINEW_OK);
    assert_true(test_relative_error(b, a, 15) < 1e-10);
    test_close("starts at the first point", a[0], 0, 1e-12);
    test_close("ends at the last point", a[12], 5, 1e-12);

    // The tangents are the derivative: they agree with the chord between neighbouring points.
    double places[2001 * 3];
    double *axes = malloc(2001 * 9 * sizeof(double));

    assert_int_equal(sinew_curve_compute_frames(context, &def, 2001, places, axes), SINEW_OK);
    for (int i = 1; i < 2000; i += 37) {
        sn_vec3 chord =
            sn_normalize(sn_sub(sn_load3(places + 3 * (i + 1)), sn_load3(places + 3 * (i - 1))));
        // Second order in 1/1000 of the length.
        assert_true(sn_distance(chord, sn_load3(axes + 9 * i + 6)) < 1e-4);
    }

    free(axes);
    sinew_context_destroy(context);
}

static void test_stroke(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    double points[9] = {0, 0, 0, 2, 0, 0, 2, 1, 0};
    double places[7 * 3], axes[7 * 9], length;
    sinew_curve_def def = sinew_default_curve_def();

    def.kind = SINEW_CURVE_STROKE;
    def.points = points;
    def.point_count = 3;
    assert_int_equal(sinew_curve_compute_length(context, &def, &length), SINEW_OK);
    test_close("length of a polyline", length, 3, 1e-14);
    assert_int_equal(sinew_curve_compute_frames(context, &def, 7, places, axes), SINEW_OK);
    test_close("x at 1.5 of 3", places[9], 1.5, 1e-14);
    test_close("y at 2.5 of 3", places[16], 0.5, 1e-14);

    // At the corner the tangent is the mean of both directions.
    test_close("tangent at the corner", axes[9 * 4 + 6], sqrt(0.5), 1e-14);
    for (int i = 0; i < 7; i++) {
        sn_mat3 Q = sn_mat3_columns(sn_load3(axes + 9 * i), sn_load3(axes + 9 * i + 3),
                                    sn_load3(axes + 9 * i + 6));
        test_close("right-handed", sn_mat3_det(Q), 1, 1e-12);
    }

    sinew_context_destroy(context);
}

// A curve that reverses its direction has frames at that point too.
static void test_turning_back(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const double points[9] = {-0.5, 0, 0.1, -0.2, 0.1, 0, -0.5, 0, 0.1};
    double axes[5 * 9];
    sinew_curve_def def = sinew_default_curve_def();

    def.points = points;
    def.point_count = 3;
    for (int kind = 0; kind < 2; kind++) {
        def.kind = (sinew_curve_kind)kind;
        assert_int_equal(sinew_curve_compute_frames(context, &def, 5, NULL, axes), SINEW_OK);
        for (int i = 0; i < 5; i++) {
            sn_mat3 Q = sn_mat3_columns(sn_load3(axes + 9 * i), sn_load3(axes + 9 * i + 3),
                                        sn_load3(axes + 9 * i + 6));
            test_close("three axes at right angles", sn_mat3_det(Q), 1, 1e-12);
        }
    }

    sinew_context_destroy(context);
}

// ---- Refusals -----------------------------------------------------------------------------------

static void expect_refused(sinew_context *context, const sinew_curve_def *def, const char *words) {
    double length = -1;
    assert_int_not_equal(sinew_curve_compute_length(context, def, &length), SINEW_OK);
    assert_true(length == -1);
    if (strstr(sinew_context_message(context), words) == NULL) {
        fail_msg("'%s' not in: %s", words, sinew_context_message(context));
    }
}

static void test_bad_curves(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    double points[12] = {0, 0, 0, 1, 0, 0, 1, 0, 0, 2, 1, 0};
    double same[6] = {3, 3, 3, 3, 3, 3};
    sinew_curve_def def = sinew_default_curve_def();

    expect_refused(context, &def, "at least 2");
    def.points = points;
    def.point_count = 1;
    expect_refused(context, &def, "has 1 points");
    def.point_count = 4;
    def.name = "spine";
    expect_refused(context, &def, "spine: points 1 and 2 are the same");
    def.points = same;
    def.point_count = 2;
    expect_refused(context, &def, "no length");
    points[6] = 1.5;
    def.points = points;
    def.point_count = 4;
    points[10] = NAN;
    expect_refused(context, &def, "point 3 is not finite");
    points[10] = 1e300;
    expect_refused(context, &def, "finite and above 0");
    points[10] = 1;

    double weights[4] = {1, 1, 0, 1};
    def.weights = weights;
    expect_refused(context, &def, "weight 2");
    def.weights = NULL;

    double knots[8] = {0, 0, 0, 0, 1, 1, 0.5, 1};
    def.knots = knots;
    expect_refused(context, &def, "knot 6");

    for (int i = 0; i < 8; i++) {
        knots[i] = 1;
    }

    expect_refused(context, &def, "knot");
    def.knots = NULL;
    def.turn = INFINITY;
    expect_refused(context, &def, "turn");
    def.turn = 0;
    def.kind = (sinew_curve_kind)9;
    expect_refused(context, &def, "kind 9");
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fourth_order), cmocka_unit_test(test_rational_circle),
        cmocka_unit_test(test_knots),        cmocka_unit_test(test_stroke),
        cmocka_unit_test(test_turning_back), cmocka_unit_test(test_bad_curves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
