// Sparse models of heterogeneous solids: how long they take to set up, to step, to skin (Gilles et al. 2013, table 1.2).
#include "bench/bench.h"
#include "bench/peak.h"
#include "rig/specimen.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 40, WARM_UP = 5, SKINNED = 600000 };

typedef struct model_case {
    sinew_specimen specimen;
    int32_t frames, samples;
    double paper_rate, paper_setup; // steps/s, s
    double rate, setup;             // targets; NaN: none
    bool own_rate;                  // steps are measured, not the set-up alone
} model_case;

static double per_second(double seconds) {
    return 1 / seconds;
}

static sinew_status time_steps(bench_run *b, rig_specimen *m, const model_case *c, int32_t samples) {
    double seconds[STEPS];
    const double tip[3] = {-0.08, 0, 0}, pull[3] = {-0.5, 0.2, 0.1}; // something to answer
    SN_TRY(sinew_frame_body_add_force(m->body, tip, pull));
    for (int i = -WARM_UP; i < STEPS; i++) {
        double start = peak_seconds(b->context);
        SN_TRY(sinew_world_step(m->world, NULL));
        if (i >= 0) seconds[i] = peak_seconds(b->context) - start;
    }
    char name[120];
    snprintf(name, sizeof name, "%s: steps, %d frames", sinew_specimen_name(c->specimen), c->frames);
    bench_result *r = bench_add(b, name, samples, "steps/s");
    if (!r) return SINEW_OK;
    bench_take(r, seconds, STEPS, 1);
    r->min = per_second(r->min), r->median = per_second(r->median);
    r->at_least = true;
    r->paper = c->paper_rate;
    r->target = c->rate;
    snprintf(r->note, sizeof r->note, "size is samples; the paper's %d; fastest and median of %d steps", c->samples, STEPS);
    return SINEW_OK;
}

static sinew_status run_model(bench_run *b, const model_case *c) {
    rig_specimen m;
    int64_t before = b->context->bytes_in_use;
    double start = peak_seconds(b->context);
    sinew_status status = rig_specimen_prepare(b->context, c->specimen, sinew_specimen_voxel_count(c->specimen), &m);
    double voxels = peak_seconds(b->context) - start;
    m.def.placement.count = c->frames;
    m.def.sampling.count = c->samples;
    sinew_sampling_report sampling = {0};
    if (status == SINEW_OK) status = rig_specimen_create(&m, NULL);
    double seconds = peak_seconds(b->context) - start;
    if (status == SINEW_OK) status = sinew_frame_body_get_report(m.body, NULL, &sampling);
    if (status == SINEW_OK) {
        char name[120];
        snprintf(name, sizeof name, "%s: set-up, %d frames", sinew_specimen_name(c->specimen), c->frames);
        bench_result *r = bench_add(b, name, sinew_voxels_get_count(m.voxels), "s");
        if (r) {
            bench_take(r, &seconds, 1, 1);
            r->paper = c->paper_setup;
            r->target = c->setup;
            snprintf(r->note, sizeof r->note, "size is voxels; %.2f s for the voxels, %d samples, %.0f MB kept; %s", voxels,
                     sampling.sample_count, (double)(b->context->bytes_in_use - before) * 1e-6,
                     b->threads > 1 ? "by the wall clock" : "one thread; the target is of two");
        }
    }
    if (status == SINEW_OK && c->own_rate) status = time_steps(b, &m, c, sampling.sample_count);
    rig_specimen_destroy(&m);
    return status;
}

// Points of a surface of the paper's size, brought to the present pose.
static sinew_status time_skinning(bench_run *b) {
    rig_specimen m;
    sinew_mesh mesh = {.element = SINEW_ELEMENT_TRIANGLE, .point_count = SKINNED, .element_count = 1};
    static const int32_t triangle[3] = {0, 1, 2};
    sn_arena arena = sn_arena_create(b->context);
    double *points = SN_PUSH(&arena, double, 3 * SKINNED), *positions = SN_PUSH(&arena, double, 3 * SKINNED);
    sinew_status status = sn_arena_status(&arena);
    if (status == SINEW_OK) status = rig_specimen_prepare(b->context, SINEW_SPECIMEN_ANIMAL, 100000, &m);
    double seconds[STEPS];
    if (status == SINEW_OK) {
        for (int32_t i = 0; i < SKINNED; i++) { // all over the solid
            int32_t voxel = (int32_t)((int64_t)i * sinew_voxels_get_count(m.voxels) / SKINNED);
            sinew_voxels_get_center(m.voxels, voxel, points + 3 * (size_t)i);
        }
        mesh.points = points;
        mesh.indices = triangle;
        m.def.surface = &mesh;
        m.def.placement.count = 30;
        m.def.sampling.count = 230;
        status = rig_specimen_create(&m, NULL);
        for (int i = 0; i < STEPS && status == SINEW_OK; i++) {
            double start = peak_seconds(b->context);
            sinew_frame_body_compute_surface(m.body, positions);
            seconds[i] = peak_seconds(b->context) - start;
        }
        rig_specimen_destroy(&m);
    }
    sn_arena_destroy(&arena);
    SN_TRY(status);
    bench_result *r = bench_add(b, "skinning of the animal's vertices, 30 frames", SKINNED, "ms");
    if (!r) return SINEW_OK;
    bench_take(r, seconds, STEPS, 1e3);
    r->target = 15;
    snprintf(r->note, sizeof r->note, "%s", b->threads > 1 ? "by the wall clock" : "one thread; the target is of two");
    return SINEW_OK;
}

// Growth of the set-up over voxels: n log n is an exponent of about 1.1 between these sizes.
static sinew_status fit_growth(bench_run *b) {
    enum { SIZES = 4 };
    double size[SIZES], cost[SIZES];
    for (int i = 0; i < SIZES; i++) {
        rig_specimen m;
        double start = peak_seconds(b->context);
        sinew_status status = rig_specimen_prepare(b->context, SINEW_SPECIMEN_ANIMAL, 30000 << 2 * i, &m);
        m.def.placement.count = 10;
        m.def.sampling.count = 60;
        if (status == SINEW_OK) status = rig_specimen_create(&m, NULL);
        cost[i] = peak_seconds(b->context) - start;
        if (status == SINEW_OK) size[i] = sinew_voxels_get_count(m.voxels);
        rig_specimen_destroy(&m);
        SN_TRY(status);
    }
    bench_result *r = bench_add(b, "exponent of the set-up over voxels, 30 thousand to 1.9 million", SIZES, "-");
    if (!r) return SINEW_OK;
    r->min = r->median = bench_fit_exponent(size, cost, SIZES);
    r->target = 1.15;
    return SINEW_OK;
}

sinew_status bench_specimens(bench_run *b) {
    static const model_case cases[] = {
        {SINEW_SPECIMEN_STEAK, 3, 10, 500, 3, 10000, 0.2, true},  {SINEW_SPECIMEN_STEAK, 10, 53, 100, 8, NAN, 0.2, true},
        {SINEW_SPECIMEN_STEAK, 20, 140, 40, 12, 800, 0.2, true},  {SINEW_SPECIMEN_RIBBON, 5, 9, 200, 4, NAN, NAN, true},
        {SINEW_SPECIMEN_KNEE, 10, 200, 10, 11, NAN, 1, true},     {SINEW_SPECIMEN_ANIMAL, 30, 230, 8, 90, 200, 4, true},
        {SINEW_SPECIMEN_DRAGON, 20, 158, 27, 360, NAN, 25, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) SN_TRY(run_model(b, &cases[i]));
    SN_TRY(time_skinning(b));
    return fit_growth(b);
}
