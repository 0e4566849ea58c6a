// Frame fields: the papers' mesh of about 8148 elements by element and by vertex, and half a million elements.
#include "bench/bench.h"
#include "bench/peak.h"

#include "sinew/field.h"

#include <math.h>
#include <stdio.h>

enum { REPEATS = 5, CURVES = 4, POINTS = 5 };

// Curves through a bar of 3 m along x, bent in different ways.
static void fill_curves(double points[CURVES][3 * POINTS], sinew_curve_def *curves) {
    for (int c = 0; c < CURVES; c++) {
        for (int i = 0; i < POINTS; i++) {
            double *p = points[c] + 3 * (size_t)i;
            p[0] = -1.4 + 2.8 * i / (POINTS - 1);
            p[1] = 0.3 * sin(2.0 * c + i);
            p[2] = 0.3 * cos(2.0 * c + 1.5 * i);
        }
        curves[c] = sinew_default_curve_def();
        curves[c].points = points[c];
        curves[c].point_count = POINTS;
    }
}

typedef struct field_times {
    double create[REPEATS], turn[REPEATS], drag[REPEATS], move[REPEATS];
} field_times;

// One creation; then a curve is turned, turned further, and another one is moved.
static sinew_status measure(bench_run *b, const sinew_field_def *def, double *points, field_times *times, int32_t repeat,
                            sinew_field_report *report) {
    sinew_field *field;
    double start = peak_seconds(b->context);
    SN_TRY(sinew_field_create(b->context, def, &field));
    times->create[repeat] = peak_seconds(b->context) - start;
    sinew_field_get_report(field, report);
    if (!report->direct) { // a minute is enough
        sinew_field_destroy(field);
        return SINEW_OK;
    }
    sinew_status status = sinew_field_set_turn(field, 0, 0.2);
    start = peak_seconds(b->context);
    if (status == SINEW_OK) status = sinew_field_solve(field);
    times->turn[repeat] = peak_seconds(b->context) - start;
    if (status == SINEW_OK) status = sinew_field_set_turn(field, 0, 0.3);
    start = peak_seconds(b->context);
    if (status == SINEW_OK) status = sinew_field_solve(field);
    times->drag[repeat] = peak_seconds(b->context) - start;
    points[4] += 0.02;
    if (status == SINEW_OK) status = sinew_field_move_curve(field, 1, points, POINTS);
    start = peak_seconds(b->context);
    if (status == SINEW_OK) status = sinew_field_solve(field);
    times->move[repeat] = peak_seconds(b->context) - start;
    points[4] -= 0.02;
    sinew_field_destroy(field);
    return status;
}

static void add_times(bench_run *b, const char *name, const char *what, double size, double *seconds, int32_t count,
                      double paper, double target) {
    char text[120];
    snprintf(text, sizeof text, "%s: %s", name, what);
    bench_result *r = bench_add(b, text, size, "ms");
    if (!r) return;
    bench_take(r, seconds, count, 1e3);
    r->paper = paper;
    r->target = target;
}

static sinew_status run_case(bench_run *b, const char *name, int32_t across, sinew_field_unknowns unknowns, int32_t repeats,
                             double paper, double target) {
    double points[CURVES][3 * POINTS];
    sinew_curve_def curves[CURVES];
    fill_curves(points, curves);
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = 3;
    shape.cells[0] = 3 * across + (across == 8), shape.cells[1] = shape.cells[2] = across;
    sinew_mesh *mesh;
    SN_TRY(sinew_mesh_create_shape(b->context, &shape, &mesh));
    sinew_field_def def = sinew_default_field_def();
    def.mesh = mesh;
    def.unknowns = unknowns;
    def.curves = curves;
    def.curve_count = CURVES;
    field_times times;
    sinew_field_report report = {0};
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < repeats && status == SINEW_OK; i++) status = measure(b, &def, points[1], &times, i, &report);
    if (status == SINEW_OK) {
        double size = mesh->element_count;
        add_times(b, name, "set-up and first solve", size, times.create, repeats, paper, target);
        double first = b->count > 0 ? b->results[b->count - 1].min : NAN;
        if (b->count > 0 && !report.direct) {
            bench_result *r = &b->results[b->count - 1];
            snprintf(r->note, sizeof r->note, "%d iterations, to a residual of %.1e", (int)report.iterations,
                     report.relative_residual);
        }
        if (!report.direct) {
            sinew_mesh_destroy(mesh);
            return SINEW_OK;
        }
        add_times(b, name, "a curve turned for the first time", size, times.turn, repeats, NAN, 0.1 * first);
        add_times(b, name, "the same curve turned further", size, times.drag, repeats, NAN, 0.1 * first);
        add_times(b, name, "a curve moved", size, times.move, repeats, NAN, 0.5 * first);
    }
    sinew_mesh_destroy(mesh);
    return status;
}

// Set-up and first solve by element at four sizes; the larger ones are solved by iterations.
static sinew_status run_sizes(bench_run *b) {
    enum { SIZES = 4 };
    static const int32_t across[SIZES] = {6, 8, 12, 17};
    double size[SIZES], cost[SIZES];
    for (int i = 0; i < SIZES; i++) {
        int32_t before = b->count;
        SN_TRY(run_case(b, "frame field by element", across[i], SINEW_FIELD_BY_ELEMENT, 1, NAN, NAN));
        if (b->count == before) return SINEW_OK;
        size[i] = b->results[before].size;
        cost[i] = b->results[before].min;
        b->count = before + 1; // the first solve alone
    }
    bench_result *r = bench_add(b, "exponent of set-up and first solve over elements", SIZES, "-");
    if (r) r->min = r->median = bench_fit_exponent(size, cost, SIZES);
    return SINEW_OK;
}

sinew_status bench_fields(bench_run *b) {
    SN_TRY(run_case(b, "frame field by element", 8, SINEW_FIELD_BY_ELEMENT, REPEATS, 1717, 150));
    SN_TRY(run_case(b, "frame field by vertex", 8, SINEW_FIELD_BY_VERTEX, REPEATS, 399, 150));
    SN_TRY(run_sizes(b));
    return run_case(b, "frame field of half a million elements", 32, SINEW_FIELD_BY_ELEMENT, 1, NAN, 30e3);
}
