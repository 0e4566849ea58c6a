// A multigrid preconditioner for Laplace's equation on the cells of a voxel grid, several
// right-hand sides at a time.
//
// The operator is a sum of conductances: (A x)_u = sum_d c_ud (x_u - x_v) + g_u x_u, where v is the
// neighbour of u in direction d and g_u >= 0 is the conductance to cells of known value. Coarse
// cells are blocks of 2 x 2 x 2; their conductances are those of the coarser grid (half the sum of
// the faces between two blocks), prolongation is trilinear between the middles of the blocks,
// constant where a block is missing, and restriction its transpose. Smoothing is Chebyshev's
// iteration of degree two on the upper part of the spectrum, before and after; the coarsest grid is
// solved directly. The preconditioner is symmetric, works in single precision, and one application
// costs about five products with A.
#ifndef SN_FRAME_WEIGHTS_MULTIGRID_H
#define SN_FRAME_WEIGHTS_MULTIGRID_H

#include "base/isa.h"
#include "base/memory.h"
#include "base/threads.h"

// Right-hand sides at a time: four, or at most eight. Grids at most. Cells of a parallel chunk.
enum { SN_MULTIGRID_LANES = 8, SN_MULTIGRID_LEVELS = 16, SN_MULTIGRID_CHUNK = 2048 };

typedef struct sn_multigrid_level {
    int32_t count;
    int32_t (*neighbor)[6];  // -x +x -y +y -z +z; itself where there is none
    float (*conductance)[6]; // 0 where there is none
    float *inverse_diagonal;
    int32_t *children; // eight cells of the finer grid for each cell, -1 where there is none; NULL
                       // on the finest
    float *x, *y, *b;  // `lanes` numbers for each cell
    // Residuals of the finer grid by block: eight for each cell, then four and two as the axes are
    // folded; NULL on the finest.
    float *blocks, *folded_x, *folded_y;
} sn_multigrid_level;

// What the loops over the cells of a level are given.
typedef struct sn_multigrid_job {
    const sn_multigrid_level *level; // the next coarser one lies behind it
    const float *from;
    float *to;
    float first, step; // factors of the smoothing steps
    int32_t axis, width;
    double *partial; // sums of each chunk, `lanes` each
} sn_multigrid_job;

// And those of the conjugate gradients on the finest grid (shape_harmonic.c). Directions may be in
// single precision: x and r change by the same one.
typedef struct sn_harmonic_job {
    const int32_t (*neighbor)[6];
    const double (*conductance)[6], *diagonal;
    double *x, *r;
    float *p, *single; // and r for the preconditioner
    const float *z;
    const double *factor; // of each lane
    double *partial;      // sums of each chunk
} sn_harmonic_job;

// Built for each instruction set and number of lanes: multigrid_kernels.h.
typedef struct sn_multigrid_kernels {
    sn_range_fn *start, *smooth, *finish, *collect, *fold, *prolong, *product, *step, *direct;
} sn_multigrid_kernels;

SN_ISA_DECLARE(const sn_multigrid_kernels *, sn_multigrid_get_kernels, (int32_t lanes));

typedef struct sn_multigrid {
    sinew_context *context;
    int32_t lanes;
    const sn_multigrid_kernels *kernels;
    int32_t level_count;
    sn_multigrid_level levels[SN_MULTIGRID_LEVELS];
    double *dense; // Cholesky factor of the coarsest operator; NULL if it is too large for that
} sn_multigrid;

// The finest grid: cells with coordinates (three for each, within `extent`), neighbours (-1 for
// none), conductances to them and to known values. Everything is pushed into the arena; the inputs
// are only read.
typedef struct sn_multigrid_input {
    int32_t count;
    int32_t lanes; // of the largest number of right-hand sides: 4 or 8
    int32_t extent[3];
    const int32_t (*coordinates)[3];
    const int32_t (*neighbor)[6];
    const float (*conductance)[6];
    const float *known;
} sn_multigrid_input;

sinew_status sn_multigrid_create(sn_arena *arena, const sn_multigrid_input *input,
                                 sn_multigrid **multigrid);

// How many right-hand sides come next: 4, or what the grid was made for.
void sn_multigrid_set_lanes(sn_multigrid *multigrid, int32_t lanes);

// levels[0].x = M levels[0].b, `lanes` numbers for each cell of the finest grid; `partial` receives
// the products of the two in each chunk of SN_MULTIGRID_CHUNK cells.
void sn_multigrid_apply(sn_multigrid *multigrid, double *partial);

#endif
