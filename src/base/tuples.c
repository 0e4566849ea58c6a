// Stable counting sorts of tuples, one per position.
#include "base/tuples.h"

#include <string.h>

// Sorts `from` into `to` by the numbers at one position of the tuples; `counts` has range + 1
// items.
static void sort_by_position(int32_t *to, const int32_t *from, const int32_t *tuples, int32_t width,
                             int32_t position, int32_t count, int32_t range, int32_t *counts) {
    memset(counts, 0, ((size_t)range + 1) * sizeof *counts);
    for (int32_t i = 0; i < count; i++) {
        int32_t value = tuples[(size_t)i * (size_t)width + (size_t)position];
        SN_ASSERT(value >= 0 && value < range);
        counts[value + 1]++;
    }

    for (int32_t v = 0; v < range; v++) {
        counts[v + 1] += counts[v];
    }

    for (int32_t i = 0; i < count; i++) {
        to[counts[tuples[(size_t)from[i] * (size_t)width + (size_t)position]]++] = from[i];
    }
}

sinew_status sn_sort_tuples(sn_arena *arena, const int32_t *tuples, int32_t width, int32_t count,
                            int32_t range, int32_t **order) {
    SN_ASSERT(width >= 1 && count >= 0 && range >= 0);
    int32_t *sorted = SN_PUSH(arena, int32_t, count);
    sn_arena_mark mark = sn_arena_get_mark(arena);
    int32_t *other = SN_PUSH(arena, int32_t, count);
    int32_t *counts = SN_PUSH(arena, int32_t, (size_t)range + 1);

    SN_TRY(sn_arena_status(arena));

    // The passes alternate between both arrays and must end in `sorted`.
    int32_t *from = width % 2 ? other : sorted;
    int32_t *to = width % 2 ? sorted : other;

    for (int32_t i = 0; i < count; i++) {
        from[i] = i;
    }

    // The last position first: later passes keep its order among equals.
    for (int32_t position = width - 1; position >= 0; position--) {
        sort_by_position(to, from, tuples, width, position, count, range, counts);
        int32_t *swap = from;
        from = to;
        to = swap;
    }

    SN_ASSERT(from == sorted);
    sn_arena_rewind(arena, mark);
    *order = sorted;

    return SINEW_OK;
}

void sn_sort_tuple(int32_t *tuple, int32_t width) {
    for (int32_t i = 1; i < width; i++) {
        int32_t value = tuple[i];
        int32_t k = i;
        for (; k > 0 && tuple[k - 1] > value; k--) {
            tuple[k] = tuple[k - 1];
        }
        tuple[k] = value;
    }
}

int32_t sn_tuple_group_end(const int32_t *tuples, int32_t width, const int32_t *order,
                           int32_t count, int32_t begin) {
    SN_ASSERT(begin >= 0 && begin < count);
    const int32_t *first = tuples + (size_t)order[begin] * (size_t)width;
    int32_t end = begin + 1;

    while (end < count && memcmp(first, tuples + (size_t)order[end] * (size_t)width,
                                 (size_t)width * sizeof *first) == 0) {
        end++;
    }

    return end;
}
