// JSON, written value by value.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_JSON_H
#define SINEW_IO_JSON_H

#include "sinew/io/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: writes JSON into a sinew_bytes, indented by two spaces. Numbers have the fewest digits
/// that read back as the same double.
typedef struct sinew_json_writer sinew_json_writer;

/// Creates a writer. `out` must outlive it. `compact` omits line breaks and spaces.
SINEW_API sinew_status sinew_json_writer_create(sinew_bytes *out, bool compact,
                                                sinew_json_writer **writer);
/// NULL is allowed.
SINEW_API void sinew_json_writer_destroy(sinew_json_writer *writer);

/// Writes the key of the next value of an object.
SINEW_API void sinew_json_write_key(sinew_json_writer *writer, const char *key);
/// Write a value. Numbers that are not finite are written as null.
SINEW_API void sinew_json_write_null(sinew_json_writer *writer);
SINEW_API void sinew_json_write_boolean(sinew_json_writer *writer, bool value);
SINEW_API void sinew_json_write_integer(sinew_json_writer *writer, int64_t value);
SINEW_API void sinew_json_write_number(sinew_json_writer *writer, double value);
SINEW_API void sinew_json_write_string(sinew_json_writer *writer, const char *value);
/// Writes an array of numbers on one line.
SINEW_API void sinew_json_write_numbers(sinew_json_writer *writer, const double *values,
                                        int32_t count);
SINEW_API void sinew_json_begin_object(sinew_json_writer *writer);
SINEW_API void sinew_json_end_object(sinew_json_writer *writer);
SINEW_API void sinew_json_begin_array(sinew_json_writer *writer);
SINEW_API void sinew_json_end_array(sinew_json_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
