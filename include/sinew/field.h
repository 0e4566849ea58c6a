// Grain: the axes of an anisotropic material all through a solid, from a few curves that a person
// draws on it.
//
// A curve carries frames along it whose third axis is its tangent and which do not twist about it.
// The field between the curves is the smoothest that follows them. Its axes go to
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
    /// Cubic NURBS with the points as its control points; of lower degree with fewer than four.
    /// Starts and ends at the first
    /// and last of them unless `knots` say otherwise.
    SINEW_CURVE_NURBS,
    /// A polyline through the points, as a hand draws it.
    SINEW_CURVE_STROKE,
} sinew_curve_kind;

typedef struct sinew_curve_def {
    /// Name for messages. Copied, at most 63 bytes of it. Default NULL, which gives "curve N".
    const char *name;
    /// Default SINEW_CURVE_NURBS.
    sinew_curve_kind kind;
    /// Three coordinates for each point. [m] Finite; consecutive points differ. Copied. Needed.
    const double *points;
    /// Number of points. [count] At least 2.
    int32_t point_count;
    /// NURBS: a weight for each point. [-] Above 0. Copied. Default NULL: all 1.
    const double *weights;
    /// NURBS: point_count + degree + 1 numbers that do not descend, none more than degree times
    /// inside. Copied. Default NULL: evenly spaced and clamped at both ends.
    const double *knots;
    /// The first axis of the first frame, as far as it is across the curve. [-] Default 0: the
    /// coordinate axis that is most nearly so.
    double normal[3];
    /// Turns all frames about the curve, counter-clockwise seen against its direction. [rad]
    /// Finite. Default 0.
    double turn;
} sinew_curve_def;

/// A definition with every field at its default.
SINEW_API sinew_curve_def sinew_default_curve_def(void);

/// The length of a curve. [m] Refuses what sinew_field_create would refuse.
SINEW_API sinew_status sinew_curve_compute_length(sinew_context *context,
                                                  const sinew_curve_def *def, double *length);

/// `count` (at least 2) places evenly spaced by arc length from end to end: three coordinates each
/// [m], and nine numbers each for the axes of the rotation minimising frame (Wang et al. 2008),
/// axis by axis, the tangent last. Each may be NULL.
SINEW_API sinew_status sinew_curve_compute_frames(sinew_context *context,
                                                  const sinew_curve_def *def, int32_t count,
                                                  double *points, double *axes);

/// What a field says about each place.
typedef enum sinew_field_kind {
    /// Three axes, for orthotropic materials. An axis and its opposite mean the same.
    SINEW_FIELD_FRAMES,
    /// One direction, the third axis, for transversely isotropic materials and active fibres; the
    /// others are any across it.
    SINEW_FIELD_FIBRES,
} sinew_field_kind;

/// Where the unknowns of the smoothing sit.
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

/// When it is found what each curve of a field of frames gives alone, which is all that turning it
/// needs. Takes a solve for each curve (direct: about a twelfth of the first each; by iterations
/// four side by side take little more than two) and 32 bytes for each curve and unknown. Moving a
/// curve makes it out of date: then it is found when a curve is turned, as with more than 16
/// curves.
typedef enum sinew_field_turns {
    SINEW_FIELD_TURNS_AUTO, ///< Prepared if a factor is kept, which makes it cheap, or if there are
                            ///< at most four curves.
    SINEW_FIELD_TURNS_PREPARED, ///< When the field is made: turning takes next to no time also the
                                ///< first time.
    SINEW_FIELD_TURNS_LATER,    ///< When a curve is turned for the first time: for those that never
                                ///< are.
} sinew_field_turns;

typedef struct sinew_field_def {
    /// The rest shape. Copied. Needed.
    const sinew_mesh *mesh;
    /// Default SINEW_FIELD_FRAMES.
    sinew_field_kind kind;
    /// Default SINEW_FIELD_BY_ELEMENT.
    sinew_field_unknowns unknowns;
    /// The curves. Borrowed during the call. Needed.
    const sinew_curve_def *curves;
    /// Number of curves. [count] At least 1.
    int32_t curve_count;
    /// Distance of the frames along a curve that guide the field. [m] At least 0; 0: the mean
    /// distance of neighbouring unknowns. Default 0.
    double spacing;
    /// How far outside of the solid a part of a curve may run and still guide it. [m] At least 0;
    /// 0: a tenth of the diagonal of the mesh's bounding box. Default 0.
    double reach;
    /// Default SINEW_FIELD_SOLVER_AUTO.
    sinew_field_solver solver;
    /// Default SINEW_FIELD_TURNS_AUTO.
    sinew_field_turns turns;
} sinew_field_def;

/// A definition with every field at its default.
SINEW_API sinew_field_def sinew_default_field_def(void);

/// Opaque: curves, the axes in each element, and what is kept to find them again quickly.
typedef struct sinew_field sinew_field;

/// Makes the field of some curves: minimises |L q|^2 + |C q - c|^2 over the components q of
/// quaternions (of the tensor of the direction for fibres), L the difference from the mean of the
/// neighbours, C the mean near a frame of a curve.
SINEW_API sinew_status sinew_field_create(sinew_context *context, const sinew_field_def *def,
                                          sinew_field **field);

/// A field whose axes are known already, nine numbers for each element, axis by axis: from a file,
/// or measured. They are made orthonormal (third axis first); a set that is left-handed or nearly
/// flat is refused.
SINEW_API sinew_status sinew_field_create_from_axes(sinew_context *context, const sinew_mesh *mesh,
                                                    sinew_field_kind kind, const double *axes,
                                                    sinew_field **field);

/// The same for fibres, three numbers for each element, of any length but 0: diffusion imaging
/// gives such directions.
SINEW_API sinew_status sinew_field_create_from_directions(sinew_context *context,
                                                          const sinew_mesh *mesh,
                                                          const double *directions,
                                                          sinew_field **field);

/// NULL is allowed.
SINEW_API void sinew_field_destroy(sinew_field *field);

/// Turns the frames of a curve; takes effect with the next sinew_field_solve, which then needs no
/// factorisation, and if the same curve was turned before or turns are prepared, no solution
/// either. [rad]
SINEW_API sinew_status sinew_field_set_turn(sinew_field *field, int32_t curve, double turn);

/// Gives a curve new points (as many numbers of weights and knots must suit it: those given at
/// creation stay if the count is the same, otherwise defaults take their place). Takes effect with
/// the next sinew_field_solve.
SINEW_API sinew_status sinew_field_move_curve(sinew_field *field, int32_t curve,
                                              const double *points, int32_t point_count);

/// Finds the field again after curves were turned or moved. Nothing to do is nothing done. If it
/// fails the axes stay as they were.
SINEW_API sinew_status sinew_field_solve(sinew_field *field);

/// How a field came out.
typedef struct sinew_field_report {
    int32_t unknown_count;     ///< Elements or nodes. [count]
    int32_t constraint_count;  ///< Frames that guide it. [count]
    int32_t ignored_count;     ///< Frames of curves that lie too far outside. [count]
    int32_t part_count;        ///< Parts of the solid that are not connected. [count]
    int32_t lonely_part_count; ///< Those without any curve: they take the nearest frame. [count]
    bool direct;               ///< Solved by factorisation.
    int32_t iterations;        ///< Of the iterative solver in the last solve. [count]
    double relative_residual;  ///< Of the iterative solver, in the norm of its preconditioner. [-]
    double least_certainty;    ///< Smallest length of a smoothed quaternion (for fibres how far the
                            ///< first principal value of the tensor is above the second), at most
                            ///< 1: near 0 where curves contradict each other. [-]
    int32_t least_certain;      ///< The element or node where that is.
    double least_certain_at[3]; ///< Its middle or position in the rest shape. [m]
    int32_t seam_count; ///< Neighbours that agree only if axes of one are reversed, as round a
                        ///< hollow, or whose quaternions have opposite signs. The field is as
                        ///< smooth there as elsewhere. 0: none. [count]
} sinew_field_report;

/// What the last solve found. A field from axes has unknown_count elements, certainty 1, and zeros
/// otherwise.
SINEW_API void sinew_field_get_report(const sinew_field *field, sinew_field_report *report);

/// A part without any curve: its first element (by vertex: node), how many it has, and the curve
/// whose nearest frame it took.
typedef struct sinew_lonely_part {
    int32_t first, count, curve;
} sinew_lonely_part;

/// The lonely parts, lonely_part_count of them; they live until the next solve.
SINEW_API const sinew_lonely_part *sinew_field_get_lonely_parts(const sinew_field *field);

/// Number of curves. [count]
SINEW_API int32_t sinew_field_get_curve_count(const sinew_field *field);

/// Frames of all curves as they guide the field, for drawing: three coordinates and nine numbers of
/// axes each, alive until the next solve. Returns their number; each pointer may be NULL.
SINEW_API int32_t sinew_field_get_guides(const sinew_field *field, const double **points,
                                         const double **axes);

/// Nine numbers for each element, axis by axis; alive until the next solve. What
/// sinew_body_def.material_axes takes.
SINEW_API const double *sinew_field_get_axes(const sinew_field *field);

/// How certain the axes of each element are, as least_certainty says it; alive until the next
/// solve. 1 for a field from axes.
SINEW_API const double *sinew_field_get_certainties(const sinew_field *field);

/// Four numbers (x, y, z, w) for each unknown, an element or a node; alive until the next solve.
SINEW_API const double *sinew_field_get_quaternions(const sinew_field *field);

/// The axes at a point of the rest shape: those of its element, or with unknowns at nodes
/// interpolated; outside those of the nearest element, and those of the first if the point is not
/// finite. Allocates nothing.
SINEW_API void sinew_field_compute_axes_at(const sinew_field *field, const double point[3],
                                           double axes[9]);

/// Number of elements of its mesh. [count]
SINEW_API int32_t sinew_field_get_element_count(const sinew_field *field);
/// What it says about each place.
SINEW_API sinew_field_kind sinew_field_get_kind(const sinew_field *field);

#ifdef __cplusplus
}
#endif

#endif
