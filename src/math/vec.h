// Vectors of three doubles, passed by value. Everything is inline and costs what the plain
// expressions would.
#ifndef SN_MATH_VEC_H
#define SN_MATH_VEC_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_vec3 {
    double x, y, z;
} sn_vec3;

static inline sn_vec3 sn_v3(double x, double y, double z) {
    return (sn_vec3){x, y, z};
}

// Positions cross the API as plain arrays x0 y0 z0 x1 y1 z1 ..., triangles as arrays of three
// indices each; sn_at3(x, i) is the address of point or triangle i, const if the array is.
static inline double *sn_point_at(double *x, int64_t i) {
    return x + 3 * i;
}

static inline const double *sn_const_point_at(const double *x, int64_t i) {
    return x + 3 * i;
}

static inline int32_t *sn_triangle_at(int32_t *x, int64_t i) {
    return x + 3 * i;
}

static inline const int32_t *sn_const_triangle_at(const int32_t *x, int64_t i) {
    return x + 3 * i;
}

// clang-format off
#define sn_at3(x, i)                                                                               \
    _Generic((x), double *: sn_point_at,                                                           \
                  const double *: sn_const_point_at,                                               \
                  int32_t *: sn_triangle_at,                                                       \
                  const int32_t *: sn_const_triangle_at)((x), (i))
// clang-format on

// The three numbers at an address as a vector, and back.
static inline sn_vec3 sn_load3(const double *p) {
    return (sn_vec3){p[0], p[1], p[2]};
}

static inline void sn_store3(double *p, sn_vec3 a) {
    p[0] = a.x;
    p[1] = a.y;
    p[2] = a.z;
}

static inline void sn_add_to3(double *p, sn_vec3 a) {
    p[0] += a.x;
    p[1] += a.y;
    p[2] += a.z;
}

static inline sn_vec3 sn_add(sn_vec3 a, sn_vec3 b) {
    return (sn_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline sn_vec3 sn_sub(sn_vec3 a, sn_vec3 b) {
    return (sn_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline sn_vec3 sn_scale(double s, sn_vec3 a) {
    return (sn_vec3){s * a.x, s * a.y, s * a.z};
}

// a + s b
static inline sn_vec3 sn_madd(sn_vec3 a, double s, sn_vec3 b) {
    return (sn_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double sn_dot(sn_vec3 a, sn_vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline sn_vec3 sn_cross(sn_vec3 a, sn_vec3 b) {
    return (sn_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double sn_length(sn_vec3 a) {
    return sqrt(sn_dot(a, a));
}

static inline double sn_distance(sn_vec3 a, sn_vec3 b) {
    return sn_length(sn_sub(a, b));
}

// The unit vector along a; zero stays zero.
static inline sn_vec3 sn_normalize(sn_vec3 a) {
    double length = sn_length(a);
    return length > 0 ? sn_scale(1 / length, a) : a;
}

// The smaller and the larger coordinates; those of a where b has none. Comparisons, since fmin and
// fmax are calls.
static inline sn_vec3 sn_min3(sn_vec3 a, sn_vec3 b) {
    return (sn_vec3){b.x < a.x ? b.x : a.x, b.y < a.y ? b.y : a.y, b.z < a.z ? b.z : a.z};
}

static inline sn_vec3 sn_max3(sn_vec3 a, sn_vec3 b) {
    return (sn_vec3){b.x > a.x ? b.x : a.x, b.y > a.y ? b.y : a.y, b.z > a.z ? b.z : a.z};
}

static inline int sn_finite3(sn_vec3 a) {
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

#endif
