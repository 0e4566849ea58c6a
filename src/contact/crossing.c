// Two triangles intersect if a side of one meets the other (Möller 1997, by orientations).
#include "contact/crossing.h"

#include <float.h>

static const double rounding = 16; // units of the sum of magnitudes of a determinant

// The side of the plane abc on which d lies; 0 within rounding.
static int orientation(sn_vec3 a, sn_vec3 b, sn_vec3 c, sn_vec3 d) {
    sn_vec3 u = sn_sub(b, a), v = sn_sub(c, a), w = sn_sub(d, a);
    double determinant = sn_dot(sn_cross(u, v), w);
    double magnitude = fabs(w.x) * (fabs(u.y * v.z) + fabs(u.z * v.y)) +
                       fabs(w.y) * (fabs(u.z * v.x) + fabs(u.x * v.z)) +
                       fabs(w.z) * (fabs(u.x * v.y) + fabs(u.y * v.x));
    double noise = rounding * DBL_EPSILON * magnitude;
    return (determinant > noise) - (determinant < -noise);
}

// The orientation of abc in the plane across `normal`; 0 within rounding.
static int turn(sn_vec3 a, sn_vec3 b, sn_vec3 c, sn_vec3 normal) {
    sn_vec3 u = sn_sub(b, a), v = sn_sub(c, a);
    double area = sn_dot(sn_cross(u, v), normal);
    double noise = rounding * DBL_EPSILON * sn_length(u) * sn_length(v) * sn_length(normal);
    return (area > noise) - (area < -noise);
}

static bool ranges_meet(double a, double b, double c, double d) {
    return fmax(a, b) >= fmin(c, d) && fmax(c, d) >= fmin(a, b);
}

static bool segments_meet(sn_vec3 p, sn_vec3 q, sn_vec3 a, sn_vec3 b, sn_vec3 normal) {
    return turn(p, q, a, normal) * turn(p, q, b, normal) <= 0 &&
           turn(a, b, p, normal) * turn(a, b, q, normal) <= 0 && ranges_meet(p.x, q.x, a.x, b.x) &&
           ranges_meet(p.y, q.y, a.y, b.y) && ranges_meet(p.z, q.z, a.z, b.z);
}

// An edge in the plane of a triangle.
static bool meets_in_plane(sn_vec3 p, sn_vec3 q, const sn_vec3 c[3]) {
    sn_vec3 normal = sn_cross(sn_sub(c[1], c[0]), sn_sub(c[2], c[0]));
    int inside = 0;
    for (int k = 0; k < 3; k++) {
        if (segments_meet(p, q, c[k], c[(k + 1) % 3], normal)) {
            return true;
        }
        inside += turn(c[k], c[(k + 1) % 3], p, normal);
    }
    return inside == 3 || inside == -3;
}

static bool edge_meets(sn_vec3 p, sn_vec3 q, const sn_vec3 c[3], bool same_part) {
    int from = orientation(c[0], c[1], c[2], p);
    int to = orientation(c[0], c[1], c[2], q);
    if (from * to > 0) {
        return false;
    }
    if (from == 0 && to == 0) {
        return !same_part && meets_in_plane(p, q, c);
    }

    // The line through p and q passes the three sides on the same hand.
    int least = 1, most = -1;
    for (int k = 0; k < 3; k++) {
        int side = orientation(p, q, c[k], c[(k + 1) % 3]);
        least = side < least ? side : least;
        most = side > most ? side : most;
    }
    return least >= 0 || most <= 0;
}

static bool sides_meet(const double *x, const int32_t a[3], const int32_t b[3], bool same_part) {
    sn_vec3 c[3];
    for (int k = 0; k < 3; k++) {
        c[k] = sn_load3(sn_at3(x, b[k]));
    }

    for (int k = 0; k < 3; k++) {
        int32_t p = a[k], q = a[(k + 1) % 3];
        bool shared = p == b[0] || p == b[1] || p == b[2] || q == b[0] || q == b[1] || q == b[2];
        if (!shared && edge_meets(sn_load3(sn_at3(x, p)), sn_load3(sn_at3(x, q)), c, same_part)) {
            return true;
        }
    }
    return false;
}

bool sn_contact_triangles_cross(const double *x, const int32_t a[3], const int32_t b[3],
                                bool same_part) {
    return sides_meet(x, a, b, same_part) || sides_meet(x, b, a, same_part);
}
