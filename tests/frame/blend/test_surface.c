// The surface computed at once compared with its points computed one by one: linear blending and
// dual quaternions, frames rotated far against one another, every instruction set; quadratic and
// compliant frames; frames of several kinds.
#include "support/test.h"

#include "sinew/sinew.h"

#include "base/context.h"
#include "base/random.h"
#include "frame/body/frame_body.h"

#include <math.h>
#include <stdlib.h>

enum { SEED = 16, FRAMES = 4 };

typedef struct fixture {
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
} fixture;

// Frames of one kind, or of another one at every other position.
static fixture make(sinew_node_kind kind, sinew_node_kind other, sinew_blend blend) {
    fixture f = {.context = test_context(1)};
    sinew_solid_def solid = sinew_default_solid_def();

    solid.size[0] = 1;
    solid.size[1] = 0.4;
    solid.size[2] = 0.3;

    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.spacing[0] = grid.spacing[1] = grid.spacing[2] = 0.1;
    assert_int_equal(sinew_voxels_create_from_solids(f.context, &solid, 1, &grid, &f.voxels),
                     SINEW_OK);

    sinew_world_def world = sinew_default_world_def();
    assert_int_equal(sinew_world_create(f.context, &world, &f.world), SINEW_OK);

    sinew_frame_node nodes[FRAMES];
    for (int i = 0; i < FRAMES; i++) {
        nodes[i] =
            (sinew_frame_node){i % 2 ? other : kind, {0.25 * i - 0.4, i % 2 ? 0.05 : -0.05, 0}};
    }

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = f.voxels;
    def.nodes = nodes;
    def.node_count = FRAMES;
    def.blend = blend;
    bool compliant = kind == SINEW_NODE_COMPLIANT;
    def.weights.kind = compliant ? SINEW_WEIGHTS_SPECTRAL : SINEW_WEIGHTS_RADIAL;
    def.position[0] = 3; // far from the origin, as bodies are

    if (sinew_frame_body_create(f.world, &def, &f.body) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f.context));
    }

    return f;
}

static void destroy(fixture *f) {
    sinew_world_destroy(f->world);
    sinew_voxels_destroy(f->voxels);
    sinew_context_destroy(f->context);
}

// Moves every row at random; rigid frames rotate by up to two radians.
static void stir(sinew_body *body) {
    sn_random random = sn_random_seed(SEED);
    double *xi = malloc((size_t)sn_body_size(body) * sizeof *xi);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        xi[i] = sn_random_range(&random, -1.2, 1.2);
    }

    sn_body_retract(body, body->q, body->rest, xi);
    free(xi);
}

static void check(fixture *f) {
    const sn_frame_model *model = f->body->model;
    int32_t count = model->surface->point_count;
    double *positions = malloc(3 * (size_t)count * sizeof *positions);
    double largest = 0;
    double moved = 0;

    sinew_body_compute_surface(f->body, positions, NULL);
    for (int32_t i = 0; i < count; i++) {
        const sn_vertex_weights *v = &model->base_vertices;
        sn_vec3 X = sn_load3(model->surface->points + 3 * i);
        sn_vec3 x = sn_load3(positions + 3 * i);
        sn_blend_point point = {.X = X,
                                .count = v->start[i + 1] - v->start[i],
                                .node = v->node + v->start[i],
                                .weight = v->weight + v->start[i]};
        largest = fmax(largest,
                       sn_distance(x, sn_blend_get_position(&model->nodes, &model->blend, &point)));
        moved = fmax(moved, sn_distance(x, X));
    }

    // About ten roundings of numbers up to 4.
    assert_true(largest < 1e-14);
    assert_true(moved > 0.5 && count > 50);
    free(positions);
}

static void test_surface_is_carried_like_its_points(void **state) {
    (void)state;
    static const struct {
        sinew_node_kind kind, other;
        sinew_blend blend;
    } cases[] = {{SINEW_NODE_RIGID, SINEW_NODE_RIGID, SINEW_BLEND_LINEAR},
                 {SINEW_NODE_RIGID, SINEW_NODE_RIGID, SINEW_BLEND_DUAL_QUATERNION},
                 {SINEW_NODE_AFFINE, SINEW_NODE_AFFINE, SINEW_BLEND_LINEAR},
                 {SINEW_NODE_QUADRATIC, SINEW_NODE_QUADRATIC, SINEW_BLEND_LINEAR},
                 {SINEW_NODE_QUADRATIC, SINEW_NODE_AFFINE, SINEW_BLEND_LINEAR},
                 {SINEW_NODE_QUADRATIC, SINEW_NODE_POINT, SINEW_BLEND_LINEAR},
                 {SINEW_NODE_COMPLIANT, SINEW_NODE_COMPLIANT, SINEW_BLEND_LINEAR},
                 {SINEW_NODE_COMPLIANT, SINEW_NODE_AFFINE, SINEW_BLEND_LINEAR}};

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        fixture f = make(cases[c].kind, cases[c].other, cases[c].blend);
        stir(f.body);

        sn_isa own = f.context->isa;
        for (int isa = 0; isa < SN_ISA_COUNT; isa++) {
            if (!sn_isa_available((sn_isa)isa)) {
                continue;
            }
            f.context->isa = (sn_isa)isa;
            check(&f);
        }

        f.context->isa = own;
        destroy(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_surface_is_carried_like_its_points)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
