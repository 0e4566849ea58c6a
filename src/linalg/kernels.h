// The hot loops of linear algebra. Sums run in eight lanes whatever the register width.
#ifndef SN_LINALG_KERNELS_H
#define SN_LINALG_KERNELS_H

#include <stdint.h>

// Doubles behind the last block that a kernel may read (not use).
enum { SN_BSR_TAIL = 3 };

// y = A x for the block rows [begin, end).
void sn_kernel_bsr_multiply(double *y, const int32_t *starts, const int32_t *columns, const double *A, const double *x,
                            int32_t begin, int32_t end);

// x'y with eight partial sums.
double sn_kernel_dot(const double *x, const double *y, int32_t count);

// x += alpha p, r -= alpha q; returns r'r.
double sn_kernel_cg_advance(double *x, double *r, double alpha, const double *p, const double *q, int32_t count);

#endif
