// What a picture shows in colour: a number for each point of a surface.
#include "io/scene/build.h"

#include <math.h>

// The norm of the strain, or the von Mises stress.
static double value_of_state(const sinew_element_state *state, sinew_scene_color color) {
    if (color == SINEW_SCENE_COLOR_STRESS) {
        return state->von_mises;
    }

    double sum = 0;
    for (int k = 0; k < 6; k++) {
        sum += (k < 3 ? 1 : 0.5) * state->strain[k] * state->strain[k];
    }

    return sqrt(sum);
}

static sinew_status compute_states(sinew_body *body, sinew_scene_color color, sn_arena *scratch,
                                   double *values) {
    int32_t count = sinew_body_get_surface(body)->point_count;
    sinew_element_state *states = SN_PUSH(scratch, sinew_element_state, count);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sinew_body_compute_surface_states(body, states));

    for (int32_t i = 0; i < count; i++) {
        values[i] = value_of_state(&states[i], color);
    }
    return SINEW_OK;
}

static sinew_status compute_speeds(sinew_body *body, sn_arena *scratch, double *values) {
    int32_t count = sinew_body_get_surface(body)->point_count;
    double *velocities = SN_PUSH(scratch, double, 3 * (size_t)count);
    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sinew_body_compute_surface_velocities(body, velocities));

    for (int32_t i = 0; i < count; i++) {
        values[i] = sn_length(sn_load3(velocities + 3 * (size_t)i));
    }
    return SINEW_OK;
}

sinew_status sn_body_compute_values(sinew_context *context, sinew_body *body,
                                    sinew_scene_color color, double *values) {
    SN_ASSERT(color == SINEW_SCENE_COLOR_STRAIN || color == SINEW_SCENE_COLOR_STRESS ||
              color == SINEW_SCENE_COLOR_SPEED);
    sn_arena scratch = sn_arena_create(context);
    sinew_status status = color == SINEW_SCENE_COLOR_SPEED
                              ? compute_speeds(body, &scratch, values)
                              : compute_states(body, color, &scratch, values);
    sn_arena_destroy(&scratch);
    return status;
}

// From where the placement of the body put its surface.
static void compute_displacements(sn_scene_member *member, double *values) {
    const sinew_mesh *surface = member->surface.mesh;
    sinew_body_compute_surface(member->body, member->surface.points, NULL);
    for (int32_t i = 0; i < surface->point_count; i++) {
        sn_vec3 X = sn_load3(surface->points + 3 * (size_t)i);
        sn_vec3 x = sn_load3(member->surface.points + 3 * (size_t)i);
        values[i] = sn_distance(x, sn_scene_place(member->scene, X));
    }
}

sinew_status sn_scene_member_compute_values(sn_scene_member *member, sinew_scene_color color,
                                            double *values) {
    if (color == SINEW_SCENE_COLOR_DISPLACEMENT) {
        compute_displacements(member, values);
        return SINEW_OK;
    }
    return sn_body_compute_values(member->context, member->body, color, values);
}
