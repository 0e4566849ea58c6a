// Bodies of frames for tests: a bar of voxels around the origin with frames in it, in a world of
// its own.
#ifndef SN_TESTS_SUPPORT_FRAMES_H
#define SN_TESTS_SUPPORT_FRAMES_H

#include "support/test.h"

#include "sinew/sinew.h"

typedef struct test_frames {
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
} test_frames;

typedef struct test_frames_def {
    double size[3], cell; // size of the bar, and edge of its voxels [m]
    sinew_world_def world;
    sinew_material_def material;
    sinew_frame_node nodes[16];
    sinew_frame_body_def body; // node_count of the nodes; voxels, nodes and material are filled in
} test_frames_def;

// 1 m x 0.2 m x 0.2 m in cells of 0.05 m, three frames of a kind on its axis at -end, 0 and end,
// linear weights between them, every voxel a sample, dense solves.
test_frames_def test_default_frames_def(sinew_node_kind kind, double end);

// Takes ownership of the context in any case; on failure everything created so far is destroyed.
sinew_status test_frames_try(test_frames *f, sinew_context *context, const test_frames_def *def);

// The same; the test fails if creation fails.
test_frames test_frames_create(sinew_context *context, const test_frames_def *def);

// Destroy everything except the context, and everything including it.
void test_frames_empty(test_frames *f);
void test_frames_destroy(test_frames *f);

// The configuration after a large rotation and a translation of the whole body, followed by the
// displacement xi: 3 numbers for each row of the body.
void test_frames_place(const sinew_body *body, const double *xi, double *q);

// The same with each number of xi random within 0.05.
void test_frames_deform(const sinew_body *body, double *q);

#endif
