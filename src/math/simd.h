// The one SIMD header: sn_lanes holds SN_LANES doubles, one sample in each, and behaves like a
// double under + - * / and < >.
//
// Files whose names end in _simd.c are compiled once for each instruction set and use its widest
// lanes. Each function they export is named SN_ISA_NAME(sn_something), and base/isa.h selects one
// at run time. Everywhere else sn_lanes has the width of the compiler's default target. Data
// layouts do not depend on the width: samples are stored in blocks of SN_BLOCK,
// [component][SN_BLOCK], aligned to 64 bytes, and a kernel processes a block in SN_BLOCK / SN_LANES
// groups.
//
// The kernels are built with fused multiply-add where the machine has it, and with no other
// relaxation of floating-point arithmetic.
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

// A kernel goes through a block stage by stage, each stage for all groups of lanes. The groups are
// independent of each other, so the machine has work to do while it waits for the square roots and
// divisions of one.
enum { SN_BLOCK = 8, SN_GROUPS = SN_BLOCK / SN_LANES };

// sn_foo -> sn_foo_avx2
#ifndef SN_ISA
#define SN_ISA base
#endif
#define SN_ISA_JOIN(name, isa)   name##_##isa
#define SN_ISA_EXPAND(name, isa) SN_ISA_JOIN(name, isa)
#define SN_ISA_NAME(name)        SN_ISA_EXPAND(name, SN_ISA)

// Aligned storage: double F[9 * SN_BLOCK] SN_ALIGNED;
#define SN_ALIGNED __attribute__((aligned(64)))
// Small kernels that must be inlined: a call would spill every register.
#define SN_INLINE static inline __attribute__((always_inline, unused))

// Large kernels that are called once per group: inlined, each call would repeat the code and the
// loop would outgrow the instruction cache.
#define SN_APART static __attribute__((noinline, unused))

// Put before a loop whose body fills the registers, so that unrolling would spill them, or is so
// long that the unrolled loop would not fit the instruction cache.
#if defined(__clang__)
#define SN_KEEP_LOOP _Pragma("clang loop unroll(disable)")
#else
#define SN_KEEP_LOOP _Pragma("GCC unroll 1")
#endif

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

// Fetches the 72 bytes of a 3x3 block that will soon be read or written; p need not be aligned.
SN_INLINE void sn_prefetch_block(const double *p) {
    __builtin_prefetch(p);
    __builtin_prefetch(p + 8);
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

// a b + c, rounded once where the machine can do that, unless all machines shall agree.
SN_INLINE sn_lanes sn_lanes_fma(sn_lanes a, sn_lanes b, sn_lanes c) {
#if defined(__AVX512F__)
    return (sn_lanes)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX2__) && defined(__FMA__)
    return (sn_lanes)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__aarch64__) && !defined(SN_REPRODUCIBLE)
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

// The natural logarithm of a finite a that is not subnormal, to about 1 ulp; minus infinity for a
// <= 0.
//
//   a = 2^e m,  m in [sqrt(1/2), sqrt(2)),    z = (m - 1) / (m + 1),  |z| < 0.1716
//   ln a = e ln 2 + 2 atanh z
SN_INLINE sn_lanes sn_lanes_log(sn_lanes a) {
    // Adding the gap between 1 and sqrt(1/2) to the bits carries into the exponent exactly where m
    // would reach sqrt(2).
    const int64_t one = 0x3ff0000000000000;
    const int64_t half_root = 0x3fe6a09e667f3bcd;
    sn_mask bits = (sn_mask)a + (one - half_root);
    sn_mask exponent = (bits >> 52) - 1023;
    sn_lanes m = (sn_lanes)((bits & 0x000fffffffffffff) + half_root);

    // A small integer becomes a double by writing it into the low bits of 1.5 * 2^52.
    sn_lanes shift = sn_lanes_all(0x1.8p52);
    sn_lanes e = (sn_lanes)(exponent + (sn_mask)shift) - shift;
    sn_lanes f = m - 1.0;
    sn_lanes z = f / (2.0 + f);
    sn_lanes w = z * z;
    sn_lanes series = sn_lanes_all(2.0 / 21);

    for (int k = 19; k >= 3; k -= 2) {
        series = series * w + 2.0 / k;
    }

    // 2 z + z w series, with 2 z = f - f^2/2 + z f^2/2 so that the leading term f is exact.
    sn_lanes half_square = 0.5 * f * f;
    sn_lanes log =
        e * 0x1.62e42fefa3800p-1 +
        (f - (half_square - (z * (half_square + w * series) + e * 0x1.ef35793c76730p-45)));

    return sn_select((sn_mask)(a > 0.0), log, sn_lanes_all(-INFINITY));
}

// The cube root of a finite a that is neither 0 nor subnormal, to about 2 ulp: a guess from the
// exponent, then Halley's iteration.
SN_INLINE sn_lanes sn_lanes_cbrt(sn_lanes signed_a) {
    sn_lanes a = sn_lanes_abs(signed_a);

    // Dividing the bits by 3 divides the exponent by 3 and gives the mantissa within 4 %. The
    // division is done in doubles because integer vectors have none: writing the high half of a
    // into the low bits of 1.5 * 2^52 turns it into a number.
    sn_lanes shift = sn_lanes_all(0x1.8p52);
    sn_lanes high = (sn_lanes)(((sn_mask)a >> 32) + (sn_mask)shift) - shift;
    sn_lanes guess = high * (1.0 / 3) + (1023 * 2.0 / 3 - 0.033) * 0x1p20;
    sn_lanes x = (sn_lanes)(((sn_mask)(guess + shift) & 0xffffffff) << 32);

    for (int iteration = 0; iteration < 3; iteration++) {
        sn_lanes cube = x * x * x;
        x = x * ((cube + a + a) / (cube + cube + a));
    }

    return sn_lanes_copysign(x, signed_a);
}

#endif
