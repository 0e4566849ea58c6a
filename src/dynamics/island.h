// An island: bodies that attachments couple, solved as one system. Most islands hold one body.
//
// Vectors of an island are those of its bodies one after the other, three numbers a row. A body
// alone assembles straight into the island's matrix; coupled bodies assemble into matrices of their
// own, which a precomputed map adds up. A hard tie eliminates the tied row s by x_s = sum_m w_m
// x_m: its contributions go to the rows m, and its place in the matrix becomes the identity.
#ifndef SN_DYNAMICS_ISLAND_H
#define SN_DYNAMICS_ISLAND_H

#include "dynamics/integrator.h"
#include "dynamics/world.h"
#include "geom/mesh/mesh.h"
#include "linalg/solver.h"

// Where a body's matrix block goes: weight times the block, or its transpose, to a block of the
// island's lower triangle.
typedef struct sn_block_target {
    int32_t slot;
    bool transposed;
    double weight;
} sn_block_target;

typedef struct sn_island_body {
    sinew_body *body;
    int32_t first_row;
    double *trial_q;       // configuration under test
    double *matrix;        // what the body assembles into: the island's matrix if it is alone
    double *damping;       // stiffness damping times the stiffness at the start of the step, both
                           // triangles; NULL without
    const sn_bsr *pattern; // of both
    const sn_local_part *local; // that pattern's, if the body's stiffness comes in products; NULL:
                                // the matrix is whole
    // Coupled: the targets of lower block k are targets[target_starts[k]] to
    // targets[target_starts[k + 1] - 1].
    int32_t *target_starts;
    sn_block_target *targets;
} sn_island_body;

// The rows that a tied row stands for: x = sum_i weight_i x_row(i).
typedef struct sn_carriers {
    int32_t count;
    int32_t row[SN_MAX_ELEMENT_NODES];
    double weight[SN_MAX_ELEMENT_NODES];
} sn_carriers;

// A hard tie in the island's rows: the tied row, and the rows that carry the point.
typedef struct sn_tie {
    int32_t row;
    sn_carriers point;
} sn_tie;

typedef struct sn_link sn_link;
typedef struct sn_island_contact sn_island_contact; // contact.h
typedef struct sn_position sn_position;             // position.c
typedef struct sn_constant sn_constant;             // constant.h

// Energies of an island: see ledger.h. [J]
typedef struct sn_ledger_entry {
    double explained, kinetic, elastic;
    double judged; // the larger of the energies at both ends of the step
} sn_ledger_entry;

// Unknowns that are not solved for: prescribed from outside, or eliminated by a hard tie.
enum { SN_MASK_HELD = 1, SN_MASK_TIED = 2 };

struct sn_island {
    sn_island *next;
    sinew_world *world;
    sn_arena arena; // owns the island
    sn_island_body *bodies;
    int32_t body_count, rows;
    sn_tie *ties;
    int32_t tie_count;
    sn_link *links; // springs and constraints between points
    int32_t link_count, hard_link_count;
    sn_island_contact *contact;      // NULL: nothing of the island takes part
    sn_position *position;           // of bodies under position dynamics, which need nothing but
                                     // bodies, contact, h and two vectors; NULL: of others
    bool has_energy;                 // all bodies have one
    const sn_integrator *integrator; // of the step in progress
    double h;                        // its length [s]
    double energy_before;            // elastic energy where the step begins [J]
    double energy_after;             // where Newton's method left it; as before if linearised [J]
    sn_ledger_entry ledger;          // after the step (ledger.h)

    bool rescued;                          // the step is in rescued_states, not in xi (rescue.h)
    double *saved_states, *rescued_states; // of all bodies; NULL until a step is rescued

    bool matrix_free;      // products take the place of stiffness matrices where bodies have them
    bool remote_stiffness; // whether the system has the stiffness, or the mass alone
    double remote_damping; // what times the bodies' stiffness damping it has of that at the start
                           // of the step
    double *remote_x, *remote_y; // vectors for products
    int32_t *row_sets;           // for the solver: see sn_solver_products
    int32_t row_set_count;
    const sn_bsr *pattern; // of the only body, or own_pattern
    sn_bsr own_pattern;
    double *A; // system matrix, lower triangle
    sn_solver *solver;
    sn_solver_kind solver_kind; // as asked for
    sn_constant *constant;      // a matrix that is kept from step to step; NULL: none
    bool uses_constant;         // ... by the step in progress, instead of A
    uint8_t *mask;              // 0, SN_MASK_HELD or SN_MASK_TIED for each unknown

    // Vectors of three numbers a row.
    double *xi, *trial_xi;    // step from the start configuration, and the one under test
    double *xi_inertia;       // the step that needs no force: acceleration is c (xi - xi_inertia)
    double *velocity_offset;  // velocity is e xi + velocity_offset
    double *prescribed;       // the step of held unknowns, 0 elsewhere
    double *external, *force; // [N]
    double *inertia;          // inertia and damping forces at xi [N]
    double *inertia_offset;   // ... at xi = 0
    double *residual, *direction, *scratch, *product;
    double *positions; // of the rows, if all of them are points; NULL otherwise
};

// Builds the island of these bodies for steps or for static solves; the list is copied. Attachments
// of other bodies are ignored.
sinew_status sn_island_create(sinew_world *world, sinew_body **bodies, int32_t count,
                              bool is_static, sn_island **island);
void sn_island_destroy(sn_island *island);

// How acceleration and velocity follow from the step xi: a = c (xi - xi_inertia),
// v = e xi + velocity_offset. Zero in statics.
typedef struct sn_scheme {
    double c; // [1/s^2]
    double e; // [1/s]
} sn_scheme;

// What an evaluation is to find beside the energy: forces, and the bodies' own matrices (lower
// triangle) as they are or with each sample's share made positive semi-definite.
typedef enum sn_island_want {
    SN_WANT_ENERGY, // of a matrix: the mass alone
    SN_WANT_FORCE,
    SN_WANT_EXACT_STIFFNESS,
    SN_WANT_PROJECTED_STIFFNESS
} sn_island_want;

// Returns the elastic energy at the start configurations moved by xi; forces go to island->force.
double sn_island_evaluate(sn_island *island, const double *xi, sn_island_want want);

// Keeps the stiffness just evaluated as the damping matrix of the step, for bodies that have
// stiffness damping.
void sn_island_keep_damping(sn_island *island);

// A = stiffness just evaluated + c M + e (alpha M + beta K of the start), ties folded in, lower
// triangle. Returns whether penalties of hard links were chosen: their forces are then still to be
// added.
bool sn_island_assemble(sn_island *island, sn_scheme scheme, sn_island_want want);

// island->inertia at xi. Returns the potential of inertia and damping, whose gradient that is (up
// to a constant).
double sn_island_compute_inertia(sn_island *island, sn_scheme scheme, const double *xi);

// Prepares island->inertia_offset for a step, once xi_inertia, velocity_offset and damping are
// known.
void sn_island_compute_inertia_offset(sn_island *island, sn_scheme scheme);

// Adds what the bodies' stiffness and damping have beside the matrix last assembled, times x: to
// all rows, x being that of free unknowns; tied rows follow. `data` is the island.
void sn_island_add_remote_product(void *data, double *y, const double *x);

// The same for a motion x of held unknowns, of which tied rows follow too.
void sn_island_add_held_product(sn_island *island, double *y, const double *x);

// The solver that the island's bodies, or else the world, choose; and whether it, or the choice it
// leaves, is what the island was made for.
sinew_solver sn_island_chosen_solver(const sn_island *island);
bool sn_island_is_current(const sn_island *island, bool is_static);

// Sums of tied rows go to the rows that carry them (transpose), and tied rows follow those.
void sn_island_reduce(const sn_island *island, double *vector);
void sn_island_expand(const sn_island *island, double *vector);

static inline int32_t sn_island_size(const sn_island *island) {
    return 3 * island->rows;
}

#endif
