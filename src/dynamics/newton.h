// One implicit step, or one static load step, of an island: find the step xi at which forces
// balance.
//
//   residual(xi) = external + f(q (+) xi) - M a(xi) - (alpha M + D) v(xi) = 0,
//   a(xi) = c (xi - xi_inertia),   v(xi) = e xi + w,
//
// which is where phi(xi) = W(q (+) xi) + inertia potential - external . xi is stationary. Newton
// with positive semi-definite stiffness goes downhill on phi; a line search cuts its steps (Armijo
// 1966). One iteration without line search is the linearised implicit Euler step of Baraff and
// Witkin (1998).
#ifndef SN_DYNAMICS_NEWTON_H
#define SN_DYNAMICS_NEWTON_H

#include "dynamics/island.h"

typedef struct sn_newton_def {
    sn_scheme scheme;
    bool linearised;  // one solve, accepted as it is
    bool moved;       // begins at the step in island->xi, which is not zero
    double tolerance; // of the residual, relative to the largest force
    int32_t iterations;
    double solver_tolerance;
    int32_t solver_iterations;
} sn_newton_def;

// Starts from island->xi; needs xi_inertia, velocity_offset, prescribed, external and mask. Leaves
// the last accepted xi, and the force and inertia there unless `linearised`. Adds to the report's
// counts and times.
sinew_status sn_newton_solve(sn_island *island, const sn_newton_def *def,
                             sinew_step_report *report);

// The same in parts, for a loop of one's own: `iteration` counts from 0. `moved` receives the
// largest change of xi, and `done` whether there is nothing left to do; the report then says why.
void sn_newton_begin(sn_island *island);
sinew_status sn_newton_iterate(sn_island *island, const sn_newton_def *def, int32_t iteration,
                               double *moved, bool *done, sinew_step_report *report);

// After a linear solve for `direction` that moved xi by `reach` times it: solves with the same
// matrix until the residual of hard links is at most the force `limit`. Direction and xi take in
// what that adds.
sinew_status sn_newton_close_links(sn_island *island, const sn_newton_def *def, double reach,
                                   double limit, sinew_step_report *report);

// Adds a linear solve to a step's report. It counts as converged if it met `tolerance`, even where
// it was asked for more.
void sn_newton_take_solve(sinew_step_report *report, const sn_solve_report *solve,
                          double tolerance);

#endif
