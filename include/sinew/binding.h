// Bodies that follow a skeleton: which of their nodes or frames are bound to which joint, and the
// pose that drives them.
//
//   sinew_binding_def def = sinew_default_binding_def();
//   sinew_binding_create(body, skeleton, &def, NULL, &binding);
//   ...
//   sinew_skeleton_compute_world(skeleton, local, pose); // where the next step is to end
//   sinew_binding_drive(binding, pose);
//   sinew_world_step(world, NULL);
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_BINDING_H
#define SINEW_BINDING_H

#include "sinew/body.h"
#include "sinew/skeleton.h"
#include "sinew/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: a body that follows a skeleton. Destroy it before its body and its skeleton.
typedef struct sinew_binding sinew_binding;

/// Which part of a body follows the skeleton, and how.
typedef enum sinew_binding_mode {
    /// What lies on the bones of exactly one joint follows that joint; everything else is
    /// simulated. Of a body of elements these are the nodes of elements that the bones cut
    /// (sinew_rig_create), and the whole of a rigid core that they run through; of a body of frames
    /// the frames within `reach` of a bone.
    SINEW_BINDING_BONES,
    /// All nodes follow by blended matrices (SINEW_SKIN_LINEAR), with weights by distance. Nothing
    /// is simulated. Not for bodies of frames.
    SINEW_BINDING_LINEAR,
    /// The same by blended rigid motions (SINEW_SKIN_DUAL_QUATERNION).
    SINEW_BINDING_DUAL_QUATERNION,
} sinew_binding_mode;

typedef struct sinew_binding_def {
    /// Default SINEW_BINDING_BONES.
    sinew_binding_mode mode;
    /// A choice of one's own instead of the bones: the joint of each node, or of each frame of a
    /// body of frames, or -1 for those that stay free. For SINEW_BINDING_BONES only. Borrowed
    /// during the call. Default NULL: found from the bones.
    const int32_t *joints;
    /// How far from a bone a frame may lie to follow it. [m] At least 0. Default 0, which stands
    /// for the longest side of a voxel. Only for bodies of frames.
    double reach;
    /// From the coordinates of the skeleton and the rest shape to those of the world. Where the
    /// body was created with a position and a rotation, the same. Default identity.
    sinew_transform placement;
    /// Set by the default-maker: by this number an unfilled definition is recognised. Leave it
    /// alone.
    uint32_t filled;
} sinew_binding_def;

/// A definition with every field at its default.
SINEW_API sinew_binding_def sinew_default_binding_def(void);

/// What was bound.
typedef struct sinew_binding_report {
    /// Nodes or frames that follow a joint. [count]
    int32_t bound_count;
    /// Elements and nodes found from the bones of a body of elements; zero otherwise.
    sinew_rig_report elements;
    /// The diagonal of the box around the joints over that around the rest shape. [-] Motion files
    /// have no unit: a ratio far from 1 usually means that the skeleton has another one.
    double size_ratio;
} sinew_binding_report;

/// Binds a body of any kind to a skeleton that fits its rest shape in its rest pose: holds what
/// follows the skeleton where it is now. The skeleton must outlive the binding; `report` may be
/// NULL. Fails with SINEW_INVALID_DATA, and a message that says how far off they are, if nothing
/// lies on a bone; a skeleton less than 0.2 or more than 2 times as large as a body of elements
/// gives a warning.
SINEW_API sinew_status sinew_binding_create(sinew_body *body, const sinew_skeleton *skeleton,
                                            const sinew_binding_def *def,
                                            sinew_binding_report *report, sinew_binding **binding);
/// Unbinds: what followed the skeleton is free, and moves on with its velocity. NULL is allowed.
SINEW_API void sinew_binding_destroy(sinew_binding *binding);

/// Prescribes where the bound nodes or frames are at the end of the next step: `pose` holds the
/// transforms of all joints in the coordinates of the skeleton (sinew_skeleton_compute_world). They
/// stay there until driven again. Allocates nothing.
SINEW_API sinew_status sinew_binding_drive(sinew_binding *binding, const sinew_transform *pose);

/// Brings the body to a pose at once, as before the first step of a motion: bound nodes and frames
/// to their targets, and the free nodes of a body of elements between them by dual-quaternion
/// skinning. Free frames stay where they are. Velocities of nodes stay; bound frames are at rest.
SINEW_API sinew_status sinew_binding_set_pose(sinew_binding *binding, const sinew_transform *pose);

/// The bound nodes, or frames of a body of frames, in ascending order. [count] Lives as long as the
/// binding.
SINEW_API const int32_t *sinew_binding_get_bound(const sinew_binding *binding, int32_t *count);
/// The joint of each of them; NULL where all nodes follow by weights. Lives as long as the binding.
SINEW_API const int32_t *sinew_binding_get_joints(const sinew_binding *binding);
/// Where each of them was last driven to, three numbers each. [m] Lives as long as the binding.
SINEW_API const double *sinew_binding_get_targets(const sinew_binding *binding);

#ifdef __cplusplus
}
#endif

#endif
