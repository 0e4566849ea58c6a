// "specimen", "surfaces", "gradients" and "layers" of a shape: solids of several tissues, and how
// they vary.
#include "io/scene/maps.h"
#include "io/scene/read.h"

#include <math.h>

static void *push_list(const sn_scene_reader *reader, const sn_json *json, size_t size,
                       int32_t *count) {
    *count = 0;
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return NULL;
    }

    void *list = sn_scene_push(reader, json->count, size);
    if (list) {
        *count = json->count;
    }

    return list;
}

static void read_specimen(const sn_scene_reader *reader, const sn_json *json, sn_scene_maps *maps) {
    enum { MOST = 16 };
    const char *names[MOST];
    int32_t count = sinew_specimen_count();

    for (int32_t i = 0; i < count && i < MOST; i++) {
        names[i] = sinew_specimen_name((sinew_specimen)i);
    }

    // An unknown word has been reported; -1 stands for no specimen.
    const sn_json *word = sn_json_get(json, "specimen");
    const sn_json *voxels = sn_json_get(json, "voxels");

    maps->specimen = -1;
    if (word && !sn_json_word(reader->mistakes, word, names, count, &maps->specimen)) {
        maps->specimen = -1;
    }

    if (voxels && !word) {
        sn_json_key_mistake(reader->mistakes, voxels,
                            "only a \"specimen\" has a requested number of voxels");
    }

    int64_t requested =
        maps->specimen >= 0 ? sinew_specimen_voxel_count((sinew_specimen)maps->specimen) : 1;

    sn_json_integer(reader->mistakes, voxels, 1, 100000000, &requested);
    maps->specimen_voxels = (int32_t)requested;
}

static void read_surfaces(const sn_scene_reader *reader, const sn_json *json, sn_scene_maps *maps) {
    sn_scene_part *parts = push_list(reader, json, sizeof *parts, &maps->part_count);
    for (int32_t i = 0; i < maps->part_count; i++) {
        const sn_json *item = &json->items[i];

        // By default later surfaces win over earlier ones.
        int64_t label = i + 1;
        int64_t priority = i;

        parts[i] = (sn_scene_part){.file = "", .label = i + 1, .priority = i};
        if (!sn_scene_check_object(reader, item, SN_KEYS("file", "label", "priority"))) {
            continue;
        }

        sn_json_string(reader->mistakes, sn_json_require(reader->mistakes, item, "file"),
                       &parts[i].file);
        sn_json_integer(reader->mistakes, sn_json_get(item, "label"), 0, 65535, &label);
        sn_json_integer(reader->mistakes, sn_json_get(item, "priority"), INT32_MIN, INT32_MAX,
                        &priority);
        parts[i].label = (int32_t)label;
        parts[i].priority = (int32_t)priority;
    }

    if (json && maps->part_count == 0 && json->kind == SN_JSON_ARRAY) {
        sn_json_mistake(reader->mistakes, json, "needs at least one surface");
    }

    maps->parts = parts;
}

static void read_gradients(const sn_scene_reader *reader, const sn_json *json,
                           sn_scene_maps *maps) {
    sinew_gradient_def *gradients =
        push_list(reader, json, sizeof *gradients, &maps->gradient_count);
    for (int32_t i = 0; i < maps->gradient_count; i++) {
        const sn_json *item = &json->items[i];
        sinew_gradient_def *g = &gradients[i];

        *g = (sinew_gradient_def){.first = 1, .last = 1};
        if (!sn_scene_check_object(reader, item,
                                   SN_KEYS("from", "to", "first", "last", "geometric"))) {
            continue;
        }

        sn_scene_read_lengths(reader, sn_json_require(reader->mistakes, item, "from"), g->start);
        sn_scene_read_lengths(reader, sn_json_require(reader->mistakes, item, "to"), g->end);
        sn_json_number_inside(reader->mistakes, sn_json_get(item, "first"), 0, INFINITY, "",
                              &g->first);
        sn_json_number_inside(reader->mistakes, sn_json_get(item, "last"), 0, INFINITY, "",
                              &g->last);
        sn_json_boolean(reader->mistakes, sn_json_get(item, "geometric"), &g->geometric);
    }

    maps->gradients = gradients;
}

// Thicknesses and labels: lists of the same length.
static void read_layer_lists(const sn_scene_reader *reader, const sn_json *item,
                             sinew_layers_def *layers) {
    const sn_json *thickness = sn_json_require(reader->mistakes, item, "thickness");
    const sn_json *labels = sn_json_require(reader->mistakes, item, "labels");

    // Each entry is checked by itself, then the lengths of the lists.
    int32_t count, label_count;
    double *lengths = push_list(reader, thickness, sizeof *lengths, &count);
    int32_t *numbers = push_list(reader, labels, sizeof *numbers, &label_count);

    for (int32_t i = 0; i < count; i++) {
        lengths[i] = reader->scene->unit;
        sn_scene_read_length(reader, &thickness->items[i], &lengths[i]);
    }

    for (int32_t i = 0; i < label_count; i++) {
        int64_t label = 1;
        sn_json_integer(reader->mistakes, &labels->items[i], 1, 65535, &label);
        numbers[i] = (int32_t)label;
    }

    if (thickness && labels && (count != label_count || count == 0)) {
        sn_json_mistake(reader->mistakes, item,
                        "%d thicknesses and %d labels; valid is one of each for each layer", count,
                        label_count);
    }

    layers->thickness = lengths;
    layers->labels = numbers;
    layers->count = count < label_count ? count : label_count;
}

static void read_layers(const sn_scene_reader *reader, const sn_json *json, sn_scene_maps *maps) {
    sinew_layers_def *layers = push_list(reader, json, sizeof *layers, &maps->layer_count);
    for (int32_t i = 0; i < maps->layer_count; i++) {
        const sn_json *item = &json->items[i];
        layers[i] = (sinew_layers_def){.direction = {0, 0, 1}};
        if (!sn_scene_check_object(
                reader, item, SN_KEYS("start", "direction", "thickness", "labels", "repeat"))) {
            continue;
        }

        sn_scene_read_lengths(reader, sn_json_require(reader->mistakes, item, "start"),
                              layers[i].start);
        sn_scene_read_direction(reader, sn_json_get(item, "direction"), layers[i].direction);
        sn_json_boolean(reader->mistakes, sn_json_get(item, "repeat"), &layers[i].repeat);
        read_layer_lists(reader, item, &layers[i]);
    }

    maps->layers = layers;
}

void sn_scene_read_maps(const sn_scene_reader *reader, const sn_json *json, sn_scene_shape *shape) {
    static const char *const keys[] = {"specimen", "voxels",    "surfaces", "gradients",
                                       "layers",   "stiffness", "density"};
    bool any = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        any = any || sn_json_get(json, keys[i]);
    }

    if (!any) {
        return;
    }

    // Most shapes have none of these, so they are stored apart.
    sn_scene_maps *maps = sn_scene_push(reader, 1, sizeof *maps);
    if (!maps) {
        return;
    }

    maps->json = json;
    read_specimen(reader, json, maps);
    read_surfaces(reader, sn_json_get(json, "surfaces"), maps);
    read_gradients(reader, sn_json_get(json, "gradients"), maps);
    read_layers(reader, sn_json_get(json, "layers"), maps);
    sn_json_string(reader->mistakes, sn_json_get(json, "stiffness"), &maps->stiffness);
    sn_json_string(reader->mistakes, sn_json_get(json, "density"), &maps->density);

    if (sn_json_get(json, "specimen") || sn_json_get(json, "surfaces")) {
        shape->generated = false;
    }

    shape->maps = maps;
}
