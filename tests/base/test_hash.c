// The hash used to check determinism: known values, every bit counts, and the number of threads
// does not change it.
#include "support/hash.h"

#include "base/threads.h"

#include <math.h>

enum { COUNT = 20011 };

static void test_known_values(void **state) {
    (void)state;
    // From the reference of Fowler, Noll and Vo.
    assert_true(test_hash(TEST_HASH_START, "", 0) == TEST_HASH_START);
    assert_true(test_hash(TEST_HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(test_hash(TEST_HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
}

static void test_every_bit_counts(void **state) {
    (void)state;
    double zero = 0;
    double negative_zero = -0.0;
    double one = 1;
    double next = nextafter(1, 2);
    assert_true(test_hash(TEST_HASH_START, &zero, sizeof zero) !=
                test_hash(TEST_HASH_START, &negative_zero, sizeof zero));
    assert_true(test_hash(TEST_HASH_START, &one, sizeof one) !=
                test_hash(TEST_HASH_START, &next, sizeof next));
}

typedef struct field {
    double values[COUNT];
} field;

static void relax(void *data, int32_t begin, int32_t end, int32_t chunk) {
    field *f = data;
    for (int32_t i = begin; i < end; i++) {
        f->values[i] = sin(f->values[i] + 0.1 * i) * exp2(chunk % 8);
    }
}

static double sum_of_squares(void *data, int32_t begin, int32_t end) {
    const field *f = data;
    double sum = 0;
    for (int32_t i = begin; i < end; i++) {
        sum += f->values[i] * f->values[i];
    }
    return sum;
}

static uint64_t simulate(sinew_context *context, void *user) {
    field *f = user;
    memset(f, 0, sizeof *f);

    uint64_t hash = TEST_HASH_START;

    for (int step = 0; step < 20; step++) {
        sn_parallel_for(context, COUNT, 100, relax, f);
        double energy = sn_parallel_sum(context, COUNT, 64, sum_of_squares, f);
        f->values[step] += energy;
        hash = test_hash(hash, f->values, sizeof f->values);
    }

    return hash;
}

static void test_loops_and_sums_over_threads(void **state) {
    (void)state;
    static field f;
    test_over_threads("loops and sums", simulate, &f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_every_bit_counts),
        cmocka_unit_test(test_loops_and_sums_over_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
