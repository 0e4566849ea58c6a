// The block sparse matrix compared with a dense one: pattern, products, Dirichlet conditions, and
// equal results for any number of threads.
#include "support/bar.h"
#include "support/test.h"

#include "linalg/bsr.h"
#include "linalg/kernels.h"
#include "linalg/vector.h"

#include <math.h>
#include <stdlib.h>

static test_bar make_bar(sn_arena *arena, int32_t n, bool shuffle) {
    test_bar_def def = test_default_bar(n);
    def.shuffle = shuffle;
    test_bar bar;
    assert_int_equal(test_bar_create(arena, &def, &bar), SINEW_OK);
    return bar;
}

static double *random_vector(sn_arena *arena, int32_t count, uint64_t seed) {
    double *x = SN_PUSH(arena, double, count);
    assert_non_null(x);
    sn_random random = sn_random_seed(seed);

    for (int32_t k = 0; k < count; k++) {
        x[k] = sn_random_range(&random, -1, 1);
    }

    return x;
}

static void dense_multiply(double *y, const double *A, const double *x, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        y[i] = 0;
        for (int32_t j = 0; j < n; j++) {
            y[i] += A[(size_t)i * (size_t)n + (size_t)j] * x[j];
        }
    }
}

static void test_pattern_is_the_union_of_cliques(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);

    // Two lists: triples with repeated members, and pairs through offsets; node 9 has no
    // neighbours.
    enum { N = 12 };

    const int32_t triples[] = {0, 1, 2, 2, 1, 3, 7, 7, 8, 11, 0, 5};
    const int32_t mixed[] = {4, 6, 10, 3, 5, 11, 10};
    const int32_t offsets[] = {0, 2, 2, 7};
    sn_bsr_sets lists[] = {{.count = 4, .width = 3, .members = triples},
                           {.count = 3, .offsets = offsets, .members = mixed}};
    bool coupled[N][N] = {{false}};

    for (int i = 0; i < N; i++) {
        coupled[i][i] = true;
    }

    for (int s = 0; s < 4; s++) {
        for (int a = 0; a < 9; a++) {
            coupled[triples[3 * s + a / 3]][triples[3 * s + a % 3]] = true;
        }
    }

    for (int s = 0; s < 3; s++) {
        for (int a = offsets[s]; a < offsets[s + 1]; a++) {
            for (int b = offsets[s]; b < offsets[s + 1]; b++) {
                coupled[mixed[a]][mixed[b]] = true;
            }
        }
    }

    sn_bsr pattern;
    assert_int_equal(sn_bsr_build(&arena, N, lists, 2, &pattern), SINEW_OK);

    int32_t blocks = 0;
    for (int32_t i = 0; i < N; i++) {
        assert_int_equal(pattern.columns[pattern.diagonal[i]], i);
        for (int32_t k = pattern.starts[i] + 1; k < pattern.starts[i + 1]; k++) {
            assert_true(pattern.columns[k - 1] < pattern.columns[k]);
        }

        for (int32_t j = 0; j < N; j++) {
            int32_t k = sn_bsr_find(&pattern, i, j);
            assert_int_equal(k >= 0, coupled[i][j]);
            if (k < 0) {
                continue;
            }

            blocks++;
            assert_int_equal(pattern.columns[k], j);
            assert_int_equal(pattern.mirror[k], sn_bsr_find(&pattern, j, i));
        }
    }

    assert_int_equal(blocks, pattern.blocks);
    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

static void test_bad_member_is_named(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    const int32_t members[] = {0, 1, 2, 5};
    sn_bsr_sets list = {.count = 2, .width = 2, .members = members};
    sn_bsr pattern;
    assert_int_equal(sn_bsr_build(&arena, 5, &list, 1, &pattern), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "set 1 names node 5; valid are 0 to 4"));
    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

static void test_products_match_dense(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    test_bar bar = make_bar(&arena, 2, true);
    int32_t n = 3 * bar.nodes;
    double *A = sn_bsr_push_values(&arena, &bar.pattern);
    double *dense = SN_PUSH(&arena, double, n *n);
    double *x = random_vector(&arena, n, 1);
    double *b = random_vector(&arena, n, 2);
    double *y = SN_PUSH(&arena, double, n);
    double *expected = SN_PUSH(&arena, double, n);

    test_bar_matrix(context, &bar, 0.01, false, A);
    sn_bsr_to_dense(&bar.pattern, dense, A);
    dense_multiply(expected, dense, x, n);
    sn_bsr_multiply(context, &bar.pattern, y, A, x);
    assert_true(test_relative_error(y, expected, (size_t)n) < 1e-14);

    double dot = sn_bsr_multiply_dot(context, &bar.pattern, y, A, x);
    assert_true(test_relative_error(y, expected, (size_t)n) < 1e-14);
    test_close("x'Ax", dot / sn_vector_dot(context, n, x, expected), 1, 1e-13);

    double norm = sn_bsr_residual(context, &bar.pattern, y, A, x, b);
    double sum = 0;
    for (int32_t k = 0; k < n; k++) {
        test_close("residual", y[k], b[k] - expected[k], 1e-13);
        sum += y[k] * y[k];
    }

    test_close("norm", norm, sqrt(sum), 1e-12);

    // r may be b.
    double *again = SN_PUSH(&arena, double, n);

    memcpy(again, b, (size_t)n * sizeof *b);
    sn_bsr_residual(context, &bar.pattern, again, A, x, again);
    assert_memory_equal(again, y, (size_t)n * sizeof *y);
    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

static void test_mirror_scale_and_diagonal(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    test_bar bar = make_bar(&arena, 1, true);
    const sn_bsr *pattern = &bar.pattern;
    size_t count = 9 * (size_t)pattern->blocks;
    double *lower = sn_bsr_push_values(&arena, pattern);
    double *A = sn_bsr_push_values(&arena, pattern);

    // The lower triangle alone, mirrored with every instruction set.
    for (int32_t i = 0; i < pattern->rows; i++) {
        for (int32_t k = pattern->starts[i]; k <= pattern->diagonal[i]; k++) {
            memcpy(lower + 9 * k, bar.stiffness + 9 * k, 9 * sizeof(double));
        }
    }

    for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }
        memcpy(A, lower, count * sizeof *A);
        sn_linalg_kernels_for(isa)->bsr_mirror(A, pattern, 0, pattern->rows);
        assert_true(test_relative_error(A, bar.stiffness, count) < 1e-15);
    }

    sn_bsr_mirror(context, pattern, lower);
    assert_true(test_relative_error(lower, bar.stiffness, count) < 1e-15);

    // Scaled sums.
    sn_bsr_scale(context, pattern, A, 3, lower);
    sn_bsr_add_scaled(context, pattern, A, -2, lower);
    assert_true(test_relative_error(A, lower, count) < 1e-15);

    // An added diagonal.
    double *d = random_vector(&arena, 3 * pattern->rows, 3);

    sn_bsr_add_diagonal(context, pattern, A, 2, d);
    for (int32_t i = 0; i < pattern->rows; i++) {
        for (int c = 0; c < 9; c++) {
            double added = c % 4 == 0 ? 2 * d[3 * i + c / 4] : 0;
            int32_t k = 9 * pattern->diagonal[i] + c;
            test_close("diagonal", A[k], lower[k] + added, 1e-9);
        }
    }

    sn_bsr_set_zero(context, pattern, A);
    for (size_t k = 0; k < count; k++) {
        assert_true(A[k] == 0);
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

// The stiffness of a free bar: the diagonal follows from the other blocks, regardless of its
// previous values, also in the lower triangle alone.
static void test_diagonal_closes_rows(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    test_bar bar = make_bar(&arena, 2, true);
    const sn_bsr *pattern = &bar.pattern;
    size_t count = 9 * (size_t)pattern->blocks;
    double *lower = sn_bsr_push_values(&arena, pattern);
    double *A = sn_bsr_push_values(&arena, pattern);

    for (size_t k = 0; k < count; k++) {
        lower[k] = NAN;
    }

    for (int32_t i = 0; i < pattern->rows; i++) {
        for (int32_t k = pattern->starts[i]; k < pattern->diagonal[i]; k++) {
            memcpy(lower + 9 * k, bar.stiffness + 9 * k, 9 * sizeof(double));
        }
    }

    for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        memcpy(A, lower, count * sizeof *A);
        sn_linalg_kernels_for(isa)->bsr_close(A, pattern, 0, pattern->rows);
        for (int32_t i = 0; i < pattern->rows; i++) {
            const double *block = A + 9 * pattern->diagonal[i];
            const double *expected = bar.stiffness + 9 * pattern->diagonal[i];
            assert_true(test_relative_error(block, expected, 9) < 1e-14);
            assert_true(block[1] == block[3] && block[2] == block[6] && block[5] == block[7]);
        }
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

static void test_dirichlet_conditions(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    test_bar bar = make_bar(&arena, 1, false);
    int32_t n = 3 * bar.nodes;
    double *A = sn_bsr_push_values(&arena, &bar.pattern);
    double *before = SN_PUSH(&arena, double, n *n);
    double *after = SN_PUSH(&arena, double, n *n);
    double *x = random_vector(&arena, n, 4);
    double *y = SN_PUSH(&arena, double, n);
    uint8_t *mask = SN_PUSH(&arena, uint8_t, n);
    sn_random random = sn_random_seed(5);

    for (int32_t k = 0; k < n; k++) {
        mask[k] = sn_random_u32(&random) % 3 == 0 ? 200 : 0; // single components as well
    }

    test_bar_matrix(context, &bar, 0, false, A);
    sn_bsr_to_dense(&bar.pattern, before, A);
    for (int32_t i = 0; i < bar.pattern.rows; i++) { // the lower triangle is enough for both
        for (int32_t k = 9 * (bar.pattern.diagonal[i] + 1); k < 9 * bar.pattern.starts[i + 1];
             k++) {
            A[k] = NAN;
        }
    }
    sn_bsr_multiply_masked(context, &bar.pattern, y, A, x, mask);
    sn_bsr_constrain(context, &bar.pattern, A, mask);
    sn_bsr_mirror(context, &bar.pattern, A);
    sn_bsr_to_dense(&bar.pattern, after, A);

    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t j = 0; j < n; j++) {
            double expected = mask[i] || mask[j] ? (i == j ? 1 : 0) : before[i * n + j];
            assert_true(after[i * n + j] == expected);
            if (mask[j]) {
                sum += before[i * n + j] * x[j];
            }
        }

        test_close("known values", y[i], sum, 1e-9 * 1e6);
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

static void test_threads_are_bitwise_equal(void **state) {
    (void)state;
    double *first = NULL;
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        sinew_context *context = test_context(threads);
        sn_arena arena = sn_arena_create(context);
        test_bar bar = make_bar(&arena, 6, false);
        int32_t n = 3 * bar.nodes;
        double *A = sn_bsr_push_values(&arena, &bar.pattern);
        double *x = random_vector(&arena, n, 6);
        double *y = SN_PUSH(&arena, double, n + 2);

        test_bar_matrix(context, &bar, 0.01, true, A);
        y[n] = sn_bsr_multiply_dot(context, &bar.pattern, y, A, x);
        y[n + 1] = sn_vector_norm(context, n, y);

        size_t size = (size_t)(n + 2) * sizeof *y;
        if (!first) {
            first = malloc(size);
            assert_non_null(first);
            memcpy(first, y, size);
        }

        assert_memory_equal(first, y, size);
        sn_arena_destroy(&arena);
        sinew_context_destroy(context);
    }

    free(first);
}

static void test_memory_shortage(void **state) {
    (void)state;
    bool done = false;
    for (int64_t fail_at = 1; !done; fail_at++) {
        test_allocator allocator = {.fail_at = fail_at};
        sinew_context *context = test_context_failing(&allocator);
        sn_arena arena = sn_arena_create(context);
        test_bar_def def = test_default_bar(1);
        test_bar bar;
        sinew_status status = test_bar_create(&arena, &def, &bar);

        done = status == SINEW_OK;
        if (!done) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        sn_arena_destroy(&arena);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        assert_true(fail_at < 100);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pattern_is_the_union_of_cliques),
        cmocka_unit_test(test_bad_member_is_named),
        cmocka_unit_test(test_products_match_dense),
        cmocka_unit_test(test_mirror_scale_and_diagonal),
        cmocka_unit_test(test_diagonal_closes_rows),
        cmocka_unit_test(test_dirichlet_conditions),
        cmocka_unit_test(test_threads_are_bitwise_equal),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
