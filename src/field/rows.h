// The loops of the smoothing's iterations over unknowns with four functions side by side, x[unknown][4]: bodies of
// sn_parallel_for (base/threads.h), built once for each instruction set.
#ifndef SN_FIELD_ROWS_H
#define SN_FIELD_ROWS_H

#include "base/isa.h"
#include "base/threads.h"
#include "linalg/sparse.h"

enum { SN_ROW_WIDTH = 4, SN_ROW_CHUNK = 4096 };

// What a loop reads and writes; each says which.
typedef struct sn_row_job {
    const sn_sparse *A;
    const double *x, *b;
    const double *factors; // one for each row
    double *y, *z;
    double scale[SN_ROW_WIDTH]; // one for each function
    double *sums;               // of each chunk
} sn_row_job;

typedef struct sn_row_kernels {
    sn_range_fn *multiply; // y = A x
    sn_range_fn *add;      // y += A x
    sn_range_fn *subtract; // y = b - A x
    sn_range_fn *weigh;    // y = scale[0] factors b; y may be b
    sn_range_fn *relax;    // y = x + scale[0] factors (b - A x)
    sn_range_fn *dot;      // sums = x.b over the rows of each chunk
    sn_range_fn *advance;  // y += scale x, z -= scale b
    sn_range_fn *turn;     // y = x + scale y
} sn_row_kernels;

SN_ISA_DECLARE(const sn_row_kernels *, sn_row_get_kernels, (void));

#endif
