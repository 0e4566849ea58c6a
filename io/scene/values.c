// What a picture shows in colour: a number for each point of a surface.
#include "io/scene/builder.h"

#include <math.h>

double sn_state_value(const sinew_element_state *state, sn_scene_color color) {
    if (color == SN_COLOR_STRESS) {
        return state->von_mises;
    }

    double sum = 0;
    for (int k = 0; k < 6; k++) {
        sum += (k < 3 ? 1 : 0.5) * state->strain[k] * state->strain[k];
    }

    return sqrt(sum);
}

// Means of the elements at each node, or the node's own motion.
static sinew_status node_values(const sn_scene_member *member, sn_scene_color color,
                                sn_arena *scratch, double **out) {
    int32_t nodes = member->mesh->point_count;
    int32_t width = sinew_element_node_count(member->mesh->element);
    double *values = SN_PUSH(scratch, double, nodes);
    double *weights = SN_PUSH(scratch, double, nodes);
    sinew_element_state *states =
        SN_PUSH(scratch, sinew_element_state, member->mesh->element_count);

    SN_TRY(sn_arena_status(scratch));
    const double *x = sinew_body_get_positions(member->body);
    const double *v = sinew_body_get_velocities(member->body);

    if (color == SN_COLOR_DISPLACEMENT || color == SN_COLOR_SPEED) {
        for (int32_t i = 0; i < nodes; i++) {
            sn_vec3 rest =
                sn_scene_place(member->scene, sn_load3(member->mesh->points + 3 * (size_t)i));
            values[i] = color == SN_COLOR_SPEED ? sn_length(sn_load3(v + 3 * (size_t)i))
                                                : sn_distance(sn_load3(x + 3 * (size_t)i), rest);
        }
    } else {
        sinew_body_compute_element_states(member->body, states);
        for (int32_t e = 0; e < member->mesh->element_count; e++) {
            double value = sn_state_value(&states[e], color);
            for (int32_t k = 0; k < width; k++) {
                values[member->mesh->indices[(size_t)e * (size_t)width + (size_t)k]] += value;
                weights[member->mesh->indices[(size_t)e * (size_t)width + (size_t)k]] += 1;
            }
        }

        for (int32_t i = 0; i < nodes; i++) {
            values[i] /= fmax(weights[i], 1);
        }
    }

    *out = values;
    return SINEW_OK;
}

// An embedded surface takes the value as it takes positions: as the x of points that carry it.
static sinew_status embed_values(const sn_scene_surface *surface, const double *node_values,
                                 int32_t nodes, sn_arena *scratch, double *values) {
    double *carried = SN_PUSH(scratch, double, 3 * (size_t)nodes);
    double *result = SN_PUSH(scratch, double, 3 * (size_t)surface->mesh->point_count);

    SN_TRY(sn_arena_status(scratch));
    for (int32_t i = 0; i < nodes; i++) {
        carried[3 * (size_t)i] = node_values[i];
    }

    sinew_embedding_compute_points(surface->embedding, carried, result);
    for (int32_t i = 0; i < surface->mesh->point_count; i++) {
        values[i] = result[3 * (size_t)i];
    }

    return SINEW_OK;
}

sinew_status sn_element_member_values(sn_scene_member *member, sn_scene_color color,
                                      double *values) {
    SN_ASSERT(color != SN_COLOR_NONE && color != SN_COLOR_WEIGHTS);
    const sn_scene_surface *surface = &member->surface;
    sn_arena scratch = sn_arena_create(member->context);
    double *at_nodes = NULL;
    sinew_status status = node_values(member, color, &scratch, &at_nodes);

    if (status == SINEW_OK && surface->embedding) {
        status = embed_values(surface, at_nodes, member->mesh->point_count, &scratch, values);
    } else if (status == SINEW_OK) {
        for (int32_t i = 0; i < surface->mesh->point_count; i++) {
            values[i] = at_nodes[surface->nodes[i]];
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}
