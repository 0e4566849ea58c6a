// A tree of joints. Input: names, parents, rest transforms. Output: the rest pose in the world,
// bones as segments, and for any pose the joints' transforms in the world, in one pass because
// parents come first. Names are found through a hash table.
#include "skeleton/skeleton.h"

#include <string.h>

sinew_joint_def sinew_default_joint_def(void) {
    return (sinew_joint_def){
        .name = "", .parent = -1, .rest = {.rotation = {0, 0, 0, 1}}, .filled = SN_DEF_FILLED};
}

// FNV-1a.
static uint32_t hash_name(const char *name) {
    uint32_t hash = 2166136261u;
    for (const char *c = name; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    }
    return hash;
}

// The slot that holds `name`, or the empty one where it belongs.
static int32_t find_slot(const sinew_skeleton *skeleton, const char *name) {
    uint32_t mask = (uint32_t)skeleton->slot_count - 1;
    uint32_t slot = hash_name(name) & mask;
    while (skeleton->slots[slot] && strcmp(skeleton->names[skeleton->slots[slot] - 1], name) != 0) {
        slot = (slot + 1) & mask;
    }
    return (int32_t)slot;
}

int32_t sinew_skeleton_find(const sinew_skeleton *skeleton, const char *name) {
    SN_NEED_OR(-1, skeleton && name);
    return skeleton->slots[find_slot(skeleton, name)] - 1;
}

static sinew_status check_joint(sinew_context *context, const sinew_joint_def *joint,
                                int32_t index) {
    SN_TRY(SN_CHECK_DEF(context, joint, "sinew_default_joint_def"));
    if (!joint->name || !joint->name[0] || strlen(joint->name) > SN_MAX_JOINT_NAME) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "joint %d: the name must have 1 to %d bytes", index, SN_MAX_JOINT_NAME);
    }

    // The hierarchy: one root, parents first.
    if (index == 0 && joint->parent != -1) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "joint 0 ('%s') is the root: its parent must be -1, not %d", joint->name,
                       joint->parent);
    }

    if (index > 0 && joint->parent == -1) {
        return sn_fail(context, SINEW_UNSUPPORTED,
                       "joint %d ('%s') is a second root; a skeleton has one root, joint 0", index,
                       joint->name);
    }

    if (index > 0 && (joint->parent < 0 || joint->parent >= index)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "joint %d ('%s'): parent %d must be in [0, %d]", index, joint->name,
                       joint->parent, index - 1);
    }

    // The rest pose.
    if (!sn_transform_is_valid(&joint->rest) ||
        (joint->has_tip && !sn_finite3(sn_load3(joint->tip)))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "joint %d ('%s'): rest pose and tip must be finite, the quaternion not zero",
                       index, joint->name);
    }

    return SINEW_OK;
}

static sinew_status check_joints(sinew_context *context, const sinew_joint_def *joints,
                                 int32_t count) {
    if (count < 1 || count > SN_MAX_JOINTS) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%d joints: a skeleton has 1 to %d", count,
                       SN_MAX_JOINTS);
    }
    SN_TRY(SN_CHECK_DEF(context, joints, "sinew_default_joint_def"));

    for (int32_t i = 0; i < count; i++) {
        SN_TRY(check_joint(context, &joints[i], i));
    }

    return SINEW_OK;
}

static size_t names_size(const sinew_joint_def *joints, int32_t count) {
    size_t size = 0;
    for (int32_t i = 0; i < count; i++) {
        size += strlen(joints[i].name) + 1;
    }
    return size;
}

static void push_arrays(sinew_skeleton *skeleton, sn_arena *arena, int32_t count) {
    skeleton->joint_count = count;
    skeleton->parents = SN_PUSH(arena, int32_t, count);
    skeleton->names = SN_PUSH(arena, const char *, count);
    skeleton->rest_local = SN_PUSH(arena, sinew_transform, count);
    skeleton->rest_world = SN_PUSH(arena, sinew_transform, count);
    skeleton->rest_inverse = SN_PUSH(arena, sn_rigid, count);
    skeleton->bones = SN_PUSH(arena, sinew_bone,
                              2 * (size_t)count); // at most one to each child and one to each tip
    skeleton->slot_count = 4;

    while (skeleton->slot_count < 2 * count) {
        skeleton->slot_count *= 2;
    }

    skeleton->slots = SN_PUSH(arena, int32_t, skeleton->slot_count);
}

static sinew_status copy_joints(sinew_skeleton *skeleton, const sinew_joint_def *joints,
                                char *names) {
    // Names go into one block and into the hash table, which detects duplicates.
    for (int32_t i = 0; i < skeleton->joint_count; i++) {
        size_t size = strlen(joints[i].name) + 1;
        memcpy(names, joints[i].name, size);

        int32_t slot = find_slot(skeleton, names);
        if (skeleton->slots[slot]) {
            return sn_fail(skeleton->arena.context, SINEW_INVALID_ARGUMENT,
                           "joints %d and %d are both named '%s'", skeleton->slots[slot] - 1, i,
                           names);
        }

        skeleton->names[i] = names;
        skeleton->slots[slot] = i + 1;
        names += size;
        skeleton->parents[i] = joints[i].parent;
        sn_rigid_store(&skeleton->rest_local[i], sn_rigid_load(&joints[i].rest));
    }

    return SINEW_OK;
}

static void add_bone(sinew_skeleton *skeleton, int32_t joint, int32_t child, sn_vec3 to) {
    sn_vec3 from = sn_load3(skeleton->rest_world[joint].translation);
    if (sn_distance(from, to) == 0) {
        return;
    }

    sinew_bone *bone = &skeleton->bones[skeleton->bone_count++];
    *bone = (sinew_bone){.joint = joint, .child = child};
    sn_store3(bone->from, from);
    sn_store3(bone->to, to);
}

// Lists the bones by joint: counts those of each joint, then sorts them, in linear time for any
// tree.
static void compute_bones(sinew_skeleton *skeleton, const sinew_joint_def *joints,
                          sinew_bone *scratch, int32_t *starts) {
    int32_t count = skeleton->joint_count;
    for (int32_t i = 0; i < count; i++) {
        const sinew_transform *world = skeleton->rest_world;
        if (i > 0) {
            add_bone(skeleton, skeleton->parents[i], i, sn_load3(world[i].translation));
        }

        if (joints[i].has_tip) {
            add_bone(skeleton, i, -1,
                     sn_rigid_apply(sn_rigid_load(&world[i]), sn_load3(joints[i].tip)));
        }
    }

    // Counting sort by joint.
    for (int32_t b = 0; b < skeleton->bone_count; b++) {
        starts[skeleton->bones[b].joint + 1]++;
    }

    for (int32_t i = 0; i < count; i++) {
        starts[i + 1] += starts[i];
    }

    memcpy(scratch, skeleton->bones, (size_t)skeleton->bone_count * sizeof *scratch);
    for (int32_t b = 0; b < skeleton->bone_count; b++) {
        skeleton->bones[starts[scratch[b].joint]++] = scratch[b];
    }
}

static sinew_status build(sinew_skeleton *skeleton, const sinew_joint_def *joints, int32_t count) {
    sn_arena *arena = &skeleton->arena;
    push_arrays(skeleton, arena, count);

    char *names = SN_PUSH(arena, char, names_size(joints, count));
    sn_arena_mark mark = sn_arena_get_mark(arena);
    sinew_bone *scratch = SN_PUSH(arena, sinew_bone, 2 * (size_t)count);
    int32_t *starts = SN_PUSH(arena, int32_t, count + 1);

    SN_TRY(sn_arena_status(arena));
    SN_TRY(copy_joints(skeleton, joints, names));
    sn_skeleton_compute_world(skeleton, skeleton->rest_local, skeleton->rest_world);

    for (int32_t i = 0; i < count; i++) {
        skeleton->rest_inverse[i] = sn_rigid_inverse(sn_rigid_load(&skeleton->rest_world[i]));
    }

    compute_bones(skeleton, joints, scratch, starts);
    sn_arena_rewind(arena, mark);

    return SINEW_OK;
}

sinew_status sinew_skeleton_create(sinew_context *context, const sinew_joint_def *joints,
                                   int32_t count, sinew_skeleton **skeleton) {
    SN_NEED(NULL, context);
    SN_NEED(context, skeleton);

    SN_TRY(check_joints(context, joints, count));

    sinew_skeleton *made = sn_allocate(context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    made->arena = sn_arena_create(context);
    sinew_status status = build(made, joints, count);
    if (status == SINEW_OK) {
        *skeleton = made;
    } else {
        sinew_skeleton_destroy(made);
    }

    return status;
}

void sinew_skeleton_destroy(sinew_skeleton *skeleton) {
    if (!skeleton) {
        return;
    }
    sinew_context *context = skeleton->arena.context;
    sn_arena_destroy(&skeleton->arena);
    sn_release(context, skeleton, 1, sizeof *skeleton);
}

int32_t sinew_skeleton_joint_count(const sinew_skeleton *skeleton) {
    SN_NEED_OR(0, skeleton);
    return skeleton->joint_count;
}

const char *sinew_skeleton_joint_name(const sinew_skeleton *skeleton, int32_t joint) {
    SN_NEED_OR(NULL, skeleton);
    SN_ASSERT(joint >= 0 && joint < skeleton->joint_count);
    return skeleton->names[joint];
}

int32_t sinew_skeleton_joint_parent(const sinew_skeleton *skeleton, int32_t joint) {
    SN_NEED_OR(-1, skeleton);
    SN_ASSERT(joint >= 0 && joint < skeleton->joint_count);
    return skeleton->parents[joint];
}

const sinew_transform *sinew_skeleton_rest_local(const sinew_skeleton *skeleton) {
    SN_NEED_OR(NULL, skeleton);
    return skeleton->rest_local;
}

const sinew_transform *sinew_skeleton_rest_world(const sinew_skeleton *skeleton) {
    SN_NEED_OR(NULL, skeleton);
    return skeleton->rest_world;
}

const sinew_bone *sinew_skeleton_bones(const sinew_skeleton *skeleton, int32_t *count) {
    SN_NEED_OR(NULL, skeleton && count);
    *count = skeleton->bone_count;
    return skeleton->bones;
}

void sn_skeleton_compute_world(const sinew_skeleton *skeleton, const sinew_transform *local,
                               sinew_transform *world) {
    for (int32_t i = 0; i < skeleton->joint_count; i++) {
        sn_rigid joint = sn_rigid_load(&local[i]);
        if (i > 0) {
            SN_ASSERT(skeleton->parents[i] < i);
            joint = sn_rigid_mul(sn_rigid_load(&world[skeleton->parents[i]]), joint);
        }
        sn_rigid_store(&world[i], joint);
    }
}

sinew_status sinew_skeleton_compute_world(const sinew_skeleton *skeleton,
                                          const sinew_transform *local, sinew_transform *world) {
    SN_NEED(NULL, skeleton && local);

    for (int32_t i = 0; i < skeleton->joint_count; i++) {
        if (sn_transform_is_valid(&local[i])) {
            continue;
        }

        return sn_fail(
            skeleton->arena.context, SINEW_INVALID_ARGUMENT,
            "pose of joint %d ('%s'): all numbers must be finite, the quaternion not zero", i,
            skeleton->names[i]);
    }

    sn_skeleton_compute_world(skeleton, local, world);
    return SINEW_OK;
}

void sinew_skeleton_compute_offsets(const sinew_skeleton *skeleton, const sinew_transform *world,
                                    sinew_transform *offsets) {
    SN_NEED_OR(, skeleton && world && offsets);
    for (int32_t i = 0; i < skeleton->joint_count; i++) {
        sn_rigid_store(&offsets[i],
                       sn_rigid_mul(sn_rigid_load(&world[i]), skeleton->rest_inverse[i]));
    }
}
