// Vibration modes: checks the input, factors the shifted matrix, runs the Lanczos iteration
// (modes_lanczos.c) and reports frequencies, shapes and residuals; see modes.h.
#include "linalg/modes.h"

#include "linalg/modes_problem.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

static bool is_masked(const sn_modes_def *def, int32_t k) {
    return def->mask && def->mask[k];
}

static sinew_status check(sinew_context *context, const sn_modes_def *def,
                          sn_modes_problem *problem) {
    SN_ASSERT(def->pattern && def->stiffness && (!def->lumped_mass != !def->consistent_mass));
    problem->n = sn_bsr_size(def->pattern);
    for (int32_t k = 0; k < problem->n; k++) {
        if (is_masked(def, k)) {
            continue;
        }

        // The mass of every free unknown must be positive.
        problem->free++;
        int32_t node = k / 3;
        double mass = def->lumped_mass
                          ? def->lumped_mass[k]
                          : def->consistent_mass[9 * (size_t)def->pattern->diagonal[node] +
                                                 (size_t)(4 * (k % 3))];

        if (!(mass > 0) || !isfinite(mass)) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "the mass of unknown %d is %g; valid are finite numbers > 0", k, mass);
        }
    }

    // Range of the parameters.
    if (def->count < 1 || def->count > problem->free) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%d modes are requested; valid are 1 to %d",
                       def->count, problem->free);
    }

    if (!(def->shift <= 0) || !(def->tolerance >= 0) || !isfinite(def->shift)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "shift %g, tolerance %g; valid are a finite shift <= 0 and a tolerance >= 0",
                       def->shift, def->tolerance);
    }

    return SINEW_OK;
}

// The mean of omega^2 = K_kk / M_kk over the free unknowns: the scale of the highest modes of the
// mesh. The mean is over quotients because the masses of a frame's slopes carry a length squared
// and would be negligible next to those of its position in a small body.
static double mean_omega_squared(const sn_modes_def *def, int32_t n, int32_t free) {
    double sum = 0;
    for (int32_t k = 0; k < n; k++) {
        if (is_masked(def, k)) {
            continue;
        }
        size_t entry = 9 * (size_t)def->pattern->diagonal[k / 3] + (size_t)(4 * (k % 3));
        sum += def->stiffness[entry] /
               (def->lumped_mass ? def->lumped_mass[k] : def->consistent_mass[entry]);
    }

    return sum / free;
}

// Factors K - sigma M. If rounding makes it indefinite, tries a larger shift, unless the caller
// has chosen it.
static sinew_status factor(sn_modes_problem *p, sn_arena *arena, double mean) {
    const sn_modes_def *def = p->def;
    double *A = sn_bsr_push_values(arena, def->pattern);

    SN_TRY(sn_arena_status(arena));
    SN_TRY(sn_solver_create(p->context, SN_SOLVER_CHOLESKY, def->pattern, &p->solver));
    p->sigma = def->shift < 0 ? def->shift : -1e-7 * mean;

    for (int attempt = 0;; attempt++) {
        // A = K - sigma M, with the masked unknowns decoupled.
        sn_bsr_scale(p->context, def->pattern, A, 1, def->stiffness);
        if (def->lumped_mass) {
            sn_bsr_add_diagonal(p->context, def->pattern, A, -p->sigma, def->lumped_mass);
        } else {
            sn_bsr_add_scaled(p->context, def->pattern, A, -p->sigma, def->consistent_mass);
        }

        if (def->mask) {
            sn_bsr_constrain(p->context, def->pattern, A, def->mask);
        }

        SN_TRY(sn_solver_update(p->solver, A, NULL));
        // The factor is checked by a solve with a zero right-hand side.
        sn_solve_report report;

        memset(p->right, 0, (size_t)p->n * sizeof(double));
        sn_solver_solve(p->solver, p->right, p->product, 0, 1, &report);
        if (report.outcome == SN_SOLVE_CONVERGED) {
            return SINEW_OK;
        }

        // Give up, or try a larger shift.
        if (report.outcome == SN_SOLVE_NOT_FINITE || attempt == 2 || def->shift < 0) {
            return sn_fail(p->context, SINEW_INVALID_DATA,
                           "K - (%g) M is %s at row %d; modes need a stable state", p->sigma,
                           report.outcome == SN_SOLVE_NOT_FINITE ? "not finite"
                                                                 : "not positive definite",
                           report.row);
        }

        p->sigma *= 30;
    }
}

static sinew_status prepare_mass(sn_modes_problem *p, sn_arena *arena) {
    const sn_modes_def *def = p->def;
    if (!def->consistent_mass || !def->mask) {
        return SINEW_OK;
    }

    p->mass = sn_bsr_push_values(arena, def->pattern);
    SN_TRY(sn_arena_status(arena));
    sn_bsr_scale(p->context, def->pattern, p->mass, 1, def->consistent_mass);
    sn_bsr_constrain(p->context, def->pattern, p->mass, def->mask);

    // The constrained unknowns have no mass.
    for (int32_t k = 0; k < p->n; k++) {
        if (def->mask[k]) {
            p->mass[9 * (size_t)def->pattern->diagonal[k / 3] + (size_t)(4 * (k % 3))] = 0;
        }
    }

    return SINEW_OK;
}

void sn_modes_apply_mass(sn_modes_problem *p, double *y, const double *x) {
    const sn_modes_def *def = p->def;
    if (def->consistent_mass) {
        sn_bsr_multiply(p->context, def->pattern, y, p->mass ? p->mass : def->consistent_mass, x);
        return;
    }

    for (int32_t k = 0; k < p->n; k++) {
        y[k] = is_masked(def, k) ? 0 : def->lumped_mass[k] * x[k];
    }
}

void sn_modes_apply(sn_modes_problem *p, double *y, const double *x) {
    sn_solve_report report;
    sn_modes_apply_mass(p, p->right, x);
    memset(y, 0, (size_t)p->n * sizeof(double));
    sn_solver_solve(p->solver, p->right, y, 1e-10, 1, &report);
    p->solves++;

    if (report.outcome != SN_SOLVE_CONVERGED && !(report.relative_residual < 1e-6)) {
        p->solved_well = false;
    }
}

// Normalises the shapes and computes Rayleigh quotients and residuals.
static void finish(sn_modes_problem *p, double *omega_squared, double *shapes, double mean,
                   sn_modes_report *report) {
    const sn_modes_def *def = p->def;
    size_t n = (size_t)p->n;

    report->largest_residual = 0;
    for (int32_t m = 0; m < def->count; m++) {
        double *phi = shapes + n * (size_t)m;
        sn_modes_apply_mass(p, p->right, phi);

        // Unit mass, and the component of largest size positive.
        double size = sn_vector_dot(p->context, p->n, phi, p->right);
        double largest = 0;
        for (size_t k = 0; k < n; k++) {
            if (is_masked(def, (int32_t)k)) {
                phi[k] = 0;
            }
            if (fabs(phi[k]) > fabs(largest)) {
                largest = phi[k];
            }
        }

        double scale = copysign(1 / sqrt(size), largest);
        for (size_t k = 0; k < n; k++) {
            phi[k] *= scale;
        }

        // The Rayleigh quotient and its residual.
        sn_modes_apply_mass(p, p->right, phi);
        omega_squared[m] =
            sn_bsr_multiply_dot(p->context, def->pattern, p->product, def->stiffness, phi);

        double residual = 0, weight = 0;
        for (size_t k = 0; k < n; k++) {
            if (is_masked(def, (int32_t)k)) {
                continue;
            }
            double r = p->product[k] - omega_squared[m] * p->right[k];
            residual += r * r;
            weight += p->right[k] * p->right[k];
        }

        report->largest_residual = fmax(
            report->largest_residual, sqrt(residual / weight) / fabs(omega_squared[m] - p->sigma));
        if (omega_squared[m] < 1e-11 * mean) {
            report->rigid++;
        }
    }
}

// Rayleigh quotients of close modes may be out of order.
static void sort_ascending(int32_t count, int32_t n, double *omega_squared, double *shapes) {
    for (int32_t i = 1; i < count; i++) {
        for (int32_t j = i; j > 0 && omega_squared[j] < omega_squared[j - 1]; j--) {
            double swap = omega_squared[j];
            omega_squared[j] = omega_squared[j - 1];
            omega_squared[j - 1] = swap;

            double *a = shapes + (size_t)n * (size_t)j;
            double *b = a - n;

            for (int32_t k = 0; k < n; k++) {
                swap = a[k];
                a[k] = b[k];
                b[k] = swap;
            }
        }
    }
}

static sinew_status compute(sn_modes_problem *p, sn_arena *arena, double *omega_squared,
                            double *shapes, sn_modes_report *report) {
    const sn_modes_def *def = p->def;
    p->right = SN_PUSH(arena, double, p->n);
    p->product = SN_PUSH(arena, double, p->n);
    SN_TRY(sn_arena_status(arena));

    double mean = mean_omega_squared(def, p->n, p->free);
    if (!(mean > 0)) {
        mean = 1; // no stiffness at all: every motion is rigid
    }

    // Factor, iterate, and evaluate.
    SN_TRY(prepare_mass(p, arena));
    SN_TRY(factor(p, arena, mean));

    SN_TRY(sn_modes_lanczos(p, omega_squared, shapes, &report->converged));
    finish(p, omega_squared, shapes, mean, report);
    sort_ascending(def->count, p->n, omega_squared, shapes);
    report->solves = p->solves;
    report->converged &= p->solved_well;

    return SINEW_OK;
}

sinew_status sn_modes_compute(sinew_context *context, const sn_modes_def *def,
                              double *omega_squared, double *shapes, sn_modes_report *report) {
    *report = (sn_modes_report){0};
    sn_modes_problem problem = {.context = context, .def = def, .solved_well = true};
    SN_TRY(check(context, def, &problem));
    problem.tolerance = def->tolerance > 0 ? def->tolerance : 1e-10;
    sn_arena arena = sn_arena_create(context);
    sinew_status status = compute(&problem, &arena, omega_squared, shapes, report);
    sn_solver_destroy(problem.solver);
    sn_arena_destroy(&arena);

    return status;
}
