// Volume, centroid and inertia of what a closed surface encloses, or of a mesh of solid elements.
#ifndef SN_GEOM_MESH_MASS_H
#define SN_GEOM_MESH_MASS_H

#include "geom/mesh/mesh.h"
#include "math/mat3.h"

typedef struct sn_mass_properties {
    double volume;
    sn_vec3 centroid;
    sn_mat3 inertia; // about the centroid, at density 1: integral of (|r|² I - r ⊗ r)
} sn_mass_properties;

// By the divergence theorem, one tet for each triangle (Tonon 2004). Meaningful if the triangles
// are closed and face outwards.
sn_mass_properties sn_surface_mass_properties(const double *points, const int32_t *triangles,
                                              int32_t triangle_count);

// Of solid elements, through their surface: exact for flat faces; curved ones are taken as their
// triangles.
sinew_status sn_mesh_mass_properties(sn_arena *scratch, const sinew_mesh *mesh,
                                     sn_mass_properties *properties);

#endif
