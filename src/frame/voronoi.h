// Which node is nearest to a voxel, and how far the nearest and the next one are: the Voronoi cells that kernels grow from.
#ifndef SN_FRAME_VORONOI_H
#define SN_FRAME_VORONOI_H

#include "frame/shape.h"

// The distances are those of each node's own front, not of a common one, so that they are exact on the borders between cells
// and do not depend on which of two equally near nodes is called the nearest. `second` is known near the borders, INFINITY
// elsewhere.
// What a node's own front reached: its cell and a few voxels more, in the order of distance. Of very large grids it is not
// kept: memory is dearer there than a second walk.
typedef struct sn_cell {
    int32_t count;
    int32_t *voxel; // NULL: not kept
    double *distance;
} sn_cell;

typedef struct sn_voronoi {
    double *first, *second;
    uint16_t *nearest;
    sn_cell *cells; // of each node
    float *band;    // a few cells in the local metric: how far fronts overlap so that the border between them can be located
} sn_voronoi;

// Fronts are the caller's, `front_count` of them; nodes run side by side. Arrays go into the arena.
sinew_status sn_find_voronoi(const sn_shape *shape, sn_front **fronts, int32_t front_count, sn_arena *arena,
                             sn_voronoi *voronoi);

// Distance of a voxel from the nearest node other than `node`.
static inline double sn_other_distance(const sn_voronoi *voronoi, int32_t node, int32_t voxel) {
    return voronoi->nearest[voxel] == node ? voronoi->second[voxel] : voronoi->first[voxel];
}

// Starts a front at a node; the node's place has been checked.
void sn_seed_node(const sn_shape *shape, sn_front *front, int32_t node, int32_t source);

#endif
