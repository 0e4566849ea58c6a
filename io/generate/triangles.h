// Triangles under construction: writable arrays that are turned into a mesh.
#ifndef SN_IO_GENERATE_TRIANGLES_H
#define SN_IO_GENERATE_TRIANGLES_H

#include "sinew/mesh.h"

#include "base/memory.h"

typedef struct sn_triangles {
    int32_t point_count, triangle_count;
    double *points;   // three numbers each
    int32_t *indices; // three each
} sn_triangles;

static inline sinew_status sn_triangles_create(sn_arena *arena, int32_t points, int32_t triangles,
                                               sn_triangles *made) {
    *made = (sn_triangles){.point_count = points,
                           .triangle_count = triangles,
                           .points = SN_PUSH(arena, double, 3 * (size_t)points),
                           .indices = SN_PUSH(arena, int32_t, 3 * (size_t)triangles)};
    return sn_arena_status(arena);
}

// The mesh is a copy.
static inline sinew_status sn_triangles_finish(sinew_context *context,
                                               const sn_triangles *triangles, sinew_mesh **mesh) {
    sinew_mesh view = {.points = triangles->points,
                       .point_count = triangles->point_count,
                       .element = SINEW_ELEMENT_TRIANGLE,
                       .indices = triangles->indices,
                       .element_count = triangles->triangle_count};
    return sinew_mesh_copy(context, &view, mesh);
}

#endif
