// The loops of the smoothing's iterations over unknowns with several groups of four functions side
// by side, x[unknown][4 quads]: bodies of sn_parallel_for (base/threads.h), built once for each
// instruction set. Each reads a row of a matrix once for all functions; up to rounding, the result
// of a function does not depend on the others.
#ifndef SN_FIELD_ROWS_H
#define SN_FIELD_ROWS_H

#include "base/isa.h"
#include "base/threads.h"
#include "linalg/sparse.h"

enum {
    SN_ROW_WIDTH = 4,
    SN_ROW_MAX_QUADS = 4,
    SN_ROW_MAX_WIDTH = SN_ROW_WIDTH * SN_ROW_MAX_QUADS,
    SN_ROW_CHUNK = 4096
};

// The arrays that a loop reads and writes; each loop says which.
typedef struct sn_row_job {
    int32_t quads; // 1 to SN_ROW_MAX_QUADS
    const sn_sparse *A;
    const double *x, *b;
    const double *factors; // one for each row
    double *y, *z;
    double scale[SN_ROW_MAX_WIDTH]; // one for each function
    double *sums;                   // of each chunk
} sn_row_job;

typedef struct sn_row_kernels {
    sn_range_fn *multiply;  // y = A x
    sn_range_fn *weigh;     // y = factors (A x)
    sn_range_fn *subtract;  // y = b - A x
    sn_range_fn *dot;       // sums = x.b over the rows of each chunk
    sn_range_fn *advance;   // y += scale x, z -= scale b
    sn_range_fn *scale_add; // y = x + scale y
} sn_row_kernels;

SN_ISA_DECLARE(const sn_row_kernels *, sn_row_get_kernels, (void));

// The same in single precision, for preconditioners: reading matrices and vectors is what takes the
// time.
typedef struct sn_narrow {
    int32_t rows, columns;
    const int32_t *starts, *indices;
    float *values;
} sn_narrow;

typedef struct sn_narrow_job {
    int32_t quads; // as above
    const sn_narrow *A;
    const float *x, *b;
    const float *factors; // one for each row
    float *y;
    float scale;
    const double *wide_x;
    double *wide_y;
} sn_narrow_job;

typedef struct sn_narrow_kernels {
    sn_range_fn *multiply; // y = A x
    sn_range_fn *add;      // y += A x
    sn_range_fn *subtract; // y = b - A x
    sn_range_fn *weigh;    // y = scale factors b; y may be b
    sn_range_fn *relax;    // y = x + scale factors (b - A x)
    sn_range_fn *narrow;   // y = wide_x
    sn_range_fn *widen;    // wide_y = x
} sn_narrow_kernels;

SN_ISA_DECLARE(const sn_narrow_kernels *, sn_narrow_get_kernels, (void));

#endif
