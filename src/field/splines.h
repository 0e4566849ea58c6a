// A coarse space for the smoothing system: quadratic splines on a regular grid over the positions
// of the unknowns.
//
// They are smooth enough (C1) for an energy of second differences. With P the values of the splines
// at the unknowns, the Galerkin matrix K = (L P)'(L P) + (C P)'(C P) represents the whole system
// including constraints, and Q = P K^-1 P' solves it as far as smooth functions go. Points that are
// close in space but far apart through the mesh share splines, which makes Q less effective but not
// wrong.
//
// The splines are evaluated not at the positions X of the unknowns but at relaxed ones,
//
//   Y = (1 - w D^-1 G)^k X
//
// because the mean position of an element's neighbours is not its own: L X is as large as an edge
// in any mesh of tets, and L f(X) contains that times the slope of f, however smooth f is.
// Functions of low energy follow the mesh instead: L f(Y) is about f'' alone.
#ifndef SN_FIELD_SPLINES_H
#define SN_FIELD_SPLINES_H

#include "field/rows.h"
#include "math/vec.h"

enum { SN_SPLINE_SUPPORT = 27 }; // splines that are not 0 in a cell

// The rows of C of smoothing.h.
struct sn_constraints;

// The arrays that the loops over cells read and write.
typedef struct sn_spline_job {
    const int32_t *cell_starts;
    const int32_t *unknowns;          // by cell
    const float *offsets;             // three per unknown: its position in its cell, 0 to 1
    const int32_t *splines;           // SN_SPLINE_SUPPORT for each cell, z fastest
    const int32_t *use_starts, *uses; // of each spline: its entries in `shares`
    int32_t quads;                    // of functions side by side (rows.h)
    double *shares;                   // SN_SPLINE_SUPPORT x SN_ROW_WIDTH quads for each cell
    double *coefficients; // SN_ROW_WIDTH quads for each spline, and as many zeros behind the last
    const double *x;
    double *y;
} sn_spline_job;

typedef struct sn_spline_kernels {
    sn_range_fn *gather;  // over cells: shares from x
    sn_range_fn *collect; // over splines: coefficients from shares
    sn_range_fn *spread;  // over cells: y += P coefficients
} sn_spline_kernels;

SN_ISA_DECLARE(const sn_spline_kernels *, sn_spline_get_kernels, (void));

typedef struct sn_splines {
    sinew_context *context;
    const sn_spline_kernels *kernels;
    int32_t n;          // unknowns
    int32_t count;      // splines in use; 0: no coarse space
    sn_vec3 *positions; // of the unknowns, relaxed
    sn_vec3 origin, inverse_spacing;
    int32_t cells[3];
    int32_t cell_count; // those with unknowns
    int32_t *numbers;   // of each grid point, (cells + 2)^3: its spline, or `count` if not in use
    sn_sparse K;
    double *LL; // the values of K without constraints
    sn_factor *factor;
    bool usable;       // there are splines, and K of the last update is positive definite
    sn_spline_job job; // but for what depends on the functions
} sn_splines;

// G and its inverse degrees as in smoothing.h. Lives in the arena except for the factor.
sinew_status sn_splines_build(sn_arena *arena, const sn_sparse *G, const double *inverse_degrees,
                              const sn_vec3 *positions, sn_splines *splines);
void sn_splines_destroy(sn_splines *splines);

// Numeric phase, when constraints have changed. splines->usable says whether the splines can be
// used.
void sn_splines_update(sn_splines *splines, const struct sn_constraints *rows);

// Allocates what sn_splines_add needs for `quads` quads of functions, in the arena.
sinew_status sn_splines_prepare(sn_arena *arena, const sn_splines *splines, int32_t quads,
                                sn_spline_job *job);

// y += Q x with usable splines, for all functions of the job at once: x[unknown][4 quads].
// Allocates nothing.
void sn_splines_add(const sn_splines *splines, sn_spline_job *job, double *y, const double *x);

#endif
