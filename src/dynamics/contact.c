// One step of an island with contact: solve, and let the surfaces follow as far as they may; again
// from there.
//
// Interactive: at most two linear solves. The first takes as active what the prediction of free
// motion says, so that an impact is seen before it happens; the second what the first one found. It
// is left out if the forces that the first one assumed are those that it leads to, and followed by
// a third if surfaces are left behind by more than the gap that they keep, as in fast impacts,
// where two solves would gain energy. Reliable: until neither the solution nor what the surfaces
// lag behind it moves faster than a thousandth of the largest body's size a second, with a line
// search from the second solve on.
//
// Velocities come from the solution, not from where the surfaces stopped: what a commit takes away
// is position and not momentum.
#include "dynamics/contact_heal.h"
#include "dynamics/contact_touch.h"

#include "linalg/vector.h"

#include <math.h>
#include <string.h>

enum { INTERACTIVE_SOLVES = 2, HASTY_SOLVES = 3, RELIABLE_SOLVES = 30 };

sinew_status sn_contact_begin_step(sinew_world *world) {
    bool moves = false;
    for (int32_t o = 0; o < world->contact->obstacle_count; o++) {
        sinew_obstacle *obstacle = world->contact->obstacles[o];
        obstacle->trial = obstacle->pose;
        if (!world->contact->is_static) {
            obstacle->origin = obstacle->pose;
        }
        moves = moves || memcmp(&obstacle->pose, &obstacle->target, sizeof obstacle->pose) != 0;
    }
    if (!moves) {
        return SINEW_OK;
    }

    for (sn_island *island = world->islands; island; island = island->next) {
        sn_island_contact *own = island->contact;
        for (int32_t i = 0; own && i < island->body_count; i++) {
            const sn_contact_member *member = &own->members[i];
            const sinew_body *body = member->member->body;
            if (member->on) {
                body->ops->surface.compute(body, body->q, sn_at3(own->x, member->first_vertex));
            }
        }

        // Mesh obstacles that move on change what was found near them.
        if (own && own->guest_count > 0) {
            own->predicted = false;
        }
    }
    return sn_contact_move_obstacles(world);
}

sinew_status sn_contact_end_step(sinew_world *world) {
    SN_TRY(sn_contact_move_obstacles(world));
    return sn_contact_prepare_accept(world);
}

// Whether a vertex follows held rows only.
static bool is_held(const sn_island *island, const sn_contact_member *member, int32_t vertex) {
    const sn_island_contact *own = island->contact;
    const sinew_body *body = member->member->body;
    int32_t count = body->ops->surface.get_jacobian(body, vertex, own->row_room, NULL);
    for (int32_t k = 0; k < count; k++) {
        const uint8_t *mask = body->mask + 3 * (size_t)own->row_room[k];
        if (!mask[0] || !mask[1] || !mask[2]) {
            return false;
        }
    }
    return true;
}

// Whether any unknown of a body is held.
static bool holds(const sinew_body *body) {
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        if (body->mask[i]) {
            return true;
        }
    }
    return false;
}

static void find_held(sn_island *island) {
    sn_island_contact *own = island->contact;
    memset(own->held, 0, (size_t)own->vertex_count * sizeof *own->held);
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        if (!member->on || !holds(member->member->body)) {
            continue;
        }
        for (int32_t v = 0; v < member->vertex_count; v++) {
            own->held[member->first_vertex + v] = is_held(island, member, v);
        }
    }
}

void sn_contact_predict_surfaces(sn_island *island, double h) {
    sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        const sinew_body *body = member->member->body;
        if (member->on) {
            body->ops->surface.compute(body, body->q, sn_at3(own->x, member->first_vertex));
            sn_contact_predict(body, h, member->hat_q, sn_at3(own->guess, member->first_vertex));
        }
    }
    find_held(island);
    sn_contact_place_guests(island);
}

// What overlaps before the step, which may heal it at once.
static void count_overlaps(sn_island_contact *own) {
    for (int32_t i = 0; i < own->touch_count; i++) {
        double depth = -own->touches[i].distance;
        own->report.overlaps += depth > 0;
        own->report.deepest = fmax(own->report.deepest, depth);
    }
}

sinew_status sn_contact_begin(sn_island *island, bool *touching) {
    sn_island_contact *own = island->contact;
    own->report = (sinew_contact_report){.smallest_gap = INFINITY};
    own->linear = true;
    own->touching = false;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        const sinew_body *body = member->member->body;
        memcpy(member->commit_q, body->q, (size_t)body->config_count * sizeof(double));
    }

    own->predicted = own->predicted && island->h == island->world->def.step;
    if (!own->predicted) {
        sn_contact_predict_surfaces(island, island->h);
        if (own->fresh) {
            SN_TRY(sn_contact_find_overlaps(island));
        }
    }
    memcpy(own->start, own->x, 3 * (size_t)own->vertex_count * sizeof(double));
    SN_TRY(sn_contact_find_touches(island, own->guess, true));
    SN_TRY(sn_contact_take_touches(island));
    count_overlaps(own);
    sn_contact_count_overlaps(island, &own->report);
    own->predicted = false;
    *touching = own->touch_count > 0;
    return SINEW_OK;
}

sinew_status sn_contact_follow(sn_island *island, bool *clear) {
    sn_island_contact *own = island->contact;
    double lag;
    sn_contact_compute_surface(island, island->xi, own->hat);
    SN_TRY(sn_contact_commit(island, false, &lag));
    *clear = lag == 0;
    if (*clear) {
        own->touch_count = 0;
        return SINEW_OK;
    }

    // Back to the start: what the step found is only a better prediction now.
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        const sinew_body *body = member->member->body;
        memcpy(member->commit_q, body->q, (size_t)body->config_count * sizeof(double));
    }
    memcpy(own->x, own->start, 3 * (size_t)own->vertex_count * sizeof(double));
    memcpy(own->guess, own->hat, 3 * (size_t)own->vertex_count * sizeof(double));
    return SINEW_OK;
}

void sn_contact_report_touches(sn_island *island, double largest_force) {
    sn_island_contact *own = island->contact;
    sinew_contact_report *report = &own->report;
    report->largest_force = largest_force;
    report->pairs = own->touch_count;
    for (int32_t i = 0; i < own->touch_count; i++) {
        const sn_touch *touch = &own->touches[i];
        report->active += touch->force > 0;
        report->smallest_gap = fmin(report->smallest_gap, touch->distance);
    }
}

sinew_status sn_contact_solve(sn_island *island, const sn_newton_def *newton, bool blocked,
                              sinew_step_report *report) {
    sn_island_contact *own = island->contact;
    sn_newton_def def = *newton;
    bool reliable = sn_contact_is_reliable(island);
    int32_t most = reliable ? RELIABLE_SOLVES : INTERACTIVE_SOLVES;
    double tolerance = own->friction_speed * island->h;

    // A solve without contact that was blocked knows more than the prediction.
    if (blocked) {
        SN_TRY(sn_contact_find_touches(island, own->guess, true));
        SN_TRY(sn_contact_take_touches(island));
    }

    sn_newton_begin(island);
    report->outcome = SINEW_OUTCOME_ITERATION_LIMIT;
    for (int32_t solve = 0;; solve++) {
        own->linear = !reliable || solve == 0;

        bool done;
        double moved;
        def.linearised = own->linear;
        SN_TRY(sn_newton_iterate(island, &def, solve, &moved, &done, report));
        own->report.solves++;
        if (report->outcome == SINEW_OUTCOME_NOT_FINITE) {
            return SINEW_OK;
        }

        sn_contact_compute_surface(island, island->xi, own->hat);
        double lag;
        SN_TRY(sn_contact_commit(island, true, &lag));
        if (reliable && solve > 0 && (moved <= tolerance) && lag <= tolerance) {
            report->outcome = SINEW_OUTCOME_CONVERGED;
            break;
        }
        bool hasty = !reliable && lag > own->largest_thickness;
        if (solve + 1 >= (hasty ? HASTY_SOLVES : most)) {
            break;
        }

        // Planes at the new surfaces, and whether they change anything.
        own->linear = !reliable;
        SN_TRY(sn_contact_find_touches(island, own->hat, false));
        if (!reliable && lag == 0 && sn_contact_is_settled(island)) {
            sn_contact_drop_touches(island);
            break;
        }
        SN_TRY(sn_contact_take_touches(island));
    }

    if (!reliable) {
        report->outcome = SINEW_OUTCOME_CONVERGED;
    }
    sn_contact_report_touches(island, sn_contact_finish_forces(island));
    return SINEW_OK;
}

const double *sn_contact_take_configuration(sn_island *island, const sn_island_body *member) {
    const sn_contact_member *own = &island->contact->members[member - island->bodies];
    sinew_body *body = member->body;
    memcpy(body->q, own->commit_q, (size_t)body->config_count * sizeof(double));
    return own->hat_q;
}
