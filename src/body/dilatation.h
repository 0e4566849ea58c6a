// Averaged dilatation: a remedy for elements that lock where a solid is nearly incompressible.
//
// An element with few unknowns cannot keep the volume of each of its samples. It is enough that
// patches keep theirs: hexahedra and ten-node tets one by one, linear tets and triangles the
// surroundings of each node. With the dilatation theta of the samples and its mean over each patch,
//
//   W = sum_s V_s (psi(F_s) - U(theta_s)) + sum_p V_p U(theta_p),   theta_p = sum_s w_ps V_s
//   theta_s / V_p
//
// where the weights w_ps of a sample sum to one (1 for its element, equal shares for its nodes).
// Where theta is the same in a whole patch the U cancel: the law is what it was, patch tests
// included. What is taken away is the stiffness against differences within a patch.
//
// theta and U are those of the law, so that psi - U is the same law with a smaller bulk modulus:
//
//   strain of the law                           theta            U
//   infinitesimal                               tr F - 3         kappa theta^2 / 2
//   Green                                       tr E             kappa theta^2 / 2
//   corotational, F = R S                       tr S - 3         kappa theta^2 / 2
//   neo-Hookean                                 det F - 1        kappa (ln J)^2 / 2
//   stable neo-Hookean                          det F - 1        kappa theta^2 / 2
//   Mooney-Rivlin, Arruda-Boyce                 det F - 1        kappa (J - 1)^2 / 2
//
// Any other pair that agrees to second order only, such as det F with a corotational law, makes psi
// - U indefinite at strains of the order of shear over bulk modulus: for t = tr S - 3 and det F - 1
// = t + q(S), (lambda - kappa) t^2 - 2 kappa t q has no minimum near rest if kappa is much larger
// than lambda - kappa. The laws that are singular at J = 0 take U at a J that is bounded from
// below, as they themselves do. kappa is as much of the bulk modulus as leaves each sample with
// that of a solid of Poisson ratio 0.3, so bodies below that ratio do not change.
//
// Force and matrix are the exact derivatives. With the pressure-like c_s = sum_p w_ps U'(theta_p) -
// U'(theta_s) and D = dtheta/dF they are P_s += c_s D_s and H_s += c_s dD/dF - U''(theta_s) D (x) D
// at the samples, and a product of rank one for each patch, U''(theta_p) / V_p g_p g_p', g_p the
// gradient of V_p theta_p. Patches of nodes couple nodes two elements apart.
//
// After: Bonet and Burton 1998 (average nodal pressure), Nagtegaal, Parks and Rice 1974 (mean
// dilatation).
// Cost: a pass over the samples before each evaluation, and a clamped 9x9 matrix for each sample
// where a semi-definite matrix is wanted. Checked by: tests/body/test_dilatation.c.
#ifndef SN_BODY_DILATATION_H
#define SN_BODY_DILATATION_H

#include "interp/samples.h"
#include "material/material.h"

// The volume strain of a law; see above. Those from LOG on depend on det F.
typedef enum sn_dilatation_measure {
    SN_DILATATION_TRACE,
    SN_DILATATION_GREEN,
    SN_DILATATION_STRETCH,
    SN_DILATATION_LOG,     // ln J, bounded from below
    SN_DILATATION_BOUNDED, // J - 1, bounded from below
    SN_DILATATION_VOLUME,  // J - 1
} sn_dilatation_measure;

typedef struct sn_dilatation {
    double stiffness; // kappa [Pa]; 0: there is nothing to average
    sn_dilatation_measure measure;
    int32_t width; // controls of a sample
    int32_t per;   // patches of a sample, which share it equally

    // Of each sample, at the last update.
    double *theta;
    double *direction; // nine: d theta / dF
    double *level;     // mean of U over its patches
    double *slope;     // mean of U' over its patches
    int32_t *patches;  // `per`

    // Of each patch.
    int32_t patch_count;
    int32_t *node_offsets, *nodes;     // ascending
    int32_t *sample_offsets, *samples; // those it has a share of
    double *volume, *mean;             // [m^3], theta
    double *gradient;                  // three for each of `nodes`: of V_p theta_p

    // Of each row: its patches, and which of their nodes it is.
    int32_t rows;
    int32_t *row_offsets, *row_patches, *row_places;
} sn_dilatation;

// Makes the patches of samples: each element with `rule_samples` of them, or, with `nodal`, those
// around each node. `rows` is the number of nodes of the body. The stiffness is 0 at first.
sinew_status sn_dilatation_create(sn_arena *arena, const sn_samples *samples, int32_t rule_samples,
                                  bool nodal, int32_t rows, sn_dilatation *dilatation);

// How much of the bulk modulus is averaged, from the tangent of the law at rest (parameters of one
// sample); nothing of a custom law, whose volume strain is unknown.
void sn_dilatation_set_material(sn_dilatation *dilatation, const sn_material *material,
                                const sinew_material_def *def, const double *parameters);

// Finds everything about samples and patches at these positions.
void sn_dilatation_update(sinew_context *context, sn_dilatation *dilatation,
                          const sn_samples *samples, sn_samples_F_fn *compute_F, const double *q);

// Adds the terms of the samples of a block to psi, P and H, of which NULL are left out; makes H
// positive semi-definite if `projected`.
void sn_dilatation_add_block(const sn_dilatation *dilatation, const sn_samples *samples,
                             int32_t block, const double *F, bool projected, double *psi, double *P,
                             double *H);

// Adds the products of the patches to a matrix on the body's pattern, lower triangle, diagonal
// included.
void sn_dilatation_add_matrix(sinew_context *context, sn_dilatation *dilatation,
                              const sn_samples *samples, const sn_bsr *pattern, bool projected,
                              double *matrix);

// Adds to the Cauchy stress of the law, xx yy zz yz zx xy, at a deformation gradient in the element
// of a sample.
void sn_dilatation_add_stress(const sn_dilatation *dilatation, int32_t sample, sn_mat3 F,
                              double stress[6]);

#endif
