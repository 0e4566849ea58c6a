// A scene's arrays and trees.
#include "contact/find.h"

// Numbers the features through and fails if there are more than the keys of pairs can hold.
static sinew_status number_features(sn_contact_scene *scene,
                                    const sn_contact_shape *const *shapes) {
    int64_t vertices = 0, edges = 0, triangles = 0;
    for (int32_t p = 0; p < scene->part_count; p++) {
        // Features of all parts are numbered one after the other.
        scene->parts[p] = (sn_contact_part){.shape = shapes[p],
                                            .first_vertex = (int32_t)vertices,
                                            .first_edge = (int32_t)edges,
                                            .first_triangle = (int32_t)triangles,
                                            .group = p};
        vertices += shapes[p]->vertex_count;
        edges += shapes[p]->edge_count;
        triangles += shapes[p]->triangle_count;

        if (vertices > INT32_MAX || edges > INT32_MAX || triangles > INT32_MAX) {
            return sn_fail(scene->context, SINEW_INVALID_ARGUMENT,
                           "the contact surfaces up to number %d have %lld vertices, %lld edges "
                           "and %lld triangles; at most %d each are possible",
                           p, (long long)vertices, (long long)edges, (long long)triangles,
                           INT32_MAX);
        }
    }

    scene->vertex_count = (int32_t)vertices;
    scene->edge_count = (int32_t)edges;
    scene->triangle_count = (int32_t)triangles;
    return SINEW_OK;
}

static sinew_status build_trees(sn_contact_scene *scene, const double *rest) {
    sn_contact_search *search = scene->search;
    for (int32_t p = 0; p < scene->part_count; p++) {
        sn_contact_part *part = &scene->parts[p];
        part->tree = SN_PUSH(&scene->arena, sn_contact_tree, 1);
        SN_TRY(sn_arena_status(&scene->arena));
        SN_TRY(sn_contact_tree_build(&scene->arena, part->shape, sn_at3(rest, part->first_vertex),
                                     search->quick + part->first_vertex,
                                     search->inner_quick + part->first_vertex, part->tree));
        search->part_boxes[p] = sn_box_empty();
        search->fitted_reach[p] = -1;
        for (int32_t v = 0; v < part->shape->vertex_count; v++) {
            scene->vertex_part[part->first_vertex + v] = p;
        }
    }

    return sn_bvh_build(&scene->arena, search->part_boxes, scene->part_count, &search->part_bvh);
}

static sinew_status fill(sn_contact_scene *scene, const sn_contact_shape *const *shapes,
                         const double *rest) {
    sn_arena *arena = &scene->arena;
    scene->parts = SN_PUSH(arena, sn_contact_part, scene->part_count);
    scene->search = SN_PUSH(arena, sn_contact_search, 1);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(number_features(scene, shapes));

    sn_contact_search *search = scene->search;

    // Everything a search writes to, so that a repeated search allocates nothing.
    scene->held = SN_PUSH(arena, uint8_t, scene->vertex_count);
    scene->vertex_part = SN_PUSH(arena, int32_t, scene->vertex_count);
    scene->boxes = SN_PUSH(arena, sn_box, scene->vertex_count);
    scene->inner_boxes = SN_PUSH(arena, sn_box, scene->vertex_count);
    scene->start = SN_PUSH(arena, double, 3 * (size_t)scene->vertex_count);
    scene->end = SN_PUSH(arena, double, 3 * (size_t)scene->vertex_count);
    search->quick = SN_PUSH(arena, sn_quick_box, scene->vertex_count);
    search->inner_quick = SN_PUSH(arena, sn_quick_box, scene->vertex_count);
    search->part_boxes = SN_PUSH(arena, sn_box, scene->part_count);
    search->centers = SN_PUSH(arena, sn_vec3, scene->part_count);
    search->drift_sum = SN_PUSH(arena, sn_vec3, scene->part_count);
    search->drift_count = SN_PUSH(arena, int32_t, scene->part_count);
    search->fitted_reach = SN_PUSH(arena, double, scene->part_count);
    search->fitted = SN_PUSH(arena, uint8_t, scene->part_count);
    SN_TRY(sn_arena_status(arena));
    return build_trees(scene, rest);
}

sinew_status sn_contact_scene_create(sinew_context *context, const sn_contact_shape *const *shapes,
                                     int32_t count, const double *rest, sn_contact_scene **scene) {
    SN_ASSERT(count >= 0);
    sn_arena arena = sn_arena_create(context);
    sn_contact_scene *made = SN_PUSH(&arena, sn_contact_scene, 1);
    if (!made) {
        sn_arena_destroy(&arena);
        return SINEW_OUT_OF_MEMORY;
    }

    *made = (sn_contact_scene){.context = context, .arena = arena, .part_count = count};
    sinew_status status = fill(made, shapes, rest);
    if (status != SINEW_OK) {
        sn_contact_scene_destroy(made);
        return status;
    }

    *scene = made;
    return SINEW_OK;
}

void sn_contact_scene_destroy(sn_contact_scene *scene) {
    if (!scene) {
        return;
    }

    sinew_context *context = scene->context;
    sn_contact_search *search = scene->search;
    sn_release(context, scene->pairs, scene->pair_capacity, sizeof *scene->pairs);
    sn_release(context, scene->shares, 4 * scene->pair_capacity, sizeof *scene->shares);
    if (search) {
        sn_release(context, search->tasks, search->task_capacity, sizeof *search->tasks);
        sn_release(context, search->pages, search->page_capacity, sizeof *search->pages);
    }
    sn_arena arena = scene->arena; // the scene lives in it
    sn_arena_destroy(&arena);
}
