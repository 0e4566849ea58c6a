// What the models of a body share: the body as its scene has it, and the points to compare.
#ifndef SN_IO_VARIANT_VARIANT_H
#define SN_IO_VARIANT_VARIANT_H

#include "sinew/io/variant.h"

#include "io/public/scene.h"
#include "math/quat.h"

struct sinew_variants {
    sn_arena arena; // holds this struct too
    sinew_context *context;
    sn_scene scene; // the scene with this body alone
    sn_scene_body body;
    sinew_source source; // files that the scene references
    sn_mistakes mistakes;
    sn_scene_world *given; // the body as the scene has it: its mesh, what is held and loaded
    sn_quat rotation;      // of the body's own coordinates into the world
    sn_vec3 position;
    double *points; // rest positions in the body's own coordinates
    int32_t point_count;
};

// What differs from model to model.
typedef struct sn_variant_ops {
    sinew_status (*step)(void *self, double time); // to `time`; time 0: to the static equilibrium
    sinew_status (*read)(void *self, double *points);
    void (*destroy)(void *self);
} sn_variant_ops;

struct sinew_variant {
    sinew_variants *variants;
    const sn_variant_ops *ops;
    void *self;
    int32_t unknowns;
    int64_t steps; // taken
};

// Each fills in `ops`, `self` and `unknowns`; what was made before a failure is destroyed by the
// caller.
sinew_status sn_variant_create_elements(sinew_variants *variants, const sinew_variant_def *def,
                                        sinew_variant *variant);
sinew_status sn_variant_create_frames(sinew_variants *variants, const sinew_variant_def *def,
                                      sinew_variant *variant);
sinew_status sn_variant_create_positions(sinew_variants *variants, const sinew_variant_def *def,
                                         sinew_variant *variant);
sinew_status sn_variant_create_reduced(sinew_variants *variants, const sinew_variant_def *def,
                                       sinew_variant *variant);

// For models that run in the body's own coordinates: the scene's vectors there, and points back in
// the world.
sn_vec3 sn_variants_to_body(const sinew_variants *variants, const double vector[3]);
void sn_variants_to_world(const sinew_variants *variants, double *points);

// The points as a mesh without elements, for embeddings.
sinew_mesh sn_variants_point_mesh(const sinew_variants *variants);

// SINEW_UNSUPPORTED for loads other than forces, partly held nodes, and laws without Young's
// modulus and Poisson's ratio.
sinew_status sn_variants_check_plain(const sinew_variants *variants);

#endif
