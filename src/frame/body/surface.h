// The surface of a frame body; see sn_surface_ops.
#ifndef SN_FRAME_BODY_SURFACE_H
#define SN_FRAME_BODY_SURFACE_H

#include "body/body.h"

void sn_frame_surface_compute(const sinew_body *body, const double *q, double *positions);
int32_t sn_frame_surface_get_jacobian(const sinew_body *body, int32_t vertex, int32_t *row,
                                      sn_mat3 *J);
void sn_frame_surface_add_forces(const sinew_body *body, const double *forces, double *rows);
sinew_status sn_frame_surface_measure(sinew_body *body, double *velocities,
                                      sinew_element_state *states);

// Frees the weights that were looked up for the vertices.
void sn_frame_surface_release(sinew_body *body);

#endif
