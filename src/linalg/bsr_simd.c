// Products with block sparse matrices. A row of a block is loaded as four lanes, of which the last
// belongs to the next row and is multiplied by a zero of the vector. Three accumulators hold the
// three rows of the result and are summed once per block row.
#include "linalg/kernels.h"
#include "math/quad.h"

void SN_ISA_NAME(sn_kernel_bsr_multiply)(double *y, const int32_t *starts, const int32_t *columns,
                                         const double *A, const double *x, int32_t begin,
                                         int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        sn_quad y0 = sn_quad_all(0);
        sn_quad y1 = y0;
        sn_quad y2 = y0;

        for (int32_t k = starts[i]; k < starts[i + 1]; k++) {
            const double *a = A + 9 * (size_t)k;
            sn_quad v = sn_quad_load3(x + 3 * (size_t)columns[k]);
            y0 = sn_quad_fma(sn_quad_load_any(a), v, y0);
            y1 = sn_quad_fma(sn_quad_load_any(a + 3), v, y1);
            y2 = sn_quad_fma(sn_quad_load_any(a + 6), v, y2);
        }

        sn_quad_store3(y + 3 * (ptrdiff_t)i, sn_quad_sum_each(y0, y1, y2));
    }
}

// How many blocks ahead a gather fetches.
enum { AHEAD = 32 };

// Reads each block above the diagonal from its mirror below, so that writes stay within the row.
void SN_ISA_NAME(sn_kernel_bsr_mirror)(double *A, const sn_bsr *pattern, int32_t begin,
                                       int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        for (int32_t k = pattern->diagonal[i] + 1; k < pattern->starts[i + 1]; k++) {
            // The source is elsewhere in memory: fetch that of a later block meanwhile.
            if (k + AHEAD < pattern->blocks) {
                sn_prefetch_block(A + 9 * (size_t)pattern->mirror[k + AHEAD]);
            }

            const double *from = A + 9 * (size_t)pattern->mirror[k];
            double *to = A + 9 * (size_t)k;
            sn_quad x, y, z;

            sn_quad_transpose3(sn_quad_load_any(from), sn_quad_load_any(from + 3),
                               sn_quad_load3(from + 6), &x, &y, &z);
            // The fourth lane spills into the next row, which is written after it.
            sn_quad_store_any(to, x);
            sn_quad_store_any(to + 3, y);
            sn_quad_store3(to + 6, z);
        }
    }
}

// Sums over a row. The blocks above the diagonal are read from below without transposing, because
// only the symmetric part of the sum is used.
void SN_ISA_NAME(sn_kernel_bsr_close)(double *A, const sn_bsr *pattern, int32_t begin,
                                      int32_t end) {
    for (int32_t i = begin; i < end; i++) {
        sn_quad first = sn_quad_all(0);
        sn_quad second = first;
        double last = 0;
        double sum[8];
        double *diagonal = A + 9 * (size_t)pattern->diagonal[i];

        // Subtract the blocks below the diagonal, as nine consecutive numbers.
        for (const double *block = A + 9 * (size_t)pattern->starts[i]; block < diagonal;
             block += 9) {
            first = sn_quad_sub(first, sn_quad_load_any(block));
            second = sn_quad_sub(second, sn_quad_load_any(block + 4));
            last -= block[8];
        }

        // Subtract the blocks above it, whose mirrors are scattered in memory: prefetch them.
        int32_t above = pattern->starts[i + 1];
        int32_t fetched = above + AHEAD < pattern->blocks ? above : pattern->blocks - AHEAD;
        for (int32_t k = pattern->diagonal[i] + 1; k < fetched; k++) {
            sn_prefetch_block(A + 9 * (size_t)pattern->mirror[k + AHEAD]);
        }

        for (int32_t k = pattern->diagonal[i] + 1; k < above; k++) {
            const double *block = A + 9 * (size_t)pattern->mirror[k];
            first = sn_quad_sub(first, sn_quad_load_any(block));
            second = sn_quad_sub(second, sn_quad_load_any(block + 4));
            last -= block[8];
        }

        // Store the symmetric part of the sum.
        sn_quad_store_any(sum, first);
        sn_quad_store_any(sum + 4, second);
        diagonal[0] = sum[0];
        diagonal[4] = sum[4];
        diagonal[8] = last;
        diagonal[1] = diagonal[3] = 0.5 * (sum[1] + sum[3]);
        diagonal[2] = diagonal[6] = 0.5 * (sum[2] + sum[6]);
        diagonal[5] = diagonal[7] = 0.5 * (sum[5] + sum[7]);
    }
}

// Only the lower triangle of the original is valid; blocks above its diagonal are transposed from
// there.
void SN_ISA_NAME(sn_kernel_packed_copy)(sn_packed *packed, const double *A, int32_t begin,
                                        int32_t end) {
    const int32_t *source = packed->source;
    for (int32_t k = begin; k < end; k++) {
        // The source is elsewhere in memory: prefetch that of a later block.
        if (k + AHEAD < end) {
            int32_t next = source[k + AHEAD];
            sn_prefetch_block(A + 9 * (size_t)(next < 0 ? ~next : next));
        }

        bool transposed = source[k] < 0;
        const double *from = A + 9 * (size_t)(transposed ? ~source[k] : source[k]);
        double *to = packed->values + 9 * (size_t)k;

        if (transposed) {
            sn_quad x, y, z;
            sn_quad_transpose3(sn_quad_load_any(from), sn_quad_load_any(from + 3),
                               sn_quad_load3(from + 6), &x, &y, &z);
            sn_quad_store_any(to, x);
            sn_quad_store_any(to + 3, y);
            sn_quad_store3(to + 6, z);
        } else {
            sn_quad_store_any(to, sn_quad_load_any(from));
            sn_quad_store_any(to + 4, sn_quad_load_any(from + 4));
            to[8] = from[8];
        }
    }
}

// A block below the diagonal is used twice: y_i += B x_j and y_j += B'x_i. Row i is the first to
// write y_i, since only later rows of the chunk add to it.
double SN_ISA_NAME(sn_kernel_packed_multiply)(double *y, const sn_packed *A, const double *x,
                                              int32_t chunk) {
    int32_t begin = sn_packed_chunk_begin(A, chunk);
    int32_t end = sn_packed_chunk_end(A, chunk);
    for (int32_t i = begin; i < end; i++) {
        sn_quad y0 = sn_quad_all(0);
        sn_quad y1 = y0;
        sn_quad y2 = y0;
        const double *a = A->values + 9 * (size_t)A->starts[i];
        int32_t k = A->starts[i];

        // Blocks of other chunks, stored in both rows: only y_i is written.
        for (; k < A->lower[i]; k++, a += 9) {
            sn_quad v = sn_quad_load(x + A->columns[k]);
            y0 = sn_quad_fma(sn_quad_load_any(a), v, y0);
            y1 = sn_quad_fma(sn_quad_load_any(a + 3), v, y1);
            y2 = sn_quad_fma(sn_quad_load_any(a + 6), v, y2);
        }

        // Blocks of this chunk, stored once: they contribute to y_i and to y_j.
        sn_quad x_i = sn_quad_load(x + 4 * (size_t)i);
        sn_quad s0 = sn_quad_spread(x_i, 0);
        sn_quad s1 = sn_quad_spread(x_i, 1);
        sn_quad s2 = sn_quad_spread(x_i, 2);

        for (; k < A->starts[i + 1] - 1; k++, a += 9) {
            sn_quad a0 = sn_quad_load_any(a);
            sn_quad a1 = sn_quad_load_any(a + 3);
            sn_quad a2 = sn_quad_load_any(a + 6);
            sn_quad v = sn_quad_load(x + A->columns[k]);
            sn_quad w = sn_quad_load(y + A->columns[k]);
            y0 = sn_quad_fma(a0, v, y0);
            y1 = sn_quad_fma(a1, v, y1);
            y2 = sn_quad_fma(a2, v, y2);
            w = sn_quad_fma(a2, s2, sn_quad_fma(a1, s1, sn_quad_fma(a0, s0, w)));
            sn_quad_store(y + A->columns[k], sn_quad_clear_last(w));
        }

        // The diagonal block.
        y0 = sn_quad_fma(sn_quad_load_any(a), x_i, y0);
        y1 = sn_quad_fma(sn_quad_load_any(a + 3), x_i, y1);
        y2 = sn_quad_fma(sn_quad_load_any(a + 6), x_i, y2);
        sn_quad_store(y + 4 * (size_t)i, sn_quad_sum_each(y0, y1, y2));
    }

    return SN_ISA_NAME(sn_kernel_dot)(x + 4 * (size_t)begin, y + 4 * (size_t)begin,
                                      4 * (end - begin));
}
