// One tetrahedron under strain-based position dynamics (Mueller et al. 2014; Cai 2016, 6.4), in
// plain doubles: the reference that the kernel for many tets (project_simd.c) is tested against,
// and the constraints' values for reports.
//
// With Dm the edges at rest, Q the material frame, w the inverse masses and B = Dm^-1 Q (row 0:
// minus the sum of the others, for the first node), everything is expressed by G = F Q = sum_k x_k
// B_k. Its columns g_i are the images of the material axes:
//
//   S = G'G      stretch sqrt(S_ii) - 1      shear S_ij, i < j      volume det G - 1
//
// so the frame costs nothing at run time. A constraint c with gradient h_i = dc/dg_i moves the
// nodes by dx_k = -s w_k sum_i B_ki h_i, and with A_ij = sum_k w_k B_ki B_kj this means
//
//   dg_i = -s sum_j A_ij h_j,      sum_k w_k |dc/dx_k|^2 = sum_ij A_ij h_i . h_j
//
// The seven are projected one after the other (Gauss-Seidel) on G alone; the impulses p_i = -sum s
// h_i are summed, and the nodes move once at the end. Every c depends on S and det G only, so the
// impulses conserve linear and angular momentum.
//
// An inverted tet is first pushed through its smallest height: see sn_pbd_project.
#ifndef SN_PBD_TET_H
#define SN_PBD_TET_H

#include "math/mat3.h"

#include <stdbool.h>
#include <stddef.h>

enum { SN_PBD_CONSTRAINTS = 7 }; // stretch 1 2 3, shear 23 31 12, volume

// Added to sum w|grad|^2 as a fraction of its usual size, so that a constraint whose gradient
// nearly vanishes (a node that can hardly change it, a collapsed tet) causes no large displacement.
// Slows a regular tet by this fraction.
#define SN_PBD_SOFTENING 0.01

// The smallest height, as a fraction of that at rest, to which an inverted tet is brought before
// its constraints act.
#define SN_PBD_UPRIGHT 0.1

// Dm^-1 Q of a tet at rest. Q holds the material axes as columns.
sn_mat3 sn_pbd_rest_matrix(const sn_vec3 X[4], sn_mat3 Q);

// G of a tet.
sn_mat3 sn_pbd_gradient(const sn_vec3 x[4], sn_mat3 B);

// The seven values at G.
void sn_pbd_values(double c[SN_PBD_CONSTRAINTS], sn_mat3 G);

// dc/dG of constraint number `constraint`, whose columns are the h_i; for stretch, g_i must not
// vanish.
sn_mat3 sn_pbd_value_gradient(int constraint, sn_mat3 G);

// The signed height of g_i over the plane of the other two, det G / |g_j x g_k|, and its gradient
// with respect to G.
double sn_pbd_height(sn_mat3 *gradient, int axis, sn_mat3 G);

// One projection of the seven constraints. `stiffness`: the fraction removed of each. With
// `multipliers` (seven numbers, 0 at the start of a step) `stiffness` holds the compliances
// alpha / h^2 instead, and the update is that of Macklin et al. 2016:
//
//   dl = -(c + alpha l) / (sum w|grad|^2 + alpha)
void sn_pbd_project(sn_vec3 x[4], const double w[4], sn_mat3 B,
                    const double stiffness[SN_PBD_CONSTRAINTS], double *multipliers);

#endif
