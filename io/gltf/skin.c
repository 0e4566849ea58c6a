// Writes skins: the largest weights of each point, joints whose rest pose is a pure translation,
// and their motion.
//
// All joints are children of one node, as the format requires. The bind pose of joint i is the
// translation to its rest position X_i, so the inverse bind matrix maps X to X - X_i, and the pose
// of the joint adds the rest. The signs of consecutive quaternions are chosen so that they do not
// jump.
#include "io/gltf/skin.h"

#include "math/quat.h"
#include "math/svd.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double sn_joint_pose_fit(const double translation[3], const double matrix[9], sn_joint_pose *pose) {
    enum { ROUNDS = 50 };
    sn_mat3 A;
    sn_mat3 R = sn_mat3_identity();

    memcpy(A.m, matrix, sizeof A.m);
    double s[3] = {1, 1, 1};

    // Alternate: R is the polar factor of A S, s is the diagonal of R'A. Each half of a round
    // reduces |A - R S|.
    for (int round = 0; round < ROUNDS; round++) {
        sn_mat3 AS = A;
        for (int i = 0; i < 9; i++) {
            AS.m[i / 3][i % 3] *= s[i % 3];
        }

        R = sn_polar3(NULL, AS);
        for (int k = 0; k < 3; k++) {
            s[k] = sn_dot(sn_mat3_column(R, k), sn_mat3_column(A, k));
        }
    }

    // What a rotation and a scale cannot represent.
    double lost = 0;
    for (int i = 0; i < 9; i++) {
        double d = A.m[i / 3][i % 3] - R.m[i / 3][i % 3] * s[i % 3];
        lost += d * d;
    }

    sn_quat q = sn_quat_from_mat3(R);
    *pose = (sn_joint_pose){
        {translation[0], translation[1], translation[2]}, {q.x, q.y, q.z, q.w}, {s[0], s[1], s[2]}};

    return sqrt(lost);
}

// Chooses the `count` largest positive weights of a point, in descending order, and scales them to
// sum to 1. Returns the sum of the absolute values of the others.
static double choose_weights(const sn_skin_def *def, int32_t point, int32_t count, int32_t *joints,
                             double *weights) {
    double all = 0, kept = 0;
    for (int32_t k = 0; k < count; k++) {
        joints[k] = 0;
        weights[k] = 0;
    }

    // Insert each weight into the sorted list.
    for (int32_t k = def->start[point]; k < def->start[point + 1]; k++) {
        double weight = def->weight[k];
        all += fabs(weight);

        int32_t at = count;
        while (at > 0 && weight > weights[at - 1]) {
            at--;
        }

        if (at == count) {
            continue;
        }

        for (int32_t i = count - 1; i > at; i--) {
            joints[i] = joints[i - 1];
            weights[i] = weights[i - 1];
        }

        joints[at] = def->joint[k];
        weights[at] = weight;
    }

    for (int32_t k = 0; k < count; k++) {
        kept += weights[k];
    }

    if (kept > 0) {
        for (int32_t k = 0; k < count; k++) {
            weights[k] /= kept;
        }
    }

    return all - kept;
}

typedef struct skin_parts {
    int32_t *joints;      // of the points
    double *weights;      // as many
    double *inverse_bind; // 16 for each joint
    int32_t *joint_nodes;
    sn_gltf_node *nodes; // the joints, their common parent, the mesh
    char (*names)[24];   // of the joints
    sn_gltf_channel *channels;
    double *values; // of the channels
} skin_parts;

static sinew_status push_parts(sn_arena *scratch, const sn_skin_def *def, skin_parts *parts) {
    size_t joints = (size_t)def->joint_count;
    size_t entries = 4 * (size_t)def->sets * (size_t)def->point_count;

    *parts = (skin_parts){SN_PUSH(scratch, int32_t, entries),
                          SN_PUSH(scratch, double, entries),
                          SN_PUSH(scratch, double, 16 * joints),
                          SN_PUSH(scratch, int32_t, joints),
                          SN_PUSH(scratch, sn_gltf_node, joints + 2),
                          sn_arena_push(scratch, joints, sizeof *parts->names),
                          SN_PUSH(scratch, sn_gltf_channel, 3 * joints),
                          SN_PUSH(scratch, double, 10 * joints * (size_t)def->frame_count)};

    return sn_arena_status(scratch);
}

// The values of one property of a joint over time, taken from the poses.
static sn_gltf_channel make_channel(const sn_skin_def *def, int32_t joint, sn_gltf_path path,
                                    double *values) {
    int components = path == SN_GLTF_ROTATION ? 4 : 3;
    for (int32_t f = 0; f < def->frame_count; f++) {
        const sn_joint_pose *pose =
            &def->poses[(size_t)f * (size_t)def->joint_count + (size_t)joint];
        const double *source = path == SN_GLTF_ROTATION ? pose->rotation
                               : path == SN_GLTF_SCALE  ? pose->scale
                                                        : pose->translation;
        double *value = values + (size_t)f * (size_t)components;
        double dot = 0;

        // q and -q are the same rotation: keep the sign of the previous key.
        for (int k = 0; k < components; k++) {
            dot += f > 0 ? source[k] * value[k - components] : 0;
        }

        double sign = path == SN_GLTF_ROTATION && dot < 0 ? -1 : 1;
        for (int k = 0; k < components; k++) {
            value[k] = sign * source[k];
        }
    }

    return (sn_gltf_channel){.node = joint,
                             .path = path,
                             .interpolation = SN_GLTF_LINEAR,
                             .key_count = def->frame_count,
                             .components = components,
                             .times = def->times,
                             .values = values};
}

static void fill_joint(const sn_skin_def *def, int32_t i, skin_parts *parts, double **values,
                       int32_t *channels) {
    const double *rest = def->joint_rest + 3 * (size_t)i;
    double *bind = parts->inverse_bind + 16 * (size_t)i;

    // The inverse bind matrix is the translation by -X_i.
    bind[0] = bind[5] = bind[10] = bind[15] = 1;
    for (int k = 0; k < 3; k++) {
        bind[12 + k] = -rest[k];
    }

    parts->joint_nodes[i] = i;
    snprintf(parts->names[i], sizeof parts->names[i], "frame%d", i);
    parts->nodes[i] = sn_gltf_default_node(parts->names[i]);
    parts->nodes[i].parent = def->joint_count;
    memcpy(parts->nodes[i].translation, rest, 3 * sizeof *rest);

    // Write scales only if there are any.
    bool scaled = false;
    for (int32_t f = 0; f < def->frame_count; f++) {
        const double *s = def->poses[(size_t)f * (size_t)def->joint_count + (size_t)i].scale;
        for (int k = 0; k < 3; k++) {
            scaled = scaled || fabs(s[k] - 1) > 1e-9;
        }
    }

    const sn_gltf_path paths[] = {SN_GLTF_TRANSLATION, SN_GLTF_ROTATION, SN_GLTF_SCALE};
    for (int k = 0; k < (scaled ? 3 : 2); k++) {
        parts->channels[*channels] = make_channel(def, i, paths[k], *values);
        *values += (size_t)parts->channels[*channels].components * (size_t)def->frame_count;
        ++*channels;
    }
}

static sinew_status write_parts(const sn_skin_def *def, const skin_parts *parts, int32_t channels,
                                sn_buffer *out) {
    sn_gltf_primitive primitive = {.point_count = def->point_count,
                                   .points = def->points,
                                   .joint_sets = def->sets,
                                   .joints = parts->joints,
                                   .weights = parts->weights,
                                   .index_count = def->index_count,
                                   .indices = def->indices};
    sn_gltf_mesh mesh = {def->name, 1, &primitive};
    sn_gltf_skin skin = {def->name, def->joint_count, parts->joint_nodes, parts->inverse_bind};
    sn_gltf_animation animation = {"simulation", channels, parts->channels};
    sn_gltf gltf = {.node_count = def->joint_count + 2,
                    .nodes = parts->nodes,
                    .mesh_count = 1,
                    .meshes = &mesh,
                    .skin_count = 1,
                    .skins = &skin,
                    .animation_count = def->frame_count > 1,
                    .animations = &animation,
                    .material_count = 1,
                    .materials = &def->material};

    return sn_write_glb(&gltf, out);
}

sinew_status sn_write_glb_skin(const sn_skin_def *def, sn_buffer *out, double *largest_loss) {
    SN_ASSERT(def->joint_count >= 1 && def->frame_count >= 1 && (def->sets == 1 || def->sets == 2));
    sn_arena scratch = sn_arena_create(out->context);
    skin_parts parts;
    sinew_status status = push_parts(&scratch, def, &parts);
    double largest = 0;

    if (status == SINEW_OK) {
        // Weights of the points.
        int32_t each = 4 * def->sets;
        int32_t channels = 0;
        for (int32_t i = 0; i < def->point_count; i++) {
            size_t at = (size_t)each * (size_t)i;
            largest =
                fmax(largest, choose_weights(def, i, each, parts.joints + at, parts.weights + at));
        }

        // Joints and their channels.
        double *values = parts.values;
        for (int32_t i = 0; i < def->joint_count; i++) {
            fill_joint(def, i, &parts, &values, &channels);
        }

        // The parent of all joints, and the node of the mesh.
        parts.nodes[def->joint_count] =
            def->z_up ? sn_gltf_upright_node("frames") : sn_gltf_default_node("frames");

        sn_gltf_node *body = &parts.nodes[def->joint_count + 1];
        *body = sn_gltf_default_node(def->name);
        body->mesh = 0;
        body->skin = 0;
        status = write_parts(def, &parts, channels, out);
    }

    sn_arena_destroy(&scratch);
    if (largest_loss) {
        *largest_loss = largest;
    }

    return status;
}
