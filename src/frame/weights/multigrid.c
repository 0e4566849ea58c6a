// The V-cycle of multigrid.h: how the coarser grids are built, and one application.
//
// Coarse grids are built until one has at most COARSEST cells or no cells combine any more. The
// coarsest operator is factored densely if it has at most LARGEST_DENSE cells, and only smoothed
// otherwise. The loops over cells are in multigrid_kernels.h.
#include "frame/weights/multigrid.h"

#include "linalg/dense.h"

#include <math.h>
#include <string.h>

enum { COARSEST = 300, LARGEST_DENSE = 1200 };

// The bounds of smoothing: the spectrum of D^-1 A lies in [0, 2], and the components that the
// coarser grid cannot represent lie above 1/3.
static const float smooth_low = 1.0f / 3, smooth_high = 2;

typedef struct level_input {
    int32_t extent[3];
    int32_t (*coordinates)[3];
    float *known;
} level_input;

static void compute_diagonal(sn_multigrid_level *level, const float *known) {
    for (int32_t u = 0; u < level->count; u++) {
        float sum = known[u];
        for (int d = 0; d < 6; d++) {
            sum += level->conductance[u][d];
        }
        level->inverse_diagonal[u] = sum > 0 ? 1 / sum : 0;
    }
}

static sinew_status push_level(sn_arena *arena, sn_multigrid_level *level, int32_t count,
                               int32_t lanes, bool finest) {
    size_t numbers = (size_t)count * (size_t)lanes;
    level->count = count;
    level->neighbor = (int32_t(*)[6])sn_arena_push(arena, (size_t)count, sizeof *level->neighbor);
    level->conductance =
        (float(*)[6])sn_arena_push(arena, (size_t)count, sizeof *level->conductance);
    level->inverse_diagonal = SN_PUSH(arena, float, count);
    level->x = SN_PUSH(arena, float, numbers);
    level->y = SN_PUSH(arena, float, numbers);
    level->b = SN_PUSH(arena, float, numbers);

    if (!finest) {
        level->children = SN_PUSH(arena, int32_t, (size_t)count * 8);
        level->share = (float(*)[SN_MULTIGRID_SHARES])sn_arena_push(arena, (size_t)count,
                                                                    sizeof *level->share);
        level->blocks = SN_PUSH(arena, float, 8 * numbers);
        level->folded_x = SN_PUSH(arena, float, 4 * numbers);
        level->folded_y = SN_PUSH(arena, float, 2 * numbers);
    }

    return sn_arena_status(arena);
}

// Numbers the blocks in the order of their first cells; block_of receives the block of each cell.
static int32_t number_blocks(const level_input *fine, int32_t count, const int32_t extent[3],
                             int32_t *map, int32_t *block_of) {
    int32_t blocks = 0;
    memset(map, -1, (size_t)extent[0] * (size_t)extent[1] * (size_t)extent[2] * sizeof *map);
    for (int32_t u = 0; u < count; u++) {
        const int32_t *c = fine->coordinates[u];
        int32_t *entry =
            &map[((size_t)(c[2] / 2) * (size_t)extent[1] + (size_t)(c[1] / 2)) * (size_t)extent[0] +
                 (size_t)(c[0] / 2)];

        if (*entry < 0) {
            *entry = blocks++;
        }

        block_of[u] = *entry;
    }

    return blocks;
}

// Finds neighbours and children of the blocks, and what they have in common with known values.
static void link_blocks(const sn_multigrid_level *fine, const level_input *fine_input,
                        const int32_t *block_of, sn_multigrid_level *coarse, level_input *input) {
    // No neighbours, no children.
    for (int32_t c = 0; c < coarse->count; c++) {
        for (int d = 0; d < 6; d++) {
            coarse->neighbor[c][d] = c;
        }
        for (int s = 0; s < 8; s++) {
            coarse->children[8 * (size_t)c + (size_t)s] = -1;
        }
    }

    for (int32_t u = 0; u < fine->count; u++) {
        // Each cell is a child of its block, and may connect it to others.
        const int32_t *at = fine_input->coordinates[u];
        int32_t c = block_of[u];
        int32_t side = (at[0] & 1) | (at[1] & 1) << 1 | (at[2] & 1) << 2;

        coarse->children[8 * (size_t)c + (size_t)side] = u;
        for (int a = 0; a < 3; a++) {
            input->coordinates[c][a] = at[a] / 2;
        }

        input->known[c] += fine_input->known[u];
        for (int d = 0; d < 6; d++) {
            int32_t other = block_of[fine->neighbor[u][d]];
            if (fine->conductance[u][d] != 0 && other != c) {
                coarse->neighbor[c][d] = other;
            }
        }
    }
}

// The cells of a block while they are merged: up[axis][cell] conducts to the next cell along an
// axis. A cell has a bit for each half of the block; merged axes have bit 0.
typedef struct merger {
    float up[3][8];
    float strongest[8]; // of the conductances across the axis that is merged
} merger;

static void fill_merger(const sn_multigrid_level *fine, const sn_multigrid_level *coarse, int32_t c,
                        merger *m) {
    *m = (merger){0};
    for (int side = 0; side < 8; side++) {
        int32_t u = coarse->children[8 * (size_t)c + (size_t)side];
        if (u < 0) {
            continue;
        }
        for (int a = 0; a < 3; a++) {
            m->up[a][side] = fine->conductance[u][2 * a + 1];
        }
    }
}

// The resistance between the centre of a pair and each of its halves; 0 for a single cell.
static float half_resistance(float inner) {
    return inner > 0 ? 0.5f / inner : 0;
}

// The next cell along an axis that is not the one being merged: in the same block if that axis is
// still to come and the cell is in the lower half.
static int32_t next_cell(const sn_multigrid_level *coarse, int32_t c, int cell, int axis,
                         int merged, int *next) {
    bool to_come = axis > merged;
    *next = to_come ? cell ^ 1 << axis : cell;
    return to_come && !(cell >> axis & 1) ? c : coarse->neighbor[c][2 * axis + 1];
}

static void find_strongest(merger *m, int axis, int across, int32_t c,
                           const sn_multigrid_level *coarse) {
    for (int k = 0; k < 8 >> axis; k++) {
        int cell = k << axis;
        int next;
        int32_t block = next_cell(coarse, c, cell, across, axis, &next);
        float conductance = m[c].up[across][cell];
        m[c].strongest[cell] = fmaxf(m[c].strongest[cell], conductance);
        m[block].strongest[next] = fmaxf(m[block].strongest[next], conductance);
    }
}

// Reduces a share where a cell is tied more firmly across the axis than along it: it follows its
// own pair then, which has that tie too.
static float limit_share(float share, float along, float strongest) {
    const float firm = 10;
    return strongest > firm * along ? share * firm * along / strongest : share;
}

// Merges pairs along an axis: conductances in series from the centre of a pair to that of the next,
// and what the cells on both sides of the face take from each other.
static void join_pairs(const merger *before, int axis, int32_t c, sn_multigrid_level *coarse,
                       merger *after) {
    int32_t above = coarse->neighbor[c][2 * axis + 1];
    float *high = coarse->share[c] + sn_multigrid_share(axis, 1);
    float *low = coarse->share[above] + sn_multigrid_share(axis, 0);
    if (above == c) {
        return;
    }

    for (int line = 0; line < 4 >> axis; line++) {
        int cell = line << (axis + 1);
        int upper = cell | 1 << axis;
        float outer = before[c].up[axis][upper];
        if (!(outer > 0)) {
            continue;
        }

        // Resistances from centre to centre.
        float inner = before[c].up[axis][cell];
        float inner_above = before[above].up[axis][cell];
        float own = half_resistance(inner);
        float next = half_resistance(inner_above);
        float all = own + 1 / outer + next;
        high[line] = limit_share(own / all, fmaxf(inner, outer), before[c].strongest[upper]);
        low[line] =
            limit_share(next / all, fmaxf(inner_above, outer), before[above].strongest[cell]);
        after[c].up[axis][cell] = 1 / all;
    }
}

// Distributes the conductances across the axis of a merger as the cells are interpolated: what a
// cell takes from the next pair belongs there.
static void spread_across(const merger *before, int axis, int across, int32_t c,
                          const sn_multigrid_level *coarse, merger *after) {
    for (int k = 0; k < 8 >> axis; k++) {
        int cell = k << axis;
        int half = k & 1;
        int low = cell & ~(1 << axis);
        float conductance = before[c].up[across][cell];
        if (!(conductance > 0)) {
            continue;
        }

        int other;
        int32_t block = next_cell(coarse, c, low, across, axis, &other);
        int32_t first = sn_multigrid_share(axis, half);
        float share = fminf(coarse->share[c][first + (low >> (axis + 1))],
                            coarse->share[block][first + (other >> (axis + 1))]);
        after[c].up[across][low] += (1 - share) * conductance;
        after[coarse->neighbor[c][2 * axis + half]].up[across][low] += share * conductance;
    }
}

// Merges the cells of all blocks along x, y and z, and stores what is between the blocks then.
static void merge_blocks(const sn_multigrid_level *fine, sn_multigrid_level *coarse, merger *now,
                         merger *next) {
    for (int32_t c = 0; c < coarse->count; c++) {
        fill_merger(fine, coarse, c, &now[c]);
    }

    for (int axis = 0; axis < 3; axis++) {
        // One axis after the other.
        memset(next, 0, (size_t)coarse->count * sizeof *next);
        for (int32_t c = 0; c < coarse->count; c++) {
            find_strongest(now, axis, (axis + 1) % 3, c, coarse);
            find_strongest(now, axis, (axis + 2) % 3, c, coarse);
        }
        for (int32_t c = 0; c < coarse->count; c++) {
            join_pairs(now, axis, c, coarse, next);
        }
        for (int32_t c = 0; c < coarse->count; c++) {
            spread_across(now, axis, (axis + 1) % 3, c, coarse, next);
            spread_across(now, axis, (axis + 2) % 3, c, coarse, next);
        }

        merger *swapped = now;
        now = next;
        next = swapped;
    }

    for (int32_t c = 0; c < coarse->count; c++) {
        for (int a = 0; a < 3; a++) {
            coarse->conductance[c][2 * a + 1] = now[c].up[a][0];
            if (now[c].up[a][0] > 0) {
                coarse->conductance[coarse->neighbor[c][2 * a + 1]][2 * a] = now[c].up[a][0];
            }
        }
    }
}

static sinew_status coarsen(sn_arena *arena, sn_arena *scratch, const sn_multigrid_level *fine,
                            level_input *input, int32_t lanes, sn_multigrid_level *coarse) {
    // Blocks of two cells along each axis.
    int32_t extent[3];
    for (int a = 0; a < 3; a++) {
        extent[a] = (input->extent[a] + 1) / 2;
    }

    int32_t *map =
        SN_PUSH(scratch, int32_t, (size_t)extent[0] * (size_t)extent[1] * (size_t)extent[2]);
    int32_t *block_of = SN_PUSH(scratch, int32_t, fine->count);

    SN_TRY(sn_arena_status(scratch));
    int32_t count = number_blocks(input, fine->count, extent, map, block_of);

    SN_TRY(push_level(arena, coarse, count, lanes, false));

    // Conductances between blocks.
    level_input next = {.extent = {extent[0], extent[1], extent[2]}};

    next.coordinates =
        (int32_t(*)[3])sn_arena_push(scratch, (size_t)count, sizeof *next.coordinates);
    next.known = SN_PUSH(scratch, float, count);
    SN_TRY(sn_arena_status(scratch));
    merger *mergers = SN_PUSH(scratch, merger, 2 * (size_t)count);
    SN_TRY(sn_arena_status(scratch));
    link_blocks(fine, input, block_of, coarse, &next);
    merge_blocks(fine, coarse, mergers, mergers + count);
    compute_diagonal(coarse, next.known);
    *input = next;

    return SINEW_OK;
}

// Factors the coarsest operator (dense Cholesky). A part without known values is singular and gets
// a small diagonal term.
static sinew_status factor_coarsest(sn_arena *arena, sn_multigrid *multigrid) {
    const sn_multigrid_level *level = &multigrid->levels[multigrid->level_count - 1];
    int32_t n = level->count;
    if (n > LARGEST_DENSE) {
        return SINEW_OK;
    }

    double *A = SN_PUSH(arena, double, (size_t)n *(size_t)n);
    SN_TRY(sn_arena_status(arena));

    // The operator as a dense matrix.
    for (int32_t u = 0; u < n; u++) {
        A[(size_t)u * (size_t)n + (size_t)u] +=
            level->inverse_diagonal[u] > 0 ? (1 + 1e-7) / level->inverse_diagonal[u] : 1;
        for (int d = 0; d < 6; d++) {
            int32_t v = level->neighbor[u][d];
            if (v != u) {
                A[(size_t)u * (size_t)n + (size_t)v] -= level->conductance[u][d];
            }
        }
    }

    if (sn_dense_cholesky(A, n, n) < 0) {
        multigrid->dense = A;
    }

    return SINEW_OK;
}

static sinew_status build_levels(sn_arena *arena, sn_arena *scratch,
                                 const sn_multigrid_input *input, sn_multigrid *multigrid) {
    sn_multigrid_level *finest = &multigrid->levels[0];

    // The finest level is the caller's grid; a missing neighbour is the cell itself.
    SN_TRY(push_level(arena, finest, input->count, input->lanes, true));

    level_input at = {.extent = {input->extent[0], input->extent[1], input->extent[2]}};
    at.coordinates =
        (int32_t(*)[3])sn_arena_push(scratch, (size_t)input->count, sizeof *at.coordinates);
    at.known = SN_PUSH(scratch, float, input->count);
    SN_TRY(sn_arena_status(scratch));
    memcpy(at.coordinates, input->coordinates, (size_t)input->count * sizeof *at.coordinates);
    memcpy(at.known, input->known, (size_t)input->count * sizeof *at.known);
    memcpy(finest->conductance, input->conductance,
           (size_t)input->count * sizeof *finest->conductance);

    for (int32_t u = 0; u < input->count; u++) {
        for (int d = 0; d < 6; d++) {
            finest->neighbor[u][d] = input->neighbor[u][d] < 0 ? u : input->neighbor[u][d];
        }
    }

    compute_diagonal(finest, at.known);

    // Coarsen until the rest is small enough for a dense factor.
    multigrid->level_count = 1;
    while (multigrid->level_count < SN_MULTIGRID_LEVELS) {
        sn_multigrid_level *fine = &multigrid->levels[multigrid->level_count - 1];
        if (fine->count <= COARSEST) {
            break;
        }

        SN_TRY(coarsen(arena, scratch, fine, &at, input->lanes, fine + 1));
        multigrid->level_count++;
        if (fine[1].count == fine->count) {
            break; // scattered cells: no two share a block any more
        }
    }

    return factor_coarsest(arena, multigrid);
}

sinew_status sn_multigrid_create(sn_arena *arena, const sn_multigrid_input *input,
                                 sn_multigrid **multigrid) {
    sn_multigrid *made = SN_PUSH(arena, sn_multigrid, 1);
    SN_TRY(sn_arena_status(arena));
    made->context = arena->context;
    sn_multigrid_set_lanes(made, input->lanes);
    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = build_levels(arena, &scratch, input, made);
    sn_arena_destroy(&scratch);
    *multigrid = made;

    return status;
}

void sn_multigrid_set_lanes(sn_multigrid *multigrid, int32_t lanes) {
    multigrid->lanes = lanes;
    multigrid->kernels = SN_ISA_PICK(multigrid->context->isa, sn_multigrid_get_kernels)(lanes);
}

static void each_cell(const sn_multigrid *multigrid, int32_t count, sn_range_fn *body,
                      sn_multigrid_job *job) {
    sn_parallel_for(multigrid->context, count, SN_MULTIGRID_CHUNK, body, job);
}

// Chebyshev iteration of degree two, as two steps x += t_k D^-1 (b - A x) with 1/t_k the roots of
// its polynomial. The second half of the cycle takes the steps in reverse order, which makes the
// cycle symmetric. `partial`, if not NULL, receives b.x after the last step.
static void smooth(const sn_multigrid *multigrid, const sn_multigrid_level *level, bool from_zero,
                   double *partial) {
    const float middle = 0.5f * (smooth_high + smooth_low);
    const float half = 0.5f * (smooth_high - smooth_low);
    const float root = 0.70710678f;
    const float steps[2] = {1 / (middle + half * root), 1 / (middle - half * root)};
    const sn_multigrid_kernels *kernels = multigrid->kernels;
    sn_multigrid_job job = {.level = level, .first = steps[0], .step = steps[1]};

    if (from_zero) {
        each_cell(multigrid, level->count, kernels->start, &job);
        return;
    }

    job.from = level->x;
    job.to = level->y;
    each_cell(multigrid, level->count, kernels->smooth, &job);
    job.from = level->y;
    job.to = level->x;
    job.step = steps[0];
    job.partial = partial;
    each_cell(multigrid, level->count, partial ? kernels->finish : kernels->smooth, &job);
}

// Restricts the residual: b of the coarser grid = P' (b - A x).
static void restrict_residual(const sn_multigrid *multigrid, const sn_multigrid_level *fine) {
    const sn_multigrid_level *coarse = fine + 1;
    const sn_multigrid_kernels *kernels = multigrid->kernels;
    sn_multigrid_job job = {.level = fine};

    each_cell(multigrid, coarse->count, kernels->collect, &job);
    job = (sn_multigrid_job){
        .level = coarse, .axis = 0, .width = 4, .from = coarse->blocks, .to = coarse->folded_x};
    each_cell(multigrid, coarse->count, kernels->fold, &job);
    job = (sn_multigrid_job){
        .level = coarse, .axis = 1, .width = 2, .from = coarse->folded_x, .to = coarse->folded_y};
    each_cell(multigrid, coarse->count, kernels->fold, &job);
    job = (sn_multigrid_job){
        .level = coarse, .axis = 2, .width = 1, .from = coarse->folded_y, .to = coarse->b};
    each_cell(multigrid, coarse->count, kernels->fold, &job);
}

static void solve_coarsest(const sn_multigrid *multigrid, const sn_multigrid_level *level) {
    if (!multigrid->dense) { // many scattered cells: smoothing is enough
        smooth(multigrid, level, true, NULL);

        for (int sweep = 0; sweep < 8; sweep++) {
            smooth(multigrid, level, false, NULL);
        }
        return;
    }

    double x[LARGEST_DENSE];
    int32_t lanes = multigrid->lanes;
    for (int32_t lane = 0; lane < lanes; lane++) {
        for (int32_t u = 0; u < level->count; u++) {
            x[u] = (double)level->b[u * lanes + lane];
        }

        sn_dense_cholesky_solve(multigrid->dense, level->count, level->count, x);
        for (int32_t u = 0; u < level->count; u++) {
            level->x[u * lanes + lane] = (float)x[u];
        }
    }
}

// Computes b.x if the finest grid is also the coarsest: it is smaller than a chunk.
static void multiply_coarsest(const sn_multigrid *multigrid, double *partial) {
    const sn_multigrid_level *level = multigrid->levels;
    int32_t lanes = multigrid->lanes;

    SN_ASSERT(level->count <= SN_MULTIGRID_CHUNK);

    for (int32_t i = 0; i < lanes; i++) {
        partial[i] = 0;
    }

    for (int32_t k = 0; k < level->count * lanes; k++) {
        partial[k % lanes] += (double)level->b[k] * (double)level->x[k];
    }
}

void sn_multigrid_apply(sn_multigrid *multigrid, double *partial) {
    int32_t last = multigrid->level_count - 1;
    for (int32_t l = 0; l < last; l++) {
        smooth(multigrid, &multigrid->levels[l], true, NULL);
        restrict_residual(multigrid, &multigrid->levels[l]);
    }

    solve_coarsest(multigrid, &multigrid->levels[last]);
    if (last == 0) {
        multiply_coarsest(multigrid, partial);
    }

    for (int32_t l = last - 1; l >= 0; l--) {
        sn_multigrid_job job = {.level = &multigrid->levels[l]};
        each_cell(multigrid, multigrid->levels[l + 1].count, multigrid->kernels->prolong, &job);
        smooth(multigrid, &multigrid->levels[l], false, l == 0 ? partial : NULL);
    }
}
