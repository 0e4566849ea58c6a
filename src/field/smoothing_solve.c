// Solving the smoothing system: values at the constraints in, functions over the unknowns out.
//
// With a factor by substitution; otherwise by conjugate gradients on four functions side by side, which share every load of
// the matrix. Preconditioner: (G + S)^-1 D^2 (G + S)^-1, each inverse a multigrid V-cycle. A costs two products with G.
#include "field/smoothing.h"

#include "base/threads.h"

#include <string.h>

enum { WIDTH = SN_SMOOTHING_WIDTH, MOST_ITERATIONS = 400, CORRECTIONS = 2 };
// Of the residual in the preconditioner's norm, pass by pass; the first ones only serve slopes. Angles are then right to 1e-3,
// in large systems, where iterations are dear and neighbours differ little, to 1e-2 at the worst place.
static const double TOLERANCES[2][CORRECTIONS + 1] = {{1e-6, 1e-6, 1e-6}, {1e-3, 1e-4, 5e-6}};
enum { LARGE = 200000 };

// What the iterations need: vectors of n x WIDTH.
typedef struct iteration {
    sn_smoothing *smoothing;
    const sn_constraints *rows;
    double *x, *r, *z, *p, *q, *t;
    double *sums; // of each chunk, WIDTH each
    double alpha[WIDTH], beta[WIDTH];
    double tolerance;
} iteration;

// y[i] *= factors[i]^2 for all four.
typedef struct scaling {
    double *y;
    const double *factors;
    bool inverse; // divide instead; where the factor is 0 the value stays
} scaling;

static void scale_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    scaling *work = data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        double f = work->factors[i];
        double square = !work->inverse ? f * f : f > 0 ? 1 / (f * f) : 1;
        for (size_t c = 0; c < WIDTH; c++) work->y[WIDTH * (size_t)i + c] *= square;
    }
}

// y = (G D^-2 G + C'C) x; t is scratch.
static void apply(sn_smoothing *smoothing, const sn_constraints *rows, double *y, const double *x, double *t) {
    sn_sparse_multiply4(smoothing->context, t, &smoothing->G, x);
    scaling work = {.y = t, .factors = smoothing->inverse_degrees};
    sn_parallel_for(smoothing->context, smoothing->n, SN_MULTILEVEL_CHUNK, scale_rows, &work);
    sn_sparse_multiply4(smoothing->context, y, &smoothing->G, t);
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

static void precondition(sn_smoothing *smoothing, double *z, const double *r, double *t) {
    sn_multilevel_cycle(&smoothing->multilevel, t, r);
    scaling work = {.y = t, .factors = smoothing->inverse_degrees, .inverse = true};
    sn_parallel_for(smoothing->context, smoothing->n, SN_MULTILEVEL_CHUNK, scale_rows, &work);
    sn_multilevel_cycle(&smoothing->multilevel, z, t);
}

typedef struct dots {
    const double *a, *b;
    double *sums;
} dots;

static void dot_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    dots *work = data;
    double sum[WIDTH] = {0};
    for (size_t i = (size_t)begin; i < (size_t)end; i++) {
        for (size_t c = 0; c < WIDTH; c++) sum[c] += work->a[WIDTH * i + c] * work->b[WIDTH * i + c];
    }
    memcpy(work->sums + WIDTH * (size_t)chunk, sum, sizeof sum);
}

static void dot(const iteration *it, const double *a, const double *b, double result[WIDTH]) {
    dots work = {a, b, it->sums};
    int32_t n = it->smoothing->n, chunks = sn_chunk_count(n, SN_MULTILEVEL_CHUNK);
    sn_parallel_for(it->smoothing->context, n, SN_MULTILEVEL_CHUNK, dot_rows, &work);
    for (int c = 0; c < WIDTH; c++) result[c] = 0;
    for (int32_t k = 0; k < chunks; k++) {
        for (int c = 0; c < WIDTH; c++) result[c] += it->sums[WIDTH * (size_t)k + (size_t)c];
    }
}

// x += alpha p, r -= alpha q
static void advance_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    iteration *it = data;
    (void)chunk;
    for (size_t i = (size_t)begin; i < (size_t)end; i++) {
        for (size_t c = 0; c < WIDTH; c++) {
            it->x[WIDTH * i + c] += it->alpha[c] * it->p[WIDTH * i + c];
            it->r[WIDTH * i + c] -= it->alpha[c] * it->q[WIDTH * i + c];
        }
    }
}

// p = z + beta p
static void turn_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    iteration *it = data;
    (void)chunk;
    for (size_t i = (size_t)begin; i < (size_t)end; i++) {
        for (size_t c = 0; c < WIDTH; c++) it->p[WIDTH * i + c] = it->z[WIDTH * i + c] + it->beta[c] * it->p[WIDTH * i + c];
    }
}

// Four independent conjugate gradients in step; one that has converged stands still. `start` is the norm that the right-hand
// side itself would have.
static void iterate(iteration *it, const double start[WIDTH], sn_solve_report *report) {
    sn_smoothing *smoothing = it->smoothing;
    int32_t n = smoothing->n;
    double rz[WIDTH], pq[WIDTH], next[WIDTH];
    precondition(smoothing, it->z, it->r, it->t);
    dot(it, it->r, it->z, rz);
    memcpy(it->p, it->z, (size_t)n * WIDTH * sizeof(double));
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
        apply(smoothing, it->rows, it->q, it->p, it->t);
        dot(it, it->p, it->q, pq);
        for (int c = 0; c < WIDTH; c++) it->alpha[c] = running[c] && pq[c] > 0 ? rz[c] / pq[c] : 0;
        sn_parallel_for(smoothing->context, n, SN_MULTILEVEL_CHUNK, advance_rows, it);
        precondition(smoothing, it->z, it->r, it->t);
        dot(it, it->r, it->z, next);
        for (int c = 0; c < WIDTH; c++) {
            it->beta[c] = running[c] && rz[c] > 0 ? next[c] / rz[c] : 0;
            if (running[c]) rz[c] = next[c];
        }
        sn_parallel_for(smoothing->context, n, SN_MULTILEVEL_CHUNK, turn_rows, it);
    }
    report->outcome = report->relative_residual <= it->tolerance ? SN_SOLVE_CONVERGED : SN_SOLVE_NOT_CONVERGED;
}

static void solve_group(iteration *it, const double *b, sn_solve_report *report) {
    size_t count = (size_t)it->smoothing->n * WIDTH;
    double start[WIDTH];
    precondition(it->smoothing, it->z, b, it->t);
    dot(it, b, it->z, start);
    apply(it->smoothing, it->rows, it->r, it->x, it->t);
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
    size_t width;
    const double *x;
    double *edges;  // sum over the edges of an unknown of W d (x_j - x_i): [unknown][group of WIDTH][3][WIDTH]
    double *slopes; // the same way
    double *b;
} correction;

// WIDTH functions from `first` on.
static void sum_edges_of(const correction *work, int32_t i, size_t first) {
    const sn_sparse *G = &work->smoothing->G;
    const sn_vec3 *positions = work->smoothing->positions;
    const double *x = work->x + first, *xi = x + work->width * (size_t)i;
    double sum[3][WIDTH] = {0}, *out = work->edges + 3 * (work->width * (size_t)i + first);
    for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
        sn_vec3 d = sn_scale(-G->values[k], sn_sub(positions[G->indices[k]], positions[i]));
        const double *xj = x + work->width * (size_t)G->indices[k];
        for (size_t c = 0; c < WIDTH; c++) {
            double change = xj[c] - xi[c];
            sum[0][c] += d.x * change;
            sum[1][c] += d.y * change;
            sum[2][c] += d.z * change;
        }
    }
    memcpy(out, sum, sizeof sum);
}

static void sum_edges(void *data, int32_t begin, int32_t end, int32_t chunk) {
    correction *work = data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        for (size_t first = 0; first < work->width; first += WIDTH) sum_edges_of(work, i, first);
    }
}

static void compute_slopes_of(const correction *work, int32_t i, size_t first) {
    const sn_sparse *G = &work->smoothing->G;
    const sn_mat3 *inverse = &work->smoothing->inverse_moments[i];
    double sum[3 * WIDTH] = {0}, *slope = work->slopes + 3 * (work->width * (size_t)i + first);
    for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
        const double *edges = work->edges + 3 * (work->width * (size_t)G->indices[k] + first);
        for (size_t c = 0; c < 3 * WIDTH; c++) sum[c] += edges[c];
    }
    for (size_t a = 0; a < 3; a++) {
        for (size_t c = 0; c < WIDTH; c++) {
            slope[WIDTH * a + c] =
                inverse->m[a][0] * sum[c] + inverse->m[a][1] * sum[WIDTH + c] + inverse->m[a][2] * sum[2 * WIDTH + c];
        }
    }
}

static void compute_slopes(void *data, int32_t begin, int32_t end, int32_t chunk) {
    correction *work = data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        for (size_t first = 0; first < work->width; first += WIDTH) compute_slopes_of(work, i, first);
    }
}

// target += v . slope of unknown i
static void add_along(const correction *work, int32_t i, sn_vec3 v, double *target) {
    for (size_t first = 0; first < work->width; first += WIDTH) {
        const double *g = work->slopes + 3 * (work->width * (size_t)i + first);
        for (size_t c = 0; c < WIDTH; c++) target[first + c] += v.x * g[c] + v.y * g[WIDTH + c] + v.z * g[2 * WIDTH + c];
    }
}

// b += G drift, the drifts being in `edges`.
static void add_drifts(void *data, int32_t begin, int32_t end, int32_t chunk) {
    correction *work = data;
    const sn_sparse *G = &work->smoothing->G;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        for (size_t first = 0; first < work->width; first += WIDTH) {
            double sum[WIDTH] = {0}, *target = work->b + work->width * (size_t)i + first;
            for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
                const double *from = work->edges + work->width * (size_t)G->indices[k] + first;
                for (size_t c = 0; c < WIDTH; c++) sum[c] += G->values[k] * from[c];
            }
            for (size_t c = 0; c < WIDTH; c++) target[c] += sum[c];
        }
    }
}

// b = C'(c + u.g) + L'(v.g), with L' = -G D^-1; `edges` serve as scratch for v.g.
static void compute_corrected_side(double *b, correction *work, const sn_constraints *rows, const double *values) {
    const sn_smoothing *smoothing = work->smoothing;
    size_t width = work->width;
    sn_parallel_for(smoothing->context, smoothing->n, SN_MULTILEVEL_CHUNK, sum_edges, work);
    sn_parallel_for(smoothing->context, smoothing->n, SN_MULTILEVEL_CHUNK, compute_slopes, work);
    compute_right_side(b, smoothing, rows, values, width);
    for (int32_t r = 0; r < rows->count; r++) {
        double extra[2 * WIDTH] = {0};
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            int32_t i = rows->unknowns[k];
            add_along(work, i, sn_scale(rows->weights[k], sn_sub(smoothing->positions[i], rows->points[r])), extra);
        }
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            double *target = b + (size_t)rows->unknowns[k] * width;
            for (size_t c = 0; c < width; c++) target[c] += rows->weights[k] * extra[c];
        }
    }
    memset(work->edges, 0, (size_t)smoothing->n * width * sizeof(double));
    for (int32_t i = 0; i < smoothing->n; i++) {
        add_along(work, i, sn_scale(-smoothing->inverse_degrees[i], smoothing->drifts[i]), work->edges + width * (size_t)i);
    }
    work->b = b;
    sn_parallel_for(smoothing->context, smoothing->n, SN_MULTILEVEL_CHUNK, add_drifts, work);
}

// ---- Solving ------------------------------------------------------------------------------------

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

static sinew_status solve(sn_smoothing *smoothing, sn_arena *scratch, const sn_constraints *rows, const double *values,
                          size_t width, double *x, sn_solve_report *report) {
    size_t n = (size_t)smoothing->n, count = smoothing->direct ? 0 : n * WIDTH;
    iteration it = {.smoothing = smoothing, .rows = rows};
    double **vectors[6] = {&it.x, &it.r, &it.z, &it.p, &it.q, &it.t};
    for (int k = 0; k < 6; k++) *vectors[k] = SN_PUSH(scratch, double, count);
    it.sums = SN_PUSH(scratch, double, WIDTH *(size_t)sn_chunk_count(smoothing->n, SN_MULTILEVEL_CHUNK));
    double *group = SN_PUSH(scratch, double, count), *b = SN_PUSH(scratch, double, n *width);
    correction work = {.smoothing = smoothing, .width = width, .x = x};
    work.edges = SN_PUSH(scratch, double, 3 * n * width);
    work.slopes = SN_PUSH(scratch, double, 3 * n * width);
    SN_TRY(sn_arena_status(scratch));
    for (int pass = 0; pass <= CORRECTIONS; pass++) {
        if (pass == 0) {
            compute_right_side(b, smoothing, rows, values, width);
        } else {
            compute_corrected_side(b, &work, rows, values);
        }
        if (smoothing->direct) {
            memcpy(x, b, n * width * sizeof(double));
            sn_factor_solve(smoothing->factor, x, (int32_t)width);
        } else {
            it.tolerance = TOLERANCES[smoothing->n > LARGE][pass];
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
