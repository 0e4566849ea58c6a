// Adding shapes to a glTF file and leaving the rest of it alone.
//
// The file's JSON is kept as a tree and its buffers byte for byte. Morph targets, the weights that
// show them and an animation of these weights are appended, so that whatever a viewer, an engine or
// an artist put into the file (names, materials, textures, extensions, other animations) comes out
// as it went in.
#ifndef SN_IO_GLTF_AMEND_H
#define SN_IO_GLTF_AMEND_H

#include "io/gltf/gltf.h"

// New targets of one primitive.
typedef struct sn_gltf_added_shapes {
    int32_t mesh, primitive;
    int32_t point_count;
    const double *shapes; // target after target: displacements of the points, three numbers each
} sn_gltf_added_shapes;

typedef struct sn_gltf_amendment {
    int32_t target_count; // new targets of every mesh that is named below; at least 1
    int32_t part_count;
    const sn_gltf_added_shapes *parts; // other primitives of these meshes get targets of zeros
    int32_t animation;                 // that shows the targets; -1: a new one
    const char *name;                  // of a new one
    int32_t key_count;
    const double *times;   // [key] in seconds, increasing
    const double *weights; // key after key: one per target
} sn_gltf_amendment;

// Writes the file in `source` (.gltf or .glb), of which `gltf` is the content, as .glb with the
// additions. Every node that shows one of the meshes gets the animation.
sinew_status sn_gltf_amend(sinew_context *context, const sn_source *source, const sn_gltf *gltf,
                           const sn_gltf_amendment *amendment, sn_buffer *out);

#endif
