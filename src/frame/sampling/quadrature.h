// Points inside region samples that integrate polynomials exactly (Gilles et al. 2013, 1.4.4, by
// points instead of expansions).
//
// Over a region the weights are linear, so F is a polynomial of the rest position, and so are
// energy and forces of the laws that are polynomials of F. What enters is each region's voxels;
// what leaves is a few points with positive volumes that have the same moments up to the samples'
// degree as all of the voxels:
//
//   degree 0, 1  the centroid
//   degree 2     the root of the covariance applied to four corners of a cube, those on the side to
//   which the voxels lean,
//                or, where they do not, to six points on the axes: points that turn and mirror with
//                the grid
//   above        some of the voxels' middles, at most as many as there are moments (Caratheodory
//   1907; Tchakaloff 1957),
//                chosen in rounds that halve the candidates (Maalouf, Jubran and Feldman 2019): n m
//                + m^3 log n
//
// A region with fewer voxels than that is integrated voxel by voxel.
#ifndef SN_FRAME_SAMPLING_QUADRATURE_H
#define SN_FRAME_SAMPLING_QUADRATURE_H

#include "frame/sampling/samples.h"

typedef struct sn_quadrature {
    int32_t count;    // points
    int32_t *start;   // samples + 1: the points of sample s are start[s] .. start[s + 1] - 1
    double *position; // 3 each
    double *volume;
} sn_quadrature;

// Points for samples with voxel lists. Lives in the arena.
sinew_status sn_quadrature_create(sn_arena *arena, const sn_shape *shape,
                                  const sn_frame_samples *samples, sn_quadrature *quadrature);

// The points as samples: weights continued linearly from the middle of the region. `samples` are
// those of the quadrature, or the same with insertions; they must outlive the result, which has
// neither voxels nor moments of its own.
sinew_status sn_quadrature_apply(const sn_quadrature *quadrature, const sn_frame_samples *samples,
                                 sn_frame_samples **points);

// Of the functions up to a degree at the items (positions 3 each, n of them), picks items and
// positive volumes whose sums are those of all items with volume `volume`. `chosen` and `volumes`
// have room for n, `work` for sn_select_work(degree) doubles. Returns how many: at most the number
// of monomials, unless there are fewer items.
int32_t sn_select_points(int32_t degree, const double *positions, int32_t n, double volume,
                         int32_t *chosen, double *volumes, double *work);
size_t sn_select_work(int32_t degree);

#endif
