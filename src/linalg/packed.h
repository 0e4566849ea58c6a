// A symmetric block matrix in the order and layout that conjugate gradients use.
//
// Rows are in a reverse Cuthill-McKee order, which keeps neighbours close in memory and suits
// incomplete factors. Very large matrices are cut into domains, separated by whole level sets of
// the order (separators): domains come first, separators last. A domain is coupled only to
// separators and a separator only to domains, so an incomplete factor can process all domains in
// parallel, then all separators. Since a factor in such an order is weaker, smaller matrices stay
// whole.
//
// For products the rows are cut into chunks, independently of these parts. Within a chunk only the
// lower triangle is stored. Blocks that couple two chunks are stored in both rows, so that each
// chunk writes only its own rows. Vectors have four doubles per row, of which the fourth is zero.
// Neither cut depends on the number of threads.
#ifndef SN_LINALG_PACKED_H
#define SN_LINALG_PACKED_H

#include "linalg/bsr.h"

typedef struct sn_packed {
    int32_t rows;
    int32_t domains, parts;     // parts [0, domains) are domains, the others separators
    int32_t *part_starts;       // parts + 1: first row of each
    int32_t chunks, chunk_rows; // chunk c holds the rows from c chunk_rows on
    int32_t *order;             // rows: the row of the original matrix
    // The blocks of a row in four groups, each by ascending column: above the diagonal in other
    // chunks, below it in other chunks, below it in this chunk, and the diagonal.
    int32_t *starts;  // rows + 1
    int32_t *below;   // rows: first block below the diagonal
    int32_t *lower;   // rows: first block below the diagonal in this chunk
    int32_t *columns; // four times the column of each block
    int32_t *source;  // block of the original matrix in its lower triangle, or the bits of that
                      // inverted: its transpose
    double *values;   // nine per block, row by row
} sn_packed;

// The rows of a chunk are [begin, end).
static inline int32_t sn_packed_chunk_begin(const sn_packed *packed, int32_t chunk) {
    return chunk * packed->chunk_rows;
}

static inline int32_t sn_packed_chunk_end(const sn_packed *packed, int32_t chunk) {
    int32_t end = (chunk + 1) * packed->chunk_rows;
    return end < packed->rows ? end : packed->rows;
}

// Symbolic phase: order, parts, chunks and links. `values` stay zero.
sinew_status sn_packed_build(sn_arena *arena, const sn_bsr *pattern, sn_packed *packed);

// Copies the values of a matrix on the original pattern; reads its lower triangle only.
void sn_packed_update(sinew_context *context, sn_packed *packed, const double *A);

// y = A x; returns x'y.
double sn_packed_multiply(sinew_context *context, double *y, const sn_packed *packed,
                          const double *x);

// Converts from three doubles per row in the original order, times s, to four in this order, and
// back.
void sn_packed_gather(double *packed_vector, const sn_packed *packed, double s, const double *x);
void sn_packed_scatter(double *x, const sn_packed *packed, double s, const double *packed_vector);

#endif
