// The filled part of voxels. A cell is a voxel if its centre is inside, so that near the surface
// some voxels stick out of the solid and some parts of the solid have no voxel. The filled part of
// a voxel is the share of its cell that is inside, plus what the cells beyond the surface contain:
// such a cell's content goes to the voxels it touches. It can therefore exceed 1, and the parts of
// all voxels together have the volume of the solid.
#ifndef SN_GEOM_VOXEL_VOXEL_FILL_H
#define SN_GEOM_VOXEL_VOXEL_FILL_H

#include "geom/voxel/voxel.h"

// Points along each edge of a cell, in its `SN_FILL_POINTS` equal parts.
enum { SN_FILL_POINTS = 6 };

// Counts the points of a cell that are inside; `cell` is its box. Called from several threads.
typedef int32_t sn_count_inside(const void *data, sn_box cell);

// Computes the filled parts from points in the cells next to the boundary of the voxels.
sinew_status sn_fill_by_points(sinew_voxels *voxels, sn_count_inside *count_inside,
                               const void *data);

// A closed surface for sn_fill_by_lines.
typedef struct sn_fill_surface {
    const double *points;
    const int32_t *triangles;
    int32_t triangle_count;
    bool cavity; // its inside is empty
} sn_fill_surface;

// Computes the filled parts from lines along x, 16 through each cell, whose crossings with the
// surfaces are exact. Later surfaces win where several overlap. A line that crosses a surface an
// odd number of times goes through a hole: the voxels along it count as full.
sinew_status sn_fill_by_lines(sinew_voxels *voxels, const sn_fill_surface *surfaces, int32_t count);

#endif
