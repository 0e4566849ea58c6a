// A node that joins a running body (Gilles et al. 2011, 4.4): its weight is a smooth function of the distance inside the
// solid, 1 at the node and 0 at its range; the weights of the others shrink by 1 - w there, and nothing outside the range
// changes.
//
// Insertions are kept apart from the base weights and applied in their order, so that taking one out, first or last, restores
// exactly what was there.
#ifndef SN_FRAME_INSERTION_H
#define SN_FRAME_INSERTION_H

#include "frame/samples.h"

typedef struct sn_insertion {
    sn_arena arena;      // holds this struct too
    sn_vec3 position;    // rest
    double range;        // [m]
    int32_t voxel_count; // reached voxels, ascending, with the new node's weight
    int32_t *voxel;
    double *voxel_weight;
    int32_t sample_count; // touched samples, ascending
    int32_t *sample;
    double *sample_weight;
    double (*sample_gradient)[3];
    int32_t vertex_count; // touched vertices, ascending
    int32_t *vertex;
    double *vertex_weight;
} sn_insertion;

// Finds what a node at the rest position `position` touches. `points` are the rest positions of the vertices whose weights
// follow. Refuses a position outside the solid and a range of less than one cell.
sinew_status sn_insertion_create(const sn_shape *shape, const sn_frame_samples *samples, const double *points,
                                 int32_t point_count, sn_vec3 position, double range, sn_insertion **insertion);
void sn_insertion_destroy(sn_insertion *insertion);

// The new node's weight at a voxel, 0 where it does not reach; and at a point, with its gradient.
double sn_insertion_at_voxel(const sn_insertion *insertion, int32_t voxel);
double sn_insertion_at_point(const sn_insertion *insertion, const sn_shape *shape, sn_vec3 p, sn_vec3 *gradient);

// Samples and vertices with `count` insertions applied in order to the base; insertion k becomes node base_nodes + k. Samples
// share what does not change with the base (positions, volumes, moments), which must outlive the result.
sinew_status sn_insertions_apply_samples(sinew_context *context, const sn_frame_samples *base, int32_t base_nodes,
                                         const sn_insertion *const *insertions, int32_t count, sn_frame_samples **samples);
sinew_status sn_insertions_apply_vertices(sn_arena *arena, const sn_vertex_weights *base, int32_t base_nodes,
                                          const sn_insertion *const *insertions, int32_t count, sn_vertex_weights *result);

// Mass moments (see sn_compute_mass_moments) of all nodes of the shape and then of the insertions: `base` holds those without
// insertions, and only voxels in range are visited.
sinew_status sn_insertions_compute_mass(const sn_shape *shape, const sn_insertion *const *insertions, int32_t count,
                                        int32_t degree, const double *base, double *moments);

// The same of rho w_i w_j about the body's centre of mass for every pair of nodes that share a voxel: for consistent mass. All
// voxels are visited.
typedef struct sn_mass_pairs {
    sn_vec3 center;
    int32_t count;
    int32_t (*pair)[2]; // i <= j, ascending
    double *moments;    // count times the number of monomials
} sn_mass_pairs;

sinew_status sn_compute_mass_pairs(const sn_shape *shape, const sn_insertion *const *insertions, int32_t count,
                                   sn_arena *arena, int32_t degree, sn_mass_pairs *pairs);

#endif
