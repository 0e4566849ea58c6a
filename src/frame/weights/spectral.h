// Where nodes with spectral weights belong; spectral.c describes both.
#ifndef SN_FRAME_WEIGHTS_SPECTRAL_H
#define SN_FRAME_WEIGHTS_SPECTRAL_H

#include "sinew/frame.h"

// Places nodes `held` to count - 1 where they tell the `count` lowest modes of the solid apart
// best, given the first `held`. `young` and `rigid` are by label.
sinew_status sn_place_spectral(const sinew_voxels *voxels, const double *young, const bool *rigid,
                               sinew_metric metric, double *positions, int32_t held, int32_t count);

#endif
