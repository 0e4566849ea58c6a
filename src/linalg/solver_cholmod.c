// CHOLMOD's supernodal Cholesky factor (Chen, Davis, Hager and Rajamanickam 2008). The symbolic
// analysis is done once. CHOLMOD takes its memory from its own allocator, which is one for the
// whole process; the first update allocates the factor.
//
// The host may cancel between ordering, analysis and factor, but not inside CHOLMOD, which has no
// hook: it waits at most for one factor, 12 s of 69 000 nodes on one core.
#include "linalg/solver_methods.h"

#if defined(SN_WITH_CHOLMOD)

#include "linalg/blas.h"
#include "linalg/graph.h"

#include <cholmod.h>

#include <math.h>

typedef struct state {
    cholmod_common common;
    bool started;
    cholmod_sparse *matrix; // lower triangle by columns, in scalars
    cholmod_factor *factor;
    cholmod_dense *x, *y, *e; // reused by every solve
    int32_t *source; // number of the value of A for each of the matrix, in the order of its columns
    double *work;
} state;

static sinew_status check(sn_solver *solver, const state *s) {
    if (s->common.status >= CHOLMOD_OK) {
        return SINEW_OK; // warnings are positive
    }

    sinew_status status =
        s->common.status == CHOLMOD_OUT_OF_MEMORY || s->common.status == CHOLMOD_TOO_LARGE
            ? SINEW_OUT_OF_MEMORY
            : SINEW_INVALID_DATA;

    return sn_fail(solver->context, status, "CHOLMOD failed with status %d on %d rows",
                   s->common.status, sn_bsr_size(solver->pattern));
}

// The lower triangle by columns is, by symmetry, the upper one by rows.
static void fill_pattern(state *s, const sn_bsr *pattern) {
    int *starts = s->matrix->p;
    int *rows = s->matrix->i;
    int next = 0;

    for (int32_t i = 0; i < pattern->rows; i++) {
        for (int c = 0; c < 3; c++) {
            starts[3 * i + c] = next;
            for (int32_t k = pattern->diagonal[i]; k < pattern->starts[i + 1]; k++) {
                for (int r = k == pattern->diagonal[i] ? c : 0; r < 3; r++) {
                    rows[next] = 3 * pattern->columns[k] + r;
                    s->source[next++] = 9 * k + 3 * c + r;
                }
            }
        }
    }

    starts[3 * pattern->rows] = next;
}

static void destroy(sn_solver *solver) {
    state *s = solver->state;
    if (!s || !s->started) {
        return;
    }

    cholmod_free_dense(&s->x, &s->common);
    cholmod_free_dense(&s->y, &s->common);
    cholmod_free_dense(&s->e, &s->common);
    cholmod_free_factor(&s->factor, &s->common);
    cholmod_free_sparse(&s->matrix, &s->common);
    cholmod_finish(&s->common);
}

// Nested dissection by METIS of the graph of nodes. Returns false if CHOLMOD has been built
// without, or fails.
static bool dissect(state *s, const sn_bsr *pattern, int *order) {
    size_t n = (size_t)pattern->rows;
    size_t count = (size_t)(pattern->blocks + pattern->rows) / 2;
    cholmod_sparse *graph =
        cholmod_allocate_sparse(n, n, count, 1, 1, -1, CHOLMOD_PATTERN, &s->common);
    bool done = graph != NULL;

    // The lower triangle of the graph, by columns.
    if (graph) {
        int *starts = graph->p;
        int *rows = graph->i;
        int next = 0;

        for (int32_t i = 0; i < pattern->rows; i++) {
            starts[i] = next;
            for (int32_t k = pattern->diagonal[i]; k < pattern->starts[i + 1]; k++) {
                rows[next++] = pattern->columns[k];
            }
        }

        starts[pattern->rows] = next;
        done = cholmod_metis(graph, NULL, 0, 0, order, &s->common) != 0;
    }

    cholmod_free_sparse(&graph, &s->common);
    s->common.status = CHOLMOD_OK;

    return done;
}

// Orders the nodes, not the scalars: the graph is three times smaller, and the columns of a node
// stay together. Nested dissection about halves the flops of large three-dimensional meshes; small
// ones do better with minimum degree.
static sinew_status analyze(sn_solver *solver, state *s, sn_arena *scratch) {
    enum { DISSECT = 3000 };
    const sn_bsr *pattern = solver->pattern;
    int *order = SN_PUSH(scratch, int, pattern->rows);
    int *scalars = SN_PUSH(scratch, int, 3 * (size_t)pattern->rows);

    SN_TRY(sn_arena_status(scratch));
    if (pattern->rows < DISSECT || !dissect(s, pattern, order)) {
        SN_TRY(sn_graph_minimum_degree(solver->context, pattern->rows, pattern->starts,
                                       pattern->columns, order));
    }

    // Expand the order of the nodes to scalars and let CHOLMOD analyse with it.
    for (int32_t i = 0; i < pattern->rows; i++) {
        for (int c = 0; c < 3; c++) {
            scalars[3 * i + c] = 3 * order[i] + c;
        }
    }

    SN_TRY(sn_report_progress(solver->context, "analyzing a linear system", -1));
    s->common.nmethods = 1;
    s->common.method[0].ordering = CHOLMOD_GIVEN;
    s->common.postorder = 1;
    s->factor = cholmod_analyze_p(s->matrix, scalars, NULL, 0, &s->common);

    return check(solver, s);
}

static sinew_status create(sn_solver *solver) {
    const sn_bsr *pattern = solver->pattern;
    int64_t n = 3 * (int64_t)pattern->rows;
    int64_t count = 9 * ((int64_t)pattern->blocks - pattern->rows) / 2 + 6 * (int64_t)pattern->rows;

    if (9 * (int64_t)pattern->blocks > INT32_MAX) {
        return sn_fail(solver->context, SINEW_OUT_OF_MEMORY,
                       "%d blocks are more than CHOLMOD can index", pattern->blocks);
    }

    state *s = solver->state = SN_PUSH(&solver->arena, state, 1);
    if (!s) {
        return SINEW_OUT_OF_MEMORY;
    }

    s->source = SN_PUSH(&solver->arena, int32_t, count);
    s->work = SN_PUSH(&solver->arena, double, 2 * n);
    SN_TRY(sn_arena_status(&solver->arena));

    // CHOLMOD's state and its copy of the matrix.
    s->started = cholmod_start(&s->common);
    s->common.print = 0;
    s->common.supernodal = CHOLMOD_SUPERNODAL;
    s->matrix = cholmod_allocate_sparse((size_t)n, (size_t)n, (size_t)count, 1, 1, -1, CHOLMOD_REAL,
                                        &s->common);
    SN_TRY(check(solver, s));
    fill_pattern(s, pattern);

    sn_arena scratch = sn_arena_create(solver->context);
    sinew_status status = analyze(solver, s, &scratch);

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status update(sn_solver *solver, const double *positions) {
    (void)positions;
    state *s = solver->state;
    double *values = s->matrix->x;
    int count = ((int *)s->matrix->p)[s->matrix->ncol];

    // Copy the values and find numbers that are not finite.
    for (int k = 0; k < count; k++) {
        values[k] = solver->A[s->source[k]];
        if (!isfinite(values[k])) {
            sn_solver_reject(
                solver,
                s->source[k] % 9 / 3 +
                    3 * solver->pattern->columns[solver->pattern->mirror[s->source[k] / 9]],
                values[k]);
            return SINEW_OK;
        }
    }

    SN_TRY(sn_report_progress(solver->context, "factorizing a linear system", -1));
    int threads = sn_blas_enter();
    cholmod_factorize(s->matrix, s->factor, &s->common);
    sn_blas_leave(threads);
    SN_TRY(check(solver, s));
    SN_TRY(sn_report_progress(solver->context, "solving a linear system", -1));

    if (s->factor->minor < s->factor->n) {
        sn_solver_reject(solver, ((int *)s->factor->Perm)[s->factor->minor], -1);
    }

    return SINEW_OK;
}

static void solve_factor(void *data, double *x) {
    state *s = data;
    cholmod_dense b = {.nrow = s->matrix->nrow,
                       .ncol = 1,
                       .nzmax = s->matrix->nrow,
                       .d = s->matrix->nrow,
                       .x = x,
                       .xtype = CHOLMOD_REAL};
    int threads = sn_blas_enter();
    int solved =
        cholmod_solve2(CHOLMOD_A, s->factor, &b, NULL, &s->x, NULL, &s->y, &s->e, &s->common);

    sn_blas_leave(threads);

    // Out of memory in the first solve: the result is NaN, and the report says so.
    for (size_t i = 0; i < s->matrix->nrow; i++) {
        x[i] = solved ? ((double *)s->x->x)[i] : NAN;
    }
}

static void solve(sn_solver *solver, const double *b, double *x, double relative_tolerance,
                  int32_t max_iterations, sn_solve_report *report) {
    (void)max_iterations;
    state *s = solver->state;
    sn_solver_refine(solver, solve_factor, s, b, x, relative_tolerance, s->work, report);
}

const sn_solver_methods sn_solver_cholmod = {
    .both_triangles = true, .create = create, .update = update, .solve = solve, .destroy = destroy};

#endif
