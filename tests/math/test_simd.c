// SIMD lanes of the compiler's default target: loads, selection, and elementary functions compared
// with the C library.
#include "support/test.h"

#include "math/simd.h"

static double first(sn_lanes a) {
    double values[SN_BLOCK] SN_ALIGNED;
    sn_lanes_store(values, a);
    for (int i = 1; i < SN_LANES; i++) {
        assert_true(memcmp(&values[0], &values[i], sizeof(double)) == 0);
    }
    return values[0];
}

static void test_selection(void **state) {
    (void)state;
    double a[SN_BLOCK] SN_ALIGNED, b[SN_BLOCK] SN_ALIGNED, c[SN_BLOCK] SN_ALIGNED;
    for (int i = 0; i < SN_BLOCK; i++) {
        a[i] = i - 3.5;
        b[i] = 2 - i;
    }

    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        sn_lanes x = sn_lanes_load(a + lane);
        sn_lanes y = sn_lanes_load(b + lane);
        sn_lanes_store(c + lane, sn_lanes_min(x, y) + 100.0 * sn_lanes_max(x, y) +
                                     1e4 * sn_lanes_abs(x) +
                                     1e6 * sn_lanes_copysign(sn_lanes_all(1), y) +
                                     1e8 * sn_lanes_fma(x, y, x));
    }

    for (int i = 0; i < SN_BLOCK; i++) {
        double expected = fmin(a[i], b[i]) + 100 * fmax(a[i], b[i]) + 1e4 * fabs(a[i]) +
                          1e6 * copysign(1, b[i]) + 1e8 * (a[i] * b[i] + a[i]);
        test_close("combination", c[i], expected, 1e-6);
    }

    sn_lanes x = sn_lanes_load(a);
    sn_lanes y = sn_lanes_load(b);

    assert_true(sn_any((sn_mask)(x < y)));
    assert_true(sn_all((sn_mask)(x < y)));
    assert_false(sn_any((sn_mask)(x > y)));

    sn_lanes half = sn_lanes_all(0);
    half[SN_LANES - 1] = 1;
    assert_true(sn_any((sn_mask)(half > 0.5)));
    assert_false(sn_all((sn_mask)(half > 0.5)));
}

static void test_logarithm(void **state) {
    (void)state;
    sn_random random = sn_random_seed(1);
    for (int i = 0; i < 200000; i++) {
        double x = exp(sn_random_range(&random, -600, 600));
        if (i & 1) {
            x = 1 + sn_random_range(&random, -1e-3, 1e-3); // where the logarithm vanishes
        }
        double expected = log(x);
        test_close("log", first(sn_lanes_log(sn_lanes_all(x))) / expected, 1, 4e-16);
    }

    assert_true(first(sn_lanes_log(sn_lanes_all(1))) == 0);
    assert_true(first(sn_lanes_log(sn_lanes_all(0))) == -INFINITY);
    assert_true(first(sn_lanes_log(sn_lanes_all(-2))) == -INFINITY);
}

static void test_cube_root(void **state) {
    (void)state;
    sn_random random = sn_random_seed(2);
    for (int i = 0; i < 200000; i++) {
        double x = exp(sn_random_range(&random, -600, 600));
        if (i & 1) {
            x = -x;
        }
        test_close("cbrt", first(sn_lanes_cbrt(sn_lanes_all(x))) / cbrt(x), 1, 8e-16);
    }

    test_close("cbrt of 1", first(sn_lanes_cbrt(sn_lanes_all(1))), 1, 2e-16);
}

static void test_root(void **state) {
    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_true(first(sn_lanes_sqrt(sn_lanes_all(i))) == sqrt(i));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_logarithm),
        cmocka_unit_test(test_cube_root),
        cmocka_unit_test(test_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
