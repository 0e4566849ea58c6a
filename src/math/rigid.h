// Rigid motions x -> q x q^-1 + t by value, and conversions from and to the public struct.
#ifndef SN_MATH_RIGID_H
#define SN_MATH_RIGID_H

#include "sinew/skeleton.h"

#include "math/quat.h"

typedef struct sn_rigid {
    sn_quat q;
    sn_vec3 t;
} sn_rigid;

static inline sn_rigid sn_rigid_identity(void) {
    return (sn_rigid){sn_quat_identity(), {0, 0, 0}};
}

static inline sn_vec3 sn_rigid_apply(sn_rigid a, sn_vec3 x) {
    return sn_add(sn_quat_rotate(a.q, x), a.t);
}

// First b, then a.
static inline sn_rigid sn_rigid_mul(sn_rigid a, sn_rigid b) {
    return (sn_rigid){sn_quat_mul(a.q, b.q), sn_rigid_apply(a, b.t)};
}

static inline sn_rigid sn_rigid_inverse(sn_rigid a) {
    sn_quat q = sn_quat_conjugate(a.q);
    return (sn_rigid){q, sn_scale(-1, sn_quat_rotate(q, a.t))};
}

// The numbers as they are; the quaternion has unit length already.
static inline sn_rigid sn_rigid_load_unit(const sinew_transform *transform) {
    const double *q = transform->rotation;
    return (sn_rigid){{q[0], q[1], q[2], q[3]}, sn_load3(transform->translation)};
}

// Normalises the quaternion.
static inline sn_rigid sn_rigid_load(const sinew_transform *transform) {
    const double *q = transform->rotation;
    return (sn_rigid){sn_quat_normalize((sn_quat){q[0], q[1], q[2], q[3]}),
                      sn_load3(transform->translation)};
}

static inline void sn_rigid_store(sinew_transform *transform, sn_rigid a) {
    *transform = (sinew_transform){{a.q.x, a.q.y, a.q.z, a.q.w}, {a.t.x, a.t.y, a.t.z}};
}

// Seven finite numbers and a quaternion that has a direction.
static inline bool sn_transform_is_valid(const sinew_transform *transform) {
    const double *q = transform->rotation;
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    return isfinite(square) && square > 1e-60 && sn_finite3(sn_load3(transform->translation));
}

#endif
