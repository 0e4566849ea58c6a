// The surface of bodies of elements, either their boundary or an embedded mesh, and the public
// calls that work on the surface of any body.
#include "body/surface.h"

#include "geom/mesh/mesh.h"
#include "geom/search/search.h"

#include <math.h>
#include <string.h>

sinew_status sn_element_surface_build(sinew_body *body, const sinew_mesh *mesh) {
    if (!mesh) {
        return sinew_mesh_create_surface(body->context, &body->mesh, &body->surface,
                                         &body->surface_nodes);
    }

    SN_TRY(sinew_mesh_copy(body->context, mesh, &body->surface));
    return sinew_embedding_create(body->context, body->surface, &body->mesh, &body->embedding);
}

void sn_surface_release(sinew_body *body) {
    if (body->surface_tree) {
        sn_surface_tree_destroy(body->surface_tree);
    }
    sinew_embedding_destroy(body->embedding);
    sinew_mesh_destroy(body->surface);
}

// Maps values of the nodes, `width` numbers each, to the vertices.
static void take_values(const sinew_body *body, const double *nodes, int32_t width,
                        double *vertices) {
    if (body->embedding) {
        sn_embedding_interpolate(body->embedding, nodes, width, vertices);
        return;
    }

    size_t size = (size_t)width * sizeof *vertices;
    for (int32_t i = 0; i < body->surface->point_count; i++) {
        memcpy(vertices + (size_t)i * (size_t)width,
               nodes + (size_t)body->surface_nodes[i] * (size_t)width, size);
    }
}

void sn_element_surface_compute(const sinew_body *body, const double *q, double *positions) {
    if (body->embedding) {
        sinew_embedding_compute_points(body->embedding, q, positions);
    } else {
        take_values(body, q, 3, positions);
    }
}

int32_t sn_element_surface_get_jacobian(const sinew_body *body, int32_t vertex, int32_t *row,
                                        sn_mat3 *J) {
    double one = 1;
    const double *weights = &one;
    const int32_t *nodes = NULL;
    int32_t count = 1;
    if (body->embedding) {
        count = sn_embedding_get_entries(body->embedding, vertex, &nodes, &weights);
    } else {
        nodes = &body->surface_nodes[vertex];
    }

    for (int32_t k = 0; k < count; k++) {
        if (row) {
            row[k] = nodes[k];
        }
        if (J) {
            J[k] = sn_mat3_scale(weights[k], sn_mat3_identity());
        }
    }
    return count;
}

void sn_element_surface_add_forces(const sinew_body *body, const double *forces, double *rows) {
    if (body->embedding) {
        sn_embedding_add_forces(body->embedding, forces, rows);
        return;
    }

    for (int32_t i = 0; i < body->surface->point_count; i++) {
        sn_add_to3(rows + 3 * (size_t)body->surface_nodes[i], sn_load3(forces + 3 * (size_t)i));
    }
}

// Averages the states of the elements around each node. Energies become densities.
static void sum_states(const sinew_body *body, const sinew_element_state *states, double *sums,
                       double *counts) {
    enum { NUMBERS = sizeof(sinew_element_state) / sizeof(double) };
    int32_t width = sinew_element_node_count(body->mesh.element);

    // Add each element's state to its nodes.
    for (int32_t e = 0; e < body->mesh.element_count; e++) {
        sinew_element_state state = states[e];
        double volume = sn_element_volume(&body->mesh, e);
        if (body->mesh.element == SINEW_ELEMENT_TRIANGLE) {
            volume *= body->thickness;
        }

        state.energy /= volume;
        double numbers[NUMBERS];
        memcpy(numbers, &state, sizeof numbers);

        const int32_t *nodes = sn_mesh_nodes(&body->mesh, e);
        for (int32_t k = 0; k < width; k++) {
            counts[nodes[k]] += 1;
            for (int32_t c = 0; c < NUMBERS; c++) {
                sums[(size_t)nodes[k] * NUMBERS + (size_t)c] += numbers[c];
            }
        }
    }

    // Divide by the number of elements.
    for (int32_t i = 0; i < body->mesh.point_count; i++) {
        for (int32_t c = 0; c < NUMBERS; c++) {
            sums[(size_t)i * NUMBERS + (size_t)c] /= fmax(counts[i], 1);
        }
    }
}

static sinew_status measure_states(sinew_body *body, sn_arena *scratch, sinew_element_state *out) {
    enum { NUMBERS = sizeof(sinew_element_state) / sizeof(double) };
    size_t nodes = (size_t)body->mesh.point_count;
    size_t vertices = (size_t)body->surface->point_count;
    sinew_element_state *states = SN_PUSH(scratch, sinew_element_state, body->mesh.element_count);
    double *sums = SN_PUSH(scratch, double, NUMBERS *nodes);
    double *counts = SN_PUSH(scratch, double, nodes);
    double *values = SN_PUSH(scratch, double, NUMBERS *vertices);
    SN_TRY(sn_arena_status(scratch));

    sinew_body_compute_element_states(body, states);
    sum_states(body, states, sums, counts);
    take_values(body, sums, NUMBERS, values);
    memcpy(out, values, vertices * sizeof *out);

    return SINEW_OK;
}

sinew_status sn_element_surface_measure(sinew_body *body, double *velocities,
                                        sinew_element_state *states) {
    if (velocities) {
        take_values(body, body->v, 3, velocities);
    }
    if (!states) {
        return SINEW_OK;
    }

    sn_arena scratch = sn_arena_create(body->context);
    sinew_status status = measure_states(body, &scratch, states);
    sn_arena_destroy(&scratch);
    return status;
}

const sinew_mesh *sinew_body_get_surface(const sinew_body *body) {
    SN_NEED_OR(NULL, body);
    return body->surface;
}

const int32_t *sinew_body_get_surface_nodes(const sinew_body *body) {
    SN_NEED_OR(NULL, body);
    return body->surface_nodes;
}

void sinew_body_compute_surface(const sinew_body *body, double *positions, double *normals) {
    SN_NEED_OR(, body && positions);
    body->ops->surface.compute(body, body->q, positions);
    if (normals) {
        sinew_mesh_compute_normals(body->surface, positions, normals);
    }
}

sinew_status sinew_body_compute_surface_velocities(sinew_body *body, double *velocities) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, velocities);
    return body->ops->surface.measure(body, velocities, NULL);
}

sinew_status sinew_body_compute_surface_states(sinew_body *body, sinew_element_state *states) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, states);
    return body->ops->surface.measure(body, NULL, states);
}

sinew_status sn_surface_push_work(sinew_body *body) {
    if (body->surface_work) {
        return SINEW_OK;
    }

    return sn_body_push_doubles(body, 6 * (size_t)body->surface->point_count, &body->surface_work);
}

sinew_status sn_surface_push_force_room(sinew_body *body) {
    SN_TRY(sn_surface_push_work(body));
    if (body->surface_force_room) {
        return SINEW_OK;
    }

    size_t count = 3 * (size_t)body->surface->point_count;
    return sn_body_push_doubles(body, count, &body->surface_force_room);
}

sinew_status sinew_body_set_surface_forces(sinew_body *body, const double *forces) {
    SN_NEED(NULL, body);

    size_t count = 3 * (size_t)body->surface->point_count;
    if (forces) {
        for (size_t i = 0; i < count; i++) {
            if (!isfinite(forces[i])) {
                return sn_fail(
                    body->context, SINEW_INVALID_ARGUMENT,
                    "the force on vertex %zu of the surface of body \"%s\" is %g along %c; "
                    "it must be finite",
                    i / 3, body->name, forces[i], "xyz"[i % 3]);
            }
        }
    }

    if (!forces) {
        body->surface_forces = NULL;
        return SINEW_OK;
    }

    SN_TRY(sn_surface_push_force_room(body));
    body->surface_forces = body->surface_force_room;
    memcpy(body->surface_forces, forces, count * sizeof *forces);
    return SINEW_OK;
}
