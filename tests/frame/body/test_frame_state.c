// Placement, velocities and states of frame bodies: points move as the placement says, and states
// are those of the deformation.
#include "support/test.h"
#include "support/points.h"

#include "sinew/sinew.h"
#include "sinew/voxel.h"

#include "body/body.h"
#include "frame/body/frame_body.h"
#include "frame/body/state.h"

#include <math.h>

typedef struct fixture {
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
} fixture;

// A bar of two labels with frames of the four kinds; `change` edits the definition.
static fixture make(sinew_context *context, void (*change)(sinew_frame_body_def *),
                    sinew_status expected) {
    fixture f = {.context = context};
    sinew_solid_def solids[2] = {sinew_default_solid_def(), sinew_default_solid_def()};

    solids[0].size[1] = solids[0].size[2] = 0.2;
    solids[1] = solids[0];
    solids[1].center[0] = 0.25;
    solids[1].size[0] = 0.5;
    solids[1].operation = SINEW_SOLID_PAINT;
    solids[1].label = 2;

    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.resolution = 20;
    assert_int_equal(sinew_voxels_create_from_solids(f.context, solids, 2, &grid, &f.voxels),
                     SINEW_OK);

    sinew_world_def world = sinew_default_world_def();
    world.gravity[2] = 0;
    assert_int_equal(sinew_world_create(f.context, &world, &f.world), SINEW_OK);

    const sinew_frame_node nodes[4] = {{SINEW_NODE_RIGID, {-0.45, 0, 0}},
                                       {SINEW_NODE_AFFINE, {-0.15, 0, 0}},
                                       {SINEW_NODE_QUADRATIC, {0.15, 0, 0}},
                                       {SINEW_NODE_POINT, {0.45, 0, 0}}};
    sinew_material_def materials[2] = {sinew_default_material_def(), sinew_default_material_def()};

    materials[1].young = 3e6;
    for (int i = 0; i < 2; i++) {
        materials[i].strain = SINEW_STRAIN_GREEN;
        materials[i].poisson = 0.3;
    }

    const int32_t labels[2] = {1, 2};
    sinew_frame_body_def def = sinew_default_frame_body_def();

    def.voxels = f.voxels;
    def.nodes = nodes;
    def.node_count = 4;
    def.materials = materials;
    def.material_count = 2;
    def.material_labels = labels;
    def.weights.kind = SINEW_WEIGHTS_AXIS_LINEAR;

    if (change) {
        change(&def);
    }

    sinew_status status = sinew_frame_body_create(f.world, &def, &f.body);
    if (status != expected) {
        fail_msg("%d: %s", (int)status, sinew_context_message(f.context));
    }

    return f;
}

static void destroy(fixture *f) {
    sinew_world_destroy(f->world);
    sinew_voxels_destroy(f->voxels);
    sinew_context_destroy(f->context);
}

static void throw_it(sinew_frame_body_def *def) {
    static const double position[3] = {1, 2, 3};
    static const double rotation[4] = {0, 0, 2, 2};
    static const double velocity[3] = {0.5, -1, 2};
    static const double spin[3] = {1, 2, -3};
    memcpy(def->position, position, sizeof position);
    memcpy(def->rotation, rotation, sizeof rotation); // a quarter turn about z, not of length 1
    memcpy(def->velocity, velocity, sizeof velocity);
    memcpy(def->angular_velocity, spin, sizeof spin);
}

static void test_placement_and_velocity(void **state) {
    (void)state;
    fixture f = make(test_context(1), throw_it, SINEW_OK);
    const double rest[4][3] = {{-0.5, 0, 0}, {0.1, 0.05, -0.1}, {0.3, 0, 0.1}, {-0.2, -0.1, 0}};

    for (int i = 0; i < 4; i++) {
        double x[3], v[3];
        sinew_element_state felt;

        assert_int_equal(test_get_position(f.body, rest[i], x), SINEW_OK);
        assert_int_equal(test_get_state(f.body, rest[i], v, &felt), SINEW_OK);

        sn_vec3 r = {-rest[i][1], rest[i][0], rest[i][2]}; // about the placement's origin
        sn_vec3 expected = sn_add(sn_v3(0.5, -1, 2), sn_cross(sn_v3(1, 2, -3), r));

        // The point frame at the right end moves its surroundings without rotating them; everything
        // left of it is rigid.
        if (rest[i][0] > 0.15) {
            continue;
        }

        test_close("x", x[0], 1 + r.x, 1e-12);
        test_close("y", x[1], 2 + r.y, 1e-12);
        test_close("z", x[2], 3 + r.z, 1e-12);

        double off = sn_distance(sn_load3(v), expected);
        test_close("velocity", off, 0, 1e-12);
        test_close("strain at rest", sn_length(sn_load3(felt.strain)), 0, 1e-12);
        test_close("volume", felt.J, 1, 1e-12);
    }

    destroy(&f);
}

// x = A X on every node gives F = A at every point, and the stress of its material.
static void test_states_of_an_affine_motion(void **state) {
    (void)state;
    fixture f = make(test_context(2), NULL, SINEW_OK);
    sn_frame_model *model = f.body->model;

    // The affine and the quadratic one stretch by 1.1 along x and 1 along the others.
    for (int i = 1; i < 3; i++) {
        const sn_node *node = &model->nodes.items[i];
        f.body->q[node->config] *= 1.1;
        f.body->q[node->config + 3] *= 1.1;
    }

    double rest[6] = {-0.1, 0.02, 0.03, 0.1, 0, 0.06};
    sinew_element_state states[2];
    sn_arena arena = sn_arena_create(f.context);
    sn_frame_points points;

    assert_int_equal(sn_frame_points_create(&arena, f.body, rest, 2, &points), SINEW_OK);
    double positions[6];

    sn_frame_points_compute(&points, f.body, positions, NULL, states);
    const double young[2] = {1e6, 3e6};
    for (int i = 0; i < 2; i++) {
        double exx = 0.5 * (1.1 * 1.1 - 1);
        double nu = 0.3;
        double E = young[i];
        double lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
        double mu = E / (2 * (1 + nu));

        test_close("position", positions[3 * i], 1.1 * rest[3 * i], 1e-12);
        test_close("F11", states[i].F[0], 1.1, 1e-12);
        test_close("strain", states[i].strain[0], exx, 1e-12);
        // F S F' / J.
        test_close("stress", states[i].stress[0], 1.1 * (lambda + 2 * mu) * exx, 1e-8 * E);
        test_close("across", states[i].stress[1], lambda * exx / 1.1, 1e-8 * E);
        test_close("energy density", states[i].energy, 0.5 * (lambda + 2 * mu) * exx * exx,
                   1e-8 * E);
        test_close("J", states[i].J, 1.1, 1e-12);
    }

    sn_arena_destroy(&arena);
    destroy(&f);
}

static void test_a_frame_is_set(void **state) {
    (void)state;
    fixture f = make(test_context(1), throw_it, SINEW_OK);
    const double position[3] = {4, 5, 6};
    const double turn[4] = {0, 1, 0, 1};
    const double nothing[4] = {0};

    for (int32_t node = 0; node < 4; node++) {
        assert_int_equal(sinew_frame_body_set_node(f.body, node, position, turn), SINEW_OK);
        double x[3], r[4];
        assert_int_equal(sinew_frame_body_get_node(f.body, node, x, r), SINEW_OK);
        test_close("x", x[0], 4, 0);
        test_close("y", x[1], 5, 0);
        test_close("z", x[2], 6, 0);

        if (node < 3) {
            test_close("turn", fabs(r[1]), sqrt(0.5), 1e-12);
        }
    }

    sinew_measures measures;
    sinew_body_get_measures(f.body, &measures);
    test_close("kinetic energy", measures.kinetic_energy, 0, 0);

    // Setting one of the two leaves the other unchanged.
    const double elsewhere[3] = {7, 8, 9};
    const double back[4] = {0, 0, 0, 1};

    for (int32_t node = 0; node < 3; node++) {
        double x[3], r[4];
        assert_int_equal(sinew_frame_body_set_node(f.body, node, elsewhere, NULL), SINEW_OK);
        assert_int_equal(sinew_frame_body_get_node(f.body, node, x, r), SINEW_OK);
        test_close("turn stays", fabs(r[1]), sqrt(0.5), 1e-12);
        test_close("z", x[2], 9, 0);
        assert_int_equal(sinew_frame_body_set_node(f.body, node, NULL, back), SINEW_OK);
        assert_int_equal(sinew_frame_body_get_node(f.body, node, x, r), SINEW_OK);
        test_close("turned back", fabs(r[3]), 1, 1e-12);
        test_close("place stays", x[0], 7, 0);
    }

    assert_int_equal(sinew_frame_body_set_node(f.body, 4, position, turn), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_frame_body_set_node(f.body, 0, position, nothing),
                     SINEW_INVALID_ARGUMENT);
    destroy(&f);
}

static void bad_rotation(sinew_frame_body_def *def) {
    memset(def->rotation, 0, sizeof def->rotation);
}

static void bad_velocity(sinew_frame_body_def *def) {
    def->velocity[1] = NAN;
}

static void test_bad_input(void **state) {
    (void)state;
    void (*const changes[])(sinew_frame_body_def *) = {bad_rotation, bad_velocity};
    for (int i = 0; i < 2; i++) {
        fixture f = make(test_context(1), changes[i], SINEW_INVALID_ARGUMENT);
        assert_int_equal(sinew_world_get_body_count(f.world), 0);
        destroy(&f);
    }

    fixture f = make(test_context(1), NULL, SINEW_OK);
    const double nowhere[3] = {0, INFINITY, 0};
    sinew_element_state felt;

    assert_int_equal(test_get_state(f.body, nowhere, NULL, &felt), SINEW_INVALID_ARGUMENT);
    destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_placement_and_velocity),
        cmocka_unit_test(test_states_of_an_affine_motion),
        cmocka_unit_test(test_a_frame_is_set),
        cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
