// Rigid bodies: one rigid frame that carries the whole surface, without elasticity.
#ifndef SN_FRAME_BODY_RIGID_H
#define SN_FRAME_BODY_RIGID_H

#include "sinew/rigid_body.h"

#include "body/body.h"

// Those operations that differ from the ones of frame bodies; the table is in frame_body.c.
extern const sn_body_ops sn_rigid_body_ops;
void sn_rigid_evaluate(sinew_body *body, sn_evaluation *evaluation);
void sn_rigid_measure(sinew_body *body, double *smallest_J, double *largest_J, double *volume);
sinew_status sn_rigid_set_material(sinew_body *body, int32_t index,
                                   const sinew_material_def *material);
sinew_status sn_rigid_point_create(sn_arena *arena, sinew_body *body, sn_vec3 X, bool deformed,
                                   sn_point *point);
sinew_status sn_rigid_point_get_state(sinew_body *body, const sn_point *point,
                                      sinew_element_state *state);
sinew_status sn_rigid_surface_measure(sinew_body *body, double *velocities,
                                      sinew_element_state *states);

#endif
