// The glTF reader: container, nodes, skins, animations, materials.
#include "io/gltf/access.h"

#include <math.h>
#include <string.h>

enum { MAGIC = 0x46546C67, JSON_CHUNK = 0x4E4F534A, BINARY_CHUNK = 0x004E4942 };

// A header of 12 bytes, then chunks: JSON first, optionally followed by binary data.
static sinew_status open_glb(sn_gltf_reader *r, const char **text, size_t *text_size) {
    const uint8_t *data = r->source->data;
    size_t size = r->source->size;
    if (size < 20) {
        return sn_source_fail(r->context, r->source, SINEW_INVALID_DATA,
                              "%zu bytes; a GLB has at least 20", size);
    }

    uint32_t version = sn_load_u32(data + 4, false);
    uint32_t length = sn_load_u32(data + 8, false);
    if (version != 2) {
        return sn_source_fail(r->context, r->source, SINEW_UNSUPPORTED,
                              "GLB version %u; version 2 is read", version);
    }

    if (length > size) {
        return sn_source_fail(r->context, r->source, SINEW_INVALID_DATA,
                              "the header says %u bytes; the file has %zu", length, size);
    }

    // Walk the chunks; unknown kinds are skipped.
    bool has_json = false;
    for (size_t at = 12; at + 8 <= length;) {
        size_t chunk = sn_load_u32(data + at, false);
        uint32_t kind = sn_load_u32(data + at + 4, false);
        if (chunk > length - at - 8) {
            return sn_source_fail_byte(r->context, r->source, SINEW_INVALID_DATA, data + at,
                                       "a chunk of %zu bytes; %zu are left", chunk,
                                       length - at - 8);
        }

        if (!has_json && kind != JSON_CHUNK) {
            return sn_source_fail_byte(r->context, r->source, SINEW_INVALID_DATA, data + at,
                                       "the first chunk must be JSON");
        }

        if (kind == JSON_CHUNK && !has_json) {
            *text = (const char *)data + at + 8;
            *text_size = chunk;
            has_json = true;
        } else if (kind == BINARY_CHUNK && !r->binary.data) {
            r->binary = (sn_gltf_bytes){data + at + 8, chunk};
        }

        at += 8 + chunk;
    }

    if (!has_json) {
        return sn_source_fail(r->context, r->source, SINEW_INVALID_DATA,
                              "the GLB holds no JSON chunk");
    }

    return SINEW_OK;
}

static sinew_status check_asset(sn_gltf_reader *r) {
    static const char *const known[] = {"KHR_mesh_quantization", "KHR_texture_transform",
                                        "KHR_lights_punctual", "KHR_materials_unlit"};

    const char *version = "";
    if (!sn_json_is(&r->mistakes, r->root, SN_JSON_OBJECT)) {
        return sn_gltf_fail(r);
    }

    const sn_json *asset = sn_json_require(&r->mistakes, r->root, "asset");
    const sn_json *number = sn_json_require(&r->mistakes, asset, "version");
    if (!number || !sn_json_string(&r->mistakes, number, &version)) {
        if (asset) {
            sn_json_is(&r->mistakes, asset, SN_JSON_OBJECT);
        }
        return sn_gltf_fail(r);
    }

    if (version[0] != '2' || version[1] != '.') {
        return SN_GLTF_REFUSE(r, number, "glTF version \"%.10s\"; version 2 is read", version);
    }

    // Extensions that the file requires must be known or irrelevant to geometry.
    const sn_json *required = sn_json_get(r->root, "extensionsRequired");
    if (required && required->kind == SN_JSON_ARRAY) {
        for (int32_t i = 0; i < required->count; i++) {
            const sn_json *extension = &required->items[i];
            const char *name = NULL;
            if (!sn_json_string(&r->mistakes, extension, &name)) {
                return sn_gltf_fail(r);
            }

            bool fine = strncmp(name, "KHR_materials_", 14) == 0;
            for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
                fine = fine || strcmp(name, known[k]) == 0;
            }

            if (!fine) {
                return SN_GLTF_REFUSE(
                    r, extension, "the file needs the extension %.60s, which is not read", name);
            }
        }
    }

    return SINEW_OK;
}

sn_gltf_node sn_gltf_default_node(const char *name) {
    return (sn_gltf_node){name, -1, -1, -1, {0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
}

sn_gltf_node sn_gltf_upright_node(const char *name) {
    sn_gltf_node node = sn_gltf_default_node(name);
    node.rotation[0] = -sqrt(0.5); // (x, y, z) -> (x, z, -y)
    node.rotation[3] = sqrt(0.5);
    return node;
}

// The quaternion of a rotation matrix given by its columns (Shepperd 1978): dividing by the largest
// of the four components is stable.
static void rotation_of(const double m[3][3], double q[4]) {
    // The component with the largest magnitude.
    double trace = m[0][0] + m[1][1] + m[2][2];
    int largest = 3;
    double value = trace;

    for (int i = 0; i < 3; i++) {
        if (m[i][i] > value) {
            value = m[i][i];
            largest = i;
        }
    }

    // All four, up to a common factor.
    if (largest == 3) {
        q[0] = m[1][2] - m[2][1];
        q[1] = m[2][0] - m[0][2];
        q[2] = m[0][1] - m[1][0];
        q[3] = 1 + trace;
    } else {
        int i = largest;
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        q[i] = 1 + m[i][i] - m[j][j] - m[k][k];
        q[j] = m[i][j] + m[j][i];
        q[k] = m[i][k] + m[k][i];
        q[3] = m[j][k] - m[k][j];
    }

    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) {
        q[i] /= length;
    }
}

// Translation, rotation and scale of a matrix without shear; false if a column vanishes.
static bool decompose(const double matrix[16], sn_gltf_node *node) {
    double columns[3][3];

    // The length of each column is the scale.
    for (int c = 0; c < 3; c++) {
        double length = 0;
        for (int k = 0; k < 3; k++) {
            length += matrix[4 * c + k] * matrix[4 * c + k];
        }

        node->scale[c] = sqrt(length);
        if (!(node->scale[c] > 0) || !isfinite(node->scale[c])) {
            return false;
        }

        for (int k = 0; k < 3; k++) {
            columns[c][k] = matrix[4 * c + k] / node->scale[c];
        }

        node->translation[c] = matrix[12 + c];
    }

    double determinant =
        columns[0][0] * (columns[1][1] * columns[2][2] - columns[1][2] * columns[2][1]) -
        columns[0][1] * (columns[1][0] * columns[2][2] - columns[1][2] * columns[2][0]) +
        columns[0][2] * (columns[1][0] * columns[2][1] - columns[1][1] * columns[2][0]);

    // A mirrored matrix: reverse the first axis.
    if (determinant < 0) {
        node->scale[0] = -node->scale[0];

        for (int k = 0; k < 3; k++) {
            columns[0][k] = -columns[0][k];
        }
    }

    rotation_of((const double(*)[3])columns, node->rotation);

    return true;
}

static sinew_status read_transform(sn_gltf_reader *r, const sn_json *json, sn_gltf_node *node) {
    double matrix[16];
    const sn_json *given = sn_json_get(json, "matrix");
    bool good =
        sn_json_numbers(&r->mistakes, sn_json_get(json, "translation"), 3, node->translation) &&
        sn_json_numbers(&r->mistakes, sn_json_get(json, "rotation"), 4, node->rotation) &&
        sn_json_numbers(&r->mistakes, sn_json_get(json, "scale"), 3, node->scale) &&
        sn_json_numbers(&r->mistakes, given, 16, matrix);

    if (!good) {
        return sn_gltf_fail(r);
    }
    if (given && !decompose(matrix, node)) {
        return SN_GLTF_REFUSE(r, given, "the matrix has no inverse");
    }

    // Normalise the rotation.
    double length = 0;
    for (int k = 0; k < 4; k++) {
        length += node->rotation[k] * node->rotation[k];
    }

    length = sqrt(length);
    if (!(length > 1e-6) || !isfinite(length)) {
        return SN_GLTF_REFUSE(r, json, "the rotation must be a unit quaternion");
    }

    for (int k = 0; k < 4; k++) {
        node->rotation[k] /= length;
    }

    return SINEW_OK;
}

// Every node has at most one parent, and there is no cycle.
static sinew_status read_children(sn_gltf_reader *r, const sn_json *nodes, sn_gltf_node *out,
                                  int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        const sn_json *children = sn_json_get(&nodes->items[i], "children");
        if (!sn_json_is(&r->mistakes, children, SN_JSON_ARRAY)) {
            return sn_gltf_fail(r);
        }

        if (children) {
            for (int32_t k = 0; k < children->count; k++) {
                int32_t child;
                SN_TRY(sn_gltf_reference(r, &children->items[k], count, &child));
                if (out[child].parent >= 0 || child == i) {
                    return SN_GLTF_REFUSE(r, &children->items[k],
                                          "node %d has a parent already; the nodes must form trees",
                                          child);
                }

                out[child].parent = i;
            }
        }
    }

    // A node that is not below a root lies on a cycle. Follow the parents of each node up to a root
    // or to a node that is already known.
    int32_t *state =
        SN_PUSH(r->arena, int32_t, count); // 0 unknown, 1 being visited, 2 below a root
    if (!state) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int32_t i = 0; i < count; i++) {
        int32_t at = i;
        while (at >= 0 && state[at] == 0) {
            state[at] = 1;
            at = out[at].parent;
        }

        if (at >= 0 && state[at] == 1) {
            return SN_GLTF_REFUSE(r, &nodes->items[at], "node %d is its own ancestor", at);
        }

        for (at = i; at >= 0 && state[at] == 1; at = out[at].parent) {
            state[at] = 2;
        }
    }

    return SINEW_OK;
}

static sinew_status read_nodes(sn_gltf_reader *r) {
    const sn_json *nodes, *skins;
    int32_t skin_count;
    sn_gltf *view = &r->file->view;

    SN_TRY(sn_gltf_array(r, r->root, "nodes", &nodes, &view->node_count));
    SN_TRY(sn_gltf_array(r, r->root, "skins", &skins, &skin_count));

    sn_gltf_node *out = SN_PUSH(r->arena, sn_gltf_node, view->node_count);
    if (!out) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int32_t i = 0; i < view->node_count; i++) {
        out[i] = sn_gltf_default_node(sn_gltf_name(r, &nodes->items[i]));
        SN_TRY(sn_gltf_refer(r, &nodes->items[i], "mesh", view->mesh_count, &out[i].mesh));
        SN_TRY(sn_gltf_refer(r, &nodes->items[i], "skin", skin_count, &out[i].skin));
        SN_TRY(read_transform(r, &nodes->items[i], &out[i]));
    }

    view->nodes = out;
    return read_children(r, nodes, out, view->node_count);
}

// Marks the nodes that the scene shows: those below its roots, or all if the file has no scene.
static sinew_status read_scene(sn_gltf_reader *r) {
    const sn_json *scenes;
    const sn_gltf *view = &r->file->view;
    int32_t scene_count, scene;
    bool *in_scene = SN_PUSH(r->arena, bool, view->node_count);

    if (!in_scene) {
        return SINEW_OUT_OF_MEMORY;
    }

    r->file->in_scene = in_scene;
    SN_TRY(sn_gltf_array(r, r->root, "scenes", &scenes, &scene_count));
    SN_TRY(sn_gltf_refer(r, r->root, "scene", scene_count, &scene));

    const sn_json *roots =
        scene_count ? sn_json_get(&scenes->items[scene < 0 ? 0 : scene], "nodes") : NULL;
    if (!sn_json_is(&r->mistakes, roots, SN_JSON_ARRAY)) {
        return sn_gltf_fail(r);
    }

    if (roots) {
        for (int32_t i = 0; i < roots->count; i++) {
            int32_t node;
            SN_TRY(sn_gltf_reference(r, &roots->items[i], view->node_count, &node));
            in_scene[node] = true;
        }
    }

    // A node is shown if an ancestor is a root of the scene. Every path is walked only once.
    bool *known = SN_PUSH(r->arena, bool, view->node_count);
    if (!known) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int32_t i = 0; i < view->node_count; i++) {
        int32_t at = i;
        while (!known[at] && !in_scene[at] && view->nodes[at].parent >= 0) {
            at = view->nodes[at].parent;
        }

        bool shown = in_scene[at] || !roots;
        for (int32_t k = i; !known[k]; k = view->nodes[k].parent) {
            known[k] = true;
            in_scene[k] = shown;
            if (k == at) {
                break;
            }
        }
    }

    return SINEW_OK;
}

static sinew_status read_skins(sn_gltf_reader *r) {
    const sn_json *skins;
    sn_gltf *view = &r->file->view;

    SN_TRY(sn_gltf_array(r, r->root, "skins", &skins, &view->skin_count));
    sn_gltf_skin *out = SN_PUSH(r->arena, sn_gltf_skin, view->skin_count);
    if (!out) {
        return SINEW_OUT_OF_MEMORY;
    }

    view->skins = out;
    for (int32_t i = 0; i < view->skin_count; i++) {
        const sn_json *skin = &skins->items[i];
        const sn_json *joints = sn_json_require(&r->mistakes, skin, "joints");
        if (!joints || !sn_json_is(&r->mistakes, joints, SN_JSON_ARRAY)) {
            return sn_gltf_fail(r);
        }

        out[i].name = sn_gltf_name(r, skin);
        out[i].joint_count = joints->count;

        // The nodes of the joints.
        int32_t *nodes = SN_PUSH(r->arena, int32_t, joints->count);
        if (!nodes) {
            return SINEW_OUT_OF_MEMORY;
        }

        out[i].joints = nodes;
        for (int32_t k = 0; k < joints->count; k++) {
            SN_TRY(sn_gltf_reference(r, &joints->items[k], view->node_count, &nodes[k]));
        }

        // One inverse bind matrix for each joint, or none at all.
        int32_t count;
        SN_TRY(sn_gltf_numbers(r, skin, "inverseBindMatrices", 16, &count, &out[i].inverse_bind));
        if (out[i].inverse_bind && count < joints->count) {
            return SN_GLTF_REFUSE(r, skin, "%d inverse bind matrices for %d joints", count,
                                  joints->count);
        }
    }

    return SINEW_OK;
}

// The joint indices of skinned primitives must be valid for every skin that the mesh is shown with.
static sinew_status check_joints(sn_gltf_reader *r) {
    const sn_gltf *view = &r->file->view;

    // For each mesh the skin with the fewest joints, plus one.
    int32_t *smallest = SN_PUSH(r->arena, int32_t, view->mesh_count);

    if (!smallest) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int32_t i = 0; i < view->node_count; i++) {
        const sn_gltf_node *node = &view->nodes[i];
        if (node->mesh < 0 || node->skin < 0) {
            continue;
        }

        int32_t *best = &smallest[node->mesh];
        if (!*best || view->skins[node->skin].joint_count < view->skins[*best - 1].joint_count) {
            *best = node->skin + 1;
        }
    }

    // Check the indices against that skin.
    const sn_json *meshes = sn_json_get(r->root, "meshes");
    for (int32_t i = 0; i < view->mesh_count; i++) {
        if (!smallest[i]) {
            continue;
        }

        int32_t joints = view->skins[smallest[i] - 1].joint_count;
        for (int32_t k = 0; k < view->meshes[i].primitive_count; k++) {
            const sn_gltf_primitive *p = &view->meshes[i].primitives[k];
            for (size_t v = 0; v < 4 * (size_t)p->joint_sets * (size_t)p->point_count; v++) {
                if (p->joints[v] >= 0 && p->joints[v] < joints) {
                    continue;
                }
                return SN_GLTF_REFUSE(r, &meshes->items[i],
                                      "a point refers to joint %d; the skin has %d", p->joints[v],
                                      joints);
            }
        }
    }

    return SINEW_OK;
}

static int32_t weight_count(const sn_gltf *view, int32_t node) {
    if (view->nodes[node].mesh < 0) {
        return 0;
    }
    const sn_gltf_mesh *mesh = &view->meshes[view->nodes[node].mesh];
    return mesh->primitive_count ? mesh->primitives[0].target_count : 0;
}

static sinew_status read_channel(sn_gltf_reader *r, const sn_json *channel, const sn_json *samplers,
                                 int32_t sampler_count, sn_gltf_channel *out) {
    static const char *const paths[] = {"translation", "rotation", "scale", "weights"};
    static const char *const kinds[] = {"LINEAR", "STEP", "CUBICSPLINE"};

    const sn_gltf *view = &r->file->view;
    const sn_json *target = sn_json_require(&r->mistakes, channel, "target");
    int32_t sampler, path = -1, kind = 0, value_count;
    if (!target || !sn_json_is(&r->mistakes, target, SN_JSON_OBJECT)) {
        return sn_gltf_fail(r);
    }

    SN_TRY(sn_gltf_refer(r, channel, "sampler", sampler_count, &sampler));
    SN_TRY(sn_gltf_refer(r, target, "node", view->node_count, &out->node));

    const sn_json *path_json = sn_json_require(&r->mistakes, target, "path");
    if (!path_json || !sn_json_word(&r->mistakes, path_json, paths, 4, &path)) {
        return sn_gltf_fail(r);
    }
    if (sampler < 0) {
        return SN_GLTF_REFUSE(r, channel, "\"sampler\" is missing here");
    }
    if (out->node < 0) {
        return SINEW_OK; // a channel without a node has no effect
    }

    const sn_json *s = &samplers->items[sampler];
    if (!sn_json_word(&r->mistakes, sn_json_get(s, "interpolation"), kinds, 3, &kind)) {
        return sn_gltf_fail(r);
    }

    // Keys and values.
    out->path = (sn_gltf_path)path;
    out->interpolation = (sn_gltf_interpolation)kind;
    out->components = path == SN_GLTF_WEIGHTS    ? weight_count(view, out->node)
                      : path == SN_GLTF_ROTATION ? 4
                                                 : 3;
    SN_TRY(sn_gltf_numbers(r, s, "input", 1, &out->key_count, &out->times));
    SN_TRY(sn_gltf_numbers(r, s, "output", path == SN_GLTF_WEIGHTS ? 1 : out->components,
                           &value_count, &out->values));

    if (!out->times || !out->values) {
        return SN_GLTF_REFUSE(r, s, "a sampler needs \"input\" and \"output\"");
    }

    // Their numbers must match, and times must increase.
    int64_t wanted = (int64_t)out->key_count * (path == SN_GLTF_WEIGHTS ? out->components : 1) *
                     (kind == SN_GLTF_CUBIC ? 3 : 1);
    if (value_count != wanted || out->components == 0) {
        return SN_GLTF_REFUSE(r, s, "%d values for %d keys; %lld are needed", value_count,
                              out->key_count, (long long)wanted);
    }

    for (int32_t i = 0; i < out->key_count; i++) {
        if (out->times[i] >= 0 && (i == 0 || out->times[i] > out->times[i - 1])) {
            continue;
        }
        return SN_GLTF_REFUSE(
            r, s, "the times must not be negative and must increase; key %d does not", i);
    }

    return SINEW_OK;
}

static sinew_status read_animations(sn_gltf_reader *r) {
    const sn_json *animations, *channels, *samplers;
    sn_gltf *view = &r->file->view;

    SN_TRY(sn_gltf_array(r, r->root, "animations", &animations, &view->animation_count));
    sn_gltf_animation *out = SN_PUSH(r->arena, sn_gltf_animation, view->animation_count);
    if (!out) {
        return SINEW_OUT_OF_MEMORY;
    }

    view->animations = out;
    for (int32_t i = 0; i < view->animation_count; i++) {
        // The arrays of one animation.
        int32_t channel_count, sampler_count;
        const sn_json *animation = &animations->items[i];

        SN_TRY(sn_gltf_array(r, animation, "channels", &channels, &channel_count));
        SN_TRY(sn_gltf_array(r, animation, "samplers", &samplers, &sampler_count));

        sn_gltf_channel *list = SN_PUSH(r->arena, sn_gltf_channel, channel_count);
        if (!list) {
            return SINEW_OUT_OF_MEMORY;
        }

        out[i].name = sn_gltf_name(r, animation);
        out[i].channels = list;

        // Channels without a target node are left out.
        for (int32_t k = 0; k < channel_count; k++) {
            sn_gltf_channel *channel = &list[out[i].channel_count];
            *channel = (sn_gltf_channel){0};
            SN_TRY(read_channel(r, &channels->items[k], samplers, sampler_count, channel));
            if (channel->node >= 0) {
                out[i].channel_count++;
            }
        }
    }

    return SINEW_OK;
}

static sinew_status read_materials(sn_gltf_reader *r) {
    // Values that are missing have the format's defaults.
    const sn_json *materials;
    sn_gltf *view = &r->file->view;

    SN_TRY(sn_gltf_array(r, r->root, "materials", &materials, &view->material_count));
    sn_gltf_material *out = SN_PUSH(r->arena, sn_gltf_material, view->material_count);
    if (!out) {
        return SINEW_OUT_OF_MEMORY;
    }

    view->materials = out;
    for (int32_t i = 0; i < view->material_count; i++) {
        const sn_json *material = &materials->items[i];
        const sn_json *surface = sn_json_get(material, "pbrMetallicRoughness");

        out[i] = (sn_gltf_material){sn_gltf_name(r, material), {1, 1, 1, 1}, 1, 1, false};
        bool good = sn_json_numbers(&r->mistakes, sn_json_get(surface, "baseColorFactor"), 4,
                                    out[i].color) &&
                    sn_json_number(&r->mistakes, sn_json_get(surface, "metallicFactor"), 0, 1, "",
                                   &out[i].metallic) &&
                    sn_json_number(&r->mistakes, sn_json_get(surface, "roughnessFactor"), 0, 1, "",
                                   &out[i].roughness) &&
                    sn_json_boolean(&r->mistakes, sn_json_get(material, "doubleSided"),
                                    &out[i].double_sided);

        if (!good) {
            return sn_gltf_fail(r);
        }
    }

    return SINEW_OK;
}

sinew_status sn_gltf_open(sn_gltf_reader *r) {
    const char *text = r->source->data;
    size_t size = r->source->size;

    // A .glb starts with a magic number; anything else is plain JSON.
    if (size >= 4 && sn_load_u32(text, false) == MAGIC) {
        SN_TRY(open_glb(r, &text, &size));
    }

    sn_json_options options = {.name = r->source->name};
    SN_TRY(sn_json_parse(r->context, text, size, &options, &r->mistakes, &r->document));
    r->root = r->document.root;
    SN_TRY(check_asset(r));
    return sn_gltf_load_buffers(r);
}

static sinew_status read_all(sn_gltf_reader *r) {
    SN_TRY(sn_gltf_open(r));
    SN_TRY(read_materials(r));
    SN_TRY(sn_gltf_read_meshes(r));
    SN_TRY(read_nodes(r));
    SN_TRY(read_scene(r));
    SN_TRY(read_skins(r));
    SN_TRY(check_joints(r));
    SN_TRY(read_animations(r));

    return sn_arena_status(r->arena);
}

sinew_status sn_gltf_read(sinew_context *context, const sn_source *source, sn_gltf_file *file) {
    *file = (sn_gltf_file){.arena = sn_arena_create(context)};
    sn_gltf_reader r = {.context = context,
                        .source = source,
                        .file = file,
                        .arena = &file->arena,
                        .mistakes = sn_mistakes_create(context),
                        .document = {.arena = sn_arena_create(context)}};
    sinew_status status = read_all(&r);

    if (status == SINEW_OK && r.mistakes.total) {
        status = sn_gltf_fail(&r);
    }

    sn_json_document_destroy(&r.document);
    sn_mistakes_destroy(&r.mistakes);

    return status;
}

void sn_gltf_file_destroy(sn_gltf_file *file) {
    sn_arena_destroy(&file->arena);
    file->view = (sn_gltf){0};
    file->in_scene = NULL;
}

// T R S, column by column.
static void local_matrix(const sn_gltf_node *node, double m[16]) {
    double x = node->rotation[0];
    double y = node->rotation[1];
    double z = node->rotation[2];
    double w = node->rotation[3];
    const double rotation[3][3] = {
        {1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)},
        {2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)},
        {2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)}}; // columns

    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 3; k++) {
            m[4 * c + k] = rotation[c][k] * node->scale[c];
        }
        m[4 * c + 3] = 0;
        m[12 + c] = node->translation[c];
    }

    m[15] = 1;
}

static void multiply(double out[16], const double a[16], const double b[16]) {
    for (int c = 0; c < 4; c++) {
        for (int row = 0; row < 4; row++) {
            out[4 * c + row] = 0;
            for (int k = 0; k < 4; k++) {
                out[4 * c + row] += a[4 * k + row] * b[4 * c + k];
            }
        }
    }
}

sinew_status sn_gltf_compute_matrices(const sn_gltf *gltf, sn_arena *arena, double **matrices) {
    size_t count = (size_t)gltf->node_count;
    double *out = SN_PUSH(arena, double, 16 * count);
    bool *known = SN_PUSH(arena, bool, count);
    int32_t *path = SN_PUSH(arena, int32_t, count);

    SN_TRY(sn_arena_status(arena));

    // Walk up to the first ancestor that is known, then down again.
    for (int32_t i = 0; i < gltf->node_count; i++) {
        int32_t depth = 0;
        for (int32_t at = i; at >= 0 && !known[at]; at = gltf->nodes[at].parent) {
            path[depth++] = at;
        }

        while (depth > 0) {
            int32_t at = path[--depth];
            int32_t parent = gltf->nodes[at].parent;
            double local[16];
            local_matrix(&gltf->nodes[at], local);
            if (parent < 0) {
                memcpy(out + 16 * (size_t)at, local, sizeof local);
            } else {
                multiply(out + 16 * (size_t)at, out + 16 * (size_t)parent, local);
            }
            known[at] = true;
        }
    }

    *matrices = out;
    return SINEW_OK;
}
