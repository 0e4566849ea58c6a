// Adds shapes or joints to a glTF file without changing the rest of it.
//
// The JSON of the file is kept as a tree and its buffers byte for byte. Morph targets and their
// weights, joints, and channels of an animation are appended, so everything else in the file
// (names, materials, textures, extensions, other animations) is preserved.
#ifndef SN_IO_GLTF_AMEND_H
#define SN_IO_GLTF_AMEND_H

#include "io/gltf/gltf.h"

// New targets of one primitive.
typedef struct sn_gltf_added_shapes {
    int32_t mesh, primitive;
    int32_t point_count;
    const double *shapes;  // target by target: displacements of the points, three numbers each
    const double *normals; // the same for the normals, or NULL
} sn_gltf_added_shapes;

// A new joint, with identity rotation and scale at rest.
typedef struct sn_gltf_added_joint {
    const char *name; // of letters, digits and dots
    int32_t parent;   // node
    double translation[3];
    double inverse_bind[16]; // column by column
} sn_gltf_added_joint;

// Joints and weights of one primitive that replace those of the file; `sets` of four each.
typedef struct sn_gltf_new_weights {
    int32_t mesh, primitive;
    int32_t point_count, sets;
    const int32_t *joints; // of the skin, new ones behind
    const double *weights;
} sn_gltf_new_weights;

typedef struct sn_gltf_amendment {
    int32_t target_count; // number of new targets of each mesh named below, or 0
    int32_t part_count;
    const sn_gltf_added_shapes *parts; // other primitives of these meshes get zero displacements
    int32_t animation;                 // index of the animation to extend; -1: add a new one
    const char *name;                  // of the new animation
    int32_t key_count;
    const double *times;   // [key] in seconds, increasing
    const double *weights; // key by key: one per target

    int32_t channel_count; // of nodes, new ones included, in the animation
    const sn_gltf_channel *channels;

    int32_t skin, joint_count; // new joints of a skin; their nodes follow those of the file
    const sn_gltf_added_joint *joints;
    int32_t weighted_count;
    const sn_gltf_new_weights *weighted;
} sn_gltf_amendment;

// Writes the file in `source` (.gltf or .glb), whose content is `gltf`, as .glb with the additions.
// Every node that shows one of the meshes is animated.
sinew_status sn_gltf_amend(sinew_context *context, const sn_source *source, const sn_gltf *gltf,
                           const sn_gltf_amendment *amendment, sn_buffer *out);

#endif
