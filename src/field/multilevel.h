// Multigrid for the Laplacian of a graph with some unknowns tied: V-cycles of M = G + diag(S), on
// some quads of functions at once (rows.h).
//
// By smoothed aggregation (Vanek, Mandel and Brezina 1996): a graph's nodes are gathered around
// seeds, the membership is smoothed once by damped Jacobi, the coarse matrix is P'MP. Jacobi before
// and after keeps the cycle symmetric, so that it serves as a preconditioner; for that single
// precision is enough, and half as much to read.
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

// The vectors of a cycle, apart from the levels: how many functions there are differs from solve to
// solve.
typedef struct sn_level_vectors {
    float *x, *b, *r; // unknowns x SN_ROW_WIDTH quads
} sn_level_vectors;

typedef struct sn_cycle {
    int32_t quads;
    sn_level_vectors levels[SN_MULTILEVEL_MOST];
} sn_cycle;

// G as in smoothing.h, of which pattern stays borrowed; S >= 0, above 0 somewhere in each connected
// part. Lives in the arena.
sinew_status sn_multilevel_build(sn_arena *arena, const sn_sparse *G, const double *S,
                                 sn_multilevel *multilevel);

// Vectors for so many quads, in the arena.
sinew_status sn_cycle_create(sn_arena *arena, const sn_multilevel *multilevel, int32_t quads,
                             sn_cycle *cycle);

// z = about M^-1 D^2 M^-1 r, D the diagonal of G (1 where that is 0), of all functions of the
// cycle: z[unknown][4 quads]. Symmetric positive definite in r but for rounding. Allocates nothing.
// z may be r.
void sn_multilevel_apply(const sn_multilevel *multilevel, sn_cycle *cycle, double *z,
                         const double *r);

#endif
