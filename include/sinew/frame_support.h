// Parts of a frame body's surface that springs hold to a wall, which may move.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_FRAME_SUPPORT_H
#define SINEW_FRAME_SUPPORT_H

#include "sinew/body.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A part of the surface that is held by springs distributed over it. They are exact for
/// translations and rotations, with any number and kind of frames, and as stiff as a layer of the
/// body's own material of thickness `softness` between the surface and a rigid wall.
typedef struct sinew_frame_support_def {
    /// Vertices of the body's surface (sinew_body_get_surface). The held area consists of the
    /// triangles between them or, if there are none, of the vertices' shares of the triangles
    /// around them. Borrowed during the call. Required.
    const int32_t *vertices;
    /// Number of vertices. [count] At least 1.
    int32_t vertex_count;
    /// The axes of the world along which the springs act: a sum of SINEW_AXIS_X, Y and Z. Default
    /// SINEW_AXIS_ALL.
    int32_t axes;
    /// Thickness of that layer: the springs have a stiffness of E / softness per area, with Young's
    /// modulus E of the material below. [m] At least 0; 0 means a hundredth of the solid's longest
    /// side. Default 0.
    double softness;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_frame_support_def;

SINEW_API sinew_frame_support_def sinew_default_frame_support_def(void);

/// Holds a part of the surface at its rest position, moved by the initial placement of the body.
/// `support` receives its number and may be NULL. The energy of the springs is part of the body's
/// elastic energy.
SINEW_API sinew_status sinew_frame_body_add_support(sinew_body *body,
                                                    const sinew_frame_support_def *def,
                                                    int32_t *support);

/// Moves a support: from now on it holds each rest point X at R X + position. [m], R as a
/// quaternion (x, y, z, w). Either pointer may be NULL, which keeps that part of the motion. Call
/// it before each step to script a motion.
SINEW_API sinew_status sinew_frame_body_move_support(sinew_body *body, int32_t support,
                                                     const double position[3],
                                                     const double rotation[4]);

/// The present state of a support.
typedef struct sinew_frame_support_state {
    double force[3];      ///< Force on the body. [N]
    double torque[3];     ///< Torque on the body about the origin of the world. [N m]
    double area;          ///< Held area of the rest surface. [m2]
    double softness;      ///< [m]
    double gap;           ///< Root mean square distance of the area from its target. [m]
    int32_t vertex_count; ///< Vertices with a share of the area. [count]
} sinew_frame_support_state;

/// Reports the support with this number.
SINEW_API sinew_status sinew_frame_body_get_support(sinew_body *body, int32_t support,
                                                    sinew_frame_support_state *state);

/// Number of supports; 0 for a body without frames. [count]
SINEW_API int32_t sinew_frame_body_get_support_count(const sinew_body *body);

/// Removes all supports.
SINEW_API void sinew_frame_body_clear_supports(sinew_body *body);

#ifdef __cplusplus
}
#endif

#endif
