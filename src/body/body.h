// A body: anything with unknowns, energy, forces, stiffness and mass. Most bodies are made of
// elements or frames with samples and materials.
//
// The unknowns of every body are rows of three numbers (a point has one row, a rigid frame two, an
// affine frame four, a quadratic frame ten), so one 3x3 block matrix format serves all of them. The
// configuration q may be longer (a rigid frame stores a quaternion); steps xi, velocities, forces
// and matrices have three numbers per row. The differences between models are behind sn_body_ops
// (ops.h), the only interface that the integrators in dynamics/ use.
#ifndef SN_BODY_BODY_H
#define SN_BODY_BODY_H

#include "body/ops.h"

typedef struct sn_load sn_load;
typedef struct sinew_body_contact_def sinew_body_contact_def; // sinew/contact.h
typedef struct sn_surface_tree sn_surface_tree;               // body/surface_query.c

// A body's entry in the energy ledger (dynamics/ledger.h), stored in the state as four doubles.
typedef struct sn_body_ledger {
    double explained; // energy of the whole island that is accounted for by work [J]
    double kinetic;   // at the end of the last step [J]
    double elastic;   // [J]; NaN if unknown
    double state;     // one of SN_LEDGER_*
} sn_body_ledger;

enum {
    SN_LEDGER_EMPTY,   // begins with the next step
    SN_LEDGER_RUNNING, // unless the state was set from outside: see sinew_body.history
    SN_LEDGER_CHANGED, // the energy changed from outside: materials, fibres
    SN_LEDGER_KEPT,    // stays valid although the history starts again
};

struct sinew_body {
    sinew_context *context;
    sinew_world *world;
    int32_t index;  // in the world's list of bodies
    sn_arena arena; // owns everything below, and this struct
    const char *name;
    const sn_body_ops *ops;
    void *model;     // private data of the model: sn_elastic, sn_warp, ...
    sinew_mesh mesh; // copy of the rest mesh; without elements for frame bodies

    uint64_t revision;          // incremented when points and surfaces must be built again
    uint64_t stiffness_version; // incremented when a material changes
    uint64_t structure;         // hash of the structure: a snapshot fits bodies with an equal hash
    uint64_t origin;            // hash of the mesh and materials that the body was made from
    int32_t rows;               // three unknowns each
    int32_t config_count;       // doubles of q
    sn_bsr pattern;
    double *rest; // configuration at rest

    // The whole state is in one array, so a snapshot is a single copy. Configurations have
    // config_count doubles, all other vectors three per row.
    double *state;
    size_t state_count;
    double *q, *v;                   // configuration, velocity
    double *previous_q, *previous_v; // one step ago, for BDF2
    double *acceleration;            // of the last step, for Newmark
    double *target;                  // configuration prescribed for held unknowns
    // Configuration at which the last step balanced its forces (for the midpoint rule: the middle
    // of the step), and the inertia and damping forces, without those of attachments, in that
    // balance [N].
    double *balance_q, *inertia;
    double *applied;  // forces set by the user [N]
    double *history;  // one number: steps since the state was last set from outside
    double *recovery; // one number: remaining steps of recovery (recovery.h); normally 0
    double *age;      // one number: simulated seconds since the body's structure last changed
    sn_body_ledger *ledger;

    sinew_mesh *surface;             // rest mesh of triangles; destroyed with the body
    const int32_t *surface_nodes;    // [vertex], for a boundary of elements; NULL otherwise
    sinew_embedding *embedding;      // of a separate surface mesh in the elements; NULL otherwise
    double *surface_forces;          // [3 vertex] set by the user [N]; NULL: none
    double *surface_force_room;      // memory for them; NULL until first used
    double *surface_work;            // positions and forces of the vertices; NULL until first used
    sn_surface_tree *surface_tree;   // for rays and nearest points; NULL until first used
    sinew_body_contact_def *contact; // how it takes part in contact; NULL: by default
    struct sn_contact_frames *contact_frames; // that join where it is pressed; NULL: none
    struct sn_contact_shape *contact_shape;   // of the surface; NULL until contact needs it
    struct sinew_point *points;               // created by the user, newest first
    void *user;                               // the user's pointer

    struct sn_element_tree *rest_tree; // of `mesh`, to find points; NULL until first used
    double *scratch;                   // three per row
    double rest_volume;                // [m^3]

    uint8_t *mask; // one byte per scalar unknown, nonzero where it is held

    // Constant mass (see body/mass.h).
    double *lumped_mass;     // one per scalar unknown [kg]
    double *consistent_mass; // values on the pattern, both triangles; NULL when lumped
    double *row_mass;        // one per row: its share of the body's mass [kg]

    bool moves_freely;   // use ops->free_motion
    bool anchored;       // springs of its own hold it to positions
    bool weight_follows; // gravity on the rows depends on the configuration

    double mass_damping, stiffness_damping;
    sinew_solver solver; // SINEW_SOLVER_AUTO: the world chooses
    double thickness;    // of triangles [m]
    sn_load *loads;      // newest first
    int32_t load_count;
};

// Fails if `solver` is not one of the enumerators.
sinew_status sn_check_solver(sinew_context *context, sinew_solver solver);

// Frees a body and everything in it.
void sn_body_destroy(sinew_body *body);

// Allocates the state arrays once rows and config_count are known. The arena must live as long as
// the arrays are used.
sinew_status sn_body_allocate_state(sinew_body *body, sn_arena *arena);

// Begins recovery (recovery.h) if the configuration that was just set is largely inverted, and ends
// it once the body has recovered.
void sn_body_begin_recovery(sinew_body *body);
void sn_body_end_recovery(sinew_body *body);

// Fails unless the axes of all `count` elements, nine numbers each, are orthonormal.
sinew_status sn_check_material_axes(sinew_context *context, const double *axes, int32_t count);

// Tells the ledger that the elastic energy changed although no work was done on the body.
static inline void sn_body_note_energy_change(sinew_body *body) {
    if (body->ledger->state == SN_LEDGER_RUNNING) {
        body->ledger->state = SN_LEDGER_CHANGED;
    }
}

// The operations of ops->motion, with the linear defaults where they are NULL.
void sn_body_retract(const sinew_body *body, double *q, const double *base, const double *xi);
void sn_body_difference(const sinew_body *body, double *xi, const double *q, const double *base);
void sn_body_translate(const sinew_body *body, double *q, sn_vec3 by);
void sn_body_add_mass(sinew_body *body, const sn_bsr *pattern, double *matrix, double s,
                      const double *q);
void sn_body_multiply_mass(sinew_body *body, double *y, const double *x, const double *q);

// External forces on rows: gravity, forces set by the user, loads at their scales and, with
// `gyroscopic`, gyroscopic forces.
void sn_body_compute_external(sinew_body *body, double *force, const double *gravity,
                              bool gyroscopic);

// Allocates zeroed doubles in the body's arena. On failure the arena does not change.
sinew_status sn_body_push_doubles(sinew_body *body, size_t count, double **out);

// Moves a point to the present configuration; returns its velocity there [m/s].
void sn_body_move_point(const sinew_body *body, sn_point *point);
sn_vec3 sn_body_point_velocity(const sinew_body *body, const sn_point *point);

// Number of doubles of a vector of unknowns.
static inline int32_t sn_body_size(const sinew_body *body) {
    return 3 * body->rows;
}

#endif
