// Points of a frame body that attachments follow; see sn_body_ops.
#ifndef SN_FRAME_BODY_FOLLOW_H
#define SN_FRAME_BODY_FOLLOW_H

#include "body/body.h"

bool sn_frame_find_rest_point(const sinew_body *body, sn_vec3 x, sn_vec3 *X);
sinew_status sn_frame_create_point(sn_arena *arena, const sinew_body *body, sn_vec3 X,
                                   sn_moving_point *point);
void sn_frame_prepare_points(const sinew_body *body, const double *q);
void sn_frame_move_point(const sinew_body *body, sn_moving_point *point);
void sn_frame_add_curvature(const sinew_body *body, const sn_moving_point *point, sn_vec3 f,
                            sn_mat3 *blocks);

#endif
