// Position dynamics: bars with the papers' numbers of tets and iterations.
#include "bench/bench.h"
#include "bench/peak.h"
#include "machine.h"

#include "sinew/pbd.h"

#include "base/memory.h"
#include "math/quat.h"

#include <math.h>
#include <stdio.h>

// Flops per tet and iteration, a multiply-add counted as two (src/pbd/project_simd.c): reading the
// nodes and G 92, three stretches 114, three shears 234, the volume 96, the corrections of the
// nodes 84.
enum { STEPS = 11, CASES = 7, FLOPS = 620 };

// Targets: nanoseconds per tet and iteration on one core, and for the largest case on two or more.
static const double one_core = 40, two_cores = 20e6 / (89876.0 * 10);

typedef struct positions_case {
    int32_t cells[3];
    int32_t tets, iterations; // the paper's
    double plain, field;      // [ms]
} positions_case;

static sinew_status time_steps(bench_run *b, const sinew_mesh *mesh, const sinew_pbd_def *def,
                               double *seconds, uint64_t *hash) {
    sinew_pbd *pbd;
    SN_TRY(sinew_pbd_create(b->context, mesh, def, &pbd));

    sinew_status status = SINEW_OK;

    // Steps, after a warm-up.
    for (int i = -3; i < STEPS && status == SINEW_OK; i++) {
        double start = cli_measured_seconds(b->context);
        status = sinew_pbd_step(pbd, 0.01, NULL, NULL);
        if (i >= 0) {
            seconds[i] = cli_measured_seconds(b->context) - start;
        }
    }

    // The state's hash proves that the work was the same.
    size_t count = 3 * (size_t)mesh->point_count;
    double *x = sn_allocate(b->context, count, sizeof *x);
    if (!x) {
        status = SINEW_OUT_OF_MEMORY;
    }

    if (x) {
        sinew_pbd_get_positions(pbd, x);
        *hash = bench_hash(x, count);
        sn_release(b->context, x, count, sizeof *x);
    }

    sinew_pbd_destroy(pbd);
    return status;
}

// `fastest` receives the times of an iteration without and with a field. [ms]
static sinew_status run_case(bench_run *b, const positions_case *c, const sinew_mesh *mesh,
                             sn_arena *arena, double fastest[2]) {
    uint8_t *kinematic = SN_PUSH(arena, uint8_t, mesh->point_count);
    double *frames = SN_PUSH(arena, double, 9 * (size_t)mesh->element_count);

    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < mesh->point_count; i++) {
        kinematic[i] = mesh->points[3 * i] < -0.5 + 1e-9;
    }

    for (int32_t i = 0; i < mesh->element_count; i++) {
        sn_mat3 Q = sn_quat_to_mat3(sn_quat_exp(sn_v3(0.1 * (i % 31), 0.2, -0.05 * (i % 17))));
        for (int k = 0; k < 9; k++) {
            frames[9 * (size_t)i + (size_t)k] = Q.m[k / 3][k % 3];
        }
    }

    sinew_pbd_def def = sinew_default_pbd_def();
    def.gravity[1] = -9.81;
    def.gravity[2] = 0;
    def.iterations = c->iterations;
    def.kinematic = kinematic;

    for (int field = 0; field < 2; field++) {
        def.frames = field ? frames : NULL;
        double seconds[STEPS];
        uint64_t hash = 0;

        SN_TRY(time_steps(b, mesh, &def, seconds, &hash));
        char name[120];

        snprintf(name, sizeof name, "position dynamics, %d iterations, %s", c->iterations,
                 field ? "with a field" : "plain");

        bench_result *r = bench_add(b, name, mesh->element_count, "ms");
        if (!r) {
            return SINEW_OK;
        }

        bench_take(r, seconds, STEPS, 1e3);
        bool largest = c->tets > 80000;
        double promise = b->threads > 1 && largest ? two_cores : one_core;

        r->paper = field ? c->field : c->plain;
        r->target = 1e-6 * promise * mesh->element_count * c->iterations * (field ? 1.1 : 1);
        // The peak of floats is twice that of doubles.
        r->limit_share =
            FLOPS * (double)mesh->element_count * c->iterations / (1e-3 * r->min) / (2 * b->flops);
        r->hash = hash;
        snprintf(r->note, sizeof r->note,
                 "%.0f ns per tet and iteration; the paper's mesh has %d tets",
                 1e6 * r->min / mesh->element_count / c->iterations, c->tets);
        fastest[field] = r->min / c->iterations;
    }

    return SINEW_OK;
}

sinew_status bench_positions(bench_run *b) {
    static const positions_case cases[CASES] = {
        {{18, 5, 5}, 2214, 3, 2.3, 2.8},        {{14, 7, 7}, 3452, 10, 11.6, 14.6},
        {{34, 8, 8}, 10760, 6, 21.5, 27.1},     {{50, 10, 10}, 24837, 10, 87.5, 108.5},
        {{55, 10, 10}, 27350, 4, 37.8, 48.3},   {{76, 14, 14}, 74288, 10, 258.5, 335.1},
        {{80, 15, 15}, 89876, 10, 317.7, 408.5}};
    double size[CASES], cost[2][CASES];
    double fastest[2] = {1, 1};

    // All cases, without and with a field.
    for (int i = 0; i < CASES; i++) {
        sinew_shape_def shape = sinew_default_shape_def();
        for (int k = 0; k < 3; k++) {
            shape.cells[k] = cases[i].cells[k];
        }

        shape.size[1] = shape.size[2] = (double)shape.cells[1] / shape.cells[0];
        sinew_mesh *mesh;

        SN_TRY(sinew_mesh_create_shape(b->context, &shape, &mesh));
        sn_arena arena = sn_arena_create(b->context);
        sinew_status status = run_case(b, &cases[i], mesh, &arena, fastest);

        size[i] = mesh->element_count;
        cost[0][i] = fastest[0];
        cost[1][i] = fastest[1];
        sn_arena_destroy(&arena);
        sinew_mesh_destroy(mesh);
        SN_TRY(status);
    }

    // Cost of the field.
    bench_result *field =
        bench_add(b, "time with a field over that without, largest case", size[CASES - 1], "-");
    if (field) {
        field->min = field->median = fastest[1] / fastest[0];
        field->target = 1.1;
    }

    // Growth over tets.
    static const char *const names[2] = {
        "exponent of the time of an iteration over tets",
        "exponent of the time of an iteration over tets, with a field"};

    for (int k = 0; k < 2; k++) {
        bench_result *r = bench_add(b, names[k], CASES, "-");
        if (!r) {
            return SINEW_OK;
        }
        r->min = r->median = bench_fit_exponent(size, cost[k], CASES);
        r->target = 1.05;
    }

    return SINEW_OK;
}
