// Bodies that follow a skeleton: binds their nodes or frames to joints and drives them by poses.
//
//   sinew_binding_def def = sinew_default_binding_def();
//   sinew_binding_create(body, skeleton, &def, NULL, &binding);
//   ...
//   sinew_skeleton_compute_world(skeleton, local, pose); // pose at the end of the next step
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
    /// The parts on the bones of exactly one joint follow that joint; everything else is simulated.
    /// In a body of elements these are the nodes of elements that the bones cut (sinew_rig_create)
    /// and all nodes of a rigid core that they pass through; in a body of frames, the frames within
    /// `reach` of a bone.
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
    /// The joint of each node (or of each frame of a body of frames), or -1 if it stays free. Only
    /// for SINEW_BINDING_BONES. Borrowed during the call. Default NULL: found from the bones.
    const int32_t *joints;
    /// Largest distance from a bone at which a frame follows it. [m] At least 0. Default 0, which
    /// means the longest side of a voxel. Only for bodies of frames.
    double reach;
    /// Maps the coordinates of the skeleton and the rest shape to those of the world. Equal to the
    /// position and rotation that the body was created with. Default identity.
    sinew_transform placement;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_binding_def;

/// A definition with every field at its default.
SINEW_API sinew_binding_def sinew_default_binding_def(void);

/// Report of a binding.
typedef struct sinew_binding_report {
    /// Nodes or frames that follow a joint. [count]
    int32_t bound_count;
    /// Elements and nodes found from the bones of a body of elements; zero otherwise.
    sinew_rig_report elements;
    /// The diagonal of the bounding box of the joints, divided by that of the rest shape. [-]
    /// Motion files have no unit; a ratio far from 1 usually means that the skeleton uses another
    /// unit.
    double size_ratio;
} sinew_binding_report;

/// Binds a body of any kind to a skeleton whose rest pose fits the rest shape of the body. The
/// bound parts are held at their present positions. The skeleton must outlive the binding; `report`
/// may be NULL. Fails with SINEW_INVALID_DATA if no part of the body is on a bone; the message
/// gives the distance. Warns if the skeleton is less than 0.2 or more than 2 times as large as a
/// body of elements.
SINEW_API sinew_status sinew_binding_create(sinew_body *body, const sinew_skeleton *skeleton,
                                            const sinew_binding_def *def,
                                            sinew_binding_report *report, sinew_binding **binding);
/// Releases the bound parts, which keep their velocities. NULL is allowed.
SINEW_API void sinew_binding_destroy(sinew_binding *binding);

/// Prescribes the pose at the end of the next step: `pose` holds the transforms of all joints in
/// the coordinates of the skeleton (sinew_skeleton_compute_world). The bound nodes or frames keep
/// it until driven again. Allocates nothing.
SINEW_API sinew_status sinew_binding_drive(sinew_binding *binding, const sinew_transform *pose);

/// Moves the body to a pose immediately, e.g. before the first step of a motion: bound nodes and
/// frames to their targets, free nodes of a body of elements by dual-quaternion skinning. Free
/// frames do not move. Nodes keep their velocities; those of bound frames become zero.
SINEW_API sinew_status sinew_binding_set_pose(sinew_binding *binding, const sinew_transform *pose);

/// The bound nodes, or frames of a body of frames, in ascending order. [count] Valid as long as the
/// binding.
SINEW_API const int32_t *sinew_binding_get_bound(const sinew_binding *binding, int32_t *count);
/// The joint of each bound node or frame; NULL if all nodes follow by weights. Valid as long as the
/// binding.
SINEW_API const int32_t *sinew_binding_get_joints(const sinew_binding *binding);
/// The last target of each bound node or frame, three numbers each. [m] Valid as long as the
/// binding.
SINEW_API const double *sinew_binding_get_targets(const sinew_binding *binding);

#ifdef __cplusplus
}
#endif

#endif
