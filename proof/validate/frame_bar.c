// Builds a bar of frames; see frame_bar.h.
#include "validate/frame_bar.h"

#include "base/context.h"
#include "points.h"

#include <math.h>

frame_bar_def frame_bar_default_def(void) {
    return (frame_bar_def){.count = 5,
                           .kind = SINEW_NODE_RIGID,
                           .weights = SINEW_WEIGHTS_AXIS_LINEAR,
                           .length = 1,
                           .width = 0.2,
                           .cells = {40, 4, 4},
                           .solver = SINEW_SOLVER_DENSE,
                           .newton_tolerance = 1e-13};
}

static sinew_status fill(sinew_context *context, const frame_bar_def *def, frame_bar *b) {
    // The solid starts at x = 0.
    const double size[3] = {def->length, def->width, def->width};
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();
    solid.center[0] = def->length / 2;
    for (int c = 0; c < 3; c++) {
        solid.size[c] = size[c];
        grid.spacing[c] = size[c] / def->cells[c];
    }

    // Cylinders are along z: rotate that to x.
    if (def->round) {
        solid.solid = SINEW_SOLID_CYLINDER;
        solid.size[0] = def->width;
        solid.size[2] = def->length;
        solid.rotation[1] = solid.rotation[3] = sqrt(0.5);
    }

    SN_TRY(sinew_voxels_create_from_solids(context, &solid, 1, &grid, &b->voxels));
    sinew_world_def world = sinew_default_world_def();

    world.gravity[2] = -def->gravity;
    world.solver = def->solver;
    world.integrator = def->integrator;
    world.newton_tolerance = def->newton_tolerance;
    SN_TRY(sinew_world_create(context, &world, &b->world));

    // Frames at equal distances, the first and the last at the ends.
    sinew_frame_node nodes[FRAME_BAR_MOST_FRAMES];
    for (int32_t i = 0; i < def->count; i++) {
        nodes[i] = (sinew_frame_node){.kind = def->kind,
                                      .position = {def->length * i / (def->count - 1), 0, 0}};
    }

    // One sample for each voxel.
    sinew_frame_body_def body = sinew_default_frame_body_def();
    body.voxels = b->voxels;
    body.nodes = nodes;
    body.node_count = def->count;
    body.materials = def->material;
    body.material_count = def->material != NULL;
    body.weights.kind = def->weights;
    body.sampling.kind = def->regions ? SINEW_SAMPLING_REGIONS : SINEW_SAMPLING_MIDPOINT;
    body.blend = def->blend;
    body.mass = def->mass;
    body.springs = def->springs;
    body.geometric_stiffness = def->geometric_stiffness;

    return sinew_frame_body_create(b->world, &body, &b->body);
}

sinew_status frame_bar_create(sinew_context *context, const frame_bar_def *def, frame_bar *b) {
    *b = (frame_bar){.context = context};
    sinew_status status = fill(context, def, b);
    if (status != SINEW_OK) {
        frame_bar_destroy(b);
    }
    return status;
}

void frame_bar_destroy(frame_bar *b) {
    sinew_world_destroy(b->world);
    sinew_voxels_destroy(b->voxels);
}

sinew_status frame_bar_solve(frame_bar *b, double tolerance) {
    sinew_static_def statics = sinew_default_static_def();
    statics.newton_tolerance = tolerance;

    sinew_step_report report;
    SN_TRY(sinew_world_solve_static(b->world, &statics, &report));

    bool done =
        report.outcome == SINEW_OUTCOME_CONVERGED ||
        (report.outcome == SINEW_OUTCOME_STALLED && report.newton_residual < 1e3 * tolerance);
    if (done) {
        return SINEW_OK;
    }

    return sn_fail(b->context, SINEW_DIVERGED,
                   "the static solve ended with '%s' at a residual of %g",
                   sinew_outcome_name(report.outcome), report.newton_residual);
}

sinew_status frame_bar_sag(frame_bar *b, double x, double *sag) {
    const double rest[3] = {x, 0, 0};
    double position[3] = {0};
    SN_TRY(frame_bar_solve(b, 1e-8));
    SN_TRY(proof_get_position(b->body, rest, position));

    *sag = -position[2];
    return SINEW_OK;
}
