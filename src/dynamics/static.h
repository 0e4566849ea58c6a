// What static solves with and without contact share.
#ifndef SN_DYNAMICS_STATIC_H
#define SN_DYNAMICS_STATIC_H

#include "dynamics/integrate.h"

// The world's tolerances with those of a static solve.
sn_newton_def sn_static_newton_def(const sinew_world_def *world, const sinew_static_def *def);

// SINEW_OK, or SINEW_INVALID_ARGUMENT with a message about a body that supports and attachments
// leave free. Needs the island's mask.
sinew_status sn_static_check_held(sn_island *island);

// Moves the bodies to the equilibrium that was found, at rest. Forces are balanced at island->xi,
// and island->inertia is what else balances them.
void sn_static_accept(sn_island *island);

// Whether a load changes with the shape of its body.
bool sn_static_has_followers(const sn_island *island);

// Whether a body was led back from an inverted state; from now on its materials act.
bool sn_static_end_recovery(const sn_island *island);

#endif
