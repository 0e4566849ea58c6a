// The same bar in Bullet, measured in the same run: the mesh is passed to a separate program
// (bench/peers), which prints its times.
//
// Both take implicit Euler steps of 10 ms with one linearisation per step, solve to a residual of
// 1e-6 in double precision on one thread, with lumped masses and the corotational law, which Bullet
// calls linear elasticity. Bullet's neo-Hookean bar cannot be compared: its formula is about 27 %
// too soft for the same constants.
#define _POSIX_C_SOURCE 200809L // popen

#include "bench/bench.h"
#include "bench/peak.h"
#include "machine.h"
#include "files.h"
#include "folder.h"
#include "validate/bar.h"

#include "base/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM_UP = 3, STEPS = 12 };

typedef struct outcome {
    double seconds[STEPS];
    double tip[3];
} outcome;

static sinew_status run_ours(bench_run *run, bar *b, outcome *ours) {
    SN_TRY(bar_clamp(b));
    for (int i = -WARM_UP; i < STEPS; i++) {
        double start = cli_measured_seconds(run->context);
        SN_TRY(sinew_world_step(b->world, NULL));
        if (i >= 0) {
            ours->seconds[i] = cli_measured_seconds(run->context) - start;
        }
    }

    return bar_get_displacement(b, 1, ours->tip);
}

static void add_numbers(sn_buffer *out, const double *numbers, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        sn_buffer_add_double(out, numbers[i]);
        sn_buffer_add_text(out, i % 3 == 2 ? "\n" : " ");
    }
}

static sinew_status write_bar(bench_run *run, bar *b, const bar_def *def, const char *path) {
    // What both programs simulate: sizes, constants, steps.
    int32_t held;
    int32_t *nodes = bar_pick(b, 0, 0, &held);

    SN_TRY(sn_arena_status(&b->arena));
    sn_buffer out = sn_buffer_create(run->context);

    sn_buffer_print(&out, "%d %d %d ", b->mesh->point_count, b->mesh->element_count, held);
    add_numbers(&out,
                (double[]){def->world.step, def->material.young, def->material.poisson,
                           def->material.density, def->world.gravity[2]},
                5);
    sn_buffer_print(&out, "%d %d\n", WARM_UP, STEPS);

    // Points, tets and held nodes.
    add_numbers(&out, b->mesh->points, 3 * b->mesh->point_count);

    for (int32_t i = 0; i < 4 * b->mesh->element_count; i++) {
        sn_buffer_print(&out, "%d ", b->mesh->indices[i]);
    }

    for (int32_t i = 0; i < held; i++) {
        sn_buffer_print(&out, "%d ", nodes[i]);
    }

    sinew_status status = sn_buffer_status(&out);
    if (status == SINEW_OK) {
        status = cli_write_file(run->context, path, out.data, out.size);
    }

    sn_buffer_destroy(&out);
    return status;
}

// Reads STEPS lines of seconds and "tip x y z", which is converted to a displacement of the end at
// x = 1.
static sinew_status read_outcome(sinew_context *context, FILE *pipe, outcome *theirs) {
    bool complete = true;
    for (int i = 0; i < STEPS; i++) {
        complete &= fscanf(pipe, "%lf", &theirs->seconds[i]) == 1;
    }

    complete &=
        fscanf(pipe, " tip %lf %lf %lf", &theirs->tip[0], &theirs->tip[1], &theirs->tip[2]) == 3;
    theirs->tip[0] -= 1;

    return complete ? SINEW_OK
                    : sn_fail(context, SINEW_INVALID_DATA,
                              "the peer program printed something unexpected");
}

static sinew_status run_theirs(bench_run *run, bar *b, const bar_def *def, outcome *theirs) {
    char folder[2048], path[2100], command[6400];
    SN_TRY(proof_make_folder(run->context, folder, sizeof folder));
    snprintf(path, sizeof path, "%s/bar.txt", folder);

    sinew_status status = write_bar(run, b, def, path);
    snprintf(command, sizeof command, "'%s/bullet' '%s'", SINEW_PEER_DIR, path);

    FILE *pipe = status == SINEW_OK ? popen(command, "r") : NULL;
    if (pipe) {
        status = read_outcome(run->context, pipe, theirs);
        if (pclose(pipe) != 0 && status == SINEW_OK) {
            status =
                sn_fail(run->context, SINEW_INVALID_DATA, "the peer program ended with an error");
        }
    } else if (status == SINEW_OK) {
        status = sn_fail(run->context, SINEW_INVALID_DATA, "the peer program cannot be started");
    }

    sinew_status removed = proof_remove_folder(run->context, folder);
    return status == SINEW_OK ? removed : status;
}

// `cost` receives the times of a step, ours and Bullet's. [ms]
static sinew_status compare(bench_run *run, const bar_def *def, double *size, double *cost[2]) {
    // The same bar in both programs.
    bar b;
    outcome ours, theirs;

    SN_TRY(bar_create(run->context, def, &b));
    int32_t tets = b.mesh->element_count;
    sinew_status status = run_ours(run, &b, &ours);
    uint64_t hash = status == SINEW_OK ? sinew_world_get_hash(b.world) : 0;

    if (status == SINEW_OK) {
        status = run_theirs(run, &b, def, &theirs);
    }

    bar_destroy(&b);
    SN_TRY(status);

    // Our step, theirs, and the ratio.
    bench_result *mine = bench_add(run, "corotational bar, ours: step", tets, "ms");
    if (!mine) {
        return SINEW_OK;
    }

    bench_take(mine, ours.seconds, STEPS, 1e3);
    mine->hash = hash;

    bench_result *bullet =
        bench_add(run, "corotational bar, Bullet's linear elasticity: step", tets, "ms");
    if (!bullet) {
        return SINEW_OK;
    }

    bench_take(bullet, theirs.seconds, STEPS, 1e3);
    snprintf(bullet->note, sizeof bullet->note, "sag of its tip %.4f m, of ours %.4f m",
             -theirs.tip[2], -ours.tip[2]);

    bench_result *ratio = bench_add(run, "Bullet's step over ours", tets, "-");
    if (!ratio) {
        return SINEW_OK;
    }

    ratio->min = bullet->min / mine->min;
    ratio->median = bullet->median / mine->median;
    ratio->target = 1;
    ratio->at_least = true;
    *size = tets, *cost[0] = mine->min, *cost[1] = bullet->min;

    return SINEW_OK;
}

sinew_status bench_bullet(bench_run *b) {
    static const int32_t cells[4][2] = {{12, 3}, {16, 4}, {23, 6}, {32, 8}};
    if (access(SINEW_PEER_DIR "/bullet", X_OK) != 0) {
        return sn_fail(b->context, SINEW_UNSUPPORTED,
                       "the peer program is not built (it needs Debian's libbullet-dev)");
    }

    // Bars of four sizes.
    double size[4], ours[4], theirs[4];
    for (int i = 0; i < 4; i++) {
        bar_def def = bar_default_def();
        def.size[1] = def.size[2] = (double)cells[i][1] / cells[i][0];
        def.cells[0] = cells[i][0];
        def.cells[1] = def.cells[2] = cells[i][1];
        def.element = SINEW_ELEMENT_TET4;
        def.material.poisson = 0.3;
        def.world.gravity[2] = -9.81;
        def.world.solver = SINEW_SOLVER_AUTO;
        def.world.solver_tolerance = 1e-6;
        SN_TRY(compare(b, &def, &size[i], (double *[]){&ours[i], &theirs[i]}));
    }

    // Growth of both.
    bench_result *mine = bench_add(b, "exponent of our step over tets", 4, "-");
    if (mine) {
        mine->min = mine->median = bench_fit_exponent(size, ours, 4);
    }

    bench_result *bullet = bench_add(b, "exponent of Bullet's step over tets", 4, "-");
    if (bullet) {
        bullet->min = bullet->median = bench_fit_exponent(size, theirs, 4);
    }

    return SINEW_OK;
}
