// Sparse matrices for tests; see sparse.h.
#include "support/sparse.h"

#include <string.h>

static bool comes_after(const test_triplet *a, const test_triplet *b) {
    return a->row > b->row || (a->row == b->row && a->column > b->column);
}

// By row and column; merging keeps duplicates in order.
static void sort(test_triplet *triplets, test_triplet *room, int32_t count) {
    if (count < 2) {
        return;
    }

    int32_t half = count / 2;
    sort(triplets, room, half);
    sort(triplets + half, room, count - half);

    int32_t a = 0, b = half;
    for (int32_t k = 0; k < count; k++) {
        bool from_b = a == half || (b < count && comes_after(&triplets[a], &triplets[b]));
        room[k] = triplets[from_b ? b++ : a++];
    }

    memcpy(triplets, room, (size_t)count * sizeof *room);
}

sinew_status test_sparse_from_triplets(sn_arena *arena, int32_t rows, int32_t columns,
                                       const test_triplet *triplets, int32_t count, sn_sparse *A) {
    *A = (sn_sparse){.rows = rows, .columns = columns};
    A->starts = SN_PUSH(arena, int32_t, (size_t)rows + 1);
    A->indices = SN_PUSH(arena, int32_t, count);
    A->values = SN_PUSH(arena, double, count);
    test_triplet *sorted = SN_PUSH(arena, test_triplet, count);
    test_triplet *room = SN_PUSH(arena, test_triplet, count);
    SN_TRY(sn_arena_status(arena));

    for (int32_t k = 0; k < count; k++) {
        sorted[k] = triplets[k];
    }
    sort(sorted, room, count);

    int32_t entry = -1;
    for (int32_t k = 0; k < count; k++) {
        if (k == 0 || comes_after(&sorted[k], &sorted[k - 1])) {
            A->indices[++entry] = sorted[k].column;
            A->starts[sorted[k].row + 1]++;
        }
        A->values[entry] += sorted[k].value;
    }

    for (int32_t i = 0; i < rows; i++) {
        A->starts[i + 1] += A->starts[i];
    }

    return SINEW_OK;
}

static test_triplet *list(test_triplet *out, const sn_sparse *A) {
    for (int32_t i = 0; i < A->rows; i++) {
        for (int32_t k = A->starts[i]; k < A->starts[i + 1]; k++) {
            *out++ = (test_triplet){i, A->indices[k], A->values[k]};
        }
    }
    return out;
}

sinew_status test_sparse_add(sn_arena *arena, const sn_sparse *A, const sn_sparse *B,
                             sn_sparse *sum) {
    int32_t count = sn_sparse_entry_count(A) + sn_sparse_entry_count(B);
    test_triplet *triplets = SN_PUSH(arena, test_triplet, count);
    SN_TRY(sn_arena_status(arena));

    list(list(triplets, A), B);
    return test_sparse_from_triplets(arena, A->rows, A->columns, triplets, count, sum);
}

void test_sparse_multiply(double *y, const sn_sparse *A, const double *x) {
    for (int32_t i = 0; i < A->rows; i++) {
        y[i] = 0;
        for (int32_t k = A->starts[i]; k < A->starts[i + 1]; k++) {
            y[i] += A->values[k] * x[A->indices[k]];
        }
    }
}
