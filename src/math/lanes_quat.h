// Three-vectors and quaternions of lanes, one in each lane; for files named *_simd.c.
#ifndef SN_MATH_LANES_QUAT_H
#define SN_MATH_LANES_QUAT_H

#include "math/simd.h"

typedef struct sn_lanes_vec {
    sn_lanes x, y, z;
} sn_lanes_vec;

typedef struct sn_lanes_quat {
    sn_lanes x, y, z, w;
} sn_lanes_quat;

// From and to a block [3][SN_BLOCK] or [4][SN_BLOCK]; `block` points at the first lane wanted.
SN_INLINE sn_lanes_vec sn_lanes_load3(const double *block) {
    return (sn_lanes_vec){sn_lanes_load(block), sn_lanes_load(block + SN_BLOCK),
                          sn_lanes_load(block + 2 * SN_BLOCK)};
}

SN_INLINE void sn_lanes_store3(double *block, sn_lanes_vec a) {
    sn_lanes_store(block, a.x);
    sn_lanes_store(block + SN_BLOCK, a.y);
    sn_lanes_store(block + 2 * SN_BLOCK, a.z);
}

SN_INLINE sn_lanes_quat sn_lanes_quat_load(const double *block) {
    return (sn_lanes_quat){sn_lanes_load(block), sn_lanes_load(block + SN_BLOCK),
                           sn_lanes_load(block + 2 * SN_BLOCK),
                           sn_lanes_load(block + 3 * SN_BLOCK)};
}

SN_INLINE void sn_lanes_quat_store(double *block, sn_lanes_quat a) {
    sn_lanes_store3(block, (sn_lanes_vec){a.x, a.y, a.z});
    sn_lanes_store(block + 3 * SN_BLOCK, a.w);
}

SN_INLINE sn_lanes_vec sn_lanes_add3(sn_lanes_vec a, sn_lanes_vec b) {
    return (sn_lanes_vec){a.x + b.x, a.y + b.y, a.z + b.z};
}

SN_INLINE sn_lanes_vec sn_lanes_sub3(sn_lanes_vec a, sn_lanes_vec b) {
    return (sn_lanes_vec){a.x - b.x, a.y - b.y, a.z - b.z};
}

SN_INLINE sn_lanes_vec sn_lanes_scale3(sn_lanes s, sn_lanes_vec a) {
    return (sn_lanes_vec){s * a.x, s * a.y, s * a.z};
}

// a + s b
SN_INLINE sn_lanes_vec sn_lanes_madd3(sn_lanes_vec a, sn_lanes s, sn_lanes_vec b) {
    return (sn_lanes_vec){sn_lanes_fma(s, b.x, a.x), sn_lanes_fma(s, b.y, a.y),
                          sn_lanes_fma(s, b.z, a.z)};
}

SN_INLINE sn_lanes sn_lanes_dot3(sn_lanes_vec a, sn_lanes_vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

SN_INLINE sn_lanes_vec sn_lanes_cross3(sn_lanes_vec a, sn_lanes_vec b) {
    return (sn_lanes_vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

SN_INLINE sn_lanes_quat sn_lanes_quat_add(sn_lanes_quat a, sn_lanes_quat b) {
    return (sn_lanes_quat){a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

SN_INLINE sn_lanes_quat sn_lanes_quat_scale(sn_lanes s, sn_lanes_quat a) {
    return (sn_lanes_quat){s * a.x, s * a.y, s * a.z, s * a.w};
}

// a + s b
SN_INLINE sn_lanes_quat sn_lanes_quat_madd(sn_lanes_quat a, sn_lanes s, sn_lanes_quat b) {
    return (sn_lanes_quat){sn_lanes_fma(s, b.x, a.x), sn_lanes_fma(s, b.y, a.y),
                           sn_lanes_fma(s, b.z, a.z), sn_lanes_fma(s, b.w, a.w)};
}

SN_INLINE sn_lanes sn_lanes_quat_dot(sn_lanes_quat a, sn_lanes_quat b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// a b* (Hamilton's product with the conjugate)
SN_INLINE sn_lanes_quat sn_lanes_quat_mul_conjugate(sn_lanes_quat a, sn_lanes_quat b) {
    return (sn_lanes_quat){b.w * a.x - a.w * b.x - a.y * b.z + a.z * b.y,
                           b.w * a.y - a.w * b.y - a.z * b.x + a.x * b.z,
                           b.w * a.z - a.w * b.z - a.x * b.y + a.y * b.x,
                           a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z};
}

// v a for a vector v
SN_INLINE sn_lanes_quat sn_lanes_quat_mul_vec(sn_lanes_vec v, sn_lanes_quat a) {
    return (sn_lanes_quat){v.x * a.w + v.y * a.z - v.z * a.y, v.y * a.w + v.z * a.x - v.x * a.z,
                           v.z * a.w + v.x * a.y - v.y * a.x, -(v.x * a.x + v.y * a.y + v.z * a.z)};
}

#endif
