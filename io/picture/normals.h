// Normals for shading: smooth across gentle edges, sharp at creases.
//
// Each corner of a triangle gets the mean normal of the triangles around its vertex that are within
// the crease angle of its own triangle, weighted after Max (1999), which is exact for a sphere.
// Cost: triangles times valence.
#ifndef SN_IO_PICTURE_NORMALS_H
#define SN_IO_PICTURE_NORMALS_H

#include "base/memory.h"

// `normals` holds 9 numbers per triangle. Triangles without area, or with a vertex that is not
// finite, get zeros and do not contribute. `arena` provides scratch memory, which is released.
sinew_status sn_compute_corner_normals(float *normals, const float *positions, int32_t vertex_count,
                                       const int32_t *triangles, int32_t triangle_count,
                                       double crease_angle, sn_arena *arena);

#endif
