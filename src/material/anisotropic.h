// Elastic constants of orthotropic and transversely isotropic solids: from engineering constants to
// the 6x6 matrix C in Voigt order (xx, yy, zz, yz, zx, xy) with engineering shear strain, rotated
// into a sample's material frame.
#ifndef SN_MATERIAL_ANISOTROPIC_H
#define SN_MATERIAL_ANISOTROPIC_H

#include "sinew/material.h"

#include "base/context.h"
#include "math/mat3.h"

enum { SN_ELASTIC_COUNT = 21 }; // the upper triangle of C, row by row

// The index of (a, b) in the upper triangle of a symmetric 6x6 matrix.
static inline int sn_sym6(int a, int b) {
    return a <= b ? a * (11 - a) / 2 + b : b * (11 - b) / 2 + a;
}

// The Voigt index of (i, j).
static inline int sn_voigt(int i, int j) {
    return i == j ? i : 6 - i - j;
}

// Checks that the constants describe a stable solid; the message names the violated condition and
// the nearest valid value.
sinew_status sn_anisotropic_check(sinew_context *context, const sinew_material_def *def);

// C of a checked definition, in the frame whose axes are the columns of `frame` (NULL: the
// coordinate axes). Returns the largest normal stiffness, max C_ii.
double sn_anisotropic_stiffness(double C[SN_ELASTIC_COUNT], const sinew_material_def *def,
                                const sn_mat3 *frame);

// The lower triangular W with C^-1 = W'W for a positive definite C; W_vu is stored at index (u, v).
void sn_anisotropic_invert(double W[SN_ELASTIC_COUNT], const double C[SN_ELASTIC_COUNT]);

#endif
