// The world: bodies, gravity, time, the step, the static solve, attachments, snapshots.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_WORLD_H
#define SINEW_WORLD_H

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque: bodies and the clock. Made in a context, destroyed before it.
typedef struct sinew_world sinew_world;

/// Opaque: one elastic body of a world.
typedef struct sinew_body sinew_body;

/// How a step advances the state. All but symplectic Euler solve equations for the new positions;
/// they differ in order and in numerical damping.
typedef enum sinew_integrator {
    /// Implicit Euler, one linearised solve per step (Baraff and Witkin 1998). First order, damps,
    /// very stable. The default.
    SINEW_INTEGRATOR_IMPLICIT_EULER,
    /// Implicit Euler to convergence: Newton on the incremental potential with a line search. First
    /// order, damps, the most robust.
    SINEW_INTEGRATOR_NEWTON_EULER,
    /// Semi-implicit Euler: explicit, first order, its energy oscillates but does not drift; stable
    /// only for small steps.
    SINEW_INTEGRATOR_SYMPLECTIC_EULER,
    /// Newmark with beta 1/4 and gamma 1/2, Newton to convergence. Second order, hardly damps.
    SINEW_INTEGRATOR_NEWMARK,
    /// Implicit midpoint, Newton to convergence. Second order, keeps momentum.
    SINEW_INTEGRATOR_MIDPOINT,
    /// Backward differences of second order, Newton to convergence. Second order, damps high
    /// frequencies only.
    SINEW_INTEGRATOR_BDF2,
} sinew_integrator;

/// How the linear systems of a step are solved.
typedef enum sinew_solver {
    /// Chosen by size: dense, direct or multigrid; matrix-free for frame bodies with many controls
    /// per sample; direct for static solves.
    SINEW_SOLVER_AUTO,
    SINEW_SOLVER_JACOBI,    ///< Conjugate gradients, block Jacobi.
    SINEW_SOLVER_CHOLESKY0, ///< Conjugate gradients, block incomplete Cholesky without fill.
    SINEW_SOLVER_MULTIGRID, ///< Conjugate gradients, algebraic multigrid.
    SINEW_SOLVER_DIRECT,    ///< Sparse Cholesky (CHOLMOD if built in); the analysis is reused.
    SINEW_SOLVER_DENSE,     ///< Dense Cholesky, for systems of a few hundred unknowns.
    /// Conjugate gradients, block Jacobi by frame. Frame bodies multiply by their stiffness sample
    /// by sample and never assemble it; other bodies assemble it as usual.
    SINEW_SOLVER_MATRIX_FREE,
} sinew_solver;

typedef struct sinew_world_def {
    /// Acceleration of free fall. [m/s^2] Finite. Default (0, 0, -9.81).
    double gravity[3];
    /// Length of a step. [s] Greater than 0. Default 0.01.
    double step;
    /// Default SINEW_INTEGRATOR_IMPLICIT_EULER.
    sinew_integrator integrator;
    /// Default SINEW_SOLVER_AUTO.
    sinew_solver solver;
    /// Residual at which a linear solve ends, relative to its right-hand side. [-] In (0, 1).
    /// Default 1e-6.
    double solver_tolerance;
    /// Iterations after which a linear solve gives up. [count] At least 1. Default 1000.
    int32_t solver_iterations;
    /// Residual force at which Newton ends, relative to the largest of the forces in balance. [-]
    /// In (0, 1). Default 1e-6.
    double newton_tolerance;
    /// Newton iterations after which a step is accepted without convergence. [count] At least 1.
    /// Default 50.
    int32_t newton_iterations;
    /// Set by the default function, to detect unfilled definitions. Do not change it.
    uint32_t filled;
} sinew_world_def;

/// A definition with every field at its default.
SINEW_API sinew_world_def sinew_default_world_def(void);

/// Creates a world without bodies. No pointer may be NULL.
SINEW_API sinew_status sinew_world_create(sinew_context *context, const sinew_world_def *def,
                                          sinew_world **world);

/// Destroys the world with all its bodies. NULL is allowed.
SINEW_API void sinew_world_destroy(sinew_world *world);

/// Why a step or a static solve ended as it did. None of these is an error; the state is the last
/// accepted one.
typedef enum sinew_outcome {
    SINEW_OUTCOME_CONVERGED,
    SINEW_OUTCOME_ITERATION_LIMIT, ///< The residual is still above the tolerance.
    SINEW_OUTCOME_STALLED,         ///< No step along the search direction lowers the energy.
    /// The new state was not finite; state and time did not change.
    SINEW_OUTCOME_NOT_FINITE,
    /// The dual quaternions of frames a full rotation apart cancel; state and time did not change.
    SINEW_OUTCOME_SINGULAR,
    /// The new state would have far more energy than the work done; state and time did not change.
    SINEW_OUTCOME_UNSTABLE,
} sinew_outcome;

/// The name of an outcome, e.g. "iteration limit". Static text.
SINEW_API const char *sinew_outcome_name(sinew_outcome outcome);

/// Report of a step; sums over all bodies unless stated otherwise.
typedef struct sinew_step_report {
    sinew_outcome outcome;
    int32_t newton_iterations;
    int32_t solver_iterations; ///< Of all linear solves.
    double solver_residual;    ///< Relative residual of the worst linear solve. [-]
    bool solver_converged;     ///< Whether every linear solve met its tolerance.
    /// Relative residual force at the end; for the linearised step, before the solve. [-]
    double newton_residual;
    int32_t line_search_cuts; ///< Halvings of Newton steps.
    /// Groups of attached bodies whose step was rejected and repeated in smaller parts, with
    /// implicit Euler and Newton's method. [count]
    int32_t rescued;
    double assemble_seconds; ///< Forces and stiffness. [s]
    double solve_seconds;    ///< Linear solves. [s]
    double total_seconds;    ///< The whole step. [s]
} sinew_step_report;

/// Advances the world by one step. `report` may be NULL. A step is rejected if its end is not
/// finite, is singular, or has more than 10 times the energy that it should have: the energy at the
/// first step plus the work of gravity, loads, supports and attachments since then. It is then
/// repeated in up to 16 smaller parts. If that fails too, SINEW_DIVERGED is returned, and the state
/// and the time do not change. For explicit integrators the elastic energy is checked one step
/// later, and the limit is 100 times.
SINEW_API sinew_status sinew_world_step(sinew_world *world, sinew_step_report *report);

/// The error of the last step: the residual of its nonlinear equations, relative to the largest
/// force in them. [-] For linearised implicit Euler this is the error of solving once; for the
/// other integrators it is what Newton's method left. Uses the present forces and loads, so call it
/// right after the step. 0 for explicit integrators, bodies under position dynamics, and bodies
/// that frames joined or left at a contact. Costs an evaluation of forces. `residual`: not NULL.
SINEW_API sinew_status sinew_world_compute_residual(sinew_world *world, double *residual);

/// The simulated time. [s] Computed as number of steps times their length, so that rounding errors
/// do not accumulate; the count restarts when the length changes.
SINEW_API double sinew_world_get_time(const sinew_world *world);
/// The time after this many more steps of the present length, exactly as sinew_world_get_time will
/// return it. [s] Use it to evaluate motions that the next step has to follow.
SINEW_API double sinew_world_get_time_after(const sinew_world *world, int64_t steps);

/// Changes gravity, step, integrator, solver and tolerances from the next step on. `def` must not
/// be NULL.
SINEW_API sinew_status sinew_world_set_def(sinew_world *world, const sinew_world_def *def);
SINEW_API sinew_world_def sinew_world_get_def(const sinew_world *world);

/// Number of bodies. [count]
SINEW_API int32_t sinew_world_get_body_count(const sinew_world *world);
/// The body with this index, in the order of creation; NULL if there is none.
SINEW_API sinew_body *sinew_world_get_body(const sinew_world *world, int32_t index);

/// Options of a static solve, which finds the positions at which all forces balance, by Newton with
/// a line search, raising the loads in equal steps.
typedef struct sinew_static_def {
    /// Steps in which gravity, loads and prescribed displacements are raised. [count] At least 1.
    /// Default 1.
    int32_t load_steps;
    /// Largest number of Newton iterations per load step. [count] At least 1. Default 100.
    int32_t newton_iterations;
    /// Residual force at which a load step ends, relative to the largest of the forces in balance.
    /// [-] In (0, 1). Default 1e-8.
    double newton_tolerance;
    /// Set by the default function, to detect unfilled definitions. Do not change it.
    uint32_t filled;
} sinew_static_def;

/// A definition with every field at its default.
SINEW_API sinew_static_def sinew_default_static_def(void);

/// Moves every body to a static equilibrium near the present state. Velocities become zero; the
/// time does not change. `def` must not be NULL, `report` may be. A solve that did not converge
/// returns SINEW_OK with an outcome other than SINEW_OUTCOME_CONVERGED in the report, and the state
/// is the last one found. A body that can still move rigidly has no equilibrium: the call then
/// fails with SINEW_INVALID_ARGUMENT before anything is solved, and the message names the body and
/// the motion; with contact, which may hold bodies too, only if they fall and meet nothing.
SINEW_API sinew_status sinew_world_solve_static(sinew_world *world, const sinew_static_def *def,
                                                sinew_step_report *report);

/// Opaque: ties a point of one body to a point of another (or the same) body, or to a position in
/// space. Valid until it, one of its bodies or the world is destroyed.
typedef struct sinew_attachment sinew_attachment;

typedef struct sinew_attachment_def {
    /// The body whose node or point is tied. Required. A body under position dynamics is tied to a
    /// position or to another such body.
    sinew_body *body;
    /// The tied node of a body of elements, or -1 for the point `rest`. A hard tie of a node to
    /// another body of elements needs one that is neither fixed nor scripted nor tied. Not read for
    /// bodies of frames. Default -1.
    int32_t node;
    /// If `node` is -1: the tied point, in the rest shape. [m] Finite. Default 0.
    double rest[3];
    /// The body it is tied to, in the same world. Default NULL: a position in space.
    sinew_body *target;
    /// True: tie it to the point of `target` (or the position) at which it is now. Outside a body
    /// of elements this is the nearest point; outside a body of frames, the point that moves with
    /// its nearest part. Default true.
    bool at_node;
    /// If `at_node` is false: the point of `target`, in its rest shape, or the position. [m]
    /// Finite. A hard tie brings both together in the next step. Default 0.
    double point[3];
    /// Stiffness of the spring between both ends. [N/m] Positive, or 0 for a hard tie. Hard ties of
    /// nodes to bodies of elements are exact, because their unknowns are eliminated. Other hard
    /// ties are forces that are part of the solve. Their gap is at most the displacement caused by
    /// newton_tolerance times the largest force of the step, usually a thousandth of that. (For the
    /// midpoint rule this holds in the middle of each step; at its end the gap is of second order
    /// in the step.) Ties that contradict each other share the gap. Default 0.
    double stiffness;
    /// The largest force of a spring, which gives way beyond it (sinew/grab.h). [N] Above 0, or 0
    /// for no bound. Not with hard ties. Default 0.
    double largest_force;
    /// Set by the default function, to detect unfilled definitions. Do not change it.
    uint32_t filled;
} sinew_attachment_def;

/// A hard tie at the present position of the point; the bodies must be set.
SINEW_API sinew_attachment_def sinew_default_attachment_def(void);

/// Adds an attachment; `attachment` may be NULL.
SINEW_API sinew_status sinew_world_attach(sinew_world *world, const sinew_attachment_def *def,
                                          sinew_attachment **attachment);
/// Removes an attachment. The tied points keep their velocities. NULL is allowed.
SINEW_API void sinew_attachment_destroy(sinew_attachment *attachment);
/// Removes all attachments of `body` to `target`, or to any body or position if `target` is NULL;
/// returns their number.
SINEW_API int32_t sinew_world_detach(sinew_world *world, const sinew_body *body,
                                     const sinew_body *target);

/// Moves the position to which an attachment without a target body ties its point. [m] Finite. With
/// a hard tie the point reaches it at the end of the next step.
SINEW_API sinew_status sinew_attachment_set_target(sinew_attachment *attachment,
                                                   const double position[3]);
/// Changes the stiffness. [N/m] At least 0; 0 makes it a hard tie.
SINEW_API sinew_status sinew_attachment_set_stiffness(sinew_attachment *attachment,
                                                      double stiffness);
/// The stiffness. [N/m]
SINEW_API double sinew_attachment_get_stiffness(const sinew_attachment *attachment);
/// The present positions of both ends. [m] Either pointer may be NULL.
SINEW_API void sinew_attachment_get_positions(sinew_attachment *attachment, double tied[3],
                                              double target[3]);
/// The force on the tied point: for a spring at the present positions, for a hard tie or a spring
/// with a largest force in the last step or static solve. [N] The opposite force acts on the
/// target.
SINEW_API sinew_status sinew_attachment_get_force(sinew_attachment *attachment, double force[3]);

/// The size of a snapshot. [byte] A snapshot contains the whole state: positions, velocities, time,
/// the history of integrators and energy check; supports and their targets; forces on nodes, points
/// and surfaces; scales of loads; targets, stiffnesses and forces of attachments. It does not
/// contain gravity, damping, tolerances and changes of materials. It has a version and a checksum,
/// and fits a world that was built the same way, with the same step and integrator, on the same
/// kind of machine. The size changes with bodies, frames, loads, attachments and points, and when a
/// surface receives its first forces.
SINEW_API size_t sinew_world_get_snapshot_size(const sinew_world *world);
/// Writes a snapshot to the array `bytes`, which must not be NULL. `size` is at least
/// sinew_world_get_snapshot_size.
SINEW_API sinew_status sinew_world_take_snapshot(const sinew_world *world, void *bytes,
                                                 size_t size);
/// Restores a snapshot of exactly `size` bytes. The simulation then repeats bit by bit what
/// followed the snapshot. Fails with SINEW_INVALID_DATA, without changing the state, if the bytes
/// are damaged or belong to a world with other bodies, meshes, materials, loads, attachments, step
/// or integrator, or if a point with a force has been destroyed since. Points created since lose
/// their forces. A snapshot taken while inserted or removed frames fade fits only a world in which
/// the frames were inserted or removed in the same state.
SINEW_API sinew_status sinew_world_restore_snapshot(sinew_world *world, const void *bytes,
                                                    size_t size);

/// The time at which a snapshot was taken. [s] Returns false, without setting `time`, if the bytes
/// are damaged or not a snapshot. `bytes` may be NULL.
SINEW_API bool sinew_snapshot_get_time(const void *bytes, size_t size, double *time);

/// Energies and momenta of the whole world, or of one body with sinew_body_get_measures.
typedef struct sinew_measures {
    double kinetic_energy;      ///< [J]
    double elastic_energy;      ///< [J] NaN for a model without an energy (warped per vertex).
    double gravity_energy;      ///< -m g·x, zero at the origin. [J]
    double momentum[3];         ///< [kg m/s]
    double angular_momentum[3]; ///< About the origin. [kg m^2/s]
    double mass;                ///< [kg]
    double volume;              ///< Of the deformed body. [m^3]
    double rest_volume;         ///< [m^3]
    double smallest_J;          ///< Smallest determinant of F over the samples. [-]
    double largest_J;           ///< [-]
} sinew_measures;

/// Sums over all bodies; the extremes of J over all samples.
SINEW_API void sinew_world_get_measures(sinew_world *world, sinew_measures *measures);

/// Hash of the bytes of the state (FNV-1a, 64 bit). Equal states have equal hashes; the number of
/// threads makes no difference.
SINEW_API uint64_t sinew_world_get_hash(const sinew_world *world);

#ifdef __cplusplus
}
#endif

#endif
