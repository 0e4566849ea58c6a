// Contact: what the world knows of it, and what an island needs to solve a step with it.
//
// A touch is a pair of features that may carry a force: a vertex of a body or a point inside one of
// its triangles against an obstacle, or two features of bodies. With x the last accepted surface,
// which intersects nothing, the closest points there give coefficients b, a normal n and a distance
// d, and for a trial surface z
//
//   c(z)         = d - thickness + sum b_i n . (z_i - x_i) - n . (motion of the obstacle)
//   normal force = max(0, l - p c(z)) along b_i n,  p = 10 / (n . D^-1 n) for a touch alone
//
// with D the diagonal of the system. The multiplier l is kept from step to step by key and follows
// the force at the end of a step (augmented Lagrangian: Hestenes 1969, Powell 1969). The trial
// surface may intersect; x follows it as far as separating planes allow (contact_commit.c).
//   contact.c           the loop of solves and commits
//   contact_pairs.c     which touches there are
//   contact_forces.c    forces, penalties; contact_matrix.c: stiffness
//   contact_friction.c  Coulomb friction; contact_table.c: its coefficients
//   contact_commit.c    how far surfaces and obstacles may move; contact_aim.c: along what
//   contact_island.c    what an island keeps for contact
//   contact_bodies.c    bodies that touch each other or themselves
//   contact_guest.c     surfaces that an island meets but does not solve for
//   contact_join.c      which bodies are solved together
//   contact_static.c    static solves
//   contact_world.c     definitions and obstacles
//   contact_frames.c    frames that join where a body is pressed
//   contact_report.c    what contact did in the last step
//   contact_state.c     what of it belongs to a snapshot
#ifndef SN_DYNAMICS_CONTACT_H
#define SN_DYNAMICS_CONTACT_H

#include "sinew/contact.h"

#include "contact/obstacle.h"
#include "contact/overlap.h"
#include "contact/scene.h"
#include "dynamics/contact_aim.h"
#include "dynamics/contact_key.h"
#include "dynamics/contact_table.h"
#include "dynamics/newton.h"

struct sinew_obstacle {
    sinew_world *world;
    int32_t index;
    uint32_t number;                       // never used twice in a world
    sn_obstacle_shape shape;               // of those that are not meshes
    sinew_mesh *surface;                   // of a mesh; NULL otherwise
    const sn_contact_shape *surface_shape; // ... and what contact knows of it
    sn_arena arena;                        // of that
    sn_contact_grip grip;
    sn_rigid pose;         // accepted, clear of all bodies
    sn_rigid target;       // where it is to be at the end of the next step
    sn_rigid trial;        // where it is within the step in progress
    sn_rigid origin;       // where it was when slip began to count
    sn_vec3 force, torque; // of the bodies on it in the last step, about its position [N], [N m]
    char name[64];
};

typedef struct sn_touch {
    sn_touch_key key;
    int32_t count;                     // of vertices
    int32_t vertex[SN_TOUCH_VERTICES]; // of the island's surfaces
    double b[SN_TOUCH_VERTICES];
    sn_vec3 normal;
    sn_vec3 point;                  // of the obstacle, or of the second feature [m]
    double distance;                // at x [m]
    double offset;                  // c(z) = offset + sum b_i n . z_i
    sn_vec3 carried;                // motion of the obstacle's point in the whole step [m]
    const sinew_obstacle *obstacle; // NULL: between bodies
    const sinew_body *guest;        // the other body, if it is not solved for here; NULL otherwise
    int32_t own_count;              // with a guest or mesh obstacle: vertices that are not theirs
    double softness;                // how far a unit force moves a guest [m/N]
    double multiplier;              // at the start of the step [N]
    double pressure;                // normal force of the last step, which friction goes by [N]
    double penalty;                 // [N/m]; 0: still to be chosen
    double friction;                // coefficient [-]
    double slip;                    // at which friction is linearised [m]
    double guessed;                 // c at the guess that the touch was made with [m]
    bool pressing;                  // has a normal force, in the last evaluation
    bool exact_friction;            // smoothed Coulomb instead of the secant
    double force;                   // normal, of the last evaluation [N]
    sn_vec3 tangential;             // friction on the first feature, of the last evaluation [N]
} sn_touch;

// One body of an island, as contact sees it.
typedef struct sn_contact_member {
    sn_island_body *member;
    bool on; // takes part
    int32_t first_vertex, vertex_count;
    double thickness;
    sn_contact_grip grip;
    bool by_node;     // vertices are nodes that may stop one by one
    double *commit_q; // configuration of x
    double *hat_q;    // configuration under test
    double *aim_q;    // ... bent along what is in its way (contact_aim.c)
    double *shortest; // the shortest edge at each vertex of the rest surface [m]
    sn_box box;       // of the surface at x

    // Guests (contact_guest.c) have one of these, and no member.
    sinew_body *guest;
    sinew_obstacle *obstacle;
} sn_contact_member;

typedef struct sn_member_motion sn_member_motion; // contact_touch.h
typedef struct sn_contact sn_contact;

// How a vertex in play follows the island's rows.
typedef struct sn_contact_slot {
    int32_t vertex;
    const sn_contact_member *member;
    int32_t first_term, term_count;
    bool plain; // every J is a multiple of the identity
} sn_contact_slot;

typedef struct sn_island_contact {
    sn_contact *contact;        // of the world
    sn_contact_member *members; // of the bodies, then of the guests
    int32_t guest_count;
    double *guest_end; // where the vertices of guests would be at the end of the step
    int32_t vertex_count;
    double *start, *x, *guess, *hat; // surfaces: [3 vertex]
    double *share;                   // of its motion that a vertex may take
    sn_aim aim;
    int32_t *slot_of_vertex; // -1: not in play
    uint8_t *held;           // of each vertex: it moves as prescribed

    sn_contact_scene *scene; // the members as parts; NULL: none can touch another or itself
    double *part_share, *vertex_share, *bulge, *bend; // of a commit
    double *drift_bound; // the share of its drift that obstacles allow a member
    sn_vec3 *shift;
    sn_member_motion *motions;
    sn_contact_overlaps overlaps; // at the start of the step (contact_heal.c)
    sn_vec3 *push;                // of each member, to lead it out of others
    bool fresh;                   // no step has looked for overlaps yet
    bool held_before;             // the last step had pairs without a separating plane
    bool predicted; // x, guess, held and the pairs of the scene are those of the step to come

    // Growing arrays.
    sn_touch *touches, *last_touches;
    int32_t touch_count, last_touch_count;
    size_t touch_capacity, last_touch_capacity;
    sn_contact_slot *slots;
    int32_t slot_count;
    size_t slot_capacity;
    int32_t *term_row;
    sn_mat3 *term_J;
    int32_t term_count;
    size_t term_row_capacity, term_J_capacity;

    sn_bsr_sets sets;  // of rows that touches may couple beyond the patterns of the bodies
    int32_t *row_room; // of the vertex with most rows
    sn_mat3 *J_room;
    sn_mat3 *row_inverse; // of diagonal blocks, where known
    bool *row_known;
    double *kept_matrix; // of small islands

    // Rows of one touch, each once (contact_matrix.c).
    int32_t *merged_place; // of each row; -1: not of the touch
    int32_t *merged_row;
    double *merged_weight;
    sn_mat3 *merged_J;
    double *gram, *gram_weight; // dense sums of small islands; NULL: none
    int32_t *block_of;          // [row * rows + column] of small islands; NULL: searched for

    double largest_thickness; // of the members [m]
    double load;              // sum of external forces, of static solves [N]
    double friction_speed;    // below which friction is smoothed [m/s]
    bool linear;              // the active touches are those of the guess
    bool cramped;             // the pattern has no room for what a touch couples
    bool touching;            // a force acted in the last solve
    sinew_contact_report report;
} sn_island_contact;

// A body in the search for those that may touch: the lower end of its box along x. [m]
typedef struct sn_contact_sweep {
    double lower;
    int32_t body;
} sn_contact_sweep;

// Of a world; NULL without contact.
struct sn_contact {
    sinew_context *context;
    bool on;
    bool tangled;          // bodies may overlap: the next step looks for it
    bool is_static;        // a static solve is in progress (contact_static.c)
    double static_reach;   // ... pairs closer than this many thicknesses have room in the pattern
    double smoothing_time; // ... and smooths friction as in a step of this length [s]
    sinew_contact_def def;
    sinew_obstacle **obstacles;
    int32_t obstacle_count;
    size_t obstacle_capacity;
    uint32_t next_number;
    sn_friction_table table;

    // Which bodies are solved together because they may touch: of each the lowest of its group.
    int32_t *groups;
    size_t group_capacity;
    int32_t group_count;
    bool mixed;           // bodies under position dynamics and others take part
    int32_t *next_groups; // of the step to come
    size_t next_group_capacity;
    sn_contact_sweep *sweep; // of the bodies that take part
    size_t sweep_capacity;
    sn_box *boxes; // of the bodies
    size_t box_capacity;
    double *place; // room for one configuration
    size_t place_capacity;

    // The pairs of bodies that the patterns of the islands have room for.
    sn_touch_key *overlay;
    int32_t overlay_count;
    size_t overlay_capacity;
    bool overlay_valid;
    int64_t renewals; // of patterns so far

    sn_touch_memory *memories; // sorted by key
    int32_t memory_count;
    size_t memory_capacity;
    sn_touch_memory *spare_memories; // where the next step's go
    size_t spare_memory_capacity;

    sinew_contact *contacts; // of the last step
    sn_touch_shares *shares; // ... and how each spreads over vertices
    int32_t contact_count;
    size_t contact_capacity, share_capacity;
    sinew_contact_event *events;
    int32_t event_count;
    size_t event_capacity;
    sinew_contact_report report;
};

static inline sn_vec3 sn_contact_at(const double *positions, int32_t vertex) {
    return sn_load3(sn_at3(positions, vertex));
}

// --- contact_world.c
void sn_contact_destroy(sinew_world *world);
// The key after the body `index` left the world and later ones moved up. False if it named it.
bool sn_touch_key_without_body(sn_touch_key *key, int32_t index);
// After a body left the world: its memories go, the numbers of later bodies fall by one.
void sn_contact_forget_body(sinew_world *world, int32_t index);
// Refuses integrators that contact does not work with.
sinew_status sn_contact_check_integrator(const sinew_world *world, sinew_integrator integrator);

// --- contact_island.c
// Gives an island what contact needs, before its pattern is built; and what depends on the pattern.
sinew_status sn_contact_island_create(sn_island *island);
sinew_status sn_contact_island_finish(sn_island *island);
void sn_contact_island_release(sn_island *island);

// The member that a vertex belongs to.
const sn_contact_member *sn_contact_member_of(const sn_island *island, int32_t vertex);

// Surfaces of the members at their configurations moved by xi from the start of the step.
void sn_contact_compute_surface(const sn_island *island, const double *xi, double *positions);

// --- contact.c
// Before a world's step: bodies that may touch are put into one island. The islands are dropped if
// that, or the room in their patterns, has to change.
sinew_status sn_contact_join(sinew_world *world);
// Once the islands are there: renews their patterns if they have no room for the pairs of features
// that come near each other in the step.
sinew_status sn_contact_cover(sinew_world *world);
// At the start of a world's step: obstacles that move away make room.
sinew_status sn_contact_begin_step(sinew_world *world);
// After all islands were solved: obstacles go where bodies made room; room for accepting the step.
sinew_status sn_contact_end_step(sinew_world *world);

// Begins the solve of an island, once the prediction is known. Whether something may touch.
sinew_status sn_contact_begin(sn_island *island, bool *touching);
// After a solve without contact: moves the surfaces there. Whether the way was clear.
sinew_status sn_contact_follow(sn_island *island, bool *clear);
// The solve with contact, from island->xi.
sinew_status sn_contact_solve(sn_island *island, const sn_newton_def *newton, bool blocked,
                              sinew_step_report *report);

// Gives an accepted body the configuration that was committed; returns the one that was solved for.
const double *sn_contact_take_configuration(sn_island *island, const sn_island_body *member);

// --- contact_static.c
// Static equilibrium of all bodies with contact. The world is as before if it fails.
sinew_status sn_contact_solve_static(sinew_world *world, const sinew_static_def *def,
                                     sinew_step_report *report);

// What is done with an island at its present configuration.
typedef sinew_status sn_island_use(sn_island *island, void *user);
// Hands over the island of a body with the touches of its present configuration, as a static solve
// has them: those that press, with what friction holds sticking. `use` may be called again with
// more room in the pattern. The world is as before.
sinew_status sn_contact_linearise(const sinew_body *body, sn_island_use *use, void *user);

// --- contact_report.c
// Room for what sn_contact_accept_step stores.
sinew_status sn_contact_prepare_accept(sinew_world *world);
// Takes the step over: multipliers, poses, report, contacts, events.
void sn_contact_accept_step(sinew_world *world);
// Events since contacts were as `old` says.
sinew_status sn_contact_renew_events(sinew_world *world, const sn_touch_memory *old,
                                     int32_t old_count);

#endif
