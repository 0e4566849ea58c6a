// Constant mass matrix of bodies made of elements, M_ij = integral of rho N_i N_j, and its lumped
// form.
#ifndef SN_BODY_MASS_H
#define SN_BODY_MASS_H

#include "body/body.h"

// Computes the lumped mass of the body's mesh and, with `consistent`, also the consistent one.
// `density` holds one number per element [kg/m^3]; a triangle's volume is its area times the body's
// thickness. Called again when a density changes.
//
// Lumping preserves the total mass. Linear elements use row sums. Row sums would give the corners
// of the ten-node tet negative masses, so it uses the diagonal of the consistent mass scaled to the
// total (Hinton, Rock and Zienkiewicz 1976).
sinew_status sn_body_build_mass(sinew_body *body, const double *density, bool consistent);

#endif
