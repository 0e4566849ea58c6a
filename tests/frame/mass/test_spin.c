// Frame bodies that spin fast keep their momentum; a free frame follows Euler's equations.
#include "support/test.h"

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

typedef struct spin_def {
    int32_t nodes;
    sinew_blend blend;
    sinew_integrator integrator;
    double step, spin[3];
} spin_def;

// A box whose frames lie off its axis, so that their centres of mass are not at the frames.
static fixture make(const spin_def *spin) {
    fixture f = {.context = test_context(1)};
    sinew_solid_def solid = sinew_default_solid_def();

    solid.size[0] = 1;
    solid.size[1] = 0.3;
    solid.size[2] = 0.2;

    sinew_voxel_def voxel_def = sinew_default_voxel_def();
    voxel_def.spacing[0] = voxel_def.spacing[1] = voxel_def.spacing[2] = 0.1;
    assert_int_equal(sinew_voxels_create_from_solids(f.context, &solid, 1, &voxel_def, &f.voxels),
                     SINEW_OK);

    sinew_world_def world = sinew_default_world_def();
    world.integrator = spin->integrator;
    world.step = spin->step;
    world.gravity[2] = 0;
    world.newton_tolerance = 1e-12;
    world.solver = SINEW_SOLVER_DENSE;
    assert_int_equal(sinew_world_create(f.context, &world, &f.world), SINEW_OK);

    sinew_frame_node nodes[3];
    for (int32_t i = 0; i < spin->nodes; i++) {
        double x = spin->nodes > 1 ? 0.8 * ((double)i / (spin->nodes - 1) - 0.5) : 0.2;
        nodes[i] = (sinew_frame_node){SINEW_NODE_RIGID, {x, 0.05, -0.05}};
    }

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = f.voxels;
    def.nodes = nodes;
    def.node_count = spin->nodes;
    def.blend = spin->blend;
    def.weights.kind = spin->nodes > 1 ? SINEW_WEIGHTS_AXIS_LINEAR : SINEW_WEIGHTS_RADIAL;
    def.sampling.kind = SINEW_SAMPLING_MIDPOINT;
    def.geometric_stiffness = true;

    for (int k = 0; k < 3; k++) {
        def.angular_velocity[k] = spin->spin[k];
    }

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

// Relative change of the angular momentum, and of the energy, in `steps` steps.
static double drift(fixture *f, int steps, double *energy) {
    sinew_measures before, after;
    sinew_body_get_measures(f->body, &before);
    for (int i = 0; i < steps; i++) {
        if (sinew_world_step(f->world, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(f->context));
        }
    }

    sinew_body_get_measures(f->body, &after);
    sn_vec3 L = sn_load3(before.angular_momentum);

    assert_true(sn_length(L) > 1);
    assert_true(sn_length(sn_sub(sn_load3(after.momentum), sn_load3(before.momentum))) < 1e-9);
    *energy = (after.kinetic_energy + after.elastic_energy) /
                  (before.kinetic_energy + before.elastic_energy) -
              1;

    return sn_length(sn_sub(sn_load3(after.angular_momentum), L)) / sn_length(L);
}

// 50 rad/s about an axis that is not a principal one: the body tumbles, and every integrator keeps
// its angular momentum.
static void test_spinning_keeps_momentum(void **state) {
    (void)state;
    static const struct {
        sinew_integrator integrator;
        double step, limit;
    } rows[] = {{SINEW_INTEGRATOR_NEWTON_EULER, 0.002, 1e-9},
                {SINEW_INTEGRATOR_NEWMARK, 0.002, 1e-9},
                {SINEW_INTEGRATOR_MIDPOINT, 0.002, 1e-9},
                {SINEW_INTEGRATOR_BDF2, 0.002, 1e-9},
                {SINEW_INTEGRATOR_SYMPLECTIC_EULER, 1e-4, 1e-9},
                {SINEW_INTEGRATOR_IMPLICIT_EULER, 0.002, 1e-9}};

    for (int i = 0; i < 6; i++) {
        for (int blend = 0; blend < 2; blend++) {
            spin_def spin = {3,
                             blend ? SINEW_BLEND_DUAL_QUATERNION : SINEW_BLEND_LINEAR,
                             rows[i].integrator,
                             rows[i].step,
                             {30, 40, 5}};
            fixture f = make(&spin);
            double energy;
            double moved = drift(&f, 25, &energy);

            assert_true(fabs(energy) < 0.05);

            // The residual of each step is below 1e-12 of the forces.
            if (moved > rows[i].limit) {
                fail_msg("integrator %d, blend %d: angular momentum off by %g", i, blend, moved);
            }

            destroy(&f);
        }
    }
}

// One frame carries the whole box: a rigid body, by every integrator.
static void test_single_frame_tumbles(void **state) {
    (void)state;
    static const sinew_integrator integrators[] = {
        SINEW_INTEGRATOR_IMPLICIT_EULER, SINEW_INTEGRATOR_NEWTON_EULER,
        SINEW_INTEGRATOR_MIDPOINT,       SINEW_INTEGRATOR_NEWMARK,
        SINEW_INTEGRATOR_BDF2,           SINEW_INTEGRATOR_SYMPLECTIC_EULER};

    for (int i = 0; i < 6; i++) {
        spin_def spin = {1, SINEW_BLEND_LINEAR, integrators[i], 0.002, {30, 40, 5}};
        fixture f = make(&spin);
        double energy;
        double moved = drift(&f, 50, &energy);
        assert_true(moved < 1e-11);
        assert_true(fabs(energy) < 1e-3);
        destroy(&f);
    }
}

// A frame that is held in position and rotates about it is not in free motion; its gyroscopic
// torque is a force like any other. Without it the angular momentum would rotate with the body, by
// more than a radian.
static void test_top_keeps_its_axis(void **state) {
    (void)state;
    spin_def spin = {1, SINEW_BLEND_LINEAR, SINEW_INTEGRATOR_IMPLICIT_EULER, 2e-4, {6, 8, 1}};
    fixture f = make(&spin);

    assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_TRANSLATION), SINEW_OK);
    sinew_measures before, after;
    const sn_frame_model *model = f.body->model;
    sn_vec3 pivot = sn_load3(sn_node_translation(&model->nodes.items[0], f.body->q));

    for (int k = 0; k < 3; k++) {
        f.body->v[3 + k] = 0;
    }

    sinew_body_get_measures(f.body, &before);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
    }

    sinew_body_get_measures(f.body, &after);
    sn_vec3 L =
        sn_sub(sn_load3(before.angular_momentum), sn_cross(pivot, sn_load3(before.momentum)));
    sn_vec3 end =
        sn_sub(sn_load3(after.angular_momentum), sn_cross(pivot, sn_load3(after.momentum)));

    assert_true(sn_length(sn_sub(end, L)) < 0.005 * sn_length(L)); // of first order in the step
    destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spinning_keeps_momentum),
        cmocka_unit_test(test_single_frame_tumbles),
        cmocka_unit_test(test_top_keeps_its_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
