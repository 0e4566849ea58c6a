// The pattern of a block sparse matrix, and the operations that touch each block once.
//
// The pattern is a union of cliques: for each row, the sets it belongs to are visited and new
// columns marked, O(pairs). Rows come out unsorted; transposing a symmetric pattern by visiting its
// rows in ascending order sorts all of them in O(blocks), and the same pass over the sorted pattern
// meets the mirror of each block in order.
#include "linalg/bsr.h"

#include "base/threads.h"
#include "linalg/kernels.h"
#include "linalg/vector.h"
#include "math/simd.h"

#include <math.h>
#include <string.h>

// Rows or blocks that one task of a parallel loop handles.
enum { ROW_CHUNK = 256, BLOCK_CHUNK = 2048 };

// The sets that each node belongs to; set numbers run through all lists.
typedef struct incidence {
    int32_t *starts, *sets;
    int32_t *first; // of each set: the index of its first member in its list
    int32_t *width; // and its number of members
    const int32_t **members;
} incidence;

static int32_t set_begin(const sn_bsr_sets *list, int32_t s) {
    return list->offsets ? list->offsets[s] : s * list->width;
}

static sinew_status check_members(sinew_context *context, int32_t rows, const sn_bsr_sets *list) {
    for (int32_t s = 0; s < list->count; s++) {
        int32_t end = set_begin(list, s + 1);
        for (int32_t k = set_begin(list, s); k < end; k++) {
            if (list->members[k] < 0 || list->members[k] >= rows) {
                return sn_fail(context, SINEW_INVALID_DATA,
                               "set %d names node %d; valid are 0 to %d", s, list->members[k],
                               rows - 1);
            }
        }
    }

    return SINEW_OK;
}

// Lists for each node the sets it belongs to.
static sinew_status build_incidence(sn_arena *scratch, int32_t rows, const sn_bsr_sets *lists,
                                    int32_t list_count, incidence *out) {
    // Check that all indices fit and are in range before anything is allocated.
    int64_t set_count = 0, member_count = 0;
    for (int32_t l = 0; l < list_count; l++) {
        set_count += lists[l].count;
        member_count += lists[l].offsets ? lists[l].offsets[lists[l].count]
                                         : (int64_t)lists[l].count * lists[l].width;
    }

    if (member_count > INT32_MAX || set_count > INT32_MAX) {
        return sn_fail(scratch->context, SINEW_OUT_OF_MEMORY,
                       "%lld members of coupled sets exceed the index range",
                       (long long)member_count);
    }

    for (int32_t l = 0; l < list_count; l++) {
        SN_TRY(check_members(scratch->context, rows, &lists[l]));
    }

    out->starts = SN_PUSH(scratch, int32_t, (size_t)rows + 2);
    out->sets = SN_PUSH(scratch, int32_t, member_count);
    out->first = SN_PUSH(scratch, int32_t, set_count);
    out->width = SN_PUSH(scratch, int32_t, set_count);
    out->members = SN_PUSH(scratch, const int32_t *, list_count > 0 ? set_count : 0);
    SN_TRY(sn_arena_status(scratch));

    // Counting sort by node: starts[node + 2] counts; starts[node + 1] is the write position and
    // becomes the end.
    for (int32_t l = 0, set = 0; l < list_count; l++) {
        for (int32_t s = 0; s < lists[l].count; s++, set++) {
            out->first[set] = set_begin(&lists[l], s);
            out->width[set] = set_begin(&lists[l], s + 1) - out->first[set];
            out->members[set] = lists[l].members;
            for (int32_t k = 0; k < out->width[set]; k++) {
                out->starts[lists[l].members[out->first[set] + k] + 2]++;
            }
        }
    }

    // Prefix sum: starts[node + 1] becomes the start of the node's list.
    for (int32_t i = 0; i < rows; i++) {
        out->starts[i + 2] += out->starts[i + 1];
    }

    // Fill the lists. This advances starts[node + 1] to the end of the list.
    for (int32_t set = 0; set < (int32_t)set_count; set++) {
        const int32_t *members = out->members[set] + out->first[set];
        for (int32_t k = 0; k < out->width[set]; k++) {
            out->sets[out->starts[members[k] + 1]++] = set;
        }
    }

    return SINEW_OK;
}

// Visits the distinct columns of a row, the diagonal first, and writes them to `columns` unless
// that is NULL. Returns their number.
static int32_t collect_row(const incidence *in, int32_t row, int32_t *mark, int32_t *columns) {
    int32_t count = 0;

    // The diagonal.
    mark[row] = row + 1;
    if (columns) {
        columns[count] = row;
    }

    count++;

    // Columns of all sets that contain the row; a mark shows which were seen.
    for (int32_t e = in->starts[row]; e < in->starts[row + 1]; e++) {
        int32_t set = in->sets[e];
        const int32_t *members = in->members[set] + in->first[set];
        for (int32_t k = 0; k < in->width[set]; k++) {
            int32_t column = members[k];
            if (mark[column] == row + 1) {
                continue;
            }

            mark[column] = row + 1;
            if (columns) {
                columns[count] = column;
            }

            count++;
        }
    }

    return count;
}

// Sorts the rows by transposition, and finds diagonals and mirrors. `next` has `rows` entries.
static void sort_and_link(sn_bsr *pattern, const int32_t *unsorted, int32_t *next) {
    for (int32_t i = 0; i < pattern->rows; i++) {
        next[i] = pattern->starts[i];
    }

    // Transpose: visiting rows in ascending order appends ascending columns.
    for (int32_t i = 0; i < pattern->rows; i++) {
        for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
            pattern->columns[next[unsorted[k]]++] = i;
        }
    }

    // Transpose once more, now knowing the order: the k-th visit of row j is its k-th mirror block.
    for (int32_t i = 0; i < pattern->rows; i++) {
        next[i] = pattern->starts[i];
    }

    for (int32_t i = 0; i < pattern->rows; i++) {
        for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
            int32_t j = pattern->columns[k];
            if (j == i) {
                pattern->diagonal[i] = k;
            }
            pattern->mirror[k] = next[j]++;
            SN_ASSERT(pattern->columns[pattern->mirror[k]] == i);
        }
    }
}

static sinew_status build_pattern(sn_arena *arena, sn_arena *scratch, int32_t rows,
                                  const sn_bsr_sets *lists, int32_t list_count, sn_bsr *pattern) {
    incidence in = {0};
    SN_TRY(build_incidence(scratch, rows, lists, list_count, &in));

    int32_t *mark = SN_PUSH(scratch, int32_t, rows);
    pattern->starts = SN_PUSH(arena, int32_t, (size_t)rows + 1);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(arena));

    // First pass: count the blocks of each row.
    int64_t total = 0;
    for (int32_t i = 0; i < rows; i++) {
        total += collect_row(&in, i, mark, NULL);
        if (total > INT32_MAX) {
            return sn_fail(arena->context, SINEW_OUT_OF_MEMORY,
                           "the matrix of %d nodes has more than %d blocks", rows, INT32_MAX);
        }
        pattern->starts[i + 1] = (int32_t)total;
    }

    pattern->rows = rows;
    pattern->blocks = (int32_t)total;
    pattern->columns = SN_PUSH(arena, int32_t, total);
    pattern->mirror = SN_PUSH(arena, int32_t, total);
    pattern->diagonal = SN_PUSH(arena, int32_t, rows);

    int32_t *unsorted = SN_PUSH(scratch, int32_t, total);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(arena));

    // Second pass: write the columns. The marks of the first pass must not be mistaken for new
    // ones.
    memset(mark, 0, (size_t)rows * sizeof *mark);
    for (int32_t i = 0; i < rows; i++) {
        collect_row(&in, i, mark, unsorted + pattern->starts[i]);
    }

    sort_and_link(pattern, unsorted, mark);
    return SINEW_OK;
}

sinew_status sn_bsr_build(sn_arena *arena, int32_t rows, const sn_bsr_sets *lists,
                          int32_t list_count, sn_bsr *pattern) {
    SN_ASSERT(rows >= 0 && list_count >= 0);
    *pattern = (sn_bsr){0};
    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = build_pattern(arena, &scratch, rows, lists, list_count, pattern);
    sn_arena_destroy(&scratch);
    return status;
}

int32_t sn_bsr_find(const sn_bsr *pattern, int32_t row, int32_t column) {
    SN_ASSERT(row >= 0 && row < pattern->rows);
    int32_t low = pattern->starts[row];
    int32_t high = pattern->starts[row + 1] - 1;

    // Binary search.
    while (low <= high) {
        int32_t middle = low + (high - low) / 2;
        if (pattern->columns[middle] == column) {
            return middle;
        }

        if (pattern->columns[middle] < column) {
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }

    return -1;
}

size_t sn_bsr_value_count(const sn_bsr *pattern) {
    return 9 * (size_t)pattern->blocks + SN_BSR_TAIL;
}

double *sn_bsr_push_values(sn_arena *arena, const sn_bsr *pattern) {
    return SN_PUSH(arena, double, sn_bsr_value_count(pattern));
}

// The arguments of a parallel loop over rows or blocks; unused members stay NULL.
typedef struct job {
    const sn_bsr *pattern;
    double *Y;
    const double *A, *x, *b;
    const uint8_t *mask;
    double s;
} job;

static void zero_blocks(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    memset(work->Y + 9 * (size_t)begin, 0, 9 * (size_t)(end - begin) * sizeof(double));
}

void sn_bsr_set_zero(sinew_context *context, const sn_bsr *pattern, double *A) {
    sn_parallel_for(context, pattern->blocks, BLOCK_CHUNK, zero_blocks, &(job){.Y = A});
}

static void zero_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    const sn_bsr *pattern = work->pattern;

    for (int32_t i = begin; i < end; i++) {
        size_t first = (size_t)pattern->starts[i];
        size_t last = (size_t)pattern->diagonal[i];
        memset(work->Y + 9 * first, 0, 9 * (last + 1 - first) * sizeof(double));
    }
}

void sn_bsr_set_zero_lower(sinew_context *context, const sn_bsr *pattern, double *A) {
    sn_parallel_for(context, pattern->rows, ROW_CHUNK, zero_rows,
                    &(job){.pattern = pattern, .Y = A});
}

static void scale_blocks(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    for (size_t k = 9 * (size_t)begin; k < 9 * (size_t)end; k++) {
        work->Y[k] = work->s * work->A[k];
    }
}

void sn_bsr_scale(sinew_context *context, const sn_bsr *pattern, double *Y, double s,
                  const double *A) {
    sn_parallel_for(context, pattern->blocks, BLOCK_CHUNK, scale_blocks,
                    &(job){.Y = Y, .A = A, .s = s});
}

static void add_blocks(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    for (size_t k = 9 * (size_t)begin; k < 9 * (size_t)end; k++) {
        work->Y[k] += work->s * work->A[k];
    }
}

void sn_bsr_add_scaled(sinew_context *context, const sn_bsr *pattern, double *Y, double s,
                       const double *A) {
    sn_parallel_for(context, pattern->blocks, BLOCK_CHUNK, add_blocks,
                    &(job){.Y = Y, .A = A, .s = s});
}

static void add_diagonal_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    for (int32_t i = begin; i < end; i++) {
        double *block = work->Y + 9 * (size_t)work->pattern->diagonal[i];
        for (int c = 0; c < 3; c++) {
            block[4 * c] += work->s * work->x[3 * i + c];
        }
    }
}

void sn_bsr_add_diagonal(sinew_context *context, const sn_bsr *pattern, double *A, double s,
                         const double *d) {
    sn_parallel_for(context, pattern->rows, BLOCK_CHUNK, add_diagonal_rows,
                    &(job){.pattern = pattern, .Y = A, .x = d, .s = s});
}

static void mirror_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    sn_linalg_kernels_get()->bsr_mirror(work->Y, work->pattern, begin, end);
}

void sn_bsr_mirror(sinew_context *context, const sn_bsr *pattern, double *A) {
    sn_parallel_for(context, pattern->rows, ROW_CHUNK, mirror_rows,
                    &(job){.pattern = pattern, .Y = A});
}

static void close_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    sn_linalg_kernels_get()->bsr_close(work->Y, work->pattern, begin, end);
}

void sn_bsr_close_diagonal(sinew_context *context, const sn_bsr *pattern, double *A) {
    sn_parallel_for(context, pattern->rows, ROW_CHUNK, close_rows,
                    &(job){.pattern = pattern, .Y = A});
}

static void multiply_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    sn_linalg_kernels_get()->bsr_multiply(work->Y, work->pattern->starts, work->pattern->columns,
                                          work->A, work->x, begin, end);
}

void sn_bsr_multiply(sinew_context *context, const sn_bsr *pattern, double *y, const double *A,
                     const double *x) {
    SN_ASSERT(y != x);
    sn_parallel_for(context, pattern->rows, ROW_CHUNK, multiply_rows,
                    &(job){.pattern = pattern, .Y = y, .A = A, .x = x});
}

static double multiply_dot_rows(void *data, int32_t begin, int32_t end) {
    job *work = data;
    sn_linalg_kernels_get()->bsr_multiply(work->Y, work->pattern->starts, work->pattern->columns,
                                          work->A, work->x, begin, end);
    return sn_linalg_kernels_get()->dot(work->x + 3 * (size_t)begin, work->Y + 3 * (size_t)begin,
                                        3 * (end - begin));
}

double sn_bsr_multiply_dot(sinew_context *context, const sn_bsr *pattern, double *y,
                           const double *A, const double *x) {
    SN_ASSERT(y != x);
    return sn_parallel_sum(context, pattern->rows, ROW_CHUNK, multiply_dot_rows,
                           &(job){.pattern = pattern, .Y = y, .A = A, .x = x});
}

// The product of a chunk is buffered, so that r may be b.
static void residual_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    double Ax[3 * ROW_CHUNK];
    SN_ASSERT(end - begin <= ROW_CHUNK);
    sn_linalg_kernels_get()->bsr_multiply(Ax, work->pattern->starts + begin, work->pattern->columns,
                                          work->A, work->x, 0, end - begin);

    for (int32_t k = 3 * begin; k < 3 * end; k++) {
        work->Y[k] = work->b[k] - Ax[k - 3 * begin];
    }
}

double sn_bsr_residual(sinew_context *context, const sn_bsr *pattern, double *r, const double *A,
                       const double *x, const double *b) {
    SN_ASSERT(r != x);
    sn_parallel_for(context, pattern->rows, ROW_CHUNK, residual_rows,
                    &(job){.pattern = pattern, .Y = r, .A = A, .x = x, .b = b});
    return sn_vector_norm(context, 3 * pattern->rows, r);
}

static void constrain_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    const sn_bsr *pattern = work->pattern;

    for (int32_t i = begin; i < end; i++) {
        const uint8_t *row_mask = work->mask + 3 * (size_t)i;
        int row_any = row_mask[0] | row_mask[1] | row_mask[2];
        for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
            const uint8_t *column_mask = work->mask + 3 * (size_t)pattern->columns[k];
            if (!(row_any | column_mask[0] | column_mask[1] | column_mask[2])) {
                continue; // most blocks
            }

            double *block = work->Y + 9 * (size_t)k;
            for (int r = 0; r < 3; r++) {
                for (int c = 0; c < 3; c++) {
                    if (row_mask[r] || column_mask[c]) {
                        block[3 * r + c] = 0;
                    }
                }
            }
        }

        // Unit diagonal for the prescribed unknowns of this row.
        double *diagonal = work->Y + 9 * (size_t)pattern->diagonal[i];
        for (int r = 0; r < 3; r++) {
            if (row_mask[r]) {
                diagonal[4 * r] = 1;
            }
        }
    }
}

void sn_bsr_constrain(sinew_context *context, const sn_bsr *pattern, double *A,
                      const uint8_t *mask) {
    sn_parallel_for(context, pattern->rows, ROW_CHUNK, constrain_rows,
                    &(job){.pattern = pattern, .Y = A, .mask = mask});
}

static void multiply_masked_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    job *work = data;
    const sn_bsr *pattern = work->pattern;

    for (int32_t i = begin; i < end; i++) {
        double y[3] = {0};
        for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
            size_t j = 3 * (size_t)pattern->columns[k];
            bool above = k > pattern->diagonal[i];
            const double *block = work->A + 9 * (size_t)(above ? pattern->mirror[k] : k);

            // Blocks above the diagonal are read from their mirror block, transposed.
            int across = above ? 3 : 1;
            int down = above ? 1 : 3;

            // Multiply the prescribed columns only.
            for (int c = 0; c < 3; c++) {
                if (!work->mask[j + (size_t)c]) {
                    continue;
                }
                for (int r = 0; r < 3; r++) {
                    y[r] += block[down * r + across * c] * work->x[j + (size_t)c];
                }
            }
        }

        memcpy(work->Y + 3 * (size_t)i, y, sizeof y);
    }
}

void sn_bsr_multiply_masked(sinew_context *context, const sn_bsr *pattern, double *y,
                            const double *A, const double *x, const uint8_t *mask) {
    SN_ASSERT(y != x);
    sn_parallel_for(context, pattern->rows, ROW_CHUNK, multiply_masked_rows,
                    &(job){.pattern = pattern, .Y = y, .A = A, .x = x, .mask = mask});
}

void sn_bsr_to_dense(const sn_bsr *pattern, double *dense, const double *A) {
    size_t n = 3 * (size_t)pattern->rows;
    memset(dense, 0, n * n * sizeof *dense);
    for (size_t i = 0; i < (size_t)pattern->rows; i++) {
        for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
            size_t j = (size_t)pattern->columns[k];
            for (size_t r = 0; r < 3; r++) {
                for (size_t c = 0; c < 3; c++) {
                    dense[(3 * i + r) * n + 3 * j + c] = A[9 * (size_t)k + 3 * r + c];
                }
            }
        }
    }
}
