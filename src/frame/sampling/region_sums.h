// Regions of voxels while they are merged: the sums that a linear fit of the weights needs, and
// which regions touch.
#ifndef SN_FRAME_SAMPLING_REGION_SUMS_H
#define SN_FRAME_SAMPLING_REGION_SUMS_H

#include "frame/weights/weights.h"

typedef struct sn_node_sums {
    int32_t node;
    double w, wx[3], ww;
} sn_node_sums;

typedef struct sn_region_sums {
    double n, x[3], xx[6]; // xx, yy, zz, yz, zx, xy
    int32_t label;
    double error;
    int32_t first, nodes; // in the list of node sums, nodes ascending
} sn_region_sums;

typedef struct sn_region_set {
    int32_t count;
    sn_region_sums *regions;
    sn_node_sums *sums;
    int32_t edge_count;
    int32_t *edges;       // two regions each, lower first, ascending
    const double *demand; // factors on the errors of each node's weights
} sn_region_set;

// Returns the squared error of the best linear fit of the weights over one region, or over two
// together (b may be NULL). `cell2` is the square of a cell's size.
double sn_region_fit_error(const sn_region_set *set, const sn_region_sums *a,
                           const sn_region_sums *b, double cell2);

// Computes the sums of set->count regions from the region of each voxel.
sinew_status sn_regions_sum(const sn_shape *shape, sn_arena *arena, sn_arena *scratch,
                            const int32_t *region_of, sn_region_set *set);

// Finds the pairs of regions that share a face; with `by_label` only those of the same label.
sinew_status sn_regions_find_edges(const sn_shape *shape, sn_arena *arena, sn_arena *scratch,
                                   const int32_t *region_of, bool by_label, sn_region_set *set);

// Sorts sums by node.
void sn_node_sums_sort(sn_node_sums *sums, int32_t count);

// Sorts set->edges and drops duplicates.
sinew_status sn_regions_tidy_edges(sn_arena *scratch, sn_region_set *set);

#endif
