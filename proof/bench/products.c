// Frame bodies solved by matrix-free products compared with the assembled matrix: cubes of frames
// that influence each other, two kinds of node, several numbers of frames.
#include "bench/bench.h"
#include "bench/peak.h"
#include "machine.h"

#include "sinew/sinew.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 7, WARM_UP = 2, MOST_ACROSS = 5, SAMPLES_PER_FRAME = 8, VOXELS_PER_FRAME = 5 };

typedef struct cube {
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
} cube;

static void cube_destroy(cube *c) {
    sinew_world_destroy(c->world);
    sinew_voxels_destroy(c->voxels);
}

// A cube of 1 m with `across` frames along each edge; the frames of one side are held.
static sinew_status cube_fill(bench_run *b, int32_t across, sinew_node_kind kind,
                              sinew_solver solver, cube *c) {
    // A grid that is finer than the frames.
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();
    for (int k = 0; k < 3; k++) {
        grid.spacing[k] = solid.size[k] / (across * VOXELS_PER_FRAME);
    }

    SN_TRY(sinew_voxels_create_from_solids(b->context, &solid, 1, &grid, &c->voxels));
    sinew_world_def world = sinew_default_world_def();

    world.solver = solver;
    SN_TRY(sinew_world_create(b->context, &world, &c->world));

    // A cubic lattice of frames.
    sinew_frame_node nodes[MOST_ACROSS * MOST_ACROSS * MOST_ACROSS];
    int32_t count = across * across * across;
    for (int32_t i = 0; i < count; i++) {
        const int32_t at[3] = {i % across, i / across % across, i / across / across};
        nodes[i].kind = kind;
        for (int k = 0; k < 3; k++) {
            nodes[i].position[k] = (at[k] + 0.5) / across - 0.5;
        }
    }

    // Radial weights, so that each sample follows the frames around it.
    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = c->voxels;
    def.nodes = nodes;
    def.node_count = count;
    def.weights.kind = SINEW_WEIGHTS_RADIAL;
    def.weights.range = 1.8 / across;
    def.weights.adopt_outside = true;
    def.sampling.kind = SINEW_SAMPLING_REGIONS;
    def.sampling.count = SAMPLES_PER_FRAME * count;
    SN_TRY(sinew_frame_body_create(c->world, &def, &c->body));

    for (int32_t i = 0; i < count; i += across) {
        SN_TRY(sinew_frame_body_hold(c->body, i, SINEW_HOLD_ALL));
    }

    return SINEW_OK;
}

// Flops of a step by products, a multiply-add counted as two, at points with this many controls:
// for each product the differentials of F and the forces, 9 for each control, and dP; once the
// diagonal blocks of the frames. The work of the material is not counted.
static double step_flops(const sinew_sampling_report *sampling, int32_t controls,
                         int32_t products) {
    double c = controls * sampling->mean_nodes;
    double own = c * (81 + 27 * (controls + 1) / 2.0);
    return 2 * sampling->point_count * (products * (18 * c + 81) + 18 * c + own);
}

static sinew_status time_cube(bench_run *b, int32_t across, sinew_node_kind kind,
                              sinew_solver solver, double *best) {
    static const char *const words[] = {[SINEW_SOLVER_MULTIGRID] = "matrix and multigrid",
                                        [SINEW_SOLVER_DIRECT] = "matrix and factor",
                                        [SINEW_SOLVER_MATRIX_FREE] = "products"};

    // Steps by one solver.
    cube c = {0};
    double seconds[STEPS];
    sinew_step_report report = {0};
    sinew_sampling_report sampling = {0};
    sinew_status status = cube_fill(b, across, kind, solver, &c);

    for (int i = -WARM_UP; i < STEPS && status == SINEW_OK; i++) {
        double start = cli_measured_seconds(b->context);
        status = sinew_world_step(c.world, &report);
        if (i >= 0) {
            seconds[i] = cli_measured_seconds(b->context) - start;
        }
    }

    if (status == SINEW_OK) {
        status = sinew_frame_body_get_report(c.body, NULL, &sampling);
    }

    cube_destroy(&c);
    SN_TRY(status);

    // The row names its solver.
    char name[120];
    bool affine = kind == SINEW_NODE_AFFINE;

    snprintf(name, sizeof name, "cube of %s frames by %s, a step", affine ? "affine" : "quadratic",
             words[solver]);

    bench_result *r = bench_add(b, name, across * across * across, "ms");
    *best = NAN;
    if (!r) {
        return SINEW_OK;
    }

    bench_take(r, seconds, STEPS, 1e3);
    *best = r->min;

    // Products are bound by arithmetic.
    double flops = step_flops(&sampling, affine ? 4 : 10, report.solver_iterations + 2);
    if (solver == SINEW_SOLVER_MATRIX_FREE) {
        r->limit_share = flops / (1e-3 * r->min) / b->flops;
    }

    snprintf(r->note, sizeof r->note,
             "size: frames; %d points, %.0f frames at each; %d iterations, residual %.0e",
             sampling.point_count, sampling.mean_nodes, report.solver_iterations,
             report.solver_residual);

    return SINEW_OK;
}

sinew_status bench_products(bench_run *b) {
    static const sinew_solver solvers[3] = {SINEW_SOLVER_DIRECT, SINEW_SOLVER_MULTIGRID,
                                            SINEW_SOLVER_MATRIX_FREE};
    for (int quadratic = 0; quadratic < 2; quadratic++) {
        for (int32_t across = 2; across <= (quadratic ? MOST_ACROSS - 1 : MOST_ACROSS); across++) {
            // All three solvers on one cube, and products against the better matrix.
            double best[3];
            for (int i = 0; i < 3; i++) {
                SN_TRY(time_cube(b, across, quadratic ? SINEW_NODE_QUADRATIC : SINEW_NODE_AFFINE,
                                 solvers[i], &best[i]));
            }

            bench_result *r =
                bench_add(b,
                          quadratic ? "cube of quadratic frames: products over the better matrix"
                                    : "cube of affine frames: products over the better matrix",
                          across * across * across, "-");

            if (!r) {
                return SINEW_OK;
            }

            r->min = r->median = best[2] / fmin(best[0], best[1]);
        }
    }

    return SINEW_OK;
}
