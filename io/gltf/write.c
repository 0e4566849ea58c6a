// The GLB writer. One pass over the data fills the binary chunk and the lists of views and
// accessors; the JSON is assembled at the end. Each array has its own view, aligned to four bytes.
// Weights that show one morph target after the other are written as a sparse accessor: n images
// take n entries instead of n * n.
#include "io/gltf/gltf.h"

#include "io/text/json_write.h"

#include <math.h>
#include <string.h>

enum {
    UNSIGNED_SHORT = 5123,
    UNSIGNED_INT = 5125,
    FLOAT = 5126,
    VERTICES = 34962,
    INDICES = 34963
};

typedef struct writer {
    const sn_gltf *gltf;
    sn_buffer binary;
    sn_buffer views, accessors, meshes, skins, animations; // JSON text of these arrays
    sn_json_writer view_json, accessor_json, mesh_json, skin_json, animation_json;
    int32_t view_count, accessor_count;
    int32_t *first_child,
        *next_sibling; // of each node; -1 ends a list; entry node_count: the roots
} writer;

static void write_key_integer(sn_json_writer *json, const char *key, int64_t value) {
    sn_json_write_key(json, key);
    sn_json_write_integer(json, value);
}

static void write_key_string(sn_json_writer *json, const char *key, const char *value) {
    sn_json_write_key(json, key);
    sn_json_write_string(json, value);
}

static void write_name(sn_json_writer *json, const char *name) {
    if (name && *name) {
        write_key_string(json, "name", name);
    }
}

// The bounds of an accessor, of the numbers after conversion to float.
static void write_bounds(sn_json_writer *json, const float *values, size_t count, int components) {
    float low[16], high[16];
    for (int k = 0; k < components; k++) {
        low[k] = high[k] = values[k];
    }

    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < components; k++) {
            float value = values[i * (size_t)components + (size_t)k];
            low[k] = fminf(low[k], value);
            high[k] = fmaxf(high[k], value);
        }
    }

    for (int side = 0; side < 2; side++) {
        sn_json_write_key(json, side ? "max" : "min");
        sn_json_begin_array(json);
        for (int k = 0; k < components; k++) {
            sn_json_write_float(json, (double)(side ? high[k] : low[k]));
        }
        sn_json_end_array(json);
    }
}

// A view of the bytes from `offset` to the end of the binary chunk. Returns its index.
static int32_t add_view(writer *w, size_t offset, int target) {
    sn_json_writer *view = &w->view_json;
    sn_json_begin_object(view);
    write_key_integer(view, "buffer", 0);
    write_key_integer(view, "byteOffset", (int64_t)offset);
    write_key_integer(view, "byteLength", (int64_t)(w->binary.size - offset));
    if (target) {
        write_key_integer(view, "target", target);
    }

    sn_json_end_object(view);
    sn_buffer_align(&w->binary, 4, 0);

    return w->view_count++;
}

// An accessor on the bytes from `offset` to the end of the binary chunk. Returns its index.
static int32_t add_accessor(writer *w, size_t offset, int type, int components, size_t count,
                            int target, bool bounds) {
    static const char *const names[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    sn_json_writer *json = &w->accessor_json;

    sn_json_begin_object(json);
    write_key_integer(json, "bufferView", add_view(w, offset, target));
    write_key_integer(json, "componentType", type);
    write_key_integer(json, "count", (int64_t)count);
    write_key_string(json, "type", components == 16 ? "MAT4" : names[components]);

    if (bounds && !w->binary.failed) {
        write_bounds(json, (const float *)(const void *)(w->binary.data + offset), count,
                     components);
    }

    sn_json_end_object(json);
    return w->accessor_count++;
}

// Weights that are all 0, except that the weight of target k - 1 at key k is 1.
static int32_t add_one_by_one(writer *w, uint32_t targets) {
    size_t indices = w->binary.size;
    for (uint32_t k = 0; k < targets; k++) {
        sn_buffer_add_u32(&w->binary, (k + 1) * targets + k);
    }
    int32_t index_view = add_view(w, indices, 0);

    size_t values = w->binary.size;
    for (uint32_t k = 0; k < targets; k++) {
        sn_buffer_add_f32(&w->binary, 1);
    }
    int32_t value_view = add_view(w, values, 0);

    // A sparse accessor without a base is zero everywhere else.
    sn_json_writer *json = &w->accessor_json;
    sn_json_begin_object(json);
    write_key_integer(json, "componentType", FLOAT);
    write_key_integer(json, "count", (int64_t)targets * (targets + 1));
    write_key_string(json, "type", "SCALAR");
    sn_json_write_key(json, "sparse");
    sn_json_begin_object(json);
    write_key_integer(json, "count", targets);
    sn_json_write_key(json, "indices");
    sn_json_begin_object(json);
    write_key_integer(json, "bufferView", index_view);
    write_key_integer(json, "componentType", UNSIGNED_INT);
    sn_json_end_object(json);
    sn_json_write_key(json, "values");
    sn_json_begin_object(json);
    write_key_integer(json, "bufferView", value_view);
    sn_json_end_object(json);
    sn_json_end_object(json);
    sn_json_end_object(json);

    return w->accessor_count++;
}

static int32_t add_floats(writer *w, const double *values, int components, size_t count, int target,
                          bool bounds) {
    size_t offset = w->binary.size;
    sn_buffer_add_f32s(&w->binary, values, count * (size_t)components);
    return add_accessor(w, offset, FLOAT, components, count, target, bounds);
}

// Normalised vectors; a zero vector becomes the axis `fallback`.
static int32_t add_unit(writer *w, const double *values, int components, size_t count, int fallback,
                        int target) {
    size_t offset = w->binary.size;
    for (size_t i = 0; i < count; i++) {
        double unit[4] = {0, 0, 0, 0};
        double length = 0;
        for (int k = 0; k < components; k++) {
            length += values[i * (size_t)components + (size_t)k] *
                      values[i * (size_t)components + (size_t)k];
        }

        length = sqrt(length);
        bool good = length > 0 && isfinite(length);
        for (int k = 0; k < components; k++) {
            unit[k] = good ? values[i * (size_t)components + (size_t)k] / length : k == fallback;
        }

        sn_buffer_add_f32s(&w->binary, unit, (size_t)components);
    }

    return add_accessor(w, offset, FLOAT, components, count, target, false);
}

static int32_t add_indices(writer *w, const int32_t *indices, size_t count, int32_t point_count) {
    size_t offset = w->binary.size;
    bool wide = point_count > 65535;
    for (size_t i = 0; i < count; i++) {
        if (wide) {
            sn_buffer_add_i32(&w->binary, indices[i]);
        } else {
            sn_buffer_add_u16(&w->binary, (uint16_t)indices[i]);
        }
    }

    return add_accessor(w, offset, wide ? UNSIGNED_INT : UNSIGNED_SHORT, 1, count, INDICES, false);
}

// Joints and weights of all sets. The weights of a point are normalised over all its sets. A joint
// with zero weight is written as 0, as the format requires.
static void add_skinning(writer *w, const sn_gltf_primitive *p, sn_json_writer *json) {
    static const char *const joint_keys[] = {"JOINTS_0", "JOINTS_1"};
    static const char *const weight_keys[] = {"WEIGHTS_0", "WEIGHTS_1"};

    size_t each = 4 * (size_t)p->joint_sets;
    for (int set = 0; set < p->joint_sets; set++) {
        size_t offset = w->binary.size;
        for (size_t i = 0; i < (size_t)p->point_count; i++) {
            for (size_t k = 0; k < 4; k++) {
                size_t at = i * each + 4 * (size_t)set + k;
                sn_buffer_add_u16(&w->binary, p->weights[at] > 0 ? (uint16_t)p->joints[at] : 0);
            }
        }

        write_key_integer(
            json, joint_keys[set],
            add_accessor(w, offset, UNSIGNED_SHORT, 4, (size_t)p->point_count, VERTICES, false));
        offset = w->binary.size;

        // A point without any weight follows joint 0.
        for (size_t i = 0; i < (size_t)p->point_count; i++) {
            double sum = 0;
            for (size_t k = 0; k < each; k++) {
                sum += p->weights[i * each + k] > 0 ? p->weights[i * each + k] : 0;
            }

            for (size_t k = 0; k < 4; k++) {
                double weight = p->weights[i * each + 4 * (size_t)set + k];
                sn_buffer_add_f32(&w->binary, (float)(weight > 0            ? weight / sum
                                                      : sum > 0 || set || k ? 0
                                                                            : 1));
            }
        }

        write_key_integer(
            json, weight_keys[set],
            add_accessor(w, offset, FLOAT, 4, (size_t)p->point_count, VERTICES, false));
    }
}

static void add_primitive(writer *w, const sn_gltf_primitive *p) {
    sn_json_writer *json = &w->mesh_json;
    size_t points = (size_t)p->point_count;

    sn_json_begin_object(json);
    sn_json_write_key(json, "attributes");
    sn_json_begin_object(json);
    write_key_integer(json, "POSITION", add_floats(w, p->points, 3, points, VERTICES, true));

    // Optional attributes.
    if (p->normals) {
        write_key_integer(json, "NORMAL", add_unit(w, p->normals, 3, points, 2, VERTICES));
    }
    if (p->uvs) {
        write_key_integer(json, "TEXCOORD_0", add_floats(w, p->uvs, 2, points, VERTICES, false));
    }
    if (p->joint_sets) {
        add_skinning(w, p, json);
    }

    sn_json_end_object(json);
    write_key_integer(json, "indices",
                      add_indices(w, p->indices, (size_t)p->index_count, p->point_count));
    if (p->material >= 0) {
        write_key_integer(json, "material", p->material);
    }

    // Morph targets.
    if (p->target_count) {
        sn_json_write_key(json, "targets");
        sn_json_begin_array(json);
        for (int32_t i = 0; i < p->target_count; i++) {
            sn_json_begin_object(json);
            write_key_integer(json, "POSITION",
                              add_floats(w, p->targets[i], 3, points, VERTICES, true));
            if (p->target_normals) {
                write_key_integer(json, "NORMAL",
                                  add_floats(w, p->target_normals[i], 3, points, VERTICES, true));
            }
            sn_json_end_object(json);
        }

        sn_json_end_array(json);
    }

    sn_json_end_object(json);
}

static void add_meshes(writer *w) {
    sn_json_writer *json = &w->mesh_json;
    for (int32_t i = 0; i < w->gltf->mesh_count; i++) {
        const sn_gltf_mesh *mesh = &w->gltf->meshes[i];
        sn_json_begin_object(json);
        write_name(json, mesh->name);
        sn_json_write_key(json, "primitives");
        sn_json_begin_array(json);

        for (int32_t k = 0; k < mesh->primitive_count; k++) {
            add_primitive(w, &mesh->primitives[k]);
        }

        sn_json_end_array(json);

        // Morph targets start without weight.
        int32_t targets = mesh->primitive_count ? mesh->primitives[0].target_count : 0;
        if (targets) {
            sn_json_write_key(json, "weights");
            sn_json_begin_array(json);
            for (int32_t k = 0; k < targets; k++) {
                sn_json_write_integer(json, 0);
            }
            sn_json_end_array(json);
        }

        sn_json_end_object(json);
    }
}

static void add_skins(writer *w) {
    sn_json_writer *json = &w->skin_json;
    for (int32_t i = 0; i < w->gltf->skin_count; i++) {
        const sn_gltf_skin *skin = &w->gltf->skins[i];
        sn_json_begin_object(json);
        write_name(json, skin->name);

        if (skin->inverse_bind) {
            // The last row of each matrix is exactly 0 0 0 1.
            size_t offset = w->binary.size;
            for (size_t k = 0; k < 16 * (size_t)skin->joint_count; k++) {
                sn_buffer_add_f32(&w->binary, k % 4 == 3 ? (k % 16 == 15 ? 1.0f : 0.0f)
                                                         : (float)skin->inverse_bind[k]);
            }
            write_key_integer(
                json, "inverseBindMatrices",
                add_accessor(w, offset, FLOAT, 16, (size_t)skin->joint_count, 0, false));
        }

        sn_json_write_key(json, "joints");
        sn_json_begin_array(json);
        for (int32_t k = 0; k < skin->joint_count; k++) {
            sn_json_write_integer(json, skin->joints[k]);
        }

        sn_json_end_array(json);
        sn_json_end_object(json);
    }
}

static void add_samplers(writer *w, const sn_gltf_animation *animation) {
    static const char *const kinds[] = {"LINEAR", "STEP", "CUBICSPLINE"};
    sn_json_writer *json = &w->animation_json;
    const double *times = NULL;
    int32_t times_accessor = -1, times_count = 0;

    for (int32_t i = 0; i < animation->channel_count; i++) {
        const sn_gltf_channel *c = &animation->channels[i];
        // Channels that share their times share the accessor.
        if (c->times != times || c->key_count != times_count) {
            times_accessor = add_floats(w, c->times, 1, (size_t)c->key_count, 0, true);
            times = c->times;
            times_count = c->key_count;
        }

        // The values; rotations are normalised.
        size_t count = (size_t)c->key_count * (c->interpolation == SN_GLTF_CUBIC ? 3 : 1);
        int32_t output;
        if (c->path == SN_GLTF_WEIGHTS && !c->values) {
            output = add_one_by_one(w, (uint32_t)c->components);
        } else if (c->path == SN_GLTF_WEIGHTS) {
            output = add_floats(w, c->values, 1, count * (size_t)c->components, 0, false);
        } else if (c->path == SN_GLTF_ROTATION && c->interpolation != SN_GLTF_CUBIC) {
            output = add_unit(w, c->values, 4, count, 3, 0);
        } else {
            output = add_floats(w, c->values, c->components, count, 0, false);
        }

        sn_json_begin_object(json);
        write_key_integer(json, "input", times_accessor);
        write_key_string(json, "interpolation", kinds[c->interpolation]);
        write_key_integer(json, "output", output);
        sn_json_end_object(json);
    }
}

static void add_animations(writer *w) {
    static const char *const paths[] = {"translation", "rotation", "scale", "weights"};
    sn_json_writer *json = &w->animation_json;
    for (int32_t i = 0; i < w->gltf->animation_count; i++) {
        const sn_gltf_animation *animation = &w->gltf->animations[i];
        if (animation->channel_count == 0) {
            continue;
        }

        sn_json_begin_object(json);
        write_name(json, animation->name);

        // Samplers: the keys.
        sn_json_write_key(json, "samplers");
        sn_json_begin_array(json);
        add_samplers(w, animation);
        sn_json_end_array(json);

        // Channels: what each sampler moves.
        sn_json_write_key(json, "channels");
        sn_json_begin_array(json);

        for (int32_t k = 0; k < animation->channel_count; k++) {
            sn_json_begin_object(json);
            write_key_integer(json, "sampler", k);
            sn_json_write_key(json, "target");
            sn_json_begin_object(json);
            write_key_integer(json, "node", animation->channels[k].node);
            write_key_string(json, "path", paths[animation->channels[k].path]);
            sn_json_end_object(json);
            sn_json_end_object(json);
        }

        sn_json_end_array(json);
        sn_json_end_object(json);
    }
}

static void write_floats(sn_json_writer *json, const char *key, const double *values, int count) {
    sn_json_write_key(json, key);
    sn_json_begin_array(json);
    for (int i = 0; i < count; i++) {
        sn_json_write_float(json, values[i]);
    }
    sn_json_end_array(json);
}

static void link_children(writer *w) {
    int32_t count = w->gltf->node_count;
    for (int32_t i = 0; i <= count; i++) {
        w->first_child[i] = -1;
    }

    for (int32_t i = count - 1; i >= 0; i--) {
        int32_t parent = w->gltf->nodes[i].parent;
        int32_t *first = &w->first_child[parent < 0 ? count : parent];
        w->next_sibling[i] = *first;
        *first = i;
    }
}

static void write_children(const writer *w, sn_json_writer *json, const char *key, int32_t parent) {
    if (w->first_child[parent] < 0) {
        return;
    }

    sn_json_write_key(json, key);
    sn_json_begin_array(json);
    for (int32_t i = w->first_child[parent]; i >= 0; i = w->next_sibling[i]) {
        sn_json_write_integer(json, i);
    }

    sn_json_end_array(json);
}

static void write_nodes(const writer *w, sn_json_writer *json) {
    const sn_gltf *gltf = w->gltf;
    for (int32_t i = 0; i < gltf->node_count; i++) {
        const sn_gltf_node *node = &gltf->nodes[i];
        const double *t = node->translation;
        const double *q = node->rotation;
        const double *s = node->scale;

        sn_json_begin_object(json);
        write_name(json, node->name);
        if (node->mesh >= 0) {
            write_key_integer(json, "mesh", node->mesh);
        }
        if (node->skin >= 0) {
            write_key_integer(json, "skin", node->skin);
        }

        // Only what differs from the identity is written.
        if (t[0] != 0 || t[1] != 0 || t[2] != 0) {
            write_floats(json, "translation", t, 3);
        }

        if (q[0] != 0 || q[1] != 0 || q[2] != 0) {
            double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
            write_floats(json, "rotation",
                         (double[]){q[0] / length, q[1] / length, q[2] / length, q[3] / length}, 4);
        }

        if (s[0] != 1 || s[1] != 1 || s[2] != 1) {
            write_floats(json, "scale", s, 3);
        }

        write_children(w, json, "children", i);
        sn_json_end_object(json);
    }
}

static void write_materials(sn_json_writer *json, const sn_gltf *gltf) {
    for (int32_t i = 0; i < gltf->material_count; i++) {
        const sn_gltf_material *m = &gltf->materials[i];
        sn_json_begin_object(json);
        write_name(json, m->name);
        sn_json_write_key(json, "pbrMetallicRoughness");
        sn_json_begin_object(json);
        write_floats(json, "baseColorFactor", m->color, 4);
        sn_json_write_key(json, "metallicFactor");
        sn_json_write_float(json, m->metallic);
        sn_json_write_key(json, "roughnessFactor");
        sn_json_write_float(json, m->roughness);
        sn_json_end_object(json);

        if (m->double_sided) {
            sn_json_write_key(json, "doubleSided");
            sn_json_write_boolean(json, true);
        }

        sn_json_end_object(json);
    }
}

// Inserts an array whose items have already been written as text.
static void insert_array(sn_json_writer *json, const char *key, const sn_buffer *items) {
    if (items->size == 0) {
        return;
    }

    sn_json_write_key(json, key);
    sn_json_begin_array(json);
    sn_buffer_add(json->out, items->data, items->size);
    sn_json_end_array(json);
}

static void write_json(writer *w, sn_buffer *out) {
    sn_json_writer json = sn_json_writer_create(out, true);
    sn_json_begin_object(&json);
    sn_json_write_key(&json, "asset");
    sn_json_begin_object(&json);
    write_key_string(&json, "version", "2.0");
    write_key_string(&json, "generator", "sinew");
    sn_json_end_object(&json);

    // The nodes, and the scene that shows them.
    if (w->gltf->node_count) {
        write_key_integer(&json, "scene", 0);
        sn_json_write_key(&json, "scenes");
        sn_json_begin_array(&json);
        sn_json_begin_object(&json);
        write_children(w, &json, "nodes", w->gltf->node_count);
        sn_json_end_object(&json);
        sn_json_end_array(&json);
        sn_json_write_key(&json, "nodes");
        sn_json_begin_array(&json);
        write_nodes(w, &json);
        sn_json_end_array(&json);
    }

    if (w->gltf->material_count) {
        sn_json_write_key(&json, "materials");
        sn_json_begin_array(&json);
        write_materials(&json, w->gltf);
        sn_json_end_array(&json);
    }

    // What was collected while the data was written.
    insert_array(&json, "meshes", &w->meshes);
    insert_array(&json, "skins", &w->skins);
    insert_array(&json, "animations", &w->animations);
    insert_array(&json, "accessors", &w->accessors);
    insert_array(&json, "bufferViews", &w->views);

    // The binary chunk.
    if (w->binary.size) {
        sn_json_write_key(&json, "buffers");
        sn_json_begin_array(&json);
        sn_json_begin_object(&json);
        write_key_integer(&json, "byteLength", (int64_t)w->binary.size);
        sn_json_end_object(&json);
        sn_json_end_array(&json);
    }

    sn_json_end_object(&json);
}

size_t sn_gltf_begin_container(sn_buffer *out) {
    // Header and JSON chunk; their sizes are patched in when they are known.
    size_t begin = out->size;
    sn_buffer_add(out, "glTF", 4);
    sn_buffer_add_u32(out, 2);
    sn_buffer_add_u32(out, 0);
    sn_buffer_add_u32(out, 0);
    sn_buffer_add(out, "JSON", 4);

    return begin;
}

sinew_status sn_gltf_end_container(sn_buffer *out, size_t begin, const sn_buffer *binary) {
    // Chunks are padded to four bytes.
    while (!out->failed && (out->size - begin) % 4) {
        sn_buffer_add(out, " ", 1);
    }

    if (out->size - begin + binary->size > UINT32_MAX - 8) {
        return sn_fail(out->context, SINEW_UNSUPPORTED,
                       "the GLB would have %zu bytes; the format ends at 4 GB",
                       out->size - begin + binary->size);
    }

    sn_buffer_patch_u32(out, begin + 12, (uint32_t)(out->size - begin - 20));
    if (binary->size) {
        sn_buffer_add_u32(out, (uint32_t)binary->size);
        sn_buffer_add(out, "BIN\0", 4);
        sn_buffer_add(out, binary->data, binary->size);
    }

    sn_buffer_patch_u32(out, begin + 8, (uint32_t)(out->size - begin));
    return sn_buffer_status(out);
}

sinew_status sn_write_glb(const sn_gltf *gltf, sn_buffer *out) {
    sn_arena scratch = sn_arena_create(out->context);
    writer w = {.gltf = gltf,
                .binary = sn_buffer_create(out->context),
                .first_child = SN_PUSH(&scratch, int32_t, gltf->node_count + 1),
                .next_sibling = SN_PUSH(&scratch, int32_t, gltf->node_count + 1)};

    // The JSON arrays are written into separate buffers while the binary chunk grows.
    struct {
        sn_buffer *buffer;
        sn_json_writer *json;
    } parts[] = {{&w.views, &w.view_json},
                 {&w.accessors, &w.accessor_json},
                 {&w.meshes, &w.mesh_json},
                 {&w.skins, &w.skin_json},
                 {&w.animations, &w.animation_json}};
    enum { PARTS = sizeof parts / sizeof parts[0] };

    for (int i = 0; i < PARTS; i++) {
        *parts[i].buffer = sn_buffer_create(out->context);
        *parts[i].json = sn_json_writer_create(parts[i].buffer, true);
    }

    add_meshes(&w);
    add_skins(&w);
    add_animations(&w);

    // Check all buffers at once.
    bool failed = w.binary.failed || scratch.failed;
    for (int i = 0; i < PARTS; i++) {
        failed = failed || parts[i].buffer->failed;
    }

    sinew_status status = failed ? SINEW_OUT_OF_MEMORY : SINEW_OK;
    if (status == SINEW_OK) {
        link_children(&w);
        size_t begin = sn_gltf_begin_container(out);
        write_json(&w, out);
        status = sn_gltf_end_container(out, begin, &w.binary);
    }

    for (int i = 0; i < PARTS; i++) {
        sn_buffer_destroy(parts[i].buffer);
    }

    sn_buffer_destroy(&w.binary);
    sn_arena_destroy(&scratch);

    return status;
}
