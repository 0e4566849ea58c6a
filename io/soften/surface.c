// The surface of a character: all meshes of the first skin, with the artist's weights.
#include "io/gltf/skin.h"
#include "io/soften/softener.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Whether a node shows a mesh by the first skin, and is the first to show it.
static bool is_soft(const sn_softener *s, int32_t node) {
    const sn_gltf_node *nodes = s->gltf->nodes;
    if (nodes[node].skin != 0 || nodes[node].mesh < 0) {
        return false;
    }
    for (int32_t i = 0; i < node; i++) {
        if (nodes[i].skin == 0 && nodes[i].mesh == nodes[node].mesh) {
            return false;
        }
    }
    return true;
}

// A mesh that another skin shows as well cannot get flesh for both.
static sinew_status check_skins(const sn_softener *s, int32_t node) {
    for (int32_t i = 0; i < s->gltf->node_count; i++) {
        if (s->gltf->nodes[i].mesh == s->gltf->nodes[node].mesh && s->gltf->nodes[i].skin != 0) {
            return sn_source_fail(s->context, s->source, SINEW_UNSUPPORTED,
                                  "mesh %d is shown by node %d with the first skin and by node %d "
                                  "without it; give each node a mesh of its own",
                                  (int)s->gltf->nodes[node].mesh, (int)node, (int)i);
        }
    }
    return SINEW_OK;
}

static bool follows_joints(const sn_gltf_primitive *primitive) {
    return primitive->joint_sets > 0 && primitive->joints && primitive->weights &&
           primitive->point_count > 0;
}

static sinew_status count_parts(sn_softener *s) {
    int64_t points = 0, indices = 0;

    // Primitives that follow the first skin; others stay as they are.
    for (int32_t i = 0; i < s->gltf->node_count; i++) {
        if (!is_soft(s, i)) {
            continue;
        }
        SN_TRY(check_skins(s, i));
        const sn_gltf_mesh *mesh = &s->gltf->meshes[s->gltf->nodes[i].mesh];
        s->report->meshes++;
        for (int32_t k = 0; k < mesh->primitive_count; k++) {
            if (follows_joints(&mesh->primitives[k])) {
                s->part_count++;
                points += mesh->primitives[k].point_count;
                indices += mesh->primitives[k].index_count;
            }
        }
    }

    if (s->part_count == 0) {
        return sn_source_fail(
            s->context, s->source, SINEW_NOT_FOUND,
            "it has no skinned mesh; `sinew rig` makes one soft that has no skin");
    }
    if (points > INT32_MAX / 8 || indices > INT32_MAX / 8 ||
        points * s->skin->joint_count > INT32_MAX) {
        return sn_source_fail(s->context, s->source, SINEW_UNSUPPORTED,
                              "%lld points that follow %d joints are too many", (long long)points,
                              (int)s->skin->joint_count);
    }

    // Room for all of them.
    s->parts = SN_PUSH(s->arena, sn_soft_part, s->part_count);
    s->points = SN_PUSH(s->arena, double, 3 * points);
    s->normals = SN_PUSH(s->arena, double, 3 * points);
    s->rest = SN_PUSH(s->arena, double, 3 * points);
    s->weights = SN_PUSH(s->arena, double, points * s->skin->joint_count);
    s->indices = SN_PUSH(s->arena, int32_t, indices);

    return sn_arena_status(s->arena);
}

static sinew_status add_part(sn_softener *s, int32_t mesh, int32_t number) {
    const sn_gltf_primitive *primitive = &s->gltf->meshes[mesh].primitives[number];
    size_t joints = (size_t)s->skin->joint_count;
    size_t each = 4 * (size_t)primitive->joint_sets;
    int32_t first = s->point_count;

    s->parts[s->part_count++] = (sn_soft_part){mesh, number, first};

    // Points and triangles.
    memcpy(s->points + 3 * (size_t)first, primitive->points,
           3 * (size_t)primitive->point_count * sizeof(double));
    if (primitive->normals) {
        memcpy(s->normals + 3 * (size_t)first, primitive->normals,
               3 * (size_t)primitive->point_count * sizeof(double));
    }
    for (int32_t i = 0; i < primitive->index_count; i++) {
        s->indices[s->index_count++] = first + primitive->indices[i];
    }

    // Weights as full rows, normalized: files round them.
    for (int32_t i = 0; i < primitive->point_count; i++) {
        double *row = s->weights + (size_t)(first + i) * joints;
        double sum = 0;
        for (size_t k = (size_t)i * each; k < (size_t)(i + 1) * each; k++) {
            row[primitive->joints[k]] += primitive->weights[k];
            sum += primitive->weights[k];
        }
        if (!(sum > 0)) {
            return sn_source_fail(s->context, s->source, SINEW_INVALID_DATA,
                                  "vertex %d of mesh %d has no weights", (int)i, (int)mesh);
        }
        for (size_t j = 0; j < joints; j++) {
            row[j] /= sum;
        }
    }

    s->point_count += primitive->point_count;
    return SINEW_OK;
}

// S = sum_k w_k M_k, as matrix and translation.
void sn_soft_blend(const double *matrices, int32_t count, const int32_t *joints,
                   const double *weights, sn_mat3 *S, sn_vec3 *t) {
    *S = (sn_mat3){{{0}}};
    *t = sn_v3(0, 0, 0);
    for (int32_t k = 0; k < count; k++) {
        const double *m = matrices + 16 * (size_t)joints[k];
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++) {
                S->m[r][c] += weights[k] * m[4 * c + r];
            }
        }
        *t = sn_madd(*t, weights[k], sn_v3(m[12], m[13], m[14]));
    }
}

void sn_soft_blend_point(const sn_softener *s, const double *matrices, int32_t point, sn_mat3 *S,
                         sn_vec3 *t) {
    const double *row = s->weights + (size_t)point * (size_t)s->skin->joint_count;
    int32_t joints[64], count = 0;
    double weights[64];
    for (int32_t j = 0; j < s->skin->joint_count && count < 64; j++) {
        if (row[j] > 0) {
            joints[count] = j;
            weights[count++] = row[j];
        }
    }
    sn_soft_blend(matrices, count, joints, weights, S, t);
}

sinew_status sn_soft_pose(sn_softener *s, double time, double **matrices) {
    sn_gltf_pose(s->gltf, s->animation, time, s->nodes);
    return sn_gltf_compute_joints(s->gltf, s->nodes, 0, s->arena, matrices);
}

// The scale from the mesh to the scene, by the joints as they stand without an animation.
static sinew_status find_unit(sn_softener *s) {
    double *matrices;
    sn_arena_mark mark = sn_arena_get_mark(s->arena);
    SN_TRY(sn_gltf_compute_joints(s->gltf, s->gltf->nodes, 0, s->arena, &matrices));

    // Joints may scale the mesh; volume is what the flesh feels.
    double smallest = INFINITY, largest = 0;
    for (int32_t j = 0; j < s->skin->joint_count; j++) {
        sn_mat3 S;
        sn_vec3 t;
        sn_soft_blend(matrices, 1, &j, &(double){1}, &S, &t);
        double scale = cbrt(fabs(sn_mat3_det(S)));
        smallest = fmin(smallest, scale);
        largest = fmax(largest, scale);
    }
    sn_arena_rewind(s->arena, mark);

    if (!(smallest > 1e-9) || !isfinite(largest)) {
        return sn_source_fail(s->context, s->source, SINEW_INVALID_DATA,
                              "its joints have a scale of %g; it must be above 0", smallest);
    }

    // The flesh lives in metres.
    s->unit = s->def->unit * largest;
    for (int32_t i = 0; i < 3 * s->point_count; i++) {
        s->rest[i] = s->unit * s->points[i];
        if (!isfinite(s->rest[i])) {
            return sn_source_fail(s->context, s->source, SINEW_INVALID_DATA,
                                  "vertex %d is not finite", (int)(i / 3));
        }
    }

    return SINEW_OK;
}

static void add_name(char *list, size_t size, const char *name) {
    size_t used = strlen(list);
    int length = snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
    if (length < 0 || (size_t)length >= size - used) {
        memcpy(list + size - 4, "...", 4);
    }
}

// Joints that no vertex follows have no flesh.
static void find_bare_joints(sn_softener *s) {
    for (int32_t j = 0; j < s->skin->joint_count; j++) {
        bool bare = true;
        for (int32_t i = 0; i < s->point_count && bare; i++) {
            bare = s->weights[(size_t)i * (size_t)s->skin->joint_count + (size_t)j] == 0;
        }
        if (bare) {
            const char *name = s->gltf->nodes[s->skin->joints[j]].name;
            s->report->bare_joints++;
            add_name(s->report->bare_names, sizeof s->report->bare_names, name ? name : "unnamed");
        }
    }
}

sinew_status sn_soft_collect_surface(sn_softener *s) {
    SN_TRY(count_parts(s));

    // Fill what was counted, in the same order.
    s->part_count = 0;
    for (int32_t i = 0; i < s->gltf->node_count; i++) {
        if (!is_soft(s, i)) {
            continue;
        }
        int32_t mesh = s->gltf->nodes[i].mesh;
        for (int32_t k = 0; k < s->gltf->meshes[mesh].primitive_count; k++) {
            if (follows_joints(&s->gltf->meshes[mesh].primitives[k])) {
                SN_TRY(add_part(s, mesh, k));
            }
        }
    }

    s->report->points = s->point_count;
    s->report->joints = s->skin->joint_count;
    s->report->other_skins = s->gltf->skin_count - 1;

    find_bare_joints(s);
    return find_unit(s);
}
