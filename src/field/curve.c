// Curves. Input: definitions, which are checked; output: positions by arc length and rotation
// minimising frames.
//
// A NURBS is evaluated by de Boor's recurrence on homogeneous coordinates, whose last step also
// gives the derivative. Arc length is integrated once by five-point Gauss quadrature on the pieces
// of each knot span; the parameter of a given length is found by Newton's method within its piece.
// Frames follow Wang et al. 2008. A sample costs a few evaluations.
#include "field/curve.h"

#include <stdio.h>
#include <string.h>

sinew_curve_def sinew_default_curve_def(void) {
    return (sinew_curve_def){.kind = SINEW_CURVE_NURBS, .filled = SN_DEF_FILLED};
}

// ---- Checks -------------------------------------------------------------------------------------

static sinew_status check_points(sinew_context *context, const sinew_curve_def *def,
                                 const char *name) {
    if (def->points == NULL || def->point_count < 2) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "%s has %d points; a curve needs at least 2", name,
                       def->points == NULL ? 0 : (int)def->point_count);
    }

    for (int32_t i = 0; i < def->point_count; i++) {
        sn_vec3 p = sn_load3(sn_at3(def->points, i));
        if (!sn_finite3(p)) {
            return sn_fail(context, SINEW_INVALID_DATA, "%s: point %d is not finite", name, (int)i);
        }

        if (i > 0 && sn_distance(p, sn_load3(sn_at3(def->points, i - 1))) == 0) {
            return sn_fail(context, SINEW_INVALID_DATA,
                           "%s: points %d and %d are the same (%g %g %g); leave one out%s", name,
                           (int)(i - 1), (int)i, p.x, p.y, p.z,
                           def->point_count == 2 ? ", a curve of no length has no direction" : "");
        }
    }

    return SINEW_OK;
}

static sinew_status check_knots(sinew_context *context, const sinew_curve_def *def, int32_t degree,
                                const char *name) {
    if (def->weights != NULL) {
        for (int32_t i = 0; i < def->point_count; i++) {
            if (!(def->weights[i] > 0) || !isfinite(def->weights[i])) {
                return sn_fail(context, SINEW_INVALID_DATA,
                               "%s: weight %d is %g; weights are above 0", name, (int)i,
                               def->weights[i]);
            }
        }
    }

    if (def->knots == NULL) {
        return SINEW_OK;
    }

    // Finite and ascending; a knot may be repeated as often as the curve stays continuous.
    int32_t count = def->point_count + degree + 1;
    int32_t same = 1;
    for (int32_t i = 0; i < count; i++) {
        if (!isfinite(def->knots[i]) || (i > 0 && def->knots[i] < def->knots[i - 1])) {
            return sn_fail(context, SINEW_INVALID_DATA,
                           "%s: knot %d is %g; knots are finite and do not descend", name, (int)i,
                           def->knots[i]);
        }

        same = i > 0 && def->knots[i] == def->knots[i - 1] ? same + 1 : 1;
        bool inside =
            def->knots[i] > def->knots[degree] && def->knots[i] < def->knots[def->point_count];

        if (same > (inside ? degree : degree + 1)) {
            return sn_fail(
                context, SINEW_INVALID_DATA,
                "%s: knot %d repeats %g %d times; at most %d inside a curve of degree %d", name,
                (int)i, def->knots[i], (int)same, (int)degree, (int)degree);
        }
    }

    if (!(def->knots[def->point_count] > def->knots[degree])) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "%s: knots %d and %d are both %g; the curve between them has no length",
                       name, (int)degree, (int)def->point_count, def->knots[degree]);
    }

    return SINEW_OK;
}

// ---- Evaluation ---------------------------------------------------------------------------------

// The index k of the knot span [u_k, u_k+1) that contains u, of nonzero length even at the end.
static int32_t find_span(const sn_curve *curve, double u) {
    int32_t low = curve->degree;
    int32_t high = curve->point_count; // u_low <= u <= u_high
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (u < curve->knots[middle]) {
            high = middle;
        } else {
            low = middle;
        }
    }

    while (low > curve->degree && !(curve->knots[low + 1] > curve->knots[low])) {
        low--;
    }

    return low;
}

static void evaluate_nurbs(const sn_curve *curve, double u, sn_vec3 *x, sn_vec3 *dx) {
    int32_t p = curve->degree;
    int32_t k = find_span(curve, u);
    const double *U = curve->knots;
    double d[SN_CURVE_DEGREE + 1][4];

    // Homogeneous control points of the span.
    for (int32_t j = 0; j <= p; j++) {
        int32_t i = k - p + j;
        double w = curve->weights[i];
        for (int c = 0; c < 3; c++) {
            d[j][c] = w * curve->points[3 * (size_t)i + (size_t)c];
        }
        d[j][3] = w;
    }

    // de Boor's recurrence. The difference before the last level gives the derivative.
    double slope[4] = {0};
    for (int32_t level = 1; level <= p; level++) {
        if (level == p) {
            for (int c = 0; c < 4; c++) {
                slope[c] = p * (d[p][c] - d[p - 1][c]) / (U[k + 1] - U[k]);
            }
        }

        for (int32_t j = p; j >= level; j--) {
            int32_t i = k - p + j;
            double a = (u - U[i]) / (U[i + p + 1 - level] - U[i]);
            for (int c = 0; c < 4; c++) {
                d[j][c] = (1 - a) * d[j - 1][c] + a * d[j][c];
            }
        }
    }

    // Project back to space.
    *x = sn_scale(1 / d[p][3], sn_load3(d[p]));
    *dx = sn_scale(1 / d[p][3], sn_madd(sn_load3(slope), -slope[3], *x));
}

// The parameter of a polyline is the index of a point plus the fraction of the segment to the next.
static void evaluate_stroke(const sn_curve *curve, double u, sn_vec3 *x, sn_vec3 *dx) {
    int32_t i = (int32_t)u;
    if (i > curve->point_count - 2) {
        i = curve->point_count - 2;
    }

    sn_vec3 a = sn_load3(sn_at3(curve->points, i));
    sn_vec3 b = sn_load3(curve->points + 3 * (size_t)i + 3);
    *dx = sn_sub(b, a);
    *x = sn_madd(a, u - i, *dx);
}

void sn_curve_evaluate(const sn_curve *curve, double u, sn_vec3 *x, sn_vec3 *dx) {
    if (curve->kind == SINEW_CURVE_NURBS) {
        evaluate_nurbs(curve, u, x, dx);
    } else {
        evaluate_stroke(curve, u, x, dx);
    }
}

// ---- Arc length ---------------------------------------------------------------------------------

static double integrate_speed(const sn_curve *curve, double from, double to) {
    static const double nodes[3] = {0, 0.538469310105683091, 0.906179845938663993};
    static const double weights[3] = {0.568888888888888889, 0.478628670499366468,
                                      0.236926885056189088};
    double middle = 0.5 * (from + to);
    double half = 0.5 * (to - from);
    double sum = 0;
    sn_vec3 x, dx;

    // The outer nodes count twice, the middle one once.
    for (int k = 0; k < 3; k++) {
        for (int side = -1; side <= 1; side += 2) {
            if (k == 0 && side > 0) {
                continue;
            }
            sn_curve_evaluate(curve, middle + side * half * nodes[k], &x, &dx);
            sum += weights[k] * sn_length(dx);
        }
    }

    return half * sum;
}

static sinew_status measure(sn_arena *arena, sn_curve *curve) {
    int32_t spans = curve->point_count - curve->degree;
    bool nurbs = curve->kind == SINEW_CURVE_NURBS;
    int32_t most = nurbs ? spans * SN_CURVE_PIECES + 1 : curve->point_count;

    curve->breaks = SN_PUSH(arena, double, most);
    curve->lengths = SN_PUSH(arena, double, most);
    SN_TRY(sn_arena_status(arena));

    // Break the knot spans into pieces; a polyline breaks at its points.
    int32_t count = 0;
    if (nurbs) {
        const double *U = curve->knots + curve->degree;
        curve->breaks[count++] = U[0];
        for (int32_t k = 0; k < spans; k++) {
            if (!(U[k + 1] > U[k])) {
                continue;
            }

            for (int32_t piece = 1; piece <= SN_CURVE_PIECES; piece++) {
                double part = (double)piece / SN_CURVE_PIECES;
                curve->breaks[count++] = (1 - part) * U[k] + part * U[k + 1];
            }
        }
    } else {
        for (; count < curve->point_count; count++) {
            curve->breaks[count] = count;
        }
    }

    // Accumulate the length.
    curve->break_count = count;
    for (int32_t i = 1; i < count; i++) {
        curve->lengths[i] =
            curve->lengths[i - 1] + integrate_speed(curve, curve->breaks[i - 1], curve->breaks[i]);
    }

    return SINEW_OK;
}

// The parameter at length s, searched in piece i (lengths[i] <= s <= lengths[i + 1]).
static double find_parameter(const sn_curve *curve, int32_t i, double s) {
    double low = curve->breaks[i];
    double high = curve->breaks[i + 1];
    double piece = curve->lengths[i + 1] - curve->lengths[i];
    double target = s - curve->lengths[i];
    double u = piece > 0 ? low + (high - low) * target / piece : low;

    if (curve->kind == SINEW_CURVE_STROKE) {
        return u;
    }

    // Newton's method, kept within the piece.
    for (int iteration = 0; iteration < 8; iteration++) {
        sn_vec3 x, dx;
        double error = integrate_speed(curve, curve->breaks[i], u) - target;
        sn_curve_evaluate(curve, u, &x, &dx);
        double speed = sn_length(dx);

        if (fabs(error) <= 1e-14 * sn_curve_length(curve) || speed == 0) {
            break;
        }

        u = fmin(fmax(u - error / speed, low), high);
    }

    return u;
}

// The derivative vanishes at a cusp or a doubled control point: use the chord around it instead.
static sn_vec3 find_tangent(const sn_curve *curve, double u, sn_vec3 x, sn_vec3 dx) {
    double last = curve->breaks[curve->break_count - 1];
    double range = last - curve->breaks[0];
    if (sn_length(dx) * range > 1e-9 * sn_curve_length(curve)) {
        return sn_normalize(dx);
    }

    sn_vec3 before, after, unused;
    sn_curve_evaluate(curve, fmax(u - 1e-3 * range, curve->breaks[0]), &before, &unused);
    sn_curve_evaluate(curve, fmin(u + 1e-3 * range, last), &after, &unused);

    sn_vec3 chord = sn_sub(after, before);
    if (sn_length(chord) > 1e-9 * sn_curve_length(curve)) {
        return sn_normalize(chord);
    }

    // The curve reverses here: use the direction of arrival.
    return sn_normalize(sn_sub(x, before));
}

// The tangent of a polyline rotates evenly along each segment, so that it does not jump at corners.
static sn_vec3 find_stroke_tangent(const sn_curve *curve, double u, sn_vec3 dx) {
    int32_t i = (int32_t)u;
    if (i > curve->point_count - 2) {
        i = curve->point_count - 2;
    }

    const double *t = sn_at3(curve->tangents, i);
    sn_vec3 mean = sn_add(sn_scale(1 - (u - i), sn_load3(t)), sn_scale(u - i, sn_load3(t + 3)));

    return sn_normalize(sn_length(mean) > 1e-6 ? mean : dx);
}

void sn_curve_sample(const sn_curve *curve, int32_t count, sn_vec3 *x, sn_vec3 *t) {
    SN_ASSERT(count >= 2);
    double length = sn_curve_length(curve);
    int32_t piece = 0;

    for (int32_t k = 0; k < count; k++) {
        double s = length * k / (count - 1);
        while (piece < curve->break_count - 2 && curve->lengths[piece + 1] < s) {
            piece++;
        }

        double u = find_parameter(curve, piece, s);
        sn_vec3 dx;
        sn_curve_evaluate(curve, u, &x[k], &dx);
        t[k] = curve->kind == SINEW_CURVE_NURBS ? find_tangent(curve, u, x[k], dx)
                                                : find_stroke_tangent(curve, u, dx);
    }
}

// ---- Frames -------------------------------------------------------------------------------------

sn_vec3 sn_curve_first_axis(const sn_curve *curve, sn_vec3 t) {
    sn_vec3 across = sn_madd(curve->normal, -sn_dot(curve->normal, t), t);
    if (sn_length(across) > 1e-6 * sn_length(curve->normal)) {
        return sn_normalize(across);
    }

    double ax = fabs(t.x);
    double ay = fabs(t.y);
    double az = fabs(t.z);
    sn_vec3 axis = ax <= ay && ax <= az ? sn_v3(1, 0, 0)
                   : ay <= az           ? sn_v3(0, 1, 0)
                                        : sn_v3(0, 0, 1);

    return sn_normalize(sn_madd(axis, -sn_dot(axis, t), t));
}

// v reflected in the plane normal to n; unchanged if n = 0.
static sn_vec3 reflect(sn_vec3 v, sn_vec3 n) {
    double square = sn_dot(n, n);
    return square > 0 ? sn_madd(v, -2 * sn_dot(n, v) / square, n) : v;
}

// Wang et al. 2008, table I: the first reflection maps x_i to x_i+1, the second the reflected
// tangent to t_i+1.
void sn_double_reflection(sn_vec3 *r, const sn_vec3 *x, const sn_vec3 *t, int32_t count) {
    for (int32_t i = 0; i + 1 < count; i++) {
        sn_vec3 v1 = sn_sub(x[i + 1], x[i]);
        sn_vec3 rL = reflect(r[i], v1);
        sn_vec3 tL = reflect(t[i], v1);
        sn_vec3 next = reflect(rL, sn_sub(t[i + 1], tL));
        r[i + 1] = sn_normalize(sn_madd(next, -sn_dot(next, t[i + 1]), t[i + 1])); // rounding only
    }
}

// ---- Construction -------------------------------------------------------------------------------

static void fill_default_knots(sn_curve *curve) {
    int32_t spans = curve->point_count - curve->degree;
    int32_t count = curve->point_count + curve->degree + 1;
    for (int32_t i = 0; i < count; i++) {
        int32_t span = i - curve->degree;
        curve->knots[i] = span <= 0 ? 0 : span >= spans ? 1 : (double)span / spans;
    }
}

static void fill_stroke_tangents(sn_curve *curve) {
    for (int32_t i = 0; i < curve->point_count; i++) {
        int32_t before = i > 0 ? i - 1 : 0;
        int32_t after = i + 1 < curve->point_count ? i + 1 : i;
        const double *p = curve->points;
        sn_vec3 here = sn_load3(sn_at3(p, i));
        sn_vec3 in = sn_normalize(sn_sub(here, sn_load3(sn_at3(p, before))));
        sn_vec3 out = sn_normalize(sn_sub(sn_load3(sn_at3(p, after)), here));
        sn_store3(sn_at3(curve->tangents, i), sn_normalize(sn_add(in, out)));
    }
}

sinew_status sn_curve_build(sn_arena *arena, const sinew_curve_def *def, int32_t number,
                            sn_curve *curve) {
    sinew_context *context = arena->context;
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_curve_def"));
    *curve = (sn_curve){.kind = def->kind,
                        .point_count = def->point_count,
                        .turn = def->turn,
                        .normal = sn_load3(def->normal)};

    if (def->name != NULL) {
        snprintf(curve->name, sizeof curve->name, "%s", def->name);
    } else {
        snprintf(curve->name, sizeof curve->name, "curve %d", (int)number);
    }

    if (def->kind != SINEW_CURVE_NURBS && def->kind != SINEW_CURVE_STROKE) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s: kind %d is neither NURBS nor stroke",
                       curve->name, (int)def->kind);
    }

    if (!isfinite(def->turn) || !sn_finite3(curve->normal)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s: turn or normal is not finite",
                       curve->name);
    }

    SN_TRY(check_points(context, def, curve->name));
    bool nurbs = def->kind == SINEW_CURVE_NURBS;

    // Few points allow only a lower degree.
    curve->degree = !nurbs                               ? 1
                    : def->point_count > SN_CURVE_DEGREE ? SN_CURVE_DEGREE
                                                         : def->point_count - 1;
    if (nurbs) {
        SN_TRY(check_knots(context, def, curve->degree, curve->name));
    }

    // Copy the points; fill in default weights, knots or tangents.
    size_t count = (size_t)def->point_count;
    size_t knots = count + (size_t)curve->degree + 1;

    curve->points = SN_PUSH(arena, double, 3 * count);
    curve->weights = SN_PUSH(arena, double, nurbs ? count : 0);
    curve->knots = SN_PUSH(arena, double, nurbs ? knots : 0);
    curve->tangents = SN_PUSH(arena, double, nurbs ? 0 : 3 * count);
    SN_TRY(sn_arena_status(arena));
    memcpy(curve->points, def->points, 3 * count * sizeof(double));

    if (nurbs) {
        for (size_t i = 0; i < count; i++) {
            curve->weights[i] = def->weights != NULL ? def->weights[i] : 1;
        }

        if (def->knots != NULL) {
            memcpy(curve->knots, def->knots, knots * sizeof(double));
        } else {
            fill_default_knots(curve);
        }
    } else {
        fill_stroke_tangents(curve);
    }

    // Arc length.
    SN_TRY(measure(arena, curve));
    if (!(sn_curve_length(curve) > 0) || !isfinite(sn_curve_length(curve))) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "%s has a length of %g m; it must be finite and above 0", curve->name,
                       sn_curve_length(curve));
    }

    return SINEW_OK;
}

// ---- Public -------------------------------------------------------------------------------------

sinew_status sinew_curve_compute_length(sinew_context *context, const sinew_curve_def *def,
                                        double *length) {
    SN_NEED(NULL, context);
    sn_arena arena = sn_arena_create(context);
    sn_curve curve;
    sinew_status status = sn_curve_build(&arena, def, 0, &curve);
    if (status == SINEW_OK) {
        *length = sn_curve_length(&curve);
    }

    sn_arena_destroy(&arena);
    return status;
}

static sinew_status compute_frames(sn_arena *arena, const sinew_curve_def *def, int32_t count,
                                   double *points, double *axes) {
    sn_curve curve;
    SN_TRY(sn_curve_build(arena, def, 0, &curve));
    if (count < 2 || count > SN_CURVE_MAX_SAMPLES) {
        return sn_fail(arena->context, SINEW_INVALID_ARGUMENT,
                       "%d frames asked of %s; 2 to %d are possible", (int)count, curve.name,
                       SN_CURVE_MAX_SAMPLES);
    }

    sn_vec3 *x = SN_PUSH(arena, sn_vec3, count);
    sn_vec3 *t = SN_PUSH(arena, sn_vec3, count);
    sn_vec3 *r = SN_PUSH(arena, sn_vec3, count);

    SN_TRY(sn_arena_status(arena));
    sn_curve_sample(&curve, count, x, t);
    r[0] = sn_curve_first_axis(&curve, t[0]);
    sn_double_reflection(r, x, t, count);

    // Rotate the frames about the tangent by the curve's turn.
    double c = cos(curve.turn);
    double s = sin(curve.turn);
    for (int32_t i = 0; i < count; i++) {
        if (points != NULL) {
            sn_store3(sn_at3(points, i), x[i]);
        }
        if (axes == NULL) {
            continue;
        }

        sn_vec3 first = sn_add(sn_scale(c, r[i]), sn_scale(s, sn_cross(t[i], r[i])));
        sn_store3(axes + 9 * (size_t)i, first);
        sn_store3(axes + 9 * (size_t)i + 3, sn_cross(t[i], first));
        sn_store3(axes + 9 * (size_t)i + 6, t[i]);
    }

    return SINEW_OK;
}

sinew_status sinew_curve_compute_frames(sinew_context *context, const sinew_curve_def *def,
                                        int32_t count, double *points, double *axes) {
    SN_NEED(NULL, context);
    sn_arena arena = sn_arena_create(context);
    sinew_status status = compute_frames(&arena, def, count, points, axes);
    sn_arena_destroy(&arena);
    return status;
}
