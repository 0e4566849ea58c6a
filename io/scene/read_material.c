// Materials: a law, a preset, constants. Given by name in "materials", or in place.
#include "io/scene/read.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// Constants of a law and where they go. All are positive unless the library says otherwise; it has
// the last word.
typedef struct constant {
    const char *key, *unit;
    size_t offset;
    const char *law; // the only one with axes that has it, or NULL
} constant;

static const constant constants[] = {
    {"young", "Pa", offsetof(sinew_material_def, young), NULL},
    {"poisson", "", offsetof(sinew_material_def, poisson), NULL},
    {"density", "kg/m3", offsetof(sinew_material_def, density), NULL},
    {"volume_stiffness", "Pa", offsetof(sinew_material_def, volume_stiffness), NULL},
    {"c10", "Pa", offsetof(sinew_material_def, c10), NULL},
    {"c01", "Pa", offsetof(sinew_material_def, c01), NULL},
    {"bulk", "Pa", offsetof(sinew_material_def, bulk), NULL},
    {"chain_length", "", offsetof(sinew_material_def, chain_length), NULL},
    {"young_1", "Pa", offsetof(sinew_material_def, orthotropic.young_1), "orthotropic"},
    {"young_2", "Pa", offsetof(sinew_material_def, orthotropic.young_2), "orthotropic"},
    {"young_3", "Pa", offsetof(sinew_material_def, orthotropic.young_3), "orthotropic"},
    {"poisson_12", "", offsetof(sinew_material_def, orthotropic.poisson_12), "orthotropic"},
    {"poisson_23", "", offsetof(sinew_material_def, orthotropic.poisson_23), "orthotropic"},
    {"poisson_31", "", offsetof(sinew_material_def, orthotropic.poisson_31), "orthotropic"},
    {"shear_12", "Pa", offsetof(sinew_material_def, orthotropic.shear_12), "orthotropic"},
    {"shear_23", "Pa", offsetof(sinew_material_def, orthotropic.shear_23), "orthotropic"},
    {"shear_31", "Pa", offsetof(sinew_material_def, orthotropic.shear_31), "orthotropic"},
    {"young_fibre", "Pa", offsetof(sinew_material_def, transverse.young_fibre), "transverse"},
    {"young_plane", "Pa", offsetof(sinew_material_def, transverse.young_plane), "transverse"},
    {"poisson_plane", "", offsetof(sinew_material_def, transverse.poisson_plane), "transverse"},
    {"poisson_fibre", "", offsetof(sinew_material_def, transverse.poisson_fibre), "transverse"},
    {"shear_fibre", "Pa", offsetof(sinew_material_def, transverse.shear_fibre), "transverse"},
};

enum { CONSTANTS = sizeof constants / sizeof *constants, MAX_WORDS = 64 };

static bool check_keys(const sn_scene_reader *reader, const sn_json *json) {
    const char *keys[CONSTANTS + 6] = {"law",       "preset",         "strain",
                                       "inversion", "exact_rotation", "fibre_stress"};
    for (int i = 0; i < CONSTANTS; i++) {
        keys[6 + i] = constants[i].key;
    }
    return sn_scene_check_object(reader, json, keys, CONSTANTS + 6);
}

static void read_law(const sn_scene_reader *reader, const sn_json *json, sinew_material_def *def) {
    const char *words[MAX_WORDS];
    int32_t index;
    int32_t count = sinew_material_law_count();

    for (int32_t i = 0; i < count; i++) {
        words[i] = sinew_material_law_name(i);
    }

    if (!json || !sn_json_word(reader->mistakes, json, words, count, &index)) {
        return;
    }

    sinew_material_set_law(reader->scene->arena.context, words[index], def);
}

static void read_preset(const sn_scene_reader *reader, const sn_json *json,
                        sinew_material_def *def) {
    const char *words[MAX_WORDS];
    int32_t index, count;
    const sinew_material_preset *presets = sinew_material_presets(&count);

    for (int32_t i = 0; i < count && i < MAX_WORDS; i++) {
        words[i] = presets[i].name;
    }

    if (!json || !sn_json_word(reader->mistakes, json, words, count, &index)) {
        return;
    }

    sinew_material_set_preset(reader->scene->arena.context, words[index], def);
}

// Six constants of the general orthotropic solid switch off the four-parameter form; defaults for
// some of them would be of another stuff.
static void read_form(const sn_scene_reader *reader, const sn_json *json,
                      sinew_orthotropic *orthotropic) {
    static const char *const keys[] = {"poisson_12", "poisson_23", "poisson_31",
                                       "shear_12",   "shear_23",   "shear_31"};

    // Which of the six are given.
    const char *missing = NULL;
    int given = 0;
    for (int i = 0; i < 6; i++) {
        if (sn_json_get(json, keys[i])) {
            given++;
        } else {
            missing = keys[i];
        }
    }

    orthotropic->four_parameters = given == 0;
    if (given == 0 || !missing) {
        return;
    }

    sn_json_mistake(reader->mistakes, json,
                    "\"%s\" is missing: poisson_12, poisson_23, poisson_31, shear_12, shear_23, "
                    "shear_31 are needed together, "
                    "or none of them, and \"poisson\" instead",
                    missing);
}

// Constants that nothing would come of: of a law with axes given to another, or of isotropic laws
// given to one with axes.
static void check_idle(const sn_scene_reader *reader, const sn_json *json,
                       const sinew_material_def *def) {
    bool orthotropic = def->law == SINEW_MATERIAL_ORTHOTROPIC;
    bool transverse = def->law == SINEW_MATERIAL_TRANSVERSE;
    const char *law = orthotropic ? "orthotropic" : transverse ? "transverse" : "";

    // Constants that belong to another law.
    for (int i = 0; i < CONSTANTS; i++) {
        const sn_json *value = sn_json_get(json, constants[i].key);
        if (!value || !constants[i].law || strcmp(constants[i].law, law) == 0) {
            continue;
        }
        sn_json_mistake(reader->mistakes, value, "has no effect without \"law\": \"%s\"",
                        constants[i].law);
    }

    // Constants of isotropic laws.
    const sn_json *young = sn_json_get(json, "young");
    const sn_json *poisson = sn_json_get(json, "poisson");
    if (young && (orthotropic || transverse)) {
        sn_json_mistake(reader->mistakes, young, "has no effect: this law has %s",
                        orthotropic ? "young_1, young_2 and young_3"
                                    : "young_fibre and young_plane");
    }

    if (poisson && (transverse || (orthotropic && !def->orthotropic.four_parameters))) {
        sn_json_mistake(reader->mistakes, poisson, "has no effect: %s",
                        transverse ? "this law has poisson_fibre and poisson_plane"
                                   : "poisson_12 and the others say it");
    }
}

// Fibres pull as strongly as a curve over time says; at no time do they push.
static void read_fibre_stress(const sn_scene_reader *reader, const sn_json *json, sn_curve *curve) {
    if (!json) {
        return;
    }

    sn_scene_read_curve(reader, json, 1, curve);
    double lowest =
        curve->kind == SN_CURVE_SINE ? curve->value - fabs(curve->amplitude) : curve->value;

    for (int32_t i = 0; i < curve->key_count; i++) {
        lowest = i == 0 ? curve->values[0] : fmin(lowest, curve->values[i]);
    }

    if (lowest < 0) {
        sn_json_mistake(reader->mistakes, json,
                        "falls to %g Pa; fibres pull, so that it is at least 0 at all times",
                        lowest);
    }
}

static void read_def(const sn_scene_reader *reader, const sn_json *json,
                     sn_scene_material *material) {
    static const char *const strains[] = {"infinitesimal", "green", "corotational"};
    sinew_context *context = reader->scene->arena.context;
    sinew_material_def *def = &material->def;

    *def = sinew_default_material_def();
    if (!check_keys(reader, json)) {
        return;
    }

    // Law and preset first: the constants that follow override theirs.
    int64_t before = reader->mistakes->total;
    read_law(reader, sn_json_get(json, "law"), def);
    read_preset(reader, sn_json_get(json, "preset"), def);

    int32_t strain = (int32_t)def->strain;
    sn_json_word(reader->mistakes, sn_json_get(json, "strain"), strains, 3, &strain);
    def->strain = (sinew_strain)strain;
    sn_json_boolean(reader->mistakes, sn_json_get(json, "inversion"), &def->inversion);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "exact_rotation"), &def->exact_rotation);

    // Numbers by table.
    for (int i = 0; i < CONSTANTS; i++) {
        const sn_json *value = sn_json_get(json, constants[i].key);
        if (!value) {
            continue;
        }
        double *target = (double *)(void *)((char *)def + constants[i].offset);
        sn_json_number(reader->mistakes, value, -INFINITY, INFINITY, constants[i].unit, target);
    }

    // Later checks run only if what they check was read.
    read_form(reader, json, &def->orthotropic);
    if (reader->mistakes->total == before) {
        check_idle(reader, json, def);
    }

    read_fibre_stress(reader, sn_json_get(json, "fibre_stress"), &material->fibre_stress);
    if (reader->mistakes->total == before) {
        def->fibre_stress = sn_curve_at(&material->fibre_stress, 0);
    }
    if (reader->mistakes->total == before && sinew_check_material(context, def) != SINEW_OK) {
        sn_json_mistake(reader->mistakes, json, "%s", sinew_context_message(context));
    }
}

// Room for one more material at the end of the list; NULL if memory is exhausted. The list is full
// when its length is a power of two; then it doubles.
static sn_scene_material *reserve_material(sn_scene_reader *reader) {
    sn_scene *scene = reader->scene;
    int32_t count = scene->material_count;
    if ((count & (count - 1)) != 0) {
        return &scene->materials[count];
    }

    sn_scene_material *list = sn_scene_push(reader, count ? 2 * count : 1, sizeof *list);
    if (!list) {
        return NULL;
    }
    if (count) {
        memcpy(list, scene->materials, (size_t)count * sizeof *list);
    }

    scene->materials = list;
    return &list[count];
}

static int32_t add_material(sn_scene_reader *reader, const char *name, const sn_json *json) {
    sn_scene_material *material = reserve_material(reader);
    if (!material) {
        return -1;
    }

    material->name = name;
    material->fibre_stress = (sn_curve){0};
    read_def(reader, json, material);

    return reader->scene->material_count++;
}

static int32_t add_default_material(sn_scene_reader *reader) {
    sn_scene_material *material = reserve_material(reader);
    if (!material) {
        return -1;
    }

    *material = (sn_scene_material){.name = "default", .def = sinew_default_material_def()};
    return reader->scene->material_count++;
}

void sn_scene_read_materials(sn_scene_reader *reader, const sn_json *json) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_OBJECT)) {
        return;
    }

    for (int32_t i = 0; i < json->count; i++) {
        if (json->items[i].key[0] != '/') {
            add_material(reader, json->items[i].key, &json->items[i]);
        }
    }
}

int32_t sn_scene_read_material(sn_scene_reader *reader, const sn_json *json) {
    if (!json) {
        return add_default_material(reader);
    }
    if (json->kind != SN_JSON_STRING) {
        return add_material(reader, "inline", json);
    }

    // A word names an entry of "materials".
    const char *words[MAX_WORDS];
    int32_t index = -1, count = 0;
    for (int32_t i = 0; i < reader->scene->material_count && count < MAX_WORDS; i++) {
        words[count++] = reader->scene->materials[i].name;
    }

    sn_json_word(reader->mistakes, json, words, count, &index);
    return index;
}
