// The one SIMD header: sn_lanes holds SN_LANES doubles, one sample in each, and behaves like a double in + - * / and < >.
//
// Files that end in _simd.c are built once for each instruction set and see the widest lanes it has; every function they
// export is named SN_ISA_NAME(sn_something), and base/isa.h picks one at run time. Everywhere else sn_lanes has the width of
// the compiler's plain target. Data do not know the width: they come in blocks of SN_BLOCK samples, [component][SN_BLOCK],
// aligned to 64 bytes, and a kernel runs over a block in SN_BLOCK / SN_LANES steps.
//
// The kernels are built with products and sums fused where the machine can; no other liberty is taken with the arithmetic.
#ifndef SN_MATH_SIMD_H
#define SN_MATH_SIMD_H

#include <math.h>
#include <stdint.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#define SN_LANES 8
#elif defined(__AVX2__)
#include <immintrin.h>
#define SN_LANES 4
#else
#define SN_LANES 2
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#endif
#endif

enum { SN_BLOCK = 8 };

// sn_foo -> sn_foo_avx2
#ifndef SN_ISA
#define SN_ISA base
#endif
#define SN_ISA_JOIN(name, isa)   name##_##isa
#define SN_ISA_EXPAND(name, isa) SN_ISA_JOIN(name, isa)
#define SN_ISA_NAME(name)        SN_ISA_EXPAND(name, SN_ISA)

// Aligned storage: double F[9 * SN_BLOCK] SN_ALIGNED;
#define SN_ALIGNED __attribute__((aligned(64)))
// Small kernels that must melt into their callers: a call would spill every register.
#define SN_INLINE static inline __attribute__((always_inline, unused))

typedef double sn_lanes __attribute__((vector_size(8 * SN_LANES)));
typedef double sn_lanes_memory __attribute__((vector_size(8 * SN_LANES), may_alias));
// The result of a comparison: all bits of a lane set, or none.
typedef int64_t sn_mask __attribute__((vector_size(8 * SN_LANES)));

SN_INLINE sn_lanes sn_lanes_load(const double *p) {
    return *(const sn_lanes_memory *)p;
}

SN_INLINE void sn_lanes_store(double *p, sn_lanes a) {
    *(sn_lanes_memory *)p = a;
}

// The same number in every lane.
SN_INLINE sn_lanes sn_lanes_all(double a) {
    return a - (sn_lanes){0};
}

// mask ? a : b
SN_INLINE sn_lanes sn_select(sn_mask mask, sn_lanes a, sn_lanes b) {
#if defined(__AVX512F__)
    return (sn_lanes)_mm512_ternarylogic_epi64((__m512i)mask, (__m512i)a, (__m512i)b, 0xca);
#elif defined(__AVX2__)
    return (sn_lanes)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)mask);
#else
    return (sn_lanes)((mask & (sn_mask)a) | (~mask & (sn_mask)b));
#endif
}

SN_INLINE int sn_any(sn_mask mask) {
#if defined(__AVX512F__)
    return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_pd((__m256d)mask) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_pd((__m128d)mask) != 0;
#else
    return (mask[0] | mask[1]) != 0;
#endif
}

SN_INLINE int sn_all(sn_mask mask) {
    return !sn_any(~mask);
}

SN_INLINE sn_lanes sn_lanes_sqrt(sn_lanes a) {
#if defined(__AVX512F__)
    return (sn_lanes)_mm512_sqrt_pd((__m512d)a);
#elif defined(__AVX2__)
    return (sn_lanes)_mm256_sqrt_pd((__m256d)a);
#elif defined(__SSE2__)
    return (sn_lanes)_mm_sqrt_pd((__m128d)a);
#elif defined(__aarch64__)
    return (sn_lanes)vsqrtq_f64((float64x2_t)a);
#elif defined(__wasm_simd128__)
    return (sn_lanes)wasm_f64x2_sqrt((v128_t)a);
#else
    return (sn_lanes){sqrt(a[0]), sqrt(a[1])};
#endif
}

// a b + c, rounded once where the machine can.
SN_INLINE sn_lanes sn_lanes_fma(sn_lanes a, sn_lanes b, sn_lanes c) {
#if defined(__AVX512F__)
    return (sn_lanes)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX2__) && defined(__FMA__)
    return (sn_lanes)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__aarch64__)
    return (sn_lanes)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
    return a * b + c;
#endif
}

SN_INLINE sn_lanes sn_lanes_abs(sn_lanes a) {
    return (sn_lanes)((sn_mask)a & INT64_MAX);
}

// |a| with the sign of b.
SN_INLINE sn_lanes sn_lanes_copysign(sn_lanes a, sn_lanes b) {
    return (sn_lanes)(((sn_mask)a & INT64_MAX) | ((sn_mask)b & INT64_MIN));
}

SN_INLINE sn_lanes sn_lanes_min(sn_lanes a, sn_lanes b) {
    return sn_select((sn_mask)(a < b), a, b);
}

SN_INLINE sn_lanes sn_lanes_max(sn_lanes a, sn_lanes b) {
    return sn_select((sn_mask)(a > b), a, b);
}

// The natural logarithm of finite a > 0 that is not subnormal, to about 1 ulp.
//
//   a = 2^e m, m in [sqrt(1/2), sqrt(2)),  ln a = e ln 2 + 2 atanh z,  z = (m - 1)/(m + 1),  |z| < 0.1716
SN_INLINE sn_lanes sn_lanes_log(sn_lanes a) {
    // Adding the gap between 1 and sqrt(1/2) to the bits carries into the exponent just where m would reach sqrt(2).
    const int64_t one = 0x3ff0000000000000, half_root = 0x3fe6a09e667f3bcd;
    sn_mask bits = (sn_mask)a + (one - half_root);
    sn_mask exponent = (bits >> 52) - 1023;
    sn_lanes m = (sn_lanes)((bits & 0x000fffffffffffff) + half_root);
    // A small integer becomes a double by writing it into the low bits of 1.5 * 2^52.
    sn_lanes shift = sn_lanes_all(0x1.8p52);
    sn_lanes e = (sn_lanes)(exponent + (sn_mask)shift) - shift;
    sn_lanes f = m - 1.0, z = f / (2.0 + f), w = z * z;
    sn_lanes series = sn_lanes_all(2.0 / 21);
    for (int k = 19; k >= 3; k -= 2) series = series * w + 2.0 / k;
    // 2 z + z w series, with 2 z = f - f^2/2 + z f^2/2 so that the leading term f is exact.
    sn_lanes half_square = 0.5 * f * f;
    return e * 0x1.62e42fefa3800p-1 + (f - (half_square - (z * (half_square + w * series) + e * 0x1.ef35793c76730p-45)));
}

// The cube root of finite a > 0 that is not subnormal, to about 2 ulp: a guess from the exponent, then Halley's iteration.
SN_INLINE sn_lanes sn_lanes_cbrt(sn_lanes a) {
    // Dividing the bits by 3 divides the exponent by 3 and is right within 4 % for the mantissa. As a double, for there is no
    // division of integer vectors: the high half of a becomes a number by writing it into the low bits of 1.5 * 2^52.
    sn_lanes shift = sn_lanes_all(0x1.8p52);
    sn_lanes high = (sn_lanes)(((sn_mask)a >> 32) + (sn_mask)shift) - shift;
    sn_lanes guess = high * (1.0 / 3) + (1023 * 2.0 / 3 - 0.033) * 0x1p20;
    sn_lanes x = (sn_lanes)(((sn_mask)(guess + shift) & 0xffffffff) << 32);
    for (int iteration = 0; iteration < 3; iteration++) {
        sn_lanes cube = x * x * x;
        x = x * ((cube + a + a) / (cube + cube + a));
    }
    return x;
}

// Four doubles whatever the instruction set: the rows of 3x3 blocks and padded three-vectors of linear algebra. Where the
// machine has no such register it is a pair of two.
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
// p[0] to p[2] alone, rounded.
SN_INLINE void sn_quad_store3_float(float *p, sn_quad a) {
    __m128 rounded = _mm256_cvtpd_ps((__m256d)a);
    _mm_storel_pi((__m64 *)(void *)p, rounded);
    p[2] = rounded[2];
}
// p[0], p[1], p[2] alone.
SN_INLINE void sn_quad_store3(double *p, sn_quad a) {
    _mm_storeu_pd(p, _mm256_castpd256_pd128((__m256d)a));
    p[2] = a[2];
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
    __m256d ab = _mm256_hadd_pd((__m256d)a, (__m256d)b), c0 = _mm256_hadd_pd((__m256d)c, _mm256_setzero_pd());
    return (sn_quad)_mm256_add_pd(_mm256_permute2f128_pd(ab, c0, 0x20), _mm256_permute2f128_pd(ab, c0, 0x31));
}
// The transpose of the 3x3 matrix with rows a, b, c: the three columns, in the last lane whatever comes.
SN_INLINE void sn_quad_transpose3(sn_quad a, sn_quad b, sn_quad c, sn_quad *x, sn_quad *y, sn_quad *z) {
    __m256d ab0 = _mm256_unpacklo_pd((__m256d)a, (__m256d)b), ab1 = _mm256_unpackhi_pd((__m256d)a, (__m256d)b);
    __m256d c0 = _mm256_unpacklo_pd((__m256d)c, (__m256d)c), c1 = _mm256_unpackhi_pd((__m256d)c, (__m256d)c);
    *x = (sn_quad)_mm256_permute2f128_pd(ab0, c0, 0x20);
    *y = (sn_quad)_mm256_permute2f128_pd(ab1, c1, 0x20);
    *z = (sn_quad)_mm256_permute2f128_pd(ab0, c0, 0x31);
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
SN_INLINE void sn_quad_transpose3(sn_quad a, sn_quad b, sn_quad c, sn_quad *x, sn_quad *y, sn_quad *z) {
    *x = (sn_quad){{a.low[0], b.low[0]}, {c.low[0], 0}};
    *y = (sn_quad){{a.low[1], b.low[1]}, {c.low[1], 0}};
    *z = (sn_quad){{a.high[0], b.high[0]}, {c.high[0], 0}};
}
SN_INLINE sn_quad sn_quad_clear_last(sn_quad a) {
    a.high[1] = 0;
    return a;
}
SN_INLINE double sn_quad_sum(sn_quad a) {
    return (a.low[0] + a.low[1]) + (a.high[0] + a.high[1]);
}
#endif

#endif
