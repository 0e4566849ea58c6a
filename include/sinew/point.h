// Points of a body: material points that are followed, read and pulled.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_POINT_H
#define SINEW_POINT_H

#include "sinew/body.h"
#include "sinew/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: a material point of any body. Lives until it is destroyed or its body is, and stays the
/// same material point when frames join or leave the body.
typedef struct sinew_point sinew_point;

/// Makes the point with a rest position. [m] Finite. Outside the body it moves with the nearest
/// part.
SINEW_API sinew_status sinew_point_create(sinew_body *body, const double rest[3],
                                          sinew_point **point);
/// Makes the point that is now at a position. [m] Finite. Outside a body of elements it moves with
/// the nearest element. A body of frames has such a point almost everywhere; where it has none, the
/// call fails with SINEW_INVALID_ARGUMENT.
SINEW_API sinew_status sinew_point_create_at(sinew_body *body, const double position[3],
                                             sinew_point **point);
/// Destroys a point, and with it its force. NULL is allowed.
SINEW_API void sinew_point_destroy(sinew_point *point);

/// The body it belongs to.
SINEW_API sinew_body *sinew_point_get_body(const sinew_point *point);
/// The rest position. [m]
SINEW_API void sinew_point_get_rest(const sinew_point *point, double rest[3]);
/// How far the point lies outside the rest shape; 0 inside. [m] Of bodies of frames the shape is
/// that of the voxels.
SINEW_API double sinew_point_get_distance(const sinew_point *point);
/// The element that holds it, or the nearest one; -1 for bodies without elements.
SINEW_API int32_t sinew_point_get_element(const sinew_point *point);

/// Where the point is now. [m]
SINEW_API sinew_status sinew_point_get_position(sinew_point *point, double position[3]);
/// How fast it moves now. [m/s]
SINEW_API sinew_status sinew_point_get_velocity(sinew_point *point, double velocity[3]);
/// What the material feels at the point, interpolated there; `energy` is a density. [J/m^3] Outside
/// the body it is that of the nearest point.
SINEW_API sinew_status sinew_point_get_state(sinew_point *point, sinew_element_state *state);

/// Sets the force that acts at the point. [N] Finite. It keeps its direction, moves with the point,
/// and lasts until changed.
SINEW_API sinew_status sinew_point_set_force(sinew_point *point, const double force[3]);

#ifdef __cplusplus
}
#endif

#endif
