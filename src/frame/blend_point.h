// Points of a frame body by its blend: where they are, how they move, and what a force on them does to the nodes.
//
// The nodes are those of the last sn_blend_prepare.
#ifndef SN_FRAME_BLEND_POINT_H
#define SN_FRAME_BLEND_POINT_H

#include "frame/blend.h"

// A rest point and the nodes that carry it. Gradients, three numbers each, are needed for F only, and may be NULL else.
typedef struct sn_blend_point {
    sn_vec3 X;
    int32_t count;
    const int32_t *node;
    const double *weight;
    const double *gradient;
} sn_blend_point;

sn_vec3 sn_blend_get_position(const sn_nodes *nodes, const sn_blend *blend, const sn_blend_point *point);

// Position and deformation gradient, and, if v is not NULL, their rates while the rows change at rates v.
typedef struct sn_frame_motion {
    sn_vec3 x, rate;
    sn_mat3 F, F_rate;
} sn_frame_motion;

sn_frame_motion sn_blend_get_motion(const sn_nodes *nodes, const sn_blend *blend, const sn_blend_point *point,
                                    const double *v);

// rows += J' f
void sn_blend_add_force(const sn_nodes *nodes, const sn_blend *blend, const sn_blend_point *point, sn_vec3 f, double *rows);

// dx = sum_k J_k d(row k) over the rows of the point's nodes, node after node; `row` receives them if it is not NULL. Returns
// how many they are: those of all its nodes.
int32_t sn_blend_get_jacobian(const sn_nodes *nodes, const sn_blend *blend, const sn_blend_point *point, int32_t *row,
                              sn_mat3 *J);

// blocks += f . d2x in the same rows, as they turn by exponentials; row by row.
void sn_blend_add_curvature(const sn_nodes *nodes, const sn_blend *blend, const sn_blend_point *point, sn_vec3 f,
                            sn_mat3 *blocks);

#endif
