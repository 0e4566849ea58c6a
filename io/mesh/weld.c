// Welding by a hash table of open addressing, at most half full. The hash mixes all bits of the
// three numbers.
#include "io/mesh/weld.h"

#include <string.h>

static uint64_t hash_point(const double *point) {
    uint64_t hash = 0;
    for (int i = 0; i < 3; i++) {
        uint64_t bits;
        memcpy(&bits, &point[i], sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }

    return hash * 0xD6E8FEB86659FD93u >> 20;
}

sinew_status sn_weld_points(sinew_context *context, double *points, int32_t count, int32_t *indices,
                            int32_t *kept) {
    SN_ASSERT(count >= 0);
    size_t slot_count = 64;
    while (slot_count < 2 * (size_t)count) {
        slot_count *= 2;
    }

    int32_t *slots = sn_allocate(context, slot_count, sizeof *slots); // new number + 1, or 0
    if (!slots) {
        return SINEW_OUT_OF_MEMORY;
    }

    int32_t used = 0;
    for (int32_t i = 0; i < count; i++) {
        double point[3];
        for (int k = 0; k < 3; k++) {
            point[k] = points[3 * (size_t)i + (size_t)k] + 0.0; // -0 + 0 = 0
        }

        size_t slot = (size_t)hash_point(point) & (slot_count - 1);
        while (slots[slot] &&
               memcmp(points + 3 * (size_t)(slots[slot] - 1), point, sizeof point) != 0) {
            slot = (slot + 1) & (slot_count - 1);
        }

        if (!slots[slot]) {
            memcpy(points + 3 * (size_t)used, point,
                   sizeof point); // used <= i: nothing unread is lost
            slots[slot] = ++used;
        }

        indices[i] = slots[slot] - 1;
    }

    sn_release(context, slots, slot_count, sizeof *slots);
    *kept = used;

    return SINEW_OK;
}
