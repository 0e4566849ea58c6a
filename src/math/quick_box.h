// Boxes for search trees, rounded outwards to floats: 32 bytes, united by two and compared by three
// operations on rows of four.
//
// The upper corner is stored with its sign changed, so that both corners grow towards smaller
// numbers. A box with a coordinate that is not a number overlaps nothing.
#ifndef SN_MATH_QUICK_BOX_H
#define SN_MATH_QUICK_BOX_H

#include "math/box.h"
#include "math/simd_float.h"

typedef struct sn_quick_box {
    sn_float_row4 lower, upper; // x y z and 0
} sn_quick_box;

static inline sn_quick_box sn_quick_box_empty(void) {
    return (sn_quick_box){{INFINITY, INFINITY, INFINITY, 0}, {INFINITY, INFINITY, INFINITY, 0}};
}

// The largest float that is surely not above a.
static inline float sn_float_below(double a) {
    return (float)(a - 0x1p-23 * fabs(a));
}

static inline sn_quick_box sn_quick_box_of(sn_box box) {
    return (sn_quick_box){
        {sn_float_below(box.lower.x), sn_float_below(box.lower.y), sn_float_below(box.lower.z), 0},
        {sn_float_below(-box.upper.x), sn_float_below(-box.upper.y), sn_float_below(-box.upper.z),
         0}};
}

static inline sn_float_row4 sn_row4_min(sn_float_row4 a, sn_float_row4 b) {
#if defined(__SSE2__)
    return (sn_float_row4)_mm_min_ps((__m128)a, (__m128)b);
#else
    sn_float_row4 least;
    for (int k = 0; k < 4; k++) {
        least[k] = a[k] < b[k] ? a[k] : b[k];
    }
    return least;
#endif
}

static inline sn_float_row4 sn_row4_max(sn_float_row4 a, sn_float_row4 b) {
#if defined(__SSE2__)
    return (sn_float_row4)_mm_max_ps((__m128)a, (__m128)b);
#else
    return -sn_row4_min(-a, -b);
#endif
}

// Bit i is set if component i is at most 0.
static inline uint32_t sn_row4_not_above_zero(sn_float_row4 a) {
#if defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps(_mm_cmple_ps((__m128)a, _mm_setzero_ps()));
#else
    uint32_t bits = 0;
    for (int k = 0; k < 4; k++) {
        bits |= (uint32_t)(a[k] <= 0) << k;
    }
    return bits;
#endif
}

static inline sn_quick_box sn_quick_box_union(const sn_quick_box *a, const sn_quick_box *b) {
    sn_quick_box box;
    box.lower = sn_row4_min(a->lower, b->lower);
    box.upper = sn_row4_min(a->upper, b->upper);
    return box;
}

static inline bool sn_quick_box_overlaps(const sn_quick_box *a, const sn_quick_box *b) {
    // The sign of a sum of two floats is exact.
    return sn_row4_not_above_zero(sn_row4_max(a->lower + b->upper, b->lower + a->upper)) == 15;
}

#endif
