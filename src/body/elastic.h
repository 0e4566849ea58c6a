// The elastic body of elements: F at the samples, strain and stress by the material, forces and
// stiffness back to the nodes.
#ifndef SN_BODY_ELASTIC_H
#define SN_BODY_ELASTIC_H

#include "body/body.h"

// Fills in a body whose context, arena, name and mesh are set: model, pattern, rest state, mass.
// `def` has been checked.
sinew_status sn_elastic_build(sinew_body *body, const sinew_body_def *def);

#endif
