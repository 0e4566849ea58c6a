// Fingerprints of what a body was made of, for snapshots: mesh or voxels, materials and their axes,
// frames, weights, sampling. What may change in a run (placement, damping, loads, the tension of
// fibres) is not in them. Fields are hashed one by one, for padding has no meaning.
#ifndef SN_DYNAMICS_ORIGIN_H
#define SN_DYNAMICS_ORIGIN_H

#include "sinew/sinew.h"

// Of definitions that a body has been made of: all their pointers and counts are sound.
uint64_t sn_origin_of_elements(const sinew_body_def *def);
uint64_t sn_origin_of_frames(const sinew_frame_body_def *def);
uint64_t sn_origin_of_rigid(const sinew_rigid_body_def *def);
uint64_t sn_origin_of_positions(const sinew_pbd_body_def *def);

#endif
