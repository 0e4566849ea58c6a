// From a glTF skin to a skeleton with its motion.
//
// The skin's joints become the skeleton's; nodes between them and above them, animated or not, are
// folded in. The rest pose is that of the inverse bind matrices, where the mesh was bound, or the
// nodes' own without them. A joint without children gets a bone of half its parent's length in the
// same direction: glTF knows joints only, not where the last bone ends. Scales must be even along
// the three axes; animated scales are ignored with a warning.
#ifndef SN_IO_GLTF_SKELETON_H
#define SN_IO_GLTF_SKELETON_H

#include "sinew/skeleton.h"

#include "io/gltf/gltf.h"

typedef struct sn_gltf_skeleton_def {
    const char *file;      // for messages
    double unit;           // metres per unit of the file
    double frame_time;     // at which the animation is sampled [s]
    const char *animation; // its name; NULL: the first one
    int32_t *order;        // receives the skeleton's joint of each of the skin's; may be NULL
} sn_gltf_skeleton_def;

// The first skin of the file. Without an animation the motion has one frame, as the nodes stand.
// Skins with several roots are refused. Cost: frames times nodes.
sinew_status sn_gltf_create_skeleton(sinew_context *context, const sn_gltf *gltf,
                                     const sn_gltf_skeleton_def *def, sinew_skeleton **skeleton,
                                     sinew_motion **motion);

#endif
