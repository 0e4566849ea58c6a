// A body: unknowns, interpolation, samples and materials, or whatever else has energy, forces,
// stiffness and mass.
//
// The unknowns of every body are rows of three numbers (a point has one row, a rigid frame two, an
// affine one four, a quadratic one ten), so that one 3x3 block matrix serves all. The configuration
// q may be longer (a rigid frame keeps a quaternion); steps xi, velocities, forces and matrices
// live in the tangent space of rows. What differs between models is behind sn_body_ops; the
// integrators in dynamics/ know nothing else.
#ifndef SN_BODY_BODY_H
#define SN_BODY_BODY_H

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
    bool near; // the matrix is on the pattern of prepare_products, and holds no more than that:
               // products give the rest
} sn_evaluation;

// A material point of a body as a combination of rows: x = sum_i weight_i a_row(i), for bodies
// whose interpolation is linear.
enum { SN_POINT_MAX_ROWS = 10 };

typedef struct sn_body_point {
    int32_t count;
    int32_t row[SN_POINT_MAX_ROWS];
    double weight[SN_POINT_MAX_ROWS];
} sn_body_point;

// A material point of a body that is not linear in its rows: where it is, and how it follows the
// rows from there.
typedef struct sn_moving_point {
    void *model; // the model's own
    int32_t count;
    int32_t *row; // those that move it
    sn_mat3 *J;   // dx = sum_k J_k d(row k)
    sn_vec3 x;
} sn_moving_point;

// The part of a stiffness that is cheap to find and good to precondition with: rows that belong
// together.
typedef struct sn_near {
    sn_bsr pattern; // what they couple, and the mass
    int32_t set_count;
    int32_t *set_starts; // set_count + 1: the first row of each set, ascending
} sn_near;

typedef struct sn_body_ops {
    // Whether forces are the gradient of an energy; without one, Newton judges its steps by the
    // residual.
    bool has_energy;
    void (*evaluate)(sinew_body *body, sn_evaluation *evaluation);
    // q = base moved by xi, three numbers per row. NULL: q = base + xi.
    void (*retract)(const sinew_body *body, double *q, const double *base, const double *xi);
    // xi that moves `base` to q. NULL: q - base.
    void (*difference)(const sinew_body *body, double *xi, const double *q, const double *base);
    // SINEW_OK, or why there is no interpolation at q. NULL: there always is.
    sinew_status (*check)(sinew_body *body, const double *q);
    // A += s M(q), lower triangle, on a pattern that has room for it, and y = M(q) x. NULL: the
    // constant mass of body/mass.h.
    void (*add_mass)(sinew_body *body, const sn_bsr *pattern, double *matrix, double s,
                     const double *q);
    void (*multiply_mass)(sinew_body *body, double *y, const double *x, const double *q);
    // force += gravity, and, if v is not NULL, velocity-dependent inertia forces (gyroscopic terms)
    // of what does not coast.
    void (*add_gravity)(sinew_body *body, double *force, const double *g, const double *q,
                        const double *v);
    // Of bodies that coast: xi of the free motion of a time h, gyroscopic terms and all. The same
    // by BDF2, from body->q, previous_q and their velocities; momentum is its start, the velocities
    // at body->q whose momentum a step without forces ends with.
    void (*coast)(const sinew_body *body, double *xi, double h);
    void (*coast_bdf2)(const sinew_body *body, double *xi, double *momentum, double h);
    // xi of a time h in which the body as a whole turns and moves on with its momentum, as it is
    // bent. False if it hardly turns, or if its model does not know.
    bool (*find_rigid_step)(const sinew_body *body, double *xi, double h);
    // Of such a body: the turn, as accelerations, that has the torque of these forces with the
    // masses at `place`.
    void (*find_rigid_turn)(const sinew_body *body, double *a, const double *place,
                            const double *force);
    // Velocities that have the right momentum with the masses as in `from` become those that have
    // it at body->q; `mean` is that of the step. Accelerations become those by the same forces.
    void (*transport)(const sinew_body *body, double *v, const double *from, const double *mean);
    void (*transport_acceleration)(const sinew_body *body, double *a, const double *from);
    // Adds to the velocities of a body that nothing holds the turn whose angular momentum its nodes
    // lost on their way, though the forces that gave body->acceleration to the masses at previous_q
    // had no torque at `place`.
    void (*restore_turn)(sinew_body *body, const double *place, double h);
    // Deformation gradient and stress averaged over one element (sample for frames).
    void (*get_element_state)(sinew_body *body, int32_t element, sinew_element_state *state);
    // The same for all elements. NULL: one by one.
    void (*compute_element_states)(sinew_body *body, sinew_element_state *states);
    // The smallest and largest det F over the samples, and the deformed volume.
    void (*measure)(sinew_body *body, double *smallest_J, double *largest_J, double *volume);
    // Adds kinetic and gravity energy, momenta and mass. NULL: every row is a point with its
    // row_mass.
    void (*add_momenta)(sinew_body *body, const double *g, sinew_measures *measures);
    // The share of the volume that is inverted, and how far the body is from being led back
    // (recovery.h). NULL: never.
    void (*measure_recovery)(sinew_body *body, double *inverted, double *deviation);
    // What follows the configuration at the end of a step. NULL: nothing.
    void (*settle)(sinew_body *body);
    // Takes over material number `index`.
    sinew_status (*set_material)(sinew_body *body, int32_t index,
                                 const sinew_material_def *material);
    // The tension of the fibres of material number `index`, finite and not negative. NULL: it has
    // no fibres.
    sinew_status (*set_fibre_stress)(sinew_body *body, int32_t index, double stress);
    // The combination of rows that gives the rest point X, or, with `deformed`, the point that is
    // now at X. False if there is no memory or the body is not linear in its rows.
    bool (*locate)(sinew_body *body, sn_vec3 X, bool deformed, sn_body_point *point);
    // Points of bodies that are not linear in their rows; all five or none. The rest point that is
    // now at x, if there is one; a rest point made to be followed, its lists in the arena; its x
    // and J at q, for which the body is prepared once for all points; and the curvature of its
    // path: blocks[a * count + b] += f . d2x / d(row a) d(row b), as rows turn by exponentials.
    bool (*find_rest_point)(const sinew_body *body, sn_vec3 x, sn_vec3 *X);
    sinew_status (*create_point)(sn_arena *arena, const sinew_body *body, sn_vec3 X,
                                 sn_moving_point *point);
    void (*prepare_points)(const sinew_body *body, const double *q);
    void (*move_point)(const sinew_body *body, sn_moving_point *point);
    void (*add_curvature)(const sinew_body *body, const sn_moving_point *point, sn_vec3 f,
                          sn_mat3 *blocks);
    // Products with the stiffness, for solvers that never hold its matrix; all or none. Whether
    // they pay where a step may choose. Then: the first makes room, also for a tangent that is kept
    // if asked, and gives the pattern that evaluations use then; NULL if this body has no products
    // after all. The second keeps the tangent of the last evaluation that was `near`. The third
    // adds s (K - what such an evaluation puts on the pattern) x, with that tangent or the kept
    // one.
    bool (*prefers_products)(const sinew_body *body);
    sinew_status (*prepare_products)(sinew_body *body, bool kept, const sn_near **near);
    void (*keep_tangent)(sinew_body *body);
    void (*add_far_product)(sinew_body *body, double s, bool kept, double *y, const double *x);
    // Bodies that step by themselves (position dynamics) instead of in an island: finds the state h
    // later, and keeps it to itself until the world accepts the step. Both or neither.
    sinew_status (*advance)(sinew_body *body, const double *gravity, double h);
    void (*accept)(sinew_body *body);
    // Frees what does not live in the body's arena. NULL: nothing.
    void (*release)(sinew_body *body);
} sn_body_ops;

typedef struct sn_load sn_load;

struct sinew_body {
    sinew_context *context;
    sinew_world *world;
    int32_t index;  // among the world's bodies
    sn_arena arena; // owns everything below, and this struct
    const char *name;
    const sn_body_ops *ops;
    void *model;     // the model's own data: sn_elastic, sn_warp, ...
    sinew_mesh mesh; // own copy of the rest mesh; without elements for frame bodies

    uint64_t structure;   // hash of what counts do not tell: snapshots fit bodies with the same
    int32_t rows;         // three unknowns each
    int32_t config_count; // doubles of q
    sn_bsr pattern;
    double *rest; // configuration at rest

    // The state: all of it in one array, so that a snapshot is a copy. Lengths are config_count for
    // configurations and three per row for the rest.
    double *state;
    size_t state_count;
    double *q, *v;                   // configuration, velocity
    double *previous_q, *previous_v; // one step ago, for BDF2
    double *acceleration;            // of the last step, for Newmark
    double *target;                  // configuration prescribed for held unknowns
    double *balance_q; // where forces balanced in the last step (the middle of it for the midpoint
                       // rule)
    double *inertia;   // inertia and damping forces, less those of attachments, that they balanced
                       // there [N]
    double *applied;   // forces set by the user [N]
    double *history;   // one number: steps since the state was last set from outside
    double *recovery;  // one number: steps for which the body may still be led back; 0 as a rule
    double *age;       // one number: seconds stepped since the body's structure last changed

    double *scratch;    // three per row
    double rest_volume; // [m^3]

    uint8_t *mask; // one byte per scalar unknown, not zero where it is held

    // Constant mass (see body/mass.h).
    double *lumped_mass;     // one per scalar unknown [kg]
    double *consistent_mass; // values on the pattern, both triangles; NULL when lumped
    double *row_mass;        // one per row: the mass that a common translation moves [kg]

    bool coasts; // moves by ops->coast and ops->transport

    double mass_damping, stiffness_damping;
    sinew_solver solver; // SINEW_SOLVER_AUTO: the world chooses
    double thickness;    // of triangles [m]
    sn_load *loads;      // newest first
    int32_t load_count;
};

// Refuses a number that names no solver.
sinew_status sn_check_solver(sinew_context *context, sinew_solver solver);

// Frees a body and everything in it.
void sn_body_destroy(sinew_body *body);

// Allocates the state arrays once rows and config_count are known, in an arena that lives as long
// as they are used.
sinew_status sn_body_allocate_state(sinew_body *body, sn_arena *arena);

// Begins to lead the body back if the configuration that was just set is largely inverted, and ends
// when it is.
void sn_body_begin_recovery(sinew_body *body);
void sn_body_end_recovery(sinew_body *body);

// The operations with their linear defaults filled in.
void sn_body_retract(const sinew_body *body, double *q, const double *base, const double *xi);
void sn_body_difference(const sinew_body *body, double *xi, const double *q, const double *base);
void sn_body_add_mass(sinew_body *body, const sn_bsr *pattern, double *matrix, double s,
                      const double *q);
void sn_body_multiply_mass(sinew_body *body, double *y, const double *x, const double *q);

// External forces on rows: gravity, forces set by the user, loads at their scales, and, if asked
// for, gyroscopic forces.
void sn_body_compute_external(sinew_body *body, double *force, const double *gravity,
                              bool gyroscopic);

// Number of doubles of a vector of unknowns.
static inline int32_t sn_body_size(const sinew_body *body) {
    return 3 * body->rows;
}

#endif
