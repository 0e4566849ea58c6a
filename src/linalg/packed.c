// Orders a block matrix for conjugate gradients and cuts it into parts; see packed.h. Linear time.
#include "linalg/packed.h"

#include "base/threads.h"
#include "linalg/graph.h"
#include "linalg/kernels.h"
#include "math/simd.h"

#include <string.h>

// Each separator makes incomplete factors weaker (10 % to 50 % more iterations), and blocks that
// couple two chunks are stored twice.
enum { ROWS_PER_DOMAIN = 8000, MAX_DOMAINS = 8, ROWS_PER_CHUNK = 1000, MAX_CHUNKS = 16 };

// Marks the level sets that become separators: those at equal intervals of the order, unless two
// would touch.
static int32_t mark_separators(const sn_bsr *pattern, const int32_t *order, const int32_t *level,
                               uint8_t *is_separator) {
    int32_t wanted = pattern->rows / ROWS_PER_DOMAIN;
    int32_t marked = 0;
    if (wanted > MAX_DOMAINS) {
        wanted = MAX_DOMAINS;
    }

    // Levels fall along the order; the first and the last level are no separators.
    int32_t previous = level[order[0]] + 1;

    for (int32_t d = 1; d < wanted; d++) {
        int32_t candidate = level[order[(int64_t)pattern->rows * d / wanted]];
        if (candidate >= previous - 1 || candidate == 0) {
            continue;
        }

        is_separator[candidate] = 1;
        previous = candidate;
        marked++;
    }

    return marked;
}

// Writes the final order, domains first, and the part starts. Domain k and separator k alternate
// along the original order.
static void cut(sn_packed *packed, const int32_t *order, const int32_t *level,
                const uint8_t *is_separator) {
    int32_t next = 0;
    int32_t separators = packed->domains - 1;

    packed->parts = packed->domains + separators;

    // Two passes over the order: domains first, then separators.
    for (int sort = 0; sort < 2; sort++) {
        int32_t index = 0; // of the domain or separator
        bool was_separator = false;
        if (sort == 0) {
            packed->part_starts[0] = 0;
        }

        for (int32_t s = 0; s < packed->rows; s++) {
            bool separator = is_separator[level[order[s]]];
            int32_t before = s > 0 ? level[order[s - 1]] : -1;
            bool new_separator = separator && (!was_separator || level[order[s]] != before);

            // Every separator ends a domain.
            if (sort == 0 && new_separator) {
                packed->part_starts[++index] = next;
            }
            if (sort == 1 && new_separator) {
                packed->part_starts[packed->domains + index++] = next;
            }

            was_separator = separator;
            if (separator != (sort == 1)) {
                continue;
            }

            packed->order[next++] = order[s];
        }

        if (sort == 0) {
            packed->part_starts[packed->domains] = next;
        }
    }

    packed->part_starts[packed->parts] = next;
    SN_ASSERT(next == packed->rows);
}

// Counts the blocks of each row and lays the rows out.
static void lay_out(sn_packed *packed, const sn_bsr *pattern, const int32_t *number) {
    int32_t total = 0;
    for (int32_t i = 0; i < packed->rows; i++) {
        int32_t row = packed->order[i];
        int32_t above = 0;
        int32_t below = 0;
        int32_t lower = 0;
        int32_t chunk = i / packed->chunk_rows;

        // Count the blocks of the row by group.
        for (int32_t k = pattern->starts[row]; k < pattern->starts[row + 1]; k++) {
            int32_t j = number[pattern->columns[k]];
            bool inside = j / packed->chunk_rows == chunk;
            above += !inside && j > i;
            below += !inside && j < i;
            lower += inside && j < i;
        }

        packed->starts[i] = total;
        packed->below[i] = total + above;
        packed->lower[i] = total + above + below;
        total += above + below + lower + 1;
    }

    packed->starts[packed->rows] = total;
}

// Visits the columns in ascending order and appends each to the rows it meets, so that groups come
// out sorted; the diagonal is the last of its group. `next_above` and `next_below` have `rows`
// entries.
static void link_blocks(sn_packed *packed, const sn_bsr *pattern, const int32_t *number,
                        int32_t *next_above, int32_t *next_below) {
    memcpy(next_above, packed->starts, (size_t)packed->rows * sizeof(int32_t));
    memcpy(next_below, packed->below, (size_t)packed->rows * sizeof(int32_t));
    for (int32_t j = 0; j < packed->rows; j++) {
        int32_t column = packed->order[j];
        for (int32_t k = pattern->starts[column]; k < pattern->starts[column + 1]; k++) {
            int32_t i = number[pattern->columns[k]];
            bool inside = i / packed->chunk_rows == j / packed->chunk_rows;
            if (inside && j > i) {
                continue;
            }

            // Columns of other chunks below the diagonal come before all columns of this chunk.
            int32_t next = j > i ? next_above[i]++ : next_below[i]++;

            packed->columns[next] = 4 * j;

            // Block (i, j) of this order is at mirror[k] in the original, which is below the
            // diagonal there if k is not.
            bool below = k >= pattern->diagonal[column];
            packed->source[next] = below ? pattern->mirror[k] : ~k;
        }
    }
}

static int32_t limit(int32_t value, int32_t low, int32_t high) {
    return value < low ? low : value > high ? high : value;
}

static sinew_status build(sn_arena *arena, sn_arena *scratch, const sn_bsr *pattern,
                          sn_packed *packed) {
    int32_t n = pattern->rows;
    if (n > INT32_MAX / 4) {
        return sn_fail(arena->context, SINEW_OUT_OF_MEMORY, "%d rows exceed the index range", n);
    }

    int32_t *order = SN_PUSH(scratch, int32_t, n);
    int32_t *level = SN_PUSH(scratch, int32_t, n);
    uint8_t *is_separator = SN_PUSH(scratch, uint8_t, n);

    packed->rows = n;
    packed->order = SN_PUSH(arena, int32_t, n);
    packed->starts = SN_PUSH(arena, int32_t, (size_t)n + 1);
    packed->below = SN_PUSH(arena, int32_t, n);
    packed->lower = SN_PUSH(arena, int32_t, n);
    packed->part_starts = SN_PUSH(arena, int32_t, 2 * MAX_DOMAINS + 1);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(arena));

    // Order, and cut into domains, separators and chunks.
    SN_TRY(sn_graph_rcm(arena->context, pattern, order, level));
    packed->domains = n > 0 ? mark_separators(pattern, order, level, is_separator) + 1 : 1;
    cut(packed, order, level, is_separator);
    packed->chunks = limit(n / ROWS_PER_CHUNK, 1, MAX_CHUNKS);
    packed->chunk_rows = n > 0 ? (n + packed->chunks - 1) / packed->chunks : 1;

    int32_t *number = level; // the levels are no longer needed
    for (int32_t i = 0; i < n; i++) {
        number[packed->order[i]] = i;
    }

    // Lay out the blocks, and link them to those of the original.
    lay_out(packed, pattern, number);
    packed->columns = SN_PUSH(arena, int32_t, packed->starts[n]);
    packed->source = SN_PUSH(arena, int32_t, packed->starts[n]);
    packed->values = SN_PUSH(arena, double, 9 * (size_t)packed->starts[n] + SN_BSR_TAIL);

    int32_t *next = SN_PUSH(scratch, int32_t, n);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(arena));
    link_blocks(packed, pattern, number, order, next);

    return SINEW_OK;
}

sinew_status sn_packed_build(sn_arena *arena, const sn_bsr *pattern, sn_packed *packed) {
    *packed = (sn_packed){0};
    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = build(arena, &scratch, pattern, packed);
    sn_arena_destroy(&scratch);
    return status;
}

typedef struct job {
    sn_packed *packed;
    const double *A;
} job;

static void copy_blocks(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    sn_linalg_kernels_get()->packed_copy(work->packed, work->A, begin, end);
}

void sn_packed_update(sinew_context *context, sn_packed *packed, const double *A) {
    sn_parallel_for(context, packed->starts[packed->rows], 2048, copy_blocks, &(job){packed, A});
}

typedef struct product {
    const sn_packed *packed;
    const double *x;
    double *y;
    const sn_linalg_kernels *kernels;
} product;

static double multiply_chunks(void *data, int32_t begin, int32_t end) {
    product *work = data;
    double sum = 0;
    for (int32_t chunk = begin; chunk < end; chunk++) {
        sum += work->kernels->packed_multiply(work->y, work->packed, work->x, chunk);
    }
    return sum;
}

double sn_packed_multiply(sinew_context *context, double *y, const sn_packed *packed,
                          const double *x) {
    SN_ASSERT(y != x);
    product work = {packed, x, y, sn_linalg_kernels_get()};
    return sn_parallel_sum(context, packed->chunks, 1, multiply_chunks, &work);
}

void sn_packed_gather(double *packed_vector, const sn_packed *packed, double s, const double *x) {
    for (int32_t i = 0; i < packed->rows; i++) {
        const double *from = x + 3 * (size_t)packed->order[i];
        double *to = packed_vector + 4 * (size_t)i;
        for (int c = 0; c < 3; c++) {
            to[c] = s * from[c];
        }
        to[3] = 0;
    }
}

void sn_packed_scatter(double *x, const sn_packed *packed, double s, const double *packed_vector) {
    for (int32_t i = 0; i < packed->rows; i++) {
        double *to = x + 3 * (size_t)packed->order[i];
        for (int c = 0; c < 3; c++) {
            to[c] = s * packed_vector[4 * (size_t)i + (size_t)c];
        }
    }
}
