// Sweeps give the result of one thread in order, with every piece processed once, for any number of
// threads.
#include "support/hash.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/sweeps.h"

#include <math.h>

enum { PIECES = 300, ROUNDS = 40, REACH = 7 };

// Each piece mixes its neighbours' values into its own and theirs, so that every bit depends on the
// order.
static void mix(void *data, int32_t piece, int32_t round) {
    double *values = data;
    for (int32_t j = piece - REACH; j <= piece + REACH; j += REACH) {
        if (j < 0 || j >= PIECES) {
            continue;
        }
        values[j] = sin(values[j] * 1.3 + values[piece] + round);
    }
}

static uint64_t simulate(sinew_context *context, void *user) {
    (void)user;
    int32_t offsets[PIECES + 1] = {0}, neighbors[5 * PIECES];
    atomic_int *done = sn_allocate(context, PIECES, sizeof *done);
    double values[PIECES], expected[PIECES];

    // Pieces share a value if they are one or two reaches apart.
    for (int32_t i = 0; i < PIECES; i++) {
        values[i] = expected[i] = 0.01 * i;
        offsets[i + 1] = offsets[i];
        for (int32_t j = i - 2 * REACH; j <= i + 2 * REACH; j += REACH) {
            if (j >= 0 && j < PIECES) {
                neighbors[offsets[i + 1]++] = j;
            }
        }
    }

    sn_sweeps sweeps = {PIECES, offsets, neighbors, done};
    for (int repeat = 0; repeat < 20; repeat++) {
        sn_run_sweeps(context, &sweeps, ROUNDS, mix, values);
        for (int32_t round = 0; round < ROUNDS; round++) {
            for (int32_t piece = 0; piece < PIECES; piece++) {
                mix(expected, piece, round);
            }
        }
    }

    assert_memory_equal(values, expected, sizeof values);
    sn_release(context, done, PIECES, sizeof *done);

    return test_hash(TEST_HASH_START, values, sizeof values);
}

static void test_order(void **state) {
    (void)state;
    test_over_threads("sweeps", simulate, NULL);
}

static void test_nothing_to_do(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    int32_t offsets[1] = {0};
    sn_sweeps sweeps = {0, offsets, NULL, NULL};
    sn_run_sweeps(context, &sweeps, 5, mix, NULL);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_nothing_to_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
