// Fields of material axes in files: a text that other programs can write as easily.
//
//   sinew-field 1
//   kind frames            or fibres
//   elements 2
//   0 0 0 1                one line for each element in the order of the mesh: a quaternion x y z w
//   whose rotation turns 0 0 0.7071 0.7071      the coordinate axes to the axes of the material;
//   for fibres also three numbers, a direction
//
// Anything behind a # is a comment. Quaternions and directions need not have unit length. Nothing
// follows the last element.
#ifndef SN_IO_FIELD_FILE_H
#define SN_IO_FIELD_FILE_H

#include "sinew/field.h"

#include "io/bytes/buffer.h"
#include "io/bytes/source.h"

sinew_status sn_field_write(const sinew_field *field, sn_buffer *out);

typedef struct sn_field_file {
    sinew_field_kind kind;
    int32_t element_count;
    double *axes; // nine for each element, axis by axis
} sn_field_file;

// What is read lives in the arena.
sinew_status sn_field_read(sn_arena *arena, const sn_source *source, sn_field_file *file);

#endif
