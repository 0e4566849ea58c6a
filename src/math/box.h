// Axis-aligned boxes. An empty box has lower > upper, and grows to the first point put into it.
#ifndef SN_MATH_BOX_H
#define SN_MATH_BOX_H

#include "math/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_box {
    sn_vec3 lower, upper;
} sn_box;

static inline sn_box sn_box_empty(void) {
    return (sn_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static inline sn_box sn_box_with_point(sn_box box, sn_vec3 p) {
    return (sn_box){sn_min3(box.lower, p), sn_max3(box.upper, p)};
}

static inline sn_box sn_box_union(sn_box a, sn_box b) {
    return (sn_box){sn_min3(a.lower, b.lower), sn_max3(a.upper, b.upper)};
}

static inline sn_box sn_box_grown(sn_box box, double margin) {
    sn_vec3 m = sn_v3(margin, margin, margin);
    return (sn_box){sn_sub(box.lower, m), sn_add(box.upper, m)};
}

static inline sn_vec3 sn_box_center(sn_box box) {
    return sn_scale(0.5, sn_add(box.lower, box.upper));
}

static inline sn_vec3 sn_box_size(sn_box box) {
    return sn_sub(box.upper, box.lower);
}

static inline double sn_box_diagonal(sn_box box) {
    return sn_distance(box.lower, box.upper);
}

static inline bool sn_box_contains(sn_box box, sn_vec3 p) {
    return p.x >= box.lower.x && p.x <= box.upper.x && p.y >= box.lower.y && p.y <= box.upper.y &&
           p.z >= box.lower.z && p.z <= box.upper.z;
}

static inline bool sn_box_overlaps(sn_box a, sn_box b) {
    return a.lower.x <= b.upper.x && a.upper.x >= b.lower.x && a.lower.y <= b.upper.y &&
           a.upper.y >= b.lower.y && a.lower.z <= b.upper.z && a.upper.z >= b.lower.z;
}

// Squared distance of a point from a box; 0 inside.
static inline double sn_box_distance2(sn_box box, sn_vec3 p) {
    double x = fmax(fmax(box.lower.x - p.x, p.x - box.upper.x), 0);
    double y = fmax(fmax(box.lower.y - p.y, p.y - box.upper.y), 0);
    double z = fmax(fmax(box.lower.z - p.z, p.z - box.upper.z), 0);
    return x * x + y * y + z * z;
}

// Box of `count` points x0 y0 z0 x1 ...; empty for none.
static inline sn_box sn_box_of_points(const double *points, int32_t count) {
    sn_box box = sn_box_empty();
    for (int32_t i = 0; i < count; i++) {
        box = sn_box_with_point(box, sn_load3(sn_at3(points, i)));
    }
    return box;
}

#endif
