// Material points of a body: follow their motion, read strain and stress, apply forces.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_POINT_H
#define SINEW_POINT_H

#include "sinew/body.h"
#include "sinew/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: a material point of any body. Valid until it or its body is destroyed. It stays the same
/// material point when frames are added to or removed from the body.
typedef struct sinew_point sinew_point;

/// Creates the point with the given rest position. [m] Finite. A point outside the body moves with
/// its nearest part.
SINEW_API sinew_status sinew_point_create(sinew_body *body, const double rest[3],
                                          sinew_point **point);
/// Creates the point whose present position is given. [m] Finite. A point outside a body of
/// elements moves with the nearest element. A body of frames has such a point almost everywhere;
/// where it has none, the call fails with SINEW_INVALID_ARGUMENT.
SINEW_API sinew_status sinew_point_create_at(sinew_body *body, const double position[3],
                                             sinew_point **point);
/// Destroys a point, and with it its force. NULL is allowed.
SINEW_API void sinew_point_destroy(sinew_point *point);

/// The body it belongs to.
SINEW_API sinew_body *sinew_point_get_body(const sinew_point *point);
/// The rest position. [m]
SINEW_API void sinew_point_get_rest(const sinew_point *point, double rest[3]);
/// Distance of the point from the rest shape; 0 inside. [m] The shape of a body of frames is that
/// of its voxels.
SINEW_API double sinew_point_get_distance(const sinew_point *point);
/// The element that contains it, or the nearest one; -1 for bodies without elements.
SINEW_API int32_t sinew_point_get_element(const sinew_point *point);

/// The present position. [m]
SINEW_API sinew_status sinew_point_get_position(sinew_point *point, double position[3]);
/// The present velocity. [m/s]
SINEW_API sinew_status sinew_point_get_velocity(sinew_point *point, double velocity[3]);
/// Strain and stress at the point; `energy` is a density. [J/m^3] Outside the body they are those
/// of the nearest point.
SINEW_API sinew_status sinew_point_get_state(sinew_point *point, sinew_element_state *state);

/// Sets the force at the point. [N] Finite. It moves with the point, keeps its direction and acts
/// until changed.
SINEW_API sinew_status sinew_point_set_force(sinew_point *point, const double force[3]);

#ifdef __cplusplus
}
#endif

#endif
