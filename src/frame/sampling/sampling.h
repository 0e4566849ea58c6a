// Where a frame body measures strain (Gilles et al. 2013, 1.4). In: the shape functions
// and a sampling definition. Out: samples with volumes, weights, gradients and moments, and the
// quadrature points inside them.
//
// Data layout, for packing into blocks: the entries of sample s are start[s] .. start[s + 1] - 1.
// `order` lists the samples by their number of nodes (ascending, then by index), so that a block of
// SIMD lanes takes consecutive samples of `order` with the same count. Gradients are three numbers
// for each entry. Moments are `moment_count` numbers for each sample in the order of
// sn_monomials().
#ifndef SN_FRAME_SAMPLING_SAMPLING_H
#define SN_FRAME_SAMPLING_SAMPLING_H

#include "frame/weights/weights.h"

enum { SN_MAX_DEGREE = 8, SN_MAX_MONOMIALS = 165 };

// Lists the exponents of the monomials in three variables up to `degree`, by ascending degree, and
// within one degree x before y before z: 1; x y z; xx xy xz yy yz zz; ... Returns their number,
// (d+1)(d+2)(d+3)/6.
int32_t sn_monomials(int32_t degree, int8_t exponents[SN_MAX_MONOMIALS][3]);

// Computes the values of these monomials at d.
void sn_compute_monomials(double *values, int32_t degree, sn_vec3 d);

typedef struct sn_frame_samples {
    sn_arena arena; // holds this struct too
    int32_t count;
    double *position;  // 3 each: the centroid of the sample's voxels
    double *volume;    // [m3]; they sum to the solid's
    double *mass;      // [kg]
    int32_t *label;    // of the sample's material; the most common one where labels mix
    double *stiffness; // mean factor on the material's stiffness; where labels mix, relative to
                       // `label`'s Young's modulus
    int32_t *start;    // count + 1
    int32_t *node;
    double *weight;
    double *gradient; // 3 each
    int32_t *order;   // samples by number of nodes
    int32_t degree;   // of the moments; 0 for midpoint samples
    int32_t moment_count;
    double *moment;    // integral of (X - position)^alpha over the voxels; the first is the volume
    double *fit_error; // root mean square over voxels and nodes; 0 for single voxels
    int32_t *region;   // of quadrature points: the sample they belong to, ascending; NULL otherwise
    int32_t *voxel_start; // count + 1
    int32_t *voxel;       // the voxels of each sample, ascending
    sinew_sampling_report report;
} sn_frame_samples;

// Checks a definition against the shape it will sample.
sinew_status sn_sampling_check(const sn_shape *shape, const sinew_sampling_def *def);

// Makes midpoint samples, or region samples if the kind is automatic.
sinew_status sn_samples_create(const sn_shape *shape, const sinew_sampling_def *def,
                               sn_frame_samples **samples);
void sn_samples_destroy(sn_frame_samples *samples);

// Makes candidates for point samples: points of about `block_count` blocks of voxels, with their
// weights and gradients and with volumes that integrate smooth functions. They have no voxels.
sinew_status sn_point_candidates(const sn_shape *shape, int32_t block_count,
                                 sn_frame_samples **candidates);

// Makes samples of the candidates whose volume, one for each, is above 0. Voxels go to the nearest
// one of their label.
sinew_status sn_point_samples(const sn_shape *shape, const sn_frame_samples *candidates,
                              const double *volume, sn_frame_samples **samples);

// Sorts a list of samples by their lists of nodes, so that samples with the same nodes are
// adjacent. Stable.
sinew_status sn_samples_sort_by_nodes(const sn_frame_samples *samples, int32_t node_count,
                                      int32_t *list, int32_t count);

// Points inside region samples that integrate polynomials exactly (Gilles et al. 2013, 1.4.4, by
// points instead of expansions).
//
// Over a region the weights are linear, so F is a polynomial of the rest position, and so are
// energy and forces of every law that is polynomial in F. In: each region's voxels. Out: a few
// points with positive volumes that have the same moments up to the samples' degree as all of the
// voxels, as boxes that count by their filled parts:
//
//   degree 0, 1  the centroid
//   degree 2     the root of the covariance applied to four corners of a cube, on the side to which
//                the voxels are skewed, or to six points on the axes if they are not skewed. These
//                points rotate and mirror with the grid.
//   above        Gauss points of some of the voxels, at most as many as there are moments
//                (Caratheodory 1907; Tchakaloff 1957), chosen in rounds that halve the candidates
//                (Maalouf, Jubran and Feldman 2019): first voxels, then points of these. Cost: n m
//                + m^3 log n for n voxels and m moments.

typedef struct sn_quadrature {
    int32_t count;    // points
    int32_t *start;   // samples + 1: the points of sample s are start[s] .. start[s + 1] - 1
    double *position; // 3 each
    double *volume;
} sn_quadrature;

// Finds the points of samples that have voxel lists. The result is in the arena.
sinew_status sn_quadrature_create(sn_arena *arena, const sn_shape *shape,
                                  const sn_frame_samples *samples, sn_quadrature *quadrature);

// Moves the points of regions with two nodes along the gradient of the weights to the centroid.
// Moments across the gradient stay. Between two rigid nodes whose weights are linear, a bend causes
// a shear that is zero only in the middle and grows linearly to both sides; points there measure
// bending without it.
void sn_quadrature_flatten(const sn_frame_samples *samples, sn_quadrature *quadrature);

// Turns the points into samples, with weights extrapolated linearly from the centroid of the
// region. `samples` are those of the quadrature, or the same with insertions. They must outlive the
// result, which has neither voxels nor moments of its own.
sinew_status sn_quadrature_apply(const sn_quadrature *quadrature, const sn_frame_samples *samples,
                                 sn_frame_samples **points);

// Chooses a few from n items: boxes with edges `box` (NULL: points), at positions of 3 numbers
// each, with the given volumes. The chosen ones get positive volumes such that the volume-weighted
// means of all monomials up to `degree` stay the same. In: `volumes` of all items. Out: `chosen`,
// ascending, and in `volumes` those of the chosen. `chosen` has room for n, `work` for
// sn_select_work(degree) doubles. Returns the number of chosen items: at most the number of
// monomials, unless there are fewer items.
int32_t sn_select_points(int32_t degree, const double *positions, int32_t n, const double *box,
                         int32_t *chosen, double *volumes, double *work);
size_t sn_select_work(int32_t degree);

#endif
