// Shape functions N and their derivatives dN by the natural coordinates.
//
// Tet: (r, s, t), the barycentric coordinates of the corners 1, 2, 3; that of corner 0 is 1 - r - s
// - t. Hex: (r, s, t) in [-1, 1] along the edges 01, 03, 04.
#ifndef SN_GEOM_MESH_SHAPE_FUNCTIONS_H
#define SN_GEOM_MESH_SHAPE_FUNCTIONS_H

#include "math/mat3.h"

#include <stddef.h>
#include <stdint.h>

// N_i = L_i (2 L_i - 1) at the corners, 4 L_a L_b at the middle of edge ab.
void sn_shape_tet10(sn_vec3 natural, double N[10], double dN[10][3]);

// N_i = (1 + r r_i) (1 + s s_i) (1 + t t_i) / 8
void sn_shape_hex8(sn_vec3 natural, double N[8], double dN[8][3]);

// J = sum of x_i ⊗ dN_i: the derivative of the position by the natural coordinates.
static inline sn_mat3 sn_shape_jacobian(const double *points, const int32_t *nodes, int32_t count,
                                        const double (*dN)[3]) {
    sn_mat3 J = {0};
    for (int32_t i = 0; i < count; i++) {
        J = sn_mat3_add(J, sn_outer(sn_load3(points + 3 * (size_t)nodes[i]), sn_load3(dN[i])));
    }
    return J;
}

// Natural coordinates of the corners of a hexahedron.
extern const int8_t sn_hex_corners[8][3];

#endif
