// Closest points one by one, as the reference for blocks of eight.
//
// The closest points of two segments are an end of one and a point of the other, or the feet of the
// common perpendicular. All five possibilities are compared, so that nearly parallel segments, for
// which the perpendicular is inaccurate, are no special case.
#ifndef SN_TESTS_CONTACT_CLOSEST_REFERENCE_H
#define SN_TESTS_CONTACT_CLOSEST_REFERENCE_H

#include "contact/pair.h"
#include "geom/search/search.h"

// Below this squared sine two edges count as parallel: the perpendicular is not used.
static const double parallel_sine2 = 1e-12;

// Parameters of points on two segments, and their squared distance.
typedef struct feet {
    double s, t, distance2;
} feet;

static inline double clamp(double t) {
    return t < 1 ? (t > 0 ? t : 0) : 1;
}

static inline feet feet_at(const sn_vec3 p[4], double s, double t) {
    sn_vec3 a = sn_madd(p[0], s, sn_sub(p[1], p[0]));
    sn_vec3 b = sn_madd(p[2], t, sn_sub(p[3], p[2]));
    sn_vec3 d = sn_sub(a, b);
    return (feet){s, t, sn_dot(d, d)};
}

static inline double project(sn_vec3 point, sn_vec3 from, sn_vec3 to) {
    sn_vec3 d = sn_sub(to, from);
    double length2 = sn_dot(d, d);
    return length2 > 0 ? clamp(sn_dot(sn_sub(point, from), d) / length2) : 0;
}

static inline feet closest_edges(const sn_vec3 p[4]) {
    feet best = feet_at(p, 0, project(p[0], p[2], p[3]));
    const feet ends[3] = {feet_at(p, 1, project(p[1], p[2], p[3])),
                          feet_at(p, project(p[2], p[0], p[1]), 0),
                          feet_at(p, project(p[3], p[0], p[1]), 1)};
    for (int i = 0; i < 3; i++) {
        best = ends[i].distance2 < best.distance2 ? ends[i] : best;
    }

    // The common perpendicular, if its feet lie inside.
    sn_vec3 u = sn_sub(p[1], p[0]);
    sn_vec3 v = sn_sub(p[3], p[2]);
    sn_vec3 r = sn_sub(p[2], p[0]);
    sn_vec3 m = sn_cross(u, v);
    double m2 = sn_dot(m, m);
    if (!(m2 > parallel_sine2 * sn_dot(u, u) * sn_dot(v, v))) {
        return best;
    }

    double s = sn_dot(sn_cross(r, v), m) / m2;
    double t = sn_dot(sn_cross(r, u), m) / m2;
    if (!(s > 0 && s < 1 && t > 0 && t < 1)) {
        return best;
    }

    feet inside = feet_at(p, s, t);
    return inside.distance2 < best.distance2 ? inside : best;
}

// Fills b, n and distance of a pair from the positions of its vertices.
static inline void closest_reference(sn_contact_pair *pair, const sn_vec3 p[4]) {
    if (pair->kind == SN_CONTACT_VERTEX_TRIANGLE) {
        double barycentric[3] = {1, 0, 0};
        sn_closest_on_triangle(p[0], p[1], p[2], p[3], barycentric);
        pair->b[0] = 1;
        for (int k = 0; k < 3; k++) {
            pair->b[1 + k] = -barycentric[k];
        }
    } else {
        feet found = closest_edges(p);
        pair->b[0] = 1 - found.s;
        pair->b[1] = found.s;
        pair->b[2] = found.t - 1;
        pair->b[3] = -found.t;
    }

    // The coefficients sum to 0, so that positions count from the first vertex: less is cancelled.
    sn_vec3 d = {0, 0, 0};
    for (int k = 1; k < 4; k++) {
        d = sn_madd(d, pair->b[k], sn_sub(p[k], p[0]));
    }

    pair->distance = sn_length(d);
    pair->n = pair->distance > 0 ? sn_scale(1 / pair->distance, d) : sn_v3(0, 0, 0);
}

#endif
