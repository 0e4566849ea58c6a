// Edges by sorting the sides of the triangles, O(n); owners are the first triangles that name a
// feature.
#include "contact/shape.h"

#include "base/tuples.h"

// A triangle counts as degenerate below this sine of its smallest angle: its normal is noise.
static const double least_sine = 1e-12;

static bool has_area(const sinew_mesh *mesh, const int32_t *corners) {
    if (corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0]) {
        return false;
    }

    sn_vec3 p = sn_mesh_point(mesh, corners[0]);
    sn_vec3 a = sn_sub(sn_mesh_point(mesh, corners[1]), p);
    sn_vec3 b = sn_sub(sn_mesh_point(mesh, corners[2]), p);
    sn_vec3 c = sn_sub(b, a);
    double longest2 = fmax(sn_dot(a, a), fmax(sn_dot(b, b), sn_dot(c, c)));
    return sn_length(sn_cross(a, b)) > least_sine * longest2;
}

static void copy_triangles(const sinew_mesh *mesh, sn_contact_shape *shape) {
    for (int32_t t = 0; t < mesh->element_count; t++) {
        const int32_t *corners = sn_at3(mesh->indices, t);
        if (!has_area(mesh, corners)) {
            shape->degenerate_count++;
            continue;
        }

        int32_t made = shape->triangle_count++;
        for (int k = 0; k < 3; k++) {
            sn_at3(shape->triangles, made)[k] = corners[k];
        }
        shape->sources[made] = t;
    }
}

// The sides of all triangles as pairs of vertices, the lower first: side 3 t + k.
static void list_sides(const sn_contact_shape *shape, int32_t *sides) {
    for (int32_t t = 0; t < shape->triangle_count; t++) {
        const int32_t *corners = sn_at3(shape->triangles, t);
        for (int k = 0; k < 3; k++) {
            int32_t a = corners[k];
            int32_t b = corners[(k + 1) % 3];
            int32_t *side = sides + 2 * (3 * (size_t)t + (size_t)k);
            side[0] = a < b ? a : b;
            side[1] = a < b ? b : a;
        }
    }
}

// Makes one edge of the sides order[begin] ... order[end - 1], which are equal.
static void add_edge(sn_contact_shape *shape, const int32_t *sides, const int32_t *order,
                     int32_t begin, int32_t end) {
    int32_t edge = shape->edge_count++;
    const int32_t *side = sides + 2 * (size_t)order[begin];
    shape->edges[2 * (size_t)edge] = side[0];
    shape->edges[2 * (size_t)edge + 1] = side[1];

    for (int32_t i = begin; i < end; i++) {
        shape->triangle_edges[order[i]] = edge;
    }

    // Equal sides keep their order, so the first triangle has the lowest number and owns the edge.
    for (int32_t k = 0; k < 2; k++) {
        size_t slot = 2 * (size_t)edge + (size_t)k;
        shape->edge_faces[slot] = shape->edge_opposite[slot] = -1;
        if (begin + k >= end) {
            continue;
        }

        int32_t face = order[begin + k] / 3, corner = order[begin + k] % 3;
        const int32_t *corners = sn_at3(shape->triangles, face);
        shape->edge_faces[slot] = face;
        shape->edge_opposite[slot] = corners[(corner + 2) % 3];
        shape->edge_turn[slot] = corners[corner] == side[0] ? 1 : -1;
    }
    shape->owns[order[begin] / 3] |= (uint8_t)(SN_CONTACT_OWNS_EDGE << (order[begin] % 3));
    shape->open_count += end - begin == 1;
    shape->crowded_count += end - begin > 2;
}

static sinew_status build_edges(sn_arena *arena, sn_contact_shape *shape) {
    int32_t count = 3 * shape->triangle_count;
    shape->edges = SN_PUSH(arena, int32_t, 2 * (size_t)count);
    shape->edge_faces = SN_PUSH(arena, int32_t, 2 * (size_t)count);
    shape->edge_opposite = SN_PUSH(arena, int32_t, 2 * (size_t)count);
    shape->edge_turn = SN_PUSH(arena, int8_t, 2 * (size_t)count);
    shape->triangle_edges = SN_PUSH(arena, int32_t, count);

    // Sort the sides of all triangles by their vertices: equal sides are one edge.
    sn_arena scratch = sn_arena_create(arena->context);
    int32_t *sides = SN_PUSH(&scratch, int32_t, 2 * (size_t)count);
    int32_t *order = NULL;
    sinew_status status = arena->failed || !sides ? SINEW_OUT_OF_MEMORY : SINEW_OK;

    if (status == SINEW_OK) {
        list_sides(shape, sides);
        status = sn_sort_tuples(&scratch, sides, 2, count, shape->vertex_count, &order);
    }

    if (status == SINEW_OK) {
        int32_t begin = 0;
        while (begin < count) {
            int32_t end = sn_tuple_group_end(sides, 2, order, count, begin);
            add_edge(shape, sides, order, begin, end);
            begin = end;
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

static void assign_vertices(sn_contact_shape *shape) {
    for (int32_t v = 0; v < shape->vertex_count; v++) {
        shape->vertex_owner[v] = -1;
        if (shape->fans.offsets[v] == shape->fans.offsets[v + 1]) {
            continue;
        }

        int32_t slot = shape->fans.items[shape->fans.offsets[v]];
        shape->vertex_owner[v] = slot / 3;
        shape->owns[slot / 3] |= (uint8_t)(SN_CONTACT_OWNS_CORNER << (slot % 3));
    }
}

// The corner of a triangle after (1) or before (2) a vertex.
static int32_t beside(const sn_contact_shape *shape, int32_t slot, int32_t offset) {
    return sn_at3(shape->triangles, slot / 3)[(slot % 3 + offset) % 3];
}

// Walks around a vertex from triangle to triangle: a closed fan comes back to the first one after
// having met each once.
static bool is_disk(const sn_contact_shape *shape, int32_t vertex) {
    int32_t first = shape->fans.offsets[vertex];
    int32_t last = shape->fans.offsets[vertex + 1];
    if (first == last) {
        return false;
    }

    // Step from each triangle to the one that continues it.
    int32_t start = beside(shape, shape->fans.items[first], 1);
    int32_t at = start;
    for (int32_t step = first; step < last; step++) {
        int32_t next = -1;
        for (int32_t i = first; i < last; i++) {
            if (beside(shape, shape->fans.items[i], 1) == at) {
                if (next >= 0) {
                    return false;
                }
                next = beside(shape, shape->fans.items[i], 2);
            }
        }
        if (next < 0 || (next == start) != (step == last - 1)) {
            return false;
        }
        at = next;
    }
    return true;
}

static void find_disks(sn_contact_shape *shape) {
    enum { LARGEST_FAN = 64 }; // more is a cost without use
    for (int32_t v = 0; v < shape->vertex_count; v++) {
        int32_t count = shape->fans.offsets[v + 1] - shape->fans.offsets[v];
        shape->disk[v] = count <= LARGEST_FAN && is_disk(shape, v);
    }
}

static void measure_shortest(const sinew_mesh *mesh, sn_contact_shape *shape) {
    for (int32_t e = 0; e < shape->edge_count; e++) {
        const int32_t *edge = shape->edges + 2 * (size_t)e;
        double length = sn_distance(sn_mesh_point(mesh, edge[0]), sn_mesh_point(mesh, edge[1]));

        for (int k = 0; k < 2; k++) {
            double *shortest = &shape->shortest[edge[k]];
            *shortest = *shortest > 0 ? fmin(*shortest, length) : length;
        }
    }
}

sinew_status sn_contact_shape_build(sn_arena *arena, const sinew_mesh *mesh,
                                    sn_contact_shape *shape) {
    *shape = (sn_contact_shape){.vertex_count = mesh->point_count};
    SN_TRY(sn_check_arrays(arena->context, mesh));

    if (mesh->element != SINEW_ELEMENT_TRIANGLE) {
        return sn_fail(arena->context, SINEW_INVALID_ARGUMENT,
                       "a contact surface consists of triangles, not of %s",
                       sn_element_info_of(mesh->element)->name);
    }

    if (mesh->element_count > INT32_MAX / 3) {
        return sn_fail(arena->context, SINEW_INVALID_ARGUMENT,
                       "a contact surface has %d triangles; at most %d are possible",
                       mesh->element_count, INT32_MAX / 3);
    }

    // Room for everything that has a known size.
    shape->triangles = SN_PUSH(arena, int32_t, 3 * (size_t)mesh->element_count);
    shape->sources = SN_PUSH(arena, int32_t, mesh->element_count);
    shape->owns = SN_PUSH(arena, uint8_t, mesh->element_count);
    shape->vertex_owner = SN_PUSH(arena, int32_t, mesh->point_count);
    shape->disk = SN_PUSH(arena, uint8_t, mesh->point_count);
    shape->shortest = SN_PUSH(arena, double, mesh->point_count);
    SN_TRY(sn_arena_status(arena));

    // Edges, fans, owners, and what is known of the vertices.
    copy_triangles(mesh, shape);
    SN_TRY(build_edges(arena, shape));
    SN_TRY(sn_build_node_slots(arena, shape->triangles, 3, shape->triangle_count,
                               shape->vertex_count, &shape->fans));
    assign_vertices(shape);
    find_disks(shape);
    measure_shortest(mesh, shape);
    shape->closed = shape->triangle_count > 0 && !shape->open_count && !shape->crowded_count;
    return SINEW_OK;
}
