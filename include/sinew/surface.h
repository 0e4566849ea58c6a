// The surface of a body: triangles that follow it, forces on them, rays and nearest points.
//
// Every body has a surface: the boundary of its elements, the smoothed boundary of its voxels, or
// the mesh given in its definition. Output, loads and picking use the surface and therefore work
// with every kind of body.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_SURFACE_H
#define SINEW_SURFACE_H

#include "sinew/body.h"
#include "sinew/mesh.h"
#include "sinew/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The surface at rest: the vertices are the points of the mesh, the triangles its elements, with
/// outward normals. Valid as long as the body.
SINEW_API const sinew_mesh *sinew_body_get_surface(const sinew_body *body);
/// The node of each vertex, for a body of elements whose surface is its boundary; NULL otherwise.
/// Valid as long as the body.
SINEW_API const int32_t *sinew_body_get_surface_nodes(const sinew_body *body);

/// Computes the present positions and unit normals of the vertices, three numbers per vertex. [m],
/// [-] The normal of a vertex without triangles is 0. `normals` may be NULL. Allocates nothing.
SINEW_API void sinew_body_compute_surface(const sinew_body *body, double *positions,
                                          double *normals);
/// Computes the present velocities of the vertices, three numbers each. [m/s]
SINEW_API sinew_status sinew_body_compute_surface_velocities(sinew_body *body, double *velocities);
/// Computes strain and stress at each vertex. For bodies of elements these are means over the
/// elements at each node, interpolated for an embedded surface; for bodies of frames the state at
/// the vertex itself. `energy` is a density. [J/m^3]
SINEW_API sinew_status sinew_body_compute_surface_states(sinew_body *body,
                                                         sinew_element_state *states);

/// Sets forces on the vertices, three numbers each, replacing those of the last call. [N] Finite.
/// They move with the vertices, keep their directions and act until changed; NULL removes them.
/// Copied.
SINEW_API sinew_status sinew_body_set_surface_forces(sinew_body *body, const double *forces);

/// A point of a surface that a query found.
typedef struct sinew_surface_hit {
    sinew_body *body;      ///< NULL: nothing was found, and the rest is zero.
    int32_t triangle;      ///< Of the body's surface.
    double barycentric[3]; ///< Weights of the triangle's corners. [-]
    double position[3];    ///< [m]
    double normal[3];      ///< Unit normal of the triangle. [-] 0 for a triangle without area.
    double distance;       ///< From the start of the ray, or from the given position. [m]
} sinew_surface_hit;

/// The first point at which a ray meets the body's present surface, from either side. `direction`
/// has any length above 0; `reach` is the length of the ray. [m] At least 0, or INFINITY. The first
/// query after the body has moved costs as much as computing its surface.
SINEW_API sinew_status sinew_body_cast_ray(sinew_body *body, const double origin[3],
                                           const double direction[3], double reach,
                                           sinew_surface_hit *hit);
/// The same for all bodies of the world: the nearest hit. If two are equally near, that of the
/// first body.
SINEW_API sinew_status sinew_world_cast_ray(sinew_world *world, const double origin[3],
                                            const double direction[3], double reach,
                                            sinew_surface_hit *hit);
/// The point of the body's present surface that is nearest to a position, no farther than `reach`.
/// [m] At least 0, or INFINITY.
SINEW_API sinew_status sinew_body_find_nearest(sinew_body *body, const double position[3],
                                               double reach, sinew_surface_hit *hit);

#ifdef __cplusplus
}
#endif

#endif
