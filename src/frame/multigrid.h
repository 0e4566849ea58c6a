// A multigrid preconditioner for Laplace's equation on the cells of a voxel grid, several right-hand sides at a time.
//
// The operator is a sum of conductances: (A x)_u = sum_d c_ud (x_u - x_v) + g_u x_u, where v is the neighbour of u in
// direction d and g_u >= 0 is the conductance to cells of known value. Coarse cells are blocks of 2 x 2 x 2; their
// conductances are those of the coarser grid (half the sum of the faces between two blocks), prolongation is trilinear between
// the middles of the blocks, constant where a block is missing, and restriction its transpose. Smoothing is Chebyshev's
// iteration of degree two on the upper part of the spectrum, before and after; the coarsest grid is solved directly. The
// preconditioner is symmetric, works in single precision, and one application costs about five products with A.
#ifndef SN_FRAME_MULTIGRID_H
#define SN_FRAME_MULTIGRID_H

#include "base/memory.h"

enum { SN_LANES = 4, SN_MULTIGRID_LEVELS = 16 }; // right-hand sides at a time; grids at most

typedef struct sn_multigrid_level {
    int32_t count;
    int32_t (*neighbor)[6];  // -x +x -y +y -z +z; itself where there is none
    float (*conductance)[6]; // 0 where there is none
    float *inverse_diagonal;
    int32_t *children; // eight cells of the finer grid for each cell, -1 where there is none; NULL on the finest
    float *x, *b, *r;  // SN_LANES numbers for each cell
    // Residuals of the finer grid by block: eight for each cell, then four and two as the axes are folded; NULL on the finest.
    float *blocks, *folded_x, *folded_y;
} sn_multigrid_level;

typedef struct sn_multigrid {
    sinew_context *context;
    int32_t level_count;
    sn_multigrid_level levels[SN_MULTIGRID_LEVELS];
    double *dense; // Cholesky factor of the coarsest operator; NULL if it is too large for that
} sn_multigrid;

// The finest grid: cells with coordinates (three for each, within `extent`), neighbours (-1 for none), conductances to them
// and to known values. Everything is pushed into the arena; the inputs are only read.
typedef struct sn_multigrid_input {
    int32_t count;
    int32_t extent[3];
    const int32_t (*coordinates)[3];
    const int32_t (*neighbor)[6];
    const float (*conductance)[6];
    const float *known;
} sn_multigrid_input;

sinew_status sn_multigrid_create(sn_arena *arena, const sn_multigrid_input *input, sn_multigrid **multigrid);

// z = M r, both SN_LANES numbers for each cell of the finest grid.
void sn_multigrid_apply(sn_multigrid *multigrid, double *z, const double *r);

#endif
