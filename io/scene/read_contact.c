// "contact", "obstacles" and what a body says of contact.
#include "io/scene/frames.h"
#include "io/scene/read.h"
#include "io/scene/rigid.h"

#include "math/quat.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const modes[] = {"interactive", "reliable"};
static const char *const overlap_rules[] = {"heal", "ignore", "refuse"};
static const char *const kinds[] = {"plane", "sphere", "box", "capsule", "mesh"};

enum { OBSTACLE_COLOR = 0xb9bec6 }; // a cool grey

static void read_friction(const sn_scene_reader *reader, const sn_json *json, double *friction) {
    sn_json_number(reader->mistakes, json, 0, INFINITY, "", friction);
}

static void read_positive_length(const sn_scene_reader *reader, const sn_json *json, double *out) {
    if (json && sn_scene_read_length(reader, json, out) && !(*out > 0)) {
        sn_json_mistake(reader->mistakes, json, "must be above 0");
    }
}

// The rotation that takes z to a unit vector.
static void rotate_z_to(const double up[3], double rotation[4]) {
    double w = 1 + up[2];
    sn_quat q = {-up[1], up[0], 0, w};
    if (w < 1e-9) {
        q = (sn_quat){1, 0, 0, 0};
    }

    q = sn_quat_normalize(q);
    memcpy(rotation, (double[]){q.x, q.y, q.z, q.w}, 4 * sizeof *rotation);
}

bool sn_scene_read_color(const sn_scene_reader *reader, const sn_json *json, uint32_t *color) {
    const char *text = NULL;
    if (!json || !sn_json_string(reader->mistakes, json, &text)) {
        return false;
    }

    char *end = NULL;
    unsigned long value = text[0] == '#' ? strtoul(text + 1, &end, 16) : 0;
    if (strlen(text) != 7 || end != text + 7 || !isxdigit((unsigned char)text[1])) {
        sn_json_mistake(reader->mistakes, json,
                        "\"%s\" is no colour; write six hexadecimal digits, as in \"#e07a5f\"",
                        text);
        return false;
    }
    *color = (uint32_t)value;
    return true;
}

// "ground": true, or {height, friction}: a floor across gravity.
static bool read_ground(const sn_scene_reader *reader, const sn_json *json,
                        sn_scene_obstacle *ground) {
    bool wanted = true;
    double height = 0;
    *ground = (sn_scene_obstacle){
        .json = json, .def = sinew_default_obstacle_def(), .color = OBSTACLE_COLOR, .opacity = 1};
    if (json->kind != SN_JSON_OBJECT) {
        sn_json_boolean(reader->mistakes, json, &wanted);
    } else if (sn_scene_check_object(reader, json, SN_KEYS("height", "friction"))) {
        sn_scene_read_length(reader, sn_json_get(json, "height"), &height);
        read_friction(reader, sn_json_get(json, "friction"), &ground->def.friction);
    }

    sn_vec3 up = sn_scale(-1, sn_load3(reader->scene->world.gravity));
    up = sn_length(up) > 0 ? sn_normalize(up) : sn_v3(0, 0, 1);
    sn_store3(ground->def.position, sn_scale(height, up));
    rotate_z_to((double[]){up.x, up.y, up.z}, ground->def.rotation);
    ground->def.name = "ground";
    reader->scene->preview.ground_height = height;
    return wanted;
}

// The surface of a mesh.
static void read_mesh(sn_scene_reader *reader, const sn_json *json, sn_scene_obstacle *obstacle) {
    const sn_json *given = sn_json_get(json, "shape");
    bool needed = obstacle->def.kind == SINEW_OBSTACLE_MESH;
    if (given && !needed) {
        sn_json_key_mistake(reader->mistakes, given, "this belongs to \"kind\": \"mesh\"");
    }
    if (!needed || !sn_json_require(reader->mistakes, json, "shape")) {
        return;
    }

    sn_scene_shape *shape = sn_scene_push(reader, 1, sizeof *shape);
    if (shape) {
        sn_scene_read_shape(reader, given, shape);
        sn_scene_check_closed(reader, json, "a mesh obstacle", shape);
        obstacle->shape = shape;
    }
}

static void read_obstacle(sn_scene_reader *reader, const sn_json *json,
                          sn_scene_obstacle *obstacle) {
    *obstacle = (sn_scene_obstacle){
        .json = json, .def = sinew_default_obstacle_def(), .color = OBSTACLE_COLOR, .opacity = 1};
    if (!sn_scene_check_object(reader, json,
                               SN_KEYS("name", "kind", "shape", "position", "rotation", "radius",
                                       "size", "length", "friction", "material", "motion", "color",
                                       "opacity"))) {
        return;
    }

    // Default lengths are in metres, those of the file in its unit.
    sinew_obstacle_def *def = &obstacle->def;
    int32_t kind = 0;
    def->radius *= reader->scene->unit;
    def->length *= reader->scene->unit;
    sn_json_string(reader->mistakes, sn_json_get(json, "name"), &def->name);
    sn_json_word(reader->mistakes, sn_json_require(reader->mistakes, json, "kind"), kinds, 5,
                 &kind);
    def->kind = (sinew_obstacle_kind)kind;
    read_mesh(reader, json, obstacle);
    sn_scene_read_lengths(reader, sn_json_get(json, "position"), def->position);
    sn_scene_read_rotation(reader, sn_json_get(json, "rotation"), def->rotation);
    read_positive_length(reader, sn_json_get(json, "radius"), &def->radius);
    sn_scene_read_length(reader, sn_json_get(json, "length"), &def->length);
    sn_scene_read_lengths(reader, sn_json_get(json, "size"), def->size);
    read_friction(reader, sn_json_get(json, "friction"), &def->friction);
    sn_json_string(reader->mistakes, sn_json_get(json, "material"), &obstacle->material);
    sn_scene_read_color(reader, sn_json_get(json, "color"), &obstacle->color);
    sn_json_number(reader->mistakes, sn_json_get(json, "opacity"), 0, 1, "", &obstacle->opacity);

    obstacle->moves = sn_json_get(json, "motion") != NULL;
    sn_scene_read_motion(reader, sn_json_get(json, "motion"), &obstacle->motion);
}

void sn_scene_read_contact(sn_scene_reader *reader, const sn_json *json, const sn_json *list) {
    sn_scene *scene = reader->scene;
    sn_scene_contact *contact = &scene->contact;
    *contact = (sn_scene_contact){.def = sinew_default_contact_def(), .json = json ? json : list};
    contact->on = json || list;
    if (!contact->on) {
        return;
    }

    // One obstacle more than listed: the ground.
    bool listed = list && sn_json_is(reader->mistakes, list, SN_JSON_ARRAY);
    sn_scene_obstacle *obstacles =
        sn_scene_push(reader, (listed ? list->count : 0) + 1, sizeof *obstacles);
    if (!obstacles) {
        return;
    }
    if (listed) {
        for (int32_t i = 0; i < list->count; i++) {
            read_obstacle(reader, &list->items[i], &obstacles[scene->obstacle_count++]);
        }
    }
    scene->obstacles = obstacles;

    if (!json ||
        !sn_scene_check_object(reader, json,
                               SN_KEYS("mode", "bodies", "self", "friction", "friction_speed",
                                       "thickness", "overlaps", "ground", "pairs"))) {
        return;
    }

    // How contact is treated everywhere.
    int32_t mode = 0;
    sn_json_word(reader->mistakes, sn_json_get(json, "mode"), modes, 2, &mode);
    contact->def.mode = (sinew_contact_mode)mode;
    int32_t overlaps = 0;
    sn_json_word(reader->mistakes, sn_json_get(json, "overlaps"), overlap_rules, 3, &overlaps);
    contact->def.overlaps = (sinew_contact_overlap_rule)overlaps;
    sn_json_boolean(reader->mistakes, sn_json_get(json, "bodies"), &contact->def.bodies);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "self"), &contact->def.self);
    read_friction(reader, sn_json_get(json, "friction"), &contact->def.friction);
    read_positive_length(reader, sn_json_get(json, "friction_speed"), &contact->def.friction_speed);
    read_positive_length(reader, sn_json_get(json, "thickness"), &contact->def.thickness);

    // The ground is an obstacle like the others.
    const sn_json *ground = sn_json_get(json, "ground");
    if (ground && read_ground(reader, ground, &obstacles[scene->obstacle_count])) {
        scene->obstacle_count++;
        contact->ground = true;
    }
    sn_scene_read_pairs(reader, sn_json_get(json, "pairs"), scene->bodies, obstacles);
}

// "frames": true, or what the definition has.
static void read_contact_frames(const sn_scene_reader *reader, const sn_json *json,
                                sn_scene_body *body) {
    sinew_contact_frames_def *def = &body->contact_frames;
    *def = sinew_default_contact_frames_def();
    if (!json) {
        return;
    }

    body->contact_frames_given = true;
    if (json->kind != SN_JSON_OBJECT) {
        sn_json_boolean(reader->mistakes, json, &body->contact_frames_given);
    } else if (sn_scene_check_object(reader, json,
                                     SN_KEYS("most", "depth", "spread", "fade", "linger"))) {
        int64_t most = def->most;
        sn_json_integer(reader->mistakes, sn_json_get(json, "most"), 1, 16, &most);
        def->most = (int32_t)most;
        read_positive_length(reader, sn_json_get(json, "depth"), &def->depth);
        sn_json_number_inside(reader->mistakes, sn_json_get(json, "spread"), 0, INFINITY, "",
                              &def->spread);
        sn_json_number(reader->mistakes, sn_json_get(json, "fade"), 0, INFINITY, "s", &def->fade);
        sn_json_number(reader->mistakes, sn_json_get(json, "linger"), 0, INFINITY, "s",
                       &def->linger);
    }

    if (body->contact_frames_given && (!body->frames || body->frames->insertion_count > 0)) {
        sn_json_key_mistake(reader->mistakes, json,
                            "this belongs to \"model\": \"frames\" without \"insertions\"");
    }
}

void sn_scene_read_body_contact(const sn_scene_reader *reader, const sn_json *json,
                                sn_scene_body *body) {
    body->contact = sinew_default_body_contact_def();
    body->contact_given = json != NULL;
    if (!json) {
        return;
    }
    if (json->kind != SN_JSON_OBJECT) {
        sn_json_boolean(reader->mistakes, json, &body->contact.on);
        return;
    }
    if (sn_scene_check_object(reader, json,
                              SN_KEYS("friction", "thickness", "material", "frames"))) {
        read_friction(reader, sn_json_get(json, "friction"), &body->contact.friction);
        read_positive_length(reader, sn_json_get(json, "thickness"), &body->contact.thickness);
        sn_json_string(reader->mistakes, sn_json_get(json, "material"), &body->contact_material);
        read_contact_frames(reader, sn_json_get(json, "frames"), body);
    }
}

static void read_one_glue(const sn_scene_reader *reader, const sn_json *json, sn_scene_glue *glue) {
    sn_mistakes *mistakes = reader->mistakes;
    *glue = (sn_scene_glue){.json = json, .def = sinew_default_glue_def()};
    if (!sn_scene_check_object(reader, json,
                               SN_KEYS("body", "to", "reach", "stiffness", "strength"))) {
        return;
    }

    glue->body = sn_scene_find_body(reader, sn_json_require(mistakes, json, "body"));
    glue->target = sn_scene_find_body(reader, sn_json_require(mistakes, json, "to"));
    read_positive_length(reader, sn_json_get(json, "reach"), &glue->def.reach);
    sn_json_number(mistakes, sn_json_get(json, "stiffness"), 0, INFINITY, "N/m",
                   &glue->def.stiffness);
    sn_json_number_inside(mistakes, sn_json_get(json, "strength"), 0, INFINITY, "N",
                          &glue->def.strength);
}

void sn_scene_read_glue(sn_scene_reader *reader, const sn_json *json) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }

    sn_scene_glue *glues = sn_scene_push(reader, json->count, sizeof *glues);
    if (!glues) {
        return;
    }
    for (int32_t i = 0; i < json->count; i++) {
        read_one_glue(reader, &json->items[i], &glues[i]);
    }
    reader->scene->glues = glues;
    reader->scene->glue_count = json->count;
}
