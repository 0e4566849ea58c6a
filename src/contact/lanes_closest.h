// Closest points of a point and a triangle and of two segments, one pair in each lane; for files
// named *_simd.c.
//
// Positions are relative to the first vertex of a pair, which lies at 0. Closest points are
// compared among all candidates: the foot of the perpendicular where it is inside, and those on the
// edges, or of the ends. Nearly parallel edges and flat triangles are therefore no special cases.
#ifndef SN_CONTACT_LANES_CLOSEST_H
#define SN_CONTACT_LANES_CLOSEST_H

#include "math/lanes_quat.h"

// Below these squared sines a triangle is flat and two edges are parallel: the perpendicular is
// noise.
#define SN_CONTACT_FLAT     1e-24
#define SN_CONTACT_PARALLEL 1e-12

typedef struct sn_lanes_closest {
    sn_lanes b[4]; // the difference of the closest points is sum b_i x_i
    sn_lanes_vec n;
    sn_lanes distance;
} sn_lanes_closest;

// a over its length; 0 where that is 0 or not a number.
SN_INLINE sn_lanes_vec sn_lanes_unit(sn_lanes_vec a, sn_lanes *length) {
    sn_lanes zero = sn_lanes_all(0);
    sn_lanes square = sn_lanes_dot3(a, a);
    *length = sn_lanes_sqrt(square);
    sn_mask usable = (sn_mask)(square > zero);
    return sn_lanes_scale3(sn_select(usable, 1.0 / *length, zero), a);
}

// along / square clamped to [0, 1]; 0 where square is 0.
SN_INLINE sn_lanes sn_lanes_foot(sn_lanes along, sn_lanes square) {
    sn_lanes zero = sn_lanes_all(0);
    sn_lanes t = sn_select((sn_mask)(square > zero), along / square, zero);
    return sn_lanes_min(sn_lanes_max(t, zero), sn_lanes_all(1));
}

SN_INLINE void sn_lanes_finish(sn_lanes_closest *c, const sn_lanes_vec p[4]) {
    sn_lanes_vec d = sn_lanes_scale3(c->b[1], p[1]);
    d = sn_lanes_madd3(d, c->b[2], p[2]);
    d = sn_lanes_madd3(d, c->b[3], p[3]);
    c->n = sn_lanes_unit(d, &c->distance);
}

// The origin and the triangle p[1] p[2] p[3].
SN_INLINE sn_lanes_closest sn_lanes_vertex_triangle(const sn_lanes_vec p[4]) {
    const sn_lanes zero = sn_lanes_all(0), one = sn_lanes_all(1);
    sn_lanes_vec side[3] = {sn_lanes_sub3(p[2], p[1]), sn_lanes_sub3(p[3], p[2]),
                            sn_lanes_sub3(p[1], p[3])};
    sn_lanes square[3], best2 = sn_lanes_all(INFINITY);
    sn_lanes w[3] = {one, zero, zero};

    // The closest point of the sides.
    for (int k = 0; k < 3; k++) {
        int next = (k + 1) % 3, other = (k + 2) % 3;
        square[k] = sn_lanes_dot3(side[k], side[k]);
        sn_lanes t = sn_lanes_foot(-sn_lanes_dot3(p[1 + k], side[k]), square[k]);
        sn_lanes_vec foot = sn_lanes_madd3(p[1 + k], t, side[k]);
        sn_lanes distance2 = sn_lanes_dot3(foot, foot);
        sn_mask closer = (sn_mask)(distance2 < best2);

        best2 = sn_select(closer, distance2, best2);
        w[k] = sn_select(closer, one - t, w[k]);
        w[next] = sn_select(closer, t, w[next]);
        w[other] = sn_select(closer, zero, w[other]);
    }

    // The foot of the perpendicular, by the areas of the triangles it makes with the sides.
    sn_lanes_vec normal = sn_lanes_cross3(side[0], side[1]);
    sn_lanes n2 = sn_lanes_dot3(normal, normal);
    sn_lanes area[3];
    sn_mask inside = (sn_mask)(n2 > SN_CONTACT_FLAT * square[0] * square[1]);
    for (int k = 0; k < 3; k++) {
        area[k] = sn_lanes_dot3(sn_lanes_cross3(p[1 + (k + 1) % 3], p[1 + (k + 2) % 3]), normal);
        inside &= (sn_mask)(area[k] > zero);
    }

    sn_lanes sum = area[0] + area[1] + area[2];
    sn_lanes_closest c = {.b[0] = one};
    for (int k = 0; k < 3; k++) {
        c.b[1 + k] = -sn_select(inside, area[k] / sum, w[k]);
    }

    sn_lanes_finish(&c, p);
    return c;
}

// The segments from the origin to p[1] and from p[2] to p[3].
SN_INLINE sn_lanes_closest sn_lanes_edge_edge(const sn_lanes_vec p[4]) {
    const sn_lanes zero = sn_lanes_all(0), one = sn_lanes_all(1);
    sn_lanes_vec u = p[1], v = sn_lanes_sub3(p[3], p[2]);
    sn_lanes uu = sn_lanes_dot3(u, u), vv = sn_lanes_dot3(v, v), uv = sn_lanes_dot3(u, v);
    sn_lanes up = sn_lanes_dot3(u, p[2]), vp = sn_lanes_dot3(v, p[2]);

    // Each end of one with its foot on the other.
    const sn_lanes s[4] = {zero, one, sn_lanes_foot(up, uu), sn_lanes_foot(up + uv, uu)};
    const sn_lanes t[4] = {sn_lanes_foot(-vp, vv), sn_lanes_foot(uv - vp, vv), zero, one};
    sn_lanes best_s = zero, best_t = zero, best2 = sn_lanes_all(INFINITY);
    for (int i = 0; i < 4; i++) {
        sn_lanes_vec d = sn_lanes_sub3(sn_lanes_scale3(s[i], u), sn_lanes_madd3(p[2], t[i], v));
        sn_lanes distance2 = sn_lanes_dot3(d, d);
        sn_mask closer = (sn_mask)(distance2 < best2);
        best2 = sn_select(closer, distance2, best2);
        best_s = sn_select(closer, s[i], best_s);
        best_t = sn_select(closer, t[i], best_t);
    }

    // The feet of the common perpendicular.
    sn_lanes_vec m = sn_lanes_cross3(u, v);
    sn_lanes m2 = sn_lanes_dot3(m, m);
    sn_lanes inner_s = sn_lanes_dot3(sn_lanes_cross3(p[2], v), m) / m2;
    sn_lanes inner_t = sn_lanes_dot3(sn_lanes_cross3(p[2], u), m) / m2;
    sn_mask inside = (sn_mask)(m2 > SN_CONTACT_PARALLEL * uu * vv) & (sn_mask)(inner_s > zero) &
                     (sn_mask)(inner_s < one) & (sn_mask)(inner_t > zero) &
                     (sn_mask)(inner_t < one);
    best_s = sn_select(inside, inner_s, best_s);
    best_t = sn_select(inside, inner_t, best_t);

    sn_lanes_closest c = {.b = {one - best_s, best_s, best_t - one, -best_t}};
    sn_lanes_finish(&c, p);
    return c;
}

#endif
