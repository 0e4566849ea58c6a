// A bar of frames for tests of coming and going: of any kind, blend, sampling and mass.
#ifndef TEST_FRAME_ADAPTING_H
#define TEST_FRAME_ADAPTING_H

#include "support/test.h"

#include "sinew/sinew.h"

#include "body/body.h"
#include "frame/frame_body.h"

#include <math.h>
#include <stdlib.h>

typedef struct adapting {
    sinew_node_kind kind;
    bool dual, regions, springs, consistent;
    int32_t threads;
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
} adapting;

// A bar along x with three frames.
static void open_body(adapting *f) {
    f->context = test_context(f->threads > 0 ? f->threads : 1);
    sinew_solid_def solid = sinew_default_solid_def();
    solid.solid = SINEW_SOLID_BOX;
    solid.size[0] = 1, solid.size[1] = 0.2, solid.size[2] = 0.2;
    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.spacing[0] = grid.spacing[1] = grid.spacing[2] = 0.04;
    assert_int_equal(sinew_voxels_create_from_solids(f->context, &solid, 1, &grid, &f->voxels), SINEW_OK);
    sinew_world_def world = sinew_default_world_def();
    world.gravity[2] = 0;
    world.solver = SINEW_SOLVER_DENSE;
    assert_int_equal(sinew_world_create(f->context, &world, &f->world), SINEW_OK);
    sinew_frame_node nodes[3] = {{f->kind, {-0.45, 0, 0}}, {f->kind, {0, 0, 0}}, {f->kind, {0.45, 0, 0}}};
    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = f->voxels;
    def.nodes = nodes;
    def.node_count = 3;
    def.weights.kind = SINEW_WEIGHTS_AXIS_LINEAR;
    def.blend = f->dual ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR;
    def.sampling.kind = f->regions ? SINEW_SAMPLING_REGIONS : SINEW_SAMPLING_MIDPOINT;
    if (f->regions) def.sampling.count = 250;
    def.springs = f->springs;
    if (f->consistent) def.mass = SINEW_FRAME_MASS_CONSISTENT;
    if (sinew_frame_body_create(f->world, &def, &f->body) != SINEW_OK) fail_msg("%s", sinew_context_message(f->context));
}

static void close_body(adapting *f) {
    sinew_world_destroy(f->world);
    sinew_voxels_destroy(f->voxels);
    sinew_context_destroy(f->context);
}

// Bends and turns the body by as much as `amount`.
static void bend_body(sinew_body *body, double amount, uint64_t seed) {
    const sn_frame_model *model = body->model;
    sn_random random = sn_random_seed(seed);
    double *xi = calloc((size_t)sn_body_size(body), sizeof *xi), *turned = calloc((size_t)body->config_count, sizeof *turned);
    sn_nodes_place(&model->nodes, turned, sn_quat_exp(sn_v3(1.1, -0.7, 1.9)), sn_v3(0.3, 1, -2));
    for (int32_t i = 0; i < model->nodes.count; i++) {
        const sn_node *node = &model->nodes.items[i];
        for (int32_t k = 3 * node->row; k < 3 * (node->row + node->row_count); k++) {
            bool turns = node->kind == SINEW_NODE_RIGID && k < 3 * node->row + 3;
            xi[k] = amount * sn_random_range(&random, -1, 1) * (turns ? 1 : 0.2);
        }
    }
    sn_body_retract(body, body->q, turned, xi);
    memcpy(body->target, body->q, (size_t)body->config_count * sizeof(double));
    free(xi), free(turned);
}

static int32_t join(adapting *f, sinew_node_kind kind, double x, double range, double fade) {
    sinew_frame_insert_def def = sinew_default_frame_insert_def();
    int32_t node = -1;
    def.kind = kind;
    def.position[0] = x, def.position[1] = 0.03, def.position[2] = -0.05;
    def.range = range;
    def.fade = fade;
    if (sinew_frame_body_insert(f->body, &def, &node) != SINEW_OK) fail_msg("%s", sinew_context_message(f->context));
    return node;
}

static void step_body(adapting *f, int count) {
    for (int i = 0; i < count; i++) assert_int_equal(sinew_world_step(f->world, NULL), SINEW_OK);
}

#endif
