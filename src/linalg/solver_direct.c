// Our own direct solvers: the supernodal sparse Cholesky factor and the dense one. Each solve
// checks the true residual and, if it misses the tolerance, adds a step or two of iterative
// refinement.
#include "linalg/dense.h"
#include "linalg/kernels.h"
#include "linalg/supernodal.h"
#include "linalg/solver_methods.h"

#include <math.h>
#include <string.h>

typedef struct sparse_state {
    sn_supernodal factor;
    double *work;
} sparse_state;

static sinew_status create_sparse(sn_solver *solver) {
    sparse_state *s = solver->state = SN_PUSH(&solver->arena, sparse_state, 1);
    if (!s) {
        return SINEW_OUT_OF_MEMORY;
    }

    const sn_bsr *pattern = solver->pattern;
    SN_TRY(sn_supernodal_build(&solver->arena, pattern->rows, 3, pattern->starts, pattern->columns,
                               NULL, &s->factor));
    s->work = SN_PUSH(&solver->arena, double, 2 * (size_t)sn_bsr_size(pattern));

    return sn_arena_status(&solver->arena);
}

static sinew_status update_sparse(sn_solver *solver, const double *positions) {
    (void)positions;
    sparse_state *s = solver->state;
    bool finite;
    int32_t bad = sn_supernodal_update(&s->factor, solver->A, NULL, &finite);

    if (bad >= 0) {
        sn_solver_reject(solver, bad, finite ? -1 : NAN);
    }

    return SINEW_OK;
}

static void solve_sparse_factor(void *data, double *x) {
    sn_supernodal_solve(data, x);
}

static void solve_sparse(sn_solver *solver, const double *b, double *x, double relative_tolerance,
                         int32_t max_iterations, sn_solve_report *report) {
    (void)max_iterations;
    sparse_state *s = solver->state;
    sn_solver_refine(solver, solve_sparse_factor, &s->factor, b, x, relative_tolerance, s->work,
                     report);
}

const sn_solver_methods sn_solver_cholesky = {.both_triangles = true,
                                              .create = create_sparse,
                                              .update = update_sparse,
                                              .solve = solve_sparse};

// Up to this many unknowns the loops of small_simd.c are faster than blocked ones.
enum { SMALL = 96 };

typedef struct dense_state {
    const sn_linalg_kernels *kernels;
    int32_t n, padded; // padded: a multiple of four if small
    double *matrix, *work;
    double *lower, *inverse, *x; // L, the inverse of D and a right-hand side; NULL unless small
} dense_state;

static sinew_status create_dense(sn_solver *solver) {
    dense_state *s = solver->state = SN_PUSH(&solver->arena, dense_state, 1);
    if (!s) {
        return SINEW_OUT_OF_MEMORY;
    }

    s->kernels = sn_linalg_kernels_get();
    s->n = sn_bsr_size(solver->pattern);

    bool small = s->n <= SMALL;
    s->padded = small ? (s->n + 3) / 4 * 4 : s->n;

    size_t size = (size_t)s->padded;
    s->matrix = SN_PUSH(&solver->arena, double, size *size);
    s->work = SN_PUSH(&solver->arena, double, 2 * (size_t)s->n);

    if (small) {
        s->lower = SN_PUSH(&solver->arena, double, size *size);
        s->inverse = SN_PUSH(&solver->arena, double, size);
        s->x = SN_PUSH(&solver->arena, double, size);
    }

    return sn_arena_status(&solver->arena);
}

// The lower triangle by columns, with ones on the diagonal of the padding.
static void pack_small(dense_state *s, const sn_bsr *pattern, const double *A) {
    size_t n = (size_t)s->padded;
    memset(s->matrix, 0, n * n * sizeof *s->matrix);
    for (size_t row = (size_t)s->n; row < n; row++) {
        s->matrix[row * n + row] = 1;
    }

    // Transpose each block into the columns.
    for (int32_t i = 0; i < pattern->rows; i++) {
        for (int32_t k = pattern->starts[i]; k <= pattern->diagonal[i]; k++) {
            double *out = s->matrix + (size_t)(3 * pattern->columns[k]) * n + (size_t)(3 * i);
            const double *block = A + 9 * (size_t)k;
            for (size_t c = 0; c < 3; c++, out += n) {
                for (size_t r = 0; r < 3; r++) {
                    out[r] = block[3 * r + c];
                }
            }
        }
    }
}

static sinew_status update_dense(sn_solver *solver, const double *positions) {
    (void)positions;
    dense_state *s = solver->state;
    if (s->lower) {
        pack_small(s, solver->pattern, solver->A);
        int32_t bad = s->kernels->small_factor(s->matrix, s->lower, s->inverse, s->padded);
        if (bad >= 0) {
            sn_solver_reject(solver, bad, s->matrix[(size_t)bad * (size_t)s->padded + (size_t)bad]);
        }
        return SINEW_OK;
    }

    // Larger matrices use the blocked factor.
    sn_bsr_to_dense(solver->pattern, s->matrix, solver->A);
    int32_t bad = sn_dense_cholesky(s->matrix, s->n, s->n);
    if (bad < 0) {
        return SINEW_OK;
    }

    double sum = 0; // NaN or infinite if any number up to the pivot is
    for (int32_t c = 0; c <= bad; c++) {
        sum += fabs(s->matrix[(size_t)bad * (size_t)s->n + (size_t)c]);
    }

    sn_solver_reject(solver, bad, isfinite(sum) ? -1 : NAN);
    return SINEW_OK;
}

static void solve_dense_factor(void *data, double *x) {
    const dense_state *s = data;
    if (!s->lower) {
        sn_dense_cholesky_solve(s->matrix, s->n, s->n, x);
        return;
    }

    memcpy(s->x, x, (size_t)s->n * sizeof *x); // the padding stays zero
    s->kernels->small_solve(s->x, s->lower, s->inverse, s->padded);
    memcpy(x, s->x, (size_t)s->n * sizeof *x);
}

static void solve_dense(sn_solver *solver, const double *b, double *x, double relative_tolerance,
                        int32_t max_iterations, sn_solve_report *report) {
    (void)max_iterations;
    dense_state *s = solver->state;
    sn_solver_refine(solver, solve_dense_factor, s, b, x, relative_tolerance, s->work, report);
}

const sn_solver_methods sn_solver_dense = {
    .both_triangles = true, .create = create_dense, .update = update_dense, .solve = solve_dense};
