// A multigrid preconditioner for Laplace's equation on the cells of a voxel grid, for several
// right-hand sides at a time.
//
// The operator is a sum of conductances: (A x)_u = sum_d c_ud (x_u - x_v) + g_u x_u, where v is the
// neighbour of u in direction d and g_u >= 0 is the conductance to cells of known value.
//
// Coarse cells are blocks of 2 x 2 x 2 cells, merged along x, then y, then z. Along the axis of a
// merger conductances are in series between the centres of the pairs, across it they add up. A cell
// is interpolated between its own pair and the next by what lies between it and their centres: on
// an even grid 3/4 and 1/4, but a stiff cell follows the stiff neighbours it belongs to. With equal
// conductances that is trilinear between the centres of blocks; restriction is the transpose.
// The smoother is a Chebyshev iteration of degree two on the upper part of the spectrum, before and
// after the coarse correction. The coarsest grid is solved directly.
//
// The preconditioner is symmetric and works in single precision. One application costs about five
// products with A.
#ifndef SN_FRAME_WEIGHTS_MULTIGRID_H
#define SN_FRAME_WEIGHTS_MULTIGRID_H

#include "base/isa.h"
#include "base/memory.h"
#include "base/threads.h"

// Right-hand sides at a time (4 or 8), the largest number of grids, and the cells of a parallel
// chunk.
enum { SN_MULTIGRID_LANES = 8, SN_MULTIGRID_LEVELS = 16, SN_MULTIGRID_CHUNK = 2048 };

// Shares of a block: along x for two halves of four lines of cells each, along y for two halves of
// two lines, along z for two halves.
enum { SN_MULTIGRID_SHARES = 14 };

// Returns where the shares along an axis of one half (0 below, 1 above) begin.
static inline int32_t sn_multigrid_share(int axis, int half) {
    static const int32_t first[3][2] = {{0, 4}, {8, 10}, {12, 13}};
    return first[axis][half];
}

typedef struct sn_multigrid_level {
    int32_t count;
    int32_t (*neighbor)[6];  // -x +x -y +y -z +z; the cell itself where there is none
    float (*conductance)[6]; // 0 where there is none
    float *inverse_diagonal;
    // Eight cells of the finer grid for each cell, -1 for none; NULL on the finest.
    int32_t *children;
    // What cells of the finer grid take from the adjacent block, see sn_multigrid_share; NULL on
    // the finest.
    float (*share)[SN_MULTIGRID_SHARES];
    float *x, *y, *b; // `lanes` numbers for each cell
    // Residuals of the finer grid, by block: eight for each cell, then four and two as the axes are
    // folded; NULL on the finest.
    float *blocks, *folded_x, *folded_y;
} sn_multigrid_level;

// The input of the loops over the cells of a level.
typedef struct sn_multigrid_job {
    const sn_multigrid_level *level; // the next coarser level follows it in memory
    const float *from;
    float *to;
    float first, step; // factors of the smoothing steps
    int32_t axis, width;
    double *partial; // sums of each chunk, `lanes` each
} sn_multigrid_job;

// The input of the loops of conjugate gradients on the finest grid (conduction.c). Search
// directions may be in single precision, because x and r change by the same one.
typedef struct sn_conduction_job {
    const int32_t (*neighbor)[6];
    const double (*conductance)[6], *diagonal;
    double *x, *r;
    float *p, *single; // single: r in single precision, for the preconditioner
    const float *z;
    const double *factor; // one for each lane
    double *partial;      // sums of each chunk, one for each lane
} sn_conduction_job;

// The loops, built for each instruction set and number of lanes from multigrid_kernels.h.
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

// The finest grid: cells with coordinates (three each, within `extent`), neighbours (-1 for none),
// and conductances to the neighbours and to known values. The inputs are copied into the arena.
typedef struct sn_multigrid_input {
    int32_t count;
    int32_t lanes; // the largest number of right-hand sides: 4 or 8
    int32_t extent[3];
    const int32_t (*coordinates)[3];
    const int32_t (*neighbor)[6];
    const float (*conductance)[6];
    const float *known;
} sn_multigrid_input;

sinew_status sn_multigrid_create(sn_arena *arena, const sn_multigrid_input *input,
                                 sn_multigrid **multigrid);

// Sets how many right-hand sides the next applications have: 4, or the number given at creation.
void sn_multigrid_set_lanes(sn_multigrid *multigrid, int32_t lanes);

// Computes levels[0].x = M levels[0].b, `lanes` numbers for each cell of the finest grid. `partial`
// receives b.x of each chunk of SN_MULTIGRID_CHUNK cells.
void sn_multigrid_apply(sn_multigrid *multigrid, double *partial);

#endif
