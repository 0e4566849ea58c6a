// The surface of a body (see sn_surface_ops): the operations for bodies of elements, and helpers
// shared by all bodies.
#ifndef SN_BODY_SURFACE_H
#define SN_BODY_SURFACE_H

#include "sinew/surface.h"

#include "body/body.h"

// Makes the surface of a body of elements: `mesh` embedded in the elements or, if `mesh` is NULL,
// the boundary of the elements.
sinew_status sn_element_surface_build(sinew_body *body, const sinew_mesh *mesh);

// The operations of such a surface.
void sn_element_surface_compute(const sinew_body *body, const double *q, double *positions);
int32_t sn_element_surface_get_jacobian(const sinew_body *body, int32_t vertex, int32_t *row,
                                        sn_mat3 *J);
void sn_element_surface_add_forces(const sinew_body *body, const double *forces, double *rows);
sinew_status sn_element_surface_measure(sinew_body *body, double *velocities,
                                        sinew_element_state *states);

// Allocate surface_work and surface_force_room on first use.
sinew_status sn_surface_push_work(sinew_body *body);
sinew_status sn_surface_push_force_room(sinew_body *body);

// Frees the surface of a body and everything derived from it.
void sn_surface_release(sinew_body *body);

// Frees the search tree of a surface (surface_query.c).
void sn_surface_tree_destroy(sn_surface_tree *tree);

// Fails for a ray that is not finite, has a zero direction or a negative reach.
sinew_status sn_check_ray(sinew_context *context, const double origin[3], const double direction[3],
                          double reach);

#endif
