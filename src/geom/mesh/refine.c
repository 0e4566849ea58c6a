// Refines triangles until no edge is longer than a limit. In: a mesh of triangles. Out: one of the
// same shape, whose first points are those of the input.
//
// Each pass cuts every edge that is too long in the middle, and each triangle by its cut edges:
// into two, three or four. Triangles on both sides of an edge cut it alike, so nothing opens, also
// where points are doubled along a seam. Cost: one sort of the long edges for each halving.
#include "geom/mesh/mesh.h"

#include "base/tuples.h"

#include <math.h>
#include <string.h>

enum { MOST_PASSES = 30 };

// The long edges of a mesh, each once.
typedef struct cuts {
    int32_t count;
    int32_t *edge;   // two points each, ascending
    int32_t *middle; // for each side of each triangle its new point, or -1
} cuts;

static bool is_long(const sinew_mesh *mesh, int32_t a, int32_t b, double limit) {
    return sn_distance(sn_mesh_point(mesh, a), sn_mesh_point(mesh, b)) > limit;
}

static sinew_status find_cuts(sn_arena *scratch, const sinew_mesh *mesh, double limit, cuts *out) {
    int32_t sides = 3 * mesh->element_count;
    int32_t *edge = SN_PUSH(scratch, int32_t, 2 * (size_t)sides);
    int32_t *side = SN_PUSH(scratch, int32_t, sides);
    out->edge = SN_PUSH(scratch, int32_t, 2 * (size_t)sides);
    out->middle = SN_PUSH(scratch, int32_t, sides);
    SN_TRY(sn_arena_status(scratch));

    // Sides that are too long.
    int32_t count = 0;
    for (int32_t s = 0; s < sides; s++) {
        int32_t a = mesh->indices[s];
        int32_t b = mesh->indices[s % 3 == 2 ? s - 2 : s + 1];
        out->middle[s] = -1;
        if (is_long(mesh, a, b, limit)) {
            edge[2 * count] = a < b ? a : b;
            edge[2 * count + 1] = a < b ? b : a;
            side[count++] = s;
        }
    }

    // Sides with the same ends share a point.
    int32_t *order;
    SN_TRY(sn_sort_tuples(scratch, edge, 2, count, mesh->point_count, &order));
    out->count = 0;
    for (int32_t i = 0; i < count;) {
        int32_t end = sn_tuple_group_end(edge, 2, order, count, i);
        memcpy(out->edge + 2 * (size_t)out->count, edge + 2 * (size_t)order[i], 2 * sizeof *edge);
        for (; i < end; i++) {
            out->middle[side[order[i]]] = mesh->point_count + out->count;
        }
        out->count++;
    }

    return SINEW_OK;
}

// Cuts a triangle with corners p by the middles m of its sides (-1: whole). Returns the number of
// parts.
static int cut_triangle(const int32_t p[3], const int32_t m[3], int32_t out[12]) {
    int cut = (m[0] >= 0) + (m[1] >= 0) + (m[2] >= 0);
    if (cut == 0) {
        memcpy(out, p, 3 * sizeof *out);
        return 1;
    }
    if (cut == 3) {
        const int32_t parts[12] = {p[0], m[0], m[2], m[0], p[1], m[1],
                                   m[2], m[1], p[2], m[0], m[1], m[2]};
        memcpy(out, parts, sizeof parts);
        return 4;
    }

    // Begin at the side that differs from the other two.
    int k = 0;
    while ((m[k] >= 0) != (cut == 1)) {
        k++;
    }
    int32_t a = p[k], b = p[(k + 1) % 3], c = p[(k + 2) % 3];
    if (cut == 1) {
        const int32_t parts[6] = {a, m[k], c, m[k], b, c};
        memcpy(out, parts, sizeof parts);
        return 2;
    }

    int32_t bc = m[(k + 1) % 3], ca = m[(k + 2) % 3];
    const int32_t parts[9] = {a, b, bc, a, bc, ca, ca, bc, c};
    memcpy(out, parts, sizeof parts);
    return 3;
}

static sinew_status apply_cuts(sinew_context *context, const sinew_mesh *mesh, const cuts *cuts,
                               sn_owned_mesh **refined) {
    int64_t count = mesh->element_count;
    for (int32_t s = 0; s < 3 * mesh->element_count; s++) {
        count += cuts->middle[s] >= 0;
    }

    sn_owned_mesh *made;
    int64_t points = (int64_t)mesh->point_count + cuts->count;
    SN_TRY(sn_owned_mesh_create(context, SINEW_ELEMENT_TRIANGLE, points, count,
                                mesh->labels != NULL, &made));

    // The points of the input, then the middles.
    memcpy(made->points, mesh->points, 3 * (size_t)mesh->point_count * sizeof *made->points);
    for (int32_t i = 0; i < cuts->count; i++) {
        const int32_t *edge = cuts->edge + 2 * (size_t)i;
        sn_vec3 sum = sn_add(sn_mesh_point(mesh, edge[0]), sn_mesh_point(mesh, edge[1]));
        sn_store3(sn_at3(made->points, mesh->point_count + i), sn_scale(0.5, sum));
    }

    // The parts of each triangle.
    int32_t n = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        size_t first = 3 * (size_t)e;
        int parts = cut_triangle(mesh->indices + first, cuts->middle + first,
                                 made->indices + 3 * (size_t)n);
        for (int k = 0; k < (mesh->labels ? parts : 0); k++) {
            made->labels[n + k] = mesh->labels[e];
        }
        n += parts;
    }

    SN_ASSERT(n == count);
    *refined = made;
    return SINEW_OK;
}

sinew_status sinew_mesh_create_refined(sinew_context *context, const sinew_mesh *triangles,
                                       double longest_edge, sinew_mesh **mesh) {
    SN_NEED(NULL, context);
    SN_NEED(context, mesh);
    SN_TRY(sn_check_arrays(context, triangles));
    if (triangles->element != SINEW_ELEMENT_TRIANGLE || !(longest_edge > 0)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "edges of %s cannot be cut to %g m; valid are triangles and lengths above 0",
                       sn_element_info_of(triangles->element)->name, longest_edge);
    }

    sinew_mesh *now;
    SN_TRY(sinew_mesh_copy(context, triangles, &now));
    for (int pass = 0; pass < MOST_PASSES; pass++) {
        cuts cuts = {0};
        sn_owned_mesh *next = NULL;
        sn_arena scratch = sn_arena_create(context);
        sinew_status status = find_cuts(&scratch, now, longest_edge, &cuts);
        if (status == SINEW_OK && cuts.count > 0) {
            status = apply_cuts(context, now, &cuts, &next);
        }

        sn_arena_destroy(&scratch);
        if (status != SINEW_OK) {
            sinew_mesh_destroy(now);
            return status;
        }
        if (!next) {
            break;
        }
        sinew_mesh_destroy(now);
        now = &next->view;
    }

    *mesh = now;
    return SINEW_OK;
}
