// Dual quaternion blending of rigid nodes at one point: its position, its deformation gradient, and
// its derivatives with respect to the nodes.
//
// With the dual quaternions a_i of the nodes' motions since rest, b = sum w_i a_i and
// x = R(b) X + t(b) (Gilles et al. 2011, 2; after Kavan et al. 2008). The formulas use the points
// x_i = R_i (X - X_i) + t_i that the nodes would carry alone, and the quaternions
// p_i = a_i0 b0^-1, so that no number depends on the world's origin:
//
//   sum w_i p_i = 1,   x = sum w_i vec(x_i p_i),   y_i = x_i - x,   r_i = y_i p_i / 2
//   s = sum w_i r_i (a scalar),   q_i = r_i - s p_i,   sum w_i q_i = 0
//   F e_k = R e_k + 2 sum dw_i/dX_k vec(q_i)
//
// A twist of node i, with angular velocity w and velocity u of the node's own copy of the point x,
// gives dp = w p / 2 and dq = (w q + u p) / 2, and moves the point by w_i vec(2 dq).
//
// Weights need not sum to one and may be negative. Where b0 vanishes (equal weights of two nodes
// rotated by 360 degrees relative to each other) the blend is undefined; `strength` says how close
// to that a point is.
#ifndef SN_FRAME_BLEND_DUALQUAT_H
#define SN_FRAME_BLEND_DUALQUAT_H

#include "frame/blend/nodes.h"

// A blend whose strength is below this counts as vanished: two nodes rotated by 357.7 degrees
// relative to each other.
static const double sn_dual_least_strength = 0.02;

// The input of a point: the table of nodes (sn_nodes_compute_table), and entries of nodes and
// weights. Gradients, three numbers each, may be NULL: F is then R.
typedef struct sn_dual_input {
    const double *table;
    sn_vec3 X;
    int32_t count;
    const int32_t *node;
    const double *weight;
    const double *gradient;
} sn_dual_input;

typedef struct sn_dual_point {
    sn_vec3 x;
    sn_quat turn; // b0 / |b0|, with the sign that goes on continuously
    sn_mat3 F;
    double s;
    double inverse; // 1 / |b0|
} sn_dual_point;

void sn_dual_evaluate(sn_dual_point *point, const sn_dual_input *input);

// Returns |b0| / sum |w|. Also returns 0 where two opposite nodes carry the point almost alone,
// because the blend vanishes between them, where their weights are equal.
double sn_dual_strength(const sn_dual_input *input);

// Computes dx = J_w w + J_t t for the rows (w, t) of the k-th entry's node.
void sn_dual_jacobian(sn_mat3 *J_w, sn_mat3 *J_t, const sn_dual_point *point,
                      const sn_dual_input *input, int32_t k);

// Adds the second derivatives f . d2x to the blocks; rotations are updated by exponentials. There
// are 2 count times 2 count blocks, row by row, those of entry k at 2 k (w) and 2 k + 1 (t). See
// dualquat_curvature.c.
void sn_dual_add_curvature(sn_mat3 *blocks, const sn_dual_point *point, const sn_dual_input *input,
                           sn_vec3 f);

// Returns further values of the k-th entry's node: p_k, y_k and t_k - x.
void sn_dual_get_entry(sn_quat *p, sn_vec3 *y, sn_vec3 *t, const sn_dual_point *point,
                       const sn_dual_input *input, int32_t k);

// Computes the rates of x and F when the nodes' rows change at rates v; `row` gives the first row
// of a node.
void sn_dual_rates(sn_vec3 *rate, sn_mat3 *F_rate, const sn_dual_point *point,
                   const sn_dual_input *input, const sn_nodes *nodes, const double *v);

#endif
