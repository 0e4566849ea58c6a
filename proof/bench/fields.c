// Frame fields: the papers' mesh of about 8148 elements and three others, by element and by vertex,
// with the cost of rotating and moving a curve, the first rotation with and without its solution
// prepared; larger meshes, solved iteratively, up to half a million elements, and the memory that
// they need, changes included.
#include "bench/bench.h"
#include "bench/peak.h"
#include "machine.h"

#include "sinew/field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 5, CURVES = 4, POINTS = 5 };

// Curves through a bar of 3 m along x, each bent differently.
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

typedef struct field_case {
    const char *name;
    int32_t across; // cells of the bar
    sinew_field_unknowns unknowns;
    int32_t repeats;
    double paper, target; // of the first solve
} field_case;

typedef struct field_times {
    double create[REPEATS], turn[REPEATS], drag[REPEATS], move[REPEATS];
    double later_create[REPEATS], later_turn[REPEATS], later_move[REPEATS];
    sinew_field_report report; // of the first solve
    sinew_field_report moved;  // after the move
    uint64_t hash;             // of its axes
} field_times;

static sinew_status solve(sinew_context *context, sinew_field *field, double *seconds) {
    double start = cli_measured_seconds(context);
    SN_TRY(sinew_field_solve(field));
    *seconds = cli_measured_seconds(context) - start;
    return SINEW_OK;
}

static sinew_status move_curve(sinew_context *context, sinew_field *field, double *points,
                               double *seconds) {
    points[4] += 0.02;
    sinew_status status = sinew_field_move_curve(field, 1, points, POINTS);
    points[4] -= 0.02;
    SN_TRY(status);
    return solve(context, field, seconds);
}

// Rotates a curve, rotates it further, and moves another one.
static sinew_status measure_changes(sinew_context *context, sinew_field *field, double *points,
                                    field_times *times, int32_t repeat) {
    SN_TRY(sinew_field_set_turn(field, 0, 0.2));
    SN_TRY(solve(context, field, &times->turn[repeat]));
    SN_TRY(sinew_field_set_turn(field, 0, 0.3));
    SN_TRY(solve(context, field, &times->drag[repeat]));
    SN_TRY(move_curve(context, field, points, &times->move[repeat]));
    sinew_field_get_report(field, &times->moved);

    return SINEW_OK;
}

// The same without prepared rotations.
static sinew_status measure_later(sinew_context *context, sinew_field_def def, double *points,
                                  field_times *times, int32_t repeat) {
    def.turns = SINEW_FIELD_TURNS_LATER;
    sinew_field *field;
    double start = cli_measured_seconds(context);

    SN_TRY(sinew_field_create(context, &def, &field));
    times->later_create[repeat] = cli_measured_seconds(context) - start;

    sinew_status status = sinew_field_set_turn(field, 0, 0.2);
    if (status == SINEW_OK) {
        status = solve(context, field, &times->later_turn[repeat]);
    }
    if (status == SINEW_OK) {
        status = move_curve(context, field, points, &times->later_move[repeat]);
    }

    sinew_field_destroy(field);
    return status;
}

static sinew_status measure(sinew_context *context, const field_case *c, const sinew_field_def *def,
                            double *points, field_times *times) {
    for (int32_t i = 0; i < c->repeats; i++) {
        sinew_field *field;
        double start = cli_measured_seconds(context);

        SN_TRY(sinew_field_create(context, def, &field));
        times->create[i] = cli_measured_seconds(context) - start;
        sinew_field_get_report(field, &times->report);
        times->hash = bench_hash(sinew_field_get_axes(field),
                                 9 * (size_t)sinew_field_get_element_count(field));

        sinew_status status = measure_changes(context, field, points, times, i);
        sinew_field_destroy(field);
        SN_TRY(status);
        SN_TRY(measure_later(context, *def, points, times, i));
    }

    return SINEW_OK;
}

static void add_times(bench_run *b, const field_case *c, const char *what, double size,
                      double *seconds, double paper, double target) {
    char text[120];
    snprintf(text, sizeof text, "%s: %s", c->name, what);
    bench_result *r = bench_add(b, text, size, "ms");
    if (!r) {
        return;
    }

    bench_take(r, seconds, c->repeats, 1e3);
    r->paper = paper;
    r->target = target;
}

static void note_iterations(bench_run *b, const sinew_field_report *report) {
    bench_result *r = &b->results[b->count - 1];
    if (report->direct) {
        return;
    }
    snprintf(r->note, sizeof r->note, "%d iterations, to a residual of %.1e",
             (int)report->iterations, report->relative_residual);
}

static void add_results(bench_run *b, const field_case *c, double size, field_times *times) {
    add_times(b, c, "set-up and first solve", size, times->create, c->paper, c->target);
    bench_result *r = &b->results[b->count - 1];
    double first = r->min;

    r->hash = times->hash;
    note_iterations(b, &times->report);
    add_times(b, c, "a curve rotated for the first time", size, times->turn, NAN, 0.1 * first);
    add_times(b, c, "the same curve rotated again", size, times->drag, NAN, 0.1 * first);
    add_times(b, c, "a curve moved", size, times->move, NAN, 0.5 * first);
    note_iterations(b, &times->moved);
    add_times(b, c, "set-up without prepared rotations", size, times->later_create, NAN, c->target);
    first = b->results[b->count - 1].min;
    add_times(b, c, "its first rotation, not prepared", size, times->later_turn, NAN, 0.1 * first);
    add_times(b, c, "its move", size, times->later_move, NAN, 0.5 * first);
}

static sinew_status run_case(bench_run *b, sinew_context *context, const field_case *c) {
    // Curves through a bar.
    double points[CURVES][3 * POINTS];
    sinew_curve_def curves[CURVES];

    fill_curves(points, curves);
    sinew_shape_def shape = sinew_default_shape_def();

    shape.size[0] = 3;
    shape.cells[0] = 3 * c->across + (c->across == 8);
    shape.cells[1] = shape.cells[2] = c->across;

    sinew_mesh *mesh;
    SN_TRY(sinew_mesh_create_shape(context, &shape, &mesh));

    // Measure on the caller's context, which may count memory.
    sinew_field_def def = sinew_default_field_def();
    def.mesh = mesh;
    def.unknowns = c->unknowns;
    def.curves = curves;
    def.curve_count = CURVES;

    field_times times;
    sinew_status status = measure(context, c, &def, points[1], &times);
    if (status == SINEW_OK) {
        add_results(b, c, mesh->element_count, &times);
    }

    sinew_mesh_destroy(mesh);
    return status;
}

// Four sizes, the papers' among them, and the exponent of the first solve.
static sinew_status run_sizes(bench_run *b, const char *name, sinew_field_unknowns unknowns,
                              double paper) {
    enum { SIZES = 4 };
    static const int32_t across[SIZES] = {6, 8, 12, 17};
    double size[SIZES], cost[SIZES];

    for (int i = 0; i < SIZES; i++) {
        // Only the second size is the papers'.
        field_case c = {.name = name,
                        .across = across[i],
                        .unknowns = unknowns,
                        .repeats = i < 2 ? REPEATS : 2};

        c.paper = across[i] == 8 ? paper : NAN;
        c.target = across[i] == 8 ? 150 : NAN;

        int32_t before = b->count;
        SN_TRY(run_case(b, b->context, &c));
        if (b->count == before) {
            return SINEW_OK;
        }

        size[i] = b->results[before].size;
        cost[i] = b->results[before].min;
    }

    // Growth with the number of elements.
    char text[120];
    snprintf(text, sizeof text, "%s: exponent of set-up and first solve over elements", name);

    bench_result *r = bench_add(b, text, SIZES, "-");
    if (r) {
        r->min = r->median = bench_fit_exponent(size, cost, SIZES);
    }

    return SINEW_OK;
}

// ---- Memory -------------------------------------------------------------------------------------

typedef struct counted_memory {
    size_t now, most;
} counted_memory;

static void *allocate(void *user, size_t size, size_t alignment) {
    counted_memory *memory = user;
    void *made = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (made == NULL) {
        return NULL;
    }

    memory->now += size;
    if (memory->now > memory->most) {
        memory->most = memory->now;
    }

    return made;
}

static void release(void *user, void *made, size_t size) {
    counted_memory *memory = user;
    memory->now -= size;
    free(made);
}

// Half a million elements, counting every allocation, that of the mesh included.
static sinew_status run_largest(bench_run *b) {
    field_case c = {.name = "frame field of half a million elements", .across = 32, .repeats = 1};
    c.paper = NAN;
    c.target = 30e3;

    // A context of its own, whose allocator counts.
    counted_memory memory = {0};
    sinew_context_def def = sinew_default_context_def();

    def.threads = b->threads;
    def.allocator = (sinew_allocator){allocate, release, &memory};

    sinew_context *context = sinew_context_create(&def);
    if (!context) {
        return SINEW_OUT_OF_MEMORY;
    }

    sinew_status status = run_case(b, context, &c);
    sinew_context_destroy(context);

    bench_result *r =
        status == SINEW_OK
            ? bench_add(b, "frame field of half a million elements: memory", 491520, "MB")
            : NULL;

    if (!r) {
        return status;
    }

    r->min = r->median = 1e-6 * (double)memory.most;
    r->target = 2000;

    return SINEW_OK;
}

sinew_status bench_fields(bench_run *b) {
    SN_TRY(run_sizes(b, "frame field by element", SINEW_FIELD_BY_ELEMENT, 1717));
    SN_TRY(run_sizes(b, "frame field by vertex", SINEW_FIELD_BY_VERTEX, 399));
    field_case large = {
        .name = "frame field by element, by iterations", .across = 21, .repeats = 1};
    large.paper = large.target = NAN;
    SN_TRY(run_case(b, b->context, &large));

    return run_largest(b);
}
