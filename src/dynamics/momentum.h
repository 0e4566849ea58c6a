// Momentum of an island that nothing holds: what the linear solve of a step lost of it is given
// back by a rigid motion of all rows.
#ifndef SN_DYNAMICS_MOMENTUM_H
#define SN_DYNAMICS_MOMENTUM_H

#include "dynamics/island.h"

// Corrects island->direction, the solution of a step's linear system, where the whole island can
// translate freely. `direct`: the system was solved to rounding. `linearised`: the direction ends
// the step.
void sn_momentum_restore(sn_island *island, sn_scheme scheme, bool direct, bool linearised);

#endif
