// The loops behind the right-hand sides of the smoothing (smoothing.h): slopes of functions over a
// graph, and the effect of drifts. Bodies of sn_parallel_for (base/threads.h), built once for each
// instruction set.
#ifndef SN_FIELD_SLOPES_H
#define SN_FIELD_SLOPES_H

#include "base/isa.h"
#include "base/threads.h"
#include "linalg/sparse.h"
#include "math/mat3.h"

typedef struct sn_slope_job {
    const sn_sparse *G, *A;
    const sn_vec3 *positions, *drifts;
    const sn_mat3 *inverse_moments;
    const double *inverse_degrees;
    size_t width;    // functions side by side, a multiple of SN_ROW_WIDTH
    const double *x; // [unknown][width]
    double *edges;   // sum over the edges of an unknown of W d (x_j - x_i): [unknown][group of
                     // SN_ROW_WIDTH][3][SN_ROW_WIDTH]
    double *slopes;  // laid out like `edges`
    double *drift;   // [unknown][width]
    double *b;       // [unknown][width]
} sn_slope_job;

typedef struct sn_slope_kernels {
    sn_range_fn *sum_edges;      // edges from x
    sn_range_fn *compute_slopes; // slopes from the edges of an unknown and its neighbours
    sn_range_fn *weigh_drifts;   // drift = -D^-1 v.slope, with v the drift of the unknown
    sn_range_fn *add_drifts;     // b += G drift
    sn_range_fn *subtract;       // b -= A x
} sn_slope_kernels;

SN_ISA_DECLARE(const sn_slope_kernels *, sn_slope_get_kernels, (void));

#endif
