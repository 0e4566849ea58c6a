// Multigrid for the Laplacian of a graph with some unknowns tied: one V-cycle of M = G + diag(S), on four functions at once.
//
// By smoothed aggregation (Vanek, Mandel and Brezina 1996): a graph's nodes are gathered around seeds, the membership is
// smoothed once by damped Jacobi, the coarse matrix is P'MP. Jacobi before and after keeps the cycle symmetric, so that it
// serves as a preconditioner.
#ifndef SN_FIELD_MULTILEVEL_H
#define SN_FIELD_MULTILEVEL_H

#include "field/rows.h"

enum { SN_MULTILEVEL_MOST = 24, SN_MULTILEVEL_DENSE = 300 };

typedef struct sn_level {
    sn_sparse M; // columns of a row in no particular order
    double *inverse_diagonal;
    sn_sparse P, R; // from the next coarser level, and back: R = P'
    double *x, *b;  // n x SN_ROW_WIDTH; not on the finest level
    double *r;      // n x SN_ROW_WIDTH
} sn_level;

typedef struct sn_multilevel {
    sinew_context *context;
    const sn_row_kernels *kernels;
    int32_t level_count;
    sn_level levels[SN_MULTILEVEL_MOST];
    double *dense; // Cholesky factor of the coarsest matrix; NULL if it is too large for that (many parts)
} sn_multilevel;

// G as in smoothing.h; S >= 0, above 0 somewhere in each connected part. Lives in the arena.
sinew_status sn_multilevel_build(sn_arena *arena, const sn_sparse *G, const double *S, sn_multilevel *multilevel);

// x = about M^-1 b, four functions at once: x[unknown][4]. Symmetric positive definite in b. Allocates nothing.
void sn_multilevel_cycle(sn_multilevel *multilevel, double *x, const double *b);

#endif
