// The hand: a spring from a point of a surface to a position that the page moves. It is part of the
// equations of the step, so that it is stable however stiff it is.
#include "internal.h"

#include <math.h>
#include <string.h>

static int32_t find_body(const studio *s, const sinew_body *body) {
    for (int32_t i = 0; i < sinew_world_get_body_count(s->world); i++) {
        if (sinew_world_get_body(s->world, i) == body) {
            return i;
        }
    }
    return -1;
}

// A stiffness at which pulling by a fraction of the body's size lifts it, or bends it visibly.
static double choose_stiffness(const studio *s, sinew_body *body) {
    sinew_measures measures;
    sinew_body_get_measures(body, &measures);
    double size = cbrt(fmax(measures.rest_volume, 1e-12));

    const studio_material *material = studio_find_material(s, find_body(s, body), 0);
    double young = material ? sinew_material_get_young(&material->def) : 0;

    return 40 * measures.mass / size + 0.02 * young * size;
}

STUDIO_API int32_t studio_grab(studio *s, double ox, double oy, double oz, double dx, double dy,
                               double dz, double stiffness) {
    studio_release(s);

    // The surface under the cursor, and the material point there.
    const double origin[3] = {ox, oy, oz}, direction[3] = {dx, dy, dz};
    sinew_surface_hit hit;
    if (studio_keep_message(s, sinew_world_cast_ray(s->world, origin, direction, INFINITY, &hit))) {
        return -2;
    }
    if (!hit.body) {
        return -1;
    }

    sinew_point *point = NULL;
    if (studio_keep_message(s, sinew_point_create_at(hit.body, hit.position, &point))) {
        return -2;
    }

    studio_hand hand = {.def = sinew_default_attachment_def(), .body = find_body(s, hit.body)};
    sinew_point_get_rest(point, hand.def.rest);
    sinew_point_destroy(point);
    hand.def.body = hit.body;
    hand.def.stiffness = stiffness > 0 ? stiffness : choose_stiffness(s, hit.body);

    if (studio_keep_message(s, sinew_world_attach(s->world, &hand.def, &hand.attachment))) {
        return -2;
    }

    s->hand = hand;
    return hand.body;
}

STUDIO_API int32_t studio_drag(studio *s, double x, double y, double z) {
    if (!s->hand.attachment) {
        return studio_fail(s, "nothing is held");
    }
    const double target[3] = {x, y, z};
    return studio_keep_message(s, sinew_attachment_set_target(s->hand.attachment, target));
}

STUDIO_API void studio_release(studio *s) {
    sinew_attachment_destroy(s->hand.attachment);
    s->hand.attachment = NULL;
}

STUDIO_API int32_t studio_set_hand_stiffness(studio *s, double stiffness) {
    if (!s->hand.attachment) {
        return SINEW_OK;
    }
    return studio_keep_message(s, sinew_attachment_set_stiffness(s->hand.attachment, stiffness));
}

STUDIO_API const double *studio_get_hand(studio *s) {
    double *state = s->hand_state;
    memset(state, 0, sizeof s->hand_state);
    if (s->hand.attachment) {
        sinew_attachment_get_positions(s->hand.attachment, state, state + 3);
        sinew_attachment_get_force(s->hand.attachment, state + 6);
        state[9] = sinew_attachment_get_stiffness(s->hand.attachment);
    }
    return state;
}
