#include "inspect.h"

#include "base/assert.h"
#include "math/box.h"
#include "io/text/text.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_CAPACITY = 512 };

void inspect_report_begin(inspect_report *report, sinew_context *context,
                          const cli_command *command, bool json) {
    *report = (inspect_report){
        .context = context, .command = command, .out = sn_buffer_create(context), .json = json};
    report->writer = sn_json_writer_create(&report->out, false);
    if (report->json) {
        sn_json_begin_object(&report->writer);
    }
}

int inspect_report_finish(inspect_report *report, int status) {
    if (report->json && status == CLI_OK) {
        sn_json_end_object(&report->writer);
        sn_buffer_add_text(&report->out, "\n");
    }

    if (status == CLI_OK && sn_buffer_status(&report->out) != SINEW_OK) {
        status = cli_fail(report->command, CLI_BAD_INPUT, "out of memory");
    }
    if (status == CLI_OK) {
        fwrite(report->out.data, 1, report->out.size, stdout);
    }

    sn_buffer_destroy(&report->out);
    return status;
}

int inspect_fail(const inspect_report *report) {
    return cli_fail_call(report->command, report->context);
}

static void begin_fact(inspect_report *report, const char *key) {
    if (report->json) {
        sn_json_write_key(&report->writer, key);
        return;
    }

    sn_buffer_add_text(&report->out, report->item_started ? ", " : report->in_item ? "  " : "");
    sn_buffer_print(&report->out, "%s: ", key);
    report->item_started = report->in_item;
}

// Facts of an item share a line.
static void end_fact(inspect_report *report) {
    if (!report->in_item) {
        sn_buffer_add_text(&report->out, "\n");
    }
}

// Copies a text that may hold anything: broken UTF-8 and control characters (C0, DEL, C1) would
// garble terminals and JSON.
static void copy_clean(char *clean, const char *text) {
    const char *end = text + strlen(text);
    size_t size = 0;
    while (text < end && size + 5 < TEXT_CAPACITY) {
        int length = sn_utf8_length(text, end);
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
        sn_json_write_string(&report->writer, clean);
    } else {
        sn_buffer_add_text(&report->out, clean);
        end_fact(report);
    }
}

void inspect_count(inspect_report *report, const char *key, int64_t value) {
    begin_fact(report, key);
    if (report->json) {
        sn_json_write_integer(&report->writer, value);
    } else {
        sn_buffer_add_integer(&report->out, value);
        end_fact(report);
    }
}

static void add_numbers(inspect_report *report, const double *values, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        char digits[40];
        snprintf(digits, sizeof digits, "%s%.6g", i ? " " : "", values[i]);
        sn_buffer_add_text(&report->out, digits);
    }
    end_fact(report);
}

void inspect_number(inspect_report *report, const char *key, double value) {
    begin_fact(report, key);
    if (report->json) {
        sn_json_write_number(&report->writer, value);
    } else {
        add_numbers(report, &value, 1);
    }
}

void inspect_vector(inspect_report *report, const char *key, const double *value) {
    begin_fact(report, key);
    if (report->json) {
        sn_json_write_numbers(&report->writer, value, 3);
    } else {
        add_numbers(report, value, 3);
    }
}

void inspect_box(inspect_report *report, const double *points, int32_t count) {
    if (count == 0) {
        return;
    }

    sn_box box = sn_box_of_points(points, count);
    sn_vec3 size = sn_box_size(box);
    inspect_vector(report, "lower", (double[3]){box.lower.x, box.lower.y, box.lower.z});
    inspect_vector(report, "upper", (double[3]){box.upper.x, box.upper.y, box.upper.z});
    inspect_vector(report, "size", (double[3]){size.x, size.y, size.z});
}

void inspect_begin_list(inspect_report *report, const char *key, int32_t count) {
    SN_ASSERT(!report->in_item);
    if (!report->json) {
        inspect_count(report, key, count);
        return;
    }

    begin_fact(report, key);
    sn_json_begin_array(&report->writer);
}

void inspect_end_list(inspect_report *report) {
    if (report->json) {
        sn_json_end_array(&report->writer);
    }
}

void inspect_begin_item(inspect_report *report) {
    if (report->json) {
        sn_json_begin_object(&report->writer);
    }
    report->in_item = true;
    report->item_started = false;
}

void inspect_end_item(inspect_report *report) {
    report->in_item = report->item_started = false;
    if (report->json) {
        sn_json_end_object(&report->writer);
    } else {
        sn_buffer_add_text(&report->out, "\n");
    }
}
