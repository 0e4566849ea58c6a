// The integrators as a table: each has a row with everything that sets it apart, and the step never
// asks which one it has.
//
// Let q be the state at the start of the step, xi the displacement from it, h the length of the
// step, a the last acceleration and d = q - q_previous. Every implicit integrator sets
//
//   acceleration = c / h^2 (xi - xi_inertia),    velocity = e / h xi + w
//
// with
//
//   integrator        c    e    xi_inertia                          w         span  first step by
//   implicit Euler    1    1    h v                                 0         1     itself
//   Newton Euler      1    1    h v                                 0         1     itself
//   Newmark           4    2    h v + h^2/4 a                       -v        1     itself (1)
//   midpoint          4    2    h/2 v                               0         1/2   itself
//   BDF2              9/4  3/2  d/3 + 2h/9 (4 v - v_previous)       -d/(2h)   1     Newton Euler
//   symplectic Euler  explicit: M a = f at q, xi = h v + h^2 a                1     itself
//
//   (1) with a from M a = f
//
// The span is the part of the step that xi covers: the midpoint rule balances forces in the middle
// of the step and then moves the same distance again. Newmark (1959) has beta 1/4 and gamma 1/2;
// BDF2 assumes constant steps. Implicit Euler accepts its first linear solve (Baraff and Witkin
// 1998); the others iterate.
#ifndef SN_DYNAMICS_INTEGRATOR_H
#define SN_DYNAMICS_INTEGRATOR_H

#include "body/body.h"

// One body's part of the vectors of a step.
typedef struct sn_step_rows {
    double *xi;         // the result of the solve; after `finish` the whole step
    double *xi_inertia; // the step that needs no force
    double *w;          // velocity is e / h xi + w
    double *a;          // the result of the solve of an explicit integrator
} sn_step_rows;

typedef struct sn_integrator sn_integrator;
struct sn_integrator {
    bool is_explicit;              // M a = f at the start of the step
    bool linearised;               // one linear solve, accepted as it is
    bool starts_with_acceleration; // predict needs the acceleration of the present state
    sinew_integrator first;        // takes the first step after the state was set from outside

    bool alternates; // does not damp what alternates from step to step: see predict_held

    const char *contact_refusal; // why contact cannot use it; NULL: it can

    double c, e; // of an implicit integrator
    double span; // the part of the step that xi covers

    // xi_inertia and w at the start of a step; rows->xi serves as scratch. NULL if explicit.
    void (*predict)(const sinew_body *body, double h, const sn_step_rows *rows);

    // Velocity and acceleration at the end of the step; body->previous_v holds the velocities at
    // its start.
    void (*finish)(const sn_integrator *integrator, sinew_body *body, double h,
                   const sn_step_rows *rows);

    // The rest is for bodies with free motion. The velocities at the start of the step, in
    // body->scratch, to which the step's acceleration is still to be added; `room` is scratch.
    void (*begin_momentum)(sinew_body *body, double h, double *room);
    double mean_share;            // the part of the velocity change that the mean velocity has
    bool transports_acceleration; // the next step uses the acceleration
    bool loses_rotation; // underestimates the curvature of the nodes' paths: see carry_momentum
};

// The row of an integrator, or of the one that takes its first step. `integrator` must be valid.
const sn_integrator *sn_integrator_get(sinew_integrator integrator, bool first);

// Number of rows: valid integrators are 0 to this less 1.
int32_t sn_integrator_count(void);

#endif
