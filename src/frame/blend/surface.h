// The visual surface of a frame body: positions of its points, by the same blend as at the samples.
// In: rest points, weights, and a map for each node. Out: positions.
#ifndef SN_FRAME_BLEND_SURFACE_H
#define SN_FRAME_BLEND_SURFACE_H

#include "base/isa.h"

#include <stddef.h>
#include <stdint.h>

// Numbers of a node's map. Columns have three numbers, padded to four.
//
//   linear     the columns of 1 X Y Z
//   quadratic  those of 1 x y z xx yy zz xy yz zx, x y z being X Y Z relative to a centre
//   compliant  those of 1 x y z, c_x c_y c_z, c_x x c_x y ... c_z z, c being the compliance
//              coordinates
//   dual       the rotation, and half the translation times the rotation
enum {
    SN_SURFACE_LINEAR = 16,
    SN_SURFACE_QUADRATIC = 40,
    SN_SURFACE_COMPLIANT = 64,
    SN_SURFACE_DUAL = 8
};

// Rest points, and for point i the nodes and weights from start[i] to start[i + 1] - 1.
typedef struct sn_surface_points {
    const double *rest;
    const int32_t *start, *node;
    const double *weight;
    double center[3];         // of quadratic and compliant maps
    const double *compliance; // of the points, for compliant maps
} sn_surface_points;

// Computes x of the points [begin, end), three numbers each. Maps are aligned.
typedef void sn_surface_fn(double *x, const sn_surface_points *points, const double *maps,
                           int32_t begin, int32_t end);
SN_ISA_DECLARE(void, sn_surface_linear,
               (double *x, const sn_surface_points *points, const double *maps, int32_t begin,
                int32_t end));
SN_ISA_DECLARE(void, sn_surface_quadratic,
               (double *x, const sn_surface_points *points, const double *maps, int32_t begin,
                int32_t end));
SN_ISA_DECLARE(void, sn_surface_compliant,
               (double *x, const sn_surface_points *points, const double *maps, int32_t begin,
                int32_t end));
SN_ISA_DECLARE(void, sn_surface_dual,
               (double *x, const sn_surface_points *points, const double *maps, int32_t begin,
                int32_t end));

#endif
