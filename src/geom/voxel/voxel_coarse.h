// Estimates the memory of a large grid before it is filled.
#ifndef SN_GEOM_VOXEL_VOXEL_COARSE_H
#define SN_GEOM_VOXEL_VOXEL_COARSE_H

#include "geom/voxel/voxel.h"

// Writes the labels of the cells of a frame.
typedef sinew_status sn_fill_grid(void *data, const sn_grid_frame *frame, uint16_t *labels);

// Rejects a grid that would need more than the memory limit, without filling it: `fill` is called
// for a coarse grid over the same box, of which only cells count whose neighbours are inside as
// well, so that thin walls are not overestimated; only slits finer than its cells, all of them
// between cell centres, would be overlooked. Small grids pass without a test.
sinew_status sn_check_inside(sinew_context *context, const sn_grid_frame *frame,
                             size_t memory_limit, sn_fill_grid *fill, void *data);

#endif
