// BVH motion files: a hierarchy of joints with offsets and channels, then one line of numbers for
// each frame.
//
// Read strictly: every order of channels, rotations in the
// order they are listed, one root. A position channel replaces that component of the joint's
// offset. What is missing, too much or no number is refused with the line it stands in.
#ifndef SN_IO_MOTION_READ_BVH_H
#define SN_IO_MOTION_READ_BVH_H

#include "sinew/skeleton.h"

#include "io/bytes/buffer.h"

// Reads a skeleton and its motion. Lengths are multiplied by `unit` (metres per unit of the file);
// `name` is used in messages.
sinew_status sn_bvh_read(sinew_context *context, const char *name, const char *text, size_t size,
                         double unit, sinew_skeleton **skeleton, sinew_motion **motion);

// Writes a motion of a skeleton whose rest pose has no rotations, as the format demands. Lengths
// are divided by `unit`. The root has six channels, the other joints three; translations of these
// are lost. Angles are exact to rounding.
sinew_status sn_bvh_write(sinew_context *context, const sinew_skeleton *skeleton,
                          const sinew_motion *motion, double unit, sn_buffer *out);

#endif
