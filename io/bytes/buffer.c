// The growing buffer: capacity doubles, failures stick, numbers are formatted by io/text/text.h,
// and byte order is handled by shifts (by a plain copy on little-endian machines).
#include "io/bytes/buffer.h"

#include "io/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

sn_buffer sn_buffer_create(sinew_context *context) {
    return (sn_buffer){.context = context};
}

void sn_buffer_destroy(sn_buffer *buffer) {
    sn_release(buffer->context, buffer->data, buffer->capacity, 1);
    *buffer = (sn_buffer){.context = buffer->context};
}

void sn_buffer_clear(sn_buffer *buffer) {
    buffer->size = 0;
    buffer->failed = false;
}

sinew_status sn_buffer_status(const sn_buffer *buffer) {
    return buffer->failed ? SINEW_OUT_OF_MEMORY : SINEW_OK;
}

char *sn_buffer_reserve(sn_buffer *buffer, size_t size) {
    SN_ASSERT(buffer->size <= buffer->capacity);
    if (buffer->failed) {
        return NULL;
    }

    // Grow. A failure stays with the buffer, so that callers may check once at the end.
    if (!buffer->data || size > buffer->capacity - buffer->size) {
        if (size > SIZE_MAX / 4 - buffer->size) {
            sn_fail(buffer->context, SINEW_OUT_OF_MEMORY,
                    "out of memory: %zu more bytes exceed the address space", size);
            buffer->failed = true;
            return NULL;
        }

        void *data = buffer->data;
        sinew_status status = sn_grow(buffer->context, &data, &buffer->capacity, buffer->size,
                                      buffer->size + size + (size == 0), 1);

        buffer->data = data;
        if (status != SINEW_OK) {
            buffer->failed = true;
            return NULL;
        }
    }

    return buffer->data + buffer->size;
}

void *sn_buffer_push(sn_buffer *buffer, size_t count, size_t size) {
    SN_ASSERT(size > 0);
    if (count > SIZE_MAX / 4 / size) {
        count = SIZE_MAX / size; // the reserve refuses
    }

    char *at = sn_buffer_reserve(buffer, count * size);
    if (at) {
        buffer->size += count * size;
    }

    return at;
}

void sn_buffer_add(sn_buffer *buffer, const void *bytes, size_t size) {
    char *at = sn_buffer_reserve(buffer, size);
    if (!at || !size) {
        return;
    }
    memcpy(at, bytes, size);
    buffer->size += size;
}

void sn_buffer_add_text(sn_buffer *buffer, const char *text) {
    sn_buffer_add(buffer, text, strlen(text));
}

void sn_buffer_add_zeros(sn_buffer *buffer, size_t count) {
    char *at = sn_buffer_reserve(buffer, count);
    if (!at || !count) {
        return;
    }
    memset(at, 0, count);
    buffer->size += count;
}

void sn_buffer_align(sn_buffer *buffer, size_t alignment, char fill) {
    SN_ASSERT(alignment > 0);
    while (!buffer->failed && buffer->size % alignment) {
        sn_buffer_add(buffer, &fill, 1);
    }
}

void sn_buffer_print(sn_buffer *buffer, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);

    int length = vsnprintf(NULL, 0, format, arguments);
    SN_ASSERT(length >= 0);

    char *at = length >= 0 ? sn_buffer_reserve(buffer, (size_t)length + 1) : NULL;
    if (at) {
        vsnprintf(at, (size_t)length + 1, format, again);
        buffer->size += (size_t)length;
    }

    va_end(again);
    va_end(arguments);
}

void sn_buffer_add_integer(sn_buffer *buffer, int64_t value) {
    char *at = sn_buffer_reserve(buffer, SN_TEXT_NUMBER_SIZE);
    if (at) {
        buffer->size += sn_text_write_integer(at, value);
    }
}

void sn_buffer_add_double(sn_buffer *buffer, double value) {
    char *at = sn_buffer_reserve(buffer, SN_TEXT_NUMBER_SIZE);
    if (at) {
        buffer->size += sn_text_write_double(at, value);
    }
}

void sn_buffer_add_float(sn_buffer *buffer, double value) {
    char *at = sn_buffer_reserve(buffer, SN_TEXT_NUMBER_SIZE);
    if (at) {
        buffer->size += sn_text_write_float(at, value);
    }
}

static void store(uint8_t *at, uint64_t value, int size) {
    for (int i = 0; i < size; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static void add_bytes(sn_buffer *buffer, uint64_t value, int size) {
    uint8_t bytes[8];
    store(bytes, value, size);
    sn_buffer_add(buffer, bytes, (size_t)size);
}

static uint32_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void sn_buffer_add_u8(sn_buffer *buffer, uint8_t value) {
    sn_buffer_add(buffer, &value, 1);
}

void sn_buffer_add_u16(sn_buffer *buffer, uint16_t value) {
    add_bytes(buffer, value, 2);
}

void sn_buffer_add_u32(sn_buffer *buffer, uint32_t value) {
    add_bytes(buffer, value, 4);
}

void sn_buffer_add_u64(sn_buffer *buffer, uint64_t value) {
    add_bytes(buffer, value, 8);
}

void sn_buffer_add_i32(sn_buffer *buffer, int32_t value) {
    add_bytes(buffer, (uint32_t)value, 4);
}

void sn_buffer_add_f32(sn_buffer *buffer, float value) {
    add_bytes(buffer, float_bits(value), 4);
}

void sn_buffer_add_f64(sn_buffer *buffer, double value) {
    add_bytes(buffer, double_bits(value), 8);
}

void sn_buffer_add_i32s(sn_buffer *buffer, const int32_t *values, size_t count) {
    uint8_t *at = sn_buffer_push(buffer, count, 4);
    if (at) {
        for (size_t i = 0; i < count; i++) {
            store(at + 4 * i, (uint32_t)values[i], 4);
        }
    }
}

void sn_buffer_add_f32s(sn_buffer *buffer, const double *values, size_t count) {
    uint8_t *at = sn_buffer_push(buffer, count, 4);
    if (at) {
        for (size_t i = 0; i < count; i++) {
            store(at + 4 * i, float_bits((float)values[i]), 4);
        }
    }
}

void sn_buffer_add_f64s(sn_buffer *buffer, const double *values, size_t count) {
    uint8_t *at = sn_buffer_push(buffer, count, 8);
    if (at) {
        for (size_t i = 0; i < count; i++) {
            store(at + 8 * i, double_bits(values[i]), 8);
        }
    }
}

void sn_buffer_patch_u32(sn_buffer *buffer, size_t offset, uint32_t value) {
    if (buffer->failed) {
        return;
    }
    SN_ASSERT(offset + 4 <= buffer->size);
    store((uint8_t *)buffer->data + offset, value, 4);
}
