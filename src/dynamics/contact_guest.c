// Guests: surfaces that an island meets but does not solve for.
//
// Mesh obstacles are guests of every island. Bodies under position dynamics are guests of the
// island of the other bodies that they may touch, and these are guests of theirs: the island is
// solved first, against surfaces that stand still where the step began, and its bodies stop in
// front of them. Its forces on a guest count with the motion that the guest would have without
// them and with the mobility of its nodes, and act on both sides in the same step, so that momentum
// is kept. Then the guest follows, and its surface stops in front of the new one of the island.
//
// A guest has a part in the island's scene, with all vertices held, and an entry in own->members
// after those of the bodies.
#include "dynamics/contact_touch.h"

#include "contact/commit.h"

#include <math.h>
#include <string.h>

// --- which guests an island has

static bool takes_part(const sinew_body *body) {
    return !body->contact || body->contact->on;
}

// Whether bodies of both sorts take part; most worlds have one.
static bool is_mixed(const sinew_world *world) {
    return world->contact->mixed && world->contact->def.bodies;
}

// Whether a body is in the group of one of the island's.
static bool is_near(const sn_island *island, const sinew_body *body) {
    const sn_contact *contact = island->world->contact;
    if (contact->group_count <= body->index) {
        return false;
    }
    for (int32_t i = 0; i < island->body_count; i++) {
        if (contact->groups[island->bodies[i].body->index] == contact->groups[body->index]) {
            return true;
        }
    }
    return false;
}

// Whether a body is a guest: of the other sort, and near.
static bool is_guest(const sn_island *island, const sinew_body *body) {
    return !body->ops->stepping == !!island->position && takes_part(body) && is_near(island, body);
}

int32_t sn_contact_count_guests(const sn_island *island) {
    const sinew_world *world = island->world;
    int32_t count = 0;
    for (int32_t i = 0; i < world->contact->obstacle_count; i++) {
        count += world->contact->obstacles[i]->surface != NULL;
    }
    for (size_t i = 0; is_mixed(world) && i < world->body_count; i++) {
        count += is_guest(island, world->bodies[i]);
    }
    return count;
}

sinew_status sn_contact_push_guests(sn_island *island) {
    const sinew_world *world = island->world;
    sn_island_contact *own = island->contact;

    // Mesh obstacles keep no gap of their own.
    for (int32_t i = 0; i < world->contact->obstacle_count; i++) {
        sinew_obstacle *obstacle = world->contact->obstacles[i];
        if (!obstacle->surface) {
            continue;
        }
        own->members[island->body_count + own->guest_count++] = (sn_contact_member){
            .obstacle = obstacle,
            .on = true,
            .first_vertex = own->vertex_count,
            .vertex_count = obstacle->surface->point_count,
            .grip = obstacle->grip,
        };
        own->vertex_count += obstacle->surface->point_count;
    }

    for (size_t i = 0; is_mixed(world) && i < world->body_count; i++) {
        sinew_body *body = world->bodies[i];
        if (!is_guest(island, body)) {
            continue;
        }
        const sinew_body_contact_def *chosen = body->contact;
        own->members[island->body_count + own->guest_count++] = (sn_contact_member){
            .guest = body,
            .on = true,
            .first_vertex = own->vertex_count,
            .vertex_count = body->surface->point_count,
            .thickness = sn_contact_thickness_of(body),
            .grip = {chosen ? chosen->friction : -1, chosen ? chosen->material : 0},
            .hat_q = SN_PUSH(&island->arena, double, body->config_count),
        };
        own->vertex_count += body->surface->point_count;

        // Bodies stop as a whole in front of guests that still have to give way: stopped node by
        // node they would be deformed.
        for (int32_t k = 0; k < island->body_count; k++) {
            own->members[k].by_node = own->members[k].by_node && island->position;
        }
    }
    return sn_arena_status(&island->arena);
}

// --- where they are

// The vertices of a mesh obstacle at a pose.
static void place_mesh(const sinew_obstacle *obstacle, sn_rigid pose, double *positions) {
    for (int32_t v = 0; v < obstacle->surface->point_count; v++) {
        sn_vec3 own = sn_load3(sn_at3(obstacle->surface->points, v));
        sn_store3(sn_at3(positions, v), sn_rigid_apply(pose, own));
    }
}

// The configuration of a guest: where the step in progress has left it.
static const double *find_configuration(const sn_island *island, const sinew_body *guest) {
    if (!island->position) {
        return guest->q;
    }
    for (const sn_island *other = island->world->islands; other; other = other->next) {
        for (int32_t i = 0; other->contact && i < other->body_count; i++) {
            if (other->bodies[i].body == guest) {
                return other->contact->members[i].commit_q;
            }
        }
    }
    return guest->q;
}

void sn_contact_place_guests(sn_island *island) {
    sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < own->guest_count; i++) {
        const sn_contact_member *guest = &own->members[island->body_count + i];
        size_t bytes = 3 * (size_t)guest->vertex_count * sizeof(double);
        double *x = sn_at3(own->x, guest->first_vertex);
        if (guest->obstacle) {
            place_mesh(guest->obstacle, guest->obstacle->trial, x);
        } else {
            guest->guest->ops->surface.compute(guest->guest,
                                               find_configuration(island, guest->guest), x);
        }

        memcpy(sn_at3(own->start, guest->first_vertex), x, bytes);
        memcpy(sn_at3(own->guess, guest->first_vertex), x, bytes);
        memcpy(sn_at3(own->hat, guest->first_vertex), x, bytes);
        memset(own->held + guest->first_vertex, 1, (size_t)guest->vertex_count);
    }
}

// With the velocity that it has: what its weight would add, its support takes away in most steps.
static void sweep_body(const sinew_world *world, const sn_contact_member *guest, double *end) {
    double h = world->def.step;
    sn_contact_predict(guest->guest, h, guest->hat_q, end);
    for (int32_t i = 0; i < 3 * guest->vertex_count; i++) {
        end[i] -= h * h * world->def.gravity[i % 3];
    }
}

void sn_contact_sweep_guests(sn_island *island, double *y) {
    sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < own->guest_count; i++) {
        const sn_contact_member *guest = &own->members[island->body_count + i];
        double *end = sn_at3(y, guest->first_vertex);
        if (guest->obstacle) {
            place_mesh(guest->obstacle, guest->obstacle->target, end);
        } else if (!island->position) {
            sweep_body(island->world, guest, end);
        }
    }
}

// --- touches

// How far a unit force along the normal moves the guest's side. [m/N]
static double softness_of(const sn_island *island, const sn_contact_member *guest,
                          const sn_touch *touch) {
    const sinew_body *body = guest->guest;
    const sn_island_contact *own = island->contact;
    sn_stepping_nodes nodes = body->ops->stepping->get_nodes(body);
    double sum = 0;
    for (int k = touch->own_count; k < touch->count; k++) {
        int32_t count = body->ops->surface.get_jacobian(
            body, touch->vertex[k] - guest->first_vertex, own->row_room, own->J_room);
        for (int32_t t = 0; t < count; t++) {
            double weight = touch->b[k] * own->J_room[t].m[0][0];
            sum += weight * weight * nodes.inverse_masses[own->row_room[t]] / nodes.unit;
        }
    }
    double h = island->world->def.step;
    return h * h * sum;
}

// The motion of the guest's point in the step. [m]
static sn_vec3 find_motion(const sn_island *island, const sn_contact_member *guest,
                           const sn_touch *touch, const double *ends) {
    const sn_island_contact *own = island->contact;
    sn_vec3 motion = {0, 0, 0};
    for (int k = touch->own_count; k < touch->count; k++) {
        int32_t v = touch->vertex[k];
        sn_vec3 end = sn_load3(sn_at3(ends, v - guest->first_vertex));
        motion = sn_madd(motion, -touch->b[k], sn_sub(end, sn_contact_at(own->x, v)));
    }
    return motion;
}

// Whether supports hold all vertices of the guest in a touch. Its own island has no forces there.
static bool is_held(const sn_island *island, const sn_contact_member *guest,
                    const sn_touch *touch) {
    const sn_island_contact *own = island->contact;
    const sinew_body *body = guest->guest;
    for (int k = 0; k < touch->count; k++) {
        int32_t vertex = touch->vertex[k] - guest->first_vertex;
        if (sn_contact_member_of(island, touch->vertex[k]) != guest) {
            continue;
        }

        int32_t count = body->ops->surface.get_jacobian(body, vertex, own->row_room, own->J_room);
        for (int32_t t = 0; t < count; t++) {
            const uint8_t *mask = body->mask + 3 * (size_t)own->row_room[t];
            if (!mask[0] || !mask[1] || !mask[2]) {
                return false;
            }
        }
    }
    return true;
}

bool sn_contact_finish_guest_touch(sn_island *island, int32_t part, int first_side,
                                   sn_touch *touch) {
    sn_island_contact *own = island->contact;
    sn_contact_member *guest = &own->members[part];
    if (guest->guest && island->position && !is_held(island, guest, touch)) {
        return false; // its forces come from its own island
    }

    // The body's side comes first.
    touch->own_count = first_side;
    bool guest_first = sn_contact_member_of(island, touch->vertex[0]) == guest;
    if (guest_first) {
        sn_touch old = *touch;
        touch->own_count = touch->count - first_side;
        touch->normal = sn_scale(-1, old.normal);
        touch->point = sn_v3(0, 0, 0);
        for (int k = 0; k < touch->count; k++) {
            int from = (k + first_side) % touch->count;
            touch->vertex[k] = old.vertex[from];
            touch->b[k] = -old.b[from];
            if (k < touch->own_count) {
                touch->point =
                    sn_madd(touch->point, touch->b[k], sn_contact_at(own->x, touch->vertex[k]));
            }
        }
    }

    // What the guest does in the step.
    touch->carried = find_motion(island, guest, touch, sn_at3(own->guest_end, guest->first_vertex));
    touch->offset -= sn_dot(touch->normal, touch->carried);
    touch->obstacle = guest->obstacle;
    touch->guest = guest->guest;
    if (guest->guest) {
        touch->softness = island->position ? 0 : softness_of(island, guest, touch);
        return true;
    }

    // Part of the motion of an obstacle has been made when the step began.
    const sinew_obstacle *obstacle = guest->obstacle;
    sn_rigid back = sn_rigid_mul(obstacle->pose, sn_rigid_inverse(obstacle->trial));
    sn_vec3 made = sn_sub(touch->point, sn_rigid_apply(back, touch->point));
    touch->carried = sn_add(touch->carried, made);
    return true;
}

// --- mesh obstacles that move

// How far a mesh obstacle may go on towards its target, as the surfaces x of an island let it.
static sinew_status limit_mesh(sn_island *island, int32_t part, sn_rigid trial, double *share) {
    sn_island_contact *own = island->contact;
    const sn_contact_member *guest = &own->members[part];
    const sinew_obstacle *obstacle = guest->obstacle;
    memcpy(own->guess, own->x, 3 * (size_t)own->vertex_count * sizeof(double));
    memset(own->bulge, 0, (size_t)own->vertex_count * sizeof *own->bulge);
    place_mesh(obstacle, trial, sn_at3(own->x, guest->first_vertex));
    place_mesh(obstacle, obstacle->target, sn_at3(own->guess, guest->first_vertex));

    // Vertices move on arcs: r (1 - cos(angle / 2)) from their chords.
    double angle = sn_pose_angle(trial, obstacle->target);
    for (int32_t v = 0; v < guest->vertex_count; v++) {
        double radius = sn_length(sn_load3(sn_at3(obstacle->surface->points, v)));
        own->bulge[guest->first_vertex + v] = 1.5 * radius * (1 - cos(0.5 * angle));
    }

    // Held bodies stop it too.
    memset(own->held, 0, (size_t)own->members[island->body_count].first_vertex);
    SN_TRY(sn_contact_search(island, own->guess));
    sn_contact_measure(own->scene, own->x);
    for (int32_t i = 0; i < own->scene->part_count; i++) {
        own->drift_bound[i] = 0;
    }
    sn_contact_motion motion = {
        .x = own->x, .target = own->guess, .bulge = own->bulge, .drift_bound = own->drift_bound};
    sn_contact_shares shares = {own->shift, own->vertex_share, own->part_share};
    sn_contact_limit_report report;
    sn_contact_limit(own->scene, &motion, &shares, &report);
    *share = fmin(*share, own->part_share[part]);
    return SINEW_OK;
}

sinew_status sn_contact_move_mesh(sinew_world *world, sinew_obstacle *obstacle) {
    enum { MOST_PARTS = 5 };
    for (int pass = 0; pass < MOST_PARTS; pass++) {
        if (memcmp(&obstacle->trial, &obstacle->target, sizeof obstacle->trial) == 0) {
            return SINEW_OK;
        }

        double share = 1;
        for (sn_island *island = world->islands; island; island = island->next) {
            sn_island_contact *own = island->contact;
            for (int32_t i = 0; own && i < own->guest_count; i++) {
                int32_t part = island->body_count + i;
                if (own->members[part].obstacle == obstacle) {
                    SN_TRY(limit_mesh(island, part, obstacle->trial, &share));
                }
            }
        }
        if (share == 0) {
            return SINEW_OK;
        }
        obstacle->trial = sn_pose_between(obstacle->trial, obstacle->target, share);
    }
    return SINEW_OK;
}

// --- definitions

sinew_status sn_contact_read_mesh(sinew_context *context, const sinew_mesh *mesh, sn_arena *arena,
                                  sinew_mesh **copy, const sn_contact_shape **out) {
    if (!mesh || mesh->element != SINEW_ELEMENT_TRIANGLE) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a mesh obstacle needs a mesh: a closed surface of triangles");
    }

    // What the surface is like.
    sinew_surface_report report;
    SN_TRY(sinew_mesh_examine_surface(context, mesh, &report));
    if (report.open_edges > 0 || report.crowded_edges > 0) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "the surface of a mesh obstacle must be closed: %d edges have a triangle on "
                       "one side only, %d have more than two",
                       report.open_edges, report.crowded_edges);
    }
    if (report.flipped_triangles > 0 || !(report.volume > 0)) {
        return sn_fail(
            context, SINEW_INVALID_DATA,
            "%d of %d triangles of a mesh obstacle face inwards, and it encloses %g m^3; "
            "all must face outwards",
            report.flipped_triangles, mesh->element_count, report.volume);
    }

    sn_contact_shape *shape = SN_PUSH(arena, sn_contact_shape, 1);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(sn_contact_shape_build(arena, mesh, shape));
    if (shape->degenerate_count > 0) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "%d of %d triangles of a mesh obstacle have no area; remove them",
                       shape->degenerate_count, mesh->element_count);
    }

    *out = shape;
    return sinew_mesh_copy(context, mesh, copy);
}
