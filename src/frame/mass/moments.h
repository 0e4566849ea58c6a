// Integrals over the voxels from which the mass of the nodes is built. In: weights, densities,
// insertions. Out: moments of each node, or of each pair of nodes. Cost: the voxels times the nodes
// (or pairs) at each, unless only a change is applied.
#ifndef SN_FRAME_MASS_MOMENTS_H
#define SN_FRAME_MASS_MOMENTS_H

#include "frame/adapt/adapt.h"

// Computes the integrals over all voxels, as boxes with constant weights: for each node i the
// moments up to `degree` (2 for affine and rigid, 4 for quadratic nodes) of rho w_i about its rest
// position, in the order of sn_monomials(). The weights are normalised to sum to 1. `moments`
// receives node_count times the number of monomials.
sinew_status sn_compute_mass_moments(const sn_shape *shape, int32_t degree, double *moments);

// Computes the mass moments of all nodes of the shape and then of the insertions. `base` holds the
// moments without insertions; only voxels in range of the insertions are visited.
sinew_status sn_insertions_compute_mass(const sn_shape *shape,
                                        const sn_insertion *const *insertions, int32_t count,
                                        int32_t degree, const double *base, double *moments);

// Updates the moments for a change, exact to rounding; only voxels in range of the changed
// insertion are visited.
void sn_insertions_change_mass(const sn_shape *shape, const sn_insertion_change *change,
                               int32_t degree, const double *old, double *moments);

// Moments of rho w_i w_j about the body's centre of mass for every pair of nodes that share a
// voxel, for the consistent mass. All voxels are visited.
typedef struct sn_mass_pairs {
    sn_vec3 center;
    int32_t count;
    int32_t (*pair)[2]; // i <= j, ascending
    double *moments;    // count times the number of monomials
} sn_mass_pairs;

sinew_status sn_compute_mass_pairs(const sn_shape *shape, const sn_insertion *const *insertions,
                                   int32_t count, sn_arena *arena, int32_t degree,
                                   sn_mass_pairs *pairs);

// Updates the pairs for a change, exact to rounding; only voxels in range are visited.
sinew_status sn_change_mass_pairs(const sn_shape *shape, const sn_insertion_change *change,
                                  sn_arena *arena, int32_t degree, const sn_mass_pairs *old,
                                  sn_mass_pairs *pairs);

#endif
