// Steps and set-up of a few frames with spectral weights: quadratic frames on a bar of one
// material, compared with as many controls of affine frames, and frames of sixteen controls on the
// specimens of several materials. Set-up is measured in
// processor time, because its targets are.
#include "points.h"

#include "bench/bench.h"
#include "machine.h"
#include "specimen.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { STEPS = BENCH_REPEATS, WARM_UP = 10, FRAMES = 4 };

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void choose_spectral(sinew_autorig_def *def, sinew_node_kind kind) {
    def->weights.kind = SINEW_WEIGHTS_SPECTRAL;
    def->placement.kind = SINEW_PLACEMENT_SPECTRAL;
    def->placement.count = FRAMES;
    def->kind = kind;
}

// A row of steps under a force that bends the body.
static sinew_status time_steps(bench_run *b, const char *name, rig_specimen *m,
                               const double point[3], const double force[3], double per_frame,
                               double target, double *rate) {
    double seconds[STEPS];
    sinew_step_report report = {0};
    sinew_sampling_report sampling;

    SN_TRY(sinew_frame_body_get_report(m->body, NULL, &sampling));
    double controls = per_frame * sampling.mean_nodes;
    SN_TRY(proof_add_force(m->body, point, force));

    // Time steps.
    for (int i = -WARM_UP; i < STEPS; i++) {
        double start = cli_measured_seconds(b->context);
        SN_TRY(sinew_world_step(m->world, &report));
        if (i >= 0) {
            seconds[i] = cli_measured_seconds(b->context) - start;
        }
    }

    // The row, as a rate.
    bench_result *r = bench_add(b, name, sampling.point_count, "steps/s");
    if (!r) {
        return SINEW_OK;
    }

    bench_take(r, seconds, STEPS, 1);
    r->min = 1 / r->min;
    r->median = 1 / r->median;
    if (rate) {
        *rate = r->min;
    }
    r->at_least = true;
    r->target = target;
    r->hash = sinew_world_get_hash(m->world);
    r->limit_share = sampling.point_count * bench_control_flops(controls) * r->min / b->flops;
    snprintf(r->note, sizeof r->note,
             "size: points with %.0f controls each; %d iterations of the solver", controls,
             report.solver_iterations);

    return SINEW_OK;
}

typedef struct bar_case {
    const char *name;
    sinew_node_kind kind;
    sinew_weights weights;
    int32_t frames;
    double controls, target; // controls of a frame
} bar_case;

// Steps of a bar of 5 : 1 : 1 whose left end is held.
static sinew_status bench_bar(bench_run *b, const bar_case *c, double *rate) {
    rig_specimen m = {.def = sinew_default_autorig_def()};
    sinew_world_def world = sinew_default_world_def();
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();
    const double size[3] = {1, 0.2, 0.2}, tip[3] = {0.49, 0, 0}, force[3] = {0, 0, 20};

    // Voxels of 8 x 8 across.
    for (int k = 0; k < 3; k++) {
        solid.size[k] = size[k];
        grid.spacing[k] = 0.025;
    }

    sinew_status status = sinew_world_create(b->context, &world, &m.world);
    if (status == SINEW_OK) {
        status = sinew_voxels_create_from_solids(b->context, &solid, 1, &grid, &m.voxels);
    }
    if (status == SINEW_OK) {
        m.def.voxels = m.voxels;
        choose_spectral(&m.def, c->kind);
        m.def.placement.count = c->frames;
        if (c->weights != SINEW_WEIGHTS_SPECTRAL) {
            m.def.weights.kind = c->weights;
            m.def.placement.kind = sinew_default_placement_def().kind;
        }
        status = rig_specimen_create(&m, NULL);
    }
    if (status == SINEW_OK) {
        status = time_steps(b, c->name, &m, tip, force, c->controls, c->target, rate);
    }

    rig_specimen_destroy(&m);
    return status;
}

// Forty controls: as four quadratic frames, whose weights are spectral or local, and as ten affine
// frames.
static sinew_status bench_bars_of_frames(bench_run *b) {
    static const bar_case cases[3] = {{"bar of 4 quadratic frames: steps", SINEW_NODE_QUADRATIC,
                                       SINEW_WEIGHTS_SPECTRAL, FRAMES, 10, 3000},
                                      {"bar of 4 quadratic frames with Voronoi weights: steps",
                                       SINEW_NODE_QUADRATIC, SINEW_WEIGHTS_VORONOI, FRAMES, 10,
                                       NAN},
                                      {"bar of 10 affine frames with Voronoi weights: steps",
                                       SINEW_NODE_AFFINE, SINEW_WEIGHTS_VORONOI, 10, 4, NAN}};
    static const char *const ratios[2] = {"4 quadratic frames over 10 affine ones: time of a step",
                                          "the same with Voronoi weights for both"};
    double rate[3] = {0};

    for (int i = 0; i < 3; i++) {
        SN_TRY(bench_bar(b, &cases[i], &rate[i]));
    }

    for (int i = 0; i < 2; i++) {
        bench_result *r = bench_add(b, ratios[i], 40, "-");
        if (!r) {
            return SINEW_OK;
        }
        r->min = r->median = rate[2] / rate[i];
        r->target = 3;
        snprintf(r->note, sizeof r->note, "size: controls of the whole body");
    }

    return SINEW_OK;
}

static sinew_status bench_specimen(bench_run *b, sinew_specimen specimen, double setup,
                                   double rate) {
    static const double tip[3] = {-0.08, 0, 0}, pull[3] = {-0.5, 0.2, 0.1};
    rig_specimen m;
    char name[120];

    // Set-up.
    double start = processor_seconds();
    sinew_status status =
        rig_specimen_prepare(b->context, specimen, sinew_specimen_voxel_count(specimen), &m);

    if (status == SINEW_OK) {
        choose_spectral(&m.def, SINEW_NODE_COMPLIANT);
        status = rig_specimen_create(&m, NULL);
    }

    double seconds = processor_seconds() - start;
    snprintf(name, sizeof name, "%s of 4 frames with 16 controls: set-up",
             sinew_specimen_name(specimen));

    bench_result *r = NULL;
    if (status == SINEW_OK) {
        r = bench_add(b, name, sinew_voxels_get_count(m.voxels), "s");
    }
    if (r) {
        bench_take(r, &seconds, 1, 1);
        r->target = setup;
        snprintf(r->note, sizeof r->note,
                 "size: voxels, whose creation is included; processor time");
    }

    // Steps.
    if (status == SINEW_OK && rate > 0) {
        snprintf(name, sizeof name, "%s of 4 frames with 16 controls: steps",
                 sinew_specimen_name(specimen));
        status = time_steps(b, name, &m, tip, pull, 16, rate, NULL);
    }

    rig_specimen_destroy(&m);
    return status;
}

sinew_status bench_spectral(bench_run *b) {
    SN_TRY(bench_bars_of_frames(b));
    SN_TRY(bench_specimen(b, SINEW_SPECIMEN_STEAK, 0.5, 1000));
    return bench_specimen(b, SINEW_SPECIMEN_KNEE, 3, 0);
}
