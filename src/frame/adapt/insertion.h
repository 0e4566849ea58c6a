// A node that joins a running body (Gilles et al. 2011, 4.4). Its weight is a smooth function of
// the distance inside the solid, 1 at the node and 0 at its range. The weights of the other nodes
// are scaled by 1 - w, and nothing outside the range changes.
//
// Insertions are stored apart from the base weights and applied in their order, so removing any of
// them restores the former weights exactly.
#ifndef SN_FRAME_ADAPT_INSERTION_H
#define SN_FRAME_ADAPT_INSERTION_H

#include "frame/sampling/sampling.h"

typedef struct sn_insertion {
    sn_arena arena; // holds this struct too
    int32_t users;  // who holds it: the body, and the fades that remember it
    int32_t slot;   // the name of its node in rows of vertices: stays while numbers of nodes change
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

// What a new node looks its surroundings up in, so that it costs no more than what it touches: the
// sample of each voxel, and the vertices by the boxes of the grid that they are in. Made once;
// keeps what it is given.
typedef struct sn_reach {
    const sn_shape *shape;
    const sn_frame_samples *samples;
    const double *points; // rest positions of the vertices whose weights follow
    int32_t point_count;
    int32_t *sample_of; // [voxel]
    bool *met;          // [sample]: scratch, all false
    int32_t boxes[3];
    int32_t *box_start, *box_point; // vertices of each box, ascending
} sn_reach;

sinew_status sn_reach_create(sn_arena *arena, const sn_shape *shape,
                             const sn_frame_samples *samples, const double *points,
                             int32_t point_count, sn_reach *reach);

// Finds what a node at the rest position `position` touches. Refuses a position outside the solid
// and a range of less than one cell. Cost: the cells of the box around the range, and the rigid
// parts that it meets.
sinew_status sn_insertion_create(const sn_reach *reach, sn_vec3 position, double range,
                                 sn_insertion **insertion);
void sn_insertion_hold(sn_insertion *insertion);
void sn_insertion_release(sn_insertion *insertion); // destroys it with its last user

// The index of a sample among those touched, or -1.
int32_t sn_insertion_find_sample(const sn_insertion *insertion, int32_t sample);

// The new node's weight at a voxel, 0 where it does not reach; and at a point, with its gradient.
double sn_insertion_at_voxel(const sn_insertion *insertion, int32_t voxel);
double sn_insertion_at_point(const sn_insertion *insertion, const sn_shape *shape, sn_vec3 p,
                             sn_vec3 *gradient);

// The lists of samples [0, count) of `list` with `insertion_count` insertions applied in order to
// the base; insertion k is node base_nodes + k.
typedef struct sn_sample_rows {
    int32_t *start; // count + 1
    int32_t *node;
    double *weight;
    double *gradient; // 3 each
} sn_sample_rows;

sinew_status sn_insertions_compute_rows(sn_arena *arena, const sn_frame_samples *base,
                                        int32_t base_nodes, const sn_insertion *const *insertions,
                                        int32_t insertion_count, const int32_t *list, int32_t count,
                                        sn_sample_rows *rows);

// Weights at a rest point with insertions.
void sn_insertions_weights_at(const sn_shape *shape, const sn_insertion *const *insertions,
                              int32_t count, sn_vec3 X, sn_shape_point *result);

// How the insertions of a body changed: `changed` came last, or left; `gone` is the number of its
// node then, else -1.
typedef struct sn_insertion_change {
    const sn_insertion *const *before, *const *after;
    int32_t before_count, after_count;
    const sn_insertion *changed;
    int32_t gone;
} sn_insertion_change;

// The number after a change of a node that stays.
static inline int32_t sn_insertion_renumber(const sn_insertion_change *change, int32_t node) {
    return change->gone >= 0 && node > change->gone ? node - 1 : node;
}

#endif
