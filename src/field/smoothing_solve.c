// Solving the smoothing system: values at the constraints in, functions over the unknowns out.
//
// With a factor by substitution, each pass for what the last one has left, which also mends the factor's single precision;
// otherwise by conjugate gradients on four functions side by side, which share every load of the matrix. Preconditioner:
// (G + S)^-1 D^2 (G + S)^-1, each inverse a multigrid V-cycle. A costs two products with G.
#include "field/smoothing.h"

#include "base/threads.h"
#include "field/slopes.h"

#include <string.h>

enum { WIDTH = SN_ROW_WIDTH, MOST_ITERATIONS = 400, CORRECTIONS = 2 };
// Of the residual in the preconditioner's norm, pass by pass: angles are then right to 1e-3 at the worst place.
static const double TOLERANCES[CORRECTIONS + 1] = {1e-5, 1e-5, 1e-6};

// What the iterations need: vectors of n x WIDTH.
typedef struct iteration {
    sn_smoothing *smoothing;
    const sn_constraints *rows;
    const sn_row_kernels *kernels;
    double *x, *r, *z, *p, *q, *t;
    double *squares, *inverse_squares; // D^2 and D^-2
    double *sums;                      // of each chunk, WIDTH each
    double tolerance;
} iteration;

static void run(const iteration *it, sn_range_fn *loop, sn_row_job job) {
    sn_parallel_for(it->smoothing->context, it->smoothing->n, SN_ROW_CHUNK, loop, &job);
}

// y = (G D^-2 G + C'C) x; t is scratch.
static void apply(const iteration *it, double *y, const double *x) {
    const sn_constraints *rows = it->rows;
    const sn_sparse *G = &it->smoothing->G;
    run(it, it->kernels->multiply, (sn_row_job){.A = G, .x = x, .y = it->t});
    run(it, it->kernels->weigh, (sn_row_job){.scale = {1}, .factors = it->inverse_squares, .b = it->t, .y = it->t});
    run(it, it->kernels->multiply, (sn_row_job){.A = G, .x = it->t, .y = y});
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

static void precondition(const iteration *it, double *z, const double *r) {
    sn_multilevel_cycle(&it->smoothing->multilevel, it->t, r);
    run(it, it->kernels->weigh, (sn_row_job){.scale = {1}, .factors = it->squares, .b = it->t, .y = it->t});
    sn_multilevel_cycle(&it->smoothing->multilevel, z, it->t);
}

static void dot(const iteration *it, const double *a, const double *b, double result[WIDTH]) {
    int32_t chunks = sn_chunk_count(it->smoothing->n, SN_ROW_CHUNK);
    run(it, it->kernels->dot, (sn_row_job){.x = a, .b = b, .sums = it->sums});
    for (int c = 0; c < WIDTH; c++) result[c] = 0;
    for (int32_t k = 0; k < chunks; k++) {
        for (int c = 0; c < WIDTH; c++) result[c] += it->sums[WIDTH * (size_t)k + (size_t)c];
    }
}

// Four independent conjugate gradients in step; one that has converged stands still. `start` is the norm that the right-hand
// side itself would have.
static void iterate(iteration *it, const double start[WIDTH], sn_solve_report *report) {
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

static void solve_group(iteration *it, const double *b, sn_solve_report *report) {
    size_t count = (size_t)it->smoothing->n * WIDTH;
    double start[WIDTH];
    precondition(it, it->z, b);
    dot(it, b, it->z, start);
    apply(it, it->r, it->x);
    for (size_t i = 0; i < count; i++) it->r[i] = b[i] - it->r[i];
    iterate(it, start, report);
}

// ---- Right-hand sides ---------------------------------------------------------------------------

// b = C'c, `width` functions side by side.
static void compute_right_side(double *b, const sn_smoothing *smoothing, const sn_constraints *rows, const double *values,
                               size_t width) {
    memset(b, 0, (size_t)smoothing->n * width * sizeof(double));
    for (int32_t r = 0; r < rows->count; r++) {
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            double *target = b + (size_t)rows->unknowns[k] * width;
            for (size_t c = 0; c < width; c++) target[c] += rows->weights[k] * values[(size_t)r * width + c];
        }
    }
}

// What the slopes of the last solution make of drifts.
typedef struct correction {
    const sn_smoothing *smoothing;
    const sn_slope_kernels *kernels;
    sn_slope_job job;
} correction;

static void run_slopes(correction *work, sn_range_fn *loop) {
    sn_parallel_for(work->smoothing->context, work->smoothing->n, SN_ROW_CHUNK, loop, &work->job);
}

// target += v . slope of unknown i
static void add_along(const sn_slope_job *job, int32_t i, sn_vec3 v, double *target) {
    for (size_t first = 0; first < job->width; first += WIDTH) {
        const double *g = job->slopes + 3 * (job->width * (size_t)i + first);
        for (size_t c = 0; c < WIDTH; c++) target[first + c] += v.x * g[c] + v.y * g[WIDTH + c] + v.z * g[2 * WIDTH + c];
    }
}

// b = C'(c + u.g) + L'(v.g), with L' = -G D^-1.
static void compute_corrected_side(correction *work, const sn_constraints *rows, const double *values) {
    const sn_smoothing *smoothing = work->smoothing;
    size_t width = work->job.width;
    double *b = work->job.b;
    run_slopes(work, work->kernels->sum_edges);
    run_slopes(work, work->kernels->compute_slopes);
    compute_right_side(b, smoothing, rows, values, width);
    for (int32_t r = 0; r < rows->count; r++) {
        double extra[2 * WIDTH] = {0};
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            int32_t i = rows->unknowns[k];
            add_along(&work->job, i, sn_scale(rows->weights[k], sn_sub(smoothing->positions[i], rows->points[r])), extra);
        }
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            double *target = b + (size_t)rows->unknowns[k] * width;
            for (size_t c = 0; c < width; c++) target[c] += rows->weights[k] * extra[c];
        }
    }
    run_slopes(work, work->kernels->weigh_drifts);
    run_slopes(work, work->kernels->add_drifts);
}

// ---- Solving ------------------------------------------------------------------------------------

// x = A^-1 b by the factor, where x is what is known already (not `from_zero`); b is spent.
static void solve_direct(sn_smoothing *smoothing, correction *work, bool from_zero, double *x) {
    size_t count = (size_t)smoothing->n * work->job.width;
    if (from_zero) memset(x, 0, count * sizeof(double));
    if (!from_zero) run_slopes(work, work->kernels->subtract);
    sn_factor_solve(smoothing->factor, work->job.b, (int32_t)work->job.width);
    for (size_t i = 0; i < count; i++) x[i] += work->job.b[i];
}

// x = A^-1 b by iterations, in groups of WIDTH.
static void solve_iterative(iteration *it, double *group, const double *b, size_t width, double *x, sn_solve_report *report) {
    size_t n = (size_t)it->smoothing->n;
    for (size_t first = 0; first < width; first += WIDTH) {
        sn_solve_report part = {0};
        for (size_t i = 0; i < n; i++) {
            memcpy(group + i * WIDTH, b + i * width + first, WIDTH * sizeof(double));
            memcpy(it->x + i * WIDTH, x + i * width + first, WIDTH * sizeof(double));
        }
        solve_group(it, group, &part);
        for (size_t i = 0; i < n; i++) memcpy(x + i * width + first, it->x + i * WIDTH, WIDTH * sizeof(double));
        report->iterations += part.iterations;
        report->relative_residual = fmax(report->relative_residual, part.relative_residual);
        if (part.outcome != SN_SOLVE_CONVERGED) report->outcome = part.outcome;
    }
}

static void fill_squares(iteration *it) {
    for (int32_t i = 0; i < it->smoothing->n; i++) {
        double inverse = it->smoothing->inverse_degrees[i];
        it->inverse_squares[i] = inverse * inverse;
        it->squares[i] = inverse > 0 ? 1 / (inverse * inverse) : 1;
    }
}

static sinew_status solve(sn_smoothing *smoothing, sn_arena *scratch, const sn_constraints *rows, const double *values,
                          size_t width, double *x, sn_solve_report *report) {
    size_t n = (size_t)smoothing->n, count = smoothing->direct ? 0 : n * WIDTH;
    iteration it = {.smoothing = smoothing, .rows = rows};
    it.kernels = SN_ISA_PICK(smoothing->context->isa, sn_row_get_kernels)();
    double **vectors[6] = {&it.x, &it.r, &it.z, &it.p, &it.q, &it.t};
    for (int k = 0; k < 6; k++) *vectors[k] = SN_PUSH(scratch, double, count);
    it.squares = SN_PUSH(scratch, double, smoothing->direct ? 0 : n);
    it.inverse_squares = SN_PUSH(scratch, double, smoothing->direct ? 0 : n);
    it.sums = SN_PUSH(scratch, double, WIDTH *(size_t)sn_chunk_count(smoothing->n, SN_ROW_CHUNK));
    double *group = SN_PUSH(scratch, double, count), *b = SN_PUSH(scratch, double, n *width);
    correction work = {.smoothing = smoothing, .kernels = SN_ISA_PICK(smoothing->context->isa, sn_slope_get_kernels)()};
    work.job = (sn_slope_job){.G = &smoothing->G,
                              .A = &smoothing->A,
                              .positions = smoothing->positions,
                              .drifts = smoothing->drifts,
                              .inverse_moments = smoothing->inverse_moments,
                              .inverse_degrees = smoothing->inverse_degrees,
                              .width = width,
                              .x = x,
                              .b = b};
    work.job.edges = SN_PUSH(scratch, double, 3 * n * width);
    work.job.slopes = SN_PUSH(scratch, double, 3 * n * width);
    work.job.drift = work.job.edges; // which are spent when the slopes are known
    SN_TRY(sn_arena_status(scratch));
    if (!smoothing->direct) fill_squares(&it);
    for (int pass = 0; pass <= CORRECTIONS; pass++) {
        if (pass == 0) {
            compute_right_side(b, smoothing, rows, values, width);
        } else {
            compute_corrected_side(&work, rows, values);
        }
        if (smoothing->direct) {
            solve_direct(smoothing, &work, pass == 0, x);
        } else {
            it.tolerance = TOLERANCES[pass];
            report->relative_residual = 0; // of the last pass
            solve_iterative(&it, group, b, width, x, report);
        }
    }
    return SINEW_OK;
}

sinew_status sn_smoothing_solve(sn_smoothing *smoothing, const sn_constraints *rows, const double *values, int32_t components,
                                double *x, sn_solve_report *report) {
    SN_ASSERT(components % WIDTH == 0 && components <= 2 * WIDTH);
    *report = (sn_solve_report){.outcome = SN_SOLVE_CONVERGED, .row = -1};
    sn_arena scratch = sn_arena_create(smoothing->context);
    sinew_status status = solve(smoothing, &scratch, rows, values, (size_t)components, x, report);
    sn_arena_destroy(&scratch);
    return status;
}
