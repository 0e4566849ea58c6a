// Equal points become one: formats that repeat the corners of each triangle need it.
#ifndef SN_IO_MESH_WELD_H
#define SN_IO_MESH_WELD_H

#include "base/memory.h"

// Finds points that are equal in every bit (-0 counts as 0). indices[i] is the new number of point
// i; the first of each stays, in the order of appearance, moved to the front of `points`. *kept is
// their number. Cost: linear, by hashing.
sinew_status sn_weld_points(sinew_context *context, double *points, int32_t count, int32_t *indices,
                            int32_t *kept);

#endif
