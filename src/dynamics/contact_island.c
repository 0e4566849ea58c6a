// What an island keeps for contact: the surfaces of its bodies one after the other, how vertices
// follow rows, and room that grows with the number of touches.
#include "dynamics/contact.h"

#include "geom/mesh/mesh.h"

#include <string.h>

// Islands with at most this many rows look up the blocks of their matrix in a table.
enum { MOST_TABLE_ROWS = 256 };

// The size of a body, by which thickness and speeds are chosen. [m]
static double size_of(const sinew_body *body) {
    return sn_box_diagonal(sn_box_of_points(body->surface->points, body->surface->point_count));
}

static bool takes_part(const sinew_body *body) {
    return !body->contact || body->contact->on;
}

static sinew_status push_shortest(sn_arena *arena, const sinew_mesh *surface, double **out) {
    double *shortest = SN_PUSH(arena, double, surface->point_count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < surface->point_count; i++) {
        shortest[i] = INFINITY;
    }

    for (int32_t e = 0; e < surface->element_count; e++) {
        const int32_t *t = sn_at3(surface->indices, e);
        for (int k = 0; k < 3; k++) {
            int32_t a = t[k];
            int32_t b = t[(k + 1) % 3];
            double length = sn_distance(sn_load3(sn_at3(surface->points, a)),
                                        sn_load3(sn_at3(surface->points, b)));
            shortest[a] = fmin(shortest[a], length);
            shortest[b] = fmin(shortest[b], length);
        }
    }

    *out = shortest;
    return SINEW_OK;
}

static sinew_status push_member(sn_island *island, sn_island_body *member, sn_contact_member *out) {
    sn_island_contact *own = island->contact;
    const sinew_contact_def *def = &own->contact->def;
    const sinew_body *body = member->body;
    const sinew_body_contact_def *chosen = body->contact;
    double thickness = chosen && chosen->thickness > 0 ? chosen->thickness : def->thickness;

    *out = (sn_contact_member){
        .member = member,
        .on = takes_part(body),
        .first_vertex = own->vertex_count,
        .vertex_count = body->surface->point_count,
        .thickness = thickness > 0 ? thickness : 1e-3 * size_of(body),
        .friction = chosen ? chosen->friction : -1,
        .by_node = body->surface_nodes && !body->embedding && island->tie_count == 0,
        .commit_q = SN_PUSH(&island->arena, double, body->config_count),
        .hat_q = SN_PUSH(&island->arena, double, body->config_count),
    };
    own->vertex_count += out->vertex_count;
    own->friction_speed = fmax(own->friction_speed, 1e-3 * size_of(body));
    return push_shortest(&island->arena, body->surface, &out->shortest);
}

// Room for the rows of any vertex, those of tied rows' carriers included.
static sinew_status push_row_room(sn_island *island) {
    sn_island_contact *own = island->contact;
    int32_t most = 1;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sinew_body *body = island->bodies[i].body;
        for (int32_t v = 0; v < body->surface->point_count; v++) {
            int32_t count = body->ops->surface.get_jacobian(body, v, NULL, NULL);
            most = count > most ? count : most;
        }
    }

    own->row_room = SN_PUSH(&island->arena, int32_t, most);
    own->J_room = SN_PUSH(&island->arena, sn_mat3, most);
    own->row_inverse = SN_PUSH(&island->arena, sn_mat3, island->rows);
    own->row_known = SN_PUSH(&island->arena, bool, island->rows);
    return sn_arena_status(&island->arena);
}

sinew_status sn_contact_island_create(sn_island *island) {
    sn_contact *contact = island->world->contact;
    bool any = false;
    for (int32_t i = 0; i < island->body_count; i++) {
        any = any || takes_part(island->bodies[i].body);
    }
    if (!contact || !contact->on || !any) {
        return SINEW_OK;
    }

    sn_island_contact *own = SN_PUSH(&island->arena, sn_island_contact, 1);
    SN_TRY(sn_arena_status(&island->arena));
    island->contact = own;
    own->contact = contact;
    own->members = SN_PUSH(&island->arena, sn_contact_member, island->body_count);
    SN_TRY(sn_arena_status(&island->arena));
    for (int32_t i = 0; i < island->body_count; i++) {
        SN_TRY(push_member(island, &island->bodies[i], &own->members[i]));
    }

    if (contact->def.friction_speed > 0) {
        own->friction_speed = contact->def.friction_speed;
    }

    double **surfaces[] = {&own->start, &own->x, &own->guess, &own->hat};
    for (size_t i = 0; i < sizeof surfaces / sizeof *surfaces; i++) {
        *surfaces[i] = SN_PUSH(&island->arena, double, 3 * (size_t)own->vertex_count);
    }
    own->share = SN_PUSH(&island->arena, double, own->vertex_count);
    own->slot_of_vertex = SN_PUSH(&island->arena, int32_t, own->vertex_count);
    SN_TRY(sn_arena_status(&island->arena));
    for (int32_t v = 0; v < own->vertex_count; v++) {
        own->slot_of_vertex[v] = -1;
    }

    return push_row_room(island);
}

sinew_status sn_contact_island_finish(sn_island *island) {
    sn_island_contact *own = island->contact;
    if (!own || island->rows > MOST_TABLE_ROWS) {
        return SINEW_OK;
    }

    const sn_bsr *pattern = island->pattern;
    size_t count = (size_t)island->rows * (size_t)island->rows;
    own->block_of = SN_PUSH(&island->arena, int32_t, count);
    own->kept_matrix = sn_bsr_push_values(&island->arena, pattern);
    SN_TRY(sn_arena_status(&island->arena));
    for (size_t i = 0; i < count; i++) {
        own->block_of[i] = -1;
    }

    for (int32_t row = 0; row < pattern->rows; row++) {
        for (int32_t k = pattern->starts[row]; k < pattern->starts[row + 1]; k++) {
            own->block_of[(size_t)row * (size_t)island->rows + (size_t)pattern->columns[k]] = k;
        }
    }
    return SINEW_OK;
}

void sn_contact_island_release(sn_island *island) {
    sn_island_contact *own = island->contact;
    if (!own) {
        return;
    }

    sinew_context *context = island->world->context;
    sn_release(context, own->touches, own->touch_capacity, sizeof *own->touches);
    sn_release(context, own->last_touches, own->last_touch_capacity, sizeof *own->last_touches);
    sn_release(context, own->slots, own->slot_capacity, sizeof *own->slots);
    sn_release(context, own->term_row, own->term_row_capacity, sizeof *own->term_row);
    sn_release(context, own->term_J, own->term_J_capacity, sizeof *own->term_J);
}

// Whether the pattern of the body has room for all pairs of these rows.
static bool is_covered(const sn_bsr *pattern, const int32_t *rows, int32_t count) {
    for (int32_t a = 0; a < count; a++) {
        for (int32_t b = 0; b < a; b++) {
            if (sn_bsr_find(pattern, rows[a], rows[b]) < 0) {
                return false;
            }
        }
    }
    return true;
}

bool sn_contact_couples(const sn_island *island) {
    const sn_island_contact *own = island->contact;
    for (int32_t i = 0; own && i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        const sinew_body *body = member->body;
        for (int32_t v = 0; own->members[i].on && v < body->surface->point_count; v++) {
            int32_t rows = body->ops->surface.get_jacobian(body, v, own->row_room, NULL);
            if (!is_covered(member->pattern, own->row_room, rows)) {
                return true;
            }
        }
    }
    return false;
}

sinew_status sn_contact_push_sets(const sn_island *island, sn_arena *arena, int32_t **offsets,
                                  int32_t **members, int32_t *count) {
    const sn_island_contact *own = island->contact;
    *count = 0;
    *offsets = SN_PUSH(arena, int32_t, own ? own->vertex_count + 1 : 1);
    *members = NULL;
    SN_TRY(sn_arena_status(arena));
    if (!own) {
        return SINEW_OK;
    }

    // Two passes: count, then fill.
    for (int pass = 0; pass < 2; pass++) {
        int32_t used = 0;
        *count = 0;
        for (int32_t i = 0; i < island->body_count; i++) {
            const sn_island_body *member = &island->bodies[i];
            const sinew_body *body = member->body;
            for (int32_t v = 0; own->members[i].on && v < body->surface->point_count; v++) {
                int32_t rows = body->ops->surface.get_jacobian(body, v, own->row_room, NULL);
                if (is_covered(member->pattern, own->row_room, rows)) {
                    continue;
                }
                for (int32_t k = 0; pass == 1 && k < rows; k++) {
                    (*members)[used + k] = member->first_row + own->row_room[k];
                }
                used += rows;
                (*offsets)[++*count] = used;
            }
        }

        if (pass == 0) {
            *members = SN_PUSH(arena, int32_t, used);
            SN_TRY(sn_arena_status(arena));
        }
    }
    return SINEW_OK;
}

const sn_contact_member *sn_contact_member_of(const sn_island *island, int32_t vertex) {
    int32_t i = island->body_count - 1;
    while (vertex < island->contact->members[i].first_vertex) {
        i--;
    }
    return &island->contact->members[i];
}

void sn_contact_compute_surface(const sn_island *island, const double *xi, double *positions) {
    const sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        const sinew_body *body = member->member->body;
        sn_body_retract(body, member->hat_q, body->q, xi + 3 * member->member->first_row);
        if (member->on) {
            body->ops->surface.compute(body, member->hat_q,
                                       sn_at3(positions, member->first_vertex));
        }
    }
}
