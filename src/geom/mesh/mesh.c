// The element kinds, meshes that own their arrays, and volumes.
#include "geom/mesh/mesh.h"

#include "base/threads.h"

#include <string.h>

const int8_t sn_tet_edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};

const sn_element_info sn_element_infos[4] = {
    [SINEW_ELEMENT_TRIANGLE] = {.name = "triangle",
                                .dimension = 2,
                                .nodes = 3,
                                .corners = 3,
                                .faces = 3,
                                .face_nodes = 2,
                                .face_corners = 2,
                                .face = {{0, 1}, {1, 2}, {2, 0}}},
    [SINEW_ELEMENT_TET4] = {.name = "tet4",
                            .dimension = 3,
                            .nodes = 4,
                            .corners = 4,
                            .faces = 4,
                            .face_nodes = 3,
                            .face_corners = 3,
                            .face = {{0, 1, 3}, {1, 2, 3}, {2, 0, 3}, {0, 2, 1}}},
    [SINEW_ELEMENT_TET10] =
        {.name = "tet10",
         .dimension = 3,
         .nodes = 10,
         .corners = 4,
         .faces = 4,
         .face_nodes = 6,
         .face_corners = 3,
         .face = {{0, 1, 3, 4, 8, 7}, {1, 2, 3, 5, 9, 8}, {2, 0, 3, 6, 7, 9}, {0, 2, 1, 6, 5, 4}}},
    [SINEW_ELEMENT_HEX8] = {.name = "hex8",
                            .dimension = 3,
                            .nodes = 8,
                            .corners = 8,
                            .faces = 6,
                            .face_nodes = 4,
                            .face_corners = 4,
                            .face = {{0, 4, 7, 3},
                                     {1, 2, 6, 5},
                                     {0, 1, 5, 4},
                                     {3, 7, 6, 2},
                                     {0, 3, 2, 1},
                                     {4, 5, 6, 7}}},
};

int32_t sinew_element_node_count(sinew_element element) {
    return element >= SINEW_ELEMENT_TRIANGLE && element <= SINEW_ELEMENT_HEX8
               ? sn_element_infos[element].nodes
               : 0;
}

// Rejects counts that indices (of nodes, or of entries of the element array) cannot represent.
static sinew_status check_counts(sinew_context *context, const sn_element_info *info,
                                 int64_t points, int64_t elements) {
    SN_ASSERT(points >= 0 && elements >= 0);
    if (points <= INT32_MAX && elements <= INT32_MAX / info->nodes) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_OUT_OF_MEMORY,
                   "a mesh of %lld points and %lld elements is too large: at most %d and %d",
                   (long long)points, (long long)elements, INT32_MAX, INT32_MAX / info->nodes);
}

sinew_status sn_owned_mesh_create(sinew_context *context, sinew_element element, int64_t points,
                                  int64_t elements, bool with_labels, sn_owned_mesh **mesh) {
    const sn_element_info *info = sn_element_info_of(element);
    SN_TRY(check_counts(context, info, points, elements));

    // The mesh and its arrays live in one arena, which the mesh owns.
    sn_arena arena = sn_arena_create(context);
    sn_owned_mesh *made = SN_PUSH(&arena, sn_owned_mesh, 1);
    double *made_points = SN_PUSH(&arena, double, 3 * points);
    int32_t *made_indices = SN_PUSH(&arena, int32_t, info->nodes * elements);
    int32_t *made_labels = with_labels ? SN_PUSH(&arena, int32_t, elements) : NULL;

    if (sn_arena_status(&arena) != SINEW_OK) {
        sn_arena_destroy(&arena);
        return SINEW_OUT_OF_MEMORY;
    }

    made->view = (sinew_mesh){.points = made_points,
                              .point_count = (int32_t)points,
                              .element = element,
                              .indices = made_indices,
                              .element_count = (int32_t)elements,
                              .labels = made_labels};
    made->points = made_points;
    made->indices = made_indices;
    made->labels = made_labels;
    made->arena = arena;
    *mesh = made;

    return SINEW_OK;
}

void sinew_mesh_destroy(sinew_mesh *mesh) {
    if (!mesh) {
        return;
    }
    sn_arena arena = ((sn_owned_mesh *)mesh)->arena; // a copy: the arena holds the mesh itself
    sn_arena_destroy(&arena);
}

sinew_status sinew_mesh_copy(sinew_context *context, const sinew_mesh *mesh, sinew_mesh **copy) {
    SN_NEED(NULL, context);
    SN_NEED(context, copy);

    SN_TRY(sn_check_arrays(context, mesh));
    sn_owned_mesh *made;

    SN_TRY(sn_owned_mesh_create(context, mesh->element, mesh->point_count, mesh->element_count,
                                mesh->labels != NULL, &made));

    size_t nodes = (size_t)sn_element_info_of(mesh->element)->nodes;
    size_t elements = (size_t)mesh->element_count;

    memcpy(made->points, mesh->points, 3 * (size_t)mesh->point_count * sizeof(double));
    memcpy(made->indices, mesh->indices, nodes * elements * sizeof(int32_t));
    if (mesh->labels) {
        memcpy(made->labels, mesh->labels, elements * sizeof(int32_t));
    }

    *copy = &made->view;
    return SINEW_OK;
}

static sn_mat3 tet10_jacobian(const sinew_mesh *mesh, const int32_t *nodes, sn_vec3 natural) {
    double N[10], dN[10][3];
    sn_shape_tet10(natural, N, dN);
    return sn_shape_jacobian(mesh->points, nodes, 10, (const double(*)[3])dN);
}

static sn_mat3 hex8_jacobian(const sinew_mesh *mesh, const int32_t *nodes, sn_vec3 natural) {
    double N[8], dN[8][3];
    sn_shape_hex8(natural, N, dN);
    return sn_shape_jacobian(mesh->points, nodes, 8, (const double(*)[3])dN);
}

// det J is cubic in a tet10: the five-point rule of degree 3, with a negative weight at the centre,
// is exact.
static double tet10_volume(const sinew_mesh *mesh, const int32_t *nodes) {
    double volume = -0.8 * sn_mat3_det(tet10_jacobian(mesh, nodes, sn_v3(0.25, 0.25, 0.25)));
    for (int i = 0; i < 4; i++) {
        const double a = 1.0 / 6;
        const double b = 0.5;
        sn_vec3 natural = sn_v3(i == 1 ? b : a, i == 2 ? b : a, i == 3 ? b : a);
        volume += 0.45 * sn_mat3_det(tet10_jacobian(mesh, nodes, natural));
    }

    return volume / 6;
}

// det J is quadratic in each natural coordinate of a hex8: two Gauss points along each are exact.
static double hex8_volume(const sinew_mesh *mesh, const int32_t *nodes) {
    double volume = 0;
    for (int i = 0; i < 8; i++) {
        const int8_t *corner = sn_hex_corners[i];
        sn_vec3 natural = sn_scale(1 / sqrt(3), sn_v3(corner[0], corner[1], corner[2]));
        volume += sn_mat3_det(hex8_jacobian(mesh, nodes, natural));
    }

    return volume;
}

static double triangle_area(const sinew_mesh *mesh, const int32_t *nodes) {
    sn_vec3 a = sn_mesh_point(mesh, nodes[0]);
    sn_vec3 b = sn_mesh_point(mesh, nodes[1]);
    sn_vec3 c = sn_mesh_point(mesh, nodes[2]);
    return 0.5 * sn_length(sn_cross(sn_sub(b, a), sn_sub(c, a)));
}

static double tet4_volume(const sinew_mesh *mesh, const int32_t *nodes) {
    return sn_tet_volume6(sn_mesh_point(mesh, nodes[0]), sn_mesh_point(mesh, nodes[1]),
                          sn_mesh_point(mesh, nodes[2]), sn_mesh_point(mesh, nodes[3])) /
           6;
}

double sn_element_volume(const sinew_mesh *mesh, int32_t element) {
    SN_ASSERT(element >= 0 && element < mesh->element_count);
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    switch (mesh->element) {
    case SINEW_ELEMENT_TRIANGLE: return triangle_area(mesh, nodes);
    case SINEW_ELEMENT_TET4: return tet4_volume(mesh, nodes);
    case SINEW_ELEMENT_TET10: return tet10_volume(mesh, nodes);
    case SINEW_ELEMENT_HEX8: return hex8_volume(mesh, nodes);
    }

    return 0;
}

double sn_element_smallest_jacobian(const sinew_mesh *mesh, int32_t element) {
    static const double tet10_natural[10][3] = {
        {0, 0, 0},     {1, 0, 0},   {0, 1, 0},   {0, 0, 1},     {0.5, 0, 0},
        {0.5, 0.5, 0}, {0, 0.5, 0}, {0, 0, 0.5}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};

    // Simplices have one value; the others are evaluated at their nodes.
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    double smallest = INFINITY;

    switch (mesh->element) {
    case SINEW_ELEMENT_TRIANGLE: return 2 * triangle_area(mesh, nodes);
    case SINEW_ELEMENT_TET4: return 6 * tet4_volume(mesh, nodes);
    case SINEW_ELEMENT_TET10:
        for (int i = 0; i < 10; i++) {
            smallest = fmin(smallest,
                            sn_mat3_det(tet10_jacobian(mesh, nodes, sn_load3(tet10_natural[i]))));
        }
        break;
    case SINEW_ELEMENT_HEX8:
        for (int i = 0; i < 8; i++) {
            const int8_t *corner = sn_hex_corners[i];
            smallest = fmin(smallest, sn_mat3_det(hex8_jacobian(
                                          mesh, nodes, sn_v3(corner[0], corner[1], corner[2]))));
        }
        break;
    }

    return smallest;
}

sn_box sn_mesh_box(const sinew_mesh *mesh) {
    return sn_box_of_points(mesh->points, mesh->point_count);
}

double sn_surface_volume(const double *points, const int32_t *triangles, int32_t triangle_count) {
    if (triangle_count == 0) {
        return 0;
    }

    // A reference point inside the surface avoids cancellation if the solid is far from the origin.
    sn_box box = sn_box_empty();
    for (int32_t i = 0; i < 3 * triangle_count; i++) {
        box = sn_box_with_point(box, sn_load3(sn_at3(points, triangles[i])));
    }
    sn_vec3 reference = sn_box_center(box);

    // One tet from there to each triangle.
    double volume = 0;
    for (int32_t i = 0; i < triangle_count; i++) {
        const int32_t *t = triangles + 3 * (size_t)i;
        sn_vec3 a = sn_sub(sn_load3(sn_at3(points, t[0])), reference);
        sn_vec3 b = sn_sub(sn_load3(sn_at3(points, t[1])), reference);
        sn_vec3 c = sn_sub(sn_load3(sn_at3(points, t[2])), reference);
        volume += sn_dot(a, sn_cross(b, c)) / 6;
    }

    return volume;
}
