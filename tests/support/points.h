// Single readings of a body at a rest point, and a force there, by points (sinew/point.h).
#ifndef SN_TESTS_SUPPORT_POINTS_H
#define SN_TESTS_SUPPORT_POINTS_H

#include "sinew/point.h"

#include <stdint.h>

// The position of a rest point now. [m]
static inline sinew_status test_get_position(const sinew_body *body, const double rest[3],
                                             double position[3]) {
    sinew_point *point = NULL;
    sinew_status status = sinew_point_create((sinew_body *)(uintptr_t)body, rest, &point);
    if (status == SINEW_OK) {
        status = sinew_point_get_position(point, position);
    }
    sinew_point_destroy(point);
    return status;
}

// Its velocity, and what the material feels there; either may be NULL.
static inline sinew_status test_get_state(const sinew_body *body, const double rest[3],
                                          double velocity[3], sinew_element_state *state) {
    sinew_point *point = NULL;
    sinew_status status = sinew_point_create((sinew_body *)(uintptr_t)body, rest, &point);
    if (status == SINEW_OK && velocity) {
        status = sinew_point_get_velocity(point, velocity);
    }
    if (status == SINEW_OK && state) {
        status = sinew_point_get_state(point, state);
    }
    sinew_point_destroy(point);
    return status;
}

// A force that acts at a rest point as long as the body lives. [N]
static inline sinew_status test_add_force(sinew_body *body, const double rest[3],
                                          const double force[3]) {
    sinew_point *point = NULL;
    sinew_status status = sinew_point_create(body, rest, &point);
    return status == SINEW_OK ? sinew_point_set_force(point, force) : status;
}

#endif
