// The coarse level of pcg-multigrid: frames, their weights and the coarse matrix; see coarse.h. The
// symbolic phase takes at most O(blocks + frames * rows), an update about as long as a few products
// with A.
#include "linalg/coarse.h"

#include "base/threads.h"
#include "linalg/dense.h"
#include "linalg/kernels.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

enum {
    SLOTS = SN_COARSE_SLOTS,
    STRIDE = SN_COARSE_STRIDE,
    ROWS_PER_FRAME = 64,
    LEAST_ROWS = 400, // below this, the incomplete factor alone is faster
    SWEEPS = 3,       // of averaging the weights
    CANDIDATES = 8,   // weights kept between sweeps
    ROWS_PER_CHUNK = 1024,
    MAX_CHUNKS = 8,
};

typedef struct candidate {
    int32_t frame;
    double weight;
} candidate;

// Chooses seeds, each as far as possible from the earlier ones in the graph, and assigns every row
// to the nearest seed (the earlier one if two are equally near), or to none (-1) in a component
// without a seed.
static void gather_rows(const sn_bsr *pattern, int32_t frames, int32_t *owner, int32_t *distance,
                        int32_t *queue) {
    for (int32_t i = 0; i < pattern->rows; i++) {
        distance[i] = INT32_MAX;
        owner[i] = -1;
    }

    // The next seed is the row farthest from all earlier seeds.
    int32_t seed = 0;
    for (int32_t frame = 0; frame < frames; frame++) {
        int32_t head = 0, tail = 0;
        distance[seed] = 0;
        owner[seed] = frame;
        queue[tail++] = seed;

        // Breadth-first search, limited to rows that are closer to this seed than to earlier ones.
        while (head < tail) {
            int32_t i = queue[head++];
            for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
                int32_t j = pattern->columns[k];
                if (distance[j] <= distance[i] + 1) {
                    continue;
                }

                distance[j] = distance[i] + 1;
                owner[j] = frame;
                queue[tail++] = j;
            }
        }

        for (int32_t i = 0; i < pattern->rows; i++) {
            if (distance[i] > distance[seed]) {
                seed = i;
            }
        }
    }
}

// Keeps the `limit` largest of `count` candidates in decreasing order; of equal ones the lower
// frame first.
static int32_t keep_largest(candidate *list, int32_t count, int32_t limit) {
    for (int32_t i = 1; i < count; i++) {
        candidate c = list[i];
        int32_t p = i;
        for (; p > 0 && (list[p - 1].weight < c.weight ||
                         (list[p - 1].weight == c.weight && list[p - 1].frame > c.frame));

             p--) {
            list[p] = list[p - 1];
        }
        list[p] = c;
    }

    return count < limit ? count : limit;
}

// One averaging sweep: each row's weights become the mean over its neighbours and itself.
static void average(const sn_bsr *pattern, const candidate *from, candidate *to) {
    for (int32_t i = 0; i < pattern->rows; i++) {
        candidate sum[SN_COARSE_MAX_FRAMES];
        int32_t slot_of[SN_COARSE_MAX_FRAMES], count = 0;
        for (int32_t f = 0; f < SN_COARSE_MAX_FRAMES; f++) {
            slot_of[f] = -1;
        }

        // Sum the weights of the neighbours, frame by frame.
        for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
            const candidate *list = from + CANDIDATES * (size_t)pattern->columns[k];
            for (int32_t c = 0; c < CANDIDATES && list[c].weight > 0; c++) {
                int32_t *at = &slot_of[list[c].frame];
                if (*at < 0) {
                    *at = count++;
                    sum[*at] = (candidate){.frame = list[c].frame};
                }
                sum[*at].weight += list[c].weight;
            }
        }

        // Keep the largest and normalise, so that the weights of a row sum to one.
        count = keep_largest(sum, count, CANDIDATES);
        double total = 0;
        for (int32_t c = 0; c < count; c++) {
            total += sum[c].weight;
        }

        for (int32_t c = 0; c < CANDIDATES; c++) {
            to[CANDIDATES * (size_t)i + (size_t)c] =
                c < count ? (candidate){sum[c].frame, sum[c].weight / total} : (candidate){0};
        }
    }
}

static sinew_status make_weights(sn_arena *scratch, const sn_bsr *pattern, sn_coarse *coarse) {
    int32_t n = pattern->rows;
    int32_t *owner = SN_PUSH(scratch, int32_t, n);
    int32_t *distance = SN_PUSH(scratch, int32_t, n);
    int32_t *queue = SN_PUSH(scratch, int32_t, n); // each seed reaches a row at most once
    candidate *now = SN_PUSH(scratch, candidate, CANDIDATES * (size_t)n);
    candidate *next = SN_PUSH(scratch, candidate, CANDIDATES * (size_t)n);

    // Start with the membership: weight one for the frame that owns the row.
    SN_TRY(sn_arena_status(scratch));
    gather_rows(pattern, coarse->frames, owner, distance, queue);
    for (int32_t i = 0; i < n; i++) {
        if (owner[i] >= 0) {
            now[CANDIDATES * (size_t)i] = (candidate){owner[i], 1};
        }
    }

    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        average(pattern, now, next);
        candidate *swap = now;
        now = next;
        next = swap;
    }

    // Keep the largest weights of each row, normalised again, in the packed order.
    for (int32_t i = 0; i < n; i++) {
        const candidate *list = now + CANDIDATES * (size_t)coarse->packed->order[i];
        double total = 0;
        for (int s = 0; s < SLOTS; s++) {
            total += list[s].weight;
        }

        for (int s = 0; s < SLOTS; s++) {
            size_t k = STRIDE * (size_t)i + (size_t)s;
            coarse->frame[k] = (uint8_t)list[s].frame;
            coarse->weight[k] = (float)(total > 0 ? list[s].weight / total : 0);
        }
    }

    return SINEW_OK;
}

// Lists the frames that have a weight in a row or in a neighbour below the diagonal. slot_of[frame]
// becomes the index in the list of the row, or -1; returns the length of the list.
static int32_t number_frames(const sn_coarse *coarse, int32_t i, int32_t *slot_of, uint8_t *list) {
    const sn_packed *packed = coarse->packed;
    int32_t count = 0;
    for (int32_t f = 0; f < coarse->frames; f++) {
        slot_of[f] = -1;
    }

    for (int32_t k = packed->below[i]; k < packed->starts[i + 1]; k++) {
        // Columns are multiplied by four, and so are the slots.
        for (int s = 0; s < SLOTS; s++) {
            size_t slot = (size_t)(packed->columns[k] + s);
            uint8_t f = coarse->frame[slot];
            if (coarse->weight[slot] == 0 || slot_of[f] >= 0) {
                continue;
            }

            list[count] = f;
            slot_of[f] = count++;
        }
    }

    return count;
}

// Numbers the pairs of a frame of the row and one of its list, and extends the range of the row's
// chunk to contain them.
static void number_pairs(sn_coarse *coarse, int32_t i, const uint8_t *list, int32_t count) {
    sn_coarse_chunk *chunk = &coarse->chunk[i / coarse->chunk_rows];
    for (int s = 0; s < SLOTS; s++) {
        int32_t a = coarse->frame[STRIDE * (size_t)i + (size_t)s];
        if (coarse->weight[STRIDE * (size_t)i + (size_t)s] == 0) {
            continue;
        }

        for (int32_t l = 0; l < count; l++) {
            int32_t *pair = &coarse->pair[a * coarse->frames + list[l]];
            if (*pair < 0) {
                *pair = coarse->pairs++;
            }

            // Extend the range of pairs that this chunk sums.
            int32_t end = chunk->first_pair + chunk->pairs;
            if (chunk->pairs == 0 || *pair >= end) {
                end = *pair + 1;
            }
            if (chunk->pairs == 0 || *pair < chunk->first_pair) {
                chunk->first_pair = *pair;
            }

            chunk->pairs = end - chunk->first_pair;
        }
    }
}

// Counts the lists and their entries, and numbers the coupled pairs of frames. Returns the number
// of entries.
static int64_t count_lists(sn_coarse *coarse) {
    const sn_packed *packed = coarse->packed;
    int64_t entries = 0;
    for (int32_t i = 0; i < packed->rows; i++) {
        int32_t slot_of[SN_COARSE_MAX_FRAMES];
        uint8_t list[SN_COARSE_MAX_FRAMES];
        int32_t count = number_frames(coarse, i, slot_of, list);
        int32_t blocks = packed->starts[i + 1] - packed->below[i];

        coarse->row_starts[i + 1] = coarse->row_starts[i] + count;
        if (blocks > coarse->longest) {
            coarse->longest = blocks;
        }

        for (int32_t k = packed->below[i]; k < packed->starts[i + 1]; k++) {
            for (int s = 0; s < SLOTS; s++) {
                entries += coarse->weight[packed->columns[k] + s] > 0;
            }
        }

        number_pairs(coarse, i, list, count);
    }

    return entries;
}

// Fills the lists: the first pass counts, the second writes.
static void fill_lists(sn_coarse *coarse) {
    const sn_packed *packed = coarse->packed;
    int32_t next = 0;
    for (int32_t i = 0; i < packed->rows; i++) {
        int32_t slot_of[SN_COARSE_MAX_FRAMES];
        int32_t *starts = coarse->entry_starts + coarse->row_starts[i];
        int32_t count =
            number_frames(coarse, i, slot_of, coarse->row_frames + coarse->row_starts[i]);

        for (int32_t l = 0; l < count; l++) {
            starts[l] = 0;
        }

        // Pass 0 counts the entries of each frame, pass 1 writes them.
        for (int pass = 0; pass < 2; pass++) {
            for (int32_t k = packed->below[i]; k < packed->starts[i + 1]; k++) {
                for (int s = 0; s < SLOTS; s++) {
                    size_t slot = (size_t)(packed->columns[k] + s);
                    if (coarse->weight[slot] == 0) {
                        continue;
                    }

                    int32_t *at = &starts[slot_of[coarse->frame[slot]]];
                    if (pass == 1) {
                        coarse->entry_block[*at] = (uint16_t)(k - packed->below[i]);
                        coarse->entry_weight[*at] = coarse->weight[slot];
                    }

                    ++*at;
                }
            }

            // After the first pass counts become starts; after the second, each start has moved to
            // the end of its list.
            if (pass == 0) {
                for (int32_t l = 0, begin = next; l < count; l++) {
                    int32_t length = starts[l];
                    starts[l] = begin;
                    begin += length;
                }
            }
        }

        // Writing has moved each start to the next one: move them back.
        int32_t end = count > 0 ? starts[count - 1] : next;
        for (int32_t l = count - 1; l > 0; l--) {
            starts[l] = starts[l - 1];
        }

        if (count > 0) {
            starts[0] = next;
        }

        next = end;
    }

    coarse->entry_starts[coarse->row_starts[packed->rows]] = next;
}

static int32_t limit(int32_t value, int32_t low, int32_t high) {
    return value < low ? low : value > high ? high : value;
}

// Builds the lists, and allocates the sums over chunks. If there is more than the lists can index,
// there are no frames.
static sinew_status build_lists(sn_arena *arena, sn_coarse *coarse) {
    size_t n = (size_t)coarse->packed->rows;
    coarse->chunks = limit(coarse->packed->rows / ROWS_PER_CHUNK, 1, MAX_CHUNKS);
    coarse->chunk_rows = (coarse->packed->rows + coarse->chunks - 1) / coarse->chunks;
    coarse->chunk = SN_PUSH(arena, sn_coarse_chunk, coarse->chunks);
    SN_TRY(sn_arena_status(arena));

    // Count, and give up on the coarse level if the indices do not fit.
    int64_t entries = count_lists(coarse);
    if (entries > INT32_MAX || coarse->longest > UINT16_MAX) {
        coarse->frames = 0;
        return SINEW_OK;
    }

    coarse->row_frames = SN_PUSH(arena, uint8_t, coarse->row_starts[n]);
    coarse->entry_starts = SN_PUSH(arena, int32_t, (size_t)coarse->row_starts[n] + 1);
    coarse->entry_block = SN_PUSH(arena, uint16_t, entries);
    coarse->entry_weight = SN_PUSH(arena, float, entries);
    coarse->sum = SN_PUSH(arena, double, 48 * (size_t)coarse->pairs);
    coarse->products =
        SN_PUSH(arena, double, 24 * (size_t)coarse->longest * (size_t)coarse->chunks);

    for (int32_t c = 0; c < coarse->chunks; c++) {
        coarse->chunk[c].partial = SN_PUSH(arena, double, 48 * (size_t)coarse->chunk[c].pairs);
    }

    SN_TRY(sn_arena_status(arena));
    fill_lists(coarse);

    return SINEW_OK;
}

static sinew_status build(sn_arena *arena, sn_arena *scratch, const sn_bsr *pattern,
                          sn_coarse *coarse) {
    size_t n = (size_t)pattern->rows;
    size_t frames = (size_t)coarse->frames;

    coarse->row_position = SN_PUSH(arena, double, 4 * n);
    coarse->position = SN_PUSH(arena, float, 4 * n);
    coarse->free = SN_PUSH(arena, uint8_t, n);
    coarse->frame = SN_PUSH(arena, uint8_t, STRIDE * n);
    coarse->weight = SN_PUSH(arena, float, STRIDE *n);
    coarse->row_starts = SN_PUSH(arena, int32_t, n + 1);
    coarse->pair = SN_PUSH(arena, int32_t, frames * frames);
    coarse->center = SN_PUSH(arena, double, 4 * frames);
    coarse->matrix = SN_PUSH(arena, double, 36 * frames * frames);
    coarse->motion = SN_PUSH(arena, double, 2 * 8 * frames);
    coarse->vector = SN_PUSH(arena, double, 6 * frames);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(make_weights(scratch, pattern, coarse));

    for (size_t k = 0; k < frames * frames; k++) {
        coarse->pair[k] = -1;
    }

    return build_lists(arena, coarse);
}

sinew_status sn_coarse_build(sn_arena *arena, const sn_bsr *pattern, const sn_packed *packed,
                             sn_coarse *coarse) {
    *coarse = (sn_coarse){.packed = packed};
    if (pattern->rows < LEAST_ROWS) {
        return SINEW_OK;
    }

    coarse->frames = limit(pattern->rows / ROWS_PER_FRAME, 1, 64) +
                     limit((pattern->rows - 4096) / 512, 0, SN_COARSE_MAX_FRAMES - 64);

    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = build(arena, &scratch, pattern, coarse);

    sn_arena_destroy(&scratch);

    return status;
}

// Positions relative to the centre of the body, and the centre of each frame.
static void place_frames(sn_coarse *coarse, const double *positions) {
    size_t n = (size_t)coarse->packed->rows;
    double middle[3] = {0}, total[SN_COARSE_MAX_FRAMES] = {0};

    // The mean position. Relative positions keep the rotations well conditioned.
    for (size_t k = 0; k < 3 * n; k++) {
        middle[k % 3] += positions[k] / (double)n;
    }

    memset(coarse->center, 0, 4 * (size_t)coarse->frames * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        double *x = coarse->row_position + 4 * i;
        const double *from = positions + 3 * (size_t)coarse->packed->order[i];
        for (size_t c = 0; c < 3; c++) {
            x[c] = from[c] - middle[c];
            coarse->position[4 * i + c] = (float)x[c];
        }

        // Accumulate the weighted centres of the row's frames.
        for (size_t s = 0; s < SLOTS; s++) {
            double w = (double)coarse->weight[STRIDE * i + s];
            double *center = coarse->center + 4 * (size_t)coarse->frame[STRIDE * i + s];
            total[coarse->frame[STRIDE * i + s]] += w;
            for (size_t c = 0; c < 3; c++) {
                center[c] += w * x[c];
            }
        }
    }

    for (int32_t f = 0; f < coarse->frames; f++) {
        if (total[f] > 0) {
            for (int c = 0; c < 3; c++) {
                coarse->center[4 * f + c] /= total[f];
            }
        }
    }
}

typedef struct job {
    sn_coarse *coarse;
    double *z;
    const sn_linalg_kernels *kernels;
} job;

// The components that are coupled to anything, of the rows and of the columns of a block.
static int find_rows(const double *a) {
    return (a[0] != 0 || a[1] != 0 || a[2] != 0) + 2 * (a[3] != 0 || a[4] != 0 || a[5] != 0) +
           4 * (a[6] != 0 || a[7] != 0 || a[8] != 0);
}

static int find_columns(const double *a) {
    return (a[0] != 0 || a[3] != 0 || a[6] != 0) + 2 * (a[1] != 0 || a[4] != 0 || a[7] != 0) +
           4 * (a[2] != 0 || a[5] != 0 || a[8] != 0);
}

// A component is free if it is coupled to another one. Blocks that couple two chunks are in both
// rows, those within a chunk in one. Most rows are found free by their first block.
static void find_free(void *data, int32_t begin, int32_t end, int32_t index) {
    (void)index;
    const sn_coarse *coarse = ((const job *)data)->coarse;
    const sn_packed *packed = coarse->packed;
    uint8_t *free = coarse->free;

    for (int32_t chunk = begin; chunk < end; chunk++) {
        int32_t first = sn_packed_chunk_begin(packed, chunk);
        int32_t last = sn_packed_chunk_end(packed, chunk);

        memset(free + first, 0, (size_t)(last - first));
        for (int32_t i = first; i < last; i++) {
            // Off-diagonal blocks couple component r of row i and component c of row j.
            for (int32_t k = packed->starts[i]; k < packed->starts[i + 1] - 1; k++) {
                const double *block = packed->values + 9 * (size_t)k;
                if (free[i] != 7) {
                    free[i] |= (uint8_t)find_rows(block);
                }
                if (k < packed->lower[i]) {
                    continue;
                }

                int32_t j = packed->columns[k] / 4;
                if (free[j] != 7) {
                    free[j] |= (uint8_t)find_columns(block);
                }
            }

            // The diagonal block couples components of the same row.
            const double *a = packed->values + 9 * (size_t)(packed->starts[i + 1] - 1);
            free[i] |= (uint8_t)((a[1] != 0 || a[2] != 0) + 2 * (a[3] != 0 || a[5] != 0) +
                                 4 * (a[6] != 0 || a[7] != 0));
        }
    }
}

static void assemble_chunk(void *data, int32_t begin, int32_t end, int32_t index) {
    const job *work = data;
    const sn_coarse *coarse = work->coarse;
    const sn_coarse_chunk *chunk = &coarse->chunk[index];
    double *products = coarse->products + 24 * (size_t)coarse->longest * (size_t)index;
    memset(chunk->partial, 0, 48 * (size_t)chunk->pairs * sizeof(double));
    work->kernels->coarse_assemble(chunk->partial, chunk->first_pair, products, coarse, begin, end);
}

// The block of a pair, moved to the centres of its frames. With u = t + omega x (x - c), the forces
// about the origin (f, m) become (f, m - c x f), on both sides.
static void shift_block(double block[6][6], const double *sum, const double *center_a,
                        const double *center_b) {
    sn_vec3 a = sn_load3(center_a);
    sn_vec3 b = sn_load3(center_b);
    sn_vec3 row[6][2];

    // From the right: moments about the centre of frame b.
    for (int r = 0; r < 6; r++) {
        row[r][0] = sn_load3(sum + 8 * r);
        row[r][1] = sn_sub(sn_load3(sum + 8 * r + 4), sn_cross(b, row[r][0]));
    }

    // From the left: moments about the centre of frame a.
    for (int h = 0; h < 2; h++) {
        sn_mat3 force = sn_mat3_transpose(sn_mat3_columns(row[0][h], row[1][h], row[2][h]));
        sn_mat3 moment = sn_mat3_transpose(sn_mat3_columns(row[3][h], row[4][h], row[5][h]));
        moment = sn_mat3_sub(moment, sn_mat3_mul(sn_cross_matrix(a), force));

        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++) {
                block[r][3 * h + c] = force.m[r][c];
                block[3 + r][3 * h + c] = moment.m[r][c];
            }
        }
    }
}

// Adds the partial sums of all chunks, in order.
static void add_chunks(sn_coarse *coarse) {
    memset(coarse->sum, 0, 48 * (size_t)coarse->pairs * sizeof(double));
    for (int32_t c = 0; c < coarse->chunks; c++) {
        const sn_coarse_chunk *chunk = &coarse->chunk[c];
        double *sum = coarse->sum + 48 * (size_t)chunk->first_pair;
        for (size_t k = 0; k < 48 * (size_t)chunk->pairs; k++) {
            sum[k] += chunk->partial[k];
        }
    }
}

// The block (a, b) of P'BP and the transpose of (b, a); false if there is neither.
static bool sum_pair(double block[48], const sn_coarse *coarse, int32_t a, int32_t b) {
    int32_t pair = coarse->pair[a * coarse->frames + b];
    int32_t mirror = coarse->pair[b * coarse->frames + a];
    if (pair < 0 && mirror < 0) {
        return false;
    }

    memset(block, 0, 48 * sizeof *block);
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 6; c++) {
            double *value = &block[8 * r + c + c / 3];
            if (pair >= 0) {
                *value += coarse->sum[48 * (size_t)pair + (size_t)(8 * r + c + c / 3)];
            }
            if (mirror >= 0) {
                *value += coarse->sum[48 * (size_t)mirror + (size_t)(8 * c + r + r / 3)];
            }
        }
    }

    return true;
}

// The lower triangle of the coarse matrix.
static void fill_matrix(sn_coarse *coarse) {
    size_t m = 6 * (size_t)coarse->frames;
    memset(coarse->matrix, 0, m * m * sizeof(double));
    for (int32_t a = 0; a < coarse->frames; a++) {
        for (int32_t b = 0; b <= a; b++) {
            double sum[48], block[6][6];
            if (!sum_pair(sum, coarse, a, b)) {
                continue;
            }

            shift_block(block, sum, coarse->center + 4 * a, coarse->center + 4 * b);
            for (size_t r = 0; r < 6; r++) {
                memcpy(coarse->matrix + (6 * (size_t)a + r) * m + 6 * (size_t)b, block[r],
                       sizeof block[r]);
            }
        }
    }
}

// Motions that move nothing (a frame of prescribed rows, the rotation of a frame about the line on
// which its rows lie) have no stiffness. Such unknowns are removed, and all diagonals are raised by
// a negligible amount, so that combinations of this kind do no harm.
static void regularize(sn_coarse *coarse) {
    const double least = 1e-10, raise = 1e-9;
    size_t m = 6 * (size_t)coarse->frames;
    double largest[2] = {0};

    // The largest stiffness of translations and of rotations.
    for (size_t k = 0; k < m; k++) {
        largest[k % 6 / 3] = fmax(largest[k % 6 / 3], coarse->matrix[k * m + k]);
    }

    for (size_t k = 0; k < m; k++) {
        double *diagonal = &coarse->matrix[k * m + k];
        if (*diagonal > least * largest[k % 6 / 3]) {
            *diagonal *= 1 + raise;
            continue;
        }

        // Decouple an unknown without stiffness.
        for (size_t j = 0; j < k; j++) {
            coarse->matrix[k * m + j] = 0;
        }

        for (size_t i = k + 1; i < m; i++) {
            coarse->matrix[i * m + k] = 0;
        }

        *diagonal = largest[0] > 0 ? largest[0] : 1;
    }
}

void sn_coarse_update(sinew_context *context, sn_coarse *coarse, const double *positions) {
    coarse->usable = false;
    if (coarse->frames == 0) {
        return;
    }
    if (positions) {
        place_frames(coarse, positions); // else all positions stay zero: frames cannot rotate
    }

    job work = {.coarse = coarse, .kernels = sn_linalg_kernels_get()};
    sn_parallel_for(context, coarse->packed->chunks, 1, find_free, &work);
    sn_parallel_for(context, coarse->packed->rows, coarse->chunk_rows, assemble_chunk, &work);
    add_chunks(coarse);
    fill_matrix(coarse);
    regularize(coarse);

    int32_t m = 6 * coarse->frames;
    coarse->usable = sn_dense_cholesky(coarse->matrix, m, m) < 0;
}

// The sums of all chunks, in order; those of one chunk are formed in the second half of `motion`.
static void sum_forces(const sn_coarse *coarse, const double *r) {
    const sn_linalg_kernels *kernels = sn_linalg_kernels_get();
    int32_t count = 8 * coarse->frames;
    memset(coarse->motion, 0, (size_t)count * sizeof(double));

    for (int32_t chunk = 0; chunk < coarse->packed->chunks; chunk++) {
        kernels->coarse_restrict(coarse->motion + count, coarse, r, chunk);
        for (int32_t k = 0; k < count; k++) {
            coarse->motion[k] += coarse->motion[count + k];
        }
    }
}

double sn_coarse_solve(const sn_coarse *coarse, const double *r) {
    if (!coarse->usable) {
        return 0;
    }

    // P'r, with moments about the centres of the frames.
    sum_forces(coarse, r);
    double *vector = coarse->vector;
    double *motion = coarse->motion;
    double addition = 0;
    double forces[6 * SN_COARSE_MAX_FRAMES];

    for (int32_t f = 0; f < coarse->frames; f++) {
        sn_vec3 force = sn_load3(motion + 8 * f);
        sn_vec3 c = sn_load3(coarse->center + 4 * f);
        sn_store3(vector + 6 * f, force);
        sn_store3(vector + 6 * f + 3, sn_sub(sn_load3(motion + 8 * f + 4), sn_cross(c, force)));
    }

    // Solve, and keep the forces to form r'z.
    memcpy(forces, vector, 6 * (size_t)coarse->frames * sizeof(double));
    sn_dense_cholesky_solve(coarse->matrix, 6 * coarse->frames, 6 * coarse->frames, vector);
    for (int32_t k = 0; k < 6 * coarse->frames; k++) {
        addition += forces[k] * vector[k];
    }

    // Convert back: translation of the origin and rotation.
    for (int32_t f = 0; f < coarse->frames; f++) {
        sn_vec3 omega = sn_load3(vector + 6 * f + 3);
        sn_vec3 c = sn_load3(coarse->center + 4 * f);
        sn_store3(motion + 8 * f, sn_sub(sn_load3(vector + 6 * f), sn_cross(omega, c)));
        sn_store3(motion + 8 * f + 4, omega);
    }

    return addition;
}

static void move_chunks(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    for (int32_t c = begin; c < end; c++) {
        work->kernels->coarse_prolong(work->z, work->coarse, work->coarse->motion, c);
    }
}

void sn_coarse_move(sinew_context *context, double *z, const sn_coarse *coarse) {
    if (!coarse->usable) {
        return;
    }
    job work = {.coarse = (sn_coarse *)coarse, .z = z, .kernels = sn_linalg_kernels_get()};
    sn_parallel_for(context, coarse->packed->chunks, 1, move_chunks, &work);
}
