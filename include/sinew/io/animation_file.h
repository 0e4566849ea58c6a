// Surfaces that move, in files: glTF with morph targets, PC2 point caches, glTF with joints and
// weights.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_ANIMATION_FILE_H
#define SINEW_IO_ANIMATION_FILE_H

#include "sinew/io/bytes.h"
#include "sinew/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinew_animation_def {
    /// Name of the object in the file. Default "surface".
    const char *name;
    /// The triangles; their points are not read. Borrowed during the call. Required.
    const sinew_mesh *surface;
    /// Number of images of the animation. [count] At least 1; with one image nothing moves.
    int32_t image_count;
    /// The time of each image. [s] Increasing. Borrowed during the call. Required.
    const double *times;
    /// The positions of all points in each image, three numbers each. [m] Borrowed during the call.
    /// Required.
    const double *const *points;
    /// The points have z up, and are rotated in the file, which has y up. Default true.
    bool z_up;
    /// Colour of the surface: linear red, green, blue and alpha. [-] In [0, 1]. GLB only. Default
    /// light grey.
    double color[4];
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_animation_def;

SINEW_API sinew_animation_def sinew_default_animation_def(void);

/// Writes an animated surface: .glb, one morph target for each image after the first, with smooth
/// normals (points at creases of more than 40 degrees are repeated after all others); or .pc2, a
/// point cache for the mesh (Blender's Mesh Cache), whose times count images.
SINEW_API sinew_status sinew_animation_write(sinew_context *context, const sinew_animation_def *def,
                                             const char *name, sinew_bytes *out);
/// Writes it to a file; the ending of the path chooses the format.
SINEW_API sinew_status sinew_animation_save(sinew_context *context, const sinew_animation_def *def,
                                            const char *path);

/// A joint at a moment: x = translation + rotation * scale * (X - rest).
typedef struct sinew_joint_pose {
    double translation[3]; ///< [m]
    double rotation[4];    ///< Quaternion x y z w.
    double scale[3];       ///< [-]
} sinew_joint_pose;

typedef struct sinew_skin_file_def {
    /// Name of the object in the file. Default "skin".
    const char *name;
    /// The surface at rest. Borrowed during the call. Required.
    const sinew_mesh *surface;
    /// The joints that each point follows, and their weights: for point i, items starts[i] to
    /// starts[i + 1] - 1 of `joints` and `weights`, as from sinew_frame_body_get_surface_weights.
    /// Borrowed during the call. Required.
    const int32_t *starts, *joints;
    const double *weights;
    /// Number of joints. [count] At least 1.
    int32_t joint_count;
    /// Rest positions of the joints, three numbers each. [m] Required.
    const double *joint_rest;
    /// Largest number of joints at a point: 4 or 8. The largest weights are kept and scaled to a
    /// sum of 1. Default 4.
    int32_t joints_per_point;
    /// Images of the animation. [count] At least 1.
    int32_t image_count;
    /// The time of each image. [s] Increasing. Borrowed during the call. Required.
    const double *times;
    /// The pose of each joint in each image, image by image. Required.
    const sinew_joint_pose *poses;
    /// As in sinew_animation_def. Default true and light grey.
    bool z_up;
    double color[4];
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_skin_file_def;

SINEW_API sinew_skin_file_def sinew_default_skin_file_def(void);

/// Finds the pose closest to x = translation + matrix * (X - rest), with the matrix given row by
/// row. Shear is lost; returns the Frobenius norm of the difference. [-]
SINEW_API double sinew_joint_pose_fit(const double translation[3], const double matrix[9],
                                      sinew_joint_pose *pose);

/// Writes a .glb with a mesh, its skin and an animation of the joints. `largest_loss` receives the
/// largest sum of weights that a point lost; it may be NULL. [-]
SINEW_API sinew_status sinew_skin_file_write(sinew_context *context, const sinew_skin_file_def *def,
                                             sinew_bytes *out, double *largest_loss);
/// Saves it.
SINEW_API sinew_status sinew_skin_file_save(sinew_context *context, const sinew_skin_file_def *def,
                                            const char *path, double *largest_loss);

#ifdef __cplusplus
}
#endif

#endif
