// Stresses at the nodes, recovered from those of the surrounding elements.
//
// Most elements have one stress, the mean of their samples. In ten-node tets the stress is the
// linear function through the stresses c_s of the four samples: sample s has barycentric coordinate
// a at corner s and b at the other corners, a + 3 b = 1, so the value at corner s is
//
//   (c_s - b sum_t c_t) / (a - b),
//
// and the nodes on the edges take the mean of the two ends. The stress of a node is the mean over
// its elements, weighted by their rest volumes.
#include "body/body.h"

#include "geom/mesh/mesh.h"

#include <math.h>
#include <string.h>

enum { PARTS = 6, CORNERS = 4 };

static void add_at_node(double *sums, double *weights, int32_t node, const double *stress,
                        double volume) {
    weights[node] += volume;
    for (int k = 0; k < PARTS; k++) {
        sums[PARTS * (size_t)node + (size_t)k] += volume * stress[k];
    }
}

// Extrapolates one element's sample stresses to its corners and edge nodes.
static void extrapolate(double values[10][PARTS], const double *samples) {
    static const int ends[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
    const double a = (5 + 3 * sqrt(5.0)) / 20;
    const double b = (5 - sqrt(5.0)) / 20;

    for (int k = 0; k < PARTS; k++) {
        double sum = 0;
        for (int s = 0; s < CORNERS; s++) {
            sum += samples[PARTS * s + k];
        }
        for (int s = 0; s < CORNERS; s++) {
            values[s][k] = (samples[PARTS * s + k] - b * sum) / (a - b);
        }
        for (int e = 0; e < 6; e++) {
            values[CORNERS + e][k] = 0.5 * (values[ends[e][0]][k] + values[ends[e][1]][k]);
        }
    }
}

// Sums the extrapolated stresses of ten-node tets.
static sinew_status sum_linear(sinew_body *body, sn_arena *scratch, double *sums, double *weights) {
    size_t elements = (size_t)body->mesh.element_count;
    double *samples = SN_PUSH(scratch, double, CORNERS *PARTS *elements);
    SN_TRY(sn_arena_status(scratch));

    body->ops->elasticity.compute_sample_stresses(body, samples);
    for (int32_t e = 0; e < body->mesh.element_count; e++) {
        const int32_t *nodes = sn_mesh_nodes(&body->mesh, e);
        double values[10][PARTS];
        extrapolate(values, samples + (size_t)(CORNERS * PARTS) * (size_t)e);

        double volume = sn_element_volume(&body->mesh, e);
        for (int k = 0; k < 10; k++) {
            add_at_node(sums, weights, nodes[k], values[k], volume);
        }
    }

    return SINEW_OK;
}

// Sums stresses that are constant in each element.
static sinew_status sum_constant(sinew_body *body, sn_arena *scratch, double *sums,
                                 double *weights) {
    sinew_element_state *states = SN_PUSH(scratch, sinew_element_state, body->mesh.element_count);
    SN_TRY(sn_arena_status(scratch));

    sinew_body_compute_element_states(body, states);
    int32_t width = sinew_element_node_count(body->mesh.element);
    for (int32_t e = 0; e < body->mesh.element_count; e++) {
        const int32_t *nodes = sn_mesh_nodes(&body->mesh, e);
        double volume = sn_element_volume(&body->mesh, e);
        for (int32_t k = 0; k < width; k++) {
            add_at_node(sums, weights, nodes[k], states[e].stress, volume);
        }
    }

    return SINEW_OK;
}

sinew_status sinew_body_compute_node_stresses(sinew_body *body, double *stresses) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, stresses);

    if (body->mesh.element_count == 0) {
        return sn_fail(body->context, SINEW_UNSUPPORTED,
                       "stresses of nodes: body \"%s\" has no elements; make a point and read its "
                       "state",
                       body->name);
    }

    size_t nodes = (size_t)body->mesh.point_count;
    sn_arena scratch = sn_arena_create(body->context);
    double *weights = SN_PUSH(&scratch, double, nodes);
    sinew_status status = sn_arena_status(&scratch);

    if (status == SINEW_OK) {
        bool linear = body->mesh.element == SINEW_ELEMENT_TET10 &&
                      body->ops->elasticity.compute_sample_stresses;
        memset(stresses, 0, PARTS * nodes * sizeof *stresses);
        status = linear ? sum_linear(body, &scratch, stresses, weights)
                        : sum_constant(body, &scratch, stresses, weights);
    }

    // Normalise. Nodes without elements get zero stress.
    if (status == SINEW_OK) {
        for (size_t i = 0; i < PARTS * nodes; i++) {
            double weight = weights[i / PARTS];
            stresses[i] = weight > 0 ? stresses[i] / weight : 0;
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}
