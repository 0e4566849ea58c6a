// Which rigid motions of an island's bodies supports and attachments leave free.
//
// A rigid motion of body b is a velocity t of its centre and a rotation w about it, six unknowns. A
// held unknown of a body and each component of an attachment's gap is one linear equation in them,
// whose coefficients are a wrench (force and torque about the centre) of size one. With G the sum
// of w w' over all equations, torques divided by the size of the body, the free motions are the
// null space of G. Small deformations and springs of any stiffness are enough: what holds a body
// only by its stress is not counted.
#ifndef SN_DYNAMICS_MOBILITY_H
#define SN_DYNAMICS_MOBILITY_H

#include "dynamics/island.h"

// SINEW_OK, or SINEW_INVALID_ARGUMENT with a message that names a body and how it can move. Needs
// the island's mask. Islands of more than 32 bodies are only checked for a support at all.
sinew_status sn_mobility_check(sn_island *island);

// The same for motions of frames that strain no sample and along which the loads do work: no state
// balances them. Needs island->external too. Islands without frames, of more than 600 unknowns or
// solved by products are not checked.
sinew_status sn_mobility_check_strain(sn_island *island);

#endif
