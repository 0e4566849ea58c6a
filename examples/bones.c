// Soft flesh on a skeleton, without a scene file: an upper arm and a forearm of bone, a bar of
// tetrahedra around them, and an elbow that bends by 90 degrees in half a second. Nodes of elements
// that one bone cuts follow it; the flesh between is simulated and keeps its volume. Usage: bones
// [arm.png], for a picture of the world at the end.
#include <sinew/io.h>
#include <sinew/sinew.h>

#include <math.h>
#include <stdio.h>

static int fail(sinew_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_context_message(context));
    return 1;
}

enum { SHOULDER, ELBOW, JOINTS };

// Two bones of 30 cm along x, the elbow at the origin.
static sinew_status make_skeleton(sinew_context *context, sinew_skeleton **skeleton) {
    sinew_joint_def joints[JOINTS];
    joints[SHOULDER] = joints[ELBOW] = sinew_default_joint_def();

    joints[SHOULDER].name = "shoulder";
    joints[SHOULDER].rest.translation[0] = -0.3;

    joints[ELBOW].name = "elbow";
    joints[ELBOW].parent = SHOULDER;
    joints[ELBOW].rest.translation[0] = 0.3;
    joints[ELBOW].has_tip = true;
    joints[ELBOW].tip[0] = 0.3;

    return sinew_skeleton_create(context, joints, JOINTS, skeleton);
}

static sinew_status make_flesh(sinew_context *context, sinew_world *world, sinew_body **flesh) {
    // The mesh of the arm.
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = 0.6;
    shape.size[1] = shape.size[2] = 0.12;
    shape.cell_size = 0.03;

    sinew_mesh *mesh = NULL;
    sinew_status status = sinew_mesh_create_shape(context, &shape, &mesh);
    if (status) {
        return status;
    }

    // Its material.
    sinew_material_def muscle = sinew_default_material_def();
    muscle.law = SINEW_MATERIAL_STABLE_NEO_HOOKEAN;
    muscle.young = 3e4; // Pa
    muscle.poisson = 0.45;

    // The body, which copies the mesh.
    sinew_body_def def = sinew_default_body_def();
    def.name = "arm";
    def.mesh = mesh;
    def.materials = &muscle;
    def.material_count = 1;
    def.stiffness_damping = 0.01; // s
    status = sinew_body_create(world, &def, flesh);
    sinew_mesh_destroy(mesh);

    return status;
}

// The pose at a time: the elbow has bent by up to 90 degrees about y, forearm upwards.
static sinew_status pose_at(const sinew_skeleton *skeleton, double time, sinew_transform *pose) {
    double angle = -0.5 * 3.14159265358979 * fmin(time / 0.5, 1);
    for (int joint = 0; joint < JOINTS; joint++) {
        pose[joint] = sinew_skeleton_rest_local(skeleton)[joint];
    }
    pose[ELBOW].rotation[1] = sin(0.5 * angle);
    pose[ELBOW].rotation[3] = cos(0.5 * angle);

    return sinew_skeleton_compute_world(skeleton, pose, pose);
}

// A picture of all bodies of a world, coloured by their strain.
static sinew_status draw(sinew_context *context, sinew_world *world, const char *path) {
    sinew_picture *picture = NULL;
    sinew_status status =
        sinew_picture_render_world(context, world, SINEW_SCENE_COLOR_STRAIN, 0, NULL, &picture);
    if (status == SINEW_OK && path) {
        status = sinew_picture_save(picture, path);
    }
    sinew_picture_destroy(picture);
    return status;
}

int main(int argc, char **argv) {
    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = NULL;
    sinew_skeleton *skeleton = NULL;
    sinew_body *flesh = NULL;
    if (sinew_world_create(context, &world_def, &world)) {
        return fail(context, "world");
    }
    if (make_skeleton(context, &skeleton) || make_flesh(context, world, &flesh)) {
        return fail(context, "arm");
    }

    // Any kind of body is bound by the same call.
    sinew_binding_def binding_def = sinew_default_binding_def();
    sinew_binding_report report;
    sinew_binding *binding = NULL;
    if (sinew_binding_create(flesh, skeleton, &binding_def, &report, &binding)) {
        return fail(context, "binding");
    }
    printf("%d of %d nodes follow a bone\n", report.bound_count, sinew_body_get_node_count(flesh));

    // Before each step the skeleton takes the pose in which the step is to end.
    sinew_transform pose[JOINTS];
    for (int step = 0; step < 100; step++) {
        double time = sinew_world_get_time_after(world, 1);
        if (pose_at(skeleton, time, pose) || sinew_binding_drive(binding, pose) ||
            sinew_world_step(world, NULL)) {
            return fail(context, "step");
        }
    }

    // The hand, at rest 30 cm from the elbow along x, is now above it.
    const double rest[3] = {0.3, 0, 0};
    double hand[3];
    sinew_point *point = NULL;
    if (sinew_point_create(flesh, rest, &point) || sinew_point_get_position(point, hand)) {
        return fail(context, "hand");
    }

    sinew_measures measures;
    sinew_body_get_measures(flesh, &measures);
    double volume = measures.volume / measures.rest_volume;
    printf("the hand is at (%.3f, %.3f, %.3f) m; the flesh has %.1f %% of its volume\n", hand[0],
           hand[1], hand[2], 100 * volume);
    if (draw(context, world, argc > 1 ? argv[1] : NULL)) {
        return fail(context, "picture");
    }
    bool good = fabs(hand[0]) < 0.02 && fabs(hand[2] - 0.3) < 0.02 && fabs(volume - 1) < 0.05;

    sinew_binding_destroy(binding); // before its body and its skeleton
    sinew_world_destroy(world);
    sinew_skeleton_destroy(skeleton);
    sinew_context_destroy(context);

    return good ? 0 : 1;
}
