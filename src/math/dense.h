// Small symmetric dense matrices (n <= SN_DENSE_MAX) stored row by row: eigenvalues by Jacobi,
// clamping to semi-definite, Cholesky. O(n^3), no allocation; for large matrices see linalg.
#ifndef SN_MATH_DENSE_H
#define SN_MATH_DENSE_H

#include <stdbool.h>

enum { SN_DENSE_MAX = 12 };

// A = sum_k values[k] v_k v_k' with values decreasing and v_k the orthonormal rows of `vectors`.
// Reads the upper triangle. Absolute accuracy: a few ulp of the norm of A.
void sn_eigen_symmetric(double *values, double *vectors, const double *A, int n);

// The nearest positive semi-definite matrix in Frobenius norm: negative eigenvalues become 0.
// Symmetrises A from its upper triangle. Returns whether anything was clamped.
bool sn_clamp_semidefinite(double *A, int n);

// A = L L', with L in the lower triangle of A; the upper triangle is neither read nor written.
// Returns false if a pivot is not positive; A is then partly overwritten.
bool sn_cholesky(double *A, int n);

// x = A^-1 x with the factor of sn_cholesky.
void sn_cholesky_solve(double *x, const double *L, int n);

#endif
