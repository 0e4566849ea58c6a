// The elastic body of elements: F at the samples, strain and stress by the material, forces and
// stiffness back to the nodes.
#ifndef SN_BODY_ELASTIC_H
#define SN_BODY_ELASTIC_H

#include "body/body.h"

// Fills in a body whose context, arena, name and mesh are set: model, pattern, rest state, mass.
// `def` has been checked.
sinew_status sn_elastic_build(sinew_body *body, const sinew_body_def *def);

// Returns the samples of a body of elements, whose controls are its nodes; NULL for a body of any
// other model. Warped bodies have forces that do not follow from their samples: NULL too.
const struct sn_sample_groups *sn_elastic_groups(const sinew_body *body);

// force += that of four-node tets whose law is evaluated in axes that rotate with their vertices
// (warp.h): one rotation per node.
void sn_elastic_add_warped_force(sinew_body *body, const double *q, const sn_mat3 *rotations,
                                 double *force);

#endif
