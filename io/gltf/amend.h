// Adds shapes to a glTF file without changing the rest of it.
//
// The JSON of the file is kept as a tree and its buffers byte for byte. Morph targets, their
// weights and an animation of the weights are appended, so everything else in the file (names,
// materials, textures, extensions, other animations) is preserved.
#ifndef SN_IO_GLTF_AMEND_H
#define SN_IO_GLTF_AMEND_H

#include "io/gltf/gltf.h"

// New targets of one primitive.
typedef struct sn_gltf_added_shapes {
    int32_t mesh, primitive;
    int32_t point_count;
    const double *shapes; // target by target: displacements of the points, three numbers each
} sn_gltf_added_shapes;

typedef struct sn_gltf_amendment {
    int32_t target_count; // number of new targets of each mesh named below; at least 1
    int32_t part_count;
    const sn_gltf_added_shapes *parts; // other primitives of these meshes get zero displacements
    int32_t animation;                 // index of the animation to extend; -1: add a new one
    const char *name;                  // of the new animation
    int32_t key_count;
    const double *times;   // [key] in seconds, increasing
    const double *weights; // key by key: one per target
} sn_gltf_amendment;

// Writes the file in `source` (.gltf or .glb), whose content is `gltf`, as .glb with the additions.
// Every node that shows one of the meshes is animated.
sinew_status sn_gltf_amend(sinew_context *context, const sn_source *source, const sn_gltf *gltf,
                           const sn_gltf_amendment *amendment, sn_buffer *out);

#endif
