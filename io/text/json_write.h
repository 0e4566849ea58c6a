// Writing JSON: readable, indented by two spaces, numbers with the fewest digits that read back the
// same.
//
// A value is written at the current position: in an object after its key, in an array, or alone.
// Short arrays of plain values can stay on one line.
#ifndef SN_IO_TEXT_JSON_WRITE_H
#define SN_IO_TEXT_JSON_WRITE_H

#include "io/bytes/buffer.h"
#include "io/text/json.h"

typedef struct sn_json_writer {
    sn_buffer *out;
    int32_t depth;
    bool compact;         // no line breaks at all
    bool first;           // nothing has been written in the open container yet
    bool after_key;       // the next value belongs to a key
    int32_t inline_depth; // containers from this depth on stay on one line; 0 for none
} sn_json_writer;

sn_json_writer sn_json_writer_create(sn_buffer *out, bool compact);

void sn_json_write_key(sn_json_writer *writer, const char *key);
void sn_json_write_null(sn_json_writer *writer);
void sn_json_write_boolean(sn_json_writer *writer, bool value);
void sn_json_write_integer(sn_json_writer *writer, int64_t value);
void sn_json_write_string(sn_json_writer *writer, const char *value);

// A number; null if it is not finite, which JSON cannot represent. sn_json_write_float writes the
// digits of a float.
void sn_json_write_number(sn_json_writer *writer, double value);
void sn_json_write_float(sn_json_writer *writer, double value);

// An array of numbers on one line.
void sn_json_write_numbers(sn_json_writer *writer, const double *values, int32_t count);

// A key with its value.
void sn_json_write_number_pair(sn_json_writer *writer, const char *key, double value);
void sn_json_write_string_pair(sn_json_writer *writer, const char *key, const char *value);
void sn_json_write_numbers_pair(sn_json_writer *writer, const char *key, const double *values,
                                int32_t count);

void sn_json_begin_object(sn_json_writer *writer);
void sn_json_end_object(sn_json_writer *writer);
void sn_json_begin_array(sn_json_writer *writer);
void sn_json_end_array(sn_json_writer *writer);

// A whole tree. Arrays and objects without containers inside stay on one line if they are short.
void sn_json_write_tree(sn_json_writer *writer, const sn_json *value);

#endif
