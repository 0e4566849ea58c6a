// Glue: holds the surface of a body to that of another where they are close, until it breaks.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_GLUE_H
#define SINEW_GLUE_H

#include "sinew/contact.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinew_glue_def {
    /// The body whose surface is glued, vertex by vertex. Required.
    sinew_body *body;
    /// The body that it is glued to, in the same world. Required. Both are under position dynamics,
    /// or neither is.
    sinew_body *target;
    /// Vertices of the body that are no farther than this from the surface of the target are glued.
    /// [m] Above 0, or 0 for a hundredth of the body's size. Default 0. Vertices at a distance are
    /// held there, but drawn to the surface of a target of elements.
    double reach;
    /// Stiffness of the spring at each vertex. [N/m] Above 0, or 0 for hard glue. Default 0.
    double stiffness;
    /// The glue breaks after a step in which its whole force exceeds this. [N] Above 0, or 0 for
    /// glue that never breaks. Default 0.
    double strength;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_glue_def;

/// A definition with every field at its default; the bodies must be set.
SINEW_API sinew_glue_def sinew_default_glue_def(void);

/// Glues two bodies as they are now; `glue` may be NULL. Bodies that are glued do not touch each
/// other. Once the glue has broken they do, and the list of sinew_world_get_contact_events has an
/// event with it. The glue is valid until it, one of its bodies or the world is destroyed, or
/// sinew_world_detach removes the attachments of the body. Snapshots contain whether it is broken.
SINEW_API sinew_status sinew_glue_create(sinew_world *world, const sinew_glue_def *def,
                                         sinew_glue **glue);
/// Removes glue. NULL is allowed.
SINEW_API void sinew_glue_destroy(sinew_glue *glue);

/// The number of vertices that are glued. [count]
SINEW_API int32_t sinew_glue_get_count(const sinew_glue *glue);
/// Whether it has broken.
SINEW_API bool sinew_glue_is_broken(const sinew_glue *glue);
/// The whole force on the body in the last step; 0 if it is broken. [N] The opposite force acts on
/// the target.
SINEW_API sinew_status sinew_glue_get_force(sinew_glue *glue, double force[3]);

#ifdef __cplusplus
}
#endif

#endif
