// Intersections of the surfaces of bodies as they are now, by the exact test of crossings.h.
#ifndef SN_TESTS_SUPPORT_TOUCH_H
#define SN_TESTS_SUPPORT_TOUCH_H

#include "sinew/sinew.h"

// The number of pairs of triangles that intersect, of different bodies or of one.
int64_t test_count_body_crossings(sinew_body *const *bodies, int32_t count);

#endif
