// Scalar sparse matrices by rows (CSR), normal equations, and factors for many right-hand sides.
#ifndef SN_LINALG_SPARSE_H
#define SN_LINALG_SPARSE_H

#include "linalg/solver.h"
#include "linalg/supernodal_change.h"

typedef struct sn_sparse {
    int32_t rows, columns;
    int32_t *starts;  // rows + 1
    int32_t *indices; // column of each entry, ascending within a row
    double *values;
} sn_sparse;

static inline int32_t sn_sparse_entry_count(const sn_sparse *A) {
    return A->starts[A->rows];
}

sinew_status sn_sparse_transpose(sn_arena *arena, const sn_sparse *A, sn_sparse *transposed);

// A'A, both triangles.
sinew_status sn_sparse_normal(sn_arena *arena, const sn_sparse *A, sn_sparse *normal);

// The Cholesky factor of a symmetric positive definite matrix (supernodal.h).
typedef struct sn_factor sn_factor;

// Orders and analyses. A has both triangles and the diagonal stored; only its pattern is read, and
// it is not kept. `positions` are three coordinates per row, which give a better order for rows
// that lie in space; or NULL.
sinew_status sn_factor_create(sinew_context *context, const sn_sparse *A, const double *positions,
                              sn_factor **factor);

// NULL is allowed.
void sn_factor_destroy(sn_factor *factor);

// Factors a matrix with the pattern given at creation; allocates nothing. After the first time,
// only the part of the factor that depends on rows whose values have changed is recomputed. Returns
// -1, or the row at which the matrix is not positive definite or not finite (do not solve with it
// then).
int32_t sn_factor_update(sn_factor *factor, const sn_sparse *A);

// Until the next update, solves are with the matrix of the last update plus u u' for each added row
// u, minus u u' for each removed one, without factoring again. If an update would cost less, or is
// necessary, *done is false and nothing has changed.
sinew_status sn_factor_change(sn_factor *factor, const sn_row_set *added, const sn_row_set *removed,
                              bool *done);

// Solves A X = B in place for `count` right-hand sides side by side, x[row][count]; `count` is a
// multiple of four. To single precision: for more digits, solve once more for the residual.
void sn_factor_solve(sn_factor *factor, double *x, int32_t count);

#endif
