// Appends morph targets and their animation to the JSON tree and the buffers of a glTF file; see
// amend.h.
#include "io/gltf/amend.h"

#include "io/gltf/access.h"
#include "io/gltf/skin.h"
#include "io/text/json_write.h"
#include "io/text/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FLOAT = 5126, UNSIGNED_SHORT = 5123 };

typedef struct amender {
    sn_gltf_reader reader; // the file as JSON and buffers
    const sn_gltf *gltf;
    const sn_gltf_amendment *what;
    sn_buffer binary;           // the buffers of the file one after another, then the additions
    size_t *starts;             // [buffer] where each of them begins in `binary`
    sn_buffer views, accessors; // JSON of the added entries, each preceded by a comma
    int32_t view_count, accessor_count;
} amender;

// Sets a value in the tree, e.g. "meshes[3].weights[0]=0". All paths consist of numbers and known
// words, so this fails only if memory runs out.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static sinew_status
set(amender *a, const char *format, ...) {
    char assignment[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(assignment, sizeof assignment, format, arguments);
    va_end(arguments);

    return sn_json_set(&a->reader.document, assignment, &a->reader.mistakes);
}

// The number of items in an array member, e.g. the channels of an animation.
static int32_t count_of(const sn_json *object, const char *key) {
    const sn_json *list = sn_json_get(object, key);
    return list && list->kind == SN_JSON_ARRAY ? list->count : 0;
}

static const sn_json *item(const amender *a, const char *key, int32_t index) {
    return sn_json_at(sn_json_get(a->reader.root, key), index);
}

// Joins the buffers into one. Each starts at a multiple of four bytes, as the alignment of views
// requires.
static sinew_status join_buffers(amender *a) {
    a->starts = SN_PUSH(a->reader.arena, size_t, a->reader.buffer_count + 1);
    SN_TRY(sn_arena_status(a->reader.arena));
    for (int32_t i = 0; i < a->reader.buffer_count; i++) {
        a->starts[i] = a->binary.size;
        sn_buffer_add(&a->binary, a->reader.buffers[i].data, a->reader.buffers[i].size);
        sn_buffer_align(&a->binary, 4, 0);
    }

    return sn_buffer_status(&a->binary);
}

// Adds an accessor for the numbers that were appended from `offset` on; returns its index.
// `vertices` says that they are an attribute of vertices.
static int32_t add_typed_accessor(amender *a, size_t offset, int32_t count, const char *type,
                                  int32_t components, int32_t number_type, bool vertices,
                                  bool bounded) {
    sn_buffer_print(&a->views, ",{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu%s}", offset,
                    a->binary.size - offset, vertices ? ",\"target\":34962" : "");
    sn_buffer_print(&a->accessors,
                    ",{\"bufferView\":%d,\"componentType\":%d,\"count\":%d,\"type\":\"%s\"",
                    (int)a->view_count++, (int)number_type, (int)count, type);

    // glTF requires bounds for positions and times; they are those of the numbers as float.
    int sides = bounded && !a->binary.failed ? 2 : 0;
    for (int side = 0; side < sides; side++) {
        sn_buffer_add_text(&a->accessors, side ? ",\"max\":[" : ",\"min\":[");
        for (int32_t k = 0; k < components; k++) {
            float bound = side ? -INFINITY : INFINITY;
            for (int32_t i = 0; i < count; i++) {
                float value;
                memcpy(&value,
                       a->binary.data + offset + sizeof value * (size_t)(i * components + k),
                       sizeof value);
                bound = side ? fmaxf(bound, value) : fminf(bound, value);
            }
            sn_buffer_add_text(&a->accessors, k ? "," : "");
            sn_buffer_add_float(&a->accessors, (double)bound);
        }
        sn_buffer_add_text(&a->accessors, "]");
    }

    sn_buffer_add_text(&a->accessors, "}");
    return a->accessor_count++;
}

// Attributes of vertices, and times.
static int32_t add_numbers(amender *a, const double *values, int32_t count, const char *type,
                           int32_t components, bool bounded) {
    size_t offset = a->binary.size;
    sn_buffer_add_f32s(&a->binary, values, (size_t)count * (size_t)components);
    return add_typed_accessor(a, offset, count, type, components, FLOAT, components == 3, bounded);
}

// Values of channels and matrices.
static int32_t add_values(amender *a, const double *values, int32_t count, const char *type,
                          int32_t components) {
    size_t offset = a->binary.size;
    sn_buffer_add_f32s(&a->binary, values, (size_t)count * (size_t)components);
    return add_typed_accessor(a, offset, count, type, components, FLOAT, false, false);
}

// An accessor without a view is all zeros.
static int32_t add_zeros(amender *a, int32_t count) {
    sn_buffer_print(&a->accessors,
                    ",{\"componentType\":%d,\"count\":%d,\"type\":\"VEC3\",\"min\":[0,0,0],"
                    "\"max\":[0,0,0]}",
                    FLOAT, (int)count);
    return a->accessor_count++;
}

static const sn_gltf_added_shapes *find_part(const amender *a, int32_t mesh, int32_t primitive) {
    for (int32_t i = 0; i < a->what->part_count; i++) {
        const sn_gltf_added_shapes *part = &a->what->parts[i];
        if (part->mesh == mesh && part->primitive == primitive) {
            return part;
        }
    }
    return NULL;
}

static bool is_amended(const amender *a, int32_t mesh) {
    for (int32_t i = 0; i < a->what->part_count; i++) {
        if (a->what->parts[i].mesh == mesh) {
            return true;
        }
    }
    return false;
}

// Adds the new targets to all primitives of a mesh, which must have the same targets in the same
// order.
static sinew_status add_targets(amender *a, int32_t mesh) {
    const sn_gltf_mesh *view = &a->gltf->meshes[mesh];
    int32_t before = view->primitives[0].target_count;
    for (int32_t i = 0; i < view->primitive_count; i++) {
        const sn_gltf_added_shapes *part = find_part(a, mesh, i);
        size_t stride = 3 * (size_t)view->primitives[i].point_count;
        for (int32_t k = 0; k < a->what->target_count; k++) {
            int32_t accessor = part ? add_numbers(a, part->shapes + (size_t)k * stride,
                                                  part->point_count, "VEC3", 3, true)
                                    : add_zeros(a, view->primitives[i].point_count);
            SN_TRY(set(a, "meshes[%d].primitives[%d].targets[%d].POSITION=%d", (int)mesh, (int)i,
                       (int)(before + k), (int)accessor));
            if (!part || !part->normals) {
                continue;
            }
            accessor = add_numbers(a, part->normals + (size_t)k * stride, part->point_count, "VEC3",
                                   3, false);
            SN_TRY(set(a, "meshes[%d].primitives[%d].targets[%d].NORMAL=%d", (int)mesh, (int)i,
                       (int)(before + k), (int)accessor));
        }
    }

    // The new targets have weight zero at rest, like those whose weights the mesh omits.
    for (int32_t k = count_of(item(a, "meshes", mesh), "weights");
         k < before + a->what->target_count; k++) {
        SN_TRY(set(a, "meshes[%d].weights[%d]=0", (int)mesh, (int)k));
    }

    return SINEW_OK;
}

// The weights channel of a node in the file, or NULL.
static const sn_gltf_channel *find_weights(const amender *a, int32_t animation, int32_t node) {
    if (animation < 0) {
        return NULL;
    }

    const sn_gltf_animation *view = &a->gltf->animations[animation];
    for (int32_t i = 0; i < view->channel_count; i++) {
        if (view->channels[i].node == node && view->channels[i].path == SN_GLTF_WEIGHTS) {
            return &view->channels[i];
        }
    }

    return NULL;
}

// Adds the output of a weights sampler: at each key the weights of the file, followed by those of
// the new targets, which are zero unless `shows`.
static sinew_status add_weights(amender *a, const sn_gltf_channel *old, int32_t before, bool shows,
                                int32_t key_count, const double *times, int32_t *accessor) {
    int32_t width = before + a->what->target_count;
    if ((int64_t)key_count * width > INT32_MAX / 16) {
        return sn_fail(a->reader.context, SINEW_UNSUPPORTED,
                       "%d keys of %d morph targets are too many for one animation", (int)key_count,
                       (int)width);
    }

    sn_arena_mark mark = sn_arena_get_mark(a->reader.arena);
    double *values = SN_PUSH(a->reader.arena, double, (size_t)key_count *(size_t)width);
    SN_TRY(sn_arena_status(a->reader.arena));

    // Old weights at the time of each key, then the new ones.
    for (int32_t i = 0; i < key_count; i++) {
        double *row = values + (size_t)i * (size_t)width;
        if (old) {
            sn_gltf_sample(old, times[i], row);
        }
        if (shows) {
            memcpy(row + before, a->what->weights + (size_t)i * (size_t)a->what->target_count,
                   (size_t)a->what->target_count * sizeof *row);
        }
    }

    *accessor = add_numbers(a, values, key_count * width, "SCALAR", 1, false);
    sn_arena_rewind(a->reader.arena, mark);

    return SINEW_OK;
}

// Adds a sampler to an animation, and the channel that plays it on a node. With `replaces`, an
// existing channel of weights is switched to the new sampler instead.
static sinew_status add_channel(amender *a, int32_t animation, int32_t node, const char *path_name,
                                int32_t input, int32_t output, bool replaces) {
    const sn_json *json = item(a, "animations", animation);
    int32_t sampler = count_of(json, "samplers");
    int32_t channel = count_of(json, "channels");

    // Find the channel to replace.
    const sn_json *channels = sn_json_get(json, "channels");
    if (replaces) {
        for (int32_t i = 0; i < channels->count; i++) {
            const sn_json *target = sn_json_get(sn_json_at(channels, i), "target");
            const sn_json *path = sn_json_get(target, "path");
            const sn_json *at = sn_json_get(target, "node");
            if (path && at && strcmp(path->string, "weights") == 0 && (int32_t)at->number == node) {
                channel = i;
            }
        }
    }

    SN_TRY(set(a, "animations[%d].samplers[%d]={\"input\":%d,\"output\":%d}", (int)animation,
               (int)sampler, (int)input, (int)output));
    return set(a,
               "animations[%d].channels[%d]={\"sampler\":%d,\"target\":{\"node\":%d,\"path\":"
               "\"%s\"}}",
               (int)animation, (int)channel, (int)sampler, (int)node, path_name);
}

// Extends the weights of another animation by zeros for the new targets. Its keys stay; cubic
// interpolation becomes linear.
static sinew_status widen_weights(amender *a, int32_t animation, int32_t node, int32_t before) {
    const sn_gltf_channel *old = find_weights(a, animation, node);
    if (!old || animation == a->what->animation || old->key_count < 1) {
        return SINEW_OK;
    }

    int32_t output;
    int32_t input = add_numbers(a, old->times, old->key_count, "SCALAR", 1, true);
    SN_TRY(add_weights(a, old, before, false, old->key_count, old->times, &output));
    return add_channel(a, animation, node, "weights", input, output, true);
}

// Plays the new targets on a node that shows an amended mesh.
static sinew_status animate_node(amender *a, int32_t node, int32_t animation, int32_t input) {
    int32_t before = a->gltf->meshes[a->gltf->nodes[node].mesh].primitives[0].target_count;
    const sn_gltf_channel *old = find_weights(a, a->what->animation, node);
    int32_t output;
    SN_TRY(add_weights(a, old, before, true, a->what->key_count, a->what->times, &output));
    SN_TRY(add_channel(a, animation, node, "weights", input, output, old != NULL));

    for (int32_t i = 0; i < a->gltf->animation_count; i++) {
        SN_TRY(widen_weights(a, i, node, before));
    }

    // Weights of a node override those of its mesh, so they need the zeros too.
    int32_t own = count_of(item(a, "nodes", node), "weights");
    if (own > 0) {
        for (int32_t k = own; k < before + a->what->target_count; k++) {
            SN_TRY(set(a, "nodes[%d].weights[%d]=0", (int)node, (int)k));
        }
    }

    return SINEW_OK;
}

// Channels of one sampler input after the other: all of an animation share their times.
static sinew_status add_channels(amender *a, int32_t animation) {
    static const char *const paths[] = {"translation", "rotation", "scale", "weights"};
    static const char *const types[] = {"VEC3", "VEC4", "VEC3", "SCALAR"};
    const double *times = NULL;
    int32_t input = -1;
    for (int32_t i = 0; i < a->what->channel_count; i++) {
        const sn_gltf_channel *channel = &a->what->channels[i];
        if (channel->times != times) {
            times = channel->times;
            input = add_numbers(a, times, channel->key_count, "SCALAR", 1, true);
        }
        int32_t output = add_values(a, channel->values, channel->key_count, types[channel->path],
                                    channel->components);
        SN_TRY(
            add_channel(a, animation, channel->node, paths[channel->path], input, output, false));
    }
    return SINEW_OK;
}

// New nodes, and the skin that has them as joints.
static sinew_status add_joints(amender *a) {
    const sn_gltf_skin *skin = &a->gltf->skins[a->what->skin];
    size_t count = (size_t)skin->joint_count, added = (size_t)a->what->joint_count;
    double *binds = SN_PUSH(a->reader.arena, double, 16 * (count + added));
    SN_TRY(sn_arena_status(a->reader.arena));

    // The matrices of the old joints; a skin without any has the identity.
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < 16; k++) {
            binds[16 * i + k] = skin->inverse_bind ? skin->inverse_bind[16 * i + k] : k % 5 == 0;
        }
    }

    // Each new joint: a node, a child of its parent, and a joint of the skin.
    for (size_t i = 0; i < added; i++) {
        const sn_gltf_added_joint *joint = &a->what->joints[i];
        int node = (int)a->gltf->node_count + (int)i;
        memcpy(binds + 16 * (count + i), joint->inverse_bind, sizeof joint->inverse_bind);
        SN_TRY(set(a, "nodes[%d].name=\"%s\"", node, joint->name));
        for (int k = 0; k < 3; k++) {
            char number[SN_TEXT_NUMBER_SIZE + 1];
            number[sn_text_write_double(number, joint->translation[k])] = 0;
            SN_TRY(set(a, "nodes[%d].translation[%d]=%s", node, k, number));
        }
        SN_TRY(set(a, "nodes[%d].children[%d]=%d", (int)joint->parent,
                   (int)count_of(item(a, "nodes", joint->parent), "children"), node));
        SN_TRY(set(a, "skins[%d].joints[%d]=%d", (int)a->what->skin, (int)(count + i), node));
    }

    int32_t accessor = add_values(a, binds, (int32_t)(count + added), "MAT4", 16);
    return set(a, "skins[%d].inverseBindMatrices=%d", (int)a->what->skin, (int)accessor);
}

// New joints and weights of a primitive, set by set.
static sinew_status add_new_weights(amender *a, const sn_gltf_new_weights *part) {
    size_t points = (size_t)part->point_count, each = 4 * (size_t)part->sets;
    double *weights = SN_PUSH(a->reader.arena, double, 4 * points);
    SN_TRY(sn_arena_status(a->reader.arena));
    for (int set_index = 0; set_index < part->sets; set_index++) {
        size_t offset = a->binary.size;
        for (size_t i = 0; i < 4 * points; i++) {
            size_t at = i / 4 * each + 4 * (size_t)set_index + i % 4;
            sn_buffer_add_u16(&a->binary, (uint16_t)(part->weights[at] > 0 ? part->joints[at] : 0));
            weights[i] = part->weights[at];
        }
        int32_t accessor = add_typed_accessor(a, offset, part->point_count, "VEC4", 4,
                                              UNSIGNED_SHORT, true, false);
        SN_TRY(set(a, "meshes[%d].primitives[%d].attributes.JOINTS_%d=%d", (int)part->mesh,
                   (int)part->primitive, set_index, (int)accessor));

        offset = a->binary.size;
        sn_buffer_add_f32s(&a->binary, weights, 4 * points);
        accessor = add_typed_accessor(a, offset, part->point_count, "VEC4", 4, FLOAT, true, false);
        SN_TRY(set(a, "meshes[%d].primitives[%d].attributes.WEIGHTS_%d=%d", (int)part->mesh,
                   (int)part->primitive, set_index, (int)accessor));
    }
    return SINEW_OK;
}

// Morph targets of all amended meshes, and their weights over time.
static sinew_status add_shapes(amender *a, int32_t animation) {
    for (int32_t i = 0; i < a->gltf->mesh_count; i++) {
        if (is_amended(a, i)) {
            SN_TRY(add_targets(a, i));
        }
    }

    int32_t input = add_numbers(a, a->what->times, a->what->key_count, "SCALAR", 1, true);
    for (int32_t i = 0; i < a->gltf->node_count; i++) {
        if (a->gltf->nodes[i].mesh >= 0 && is_amended(a, a->gltf->nodes[i].mesh)) {
            SN_TRY(animate_node(a, i, animation, input));
        }
    }
    return SINEW_OK;
}

static sinew_status add_everything(amender *a) {
    int32_t animation = a->what->animation;
    if (animation < 0) {
        animation = a->gltf->animation_count;
        SN_TRY(set(a, "animations[%d].name=\"%.100s\"", (int)animation, a->what->name));
    }

    if (a->what->joint_count > 0) {
        SN_TRY(add_joints(a));
    }
    for (int32_t i = 0; i < a->what->weighted_count; i++) {
        SN_TRY(add_new_weights(a, &a->what->weighted[i]));
    }
    SN_TRY(add_channels(a, animation));
    if (a->what->target_count > 0) {
        SN_TRY(add_shapes(a, animation));
    }

    return sn_buffer_status(&a->binary);
}

// Writes a view of the file, moved to the position of its buffer in the joined one.
static void write_view(const amender *a, sn_json_writer *json, const sn_json *view) {
    sn_json_begin_object(json);
    int32_t buffer = 0;
    double offset = 0;
    for (int32_t i = 0; i < view->count; i++) {
        const sn_json *member = &view->items[i];
        if (strcmp(member->key, "buffer") == 0) {
            buffer = (int32_t)member->number;
        } else if (strcmp(member->key, "byteOffset") == 0) {
            offset = member->number;
        } else {
            sn_json_write_key(json, member->key);
            sn_json_write_tree(json, member);
        }
    }

    sn_json_write_key(json, "buffer");
    sn_json_write_integer(json, 0);
    sn_json_write_key(json, "byteOffset");
    sn_json_write_integer(json, (int64_t)a->starts[buffer] + (int64_t)offset);
    sn_json_end_object(json);
}

// Writes a list of the root: the entries of the file, then the added ones.
static void write_list(const amender *a, sn_json_writer *json, const sn_json *list,
                       const sn_buffer *added) {
    bool views = added == &a->views;
    sn_json_begin_array(json);
    if (list) {
        for (int32_t i = 0; i < list->count; i++) {
            if (views) {
                write_view(a, json, &list->items[i]);
            } else {
                sn_json_write_tree(json, &list->items[i]);
            }
        }
    }

    // Skip the leading comma if the list was empty.
    bool none = !list || list->count == 0;
    sn_buffer_add(json->out, added->data + none, added->size - none);
    json->first = false;
    sn_json_end_array(json);
}

static void write_root(const amender *a, sn_buffer *text) {
    static const char *const replaced[] = {"buffers", "bufferViews", "accessors"};
    const sn_json *root = a->reader.root;
    sn_json_writer json = sn_json_writer_create(text, true);

    sn_json_begin_object(&json);
    for (int32_t i = 0; i < root->count; i++) {
        const sn_json *member = &root->items[i];
        bool kept = true;
        for (size_t k = 0; k < sizeof replaced / sizeof *replaced; k++) {
            kept = kept && strcmp(member->key, replaced[k]) != 0;
        }
        if (kept) {
            sn_json_write_key(&json, member->key);
            sn_json_write_tree(&json, member);
        }
    }

    // The lists that changed, and the single buffer.
    sn_json_write_key(&json, "accessors");
    write_list(a, &json, sn_json_get(root, "accessors"), &a->accessors);
    sn_json_write_key(&json, "bufferViews");
    write_list(a, &json, sn_json_get(root, "bufferViews"), &a->views);
    sn_json_write_key(&json, "buffers");
    sn_json_begin_array(&json);
    sn_json_begin_object(&json);
    sn_json_write_key(&json, "byteLength");
    sn_json_write_integer(&json, (int64_t)a->binary.size);
    sn_json_end_object(&json);
    sn_json_end_array(&json);
    sn_json_end_object(&json);
}

static sinew_status amend(amender *a, sn_buffer *out) {
    SN_TRY(sn_gltf_open(&a->reader));
    a->view_count = a->reader.view_count;
    a->accessor_count = a->reader.accessor_count;
    SN_TRY(join_buffers(a));
    SN_TRY(add_everything(a));
    SN_TRY(sn_buffer_status(&a->views));
    SN_TRY(sn_buffer_status(&a->accessors));

    size_t begin = sn_gltf_begin_container(out);
    write_root(a, out);
    return sn_gltf_end_container(out, begin, &a->binary);
}

sinew_status sn_gltf_amend(sinew_context *context, const sn_source *source, const sn_gltf *gltf,
                           const sn_gltf_amendment *amendment, sn_buffer *out) {
    SN_ASSERT(amendment->key_count > 0);
    sn_gltf_file kept = {.arena = sn_arena_create(context)};
    amender a = {.gltf = gltf,
                 .what = amendment,
                 .binary = sn_buffer_create(context),
                 .views = sn_buffer_create(context),
                 .accessors = sn_buffer_create(context)};
    a.reader = (sn_gltf_reader){.context = context,
                                .source = source,
                                .file = &kept,
                                .arena = &kept.arena,
                                .mistakes = sn_mistakes_create(context),
                                .document = {.arena = sn_arena_create(context)}};

    // All are freed, whether it failed or not.
    sinew_status status = amend(&a, out);
    sn_json_document_destroy(&a.reader.document);
    sn_mistakes_destroy(&a.reader.mistakes);
    sn_buffer_destroy(&a.binary);
    sn_buffer_destroy(&a.views);
    sn_buffer_destroy(&a.accessors);
    sn_gltf_file_destroy(&kept);

    return status;
}
