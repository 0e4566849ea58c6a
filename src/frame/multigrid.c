#include "frame/multigrid.h"

#include "base/threads.h"
#include "linalg/dense.h"

#include <string.h>

enum { CHUNK = 2048, COARSEST = 300, LARGEST_DENSE = 1200 };

// Smoothing bounds: D^-1 A has its spectrum in [0, 2], and what the coarser grid cannot show lies above 1/3.
static const float smooth_low = 1.0f / 3, smooth_high = 2;

typedef struct level_input {
    int32_t extent[3];
    int32_t (*coordinates)[3];
    float *known;
} level_input;

static void compute_diagonal(sn_multigrid_level *level, const float *known) {
    for (int32_t u = 0; u < level->count; u++) {
        float sum = known[u];
        for (int d = 0; d < 6; d++) sum += level->conductance[u][d];
        level->inverse_diagonal[u] = sum > 0 ? 1 / sum : 0;
    }
}

static sinew_status push_level(sn_arena *arena, sn_multigrid_level *level, int32_t count, bool finest) {
    level->count = count;
    level->neighbor = (int32_t(*)[6])sn_arena_push(arena, (size_t)count, sizeof *level->neighbor);
    level->conductance = (float(*)[6])sn_arena_push(arena, (size_t)count, sizeof *level->conductance);
    level->inverse_diagonal = SN_PUSH(arena, float, count);
    level->x = SN_PUSH(arena, float, (size_t)count *SN_LANES);
    level->b = SN_PUSH(arena, float, (size_t)count *SN_LANES);
    level->r = SN_PUSH(arena, float, (size_t)count *SN_LANES);
    if (!finest) {
        level->children = SN_PUSH(arena, int32_t, (size_t)count * 8);
        level->blocks = SN_PUSH(arena, float, (size_t)count * 8 * SN_LANES);
        level->folded_x = SN_PUSH(arena, float, (size_t)count * 4 * SN_LANES);
        level->folded_y = SN_PUSH(arena, float, (size_t)count * 2 * SN_LANES);
    }
    return sn_arena_status(arena);
}

// Numbers the blocks in the order of their first cells; block_of receives the block of each cell.
static int32_t number_blocks(const level_input *fine, int32_t count, const int32_t extent[3], int32_t *map,
                             int32_t *block_of) {
    int32_t blocks = 0;
    memset(map, -1, (size_t)extent[0] * (size_t)extent[1] * (size_t)extent[2] * sizeof *map);
    for (int32_t u = 0; u < count; u++) {
        const int32_t *c = fine->coordinates[u];
        int32_t *entry =
            &map[((size_t)(c[2] / 2) * (size_t)extent[1] + (size_t)(c[1] / 2)) * (size_t)extent[0] + (size_t)(c[0] / 2)];
        if (*entry < 0) *entry = blocks++;
        block_of[u] = *entry;
    }
    return blocks;
}

static void sum_conductances(const sn_multigrid_level *fine, const level_input *fine_input, const int32_t *block_of,
                             sn_multigrid_level *coarse, level_input *input) {
    for (int32_t c = 0; c < coarse->count; c++) {
        for (int d = 0; d < 6; d++) coarse->neighbor[c][d] = c;
        for (int s = 0; s < 8; s++) coarse->children[8 * (size_t)c + (size_t)s] = -1;
    }
    for (int32_t u = 0; u < fine->count; u++) {
        const int32_t *at = fine_input->coordinates[u];
        int32_t c = block_of[u], side = (at[0] & 1) | (at[1] & 1) << 1 | (at[2] & 1) << 2;
        coarse->children[8 * (size_t)c + (size_t)side] = u;
        for (int a = 0; a < 3; a++) input->coordinates[c][a] = at[a] / 2;
        input->known[c] += fine_input->known[u];
        for (int d = 0; d < 6; d++) {
            int32_t other = block_of[fine->neighbor[u][d]];
            if (fine->conductance[u][d] == 0 || other == c) continue;
            coarse->neighbor[c][d] = other;
            coarse->conductance[c][d] += 0.5f * fine->conductance[u][d]; // twice the distance
        }
    }
}

static sinew_status coarsen(sn_arena *arena, sn_arena *scratch, const sn_multigrid_level *fine, level_input *input,
                            sn_multigrid_level *coarse) {
    int32_t extent[3];
    for (int a = 0; a < 3; a++) extent[a] = (input->extent[a] + 1) / 2;
    int32_t *map = SN_PUSH(scratch, int32_t, (size_t)extent[0] * (size_t)extent[1] * (size_t)extent[2]);
    int32_t *block_of = SN_PUSH(scratch, int32_t, fine->count);
    SN_TRY(sn_arena_status(scratch));
    int32_t count = number_blocks(input, fine->count, extent, map, block_of);
    SN_TRY(push_level(arena, coarse, count, false));
    level_input next = {.extent = {extent[0], extent[1], extent[2]}};
    next.coordinates = (int32_t(*)[3])sn_arena_push(scratch, (size_t)count, sizeof *next.coordinates);
    next.known = SN_PUSH(scratch, float, count);
    SN_TRY(sn_arena_status(scratch));
    sum_conductances(fine, input, block_of, coarse, &next);
    compute_diagonal(coarse, next.known);
    *input = next;
    return SINEW_OK;
}

// The coarsest operator as a dense Cholesky factor; a part without known values is singular, and gets a pinch of diagonal.
static sinew_status factor_coarsest(sn_arena *arena, sn_multigrid *multigrid) {
    const sn_multigrid_level *level = &multigrid->levels[multigrid->level_count - 1];
    int32_t n = level->count;
    if (n > LARGEST_DENSE) return SINEW_OK;
    double *A = SN_PUSH(arena, double, (size_t)n *(size_t)n);
    SN_TRY(sn_arena_status(arena));
    for (int32_t u = 0; u < n; u++) {
        A[(size_t)u * (size_t)n + (size_t)u] += level->inverse_diagonal[u] > 0 ? (1 + 1e-7) / level->inverse_diagonal[u] : 1;
        for (int d = 0; d < 6; d++) {
            int32_t v = level->neighbor[u][d];
            if (v != u) A[(size_t)u * (size_t)n + (size_t)v] -= level->conductance[u][d];
        }
    }
    if (sn_dense_cholesky(A, n, n) < 0) multigrid->dense = A;
    return SINEW_OK;
}

static sinew_status build_levels(sn_arena *arena, sn_arena *scratch, const sn_multigrid_input *input,
                                 sn_multigrid *multigrid) {
    sn_multigrid_level *finest = &multigrid->levels[0];
    SN_TRY(push_level(arena, finest, input->count, true));
    level_input at = {.extent = {input->extent[0], input->extent[1], input->extent[2]}};
    at.coordinates = (int32_t(*)[3])sn_arena_push(scratch, (size_t)input->count, sizeof *at.coordinates);
    at.known = SN_PUSH(scratch, float, input->count);
    SN_TRY(sn_arena_status(scratch));
    memcpy(at.coordinates, input->coordinates, (size_t)input->count * sizeof *at.coordinates);
    memcpy(at.known, input->known, (size_t)input->count * sizeof *at.known);
    memcpy(finest->conductance, input->conductance, (size_t)input->count * sizeof *finest->conductance);
    for (int32_t u = 0; u < input->count; u++) {
        for (int d = 0; d < 6; d++) finest->neighbor[u][d] = input->neighbor[u][d] < 0 ? u : input->neighbor[u][d];
    }
    compute_diagonal(finest, at.known);
    multigrid->level_count = 1;
    while (multigrid->level_count < SN_MULTIGRID_LEVELS) {
        sn_multigrid_level *fine = &multigrid->levels[multigrid->level_count - 1];
        if (fine->count <= COARSEST) break;
        SN_TRY(coarsen(arena, scratch, fine, &at, fine + 1));
        multigrid->level_count++;
        if (fine[1].count == fine->count) break; // scattered cells: nothing joins any more
    }
    return factor_coarsest(arena, multigrid);
}

sinew_status sn_multigrid_create(sn_arena *arena, const sn_multigrid_input *input, sn_multigrid **multigrid) {
    sn_multigrid *made = SN_PUSH(arena, sn_multigrid, 1);
    SN_TRY(sn_arena_status(arena));
    made->context = arena->context;
    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = build_levels(arena, &scratch, input, made);
    sn_arena_destroy(&scratch);
    *multigrid = made;
    return status;
}

typedef struct level_job {
    sn_multigrid_level *level, *coarse;
    float first; // factor of a smoothing step
} level_job;

// sum_d c_ud x_v for the lanes of a cell.
static inline void gather(const sn_multigrid_level *level, int32_t u, float sum[SN_LANES]) {
    const int32_t *neighbor = level->neighbor[u];
    const float *conductance = level->conductance[u];
    for (int i = 0; i < SN_LANES; i++) sum[i] = 0;
    for (int d = 0; d < 6; d++) {
        const float *x = level->x + (size_t)neighbor[d] * SN_LANES;
        for (int i = 0; i < SN_LANES; i++) sum[i] += conductance[d] * x[i];
    }
}

// x = factor D^-1 b, the first step from zero.
static void start_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    level_job *job = data;
    sn_multigrid_level *level = job->level;
    for (int32_t u = begin; u < end; u++) {
        float factor = job->first * level->inverse_diagonal[u];
        for (int i = 0; i < SN_LANES; i++) level->x[u * SN_LANES + i] = factor * level->b[u * SN_LANES + i];
    }
}

// r = D^-1 (b - A x): in place of A x itself, because every use is scaled by D^-1 or has D at hand.
static void residual_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    level_job *job = data;
    sn_multigrid_level *level = job->level;
    float sum[SN_LANES];
    for (int32_t u = begin; u < end; u++) {
        gather(level, u, sum);
        float inverse = level->inverse_diagonal[u];
        size_t at = (size_t)u * SN_LANES;
        for (size_t i = 0; i < SN_LANES; i++) level->r[at + i] = inverse * (level->b[at + i] + sum[i]) - level->x[at + i];
    }
}

// x += first r.
static void correct_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    level_job *job = data;
    sn_multigrid_level *level = job->level;
    for (int32_t k = begin * SN_LANES; k < end * SN_LANES; k++) level->x[k] += job->first * level->r[k];
}

static void each_cell(sn_multigrid *multigrid, sn_multigrid_level *level, sn_range_fn *body, level_job *job) {
    job->level = level;
    sn_parallel_for(multigrid->context, level->count, CHUNK, body, job);
}

// Chebyshev's iteration of degree two as two steps x += t_k D^-1 (b - A x), 1/t_k the roots of its polynomial; the second half
// of the cycle takes them in the other order, which makes the cycle symmetric.
static void smooth(sn_multigrid *multigrid, sn_multigrid_level *level, bool from_zero) {
    const float middle = 0.5f * (smooth_high + smooth_low), half = 0.5f * (smooth_high - smooth_low), root = 0.70710678f;
    float steps[2] = {1 / (middle + half * root), 1 / (middle - half * root)};
    level_job job = {.first = steps[from_zero ? 0 : 1]};
    if (from_zero) {
        each_cell(multigrid, level, start_range, &job);
    } else {
        each_cell(multigrid, level, residual_range, &job);
        each_cell(multigrid, level, correct_range, &job);
    }
    job.first = steps[from_zero ? 1 : 0];
    each_cell(multigrid, level, residual_range, &job);
    each_cell(multigrid, level, correct_range, &job);
}

// Residuals of the finer grid, sorted into the blocks they belong to.
static void collect_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    level_job *job = data;
    const sn_multigrid_level *fine = job->level;
    sn_multigrid_level *coarse = job->coarse;
    for (int32_t k = 8 * begin; k < 8 * end; k++) {
        int32_t u = coarse->children[k];
        float *block = coarse->blocks + (size_t)k * SN_LANES;
        // r was scaled by D^-1; the residual itself is asked for.
        float diagonal = u >= 0 && fine->inverse_diagonal[u] > 0 ? 1 / fine->inverse_diagonal[u] : 0;
        for (int i = 0; i < SN_LANES; i++) block[i] = u >= 0 ? diagonal * fine->r[(size_t)u * SN_LANES + (size_t)i] : 0;
    }
}

// One axis of the transposed interpolation. A cell in the half of its block towards direction d takes 3/4 from its block and
// 1/4 from the next one that way, or all from its block if there is none: so a block gathers 3/4 of its own, 1/4 of the block
// on the other side, and 1/4 of its own again at the border. The two halves are added as they are done.
static void fold_axis(const sn_multigrid_level *level, int32_t c, int axis, int width, const float *blocks, float *folded) {
    for (int s = 0; s < width; s++) {
        for (int i = 0; i < SN_LANES; i++) folded[s * SN_LANES + i] = 0;
        for (int half = 0; half < 2; half++) {
            int d = 2 * axis + half;
            size_t offset = (size_t)(2 * s + half) * SN_LANES, stride = (size_t)(2 * width) * SN_LANES;
            const float *own = blocks + (size_t)c * stride + offset;
            int32_t behind = level->neighbor[c][d ^ 1];
            float share = level->neighbor[c][d] == c ? 1.0f : 0.75f;
            for (size_t i = 0; i < SN_LANES; i++) folded[(size_t)s * SN_LANES + i] += share * own[i];
            if (behind == c) continue;
            const float *other = blocks + (size_t)behind * stride + offset;
            for (size_t i = 0; i < SN_LANES; i++) folded[(size_t)s * SN_LANES + i] += 0.25f * other[i];
        }
    }
}

typedef struct fold_job {
    sn_multigrid_level *level;
    int axis, width;
    const float *from;
    float *to;
} fold_job;

static void fold_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    fold_job *job = data;
    for (int32_t c = begin; c < end; c++) {
        float *to = job->to + (size_t)c * (size_t)job->width * SN_LANES;
        fold_axis(job->level, c, job->axis, job->width, job->from, to);
    }
}

// b of the coarser grid = P' (b - A x).
static void restrict_residual(sn_multigrid *multigrid, sn_multigrid_level *fine, sn_multigrid_level *coarse) {
    level_job job = {.level = fine, .coarse = coarse};
    sn_parallel_for(multigrid->context, coarse->count, CHUNK, collect_range, &job);
    fold_job fold = {coarse, 0, 4, coarse->blocks, coarse->folded_x};
    sn_parallel_for(multigrid->context, coarse->count, CHUNK, fold_range, &fold);
    fold = (fold_job){coarse, 1, 2, coarse->folded_x, coarse->folded_y};
    sn_parallel_for(multigrid->context, coarse->count, CHUNK, fold_range, &fold);
    fold = (fold_job){coarse, 2, 1, coarse->folded_y, coarse->b};
    sn_parallel_for(multigrid->context, coarse->count, CHUNK, fold_range, &fold);
}

// x of the finer grid += P x.
static void prolong_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    level_job *job = data;
    sn_multigrid_level *fine = job->level;
    const sn_multigrid_level *coarse = job->coarse;
    for (int32_t c = begin; c < end; c++) {
        for (int side = 0; side < 8; side++) {
            int32_t u = coarse->children[8 * (size_t)c + (size_t)side];
            if (u < 0) continue;
            float sum[SN_LANES] = {0};
            for (int k = 0; k < 8; k++) {
                // Over x, then y, then z, as the transpose does.
                int32_t at = c;
                float share = 1;
                for (int a = 0; a < 3; a++) {
                    bool over = k >> a & 1;
                    share *= over ? 0.25f : 0.75f;
                    if (over) at = coarse->neighbor[at][2 * a + (side >> a & 1)];
                }
                for (size_t i = 0; i < SN_LANES; i++) sum[i] += share * coarse->x[(size_t)at * SN_LANES + i];
            }
            for (size_t i = 0; i < SN_LANES; i++) fine->x[(size_t)u * SN_LANES + i] += sum[i];
        }
    }
}

static void solve_coarsest(sn_multigrid *multigrid, sn_multigrid_level *level) {
    if (!multigrid->dense) { // many scattered cells: smoothing is all they need
        smooth(multigrid, level, true);
        for (int sweep = 0; sweep < 8; sweep++) smooth(multigrid, level, false);
        return;
    }
    double x[LARGEST_DENSE];
    for (int lane = 0; lane < SN_LANES; lane++) {
        for (int32_t u = 0; u < level->count; u++) x[u] = (double)level->b[u * SN_LANES + lane];
        sn_dense_cholesky_solve(multigrid->dense, level->count, level->count, x);
        for (int32_t u = 0; u < level->count; u++) level->x[u * SN_LANES + lane] = (float)x[u];
    }
}

typedef struct convert_job {
    float *single;
    double *full;
    const double *from;
} convert_job;

static void to_single(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    convert_job *job = data;
    for (size_t k = (size_t)begin * SN_LANES; k < (size_t)end * SN_LANES; k++) job->single[k] = (float)job->from[k];
}

static void to_double(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    convert_job *job = data;
    for (size_t k = (size_t)begin * SN_LANES; k < (size_t)end * SN_LANES; k++) job->full[k] = (double)job->single[k];
}

void sn_multigrid_apply(sn_multigrid *multigrid, double *z, const double *r) {
    sn_multigrid_level *finest = multigrid->levels;
    int32_t last = multigrid->level_count - 1;
    convert_job convert = {.single = finest->b, .from = r};
    sn_parallel_for(multigrid->context, finest->count, CHUNK, to_single, &convert);
    for (int32_t l = 0; l < last; l++) {
        sn_multigrid_level *level = &multigrid->levels[l];
        level_job job = {0};
        smooth(multigrid, level, true);
        each_cell(multigrid, level, residual_range, &job);
        restrict_residual(multigrid, level, level + 1);
    }
    solve_coarsest(multigrid, &multigrid->levels[last]);
    for (int32_t l = last - 1; l >= 0; l--) {
        sn_multigrid_level *level = &multigrid->levels[l];
        level_job job = {.level = level, .coarse = level + 1};
        sn_parallel_for(multigrid->context, level[1].count, CHUNK, prolong_range, &job);
        smooth(multigrid, level, false);
    }
    convert = (convert_job){.single = finest->x, .full = z};
    sn_parallel_for(multigrid->context, finest->count, CHUNK, to_double, &convert);
}
