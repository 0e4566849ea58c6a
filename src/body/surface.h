// The surface of a body (see sn_surface_ops): that of bodies of elements, and what all share.
#ifndef SN_BODY_SURFACE_H
#define SN_BODY_SURFACE_H

#include "sinew/surface.h"

#include "body/body.h"

// Gives a body of elements its surface: `mesh` embedded, or, if that is NULL, its own boundary.
sinew_status sn_element_surface_build(sinew_body *body, const sinew_mesh *mesh);

// The operations of such a surface.
void sn_element_surface_compute(const sinew_body *body, double *positions);
void sn_element_surface_add_forces(const sinew_body *body, const double *forces, double *rows);
sinew_status sn_element_surface_measure(sinew_body *body, double *velocities,
                                        sinew_element_state *states);

// Room for the positions and forces of all vertices, made once, and for forces that the user sets.
sinew_status sn_surface_push_work(sinew_body *body);
sinew_status sn_surface_push_force_room(sinew_body *body);

// Frees what the surface of a body holds.
void sn_surface_release(sinew_body *body);

// Part of it: the search tree (surface_query.c).
void sn_surface_tree_destroy(sn_surface_tree *tree);

// Refuses a ray that is not finite, has no direction, or has a negative reach.
sinew_status sn_check_ray(sinew_context *context, const double origin[3], const double direction[3],
                          double reach);

#endif
