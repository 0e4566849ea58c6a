// Quaternions (x, y, z, w) with the Hamilton product; unit ones rotate by v -> q v q^-1.
#ifndef SN_MATH_QUAT_H
#define SN_MATH_QUAT_H

#include "math/mat3.h"

typedef struct sn_quat {
    double x, y, z, w;
} sn_quat;

static inline sn_quat sn_quat_identity(void) {
    return (sn_quat){0, 0, 0, 1};
}

static inline sn_quat sn_quat_mul(sn_quat a, sn_quat b) {
    return (sn_quat){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                     a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
                     a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

static inline sn_quat sn_quat_conjugate(sn_quat a) {
    return (sn_quat){-a.x, -a.y, -a.z, a.w};
}

static inline sn_quat sn_quat_scale(double s, sn_quat a) {
    return (sn_quat){s * a.x, s * a.y, s * a.z, s * a.w};
}

static inline sn_quat sn_quat_add(sn_quat a, sn_quat b) {
    return (sn_quat){a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

static inline double sn_quat_dot(sn_quat a, sn_quat b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// The unit quaternion along a; zero becomes the identity.
static inline sn_quat sn_quat_normalize(sn_quat a) {
    double length = sqrt(sn_quat_dot(a, a));
    return length > 0 ? sn_quat_scale(1 / length, a) : sn_quat_identity();
}

static inline sn_vec3 sn_quat_rotate(sn_quat q, sn_vec3 v) {
    sn_vec3 u = {q.x, q.y, q.z};
    sn_vec3 t = sn_scale(2, sn_cross(u, v));
    return sn_add(sn_madd(v, q.w, t), sn_cross(u, t));
}

static inline sn_mat3 sn_quat_to_mat3(sn_quat q) {
    double x = q.x;
    double y = q.y;
    double z = q.z;
    double w = q.w;

    return (sn_mat3){{{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
                      {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
                      {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}}};
}

// The quaternion of a rotation matrix (Shepperd 1978: divide by the largest of the four).
sn_quat sn_quat_from_mat3(sn_mat3 R);

// The rotation by |v| radians about v: exp(v / 2).
static inline sn_quat sn_quat_exp(sn_vec3 v) {
    double square = sn_dot(v, v);
    double x = 0.25 * square;
    double s, c;

    // The angles of a step: series in (angle / 2)^2, whose next terms are below rounding.
    if (square < 0.01) {
        s = 0.5 - x * (1.0 / 12 - x * (1.0 / 240 - x * (1.0 / 10080 - x * (1.0 / 725760))));
        c = 1 - x * (0.5 - x * (1.0 / 24 - x * (1.0 / 720 - x * (1.0 / 40320))));
    } else {
        double angle = sqrt(square);
        s = sin(0.5 * angle) / angle;
        c = cos(0.5 * angle);
    }

    return (sn_quat){s * v.x, s * v.y, s * v.z, c};
}

// The rotation vector of a unit quaternion; its length is in [0, pi].
static inline sn_vec3 sn_quat_log(sn_quat q) {
    if (q.w < 0) {
        q = sn_quat_scale(-1, q);
    }

    sn_vec3 u = {q.x, q.y, q.z};
    double s = sn_length(u);
    double angle = 2 * atan2(s, q.w);

    return sn_scale(s > 1e-12 ? angle / s : 2, u);
}

// Spherical interpolation from a to b along the shorter arc.
sn_quat sn_quat_slerp(sn_quat a, sn_quat b, double t);

#endif
