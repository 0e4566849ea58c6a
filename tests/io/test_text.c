// Numbers, words, places and suggestions.
#include "support/test.h"

#include "io/bytes/buffer.h"
#include "io/text/suggest.h"
#include "io/text/text.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double read_double(const char *text, sn_number_result expected, size_t taken) {
    const char *at = text;
    double value = -12345;
    assert_int_equal(sn_text_double(&at, text + strlen(text), &value), expected);
    assert_int_equal(at - text, taken);
    return value;
}

static void test_double_forms(void **state) {
    (void)state;
    assert_true(read_double("0", SN_NUMBER_OK, 1) == 0);
    assert_true(read_double("+1.5", SN_NUMBER_OK, 4) == 1.5);
    assert_true(read_double("-.25 ", SN_NUMBER_OK, 4) == -0.25);
    assert_true(read_double("5.", SN_NUMBER_OK, 2) == 5);
    assert_true(read_double("1e3x", SN_NUMBER_OK, 3) == 1000);
    assert_true(read_double("1e", SN_NUMBER_OK, 1) == 1);
    assert_true(read_double("1e+", SN_NUMBER_OK, 1) == 1);
    assert_true(signbit(read_double("-0", SN_NUMBER_OK, 2)));
    assert_true(read_double("0e99999999999999", SN_NUMBER_OK, 16) == 0);
    assert_true(read_double("1e-99999999999999", SN_NUMBER_OK, 17) == 0);
    assert_true(read_double("4.9e-324", SN_NUMBER_OK, 8) == 4.9e-324);
    read_double("1e309", SN_NUMBER_TOO_LARGE, 5);
    read_double("", SN_NUMBER_NONE, 0);
    read_double("-", SN_NUMBER_NONE, 0);
    read_double(".", SN_NUMBER_NONE, 0);
    read_double(".e5", SN_NUMBER_NONE, 0);
    read_double("nan", SN_NUMBER_NONE, 0);
    read_double("inf", SN_NUMBER_NONE, 0);
    read_double("-Infinity", SN_NUMBER_NONE, 0);
    assert_true(read_double("0x10", SN_NUMBER_OK, 1) == 0);
}

// Against strtod, which glibc rounds correctly: numbers of 1 to 25 digits, points anywhere,
// exponents of every size, and ties.
static void test_double_is_correctly_rounded(void **state) {
    (void)state;
    sn_random random = sn_random_seed(11);
    for (int i = 0; i < 200000; i++) {
        char text[80];
        int digits = 1 + (int)(sn_random_u32(&random) % 25);
        int size = 0;
        int point = (int)(sn_random_u32(&random) % (uint32_t)(digits + 1));

        for (int d = 0; d < digits; d++) {
            if (d == point) {
                text[size++] = '.';
            }
            text[size++] = (char)('0' + sn_random_u32(&random) % 10);
        }

        int exponent = (int)(sn_random_u32(&random) % 660) - 340;
        if (i % 3 == 0) {
            exponent %= 20;
        }

        snprintf(text + size, sizeof text - (size_t)size, "e%d", exponent);
        const char *at = text;
        double value = 0;
        double expected = strtod(text, NULL);

        sn_text_double(&at, text + strlen(text), &value);
        if (value != expected) {
            fail_msg("%s: %.17g, expected %.17g", text, value, expected);
        }
    }

    // A tie to the last of 900 digits: 1 + 2^-53 lies half way between 1 and the next double; one
    // more digit decides.
    char text[1000] = "1.00000000000000011102230246251565404236316680908203125";
    size_t length = strlen(text);

    assert_true(read_double(text, SN_NUMBER_OK, length) == 1);
    memset(text + length, '0', 900 - length);
    text[900] = '1';
    text[901] = 0;
    assert_true(read_double(text, SN_NUMBER_OK, 901) == 1 + DBL_EPSILON);
}

static void test_locale_does_not_matter(void **state) {
    (void)state;
    const char *names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    const char *set = NULL;

    for (int i = 0; i < 4 && !set; i++) {
        set = setlocale(LC_NUMERIC, names[i]);
    }

    if (!set) {
        print_message("skipped the foreign locale: none is installed\n");
    }

    assert_true(read_double("0.12345678901234567890", SN_NUMBER_OK, 22) == 0x1.f9add3746f65fp-4);
    char out[SN_TEXT_NUMBER_SIZE + 1];

    out[sn_text_write_double(out, 0.1 + 0.2)] = 0;
    assert_string_equal(out, "0.30000000000000004");
    setlocale(LC_NUMERIC, "C");
}

static void test_integers(void **state) {
    (void)state;
    const char *text = "-9223372036854775807";
    const char *at = text;
    int64_t value = 0;

    assert_int_equal(sn_text_integer(&at, text + strlen(text), &value), SN_NUMBER_OK);
    assert_true(value == -INT64_MAX);
    text = at = "9223372036854775808";
    assert_int_equal(sn_text_integer(&at, text + strlen(text), &value), SN_NUMBER_TOO_LARGE);
    text = at = "99999999999999999999999999999999999";
    assert_int_equal(sn_text_integer(&at, text + strlen(text), &value), SN_NUMBER_TOO_LARGE);
    text = at = "x1";
    assert_int_equal(sn_text_integer(&at, text + 2, &value), SN_NUMBER_NONE);

    char out[SN_TEXT_NUMBER_SIZE + 1];
    out[sn_text_write_integer(out, INT64_MIN)] = 0;
    assert_string_equal(out, "-9223372036854775808");
}

static void check_written(double value, const char *expected) {
    char out[SN_TEXT_NUMBER_SIZE + 1];
    out[sn_text_write_double(out, value)] = 0;
    assert_string_equal(out, expected);
}

static void test_written_numbers(void **state) {
    (void)state;
    check_written(0, "0");
    check_written(-0.0, "-0");
    check_written(1, "1");
    check_written(-2.5, "-2.5");
    check_written(0.1, "0.1");
    check_written(0.0001, "0.0001");
    check_written(200000, "200000");
    check_written(1e15, "1000000000000000");
    check_written(1e22, "1e22");
    check_written(1.25e-9, "1.25e-9");
    check_written(DBL_MAX, "1.7976931348623157e308");
    check_written(4.9406564584124654e-324, "4.94065645841247e-324");
    check_written(1.0 / 3, "0.3333333333333333");

    sn_random random = sn_random_seed(5);
    char out[SN_TEXT_NUMBER_SIZE];
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = ((uint64_t)sn_random_u32(&random) << 32) | sn_random_u32(&random);
        double value;

        memcpy(&value, &bits, sizeof value);
        if (i % 2) {
            value = sn_random_range(&random, -10, 10);
        }
        if (!isfinite(value)) {
            continue;
        }

        size_t size = sn_text_write_double(out, value);
        assert_true(size <= SN_TEXT_NUMBER_SIZE);

        const char *at = out;
        double back = 0;

        assert_int_equal(sn_text_double(&at, out + size, &back), SN_NUMBER_OK);
        if (back != value || at != out + size) {
            fail_msg("%.17g was written as %.*s", value, (int)size, out);
        }

        float single = (float)value;
        if (!isfinite(single)) {
            continue;
        }

        size = sn_text_write_float(out, value);
        at = out;
        sn_text_double(&at, out + size, &back);
        if ((float)back != single) {
            fail_msg("the float %.9g was written as %.*s", (double)single, (int)size, out);
        }
        if (i % 2) {
            assert_true(size <= 15); // nine digits, a sign, a point, some zeros
        }
    }
}

// No decimal of fewer digits reads back as the same number.
static void test_written_numbers_are_shortest(void **state) {
    (void)state;
    sn_random random = sn_random_seed(6);
    for (int i = 0; i < 20000; i++) {
        double value = sn_random_unit(&random) * pow(10, (int)(sn_random_u32(&random) % 20) - 5);
        if (i % 4 == 1) {
            value = floor(value * 1000) / 1000 + 0.001;
        }
        if (i % 4 == 2) {
            value = ldexp(1, (int)(sn_random_u32(&random) % 60) - 12);
        }

        char out[SN_TEXT_NUMBER_SIZE + 1], shorter[64];
        out[sn_text_write_double(out, value)] = 0;
        assert_true(strtod(out, NULL) == value);

        int digits = 0, zeros = 0;
        for (const char *c = out; *c && *c != 'e'; c++) {
            if (*c == '.' || (digits == 0 && *c == '0')) {
                continue;
            }
            digits++;
            zeros = *c == '0' ? zeros + 1 : 0;
        }

        if (!strchr(out, '.')) {
            digits -= zeros;
        }
        if (digits < 2) {
            continue;
        }

        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
        if (strtod(shorter, NULL) == value) {
            fail_msg("%.17g was written as %s; %s is shorter", value, out, shorter);
        }
    }
}

static void test_words_and_places(void **state) {
    (void)state;
    const char *file = "one  two\r\n  # remark\nth\xC3\xA9 x\n";
    sn_text text = sn_text_create(file, strlen(file));

    assert_true(sn_word_is(sn_text_word(&text), "one"));
    assert_true(sn_word_is_like(sn_text_word(&text), "TWO"));
    assert_int_equal(sn_text_line_word(&text).size, 0);
    sn_text_skip_comments(&text, '#');

    sn_text_position position = sn_text_find_position(text.begin, text.at);
    assert_int_equal(position.line, 3);
    assert_int_equal(position.column, 1);
    assert_true(sn_word_starts(sn_text_word(&text), "th"));
    sn_text_skip_blanks(&text);
    assert_int_equal(sn_text_find_position(text.begin, text.at).column,
                     5); // the letter of two bytes is one column

    sn_word rest = sn_text_rest_of_line(&text);
    assert_true(sn_word_is(rest, "x"));
    assert_true(sn_text_at_end(&text));

    char shown[SN_TEXT_FOUND_SIZE];
    assert_string_equal(sn_text_found(text.at, text.end, shown), "the end of the file");
    assert_string_equal(sn_text_found(file + 3, text.end, shown), "\"two\"");
}

static void test_utf8(void **state) {
    (void)state;
    const struct {
        const char *bytes;
        int length;
    } cases[] = {{"a", 1},
                 {"\xC3\xA9", 2},
                 {"\xE2\x82\xAC", 3},
                 {"\xF0\x9F\xA6\xB4", 4},
                 {"\x80", 0},
                 {"\xC0\x80", 0},
                 {"\xC3", 0},
                 {"\xE0\x80\x80", 0},
                 {"\xED\xA0\x80", 0},
                 {"\xF4\x90\x80\x80", 0},
                 {"\xFF", 0}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(sn_utf8_length(cases[i].bytes, cases[i].bytes + strlen(cases[i].bytes)),
                         cases[i].length);
    }

    char out[4];
    assert_int_equal(sn_utf8_write(out, 0x1F9B4), 4);
    assert_memory_equal(out, "\xF0\x9F\xA6\xB4", 4);
}

static void test_suggestions(void **state) {
    (void)state;
    static const char *const words[] = {"young",   "poisson",      "density",
                                        "damping", "corotational", "neo-hookean"};
    assert_int_equal(sn_word_distance("young", "yuong"), 1);
    assert_int_equal(sn_word_distance("ab", "ba"), 1);
    assert_int_equal(sn_word_distance("", "abc"), 3);
    assert_int_equal(sn_word_distance("kitten", "sitting"), 3);
    assert_int_equal(sn_suggest("yuong", words, 6), 0);
    assert_int_equal(sn_suggest("Poison", words, 6), 1);
    assert_int_equal(sn_suggest("dens", words, 6), 2);
    assert_int_equal(sn_suggest("hookean", words, 6), 5);
    assert_int_equal(sn_suggest("corotated", words, 6), 4);
    assert_int_equal(sn_suggest("xyzzy", words, 6), -1);
    assert_int_equal(sn_suggest("", words, 6), -1);
    assert_int_equal(sn_suggest("q", words, 6), -1);
    assert_int_equal(sn_suggest("young", words, 0), -1);
}

static void test_buffer(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_buffer buffer = sn_buffer_create(context);

    sn_buffer_add_text(&buffer, "ab");
    sn_buffer_align(&buffer, 4, '.');
    sn_buffer_print(&buffer, "%d %s|", 7, "seven");
    sn_buffer_add_u16(&buffer, 0x0102);
    sn_buffer_add_f32(&buffer, 1.0f);
    assert_memory_equal(buffer.data, "ab..7 seven|\x02\x01\x00\x00\x80\x3F", 18);
    sn_buffer_patch_u32(&buffer, 0, 0x01020304);
    assert_memory_equal(buffer.data, "\x04\x03\x02\x01", 4);
    assert_int_equal(sn_buffer_status(&buffer), SINEW_OK);
    assert_null(sn_buffer_reserve(&buffer, SIZE_MAX / 2));
    assert_int_equal(sn_buffer_status(&buffer), SINEW_OUT_OF_MEMORY);
    sn_buffer_add_text(&buffer, "lost");
    assert_int_equal(buffer.size, 18);
    sn_buffer_clear(&buffer);
    assert_int_equal(sn_buffer_status(&buffer), SINEW_OK);
    sn_buffer_destroy(&buffer);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_forms),
        cmocka_unit_test(test_double_is_correctly_rounded),
        cmocka_unit_test(test_locale_does_not_matter),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_written_numbers),
        cmocka_unit_test(test_written_numbers_are_shortest),
        cmocka_unit_test(test_words_and_places),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_suggestions),
        cmocka_unit_test(test_buffer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
