// Joints between two bodies, or between a body and the world.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_RIGID_JOINT_H
#define SINEW_RIGID_JOINT_H

#include "sinew/body.h"
#include "sinew/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: holds two bodies together at a position, like rigid parts of a machine. It consists of
/// attachments and is solved with them; jointed bodies do not touch each other. Valid until it, one
/// of its bodies or the world is destroyed, or sinew_world_detach removes the attachments of its
/// bodies. To let a body rotate freely about a point, use sinew_world_attach instead.
typedef struct sinew_rigid_joint sinew_rigid_joint;

typedef enum sinew_rigid_joint_kind {
    SINEW_RIGID_JOINT_FIXED, ///< No motion against each other.
    SINEW_RIGID_JOINT_HINGE, ///< Rotation about an axis.
} sinew_rigid_joint_kind;

typedef struct sinew_rigid_joint_def {
    /// Default SINEW_RIGID_JOINT_FIXED.
    sinew_rigid_joint_kind kind;
    /// The body that is held. Required. Meant for rigid bodies; of others, the points around the
    /// position are held. Not a body under position dynamics.
    sinew_body *body;
    /// The body it is held to, in the same world. Default NULL: the world.
    sinew_body *target;
    /// Where the joint is, now. [m] Finite. Default 0.
    double position[3];
    /// Axis of a hinge, now. [-] Finite, not zero; its length does not matter. Default (0, 0, 1).
    double axis[3];
    /// Distance from the position at which points of both bodies are held together. [m] Above 0, or
    /// 0 for half the cube root of the body's volume. Default 0.
    double reach;
    /// Stiffness of the springs between these points. [N/m] Above 0, or 0 for a hard joint, whose
    /// gap is that of hard attachments. Default 0.
    double stiffness;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_rigid_joint_def;

/// A definition with every field at its default; the body must be set.
SINEW_API sinew_rigid_joint_def sinew_default_rigid_joint_def(void);

/// Joins the bodies as they are now; `joint` may be NULL.
SINEW_API sinew_status sinew_rigid_joint_create(sinew_world *world,
                                                const sinew_rigid_joint_def *def,
                                                sinew_rigid_joint **joint);
/// Removes a joint; the bodies keep their velocities. NULL is allowed.
SINEW_API void sinew_rigid_joint_destroy(sinew_rigid_joint *joint);

/// The force on the body and the torque on it about the position of the joint, in the last step or
/// static solve. [N], [N m] The opposite acts on the target. Either pointer may be NULL.
SINEW_API sinew_status sinew_rigid_joint_get_force(sinew_rigid_joint *joint, double force[3],
                                                   double torque[3]);
/// Where the joint is on the body now, and the largest gap between points that it holds together.
/// [m] Either pointer may be NULL.
SINEW_API void sinew_rigid_joint_get_position(sinew_rigid_joint *joint, double position[3],
                                              double *gap);
/// A spring that rotates a hinge towards an angle, like a motor or a muscle.
typedef struct sinew_rigid_joint_drive {
    /// The angle, as sinew_rigid_joint_get_angle measures it. [rad] In [-pi, pi]. Default 0.
    double angle;
    /// Torque per angle of deviation. [N m/rad] Above 0, or 0 for no drive. Default 0.
    double stiffness;
    /// The largest torque, which the drive does not exceed. [N m] Above 0, or 0 for no bound.
    /// Default 0.
    double largest_torque;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_rigid_joint_drive;

/// No drive.
SINEW_API sinew_rigid_joint_drive sinew_default_rigid_joint_drive(void);
/// Drives a hinge from the next step on, in place of an earlier drive. The spring is part of the
/// equations of the step and therefore stable at any stiffness. Its torque is the stiffness times
/// the sine of the deviation. Between two bodies, another angle is another point of the target: the
/// equations are built again, and a snapshot fits only a world whose drive has the same angle; it
/// does not matter how the drive came to it. Fails for fixed joints.
SINEW_API sinew_status sinew_rigid_joint_set_drive(sinew_rigid_joint *joint,
                                                   const sinew_rigid_joint_drive *drive);
/// The torque of the drive about the axis in the last step. [N m] 0 without one.
SINEW_API double sinew_rigid_joint_get_drive_torque(sinew_rigid_joint *joint);

/// Keeps the angle of a hinge between two bounds, in place of earlier ones. [rad] -pi < lower <=
/// upper < pi; -INFINITY or INFINITY: no bound on that side. A bound is a stiff spring that acts in
/// steps that would end beyond it at the present speed. The step that arrives can exceed it by what
/// torques add within that step; later ones stay within a thousandth of a radian or so. There is no
/// rebound. A hinge that is beyond a bound when it is set snaps back. Fails for fixed joints.
SINEW_API sinew_status sinew_rigid_joint_set_limits(sinew_rigid_joint *joint, double lower,
                                                    double upper);

/// Angle by which the body has rotated about the axis of a hinge, against the target, since the
/// joint was made. [rad] In (-pi, pi]. 0 for a fixed joint.
SINEW_API double sinew_rigid_joint_get_angle(sinew_rigid_joint *joint);

#ifdef __cplusplus
}
#endif

#endif
