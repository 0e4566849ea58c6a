// Steps of islands under position dynamics. Cost of a round beside the bodies' own: linear in the
// rows. Rows are projected one after the other in the order of attachments and keys, so the result
// does not depend on the number of threads.
#include "dynamics/position.h"

#include "dynamics/contact_touch.h"

#include <math.h>
#include <string.h>

// A gap below the one to keep is widened by this part of the difference in a step, and by at most
// this many thicknesses a second, so that surfaces do not bounce off each other for being near.
static const double widening = 0.2;
static const double widening_speed = 200;

// The least mobility of a row, in terms of its most mobile node.
static const double least_mobility = 0.05;

// One node of a row.
typedef struct position_term {
    double *node;        // x y z
    const double *start; // where it was when the step began
    double mobility;     // 1 / mass, 0 where held [1/kg]
    double weight;       // [-]
} position_term;

// An attachment or a touch.
typedef struct position_row {
    sinew_attachment *attachment; // or NULL
    sn_touch *touch;              // or NULL
    int32_t first_term, term_count;
    double mobility;    // W [1/kg]
    double softness;    // 1 / k h^2 [1/kg]
    sn_vec3 fixed;      // the part of p that no node moves [m]
    sn_vec3 begin;      // p when the step began, with what moves along with an obstacle [m]
    double normal;      // impulses times h [kg m]
    sn_vec3 tangential; // of friction, or all of an attachment's
} position_row;

struct sn_position {
    position_row *rows;
    int32_t row_count;
    size_t row_capacity;
    position_term *terms;
    int32_t term_count;
    size_t term_capacity;
};

// --- building

static sinew_status build(sn_island *island, sinew_body **bodies, int32_t count) {
    sn_arena *arena = &island->arena;
    island->position = SN_PUSH(arena, sn_position, 1);
    island->bodies = SN_PUSH(arena, sn_island_body, count);
    SN_TRY(sn_arena_status(arena));
    island->body_count = count;

    for (int32_t i = 0; i < count; i++) {
        sn_island_body *member = &island->bodies[i];
        member->body = bodies[i];
        member->first_row = island->rows;
        member->trial_q = SN_PUSH(arena, double, bodies[i]->config_count);
        island->rows += bodies[i]->rows;
    }

    // What a commit needs to move bodies as a whole.
    island->remote_x = SN_PUSH(arena, double, sn_island_size(island));
    island->remote_y = SN_PUSH(arena, double, sn_island_size(island));
    SN_TRY(sn_arena_status(arena));
    return sn_contact_island_create(island);
}

sinew_status sn_position_create(sinew_world *world, sinew_body **bodies, int32_t count,
                                sn_island **out) {
    sn_arena arena = sn_arena_create(world->context);
    sn_island *island = SN_PUSH(&arena, sn_island, 1);
    SN_TRY(sn_arena_status(&arena));
    island->world = world;
    island->arena = arena;

    sinew_status status = build(island, bodies, count);
    if (status != SINEW_OK) {
        sn_island_destroy(island);
        return status;
    }

    *out = island;
    return SINEW_OK;
}

void sn_position_release(sn_island *island) {
    sn_position *own = island->position;
    if (!own) {
        return;
    }
    sn_release(island->world->context, own->rows, own->row_capacity, sizeof *own->rows);
    sn_release(island->world->context, own->terms, own->term_capacity, sizeof *own->terms);
}

// --- rows

// Appends an empty row.
static sinew_status push_row(sn_island *island, position_row **out) {
    sn_position *own = island->position;
    void *rows = own->rows;
    SN_TRY(sn_grow(island->world->context, &rows, &own->row_capacity, (size_t)own->row_count,
                   (size_t)own->row_count + 1, sizeof *own->rows));
    own->rows = rows;
    *out = &own->rows[own->row_count++];
    **out = (position_row){.first_term = own->term_count};
    return SINEW_OK;
}

// Adds `weight` times a node to p. A node that the row has already is not listed twice.
static sinew_status add_term(sn_island *island, position_row *row, const sinew_body *body,
                             int32_t node, double weight) {
    sn_position *own = island->position;
    sn_stepping_nodes nodes = body->ops->stepping->get_nodes(body);
    double *position = nodes.positions + 4 * (size_t)node;
    for (int32_t i = row->first_term; i < row->first_term + row->term_count; i++) {
        if (own->terms[i].node == position) {
            own->terms[i].weight += weight;
            return SINEW_OK;
        }
    }

    void *terms = own->terms;
    SN_TRY(sn_grow(island->world->context, &terms, &own->term_capacity, (size_t)own->term_count,
                   (size_t)own->term_count + 1, sizeof *own->terms));
    own->terms = terms;
    own->terms[own->term_count++] = (position_term){
        .node = position,
        .start = nodes.start + 4 * (size_t)node,
        .mobility = nodes.inverse_masses[node] / nodes.unit,
        .weight = weight,
    };
    row->term_count++;
    return SINEW_OK;
}

static void finish_row(const sn_position *own, position_row *row) {
    row->begin = row->fixed;
    double largest = 0;
    for (int32_t i = row->first_term; i < row->first_term + row->term_count; i++) {
        const position_term *term = &own->terms[i];
        row->mobility += term->weight * term->weight * term->mobility;
        row->begin = sn_madd(row->begin, term->weight, sn_load3(term->start));
        largest = fmax(largest, term->mobility);
    }

    // Where held nodes carry nearly all of p, the free ones are not flung away for the rest.
    row->mobility = fmax(row->mobility, least_mobility * largest);
}

static sinew_status add_end(sn_island *island, position_row *row, const sn_anchor *anchor,
                            double sign) {
    if (!anchor->body) {
        row->fixed = sn_madd(row->fixed, sign, anchor->point.x);
        return SINEW_OK;
    }

    const sn_point *point = &anchor->point;
    for (int32_t k = 0; k < point->count; k++) {
        SN_TRY(add_term(island, row, anchor->body, point->row[k], sign * point->weight[k]));
    }
    return SINEW_OK;
}

static bool holds(const sn_island *island, const sinew_body *body) {
    for (int32_t i = 0; i < island->body_count; i++) {
        if (island->bodies[i].body == body) {
            return true;
        }
    }
    return false;
}

static sinew_status add_attachments(sn_island *island, double h) {
    const sinew_world *world = island->world;
    for (size_t i = 0; i < world->attachment_count; i++) {
        sinew_attachment *attachment = world->attachments[i];
        if (attachment->broken || !holds(island, attachment->tied.body)) {
            continue;
        }

        position_row *row;
        SN_TRY(push_row(island, &row));
        row->attachment = attachment;
        row->softness = attachment->stiffness > 0 ? 1 / (attachment->stiffness * h * h) : 0;
        SN_TRY(add_end(island, row, &attachment->tied, 1));
        SN_TRY(add_end(island, row, &attachment->target, -1));
        finish_row(island->position, row);
    }
    return SINEW_OK;
}

// The gap that a touch is to keep. [m]
static double gap_of(const sn_island *island, const sn_touch *touch) {
    double gap = sn_contact_member_of(island, touch->vertex[0])->thickness;
    bool pair = !touch->obstacle || touch->obstacle->surface;
    return pair ? gap + sn_contact_member_of(island, touch->vertex[3])->thickness : gap;
}

// Lets c grow slowly where the gap is smaller than the one to keep.
static void soften_gap(const sn_island *island, sn_touch *touch) {
    double gap = gap_of(island, touch);
    double missing = gap - fmax(0, touch->distance); // overlaps grow slowly already
    if (missing > 0) {
        touch->offset += missing - fmin(widening * missing, widening_speed * gap * island->h);
    }
}

static sinew_status add_touches(sn_island *island) {
    sn_island_contact *contact = island->contact;
    for (int32_t i = 0; i < contact->touch_count; i++) {
        sn_touch *touch = &contact->touches[i];
        position_row *row;
        SN_TRY(push_row(island, &row));
        row->touch = touch;

        // The gap as a sum over nodes; what belongs to an obstacle is a constant.
        for (int k = 0; k < touch->count; k++) {
            const sn_contact_member *member = sn_contact_member_of(island, touch->vertex[k]);
            if (!member->member) { // of a mesh obstacle
                row->fixed =
                    sn_madd(row->fixed, touch->b[k], sn_contact_at(contact->x, touch->vertex[k]));
                continue;
            }

            const sinew_body *body = member->member->body;
            int32_t count = body->ops->surface.get_jacobian(
                body, touch->vertex[k] - member->first_vertex, contact->row_room, contact->J_room);
            for (int32_t t = 0; t < count; t++) {
                SN_TRY(add_term(island, row, body, contact->row_room[t],
                                touch->b[k] * contact->J_room[t].m[0][0]));
            }
        }

        finish_row(island->position, row);
        row->begin = sn_add(row->begin, touch->carried);
        soften_gap(island, touch);
    }
    return SINEW_OK;
}

// --- projection

static sn_vec3 find_p(const sn_position *own, const position_row *row) {
    sn_vec3 p = row->fixed;
    for (int32_t i = row->first_term; i < row->first_term + row->term_count; i++) {
        p = sn_madd(p, own->terms[i].weight, sn_load3(own->terms[i].node));
    }
    return p;
}

static void push_nodes(const sn_position *own, const position_row *row, sn_vec3 impulse) {
    for (int32_t i = row->first_term; i < row->first_term + row->term_count; i++) {
        const position_term *term = &own->terms[i];
        sn_add_to3(term->node, sn_scale(term->weight * term->mobility, impulse));
    }
}

static void project_attachment(const sn_position *own, position_row *row, double h) {
    sn_vec3 before = row->tangential;
    sn_vec3 residual = sn_madd(find_p(own, row), row->softness, before);
    sn_vec3 after = sn_madd(before, -1 / (row->mobility + row->softness), residual);

    // A spring gives way beyond its largest force.
    double most = row->attachment->largest * h * h;
    double length = sn_length(after);
    if (most > 0 && length > most) {
        after = sn_scale(most / length, after);
    }
    row->tangential = after;
    push_nodes(own, row, sn_sub(after, before));
}

static void project_touch(const sn_position *own, position_row *row) {
    const sn_touch *touch = row->touch;
    sn_vec3 n = touch->normal;

    // The gap.
    double c = touch->offset + sn_dot(n, find_p(own, row));
    double normal = fmax(0, row->normal - c / row->mobility);
    push_nodes(own, row, sn_scale(normal - row->normal, n));
    row->normal = normal;

    // Friction: no slip, as far as the normal impulse allows.
    sn_vec3 moved = sn_sub(find_p(own, row), row->begin);
    sn_vec3 slip = sn_madd(moved, -sn_dot(moved, n), n);
    sn_vec3 before = row->tangential;
    sn_vec3 after = sn_madd(before, -1 / row->mobility, slip);
    double most = touch->friction * normal;
    double length = sn_length(after);
    if (length > most) {
        after = sn_scale(most / length, after);
    }
    row->tangential = after;
    push_nodes(own, row, sn_sub(after, before));
}

static void project_rows(const sn_position *own, double h) {
    for (int32_t i = 0; i < own->row_count; i++) {
        position_row *row = &own->rows[i];
        if (!(row->mobility > 0)) {
            continue;
        }
        if (row->attachment) {
            project_attachment(own, row, h);
        } else {
            project_touch(own, row);
        }
    }
}

static void project_all(sn_island *island) {
    const sn_position *own = island->position;
    int32_t rounds = 0;
    for (int32_t i = 0; i < island->body_count; i++) {
        sinew_body *body = island->bodies[i].body;
        int32_t count = body->ops->stepping->get_round_count(body);
        rounds = count > rounds ? count : rounds;
        if (own->row_count == 0) {
            body->ops->stepping->project(body, 0, count, island->h);
        }
    }
    if (own->row_count == 0) {
        return;
    }

    for (int32_t round = 0; round < rounds; round++) {
        for (int32_t i = 0; i < island->body_count; i++) {
            sinew_body *body = island->bodies[i].body;
            if (round < body->ops->stepping->get_round_count(body)) {
                body->ops->stepping->project(body, round, 1, island->h);
            }
        }
        project_rows(own, island->h);
    }
}

// --- a step

// The forces of a touch of another island on nodes of this one, which are its guest.
static void take_force(sn_island *island, const sn_island *other, const sn_touch *touch) {
    sn_island_contact *contact = island->contact;
    const sinew_body *body = touch->guest;
    const sn_contact_member *guest = sn_contact_member_of(other, touch->vertex[touch->own_count]);
    sn_stepping_nodes nodes = body->ops->stepping->get_nodes(body);
    sn_vec3 force = sn_madd(touch->tangential, touch->force, touch->normal);
    for (int k = touch->own_count; k < touch->count; k++) {
        int32_t count = body->ops->surface.get_jacobian(
            body, touch->vertex[k] - guest->first_vertex, contact->row_room, contact->J_room);
        for (int32_t t = 0; t < count; t++) {
            int32_t node = contact->row_room[t];
            double mobility = nodes.inverse_masses[node] / nodes.unit;
            double weight = touch->b[k] * contact->J_room[t].m[0][0];
            sn_add_to3(nodes.positions + 4 * (size_t)node,
                       sn_scale(island->h * island->h * weight * mobility, force));
        }
    }
}

static void take_forces(sn_island *island) {
    for (const sn_island *other = island->world->islands; other; other = other->next) {
        const sn_island_contact *contact = other->contact;
        if (!contact || other->position) {
            continue;
        }
        for (int32_t i = 0; i < contact->touch_count; i++) {
            const sn_touch *touch = &contact->touches[i];
            if (touch->guest && holds(island, touch->guest)) {
                take_force(island, other, touch);
            }
        }
    }
}

static sinew_status find_touches(sn_island *island) {
    sn_island_contact *contact = island->contact;
    contact->report = (sinew_contact_report){.smallest_gap = INFINITY};
    contact->touching = false;
    contact->linear = false; // touches with a margin: rounds may bring vertices near
    for (int32_t i = 0; i < island->body_count; i++) {
        const sinew_body *body = island->bodies[i].body;
        memcpy(contact->members[i].commit_q, body->q, (size_t)body->config_count * sizeof *body->q);
    }

    // Guests have moved since.
    contact->predicted = contact->predicted && contact->guest_count == 0;
    if (!contact->predicted) {
        sn_contact_predict_surfaces(island, island->h);
    }
    memcpy(contact->start, contact->x, 3 * (size_t)contact->vertex_count * sizeof(double));
    SN_TRY(sn_contact_find_touches(island, contact->guess, true));
    contact->predicted = false;
    return add_touches(island);
}

// Lets the surfaces follow the projected positions.
static sinew_status commit(sn_island *island) {
    sn_island_contact *contact = island->contact;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &contact->members[i];
        const sinew_body *body = member->member->body;
        body->ops->stepping->get_end(body, member->hat_q);
        if (member->on) {
            body->ops->surface.compute(body, member->hat_q,
                                       sn_at3(contact->hat, member->first_vertex));
        }
    }

    double lag;
    return sn_contact_commit(island, false, &lag);
}

// The forces of touches in a step from the impulses of their rows.
static void find_forces(sn_island *island) {
    const sn_position *own = island->position;
    double scale = 1 / (island->h * island->h);
    double largest = 0;
    for (int32_t i = 0; i < own->row_count; i++) {
        const position_row *row = &own->rows[i];
        sn_touch *touch = row->touch;
        if (!touch) {
            continue;
        }

        sn_vec3 moved = sn_sub(find_p(own, row), row->begin);
        touch->force = scale * row->normal;
        touch->tangential = sn_scale(scale, row->tangential);
        touch->slip = sn_length(sn_madd(moved, -sn_dot(moved, touch->normal), touch->normal));
        largest = fmax(largest, sn_length(sn_madd(touch->tangential, touch->force, touch->normal)));
    }
    sn_contact_report_touches(island, largest);
}

sinew_status sn_position_solve(sn_island *island) {
    sn_position *own = island->position;
    island->h = island->world->def.step;
    own->row_count = own->term_count = 0;

    // Prediction, and what may hold the nodes back.
    for (int32_t i = 0; i < island->body_count; i++) {
        sinew_body *body = island->bodies[i].body;
        SN_TRY(body->ops->stepping->begin(body, island->world->def.gravity, island->h));
    }
    SN_TRY(add_attachments(island, island->h));
    if (island->contact) {
        take_forces(island);
        SN_TRY(find_touches(island));
    }

    project_all(island);
    for (int32_t i = 0; i < island->body_count; i++) {
        sinew_body *body = island->bodies[i].body;
        SN_TRY(body->ops->stepping->finish(body, island->h));
    }
    if (island->contact) {
        SN_TRY(commit(island));
        find_forces(island);
    }
    return SINEW_OK;
}

void sn_position_accept(sn_island *island) {
    const sn_position *own = island->position;
    for (int32_t i = 0; i < own->row_count; i++) {
        const position_row *row = &own->rows[i];
        if (row->attachment) {
            row->attachment->force = sn_scale(1 / (island->h * island->h), row->tangential);
        }
    }

    for (int32_t i = 0; i < island->body_count; i++) {
        sn_island_body *member = &island->bodies[i];
        const double *q = member->trial_q;
        if (island->contact) {
            q = island->contact->members[i].commit_q;
        } else {
            member->body->ops->stepping->get_end(member->body, member->trial_q);
        }
        member->body->ops->stepping->accept(member->body, q);
    }
}
