// Newton's method for a step of an island (newton.h): evaluation, the direction with contact and
// links, the line search, and the decision when to stop.
//
// Iterations of a step that balances inertia go downhill on phi. Static solves may climb for a few
// full steps, because the energy of a nearly incompressible bend rises before it falls.
#include "dynamics/newton.h"

#include "base/clock.h"
#include "dynamics/constant.h"
#include "dynamics/contact_touch.h"
#include "dynamics/link.h"
#include "dynamics/momentum.h"
#include "linalg/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MAX_CLIMB = 5, MAX_CUTS = 40, MAX_SHIFTS = 10, MAX_PASSES = 20, MAX_REVISIONS = 8 };

// What one point of the search knows.
typedef struct search_point {
    double potential; // phi
    double energy;    // its elastic part [J]
    double residual,
        scale;    // largest free residual, and largest force that takes part in the balance [N]
    double floor; // what rounding of the positions makes of forces [N]; known with the stiffness
    double energy_floor; // ... and of the potential [J]
} search_point;

// Positions are known up to rounding, and forces up to that times the stiffness: below this a
// residual means nothing. So are the strains whose energies add up to the potential.
static void find_floors(const sn_island *island, search_point *point) {
    double stiffness = 0, position = 0;
    for (int32_t i = 0; i < island->body_count; i++) {
        const sn_island_body *member = &island->bodies[i];
        const sn_bsr *pattern = member->pattern;
        for (int32_t row = 0; row < pattern->rows; row++) {
            const double *block = member->matrix + 9 * (size_t)pattern->diagonal[row];
            stiffness = fmax(stiffness, block[0] + block[4] + block[8]);
        }

        for (int32_t k = 0; k < member->body->config_count; k++) {
            position = fmax(position, fabs(member->trial_q[k]));
        }
    }

    stiffness = fmax(stiffness, sn_links_largest_stiffness(island));
    if (island->contact) {
        stiffness = fmax(stiffness, sn_contact_largest_stiffness(island));
    }
    point->floor = 8 * DBL_EPSILON * stiffness * position;
    point->energy_floor = point->floor * position;
}

// What inertia and external forces add to phi at xi; island->inertia too. The stiffness where a
// step begins becomes the damping of the whole step; mostly that is at xi = 0.
static double compute_load_potential(sn_island *island, const sn_newton_def *def, const double *xi,
                                     bool begins) {
    int32_t count = sn_island_size(island);
    if (begins) {
        if (island->uses_constant) {
            sn_constant_keep_axes(island);
        } else {
            sn_island_keep_damping(island);
        }
        sn_island_compute_inertia_offset(island, def->scheme);
    }

    if (begins && !def->moved) {
        memcpy(island->inertia, island->inertia_offset, (size_t)count * sizeof(double));
        return 0;
    }

    double inertia = sn_island_compute_inertia(island, def->scheme, xi);
    return inertia - sn_vector_dot(island->world->context, count, xi, island->external);
}

// The residual of the free unknowns, from forces that are known.
static void compute_residual(sn_island *island, search_point *point) {
    int32_t count = sn_island_size(island);
    for (int32_t i = 0; i < count; i++) {
        island->residual[i] = island->external[i] + island->force[i] - island->inertia[i];
    }

    sn_island_reduce(island, island->residual);
    for (int32_t i = 0; i < count; i++) {
        island->residual[i] = island->mask[i] ? 0 : island->residual[i];
    }

    point->residual = sn_vector_largest(count, island->residual);
    point->scale = fmax(
        sn_vector_largest(count, island->external),
        fmax(sn_vector_largest(count, island->force), sn_vector_largest(count, island->inertia)));

    if (!island->has_energy) {
        point->potential = point->residual;
    }
}

// phi, residual and their sizes at xi; the bodies' matrices too if wanted.
static search_point evaluate(sn_island *island, const sn_newton_def *def, const double *xi,
                             bool begins, sn_island_want want, sinew_step_report *report) {
    double begin = sn_seconds();
    double energy = sn_island_evaluate(island, xi, want);
    search_point point = {.potential = energy, .energy = energy};
    if (island->contact) {
        point.potential += sn_contact_evaluate(island, island->force);
    }

    point.potential += compute_load_potential(island, def, xi, begins);
    compute_residual(island, &point);

    if (want >= SN_WANT_EXACT_STIFFNESS) {
        find_floors(island, &point);
    }

    report->assemble_seconds += sn_seconds() - begin;
    return point;
}

// What is left of the prescribed step, on held unknowns; returns whether there is any.
static bool compute_remaining(const sn_island *island, double *remaining) {
    bool any = false;
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        remaining[i] = island->mask[i] == SN_MASK_HELD ? island->prescribed[i] - island->xi[i] : 0;
        any = any || remaining[i] != 0;
    }
    return any;
}

void sn_newton_take_solve(sinew_step_report *report, const sn_solve_report *solve,
                          double tolerance) {
    report->solver_iterations += solve->iterations;
    if (!(solve->relative_residual <= report->solver_residual)) {
        report->solver_residual = solve->relative_residual;
    }

    bool converged =
        solve->outcome == SN_SOLVE_CONVERGED ||
        (solve->outcome == SN_SOLVE_NOT_CONVERGED && solve->relative_residual <= tolerance);
    report->solver_converged = report->solver_converged && converged;
}

// Adds s to the free part of the diagonal.
static void shift_diagonal(sn_island *island, double s) {
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        if (!island->mask[i]) {
            island->A[9 * (size_t)island->pattern->diagonal[i / 3] + 4 * (size_t)(i % 3)] += s;
        }
    }
}

static double mean_diagonal(const sn_island *island) {
    double sum = 0;
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        sum += fabs(island->A[9 * (size_t)island->pattern->diagonal[i / 3] + 4 * (size_t)(i % 3)]);
    }
    return sum / sn_island_size(island);
}

// The right-hand side for held unknowns that move by what is in `direction`, and the constrained
// matrix.
static void constrain(sn_island *island, bool moving) {
    sinew_context *context = island->world->context;
    double *rhs = island->scratch;
    double *direction = island->direction;
    int32_t count = sn_island_size(island);

    memcpy(rhs, island->residual, (size_t)count * sizeof *rhs);
    if (moving) {
        sn_bsr_multiply_masked(context, island->pattern, island->product, island->A, direction,
                               island->mask);
        sn_island_add_held_product(island, island->product, direction);
        for (int32_t i = 0; i < count; i++) {
            rhs[i] = island->mask[i] ? direction[i] : rhs[i] - island->product[i];
        }
    }

    sn_bsr_constrain(context, island->pattern, island->A, island->mask);
}

// The relative residual at which a linear solve ends. Penalties of hard links make the right-hand
// side so much larger than the forces that move the bodies that a solve could end before it has
// found their motion.
static double get_solver_tolerance(const sn_island *island, const sn_newton_def *def) {
    double ratio = island->hard_link_count > 0 ? SN_LINK_PENALTY_RATIO : 1;
    return def->solver_tolerance / ratio;
}

// Solves A direction = residual with held unknowns moving by their remaining step. A matrix that is
// not positive definite (a flattened element has no stiffness across) gets a growing shift, up to
// `shifts` times; the direction is then shorter, but still downhill. *usable says whether there is
// a direction.
static sinew_status solve_direction(sn_island *island, const sn_newton_def *def, bool moving,
                                    int shifts, bool *usable, sinew_step_report *report) {
    double begin = sn_seconds();
    double shift = 0;

    constrain(island, moving);
    for (int attempt = 0;; attempt++) {
        // Held unknowns of the direction keep their remaining step; the others start from zero.
        SN_TRY(sn_solver_update(island->solver, island->A, island->positions));
        for (int32_t i = 0; i < sn_island_size(island); i++) {
            if (!island->mask[i]) {
                island->direction[i] = 0;
            }
        }

        sn_solve_report solve;
        sn_solver_solve(island->solver, island->scratch, island->direction,
                        get_solver_tolerance(island, def), def->solver_iterations, &solve);

        // A direction that is only inaccurate is still usable.
        if (solve.outcome == SN_SOLVE_CANCELLED) {
            return SINEW_CANCELLED;
        }
        *usable = solve.outcome == SN_SOLVE_CONVERGED || solve.outcome == SN_SOLVE_NOT_CONVERGED;

        if (*usable || solve.outcome == SN_SOLVE_NOT_FINITE || attempt == shifts) {
            if (*usable || shifts > 0) {
                sn_newton_take_solve(report, &solve, def->solver_tolerance);
            }
            break;
        }

        // Shift the diagonal, by a little at first, then ten times as much in total.
        report->solver_iterations += solve.iterations;
        double added = attempt ? 9 * shift : 1e-8 * mean_diagonal(island);

        shift_diagonal(island, added);
        shift += added;
    }

    sn_island_expand(island, island->direction);
    if (*usable && def->scheme.c > 0) {
        sn_momentum_restore(island, def->scheme, sn_solver_is_direct(island->solver),
                            def->linearised);
    }
    report->solve_seconds += sn_seconds() - begin;

    return SINEW_OK;
}

static void move(sn_island *island, double *out, double t) {
    for (int32_t i = 0; i < sn_island_size(island); i++) {
        out[i] = island->xi[i] + t * island->direction[i];
    }
}

typedef enum search_outcome { SEARCH_FOUND, SEARCH_FAILED, SEARCH_AT_ROUNDING } search_outcome;

// Halves the step until phi falls by a fair part of what its slope promises. Leaves the step that
// was found in trial_xi, and how much of the direction it is.
static search_outcome search_line(sn_island *island, const sn_newton_def *def,
                                  const search_point *start, double *share,
                                  sinew_step_report *report) {
    double slope = sn_vector_dot(island->world->context, sn_island_size(island), island->residual,
                                 island->direction);

    // Once the promise is below what phi resolves, comparing potentials is comparing rounding
    // errors.
    bool at_rounding = island->has_energy && fabs(slope) <= start->energy_floor;
    bool trust = at_rounding || fabs(slope) <= 1e-11 * fabs(start->potential);

    // The floor goes by the stiffest place, and may hide what weak contact forces do elsewhere.
    bool far_from_balance = island->contact && start->residual > 1000 * start->floor;

    // Where rows turn, forces at xi are not quite the gradient of phi by xi: a residual that halves
    // is as good a sign.
    bool turning = !island->positions;
    double t = 1;

    for (int cut = 0; cut < MAX_CUTS; cut++, t *= 0.5) {
        move(island, island->trial_xi, t);
        *share = t;

        search_point trial = evaluate(island, def, island->trial_xi, false, SN_WANT_FORCE, report);
        double promised = island->has_energy ? 1e-4 * t * slope : 1e-4 * t * start->potential;
        bool falls = trial.potential <= start->potential - promised;
        bool halved =
            turning && isfinite(trial.potential) && trial.residual <= 0.5 * start->residual;

        if (falls || halved ||
            (trust && isfinite(trial.potential) && trial.residual <= start->residual)) {
            return SEARCH_FOUND;
        }

        if (at_rounding && !far_from_balance) {
            return SEARCH_AT_ROUNDING;
        }

        report->line_search_cuts++;
    }

    return SEARCH_FAILED;
}

// Whether the whole step lowers the potential by a fair part of what its slope promises. It is in
// trial_xi.
static bool falls_at_once(sn_island *island, const sn_newton_def *def, const search_point *start,
                          sinew_step_report *report) {
    double slope = sn_vector_dot(island->world->context, sn_island_size(island), island->residual,
                                 island->direction);
    if (fabs(slope) <= fmax(start->energy_floor, 1e-11 * fabs(start->potential))) {
        return true; // at rounding, which the search knows about
    }

    move(island, island->trial_xi, 1);
    search_point trial = evaluate(island, def, island->trial_xi, false, SN_WANT_FORCE, report);
    return trial.potential <= start->potential - 1e-4 * slope;
}

// Solves for the direction with contact. Where the linear system is small, touches that the
// solution lets go or calls for change it, and it is solved again: the cheap way to a set that
// fits.
static sinew_status solve_touching(sn_island *island, const sn_newton_def *def, bool moving,
                                   int shifts, bool *usable, search_point *point,
                                   sinew_step_report *report) {
    sn_contact_add_matrix(island);
    bool revises = def->linearised && sn_contact_keep_matrix(island);
    for (int pass = 0;; pass++) {
        SN_TRY(solve_direction(island, def, moving, shifts, usable, report));
        if (!revises || !*usable || pass == MAX_REVISIONS ||
            !sn_contact_revise(island, island->direction)) {
            return SINEW_OK;
        }

        compute_remaining(island, island->direction);
        compute_residual(island, point);
    }
}

static sinew_status assemble_and_solve(sn_island *island, const sn_newton_def *def,
                                       sn_island_want want, bool moving, int shifts, bool *usable,
                                       search_point *point, sinew_step_report *report) {
    double begin = sn_seconds();
    bool added = sn_island_assemble(island, def->scheme, want);
    if (added) {
        point->potential += sn_links_add_forces(island, true, island->force);
    }
    if (island->contact) {
        double potential;
        added = sn_contact_choose_penalties(island, &potential) || added;
        point->potential += potential;
    }
    if (added) {
        compute_residual(island, point);
        find_floors(island, point);
    }

    report->assemble_seconds += sn_seconds() - begin;
    return island->contact ? solve_touching(island, def, moving, shifts, usable, point, report)
                           : solve_direction(island, def, moving, shifts, usable, report);
}

// Newton's direction. A direct solver finds out whether the true stiffness is positive definite,
// and then it is the best there is; otherwise the projected one, which always leads downhill.
static sinew_status find_direction(sn_island *island, const sn_newton_def *def, bool exact,
                                   bool moving, search_point *point, sinew_step_report *report) {
    bool usable = false;
    if (exact) {
        SN_TRY(assemble_and_solve(island, def, SN_WANT_EXACT_STIFFNESS, moving, 0, &usable, point,
                                  report));
        if (usable) {
            return SINEW_OK;
        }

        evaluate(island, def, island->xi, false, SN_WANT_PROJECTED_STIFFNESS, report);
        compute_remaining(island, island->direction);
    }

    return assemble_and_solve(island, def, SN_WANT_PROJECTED_STIFFNESS, moving, MAX_SHIFTS, &usable,
                              point, report);
}

sinew_status sn_newton_close_links(sn_island *island, const sn_newton_def *def, double reach,
                                   double limit, sinew_step_report *report) {
    int32_t count = sn_island_size(island);
    double *rhs = island->scratch;
    double *more = island->product;
    if (island->hard_link_count == 0) {
        return SINEW_OK;
    }

    for (int pass = 0; pass < MAX_PASSES; pass++) {
        sn_links_compute_gaps(island, island->xi, reach);
        if (!(sn_links_largest_residual(island) > limit)) {
            return SINEW_OK;
        }

        // The forces that would close the remaining gaps.
        memset(rhs, 0, (size_t)count * sizeof *rhs);
        memset(more, 0, (size_t)count * sizeof *more);
        sn_links_add_residual(island, rhs);

        for (int32_t i = 0; i < count; i++) {
            rhs[i] = island->mask[i] ? 0 : rhs[i];
        }

        // Solve for the correction with the same matrix.
        sn_solve_report solve;
        sn_solver_solve(island->solver, rhs, more, get_solver_tolerance(island, def),
                        def->solver_iterations, &solve);
        report->solver_iterations += solve.iterations;

        if (solve.outcome == SN_SOLVE_CANCELLED) {
            return SINEW_CANCELLED;
        }
        if (solve.outcome != SN_SOLVE_CONVERGED && solve.outcome != SN_SOLVE_NOT_CONVERGED) {
            return SINEW_OK;
        }

        // Multipliers take over what the penalties carried.
        sn_island_expand(island, more);
        sn_links_predict(island, more);
        sn_links_advance(island, 1);

        for (int32_t i = 0; i < count; i++) {
            island->direction[i] += more[i];
            island->xi[i] += reach * more[i];
        }
    }

    return SINEW_OK;
}

// A full step along a curved valley, such as that of a rotation that keeps the volume of a nearly
// incompressible solid, climbs its walls: the potential rises although the step is good, and
// halving it would creep along the floor. A static solve may therefore take a few full steps
// uphill, and goes back to where they began if they do not lead below it (the watchdog of
// Chamberlain et al. 1982).
typedef struct watchdog {
    int steps;    // taken uphill; 0: none
    bool barred;  // they led nowhere: no more of them in this solve
    double reach; // of the first of them
    search_point start;
} watchdog;

static bool may_climb(const sn_island *island, const sn_newton_def *def, const watchdog *dog) {
    return def->scheme.c == 0 && island->has_energy && island->hard_link_count == 0 && !dog->barred;
}

// Whether the steps uphill have ended well, or go on; if not, xi is where they began. They end
// badly if they leave the surroundings that the first of them reached.
static bool judge_climb(sn_island *island, const search_point *point, watchdog *dog) {
    int32_t count = sn_island_size(island);
    const double *start = island->inertia_offset;
    if (dog->steps == 0) {
        return true;
    }

    double moved = 0;
    for (int32_t i = 0; i < count; i++) {
        moved = fmax(moved, fabs(island->xi[i] - start[i]));
    }

    bool within = moved <= 2 * dog->reach;
    if (within && point->potential <= dog->start.potential) {
        dog->steps = 0;
        return true;
    }
    if (within && dog->steps < MAX_CLIMB && isfinite(point->residual)) {
        return true;
    }

    memcpy(island->xi, start, (size_t)count * sizeof(double));
    *dog = (watchdog){.barred = true};
    return false;
}

// One iteration; the watchdog is that of the whole solve.
static sinew_status iterate(sn_island *island, const sn_newton_def *def, int32_t iteration,
                            watchdog *dog, double *moved, bool *done, sinew_step_report *report) {
    size_t bytes = (size_t)sn_island_size(island) * sizeof(double);
    bool exact = !def->linearised && sn_solver_is_direct(island->solver);
    *moved = 0;
    *done = true;

    // The damping matrix of the step is the first one, and must be positive semi-definite.
    bool exact_now = exact && (iteration > 0 || def->scheme.e == 0);
    sn_island_want want = exact_now ? SN_WANT_EXACT_STIFFNESS : SN_WANT_PROJECTED_STIFFNESS;
    SN_TRY(sn_constant_begin(island, def, &island->uses_constant));
    if (island->uses_constant) {
        want = SN_WANT_FORCE;
    }
    bool begins = iteration == 0 && def->scheme.c > 0; // statics may begin elsewhere
    search_point point = evaluate(island, def, island->xi, begins, want, report);
    if (!judge_climb(island, &point, dog)) {
        point = evaluate(island, def, island->xi, begins, want, report);
    }

    if (iteration == 0) {
        island->energy_before = point.energy;
    }
    island->energy_after = point.energy;

    report->newton_residual = point.scale > 0 ? point.residual / point.scale : 0;
    bool moving = compute_remaining(island, island->direction);
    if (!isfinite(point.residual)) {
        report->outcome = SINEW_OUTCOME_NOT_FINITE;
        return SINEW_OK;
    }

    double limit = fmax(def->tolerance * point.scale, point.floor);
    bool open = island->contact && sn_contact_is_open(island);
    bool balanced = !moving && !open && point.residual <= limit;
    if (balanced && dog->steps == 0 && sn_links_largest_residual(island) <= limit) {
        report->outcome = SINEW_OUTCOME_CONVERGED;
        return SINEW_OK;
    }

    if (iteration == def->iterations) {
        if (dog->steps > 0) {
            memcpy(island->xi, island->inertia_offset, bytes);
        }
        report->outcome = SINEW_OUTCOME_ITERATION_LIMIT;
        return SINEW_OK;
    }

    const char *what = def->scheme.c > 0 ? "taking a step" : "solving for equilibrium";
    SN_TRY(sn_report_progress(island->world->context, what, -1));
    report->newton_iterations++;
    if (island->uses_constant) {
        SN_TRY(sn_constant_solve(island, def, moving, report));
    } else {
        SN_TRY(find_direction(island, def, exact_now, moving, &point, report));
    }
    sn_links_predict(island, island->direction);

    if (def->linearised) {
        move(island, island->xi, 1);
        sn_links_advance(island, 1);
        SN_TRY(sn_newton_close_links(island, def, 1,
                                     fmax(def->tolerance * point.scale, point.floor), report));
        *moved = sn_vector_largest(sn_island_size(island), island->direction);
        report->outcome = SINEW_OUTCOME_CONVERGED;
        return SINEW_OK;
    }

    double share = 1;
    if (dog->steps > 0) {
        move(island, island->trial_xi, 1);
        dog->steps++;

    } else if (!moving && may_climb(island, def, dog) &&
               !falls_at_once(island, def, &point, report)) {
        memcpy(island->inertia_offset, island->xi, bytes);
        double reach = sn_vector_largest(sn_island_size(island), island->direction);
        *dog = (watchdog){.steps = 1, .reach = reach, .start = point};

    } else if (moving) { // the supports do work on the body, so phi may rise: take the step as it
                         // is
        move(island, island->trial_xi, 1);

    } else {
        search_outcome found = search_line(island, def, &point, &share, report);
        if (found != SEARCH_FOUND) {
            report->outcome =
                found == SEARCH_AT_ROUNDING ? SINEW_OUTCOME_CONVERGED : SINEW_OUTCOME_STALLED;
            return SINEW_OK;
        }
    }

    memcpy(island->xi, island->trial_xi, bytes);
    sn_links_advance(island, share);
    *moved = share * sn_vector_largest(sn_island_size(island), island->direction);
    *done = false;
    return SINEW_OK;
}

void sn_newton_begin(sn_island *island) {
    sn_links_begin(island);
}

sinew_status sn_newton_iterate(sn_island *island, const sn_newton_def *def, int32_t iteration,
                               double *moved, bool *done, sinew_step_report *report) {
    watchdog dog = {.barred = true};
    return iterate(island, def, iteration, &dog, moved, done, report);
}

sinew_status sn_newton_solve(sn_island *island, const sn_newton_def *def,
                             sinew_step_report *report) {
    watchdog dog = {.steps = 0};
    bool done = false;
    double moved;
    sn_newton_begin(island);
    for (int32_t iteration = 0; !done; iteration++) {
        SN_TRY(iterate(island, def, iteration, &dog, &moved, &done, report));
    }
    return SINEW_OK;
}
