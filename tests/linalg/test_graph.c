// Orderings: each is a permutation with the properties that its users rely on, on meshes, random
// graphs and degenerate ones.
#include "support/bar.h"
#include "support/test.h"

#include "linalg/supernodal.h"
#include "linalg/graph.h"

#include <stdio.h>
#include <stdlib.h>

static void check_permutation(const int32_t *order, int32_t n) {
    uint8_t *seen = calloc((size_t)n + 1, 1);
    assert_non_null(seen);
    for (int32_t i = 0; i < n; i++) {
        assert_in_range(order[i], 0, n - 1);
        assert_false(seen[order[i]]);
        seen[order[i]] = 1;
    }

    free(seen);
}

// Blocks of the factor, counted by eliminating row by row in a dense table.
static int64_t count_fill(const sn_bsr *pattern, const int32_t *order) {
    int32_t n = pattern->rows;
    uint8_t *coupled = calloc((size_t)(n * n), 1);
    int32_t *number = malloc((size_t)n * sizeof *number);

    assert_true(coupled && number);
    for (int32_t i = 0; i < n; i++) {
        number[order[i]] = i;
    }

    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
            coupled[number[i] * n + number[pattern->columns[k]]] = 1;
        }
    }

    int64_t count = 0;
    for (int32_t k = 0; k < n; k++) {
        for (int32_t i = k; i < n; i++) {
            if (!coupled[i * n + k]) {
                continue;
            }

            count++;
            for (int32_t j = k + 1; j <= i; j++) {
                coupled[i * n + j] |= coupled[j * n + k];
            }
        }
    }

    free(coupled);
    free(number);

    return count;
}

static sn_bsr random_pattern(sn_arena *arena, int32_t n, int32_t pairs, uint64_t seed, bool hub) {
    sn_random random = sn_random_seed(seed);
    int32_t *members = SN_PUSH(arena, int32_t, 2 * (pairs + n));

    assert_non_null(members);
    for (int32_t k = 0; k < 2 * pairs; k++) {
        members[k] = (int32_t)(sn_random_u32(&random) % (uint32_t)n);
    }

    if (hub) {
        for (int32_t i = 0; i < n; i++) {
            members[2 * (pairs + i)] = i;
            members[2 * (pairs + i) + 1] = n / 2;
        }
    }

    sn_bsr_sets sets = {.count = pairs + (hub ? n : 0), .width = 2, .members = members};
    sn_bsr pattern;

    assert_int_equal(sn_bsr_build(arena, n, &sets, 1, &pattern), SINEW_OK);
    return pattern;
}

static void check_orders(sinew_context *context, const sn_bsr *pattern) {
    int32_t n = pattern->rows;
    int32_t *order = malloc((size_t)n * sizeof *order + 1);
    int32_t *level = malloc((size_t)n * sizeof *level + 1);

    assert_true(order && level);
    assert_int_equal(sn_graph_rcm(context, pattern, order, level), SINEW_OK);
    check_permutation(order, n);

    for (int32_t i = 1; i < n; i++) {
        assert_true(level[order[i]] <= level[order[i - 1]]);
    }

    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
            assert_in_range(level[i] - level[pattern->columns[k]] + 1, 0, 2);
        }
    }

    assert_int_equal(sn_graph_minimum_degree(context, n, pattern->starts, pattern->columns, order),
                     SINEW_OK);
    check_permutation(order, n);

    // By positions without information, and by meaningful ones.
    double *places = calloc(3 * (size_t)n + 1, sizeof *places);

    assert_non_null(places);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(
            sn_graph_dissect(context, n, pattern->starts, pattern->columns, places, order),
            SINEW_OK);
        check_permutation(order, n);

        for (int32_t i = 0; i < 3 * n; i++) {
            places[i] = (i * 7919) % 101;
        }
    }

    free(places);
    free(order);
    free(level);
}

static void test_orders_of_many_graphs(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int32_t n = 1; n < 400; n = n * 3 / 2 + 1) {
        for (int32_t density = 0; density < 5; density++) {
            for (int hub = 0; hub < 2; hub++) {
                sn_arena arena = sn_arena_create(context);
                sn_bsr pattern =
                    random_pattern(&arena, n, n * density, (uint64_t)(n + density), hub);
                check_orders(context, &pattern);
                sn_arena_destroy(&arena);
            }
        }
    }

    sinew_context_destroy(context);
}

// A long bar: the half bandwidth of the narrowest ordering is little more than the cross section;
// and a tree has no fill.
static void test_orders_are_good(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    test_bar_def def = test_default_bar(3);

    def.shuffle = true;
    test_bar bar;

    assert_int_equal(test_bar_create(&arena, &def, &bar), SINEW_OK);
    int32_t n = bar.nodes;
    int32_t *order = SN_PUSH(&arena, int32_t, n);
    int32_t *level = SN_PUSH(&arena, int32_t, n);
    int32_t *number = SN_PUSH(&arena, int32_t, n);
    int32_t band = 0;

    // Reverse Cuthill-McKee: a narrow band.
    assert_int_equal(sn_graph_rcm(context, &bar.pattern, order, level), SINEW_OK);
    for (int32_t i = 0; i < n; i++) {
        number[order[i]] = i;
    }

    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = bar.pattern.starts[i]; k < bar.pattern.starts[i + 1]; k++) {
            int32_t distance = abs(number[i] - number[bar.pattern.columns[k]]);
            if (distance > band) {
                band = distance;
            }
        }
    }

    assert_in_range(band, 16, 40); // 16 nodes in a cross section

    // Less fill by minimum degree and by dissection than in random order.
    int64_t band_fill = count_fill(&bar.pattern, order);
    int64_t random_fill;

    for (int32_t i = 0; i < n; i++) {
        number[i] = i;
    }

    random_fill = count_fill(&bar.pattern, number);
    assert_int_equal(
        sn_graph_minimum_degree(context, n, bar.pattern.starts, bar.pattern.columns, order),
        SINEW_OK);

    int64_t fill = count_fill(&bar.pattern, order);
    assert_true(fill < band_fill && band_fill < random_fill / 2);
    assert_int_equal(
        sn_graph_dissect(context, n, bar.pattern.starts, bar.pattern.columns, bar.positions, order),
        SINEW_OK);
    check_permutation(order, n);
    assert_true(count_fill(&bar.pattern, order) < random_fill / 2);

    // A tree has no fill in minimum degree order.
    int32_t members[2 * 199];
    for (int32_t i = 1; i < 200; i++) {
        members[2 * (i - 1)] = i;
        members[2 * (i - 1) + 1] = (i - 1) / 3;
    }

    sn_bsr_sets sets = {.count = 199, .width = 2, .members = members};
    sn_bsr tree;

    assert_int_equal(sn_bsr_build(&arena, 200, &sets, 1, &tree), SINEW_OK);
    assert_int_equal(sn_graph_minimum_degree(context, 200, tree.starts, tree.columns, order),
                     SINEW_OK);
    assert_int_equal(count_fill(&tree, order), 200 + 199);
    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

// In a solid, dissection by positions needs clearly less than minimum degree.
static void test_dissection_of_a_cube(void **state) {
    (void)state;
    enum { SIDE = 18, N = SIDE * SIDE * SIDE };

    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    int32_t *members = SN_PUSH(&arena, int32_t, 8 * N);
    double *places = SN_PUSH(&arena, double, 3 * N);

    assert_true(members && places);
    sn_bsr_sets cells = {.width = 8, .members = members};
    for (int32_t i = 0; i < N; i++) {
        int32_t at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        for (int k = 0; k < 3; k++) {
            places[3 * i + k] = at[k];
        }

        if (at[0] == SIDE - 1 || at[1] == SIDE - 1 || at[2] == SIDE - 1) {
            continue;
        }

        for (int k = 0; k < 8; k++) {
            members[8 * cells.count + k] =
                i + (k & 1) + SIDE * (k >> 1 & 1) + SIDE * SIDE * (k >> 2);
        }

        cells.count++;
    }

    sn_bsr pattern;
    assert_int_equal(sn_bsr_build(&arena, N, &cells, 1, &pattern), SINEW_OK);

    sn_supernodal plain, dissected;
    assert_int_equal(
        sn_supernodal_build(&arena, N, 1, pattern.starts, pattern.columns, NULL, &plain), SINEW_OK);
    assert_int_equal(
        sn_supernodal_build(&arena, N, 1, pattern.starts, pattern.columns, places, &dissected),
        SINEW_OK);
    printf("numbers of the factor: %zu by minimum degree, %zu by dissection\n", plain.value_count,
           dissected.value_count);
    assert_true(10 * dissected.value_count < 8 * plain.value_count);
    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

// The symbolic factor contains every block of the factor, and few others.
static void test_symbolic_factor(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int32_t n = 1; n < 300; n = n * 2 + 1) {
        for (int32_t density = 0; density < 4; density++) {
            sn_arena arena = sn_arena_create(context);
            sn_bsr pattern =
                random_pattern(&arena, n, n * density, (uint64_t)(n + density), density == 2);
            sn_supernodal factor;

            assert_int_equal(
                sn_supernodal_build(&arena, n, 1, pattern.starts, pattern.columns, NULL, &factor),
                SINEW_OK);
            check_permutation(factor.order, n);

            int64_t stored = 0;
            int64_t needed = count_fill(&pattern, factor.order);
            for (int32_t t = 0; t < factor.supernodes; t++) {
                int64_t columns = factor.first[t + 1] - factor.first[t];
                int64_t rows = factor.row_starts[t + 1] - factor.row_starts[t];

                assert_true(columns > 0);
                stored += columns * (columns + 1) / 2 + columns * rows;

                for (int32_t p = factor.row_starts[t]; p < factor.row_starts[t + 1]; p++) {
                    assert_true(factor.rows[p] >= factor.first[t + 1]);
                    if (p > factor.row_starts[t]) {
                        assert_true(factor.rows[p] > factor.rows[p - 1]);
                    }
                }
            }

            assert_true(stored >= needed);
            assert_true(stored <= 4 * needed + 100);
            sn_arena_destroy(&arena);
        }
    }

    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders_of_many_graphs),
        cmocka_unit_test(test_orders_are_good),
        cmocka_unit_test(test_dissection_of_a_cube),
        cmocka_unit_test(test_symbolic_factor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
