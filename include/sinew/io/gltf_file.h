// What a glTF or GLB file holds, before anything is made of it: which animations there are to
// choose from (sinew_motion_read_def), whether there is a skin (sinew_character_read).
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_GLTF_FILE_H
#define SINEW_IO_GLTF_FILE_H

#include "sinew/io/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: a glTF file that was read.
typedef struct sinew_gltf_file sinew_gltf_file;

/// Reads a .gltf file and the buffers it references, or a .glb file.
SINEW_API sinew_status sinew_gltf_file_read(sinew_context *context, const sinew_source *source,
                                            sinew_gltf_file **file);
/// Reads it from a path.
SINEW_API sinew_status sinew_gltf_file_load(sinew_context *context, const char *path,
                                            sinew_gltf_file **file);
/// NULL is allowed.
SINEW_API void sinew_gltf_file_destroy(sinew_gltf_file *file);

/// Whether a source looks like glTF, by its first bytes and its name.
SINEW_API bool sinew_gltf_file_detect(const sinew_source *source);

/// Number of items of each kind. [count]
typedef struct sinew_gltf_counts {
    int32_t nodes, materials, meshes, skins, animations;
} sinew_gltf_counts;

/// Returns the number of items of each kind.
SINEW_API sinew_gltf_counts sinew_gltf_file_get_counts(const sinew_gltf_file *file);

/// A mesh. Names, here and below, are valid as long as the file, and NULL if it has none.
typedef struct sinew_gltf_mesh_info {
    const char *name;
    int64_t point_count, triangle_count; ///< Sums over its primitives. [count]
    int32_t target_count;                ///< Morph targets. [count]
} sinew_gltf_mesh_info;

typedef struct sinew_gltf_skin_info {
    const char *name;
    int32_t joint_count; ///< [count]
} sinew_gltf_skin_info;

typedef struct sinew_gltf_joint_info {
    const char *name;
    const char *parent; ///< Name of the joint above it; NULL for a root.
} sinew_gltf_joint_info;

typedef struct sinew_gltf_material_info {
    const char *name;
    int64_t triangle_count; ///< Triangles that have it, in all meshes. [count]
} sinew_gltf_material_info;

typedef struct sinew_gltf_animation_info {
    const char *name;
    int32_t channel_count; ///< Number of animated properties of nodes. [count]
    double duration;       ///< Time of its last key. [s]
} sinew_gltf_animation_info;

/// Describe one item. `index` is in [0, count).
SINEW_API sinew_gltf_mesh_info sinew_gltf_file_get_mesh(const sinew_gltf_file *file, int32_t index);
SINEW_API sinew_gltf_skin_info sinew_gltf_file_get_skin(const sinew_gltf_file *file, int32_t index);
SINEW_API sinew_gltf_material_info sinew_gltf_file_get_material(const sinew_gltf_file *file,
                                                                int32_t index);
/// A joint of a skin. `joint` is in [0, joint_count of the skin).
SINEW_API sinew_gltf_joint_info sinew_gltf_file_get_joint(const sinew_gltf_file *file, int32_t skin,
                                                          int32_t joint);
SINEW_API sinew_gltf_animation_info sinew_gltf_file_get_animation(const sinew_gltf_file *file,
                                                                  int32_t index);

#ifdef __cplusplus
}
#endif

#endif
