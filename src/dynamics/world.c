// The world: its definition, its bodies, the step. A step solves all islands first and accepts them
// together, so that a failure leaves everything as it was.
#include "dynamics/world.h"

#include "base/clock.h"
#include "body/surface.h"
#include "dynamics/contact.h"
#include "dynamics/contact_heal.h"
#include "dynamics/contact_frames.h"
#include "dynamics/glue.h"
#include "dynamics/integrate.h"
#include "dynamics/island.h"
#include "dynamics/ledger.h"
#include "dynamics/position.h"
#include "dynamics/rescue.h"
#include "linalg/vector.h"
#include "math/box.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A body longer than this multiple of its rest size has diverged.
static const double largest_stretch = 100;

sinew_world_def sinew_default_world_def(void) {
    return (sinew_world_def){
        .gravity = {0, 0, -9.81},
        .step = 0.01,
        .integrator = SINEW_INTEGRATOR_IMPLICIT_EULER,
        .solver = SINEW_SOLVER_AUTO,
        .solver_tolerance = 1e-6,
        .solver_iterations = 1000,
        .newton_tolerance = 1e-6,
        .newton_iterations = 50,
        .filled = SN_DEF_FILLED,
    };
}

sinew_static_def sinew_default_static_def(void) {
    return (sinew_static_def){.load_steps = 1,
                              .newton_iterations = 100,
                              .newton_tolerance = 1e-8,
                              .filled = SN_DEF_FILLED};
}

const char *sinew_outcome_name(sinew_outcome outcome) {
    switch (outcome) {
    case SINEW_OUTCOME_CONVERGED: return "converged";
    case SINEW_OUTCOME_ITERATION_LIMIT: return "iteration limit";
    case SINEW_OUTCOME_STALLED: return "stalled";
    case SINEW_OUTCOME_NOT_FINITE: return "not finite";
    case SINEW_OUTCOME_SINGULAR: return "singular";
    case SINEW_OUTCOME_UNSTABLE: return "unstable";
    }

    return "unknown outcome";
}

static sinew_status check_tolerance(sinew_context *context, const char *name, double value) {
    if (value > 0 && value < 1) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s is %g; it must lie between 0 and 1", name,
                   value);
}

static sinew_status check_count(sinew_context *context, const char *name, int32_t value) {
    if (value >= 1) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s is %d; it must be at least 1", name, value);
}

static sinew_status check_world(sinew_context *context, const sinew_world_def *def) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_world_def"));

    // Gravity and step.
    for (int k = 0; k < 3; k++) {
        if (!isfinite(def->gravity[k])) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT, "gravity[%d] is %g; it must be finite",
                           k, def->gravity[k]);
        }
    }

    if (!(def->step > 0) || !isfinite(def->step)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "step is %g s; it must be finite and above 0", def->step);
    }

    // Methods and their limits.
    if ((int)def->integrator < 0 || (int)def->integrator >= sn_integrator_count()) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "integrator is %d; valid are 0 to %d",
                       (int)def->integrator, (int)sn_integrator_count() - 1);
    }

    SN_TRY(sn_check_solver(context, def->solver));
    SN_TRY(check_tolerance(context, "solver_tolerance", def->solver_tolerance));
    SN_TRY(check_tolerance(context, "newton_tolerance", def->newton_tolerance));
    SN_TRY(check_count(context, "solver_iterations", def->solver_iterations));

    return check_count(context, "newton_iterations", def->newton_iterations);
}

sinew_status sinew_world_create(sinew_context *context, const sinew_world_def *def,
                                sinew_world **out) {
    SN_NEED(NULL, context);

    SN_TRY(check_world(context, def));
    if (!out) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "world is NULL");
    }
    sinew_world *world = sn_allocate(context, 1, sizeof *world);
    if (!world) {
        return SINEW_OUT_OF_MEMORY;
    }

    world->context = context;
    world->def = *def;
    *out = world;

    return SINEW_OK;
}

void sinew_world_destroy(sinew_world *world) {
    if (!world) {
        return;
    }

    sn_world_forget_islands(world);
    for (size_t i = 0; i < world->body_count; i++) {
        sn_world_remove_attachments(world, world->bodies[i], NULL, true);
        sn_body_destroy(world->bodies[i]);
    }

    sn_contact_destroy(world);
    sinew_context *context = world->context;
    sn_release(context, world->bodies, world->body_capacity, sizeof *world->bodies);
    sn_release(context, world->attachments, world->attachment_capacity, sizeof *world->attachments);
    sn_release(context, world, 1, sizeof *world);
}

sinew_status sn_world_add_body(sinew_world *world, sinew_body *body) {
    void *bodies = world->bodies;
    SN_TRY(sn_grow(world->context, &bodies, &world->body_capacity, world->body_count,
                   world->body_count + 1, sizeof *world->bodies));
    world->bodies = bodies;
    body->index = (int32_t)world->body_count;
    world->bodies[world->body_count++] = body;
    sn_world_forget_islands(world);

    return SINEW_OK;
}

void sinew_body_destroy(sinew_body *body) {
    if (!body) {
        return;
    }

    sinew_world *world = body->world;
    sn_world_forget_islands(world);
    sn_world_remove_attachments(world, body, NULL, true);
    sn_contact_forget_body(world, body->index);
    world->body_count--;
    for (int32_t i = body->index; i < (int32_t)world->body_count; i++) {
        world->bodies[i] = world->bodies[i + 1];
        world->bodies[i]->index = i;
    }

    sn_body_destroy(body);
}

void sn_world_forget_islands(sinew_world *world) {
    world->prepared = false;
    while (world->islands) {
        sn_island *island = world->islands;
        world->islands = island->next;
        sn_island_destroy(island);
    }
}

sn_island *sn_world_find_island(const sinew_world *world, const sinew_body *body) {
    for (sn_island *island = world->islands; island; island = island->next) {
        for (int32_t i = 0; i < island->body_count; i++) {
            if (island->bodies[i].body == body) {
                return island;
            }
        }
    }
    return NULL;
}

// Numbers the bodies by the island they belong to: attachments join, the lowest number wins.
static void find_islands(const sinew_world *world, int32_t *number) {
    for (size_t i = 0; i < world->body_count; i++) {
        number[i] = (int32_t)i;
    }

    // Bodies that may touch are in the group of the lowest of them.
    const sn_contact *contact = world->contact;
    int32_t grouped = contact && contact->on ? contact->group_count : 0;

    for (bool changed = true; changed;) {
        changed = false;
        for (size_t a = 0; a < world->attachment_count; a++) {
            const sinew_attachment *attachment = world->attachments[a];
            if (!attachment->target.body || attachment->broken) {
                continue;
            }

            int32_t i = attachment->tied.body->index;
            int32_t j = attachment->target.body->index;
            int32_t lower = number[i] < number[j] ? number[i] : number[j];
            changed = changed || number[i] != number[j];
            number[i] = number[j] = lower;
        }
        for (int32_t i = 0; i < grouped; i++) {
            int32_t j = contact->groups[i];
            int32_t lower = number[i] < number[j] ? number[i] : number[j];
            changed = changed || number[i] != number[j];
            number[i] = number[j] = lower;
        }
    }
}

// Whether the islands are there and made for the solvers that are chosen now.
static bool is_prepared(const sinew_world *world, bool is_static) {
    for (const sn_island *island = world->islands; island; island = island->next) {
        if (!sn_island_is_current(island, is_static)) {
            return false;
        }
    }
    return world->prepared;
}

// The bodies in the order of their numbers; those of number n are order[starts[n]] to
// order[starts[n + 1] - 1]. `starts` is zeroed and has two entries more than there are bodies.
static void order_bodies(const sinew_world *world, const int32_t *number, int32_t *starts,
                         int32_t *order) {
    int32_t count = (int32_t)world->body_count;
    for (int32_t i = 0; i < count; i++) {
        starts[number[i] + 2]++;
    }
    for (int32_t n = 0; n < count; n++) {
        starts[n + 2] += starts[n + 1];
    }
    for (int32_t i = 0; i < count; i++) {
        order[starts[number[i] + 1]++] = i;
    }
}

sinew_status sn_world_prepare(sinew_world *world, bool is_static) {
    if (is_prepared(world, is_static)) {
        return SINEW_OK;
    }

    // Islands are rebuilt from scratch when anything that couples bodies has changed.
    sn_world_forget_islands(world);
    if (world->contact && !world->contact->overlay_valid) {
        world->contact->overlay_count = 0;
    }
    sn_arena scratch = sn_arena_create(world->context);
    int32_t *number = SN_PUSH(&scratch, int32_t, world->body_count);
    int32_t *starts = SN_PUSH(&scratch, int32_t, world->body_count + 2);
    int32_t *order = SN_PUSH(&scratch, int32_t, world->body_count);
    sinew_body **members = SN_PUSH(&scratch, sinew_body *, world->body_count);
    sinew_status status = sn_arena_status(&scratch);

    if (status == SINEW_OK) {
        find_islands(world, number);
        order_bodies(world, number, starts, order);
    }

    // Islands in the order of their first bodies, so that results do not depend on how they were
    // found.
    sn_island **last = &world->islands;
    for (int32_t first = 0; status == SINEW_OK && first < (int32_t)world->body_count; first++) {
        // Bodies that solve equations and bodies under position dynamics are islands of their own.
        for (int stepping = 0; stepping < 2 && status == SINEW_OK; stepping++) {
            int32_t count = 0;
            for (int32_t i = starts[first]; i < starts[first + 1]; i++) {
                sinew_body *body = world->bodies[order[i]];
                if ((body->ops->stepping != NULL) == stepping) {
                    members[count++] = body;
                }
            }
            if (count == 0) {
                continue;
            }

            status = stepping ? sn_position_create(world, members, count, last)
                              : sn_island_create(world, members, count, is_static, last);
            if (status == SINEW_OK) {
                last = &(*last)->next;
            }
        }
    }

    // All islands or none.
    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        sn_world_forget_islands(world);
    } else if (world->contact) {
        world->contact->overlay_valid = true;
    }

    world->prepared = status == SINEW_OK;
    return status;
}

void sn_world_merge_report(sinew_step_report *total, const sinew_step_report *part) {
    if (part->outcome > total->outcome) {
        total->outcome = part->outcome;
    }

    total->newton_iterations += part->newton_iterations;
    total->solver_iterations += part->solver_iterations;
    total->solver_residual = fmax(total->solver_residual, part->solver_residual);
    total->solver_converged = total->solver_converged && part->solver_converged;
    total->newton_residual = fmax(total->newton_residual, part->newton_residual);
    total->line_search_cuts += part->line_search_cuts;
    total->rescued += part->rescued;
    total->assemble_seconds += part->assemble_seconds;
    total->solve_seconds += part->solve_seconds;
}

// The diagonal of a body's box where the step that was found leads.
static double measure_end(sn_island *island, const sn_island_body *member) {
    sinew_body *body = member->body;
    sn_integrate_find_end(island, member, island->scratch + 3 * member->first_row);

    body->ops->surface.compute(body, member->trial_q, body->surface_work);
    return sn_box_diagonal(sn_box_of_points(body->surface_work, body->surface->point_count));
}

// A body that work keeps feeding can grow without a bound although its energy is explained: a
// follower load on a motion that its samples do not resist. Its size is measured only where a step
// moves it by half that size, so that other steps pay nothing.
static sinew_status check_size(sn_island *island, sinew_step_report *report) {
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        sinew_body *body = member->body;
        int32_t count = body->surface->point_count;
        const double *xi = island->xi + 3 * member->first_row;
        if (count == 0 ||
            sn_vector_largest(sn_body_size(body), xi) < 0.5 * cbrt(body->rest_volume)) {
            continue;
        }

        // The box of the surface, at rest and at the end of the step.
        SN_TRY(sn_surface_push_work(body));
        double rest = sn_box_diagonal(sn_box_of_points(body->surface->points, count));
        double size = measure_end(island, member);
        if (size <= largest_stretch * rest) {
            continue;
        }

        report->outcome = SINEW_OUTCOME_UNSTABLE;
        return sn_fail(island->world->context, SINEW_DIVERGED,
                       "the step at %g s would make body \"%s\" %g times its size; the state is as "
                       "before it. A smaller load, more samples or a stiffer law may help",
                       sinew_world_get_time(island->world), body->name, size / rest);
    }
    return SINEW_OK;
}

// Whether the step that was found can be accepted; if not, why.
static sinew_status judge_step(sn_island *island, sinew_step_report *report) {
    sinew_context *context = island->world->context;
    const char *name = island->bodies[0].body->name;
    double time = sinew_world_get_time(island->world);

    // Positions that are not finite.
    if (report->outcome == SINEW_OUTCOME_NOT_FINITE || !sn_integrate_is_finite(island)) {
        report->outcome = SINEW_OUTCOME_NOT_FINITE;
        return sn_fail(context, SINEW_DIVERGED,
                       "the step at %g s would not give finite positions for body \"%s\"; the "
                       "state is as before it. A smaller step or another integrator may help",
                       time, name);
    }

    // Energy that no work explains.
    if (!sn_ledger_check(island)) {
        report->outcome = SINEW_OUTCOME_UNSTABLE;
        return sn_fail(context, SINEW_DIVERGED,
                       "the step at %g s is unstable: body \"%s\" would have an energy of %g J, "
                       "but work explains only %g J; the state is as before it. A smaller step or "
                       "another integrator may help",
                       time, name, island->ledger.judged, island->ledger.explained);
    }

    // What single bodies cannot continue from, such as blended rotations that cancel.
    sinew_status status = sn_integrate_check(island);
    if (status != SINEW_OK) {
        report->outcome = SINEW_OUTCOME_SINGULAR;
    }
    return status;
}

// Solves an island's step. One that cannot be accepted is tried again in smaller parts; if that
// fails too, the message says why the whole step did.
static sinew_status solve_island(sn_island *island, sinew_step_report *report) {
    sinew_context *context = island->world->context;
    island->rescued = false;
    SN_TRY(sn_integrate_solve(island, report));

    sinew_status status = judge_step(island, report);
    if (status == SINEW_OK) {
        return check_size(island, report);
    }

    char message[512];
    snprintf(message, sizeof message, "%s", sinew_context_message(context));
    SN_TRY(sn_rescue_try(island, report));
    if (!island->rescued) {
        return sn_fail(context, status, "%s", message);
    }

    report->outcome = SINEW_OUTCOME_CONVERGED;
    report->rescued = 1;
    return SINEW_OK;
}

static sinew_status solve_islands(sinew_world *world, sinew_step_report *report) {
    for (sn_island *island = world->islands; island; island = island->next) {
        if (island->position) {
            continue;
        }
        sinew_step_report part = {.solver_converged = true};
        sinew_status status = solve_island(island, &part);
        sn_world_merge_report(report, &part);
        SN_TRY(status);
    }

    return SINEW_OK;
}

// Bodies under position dynamics, once the others are known.
static sinew_status solve_positions(sinew_world *world) {
    for (sn_island *island = world->islands; island; island = island->next) {
        if (island->position) {
            SN_TRY(sn_position_solve(island));
        }
    }

    return SINEW_OK;
}

static void accept_step(sinew_world *world) {
    for (sn_island *island = world->islands; island; island = island->next) {
        if (island->position) {
            sn_position_accept(island);
        } else if (island->rescued) {
            sn_rescue_accept(island);
        } else {
            sn_integrate_accept(island);
        }
    }

    if (world->contact && world->contact->on) {
        sn_contact_accept_step(world);
    }
    world->steps++;
}

sinew_status sinew_world_step(sinew_world *world, sinew_step_report *out) {
    SN_NEED(NULL, world);

    double begin = sn_seconds();
    sinew_step_report report = {.solver_converged = true};

    // Contact first: what may touch decides which bodies form an island.
    bool contact = world->contact && world->contact->on;
    sinew_status status = contact ? sn_contact_join(world) : SINEW_OK;
    if (status == SINEW_OK) {
        status = sn_world_prepare(world, false);
    }
    if (status == SINEW_OK && contact) {
        status = sn_contact_cover(world);
    }
    if (status == SINEW_OK && contact) {
        status = sn_contact_begin_step(world);
    }

    // Solve, certify, and only then accept.
    if (status == SINEW_OK) {
        status = solve_islands(world, &report);
    }
    if (status == SINEW_OK) {
        status = solve_positions(world);
    }
    if (status == SINEW_OK && contact) {
        status = sn_contact_end_step(world);
    }
    if (status == SINEW_OK) {
        accept_step(world);
    }
    if (status == SINEW_OK) {
        status = sn_glue_break(world);
    }
    if (status == SINEW_OK && contact) {
        status = sn_contact_heal(world);
    }
    if (status == SINEW_OK && contact) {
        status = sn_contact_frames_adapt(world);
    }

    report.total_seconds = sn_seconds() - begin;
    if (out) {
        *out = report;
    }

    return status;
}

static sinew_status solve_static_islands(sinew_world *world, const sinew_static_def *def,
                                         sinew_step_report *report) {
    SN_TRY(sn_world_prepare(world, true));
    for (sn_island *island = world->islands; island; island = island->next) {
        sinew_step_report part = {.solver_converged = true};
        SN_TRY(sn_integrate_static(island, def, &part));
        sn_world_merge_report(report, &part);
    }
    return SINEW_OK;
}

sinew_status sinew_world_solve_static(sinew_world *world, const sinew_static_def *def,
                                      sinew_step_report *out) {
    SN_NEED(NULL, world);

    double begin = sn_seconds();

    // Refuse what has no equilibrium to look for.
    SN_TRY(SN_CHECK_DEF(world->context, def, "sinew_default_static_def"));
    SN_TRY(check_count(world->context, "load_steps", def->load_steps));
    SN_TRY(check_count(world->context, "newton_iterations", def->newton_iterations));
    SN_TRY(check_tolerance(world->context, "newton_tolerance", def->newton_tolerance));

    for (size_t i = 0; i < world->body_count; i++) {
        if (!world->bodies[i]->ops->stepping) {
            continue;
        }

        return sn_fail(world->context, SINEW_UNSUPPORTED,
                       "body \"%s\" is under position dynamics, which knows no static solve: let "
                       "it settle in steps",
                       world->bodies[i]->name);
    }

    sinew_step_report report = {.solver_converged = true};
    if (world->contact && world->contact->on) {
        SN_TRY(sn_contact_solve_static(world, def, &report));
    } else {
        SN_TRY(solve_static_islands(world, def, &report));
    }

    report.total_seconds = sn_seconds() - begin;
    if (out) {
        *out = report;
    }
    if (report.outcome != SINEW_OUTCOME_NOT_FINITE) {
        return SINEW_OK;
    }

    return sn_fail(world->context, SINEW_DIVERGED,
                   "the static solve left the finite numbers; the state is as before it");
}

double sinew_world_get_time(const sinew_world *world) {
    SN_NEED_OR(0, world);
    return sinew_world_get_time_after(world, 0);
}

double sinew_world_get_time_after(const sinew_world *world, int64_t steps) {
    SN_NEED_OR(0, world);
    return world->start + (double)(world->steps + steps) * world->def.step;
}

sinew_status sinew_world_set_def(sinew_world *world, const sinew_world_def *def) {
    SN_NEED(NULL, world);

    SN_TRY(check_world(world->context, def));
    SN_TRY(sn_contact_check_integrator(world, def->integrator));

    // Memories of another step length or scheme do not fit.
    if (def->step != world->def.step || def->integrator != world->def.integrator) {
        for (size_t i = 0; i < world->body_count; i++) {
            *world->bodies[i]->history = 0;
        }
    }

    // Steps of another length are counted from now on.
    if (def->step != world->def.step) {
        world->start = sinew_world_get_time(world);
        world->steps = 0;
    }

    world->def = *def;
    return SINEW_OK;
}

sinew_world_def sinew_world_get_def(const sinew_world *world) {
    SN_NEED_OR(((sinew_world_def){0}), world);
    return world->def;
}

int32_t sinew_world_get_body_count(const sinew_world *world) {
    SN_NEED_OR(0, world);
    return (int32_t)world->body_count;
}

sinew_body *sinew_world_get_body(const sinew_world *world, int32_t index) {
    SN_NEED_OR(NULL, world);
    return index >= 0 && (size_t)index < world->body_count ? world->bodies[index] : NULL;
}
