// Reference elements: the simplex 0 <= r, s, t, r + s + t <= 1 and the cube [-1, 1]^3, nodes in
// VTK's order.
//
// Integration rules: centroid for linear simplices; the symmetric 4-point rule of degree 2 for the
// ten-node tet; 2x2x2 Gauss for the hexahedron; a collapsed 4x4x4 Gauss product (Stroud 1971) for
// the mass of the ten-node tet, which needs degree 4.
#include "interp/element.h"

#include "base/assert.h"
#include "geom/mesh/mesh.h"

static void shape_simplex(double *N, sn_vec3 *dN, int32_t nodes, sn_vec3 p) {
    N[0] = nodes == 3 ? 1 - p.x - p.y : 1 - p.x - p.y - p.z;
    N[1] = p.x;
    N[2] = p.y;
    dN[0] = nodes == 3 ? sn_v3(-1, -1, 0) : sn_v3(-1, -1, -1);
    dN[1] = sn_v3(1, 0, 0);
    dN[2] = sn_v3(0, 1, 0);

    if (nodes == 4) {
        N[3] = p.z;
        dN[3] = sn_v3(0, 0, 1);
    }
}

static void shape_tet10(double *N, sn_vec3 *dN, sn_vec3 p) {
    double derivatives[10][3];
    sn_shape_tet10(p, N, derivatives);
    for (int a = 0; a < 10; a++) {
        dN[a] = sn_load3(derivatives[a]);
    }
}

static void shape_hex8(double *N, sn_vec3 *dN, sn_vec3 p) {
    double derivatives[8][3];
    sn_shape_hex8(p, N, derivatives);
    for (int a = 0; a < 8; a++) {
        dN[a] = sn_load3(derivatives[a]);
    }
}

static void add_sample(sn_element_rule *rule, sinew_element kind, sn_vec3 p, double weight) {
    SN_ASSERT(rule->samples < SN_ELEMENT_MAX_SAMPLES);
    int32_t s = rule->samples++;
    rule->weight[s] = weight;

    switch (kind) {
    case SINEW_ELEMENT_TRIANGLE: shape_simplex(rule->N[s], rule->dN[s], 3, p); break;
    case SINEW_ELEMENT_TET4: shape_simplex(rule->N[s], rule->dN[s], 4, p); break;
    case SINEW_ELEMENT_TET10: shape_tet10(rule->N[s], rule->dN[s], p); break;
    case SINEW_ELEMENT_HEX8: shape_hex8(rule->N[s], rule->dN[s], p); break;
    }
}

static void begin_rule(sn_element_rule *rule, sinew_element kind) {
    rule->nodes = sinew_element_node_count(kind);
    rule->samples = 0;
}

// Degree 2: (5 + 3 sqrt 5)/20 on one corner and (5 - sqrt 5)/20 on the others.
static void add_tet_degree2(sn_element_rule *rule, sinew_element kind) {
    double a = (5 + 3 * sqrt(5.0)) / 20;
    double b = (5 - sqrt(5.0)) / 20;
    add_sample(rule, kind, sn_v3(b, b, b), 1.0 / 24);
    add_sample(rule, kind, sn_v3(a, b, b), 1.0 / 24);
    add_sample(rule, kind, sn_v3(b, a, b), 1.0 / 24);
    add_sample(rule, kind, sn_v3(b, b, a), 1.0 / 24);
}

static void add_hex_gauss2(sn_element_rule *rule) {
    double g = 1 / sqrt(3.0);
    for (int s = 0; s < 8; s++) {
        add_sample(rule, SINEW_ELEMENT_HEX8, sn_v3(s & 1 ? g : -g, s & 2 ? g : -g, s & 4 ? g : -g),
                   1);
    }
}

// Gauss points of the unit interval mapped into the simplex by r = u, s = v (1 - u),
// t = w (1 - u)(1 - v).
static void add_tet_collapsed(sn_element_rule *rule, sinew_element kind) {
    double inner = sqrt(3.0 / 7 - 2.0 / 7 * sqrt(1.2));
    double outer = sqrt(3.0 / 7 + 2.0 / 7 * sqrt(1.2));
    double heavy = (18 + sqrt(30.0)) / 72;
    double light = (18 - sqrt(30.0)) / 72;
    double point[4] = {0.5 - 0.5 * outer, 0.5 - 0.5 * inner, 0.5 + 0.5 * inner, 0.5 + 0.5 * outer};
    double weight[4] = {light, heavy, heavy, light};

    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            for (int k = 0; k < 4; k++) {
                double u = 1 - point[i];
                double v = 1 - point[j];
                add_sample(rule, kind, sn_v3(point[i], point[j] * u, point[k] * u * v),
                           weight[i] * weight[j] * weight[k] * u * u * v);
            }
        }
    }
}

void sn_element_stiffness_rule(sn_element_rule *rule, sinew_element kind) {
    begin_rule(rule, kind);
    switch (kind) {
    case SINEW_ELEMENT_TRIANGLE: add_sample(rule, kind, sn_v3(1.0 / 3, 1.0 / 3, 0), 0.5); break;
    case SINEW_ELEMENT_TET4: add_sample(rule, kind, sn_v3(0.25, 0.25, 0.25), 1.0 / 6); break;
    case SINEW_ELEMENT_TET10: add_tet_degree2(rule, kind); break;
    case SINEW_ELEMENT_HEX8: add_hex_gauss2(rule); break;
    }
}

void sn_element_mass_rule(sn_element_rule *rule, sinew_element kind) {
    begin_rule(rule, kind);
    switch (kind) {
    case SINEW_ELEMENT_TRIANGLE: // edge midpoints, degree 2
        add_sample(rule, kind, sn_v3(0.5, 0, 0), 1.0 / 6);
        add_sample(rule, kind, sn_v3(0.5, 0.5, 0), 1.0 / 6);
        add_sample(rule, kind, sn_v3(0, 0.5, 0), 1.0 / 6);
        break;
    case SINEW_ELEMENT_TET4: add_tet_degree2(rule, kind); break;
    case SINEW_ELEMENT_TET10: add_tet_collapsed(rule, kind); break;
    case SINEW_ELEMENT_HEX8: add_hex_gauss2(rule); break;
    }
}

double sn_element_gradients(sn_vec3 *gradient, const sn_element_rule *rule, int32_t sample,
                            sinew_element kind, const sn_vec3 *rest) {
    // Columns of dX/d(r, s, t); a triangle's third direction is the unit normal of its plane.
    sn_mat3 dX = {{{0}}};
    if (kind == SINEW_ELEMENT_TRIANGLE) {
        dX.m[2][2] = 1;
    }

    // dX/d(r, s, t) = sum of X_a (x) dN_a
    for (int32_t a = 0; a < rule->nodes; a++) {
        sn_vec3 X = kind == SINEW_ELEMENT_TRIANGLE ? sn_v3(rest[a].x, rest[a].y, 0) : rest[a];
        dX = sn_mat3_add(dX, sn_outer(X, rule->dN[sample][a]));
    }

    // Gradients with respect to the rest positions. A degenerate element has none.
    double det = sn_mat3_det(dX);
    sn_mat3 inverse = det != 0 ? sn_mat3_inverse(dX) : (sn_mat3){{{0}}};
    for (int32_t a = 0; a < rule->nodes; a++) {
        gradient[a] = sn_mat3_apply_transposed(inverse, rule->dN[sample][a]);
    }

    return rule->weight[sample] * det;
}
