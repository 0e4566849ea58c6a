// A growing buffer of bytes, into which every writer writes. Memory comes from the context.
//
// Additions return nothing: a failure sticks, later additions do nothing, and the writer checks
// once at the end. Numbers are written the same in every locale, binary values in little-endian
// order on every machine.
#ifndef SN_IO_BYTES_BUFFER_H
#define SN_IO_BYTES_BUFFER_H

#include "base/memory.h"

typedef struct sn_buffer {
    sinew_context *context;
    char *data;
    size_t size;
    size_t capacity;
    bool failed; // an allocation has failed since creation
} sn_buffer;

sn_buffer sn_buffer_create(sinew_context *context);
void sn_buffer_destroy(sn_buffer *buffer);

// Discards the content and a failure but keeps the memory, so that one buffer can serve many
// images.
void sn_buffer_clear(sn_buffer *buffer);

// SINEW_OK, or SINEW_OUT_OF_MEMORY if any addition failed.
sinew_status sn_buffer_status(const sn_buffer *buffer);

// Makes room for `size` more bytes without changing the size. Returns the address after the
// content, or NULL (then buffer->failed is set). The caller writes at most `size` bytes there and
// adds the number it wrote to buffer->size.
char *sn_buffer_reserve(sn_buffer *buffer, size_t size);

// Appends `count` items of `size` bytes for the caller to fill in. NULL on failure, also if the
// product does not fit in a size_t.
void *sn_buffer_push(sn_buffer *buffer, size_t count, size_t size);

void sn_buffer_add(sn_buffer *buffer, const void *bytes, size_t size);
void sn_buffer_add_text(sn_buffer *buffer, const char *text);
void sn_buffer_add_zeros(sn_buffer *buffer, size_t count);

// Pads with `fill` until the size is a multiple of `alignment`.
void sn_buffer_align(sn_buffer *buffer, size_t alignment, char fill);

// printf for words and integers only: floating-point numbers would depend on the locale.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void sn_buffer_print(sn_buffer *buffer, const char *format, ...);

void sn_buffer_add_integer(sn_buffer *buffer, int64_t value);

// The shortest decimal that reads back as the same double (sn_text_write_double), or as the same
// float.
void sn_buffer_add_double(sn_buffer *buffer, double value);
void sn_buffer_add_float(sn_buffer *buffer, double value);

// Binary values, little-endian.
void sn_buffer_add_u8(sn_buffer *buffer, uint8_t value);
void sn_buffer_add_u16(sn_buffer *buffer, uint16_t value);
void sn_buffer_add_u32(sn_buffer *buffer, uint32_t value);
void sn_buffer_add_u64(sn_buffer *buffer, uint64_t value);
void sn_buffer_add_i32(sn_buffer *buffer, int32_t value);
void sn_buffer_add_f32(sn_buffer *buffer, float value);
void sn_buffer_add_f64(sn_buffer *buffer, double value);

// Whole arrays, little-endian.
void sn_buffer_add_i32s(sn_buffer *buffer, const int32_t *values, size_t count);
void sn_buffer_add_f32s(sn_buffer *buffer, const double *values, size_t count); // narrowed to float
void sn_buffer_add_f64s(sn_buffer *buffer, const double *values, size_t count);

// Overwrites the 32-bit value at `offset`, which must exist: for sizes that are known only later.
void sn_buffer_patch_u32(sn_buffer *buffer, size_t offset, uint32_t value);

#endif
