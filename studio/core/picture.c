// What the page draws: vertices of all bodies, frames, contacts and obstacles, as floats.
#include "internal.h"

#include <math.h>
#include <stdlib.h>

STUDIO_API int32_t studio_get_body_count(const studio *s) {
    return sinew_world_get_body_count(s->world);
}

static const sinew_mesh *get_surface(const studio *s, int32_t body) {
    return sinew_body_get_surface(sinew_world_get_body(s->world, body));
}

STUDIO_API int32_t studio_get_body_vertex_count(const studio *s, int32_t body) {
    return get_surface(s, body)->point_count;
}

STUDIO_API int32_t studio_get_body_triangle_count(const studio *s, int32_t body) {
    return get_surface(s, body)->element_count;
}

STUDIO_API const int32_t *studio_get_body_triangles(const studio *s, int32_t body) {
    return get_surface(s, body)->indices;
}

void studio_count_vertices(studio *s) {
    s->vertex_count = 0;
    for (int32_t i = 0; i < studio_get_body_count(s); i++) {
        s->vertex_count += get_surface(s, i)->point_count;
    }
}

STUDIO_API int32_t studio_get_vertex_count(const studio *s) {
    return s->vertex_count;
}

STUDIO_API const float *studio_get_positions(const studio *s) {
    return s->positions.values;
}

STUDIO_API const float *studio_get_values(const studio *s) {
    return s->values.values;
}

STUDIO_API const float *studio_get_tints(const studio *s) {
    return s->tints.values;
}

// Room for the doubles of one body at a time.
static bool reserve_scratch(studio *s) {
    size_t count = 0;
    for (int32_t i = 0; i < studio_get_body_count(s); i++) {
        size_t own = (size_t)get_surface(s, i)->point_count;
        count = own > count ? own : count;
    }
    if (count <= s->scratch_count) {
        return true;
    }

    free(s->scratch);
    free(s->states);
    s->scratch = malloc(4 * count * sizeof *s->scratch);
    s->states = malloc(count * sizeof *s->states);
    s->scratch_count = s->scratch && s->states ? count : 0;
    return s->scratch_count > 0;
}

static void to_floats(float *to, const double *from, size_t count) {
    for (size_t i = 0; i < count; i++) {
        to[i] = (float)from[i];
    }
}

// Norm of a strain whose shears are doubled.
static double measure_strain(const double strain[6]) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        sum += strain[k] * strain[k] + 0.5 * strain[k + 3] * strain[k + 3];
    }
    return sqrt(sum);
}

static double measure_length(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static sinew_status compute_values(studio *s, sinew_body *body, int32_t count, studio_color color,
                                   float *values) {
    sinew_status status = SINEW_OK;
    if (color == STUDIO_COLOR_STRAIN || color == STUDIO_COLOR_STRESS) {
        status = sinew_body_compute_surface_states(body, s->states);
    } else if (color == STUDIO_COLOR_SPEED) {
        status = sinew_body_compute_surface_velocities(body, s->scratch);
    } else if (color == STUDIO_COLOR_PRESSURE) {
        status =
            sinew_body_compute_contact_forces(body, s->scratch, s->scratch + 3 * (size_t)count);
    }

    // What a body has no values of, such as the stress of position dynamics, stays uncoloured.
    if (status != SINEW_OK) {
        color = STUDIO_COLOR_BODY;
    }

    for (int32_t i = 0; i < count; i++) {
        const double *vector = s->scratch + 3 * (size_t)i;
        double area = s->scratch[3 * (size_t)count + (size_t)i];
        double value = 0;
        switch (color) {
        case STUDIO_COLOR_STRAIN: value = measure_strain(s->states[i].strain); break;
        case STUDIO_COLOR_STRESS: value = s->states[i].von_mises; break;
        case STUDIO_COLOR_SPEED: value = measure_length(vector); break;
        case STUDIO_COLOR_PRESSURE: value = area > 0 ? measure_length(vector) / area : 0; break;
        case STUDIO_COLOR_BODY:
        case STUDIO_COLOR_WEIGHTS:
        case STUDIO_COLOR_LABELS: break;
        }
        values[i] = (float)value;
    }

    return status == SINEW_OUT_OF_MEMORY ? status : SINEW_OK;
}

STUDIO_API int32_t studio_update(studio *s, int32_t color) {
    size_t count = (size_t)s->vertex_count;
    bool tinted = color == STUDIO_COLOR_WEIGHTS || color == STUDIO_COLOR_LABELS;
    if (!studio_reserve(&s->positions, 3 * count) || !studio_reserve(&s->values, count) ||
        !studio_reserve(&s->tints, tinted ? 3 * count : 0) || !reserve_scratch(s)) {
        studio_fail(s, "out of memory");
        return SINEW_OUT_OF_MEMORY;
    }

    // One body after the other.
    size_t first = 0;
    for (int32_t i = 0; i < studio_get_body_count(s); i++) {
        sinew_body *body = sinew_world_get_body(s->world, i);
        size_t own = (size_t)get_surface(s, i)->point_count;

        sinew_body_compute_surface(body, s->scratch, NULL);
        to_floats(s->positions.values + 3 * first, s->scratch, 3 * own);

        sinew_status status =
            compute_values(s, body, (int32_t)own, (studio_color)color, s->values.values + first);
        if (status != SINEW_OK) {
            return studio_keep_message(s, status);
        }
        if (tinted) {
            studio_tint(body, (studio_color)color, s->tints.values + 3 * first);
        }
        first += own;
    }

    return SINEW_OK;
}

STUDIO_API int32_t studio_compute_frames(studio *s) {
    size_t count = 0;
    for (int32_t i = 0; i < studio_get_body_count(s); i++) {
        count += (size_t)sinew_frame_body_get_node_count(sinew_world_get_body(s->world, i));
    }
    if (!studio_reserve(&s->frames, 12 * count)) {
        return 0;
    }

    // The matrix by columns, then the position.
    float *frame = s->frames.values;
    for (int32_t i = 0; i < studio_get_body_count(s); i++) {
        const sinew_body *body = sinew_world_get_body(s->world, i);
        for (int32_t node = 0; node < sinew_frame_body_get_node_count(body); node++) {
            double position[3] = {0}, matrix[9] = {0};
            sinew_frame_body_get_node(body, node, position, NULL);
            sinew_frame_body_get_matrix(body, node, matrix);

            for (int k = 0; k < 9; k++) {
                frame[k] = (float)matrix[3 * (k % 3) + k / 3];
            }
            to_floats(frame + 9, position, 3);
            frame += 12;
        }
    }

    return (int32_t)count;
}

STUDIO_API const float *studio_get_frames(const studio *s) {
    return s->frames.values;
}

STUDIO_API int32_t studio_compute_contacts(studio *s) {
    const sinew_contact *contacts = NULL;
    int32_t count = sinew_world_get_contacts(s->world, &contacts);
    if (!studio_reserve(&s->contacts, 6 * (size_t)count)) {
        return 0;
    }

    for (int32_t i = 0; i < count; i++) {
        float *contact = s->contacts.values + 6 * (size_t)i;
        to_floats(contact, contacts[i].position, 3);
        to_floats(contact + 3, contacts[i].force, 3);
    }

    return count;
}

STUDIO_API const float *studio_get_contacts(const studio *s) {
    return s->contacts.values;
}

// The surface of an obstacle, NULL if it is no mesh.
static const sinew_mesh *get_obstacle_mesh(const studio *s, int32_t obstacle) {
    return sinew_obstacle_get_def(sinew_world_get_obstacle(s->world, obstacle)).mesh;
}

STUDIO_API int32_t studio_get_obstacle_vertex_count(const studio *s, int32_t obstacle) {
    const sinew_mesh *mesh = get_obstacle_mesh(s, obstacle);
    return mesh ? mesh->point_count : 0;
}

STUDIO_API int32_t studio_get_obstacle_triangle_count(const studio *s, int32_t obstacle) {
    const sinew_mesh *mesh = get_obstacle_mesh(s, obstacle);
    return mesh ? mesh->element_count : 0;
}

STUDIO_API const double *studio_get_obstacle_vertices(const studio *s, int32_t obstacle) {
    const sinew_mesh *mesh = get_obstacle_mesh(s, obstacle);
    return mesh ? mesh->points : NULL;
}

STUDIO_API const int32_t *studio_get_obstacle_triangles(const studio *s, int32_t obstacle) {
    const sinew_mesh *mesh = get_obstacle_mesh(s, obstacle);
    return mesh ? mesh->indices : NULL;
}

STUDIO_API int32_t studio_compute_obstacles(studio *s) {
    int32_t count = sinew_world_get_obstacle_count(s->world);
    if (!studio_reserve(&s->obstacles, 7 * (size_t)count)) {
        return 0;
    }

    for (int32_t i = 0; i < count; i++) {
        double position[3], rotation[4];
        sinew_obstacle_get_pose(sinew_world_get_obstacle(s->world, i), position, rotation);
        to_floats(s->obstacles.values + 7 * (size_t)i, position, 3);
        to_floats(s->obstacles.values + 7 * (size_t)i + 3, rotation, 4);
    }

    return count;
}

STUDIO_API const float *studio_get_obstacles(const studio *s) {
    return s->obstacles.values;
}
