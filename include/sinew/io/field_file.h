// Fields of material axes in files: a text with one line for each element, a quaternion or a
// direction.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_FIELD_FILE_H
#define SINEW_IO_FIELD_FILE_H

#include "sinew/field.h"
#include "sinew/io/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: axes that were read.
typedef struct sinew_field_file sinew_field_file;

/// Reads a field file. To use it, pass its axes to sinew_field_create_from_axes, with a mesh of as
/// many elements.
SINEW_API sinew_status sinew_field_file_read(sinew_context *context, const sinew_source *source,
                                             sinew_field_file **file);
/// Reads it from a path.
SINEW_API sinew_status sinew_field_file_load(sinew_context *context, const char *path,
                                             sinew_field_file **file);
/// NULL is allowed.
SINEW_API void sinew_field_file_destroy(sinew_field_file *file);

/// Whether it describes frames or fibres.
SINEW_API sinew_field_kind sinew_field_file_get_kind(const sinew_field_file *file);
/// Three orthonormal axes of each element, axis by axis: nine numbers per element. Valid as long as
/// the file. `element_count` receives the number of elements [count] and may be NULL.
SINEW_API const double *sinew_field_file_get_axes(const sinew_field_file *file,
                                                  int32_t *element_count);

/// The main direction of the third axes: the first principal direction of the mean of d d' over all
/// elements. Returns its principal value: 1 if all axes are parallel, 1/3 if they are distributed
/// evenly. [-]
SINEW_API double sinew_field_file_compute_direction(const sinew_field_file *file,
                                                    double direction[3]);

/// Writes the axes of a field.
SINEW_API sinew_status sinew_field_write(sinew_context *context, const sinew_field *field,
                                         sinew_bytes *out);
/// Writes them to a file.
SINEW_API sinew_status sinew_field_save(sinew_context *context, const sinew_field *field,
                                        const char *path);

#ifdef __cplusplus
}
#endif

#endif
