// Meshes of glTF: attributes, strips and fans as triangles, joints and weights, morph targets.
#include "io/gltf/access.h"

#include <string.h>

enum { POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, STRIP, FAN };

// Attributes must have one element for each point.
static sinew_status read_attribute(sn_gltf_reader *r, const sn_json *attributes, const char *key,
                                   int32_t components, int32_t points, const double **out) {
    int32_t count;
    SN_TRY(sn_gltf_numbers(r, attributes, key, components, &count, out));
    if (!*out || count == points) {
        return SINEW_OK;
    }

    return SN_GLTF_REFUSE(r, sn_json_get(attributes, key), "%s has %d elements; POSITION has %d",
                          key, count, points);
}

static sinew_status read_skinning(sn_gltf_reader *r, const sn_json *attributes,
                                  sn_gltf_primitive *p) {
    static const char *const joint_keys[] = {"JOINTS_0", "JOINTS_1"};
    static const char *const weight_keys[] = {"WEIGHTS_0", "WEIGHTS_1"};

    const int32_t *joints[2] = {NULL, NULL};
    const double *weights[2] = {NULL, NULL};

    // Up to two sets of four joints.
    for (int set = 0; set < 2; set++) {
        int32_t count;
        SN_TRY(sn_gltf_integers(r, attributes, joint_keys[set], 4, &count, &joints[set]));
        SN_TRY(read_attribute(r, attributes, weight_keys[set], 4, p->point_count, &weights[set]));

        if (!joints[set] != !weights[set] || (joints[set] && count != p->point_count)) {
            return SN_GLTF_REFUSE(r, attributes, "%s and %s must both be there, one for each point",
                                  joint_keys[set], weight_keys[set]);
        }

        if (!joints[set]) {
            break;
        }

        p->joint_sets = set + 1;
    }

    if (p->joint_sets < 2) {
        p->joints = joints[0];
        p->weights = weights[0];
        return SINEW_OK;
    }

    // Interleave the two sets.
    SN_TRY(sn_gltf_spend(r, attributes, 96 * (uint64_t)p->point_count));
    int32_t *all_joints = SN_PUSH(r->arena, int32_t, 8 * (size_t)p->point_count);
    double *all_weights = SN_PUSH(r->arena, double, 8 * (size_t)p->point_count);
    if (!all_joints || !all_weights) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (size_t i = 0; i < (size_t)p->point_count; i++) {
        for (size_t set = 0; set < 2; set++) {
            memcpy(all_joints + 8 * i + 4 * set, joints[set] + 4 * i, 4 * sizeof(int32_t));
            memcpy(all_weights + 8 * i + 4 * set, weights[set] + 4 * i, 4 * sizeof(double));
        }
    }

    p->joints = all_joints;
    p->weights = all_weights;

    return SINEW_OK;
}

static sinew_status read_targets(sn_gltf_reader *r, const sn_json *primitive,
                                 sn_gltf_primitive *p) {
    const sn_json *targets;
    SN_TRY(sn_gltf_array(r, primitive, "targets", &targets, &p->target_count));

    const double **all = SN_PUSH(r->arena, const double *, p->target_count);
    if (!all) {
        return SINEW_OUT_OF_MEMORY;
    }

    const double *zeros = NULL; // for targets without positions
    for (int32_t i = 0; i < p->target_count; i++) {
        // A target without positions moves nothing: all of them share one array of zeros.
        SN_TRY(read_attribute(r, &targets->items[i], "POSITION", 3, p->point_count, &all[i]));
        if (!all[i] && !zeros) {
            SN_TRY(sn_gltf_spend(r, primitive, 24 * (uint64_t)p->point_count));
            zeros = SN_PUSH(r->arena, double, 3 * (size_t)p->point_count);
        }

        if (!all[i]) {
            all[i] = zeros;
        }
        if (!all[i]) {
            return SINEW_OUT_OF_MEMORY;
        }
    }

    p->targets = all;
    return SINEW_OK;
}

// Strips and fans are converted to separate triangles (glTF 2.0, 3.7.2.1).
static sinew_status make_triangles(sn_gltf_reader *r, int32_t mode, const int32_t *given,
                                   int32_t count, sn_gltf_primitive *p) {
    int32_t triangles = mode == TRIANGLES ? count / 3 : count > 2 ? count - 2 : 0;
    p->index_count = 3 * triangles;
    if (mode == TRIANGLES && given) {
        p->indices = given;
        return SINEW_OK;
    }

    int32_t *indices = SN_PUSH(r->arena, int32_t, p->index_count);
    if (!indices) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Corners of triangle i; in a strip every other one is reversed.
    for (int32_t i = 0; i < triangles; i++) {
        int32_t corners[3] = {i, i + 1 + i % 2, i + 2 - i % 2};
        if (mode == TRIANGLES) {
            for (int32_t k = 0; k < 3; k++) {
                corners[k] = 3 * i + k;
            }
        } else if (mode == FAN) {
            corners[0] = i + 1;
            corners[1] = i + 2;
            corners[2] = 0;
        }

        for (int k = 0; k < 3; k++) {
            indices[3 * i + k] = given ? given[corners[k]] : corners[k];
        }
    }

    p->indices = indices;
    return SINEW_OK;
}

static sinew_status read_primitive(sn_gltf_reader *r, const sn_json *primitive,
                                   sn_gltf_primitive *p) {
    const sn_json *attributes = sn_json_require(&r->mistakes, primitive, "attributes");
    if (!attributes) {
        return sn_gltf_fail(r);
    }

    int32_t mode, count;
    const int32_t *given;

    SN_TRY(sn_gltf_integer(r, primitive, "mode", POINTS, FAN, TRIANGLES, &mode));
    SN_TRY(sn_gltf_refer(r, primitive, "material", r->file->view.material_count, &p->material));
    SN_TRY(sn_gltf_numbers(r, attributes, "POSITION", 3, &p->point_count, &p->points));
    if (!p->points) {
        return SN_GLTF_REFUSE(r, attributes, "\"POSITION\" is missing here");
    }

    SN_TRY(read_attribute(r, attributes, "NORMAL", 3, p->point_count, &p->normals));
    SN_TRY(read_attribute(r, attributes, "TEXCOORD_0", 2, p->point_count, &p->uvs));
    SN_TRY(read_skinning(r, attributes, p));
    SN_TRY(read_targets(r, primitive, p));
    SN_TRY(sn_gltf_integers(r, primitive, "indices", 1, &count, &given));

    // Triangles made from strips count, too.
    SN_TRY(sn_gltf_spend(r, primitive, 12 * (uint64_t)(given ? count : p->point_count)));

    for (int32_t i = 0; i < count; i++) {
        if (given[i] >= 0 && given[i] < p->point_count) {
            continue;
        }
        return SN_GLTF_REFUSE(r, primitive, "index %d is beyond the %d points", i, p->point_count);
    }

    if (!given) {
        count = p->point_count;
    }
    if (mode < TRIANGLES) {
        return SINEW_OK; // points and lines have no triangles
    }

    return make_triangles(r, mode, given, count, p);
}

sinew_status sn_gltf_read_meshes(sn_gltf_reader *r) {
    const sn_json *meshes, *primitives;
    sn_gltf *view = &r->file->view;

    SN_TRY(sn_gltf_array(r, r->root, "meshes", &meshes, &view->mesh_count));
    sn_gltf_mesh *out = SN_PUSH(r->arena, sn_gltf_mesh, view->mesh_count);
    if (!out) {
        return SINEW_OUT_OF_MEMORY;
    }

    view->meshes = out;
    for (int32_t i = 0; i < view->mesh_count; i++) {
        out[i].name = sn_gltf_name(r, &meshes->items[i]);
        SN_TRY(sn_gltf_array(r, &meshes->items[i], "primitives", &primitives,
                             &out[i].primitive_count));

        // The primitives of the mesh.
        sn_gltf_primitive *p = SN_PUSH(r->arena, sn_gltf_primitive, out[i].primitive_count);
        if (!p) {
            return SINEW_OUT_OF_MEMORY;
        }

        out[i].primitives = p;
        for (int32_t k = 0; k < out[i].primitive_count; k++) {
            SN_TRY(read_primitive(r, &primitives->items[k], &p[k]));
        }
    }

    return SINEW_OK;
}
