// What an island keeps for contact: the surfaces of its bodies one after the other, how vertices
// follow rows, and room that grows with the number of touches.
#include "dynamics/contact_gram.h"
#include "dynamics/contact_touch.h"

#include "geom/mesh/mesh.h"

#include <string.h>

// Islands with at most this many rows look up the blocks of their matrix in a table.
enum { MOST_TABLE_ROWS = 256 };

// Islands with at most this many rows sum the stiffness of touches in dense arrays.
enum { MOST_GRAM_ROWS = 96 };

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

double sn_contact_thickness_of(const sinew_body *body) {
    const sinew_body_contact_def *chosen = body->contact;
    const sinew_contact_def *def = &body->world->contact->def;
    double thickness = chosen && chosen->thickness > 0 ? chosen->thickness : def->thickness;
    return thickness > 0 ? thickness : 1e-3 * size_of(body);
}

static sinew_status push_member(sn_island *island, sn_island_body *member, sn_contact_member *out) {
    sn_island_contact *own = island->contact;
    const sinew_body *body = member->body;
    const sinew_body_contact_def *chosen = body->contact;

    *out = (sn_contact_member){
        .member = member,
        .on = takes_part(body),
        .first_vertex = own->vertex_count,
        .vertex_count = body->surface->point_count,
        .thickness = sn_contact_thickness_of(body),
        .grip = {chosen ? chosen->friction : -1, chosen ? chosen->material : 0},
        .by_node = body->surface_nodes && !body->embedding && island->tie_count == 0,
        .commit_q = SN_PUSH(&island->arena, double, body->config_count),
        .hat_q = SN_PUSH(&island->arena, double, body->config_count),
        .aim_q = SN_PUSH(&island->arena, double, body->config_count),
    };
    own->vertex_count += out->vertex_count;
    own->largest_thickness = fmax(own->largest_thickness, out->thickness);
    own->friction_speed = fmax(own->friction_speed, 1e-3 * size_of(body));
    return push_shortest(&island->arena, body->surface, &out->shortest);
}

// Room for the rows of any triangle.
static sinew_status push_row_room(sn_island *island) {
    sn_island_contact *own = island->contact;
    int32_t most = 1;
    for (int32_t i = 0; i < island->body_count + own->guest_count; i++) {
        const sinew_body *body = sn_contact_body_of(&own->members[i]);
        if (!body) {
            continue;
        }
        for (int32_t v = 0; v < body->surface->point_count; v++) {
            int32_t count = body->ops->surface.get_jacobian(body, v, NULL, NULL);
            most = count > most ? count : most;
        }
    }

    own->row_room = SN_PUSH(&island->arena, int32_t, 3 * (size_t)most);
    own->J_room = SN_PUSH(&island->arena, sn_mat3, most);
    own->row_inverse = SN_PUSH(&island->arena, sn_mat3, island->rows);
    own->row_known = SN_PUSH(&island->arena, bool, island->rows);
    return sn_arena_status(&island->arena);
}

// Room for the rows of one touch, and for dense sums.
static sinew_status push_merged(sn_island *island) {
    sn_island_contact *own = island->contact;
    size_t rows = (size_t)island->rows;
    own->merged_place = SN_PUSH(&island->arena, int32_t, rows);
    own->merged_row = SN_PUSH(&island->arena, int32_t, rows);
    own->merged_weight = SN_PUSH(&island->arena, double, rows);
    own->merged_J = SN_PUSH(&island->arena, sn_mat3, rows);
    SN_TRY(sn_arena_status(&island->arena));
    memset(own->merged_place, 0xff, rows * sizeof *own->merged_place);

    if (island->rows > MOST_GRAM_ROWS) {
        return SINEW_OK;
    }
    own->gram = SN_PUSH(&island->arena, double, sn_contact_gram_size(island->rows));
    own->gram_weight = SN_PUSH(&island->arena, double, sn_contact_gram_stride(island->rows));
    return sn_arena_status(&island->arena);
}

sinew_status sn_contact_island_finish(sn_island *island) {
    sn_island_contact *own = island->contact;
    if (!own) {
        return SINEW_OK;
    }
    SN_TRY(push_merged(island));
    if (island->rows > MOST_TABLE_ROWS) {
        return SINEW_OK;
    }

    // Few rows: a table finds the block of any two.
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
    sn_contact_scene_destroy(own->scene);
    sn_contact_overlaps_release(&own->overlaps);
    sn_release(context, own->touches, own->touch_capacity, sizeof *own->touches);
    sn_release(context, own->last_touches, own->last_touch_capacity, sizeof *own->last_touches);
    sn_release(context, own->slots, own->slot_capacity, sizeof *own->slots);
    sn_release(context, own->term_row, own->term_row_capacity, sizeof *own->term_row);
    sn_contact_aim_release(context, &own->aim);
    sn_release(context, own->term_J, own->term_J_capacity, sizeof *own->term_J);
}

// The rows that move the corners of a triangle, each once, in row_room. Returns their number.
static int32_t collect_rows(const sn_island_contact *own, const sinew_body *body,
                            int32_t triangle) {
    const int32_t *corners = sn_at3(body->surface->indices, triangle);
    int32_t count = 0;
    for (int k = 0; k < 3; k++) {
        int32_t *more = own->row_room + count;
        int32_t added = body->ops->surface.get_jacobian(body, corners[k], more, NULL);
        int32_t kept = 0;
        for (int32_t i = 0; i < added; i++) {
            bool known = false;
            for (int32_t r = 0; r < count && !known; r++) {
                known = own->row_room[r] == more[i];
            }
            if (!known) {
                more[kept++] = more[i];
            }
        }
        count += kept;
    }
    return count;
}

// Whether the body's pattern has room for all pairs of these rows. `table` says so for small ones.
static bool is_covered(const sn_bsr *pattern, const uint8_t *table, const int32_t *rows,
                       int32_t count) {
    for (int32_t a = 0; a < count; a++) {
        for (int32_t b = 0; b < a; b++) {
            size_t place = (size_t)rows[a] * (size_t)pattern->rows + (size_t)rows[b];
            if (table ? !table[place] : sn_bsr_find(pattern, rows[a], rows[b]) < 0) {
                return false;
            }
        }
    }
    return true;
}

// Which blocks a small pattern has; NULL for a large one.
static sinew_status push_table(sn_arena *arena, const sn_bsr *pattern, uint8_t **out) {
    *out = NULL;
    if (pattern->rows > MOST_TABLE_ROWS) {
        return SINEW_OK;
    }

    uint8_t *table = SN_PUSH(arena, uint8_t, (size_t)pattern->rows * (size_t)pattern->rows);
    SN_TRY(sn_arena_status(arena));
    for (int32_t row = 0; row < pattern->rows; row++) {
        for (int32_t k = pattern->starts[row]; k < pattern->starts[row + 1]; k++) {
            table[(size_t)row * (size_t)pattern->rows + (size_t)pattern->columns[k]] = 1;
        }
    }
    *out = table;
    return SINEW_OK;
}

// A growing list of sets of rows.
typedef struct row_sets {
    sn_arena *arena;
    int32_t *offsets, *members;
    int32_t count, used, room;
} row_sets;

static sinew_status append_set(row_sets *sets, const int32_t *rows, int32_t count, int32_t first) {
    if (sets->used + count > sets->room) {
        int32_t room = 2 * (sets->used + count);
        int32_t *members = SN_PUSH(sets->arena, int32_t, room);
        SN_TRY(sn_arena_status(sets->arena));
        if (sets->used > 0) {
            memcpy(members, sets->members, (size_t)sets->used * sizeof *members);
        }
        sets->members = members;
        sets->room = room;
    }

    for (int32_t k = 0; k < count; k++) {
        sets->members[sets->used++] = first + rows[k];
    }
    sets->offsets[++sets->count] = sets->used;
    return SINEW_OK;
}

// Sets of rows of triangles that the pattern of their body does not cover.
static sinew_status append_triangles(const sn_island *island, const sn_island_body *member,
                                     row_sets *sets) {
    const sn_island_contact *own = island->contact;
    const sinew_body *body = member->body;
    uint8_t *table;
    SN_TRY(push_table(sets->arena, member->pattern, &table));
    for (int32_t t = 0; t < body->surface->element_count; t++) {
        int32_t rows = collect_rows(own, body, t);
        if (!is_covered(member->pattern, table, own->row_room, rows)) {
            SN_TRY(append_set(sets, own->row_room, rows, member->first_row));
        }
    }
    return SINEW_OK;
}

static sinew_status find_sets(sn_island *island) {
    sn_island_contact *own = island->contact;
    size_t triangles = 0;
    for (int32_t i = 0; i < island->body_count; i++) {
        triangles += (size_t)island->bodies[i].body->surface->element_count;
    }

    row_sets sets = {.arena = &island->arena};
    sets.offsets = SN_PUSH(&island->arena, int32_t, triangles + 1);
    SN_TRY(sn_arena_status(&island->arena));
    for (int32_t i = 0; i < island->body_count; i++) {
        if (own->members[i].on) {
            SN_TRY(append_triangles(island, &island->bodies[i], &sets));
        }
    }
    own->sets =
        (sn_bsr_sets){.count = sets.count, .offsets = sets.offsets, .members = sets.members};
    return SINEW_OK;
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

    // The bodies that take part.
    sn_island_contact *own = SN_PUSH(&island->arena, sn_island_contact, 1);
    SN_TRY(sn_arena_status(&island->arena));
    island->contact = own;
    own->contact = contact;
    own->members = SN_PUSH(&island->arena, sn_contact_member,
                           island->body_count + sn_contact_count_guests(island));
    SN_TRY(sn_arena_status(&island->arena));
    for (int32_t i = 0; i < island->body_count; i++) {
        SN_TRY(push_member(island, &island->bodies[i], &own->members[i]));
    }
    SN_TRY(sn_contact_push_guests(island));

    if (contact->def.friction_speed > 0) {
        own->friction_speed = contact->def.friction_speed;
    }

    // Surfaces of all bodies in one array each.
    double **surfaces[] = {&own->start, &own->x,         &own->guess,
                           &own->hat,   &own->guest_end, &own->aim.surface};
    for (size_t i = 0; i < sizeof surfaces / sizeof *surfaces; i++) {
        *surfaces[i] = SN_PUSH(&island->arena, double, 3 * (size_t)own->vertex_count);
    }
    own->share = SN_PUSH(&island->arena, double, own->vertex_count);
    own->slot_of_vertex = SN_PUSH(&island->arena, int32_t, own->vertex_count);
    own->held = SN_PUSH(&island->arena, uint8_t, own->vertex_count);
    SN_TRY(sn_arena_status(&island->arena));
    for (int32_t v = 0; v < own->vertex_count; v++) {
        own->slot_of_vertex[v] = -1;
    }

    SN_TRY(push_row_room(island));
    if (!island->position) {
        SN_TRY(find_sets(island));
    }
    return sn_contact_make_scene(island);
}

const sn_contact_member *sn_contact_member_of(const sn_island *island, int32_t vertex) {
    int32_t i = island->body_count + island->contact->guest_count - 1;
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
