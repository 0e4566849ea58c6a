// The coarse space of splines: functions in the space are solved for exactly, with the same result
// for any number of threads.
#include "field/fields.h"

#include "support/hash.h"
#include "support/sparse.h"

#include <stdlib.h>

enum { WIDTH = SN_SMOOTHING_WIDTH };

static double *make_vector(size_t count) {
    return aligned_alloc(SN_ALIGNMENT,
                         (count * sizeof(double) + SN_ALIGNMENT - 1) / SN_ALIGNMENT * SN_ALIGNMENT);
}

// y = (G D^-2 G + C'C) x
static void apply_plain(const sn_smoothing *smoothing, const sn_constraints *rows, double *y,
                        const double *x) {
    size_t n = (size_t)smoothing->n;
    double *t = calloc(n, sizeof(double));
    double *column = calloc(n, sizeof(double));

    for (size_t c = 0; c < WIDTH; c++) {
        for (size_t i = 0; i < n; i++) {
            column[i] = x[WIDTH * i + c];
        }

        test_sparse_multiply(t, &smoothing->G, column);
        for (size_t i = 0; i < n; i++) {
            t[i] *= smoothing->inverse_degrees[i] * smoothing->inverse_degrees[i];
        }

        double *z = calloc(n, sizeof(double));
        test_sparse_multiply(z, &smoothing->G, t);
        for (int32_t r = 0; r < rows->count; r++) {
            double mean = 0;
            for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
                mean += rows->weights[k] * column[rows->unknowns[k]];
            }

            for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
                z[rows->unknowns[k]] += rows->weights[k] * mean;
            }
        }

        for (size_t i = 0; i < n; i++) {
            y[WIDTH * i + c] = z[i];
        }

        free(z);
    }

    free(t);
    free(column);
}

// Q A P c = P c: every combination of splines is reproduced. P c is obtained from Q as well,
// applied to a random vector.
static void test_reproduces_splines(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int by = 0; by < 2; by++) {
        sinew_field *field =
            make_tube_field(context, 1, (sinew_field_unknowns)by, SINEW_FIELD_SOLVER_ITERATIVE);
        sn_smoothing *smoothing = &field->smoothing;
        size_t count = WIDTH * (size_t)smoothing->n;
        double *r = make_vector(count);
        double *x = make_vector(count);
        double *y = make_vector(count);
        double *again = make_vector(count);
        sn_random random = sn_random_seed(7);

        assert_true(smoothing->splines.usable && smoothing->splines.count >= 8);
        for (size_t i = 0; i < count; i++) {
            r[i] = sn_random_range(&random, -1, 1);
            x[i] = again[i] = 0;
        }

        sn_arena scratch = sn_arena_create(context);
        sn_spline_job job;

        assert_int_equal(sn_splines_prepare(&scratch, &smoothing->splines, 1, &job), SINEW_OK);
        sn_splines_add(&smoothing->splines, &job, x, r);
        apply_plain(smoothing, &field->guides.constraints, y, x);
        sn_splines_add(&smoothing->splines, &job, again, y);
        sn_arena_destroy(&scratch);

        double error = test_relative_error(again, x, count);
        print_message("%d splines for %d unknowns: found again to %.1e\n",
                      (int)smoothing->splines.count, (int)smoothing->n, error);
        assert_true(error < 1e-4); // the factor is in single precision
        free(r);
        free(x);
        free(y);
        free(again);
        sinew_field_destroy(field);
    }

    sinew_context_destroy(context);
}

static uint64_t hash_field(sinew_context *context, void *user) {
    int32_t curves = *(const int32_t *)user;
    sinew_field *field =
        make_tube_field(context, curves, SINEW_FIELD_BY_ELEMENT, SINEW_FIELD_SOLVER_ITERATIVE);
    uint64_t hash = test_hash(TEST_HASH_START, sinew_field_get_axes(field),
                              9 * sizeof(double) * (size_t)sinew_field_get_element_count(field));
    sinew_field_destroy(field);

    return hash;
}

static void test_threads(void **state) {
    (void)state;
    // Four functions at once, and sixteen.
    for (int32_t curves = 1; curves <= TUBE_CURVES; curves += TUBE_CURVES - 1) {
        test_over_threads("field by iterations", hash_field, &curves);
    }
}

// The splines represent smooth functions on the mesh, not in space, which would need twice as many
// iterations; and the number of iterations does not grow with the mesh.
static void test_iterations(void **state) {
    (void)state;
    static const double points[2][9] = {{-0.9, 0.2, 0, 0, -0.1, 0.2, 0.9, 0.1, 0.3},
                                        {-0.9, -0.3, 0.1, 0, 0, -0.3, 0.9, 0.2, -0.2}};
    sinew_context *context = test_context(2);

    for (int32_t cells = 8; cells <= (TEST_SANITIZED ? 8 : 16); cells *= 2) {
        sinew_shape_def shape = sinew_default_shape_def();
        shape.size[0] = 2;
        shape.size[1] = shape.size[2] = 1;
        shape.cells[0] = 2 * cells;
        shape.cells[1] = shape.cells[2] = cells;

        sinew_mesh *mesh;
        assert_int_equal(sinew_mesh_create_shape(context, &shape, &mesh), SINEW_OK);

        sinew_curve_def curves[2] = {sinew_default_curve_def(), sinew_default_curve_def()};
        for (int c = 0; c < 2; c++) {
            curves[c].points = points[c];
            curves[c].point_count = 3;
        }

        sinew_field_def def = sinew_default_field_def();
        def.mesh = mesh;
        def.curves = curves;
        def.curve_count = 2;
        def.solver = SINEW_FIELD_SOLVER_ITERATIVE;
        def.turns = SINEW_FIELD_TURNS_LATER;

        sinew_field *field = make_field(context, &def);
        sinew_field_report report;

        sinew_field_get_report(field, &report);
        print_message("%d unknowns: %d iterations\n", (int)report.unknown_count,
                      (int)report.iterations);
        assert_true(report.iterations <= 45);
        sinew_field_destroy(field);
        sinew_mesh_destroy(mesh);
    }

    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reproduces_splines),
                                       cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_iterations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
