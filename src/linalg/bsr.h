// Block sparse matrices of 3x3 blocks with a symmetric pattern: one block row and column per node.
//
// A pattern (sn_bsr) is built once and shared by any number of matrices, each a plain array of nine
// doubles per block, row by row. Within a block row the columns ascend; both triangles are stored.
// Assembly writes only the blocks with column <= row and lets sn_bsr_mirror fill the rest. Vectors
// hold three doubles per node: x0 y0 z0 x1 y1 z1 ...
//
// All results are bitwise the same for any number of threads.
#ifndef SN_LINALG_BSR_H
#define SN_LINALG_BSR_H

#include "base/memory.h"

typedef struct sn_bsr {
    int32_t rows;      // nodes
    int32_t blocks;    // stored blocks
    int32_t *starts;   // rows + 1: the blocks of row i are [starts[i], starts[i + 1])
    int32_t *columns;  // blocks: the column of each
    int32_t *diagonal; // rows: index of the block (i, i)
    int32_t *mirror;   // blocks: index of the block (column, row); its own index on the diagonal
} sn_bsr;

// Sets of nodes that are coupled pairwise, e.g. the nodes of each element. Set s holds
// members[offsets[s]] to members[offsets[s + 1] - 1], or, with offsets == NULL, `width` members
// from members[s * width] on.
typedef struct sn_bsr_sets {
    int32_t count;
    int32_t width;
    const int32_t *offsets;
    const int32_t *members;
} sn_bsr_sets;

// Builds the union of all pairs within each of `list_count` lists of sets, and the diagonal. Time
// and memory are linear in the number of pairs. The pattern lives in the arena. A member outside
// [0, rows) is SINEW_INVALID_DATA; more than INT32_MAX blocks are SINEW_OUT_OF_MEMORY.
sinew_status sn_bsr_build(sn_arena *arena, int32_t rows, const sn_bsr_sets *lists,
                          int32_t list_count, sn_bsr *pattern);

// Index of the block (row, column), or -1. Logarithmic in the length of the row.
int32_t sn_bsr_find(const sn_bsr *pattern, int32_t row, int32_t column);

// The number of doubles of a matrix: nine per block, and a tail that lets a kernel load a row of a
// block as four lanes.
size_t sn_bsr_value_count(const sn_bsr *pattern);

// A zero matrix. NULL on failure (the arena remembers it).
double *sn_bsr_push_values(sn_arena *arena, const sn_bsr *pattern);

// The number of doubles of a vector with one entry per scalar row.
static inline int32_t sn_bsr_size(const sn_bsr *pattern) {
    return 3 * pattern->rows;
}

void sn_bsr_set_zero(sinew_context *context, const sn_bsr *pattern, double *A);

// Clears only the lower triangle and the diagonal, of a matrix that sn_bsr_mirror will complete.
void sn_bsr_set_zero_lower(sinew_context *context, const sn_bsr *pattern, double *A);

// Y = s A. Y may be A.
void sn_bsr_scale(sinew_context *context, const sn_bsr *pattern, double *Y, double s,
                  const double *A);

// Y += s A
void sn_bsr_add_scaled(sinew_context *context, const sn_bsr *pattern, double *Y, double s,
                       const double *A);

// Adds s d[k] to the k-th entry of the main diagonal; d holds one number per scalar unknown (a
// lumped mass).
void sn_bsr_add_diagonal(sinew_context *context, const sn_bsr *pattern, double *A, double s,
                         const double *d);

// Copies each block below the diagonal, transposed, to its mirror block above. Diagonal blocks are
// not changed.
void sn_bsr_mirror(sinew_context *context, const sn_bsr *pattern, double *A);

// Sets the diagonal blocks of a matrix whose block rows sum to zero (a stiffness that is invariant
// under translation) from the lower triangle: minus the sum of the other blocks of the row, made
// symmetric.
void sn_bsr_close_diagonal(sinew_context *context, const sn_bsr *pattern, double *A);

// y = A x. The arrays must not overlap. `A` must have sn_bsr_value_count doubles; x needs no tail.
void sn_bsr_multiply(sinew_context *context, const sn_bsr *pattern, double *y, const double *A,
                     const double *x);

// y = A x; returns x'y.
double sn_bsr_multiply_dot(sinew_context *context, const sn_bsr *pattern, double *y,
                           const double *A, const double *x);

// r = b - A x; returns the Euclidean norm of r. r may be b.
double sn_bsr_residual(sinew_context *context, const sn_bsr *pattern, double *r, const double *A,
                       const double *x, const double *b);

// Dirichlet conditions. `mask` has one byte per scalar unknown, nonzero where the value is
// prescribed.
//
// sn_bsr_constrain zeroes the prescribed rows and columns and puts 1 on their diagonal. The known
// values go to the right-hand side before that: b -= y with y = A x over the prescribed columns,
// then b = x at the prescribed rows. Blocks above the diagonal are not read, but they are
// constrained as well.
void sn_bsr_constrain(sinew_context *context, const sn_bsr *pattern, double *A,
                      const uint8_t *mask);

// y = A (mask x): the product over the prescribed columns only, for all rows, from the lower
// triangle.
void sn_bsr_multiply_masked(sinew_context *context, const sn_bsr *pattern, double *y,
                            const double *A, const double *x, const uint8_t *mask);

// The whole matrix as 3 rows x 3 rows doubles, row by row. For tests and small systems.
void sn_bsr_to_dense(const sn_bsr *pattern, double *dense, const double *A);

#endif
