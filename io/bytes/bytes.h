// Numbers in binary data of either byte order. The caller has checked that the bytes are there.
#ifndef SN_IO_BYTES_BYTES_H
#define SN_IO_BYTES_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t sn_load_u16(const void *at, bool big) {
    const uint8_t *b = (const uint8_t *)at;
    return (uint16_t)(big ? (b[0] << 8) | b[1] : (b[1] << 8) | b[0]);
}

static inline uint32_t sn_load_u32(const void *at, bool big) {
    const uint8_t *b = (const uint8_t *)at;
    return big ? ((uint32_t)b[0] << 24) | ((uint32_t)b[1] << 16) | ((uint32_t)b[2] << 8) | b[3]
               : ((uint32_t)b[3] << 24) | ((uint32_t)b[2] << 16) | ((uint32_t)b[1] << 8) | b[0];
}

static inline uint64_t sn_load_u64(const void *at, bool big) {
    const uint8_t *b = (const uint8_t *)at;
    uint64_t first = sn_load_u32(b, big);
    uint64_t second = sn_load_u32(b + 4, big);
    return big ? (first << 32) | second : (second << 32) | first;
}

static inline float sn_load_f32(const void *at, bool big) {
    uint32_t bits = sn_load_u32(at, big);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double sn_load_f64(const void *at, bool big) {
    uint64_t bits = sn_load_u64(at, big);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The number types that file formats share.
typedef enum sn_number_type {
    SN_TYPE_I8,
    SN_TYPE_U8,
    SN_TYPE_I16,
    SN_TYPE_U16,
    SN_TYPE_I32,
    SN_TYPE_U32,
    SN_TYPE_I64,
    SN_TYPE_U64,
    SN_TYPE_F32,
    SN_TYPE_F64,
} sn_number_type;

static inline size_t sn_type_size(sn_number_type type) {
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return sizes[type];
}

static inline bool sn_type_is_integer(sn_number_type type) {
    return type < SN_TYPE_F32;
}

// Any type as a double; integers beyond 2^53 are rounded.
static inline double sn_load_number(const void *at, sn_number_type type, bool big) {
    switch (type) {
    case SN_TYPE_I8: return *(const int8_t *)at;
    case SN_TYPE_U8: return *(const uint8_t *)at;
    case SN_TYPE_I16: return (int16_t)sn_load_u16(at, big);
    case SN_TYPE_U16: return sn_load_u16(at, big);
    case SN_TYPE_I32: return (int32_t)sn_load_u32(at, big);
    case SN_TYPE_U32: return sn_load_u32(at, big);
    case SN_TYPE_I64: return (double)(int64_t)sn_load_u64(at, big);
    case SN_TYPE_U64: return (double)sn_load_u64(at, big);
    case SN_TYPE_F32: return (double)sn_load_f32(at, big);
    case SN_TYPE_F64: return sn_load_f64(at, big);
    }

    return 0;
}

// An integer type as an int64; values above INT64_MAX become INT64_MAX.
static inline int64_t sn_load_integer(const void *at, sn_number_type type, bool big) {
    if (type == SN_TYPE_I64) {
        return (int64_t)sn_load_u64(at, big);
    }

    if (type == SN_TYPE_U64) {
        uint64_t value = sn_load_u64(at, big);
        return value > INT64_MAX ? INT64_MAX : (int64_t)value;
    }

    return (int64_t)sn_load_number(at, type, big);
}

#endif
