// The certified commit: surfaces follow the trial configuration as far as a plane between each
// feature and each obstacle proves that nothing touches.
//
// An obstacle is convex and lies behind a plane n . p <= s, s its support along n. A vertex or
// triangle in front of it, at a gap g, may come as near as a tenth of the thickness, or stay as
// near as it is. Vertices move on segments, so they stay in front of the plane all the way. Where
// the path is curved (rigid frames, dual quaternions), its end is checked as well: both ends in
// front of one plane cannot have an obstacle behind it between them.
//
// Bodies whose vertices are nodes stop node by node; t_B = min (t_i + 0.1 l_i / |dx_i|) over
// stopped vertices i with shortest edges l_i bounds what the others of the body may do, so that
// elements are not torn. Every other body takes one share for all.
#include "dynamics/contact_touch.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_COMMITS = 10, MOST_CUTS = 30 };

// The gap floor in terms of the thickness.
static const double floor_share = 0.1;

// Gaps below this multiple of the coordinates are rounding.
static double rounding_of(sn_vec3 x) {
    return 8 * DBL_EPSILON * fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z)));
}

static void limit(sn_island_contact *own, int32_t vertex, double share) {
    own->share[vertex] = fmin(own->share[vertex], share);
}

// The share of its motion that a point in front of a plane may take: `gap` in front of it, coming
// nearer by `approach`, and stopping at `floor`.
static double share_of(double gap, double approach, double floor) {
    double room = fmax(0, gap - floor);
    return approach <= room ? 1 : room / approach;
}

// Keeps vertices in front of a plane obstacle.
static void limit_by_plane(sn_island_contact *own, const sn_contact_member *member,
                           const sinew_obstacle *obstacle) {
    sn_obstacle_point at = sn_obstacle_nearest(&obstacle->shape, obstacle->trial, sn_v3(0, 0, 0));
    sn_vec3 n = at.normal;
    double support = sn_dot(n, obstacle->trial.t);
    double floor = floor_share * member->thickness;

    for (int32_t v = member->first_vertex; v < member->first_vertex + member->vertex_count; v++) {
        if (own->held[v]) {
            continue;
        }
        sn_vec3 x = sn_contact_at(own->x, v);
        double gap = sn_dot(n, x) - support;
        double end = sn_dot(n, sn_contact_at(own->hat, v)) - support;
        if (end >= floor || end >= gap) {
            continue;
        }

        // What is behind the plane already is on its way out.
        if (gap > rounding_of(x)) {
            limit(own, v, share_of(gap, gap - end, fmin(gap, floor)));
        }
    }
}

// A direction between a triangle and an obstacle, and what it allows.
typedef struct separation {
    double gap; // not above 0: the direction separates nothing
    double share[3], least;
} separation;

static separation try_direction(const sinew_obstacle *obstacle, const sn_vec3 x[3],
                                const sn_vec3 hat[3], sn_vec3 n, double floor) {
    double support = sn_obstacle_support(&obstacle->shape, obstacle->trial, n);
    double rounding = 0;
    separation found = {.gap = INFINITY, .least = 1};
    for (int k = 0; k < 3; k++) {
        found.gap = fmin(found.gap, sn_dot(n, x[k]) - support);
        rounding = fmax(rounding, rounding_of(x[k]));
    }
    if (!(found.gap > rounding)) {
        found.gap = 0;
        return found;
    }

    floor = fmin(found.gap, floor);
    for (int k = 0; k < 3; k++) {
        double gap = sn_dot(n, x[k]) - support;
        double approach = sn_dot(n, sn_sub(x[k], hat[k]));
        found.share[k] = share_of(gap, approach, floor);
        found.least = fmin(found.least, found.share[k]);
    }
    return found;
}

// Keeps one triangle clear of an obstacle: by the direction between them at x, or, if that stops a
// corner, by the one between them at the end if it allows more.
static void limit_triangle(sn_island_contact *own, const sinew_obstacle *obstacle,
                           const int32_t vertex[3], double floor) {
    sn_vec3 x[3], hat[3];
    for (int k = 0; k < 3; k++) {
        x[k] = sn_contact_at(own->x, vertex[k]);
        hat[k] = sn_contact_at(own->hat, vertex[k]);
    }

    // A plane with the normal at the start.
    sn_obstacle_meeting near = sn_obstacle_meet_triangle(&obstacle->shape, obstacle->trial, x);
    separation best = try_direction(obstacle, x, hat, near.at.normal, floor);
    if (best.gap > 0 && best.least == 1) {
        return;
    }

    // A plane with the normal at the end may allow more.
    sn_obstacle_meeting later = sn_obstacle_meet_triangle(&obstacle->shape, obstacle->trial, hat);
    separation other = try_direction(obstacle, x, hat, later.at.normal, floor);
    if (other.gap > 0 && (best.gap == 0 || other.least > best.least)) {
        best = other;
    }

    // Without a separating plane nothing moves.
    if (best.gap == 0) {
        own->report.held++;
        return;
    }

    for (int k = 0; k < 3; k++) {
        limit(own, vertex[k], best.share[k]);
    }
}

static sn_box box_of_triangle(const sn_island_contact *own, const int32_t vertex[3]) {
    sn_box box = sn_box_empty();
    for (int k = 0; k < 3; k++) {
        box = sn_box_with_point(box, sn_contact_at(own->x, vertex[k]));
        box = sn_box_with_point(box, sn_contact_at(own->hat, vertex[k]));
    }
    return box;
}

static void limit_by_solid(sn_island_contact *own, const sn_contact_member *member,
                           const sinew_obstacle *obstacle) {
    const sinew_mesh *surface = member->member->body->surface;
    double floor = floor_share * member->thickness;
    sn_box box = sn_box_grown(sn_obstacle_box(&obstacle->shape, obstacle->trial), floor);
    for (int32_t t = 0; t < surface->element_count; t++) {
        int32_t vertex[3];
        for (int k = 0; k < 3; k++) {
            vertex[k] = member->first_vertex + sn_at3(surface->indices, t)[k];
        }
        bool held = own->held[vertex[0]] && own->held[vertex[1]] && own->held[vertex[2]];
        if (!held && sn_box_overlaps(box_of_triangle(own, vertex), box)) {
            limit_triangle(own, obstacle, vertex, floor);
        }
    }
}

// The shares of all vertices of a member against all obstacles.
static void limit_member(sn_island_contact *own, const sn_contact_member *member) {
    const sn_contact *contact = own->contact;
    size_t first = 3 * (size_t)member->first_vertex;
    sn_box box = sn_box_union(sn_box_of_points(own->x + first, member->vertex_count),
                              sn_box_of_points(own->hat + first, member->vertex_count));
    for (int32_t o = 0; o < contact->obstacle_count; o++) {
        const sinew_obstacle *obstacle = contact->obstacles[o];
        if (obstacle->surface) {
            continue; // a part of the scene
        }
        sn_box reach = sn_obstacle_box(&obstacle->shape, obstacle->trial);
        if (!sn_box_overlaps(box, sn_box_grown(reach, member->thickness))) {
            continue;
        }
        if (obstacle->shape.kind == SN_OBSTACLE_PLANE) {
            limit_by_plane(own, member, obstacle);
        } else {
            limit_by_solid(own, member, obstacle);
        }
    }
}

static double least_share(const sn_island_contact *own, const sn_contact_member *member) {
    double least = 1;
    for (int32_t v = member->first_vertex; v < member->first_vertex + member->vertex_count; v++) {
        least = fmin(least, own->share[v]);
    }
    return least;
}

void sn_contact_bound_drifts(sn_island *island, const sn_vec3 *drift, double *bound) {
    sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        bound[i] = 1;
        if (!(sn_length(drift[i]) > 0)) {
            continue;
        }

        // The translation takes the place of the trial surface.
        int32_t end = member->first_vertex + member->vertex_count;
        for (int32_t v = member->first_vertex; v < end; v++) {
            own->share[v] = 1;
            sn_store3(sn_at3(own->guess, v), sn_add(sn_contact_at(own->x, v), drift[i]));
        }
        double *hat = own->hat;
        own->hat = own->guess;
        limit_member(own, member);
        own->hat = hat;
        bound[i] = least_share(own, member);
    }
}

// The bound on the shares of a body whose vertices stop one by one.
static double find_bound(const sn_island_contact *own, const sn_contact_member *member) {
    double bound = 1;
    for (int32_t i = 0; i < member->vertex_count; i++) {
        int32_t v = member->first_vertex + i;
        if (own->share[v] == 1) {
            continue;
        }
        double length = sn_distance(sn_contact_at(own->x, v), sn_contact_at(own->hat, v));
        bound = fmin(bound, own->share[v] + 0.1 * member->shortest[i] / length);
    }
    return bound;
}

static void move_nodes(sn_island_contact *own, const sn_contact_member *member) {
    const sinew_body *body = member->member->body;
    double bound = find_bound(own, member);

    // Inner nodes by the bound, then those of the surface by their own share.
    double *work = body->scratch;
    for (int32_t i = 0; i < body->rows; i++) {
        work[i] = bound;
    }
    for (int32_t i = 0; i < member->vertex_count; i++) {
        int32_t node = body->surface_nodes[i];
        work[node] = fmin(work[node], own->share[member->first_vertex + i]);
    }

    // What a configuration has beyond its nodes (rotations of rigid cores) is not part of the
    // surface.
    for (int32_t i = 0; i < body->config_count; i++) {
        double t = i < sn_body_size(body) ? work[i / 3] : 1;
        double hat = member->hat_q[i];
        member->commit_q[i] = t == 1 ? hat : member->commit_q[i] + t * (hat - member->commit_q[i]);
    }
}

// Whether the surface at `x` is clear where the straight path would be: no vertex nearer to an
// obstacle than half the floor, unless it was before.
static bool is_clear(const sn_island_contact *own, const sn_contact_member *member,
                     const double *before, const double *after) {
    const sn_contact *contact = own->contact;
    double floor = 0.5 * floor_share * member->thickness;
    for (int32_t o = 0; o < contact->obstacle_count; o++) {
        const sinew_obstacle *obstacle = contact->obstacles[o];
        for (int32_t v = 0; v < member->vertex_count && !obstacle->surface; v++) {
            double old =
                sn_obstacle_nearest(&obstacle->shape, obstacle->trial, sn_load3(sn_at3(before, v)))
                    .distance;
            double now =
                sn_obstacle_nearest(&obstacle->shape, obstacle->trial, sn_load3(sn_at3(after, v)))
                    .distance;
            if (now < fmin(floor, 0.5 * old)) {
                return false;
            }
        }
    }
    return true;
}

// Moves a body as a whole by a share of its motion. Curved paths are cut until their end is clear;
// that of the whole motion is known to be (sn_contact_bound_by_obstacles).
static void move_whole(sn_island *island, const sn_contact_member *member, double share) {
    sn_island_contact *own = island->contact;
    const sinew_body *body = member->member->body;
    int32_t first = 3 * member->member->first_row;
    double *xi = island->remote_x + first;
    double *q = member->member->trial_q;
    double *before = sn_at3(own->x, member->first_vertex);
    double *after = sn_at3(own->guess, member->first_vertex);

    // Nothing is in the way.
    if (share == 1) {
        memcpy(member->commit_q, member->hat_q, (size_t)body->config_count * sizeof(double));
        body->ops->surface.compute(body, member->commit_q, before);
        return;
    }

    // Otherwise a part of the motion, halved until it is clear.
    sn_body_difference(body, xi, member->hat_q, member->commit_q);
    for (int cut = 0; cut < MOST_CUTS && share > 0; cut++, share *= 0.5) {
        for (int32_t i = 0; i < sn_body_size(body); i++) {
            island->remote_y[first + i] = share * xi[i];
        }
        sn_body_retract(body, q, member->commit_q, island->remote_y + first);

        body->ops->surface.compute(body, q, after);
        if (!body->ops->motion.retract || is_clear(own, member, before, after)) {
            memcpy(member->commit_q, q, (size_t)body->config_count * sizeof(double));
            memcpy(before, after, 3 * (size_t)member->vertex_count * sizeof(double));
            return;
        }
    }
}

// Moves all bodies by their shares. Returns how far they are behind in all, each by its vertex that
// is left behind most; *lag receives the largest. [m]
static double move_members(sn_island *island, double *lag) {
    sn_island_contact *own = island->contact;

    // Hard ties must not open, so what they couple moves by the same share.
    double common = 1; // of bodies that hard ties couple
    for (int32_t i = 0; i < island->body_count && island->tie_count > 0; i++) {
        common = fmin(common, least_share(own, &own->members[i]));
    }

    double total = 0;
    *lag = 0;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        const sinew_body *body = member->member->body;
        if (!member->on) {
            memcpy(member->commit_q, member->hat_q, (size_t)body->config_count * sizeof(double));
            continue;
        }

        // Node by node where the surface is the mesh's own, else as a whole.
        if (member->by_node) {
            move_nodes(own, member);
            body->ops->surface.compute(body, member->commit_q,
                                       sn_at3(own->x, member->first_vertex));
        } else {
            move_whole(island, member, fmin(common, least_share(own, member)));
        }

        // The farthest that a vertex stays behind.
        double lag2 = 0;
        for (int32_t v = 3 * member->first_vertex;
             v < 3 * (member->first_vertex + member->vertex_count); v += 3) {
            sn_vec3 left = sn_sub(sn_load3(own->hat + v), sn_load3(own->x + v));
            lag2 = fmax(lag2, sn_dot(left, left));
        }
        total += sqrt(lag2);
        *lag = fmax(*lag, sqrt(lag2));
    }
    return total;
}

// Lets what the commit moves towards be the configuration under test, or the one aimed at.
static void exchange_aim(sn_island *island) {
    sn_island_contact *own = island->contact;
    double *surface = own->hat;
    own->aim.used = !own->aim.used;
    own->hat = own->aim.surface;
    own->aim.surface = surface;
    for (int32_t i = 0; i < island->body_count; i++) {
        double *q = own->members[i].hat_q;
        own->members[i].hat_q = own->members[i].aim_q;
        own->members[i].aim_q = q;
    }
}

void sn_contact_bound_by_obstacles(void *user, const double *from, double *share) {
    sn_island *island = user;
    sn_island_contact *own = island->contact;
    double *x = own->x;
    double *own_share = own->share;
    memcpy(own->guess, from, 3 * (size_t)own->vertex_count * sizeof *from);
    own->x = own->guess;
    own->share = share;

    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        if (!member->on) {
            continue;
        }
        limit_member(own, member);

        // The end of a curved path that goes all the way is checked here, before others rely on it.
        size_t first = 3 * (size_t)member->first_vertex;
        bool curved = member->member->body->ops->motion.retract;
        if (curved && least_share(own, member) == 1 &&
            !is_clear(own, member, own->x + first, own->hat + first)) {
            limit(own, member->first_vertex, 0.5);
        }
    }
    own->x = x;
    own->share = own_share;
}

// One round: moves the members towards hat as far as planes at x let them. `behind` receives how
// far they are behind in all.
static sinew_status follow(sn_island *island, double *lag, double *behind) {
    sn_island_contact *own = island->contact;
    own->report.held = 0;
    if (own->scene) {
        SN_TRY(sn_contact_limit_by_bodies(island));
    } else {
        for (int32_t v = 0; v < own->vertex_count; v++) {
            own->share[v] = 1;
        }
        sn_contact_bound_by_obstacles(island, own->x, own->share);
    }
    *behind = move_members(island, lag);
    return SINEW_OK;
}

// The largest distance of a vertex from where it is to be. [m]
static double find_lag(const sn_island *island) {
    const sn_island_contact *own = island->contact;
    double lag2 = 0;
    for (int32_t v = 0; v < own->vertex_count; v++) {
        sn_vec3 left = sn_sub(sn_contact_at(own->hat, v), sn_contact_at(own->x, v));
        lag2 = fmax(lag2, sn_dot(left, left));
    }
    return sqrt(lag2);
}

sinew_status sn_contact_commit(sn_island *island, bool bend, double *out) {
    sn_island_contact *own = island->contact;
    double lag = INFINITY;
    double behind = INFINITY;
    bend = bend && island->tie_count == 0;
    own->aim.bar_count = 0;
    for (int pass = 0; pass < MOST_COMMITS; pass++) {
        // The straight way first, then along what is in it.
        double before = behind;
        if (pass == 0 || !bend) {
            SN_TRY(follow(island, &lag, &behind));
        } else {
            SN_TRY(sn_contact_aim(island));
            exchange_aim(island);
            sinew_status status = follow(island, &lag, &behind);
            exchange_aim(island);
            SN_TRY(status);
        }

        // Try again with planes at the new positions while that helps.
        if (behind == 0 || behind > 0.95 * before) {
            break;
        }
    }
    lag = bend ? find_lag(island) : lag;

    // What is left is reported.
    own->report.truncated = 0;
    for (int32_t v = 0; v < own->vertex_count; v++) {
        own->report.truncated += own->share[v] < 1;
    }
    own->report.lag = lag;
    *out = lag;
    return SINEW_OK;
}

// How far an obstacle may go on, as one member lets it.
static double obstacle_share(const sn_island_contact *own, const sn_contact_member *member,
                             const sinew_obstacle *obstacle) {
    const sn_obstacle_shape *shape = &obstacle->shape;
    double floor = floor_share * member->thickness;
    double angle = sn_pose_angle(obstacle->trial, obstacle->target);
    double share = 1;
    if (shape->kind == SN_OBSTACLE_PLANE) {
        // The distance of a vertex from a plane that rotates is curved by the square of the angle.
        for (int32_t v = member->first_vertex; v < member->first_vertex + member->vertex_count;
             v++) {
            if (own->held[v]) {
                continue;
            }
            sn_vec3 x = sn_contact_at(own->x, v);
            double gap = sn_obstacle_nearest(shape, obstacle->trial, x).distance;
            double end = sn_obstacle_nearest(shape, obstacle->target, x).distance;
            double bulge = 0.125 * angle * angle * sn_distance(x, obstacle->trial.t);
            if (gap > 0) {
                share = fmin(share, share_of(gap, gap - end + bulge, fmin(gap, floor)));
            }
        }
        return share;
    }

    sn_vec3 motion = sn_sub(obstacle->target.t, obstacle->trial.t);
    double turn = shape->kind == SN_OBSTACLE_SPHERE ? 0 : angle * sn_obstacle_radius(shape);
    sn_box reach = sn_box_grown(sn_box_union(sn_obstacle_box(shape, obstacle->trial),
                                             sn_obstacle_box(shape, obstacle->target)),
                                floor + turn);
    const sinew_mesh *surface = member->member->body->surface;
    for (int32_t t = 0; t < surface->element_count; t++) {
        sn_vec3 x[3];
        sn_box box = sn_box_empty();
        for (int k = 0; k < 3; k++) {
            x[k] = sn_contact_at(own->x, member->first_vertex + sn_at3(surface->indices, t)[k]);
            box = sn_box_with_point(box, x[k]);
        }
        if (!sn_box_overlaps(box, reach)) {
            continue;
        }

        sn_vec3 n = sn_obstacle_meet_triangle(shape, obstacle->trial, x).at.normal;
        separation found = try_direction(obstacle, x, x, n, floor);
        if (found.gap > 0) {
            double approach = sn_dot(n, motion) + turn;
            share = fmin(share, share_of(found.gap, approach, fmin(found.gap, floor)));
        }
    }
    return share;
}

sinew_status sn_contact_move_obstacles(sinew_world *world) {
    sn_contact *contact = world->contact;
    for (int32_t o = 0; o < contact->obstacle_count; o++) {
        sinew_obstacle *obstacle = contact->obstacles[o];
        if (obstacle->surface) {
            SN_TRY(sn_contact_move_mesh(world, obstacle));
            continue;
        }
        for (int pass = 0; pass < MOST_COMMITS; pass++) {
            if (memcmp(&obstacle->trial, &obstacle->target, sizeof obstacle->trial) == 0) {
                break;
            }

            double share = 1;
            for (const sn_island *island = world->islands; island; island = island->next) {
                const sn_island_contact *own = island->contact;
                for (int32_t i = 0; own && i < island->body_count; i++) {
                    if (own->members[i].on) {
                        share = fmin(share, obstacle_share(own, &own->members[i], obstacle));
                    }
                }
            }
            obstacle->trial = sn_pose_between(obstacle->trial, obstacle->target, share);
        }
    }
    return SINEW_OK;
}
