// Where a frame body measures strain: samples with volumes, weights, gradients and moments; and the
// integrals its mass needs.
//
// Data layout, for packing into blocks: entries of sample s are start[s] .. start[s + 1] - 1;
// `order` lists the samples by their number of nodes (ascending, then by index), so that a block of
// SIMD lanes takes consecutive samples of `order` with the same count. Gradients are three numbers
// an entry. Moments are `moment_count` numbers a sample in the order of sn_monomials().
#ifndef SN_FRAME_SAMPLING_SAMPLES_H
#define SN_FRAME_SAMPLING_SAMPLES_H

#include "frame/weights/weights.h"

enum { SN_MAX_DEGREE = 8, SN_MAX_MONOMIALS = 165 };

// Exponents of the monomials in three variables up to `degree`, by ascending degree, then x before
// y before z within one: 1; x y z; xx xy xz yy yz zz; ... Returns their number, (d+1)(d+2)(d+3)/6.
int32_t sn_monomials(int32_t degree, int8_t exponents[SN_MAX_MONOMIALS][3]);

// Values of these monomials at d.
void sn_compute_monomials(double *values, int32_t degree, sn_vec3 d);

typedef struct sn_frame_samples {
    sn_arena arena; // holds this struct too
    int32_t count;
    double *position;  // 3 each: the centroid of the sample's voxels
    double *volume;    // [m3]; they sum to the solid's
    double *mass;      // [kg]
    int32_t *label;    // of the sample's material; of most of its volume where labels mix
    double *stiffness; // mean factor on the material's stiffness; where labels mix, relative to
                       // `label`'s Young's modulus
    int32_t *start;    // count + 1
    int32_t *node;
    double *weight;
    double *gradient; // 3 each
    int32_t *order;   // samples by number of nodes
    int32_t degree;   // of the moments; 0 for midpoint samples
    int32_t moment_count;
    double *moment;    // sum over voxels of volume * (X - position)^alpha; the first is the volume
    double *fit_error; // root mean square over voxels and nodes; 0 for single voxels
    int32_t *voxel_start; // count + 1
    int32_t *voxel;       // the voxels of each sample, ascending
    sinew_sampling_report report;
} sn_frame_samples;

sinew_status sn_samples_create(const sn_shape *shape, const sinew_sampling_def *def,
                               sn_frame_samples **samples);
void sn_samples_destroy(sn_frame_samples *samples);

// Sorts a list of samples by their lists of nodes, so that samples with the same nodes are
// neighbours. Stable.
sinew_status sn_samples_sort_by_nodes(const sn_frame_samples *samples, int32_t node_count,
                                      int32_t *list, int32_t count);

// Integrals for the mass of the nodes, over all voxels as boxes with constant weights: for each
// node i the moments up to `degree` (2 for affine and rigid, 4 for quadratic nodes) of rho w_i
// about its rest position, in the order of sn_monomials(). The weights are normalised to sum to 1.
// `moments` receives node_count times the number of monomials.
sinew_status sn_compute_mass_moments(const sn_shape *shape, int32_t degree, double *moments);

#endif
