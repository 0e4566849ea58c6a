// The rescue of a step that failed: the same time in smaller parts by implicit Euler, each solved
// by Newton's method with a line search and a projected tangent.
//
// Prescribed motion is spread evenly over the parts. Every part must converge and pass the same
// checks as a step; otherwise there are twice as many, up to SN_RESCUE_PARTS. The island's bodies
// are left as they were: what the rescue found waits in the island until the world accepts it.
#ifndef SN_DYNAMICS_RESCUE_H
#define SN_DYNAMICS_RESCUE_H

#include "dynamics/island.h"

enum { SN_RESCUE_PARTS = 16 };

// Tries to rescue the step; island->rescued says whether it did. Iterations and times are added to
// the report. Allocates when an island is rescued for the first time.
sinew_status sn_rescue_try(sn_island *island, sinew_step_report *report);

// Moves the bodies to the end of the rescued step.
void sn_rescue_accept(sn_island *island);

#endif
