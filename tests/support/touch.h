// What the tests of contact share: worlds, snapshots, and intersections of the surfaces of bodies
// as they are now, by the exact test of crossings.h.
#ifndef SN_TESTS_SUPPORT_TOUCH_H
#define SN_TESTS_SUPPORT_TOUCH_H

#include "sinew/sinew.h"

// The number of pairs of triangles that intersect, of different bodies or of one.
int64_t test_count_body_crossings(sinew_body *const *bodies, int32_t count);

// A world with contact, and gravity along z [m/s^2].
sinew_world *test_touch_world(sinew_context *context, const sinew_contact_def *contact,
                              double gravity);

// Takes a snapshot of a world, restores it in `copy`, another world with the same bodies, and steps
// both: their states must stay the same bits.
void test_touch_snapshot(sinew_context *context, sinew_world *world, sinew_world *copy,
                         int32_t steps);

#endif
