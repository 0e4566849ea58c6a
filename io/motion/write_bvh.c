// Writes BVH motion files: nested joints with offsets and channels, then the frames as Euler
// angles; see read_bvh.h.
#include "io/motion/read_bvh.h"

#include "math/rigid.h"

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

// The tip of a joint at rest, in the joint's own frame, whose axes are parallel to the world's.
static const sinew_bone *find_tip(const sinew_skeleton *skeleton, int32_t joint) {
    int32_t count;
    const sinew_bone *bones = sinew_skeleton_bones(skeleton, &count);
    for (int32_t b = 0; b < count; b++) {
        if (bones[b].joint == joint && bones[b].child < 0) {
            return &bones[b];
        }
    }
    return NULL;
}

static void close_joint(sn_buffer *out, const sinew_skeleton *skeleton, int32_t joint,
                        int32_t depth, double unit) {
    const sinew_bone *tip = find_tip(skeleton, joint);
    bool has_child = false;
    for (int32_t i = joint + 1; i < sinew_skeleton_joint_count(skeleton) && !has_child; i++) {
        has_child = sinew_skeleton_joint_parent(skeleton, i) == joint;
    }

    // A joint without children needs an end site.
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
    sn_buffer_print(out, "%s %s\n", joint == 0 ? "ROOT" : "JOINT",
                    sinew_skeleton_joint_name(skeleton, joint));
    indent(out, depth);
    sn_buffer_add_text(out, "{\n");
    indent(out, depth + 1);
    sn_buffer_add_text(out, "OFFSET");
    add_numbers(
        out, sn_scale(1 / unit, sn_load3(sinew_skeleton_rest_local(skeleton)[joint].translation)));
    sn_buffer_add_text(out, "\n");
    indent(out, depth + 1);
    sn_buffer_add_text(out, joint == 0 ? "CHANNELS 6 Xposition Yposition Zposition" : "CHANNELS 3");
    sn_buffer_add_text(out, " Zrotation Yrotation Xrotation\n");
}

static int32_t depth_of(const sinew_skeleton *skeleton, int32_t joint) {
    int32_t depth = 0;
    while (sinew_skeleton_joint_parent(skeleton, joint) >= 0) {
        joint = sinew_skeleton_joint_parent(skeleton, joint);
        depth++;
    }
    return depth;
}

// R = Rz Ry Rx; where y is 90 degrees, x is set to zero.
static sn_vec3 find_angles(sn_quat q) {
    sn_mat3 R = sn_quat_to_mat3(q);
    double s = fmin(fmax(-R.m[2][0], -1), 1);
    if (fabs(s) > 1 - 1e-12) {
        return sn_v3(atan2(-R.m[0][1], R.m[1][1]), asin(s), 0);
    }
    return sn_v3(atan2(R.m[1][0], R.m[0][0]), asin(s), atan2(R.m[2][1], R.m[2][2]));
}

// Nested braces demand that all descendants of a joint follow it before any other joint does.
static sinew_status check_order(sinew_context *context, const sinew_skeleton *skeleton) {
    for (int32_t i = 0; i < sinew_skeleton_joint_count(skeleton); i++) {
        const double *q = sinew_skeleton_rest_local(skeleton)[i].rotation;
        if (fabs(q[3]) < 1 - 1e-12) {
            return sn_fail(context, SINEW_UNSUPPORTED,
                           "joint '%s': a BVH file cannot hold a rotation in the rest pose",
                           sinew_skeleton_joint_name(skeleton, i));
        }

        // The parent must be the previous joint or one of its ancestors.
        int32_t above = i - 1;
        while (i > 0 && above >= 0 && above != sinew_skeleton_joint_parent(skeleton, i)) {
            above = sinew_skeleton_joint_parent(skeleton, above);
        }

        if (i > 0 && above < 0) {
            return sn_fail(context, SINEW_UNSUPPORTED,
                           "joint '%s' is not listed after its parent's other descendants",
                           sinew_skeleton_joint_name(skeleton, i));
        }
    }

    return SINEW_OK;
}

static void write_frames(sn_buffer *out, const sinew_motion *motion, double unit) {
    for (int32_t frame = 0; frame < sinew_motion_frame_count(motion); frame++) {
        const sinew_transform *locals = sinew_motion_frame(motion, frame);
        for (int32_t i = 0; i < sinew_motion_joint_count(motion); i++) {
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
    if (sinew_motion_joint_count(motion) != sinew_skeleton_joint_count(skeleton)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "the motion has %d joints, the skeleton %d",
                       sinew_motion_joint_count(motion), sinew_skeleton_joint_count(skeleton));
    }

    SN_TRY(check_order(context, skeleton));
    sn_buffer_add_text(out, "HIERARCHY\n");
    for (int32_t i = 0; i < sinew_skeleton_joint_count(skeleton); i++) {
        int32_t depth = depth_of(skeleton, i);
        open_joint(out, skeleton, i, depth, unit);

        // Close this joint and those above it that end here.
        int32_t next = i + 1 < sinew_skeleton_joint_count(skeleton)
                           ? sinew_skeleton_joint_parent(skeleton, i + 1)
                           : -1;
        for (int32_t open = i; open != next;
             open = sinew_skeleton_joint_parent(skeleton, open), depth--) {
            close_joint(out, skeleton, open, depth, unit);
        }
    }

    sn_buffer_print(out, "MOTION\nFrames: %d\nFrame Time: ", sinew_motion_frame_count(motion));
    sn_buffer_add_double(out, sinew_motion_frame_time(motion));
    sn_buffer_add_text(out, "\n");
    write_frames(out, motion, unit);

    return sn_buffer_status(out);
}
