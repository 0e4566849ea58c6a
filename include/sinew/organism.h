// Living things that are made rather than scanned, with the curves that guide their grain: to try
// anisotropic materials on.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_ORGANISM_H
#define SINEW_ORGANISM_H

#include "sinew/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What to make; z points up.
typedef enum sinew_organism_kind {
    SINEW_ORGANISM_FISH,  ///< 1.1 m along x, head at -x: a body with fins, one label; frames along
                          ///< the spine and into the fins.
    SINEW_ORGANISM_HEART, ///< 0.11 m: a shell with two chambers; fibres wind about z from the apex
                          ///< (below) to the base.
    SINEW_ORGANISM_PLANT, ///< 0.6 m: five leaves (label 2) on stems (label 1) from one root; frames
                          ///< along stems and midribs.
} sinew_organism_kind;

/// Organisms there are. [count]
SINEW_API int32_t sinew_organism_count(void);
/// The name of an organism, e.g. "fish". Static text.
SINEW_API const char *sinew_organism_name(sinew_organism_kind kind);

/// Opaque.
typedef struct sinew_organism sinew_organism;

/// Makes an organism of about `tet_count` tets. [count] At least 500, a plant of 3000: with fewer
/// it would fall apart; 0: its curves only.
SINEW_API sinew_status sinew_organism_create(sinew_context *context, sinew_organism_kind kind,
                                             int32_t tet_count, sinew_organism **organism);
/// NULL is allowed.
SINEW_API void sinew_organism_destroy(sinew_organism *organism);

/// Its tets with labels; NULL if left out. Lives as long as the organism.
SINEW_API const sinew_mesh *sinew_organism_get_mesh(const sinew_organism *organism);
/// Its limbs as closed smooth surfaces, which overlap, and chambers, which face inwards: to be
/// embedded in the tets (sinew_embedding_create) for pictures without their edges. Lives as long as
/// the organism.
SINEW_API const sinew_mesh *sinew_organism_get_skin(const sinew_organism *organism);
/// The curves of its grain; they live as long as the organism.
SINEW_API const sinew_curve_def *sinew_organism_get_curves(const sinew_organism *organism,
                                                           int32_t *count);
/// What its curves mean: frames, or fibres.
SINEW_API sinew_field_kind sinew_organism_get_field_kind(const sinew_organism *organism);

#ifdef __cplusplus
}
#endif

#endif
