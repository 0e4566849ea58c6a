// The interface between a body's model and the rest of the library: groups of function pointers
// that every model (elastic elements, warped stiffness, frames, position dynamics) fills in once.
//
// A model may leave an operation NULL where its comment says what NULL means. Code outside
// src/body, src/frame and src/pbd uses bodies only through these groups.
#ifndef SN_BODY_OPS_H
#define SN_BODY_OPS_H

#include "sinew/body.h"

#include "base/memory.h"
#include "linalg/bsr.h"
#include "math/mat3.h"

// Input and output of an evaluation at q. Results are added to the arrays, so that several
// contributions can share one array.
typedef struct sn_evaluation {
    const double *q;
    bool want_energy;
    double energy; // [J]
    double *force; // += -dW/dq, three per row; NULL if not wanted
    // += -df/dq on the body's pattern, lower triangle; must be zero on entry. NULL if not wanted.
    double *matrix;
    bool projected; // make each sample's share of the matrix positive semi-definite
    // Replace the material by the recovery energy (recovery.h), which untangles an inverted body.
    // Models without recovery ignore this.
    bool recovering;
    // Compute only the local part of the matrix, on the pattern returned by products->prepare;
    // products->add_remote supplies the remaining part.
    bool local;
} sn_evaluation;

// A material point of a body: its position, and its derivative with respect to the rows that move
// it. Attachments, probes and forces use points, so they work with every kind of body.
typedef struct sn_point {
    sn_vec3 X;       // rest position [m]
    double distance; // from the rest shape; 0 inside [m]
    int32_t element; // the element that contains it, or the nearest; -1: the body has no elements
    int32_t count;   // number of rows that move it
    int32_t *row;
    double *weight; // J_k = weight_k I, if x is linear in the rows; NULL otherwise
    sn_mat3 *J;     // dx = sum_k J_k d(row k)
    sn_vec3 x;      // position of the last move [m]
    void *model;    // private data of the model
} sn_point;

// The part of a stiffness matrix that is cheap to compute and makes a good preconditioner: the
// blocks that couple rows of the same set.
typedef struct sn_local_part {
    sn_bsr pattern; // blocks within the sets, and the blocks of the mass
    int32_t set_count;
    int32_t *set_starts; // set_count + 1: the first row of each set, ascending
} sn_local_part;

// Elasticity: energy, forces and stiffness; strain and stress.
typedef struct sn_elasticity_ops {
    // Whether forces are the gradient of an energy. If not, Newton's line search uses the residual.
    bool has_energy;
    void (*evaluate)(sinew_body *body, sn_evaluation *evaluation);
    // K of a body whose stiffness is constant (with get_rotations: in axes that rotate with its
    // rows): matrix += K, lower triangle; `matrix` may be NULL. False if its materials make it
    // vary. NULL: it always does.
    bool (*add_constant_stiffness)(sinew_body *body, double *matrix);
    // The rotations of the rows at the last evaluation. NULL: rows do not rotate.
    const sn_mat3 *(*get_rotations)(const sinew_body *body);
    // Deformation gradient and stress averaged over one element. NULL: the body has none.
    void (*get_element_state)(sinew_body *body, int32_t element, sinew_element_state *state);
    // The same for all elements. NULL: one by one.
    void (*compute_element_states)(sinew_body *body, sinew_element_state *states);
    // The Cauchy stress at every sample of the elements' rule, element after element, six numbers
    // each. NULL: the stress is known for whole elements only.
    void (*compute_sample_stresses)(sinew_body *body, double *stresses);
    // The smallest and largest det F over the samples, and the deformed volume.
    void (*measure)(sinew_body *body, double *smallest_J, double *largest_J, double *volume);
    // The fraction of the volume that is inverted, and the largest distance of a sample from the
    // recovered shape (recovery.h). NULL: the model has no recovery.
    void (*measure_recovery)(sinew_body *body, double *inverted, double *deviation);
    // Replaces material number `index`.
    sinew_status (*set_material)(sinew_body *body, int32_t index,
                                 const sinew_material_def *material);
    // Sets the tension of the fibres of material number `index`, finite and not negative. NULL: the
    // model has no fibres.
    sinew_status (*set_fibre_stress)(sinew_body *body, int32_t index, double stress);
    // Nine numbers for each element; NULL: the model has no axes that can change.
    sinew_status (*set_axes)(sinew_body *body, const double *axes);
} sn_elasticity_ops;

// Mass and motion: the space that q lives in, and inertia. All may be NULL: q is a vector, every
// row a point with the constant mass of body/mass.h.
typedef struct sn_motion_ops {
    // q = base moved by xi, three numbers per row. NULL: q = base + xi.
    void (*retract)(const sinew_body *body, double *q, const double *base, const double *xi);
    // xi that moves `base` to q. NULL: q - base.
    void (*difference)(const sinew_body *body, double *xi, const double *q, const double *base);
    // Moves q as a whole. NULL: every row is a point.
    void (*translate)(const sinew_body *body, double *q, sn_vec3 by);
    // SINEW_OK, or the reason why the interpolation is undefined at q. NULL: it always exists.
    sinew_status (*check)(sinew_body *body, const double *q);
    // Updates data derived from the configuration at the end of a step. NULL: there is none.
    void (*settle)(sinew_body *body);
    // A += s M(q), lower triangle, on a pattern that contains the blocks of M; and y = M(q) x.
    // NULL: the constant mass.
    void (*add_mass)(sinew_body *body, const sn_bsr *pattern, double *matrix, double s,
                     const double *q);
    void (*multiply_mass)(sinew_body *body, double *y, const double *x, const double *q);
    // force += gravity; if v is not NULL, also the gyroscopic forces of rows that free_motion does
    // not cover.
    void (*add_gravity)(sinew_body *body, double *force, const double *g, const double *q,
                        const double *v);
    // Adds kinetic and gravity energy, momenta and mass. NULL: every row is a point with its
    // row_mass.
    void (*add_momenta)(sinew_body *body, const double *g, sinew_measures *measures);
} sn_motion_ops;

// Free motion of bodies whose rows rotate: without forces they do not move in a straight line, and
// the velocities that belong to a given momentum depend on the configuration.
typedef struct sn_free_motion_ops {
    // xi of the free motion of a time h, gyroscopic terms included.
    void (*find_step)(const sinew_body *body, double *xi, double h);
    // The same by BDF2, from body->q, previous_q and their velocities; `momentum` receives the
    // velocities at body->q whose momentum a step without forces ends with.
    void (*find_bdf2_step)(const sinew_body *body, double *xi, double *momentum, double h);
    // xi of the motion during h of the whole body as a rigid body with its present shape and
    // momentum. False if it hardly rotates, or if the model does not support this.
    bool (*find_rigid_step)(const sinew_body *body, double *xi, double h);
    // For such a body: the accelerations of the rigid rotation that these forces cause by their
    // torque, with the masses at the configuration `at`.
    void (*find_rigid_rotation)(const sinew_body *body, double *a, const double *at,
                                const double *force);
    // Converts velocities at the configuration `from` to those with the same momentum at body->q;
    // `mean` is the mean velocity of the step. Accelerations are converted to those that the same
    // forces cause at body->q.
    void (*transport_velocity)(const sinew_body *body, double *v, const double *from,
                               const double *mean);
    void (*transport_acceleration)(const sinew_body *body, double *a, const double *from);
    // Restores the angular momentum of an unconstrained body: adds to its velocities the rotation
    // that its nodes lost during the step, given that the forces behind body->acceleration (with
    // the masses at previous_q) had no torque at the configuration `at`.
    void (*restore_rotation)(sinew_body *body, const double *at, double h);
} sn_free_motion_ops;

// Points. Every model supplies all but `prepare` and `add_curvature`.
typedef struct sn_point_ops {
    // The point of the body whose rest position (with `deformed`: whose present position) is X, or
    // the nearest one if X is outside. Its lists are allocated in the arena. Fails if memory runs
    // out or if no point of the body maps to X.
    sinew_status (*create)(sn_arena *arena, sinew_body *body, sn_vec3 X, bool deformed,
                           sn_point *point);
    // Prepares the body once for moving any number of points to q. NULL: nothing to prepare.
    void (*prepare)(const sinew_body *body, const double *q);
    // Position and J at q.
    void (*move)(const sinew_body *body, const double *q, sn_point *point);
    // rows += J' f, for a point that was moved.
    void (*add_force)(const sinew_body *body, const sn_point *point, sn_vec3 f, double *rows);
    // The curvature of the path: blocks[a * count + b] += f . d2x / d(row a) d(row b), as rows
    // rotate by exponentials. NULL: x is linear in the rows.
    void (*add_curvature)(const sinew_body *body, const sn_point *point, sn_vec3 f,
                          sn_mat3 *blocks);
    // Strain and stress at the point now; `energy` is a density.
    sinew_status (*get_state)(sinew_body *body, const sn_point *point, sinew_element_state *state);
} sn_point_ops;

// The surface. Supplied by every model.
typedef struct sn_surface_ops {
    // Positions of the vertices of body->surface at q.
    void (*compute)(const sinew_body *body, const double *q, double *positions);
    // How a vertex follows the rows at the configuration of the last points.prepare: dx = sum_k J_k
    // d(row k). `row` and `J` may be NULL. Returns the number of rows.
    int32_t (*get_jacobian)(const sinew_body *body, int32_t vertex, int32_t *row, sn_mat3 *J);
    // rows += J' f at the present configuration, with f the forces on the vertices and J =
    // d(vertices)/d(rows).
    void (*add_forces)(const sinew_body *body, const double *forces, double *rows);
    // Velocities and material states of the vertices; either may be NULL.
    sinew_status (*measure)(sinew_body *body, double *velocities, sinew_element_state *states);
} sn_surface_ops;

// Products with the stiffness, for matrix-free solvers.
typedef struct sn_product_ops {
    // Whether products are faster than the matrix, where the solver is free to choose.
    bool (*are_preferred)(const sinew_body *body);
    // Allocates memory for products (with `kept`: also for a second, kept tangent) and returns the
    // local part that `local` evaluations fill in; NULL if this body has no products after all.
    sinew_status (*prepare)(sinew_body *body, bool kept, const sn_local_part **local);
    // Keeps the tangent of the last `local` evaluation for later products.
    void (*keep_tangent)(sinew_body *body);
    // y += s (K - K_local) x, where K_local is the matrix of a `local` evaluation; with the last
    // tangent or with the kept one.
    void (*add_remote)(sinew_body *body, double s, bool kept, double *y, const double *x);
} sn_product_ops;

// The nodes of a body under position dynamics during a step.
typedef struct sn_stepping_nodes {
    double *positions;            // [node][4]: x y z and a number of the body's own [m]
    const double *start;          // [node][4]: where the step began
    const double *inverse_masses; // in 1 / unit; 0 where held
    double unit;                  // [kg]
} sn_stepping_nodes;

// Position dynamics: bodies that project constraints in rounds instead of solving equations. The
// state of the body changes only when the world accepts the step.
typedef struct sn_stepping_ops {
    // Predicts the positions after a time h.
    sinew_status (*begin)(sinew_body *body, const double *gravity, double h);
    // Projects the body's own constraints in `count` of its rounds, beginning with round `first`.
    int32_t (*get_round_count)(const sinew_body *body);
    void (*project)(sinew_body *body, int32_t first, int32_t count, double h);
    sn_stepping_nodes (*get_nodes)(const sinew_body *body);
    // Velocities from the displacements. Fails if a position is not finite.
    sinew_status (*finish)(sinew_body *body, double h);
    // The configuration that the step leads to.
    void (*get_end)(const sinew_body *body, double *q);
    // Takes over the velocities, and q as the configuration.
    void (*accept)(sinew_body *body, const double *q);
} sn_stepping_ops;

typedef struct sn_body_ops {
    sn_elasticity_ops elasticity;
    sn_motion_ops motion;
    const sn_free_motion_ops *free_motion; // NULL: no row rotates
    sn_point_ops points;
    sn_surface_ops surface;
    const sn_product_ops *products;  // NULL: the matrix alone
    const sn_stepping_ops *stepping; // NULL: solves equations
    // Frees memory outside the body's arena. NULL: there is none.
    void (*release)(sinew_body *body);
} sn_body_ops;

#endif
