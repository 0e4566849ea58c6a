// What differs between the models of a body: named groups of operations, which a model fills in
// once.
//
// A model without an operation leaves it NULL where the comment says what that means. Everything
// outside src/body, src/frame and src/pbd calls bodies through these groups only.
#ifndef SN_BODY_OPS_H
#define SN_BODY_OPS_H

#include "sinew/body.h"

#include "base/memory.h"
#include "linalg/bsr.h"
#include "math/mat3.h"

// What an evaluation at q is to find. Sums are added to, so that several contributions meet in one
// array.
typedef struct sn_evaluation {
    const double *q;
    bool want_energy;
    double energy;  // [J]
    double *force;  // += -dW/dq, three per row; NULL if not wanted
    double *matrix; // -df/dq on the body's pattern, lower triangle, which must be zero before; NULL
                    // if not wanted
    bool projected; // make each sample's share of the matrix positive semi-definite
    bool recovering; // lead the body back from an inverted state (recovery.h); models that cannot
                     // take no notice
    bool local; // the matrix is on the pattern of prepare_products, and holds no more than that:
                // products give the rest
} sn_evaluation;

// A material point of a body: where it is, and how it follows the rows that move it. Attachments,
// probes and forces are written on points and do not ask which kind of body they have.
typedef struct sn_point {
    sn_vec3 X;       // rest position [m]
    double distance; // from the rest shape; 0 inside [m]
    int32_t element; // that holds it, or the nearest one; -1 for bodies without elements
    int32_t count;   // of the rows that move it
    int32_t *row;
    double *weight; // J_k = weight_k I, if x is linear in the rows; NULL otherwise
    sn_mat3 *J;     // dx = sum_k J_k d(row k)
    sn_vec3 x;      // position of the last move [m]
    void *model;    // the model's own
} sn_point;

// The part of a stiffness that is cheap to find and good to precondition with: rows that belong
// together.
typedef struct sn_local_part {
    sn_bsr pattern; // what they couple, and the mass
    int32_t set_count;
    int32_t *set_starts; // set_count + 1: the first row of each set, ascending
} sn_local_part;

// Elasticity: energy, forces and stiffness, and what the material feels.
typedef struct sn_elasticity_ops {
    // Whether forces are the gradient of an energy; without one, Newton judges its steps by the
    // residual.
    bool has_energy;
    void (*evaluate)(sinew_body *body, sn_evaluation *evaluation);
    // Deformation gradient and stress averaged over one element. NULL: the body has none.
    void (*get_element_state)(sinew_body *body, int32_t element, sinew_element_state *state);
    // The same for all elements. NULL: one by one.
    void (*compute_element_states)(sinew_body *body, sinew_element_state *states);
    // The Cauchy stress at every sample of the elements' rule, element after element, six numbers
    // each. NULL: the stress is known for whole elements only.
    void (*compute_sample_stresses)(sinew_body *body, double *stresses);
    // The smallest and largest det F over the samples, and the deformed volume.
    void (*measure)(sinew_body *body, double *smallest_J, double *largest_J, double *volume);
    // The share of the volume that is inverted, and how far the body is from being led back
    // (recovery.h). NULL: never.
    void (*measure_recovery)(sinew_body *body, double *inverted, double *deviation);
    // Replaces material number `index`.
    sinew_status (*set_material)(sinew_body *body, int32_t index,
                                 const sinew_material_def *material);
    // The tension of the fibres of material number `index`, finite and not negative. NULL: it has
    // no fibres.
    sinew_status (*set_fibre_stress)(sinew_body *body, int32_t index, double stress);
} sn_elasticity_ops;

// Mass and motion: the space that q lives in, and inertia. All may be NULL: q is a vector, every
// row a point with the constant mass of body/mass.h.
typedef struct sn_motion_ops {
    // q = base moved by xi, three numbers per row. NULL: q = base + xi.
    void (*retract)(const sinew_body *body, double *q, const double *base, const double *xi);
    // xi that moves `base` to q. NULL: q - base.
    void (*difference)(const sinew_body *body, double *xi, const double *q, const double *base);
    // SINEW_OK, or why there is no interpolation at q. NULL: there always is.
    sinew_status (*check)(sinew_body *body, const double *q);
    // What follows the configuration at the end of a step. NULL: nothing.
    void (*settle)(sinew_body *body);
    // A += s M(q), lower triangle, on a pattern that has room for it, and y = M(q) x. NULL: the
    // constant mass.
    void (*add_mass)(sinew_body *body, const sn_bsr *pattern, double *matrix, double s,
                     const double *q);
    void (*multiply_mass)(sinew_body *body, double *y, const double *x, const double *q);
    // force += gravity, and, if v is not NULL, velocity-dependent inertia forces (gyroscopic terms)
    // of what has no free motion of its own.
    void (*add_gravity)(sinew_body *body, double *force, const double *g, const double *q,
                        const double *v);
    // Adds kinetic and gravity energy, momenta and mass. NULL: every row is a point with its
    // row_mass.
    void (*add_momenta)(sinew_body *body, const double *g, sinew_measures *measures);
} sn_motion_ops;

// Free motion of bodies whose rows rotate: the motion without forces is not straight, and momentum
// at one configuration belongs to other velocities than at the next.
typedef struct sn_free_motion_ops {
    // xi of the free motion of a time h, gyroscopic terms included.
    void (*find_step)(const sinew_body *body, double *xi, double h);
    // The same by BDF2, from body->q, previous_q and their velocities; `momentum` receives the
    // velocities at body->q whose momentum a step without forces ends with.
    void (*find_bdf2_step)(const sinew_body *body, double *xi, double *momentum, double h);
    // xi of a time h in which the body as a whole moves and rotates on with its momentum, in its
    // present shape. False if it hardly rotates, or if its model does not know.
    bool (*find_rigid_step)(const sinew_body *body, double *xi, double h);
    // Of such a body: the rotation, as accelerations, that has the torque of these forces with the
    // masses at the configuration `at`.
    void (*find_rigid_rotation)(const sinew_body *body, double *a, const double *at,
                                const double *force);
    // Velocities that have the right momentum with the masses as in `from` become those that have
    // it at body->q; `mean` is that of the step. Accelerations become those by the same forces.
    void (*transport_velocity)(const sinew_body *body, double *v, const double *from,
                               const double *mean);
    void (*transport_acceleration)(const sinew_body *body, double *a, const double *from);
    // Adds to the velocities of a body that nothing holds the rotation whose angular momentum its
    // nodes lost along their paths, though the forces that gave body->acceleration to the masses at
    // previous_q had no torque at the configuration `at`.
    void (*restore_rotation)(sinew_body *body, const double *at, double h);
} sn_free_motion_ops;

// Points. All but `prepare` and `add_curvature` are there for every body.
typedef struct sn_point_ops {
    // The point with rest position X, or, with `deformed`, the one that is now at X, inside the
    // body or nearest to it; its lists go into the arena. Fails without memory, and if no point of
    // a body comes to X.
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
    // What the material feels at the point now; `energy` is a density.
    sinew_status (*get_state)(sinew_body *body, const sn_point *point, sinew_element_state *state);
} sn_point_ops;

// The surface, at the present configuration. There for every body.
typedef struct sn_surface_ops {
    // Positions of the vertices of body->surface.
    void (*compute)(const sinew_body *body, double *positions);
    // rows += J' f, f on each vertex: the transpose of how vertices follow the rows.
    void (*add_forces)(const sinew_body *body, const double *forces, double *rows);
    // Velocities and material states of the vertices; either may be NULL.
    sinew_status (*measure)(sinew_body *body, double *velocities, sinew_element_state *states);
} sn_surface_ops;

// Products with the stiffness, for solvers that never hold its matrix.
typedef struct sn_product_ops {
    // Whether they pay where a step may choose.
    bool (*are_preferred)(const sinew_body *body);
    // Makes room, also for a tangent that is kept if asked, and gives the pattern that evaluations
    // use then; NULL if this body has no products after all.
    sinew_status (*prepare)(sinew_body *body, bool kept, const sn_local_part **local);
    // Keeps the tangent of the last evaluation that was `local`.
    void (*keep_tangent)(sinew_body *body);
    // y += s (K - what such an evaluation puts on the pattern) x, with that tangent or the kept
    // one.
    void (*add_remote)(sinew_body *body, double s, bool kept, double *y, const double *x);
} sn_product_ops;

// Bodies that step by themselves (position dynamics) instead of in an island.
typedef struct sn_stepping_ops {
    // Finds the state h later, and keeps it to itself until the world accepts the step.
    sinew_status (*advance)(sinew_body *body, const double *gravity, double h);
    void (*accept)(sinew_body *body);
} sn_stepping_ops;

typedef struct sn_body_ops {
    sn_elasticity_ops elasticity;
    sn_motion_ops motion;
    const sn_free_motion_ops *free_motion; // NULL: no row rotates
    sn_point_ops points;
    sn_surface_ops surface;
    const sn_product_ops *products;  // NULL: the matrix alone
    const sn_stepping_ops *stepping; // NULL: steps in an island
    // Frees what does not live in the body's arena. NULL: nothing.
    void (*release)(sinew_body *body);
} sn_body_ops;

#endif
