// glTF 2.0 as data: nodes, meshes, skins, animations. The reader fills it, the writer writes it.
//
// Reads .gltf (with buffers in data URIs or separate files) and .glb. The reader is strict: every
// accessor is checked against its buffer before memory is allocated. It supports sparse accessors
// and all component types, and rejects unknown required extensions. Cameras, lights, textures and
// images are ignored.
//
// Writes .glb, checked with the Khronos validator and with Blender.
#ifndef SN_IO_GLTF_GLTF_H
#define SN_IO_GLTF_GLTF_H

#include "io/bytes/buffer.h"
#include "io/bytes/source.h"

// A node of the scene graph; its transform is relative to its parent.
typedef struct sn_gltf_node {
    const char *name;   // may be NULL
    int32_t parent;     // -1 for a root
    int32_t mesh, skin; // -1 for none
    double translation[3];
    double rotation[4]; // x y z w
    double scale[3];
} sn_gltf_node;

// Triangles with one material. Arrays have `point_count` entries each or are NULL.
typedef struct sn_gltf_primitive {
    int32_t point_count;
    const double *points;  // 3 each
    const double *normals; // 3 each
    const double *uvs;     // 2 each
    int32_t joint_sets;    // 0, 1 or 2: four joints and weights each
    const int32_t *joints; // 4 * joint_sets for each point: indices into the skin's joints
    const double *weights; // as many
    int32_t index_count;   // 3 for each triangle
    const int32_t *indices;
    int32_t material;                    // -1 for none
    int32_t target_count;                // morph targets
    const double *const *targets;        // displacements of the points, 3 each
    const double *const *target_normals; // of the normals, or NULL (writer only)
} sn_gltf_primitive;

typedef struct sn_gltf_mesh {
    const char *name;
    int32_t primitive_count;
    const sn_gltf_primitive *primitives;
} sn_gltf_mesh;

typedef struct sn_gltf_skin {
    const char *name;
    int32_t joint_count;
    const int32_t *joints;      // nodes
    const double *inverse_bind; // 16 each, column after column; NULL means identities
} sn_gltf_skin;

typedef enum sn_gltf_path {
    SN_GLTF_TRANSLATION,
    SN_GLTF_ROTATION,
    SN_GLTF_SCALE,
    SN_GLTF_WEIGHTS, // of the morph targets
} sn_gltf_path;

typedef enum sn_gltf_interpolation {
    SN_GLTF_LINEAR,
    SN_GLTF_STEP,
    SN_GLTF_CUBIC
} sn_gltf_interpolation;

// The animation of one property of a node. `values` holds `components` numbers for each key (three
// times as many for cubic interpolation: tangent in, value, tangent out).
typedef struct sn_gltf_channel {
    int32_t node;
    sn_gltf_path path;
    sn_gltf_interpolation interpolation;
    int32_t key_count;
    int32_t components;   // 3, 4, or the number of morph targets
    const double *times;  // [s], increasing
    const double *values; // NULL (writer only): weights that show target k - 1 alone at key k
} sn_gltf_channel;

typedef struct sn_gltf_animation {
    const char *name;
    int32_t channel_count;
    const sn_gltf_channel *channels;
} sn_gltf_animation;

typedef struct sn_gltf_material {
    const char *name;
    double color[4]; // linear red, green, blue, alpha
    double metallic, roughness;
    bool double_sided;
} sn_gltf_material;

typedef struct sn_gltf {
    int32_t node_count, mesh_count, skin_count, animation_count, material_count;
    const sn_gltf_node *nodes;
    const sn_gltf_mesh *meshes;
    const sn_gltf_skin *skins;
    const sn_gltf_animation *animations;
    const sn_gltf_material *materials;
} sn_gltf;

// A file that was read; everything lives in the arena.
typedef struct sn_gltf_file {
    sn_gltf view;
    sn_arena arena;
    bool *in_scene; // for each node: belongs to the scene that is shown
} sn_gltf_file;

// Reads .gltf or .glb. The file must be destroyed in every case.
sinew_status sn_gltf_read(sinew_context *context, const sn_source *source, sn_gltf_file *file);
void sn_gltf_file_destroy(sn_gltf_file *file);

// A node with the identity transform, to be filled in.
sn_gltf_node sn_gltf_default_node(const char *name);

// A node that rotates content with z up, as scenes have it, to y up, as glTF has it.
sn_gltf_node sn_gltf_upright_node(const char *name);

// The matrices from the nodes to the world, 16 numbers each, column by column, in `arena`. The
// parents must not form a cycle.
sinew_status sn_gltf_compute_matrices(const sn_gltf *gltf, sn_arena *arena, double **matrices);

// Writes a .glb. Numbers are converted to float; normals, rotations and weights are normalised.
sinew_status sn_write_glb(const sn_gltf *gltf, sn_buffer *out);

// Begins and ends the container of a .glb. The JSON is written between the two calls; the second
// adds the binary chunk.
size_t sn_gltf_begin_container(sn_buffer *out);
sinew_status sn_gltf_end_container(sn_buffer *out, size_t begin, const sn_buffer *binary);

// A surface whose points move: `frames[k]` holds all points at times[k]. It is written as one mesh
// whose morph targets are the frames, with an animation of the weights that shows one after the
// other. `indices` has three per triangle. With one frame the mesh is static. Without normals and
// texture coordinates it gets smooth normals, split at creases: the vertices come first, and then
// repetitions of those that lie at a crease.
typedef struct sn_glb_frames {
    const char *name;
    int32_t point_count, index_count, frame_count;
    const int32_t *indices;
    const double *const *frames;
    const double *times;   // [s], increasing
    const double *normals; // of the first frame, or NULL
    const double *uvs;     // or NULL
    bool plain;            // keeps exactly these points: no normals are added
    bool z_up;             // the points have z up: rotate the file upright
    sn_gltf_material material;
} sn_glb_frames;

// Writes surfaces with the same number of frames and the same times, a node for each.
sinew_status sn_write_glb_frames(const sn_glb_frames *surfaces, int32_t count, sn_buffer *out);

#endif
