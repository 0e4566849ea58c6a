// Solvers for symmetric positive definite systems A x = b, all behind one table of functions, and
// conjugate gradients for operators that are not matrices.
//
// The symbolic phase (orderings, patterns, memory) runs once in sn_solver_create; the numeric phase
// (factor, preconditioner) runs in sn_solver_update whenever the values change. Nothing allocates
// after the first update.
//
// A numerical outcome, such as a matrix that is not positive definite, is not an error: it is
// reported in sn_solve_report.
#ifndef SN_LINALG_SOLVER_H
#define SN_LINALG_SOLVER_H

#include "linalg/bsr.h"

typedef enum sn_solver_kind {
    SN_SOLVER_AUTO,       // by size, see sn_solver_choose
    SN_SOLVER_DIRECT,     // the faster of the direct ones, by size and build
    SN_SOLVER_PCG_JACOBI, // conjugate gradients, preconditioned by the inverse 3x3 diagonal blocks
    SN_SOLVER_PCG_IC,     // ... by an incomplete Cholesky factor on the pattern of the matrix
    SN_SOLVER_PCG_MULTIGRID, // ... by aggregation multigrid with the rigid motions of the
                             // aggregates
    SN_SOLVER_CHOLMOD,  // supernodal sparse Cholesky of SuiteSparse; SINEW_UNSUPPORTED in a build
                        // without it
    SN_SOLVER_CHOLESKY, // our supernodal sparse Cholesky, in every build
    SN_SOLVER_DENSE,    // dense Cholesky
    SN_SOLVER_PRODUCTS, // conjugate gradients for a matrix of which products give a part; see
                        // sn_solver_create_products
    SN_SOLVER_KIND_COUNT,
} sn_solver_kind;

typedef enum sn_solve_outcome {
    SN_SOLVE_CONVERGED,             // the residual is below the tolerance
    SN_SOLVE_NOT_CONVERGED,         // out of iterations, or stagnated; x is the best found
    SN_SOLVE_NOT_POSITIVE_DEFINITE, // a pivot <= 0 at `row`, or a direction with p'Ap <= 0 (row =
                                    // -1); x is the last iterate
    SN_SOLVE_NOT_FINITE,            // a NaN or an infinity in the matrix, b or x; x is unchanged
    SN_SOLVE_CANCELLED, // the host's progress report cancelled conjugate gradients; the context
                        // has the message
} sn_solve_outcome;

typedef struct sn_solve_report {
    sn_solve_outcome outcome;
    int32_t iterations;       // of conjugate gradients, or steps of refinement of a direct solver
    double relative_residual; // |b - A x| / |b|; 0 if b = 0
    int32_t row;              // scalar row of the first bad pivot, -1 if none or not known
} sn_solve_report;

typedef struct sn_solver sn_solver;

// The kind that AUTO or DIRECT stands for with this pattern; any other kind is returned unchanged.
// Measured on bars of tets:
//
//   AUTO    up to 128 rows cholesky, which always succeeds and costs no more than iterating;
//           above that pcg-multigrid
//   DIRECT  up to 4000 rows cholesky; above that CHOLMOD if the build has it, for its nested
//           dissection
sn_solver_kind sn_solver_choose(sn_solver_kind kind, const sn_bsr *pattern);

// Symbolic phase. The pattern is borrowed and must outlive the solver.
sinew_status sn_solver_create(sinew_context *context, sn_solver_kind kind, const sn_bsr *pattern,
                              sn_solver **solver);

// What SN_SOLVER_PRODUCTS adds to the matrix of an update, which is then only a part of the system.
typedef struct sn_solver_products {
    int32_t set_count; // sets of rows that follow one another, to precondition with the inverse of
                       // what couples them
    const int32_t *starts; // set_count + 1, borrowed; NULL: each row by itself
    // y += (the part of the system that is not in the matrix) x; NULL: there is none.
    void (*add)(void *data, double *y, const double *x);
    void *data;
} sn_solver_products;

sinew_status sn_solver_create_products(sinew_context *context, const sn_bsr *pattern,
                                       const sn_solver_products *products, sn_solver **solver);

// NULL is allowed.
void sn_solver_destroy(sn_solver *solver);

// Numeric phase. `A` is borrowed until the next update and must not change before the last solve
// with it. Only the blocks on and below the diagonal are read; kinds that need both triangles
// overwrite those above it. `positions`, three per row, are used by multigrid only, to build rigid
// motions; NULL if the unknowns are not displacements of points (multigrid then uses constant
// vectors). A matrix that is not positive definite is reported by the next solve, not here; the
// status concerns memory only.
sinew_status sn_solver_update(sn_solver *solver, double *A, const double *positions);

// Solves A x = b until |b - A x| <= relative_tolerance |b|, starting from x. `report` must not be
// NULL.
void sn_solver_solve(sn_solver *solver, const double *b, double *x, double relative_tolerance,
                     int32_t max_iterations, sn_solve_report *report);

// The kind in use (never AUTO).
sn_solver_kind sn_solver_get_kind(const sn_solver *solver);
bool sn_solver_is_direct(const sn_solver *solver);

// y = A x for a symmetric positive definite A; returns x'y. It runs on the calling thread and may
// start parallel loops itself.
typedef double sn_apply_fn(void *data, double *y, const double *x);

typedef struct sn_operator {
    sn_apply_fn *apply;
    void *data;
} sn_operator;

// The number of doubles of scratch memory that sn_cg_solve needs.
size_t sn_cg_work_count(int32_t count);

// Preconditioned conjugate gradients (Hestenes and Stiefel 1952) on `count` unknowns.
// `preconditioner` applies an approximate inverse; with apply == NULL it is the identity.
void sn_cg_solve(sinew_context *context, int32_t count, sn_operator A, sn_operator preconditioner,
                 const double *b, double *x, double relative_tolerance, int32_t max_iterations,
                 double *work, sn_solve_report *report);

#endif
