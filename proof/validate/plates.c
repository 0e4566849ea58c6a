// Heterogeneous plates under tension (Gilles et al. 2013, figure 1.7): ten frames compared with
// hexahedra of the same voxels, with weights in the compliance and the Euclidean metric, with
// region samples and evenly spread samples, and the iterations that both need.
#include "points.h"
#include "validate/validate.h"

#include "sinew/sinew.h"

#include "base/context.h"
#include "base/memory.h"
#include "geom/voxel/voxel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CLASSES = 250, LINE_POINTS = 21, FRAMES = 10, STRIPES = 10 };

static const double young = 1e5, poisson = 0.3, rigid_factor = 1e5, traction = 100;

typedef enum plate_kind { PLATE_GRADIENT, PLATE_INCLUSION, PLATE_STRIPES } plate_kind;

// The displacement of the centreline, and the work it took.
typedef struct plate_result {
    double displacement[LINE_POINTS];
    int32_t newton, cg;
    int32_t samples;
} plate_result;

// The plate spans [-0.5, 0.5] along x. It is held by a rigid grip, one column of voxels beyond its
// left end.
enum { RUBBER = 1, INCLUSION = 2, GRIP = 3 };

static sinew_status make_solid(sinew_context *context, plate_kind kind, sinew_voxels **voxels) {
    sinew_solid_def solids[3] = {sinew_default_solid_def(), sinew_default_solid_def(),
                                 sinew_default_solid_def()};
    const double h = 0.01;
    const double length[3] = {1, h, 0.24};
    const double width[3] = {0.4, 0.4, 0.24};
    const double middle[3] = {0, -0.5 - 0.5 * h, 0};
    const int32_t labels[3] = {RUBBER, GRIP, INCLUSION};

    // Rubber, the grip at its end, and an inclusion that repaints it.
    for (int i = 0; i < 3; i++) {
        solids[i].label = labels[i];
        solids[i].center[0] = middle[i];
        solids[i].size[0] = length[i];
        solids[i].size[1] = width[i];
        solids[i].size[2] = 2 * h;
    }

    solids[2].solid = SINEW_SOLID_CYLINDER;
    solids[2].operation = SINEW_SOLID_PAINT;

    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.spacing[0] = grid.spacing[1] = h;
    grid.spacing[2] = 2 * h;

    return sinew_voxels_create_from_solids(context, solids, kind == PLATE_INCLUSION ? 3 : 2, &grid,
                                           voxels);
}

static sinew_status make_voxels(sinew_context *context, plate_kind kind, sinew_voxels **voxels) {
    SN_TRY(make_solid(context, kind, voxels));
    if (kind == PLATE_INCLUSION) {
        return SINEW_OK;
    }

    sn_arena arena = sn_arena_create(context);
    double *factors = SN_PUSH(&arena, double, (*voxels)->count);
    sinew_status status = sn_arena_status(&arena);

    if (status == SINEW_OK) {
        for (int32_t v = 0; v < (*voxels)->count; v++) {
            double x = fmax(sn_voxel_center(*voxels, v).x + 0.5, 0);
            factors[v] = kind == PLATE_GRADIENT ? pow(10, x) : (int)(x * STRIPES) % 2 ? 20 : 1;
        }

        status = sinew_voxels_set_stiffness(*voxels, factors);
    }

    sn_arena_destroy(&arena);
    return status;
}

static double line_x(int k) {
    return -0.5 + (double)k / (LINE_POINTS - 1);
}

static sinew_status solve(sinew_context *context, sinew_world *world, plate_result *result) {
    sinew_static_def statics = sinew_default_static_def();
    statics.newton_tolerance = 1e-6;

    sinew_step_report report;
    SN_TRY(sinew_world_solve_static(world, &statics, &report));
    result->newton = report.newton_iterations;
    result->cg = report.solver_iterations;

    if (report.newton_residual < 1e-4) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_DIVERGED, "the static solve ended with '%s' at a residual of %g",
                   sinew_outcome_name(report.outcome), report.newton_residual);
}

// --- hexahedra

typedef struct hexahedra {
    sinew_mesh *mesh;
    sinew_world *world;
    sinew_body *body;
    sn_arena arena;
} hexahedra;

// A label for each stiffness that occurs, on a logarithmic scale; 1 is the softest. The inclusion
// is the stiffest.
static int32_t class_of(double factor) {
    double index = 1 + log(factor) / log(rigid_factor) * (CLASSES - 2);
    return (int32_t)fmin(fmax(floor(index + 0.5), 1), CLASSES - 1);
}

static double factor_of(int32_t class) {
    return pow(rigid_factor, (double)(class - 1) / (CLASSES - 2));
}

static double stiffness_at(const sinew_voxels *voxels, int32_t v) {
    return voxels->label[v] != RUBBER ? rigid_factor : sn_voxel_stiffness(voxels, v);
}

static sinew_status make_mesh(sinew_context *context, const sinew_voxels *voxels, hexahedra *h) {
    sinew_voxel_mesh_def def = sinew_default_voxel_mesh_def();
    size_t cells = (size_t)voxels->cells[0] * (size_t)voxels->cells[1] * (size_t)voxels->cells[2];
    uint8_t *classes = SN_PUSH(&h->arena, uint8_t, cells);

    SN_TRY(sn_arena_status(&h->arena));
    for (int32_t v = 0; v < voxels->count; v++) {
        classes[voxels->cell[v]] = (uint8_t)class_of(stiffness_at(voxels, v));
    }

    memcpy(def.cells, voxels->cells, sizeof def.cells);
    memcpy(def.spacing, voxels->spacing, sizeof def.spacing);
    memcpy(def.lower, voxels->lower, sizeof def.lower);
    def.voxels = classes;

    return sinew_mesh_create_voxels(context, &def, &h->mesh);
}

static sinew_status make_body(hexahedra *h) {
    sinew_material_def *materials = SN_PUSH(&h->arena, sinew_material_def, CLASSES);
    int32_t *labels = SN_PUSH(&h->arena, int32_t, CLASSES);

    SN_TRY(sn_arena_status(&h->arena));
    for (int32_t i = 0; i < CLASSES; i++) {
        materials[i] = sinew_default_material_def();
        materials[i].young = young * factor_of(i + 1);
        materials[i].poisson = poisson;
        labels[i] = i + 1;
    }

    sinew_body_def def = sinew_default_body_def();
    def.mesh = h->mesh;
    def.materials = materials;
    def.material_labels = labels;
    def.material_count = CLASSES;

    return sinew_body_create(h->world, &def, &h->body);
}

static sinew_status hold_and_pull(hexahedra *h) {
    const sinew_mesh *mesh = h->mesh;
    int32_t *left = SN_PUSH(&h->arena, int32_t, mesh->point_count);
    int32_t left_count = 0;
    sinew_load_def load = sinew_default_load_def();
    int32_t *right = SN_PUSH(&h->arena, int32_t, mesh->point_count);

    SN_TRY(sn_arena_status(&h->arena));
    for (int32_t i = 0; i < mesh->point_count; i++) {
        double x = mesh->points[3 * i];
        if (x < -0.5 + 1e-6) {
            left[left_count++] = i;
        }
        if (x > 0.5 - 1e-6) {
            right[load.node_count++] = i;
        }
    }

    load.nodes = right;
    load.traction[0] = traction;
    SN_TRY(sinew_body_fix_nodes(h->body, left, left_count, SINEW_AXIS_ALL));

    return sinew_body_add_load(h->body, &load, NULL);
}

static void read_centerline(const hexahedra *h, plate_result *result) {
    const double *now = sinew_body_get_positions(h->body);
    for (int k = 0; k < LINE_POINTS; k++) {
        double nearest = INFINITY;
        for (int32_t i = 0; i < h->mesh->point_count; i++) {
            const double *X = h->mesh->points + 3 * i;
            double d = hypot(X[0] - line_x(k), X[1]);
            if (d >= nearest) {
                continue;
            }

            nearest = d;
            result->displacement[k] = now[3 * i] - X[0];
        }
    }
}

static sinew_status solve_hexahedra(sinew_context *context, const sinew_voxels *voxels,
                                    sinew_solver solver, plate_result *result) {
    hexahedra h = {.arena = sn_arena_create(context)};
    sinew_world_def world = sinew_default_world_def();

    world.gravity[2] = 0;
    world.solver = solver;
    world.solver_iterations = 100000;

    // One element for each voxel.
    sinew_status status = make_mesh(context, voxels, &h);
    if (status == SINEW_OK) {
        status = sinew_world_create(context, &world, &h.world);
    }
    if (status == SINEW_OK) {
        status = make_body(&h);
    }
    if (status == SINEW_OK) {
        status = hold_and_pull(&h);
    }
    if (status == SINEW_OK) {
        status = solve(context, h.world, result);
    }
    if (status == SINEW_OK) {
        read_centerline(&h, result);
    }

    sinew_world_destroy(h.world);
    sinew_mesh_destroy(h.mesh);
    sn_arena_destroy(&h.arena);

    return status;
}

// --- frames

typedef struct frames_def {
    sinew_metric metric;
    int32_t levels;
    sinew_sampling_def sampling;
    sinew_solver solver;
} frames_def;

static frames_def default_frames(void) {
    frames_def def = {SINEW_METRIC_COMPLIANCE, 2, sinew_default_sampling_def(), SINEW_SOLVER_DENSE};
    def.sampling.fit_error = 0.04;
    return def;
}

// Frame 0 lies in the grip and is held; the force is spread over the right edge.
static sinew_status pull_frames(sinew_body *body, const sinew_voxels *voxels,
                                plate_result *result) {
    SN_TRY(sinew_frame_body_hold(body, 0, SINEW_HOLD_ALL));
    int32_t rows = voxels->cells[1];
    double total = traction * rows * voxels->spacing[1] * voxels->spacing[2];

    for (int32_t y = 0; y < rows; y++) {
        const double force[3] = {total / rows, 0, 0};
        double point[3];
        sn_store3(point, sn_voxel_center(voxels, sn_voxel_at(voxels, voxels->cells[0] - 1, y, 0)));
        point[0] = 0.5;
        SN_TRY(proof_add_force(body, point, force));
    }

    sinew_sampling_report sampling;
    SN_TRY(sinew_frame_body_get_report(body, NULL, &sampling));
    result->samples = sampling.sample_count;

    return SINEW_OK;
}

static sinew_status solve_frames(sinew_context *context, const sinew_voxels *voxels,
                                 const frames_def *frames, plate_result *result) {
    const double fixed[3] = {-0.505, 0, 0};

    // Grip and inclusion are rigid.
    sinew_autorig_tissue tissues[GRIP];
    for (int32_t i = 0; i < GRIP; i++) {
        tissues[i] = sinew_default_autorig_tissue();
        tissues[i].label = i + 1;
        tissues[i].rigid = tissues[i].label != RUBBER;
        tissues[i].material.young = young;
        tissues[i].material.poisson = poisson;
    }

    // One frame sits in the grip.
    sinew_autorig_def def = sinew_default_autorig_def();
    def.voxels = voxels;
    def.tissues = tissues;
    def.tissue_count = GRIP;
    def.placement.count = FRAMES;
    def.placement.fixed = fixed;
    def.placement.fixed_count = 1;
    def.weights.metric = frames->metric;
    def.weights.levels = frames->levels;
    def.sampling = frames->sampling;

    sinew_world_def world_def = sinew_default_world_def();
    world_def.gravity[2] = 0;
    world_def.solver = frames->solver;

    // Pull, solve, and read the displacements along the middle.
    sinew_world *world = NULL;
    sinew_body *body;
    sinew_status status = sinew_world_create(context, &world_def, &world);
    if (status == SINEW_OK) {
        status = sinew_autorig_create(world, &def, NULL, &body);
    }
    if (status == SINEW_OK) {
        status = pull_frames(body, voxels, result);
    }
    if (status == SINEW_OK) {
        status = solve(context, world, result);
    }

    for (int k = 0; k < LINE_POINTS && status == SINEW_OK; k++) {
        const double rest[3] = {line_x(k), 0, 0};
        double now[3];
        status = proof_get_position(body, rest, now);
        result->displacement[k] = now[0] - rest[0];
    }

    sinew_world_destroy(world);
    return status;
}

// The largest difference along the centreline, relative to the displacement of the end.
static double difference(const plate_result *a, const plate_result *reference) {
    double largest = 0;
    for (int k = 0; k < LINE_POINTS; k++) {
        largest = fmax(largest, fabs(a->displacement[k] - reference->displacement[k]));
    }
    return largest / reference->displacement[LINE_POINTS - 1];
}

// --- A5

static sinew_status draw_plate(validate_run *v, const char *name, const plate_result results[3]) {
    static const char *const labels[3] = {"hexahedra", "10 frames, compliance",
                                          "10 frames, straight distance"};

    double x[LINE_POINTS];
    for (int k = 0; k < LINE_POINTS; k++) {
        x[k] = line_x(k) + 0.5;
    }

    // One curve for each model.
    sinew_plot_series series[3];
    for (int i = 0; i < 3; i++) {
        series[i] = sinew_default_plot_series();
        series[i].label = labels[i];
        series[i].x = x;
        series[i].y = results[i].displacement;
        series[i].count = LINE_POINTS;
        series[i].style = i ? SINEW_PLOT_LINE | SINEW_PLOT_MARKERS : SINEW_PLOT_LINE;
    }

    sinew_plot_panel panel = {.title = name,
                              .x = {.label = "along the plate [m]"},
                              .y = {.label = "displacement [m]"},
                              .series = series,
                              .series_count = 3};

    return validate_draw(v, name, &(sinew_plot){.panels = &panel, .panel_count = 1});
}

static sinew_status compare_plate(validate_run *v, plate_kind kind, const char *name,
                                  int32_t levels) {
    sinew_voxels *voxels = NULL;
    plate_result results[3], other, fine;
    frames_def frames = default_frames();

    frames.levels = 5 - levels; // for the note
    sinew_status status = make_voxels(v->context, kind, &voxels);
    if (status == SINEW_OK) {
        status = solve_frames(v->context, voxels, &frames, &other);
    }

    // The claim compares hexahedra with both metrics; the other solves are for the note.
    frames.levels = levels;
    if (status == SINEW_OK) {
        status = solve_hexahedra(v->context, voxels, SINEW_SOLVER_DIRECT, &results[0]);
    }
    if (status == SINEW_OK) {
        status = solve_frames(v->context, voxels, &frames, &results[1]);
    }

    double fit = frames.sampling.fit_error;
    frames.sampling.fit_error = fit / 2; // for the note too
    if (status == SINEW_OK) {
        status = solve_frames(v->context, voxels, &frames, &fine);
    }

    frames.sampling.fit_error = fit;
    frames.metric = SINEW_METRIC_EUCLIDEAN;
    if (status == SINEW_OK) {
        status = solve_frames(v->context, voxels, &frames, &results[2]);
    }

    sinew_voxels_destroy(voxels);
    SN_TRY(status);

    // Right with distances by compliance, wrong with straight ones.
    char claim[160];
    snprintf(claim, sizeof claim,
             "plate with %s: centreline of 10 frames against hexahedra, over the displacement of "
             "the end",
             name);
    validate_at_most(v, claim, 0.05, difference(&results[1], &results[0]), "-");
    validate_note(v, "kernels of %d levels, %d samples; %d levels give %.3f, %d samples %.3f",
                  levels, results[1].samples, 5 - levels, difference(&other, &results[0]),
                  fine.samples, difference(&fine, &results[0]));
    snprintf(claim, sizeof claim,
             "plate with %s: the same with weights by straight distance (wrong)", name);
    validate_at_least(v, claim, 2 * difference(&results[1], &results[0]),
                      difference(&results[2], &results[0]), "-");

    return draw_plate(v, kind == PLATE_GRADIENT ? "gradient" : "inclusion", results);
}

sinew_status validate_plates(validate_run *v) {
    SN_TRY(compare_plate(v, PLATE_GRADIENT, "a gradient", 2));
    return compare_plate(v, PLATE_INCLUSION, "an inclusion", 3);
}

// --- A22

sinew_status validate_sampling(validate_run *v) {
    sinew_voxels *voxels = NULL;
    plate_result elements, regions, dense, uniform;
    frames_def frames = default_frames();
    sinew_status status = make_voxels(v->context, PLATE_STRIPES, &voxels);

    if (status == SINEW_OK) {
        status = solve_hexahedra(v->context, voxels, SINEW_SOLVER_DIRECT, &elements);
    }
    if (status == SINEW_OK) {
        status = solve_frames(v->context, voxels, &frames, &regions);
    }

    // A sample in each voxel, then as many as the regions but spread evenly.
    frames.sampling.kind = SINEW_SAMPLING_MIDPOINT;
    if (status == SINEW_OK) {
        status = solve_frames(v->context, voxels, &frames, &dense);
    }

    frames.sampling.count = status == SINEW_OK ? regions.samples : 1;
    if (status == SINEW_OK) {
        status = solve_frames(v->context, voxels, &frames, &uniform);
    }

    sinew_voxels_destroy(voxels);
    SN_TRY(status);

    // Relative to hexahedra.
    double reference = elements.displacement[LINE_POINTS - 1];
    double of_dense = dense.displacement[LINE_POINTS - 1] / reference;

    validate_at_least(
        v, "striped plate, region samples: displacement of the end over that of hexahedra",
        of_dense, regions.displacement[LINE_POINTS - 1] / reference, "-");
    validate_note(v, "%d samples; the limit is the result with a sample in each voxel",
                  regions.samples);
    validate_at_most(v, "striped plate, as many samples spread evenly: the same (too stiff)",
                     0.75 * of_dense, uniform.displacement[LINE_POINTS - 1] / reference, "-");
    validate_note(v, "%d samples", uniform.samples);

    return SINEW_OK;
}

// --- A23

sinew_status validate_iterations(validate_run *v) {
    sinew_voxels *voxels = NULL;
    plate_result elements = {0}, few = {0};
    frames_def frames = default_frames();

    // The same weak preconditioner for both, so that iterations measure the systems.
    frames.solver = SINEW_SOLVER_JACOBI;
    sinew_status status = make_voxels(v->context, PLATE_INCLUSION, &voxels);
    if (status == SINEW_OK) {
        status = solve_hexahedra(v->context, voxels, SINEW_SOLVER_JACOBI, &elements);
    }
    if (status == SINEW_OK) {
        status = solve_frames(v->context, voxels, &frames, &few);
    }

    sinew_voxels_destroy(voxels);
    SN_TRY(status);
    validate_at_least(v,
                      "plate with an inclusion: conjugate gradient iterations of hexahedra over "
                      "those of 10 frames",
                      10, (double)elements.cg / few.cg, "-");
    validate_note(v, "%d and %d, both with block Jacobi", elements.cg, few.cg);
    validate_at_least(
        v, "plate with an inclusion: Newton iterations of hexahedra over those of 10 frames", 1,
        (double)elements.newton / few.newton, "-");
    validate_note(v, "%d and %d: at this load one correction is enough for both", elements.newton,
                  few.newton);

    return SINEW_OK;
}
