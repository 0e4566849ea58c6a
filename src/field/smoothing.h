// Smooth functions over a graph that approximate given values at a few points.
//
// With symmetric weights W between neighbours, their sums D and the graph Laplacian G = D - W, the
// difference of each unknown from the weighted mean of its neighbours is L x = -D^-1 G x. The
// smoothing minimises |L x|^2 + |C x - c|^2:
//
//   A x = C'c,    A = G D^-2 G + C'C
//
// The mean position of the neighbours is not the unknown's own position, least of all at the
// boundary, so L x does not vanish for linear functions: the smoothest function would be flat at
// the boundary and uneven inside. A second pass therefore minimises
//
//   |L x - v.g|^2 + |C x - c - u.g|^2
//
// where v is that drift, u the drift of a row of C, and g the slope of the last solution. Only
// right-hand sides change.
//
// A row of C averages unknowns that are neighbours of one of them (including itself), so C'C never
// leaves the pattern of L'L: moving constraints changes only values.
#ifndef SN_FIELD_SMOOTHING_H
#define SN_FIELD_SMOOTHING_H

#include "field/multilevel.h"
#include "field/splines.h"
#include "geom/mesh/mesh.h"
#include "math/mat3.h"
#include "linalg/sparse.h"
#include "sinew/field.h"

// The rows of C.
typedef struct sn_constraints {
    int32_t count;
    int32_t *starts; // count + 1
    int32_t *unknowns;
    double *weights; // those of a row sum to one
    sn_vec3 *points; // the position at which each row prescribes its value
} sn_constraints;

typedef struct sn_smoothing {
    sinew_context *context;
    sn_arena arena;
    int32_t n;
    sn_sparse G;
    double *inverse_degrees;  // 1 / D; 0 where there is no neighbour
    double mean_distance;     // of neighbours
    const sn_vec3 *positions; // borrowed
    sn_vec3 *drifts;          // mean position of the neighbours, minus the unknown's own position
    sn_mat3 *inverse_moments; // for slopes: of the edges at an unknown and its neighbours
    bool direct;
    sn_sparse A;             // direct
    double *LL;              // direct: the values of A without constraints
    sn_factor *factor;       // direct
    sn_constraints factored; // direct: the rows of C when A was factored
    sn_arena factored_arena;
    sn_splines splines;       // iterative
    sn_multilevel multilevel; // iterative
    sn_arena level_arena;     // of multilevel
    sn_constraints rows;      // of the last sn_smoothing_set_constraints, borrowed
} sn_smoothing;

// Up to this many unknowns the factor takes about as long as iterations and less than a gigabyte;
// once computed, it makes rotating a curve ten times cheaper.
enum {
    SN_SMOOTHING_MAX_DIRECT = 100000,
    SN_SMOOTHING_WIDTH = SN_ROW_WIDTH,
    SN_SMOOTHING_MAX_WIDTH = SN_ROW_MAX_WIDTH,
    SN_SMOOTHING_PASSES = 3
};

// Weights exp(-d^2 / d'^2) for neighbours at distance d, with d'^2 the product of the two unknowns'
// mean distances to their neighbours: independent of the unit of length, and since d/d' is bounded,
// no weight vanishes. `neighbors` lists each pair from both sides, ascending, without the unknown
// itself; `positions` stay borrowed. Symbolic phase.
sinew_status sn_smoothing_create(sinew_context *context, const sn_adjacency *neighbors,
                                 const sn_vec3 *positions, sinew_field_solver solver,
                                 sn_smoothing *smoothing);
void sn_smoothing_destroy(sn_smoothing *smoothing);

// The address of an existing entry of a matrix.
double *sn_smoothing_find_entry(const sn_sparse *A, int32_t row, int32_t column);

// Numeric phase: the factor, or the multigrid hierarchy. Every connected part needs a constraint.
// The rows are borrowed until the next call.
sinew_status sn_smoothing_set_constraints(sn_smoothing *smoothing, const sn_constraints *rows);

// Solves for `components` functions at once: input values[row][component], output
// x[unknown][component]. `components` is a multiple of SN_SMOOTHING_WIDTH, at most
// SN_SMOOTHING_MAX_WIDTH; up to rounding, the result of a function does not depend on the others.
// `history`, SN_SMOOTHING_PASSES times as large as x or NULL, receives the result of each pass of
// iterations. If `resumed`, it holds that of an earlier solve, from which the iterations start.
sinew_status sn_smoothing_solve(sn_smoothing *smoothing, const sn_constraints *rows,
                                const double *values, int32_t components, double *x,
                                double *history, bool resumed, sn_solve_report *report);

// The same without a second pass and, with the iterative solver, to three digits.
sinew_status sn_smoothing_estimate(sn_smoothing *smoothing, const sn_constraints *rows,
                                   const double *values, int32_t components, double *x,
                                   sn_solve_report *report);

#endif
