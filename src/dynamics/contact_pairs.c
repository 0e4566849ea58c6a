// Which pairs of features may carry a force, at the accepted surfaces x.
//
// Every vertex near an obstacle is a touch of its own, so that a large obstacle rests on many
// vertices. Where an obstacle meets the inside of an edge or triangle, the nearest point there is
// one too: small obstacles press between vertices. An edge counts only if it is nearest for both of
// its triangles, since otherwise a face of one of them is nearer.
//
// Touches are sorted by key. Cost: linear in the vertices of bodies whose boxes meet an obstacle.
#include "dynamics/contact_touch.h"

#include <math.h>
#include <string.h>

// Corners of a triangle nearer to a vertex or edge than this are on it.
static const double on_feature = 1e-6;

// How fast overlaps heal, in thousand thicknesses a second: by default that is the body's size.
static const double healing_speed = 0.2;

// One obstacle in the step in progress.
typedef struct obstacle_view {
    const sinew_obstacle *obstacle;
    sn_rigid onward; // from its trial pose to its target
    sn_rigid back;   // from its trial pose to where the step began
    bool moves;
    sn_box box; // at its trial pose and at its target
} obstacle_view;

static obstacle_view view_obstacle(const sinew_obstacle *obstacle) {
    sn_rigid home = sn_rigid_inverse(obstacle->trial);
    return (obstacle_view){
        .obstacle = obstacle,
        .onward = sn_rigid_mul(obstacle->target, home),
        .back = sn_rigid_mul(obstacle->origin, home),
        .moves = memcmp(&obstacle->origin, &obstacle->target, sizeof obstacle->pose) != 0 ||
                 memcmp(&obstacle->trial, &obstacle->target, sizeof obstacle->pose) != 0,
        .box = sn_box_union(sn_obstacle_box(&obstacle->shape, obstacle->trial),
                            sn_obstacle_box(&obstacle->shape, obstacle->target)),
    };
}

// The first memory whose key is not below this one.
static int32_t find_memory(const sn_contact *contact, sn_touch_key key) {
    int32_t low = 0;
    int32_t high = contact->memory_count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (sn_touch_key_compare(contact->memories[middle].key, key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static const sn_touch_memory *recall(const sn_contact *contact, sn_touch_key key) {
    int32_t at = find_memory(contact, key);
    bool found =
        at < contact->memory_count && sn_touch_key_compare(contact->memories[at].key, key) == 0;
    return found ? &contact->memories[at] : NULL;
}

const sn_touch *sn_contact_find_last(const sn_island_contact *own, sn_touch_key key) {
    int32_t low = 0;
    int32_t high = own->last_touch_count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int order = sn_touch_key_compare(own->last_touches[middle].key, key);
        if (order == 0) {
            return &own->last_touches[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

static sinew_status push_touch(sn_island *island, const sn_touch *touch) {
    sn_island_contact *own = island->contact;
    void *list = own->touches;
    SN_TRY(sn_grow(island->world->context, &list, &own->touch_capacity, (size_t)own->touch_count,
                   (size_t)own->touch_count + 1, sizeof *own->touches));
    own->touches = list;
    own->touches[own->touch_count++] = *touch;
    return SINEW_OK;
}

// What the search of one body against one obstacle shares.
typedef struct pair_search {
    sn_island *island;
    const sn_contact_member *member;
    const obstacle_view *view;
    const double *guess;
    double friction;
    double margin; // touches that come within this of carrying a force are listed too [m]
    bool first;
} pair_search;

// Fills in distance, offset and what the obstacle carries along, from the nearest points.
static void measure_touch(const pair_search *search, sn_obstacle_point at, sn_touch *touch) {
    const sn_island_contact *own = search->island->contact;
    double thickness = search->member->thickness;
    touch->obstacle = search->view->obstacle;
    touch->friction = search->friction;
    touch->normal = at.normal;
    touch->point = at.point;
    touch->distance = at.distance;
    double gap = at.distance - thickness;

    sn_vec3 drift = {0, 0, 0};
    if (search->view->moves) {
        sn_vec3 end = sn_rigid_apply(search->view->onward, at.point);
        drift = sn_sub(end, at.point);
        touch->carried = sn_sub(end, sn_rigid_apply(search->view->back, at.point));
        gap -= sn_dot(at.normal, drift);
    }

    // An overlap is taken back at a limited speed, measured from where the vertex is.
    double limit = healing_speed * 1e3 * thickness * search->island->h;
    if (at.distance < -limit) {
        gap += -limit - at.distance;
    }

    sn_touch_set_gap(touch, own->x, gap);
    touch->guessed = sn_touch_gap(touch, search->guess);
}

// Lists the touch if it carries a force or comes near one.
static sinew_status offer_touch(const pair_search *search, const sn_touch_memory *memory,
                                sn_touch *touch) {
    const sn_island_contact *own = search->island->contact;
    if (!memory && touch->guessed >= search->margin) {
        return SINEW_OK;
    }

    if (memory && touch->distance > 0) { // what overlaps is led out without a memory
        touch->multiplier = memory->multiplier;
        touch->pressure = memory->force;
        touch->slip = memory->slip;
    }
    const sn_touch *last = sn_contact_find_last(own, touch->key);
    if (last) {
        touch->penalty = last->penalty;
    }
    if (last && !memory && own->contact->is_static) { // friction of new touches without delay
        touch->pressure = last->force;
    }
    if (!search->first) {
        touch->slip = sn_length(sn_touch_slip(own, touch, search->guess));
        touch->exact_friction = !own->linear;
    }
    return push_touch(search->island, touch);
}

sinew_status sn_contact_offer_touch(sn_island *island, const double *guess, bool first,
                                    double margin, sn_touch *touch) {
    pair_search search = {.island = island, .guess = guess, .margin = margin, .first = first};
    return offer_touch(&search, recall(island->contact->contact, touch->key), touch);
}

static sinew_status find_vertices(const pair_search *search) {
    const sn_island_contact *own = search->island->contact;
    const sn_contact *contact = own->contact;
    const sinew_obstacle *obstacle = search->view->obstacle;
    const sn_contact_member *member = search->member;
    int32_t body = member->member->body->index;
    sn_touch_key first = sn_touch_make_key(SN_TOUCH_VERTEX, body, obstacle->number, 0, 0);
    sn_box box = sn_box_grown(search->view->box, member->thickness + search->margin);
    int32_t memory = find_memory(contact, first);

    for (int32_t v = 0; v < member->vertex_count; v++) {
        int32_t vertex = member->first_vertex + v;
        sn_touch_key key = sn_touch_make_key(SN_TOUCH_VERTEX, body, obstacle->number, v, 0);

        // Memories are in the same order.
        while (memory < contact->memory_count &&
               sn_touch_key_compare(contact->memories[memory].key, key) < 0) {
            memory++;
        }
        bool known = memory < contact->memory_count &&
                     sn_touch_key_compare(contact->memories[memory].key, key) == 0;

        // Most vertices are far away.
        sn_vec3 x = sn_contact_at(own->x, vertex);
        sn_vec3 y = sn_contact_at(search->guess, vertex);
        sn_box path = {sn_min3(x, y), sn_max3(x, y)};
        if (own->held[vertex] || (!known && !sn_box_overlaps(path, box))) {
            continue;
        }

        sn_touch touch = {.key = key, .count = 1, .vertex = {vertex}, .b = {1}};
        measure_touch(search, sn_obstacle_nearest(&obstacle->shape, obstacle->trial, x), &touch);
        SN_TRY(offer_touch(search, known ? &contact->memories[memory] : NULL, &touch));
    }
    return SINEW_OK;
}

// The touch of an obstacle inside a triangle or edge; false if it is at a vertex.
static bool make_inner_touch(const pair_search *search, int32_t triangle,
                             const sn_obstacle_meeting *meeting, sn_touch *touch) {
    const sn_contact_member *member = search->member;
    const sinew_body *body = member->member->body;
    const int32_t *corners = sn_at3(body->surface->indices, triangle);
    *touch = (sn_touch){.count = 0};
    for (int k = 0; k < 3; k++) {
        if (meeting->b[k] > on_feature) {
            touch->vertex[touch->count] = member->first_vertex + corners[k];
            touch->b[touch->count++] = meeting->b[k];
        }
    }
    if (touch->count < 2) {
        return false;
    }

    // Faces are known by their triangle, edges by their vertices.
    int32_t first = triangle;
    int32_t second = -1;
    if (touch->count == 2) {
        int32_t a = touch->vertex[0] - member->first_vertex;
        int32_t b = touch->vertex[1] - member->first_vertex;
        first = a < b ? a : b;
        second = a < b ? b : a;
    }
    touch->key = sn_touch_make_key(SN_TOUCH_TRIANGLE, body->index, search->view->obstacle->number,
                                   first, second);
    return true;
}

// Sorts the touches from `begin` on by key, and keeps of the edges those that both of their
// triangles found.
static void settle_inner_touches(sn_island_contact *own, int32_t begin) {
    for (int32_t i = begin + 1; i < own->touch_count; i++) {
        sn_touch touch = own->touches[i];
        int32_t at = i;
        while (at > begin && sn_touch_key_compare(own->touches[at - 1].key, touch.key) > 0) {
            own->touches[at] = own->touches[at - 1];
            at--;
        }
        own->touches[at] = touch;
    }

    int32_t kept = begin;
    for (int32_t i = begin; i < own->touch_count; i++) {
        bool twice = i + 1 < own->touch_count &&
                     sn_touch_key_compare(own->touches[i].key, own->touches[i + 1].key) == 0;
        if (own->touches[i].count == 3 || twice) {
            own->touches[kept++] = own->touches[i];
        }
        i += twice;
    }
    own->touch_count = kept;
}

static sinew_status find_triangles(const pair_search *search) {
    sn_island_contact *own = search->island->contact;
    const sinew_obstacle *obstacle = search->view->obstacle;
    const sn_contact_member *member = search->member;
    const sinew_mesh *surface = member->member->body->surface;
    sn_box box = sn_box_grown(search->view->box, member->thickness + search->margin);
    int32_t begin = own->touch_count;

    for (int32_t t = 0; t < surface->element_count; t++) {
        // The box of the triangle's motion excludes most.
        const int32_t *corners = sn_at3(surface->indices, t);
        sn_vec3 x[3];
        sn_box path = sn_box_empty();
        for (int k = 0; k < 3; k++) {
            x[k] = sn_contact_at(own->x, member->first_vertex + corners[k]);
            path = sn_box_with_point(path, x[k]);
            path = sn_box_with_point(
                path, sn_contact_at(search->guess, member->first_vertex + corners[k]));
        }
        if (!sn_box_overlaps(path, box)) {
            continue;
        }

        // Touches inside the triangle; those at its vertices are found as such.
        sn_obstacle_meeting meeting =
            sn_obstacle_meet_triangle(&obstacle->shape, obstacle->trial, x);
        sn_touch touch;
        if (meeting.at.distance > 0 && make_inner_touch(search, t, &meeting, &touch)) {
            measure_touch(search, meeting.at, &touch);
            SN_TRY(offer_touch(search, recall(own->contact, touch.key), &touch));
        }
    }

    settle_inner_touches(own, begin);
    return SINEW_OK;
}

// Touches of one kind against all obstacles.
static sinew_status find_kind(sn_island *island, const double *guess, bool first,
                              sn_touch_kind kind) {
    sn_island_contact *own = island->contact;
    const sn_contact *contact = own->contact;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        if (!member->on) {
            continue;
        }

        for (int32_t o = 0; o < contact->obstacle_count; o++) {
            const sinew_obstacle *obstacle = contact->obstacles[o];

            // A plane is met by vertices first; a mesh is a part of the scene.
            bool plane = obstacle->shape.kind == SN_OBSTACLE_PLANE;
            if (obstacle->surface || (kind == SN_TOUCH_TRIANGLE && plane)) {
                continue;
            }

            // What the search needs to know of the obstacle.
            obstacle_view view = view_obstacle(obstacle);
            double margin = own->linear ? 0 : member->thickness;
            pair_search search = {
                .island = island,
                .member = member,
                .view = &view,
                .guess = guess,
                .friction = sn_contact_mix_friction(contact, member->grip, obstacle->grip),
                .margin = margin,
                .first = first,
            };

            // A touch that pressed in the last step is looked at even if the boxes are apart.
            sn_touch_key key =
                sn_touch_make_key(kind, member->member->body->index, obstacle->number, 0, 0);
            int32_t memory = find_memory(contact, key);
            bool known =
                memory < contact->memory_count && contact->memories[memory].key.who == key.who;
            if (known ||
                sn_box_overlaps(member->box, sn_box_grown(view.box, member->thickness + margin))) {
                SN_TRY(kind == SN_TOUCH_VERTEX ? find_vertices(&search) : find_triangles(&search));
            }
        }
    }
    return SINEW_OK;
}

static void bound_members(sn_island *island, const double *guess) {
    sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < island->body_count; i++) {
        sn_contact_member *member = &own->members[i];
        size_t first = 3 * (size_t)member->first_vertex;
        member->box = sn_box_union(sn_box_of_points(own->x + first, member->vertex_count),
                                   sn_box_of_points(guess + first, member->vertex_count));
    }
}

sinew_status sn_contact_take_touches(sn_island *island) {
    sn_island_contact *own = island->contact;
    sinew_context *context = island->world->context;
    for (int32_t i = 0; i < own->slot_count; i++) {
        own->slot_of_vertex[own->slots[i].vertex] = -1;
    }
    own->slot_count = 0;

    size_t terms = 0;
    for (int32_t i = 0; i < own->touch_count; i++) {
        const sn_touch *touch = &own->touches[i];
        for (int k = 0; k < touch->count; k++) {
            int32_t vertex = touch->vertex[k];
            if (own->slot_of_vertex[vertex] >= 0) {
                continue;
            }

            // A vertex gets a slot when a touch first uses it.
            void *slots = own->slots;
            SN_TRY(sn_grow(context, &slots, &own->slot_capacity, (size_t)own->slot_count,
                           (size_t)own->slot_count + 1, sizeof *own->slots));
            own->slots = slots;
            own->slot_of_vertex[vertex] = own->slot_count;
            own->slots[own->slot_count++] =
                (sn_contact_slot){.vertex = vertex, .member = sn_contact_member_of(island, vertex)};

            // The rows that move it, which guests do not have; tied rows stand for several others.
            const sn_contact_member *member = own->slots[own->slot_count - 1].member;
            if (!member->member) {
                continue;
            }
            const sinew_body *body = member->member->body;
            int32_t rows =
                body->ops->surface.get_jacobian(body, vertex - member->first_vertex, NULL, NULL);
            terms += (size_t)rows * (island->tie_count > 0 ? SN_MAX_ELEMENT_NODES : 1);
        }
    }

    // Room for the terms of all slots.
    void *rows = own->term_row;
    void *jacobians = own->term_J;
    SN_TRY(sn_grow(context, &rows, &own->term_row_capacity, 0, terms, sizeof *own->term_row));
    own->term_row = rows;
    SN_TRY(sn_grow(context, &jacobians, &own->term_J_capacity, 0, terms, sizeof *own->term_J));
    own->term_J = jacobians;
    return SINEW_OK;
}

static void swap_lists(sn_island_contact *own) {
    sn_touch *touches = own->last_touches;
    size_t capacity = own->last_touch_capacity;
    int32_t count = own->last_touch_count;
    own->last_touches = own->touches;
    own->last_touch_capacity = own->touch_capacity;
    own->last_touch_count = own->touch_count;
    own->touches = touches;
    own->touch_capacity = capacity;
    own->touch_count = count;
}

void sn_contact_drop_touches(sn_island *island) {
    swap_lists(island->contact);
}

sinew_status sn_contact_find_touches(sn_island *island, double *guess, bool first) {
    sn_island_contact *own = island->contact;

    // The last list is kept for its penalties.
    swap_lists(own);
    own->touch_count = 0;
    if (first) {
        own->last_touch_count = 0;
    }

    bound_members(island, guess);
    SN_TRY(find_kind(island, guess, first, SN_TOUCH_VERTEX));
    SN_TRY(find_kind(island, guess, first, SN_TOUCH_TRIANGLE));
    return sn_contact_find_body_touches(island, guess, first);
}
