// Points that the host holds: a list of each body, and the forces that act at them.
#ifndef SN_BODY_POINT_H
#define SN_BODY_POINT_H

#include "sinew/point.h"

#include "body/body.h"

struct sinew_point {
    sinew_body *body;
    sinew_point *next; // the body's points, the newest first
    sn_arena arena;    // the lists of `point`
    sn_point point;
    sn_vec3 rest;
    sn_vec3 force;     // [N]
    uint64_t revision; // of the body, when `point` was made
};

// rows += J' f of all points with a force, where they are now.
void sn_points_add_forces(sinew_body *body, double *rows);

// Whether a force acts at a point that rotates with its body.
bool sn_points_follow(const sinew_body *body);

// Makes the body's points again after its structure changed.
sinew_status sn_points_refresh(sinew_body *body);

// Destroys the points of a body.
void sn_points_release(sinew_body *body);

#endif
