// Which bodies are solved together because they may touch: those whose boxes, swept by the
// predicted motion, overlap. That depends on the present state alone, so that a run continued from
// a snapshot has the same islands. Cost: two surfaces of each body, a sort, and the pairs of boxes
// that overlap along x.
#include "dynamics/contact_touch.h"

#include "body/surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool takes_part(const sinew_body *body) {
    return !body->contact || body->contact->on;
}

void sn_contact_predict(const sinew_body *body, double h, double *q, double *positions) {
    const sinew_world *world = body->world;
    double *xi = body->scratch;
    sn_body_difference(body, xi, body->target, body->q);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        xi[i] = body->mask[i] ? xi[i] : h * body->v[i];
    }

    // Gravity moves every vertex alike.
    sn_body_retract(body, q, body->q, xi);
    body->ops->surface.compute(body, q, positions);
    for (int32_t i = 0; i < 3 * body->surface->point_count; i++) {
        positions[i] += h * h * world->def.gravity[i % 3];
    }
}

// The box of the surface now and at the end of the predicted step, with room for the gap.
static sinew_status find_box(sinew_world *world, sinew_body *body, sn_box *box) {
    sn_contact *contact = world->contact;
    void *place = contact->place;
    SN_TRY(sn_surface_push_work(body));
    SN_TRY(sn_grow(world->context, &place, &contact->place_capacity, 0, (size_t)body->config_count,
                   sizeof *contact->place));
    contact->place = place;

    int32_t count = body->surface->point_count;
    body->ops->surface.compute(body, body->q, body->surface_work);
    sn_box now = sn_box_of_points(body->surface_work, count);
    sn_contact_predict(body, world->def.step, contact->place, body->surface_work);
    sn_box then = sn_box_of_points(body->surface_work, count);

    // Twice the gap that is kept, or more where none is given.
    double chosen = body->contact ? body->contact->thickness : 0;
    double thickness = chosen > 0 ? chosen : contact->def.thickness;
    double margin = fmax(4e-3 * sn_box_diagonal(now), 2 * thickness);

    double motion = fmax(sn_distance(now.lower, then.lower), sn_distance(now.upper, then.upper));
    *box = sn_box_grown(sn_box_union(now, then), margin + 0.1 * motion);
    return SINEW_OK;
}

// The lowest member of the group of a body. Shortens the way for the next search.
static int32_t find_root(int32_t *groups, int32_t i) {
    while (groups[i] != i) {
        groups[i] = groups[groups[i]];
        i = groups[i];
    }
    return i;
}

static void join(int32_t *groups, int32_t i, int32_t k) {
    int32_t a = find_root(groups, i);
    int32_t b = find_root(groups, k);
    groups[a > b ? a : b] = a > b ? b : a;
}

static int compare_sweep(const void *a, const void *b) {
    const sn_contact_sweep *first = a;
    const sn_contact_sweep *second = b;
    if (first->lower != second->lower) {
        return first->lower < second->lower ? -1 : 1;
    }
    return first->body < second->body ? -1 : first->body > second->body;
}

// Bodies whose boxes overlap, found by a sweep along x.
static void group_bodies(const sinew_world *world, const sn_box *boxes, int32_t *groups) {
    sn_contact_sweep *sweep = world->contact->sweep;
    int32_t count = 0;
    for (int32_t i = 0; i < (int32_t)world->body_count; i++) {
        groups[i] = i;
        if (takes_part(world->bodies[i])) {
            sweep[count++] = (sn_contact_sweep){boxes[i].lower.x, i};
        }
    }

    // In a static solve nobody knows how far bodies move.
    bool all = world->contact->is_static;
    qsort(sweep, (size_t)count, sizeof *sweep, compare_sweep);
    for (int32_t i = 0; i < count; i++) {
        const sn_box *box = &boxes[sweep[i].body];
        for (int32_t k = i + 1; k < count; k++) {
            if (!all && sweep[k].lower > box->upper.x) {
                break;
            }
            if (all || sn_box_overlaps(*box, boxes[sweep[k].body])) {
                join(groups, sweep[i].body, sweep[k].body);
            }
        }
    }

    for (int32_t i = 0; i < (int32_t)world->body_count; i++) {
        groups[i] = find_root(groups, i);
    }
}

// Room for the boxes and groups of all bodies.
static sinew_status make_room(sinew_world *world) {
    sn_contact *contact = world->contact;
    size_t count = world->body_count;
    void *boxes = contact->boxes;
    void *groups = contact->groups;
    void *next = contact->next_groups;
    SN_TRY(
        sn_grow(world->context, &boxes, &contact->box_capacity, 0, count, sizeof *contact->boxes));
    contact->boxes = boxes;
    void *sweep = contact->sweep;
    SN_TRY(sn_grow(world->context, &sweep, &contact->sweep_capacity, 0, count,
                   sizeof *contact->sweep));
    contact->sweep = sweep;
    SN_TRY(sn_grow(world->context, &next, &contact->next_group_capacity, 0, count,
                   sizeof *contact->next_groups));
    contact->next_groups = next;
    SN_TRY(sn_grow(world->context, &groups, &contact->group_capacity, (size_t)contact->group_count,
                   count, sizeof *contact->groups));
    contact->groups = groups;
    return SINEW_OK;
}

sinew_status sn_contact_join(sinew_world *world) {
    sn_contact *contact = world->contact;
    int32_t count = (int32_t)world->body_count;
    int32_t positions = 0, others = 0;
    for (int32_t i = 0; i < count; i++) {
        bool part = takes_part(world->bodies[i]);
        positions += part && world->bodies[i]->ops->stepping;
        others += part && !world->bodies[i]->ops->stepping;
    }
    contact->mixed = positions > 0 && others > 0;
    if (!contact->def.bodies || count < 2) {
        contact->group_count = 0;
        return SINEW_OK;
    }

    // Bodies whose boxes may meet in this step are in one group.
    SN_TRY(make_room(world));
    for (int32_t i = 0; i < count; i++) {
        if (takes_part(world->bodies[i])) {
            SN_TRY(find_box(world, world->bodies[i], &contact->boxes[i]));
        }
    }
    group_bodies(world, contact->boxes, contact->next_groups);

    // Nothing changes in most steps.
    size_t bytes = (size_t)count * sizeof *contact->groups;
    if (contact->group_count == count &&
        memcmp(contact->groups, contact->next_groups, bytes) == 0) {
        return SINEW_OK;
    }

    // New groups need new islands.
    memcpy(contact->groups, contact->next_groups, bytes);
    contact->group_count = count;
    contact->overlay_valid = false;
    sn_world_forget_islands(world);
    return SINEW_OK;
}
