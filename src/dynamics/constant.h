// A system matrix that is kept for many steps.
//
// The stiffness of a linear body is constant, and that of a warped body is constant in axes that
// rotate with its rows: K(q) = R K R' with a rotation per row. With lumped masses the same holds
// for the system of an implicit step,
//
//   A = (c + e alpha) M + (1 + e beta) K(q) = R A0 R',
//
// so that A0 is factored once, and a step only rotates the right-hand side into these axes, solves,
// and rotates the solution back. A0 is built again when the step, the integrator, the supports, the
// damping or a material change.
#ifndef SN_DYNAMICS_CONSTANT_H
#define SN_DYNAMICS_CONSTANT_H

#include "dynamics/newton.h"

// Makes room for the kept matrix of an island that may use one: a single body with a constant
// stiffness, to which nothing is attached. Other islands get none.
sinew_status sn_constant_create(sn_island *island, sn_solver_kind kind);
void sn_constant_destroy(sn_island *island);

// Whether this step can use the kept matrix; then it is up to date. Touching bodies cannot, nor
// warped ones with rows that are held along some axes only.
sinew_status sn_constant_begin(sn_island *island, const sn_newton_def *def, bool *usable);

// Solves A direction = residual, as the ordinary path of Newton's method does. With `moving`, held
// unknowns of `direction` have their remaining step.
sinew_status sn_constant_solve(sn_island *island, const sn_newton_def *def, bool moving,
                               sinew_step_report *report);

// Keeps the rotations just evaluated for the rest of the step, which they are the axes of.
void sn_constant_keep_axes(sn_island *island);

// out += beta K(q) u with these axes. u is overwritten, and `product` is room for a vector.
void sn_constant_add_damping(const sn_island *island, double *u, double *product, double *out);

#endif
