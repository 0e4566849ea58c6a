// Rigid nodes that turn fast: the motion they make without forces, and velocities that carry
// momentum from one place to the next.
//
// A node whose mass is its own (row sum, diagonal) is a rigid body: mass m, centre c and inertia I
// about it, all at rest. In the turning frame of a node M changes from step to step; an integrator
// that only knows M at the beginning of a step takes the gyroscopic terms as forces, and drifts.
// Here the step starts from the free motion instead,
//
//   centre: straight on,   turn: exp(theta) with theta = h R' I^-1 R''L, R' = exp(theta / 2) R, L
//   the spin about the centre
//
// (the implicit midpoint rule on the rotation group), and ends with the velocity whose momentum at
// the new place is what the old momentum and the impulse of the forces add up to. With forces that
// act in the middle of a step, total angular momentum is then kept to rounding.
#ifndef SN_FRAME_MASS_FREE_MOTION_H
#define SN_FRAME_MASS_FREE_MOTION_H

#include "body/body.h"
#include "frame/mass/frame_mass.h"

// Whether nodes coast: some are rigid, and no mass couples them.
bool sn_frame_coasts(const sn_nodes *nodes, const sn_frame_mass *mass);

// xi: how far the nodes come in a time h without forces; h v of those that are not rigid or are
// held (mask).
void sn_frame_coast(const sn_nodes *nodes, const sn_frame_mass *mass, const uint8_t *mask,
                    const double *q, const double *v, double h, double *xi);

// The same by BDF2, whose momentum is 4/3 of the last one less a third of the one before:
// `momentum` holds velocities at body->q that have it, and xi is d/3 + 2h/3 v with d the last step
// and v the velocity at the end that has it. Of other nodes the same, without masses that turn.
void sn_frame_coast_bdf2(const sn_nodes *nodes, const sn_frame_mass *mass, const sinew_body *body,
                         double h, double *xi, double *momentum);

// xi of a time h in which the body, all of whose nodes are rigid, moves and turns as one with its
// momentum. False if it turns so little that a step is straight, or if some node is not rigid.
bool sn_frame_find_rigid_step(const sn_nodes *nodes, const sn_frame_mass *mass, const double *q,
                              const double *v, double h, double *xi);

// a: accelerations of a turn about the centre that has the torque of the forces on all rows; nodes
// turned as in q and placed as in `place`.
void sn_frame_find_rigid_turn(const sn_nodes *nodes, const sn_frame_mass *mass, const double *q,
                              const double *place, const double *force, double *a);

// v: from velocities that have the right momentum with the masses turned as in `from` to those that
// have it in `to`. `mean` is the velocity in the middle of the forces' action. Nodes that are not
// rigid or are held stay.
void sn_frame_transport(const sn_nodes *nodes, const sn_frame_mass *mass, const uint8_t *mask,
                        const double *from, const double *to, const double *mean, double *v);

// a: from what a force does with the masses turned as in `from` to what it does in `to`.
void sn_frame_transport_acceleration(const sn_nodes *nodes, const sn_frame_mass *mass,
                                     const uint8_t *mask, const double *from, const double *to,
                                     double *a);

// Adds to body->v the turn of the whole whose angular momentum ways from previous_q to `place`
// under the forces behind body->acceleration leave out; nothing if some node is not rigid.
void sn_frame_restore_turn(const sn_nodes *nodes, const sn_frame_mass *mass, sinew_body *body,
                           const double *place, double h);

#endif
