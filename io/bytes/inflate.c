// Inflate: short Huffman codes are looked up in a table of FAST_BITS bits, longer ones are decoded
// bit by bit. The output buffer is the window. About 200 MB/s.
#include "io/bytes/inflate.h"

#include <string.h>

enum { FAST_BITS = 10, LONGEST_CODE = 15, LITERALS = 288, DISTANCES = 32 };

// A prefix code: symbols in the order of their codes, the number of codes of each length, and the
// short ones in a table.
typedef struct code {
    uint16_t fast[1 << FAST_BITS]; // symbol * 16 + length, or 0 for longer codes
    uint16_t count[LONGEST_CODE + 1];
    uint16_t symbols[LITERALS];
} code;

typedef struct reader {
    const uint8_t *at, *end;
    uint64_t bits; // the next bits, the first one lowest
    int bit_count;
    bool past_end; // more bits were taken than there are
    sn_buffer *out;
    size_t begin; // of this stream in the output
    size_t limit; // size of the output that must not be exceeded
    code literal, distance;
} reader;

const char *sn_inflate_message(sn_inflate_result result) {
    static const char *const messages[] = {"is well", "is corrupt", "ends too early",
                                           "is larger than it should be", "does not fit in memory"};
    return messages[result];
}

static void refill(reader *r) {
    while (r->bit_count <= 56 && r->at < r->end) {
        r->bits |= (uint64_t)*r->at++ << r->bit_count;
        r->bit_count += 8;
    }
}

static uint32_t take(reader *r, int count) {
    if (r->bit_count < count) {
        refill(r);
    }

    if (r->bit_count < count) {
        r->past_end = true;
        return 0;
    }

    uint32_t value = (uint32_t)(r->bits & ((UINT64_C(1) << count) - 1));
    r->bits >>= count;
    r->bit_count -= count;

    return value;
}

static uint32_t reverse(uint32_t value, int count) {
    uint32_t reversed = 0;
    for (int i = 0; i < count; i++) {
        reversed |= ((value >> i) & 1) << (count - 1 - i);
    }
    return reversed;
}

// Builds a code from the lengths of its symbols. False if they do not make a prefix code; a code
// may be incomplete.
static bool build(code *c, const uint8_t *lengths, int symbol_count) {
    memset(c, 0, sizeof *c);
    for (int i = 0; i < symbol_count; i++) {
        c->count[lengths[i]]++;
    }

    c->count[0] = 0;

    // The lengths must not use more codes than there are (Kraft's inequality).
    int left = 1;
    for (int length = 1; length <= LONGEST_CODE; length++) {
        left = 2 * left - c->count[length];
        if (left < 0) {
            return false;
        }
    }

    // Symbols sorted by length, and the first code of each length.
    uint16_t offsets[LONGEST_CODE + 2] = {0};
    uint32_t next[LONGEST_CODE + 2] = {0};
    for (int length = 1; length <= LONGEST_CODE; length++) {
        offsets[length + 1] = (uint16_t)(offsets[length] + c->count[length]);
        next[length + 1] = (next[length] + c->count[length]) << 1;
    }

    // Assign the codes in order; short ones fill every table entry that starts with them.
    for (int i = 0; i < symbol_count; i++) {
        int length = lengths[i];
        if (!length) {
            continue;
        }

        c->symbols[offsets[length]++] = (uint16_t)i;
        uint32_t bits = reverse(next[length]++, length);
        if (length > FAST_BITS) {
            continue;
        }

        for (uint32_t k = bits; k < 1u << FAST_BITS; k += 1u << length) {
            c->fast[k] = (uint16_t)(i << 4 | length);
        }
    }

    return true;
}

// A code longer than the table: bit by bit along the canonical order. -1 if there is no such code.
static int decode_slowly(reader *r, const code *c) {
    int value = 0, first = 0, index = 0;
    for (int length = 1; length <= LONGEST_CODE; length++) {
        value |= (int)take(r, 1);
        if (r->past_end) {
            return -1;
        }

        int count = c->count[length];
        if (value - count < first) {
            return c->symbols[index + (value - first)];
        }

        index += count;
        first = (first + count) << 1;
        value <<= 1;
    }

    return -1;
}

static inline int decode(reader *r, const code *c) {
    if (r->bit_count < LONGEST_CODE) {
        refill(r);
    }

    uint16_t entry = c->fast[r->bits & ((1u << FAST_BITS) - 1)];
    int length = entry & 15;
    if (!entry || length > r->bit_count) {
        return decode_slowly(r, c);
    }

    r->bits >>= length;
    r->bit_count -= length;

    return entry >> 4;
}

static sn_inflate_result check_room(reader *r, size_t size) {
    if (size > r->limit - r->out->size) {
        return SN_INFLATE_TOO_LARGE;
    }
    return sn_buffer_reserve(r->out, size) ? SN_INFLATE_OK : SN_INFLATE_MEMORY;
}

static sn_inflate_result copy_stored(reader *r) {
    // The header is aligned to a byte; the complement protects the length.
    take(r, r->bit_count % 8);
    uint32_t length = take(r, 16);
    uint32_t complement = take(r, 16);
    if (r->past_end) {
        return SN_INFLATE_SHORT;
    }
    if (length != (complement ^ 0xFFFF)) {
        return SN_INFLATE_CORRUPT;
    }

    sn_inflate_result result = check_room(r, length);
    if (result != SN_INFLATE_OK) {
        return result;
    }

    // Bytes that were already read as bits come first.
    while (length && r->bit_count >= 8) {
        uint8_t byte = (uint8_t)take(r, 8);
        sn_buffer_add(r->out, &byte, 1);
        length--;
    }

    if ((size_t)(r->end - r->at) < length) {
        return SN_INFLATE_SHORT;
    }

    sn_buffer_add(r->out, r->at, length);
    r->at += length;

    return SN_INFLATE_OK;
}

static bool copy_match(reader *r, int symbol) {
    static const uint16_t length_base[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                           15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                           67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                           2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t distance_base[] = {
        1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
        193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    static const uint8_t distance_extra[] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                             6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

    if (symbol - 257 >= 29) {
        return false;
    }

    // Length and distance: a base value from the symbol, plus extra bits.
    size_t length = length_base[symbol - 257] + take(r, length_extra[symbol - 257]);
    int code_number = decode(r, &r->distance);
    if (code_number < 0 || code_number >= 30) {
        return false;
    }

    size_t distance = distance_base[code_number] + take(r, distance_extra[code_number]);
    if (r->past_end || distance > r->out->size - r->begin) {
        return false;
    }

    // The source may overlap the target, which repeats it. The caller has reserved 258 bytes.
    char *to = r->out->data + r->out->size;
    const char *from = to - distance;
    if (distance >= length) {
        memcpy(to, from, length);
    } else {
        for (size_t i = 0; i < length; i++) {
            to[i] = from[i];
        }
    }

    r->out->size += length;
    return true;
}

static sn_inflate_result inflate_codes(reader *r) {
    enum { LONGEST_MATCH = 258 };
    for (;;) {
        // Room for whatever the next symbol adds.
        if (r->out->capacity - r->out->size < LONGEST_MATCH &&
            !sn_buffer_reserve(r->out, LONGEST_MATCH)) {
            return SN_INFLATE_MEMORY;
        }

        // A literal byte, the end of the block, or a match with earlier output.
        int symbol = decode(r, &r->literal);
        if (symbol < 0) {
            return r->past_end ? SN_INFLATE_SHORT : SN_INFLATE_CORRUPT;
        }

        if (symbol < 256) {
            r->out->data[r->out->size++] = (char)symbol;
        } else if (symbol == 256) {
            return SN_INFLATE_OK;
        } else if (!copy_match(r, symbol)) {
            return r->past_end ? SN_INFLATE_SHORT : SN_INFLATE_CORRUPT;
        }

        if (r->out->size > r->limit) {
            return SN_INFLATE_TOO_LARGE;
        }
    }
}

static void build_fixed(reader *r) {
    uint8_t lengths[LITERALS];
    for (int i = 0; i < LITERALS; i++) {
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    }

    build(&r->literal, lengths, LITERALS);
    memset(lengths, 5, DISTANCES);
    build(&r->distance, lengths, 30);
}

static sn_inflate_result read_codes(reader *r) {
    static const uint8_t order[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    int literals = (int)take(r, 5) + 257;
    int distances = (int)take(r, 5) + 1;
    int given = (int)take(r, 4) + 4;

    if (r->past_end) {
        return SN_INFLATE_SHORT;
    }
    if (literals > 286 || distances > 30) {
        return SN_INFLATE_CORRUPT;
    }

    // The code in which the lengths themselves are coded.
    uint8_t lengths[LITERALS + DISTANCES] = {0};
    for (int i = 0; i < given; i++) {
        lengths[order[i]] = (uint8_t)take(r, 3);
    }

    if (!build(&r->literal, lengths, 19)) {
        return SN_INFLATE_CORRUPT;
    }

    // Lengths of both codes, with runs: 16 repeats the last length, 17 and 18 repeat zero.
    memset(lengths, 0, sizeof lengths);
    for (int i = 0; i < literals + distances;) {
        int symbol = decode(r, &r->literal);
        if (symbol < 0 || r->past_end) {
            return r->past_end ? SN_INFLATE_SHORT : SN_INFLATE_CORRUPT;
        }

        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }

        if (symbol == 16 && i == 0) {
            return SN_INFLATE_CORRUPT;
        }

        uint8_t value = symbol == 16 ? lengths[i - 1] : 0;
        int repeat = symbol == 16   ? 3 + (int)take(r, 2)
                     : symbol == 17 ? 3 + (int)take(r, 3)
                                    : 11 + (int)take(r, 7);

        if (repeat > literals + distances - i) {
            return SN_INFLATE_CORRUPT;
        }

        memset(lengths + i, value, (size_t)repeat);
        i += repeat;
    }

    // The symbol that ends a block must have a code.
    if (lengths[256] == 0) {
        return SN_INFLATE_CORRUPT;
    }

    bool good =
        build(&r->literal, lengths, literals) && build(&r->distance, lengths + literals, distances);

    return good ? SN_INFLATE_OK : SN_INFLATE_CORRUPT;
}

sn_inflate_result sn_inflate_raw(const void *data, size_t size, size_t limit, sn_buffer *out,
                                 size_t *used) {
    const uint8_t *begin = data;
    reader r = {.at = begin, .end = begin + size, .out = out, .begin = out->size};

    r.limit = limit > SIZE_MAX - out->size ? SIZE_MAX : out->size + limit;
    sn_inflate_result result = SN_INFLATE_OK;
    for (bool last = false; !last && result == SN_INFLATE_OK;) {
        last = take(&r, 1) != 0;
        uint32_t kind = take(&r, 2);
        if (r.past_end) {
            result = SN_INFLATE_SHORT;
        } else if (kind == 0) {
            result = copy_stored(&r);
        } else if (kind == 3) {
            result = SN_INFLATE_CORRUPT;
        } else {
            if (kind == 1) {
                build_fixed(&r);
            } else {
                result = read_codes(&r);
            }

            if (result == SN_INFLATE_OK) {
                result = inflate_codes(&r);
            }
        }
    }

    // Whole bytes that were read as bits but not consumed go back.
    *used = (size_t)(r.at - begin) - (size_t)(r.bit_count / 8);

    return result;
}

uint32_t sn_adler32(const void *data, size_t size) {
    const uint8_t *bytes = data;
    uint32_t a = 1, b = 0;
    while (size) {
        size_t run = size < 5552 ? size : 5552; // as many as fit before 32 bits overflow
        for (size_t i = 0; i < run; i++) {
            a += bytes[i];
            b += a;
        }

        a %= 65521;
        b %= 65521;
        bytes += run;
        size -= run;
    }

    return b << 16 | a;
}

uint32_t sn_crc32(const void *data, size_t size) {
    static const uint32_t table[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC,
                                       0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
                                       0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                       0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    const uint8_t *bytes = data;
    uint32_t crc = 0xFFFFFFFF;

    for (size_t i = 0; i < size; i++) { // half a byte at a time
        crc = table[(crc ^ bytes[i]) & 15] ^ (crc >> 4);

        crc = table[(crc ^ (bytes[i] >> 4)) & 15] ^ (crc >> 4);
    }

    return ~crc;
}

sn_inflate_result sn_inflate_zlib(const void *data, size_t size, size_t limit, sn_buffer *out) {
    const uint8_t *bytes = data;
    if (size < 6) {
        return SN_INFLATE_SHORT;
    }

    // Method 8, a valid check of the two header bytes, no preset dictionary.
    if ((bytes[0] & 15) != 8 || (bytes[0] * 256 + bytes[1]) % 31 || (bytes[1] & 32)) {
        return SN_INFLATE_CORRUPT;
    }

    size_t begin = out->size;
    size_t used = 0;
    sn_inflate_result result = sn_inflate_raw(bytes + 2, size - 2, limit, out, &used);
    if (result != SN_INFLATE_OK) {
        return result;
    }
    if (size - 2 - used < 4) {
        return SN_INFLATE_SHORT;
    }

    // The checksum is big-endian.
    const uint8_t *sum = bytes + 2 + used;
    uint32_t expected =
        (uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | sum[3];

    return sn_adler32(out->data + begin, out->size - begin) == expected ? SN_INFLATE_OK
                                                                        : SN_INFLATE_CORRUPT;
}

// The size of a gzip member's header, or 0.
static size_t gzip_header(const uint8_t *bytes, size_t size) {
    enum { HAS_CRC = 2, HAS_EXTRA = 4, HAS_NAME = 8, HAS_COMMENT = 16 };
    if (size < 18 || bytes[0] != 0x1F || bytes[1] != 0x8B || bytes[2] != 8 || (bytes[3] & 0xE0)) {
        return 0;
    }

    size_t at = 10;
    if (bytes[3] & HAS_EXTRA) {
        at += 2 + bytes[10] + 256 * (size_t)bytes[11];
    }

    // File name and comment end with a zero byte.
    for (int text = 0; text < 2; text++) {
        if (!(bytes[3] & (text ? HAS_COMMENT : HAS_NAME))) {
            continue;
        }

        while (at < size && bytes[at]) {
            at++;
        }

        at++;
    }

    if (bytes[3] & HAS_CRC) {
        at += 2;
    }

    return at < size ? at : 0;
}

sn_inflate_result sn_inflate_gzip(const void *data, size_t size, size_t limit, sn_buffer *out) {
    const uint8_t *bytes = data;
    size_t begin = out->size;
    if (size < 18) {
        return SN_INFLATE_SHORT;
    }

    for (size_t at = 0; at < size;) {
        size_t header = gzip_header(bytes + at, size - at);
        size_t used = 0;
        size_t member = out->size;

        // Padding after the last member is harmless.
        if (!header) {
            return at ? SN_INFLATE_OK : SN_INFLATE_CORRUPT;
        }

        at += header;
        sn_inflate_result result =
            sn_inflate_raw(bytes + at, size - at, limit - (out->size - begin), out, &used);
        if (result != SN_INFLATE_OK) {
            return result;
        }

        at += used;
        if (size - at < 8) {
            return SN_INFLATE_SHORT;
        }

        // Checksum and length, little-endian.
        const uint8_t *sum = bytes + at;
        uint32_t crc =
            (uint32_t)sum[3] << 24 | (uint32_t)sum[2] << 16 | (uint32_t)sum[1] << 8 | sum[0];
        uint32_t length =
            (uint32_t)sum[7] << 24 | (uint32_t)sum[6] << 16 | (uint32_t)sum[5] << 8 | sum[4];

        if (length != (uint32_t)(out->size - member) ||
            crc != sn_crc32(out->data + member, out->size - member)) {
            return SN_INFLATE_CORRUPT;
        }

        at += 8;
    }

    return SN_INFLATE_OK;
}
