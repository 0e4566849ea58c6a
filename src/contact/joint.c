// Proofs for pairs whose vertices move together (joint.h).
//
// Fixed direction n. The front of A and that of B along n,
//
//   g(t) = min_A n . x_i(t) - max_B n . x_j(t),    x_i(t) = x_i + t d_i,
//
// is a minimum of linear functions of t, hence concave: between two times it is at least the
// smaller of both values. Paths that deviate from their chords reduce it by their deviations. The
// direction is that between the closest points in the middle of the motion; where it proves
// nothing, the motion is halved, so that planes rotate along with rolling bodies.
#include "contact/joint.h"

#include "geom/search/search.h"

#include <float.h>

enum { MOST_HALVINGS = 6 };

static const double floor_share = 0.1; // of the gap to keep below which no gap is reduced
static const double path_share = 0.05; // ... on the way, where the motion may stop as well
static const double rounding = 32;     // units of rounding of the largest coordinate

typedef struct joint {
    sn_vec3 from[4], to[4];
    sn_vec3 bend[4];
    double bulge[4];
    int first_side;
    double noise; // what rounding makes of positions [m]
    double floor; // the gap to end with [m]
    double least; // the gap to keep on the way [m]
} joint;

static joint gather(const sn_contact_scene *scene, const sn_contact_motion *motion,
                    const sn_contact_pair *pair) {
    joint j = {.first_side = sn_contact_first_side(pair->kind)};
    double largest = 0;
    for (int i = 0; i < 4; i++) {
        int32_t v = pair->vertex[i];
        j.from[i] = sn_load3(sn_at3(motion->x, v));
        j.to[i] = sn_load3(sn_at3(motion->target, v));
        j.bulge[i] = motion->bulge ? motion->bulge[v] : 0;
        j.bend[i] = motion->bend ? sn_load3(sn_at3(motion->bend, v)) : sn_v3(0, 0, 0);
        for (int k = 0; k < 3; k++) {
            largest = fmax(largest, fabs(sn_at3(motion->x, v)[k]));
            largest = fmax(largest, fabs(sn_at3(motion->target, v)[k]));
        }
    }
    j.noise = rounding * DBL_EPSILON * largest;
    double keep = sn_contact_gap(scene, pair);
    j.floor = fmax(j.noise, fmin(floor_share * keep, pair->gap));
    j.least = fmax(j.noise, fmin(path_share * keep, pair->gap));
    return j;
}

// The gap between both sides along n.
static double gap_along(const joint *j, const sn_vec3 x[4], sn_vec3 n) {
    double front = INFINITY, back = -INFINITY;
    for (int i = 0; i < 4; i++) {
        double at = sn_dot(n, sn_sub(x[i], x[0]));
        if (i < j->first_side) {
            front = fmin(front, at);
        } else {
            back = fmax(back, at);
        }
    }
    return front - back;
}

// How far paths swing towards the other side, both sides together.
static double swing_along(const joint *j, sn_vec3 n) {
    double swing[2] = {0, 0};
    for (int i = 0; i < 4; i++) {
        int side = i >= j->first_side;
        double bent = sn_dot(n, j->bend[i]);
        swing[side] = fmax(swing[side], j->bulge[i] + fmax(0, side ? bent : -bent));
    }
    return swing[0] + swing[1];
}

static double clamp(double t) {
    return t > 0 ? fmin(t, 1) : 0;
}

// Weights of the closest points of two segments.
static void meet_edges(const sn_vec3 x[4], double b[4]) {
    sn_vec3 u = sn_sub(x[1], x[0]), v = sn_sub(x[3], x[2]), r = sn_sub(x[0], x[2]);
    double uu = sn_dot(u, u), uv = sn_dot(u, v), vv = sn_dot(v, v);
    double ur = sn_dot(u, r), vr = sn_dot(v, r);
    double square = uu * vv - uv * uv;

    // The common perpendicular, then each foot for the other where it lies beyond an end.
    double s = square > 0 ? clamp((uv * vr - ur * vv) / square) : 0;
    double t = vv > 0 ? clamp((uv * s + vr) / vv) : 0;
    s = uu > 0 ? clamp((uv * t - ur) / uu) : 0;
    b[0] = 1 - s;
    b[1] = s;
    b[2] = t - 1;
    b[3] = -t;
}

// The closest points at the positions x: weights, and the unit vector between them, 0 if they are
// one. Both are trial values for planes; nothing depends on their precision.
static sn_contact_bar meet(const joint *j, const sn_vec3 x[4]) {
    sn_contact_bar bar = {.b = {1}};
    if (j->first_side == 1) {
        double on[3];
        sn_closest_on_triangle(x[0], x[1], x[2], x[3], on);
        for (int i = 0; i < 3; i++) {
            bar.b[i + 1] = -on[i];
        }
    } else {
        meet_edges(x, bar.b);
    }

    sn_vec3 d = {0, 0, 0};
    for (int i = 0; i < 4; i++) {
        d = sn_madd(d, bar.b[i], sn_sub(x[i], x[0]));
    }
    double length = sn_length(d);
    bar.n = length > 0 ? sn_scale(1 / length, d) : d;
    return bar;
}

static void place(const joint *j, double t, sn_vec3 x[4]) {
    for (int i = 0; i < 4; i++) {
        x[i] = sn_madd(sn_scale(1 - t, j->from[i]), t, j->to[i]);
    }
}

// Whether the direction between the closest points in the middle proves that the features stay
// apart from the time `begin` to `end`, or such directions of both halves do. If not, `failed`
// receives when the first interval without a proof begins.
static bool stays_apart(const joint *j, double begin, double end, int depth, double *failed) {
    sn_vec3 first[4], middle[4], last[4];
    double half = 0.5 * (begin + end);
    place(j, begin, first);
    place(j, half, middle);
    place(j, end, last);

    sn_vec3 n = meet(j, middle).n;
    double gap = fmin(gap_along(j, first, n), gap_along(j, last, n)) - swing_along(j, n);
    if (gap > j->least) {
        return true;
    }
    if (depth == 0) {
        *failed = begin;
        return false;
    }
    return stays_apart(j, begin, half, depth - 1, failed) &&
           stays_apart(j, half, end, depth - 1, failed);
}

bool sn_contact_stays_apart(const sn_contact_scene *scene, const sn_contact_motion *motion,
                            const sn_contact_pair *pair, sn_contact_bar *bar) {
    joint j = gather(scene, motion, pair);
    double failed = 1;
    sn_contact_bar last = meet(&j, j.to);
    bool apart = stays_apart(&j, 0, 1, MOST_HALVINGS, &failed);
    if (apart && gap_along(&j, j.to, last.n) >= j.floor) {
        return true;
    }

    if (bar) {
        sn_vec3 x[4];
        place(&j, failed, x);
        *bar = meet(&j, x);
    }
    return false;
}
