// Mutations that keep JSON valid, alone or as the first chunk of a GLB container: numbers and texts
// are exchanged for others of the document or for awkward ones, values are copied, repeated and
// removed. libFuzzer's own mutations, which mostly break the syntax, are applied now and then.
//
// A fuzz target that includes this file and expands FUZZ_MUTATE_JSON uses it.
#ifndef SN_TESTS_FUZZ_MUTATE_JSON_H
#define SN_TESTS_FUZZ_MUTATE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum { FUZZ_SPANS = 4096, FUZZ_DEPTH = 64, FUZZ_GLB_HEADER = 20 };

// A value of the document; a member of an object begins with its key.
typedef struct fuzz_span {
    size_t begin, value, end;
    char kind; // the first character of the value
} fuzz_span;

typedef struct fuzz_text {
    const uint8_t *data;
    size_t size, at;
    fuzz_span spans[FUZZ_SPANS];
    int count;
} fuzz_text;

static inline void fuzz_skip_space(fuzz_text *t) {
    while (t->at < t->size && strchr(" \t\r\n", t->data[t->at])) {
        t->at++;
    }
}

static inline bool fuzz_skip_string(fuzz_text *t) {
    for (t->at++; t->at < t->size; t->at++) {
        if (t->data[t->at] == '\\') {
            t->at++;
        } else if (t->data[t->at] == '"') {
            t->at++;
            return true;
        }
    }
    return false;
}

static inline bool fuzz_scan_value(fuzz_text *t, size_t begin, int depth);

// The items of an array or object, after its bracket.
static inline bool fuzz_scan_items(fuzz_text *t, char close, int depth) {
    for (t->at++;;) {
        fuzz_skip_space(t);
        if (t->at >= t->size) {
            return false;
        }
        if (t->data[t->at] == (uint8_t)close) {
            t->at++;
            return true;
        }
        if (t->data[t->at] == ',') {
            t->at++;
            continue;
        }

        size_t begin = t->at;
        if (close == '}') {
            if (t->data[t->at] != '"' || !fuzz_skip_string(t)) {
                return false;
            }
            fuzz_skip_space(t);
            if (t->at >= t->size || t->data[t->at++] != ':') {
                return false;
            }
        }
        if (!fuzz_scan_value(t, begin, depth)) {
            return false;
        }
    }
}

// One value; `begin` is where its key begins, or the value itself.
static inline bool fuzz_scan_value(fuzz_text *t, size_t begin, int depth) {
    fuzz_skip_space(t);
    if (t->at >= t->size || t->count == FUZZ_SPANS || depth == FUZZ_DEPTH) {
        return false;
    }

    int number = t->count++;
    size_t value = t->at;
    char kind = (char)t->data[value];
    bool sound = true;
    if (kind == '"') {
        sound = fuzz_skip_string(t);
    } else if (kind == '[' || kind == '{') {
        sound = fuzz_scan_items(t, kind == '[' ? ']' : '}', depth + 1);
    } else {
        while (t->at < t->size && !strchr(",]} \t\r\n", t->data[t->at])) {
            t->at++;
        }
        sound = t->at > value;
    }

    t->spans[number] = (fuzz_span){begin < value ? begin : value, value, t->at, kind};
    return sound;
}

static inline uint32_t fuzz_next(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// Replaces bytes [begin, end) of `data`. Returns the new size, or 0 if there is no room.
static inline size_t fuzz_replace(uint8_t *data, size_t size, size_t max_size, size_t begin,
                                  size_t end, const void *text, size_t length) {
    size_t after = size - (end - begin) + length;
    if (after > max_size) {
        return 0;
    }
    memmove(data + begin + length, data + end, size - end);
    memcpy(data + begin, text, length);
    return after;
}

static inline size_t fuzz_mutate_text(uint8_t *data, size_t size, size_t max_size, uint32_t seed) {
    static const char *const values[] = {
        "0",    "-0",    "1",    "-1",  "2",          "3",           "1e-300", "1e300",
        "1e19", "0.5",   "255",  "256", "65535",      "65536",       "-1e9",   "2147483647",
        "true", "false", "null", "[]",  "2147483648", "-2147483648", "{}",     "\"\""};
    static fuzz_text text;
    text = (fuzz_text){.data = data, .size = size};
    if (!fuzz_scan_value(&text, 0, 0) || text.count < 2) {
        return 0;
    }

    const fuzz_span *to = &text.spans[1 + (int)(fuzz_next(&seed) % (uint32_t)(text.count - 1))];
    const fuzz_span *from = &text.spans[1 + (int)(fuzz_next(&seed) % (uint32_t)(text.count - 1))];
    size_t length = from->end - from->value;
    uint8_t *copy = malloc(size + 1);
    size_t after = 0;

    switch (fuzz_next(&seed) % 5) {
    case 0: { // an awkward value
        const char *value = values[fuzz_next(&seed) % (sizeof values / sizeof *values)];
        after = fuzz_replace(data, size, max_size, to->value, to->end, value, strlen(value));
        break;
    }
    case 1: // another value of the document, of the same kind if possible
        for (int i = 0; i < 8 && from->kind != to->kind; i++) {
            from = &text.spans[1 + (int)(fuzz_next(&seed) % (uint32_t)(text.count - 1))];
        }
        length = from->end - from->value;
        memcpy(copy, data + from->value, length);
        after = fuzz_replace(data, size, max_size, to->value, to->end, copy, length);
        break;
    case 2: // an item or member once more
        length = to->end - to->begin;
        copy[0] = ',';
        memcpy(copy + 1, data + to->begin, length);
        after = fuzz_replace(data, size, max_size, to->end, to->end, copy, length + 1);
        break;
    case 3: { // without an item or member, and the comma after it
        size_t end = to->end;
        while (end < size && strchr(" \t\r\n", data[end])) {
            end++;
        }
        end += end < size && data[end] == ',';
        after = fuzz_replace(data, size, max_size, to->begin, end, "", 0);
        break;
    }
    default: { // a number that is a little different
        char number[40];
        double value =
            strtod((const char *)memcpy(copy, data + to->value, to->end - to->value), NULL);
        (void)snprintf(number, sizeof number, "%.17g",
                       value * (fuzz_next(&seed) % 2 ? 1.001 : -2) + 1);
        after = fuzz_replace(data, size, max_size, to->value, to->end, number, strlen(number));
        break;
    }
    }

    free(copy);
    return after;
}

static inline void fuzz_put_u32(uint8_t *to, size_t value) {
    for (int i = 0; i < 4; i++) {
        to[i] = (uint8_t)(value >> 8 * i);
    }
}

static inline size_t fuzz_get_u32(const uint8_t *from) {
    return (size_t)from[0] | (size_t)from[1] << 8 | (size_t)from[2] << 16 | (size_t)from[3] << 24;
}

// Mutates the first chunk, and writes the lengths that it has then.
static inline size_t fuzz_mutate_glb(uint8_t *data, size_t size, size_t max_size, uint32_t seed) {
    size_t length = fuzz_get_u32(data + 12);
    if (length > size - FUZZ_GLB_HEADER) {
        return 0;
    }

    // The rest is kept aside, so that the text may grow.
    size_t rest = size - FUZZ_GLB_HEADER - length;
    if (max_size < FUZZ_GLB_HEADER + rest + 4) {
        return 0;
    }
    uint8_t *kept = malloc(rest + 1);
    memcpy(kept, data + FUZZ_GLB_HEADER + length, rest);

    size_t room = max_size - FUZZ_GLB_HEADER - rest - 3;
    size_t after = fuzz_mutate_text(data + FUZZ_GLB_HEADER, length, room, seed);
    size_t total = 0;
    if (after) {
        while (after % 4) {
            data[FUZZ_GLB_HEADER + after++] = ' ';
        }
        memcpy(data + FUZZ_GLB_HEADER + after, kept, rest);
        total = FUZZ_GLB_HEADER + after + rest;
        fuzz_put_u32(data + 8, total);
        fuzz_put_u32(data + 12, after);
    }

    free(kept);
    return total;
}

static inline size_t fuzz_mutate_json(uint8_t *data, size_t size, size_t max_size, uint32_t seed) {
    bool glb = size > FUZZ_GLB_HEADER && memcmp(data, "glTF", 4) == 0;
    size_t after = 0;
    if (seed % 8) {
        after = glb ? fuzz_mutate_glb(data, size, max_size, seed / 8)
                    : fuzz_mutate_text(data, size, max_size, seed / 8);
    }
    return after ? after : LLVMFuzzerMutate(data, size, max_size);
}

#define FUZZ_MUTATE_JSON                                                                           \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,                    \
                                   unsigned int seed);                                             \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,                    \
                                   unsigned int seed) {                                            \
        return fuzz_mutate_json(data, size, max_size, seed);                                       \
    }

#endif
