// Conjugate gradients in the packed order, preconditioned by an incomplete Cholesky factor
// (pcg-ic), or by the sum of that and a coarse level of rigid frames (pcg-multigrid):
//
//   M^-1 = (C (I + L)(I + L') C')^-1 + P (P'AP)^-1 P'
//
// The factor reduces short-wave error, the frames long-wave error; the number of iterations then
// hardly grows with the mesh.
#include "base/threads.h"
#include "linalg/coarse.h"
#include "linalg/ic.h"
#include "linalg/solver_methods.h"

typedef struct state {
    sn_packed packed;
    sn_ic ic;
    sn_coarse coarse;     // without frames in pcg-ic
    double *b, *x, *work; // four doubles per row
} state;

static sinew_status create(sn_solver *solver) {
    state *s = solver->state = SN_PUSH(&solver->arena, state, 1);
    if (!s) {
        return SINEW_OUT_OF_MEMORY;
    }

    SN_TRY(sn_packed_build(&solver->arena, solver->pattern, &s->packed));
    SN_TRY(sn_ic_build(&solver->arena, &s->packed, &s->ic));

    size_t count = 4 * (size_t)s->packed.rows;
    s->b = SN_PUSH(&solver->arena, double, count);
    s->x = SN_PUSH(&solver->arena, double, count);
    s->work = SN_PUSH(&solver->arena, double, sn_cg_work_count(4 * s->packed.rows));

    return sn_arena_status(&solver->arena);
}

static sinew_status create_multigrid(sn_solver *solver) {
    SN_TRY(create(solver));
    state *s = solver->state;
    return sn_coarse_build(&solver->arena, solver->pattern, &s->packed, &s->coarse);
}

static sinew_status update(sn_solver *solver, const double *positions) {
    state *s = solver->state;
    sn_packed_update(solver->context, &s->packed, solver->A);

    sn_ic_report report = sn_ic_update(solver->context, &s->ic);

    if (report.row >= 0) {
        sn_solver_reject(solver, report.row, report.pivot);
        return SINEW_OK;
    }

    sn_coarse_update(solver->context, &s->coarse, positions);
    return SINEW_OK;
}

static double multiply(void *data, double *y, const double *x) {
    sn_solver *solver = data;
    state *s = solver->state;
    return sn_packed_multiply(solver->context, y, &s->packed, x);
}

// The two halves of the preconditioner, run as two tasks.
typedef struct halves {
    const state *s;
    const double *r;
    double *z;
    double product[2];
} halves;

static void do_half(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    halves *work = data;
    for (int32_t half = begin; half < end; half++) {
        work->product[half] = half == 0 ? sn_ic_apply_alone(work->z, &work->s->ic, work->r)
                                        : sn_coarse_solve(&work->s->coarse, work->r);
    }
}

static double precondition(void *data, double *z, const double *r) {
    sn_solver *solver = data;
    state *s = solver->state;
    halves work = {.s = s, .r = r, .z = z};

    if (s->packed.parts == 1) {
        sn_parallel_for(solver->context, s->coarse.usable ? 2 : 1, 1, do_half, &work);
    } else {
        work.product[0] = sn_ic_apply(solver->context, z, &s->ic, r);
        work.product[1] = sn_coarse_solve(&s->coarse, r);
    }

    sn_coarse_move(solver->context, z, &s->coarse);
    return work.product[0] + work.product[1];
}

static void solve(sn_solver *solver, const double *b, double *x, double relative_tolerance,
                  int32_t max_iterations, sn_solve_report *report) {
    state *s = solver->state;
    sn_packed_gather(s->b, &s->packed, 1, b);
    sn_packed_gather(s->x, &s->packed, 1, x);
    sn_cg_solve(solver->context, 4 * s->packed.rows, (sn_operator){multiply, solver},
                (sn_operator){precondition, solver}, s->b, s->x, relative_tolerance, max_iterations,
                s->work, report);

    if (report->outcome != SN_SOLVE_NOT_FINITE) {
        sn_packed_scatter(x, &s->packed, 1, s->x);
    }
}

const sn_solver_methods sn_solver_ic = {.create = create, .update = update, .solve = solve};
const sn_solver_methods sn_solver_multigrid = {
    .create = create_multigrid, .update = update, .solve = solve};
