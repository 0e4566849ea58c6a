// Small dense linear algebra: Cholesky, symmetric eigenvalues, least squares.
//
// Matrices are stored row by row with a stride (doubles from one row to the next) that is at least
// the number of columns. All routines allocate nothing and run on the calling thread.
#ifndef SN_LINALG_DENSE_H
#define SN_LINALG_DENSE_H

#include "base/context.h"

// A = L L', the lower triangle of A replaced by L; the strict upper triangle is neither read nor
// written. Returns -1, or the first row whose pivot is not positive (or not a number); the matrix
// is then overwritten from that row on. Blocked and vectorised: n^3/3 flops.
int32_t sn_dense_cholesky(double *A, int32_t n, int32_t stride);

// Solves L L' x = b in place.
void sn_dense_cholesky_solve(const double *L, int32_t n, int32_t stride, double *x);

// Eigenvalues (ascending) and eigenvectors of a symmetric matrix by Householder reduction and
// implicit QL. Reads the lower triangle of A; A becomes the matrix whose row k is the unit
// eigenvector of values[k]. `work` has n doubles. Returns false if an eigenvalue does not converge
// (a NaN in A).
bool sn_dense_symmetric_eigen(double *A, int32_t n, int32_t stride, double *values, double *work);

// Minimises |A X - B| by Householder QR with column pivoting; if A is rank deficient, X is the
// solution of least norm (an orthogonal reduction from the right). A is m x n (any shape), B is m x
// right_count on entry; X is n x right_count in the first n rows of B on exit, so B has max(m, n)
// rows. Columns whose pivot is below `relative_rank` times the first count as dependent (0 means
// n * DBL_EPSILON). `work` has 2 n doubles. Returns the rank, or -1 if A holds a NaN or an
// infinity.
int32_t sn_dense_least_squares(double *A, int32_t m, int32_t n, int32_t stride, double *B,
                               int32_t right_count, int32_t right_stride, double relative_rank,
                               double *work);

#endif
