// Glue as a set of attachments, one for each vertex of a body near the surface of another. They
// break together, when the sum of their forces exceeds the strength. Broken ones stay in the
// world's list and do nothing, so that a snapshot of either state fits.
#include "dynamics/glue.h"

#include "sinew/surface.h"

#include "dynamics/contact_touch.h"

#include <math.h>

struct sinew_glue {
    sn_arena arena; // holds this struct and its list
    sinew_world *world;
    sinew_glue *next; // of the world, the oldest first
    sinew_body *body, *target;
    double strength; // [N] 0: any force
    sinew_attachment **attachments;
    int32_t count;
};

// The reach by default, in terms of the largest side of the body.
static const double default_reach = 0.01;

sinew_glue_def sinew_default_glue_def(void) {
    return (sinew_glue_def){.filled = SN_DEF_FILLED};
}

static sinew_status check_def(sinew_world *world, const sinew_glue_def *def) {
    sinew_context *context = world->context;
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_glue_def"));
    if (!def->body || !def->target || def->body == def->target) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "glue needs two bodies");
    }
    if (def->body->world != world || def->target->world != world) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "bodies \"%s\" and \"%s\" cannot be glued: one is of another world",
                       def->body->name, def->target->name);
    }

    const double numbers[] = {def->reach, def->stiffness, def->strength};
    for (int k = 0; k < 3; k++) {
        if (!(numbers[k] >= 0 && isfinite(numbers[k]))) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "glue has a reach of %g m, a stiffness of %g N/m and a strength of %g "
                           "N; they must be finite and at least 0",
                           def->reach, def->stiffness, def->strength);
        }
    }
    return SINEW_OK;
}

// Whether supports hold a node already.
static bool is_held(const sinew_body *body, int32_t node) {
    const uint8_t *mask = body->mask + 3 * (size_t)node;
    return mask[0] || mask[1] || mask[2];
}

static sinew_status attach_vertex(sinew_glue *glue, const sinew_glue_def *def, int32_t vertex) {
    sinew_body *body = def->body;
    int32_t node = body->surface_nodes ? body->surface_nodes[vertex] : -1;
    if (node >= 0 && is_held(body, node)) {
        return SINEW_OK;
    }

    sinew_attachment_def tie = sinew_default_attachment_def();
    tie.body = body;
    tie.target = def->target;
    tie.node = node;
    tie.stiffness = def->stiffness;
    sn_store3(tie.rest, sn_load3(sn_at3(body->surface->points, vertex)));
    sinew_attachment **made = &glue->attachments[glue->count];
    SN_TRY(sinew_world_attach(glue->world, &tie, made));
    (*made)->glue = glue;
    glue->count++;
    return SINEW_OK;
}

static sinew_status attach_all(sinew_glue *glue, const sinew_glue_def *def) {
    sinew_body *body = def->body;
    int32_t vertices = body->surface->point_count;
    glue->attachments = SN_PUSH(&glue->arena, sinew_attachment *, vertices);
    double *x = SN_PUSH(&glue->arena, double, 3 * (size_t)vertices);
    SN_TRY(sn_arena_status(&glue->arena));
    sinew_body_compute_surface(body, x, NULL);

    sn_vec3 size = sn_box_size(sn_box_of_points(body->surface->points, vertices));
    double reach = def->reach > 0 ? def->reach : default_reach * fmax(size.x, fmax(size.y, size.z));
    for (int32_t v = 0; v < vertices; v++) {
        sinew_surface_hit hit;
        SN_TRY(sinew_body_find_nearest(def->target, sn_at3(x, v), reach, &hit));
        if (hit.body) {
            SN_TRY(attach_vertex(glue, def, v));
        }
    }

    if (glue->count == 0) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "no free vertex of body \"%s\" is within %g m of body \"%s\": there is "
                       "nothing to glue",
                       body->name, reach, def->target->name);
    }
    return SINEW_OK;
}

static void release(sinew_glue *glue) {
    sinew_glue **link = &glue->world->glues;
    while (*link && *link != glue) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = glue->next;
    }

    sn_arena arena = glue->arena; // the glue lives in it
    sn_arena_destroy(&arena);
}

sinew_status sinew_glue_create(sinew_world *world, const sinew_glue_def *def, sinew_glue **out) {
    SN_NEED(NULL, world);

    sn_contact *contact; // for the events
    SN_TRY(check_def(world, def));
    SN_TRY(sn_contact_get(world, &contact));
    sn_arena arena = sn_arena_create(world->context);
    sinew_glue *glue = SN_PUSH(&arena, sinew_glue, 1);
    if (!glue) {
        sn_arena_destroy(&arena);
        return SINEW_OUT_OF_MEMORY;
    }

    *glue = (sinew_glue){.arena = arena,
                         .world = world,
                         .body = def->body,
                         .target = def->target,
                         .strength = def->strength};
    sinew_glue **link = &world->glues;
    while (*link) {
        link = &(*link)->next;
    }
    *link = glue;

    sinew_status status = attach_all(glue, def);
    if (status != SINEW_OK && glue->count == 0) {
        release(glue);
    } else if (status != SINEW_OK) {
        sinew_glue_destroy(glue);
    } else if (out) {
        *out = glue;
    }
    return status;
}

void sn_glue_forget(sinew_glue *glue, const sinew_attachment *attachment) {
    for (int32_t i = 0; i < glue->count; i++) {
        if (glue->attachments[i] == attachment) {
            glue->attachments[i] = glue->attachments[--glue->count];
            break;
        }
    }
    if (glue->count == 0) {
        release(glue);
    }
}

void sinew_glue_destroy(sinew_glue *glue) {
    int32_t left = glue ? glue->count : 0;
    while (left-- > 0) { // the glue goes with the last of them
        sinew_attachment_destroy(glue->attachments[left]);
    }
}

int32_t sinew_glue_get_count(const sinew_glue *glue) {
    SN_NEED_OR(0, glue);
    return glue->count;
}

bool sinew_glue_is_broken(const sinew_glue *glue) {
    SN_NEED_OR(false, glue);
    return glue->attachments[0]->broken;
}

// The sum over nodes whose unknowns are eliminated, from one evaluation of their body.
static sinew_status add_tie_forces(const sinew_glue *glue, sn_vec3 *sum) {
    sinew_body *body = glue->body;
    size_t count = (size_t)sn_body_size(body);
    double *forces = sn_allocate(body->context, count, sizeof *forces);
    if (!forces) {
        return SINEW_OUT_OF_MEMORY;
    }

    sn_body_compute_balance(body, forces);
    for (int32_t i = 0; i < glue->count; i++) {
        int32_t row = glue->attachments[i]->tied.point.row[0];
        *sum = sn_add(*sum, sn_load3(forces + 3 * (size_t)row));
    }
    sn_release(body->context, forces, count, sizeof *forces);
    return SINEW_OK;
}

sinew_status sinew_glue_get_force(sinew_glue *glue, double force[3]) {
    SN_NEED(NULL, glue && force);

    sn_vec3 sum = {0, 0, 0};
    if (sinew_glue_is_broken(glue)) {
        sn_store3(force, sum);
        return SINEW_OK;
    }

    // All are of one kind.
    if (sn_attachment_eliminates(glue->attachments[0])) {
        SN_TRY(add_tie_forces(glue, &sum));
    } else {
        for (int32_t i = 0; i < glue->count; i++) {
            double f[3];
            SN_TRY(sinew_attachment_get_force(glue->attachments[i], f));
            sum = sn_add(sum, sn_load3(f));
        }
    }
    sn_store3(force, sum);
    return SINEW_OK;
}

static sinew_status note_event(sinew_glue *glue) {
    sn_contact *contact = glue->world->contact;
    void *events = contact->events;
    SN_TRY(sn_grow(contact->context, &events, &contact->event_capacity,
                   (size_t)contact->event_count, (size_t)contact->event_count + 1,
                   sizeof *contact->events));
    contact->events = events;
    contact->events[contact->event_count++] =
        (sinew_contact_event){.body = glue->body, .other = glue->target, .glue = glue};
    return SINEW_OK;
}

sinew_status sn_glue_break(sinew_world *world) {
    if (world->glues && !world->contact->on) { // else the step has begun a new list
        world->contact->event_count = 0;
    }

    for (sinew_glue *glue = world->glues; glue; glue = glue->next) {
        if (glue->strength == 0 || sinew_glue_is_broken(glue)) {
            continue;
        }

        double force[3];
        SN_TRY(sinew_glue_get_force(glue, force));
        if (!(sn_length(sn_load3(force)) > glue->strength)) {
            continue;
        }

        // What springs had stored is gone.
        SN_TRY(note_event(glue));
        for (int32_t i = 0; i < glue->count; i++) {
            glue->attachments[i]->broken = true;
            glue->attachments[i]->force = sn_v3(0, 0, 0);
        }
        sn_body_note_energy_change(glue->body);
        sn_body_note_energy_change(glue->target);
        sn_world_forget_islands(world);
    }
    return SINEW_OK;
}
