// Iterations for the smoothing system: a right-hand side and a start in, four functions out.
//
// Four conjugate gradients share every load of the matrix. A costs two products with G. Preconditioner: the factor, if it is
// of a matrix near A; otherwise B = (G + S)^-1 D^2 (G + S)^-1, each inverse a multigrid V-cycle, which knows rough functions,
// and Q = P K^-1 P' on splines (splines.h), which knows smooth ones and what constraints do to them:
//
//   M^-1 = Q + (1 - Q A) B (1 - A Q)
//
// (balancing, Mandel 1993). Once P'r = 0 it stays so but for rounding, and B r + Q (r - A B r) is the same for half the work
// (A-DEF2 of Tang, Nabben, Vuik and Erlangga 2009, who show that it bears an inexact Q). With a matching both are of the
// system without it, seen from the estimated frames f of the matching: z = (M^-1 (r f*)) f. There the half turns of neighbours
// vanish but for the slow change of f, so that the number of iterations does not grow with the mesh.
#include "field/smoothing_iterate.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { WIDTH = SN_ROW_WIDTH, MOST_ITERATIONS = 400 };

static void run(const sn_iteration *it, sn_range_fn *loop, sn_row_job job) {
    sn_parallel_for(it->smoothing->context, it->smoothing->n, SN_ROW_CHUNK, loop, &job);
}

// y += sign C'C x
static void add_constraints(const sn_constraints *rows, double sign, double *y, const double *x) {
    for (int32_t r = 0; r < rows->count; r++) {
        double mean[WIDTH] = {0};
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            const double *xk = x + WIDTH * (size_t)rows->unknowns[k];
            for (int c = 0; c < WIDTH; c++) mean[c] += sign * rows->weights[k] * xk[c];
        }
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            double *yk = y + WIDTH * (size_t)rows->unknowns[k];
            for (int c = 0; c < WIDTH; c++) yk[c] += rows->weights[k] * mean[c];
        }
    }
}

// y = A x or, unless b is NULL, b - A x; A = G D^-2 G + C'C, with half turns if there is a matching. t is scratch, ghosts of x
// are filled.
static void apply(const sn_iteration *it, const sn_matching *matching, double *y, const double *b, double *x) {
    const sn_sparse *G = matching != NULL ? &matching->G : &it->smoothing->G;
    sn_matching_fill(matching, x, WIDTH);
    run(it, it->kernels->weigh, (sn_row_job){.A = G, .x = x, .factors = it->inverse_squares, .y = it->t});
    sn_matching_fill(matching, it->t, WIDTH);
    run(it, b != NULL ? it->kernels->subtract : it->kernels->multiply, (sn_row_job){.A = G, .x = it->t, .b = b, .y = y});
    sn_matching_clear(matching, y, WIDTH);
    add_constraints(matching != NULL ? &matching->rows : &it->smoothing->rows, b != NULL ? -1 : 1, y, x);
    sn_matching_fold(matching, y, WIDTH);
}

// z = M^-1 r by multigrid and splines; `aligned`: P'r = 0.
static void precondition_by_levels(const sn_iteration *it, double *z, const double *r, bool aligned) {
    sn_smoothing *smoothing = it->smoothing;
    if (aligned || !smoothing->splines.usable) {
        sn_multilevel_apply(&smoothing->multilevel, z, r);
    } else {
        memset(z, 0, (size_t)smoothing->n * WIDTH * sizeof(double));
        sn_splines_add(&smoothing->splines, z, r);
        apply(it, NULL, it->left, r, z);
        sn_multilevel_apply(&smoothing->multilevel, it->left, it->left);
        run(it, it->kernels->turn, (sn_row_job){.scale = {1, 1, 1, 1}, .x = it->left, .y = z});
    }
    if (!smoothing->splines.usable) return;
    apply(it, NULL, it->left, r, z);
    sn_splines_add(&smoothing->splines, z, it->left);
}

static void precondition(const sn_iteration *it, double *z, const double *r, bool aligned) {
    const double *seen = r;
    if (it->matching != NULL) {
        sn_matching_enter(it->matching, it->seen, r);
        seen = it->seen;
    }
    if (it->smoothing->direct) {
        memcpy(z, seen, (size_t)it->smoothing->n * WIDTH * sizeof(double));
        sn_factor_solve(it->smoothing->factor, z, WIDTH);
    } else {
        precondition_by_levels(it, z, seen, aligned);
    }
    if (it->matching != NULL) sn_matching_leave(it->matching, z);
}

// The product of each function, or of all together if half turns mix them.
static void dot(const sn_iteration *it, const double *a, const double *b, double result[WIDTH]) {
    int32_t chunks = sn_chunk_count(it->smoothing->n, SN_ROW_CHUNK);
    run(it, it->kernels->dot, (sn_row_job){.x = a, .b = b, .sums = it->sums});
    for (int c = 0; c < WIDTH; c++) result[c] = 0;
    for (int32_t k = 0; k < chunks; k++) {
        for (int c = 0; c < WIDTH; c++) result[c] += it->sums[WIDTH * (size_t)k + (size_t)c];
    }
    if (it->matching == NULL) return;
    double all = result[0] + result[1] + result[2] + result[3];
    for (int c = 0; c < WIDTH; c++) result[c] = all;
}

// Four independent conjugate gradients in step, or one if half turns mix the functions; one that has converged stands still.
static void iterate(sn_iteration *it, sn_solve_report *report) {
    double rz[WIDTH], pq[WIDTH], next[WIDTH];
    sn_row_job advance = {.x = it->p, .b = it->q, .y = it->x, .z = it->r}, turn = {.x = it->z, .y = it->p};
    bool aligned = it->matching == NULL; // by the start
    precondition(it, it->z, it->r, aligned);
    dot(it, it->r, it->z, rz);
    memcpy(it->p, it->z, (size_t)it->smoothing->n * WIDTH * sizeof(double));
    for (report->iterations = 0;; report->iterations++) {
        report->relative_residual = 0;
        bool running[WIDTH], any = false;
        for (int c = 0; c < WIDTH; c++) {
            double relative = it->scale[c] > 0 ? sqrt(fmax(rz[c], 0) / it->scale[c]) : 0;
            report->relative_residual = fmax(report->relative_residual, relative);
            running[c] = relative > it->tolerance;
            any = any || running[c];
        }
        if (!any || report->iterations == MOST_ITERATIONS) break;
        apply(it, it->matching, it->q, NULL, it->p);
        dot(it, it->p, it->q, pq);
        for (int c = 0; c < WIDTH; c++) advance.scale[c] = running[c] && pq[c] > 0 ? rz[c] / pq[c] : 0;
        run(it, it->kernels->advance, advance);
        precondition(it, it->z, it->r, aligned);
        dot(it, it->r, it->z, next);
        for (int c = 0; c < WIDTH; c++) {
            turn.scale[c] = running[c] && rz[c] > 0 ? next[c] / rz[c] : 0;
            if (running[c]) rz[c] = next[c];
        }
        run(it, it->kernels->turn, turn);
    }
    report->outcome = report->relative_residual <= it->tolerance ? SN_SOLVE_CONVERGED : SN_SOLVE_NOT_CONVERGED;
}

sinew_status sn_iteration_prepare(sn_iteration *it, sn_arena *scratch) {
    const sn_smoothing *smoothing = it->smoothing;
    int32_t n = smoothing->n, columns = n + (it->matching != NULL ? it->matching->ghost_count : 0);
    it->kernels = SN_ISA_PICK(smoothing->context->isa, sn_row_get_kernels)();
    double **vectors[6] = {&it->x, &it->r, &it->z, &it->p, &it->q, &it->t};
    for (int k = 0; k < 6; k++) *vectors[k] = SN_PUSH(scratch, double, (size_t)columns *WIDTH);
    it->left = SN_PUSH(scratch, double, smoothing->direct ? 0 : (size_t)n *WIDTH);
    it->seen = SN_PUSH(scratch, double, it->matching == NULL ? 0 : (size_t)n * WIDTH);
    it->inverse_squares = SN_PUSH(scratch, double, n);
    it->sums = SN_PUSH(scratch, double, WIDTH *(size_t)sn_chunk_count(n, SN_ROW_CHUNK));
    SN_TRY(sn_arena_status(scratch));
    for (int32_t i = 0; i < n; i++) it->inverse_squares[i] = smoothing->inverse_degrees[i] * smoothing->inverse_degrees[i];
    return SINEW_OK;
}

void sn_iteration_measure(sn_iteration *it, const double *b) {
    precondition(it, it->z, b, false);
    dot(it, b, it->z, it->scale);
}

void sn_iterate(sn_iteration *it, const double *b, sn_solve_report *report) {
    apply(it, it->matching, it->r, b, it->x);
    if (it->matching == NULL && it->smoothing->splines.usable) {
        sn_splines_add(&it->smoothing->splines, it->x, it->r);
        apply(it, NULL, it->r, b, it->x);
    }
    iterate(it, report);
}
