// Decompositions of blocks of 3x3 matrices, stored as [9][SN_BLOCK] row by row, for callers outside
// *_simd.c files; select a version with SN_ISA_PICK. With AVX2 the polar decomposition takes about
// 20 ns per matrix and the singular value decomposition 45 ns.
#ifndef SN_MATH_DECOMPOSE_H
#define SN_MATH_DECOMPOSE_H

#include "base/isa.h"

// F = R S, det R = +1, S symmetric. `S` may be NULL.
SN_ISA_DECLARE(void, sn_decompose_polar, (double *R, double *S, const double *F));

// F = U diag(sigma) V', det U = det V = +1, sigma1 >= sigma2 >= |sigma3|; sigma is [3][SN_BLOCK].
SN_ISA_DECLARE(void, sn_decompose_svd, (double *U, double *sigma, double *V, const double *F));

#endif
