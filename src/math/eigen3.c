// Eigenvalues of a symmetric 3x3 matrix by cyclic Jacobi rotations; see eigen3.h.
#include "math/eigen3.h"

#include "base/assert.h"
#include "math/dense.h"

void sn_eigen3(double values[3], sn_mat3 *V, sn_mat3 A) {
    double vectors[9]; // an eigenvector in each row
    sn_eigen_symmetric(values, vectors, &A.m[0][0], 3);
    sn_vec3 a = sn_load3(vectors);
    sn_vec3 b = sn_load3(vectors + 3);

    // The third axis by the cross product makes V a rotation.
    *V = sn_mat3_columns(a, b, sn_cross(a, b));
    SN_ASSERT(!(values[0] < values[1]) && !(values[1] < values[2]));
}
