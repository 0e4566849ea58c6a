// A scene's arrays and trees.
#include "contact/find.h"

static sn_box box_of_triangle(const sn_contact_part *part, int32_t triangle, const sn_box *boxes) {
    const int32_t *corners = sn_at3(part->shape->triangles, triangle);
    const sn_box *own = boxes + part->first_vertex;
    return sn_box_union(own[corners[0]], sn_box_union(own[corners[1]], own[corners[2]]));
}

void sn_contact_fit_part(sn_contact_scene *scene, int32_t number) {
    sn_contact_part *part = &scene->parts[number];
    for (int32_t t = 0; t < part->shape->triangle_count; t++) {
        part->boxes[t] = box_of_triangle(part, t, scene->boxes);
    }

    sn_bvh_refit(&part->bvh, part->boxes);
    scene->part_boxes[number] = part->bvh.node_count ? part->bvh.nodes[0].box : sn_box_empty();
}

// Numbers the features through and fails if there are more than the keys of pairs can hold.
static sinew_status number_features(sn_contact_scene *scene,
                                    const sn_contact_shape *const *shapes) {
    int64_t vertices = 0, edges = 0, triangles = 0;
    for (int32_t p = 0; p < scene->part_count; p++) {
        scene->parts[p] = (sn_contact_part){.shape = shapes[p],
                                            .first_vertex = (int32_t)vertices,
                                            .first_edge = (int32_t)edges,
                                            .first_triangle = (int32_t)triangles};
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
    for (int32_t v = 0; v < scene->vertex_count; v++) {
        sn_vec3 p = sn_load3(sn_at3(rest, v));
        scene->boxes[v] = (sn_box){p, p};
    }

    for (int32_t p = 0; p < scene->part_count; p++) {
        sn_contact_part *part = &scene->parts[p];
        int32_t count = part->shape->triangle_count;

        part->boxes = SN_PUSH(&scene->arena, sn_box, count);
        SN_TRY(sn_arena_status(&scene->arena));
        for (int32_t t = 0; t < count; t++) {
            part->boxes[t] = box_of_triangle(part, t, scene->boxes);
        }

        SN_TRY(sn_bvh_build(&scene->arena, part->boxes, count, &part->bvh));
        scene->part_boxes[p] = part->bvh.node_count ? part->bvh.nodes[0].box : sn_box_empty();
        for (int32_t v = 0; v < part->shape->vertex_count; v++) {
            scene->vertex_part[part->first_vertex + v] = p;
        }
    }

    return sn_bvh_build(&scene->arena, scene->part_boxes, scene->part_count, &scene->part_bvh);
}

static sinew_status fill(sn_contact_scene *scene, const sn_contact_shape *const *shapes,
                         const double *rest) {
    scene->parts = SN_PUSH(&scene->arena, sn_contact_part, scene->part_count);
    SN_TRY(sn_arena_status(&scene->arena));
    SN_TRY(number_features(scene, shapes));

    scene->held = SN_PUSH(&scene->arena, uint8_t, scene->vertex_count);
    scene->vertex_part = SN_PUSH(&scene->arena, int32_t, scene->vertex_count);
    scene->boxes = SN_PUSH(&scene->arena, sn_box, scene->vertex_count);
    scene->part_boxes = SN_PUSH(&scene->arena, sn_box, scene->part_count);
    scene->centers = SN_PUSH(&scene->arena, sn_vec3, scene->part_count);
    SN_TRY(sn_arena_status(&scene->arena));
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

    sn_contact_release_pairs(scene);
    sn_arena arena = scene->arena; // the scene lives in it
    sn_arena_destroy(&arena);
}
