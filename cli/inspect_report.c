// The output of `sinew inspect`: the same facts as aligned text or as JSON. Text from files is
// cleaned of control characters and broken UTF-8 before it reaches a terminal.
#include "inspect.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_CAPACITY = 512 };

int inspect_report_begin(inspect_report *report, sinew_context *context, const cli_command *command,
                         bool json) {
    *report = (inspect_report){.context = context, .command = command, .json = json};
    if (sinew_bytes_create(context, &report->out) != SINEW_OK ||
        sinew_json_writer_create(report->out, false, &report->writer) != SINEW_OK) {
        sinew_bytes_destroy(report->out);
        return cli_fail_call(command, context);
    }

    if (report->json) {
        sinew_json_begin_object(report->writer);
    }
    return CLI_OK;
}

int inspect_report_finish(inspect_report *report, int status) {
    if (report->json && status == CLI_OK) {
        sinew_json_end_object(report->writer);
        sinew_bytes_add_text(report->out, "\n");
    }

    if (status == CLI_OK && sinew_bytes_get_status(report->out) != SINEW_OK) {
        status = cli_fail(report->command, CLI_BAD_INPUT, "out of memory");
    }
    if (status == CLI_OK) {
        fwrite(sinew_bytes_get_data(report->out), 1, sinew_bytes_get_size(report->out), stdout);
    }

    sinew_json_writer_destroy(report->writer);
    sinew_bytes_destroy(report->out);
    return status;
}

int inspect_fail(const inspect_report *report) {
    return cli_fail_call(report->command, report->context);
}

static void begin_fact(inspect_report *report, const char *key) {
    if (report->json) {
        sinew_json_write_key(report->writer, key);
        return;
    }

    sinew_bytes_add_text(report->out, report->item_started ? ", " : report->in_item ? "  " : "");
    sinew_bytes_add_text(report->out, key);
    sinew_bytes_add_text(report->out, ": ");
    report->item_started = report->in_item;
}

// Facts of an item share a line.
static void end_fact(inspect_report *report) {
    if (!report->in_item) {
        sinew_bytes_add_text(report->out, "\n");
    }
}

// Bytes of the UTF-8 character at `text`, or 0 if there is none (RFC 3629: the shortest form, no
// surrogates, at most U+10FFFF).
static int utf8_length(const char *text, const char *end) {
    const unsigned char *c = (const unsigned char *)text;
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};

    // The first byte states the length.
    int length = c[0] < 0x80       ? 1
                 : c[0] >> 5 == 6  ? 2
                 : c[0] >> 4 == 14 ? 3
                 : c[0] >> 3 == 30 ? 4
                                   : 0;
    if (length < 2) {
        return length;
    }
    if (end - text < length) {
        return 0;
    }

    // The others carry six bits each.
    unsigned value = c[0] & (0x7Fu >> length);
    for (int i = 1; i < length; i++) {
        if (c[i] >> 6 != 2) {
            return 0;
        }
        value = value << 6 | (c[i] & 0x3Fu);
    }

    // Longer forms than needed, surrogates and values beyond Unicode are not characters.
    bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    return value >= least[length] && value <= 0x10FFFF && !surrogate ? length : 0;
}

// Copies a text that may hold anything: broken UTF-8 and control characters (C0, DEL, C1) would
// garble terminals and JSON.
static void copy_clean(char *clean, const char *text) {
    const char *end = text + strlen(text);
    size_t size = 0;
    while (text < end && size + 5 < TEXT_CAPACITY) {
        int length = utf8_length(text, end);
        bool control = length == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f);
        bool second_control =
            length == 2 && (unsigned char)text[0] == 0xC2 && (unsigned char)text[1] < 0xA0;

        if (length == 0 || control || second_control) {
            clean[size++] = '?';
            text += length ? length : 1;
        } else {
            memcpy(clean + size, text, (size_t)length);
            size += (size_t)length;
            text += length;
        }
    }

    clean[size] = 0;
}

void inspect_text(inspect_report *report, const char *key, const char *value) {
    char clean[TEXT_CAPACITY];
    copy_clean(clean, value ? value : "");
    begin_fact(report, key);

    if (report->json) {
        sinew_json_write_string(report->writer, clean);
    } else {
        sinew_bytes_add_text(report->out, clean);
        end_fact(report);
    }
}

void inspect_count(inspect_report *report, const char *key, int64_t value) {
    begin_fact(report, key);
    if (report->json) {
        sinew_json_write_integer(report->writer, value);
    } else {
        char digits[24];
        snprintf(digits, sizeof digits, "%lld", (long long)value);
        sinew_bytes_add_text(report->out, digits);
        end_fact(report);
    }
}

static void add_numbers(inspect_report *report, const double *values, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        char digits[40];
        snprintf(digits, sizeof digits, "%s%.6g", i ? " " : "", values[i]);
        sinew_bytes_add_text(report->out, digits);
    }
    end_fact(report);
}

void inspect_number(inspect_report *report, const char *key, double value) {
    begin_fact(report, key);
    if (report->json) {
        sinew_json_write_number(report->writer, value);
    } else {
        add_numbers(report, &value, 1);
    }
}

void inspect_vector(inspect_report *report, const char *key, const double *value) {
    begin_fact(report, key);
    if (report->json) {
        sinew_json_write_numbers(report->writer, value, 3);
    } else {
        add_numbers(report, value, 3);
    }
}

void inspect_box(inspect_report *report, const double *points, int32_t count) {
    if (count == 0) {
        return;
    }

    double lower[3], upper[3], size[3];
    for (int k = 0; k < 3; k++) {
        lower[k] = INFINITY;
        upper[k] = -INFINITY;
        for (int32_t i = 0; i < count; i++) {
            lower[k] = fmin(lower[k], points[3 * (size_t)i + (size_t)k]);
            upper[k] = fmax(upper[k], points[3 * (size_t)i + (size_t)k]);
        }
        size[k] = upper[k] - lower[k];
    }

    inspect_vector(report, "lower", lower);
    inspect_vector(report, "upper", upper);
    inspect_vector(report, "size", size);
}

void inspect_begin_list(inspect_report *report, const char *key, int32_t count) {
    assert(!report->in_item);
    if (!report->json) {
        inspect_count(report, key, count);
        return;
    }

    begin_fact(report, key);
    sinew_json_begin_array(report->writer);
}

void inspect_end_list(inspect_report *report) {
    if (report->json) {
        sinew_json_end_array(report->writer);
    }
}

void inspect_begin_item(inspect_report *report) {
    if (report->json) {
        sinew_json_begin_object(report->writer);
    }
    report->in_item = true;
    report->item_started = false;
}

void inspect_end_item(inspect_report *report) {
    report->in_item = report->item_started = false;
    if (report->json) {
        sinew_json_end_object(report->writer);
    } else {
        sinew_bytes_add_text(report->out, "\n");
    }
}
