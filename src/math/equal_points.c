// Equal points by a hash table with open addressing, at most half full. The hash mixes all bits of
// the three numbers.
#include "math/equal_points.h"

#include "math/vec.h"

#include <string.h>

static uint64_t hash_point(const double *point) {
    uint64_t hash = 0;
    for (int i = 0; i < 3; i++) {
        double number = point[i] + 0.0; // -0 becomes 0
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }

    return hash * 0xD6E8FEB86659FD93u >> 20;
}

static bool are_equal(const double *a, const double *b) {
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

sinew_status sn_find_equal_points(sinew_context *context, const double *points, int32_t count,
                                  int32_t *first) {
    SN_ASSERT(count >= 0);
    size_t slot_count = 64;
    while (slot_count < 2 * (size_t)count) {
        slot_count *= 2;
    }

    int32_t *slots = sn_allocate(context, slot_count, sizeof *slots); // point + 1, or 0
    if (!slots) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Linear probing: the first point of each value keeps the slot.
    for (int32_t i = 0; i < count; i++) {
        const double *point = sn_at3(points, i);
        size_t slot = (size_t)hash_point(point) & (slot_count - 1);
        while (slots[slot] && !are_equal(sn_at3(points, slots[slot] - 1), point)) {
            slot = (slot + 1) & (slot_count - 1);
        }

        if (!slots[slot]) {
            slots[slot] = i + 1;
        }

        first[i] = slots[slot] - 1;
    }

    sn_release(context, slots, slot_count, sizeof *slots);
    return SINEW_OK;
}
