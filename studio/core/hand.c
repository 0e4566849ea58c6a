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

// Ties a rest point of a body to where it is now; returns the number of the body, -2 if it failed.
static int32_t hold(studio *s, sinew_body *body, const double rest[3], double stiffness) {
    studio_hand hand = {.def = sinew_default_attachment_def(), .body = find_body(s, body)};
    memcpy(hand.def.rest, rest, sizeof hand.def.rest);
    hand.def.body = body;
    hand.def.stiffness = stiffness > 0 ? stiffness : choose_stiffness(s, body);

    if (studio_keep_message(s, sinew_world_attach(s->world, &hand.def, &hand.attachment))) {
        return -2;
    }

    s->hand = hand;
    return hand.body;
}

STUDIO_API int32_t studio_grab_at(studio *s, int32_t body, double x, double y, double z,
                                  double stiffness) {
    studio_release(s);
    const double rest[3] = {x, y, z};
    return hold(s, sinew_world_get_body(s->world, body), rest, stiffness);
}

STUDIO_API const double *studio_get_hand_rest(const studio *s) {
    return s->hand.def.rest;
}

// The body that a ray meets and the rest position of the point there; false if it failed.
static bool find_point(studio *s, const double origin[3], const double direction[3],
                       sinew_surface_hit *hit, double rest[3]) {
    if (studio_keep_message(s, sinew_world_cast_ray(s->world, origin, direction, INFINITY, hit))) {
        return false;
    }
    if (!hit->body) {
        return true;
    }

    sinew_point *point = NULL;
    if (studio_keep_message(s, sinew_point_create_at(hit->body, hit->position, &point))) {
        return false;
    }
    sinew_point_get_rest(point, rest);
    sinew_point_destroy(point);
    return true;
}

STUDIO_API const double *studio_pick(studio *s, double ox, double oy, double oz, double dx,
                                     double dy, double dz, int32_t *body) {
    const double origin[3] = {ox, oy, oz}, direction[3] = {dx, dy, dz};
    sinew_surface_hit hit;
    if (!find_point(s, origin, direction, &hit, s->hand_state) || !hit.body) {
        return NULL;
    }
    memcpy(s->hand_state + 3, hit.normal, sizeof hit.normal);
    *body = find_body(s, hit.body);
    return s->hand_state;
}

STUDIO_API int32_t studio_grab(studio *s, double ox, double oy, double oz, double dx, double dy,
                               double dz, double stiffness) {
    studio_release(s);

    const double origin[3] = {ox, oy, oz}, direction[3] = {dx, dy, dz};
    double rest[3];
    sinew_surface_hit hit;
    if (!find_point(s, origin, direction, &hit, rest)) {
        return -2;
    }

    return hit.body ? hold(s, hit.body, rest, stiffness) : -1;
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
