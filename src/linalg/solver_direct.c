// Direct solvers of this library's own: the supernodal sparse Cholesky factor and the dense one. Each solve ends with a look
// at the true residual and, if that misses the tolerance, a step or two of refinement.
#include "linalg/supernodal.h"
#include "linalg/dense.h"
#include "linalg/solver_methods.h"

#include <math.h>
#include <string.h>

typedef struct sparse_state {
    sn_supernodal factor;
    double *work;
} sparse_state;

static sinew_status create_sparse(sn_solver *solver) {
    sparse_state *s = solver->state = SN_PUSH(&solver->arena, sparse_state, 1);
    if (!s) return SINEW_OUT_OF_MEMORY;
    const sn_bsr *pattern = solver->pattern;
    SN_TRY(sn_supernodal_build(&solver->arena, pattern->rows, 3, pattern->starts, pattern->columns, &s->factor));
    s->work = SN_PUSH(&solver->arena, double, 2 * (size_t)sn_bsr_size(pattern));
    return sn_arena_status(&solver->arena);
}

static sinew_status update_sparse(sn_solver *solver, const double *positions) {
    (void)positions;
    sparse_state *s = solver->state;
    bool finite;
    int32_t bad = sn_supernodal_update(&s->factor, solver->A, NULL, &finite);
    if (bad >= 0) sn_solver_reject(solver, bad, finite ? -1 : NAN);
    return SINEW_OK;
}

static void solve_sparse_factor(void *data, double *x) {
    sn_supernodal_solve(data, x);
}

static void solve_sparse(sn_solver *solver, const double *b, double *x, double relative_tolerance, int32_t max_iterations,
                         sn_solve_report *report) {
    (void)max_iterations;
    sparse_state *s = solver->state;
    sn_solver_refine(solver, solve_sparse_factor, &s->factor, b, x, relative_tolerance, s->work, report);
}

const sn_solver_methods sn_solver_cholesky = {.create = create_sparse, .update = update_sparse, .solve = solve_sparse};

typedef struct dense_state {
    int32_t n;
    double *matrix, *work;
} dense_state;

static sinew_status create_dense(sn_solver *solver) {
    dense_state *s = solver->state = SN_PUSH(&solver->arena, dense_state, 1);
    if (!s) return SINEW_OUT_OF_MEMORY;
    s->n = sn_bsr_size(solver->pattern);
    s->matrix = SN_PUSH(&solver->arena, double, (size_t)s->n *(size_t)s->n);
    s->work = SN_PUSH(&solver->arena, double, 2 * (size_t)s->n);
    return sn_arena_status(&solver->arena);
}

static sinew_status update_dense(sn_solver *solver, const double *positions) {
    (void)positions;
    dense_state *s = solver->state;
    sn_bsr_to_dense(solver->pattern, s->matrix, solver->A);
    int32_t bad = sn_dense_cholesky(s->matrix, s->n, s->n);
    if (bad < 0) return SINEW_OK;
    double sum = 0; // the row up to the pivot tells a number from what is none
    for (int32_t c = 0; c <= bad; c++) sum += fabs(s->matrix[(size_t)bad * (size_t)s->n + (size_t)c]);
    sn_solver_reject(solver, bad, isfinite(sum) ? -1 : NAN);
    return SINEW_OK;
}

static void solve_dense_factor(void *data, double *x) {
    const dense_state *s = data;
    sn_dense_cholesky_solve(s->matrix, s->n, s->n, x);
}

static void solve_dense(sn_solver *solver, const double *b, double *x, double relative_tolerance, int32_t max_iterations,
                        sn_solve_report *report) {
    (void)max_iterations;
    dense_state *s = solver->state;
    sn_solver_refine(solver, solve_dense_factor, s, b, x, relative_tolerance, s->work, report);
}

const sn_solver_methods sn_solver_dense = {.create = create_dense, .update = update_dense, .solve = solve_dense};
