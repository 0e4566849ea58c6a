// Conjugate gradients preconditioned by the inverses of the 3x3 diagonal blocks: the simplest
// preconditioner. An update costs one pass over the diagonal; the number of iterations grows with
// the contrast of stiffness and the fineness of the mesh.
#include "linalg/solver_methods.h"

#include "base/threads.h"
#include "linalg/block3.h"

enum { ROW_CHUNK = 2048 };

typedef struct state {
    double *inverse; // 9 per row
    double *work;
} state;

static sinew_status create(sn_solver *solver) {
    state *s = solver->state = SN_PUSH(&solver->arena, state, 1);
    if (!s) {
        return SINEW_OUT_OF_MEMORY;
    }

    s->inverse = SN_PUSH(&solver->arena, double, 9 * (size_t)solver->pattern->rows);
    s->work = SN_PUSH(&solver->arena, double, sn_cg_work_count(sn_bsr_size(solver->pattern)));

    return sn_arena_status(&solver->arena);
}

static sinew_status update(sn_solver *solver, const double *positions) {
    (void)positions;
    state *s = solver->state;
    for (int32_t i = 0; i < solver->pattern->rows; i++) {
        double pivot;
        int bad = sn_block3_invert(s->inverse + 9 * (size_t)i,
                                   solver->A + 9 * (size_t)solver->pattern->diagonal[i], &pivot);
        if (bad >= 0) {
            sn_solver_reject(solver, 3 * i + bad, pivot);
        }
    }

    return SINEW_OK;
}

typedef struct product {
    const double *inverse, *r;
    double *z;
} product;

static double precondition_range(void *data, int32_t begin, int32_t end) {
    product *work = data;
    double sum = 0;
    for (int32_t i = begin; i < end; i++) {
        const double *B = work->inverse + 9 * (size_t)i;
        const double *r = work->r + 3 * (size_t)i;
        double *z = work->z + 3 * (size_t)i;

        for (int c = 0; c < 3; c++) {
            z[c] = B[3 * c] * r[0] + B[3 * c + 1] * r[1] + B[3 * c + 2] * r[2];
        }

        sum += z[0] * r[0] + z[1] * r[1] + z[2] * r[2];
    }

    return sum;
}

static double precondition(void *data, double *z, const double *r) {
    sn_solver *solver = data;
    state *s = solver->state;
    return sn_parallel_sum(solver->context, solver->pattern->rows, ROW_CHUNK, precondition_range,
                           &(product){s->inverse, r, z});
}

static double multiply(void *data, double *y, const double *x) {
    sn_solver *solver = data;
    return sn_bsr_multiply_dot(solver->context, solver->pattern, y, solver->A, x);
}

static void solve(sn_solver *solver, const double *b, double *x, double relative_tolerance,
                  int32_t max_iterations, sn_solve_report *report) {
    state *s = solver->state;
    sn_cg_solve(solver->context, sn_bsr_size(solver->pattern), (sn_operator){multiply, solver},
                (sn_operator){precondition, solver}, b, x, relative_tolerance, max_iterations,
                s->work, report);
}

const sn_solver_methods sn_solver_jacobi = {
    .both_triangles = true, .create = create, .update = update, .solve = solve};
