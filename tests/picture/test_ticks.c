// Ticks are round numbers inside the range, and labels read as people write them.
#include "support/test.h"

#include "io/picture/ticks.h"

#include <locale.h>
#include <math.h>

static void test_linear(void **state) {
    (void)state;
    sn_random random = sn_random_seed(8);
    for (int turn = 0; turn < 500; turn++) {
        double low = sn_random_range(&random, -1, 1) * pow(10, sn_random_range(&random, -8, 8));
        double high = low + pow(10, sn_random_range(&random, -8, 8));
        int32_t wanted = 2 + (int32_t)(sn_random_u32(&random) % 7);
        sn_ticks ticks = sn_ticks_linear(low, high, wanted);

        if (high - low < 1e-6 * fabs(low)) {
            continue; // multiples of the step would have no digits left to test
        }

        assert_true(ticks.count >= 1 && ticks.count <= 2 * wanted);
        double mantissa = ticks.step / pow(10, floor(log10(ticks.step) + 1e-9));

        assert_true(fabs(mantissa - 1) < 1e-9 || fabs(mantissa - 2) < 1e-9 ||
                    fabs(mantissa - 5) < 1e-9);
        for (int32_t i = 0; i < ticks.count; i++) {
            assert_true(ticks.values[i] >= low - 1e-8 * ticks.step &&
                        ticks.values[i] <= high + 1e-8 * ticks.step);
            test_close("a multiple of the step", ticks.values[i] / ticks.step,
                       nearbyint(ticks.values[i] / ticks.step), 1e-6);
        }
    }

    assert_int_equal(sn_ticks_linear(1, 1, 5).count, 0);
    assert_int_equal(sn_ticks_linear(2, 1, 5).count, 0);
    assert_int_equal(sn_ticks_linear(NAN, 1, 5).count, 0);
    assert_int_equal(sn_ticks_linear(0, INFINITY, 5).count, 0);
}

static void test_logarithmic(void **state) {
    (void)state;
    sn_ticks ticks = sn_ticks_logarithmic(0.5e-3, 20, 8);

    assert_int_equal(ticks.count, 5);
    test_close("first", ticks.values[0], 1e-3, 1e-15);
    test_close("last", ticks.values[4], 10, 1e-12);
    ticks = sn_ticks_logarithmic(1e-30, 1e30, 8);
    assert_true(ticks.count >= 4 && ticks.count <= 16);
    ticks = sn_ticks_logarithmic(0.012, 0.21, 8); // few decades: 0.02 0.05 0.1 0.2
    assert_int_equal(ticks.count, 4);
    test_close("within decades", ticks.values[1], 0.05, 1e-15);
    assert_int_equal(sn_ticks_logarithmic(0, 1, 8).count, 0);
    assert_int_equal(sn_ticks_logarithmic(-1, 1, 8).count, 0);
}

static void test_labels(void **state) {
    (void)state;
    const struct {
        double value, step;
        const char *text;
    } known[] = {{0, 0.25, "0"},
                 {0.25, 0.05, "0.25"},
                 {0.5, 0.05, "0.50"},
                 {-3, 1,
                  "\xe2\x88\x92"
                  "3"},
                 {1200, 200, "1200"},
                 {1e-17, 0.1, "0"},
                 {1.5e-7, 5e-8,
                  "1.5e\xe2\x88\x92"
                  "7"},
                 {2e9, 1e9, "2e9"},
                 {-0.1, 0.1,
                  "\xe2\x88\x92"
                  "0.1"},
                 {0.30000000000000004, 0.1, "0.3"},
                 {INFINITY, 1, "\xe2\x88\x9e"}};

    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            char label[SN_TICK_LABEL_SIZE];
            sn_tick_label(label, known[i].value, known[i].step);
            assert_string_equal(label, known[i].text);
        }
        setlocale(LC_ALL, "de_DE.UTF-8"); // where it exists, a decimal comma
    }

    setlocale(LC_ALL, "C");
    char label[SN_TICK_LABEL_SIZE];
    sn_random random = sn_random_seed(4);

    for (int i = 0; i < 2000; i++) { // never too long, whatever the numbers
        sn_tick_label(label, pow(10, sn_random_range(&random, -320, 308)),
                      pow(10, sn_random_range(&random, -320, 308)));

        assert_true(strlen(label) < SN_TICK_LABEL_SIZE - 1);
    }
    sn_tick_label(label, 1, 0);
    sn_tick_label(label, NAN, NAN);
}

static void test_fixed(void **state) {
    (void)state;
    sinew_context *context = test_context(1);

    const struct {
        double value;
        int32_t decimals;
        const char *text;
    } known[] = {{1.005, 1, "1.0"},   {-2.5, 0, "-3"},
                 {-0.001, 2, "0.00"}, {123456.789, 2, "123456.79"},
                 {0.05, 2, "0.05"},   {NAN, 1, "0.0"}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        sn_buffer buffer = sn_buffer_create(context);
        sn_buffer_add_fixed(&buffer, known[i].value, known[i].decimals);
        sn_buffer_add(&buffer, "", 1);
        assert_string_equal(buffer.data, known[i].text);
        sn_buffer_destroy(&buffer);
    }

    sn_buffer buffer = sn_buffer_create(context);
    sn_buffer_add_fixed(&buffer, 1e300, 2); // cut, not undefined
    sn_buffer_destroy(&buffer);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_linear),
                                       cmocka_unit_test(test_logarithmic),
                                       cmocka_unit_test(test_labels), cmocka_unit_test(test_fixed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
