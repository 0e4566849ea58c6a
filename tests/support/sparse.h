// Sparse matrices for tests: assembled entry by entry, added and multiplied in the plainest way.
#ifndef SN_TESTS_SUPPORT_SPARSE_H
#define SN_TESTS_SUPPORT_SPARSE_H

#include "linalg/sparse.h"

typedef struct test_triplet {
    int32_t row, column;
    double value;
} test_triplet;

// The matrix of triplets in any order, duplicates added in the order given. Indices are in range.
// Fails for want of memory only.
sinew_status test_sparse_from_triplets(sn_arena *arena, int32_t rows, int32_t columns,
                                       const test_triplet *triplets, int32_t count, sn_sparse *A);

// A + B, of the same shape.
sinew_status test_sparse_add(sn_arena *arena, const sn_sparse *A, const sn_sparse *B,
                             sn_sparse *sum);

// y = A x
void test_sparse_multiply(double *y, const sn_sparse *A, const double *x);

#endif
