// A body under position dynamics as a body of a world: it is stepped on its own, and everything
// else that a world does with bodies (snapshots, probes, measures, supports, loads) works as with
// other bodies.
#ifndef SN_PBD_PBD_BODY_H
#define SN_PBD_PBD_BODY_H

#include "sinew/pbd.h"

#include "body/body.h"

// Completes a body whose context, arena, world, name, mesh and rows are set; allocates its state
// without placing it. `rotation`: of the placement, a quaternion (x, y, z, w).
sinew_status sn_pbd_body_build(sinew_body *body, const sinew_pbd_def *def,
                               const double rotation[4]);

// The rigid core of each tet, or -1; NULL if the body has none, or is of another kind.
const int32_t *sn_pbd_body_get_cores(const sinew_body *body);

#endif
