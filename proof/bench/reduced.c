// Steps of a reduced bar beside those of the bar of elements that it was made from.
#include "bench/bench.h"
#include "machine.h"
#include "validate/bar.h"

#include <math.h>
#include <stdio.h>

enum { WARM_UP = 5, STEPS = 40 };

// 10 080 tets that sway under their weight.
static bar_def swaying_bar(void) {
    bar_def def = bar_default_def();
    def.cells[0] = 56;
    def.cells[1] = def.cells[2] = 6;
    def.element = SINEW_ELEMENT_TET4;
    def.material.young = 1e6;
    def.material.poisson = 0.3;
    def.world.gravity[2] = -4;
    def.world.solver = SINEW_SOLVER_AUTO;
    return def;
}

// Adds the time of a step; with a definition also that of the reduction. Returns the least time.
static sinew_status add_steps(bench_run *run, const char *name, const sinew_reduction_def *def,
                              double *least) {
    bar_def bar_of = swaying_bar();
    bar b;
    SN_TRY(bar_create(run->context, &bar_of, &b));
    double tets = b.mesh->element_count;
    double seconds[STEPS];
    sinew_reduction_report report = {0};
    sinew_status status = bar_clamp(&b);
    double start = cli_measured_seconds(run->context);
    if (status == SINEW_OK && def) {
        status = sinew_body_reduce(b.body, def, &report);
    }
    double setup = cli_measured_seconds(run->context) - start;

    for (int i = -WARM_UP; i < STEPS && status == SINEW_OK; i++) {
        start = cli_measured_seconds(run->context);
        status = sinew_world_step(b.world, NULL);
        if (i >= 0) {
            seconds[i] = cli_measured_seconds(run->context) - start;
        }
    }
    uint64_t hash = sinew_world_get_hash(b.world);
    bar_destroy(&b);
    if (status != SINEW_OK) {
        return status;
    }

    bench_result *r = bench_add(run, name, tets, "ms");
    if (!r) {
        return SINEW_OK;
    }
    bench_take(r, seconds, STEPS, 1e3);
    r->hash = hash;
    *least = r->min;
    if (def) {
        snprintf(r->note, sizeof r->note, "%d coordinates, %d samples, reduced in %.2g s",
                 report.size, report.points, setup);
    }
    return SINEW_OK;
}

sinew_status bench_reduced(bench_run *b) {
    double full = NAN, modes = NAN, warped = NAN;
    sinew_reduction_def def = sinew_default_reduction_def();
    SN_TRY(add_steps(b, "bar of elements", NULL, &full));
    SN_TRY(add_steps(b, "bar, 20 modes and derivatives", &def, &modes));
    def.kind = SINEW_REDUCTION_WARPED;
    SN_TRY(add_steps(b, "bar, 20 warped modes", &def, &warped));

    const double ratios[2] = {full / modes, full / warped};
    static const char *const names[2] = {"elements over modes and derivatives",
                                         "elements over warped modes"};
    for (int i = 0; i < 2; i++) {
        bench_result *r = bench_add(b, names[i], 10080, "-");
        if (!r) {
            return SINEW_OK;
        }
        r->min = r->median = ratios[i];
        r->target = 100;
        r->at_least = true;
    }
    return SINEW_OK;
}
