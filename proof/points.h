// The position of a rest point of a body, and a force there, in one call.
#ifndef SN_PROOF_POINTS_H
#define SN_PROOF_POINTS_H

#include "sinew/point.h"

static inline sinew_status proof_get_position(sinew_body *body, const double rest[3],
                                              double position[3]) {
    sinew_point *point = NULL;
    sinew_status status = sinew_point_create(body, rest, &point);
    if (status == SINEW_OK) {
        status = sinew_point_get_position(point, position);
    }
    sinew_point_destroy(point);
    return status;
}

// It acts as long as the body lives.
static inline sinew_status proof_add_force(sinew_body *body, const double rest[3],
                                           const double force[3]) {
    sinew_point *point = NULL;
    sinew_status status = sinew_point_create(body, rest, &point);
    return status == SINEW_OK ? sinew_point_set_force(point, force) : status;
}

#endif
