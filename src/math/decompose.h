// Decompositions of blocks of 3x3 matrices, [9][SN_BLOCK] row by row, for callers outside of
// *_simd.c files; pick a version with SN_ISA_PICK. About 20 ns a matrix for the polar decomposition
// and 45 ns for the singular values with AVX2.
#ifndef SN_MATH_DECOMPOSE_H
#define SN_MATH_DECOMPOSE_H

#include "base/isa.h"

// F = R S, det R = +1, S symmetric. `S` may be NULL.
SN_ISA_DECLARE(void, sn_decompose_polar, (double *R, double *S, const double *F));

// F = U diag(sigma) V', det U = det V = +1, sigma1 >= sigma2 >= |sigma3|; sigma is [3][SN_BLOCK].
SN_ISA_DECLARE(void, sn_decompose_svd, (double *U, double *sigma, double *V, const double *F));

#endif
