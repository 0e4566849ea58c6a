// Multigrid for the Laplacian of a graph with some unknowns tied: V-cycles of M = G + diag(S), on four functions at once.
//
// By smoothed aggregation (Vanek, Mandel and Brezina 1996): a graph's nodes are gathered around seeds, the membership is
// smoothed once by damped Jacobi, the coarse matrix is P'MP. Jacobi before and after keeps the cycle symmetric, so that it
// serves as a preconditioner; for that single precision is enough, and half as much to read.
#ifndef SN_FIELD_MULTILEVEL_H
#define SN_FIELD_MULTILEVEL_H

#include "field/rows.h"

enum { SN_MULTILEVEL_MOST = 24, SN_MULTILEVEL_DENSE = 300 };

typedef struct sn_level {
    sn_narrow M; // columns of a row in no particular order
    float *inverse_diagonal;
    sn_narrow P, R;   // from the next coarser level, and back: R = P'
    float *x, *b, *r; // n x SN_ROW_WIDTH
} sn_level;

typedef struct sn_multilevel {
    sinew_context *context;
    const sn_narrow_kernels *kernels;
    int32_t level_count;
    sn_level levels[SN_MULTILEVEL_MOST];
    float *squares; // D^2
    double *dense;  // Cholesky factor of the coarsest matrix; NULL if it is too large for that (many parts)
} sn_multilevel;

// G as in smoothing.h, of which pattern stays borrowed; S >= 0, above 0 somewhere in each connected part. Lives in the arena.
sinew_status sn_multilevel_build(sn_arena *arena, const sn_sparse *G, const double *S, sn_multilevel *multilevel);

// z = about M^-1 D^2 M^-1 r, D the diagonal of G (1 where that is 0), four functions at once: z[unknown][4]. Symmetric
// positive definite in r but for rounding. Allocates nothing. z may be r.
void sn_multilevel_apply(sn_multilevel *multilevel, double *z, const double *r);

#endif
