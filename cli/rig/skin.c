// skin.glb: the surface with frames as joints and shape functions as weights, at rest, for
// animators who do not simulate.
#include "rig/rig.h"

#include "frame/body/frame_body.h"
#include "io/gltf/skin.h"

enum { SETS = 2 }; // eight joints at a point

static void fill_joints(const rig_run *rig, int32_t count, double *rest, sn_joint_pose *poses) {
    for (int32_t i = 0; i < count; i++) {
        poses[i] = (sn_joint_pose){.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
        sinew_frame_body_get_node(rig->body, i, poses[i].translation, NULL);
        for (size_t k = 0; k < 3; k++) {
            rest[3 * (size_t)i + k] = poses[i].translation[k];
        }
    }
}

sinew_status rig_write_skin(rig_run *rig) {
    const sn_frame_model *model = sn_frame_model_of(rig->body);
    int32_t joints = model->nodes.count;
    sn_arena arena = sn_arena_create(rig->context);
    sn_buffer out = sn_buffer_create(rig->context);
    double *rest = SN_PUSH(&arena, double, 3 * (size_t)joints);
    double time = 0;
    sn_joint_pose *poses = SN_PUSH(&arena, sn_joint_pose, joints);
    sinew_status status = sn_arena_status(&arena);

    if (status == SINEW_OK) {
        fill_joints(rig, joints, rest, poses);
        sn_skin_def def = {
            .name = rig->name,
            .point_count = model->surface->point_count,
            .index_count = 3 * model->surface->element_count,
            .points = model->surface->points,
            .indices = model->surface->indices,
            .start = model->base_vertices.start,
            .joint = model->base_vertices.node,
            .weight = model->base_vertices.weight,
            .joint_count = joints,
            .joint_rest = rest,
            .sets = SETS,
            .frame_count = 1,
            .times = &time,
            .poses = poses,
            .z_up = true,
            .material = {.name = rig->name, .color = {0.8, 0.75, 0.7, 1}, .roughness = 0.6}};

        status = sn_write_glb_skin(&def, &out, &rig->skin_loss);
    }

    if (status == SINEW_OK) {
        status = rig_write_file(rig, "skin.glb", &out);
    }

    sn_buffer_destroy(&out);
    sn_arena_destroy(&arena);

    return status;
}
