// Normals for shading: smooth over gentle edges, sharp at creases.
//
// Enter: positions and triangles. Leaves: a unit normal for each corner of each triangle, the mean
// of the triangles around its vertex whose own normals lie within the crease angle of this
// triangle's, weighted after Max (1999), for whom a sphere's normals come out exactly. Cost:
// triangles times valence.
#ifndef SN_IO_PICTURE_NORMALS_H
#define SN_IO_PICTURE_NORMALS_H

#include "base/memory.h"

// `normals` holds 9 numbers a triangle. Triangles without area, or with a vertex that is not
// finite, get zeros and do not count. `arena` lends scratch memory and gets it back.
sinew_status sn_compute_corner_normals(float *normals, const float *positions, int32_t vertex_count,
                                       const int32_t *triangles, int32_t triangle_count,
                                       double crease_angle, sn_arena *arena);

#endif
