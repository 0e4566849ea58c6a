// Islands of bodies under position dynamics: bodies that attachments join or that may touch are
// projected together.
//
// A round projects the constraints of each body, then one row for each attachment and touch. With
// p = fixed + sum_i w_i z_i over the nodes of a row (the difference of both ends, or features),
// m_i their masses and W = sum_i w_i^2 / m_i, a row that carries the impulse l over the step moves
// the nodes by w_i l / m_i:
//
//   attachment  p + l / k h^2 = 0, k its stiffness, |l| <= largest force times h^2
//   touch       c = offset + n . p >= 0,  l_n >= 0,  l_n c = 0
//   friction    slip of p = 0 while |l_t| < mu l_n; beyond that the correction is clamped
//
// (Macklin et al. 2016; accumulated multipliers are clamped, not their increments.) What contact
// finds, reports and commits is the same as for other islands (contact.h): the surfaces follow the
// projected positions as far as separating planes allow, velocities come from the projected ones.
#ifndef SN_DYNAMICS_POSITION_H
#define SN_DYNAMICS_POSITION_H

#include "dynamics/island.h"

// Builds the island of these bodies; the list is copied.
sinew_status sn_position_create(sinew_world *world, sinew_body **bodies, int32_t count,
                                sn_island **island);
// Frees what is outside the island's arena.
void sn_position_release(sn_island *island);

// Finds the state after the world's step.
sinew_status sn_position_solve(sn_island *island);
// Takes it over.
void sn_position_accept(sn_island *island);

#endif
