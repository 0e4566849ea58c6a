// Frame bodies: implicit Euler steps over the number of samples and of nodes, and compared with the
// papers' tables; blends, kinds of node and strains compared with one another; shape functions on a
// large grid. Ellipsoids with the same numbers of samples and frames replace the turtle and the
// bunny (Gilles et al. 2011, table I).
#include "bench/bench.h"
#include "bench/peak.h"
#include "machine.h"

#include "sinew/sinew.h"

#include "frame/weights/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WARM_UP = 20, STEPS = BENCH_REPEATS, MOST_FRAMES = 8 };

typedef struct frame_case {
    sinew_solid solid;
    double size[3];
    int32_t cells[3]; // of the box around the solid
    int32_t frames;
    const double (*positions)[3]; // NULL: along the x axis from end to end
    sinew_node_kind kind;
    sinew_blend blend;
    sinew_weights weights;
    sinew_strain strain;
    int32_t steps; // 0: STEPS
} frame_case;

typedef struct frame_timing {
    double total[BENCH_REPEATS], assemble[BENCH_REPEATS]; // [s]
    int32_t steps, samples;
    double nodes; // mean number at a sample
    uint64_t hash;
} frame_timing;

typedef struct frame_body {
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
} frame_body;

static void body_destroy(frame_body *f) {
    sinew_world_destroy(f->world);
    sinew_voxels_destroy(f->voxels);
}

static sinew_status body_fill(bench_run *b, const frame_case *c, frame_body *f) {
    // The solid, cut into the requested cells.
    sinew_solid_def solid = sinew_default_solid_def();
    solid.solid = c->solid;

    sinew_voxel_def grid = sinew_default_voxel_def();
    for (int k = 0; k < 3; k++) {
        solid.size[k] = c->size[k];
        grid.spacing[k] = c->size[k] / c->cells[k];
    }

    SN_TRY(sinew_voxels_create_from_solids(b->context, &solid, 1, &grid, &f->voxels));
    sinew_world_def world = sinew_default_world_def();

    SN_TRY(sinew_world_create(b->context, &world, &f->world));

    // Frames along the bar, or at the given positions.
    sinew_frame_node nodes[MOST_FRAMES];
    for (int32_t i = 0; i < c->frames; i++) {
        nodes[i] = (sinew_frame_node){
            .kind = c->kind, .position = {c->size[0] * ((double)i / (c->frames - 1) - 0.5), 0, 0}};
        if (c->positions) {
            for (int k = 0; k < 3; k++) {
                nodes[i].position[k] = c->positions[i][k];
            }
        }
    }

    // One sample for each voxel, to compare with the papers.
    sinew_material_def material = sinew_default_material_def();
    material.strain = c->strain;

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = f->voxels;
    def.nodes = nodes;
    def.node_count = c->frames;
    def.materials = &material;
    def.material_count = 1;
    def.blend = c->blend;
    def.weights.kind = c->weights;
    def.weights.adopt_outside = true;
    def.sampling.kind = SINEW_SAMPLING_MIDPOINT;
    SN_TRY(sinew_frame_body_create(f->world, &def, &f->body));

    return sinew_frame_body_hold(f->body, 0, SINEW_HOLD_ALL);
}

static sinew_status time_steps(bench_run *b, const frame_case *c, frame_timing *t) {
    frame_body f = {0};
    *t = (frame_timing){.steps = c->steps ? c->steps : STEPS};

    sinew_status status = body_fill(b, c, &f);

    // Steps, after a warm-up.
    for (int32_t i = -WARM_UP; i < t->steps && status == SINEW_OK; i++) {
        sinew_step_report report;
        double start = cli_measured_seconds(b->context);
        status = sinew_world_step(f.world, &report);
        if (i < 0) {
            continue;
        }

        t->total[i] = cli_measured_seconds(b->context) - start;
        t->assemble[i] = report.assemble_seconds;
    }

    // What the times are relative to.
    sinew_sampling_report sampling = {0};
    if (status == SINEW_OK) {
        status = sinew_frame_body_get_report(f.body, NULL, &sampling);
    }

    t->samples = sampling.sample_count;
    t->nodes = sampling.mean_nodes;
    if (status == SINEW_OK) {
        t->hash = sinew_world_get_hash(f.world);
    }

    body_destroy(&f);
    return status;
}

// Flops of a sample with n rigid nodes, a multiply-add counted as two: dF/dq and H dF/dq of all
// nodes but one, the force and the product with the common rotation for each; the products of each
// pair; the rotation by itself. The work of the material is not counted.
static double sample_flops(double n) {
    double m = n - 1;
    return 2 * (m * (285 + 9 * 9 * 6 + 9 * 6 + 108) + 9 * (m * 24 + m * (m - 1) / 2 * 36) + 230);
}

static bench_result *add_step(bench_run *b, const char *name, frame_timing *t, double paper,
                              double target) {
    bench_result *r = bench_add(b, name, t->samples, "ms");
    if (!r) {
        return NULL;
    }

    bench_take(r, t->total, t->steps, 1e3);
    r->paper = paper;
    r->target = target;
    r->hash = t->hash;
    r->limit_share = t->samples * sample_flops(t->nodes) / (1e-3 * r->min) / b->flops;

    return r;
}

static frame_case bar_case(int32_t along, int32_t across, int32_t high) {
    return (frame_case){.solid = SINEW_SOLID_BOX,
                        .size = {1, 0.2, 0.2},
                        .cells = {along, across, high},
                        .frames = 5,
                        .kind = SINEW_NODE_RIGID,
                        .blend = SINEW_BLEND_DUAL_QUATERNION,
                        .weights = SINEW_WEIGHTS_AXIS_LINEAR,
                        .strain = SINEW_STRAIN_GREEN};
}

static sinew_status add_exponent(bench_run *b, const char *name, const double *x, const double *y,
                                 int32_t count, double target) {
    bench_result *r = bench_add(b, name, count, "-");
    if (!r) {
        return SINEW_OK;
    }

    r->min = r->median = bench_fit_exponent(x, y, count);
    r->target = target;

    return SINEW_OK;
}

// The bar of 5 frames: 900 samples, then four sizes, then two to eight nodes at every sample.
sinew_status bench_frame_bar(bench_run *b) {
    frame_timing t;
    frame_case c = bar_case(10, 10, 9);

    // The paper's bar, with local weights and with all frames everywhere.
    SN_TRY(time_steps(b, &c, &t));
    if (!add_step(b, "bar of 5 dual quaternion frames, Green, linear along the axis, a step", &t,
                  1000.0 / 38, 0.25)) {
        return SINEW_OK;
    }

    c.weights = SINEW_WEIGHTS_RADIAL;
    SN_TRY(time_steps(b, &c, &t));
    if (!add_step(b, "the same with all five frames everywhere", &t, 1000.0 / 38, 0.6)) {
        return SINEW_OK;
    }

    // Growth over samples.
    static const int32_t cells[4][3] = {{10, 10, 9}, {20, 16, 12}, {40, 20, 18}, {80, 26, 27}};
    double size[4], seconds[4], pairs[4];
    for (int i = 0; i < 4; i++) {
        c = bar_case(cells[i][0], cells[i][1], cells[i][2]);
        c.steps = 9;
        SN_TRY(time_steps(b, &c, &t));

        bench_result *r = add_step(b, "bar of 5 dual quaternion frames, a step", &t, NAN, NAN);

        if (!r) {
            return SINEW_OK;
        }

        size[i] = t.samples;
        seconds[i] = r->min;
        snprintf(r->note, sizeof r->note, "%.0f ns per sample", 1e6 * r->min / t.samples);
    }

    SN_TRY(add_exponent(b, "exponent of the step's time over samples", size, seconds, 4, 1.05));

    // Growth over pairs of nodes.
    for (int i = 0; i < 4; i++) {
        c = bar_case(20, 16, 12);
        c.frames = 2 + 2 * i;
        c.weights = SINEW_WEIGHTS_RADIAL;
        c.steps = 9;
        SN_TRY(time_steps(b, &c, &t));

        bench_result *r = add_step(b, "bar of 2, 4, 6, 8 frames everywhere, a step", &t, NAN, NAN);
        if (!r) {
            return SINEW_OK;
        }

        pairs[i] = c.frames * (c.frames + 1) / 2.0;
        seconds[i] = r->min;
        snprintf(r->note, sizeof r->note, "%.0f ns per sample, %.0f per pair of nodes",
                 1e6 * r->min / t.samples, 1e6 * r->min / t.samples / pairs[i]);
    }

    return add_exponent(b, "exponent of the step's time over pairs of nodes", pairs, seconds, 4,
                        1.05);
}

static const double turtle_positions[7][3] = {{0, 0, 0},       {0.4, 0, 0},     {-0.4, 0, 0},
                                              {0.2, 0.25, 0},  {0.2, -0.25, 0}, {-0.2, 0.25, 0},
                                              {-0.2, -0.25, 0}};
static const double bunny_positions[2][3] = {{0.1, 0, 0.2}, {-0.1, 0, -0.2}};

// Bytes moved by an iteration of the harmonic solve per voxel, for eight right-hand sides at once.
// The preconditioner (multigrid.c), in single precision with 52 bytes of structure a sweep: three
// smoothing sweeps of 96 bytes of vectors, 96 to collect residuals, 84 to fold them, 70 to prolong;
// an eighth more on each coarser grid. The gradients: directions and structure twice (2 x 112), x
// and r in double precision (256), a copy in single (32), new directions (96).
static const double harmonic_bytes =
    (4 * 52 + 4 * 96 + 84 + 70) * 8.0 / 7 + 2 * 112 + 256 + 32 + 96;

// Harmonic weights of 7 frames in a box of the given number of cells; the smallest time of
// `repeats`.
static sinew_status time_harmonic(bench_run *b, const int32_t cells[3], int32_t repeats,
                                  bench_result **result) {
    // The solid, without a body.
    static const double size[3] = {1, 0.8, 0.5};
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();

    for (int k = 0; k < 3; k++) {
        solid.size[k] = size[k];
        grid.spacing[k] = size[k] / cells[k];
    }

    sinew_voxels *voxels;
    SN_TRY(sinew_voxels_create_from_solids(b->context, &solid, 1, &grid, &voxels));

    sinew_weights_def def = sinew_default_weights_def();
    def.kind = SINEW_WEIGHTS_HARMONIC;

    // Repeated solves.
    double seconds[BENCH_REPEATS];
    sinew_weights_report report = {0};
    sinew_status status = SINEW_OK;

    for (int32_t i = 0; i < repeats && status == SINEW_OK; i++) {
        sn_shape *shape = NULL;
        double start = cli_measured_seconds(b->context);

        status = sn_shape_create(b->context, voxels, NULL, 0, turtle_positions[0], 7, &def, &shape);
        seconds[i] = cli_measured_seconds(b->context) - start;

        if (!shape) {
            continue;
        }

        report = shape->report;
        sn_shape_destroy(shape);
    }

    int32_t count = sinew_voxels_get_count(voxels);
    sinew_voxels_destroy(voxels);

    // Iterations are bound by memory.
    bench_result *r = *result =
        status == SINEW_OK ? bench_add(b, "harmonic weights of 7 frames", count, "s") : NULL;
    if (!r) {
        return status;
    }

    bench_take(r, seconds, repeats, 1);
    r->limit_share = harmonic_bytes * count * report.iterations / r->min / b->bandwidth;
    snprintf(r->note, sizeof r->note,
             "size: voxels; share of the bandwidth; residual %.1e after %d iterations, %.2f us per "
             "voxel",
             report.residual, report.iterations, 1e6 * r->min / count);

    return SINEW_OK;
}

// Four sizes, up to a million voxels.
static sinew_status add_harmonic(bench_run *b) {
    static const int32_t cells[4][3] = {{34, 27, 17}, {54, 43, 27}, {86, 68, 43}, {136, 108, 68}};
    double size[4], seconds[4];
    for (int i = 0; i < 4; i++) {
        bench_result *r;
        SN_TRY(time_harmonic(b, cells[i], i < 3 ? 9 : 3, &r));
        if (!r) {
            return SINEW_OK;
        }
        if (i == 3) {
            r->target = 5;
        }

        size[i] = r->size;
        seconds[i] = r->min;
    }

    // Growth with the number of voxels.
    bench_result *r = bench_add(b, "harmonic weights: exponent of the time over voxels", 4, "-");
    if (!r) {
        return SINEW_OK;
    }

    r->min = r->median = bench_fit_exponent(size, seconds, 4);
    snprintf(r->note, sizeof r->note,
             "the same number of iterations on every grid; the smaller grids fit into the caches");

    return SINEW_OK;
}

sinew_status bench_frame_models(bench_run *b) {
    static const struct {
        const char *name;
        double size[3];
        int32_t cells[3], frames;
        double paper, target;
        sinew_strain strain;
    } rows[] = {{"turtle of 7 frames, corotational, a step",
                 {1, 0.8, 0.5},
                 {22, 18, 11},
                 7,
                 106,
                 NAN,
                 SINEW_STRAIN_COROTATIONAL},
                {"turtle of 7 frames, corotational, a step",
                 {1, 0.8, 0.5},
                 {28, 23, 14},
                 7,
                 NAN,
                 NAN,
                 SINEW_STRAIN_COROTATIONAL},
                {"turtle of 7 frames, corotational, a step",
                 {1, 0.8, 0.5},
                 {34, 28, 17},
                 7,
                 NAN,
                 NAN,
                 SINEW_STRAIN_COROTATIONAL},
                {"turtle of 7 frames, corotational, a step",
                 {1, 0.8, 0.5},
                 {42, 34, 21},
                 7,
                 648,
                 30,
                 SINEW_STRAIN_COROTATIONAL},
                {"bunny of 2 frames, corotational, a step",
                 {0.8, 0.7, 0.72},
                 {18, 15, 16},
                 2,
                 51,
                 NAN,
                 SINEW_STRAIN_COROTATIONAL},
                {"bunny of 2 frames, corotational, a step",
                 {0.8, 0.7, 0.72},
                 {34, 29, 30},
                 2,
                 250,
                 4,
                 SINEW_STRAIN_COROTATIONAL},
                {"turtle of 7 frames, Green, a step",
                 {1, 0.8, 0.5},
                 {42, 34, 21},
                 7,
                 648,
                 30,
                 SINEW_STRAIN_GREEN},
                {"bunny of 2 frames, Green, a step",
                 {0.8, 0.7, 0.72},
                 {34, 29, 30},
                 2,
                 250,
                 4,
                 SINEW_STRAIN_GREEN}};
    enum { ROWS = sizeof rows / sizeof *rows };

    double size[ROWS], cost[ROWS];
    for (int i = 0; i < ROWS; i++) {
        // As in the papers: rigid frames, dual quaternions, harmonic weights.
        frame_case c = {.solid = SINEW_SOLID_SPHERE,
                        .frames = rows[i].frames,
                        .positions = rows[i].frames == 7 ? turtle_positions : bunny_positions,
                        .kind = SINEW_NODE_RIGID,
                        .blend = SINEW_BLEND_DUAL_QUATERNION,
                        .weights = SINEW_WEIGHTS_HARMONIC,
                        .strain = rows[i].strain,
                        .steps = 9};

        for (int k = 0; k < 3; k++) {
            c.size[k] = rows[i].size[k];
            c.cells[k] = rows[i].cells[k];
        }

        frame_timing t;
        SN_TRY(time_steps(b, &c, &t));

        bench_result *r = add_step(b, rows[i].name, &t, rows[i].paper, rows[i].target);
        if (!r) {
            return SINEW_OK;
        }

        snprintf(r->note, sizeof r->note, "%.0f ns per sample", 1e6 * r->min / t.samples);
        size[i] = t.samples;
        cost[i] = r->min;
    }

    // Growth with the number of samples, over the four turtles.
    bench_result *r = bench_add(b, "turtle: exponent of the step over samples", 4, "-");
    if (r) {
        r->min = r->median = bench_fit_exponent(size, cost, 4);
    }

    return add_harmonic(b);
}

// H g of each, the products of each pair, and F and the force.
double bench_control_flops(double c) {
    return 2 * (81 * c + 27 * c * (c + 1) / 2 + 18 * c);
}

// Affine frames at four sizes.
static sinew_status bench_affine_sizes(bench_run *b) {
    static const int32_t cells[4][3] = {{10, 10, 9}, {20, 16, 12}, {40, 20, 18}, {80, 26, 27}};
    double size[4], seconds[4];
    for (int i = 0; i < 4; i++) {
        // As before, with affine frames.
        frame_case c = bar_case(cells[i][0], cells[i][1], cells[i][2]);
        c.kind = SINEW_NODE_AFFINE;
        c.blend = SINEW_BLEND_LINEAR;
        c.strain = SINEW_STRAIN_COROTATIONAL;
        c.steps = 9;

        frame_timing t;
        SN_TRY(time_steps(b, &c, &t));

        bench_result *r = bench_add(b, "affine, corotational, a step", t.samples, "ms");
        if (!r) {
            return SINEW_OK;
        }

        bench_take(r, t.total, t.steps, 1e3);
        r->limit_share = t.samples * bench_control_flops(4 * t.nodes) / (1e-3 * r->min) / b->flops;
        r->hash = t.hash;
        size[i] = t.samples;
        seconds[i] = r->min;
    }

    return add_exponent(b, "affine: exponent of the step's time over samples", size, seconds, 4,
                        1.05);
}

// The surface of a bar moved by five frames, all of which act on every vertex.
static sinew_status bench_surface(bench_run *b, sinew_blend blend, const char *name) {
    // Radial weights let every frame act everywhere.
    frame_body f = {0};
    frame_case c = bar_case(100, 40, 40);

    c.blend = blend;
    c.weights = SINEW_WEIGHTS_RADIAL;

    sinew_status status = body_fill(b, &c, &f);
    const sinew_mesh *surface = status == SINEW_OK ? sinew_body_get_surface(f.body) : NULL;
    int32_t count = surface ? surface->point_count : 0;
    double *positions = count > 0 ? malloc(3 * (size_t)count * sizeof *positions) : NULL;
    double seconds[STEPS];

    if (status == SINEW_OK && !positions) {
        status = SINEW_OUT_OF_MEMORY;
    }

    // Positions alone, without normals.
    if (status == SINEW_OK) {
        for (int i = -2; i < STEPS; i++) {
            double start = cli_measured_seconds(b->context);
            sinew_body_compute_surface(f.body, positions, NULL);
            if (i >= 0) {
                seconds[i] = cli_measured_seconds(b->context) - start;
            }
        }
    }

    // Multiply-adds for each vertex, by blend.
    bench_result *r = status == SINEW_OK ? bench_add(b, name, count, "ns/vertex") : NULL;
    if (r) {
        bench_take(r, seconds, STEPS, 1e9 / count);
        double work = blend == SINEW_BLEND_LINEAR ? 5 * 16 + 12 : 5 * 8 + 45;
        r->limit_share = 2 * work / (1e-9 * r->min) / b->flops;
        snprintf(r->note, sizeof r->note, "size: vertices; 5 frames at each");
    }

    free(positions);
    body_destroy(&f);

    return status;
}

// Strains, kinds of node and blends on the same 15 000 samples, two frames at each.
sinew_status bench_frame_ratios(bench_run *b) {
    static const struct {
        const char *name;
        sinew_node_kind kind;
        sinew_blend blend;
        sinew_strain strain;
        int over; // index of the row to compare with
        double paper;
        const char *ratio;
    } rows[6] = {
        {"affine, Green", SINEW_NODE_AFFINE, SINEW_BLEND_LINEAR, SINEW_STRAIN_GREEN, -1, NAN, NULL},
        {"affine, corotational", SINEW_NODE_AFFINE, SINEW_BLEND_LINEAR, SINEW_STRAIN_COROTATIONAL,
         0, 1 / 1.5, "corotational over Green"},
        {"quadratic, corotational", SINEW_NODE_QUADRATIC, SINEW_BLEND_LINEAR,
         SINEW_STRAIN_COROTATIONAL, 1, 1.15, "quadratic over affine"},
        {"rigid, linear blend, corotational", SINEW_NODE_RIGID, SINEW_BLEND_LINEAR,
         SINEW_STRAIN_COROTATIONAL, -1, NAN, NULL},
        {"rigid, dual quaternions, corotational", SINEW_NODE_RIGID, SINEW_BLEND_DUAL_QUATERNION,
         SINEW_STRAIN_COROTATIONAL, 3, 5, "dual quaternions over linear blend"},
        {"rigid, dual quaternions, Green", SINEW_NODE_RIGID, SINEW_BLEND_DUAL_QUATERNION,
         SINEW_STRAIN_GREEN, -1, NAN, NULL}};

    double best[6];
    for (int i = 0; i < 6; i++) {
        frame_case c = bar_case(40, 20, 18);
        c.kind = rows[i].kind;
        c.blend = rows[i].blend;
        c.strain = rows[i].strain;
        c.steps = 9;

        // Time of a step.
        frame_timing t;
        SN_TRY(time_steps(b, &c, &t));

        bench_result *r = bench_add(b, rows[i].name, t.samples, "ns/sample");
        if (!r) {
            return SINEW_OK;
        }

        bench_take(r, t.total, t.steps, 1e9 / t.samples);
        best[i] = r->min;

        // Share of the peak.
        double controls = rows[i].kind == SINEW_NODE_AFFINE ? 4 * t.nodes : 10 * t.nodes;
        double flops = rows[i].kind == SINEW_NODE_RIGID ? sample_flops(t.nodes)
                                                        : bench_control_flops(controls);

        r->limit_share = flops / (1e-9 * r->min) / b->flops;
        snprintf(r->note, sizeof r->note, "a step of implicit Euler, %.1f nodes per sample",
                 t.nodes);
        if (rows[i].over < 0) {
            continue;
        }

        // Ratio to the row to compare with.
        r = bench_add(b, rows[i].ratio, t.samples, "-");
        if (!r) {
            return SINEW_OK;
        }

        r->min = r->median = best[i] / best[rows[i].over];
        r->paper = rows[i].paper;
    }

    SN_TRY(bench_surface(b, SINEW_BLEND_LINEAR, "surface carried by rigid frames, linear blend"));
    SN_TRY(bench_surface(b, SINEW_BLEND_DUAL_QUATERNION,
                         "surface carried by rigid frames, dual quaternions"));

    return bench_affine_sizes(b);
}
