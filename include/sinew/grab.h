// Grabbing: a spring holds a point of a surface and follows a cursor or a haptic device.
//
//   sinew_surface_hit hit;
//   sinew_attachment *hand;
//   sinew_world_cast_ray(world, eye, direction, INFINITY, &hit);
//   sinew_surface_hit_grab(&hit, NULL, &hand);      // if hit.body is not NULL
//   for each step {
//       sinew_attachment_set_target(hand, cursor);
//       sinew_world_step(world, NULL);
//       sinew_attachment_get_force(hand, force);    // on the body; the device feels the opposite
//   }
//   sinew_attachment_destroy(hand);                 // lets go: the body flies on
//
// The spring is part of the equations of the step and therefore stable at any stiffness. A largest
// force makes it softer where it is stretched further: the softer stiffness is chosen at the start
// of a step for the gap that it predicts, so that forces that pull the gap open within the step can
// exceed the bound by a little. A static solve keeps the stiffness chosen at its start.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_GRAB_H
#define SINEW_GRAB_H

#include "sinew/surface.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinew_grab_def {
    /// Stiffness of the spring. [N/m] Above 0. Default 1000.
    double stiffness;
    /// The largest force. [N] Above 0, or 0 for no bound. Default 0.
    double largest_force;
    /// Set by the default-maker: by this number an unfilled definition is recognised. Leave it
    /// alone.
    uint32_t filled;
} sinew_grab_def;

/// A definition with every field at its default.
SINEW_API sinew_grab_def sinew_default_grab_def(void);

/// Ties the point of a body that a query found to the position where it is now. `def` may be NULL.
SINEW_API sinew_status sinew_surface_hit_grab(const sinew_surface_hit *hit,
                                              const sinew_grab_def *def, sinew_attachment **hand);

#ifdef __cplusplus
}
#endif

#endif
