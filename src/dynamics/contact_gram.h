// Dense sums of g_a g_b S over touches, for small islands: the six entries of the symmetric S one
// after the other, each an array of rows a and padded columns b <= a.
#ifndef SN_DYNAMICS_CONTACT_GRAM_H
#define SN_DYNAMICS_CONTACT_GRAM_H

#include "base/isa.h"
#include "math/mat3.h"

#include <stddef.h>
#include <stdint.h>

enum { SN_GRAM_ENTRIES = 6, SN_GRAM_PAD = 8 };

static inline size_t sn_contact_gram_stride(int32_t rows) {
    return (size_t)(rows + SN_GRAM_PAD - 1) / SN_GRAM_PAD * SN_GRAM_PAD;
}

// The number of doubles in the sums of `rows` rows.
static inline size_t sn_contact_gram_size(int32_t rows) {
    return SN_GRAM_ENTRIES * (size_t)rows * sn_contact_gram_stride(rows);
}

// The sum of the blocks of two rows, column <= row.
static inline sn_mat3 sn_contact_get_gram(const double *gram, int32_t rows, int32_t row,
                                          int32_t column) {
    static const int entry[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    size_t stride = sn_contact_gram_stride(rows);
    sn_mat3 block;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            size_t first = ((size_t)entry[i][j] * (size_t)rows + (size_t)row) * stride;
            block.m[i][j] = gram[first + (size_t)column];
        }
    }
    return block;
}

// gram += weight[a] weight[b] S for the `count` rows a in `used` and all b <= a; `weight` has the
// padded number of rows, 0 for those that are not used.
SN_ISA_DECLARE(void, sn_contact_add_gram,
               (double *gram, int32_t rows, const double *weight, const int32_t *used,
                int32_t count, const sn_mat3 *S));

#endif
