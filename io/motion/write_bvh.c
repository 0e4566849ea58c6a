#include "io/motion/read_bvh.h"

#include "math/quat.h"
#include "skeleton/skeleton.h"

static const double RADIAN = 180 / 3.14159265358979323846;

static void indent(sn_buffer *out, int32_t depth) {
    for (int32_t i = 0; i < depth; i++) {
        sn_buffer_add_text(out, "  ");
    }
}

static void add_numbers(sn_buffer *out, sn_vec3 v) {
    double values[3] = {v.x, v.y, v.z};
    for (int k = 0; k < 3; k++) {
        sn_buffer_add_text(out, " ");
        sn_buffer_add_double(out, values[k]);
    }
}

// The tip of a joint at rest in its own frame, which is turned as the world is.
static const sinew_bone *find_tip(const sinew_skeleton *skeleton, int32_t joint) {
    for (int32_t b = 0; b < skeleton->bone_count; b++) {
        if (skeleton->bones[b].joint == joint && skeleton->bones[b].child < 0) {
            return &skeleton->bones[b];
        }
    }
    return NULL;
}

static void close_joint(sn_buffer *out, const sinew_skeleton *skeleton, int32_t joint,
                        int32_t depth, double unit) {
    const sinew_bone *tip = find_tip(skeleton, joint);
    bool has_child = false;
    for (int32_t i = joint + 1; i < skeleton->joint_count && !has_child; i++) {
        has_child = skeleton->parents[i] == joint;
    }

    if (tip || !has_child) {
        sn_vec3 end = tip ? sn_sub(sn_load3(tip->to), sn_load3(tip->from)) : sn_v3(0, 0, 0);
        indent(out, depth + 1);
        sn_buffer_add_text(out, "End Site\n");
        indent(out, depth + 1);
        sn_buffer_add_text(out, "{\n");
        indent(out, depth + 2);
        sn_buffer_add_text(out, "OFFSET");
        add_numbers(out, sn_scale(1 / unit, end));
        sn_buffer_add_text(out, "\n");
        indent(out, depth + 1);
        sn_buffer_add_text(out, "}\n");
    }

    indent(out, depth);
    sn_buffer_add_text(out, "}\n");
}

static void open_joint(sn_buffer *out, const sinew_skeleton *skeleton, int32_t joint, int32_t depth,
                       double unit) {
    indent(out, depth);
    sn_buffer_print(out, "%s %s\n", joint == 0 ? "ROOT" : "JOINT", skeleton->names[joint]);
    indent(out, depth);
    sn_buffer_add_text(out, "{\n");
    indent(out, depth + 1);
    sn_buffer_add_text(out, "OFFSET");
    add_numbers(out, sn_scale(1 / unit, sn_load3(skeleton->rest_local[joint].translation)));
    sn_buffer_add_text(out, "\n");
    indent(out, depth + 1);
    sn_buffer_add_text(out, joint == 0 ? "CHANNELS 6 Xposition Yposition Zposition" : "CHANNELS 3");
    sn_buffer_add_text(out, " Zrotation Yrotation Xrotation\n");
}

static int32_t depth_of(const sinew_skeleton *skeleton, int32_t joint) {
    int32_t depth = 0;
    while (skeleton->parents[joint] >= 0) {
        joint = skeleton->parents[joint];
        depth++;
    }
    return depth;
}

// R = Rz Ry Rx; where y is a quarter turn, x is taken as zero.
static sn_vec3 find_angles(sn_quat q) {
    sn_mat3 R = sn_quat_to_mat3(q);
    double s = fmin(fmax(-R.m[2][0], -1), 1);
    if (fabs(s) > 1 - 1e-12) {
        return sn_v3(atan2(-R.m[0][1], R.m[1][1]), asin(s), 0);
    }
    return sn_v3(atan2(R.m[1][0], R.m[0][0]), asin(s), atan2(R.m[2][1], R.m[2][2]));
}

// Whether the children of each joint follow it before anything else does: the order that nested
// braces have.
static sinew_status check_order(sinew_context *context, const sinew_skeleton *skeleton) {
    for (int32_t i = 0; i < skeleton->joint_count; i++) {
        const double *q = skeleton->rest_local[i].rotation;
        if (fabs(q[3]) < 1 - 1e-12) {
            return sn_fail(context, SINEW_UNSUPPORTED,
                           "joint '%s': a BVH file cannot hold a rotation in the rest pose",
                           skeleton->names[i]);
        }

        int32_t above = i - 1;
        while (i > 0 && above >= 0 && above != skeleton->parents[i]) {
            above = skeleton->parents[above];
        }

        if (i > 0 && above < 0) {
            return sn_fail(context, SINEW_UNSUPPORTED,
                           "joint '%s' is not listed after its parent's other descendants",
                           skeleton->names[i]);
        }
    }

    return SINEW_OK;
}

static void write_frames(sn_buffer *out, const sinew_motion *motion, double unit) {
    for (int32_t frame = 0; frame < motion->frame_count; frame++) {
        const sinew_transform *locals = sinew_motion_frame(motion, frame);
        for (int32_t i = 0; i < motion->joint_count; i++) {
            sn_rigid local = sn_rigid_load(&locals[i]);
            if (i == 0) {
                add_numbers(out, sn_scale(1 / unit, local.t));
            }
            add_numbers(out, sn_scale(RADIAN, find_angles(local.q)));
        }

        sn_buffer_add_text(out, "\n");
    }
}

sinew_status sn_bvh_write(sinew_context *context, const sinew_skeleton *skeleton,
                          const sinew_motion *motion, double unit, sn_buffer *out) {
    if (motion->joint_count != skeleton->joint_count) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "the motion has %d joints, the skeleton %d",
                       motion->joint_count, skeleton->joint_count);
    }

    SN_TRY(check_order(context, skeleton));
    sn_buffer_add_text(out, "HIERARCHY\n");
    for (int32_t i = 0; i < skeleton->joint_count; i++) {
        int32_t depth = depth_of(skeleton, i);
        open_joint(out, skeleton, i, depth, unit);

        // Closes this joint and those above it that end here.
        int32_t next = i + 1 < skeleton->joint_count ? skeleton->parents[i + 1] : -1;
        for (int32_t open = i; open != next; open = skeleton->parents[open], depth--) {
            close_joint(out, skeleton, open, depth, unit);
        }
    }

    sn_buffer_print(out, "MOTION\nFrames: %d\nFrame Time: ", motion->frame_count);
    sn_buffer_add_double(out, motion->frame_time);
    sn_buffer_add_text(out, "\n");
    write_frames(out, motion, unit);

    return sn_buffer_status(out);
}
