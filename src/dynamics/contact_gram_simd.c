// Dense sums of the stiffness of touches (contact_gram.h): outer products, a row at a time.
#include "dynamics/contact_gram.h"

#include "math/simd.h"

void SN_ISA_NAME(sn_contact_add_gram)(double *gram, int32_t rows, const double *weight,
                                      const int32_t *used, int32_t count, const sn_mat3 *S) {
    const double entry[SN_GRAM_ENTRIES] = {S->m[0][0], S->m[0][1], S->m[0][2],
                                           S->m[1][1], S->m[1][2], S->m[2][2]};
    size_t stride = sn_contact_gram_stride(rows);
    for (int32_t i = 0; i < count; i++) {
        size_t row = (size_t)used[i];
        for (size_t e = 0; e < SN_GRAM_ENTRIES; e++) {
            double *out = gram + (e * (size_t)rows + row) * stride;
            sn_lanes factor = sn_lanes_all(entry[e] * weight[row]);
            for (size_t column = 0; column <= row; column += SN_LANES) {
                sn_lanes sum = sn_lanes_load(out + column);
                sn_lanes_store(out + column, sum + factor * sn_lanes_load(weight + column));
            }
        }
    }
}
