// Skeletons and what bodies say of them: where a skeleton and its motion come from, how bodies are
// bound, position dynamics.
#include "io/scene/read.h"

#include <math.h>

static const double radians = 3.14159265358979323846 / 180;

void sn_scene_read_character(const sn_scene_reader *reader, const sn_json *word,
                             sn_character_def *def) {
    int32_t kind = 0;
    *def = sn_default_character_def();
    sn_json_word(reader->mistakes, word, SN_WORDS(SINEW_WORDS_CHARACTERS), &kind);
    def->kind = (sn_character_kind)kind;

    if (def->kind == SN_CHARACTER_TWISTING) {
        def->angle = 180 * radians;
    }
}

// {"motion joint": "skeleton joint"}
static void read_names(const sn_scene_reader *reader, const sn_json *json,
                       sinew_retarget_def *def) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_OBJECT)) {
        return;
    }

    sinew_name_pair *pairs = sn_scene_push(reader, json->count, sizeof *pairs);
    if (pairs) {
        for (int32_t i = 0; i < json->count; i++) {
            pairs[i] = (sinew_name_pair){json->items[i].key, ""};
            sn_json_string(reader->mistakes, &json->items[i], &pairs[i].target);
        }
    }

    def->pairs = pairs;
    def->pair_count = pairs ? json->count : 0;
}

static void read_motion(const sn_scene_reader *reader, const sn_json *json,
                        sn_scene_retarget *motion) {
    *motion = (sn_scene_retarget){
        .unit = reader->scene->unit, .def = sinew_default_retarget_def(), .json = json};
    if (!json ||
        !sn_scene_check_object(reader, json, SN_KEYS("file", "unit", "names", "scale", "offset"))) {
        return;
    }

    sn_json_string(reader->mistakes, sn_json_require(reader->mistakes, json, "file"),
                   &motion->file);
    sn_scene_read_unit(reader, sn_json_get(json, "unit"), &motion->unit);
    sn_json_number_inside(reader->mistakes, sn_json_get(json, "scale"), 0, INFINITY, "",
                          &motion->def.scale);
    sn_scene_read_lengths(reader, sn_json_get(json, "offset"), motion->def.offset);
    read_names(reader, sn_json_get(json, "names"), &motion->def);
}

static void read_skeleton(const sn_scene_reader *reader, const sn_json *json,
                          sn_scene_skeleton *skeleton) {
    static const char *const ends[] = {"hold", "loop", "stop"};
    sn_mistakes *mistakes = reader->mistakes;

    *skeleton = (sn_scene_skeleton){
        .name = json->key, .json = json, .unit = reader->scene->unit, .speed = 1};
    if (!sn_scene_check_object(reader, json,
                               SN_KEYS("character", "degrees", "seconds", "file", "unit",
                                       "animation", "motion", "start", "speed", "end"))) {
        return;
    }

    // One source.
    const sn_json *character = sn_json_get(json, "character");
    const sn_json *file = sn_json_get(json, "file");
    if (!character == !file) {
        sn_json_mistake(
            mistakes, json,
            "a skeleton comes from a \"file\" (.bvh, .gltf, .glb) or from a \"character\"");
    }

    sn_scene_read_character(reader, character, &skeleton->character);

    // Options of built-in characters.
    double degrees = skeleton->character.angle / radians;

    sn_json_number(mistakes, sn_json_get(json, "degrees"), -3600, 3600, "degrees", &degrees);
    sn_json_number(mistakes, sn_json_get(json, "seconds"), 0, 3600, "s",
                   &skeleton->character.duration);
    skeleton->character.angle = degrees * radians;

    // Options of files, and the motion.
    sn_json_string(mistakes, file, &skeleton->file);
    sn_scene_read_unit(reader, sn_json_get(json, "unit"), &skeleton->unit);
    sn_json_string(mistakes, sn_json_get(json, "animation"), &skeleton->animation);
    read_motion(reader, sn_json_get(json, "motion"), &skeleton->motion);
    sn_json_number(mistakes, sn_json_get(json, "start"), 0, 1e6, "s", &skeleton->start);
    sn_json_number(mistakes, sn_json_get(json, "speed"), 0, 1000, "", &skeleton->speed);

    int32_t end = 0;
    sn_json_word(mistakes, sn_json_get(json, "end"), ends, 3, &end);
    skeleton->end = (sinew_motion_end)end;
}

void sn_scene_read_skeletons(sn_scene_reader *reader, const sn_json *json) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_OBJECT)) {
        return;
    }

    sn_scene_skeleton *skeletons = sn_scene_push(reader, json->count, sizeof *skeletons);
    if (skeletons) {
        for (int32_t i = 0; i < json->count; i++) {
            read_skeleton(reader, &json->items[i], &skeletons[i]);
        }
    }

    reader->scene->skeletons = skeletons;
    reader->scene->skeleton_count = skeletons ? json->count : 0;
}

void sn_scene_read_binding(const sn_scene_reader *reader, const sn_json *body_json,
                           sn_scene_body *body) {
    static const char *const bindings[] = {"bones", "linear-blend", "dual-quaternions"};
    const sn_json *json = sn_json_get(body_json, "skeleton");
    const sn_json *binding = sn_json_get(body_json, "binding");

    body->skeleton = -1;
    if (!json) {
        if (binding) {
            sn_json_key_mistake(reader->mistakes, binding,
                                "only a body with a \"skeleton\" is bound to one");
        }
        return;
    }

    // Words are the names of the skeletons that were read before.
    const char *names[64];
    int32_t count = reader->scene->skeleton_count < 64 ? reader->scene->skeleton_count : 64;
    int32_t word = 0;

    for (int32_t i = 0; i < count; i++) {
        names[i] = reader->scene->skeletons[i].name;
    }

    sn_json_word(reader->mistakes, json, names, count, &body->skeleton);
    sn_json_word(reader->mistakes, binding, bindings, 3, &word);
    body->binding = (sn_scene_binding)word;
}

// One number for all axes, or three.
static bool read_axes(const sn_scene_reader *reader, const sn_json *json, double high,
                      const char *unit, double out[3]) {
    if (!json) {
        return false;
    }

    // Three numbers.
    if (json->kind == SN_JSON_ARRAY) {
        if (!sn_json_numbers(reader->mistakes, json, 3, out)) {
            return false;
        }

        for (int k = 0; k < 3; k++) {
            if (!(out[k] >= 0 && out[k] <= high)) {
                sn_json_mistake(reader->mistakes, json, "%g must be in [0, %g]", out[k], high);
                return false;
            }
        }

        return true;
    }

    // One number for all.
    if (!sn_json_number(reader->mistakes, json, 0, high, unit, &out[0])) {
        return false;
    }

    out[1] = out[2] = out[0];
    return true;
}

static void read_cores(const sn_scene_reader *reader, const sn_json *json,
                       sn_scene_positions *positions) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }

    int32_t *cores = sn_scene_push(reader, json->count, sizeof *cores);
    if (cores) {
        for (int32_t i = 0; i < json->count; i++) {
            int64_t label = 0;
            sn_json_integer(reader->mistakes, &json->items[i], INT32_MIN, INT32_MAX, &label);
            cores[i] = (int32_t)label;
        }
    }

    positions->cores = cores;
    positions->core_count = cores ? json->count : 0;
}

static void read_constants(const sn_scene_reader *reader, const sn_json *json,
                           sn_scene_positions *positions) {
    bool moduli = positions->def.mode == SINEW_PBD_COMPLIANCE;
    double high = moduli ? 1e18 : 1;
    const char *unit = moduli ? "Pa" : "";
    sinew_pbd_material *material = &positions->stiffness;
    const sn_json *volume = sn_json_get(json, "volume");
    bool stretch = read_axes(reader, sn_json_get(json, "stretch"), high, unit, material->stretch);
    bool shear = read_axes(reader, sn_json_get(json, "shear"), high, unit, material->shear);

    sn_json_number(reader->mistakes, volume, 0, high, unit, &material->volume);
    positions->has_moduli = moduli && (stretch || shear || volume);
    if (positions->has_moduli && !(stretch && shear && volume)) {
        sn_json_mistake(reader->mistakes, json,
                        "moduli are given all (\"stretch\", \"shear\", \"volume\") or none: they "
                        "then follow from the material");
    }
}

void sn_scene_read_positions(const sn_scene_reader *reader, const sn_json *json,
                             sn_scene_body *body) {
    static const char *const modes[] = {"stiffness", "compliance"};
    static const char *const orders[] = {"layered", "coloured", "sequence"};

    sn_scene_positions *positions = &body->positions;
    positions->def = sinew_default_pbd_def();
    positions->stiffness = sinew_default_pbd_material();
    if (!json) {
        return;
    }

    if (!positions->used) {
        sn_json_key_mistake(reader->mistakes, json,
                            "only a body with \"model\": \"positions\" has these");
        return;
    }

    if (!sn_scene_check_object(reader, json,
                               SN_KEYS("mode", "stretch", "shear", "volume", "iterations",
                                       "consolidating", "consolidation", "order", "drag", "damping",
                                       "cores"))) {
        return;
    }

    // The order and the number of iterations.
    sinew_pbd_def *def = &positions->def;
    int32_t mode = 0, order = 0;

    sn_json_word(reader->mistakes, sn_json_get(json, "mode"), modes, 2, &mode);
    sn_json_word(reader->mistakes, sn_json_get(json, "order"), orders, 3, &order);
    def->mode = (sinew_pbd_mode)mode;
    def->order = (sinew_pbd_order)order;

    int64_t iterations = def->iterations;
    sn_json_integer(reader->mistakes, sn_json_get(json, "iterations"), 1, 10000, &iterations);

    int64_t consolidating = iterations < def->consolidating ? iterations : def->consolidating;
    sn_json_integer(reader->mistakes, sn_json_get(json, "consolidating"), 0, iterations,
                    &consolidating);
    def->iterations = (int32_t)iterations;
    def->consolidating = (int32_t)consolidating;

    // Damping and stiffness.
    sn_json_number(reader->mistakes, sn_json_get(json, "consolidation"), 1, 1e9, "",
                   &def->consolidation);
    sn_json_number(reader->mistakes, sn_json_get(json, "drag"), 0, 1e9, "1/s", &def->drag);
    sn_json_number(reader->mistakes, sn_json_get(json, "damping"), 0, 1e9, "1/s", &def->damping);
    read_constants(reader, json, positions);
    read_cores(reader, sn_json_get(json, "cores"), positions);
}
