// Sorts many small tuples of node numbers, to find faces, edges and repeated elements.
//
// Counting sorts from the last number to the first, O(width (count + range)), stable: the same
// result everywhere, and no input can make it slow.
#ifndef SN_BASE_TUPLES_H
#define SN_BASE_TUPLES_H

#include "base/memory.h"

// (*order)[i] is the i-th tuple in lexicographic order; equal ones keep their order. Numbers are in
// [0, range).
sinew_status sn_sort_tuples(sn_arena *arena, const int32_t *tuples, int32_t width, int32_t count,
                            int32_t range, int32_t **order);

// Sorts the numbers inside one tuple.
void sn_sort_tuple(int32_t *tuple, int32_t width);

// One past the last index in `order` whose tuple equals that at `begin`.
int32_t sn_tuple_group_end(const int32_t *tuples, int32_t width, const int32_t *order,
                           int32_t count, int32_t begin);

#endif
