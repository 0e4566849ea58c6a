// Multigrid for a graph's Laplacian: the matrix and its ties in, a hierarchy out, V-cycles on four functions at once.
//
// Method: smoothed aggregation (Vanek, Mandel and Brezina 1996) with Jacobi smoothing. Cost: set-up and cycle linear in the
// unknowns; the levels together hold about twice the entries of the first.
#include "field/multilevel.h"

#include "base/threads.h"
#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { WIDTH = SN_MULTILEVEL_WIDTH, SWEEPS = 2 };

// The largest eigenvalue of diag(M)^-1 M is below 2 (Gershgorin), and 4/3 of its inverse damps best.
static const double DAMPING = 2.0 / 3;

// ---- Products -----------------------------------------------------------------------------------

typedef struct product {
    const sn_sparse *A;
    const double *x, *b, *inverse_diagonal;
    double *y;
} product;

// sum_j A_ij x_j
static inline void multiply_row(double sum[WIDTH], const sn_sparse *A, const double *x, int32_t i) {
    for (int c = 0; c < WIDTH; c++) sum[c] = 0;
    for (int32_t k = A->starts[i]; k < A->starts[i + 1]; k++) {
        const double *xj = x + WIDTH * (size_t)A->indices[k];
        double a = A->values[k];
        for (int c = 0; c < WIDTH; c++) sum[c] += a * xj[c];
    }
}

static void multiply_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    product *work = data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) multiply_row(work->y + WIDTH * (size_t)i, work->A, work->x, i);
}

void sn_sparse_multiply4(sinew_context *context, double *y, const sn_sparse *A, const double *x) {
    product work = {.A = A, .x = x, .y = y};
    sn_parallel_for(context, A->rows, SN_MULTILEVEL_CHUNK, multiply_rows, &work);
}

// y = b - A x
static void subtract_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    product *work = data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        double sum[WIDTH];
        multiply_row(sum, work->A, work->x, i);
        for (int c = 0; c < WIDTH; c++)
            work->y[WIDTH * (size_t)i + (size_t)c] = work->b[WIDTH * (size_t)i + (size_t)c] - sum[c];
    }
}

// y += A x
static void add_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    product *work = data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        double sum[WIDTH];
        multiply_row(sum, work->A, work->x, i);
        for (int c = 0; c < WIDTH; c++) work->y[WIDTH * (size_t)i + (size_t)c] += sum[c];
    }
}

// y += damping diag(A)^-1 b
static void relax_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    product *work = data;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        double factor = DAMPING * work->inverse_diagonal[i];
        for (int c = 0; c < WIDTH; c++)
            work->y[WIDTH * (size_t)i + (size_t)c] += factor * work->b[WIDTH * (size_t)i + (size_t)c];
    }
}

// ---- Set-up -------------------------------------------------------------------------------------

static sinew_status push_sparse(sn_arena *arena, int32_t rows, int32_t columns, int64_t entries, sn_sparse *A) {
    if (entries > INT32_MAX) return sn_fail(arena->context, SINEW_OUT_OF_MEMORY, "a field's matrix exceeds the index range");
    *A = (sn_sparse){.rows = rows, .columns = columns};
    A->starts = SN_PUSH(arena, int32_t, (size_t)rows + 1);
    A->indices = SN_PUSH(arena, int32_t, entries);
    A->values = SN_PUSH(arena, double, entries);
    return sn_arena_status(arena);
}

// C = A B row by row (Gustavson 1978), columns in the order of their appearance.
static sinew_status multiply(sn_arena *arena, const sn_sparse *A, const sn_sparse *B, sn_sparse *C) {
    SN_ASSERT(A->columns == B->rows);
    sn_arena scratch = sn_arena_create(arena->context);
    int32_t *place = SN_PUSH(&scratch, int32_t, B->columns);
    sinew_status status = sn_arena_status(&scratch);
    int64_t total = 0;
    for (int pass = 0; pass < 2 && status == SINEW_OK; pass++) {
        if (pass == 1) {
            status = push_sparse(arena, A->rows, B->columns, total, C);
            if (status != SINEW_OK) break;
        }
        total = 0;
        for (int32_t j = 0; j < B->columns; j++) place[j] = -1;
        for (int32_t i = 0; i < A->rows; i++) {
            int32_t begin = (int32_t)total;
            for (int32_t k = A->starts[i]; k < A->starts[i + 1]; k++) {
                int32_t row = A->indices[k];
                for (int32_t l = B->starts[row]; l < B->starts[row + 1]; l++) {
                    int32_t j = B->indices[l];
                    if (place[j] < begin) {
                        place[j] = (int32_t)total++;
                        if (pass == 1) C->indices[place[j]] = j;
                    }
                    if (pass == 1) C->values[place[j]] += A->values[k] * B->values[l];
                }
            }
            if (pass == 1) C->starts[i + 1] = (int32_t)total;
            if (total > INT32_MAX / 2) {
                status = sn_fail(arena->context, SINEW_OUT_OF_MEMORY, "a field's matrix exceeds the index range");
                break;
            }
        }
    }
    sn_arena_destroy(&scratch);
    return status;
}

// Gathers a node that has no gathered neighbour with all its neighbours; the rest joins a neighbour's group. Returns the
// number of groups.
static int32_t aggregate(const sn_sparse *M, int32_t *group) {
    int32_t n = M->rows, count = 0;
    for (int32_t i = 0; i < n; i++) group[i] = -1;
    for (int32_t i = 0; i < n; i++) {
        bool free = group[i] < 0;
        for (int32_t k = M->starts[i]; free && k < M->starts[i + 1]; k++) free = group[M->indices[k]] < 0;
        if (!free) continue;
        group[i] = count;
        for (int32_t k = M->starts[i]; k < M->starts[i + 1]; k++) group[M->indices[k]] = count;
        count++;
    }
    // Who was left out has a neighbour in a group, or it would have been a seed; marked below -1 until all have joined.
    for (int32_t i = 0; i < n; i++) {
        double strongest = -INFINITY;
        if (group[i] >= 0) continue;
        for (int32_t k = M->starts[i]; k < M->starts[i + 1]; k++) {
            int32_t other = group[M->indices[k]];
            if (other >= 0 && -M->values[k] > strongest) {
                strongest = -M->values[k];
                group[i] = -2 - other;
            }
        }
        SN_ASSERT(group[i] < -1);
    }
    for (int32_t i = 0; i < n; i++) {
        if (group[i] < 0) group[i] = -2 - group[i];
    }
    return count;
}

// P = (I - damping diag(M)^-1 M) P0, P0 the membership.
static sinew_status build_prolongation(sn_arena *arena, const sn_level *level, const int32_t *group, int32_t groups,
                                       sn_sparse *P) {
    const sn_sparse *M = &level->M;
    sn_arena scratch = sn_arena_create(arena->context);
    sn_sparse P0, smoother = *M;
    smoother.values = SN_PUSH(&scratch, double, sn_sparse_entry_count(M));
    sinew_status status = push_sparse(&scratch, M->rows, groups, M->rows, &P0);
    if (status == SINEW_OK) status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < M->rows; i++) {
            P0.starts[i + 1] = i + 1;
            P0.indices[i] = group[i];
            P0.values[i] = 1;
            for (int32_t k = M->starts[i]; k < M->starts[i + 1]; k++) {
                smoother.values[k] = (M->indices[k] == i) - DAMPING * level->inverse_diagonal[i] * M->values[k];
            }
        }
        status = multiply(arena, &smoother, &P0, P);
    }
    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status push_vectors(sn_arena *arena, sn_level *level, bool finest) {
    size_t n = (size_t)level->M.rows;
    level->inverse_diagonal = SN_PUSH(arena, double, n);
    level->r = SN_PUSH(arena, double, n *WIDTH);
    level->x = SN_PUSH(arena, double, finest ? 0 : n *WIDTH);
    level->b = SN_PUSH(arena, double, finest ? 0 : n *WIDTH);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < level->M.rows; i++) {
        for (int32_t k = level->M.starts[i]; k < level->M.starts[i + 1]; k++) {
            if (level->M.indices[k] == i) level->inverse_diagonal[i] = level->M.values[k] > 0 ? 1 / level->M.values[k] : 0;
        }
    }
    return SINEW_OK;
}

// Makes the next coarser level, or tells that this one is the coarsest.
static sinew_status coarsen(sn_arena *arena, sn_level *level, sn_level *next, bool *done) {
    int32_t n = level->M.rows;
    *done = n <= SN_MULTILEVEL_DENSE;
    if (*done) return SINEW_OK;
    sn_arena scratch = sn_arena_create(arena->context);
    int32_t *group = SN_PUSH(&scratch, int32_t, n);
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        int32_t groups = aggregate(&level->M, group);
        *done = groups > n - n / 5;
        sn_sparse MP;
        if (!*done) {
            status = build_prolongation(arena, level, group, groups, &level->P);
            if (status == SINEW_OK) status = sn_sparse_transpose(arena, &level->P, &level->R);
            if (status == SINEW_OK) status = multiply(&scratch, &level->M, &level->P, &MP);
            if (status == SINEW_OK) status = multiply(arena, &level->R, &MP, &next->M);
            if (status == SINEW_OK) status = push_vectors(arena, next, false);
        }
    }
    sn_arena_destroy(&scratch);
    return status;
}

// The coarsest matrix is factored if it is small. It may be singular only through rounding: then iterations serve.
static sinew_status factor_coarsest(sn_arena *arena, sn_multilevel *multilevel) {
    const sn_sparse *M = &multilevel->levels[multilevel->level_count - 1].M;
    multilevel->dense = NULL;
    if (M->rows > SN_MULTILEVEL_DENSE) return SINEW_OK;
    size_t n = (size_t)M->rows;
    double *L = SN_PUSH(arena, double, n *n);
    SN_TRY(sn_arena_status(arena));
    for (size_t i = 0; i < n; i++) {
        for (int32_t k = M->starts[i]; k < M->starts[i + 1]; k++) L[i * n + (size_t)M->indices[k]] = M->values[k];
    }
    if (sn_dense_cholesky(L, M->rows, M->rows) < 0) multilevel->dense = L;
    return SINEW_OK;
}

sinew_status sn_multilevel_build(sn_arena *arena, const sn_sparse *G, const double *S, sn_multilevel *multilevel) {
    *multilevel = (sn_multilevel){.context = arena->context, .level_count = 1};
    sn_level *finest = &multilevel->levels[0];
    finest->M = *G;
    finest->M.values = SN_PUSH(arena, double, sn_sparse_entry_count(G));
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < G->rows; i++) {
        for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
            finest->M.values[k] = G->values[k] + (G->indices[k] == i ? S[i] : 0);
        }
    }
    SN_TRY(push_vectors(arena, finest, true));
    bool done = false;
    while (!done && multilevel->level_count < SN_MULTILEVEL_MOST) {
        int32_t count = multilevel->level_count;
        SN_TRY(coarsen(arena, &multilevel->levels[count - 1], &multilevel->levels[count], &done));
        if (!done) multilevel->level_count++;
    }
    return factor_coarsest(arena, multilevel);
}

// ---- The cycle ----------------------------------------------------------------------------------

// `sweeps` of x += damping diag(M)^-1 (b - M x); the first needs no product if x is still 0.
static void relax(sinew_context *context, sn_level *level, double *x, const double *b, int32_t sweeps, bool from_zero) {
    int32_t n = level->M.rows;
    if (from_zero) memset(x, 0, (size_t)n * WIDTH * sizeof(double));
    for (int32_t sweep = 0; sweep < sweeps; sweep++) {
        bool first = from_zero && sweep == 0;
        product residual = {.A = &level->M, .x = x, .b = b, .y = level->r};
        if (!first) sn_parallel_for(context, n, SN_MULTILEVEL_CHUNK, subtract_rows, &residual);
        product update = {.b = first ? b : level->r, .inverse_diagonal = level->inverse_diagonal, .y = x};
        sn_parallel_for(context, n, SN_MULTILEVEL_CHUNK, relax_rows, &update);
    }
}

static void solve_coarsest(const sn_multilevel *multilevel, sn_level *level, double *x, const double *b) {
    int32_t n = level->M.rows;
    if (multilevel->dense == NULL) {
        relax(multilevel->context, level, x, b, 20, true);
        return;
    }
    double column[SN_MULTILEVEL_DENSE];
    for (size_t c = 0; c < WIDTH; c++) {
        for (int32_t i = 0; i < n; i++) column[i] = b[WIDTH * (size_t)i + c];
        sn_dense_cholesky_solve(multilevel->dense, n, n, column);
        for (int32_t i = 0; i < n; i++) x[WIDTH * (size_t)i + c] = column[i];
    }
}

void sn_multilevel_cycle(sn_multilevel *multilevel, double *x, const double *b) {
    sinew_context *context = multilevel->context;
    int32_t last = multilevel->level_count - 1;
    const double *b_here = b;
    for (int32_t l = 0; l < last; l++) {
        sn_level *level = &multilevel->levels[l], *next = level + 1;
        double *x_here = l == 0 ? x : level->x;
        relax(context, level, x_here, b_here, SWEEPS, true);
        product residual = {.A = &level->M, .x = x_here, .b = b_here, .y = level->r};
        sn_parallel_for(context, level->M.rows, SN_MULTILEVEL_CHUNK, subtract_rows, &residual);
        sn_sparse_multiply4(context, next->b, &level->R, level->r);
        b_here = next->b;
    }
    solve_coarsest(multilevel, &multilevel->levels[last], last == 0 ? x : multilevel->levels[last].x, b_here);
    for (int32_t l = last - 1; l >= 0; l--) {
        sn_level *level = &multilevel->levels[l];
        double *x_here = l == 0 ? x : level->x;
        product correction = {.A = &level->P, .x = level[1].x, .y = x_here};
        sn_parallel_for(context, level->M.rows, SN_MULTILEVEL_CHUNK, add_rows, &correction);
        relax(context, level, x_here, l == 0 ? b : level->b, SWEEPS, false);
    }
}
