// The grain of a body while it is drawn: the curves change, the field between them is solved again,
// and the body goes on with the new axes.
#include "internal.h"

const sinew_field *studio_get_field(const studio *s, int32_t body) {
    if (s->grain.field && s->grain.body == body) {
        return s->grain.field;
    }
    return sinew_scene_get_body_field(s->scene, body);
}

void studio_drop_field(studio *s) {
    sinew_field_destroy(s->grain.field);
    s->grain = (studio_grain){0};
}

STUDIO_API int32_t studio_begin_field(studio *s, int32_t body, int32_t fibres) {
    studio_drop_field(s);
    if (!sinew_scene_get_body_mesh(s->scene, body)) {
        return studio_fail(s, "Curves guide the grain of bodies of elements.");
    }

    s->grain.body = body;
    s->grain.kind = fibres ? SINEW_FIELD_FIBRES : SINEW_FIELD_FRAMES;
    return SINEW_OK;
}

STUDIO_API int32_t studio_add_curve(studio *s, int32_t stroke, const double *points, int32_t count,
                                    const double *normal, double turn) {
    studio_grain *grain = &s->grain;
    if (grain->count == STUDIO_CURVES) {
        return studio_fail(s, "There are as many curves as the studio can hold.");
    }

    // The points live in the page's memory until the field is made.
    sinew_curve_def *curve = &grain->curves[grain->count++];
    *curve = sinew_default_curve_def();
    curve->kind = stroke ? SINEW_CURVE_STROKE : SINEW_CURVE_NURBS;
    curve->points = points;
    curve->point_count = count;
    curve->turn = turn;
    for (int k = 0; k < 3; k++) {
        curve->normal[k] = normal[k];
    }
    return SINEW_OK;
}

// Hands the axes of the field to its body.
static int32_t apply(studio *s) {
    sinew_body *body = sinew_world_get_body(s->world, s->grain.body);
    return studio_keep_message(
        s, sinew_body_set_material_axes(body, sinew_field_get_axes(s->grain.field)));
}

STUDIO_API int32_t studio_make_field(studio *s) {
    studio_grain *grain = &s->grain;
    sinew_field_def def = sinew_default_field_def();
    def.mesh = sinew_scene_get_body_mesh(s->scene, grain->body);
    def.kind = grain->kind;
    def.curves = grain->curves;
    def.curve_count = grain->count;

    sinew_status status = sinew_field_create(s->context, &def, &grain->field);
    return status == SINEW_OK ? apply(s) : studio_keep_message(s, status);
}

STUDIO_API int32_t studio_turn_curve(studio *s, int32_t curve, double turn) {
    sinew_status status = sinew_field_set_turn(s->grain.field, curve, turn);
    if (status == SINEW_OK) {
        status = sinew_field_solve(s->grain.field);
    }
    return status == SINEW_OK ? apply(s) : studio_keep_message(s, status);
}

STUDIO_API int32_t studio_move_curve(studio *s, int32_t curve, const double *points,
                                     int32_t count) {
    sinew_status status = sinew_field_move_curve(s->grain.field, curve, points, count);
    if (status == SINEW_OK) {
        status = sinew_field_solve(s->grain.field);
    }
    return status == SINEW_OK ? apply(s) : studio_keep_message(s, status);
}
