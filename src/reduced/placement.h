// Where a body of elements has been placed, and its change into a reduced body.
#ifndef SN_REDUCED_PLACEMENT_H
#define SN_REDUCED_PLACEMENT_H

#include "reduced/reduction.h"

// The rigid motion x = R (X - center) + t from the rest shape to the present one.
typedef struct sn_reduced_placement {
    sn_mat3 R;
    sn_vec3 t, center; // center: of mass, at rest
} sn_reduced_placement;

// Finds it. Fails if the body is deformed, or rotated where that is not supported.
sinew_status sn_reduced_find_placement(const sinew_body *body, sn_reduced_placement *placement);

// Turns the body into a reduced one. On failure the body does not change. The caller must drop the
// world's islands.
sinew_status sn_reduced_apply(sinew_body *body, const sinew_reduction *reduction);

#endif
