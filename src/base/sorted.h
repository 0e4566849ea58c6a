// Lookup in ascending lists, by bisection.
#ifndef SN_BASE_SORTED_H
#define SN_BASE_SORTED_H

#include <stdint.h>

// The index of a number in an ascending list, or -1.
static inline int32_t sn_find_sorted(const int32_t *list, int32_t count, int32_t number) {
    int32_t low = 0;
    int32_t high = count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (list[middle] < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low < count && list[low] == number ? low : -1;
}

#endif
