// The internals of a skeleton: joints in an order where parents come first, names with an index,
// bones as segments.
#ifndef SN_SKELETON_SKELETON_H
#define SN_SKELETON_SKELETON_H

#include "base/memory.h"
#include "math/rigid.h"

enum {
    SN_MAX_JOINTS = SINEW_SKELETON_JOINTS,
    SN_MAX_JOINT_NAME = SINEW_JOINT_NAME_SIZE,
    SN_MAX_FRAMES = SINEW_MOTION_FRAMES
};

struct sinew_skeleton {
    sn_arena arena;
    int32_t joint_count;
    int32_t *parents; // parents[i] < i; -1 for joint 0
    const char **names;
    sinew_transform *rest_local, *rest_world;
    sn_rigid *rest_inverse; // T^-1: from the world to the joint's frame at rest
    int32_t bone_count;
    sinew_bone *bones; // by joint
    int32_t slot_count;
    int32_t *slots; // open addressing: joint + 1, or 0
};

struct sinew_motion {
    sn_arena arena;
    int32_t joint_count, frame_count;
    double frame_time;
    sinew_transform *frames; // [frame][joint], unit quaternions
};

// A motion whose samples the caller fills in, with unit quaternions.
sinew_status sn_motion_create_empty(sinew_context *context, int32_t joint_count,
                                    int32_t frame_count, double frame_time, sinew_motion **motion);

// Forward kinematics on valid local transforms.
void sn_skeleton_compute_world(const sinew_skeleton *skeleton, const sinew_transform *local,
                               sinew_transform *world);

#endif
