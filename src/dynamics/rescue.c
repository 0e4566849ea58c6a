// Rescue of a failed step (see rescue.h). The bodies themselves take the smaller steps, so their
// state is saved before and restored afterwards.
#include "dynamics/rescue.h"

#include "dynamics/integrate.h"
#include "dynamics/ledger.h"

#include <math.h>
#include <string.h>

// Copies the states of all bodies to `room`, or back.
static void copy_states(const sn_island *island, double *room, bool back) {
    for (int32_t i = 0; i < island->body_count; i++) {
        sinew_body *body = island->bodies[i].body;
        size_t bytes = body->state_count * sizeof(double);
        memcpy(back ? body->state : room, back ? room : body->state, bytes);
        room += body->state_count;
    }
}

static sinew_status make_room(sn_island *island) {
    if (island->saved_states) {
        return SINEW_OK;
    }

    size_t count = 0;
    for (int32_t i = 0; i < island->body_count; i++) {
        count += island->bodies[i].body->state_count;
    }

    double *rescued = SN_PUSH(&island->arena, double, count);
    double *saved = SN_PUSH(&island->arena, double, count);
    SN_TRY(sn_arena_status(&island->arena));
    island->rescued_states = rescued;
    island->saved_states = saved;

    return SINEW_OK;
}

// Targets of the next part: `share` of what is left of the prescribed motion.
static void set_targets(const sn_island *island, double share) {
    const double *saved = island->saved_states;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        sinew_body *body = member->body;
        const double *target = saved + (body->target - body->state);
        saved += body->state_count;

        if (share == 1) {
            memcpy(body->target, target, (size_t)body->config_count * sizeof(double));
            continue;
        }

        double *xi = island->prescribed + 3 * member->first_row;
        sn_body_difference(body, xi, target, body->q);
        for (int32_t k = 0; k < sn_body_size(body); k++) {
            xi[k] *= share;
        }
        sn_body_retract(body, body->target, body->q, xi);
    }
}

static sinew_status try_part(sn_island *island, double h, bool *good, sinew_step_report *report) {
    const sn_integrator *newton = sn_integrator_get(SINEW_INTEGRATOR_NEWTON_EULER, false);
    sinew_step_report part = {.solver_converged = true};
    SN_TRY(sn_integrate_solve_by(island, newton, h, &part));
    report->newton_iterations += part.newton_iterations;
    report->solver_iterations += part.solver_iterations;
    report->line_search_cuts += part.line_search_cuts;
    report->newton_residual = fmax(report->newton_residual, part.newton_residual);

    *good = part.outcome == SINEW_OUTCOME_CONVERGED && sn_integrate_is_finite(island) &&
            sn_ledger_check(island) && sn_integrate_check(island) == SINEW_OK;
    if (*good) {
        sn_integrate_accept(island);
    }

    return SINEW_OK;
}

// All parts, from where the bodies are to the end of the step.
static sinew_status try_parts(sn_island *island, int parts, bool *good, sinew_step_report *report) {
    double h = island->world->def.step / parts;
    *good = true;
    for (int part = 0; part < parts && *good; part++) {
        set_targets(island, 1.0 / (parts - part));
        SN_TRY(try_part(island, h, good, report));
    }
    return SINEW_OK;
}

// Multistep integrators begin again after a rescue; the energy ledger goes on.
static void end_history(const sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        *island->bodies[i].body->history = 0;
        island->bodies[i].body->ledger->state = SN_LEDGER_KEPT;
    }
}

sinew_status sn_rescue_try(sn_island *island, sinew_step_report *report) {
    sinew_status status = make_room(island);
    if (status != SINEW_OK) {
        return status;
    }

    copy_states(island, island->saved_states, false);
    for (int parts = 2; parts <= SN_RESCUE_PARTS && status == SINEW_OK && !island->rescued;
         parts *= 2) {
        status = try_parts(island, parts, &island->rescued, report);
        if (status == SINEW_OK && island->rescued) {
            end_history(island);
            copy_states(island, island->rescued_states, false);
        }
        copy_states(island, island->saved_states, true);
    }

    return status;
}

void sn_rescue_accept(sn_island *island) {
    copy_states(island, island->rescued_states, true);
    island->rescued = false;
}
