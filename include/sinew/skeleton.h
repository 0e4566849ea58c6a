// Skeletons, recorded motion, and what follows them: elements bound to bones, or a skin by weights.
//
// A skeleton is a tree of joints; a bone is the straight line from a joint to one of its children,
// or to its tip, and moves with that joint. Everything is given in a rest pose, in which skeleton
// and flesh fit each other.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_SKELETON_H
#define SINEW_SKELETON_H

#include "sinew/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A rigid motion: x -> R(rotation) x + translation.
typedef struct sinew_transform {
    double rotation[4];    ///< Unit quaternion x y z w. Not zero; normalised where it is read.
    double translation[3]; ///< [m]
} sinew_transform;

/// Limits: joints of a skeleton [count], bytes of a joint's name, samples of a motion [count].
enum { SINEW_SKELETON_JOINTS = 65536, SINEW_JOINT_NAME_SIZE = 255, SINEW_MOTION_FRAMES = 10000000 };

/// Opaque: joints with names, parents and a rest pose.
typedef struct sinew_skeleton sinew_skeleton;

typedef struct sinew_joint_def {
    /// Unique, not empty, at most 255 bytes. Copied.
    const char *name;
    /// Index of the parent, lower than the joint's own; -1 for joint 0, the only root.
    int32_t parent;
    /// Rest pose in the parent's frame (in the world for the root). Default identity.
    sinew_transform rest;
    /// Whether the joint has a bone that ends at `tip`, such as the last joint of a finger. Default
    /// false.
    bool has_tip;
    /// End of that bone in the joint's frame. [m] Default 0.
    double tip[3];
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_joint_def;

SINEW_API sinew_joint_def sinew_default_joint_def(void);

/// Creates a skeleton of `count` joints. [count] In [1, 65536]. The joints are copied.
SINEW_API sinew_status sinew_skeleton_create(sinew_context *context, const sinew_joint_def *joints,
                                             int32_t count, sinew_skeleton **skeleton);
SINEW_API void sinew_skeleton_destroy(sinew_skeleton *skeleton);

/// The number of joints. [count]
SINEW_API int32_t sinew_skeleton_joint_count(const sinew_skeleton *skeleton);
/// The name of a joint; valid as long as the skeleton.
SINEW_API const char *sinew_skeleton_joint_name(const sinew_skeleton *skeleton, int32_t joint);
/// The parent of a joint, or -1 for a root.
SINEW_API int32_t sinew_skeleton_joint_parent(const sinew_skeleton *skeleton, int32_t joint);
/// The index of a joint, or -1.
SINEW_API int32_t sinew_skeleton_find(const sinew_skeleton *skeleton, const char *name);
/// The rest pose, one transform per joint: in the parents' frames, and in the world. Valid as long
/// as the skeleton.
SINEW_API const sinew_transform *sinew_skeleton_rest_local(const sinew_skeleton *skeleton);
SINEW_API const sinew_transform *sinew_skeleton_rest_world(const sinew_skeleton *skeleton);

/// A bone in the rest pose, in the world. Bones of zero length are left out.
typedef struct sinew_bone {
    int32_t joint; ///< The joint it moves with.
    int32_t child; ///< The joint at its end, or -1 for a tip.
    double from[3], to[3];
} sinew_bone;

/// All bones in the order of their joints; valid as long as the skeleton.
SINEW_API const sinew_bone *sinew_skeleton_bones(const sinew_skeleton *skeleton, int32_t *count);

/// Forward kinematics: from the joints' transforms in their parents' frames to those in the world,
/// one per joint. `world` may be `local`. Fails on a number that is not finite and on a zero
/// quaternion.
SINEW_API sinew_status sinew_skeleton_compute_world(const sinew_skeleton *skeleton,
                                                    const sinew_transform *local,
                                                    sinew_transform *world);

/// The motion of each joint since the rest pose: it takes a point of the rest pose that follows the
/// joint to its current position. `world` is the result of sinew_skeleton_compute_world; `offsets`
/// receives one transform per joint.
SINEW_API void sinew_skeleton_compute_offsets(const sinew_skeleton *skeleton,
                                              const sinew_transform *world,
                                              sinew_transform *offsets);

/// Opaque: one transform in the parent's frame per joint and sample, at a fixed rate.
typedef struct sinew_motion sinew_motion;

/// What happens after the last sample of a motion.
typedef enum sinew_motion_end {
    SINEW_MOTION_HOLD, ///< The last pose stays.
    SINEW_MOTION_LOOP, ///< The first frame follows the last after one frame time; the period is
                       ///< frames x frame time.
    SINEW_MOTION_STOP, ///< As hold, and `sinew_motion_sample` returns false once the motion has
                       ///< ended.
} sinew_motion_end;

typedef struct sinew_motion_def {
    int32_t joint_count; ///< In [1, 65536].
    int32_t frame_count; ///< In [1, 10 000 000].
    double frame_time;   ///< [s] Positive.
    /// `frame_count` times `joint_count` transforms, frame by frame. Copied. NULL: all identity, to
    /// be filled in by sinew_motion_set_frame.
    const sinew_transform *frames;
} sinew_motion_def;

/// Makes a motion from recorded frames.
SINEW_API sinew_status sinew_motion_create(sinew_context *context, const sinew_motion_def *def,
                                           sinew_motion **motion);

/// Replaces the transforms of one sample, one per joint. Quaternions that differ from unit length
/// by more than 1e-12 are normalised. Fails on a sample that does not exist, a number that is not
/// finite and a zero quaternion.
SINEW_API sinew_status sinew_motion_set_frame(sinew_motion *motion, int32_t frame,
                                              const sinew_transform *local);

/// One animated quantity of one joint as key frames, as glTF stores motion.
typedef struct sinew_motion_track {
    int32_t joint;
    bool rotates; ///< Four numbers a key (quaternion x y z w) turn the joint; otherwise three move
                  ///< it.
    bool steps;   ///< A key holds until the next one. Otherwise: interpolated along the shorter arc
                  ///< or linearly.
    int32_t key_count;   ///< At least 1.
    const double *times; ///< [s] Strictly increasing. Before the first and after the last key, that
                         ///< key holds.
    const double *values; ///< `key_count` times 4 or 3 numbers.
} sinew_motion_track;

/// Creates a motion by sampling tracks at a fixed rate from time 0 to the last key. Quantities
/// without a track keep their rest value.
SINEW_API sinew_status sinew_motion_create_from_tracks(sinew_context *context,
                                                       const sinew_skeleton *skeleton,
                                                       const sinew_motion_track *tracks,
                                                       int32_t track_count, double frame_time,
                                                       sinew_motion **motion);
SINEW_API void sinew_motion_destroy(sinew_motion *motion);

/// Joints and frames [count], and the time from one frame to the next [s].
SINEW_API int32_t sinew_motion_joint_count(const sinew_motion *motion);
SINEW_API int32_t sinew_motion_frame_count(const sinew_motion *motion);
SINEW_API double sinew_motion_frame_time(const sinew_motion *motion);
/// The transforms of one sample, one per joint; valid as long as the motion.
SINEW_API const sinew_transform *sinew_motion_frame(const sinew_motion *motion, int32_t frame);

/// The pose at a time; between samples by quaternion interpolation along the shorter arc. Before
/// time 0 the first sample holds, except in a loop. `time` must be finite. Returns false if `end`
/// is SINEW_MOTION_STOP and the last sample has passed.
SINEW_API bool sinew_motion_sample(const sinew_motion *motion, double time, sinew_motion_end end,
                                   sinew_transform *local);

/// Two joints that correspond to each other in two skeletons.
typedef struct sinew_name_pair {
    const char *source, *target;
} sinew_name_pair;

typedef struct sinew_retarget_def {
    /// Pairs of different names; joints of equal names correspond automatically. Default none.
    const sinew_name_pair *pairs;
    int32_t pair_count; ///< How many pairs. [count] At least 0. Default 0.
    /// Factor on all lengths of the motion. Motion files have no unit: 0.0254 for inches, 0.01 for
    /// centimetres. At least 0; 0 makes matched bones as long as those of the target. Default 1.
    double scale;
    /// Added to the root's position after scaling. [m] Default 0.
    double offset[3];
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_retarget_def;

SINEW_API sinew_retarget_def sinew_default_retarget_def(void);

typedef struct sinew_retarget_report {
    int32_t matched;          ///< Joints of the target that follow one of the source.
    int32_t source_unmatched; ///< Joints of the source that drive nothing.
    int32_t target_unmatched; ///< Joints of the target that keep their rest pose relative to their
                              ///< parent.
    double size_ratio;    ///< Lengths of the scaled source over those of the target, median over
                          ///< matched joints; 0: unknown.
    double fitting_scale; ///< The scale that would make `size_ratio` one; 0: unknown.
    bool sizes_differ;    ///< `size_ratio` is outside [0.8, 1.25]; a warning says so.
} sinew_retarget_report;

/// Transfers a motion to another skeleton. A matched joint rotates in the world like its source
/// relative to its rest pose, so both rest poses should show the same posture; local axes and
/// joints in between may differ. The root (or the first joint that matches) moves like its source,
/// scaled. Fails if no joint matches. `report` may be NULL.
SINEW_API sinew_status sinew_motion_retarget(sinew_context *context, const sinew_skeleton *source,
                                             const sinew_motion *motion,
                                             const sinew_skeleton *target,
                                             const sinew_retarget_def *def,
                                             sinew_retarget_report *report,
                                             sinew_motion **retargeted);

/// Opaque: the elements and nodes of a solid mesh that are bound to joints.
typedef struct sinew_rig sinew_rig;

typedef struct sinew_rig_report {
    int32_t bound_elements;  ///< Cut by bones of exactly one joint.
    int32_t shared_elements; ///< Cut by bones of several joints; free.
    int32_t bound_nodes;     ///< Belong to bound elements of one joint only.
    int32_t shared_nodes;    ///< Belong to bound elements of several joints; free.
    int32_t idle_bones;      ///< Cut no element at all; warnings name the first eight.
} sinew_rig_report;

/// Binds each element that is cut by the bones of exactly one joint to that joint, with its nodes;
/// all others stay free. The mesh has TET4, TET10 (treated as straight) or HEX8 elements, in the
/// rest pose. `report` may be NULL.
SINEW_API sinew_status sinew_rig_create(sinew_context *context, const sinew_skeleton *skeleton,
                                        const sinew_mesh *mesh, sinew_rig_report *report,
                                        sinew_rig **rig);
SINEW_API void sinew_rig_destroy(sinew_rig *rig);

/// The joint of each element and of each node, or -1 if free; valid as long as the rig.
SINEW_API const int32_t *sinew_rig_element_joints(const sinew_rig *rig);
SINEW_API const int32_t *sinew_rig_node_joints(const sinew_rig *rig);

/// Writes the positions of the bound nodes for the joints' transforms in the world, v = M T^-1 v0;
/// others are not changed.
SINEW_API void sinew_rig_move_nodes(sinew_rig *rig, const sinew_transform *world,
                                    double *positions);

/// Opaque: a surface whose vertices follow up to four joints each, by weights.
typedef struct sinew_skin sinew_skin;

enum { SINEW_SKIN_INFLUENCES = 4 };

typedef enum sinew_skin_method {
    SINEW_SKIN_LINEAR,          ///< Blends matrices; loses volume where a joint twists.
    SINEW_SKIN_DUAL_QUATERNION, ///< Blends rigid motions; bulges where a joint bends.
} sinew_skin_method;

/// Weights by distance: with d the distance from a vertex to the nearest bone of a joint, the four
/// nearest joints get weights 1/d^4, normalised to a sum of 1. Smooth, equal at equal distances,
/// and needs no painting, but ignores what lies between vertex and bone.
SINEW_API sinew_status sinew_skin_create(sinew_context *context, const sinew_skeleton *skeleton,
                                         const double *points, int32_t point_count,
                                         sinew_skin **skin);

/// Given weights: four joints and four weights per vertex, as in glTF. Weights are >= 0 with a
/// positive sum, and are normalised.
SINEW_API sinew_status sinew_skin_create_from_weights(sinew_context *context,
                                                      const sinew_skeleton *skeleton,
                                                      const double *points, int32_t point_count,
                                                      const int32_t *joints, const double *weights,
                                                      sinew_skin **skin);
SINEW_API void sinew_skin_destroy(sinew_skin *skin);

/// Four joints and four weights per vertex, the largest first if computed by distance; valid as
/// long as the skin.
SINEW_API const int32_t *sinew_skin_joints(const sinew_skin *skin);
SINEW_API const double *sinew_skin_weights(const sinew_skin *skin);

/// The positions of all vertices, x y z triples, for the joints' transforms in the world.
SINEW_API void sinew_skin_compute(sinew_skin *skin, const sinew_transform *world,
                                  sinew_skin_method method, double *positions);

#ifdef __cplusplus
}
#endif

#endif
