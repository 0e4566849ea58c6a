// Curves in space: NURBS and polylines, their arc length, and frames along them that do not twist.
#ifndef SN_FIELD_CURVE_H
#define SN_FIELD_CURVE_H

#include "sinew/field.h"

#include "base/memory.h"
#include "math/mat3.h"

enum {
    SN_CURVE_DEGREE = 3,
    SN_CURVE_PIECES = 8,
    SN_CURVE_NAME = 64,
    SN_CURVE_MAX_SAMPLES = 1000000
};

// A checked curve, with its arc length measured at breaks of its parameter: SN_CURVE_PIECES per
// knot span, one per segment of a polyline.
typedef struct sn_curve {
    char name[SN_CURVE_NAME];
    sinew_curve_kind kind;
    int32_t point_count, degree; // degree 1 for a polyline
    double *points;              // 3 each
    double *weights;             // NURBS
    double *knots;               // NURBS: point_count + degree + 1
    double *tangents;            // polyline: 3 for each point, between its two segments
    sn_vec3 normal;
    double turn;
    int32_t break_count;
    double *breaks;  // ascending parameters
    double *lengths; // from the start to each break
} sn_curve;

// Checks the definition and measures the curve; `number` identifies a curve without a name in
// messages. Everything lives in the arena.
sinew_status sn_curve_build(sn_arena *arena, const sinew_curve_def *def, int32_t number,
                            sn_curve *curve);

static inline double sn_curve_length(const sn_curve *curve) {
    return curve->lengths[curve->break_count - 1];
}

// Position and derivative at a parameter within the breaks.
void sn_curve_evaluate(const sn_curve *curve, double u, sn_vec3 *x, sn_vec3 *dx);

// `count` >= 2 positions evenly spaced by arc length, and the unit tangents there.
void sn_curve_sample(const sn_curve *curve, int32_t count, sn_vec3 *x, sn_vec3 *t);

// The first axis, before the curve's own turn, at a point with tangent t: the part of `normal` that
// is normal to t.
sn_vec3 sn_curve_first_axis(const sn_curve *curve, sn_vec3 t);

// Rotation minimising frames by double reflection: given the first axis r[0] of the first frame,
// computes those of the others at `count` positions x with unit tangents t. The second axes are t x
// r. Fourth order in the spacing of the positions.
void sn_double_reflection(sn_vec3 *r, const sn_vec3 *x, const sn_vec3 *t, int32_t count);

#endif
