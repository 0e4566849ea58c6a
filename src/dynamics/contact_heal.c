// Bodies that overlap when a step begins: found, reported, refused, or led out of each other.
//
// Overlaps are looked for when an island is new, after a snapshot, after a step with pairs that had
// no separating plane, and for as long as there are any. The commit lets no others arise, so the
// list depends on the present configuration alone.
//
// While two bodies overlap, the pairs of features that are tangled carry no force and need no
// proof. After a step both are moved apart as a whole along the direction that reduces their common
// volume fastest, the lighter one more, as far as a commit certifies against everything else; and
// they lose the velocity with which they approach each other, as in an inelastic collision. That
// keeps their momentum.
#include "dynamics/contact_heal.h"
#include "dynamics/contact_touch.h"

#include <math.h>
#include <string.h>

// How fast bodies are led apart, in thousand thicknesses a second: by default that is their size.
static const double healing_speed = 1;

static sinew_contact_overlap_rule rule_of(const sn_island *island) {
    return island->contact->contact->def.overlaps;
}

static const char *name_of(const sn_contact_member *member) {
    const sinew_body *body = sn_contact_body_of(member);
    return body ? body->name : member->obstacle->name;
}

static sinew_status refuse(const sn_island *island) {
    const sn_island_contact *own = island->contact;
    const sn_contact_overlap *first = &own->overlaps.items[0];
    return sn_fail(island->world->context, SINEW_INVALID_DATA,
                   "%s and %s overlap, by up to %.3g m (%d pairs of bodies in all); move them "
                   "apart, or let overlaps heal or be ignored",
                   name_of(&own->members[first->part[0]]), name_of(&own->members[first->part[1]]),
                   first->depth, own->overlaps.count);
}

// Within a body there is no direction to heal along, and its pairs keep their proofs.
static void drop_self_overlaps(sn_contact_overlaps *overlaps) {
    int32_t kept = 0;
    for (int32_t i = 0; i < overlaps->count; i++) {
        const sn_contact_overlap *overlap = &overlaps->items[i];
        if (overlap->part[0] != overlap->part[1]) {
            overlaps->items[kept++] = *overlap;
        }
    }
    overlaps->count = kept;
}

sinew_status sn_contact_find_overlaps(sn_island *island) {
    sn_island_contact *own = island->contact;
    bool look = own->fresh || own->contact->tangled || own->held_before;
    own->fresh = false;
    if (!own->scene || island->position || !look) {
        return SINEW_OK;
    }

    sn_contact_overlaps_release(&own->overlaps);
    SN_TRY(sn_contact_overlaps_find(own->scene, own->x, &own->overlaps));
    drop_self_overlaps(&own->overlaps);
    if (own->overlaps.count == 0) {
        sn_contact_overlaps_release(&own->overlaps);
        return SINEW_OK;
    }
    bool is_static = own->contact->is_static && rule_of(island) == SINEW_OVERLAP_HEAL;
    if (rule_of(island) == SINEW_OVERLAP_REFUSE || is_static) {
        own->fresh = true;
        SN_TRY(refuse(island));
    }

    // What is ignored needs no proofs at all.
    for (int32_t i = 0; i < own->overlaps.count; i++) {
        sn_contact_overlap *overlap = &own->overlaps.items[i];
        overlap->whole = overlap->whole || rule_of(island) == SINEW_OVERLAP_IGNORE;
    }
    return SINEW_OK;
}

void sn_contact_count_overlaps(const sn_island *island, sinew_contact_report *report) {
    const sn_contact_overlaps *overlaps = &island->contact->overlaps;
    for (int32_t i = 0; i < overlaps->count; i++) {
        const sn_contact_overlap *overlap = &overlaps->items[i];
        report->overlapping++;
        report->overlaps += overlap->inside_count;
        report->deepest = fmax(report->deepest, overlap->depth);
    }
}

// --- healing

// The share of a relative motion that the first part of an overlap takes; the second takes the
// rest, unless it is held.
typedef struct split {
    double share[2];
} split;

static bool is_movable(const sn_island *island, int32_t part) {
    const sn_island_contact *own = island->contact;
    if (part >= island->body_count) {
        return false;
    }
    const sn_contact_member *member = &own->members[part];
    for (int32_t v = member->first_vertex; v < member->first_vertex + member->vertex_count; v++) {
        if (own->held[v]) {
            return false;
        }
    }
    return true;
}

static split split_motion(const sn_island *island, const sn_contact_overlap *overlap) {
    double mobility[2];
    for (int k = 0; k < 2; k++) {
        mobility[k] = 0;
        if (is_movable(island, overlap->part[k])) {
            sinew_measures measures;
            sinew_body_get_measures(island->bodies[overlap->part[k]].body, &measures);
            mobility[k] = measures.mass > 0 ? 1 / measures.mass : 1;
        }
    }
    double sum = mobility[0] + mobility[1];
    return sum > 0 ? (split){{mobility[0] / sum, mobility[1] / sum}} : (split){{0, 0}};
}

// Adds a translation to the velocities of a body.
static void add_velocity(sn_island *island, int32_t part, sn_vec3 by) {
    const sn_contact_member *member = &island->contact->members[part];
    sinew_body *body = member->member->body;
    double *q = member->aim_q;
    double *xi = island->remote_x + 3 * (size_t)member->member->first_row;

    memcpy(q, body->q, (size_t)body->config_count * sizeof *q);
    sn_body_translate(body, q, by);
    sn_body_difference(body, xi, q, body->q);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        body->v[i] += body->mask[i] ? 0 : xi[i];
    }
}

static sn_vec3 mean_velocity(const sn_island *island, int32_t part) {
    if (part >= island->body_count) {
        return sn_v3(0, 0, 0);
    }
    sinew_measures measures;
    sinew_body_get_measures(island->bodies[part].body, &measures);
    double mass = measures.mass > 0 ? measures.mass : 1;
    return sn_scale(1 / mass, sn_load3(measures.momentum));
}

// Ends the approach of two bodies.
static void stop_approach(sn_island *island, const sn_contact_overlap *overlap, split shares) {
    sn_vec3 relative =
        sn_sub(mean_velocity(island, overlap->part[0]), mean_velocity(island, overlap->part[1]));
    double approach = -sn_dot(relative, overlap->direction);
    for (int k = 0; k < 2; k++) {
        double change = (k ? -1 : 1) * shares.share[k] * approach;
        if (approach > 0 && shares.share[k] > 0) {
            add_velocity(island, overlap->part[k], sn_scale(change, overlap->direction));
        }
    }
}

// Adds to own->shift how far the parts of an overlap are to move.
static void add_push(const sn_island *island, const sn_contact_overlap *overlap, split shares) {
    const sn_island_contact *own = island->contact;
    double gap =
        own->members[overlap->part[0]].thickness + own->members[overlap->part[1]].thickness;
    double most = healing_speed * 1e3 * 0.5 * gap * island->world->def.step;
    double push = fmin(overlap->depth + gap, most);
    for (int k = 0; k < 2; k++) {
        double way = (k ? -1 : 1) * shares.share[k] * push;
        sn_vec3 *shift = &own->push[overlap->part[k]];
        *shift = sn_madd(*shift, way, overlap->direction);
    }
}

// Moves the bodies by own->push as far as nothing else is in the way.
static sinew_status push_members(sn_island *island) {
    sn_island_contact *own = island->contact;
    memcpy(own->start, own->x, 3 * (size_t)own->vertex_count * sizeof(double));
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        const sinew_body *body = member->member->body;
        size_t size = (size_t)body->config_count * sizeof(double);
        double *x = sn_at3(own->x, member->first_vertex);
        memcpy(member->commit_q, body->q, size);
        memcpy(member->hat_q, body->q, size);
        if (member->on) {
            body->ops->surface.compute(body, body->q, x);
            sn_body_translate(body, member->hat_q, own->push[i]);
            body->ops->surface.compute(body, member->hat_q, sn_at3(own->hat, member->first_vertex));
        }
    }
    sn_contact_place_guests(island);

    double lag;
    SN_TRY(sn_contact_search(island, own->hat));
    memcpy(own->start, own->x, 3 * (size_t)own->vertex_count * sizeof(double));
    SN_TRY(sn_contact_commit(island, false, &lag));
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        sinew_body *body = member->member->body;
        if (!member->on || !(sn_length(own->push[i]) > 0)) {
            continue;
        }

        // The step before is moved along, so that no velocity arises.
        sn_vec3 moved = sn_sub(sn_contact_at(own->x, member->first_vertex),
                               sn_contact_at(own->start, member->first_vertex));
        memcpy(body->q, member->commit_q, (size_t)body->config_count * sizeof(double));
        sn_body_translate(body, body->previous_q, moved);
    }
    return SINEW_OK;
}

static sinew_status heal_island(sn_island *island) {
    sn_island_contact *own = island->contact;
    const sn_contact_overlaps *overlaps = &own->overlaps;
    memset(own->push, 0, (size_t)(island->body_count + own->guest_count) * sizeof *own->push);
    for (int32_t i = 0; i < overlaps->count; i++) {
        const sn_contact_overlap *overlap = &overlaps->items[i];
        split shares = split_motion(island, overlap);
        stop_approach(island, overlap, shares);
        add_push(island, overlap, shares);
    }
    return push_members(island);
}

sinew_status sn_contact_heal(sinew_world *world) {
    sn_contact *contact = world->contact;
    contact->tangled = false;
    for (sn_island *island = world->islands; island; island = island->next) {
        sn_island_contact *own = island->contact;
        if (!own || !own->scene || island->position) {
            continue;
        }
        own->held_before = own->report.held > 0;
        contact->tangled = contact->tangled || own->overlaps.count > 0;
        if (own->overlaps.count > 0 && rule_of(island) == SINEW_OVERLAP_HEAL) {
            SN_TRY(heal_island(island));
        }
    }
    return SINEW_OK;
}
