// Loads on the surface: traction with a fixed direction on rest areas, pressure that follows the
// deformed surface.
#ifndef SN_BODY_LOAD_H
#define SN_BODY_LOAD_H

#include "body/body.h"

// force += J' f, where f are the forces on the vertices of the surface (those set by the user and
// the loads on triangles at their scales) and J = d(vertices)/d(rows).
void sn_loads_add_surface_forces(sinew_body *body, double *force);

// force += every load on faces of elements at its scale.
void sn_loads_add_face_forces(sinew_body *body, double *force);

// Whether any force depends on the configuration: pressure, and all forces on a surface or on
// points that rotate with frames.
bool sn_loads_follow(const sinew_body *body);

// The scale of load number `index`, which must exist.
double sn_load_get_scale(const sinew_body *body, int32_t index);
void sn_load_set_scale(sinew_body *body, int32_t index, double scale);

#endif
