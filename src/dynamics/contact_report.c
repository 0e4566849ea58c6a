// What contact leaves behind after a step: multipliers for the next one, a report, the list of
// contacts, and events.
#include "dynamics/contact_touch.h"

#include "body/surface.h"

#include <math.h>
#include <string.h>

static int32_t count_touches(const sinew_world *world) {
    int32_t count = 0;
    for (const sn_island *island = world->islands; island; island = island->next) {
        count += island->contact ? island->contact->touch_count : 0;
    }
    return count;
}

sinew_status sn_contact_prepare_accept(sinew_world *world) {
    sn_contact *contact = world->contact;
    size_t count = (size_t)count_touches(world);
    void *memories = contact->spare_memories;
    void *contacts = contact->contacts;
    void *shares = contact->shares;
    void *events = contact->events;

    SN_TRY(sn_grow(world->context, &memories, &contact->spare_memory_capacity, 0, count,
                   sizeof *contact->memories));
    contact->spare_memories = memories;
    SN_TRY(sn_grow(world->context, &contacts, &contact->contact_capacity,
                   (size_t)contact->contact_count, count, sizeof *contact->contacts));
    contact->contacts = contacts;
    SN_TRY(sn_grow(world->context, &shares, &contact->share_capacity,
                   (size_t)contact->contact_count, count, sizeof *contact->shares));
    contact->shares = shares;
    SN_TRY(sn_grow(world->context, &events, &contact->event_capacity, 0,
                   (size_t)contact->memory_count + count, sizeof *contact->events));
    contact->events = events;
    return SINEW_OK;
}

// The thing that a touch is against, by the `who` of its key: kinds of features do not matter.
static uint64_t partners_of(sn_touch_key key) {
    bool bodies = sn_touch_key_is_of_bodies(key);
    uint64_t who = key.who & ~((uint64_t)0xf << SN_TOUCH_KIND_SHIFT);
    return who | (uint64_t)bodies << SN_TOUCH_KIND_SHIFT;
}

// The first of some sorted memories whose key is not below `who`.
static int32_t find_who(const sn_touch_memory *memories, int32_t count, uint64_t who) {
    int32_t low = 0;
    int32_t high = count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (memories[middle].key.who < who) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Whether sorted memories have one of these partners, with features of any kind.
static bool remembers(const sn_touch_memory *memories, int32_t count, uint64_t partners) {
    uint64_t pair = partners & ~((uint64_t)0xf << SN_TOUCH_KIND_SHIFT);
    for (uint64_t kind = 0; kind <= SN_TOUCH_MESH_EDGES; kind++) {
        sn_touch_key key = {pair | kind << SN_TOUCH_KIND_SHIFT, 0};
        int32_t at = find_who(memories, count, key.who);
        if (partners_of(key) == partners && at < count && memories[at].key.who == key.who) {
            return true;
        }
    }
    return false;
}

static sinew_obstacle *find_obstacle(const sn_contact *contact, uint32_t number) {
    for (int32_t i = 0; i < contact->obstacle_count; i++) {
        if (contact->obstacles[i]->number == number) {
            return contact->obstacles[i];
        }
    }
    return NULL;
}

static sinew_contact_event make_event(const sinew_world *world, uint64_t partners, bool began) {
    sn_touch_key key = {partners, 0};
    bool bodies = partners >> SN_TOUCH_KIND_SHIFT != 0;
    int32_t b = sn_touch_key_b(key);
    return (sinew_contact_event){
        .body = world->bodies[sn_touch_key_a(key)],
        .other = bodies ? world->bodies[b] : NULL,
        .obstacle = bodies ? NULL : find_obstacle(world->contact, (uint32_t)b),
        .began = began,
    };
}

// Whether the touch has a force at the end of the step.
static bool carries(const sn_touch *touch) {
    return touch->force > 0;
}

// Events: partners of the old list without the new one have ended, and the other way round. Lists
// of partners are short, and each is looked up once.
static void find_events(sinew_world *world, const sn_touch_memory *old, int32_t old_count,
                        const sn_touch_memory *new, int32_t new_count) {
    sn_contact *contact = world->contact;
    for (int side = 0; side < 2; side++) {
        const sn_touch_memory *from = side ? new : old;
        int32_t count = side ? new_count : old_count;
        uint64_t last = UINT64_MAX;
        for (int32_t i = 0; i < count; i++) {
            uint64_t partners = partners_of(from[i].key);
            if (partners == last || remembers(from, i, partners)) {
                continue;
            }
            last = partners;
            if (!remembers(side ? old : new, side ? old_count : new_count, partners)) {
                contact->events[contact->event_count++] = make_event(world, partners, side == 1);
            }
        }
    }
}

static sn_vec3 position_of(const sn_island_contact *own, const sn_touch *touch) {
    if (touch->count <= 3 && touch->obstacle) {
        sn_vec3 p = {0, 0, 0};
        for (int k = 0; k < touch->count; k++) {
            p = sn_madd(p, touch->b[k], sn_contact_at(own->x, touch->vertex[k]));
        }
        return p;
    }
    return touch->point;
}

static void take_contact(const sn_island *island, const sn_touch *touch) {
    sn_contact *contact = island->world->contact;
    const sn_island_contact *own = island->contact;
    sinew_contact *out = &contact->contacts[contact->contact_count];
    sn_touch_shares *shares = &contact->shares[contact->contact_count++];
    sn_vec3 force = sn_madd(touch->tangential, touch->force, touch->normal);
    sn_vec3 position = position_of(own, touch);

    // For the host.
    *out = (sinew_contact){
        .body = sn_contact_member_of(island, touch->vertex[0])->member->body,
        .obstacle = touch->obstacle ? contact->obstacles[touch->obstacle->index] : NULL,
        .gap = touch->distance,
        .slip = touch->slip,
    };
    if (!touch->obstacle) {
        const sn_contact_member *last =
            sn_contact_member_of(island, touch->vertex[touch->count - 1]);
        out->other = sn_contact_body_of(last);
    }
    sn_store3(out->position, position);
    sn_store3(out->normal, touch->normal);
    sn_store3(out->force, force);

    // For forces on vertices, which are computed only if asked for.
    *shares = (sn_touch_shares){.count = touch->count};
    for (int k = 0; k < touch->count; k++) {
        const sn_contact_member *member = sn_contact_member_of(island, touch->vertex[k]);
        const sinew_body *body = sn_contact_body_of(member);
        if (!body) { // the body's vertices come first
            shares->count = k;
            break;
        }
        shares->body[k] = body->index;
        shares->vertex[k] = touch->vertex[k] - member->first_vertex;
        shares->b[k] = touch->b[k];
    }

    // The opposite force acts on the obstacle.
    if (out->obstacle) {
        sinew_obstacle *obstacle = out->obstacle;
        sn_vec3 arm = sn_sub(touch->point, obstacle->trial.t);
        obstacle->force = sn_sub(obstacle->force, force);
        obstacle->torque = sn_sub(obstacle->torque, sn_cross(arm, force));
    }
}

static void merge_report(sinew_contact_report *total, const sinew_contact_report *part) {
    total->pairs += part->pairs;
    total->active += part->active;
    total->solves = part->solves > total->solves ? part->solves : total->solves;
    total->truncated += part->truncated;
    total->held += part->held;
    total->overlaps += part->overlaps;
    total->overlapping += part->overlapping;
    total->deepest = fmax(total->deepest, part->deepest);
    total->smallest_gap = fmin(total->smallest_gap, part->smallest_gap);
    total->lag = fmax(total->lag, part->lag);
    total->largest_force = fmax(total->largest_force, part->largest_force);
}

// Insertion into a list that is sorted already, but for the seams between islands.
static void insert_memory(sn_touch_memory *memories, int32_t count, sn_touch_memory memory) {
    while (count > 0 && sn_touch_key_compare(memories[count - 1].key, memory.key) > 0) {
        memories[count] = memories[count - 1];
        count--;
    }
    memories[count] = memory;
}

// How much of the force that the penalty carried goes into the multiplier. Over the steps the
// multiplier integrates the gap; with r the stiffness of touches times h^2 over the inertia of what
// they carry, 1 - 1/z = w follows w^3 = -r ((1 - g) w + g), which is stable for r above about g: a
// gain of 1 makes a tower rock whose inertia is more than that of single bodies.
static const double multiplier_gain = 0.1;

static sn_touch_memory make_memory(const sn_touch *touch, double gain) {
    double gained = gain * (touch->force - touch->multiplier);
    return (sn_touch_memory){touch->key, touch->multiplier + gained, touch->force, touch->slip};
}

// Kind by kind, as keys are ordered: islands then interleave little.
static int32_t take_memories(const sinew_world *world, sn_touch_memory *memories) {
    int32_t count = 0;
    double gain = world->contact->is_static ? 1 : multiplier_gain; // nothing rocks in statics
    for (int kind = 0; kind <= SN_TOUCH_MESH_EDGES; kind++) {
        for (const sn_island *island = world->islands; island; island = island->next) {
            const sn_island_contact *own = island->contact;
            for (int32_t i = 0; own && i < own->touch_count; i++) {
                const sn_touch *touch = &own->touches[i];
                if ((int)sn_touch_key_kind(touch->key) == kind && carries(touch)) {
                    insert_memory(memories, count++, make_memory(touch, gain));
                }
            }
        }
    }
    return count;
}

void sn_contact_accept_step(sinew_world *world) {
    sn_contact *contact = world->contact;
    for (int32_t o = 0; o < contact->obstacle_count; o++) {
        sinew_obstacle *obstacle = contact->obstacles[o];
        obstacle->pose = obstacle->trial;
        obstacle->force = obstacle->torque = sn_v3(0, 0, 0);
    }

    // The new memories go where the last step's old ones were, so that events can compare both.
    sn_touch_memory *old = contact->memories;
    size_t old_capacity = contact->memory_capacity;
    int32_t old_count = contact->memory_count;
    contact->memories = contact->spare_memories;
    contact->memory_capacity = contact->spare_memory_capacity;
    contact->spare_memories = old;
    contact->spare_memory_capacity = old_capacity;
    contact->memory_count = take_memories(world, contact->memories);

    contact->contact_count = 0;
    contact->event_count = 0;
    contact->report = (sinew_contact_report){.smallest_gap = INFINITY};
    find_events(world, old, old_count, contact->memories, contact->memory_count);

    for (const sn_island *island = world->islands; island; island = island->next) {
        const sn_island_contact *own = island->contact;
        if (!own) {
            continue;
        }
        merge_report(&contact->report, &own->report);
        for (int32_t i = 0; i < own->touch_count; i++) {
            if (carries(&own->touches[i])) {
                take_contact(island, &own->touches[i]);
            }
        }
    }
}

sinew_status sn_contact_renew_events(sinew_world *world, const sn_touch_memory *old,
                                     int32_t old_count) {
    sn_contact *contact = world->contact;
    void *events = contact->events;
    SN_TRY(sn_grow(world->context, &events, &contact->event_capacity, 0,
                   (size_t)(old_count + contact->memory_count), sizeof *contact->events));
    contact->events = events;
    contact->event_count = 0;
    find_events(world, old, old_count, contact->memories, contact->memory_count);
    return SINEW_OK;
}

sinew_contact_report sinew_world_get_contact_report(const sinew_world *world) {
    SN_NEED_OR(((sinew_contact_report){0}), world);
    return world->contact ? world->contact->report
                          : (sinew_contact_report){.smallest_gap = INFINITY};
}

int32_t sinew_world_get_contacts(const sinew_world *world, const sinew_contact **contacts) {
    SN_NEED_OR(0, world && contacts);
    *contacts = world->contact ? world->contact->contacts : NULL;
    return world->contact ? world->contact->contact_count : 0;
}

int32_t sinew_world_get_contact_events(const sinew_world *world,
                                       const sinew_contact_event **events) {
    SN_NEED_OR(0, world && events);
    *events = world->contact ? world->contact->events : NULL;
    return world->contact ? world->contact->event_count : 0;
}

// forces += those of the last step's contacts on the vertices of a body.
static void add_vertex_forces(const sinew_body *body, double *forces) {
    const sn_contact *contact = body->world->contact;
    for (int32_t i = 0; i < contact->contact_count; i++) {
        const sn_touch_shares *shares = &contact->shares[i];
        sn_vec3 force = sn_load3(contact->contacts[i].force);
        for (int k = 0; k < shares->count; k++) {
            if (shares->body[k] == body->index) {
                sn_add_to3(sn_at3(forces, shares->vertex[k]), sn_scale(shares->b[k], force));
            }
        }
    }
}

// A third of the triangles around each vertex, now.
static sinew_status add_vertex_areas(sinew_body *body, double *areas) {
    SN_TRY(sn_surface_push_work(body));
    double *positions = body->surface_work;
    body->ops->surface.compute(body, body->q, positions);
    for (int32_t t = 0; t < body->surface->element_count; t++) {
        const int32_t *corners = sn_at3(body->surface->indices, t);
        sn_vec3 a = sn_load3(sn_at3(positions, corners[0]));
        sn_vec3 u = sn_sub(sn_load3(sn_at3(positions, corners[1])), a);
        sn_vec3 v = sn_sub(sn_load3(sn_at3(positions, corners[2])), a);
        double share = sn_length(sn_cross(u, v)) / 6;
        for (int k = 0; k < 3; k++) {
            areas[corners[k]] += share;
        }
    }
    return SINEW_OK;
}

sinew_status sinew_body_compute_contact_forces(sinew_body *body, double *forces, double *areas) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, forces);
    size_t count = (size_t)body->surface->point_count;
    memset(forces, 0, 3 * count * sizeof *forces);
    if (body->world->contact) {
        add_vertex_forces(body, forces);
    }
    if (!areas) {
        return SINEW_OK;
    }
    memset(areas, 0, count * sizeof *areas);
    return add_vertex_areas(body, areas);
}

static sinew_status measure_contact(sinew_body *body, sn_arena *scratch,
                                    sinew_body_contact *contact) {
    int32_t vertices = body->surface->point_count;
    double *forces = SN_PUSH(scratch, double, 3 * (size_t)vertices);
    double *areas = SN_PUSH(scratch, double, vertices);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sinew_body_compute_contact_forces(body, forces, areas));

    for (int32_t v = 0; v < vertices; v++) {
        sn_vec3 f = sn_load3(sn_at3(forces, v));
        if (f.x != 0 || f.y != 0 || f.z != 0) {
            sn_add_to3(contact->force, f);
            contact->area += areas[v];
        }
    }
    return SINEW_OK;
}

// The mean position of the contacts of a body, weighted by their forces.
static sn_vec3 find_center(const sinew_body *body) {
    const sn_contact *all = body->world->contact;
    sn_vec3 sum = {0, 0, 0};
    double total = 0;
    for (int32_t i = 0; i < all->contact_count; i++) {
        const sinew_contact *contact = &all->contacts[i];
        double force = sn_length(sn_load3(contact->force));
        if (contact->body == body || contact->other == body) {
            sum = sn_madd(sum, force, sn_load3(contact->position));
            total += force;
        }
    }
    return total > 0 ? sn_scale(1 / total, sum) : sum;
}

sinew_status sinew_body_get_contact(sinew_body *body, sinew_body_contact *contact) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, contact);

    const sn_contact *all = body->world->contact;
    *contact = (sinew_body_contact){.count = 0};
    for (int32_t i = 0; all && i < all->contact_count; i++) {
        contact->count += all->contacts[i].body == body || all->contacts[i].other == body;
    }
    if (contact->count == 0) {
        return SINEW_OK;
    }

    sn_store3(contact->position, find_center(body));
    sn_arena scratch = sn_arena_create(body->context);
    sinew_status status = measure_contact(body, &scratch, contact);
    sn_arena_destroy(&scratch);
    return status;
}
