// Dual quaternions q = q0 + e qe with e^2 = 0. A unit dual quaternion is a rigid motion:
//
//   x -> R(q0) x + t,    qe = t q0 / 2
//
// q and -q are the same motion but blend differently, so code that blends has to align the signs
// first and keep them continuous over time.
#ifndef SN_MATH_DUALQUAT_H
#define SN_MATH_DUALQUAT_H

#include "math/quat.h"

typedef struct sn_dualquat {
    sn_quat real, dual;
} sn_dualquat;

static inline sn_dualquat sn_dualquat_identity(void) {
    return (sn_dualquat){{0, 0, 0, 1}, {0, 0, 0, 0}};
}

// The rotation `rotation` (unit), then the translation by t.
static inline sn_dualquat sn_dualquat_make(sn_quat rotation, sn_vec3 t) {
    return (sn_dualquat){rotation,
                         sn_quat_scale(0.5, sn_quat_mul((sn_quat){t.x, t.y, t.z, 0}, rotation))};
}

static inline sn_dualquat sn_dualquat_mul(sn_dualquat a, sn_dualquat b) {
    return (sn_dualquat){sn_quat_mul(a.real, b.real),
                         sn_quat_add(sn_quat_mul(a.real, b.dual), sn_quat_mul(a.dual, b.real))};
}

static inline sn_dualquat sn_dualquat_add(sn_dualquat a, sn_dualquat b) {
    return (sn_dualquat){sn_quat_add(a.real, b.real), sn_quat_add(a.dual, b.dual)};
}

static inline sn_dualquat sn_dualquat_scale(double s, sn_dualquat a) {
    return (sn_dualquat){sn_quat_scale(s, a.real), sn_quat_scale(s, a.dual)};
}

// Both parts conjugated: the inverse of a unit dual quaternion.
static inline sn_dualquat sn_dualquat_conjugate(sn_dualquat a) {
    return (sn_dualquat){sn_quat_conjugate(a.real), sn_quat_conjugate(a.dual)};
}

// The unit dual quaternion b / |b| for a nonzero real part b0:
//
//   b0 / |b0| + e (be / |b0| - (b0 . be) b0 / |b0|^3)
static inline sn_dualquat sn_dualquat_normalize(sn_dualquat b) {
    double inverse = 1 / sqrt(sn_quat_dot(b.real, b.real));
    sn_quat real = sn_quat_scale(inverse, b.real);
    sn_quat dual = sn_quat_scale(inverse, b.dual);
    return (sn_dualquat){real, sn_quat_add(dual, sn_quat_scale(-sn_quat_dot(real, dual), real))};
}

static inline sn_mat3 sn_dualquat_rotation(sn_dualquat q) {
    return sn_quat_to_mat3(q.real);
}

// t = 2 qe q0^-1 of a unit dual quaternion.
static inline sn_vec3 sn_dualquat_translation(sn_dualquat q) {
    sn_quat t = sn_quat_mul(q.dual, sn_quat_conjugate(q.real));
    return sn_v3(2 * t.x, 2 * t.y, 2 * t.z);
}

// R x + t
static inline sn_vec3 sn_dualquat_apply(sn_dualquat q, sn_vec3 x) {
    return sn_add(sn_quat_rotate(q.real, x), sn_dualquat_translation(q));
}

#endif
