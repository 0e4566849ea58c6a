// Scalar sparse matrices by rows. Everything is linear in the number of entries (or products, for
// A'A): rows are sorted by transposing or counting, never by comparison.
#include "linalg/sparse.h"

#include "base/threads.h"
#include "linalg/supernodal.h"

#include <math.h>
#include <string.h>

// Turns counts in starts[1 .. n] into starts.
static void accumulate(int32_t *starts, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        starts[i + 1] += starts[i];
    }
}

static sinew_status push_matrix(sn_arena *arena, int32_t rows, int32_t columns, int64_t entries,
                                sn_sparse *A) {
    if (entries > INT32_MAX) {
        return sn_fail(arena->context, SINEW_OUT_OF_MEMORY, "%lld entries exceed the index range",
                       (long long)entries);
    }

    A->rows = rows;
    A->columns = columns;
    if (!A->starts) {
        A->starts = SN_PUSH(arena, int32_t, (size_t)rows + 1);
    }

    A->indices = SN_PUSH(arena, int32_t, entries);
    A->values = SN_PUSH(arena, double, entries);

    return sn_arena_status(arena);
}

sinew_status sn_sparse_transpose(sn_arena *arena, const sn_sparse *A, sn_sparse *transposed) {
    *transposed = (sn_sparse){0};
    SN_TRY(push_matrix(arena, A->columns, A->rows, sn_sparse_entry_count(A), transposed));

    // Count the entries of each column.
    int32_t *starts = transposed->starts;
    for (int32_t k = 0; k < sn_sparse_entry_count(A); k++) {
        starts[A->indices[k] + 1]++;
    }

    accumulate(starts, A->columns);

    // Visiting rows in ascending order sorts the columns.
    for (int32_t i = 0; i < A->rows; i++) {
        for (int32_t k = A->starts[i]; k < A->starts[i + 1]; k++) {
            int32_t next = starts[A->indices[k]]++;
            transposed->indices[next] = i;
            transposed->values[next] = A->values[k];
        }
    }

    // Each start has moved to the next one: move them back.
    for (int32_t j = A->columns; j > 0; j--) {
        starts[j] = starts[j - 1];
    }

    starts[0] = 0;
    return SINEW_OK;
}

// Row i of A'A: the sum over the rows k of A that have an entry in column i. Indices come out
// unsorted. If indices == NULL it only counts. `next` maps a column to its entry; values before
// `begin` belong to earlier rows.
static int32_t multiply_row(const sn_sparse *A, const sn_sparse *transposed, int32_t i,
                            int32_t begin, int32_t *next, int32_t *indices, double *values) {
    int32_t end = begin;
    for (int32_t e = transposed->starts[i]; e < transposed->starts[i + 1]; e++) {
        int32_t row = transposed->indices[e];
        for (int32_t k = A->starts[row]; k < A->starts[row + 1]; k++) {
            int32_t j = A->indices[k];
            if (next[j] < begin) {
                next[j] = end++;
                if (indices) {
                    indices[next[j]] = j;
                }
            }

            if (values) {
                values[next[j]] += transposed->values[e] * A->values[k];
            }
        }
    }

    return end;
}

static sinew_status multiply_normal(sn_arena *arena, sn_arena *scratch, const sn_sparse *A,
                                    sn_sparse *normal) {
    sn_sparse transposed, unsorted = {0};
    SN_TRY(sn_sparse_transpose(scratch, A, &transposed));

    int32_t n = A->columns;
    int32_t *next = SN_PUSH(scratch, int32_t, n);

    SN_TRY(sn_arena_status(scratch));

    // Count the entries.
    int64_t total = 0;
    for (int32_t j = 0; j < n; j++) {
        next[j] = -1;
    }

    for (int32_t i = 0; i < n; i++) {
        // Entry numbers keep increasing from row to row, so that old values in `next` can be
        // recognised.
        if (total > INT32_MAX - n) {
            break;
        }
        total = multiply_row(A, &transposed, i, (int32_t)total, next, NULL, NULL);
    }

    if (total > INT32_MAX - n) {
        return sn_fail(arena->context, SINEW_OUT_OF_MEMORY,
                       "A'A of %d columns has too many entries", n);
    }

    // Compute them, and sort by transposing the symmetric result.
    SN_TRY(push_matrix(scratch, n, n, total, &unsorted));
    for (int32_t j = 0; j < n; j++) {
        next[j] = -1;
    }

    for (int32_t i = 0; i < n; i++) {
        unsorted.starts[i + 1] = multiply_row(A, &transposed, i, unsorted.starts[i], next,
                                              unsorted.indices, unsorted.values);
    }

    return sn_sparse_transpose(arena, &unsorted, normal); // symmetric: transposing only sorts
}

sinew_status sn_sparse_normal(sn_arena *arena, const sn_sparse *A, sn_sparse *normal) {
    *normal = (sn_sparse){0};
    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = multiply_normal(arena, &scratch, A, normal);
    sn_arena_destroy(&scratch);
    return status;
}

typedef struct product {
    const sn_sparse *A;
    const double *x;
    double *y;
} product;

struct sn_factor {
    sn_arena arena;
    sn_supernodal factor;
    double *values; // of the last matrix
    bool *changed;  // rows that differ from it
    bool usable;    // the last update succeeded
    bool changed_since;
    sn_supernodal_change change; // if so
    sn_arena change_arena;
};

sinew_status sn_factor_create(sinew_context *context, const sn_sparse *A, const double *positions,
                              sn_factor **factor) {
    SN_ASSERT(A->rows == A->columns);
    *factor = NULL;

    sn_arena arena = sn_arena_create(context);

    // The symbolic factorisation, and room for the values.
    sn_factor *made = SN_PUSH(&arena, sn_factor, 1);
    sinew_status status = sn_arena_status(&arena);

    if (status == SINEW_OK) {
        status = sn_supernodal_build(&arena, A->rows, 1, A->starts, A->indices, positions,
                                     &made->factor);
    }

    if (status == SINEW_OK) {
        made->values = SN_PUSH(&arena, double, sn_sparse_entry_count(A));
        made->changed = SN_PUSH(&arena, bool, A->rows);
        status = sn_arena_status(&arena);
    }

    if (status != SINEW_OK) {
        sn_arena_destroy(&arena);
        return status;
    }

    // Take over the arena.
    made->arena = arena;
    made->change_arena = sn_arena_create(context);
    *factor = made;

    return SINEW_OK;
}

void sn_factor_destroy(sn_factor *factor) {
    if (!factor) {
        return;
    }
    sn_arena_destroy(&factor->change_arena);
    sn_arena arena = factor->arena; // the factor lives in it
    sn_arena_destroy(&arena);
}

int32_t sn_factor_update(sn_factor *factor, const sn_sparse *A) {
    SN_ASSERT(A->rows == factor->factor.n);

    // Find the rows that differ from the last matrix.
    for (int32_t i = 0; i < A->rows; i++) {
        size_t begin = (size_t)A->starts[i];
        size_t size = (size_t)(A->starts[i + 1] - A->starts[i]) * sizeof(double);
        factor->changed[i] = memcmp(factor->values + begin, A->values + begin, size) != 0;
    }

    memcpy(factor->values, A->values, (size_t)sn_sparse_entry_count(A) * sizeof(double));
    bool finite;

    factor->changed_since = false;
    int32_t bad = sn_supernodal_update(&factor->factor, A->values,
                                       factor->usable ? factor->changed : NULL, &finite);

    factor->usable = bad < 0;
    return bad;
}

sinew_status sn_factor_change(sn_factor *factor, const sn_row_set *added, const sn_row_set *removed,
                              bool *done) {
    *done = false;
    if (!factor->usable) {
        return SINEW_OK;
    }

    sn_arena arena = sn_arena_create(factor->arena.context);
    sn_supernodal_change change;
    sinew_status status =
        sn_supernodal_change_build(&arena, &factor->factor, added, removed, &change, done);

    // The caller has to update instead.
    if (!*done) {
        sn_arena_destroy(&arena);
        return status;
    }

    sn_arena_destroy(&factor->change_arena);
    factor->change_arena = arena;
    factor->change = change;
    factor->changed_since = true;

    return SINEW_OK;
}

void sn_factor_solve(sn_factor *factor, double *x, int32_t count) {
    SN_ASSERT(count % 4 == 0);
    const sn_supernodal_change *change = factor->changed_since ? &factor->change : NULL;
    for (int32_t done = 0, next; done < count; done += next) {
        next = count - done < SN_SUPERNODAL_MAX_SIDES ? count - done : SN_SUPERNODAL_MAX_SIDES;
        sn_supernodal_solve_fours(&factor->factor, change, x + done, next, (size_t)count);
    }
}
