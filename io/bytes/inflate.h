// Decompression of deflate data (RFC 1951) in zlib (RFC 1950) and gzip (RFC 1952) containers, from
// memory to memory. It does not use zlib, which the build for browsers does not have. Checksums are
// verified.
#ifndef SN_IO_BYTES_INFLATE_H
#define SN_IO_BYTES_INFLATE_H

#include "io/bytes/buffer.h"

typedef enum sn_inflate_result {
    SN_INFLATE_OK,
    SN_INFLATE_CORRUPT,   // not deflate data, or a checksum does not match
    SN_INFLATE_SHORT,     // the input ends too early
    SN_INFLATE_TOO_LARGE, // the output exceeds `limit` bytes
    SN_INFLATE_MEMORY,
} sn_inflate_result;

enum { SN_INFLATE_RATIO = 1032 }; // the most bytes that deflate can expand one byte to

// The end of a message that starts with the name of the data, e.g. "is corrupt".
const char *sn_inflate_message(sn_inflate_result result);

// Adds the decompressed bytes to `out`, at most `limit`.
sn_inflate_result sn_inflate_zlib(const void *data, size_t size, size_t limit, sn_buffer *out);

// All members of a gzip file, one after the other.
sn_inflate_result sn_inflate_gzip(const void *data, size_t size, size_t limit, sn_buffer *out);

// The raw stream; *used is the number of input bytes consumed.
sn_inflate_result sn_inflate_raw(const void *data, size_t size, size_t limit, sn_buffer *out,
                                 size_t *used);

uint32_t sn_adler32(const void *data, size_t size);
uint32_t sn_crc32(const void *data, size_t size);

#endif
