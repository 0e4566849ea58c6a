// Builds the bar of frames of frames.h.
#include "support/frames.h"

#include "body/body.h"
#include "frame/body/frame_body.h"

#include <stdlib.h>

test_frames_def test_default_frames_def(sinew_node_kind kind, double end) {
    test_frames_def def = {.size = {1, 0.2, 0.2},
                           .cell = 0.05,
                           .world = sinew_default_world_def(),
                           .material = sinew_default_material_def(),
                           .nodes = {{kind, {-end, 0, 0}}, {kind, {0, 0, 0}}, {kind, {end, 0, 0}}},
                           .body = sinew_default_frame_body_def()};

    def.world.solver = SINEW_SOLVER_DENSE;
    def.body.node_count = 3;
    def.body.weights.kind = SINEW_WEIGHTS_AXIS_LINEAR;
    def.body.sampling.kind = SINEW_SAMPLING_MIDPOINT;

    return def;
}

sinew_status test_frames_try(test_frames *f, sinew_context *context, const test_frames_def *def) {
    *f = (test_frames){.context = context};
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();

    for (int a = 0; a < 3; a++) {
        solid.size[a] = def->size[a];
        grid.spacing[a] = def->cell;
    }

    SN_TRY(sinew_voxels_create_from_solids(context, &solid, 1, &grid, &f->voxels));
    SN_TRY(sinew_world_create(context, &def->world, &f->world));

    sinew_frame_body_def body = def->body;
    body.voxels = f->voxels;
    body.nodes = def->nodes;
    body.materials = &def->material;
    body.material_count = 1;

    return sinew_frame_body_create(f->world, &body, &f->body);
}

test_frames test_frames_create(sinew_context *context, const test_frames_def *def) {
    test_frames f;
    if (test_frames_try(&f, context, def) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }
    return f;
}

void test_frames_empty(test_frames *f) {
    if (f->world) {
        sinew_world_destroy(f->world);
    }
    if (f->voxels) {
        sinew_voxels_destroy(f->voxels);
    }
}

void test_frames_destroy(test_frames *f) {
    test_frames_empty(f);
    sinew_context_destroy(f->context);
}

void test_frames_place(const sinew_body *body, const double *xi, double *q) {
    double *turned = calloc((size_t)body->config_count, sizeof *turned);
    assert_non_null(turned);
    sn_nodes_place(&sn_frame_model_of(body)->nodes, turned, sn_quat_exp(sn_v3(1.1, -0.7, 1.9)),
                   sn_v3(0.3, 1, -2));
    sn_body_retract(body, q, turned, xi);
    free(turned);
}

void test_frames_deform(const sinew_body *body, double *q) {
    double *xi = calloc((size_t)sn_body_size(body), sizeof *xi);
    assert_non_null(xi);
    sn_random random = sn_random_seed(29);

    for (int32_t i = 0; i < sn_body_size(body); i++) {
        xi[i] = sn_random_range(&random, -0.05, 0.05);
    }

    test_frames_place(body, xi, q);
    free(xi);
}
