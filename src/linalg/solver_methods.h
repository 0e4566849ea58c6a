// What a kind of solver implements. Private to the solvers.
#ifndef SN_LINALG_SOLVER_METHODS_H
#define SN_LINALG_SOLVER_METHODS_H

#include "linalg/solver.h"

typedef struct sn_solver_methods {
    bool both_triangles; // of solver->A are read; else the lower one alone is there
    // Symbolic phase: fills solver->state from solver->arena. On failure the caller destroys the
    // solver, so nothing has to be undone.
    sinew_status (*create)(sn_solver *solver);
    // Numeric phase for solver->A. Sets solver->outcome and bad_row if the matrix is not usable.
    sinew_status (*update)(sn_solver *solver, const double *positions);
    // Called only after an update that left the outcome at CONVERGED. b and x may hold numbers that
    // are not finite; the method has to detect them.
    void (*solve)(sn_solver *solver, const double *b, double *x, double relative_tolerance,
                  int32_t max_iterations, sn_solve_report *report);
    // Releases what does not live in the arena; NULL if nothing. Must handle a partial
    // construction.
    void (*destroy)(sn_solver *solver);
} sn_solver_methods;

struct sn_solver {
    sinew_context *context;
    const sn_solver_methods *methods;
    sn_solver_kind kind;
    const sn_bsr *pattern;
    sn_solver_products products; // of SN_SOLVER_PRODUCTS
    sn_arena arena;
    void *state;              // of the kind, in the arena
    const double *A;          // borrowed by the last update
    sn_solve_outcome outcome; // of the last update: CONVERGED means fit to solve with
    int32_t bad_row;          // scalar row, -1 if none
};

extern const sn_solver_methods sn_solver_jacobi, sn_solver_ic, sn_solver_multigrid,
    sn_solver_cholmod, sn_solver_cholesky, sn_solver_dense, sn_solver_by_products;

// Marks the matrix as unfit from a bad pivot: not finite if the pivot is a NaN or an infinity, else
// not positive definite. The first mark stays.
void sn_solver_reject(sn_solver *solver, int32_t row, double pivot);

// Direct solvers: finishes with refinement. Solves with the factor through `solve_factor` (in
// place, data), measures the residual with A, and repeats at most twice while the tolerance is
// missed and the residual falls. `work` has 2 n doubles.
typedef void sn_solve_factor_fn(void *data, double *x);
void sn_solver_refine(sn_solver *solver, sn_solve_factor_fn *solve_factor, void *data,
                      const double *b, double *x, double relative_tolerance, double *work,
                      sn_solve_report *report);

#endif
