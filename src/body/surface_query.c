// Ray casts and nearest points on the present surface of a body.
//
// The tree over the triangles is built once, in the rest shape, so that its structure (and thereby
// which of two equally near triangles is reported) does not depend on the history of the body. A
// query refits the boxes if q has changed since the last query.
#include "body/surface.h"

#include "geom/search/search.h"

#include <math.h>
#include <string.h>

struct sn_surface_tree {
    sn_arena arena; // holds this struct too
    double *q;      // configuration, age and revision that the boxes fit
    int32_t config_count;
    double age;
    uint64_t revision;
    bool fits;
    double *positions;
    sn_box *boxes;
    sn_triangle_tree tree;
};

void sn_surface_tree_destroy(sn_surface_tree *tree) {
    sn_arena arena = tree->arena; // the tree lives in it
    sn_arena_destroy(&arena);
}

static void compute_boxes(const sinew_mesh *surface, const double *points, sn_box *boxes) {
    for (int32_t t = 0; t < surface->element_count; t++) {
        boxes[t] = sn_box_empty();
        for (int k = 0; k < 3; k++) {
            int32_t vertex = surface->indices[3 * (size_t)t + (size_t)k];
            boxes[t] = sn_box_with_point(boxes[t], sn_load3(points + 3 * (size_t)vertex));
        }
    }
}

static sinew_status build(sn_arena *arena, const sinew_body *body, sn_surface_tree **out) {
    const sinew_mesh *surface = body->surface;
    sn_surface_tree *made = SN_PUSH(arena, sn_surface_tree, 1);
    double *positions = SN_PUSH(arena, double, 3 * (size_t)surface->point_count);
    sn_box *boxes = SN_PUSH(arena, sn_box, surface->element_count);
    SN_TRY(sn_arena_status(arena));

    made->positions = positions;
    made->boxes = boxes;
    made->tree = (sn_triangle_tree){.points = positions,
                                    .triangles = surface->indices,
                                    .triangle_count = surface->element_count};
    compute_boxes(surface, surface->points, boxes);
    *out = made;
    return sn_bvh_build(arena, boxes, surface->element_count, &made->tree.bvh);
}

// Allocates memory for q, which grows when frames are added.
static sinew_status push_key(sn_surface_tree *tree, const sinew_body *body) {
    if (tree->q && tree->config_count >= body->config_count) {
        return SINEW_OK;
    }

    sn_arena_mark before = sn_arena_get_mark(&tree->arena);
    double *q = SN_PUSH(&tree->arena, double, body->config_count);
    sinew_status status = sn_arena_status(&tree->arena);
    if (status != SINEW_OK) {
        sn_arena_rewind(&tree->arena, before);
        return status;
    }

    tree->q = q;
    tree->config_count = body->config_count;
    tree->fits = false;
    return SINEW_OK;
}

static bool is_current(const sn_surface_tree *tree, const sinew_body *body) {
    return tree->fits && tree->revision == body->revision && tree->age == *body->age &&
           memcmp(tree->q, body->q, (size_t)body->config_count * sizeof *tree->q) == 0;
}

// The tree of the surface at the present configuration.
static sinew_status get_tree(sinew_body *body, const sn_triangle_tree **out) {
    if (!body->surface_tree) {
        sn_arena arena = sn_arena_create(body->context);
        sn_surface_tree *made;
        sinew_status status = build(&arena, body, &made);
        if (status != SINEW_OK) {
            sn_arena_destroy(&arena);
            return status;
        }
        made->arena = arena;
        body->surface_tree = made;
    }

    // Refit the boxes if the body has moved since the last query.
    sn_surface_tree *tree = body->surface_tree;
    SN_TRY(push_key(tree, body));
    if (!is_current(tree, body)) {
        body->ops->surface.compute(body, body->q, tree->positions);
        compute_boxes(body->surface, tree->positions, tree->boxes);
        sn_bvh_refit(&tree->tree.bvh, tree->boxes);

        memcpy(tree->q, body->q, (size_t)body->config_count * sizeof *tree->q);
        tree->age = *body->age;
        tree->revision = body->revision;
        tree->fits = true;
    }

    *out = &tree->tree;
    return SINEW_OK;
}

static sinew_status check_reach(sinew_context *context, double reach) {
    if (reach >= 0) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "the reach of a query is %g m; it must be at least 0, or INFINITY", reach);
}

static sinew_status check_vector(sinew_context *context, const char *what, sn_vec3 v) {
    if (sn_finite3(v)) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "the %s of a query is (%g, %g, %g); it must be finite", what, v.x, v.y, v.z);
}

sinew_status sn_check_ray(sinew_context *context, const double origin[3], const double direction[3],
                          double reach) {
    SN_TRY(check_vector(context, "origin", sn_load3(origin)));
    SN_TRY(check_vector(context, "direction", sn_load3(direction)));
    SN_TRY(check_reach(context, reach));

    double length = sn_length(sn_load3(direction));
    if (length > 0 && isfinite(length)) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "the direction of a ray is %g long; it must be above 0 and finite", length);
}

static void fill_hit(sinew_body *body, const sn_triangle_tree *tree, int32_t triangle,
                     const double barycentric[3], double distance, sinew_surface_hit *hit) {
    sn_vec3 corner[3], x = {0, 0, 0};
    sn_triangle_tree_corners(tree, triangle, corner);
    for (int k = 0; k < 3; k++) {
        x = sn_madd(x, barycentric[k], corner[k]);
    }

    sn_vec3 area = sn_cross(sn_sub(corner[1], corner[0]), sn_sub(corner[2], corner[0]));
    *hit = (sinew_surface_hit){.body = body, .triangle = triangle, .distance = distance};
    memcpy(hit->barycentric, barycentric, sizeof hit->barycentric);
    sn_store3(hit->position, x);
    if (sn_length(area) > 0) {
        sn_store3(hit->normal, sn_normalize(area));
    }
}

sinew_status sinew_body_cast_ray(sinew_body *body, const double origin[3],
                                 const double direction[3], double reach, sinew_surface_hit *hit) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, origin && direction);

    SN_TRY(sn_check_ray(body->context, origin, direction, reach));

    *hit = (sinew_surface_hit){.body = NULL};
    const sn_triangle_tree *tree;
    SN_TRY(get_tree(body, &tree));

    sn_vec3 d = sn_load3(direction);
    sn_ray_hit found =
        sn_triangle_tree_ray(tree, sn_load3(origin), sn_scale(1 / sn_length(d), d), reach);
    if (found.triangle >= 0) {
        fill_hit(body, tree, found.triangle, found.barycentric, found.t, hit);
    }

    return SINEW_OK;
}

sinew_status sinew_body_find_nearest(sinew_body *body, const double position[3], double reach,
                                     sinew_surface_hit *hit) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, position && hit);

    sn_vec3 p = sn_load3(position);
    SN_TRY(check_vector(body->context, "position", p));
    SN_TRY(check_reach(body->context, reach));

    *hit = (sinew_surface_hit){.body = NULL};
    const sn_triangle_tree *tree;
    SN_TRY(get_tree(body, &tree));

    sn_closest_point found = sn_triangle_tree_closest(tree, p, reach);
    if (found.triangle >= 0) {
        fill_hit(body, tree, found.triangle, found.barycentric, found.distance, hit);
    }

    return SINEW_OK;
}
