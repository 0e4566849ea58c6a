// Shape functions for tests of weights and of everything built on them.
#ifndef SN_TESTS_SUPPORT_SHAPE_H
#define SN_TESTS_SUPPORT_SHAPE_H

#include "support/solid.h"

#include "frame/weights/weights.h"

// The test fails if creation fails.
sn_shape *test_shape(sinew_context *context, const sinew_voxels *voxels,
                     const sinew_tissue *tissues, int32_t tissue_count, const double *nodes,
                     int32_t count, const sinew_weights_def *def);

// The weight of a node in a voxel, and at a point between voxels.
double test_table_weight(const sn_shape *shape, int32_t voxel, int32_t node);
double test_weight_at(const sn_shape *shape, sn_vec3 p, int32_t node);

// The same weights, bit for bit, with 1, 2 and 4 threads.
void test_shape_threads(const sinew_weights_def *def);

// Every allocation fails once: creation reports it and leaks nothing.
void test_shape_shortage(const sinew_weights_def *def);

#endif
