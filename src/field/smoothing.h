// Smooth functions over a graph that come near given values at a few places.
//
// With symmetric weights W between neighbours, D their sums and the graph's Laplacian G = D - W,
// the difference of each unknown from the weighted mean of its neighbours is L x = -D^-1 G x. The
// smoothing minimises |L x|^2 + |C x - c|^2:
//
//   A x = C'c,    A = G D^-2 G + C'C
//
// The neighbours' mean place is not the own place, least of all at the boundary, so that L x does
// not vanish for functions that grow evenly: taken as it is, the smoothest function would be flat
// at the boundary and uneven inside. With v that drift and g the slope of the last solution, |L x -
// v.g|^2 + |C x - c - u.g|^2 is minimised instead in a second pass, u the drift of a row of C: only
// right-hand sides change.
//
// A row of C averages unknowns that are neighbours of one of them (itself among them), so that C'C
// never leaves the pattern of L'L: moving constraints changes numbers only.
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
    sn_vec3 *points; // where each row asks for its value
} sn_constraints;

typedef struct sn_smoothing {
    sinew_context *context;
    sn_arena arena;
    int32_t n;
    sn_sparse G;
    double *inverse_degrees;  // 1 / D; 0 where there is no neighbour
    double mean_distance;     // of neighbours
    const sn_vec3 *positions; // borrowed
    sn_vec3 *drifts;          // the mean of the neighbours' places less the own
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

// Up to this many unknowns the factor takes about as long as iterations, and less than a gigabyte;
// and once there it makes turning a curve a tenth of the work.
enum {
    SN_SMOOTHING_MOST_DIRECT = 100000,
    SN_SMOOTHING_WIDTH = SN_ROW_WIDTH,
    SN_SMOOTHING_MOST_WIDTH = SN_ROW_MOST_WIDTH,
    SN_SMOOTHING_PASSES = 3
};

// Weights exp(-d^2 / d'^2) for neighbours at distance d, d'^2 the product of the mean neighbour
// distances of the two: no unit of length enters, and d/d' is bounded, so that no weight vanishes.
// `neighbours` lists each pair from both sides, without the unknown itself, ascending; `positions`
// stay borrowed. Symbolic phase.
sinew_status sn_smoothing_create(sinew_context *context, const sn_adjacency *neighbours,
                                 const sn_vec3 *positions, sinew_field_solver solver,
                                 sn_smoothing *smoothing);
void sn_smoothing_destroy(sn_smoothing *smoothing);

// The entry of a matrix that has it.
double *sn_smoothing_find_entry(const sn_sparse *A, int32_t row, int32_t column);

// Numeric phase: factor, or multigrid hierarchy. Every connected part needs a constraint. The rows
// are borrowed until the next call.
sinew_status sn_smoothing_set_constraints(sn_smoothing *smoothing, const sn_constraints *rows);

// Solves for `components` functions at once: values[row][component] in, x[unknown][component] out.
// `components` is a multiple of SN_SMOOTHING_WIDTH, at most SN_SMOOTHING_MOST_WIDTH; what a
// function comes to does not depend on those beside it but for rounding. `history`,
// SN_SMOOTHING_PASSES times as large as x or NULL, takes what each pass of iterations comes to;
// `resumed`: it holds that of an earlier solve, from which they start.
sinew_status sn_smoothing_solve(sn_smoothing *smoothing, const sn_constraints *rows,
                                const double *values, int32_t components, double *x,
                                double *history, bool resumed, sn_solve_report *report);

// The same without a second pass, and by iterations to three digits.
sinew_status sn_smoothing_estimate(sn_smoothing *smoothing, const sn_constraints *rows,
                                   const double *values, int32_t components, double *x,
                                   sn_solve_report *report);

#endif
