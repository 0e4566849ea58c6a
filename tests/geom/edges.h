// The edges of a list of triangles, counted, to check that a surface is closed and oriented.
#ifndef SN_TESTS_GEOM_EDGES_H
#define SN_TESTS_GEOM_EDGES_H

#include "support/test.h"

#include "base/memory.h"
#include "base/tuples.h"

typedef struct edge_report {
    int32_t edges;
    int32_t open;         // with one triangle
    int32_t crowded;      // with more than two
    int32_t inconsistent; // whose two triangles run along them in the same direction
} edge_report;

static inline void count_edge(const int32_t *sides, const int32_t *order, int32_t count,
                              const int32_t *triangles, edge_report *report) {
    report->edges++;
    report->open += count == 1;
    report->crowded += count > 2;
    if (count != 2) {
        return;
    }

    int32_t low = sides[2 * (size_t)order[0]];
    bool first_up = triangles[order[0]] == low;
    bool second_up = triangles[order[1]] == low;
    report->inconsistent += first_up == second_up;
}

static inline edge_report count_edges(sinew_context *context, const int32_t *triangles,
                                      int32_t triangle_count, int32_t vertex_count) {
    sn_arena scratch = sn_arena_create(context);
    int32_t count = 3 * triangle_count;
    int32_t *order = NULL;
    int32_t *sides = SN_PUSH(&scratch, int32_t, 2 * (size_t)count);
    assert_int_equal(sn_arena_status(&scratch), SINEW_OK);

    // Side k runs from corner k of the list to the next corner of its triangle.
    for (int32_t side = 0; side < count; side++) {
        sides[2 * (size_t)side] = triangles[side];
        sides[2 * (size_t)side + 1] = triangles[side / 3 * 3 + (side + 1) % 3];
        sn_sort_tuple(sides + 2 * (size_t)side, 2);
    }

    assert_int_equal(sn_sort_tuples(&scratch, sides, 2, count, vertex_count, &order), SINEW_OK);
    edge_report report = {0};
    for (int32_t begin = 0, end; begin < count; begin = end) {
        end = sn_tuple_group_end(sides, 2, order, count, begin);
        count_edge(sides, order + begin, end - begin, triangles, &report);
    }

    sn_arena_destroy(&scratch);
    return report;
}

#endif
