// Prepares a triangle surface from outside for inside tests: merges points, drops useless
// triangles, orients neighbours alike and the outermost parts outwards.
#ifndef SN_GEOM_REPAIR_REPAIR_H
#define SN_GEOM_REPAIR_REPAIR_H

#include "geom/mesh/mesh.h"

typedef struct sn_repaired_surface {
    const double *points; // the given ones, borrowed
    int32_t point_count;
    int32_t *triangles; // over the points that stand for merged ones
    int32_t triangle_count;
    int32_t merged_points, dropped_triangles, flipped_triangles, open_edges, crowded_edges;
    double volume, area;
} sn_repaired_surface;

// Points closer than 5e-7 of the extent are merged. A triangle is dropped if it is flat or repeats
// another, whatever its orientation. Parts connected by edges of two triangles are oriented alike,
// as most of their area was; a part both of whose sides have negative winding numbers is then
// flipped. So a shell within a solid is a cavity if it faces inwards, and an overlap if it faces
// outwards.
sinew_status sn_repair_surface(sn_arena *arena, const sinew_mesh *surface,
                               sn_repaired_surface *repaired);

#endif
