// Points created by the user (sinew_point): each body keeps a list of them, with the force that
// acts at each.
#ifndef SN_BODY_POINT_H
#define SN_BODY_POINT_H

#include "sinew/point.h"

#include "body/body.h"

struct sinew_point {
    sinew_body *body;
    sinew_point *next; // of the body's list, newest first
    sn_arena arena;    // owns the lists of `point`
    sn_point point;
    sn_vec3 rest;
    sn_vec3 force;     // [N]
    uint64_t revision; // of the body when `point` was made
};

// rows += J' f for every point with a force, at the present configuration.
void sn_points_add_forces(sinew_body *body, double *rows);

// Whether a force acts at a point that rotates with its body.
bool sn_points_follow(const sinew_body *body);

// Builds the body's points again after its structure changed.
sinew_status sn_points_refresh(sinew_body *body);

// Destroys the points of a body.
void sn_points_release(sinew_body *body);

#endif
