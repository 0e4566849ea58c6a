// Ticks and their labels. Digits are produced from integers, so they are the same in every locale.
#include "io/picture/ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The step 1, 2 or 5 times a power of ten that is closest to x.
static double round_step(double x) {
    double power = pow(10, floor(log10(x)));
    double share = x / power;
    return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

sn_ticks sn_ticks_linear(double low, double high, int32_t wanted) {
    sn_ticks ticks = {0};
    SN_ASSERT(wanted >= 1 && 2 * wanted <= SN_TICKS_MOST);

    double range = high - low;
    if (!(range > 0) || !isfinite(range) || !(range > 1e-12 * fmax(fabs(low), fabs(high)))) {
        return ticks;
    }

    ticks.step = round_step(range / wanted);
    double first = ceil(low / ticks.step - 1e-9);
    for (int32_t i = 0; i < SN_TICKS_MOST; i++) {
        double value = (first + i) * ticks.step;
        if (value > high + 1e-9 * ticks.step) {
            break;
        }
        ticks.values[ticks.count++] = value;
    }

    return ticks;
}

// 1, 2 and 5 times the powers of ten, for ranges of less than two or three decades.
static sn_ticks ticks_within_decades(double low, double high) {
    static const double digits[3] = {1, 2, 5};
    sn_ticks ticks = {0};
    for (int e = (int)floor(log10(low)); e <= (int)floor(log10(high)); e++) {
        for (int k = 0; k < 3; k++) {
            double value = digits[k] * pow(10, e);
            bool inside = value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9);
            if (inside && ticks.count < SN_TICKS_MOST) {
                ticks.values[ticks.count++] = value;
            }
        }
    }

    return ticks;
}

sn_ticks sn_ticks_logarithmic(double low, double high, int32_t wanted) {
    sn_ticks ticks = {0};
    SN_ASSERT(wanted >= 1 && 2 * wanted <= SN_TICKS_MOST);
    if (!(low > 0) || !(high > low) || !isfinite(high)) {
        return ticks;
    }

    int first = (int)ceil(log10(low) - 1e-9);
    int last = (int)floor(log10(high) + 1e-9);
    if (last - first < 2) {
        return ticks_within_decades(low, high);
    }

    int step = 1 + (last - first) / (wanted + 1);
    ticks.step = step;

    // Multiples of the step, so that several panels agree.
    while (step > 1 && first % step != 0) {
        first++;
    }

    for (int e = first; e <= last && ticks.count < SN_TICKS_MOST; e += step) {
        ticks.values[ticks.count++] = pow(10, e);
    }

    return ticks;
}

// The digits of |value| with a fixed number of decimals.
static void write_digits(char *out, size_t size, double value, int decimals) {
    double scale = pow(10, decimals);
    unsigned long long digits = (unsigned long long)floor(fabs(value) * scale + 0.5);
    unsigned long long unit = (unsigned long long)scale;

    if (decimals == 0) {
        snprintf(out, size, "%llu", digits);
    } else {
        snprintf(out, size, "%llu.%0*llu", digits / unit, decimals, digits % unit);
    }
}

static const char minus[] = "\xe2\x88\x92";

void sn_tick_label(char label[SN_TICK_LABEL_SIZE], double value, double step) {
    if (!isfinite(value) || !isfinite(step)) {
        snprintf(label, SN_TICK_LABEL_SIZE, "%s",
                 isnan(value) ? "no number"
                 : value > 0  ? "\xe2\x88\x9e"
                              : "\xe2\x88\x92\xe2\x88\x9e");
        return;
    }

    // Values that are zero up to rounding.
    if (fabs(value) < 1e-9 * fabs(step) || value == 0) {
        value = 0;
    }

    int exponent = value != 0 ? (int)floor(log10(fabs(value)) + 1e-9) : 0;
    int fine = step != 0 ? (int)floor(log10(fabs(step)) + 1e-9) : exponent - 2;
    const char *sign = value < 0 ? minus : "";
    char digits[24];

    // Plain decimals for moderate exponents, scientific notation otherwise.
    if (value == 0 || (exponent >= -4 && exponent < 6)) {
        write_digits(digits, sizeof digits, value, fine < 0 ? (fine > -9 ? -fine : 9) : 0);
        if (value == 0) {
            strcpy(digits, "0");
        }
        snprintf(label, SN_TICK_LABEL_SIZE, "%s%s", sign, digits);
        return;
    }

    int decimals = exponent > fine ? (exponent - fine < 9 ? exponent - fine : 9) : 0;
    write_digits(digits, sizeof digits, value / pow(10, exponent), decimals);
    snprintf(label, SN_TICK_LABEL_SIZE, "%s%se%s%d", sign, digits, exponent < 0 ? minus : "",
             exponent < 0 ? -exponent : exponent);
}

void sn_buffer_add_fixed(sn_buffer *buffer, double value, int32_t decimals) {
    SN_ASSERT(decimals >= 0 && decimals <= 15);
    double scale = pow(10, decimals);
    double most = 9e18 / scale;
    if (!isfinite(value)) {
        value = 0;
    }

    value = fmin(fmax(value, -most), most);
    long long scaled = (long long)floor(fabs(value) * scale + 0.5);
    if (scaled == 0) {
        value = 0;
    }

    char digits[48];
    write_digits(digits, sizeof digits, value, decimals);
    if (value < 0) {
        sn_buffer_add_text(buffer, "-");
    }

    sn_buffer_add_text(buffer, digits);
}
