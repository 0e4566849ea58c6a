// The section "field" of a body: where the axes of an anisotropic material point.
#include "io/scene/field.h"
#include "io/scene/read.h"

#include <math.h>
#include <stdio.h>

static const double RADIANS = 3.14159265358979323846 / 180;

// [[x, y, z], ...]: at least two points.
static double *read_points(const sn_scene_reader *reader, const sn_json *json, int32_t *count) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return NULL;
    }

    if (json->count < 2) {
        sn_json_mistake(reader->mistakes, json, "a curve needs at least 2 points, not %d",
                        (int)json->count);
        return NULL;
    }

    double *points = sn_scene_push(reader, 3 * json->count, sizeof *points);
    if (points) {
        for (int32_t i = 0; i < json->count; i++) {
            if (!sn_scene_read_lengths(reader, &json->items[i], points + 3 * (size_t)i)) {
                return NULL;
            }
        }
    }

    *count = json->count;
    return points;
}

static const double *read_list(const sn_scene_reader *reader, const sn_json *json, int32_t count,
                               const char *what) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return NULL;
    }

    if (json->count != count) {
        sn_json_mistake(reader->mistakes, json, "%d %s are needed, not %d", (int)count, what,
                        (int)json->count);
        return NULL;
    }

    double *list = sn_scene_push(reader, count, sizeof *list);
    if (list) {
        sn_json_numbers(reader->mistakes, json, count, list);
    }

    return list;
}

static void refuse(const sn_scene_reader *reader, const sn_json *json, const char *why) {
    if (json) {
        sn_json_mistake(reader->mistakes, json, "%s", why);
    }
}

static void read_curve(const sn_scene_reader *reader, const sn_json *json, sinew_curve_def *curve) {
    static const char *const kinds[] = {"nurbs", "stroke"};
    *curve = sinew_default_curve_def();
    if (!sn_scene_check_object(
            reader, json,
            SN_KEYS("name", "kind", "points", "weights", "knots", "normal", "turn"))) {
        return;
    }

    int32_t kind = 0, count = 0;
    double turn = 0;

    sn_json_string(reader->mistakes, sn_json_get(json, "name"), &curve->name);
    sn_json_word(reader->mistakes, sn_json_get(json, "kind"), kinds, 2, &kind);
    curve->kind = (sinew_curve_kind)kind;
    curve->points = read_points(reader, sn_json_require(reader->mistakes, json, "points"), &count);
    curve->point_count = count;

    // The spline has degree three, or less with few points.
    const sn_json *weights = sn_json_get(json, "weights");
    const sn_json *knots = sn_json_get(json, "knots");
    if (curve->kind == SINEW_CURVE_STROKE) {
        refuse(reader, weights, "weights and knots belong to NURBS; a stroke has none");
        refuse(reader, knots, "weights and knots belong to NURBS; a stroke has none");
    } else if (curve->points) {
        int32_t degree = count > 3 ? 3 : count - 1;
        curve->weights = read_list(reader, weights, count, "weights, one for each point,");
        curve->knots = read_list(reader, knots, count + degree + 1,
                                 "knots, as many as points and the degree and one,");
    }

    // How the cross-section is oriented.
    if (sn_json_get(json, "normal")) {
        sn_scene_read_direction(reader, sn_json_get(json, "normal"), curve->normal);
    }

    sn_json_number(reader->mistakes, sn_json_get(json, "turn"), -INFINITY, INFINITY, "degrees",
                   &turn);
    curve->turn = RADIANS * turn;
}

// A curve without a name is called by its place in the scene, and what the library would refuse is
// reported there.
static void check_curve(const sn_scene_reader *reader, const sn_json *json, const char *list,
                        int32_t index, sinew_curve_def *curve) {
    enum { NAME_SIZE = 32 };
    double length;
    if (!curve->name) {
        char *name = sn_scene_push(reader, NAME_SIZE, 1);
        if (name) {
            snprintf(name, NAME_SIZE, "%s[%d]", list, (int)index);
        }
        curve->name = name;
    }

    sinew_context *context = reader->scene->arena.context;
    sinew_status status =
        curve->points ? sinew_curve_compute_length(context, curve, &length) : SINEW_OK;
    if (status == SINEW_OK || status == SINEW_OUT_OF_MEMORY) {
        return; // the field will want the memory too
    }

    sn_json_mistake(reader->mistakes, json, "%s", sinew_context_message(context));
}

// "curves" and "strokes" in one list.
static void read_curves(const sn_scene_reader *reader, const sn_json *json, sinew_field_def *def) {
    const sn_json *curves = sn_json_get(json, "curves");
    const sn_json *strokes = sn_json_get(json, "strokes");
    if (curves && !sn_json_is(reader->mistakes, curves, SN_JSON_ARRAY)) {
        curves = NULL;
    }
    if (strokes && !sn_json_is(reader->mistakes, strokes, SN_JSON_ARRAY)) {
        strokes = NULL;
    }

    // Curves first, then strokes.
    int32_t first = curves ? curves->count : 0;
    int32_t count = first + (strokes ? strokes->count : 0);
    sinew_curve_def *list = sn_scene_push(reader, count, sizeof *list);
    if (!list) {
        return;
    }

    for (int32_t i = 0; i < first; i++) {
        int64_t before = reader->mistakes->total;
        read_curve(reader, &curves->items[i], &list[i]);
        if (reader->mistakes->total == before) {
            check_curve(reader, &curves->items[i], "curves", i, &list[i]);
        }
    }

    for (int32_t i = first; i < count; i++) {
        list[i] = sinew_default_curve_def();
        list[i].kind = SINEW_CURVE_STROKE;
        list[i].points = read_points(reader, &strokes->items[i - first], &list[i].point_count);
        check_curve(reader, &strokes->items[i - first], "strokes", i - first, &list[i]);
    }

    def->curves = list;
    def->curve_count = count;
}

// What would have no effect.
static void check_idle(const sn_scene_reader *reader, const sn_json *json,
                       const sn_scene_field *field) {
    static const char *const keys[] = {"by", "spacing", "reach"};
    if (field->file) {
        refuse(reader, sn_json_get(json, "kind"),
               "the file says whether it holds frames or fibres");
    }

    if (!field->file && !field->uniform) {
        return;
    }

    for (int k = 0; k < 3; k++) {
        refuse(reader, sn_json_get(json, keys[k]),
               "this is about smoothing between curves, and there are no curves");
    }
}

void sn_scene_read_field(const sn_scene_reader *reader, const sn_json *json, sn_scene_body *body) {
    static const char *const kinds[] = {"frames", "fibres"};
    static const char *const places[] = {"element", "vertex"};
    if (!json) {
        return;
    }

    sn_scene_field *field = sn_scene_push(reader, 1, sizeof *field);
    if (!field || !sn_scene_check_object(reader, json,
                                         SN_KEYS("kind", "by", "curves", "strokes", "own", "file",
                                                 "rotation", "spacing", "reach"))) {
        return;
    }

    // Strokes alone have no cross-section, so they give fibres.
    int32_t kind = sn_json_get(json, "strokes") && !sn_json_get(json, "curves")
                       ? SINEW_FIELD_FIBRES
                       : SINEW_FIELD_FRAMES;
    int32_t by = 0, ways = 0;

    field->json = json;
    field->def = sinew_default_field_def();
    field->def.turns = SINEW_FIELD_TURNS_LATER; // scenes turn none
    sn_json_word(reader->mistakes, sn_json_get(json, "kind"), kinds, 2, &kind);
    sn_json_word(reader->mistakes, sn_json_get(json, "by"), places, 2, &by);
    field->def.kind = (sinew_field_kind)kind;
    field->def.unknowns = (sinew_field_unknowns)by;

    // Where the field comes from: exactly one source.
    read_curves(reader, json, &field->def);
    sn_json_string(reader->mistakes, sn_json_get(json, "file"), &field->file);
    field->uniform = sn_json_get(json, "rotation") != NULL;

    if (field->uniform) {
        sn_scene_read_rotation(reader, sn_json_get(json, "rotation"), field->rotation);
    }

    sn_scene_read_length(reader, sn_json_get(json, "spacing"), &field->def.spacing);
    sn_scene_read_length(reader, sn_json_get(json, "reach"), &field->def.reach);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "own"), &field->own);

    if (field->own && !body->shape.is_organism) {
        sn_json_mistake(reader->mistakes, sn_json_get(json, "own"),
                        "only an organism has curves of its own");
    }

    ways = (field->def.curve_count > 0) + (field->file != NULL) + field->uniform + field->own;
    if (ways != 1) {
        sn_json_mistake(reader->mistakes, json,
                        "a field comes from \"curves\" and \"strokes\", or from a \"file\", or is "
                        "the organism's \"own\", or "
                        "one \"rotation\" for all");
        return;
    }

    check_idle(reader, json, field);
    field->kind_given = sn_json_get(json, "kind") != NULL;
    body->field = field;
}
