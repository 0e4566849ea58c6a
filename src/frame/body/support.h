// Face supports of frame bodies: a part of the surface, held by springs that are distributed over
// it, to where a rigid motion of the rest shape would take it.
//
// With x(X) the motion of the surface and y(X) = R X + t the target, the energy is
//
//   W = integral over the face of k |x - y|^2 / 2,   k = E / softness
//
// summed over the vertices with their shares of the area. Where nodes are blended linearly, x = sum
// N_c a_c over the control vectors a, and y = sum N_c a*_c with the controls a* of the rest shape
// after the rigid motion, so that
//
//   W = (a - a*)' G (a - a*) / 2,   G_cd = sum over vertices of k A N_c N_d
//
// costs the pairs of controls only, is exactly zero for any rigid motion, and loses no digits.
// Dual quaternions are not linear: there a few points with the moments of the face stand for it.
#ifndef SN_FRAME_BODY_SUPPORT_H
#define SN_FRAME_BODY_SUPPORT_H

#include "sinew/frame_body.h"

#include "body/ops.h"
#include "frame/blend/blend.h"

// A support, until the body is destroyed or its supports are cleared.
typedef struct sn_face_support {
    sn_arena arena;    // holds this struct too
    int32_t count;     // vertices
    double *rest;      // 3 each
    double *stiffness; // of each [N/m]
    double area;       // [m2]
    double softness;   // [m]
    int32_t axes;      // along which it holds: bits of SINEW_AXIS_ALL
    sn_quat R;         // the target of X is R X + t
    sn_vec3 t;
} sn_face_support;

// What depends on the nodes of the body; lives and changes with them.
typedef struct sn_face_part {
    int32_t count; // controls; 0 if there are points instead
    int32_t *control, *node;
    double *G;             // count x count
    double *share;         // sum over vertices of k A N
    int32_t *slot;         // of the lower block of each pair of controls in the pattern; -1: none
    double *gap, *product; // 3 for each control, scratch
    int32_t point_count;
    sn_blend_point *points;
    double *stiffness; // of each point
    int32_t *row;      // scratch: the rows of a point
    sn_mat3 *J, *curvature;
} sn_face_part;

// Builds the parts of all supports for the nodes of a body, in its model's arena.
sinew_status sn_face_parts_build(sinew_body *body);

// Adds what the supports contribute to an evaluation. `pattern` is that of the matrix.
void sn_face_supports_evaluate(sinew_body *body, const sn_bsr *pattern, sn_evaluation *evaluation);

// y += K x of the supports, at the configuration of the last evaluation.
void sn_face_supports_add_product(const sinew_body *body, double *y, const double *x);

// Frees the supports.
void sn_face_supports_release(sinew_body *body);

#endif
