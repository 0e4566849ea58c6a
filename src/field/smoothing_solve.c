// Solves the smoothing system. Input: values at the constraints; output: functions over the
// unknowns.
//
// With a factor by substitution; each pass solves for the residual of the previous one, which also
// corrects the factor's single precision. Otherwise, and with a matching, by conjugate gradients
// (smoothing_iterate.c).
#include "field/smoothing_iterate.h"

#include "base/threads.h"
#include "field/slopes.h"

#include <string.h>

enum { WIDTH = SN_ROW_WIDTH, PASSES = SN_SMOOTHING_PASSES, MAX_WIDTH = SN_ROW_MAX_WIDTH };
// Tolerances of the residual in the preconditioner's norm, pass by pass: angles are then accurate
// to 1e-3 in the worst element.
static const double TOLERANCES[PASSES] = {1e-5, 1e-5, 1e-6}, ROUGH = 1e-3;

// A system to solve, and the working data of its passes.
typedef struct passes {
    sn_smoothing *smoothing;
    const sn_matching *matching; // or NULL
    const sn_constraints *rows;
    const double *values;
    const sn_slope_kernels *kernels;
    sn_slope_job job; // its x is the result, its b the right-hand side; both with ghosts
    sn_iteration iteration;
    double *history; // of sn_smoothing_solve, or NULL
    bool resumed;    // as well
    bool by_factor;  // no iterations
    bool rough;      // one pass, which need not be exact
} passes;

// ---- Right-hand sides ---------------------------------------------------------------------------

// Adds C' values[row][component] to b.
static void add_row_values(passes *work, int32_t r, const double *values) {
    const sn_constraints *rows = work->rows;
    size_t width = work->job.width;
    for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
        double *target = work->job.b + (size_t)rows->unknowns[k] * width;
        for (size_t c = 0; c < width; c++) {
            target[c] += rows->weights[k] * values[c];
        }
    }
}

// b = C'c
static void compute_right_side(passes *work) {
    size_t width = work->job.width;
    memset(work->job.b, 0, (size_t)work->smoothing->n * width * sizeof(double));
    sn_matching_clear(work->matching, work->job.b, width);
    for (int32_t r = 0; r < work->rows->count; r++) {
        add_row_values(work, r, work->values + (size_t)r * width);
    }
}

static void run_slopes(passes *work, sn_range_fn *loop) {
    sn_parallel_for(work->smoothing->context, work->smoothing->n, SN_ROW_CHUNK, loop, &work->job);
}

// target += v . slope of unknown i
static void add_along(const sn_slope_job *job, int32_t i, sn_vec3 v, double *target) {
    for (size_t first = 0; first < job->width; first += WIDTH) {
        const double *g = job->slopes + 3 * (job->width * (size_t)i + first);
        for (size_t c = 0; c < WIDTH; c++) {
            target[first + c] += v.x * g[c] + v.y * g[WIDTH + c] + v.z * g[2 * WIDTH + c];
        }
    }
}

// The slopes of the last solution.
static void compute_slopes(passes *work) {
    size_t width = work->job.width;
    run_slopes(work, work->kernels->sum_edges);
    sn_matching_fill(work->matching, work->job.edges, 3 * width);
    run_slopes(work, work->kernels->compute_slopes);
    sn_matching_fill(work->matching, work->job.slopes, 3 * width);
}

// b = C'(c + u.g) + L'(v.g) with L' = -G D^-1: the effect of the last solution's slopes on the
// drifts.
static void compute_corrected_side(passes *work) {
    const sn_constraints *rows = work->rows;
    compute_slopes(work);
    compute_right_side(work);

    // Each row of C sees its value at its own point, not at the mean position of its unknowns.
    for (int32_t r = 0; r < rows->count; r++) {
        double extra[MAX_WIDTH] = {0};
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            int32_t i = rows->unknowns[k];
            add_along(&work->job, i,
                      sn_scale(rows->weights[k], sn_sub(work->job.positions[i], rows->points[r])),
                      extra);
        }

        add_row_values(work, r, extra);
    }

    // L'(v.g)
    sn_matching_fold(work->matching, work->job.b, work->job.width);
    run_slopes(work, work->kernels->weigh_drifts);
    sn_matching_fill(work->matching, work->job.drift, work->job.width);
    run_slopes(work, work->kernels->add_drifts);
}

// ---- Solving ------------------------------------------------------------------------------------

// x = A^-1 b by the factor, where x is a known approximation (unless `from_zero`); b is
// overwritten.
static void solve_by_factor(passes *work, bool from_zero, double *x) {
    size_t count = (size_t)work->smoothing->n * work->job.width;
    if (from_zero) {
        memset(x, 0, count * sizeof(double));
    }
    if (!from_zero) {
        run_slopes(work, work->kernels->subtract);
    }

    sn_factor_solve(work->smoothing->factor, work->job.b, (int32_t)work->job.width);
    for (size_t i = 0; i < count; i++) {
        x[i] += work->job.b[i];
    }
}

// x = A^-1 b by iterations. Later right-hand sides resemble the first, which sets the scale for
// all.
static void solve_by_iterations(passes *work, int pass, double *x, sn_solve_report *report) {
    size_t count = (size_t)work->smoothing->n * work->job.width;
    double *before = work->history != NULL ? work->history + count * (size_t)pass : NULL;
    sn_solve_report part = {0};

    // Start from the result of an earlier solve, if there is one.
    work->iteration.tolerance = work->rough ? ROUGH : TOLERANCES[pass];
    if (before != NULL && work->resumed) {
        memcpy(x, before, count * sizeof(double));
    }
    if (pass == 0) {
        sn_iteration_measure(&work->iteration, work->job.b);
    }

    sn_iterate(&work->iteration, work->job.b, &part);
    if (before != NULL) {
        memcpy(before, x, count * sizeof(double));
    }

    report->iterations += part.iterations;
    report->relative_residual = part.relative_residual; // of the last pass
    if (part.outcome != SN_SOLVE_CONVERGED) {
        report->outcome = part.outcome;
    }
}

static sinew_status prepare(passes *work, sn_arena *scratch, double *x) {
    sn_smoothing *smoothing = work->smoothing;
    const sn_matching *matching = work->matching;
    size_t width = work->job.width;
    size_t columns = (size_t)smoothing->n + (size_t)(matching != NULL ? matching->ghost_count : 0);

    // The loops read the system with ghosts if there is a matching.
    work->kernels = SN_ISA_PICK(smoothing->context->isa, sn_slope_get_kernels)();
    work->job.G = matching != NULL ? &matching->G : &smoothing->G;
    work->job.A = &smoothing->A;
    work->job.positions = matching != NULL ? matching->positions : smoothing->positions;
    work->job.drifts = smoothing->drifts;
    work->job.inverse_moments = smoothing->inverse_moments;
    work->job.inverse_degrees = smoothing->inverse_degrees;
    work->job.x = x;
    work->job.b = SN_PUSH(scratch, double, columns *width);

    double *vectors = SN_PUSH(scratch, double, SN_ITERATION_VECTORS *columns *width);
    SN_TRY(sn_arena_status(scratch));
    // The slopes are spent before iterations begin, and the edges once the slopes are known, so
    // they share memory.
    work->job.edges = vectors;
    work->job.slopes = vectors + 3 * columns * width;
    work->job.drift = work->job.edges;

    if (work->by_factor) {
        return SINEW_OK;
    }

    work->iteration = (sn_iteration){.smoothing = smoothing, .matching = matching, .x = x};
    return sn_iteration_prepare(&work->iteration, (int32_t)(width / WIDTH), vectors, scratch);
}

static sinew_status solve(passes *work, sn_arena *scratch, double *x, sn_solve_report *report) {
    SN_TRY(prepare(work, scratch, x));

    // The first pass ignores drifts; each later one corrects for those of the last solution.
    for (int pass = 0; pass < (work->rough ? 1 : PASSES); pass++) {
        if (pass == 0) {
            compute_right_side(work);
            sn_matching_fold(work->matching, work->job.b, work->job.width);
        } else {
            sn_matching_fill(work->matching, x, work->job.width);
            compute_corrected_side(work);
        }

        if (work->by_factor) {
            solve_by_factor(work, pass == 0, x);
        } else {
            solve_by_iterations(work, pass, x, report);
        }
    }

    return SINEW_OK;
}

static sinew_status run_passes(passes *work, double *x, sn_solve_report *report) {
    SN_ASSERT(work->job.width % WIDTH == 0 && work->job.width <= MAX_WIDTH);
    *report = (sn_solve_report){.outcome = SN_SOLVE_CONVERGED, .row = -1};
    sn_arena scratch = sn_arena_create(work->smoothing->context);
    sinew_status status = solve(work, &scratch, x, report);
    sn_arena_destroy(&scratch);
    return status;
}

sinew_status sn_smoothing_solve(sn_smoothing *smoothing, const sn_constraints *rows,
                                const double *values, int32_t components, double *x,
                                double *history, bool resumed, sn_solve_report *report) {
    passes work = {
        .smoothing = smoothing, .rows = rows, .values = values, .by_factor = smoothing->direct};
    work.history = history;
    work.resumed = resumed;
    work.job.width = (size_t)components;
    return run_passes(&work, x, report);
}

sinew_status sn_smoothing_estimate(sn_smoothing *smoothing, const sn_constraints *rows,
                                   const double *values, int32_t components, double *x,
                                   sn_solve_report *report) {
    passes work = {.smoothing = smoothing,
                   .rows = rows,
                   .values = values,
                   .by_factor = smoothing->direct,
                   .rough = true};
    work.job.width = (size_t)components;

    return run_passes(&work, x, report);
}

sinew_status sn_smoothing_solve_matched(sn_smoothing *smoothing, const sn_matching *matching,
                                        const double *values, double *x, sn_solve_report *report) {
    passes work = {
        .smoothing = smoothing, .matching = matching, .rows = &matching->rows, .values = values};
    work.job.width = WIDTH;
    return run_passes(&work, x, report);
}
