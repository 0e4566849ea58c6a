// Makes a triangle surface from outside fit for questions about inside: points merged, useless
// triangles dropped, neighbours turned alike, outermost parts turned outwards.
#ifndef SN_GEOM_TETRAHEDRALIZE_SURFACE_REPAIR_H
#define SN_GEOM_TETRAHEDRALIZE_SURFACE_REPAIR_H

#include "geom/mesh/mesh.h"

typedef struct sn_repaired_surface {
    const double *points; // the given ones, borrowed
    int32_t point_count;
    int32_t *triangles; // over the points that stand for merged ones
    int32_t triangle_count;
    int32_t merged_points, dropped_triangles, flipped_triangles, open_edges, crowded_edges;
    double volume, area;
} sn_repaired_surface;

// Points closer than 5e-7 of the extent count as one. A triangle is dropped if it is flat or
// repeats another, whichever way it is turned. Parts connected by edges of two triangles are turned
// alike, the way most of their area was; a part whose sides both lie at negative winding numbers is
// then turned over. So a shell within a solid is a cavity if it faces inwards, and an overlap if it
// faces outwards.
sinew_status sn_repair_surface(sn_arena *arena, const sinew_mesh *surface,
                               sn_repaired_surface *repaired);

#endif
