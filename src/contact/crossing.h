// Whether two triangles intersect, in floating point: what rounding cannot decide counts as an
// intersection.
#ifndef SN_CONTACT_CROSSING_H
#define SN_CONTACT_CROSSING_H

#include "math/vec.h"

#include <stdbool.h>

// Vertices a and b of two triangles at x; common vertices do not count, nor do coplanar triangles
// if `same_part`.
bool sn_contact_triangles_cross(const double *x, const int32_t a[3], const int32_t b[3],
                                bool same_part);

#endif
