// Regions over which the weights are nearly linear, while they are built (Gilles et al. 2013,
// 1.4.4). What enters is the table of weights; what leaves is the region of each voxel. Regions
// start as connected voxels with the same influencing nodes, are merged while there are too many
// (region_merge.c) and split while there are too few (region_split.c).
#ifndef SN_FRAME_SAMPLING_REGION_H
#define SN_FRAME_SAMPLING_REGION_H

#include "frame/weights/weights.h"

// A node influences a region if its weight reaches this somewhere in it.
#define SN_INFLUENCE 0.005

// Finds connected voxels with the same influencing nodes and, with `by_label`, the same label.
// Merges them, the cheapest pairs first, until there are at most `requested` (0: no limit), or
// until merging would raise the error above `fit_error` (0: no limit).
sinew_status sn_find_regions(const sn_shape *shape, bool by_label, int32_t requested,
                             double fit_error, sn_arena *arena, int32_t **region_of,
                             int32_t *count);

// Splits regions in place, the worst first, until there are `requested`, or, if that is 0, until
// each fits within `fit_error`.
sinew_status sn_split_regions(const sn_shape *shape, int32_t requested, double fit_error,
                              int32_t *region_of, int32_t *count);

#endif
