// Rigid bodies: solids that move and rotate but never deform. They take part in contact,
// attachments, joints and snapshots like every other body.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_RIGID_BODY_H
#define SINEW_RIGID_BODY_H

#include "sinew/body.h"
#include "sinew/mesh.h"
#include "sinew/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinew_rigid_body_def {
    /// Name for messages and files. Copied. Default NULL, which gives "rigid".
    const char *name;
    /// The surface: closed, of triangles that face outwards. Copied. Required.
    const sinew_mesh *surface;
    /// Density of the solid inside the surface. [kg/m^3] Above 0. Default 1000. Not read if `mass`
    /// is set.
    double density;
    /// Mass. [kg] Above 0, or 0 for volume times density. Default 0.
    double mass;
    /// Centre of mass in the rest shape, three numbers. [m] Finite. Borrowed during the call.
    /// Default NULL: the centre of the volume.
    const double *center;
    /// Moments of inertia about the centre of mass along the axes of the rest shape: xx, yy, zz,
    /// yz, zx, xy, where yz is minus the integral of rho y z. [kg m^2] Those of a possible solid:
    /// all principal moments are positive and none exceeds the sum of the other two. Borrowed
    /// during the call. Default NULL: those of a uniform solid.
    const double *inertia;
    /// Whether it stays where it is placed, or follows sinew_frame_body_move. It then pushes other
    /// bodies as if its mass were infinite. Default false.
    bool held;
    /// Damping alpha M. [1/s] At least 0. Default 0.
    double mass_damping;
    /// Initial placement x = R X + t: t. [m] Finite. Default 0.
    double position[3];
    /// ... and R, as a quaternion (x, y, z, w); its length does not matter. [-] Not zero. Default
    /// (0, 0, 0, 1).
    double rotation[4];
    /// Initial velocity v + w x (x - t): v. [m/s] Finite. Default 0.
    double velocity[3];
    /// ... and w. [rad/s] Finite. Default 0.
    double angular_velocity[3];
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_rigid_body_def;

/// A definition with every field at its default.
SINEW_API sinew_rigid_body_def sinew_default_rigid_body_def(void);

/// Creates a rigid body and adds it to the world, which owns it. `body` may be NULL.
///
/// A rigid body has one frame, number 0, at its centre of mass. The calls of sinew/frame_body.h for
/// single frames read and drive it: sinew_frame_body_get_node, _set_node, _get_velocity,
/// _set_velocity, _hold, _move, _add_node_force, _get_reaction.
SINEW_API sinew_status sinew_rigid_body_create(sinew_world *world, const sinew_rigid_body_def *def,
                                               sinew_body **body);

/// Whether a body was made by sinew_rigid_body_create.
SINEW_API bool sinew_body_is_rigid(const sinew_body *body);

/// Mass and inertia of a rigid body, at rest.
typedef struct sinew_rigid_mass {
    double mass;       ///< [kg]
    double center[3];  ///< Centre of mass in the rest shape. [m]
    double inertia[6]; ///< About it: xx, yy, zz, yz, zx, xy. [kg m^2]
} sinew_rigid_mass;

/// Reads them. Fails for a body that is not rigid.
SINEW_API sinew_status sinew_rigid_body_get_mass(const sinew_body *body, sinew_rigid_mass *mass);

#ifdef __cplusplus
}
#endif

#endif
