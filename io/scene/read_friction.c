// The table of friction of a scene: pairs of materials by name.
//
// A body goes by the name of its material, an obstacle by its own, unless they say otherwise. The
// names that occur in the table are numbered from 1 in the order of their first mention.
#include "io/scene/read.h"

#include "io/text/suggest.h"

#include <math.h>
#include <string.h>

static const char *name_of_body(const sn_scene *scene, const sn_scene_body *body) {
    if (body->contact_material || body->material < 0) {
        return body->contact_material;
    }
    return scene->materials[body->material].name;
}

static const char *name_of_obstacle(const sn_scene_obstacle *obstacle) {
    return obstacle->material ? obstacle->material : obstacle->def.name;
}

// The names that something in the scene goes by.
static int32_t list_names(const sn_scene *scene, const sn_scene_obstacle *obstacles,
                          const char **names) {
    int32_t count = 0;
    for (int32_t i = 0; i < scene->body_count; i++) {
        const char *name = name_of_body(scene, &scene->bodies[i]);
        if (name) {
            names[count++] = name;
        }
    }

    for (int32_t i = 0; i < scene->obstacle_count; i++) {
        const char *name = name_of_obstacle(&obstacles[i]);
        if (name) {
            names[count++] = name;
        }
    }
    return count;
}

static int32_t find_name(const char *const *names, int32_t count, const char *name) {
    if (name) {
        for (int32_t i = 0; i < count; i++) {
            if (strcmp(names[i], name) == 0) {
                return i;
            }
        }
    }
    return -1;
}

// A name of the table: its number from 1, or 0 with a mistake.
static int32_t read_name(const sn_scene_reader *reader, const sn_json *json,
                         const char *const *known, int32_t known_count, const char **numbered,
                         int32_t *numbered_count) {
    const char *name = NULL;
    if (!sn_json_string(reader->mistakes, json, &name)) {
        return 0;
    }

    if (find_name(known, known_count, name) < 0) {
        int32_t similar = sn_suggest(name, known, known_count);
        sn_json_mistake(reader->mistakes, json,
                        "nothing in the scene goes by the name \"%s\"%s%s%s: bodies go by that of "
                        "their material, obstacles by their own",
                        name, similar >= 0 ? "; did you mean \"" : "",
                        similar >= 0 ? known[similar] : "", similar >= 0 ? "\"" : "");
        return 0;
    }

    int32_t index = find_name(numbered, *numbered_count, name);
    if (index < 0) {
        index = (*numbered_count)++;
        numbered[index] = name;
    }
    return index + 1;
}

void sn_scene_read_pairs(sn_scene_reader *reader, const sn_json *json, sn_scene_body *bodies,
                         sn_scene_obstacle *obstacles) {
    sn_scene *scene = reader->scene;
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }

    int32_t most = scene->body_count + scene->obstacle_count;
    const char **known = sn_scene_push(reader, most, sizeof *known);
    const char **numbered = sn_scene_push(reader, 2 * json->count, sizeof *numbered);
    sn_scene_friction *pairs = sn_scene_push(reader, json->count, sizeof *pairs);
    if (!known || !numbered || !pairs) {
        return;
    }
    int32_t known_count = list_names(scene, obstacles, known);
    int32_t count = 0;

    for (int32_t i = 0; i < json->count; i++) {
        const sn_json *item = &json->items[i];
        pairs[i] = (sn_scene_friction){.json = item, .friction = 0.5};
        if (!sn_scene_check_object(reader, item, SN_KEYS("between", "friction"))) {
            continue;
        }

        const sn_json *between = sn_json_require(reader->mistakes, item, "between");
        sn_json_number(reader->mistakes, sn_json_require(reader->mistakes, item, "friction"), 0,
                       INFINITY, "", &pairs[i].friction);
        if (!between || !sn_json_is(reader->mistakes, between, SN_JSON_ARRAY)) {
            continue;
        }
        if (between->count != 2) {
            sn_json_mistake(reader->mistakes, between, "%d names: friction acts between two",
                            (int)between->count);
            continue;
        }
        for (int k = 0; k < 2; k++) {
            pairs[i].material[k] =
                read_name(reader, &between->items[k], known, known_count, numbered, &count);
        }
    }

    // Everything receives the number of its name.
    for (int32_t i = 0; i < scene->body_count; i++) {
        int32_t number = 1 + find_name(numbered, count, name_of_body(scene, &bodies[i]));
        bodies[i].contact.material = number;
        bodies[i].contact_given |= number > 0;
    }
    for (int32_t i = 0; i < scene->obstacle_count; i++) {
        obstacles[i].def.material = 1 + find_name(numbered, count, name_of_obstacle(&obstacles[i]));
    }

    scene->contact.pairs = pairs;
    scene->contact.pair_count = json->count;
}
