// Writing JSON; see io/text/json_write.h.
#include "io/text/json_write.h"

#include <math.h>
#include <string.h>

sn_json_writer sn_json_writer_create(sn_buffer *out, bool compact) {
    return (sn_json_writer){.out = out, .compact = compact, .first = true};
}

static bool is_inline(const sn_json_writer *writer) {
    return writer->inline_depth > 0 && writer->depth >= writer->inline_depth;
}

static void break_line(sn_json_writer *writer) {
    if (writer->compact) {
        return;
    }

    sn_buffer_add_text(writer->out, "\n");
    for (int32_t i = 0; i < writer->depth; i++) {
        sn_buffer_add_text(writer->out, "  ");
    }
}

// Writes whatever separates a value or key from the previous one: a comma, a line break.
static void separate(sn_json_writer *writer) {
    if (writer->after_key) {
        writer->after_key = false;
        return;
    }

    if (!writer->first) {
        sn_buffer_add_text(writer->out, is_inline(writer) && !writer->compact ? ", " : ",");
    }
    if (writer->depth > 0 && !is_inline(writer)) {
        break_line(writer);
    }

    writer->first = false;
}

static void write_quoted(sn_buffer *out, const char *text, size_t size) {
    sn_buffer_add_text(out, "\"");
    for (const char *c = text; c < text + size; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '"' || byte == '\\') {
            char escaped[2] = {'\\', *c};
            sn_buffer_add(out, escaped, 2);
        } else if (byte == '\n') {
            sn_buffer_add_text(out, "\\n");
        } else if (byte == '\t') {
            sn_buffer_add_text(out, "\\t");
        } else if (byte < 0x20) {
            sn_buffer_print(out, "\\u%04x", byte);
        } else {
            sn_buffer_add(out, c, 1);
        }
    }

    sn_buffer_add_text(out, "\"");
}

void sn_json_write_key(sn_json_writer *writer, const char *key) {
    SN_ASSERT(!writer->after_key && writer->depth > 0);
    separate(writer);
    write_quoted(writer->out, key, strlen(key));
    sn_buffer_add_text(writer->out, writer->compact ? ":" : ": ");
    writer->after_key = true;
}

static void write_plain(sn_json_writer *writer, const char *text) {
    separate(writer);
    sn_buffer_add_text(writer->out, text);
}

void sn_json_write_null(sn_json_writer *writer) {
    write_plain(writer, "null");
}

void sn_json_write_boolean(sn_json_writer *writer, bool value) {
    write_plain(writer, value ? "true" : "false");
}

void sn_json_write_integer(sn_json_writer *writer, int64_t value) {
    separate(writer);
    sn_buffer_add_integer(writer->out, value);
}

void sn_json_write_string(sn_json_writer *writer, const char *value) {
    separate(writer);
    write_quoted(writer->out, value, strlen(value));
}

void sn_json_write_number(sn_json_writer *writer, double value) {
    if (!isfinite(value)) {
        sn_json_write_null(writer);
        return;
    }
    separate(writer);
    sn_buffer_add_double(writer->out, value);
}

void sn_json_write_float(sn_json_writer *writer, double value) {
    if (!isfinite((float)value)) {
        sn_json_write_null(writer);
        return;
    }
    separate(writer);
    sn_buffer_add_float(writer->out, value);
}

static void begin(sn_json_writer *writer, const char *bracket, bool on_one_line) {
    separate(writer);
    sn_buffer_add_text(writer->out, bracket);
    writer->depth++;
    writer->first = true;

    if (on_one_line && !is_inline(writer)) {
        writer->inline_depth = writer->depth;
    }
}

static void end(sn_json_writer *writer, const char *bracket) {
    SN_ASSERT(writer->depth > 0 && !writer->after_key);
    bool on_one_line = is_inline(writer);
    if (writer->inline_depth == writer->depth) {
        writer->inline_depth = 0;
    }

    writer->depth--;
    if (!writer->first && !on_one_line) {
        break_line(writer);
    }

    sn_buffer_add_text(writer->out, bracket);
    writer->first = false;
}

void sn_json_write_numbers(sn_json_writer *writer, const double *values, int32_t count) {
    begin(writer, "[", true);
    for (int32_t i = 0; i < count; i++) {
        sn_json_write_number(writer, values[i]);
    }
    end(writer, "]");
}

void sn_json_begin_object(sn_json_writer *writer) {
    begin(writer, "{", false);
}

void sn_json_end_object(sn_json_writer *writer) {
    end(writer, "}");
}

void sn_json_begin_array(sn_json_writer *writer) {
    begin(writer, "[", false);
}

void sn_json_end_array(sn_json_writer *writer) {
    end(writer, "]");
}

enum { SHORT_LINE = 80 };

// Whether the items fit on a line, estimated from above: numbers take at most 20 characters.
static bool is_short(const sn_json *value) {
    int32_t width = 0;
    for (int32_t i = 0; i < value->count; i++) {
        const sn_json *item = &value->items[i];
        if (item->kind == SN_JSON_ARRAY || item->kind == SN_JSON_OBJECT) {
            return false;
        }

        width += (item->kind == SN_JSON_STRING ? item->count : 6) +
                 (item->key ? (int32_t)strlen(item->key) : 0) + 4;
        if (width > SHORT_LINE) {
            return false;
        }
    }

    return true;
}

static void write_container(sn_json_writer *writer, const sn_json *value) {
    bool object = value->kind == SN_JSON_OBJECT;
    begin(writer, object ? "{" : "[", is_short(value));
    for (int32_t i = 0; i < value->count; i++) {
        if (object) {
            sn_json_write_key(writer, value->items[i].key);
        }
        sn_json_write_tree(writer, &value->items[i]);
    }

    end(writer, object ? "}" : "]");
}

void sn_json_write_tree(sn_json_writer *writer, const sn_json *value) {
    switch (value->kind) {
    case SN_JSON_NULL: sn_json_write_null(writer); break;
    case SN_JSON_BOOLEAN: sn_json_write_boolean(writer, value->boolean); break;
    case SN_JSON_NUMBER: sn_json_write_number(writer, value->number); break;
    case SN_JSON_STRING:
        separate(writer);
        write_quoted(writer->out, value->string, (size_t)value->count);
        break;
    case SN_JSON_ARRAY:
    case SN_JSON_OBJECT: write_container(writer, value); break;
    }
}

void sn_json_write_number_pair(sn_json_writer *writer, const char *key, double value) {
    sn_json_write_key(writer, key);
    sn_json_write_number(writer, value);
}

void sn_json_write_string_pair(sn_json_writer *writer, const char *key, const char *value) {
    sn_json_write_key(writer, key);
    sn_json_write_string(writer, value);
}

void sn_json_write_numbers_pair(sn_json_writer *writer, const char *key, const double *values,
                                int32_t count) {
    sn_json_write_key(writer, key);
    sn_json_write_numbers(writer, values, count);
}
