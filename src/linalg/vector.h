// Sums and updates of long vectors. Reductions run over fixed chunks in index order, so that every
// result is bitwise the same for any number of threads.
#ifndef SN_LINALG_VECTOR_H
#define SN_LINALG_VECTOR_H

#include "base/context.h"

// x'y
double sn_vector_dot(sinew_context *context, int32_t count, const double *x, const double *y);

// The Euclidean norm.
double sn_vector_norm(sinew_context *context, int32_t count, const double *x);

// The largest |x_k|; NaN if there is one.
double sn_vector_largest(int32_t count, const double *x);

// y += s x
void sn_vector_add_scaled(sinew_context *context, int32_t count, double *y, double s,
                          const double *x);

// y = x + s y
void sn_vector_scale_add(sinew_context *context, int32_t count, double *y, double s,
                         const double *x);

#endif
