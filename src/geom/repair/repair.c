// Repairs a triangle surface: merges points by sorted keys, drops repeated triangles by sorting,
// orients neighbours alike by a walk over the edges, and orients the outermost parts by winding
// numbers. O(n), plus O(n) for each of the largest parts.
#include "geom/repair/repair.h"

#include "base/threads.h"
#include "geom/mesh/mesh.h"
#include "base/sort.h"
#include "geom/search/search.h"
#include "base/tuples.h"

#include <string.h>

enum { KEY_BITS = 21, TESTED_PARTS = 64 };

typedef struct repair {
    sn_arena *scratch;
    const double *points;
    int32_t point_count;
    int32_t *triangles; // 3 each
    int32_t count;
    int32_t *across;  // for each side the side of another triangle along the same edge, or -1
    int32_t *parts;   // of each triangle
    uint8_t *flipped; // of each triangle: its orientation is reversed
    int32_t part_count;
} repair;

// (*stands_for)[i] is the first point at the position of point i. Returns how many points are
// replaced by another.
static sinew_status merge_points(sn_arena *scratch, const sinew_mesh *surface, int32_t **stands_for,
                                 int32_t *merged) {
    int32_t count = surface->point_count;
    int32_t *order = SN_PUSH(scratch, int32_t, count);
    uint64_t *keys = SN_PUSH(scratch, uint64_t, count);

    *stands_for = SN_PUSH(scratch, int32_t, count);
    SN_TRY(sn_arena_status(scratch));

    // Keys of positions on a fine lattice: points in one cell of it are merged.
    sn_box box = sn_mesh_box(surface);
    sn_vec3 size = sn_box_size(box);
    double largest = fmax(size.x, fmax(size.y, size.z));
    double scale = largest > 0 ? ((1 << KEY_BITS) - 1) / largest : 0;

    for (int32_t i = 0; i < count; i++) {
        sn_vec3 p = sn_scale(scale, sn_sub(sn_mesh_point(surface, i), box.lower));
        keys[i] = ((uint64_t)round(p.x) << KEY_BITS | (uint64_t)round(p.y)) << KEY_BITS |
                  (uint64_t)round(p.z);
        order[i] = i;
    }

    // The first point of each group stands for all of it.
    SN_TRY(sn_sort_by_key(scratch, keys, order, count));
    *merged = 0;
    for (int32_t i = 0, first = 0; i < count; i++) {
        if (keys[i] != keys[first]) {
            first = i;
        }
        (*stands_for)[order[i]] = order[first]; // the sort is stable: the lowest number
        *merged += i != first;
    }

    return SINEW_OK;
}

static bool is_flat(const double *points, const int32_t *t) {
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) {
        return true;
    }

    sn_vec3 a = sn_load3(sn_at3(points, t[0]));
    sn_vec3 b = sn_load3(sn_at3(points, t[1]));
    sn_vec3 c = sn_load3(sn_at3(points, t[2]));
    sn_vec3 ab = sn_sub(b, a);
    sn_vec3 ac = sn_sub(c, a);
    sn_vec3 bc = sn_sub(c, b);
    double longest2 = fmax(sn_dot(ab, ab), fmax(sn_dot(ac, ac), sn_dot(bc, bc)));

    return sn_length(sn_cross(ab, ac)) <= 1e-12 * longest2;
}

// Keeps the first of each set of triangles with the same corners; the order stays.
static sinew_status drop_repeated(repair *r) {
    int32_t *tuples = SN_PUSH(r->scratch, int32_t, 3 * (size_t)r->count);
    int32_t *order;
    uint8_t *drop = SN_PUSH(r->scratch, uint8_t, r->count);

    SN_TRY(sn_arena_status(r->scratch));
    if (r->count > 0) {
        memcpy(tuples, r->triangles, 3 * (size_t)r->count * sizeof *tuples);
    }

    // Triangles with the same set of corners become adjacent.
    for (int32_t i = 0; i < r->count; i++) {
        sn_sort_tuple(sn_at3(tuples, i), 3);
    }

    SN_TRY(sn_sort_tuples(r->scratch, tuples, 3, r->count, r->point_count, &order));
    for (int32_t begin = 0, end; begin < r->count; begin = end) {
        end = sn_tuple_group_end(tuples, 3, order, r->count, begin);
        for (int32_t i = begin + 1; i < end; i++) {
            drop[order[i]] = 1;
        }
    }

    // Close the gaps.
    int32_t kept = 0;
    for (int32_t i = 0; i < r->count; i++) {
        if (drop[i]) {
            continue;
        }
        memmove(sn_at3(r->triangles, kept++), sn_at3(r->triangles, i), 3 * sizeof(int32_t));
    }

    r->count = kept;
    return SINEW_OK;
}

// Joins sides that share an edge in pairs; counts the other edges.
static sinew_status join_sides(repair *r, int32_t *open, int32_t *crowded) {
    int32_t count = 3 * r->count;
    int32_t *order;
    int32_t *tuples = SN_PUSH(r->scratch, int32_t, 2 * (size_t)count);

    r->across = SN_PUSH(r->scratch, int32_t, count);
    SN_TRY(sn_arena_status(r->scratch));

    // Sides with their ends in ascending order.
    for (int32_t side = 0; side < count; side++) {
        tuples[2 * (size_t)side] = r->triangles[side];
        tuples[2 * (size_t)side + 1] = r->triangles[side / 3 * 3 + (side + 1) % 3];
        sn_sort_tuple(tuples + 2 * (size_t)side, 2);
        r->across[side] = -1;
    }

    // Edges with exactly two sides join their triangles.
    SN_TRY(sn_sort_tuples(r->scratch, tuples, 2, count, r->point_count, &order));
    for (int32_t begin = 0, end; begin < count; begin = end) {
        end = sn_tuple_group_end(tuples, 2, order, count, begin);
        *open += end - begin == 1;
        *crowded += end - begin > 2;
        if (end - begin != 2) {
            continue;
        }

        r->across[order[begin]] = order[begin + 1];
        r->across[order[begin + 1]] = order[begin];
    }

    return SINEW_OK;
}

static sn_vec3 area_normal(const repair *r, int32_t triangle) {
    const int32_t *t = sn_at3(r->triangles, triangle);
    sn_vec3 a = sn_load3(sn_at3(r->points, t[0]));
    return sn_scale(0.5, sn_cross(sn_sub(sn_load3(sn_at3(r->points, t[1])), a),
                                  sn_sub(sn_load3(sn_at3(r->points, t[2])), a)));
}

// Visits one part from a triangle and orients neighbours alike. Returns the flipped area minus the
// unflipped area.
static double orient_alike(repair *r, int32_t first, int32_t *stack) {
    SN_ASSERT(r->parts[first] < 0);
    int32_t depth = 0;
    double balance = 0;

    r->parts[first] = r->part_count;
    stack[depth++] = first;

    // Depth-first walk over the edges.
    while (depth > 0) {
        int32_t triangle = stack[--depth];
        double area = sn_length(area_normal(r, triangle));

        balance += r->flipped[triangle] ? area : -area;
        for (int32_t side = 3 * triangle; side < 3 * triangle + 3; side++) {
            int32_t other = r->across[side];
            if (other < 0 || r->parts[other / 3] >= 0) {
                continue;
            }

            // Two sides that start at the same point have the same direction: then one of the
            // triangles must be flipped.
            bool same_direction = r->triangles[side] == r->triangles[other];

            r->flipped[other / 3] = r->flipped[triangle] ^ same_direction;
            r->parts[other / 3] = r->part_count;
            SN_ASSERT(depth < r->count); // every triangle waits once
            stack[depth++] = other / 3;
        }
    }

    return balance;
}

static sinew_status orient_parts_alike(repair *r) {
    int32_t *stack = SN_PUSH(r->scratch, int32_t, r->count);
    r->parts = SN_PUSH(r->scratch, int32_t, r->count);
    r->flipped = SN_PUSH(r->scratch, uint8_t, r->count);
    SN_TRY(sn_arena_status(r->scratch));
    memset(r->parts, -1, (size_t)r->count * sizeof *r->parts);

    uint8_t *flip = SN_PUSH(r->scratch, uint8_t, r->count); // of each part
    SN_TRY(sn_arena_status(r->scratch));

    // Orient each part as most of its area was.
    for (int32_t i = 0; i < r->count; i++) {
        if (r->parts[i] >= 0) {
            continue;
        }
        flip[r->part_count] = orient_alike(r, i, stack) > 0;
        r->part_count++;
    }

    for (int32_t i = 0; i < r->count; i++) {
        r->flipped[i] ^= flip[r->parts[i]];
    }

    return SINEW_OK;
}

typedef struct winding_job {
    const repair *r;
    sn_vec3 p;
    int32_t skipped;
} winding_job;

static double sum_solid_angles(void *data, int32_t begin, int32_t end) {
    const winding_job *job = data;
    double sum = 0;
    for (int32_t i = begin; i < end; i++) {
        if (i == job->skipped) {
            continue;
        }

        const int32_t *t = sn_at3(job->r->triangles, i);
        sn_vec3 corner[3];
        for (int k = 0; k < 3; k++) {
            corner[k] = sn_sub(sn_load3(sn_at3(job->r->points, t[k])), job->p);
        }

        double angle = sn_solid_angle(corner[0], corner[1], corner[2]);
        sum += job->r->flipped[i] ? -angle : angle;
    }

    return sum;
}

// The mean of the winding numbers on both sides of a triangle: its own contribution of one half is
// removed.
static double mean_winding(const repair *r, int32_t triangle) {
    const int32_t *t = sn_at3(r->triangles, triangle);
    sn_vec3 center = sn_v3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        center = sn_madd(center, 1.0 / 3, sn_load3(sn_at3(r->points, t[k])));
    }

    winding_job job = {r, center, triangle};
    return sn_parallel_sum(r->scratch->context, r->count, 1024, sum_solid_angles, &job) /
           (4 * 3.14159265358979323846);
}

// Flips the parts that bound a negative inside, the largest first. If that one is wrong, all parts
// are flipped with it: a surface is usually inside out as a whole, cavities included, and a part
// that was right is flipped back later.
static sinew_status orient_outwards(repair *r) {
    double *areas = SN_PUSH(r->scratch, double, r->part_count);
    int32_t *widest = SN_PUSH(r->scratch, int32_t, r->part_count);

    SN_TRY(sn_arena_status(r->scratch));

    // The area and the largest triangle of each part.
    for (int32_t i = 0; i < r->part_count; i++) {
        widest[i] = -1;
    }

    for (int32_t i = 0; i < r->count; i++) {
        double area = sn_length(area_normal(r, i));
        int32_t part = r->parts[i];
        areas[part] += area;
        if (widest[part] < 0 || area > sn_length(area_normal(r, widest[part]))) {
            widest[part] = i;
        }
    }

    // Flip the parts, the largest first.
    int32_t tested = r->part_count < TESTED_PARTS ? r->part_count : TESTED_PARTS;
    for (int32_t rank = 0; rank < tested; rank++) {
        int32_t largest = 0;
        for (int32_t i = 1; i < r->part_count; i++) {
            largest = areas[i] > areas[largest] ? i : largest;
        }

        SN_ASSERT(areas[largest] >= 0 && widest[largest] >= 0);
        areas[largest] = -1;
        if (mean_winding(r, widest[largest]) >= 0) {
            continue;
        }

        for (int32_t i = 0; i < r->count; i++) {
            r->flipped[i] ^= rank == 0 || r->parts[i] == largest;
        }
    }

    return SINEW_OK;
}

static sinew_status repair_all(repair *r, const sinew_mesh *surface,
                               sn_repaired_surface *repaired) {
    int32_t *stands_for;
    SN_TRY(merge_points(r->scratch, surface, &stands_for, &repaired->merged_points));

    // Replace merged points, and drop triangles without area.
    for (int32_t i = 0; i < surface->element_count; i++) {
        int32_t *t = sn_at3(r->triangles, r->count);
        for (int32_t k = 0; k < 3; k++) {
            t[k] = stands_for[sn_mesh_nodes(surface, i)[k]];
        }
        r->count += !is_flat(r->points, t);
    }

    // Drop duplicates, then orient.
    SN_TRY(drop_repeated(r));
    repaired->dropped_triangles = surface->element_count - r->count;
    SN_TRY(join_sides(r, &repaired->open_edges, &repaired->crowded_edges));
    SN_TRY(orient_parts_alike(r));
    SN_TRY(orient_outwards(r));

    // Apply the flips.
    for (int32_t i = 0; i < r->count; i++) {
        repaired->area += sn_length(area_normal(r, i));
        if (!r->flipped[i]) {
            continue;
        }

        int32_t *t = sn_at3(r->triangles, i);
        int32_t swap = t[1];
        t[1] = t[2];
        t[2] = swap;
        repaired->flipped_triangles++;
    }

    return SINEW_OK;
}

sinew_status sn_repair_surface(sn_arena *arena, const sinew_mesh *surface,
                               sn_repaired_surface *repaired) {
    SN_ASSERT(surface->element == SINEW_ELEMENT_TRIANGLE);
    sn_arena scratch = sn_arena_create(arena->context);
    repair r = {.scratch = &scratch,
                .points = surface->points,
                .point_count = surface->point_count,
                .triangles = SN_PUSH(arena, int32_t, 3 * ((size_t)surface->element_count + 1))};

    *repaired = (sn_repaired_surface){
        .points = surface->points, .point_count = surface->point_count, .triangles = r.triangles};

    sinew_status status = r.triangles ? repair_all(&r, surface, repaired) : SINEW_OUT_OF_MEMORY;
    sn_arena_destroy(&scratch);
    SN_TRY(status);
    repaired->triangle_count = r.count;
    repaired->volume = sn_surface_volume(r.points, r.triangles, r.count);

    return SINEW_OK;
}

sinew_status sinew_mesh_examine_surface(sinew_context *context, const sinew_mesh *surface,
                                        sinew_surface_report *report) {
    SN_NEED(NULL, context);

    SN_TRY(sn_check_arrays(context, surface));
    if (surface->element != SINEW_ELEMENT_TRIANGLE) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "the surface is made of %s, not triangles",
                       sn_element_info_of(surface->element)->name);
    }

    sn_arena arena = sn_arena_create(context);
    sn_repaired_surface repaired;
    sinew_status status = sn_repair_surface(&arena, surface, &repaired);
    if (status == SINEW_OK) {
        *report = (sinew_surface_report){.merged_points = repaired.merged_points,
                                         .dropped_triangles = repaired.dropped_triangles,
                                         .flipped_triangles = repaired.flipped_triangles,
                                         .open_edges = repaired.open_edges,
                                         .crowded_edges = repaired.crowded_edges,
                                         .volume = repaired.volume};
    }

    sn_arena_destroy(&arena);
    return status;
}
