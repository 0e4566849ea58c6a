// The mass of frame nodes by row sums: what node i alone would feel if it carried, as itself, its share w_i of the solid.
//
//   M_i = integral of rho w_i J' J,   J: the point as carried by node i alone
//
// Block diagonal, constant for point, affine and quadratic nodes; for rigid nodes kept in the rest frame and turned with the
// node. The sum over nodes moves with any translation as the whole mass does, and with any rotation of the rest shape exactly.
#ifndef SN_FRAME_FRAME_MASS_H
#define SN_FRAME_FRAME_MASS_H

#include "frame/nodes.h"
#include "frame/shape.h"
#include "linalg/bsr.h"

typedef struct sn_node_mass {
    // Integrals of rho w m_a m_b over pairs of the node's monomials.
    double moment[SN_NODE_MAX_CONTROLS][SN_NODE_MAX_CONTROLS];
    sn_mat3 inertia; // rigid: about the node, at rest
} sn_node_mass;

sinew_status sn_frame_mass_create(sn_arena *arena, const sn_shape *shape, const sn_nodes *nodes, sn_node_mass **mass);

// A += s M, lower triangle; y = M x; both for the nodes turned as in q.
void sn_frame_mass_add(const sn_nodes *nodes, const sn_node_mass *mass, const sn_bsr *pattern, double *A, double s,
                       const double *q);
void sn_frame_mass_multiply(const sn_nodes *nodes, const sn_node_mass *mass, double *y, const double *x, const double *q);

// force += M (0, g): the weight; and, of rigid nodes, what turning costs: the torque -w x (I w) and the force -m w x (w x c).
void sn_frame_mass_add_gravity(const sn_nodes *nodes, const sn_node_mass *mass, double *force, const double *g,
                               const double *q, const double *v);

#endif
