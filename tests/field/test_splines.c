// The coarse space of splines: it solves exactly for what it holds, and does so the same with any number of threads.
#include "field/fields.h"

#include "support/hash.h"

#include <stdlib.h>

enum { WIDTH = SN_SMOOTHING_WIDTH };

static sinew_field *make_tube_field(sinew_context *context, bool by_vertex) {
    sinew_mesh *mesh = make_tube_of(context, 1, 2, 24, 16);
    double points[6] = {0.4, 0, -0.8, 0.38, 0.05, 0.8};
    sinew_curve_def curve = sinew_default_curve_def();
    curve.points = points;
    curve.point_count = 2;
    sinew_field_def def = sinew_default_field_def();
    def.mesh = mesh;
    def.curves = &curve;
    def.curve_count = 1;
    def.unknowns = by_vertex ? SINEW_FIELD_BY_VERTEX : SINEW_FIELD_BY_ELEMENT;
    def.solver = SINEW_FIELD_SOLVER_ITERATIVE;
    sinew_field *field = make_field(context, &def);
    sinew_mesh_destroy(mesh);
    return field;
}

static double *make_vector(size_t count) {
    return aligned_alloc(SN_ALIGNMENT, (count * sizeof(double) + SN_ALIGNMENT - 1) / SN_ALIGNMENT * SN_ALIGNMENT);
}

// y = (G D^-2 G + C'C) x
static void apply_plain(const sn_smoothing *smoothing, const sn_constraints *rows, double *y, const double *x) {
    size_t n = (size_t)smoothing->n;
    double *t = calloc(n, sizeof(double)), *column = calloc(n, sizeof(double));
    for (size_t c = 0; c < WIDTH; c++) {
        for (size_t i = 0; i < n; i++) column[i] = x[WIDTH * i + c];
        sn_sparse_multiply(smoothing->context, t, &smoothing->G, column);
        for (size_t i = 0; i < n; i++) t[i] *= smoothing->inverse_degrees[i] * smoothing->inverse_degrees[i];
        double *z = calloc(n, sizeof(double));
        sn_sparse_multiply(smoothing->context, z, &smoothing->G, t);
        for (int32_t r = 0; r < rows->count; r++) {
            double mean = 0;
            for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
                mean += rows->weights[k] * column[rows->unknowns[k]];
            }
            for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) z[rows->unknowns[k]] += rows->weights[k] * mean;
        }
        for (size_t i = 0; i < n; i++) y[WIDTH * i + c] = z[i];
        free(z);
    }
    free(t);
    free(column);
}

// Q A P c = P c: whatever is made of splines is found again. P c comes from Q too, of a vector of random numbers.
static void test_reproduces_splines(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int by = 0; by < 2; by++) {
        sinew_field *field = make_tube_field(context, by == 1);
        sn_smoothing *smoothing = &field->smoothing;
        size_t count = WIDTH * (size_t)smoothing->n;
        double *r = make_vector(count), *x = make_vector(count), *y = make_vector(count), *again = make_vector(count);
        sn_random random = sn_random_seed(7);
        assert_true(smoothing->splines.usable && smoothing->splines.count >= 8);
        for (size_t i = 0; i < count; i++) r[i] = sn_random_range(&random, -1, 1), x[i] = again[i] = 0;
        sn_arena scratch = sn_arena_create(context);
        sn_spline_job job;
        assert_int_equal(sn_splines_prepare(&scratch, &smoothing->splines, 1, &job), SINEW_OK);
        sn_splines_add(&smoothing->splines, &job, x, r);
        apply_plain(smoothing, &field->guides.constraints, y, x);
        sn_splines_add(&smoothing->splines, &job, again, y);
        sn_arena_destroy(&scratch);
        double error = test_relative_error(again, x, count);
        print_message("%d splines for %d unknowns: found again to %.1e\n", (int)smoothing->splines.count, (int)smoothing->n,
                      error);
        assert_true(error < 1e-4); // the factor is read in single precision
        free(r), free(x), free(y), free(again);
        sinew_field_destroy(field);
    }
    sinew_context_destroy(context);
}

static uint64_t hash_field(sinew_context *context, void *user) {
    (void)user;
    sinew_field *field = make_tube_field(context, false);
    uint64_t hash = test_hash(TEST_HASH_START, sinew_field_get_axes(field),
                              9 * sizeof(double) * (size_t)sinew_field_get_element_count(field));
    sinew_field_destroy(field);
    return hash;
}

static void test_threads(void **state) {
    (void)state;
    test_over_threads("field by iterations", hash_field, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reproduces_splines), cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
