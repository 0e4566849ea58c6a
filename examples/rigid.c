// Rigid bodies: a ball rolls down a slope and pushes a door open that turns on a hinge.
#include <sinew/sinew.h>

#include <math.h>
#include <stdio.h>

static int fail(sinew_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_context_message(context));
    return 1;
}

// A rigid body of a generated shape.
static sinew_status make_body(sinew_world *world, sinew_context *context, sinew_shape kind,
                              const double size[3], const double position[3], sinew_body **body) {
    // The shape, as a surface.
    sinew_shape_def shape = sinew_default_shape_def();
    shape.shape = kind;
    shape.element = SINEW_ELEMENT_TRIANGLE; // the closed surface
    shape.cell_size = kind == SINEW_SHAPE_SPHERE ? size[0] / 16 : size[2];
    for (int k = 0; k < 3; k++) {
        shape.size[k] = size[k];
    }

    sinew_mesh *surface = NULL;
    sinew_status status = sinew_mesh_create_shape(context, &shape, &surface);
    if (status) {
        return status;
    }

    // The body; mass and inertia follow from surface and density.
    sinew_rigid_body_def def = sinew_default_rigid_body_def();
    def.surface = surface;
    def.density = 700; // kg/m^3
    for (int k = 0; k < 3; k++) {
        def.position[k] = position[k];
    }
    status = sinew_rigid_body_create(world, &def, body);
    sinew_mesh_destroy(surface); // the body keeps its own
    return status;
}

static int run(sinew_context *context, sinew_world *world) {
    // The slope, across x.
    sinew_obstacle_def slope = sinew_default_obstacle_def();
    double angle = 0.15;
    slope.rotation[1] = sin(angle / 2);
    slope.rotation[3] = cos(angle / 2);
    if (sinew_obstacle_create(world, &slope, NULL)) {
        return fail(context, "slope");
    }

    // A ball of 0.2 m, and a door 0.6 m further down.
    sinew_body *ball, *door;
    if (make_body(world, context, SINEW_SHAPE_SPHERE, (double[]){0.2, 0.2, 0.2},
                  (double[]){0, 0.1, 0.1013}, &ball) ||
        make_body(world, context, SINEW_SHAPE_BOX, (double[]){0.03, 0.4, 0.4},
                  (double[]){0.6, 0, 0.13}, &door)) {
        return fail(context, "bodies");
    }

    // The door hangs on a hinge along z, at its edge.
    sinew_rigid_joint_def hinge = sinew_default_rigid_joint_def();
    hinge.kind = SINEW_RIGID_JOINT_HINGE;
    hinge.body = door;
    hinge.position[0] = 0.6;
    hinge.position[1] = -0.2;
    hinge.position[2] = 0.13;
    sinew_rigid_joint *joint;
    if (sinew_rigid_joint_create(world, &hinge, &joint)) {
        return fail(context, "hinge");
    }

    double largest = 0;
    for (int step = 1; step <= 200; step++) {
        if (sinew_world_step(world, NULL)) {
            return fail(context, "step");
        }
        double force[3], x[3];
        sinew_rigid_joint_get_force(joint, force, NULL);
        sinew_frame_body_get_node(ball, 0, x, NULL);
        largest = fmax(largest, fabs(force[0]));
        if (step % 25 == 0) {
            printf("%4.2f s: ball at x = %5.2f m, door at %5.1f degrees, %6.1f N along x\n",
                   0.01 * step, x[0], sinew_rigid_joint_get_angle(joint) * 57.29578, force[0]);
        }
    }

    double gap, x[3];
    sinew_rigid_joint_get_position(joint, NULL, &gap);
    sinew_frame_body_get_node(ball, 0, x, NULL);
    printf("the hinge is open by %.1e m; its largest force was %.0f N\n", gap, largest);
    bool opened = fabs(sinew_rigid_joint_get_angle(joint)) > 0.5 && x[0] > 0.8;
    return opened && gap < 1e-4 ? 0 : 1;
}

int main(void) {
    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = NULL;
    int result = sinew_world_create(context, &world_def, &world) ? fail(context, "world")
                                                                 : run(context, world);
    sinew_world_destroy(world);
    sinew_context_destroy(context);
    return result;
}
