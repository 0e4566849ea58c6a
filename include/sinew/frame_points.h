// Many points of a body of frames at once, such as the vertices of a surface.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_FRAME_POINTS_H
#define SINEW_FRAME_POINTS_H

#include "sinew/body.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: material points of a frame body for repeated use; their weights are looked up once.
/// Valid until a frame is added to or removed from the body, or the body is destroyed.
typedef struct sinew_frame_points sinew_frame_points;

/// Looks up `count` points, three numbers each. [m] They are copied.
SINEW_API sinew_status sinew_frame_points_create(sinew_body *body, const double *rest,
                                                 int32_t count, sinew_frame_points **points);
/// NULL is allowed.
SINEW_API void sinew_frame_points_destroy(sinew_frame_points *points);

/// Computes the present positions [m] and velocities [m/s] of the points, three numbers each, and
/// their states, in which `energy` is a density [J/m^3]. Each output may be NULL. Allocates
/// nothing.
SINEW_API void sinew_frame_points_compute(const sinew_frame_points *points, double *positions,
                                          double *velocities, sinew_element_state *states);

/// Adds a force at each point, three numbers each [N], to those set on the body.
SINEW_API void sinew_frame_points_add_forces(const sinew_frame_points *points,
                                             const double *forces);

/// The frames that move each point, and their weights: those of point i are entries starts[i] to
/// starts[i + 1] - 1 of `nodes` and `weights`. [-] Each output may be NULL. The arrays are valid as
/// long as the points.
SINEW_API void sinew_frame_points_get_weights(const sinew_frame_points *points,
                                              const int32_t **starts, const int32_t **nodes,
                                              const double **weights);

#ifdef __cplusplus
}
#endif

#endif
