// Generated living things with the curves that guide their grain, for examples of anisotropic
// materials.
#ifndef SN_ORGANISM_H
#define SN_ORGANISM_H

#include "sinew/field.h"

// What to make. The z axis points up.
typedef enum sn_organism_kind {
    SN_ORGANISM_FISH,  // 1.1 m along x, head at -x: a body with fins, one label; frames along
                       // the spine and into the fins.
    SN_ORGANISM_HEART, // 0.11 m: a shell with two chambers; fibres wind about z from the apex
                       // (below) to the base.
    SN_ORGANISM_PLANT, // 0.6 m: five leaves (label 2) on stems (label 1) from one root; frames
                       // along stems and midribs.
} sn_organism_kind;

// The number of organisms. [count]
int32_t sn_organism_count(void);
// The name of an organism, e.g. "fish". Static text.
const char *sn_organism_name(sn_organism_kind kind);

// Opaque.
typedef struct sn_organism sn_organism;

// Makes an organism of about `tet_count` tets. [count] At least 500 (3000 for a plant), because it
// would not be connected with fewer; 0: its curves only.
sinew_status sn_organism_create(sinew_context *context, sn_organism_kind kind, int32_t tet_count,
                                sn_organism **organism);
// NULL is allowed.
void sn_organism_destroy(sn_organism *organism);

// Its tets with labels; NULL if omitted. Exists as long as the organism.
const sinew_mesh *sn_organism_get_mesh(const sn_organism *organism);
// Its limbs as closed smooth surfaces, which overlap, and chambers, which face inwards. To be
// embedded in the tets (sinew_embedding_create) for smooth pictures. Exists as long as the
// organism.
const sinew_mesh *sn_organism_get_skin(const sn_organism *organism);
// The curves of its grain; they exist as long as the organism.
const sinew_curve_def *sn_organism_get_curves(const sn_organism *organism, int32_t *count);
// The meaning of its curves: frames or fibres.
sinew_field_kind sn_organism_get_field_kind(const sn_organism *organism);

#endif
