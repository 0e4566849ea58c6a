// Lumped and consistent mass of bodies of elements, by quadrature; see mass.h.
#include "body/mass.h"

#include "geom/mesh/mesh.h"
#include "interp/element.h"

#include <string.h>

// The element's consistent mass for one scalar component, m[i][j] = rho integral N_i N_j.
static void element_mass(double m[SN_ELEMENT_MAX_NODES][SN_ELEMENT_MAX_NODES],
                         const sn_element_rule *rule, const sinew_mesh *mesh, int32_t element,
                         double density) {
    sn_vec3 rest[SN_ELEMENT_MAX_NODES], gradient[SN_ELEMENT_MAX_NODES];
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    for (int32_t a = 0; a < rule->nodes; a++) {
        rest[a] = sn_mesh_point(mesh, nodes[a]);
    }

    memset(m, 0, sizeof(double) * SN_ELEMENT_MAX_NODES * SN_ELEMENT_MAX_NODES);
    for (int32_t s = 0; s < rule->samples; s++) {
        double dm = density * sn_element_gradients(gradient, rule, s, mesh->element, rest);
        for (int32_t a = 0; a < rule->nodes; a++) {
            for (int32_t b = 0; b < rule->nodes; b++) {
                m[a][b] += dm * rule->N[s][a] * rule->N[s][b];
            }
        }
    }
}

static void add_lumped(sinew_body *body, double m[SN_ELEMENT_MAX_NODES][SN_ELEMENT_MAX_NODES],
                       const int32_t *nodes, int32_t count) {
    bool scaled_diagonal = body->mesh.element == SINEW_ELEMENT_TET10;
    double total = 0, diagonal = 0;
    for (int32_t a = 0; a < count; a++) {
        diagonal += m[a][a];
        for (int32_t b = 0; b < count; b++) {
            total += m[a][b];
        }
    }

    // Row sums, or the scaled diagonal for ten-node tets.
    for (int32_t a = 0; a < count; a++) {
        double row_sum = 0;
        for (int32_t b = 0; b < count; b++) {
            row_sum += m[a][b];
        }

        double lumped = scaled_diagonal ? m[a][a] * total / diagonal : row_sum;
        for (int k = 0; k < 3; k++) {
            body->lumped_mass[3 * nodes[a] + k] += lumped;
        }

        body->row_mass[nodes[a]] += body->consistent_mass ? row_sum : lumped;
    }
}

static void add_consistent(sinew_body *body, double m[SN_ELEMENT_MAX_NODES][SN_ELEMENT_MAX_NODES],
                           const int32_t *nodes, int32_t count) {
    for (int32_t a = 0; a < count; a++) {
        for (int32_t b = 0; b < count; b++) {
            double *block =
                body->consistent_mass + 9 * (size_t)sn_bsr_find(&body->pattern, nodes[a], nodes[b]);
            for (int k = 0; k < 3; k++) {
                block[4 * k] += m[a][b];
            }
        }
    }
}

sinew_status sn_body_build_mass(sinew_body *body, const double *density, bool consistent) {
    // Room, on the first call.
    if (!body->lumped_mass) {
        body->lumped_mass = SN_PUSH(&body->arena, double, sn_body_size(body));
        body->row_mass = SN_PUSH(&body->arena, double, body->rows);
    }

    if (consistent && !body->consistent_mass) {
        body->consistent_mass = sn_bsr_push_values(&body->arena, &body->pattern);
    }

    SN_TRY(sn_arena_status(&body->arena));

    // Start from zero.
    memset(body->lumped_mass, 0, (size_t)sn_body_size(body) * sizeof(double));
    memset(body->row_mass, 0, (size_t)body->rows * sizeof(double));
    if (consistent) {
        sn_bsr_set_zero(body->context, &body->pattern, body->consistent_mass);
    }

    // Add the mass of each element.
    sn_element_rule rule;
    sn_element_mass_rule(&rule, body->mesh.element);
    for (int32_t e = 0; e < body->mesh.element_count; e++) {
        double m[SN_ELEMENT_MAX_NODES][SN_ELEMENT_MAX_NODES];
        double depth = body->mesh.element == SINEW_ELEMENT_TRIANGLE ? body->thickness : 1;
        element_mass(m, &rule, &body->mesh, e, density[e] * depth);
        add_lumped(body, m, sn_mesh_nodes(&body->mesh, e), rule.nodes);

        if (consistent) {
            add_consistent(body, m, sn_mesh_nodes(&body->mesh, e), rule.nodes);
        }
    }

    return SINEW_OK;
}
