// With xi = q_new - q, h the step, a the last acceleration and d = q - q_previous, every implicit
// scheme is a = c (xi - xi_inertia) and v = e xi + w:
//
//   scheme          c          xi_inertia                       e         w
//   implicit Euler  1/h^2      h v                              1/h       0
//   BDF2            9/(4h^2)   d/3 + 2h/9 (4 v - v_previous)    3/(2h)    -d/(2h)
//   Newmark         4/h^2      h v + h^2/4 a                    2/h       -v
//   midpoint        4/h^2      h/2 v                            2/h       0        (xi is half the
//   step, forces act at its end)
//
// (Newmark 1959 with beta 1/4, gamma 1/2; BDF2 with constant steps, its first step by implicit
// Euler.) The symplectic scheme solves M dv = h f instead. Damping forces use v; stiffness damping
// takes the stiffness at the start of the step.
#include "dynamics/integrate.h"

#include "base/clock.h"
#include "body/load.h"
#include "dynamics/link.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

enum { FOLLOWER_PASSES = 50 };

static bool has_history(const sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        if (*island->bodies[i].body->history < 1) {
            return false;
        }
    }
    return true;
}

// BDF2 starts with a step of implicit Euler.
static sinew_integrator effective_integrator(const sn_island *island) {
    sinew_integrator integrator = island->world->def.integrator;
    return integrator == SINEW_INTEGRATOR_BDF2 && !has_history(island)
               ? SINEW_INTEGRATOR_NEWTON_EULER
               : integrator;
}

// One body that nothing holds.
static bool is_free(const sn_island *island) {
    if (island->body_count > 1 || island->link_count > 0) {
        return false;
    }

    for (int32_t i = 0; i < sn_island_size(island); i++) {
        if (island->mask[i]) {
            return false;
        }
    }

    return true;
}

static sn_scheme scheme_of(sinew_integrator integrator, double h) {
    switch (integrator) {
    case SINEW_INTEGRATOR_BDF2: return (sn_scheme){9 / (4 * h * h), 3 / (2 * h)};
    case SINEW_INTEGRATOR_NEWMARK:
    case SINEW_INTEGRATOR_MIDPOINT: return (sn_scheme){4 / (h * h), 2 / h};
    default: return (sn_scheme){1 / (h * h), 1 / h};
    }
}

// xi_inertia and w of one body.
static void predict(const sn_island *island, const sn_island_body *member,
                    sinew_integrator integrator, double h) {
    const sinew_body *body = member->body;
    double *xi = island->xi_inertia + 3 * member->first_row;
    double *w = island->velocity_offset + 3 * member->first_row;
    double *d = island->scratch + 3 * member->first_row;
    bool bdf2 = integrator == SINEW_INTEGRATOR_BDF2;

    if (bdf2) {
        sn_body_difference(body, d, body->q, body->previous_q);
    }
    if (body->coasts && bdf2) {
        body->ops->coast_bdf2(body, xi, body->scratch, h);
    }
    if (body->coasts && !bdf2) {
        body->ops->coast(body, xi, h);
    }

    for (int32_t i = 0; i < sn_body_size(body); i++) {
        double v = body->v[i];
        if (!body->coasts) {
            xi[i] = bdf2 ? d[i] / 3 + 2 * h / 9 * (4 * v - body->previous_v[i]) : h * v;
        }

        w[i] = 0;
        if (bdf2) {
            w[i] = -d[i] / (2 * h);
        } else if (integrator == SINEW_INTEGRATOR_NEWMARK) {
            xi[i] += 0.25 * h * h * body->acceleration[i];
            w[i] = -v;
        } else if (integrator == SINEW_INTEGRATOR_MIDPOINT) {
            xi[i] *= 0.5;
        }
    }
}

// Held unknowns, their steps, external forces, for the coming step.
static void gather(sn_island *island) {
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

// The solver that is asked for, made when it is not there yet; damping matrices likewise.
static sinew_status prepare(sn_island *island, sn_solver_kind kind) {
    if (!island->solver || island->solver_kind != kind) {
        sn_solver *solver;
        sn_solver_products products = {island->row_set_count, island->row_sets,
                                       sn_island_add_far_product, island};
        SN_TRY(kind == SN_SOLVER_PRODUCTS
                   ? sn_solver_create_products(island->world->context, island->pattern, &products,
                                               &solver)
                   : sn_solver_create(island->world->context, kind, island->pattern, &solver));
        sn_solver_destroy(island->solver);
        island->solver = solver;
        island->solver_kind = kind;
    }

    for (int32_t i = 0; i < island->body_count; i++) {
        sn_island_body *member = &island->bodies[i];
        if (member->body->stiffness_damping > 0 && !member->damping) {
            if (member->near) {
                SN_TRY(member->body->ops->prepare_products(member->body, true, &member->near));
            }
            member->damping = sn_bsr_push_values(&island->arena, member->pattern);
        }
    }

    return sn_arena_status(&island->arena);
}

static sn_newton_def newton_def_of(const sinew_world_def *def) {
    return (sn_newton_def){
        .linearised = def->integrator == SINEW_INTEGRATOR_IMPLICIT_EULER,
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
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        damped = damped || member->body->stiffness_damping > 0;
        memcpy(island->velocity_offset + 3 * member->first_row, member->body->v,
               (size_t)sn_body_size(member->body) * sizeof(double));
    }

    memset(island->xi, 0, (size_t)count * sizeof(double));
    memset(island->xi_inertia, 0, (size_t)count * sizeof(double));
    sn_island_evaluate(island, island->xi, damped ? SN_WANT_PROJECTED_STIFFNESS : SN_WANT_FORCE);
    if (damped) {
        sn_island_keep_damping(island);
    }

    sn_island_compute_inertia_offset(island,
                                     (sn_scheme){.c = 1}); // at xi = 0 only damping is left of it
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

// xi of a step without forces, held unknowns where they are told to be.
static void set_coasting_step(sn_island *island, double h) {
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        const sinew_body *body = member->body;
        double *xi = island->xi + 3 * member->first_row;
        if (body->coasts) {
            body->ops->coast(body, xi, h);
        }

        for (int32_t k = 0; k < sn_body_size(body); k++) {
            if (!body->coasts) {
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
        if (island->bodies[i].body->consistent_mass || island->bodies[i].body->ops->add_mass) {
            return false;
        }
    }
    return island->tie_count == 0 && island->hard_link_count == 0;
}

static void take_solve_report(sinew_step_report *report, const sn_solve_report *solve) {
    report->solver_iterations += solve->iterations;
    report->solver_residual = fmax(report->solver_residual, solve->relative_residual);
}

// M a = residual by the linear solver, with the penalties of hard links, which are to close within
// xi = h v + reach a.
static sinew_status divide_by_mass(sn_island *island, double h, double reach,
                                   sinew_step_report *report) {
    sinew_context *context = island->world->context;
    int32_t count = sn_island_size(island);
    for (int32_t i = 0; i < island->body_count; i++) {
        sn_island_body *member = &island->bodies[i];
        sn_bsr_set_zero(context, member->pattern, member->matrix);
    }

    set_coasting_step(island, h);
    double limit = island->world->def.newton_tolerance * sn_vector_largest(count, island->residual);

    sn_links_compute_gaps(island, island->xi, reach);
    sn_island_assemble(island, (sn_scheme){.c = 1}, SN_WANT_ENERGY);
    sn_links_add_lack(island, island->residual);

    for (int32_t i = 0; i < count; i++) {
        island->residual[i] = island->mask[i] ? 0 : island->residual[i];
    }

    sn_bsr_constrain(context, island->pattern, island->A, island->mask);
    SN_TRY(sn_solver_update(island->solver, island->A, NULL));
    memset(island->direction, 0, (size_t)count * sizeof(double));

    sn_newton_def newton = newton_def_of(&island->world->def);
    newton.solver_tolerance = 1e-14;

    sn_solve_report solve;
    sn_solver_solve(island->solver, island->residual, island->direction, newton.solver_tolerance,
                    newton.solver_iterations, &solve);
    take_solve_report(report, &solve);
    sn_island_expand(island, island->direction);
    sn_links_predict(island, island->direction);
    sn_links_advance(island, 1);

    for (int32_t i = 0; i < count; i++) {
        island->xi[i] += reach * island->direction[i];
    }

    sn_newton_close_links(island, &newton, reach, limit, report);
    return SINEW_OK;
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

// xi = h (v + h a), held unknowns where they are told to be.
static sinew_status solve_symplectic(sn_island *island, double h, sinew_step_report *report) {
    SN_TRY(solve_acceleration(island, h, h * h, report));
    set_coasting_step(island, h);
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        if (!island->mask[i]) {
            island->xi[i] += h * h * island->direction[i];
        }
    }

    sn_island_expand(island, island->xi);
    report->outcome = SINEW_OUTCOME_CONVERGED;

    return SINEW_OK;
}

// Newmark needs the acceleration that belongs to the present state; after the first step it has
// one.
static sinew_status start_newmark(sn_island *island, sinew_step_report *report) {
    if (has_history(island)) {
        return SINEW_OK;
    }

    double h = island->world->def.step;
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
    return is_free(island) && body->ops->find_rigid_step &&
           body->ops->find_rigid_step(body, island->xi, h);
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
    body->ops->find_rigid_turn(body, turn, member->trial_q, force);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        island->xi[i] -= turn[i] / (scheme.c + alpha * scheme.e);
    }
}

sinew_status sn_integrate_solve(sn_island *island, sinew_step_report *report) {
    const sinew_world_def *world = &island->world->def;
    sinew_integrator integrator = effective_integrator(island);

    SN_TRY(prepare(island, linear_solver_of(island, false)));
    gather(island);
    if (integrator == SINEW_INTEGRATOR_SYMPLECTIC_EULER) {
        return solve_symplectic(island, world->step, report);
    }
    if (integrator == SINEW_INTEGRATOR_NEWMARK) {
        SN_TRY(start_newmark(island, report));
    }

    for (int32_t i = 0; i < island->body_count; i++) {
        predict(island, &island->bodies[i], integrator, world->step);
    }

    if (integrator == SINEW_INTEGRATOR_MIDPOINT) {
        for (int32_t i = 0; i < sn_island_size(island); i++) {
            island->prescribed[i] *= 0.5;
        }
    }

    memset(island->xi, 0, (size_t)sn_island_size(island) * sizeof(double));
    sn_newton_def newton = newton_def_of(world);

    newton.scheme = scheme_of(integrator, world->step);
    newton.moved = newton.linearised && turn_first(island, world->step);
    memcpy(island->trial_xi, island->xi,
           (size_t)sn_island_size(island) * sizeof(double)); // where a linearised step begins
    SN_TRY(sn_newton_solve(island, &newton, report));

    if (newton.moved && report->outcome == SINEW_OUTCOME_CONVERGED) {
        remove_torque(island, newton.scheme);
    }

    return SINEW_OK;
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
        if (!member->body->ops->check) {
            continue;
        }

        sn_body_retract(member->body, member->trial_q, member->body->q,
                        island->xi + 3 * member->first_row);
        SN_TRY(member->body->ops->check(member->body, member->trial_q));
    }

    return SINEW_OK;
}

// Before the step is accepted: the velocities at its start, in body->scratch, to which its own
// acceleration has yet to be added.
static void begin_momentum(sinew_body *body, double *room, sinew_integrator integrator, double h) {
    if (integrator == SINEW_INTEGRATOR_BDF2) {
        body->ops->coast_bdf2(body, room, body->scratch, h);
        return;
    }

    bool newmark = integrator == SINEW_INTEGRATOR_NEWMARK;
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        body->scratch[i] = body->v[i] + (newmark ? 0.5 * h * body->acceleration[i] : 0);
    }
}

// End velocities of a body that coasts, by what the step's acceleration adds to its momentum.
// `mean` is where the momentum is while the node moves on: forces at the end of a step come after
// its way, those at its start before. Implicit Euler bends the ways of nodes too little, and what
// angular momentum that costs would make them spin, each by itself: it lets them move on with the
// momentum they end with, and gives what is lost to the body as a whole (restore_turn).
static void carry_momentum(sinew_body *body, sinew_integrator integrator, double h) {
    double *raw = body->v;
    double *mean = body->scratch;
    double share = h;
    bool newmark = integrator == SINEW_INTEGRATOR_NEWMARK;
    bool bdf2 = integrator == SINEW_INTEGRATOR_BDF2;

    if (newmark) {
        share = 0.5 * h;
    }
    if (bdf2) {
        share = 2 * h / 3;
    }

    for (int32_t i = 0; i < sn_body_size(body); i++) {
        double added = share * body->acceleration[i];
        if (!body->mask[i]) {
            raw[i] = mean[i] + added;
        }
        if (!newmark && !bdf2) {
            mean[i] += integrator == SINEW_INTEGRATOR_MIDPOINT ? 0.5 * added : added;
        }
    }

    body->ops->transport(body, raw, body->previous_q, mean);
    if (newmark) {
        body->ops->transport_acceleration(body, body->acceleration, body->previous_q);
    }
}

// Elastic forces balance one another where they were evaluated: at the end of the step, or where a
// linearised one began.
static void restore_turn(sn_island *island, const sn_island_body *member,
                         sinew_integrator integrator, double h) {
    sinew_body *body = member->body;
    const double *place = body->q;
    if (integrator == SINEW_INTEGRATOR_IMPLICIT_EULER) {
        sn_body_retract(body, member->trial_q, body->previous_q,
                        island->trial_xi + 3 * member->first_row);
        place = member->trial_q;
    }

    body->ops->restore_turn(body, place, h);
}

// The velocity and acceleration that xi means, and the configuration after the step.
static void accept_body(sn_island *island, const sn_island_body *member,
                        sinew_integrator integrator, double h) {
    sinew_body *body = member->body;
    sn_scheme scheme = scheme_of(integrator, h);
    double *xi = island->xi + 3 * member->first_row;
    const double *w = island->velocity_offset + 3 * member->first_row;
    const double *xi_inertia = island->xi_inertia + 3 * member->first_row;
    size_t count = (size_t)sn_body_size(body);

    if (body->coasts) {
        begin_momentum(body, island->product + 3 * member->first_row, integrator, h);
    }

    memcpy(body->previous_q, body->q, (size_t)body->config_count * sizeof(double));
    memcpy(body->previous_v, body->v, count * sizeof(double));
    memcpy(body->inertia, island->inertia + 3 * member->first_row, count * sizeof(double));
    sn_body_retract(body, body->balance_q, body->q, xi);

    for (size_t i = 0; i < count; i++) {
        if (integrator == SINEW_INTEGRATOR_SYMPLECTIC_EULER) {
            body->v[i] = xi[i] / h;
            if (body->coasts) {
                body->acceleration[i] = island->direction[3 * member->first_row + (int32_t)i];
            }
            continue;
        }

        body->acceleration[i] = scheme.c * (xi[i] - xi_inertia[i]);
        body->v[i] = scheme.e * xi[i] + w[i];
        if (integrator == SINEW_INTEGRATOR_MIDPOINT) {
            body->v[i] = 2 * body->v[i] - body->previous_v[i];
            xi[i] *= 2;
        }
    }

    sn_body_retract(body, body->q, body->previous_q, xi);
    if (body->coasts) {
        carry_momentum(body, integrator, h);
    }

    bool euler = integrator == SINEW_INTEGRATOR_IMPLICIT_EULER ||
                 integrator == SINEW_INTEGRATOR_NEWTON_EULER;
    if (body->coasts && euler && is_free(island) && body->ops->restore_turn) {
        restore_turn(island, member, integrator, h);
    }

    for (int32_t i = 0; i < body->config_count && !body->ops->retract; i++) {
        if (body->mask[i]) {
            body->q[i] = body->target[i]; // exactly, not up to rounding
        }
    }

    *body->history += 1;
    *body->age += h;
    if (body->ops->settle) {
        body->ops->settle(body);
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

// Puts tied nodes exactly where their points are, so that rounding does not add up.
static void settle_ties(sn_island *island) {
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
    const sinew_world_def *def = &island->world->def;
    sinew_integrator integrator = effective_integrator(island);
    if (integrator == SINEW_INTEGRATOR_SYMPLECTIC_EULER) {
        memset(island->inertia, 0, (size_t)sn_island_size(island) * sizeof(double));
    } else {
        // What forces balance at the accepted step, for the reactions at supports.
        sn_island_compute_inertia(island, scheme_of(integrator, def->step), island->xi);
    }

    sn_links_subtract_tensions(island, island->xi, island->inertia);
    for (int32_t i = 0; i < island->body_count; i++) {
        accept_body(island, &island->bodies[i], integrator, def->step);
    }

    settle_ties(island);
}

static sinew_status check_held(const sn_island *island) {
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        if (island->mask[i] == SN_MASK_HELD) {
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

static void accept_static(sn_island *island) {
    sn_links_subtract_tensions(island, island->xi, island->inertia);
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        sinew_body *body = member->body;
        size_t count = (size_t)sn_body_size(body);

        memcpy(body->previous_q, body->q, (size_t)body->config_count * sizeof(double));
        sn_body_retract(body, body->q, body->previous_q, island->xi + 3 * member->first_row);
        memcpy(body->balance_q, body->q, (size_t)body->config_count * sizeof(double));
        memset(body->v, 0, count * sizeof(double));
        memset(body->acceleration, 0, count * sizeof(double));
        memcpy(body->inertia, island->inertia + 3 * member->first_row, count * sizeof(double));
        *body->history = 0;

        if (body->ops->settle) {
            body->ops->settle(body);
        }
    }

    settle_ties(island);
}

// Raises loads and prescribed steps in equal parts, solving after each. External forces stay as
// they were gathered.
static sinew_status solve_parts(sn_island *island, const sn_newton_def *newton, int32_t parts,
                                sinew_step_report *report) {
    size_t bytes = (size_t)sn_island_size(island) * sizeof(double);
    memset(island->xi, 0, bytes);
    memset(island->inertia, 0, bytes);

    double *full = island->xi_inertia;
    double *full_step = island->velocity_offset; // unused without inertia

    memcpy(full, island->external, bytes);
    memcpy(full_step, island->prescribed, bytes);
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

static bool has_followers(const sn_island *island) {
    for (int32_t i = 0; i < island->body_count; i++) {
        if (sn_loads_follow(island->bodies[i].body)) {
            return true;
        }
    }
    return false;
}

// Whether a body was led back from an inverted state; from now on its materials act.
static bool end_recovery(const sn_island *island) {
    bool any = false;
    for (int32_t i = 0; i < island->body_count; i++) {
        any = any || *island->bodies[i].body->recovery > 0;
        *island->bodies[i].body->recovery = 0;
    }
    return any;
}

sinew_status sn_integrate_static(sn_island *island, const sinew_static_def *def,
                                 sinew_step_report *report) {
    const sinew_world_def *world = &island->world->def;
    SN_TRY(prepare(island, linear_solver_of(island, true)));
    for (int32_t i = 0; i < island->body_count; i++) {
        *island->bodies[i].body->age = INFINITY; // what fades in time is gone
    }

    sn_newton_def newton = newton_def_of(world);
    newton.linearised = false;
    newton.tolerance = def->newton_tolerance;
    newton.iterations = def->newton_iterations;
    newton.solver_tolerance = fmin(world->solver_tolerance, 1e-8);

    // Pressure is taken at the positions of the last pass, until it changes the balance no more.
    for (int pass = 0; pass < FOLLOWER_PASSES; pass++) {
        gather(island);
        if (pass == 0) {
            SN_TRY(check_held(island));
        }

        int32_t before = report->newton_iterations;
        SN_TRY(solve_parts(island, &newton, pass ? 1 : def->load_steps, report));
        if (report->outcome == SINEW_OUTCOME_NOT_FINITE || !sn_integrate_is_finite(island)) {
            report->outcome = SINEW_OUTCOME_NOT_FINITE;
            return SINEW_OK;
        }

        SN_TRY(sn_integrate_check(island));
        accept_static(island);
        if (end_recovery(island)) {
            continue;
        }
        if (!has_followers(island) || report->newton_iterations == before) {
            return SINEW_OK;
        }
    }

    report->outcome = SINEW_OUTCOME_ITERATION_LIMIT;
    return SINEW_OK;
}
