// Plays a file back as a viewer does: the nodes at a time of an animation, and the points of a
// skin.
#include "io/gltf/skin.h"

#include "math/quat.h"

#include <string.h>

// The last key that is not later than a time, and the fraction of the way to the next key, in [0,
// 1].
static int32_t find_key(const sn_gltf_channel *channel, double time, double *t) {
    int32_t key = 0, above = channel->key_count;
    while (above - key > 1) {
        int32_t middle = key + (above - key) / 2;
        if (channel->times[middle] <= time) {
            key = middle;
        } else {
            above = middle;
        }
    }

    *t = 0;
    if (key + 1 < channel->key_count && time > channel->times[key]) {
        *t = (time - channel->times[key]) / (channel->times[key + 1] - channel->times[key]);
    }

    return key;
}

void sn_gltf_sample(const sn_gltf_channel *channel, double time, double *out) {
    size_t n = (size_t)channel->components;
    size_t stride = channel->interpolation == SN_GLTF_CUBIC ? 3 * n : n;

    // The keys around the time.
    double t;
    int32_t key = find_key(channel, time, &t);
    const double *from = channel->values + (size_t)key * stride;
    const double *to = t > 0 ? from + stride : from;

    // Cubic Hermite: each key holds its incoming tangent, its value and its outgoing tangent.
    if (channel->interpolation == SN_GLTF_CUBIC) {
        double step = t > 0 ? channel->times[key + 1] - channel->times[key] : 0;
        double t2 = t * t;
        double t3 = t2 * t;

        for (size_t k = 0; k < n; k++) {
            out[k] = (2 * t3 - 3 * t2 + 1) * from[n + k] +
                     step * (t3 - 2 * t2 + t) * from[2 * n + k] + (3 * t2 - 2 * t3) * to[n + k] +
                     step * (t3 - t2) * to[k];
        }

        return;
    }

    // Steps, rotations on the shortest arc, and straight lines.
    if (channel->interpolation == SN_GLTF_STEP) {
        t = 0;
    }

    if (channel->path == SN_GLTF_ROTATION && t > 0) {
        sn_quat q = sn_quat_slerp((sn_quat){from[0], from[1], from[2], from[3]},
                                  (sn_quat){to[0], to[1], to[2], to[3]}, t);
        out[0] = q.x;
        out[1] = q.y;
        out[2] = q.z;
        out[3] = q.w;

        return;
    }

    for (size_t k = 0; k < n; k++) {
        out[k] = from[k] + t * (to[k] - from[k]);
    }
}

void sn_gltf_pose(const sn_gltf *gltf, int32_t animation, double time, sn_gltf_node *nodes) {
    SN_ASSERT(animation < gltf->animation_count);
    memcpy(nodes, gltf->nodes, (size_t)gltf->node_count * sizeof *nodes);
    if (animation >= 0) {
        for (int32_t i = 0; i < gltf->animations[animation].channel_count; i++) {
            const sn_gltf_channel *channel = &gltf->animations[animation].channels[i];
            sn_gltf_node *node = &nodes[channel->node];
            if (channel->path == SN_GLTF_WEIGHTS) {
                continue;
            }

            sn_gltf_sample(channel, time,
                           channel->path == SN_GLTF_ROTATION ? node->rotation
                           : channel->path == SN_GLTF_SCALE  ? node->scale
                                                             : node->translation);
        }
    }
}

// Product of matrices stored column by column: out = a b.
static void multiply(double out[16], const double a[16], const double b[16]) {
    for (int c = 0; c < 4; c++) {
        for (int r = 0; r < 4; r++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) {
                sum += a[4 * k + r] * b[4 * c + k];
            }
            out[4 * c + r] = sum;
        }
    }
}

static void skin_primitive(const sn_gltf_primitive *p, const double *matrices, double *points) {
    size_t each = 4 * (size_t)p->joint_sets;
    for (size_t i = 0; i < (size_t)p->point_count; i++) {
        const double *X = p->points + 3 * i;
        double x[3] = {0, 0, 0};
        for (size_t k = 0; k < each; k++) {
            const double *m = matrices + 16 * (size_t)p->joints[i * each + k];
            const double weight = p->weights[i * each + k];
            for (int r = 0; r < 3; r++) {
                x[r] += weight * (m[r] * X[0] + m[4 + r] * X[1] + m[8 + r] * X[2] + m[12 + r]);
            }
        }

        memcpy(points + 3 * i, each ? x : X, sizeof x);
    }
}

// Whether one of a node's ancestors is a joint of the skin.
static bool has_joint_above(const sn_gltf *gltf, const sn_gltf_skin *skin, int32_t node) {
    for (node = gltf->nodes[node].parent; node >= 0; node = gltf->nodes[node].parent) {
        for (int32_t i = 0; i < skin->joint_count; i++) {
            if (skin->joints[i] == node) {
                return true;
            }
        }
    }
    return false;
}

void sn_gltf_bind_matrix(const sn_gltf *gltf, int32_t skin, const double *matrices,
                         double out[16]) {
    const sn_gltf_skin *view = &gltf->skins[skin];
    int32_t root = 0;
    while (root + 1 < view->joint_count && has_joint_above(gltf, view, view->joints[root])) {
        root++;
    }

    const double *world = matrices + 16 * (size_t)view->joints[root];
    if (view->inverse_bind) {
        multiply(out, world, view->inverse_bind + 16 * (size_t)root);
    } else {
        static const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
        memcpy(out, identity, sizeof identity);
    }
}

sinew_status sn_gltf_compute_joints(const sn_gltf *gltf, const sn_gltf_node *nodes, int32_t skin,
                                    sn_arena *arena, double **matrices) {
    const sn_gltf_skin *view = &gltf->skins[skin];
    sn_gltf posed = *gltf;
    posed.nodes = nodes;

    double *world = NULL;
    double *out = SN_PUSH(arena, double, 16 * (size_t)view->joint_count);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(sn_gltf_compute_matrices(&posed, arena, &world));
    for (int32_t i = 0; i < view->joint_count; i++) {
        const double *joint = world + 16 * (size_t)view->joints[i];
        if (view->inverse_bind) {
            multiply(out + 16 * (size_t)i, joint, view->inverse_bind + 16 * (size_t)i);
        } else {
            memcpy(out + 16 * (size_t)i, joint, 16 * sizeof *joint);
        }
    }

    *matrices = out;
    return SINEW_OK;
}

sinew_status sn_gltf_skin_points(const sn_gltf *gltf, const sn_gltf_node *nodes, int32_t node,
                                 sn_arena *scratch, double *points) {
    SN_ASSERT(gltf->nodes[node].skin >= 0 && gltf->nodes[node].mesh >= 0);
    const sn_gltf_mesh *mesh = &gltf->meshes[gltf->nodes[node].mesh];
    sn_arena_mark mark = sn_arena_get_mark(scratch);
    double *matrices;
    SN_TRY(sn_gltf_compute_joints(gltf, nodes, gltf->nodes[node].skin, scratch, &matrices));

    for (int32_t i = 0; i < mesh->primitive_count; i++) {
        skin_primitive(&mesh->primitives[i], matrices, points);
        points += 3 * (size_t)mesh->primitives[i].point_count;
    }

    sn_arena_rewind(scratch, mark);
    return SINEW_OK;
}
