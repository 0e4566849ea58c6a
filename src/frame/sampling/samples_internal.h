// What midpoint samples and region samples share while they are computed.
#ifndef SN_FRAME_SAMPLING_SAMPLES_INTERNAL_H
#define SN_FRAME_SAMPLING_SAMPLES_INTERNAL_H

#include "frame/sampling/sampling.h"

// The sample of each voxel, and the number of samples.
typedef struct sn_partition {
    int32_t count;
    int32_t *sample_of; // for each voxel
} sn_partition;

// Partitions into blocks of voxels: def->counts along the axes, or def->count in all or nearly so.
sinew_status sn_partition_blocks(const sn_shape *shape, const sinew_sampling_def *def,
                                 sn_arena *arena, sn_partition *partition);

// Partitions into regions over which the weights are nearly linear.
sinew_status sn_partition_regions(const sn_shape *shape, const sinew_sampling_def *def,
                                  sn_arena *arena, sn_partition *partition);

// Weights and gradients of one sample from those of its voxels, which count by their filled parts:
// means (midpoint), or the linear fit, with its squared error summed over voxels and nodes and its
// absolute error.
typedef struct sn_fit {
    double squared_error, absolute_error;
    int32_t voxels, nodes;
} sn_fit;

// The filled parts of some voxels together, in cells.
double sn_sum_fill(const sinew_voxels *grid, const int32_t *voxels, int32_t count);

void sn_average_sample(const sn_shape *shape, const int32_t *voxels, int32_t count,
                       sn_shape_point *result);
void sn_fit_sample(const sn_shape *shape, const int32_t *voxels, int32_t count, sn_vec3 center,
                   sn_shape_point *result, sn_fit *fit);

// Gauss points on [-1, 1] that integrate polynomials up to a degree; the weights sum to 1.
typedef struct sn_gauss {
    int32_t count;
    double position[5], weight[5];
} sn_gauss;

sn_gauss sn_gauss_points(int32_t degree);

// Fills in the voxels of each sample.
sinew_status sn_samples_list_voxels(sn_frame_samples *samples, const sn_partition *partition,
                                    int32_t voxel_count);

// Fills `order`: samples by their number of nodes (stable counting sort).
sinew_status sn_samples_sort(sn_frame_samples *samples);

// Makes the blocks of midpoint sampling without their weights: positions, volumes, labels,
// stiffness and voxels.
sinew_status sn_samples_create_blocks(const sn_shape *shape, int32_t count,
                                      sn_frame_samples **blocks);

#endif
