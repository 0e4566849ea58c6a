// Loads on the surface: traction with a fixed direction on rest areas, pressure that follows the
// deformed surface.
#ifndef SN_BODY_LOAD_H
#define SN_BODY_LOAD_H

#include "body/body.h"

// force += every load of the body at its scale, with pressure taken at the present positions.
void sn_loads_add_forces(sinew_body *body, double *force);

// Whether some load follows the surface.
bool sn_loads_follow(const sinew_body *body);

// The scale of load number `index`, which must exist.
double sn_load_get_scale(const sinew_body *body, int32_t index);
void sn_load_set_scale(sinew_body *body, int32_t index, double scale);

#endif
