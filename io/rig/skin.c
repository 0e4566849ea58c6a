// The surface of a rig with frames as joints and shape functions as weights, at rest.
#include "io/rig/rig.h"

#include "sinew/io/animation_file.h"
#include "sinew/surface.h"

enum { JOINTS_PER_POINT = 8 };

static sinew_status fill_joints(const sinew_body *body, int32_t count, double *rest,
                                sinew_joint_pose *poses) {
    for (int32_t i = 0; i < count; i++) {
        poses[i] = (sinew_joint_pose){.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
        SN_TRY(sinew_frame_body_get_rest(body, i, rest + 3 * (size_t)i));
        SN_TRY(sinew_frame_body_get_node(body, i, poses[i].translation, NULL));
    }
    return SINEW_OK;
}

static sinew_status write(sinew_context *context, const sinew_rig_file_def *def, sn_arena *arena,
                          sinew_bytes *out, double *largest_loss) {
    int32_t joints = sinew_frame_body_get_node_count(def->body);
    double *rest = SN_PUSH(arena, double, 3 * (size_t)joints);
    sinew_joint_pose *poses = SN_PUSH(arena, sinew_joint_pose, joints);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(fill_joints(def->body, joints, rest, poses));

    // An animation of a single image: the rest pose.
    const double time = 0;
    sinew_skin_file_def skin = sinew_default_skin_file_def();
    skin.name = def->name;
    skin.surface = sinew_body_get_surface(def->body);
    SN_TRY(
        sinew_frame_body_get_surface_weights(def->body, &skin.starts, &skin.joints, &skin.weights));
    skin.joint_count = joints;
    skin.joint_rest = rest;
    skin.joints_per_point = JOINTS_PER_POINT;
    skin.image_count = 1;
    skin.times = &time;
    skin.poses = poses;
    skin.color[0] = 0.8;
    skin.color[1] = 0.75;
    skin.color[2] = 0.7;

    return sinew_skin_file_write(context, &skin, out, largest_loss);
}

sinew_status sinew_rig_write_skin(sinew_context *context, const sinew_rig_file_def *def,
                                  sinew_bytes *out, double *largest_loss) {
    SN_NEED(NULL, context);
    SN_TRY(sn_rig_check(context, def));
    sn_arena arena = sn_arena_create(context);
    sinew_status status = write(context, def, &arena, out, largest_loss);
    sn_arena_destroy(&arena);
    return status;
}
