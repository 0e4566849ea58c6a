// Points of a frame body by its blend: where they are, how they move, and what a force on them does
// to the nodes.
//
// The nodes are those of the last sn_blend_prepare.
#ifndef SN_FRAME_BLEND_BLEND_POINT_H
#define SN_FRAME_BLEND_BLEND_POINT_H

#include "frame/blend/blend.h"

// What a point is off where its nodes carry it, in the axes of one of them (of a point node: the
// world's), and how that changes along the rest position. Zero: nothing.
typedef struct sn_blend_offset {
    int32_t carrier;
    sn_vec3 offset; // [m]
    sn_mat3 slope;
} sn_blend_offset;

// A rest point and the nodes that carry it. Gradients, three numbers each, are needed for F only,
// and may be NULL else.
typedef struct sn_blend_point {
    sn_vec3 X;
    int32_t count;
    const int32_t *node;
    const double *weight;
    const double *gradient;
    sn_blend_offset off; // its carrier must be among the nodes for derivatives
} sn_blend_point;

// The axes of a node: its columns, or the world's.
sn_mat3 sn_blend_get_axes(const sn_nodes *nodes, const sn_blend *blend, int32_t node);

sn_vec3 sn_blend_get_position(const sn_nodes *nodes, const sn_blend *blend,
                              const sn_blend_point *point);

// Position and deformation gradient, and, if v is not NULL, their rates while the rows change at
// rates v.
typedef struct sn_frame_motion {
    sn_vec3 x, rate;
    sn_mat3 F, F_rate;
} sn_frame_motion;

sn_frame_motion sn_blend_get_motion(const sn_nodes *nodes, const sn_blend *blend,
                                    const sn_blend_point *point, const double *v);

// rows += J' f
void sn_blend_add_force(const sn_nodes *nodes, const sn_blend *blend, const sn_blend_point *point,
                        sn_vec3 f, double *rows);

// dx = sum_k J_k d(row k) over the rows of the point's nodes, node after node; `row` receives them
// if it is not NULL. Returns how many they are: those of all its nodes.
int32_t sn_blend_get_jacobian(const sn_nodes *nodes, const sn_blend *blend,
                              const sn_blend_point *point, int32_t *row, sn_mat3 *J);

// blocks += f . d2x in the same rows, as they turn by exponentials; row by row.
void sn_blend_add_curvature(const sn_nodes *nodes, const sn_blend *blend,
                            const sn_blend_point *point, sn_vec3 f, sn_mat3 *blocks);

#endif
