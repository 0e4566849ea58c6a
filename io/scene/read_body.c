// Bodies: shape, model, material, placement, what holds and what loads them.
#include "io/scene/read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void read_generated(const sn_scene_reader *reader, const sn_json *json,
                           sinew_shape_def *def) {
    // Only a rectangle is made of triangles.
    int32_t kind = SINEW_SHAPE_BOX;
    int32_t element = SINEW_ELEMENT_TET4;

    sn_json_word(reader->mistakes, sn_json_get(json, "kind"), SN_WORDS(SINEW_WORDS_SHAPES), &kind);
    def->shape = (sinew_shape)kind;
    if (def->shape == SINEW_SHAPE_RECTANGLE) {
        element = SINEW_ELEMENT_TRIANGLE;
    }

    sn_json_word(reader->mistakes, sn_json_get(json, "element"), SN_WORDS(SINEW_WORDS_ELEMENTS),
                 &element);
    def->element = (sinew_element)element;

    // Defaults are in the scene's unit.
    for (int k = 0; k < 3; k++) {
        def->size[k] = reader->scene->unit;
    }

    def->thickness = 0.25 * reader->scene->unit;
    def->cell_size = 0;
    sn_scene_read_lengths(reader, sn_json_get(json, "center"), def->center);
    sn_scene_read_lengths(reader, sn_json_get(json, "size"), def->size);
    sn_scene_read_length(reader, sn_json_get(json, "thickness"), &def->thickness);
    sn_scene_read_length(reader, sn_json_get(json, "cell"), &def->cell_size);

    // Whole numbers of cells, or a size of cell.
    double cells[3] = {0, 0, 0};
    const sn_json *cells_json = sn_json_get(json, "cells");
    if (sn_json_numbers(reader->mistakes, cells_json, 3, cells)) {
        for (int k = 0; k < 3; k++) {
            if (!(cells[k] >= 0 && cells[k] <= 100000 && cells[k] == floor(cells[k]))) {
                sn_json_mistake(reader->mistakes, cells_json,
                                "cells are whole numbers from 0 to 100000");
                cells[k] = 0;
            }
            def->cells[k] = (int32_t)cells[k];
        }
    }

    if (def->cell_size == 0) {
        def->cell_size = 0.1 * fmax(def->size[0], fmax(def->size[1], def->size[2]));
    }

    int64_t tets = def->tets_per_cell;
    sn_json_integer(reader->mistakes, sn_json_get(json, "tets_per_cell"), 5, 6, &tets);
    def->tets_per_cell = (int32_t)tets;
}

// How what is no mesh of solid elements yet is filled with them.
static void read_filling(const sn_scene_reader *reader, const sn_json *json,
                         sn_scene_shape *shape) {
    int32_t element = SINEW_ELEMENT_TET4;
    sn_json_word(reader->mistakes, sn_json_get(json, "element"), SN_WORDS(SINEW_WORDS_ELEMENTS),
                 &element);
    shape->quadratic = element == SINEW_ELEMENT_TET10;
    shape->tets = sinew_default_tetrahedralize_def();
    shape->tets.element = (sinew_element)element;

    int64_t count = shape->tets.tet_count;
    if (sn_json_get(json, "tets") || sn_json_get(json, "cell")) {
        shape->tetrahedralize = true;
    }

    sn_json_integer(reader->mistakes, sn_json_get(json, "tets"), 1, 50000000, &count);
    sn_scene_read_length(reader, sn_json_get(json, "cell"), &shape->tets.cell_size);
    shape->tets.tet_count = (int32_t)count;
}

static void read_organism(const sn_scene_reader *reader, const sn_json *json,
                          sn_scene_shape *shape) {
    const char *words[16];
    int32_t count = sn_organism_count();
    int32_t kind = 0;
    int64_t tets = 4000;

    for (int32_t i = 0; i < count && i < 16; i++) {
        words[i] = sn_organism_name((sn_organism_kind)i);
    }

    sn_json_word(reader->mistakes, sn_json_get(json, "organism"), words, count, &kind);
    sn_json_integer(reader->mistakes, sn_json_get(json, "tets"), 500, 50000000, &tets);
    shape->organism = (sn_organism_kind)kind;
    shape->organism_tets = (int32_t)tets;
}

void sn_scene_read_shape(const sn_scene_reader *reader, const sn_json *json,
                         sn_scene_shape *shape) {
    *shape = (sn_scene_shape){.generated = true, .shape = sinew_default_shape_def(), .scale = 1};
    if (!sn_scene_check_object(reader, json,
                               SN_KEYS("kind", "element", "center", "size", "thickness", "cells",
                                       "cell", "tets_per_cell", "file", "tets", "scale", "up",
                                       "solids", "volume", "threshold", "character", "bone_radius",
                                       "specimen", "voxels", "surfaces", "gradients", "layers",
                                       "organism", "stiffness", "density"))) {
        return;
    }

    // A volume keeps the unit of its file unless the scene scales it.
    sn_json_number_inside(reader->mistakes, sn_json_get(json, "scale"), 0, INFINITY, "",
                          &shape->scale);

    if (sn_json_get(json, "up")) {
        int axis = 1;
        sn_json_word(reader->mistakes, sn_json_get(json, "up"), (const char *const[]){"y", "z"}, 2,
                     &axis);
        shape->up = "yz"[axis];
    }

    const sn_json *solids = sn_json_get(json, "solids");
    if (sn_json_get(json, "scale")) {
        shape->volume_unit = shape->scale * reader->scene->unit;
    }

    sn_json_string(reader->mistakes, sn_json_get(json, "volume"), &shape->volume);
    shape->use_threshold = sn_json_get(json, "threshold") != NULL;
    sn_json_number(reader->mistakes, sn_json_get(json, "threshold"), -INFINITY, INFINITY, "",
                   &shape->threshold);
    if (shape->use_threshold && !shape->volume) {
        sn_json_mistake(reader->mistakes, sn_json_get(json, "threshold"),
                        "a threshold makes a solid of a \"volume\", which is missing");
    }

    shape->generated = !sn_json_get(json, "file") && !solids && !shape->volume;
    sn_scene_read_maps(reader, json, shape);

    // One source for each shape.
    shape->is_character = sn_json_get(json, "character") != NULL;
    shape->is_organism = sn_json_get(json, "organism") != NULL;

    if (shape->is_character) {
        int64_t tets = 3000;
        sn_scene_read_character(reader, sn_json_get(json, "character"), &shape->character);
        sn_json_integer(reader->mistakes, sn_json_get(json, "tets"), 100, 50000000, &tets);
        shape->character.tet_count = (int32_t)tets;
        sn_json_number(reader->mistakes, sn_json_get(json, "bone_radius"), 0, 10, "m",
                       &shape->character.bone_radius);
    } else if (shape->is_organism) {
        read_organism(reader, json, shape);
    } else if (shape->generated) {
        read_generated(reader, json, &shape->shape);
    } else {
        sn_json_string(reader->mistakes, sn_json_get(json, "file"), &shape->file);
        if (solids) {
            sn_scene_read_solids(reader, solids, shape);
        }
        read_filling(reader, json, shape);
    }
}

static void read_placement(const sn_scene_reader *reader, const sn_json *json,
                           sinew_body_def *def) {
    sn_scene_read_lengths(reader, sn_json_get(json, "position"), def->position);
    sn_scene_read_rotation(reader, sn_json_get(json, "rotation"), def->rotation);
    sn_scene_read_lengths(reader, sn_json_get(json, "velocity"), def->velocity);
    sn_json_numbers(reader->mistakes, sn_json_get(json, "angular_velocity"), 3,
                    def->angular_velocity);
}

static void read_damping(const sn_scene_reader *reader, const sn_json *json, sinew_body_def *def) {
    if (!json || !sn_scene_check_object(reader, json, SN_KEYS("mass", "stiffness"))) {
        return;
    }

    sn_json_number(reader->mistakes, sn_json_get(json, "mass"), 0, INFINITY, "1/s",
                   &def->mass_damping);
    sn_json_number(reader->mistakes, sn_json_get(json, "stiffness"), 0, INFINITY, "s",
                   &def->stiffness_damping);
}

// A whole number of up to nine digits.
bool sn_scene_read_label(const sn_scene_reader *reader, const sn_json *item, int32_t *label) {
    const char *key = item->key;
    int32_t value = 0, digits = 0;
    for (; key[digits] >= '0' && key[digits] <= '9' && digits < 9; digits++) {
        value = 10 * value + (key[digits] - '0');
    }

    *label = value;
    if (digits > 0 && key[digits] == '\0') {
        return true;
    }

    sn_json_key_mistake(reader->mistakes, item, "a label is a whole number in quotes, e.g. \"1\"");
    return false;
}

// {"1": "bone", "2": "fat"}: a material for each label.
static void read_labels(sn_scene_reader *reader, const sn_json *json, sn_scene_body *body) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_OBJECT)) {
        return;
    }

    sn_scene_label *labels = sn_scene_push(reader, json->count, sizeof *labels);
    if (labels) {
        for (int32_t i = 0; i < json->count; i++) {
            int32_t label;
            if (!sn_scene_read_label(reader, &json->items[i], &label)) {
                continue;
            }
            labels[i] = (sn_scene_label){label, sn_scene_read_material(reader, &json->items[i])};
        }
    }

    body->labels = labels;
    body->label_count = labels ? json->count : 0;
}

static void read_body(sn_scene_reader *reader, const sn_json *json, int32_t index,
                      sn_scene_body *body) {
    enum { FRAMES = 3, POSITIONS = 4, RIGID = 5 };
    static const char *const masses[] = {"auto", "lumped", "consistent"};
    static const char *const planes[] = {"strain", "stress"};
    static const char *const volumes[] = {"auto", "standard", "averaged"};

    // A body without a name is called by its number.
    char *name = sn_scene_push(reader, 24, 1);
    if (name) {
        snprintf(name, 24, "body%d", index);
    }

    body->name = name ? name : "body";
    body->json = json;
    body->def = sinew_default_body_def();
    body->material = -1;
    body->skeleton = -1;

    if (!sn_scene_check_object(
            reader, json,
            SN_KEYS("name", "shape", "model", "material", "materials", "mass", "volume", "plane",
                    "thickness", "damping", "solver", "position", "rotation", "velocity",
                    "angular_velocity", "fixed", "scripted", "loads", "surface", "field", "frames",
                    "positions", "reduced", "rigid", "skeleton", "binding", "contact", "color"))) {
        return;
    }

    // Shape and model decide which other keys make sense.
    int32_t model = 0, mass = 0, plane = 0, volume = 0;
    sn_scene_read_name(reader, sn_json_get(json, "name"), &body->name);
    sn_scene_read_shape(reader, sn_json_require(reader->mistakes, json, "shape"), &body->shape);

    // A character's surface shares the axes of its skeleton; `rotation` sets both upright.
    if (sn_json_get(json, "skeleton") && !body->shape.up) {
        body->shape.up = 'z';
    }
    sn_json_word(reader->mistakes, sn_json_get(json, "model"), SN_WORDS(SINEW_WORDS_MODELS),
                 &model);
    sn_json_word(reader->mistakes, sn_json_get(json, "mass"), masses, 3, &mass);
    sn_json_word(reader->mistakes, sn_json_get(json, "plane"), planes, 2, &plane);
    sn_json_word(reader->mistakes, sn_json_get(json, "volume"), volumes, 3, &volume);
    body->def.name = body->name;
    sn_scene_read_frames(reader, json, model == FRAMES, body);
    sn_scene_read_rigid(reader, json, model == RIGID, body);

    // Keys that frames do not have.
    const char *const for_elements[] = {"mass", "plane", "thickness", "volume"};

    if (model == FRAMES) {
        for (int i = 0; i < 4; i++) {
            const sn_json *value = sn_json_get(json, for_elements[i]);
            if (value) {
                sn_json_key_mistake(reader->mistakes, value, "this belongs to bodies of elements");
            }
        }
    }

    if (model == FRAMES && body->shape.is_organism) {
        sn_json_mistake(reader->mistakes, sn_json_get(sn_json_get(json, "shape"), "organism"),
                        "organisms are bodies of elements");
    }

    // Constants of the body.
    body->positions.used = model == POSITIONS;
    if (model < FRAMES) {
        body->def.model = (sinew_model)model;
    }

    body->def.mass = (sinew_mass_kind)mass;
    body->def.plane = (sinew_plane)plane;
    body->def.volume = (sinew_volume)volume;
    body->def.thickness = reader->scene->unit;
    sn_scene_read_length(reader, sn_json_get(json, "thickness"), &body->def.thickness);
    body->material = sn_scene_read_material(reader, sn_json_get(json, "material"));
    body->material_given = sn_json_get(json, "material") != NULL;
    read_labels(reader, sn_json_get(json, "materials"), body);
    read_damping(reader, sn_json_get(json, "damping"), &body->def);
    sn_scene_read_solver(reader, sn_json_get(json, "solver"), &body->solver);
    read_placement(reader, json, &body->def);

    // What acts on the body.
    sn_scene_read_supports(reader, json, body);
    sn_scene_read_loads(reader, sn_json_get(json, "loads"), body);

    // "skin" is the character's own surface, not a file.
    sn_json_string(reader->mistakes, sn_json_get(json, "surface"), &body->surface);
    body->skin = (body->shape.is_character || body->shape.is_organism) && body->surface &&
                 strcmp(body->surface, "skin") == 0;

    if (body->skin) {
        body->surface = NULL;
    }

    // Parts that have files of their own.
    sn_scene_read_field(reader, sn_json_get(json, "field"), body);
    sn_scene_read_positions(reader, sn_json_get(json, "positions"), body);
    sn_scene_read_reduced(reader, json, model == SINEW_MODEL_ELASTIC, body);
    sn_scene_read_binding(reader, json, body);
    sn_scene_read_body_contact(reader, sn_json_get(json, "contact"), body);
    body->color_given = sn_scene_read_color(reader, sn_json_get(json, "color"), &body->color);
}

void sn_scene_read_bodies(sn_scene_reader *reader, const sn_json *json) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }
    if (json->count == 0) {
        sn_json_mistake(reader->mistakes, json, "a scene needs at least one body");
    }

    sn_scene_body *bodies = sn_scene_push(reader, json->count, sizeof *bodies);
    if (!bodies) {
        return;
    }

    for (int32_t i = 0; i < json->count; i++) {
        read_body(reader, &json->items[i], i, &bodies[i]);

        // Names are how everything else refers to bodies.
        for (int32_t k = 0; k < i; k++) {
            if (strcmp(bodies[k].name, bodies[i].name) == 0) {
                sn_json_mistake(reader->mistakes, &json->items[i],
                                "another body is called \"%s\" already", bodies[i].name);
            }
        }
    }

    reader->scene->bodies = bodies;
    reader->scene->body_count = json->count;
}
