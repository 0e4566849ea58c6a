// Forces of touches, through the transpose of how surface vertices follow rows: a force f on vertex
// i sends J_ik' f to row k.
#include "dynamics/contact_touch.h"

#include "sinew/rigid_body.h"

#include <math.h>
#include <string.h>

// Stiffness of a touch in terms of what the rest of the system has there. Touches must not share
// it: multipliers that follow the gap need a stiffness above a part of the inertia
// (contact_report.c).
static const double penalty_ratio = 10;

// ... in static solves, whose multipliers follow the forces at once.
static const double static_penalty_ratio = 100;

// Forces that change by less than this share of the largest are settled. Friction lags behind slip
// that grows, so that what is left is an error of the same sign in every step.
static const double settled_share = 1e-3;

static bool is_plain(const sn_mat3 *J, int32_t count) {
    for (int32_t k = 0; k < count; k++) {
        const double *m = &J[k].m[0][0];
        if (m[1] != 0 || m[2] != 0 || m[3] != 0 || m[5] != 0 || m[6] != 0 || m[7] != 0 ||
            m[0] != m[4] || m[0] != m[8]) {
            return false;
        }
    }
    return true;
}

// Appends a term, or terms of the rows that carry a tied one.
static void push_term(sn_island *island, int32_t row, sn_mat3 J) {
    sn_island_contact *own = island->contact;
    const sn_carriers *carriers = NULL;
    for (int32_t i = 0; i < island->tie_count; i++) {
        if (island->ties[i].row == row) {
            carriers = &island->ties[i].point;
        }
    }

    if (!carriers) {
        own->term_row[own->term_count] = row;
        own->term_J[own->term_count++] = J;
        return;
    }
    for (int32_t c = 0; c < carriers->count; c++) {
        own->term_row[own->term_count] = carriers->row[c];
        own->term_J[own->term_count++] = sn_mat3_scale(carriers->weight[c], J);
    }
}

static void find_terms(sn_island *island, sn_contact_slot *slot) {
    sn_island_contact *own = island->contact;
    const sn_contact_member *member = slot->member;
    slot->first_term = own->term_count;
    slot->term_count = 0;
    slot->plain = true;
    if (!member->member) {
        return;
    }

    const sinew_body *body = member->member->body;
    int32_t count = body->ops->surface.get_jacobian(body, slot->vertex - member->first_vertex,
                                                    own->row_room, own->J_room);

    slot->plain = is_plain(own->J_room, count);
    for (int32_t k = 0; k < count; k++) {
        push_term(island, member->member->first_row + own->row_room[k], own->J_room[k]);
    }
    slot->term_count = own->term_count - slot->first_term;
}

// Surfaces at the members' trial configurations, and terms of all vertices in play.
static void prepare(sn_island *island) {
    sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        const sinew_body *body = member->member->body;
        if (member->on) { // which prepares the points too
            body->ops->surface.compute(body, member->member->trial_q,
                                       sn_at3(own->hat, member->first_vertex));
        }
    }

    own->term_count = 0;
    for (int32_t i = 0; i < own->slot_count; i++) {
        find_terms(island, &own->slots[i]);
    }
}

static void add_vertex_force(const sn_island_contact *own, const sn_contact_slot *slot, sn_vec3 f,
                             double *force) {
    for (int32_t t = slot->first_term; t < slot->first_term + slot->term_count; t++) {
        sn_add_to3(force + 3 * (size_t)own->term_row[t],
                   sn_mat3_apply_transposed(own->term_J[t], f));
    }
}

// Whether the touch presses, with c at the trial surface.
static bool presses(const sn_island_contact *own, const sn_touch *touch, double c) {
    double at = own->linear ? touch->guessed : c;
    return touch->multiplier - touch->penalty * at > 0;
}

// Finds the forces of one touch at own->hat. Returns its potential.
static double evaluate_touch(const sn_island_contact *own, sn_touch *touch, double smoothing) {
    double c = sn_touch_gap(touch, own->hat);
    touch->pressing = presses(own, touch, c);
    touch->force = touch->pressing ? touch->multiplier - touch->penalty * c : 0;

    sn_friction friction = sn_touch_friction(touch, sn_touch_slip(own, touch, own->hat), smoothing);
    touch->tangential = friction.force;

    double square = touch->force * touch->force - touch->multiplier * touch->multiplier;
    return 0.5 * square / touch->penalty + friction.potential;
}

static void add_touch_force(const sn_island_contact *own, const sn_touch *touch, double sign,
                            double *force) {
    sn_vec3 f = sn_madd(touch->tangential, touch->force, touch->normal);
    for (int k = 0; k < touch->count; k++) {
        add_vertex_force(own, sn_touch_slot(own, touch, k), sn_scale(sign * touch->b[k], f), force);
    }
}

double sn_contact_evaluate(sn_island *island, double *force) {
    sn_island_contact *own = island->contact;
    if (own->touch_count == 0) {
        return 0;
    }

    prepare(island);
    double smoothing = sn_contact_smoothing(island);
    double potential = 0;
    for (int32_t i = 0; i < own->touch_count; i++) {
        sn_touch *touch = &own->touches[i];
        if (touch->penalty == 0) {
            continue;
        }
        potential += evaluate_touch(own, touch, smoothing);
        if (force) {
            add_touch_force(own, touch, 1, force);
        }
    }
    return potential;
}

// The inverse of a diagonal block, without the directions that are held.
static sn_mat3 inverse_of_block(const sn_island *island, int32_t row) {
    const double *block = island->A + 9 * (size_t)island->pattern->diagonal[row];
    const uint8_t *mask = island->mask + 3 * (size_t)row;
    sn_mat3 D;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            D.m[i][j] = mask[i] || mask[j] ? (i == j) : block[3 * i + j];
        }
    }
    if (!(sn_mat3_det(D) > 0)) {
        return (sn_mat3){{{0}}};
    }

    sn_mat3 inverse = sn_mat3_inverse(D);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            if (mask[i] || mask[j]) {
                inverse.m[i][j] = 0;
            }
        }
    }
    return inverse;
}

const sn_mat3 *sn_contact_row_inverse(sn_island *island, int32_t row) {
    sn_island_contact *own = island->contact;
    if (!own->row_known[row]) {
        own->row_known[row] = true;
        own->row_inverse[row] = inverse_of_block(island, row);
    }
    return &own->row_inverse[row];
}

// How far a unit force along the normal opens the touch, by the diagonal of the matrix. [m/N]
static double compliance_of(sn_island *island, const sn_touch *touch) {
    const sn_island_contact *own = island->contact;
    double sum = 0;
    for (int k = 0; k < touch->count; k++) {
        const sn_contact_slot *slot = sn_touch_slot(own, touch, k);
        for (int32_t t = slot->first_term; t < slot->first_term + slot->term_count; t++) {
            sn_vec3 f = sn_mat3_apply_transposed(own->term_J[t], touch->normal);
            const sn_mat3 *inverse = sn_contact_row_inverse(island, own->term_row[t]);
            sum += touch->b[k] * touch->b[k] * sn_dot(f, sn_mat3_apply(*inverse, f));
        }
    }
    return sum;
}

bool sn_contact_is_open(const sn_island *island) {
    const sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < own->touch_count; i++) {
        if (own->touches[i].penalty == 0) {
            return true;
        }
    }
    return false;
}

// In a static solve the diagonal of a rigid body has nothing but the stiffness that holds it where
// it is, which vanishes: the penalty is then at least what bears the loads within a thickness.
static double static_penalty(const sn_island *island, const sn_touch *touch, double compliance) {
    const sn_island_contact *own = island->contact;
    double penalty = static_penalty_ratio / compliance;
    for (int k = 0; k < touch->count; k++) {
        const sn_contact_member *member = sn_contact_member_of(island, touch->vertex[k]);
        if (sinew_body_is_rigid(member->member->body)) {
            penalty = fmax(penalty, own->load / member->thickness);
        }
    }
    return penalty;
}

bool sn_contact_choose_penalties(sn_island *island, double *potential) {
    sn_island_contact *own = island->contact;
    *potential = 0;
    if (!sn_contact_is_open(island)) {
        return false;
    }

    bool any = false;
    double smoothing = sn_contact_smoothing(island);
    memset(own->row_known, 0, (size_t)island->rows * sizeof *own->row_known);
    for (int32_t i = 0; i < own->touch_count; i++) {
        sn_touch *touch = &own->touches[i];
        if (touch->penalty > 0) {
            continue;
        }

        // What is held on all sides needs no force.
        double compliance = compliance_of(island, touch);
        if (!(compliance > 0)) {
            continue;
        }

        touch->penalty = own->contact->is_static
                             ? static_penalty(island, touch, compliance)
                             : 1 / (compliance / penalty_ratio + touch->softness);
        *potential += evaluate_touch(own, touch, smoothing);
        add_touch_force(own, touch, 1, island->force);
        any = true;
    }
    return any;
}

// c after the step `direction`, to first order.
static double predict_gap(const sn_island_contact *own, const sn_touch *touch,
                          const double *direction) {
    double c = sn_touch_gap(touch, own->hat);
    for (int k = 0; k < touch->count; k++) {
        const sn_contact_slot *slot = sn_touch_slot(own, touch, k);
        for (int32_t t = slot->first_term; t < slot->first_term + slot->term_count; t++) {
            sn_vec3 d = sn_load3(direction + 3 * (size_t)own->term_row[t]);
            c += touch->b[k] * sn_dot(touch->normal, sn_mat3_apply(own->term_J[t], d));
        }
    }
    return c;
}

bool sn_contact_revise(sn_island *island, const double *direction) {
    sn_island_contact *own = island->contact;
    double smoothing = sn_contact_smoothing(island);
    bool changed = false;
    for (int32_t i = 0; i < own->touch_count; i++) {
        sn_touch *touch = &own->touches[i];
        if (touch->penalty == 0) {
            continue;
        }

        // Does the touch press where the solution goes, other than assumed?
        touch->guessed = predict_gap(own, touch, direction);
        if (touch->pressing == (touch->multiplier - touch->penalty * touch->guessed > 0)) {
            continue;
        }

        // Exchange its force in the residual, and its normal stiffness in the matrix.
        changed = true;
        add_touch_force(own, touch, -1, island->force);
        evaluate_touch(own, touch, smoothing);
        add_touch_force(own, touch, 1, island->force);
        sn_contact_exchange_stiffness(island, touch);
    }

    if (changed) {
        sn_contact_restore_matrix(island);
    }
    return changed;
}

// The normal force that the last solve led to.
static double solved_force(const sn_island_contact *own, const sn_touch *touch) {
    return touch->pressing ? touch->multiplier - touch->penalty * sn_touch_gap(touch, own->hat) : 0;
}

// How much the force of a touch changes from that of the last solve, `last`.
static double force_change(const sn_island_contact *own, const sn_touch *last,
                           const sn_touch *touch, double smoothing) {
    double before = solved_force(own, last);
    double now = fmax(0, touch->multiplier - touch->penalty * sn_touch_gap(touch, own->hat));
    sn_vec3 normal = sn_sub(sn_scale(now, touch->normal), sn_scale(before, last->normal));

    sn_friction old = sn_touch_friction(last, sn_touch_slip(own, last, own->hat), smoothing);
    sn_friction new = sn_touch_friction(touch, sn_touch_slip(own, touch, own->hat), smoothing);
    return sn_length(normal) + sn_distance(old.force, new.force);
}

bool sn_contact_is_settled(const sn_island *island) {
    const sn_island_contact *own = island->contact;
    double largest = 0;
    int32_t pressing = 0;
    for (int32_t i = 0; i < own->last_touch_count; i++) {
        const sn_touch *last = &own->last_touches[i];
        largest = fmax(largest, solved_force(own, last));
        pressing += last->pressing;
    }

    // Every touch of the last solve with a force must still be there.
    double smoothing = sn_contact_smoothing(island);
    for (int32_t i = 0; i < own->touch_count; i++) {
        const sn_touch *touch = &own->touches[i];
        const sn_touch *last = sn_contact_find_last(own, touch->key);
        if (!last || !(force_change(own, last, touch, smoothing) <= settled_share * largest)) {
            return false;
        }
        pressing -= last->pressing;
    }
    return pressing == 0;
}

bool sn_contact_meets_obstacles(const sn_island *island) {
    const sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < own->touch_count; i++) {
        if (own->touches[i].obstacle || own->touches[i].guest) {
            return true;
        }
    }
    return false;
}

double sn_contact_largest_stiffness(const sn_island *island) {
    const sn_island_contact *own = island->contact;
    double largest = 0;
    for (int32_t i = 0; i < own->touch_count; i++) {
        if (own->touches[i].pressing) {
            largest = fmax(largest, own->touches[i].penalty);
        }
    }
    return largest;
}

void sn_contact_add_forces(const sn_island *island, double sign, double *force) {
    const sn_island_contact *own = island->contact;
    if (!own->touching) {
        return;
    }
    for (int32_t i = 0; i < own->touch_count; i++) {
        add_touch_force(own, &own->touches[i], sign, force);
    }
}

double sn_contact_compute_work(const sn_island *island) {
    const sn_island_contact *own = island->contact;
    double sum = 0;
    if (!own->touching) {
        return 0;
    }

    for (int32_t i = 0; i < own->touch_count; i++) {
        const sn_touch *touch = &own->touches[i];
        sn_vec3 f = sn_madd(touch->tangential, touch->force, touch->normal);
        double work = 0;
        for (int k = 0; k < touch->count; k++) {
            sn_vec3 moved = sn_sub(sn_contact_at(own->hat, touch->vertex[k]),
                                   sn_contact_at(own->start, touch->vertex[k]));
            work += touch->b[k] * sn_dot(f, moved);
        }
        sum += fmax(0, work);
    }
    return sum;
}

double sn_contact_finish_forces(sn_island *island) {
    sn_island_contact *own = island->contact;
    double largest = 0;
    own->linear = false;
    own->touching = false;
    for (int32_t i = 0; i < own->touch_count; i++) {
        sn_touch *touch = &own->touches[i];
        touch->force =
            touch->penalty > 0
                ? fmax(0, touch->multiplier - touch->penalty * sn_touch_gap(touch, own->hat))
                : 0;
        sn_vec3 slip = sn_touch_slip(own, touch, own->hat);
        if (touch->penalty > 0) {
            touch->tangential = sn_touch_friction(touch, slip, sn_contact_smoothing(island)).force;
        }
        touch->slip = sn_length(slip);

        double force = sn_length(sn_madd(touch->tangential, touch->force, touch->normal));
        own->touching = own->touching || force > 0;
        largest = fmax(largest, force);
    }
    return largest;
}
