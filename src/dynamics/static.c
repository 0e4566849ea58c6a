// The static solve of an island: loads and prescribed displacements raised in equal parts, Newton
// with a line search after each. With contact: contact_static.c.
#include "dynamics/static.h"

#include "body/load.h"
#include "dynamics/contact_touch.h"
#include "dynamics/link.h"
#include "dynamics/mobility.h"

#include <math.h>
#include <string.h>

enum { FOLLOWER_PASSES = 50 };

static sinew_status check_support(const sn_island *island) {
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        if (island->mask[i] == SN_MASK_HELD) {
            return SINEW_OK;
        }
    }

    for (int32_t i = 0; i < island->body_count; i++) {
        if (island->bodies[i].body->anchored) {
            return SINEW_OK;
        }
    }

    if (sn_links_hold(island)) {
        return SINEW_OK;
    }

    return sn_fail(island->world->context, SINEW_INVALID_ARGUMENT,
                   "nothing holds body \"%s\": a static solve needs at least one fixed node in "
                   "each group of attached bodies",
                   island->bodies[0].body->name);
}

sinew_status sn_static_check_held(sn_island *island) {
    SN_TRY(sn_mobility_check(island));
    return check_support(island);
}

void sn_static_accept(sn_island *island) {
    // What holds the balance besides elastic forces.
    sn_links_subtract_tensions(island, island->xi, island->inertia);
    if (island->contact) {
        sn_contact_add_forces(island, -1, island->inertia);
    }
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        sinew_body *body = member->body;
        size_t count = (size_t)sn_body_size(body);

        // The new configuration.
        memcpy(body->previous_q, body->q, (size_t)body->config_count * sizeof(double));
        sn_body_retract(body, body->q, body->previous_q, island->xi + 3 * member->first_row);
        memcpy(body->balance_q, body->q, (size_t)body->config_count * sizeof(double));
        if (island->contact) {
            sn_contact_take_configuration(island, member);
        }

        // At rest.
        memset(body->v, 0, count * sizeof(double));
        memset(body->acceleration, 0, count * sizeof(double));
        memcpy(body->inertia, island->inertia + 3 * member->first_row, count * sizeof(double));
        *body->history = 0;

        if (body->ops->motion.settle) {
            body->ops->motion.settle(body);
        }
    }

    sn_integrate_settle_ties(island);
}

// Raises loads and prescribed steps in equal parts, solving after each. External forces stay as
// they were gathered.
static sinew_status solve_parts(sn_island *island, const sn_newton_def *newton, int32_t parts,
                                sinew_step_report *report) {
    size_t bytes = (size_t)sn_island_size(island) * sizeof(double);
    memset(island->xi, 0, bytes);
    memset(island->inertia, 0, bytes);

    // The full load; these vectors are unused without inertia.
    double *full = island->xi_inertia;
    double *full_step = island->velocity_offset; // unused without inertia

    memcpy(full, island->external, bytes);
    memcpy(full_step, island->prescribed, bytes);

    // Each part starts from the equilibrium of the last.
    for (int32_t part = 1; part <= parts; part++) {
        double share = (double)part / parts;
        for (int32_t i = 0; i < sn_island_size(island); i++) {
            island->external[i] = share * full[i];
            island->prescribed[i] = share * full_step[i];
        }

        SN_TRY(sn_newton_solve(island, newton, report));
        if (report->outcome == SINEW_OUTCOME_NOT_FINITE) {
            break;
        }
    }

    return SINEW_OK;
}

bool sn_static_has_followers(const sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        if (sn_loads_follow(island->bodies[i].body)) {
            return true;
        }
    }
    return false;
}

bool sn_static_end_recovery(const sn_island *island) {
    bool any = false;
    for (int32_t i = 0; i < island->body_count; i++) {
        any = any || *island->bodies[i].body->recovery > 0;
        *island->bodies[i].body->recovery = 0;
    }
    return any;
}

sn_newton_def sn_static_newton_def(const sinew_world_def *world, const sinew_static_def *def) {
    sn_newton_def newton = sn_integrate_newton_def(world);
    newton.tolerance = def->newton_tolerance;
    newton.iterations = def->newton_iterations;
    newton.solver_tolerance = fmin(world->solver_tolerance, 1e-8);
    return newton;
}

sinew_status sn_integrate_static(sn_island *island, const sinew_static_def *def,
                                 sinew_step_report *report) {
    SN_TRY(sn_integrate_prepare(island, true));
    for (int32_t i = 0; i < island->body_count; i++) {
        *island->bodies[i].body->age = INFINITY; // what fades in time is gone
    }

    sn_newton_def newton = sn_static_newton_def(&island->world->def, def);

    // Pressure is taken at the positions of the last pass, until it changes the balance no more.
    for (int pass = 0; pass < FOLLOWER_PASSES; pass++) {
        sn_integrate_gather(island);
        if (pass == 0) {
            SN_TRY(sn_static_check_held(island));
            SN_TRY(sn_mobility_check_strain(island));
        }

        int32_t before = report->newton_iterations;
        SN_TRY(solve_parts(island, &newton, pass ? 1 : def->load_steps, report));
        if (report->outcome == SINEW_OUTCOME_NOT_FINITE || !sn_integrate_is_finite(island)) {
            report->outcome = SINEW_OUTCOME_NOT_FINITE;
            return SINEW_OK;
        }

        SN_TRY(sn_integrate_check(island));
        sn_static_accept(island);
        if (sn_static_end_recovery(island)) {
            continue;
        }
        if (!sn_static_has_followers(island) || report->newton_iterations == before) {
            return SINEW_OK;
        }
    }

    report->outcome = SINEW_OUTCOME_ITERATION_LIMIT;
    return SINEW_OK;
}
