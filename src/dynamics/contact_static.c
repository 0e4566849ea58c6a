// Static solves with contact: sweeps of Newton's method with the touches of the last accepted
// surface, each followed by a certified commit, until forces balance and multipliers carry what
// the penalties did (augmented Lagrangian: Hestenes 1969, Powell 1969).
//
// A sweep begins at the accepted configuration q, where nothing intersects. It finds the touches,
// solves with their multipliers kept, commits, and accepts what was committed; the multipliers then
// take over the forces. The gap error falls by about the ratio of penalty and stiffness, a factor
// of ten, in each sweep. All bodies that take part form one island, since nobody knows beforehand
// what meets what. Friction goes by the slip since the part of the load began, with the normal
// forces of the sweep before.
//
// What supports leave free is held by contact at best, and then only where it presses. Such bodies
// get the stiffness c M towards the configuration where the sweep began (a proximal point method:
// Rockafellar 1976). It bears nothing in the limit: a sweep counts as balanced only if its force is
// below the tolerance too. c is such that the loads alone would move a body by a tenth of its size
// in a sweep, and falls from sweep to sweep. A sweep whose surfaces cannot follow is not accepted,
// but tried again with ten times c.
#include "dynamics/static.h"

#include "dynamics/contact_state.h"
#include "dynamics/contact_touch.h"
#include "dynamics/mobility.h"
#include "linalg/vector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SOLVES = 25, MOST_FINDS = 8, MOST_FALLS = 100, MOST_TRIES = 12, MESSAGE = 512 };

// How far the normal forces that friction goes by may be from the true ones, in terms of their sum.
static const double friction_tolerance = 5e-3;

// How far gaps may be from what bodies keep, and surfaces from the solution, in thicknesses.
static const double gap_tolerance = 1e-3;

// ... and in one sweep, in sizes of the smallest body. So may bodies that contact alone holds move.
static const double most_lag = 0.1;
static const double most_motion = 0.5;

// Pairs nearer than this many thicknesses get room in the pattern at first.
static const double first_reach = 10;

// Touches are found again after a motion of this many thicknesses.
static const double still_motion = 0.1;

// Where c begins, in terms of what lets the loads move a body by its size; and where it ends.
static const double first_hold = 10;
static const double most_fall = 2.5; // while nothing touches
static const double least_hold = 1e-6;

// Friction is smoothed as in a step of this length, at first and in the end. [s]
static const double first_smoothing = 1;
static const double last_smoothing = 1e-3;

// The smallest step of the load, in terms of the longest.
static const double least_step = 1e-4;

// The stiffness c M is at first at least this part of the elastic one.
static const double least_stiffness = 1e-8;

typedef struct static_solve {
    sinew_world *world;
    const sinew_static_def *def;
    sn_arena arena;

    // The world before the solve.
    double *states;
    char *contact_state;
    size_t contact_state_size;
    sn_touch_memory *memories;
    int32_t memory_count;
    sn_rigid *poses, *to; // of obstacles, then and in the end

    // The load: the share in progress begins at the one that was reached.
    double share, reached;
    double *starts;        // surfaces of all bodies where it began
    int32_t solves, tries; // since then: iterations, and sweeps that were not accepted
    double hold;           // c in terms of find_hold; 0: none where supports hold
    double sharpening;     // what the smoothing of friction is multiplied by after a sweep
    int32_t falls;         // sweeps in a row in which a loose island touched nothing

    // The last sweep.
    bool first;            // of all
    double lag, residual;  // how far surfaces stay behind, and what forces leave
    double travel;         // how far they moved since touches were found
    bool found;            // Newton's method converged, and surfaces could follow
    bool wild;             // bodies moved farther than a sweep should move them
    bool cramped;          // the pattern had no room for what touched
    bool settled;          // it found the equilibrium of this share
    char message[MESSAGE]; // about what nothing holds
} static_solve;

// --- the state before, and the parts of the load

static void copy_states(const static_solve *solve, bool back) {
    double *room = solve->states;
    for (size_t i = 0; i < solve->world->body_count; i++) {
        sinew_body *body = solve->world->bodies[i];
        size_t bytes = body->state_count * sizeof(double);
        memcpy(back ? body->state : room, back ? room : body->state, bytes);
        room += body->state_count;
    }
}

static sinew_status keep_world(static_solve *solve) {
    sinew_world *world = solve->world;
    const sn_contact *contact = world->contact;

    // Room.
    size_t states = 0, vertices = 0;
    for (size_t i = 0; i < world->body_count; i++) {
        states += world->bodies[i]->state_count;
        vertices += (size_t)world->bodies[i]->surface->point_count;
    }

    solve->states = SN_PUSH(&solve->arena, double, states);
    solve->starts = SN_PUSH(&solve->arena, double, 3 * vertices);
    solve->contact_state_size = sn_contact_state_size(world);
    solve->contact_state = SN_PUSH(&solve->arena, char, solve->contact_state_size);
    solve->memories = SN_PUSH(&solve->arena, sn_touch_memory, contact->memory_count);
    solve->poses = SN_PUSH(&solve->arena, sn_rigid, contact->obstacle_count);
    solve->to = SN_PUSH(&solve->arena, sn_rigid, contact->obstacle_count);
    SN_TRY(sn_arena_status(&solve->arena));

    // States of the bodies, memories of touches, poses of obstacles.
    copy_states(solve, false);
    sn_contact_write_state(world, solve->contact_state);
    solve->memory_count = contact->memory_count;
    for (int32_t i = 0; i < contact->memory_count; i++) {
        solve->memories[i] = contact->memories[i];
    }
    for (int32_t o = 0; o < contact->obstacle_count; o++) {
        solve->poses[o] = contact->obstacles[o]->pose;
        solve->to[o] = contact->obstacles[o]->target;
    }
    return SINEW_OK;
}

static sinew_status restore_world(static_solve *solve) {
    sinew_world *world = solve->world;
    SN_TRY(sn_contact_check_state(world, solve->contact_state, solve->contact_state_size));
    copy_states(solve, true);
    sn_contact_restore_state(world, solve->contact_state);
    sn_world_forget_islands(world);
    return SINEW_OK;
}

// Targets of held unknowns and obstacles at this share of the load.
static void set_targets(const static_solve *solve) {
    const sn_contact *contact = solve->world->contact;
    const double *states = solve->states;
    for (size_t i = 0; i < solve->world->body_count; i++) {
        // Bodies: from where they were towards their targets.
        sinew_body *body = solve->world->bodies[i];
        const double *q = states + (body->q - body->state);
        const double *target = states + (body->target - body->state);
        states += body->state_count;
        if (solve->share == 1) {
            memcpy(body->target, target, (size_t)body->config_count * sizeof(double));
            continue;
        }

        double *xi = body->scratch;
        sn_body_difference(body, xi, target, q);
        for (int32_t k = 0; k < sn_body_size(body); k++) {
            xi[k] *= solve->share;
        }
        sn_body_retract(body, body->target, q, xi);
    }

    // Obstacles.
    for (int32_t o = 0; o < contact->obstacle_count; o++) {
        sinew_obstacle *obstacle = contact->obstacles[o];
        obstacle->target = solve->share == 1
                               ? solve->to[o]
                               : sn_pose_between(solve->poses[o], solve->to[o], solve->share);
    }
}

// Slip counts from here on.
static void keep_starts(const static_solve *solve) {
    const sn_contact *contact = solve->world->contact;
    double *at = solve->starts;
    for (int32_t o = 0; o < contact->obstacle_count; o++) {
        contact->obstacles[o]->origin = contact->obstacles[o]->pose;
    }
    for (size_t i = 0; i < solve->world->body_count; i++) {
        const sinew_body *body = solve->world->bodies[i];
        body->ops->surface.compute(body, body->q, at);
        at += 3 * (size_t)body->surface->point_count;
    }
}

static void take_starts(const static_solve *solve, const sn_island *island) {
    const sn_island_contact *own = island->contact;
    const double *at = solve->starts;
    for (size_t i = 0; i < solve->world->body_count; i++) {
        const sinew_body *body = solve->world->bodies[i];
        size_t count = 3 * (size_t)body->surface->point_count;
        for (int32_t k = 0; k < island->body_count; k++) {
            if (island->bodies[k].body == body) {
                memcpy(sn_at3(own->start, own->members[k].first_vertex), at,
                       count * sizeof(double));
            }
        }
        at += count;
    }
}

// --- one island

static double smallest_thickness(const sn_island *island) {
    double thickness = INFINITY;
    for (int32_t i = 0; i < island->body_count; i++) {
        thickness = fmin(thickness, island->contact->members[i].thickness);
    }
    return thickness;
}

// The size of the smallest body. [m]
static double smallest_size(const sn_island *island) {
    double size = INFINITY;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sinew_mesh *surface = island->bodies[i].body->surface;
        size = fmin(size, sn_box_diagonal(sn_box_of_points(surface->points, surface->point_count)));
    }
    return size;
}

// c of the stiffness c M at the beginning. Overwrites the island's matrix. [1/s^2]
static double find_hold(sn_island *island) {
    double load = island->contact->load;
    double mass = 0, stiffness = 0;
    for (int32_t i = 0; i < island->body_count; i++) {
        sinew_measures measures;
        sinew_body_get_measures(island->bodies[i].body, &measures);
        mass += measures.mass;
    }

    // What elasticity has on the diagonal.
    memset(island->xi, 0, (size_t)sn_island_size(island) * sizeof(double));
    sn_island_evaluate(island, island->xi, SN_WANT_PROJECTED_STIFFNESS);
    sn_island_assemble(island, (sn_scheme){.c = 0}, SN_WANT_PROJECTED_STIFFNESS);
    for (int32_t row = 0; row < island->rows; row++) {
        const double *block = island->A + 9 * (size_t)island->pattern->diagonal[row];
        stiffness += (block[0] + block[4] + block[8]) / 3;
    }

    double hold = fmax(load / (mass * smallest_size(island)), least_stiffness * stiffness / mass);
    return hold > 0 ? hold : 1;
}

// Whether nothing but contact can hold the island. If it takes no part in contact, that is an
// error.
static sinew_status check_loose(static_solve *solve, sn_island *island, bool *loose) {
    sinew_context *context = solve->world->context;
    sinew_status status = sn_static_check_held(island);
    *loose = status == SINEW_INVALID_ARGUMENT;
    if (*loose) {
        snprintf(solve->message, sizeof solve->message, "%s", sinew_context_message(context));
        return SINEW_OK;
    }
    return status;
}

static void begin_island(const static_solve *solve, sn_island *island) {
    sn_island_contact *own = island->contact;
    size_t bytes = (size_t)sn_island_size(island) * sizeof(double);
    memset(island->xi, 0, bytes);
    memset(island->inertia, 0, bytes);
    memset(island->xi_inertia, 0, bytes);
    memset(island->velocity_offset, 0, bytes);

    own->report = (sinew_contact_report){.smallest_gap = INFINITY};
    own->touching = false;
    own->cramped = false;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sinew_body *body = island->bodies[i].body;
        memcpy(own->members[i].commit_q, body->q, (size_t)body->config_count * sizeof(double));
    }
    if (!own->predicted) {
        sn_contact_predict_surfaces(island, sn_contact_horizon(island->world));
    }
    take_starts(solve, island);
}

// Solves without contact, as far as the way is clear. If it is not, what was found is the guess.
static sinew_status try_clear(sn_island *island, const sn_newton_def *newton, bool *clear,
                              sinew_step_report *report) {
    SN_TRY(sn_newton_solve(island, newton, report));
    *clear = report->outcome == SINEW_OUTCOME_NOT_FINITE || !sn_integrate_is_finite(island);
    if (!*clear) {
        SN_TRY(sn_contact_follow(island, clear));
    }
    if (!*clear) {
        memset(island->xi, 0, (size_t)sn_island_size(island) * sizeof(double));
        SN_TRY(sn_contact_find_touches(island, island->contact->guess, true));
        SN_TRY(sn_contact_take_touches(island));
    }
    return SINEW_OK;
}

// Lets the surfaces go half of the way only. A point of contact moves with the slope of the surface
// under it, and the slope with the point: each would overshoot the other.
static void take_half(sn_island *island) {
    sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_contact_member *member = &own->members[i];
        const sinew_body *body = member->member->body;
        double *xi = body->scratch;
        sn_body_difference(body, xi, member->hat_q, member->commit_q);
        for (int32_t k = 0; k < sn_body_size(body); k++) {
            xi[k] *= 0.5;
        }

        sn_body_retract(body, member->hat_q, member->commit_q, xi);
        if (member->on) {
            body->ops->surface.compute(body, member->hat_q, sn_at3(own->hat, member->first_vertex));
        }
    }
}

// Newton's method with contact from xi = 0, a commit after each iteration. The first one takes as
// pressing what the guess says. Touches are found again only after some motion, and not for
// ever: where edges cross edges and vertices lie above edges, which of the pairs count changes with
// every digit. A sweep that moved on after that does not settle.
static sinew_status solve_touching(static_solve *solve, sn_island *island,
                                   const sn_newton_def *newton, sinew_step_report *report) {
    sn_island_contact *own = island->contact;
    sn_newton_def def = *newton;
    double enough = gap_tolerance * smallest_thickness(island);
    double before = INFINITY;
    double still = still_motion * smallest_thickness(island);
    solve->travel = 0;
    def.iterations = MOST_SOLVES + 1;
    sn_newton_begin(island);

    for (int32_t i = 0; i < MOST_SOLVES; i++) {
        own->linear = i == 0;
        if (i == 1 || (solve->travel > still && i < MOST_FINDS)) {
            SN_TRY(sn_contact_find_touches(island, own->hat, false));
            SN_TRY(sn_contact_take_touches(island));
            solve->travel = 0;
        }

        bool done;
        double moved;
        SN_TRY(sn_newton_iterate(island, &def, i, &moved, &done, report));
        solve->travel += moved;
        own->report.solves++;
        if (report->outcome == SINEW_OUTCOME_NOT_FINITE) {
            return SINEW_OK;
        }

        sn_contact_compute_surface(island, island->xi, own->hat);
        if (i > 1 && moved > still) {
            take_half(island);
        }
        SN_TRY(sn_contact_commit(island, false, &solve->lag));
        sn_contact_move_obstacles(island->world);

        // Another sweep does what this one cannot.
        bool stuck = solve->lag > enough && solve->lag > 0.95 * before;
        if ((done && (solve->lag <= enough || stuck)) || own->cramped) {
            return SINEW_OK;
        }
        before = solve->lag;
    }

    report->outcome = SINEW_OUTCOME_ITERATION_LIMIT;
    return SINEW_OK;
}

// Whether gaps are those that bodies keep, or the sweep moved nothing any more: where more pairs
// press than surfaces have freedom, multipliers drift among them for long. And whether friction
// went by the right forces.
static bool is_steady(const sn_island *island) {
    const sn_island_contact *own = island->contact;
    double gap = gap_tolerance * smallest_thickness(island);
    double sum = 0, lagging = 0;
    bool close = true;
    for (int32_t i = 0; i < own->touch_count; i++) {
        const sn_touch *touch = &own->touches[i];
        close = close && fabs(touch->force - touch->multiplier) <= gap * touch->penalty;
        sum += touch->force;
        lagging += touch->friction > 0 ? fabs(touch->force - touch->pressure) : 0;
    }

    double moved = sn_vector_largest(sn_island_size(island), island->xi);
    return (close || moved <= 10 * gap) && lagging <= friction_tolerance * sum;
}

// Whether the sweep found an equilibrium, once its forces are known.
static bool is_balanced(static_solve *solve, const sn_island *island,
                        const sinew_step_report *report) {
    int32_t count = sn_island_size(island);
    double scale =
        fmax(sn_vector_largest(count, island->external), sn_vector_largest(count, island->force));
    double held = sn_vector_largest(count, island->inertia);
    solve->residual = fmax(solve->residual, scale > 0 ? held / scale : 0);

    double size = smallest_size(island);
    bool follows = !sn_static_has_followers(island) ||
                   sn_vector_largest(count, island->xi) <= solve->def->newton_tolerance * size;

    return report->outcome == SINEW_OUTCOME_CONVERGED && follows && is_steady(island) &&
           held <= solve->def->newton_tolerance * scale &&
           solve->travel <= still_motion * smallest_thickness(island) &&
           solve->lag <= gap_tolerance * smallest_thickness(island);
}

// Judges the sweep of an island, and chooses c for the next one.
static void judge(static_solve *solve, const sn_island *island, bool loose, bool clear,
                  const sinew_step_report *report) {
    double size = smallest_size(island);
    double moved = sn_vector_largest(sn_island_size(island), island->xi);
    bool wild = solve->lag > most_lag * size || (loose && moved > most_motion * size);
    bool cramped = island->contact->cramped;
    solve->wild = solve->wild || wild;
    solve->cramped = solve->cramped || cramped;
    solve->found = solve->found && !wild && !cramped && report->outcome == SINEW_OUTCOME_CONVERGED;
    solve->settled = is_balanced(solve, island, report) && solve->settled;
    solve->falls = loose && clear ? solve->falls + 1 : 0;
    if (solve->hold > 0 && solve->found) {
        solve->hold = clear ? fmax(most_fall, solve->hold / 3) : fmax(least_hold, solve->hold / 10);
    }
}

// The solver, and the share of the loads.
static sinew_status prepare_island(const static_solve *solve, sn_island *island) {
    sn_island_contact *own = island->contact;
    SN_TRY(sn_integrate_prepare(island, true));
    island->h = island->world->def.step; // by which overlaps heal
    for (int32_t i = 0; i < island->body_count; i++) {
        *island->bodies[i].body->age = INFINITY; // what fades in time is gone
    }

    sn_integrate_gather(island);
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        island->external[i] *= solve->share;
    }
    own->load = 0;
    for (int32_t row = 0; row < island->rows; row++) {
        own->load += sn_length(sn_load3(island->external + 3 * (size_t)row));
    }
    return SINEW_OK;
}

// The touches where the sweep begins.
static sinew_status find_first_touches(sn_island *island) {
    sn_island_contact *own = island->contact;
    own->linear = false;
    SN_TRY(sn_contact_find_touches(island, own->guess, true));
    SN_TRY(sn_contact_take_touches(island));
    own->predicted = false;
    return SINEW_OK;
}

static sinew_status sweep_island(static_solve *solve, sn_island *island,
                                 sinew_step_report *report) {
    sn_island_contact *own = island->contact;
    SN_TRY(prepare_island(solve, island));

    // Whether supports hold what the loads push.
    bool loose;
    SN_TRY(check_loose(solve, island, &loose));
    if (solve->first) {
        SN_TRY(loose ? SINEW_OK : sn_mobility_check_strain(island));
    }

    sn_newton_def newton = sn_static_newton_def(&island->world->def, solve->def);
    if (loose && solve->hold == 0) {
        solve->hold = first_hold;
    }
    if (solve->hold > 0) {
        newton.scheme.c = find_hold(island) * solve->hold;
    }

    // Without contact while nothing is near, then with it.
    bool clear = false;
    begin_island(solve, island);
    solve->lag = 0;
    solve->travel = 0;
    SN_TRY(find_first_touches(island));
    if (own->touch_count == 0) {
        SN_TRY(try_clear(island, &newton, &clear, report));
    }
    if (!clear) {
        SN_TRY(solve_touching(solve, island, &newton, report));
    }
    if (report->outcome == SINEW_OUTCOME_NOT_FINITE || !sn_integrate_is_finite(island)) {
        report->outcome = SINEW_OUTCOME_NOT_FINITE;
        return SINEW_OK;
    }

    sn_contact_compute_surface(island, island->xi, own->hat);
    sn_contact_report_touches(island, sn_contact_finish_forces(island));
    judge(solve, island, loose, clear, report);
    return sn_integrate_check(island);
}

// --- sweeps

// Accepts what all islands committed. c M was no force.
static void accept_sweep(static_solve *solve) {
    for (sn_island *island = solve->world->islands; island; island = island->next) {
        if (!island->contact) {
            continue;
        }
        memset(island->inertia, 0, (size_t)sn_island_size(island) * sizeof(double));
        sn_static_accept(island);
        solve->settled = !sn_static_end_recovery(island) && solve->settled;
    }
    sn_contact_accept_step(solve->world);
}

// Obstacles that bodies still keep from where they are to be.
static bool have_arrived(const sn_contact *contact) {
    for (int32_t o = 0; o < contact->obstacle_count; o++) {
        const sinew_obstacle *obstacle = contact->obstacles[o];
        if (memcmp(&obstacle->pose, &obstacle->target, sizeof obstacle->pose) != 0) {
            return false;
        }
    }
    return true;
}

// Friction of the next sweep. Without any there is nothing to wait for.
static void sharpen_friction(static_solve *solve) {
    sn_contact *contact = solve->world->contact;
    bool rubs = false;
    for (const sn_island *island = solve->world->islands; island; island = island->next) {
        const sn_island_contact *own = island->contact;
        for (int32_t i = 0; own && i < own->touch_count; i++) {
            rubs = rubs || own->touches[i].friction > 0;
        }
    }
    solve->settled = solve->settled && (!rubs || contact->smoothing_time <= last_smoothing);
    contact->smoothing_time = fmax(last_smoothing, solve->sharpening * contact->smoothing_time);
}

// After a sweep at the whole of a share that found nothing: with friction that is smoothed more, if
// it can be, and less of a change from sweep to sweep; else with ten times c.
static void soften(static_solve *solve) {
    sn_contact *contact = solve->world->contact;
    if (!solve->wild && contact->smoothing_time < first_smoothing && solve->sharpening < 0.5) {
        contact->smoothing_time /= solve->sharpening;
        solve->sharpening = sqrt(solve->sharpening);
    } else {
        solve->hold = solve->hold > 0 ? 10 * solve->hold : 1;
    }
}

// Solves all islands from the accepted configurations. Bodies that take no part are solved once,
// with the whole load.
static sinew_status sweep_islands(static_solve *solve, sinew_step_report *total) {
    // What a sweep finds out.
    int32_t iterations = 0;
    solve->found = true;
    solve->wild = false;
    solve->cramped = false;
    solve->settled = true;
    solve->residual = 0;
    total->outcome = SINEW_OUTCOME_CONVERGED;
    for (sn_island *island = solve->world->islands; island; island = island->next) {
        // One island after the other.
        sinew_step_report part = {.solver_converged = true};
        if (island->contact) {
            SN_TRY(sweep_island(solve, island, &part));
            solve->residual = fmax(solve->residual, part.newton_residual);
            part.newton_residual = 0;
        } else if (solve->first) {
            SN_TRY(sn_integrate_static(island, solve->def, &part));
        }
        iterations += part.newton_iterations;
        sn_world_merge_report(total, &part);
        if (part.outcome == SINEW_OUTCOME_NOT_FINITE) {
            break;
        }
    }
    solve->solves += solve->found ? iterations : 0;
    return SINEW_OK;
}

// One sweep. One that found nothing is not accepted.
static sinew_status sweep(static_solve *solve, sinew_step_report *report) {
    sinew_world *world = solve->world;
    set_targets(solve);
    SN_TRY(sn_contact_join(world));
    SN_TRY(sn_world_prepare(world, true));
    SN_TRY(sn_contact_cover(world));
    sn_contact_begin_step(world);
    SN_TRY(sweep_islands(solve, report));
    if (report->outcome == SINEW_OUTCOME_NOT_FINITE || !solve->found) {
        return SINEW_OK;
    }

    SN_TRY(sn_contact_end_step(world));
    accept_sweep(solve);
    sharpen_friction(solve);
    bool arrived = have_arrived(world->contact);
    solve->found = arrived && solve->found;
    solve->settled = arrived && solve->settled;
    solve->first = false;
    solve->tries = 0;
    solve->reached = solve->share;
    return SINEW_OK;
}

// The next sweep has a pattern with more room.
static void make_room(const static_solve *solve) {
    solve->world->contact->static_reach *= 4;
    solve->world->contact->overlay_valid = false;
    sn_world_forget_islands(solve->world);
}

// A new share of the load begins.
static void begin_share(static_solve *solve, double share) {
    solve->share = share > 1 - 1e-9 ? 1 : share;
    solve->solves = 0;
    solve->tries = 0;
    solve->sharpening = 0.1;
    solve->world->contact->smoothing_time = first_smoothing;
    keep_starts(solve);
}

// Raises the load in steps, shorter ones where a sweep finds nothing, and stays at the end until
// everything has settled.
static sinew_status raise_load(static_solve *solve, sinew_step_report *report) {
    double longest = 1.0 / solve->def->load_steps;
    double step = longest;
    begin_share(solve, step);
    while (solve->solves < solve->def->newton_iterations && solve->tries < MOST_TRIES &&
           step > least_step * longest) {
        // Stop where going on has no use.
        SN_TRY(sweep(solve, report));
        if (report->outcome == SINEW_OUTCOME_NOT_FINITE) {
            return SINEW_OK;
        }
        if (solve->falls > MOST_FALLS) {
            return sn_fail(solve->world->context, SINEW_INVALID_ARGUMENT,
                           "%s, or contact: it fell far and met nothing", solve->message);
        }

        if (solve->share == 1 && solve->settled) {
            return SINEW_OK;
        }

        // More load, more room, a shorter step, or softer contact.
        if (solve->share < 1 && solve->found) {
            step = fmin(1.5 * step, longest);
            begin_share(solve, solve->reached + step);
        } else if (solve->cramped && !solve->wild) {
            solve->tries++;
            make_room(solve);
        } else if (!solve->found && !solve->wild && solve->share > solve->reached) {
            solve->tries++;
            step *= 0.5;
            solve->share = solve->reached + step;
        } else if (!solve->found) {
            solve->tries++;
            soften(solve);
        }
    }

    report->outcome = SINEW_OUTCOME_ITERATION_LIMIT;
    return SINEW_OK;
}

static sinew_status solve_world(static_solve *solve, sinew_step_report *report) {
    SN_TRY(raise_load(solve, report));
    report->newton_residual = fmax(report->newton_residual, solve->residual);
    if (report->outcome == SINEW_OUTCOME_NOT_FINITE) {
        return restore_world(solve);
    }
    return sn_contact_renew_events(solve->world, solve->memories, solve->memory_count);
}

sinew_status sn_contact_solve_static(sinew_world *world, const sinew_static_def *def,
                                     sinew_step_report *report) {
    static_solve solve = {
        .world = world, .def = def, .arena = sn_arena_create(world->context), .first = true};
    world->contact->is_static = true;
    world->contact->static_reach = first_reach;
    sinew_status status = keep_world(&solve);
    if (status == SINEW_OK) {
        status = solve_world(&solve, report);
        if (status != SINEW_OK) {
            char message[MESSAGE];
            snprintf(message, sizeof message, "%s", sinew_context_message(world->context));
            restore_world(&solve);
            sn_fail(world->context, status, "%s", message);
        }
    }

    world->contact->is_static = false;
    sn_arena_destroy(&solve.arena);
    return status;
}

// --- linearising

// One try: the island of the body with its touches, handed to `use`.
static sinew_status use_island(static_solve *solve, const sinew_body *body, sn_island_use *use,
                               void *user, bool *cramped) {
    sinew_world *world = solve->world;
    SN_TRY(sn_contact_join(world));
    SN_TRY(sn_world_prepare(world, true));
    SN_TRY(sn_contact_cover(world));
    SN_TRY(sn_contact_begin_step(world));
    sn_island *island = sn_world_find_island(world, body);
    if (!island->contact) {
        return use(island, user);
    }

    SN_TRY(prepare_island(solve, island));
    begin_island(solve, island);
    SN_TRY(find_first_touches(island));
    SN_TRY(use(island, user));
    *cramped = island->contact->cramped;
    return SINEW_OK;
}

sinew_status sn_contact_linearise(const sinew_body *body, sn_island_use *use, void *user) {
    sinew_world *world = body->world;
    sn_contact *contact = world->contact;
    sinew_static_def def = sinew_default_static_def();
    sinew_contact_report report = contact->report;
    static_solve solve = {.world = world, .def = &def, .arena = sn_arena_create(world->context)};
    contact->is_static = true;
    contact->static_reach = first_reach;

    // Slip counts from here on, so that what friction can hold sticks.
    sinew_status status = keep_world(&solve);
    bool cramped = status == SINEW_OK;
    for (int i = 0; i < MOST_TRIES && cramped && status == SINEW_OK; i++) {
        begin_share(&solve, 1);
        contact->smoothing_time = last_smoothing;
        cramped = false;
        status = use_island(&solve, body, use, user, &cramped);
        if (cramped) {
            make_room(&solve);
        }
    }

    // The world is as before.
    contact->is_static = false;
    contact->report = report;
    sinew_status restored = solve.contact_state ? restore_world(&solve) : SINEW_OK;
    sn_arena_destroy(&solve.arena);
    return status == SINEW_OK ? restored : status;
}
