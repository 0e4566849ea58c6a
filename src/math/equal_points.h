// Finds equal points in a list: surfaces whose triangles repeat their corners need it.
#ifndef SN_MATH_EQUAL_POINTS_H
#define SN_MATH_EQUAL_POINTS_H

#include "base/memory.h"

// first[i] is the first of the points that are equal to point i in all three coordinates (-0 equals
// 0), i itself if there is none before it. Coordinates are finite. Cost: linear, by hashing.
sinew_status sn_find_equal_points(sinew_context *context, const double *points, int32_t count,
                                  int32_t *first);

#endif
