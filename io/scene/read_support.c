// What holds a body (fixed and scripted parts) and what loads it.
#include "io/scene/read.h"

#include <math.h>

static const double radians = 3.14159265358979323846 / 180;

// "xyz", "x", "xz": bits of the held directions.
static int32_t read_axes(const sn_scene_reader *reader, const sn_json *json) {
    const char *text = "xyz";
    int32_t axes = 0;
    if (!sn_json_string(reader->mistakes, json, &text)) {
        return SINEW_AXIS_ALL;
    }

    for (const char *c = text; *c; c++) {
        if (*c < 'x' || *c > 'z') {
            sn_json_mistake(reader->mistakes, json,
                            "axes are letters out of x, y and z, e.g. \"xz\"");
            return SINEW_AXIS_ALL;
        }
        axes |= 1 << (*c - 'x');
    }

    return axes;
}

void sn_scene_read_motion(const sn_scene_reader *reader, const sn_json *json,
                          sn_scene_motion *motion) {
    if (!json || !sn_scene_check_object(reader, json, SN_KEYS("translate", "rotate"))) {
        return;
    }

    const sn_json *translate = sn_json_get(json, "translate");
    const sn_json *rotate = sn_json_get(json, "rotate");

    // Three curves of displacement.
    if (translate && sn_json_is(reader->mistakes, translate, SN_JSON_ARRAY)) {
        if (translate->count != 3) {
            sn_json_mistake(reader->mistakes, translate,
                            "needs three curves or numbers, for x, y and z");
        }

        for (int k = 0; k < 3 && k < translate->count; k++) {
            sn_scene_read_curve(reader, &translate->items[k], reader->scene->unit,
                                &motion->translate[k]);
        }
    }

    if (!rotate || !sn_scene_check_object(reader, rotate, SN_KEYS("axis", "center", "degrees"))) {
        return;
    }

    // One rotation about an axis.
    motion->turns = true;
    motion->axis[2] = 1;
    sn_scene_read_direction(reader, sn_json_require(reader->mistakes, rotate, "axis"),
                            motion->axis);
    sn_scene_read_lengths(reader, sn_json_get(rotate, "center"), motion->center);
    sn_scene_read_curve(reader, sn_json_require(reader->mistakes, rotate, "degrees"), radians,
                        &motion->angle);
}

// "fixed" and "scripted": a selection or a list of {where, axes, motion}.
static int32_t read_list(const sn_scene_reader *reader, const sn_json *json, bool scripted,
                         sn_scene_support *supports) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return 0;
    }

    for (int32_t i = 0; i < json->count; i++) {
        const sn_json *item = &json->items[i];
        sn_scene_support *support = &supports[i];

        *support = (sn_scene_support){.axes = SINEW_AXIS_ALL, .scripted = scripted};

        // A bare selection stands for {"where": selection}.
        bool plain = item->kind == SN_JSON_STRING ||
                     (item->kind == SN_JSON_OBJECT && !sn_json_get(item, "where"));

        if (plain && !scripted) {
            sn_scene_read_select(reader, item, &support->where);
            continue;
        }

        // Otherwise an object; what is scripted needs a motion.
        bool known = scripted
                         ? sn_scene_check_object(reader, item, SN_KEYS("where", "axes", "motion"))
                         : sn_scene_check_object(reader, item, SN_KEYS("where", "axes"));
        if (!known) {
            continue;
        }

        sn_scene_read_select(reader, sn_json_require(reader->mistakes, item, "where"),
                             &support->where);
        support->axes = read_axes(reader, sn_json_get(item, "axes"));

        if (scripted) {
            sn_scene_read_motion(reader, sn_json_require(reader->mistakes, item, "motion"),
                                 &support->motion);
        }
    }

    return json->count;
}

void sn_scene_read_supports(const sn_scene_reader *reader, const sn_json *body_json,
                            sn_scene_body *body) {
    const sn_json *fixed = sn_json_get(body_json, "fixed");
    const sn_json *scripted = sn_json_get(body_json, "scripted");
    int32_t count = (fixed && fixed->kind == SN_JSON_ARRAY ? fixed->count : 0) +
                    (scripted && scripted->kind == SN_JSON_ARRAY ? scripted->count : 0);
    sn_scene_support *supports = sn_scene_push(reader, count, sizeof *supports);

    if (!supports) {
        return;
    }

    int32_t used = read_list(reader, fixed, false, supports);
    used += read_list(reader, scripted, true, supports + used);
    body->supports = supports;
    body->support_count = used;
}

// Where a load acts: on a part, or, of bodies of frames, at a point or on a frame.
static void read_place(const sn_scene_reader *reader, const sn_json *item,
                       const sn_scene_body *body, sn_scene_load *load) {
    const sn_json *where = sn_json_get(item, "where");
    const sn_json *point = sn_json_get(item, "point");
    const sn_json *node = sn_json_get(item, "node");

    if ((where != NULL) + (point != NULL) + (node != NULL) != 1) {
        sn_json_mistake(reader->mistakes, item,
                        "a load acts at one of \"where\", \"point\", \"node\"");
    }

    const sn_json *special = point ? point : node;
    if (special && !body->frames) {
        sn_json_key_mistake(reader->mistakes, special, "this belongs to bodies of frames");
    }

    // Read whatever is there, so that its mistakes are reported too.
    if (where) {
        sn_scene_read_select(reader, where, &load->where);
    }
    if (point) {
        load->at_point = sn_scene_read_lengths(reader, point, load->point);
    }

    int64_t number = 0;
    if (node) {
        load->at_node = sn_json_integer(reader->mistakes, node, 0, INT32_MAX, &number);
    }

    load->node = (int32_t)number;
}

// One of force, traction and pressure; at a point force only, on a frame force and torque.
static void read_vector(const sn_scene_reader *reader, const sn_json *item, sn_scene_load *load) {
    const sn_json *force = sn_json_get(item, "force");
    const sn_json *traction = sn_json_get(item, "traction");
    const sn_json *pressure = sn_json_get(item, "pressure");
    const sn_json *torque = sn_json_get(item, "torque");
    int32_t given = (force != NULL) + (traction != NULL) + (pressure != NULL);

    if ((load->at_point || load->at_node) && (traction || pressure)) {
        sn_json_mistake(reader->mistakes, item,
                        "only a \"force\" can act at a point or on a frame");
    } else if (given != 1 && !(load->at_node && torque && given == 0)) {
        sn_json_mistake(reader->mistakes, item,
                        "a load has one of \"force\" [N], \"traction\" [Pa], \"pressure\" [Pa]");
    }

    if (torque && !load->at_node) {
        sn_json_key_mistake(reader->mistakes, torque, "only on a frame, with \"node\"");
    }

    load->kind = traction ? SN_LOAD_TRACTION : pressure ? SN_LOAD_PRESSURE : SN_LOAD_FORCE;
    sn_json_numbers(reader->mistakes, force ? force : traction, 3, load->vector);
    sn_json_numbers(reader->mistakes, torque, 3, load->torque);
    sn_json_number(reader->mistakes, pressure, -INFINITY, INFINITY, "Pa", &load->pressure);
}

void sn_scene_read_loads(const sn_scene_reader *reader, const sn_json *json, sn_scene_body *body) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }

    sn_scene_load *loads = sn_scene_push(reader, json->count, sizeof *loads);
    if (loads) {
        for (int32_t i = 0; i < json->count; i++) {
            const sn_json *item = &json->items[i];
            loads[i] =
                (sn_scene_load){.json = item, .scale = {.kind = SN_CURVE_CONSTANT, .value = 1}};
            if (!sn_scene_check_object(reader, item,
                                       SN_KEYS("name", "where", "point", "node", "force", "torque",
                                               "traction", "pressure", "scale"))) {
                continue;
            }

            // Where it acts, what it is, and how it changes over time.
            sn_json_string(reader->mistakes, sn_json_get(item, "name"), &loads[i].name);

            read_place(reader, item, body, &loads[i]);
            read_vector(reader, item, &loads[i]);
            sn_scene_read_curve(reader, sn_json_get(item, "scale"), 1, &loads[i].scale);
        }
    }

    body->loads = loads;
    body->load_count = loads ? json->count : 0;
}
