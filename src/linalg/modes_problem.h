// The state that the parts of the mode computation share. Private to them.
#ifndef SN_LINALG_MODES_PROBLEM_H
#define SN_LINALG_MODES_PROBLEM_H

#include "linalg/modes.h"

typedef struct sn_modes_problem {
    sinew_context *context;
    const sn_modes_def *def;
    int32_t n;    // scalar unknowns, masked ones included
    int32_t free; // those not masked
    double sigma;
    double tolerance;
    double *mass;            // consistent mass with masked rows and columns zero, or NULL
    double *product, *right; // n each: scratch
    sn_solver *solver;       // of K - sigma M, masked rows being those of the unit matrix
    int32_t solves;
    bool solved_well; // all solves so far have met their tolerance
} sn_modes_problem;

// y = M x over the free unknowns.
void sn_modes_apply_mass(sn_modes_problem *problem, double *y, const double *x);

// y = (K - sigma M)^-1 M x
void sn_modes_apply(sn_modes_problem *problem, double *y, const double *x);

// Finds the largest eigenpairs theta of (K - sigma M)^-1 M x = theta x by block Lanczos: theta and
// vectors hold def->count pairs, theta decreasing, the vectors M-orthonormal. *converged says
// whether all pairs met the tolerance.
sinew_status sn_modes_lanczos(sn_modes_problem *problem, double *theta, double *vectors,
                              bool *converged);

#endif
