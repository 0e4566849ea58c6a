// Regions of nearly linear weights while they are made (Gilles et al. 2013, 1.4.4): found by the
// set of nodes that reach them, joined while there are too many, split while there are too few.
#ifndef SN_FRAME_SAMPLING_REGION_H
#define SN_FRAME_SAMPLING_REGION_H

#include "frame/weights/weights.h"

// A node with less than this nowhere influences a region.
#define SN_INFLUENCE 0.005

// Connected voxels with the same influencing nodes and, with `by_label`, the same label; joined,
// the cheapest first, until there are at most `requested` (0: not joined because of their number)
// or until joining would make the error exceed `fit_error` (0: not because of that).
sinew_status sn_find_regions(const sn_shape *shape, bool by_label, int32_t requested,
                             double fit_error, sn_arena *arena, int32_t **region_of,
                             int32_t *count);

// Splits regions in place: until there are `requested`, the worst first, or (requested 0) until
// each fits within `fit_error`.
sinew_status sn_split_regions(const sn_shape *shape, int32_t requested, double fit_error,
                              int32_t *region_of, int32_t *count);

#endif
