// Base64; see io/bytes/base64.h.
#include "io/bytes/base64.h"

#include <string.h>

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

        // Padding may only replace the last one or two characters of a group.
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

    // Four characters of six bits are three bytes.
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
