// Non-negative least squares by an active set (Lawson and Hanson 1974).
#ifndef SN_LINALG_NNLS_H
#define SN_LINALG_NNLS_H

#include "base/memory.h"

typedef struct sn_nnls_def {
    const double *A; // column by column, `rows` numbers each
    int32_t rows, columns;
    const double *b;
    double tolerance; // stops at |A x - b| <= tolerance |b|
    int32_t most;     // stops at so many columns
} sn_nnls_def;

// Minimises |A x - b| over x >= 0, beginning with x = 0 and adding one column at a time, the one
// whose direction the residual has most of. Stops early as the def says, so x has few numbers above
// 0. `residual` receives |A x - b| / |b| and may be NULL. Cost: for each added column one product
// with A' and the square of the number of columns so far. The status concerns memory.
sinew_status sn_nnls_solve(sinew_context *context, const sn_nnls_def *def, double *x,
                           double *residual);

#endif
