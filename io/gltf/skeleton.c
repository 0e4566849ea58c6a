// Makes a skeleton and its motion from a glTF skin and an animation; see skeleton.h.
#include "io/gltf/skeleton.h"

#include "io/gltf/skin.h"
#include "math/rigid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POSES = 20000000 }; // limits the memory that a small file can request to a gigabyte

typedef struct bridge {
    sinew_context *context;
    const sn_gltf *gltf;
    const sn_gltf_skin *skin;
    const sn_gltf_skeleton_def *def;
    const sn_gltf_animation *animation; // or NULL
    int32_t count;                      // joints
    int32_t *order; // joint of the skin for each joint of the skeleton, parents first; -1: added
    int32_t *nodes; // their nodes, or -1
    int32_t *parents;
    sn_arena *scratch;
} bridge;

// The nearest ancestor of a node that is a joint, as a joint of the skin; -1 if there is none.
static int32_t find_parent(const bridge *b, const int32_t *joint_of_node, int32_t node) {
    for (node = b->gltf->nodes[node].parent; node >= 0; node = b->gltf->nodes[node].parent) {
        if (joint_of_node[node] >= 0) {
            return joint_of_node[node];
        }
    }
    return -1;
}

// Sorts the joints so that each follows its parent: one pass if they are already listed so, as is
// usual, otherwise as many passes as the tree is deep.
static sinew_status sort_joints(bridge *b) {
    int32_t *joint_of_node = SN_PUSH(b->scratch, int32_t, b->gltf->node_count);
    int32_t joints = b->skin->joint_count;
    int32_t *parents = SN_PUSH(b->scratch, int32_t, joints);
    int32_t *positions = SN_PUSH(b->scratch, int32_t, joints);

    SN_TRY(sn_arena_status(b->scratch));
    for (int32_t i = 0; i < b->gltf->node_count; i++) {
        joint_of_node[i] = -1;
    }

    // The joint of each node; no node may be listed twice.
    for (int32_t i = 0; i < joints; i++) {
        if (joint_of_node[b->skin->joints[i]] >= 0) {
            return sn_fail(b->context, SINEW_INVALID_DATA,
                           "%s: node %d is listed twice in the skin", b->def->file,
                           b->skin->joints[i]);
        }
        joint_of_node[b->skin->joints[i]] = i;
    }

    // A skeleton has exactly one root: several get one above them, at the origin.
    int32_t roots = 0, sorted = 0;
    for (int32_t i = 0; i < joints; i++) {
        positions[i] = -1;
        parents[i] = find_parent(b, joint_of_node, b->skin->joints[i]);
        roots += parents[i] < 0;
    }

    if (roots > 1) {
        b->parents[0] = b->nodes[0] = b->order[0] = -1;
        sorted = 1;
    }
    b->count = joints + sorted;
    int32_t above = sorted - 1; // of the roots

    // Add the joints whose parent is already sorted. Every pass adds some, because the nodes form a
    // tree.
    while (sorted < b->count) {
        for (int32_t i = 0; i < joints; i++) {
            bool ready = parents[i] < 0 || positions[parents[i]] >= 0;
            if (positions[i] >= 0 || !ready) {
                continue;
            }
            b->parents[sorted] = parents[i] < 0 ? above : positions[parents[i]];
            b->nodes[sorted] = b->skin->joints[i];
            b->order[sorted] = i;
            positions[i] = sorted++;
        }
    }

    return SINEW_OK;
}

static double column_length(const double *m, int column) {
    return sqrt(m[4 * column] * m[4 * column] + m[4 * column + 1] * m[4 * column + 1] +
                m[4 * column + 2] * m[4 * column + 2]);
}

// The rotation and translation of a matrix with uniform scale and without shear; the scale goes to
// *scale.
static bool split_matrix(const double m[16], sn_rigid *rigid, double *scale) {
    double s[3] = {column_length(m, 0), column_length(m, 1), column_length(m, 2)};
    *scale = (s[0] + s[1] + s[2]) / 3;
    if (!(*scale > 1e-9) || !isfinite(*scale)) {
        return false;
    }

    sn_mat3 R;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R.m[i][j] = m[4 * j + i] / *scale;
        }
    }

    sn_mat3 error = sn_mat3_sub(sn_mat3_mul(sn_mat3_transpose(R), R), sn_mat3_identity());
    *rigid = (sn_rigid){sn_quat_from_mat3(R), sn_v3(m[12], m[13], m[14])};

    return sn_mat3_norm(error) < 1e-2 && sn_mat3_det(R) > 0 && sn_finite3(rigid->t);
}

static sinew_status uneven(const bridge *b, int32_t node) {
    const char *name = b->gltf->nodes[node].name;
    return sn_fail(b->context, SINEW_UNSUPPORTED,
                   "%s: joint %d (%s) is mirrored or scaled unevenly; apply its scale first",
                   b->def->file, node, name ? name : "without a name");
}

// The rest pose in the world: that of the inverse bind matrices, moved with the root of the skin
// (sn_gltf_bind_matrix).
static sinew_status find_rest(bridge *b, sn_rigid *rest) {
    double *matrices, bind[16];
    SN_TRY(sn_gltf_compute_matrices(b->gltf, b->scratch, &matrices));
    sn_gltf_bind_matrix(b->gltf, 0, matrices, bind);

    sn_rigid placed;
    double placed_scale;
    if (!split_matrix(bind, &placed, &placed_scale)) {
        return uneven(b, b->skin->joints[0]);
    }

    for (int32_t i = 0; i < b->count; i++) {
        sn_rigid pose;
        double scale, bound_scale;
        if (b->nodes[i] < 0) {
            rest[i] = sn_rigid_identity();
            continue;
        }
        if (!split_matrix(matrices + 16 * (size_t)b->nodes[i], &pose, &scale)) {
            return uneven(b, b->nodes[i]);
        }

        if (!b->skin->inverse_bind) {
            rest[i] = pose;
            continue;
        }

        sn_rigid inverse;
        if (!split_matrix(b->skin->inverse_bind + 16 * (size_t)b->order[i], &inverse,
                          &bound_scale)) {
            return uneven(b, b->nodes[i]);
        }

        // The inverse bind matrix maps x = s R X + t back to X = R'(x - t)/s.
        sn_quat q = sn_quat_conjugate(inverse.q);
        sn_vec3 t = sn_scale(-placed_scale / bound_scale, sn_quat_rotate(q, inverse.t));
        rest[i] =
            (sn_rigid){sn_quat_mul(placed.q, q), sn_add(placed.t, sn_quat_rotate(placed.q, t))};
    }

    return SINEW_OK;
}

typedef struct joint_name {
    const char *text;
    int32_t joint;
} joint_name;

static int compare_names(const void *a, const void *b) {
    const joint_name *x = a;
    const joint_name *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->joint > y->joint) - (x->joint < y->joint);
}

// Joints need unique names. If a node has none, or one that is already used, its number is
// appended.
static sinew_status name_joints(const bridge *b, sinew_joint_def *joints) {
    // Sorted, equal names are next to each other.
    joint_name *names = SN_PUSH(b->scratch, joint_name, b->count);
    SN_TRY(sn_arena_status(b->scratch));
    for (int32_t i = 0; i < b->count; i++) {
        const char *name = b->nodes[i] < 0 ? "root" : b->gltf->nodes[b->nodes[i]].name;
        names[i] = (joint_name){name ? name : "", i};
    }

    qsort(names, (size_t)b->count, sizeof *names, compare_names);
    for (int32_t i = 0; i < b->count; i++) {
        const char *name = names[i].text;
        joints[names[i].joint].name = name;

        bool repeats = i > 0 && strcmp(names[i - 1].text, name) == 0;
        if (*name && strlen(name) <= SINEW_JOINT_NAME_SIZE && !repeats) {
            continue;
        }

        // A name that fits and cannot occur twice: it contains the number of the node.
        char *made = SN_PUSH(b->scratch, char, SINEW_JOINT_NAME_SIZE + 1);
        SN_TRY(sn_arena_status(b->scratch));
        snprintf(made, SINEW_JOINT_NAME_SIZE + 1, "%.*s.%d", SINEW_JOINT_NAME_SIZE - 12,
                 *name ? name : "joint", b->nodes[names[i].joint]);
        joints[names[i].joint].name = made;
    }

    return SINEW_OK;
}

static sinew_status make_skeleton(const bridge *b, const sn_rigid *rest,
                                  sinew_skeleton **skeleton) {
    sinew_joint_def *joints = SN_PUSH(b->scratch, sinew_joint_def, b->count);
    bool *has_child = SN_PUSH(b->scratch, bool, b->count);

    SN_TRY(sn_arena_status(b->scratch));
    for (int32_t i = 0; i < b->count; i++) {
        joints[i] = sinew_default_joint_def();
        joints[i].parent = b->parents[i];

        sn_rigid own = {rest[i].q, sn_scale(b->def->unit, rest[i].t)};

        if (b->parents[i] >= 0) {
            sn_rigid parent = {rest[b->parents[i]].q,
                               sn_scale(b->def->unit, rest[b->parents[i]].t)};
            own = sn_rigid_mul(sn_rigid_inverse(parent), own);
            has_child[b->parents[i]] = true;
        }

        sn_rigid_store(&joints[i].rest, own);
    }

    // A leaf gets a bone of half its parent's length in the same direction.
    for (int32_t i = 1; i < b->count; i++) {
        if (has_child[i] || b->nodes[b->parents[i]] < 0) {
            continue;
        }
        sn_vec3 half = sn_scale(0.5 * b->def->unit, sn_sub(rest[i].t, rest[b->parents[i]].t));
        joints[i].has_tip = true;
        sn_store3(joints[i].tip, sn_quat_rotate(sn_quat_conjugate(rest[i].q), half));
    }

    SN_TRY(name_joints(b, joints));
    return sinew_skeleton_create(b->context, joints, b->count, skeleton);
}

static void pose_nodes(const bridge *b, sn_gltf_node *nodes, double time) {
    for (int32_t i = 0; i < b->animation->channel_count; i++) {
        const sn_gltf_channel *channel = &b->animation->channels[i];
        sn_gltf_node *node = &nodes[channel->node];
        if (channel->key_count < 1) {
            continue;
        }
        if (channel->path == SN_GLTF_TRANSLATION) {
            sn_gltf_sample(channel, time, node->translation);
        }
        if (channel->path != SN_GLTF_ROTATION) {
            continue;
        }

        sn_gltf_sample(channel, time, node->rotation);
        sn_quat q = sn_quat_normalize(
            (sn_quat){node->rotation[0], node->rotation[1], node->rotation[2], node->rotation[3]});

        memcpy(node->rotation, (double[4]){q.x, q.y, q.z, q.w}, sizeof node->rotation);
    }
}

// The local transforms of all joints for the current transforms of the nodes.
static sinew_status read_pose(const bridge *b, const sn_gltf_node *nodes, sn_rigid *world,
                              sinew_transform *local) {
    sn_gltf posed = *b->gltf;
    posed.nodes = nodes;

    double *matrices;
    sn_arena_mark mark = sn_arena_get_mark(b->scratch);

    SN_TRY(sn_gltf_compute_matrices(&posed, b->scratch, &matrices));
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < b->count && status == SINEW_OK; i++) {
        double scale;
        if (b->nodes[i] < 0) {
            world[i] = sn_rigid_identity();
        } else if (!split_matrix(matrices + 16 * (size_t)b->nodes[i], &world[i], &scale)) {
            status = uneven(b, b->nodes[i]);
        }

        // In metres, relative to the parent.
        world[i].t = sn_scale(b->def->unit, world[i].t);
        sn_rigid own = b->parents[i] < 0
                           ? world[i]
                           : sn_rigid_mul(sn_rigid_inverse(world[b->parents[i]]), world[i]);
        sn_rigid_store(&local[i], own);
    }

    sn_arena_rewind(b->scratch, mark);
    return status;
}

// Exporters often write scale channels that never change; those are harmless.
static bool changes_scale(const bridge *b, const sn_gltf_channel *channel) {
    if (channel->path != SN_GLTF_SCALE) {
        return false;
    }

    int32_t stride = channel->interpolation == SN_GLTF_CUBIC ? 9 : 3;
    int32_t value = channel->interpolation == SN_GLTF_CUBIC ? 3 : 0;
    for (int32_t i = 0; i < 3 * channel->key_count; i++) {
        double scale = channel->values[(size_t)(i / 3) * (size_t)stride + (size_t)(value + i % 3)];
        if (fabs(scale - b->gltf->nodes[channel->node].scale[i % 3]) > 1e-4 * fabs(scale)) {
            return true;
        }
    }

    return false;
}

static double animation_length(const bridge *b) {
    double last = 0;
    bool scales = false;
    if (b->animation) {
        for (int32_t i = 0; i < b->animation->channel_count; i++) {
            const sn_gltf_channel *channel = &b->animation->channels[i];
            if (channel->key_count > 0) {
                last = fmax(last, channel->times[channel->key_count - 1]);
            }
            scales = scales || changes_scale(b, channel);
        }
    }

    if (scales) {
        sn_log(b->context, SINEW_LOG_WARNING, "%s: animated scales are ignored", b->def->file);
    }

    return last;
}

static sinew_status make_motion(const bridge *b, sinew_motion **motion) {
    double frames = ceil(animation_length(b) / b->def->frame_time - 1e-6) + 1;
    if (!(frames * b->count <= MOST_POSES)) {
        return sn_fail(
            b->context, SINEW_INVALID_DATA,
            "%s: an animation of %g frames for %d joints is too long; at most %d of both",
            b->def->file, frames, b->count, MOST_POSES);
    }

    sn_gltf_node *nodes = SN_PUSH(b->scratch, sn_gltf_node, b->gltf->node_count);
    sn_rigid *world = SN_PUSH(b->scratch, sn_rigid, b->count);
    sinew_transform *local = SN_PUSH(b->scratch, sinew_transform, b->count);

    SN_TRY(sn_arena_status(b->scratch));
    memcpy(nodes, b->gltf->nodes, (size_t)b->gltf->node_count * sizeof *nodes);

    // Sample the animation at equal intervals.
    sinew_motion *made = NULL;
    sinew_motion_def def = {
        .joint_count = b->count, .frame_count = (int32_t)frames, .frame_time = b->def->frame_time};
    SN_TRY(sinew_motion_create(b->context, &def, &made));

    sinew_status status = SINEW_OK;
    for (int32_t frame = 0; frame < def.frame_count && status == SINEW_OK; frame++) {
        if (b->animation) {
            pose_nodes(b, nodes, frame * b->def->frame_time);
        }
        status = read_pose(b, nodes, world, local);
        if (status == SINEW_OK) {
            status = sinew_motion_set_frame(made, frame, local);
        }
    }

    if (status != SINEW_OK) {
        sinew_motion_destroy(made);
        return status;
    }

    *motion = made;
    return SINEW_OK;
}

static sinew_status choose_animation(bridge *b) {
    if (b->gltf->animation_count > 0) {
        b->animation = &b->gltf->animations[0];
    }

    if (b->def->animation) {
        for (int32_t i = 0; i < b->gltf->animation_count; i++) {
            b->animation = &b->gltf->animations[i];
            if (b->animation->name && strcmp(b->animation->name, b->def->animation) == 0) {
                return SINEW_OK;
            }
        }
    }

    if (!b->def->animation) {
        return SINEW_OK;
    }

    return sn_fail(b->context, SINEW_NOT_FOUND, "%s: none of its %d animations is called \"%s\"",
                   b->def->file, b->gltf->animation_count, b->def->animation);
}

static sinew_status build(bridge *b, sinew_skeleton **skeleton, sinew_motion **motion) {
    SN_TRY(choose_animation(b));
    size_t most = (size_t)b->skin->joint_count + 1;
    b->order = SN_PUSH(b->scratch, int32_t, most);
    b->nodes = SN_PUSH(b->scratch, int32_t, most);
    b->parents = SN_PUSH(b->scratch, int32_t, most);

    sn_rigid *rest = SN_PUSH(b->scratch, sn_rigid, most);
    SN_TRY(sn_arena_status(b->scratch));

    // Parents before children, and the caller's map from joints to the new order.
    SN_TRY(sort_joints(b));
    if (b->def->order) {
        for (int32_t i = 0; i < b->count; i++) {
            if (b->order[i] >= 0) {
                b->def->order[b->order[i]] = i;
            }
        }
    }

    // Skeleton and motion; both or none.
    SN_TRY(find_rest(b, rest));
    SN_TRY(make_skeleton(b, rest, skeleton));

    sinew_status status = make_motion(b, motion);
    if (status == SINEW_OK) {
        return SINEW_OK;
    }

    sinew_skeleton_destroy(*skeleton);
    *skeleton = NULL;

    return status;
}

sinew_status sn_gltf_create_skeleton(sinew_context *context, const sn_gltf *gltf,
                                     const sn_gltf_skeleton_def *def, sinew_skeleton **skeleton,
                                     sinew_motion **motion) {
    SN_ASSERT(def->unit > 0 && def->frame_time > 0);
    if (gltf->skin_count == 0 || gltf->skins[0].joint_count == 0) {
        return sn_fail(context, SINEW_NOT_FOUND, "%s: holds no skin, hence no skeleton", def->file);
    }

    bridge b = {.context = context, .gltf = gltf, .skin = gltf->skins, .def = def};
    b.count = b.skin->joint_count;
    if (b.count > SINEW_SKELETON_JOINTS) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "%s: the skin has %d joints; at most %d are read", def->file, b.count,
                       SINEW_SKELETON_JOINTS);
    }

    sn_arena scratch = sn_arena_create(context);
    b.scratch = &scratch;

    sinew_status status = build(&b, skeleton, motion);
    sn_arena_destroy(&scratch);

    return status;
}
