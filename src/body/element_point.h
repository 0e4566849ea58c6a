// Points of bodies of elements (elastic, warped, position dynamics): combinations of the nodes of
// one element by its shape functions.
#ifndef SN_BODY_ELEMENT_POINT_H
#define SN_BODY_ELEMENT_POINT_H

#include "body/body.h"

// See sn_point_ops. Cost: builds a search tree of the rest mesh once per body; with `deformed`, a
// tree of the present mesh in every call.
sinew_status sn_element_point_create(sn_arena *arena, sinew_body *body, sn_vec3 X, bool deformed,
                                     sn_point *point);
void sn_element_point_move(const sinew_body *body, const double *q, sn_point *point);

void sn_element_point_add_force(const sinew_body *body, const sn_point *point, sn_vec3 f,
                                double *rows);

// Makes the point that coincides with a node.
sinew_status sn_node_point_create(sn_arena *arena, const sinew_body *body, int32_t node,
                                  sn_point *point);

// The deformation gradient at a point, for elements in which it is not constant.
sn_mat3 sn_element_point_F(const sinew_body *body, const sn_point *point);

#endif
