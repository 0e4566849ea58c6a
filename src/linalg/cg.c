// Preconditioned conjugate gradients (Hestenes and Stiefel 1952).
//
//   alpha = r'z / p'Ap,    x += alpha p,    r -= alpha A p
//   z = M r,               beta = r'z / (previous r'z),    p = z + beta p
//
// An iteration costs one product with A, one with the preconditioner and four fused passes over
// vectors. The recursive residual is checked against b - A x before convergence is reported; if
// they disagree, the iteration restarts from the true residual. Every sum has a fixed order, so the
// iterates are bitwise the same for any number of threads.
#include "linalg/solver.h"

#include "base/threads.h"
#include "linalg/kernels.h"
#include "base/context.h"
#include "linalg/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 8192, MAX_RESTARTS = 4 }; // large enough to be worth waking a thread
enum { REPORT_EVERY = 16 };              // iterations between reports to the host

typedef struct step {
    double *x, *r;
    const double *p, *q;
    double alpha;
} step;

// x += alpha p, r -= alpha q; returns r'r.
static double advance_range(void *data, int32_t begin, int32_t end) {
    const step *s = data;
    return sn_linalg_kernels_get()->cg_advance(s->x + begin, s->r + begin, s->alpha, s->p + begin,
                                               s->q + begin, end - begin);
}

size_t sn_cg_work_count(int32_t count) {
    return 4 * (size_t)count;
}

static double subtract_range(void *data, int32_t begin, int32_t end) {
    const step *s = data;
    double sum = 0;
    for (int32_t k = begin; k < end; k++) {
        s->r[k] = s->p[k] - s->q[k];
        sum += s->r[k] * s->r[k];
    }

    return sum;
}

// r = b - A x, with q as scratch; returns the norm.
static double true_residual(sinew_context *context, int32_t count, sn_operator A, const double *b,
                            const double *x, double *r, double *q) {
    A.apply(A.data, q, x);
    return sqrt(
        sn_parallel_sum(context, count, CHUNK, subtract_range, &(step){.r = r, .p = b, .q = q}));
}

typedef struct cg {
    sinew_context *context;
    int32_t count;
    sn_operator A, preconditioner;
    const double *b;
    double *x, *r, *z, *p, *q;
    double target; // of the recursive |r|; not below rounding error
} cg;

// Runs from the residual in r until |r| <= target or `budget` iterations are spent. Returns the
// outcome; adds to *iterations.
static sn_solve_outcome iterate(cg *s, int32_t budget, int32_t *iterations) {
    double rz_before = 1;
    for (int32_t k = 0; k < budget; k++) {
        double rz;
        if (k % REPORT_EVERY == REPORT_EVERY - 1 &&
            sn_report_progress(s->context, "solving a linear system", -1) != SINEW_OK) {
            return SN_SOLVE_CANCELLED;
        }

        // Precondition: z = M r.
        if (s->preconditioner.apply) {
            rz = s->preconditioner.apply(s->preconditioner.data, s->z, s->r);
        } else {
            rz = sn_vector_dot(s->context, s->count, s->r, s->r);
        }

        if (!isfinite(rz)) {
            return SN_SOLVE_NOT_FINITE;
        }
        if (rz <= 0) {
            return SN_SOLVE_NOT_POSITIVE_DEFINITE;
        }

        // The next search direction is conjugate to the previous one.
        const double *z = s->preconditioner.apply ? s->z : s->r;
        if (k == 0) {
            memcpy(s->p, z, (size_t)s->count * sizeof(double));
        } else {
            sn_vector_scale_add(s->context, s->count, s->p, rz / rz_before, z);
        }

        rz_before = rz;

        // Curvature p'Ap along the direction.
        double curvature = s->A.apply(s->A.data, s->q, s->p);
        if (!isfinite(curvature)) {
            return SN_SOLVE_NOT_FINITE;
        }
        if (curvature <= 0) {
            return SN_SOLVE_NOT_POSITIVE_DEFINITE;
        }

        // Step to the minimum along p.
        step advance = {.x = s->x, .r = s->r, .p = s->p, .q = s->q, .alpha = rz / curvature};
        double rr = sn_parallel_sum(s->context, s->count, CHUNK, advance_range, &advance);

        ++*iterations;
        if (sqrt(rr) <= s->target) {
            return SN_SOLVE_CONVERGED;
        }
    }

    return SN_SOLVE_NOT_CONVERGED;
}

void sn_cg_solve(sinew_context *context, int32_t count, sn_operator A, sn_operator preconditioner,
                 const double *b, double *x, double relative_tolerance, int32_t max_iterations,
                 double *work, sn_solve_report *report) {
    SN_ASSERT(count >= 0 && relative_tolerance >= 0 && max_iterations >= 0);
    *report =
        (sn_solve_report){.outcome = SN_SOLVE_NOT_FINITE, .relative_residual = NAN, .row = -1};

    // Trivial and invalid right-hand sides.
    double b_norm = sn_vector_norm(context, count, b);
    double x_norm = sn_vector_norm(context, count, x);
    if (!isfinite(b_norm) || !isfinite(x_norm)) {
        return;
    }

    if (b_norm == 0) {
        memset(x, 0, (size_t)count * sizeof *x);
        *report = (sn_solve_report){.outcome = SN_SOLVE_CONVERGED, .row = -1};
        return;
    }

    cg s = {context,
            count,
            A,
            preconditioner,
            b,
            x,
            work,
            work + count,
            work + 2 * (size_t)count,
            work + 3 * (size_t)count,
            fmax(relative_tolerance, 0.01 * DBL_EPSILON) * b_norm};
    double r_norm = b_norm;

    // Residual of the start vector.
    if (x_norm > 0) {
        r_norm = true_residual(context, count, A, b, x, s.r, s.q);
    } else {
        memcpy(s.r, b, (size_t)count * sizeof *b);
    }

    for (int restart = 0;; restart++) {
        if (!isfinite(r_norm)) {
            return;
        }

        report->relative_residual = r_norm / b_norm;
        report->outcome =
            r_norm <= relative_tolerance * b_norm ? SN_SOLVE_CONVERGED : SN_SOLVE_NOT_CONVERGED;

        if (report->outcome == SN_SOLVE_CONVERGED || report->iterations >= max_iterations ||
            restart == MAX_RESTARTS) {
            return;
        }

        // Iterate, then measure the true residual: the recursive one drifts from it.
        sn_solve_outcome outcome =
            iterate(&s, max_iterations - report->iterations, &report->iterations);
        double before = r_norm;
        if (outcome == SN_SOLVE_CANCELLED) {
            report->outcome = outcome;
            return;
        }

        r_norm = true_residual(context, count, A, b, x, s.r, s.q);
        if (outcome == SN_SOLVE_NOT_POSITIVE_DEFINITE || outcome == SN_SOLVE_NOT_FINITE) {
            report->outcome = outcome;
            report->relative_residual = r_norm / b_norm;
            return;
        }

        if (!(r_norm < 0.5 * before)) {
            restart = MAX_RESTARTS - 1; // no better result is possible in floating point
        }
    }
}
