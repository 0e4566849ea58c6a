// Base64; see io/bytes/base64.h.
#include "io/bytes/base64.h"

#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int value_of(char c) {
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }

    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// The next group of four characters as one to three bytes. 0 at the end, -1 at a wrong character.
static int decode_group(sn_base64 *s, uint8_t out[3]) {
    uint32_t bits = 0;
    int count = 0, padding = 0;
    while (count < 4) {
        if (s->at >= s->end) {
            return count == 0 ? 0 : -1;
        }

        char c = *s->at++;
        if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
            continue;
        }

        int value = value_of(c);
        if (c == '=' && count >= 2) {
            padding++;
            value = 0;
        } else if (value < 0 || padding) {
            s->at--;
            return -1;
        }

        bits = bits << 6 | (uint32_t)value;
        count++;
    }

    for (int i = 0; i < 3; i++) {
        out[i] = (uint8_t)(bits >> (16 - 8 * i));
    }

    return 3 - padding;
}

bool sn_base64_read(sn_base64 *s, void *out, size_t size) {
    uint8_t *bytes = out;
    while (size) {
        if (s->waiting_count == 0) {
            s->waiting_count = decode_group(s, s->waiting);
            if (s->waiting_count <= 0) {
                s->waiting_count = 0;
                return false;
            }
        }

        size_t taken = size < (size_t)s->waiting_count ? size : (size_t)s->waiting_count;
        memcpy(bytes, s->waiting, taken);
        memmove(s->waiting, s->waiting + taken, sizeof s->waiting - taken);
        s->waiting_count -= (int)taken;
        bytes += taken;
        size -= taken;
    }

    return true;
}

bool sn_base64_decode(const char *at, const char *end, sn_buffer *out) {
    sn_base64 stream = sn_base64_create(at, end);
    char *room = sn_buffer_reserve(out, (size_t)(end - at) / 4 * 3 + 3);
    if (!room) {
        return false;
    }

    size_t size = 0;
    for (;;) {
        uint8_t group[3];
        int count = decode_group(&stream, group);
        if (count <= 0) {
            out->size += size;
            return count == 0;
        }

        memcpy(room + size, group, (size_t)count);
        size += (size_t)count;
    }
}

void sn_base64_encode(const void *data, size_t size, sn_buffer *out) {
    const uint8_t *bytes = data;
    char *at = sn_buffer_reserve(out, (size + 2) / 3 * 4);
    if (!at) {
        return;
    }

    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t bits = (uint32_t)bytes[i] << 16;
        if (left > 1) {
            bits |= (uint32_t)bytes[i + 1] << 8;
        }
        if (left > 2) {
            bits |= bytes[i + 2];
        }

        *at++ = alphabet[bits >> 18];
        *at++ = alphabet[bits >> 12 & 63];
        *at++ = left > 1 ? alphabet[bits >> 6 & 63] : '=';
        *at++ = left > 2 ? alphabet[bits & 63] : '=';
    }

    out->size += (size + 2) / 3 * 4;
}
