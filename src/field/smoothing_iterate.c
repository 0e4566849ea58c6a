// Iterations for the smoothing system: a right-hand side and a start in, four functions out.
//
// Four conjugate gradients share every load of the matrix. A costs two products with G. Preconditioner: the factor, if it is
// of a matrix near A; otherwise (G + S)^-1 D^2 (G + S)^-1, each inverse a multigrid V-cycle. With a matching both are of the
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

// y += C'C x
static void add_constraints(const sn_iteration *it, double *y, const double *x) {
    const sn_constraints *rows = it->rows;
    for (int32_t r = 0; r < rows->count; r++) {
        double mean[WIDTH] = {0};
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            const double *xk = x + WIDTH * (size_t)rows->unknowns[k];
            for (int c = 0; c < WIDTH; c++) mean[c] += rows->weights[k] * xk[c];
        }
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            double *yk = y + WIDTH * (size_t)rows->unknowns[k];
            for (int c = 0; c < WIDTH; c++) yk[c] += rows->weights[k] * mean[c];
        }
    }
}

// y = (G D^-2 G + C'C) x; t is scratch, ghosts of x are filled.
static void apply(const sn_iteration *it, double *y, double *x) {
    const sn_sparse *G = it->matching != NULL ? &it->matching->G : &it->smoothing->G;
    sn_matching_fill(it->matching, x, WIDTH);
    run(it, it->kernels->multiply, (sn_row_job){.A = G, .x = x, .y = it->t});
    run(it, it->kernels->weigh, (sn_row_job){.scale = {1}, .factors = it->inverse_squares, .b = it->t, .y = it->t});
    sn_matching_fill(it->matching, it->t, WIDTH);
    run(it, it->kernels->multiply, (sn_row_job){.A = G, .x = it->t, .y = y});
    sn_matching_clear(it->matching, y, WIDTH);
    add_constraints(it, y, x);
    sn_matching_fold(it->matching, y, WIDTH);
}

static void precondition(const sn_iteration *it, double *z, const double *r) {
    sn_smoothing *smoothing = it->smoothing;
    size_t size = (size_t)smoothing->n * WIDTH * sizeof(double);
    const double *seen = r;
    if (it->matching != NULL) {
        sn_matching_enter(it->matching, z, r);
        seen = z;
    }
    if (smoothing->direct) {
        if (seen != z) memcpy(z, seen, size);
        sn_factor_solve(smoothing->factor, z, WIDTH);
    } else {
        sn_multilevel_cycle(&smoothing->multilevel, it->t, seen);
        run(it, it->kernels->weigh, (sn_row_job){.scale = {1}, .factors = it->squares, .b = it->t, .y = it->t});
        sn_multilevel_cycle(&smoothing->multilevel, z, it->t);
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
// `start` is the norm that the right-hand side itself would have.
static void iterate(sn_iteration *it, const double start[WIDTH], sn_solve_report *report) {
    double rz[WIDTH], pq[WIDTH], next[WIDTH];
    sn_row_job advance = {.x = it->p, .b = it->q, .y = it->x, .z = it->r}, turn = {.x = it->z, .y = it->p};
    precondition(it, it->z, it->r);
    dot(it, it->r, it->z, rz);
    memcpy(it->p, it->z, (size_t)it->smoothing->n * WIDTH * sizeof(double));
    for (report->iterations = 0;; report->iterations++) {
        report->relative_residual = 0;
        bool running[WIDTH], any = false;
        for (int c = 0; c < WIDTH; c++) {
            double relative = start[c] > 0 ? sqrt(fmax(rz[c], 0) / start[c]) : 0;
            report->relative_residual = fmax(report->relative_residual, relative);
            running[c] = relative > it->tolerance;
            any = any || running[c];
        }
        if (!any || report->iterations == MOST_ITERATIONS) break;
        apply(it, it->q, it->p);
        dot(it, it->p, it->q, pq);
        for (int c = 0; c < WIDTH; c++) advance.scale[c] = running[c] && pq[c] > 0 ? rz[c] / pq[c] : 0;
        run(it, it->kernels->advance, advance);
        precondition(it, it->z, it->r);
        dot(it, it->r, it->z, next);
        for (int c = 0; c < WIDTH; c++) {
            turn.scale[c] = running[c] && rz[c] > 0 ? next[c] / rz[c] : 0;
            if (running[c]) rz[c] = next[c];
        }
        run(it, it->kernels->turn, turn);
    }
    report->outcome = report->relative_residual <= it->tolerance ? SN_SOLVE_CONVERGED : SN_SOLVE_NOT_CONVERGED;
}

static void fill_squares(sn_iteration *it) {
    for (int32_t i = 0; i < it->smoothing->n; i++) {
        double inverse = it->smoothing->inverse_degrees[i];
        it->inverse_squares[i] = inverse * inverse;
        it->squares[i] = inverse > 0 ? 1 / (inverse * inverse) : 1;
    }
}

sinew_status sn_iteration_prepare(sn_iteration *it, sn_arena *scratch) {
    int32_t n = it->smoothing->n, columns = n + (it->matching != NULL ? it->matching->ghost_count : 0);
    it->kernels = SN_ISA_PICK(it->smoothing->context->isa, sn_row_get_kernels)();
    double **vectors[6] = {&it->x, &it->r, &it->z, &it->p, &it->q, &it->t};
    for (int k = 0; k < 6; k++) *vectors[k] = SN_PUSH(scratch, double, (size_t)columns *WIDTH);
    it->squares = SN_PUSH(scratch, double, n);
    it->inverse_squares = SN_PUSH(scratch, double, n);
    it->sums = SN_PUSH(scratch, double, WIDTH *(size_t)sn_chunk_count(n, SN_ROW_CHUNK));
    SN_TRY(sn_arena_status(scratch));
    fill_squares(it);
    return SINEW_OK;
}

void sn_iterate(sn_iteration *it, const double *b, sn_solve_report *report) {
    size_t count = (size_t)it->smoothing->n * WIDTH;
    double start[WIDTH];
    precondition(it, it->z, b);
    dot(it, b, it->z, start);
    apply(it, it->r, it->x);
    for (size_t i = 0; i < count; i++) it->r[i] = b[i] - it->r[i];
    iterate(it, start, report);
}
