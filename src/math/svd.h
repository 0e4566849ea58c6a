// Signed singular values and the polar decomposition of a 3x3 matrix, for every finite F: flat,
// reflected, zero, of any scale.
//
//   F = U diag(sigma) V',   det U = det V = +1,   sigma1 >= sigma2 >= |sigma3|
//   F = R S,                R = U V',             S = V diag(sigma) V'
//
// sigma3 is negative exactly if det F < 0; det R = +1 also then.
//
// By one-sided Jacobi rotations (Hestenes 1958): each pair of columns of F V is made orthogonal, so
// small singular values keep their relative accuracy. About 1 us; math/lanes_polar.h is the fast
// form and falls back to this one where R is not well defined.
#ifndef SN_MATH_SVD_H
#define SN_MATH_SVD_H

#include "math/mat3.h"

typedef struct sn_svd {
    sn_mat3 U, V;
    double sigma[3];
} sn_svd;

sn_svd sn_svd3(sn_mat3 F);

// The rotation of F; `S` may be NULL. If sigma2 + sigma3 = 0 it is not unique, and one of the
// rotations is returned.
sn_mat3 sn_polar3(sn_mat3 *S, sn_mat3 F);

// The angular velocity of R in world axes while F = R S changes at the given rate:
//
//   R (tr(S) I - S)^-1 axial(R'Fdot - Fdot'R)
//
// Zero where F is so flat or inverted that R is not differentiable.
sn_vec3 sn_polar_spin3(sn_mat3 R, sn_mat3 S, sn_mat3 F_rate);

#endif
