// Merges equal points, for formats that repeat the corners of each triangle.
#ifndef SN_IO_MESH_WELD_H
#define SN_IO_MESH_WELD_H

#include "base/memory.h"

// Keeps the first of each set of equal points, in order, at the front of `points`; *kept is their
// number. indices[i] is the new number of point i. -0 becomes 0. Cost: linear, by hashing.
sinew_status sn_weld_points(sinew_context *context, double *points, int32_t count, int32_t *indices,
                            int32_t *kept);

#endif
