// Bodies that touch each other or themselves: the search for pairs of features, their touches, and
// the room that the island's pattern needs for them.
//
// The pattern has room for pairs that were near each other when it was built, with a margin. It is
// renewed before a step in which other pairs come near each other. Pairs that a solve calls for
// beyond those go to the diagonals (contact_forces.c).
#include "dynamics/contact_heal.h"
#include "dynamics/contact_touch.h"

#include "sinew/rigid_body.h"

#include "contact/commit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Pairs nearer than this many thicknesses get room in the pattern.
static const double pattern_reach = 3;

// Pairs nearer than this many thicknesses are looked at in a step.
static const double search_reach = 1.5;

// Bodies whose motions differ by at most this share move alike.
static const double alike_share = 0.1;

// A shift shorter than this share of the drift was cut.
static const double whole_shift = 0.9;

static bool are_attached(const sinew_world *world, const sinew_body *a, const sinew_body *b) {
    for (size_t i = 0; i < world->attachment_count; i++) {
        const sinew_body *tied = world->attachments[i]->tied.body;
        const sinew_body *target = world->attachments[i]->target.body;
        if (world->attachments[i]->broken) {
            continue;
        }
        if ((tied == a && target == b) || (tied == b && target == a)) {
            return true;
        }
    }
    return false;
}

// Bodies that are attached to each other meet by design.
static bool can_touch(void *user, int32_t a, int32_t b) {
    const sn_island_contact *own = user;
    const sinew_contact_def *def = &own->contact->def;
    const sn_contact_member *ends[] = {&own->members[a], &own->members[b]};
    if (!ends[0]->on || !ends[1]->on || (!ends[0]->member && !ends[1]->member)) {
        return false;
    }
    if (a == b) {
        return def->self;
    }

    // Mesh obstacles touch everything.
    const sinew_body *first = sn_contact_body_of(ends[0]);
    const sinew_body *second = sn_contact_body_of(ends[1]);
    if (!first || !second) {
        return true;
    }
    return def->bodies && !are_attached(first->world, first, second);
}

static sinew_status get_shape(sinew_body *body, const sn_contact_shape **out) {
    if (!body->contact_shape) {
        sn_arena_mark mark = sn_arena_get_mark(&body->arena);
        sn_contact_shape *shape = SN_PUSH(&body->arena, sn_contact_shape, 1);
        sinew_status status = sn_arena_status(&body->arena);
        if (status == SINEW_OK) {
            status = sn_contact_shape_build(&body->arena, body->surface, shape);
        }
        if (status != SINEW_OK) {
            sn_arena_rewind(&body->arena, mark);
            return status;
        }
        body->contact_shape = shape;
    }

    *out = body->contact_shape;
    return SINEW_OK;
}

static sinew_status create_scene(sn_island *island, sn_arena *scratch) {
    sn_island_contact *own = island->contact;
    int32_t count = island->body_count + own->guest_count;
    const sn_contact_shape **shapes = SN_PUSH(scratch, const sn_contact_shape *, count);
    double *rest = SN_PUSH(scratch, double, 3 * (size_t)own->vertex_count);
    SN_TRY(sn_arena_status(scratch));

    // The surfaces of bodies, then those of guests, with all vertices numbered through.
    for (int32_t i = 0; i < count; i++) {
        const sn_contact_member *member = &own->members[i];
        sinew_body *body = sn_contact_body_of(member);
        const sinew_mesh *surface = body ? body->surface : member->obstacle->surface;
        if (body) {
            SN_TRY(get_shape(body, &shapes[i]));
        } else {
            shapes[i] = member->obstacle->surface_shape;
        }
        memcpy(sn_at3(rest, member->first_vertex), surface->points,
               3 * (size_t)surface->point_count * sizeof *rest);
    }

    SN_TRY(sn_contact_scene_create(island->world->context, shapes, count, rest, &own->scene));
    own->scene->filter = can_touch;
    own->scene->filter_user = own;

    // Guests move as a whole, each by itself; of the island's own bodies, what is tied stays
    // together.
    for (int32_t i = island->body_count; i < count; i++) {
        own->scene->parts[i].thickness = own->members[i].thickness;
        own->scene->parts[i].together = true;
        own->scene->parts[i].group = i;
    }
    for (int32_t i = 0; i < island->body_count; i++) {
        own->scene->parts[i].thickness = own->members[i].thickness;
        own->scene->parts[i].together = !own->members[i].by_node;
        own->scene->parts[i].group = island->tie_count > 0 ? 0 : i;
    }

    // Room for commits.
    own->part_share = SN_PUSH(&island->arena, double, count);
    own->drift_bound = SN_PUSH(&island->arena, double, count);
    own->shift = SN_PUSH(&island->arena, sn_vec3, count);
    own->push = SN_PUSH(&island->arena, sn_vec3, count);
    own->fresh = true;
    own->motions = SN_PUSH(&island->arena, sn_member_motion, island->body_count);
    own->vertex_share = SN_PUSH(&island->arena, double, own->vertex_count);
    own->bulge = SN_PUSH(&island->arena, double, own->vertex_count);
    own->bend = SN_PUSH(&island->arena, double, 3 * (size_t)own->vertex_count);
    return sn_arena_status(&island->arena);
}

// The largest gap that two parts of the island keep.
static double largest_gap(const sn_island *island) {
    double thickness = 0;
    for (int32_t i = 0; i < island->body_count + island->contact->guest_count; i++) {
        thickness = fmax(thickness, island->contact->members[i].thickness);
    }
    return 2 * thickness;
}

static sn_touch_key key_of(const sn_island *island, const sn_contact_pair *pair) {
    const sn_contact_scene *scene = island->contact->scene;
    const sn_contact_part *a = &scene->parts[pair->part[0]];
    const sn_contact_part *b = &scene->parts[pair->part[1]];
    bool edges = pair->kind == SN_CONTACT_EDGE_EDGE;
    int32_t first = pair->feature[0] - (edges ? a->first_edge : a->first_vertex);
    int32_t second = pair->feature[1] - (edges ? b->first_edge : b->first_triangle);
    const sn_contact_member *ends[] = {&island->contact->members[pair->part[0]],
                                       &island->contact->members[pair->part[1]]};

    // Of a mesh obstacle: its own feature comes second.
    if (ends[1]->obstacle) {
        return sn_touch_make_key(edges ? SN_TOUCH_MESH_EDGES : SN_TOUCH_MESH_VERTEX,
                                 sn_contact_body_of(ends[0])->index, ends[1]->obstacle->number,
                                 first, second);
    }
    if (ends[0]->obstacle) {
        return sn_touch_make_key(edges ? SN_TOUCH_MESH_EDGES : SN_TOUCH_MESH_TRIANGLE,
                                 sn_contact_body_of(ends[1])->index, ends[0]->obstacle->number,
                                 second, first);
    }
    return sn_touch_make_key(edges ? SN_TOUCH_EDGES : SN_TOUCH_VERTEX_TRIANGLE,
                             sn_contact_body_of(ends[0])->index,
                             (uint32_t)sn_contact_body_of(ends[1])->index, first, second);
}

// Whether one side of a pair is a guest, which couples no rows.
static bool is_of_guest(const sn_island *island, const sn_contact_pair *pair) {
    return pair->part[0] >= island->body_count || pair->part[1] >= island->body_count;
}

// The member of a body by its index in the world; NULL if it is in another island.
static const sn_contact_member *find_member(const sn_island *island, int32_t index) {
    for (int32_t i = 0; i < island->body_count; i++) {
        if (island->bodies[i].body->index == index) {
            return &island->contact->members[i];
        }
    }
    return NULL;
}

// The vertices of the features that a key names; false if their bodies are in another island, or if
// the surfaces have no such features, as a damaged snapshot may claim.
static bool find_vertices(const sn_island *island, sn_touch_key key, int32_t vertex[4]) {
    const sn_contact_member *a = find_member(island, sn_touch_key_a(key));
    const sn_contact_member *b = find_member(island, sn_touch_key_b(key));
    if (!a || !b) {
        return false;
    }

    // Two edges, or a vertex and a triangle.
    int32_t first = (int32_t)(key.what >> 32);
    int32_t second = (int32_t)(key.what & UINT32_MAX);
    const sn_contact_shape *shape_a = a->member->body->contact_shape;
    const sn_contact_shape *shape_b = b->member->body->contact_shape;
    bool edges = sn_touch_key_kind(key) == SN_TOUCH_EDGES;
    int32_t first_count = edges ? shape_a->edge_count : shape_a->vertex_count;
    int32_t second_count = edges ? shape_b->edge_count : shape_b->triangle_count;
    if (first < 0 || first >= first_count || second < 0 || second >= second_count) {
        return false;
    }

    for (int k = 0; k < 4; k++) {
        int of_first = edges ? 2 : 1;
        if (k < of_first) {
            int32_t local = edges ? shape_a->edges[2 * (size_t)first + (size_t)k] : first;
            vertex[k] = a->first_vertex + local;
        } else {
            int32_t local = edges ? shape_b->edges[2 * (size_t)second + (size_t)(k - 2)]
                                  : shape_b->triangles[3 * (size_t)second + (size_t)(k - 1)];
            vertex[k] = b->first_vertex + local;
        }
    }
    return true;
}

static sn_member_motion measure_motion(const sn_island_contact *own,
                                       const sn_contact_member *member, const double *y) {
    sn_member_motion motion = {.box = sn_box_empty(),
                               .free = member->on && member->vertex_count > 0};
    for (int32_t v = member->first_vertex; v < member->first_vertex + member->vertex_count; v++) {
        sn_vec3 from = sn_contact_at(own->x, v);
        sn_vec3 to = sn_contact_at(y, v);
        motion.mean = sn_add(motion.mean, sn_sub(to, from));
        motion.box = sn_box_with_point(sn_box_with_point(motion.box, from), to);
        motion.free = motion.free && !own->held[v];
    }
    motion.mean = sn_scale(1.0 / fmax(1, member->vertex_count), motion.mean);
    return motion;
}

// Whether two bodies fly along with each other.
static bool move_alike(const sn_member_motion *a, const sn_member_motion *b, double reach) {
    double slower = fmin(sn_length(a->mean), sn_length(b->mean));
    return a->free && b->free && sn_distance(a->mean, b->mean) <= alike_share * slower &&
           sn_box_overlaps(sn_box_grown(a->box, reach), b->box);
}

// Bodies close to each other that move alike form a group, which commits move as a whole: planes
// that stand still between them would hold back all but the first.
static void group_members(sn_island *island, const double *y, double reach) {
    sn_island_contact *own = island->contact;
    sn_contact_part *parts = own->scene->parts;
    for (int32_t i = 0; i < island->body_count; i++) {
        own->motions[i] = measure_motion(own, &own->members[i], y);
        parts[i].group = i;
        for (int32_t k = 0; k < i; k++) {
            int32_t from = parts[i].group;
            int32_t to = parts[k].group;
            if (from == to || !move_alike(&own->motions[i], &own->motions[k], reach)) {
                continue;
            }
            for (int32_t m = 0; m <= i; m++) {
                parts[m].group = parts[m].group == from ? to : parts[m].group;
            }
        }
    }
}

static sinew_status search(sn_island *island, const double *y, double reach) {
    sn_island_contact *own = island->contact;
    double distance = reach * largest_gap(island);
    memcpy(own->scene->held, own->held, (size_t)own->vertex_count * sizeof *own->held);
    if (island->tie_count == 0) {
        group_members(island, y, distance);
    }
    SN_TRY(sn_contact_find(own->scene, own->x, y, distance));
    sn_contact_overlaps_exempt(own->scene, &own->overlaps);
    return SINEW_OK;
}

sinew_status sn_contact_search(sn_island *island, const double *y) {
    return search(island, y, search_reach);
}

// Finds the pairs that come near each other while the surfaces move from x towards y, and guests
// towards where they would be.
static sinew_status find_pairs(sn_island *island, double *y, double reach) {
    sn_island_contact *own = island->contact;
    if (own->guest_count == 0) {
        return search(island, y, reach);
    }

    // Guests stand still while the island is solved.
    size_t first = 3 * (size_t)own->members[island->body_count].first_vertex;
    size_t bytes = (3 * (size_t)own->vertex_count - first) * sizeof *y;
    sn_contact_sweep_guests(island, own->guest_end);
    memcpy(y + first, own->guest_end + first, bytes);
    SN_TRY(search(island, y, reach));
    memcpy(y + first, own->x + first, bytes);
    return SINEW_OK;
}

// Finds the pairs near each other now, and adds them to the world's overlay.
static sinew_status extend_overlay(sn_island *island) {
    sn_island_contact *own = island->contact;
    sn_contact *contact = own->contact;
    sn_contact_predict_surfaces(island, sn_contact_horizon(island->world));
    SN_TRY(
        find_pairs(island, own->guess, contact->is_static ? contact->static_reach : pattern_reach));
    void *overlay = contact->overlay;
    size_t needed = (size_t)(contact->overlay_count + own->scene->pair_count);
    SN_TRY(sn_grow(contact->context, &overlay, &contact->overlay_capacity,
                   (size_t)contact->overlay_count, needed, sizeof *contact->overlay));
    contact->overlay = overlay;
    for (int32_t i = 0; i < own->scene->pair_count; i++) {
        if (!is_of_guest(island, &own->scene->pairs[i])) {
            contact->overlay[contact->overlay_count++] = key_of(island, &own->scene->pairs[i]);
        }
    }
    return SINEW_OK;
}

// Adds a set of rows for each pair of the overlay to own->sets.
static sinew_status add_sets(sn_island *island) {
    sn_island_contact *own = island->contact;
    const sn_contact *contact = own->contact;
    sn_bsr_sets old = own->sets;
    int32_t old_used = old.count > 0 ? old.offsets[old.count] : 0;

    // Two passes: count, then fill.
    int32_t *offsets = NULL, *members = NULL;
    for (int pass = 0; pass < 2; pass++) {
        int32_t count = old.count;
        int32_t used = old_used;
        for (int32_t i = 0; i < contact->overlay_count; i++) {
            int32_t vertex[4];
            if (!find_vertices(island, contact->overlay[i], vertex)) {
                continue;
            }
            for (int k = 0; k < 4; k++) {
                const sn_contact_member *member = sn_contact_member_of(island, vertex[k]);
                const sinew_body *body = member->member->body;
                int32_t rows = body->ops->surface.get_jacobian(
                    body, vertex[k] - member->first_vertex, own->row_room, NULL);
                for (int32_t r = 0; pass == 1 && r < rows; r++) {
                    members[used + r] = member->member->first_row + own->row_room[r];
                }
                used += rows;
            }
            count++;
            if (pass == 1) {
                offsets[count] = used;
            }
        }

        if (pass == 0) {
            offsets = SN_PUSH(&island->arena, int32_t, count + 1);
            members = SN_PUSH(&island->arena, int32_t, used);
            SN_TRY(sn_arena_status(&island->arena));
            if (old.count > 0) {
                memcpy(offsets, old.offsets, ((size_t)old.count + 1) * sizeof *offsets);
                memcpy(members, old.members, (size_t)old_used * sizeof *members);
            }
        } else {
            own->sets = (sn_bsr_sets){.count = count, .offsets = offsets, .members = members};
        }
    }
    return SINEW_OK;
}

// Whether the pattern has room for every pair of rows, as those of bodies with few frames have.
static bool is_full(const sn_bsr *pattern) {
    return (int64_t)pattern->starts[pattern->rows] == (int64_t)pattern->rows * pattern->rows;
}

// Whether the pattern has room for what a pair couples.
static bool is_covered(const sn_island *island, const sn_contact_pair *pair) {
    const sn_island_contact *own = island->contact;
    for (int a = 0; a < 4; a++) {
        const sn_contact_member *member = sn_contact_member_of(island, pair->vertex[a]);
        const sinew_body *body = member->member->body;
        int32_t rows = body->ops->surface.get_jacobian(body, pair->vertex[a] - member->first_vertex,
                                                       own->row_room, NULL);
        for (int b = 0; b < a; b++) {
            const sn_contact_member *other = sn_contact_member_of(island, pair->vertex[b]);
            const sinew_body *second = other->member->body;
            int32_t *room = own->row_room + rows;
            int32_t columns = second->ops->surface.get_jacobian(
                second, pair->vertex[b] - other->first_vertex, room, NULL);
            for (int32_t r = 0; r < rows; r++) {
                for (int32_t c = 0; c < columns; c++) {
                    if (sn_contact_find_block(island, member->member->first_row + own->row_room[r],
                                              other->member->first_row + room[c]) < 0) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

sinew_status sn_contact_cover(sinew_world *world) {
    bool covered = true;
    for (sn_island *island = world->islands; island && covered; island = island->next) {
        sn_island_contact *own = island->contact;
        if (!own || !own->scene) {
            continue;
        }

        sn_contact_predict_surfaces(island, sn_contact_horizon(world));
        SN_TRY(sn_contact_find_overlaps(island));
        SN_TRY(find_pairs(island, own->guess, search_reach));
        own->predicted = true;
        if (island->position || is_full(island->pattern)) {
            continue;
        }
        for (int32_t i = 0; i < own->scene->pair_count && covered; i++) {
            const sn_contact_pair *pair = &own->scene->pairs[i];
            covered = is_of_guest(island, pair) || is_covered(island, pair);
        }
    }
    if (covered) {
        return SINEW_OK;
    }

    world->contact->overlay_valid = false;
    world->contact->renewals++;
    sn_world_forget_islands(world);
    return sn_world_prepare(world, world->contact->is_static);
}

sinew_status sn_contact_make_scene(sn_island *island) {
    sn_island_contact *own = island->contact;
    const sinew_contact_def *def = &own->contact->def;
    bool several = def->bodies && island->body_count > 1;
    if (!def->self && !several && own->guest_count == 0) {
        return SINEW_OK;
    }

    sn_arena scratch = sn_arena_create(island->world->context);
    sinew_status status = create_scene(island, &scratch);
    sn_arena_destroy(&scratch);
    SN_TRY(status);
    if (island->position) {
        return SINEW_OK;
    }
    if (!own->contact->overlay_valid) {
        SN_TRY(extend_overlay(island));
    }
    return add_sets(island);
}

// --- touches

static int compare_touches(const void *a, const void *b) {
    return sn_touch_key_compare(((const sn_touch *)a)->key, ((const sn_touch *)b)->key);
}

static void make_touch(const sn_island *island, const sn_contact_pair *pair, const double *guess,
                       sn_touch *touch) {
    const sn_island_contact *own = island->contact;
    const sn_contact_member *a = &own->members[pair->part[0]];
    const sn_contact_member *b = &own->members[pair->part[1]];
    *touch = (sn_touch){
        .key = key_of(island, pair),
        .count = 4,
        .normal = pair->n,
        .distance = pair->distance,
        .friction = sn_contact_mix_friction(own->contact, a->grip, b->grip),
    };

    for (int k = 0; k < 4; k++) {
        touch->vertex[k] = pair->vertex[k];
        touch->b[k] = pair->b[k];
        if (k < sn_contact_first_side(pair->kind)) {
            touch->point =
                sn_madd(touch->point, touch->b[k], sn_contact_at(own->x, pair->vertex[k]));
        }
    }
    sn_touch_set_gap(touch, own->x, pair->distance - sn_contact_gap(own->scene, pair));
    touch->guessed = sn_touch_gap(touch, guess);
}

sinew_status sn_contact_find_body_touches(sn_island *island, double *guess, bool first) {
    sn_island_contact *own = island->contact;
    if (!own->scene) {
        return SINEW_OK;
    }
    if (first && !own->predicted) {
        SN_TRY(find_pairs(island, guess, search_reach));
    }

    int32_t begin = own->touch_count;
    double margin = own->linear ? 0 : 0.5 * largest_gap(island);
    sn_contact_measure(own->scene, own->x);
    for (int32_t i = 0; i < own->scene->pair_count; i++) {
        const sn_contact_pair *pair = &own->scene->pairs[i];
        // Without a distance there is no direction to push in. Where a feature has slid beyond
        // another, the direction between them tilts, and another pair carries the force.
        if (!(pair->distance > 0) || !pair->usable || pair->exempt) {
            continue;
        }

        sn_touch touch;
        make_touch(island, pair, guess, &touch);
        if (is_of_guest(island, pair)) {
            int32_t guest = pair->part[0] > pair->part[1] ? pair->part[0] : pair->part[1];
            if (!sn_contact_finish_guest_touch(island, guest, sn_contact_first_side(pair->kind),
                                               &touch)) {
                continue;
            }
            touch.guessed = sn_touch_gap(&touch, guess);
        }
        SN_TRY(sn_contact_offer_touch(island, guess, first, margin, &touch));
    }

    if (own->touch_count > begin) {
        qsort(own->touches + begin, (size_t)(own->touch_count - begin), sizeof *own->touches,
              compare_touches);
    }
    return SINEW_OK;
}

// --- commit

// How far paths of bodies whose rows rotate are from their chords, at the middle. Of a rigid body,
// whose vertices move on arcs, the direction is known too, up to the angle of the arc: the second
// derivative of the path turns by it. Returns whether there are any.
static bool find_bulges(sn_island *island) {
    sn_island_contact *own = island->contact;
    bool any = false;
    memset(own->bulge, 0, (size_t)own->vertex_count * sizeof *own->bulge);
    memset(own->bend, 0, 3 * (size_t)own->vertex_count * sizeof *own->bend);
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        const sinew_body *body = member->member->body;
        if (!member->on || !body->ops->motion.retract) {
            continue;
        }

        any = true;

        // The surface half-way along the path.
        int32_t first = 3 * member->member->first_row;
        double *xi = island->remote_x + first;
        sn_body_difference(body, xi, member->hat_q, member->commit_q);
        bool rigid = sinew_body_is_rigid(body);
        double angle = sn_length(sn_load3(xi)); // of a rigid body, whose first row rotates
        for (int32_t k = 0; k < sn_body_size(body); k++) {
            xi[k] *= 0.5;
        }
        sn_body_retract(body, member->member->trial_q, member->commit_q, xi);
        double *middle = sn_at3(own->guess, member->first_vertex);
        body->ops->surface.compute(body, member->member->trial_q, middle);

        // Its distance from the middle of each chord.
        for (int32_t v = 0; v < member->vertex_count; v++) {
            int32_t vertex = member->first_vertex + v;
            sn_vec3 chord = sn_scale(
                0.5, sn_add(sn_contact_at(own->x, vertex), sn_contact_at(own->hat, vertex)));
            sn_vec3 bend = sn_sub(sn_contact_at(own->guess, vertex), chord);
            double off = sn_length(bend);
            double rounding = 1e-14 * (1 + sn_length(chord));
            if (off > rounding && rigid && angle < 0.5) {
                sn_store3(sn_at3(own->bend, vertex), bend);
                own->bulge[vertex] = 0.6 * angle * off;
            } else if (off > rounding) {
                own->bulge[vertex] = 1.5 * off;
            }
        }
    }
    return any;
}

static void limit_pairs(sn_island *island, const sn_contact_motion *motion,
                        const sn_contact_shares *shares, sn_contact_limit_report *report) {
    const sn_island_contact *own = island->contact;
    sn_contact_drift(own->scene, motion, own->shift);
    sn_contact_bound_drifts(island, own->shift, own->drift_bound);
    for (int32_t i = island->body_count; i < own->scene->part_count; i++) {
        own->drift_bound[i] = 0;
    }
    sn_contact_measure(own->scene, own->x);
    sn_contact_limit(own->scene, motion, shares, report);
}

// Moves bodies as a whole by their shifts.
static void shift_members(sn_island *island) {
    const sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        const sinew_body *body = member->member->body;
        if (sn_length(own->shift[i]) > 0) {
            sn_body_translate(body, member->commit_q, own->shift[i]);
            body->ops->surface.compute(body, member->commit_q,
                                       sn_at3(own->x, member->first_vertex));
        }
    }
}

// Searches along the way to own->hat. Groups whose shift was cut, by an obstacle or another group,
// get none: the boxes of their vertices would follow a drift that they cannot take.
static sinew_status search_again(sn_island *island) {
    sn_island_contact *own = island->contact;
    sn_contact_scene *scene = own->scene;
    for (int32_t p = 0; p < scene->part_count; p++) {
        double asked = sn_length(scene->parts[p].drift);
        scene->parts[p].anchored = sn_length(own->shift[p]) < whole_shift * asked;
    }

    SN_TRY(find_pairs(island, own->hat, search_reach));
    for (int32_t p = 0; p < scene->part_count; p++) {
        scene->parts[p].anchored = false;
    }
    return SINEW_OK;
}

sinew_status sn_contact_limit_by_bodies(sn_island *island) {
    sn_island_contact *own = island->contact;
    bool curved = find_bulges(island);
    sn_contact_motion motion = {
        .x = own->x,
        .target = own->hat,
        .bulge = curved ? own->bulge : NULL,
        .bend = curved ? own->bend : NULL,
        .drift_bound = own->drift_bound,
        .bound = sn_contact_bound_by_obstacles,
        .bound_user = island,
    };
    sn_contact_shares shares = {own->shift, own->vertex_share, own->part_share};
    sn_contact_limit_report report;
    limit_pairs(island, &motion, &shares, &report);

    // Vertices that leave their boxes may meet others than those that were found.
    if (report.leaving > 0) {
        SN_TRY(search_again(island));
        limit_pairs(island, &motion, &shares, &report);
    }

    if (own->aim.used) {
        SN_TRY(sn_contact_note_bars(island, &motion));
    }
    shift_members(island);
    sn_contact_accept(own->scene, &shares);
    own->report.held += report.held;
    own->report.smallest_gap = fmin(own->report.smallest_gap, report.smallest_gap);
    memcpy(own->share, own->vertex_share, (size_t)own->vertex_count * sizeof *own->share);
    return SINEW_OK;
}
