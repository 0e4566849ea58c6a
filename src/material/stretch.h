// Isotropic laws as functions of the principal stretches: what a law provides, in lanes. For
// *_simd.c files.
//
// A law is one energy function of three stretches with its gradient and Hessian, and a row in the
// table of isotropic_laws_simd.c. isotropic_simd.c derives stress, tangent, projection and the
// extension to inverted states from it.
#ifndef SN_MATERIAL_STRETCH_H
#define SN_MATERIAL_STRETCH_H

#include "material/material.h"
#include "math/lanes_mat3.h"

typedef struct sn_stretch_energy {
    sn_lanes psi, gradient[3];
    sn_lanes_sym3 hessian;
} sn_stretch_energy;

// `own` points at the law's own parameters in the block, at the first lane of the group; see
// sn_parameter.
typedef void sn_stretch_function(sn_stretch_energy *energy, const sn_lanes s[3], const double *own);

SN_INLINE sn_lanes sn_parameter(const double *parameters, int index) {
    return sn_lanes_load(parameters + index * SN_BLOCK);
}

typedef struct sn_isotropic_law {
    sinew_material_law law;
    sinew_strain strain; // of Hooke's laws only
    const char *name;
    int parameter_count; // of its own
    // Checks the fields that only this law uses; NULL if there are none.
    sinew_status (*check)(sinew_context *context, const sinew_material_def *def);
    // Writes the law's own parameters and returns the small-strain modulus lambda + 2 mu.
    double (*derive)(double *own, const sinew_material_def *def, sn_plane plane);
    sn_stretch_function *energy; // NULL: not a function of the stretches
    // Below the stretch `threshold`, inverted elements are driven back (see isotropic_simd.c) by a
    // term of stiffness `resistance` times the modulus. A law that is singular at zero stretch is
    // evaluated at the stretch m(s) > `floor` * `threshold` instead; the others are not modified.
    // Threshold 0: no extension is needed.
    double threshold, floor, resistance;
    bool singular;
} sn_isotropic_law;

// For St. Venant-Kirchhoff and the anisotropic solids with Green's strain. Their stress weakens
// below 1/sqrt(3) already, but a bar pulled to twice its length gets that thin.
#define SN_GREEN_THRESHOLD  0.3
#define SN_GREEN_RESISTANCE 3.0

// The row of a law; NULL if it is not isotropic.
SN_ISA_DECLARE(const sn_isotropic_law *, sn_isotropic_law_find,
               (sinew_material_law law, sinew_strain strain));

// The table itself.
SN_ISA_DECLARE(const sn_isotropic_law *, sn_isotropic_laws, (int *count));

#endif
