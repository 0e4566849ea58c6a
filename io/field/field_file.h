// Fields of material axes in files: a text format that other programs can easily write.
//
//   sinew-field 1
//   kind frames                 or fibres
//   elements 2
//   0 0 0 1                     one line for each element, in the order of the mesh
//   0 0 0.7071 0.7071
//
// A line holds a quaternion x y z w that rotates the coordinate axes to the axes of the material,
// or for fibres alternatively three numbers, the direction. Quaternions and directions need not
// have unit length. Text after a # is a comment. Nothing may follow the last element.
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

// The result lives in the arena.
sinew_status sn_field_read(sn_arena *arena, const sn_source *source, sn_field_file *file);

#endif
