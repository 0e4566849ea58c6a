// Smooth functions solved together: the result of one does not depend on the others.
#include "field/fields.h"

#include <stdlib.h>

enum { WIDTH = SN_SMOOTHING_WIDTH, MOST = SN_SMOOTHING_MAX_WIDTH };

// Columns first .. first + width of the values, solved for together.
static double *solve(sinew_field *field, sn_arena *arena, const double *values, size_t first,
                     size_t width) {
    const sn_constraints *rows = &field->guides.constraints;
    double *own = SN_PUSH(arena, double, width *(size_t)rows->count);
    double *x = SN_PUSH(arena, double, width *(size_t)field->unknown_count);
    sn_solve_report report;

    for (size_t r = 0; r < (size_t)rows->count; r++) {
        memcpy(own + width * r, values + MOST * r + first, width * sizeof(double));
    }

    assert_int_equal(
        sn_smoothing_solve(&field->smoothing, rows, own, (int32_t)width, x, NULL, false, &report),
        SINEW_OK);
    assert_int_equal(report.outcome, SN_SOLVE_CONVERGED);

    return x;
}

// Equal up to rounding: each function goes through the same operations in the same order, and one
// that has converged no longer changes, but a compiler may fuse products and sums differently in
// loops of another width. The iterations amplify this, relative to the largest value of the
// function, to much less than their own worst error, 1e-3.
static double difference(const double *wide, size_t width, size_t column, const double *few,
                         size_t n) {
    double largest = 0, worst = 0;
    for (size_t i = 0; i < n; i++) {
        double wanted = few[WIDTH * i + column % WIDTH];
        largest = fmax(largest, fabs(wanted));
        worst = fmax(worst, fabs(wide[width * i + column] - wanted));
    }

    return worst > 0 ? worst / largest : 0;
}

static void check_side_by_side(sinew_context *context, sinew_field_solver solver) {
    sinew_field *field = make_tube_field(context, 1, SINEW_FIELD_BY_ELEMENT, solver);
    sn_arena arena = sn_arena_create(context);
    size_t rows = (size_t)field->guides.constraints.count;
    size_t n = (size_t)field->unknown_count;
    double *values = SN_PUSH(&arena, double, MOST *rows);
    double *few[MOST / WIDTH];
    sn_random random = sn_random_seed(5);

    // Values of any size, smooth or not, so that some need more iterations than others; the seventh
    // is 0.
    for (size_t k = 0; k < MOST * rows; k++) {
        double c = (double)(k % MOST);
        double t = (double)(k / MOST) / (double)rows;
        values[k] = k % MOST == 6
                        ? 0
                        : pow(10, c - 8) *
                              (sin(c * t) + (k % 3 == 0 ? sn_random_range(&random, -1, 1) : 0));
    }

    for (size_t q = 0; q < MOST / WIDTH; q++) {
        few[q] = solve(field, &arena, values, WIDTH * q, WIDTH);
    }

    for (size_t width = 2 * WIDTH; width <= MOST; width += WIDTH) {
        const double *x = solve(field, &arena, values, 0, width);
        double worst = 0;
        for (size_t c = 0; c < width; c++) {
            worst = fmax(worst, difference(x, width, c, few[c / WIDTH], n));
        }

        print_message("%d functions side by side: as four to %.1e\n", (int)width, worst);
        assert_true(worst < 1e-4);
    }

    sn_arena_destroy(&arena);
    sinew_field_destroy(field);
}

static void test_side_by_side(void **state) {
    (void)state;
    for (sn_isa isa = SN_ISA_BASE; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        sinew_context *context = test_context(2);
        context->isa = isa;
        check_side_by_side(context, SINEW_FIELD_SOLVER_DIRECT);
        check_side_by_side(context, SINEW_FIELD_SOLVER_ITERATIVE);
        sinew_context_destroy(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_side_by_side)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
