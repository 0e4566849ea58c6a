// Shape functions of frames: the exact solution of a heterogeneous line, the reach of kernels,
// weights in a U.
#include "validate/album.h"
#include "validate/validate.h"

#include "sinew/sinew.h"

#include "base/context.h"
#include "base/memory.h"
#include "base/random.h"
#include "frame/sampling/sampling.h"
#include "frame/weights/weights.h"
#include "geom/voxel/voxel.h"

#include <math.h>
#include <stdio.h>

enum { LINE = 1000 };

static sinew_status make_solid(sinew_context *context, sinew_solid kind, double x, double y,
                               double z, double spacing, sinew_voxels **voxels) {
    sinew_solid_def solid = sinew_default_solid_def();
    solid.solid = kind;
    solid.size[0] = x;
    solid.size[1] = y;
    solid.size[2] = z;
    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.spacing[0] = grid.spacing[1] = grid.spacing[2] = spacing;

    return sinew_voxels_create_from_solids(context, &solid, 1, &grid, voxels);
}

static double weight_of(const sn_shape *shape, int32_t voxel, int32_t node) {
    for (int64_t k = shape->table.start[voxel]; k < shape->table.start[voxel + 1]; k++) {
        if (shape->table.node[k] == node) {
            return shape->table.weight[k];
        }
    }
    return 0;
}

// --- A6: a line whose stiffness varies over four decades (Gilles et al. 2013, equation 1.7)

typedef struct line {
    sinew_voxels *voxels;
    double factor[LINE], integral[LINE + 1]; // of 1 / factor, from the left end
} line;

static sinew_status make_line(sinew_context *context, line *l) {
    SN_TRY(make_solid(context, SINEW_SOLID_BOX, 1, 0.001, 0.001, 0.001, &l->voxels));
    sn_random random = sn_random_seed(6);
    double level = 0;

    l->integral[0] = 0;
    for (int x = 0; x < LINE; x++) {
        level = fmin(fmax(level + sn_random_range(&random, -0.5, 0.5), -4.6), 4.6);
        double factor = exp(level);
        l->factor[sinew_voxels_get_voxel(l->voxels, x, 0, 0)] = factor;
        l->integral[x + 1] = l->integral[x] + 1 / factor;
    }

    return sinew_voxels_set_stiffness(l->voxels, l->factor);
}

// The exact weight of node i at cell x: its share of the compliance between the two neighbouring
// nodes.
static double exact_weight(const line *l, const int32_t *ends, int32_t count, int32_t i, int32_t x,
                           double here) {
    double own = l->integral[ends[i]];
    if (i > 0 && x >= ends[i - 1] && x < ends[i]) {
        double before = l->integral[ends[i - 1]];
        return (here - before) / (own - before);
    }

    if (i + 1 < count && x >= ends[i] && x < ends[i + 1]) {
        double after = l->integral[ends[i + 1]];
        return (after - here) / (after - own);
    }

    return 0;
}

// Weights of each node along the line for the plot, computed and exact.
enum { MOST_NODES = 4 };
typedef struct line_curves {
    double x[LINE], weight[MOST_NODES][LINE], exact[MOST_NODES][LINE];
} line_curves;

static sinew_status line_error(sinew_context *context, const line *l, const int32_t *ends,
                               int32_t count, int32_t levels, double *worst, line_curves *curves) {
    // Nodes on the line.
    double nodes[12] = {0};
    for (int i = 0; i < count; i++) {
        nodes[3 * i] = -0.5 + 0.001 * ends[i];
    }

    sinew_weights_def def = sinew_default_weights_def();
    def.levels = levels;

    sn_shape *shape;
    SN_TRY(sn_shape_create(context, l->voxels, NULL, 0, nodes, count, &def, &shape));

    // Against the exact integral of the compliance.
    *worst = 0;

    for (int32_t x = 0; x < LINE; x++) {
        int32_t voxel = sinew_voxels_get_voxel(l->voxels, x, 0, 0);
        double here = l->integral[x] + 0.5 / l->factor[voxel];
        if (curves) {
            curves->x[x] = 0.001 * (x + 0.5);
        }

        for (int32_t i = 0; i < count; i++) {
            double weight = weight_of(shape, voxel, i);
            double exact = exact_weight(l, ends, count, i, x, here);
            *worst = fmax(*worst, fabs(weight - exact));

            if (curves) {
                curves->weight[i][x] = weight;
                curves->exact[i][x] = exact;
            }
        }
    }

    sn_shape_destroy(shape);
    return SINEW_OK;
}

static sinew_status draw_line(validate_run *v, const line_curves *curves) {
    sinew_plot_series series[2 * MOST_NODES];
    for (int k = 0; k < 2 * MOST_NODES; k++) {
        bool exact = k >= MOST_NODES;
        series[k] = sinew_default_plot_series();
        series[k].label = k == 0 ? "Voronoi kernels" : k == MOST_NODES ? "exact" : NULL;
        series[k].x = curves->x;
        series[k].count = LINE;
        series[k].y = exact ? curves->exact[k - MOST_NODES] : curves->weight[k];
        series[k].style = exact ? SINEW_PLOT_LINE | SINEW_PLOT_DASHED : SINEW_PLOT_LINE;
        series[k].color = exact;
    }

    sinew_plot_panel panel = {.title = "Weights of four nodes along a heterogeneous bar",
                              .x = {.label = "x [m]"},
                              .y = {.label = "weight"},
                              .series = series,
                              .series_count = 2 * MOST_NODES};

    return validate_draw(v, "weights",
                         &(sinew_plot){.panels = &panel, .panel_count = 1, .panel_width = 760});
}

sinew_status validate_line_weights(validate_run *v) {
    sn_arena arena = sn_arena_create(v->context);
    line *l = SN_PUSH(&arena, line, 1);
    line_curves *curves = SN_PUSH(&arena, line_curves, 1);
    sinew_status status = sn_arena_status(&arena);

    if (status != SINEW_OK) {
        sn_arena_destroy(&arena);
        return status;
    }

    // Two nodes; four nodes with few levels and with many.
    static const int32_t between[4] = {0, 310, 555, LINE};
    double two, four, coarse;

    status = make_line(v->context, l);
    if (status == SINEW_OK) {
        status = line_error(v->context, l, (const int32_t[]){0, LINE}, 2, 2, &two, NULL);
    }
    if (status == SINEW_OK) {
        status = line_error(v->context, l, between, 4, 2, &coarse, NULL);
    }
    if (status == SINEW_OK) {
        status = line_error(v->context, l, between, 4, 5, &four, curves);
    }

    if (status == SINEW_OK) {
        validate_at_most(
            v, "Voronoi weights on a heterogeneous line of 1000 voxels, nodes at the ends: error",
            1e-3, two, "-");
        validate_at_most(
            v, "the same with two more nodes between, unequally spaced, kernels of 5 levels", 1e-3,
            four, "-");
        validate_note(v,
                      "2 levels give %.2g: the nearer border of a cell may lie behind its node, "
                      "which fewer levels feel farther from it",
                      coarse);
    }

    if (status == SINEW_OK) {
        status = draw_line(v, curves);
    }

    sinew_voxels_destroy(l->voxels);
    sn_arena_destroy(&arena);

    return status;
}

// --- A18: a U (Gilles et al. 2011, figure 3)

// Weight, at the top of the right arm, of the frame at the top of the left arm. A second frame
// blocks the path between them.
static sinew_status weight_across(validate_run *v, const sinew_voxels *u, sinew_weights kind,
                                  double radius, double *weight) {
    const double nodes[6] = {-0.375, 0.45, 0, 0, -0.375, 0};
    sinew_weights_def def = sinew_default_weights_def();

    def.kind = kind;
    def.metric = SINEW_METRIC_EUCLIDEAN;
    def.node_radius = radius;

    sn_shape *shape;
    SN_TRY(sn_shape_create(v->context, u, NULL, 0, nodes, 2, &def, &shape));

    const double far_arm[3] = {0.375, 0.45, 0};
    *weight = weight_of(shape, sinew_voxels_find_nearest(u, far_arm, 1), 0);
    sn_shape_destroy(shape);

    return SINEW_OK;
}

sinew_status validate_u_weights(validate_run *v) {
    sinew_voxels *u;
    SN_TRY(make_solid(v->context, SINEW_SOLID_U, 1, 1, 0.25, 1.0 / 32, &u));

    // The weight of one arm's frame in the other arm, by four kinds of weights.
    double straight = 0, geodesic = 0, harmonic = 0, point = 0;
    sinew_status status = weight_across(v, u, SINEW_WEIGHTS_RADIAL, 0, &straight);
    if (status == SINEW_OK) {
        status = weight_across(v, u, SINEW_WEIGHTS_GEODESIC, 0, &geodesic);
    }
    if (status == SINEW_OK) {
        status = weight_across(v, u, SINEW_WEIGHTS_HARMONIC, 0.2, &harmonic);
    }
    if (status == SINEW_OK) {
        status = weight_across(v, u, SINEW_WEIGHTS_HARMONIC, 0, &point);
    }

    sinew_voxels_destroy(u);
    SN_TRY(status);

    // From wrong to right.
    validate_at_least(
        v, "U: weight of the left arm's frame in the right arm, straight distance (wrong)", 0.5,
        straight, "-");
    validate_at_most(v, "U: the same by the distance inside (better)", 0.5 * straight, geodesic,
                     "-");
    validate_at_most(v, "U: the same by harmonic functions (right)", 0.01, harmonic, "-");
    validate_note(
        v, "frames that own the arm's whole section; frames that own one voxel leave %.3f", point);

    return SINEW_OK;
}

// --- A7 and A21: samples and reach on a plate with four frames

static const double plate_nodes[12] = {-0.7, 0, 0, -0.1, 0.2, 0, 0.3, -0.2, 0, 0.8, 0.1, 0};

// The weights of a node on the surface of the plate.
static sinew_status show_weights(validate_run *v, const sn_shape *shape, const sinew_mesh *surface,
                                 const char *caption, album *maps) {
    sn_arena arena = sn_arena_create(v->context);
    double *values = SN_PUSH(&arena, double, surface->point_count);
    sinew_status status = sn_arena_status(&arena);

    if (status == SINEW_OK) {
        for (int32_t i = 0; i < surface->point_count; i++) {
            values[i] = weight_of(
                shape,
                sinew_voxels_find_nearest(shape->voxels, surface->points + 3 * (size_t)i, INFINITY),
                0);
        }

        album_add_values(maps, caption, surface, values);
    }

    sn_arena_destroy(&arena);
    return status;
}

sinew_status validate_reach(validate_run *v) {
    static const char *const captions[3] = {"1 level", "2 levels", "5 levels"};
    static const int32_t levels[3] = {1, 2, 5};
    sinew_voxels *plate;

    SN_TRY(make_solid(v->context, SINEW_SOLID_BOX, 2, 1, 0.02, 0.02, &plate));
    double share[3] = {0};
    album maps;

    album_begin(v, &maps);
    sinew_mesh *surface = NULL;
    sinew_status status = sinew_voxels_create_surface(plate, 0, &surface);
    int32_t count = sinew_voxels_get_count(plate);

    // The share of the plate with a positive weight, at each number of levels.
    for (int i = 0; i < 3 && status == SINEW_OK; i++) {
        sinew_weights_def def = sinew_default_weights_def();
        def.levels = levels[i];
        def.cutoff = 1e-3;

        sn_shape *shape;
        status = sn_shape_create(v->context, plate, NULL, 0, plate_nodes, 4, &def, &shape);
        if (status != SINEW_OK) {
            break;
        }

        for (int32_t voxel = 0; voxel < count; voxel++) {
            share[i] += weight_of(shape, voxel, 0) > 0;
        }

        share[i] /= count;
        status = show_weights(v, shape, surface, captions[i], &maps);
        sn_shape_destroy(shape);
    }

    album_look look = {.title = "Weights of the left one of four frames",
                       .azimuth = -1.5708,
                       .elevation = 1.3,
                       .values = "weight"};

    status = album_end(&maps, "maps", &look, status);
    sinew_mesh_destroy(surface);
    sinew_voxels_destroy(plate);
    SN_TRY(status);

    // More levels reach further.
    validate_at_least(v, "Voronoi kernels: reach with 2 levels beyond that with 1", 0,
                      share[1] - share[0], "-");
    validate_at_least(v, "Voronoi kernels: reach with 5 levels beyond that with 2", 0,
                      share[2] - share[1], "-");
    validate_note(v, "share of the plate under a kernel %.3f, %.3f, %.3f with 1, 2, 5 levels",
                  share[0], share[1], share[2]);

    return SINEW_OK;
}

sinew_status validate_region_fit(validate_run *v) {
    sinew_voxels *plate;
    SN_TRY(make_solid(v->context, SINEW_SOLID_BOX, 2, 1, 0.1, 0.05, &plate));

    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = NULL;
    sinew_status status = sinew_world_create(v->context, &world_def, &world);

    // Affine frames at four positions.
    sinew_frame_node nodes[4];

    for (int i = 0; i < 4; i++) {
        nodes[i] = (sinew_frame_node){
            .kind = SINEW_NODE_AFFINE,
            .position = {plate_nodes[3 * i], plate_nodes[3 * i + 1], plate_nodes[3 * i + 2]}};
    }

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = plate;
    def.nodes = nodes;
    def.node_count = 4;

    // The default samples.
    sinew_body *body;
    sinew_sampling_report report = {0};
    if (status == SINEW_OK) {
        status = sinew_frame_body_create(world, &def, &body);
    }
    if (status == SINEW_OK) {
        status = sinew_frame_body_get_report(body, NULL, &report);
    }

    sinew_world_destroy(world);
    sinew_voxels_destroy(plate);
    SN_TRY(status);
    validate_at_most(
        v, "region samples of a plate with four frames: mean error of the weights' linear fit",
        0.05, report.mean_fit_error, "-");
    validate_note(v, "%d samples", report.sample_count);

    return SINEW_OK;
}
