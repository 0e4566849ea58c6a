// Multigrid for the Laplacian of a graph. Input: the matrix and its ties; output: a hierarchy, and
// V-cycles for several functions at once.
//
// Method: smoothed aggregation (Vanek, Mandel and Brezina 1996) with two weighted Jacobi sweeps.
// Cost: set-up and cycle are linear in the unknowns; all levels together hold about twice the
// entries of the first.
#include "field/multilevel.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { WIDTH = SN_ROW_WIDTH };

// The largest eigenvalue of diag(M)^-1 M is below 2 (Gershgorin); 4/3 of its inverse damps best.
static const double DAMPING = 2.0 / 3;

// Weights of the two sweeps: the inverse roots of the Chebyshev polynomial over the eigenvalues
// from 1/2 to 2, which the next level does not resolve: 1.25 +- 0.75 sqrt(1/2).
static const float SWEEPS[2] = {0.5616F, 1.3896F};

// ---- Set-up -------------------------------------------------------------------------------------

static sinew_status push_sparse(sn_arena *arena, int32_t rows, int32_t columns, int64_t entries,
                                sn_sparse *A) {
    if (entries > INT32_MAX) {
        return sn_fail(arena->context, SINEW_OUT_OF_MEMORY,
                       "a field's matrix exceeds the index range");
    }

    *A = (sn_sparse){.rows = rows, .columns = columns};
    A->starts = SN_PUSH(arena, int32_t, (size_t)rows + 1);
    A->indices = SN_PUSH(arena, int32_t, entries);
    A->values = SN_PUSH(arena, double, entries);

    return sn_arena_status(arena);
}

// C = A B row by row (Gustavson 1978), columns in the order of their appearance.
static sinew_status multiply(sn_arena *arena, const sn_sparse *A, const sn_sparse *B,
                             sn_sparse *C) {
    SN_ASSERT(A->columns == B->rows);
    sn_arena scratch = sn_arena_create(arena->context);
    int32_t *entry_of = SN_PUSH(&scratch, int32_t, B->columns);
    sinew_status status = sn_arena_status(&scratch);
    int64_t total = 0;

    // Pass 0 counts the entries, pass 1 computes them.
    for (int pass = 0; pass < 2 && status == SINEW_OK; pass++) {
        if (pass == 1) {
            status = push_sparse(arena, A->rows, B->columns, total, C);
            if (status != SINEW_OK) {
                break;
            }
        }

        total = 0;
        for (int32_t j = 0; j < B->columns; j++) {
            entry_of[j] = -1;
        }

        // Entries before `begin` belong to earlier rows, so `entry_of` needs no reset between rows.
        for (int32_t i = 0; i < A->rows; i++) {
            int32_t begin = (int32_t)total;
            for (int32_t k = A->starts[i]; k < A->starts[i + 1]; k++) {
                int32_t row = A->indices[k];
                for (int32_t l = B->starts[row]; l < B->starts[row + 1]; l++) {
                    int32_t j = B->indices[l];
                    if (entry_of[j] < begin) {
                        entry_of[j] = (int32_t)total++;
                        if (pass == 1) {
                            C->indices[entry_of[j]] = j;
                        }
                    }

                    if (pass == 1) {
                        C->values[entry_of[j]] += A->values[k] * B->values[l];
                    }
                }
            }

            if (pass == 1) {
                C->starts[i + 1] = (int32_t)total;
            }

            if (total > INT32_MAX / 2) {
                status = sn_fail(arena->context, SINEW_OUT_OF_MEMORY,
                                 "a field's matrix exceeds the index range");
                break;
            }
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

// Groups each node that has no grouped neighbour with all its neighbours; the rest join a
// neighbour's group. Returns the number of groups.
static int32_t aggregate(const sn_sparse *M, int32_t *group) {
    int32_t n = M->rows;
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        group[i] = -1;
    }

    // Seeds: nodes without a grouped neighbour, with all their neighbours.
    for (int32_t i = 0; i < n; i++) {
        bool free = group[i] < 0;
        for (int32_t k = M->starts[i]; free && k < M->starts[i + 1]; k++) {
            free = group[M->indices[k]] < 0;
        }

        if (!free) {
            continue;
        }

        group[i] = count;
        for (int32_t k = M->starts[i]; k < M->starts[i + 1]; k++) {
            group[M->indices[k]] = count;
        }

        count++;
    }

    // A remaining node has a neighbour in a group, or it would have become a seed. It is marked
    // below -1 until all have joined.
    for (int32_t i = 0; i < n; i++) {
        double strongest = -INFINITY;
        if (group[i] >= 0) {
            continue;
        }

        for (int32_t k = M->starts[i]; k < M->starts[i + 1]; k++) {
            int32_t other = group[M->indices[k]];
            if (other >= 0 && -M->values[k] > strongest) {
                strongest = -M->values[k];
                group[i] = -2 - other;
            }
        }

        SN_ASSERT(group[i] < -1);
    }

    // Remove the marks.
    for (int32_t i = 0; i < n; i++) {
        if (group[i] < 0) {
            group[i] = -2 - group[i];
        }
    }

    return count;
}

static double inverse_diagonal(const sn_sparse *M, int32_t i) {
    double diagonal = 0;
    for (int32_t k = M->starts[i]; k < M->starts[i + 1]; k++) {
        if (M->indices[k] == i) {
            diagonal = M->values[k];
        }
    }

    return diagonal > 0 ? 1 / diagonal : 0;
}

// P = (I - damping diag(M)^-1 M) P0 with P0 the membership.
static sinew_status build_prolongation(sn_arena *arena, const sn_sparse *M, const int32_t *group,
                                       int32_t groups, sn_sparse *P) {
    sn_arena scratch = sn_arena_create(arena->context);
    sn_sparse P0;
    sn_sparse smoother = *M;

    smoother.values = SN_PUSH(&scratch, double, sn_sparse_entry_count(M));
    sinew_status status = push_sparse(&scratch, M->rows, groups, M->rows, &P0);
    if (status == SINEW_OK) {
        status = sn_arena_status(&scratch);
    }

    // P0 has one entry per row; the smoother is I - damping diag(M)^-1 M.
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < M->rows; i++) {
            double scale = DAMPING * inverse_diagonal(M, i);
            P0.starts[i + 1] = i + 1;
            P0.indices[i] = group[i];
            P0.values[i] = 1;

            for (int32_t k = M->starts[i]; k < M->starts[i + 1]; k++) {
                smoother.values[k] = (M->indices[k] == i) - scale * M->values[k];
            }
        }

        status = multiply(arena, &smoother, &P0, P);
    }

    sn_arena_destroy(&scratch);
    return status;
}

// A in single precision. The pattern is copied unless it outlives the arena.
static sinew_status push_narrow(sn_arena *arena, const sn_sparse *A, bool copied,
                                sn_narrow *narrow) {
    size_t entries = (size_t)sn_sparse_entry_count(A);
    size_t rows = (size_t)A->rows;
    int32_t *starts = SN_PUSH(arena, int32_t, copied ? rows + 1 : 0);
    int32_t *indices = SN_PUSH(arena, int32_t, copied ? entries : 0);

    *narrow =
        (sn_narrow){A->rows, A->columns, A->starts, A->indices, SN_PUSH(arena, float, entries)};
    SN_TRY(sn_arena_status(arena));

    // Copy the values, and the pattern if it would not live long enough.
    for (size_t k = 0; k < entries; k++) {
        narrow->values[k] = (float)A->values[k];
    }

    if (!copied) {
        return SINEW_OK;
    }

    memcpy(starts, A->starts, (rows + 1) * sizeof(int32_t));
    memcpy(indices, A->indices, entries * sizeof(int32_t));
    narrow->starts = starts;
    narrow->indices = indices;

    return SINEW_OK;
}

static sinew_status push_level(sn_arena *arena, const sn_sparse *M, bool finest, sn_level *level) {
    size_t n = (size_t)M->rows;
    SN_TRY(push_narrow(arena, M, !finest, &level->M));
    level->inverse_diagonal = SN_PUSH(arena, float, n);
    SN_TRY(sn_arena_status(arena));

    for (int32_t i = 0; i < M->rows; i++) {
        level->inverse_diagonal[i] = (float)inverse_diagonal(M, i);
    }

    return SINEW_OK;
}

// Computes the matrix of the next coarser level in double precision, in the arena `kept`, or finds
// that this level is the coarsest.
static sinew_status coarsen(sn_arena *arena, sn_arena *kept, const sn_sparse *M, sn_level *level,
                            sn_sparse *next, bool *done) {
    int32_t n = M->rows;
    *done = n <= SN_MULTILEVEL_DENSE;
    if (*done) {
        return SINEW_OK;
    }

    sn_arena scratch = sn_arena_create(arena->context);
    int32_t *group = SN_PUSH(&scratch, int32_t, n);
    sinew_status status = sn_arena_status(&scratch);

    // Stop if grouping no longer reduces the size by a fifth.
    if (status == SINEW_OK) {
        int32_t groups = aggregate(M, group);
        *done = groups > n - n / 5;

        // Galerkin product R M P.
        sn_sparse P, R, MP;
        if (!*done) {
            status = build_prolongation(&scratch, M, group, groups, &P);
            if (status == SINEW_OK) {
                status = sn_sparse_transpose(&scratch, &P, &R);
            }
            if (status == SINEW_OK) {
                status = multiply(&scratch, M, &P, &MP);
            }
            if (status == SINEW_OK) {
                status = multiply(kept, &R, &MP, next);
            }
            if (status == SINEW_OK) {
                status = push_narrow(arena, &P, true, &level->P);
            }
            if (status == SINEW_OK) {
                status = push_narrow(arena, &R, true, &level->R);
            }
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

// Factors the coarsest matrix if it is small. If rounding makes it singular, Jacobi sweeps are used
// instead.
static sinew_status factor_coarsest(sn_arena *arena, const sn_sparse *M,
                                    sn_multilevel *multilevel) {
    if (M->rows > SN_MULTILEVEL_DENSE) {
        return SINEW_OK;
    }

    size_t n = (size_t)M->rows;
    double *L = SN_PUSH(arena, double, n *n);

    SN_TRY(sn_arena_status(arena));

    // Scatter the sparse matrix into a dense one.
    for (size_t i = 0; i < n; i++) {
        for (int32_t k = M->starts[i]; k < M->starts[i + 1]; k++) {
            L[i * n + (size_t)M->indices[k]] = M->values[k];
        }
    }

    if (sn_dense_cholesky(L, M->rows, M->rows) < 0) {
        multilevel->dense = L;
    }

    return SINEW_OK;
}

// M = G + diag(S), and D^2.
static sinew_status build_finest(sn_arena *arena, sn_arena *kept, const sn_sparse *G,
                                 const double *S, sn_sparse *M, float **squares) {
    *M = *G;
    M->values = SN_PUSH(kept, double, sn_sparse_entry_count(G));
    *squares = SN_PUSH(arena, float, G->rows);
    SN_TRY(sn_arena_status(kept));
    SN_TRY(sn_arena_status(arena));

    for (int32_t i = 0; i < G->rows; i++) {
        (*squares)[i] = 1;
        for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
            bool diagonal = G->indices[k] == i;
            double D = G->values[k];
            if (diagonal && D > 0) {
                (*squares)[i] = (float)(D * D);
            }
            M->values[k] = D + (diagonal ? S[i] : 0);
        }
    }

    return SINEW_OK;
}

static sinew_status build_levels(sn_arena *arena, sn_arena *kept, const sn_sparse *G,
                                 const double *S, sn_multilevel *multilevel) {
    sn_sparse M, next;
    SN_TRY(build_finest(arena, kept, G, S, &M, &multilevel->squares));
    for (bool done = false; !done;) {
        sn_level *level = &multilevel->levels[multilevel->level_count++];
        SN_TRY(push_level(arena, &M, multilevel->level_count == 1, level));
        if (multilevel->level_count == SN_MULTILEVEL_MOST) {
            break;
        }

        SN_TRY(coarsen(arena, kept, &M, level, &next, &done));
        if (!done) {
            M = next;
        }
    }

    return factor_coarsest(arena, &M, multilevel);
}

sinew_status sn_multilevel_build(sn_arena *arena, const sn_sparse *G, const double *S,
                                 sn_multilevel *multilevel) {
    *multilevel = (sn_multilevel){.context = arena->context};
    multilevel->kernels = SN_ISA_PICK(arena->context->isa, sn_narrow_get_kernels)();
    sn_arena kept = sn_arena_create(arena->context); // matrices in double precision
    sinew_status status = build_levels(arena, &kept, G, S, multilevel);
    sn_arena_destroy(&kept);
    return status;
}

// ---- The cycle ----------------------------------------------------------------------------------

sinew_status sn_cycle_create(sn_arena *arena, const sn_multilevel *multilevel, int32_t quads,
                             sn_cycle *cycle) {
    SN_ASSERT(quads >= 1 && quads <= SN_ROW_MAX_QUADS);
    *cycle = (sn_cycle){.quads = quads};
    for (int32_t l = 0; l < multilevel->level_count; l++) {
        size_t count = (size_t)multilevel->levels[l].M.rows * (size_t)(WIDTH * quads);
        cycle->levels[l] = (sn_level_vectors){.x = SN_PUSH(arena, float, count),
                                              .b = SN_PUSH(arena, float, count),
                                              .r = SN_PUSH(arena, float, count)};
    }

    return sn_arena_status(arena);
}

// The arguments of the functions of a cycle.
typedef struct cycling {
    const sn_multilevel *multilevel;
    const sn_narrow_kernels *kernels;
    sn_cycle *cycle;
} cycling;

static void run(const cycling *work, sn_range_fn *loop, int32_t rows, sn_narrow_job job) {
    job.quads = work->cycle->quads;
    sn_parallel_for(work->multilevel->context, rows, SN_ROW_CHUNK, loop, &job);
}

// Two sweeps of x += weight diag(M)^-1 (b - M x), using r; starting from 0 the first needs no
// product.
static void relax(const cycling *work, int32_t l, bool from_zero) {
    const sn_level *level = &work->multilevel->levels[l];
    const sn_level_vectors *v = &work->cycle->levels[l];
    sn_narrow_job sweep = {
        .A = &level->M, .x = v->x, .b = v->b, .factors = level->inverse_diagonal, .y = v->r};
    sweep.scale = SWEEPS[0];
    run(work, from_zero ? work->kernels->weigh : work->kernels->relax, level->M.rows, sweep);
    sweep.scale = SWEEPS[1];
    sweep.x = v->r;
    sweep.y = v->x;
    run(work, work->kernels->relax, level->M.rows, sweep);
}

static void solve_coarsest(const cycling *work) {
    int32_t last = work->multilevel->level_count - 1;
    int32_t n = work->multilevel->levels[last].M.rows;
    if (work->multilevel->dense == NULL) {
        for (int k = 0; k < 10; k++) {
            relax(work, last, k == 0);
        }
        return;
    }

    const sn_level_vectors *v = &work->cycle->levels[last];
    size_t width = (size_t)(WIDTH * work->cycle->quads);
    double column[SN_MULTILEVEL_DENSE];

    // Solve column by column with the dense factor.
    for (size_t c = 0; c < width; c++) {
        for (int32_t i = 0; i < n; i++) {
            column[i] = (double)v->b[width * (size_t)i + c];
        }

        sn_dense_cholesky_solve(work->multilevel->dense, n, n, column);
        for (int32_t i = 0; i < n; i++) {
            v->x[width * (size_t)i + c] = (float)column[i];
        }
    }
}

// x is approximately M^-1 b on the finest level.
static void run_cycle(const cycling *work) {
    int32_t last = work->multilevel->level_count - 1;

    // Downwards: smooth, and restrict the residual.
    for (int32_t l = 0; l < last; l++) {
        const sn_level *level = &work->multilevel->levels[l];
        const sn_level_vectors *v = &work->cycle->levels[l];
        relax(work, l, true);
        run(work, work->kernels->subtract, level->M.rows,
            (sn_narrow_job){.A = &level->M, .x = v->x, .b = v->b, .y = v->r});
        run(work, work->kernels->multiply, level->R.rows,
            (sn_narrow_job){.A = &level->R, .x = v->r, .y = v[1].b});
    }

    // Upwards: add the coarse correction, and smooth.
    solve_coarsest(work);
    for (int32_t l = last - 1; l >= 0; l--) {
        const sn_level *level = &work->multilevel->levels[l];
        const sn_level_vectors *v = &work->cycle->levels[l];
        run(work, work->kernels->add, level->P.rows,
            (sn_narrow_job){.A = &level->P, .x = v[1].x, .y = v->x});
        relax(work, l, false);
    }
}

void sn_multilevel_apply(const sn_multilevel *multilevel, sn_cycle *cycle, double *z,
                         const double *r) {
    cycling work = {multilevel, multilevel->kernels, cycle};
    const sn_level_vectors *finest = &cycle->levels[0];
    int32_t n = multilevel->levels[0].M.rows;
    run(&work, work.kernels->narrow, n, (sn_narrow_job){.wide_x = r, .y = finest->b});
    run_cycle(&work);
    run(&work, work.kernels->weigh, n,
        (sn_narrow_job){
            .scale = 1, .factors = multilevel->squares, .b = finest->x, .y = finest->b});
    run_cycle(&work);
    run(&work, work.kernels->widen, n, (sn_narrow_job){.x = finest->x, .wide_y = z});
}
