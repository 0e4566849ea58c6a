// What the files of contact share: finding touches, their forces and friction, and the commit.
#ifndef SN_DYNAMICS_CONTACT_TOUCH_H
#define SN_DYNAMICS_CONTACT_TOUCH_H

#include "contact/commit.h"
#include "dynamics/contact.h"

// contact_world.c ------------------------------------------------------------------------------

// What the world knows of contact, made if it is not there yet.
sinew_status sn_contact_get(sinew_world *world, sn_contact **out);

// How far ahead motion is predicted: a static solve knows no velocities. [s]
static inline double sn_contact_horizon(const sinew_world *world) {
    return world->contact->is_static ? 0 : world->def.step;
}

// contact.c ------------------------------------------------------------------------------------

// Counts the touches, whose forces are known, in the island's report.
void sn_contact_report_touches(sn_island *island, double largest_force);

// contact_pairs.c ------------------------------------------------------------------------------

// Whether a step is solved until it converges: the mode says so, or the integrator does.
static inline bool sn_contact_is_reliable(const sn_island *island) {
    return island->contact->contact->def.mode == SINEW_CONTACT_RELIABLE ||
           !island->integrator->linearised;
}

// Lists the touches at x that carry a force or come to carry one at `guess`; the last list is kept
// in own->last_touches.
sinew_status sn_contact_find_touches(sn_island *island, double *guess, bool first);
// Puts the vertices of the listed touches in play.
sinew_status sn_contact_take_touches(sn_island *island);
// Goes back to the last list, whose vertices are in play.
void sn_contact_drop_touches(sn_island *island);

// The same touch in the last solve of this step; NULL if there was none.
const sn_touch *sn_contact_find_last(const sn_island_contact *own, sn_touch_key key);

// Lists a touch that was measured if it carries a force or comes within `margin` of one.
sinew_status sn_contact_offer_touch(sn_island *island, const double *guess, bool first,
                                    double margin, sn_touch *touch);

// The gap c(z) of a touch less what it keeps, at the surface z. [m]
static inline double sn_touch_gap(const sn_touch *touch, const double *z) {
    double c = touch->offset;
    for (int k = 0; k < touch->count; k++) {
        c += touch->b[k] * sn_dot(touch->normal, sn_contact_at(z, touch->vertex[k]));
    }
    return c;
}

// Lets c be `gap` at the surface x.
static inline void sn_touch_set_gap(sn_touch *touch, const double *x, double gap) {
    touch->offset = 0;
    touch->offset = gap - sn_touch_gap(touch, x);
}

// The slot of a vertex in play.
static inline const sn_contact_slot *sn_touch_slot(const sn_island_contact *own,
                                                   const sn_touch *touch, int k) {
    return &own->slots[own->slot_of_vertex[touch->vertex[k]]];
}

// contact_forces.c -----------------------------------------------------------------------------

// Adds the forces at the members' trial configurations, if `force` is not NULL. Returns the
// potential.
double sn_contact_evaluate(sn_island *island, double *force);

// Chooses penalties where there are none yet, by the diagonal of the island's matrix, and adds the
// forces of those touches to island->force. Returns whether there were any, and their potential.
bool sn_contact_choose_penalties(sn_island *island, double *potential);
// After a solve for `direction`: whether touches press there that did not, or the other way round.
// If so, island->force has the forces of the new set, and the matrix their stiffness.
bool sn_contact_revise(sn_island *island, const double *direction);
// Whether a penalty is still to be chosen, so that no balance is one yet.
bool sn_contact_is_open(const sn_island *island);
// Whether the touches at the trial surface own->hat have the forces there that the last solve led
// to, up to a thousandth of the largest.
bool sn_contact_is_settled(const sn_island *island);
// Whether there is a touch with an obstacle.
bool sn_contact_meets_obstacles(const sn_island *island);
double sn_contact_largest_stiffness(const sn_island *island);

// The inverse of the diagonal block of a row of the island's matrix, without the directions that
// are held; kept until own->row_known is cleared.
const sn_mat3 *sn_contact_row_inverse(sn_island *island, int32_t row);

// The forces at the end of a step, at own->hat: normal ones are the new multipliers. Returns the
// largest. [N]
double sn_contact_finish_forces(sn_island *island);

// force += sign times the contact forces of the last evaluation.
void sn_contact_add_forces(const sn_island *island, double sign, double *force);

// What the forces of the last evaluation did along the step, where they drove. [J]
double sn_contact_compute_work(const sn_island *island);

// contact_matrix.c -----------------------------------------------------------------------------

void sn_contact_add_matrix(sn_island *island);
// Keeps the island's matrix with contact, if the island is small enough to solve again with other
// touches.
bool sn_contact_keep_matrix(sn_island *island);
// Adds to the kept matrix the normal stiffness of a touch that has come to press, or takes away
// that of one that presses no longer.
void sn_contact_exchange_stiffness(sn_island *island, const sn_touch *touch);
// The island's matrix is the one that was kept.
void sn_contact_restore_matrix(sn_island *island);
// The place of a block of the matrix, row and column in any order; -1: the pattern has none.
int32_t sn_contact_find_block(const sn_island *island, int32_t row, int32_t column);

// contact_friction.c ---------------------------------------------------------------------------

// Tangential motion of the first feature against the second since the start of the step, z being
// the trial surface. [m]
sn_vec3 sn_touch_slip(const sn_island_contact *own, const sn_touch *touch, const double *z);

// Friction at a slip: the force on the first feature, the potential, and the stiffness in the
// tangent plane, k I + (k_along - k) d d' with d the direction of the slip.
typedef struct sn_friction {
    sn_vec3 force;
    double potential;
    double k, k_along;
    sn_vec3 direction;
} sn_friction;

sn_friction sn_touch_friction(const sn_touch *touch, sn_vec3 slip, double smoothing);

// Slip below which friction is smoothed in a step. [m]
double sn_contact_smoothing(const sn_island *island);

// contact_commit.c -----------------------------------------------------------------------------

// Moves x towards the surface `hat` of the members' configurations hat_q, as far as is certified.
// `lag` receives what is left of the way, largest over the vertices. [m] With `bend`, bodies that
// move as a whole go along what is in their way; island->A must be the matrix of the last solve.
sinew_status sn_contact_commit(sn_island *island, bool bend, double *lag);

// The share of a translation by `drift` that obstacles allow each member.
void sn_contact_bound_drifts(sn_island *island, const sn_vec3 *drift, double *bound);

// Lowers the shares of vertices on their way from the surface `from` to own->hat to what obstacles
// allow; `user` is the island.
void sn_contact_bound_by_obstacles(void *user, const double *from, double *share);

// Moves obstacles on from their trial poses towards their targets, as far as the surfaces x of all
// islands let them.
sinew_status sn_contact_move_obstacles(sinew_world *world);

// contact_aim.c --------------------------------------------------------------------------------

// Computes aim_q of the members and own->aim.surface from hat_q and own->hat.
sinew_status sn_contact_aim(sn_island *island);
// After a commit was limited on its way to the aim: remembers what was in the way, for the next.
sinew_status sn_contact_note_bars(sn_island *island, const sn_contact_motion *motion);
void sn_contact_aim_release(sinew_context *context, sn_aim *aim);

// contact_guest.c ------------------------------------------------------------------------------

// How many guests an island has; appends them to own->members.
int32_t sn_contact_count_guests(const sn_island *island);
sinew_status sn_contact_push_guests(sn_island *island);
// Puts the surfaces of guests where they are now, in x and all that follows from it.
void sn_contact_place_guests(sn_island *island);
// Writes to y where the vertices of guests would be at the end of the step.
void sn_contact_sweep_guests(sn_island *island, double *y);
// Completes the touch of a body and the guest `part`; `first_side` vertices are of the pair's first
// side. False if there is no touch, because its forces belong to another island.
bool sn_contact_finish_guest_touch(sn_island *island, int32_t part, int first_side,
                                   sn_touch *touch);
// Moves a mesh obstacle on towards its target, as far as the surfaces x of all islands let it.
sinew_status sn_contact_move_mesh(sinew_world *world, sinew_obstacle *obstacle);
// Checks the mesh of an obstacle, and copies it; its shape is pushed into the arena.
sinew_status sn_contact_read_mesh(sinew_context *context, const sinew_mesh *mesh, sn_arena *arena,
                                  sinew_mesh **copy, const sn_contact_shape **shape);

// The body whose surface it is; NULL: an obstacle's.
static inline sinew_body *sn_contact_body_of(const sn_contact_member *member) {
    return member->member ? member->member->body : member->guest;
}

// The gap that a body keeps. [m]
double sn_contact_thickness_of(const sinew_body *body);

// contact_bodies.c -----------------------------------------------------------------------------

// The mean motion of a body in a step, and the box of its surface on the way.
struct sn_member_motion {
    sn_vec3 mean;
    sn_box box;
    bool free; // nothing of it is held
};

// The surface of a body after a step of a time h with gravity alone, held unknowns at their
// targets; q receives the configuration without gravity.
void sn_contact_predict(const sinew_body *body, double h, double *q, double *positions);
// own->x, own->guess and own->held for a step of a time h from the bodies' configurations.
void sn_contact_predict_surfaces(sn_island *island, double h);
// Gives an island whose bodies can touch each other or themselves a scene of its surfaces, and adds
// the rows that pairs of features near each other couple to own->sets.
sinew_status sn_contact_make_scene(sn_island *island);
// Finds the pairs of features that come near each other while the surfaces move from x to y.
sinew_status sn_contact_search(sn_island *island, const double *y);
// Appends the touches of pairs of features at x to own->touches.
sinew_status sn_contact_find_body_touches(sn_island *island, double *guess, bool first);
// Moves bodies whose pairs of features would brake them as a whole, and computes own->share: what
// pairs and obstacles leave of the remaining motion of each vertex to own->hat. Needs a scene.
sinew_status sn_contact_limit_by_bodies(sn_island *island);

#endif
