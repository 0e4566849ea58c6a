// Overlaps: triangles that intersect by the search over the trees, then inside and depth by trees
// of winding numbers, built for the occasion: O(n log n) for the parts that overlap.
#include "contact/overlap.h"

#include "contact/find.h"

static const double accuracy = 2; // of winding numbers: errors of about 5e-3

// The overlap of two parts, added to the list if it is not on it yet.
static sinew_status get_overlap(sn_contact_overlaps *overlaps, const sn_contact_scene *scene,
                                int32_t a, int32_t b, sn_contact_overlap **out) {
    // Results of a pair of parts follow one another.
    if (overlaps->count > 0) {
        sn_contact_overlap *last = &overlaps->items[overlaps->count - 1];
        if (last->part[0] == a && last->part[1] == b) {
            *out = last;
            return SINEW_OK;
        }
    }

    SN_TRY(sn_grow(overlaps->context, (void **)&overlaps->items, &overlaps->capacity,
                   (size_t)overlaps->count, (size_t)overlaps->count + 1, sizeof *overlaps->items));
    *out = &overlaps->items[overlaps->count++];
    bool closed = scene->parts[a].shape->closed && scene->parts[b].shape->closed;
    **out = (sn_contact_overlap){.part = {a, b}, .triangle = {-1, -1}, .whole = a == b || !closed};
    return SINEW_OK;
}

static void mark_corners(sn_contact_overlaps *overlaps, const sn_contact_part *part,
                         int32_t triangle) {
    const int32_t *corner = sn_at3(part->shape->triangles, triangle);
    for (int k = 0; k < 3; k++) {
        overlaps->tangled[part->first_vertex + corner[k]] = 1;
    }
}

static sinew_status add_crossing(sn_contact_overlaps *overlaps, const sn_contact_scene *scene,
                                 const sn_contact_candidate *found) {
    sn_contact_overlap *overlap;
    SN_TRY(get_overlap(overlaps, scene, found->part[0], found->part[1], &overlap));
    for (int k = 0; k < 2; k++) {
        const sn_contact_part *part = &scene->parts[found->part[k]];
        if (overlap->crossing_count == 0) {
            overlap->triangle[k] = part->shape->sources[found->feature[k]];
        }
        mark_corners(overlaps, part, found->feature[k]);
    }
    overlap->crossing_count++;
    return SINEW_OK;
}

// What the inside test of a part needs.
typedef struct solid {
    const sn_contact_part *part;
    sn_triangle_tree tree;
    sn_box box;
    sn_vec3 center;
} solid;

static sinew_status build_solid(sn_arena *arena, const sn_contact_part *part, const double *x,
                                solid *s) {
    const double *own = sn_at3(x, part->first_vertex);
    *s = (solid){.part = part};
    SN_TRY(sn_triangle_tree_build(arena, own, part->shape->triangles, part->shape->triangle_count,
                                  &s->tree));
    s->box = s->tree.bvh.nodes[0].box;
    s->center = s->tree.far_fields[0].center;
    return SINEW_OK;
}

static bool is_inside(const solid *s, sn_vec3 p) {
    return sn_box_contains(s->box, p) && sn_triangle_tree_winding(&s->tree, p, accuracy) > 0.5;
}

// A third of the area around a vertex, along its outward normal.
static sn_vec3 vertex_area(const sn_contact_part *part, int32_t vertex, const double *x) {
    const sn_contact_shape *shape = part->shape;
    sn_vec3 sum = {0, 0, 0};
    for (int32_t i = shape->fans.offsets[vertex]; i < shape->fans.offsets[vertex + 1]; i++) {
        const int32_t *corner = sn_at3(shape->triangles, shape->fans.items[i] / 3);
        sn_vec3 p[3];
        for (int k = 0; k < 3; k++) {
            p[k] = sn_load3(sn_at3(x, part->first_vertex + corner[k]));
        }
        sum = sn_add(sum, sn_cross(sn_sub(p[1], p[0]), sn_sub(p[2], p[0])));
    }
    return sn_scale(1.0 / 6, sum);
}

// Finds the vertices of one part inside the other; returns the sum of their area normals.
static sn_vec3 mark_inside(sn_contact_overlaps *overlaps, sn_contact_overlap *overlap,
                           const sn_contact_part *part, const solid *other, const double *x) {
    sn_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < part->shape->vertex_count; i++) {
        int32_t v = part->first_vertex + i;
        sn_vec3 p = sn_load3(sn_at3(x, v));
        if (part->shape->vertex_owner[i] < 0 || !is_inside(other, p)) {
            continue;
        }

        double depth = sn_triangle_tree_closest(&other->tree, p, INFINITY).distance;
        overlaps->tangled[v] = 1;
        overlaps->depth[v] = fmax(overlaps->depth[v], depth);
        overlap->inside_count++;
        overlap->depth = fmax(overlap->depth, depth);
        sum = sn_add(sum, vertex_area(part, i, x));
    }
    return sum;
}

// Inside, depth and direction of two closed parts.
static void measure_solids(sn_contact_overlaps *overlaps, sn_contact_overlap *overlap,
                           const solid *a, const solid *b, const double *x) {
    sn_vec3 of_a = mark_inside(overlaps, overlap, a->part, b, x);
    sn_vec3 of_b = mark_inside(overlaps, overlap, b->part, a, x);
    sn_vec3 direction = sn_sub(of_b, of_a);
    sn_vec3 size = sn_box_size(a->box);
    double least = 1e-6 * (size.x * size.y + size.y * size.z + size.z * size.x);

    if (!(sn_length(direction) > least)) {
        direction = sn_sub(a->center, b->center);
    }
    if (!(sn_length(direction) > 0) || !sn_finite3(direction)) {
        direction = sn_v3(0, 0, 1);
    }
    overlap->direction = sn_normalize(direction);
}

static sinew_status measure_pair(sn_contact_overlaps *overlaps, const sn_contact_scene *scene,
                                 sn_contact_overlap *overlap, const double *x) {
    sn_arena arena = sn_arena_create(overlaps->context);
    solid a, b;
    sinew_status status = build_solid(&arena, &scene->parts[overlap->part[0]], x, &a);
    if (status == SINEW_OK) {
        status = build_solid(&arena, &scene->parts[overlap->part[1]], x, &b);
    }
    if (status == SINEW_OK) {
        measure_solids(overlaps, overlap, &a, &b, x);
    }
    sn_arena_destroy(&arena);
    return status;
}

// Whether one of two closed parts that do not intersect lies inside the other: one vertex decides.
static sinew_status are_nested(const sn_contact_scene *scene, int32_t a, int32_t b, const double *x,
                               bool *nested) {
    sn_arena arena = sn_arena_create(scene->context);
    sinew_status status = SINEW_OK;
    *nested = false;
    for (int k = 0; k < 2 && status == SINEW_OK; k++) {
        const sn_contact_part *inner = &scene->parts[k ? b : a];
        const sn_contact_part *outer = &scene->parts[k ? a : b];
        if (!outer->shape->closed || inner->shape->triangle_count == 0) {
            continue;
        }

        solid s;
        int32_t vertex = inner->first_vertex + inner->shape->triangles[0];
        status = build_solid(&arena, outer, x, &s);
        *nested = *nested || (status == SINEW_OK && is_inside(&s, sn_load3(sn_at3(x, vertex))));
    }
    sn_arena_destroy(&arena);
    return status;
}

// Collects what the search found; a pair of parts without crossings may still be nested.
static sinew_status collect(sn_contact_scene *scene, const double *x,
                            sn_contact_overlaps *overlaps) {
    const sn_contact_search *search = scene->search;
    for (int32_t i = 0; i < search->task_count; i++) {
        const sn_contact_task *task = &search->tasks[i];
        for (int32_t page = task->first[0]; page >= 0; page = search->pages[page].next) {
            for (int32_t k = 0; k < search->pages[page].count; k++) {
                SN_TRY(add_crossing(overlaps, scene, &search->pages[page].items[k]));
            }
        }

        // After the last task of two parts.
        const int32_t *part = task->part;
        bool last = i + 1 == search->task_count || search->tasks[i + 1].part[0] != part[0] ||
                    search->tasks[i + 1].part[1] != part[1];
        const sn_contact_overlap *known =
            overlaps->count ? &overlaps->items[overlaps->count - 1] : NULL;
        bool crosses = known && known->part[0] == part[0] && known->part[1] == part[1];
        bool nested = false;
        if (last && !crosses && part[0] != part[1]) {
            SN_TRY(are_nested(scene, part[0], part[1], x, &nested));
        }
        if (nested) {
            sn_contact_overlap *overlap;
            SN_TRY(get_overlap(overlaps, scene, part[0], part[1], &overlap));
        }
    }
    return SINEW_OK;
}

static sinew_status measure_all(sn_contact_scene *scene, const double *x,
                                sn_contact_overlaps *overlaps) {
    for (int32_t i = 0; i < overlaps->count; i++) {
        sn_contact_overlap *overlap = &overlaps->items[i];
        const sn_contact_part *a = &scene->parts[overlap->part[0]];
        const sn_contact_part *b = &scene->parts[overlap->part[1]];
        if (!overlap->whole) {
            SN_TRY(measure_pair(overlaps, scene, overlap, x));
        } else if (a != b) {
            sn_vec3 between = sn_sub(sn_box_center(scene->search->part_boxes[overlap->part[0]]),
                                     sn_box_center(scene->search->part_boxes[overlap->part[1]]));
            overlap->direction = sn_length(between) > 0 ? sn_normalize(between) : sn_v3(0, 0, 1);
        }
    }
    return SINEW_OK;
}

static sinew_status search_overlaps(sn_contact_scene *scene, const double *x,
                                    sn_contact_wanted_fn *wanted, const void *user,
                                    sn_contact_overlaps *overlaps) {
    scene->search->crossings = true;
    sinew_status status = sn_contact_search_run(scene, x, x, 0, wanted, user);
    scene->search->crossings = false;
    SN_TRY(status);

    overlaps->count = 0;
    for (int32_t v = 0; v < overlaps->vertex_count; v++) {
        overlaps->tangled[v] = 0;
        overlaps->depth[v] = 0;
    }
    SN_TRY(collect(scene, x, overlaps));
    return measure_all(scene, x, overlaps);
}

sinew_status sn_contact_overlaps_find(sn_contact_scene *scene, const double *x,
                                      sn_contact_overlaps *overlaps) {
    size_t count = (size_t)scene->vertex_count;
    *overlaps =
        (sn_contact_overlaps){.context = scene->context, .vertex_count = scene->vertex_count};
    overlaps->tangled = sn_allocate(scene->context, count, sizeof *overlaps->tangled);
    overlaps->depth = sn_allocate(scene->context, count, sizeof *overlaps->depth);

    sinew_status status = overlaps->tangled && overlaps->depth ? SINEW_OK : SINEW_OUT_OF_MEMORY;
    if (status == SINEW_OK) {
        status = search_overlaps(scene, x, NULL, NULL, overlaps);
    }
    if (status != SINEW_OK) {
        sn_contact_overlaps_release(overlaps);
    }
    return status;
}

void sn_contact_overlaps_release(sn_contact_overlaps *overlaps) {
    size_t count = (size_t)overlaps->vertex_count;
    sn_release(overlaps->context, overlaps->items, overlaps->capacity, sizeof *overlaps->items);
    sn_release(overlaps->context, overlaps->tangled, count, sizeof *overlaps->tangled);
    sn_release(overlaps->context, overlaps->depth, count, sizeof *overlaps->depth);
    *overlaps = (sn_contact_overlaps){.context = overlaps->context};
}

// The overlap of two parts, or NULL.
static const sn_contact_overlap *find_overlap(const sn_contact_overlaps *overlaps, int32_t a,
                                              int32_t b) {
    for (int32_t i = 0; i < overlaps->count; i++) {
        const int32_t *part = overlaps->items[i].part;
        if ((part[0] == a && part[1] == b) || (part[0] == b && part[1] == a)) {
            return &overlaps->items[i];
        }
    }
    return NULL;
}

static bool is_listed(const void *user, int32_t a, int32_t b) {
    return find_overlap(user, a, b) != NULL;
}

sinew_status sn_contact_overlaps_update(sn_contact_scene *scene, const double *x,
                                        sn_contact_overlaps *overlaps) {
    SN_ASSERT(overlaps->vertex_count == scene->vertex_count);
    if (overlaps->count == 0) {
        return SINEW_OK;
    }
    return search_overlaps(scene, x, is_listed, overlaps, overlaps);
}

void sn_contact_overlaps_exempt(sn_contact_scene *scene, const sn_contact_overlaps *overlaps) {
    if (overlaps->count == 0) {
        return;
    }

    const sn_contact_overlap *overlap = NULL;
    int32_t a = -1, b = -1; // the parts of the pair before, which are mostly those of the next
    for (int32_t i = 0; i < scene->pair_count; i++) {
        sn_contact_pair *pair = &scene->pairs[i];
        if (pair->part[0] != a || pair->part[1] != b) {
            a = pair->part[0];
            b = pair->part[1];
            overlap = find_overlap(overlaps, a, b);
        }
        if (!overlap) {
            continue;
        }

        bool tangled = overlap->whole;
        for (int k = 0; k < 4; k++) {
            tangled = tangled || overlaps->tangled[pair->vertex[k]];
        }
        pair->exempt = tangled;
    }
}
