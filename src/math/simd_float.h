// Lanes of floats next to the doubles of math/simd.h, for the few loops where a benchmark shows the
// gain and a test bounds the error. sn_floats holds SN_FLOAT_LANES floats and behaves like a float
// under + - * / and < >.
//
// State stays in double. Rows of four doubles (x, y, z of a node and one for padding) are read as
// float differences from another row, so that the rounding is relative to the difference and not to
// the distance from the origin; results are added to the rows in double.
#ifndef SN_MATH_SIMD_FLOAT_H
#define SN_MATH_SIMD_FLOAT_H

#include "math/simd.h"

#if defined(__AVX2__)
#define SN_FLOAT_LANES 8
#else
#define SN_FLOAT_LANES 4
#endif

// For the rare branch of a kernel, so that it does not take registers from the common one.
#define SN_OUTLINE static __attribute__((noinline, unused))

typedef float sn_floats __attribute__((vector_size(4 * SN_FLOAT_LANES)));
typedef float sn_floats_memory __attribute__((vector_size(4 * SN_FLOAT_LANES), may_alias));
typedef int32_t sn_float_mask __attribute__((vector_size(4 * SN_FLOAT_LANES)));

// Rows of four or eight numbers that belong together, whatever the width of the lanes; the compiler
// splits them into what the machine has. They are read and written in place, because the calling
// convention for passing them by value depends on the instruction set.
typedef float sn_float_row4 __attribute__((vector_size(16), may_alias));
typedef float sn_float_row8 __attribute__((vector_size(32), may_alias));
typedef double sn_double_row4 __attribute__((vector_size(32), may_alias));
typedef double sn_double_row8 __attribute__((vector_size(64), may_alias));

SN_INLINE sn_floats sn_floats_load(const float *p) {
    return *(const sn_floats_memory *)p;
}

SN_INLINE void sn_floats_store(float *p, sn_floats a) {
    *(sn_floats_memory *)p = a;
}

// The same number in every lane.
SN_INLINE sn_floats sn_floats_all(float a) {
    return a - (sn_floats){0};
}

// mask ? a : b
SN_INLINE sn_floats sn_floats_select(sn_float_mask mask, sn_floats a, sn_floats b) {
#if defined(__AVX2__)
    return (sn_floats)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return (sn_floats)((mask & (sn_float_mask)a) | (~mask & (sn_float_mask)b));
#endif
}

SN_INLINE int sn_floats_any(sn_float_mask mask) {
#if defined(__AVX2__)
    return _mm256_movemask_ps((__m256)mask) != 0;
#elif defined(__SSE2__)
    return _mm_movemask_ps((__m128)mask) != 0;
#else
    return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
#endif
}

SN_INLINE sn_floats sn_floats_sqrt(sn_floats a) {
#if defined(__AVX2__)
    return (sn_floats)_mm256_sqrt_ps((__m256)a);
#elif defined(__SSE2__)
    return (sn_floats)_mm_sqrt_ps((__m128)a);
#elif defined(__aarch64__)
    return (sn_floats)vsqrtq_f32((float32x4_t)a);
#elif defined(__wasm_simd128__)
    return (sn_floats)wasm_f32x4_sqrt((v128_t)a);
#else
    return (sn_floats){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])};
#endif
}

SN_INLINE sn_floats sn_floats_min(sn_floats a, sn_floats b) {
    return sn_floats_select((sn_float_mask)(a < b), a, b);
}

// Rows of four doubles, lane l takes row index[l]: out[c] = component c < 3 of the row minus that
// of row origin[l]. Rows are aligned to 32 bytes.
SN_INLINE void sn_floats_load_rows(sn_floats out[3], const double *rows, const int32_t *index,
                                   const int32_t *origin) {
#if defined(__AVX2__)

    // Rows l and l + 4 in the halves of one register.
    __m256 pair[4];
    for (int l = 0; l < 4; l++) {
        __m128 half[2];
        for (int side = 0; side < 2; side++) {
            __m256d row = _mm256_load_pd(rows + 4 * (size_t)index[l + 4 * side]);
            __m256d from = _mm256_load_pd(rows + 4 * (size_t)origin[l + 4 * side]);
            half[side] = _mm256_cvtpd_ps(_mm256_sub_pd(row, from));
        }

        pair[l] = _mm256_insertf128_ps(_mm256_castps128_ps256(half[0]), half[1], 1);
    }

    // Transpose.
    __m256 xy01 = _mm256_unpacklo_ps(pair[0], pair[1]);
    __m256 zw01 = _mm256_unpackhi_ps(pair[0], pair[1]);
    __m256 xy23 = _mm256_unpacklo_ps(pair[2], pair[3]);
    __m256 zw23 = _mm256_unpackhi_ps(pair[2], pair[3]);

    out[0] = (sn_floats)_mm256_shuffle_ps(xy01, xy23, 0x44);
    out[1] = (sn_floats)_mm256_shuffle_ps(xy01, xy23, 0xee);
    out[2] = (sn_floats)_mm256_shuffle_ps(zw01, zw23, 0x44);
#else
    for (int l = 0; l < SN_FLOAT_LANES; l++) {
        const double *row = rows + 4 * (size_t)index[l];
        const double *from = rows + 4 * (size_t)origin[l];
        for (int c = 0; c < 3; c++) {
            out[c][l] = (float)(row[c] - from[c]);
        }
    }
#endif
}

// Adds d[c][l] to component c < 3 of row index[l], lane after lane: the same row may occur twice.
SN_INLINE void sn_floats_add_rows(double *rows, const int32_t *index, const sn_floats d[3]) {
#if defined(__AVX2__)

    // Transpose back: rows l and l + 4 in the halves of one register.
    __m256 x = (__m256)d[0];
    __m256 y = (__m256)d[1];
    __m256 z = (__m256)d[2];
    __m256 zero = _mm256_setzero_ps();
    __m256 xy01 = _mm256_unpacklo_ps(x, y);
    __m256 xy23 = _mm256_unpackhi_ps(x, y);
    __m256 zw01 = _mm256_unpacklo_ps(z, zero);
    __m256 zw23 = _mm256_unpackhi_ps(z, zero);
    __m256 pair[4] = {_mm256_shuffle_ps(xy01, zw01, 0x44), _mm256_shuffle_ps(xy01, zw01, 0xee),
                      _mm256_shuffle_ps(xy23, zw23, 0x44), _mm256_shuffle_ps(xy23, zw23, 0xee)};

    // Add.
    for (int l = 0; l < 8; l++) {
        double *row = rows + 4 * (size_t)index[l];
        __m128 half =
            l < 4 ? _mm256_castps256_ps128(pair[l]) : _mm256_extractf128_ps(pair[l - 4], 1);
        _mm256_store_pd(row, _mm256_add_pd(_mm256_load_pd(row), _mm256_cvtps_pd(half)));
    }
#else
    for (int l = 0; l < SN_FLOAT_LANES; l++) {
        double *row = rows + 4 * (size_t)index[l];
        for (int c = 0; c < 3; c++) {
            row[c] += (double)d[c][l];
        }
    }
#endif
}

#endif
