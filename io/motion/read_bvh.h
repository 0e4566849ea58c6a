// BVH motion files: a hierarchy of joints with offsets and channels, then one line of numbers for
// each frame.
//
// The reader is strict. It accepts every order of channels, applies rotations in the order they are
// listed, and requires exactly one root. A position channel replaces that component of the joint's
// offset. Missing, surplus and malformed numbers are errors that name the line.
#ifndef SN_IO_MOTION_READ_BVH_H
#define SN_IO_MOTION_READ_BVH_H

#include "sinew/skeleton.h"

#include "io/bytes/buffer.h"

// Reads a skeleton and its motion. Lengths are multiplied by `unit` (metres per unit of the file).
// `name` is used in messages.
sinew_status sn_bvh_read(sinew_context *context, const char *name, const char *text, size_t size,
                         double unit, sinew_skeleton **skeleton, sinew_motion **motion);

// Writes a motion. The skeleton's rest pose must not have rotations, because the format cannot
// store them. Lengths are divided by `unit`. The root has six channels, all other joints three, so
// their translations are lost. Angles are exact up to rounding.
sinew_status sn_bvh_write(sinew_context *context, const sinew_skeleton *skeleton,
                          const sinew_motion *motion, double unit, sn_buffer *out);

#endif
