// Multigrid for the Laplacian of a graph with some unknowns tied: V-cycles for M = G + diag(S), on
// several quads of functions at once (rows.h).
//
// Smoothed aggregation (Vanek, Mandel and Brezina 1996): the nodes of the graph are grouped around
// seeds, the membership is smoothed once by damped Jacobi, and the coarse matrix is P'MP. Equal
// numbers of Jacobi sweeps before and after keep the cycle symmetric, so that it can serve as a
// preconditioner. Single precision is enough for that and halves the memory traffic.
#ifndef SN_FIELD_MULTILEVEL_H
#define SN_FIELD_MULTILEVEL_H

#include "field/rows.h"

enum { SN_MULTILEVEL_MOST = 24, SN_MULTILEVEL_DENSE = 300 };

typedef struct sn_level {
    sn_narrow M; // columns of a row in no particular order
    float *inverse_diagonal;
    sn_narrow P, R; // from the next coarser level, and back: R = P'
} sn_level;

typedef struct sn_multilevel {
    sinew_context *context;
    const sn_narrow_kernels *kernels;
    int32_t level_count;
    sn_level levels[SN_MULTILEVEL_MOST];
    float *squares; // D^2
    double *dense; // Cholesky factor of the coarsest matrix; NULL if it is too large for that (many
                   // parts)
} sn_multilevel;

// The vectors of a cycle are kept apart from the levels, because the number of functions differs
// from solve to solve.
typedef struct sn_level_vectors {
    float *x, *b, *r; // unknowns x SN_ROW_WIDTH quads
} sn_level_vectors;

typedef struct sn_cycle {
    int32_t quads;
    sn_level_vectors levels[SN_MULTILEVEL_MOST];
} sn_cycle;

// G as in smoothing.h; its pattern stays borrowed. S >= 0, and > 0 somewhere in each connected
// part. Lives in the arena.
sinew_status sn_multilevel_build(sn_arena *arena, const sn_sparse *G, const double *S,
                                 sn_multilevel *multilevel);

// Allocates the vectors for `quads` quads in the arena.
sinew_status sn_cycle_create(sn_arena *arena, const sn_multilevel *multilevel, int32_t quads,
                             sn_cycle *cycle);

// z is approximately M^-1 D^2 M^-1 r with D the diagonal of G (1 where that is 0), for all
// functions of the cycle: z[unknown][4 quads]. Symmetric positive definite in r up to rounding.
// Allocates nothing. z may be r.
void sn_multilevel_apply(const sn_multilevel *multilevel, sn_cycle *cycle, double *z,
                         const double *r);

#endif
