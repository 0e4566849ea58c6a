// Reduced bodies: bodies of elements whose shape follows a few coordinates instead of all nodes.
// A step costs the same whatever the number of elements.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_REDUCED_H
#define SINEW_REDUCED_H

#include "sinew/body.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The shapes that a reduced body can take.
typedef enum sinew_reduction_kind {
    /// Vibration modes and their modal derivatives, with the body's own materials: large bends and
    /// twists. The default.
    SINEW_REDUCTION_DERIVATIVES,
    /// Vibration modes with the body's own materials. Too stiff in large deformations, because the
    /// shapes of a bent body are missing.
    SINEW_REDUCTION_LINEAR,
    /// Vibration modes, linear stiffness, and displacements that follow the rotation which the
    /// modes have at each node (modal warping). The cheapest; plausible rather than accurate.
    SINEW_REDUCTION_WARPED,
} sinew_reduction_kind;

typedef struct sinew_reduction_def {
    /// Default SINEW_REDUCTION_DERIVATIVES.
    sinew_reduction_kind kind;
    /// Vibration modes. [count] In [3, 200], below the number of free unknowns. Default 20.
    int32_t modes;
    /// Coordinates, rounded up to a multiple of three. [count] In [1, 300], or 0: as many as modes,
    /// half as many again with derivatives. Default 0. Without derivatives this is the number of
    /// modes in use.
    int32_t size;
    /// Largest displacement for which forces are trained, relative to the diagonal of the body's
    /// box. [-] In (0, 2]. Default 0.4.
    double extent;
    /// Training poses. [count] In [1, 1000]. Default 100.
    int32_t poses;
    /// Most sample points at which forces are evaluated. [count] At least 1, or 0: six for each
    /// coordinate. Default 0.
    int32_t points;
    /// Relative error of the training forces at which no more points are added. [-] In (0, 1).
    /// Default 0.01.
    double tolerance;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_reduction_def;

/// A definition with every field at its default.
SINEW_API sinew_reduction_def sinew_default_reduction_def(void);

/// What a reduction has found.
typedef struct sinew_reduction_report {
    int32_t size;          ///< Coordinates. [count]
    int32_t points;        ///< Sample points that forces are evaluated at. [count]
    int32_t samples;       ///< Sample points of the body of elements. [count]
    bool free;             ///< Whether the body has a moving frame: nothing held it.
    double training_error; ///< Relative error of the forces in the training poses. [-]
    double check_error;    ///< ... and in as many other poses. [-]
    double lowest;         ///< Lowest frequency. [Hz]
    double highest;        ///< Highest frequency. [Hz]
} sinew_reduction_report;

/// The result of a reduction, which can be stored and applied to another body made from the same
/// definition.
typedef struct sinew_reduction sinew_reduction;

/// Computes a reduction of a body of elements with its present supports; the body does not change.
///
/// The body must have its rest shape, placed anywhere, must be made of tets or hexahedra, and
/// either be free or have enough fixed nodes that it cannot move as a whole. Warped bodies, bodies
/// whose dilatation is averaged, and rotated bodies with infinitesimal strain are
/// SINEW_UNSUPPORTED. Destroy the reduction with sinew_reduction_destroy.
SINEW_API sinew_status sinew_reduction_create(sinew_body *body, const sinew_reduction_def *def,
                                              sinew_reduction **reduction);

/// Destroys a reduction; NULL is allowed. Bodies that it was applied to keep what they need.
SINEW_API void sinew_reduction_destroy(sinew_reduction *reduction);

/// What the reduction found.
SINEW_API sinew_status sinew_reduction_get_report(const sinew_reduction *reduction,
                                                  sinew_reduction_report *report);

/// Turns a body of elements into a reduced body.
///
/// The body keeps its name, place, velocity, surface, materials and damping. Like a frame body it
/// has no nodes any more: use points, the surface, attachments and contact. A free body gets a
/// rigid frame in front of its modes, so that it can move and rotate without limits; a body with
/// fixed nodes keeps its supports, which cannot be changed. The body must have no loads, forces,
/// points or attachments yet, and a mesh, materials and supports equal to those that the reduction
/// was computed from; otherwise SINEW_INVALID_ARGUMENT, and the body does not change.
SINEW_API sinew_status sinew_body_apply_reduction(sinew_body *body,
                                                  const sinew_reduction *reduction);

/// Computes a reduction and applies it to the body. `report` may be NULL.
SINEW_API sinew_status sinew_body_reduce(sinew_body *body, const sinew_reduction_def *def,
                                         sinew_reduction_report *report);

/// Whether a body has been reduced.
SINEW_API bool sinew_body_is_reduced(const sinew_body *body);

/// The number of coordinates of a reduced body; 0 for any other body.
SINEW_API int32_t sinew_reduced_body_get_size(const sinew_body *body);

/// Reads the coordinates of a reduced body, sinew_reduced_body_get_size numbers. [m kg^1/2]
SINEW_API sinew_status sinew_reduced_body_get_coordinates(const sinew_body *body,
                                                          double *coordinates);

/// Sets the coordinates of a reduced body, and their rates to zero; the frame stays. Fails if a
/// number is not finite.
SINEW_API sinew_status sinew_reduced_body_set_coordinates(sinew_body *body,
                                                          const double *coordinates);

/// What the supports of a reduced body bear together where the last step or static solve balanced
/// forces: the force [N], the torque [Nm] about `center`, and `center`, the present position of the
/// body's frame [m]. Three numbers each; zero for a free body.
SINEW_API sinew_status sinew_reduced_body_get_reaction(sinew_body *body, double center[3],
                                                       double force[3], double torque[3]);

/// The size of a stored reduction. [byte]
SINEW_API size_t sinew_reduction_get_stored_size(const sinew_reduction *reduction);

/// Writes a reduction to the array `bytes` of `size` bytes, at least
/// sinew_reduction_get_stored_size. The format is that of this version and byte order.
SINEW_API sinew_status sinew_reduction_store(const sinew_reduction *reduction, void *bytes,
                                             size_t size);

/// Reads a reduction from exactly the bytes that sinew_reduction_store wrote. Damaged or foreign
/// bytes are SINEW_INVALID_DATA. Destroy the reduction with sinew_reduction_destroy.
SINEW_API sinew_status sinew_reduction_restore(sinew_context *context, const void *bytes,
                                               size_t size, sinew_reduction **reduction);

#ifdef __cplusplus
}
#endif

#endif
