// Links inside an island: two points of its bodies, or a point and a position, drawn together by a
// spring or held together by a force.
//
// With the gap g = x_tied - x_target, a spring has the energy k |g|^2 / 2. A hard link is the
// constraint g = 0, solved for with the augmented Lagrangian l.g + p |g|^2 / 2 (Hestenes 1969,
// Powell 1969): Newton's method finds the step, and after each the multiplier l takes over what the
// penalty p carried, l += p (g + C d), d the step and C = dg/dxi. With p a thousand times the
// stiffness that the rest of the system has at the link, each linear solve leaves a thousandth of
// the gap, and the multiplier of the next one the rest; there is no stiff spring in the result, and
// redundant links do no harm.
//
// Where points turn with their frames, C changes with the step: l.d2g is part of the stiffness
// (only of the exact one; the projected one is positive semi-definite without).
#ifndef SN_DYNAMICS_LINK_H
#define SN_DYNAMICS_LINK_H

#include "dynamics/island.h"

// The penalty of a hard link in terms of the stiffness that the rest of the system has there.
#define SN_LINK_PENALTY_RATIO 1e3

// One end: a point of a body, or a position.
typedef struct sn_link_end {
    sn_island_body *member;         // NULL: a position
    sn_point *point;                // of the attachment
    int32_t first_term, term_count; // its share of the link's terms
} sn_link_end;

struct sn_link {
    sinew_attachment *attachment;
    sn_link_end ends[2]; // tied, target
    bool hard;
    bool open;          // hard, and the penalty is still to be chosen
    double stiffness;   // [N/m] of the spring, or the penalty
    sn_vec3 multiplier; // [N] of a hard link
    sn_vec3 gap;        // [m] where it was last evaluated
    sn_vec3 left;       // ... and what a step found by the linear solver leaves of it
    int32_t count;      // terms: d gap = sum_k C_k d(row k), rows of the island, none of them tied
    int32_t *row;
    sn_mat3 *C;
    sn_mat3 *curvature; // room for count times count blocks
};

// Copies the world's attachments that are links into the island. After sn_coupling_collect_ties.
sinew_status sn_links_collect(sn_island *island);

// Begins a solve: springs as stiff as their attachments say, no penalties, no multipliers.
void sn_links_begin(sn_island *island);

// Gaps, terms and forces at the members' trial configurations; forces are added if `force` is not
// NULL. Returns the energy.
double sn_links_evaluate(sn_island *island, double *force);

// Adds the forces at the gaps and terms of the last evaluation, of hard links only if asked.
// Returns their energy.
double sn_links_add_forces(const sn_island *island, bool hard_only, double *force);

// What of the links goes into the matrix.
typedef enum sn_link_part {
    SN_LINKS_HARD,      // penalties alone
    SN_LINKS_PROJECTED, // penalties and springs
    SN_LINKS_EXACT,     // and the curvature of the points' paths
} sn_link_part;

// Chooses penalties, where there are none yet, by the diagonal of the island's matrix. Returns
// whether it did.
bool sn_links_choose_penalties(sn_island *island);
void sn_links_add_matrix(sn_island *island, sn_link_part part);

// What the step `direction` leaves of the gaps of the last evaluation, to first order; and the
// multipliers after the share t of it.
void sn_links_predict(sn_island *island, const double *direction);
void sn_links_advance(sn_island *island, double t);

// The gaps alone, divided by `reach`, at the start configurations moved by xi; the terms stay.
void sn_links_compute_gaps(sn_island *island, const double *xi, double reach);

// The largest force that hard links would still have to add: p |g|, or infinity for a gap whose
// penalty is not chosen. [N]
double sn_links_largest_residual(const sn_island *island);
// force -= C' p g of hard links.
void sn_links_add_residual(const sn_island *island, double *force);

// At the end of a solve: the attachments receive the forces of their hard links, and out -= the
// forces of all links, for the reactions at supports that carry them.
void sn_links_subtract_tensions(sn_island *island, const double *xi, double *out);

// The largest stiffness of a link. [N/m]
double sn_links_largest_stiffness(const sn_island *island);

// Whether a link holds the island to a place.
bool sn_links_hold(const sn_island *island);

#endif
