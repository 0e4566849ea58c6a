// Constant mass of bodies made of elements: rho times the integral of N_i N_j.
#ifndef SN_BODY_MASS_H
#define SN_BODY_MASS_H

#include "body/body.h"

// Computes the masses of the body's mesh: lumped always, consistent if asked for. `density` holds
// one number per element [kg/m^3]; a triangle's volume is its area times the body's thickness.
// Called again when a density changes.
//
// Lumping keeps the total: the row sum where it is positive (linear elements), and for the ten-node
// tet, whose corners would get negative masses, the diagonal of the consistent mass scaled up to
// the total (Hinton, Rock and Zienkiewicz 1976).
sinew_status sn_body_build_mass(sinew_body *body, const double *density, bool consistent);

#endif
