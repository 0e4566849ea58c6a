// Non-negative least squares: the conditions of the minimum on random problems, an exact positive
// combination, early stops, threads.
#include "support/test.h"

#include "base/random.h"
#include "linalg/nnls.h"

#include <math.h>

enum { ROWS = 30, COLUMNS = 80 };

typedef struct problem {
    double A[ROWS * COLUMNS], b[ROWS], x[COLUMNS];
    sn_nnls_def def;
} problem;

static void make_problem(problem *p, uint64_t seed, bool positive) {
    sn_random random = sn_random_seed(seed);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        p->A[i] = sn_random_range(&random, -1, 1);
    }
    for (int i = 0; i < ROWS; i++) {
        p->b[i] = positive ? 0 : sn_random_range(&random, -1, 1);
    }
    for (int j = 0; j < COLUMNS && positive; j += 9) {
        double share = sn_random_range(&random, 0.5, 2);
        for (int i = 0; i < ROWS; i++) {
            p->b[i] += share * p->A[j * ROWS + i];
        }
    }
    p->def = (sn_nnls_def){p->A, ROWS, COLUMNS, p->b, 1e-12, ROWS};
}

// x >= 0; the gradient A'(A x - b) is 0 where x > 0 and not negative where x = 0.
static void test_conditions(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    problem p;

    for (uint64_t seed = 0; seed < 50; seed++) {
        make_problem(&p, seed, false);
        p.def.columns = 20; // so that the minimum is not 0
        assert_int_equal(sn_nnls_solve(context, &p.def, p.x, NULL), SINEW_OK);

        int positive = 0;
        for (int j = 0; j < p.def.columns; j++) {
            double gradient = 0;
            for (int i = 0; i < ROWS; i++) {
                double r = -p.b[i];
                for (int k = 0; k < p.def.columns; k++) {
                    r += p.A[k * ROWS + i] * p.x[k];
                }
                gradient += r * p.A[j * ROWS + i];
            }

            assert_true(p.x[j] >= 0);
            positive += p.x[j] > 0;
            assert_true(gradient > -1e-9);
            if (p.x[j] > 0) {
                test_close("gradient", gradient, 0, 1e-9);
            }
        }
        assert_true(positive > 3 && positive < 20);
    }

    sinew_context_destroy(context);
}

static void test_exact_and_early(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    problem p;
    double residual;

    make_problem(&p, 7, true);
    assert_int_equal(sn_nnls_solve(context, &p.def, p.x, &residual), SINEW_OK);
    assert_true(residual < 1e-10);

    // A looser tolerance, and a bound on the columns, stop earlier.
    p.def.tolerance = 0.3;
    assert_int_equal(sn_nnls_solve(context, &p.def, p.x, &residual), SINEW_OK);
    assert_true(residual <= 0.3 && residual > 1e-3);
    p.def.tolerance = 0;
    p.def.most = 3;
    assert_int_equal(sn_nnls_solve(context, &p.def, p.x, &residual), SINEW_OK);
    int positive = 0;
    for (int j = 0; j < COLUMNS; j++) {
        positive += p.x[j] > 0;
    }
    assert_true(positive == 3 && residual < 1);

    sinew_context_destroy(context);
}

static void test_threads(void **state) {
    (void)state;
    problem p[2];
    for (int i = 0; i < 2; i++) {
        sinew_context *context = test_context(1 + 3 * i);
        make_problem(&p[i], 3, false);
        assert_int_equal(sn_nnls_solve(context, &p[i].def, p[i].x, NULL), SINEW_OK);
        sinew_context_destroy(context);
    }
    assert_memory_equal(p[0].x, p[1].x, sizeof p[0].x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_exact_and_early),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
