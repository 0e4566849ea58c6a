// Frames of a body that follow a skeleton: those on the bones of one joint move and rotate with it.
// Frames where bones of several joints meet, and all others, are free.
#include "skeleton/binding.h"

#include "frame/body/frame_body.h"

#include <math.h>

static double distance_from_bone(const sinew_bone *bone, sn_vec3 p) {
    sn_vec3 from = sn_load3(bone->from);
    sn_vec3 along = sn_sub(sn_load3(bone->to), from);
    sn_vec3 d = sn_sub(p, from);
    double s = fmin(fmax(sn_dot(d, along) / sn_dot(along, along), 0), 1);
    return sn_length(sn_madd(d, -s, along));
}

// The joint whose bone a frame lies on, within `reach`; -1 if there is none, or several.
static int32_t joint_at(const sinew_skeleton *skeleton, sn_vec3 p, double reach) {
    int32_t joint = -1;
    for (int32_t i = 0; i < skeleton->bone_count; i++) {
        const sinew_bone *bone = &skeleton->bones[i];
        if (distance_from_bone(bone, p) > reach || bone->joint == joint) {
            continue;
        }
        if (joint >= 0) {
            return -1;
        }

        joint = bone->joint;
    }

    return joint;
}

// Reports by how much the frames miss the bones.
static sinew_status refuse(const sinew_binding *binding, double reach) {
    const sinew_skeleton *skeleton = binding->skeleton;
    const sinew_body *body = binding->body;
    int32_t joint = -1;
    double least = INFINITY, at[3] = {0, 0, 0};

    // The smallest distance between a frame and a bone.
    for (int32_t i = 0; i < sinew_frame_body_get_node_count(body); i++) {
        double rest[3];
        SN_TRY(sinew_frame_body_get_rest(body, i, rest));
        for (int32_t k = 0; k < skeleton->bone_count; k++) {
            double distance = distance_from_bone(&skeleton->bones[k], sn_load3(rest));
            if (distance < least) {
                least = distance;
                joint = skeleton->bones[k].joint;
                sn_store3(at, sn_load3(rest));
            }
        }
    }

    if (joint < 0) {
        return sn_fail(body->context, SINEW_INVALID_DATA, "the skeleton has no bones to follow");
    }
    return sn_fail(body->context, SINEW_INVALID_DATA,
                   "no frame of body \"%s\" lies within %.3g m of a bone of one joint: the "
                   "nearest, at (%.3g, %.3g, %.3g) m, is %.3g m from that of \"%s\"%s",
                   body->name, reach, at[0], at[1], at[2], least, skeleton->names[joint],
                   least <= reach ? ", but where bones meet a frame is free" : "");
}

static double default_reach(const sinew_body *body) {
    const double *spacing = sn_frame_model_of(body)->shape->voxels->spacing;
    return fmax(spacing[0], fmax(spacing[1], spacing[2]));
}

static sinew_status find(sinew_binding *binding, const sinew_binding_def *def) {
    sinew_body *body = binding->body;
    int32_t count = sinew_frame_body_get_node_count(body);
    double reach = def->reach > 0 ? def->reach : default_reach(body);
    SN_TRY(sn_binding_allocate(binding, count));

    for (int32_t i = 0; i < count; i++) {
        double rest[3];
        SN_TRY(sinew_frame_body_get_rest(body, i, rest));
        int32_t joint =
            def->joints ? def->joints[i] : joint_at(binding->skeleton, sn_load3(rest), reach);
        SN_TRY(sn_binding_add(binding, i, joint, rest));
    }

    return binding->count > 0 || def->joints ? SINEW_OK : refuse(binding, reach);
}

static sinew_status hold(sinew_binding *binding, bool held) {
    for (int32_t i = 0; i < binding->count; i++) {
        SN_TRY(sinew_frame_body_hold(binding->body, binding->bound[i],
                                     held ? SINEW_HOLD_ALL : SINEW_HOLD_NOTHING));
    }
    return SINEW_OK;
}

static sinew_status follow(sinew_binding *binding, const sinew_transform *pose, bool at_once) {
    sinew_skeleton_compute_offsets(binding->skeleton, pose, binding->offsets);
    for (int32_t i = 0; i < binding->count; i++) {
        const sinew_transform *offset = &binding->offsets[binding->joints[i]];
        sn_rigid motion = sn_rigid_mul(binding->placement, sn_rigid_load_unit(offset));
        const double rotation[4] = {motion.q.x, motion.q.y, motion.q.z, motion.q.w};
        double *target = binding->targets + 3 * (size_t)i;
        sn_store3(target, sn_rigid_apply(motion, sn_load3(binding->rest + 3 * (size_t)i)));

        if (at_once) {
            SN_TRY(sinew_frame_body_set_node(binding->body, binding->bound[i], target, rotation));
        }
        SN_TRY(sinew_frame_body_move(binding->body, binding->bound[i], target, rotation));
    }

    return SINEW_OK;
}

static sinew_status drive(sinew_binding *binding, const sinew_transform *pose) {
    return follow(binding, pose, false);
}

static sinew_status set_pose(sinew_binding *binding, const sinew_transform *pose) {
    return follow(binding, pose, true);
}

const sn_binding_ops sn_frame_binding = {
    .find = find, .hold = hold, .drive = drive, .set_pose = set_pose};
