// Merges equal points, keeping the first of each set; see math/equal_points.h for the search.
#include "io/mesh/weld.h"

#include "math/equal_points.h"

sinew_status sn_weld_points(sinew_context *context, double *points, int32_t count, int32_t *indices,
                            int32_t *kept) {
    SN_TRY(sn_find_equal_points(context, points, count, indices));
    int32_t used = 0;
    for (int32_t i = 0; i < count; i++) {
        if (indices[i] != i) {
            indices[i] = indices[indices[i]];
            continue;
        }

        // used <= i: no point is overwritten before it has been read.
        for (int k = 0; k < 3; k++) {
            points[3 * (size_t)used + (size_t)k] = points[3 * (size_t)i + (size_t)k] + 0.0;
        }
        indices[i] = used++;
    }

    *kept = used;
    return SINEW_OK;
}
