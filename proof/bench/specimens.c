// Sparse models of heterogeneous solids: time of set-up, step and skinning (Gilles et al. 2013,
// table 1.2).
#include "points.h"
#include "sinew/surface.h"

#include "bench/bench.h"
#include "bench/peak.h"
#include "machine.h"
#include "specimen.h"

#include "base/memory.h"
#include "base/threads.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

enum {
    STEPS = 40,
    WARM_UP = 5,
    SKINNED = 600000,
    SIZES = 4,
    SETUPS = 3,
    REPEATED_VOXELS = 5000000
};

typedef struct model_case {
    sinew_specimen specimen;
    int32_t frames, samples;
    double paper_rate, paper_setup; // steps/s, s
    double rate, setup;             // targets; NaN: none
} model_case;

static double per_second(double seconds) {
    return 1 / seconds;
}

// Targets of set-up and skinning are for two cores, those of steps for one. A run with one thread
// uses a second one for the former.
static sinew_status borrow_thread(bench_run *b) {
    return b->threads > 1 ? SINEW_OK : sn_pool_create(b->context, 2);
}

static void return_thread(bench_run *b) {
    if (b->threads == 1) {
        sn_pool_destroy(b->context);
    }
}

static int32_t lent_threads(const bench_run *b) {
    return b->threads > 1 ? b->threads : 2;
}

// Times steps of a model under a force, so that it moves.
static sinew_status time_steps(bench_run *b, rig_specimen *m, double seconds[STEPS]) {
    const double tip[3] = {-0.08, 0, 0};
    const double pull[3] = {-0.5, 0.2, 0.1};

    SN_TRY(proof_add_force(m->body, tip, pull));
    for (int i = -WARM_UP; i < STEPS; i++) {
        double start = cli_measured_seconds(b->context);
        SN_TRY(sinew_world_step(m->world, NULL));
        if (i >= 0) {
            seconds[i] = cli_measured_seconds(b->context) - start;
        }
    }

    return SINEW_OK;
}

static sinew_status report_steps(bench_run *b, rig_specimen *m, const model_case *c) {
    double seconds[STEPS];
    sinew_sampling_report sampling;

    SN_TRY(sinew_frame_body_get_report(m->body, NULL, &sampling));
    SN_TRY(time_steps(b, m, seconds));

    char name[120];
    snprintf(name, sizeof name, "%s: steps, %d frames", sinew_specimen_name(c->specimen),
             c->frames);

    bench_result *r = bench_add(b, name, sampling.sample_count, "steps/s");
    if (!r) {
        return SINEW_OK;
    }

    bench_take(r, seconds, STEPS, 1);
    r->min = per_second(r->min);
    r->median = per_second(r->median);
    r->at_least = true;
    r->paper = c->paper_rate;
    r->target = c->rate;

    // Four controls per frame, affine or rigid. Taking the mean number of frames for every point
    // underestimates the count.
    r->limit_share =
        sampling.point_count * bench_control_flops(4 * sampling.mean_nodes) * r->min / b->flops;
    snprintf(r->note, sizeof r->note,
             "size: samples, with %d points; the paper's %d; minimum and median of %d steps",
             sampling.point_count, c->samples, STEPS);

    return SINEW_OK;
}

static void report_setup(bench_run *b, const model_case *c, const rig_specimen *m, double *seconds,
                         int repeats, int64_t kept) {
    char name[120];
    snprintf(name, sizeof name, "%s: set-up, %d frames", sinew_specimen_name(c->specimen),
             c->frames);

    bench_result *r = bench_add(b, name, sinew_voxels_get_count(m->voxels), "s");
    if (!r) {
        return;
    }

    bench_take(r, seconds, repeats, 1);
    r->paper = c->paper_setup;
    r->target = c->setup;
    snprintf(r->note, sizeof r->note,
             "size: voxels, whose creation is included; %.0f MB kept; best of %d; %d threads, wall "
             "clock",
             (double)kept * 1e-6, repeats, lent_threads(b));
}

static sinew_status set_up(bench_run *b, const model_case *c, rig_specimen *m, double *seconds) {
    *m = (rig_specimen){0};
    double start = cli_measured_seconds(b->context);
    SN_TRY(
        rig_specimen_prepare(b->context, c->specimen, sinew_specimen_voxel_count(c->specimen), m));
    m->def.placement.count = c->frames;
    m->def.sampling.count = c->samples;
    SN_TRY(rig_specimen_create(m, NULL));
    *seconds = cli_measured_seconds(b->context) - start;

    return SINEW_OK;
}

static sinew_status run_model(bench_run *b, const model_case *c) {
    rig_specimen m = {0};
    double seconds[SETUPS];
    int repeats = sinew_specimen_voxel_count(c->specimen) < REPEATED_VOXELS ? SETUPS : 1;
    int64_t before = b->context->bytes_in_use;

    SN_TRY(borrow_thread(b));
    sinew_status status = SINEW_OK;
    for (int i = 0; i < repeats && status == SINEW_OK; i++) {
        rig_specimen_destroy(&m);
        status = set_up(b, c, &m, &seconds[i]);
    }

    if (status == SINEW_OK) {
        report_setup(b, c, &m, seconds, repeats, b->context->bytes_in_use - before);
    }

    return_thread(b);
    if (status == SINEW_OK) {
        status = report_steps(b, &m, c);
    }

    rig_specimen_destroy(&m);
    return status;
}

// The peak memory of the process so far. The dragon, whose limit it is compared with, has just been
// set up.
static void report_memory(bench_run *b) {
    struct rusage used;
    bench_result *r =
        bench_add(b, "dragon: peak memory of the program during its set-up", 7e6, "GB");
    if (!r) {
        return;
    }

    r->unavailable = getrusage(RUSAGE_SELF, &used) != 0;
    r->min = r->median = 1024e-9 * (double)used.ru_maxrss;
    r->target = 3;
    snprintf(r->note, sizeof r->note,
             "size: voxels; resident memory, earlier rows included; %d threads", lent_threads(b));
}

// Points distributed over the solid, as a surface that follows it.
static sinew_status make_skin(bench_run *b, sn_arena *arena, rig_specimen *m, int32_t count,
                              sinew_mesh *mesh) {
    static const int32_t triangle[3] = {0, 1, 2};
    double *points = SN_PUSH(arena, double, 3 * (size_t)count);

    SN_TRY(sn_arena_status(arena));
    SN_TRY(rig_specimen_prepare(b->context, SINEW_SPECIMEN_ANIMAL, 100000, m));
    for (int32_t i = 0; i < count; i++) {
        int32_t voxel = (int32_t)((int64_t)i * sinew_voxels_get_count(m->voxels) / count);
        sinew_voxels_get_center(m->voxels, voxel, points + 3 * (size_t)i);
    }

    *mesh =
        (sinew_mesh){.element = SINEW_ELEMENT_TRIANGLE, .point_count = count, .element_count = 1};
    mesh->points = points;
    mesh->indices = triangle;
    m->def.surface = mesh;
    m->def.placement.count = 30;
    m->def.sampling.count = 230;

    return rig_specimen_create(m, NULL);
}

static sinew_status skin(bench_run *b, int32_t count, double *seconds) {
    rig_specimen m = {0};
    sinew_mesh mesh;
    sn_arena arena = sn_arena_create(b->context);
    double *positions = SN_PUSH(&arena, double, 3 * (size_t)count);
    sinew_status status = make_skin(b, &arena, &m, count, &mesh);

    if (status == SINEW_OK) {
        for (int i = 0; i < STEPS; i++) {
            double start = cli_measured_seconds(b->context);
            sinew_body_compute_surface(m.body, positions, NULL);
            seconds[i] = cli_measured_seconds(b->context) - start;
        }
    }

    rig_specimen_destroy(&m);
    sn_arena_destroy(&arena);

    return status;
}

// Skinning of surface points, up to the paper's number.
static sinew_status time_skinning(bench_run *b) {
    double size[SIZES], cost[SIZES], seconds[STEPS];
    for (int i = 0; i < SIZES; i++) {
        // Each size has four times as many vertices.
        int32_t count = SKINNED >> 2 * (SIZES - 1 - i);
        SN_TRY(skin(b, count, seconds));

        bench_result *r = bench_add(b, "skinning of the animal's vertices, 30 frames", count, "ms");
        if (!r) {
            return SINEW_OK;
        }

        bench_take(r, seconds, STEPS, 1e3);
        size[i] = count;
        cost[i] = r->min;
        if (count == SKINNED) {
            r->target = 15;
        }

        snprintf(r->note, sizeof r->note, "%d threads, wall clock", lent_threads(b));
    }

    // Growth with the number of vertices.
    bench_result *r = bench_add(b, "exponent of skinning over vertices", SIZES, "-");
    if (!r) {
        return SINEW_OK;
    }

    r->min = r->median = bench_fit_exponent(size, cost, SIZES);
    return SINEW_OK;
}

// Growth of the set-up over voxels: n log n is an exponent of about 1.1 between these sizes.
static sinew_status fit_growth(bench_run *b) {
    double size[SIZES], cost[SIZES];
    for (int i = 0; i < SIZES; i++) {
        // Voxels, weights and samples: everything that `sinew rig` does.
        rig_specimen m = {0};
        double start = cli_measured_seconds(b->context);
        sinew_status status =
            rig_specimen_prepare(b->context, SINEW_SPECIMEN_ANIMAL, 30000 << 2 * i, &m);

        m.def.placement.count = 10;
        m.def.sampling.count = 60;
        if (status == SINEW_OK) {
            status = rig_specimen_create(&m, NULL);
        }

        cost[i] = cli_measured_seconds(b->context) - start;
        if (status == SINEW_OK) {
            size[i] = sinew_voxels_get_count(m.voxels);
        }

        rig_specimen_destroy(&m);
        SN_TRY(status);

        // One row for each size.
        // Growth over all of them.
        bench_result *r = bench_add(b, "animal of several sizes: set-up, 10 frames", size[i], "s");
        if (r) {
            bench_take(r, &(double){cost[i]}, 1, 1);
        }

        if (r) {
            snprintf(r->note, sizeof r->note, "size: voxels; %d threads, wall clock",
                     lent_threads(b));
        }
    }

    bench_result *r =
        bench_add(b, "exponent of the set-up over voxels, 30 thousand to 1.9 million", SIZES, "-");
    if (!r) {
        return SINEW_OK;
    }

    r->min = r->median = bench_fit_exponent(size, cost, SIZES);
    r->target = 1.15;

    return SINEW_OK;
}

// Growth of a step over samples, at ten frames.
static sinew_status fit_steps(bench_run *b) {
    double size[SIZES], cost[SIZES], seconds[STEPS];
    for (int i = 0; i < SIZES; i++) {
        // The same body with more and more samples.
        rig_specimen m;
        const model_case c = {
            .specimen = SINEW_SPECIMEN_RIBBON, .frames = 10, .samples = 100 << 2 * i};
        double setup;
        sinew_sampling_report sampling;
        sinew_status status = set_up(b, &c, &m, &setup);

        if (status == SINEW_OK) {
            status = sinew_frame_body_get_report(m.body, NULL, &sampling);
        }
        if (status == SINEW_OK) {
            status = time_steps(b, &m, seconds);
        }

        rig_specimen_destroy(&m);
        SN_TRY(status);

        // One row for each size.
        bench_result *r = bench_add(b, "ribbon of ten frames: a step", sampling.sample_count, "ms");
        if (!r) {
            return SINEW_OK;
        }

        bench_take(r, seconds, STEPS, 1e3);
        size[i] = sampling.sample_count;
        cost[i] = r->min;

        double flops = sampling.point_count * bench_control_flops(4 * sampling.mean_nodes);
        r->limit_share = flops / (1e-3 * r->min) / b->flops;
        snprintf(r->note, sizeof r->note, "size: samples");
    }

    bench_result *r = bench_add(b, "exponent of a step over samples", SIZES, "-");
    if (!r) {
        return SINEW_OK;
    }

    r->min = r->median = bench_fit_exponent(size, cost, SIZES);
    r->target = 1.05;

    return SINEW_OK;
}

sinew_status bench_specimens(bench_run *b) {
    static const model_case cases[] = {
        {SINEW_SPECIMEN_STEAK, 3, 10, 500, 3, 10000, 0.2},
        {SINEW_SPECIMEN_STEAK, 10, 53, 100, 8, NAN, 0.2},
        {SINEW_SPECIMEN_STEAK, 20, 140, 40, 12, 800, 0.2},
        {SINEW_SPECIMEN_RIBBON, 5, 9, 200, 4, NAN, NAN},
        {SINEW_SPECIMEN_KNEE, 10, 200, 10, 11, NAN, 1},
        {SINEW_SPECIMEN_ANIMAL, 30, 230, 8, 90, 200, 4},
        {SINEW_SPECIMEN_DRAGON, 20, 158, 27, 360, NAN, 25},
    };

    // The papers' models.
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SN_TRY(run_model(b, &cases[i]));
    }

    report_memory(b);

    // Skinning and set-up run in parallel.
    SN_TRY(borrow_thread(b));

    sinew_status status = time_skinning(b);
    if (status == SINEW_OK) {
        status = fit_growth(b);
    }

    return_thread(b);
    return status == SINEW_OK ? fit_steps(b) : status;
}
