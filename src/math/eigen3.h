// Eigenvalues of a symmetric 3x3 matrix by cyclic Jacobi rotations: A = V diag(values) V'. Robust
// for every finite A; the reference that the direct method in math/lanes_eigen.h is tested against.
#ifndef SN_MATH_EIGEN3_H
#define SN_MATH_EIGEN3_H

#include "math/mat3.h"

// values[0] >= values[1] >= values[2]; V is a rotation. Only the upper triangle of A is read.
void sn_eigen3(double values[3], sn_mat3 *V, sn_mat3 A);

#endif
