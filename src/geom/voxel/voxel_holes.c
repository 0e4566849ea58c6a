// Holes of a triangle surface: edges with an odd number of triangles, collected into rims. By
// sorting edges, O(triangles).
#include "geom/voxel/voxel_surface.h"

#include "base/tuples.h"

#include <string.h>

static int32_t root_of(int32_t *parent, int32_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// Edges with an odd number of triangles; pairs of points.
static sinew_status find_open_edges(sn_arena *arena, const int32_t *triangles, int32_t count,
                                    int32_t point_count, int32_t **open, int32_t *open_count) {
    int32_t edge_count = 3 * count;
    int32_t *order;
    int32_t *edges = SN_PUSH(arena, int32_t, 2 * (size_t)edge_count);

    *open = SN_PUSH(arena, int32_t, 2 * (size_t)edge_count);
    SN_TRY(sn_arena_status(arena));

    // Edges with their ends in ascending order; sorting makes equal ones adjacent.
    for (int32_t e = 0; e < edge_count; e++) {
        edges[2 * (size_t)e] = triangles[e];
        edges[2 * (size_t)e + 1] = triangles[e - e % 3 + (e + 1) % 3];
        sn_sort_tuple(edges + 2 * (size_t)e, 2);
    }

    SN_TRY(sn_sort_tuples(arena, edges, 2, edge_count, point_count, &order));
    *open_count = 0;
    for (int32_t begin = 0, end; begin < edge_count; begin = end) {
        end = sn_tuple_group_end(edges, 2, order, edge_count, begin);
        if ((end - begin) % 2 == 0) {
            continue;
        }
        memcpy(*open + 2 * (size_t)(*open_count)++, edges + 2 * (size_t)order[begin],
               2 * sizeof **open);
    }

    return SINEW_OK;
}

static sinew_status measure_rims(sn_arena *arena, const sinew_mesh *mesh, const int32_t *open,
                                 int32_t count, sn_hole_report *report) {
    int32_t *parent = SN_PUSH(arena, int32_t, mesh->point_count);
    sn_box *boxes = SN_PUSH(arena, sn_box, mesh->point_count);

    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < mesh->point_count; i++) {
        parent[i] = i;
        boxes[i] = sn_box_empty();
    }

    // Join the ends of open edges: each set is a rim.
    for (int32_t e = 0; e < count; e++) {
        int32_t a = root_of(parent, open[2 * e]);
        int32_t b = root_of(parent, open[2 * e + 1]);
        parent[a < b ? b : a] = a < b ? a : b;
    }

    // Bounding box of each rim.
    for (int32_t k = 0; k < 2 * count; k++) {
        int32_t root = root_of(parent, open[k]);
        if (boxes[root].lower.x > boxes[root].upper.x) {
            report->holes++;
        }
        boxes[root] = sn_box_with_point(boxes[root], sn_load3(sn_at3(mesh->points, open[k])));
    }

    // The widest one.
    for (int32_t i = 0; i < mesh->point_count; i++) {
        if (boxes[i].lower.x > boxes[i].upper.x || sn_box_diagonal(boxes[i]) <= report->largest) {
            continue;
        }
        report->largest = sn_box_diagonal(boxes[i]);
        report->center = sn_box_center(boxes[i]);
    }

    return SINEW_OK;
}

sinew_status sn_find_holes(sn_arena *arena, const sinew_mesh *mesh, const int32_t *triangles,
                           int32_t count, sn_hole_report *report) {
    int32_t *open;
    *report = (sn_hole_report){0};
    SN_TRY(find_open_edges(arena, triangles, count, mesh->point_count, &open, &report->open_edges));
    return report->open_edges ? measure_rims(arena, mesh, open, report->open_edges, report)
                              : SINEW_OK;
}
