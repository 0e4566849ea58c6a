// Makes a skeleton and its motion from a glTF skin.
//
// The joints of the skin become those of the skeleton; nodes between and above them, animated or
// not, are absorbed into their transforms. The rest pose is that of the inverse bind matrices, at
// which the mesh was bound, or that of the nodes if there are none. A joint without children gets a
// bone of half its parent's length in the same direction, because glTF does not say where the last
// bone ends. Scales must be uniform; animated scales are ignored with a warning.
#ifndef SN_IO_GLTF_SKELETON_H
#define SN_IO_GLTF_SKELETON_H

#include "sinew/skeleton.h"

#include "io/gltf/gltf.h"

typedef struct sn_gltf_skeleton_def {
    const char *file;      // for messages
    double unit;           // metres per unit of the file
    double frame_time;     // at which the animation is sampled [s]
    const char *animation; // its name; NULL: the first one
    int32_t *order;        // receives the skeleton's joint for each joint of the skin; may be NULL
} sn_gltf_skeleton_def;

// Uses the first skin of the file. Without an animation the motion has one frame, the current pose
// of the nodes. Several roots get one above them, called "root". Cost: frames times nodes.
sinew_status sn_gltf_create_skeleton(sinew_context *context, const sn_gltf *gltf,
                                     const sn_gltf_skeleton_def *def, sinew_skeleton **skeleton,
                                     sinew_motion **motion);

#endif
