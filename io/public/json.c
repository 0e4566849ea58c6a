// JSON for users of the library.
#include "sinew/io/json.h"

#include "io/public/bytes.h"
#include "io/text/json_write.h"

struct sinew_json_writer {
    sn_json_writer writer;
};

sinew_status sinew_json_writer_create(sinew_bytes *out, bool compact, sinew_json_writer **writer) {
    SN_NEED(NULL, out && writer);
    sinew_json_writer *made = sn_allocate(out->buffer.context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    made->writer = sn_json_writer_create(&out->buffer, compact);
    *writer = made;

    return SINEW_OK;
}

void sinew_json_writer_destroy(sinew_json_writer *writer) {
    if (writer) {
        sn_release(writer->writer.out->context, writer, 1, sizeof *writer);
    }
}

void sinew_json_write_key(sinew_json_writer *writer, const char *key) {
    SN_NEED_OR(, writer && key);
    sn_json_write_key(&writer->writer, key);
}

void sinew_json_write_null(sinew_json_writer *writer) {
    SN_NEED_OR(, writer);
    sn_json_write_null(&writer->writer);
}

void sinew_json_write_boolean(sinew_json_writer *writer, bool value) {
    SN_NEED_OR(, writer);
    sn_json_write_boolean(&writer->writer, value);
}

void sinew_json_write_integer(sinew_json_writer *writer, int64_t value) {
    SN_NEED_OR(, writer);
    sn_json_write_integer(&writer->writer, value);
}

void sinew_json_write_number(sinew_json_writer *writer, double value) {
    SN_NEED_OR(, writer);
    sn_json_write_number(&writer->writer, value);
}

void sinew_json_write_string(sinew_json_writer *writer, const char *value) {
    SN_NEED_OR(, writer && value);
    sn_json_write_string(&writer->writer, value);
}

void sinew_json_write_numbers(sinew_json_writer *writer, const double *values, int32_t count) {
    SN_NEED_OR(, writer);
    sn_json_write_numbers(&writer->writer, values, count);
}

void sinew_json_begin_object(sinew_json_writer *writer) {
    SN_NEED_OR(, writer);
    sn_json_begin_object(&writer->writer);
}

void sinew_json_end_object(sinew_json_writer *writer) {
    SN_NEED_OR(, writer);
    sn_json_end_object(&writer->writer);
}

void sinew_json_begin_array(sinew_json_writer *writer) {
    SN_NEED_OR(, writer);
    sn_json_begin_array(&writer->writer);
}

void sinew_json_end_array(sinew_json_writer *writer) {
    SN_NEED_OR(, writer);
    sn_json_end_array(&writer->writer);
}
