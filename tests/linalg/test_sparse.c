// Scalar sparse matrices compared with dense ones, and the factor for many right-hand sides.
#include "support/sparse.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 23, COLUMNS = 17, ENTRIES = 150 };

static void random_triplets(test_triplet *triplets, int32_t count, int32_t rows, int32_t columns,
                            uint64_t seed) {
    sn_random random = sn_random_seed(seed);
    for (int32_t k = 0; k < count; k++) {
        triplets[k].row = (int32_t)(sn_random_u32(&random) % (uint32_t)rows);
        triplets[k].column = (int32_t)(sn_random_u32(&random) % (uint32_t)columns);
        triplets[k].value = sn_random_range(&random, -1, 1);
    }
}

static void to_dense(double *dense, const sn_sparse *A) {
    memset(dense, 0, (size_t)(A->rows * A->columns) * sizeof *dense);
    for (int32_t i = 0; i < A->rows; i++) {
        for (int32_t k = A->starts[i]; k < A->starts[i + 1]; k++) {
            if (k > A->starts[i]) {
                assert_true(A->indices[k] > A->indices[k - 1]); // sorted, no duplicates
            }
            dense[i * A->columns + A->indices[k]] = A->values[k];
        }
    }
}

static void test_transpose_and_normal_matrix(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sn_arena arena = sn_arena_create(context);
    test_triplet triplets[ENTRIES];

    // Assembly adds triplets with the same row and column.
    random_triplets(triplets, ENTRIES, ROWS, COLUMNS, 1);
    double expected[ROWS * COLUMNS] = {0}, dense[ROWS * COLUMNS], flipped[ROWS * COLUMNS],
                           square[COLUMNS * COLUMNS];

    for (int k = 0; k < ENTRIES; k++) {
        expected[triplets[k].row * COLUMNS + triplets[k].column] += triplets[k].value;
    }

    sn_sparse A, T, N;
    assert_int_equal(test_sparse_from_triplets(&arena, ROWS, COLUMNS, triplets, ENTRIES, &A),
                     SINEW_OK);
    to_dense(dense, &A);
    assert_memory_equal(dense, expected, sizeof dense); // added in the order given

    // The transpose.
    assert_int_equal(sn_sparse_transpose(&arena, &A, &T), SINEW_OK);
    to_dense(flipped, &T);

    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            assert_true(flipped[j * ROWS + i] == dense[i * COLUMNS + j]);
        }
    }

    // The normal matrix A'A.
    assert_int_equal(sn_sparse_normal(&arena, &A, &N), SINEW_OK);
    to_dense(square, &N);
    for (int i = 0; i < COLUMNS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            double sum = 0;
            for (int k = 0; k < ROWS; k++) {
                sum += dense[k * COLUMNS + i] * dense[k * COLUMNS + j];
            }
            test_close("A'A", square[i * COLUMNS + j], sum, 1e-14);
            assert_true(square[i * COLUMNS + j] == square[j * COLUMNS + i]);
        }
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

// The biharmonic smoothing of a line with a few values pinned: (L'L + C) x = C v, as fields are
// smoothed.
static void make_smoothing(sn_arena *arena, int32_t n, sn_sparse *normal) {
    test_triplet *triplets = SN_PUSH(arena, test_triplet, 4 * n);
    assert_non_null(triplets);

    int32_t count = 0;
    for (int32_t i = 1; i < n - 1; i++) {
        triplets[count++] = (test_triplet){i, i - 1, -1};
        triplets[count++] = (test_triplet){i, i, 2};
        triplets[count++] = (test_triplet){i, i + 1, -1};
    }

    test_triplet pins[3] = {{0, 0, 1}, {n / 2, n / 2, 1}, {n - 1, n - 1, 1}};
    sn_sparse L, LL, C;

    assert_int_equal(test_sparse_from_triplets(arena, n, n, triplets, count, &L), SINEW_OK);
    assert_int_equal(test_sparse_from_triplets(arena, n, n, pins, 3, &C), SINEW_OK);
    assert_int_equal(sn_sparse_normal(arena, &L, &LL), SINEW_OK);
    assert_int_equal(test_sparse_add(arena, &LL, &C, normal), SINEW_OK);
}

static void multiply_side_by_side(double *y, const sn_sparse *A, const double *x, int32_t count) {
    size_t n = (size_t)A->rows;
    size_t width = (size_t)count;
    double *in = malloc(n * sizeof(double));
    double *out = malloc(n * sizeof(double));

    for (size_t c = 0; c < width; c++) {
        for (size_t i = 0; i < n; i++) {
            in[i] = x[i * width + c];
        }

        test_sparse_multiply(out, A, in);
        for (size_t i = 0; i < n; i++) {
            y[i * width + c] = out[i];
        }
    }

    free(in);
    free(out);
}

static void test_factor_serves_many(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);

    enum { N = 60, COUNT = 8 };
    sn_sparse A;

    make_smoothing(&arena, N, &A);
    sn_factor *factor;

    assert_int_equal(sn_factor_create(context, &A, NULL, &factor), SINEW_OK);
    double exact[COUNT * N], x[COUNT * N];
    for (int k = 0; k < COUNT * N; k++) {
        exact[k] = sin(0.1 * k * k);
    }

    multiply_side_by_side(x, &A, exact, COUNT);
    int64_t before = context->allocations;

    assert_int_equal(sn_factor_update(factor, &A), -1);
    sn_factor_solve(factor, x, COUNT);
    assert_int_equal(context->allocations, before);

    // Single precision at a condition of about 1e6; a solve for the residual gains the same number
    // of digits again.
    assert_true(test_relative_error(x, exact, COUNT * N) < 0.06);

    double residual[COUNT * N], product[COUNT * N];
    multiply_side_by_side(residual, &A, exact, COUNT);
    multiply_side_by_side(product, &A, x, COUNT);

    for (int i = 0; i < COUNT * N; i++) {
        residual[i] -= product[i];
    }

    sn_factor_solve(factor, residual, COUNT);
    for (int i = 0; i < COUNT * N; i++) {
        x[i] += residual[i];
    }

    assert_true(test_relative_error(x, exact, COUNT * N) < 1e-8);

    // A matrix that is not positive definite is reported, and the next valid one works again.
    double diagonal = A.values[A.starts[7]];
    for (int32_t k = A.starts[7]; k < A.starts[8]; k++) {
        if (A.indices[k] == 7) {
            diagonal = A.values[k];
            A.values[k] = -1;
            assert_in_range(sn_factor_update(factor, &A), 0, N - 1);
            A.values[k] = NAN;
            assert_in_range(sn_factor_update(factor, &A), 0, N - 1);
            A.values[k] = diagonal;
        }
    }

    assert_int_equal(sn_factor_update(factor, &A), -1);
    sn_factor_destroy(factor);
    sn_factor_destroy(NULL);
    sn_arena_destroy(&arena);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

// The smoothing system of a grid, in which rows of means over five neighbours are added and
// removed: the corrected old factor gives the same solution as a new one.
typedef struct grid_change {
    int32_t starts[2][12], columns[2][11 * 5];
    double weights[2][11 * 5];
    sn_row_set sets[2]; // added, removed
} grid_change;

enum { GRID = 24, GRID_N = GRID * GRID, CHANGE_ROWS = 11 };

static void fill_change(grid_change *change, int32_t added, int32_t removed) {
    for (int s = 0; s < 2; s++) {
        int32_t count = s == 0 ? added : removed;
        for (int32_t r = 0; r < count; r++) {
            int32_t middle = (3 + r) * GRID + (s == 0 ? 8 : 15);
            int32_t around[5] = {middle, middle - 1, middle + 1, middle - GRID, middle + GRID};
            for (int k = 0; k < 5; k++) {
                change->columns[s][5 * r + k] = around[k];
                change->weights[s][5 * r + k] = k == 0 ? 0.5 : 0.1 + 0.01 * k;
            }

            change->starts[s][r + 1] = 5 * (r + 1);
        }

        change->sets[s] =
            (sn_row_set){count, change->starts[s], change->columns[s], change->weights[s]};
    }
}

// values += sign u u' for each row
static void add_rows(sn_sparse *A, const sn_row_set *rows, double sign) {
    for (int32_t r = 0; r < rows->count; r++) {
        for (int32_t a = rows->starts[r]; a < rows->starts[r + 1]; a++) {
            for (int32_t b = rows->starts[r]; b < rows->starts[r + 1]; b++) {
                int32_t k = A->starts[rows->columns[a]];
                while (A->indices[k] != rows->columns[b]) {
                    k++;
                }
                A->values[k] += sign * rows->weights[a] * rows->weights[b];
            }
        }
    }
}

static void make_grid(sn_arena *arena, sn_sparse *A) {
    static test_triplet triplets[5 * GRID_N];
    int32_t count = 0;
    for (int32_t i = 0; i < GRID_N; i++) {
        int32_t x = i % GRID;
        int32_t y = i / GRID;
        int32_t degree = 0;
        int32_t around[4] = {x > 0 ? i - 1 : -1, x < GRID - 1 ? i + 1 : -1, y > 0 ? i - GRID : -1,
                             y < GRID - 1 ? i + GRID : -1};

        for (int k = 0; k < 4; k++) {
            if (around[k] < 0) {
                continue;
            }
            triplets[count++] = (test_triplet){i, around[k], -1};
            degree++;
        }

        triplets[count++] = (test_triplet){i, i, degree + 0.03};
    }

    sn_sparse L;
    assert_int_equal(test_sparse_from_triplets(arena, GRID_N, GRID_N, triplets, count, &L),
                     SINEW_OK);
    assert_int_equal(sn_sparse_normal(arena, &L, A), SINEW_OK);
}

static void test_changed_rows(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    static const int32_t counts[4][2] = {{11, 11}, {3, 0}, {0, 5}, {4, 11}};

    for (int trial = 0; trial < 4; trial++) {
        sn_arena arena = sn_arena_create(context);
        sn_sparse A;
        grid_change change = {0};

        make_grid(&arena, &A);
        fill_change(&change, counts[trial][0], counts[trial][1]);
        add_rows(&A, &change.sets[1], 1);

        sn_factor *factor;
        bool done;

        assert_int_equal(sn_factor_create(context, &A, NULL, &factor), SINEW_OK);
        assert_int_equal(sn_factor_change(factor, &change.sets[0], &change.sets[1], &done),
                         SINEW_OK);
        assert_false(done); // nothing is factored yet
        assert_int_equal(sn_factor_update(factor, &A), -1);
        assert_int_equal(sn_factor_change(factor, &change.sets[0], &change.sets[1], &done),
                         SINEW_OK);
        assert_true(done);
        add_rows(&A, &change.sets[0], 1);
        add_rows(&A, &change.sets[1], -1);

        static double exact[4 * GRID_N], b[4 * GRID_N], x[4 * GRID_N], product[4 * GRID_N];
        for (int k = 0; k < 4 * GRID_N; k++) {
            exact[k] = sin(0.1 * k * k);
        }

        multiply_side_by_side(b, &A, exact, 4);
        for (int fresh = 0; fresh < 2; fresh++) { // corrected, and factored again
            if (fresh) {
                assert_int_equal(sn_factor_update(factor, &A), -1);
            }
            memcpy(x, b, sizeof x);
            sn_factor_solve(factor, x, 4);

            double first = test_relative_error(x, exact, 4 * GRID_N);
            assert_true(first < 0.01); // single precision at a condition of about 1e5
            multiply_side_by_side(product, &A, x, 4);

            for (int k = 0; k < 4 * GRID_N; k++) {
                product[k] = b[k] - product[k];
            }

            sn_factor_solve(factor, product, 4);
            for (int k = 0; k < 4 * GRID_N; k++) {
                x[k] += product[k];
            }

            // Each solve gains the same number of digits.
            assert_true(test_relative_error(x, exact, 4 * GRID_N) < 10 * first * first);
        }

        sn_factor_destroy(factor);
        sn_arena_destroy(&arena);
    }

    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

// A change is refused if it makes the matrix singular or costs more than a new factor.
static void test_refused_changes(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    sn_sparse A;

    make_grid(&arena, &A);
    sn_factor *factor;

    assert_int_equal(sn_factor_create(context, &A, NULL, &factor), SINEW_OK);
    assert_int_equal(sn_factor_update(factor, &A), -1);

    int32_t starts[2] = {0, 1};
    int32_t none[1] = {0};
    int32_t column[1] = {GRID_N / 2};
    double weight[1] = {10};
    sn_row_set nothing = {0, none, column, weight};
    sn_row_set heavy = {1, starts, column, weight};
    bool done;

    assert_int_equal(sn_factor_change(factor, &nothing, &heavy, &done), SINEW_OK);
    assert_false(done);
    assert_int_equal(sn_factor_change(factor, &heavy, &nothing, &done), SINEW_OK);
    assert_true(done);

    static int32_t all_starts[GRID_N + 1], all[GRID_N];
    static double ones[GRID_N];
    for (int32_t i = 0; i < GRID_N; i++) {
        all_starts[i + 1] = i + 1;
        all[i] = i;
        ones[i] = 1;
    }

    sn_row_set everywhere = {GRID_N, all_starts, all, ones};
    assert_int_equal(sn_factor_change(factor, &everywhere, &nothing, &done), SINEW_OK);
    assert_false(done);
    sn_factor_destroy(factor);
    sn_arena_destroy(&arena);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

static void test_memory_shortage_of_changes(void **state) {
    (void)state;
    bool done = false;
    for (int64_t n = 1; !done; n++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);
        sn_arena arena = sn_arena_create(context);
        sn_sparse A;
        sn_factor *factor;
        grid_change change = {0};

        make_grid(&arena, &A);
        fill_change(&change, 2, 0);
        assert_int_equal(sn_factor_create(context, &A, NULL, &factor), SINEW_OK);
        assert_int_equal(sn_factor_update(factor, &A), -1);
        allocator.fail_at = allocator.calls + n;

        sinew_status status = sn_factor_change(factor, &change.sets[0], &change.sets[1], &done);
        assert_int_equal(status, done ? SINEW_OK : SINEW_OUT_OF_MEMORY);
        sn_factor_destroy(factor);
        sn_arena_destroy(&arena);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        assert_true(n < 200);
    }
}

static void test_memory_shortage(void **state) {
    (void)state;
    bool done = false;
    for (int64_t fail_at = 1; !done; fail_at++) {
        test_allocator allocator = {.fail_at = fail_at};
        sinew_context *context = test_context_failing(&allocator);
        sn_arena arena = sn_arena_create(context);
        test_triplet triplets[ENTRIES + 1];

        random_triplets(triplets, ENTRIES, ROWS, ROWS, 3);
        sn_sparse A, N, S;
        sn_factor *factor = NULL;
        sinew_status status = test_sparse_from_triplets(&arena, ROWS, ROWS, triplets, ENTRIES, &A);

        if (status == SINEW_OK) {
            status = sn_sparse_normal(&arena, &A, &N);
        }
        if (status == SINEW_OK) {
            status = test_sparse_add(&arena, &N, &N, &S);
        }
        if (status == SINEW_OK) {
            status = sn_factor_create(context, &S, NULL, &factor);
        }

        done = status == SINEW_OK;
        if (!done) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        sn_factor_destroy(factor);
        sn_arena_destroy(&arena);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        assert_true(fail_at < 200);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transpose_and_normal_matrix),
        cmocka_unit_test(test_factor_serves_many),
        cmocka_unit_test(test_changed_rows),
        cmocka_unit_test(test_refused_changes),
        cmocka_unit_test(test_memory_shortage_of_changes),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
