// Vibration modes: the smallest eigenpairs of K phi = omega^2 M phi.
//
// K is symmetric positive semi-definite on a block pattern; M is lumped (one mass per scalar
// unknown) or a matrix on the same pattern. Shift and invert: with a small sigma < 0, the wanted
// modes belong to the largest eigenvalues of (K - sigma M)^-1 M. The rigid modes of a free body,
// for which K is singular, are found like all others, with omega = 0 up to rounding.
//
// A block Lanczos method with thick restarts (Wu and Simon 2000) iterates; its block finds all
// members of a multiple eigenvalue, such as the six zeros of a free body.
//
// Cost: one sparse factor, then about 2 count + 50 solves with it and as many orthogonalisations.
#ifndef SN_LINALG_MODES_H
#define SN_LINALG_MODES_H

#include "linalg/solver.h"

typedef struct sn_modes_def {
    const sn_bsr *pattern;
    const double *stiffness;       // K, both triangles
    const double *lumped_mass;     // one per scalar unknown, > 0 where not masked; or NULL and
    const double *consistent_mass; // M on the pattern, both triangles
    const uint8_t *mask;           // unknowns that are held at zero, one byte each; or NULL
    int32_t count;                 // wanted modes, in [1, free unknowns]
    double shift;     // sigma < 0 [1/s^2]; 0 chooses -1e-7 of the mean omega^2 of the mesh
    double tolerance; // relative, of omega^2 - sigma; 0 means 1e-10
} sn_modes_def;

typedef struct sn_modes_report {
    int32_t solves; // with the shifted matrix
    int32_t rigid;  // modes with omega^2 below 1e-11 of the mean omega^2 of the mesh: motions
                    // without stiffness
    double largest_residual; // max |K phi - omega^2 M phi| / (|omega^2 - sigma| |M phi|)
    bool converged;          // all to the tolerance
} sn_modes_report;

// Computes omega^2 [1/s^2] in ascending order and the shapes, one after the other, 3 rows doubles
// each, with phi' M phi = 1 and the component of largest size positive; masked unknowns are zero. A
// count out of range or a mass that is not positive is SINEW_INVALID_ARGUMENT; a K that is
// indefinite, or not finite, is SINEW_INVALID_DATA.
sinew_status sn_modes_compute(sinew_context *context, const sn_modes_def *def,
                              double *omega_squared, double *shapes, sn_modes_report *report);

#endif
