// Parts of a frame body's surface that springs hold to a wall, which may move.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_FRAME_SUPPORT_H
#define SINEW_FRAME_SUPPORT_H

#include "sinew/body.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A part of the surface that is held by springs distributed over it: exact for translations and
/// rotations, with any number and kind of frames. It is as firm as a layer of the body's own
/// material, `softness` thick, between the surface and a rigid wall.
typedef struct sinew_frame_support_def {
    /// Vertices of the body's surface (sinew_body_get_surface). The triangles between them are the
    /// area that is held; without any, the vertices' shares of the triangles around them. Borrowed
    /// during the call. Needed.
    const int32_t *vertices;
    /// Number of vertices. [count] At least 1.
    int32_t vertex_count;
    /// Axes of the world along which it holds: a sum of SINEW_AXIS_X, Y and Z. Default
    /// SINEW_AXIS_ALL.
    int32_t axes;
    /// The springs have E / softness per area, with Young's modulus of the material below. [m] At
    /// least 0; 0 means a hundredth of the solid's longest side. Default 0.
    double softness;
    /// Set by the default-maker: by this number an unfilled definition is recognised. Leave it
    /// alone.
    uint32_t filled;
} sinew_frame_support_def;

SINEW_API sinew_frame_support_def sinew_default_frame_support_def(void);

/// Holds a part of the surface where the body's initial placement puts it. `support` receives its
/// number; it may be NULL. Its energy is part of the body's elastic energy.
SINEW_API sinew_status sinew_frame_body_add_support(sinew_body *body,
                                                    const sinew_frame_support_def *def,
                                                    int32_t *support);

/// Moves a support: it holds each rest point X at R X + position from now on. [m], quaternion (x,
/// y, z, w). Either pointer may be NULL: that part of the motion stays. Called before each step,
/// this scripts a motion.
SINEW_API sinew_status sinew_frame_body_move_support(sinew_body *body, int32_t support,
                                                     const double position[3],
                                                     const double rotation[4]);

/// What a support does now.
typedef struct sinew_frame_support_state {
    double force[3];      ///< On the body. [N]
    double torque[3];     ///< On the body, about the origin of the world. [Nm]
    double area;          ///< That is held, at rest. [m2]
    double softness;      ///< [m]
    double gap;           ///< Root mean square distance of the area from its target. [m]
    int32_t vertex_count; ///< That have a share of the area. [count]
} sinew_frame_support_state;

/// Reads a support.
SINEW_API sinew_status sinew_frame_body_get_support(sinew_body *body, int32_t support,
                                                    sinew_frame_support_state *state);

/// Number of supports; 0 for a body without frames. [count]
SINEW_API int32_t sinew_frame_body_get_support_count(const sinew_body *body);

/// Takes all supports away.
SINEW_API void sinew_frame_body_clear_supports(sinew_body *body);

#ifdef __cplusplus
}
#endif

#endif
