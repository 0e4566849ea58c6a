// A bar of frames for tests of frames that join and leave: of any kind, blend, sampling and mass.
#ifndef TEST_FRAME_ADAPTING_H
#define TEST_FRAME_ADAPTING_H

#include "support/frames.h"

#include "body/body.h"
#include "frame/body/frame_body.h"

#include <math.h>
#include <stdlib.h>

typedef struct adapting {
    sinew_node_kind kind;
    bool dual, regions, springs, consistent;
    int32_t threads;
    test_frames frames;
    sinew_body *body; // of the frames
} adapting;

// A bar along x with three frames.
static void open_body(adapting *f) {
    test_frames_def def = test_default_frames_def(f->kind, 0.45);
    def.cell = 0.04;
    def.world.gravity[2] = 0;
    def.body.blend = f->dual ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR;

    if (f->regions) {
        def.body.sampling.kind = SINEW_SAMPLING_REGIONS;
    }
    if (f->regions) {
        def.body.sampling.count = 250;
    }

    def.body.springs = f->springs;
    if (f->consistent) {
        def.body.mass = SINEW_FRAME_MASS_CONSISTENT;
    }

    f->frames = test_frames_create(test_context(f->threads > 0 ? f->threads : 1), &def);
    f->body = f->frames.body;
}

static void close_body(adapting *f) {
    test_frames_destroy(&f->frames);
}

// Bends and rotates the body by up to `amount`.
static void bend_body(sinew_body *body, double amount, uint64_t seed) {
    const sn_frame_model *model = body->model;
    sn_random random = sn_random_seed(seed);
    double *xi = calloc((size_t)sn_body_size(body), sizeof *xi);

    for (int32_t i = 0; i < model->nodes.count; i++) {
        const sn_node *node = &model->nodes.items[i];
        for (int32_t k = 3 * node->row; k < 3 * (node->row + node->row_count); k++) {
            bool turns = node->kind == SINEW_NODE_RIGID && k < 3 * node->row + 3;
            xi[k] = amount * sn_random_range(&random, -1, 1) * (turns ? 1 : 0.2);
        }
    }

    test_frames_place(body, xi, body->q);
    memcpy(body->target, body->q, (size_t)body->config_count * sizeof(double));
    free(xi);
}

static int32_t join(adapting *f, sinew_node_kind kind, double x, double range, double fade) {
    sinew_frame_insert_def def = sinew_default_frame_insert_def();
    int32_t node = -1;

    def.kind = kind;
    def.position[0] = x;
    def.position[1] = 0.03;
    def.position[2] = -0.05;
    def.range = range;
    def.fade = fade;

    if (sinew_frame_body_insert(f->body, &def, &node) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f->frames.context));
    }

    return node;
}

static void step_body(adapting *f, int count) {
    for (int i = 0; i < count; i++) {
        assert_int_equal(sinew_world_step(f->frames.world, NULL), SINEW_OK);
    }
}

#endif
