// Vibration modes: the smallest eigenpairs of K phi = omega^2 M phi.
//
// K is symmetric positive semi-definite on a block pattern, M is lumped (one mass per scalar unknown) or a matrix on the same
// pattern. Shift and invert: with sigma < 0 a small negative shift, (K - sigma M)^-1 M has the wanted modes as its largest,
// and the rigid modes of a free body, for which K is singular, are found like all others with omega = 0 up to rounding. ARPACK
// iterates where the build has it, an own Lanczos method with full reorthogonalisation elsewhere.
#ifndef SN_LINALG_MODES_H
#define SN_LINALG_MODES_H

#include "linalg/solver.h"

typedef struct sn_modes_def {
    const sn_bsr *pattern;
    const double *stiffness;       // K, both triangles
    const double *lumped_mass;     // one per scalar unknown, > 0; or NULL and
    const double *consistent_mass; // M on the pattern, both triangles
    const uint8_t *mask;           // unknowns that are held at zero, one byte each; or NULL
    int32_t count;                 // wanted modes, in [1, free unknowns)
    double shift;                  // sigma < 0 [1/s^2]; 0 chooses -1e-6 of a typical omega^2
    double tolerance;              // relative, of omega^2; 0 means 1e-9
} sn_modes_def;

typedef struct sn_modes_report {
    int32_t iterations;      // solves with the shifted matrix
    int32_t rigid;           // modes with omega^2 below 1e-6 of the smallest elastic one found
    double largest_residual; // max |K phi - omega^2 M phi| / (|omega^2 - sigma| |M phi|)
    bool converged;
} sn_modes_report;

// Computes the eigenvalues omega^2 [1/s^2] in ascending order and the shapes, one after the other, 3 rows doubles each, with
// phi' M phi = 1 and the largest component positive; masked unknowns are zero.
sinew_status sn_modes_compute(sinew_context *context, const sn_modes_def *def, double *omega_squared, double *shapes,
                              sn_modes_report *report);

#endif
