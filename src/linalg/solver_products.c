// Conjugate gradients for a system of which only a part is a matrix; a callback multiplies with the
// rest. The preconditioner is the inverse of the matrix restricted to sets of rows (the unknowns of
// one frame), by dense Cholesky factors: n^3/3 multiply-adds per set of n unknowns in an update, 2
// n^2 in an iteration.
#include "linalg/solver_methods.h"

#include "base/threads.h"
#include "linalg/dense.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

enum { SET_CHUNK = 32 };

typedef struct state {
    int32_t set_count;
    const int32_t *starts; // the first row of each set
    size_t *factor_at;     // [set]: its factor
    double *factor, *work;
} state;

static int32_t set_size(const state *s, int32_t set) {
    return 3 * (s->starts[set + 1] - s->starts[set]);
}

static sinew_status create(sn_solver *solver) {
    state *s = solver->state = SN_PUSH(&solver->arena, state, 1);
    if (!s) {
        return SINEW_OUT_OF_MEMORY;
    }

    int32_t rows = solver->pattern->rows;
    s->set_count = solver->products.starts ? solver->products.set_count : rows;
    s->starts = solver->products.starts;
    s->factor_at = SN_PUSH(&solver->arena, size_t, s->set_count + 1);
    s->work = SN_PUSH(&solver->arena, double, sn_cg_work_count(sn_bsr_size(solver->pattern)));

    // By default every row is a set.
    if (!s->starts) {
        int32_t *own = SN_PUSH(&solver->arena, int32_t, rows + 1);
        if (!own) {
            return SINEW_OUT_OF_MEMORY;
        }

        for (int32_t row = 0; row <= rows; row++) {
            own[row] = row;
        }

        s->starts = own;
    }

    SN_TRY(sn_arena_status(&solver->arena));
    SN_ASSERT(s->starts[0] == 0 && s->starts[s->set_count] == rows);

    // The factors are dense and follow one another.
    for (int32_t set = 0; set < s->set_count; set++) {
        size_t n = (size_t)set_size(s, set);
        s->factor_at[set + 1] = s->factor_at[set] + n * n;
    }

    s->factor = SN_PUSH(&solver->arena, double, s->factor_at[s->set_count]);
    return sn_arena_status(&solver->arena);
}

// The lower triangle of the matrix restricted to a set.
static void gather_set(const sn_solver *solver, const state *s, int32_t set) {
    const sn_bsr *pattern = solver->pattern;
    int32_t first = s->starts[set];
    size_t n = (size_t)set_size(s, set);
    double *dense = s->factor + s->factor_at[set];

    memset(dense, 0, n * n * sizeof *dense);
    for (int32_t row = first; row < s->starts[set + 1]; row++) {
        for (int32_t k = pattern->starts[row]; k <= pattern->diagonal[row]; k++) {
            if (pattern->columns[k] < first) {
                continue;
            }

            const double *block = solver->A + 9 * (size_t)k;
            double *out =
                dense + 3 * (size_t)(row - first) * n + 3 * (size_t)(pattern->columns[k] - first);

            for (size_t e = 0; e < 9; e++) {
                out[e / 3 * n + e % 3] = block[e];
            }
        }
    }
}

static sinew_status update(sn_solver *solver, const double *positions) {
    (void)positions;
    state *s = solver->state;
    for (int32_t set = 0; set < s->set_count; set++) {
        int32_t n = set_size(s, set);
        double *dense = s->factor + s->factor_at[set];
        double sum = 0;

        gather_set(solver, s, set);
        int32_t bad = sn_dense_cholesky(dense, n, n);
        if (bad < 0) {
            continue;
        }

        for (int32_t c = 0; c <= bad; c++) {
            sum += fabs(dense[bad * n + c]); // NaN or infinite if any number is
        }

        sn_solver_reject(solver, 3 * s->starts[set] + bad, isfinite(sum) ? -1 : NAN);
    }

    return SINEW_OK;
}

typedef struct preconditioning {
    const state *s;
    const double *r;
    double *z;
} preconditioning;

static double precondition_range(void *data, int32_t begin, int32_t end) {
    const preconditioning *work = data;
    const state *s = work->s;
    double sum = 0;

    for (int32_t set = begin; set < end; set++) {
        int32_t n = set_size(s, set);
        const double *r = work->r + 3 * s->starts[set];
        double *z = work->z + 3 * s->starts[set];
        memcpy(z, r, (size_t)n * sizeof *z);
        sn_dense_cholesky_solve(s->factor + s->factor_at[set], n, n, z);

        for (int32_t i = 0; i < n; i++) {
            sum += z[i] * r[i];
        }
    }

    return sum;
}

static double precondition(void *data, double *z, const double *r) {
    sn_solver *solver = data;
    const state *s = solver->state;
    return sn_parallel_sum(solver->context, s->set_count, SET_CHUNK, precondition_range,
                           &(preconditioning){s, r, z});
}

static double multiply(void *data, double *y, const double *x) {
    sn_solver *solver = data;
    const sn_solver_products *products = &solver->products;
    if (!products->add) {
        return sn_bsr_multiply_dot(solver->context, solver->pattern, y, solver->A, x);
    }

    sn_bsr_multiply(solver->context, solver->pattern, y, solver->A, x);
    products->add(products->data, y, x);

    return sn_vector_dot(solver->context, sn_bsr_size(solver->pattern), x, y);
}

static void solve(sn_solver *solver, const double *b, double *x, double relative_tolerance,
                  int32_t max_iterations, sn_solve_report *report) {
    const state *s = solver->state;
    sn_cg_solve(solver->context, sn_bsr_size(solver->pattern), (sn_operator){multiply, solver},
                (sn_operator){precondition, solver}, b, x, relative_tolerance, max_iterations,
                s->work, report);
}

const sn_solver_methods sn_solver_by_products = {
    .both_triangles = true, .create = create, .update = update, .solve = solve};
