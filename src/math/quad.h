// Four doubles in a register, or in a pair of registers where the machine has no wider one: rows of
// 3x3 blocks and padded three-vectors for linear algebra.
#ifndef SN_MATH_QUAD_H
#define SN_MATH_QUAD_H

#include "math/simd.h"

#if defined(__AVX2__)
typedef double sn_quad __attribute__((vector_size(32)));
typedef double sn_quad_memory __attribute__((vector_size(32), may_alias));
typedef double sn_quad_unaligned __attribute__((vector_size(32), may_alias, aligned(8)));

SN_INLINE sn_quad sn_quad_all(double a) {
    return a - (sn_quad){0};
}
// p aligned to 32 bytes.
SN_INLINE sn_quad sn_quad_load(const double *p) {
    return *(const sn_quad_memory *)p;
}
SN_INLINE sn_quad sn_quad_load_any(const double *p) {
    return *(const sn_quad_unaligned *)p;
}
// (p[0], p[1], p[2], 0), reading no further.
SN_INLINE sn_quad sn_quad_load3(const double *p) {
    return (sn_quad)_mm256_maskload_pd(p, _mm256_setr_epi64x(-1, -1, -1, 0));
}
SN_INLINE sn_quad sn_quad_load_float(const float *p) {
    return (sn_quad)_mm256_cvtps_pd(_mm_loadu_ps(p));
}
SN_INLINE void sn_quad_store(double *p, sn_quad a) {
    *(sn_quad_memory *)p = a;
}
SN_INLINE void sn_quad_store_any(double *p, sn_quad a) {
    *(sn_quad_unaligned *)p = a;
}
// Writes only p[0] to p[2], rounded to float.
SN_INLINE void sn_quad_store3_float(float *p, sn_quad a) {
    __m128 rounded = _mm256_cvtpd_ps((__m256d)a);
    _mm_storel_pi((__m64 *)(void *)p, rounded);
    p[2] = rounded[2];
}
// Writes only p[0] to p[2].
SN_INLINE void sn_quad_store3(double *p, sn_quad a) {
    _mm_storeu_pd(p, _mm256_castpd256_pd128((__m256d)a));
    p[2] = a[2];
}
// Subtracts a from p[0] to p[2]. The loads match the stores in width, so that a second subtraction
// at the same address can forward them.
SN_INLINE void sn_quad_subtract_from3(double *p, sn_quad a) {
    _mm_storeu_pd(p, _mm_sub_pd(_mm_loadu_pd(p), _mm256_castpd256_pd128((__m256d)a)));
    p[2] -= a[2];
}
SN_INLINE sn_quad sn_quad_add(sn_quad a, sn_quad b) {
    return a + b;
}
SN_INLINE sn_quad sn_quad_sub(sn_quad a, sn_quad b) {
    return a - b;
}
SN_INLINE sn_quad sn_quad_mul(sn_quad a, sn_quad b) {
    return a * b;
}
// a b + c
SN_INLINE sn_quad sn_quad_fma(sn_quad a, sn_quad b, sn_quad c) {
    return a * b + c;
}
// The k-th number in every lane; k must be a constant.
#define sn_quad_spread(a, k) ((sn_quad)_mm256_permute4x64_pd((__m256d)(a), (k)*0x55))
// (sum of a, sum of b, sum of c, 0) for quads whose last number is 0.
SN_INLINE sn_quad sn_quad_sum_each(sn_quad a, sn_quad b, sn_quad c) {
    __m256d ab = _mm256_hadd_pd((__m256d)a, (__m256d)b);
    __m256d c0 = _mm256_hadd_pd((__m256d)c, _mm256_setzero_pd());
    return (sn_quad)_mm256_add_pd(_mm256_permute2f128_pd(ab, c0, 0x20),
                                  _mm256_permute2f128_pd(ab, c0, 0x31));
}
// The transpose of the 3x3 matrix with rows a, b, c as three columns; their last lanes are
// undefined.
SN_INLINE void sn_quad_transpose3(sn_quad a, sn_quad b, sn_quad c, sn_quad *x, sn_quad *y,
                                  sn_quad *z) {
    __m256d ab0 = _mm256_unpacklo_pd((__m256d)a, (__m256d)b);
    __m256d ab1 = _mm256_unpackhi_pd((__m256d)a, (__m256d)b);
    __m256d c0 = _mm256_unpacklo_pd((__m256d)c, (__m256d)c);
    __m256d c1 = _mm256_unpackhi_pd((__m256d)c, (__m256d)c);
    *x = (sn_quad)_mm256_permute2f128_pd(ab0, c0, 0x20);
    *y = (sn_quad)_mm256_permute2f128_pd(ab1, c1, 0x20);
    *z = (sn_quad)_mm256_permute2f128_pd(ab0, c0, 0x31);
}
// The transpose of the 4x4 matrix with rows a, b, c, d.
SN_INLINE void sn_quad_transpose4(sn_quad out[4], sn_quad a, sn_quad b, sn_quad c, sn_quad d) {
    __m256d ab0 = _mm256_unpacklo_pd((__m256d)a, (__m256d)b);
    __m256d ab1 = _mm256_unpackhi_pd((__m256d)a, (__m256d)b);
    __m256d cd0 = _mm256_unpacklo_pd((__m256d)c, (__m256d)d);
    __m256d cd1 = _mm256_unpackhi_pd((__m256d)c, (__m256d)d);
    out[0] = (sn_quad)_mm256_permute2f128_pd(ab0, cd0, 0x20);
    out[1] = (sn_quad)_mm256_permute2f128_pd(ab1, cd1, 0x20);
    out[2] = (sn_quad)_mm256_permute2f128_pd(ab0, cd0, 0x31);
    out[3] = (sn_quad)_mm256_permute2f128_pd(ab1, cd1, 0x31);
}
// Lane l of a, b, c, d becomes quad l.
SN_INLINE void sn_quads_from_lanes(sn_quad out[SN_LANES], sn_lanes a, sn_lanes b, sn_lanes c,
                                   sn_lanes d) {
#if defined(__AVX512F__)
#define SN_HALF(x, half) (sn_quad) _mm512_extractf64x4_pd((__m512d)(x), half)
    sn_quad_transpose4(out, SN_HALF(a, 0), SN_HALF(b, 0), SN_HALF(c, 0), SN_HALF(d, 0));
    sn_quad_transpose4(out + 4, SN_HALF(a, 1), SN_HALF(b, 1), SN_HALF(c, 1), SN_HALF(d, 1));
#undef SN_HALF
#else
    sn_quad_transpose4(out, a, b, c, d);
#endif
}
// The first three numbers of quad l become lane l of three vectors.
SN_INLINE void sn_lanes_from_quads(sn_lanes out[3], const sn_quad in[SN_LANES]) {
    sn_quad low[4];
    sn_quad_transpose4(low, in[0], in[1], in[2], in[3]);
#if defined(__AVX512F__)
    sn_quad high[4];

    sn_quad_transpose4(high, in[4], in[5], in[6], in[7]);
    for (int c = 0; c < 3; c++) {
        out[c] = (sn_lanes)_mm512_insertf64x4(_mm512_castpd256_pd512((__m256d)low[c]),
                                              (__m256d)high[c], 1);
    }
#else
    for (int c = 0; c < 3; c++) {
        out[c] = low[c];
    }
#endif
}
// a x b of the first three numbers; the last becomes 0 for finite ones.
SN_INLINE sn_quad sn_quad_cross(sn_quad a, sn_quad b) {
    // With the permutation (y z x w), a.xyz b.yzx - a.yzx b.xyz is the cross product rotated by one
    // component.
    sn_quad a1 = (sn_quad)_mm256_permute4x64_pd((__m256d)a, 0xc9);
    sn_quad b1 = (sn_quad)_mm256_permute4x64_pd((__m256d)b, 0xc9);
    return (sn_quad)_mm256_permute4x64_pd((__m256d)(a * b1 - a1 * b), 0xc9);
}
// The last number becomes 0.
SN_INLINE sn_quad sn_quad_clear_last(sn_quad a) {
    return (sn_quad)_mm256_blend_pd((__m256d)a, _mm256_setzero_pd(), 8);
}
SN_INLINE double sn_quad_sum(sn_quad a) {
    return (a[0] + a[1]) + (a[2] + a[3]);
}
#else
typedef double sn_pair __attribute__((vector_size(16)));
typedef double sn_pair_unaligned __attribute__((vector_size(16), may_alias, aligned(8)));
typedef struct sn_quad {
    sn_pair low, high;
} sn_quad;

SN_INLINE sn_quad sn_quad_all(double a) {
    return (sn_quad){{a, a}, {a, a}};
}
SN_INLINE sn_quad sn_quad_load_any(const double *p) {
    return (sn_quad){*(const sn_pair_unaligned *)p, *(const sn_pair_unaligned *)(p + 2)};
}
SN_INLINE sn_quad sn_quad_load(const double *p) {
    return sn_quad_load_any(p);
}
SN_INLINE sn_quad sn_quad_load3(const double *p) {
    return (sn_quad){{p[0], p[1]}, {p[2], 0}};
}
SN_INLINE sn_quad sn_quad_load_float(const float *p) {
    return (sn_quad){{(double)p[0], (double)p[1]}, {(double)p[2], (double)p[3]}};
}
SN_INLINE void sn_quad_store_any(double *p, sn_quad a) {
    *(sn_pair_unaligned *)p = a.low;
    *(sn_pair_unaligned *)(p + 2) = a.high;
}
SN_INLINE void sn_quad_store(double *p, sn_quad a) {
    sn_quad_store_any(p, a);
}
SN_INLINE void sn_quad_store3_float(float *p, sn_quad a) {
    p[0] = (float)a.low[0];
    p[1] = (float)a.low[1];
    p[2] = (float)a.high[0];
}
SN_INLINE void sn_quad_store3(double *p, sn_quad a) {
    *(sn_pair_unaligned *)p = a.low;
    p[2] = a.high[0];
}
SN_INLINE void sn_quad_subtract_from3(double *p, sn_quad a) {
    *(sn_pair_unaligned *)p -= a.low;
    p[2] -= a.high[0];
}
SN_INLINE sn_quad sn_quad_add(sn_quad a, sn_quad b) {
    return (sn_quad){a.low + b.low, a.high + b.high};
}
SN_INLINE sn_quad sn_quad_sub(sn_quad a, sn_quad b) {
    return (sn_quad){a.low - b.low, a.high - b.high};
}
SN_INLINE sn_quad sn_quad_mul(sn_quad a, sn_quad b) {
    return (sn_quad){a.low * b.low, a.high * b.high};
}
SN_INLINE sn_quad sn_quad_fma(sn_quad a, sn_quad b, sn_quad c) {
    return (sn_quad){a.low * b.low + c.low, a.high * b.high + c.high};
}
#define sn_quad_spread(a, k) sn_quad_all((k) < 2 ? (a).low[(k) % 2] : (a).high[(k) % 2])
SN_INLINE sn_quad sn_quad_sum_each(sn_quad a, sn_quad b, sn_quad c) {
    return (sn_quad){{(a.low[0] + a.low[1]) + a.high[0], (b.low[0] + b.low[1]) + b.high[0]},
                     {(c.low[0] + c.low[1]) + c.high[0], 0}};
}
SN_INLINE void sn_quad_transpose3(sn_quad a, sn_quad b, sn_quad c, sn_quad *x, sn_quad *y,
                                  sn_quad *z) {
    *x = (sn_quad){{a.low[0], b.low[0]}, {c.low[0], 0}};
    *y = (sn_quad){{a.low[1], b.low[1]}, {c.low[1], 0}};
    *z = (sn_quad){{a.high[0], b.high[0]}, {c.high[0], 0}};
}
SN_INLINE void sn_quads_from_lanes(sn_quad out[SN_LANES], sn_lanes a, sn_lanes b, sn_lanes c,
                                   sn_lanes d) {
    for (int l = 0; l < SN_LANES; l++) {
        out[l] = (sn_quad){{a[l], b[l]}, {c[l], d[l]}};
    }
}
SN_INLINE void sn_lanes_from_quads(sn_lanes out[3], const sn_quad in[SN_LANES]) {
    out[0] = (sn_lanes){in[0].low[0], in[1].low[0]};
    out[1] = (sn_lanes){in[0].low[1], in[1].low[1]};
    out[2] = (sn_lanes){in[0].high[0], in[1].high[0]};
}
SN_INLINE sn_quad sn_quad_cross(sn_quad a, sn_quad b) {
    double ax = a.low[0];
    double ay = a.low[1];
    double az = a.high[0];
    double bx = b.low[0];
    double by = b.low[1];
    double bz = b.high[0];

    return (sn_quad){{ay * bz - az * by, az * bx - ax * bz}, {ax * by - ay * bx, 0}};
}
SN_INLINE sn_quad sn_quad_clear_last(sn_quad a) {
    a.high[1] = 0;
    return a;
}
SN_INLINE double sn_quad_sum(sn_quad a) {
    return (a.low[0] + a.low[1]) + (a.high[0] + a.high[1]);
}
#endif

// Four floats, which every machine has; they add and multiply by operators. p aligned to 16 bytes.
typedef float sn_narrow_quad __attribute__((vector_size(16)));
typedef float sn_narrow_quad_memory __attribute__((vector_size(16), may_alias));

SN_INLINE sn_narrow_quad sn_narrow_quad_load(const float *p) {
    return *(const sn_narrow_quad_memory *)p;
}
SN_INLINE void sn_narrow_quad_store(float *p, sn_narrow_quad a) {
    *(sn_narrow_quad_memory *)p = a;
}

#endif
