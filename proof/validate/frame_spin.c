// Tumbling frames: drift of angular momentum and energy with each integrator.
#include "validate/validate.h"

#include "sinew/sinew.h"

#include "base/context.h"
#include "math/vec.h"

#include <math.h>

typedef struct tumbler {
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
} tumbler;

typedef struct spin_row {
    const char *name;
    sinew_integrator integrator;
    double step; // [s]
} spin_row;

// A free bar of three dual quaternion frames, spinning at 50 rad/s about an axis that is not a
// principal one: a tenth of a radian per step.
static sinew_status tumbler_fill(sinew_context *context, const spin_row *row, tumbler *b) {
    // A bar of few voxels.
    sinew_solid_def solid = sinew_default_solid_def();
    solid.size[0] = 1;
    solid.size[1] = solid.size[2] = 0.25;

    sinew_voxel_def grid = sinew_default_voxel_def();
    for (int k = 0; k < 3; k++) {
        grid.spacing[k] = 0.125;
    }

    SN_TRY(sinew_voxels_create_from_solids(context, &solid, 1, &grid, &b->voxels));

    // Solved exactly, so that only the integrator drifts.
    sinew_world_def world = sinew_default_world_def();

    world.gravity[2] = 0;
    world.solver = SINEW_SOLVER_DENSE;
    world.integrator = row->integrator;
    world.newton_tolerance = 1e-12;
    world.step = row->step;
    SN_TRY(sinew_world_create(context, &world, &b->world));

    // Its frames and its spin.
    sinew_frame_node nodes[3];
    for (int32_t i = 0; i < 3; i++) {
        nodes[i] = (sinew_frame_node){SINEW_NODE_RIGID, {0.5 * (i - 1), 0, 0}};
    }

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = b->voxels;
    def.nodes = nodes;
    def.node_count = 3;
    def.blend = SINEW_BLEND_DUAL_QUATERNION;
    def.weights.kind = SINEW_WEIGHTS_AXIS_LINEAR;
    def.weights.adopt_outside = true;
    def.sampling.kind = SINEW_SAMPLING_MIDPOINT;
    def.geometric_stiffness = true;
    def.angular_velocity[0] = 30;
    def.angular_velocity[1] = 40;
    def.angular_velocity[2] = 5;

    return sinew_frame_body_create(b->world, &def, &b->body);
}

// Simulates one second, or a fifth of it in the quick form.
static sinew_status run_row(validate_run *v, const spin_row *row) {
    // Before, and after.
    tumbler b = {0};
    sinew_measures before = {0}, after = {0};
    sinew_status status = tumbler_fill(v->context, row, &b);
    if (status == SINEW_OK) {
        sinew_body_get_measures(b.body, &before);
    }

    int steps = (int)lround((v->quick ? 0.2 : 1) / row->step);
    for (int i = 0; i < steps && status == SINEW_OK; i++) {
        status = sinew_world_step(b.world, NULL);
    }

    if (status == SINEW_OK) {
        sinew_body_get_measures(b.body, &after);
    }

    sinew_world_destroy(b.world);
    sinew_voxels_destroy(b.voxels);
    SN_TRY(status);

    // Angular momentum is conserved; energy need not be.
    sn_vec3 L = sn_load3(before.angular_momentum);
    validate_at_most(v, row->name, 1e-9,
                     sn_distance(sn_load3(after.angular_momentum), L) / sn_length(L), "-");

    double energy = before.kinetic_energy + before.elastic_energy;
    validate_note(v, "energy changes by %.1e of itself in %g s",
                  (after.kinetic_energy + after.elastic_energy) / energy - 1, steps * row->step);

    return SINEW_OK;
}

sinew_status validate_spin(validate_run *v) {
    static const spin_row rows[] = {
        {"3 dual quaternion frames at 50 rad/s, midpoint rule: relative drift of the angular "
         "momentum",
         SINEW_INTEGRATOR_MIDPOINT, 0.002},
        {"the same, implicit Euler as it is by default", SINEW_INTEGRATOR_IMPLICIT_EULER, 0.002},
        {"the same, implicit Euler by Newton's method", SINEW_INTEGRATOR_NEWTON_EULER, 0.002},
        {"the same, Newmark", SINEW_INTEGRATOR_NEWMARK, 0.002},
        {"the same, BDF2", SINEW_INTEGRATOR_BDF2, 0.002},
        {"the same, symplectic Euler, a tenth of the step", SINEW_INTEGRATOR_SYMPLECTIC_EULER,
         0.0002},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SN_TRY(run_row(v, &rows[i]));
    }

    return SINEW_OK;
}
