// Warped stiffness (Mueller, Dorsey, McMillan, Jagnow, Cutler 2002): the linear model, evaluated in
// axes that rotate with each vertex.
#ifndef SN_BODY_WARP_H
#define SN_BODY_WARP_H

#include "body/body.h"

// As sn_elastic_build, for the models SINEW_MODEL_WARPED and SINEW_MODEL_WARPED_EDGES.
sinew_status sn_warp_build(sinew_body *body, const sinew_body_def *def);

#endif
