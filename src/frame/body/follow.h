// Points of a frame body; see sn_point_ops.
#ifndef SN_FRAME_BODY_FOLLOW_H
#define SN_FRAME_BODY_FOLLOW_H

#include "body/body.h"
#include "frame/weights/weights.h"

sinew_status sn_frame_point_create(sn_arena *arena, sinew_body *body, sn_vec3 X, bool deformed,
                                   sn_point *point);
// Makes a point of the rest position X with known weights, in the lists of the arena.
sinew_status sn_frame_point_push(sn_arena *arena, const sinew_body *body, sn_vec3 X,
                                 const sn_shape_point *at, double distance, sn_point *point);
void sn_frame_points_prepare(const sinew_body *body, const double *q);
void sn_frame_point_move(const sinew_body *body, const double *q, sn_point *point);
void sn_frame_point_add_force(const sinew_body *body, const sn_point *point, sn_vec3 f,
                              double *rows);
void sn_frame_point_add_curvature(const sinew_body *body, const sn_point *point, sn_vec3 f,
                                  sn_mat3 *blocks);
sinew_status sn_frame_point_get_state(sinew_body *body, const sn_point *point,
                                      sinew_element_state *state);

#endif
