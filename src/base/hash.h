// FNV-1a, 64 bit: a hash of bytes for fingerprints and checksums, not against forgery.
#ifndef SN_BASE_HASH_H
#define SN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define SN_HASH_START UINT64_C(14695981039346656037)

static inline uint64_t sn_hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ p[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static inline uint64_t sn_hash_integer(uint64_t hash, int64_t value) {
    return sn_hash_bytes(hash, &value, sizeof value);
}

#endif
