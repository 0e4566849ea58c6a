// The table of solvers, the choice among them, and the code they share.
#include "linalg/solver.h"

#include "linalg/solver_methods.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    const sn_solver_methods *methods;
} kinds[SN_SOLVER_KIND_COUNT] = {
    [SN_SOLVER_AUTO] = {"auto", NULL},
    [SN_SOLVER_DIRECT] = {"direct", NULL},
    [SN_SOLVER_PCG_JACOBI] = {"pcg-jacobi", &sn_solver_jacobi},
    [SN_SOLVER_PCG_IC] = {"pcg-ic", &sn_solver_ic},
    [SN_SOLVER_PCG_MULTIGRID] = {"pcg-multigrid", &sn_solver_multigrid},
#if defined(SN_WITH_CHOLMOD)
    [SN_SOLVER_CHOLMOD] = {"cholmod", &sn_solver_cholmod},
#else
    [SN_SOLVER_CHOLMOD] = {"cholmod", NULL},
#endif
    [SN_SOLVER_CHOLESKY] = {"cholesky", &sn_solver_cholesky},
    [SN_SOLVER_DENSE] = {"dense", &sn_solver_dense},
    [SN_SOLVER_PRODUCTS] = {"matrix-free", &sn_solver_by_products},
};

sn_solver_kind sn_solver_choose(sn_solver_kind kind, const sn_bsr *pattern) {
    enum { SMALL_ROWS = 20, DIRECT_ROWS = 128, OWN_ROWS = 4000 };
    if ((kind == SN_SOLVER_AUTO || kind == SN_SOLVER_DIRECT) && pattern->rows <= SMALL_ROWS) {
        return SN_SOLVER_DENSE;
    }
    if (kind == SN_SOLVER_AUTO) {
        return pattern->rows <= DIRECT_ROWS ? SN_SOLVER_CHOLESKY : SN_SOLVER_PCG_MULTIGRID;
    }
    if (kind != SN_SOLVER_DIRECT) {
        return kind;
    }

    bool use_cholmod = pattern->rows > OWN_ROWS && kinds[SN_SOLVER_CHOLMOD].methods;
    return use_cholmod ? SN_SOLVER_CHOLMOD : SN_SOLVER_CHOLESKY;
}

static sinew_status create(sinew_context *context, sn_solver_kind kind, const sn_bsr *pattern,
                           const sn_solver_products *products, sn_solver **solver) {
    SN_ASSERT(kind >= 0 && kind < SN_SOLVER_KIND_COUNT);
    *solver = NULL;
    kind = sn_solver_choose(kind, pattern);

    // A kind that this build does not contain.
    if (!kinds[kind].methods) {
        return sn_fail(context, SINEW_UNSUPPORTED, "this build has no solver \"%s\"",
                       kinds[kind].name);
    }

    // The solver lives in its own arena.
    sn_arena arena = sn_arena_create(context);
    sn_solver *made = SN_PUSH(&arena, sn_solver, 1);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    *made = (sn_solver){
        .context = context, .kind = kind, .pattern = pattern, .arena = arena, .bad_row = -1};
    if (products) {
        made->products = *products;
    }

    made->methods = kinds[kind].methods;
    made->outcome = SN_SOLVE_NOT_FINITE; // until the first update

    // Symbolic phase of the method.
    sinew_status status = made->methods->create(made);
    if (status != SINEW_OK) {
        sn_solver_destroy(made);
        return status;
    }

    *solver = made;
    return SINEW_OK;
}

sinew_status sn_solver_create(sinew_context *context, sn_solver_kind kind, const sn_bsr *pattern,
                              sn_solver **solver) {
    return create(context, kind, pattern, NULL, solver);
}

sinew_status sn_solver_create_products(sinew_context *context, const sn_bsr *pattern,
                                       const sn_solver_products *products, sn_solver **solver) {
    return create(context, SN_SOLVER_PRODUCTS, pattern, products, solver);
}

void sn_solver_destroy(sn_solver *solver) {
    if (!solver) {
        return;
    }
    if (solver->methods->destroy) {
        solver->methods->destroy(solver);
    }

    sn_arena arena = solver->arena; // the solver lives in it
    sn_arena_destroy(&arena);
}

sinew_status sn_solver_update(sn_solver *solver, double *A, const double *positions) {
    if (solver->methods->both_triangles) {
        sn_bsr_mirror(solver->context, solver->pattern, A);
    }

    solver->A = A;
    solver->outcome = SN_SOLVE_CONVERGED;
    solver->bad_row = -1;

    return solver->methods->update(solver, positions);
}

void sn_solver_solve(sn_solver *solver, const double *b, double *x, double relative_tolerance,
                     int32_t max_iterations, sn_solve_report *report) {
    SN_ASSERT(solver->A != NULL);
    if (solver->outcome != SN_SOLVE_CONVERGED) {
        *report = (sn_solve_report){
            .outcome = solver->outcome, .relative_residual = NAN, .row = solver->bad_row};
        return;
    }

    solver->methods->solve(solver, b, x, relative_tolerance, max_iterations, report);
}

sn_solver_kind sn_solver_get_kind(const sn_solver *solver) {
    return solver->kind;
}

bool sn_solver_is_direct(const sn_solver *solver) {
    sn_solver_kind kind = sn_solver_get_kind(solver);
    return kind == SN_SOLVER_CHOLMOD || kind == SN_SOLVER_CHOLESKY || kind == SN_SOLVER_DENSE;
}

void sn_solver_reject(sn_solver *solver, int32_t row, double pivot) {
    if (solver->outcome != SN_SOLVE_CONVERGED) {
        return;
    }
    solver->outcome = isfinite(pivot) ? SN_SOLVE_NOT_POSITIVE_DEFINITE : SN_SOLVE_NOT_FINITE;
    solver->bad_row = row;
}

void sn_solver_refine(sn_solver *solver, sn_solve_factor_fn *solve_factor, void *data,
                      const double *b, double *x, double relative_tolerance, double *work,
                      sn_solve_report *report) {
    int32_t n = sn_bsr_size(solver->pattern);
    double *r = work;
    double *best = work + n;

    *report =
        (sn_solve_report){.outcome = SN_SOLVE_NOT_FINITE, .relative_residual = NAN, .row = -1};

    // First solve.
    double b_norm = sn_vector_norm(solver->context, n, b);
    if (!isfinite(b_norm)) {
        return;
    }

    memcpy(best, b, (size_t)n * sizeof *b);
    solve_factor(data, best);

    double norm = b_norm;

    // Refine while the residual falls, at most twice.
    for (int32_t step = 0;; step++) {
        double next = sn_bsr_residual(solver->context, solver->pattern, r, solver->A, best, b);
        if (!isfinite(next)) {
            return;
        }

        if (step == 0 || next < norm) {
            norm = next;
            memcpy(x, best, (size_t)n * sizeof *x);
            report->iterations = step;
        }

        report->outcome =
            norm <= relative_tolerance * b_norm ? SN_SOLVE_CONVERGED : SN_SOLVE_NOT_CONVERGED;
        report->relative_residual = b_norm > 0 ? norm / b_norm : 0;
        if (report->outcome == SN_SOLVE_CONVERGED || step == 2) {
            return;
        }

        solve_factor(data, r);
        sn_vector_add_scaled(solver->context, n, best, 1, r);
    }
}
