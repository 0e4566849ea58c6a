// Springs between frames, and frames inserted into a running body (Gilles et al. 2011, 5.4 and
// table I). Ellipsoids with the same numbers of samples and frames replace the turtle and the
// bunny.
#include "bench/bench.h"
#include "bench/peak.h"
#include "machine.h"

#include "sinew/frame_body.h"

#include <math.h>
#include <stdio.h>

enum { BATCHES = 60, BATCH = 25, INSERTIONS = 9 };

typedef struct spring_case {
    const char *name;
    sinew_solid solid;
    double size[3], spacing[3];
    int32_t frames;
    double place[7][3];
    sinew_weights weights;
    double paper, target; // [ms]
} spring_case;

static const spring_case cases[] = {
    {"bar of 5 frames as springs, a step",
     SINEW_SOLID_BOX,
     {1, 0.2, 0.2},
     {1. / 9, 0.02, 0.02},
     5,
     {{-0.5, 0, 0}, {-0.25, 0, 0}, {0, 0, 0}, {0.25, 0, 0}, {0.5, 0, 0}},
     SINEW_WEIGHTS_AXIS_LINEAR,
     1000. / 700,
     0.01},
    {"turtle of 7 frames as springs, a step",
     SINEW_SOLID_SPHERE,
     {1, 0.8, 0.5},
     {0.02383, 0.02383, 0.02383},
     7,
     {{0, 0, 0},
      {0.4, 0, 0},
      {-0.4, 0, 0},
      {0.2, 0.25, 0},
      {0.2, -0.25, 0},
      {-0.2, 0.25, 0},
      {-0.2, -0.25, 0}},
     SINEW_WEIGHTS_HARMONIC,
     10,
     0.02},
    {"bunny of 2 frames as springs, a step",
     SINEW_SOLID_SPHERE,
     {0.8, 0.7, 0.72},
     {0.02385, 0.02385, 0.02385},
     2,
     {{0.1, 0, 0.2}, {-0.1, 0, -0.2}},
     SINEW_WEIGHTS_HARMONIC,
     10,
     0.02},
};

typedef struct spring_body {
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
    sinew_sampling_report sampling;
} spring_body;

static void body_destroy(spring_body *s) {
    sinew_world_destroy(s->world);
    sinew_voxels_destroy(s->voxels);
}

static sinew_status body_fill(bench_run *b, const spring_case *c, bool springs, spring_body *s) {
    // The solid, cut into the requested cells.
    sinew_solid_def solid = sinew_default_solid_def();
    solid.solid = c->solid;

    sinew_voxel_def grid = sinew_default_voxel_def();
    for (int k = 0; k < 3; k++) {
        solid.size[k] = c->size[k];
        grid.spacing[k] = c->spacing[k];
    }

    SN_TRY(sinew_voxels_create_from_solids(b->context, &solid, 1, &grid, &s->voxels));
    sinew_world_def world = sinew_default_world_def();

    SN_TRY(sinew_world_create(b->context, &world, &s->world));

    // Rigid frames at the given positions.
    sinew_frame_node nodes[7];
    for (int32_t i = 0; i < c->frames; i++) {
        nodes[i] =
            (sinew_frame_node){SINEW_NODE_RIGID, {c->place[i][0], c->place[i][1], c->place[i][2]}};
    }

    // Springs, or the samples they are made from.
    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = s->voxels;
    def.nodes = nodes;
    def.node_count = c->frames;
    def.weights.kind = c->weights;
    def.sampling.kind = SINEW_SAMPLING_MIDPOINT;
    def.springs = springs;
    SN_TRY(sinew_frame_body_create(s->world, &def, &s->body));
    SN_TRY(sinew_frame_body_get_report(s->body, NULL, &s->sampling));

    return sinew_frame_body_hold(s->body, 0, SINEW_HOLD_ALL);
}

static sinew_status body_create(bench_run *b, const spring_case *c, bool springs, spring_body *s) {
    *s = (spring_body){0};
    sinew_status status = body_fill(b, c, springs, s);
    if (status != SINEW_OK) {
        body_destroy(s);
    }
    return status;
}

// Flops of a step, a multiply-add counted as two: 13 products of 3 x 3 matrices and as much again
// for each spring, the factorisation and the substitutions of the system.
static double step_flops(int32_t springs, int32_t frames) {
    double n = 6 * frames;
    return 2 * (2 * 13 * 27 * springs + n * n * n / 6 + n * n);
}

// Steps are too short to be timed individually.
static sinew_status time_steps(bench_run *b, const spring_case *c) {
    // Batches of steps.
    spring_body s;
    SN_TRY(body_create(b, c, true, &s));

    double seconds[BATCHES], difference = 0;
    int32_t springs = 0;
    sinew_status status = sinew_frame_body_get_springs(s.body, &springs, &difference);

    for (int i = -2; i < BATCHES && status == SINEW_OK; i++) {
        double start = cli_measured_seconds(b->context);
        for (int k = 0; k < BATCH && status == SINEW_OK; k++) {
            status = sinew_world_step(s.world, NULL);
        }

        if (i >= 0) {
            seconds[i] = (cli_measured_seconds(b->context) - start) / BATCH;
        }
    }

    // Springs are bound by arithmetic.
    bench_result *r = status == SINEW_OK ? bench_add(b, c->name, springs, "ms") : NULL;
    if (r) {
        bench_take(r, seconds, BATCHES, 1e3);
        r->paper = c->paper;
        r->target = c->target;
        r->hash = sinew_world_get_hash(s.world);
        r->limit_share = step_flops(springs, c->frames) / (1e-3 * r->min) / b->flops;
        snprintf(r->note, sizeof r->note,
                 "size: springs, made from %d samples; error of the stiffness at rest %.2g",
                 s.sampling.sample_count, difference);
    }

    body_destroy(&s);
    return status;
}

typedef struct insertion_case {
    double range; // [m] of a body that is 1 m long
    const char *joins, *leaves;
} insertion_case;

static const insertion_case insertions[] = {
    {0.05, "a frame inserted into a running body of 7, with a small range",
     "and taken out again, small range"},
    {0.2, "a frame inserted into a running body of 7", "and taken out again"},
    {2, "a frame inserted into a running body of 7, reaching all of it",
     "and taken out again, reaching all"}};

// The least number of bytes that a change reads or writes, with n frames at a sample: weights with
// gradients twice, indices of pairs, position and volume of packed samples; a distance and the
// weights of voxels; weights of the surface.
static double change_bytes(const sinew_frame_change *change, double n) {
    return change->packed_count * (72 * n + 2 * n * (n + 1) + 32) +
           change->voxel_count * (16 + 10 * n) + change->vertex_count * 24 * n;
}

static void add_insertion(bench_run *b, const char *name, const sinew_sampling_report *sampling,
                          double *seconds, const sinew_frame_change *change) {
    bench_result *r = bench_add(b, name, sampling->sample_count, "ms");
    if (!r) {
        return;
    }

    bench_take(r, seconds, INSERTIONS, 1e3);
    r->target = 50;
    r->limit_share = change_bytes(change, sampling->mean_nodes) / (1e-3 * r->min) / b->bandwidth;
    snprintf(
        r->note, sizeof r->note,
        "size: samples; share of the bandwidth; recomputed: %d samples, %d voxels, %d points of "
        "the surface; packed: %d",
        change->sample_count, change->voxel_count, change->vertex_count, change->packed_count);
}

// The first insertion builds the lookup structures that later ones use, and is timed as well.
static sinew_status time_insertion(bench_run *b, const spring_case *c,
                                   const insertion_case *insertion) {
    spring_body s;
    SN_TRY(body_create(b, c, false, &s));

    double joining[INSERTIONS], leaving[INSERTIONS];
    sinew_frame_change joined = {0}, left = {0};
    sinew_status status = SINEW_OK;

    for (int i = 0; i < INSERTIONS && status == SINEW_OK; i++) {
        // Each insertion is elsewhere, and leaves again.
        sinew_frame_insert_def def = sinew_default_frame_insert_def();
        def.position[0] = 0.3 - 0.06 * i;
        def.position[2] = 0.1;
        def.range = insertion->range;

        int32_t node;
        status = sinew_world_step(s.world, NULL);

        double start = cli_measured_seconds(b->context);
        if (status == SINEW_OK) {
            status = sinew_frame_body_insert(s.body, &def, &node);
        }

        joining[i] = cli_measured_seconds(b->context) - start;
        if (status == SINEW_OK) {
            status = sinew_frame_body_get_last_change(s.body, &joined);
        }
        if (status == SINEW_OK) {
            status = sinew_world_step(s.world, NULL);
        }

        start = cli_measured_seconds(b->context);
        if (status == SINEW_OK) {
            status = sinew_frame_body_remove(s.body, node, 0.1);
        }

        leaving[i] = cli_measured_seconds(b->context) - start;
        if (status == SINEW_OK) {
            status = sinew_frame_body_get_last_change(s.body, &left);
        }
    }

    if (status == SINEW_OK) {
        add_insertion(b, insertion->joins, &s.sampling, joining, &joined);
    }
    if (status == SINEW_OK) {
        add_insertion(b, insertion->leaves, &s.sampling, leaving, &left);
    }

    body_destroy(&s);
    return status;
}

sinew_status bench_springs(bench_run *b) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SN_TRY(time_steps(b, &cases[i]));
    }

    for (size_t i = 0; i < sizeof insertions / sizeof *insertions; i++) {
        SN_TRY(time_insertion(b, &cases[1], &insertions[i]));
    }

    return SINEW_OK;
}
