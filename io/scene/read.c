// The top level of a scene: version, units, world, and the lists of everything else.
#include "io/scene/read.h"

#include "io/text/names.h"
#include "io/text/units.h"

#include <math.h>
#include <string.h>

bool sn_scene_check_object(const sn_scene_reader *reader, const sn_json *json,
                           const char *const *keys, int32_t count) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_OBJECT)) {
        return false;
    }
    sn_json_check_keys(reader->mistakes, json, keys, count);
    return true;
}

void *sn_scene_push(const sn_scene_reader *reader, int32_t count, size_t size) {
    return sn_arena_push(&reader->scene->arena, (size_t)count, size);
}

int32_t sn_scene_find_body(const sn_scene_reader *reader, const sn_json *json) {
    const char *names[256];
    int32_t count = reader->scene->body_count < 256 ? reader->scene->body_count : 256;
    int32_t index = -1;

    for (int32_t i = 0; i < count; i++) {
        names[i] = reader->scene->bodies[i].name;
    }

    sn_json_word(reader->mistakes, json, names, count, &index);
    return index;
}

static void read_unit(const sn_scene_reader *reader, const sn_json *json, double *metres) {
    int32_t index = 0;
    if (json && sn_json_word(reader->mistakes, json, SN_WORDS(SINEW_WORDS_UNITS), &index)) {
        const char *name = sinew_words_get(SINEW_WORDS_UNITS, index);
        *metres = sn_unit_find((sn_word){name, strlen(name)});
    }
}

void sn_scene_read_unit(const sn_scene_reader *reader, const sn_json *json, double *metres) {
    if (json && json->kind == SN_JSON_NUMBER) {
        sn_json_number_inside(reader->mistakes, json, 0, INFINITY, "m", metres);
    } else {
        read_unit(reader, json, metres);
    }
}

void sn_scene_read_solver(const sn_scene_reader *reader, const sn_json *json,
                          sinew_solver *solver) {
    int32_t kind = (int32_t)*solver;
    sn_json_word(reader->mistakes, json, SN_WORDS(SINEW_WORDS_SOLVERS), &kind);
    *solver = (sinew_solver)kind;
}

static void read_solver(sn_scene_reader *reader, const sn_json *json) {
    sinew_world_def *world = &reader->scene->world;
    if (!sn_scene_check_object(
            reader, json,
            SN_KEYS("kind", "tolerance", "iterations", "newton_tolerance", "newton_iterations"))) {
        return;
    }

    int64_t iterations = world->solver_iterations;
    int64_t newton_iterations = world->newton_iterations;

    sn_scene_read_solver(reader, sn_json_get(json, "kind"), &world->solver);
    sn_json_number_inside(reader->mistakes, sn_json_get(json, "tolerance"), 0, 1, "",
                          &world->solver_tolerance);
    sn_json_integer(reader->mistakes, sn_json_get(json, "iterations"), 1, 1000000, &iterations);
    sn_json_number_inside(reader->mistakes, sn_json_get(json, "newton_tolerance"), 0, 1, "",
                          &world->newton_tolerance);
    sn_json_integer(reader->mistakes, sn_json_get(json, "newton_iterations"), 1, 1000000,
                    &newton_iterations);
    world->solver_iterations = (int32_t)iterations;
    world->newton_iterations = (int32_t)newton_iterations;
}

// Either "steps" or "duration"; 100 steps without both.
static void read_length_of_run(sn_scene_reader *reader, const sn_json *root) {
    sn_scene *scene = reader->scene;
    const sn_json *steps = sn_json_get(root, "steps");
    const sn_json *duration = sn_json_get(root, "duration");
    int64_t count = 100;
    double seconds = 0;

    if (steps && duration) {
        sn_json_key_mistake(reader->mistakes, duration,
                            "\"steps\" is given too; one of both is enough");
    }

    sn_json_integer(reader->mistakes, steps, 0, 100000000, &count);
    if (duration && sn_json_number(reader->mistakes, duration, 0, 1e9, "s", &seconds)) {
        count = (int64_t)fmin(ceil(seconds / scene->world.step - 1e-9), 1e8);
    }

    scene->steps = (int32_t)count;
}

static void read_statics(sn_scene_reader *reader, const sn_json *json) {
    sn_scene *scene = reader->scene;
    scene->static_def = sinew_default_static_def();
    if (!json) {
        return;
    }

    // true and false stand for the default settings.
    if (json->kind == SN_JSON_BOOLEAN) {
        scene->statics = json->boolean;
        return;
    }

    if (!sn_scene_check_object(reader, json, SN_KEYS("load_steps", "iterations", "tolerance"))) {
        return;
    }

    int64_t steps = scene->static_def.load_steps;
    int64_t iterations = scene->static_def.newton_iterations;

    sn_json_integer(reader->mistakes, sn_json_get(json, "load_steps"), 1, 100000, &steps);
    sn_json_integer(reader->mistakes, sn_json_get(json, "iterations"), 1, 100000, &iterations);
    sn_json_number_inside(reader->mistakes, sn_json_get(json, "tolerance"), 0, 1, "",
                          &scene->static_def.newton_tolerance);
    scene->static_def.load_steps = (int32_t)steps;
    scene->static_def.newton_iterations = (int32_t)iterations;
    scene->statics = true;
}

static void read_attachment(const sn_scene_reader *reader, const sn_json *json,
                            sn_scene_attachment *item) {
    sn_mistakes *mistakes = reader->mistakes;
    const sn_json *to = sn_json_get(json, "to");
    const sn_json *where = sn_json_get(json, "where");
    const sn_json *point = sn_json_get(json, "point");

    item->json = json;
    item->body = sn_scene_find_body(reader, sn_json_require(mistakes, json, "body"));
    item->target = to ? sn_scene_find_body(reader, to) : -1;

    // What is attached: the nodes of a selection, or a point.
    if ((where != NULL) + (point != NULL) != 1) {
        sn_json_mistake(mistakes, json, "an attachment is at one of \"where\" and \"point\"");
    }
    if (where) {
        sn_scene_read_select(reader, where, &item->where);
    }
    if (point) {
        item->at_point = sn_scene_read_lengths(reader, point, item->point);
    }

    // What it is attached to, and how stiffly.
    const sn_json *place = sn_json_get(json, "at");
    if (place) {
        item->has_place = sn_scene_read_lengths(reader, place, item->place);
    }

    sn_json_number(mistakes, sn_json_get(json, "stiffness"), 0, INFINITY, "N/m", &item->stiffness);
}

static void read_attachments(sn_scene_reader *reader, const sn_json *json) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }

    sn_scene_attachment *items = sn_scene_push(reader, json->count, sizeof *items);
    if (!items) {
        return;
    }

    for (int32_t i = 0; i < json->count; i++) {
        if (!sn_scene_check_object(reader, &json->items[i],
                                   SN_KEYS("body", "to", "where", "point", "at", "stiffness"))) {
            continue;
        }
        read_attachment(reader, &json->items[i], &items[i]);
    }

    reader->scene->attachments = items;
    reader->scene->attachment_count = json->count;
}

static void refuse_repeated_name(sn_scene_reader *reader, const sn_json *json,
                                 const sn_scene_probe *probes, int32_t index) {
    for (int32_t i = 0; i < index; i++) {
        if (strcmp(probes[i].name, probes[index].name) == 0) {
            sn_json_mistake(reader->mistakes, json, "another probe is called \"%s\" already",
                            probes[i].name);
            return;
        }
    }
}

static void read_probes(sn_scene_reader *reader, const sn_json *json) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }

    sn_scene_probe *items = sn_scene_push(reader, json->count, sizeof *items);
    if (!items) {
        return;
    }

    for (int32_t i = 0; i < json->count; i++) {
        const sn_json *item = &json->items[i];

        // A probe without a body belongs to the first.
        items[i].name = "probe";
        items[i].json = &json->items[i];
        if (!sn_scene_check_object(reader, item, SN_KEYS("name", "body", "point"))) {
            continue;
        }

        const sn_json *name = sn_json_require(reader->mistakes, item, "name");
        sn_scene_read_name(reader, name, &items[i].name);
        if (name) {
            refuse_repeated_name(reader, name, items, i);
        }

        const sn_json *body = sn_json_get(item, "body");
        items[i].body = body ? sn_scene_find_body(reader, body) : 0;
        sn_scene_read_lengths(reader, sn_json_require(reader->mistakes, item, "point"),
                              items[i].point);
    }

    reader->scene->probes = items;
    reader->scene->probe_count = json->count;
}

static void read_output(sn_scene_reader *reader, const sn_json *json) {
    sn_scene_output *output = &reader->scene->output;

    *output = (sn_scene_output){.formats = SINEW_FORMAT_GLB | SINEW_FORMAT_CSV | SINEW_FORMAT_PNG,
                                .every = 1,
                                .skin_joints = 4};

    if (!json || !sn_scene_check_object(reader, json, SN_KEYS("formats", "every", "skin_joints"))) {
        return;
    }

    // glTF stores joints in sets of four.
    int64_t every = 1, joints = 4;
    const sn_json *joints_json = sn_json_get(json, "skin_joints");
    if (sn_json_integer(reader->mistakes, joints_json, 4, 8, &joints) && joints != 4 &&
        joints != 8) {
        sn_json_mistake(reader->mistakes, joints_json, "%lld: valid are 4 and 8",
                        (long long)joints);
    }

    output->skin_joints = joints > 4 ? 8 : 4;
    sn_json_integer(reader->mistakes, sn_json_get(json, "every"), 1, 100000000, &every);
    output->every = (int32_t)every;

    // A list replaces the default formats.
    const sn_json *formats = sn_json_get(json, "formats");
    if (!formats || !sn_json_is(reader->mistakes, formats, SN_JSON_ARRAY)) {
        return;
    }

    output->formats = 0;
    for (int32_t i = 0; i < formats->count; i++) {
        int32_t index;
        if (sn_json_word(reader->mistakes, &formats->items[i], SN_WORDS(SINEW_WORDS_FORMATS),
                         &index)) {
            output->formats |= 1 << index;
        }
    }
}

static void read_preview(sn_scene_reader *reader, const sn_json *json) {
    sn_scene_preview *preview = &reader->scene->preview;
    *preview = (sn_scene_preview){.count = 6,
                                  .direction = {0.45, -0.8, 0.4},
                                  .width = 480,
                                  .height = 360,
                                  .ground = true,
                                  .ground_height = NAN,
                                  .ghost = true,
                                  .field = true,
                                  .frames = true};

    if (!json ||
        !sn_scene_check_object(reader, json,
                               SN_KEYS("color", "count", "from", "size", "largest", "ground",
                                       "ghost", "field", "frames", "contacts"))) {
        return;
    }

    // Values out of range are reported and replaced, so that reading can go on.
    int32_t color = 0;
    int64_t count = preview->count;
    double size[2] = {480, 360};

    sn_json_word(reader->mistakes, sn_json_get(json, "color"), SN_WORDS(SINEW_WORDS_COLORS),
                 &color);
    sn_json_integer(reader->mistakes, sn_json_get(json, "count"), 1, 64, &count);
    if (sn_json_get(json, "from")) {
        sn_scene_read_direction(reader, sn_json_get(json, "from"), preview->direction);
    }

    if (sn_json_numbers(reader->mistakes, sn_json_get(json, "size"), 2, size) &&
        !(size[0] >= 16 && size[0] <= 4096 && size[1] >= 16 && size[1] <= 4096)) {
        sn_json_mistake(reader->mistakes, sn_json_get(json, "size"),
                        "a picture is 16 to 4096 pixels wide and high");
        size[0] = size[1] = 16;
    }

    sn_json_number(reader->mistakes, sn_json_get(json, "largest"), 0, INFINITY, "",
                   &preview->largest);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "ground"), &preview->ground);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "ghost"), &preview->ghost);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "field"), &preview->field);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "frames"), &preview->frames);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "contacts"), &preview->contacts);
    preview->color = (sinew_scene_color)color;
    preview->count = (int32_t)count;
    preview->width = (int32_t)size[0];
    preview->height = (int32_t)size[1];
}

static void read_root(sn_scene_reader *reader, const sn_json *root) {
    sn_scene *scene = reader->scene;
    sn_mistakes *mistakes = reader->mistakes;
    if (!sn_scene_check_object(reader, root,
                               SN_KEYS("version", "title", "units", "gravity", "step", "steps",
                                       "duration", "integrator", "solver", "static", "materials",
                                       "skeletons", "bodies", "attachments", "joints", "glue",
                                       "probes", "contact", "obstacles", "output", "preview"))) {
        return;
    }

    int64_t version = 1;
    int32_t integrator = 0;

    sn_json_integer(mistakes, sn_json_require(mistakes, root, "version"), 1, 1, &version);
    sn_json_string(mistakes, sn_json_get(root, "title"), &scene->title);
    read_unit(reader, sn_json_get(root, "units"), &scene->unit);
    sn_json_numbers(mistakes, sn_json_get(root, "gravity"), 3, scene->world.gravity);
    sn_json_number_inside(mistakes, sn_json_get(root, "step"), 0, 1e6, "s", &scene->world.step);
    sn_json_word(mistakes, sn_json_get(root, "integrator"), SN_WORDS(SINEW_WORDS_INTEGRATORS),
                 &integrator);
    scene->world.integrator = (sinew_integrator)integrator;

    if (sn_json_get(root, "solver")) {
        read_solver(reader, sn_json_get(root, "solver"));
    }

    read_length_of_run(reader, root);
    read_statics(reader, sn_json_get(root, "static"));
    sn_scene_read_materials(reader, sn_json_get(root, "materials"));
    sn_scene_read_skeletons(reader, sn_json_get(root, "skeletons"));
    sn_scene_read_bodies(reader, sn_json_require(mistakes, root, "bodies"));
    read_attachments(reader, sn_json_get(root, "attachments"));
    sn_scene_read_joints(reader, sn_json_get(root, "joints"));
    sn_scene_read_glue(reader, sn_json_get(root, "glue"));
    read_probes(reader, sn_json_get(root, "probes"));
    read_output(reader, sn_json_get(root, "output"));
    read_preview(reader, sn_json_get(root, "preview"));
    sn_scene_read_contact(reader, sn_json_get(root, "contact"), sn_json_get(root, "obstacles"));

    // A floor is drawn only where things can land on it.
    scene->preview.ground = scene->preview.ground && scene->contact.ground;
}

sinew_status sn_scene_read(sinew_context *context, const char *name, const void *text, size_t size,
                           const char *const *settings, int32_t setting_count,
                           sn_mistakes *mistakes, sn_scene *scene) {
    *scene = (sn_scene){.arena = sn_arena_create(context),
                        .name = name,
                        .unit = 1,
                        .world = sinew_default_world_def()};

    sn_json_options options = {.name = name, .comments = true};
    sn_json_parse(context, text, size, &options, mistakes, &scene->document);
    sn_scene_reader reader = {scene, mistakes};
    if (scene->document.root) {
        for (int32_t i = 0; i < setting_count; i++) {
            sn_json_set(&scene->document, settings[i], mistakes);
        }
        read_root(&reader, scene->document.root);
    }

    SN_TRY(sn_arena_status(&scene->arena));
    sn_mistakes_sort(mistakes);

    return sn_mistakes_status(mistakes);
}

void sn_scene_destroy(sn_scene *scene) {
    sn_json_document_destroy(&scene->document);
    sn_arena_destroy(&scene->arena);
}
