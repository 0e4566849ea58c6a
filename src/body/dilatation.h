// Averaged dilatation: prevents volumetric locking of elements in nearly incompressible solids.
//
// An element has too few unknowns to preserve the volume of each of its samples. It is enough that
// patches preserve theirs. A patch is one element for hexahedra and ten-node tets, and the
// neighbourhood of a node for linear tets and triangles. With the dilatation theta_s of the samples
// and its mean theta_p over each patch,
//
//   W       = sum_s V_s (psi(F_s) - U(theta_s)) + sum_p V_p U(theta_p),
//   theta_p = sum_s w_ps V_s theta_s / V_p,
//
// where the weights w_ps of a sample sum to one (1 for its element, equal shares for its nodes).
// Where theta is constant within a patch the two U terms cancel and the law is unchanged, so patch
// tests still pass. Only the stiffness against differences of theta within a patch is removed.
//
// theta and U match the law, so that psi - U is the same law with a smaller bulk modulus:
//
//   strain of the law                           theta            U
//   infinitesimal                               tr F - 3         kappa theta^2 / 2
//   Green                                       tr E             kappa theta^2 / 2
//   corotational, F = R S                       tr S - 3         kappa theta^2 / 2
//   neo-Hookean                                 det F - 1        kappa (ln J)^2 / 2
//   stable neo-Hookean                          det F - 1        kappa theta^2 / 2
//   Mooney-Rivlin, Arruda-Boyce                 det F - 1        kappa (J - 1)^2 / 2
//
// A pair that agrees with the law only to second order, such as det F with a corotational law,
// would make psi - U indefinite at strains of the order of shear over bulk modulus: with
// t = tr S - 3 and det F - 1 = t + q(S), the difference contains
//
//   (lambda - kappa) t^2 - 2 kappa t q,
//
// which has no minimum near rest if kappa is much larger than lambda - kappa. Laws that are
// singular at J = 0 evaluate U at the same lower bound of J that they use themselves. kappa is
// chosen such that each sample keeps the bulk modulus of a solid with Poisson ratio 0.3; bodies
// below that ratio do not change.
//
// Force and matrix are the exact derivatives. With D = dtheta/dF and the pressure difference c_s,
//
//   c_s  = sum_p w_ps U'(theta_p) - U'(theta_s),
//   P_s += c_s D_s,
//   H_s += c_s dD/dF - U''(theta_s) D (x) D,
//   K   += sum_p U''(theta_p) / V_p g_p g_p',
//
// where g_p is the gradient of V_p theta_p. The last term couples all nodes of a patch: for nodal
// patches these are up to two elements apart.
//
// After: Bonet and Burton 1998 (average nodal pressure), Nagtegaal, Parks and Rice 1974 (mean
// dilatation).
// Cost: a pass over the samples before each evaluation; a projected matrix also needs the
// eigenvalues of a 9x9 matrix per sample. Checked by: tests/body/test_dilatation.c.
#ifndef SN_BODY_DILATATION_H
#define SN_BODY_DILATATION_H

#include "interp/samples.h"
#include "material/material.h"

// The volume strain theta of a law; see above. LOG and all after it depend on det F.
typedef enum sn_dilatation_measure {
    SN_DILATATION_TRACE,
    SN_DILATATION_GREEN,
    SN_DILATATION_STRETCH,
    SN_DILATATION_LOG,     // ln J, bounded from below
    SN_DILATATION_BOUNDED, // J - 1, bounded from below
    SN_DILATATION_VOLUME,  // J - 1
} sn_dilatation_measure;

typedef struct sn_dilatation {
    double stiffness; // kappa [Pa]; 0: nothing is averaged
    sn_dilatation_measure measure;
    int32_t width; // controls per sample
    int32_t per;   // patches per sample, with equal weights

    // One item per sample, as of the last update.
    double *theta;
    double *direction; // nine: d theta / dF
    double *level;     // mean of U over its patches
    double *slope;     // mean of U' over its patches
    int32_t *patches;  // `per`

    // One item per patch.
    int32_t patch_count;
    int32_t *node_offsets, *nodes;     // ascending
    int32_t *sample_offsets, *samples; // samples that belong to it
    double *volume, *mean;             // [m^3], theta
    double *gradient;                  // three for each of `nodes`: of V_p theta_p

    // For each row: the patches that contain it, and its index in `nodes` for each of them.
    int32_t rows;
    int32_t *row_offsets, *row_patches, *row_entries;
} sn_dilatation;

// Groups the samples into patches: one per element of `rule_samples` samples or, with `nodal`, one
// around each node. `rows` is the number of nodes of the body. The stiffness is initially 0.
sinew_status sn_dilatation_create(sn_arena *arena, const sn_samples *samples, int32_t rule_samples,
                                  bool nodal, int32_t rows, sn_dilatation *dilatation);

// Chooses kappa from the tangent of the law at rest, with the parameters of one sample. Zero for a
// custom law, whose volume strain is unknown.
void sn_dilatation_set_material(sn_dilatation *dilatation, const sn_material *material,
                                const sinew_material_def *def, const double *parameters);

// Computes all sample and patch values at the positions q.
void sn_dilatation_update(sinew_context *context, sn_dilatation *dilatation,
                          const sn_samples *samples, sn_samples_F_fn *compute_F, const double *q);

// Adds the terms of the samples of a block to psi, P and H, each unless NULL. With `projected`, H
// becomes positive semi-definite.
void sn_dilatation_add_block(const sn_dilatation *dilatation, const sn_samples *samples,
                             int32_t block, const double *F, bool projected, double *psi, double *P,
                             double *H);

// Adds the rank-one terms of the patches to the lower triangle (with diagonal) of a matrix on the
// body's pattern.
void sn_dilatation_add_matrix(sinew_context *context, sn_dilatation *dilatation,
                              const sn_samples *samples, const sn_bsr *pattern, bool projected,
                              double *matrix);

// Adds its part to the Cauchy stress of the law (xx yy zz yz zx xy) at a deformation gradient F in
// the element of a sample.
void sn_dilatation_add_stress(const sn_dilatation *dilatation, int32_t sample, sn_mat3 F,
                              double stress[6]);

#endif
