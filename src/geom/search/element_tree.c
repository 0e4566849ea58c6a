// Locates points in elements: first among the elements whose boxes contain the point; if none does,
// the nearest element.
#include "geom/search/search.h"

#include "geom/mesh/mesh.h"

#include <string.h>

// How far below 0 a barycentric coordinate, or beyond 1 a natural one, may be to count as inside:
// rounding.
static const double slack = 1e-12;

static sn_box element_box(const sinew_mesh *mesh, int32_t element) {
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    sn_box box = sn_box_empty();
    for (int32_t i = 0; i < sn_element_info_of(mesh->element)->corners; i++) {
        box = sn_box_with_point(box, sn_mesh_point(mesh, nodes[i]));
    }
    return box;
}

sinew_status sn_element_tree_build(sn_arena *arena, const sinew_mesh *mesh, sn_element_tree *tree) {
    *tree = (sn_element_tree){.mesh = *mesh};
    sn_arena scratch = sn_arena_create(arena->context);
    sn_box *boxes = SN_PUSH(&scratch, sn_box, mesh->element_count);

    if (boxes) {
        for (int32_t e = 0; e < mesh->element_count; e++) {
            boxes[e] = element_box(mesh, e);
        }
    }

    sinew_status status =
        boxes ? sn_bvh_build(arena, boxes, mesh->element_count, &tree->bvh) : SINEW_OUT_OF_MEMORY;

    sn_arena_destroy(&scratch);

    return status;
}

// Natural coordinates of p in a tet: x = x0 + J (r, s, t).
static sn_vec3 tet_natural(const sinew_mesh *mesh, const int32_t *nodes, sn_vec3 p) {
    sn_vec3 x0 = sn_mesh_point(mesh, nodes[0]);
    sn_mat3 J = sn_mat3_columns(sn_sub(sn_mesh_point(mesh, nodes[1]), x0),
                                sn_sub(sn_mesh_point(mesh, nodes[2]), x0),
                                sn_sub(sn_mesh_point(mesh, nodes[3]), x0));
    return sn_mat3_apply(sn_mat3_inverse(J), sn_sub(p, x0));
}

static sn_vec3 clamp_natural(sn_vec3 natural, double bound) {
    return sn_v3(fmin(fmax(natural.x, -bound), bound), fmin(fmax(natural.y, -bound), bound),
                 fmin(fmax(natural.z, -bound), bound));
}

// By Newton's method from the centre, kept close to the element, where the Jacobian is regular.
// Exact for parallelepipeds in one step.
static sn_vec3 hex_natural(const sinew_mesh *mesh, const int32_t *nodes, sn_vec3 p) {
    sn_vec3 natural = sn_v3(0, 0, 0);
    for (int iteration = 0; iteration < 20; iteration++) {
        // Residual p - x(natural) and Jacobian at the current point.
        double N[8], dN[8][3];
        sn_shape_hex8(natural, N, dN);

        sn_mat3 J = sn_shape_jacobian(mesh->points, nodes, 8, (const double(*)[3])dN);
        if (!(sn_mat3_det(J) > 0)) {
            break;
        }

        sn_vec3 x = sn_v3(0, 0, 0);
        for (int i = 0; i < 8; i++) {
            x = sn_madd(x, N[i], sn_mesh_point(mesh, nodes[i]));
        }

        // Newton step.
        sn_vec3 step = sn_mat3_apply(sn_mat3_inverse(J), sn_sub(p, x));
        natural = clamp_natural(sn_add(natural, step), 1.5);
        if (sn_dot(step, step) < 1e-28) {
            break;
        }
    }

    return natural;
}

static bool tet_holds(sn_vec3 natural) {
    return natural.x >= -slack && natural.y >= -slack && natural.z >= -slack &&
           natural.x + natural.y + natural.z <= 1 + slack;
}

static bool hex_holds(sn_vec3 natural) {
    return fmax(fabs(natural.x), fmax(fabs(natural.y), fabs(natural.z))) <= 1 + slack;
}

static bool element_holds(const sinew_mesh *mesh, int32_t element, sn_vec3 p) {
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    switch (mesh->element) {
    case SINEW_ELEMENT_TET4:
    case SINEW_ELEMENT_TET10: return tet_holds(tet_natural(mesh, nodes, p));
    case SINEW_ELEMENT_HEX8: return hex_holds(hex_natural(mesh, nodes, p));
    case SINEW_ELEMENT_TRIANGLE:
        return false; // a point is almost never exactly in the plane: use the nearest
    }

    return false;
}

static bool faces_point(const sn_vec3 corner[3], sn_vec3 p) {
    sn_vec3 normal = sn_cross(sn_sub(corner[1], corner[0]), sn_sub(corner[2], corner[0]));
    return sn_dot(normal, sn_sub(p, corner[0])) > 0;
}

// The point of an element's boundary closest to p; quadrilaterals are cut in two triangles.
static sn_vec3 closest_on_element(const sinew_mesh *mesh, int32_t element, sn_vec3 p) {
    const sn_element_info *info = sn_element_info_of(mesh->element);
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    sn_vec3 closest = p;
    double best = INFINITY, barycentric[3];
    int32_t faces = info->dimension == 3 ? info->faces : 1;

    // Each face as a fan of triangles.
    for (int32_t f = 0; f < faces; f++) {
        for (int32_t cut = 1; cut + 1 < (info->dimension == 3 ? info->face_corners : 3); cut++) {
            sn_vec3 corner[3];
            for (int32_t i = 0; i < 3; i++) {
                int32_t k = i == 0 ? 0 : cut + i - 1;
                corner[i] = sn_mesh_point(mesh, nodes[info->dimension == 3 ? info->face[f][k] : k]);
            }

            // Flat faces of a tet that point away from p hold nothing nearer; if p is inside, none
            // does.
            if (info->corners == 4 && !faces_point(corner, p)) {
                continue;
            }

            sn_vec3 q = sn_closest_on_triangle(p, corner[0], corner[1], corner[2], barycentric);
            sn_vec3 d = sn_sub(p, q);
            if (sn_dot(d, d) < best) {
                best = sn_dot(d, d);
                closest = q;
            }
        }
    }

    return closest;
}

// N(xc) + grad N(xc) (p - xc) for elements with nonlinear shape functions; `natural` are the
// natural coordinates of xc.
static void extrapolate_weights(const sinew_mesh *mesh, const int32_t *nodes, sn_vec3 natural,
                                sn_vec3 p, double *weights) {
    SN_ASSERT(mesh->element == SINEW_ELEMENT_HEX8 || mesh->element == SINEW_ELEMENT_TET10);
    int32_t count = sn_element_info_of(mesh->element)->nodes;
    double dN[SN_MAX_ELEMENT_NODES][3];

    if (mesh->element == SINEW_ELEMENT_HEX8) {
        sn_shape_hex8(natural, weights, dN);
    } else {
        sn_shape_tet10(natural, weights, dN);
    }

    // p - xc in natural coordinates.
    sn_vec3 rest = p;
    for (int32_t i = 0; i < count; i++) {
        rest = sn_madd(rest, -weights[i], sn_mesh_point(mesh, nodes[i]));
    }

    sn_mat3 J = sn_shape_jacobian(mesh->points, nodes, count, (const double(*)[3])dN);
    sn_vec3 step = sn_mat3_apply(sn_mat3_inverse(J), rest);
    for (int32_t i = 0; i < count; i++) {
        weights[i] += sn_dot(sn_load3(dN[i]), step);
    }
}

// Barycentric coordinates of the projection of p onto the plane of a triangle.
static void triangle_weights(const sinew_mesh *mesh, const int32_t *nodes, sn_vec3 p,
                             double *weights) {
    sn_vec3 a = sn_mesh_point(mesh, nodes[0]);
    sn_vec3 ab = sn_sub(sn_mesh_point(mesh, nodes[1]), a);
    sn_vec3 ac = sn_sub(sn_mesh_point(mesh, nodes[2]), a);
    sn_vec3 n = sn_cross(ab, ac);
    sn_vec3 ap = sn_sub(p, a);
    double n2 = sn_dot(n, n);
    SN_ASSERT(n2 > 0); // sn_check_volumes
    weights[1] = sn_dot(sn_cross(ap, ac), n) / n2;
    weights[2] = sn_dot(sn_cross(ab, ap), n) / n2;
    weights[0] = 1 - weights[1] - weights[2];
}

// Weights of p in an element whose closest point to it is xc.
static void compute_weights(const sinew_mesh *mesh, int32_t element, sn_vec3 p, sn_vec3 xc,
                            double *weights) {
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    SN_ASSERT(element >= 0 && element < mesh->element_count);

    sn_vec3 natural;
    switch (mesh->element) {
    case SINEW_ELEMENT_TRIANGLE: triangle_weights(mesh, nodes, p, weights); break;
    case SINEW_ELEMENT_TET4:
        natural = tet_natural(mesh, nodes, p);
        weights[0] = 1 - natural.x - natural.y - natural.z;
        sn_store3(weights + 1, natural);
        break;
    case SINEW_ELEMENT_TET10:
        extrapolate_weights(mesh, nodes, tet_natural(mesh, nodes, xc), p, weights);
        break;
    case SINEW_ELEMENT_HEX8:
        extrapolate_weights(mesh, nodes, clamp_natural(hex_natural(mesh, nodes, xc), 1), p,
                            weights);
        break;
    }
}

typedef struct locate_query {
    const sinew_mesh *mesh;
    sn_vec3 p;
    int32_t element;
} locate_query;

static bool try_element(void *data, int32_t item) {
    locate_query *query = data;
    bool better = query->element < 0 || item < query->element;
    if (better && element_holds(query->mesh, item, query->p)) {
        query->element = item;
    }
    return true;
}

static double distance_to_element(void *data, int32_t item, double best) {
    locate_query *query = data;
    double to_box = sn_box_distance2(element_box(query->mesh, item), query->p);
    if (to_box > best) {
        return to_box; // saves testing the faces
    }

    sn_vec3 d = sn_sub(query->p, closest_on_element(query->mesh, item, query->p));
    return sn_dot(d, d);
}

sn_location sn_element_tree_locate(const sn_element_tree *tree, sn_vec3 p) {
    locate_query query = {&tree->mesh, p, -1};
    sn_location location = {.element = -1};

    // First the elements whose box contains the point, then the nearest one.
    sn_bvh_overlap(&tree->bvh, (sn_box){p, p}, try_element, &query);
    sn_vec3 closest = p;
    if (query.element < 0) {
        double d2;
        query.element = sn_bvh_nearest(&tree->bvh, p, INFINITY, distance_to_element, &query, &d2);
        if (query.element < 0) {
            return location;
        }

        closest = closest_on_element(&tree->mesh, query.element, p);
        location.distance = sqrt(d2);
    }

    location.element = query.element;
    compute_weights(&tree->mesh, query.element, p, closest, location.weights);

    return location;
}

// Derivatives of the shape functions with respect to the natural coordinates at p.
static void natural_derivatives(const sinew_mesh *mesh, int32_t element, sn_vec3 p,
                                double dN[SN_MAX_ELEMENT_NODES][3]) {
    static const double simplex[4][3] = {{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    sn_vec3 inside = element_holds(mesh, element, p) ? p : closest_on_element(mesh, element, p);
    double N[SN_MAX_ELEMENT_NODES];

    switch (mesh->element) {
    case SINEW_ELEMENT_TET10: sn_shape_tet10(tet_natural(mesh, nodes, inside), N, dN); break;
    case SINEW_ELEMENT_HEX8:
        sn_shape_hex8(clamp_natural(hex_natural(mesh, nodes, inside), 1), N, dN);
        break;
    case SINEW_ELEMENT_TET4: memcpy(dN, simplex, sizeof simplex); break;
    case SINEW_ELEMENT_TRIANGLE:
        memcpy(dN, simplex, 3 * sizeof *simplex);
        dN[0][2] = 0;
        break;
    }
}

void sn_element_gradients_at(const sinew_mesh *mesh, int32_t element, sn_vec3 p,
                             sn_vec3 *gradient) {
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    int32_t count = sn_element_info_of(mesh->element)->nodes;
    double dN[SN_MAX_ELEMENT_NODES][3];

    natural_derivatives(mesh, element, p, dN);
    sn_mat3 J = sn_shape_jacobian(mesh->points, nodes, count, (const double(*)[3])dN);
    if (mesh->element == SINEW_ELEMENT_TRIANGLE) {
        J.m[2][2] = 1; // the unit normal of the plane
    }

    sn_mat3 inverse = sn_mat3_inverse(J);
    for (int32_t i = 0; i < count; i++) {
        gradient[i] = sn_mat3_apply_transposed(inverse, sn_load3(dN[i]));
    }
}
