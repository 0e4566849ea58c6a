// Every linear solver compared with a dense reference, and edge cases: constraints, invalid
// matrices and numbers, memory shortage, threads.
#include "support/bar.h"
#include "support/test.h"

#include "linalg/solver.h"
#include "linalg/vector.h"

#include <math.h>
#include <stdlib.h>

// The smallest bar for which multigrid has a coarse level.
enum { LARGE = 4 };

// A system with a known solution. Everything lives in the arena.
typedef struct problem {
    sinew_context *context;
    sn_arena arena;
    test_bar bar;
    int32_t n;
    double *A, *b, *x, *exact;
} problem;

static double *random_vector(sn_arena *arena, int32_t count, uint64_t seed) {
    double *x = SN_PUSH(arena, double, count);
    assert_non_null(x);
    sn_random random = sn_random_seed(seed);

    for (int32_t k = 0; k < count; k++) {
        x[k] = sn_random_range(&random, -1, 1);
    }

    return x;
}

static problem make_problem(int32_t threads, const test_bar_def *def, double h, bool clamp) {
    problem p = {.context = test_context(threads)};
    p.arena = sn_arena_create(p.context);
    assert_int_equal(test_bar_create(&p.arena, def, &p.bar), SINEW_OK);
    p.n = 3 * p.bar.nodes;
    p.A = sn_bsr_push_values(&p.arena, &p.bar.pattern);
    p.b = SN_PUSH(&p.arena, double, p.n);
    p.x = SN_PUSH(&p.arena, double, p.n);
    assert_int_equal(sn_arena_status(&p.arena), SINEW_OK);
    test_bar_matrix(p.context, &p.bar, h, clamp, p.A);
    p.exact = random_vector(&p.arena, p.n, 11);
    sn_bsr_multiply(p.context, &p.bar.pattern, p.b, p.A, p.exact);

    return p;
}

static void drop_problem(problem *p) {
    sn_arena_destroy(&p->arena);
    assert_int_equal(p->context->bytes_in_use, p->context->pool ? p->context->bytes_in_use : 0);
    sinew_context_destroy(p->context);
}

// NULL if this build does not have the kind.
static sn_solver *make_solver(const problem *p, sn_solver_kind kind) {
    sn_solver *solver;
    sinew_status status = sn_solver_create(p->context, kind, &p->bar.pattern, &solver);
    if (status == SINEW_UNSUPPORTED) {
        assert_null(solver);
        return NULL;
    }

    assert_int_equal(status, SINEW_OK);
    return solver;
}

static bool is_direct(sn_solver_kind kind) {
    return kind == SN_SOLVER_CHOLMOD || kind == SN_SOLVER_CHOLESKY || kind == SN_SOLVER_DENSE;
}

static void test_each_kind_finds_the_solution(void **state) {
    (void)state;
    for (int scrambled = 0; scrambled < 2; scrambled++) {
        test_bar_def def = test_default_bar(scrambled ? LARGE : 2);
        def.shuffle = scrambled;

        problem p = make_problem(1, &def, scrambled ? 0.01 : 0, true);
        for (sn_solver_kind kind = SN_SOLVER_AUTO; kind < SN_SOLVER_KIND_COUNT; kind++) {
            sn_solver *solver = make_solver(&p, kind);
            if (!solver) {
                continue;
            }

            assert_true(sn_solver_get_kind(solver) > SN_SOLVER_DIRECT);
            sn_solve_report report;

            assert_int_equal(sn_solver_update(solver, p.A, p.bar.positions), SINEW_OK);
            memset(p.x, 0, (size_t)p.n * sizeof *p.x);
            sn_solver_solve(solver, p.b, p.x, 1e-12, 2000, &report);
            assert_int_equal(report.outcome, SN_SOLVE_CONVERGED);
            assert_true(report.relative_residual <= 1e-12);

            // The condition number of the static bar is about 1e5.
            assert_true(test_relative_error(p.x, p.exact, (size_t)p.n) < 1e-7);

            // The reported residual is the true one.
            double *r = random_vector(&p.arena, p.n, 1);
            double norm = sn_bsr_residual(p.context, &p.bar.pattern, r, p.A, p.x, p.b);

            test_close("residual", report.relative_residual,
                       norm / sn_vector_norm(p.context, p.n, p.b), 1e-14);

            // A warm start at the solution needs no iteration.
            sn_solver_solve(solver, p.b, p.x, 1e-11, 2000, &report);
            assert_int_equal(report.outcome, SN_SOLVE_CONVERGED);
            assert_int_equal(report.iterations, 0);
            sn_solver_destroy(solver);
        }

        drop_problem(&p);
    }
}

static void test_update_follows_the_values(void **state) {
    (void)state;
    test_bar_def def = test_default_bar(LARGE);
    problem p = make_problem(1, &def, 0.01, true);

    for (sn_solver_kind kind = SN_SOLVER_PCG_JACOBI; kind < SN_SOLVER_KIND_COUNT; kind++) {
        sn_solver *solver = make_solver(&p, kind);
        if (!solver) {
            continue;
        }

        for (int turn = 0; turn < 3; turn++) {
            sn_solve_report report;
            test_bar_matrix(p.context, &p.bar, 0.01 * (turn + 1), turn % 2, p.A);
            sn_bsr_multiply(p.context, &p.bar.pattern, p.b, p.A, p.exact);
            assert_int_equal(sn_solver_update(solver, p.A, p.bar.positions), SINEW_OK);
            sn_solver_solve(solver, p.b, p.x, 1e-10, 2000, &report);
            assert_int_equal(report.outcome, SN_SOLVE_CONVERGED);
            assert_true(test_relative_error(p.x, p.exact, (size_t)p.n) < 1e-6);
        }

        sn_solver_destroy(solver);
    }

    drop_problem(&p);
}

// Values above the diagonal are ignored: solutions are bitwise the same.
static void test_lower_triangle_is_enough(void **state) {
    (void)state;
    test_bar_def def = test_default_bar(LARGE);

    def.shuffle = true;
    problem p = make_problem(1, &def, 0.01, true);
    const sn_bsr *pattern = &p.bar.pattern;
    double *lower = sn_bsr_push_values(&p.arena, pattern);
    double *y = random_vector(&p.arena, p.n, 12);

    for (sn_solver_kind kind = SN_SOLVER_PCG_JACOBI; kind < SN_SOLVER_KIND_COUNT; kind++) {
        sn_solver *solver = make_solver(&p, kind);
        if (!solver) {
            continue;
        }

        memcpy(lower, p.A, 9 * (size_t)pattern->blocks * sizeof *lower);
        for (int32_t i = 0; i < pattern->rows; i++) {
            for (int32_t k = 9 * (pattern->diagonal[i] + 1); k < 9 * pattern->starts[i + 1]; k++) {
                lower[k] = NAN;
            }
        }

        sn_solve_report report[2];
        for (int turn = 0; turn < 2; turn++) {
            double *x = turn ? y : p.x;
            memset(x, 0, (size_t)p.n * sizeof *x);
            assert_int_equal(sn_solver_update(solver, turn ? lower : p.A, p.bar.positions),
                             SINEW_OK);
            sn_solver_solve(solver, p.b, x, 1e-8, 2000, &report[turn]);
            assert_int_equal(report[turn].outcome, SN_SOLVE_CONVERGED);
        }

        assert_int_equal(report[0].iterations, report[1].iterations);
        assert_memory_equal(p.x, y, (size_t)p.n * sizeof *y);
        sn_solver_destroy(solver);
    }

    drop_problem(&p);
}

static void test_zero_right_hand_side(void **state) {
    (void)state;
    test_bar_def def = test_default_bar(1);
    problem p = make_problem(1, &def, 0.01, true);

    memset(p.b, 0, (size_t)p.n * sizeof *p.b);
    for (sn_solver_kind kind = SN_SOLVER_PCG_JACOBI; kind < SN_SOLVER_KIND_COUNT; kind++) {
        sn_solver *solver = make_solver(&p, kind);
        if (!solver) {
            continue;
        }

        sn_solve_report report;
        assert_int_equal(sn_solver_update(solver, p.A, p.bar.positions), SINEW_OK);
        memcpy(p.x, p.exact, (size_t)p.n * sizeof *p.x);
        sn_solver_solve(solver, p.b, p.x, 1e-6, 100, &report);
        assert_int_equal(report.outcome, SN_SOLVE_CONVERGED);
        assert_true(report.relative_residual == 0);

        for (int32_t k = 0; k < p.n; k++) {
            assert_true(p.x[k] == 0);
        }

        sn_solver_destroy(solver);
    }

    drop_problem(&p);
}

// One node without neighbours: the smallest system.
static void test_a_single_node(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    sn_bsr pattern;

    assert_int_equal(sn_bsr_build(&arena, 1, NULL, 0, &pattern), SINEW_OK);
    assert_int_equal(pattern.blocks, 1);

    double *A = sn_bsr_push_values(&arena, &pattern);
    const double block[9] = {4, 1, 0, 1, 3, -1, 0, -1, 2};
    const double exact[3] = {1, -2, 0.5};

    memcpy(A, block, sizeof block);
    double b[3], x[3];

    sn_bsr_multiply(context, &pattern, b, A, exact);
    for (sn_solver_kind kind = SN_SOLVER_AUTO; kind < SN_SOLVER_KIND_COUNT; kind++) {
        sn_solver *solver;
        if (sn_solver_create(context, kind, &pattern, &solver) == SINEW_UNSUPPORTED) {
            continue;
        }

        assert_non_null(solver);
        sn_solve_report report;

        assert_int_equal(sn_solver_update(solver, A, exact), SINEW_OK);
        memset(x, 0, sizeof x);
        sn_solver_solve(solver, b, x, 1e-13, 10, &report);
        assert_int_equal(report.outcome, SN_SOLVE_CONVERGED);
        assert_true(test_relative_error(x, exact, 3) < 1e-13);
        sn_solver_destroy(solver);
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

static void test_indefinite_matrices_are_reported(void **state) {
    (void)state;
    test_bar_def def = test_default_bar(LARGE);
    problem p = make_problem(1, &def, 0.01, true);

    // Two cases: a negative diagonal entry, and a matrix whose diagonal is positive.
    for (int way = 0; way < 2; way++) {
        test_bar_matrix(p.context, &p.bar, 0.01, true, p.A);
        int32_t row = p.bar.nodes / 2;
        int32_t k = p.bar.pattern.diagonal[row];

        if (way == 0) {
            p.A[9 * k + 4] = -1;
        } else {
            int32_t off = k + 1;
            int32_t mirror = p.bar.pattern.mirror[off]; // a coupling stronger than both diagonals
            for (int c = 0; c < 3; c++) {
                p.A[9 * off + 4 * c] = p.A[9 * mirror + 4 * c] = 1e3 * p.A[9 * k + 4 * c];
            }
        }

        for (sn_solver_kind kind = SN_SOLVER_PCG_JACOBI; kind < SN_SOLVER_KIND_COUNT; kind++) {
            sn_solver *solver = make_solver(&p, kind);
            if (!solver) {
                continue;
            }

            sn_solve_report report;
            assert_int_equal(sn_solver_update(solver, p.A, p.bar.positions), SINEW_OK);
            memset(p.x, 0, (size_t)p.n * sizeof *p.x);
            sn_solver_solve(solver, p.b, p.x, 1e-9, 2000, &report);
            assert_int_equal(report.outcome, SN_SOLVE_NOT_POSITIVE_DEFINITE);

            if (way == 0 && !is_direct(kind)) {
                assert_int_equal(report.row, 3 * row + 1);
            }
            if (is_direct(kind)) {
                assert_in_range(report.row, 0, p.n - 1);
            }

            for (int32_t i = 0; i < p.n; i++) {
                assert_true(isfinite(p.x[i]));
            }

            // The solver recovers with the next good matrix.
            double *good = sn_bsr_push_values(&p.arena, &p.bar.pattern);

            test_bar_matrix(p.context, &p.bar, 0.01, true, good);
            assert_int_equal(sn_solver_update(solver, good, p.bar.positions), SINEW_OK);
            sn_solver_solve(solver, p.b, p.x, 1e-9, 2000, &report);
            assert_int_equal(report.outcome, SN_SOLVE_CONVERGED);
            sn_solver_destroy(solver);
        }
    }

    drop_problem(&p);
}

// A free body without mass: singular. A consistent right-hand side may be solved or refused, but a
// wrong solution must not be reported as converged.
static void test_singular_matrices_end(void **state) {
    (void)state;
    test_bar_def def = test_default_bar(LARGE);
    problem p = make_problem(1, &def, 0, false);

    for (int consistent = 0; consistent < 2; consistent++) {
        if (!consistent) {
            memcpy(p.b, p.exact, (size_t)p.n * sizeof *p.b); // has a part in the null space
        }

        for (sn_solver_kind kind = SN_SOLVER_PCG_JACOBI; kind < SN_SOLVER_KIND_COUNT; kind++) {
            sn_solver *solver = make_solver(&p, kind);
            if (!solver) {
                continue;
            }

            sn_solve_report report;
            assert_int_equal(sn_solver_update(solver, p.A, p.bar.positions), SINEW_OK);
            memset(p.x, 0, (size_t)p.n * sizeof *p.x);
            sn_solver_solve(solver, p.b, p.x, 1e-8, 500, &report);
            assert_true(report.iterations <= 500);

            if (report.outcome == SN_SOLVE_CONVERGED) {
                double *r = random_vector(&p.arena, p.n, 1);
                double norm = sn_bsr_residual(p.context, &p.bar.pattern, r, p.A, p.x, p.b);
                assert_true(norm <= 1.01e-8 * sn_vector_norm(p.context, p.n, p.b));
            }

            for (int32_t i = 0; i < p.n; i++) {
                assert_true(isfinite(p.x[i]));
            }

            sn_solver_destroy(solver);
        }

        sn_bsr_multiply(p.context, &p.bar.pattern, p.b, p.A, p.exact);
    }

    drop_problem(&p);
}

static void test_not_a_number_is_reported(void **state) {
    (void)state;
    test_bar_def def = test_default_bar(LARGE);
    problem p = make_problem(1, &def, 0.01, true);
    int32_t row = p.bar.nodes / 2;
    int32_t k = p.bar.pattern.diagonal[row];
    const double wrong[] = {NAN, INFINITY, -INFINITY};

    for (int w = 0; w < 3; w++) {
        for (int place = 0; place < 4; place++) { // diagonal, off-diagonal, b, x
            test_bar_matrix(p.context, &p.bar, 0.01, true, p.A);

            sn_bsr_multiply(p.context, &p.bar.pattern, p.b, p.A, p.exact);
            memset(p.x, 0, (size_t)p.n * sizeof *p.x);
            if (place == 0) {
                p.A[9 * k + 8] = wrong[w];
            }
            if (place == 1) {
                p.A[9 * (k - 1)] = p.A[9 * p.bar.pattern.mirror[k - 1]] = wrong[w];
            }
            if (place == 2) {
                p.b[3 * row] = wrong[w];
            }
            if (place == 3) {
                p.x[3 * row] = wrong[w];
            }
            for (sn_solver_kind kind = SN_SOLVER_PCG_JACOBI; kind < SN_SOLVER_KIND_COUNT; kind++) {
                if (place == 3 && is_direct(kind)) {
                    continue; // no start value there
                }
                sn_solver *solver = make_solver(&p, kind);
                if (!solver) {
                    continue;
                }
                sn_solve_report report;
                assert_int_equal(sn_solver_update(solver, p.A, p.bar.positions), SINEW_OK);
                double *x = random_vector(&p.arena, p.n, 2);
                memcpy(x, p.x, (size_t)p.n * sizeof *x);
                sn_solver_solve(solver, p.b, x, 1e-9, 2000, &report);
                assert_int_equal(report.outcome, SN_SOLVE_NOT_FINITE);
                assert_memory_equal(x, p.x, (size_t)p.n * sizeof *x); // unchanged
                sn_solver_destroy(solver);
            }
        }
    }

    drop_problem(&p);
}

static void test_iteration_limit(void **state) {
    (void)state;
    test_bar_def def = test_default_bar(LARGE);
    problem p = make_problem(1, &def, 0, true);

    for (sn_solver_kind kind = SN_SOLVER_PCG_JACOBI; kind <= SN_SOLVER_PCG_MULTIGRID; kind++) {
        sn_solver *solver = make_solver(&p, kind);
        if (!solver) {
            continue;
        }

        sn_solve_report report;
        assert_int_equal(sn_solver_update(solver, p.A, p.bar.positions), SINEW_OK);
        memset(p.x, 0, (size_t)p.n * sizeof *p.x);
        sn_solver_solve(solver, p.b, p.x, 1e-9, 3, &report);
        assert_int_equal(report.outcome, SN_SOLVE_NOT_CONVERGED);
        assert_int_equal(report.iterations, 3);
        assert_true(report.relative_residual > 1e-9);

        // With a tolerance below rounding the solve still ends, and says so.
        sn_solver_solve(solver, p.b, p.x, 0, 5000, &report);
        assert_int_equal(report.outcome, SN_SOLVE_NOT_CONVERGED);
        assert_true(report.relative_residual < 1e-9);
        sn_solver_destroy(solver);
    }

    drop_problem(&p);
}

static void test_stiff_neighbors(void **state) {
    (void)state;
    test_bar_def def = test_default_bar(LARGE);

    def.stiff_ratio = 1e6;
    for (int clamp = 0; clamp < 2; clamp++) {
        problem p = make_problem(1, &def, 0.01, clamp);
        for (sn_solver_kind kind = SN_SOLVER_PCG_JACOBI; kind < SN_SOLVER_KIND_COUNT; kind++) {
            sn_solver *solver = make_solver(&p, kind);
            if (!solver) {
                continue;
            }

            sn_solve_report report;
            assert_int_equal(sn_solver_update(solver, p.A, p.bar.positions), SINEW_OK);
            memset(p.x, 0, (size_t)p.n * sizeof *p.x);
            sn_solver_solve(solver, p.b, p.x, 1e-9, 20000, &report);
            assert_int_equal(report.outcome, SN_SOLVE_CONVERGED);
            sn_solver_destroy(solver);
        }

        drop_problem(&p);
    }
}

// Large enough for several chunks, with incomplete factors also for several domains, and numbered
// at random.
static void test_threads_are_bitwise_equal(void **state) {
    (void)state;
    for (sn_solver_kind kind = SN_SOLVER_PCG_JACOBI; kind < SN_SOLVER_KIND_COUNT; kind++) {
        if (kind == SN_SOLVER_DENSE) {
            continue; // runs on one thread
        }

        double *first = NULL;
        int32_t iterations = 0;
        for (int32_t threads = 1; threads <= 4; threads *= 2) {
            bool factors = kind == SN_SOLVER_PCG_IC || kind == SN_SOLVER_PCG_MULTIGRID;
            test_bar_def def = test_default_bar(is_direct(kind)              ? 3
                                                : factors && !TEST_SANITIZED ? 16
                                                                             : 6);

            def.shuffle = true;
            problem p = make_problem(threads, &def, 0.01, true);
            sn_solver *solver = make_solver(&p, kind);

            if (!solver) {
                drop_problem(&p);
                break;
            }

            sn_solve_report report;
            assert_int_equal(sn_solver_update(solver, p.A, p.bar.positions), SINEW_OK);
            sn_solver_solve(solver, p.b, p.x, TEST_SANITIZED ? 1e-2 : 1e-8, 2000, &report);
            assert_int_equal(report.outcome, SN_SOLVE_CONVERGED);

            size_t size = (size_t)p.n * sizeof *p.x;
            if (!first) {
                first = malloc(size);
                assert_non_null(first);
                memcpy(first, p.x, size);
                iterations = report.iterations;
            }

            assert_memory_equal(first, p.x, size);
            assert_int_equal(iterations, report.iterations);
            sn_solver_destroy(solver);
            drop_problem(&p);
        }

        free(first);
    }
}

static void test_no_allocation_after_the_first_update(void **state) {
    (void)state;
    test_bar_def def = test_default_bar(LARGE);
    problem p = make_problem(1, &def, 0.01, true);

    for (sn_solver_kind kind = SN_SOLVER_PCG_JACOBI; kind < SN_SOLVER_KIND_COUNT; kind++) {
        sn_solver *solver = make_solver(&p, kind);
        if (!solver) {
            continue;
        }

        int64_t before = p.context->allocations;
        for (int turn = 0; turn < 3; turn++) {
            sn_solve_report report;
            assert_int_equal(sn_solver_update(solver, p.A, p.bar.positions), SINEW_OK);
            if (turn == 0) {
                before = p.context->allocations;
            }
            sn_solver_solve(solver, p.b, p.x, 1e-8, 2000, &report);
        }

        assert_int_equal(p.context->allocations, before);
        sn_solver_destroy(solver);
    }

    drop_problem(&p);
}

static void test_memory_shortage(void **state) {
    (void)state;
    for (sn_solver_kind kind = SN_SOLVER_PCG_JACOBI; kind < SN_SOLVER_KIND_COUNT; kind++) {
        bool done = false;
        for (int64_t fail_at = 1; !done; fail_at++) {
            test_allocator allocator = {.fail_at = INT64_MAX};
            sinew_context *context = test_context_failing(&allocator);
            sn_arena arena = sn_arena_create(context);
            test_bar_def def = test_default_bar(LARGE);
            test_bar bar;

            assert_int_equal(test_bar_create(&arena, &def, &bar), SINEW_OK);
            double *A = sn_bsr_push_values(&arena, &bar.pattern);

            test_bar_matrix(context, &bar, 0.01, true, A);
            allocator.fail_at = allocator.calls + fail_at - 1;

            sn_solver *solver;
            sinew_status status = sn_solver_create(context, kind, &bar.pattern, &solver);
            if (status == SINEW_OK) {
                status = sn_solver_update(solver, A, bar.positions);
            } else {
                assert_null(solver);
            }

            done = status == SINEW_OK || status == SINEW_UNSUPPORTED;
            if (!done) {
                assert_int_equal(status, SINEW_OUT_OF_MEMORY);
                assert_true(strlen(sinew_context_message(context)) > 0);
            }

            sn_solver_destroy(solver);
            sn_arena_destroy(&arena);
            sinew_context_destroy(context);
            assert_int_equal(allocator.live, 0);
            assert_true(fail_at < 1000);
        }
    }
}

static double apply_second_difference(void *data, double *y, const double *x) {
    const int32_t n = *(const int32_t *)data;
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        y[i] = 2 * x[i] - (i > 0 ? x[i - 1] : 0) - (i < n - 1 ? x[i + 1] : 0);
        sum += x[i] * y[i];
    }

    return sum;
}

// Conjugate gradients end after as many iterations as there are distinct eigenvalues in the
// right-hand side (up to rounding, which brings the others in at about 1e-9).
static void test_matrix_free_conjugate_gradients(void **state) {
    (void)state;
    enum { N = 64 };

    int32_t n = N;
    sinew_context *context = test_context(1);
    double b[N], x[N] = {0}, exact[N];
    double *work = malloc(sn_cg_work_count(N) * sizeof *work);

    assert_non_null(work);
    const double pi = acos(-1);
    for (int i = 0; i < N; i++) {
        exact[i] = sin(pi * (i + 1) / (N + 1)) + 0.3 * sin(5 * pi * (i + 1) / (N + 1));
    }

    apply_second_difference(&n, b, exact);
    sn_solve_report report;

    sn_cg_solve(context, N, (sn_operator){apply_second_difference, &n}, (sn_operator){0}, b, x,
                1e-8, 100, work, &report);
    assert_int_equal(report.outcome, SN_SOLVE_CONVERGED);
    assert_int_equal(report.iterations, 2);
    assert_true(test_relative_error(x, exact, N) < 1e-7);
    free(work);
    sinew_context_destroy(context);
}

int main(void) {
    if (TEST_WATCHES_THREADS) {
        cmocka_set_test_filter("test_threads*");
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_finds_the_solution),
        cmocka_unit_test(test_update_follows_the_values),
        cmocka_unit_test(test_lower_triangle_is_enough),
        cmocka_unit_test(test_zero_right_hand_side),
        cmocka_unit_test(test_a_single_node),
        cmocka_unit_test(test_indefinite_matrices_are_reported),
        cmocka_unit_test(test_singular_matrices_end),
        cmocka_unit_test(test_not_a_number_is_reported),
        cmocka_unit_test(test_iteration_limit),
        cmocka_unit_test(test_stiff_neighbors),
        cmocka_unit_test(test_threads_are_bitwise_equal),
        cmocka_unit_test(test_no_allocation_after_the_first_update),
        cmocka_unit_test(test_memory_shortage),
        cmocka_unit_test(test_matrix_free_conjugate_gradients),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
