// A body: unknowns, interpolation, samples and materials, or whatever else has energy, forces,
// stiffness and mass.
//
// The unknowns of every body are rows of three numbers (a point has one row, a rigid frame two, an
// affine one four, a quadratic one ten), so that one 3x3 block matrix serves all. The configuration
// q may be longer (a rigid frame keeps a quaternion); steps xi, velocities, forces and matrices
// live in the tangent space of rows. What differs between models is behind sn_body_ops (ops.h);
// the integrators in dynamics/ know nothing else.
#ifndef SN_BODY_BODY_H
#define SN_BODY_BODY_H

#include "body/ops.h"

typedef struct sn_load sn_load;
typedef struct sn_surface_tree sn_surface_tree; // body/surface_query.c

// What a body remembers of the energy ledger (dynamics/ledger.h), in the state as four doubles.
typedef struct sn_body_ledger {
    double explained; // energy that work explains, of the whole island [J]
    double kinetic;   // at the end of the last step [J]
    double elastic;   // [J]; NaN if unknown
    double state;     // one of the following
} sn_body_ledger;

enum {
    SN_LEDGER_EMPTY,   // begins with the next step
    SN_LEDGER_RUNNING, // unless the state was set from outside: see sinew_body.history
    SN_LEDGER_CHANGED, // the energy changed from outside: materials, fibres
    SN_LEDGER_KEPT,    // goes on although the history begins again
};

struct sinew_body {
    sinew_context *context;
    sinew_world *world;
    int32_t index;  // among the world's bodies
    sn_arena arena; // owns everything below, and this struct
    const char *name;
    const sn_body_ops *ops;
    void *model;     // the model's own data: sn_elastic, sn_warp, ...
    sinew_mesh mesh; // own copy of the rest mesh; without elements for frame bodies

    uint64_t revision;    // counts changes of what points and surfaces are made of
    uint64_t structure;   // hash of what counts do not tell: snapshots fit bodies with the same
    uint64_t origin;      // hash of the mesh and materials that the body was made from
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
    sn_body_ledger *ledger;

    sinew_mesh *surface;          // rest mesh of triangles; destroyed with the body
    const int32_t *surface_nodes; // [vertex], for a boundary of elements; NULL otherwise
    sinew_embedding *embedding;   // of a surface of its own in elements; NULL otherwise
    double *surface_forces;       // [3 vertex] set by the user [N]; NULL: none
    double *surface_force_room;   // where they are kept; NULL until the first
    double *surface_work; // room for positions and forces of the vertices; NULL until needed
    sn_surface_tree *surface_tree; // for rays and nearest points; NULL until the first
    struct sinew_point *points;    // that the user holds, the newest first
    void *user;                    // the host's own

    struct sn_element_tree *rest_tree; // of `mesh`, for points; NULL until the first one
    double *scratch;                   // three per row
    double rest_volume;                // [m^3]

    uint8_t *mask; // one byte per scalar unknown, not zero where it is held

    // Constant mass (see body/mass.h).
    double *lumped_mass;     // one per scalar unknown [kg]
    double *consistent_mass; // values on the pattern, both triangles; NULL when lumped
    double *row_mass;        // one per row: the mass that a common translation moves [kg]

    bool moves_freely; // its free motion is that of ops->free_motion

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

// The elastic energy of the present configuration changed, though no work was done on the body.
static inline void sn_body_note_energy_change(sinew_body *body) {
    if (body->ledger->state == SN_LEDGER_RUNNING) {
        body->ledger->state = SN_LEDGER_CHANGED;
    }
}

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

// Doubles in the body's arena, zeroed; after a failure the arena is as before.
sinew_status sn_body_push_doubles(sinew_body *body, size_t count, double **out);

// Moves a point to the present configuration, and gives its velocity there [m/s].
void sn_body_move_point(const sinew_body *body, sn_point *point);
sn_vec3 sn_body_point_velocity(const sinew_body *body, const sn_point *point);

// Number of doubles of a vector of unknowns.
static inline int32_t sn_body_size(const sinew_body *body) {
    return 3 * body->rows;
}

#endif
