// A reduction: a basis of displacement fields for the nodes of a body, and the samples at which its
// forces are evaluated.
//
// u = U y with U' M U = I and U' K U diagonal at rest. Forces are integrated by cubature (An et
// al. 2008): f_k = -sum_s w_s V_s (dF_s / dy_k) : P(F_s) over few samples s with weights w_s > 0.
#ifndef SN_REDUCED_REDUCTION_H
#define SN_REDUCED_REDUCTION_H

#include "sinew/reduced.h"

#include "body/body.h"

// One sample of the cubature: its number in the body's sample groups, and its weight.
typedef struct sn_reduced_point {
    int32_t group, sample;
    double weight;
} sn_reduced_point;

struct sinew_reduction {
    sinew_context *context;
    sn_arena arena;  // owns everything below, and this struct
    uint64_t source; // hash of the body that it belongs to
    sinew_reduction_kind kind;
    sinew_reduction_report report;
    int32_t nodes, size;
    double *omega_squared;    // [size] [1/s^2]
    double *U;                // [node][size][3]
    double *turn;             // [node][size][3]: rotation vectors of warped modes; NULL otherwise
    sn_reduced_point *points; // report.points of them, ascending in group, then sample
};

// An empty reduction in an arena of its own, with memory for its arrays.
sinew_status sn_reduction_begin(sinew_context *context, sinew_reduction_kind kind, int32_t nodes,
                                int32_t size, int32_t points, sinew_reduction **out);

// The hash of everything that a reduction depends on: mesh, materials and supports.
uint64_t sn_reduction_hash_source(const sinew_body *body);

// Vectors that span the shapes of a body, three numbers a node each.
typedef struct sn_reduced_basis {
    int32_t size, linear; // all vectors, and those that are linear modes
    bool free;
    double reach;          // amplitude of the first mode at the largest displacement to be expected
    double *U;             // [size][3 nodes], orthonormal by mass; stiffness at rest is diagonal
    double *omega_squared; // [size]
    double *mode_squared;  // [linear]: omega^2 of the linear modes
    // The static shape to second order for a load that causes the linear modes p: y = linear p +
    // 1/2 curve p p, all in coordinates of U.
    double *linear_part; // [linear][size]
    double *curve;       // [pair i <= j][size]; NULL without derivatives
} sn_reduced_basis;

// The number of coordinates that a definition asks for.
int32_t sn_reduction_size(const sinew_reduction_def *def);

// Computes the basis in the arena (basis.c).
sinew_status sn_reduced_basis_compute(sinew_body *body, const sinew_reduction_def *def,
                                      sn_arena *arena, sn_reduced_basis *basis);

// Chooses samples and weights by training poses (training.c). `points` has room for `most`.
typedef struct sn_training {
    int32_t count;
    double training_error, check_error;
} sn_training;

sinew_status sn_reduced_train(sinew_body *body, const sinew_reduction_def *def,
                              const sn_reduced_basis *basis, const double *nodal, int32_t most,
                              sn_reduced_point *points, sn_training *training);

#endif
