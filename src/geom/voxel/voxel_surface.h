// The parts of surface voxelisation that its files share.
#ifndef SN_GEOM_VOXEL_VOXEL_SURFACE_H
#define SN_GEOM_VOXEL_VOXEL_SURFACE_H

#include "geom/mesh/mesh.h"
#include "geom/voxel/voxel.h"

// Edges with an odd number of triangles, and the rims they form.
typedef struct sn_hole_report {
    int32_t open_edges, holes;
    double largest; // diameter of the widest rim's bounding box
    sn_vec3 center; // of that box
} sn_hole_report;

sinew_status sn_find_holes(sn_arena *arena, const sinew_mesh *mesh, const int32_t *triangles,
                           int32_t count, sn_hole_report *report);

// Whether the line at (u, v) along the third axis passes through a triangle, seen along that axis
// with iu and iv as the other two: 0 if not, 1 if the normal points along the axis, -1 if against.
// A line through an edge or a corner that several triangles share hits as many of them as one
// beside it.
int sn_line_hits(double p[3][3], int iu, int iv, double u, double v);

// Where the line at (u, v), the coordinates after `axis` in circular order, meets the plane of a
// triangle, within the extent of the triangle.
double sn_line_position(double p[3][3], int axis, double u, double v);

#endif
