// Scans and writes numbers and words; see io/text/text.h.
#include "io/text/text.h"

#include "base/assert.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Exactly representable powers of ten.
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { LARGEST_POWER = 22 };

static inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

sn_text_position sn_text_find_position(const char *begin, const char *at) {
    sn_text_position position = {1, 1};
    for (const char *c = begin; c < at; c++) {
        if (*c == '\n') {
            position.line++;
            position.column = 1;
        } else if (((unsigned char)*c & 0xC0) != 0x80) {
            position.column++;
        }
    }

    return position;
}

// Digits beyond this many affect the nearest double only by being zero or not.
enum { SIGNIFICANT_DIGITS = 780 };

// The value of digits [from, to), which may hold one point, times 10^exponent, by strtod.
static double convert_slowly(const char *from, const char *to, int64_t exponent) {
    char digits[SIGNIFICANT_DIGITS + 32];
    int count = 0;
    bool after_point = false, rest = false;

    for (const char *c = from; c < to; c++) {
        if (*c == '.') {
            after_point = true;
            continue;
        }

        if (after_point) {
            exponent--;
        }
        if (count == 0 && *c == '0') {
            continue;
        }

        if (count < SIGNIFICANT_DIGITS) {
            digits[count++] = *c;
        } else {
            rest = rest || *c != '0';
            exponent++;
        }
    }

    if (count == 0) {
        return 0;
    }

    // A nonzero remainder is represented by one more digit.
    if (rest) {
        digits[count++] = '1';
        exponent--;
    }

    // Exponents beyond these limits give zero or infinity anyway.
    if (exponent > 100000) {
        exponent = 100000;
    }
    if (exponent < -100000) {
        exponent = -100000;
    }

    snprintf(digits + count, sizeof digits - (size_t)count, "e%d", (int)exponent);
    return strtod(digits, NULL);
}

sn_number_result sn_text_double(const char **at, const char *end, double *value) {
    const char *c = *at;
    bool negative = false;
    if (c < end && (*c == '-' || *c == '+')) {
        negative = *c++ == '-';
    }

    const char *digits = c;
    uint64_t mantissa = 0;
    int64_t exponent = 0;

    // Digits before and after the point, as one integer.
    while (c < end && is_digit(*c)) {
        mantissa = mantissa * 10 + (uint64_t)(*c++ - '0');
    }

    int64_t digit_count = c - digits;
    if (c < end && *c == '.') {
        const char *fraction = ++c;
        while (c < end && is_digit(*c)) {
            mantissa = mantissa * 10 + (uint64_t)(*c++ - '0');
        }
        exponent = fraction - c;
        digit_count -= exponent;
    }

    if (digit_count == 0) {
        return SN_NUMBER_NONE;
    }

    // The exponent; an e without digits does not belong to the number.
    const char *digits_end = c;
    int64_t written = 0;
    if (c < end && (*c == 'e' || *c == 'E')) {
        const char *e = c + 1;
        bool down = false;
        if (e < end && (*e == '-' || *e == '+')) {
            down = *e++ == '-';
        }

        if (e < end && is_digit(*e)) {
            for (; e < end && is_digit(*e); e++) {
                written = written < 10000000000 ? written * 10 + (*e - '0') : written;
            }

            if (down) {
                written = -written;
            }

            c = e;
        }
    }

    exponent += written;

    // 19 digits always fit in 64 bits. Leading zeros count as digits, which only makes some rare
    // numbers take the slow path.
    double result;

    if (digit_count <= 19 && mantissa <= (UINT64_C(1) << 53) && exponent >= -LARGEST_POWER &&
        exponent <= LARGEST_POWER) {
        result = exponent < 0 ? (double)mantissa / powers[-exponent]
                              : (double)mantissa * powers[exponent];
    } else {
        result = convert_slowly(digits, digits_end, written);
    }

    *at = c;
    *value = negative ? -result : result;

    return result > DBL_MAX ? SN_NUMBER_TOO_LARGE : SN_NUMBER_OK;
}

sn_number_result sn_text_integer(const char **at, const char *end, int64_t *value) {
    const char *c = *at;
    bool negative = false;
    if (c < end && (*c == '-' || *c == '+')) {
        negative = *c++ == '-';
    }

    const char *digits = c;
    uint64_t sum = 0;
    bool large = false;

    // Accumulate and detect overflow.
    for (; c < end && is_digit(*c); c++) {
        if (sum > (uint64_t)INT64_MAX / 10) {
            large = true;
        }

        sum = sum * 10 + (uint64_t)(*c - '0');
        if (sum > (uint64_t)INT64_MAX) {
            large = true;
        }
    }

    if (c == digits) {
        return SN_NUMBER_NONE;
    }

    *at = c;
    if (large) {
        return SN_NUMBER_TOO_LARGE;
    }

    *value = negative ? -(int64_t)sum : (int64_t)sum;
    return SN_NUMBER_OK;
}

void sn_text_skip_line(sn_text *text) {
    if (text->at >= text->end) {
        return;
    }
    const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
    text->at = newline ? newline + 1 : text->end;
}

void sn_text_skip_comments(sn_text *text, char mark) {
    for (;;) {
        sn_text_skip_spaces(text);
        if (text->at >= text->end || *text->at != mark) {
            return;
        }
        sn_text_skip_line(text);
    }
}

sn_word sn_text_word(sn_text *text) {
    sn_text_skip_spaces(text);
    return sn_text_line_word(text);
}

sn_word sn_text_line_word(sn_text *text) {
    sn_text_skip_blanks(text);
    const char *begin = text->at;
    while (text->at < text->end && !sn_text_is_space(*text->at)) {
        text->at++;
    }
    return (sn_word){begin, (size_t)(text->at - begin)};
}

sn_word sn_text_rest_of_line(sn_text *text) {
    sn_text_skip_blanks(text);
    const char *begin = text->at;
    sn_text_skip_line(text);
    const char *end = text->at;

    while (end > begin && sn_text_is_space(end[-1])) {
        end--;
    }

    return (sn_word){begin, (size_t)(end - begin)};
}

bool sn_word_is(sn_word word, const char *other) {
    return strlen(other) == word.size && memcmp(word.at, other, word.size) == 0;
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool sn_word_is_like(sn_word word, const char *other) {
    if (strlen(other) != word.size) {
        return false;
    }

    for (size_t i = 0; i < word.size; i++) {
        if (lower(word.at[i]) != lower(other[i])) {
            return false;
        }
    }

    return true;
}

bool sn_word_starts(sn_word word, const char *start) {
    size_t size = strlen(start);
    return size <= word.size && memcmp(word.at, start, size) == 0;
}

const char *sn_text_found(const char *at, const char *end, char out[SN_TEXT_FOUND_SIZE]) {
    while (at < end && sn_text_is_space(*at)) {
        at++;
    }

    if (at >= end) {
        return "the end of the file";
    }

    size_t size = 0;
    out[size++] = '"';

    // Unprintable bytes are shown as '?', long words are cut.
    bool cut = false;
    for (; at < end && !sn_text_is_space(*at); at++) {
        if (size + 6 > SN_TEXT_FOUND_SIZE) {
            cut = true;
            break;
        }
        out[size++] = *at > ' ' && *at < 127 ? *at : '?';
    }

    if (cut) {
        memcpy(out + size, "...", 3);
        size += 3;
    }

    out[size++] = '"';
    out[size] = 0;

    return out;
}

size_t sn_text_write_integer(char *out, int64_t value) {
    char reversed[SN_TEXT_NUMBER_SIZE];
    size_t count = 0, size = 0;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do {
        reversed[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);

    if (value < 0) {
        out[size++] = '-';
    }

    while (count) {
        out[size++] = reversed[--count];
    }

    return size;
}

// 0.digits x 10^point as plain decimals, or with an exponent if it is far from 1.
static size_t format_digits(char *out, const char *digits, int count, int point, bool negative) {
    size_t size = 0;
    if (negative) {
        out[size++] = '-';
    }

    // Plain decimals, padded with zeros on either side.
    if (point > -5 && point <= 17) {
        if (point <= 0) {
            out[size++] = '0';
            out[size++] = '.';
            for (int i = point; i < 0; i++) {
                out[size++] = '0';
            }

            for (int i = 0; i < count; i++) {
                out[size++] = digits[i];
            }
        } else {
            for (int i = 0; i < point; i++) {
                out[size++] = i < count ? digits[i] : '0';
            }

            if (count > point) {
                out[size++] = '.';
            }

            for (int i = point; i < count; i++) {
                out[size++] = digits[i];
            }
        }

        return size;
    }

    // One digit before the point, and an exponent.
    out[size++] = digits[0];
    if (count > 1) {
        out[size++] = '.';
    }

    for (int i = 1; i < count; i++) {
        out[size++] = digits[i];
    }

    out[size++] = 'e';
    size += sn_text_write_integer(out + size, point - 1);
    SN_ASSERT(size <= SN_TEXT_NUMBER_SIZE);

    return size;
}

// mantissa x 10^-decimals.
static size_t format_scaled(char *out, uint64_t mantissa, int decimals, bool negative) {
    while (mantissa && mantissa % 10 == 0) {
        mantissa /= 10;
        decimals--;
    }

    char digits[SN_TEXT_NUMBER_SIZE];
    int count = (int)sn_text_write_integer(digits, (int64_t)mantissa);

    return format_digits(out, digits, count, count - decimals, negative);
}

static size_t write_zero(char *out, double value) {
    if (!signbit(value)) {
        out[0] = '0';
        return 1;
    }

    out[0] = '-';
    out[1] = '0';

    return 2;
}

static size_t write_word(char *out, double value) {
    const char *word = isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    memcpy(out, word, strlen(word));
    return strlen(word);
}

// Tries 15, 16 and 17 digits until the number reads back unchanged. printf rounds correctly; its
// decimal point depends on the locale, so only its digits are used.
static size_t write_slowly(char *out, double magnitude, bool negative) {
    for (int precision = 15; precision <= 17; precision++) {
        char printed[48], digits[SN_TEXT_NUMBER_SIZE];
        int count = 0;

        snprintf(printed, sizeof printed, "%.*e", precision - 1, magnitude);

        // The digits without the point.
        const char *c = printed;
        for (; *c && *c != 'e'; c++) {
            if (is_digit(*c)) {
                digits[count++] = *c;
            }
        }

        int64_t exponent = 0;
        if (*c == 'e') {
            c++;
        }

        // The exponent, and trailing zeros removed.
        sn_text_integer(&c, printed + strlen(printed), &exponent);
        while (count > 1 && digits[count - 1] == '0') {
            count--;
        }

        // Does it read back?
        size_t size = format_digits(out, digits, count, (int)exponent + 1, negative);
        const char *at = negative ? out + 1 : out;
        double back = 0;

        sn_text_double(&at, out + size, &back);
        if (back == magnitude || precision == 17) {
            return size;
        }
    }

    return 0;
}

// The shortest digits by exact arithmetic. k is chosen so that p = round(x 10^k) has 17 digits and
// is an integer; the rounding error e is computed exactly by a fused multiplication, so
// that x 10^k = p + e is an integer H plus a fraction. The nearest multiple of 100 or 10 reads back
// as x if it is closer than half the gap between doubles. Returns 0 if a case is too close to
// decide, or if x is outside [1e-5, 1e15).
static size_t write_exactly(char *out, double x, bool negative) {
    if (!(x >= 1e-5 && x < 1e15)) {
        return 0;
    }

    // The number of digits before the point.
    int point = -4;
    while (point < 15 && (point < 0 ? x * powers[-point] >= 1 : x >= powers[point])) {
        point++;
    }

    // p, its rounding error, and half the gap between neighbouring doubles, scaled alike.
    int k = 17 - point;
    int binary;
    double p = x * powers[k];
    double e = fma(x, powers[k], -p);
    double fraction = frexp(x, &binary);
    double half = ldexp(powers[k], binary - 54) * (fraction == 0.5 ? 0.5 : 1);

    // The exact product as an integer and a fraction.
    int64_t H = (int64_t)p + (int64_t)floor(e); // |e| may be 8: p's own gap is 16
    e -= floor(e);

    // Fifteen digits if they suffice, else sixteen.
    for (int64_t step = 100; step >= 10; step /= 10) {
        int64_t rest = H % step;
        double above = (double)rest + e; // exact distance from the multiple below
        bool up = above > (double)step / 2;
        double distance = up ? (double)step - above : fabs(above);

        if (distance > half * (1 + 1e-6)) {
            continue;
        }
        if (distance > half * (1 - 1e-6)) {
            return 0;
        }

        return format_scaled(out, (uint64_t)(H - rest + (up ? step : 0)), k, negative);
    }

    return format_scaled(out, (uint64_t)(H + (int64_t)floor(e + 0.5)), k, negative);
}

size_t sn_text_write_double(char *out, double value) {
    if (!isfinite(value)) {
        return write_word(out, value);
    }
    if (value == 0) {
        return write_zero(out, value);
    }

    bool negative = value < 0;
    double magnitude = fabs(value);
    if (magnitude < 1e15 && magnitude == floor(magnitude)) {
        return format_scaled(out, (uint64_t)magnitude, 0, negative);
    }

    size_t size = write_exactly(out, magnitude, negative);
    return size ? size : write_slowly(out, magnitude, negative);
}

size_t sn_text_write_float(char *out, double value) {
    float wanted = (float)value;
    if (!isfinite(wanted)) {
        return write_word(out, (double)wanted);
    }
    if (wanted == 0) {
        return write_zero(out, value);
    }

    double magnitude = fabs((double)wanted);

    // Six to nine digits suffice for a float; between 1e-6 and 1e9 the scale stays within exact
    // powers.
    if (magnitude >= 1e-6 && magnitude < 1e9) {
        int point = 0; // digits before the point, or minus the zeros after it
        while (point < 9 && magnitude >= powers[point]) {
            point++;
        }

        while (point <= 0 && point > -6 && magnitude * powers[1 - point] < 1) {
            point--;
        }

        for (int digits = 6; digits <= 9; digits++) {
            int k = digits - point;
            if (k < 0) {
                continue;
            }

            double m = floor(magnitude * powers[k] + 0.5);
            if ((float)(m / powers[k]) == (float)magnitude) {
                return format_scaled(out, (uint64_t)m, k, value < 0);
            }
        }
    }

    return write_slowly(out, magnitude, value < 0);
}

int sn_utf8_length(const char *at, const char *end) {
    if (at >= end) {
        return 0;
    }

    const unsigned char *c = (const unsigned char *)at;
    if (c[0] < 0x80) {
        return 1;
    }

    // The first byte gives the length; then continuation bytes follow.
    int length = c[0] >= 0xF0 ? 4 : c[0] >= 0xE0 ? 3 : 2;
    if (c[0] < 0xC2 || c[0] > 0xF4 || end - at < length) {
        return 0;
    }

    for (int i = 1; i < length; i++) {
        if ((c[i] & 0xC0) != 0x80) {
            return 0;
        }
    }

    // Encodings that the standard forbids.
    bool overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
    bool surrogate = c[0] == 0xED && c[1] >= 0xA0;
    bool beyond = c[0] == 0xF4 && c[1] >= 0x90;

    return overlong || surrogate || beyond ? 0 : length;
}

int sn_utf8_write(char *out, uint32_t code) {
    SN_ASSERT(code < 0x110000 && !(code >= 0xD800 && code < 0xE000));
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }

    int length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char heads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (int i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }

    out[0] = (char)(heads[length] | code);
    return length;
}
