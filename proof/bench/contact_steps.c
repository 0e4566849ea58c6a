// Whole steps with contact on one core, in interactive mode: bodies of frames on a floor, two
// solids pressed together, thin slabs that drop onto a ball. The cost of contact is that of a step
// with it less that of a step of the same bodies without.
#include "bench/bench.h"
#include "machine.h"

#include "sinew/sinew.h"

#include "math/vec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 60, MOST_BODIES = 3, MOST_NODES = 10 };

typedef struct stage {
    sinew_context *context;
    sinew_world *world;
    sinew_voxels *voxels;
    sinew_mesh *mesh;
    sinew_body *bodies[MOST_BODIES];
    int32_t body_count;
} stage;

// What a row measures.
typedef struct step_case {
    const char *name;
    sinew_status (*build)(stage *s);
    int32_t warm_up; // steps before the measured ones
    bool self;
    double target;     // of a step, or of what contact adds to it [ms]
    bool contact_only; // the target is for what contact adds
} step_case;

typedef struct step_times {
    double seconds[STEPS];
    double mean, worst;
    double iterations; // of linear solves, mean over the steps
    double active, pairs, solves;
    uint64_t hash;
} step_times;

static void stage_destroy(stage *s) {
    sinew_world_destroy(s->world);
    sinew_voxels_destroy(s->voxels);
    sinew_mesh_destroy(s->mesh);
}

// The surface of a box or ellipsoid with the given numbers of cells.
static sinew_status make_shell(stage *s, sinew_shape shape, const double size[3],
                               const int32_t cells[3]) {
    sinew_shape_def def = sinew_default_shape_def();
    def.shape = shape;
    def.element = SINEW_ELEMENT_TRIANGLE;
    for (int k = 0; k < 3; k++) {
        def.size[k] = size[k];
        def.cells[k] = cells[k];
    }
    return sinew_mesh_create_shape(s->context, &def, &s->mesh);
}

// A body of affine frames with the surface s->mesh, standing on the floor.
static sinew_status add_frame_body(stage *s, sinew_solid kind, const double size[3],
                                   const double (*positions)[3], int32_t count) {
    // Voxels.
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();
    solid.solid = kind;
    for (int k = 0; k < 3; k++) {
        solid.size[k] = size[k];
        grid.spacing[k] = 0.05;
    }
    SN_TRY(sinew_voxels_create_from_solids(s->context, &solid, 1, &grid, &s->voxels));

    // Frames, material and body.
    sinew_frame_node nodes[MOST_NODES];
    for (int32_t i = 0; i < count; i++) {
        nodes[i] = (sinew_frame_node){.kind = SINEW_NODE_AFFINE};
        memcpy(nodes[i].position, positions[i], sizeof nodes[i].position);
    }

    sinew_material_def material = sinew_default_material_def();
    material.young = 5e4;
    material.poisson = 0.3;
    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = s->voxels;
    def.nodes = nodes;
    def.node_count = count;
    def.materials = &material;
    def.material_count = 1;
    def.weights.adopt_outside = true;
    def.sampling.kind = SINEW_SAMPLING_REGIONS;
    def.surface = s->mesh;
    def.stiffness_damping = 0.01;
    def.position[2] = 0.5 * size[2] + 0.005;
    SN_TRY(sinew_frame_body_create(s->world, &def, &s->bodies[s->body_count++]));

    // The floor.
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    return sinew_obstacle_create(s->world, &floor, NULL);
}

static sinew_status build_turtle(stage *s) {
    const double size[3] = {1, 0.9, 0.5};
    const int32_t cells[3] = {56, 0, 0}; // 6 938 vertices
    static const double positions[7][3] = {{0, 0, 0},       {0.35, 0, 0},    {-0.35, 0, 0},
                                           {0.2, 0.25, 0},  {0.2, -0.25, 0}, {-0.2, 0.25, 0},
                                           {-0.2, -0.25, 0}};
    SN_TRY(make_shell(s, SINEW_SHAPE_SPHERE, size, cells));
    return add_frame_body(s, SINEW_SOLID_SPHERE, size, positions, 7);
}

static sinew_status build_bar(stage *s) {
    const double size[3] = {2, 0.3, 0.3};
    const int32_t cells[3] = {38, 6, 6}; // 986 vertices, 273 of them below
    double positions[MOST_NODES][3] = {{0}};
    for (int i = 0; i < MOST_NODES; i++) {
        positions[i][0] = 2 * ((i + 0.5) / MOST_NODES - 0.5);
    }
    SN_TRY(make_shell(s, SINEW_SHAPE_BOX, size, cells));
    return add_frame_body(s, SINEW_SOLID_BOX, size, (const double(*)[3])positions, MOST_NODES);
}

static sinew_status make_solid(stage *s, const double size[3], const int32_t cells[3]) {
    sinew_shape_def def = sinew_default_shape_def();
    for (int k = 0; k < 3; k++) {
        def.size[k] = size[k];
        def.cells[k] = cells[k];
    }
    return sinew_mesh_create_shape(s->context, &def, &s->mesh);
}

static sinew_status add_solid(stage *s, double young, double z, double angle) {
    sinew_material_def material = sinew_default_material_def();
    material.young = young;
    material.poisson = 0.3;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = s->mesh;
    def.materials = &material;
    def.material_count = 1;
    def.position[2] = z;
    def.rotation[2] = sin(angle / 2);
    def.rotation[3] = cos(angle / 2);
    def.stiffness_damping = 0.005;
    return sinew_body_create(s->world, &def, &s->bodies[s->body_count++]);
}

// Two blocks, one on the other, turned by 0.2.
static sinew_status build_press(stage *s) {
    const double size[3] = {1, 1, 0.4};
    const int32_t cells[3] = {15, 15, 4}; // five tets each
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    SN_TRY(make_solid(s, size, cells));
    SN_TRY(add_solid(s, 2e5, 0.203, 0));
    SN_TRY(add_solid(s, 2e5, 0.61, 0.2));
    return sinew_obstacle_create(s->world, &floor, NULL);
}

// Three slabs fall onto a ball, one after the other.
static sinew_status build_slabs(stage *s) {
    const double size[3] = {1, 1, 0.03};
    const int32_t cells[3] = {17, 17, 1}; // 648 vertices
    SN_TRY(make_solid(s, size, cells));
    for (int i = 0; i < MOST_BODIES; i++) {
        SN_TRY(add_solid(s, 1e5, 0.33 + 0.06 * i, 0.3 * i));
    }

    sinew_obstacle_def ball = sinew_default_obstacle_def();
    ball.kind = SINEW_OBSTACLE_SPHERE;
    ball.radius = 0.3;
    SN_TRY(sinew_obstacle_create(s->world, &ball, NULL));
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    floor.position[2] = -0.3;
    return sinew_obstacle_create(s->world, &floor, NULL);
}

static sinew_status build(sinew_context *context, const step_case *c, bool touching, stage *s) {
    *s = (stage){.context = context};
    sinew_world_def world = sinew_default_world_def();
    SN_TRY(sinew_world_create(context, &world, &s->world));
    SN_TRY(c->build(s));

    sinew_contact_def contact = sinew_default_contact_def();
    contact.self = c->self;
    return sinew_world_set_contact(s->world, touching ? &contact : NULL);
}

static sinew_status time_steps(const step_case *c, stage *s, step_times *t) {
    *t = (step_times){.mean = 0};
    for (int32_t i = -c->warm_up; i < STEPS; i++) {
        sinew_step_report report;
        double start = cli_measured_seconds(s->context);
        SN_TRY(sinew_world_step(s->world, &report));
        if (i < 0) {
            continue;
        }

        t->seconds[i] = cli_measured_seconds(s->context) - start;
        t->mean += t->seconds[i] / STEPS;
        t->worst = fmax(t->worst, t->seconds[i]);
        sinew_contact_report contact = sinew_world_get_contact_report(s->world);
        t->iterations += (double)report.solver_iterations / STEPS;
        t->active += (double)contact.active / STEPS;
        t->pairs += (double)contact.pairs / STEPS;
        t->solves += (double)contact.solves / STEPS;
    }

    t->hash = sinew_world_get_hash(s->world);
    return SINEW_OK;
}

static sinew_status run_case(sinew_context *context, const step_case *c, bool touching,
                             step_times *t) {
    stage s;
    sinew_status status = build(context, c, touching, &s);
    if (status == SINEW_OK) {
        status = time_steps(c, &s, t);
    }
    stage_destroy(&s);
    return status;
}

static void report_case(bench_run *b, const step_case *c, step_times *with,
                        const step_times *without) {
    char name[120];
    snprintf(name, sizeof name, "%s: a step%s", c->name,
             c->contact_only ? ", what contact adds" : "");
    bench_result *r = bench_add(b, name, with->active, "ms");
    if (r) {
        double less = c->contact_only ? 1e3 * without->mean : 0;
        bench_take(r, with->seconds, STEPS, 1e3);
        r->min -= less;
        r->median -= less;
        r->target = c->target;
        r->hash = with->hash;
        snprintf(r->note, sizeof r->note,
                 "size: active pairs; one thread; %.3g ms without contact; %.1f solves a step",
                 1e3 * without->mean, with->solves);
    }

    snprintf(name, sizeof name, "%s: worst step over the mean", c->name);
    r = bench_add(b, name, with->active, "-");
    if (r) {
        r->min = r->median = with->worst / with->mean;
        r->target = 4;
    }

    // Two solves a step, each of which may take twice the iterations.
    if (without->iterations > 1) {
        snprintf(name, sizeof name, "%s: solver iterations a solve, over those without contact",
                 c->name);
        r = bench_add(b, name, with->active, "-");
        if (r) {
            double solves = fmax(1, with->solves);
            r->min = r->median = with->iterations / solves / without->iterations;
            r->target = 2;
            snprintf(r->note, sizeof r->note, "%.1f iterations without contact",
                     without->iterations);
        }
    }
}

sinew_status bench_contact_steps(bench_run *b, sinew_context *context) {
    static const step_case cases[] = {
        {"7 frames, 6 938 vertices, self contact", build_turtle, 60, true, 2, true},
        {"10 frames, 986 vertices on the floor", build_bar, 60, false, 0.5, false},
        {"two solids of 4 500 tets", build_press, 60, false, 10, false},
        {"three slabs of 648 vertices, self contact", build_slabs, 20, true, 10, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        step_times with, without;
        SN_TRY(run_case(context, &cases[i], true, &with));
        SN_TRY(run_case(context, &cases[i], false, &without));
        report_case(b, &cases[i], &with, &without);
    }
    return SINEW_OK;
}
