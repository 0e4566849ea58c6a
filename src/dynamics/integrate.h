// The step of an island, found and then accepted, and its static equilibrium.
#ifndef SN_DYNAMICS_INTEGRATE_H
#define SN_DYNAMICS_INTEGRATE_H

#include "dynamics/newton.h"

// Finds the step of an island; no state changes. With SINEW_OK the step is in island->xi and can be
// accepted.
sinew_status sn_integrate_solve(sn_island *island, sinew_step_report *report);

// The same by an integrator and for a time of one's own.
sinew_status sn_integrate_solve_by(sn_island *island, const sn_integrator *integrator, double h,
                                   sinew_step_report *report);

// Whether the step that was found leads to finite positions and velocities.
bool sn_integrate_is_finite(const sn_island *island);

// SINEW_OK, or why the bodies cannot be interpolated where the step leads. The message is the
// body's.
sinew_status sn_integrate_check(sn_island *island);

// The configuration of a body at the end of the step that was found, in member->trial_q, and its
// velocities there, but for the rotation that restore_rotation adds. Overwrites the body's part of
// island->product.
void sn_integrate_find_end(sn_island *island, const sn_island_body *member, double *v);

// Moves the bodies to the end of the step.
void sn_integrate_accept(sn_island *island);

// What steps and static solves share. Makes the linear solver and the damping matrices if they are
// not there yet; gathers held unknowns, their prescribed steps and external forces; puts tied nodes
// exactly where their points are, so that rounding does not add up; and the world's tolerances.
sinew_status sn_integrate_prepare(sn_island *island, bool is_static);
void sn_integrate_gather(sn_island *island);
void sn_integrate_settle_ties(sn_island *island);
sn_newton_def sn_integrate_newton_def(const sinew_world_def *def);

// Static equilibrium of an island near its present state.
sinew_status sn_integrate_static(sn_island *island, const sinew_static_def *def,
                                 sinew_step_report *report);

#endif
