// One body of a scene alone, with its supports and loads, simulated by different models: to choose
// the cheapest one that is accurate enough. `sinew ladder` compares them all.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_VARIANT_H
#define SINEW_IO_VARIANT_H

#include "sinew/frame_body.h"
#include "sinew/io/scene.h"
#include "sinew/reduced.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: a body of elements of a scene, and the points at which its variants are compared.
typedef struct sinew_variants sinew_variants;

/// Builds the body as the scene has it. Bodies of frames and those that follow a skeleton are
/// refused. The scene need not be built; it must outlive the variants.
SINEW_API sinew_status sinew_variants_create(sinew_scene *scene, int32_t body,
                                             sinew_variants **variants);
/// NULL is allowed. Destroy all variants before.
SINEW_API void sinew_variants_destroy(sinew_variants *variants);

/// The body as the scene has it; valid as long as the variants.
SINEW_API const sinew_body *sinew_variants_get_body(const sinew_variants *variants);
/// Whether its mesh can be refined and coarsened; false for meshes from files.
SINEW_API bool sinew_variants_can_refine(const sinew_variants *variants);
/// Sets the points to compare: rest positions before the body's placement, three numbers each. [m]
/// Copied. For variants that are created from now on; there must be none at the time.
SINEW_API sinew_status sinew_variants_set_points(sinew_variants *variants, const double *points,
                                                 int32_t count);

typedef enum sinew_variant_kind {
    SINEW_VARIANT_ELEMENTS,  ///< Tetrahedra of any size, law and model.
    SINEW_VARIANT_FRAMES,    ///< Frames, placed automatically.
    SINEW_VARIANT_POSITIONS, ///< Position dynamics on the scene's tetrahedra.
    SINEW_VARIANT_REDUCED,   ///< Modal coordinates of the scene's tetrahedra.
} sinew_variant_kind;

typedef struct sinew_variant_def {
    /// Default elements.
    sinew_variant_kind kind;
    /// Elements: cells along an edge, relative to the scene's. [-] Above 0. Default 1.
    double refine;
    /// Elements: ten-node tetrahedra instead of four-node ones. Default false.
    bool quadratic;
    /// Elements, with `law`: the model. Default SINEW_MODEL_ELASTIC.
    sinew_model model;
    /// Elements: a law for all materials, by its name. Default NULL: the scene's, and its model.
    const char *law;
    /// Frames: their kind. Default SINEW_NODE_AFFINE.
    sinew_node_kind node_kind;
    /// Frames: how many. [count] At least 1; without `spectral`, more than there are held
    /// patches. Default 10.
    int32_t node_count;
    /// Frames: spectral weights, with every held patch on a support of the surface instead of a
    /// frame (sinew/frame_support.h). Default false: Voronoi weights.
    bool spectral;
    /// Frames: strain is stored once in springs between frames instead of being integrated in every
    /// step. Rigid frames only. Default false.
    bool springs;
    /// Position dynamics: iterations of a step. [count] At least 1. Default 20.
    int32_t iterations;
    /// Modal coordinates: their kind. Default SINEW_REDUCTION_DERIVATIVES.
    sinew_reduction_kind reduction;
    /// Modal coordinates: vibration modes. [count] In [3, 200]. Default 20.
    int32_t modes;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_variant_def;

/// A definition with every field at its default.
SINEW_API sinew_variant_def sinew_default_variant_def(void);

/// Opaque: a running model of the body.
typedef struct sinew_variant sinew_variant;

/// Creates a model. SINEW_UNSUPPORTED, with the reason, if it does not support the loads, partly
/// held nodes or anisotropic materials of the scene.
SINEW_API sinew_status sinew_variant_create(sinew_variants *variants, const sinew_variant_def *def,
                                            sinew_variant **variant);
/// NULL is allowed.
SINEW_API void sinew_variant_destroy(sinew_variant *variant);

/// Scalars that a step solves for. [count]
SINEW_API int32_t sinew_variant_get_unknown_count(const sinew_variant *variant);
/// The static equilibrium at the start. Position dynamics has none.
SINEW_API sinew_status sinew_variant_solve_static(sinew_variant *variant);
/// Advances by one step of the scene.
SINEW_API sinew_status sinew_variant_step(sinew_variant *variant);
/// The present positions of the points, three numbers each. [m]
SINEW_API sinew_status sinew_variant_compute_points(sinew_variant *variant, double *points);

#ifdef __cplusplus
}
#endif

#endif
