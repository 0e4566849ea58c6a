// Small dense solves by Cholesky (loops in dense_simd.c); see dense.h.
// Eigenvalues and least squares are in dense_orthogonal.c.
#include "linalg/dense.h"

#include "linalg/kernels.h"

int32_t sn_dense_cholesky(double *A, int32_t n, int32_t stride) {
    SN_ASSERT(n >= 0 && stride >= n);
    return sn_linalg_kernels_get()->dense_factor(A, n, n, stride);
}

void sn_dense_cholesky_solve(const double *L, int32_t n, int32_t stride, double *x) {
    SN_ASSERT(n >= 0 && stride >= n);
    const sn_linalg_kernels *kernels = sn_linalg_kernels_get();
    kernels->dense_forward(L, n, stride, x);
    kernels->dense_backward(L, n, stride, x);
}
