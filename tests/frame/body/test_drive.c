// Frames driven from outside: held along single axes, hinged, scripted; velocities, forces and
// torques on frames, reactions.
#include "support/test.h"
#include "support/points.h"

#include "sinew/sinew.h"

#include "body/body.h"
#include "frame/body/frame_body.h"

#include <math.h>

typedef struct fixture {
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
} fixture;

static const sinew_node_kind all_kinds[] = {SINEW_NODE_POINT, SINEW_NODE_RIGID, SINEW_NODE_AFFINE,
                                            SINEW_NODE_QUADRATIC};

static fixture make(sinew_node_kind kind, double gravity) {
    fixture f = {.context = test_context(1)};
    sinew_solid_def solid = sinew_default_solid_def();

    solid.solid = SINEW_SOLID_BOX;
    solid.size[0] = 1;
    solid.size[1] = 0.2;
    solid.size[2] = 0.2;

    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.spacing[0] = grid.spacing[1] = grid.spacing[2] = 0.1;
    assert_int_equal(sinew_voxels_create_from_solids(f.context, &solid, 1, &grid, &f.voxels),
                     SINEW_OK);

    sinew_world_def world = sinew_default_world_def();
    world.gravity[2] = -gravity;
    world.solver = SINEW_SOLVER_DENSE;
    world.integrator = SINEW_INTEGRATOR_NEWTON_EULER;
    world.newton_tolerance = 1e-12;
    assert_int_equal(sinew_world_create(f.context, &world, &f.world), SINEW_OK);

    sinew_frame_node nodes[2] = {{kind, {-0.5, 0, 0}}, {kind, {0.5, 0, 0}}};
    sinew_frame_body_def def = sinew_default_frame_body_def();

    def.voxels = f.voxels;
    def.nodes = nodes;
    def.node_count = 2;
    def.weights.kind = SINEW_WEIGHTS_AXIS_LINEAR;
    def.sampling.kind = SINEW_SAMPLING_MIDPOINT;

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

static void step(fixture *f, int count) {
    for (int i = 0; i < count; i++) {
        if (sinew_world_step(f->world, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(f->context));
        }
    }
}

static void test_single_axes(void **state) {
    (void)state;
    for (int kind = 1; kind < 3; kind++) {
        fixture f = make(all_kinds[kind], 9.81);
        assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_X | SINEW_HOLD_Z), SINEW_OK);

        const double push[3] = {30, 20, 0};
        double position[3];

        assert_int_equal(sinew_frame_body_add_node_force(f.body, 0, push, NULL), SINEW_OK);
        step(&f, 20);
        assert_int_equal(sinew_frame_body_get_node(f.body, 0, position, NULL), SINEW_OK);
        test_close("x is held", position[0], -0.5, 1e-12);
        test_close("z is held", position[2], 0, 1e-12);
        assert_true(position[1] > 1e-3);
        destroy(&f);
    }
}

// A frame whose position and rotation about two axes are held rotates about the third axis only,
// however far.
static void test_hinge(void **state) {
    (void)state;
    fixture f = make(SINEW_NODE_RIGID, 9.81);
    int32_t hold = SINEW_HOLD_TRANSLATION | SINEW_HOLD_TURN_X | SINEW_HOLD_TURN_Z;

    assert_int_equal(sinew_frame_body_hold(f.body, 0, hold), SINEW_OK);
    const double aside[3] = {0.5, 0.1, 0};
    const double push[3] = {0, 40, 0}; // also out of the plane
    double position[3], rotation[4], largest = 0;

    for (int i = 0; i < 60; i++) {
        sinew_frame_body_clear_forces(f.body);
        assert_int_equal(test_add_force(f.body, aside, push), SINEW_OK);
        step(&f, 1);
        assert_int_equal(sinew_frame_body_get_node(f.body, 0, position, rotation), SINEW_OK);
        largest = fmax(largest, fabs(rotation[1]));
        assert_true(fabs(rotation[0]) < 1e-9 && fabs(rotation[2]) < 1e-9);
        test_close("place", sn_distance(sn_load3(position), sn_v3(-0.5, 0, 0)), 0, 1e-12);
    }

    assert_true(largest > 0.5); // more than 60 degrees
    destroy(&f);
}

static void test_script(void **state) {
    (void)state;
    for (int kind = 1; kind < 4; kind++) {
        fixture f = make(all_kinds[kind], 0);
        assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
        for (int i = 1; i <= 10; i++) {
            sn_quat q = sn_quat_exp(sn_v3(0, 0.05 * i, 0.02 * i));
            const double target[3] = {-0.5 + 0.01 * i, 0.02 * i, 0};
            const double turn[4] = {q.x, q.y, q.z, q.w};
            double position[3], rotation[4];

            // Both at once, or one after the other.
            assert_int_equal(sinew_frame_body_move(f.body, 0, target, i % 2 ? turn : NULL),
                             SINEW_OK);
            if (i % 2 == 0) {
                assert_int_equal(sinew_frame_body_move(f.body, 0, NULL, turn), SINEW_OK);
            }

            step(&f, 1);
            assert_int_equal(sinew_frame_body_get_node(f.body, 0, position, rotation), SINEW_OK);
            assert_true(sn_distance(sn_load3(position), sn_load3(target)) < 1e-12);

            for (int k = 0; k < 4; k++) {
                test_close("turn", rotation[k], turn[k], 1e-10);
            }
        }

        double velocity[3];
        assert_int_equal(sinew_frame_body_get_velocity(f.body, 0, velocity, NULL), SINEW_OK);
        test_close("velocity of the script", velocity[1], 2, 1e-9);
        destroy(&f);
    }
}

static void test_velocities(void **state) {
    (void)state;
    const double v[3] = {0.3, -1, 2};
    const double w[3] = {2, 1, -3};

    for (int kind = 0; kind < 4; kind++) {
        fixture f = make(all_kinds[kind], 0);
        double velocity[3], spin[3];

        assert_int_equal(sinew_frame_body_set_velocity(f.body, 1, v, w), SINEW_OK);
        assert_int_equal(sinew_frame_body_get_velocity(f.body, 1, velocity, spin), SINEW_OK);

        for (int k = 0; k < 3; k++) {
            test_close("velocity", velocity[k], v[k], 1e-14);
            test_close("spin", spin[k], kind ? w[k] : 0, 1e-12);
        }

        destroy(&f);
    }
}

// The motion that a force and a torque on a frame give a free body in one step.
static void test_node_forces(void **state) {
    (void)state;
    const double force[3] = {3, -2, 1};
    const double torque[3] = {0.2, -0.4, 0.3};

    for (int kind = 1; kind < 4; kind++) {
        fixture f = make(all_kinds[kind], 0);
        assert_int_equal(sinew_frame_body_add_node_force(f.body, 1, force, torque), SINEW_OK);
        step(&f, 1);

        sinew_measures m;
        sinew_body_get_measures(f.body, &m);

        sn_vec3 L = sn_add(sn_load3(torque), sn_cross(sn_v3(0.5, 0, 0), sn_load3(force)));

        // Computed with the frames after the step, which have rotated and moved by about 1e-4.
        for (int k = 0; k < 3; k++) {
            test_close("momentum", m.momentum[k], 0.01 * force[k], 1e-5);
        }

        assert_true(sn_distance(sn_load3(m.angular_momentum), sn_scale(0.01, L)) < 1e-5);
        destroy(&f);
    }
}

// A support carries the weight and its moment.
static void test_reactions(void **state) {
    (void)state;
    for (int kind = 1; kind < 4; kind++) {
        fixture f = make(all_kinds[kind], 0.1);
        assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);

        sinew_static_def statics = sinew_default_static_def();
        statics.newton_tolerance = 1e-10;
        assert_int_equal(sinew_world_solve_static(f.world, &statics, NULL), SINEW_OK);

        double force[3], torque[3];
        assert_int_equal(sinew_frame_body_get_reaction(f.body, 0, force, torque), SINEW_OK);
        test_close("weight", force[2], 40 * 0.1, 1e-6);
        test_close("lever", torque[1], -0.5 * 40 * 0.1, 1e-3); // it hardly bends
        assert_int_equal(sinew_frame_body_get_reaction(f.body, 1, force, torque), SINEW_OK);

        for (int k = 0; k < 3; k++) {
            assert_true(force[k] == 0 && torque[k] == 0);
        }

        destroy(&f);
    }
}

static void test_bad_input(void **state) {
    (void)state;
    fixture f = make(SINEW_NODE_AFFINE, 0);
    const double zero[3] = {0};
    const double bad[3] = {0, NAN, 0};
    const double turn[3] = {0, 1, 0};
    double out[3];

    assert_int_equal(sinew_frame_body_hold(f.body, 0, 256), SINEW_INVALID_ARGUMENT);
    // The frame is not rigid.
    assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_TURN_X), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_frame_body_hold(f.body, 2, SINEW_HOLD_ALL), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_frame_body_set_velocity(f.body, 0, bad, zero), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_frame_body_add_node_force(f.body, 0, bad, NULL), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_frame_body_add_node_force(f.body, -1, zero, NULL),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_frame_body_get_velocity(f.body, 5, out, NULL), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_frame_body_get_reaction(f.body, 5, out, NULL), SINEW_INVALID_ARGUMENT);
    destroy(&f);
    f = make(SINEW_NODE_POINT, 0);
    assert_int_equal(sinew_frame_body_add_node_force(f.body, 0, NULL, turn),
                     SINEW_INVALID_ARGUMENT);
    destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_axes), cmocka_unit_test(test_hinge),
        cmocka_unit_test(test_script),      cmocka_unit_test(test_velocities),
        cmocka_unit_test(test_node_forces), cmocka_unit_test(test_reactions),
        cmocka_unit_test(test_bad_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
