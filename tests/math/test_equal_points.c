// Equal points against a comparison of all pairs, with repetitions, both zeros and points that
// differ in the last bit; memory shortage.
#include "support/test.h"

#include "base/random.h"
#include "math/equal_points.h"
#include "math/vec.h"

#include <math.h>

enum { COUNT = 500 };

static void test_against_all_pairs(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(4);
    double points[3 * COUNT];
    int32_t first[COUNT];

    // Coordinates from a few values, so that there are many repetitions.
    const double values[4] = {0.0, -0.0, 1.5, nextafter(1.5, 2)};
    for (int i = 0; i < 3 * COUNT; i++) {
        points[i] = values[sn_random_u32(&random) % 4];
    }

    assert_int_equal(sn_find_equal_points(context, points, COUNT, first), SINEW_OK);
    int32_t repeated = 0;
    for (int32_t i = 0; i < COUNT; i++) {
        int32_t expected = i;
        for (int32_t j = i - 1; j >= 0; j--) {
            if (sn_distance(sn_load3(sn_at3(points, i)), sn_load3(sn_at3(points, j))) == 0) {
                expected = j;
            }
        }

        assert_int_equal(first[i], expected);
        repeated += expected != i;
    }

    // Three different numbers along each axis.
    assert_int_equal(COUNT - repeated, 27);
    assert_int_equal(sn_find_equal_points(context, points, 0, first), SINEW_OK);
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    test_allocator allocator = {.fail_at = 1}; // the context itself is call 0
    sinew_context *context = test_context_failing(&allocator);
    const double points[6] = {0, 0, 0, 0, 0, 0};
    int32_t first[2];

    assert_int_equal(sn_find_equal_points(context, points, 2, first), SINEW_OUT_OF_MEMORY);
    sinew_context_destroy(context);
    assert_int_equal(allocator.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_all_pairs),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
