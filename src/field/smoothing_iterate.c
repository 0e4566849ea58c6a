// Iterations for the smoothing system. Input: right-hand sides and a starting point; output: up to
// sixteen functions.
//
// All functions run conjugate gradients side by side and share every load of a matrix. A costs two
// products with G. The preconditioner is the factor, if there is one of a matrix close to A.
// Otherwise it combines B = (G + S)^-1 D^2 (G + S)^-1, each inverse a multigrid V-cycle, which
// handles rough functions, and Q = P K^-1 P' on splines (splines.h), which handles smooth ones and
// the effect of constraints on them:
//
//   M^-1 = Q + (1 - Q A) B (1 - A Q)
//
// (balancing, Mandel 1993). Once P'r = 0 it stays so up to rounding, and B r + Q (r - A B r) is the
// same for half the work (A-DEF2 of Tang, Nabben, Vuik and Erlangga 2009, who show that it
// tolerates an inexact Q).
//
// With a matching, both are those of the system without it, relative to the estimated frames f of
// the matching: z = (M^-1 (r f*)) f. There the half turns of neighbours vanish up to the slow
// change of f, so the number of iterations does not grow with the mesh.
#include "field/smoothing_iterate.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { WIDTH = SN_ROW_WIDTH, MAX_WIDTH = SN_ROW_MAX_WIDTH, MAX_ITERATIONS = 400 };

static size_t width_of(const sn_iteration *it) {
    return WIDTH * (size_t)it->quads;
}

static void run(const sn_iteration *it, sn_range_fn *loop, sn_row_job job) {
    job.quads = it->quads;
    sn_parallel_for(it->smoothing->context, it->smoothing->n, SN_ROW_CHUNK, loop, &job);
}

// y += sign C'C x
static void add_constraints(const sn_constraints *rows, double sign, size_t width, double *y,
                            const double *x) {
    for (int32_t r = 0; r < rows->count; r++) {
        double mean[MAX_WIDTH] = {0};
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            const double *xk = x + width * (size_t)rows->unknowns[k];
            for (size_t c = 0; c < width; c++) {
                mean[c] += sign * rows->weights[k] * xk[c];
            }
        }

        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            double *yk = y + width * (size_t)rows->unknowns[k];
            for (size_t c = 0; c < width; c++) {
                yk[c] += rows->weights[k] * mean[c];
            }
        }
    }
}

// y = A x or, unless b is NULL, b - A x; A = G D^-2 G + C'C, with half turns if there is a
// matching. t is scratch; the ghosts of x are filled.
static void apply(const sn_iteration *it, const sn_matching *matching, double *y, const double *b,
                  double *x) {
    const sn_sparse *G = matching != NULL ? &matching->G : &it->smoothing->G;
    size_t width = width_of(it);

    sn_matching_fill(matching, x, width);
    run(it, it->kernels->weigh,
        (sn_row_job){.A = G, .x = x, .factors = it->inverse_squares, .y = it->t});
    sn_matching_fill(matching, it->t, width);
    run(it, b != NULL ? it->kernels->subtract : it->kernels->multiply,
        (sn_row_job){.A = G, .x = it->t, .b = b, .y = y});
    sn_matching_clear(matching, y, width);
    add_constraints(matching != NULL ? &matching->rows : &it->smoothing->rows, b != NULL ? -1 : 1,
                    width, y, x);
    sn_matching_fold(matching, y, width);
}

// z = M^-1 r by multigrid and splines; `aligned` says that P'r = 0.
static void precondition_by_levels(sn_iteration *it, double *z, const double *r, bool aligned) {
    const sn_smoothing *smoothing = it->smoothing;
    if (aligned || !smoothing->splines.usable) {
        sn_multilevel_apply(&smoothing->multilevel, &it->cycle, z, r);
    } else {
        // z = Q r + B (r - A Q r)
        memset(z, 0, (size_t)smoothing->n * width_of(it) * sizeof(double));
        sn_splines_add(&smoothing->splines, &it->splines, z, r);
        apply(it, NULL, it->left, r, z);
        sn_multilevel_apply(&smoothing->multilevel, &it->cycle, it->left, it->left);

        sn_row_job add = {.x = it->left, .y = z};

        for (int c = 0; c < MAX_WIDTH; c++) {
            add.scale[c] = 1;
        }

        run(it, it->kernels->scale_add, add);
    }

    if (!smoothing->splines.usable) {
        return;
    }

    // z += Q (r - A z)
    apply(it, NULL, it->left, r, z);
    sn_splines_add(&smoothing->splines, &it->splines, z, it->left);
}

static void precondition(sn_iteration *it, double *z, const double *r, bool aligned) {
    const double *seen = r;
    if (it->matching != NULL) {
        sn_matching_enter(it->matching, it->seen, r);
        seen = it->seen;
    }

    if (it->smoothing->direct) {
        memcpy(z, seen, (size_t)it->smoothing->n * width_of(it) * sizeof(double));
        sn_factor_solve(it->smoothing->factor, z, (int32_t)width_of(it));
    } else {
        precondition_by_levels(it, z, seen, aligned);
    }

    if (it->matching != NULL) {
        sn_matching_leave(it->matching, z);
    }
}

// The dot product per function, or of all together if half turns mix them.
static void dot(const sn_iteration *it, const double *a, const double *b,
                double result[MAX_WIDTH]) {
    int32_t chunks = sn_chunk_count(it->smoothing->n, SN_ROW_CHUNK);
    size_t width = width_of(it);

    run(it, it->kernels->dot, (sn_row_job){.x = a, .b = b, .sums = it->sums});
    for (size_t c = 0; c < width; c++) {
        result[c] = 0;
    }

    // Sum the chunks in order.
    for (size_t k = 0; k < (size_t)chunks; k++) {
        for (size_t c = 0; c < width; c++) {
            result[c] += it->sums[width * k + c];
        }
    }

    if (it->matching == NULL) {
        return;
    }

    // Half turns mix the four functions: they share one step length.
    double all = result[0] + result[1] + result[2] + result[3];
    for (size_t c = 0; c < WIDTH; c++) {
        result[c] = all;
    }
}

// Independent conjugate gradients in step, or a single one if half turns mix the functions; a
// function that has converged stays as it is.
static void iterate(sn_iteration *it, sn_solve_report *report) {
    double rz[MAX_WIDTH], pq[MAX_WIDTH], next[MAX_WIDTH];
    size_t width = width_of(it);
    sn_row_job advance = {.x = it->p, .b = it->q, .y = it->x, .z = it->r};
    sn_row_job direction = {.x = it->z, .y = it->p};
    bool aligned = it->matching == NULL; // by the start

    precondition(it, it->z, it->r, aligned);
    dot(it, it->r, it->z, rz);
    memcpy(it->p, it->z, (size_t)it->smoothing->n * width * sizeof(double));

    for (report->iterations = 0;; report->iterations++) {
        // Which functions have not converged?
        report->relative_residual = 0;
        bool running[MAX_WIDTH], any = false;
        for (size_t c = 0; c < width; c++) {
            double relative = it->scale[c] > 0 ? sqrt(fmax(rz[c], 0) / it->scale[c]) : 0;
            report->relative_residual = fmax(report->relative_residual, relative);
            running[c] = relative > it->tolerance;
            any = any || running[c];
        }

        if (!any || report->iterations == MAX_ITERATIONS) {
            break;
        }

        // Step to the minimum along p; converged functions take a step of zero.
        apply(it, it->matching, it->q, NULL, it->p);
        dot(it, it->p, it->q, pq);
        for (size_t c = 0; c < width; c++) {
            advance.scale[c] = running[c] && pq[c] > 0 ? rz[c] / pq[c] : 0;
        }

        run(it, it->kernels->advance, advance);
        precondition(it, it->z, it->r, aligned);
        dot(it, it->r, it->z, next);

        // Next search direction.
        for (size_t c = 0; c < width; c++) {
            direction.scale[c] = running[c] && rz[c] > 0 ? next[c] / rz[c] : 0;
            if (running[c]) {
                rz[c] = next[c];
            }
        }

        run(it, it->kernels->scale_add, direction);
    }

    report->outcome =
        report->relative_residual <= it->tolerance ? SN_SOLVE_CONVERGED : SN_SOLVE_NOT_CONVERGED;
}

sinew_status sn_iteration_prepare(sn_iteration *it, int32_t quads, double *vectors,
                                  sn_arena *scratch) {
    const sn_smoothing *smoothing = it->smoothing;
    SN_ASSERT(quads == 1 || (it->matching == NULL && quads <= SN_ROW_MAX_QUADS));

    size_t n = (size_t)smoothing->n;
    size_t columns = n + (size_t)(it->matching != NULL ? it->matching->ghost_count : 0);

    it->quads = quads;
    it->kernels = SN_ISA_PICK(smoothing->context->isa, sn_row_get_kernels)();

    // The vectors of the iteration.
    double **targets[SN_ITERATION_VECTORS] = {&it->r, &it->z, &it->p, &it->q, &it->t, &it->left};
    for (size_t k = 0; k < SN_ITERATION_VECTORS; k++) {
        *targets[k] = vectors + k * columns * width_of(it);
    }

    it->seen = SN_PUSH(scratch, double, it->matching == NULL ? 0 : n * WIDTH);
    it->inverse_squares = SN_PUSH(scratch, double, n);
    it->sums =
        SN_PUSH(scratch, double, width_of(it) * (size_t)sn_chunk_count(smoothing->n, SN_ROW_CHUNK));
    SN_TRY(sn_arena_status(scratch));

    for (size_t i = 0; i < n; i++) {
        it->inverse_squares[i] = smoothing->inverse_degrees[i] * smoothing->inverse_degrees[i];
    }

    if (smoothing->direct) {
        return SINEW_OK;
    }

    SN_TRY(sn_splines_prepare(scratch, &smoothing->splines, quads, &it->splines));
    return sn_cycle_create(scratch, &smoothing->multilevel, quads, &it->cycle);
}

void sn_iteration_measure(sn_iteration *it, const double *b) {
    precondition(it, it->z, b, false);
    dot(it, b, it->z, it->scale);
}

void sn_iterate(sn_iteration *it, const double *b, sn_solve_report *report) {
    apply(it, it->matching, it->r, b, it->x);
    if (it->matching == NULL && it->smoothing->splines.usable) {
        sn_splines_add(&it->smoothing->splines, &it->splines, it->x, it->r);
        apply(it, NULL, it->r, b, it->x);
    }
    iterate(it, report);
}
