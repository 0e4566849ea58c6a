// The small things of a scene: names, lengths, directions, rotations, curves over time, selections.
#include "io/scene/read.h"

#include "math/quat.h"

#include <math.h>
#include <string.h>

static const double radians = 3.14159265358979323846 / 180;

enum { LONGEST_NAME = 100 }; // bytes

// Names become names of files and of columns, so they must not lead anywhere else. Bytes from 128
// on are letters of other languages.
static bool is_plain_name(const char *name, int32_t length) {
    if (length < 1 || length > LONGEST_NAME || name[0] == '.' || name[0] == ' ') {
        return false;
    }

    for (int32_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 128;
        bool digit = c >= '0' && c <= '9';
        bool mark = c == ' ' || c == '_' || c == '-' || c == '.';
        if (!letter && !digit && !mark) {
            return false;
        }
    }

    return true;
}

void sn_scene_read_name(const sn_scene_reader *reader, const sn_json *json, const char **name) {
    const char *text;
    if (!json || !sn_json_string(reader->mistakes, json, &text)) {
        return;
    }
    if (!is_plain_name(text, json->count)) {
        sn_json_mistake(
            reader->mistakes, json,
            "a name consists of 1 to %d letters, digits, spaces and the marks _ - . and "
            "begins with neither a space nor a dot: it becomes the name of files or columns",
            LONGEST_NAME);
        return;
    }

    *name = text;
}

bool sn_scene_read_length(const sn_scene_reader *reader, const sn_json *json, double *out) {
    double value = *out / reader->scene->unit;
    if (!sn_json_number(reader->mistakes, json, -INFINITY, INFINITY, "", &value)) {
        return false;
    }
    *out = value * reader->scene->unit;
    return true;
}

bool sn_scene_read_lengths(const sn_scene_reader *reader, const sn_json *json, double out[3]) {
    double values[3];
    if (!json || !sn_json_numbers(reader->mistakes, json, 3, values)) {
        return false;
    }

    for (int k = 0; k < 3; k++) {
        out[k] = values[k] * reader->scene->unit;
    }

    return true;
}

bool sn_scene_read_direction(const sn_scene_reader *reader, const sn_json *json, double out[3]) {
    double values[3];
    if (!json || !sn_json_numbers(reader->mistakes, json, 3, values)) {
        return false;
    }

    double length = sn_length(sn_load3(values));
    if (!(length > 0) || !isfinite(length)) {
        sn_json_mistake(reader->mistakes, json, "a direction must not be zero");
        return false;
    }

    sn_store3(out, sn_scale(1 / length, sn_load3(values)));
    return true;
}

bool sn_scene_read_rotation(const sn_scene_reader *reader, const sn_json *json, double out[4]) {
    if (!json) {
        return true;
    }

    // A quaternion.
    if (json->kind == SN_JSON_ARRAY) {
        double q[4];
        if (!sn_json_numbers(reader->mistakes, json, 4, q)) {
            return false;
        }

        if (!(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-12)) {
            sn_json_mistake(reader->mistakes, json,
                            "a quaternion [x, y, z, w] must not be zero; [0, 0, 0, 1] is no turn");
            return false;
        }

        for (int k = 0; k < 4; k++) {
            out[k] = q[k];
        }

        return true;
    }

    // Axis and angle.
    double axis[3] = {0, 0, 1};
    double degrees = 0;
    if (!sn_scene_check_object(reader, json, SN_KEYS("axis", "degrees"))) {
        return false;
    }

    sn_scene_read_direction(reader, sn_json_require(reader->mistakes, json, "axis"), axis);
    sn_json_number(reader->mistakes, sn_json_require(reader->mistakes, json, "degrees"), -1e6, 1e6,
                   "degrees", &degrees);

    sn_quat q = sn_quat_exp(sn_scale(degrees * radians, sn_load3(axis)));
    out[0] = q.x;
    out[1] = q.y;
    out[2] = q.z;
    out[3] = q.w;

    return true;
}

static void read_keys(const sn_scene_reader *reader, const sn_json *json, double unit,
                      sn_curve *curve) {
    if (!sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }

    if (json->count < 1) {
        sn_json_mistake(reader->mistakes, json, "needs at least one pair [time, value]");
        return;
    }

    double *times = sn_scene_push(reader, json->count, sizeof *times);
    double *values = sn_scene_push(reader, json->count, sizeof *values);
    if (!times || !values) {
        return;
    }

    // Values are in the unit of the curve; times ascend strictly.
    for (int32_t i = 0; i < json->count; i++) {
        double pair[2] = {0, 0};
        sn_json_numbers(reader->mistakes, &json->items[i], 2, pair);
        times[i] = pair[0];
        values[i] = pair[1] * unit;

        if (i > 0 && !(times[i] > times[i - 1])) {
            sn_json_mistake(reader->mistakes, &json->items[i], "times must ascend: %g follows %g",
                            times[i], times[i - 1]);
        }
    }

    curve->kind = SN_CURVE_KEYS;
    curve->key_count = json->count;
    curve->times = times;
    curve->values = values;
}

void sn_scene_read_curve(const sn_scene_reader *reader, const sn_json *json, double unit,
                         sn_curve *curve) {
    if (!json) {
        return;
    }

    if (json->kind == SN_JSON_NUMBER) {
        *curve = (sn_curve){.kind = SN_CURVE_CONSTANT, .value = json->number * unit};
        return;
    }

    if (!sn_scene_check_object(
            reader, json, SN_KEYS("keys", "smooth", "loop", "sine", "period", "phase", "offset"))) {
        return;
    }

    *curve = (sn_curve){.kind = SN_CURVE_SINE, .period = 1};

    // Keys, or a sine.
    const sn_json *keys = sn_json_get(json, "keys");
    if (keys) {
        read_keys(reader, keys, unit, curve);
        sn_json_boolean(reader->mistakes, sn_json_get(json, "smooth"), &curve->smooth);
        sn_json_boolean(reader->mistakes, sn_json_get(json, "loop"), &curve->loop);
        return;
    }

    sn_json_number(reader->mistakes, sn_json_require(reader->mistakes, json, "sine"), -INFINITY,
                   INFINITY, "", &curve->amplitude);
    sn_json_number_inside(reader->mistakes, sn_json_get(json, "period"), 0, INFINITY, "s",
                          &curve->period);
    sn_json_number(reader->mistakes, sn_json_get(json, "phase"), -INFINITY, INFINITY, "turns",
                   &curve->phase);
    sn_json_number(reader->mistakes, sn_json_get(json, "offset"), -INFINITY, INFINITY, "",
                   &curve->value);
    curve->amplitude *= unit;
    curve->value *= unit;
}

double sn_curve_at(const sn_curve *curve, double time) {
    if (curve->kind == SN_CURVE_CONSTANT) {
        return curve->value;
    }

    if (curve->kind == SN_CURVE_SINE) {
        return curve->value +
               curve->amplitude * sin(360 * radians * (time / curve->period + curve->phase));
    }

    // Keys: repeated, or held beyond both ends.
    int32_t last = curve->key_count - 1;
    double first = curve->times[0];
    double span = curve->times[last] - first;
    if (curve->loop && span > 0 && time > first) {
        time = first + fmod(time - first, span);
    }
    if (time <= first) {
        return curve->values[0];
    }
    if (time >= curve->times[last]) {
        return curve->values[last];
    }

    // The key before, and the fraction of the way to the next one.
    int32_t i = 0;
    while (curve->times[i + 1] <= time) {
        i++;
    }

    double t = (time - curve->times[i]) / (curve->times[i + 1] - curve->times[i]);
    if (curve->smooth) {
        t = t * t * (3 - 2 * t);
    }

    return curve->values[i] + t * (curve->values[i + 1] - curve->values[i]);
}

static void read_parts(const sn_scene_reader *reader, const sn_json *json, sn_select *select) {
    if (!sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }

    sn_select *parts = sn_scene_push(reader, json->count, sizeof *parts);
    if (parts) {
        for (int32_t i = 0; i < json->count; i++) {
            sn_scene_read_select(reader, &json->items[i], &parts[i]);
        }
    }

    select->parts = parts;
    select->count = parts ? json->count : 0;
}

static void read_nodes(const sn_scene_reader *reader, const sn_json *json, sn_select *select) {
    if (!sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }

    int32_t *nodes = sn_scene_push(reader, json->count, sizeof *nodes);
    if (nodes) {
        for (int32_t i = 0; i < json->count; i++) {
            int64_t node = 0;
            sn_json_integer(reader->mistakes, &json->items[i], 0, INT32_MAX, &node);
            nodes[i] = (int32_t)node;
        }
    }

    select->nodes = nodes;
    select->count = nodes ? json->count : 0;
}

static void read_region(const sn_scene_reader *reader, const sn_json *json, sn_select *select) {
    if (select->kind == SN_SELECT_BOX) {
        if (!sn_scene_check_object(reader, json, SN_KEYS("lower", "upper"))) {
            return;
        }

        // Bounds that are left out do not bound.
        for (int k = 0; k < 3; k++) {
            select->lower[k] = -INFINITY;
            select->upper[k] = INFINITY;
        }

        sn_scene_read_lengths(reader, sn_json_get(json, "lower"), select->lower);
        sn_scene_read_lengths(reader, sn_json_get(json, "upper"), select->upper);
    } else if (select->kind == SN_SELECT_SPHERE) {
        if (!sn_scene_check_object(reader, json, SN_KEYS("center", "radius"))) {
            return;
        }

        sn_scene_read_lengths(reader, sn_json_require(reader->mistakes, json, "center"),
                              select->center);
        sn_scene_read_length(reader, sn_json_require(reader->mistakes, json, "radius"),
                             &select->radius);
    } else {
        if (!sn_scene_check_object(reader, json, SN_KEYS("point", "normal", "within"))) {
            return;
        }

        select->normal[2] = 1;
        select->radius = INFINITY;
        sn_scene_read_lengths(reader, sn_json_require(reader->mistakes, json, "point"),
                              select->center);
        sn_scene_read_direction(reader, sn_json_require(reader->mistakes, json, "normal"),
                                select->normal);
        sn_scene_read_length(reader, sn_json_get(json, "within"), &select->radius);
    }
}

void sn_scene_read_select(const sn_scene_reader *reader, const sn_json *json, sn_select *select) {
    static const char *const kinds[] = {"all",   "box",     "sphere", "plane", "label",
                                        "nodes", "surface", "any",    "every", "not"};
    *select = (sn_select){.kind = SN_SELECT_ALL, .json = json};
    if (!json) {
        return;
    }
    if (json->kind == SN_JSON_STRING) { // "all", "surface"
        int32_t kind = 0;

        sn_json_word(reader->mistakes, json, kinds, 10, &kind);
        if (kind != SN_SELECT_ALL && kind != SN_SELECT_SURFACE) {
            sn_json_mistake(reader->mistakes, json, "\"%s\" needs more: {\"%s\": ...}", kinds[kind],
                            kinds[kind]);
        }
        select->kind = (sn_select_kind)kind;
        return;
    }

    if (!sn_scene_check_object(reader, json, kinds, 10)) {
        return;
    }

    if (json->count != 1) {
        sn_json_mistake(reader->mistakes, json,
                        "a selection has one of: all, box, sphere, plane, label, nodes, surface, "
                        "any, every, not");
        return;
    }

    // The only key is the kind.
    const sn_json *item = &json->items[0];
    for (int kind = 0; kind < 10; kind++) {
        if (strcmp(item->key, kinds[kind]) == 0) {
            select->kind = (sn_select_kind)kind;
        }
    }

    // Its value is what the kind needs.
    int64_t label = 0;
    switch (select->kind) {
    case SN_SELECT_ALL:
    case SN_SELECT_SURFACE: break;
    case SN_SELECT_BOX:
    case SN_SELECT_SPHERE:
    case SN_SELECT_PLANE: read_region(reader, item, select); break;
    case SN_SELECT_LABEL:
        sn_json_integer(reader->mistakes, item, INT32_MIN, INT32_MAX, &label);
        select->label = (int32_t)label;
        break;
    case SN_SELECT_NODES: read_nodes(reader, item, select); break;
    case SN_SELECT_ANY:
    case SN_SELECT_EVERY: read_parts(reader, item, select); break;
    case SN_SELECT_NOT: {
        sn_select *part = sn_scene_push(reader, 1, sizeof *part);
        if (part) {
            sn_scene_read_select(reader, item, part);
        }
        select->parts = part;
        select->count = part ? 1 : 0;
        break;
    }
    }
}

static bool test_list(const sn_select *select, const sn_select_node *node) {
    // By number or by label.
    if (select->kind == SN_SELECT_NODES) {
        for (int32_t i = 0; i < select->count; i++) {
            if (select->nodes[i] == node->node) {
                return true;
            }
        }
        return false;
    }

    if (select->kind == SN_SELECT_LABEL) {
        for (int32_t i = 0; i < node->label_count; i++) {
            if (node->labels[i] == select->label) {
                return true;
            }
        }
        return false;
    }

    // By other selections: "every" stops at the first that is not met, "any" at the first that is.
    bool every = select->kind == SN_SELECT_EVERY;
    for (int32_t i = 0; i < select->count; i++) {
        if (sn_select_test(&select->parts[i], node) != every) {
            return !every;
        }
    }

    return every;
}

bool sn_select_test(const sn_select *select, const sn_select_node *node) {
    sn_vec3 x = sn_load3(node->position);
    sn_vec3 c = sn_load3(select->center);
    double height;

    switch (select->kind) {
    case SN_SELECT_ALL: return true;
    case SN_SELECT_SURFACE: return node->surface;
    case SN_SELECT_BOX:
        for (int k = 0; k < 3; k++) {
            double slack = 1e-9 * (fabs(node->position[k]) + 1e-6); // a node on the face is inside
            if (node->position[k] < select->lower[k] - slack ||
                node->position[k] > select->upper[k] + slack) {
                return false;
            }
        }
        return true;
    case SN_SELECT_SPHERE: return sn_distance(x, c) <= select->radius * (1 + 1e-9);
    case SN_SELECT_PLANE:
        height = sn_dot(sn_sub(x, c), sn_load3(select->normal));
        return height >= -1e-9 && height <= select->radius * (1 + 1e-9);
    case SN_SELECT_NOT: return select->count == 1 && !sn_select_test(&select->parts[0], node);
    default: return test_list(select, node);
    }
}
