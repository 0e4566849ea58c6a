// Grain: the axes of an anisotropic material throughout a solid, from a few curves drawn on it.
//
// A curve carries frames whose third axis is its tangent and which do not twist about it. The field
// between the curves is the smoothest that follows them. Its axes go to
// sinew_body_def.material_axes.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_FIELD_H
#define SINEW_FIELD_H

#include "sinew/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sinew_curve_kind {
    /// Cubic NURBS with the points as control points; of lower degree with fewer than four. Starts
    /// and ends at the first and last of them unless `knots` says otherwise.
    SINEW_CURVE_NURBS,
    /// A polyline through the points, such as a hand-drawn stroke.
    SINEW_CURVE_STROKE,
} sinew_curve_kind;

typedef struct sinew_curve_def {
    /// Name for messages. Copied, at most 63 bytes of it. Default NULL, which gives "curve N".
    const char *name;
    /// Default SINEW_CURVE_NURBS.
    sinew_curve_kind kind;
    /// Three coordinates per point. [m] Finite; consecutive points differ. Copied. Required.
    const double *points;
    /// Number of points. [count] At least 2.
    int32_t point_count;
    /// NURBS: a weight per point. [-] > 0. Copied. Default NULL: all 1.
    const double *weights;
    /// NURBS: point_count + degree + 1 ascending numbers, interior ones repeated at most `degree`
    /// times. Copied. Default NULL: evenly spaced and clamped at both ends.
    const double *knots;
    /// Direction of the first axis of the first frame; its part normal to the curve is used. [-]
    /// Default 0: the coordinate axis closest to normal.
    double normal[3];
    /// Rotates all frames about the curve, counter-clockwise as seen against its direction. [rad]
    /// Finite. Default 0.
    double turn;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_curve_def;

/// A definition with every field at its default.
SINEW_API sinew_curve_def sinew_default_curve_def(void);

/// The length of a curve. [m] Fails if sinew_field_create would.
SINEW_API sinew_status sinew_curve_compute_length(sinew_context *context,
                                                  const sinew_curve_def *def, double *length);

/// `count` (at least 2) positions evenly spaced by arc length from end to end, three coordinates
/// each [m], and the axes of the rotation minimising frames (Wang et al. 2008), nine numbers each,
/// axis by axis, the tangent last. Either output may be NULL.
SINEW_API sinew_status sinew_curve_compute_frames(sinew_context *context,
                                                  const sinew_curve_def *def, int32_t count,
                                                  double *points, double *axes);

/// What a field describes.
typedef enum sinew_field_kind {
    /// Three axes, for orthotropic materials. An axis and its opposite are equivalent.
    SINEW_FIELD_FRAMES,
    /// One direction, the third axis, for transversely isotropic materials and active fibres; the
    /// others are any two normal to it.
    SINEW_FIELD_FIBRES,
} sinew_field_kind;

/// Where the unknowns of the smoothing are.
typedef enum sinew_field_unknowns {
    SINEW_FIELD_BY_ELEMENT, ///< One in each element, coupled through shared faces.
    SINEW_FIELD_BY_VERTEX,  ///< One at each node, coupled through elements: fewer. Not for ten-node
                            ///< tets.
} sinew_field_unknowns;

typedef enum sinew_field_solver {
    SINEW_FIELD_SOLVER_AUTO,      ///< Direct up to 100000 unknowns.
    SINEW_FIELD_SOLVER_DIRECT,    ///< One factorisation, kept for later solves.
    SINEW_FIELD_SOLVER_ITERATIVE, ///< Conjugate gradients with multigrid and splines: little
                                  ///< memory.
} sinew_field_solver;

/// When the response to each curve of a field of frames is computed, which is all that rotating a
/// curve needs. It takes one solve per curve (direct: about a twelfth of the first solve each;
/// iterative: four side by side take little more than two) and 32 bytes per curve and unknown.
/// Moving a curve invalidates the responses; they are then computed when a curve is rotated, as
/// with more than 16 curves.
typedef enum sinew_field_turns {
    SINEW_FIELD_TURNS_AUTO, ///< Prepared if a factor is kept, which makes it cheap, or if there are
                            ///< at most four curves.
    SINEW_FIELD_TURNS_PREPARED, ///< When the field is made: turning takes next to no time also the
                                ///< first time.
    SINEW_FIELD_TURNS_LATER,    ///< When a curve is turned for the first time: for those that never
                                ///< are.
} sinew_field_turns;

typedef struct sinew_field_def {
    /// The rest shape. Copied. Required.
    const sinew_mesh *mesh;
    /// Default SINEW_FIELD_FRAMES.
    sinew_field_kind kind;
    /// Default SINEW_FIELD_BY_ELEMENT.
    sinew_field_unknowns unknowns;
    /// The curves. Borrowed during the call. Required.
    const sinew_curve_def *curves;
    /// Number of curves. [count] At least 1.
    int32_t curve_count;
    /// Spacing of the guiding frames along a curve. [m] >= 0; 0: the mean distance of neighbouring
    /// unknowns. Default 0.
    double spacing;
    /// How far outside the solid a part of a curve may be and still guide it. [m] >= 0; 0: a tenth
    /// of the diagonal of the mesh's bounding box. Default 0.
    double reach;
    /// Default SINEW_FIELD_SOLVER_AUTO.
    sinew_field_solver solver;
    /// Default SINEW_FIELD_TURNS_AUTO.
    sinew_field_turns turns;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_field_def;

/// A definition with every field at its default.
SINEW_API sinew_field_def sinew_default_field_def(void);

/// Opaque: curves, the axes in each element, and what is cached to recompute them quickly.
typedef struct sinew_field sinew_field;

/// Creates the field of some curves: minimises |L q|^2 + |C q - c|^2 over the components q of
/// quaternions (for fibres, of the tensor of the direction), where L is the difference from the
/// mean of the neighbours and C the mean around a frame of a curve.
SINEW_API sinew_status sinew_field_create(sinew_context *context, const sinew_field_def *def,
                                          sinew_field **field);

/// Creates a field from known axes, nine numbers per element, axis by axis: from a file, or
/// measured. They are made orthonormal (third axis first); axes that are left-handed or nearly flat
/// are an error.
SINEW_API sinew_status sinew_field_create_from_axes(sinew_context *context, const sinew_mesh *mesh,
                                                    sinew_field_kind kind, const double *axes,
                                                    sinew_field **field);

/// The same for fibres, three numbers per element, of any nonzero length, such as directions from
/// diffusion imaging.
SINEW_API sinew_status sinew_field_create_from_directions(sinew_context *context,
                                                          const sinew_mesh *mesh,
                                                          const double *directions,
                                                          sinew_field **field);

/// NULL is allowed.
SINEW_API void sinew_field_destroy(sinew_field *field);

/// Sets the rotation of a curve's frames about it. Takes effect with the next sinew_field_solve,
/// which then needs no factorisation, and no solve either if the response of the curve is cached.
/// [rad]
SINEW_API sinew_status sinew_field_set_turn(sinew_field *field, int32_t curve, double turn);

/// Gives a curve new points. Weights and knots are kept if the number of points stays the same;
/// otherwise they become the defaults. Takes effect with the next sinew_field_solve.
SINEW_API sinew_status sinew_field_move_curve(sinew_field *field, int32_t curve,
                                              const double *points, int32_t point_count);

/// Computes the field again after curves were rotated or moved; does nothing if none was. If it
/// fails, the axes stay as they were.
SINEW_API sinew_status sinew_field_solve(sinew_field *field);

/// The outcome of a solve.
typedef struct sinew_field_report {
    int32_t unknown_count;       ///< Elements or nodes. [count]
    int32_t constraint_count;    ///< Frames that guide it. [count]
    int32_t ignored_count;       ///< Frames of curves that lie too far outside. [count]
    int32_t part_count;          ///< Parts of the solid that are not connected. [count]
    int32_t isolated_part_count; ///< Those without any curve: they take the nearest frame. [count]
    bool direct;                 ///< Solved by factorisation.
    int32_t iterations;          ///< Of the iterative solver in the last solve. [count]
    double relative_residual; ///< Of the iterative solver, in the norm of its preconditioner. [-]
    double least_certainty;   ///< Smallest length of a smoothed quaternion (for fibres how far the
                              ///< first principal value of the tensor is above the second), at most
                              ///< 1: near 0 where curves contradict each other. [-]
    int32_t least_certain;    ///< The element or node where that is.
    double least_certain_at[3]; ///< Its middle or position in the rest shape. [m]
    int32_t seam_count; ///< Neighbours that agree only if axes of one are reversed, as round a
                        ///< hollow, or whose quaternions have opposite signs. The field is as
                        ///< smooth there as elsewhere. 0: none. [count]
} sinew_field_report;

/// The outcome of the last solve. A field created from axes has unknown_count elements, certainty
/// 1, and zeros otherwise.
SINEW_API void sinew_field_get_report(const sinew_field *field, sinew_field_report *report);

/// A connected part without any curve: its first element (by vertex: node), the number of its
/// elements or nodes, and the curve whose nearest frame it took.
typedef struct sinew_isolated_part {
    int32_t first, count, curve;
} sinew_isolated_part;

/// The isolated parts, isolated_part_count of them; valid until the next solve.
SINEW_API const sinew_isolated_part *sinew_field_get_isolated_parts(const sinew_field *field);

/// Number of curves. [count]
SINEW_API int32_t sinew_field_get_curve_count(const sinew_field *field);

/// The frames of all curves as they guide the field, for drawing: three coordinates and nine
/// numbers of axes each, valid until the next solve. Returns their number; each pointer may be
/// NULL.
SINEW_API int32_t sinew_field_get_guides(const sinew_field *field, const double **points,
                                         const double **axes);

/// Nine numbers per element, axis by axis, as sinew_body_def.material_axes takes them; valid until
/// the next solve.
SINEW_API const double *sinew_field_get_axes(const sinew_field *field);

/// The certainty of the axes of each element, as defined at least_certainty; valid until the next
/// solve. 1 for a field created from axes.
SINEW_API const double *sinew_field_get_certainties(const sinew_field *field);

/// Four numbers (x, y, z, w) per unknown (element or node); valid until the next solve.
SINEW_API const double *sinew_field_get_quaternions(const sinew_field *field);

/// The axes at a point of the rest shape: those of its element or, with unknowns at nodes,
/// interpolated. Outside the solid, those of the nearest element; those of the first element if the
/// point is not finite. Allocates nothing.
SINEW_API void sinew_field_compute_axes_at(const sinew_field *field, const double point[3],
                                           double axes[9]);

/// The number of elements of the mesh. [count]
SINEW_API int32_t sinew_field_get_element_count(const sinew_field *field);
/// What the field describes.
SINEW_API sinew_field_kind sinew_field_get_kind(const sinew_field *field);

#ifdef __cplusplus
}
#endif

#endif
