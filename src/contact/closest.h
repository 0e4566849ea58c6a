// Closest points of a point and a triangle, and of two segments.
#ifndef SN_CONTACT_CLOSEST_H
#define SN_CONTACT_CLOSEST_H

#include "contact/pair.h"

// Fills b, n and distance of a pair from the positions of its four vertices. Coefficients of
// corners that the closest point does not depend on are exactly 0. Never fails: features without
// extent are points or segments; positions that are not finite give n = 0 and a distance of 0 or
// NaN.
void sn_contact_closest(sn_contact_pair *pair, const sn_vec3 p[4]);

#endif
