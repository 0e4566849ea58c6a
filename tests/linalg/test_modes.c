// Modes compared with analytic frequencies: chains of springs, clamped and free, and a free body
// with its six rigid motions.
#include "support/bar.h"
#include "support/test.h"

#include "linalg/dense.h"
#include "linalg/modes.h"

#include <math.h>
#include <stdlib.h>

// A chain of n masses m joined by springs of stiffness k in each of the three directions, with its
// ends free.
typedef struct chain {
    sinew_context *context;
    sn_arena arena;
    sn_bsr pattern;
    double *K, *M, *mass;
    uint8_t *mask;
    int32_t n;
} chain;

static chain make_chain(int32_t nodes, double k, double m) {
    chain c = {.context = test_context(1), .n = 3 * nodes};
    c.arena = sn_arena_create(c.context);

    int32_t *members = SN_PUSH(&c.arena, int32_t, 2 * nodes);
    for (int32_t i = 0; i + 1 < nodes; i++) {
        members[2 * i] = i;
        members[2 * i + 1] = i + 1;
    }

    sn_bsr_sets sets = {.count = nodes - 1, .width = 2, .members = members};
    assert_int_equal(sn_bsr_build(&c.arena, nodes, &sets, 1, &c.pattern), SINEW_OK);
    c.K = sn_bsr_push_values(&c.arena, &c.pattern);
    c.M = sn_bsr_push_values(&c.arena, &c.pattern);
    c.mass = SN_PUSH(&c.arena, double, c.n);
    c.mask = SN_PUSH(&c.arena, uint8_t, c.n);
    assert_int_equal(sn_arena_status(&c.arena), SINEW_OK);

    for (int32_t i = 0; i + 1 < nodes; i++) {
        for (int d = 0; d < 3; d++) {
            c.K[9 * sn_bsr_find(&c.pattern, i, i) + 4 * d] += k;
            c.K[9 * sn_bsr_find(&c.pattern, i + 1, i + 1) + 4 * d] += k;
            c.K[9 * sn_bsr_find(&c.pattern, i, i + 1) + 4 * d] -= k;
            c.K[9 * sn_bsr_find(&c.pattern, i + 1, i) + 4 * d] -= k;
        }
    }

    for (int32_t i = 0; i < c.n; i++) {
        c.mass[i] = m;
    }

    for (int32_t i = 0; i < nodes; i++) {
        for (int d = 0; d < 3; d++) {
            c.M[9 * c.pattern.diagonal[i] + 4 * d] = m;
        }
    }

    return c;
}

static void drop_chain(chain *c) {
    sn_arena_destroy(&c->arena);
    assert_int_equal(c->context->bytes_in_use, 0);
    sinew_context_destroy(c->context);
}

// Computes modes and checks the properties that hold for all of them.
static void compute(sinew_context *context, sn_modes_def *def, double *omega_squared,
                    double *shapes, sn_modes_report *report) {
    assert_int_equal(sn_modes_compute(context, def, omega_squared, shapes, report), SINEW_OK);
    assert_true(report->converged);

    // The bound is that of rigid modes: rounding of K over the shift, 1e-16 / 1e-9, and a margin.
    assert_true(report->largest_residual < 1e-5);

    // Orthonormal in the mass, ascending, the largest component positive.
    int32_t n = sn_bsr_size(def->pattern);
    for (int32_t a = 0; a < def->count; a++) {
        double largest = 0;
        for (int32_t k = 0; k < n; k++) {
            double x = shapes[a * n + k];
            if (fabs(x) > fabs(largest)) {
                largest = x;
            }
            if (def->mask && def->mask[k]) {
                assert_true(x == 0);
            }
        }

        assert_true(largest > 0);
        if (a > 0) {
            assert_true(omega_squared[a] >= omega_squared[a - 1]);
        }

        if (def->lumped_mass) {
            for (int32_t b = 0; b <= a; b++) {
                double dot = 0;
                for (int32_t k = 0; k < n; k++) {
                    dot += shapes[a * n + k] * shapes[b * n + k] * def->lumped_mass[k];
                }
                test_close("orthonormal", dot, a == b, 1e-7);
            }
        }
    }
}

// Free at both ends: omega^2 = 4 k/m sin^2(j pi / (2 n)), j = 0 .. n - 1, each three times: nine
// zeros would be wrong, three are right.
static void test_free_chain(void **state) {
    (void)state;
    enum { NODES = 40, COUNT = 13 };

    const double k = 250;
    const double m = 0.4;
    const double pi = acos(-1);
    chain c = make_chain(NODES, k, m);
    double omega_squared[COUNT];
    double *shapes = malloc(sizeof(double) * (size_t)(c.n * COUNT));

    assert_non_null(shapes);
    for (int consistent = 0; consistent < 2; consistent++) {
        sn_modes_def def = {.pattern = &c.pattern, .stiffness = c.K, .count = COUNT};

        def.lumped_mass = consistent ? NULL : c.mass;
        def.consistent_mass = consistent ? c.M : NULL;

        sn_modes_report report;
        compute(c.context, &def, omega_squared, shapes, &report);

        assert_int_equal(report.rigid, 3);
        for (int j = 0; j < COUNT; j++) {
            double expected = 4 * k / m * pow(sin(j / 3 * pi / (2 * NODES)), 2);
            test_close("omega^2", omega_squared[j], expected, 1e-8 * 4 * k / m);
            if (j >= 3) {
                test_close("relative", omega_squared[j] / expected, 1, 1e-7);
            }
        }
    }

    free(shapes);
    drop_chain(&c);
}

// Held at one end and free to move along x only: omega^2 = 4 k/m sin^2((2 j - 1) pi / (4 n + 2))
// with n moving masses.
static void test_clamped_chain(void **state) {
    (void)state;
    enum { NODES = 31, COUNT = 6 };

    const double k = 1e6;
    const double m = 2e-3;
    const double pi = acos(-1);
    chain c = make_chain(NODES, k, m);

    for (int32_t i = 0; i < NODES; i++) {
        c.mask[3 * i + 1] = c.mask[3 * i + 2] = 1;
    }

    c.mask[0] = 1;
    double omega_squared[30];
    double *shapes = malloc(sizeof(double) * (size_t)(c.n * 30));

    assert_non_null(shapes);
    for (int all = 0; all < 2; all++) { // some modes, or all
        sn_modes_def def = {.pattern = &c.pattern,
                            .stiffness = c.K,
                            .lumped_mass = c.mass,
                            .mask = c.mask,
                            .count = all ? 30 : COUNT};

        sn_modes_report report;
        compute(c.context, &def, omega_squared, shapes, &report);
        assert_int_equal(report.rigid, 0);
        for (int j = 1; j <= def.count; j++) {
            double expected = 4 * k / m * pow(sin((2 * j - 1) * pi / (4 * (NODES - 1) + 2)), 2);
            test_close("omega^2", omega_squared[j - 1] / expected, 1, 1e-9);
        }
    }

    free(shapes);
    drop_chain(&c);
}

// A free bar has six rigid modes; the elastic ones agree with a dense solution.
static void test_free_body(void **state) {
    (void)state;
    enum { COUNT = 14 };

    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    test_bar_def bar_def = test_default_bar(1);

    bar_def.shuffle = true;
    test_bar bar;

    assert_int_equal(test_bar_create(&arena, &bar_def, &bar), SINEW_OK);
    int32_t n = 3 * bar.nodes;
    double *dense = SN_PUSH(&arena, double, n *n);
    double *values = SN_PUSH(&arena, double, n);
    double *work = SN_PUSH(&arena, double, n);
    double *shapes = SN_PUSH(&arena, double, n *COUNT);
    double omega_squared[COUNT];

    sn_bsr_to_dense(&bar.pattern, dense, bar.stiffness);
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            dense[i * n + j] /= sqrt(bar.mass[i] * bar.mass[j]);
        }
    }

    assert_true(sn_dense_symmetric_eigen(dense, n, n, values, work));
    sn_modes_def def = {.pattern = &bar.pattern,
                        .stiffness = bar.stiffness,
                        .lumped_mass = bar.mass,
                        .count = COUNT};
    sn_modes_report report;

    compute(context, &def, omega_squared, shapes, &report);

    assert_int_equal(report.rigid, 6);
    for (int j = 0; j < COUNT; j++) {
        test_close("omega^2", omega_squared[j], values[j], 1e-9 * values[n - 1]);
        if (j >= 6) {
            test_close("relative", omega_squared[j] / values[j], 1, 1e-6);
        }
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

static void test_bad_input(void **state) {
    (void)state;
    chain c = make_chain(5, 1, 1);
    double omega_squared[15], shapes[15 * 15];
    sn_modes_report report;
    sn_modes_def def = {.pattern = &c.pattern,
                        .stiffness = c.K,
                        .lumped_mass = c.mass,
                        .mask = c.mask,
                        .count = 16};

    assert_int_equal(sn_modes_compute(c.context, &def, omega_squared, shapes, &report),
                     SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(c.context), "valid are 1 to 15"));
    def.count = 0;
    assert_int_equal(sn_modes_compute(c.context, &def, omega_squared, shapes, &report),
                     SINEW_INVALID_ARGUMENT);
    def.count = 15;
    // All of them.
    assert_int_equal(sn_modes_compute(c.context, &def, omega_squared, shapes, &report), SINEW_OK);
    def.count = 2;
    def.shift = 1;
    assert_int_equal(sn_modes_compute(c.context, &def, omega_squared, shapes, &report),
                     SINEW_INVALID_ARGUMENT);
    def.shift = 0;
    c.mass[7] = 0;
    assert_int_equal(sn_modes_compute(c.context, &def, omega_squared, shapes, &report),
                     SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(c.context), "unknown 7"));
    c.mass[7] = 1;
    c.K[9 * c.pattern.diagonal[2]] = -5;
    assert_int_equal(sn_modes_compute(c.context, &def, omega_squared, shapes, &report),
                     SINEW_INVALID_DATA);
    c.K[9 * c.pattern.diagonal[2]] = NAN;
    assert_int_equal(sn_modes_compute(c.context, &def, omega_squared, shapes, &report),
                     SINEW_INVALID_DATA);
    drop_chain(&c);
}

static void test_memory_shortage(void **state) {
    (void)state;
    chain c = make_chain(12, 1, 1);
    bool done = false;

    for (int64_t fail_at = 1; !done; fail_at++) {
        test_allocator allocator = {.fail_at = fail_at};
        sinew_context *context = test_context_failing(&allocator);
        double omega_squared[4], shapes[4 * 36];
        sn_modes_report report;
        sn_modes_def def = {.pattern = &c.pattern,
                            .stiffness = c.K,
                            .consistent_mass = c.M,
                            .mask = c.mask,
                            .count = 4};
        sinew_status status = sn_modes_compute(context, &def, omega_squared, shapes, &report);

        done = status == SINEW_OK;
        if (!done) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        assert_true(fail_at < 200);
    }

    drop_chain(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_chain),      cmocka_unit_test(test_clamped_chain),
        cmocka_unit_test(test_free_body),       cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_memory_shortage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
