// Stable radix sort of values by 64-bit keys: the same order on every machine, O(count) per byte in
// use.
#ifndef SN_BASE_SORT_H
#define SN_BASE_SORT_H

#include "base/memory.h"

// Sorts `values` (and the keys with them) by ascending key; equal keys keep their order.
sinew_status sn_sort_by_key(sn_arena *scratch, uint64_t *keys, int32_t *values, int32_t count);

#endif
