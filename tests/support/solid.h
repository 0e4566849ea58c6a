// Small solids for tests of voxel grids and of everything built on them.
#ifndef SN_TESTS_SUPPORT_SOLID_H
#define SN_TESTS_SUPPORT_SOLID_H

#include "support/test.h"

#include "geom/voxel/voxel.h"

// A solid of the given size around the origin with cubic cells of edge h. The test fails if
// creation fails.
sinew_voxels *test_solid(sinew_context *context, sinew_solid solid, double x, double y, double z,
                         double h);

// Paints a box with a label.
void test_paint_box(sinew_voxels *voxels, sn_vec3 center, sn_vec3 size, int32_t label);

// A symmetry of the cube, number 0 to 47: coordinate k of the image is coordinate axis[k] of the
// original, reversed if flip[k].
typedef struct test_turn {
    int axis[3];
    bool flip[3];
} test_turn;

test_turn test_turn_number(int number);
sn_vec3 test_turn_point(test_turn turn, sn_vec3 p);

// The grid rotated about the origin and scaled, with its stiffness factors. `voxel_of`, if not
// NULL, receives for each voxel of the original the voxel of the image (sn_release(context,
// *voxel_of, count, sizeof(int32_t))).
sinew_voxels *test_turn_voxels(const sinew_voxels *voxels, test_turn turn, double scale,
                               int32_t **voxel_of);

#endif
