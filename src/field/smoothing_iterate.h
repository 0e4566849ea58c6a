// Conjugate gradients for the smoothing system on four functions side by side, x[unknown][4], preconditioned by the factor or,
// without one, by multigrid and splines.
#ifndef SN_FIELD_SMOOTHING_ITERATE_H
#define SN_FIELD_SMOOTHING_ITERATE_H

#include "field/matching.h"

typedef struct sn_iteration {
    sn_smoothing *smoothing;
    const sn_matching *matching; // NULL: neighbours agree as they are
    const sn_row_kernels *kernels;
    double *x;                 // the start, and the result; this and the next: (unknowns + ghosts) x 4
    double *r, *z, *p, *q, *t; // vectors of the iteration
    double *left;              // without a factor: what the preconditioner's first step has left
    double *seen;              // with a matching: a residual seen from its frames
    double *inverse_squares;   // D^-2
    double *sums;              // of each chunk, 4 each
    double tolerance;          // of the residual in the preconditioner's norm, relative to `scale`
    double *scale;             // b'M^-1 b of each function
} sn_iteration;

// Makes the vectors, in the arena.
sinew_status sn_iteration_prepare(sn_iteration *it, sn_arena *scratch);

// Sets `scale`: once for right-hand sides that are much alike.
void sn_iteration_measure(sn_iteration *it, const double *b);

// Solves A x = b from x on.
void sn_iterate(sn_iteration *it, const double *b, sn_solve_report *report);

#endif
