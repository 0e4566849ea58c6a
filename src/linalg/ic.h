// Incomplete Cholesky factor on the pattern of the matrix, by 3x3 blocks: the preconditioner of
// pcg-ic and the smoother of pcg-multigrid.
//
//   A ~ C (I + L)(I + L') C'
//
// C is block diagonal and lower triangular, L is strictly lower triangular with the blocks of A. L
// is dimensionless with entries of order one, so it is stored in single precision, which halves the
// memory traffic of an iteration; all arithmetic is in double.
#ifndef SN_LINALG_IC_H
#define SN_LINALG_IC_H

#include "linalg/packed.h"

typedef struct sn_ic {
    const sn_packed *matrix;
    int32_t *starts;  // rows + 1
    int32_t *columns; // four times the column of each block
    int32_t *source;  // block of the packed matrix
    float *values;    // nine per block, row by row
    double *inverse;  // twelve per row: the columns of C^-1, each padded to four
    // What the factor subtracts from block (i, j): for each m < j coupled to both rows, the block
    // (i, m), counted from the start of row i, and the block (j, m).
    int32_t *pair_starts; // blocks + 1
    int32_t *pair_first, *pair_second;
    // The blocks of separator rows whose columns lie in a domain, listed per domain.
    int32_t *link_starts; // domains + 1
    int32_t *link_block, *link_row;
    double *half;    // four per separator row: the result of its backward sweep before C^-T
    int32_t longest; // blocks of the longest row
    double *row;     // 12 * longest for each part: the row in the making
} sn_ic;

// The result of an update.
typedef struct sn_ic_report {
    double shift; // largest relative shift of the diagonal that was needed in a part, 0 if none
    int32_t row;  // original scalar row where the matrix itself is not positive definite or not
                  // finite; -1 if none
    double pivot; // the pivot of that row
} sn_ic_report;

sinew_status sn_ic_build(sn_arena *arena, const sn_packed *matrix, sn_ic *ic);

// Factors the values in the packed matrix. If a pivot breaks down, the part is factored again with
// its diagonal blocks scaled by 1 + shift, shift = 0.05, 0.1, 0.2, ... (Manteuffel 1980). Nearly
// incompressible solids (Poisson ratio above 0.46) need this. A shift just above the smallest that
// works leaves tiny pivots and is worse than one twice as large.
sn_ic_report sn_ic_update(sinew_context *context, sn_ic *ic);

// z = M^-1 r; returns r'z.
double sn_ic_apply(sinew_context *context, double *z, const sn_ic *ic, const double *r);

// The same on the calling thread, for a matrix of one part.
double sn_ic_apply_alone(double *z, const sn_ic *ic, const double *r);

#endif
