// What midpoint samples and region samples share while they are computed.
#ifndef SN_FRAME_SAMPLING_SAMPLES_INTERNAL_H
#define SN_FRAME_SAMPLING_SAMPLES_INTERNAL_H

#include "frame/sampling/sampling.h"
#include "math/mat3.h"

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

// Maps the bounding box of some items, boxes or points, to [-1, 1], flat directions to 0; half the
// edges of an item in these units.
typedef struct sn_box_map {
    double middle[3], scale[3], half[3];
    sn_gauss gauss; // along an edge; one point if the items are points
} sn_box_map;

// `box` holds the edges of an item; NULL: items are points.
sn_box_map sn_map_box(const double *positions, int32_t n, const double *box, int32_t degree);

// Computes the means over an item of the products of Legendre polynomials up to a total degree, in
// the order of sn_monomials.
void sn_box_functions(double *values, int32_t degree, const sn_box_map *map,
                      const double *position);

enum { SN_FIT_DEGREE = 4, SN_FIT_POINTS = 14, SN_FIT_WORK = 3185 };

// The voxels of a region: centres, filled volumes and edges; the volume and the centroid of all,
// and the square root of their covariance.
typedef struct sn_fit_input {
    const double *centers, *parts, *box;
    int32_t count;
    double volume;
    sn_vec3 center;
    const sn_mat3 *root;
} sn_fit_input;

// Finds at most SN_FIT_POINTS points inside the bounding box of a region that have its moments up
// to SN_FIT_DEGREE, with positive volumes. Returns their number, 0 if it does not find them. `work`
// has SN_FIT_WORK doubles.
int32_t sn_fit_points(const sn_fit_input *input, double *positions, double *volumes, double *work);

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
