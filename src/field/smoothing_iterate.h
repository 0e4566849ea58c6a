// Conjugate gradients for the smoothing system on several quads of functions side by side,
// x[unknown][4 quads] (rows.h), preconditioned by the factor or, without one, by multigrid and
// splines.
#ifndef SN_FIELD_SMOOTHING_ITERATE_H
#define SN_FIELD_SMOOTHING_ITERATE_H

#include "field/matching.h"

enum { SN_ITERATION_VECTORS = 6 };

typedef struct sn_iteration {
    sn_smoothing *smoothing;
    const sn_matching *matching; // NULL: neighbours agree as they are; otherwise there is one quad
    const sn_row_kernels *kernels;
    int32_t quads;
    double *x; // the start, and the result; this and the next: (unknowns + ghosts) x 4 quads
    double *r, *z, *p, *q, *t, *left; // scratch; undefined between solves
    double *seen;                     // with a matching: a residual seen from its frames
    double *inverse_squares;          // D^-2
    double *sums;                     // of each chunk, one for each function
    double tolerance; // of the residual in the preconditioner's norm, relative to `scale`
    double scale[SN_ROW_MAX_WIDTH]; // b'M^-1 b of each function
    sn_cycle cycle;                 // for solves without a factor, like `splines`
    sn_spline_job splines;
} sn_iteration;

// Allocates what solves for `quads` quads need, in the arena; `vectors` are SN_ITERATION_VECTORS of
// the size of x, which may be used otherwise between solves.
sinew_status sn_iteration_prepare(sn_iteration *it, int32_t quads, double *vectors,
                                  sn_arena *scratch);

// Sets `scale`: once for right-hand sides of similar size.
void sn_iteration_measure(sn_iteration *it, const double *b);

// Solves A x = b, starting from x.
void sn_iterate(sn_iteration *it, const double *b, sn_solve_report *report);

#endif
