// Which joints of two skeletons correspond, by what their names usually mean.
#ifndef SN_IO_MOTION_PAIR_NAMES_H
#define SN_IO_MOTION_PAIR_NAMES_H

#include "sinew/skeleton.h"

#include "base/memory.h"

// Pairs the joints of two skeletons by part of the body and side: "LeftUpLeg", "thigh.L" and
// "upperleg_l" are the same. Each joint is in at most one pair, the first of a kind counts, and
// joints that a given pair names are left out. The given pairs come first in *pairs, which lives in
// the arena.
sinew_status sn_motion_pair_names(sn_arena *arena, const sinew_skeleton *source,
                                  const sinew_skeleton *target, const sinew_name_pair *given,
                                  int32_t given_count, sinew_name_pair **pairs, int32_t *count);

#endif
