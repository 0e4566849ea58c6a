// The Voronoi cells from which the kernels are built: for each voxel the nearest node and the
// distances from the nearest and second nearest node.
#ifndef SN_FRAME_WEIGHTS_VORONOI_CELLS_H
#define SN_FRAME_WEIGHTS_VORONOI_CELLS_H

#include "frame/weights/node_fields.h"

// The distances come from each node's own front, not from a common one. So they are exact on the
// borders between cells and do not depend on which of two nodes at equal distance counts as the
// nearest. `second` is known close to the borders, INFINITY elsewhere.
typedef struct sn_near {
    double first, second;
    float band; // a few cells in the local metric: how far fronts overlap so that the border
                // between them can be located
    uint16_t nearest;
} sn_near;

typedef struct sn_voronoi {
    sn_near *near;        // of each voxel
    sn_node_field *cells; // distances of each node's own front: its cell and a few voxels more
} sn_voronoi;

// Finds the cells with the caller's fronts, one for each slot; nodes run in parallel. Arrays go
// into the arena.
sinew_status sn_find_voronoi(const sn_shape *shape, sn_front **fronts, int32_t slots,
                             sn_arena *arena, sn_voronoi *voronoi);

// Returns the distance of a voxel from the nearest node other than `node`.
static inline double sn_other_distance(const sn_voronoi *voronoi, int32_t node, int32_t voxel) {
    const sn_near *near = &voronoi->near[voxel];
    return near->nearest == node ? near->second : near->first;
}

#endif
