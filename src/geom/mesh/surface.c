// The boundary of a mesh: its faces, the same as triangles with outward normals over their own
// vertices, and normals at points.
#include "geom/mesh/mesh.h"

#include <string.h>

sinew_status sn_build_boundary(sn_arena *arena, const sinew_mesh *mesh, sn_boundary *boundary) {
    int32_t faces = sn_element_info_of(mesh->element)->faces;
    int32_t *neighbors;
    int32_t count = 0;
    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = sn_build_element_neighbors(&scratch, mesh, &neighbors);
    int32_t total = status == SINEW_OK ? mesh->element_count * faces : 0;

    // Count the faces without a neighbour, then list them.
    for (int32_t i = 0; i < total; i++) {
        count += neighbors[i] < 0;
    }

    *boundary = (sn_boundary){.count = count,
                              .elements = SN_PUSH(arena, int32_t, count),
                              .faces = SN_PUSH(arena, int32_t, count)};
    if (status == SINEW_OK) {
        status = sn_arena_status(arena);
    }
    if (status != SINEW_OK) {
        sn_arena_destroy(&scratch);
        return status;
    }

    for (int32_t i = 0, next = 0; i < total; i++) {
        if (neighbors[i] >= 0) {
            continue;
        }
        boundary->elements[next] = i / faces;
        boundary->faces[next++] = i % faces;
    }

    sn_arena_destroy(&scratch);
    return status;
}

// The triangles of one outer face, as mesh nodes. Returns their number.
static int32_t cut_face(const sn_element_info *info, const int32_t *nodes, int32_t face,
                        int32_t triangles[12]) {
    // A six-node face abc with mid-edge nodes 3, 4, 5: three corner triangles and the middle one.
    static const int8_t six[4][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}};

    // A quadrilateral: cut through corners 0 and 2, or 1 and 3.
    static const int8_t four[2][2][3] = {{{0, 1, 2}, {0, 2, 3}}, {{1, 2, 3}, {1, 3, 0}}};

    SN_ASSERT(info->dimension == 3 && face >= 0 && face < info->faces);

    // The lowest corner decides how a quadrilateral is cut.
    int32_t corner[SN_MAX_FACE_NODES], lowest = 0, count = 1;
    for (int32_t i = 0; i < info->face_nodes; i++) {
        corner[i] = nodes[info->face[face][i]];
        if (corner[i] < corner[lowest]) {
            lowest = i;
        }
    }

    static const int8_t three[1][3] = {{0, 1, 2}};
    const int8_t(*cut)[3] = three;
    if (info->face_nodes == 6) {
        cut = six;
        count = 4;
    } else if (info->face_nodes == 4) {
        cut = four[lowest % 2]; // the rule by which hexahedra are cut into six tets
        count = 2;
    }

    for (int32_t i = 0; i < 3 * count; i++) {
        triangles[i] = corner[cut[i / 3][i % 3]];
    }

    return count;
}

// Fills triangles (in mesh nodes) and their elements. Returns the number of triangles; with NULL it
// only counts.
static int32_t cut_boundary(const sinew_mesh *mesh, const sn_boundary *boundary, int32_t *triangles,
                            int32_t *elements) {
    const sn_element_info *info = sn_element_info_of(mesh->element);
    int32_t total = 0;
    for (int32_t i = 0; i < boundary->count; i++) {
        int32_t cut[12];
        int32_t count =
            cut_face(info, sn_mesh_nodes(mesh, boundary->elements[i]), boundary->faces[i], cut);

        if (triangles) {
            for (int32_t k = 0; k < count; k++) {
                memcpy(sn_at3(triangles, total + k), sn_at3(cut, k), 3 * sizeof *cut);
                elements[total + k] = boundary->elements[i];
            }
        }

        total += count;
    }

    return total;
}

// Replaces mesh nodes by vertices, numbered by ascending node. `numbers` is zeroed scratch for all
// nodes.
static sinew_status compact_vertices(sn_arena *arena, int32_t node_count, int32_t *numbers,
                                     sn_surface *surface) {
    size_t corners = 3 * (size_t)surface->triangle_count;

    // Mark the nodes in use.
    for (size_t i = 0; i < corners; i++) {
        numbers[surface->triangles[i]] = 1;
    }

    for (int32_t node = 0; node < node_count; node++) {
        surface->vertex_count += numbers[node];
    }

    SN_ASSERT(surface->vertex_count <= node_count);
    surface->nodes = SN_PUSH(arena, int32_t, surface->vertex_count);
    SN_TRY(sn_arena_status(arena));

    // Number them in ascending order.
    for (int32_t node = 0, next = 0; node < node_count; node++) {
        if (!numbers[node]) {
            continue;
        }
        surface->nodes[next] = node;
        numbers[node] = next++;
    }

    for (size_t i = 0; i < corners; i++) {
        surface->triangles[i] = numbers[surface->triangles[i]];
    }

    return SINEW_OK;
}

static sinew_status build_triangles(sn_arena *arena, sn_arena *scratch, const sinew_mesh *mesh,
                                    sn_surface *surface) {
    sn_boundary boundary = {0};
    bool flat = mesh->element == SINEW_ELEMENT_TRIANGLE;
    if (!flat) {
        SN_TRY(sn_build_boundary(scratch, mesh, &boundary));
    }

    int64_t count =
        flat ? mesh->element_count
             : (int64_t)boundary.count * (sn_element_info_of(mesh->element)->face_nodes - 2);

    if (count > INT32_MAX / 3) {
        return sn_fail(arena->context, SINEW_OUT_OF_MEMORY,
                       "the surface has more than %d triangles", INT32_MAX / 3);
    }

    surface->triangle_count = (int32_t)count;
    surface->triangles = SN_PUSH(arena, int32_t, 3 * count);
    surface->elements = SN_PUSH(arena, int32_t, count);
    SN_TRY(sn_arena_status(arena));

    // A triangle mesh is its own surface.
    if (flat) {
        memcpy(surface->triangles, mesh->indices, 3 * (size_t)count * sizeof(int32_t));
        for (int32_t i = 0; i < count; i++) {
            surface->elements[i] = i;
        }
    } else {
        int32_t cut = cut_boundary(mesh, &boundary, surface->triangles, surface->elements);
        SN_ASSERT(cut == count);
        (void)cut;
    }

    return SINEW_OK;
}

sinew_status sn_build_surface(sn_arena *arena, const sinew_mesh *mesh, sn_surface *surface) {
    *surface = (sn_surface){0};
    sn_arena scratch = sn_arena_create(arena->context);
    int32_t *numbers = SN_PUSH(&scratch, int32_t, mesh->point_count);
    sinew_status status =
        numbers ? build_triangles(arena, &scratch, mesh, surface) : SINEW_OUT_OF_MEMORY;

    if (status == SINEW_OK) {
        status = compact_vertices(arena, mesh->point_count, numbers, surface);
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status fill_surface_mesh(sn_arena *scratch, const sinew_mesh *mesh,
                                      sn_owned_mesh **made) {
    sn_surface surface;
    SN_TRY(sn_build_surface(scratch, mesh, &surface));
    SN_TRY(sn_owned_mesh_create(scratch->context, SINEW_ELEMENT_TRIANGLE, surface.vertex_count,
                                surface.triangle_count, mesh->labels != NULL, made));

    sn_owned_mesh *owned = *made;
    owned->nodes = SN_PUSH(&owned->arena, int32_t, surface.vertex_count);
    if (!owned->nodes) {
        sinew_mesh_destroy(&owned->view);
        return SINEW_OUT_OF_MEMORY;
    }

    // Triangles, vertices, and the label of each triangle's element.
    memcpy(owned->indices, surface.triangles, 3 * (size_t)surface.triangle_count * sizeof(int32_t));
    for (int32_t v = 0; v < surface.vertex_count; v++) {
        owned->nodes[v] = surface.nodes[v];
        sn_store3(sn_at3(owned->points, v), sn_mesh_point(mesh, surface.nodes[v]));
    }

    if (owned->labels) {
        for (int32_t i = 0; i < surface.triangle_count; i++) {
            owned->labels[i] = mesh->labels[surface.elements[i]];
        }
    }

    return SINEW_OK;
}

sinew_status sinew_mesh_create_surface(sinew_context *context, const sinew_mesh *mesh,
                                       sinew_mesh **surface, const int32_t **nodes) {
    SN_NEED(NULL, context);
    SN_NEED(context, surface);

    SN_TRY(sn_check_arrays(context, mesh));
    sn_arena scratch = sn_arena_create(context);
    sn_owned_mesh *made = NULL;
    sinew_status status = fill_surface_mesh(&scratch, mesh, &made);

    sn_arena_destroy(&scratch);
    SN_TRY(status);
    *surface = &made->view;
    if (nodes) {
        *nodes = made->nodes;
    }

    return SINEW_OK;
}

void sinew_mesh_compute_normals(const sinew_mesh *surface, const double *points, double *normals) {
    SN_NEED_OR(, surface && points && normals);

    SN_ASSERT(surface->element == SINEW_ELEMENT_TRIANGLE);
    memset(normals, 0, 3 * (size_t)surface->point_count * sizeof *normals);
    for (int32_t i = 0; i < surface->element_count; i++) {
        const int32_t *t = sn_at3(surface->indices, i);
        for (int k = 0; k < 3; k++) {
            double *n = sn_at3(normals, t[k]);
            sn_store3(n, sn_add(sn_load3(n),
                                sn_corner_normal(points, t[k], t[(k + 1) % 3], t[(k + 2) % 3])));
        }
    }

    for (int32_t i = 0; i < surface->point_count; i++) {
        sn_store3(sn_at3(normals, i), sn_normalize(sn_load3(sn_at3(normals, i))));
    }
}
