// One step of an island: gather what acts, predict, solve, and later accept. What sets integrators
// apart is in the table of integrator.h.
//
// Damping forces use the velocity of the balance; stiffness damping takes the stiffness at the
// start of the step.
#include "dynamics/integrate.h"

#include "base/clock.h"
#include "body/load.h"
#include "dynamics/constant.h"
#include "dynamics/contact_touch.h"
#include "dynamics/ledger.h"
#include "dynamics/link.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

static bool has_history(const sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        if (*island->bodies[i].body->history < 1) {
            return false;
        }
    }
    return true;
}

static sn_scheme scheme_of(const sn_island *island) {
    const sn_integrator *row = island->integrator;
    return (sn_scheme){row->c / (island->h * island->h), row->e / island->h};
}

static sn_step_rows rows_of(const sn_island *island, const sn_island_body *member) {
    int32_t first = 3 * member->first_row;
    return (sn_step_rows){.xi = island->xi + first,
                          .xi_inertia = island->xi_inertia + first,
                          .w = island->velocity_offset + first,
                          .a = island->direction + first};
}

// One body that nothing holds.
static bool is_free(const sn_island *island) {
    bool touching = island->contact && island->contact->touching;
    bool held = island->link_count > 0 || island->bodies[0].body->anchored;
    if (island->body_count > 1 || held || touching) {
        return false;
    }

    for (int32_t i = 0; i < sn_island_size(island); i++) {
        if (island->mask[i]) {
            return false;
        }
    }

    return true;
}

void sn_integrate_gather(sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        sn_island_body *member = &island->bodies[i];
        sinew_body *body = member->body;
        int32_t first = 3 * member->first_row;
        int32_t count = sn_body_size(body);

        memcpy(island->mask + first, body->mask, (size_t)count);
        sn_body_difference(body, island->prescribed + first, body->target, body->q);
        for (int32_t k = 0; k < count; k++) {
            if (!body->mask[k]) {
                island->prescribed[first + k] = 0;
            }
        }

        sn_body_compute_external(body, island->external + first, island->world->def.gravity, true);
    }

    for (int32_t i = 0; i < island->tie_count; i++) {
        memset(island->mask + 3 * island->ties[i].row, SN_MASK_TIED, 3);
    }
}

static sn_solver_kind linear_solver_of(const sn_island *island, bool is_static) {
    switch (sn_island_chosen_solver(island)) {
    case SINEW_SOLVER_JACOBI: return SN_SOLVER_PCG_JACOBI;
    case SINEW_SOLVER_CHOLESKY0: return SN_SOLVER_PCG_IC;
    case SINEW_SOLVER_MULTIGRID: return SN_SOLVER_PCG_MULTIGRID;
    case SINEW_SOLVER_DIRECT: return SN_SOLVER_DIRECT;
    case SINEW_SOLVER_DENSE: return SN_SOLVER_DENSE;
    case SINEW_SOLVER_MATRIX_FREE: return SN_SOLVER_PRODUCTS;
    case SINEW_SOLVER_AUTO: break;
    }

    if (island->matrix_free) {
        return SN_SOLVER_PRODUCTS;
    }

    // Without inertia the matrix is ill-conditioned, and a direct solve pays until its factor
    // outgrows memory.
    return is_static && island->rows < 100000 ? SN_SOLVER_DIRECT : SN_SOLVER_AUTO;
}

sinew_status sn_integrate_prepare(sn_island *island, bool is_static) {
    sn_solver_kind kind = linear_solver_of(island, is_static);

    // Another integrator, or a static solve, may need another solver.
    if (!island->solver || island->solver_kind != kind) {
        sn_solver *solver;
        sn_solver_products products = {island->row_set_count, island->row_sets,
                                       sn_island_add_remote_product, island};
        SN_TRY(kind == SN_SOLVER_PRODUCTS
                   ? sn_solver_create_products(island->world->context, island->pattern, &products,
                                               &solver)
                   : sn_solver_create(island->world->context, kind, island->pattern, &solver));
        sn_solver_destroy(island->solver);
        island->solver = solver;
        island->solver_kind = kind;
    }

    if (!is_static) {
        SN_TRY(sn_constant_create(island, kind));
    }

    // Stiffness damping keeps the tangent at the start of each step.
    for (int32_t i = 0; i < island->body_count; i++) {
        sn_island_body *member = &island->bodies[i];
        if (member->body->stiffness_damping > 0 && !member->damping) {
            if (member->local) {
                SN_TRY(member->body->ops->products->prepare(member->body, true, &member->local));
            }
            member->damping = sn_bsr_push_values(&island->arena, member->pattern);
        }
    }

    return sn_arena_status(&island->arena);
}

sn_newton_def sn_integrate_newton_def(const sinew_world_def *def) {
    return (sn_newton_def){
        .tolerance = def->newton_tolerance,
        .iterations = def->newton_iterations,
        .solver_tolerance = def->solver_tolerance,
        .solver_iterations = def->solver_iterations,
    };
}

// Forces that accelerate the bodies at the present state: external + f - damping, held unknowns
// without, in island->residual.
static void compute_drive(sn_island *island) {
    int32_t count = sn_island_size(island);
    bool damped = false;

    // Damping acts on the present velocities.
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        damped = damped || member->body->stiffness_damping > 0;
        memcpy(island->velocity_offset + 3 * member->first_row, member->body->v,
               (size_t)sn_body_size(member->body) * sizeof(double));
    }

    // Forces at the present positions, and the tangent if it damps.
    memset(island->xi, 0, (size_t)count * sizeof(double));
    memset(island->xi_inertia, 0, (size_t)count * sizeof(double));
    island->energy_before = sn_island_evaluate(
        island, island->xi, damped ? SN_WANT_PROJECTED_STIFFNESS : SN_WANT_FORCE);
    if (damped) {
        sn_island_keep_damping(island);
    }

    sn_island_compute_inertia_offset(island,
                                     (sn_scheme){.c = 1}); // at xi = 0 only damping is left of it

    // The sum, for unknowns that are free to follow it.
    for (int32_t i = 0; i < count; i++) {
        island->residual[i] = island->external[i] + island->force[i] - island->inertia_offset[i];
    }

    sn_island_reduce(island, island->residual);
    for (int32_t i = 0; i < count; i++) {
        if (island->mask[i]) {
            island->residual[i] = 0;
        }
    }
}

// xi of a step without forces, held unknowns at their targets.
static void set_free_step(sn_island *island, double h) {
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        const sinew_body *body = member->body;
        double *xi = island->xi + 3 * member->first_row;
        if (body->moves_freely) {
            body->ops->free_motion->find_step(body, xi, h);
        }

        for (int32_t k = 0; k < sn_body_size(body); k++) {
            if (!body->moves_freely) {
                xi[k] = h * body->v[k];
            }

            int32_t row = 3 * member->first_row + k;
            if (island->mask[row]) {
                xi[k] = island->prescribed[row];
            }
        }
    }

    sn_island_expand(island, island->xi);
}

static bool is_lumped(const sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        if (island->bodies[i].body->consistent_mass ||
            island->bodies[i].body->ops->motion.add_mass) {
            return false;
        }
    }
    return island->tie_count == 0 && island->hard_link_count == 0;
}

// M a = residual by the linear solver, with the penalties of hard links, which are to close within
// xi = h v + reach a.
static sinew_status divide_by_mass(sn_island *island, double h, double reach,
                                   sinew_step_report *report) {
    sinew_context *context = island->world->context;
    int32_t count = sn_island_size(island);

    // Without stiffness, the matrix of the island is its mass and the penalties of links.
    for (int32_t i = 0; i < island->body_count; i++) {
        sn_island_body *member = &island->bodies[i];
        sn_bsr_set_zero(context, member->pattern, member->matrix);
    }

    // Gaps of the links at the end of the step, which penalties draw together.
    set_free_step(island, h);
    double limit = island->world->def.newton_tolerance * sn_vector_largest(count, island->residual);

    sn_links_compute_gaps(island, island->xi, reach);
    sn_island_assemble(island, (sn_scheme){.c = 1}, SN_WANT_ENERGY);
    sn_links_add_residual(island, island->residual);

    for (int32_t i = 0; i < count; i++) {
        island->residual[i] = island->mask[i] ? 0 : island->residual[i];
    }

    sn_bsr_constrain(context, island->pattern, island->A, island->mask);

    // Solve for the acceleration.
    SN_TRY(sn_solver_update(island->solver, island->A, NULL));
    memset(island->direction, 0, (size_t)count * sizeof(double));

    sn_newton_def newton = sn_integrate_newton_def(&island->world->def);
    newton.solver_tolerance = 1e-14;

    sn_solve_report solve;
    sn_solver_solve(island->solver, island->residual, island->direction, newton.solver_tolerance,
                    newton.solver_iterations, &solve);
    if (solve.outcome == SN_SOLVE_CANCELLED) {
        return SINEW_CANCELLED;
    }
    sn_newton_take_solve(report, &solve, island->world->def.solver_tolerance);

    // Multipliers take over what the penalties carry, until the links are closed.
    sn_island_expand(island, island->direction);
    sn_links_predict(island, island->direction);
    sn_links_advance(island, 1);

    for (int32_t i = 0; i < count; i++) {
        island->xi[i] += reach * island->direction[i];
    }

    return sn_newton_close_links(island, &newton, reach, limit, report);
}

static void divide_by_lumped_mass(sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        const double *mass = member->body->lumped_mass;
        for (int32_t k = 0, row = 3 * member->first_row; k < sn_body_size(member->body);
             k++, row++) {
            island->direction[row] = island->residual[row] / mass[k];
        }
    }
}

// M a = external + f at the present state, held unknowns at rest: a in island->direction. Hard
// links close within a step of xi = h v + reach a.
static sinew_status solve_acceleration(sn_island *island, double h, double reach,
                                       sinew_step_report *report) {
    double begin = sn_seconds();
    sn_links_begin(island);
    compute_drive(island);
    report->assemble_seconds += sn_seconds() - begin;
    begin = sn_seconds();

    if (is_lumped(island)) {
        divide_by_lumped_mass(island);
    } else {
        SN_TRY(divide_by_mass(island, h, reach, report));
    }

    report->solve_seconds += sn_seconds() - begin;
    return SINEW_OK;
}

// xi = h (v + h a), held unknowns at their targets.
static sinew_status solve_explicit(sn_island *island, double h, sinew_step_report *report) {
    SN_TRY(solve_acceleration(island, h, h * h, report));
    set_free_step(island, h);
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        if (!island->mask[i]) {
            island->xi[i] += h * h * island->direction[i];
        }
    }

    sn_island_expand(island, island->xi);
    report->outcome = SINEW_OUTCOME_CONVERGED;

    return SINEW_OK;
}

// The acceleration that belongs to the present state; after the first step there is one.
static sinew_status start_acceleration(sn_island *island, sinew_step_report *report) {
    if (has_history(island)) {
        return SINEW_OK;
    }

    double h = island->h;
    SN_TRY(solve_acceleration(island, h, 0.5 * h * h, report));
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        memcpy(member->body->acceleration, island->direction + 3 * member->first_row,
               (size_t)sn_body_size(member->body) * sizeof(double));
    }

    return SINEW_OK;
}

// A body that turns fast is not to be linearised where it was, for that would take turning for
// stretching: a step of one body that nothing holds begins where the body as a whole would get to.
static bool turn_first(sn_island *island, double h) {
    const sinew_body *body = island->bodies[0].body;
    return is_free(island) && body->ops->free_motion &&
           body->ops->free_motion->find_rigid_step(body, island->xi, h);
}

// Elastic forces have no torque, but linearised ones do under stress: a turn of the whole body
// takes it away.
static void remove_torque(sn_island *island, sn_scheme scheme) {
    sn_island_body *member = &island->bodies[0];
    sinew_body *body = member->body;
    double *u = island->scratch;
    double *force = island->product;
    double *turn = island->direction;
    double alpha = body->mass_damping;

    for (int32_t i = 0; i < sn_body_size(body); i++) {
        double v = scheme.e * island->xi[i] + island->velocity_offset[i];
        u[i] = scheme.c * (island->xi[i] - island->xi_inertia[i]) + alpha * v;
    }

    sn_body_multiply_mass(body, force, u, body->q);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        force[i] -= island->external[i];
    }

    sn_body_retract(body, member->trial_q, body->q, island->trial_xi); // where they were linearised
    body->ops->free_motion->find_rigid_rotation(body, turn, member->trial_q, force);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        island->xi[i] -= turn[i] / (scheme.c + alpha * scheme.e);
    }
}

static sinew_status solve_free(sn_island *island, const sn_newton_def *newton,
                               sinew_step_report *report) {
    SN_TRY(sn_newton_solve(island, newton, report));
    if (newton->moved && report->outcome == SINEW_OUTCOME_CONVERGED) {
        remove_torque(island, newton->scheme);
    }
    return SINEW_OK;
}

// As long as nothing is near, a step is solved as it would be without contact.
static sinew_status solve_with_contact(sn_island *island, const sn_newton_def *newton,
                                       sinew_step_report *report) {
    bool touching;
    SN_TRY(sn_contact_begin(island, &touching));
    if (touching) {
        return sn_contact_solve(island, newton, false, report);
    }

    SN_TRY(solve_free(island, newton, report));
    bool clear = report->outcome == SINEW_OUTCOME_NOT_FINITE || !sn_integrate_is_finite(island);
    if (!clear) {
        SN_TRY(sn_contact_follow(island, &clear));
    }
    if (clear) {
        return SINEW_OK;
    }

    // Again from where the solve began.
    size_t bytes = (size_t)sn_island_size(island) * sizeof(double);
    if (newton->moved) {
        memcpy(island->xi, island->trial_xi, bytes);
    } else {
        memset(island->xi, 0, bytes);
    }
    return sn_contact_solve(island, newton, true, report);
}

// Held unknowns take their velocity and acceleration from the path that is prescribed, by backward
// differences of second order. The recurrences of integrators without damping (v = 2 xi / h - v)
// would let any mismatch alternate forever, and with rotating masses grow.
static void predict_held(sn_island *island, const sn_island_body *member) {
    const sinew_body *body = member->body;
    const sn_integrator *integrator = island->integrator;
    int32_t first = 3 * member->first_row;
    double h = island->h;
    double *d = island->xi + first;
    bool moved_before = *body->history >= 1;
    bool middle = integrator->span < 1;

    // The displacement of the last step.
    if (moved_before) {
        sn_body_difference(body, d, body->q, body->previous_q);
    }

    for (int32_t k = 0; k < sn_body_size(body); k++) {
        if (island->mask[first + k] != SN_MASK_HELD) {
            continue;
        }

        // (3 xi - d) / 2h is the velocity at the end of the step, to second order; with one step
        // more behind it, so is the acceleration.
        double xi = island->prescribed[first + k];
        double v0 = body->v[k];
        double v = moved_before ? (3 * xi - d[k]) / (2 * h) : xi / h;
        double a = (v - v0) / h;
        if (!middle && *body->history >= 2) {
            a = (3 * v - 4 * v0 + body->previous_v[k]) / (2 * h);
        }

        // What makes a(xi) and v(xi) of the integrator equal to these at the prescribed step.
        double balance_v = middle ? 0.5 * (v + v0) : v;
        double balance_xi = integrator->span * xi;
        island->xi_inertia[first + k] = balance_xi - h * h / integrator->c * a;
        island->velocity_offset[first + k] = balance_v - integrator->e / h * balance_xi;
    }
}

sinew_status sn_integrate_solve(sn_island *island, sinew_step_report *report) {
    const sinew_world_def *def = &island->world->def;
    return sn_integrate_solve_by(island, sn_integrator_get(def->integrator, !has_history(island)),
                                 def->step, report);
}

sinew_status sn_integrate_solve_by(sn_island *island, const sn_integrator *integrator, double h,
                                   sinew_step_report *report) {
    island->integrator = integrator;
    island->h = h;
    island->uses_constant = false;
    SN_TRY(sn_integrate_prepare(island, false));
    sn_integrate_gather(island);

    if (integrator->is_explicit) {
        return solve_explicit(island, h, report);
    }
    if (integrator->starts_with_acceleration) {
        SN_TRY(start_acceleration(island, report));
    }

    // What the step is measured against.
    for (int32_t i = 0; i < island->body_count; i++) {
        sn_step_rows rows = rows_of(island, &island->bodies[i]);
        integrator->predict(island->bodies[i].body, h, &rows);
        if (integrator->alternates) {
            predict_held(island, &island->bodies[i]);
        }
    }
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        island->prescribed[i] *= integrator->span;
    }

    sn_newton_def newton = sn_integrate_newton_def(&island->world->def);
    size_t bytes = (size_t)sn_island_size(island) * sizeof(double);
    memset(island->xi, 0, bytes);
    newton.scheme = scheme_of(island);
    newton.linearised = integrator->linearised;
    newton.moved = newton.linearised && turn_first(island, h);
    memcpy(island->trial_xi, island->xi, bytes); // where a linearised step begins
    return island->contact ? solve_with_contact(island, &newton, report)
                           : solve_free(island, &newton, report);
}

bool sn_integrate_is_finite(const sn_island *island) {
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        // Half the range keeps the squares of positions and velocities in it.
        if (!(fabs(island->xi[i]) < 1e150)) {
            return false;
        }
    }

    return true;
}

sinew_status sn_integrate_check(sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        if (!member->body->ops->motion.check) {
            continue;
        }

        sn_body_retract(member->body, member->trial_q, member->body->q,
                        island->xi + 3 * member->first_row);
        SN_TRY(member->body->ops->motion.check(member->body, member->trial_q));
    }

    return SINEW_OK;
}

// End velocities of a body with free motion, from what the step's acceleration adds to its
// momentum. `mean` is the velocity that carries the momentum while the node moves: forces at the
// end of a step act after its displacement, those at its start before. Implicit Euler
// underestimates the curvature of the nodes' paths, and the angular momentum that this loses would
// make each node spin by itself: nodes move on with the momentum they end with, and the body as a
// whole gets what was lost (restore_rotation).
static void carry_momentum(sinew_body *body, const sn_integrator *integrator, double h,
                           const double *acceleration, const double *from, double *raw) {
    double *mean = body->scratch;
    double share = h / (integrator->span * integrator->c / integrator->e); // dv / da

    for (int32_t i = 0; i < sn_body_size(body); i++) {
        double added = share * acceleration[i];
        if (!body->mask[i]) {
            raw[i] = mean[i] + added;
        }
        if (integrator->mean_share > 0) {
            mean[i] += integrator->mean_share * added;
        }
    }

    body->ops->free_motion->transport_velocity(body, raw, from, mean);
}

void sn_integrate_find_end(sn_island *island, const sn_island_body *member, double *v) {
    const sn_integrator *integrator = island->integrator;
    sinew_body *body = member->body;
    sn_step_rows rows = rows_of(island, member);
    double *xi = island->product + 3 * member->first_row;
    double e = integrator->e / (island->h * integrator->span);
    double w = integrator->is_explicit ? 0 : 1 / integrator->span;
    double start = integrator->is_explicit ? 0 : w - 1;

    for (int32_t k = 0; k < sn_body_size(body); k++) {
        xi[k] = rows.xi[k] / integrator->span;
        v[k] = e * rows.xi[k] + w * rows.w[k] - start * body->v[k];
    }
    sn_body_retract(body, member->trial_q, body->q, xi);
    if (!body->moves_freely) {
        return;
    }

    // As accept_body does, but at the end of the step instead of in the body.
    integrator->begin_momentum(body, island->h, xi);
    double c = integrator->c / (island->h * island->h);
    double *acceleration = integrator->is_explicit ? rows.a : xi;
    if (!integrator->is_explicit) {
        for (int32_t k = 0; k < sn_body_size(body); k++) {
            acceleration[k] = c * (rows.xi[k] - rows.xi_inertia[k]);
        }
    }

    double *q = body->q;
    body->q = member->trial_q;
    carry_momentum(body, integrator, island->h, acceleration, q, v);
    body->q = q;
}

// Elastic forces balance one another where they were evaluated: at the end of the step, or where a
// linearised one began.
static void restore_rotation(sn_island *island, const sn_island_body *member) {
    sinew_body *body = member->body;
    const double *place = body->q;
    if (island->integrator->linearised) {
        sn_body_retract(body, member->trial_q, body->previous_q,
                        island->trial_xi + 3 * member->first_row);
        place = member->trial_q;
    }

    body->ops->free_motion->restore_rotation(body, place, island->h);
}

// The velocity and acceleration that xi means, and the configuration after the step.
static void accept_body(sn_island *island, const sn_island_body *member) {
    const sn_integrator *integrator = island->integrator;
    sinew_body *body = member->body;
    double h = island->h;
    sn_step_rows rows = rows_of(island, member);
    size_t count = (size_t)sn_body_size(body);

    if (body->moves_freely) {
        integrator->begin_momentum(body, h, island->product + 3 * member->first_row);
    }

    // What the step began with, and what it balanced.
    memcpy(body->previous_q, body->q, (size_t)body->config_count * sizeof(double));
    memcpy(body->previous_v, body->v, count * sizeof(double));
    memcpy(body->inertia, island->inertia + 3 * member->first_row, count * sizeof(double));
    sn_body_retract(body, body->balance_q, body->q, rows.xi);

    // What it ends with: where it was balanced, unless that was in the middle.
    integrator->finish(integrator, body, h, &rows);
    if (integrator->span == 1 && !integrator->is_explicit) {
        memcpy(body->q, body->balance_q, (size_t)body->config_count * sizeof(double));
    } else {
        sn_body_retract(body, body->q, body->previous_q, rows.xi);
    }
    const double *arrived = body->q;
    if (island->contact) {
        arrived = sn_contact_take_configuration(island, member);
    }
    if (body->moves_freely) {
        carry_momentum(body, integrator, h, body->acceleration, body->previous_q, body->v);
    }
    if (body->moves_freely && integrator->transports_acceleration) {
        body->ops->free_motion->transport_acceleration(body, body->acceleration, body->previous_q);
    }
    if (body->moves_freely && integrator->loses_rotation && is_free(island)) {
        restore_rotation(island, member);
    }

    // Held coordinates exactly where they were prescribed, not up to rounding; unless contact
    // stopped them.
    if (!body->ops->motion.retract) {
        for (int32_t i = 0; i < body->config_count; i++) {
            if (body->mask[i] && body->q[i] == arrived[i]) {
                body->q[i] = body->target[i];
            }
        }
    }

    *body->history += 1;
    *body->age += h;
    if (body->ops->motion.settle) {
        body->ops->motion.settle(body);
    }

    sn_body_end_recovery(body);
}

static sn_island_body *member_of_row(const sn_island *island, int32_t row) {
    int32_t i = island->body_count - 1;
    while (row < island->bodies[i].first_row) {
        i--;
    }
    return &island->bodies[i];
}

void sn_integrate_settle_ties(sn_island *island) {
    for (int32_t i = 0; i < island->tie_count; i++) {
        const sn_tie *tie = &island->ties[i];
        sn_vec3 x = {0, 0, 0}, v = {0, 0, 0};
        for (int32_t k = 0; k < tie->point.count; k++) {
            const sn_island_body *carrier = member_of_row(island, tie->point.row[k]);
            int32_t row = tie->point.row[k] - carrier->first_row;
            x = sn_madd(x, tie->point.weight[k], sn_load3(carrier->body->q + 3 * row));
            v = sn_madd(v, tie->point.weight[k], sn_load3(carrier->body->v + 3 * row));
        }

        const sn_island_body *tied = member_of_row(island, tie->row);
        sn_store3(tied->body->q + 3 * (tie->row - tied->first_row), x);
        sn_store3(tied->body->v + 3 * (tie->row - tied->first_row), v);
    }
}

void sn_integrate_accept(sn_island *island) {
    if (island->integrator->is_explicit) {
        memset(island->inertia, 0, (size_t)sn_island_size(island) * sizeof(double));
    } else {
        // What forces balance at the accepted step, for the reactions at supports.
        sn_island_compute_inertia(island, scheme_of(island), island->xi);
    }

    sn_links_subtract_tensions(island, island->xi, island->inertia);
    if (island->contact) {
        sn_contact_add_forces(island, -1, island->inertia);
    }
    for (int32_t i = 0; i < island->body_count; i++) {
        accept_body(island, &island->bodies[i]);
    }

    sn_integrate_settle_ties(island);
    sn_ledger_accept(island);
}
