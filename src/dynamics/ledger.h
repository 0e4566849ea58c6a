// The energy ledger: distinguishes a step that creates energy from one that transfers it.
//
// Between two steps the energy E = kinetic + elastic of an island can rise only by work: of
// gravity, loads and user forces (external . xi, without gyroscopic terms, which do none), of
// supports (reaction . xi) and of hard links that close a gap. The ledger sums what is positive of
// it,
//
//   S = E at the first step + sum of max(0, work of each step),
//
// and a step whose energy exceeds ten times S has diverged.
// Dissipation only lowers E. A support of stiffness k that moves by d each step does at most d
// sqrt(2 k E) of work in a step, so sqrt(S) grows linearly where E grows exponentially: an
// instability is found even if the support seems to feed it.
//
// What a body keeps between steps is part of its state (sinew_body.ledger), so that a snapshot has
// it. Bodies without an energy (warped) are judged by their kinetic energy; their S begins with the
// work that the present forces would do along the size of the body.
//
// Kinetic energies are those of the velocities that the bodies would really have. Where only the
// energy at the start of the step is known (linearised and midpoint steps) the elastic energy at
// its end is predicted from the forces, and evaluated if that raises a suspicion. Explicit steps
// are always evaluated: the next one would find the energy, but a run may end with this one.
//
// Cost: one product with the mass matrix and a few sums; in explicit steps the forces once more.
#ifndef SN_DYNAMICS_LEDGER_H
#define SN_DYNAMICS_LEDGER_H

#include "dynamics/island.h"

// Judges the step in island->xi. Returns whether the energy is explained; island->ledger then holds
// what sn_ledger_accept stores.
bool sn_ledger_check(sn_island *island);
void sn_ledger_accept(sn_island *island);

#endif
