// Base64 (RFC 4648), decoded as a stream.
#ifndef SN_IO_BYTES_BASE64_H
#define SN_IO_BYTES_BASE64_H

#include "io/bytes/buffer.h"

// Decodes on demand. White space is skipped; padding ends a group of four, and another stream may
// follow it.
typedef struct sn_base64 {
    const char *at, *end;
    uint8_t waiting[3]; // decoded but not returned yet
    int waiting_count;
} sn_base64;

static inline sn_base64 sn_base64_create(const char *at, const char *end) {
    return (sn_base64){.at = at, .end = end};
}

// Reads exactly `size` bytes into `out`. False at an invalid character or at the end.
bool sn_base64_read(sn_base64 *stream, void *out, size_t size);

// An upper bound of the number of bytes that the rest decodes to.
static inline size_t sn_base64_left(const sn_base64 *stream) {
    return (size_t)(stream->end - stream->at) / 4 * 3 + (size_t)stream->waiting_count;
}

#endif
