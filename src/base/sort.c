// Radix sort, least significant byte first; bytes that all keys share are skipped.
#include "base/sort.h"

#include <string.h>

static void sort_by_byte(uint64_t *to_keys, int32_t *to_values, const uint64_t *keys,
                         const int32_t *values, int32_t count, int shift) {
    int32_t ends[257] = {0};
    for (int32_t i = 0; i < count; i++) {
        ends[(keys[i] >> shift & 255) + 1]++;
    }

    for (int b = 0; b < 256; b++) {
        ends[b + 1] += ends[b];
    }

    for (int32_t i = 0; i < count; i++) {
        int32_t place = ends[keys[i] >> shift & 255]++;
        to_keys[place] = keys[i];
        to_values[place] = values[i];
    }
}

sinew_status sn_sort_by_key(sn_arena *scratch, uint64_t *keys, int32_t *values, int32_t count) {
    SN_ASSERT(count >= 0);
    sn_arena_mark mark = sn_arena_get_mark(scratch);
    uint64_t *other_keys = SN_PUSH(scratch, uint64_t, count);
    uint64_t differing = 0;
    int32_t *other_values = SN_PUSH(scratch, int32_t, count);

    SN_TRY(sn_arena_status(scratch));

    // Bits in which some keys differ.
    for (int32_t i = 1; i < count; i++) {
        differing |= keys[i] ^ keys[0];
    }

    // One stable pass for each byte that matters.
    for (int shift = 0; shift < 64; shift += 8) {
        if ((differing >> shift & 255) == 0) {
            continue;
        }
        sort_by_byte(other_keys, other_values, keys, values, count, shift);
        memcpy(keys, other_keys, (size_t)count * sizeof *keys);
        memcpy(values, other_values, (size_t)count * sizeof *values);
    }

    sn_arena_rewind(scratch, mark);
    return SINEW_OK;
}
