// Dual quaternion blending of rigid nodes at one point: where it is, how it is deformed, how it
// follows the nodes.
//
// With the dual quaternions a_i of the nodes' motions since rest, b = sum w_i a_i and x = R(b) X +
// t(b) (Gilles et al. 2011, 2; after Kavan et al. 2008). Written with the points x_i = R_i (X -
// X_i) + t_i that the nodes would carry alone and the quaternions p_i = a_i0 b0^-1, so that no
// number depends on where the world's origin is:
//
//   sum w_i p_i = 1,   x = sum w_i vec(x_i p_i),   y_i = x_i - x,   r_i = y_i p_i / 2
//   s = sum w_i r_i (a scalar),   q_i = r_i - s p_i,   sum w_i q_i = 0
//   F e_k = R e_k + 2 sum dw_i/dX_k vec(q_i)
//
// A twist of node i, angular velocity w and velocity u of the node's own copy of the point x, gives
// dp = w p / 2 and dq = (w q + u p) / 2, and moves the point by w_i vec(2 dq).
//
// Weights need not sum to one and may be negative. Where b0 vanishes (two equal weights of nodes
// turned by 360 degrees against each other) there is no motion between them; `strength` tells how
// near that is.
#ifndef SN_FRAME_BLEND_DUALQUAT_H
#define SN_FRAME_BLEND_DUALQUAT_H

#include "frame/blend/nodes.h"

// Below this share of the weights' sum a blend is taken for vanished: two nodes turned by 357.7
// degrees against each other.
static const double sn_dual_least_strength = 0.02;

// What a point asks for: the table of nodes (sn_nodes_compute_table), entries of nodes and weights;
// gradients, three numbers each, may be NULL: F is then R.
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

// |b0| / sum |w|; 0 also where two opposite nodes carry the point nearly alone, because between
// them, where their weights are equal, it is 0.
double sn_dual_strength(const sn_dual_input *input);

// dx = J_w w + J_t t for the rows (w, t) of the k-th entry's node.
void sn_dual_jacobian(sn_mat3 *J_w, sn_mat3 *J_t, const sn_dual_point *point,
                      const sn_dual_input *input, int32_t k);

// blocks += the second derivatives f . d2x as nodes turn by exponentials: 2 count times 2 count of
// them, row by row, those of entry k at 2 k (w) and 2 k + 1 (t). See dualquat_curvature.c.
void sn_dual_add_curvature(sn_mat3 *blocks, const sn_dual_point *point, const sn_dual_input *input,
                           sn_vec3 f);

// What is needed of the k-th entry's node besides: p_k, y_k and t_k - x.
void sn_dual_get_entry(sn_quat *p, sn_vec3 *y, sn_vec3 *t, const sn_dual_point *point,
                       const sn_dual_input *input, int32_t k);

// Rates of x and F while the nodes' rows change at rates v: `row` gives the first row of a node.
void sn_dual_rates(sn_vec3 *rate, sn_mat3 *F_rate, const sn_dual_point *point,
                   const sn_dual_input *input, const sn_nodes *nodes, const double *v);

#endif
