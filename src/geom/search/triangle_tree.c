// Closest points and rays on a triangle mesh, and the tree's construction.
#include "geom/search/search.h"

sinew_status sn_triangle_tree_build(sn_arena *arena, const double *points, const int32_t *triangles,
                                    int32_t triangle_count, sn_triangle_tree *tree) {
    *tree = (sn_triangle_tree){
        .points = points, .triangles = triangles, .triangle_count = triangle_count};

    sn_arena scratch = sn_arena_create(arena->context);
    sn_box *boxes = SN_PUSH(&scratch, sn_box, triangle_count);
    if (boxes) {
        for (int32_t i = 0; i < triangle_count; i++) {
            sn_vec3 p[3];
            sn_triangle_tree_corners(tree, i, p);
            boxes[i] =
                (sn_box){sn_min3(p[0], sn_min3(p[1], p[2])), sn_max3(p[0], sn_max3(p[1], p[2]))};
        }
    }

    sinew_status status =
        boxes ? sn_bvh_build(arena, boxes, triangle_count, &tree->bvh) : SINEW_OUT_OF_MEMORY;

    sn_arena_destroy(&scratch);
    SN_TRY(status);

    return sn_far_fields_build(arena, tree);
}

// The point of segment ab closest to p; *t is its parameter from a to b.
static sn_vec3 closest_on_segment(sn_vec3 p, sn_vec3 a, sn_vec3 b, double *t) {
    sn_vec3 d = sn_sub(b, a);
    double length2 = sn_dot(d, d);
    double along = sn_dot(sn_sub(p, a), d);
    *t = length2 > 0 ? fmin(fmax(along / length2, 0), 1) : 0;
    return sn_madd(a, *t, d);
}

// The closest of the three sides, for degenerate triangles.
static sn_vec3 closest_on_sides(sn_vec3 p, const sn_vec3 corner[3], double barycentric[3]) {
    sn_vec3 closest = corner[0];
    double best = INFINITY;
    for (int i = 0; i < 3; i++) {
        double t;
        sn_vec3 q = closest_on_segment(p, corner[i], corner[(i + 1) % 3], &t);
        sn_vec3 d = sn_sub(p, q);

        if (sn_dot(d, d) < best) {
            best = sn_dot(d, d);
            closest = q;
            barycentric[i] = 1 - t;
            barycentric[(i + 1) % 3] = t;
            barycentric[(i + 2) % 3] = 0;
        }
    }

    return closest;
}

sn_vec3 sn_closest_on_triangle(sn_vec3 p, sn_vec3 a, sn_vec3 b, sn_vec3 c, double barycentric[3]) {
    sn_vec3 ab = sn_sub(b, a);
    sn_vec3 ac = sn_sub(c, a);
    sn_vec3 n = sn_cross(ab, ac);
    sn_vec3 ap = sn_sub(p, a);
    double n2 = sn_dot(n, n);

    // Inside the prism over the triangle: the foot of the perpendicular. Barycentric coordinates
    // are areas of sub-triangles over the whole.
    double v = sn_dot(sn_cross(ap, ac), n);
    double w = sn_dot(sn_cross(ab, ap), n);
    double u = n2 - v - w;
    double flat = 1e-24 * sn_dot(ab, ab) * sn_dot(ac, ac); // a sine of the angle at a below 1e-12

    if (n2 > flat && u >= 0 && v >= 0 && w >= 0) {
        barycentric[0] = u / n2;
        barycentric[1] = v / n2;
        barycentric[2] = w / n2;
        return sn_madd(sn_madd(a, barycentric[1], ab), barycentric[2], ac);
    }

    const sn_vec3 corner[3] = {a, b, c};
    return closest_on_sides(p, corner, barycentric);
}

typedef struct closest_query {
    const sn_triangle_tree *tree;
    sn_vec3 p;
    sn_closest_point found;
} closest_query;

static double distance_to_triangle(void *data, int32_t item, double best) {
    closest_query *query = data;
    sn_vec3 corner[3];
    double barycentric[3];

    sn_triangle_tree_corners(query->tree, item, corner);
    sn_vec3 q = sn_closest_on_triangle(query->p, corner[0], corner[1], corner[2], barycentric);
    sn_vec3 d = sn_sub(query->p, q);
    double d2 = sn_dot(d, d);

    if (d2 < best || (d2 == best && query->found.triangle < 0)) {
        query->found.triangle = item;
        query->found.point = q;
        for (int i = 0; i < 3; i++) {
            query->found.barycentric[i] = barycentric[i];
        }
    }

    return d2;
}

sn_closest_point sn_triangle_tree_closest(const sn_triangle_tree *tree, sn_vec3 p, double limit) {
    closest_query query = {.tree = tree, .p = p, .found = {.triangle = -1}};
    double d2;
    int32_t nearest =
        sn_bvh_nearest(&tree->bvh, p, limit * limit, distance_to_triangle, &query, &d2);
    SN_ASSERT(nearest == query.found.triangle);
    (void)nearest;
    query.found.distance = sqrt(d2);

    return query.found;
}

typedef struct ray_query {
    const sn_triangle_tree *tree;
    sn_vec3 origin, direction;
    sn_ray_hit found;
} ray_query;

// The t of the hit, or INFINITY (Möller and Trumbore 1997). The triangle is enlarged a little, so
// that no ray passes between two triangles.
static double hit_triangle(const ray_query *query, int32_t item, double barycentric[3]) {
    const double slack = 1e-12; // of its size
    sn_vec3 p[3];
    sn_triangle_tree_corners(query->tree, item, p);

    // Solve origin + t direction = p0 + v ab + w ac by Cramer's rule.
    sn_vec3 ab = sn_sub(p[1], p[0]);
    sn_vec3 ac = sn_sub(p[2], p[0]);
    sn_vec3 h = sn_cross(query->direction, ac);
    double det = sn_dot(ab, h);

    if (det == 0) {
        return INFINITY;
    }

    sn_vec3 s = sn_sub(query->origin, p[0]);
    sn_vec3 q = sn_cross(s, ab);
    double v = sn_dot(s, h) / det;
    double w = sn_dot(query->direction, q) / det;
    double t = sn_dot(ac, q) / det;

    if (!(v >= -slack && w >= -slack && v + w <= 1 + slack && t >= 0)) {
        return INFINITY;
    }

    barycentric[0] = 1 - v - w;
    barycentric[1] = v;
    barycentric[2] = w;

    return t;
}

static double first_hit(void *data, int32_t item, double limit) {
    ray_query *query = data;
    double barycentric[3] = {0, 0, 0};
    double t = hit_triangle(query, item, barycentric);

    if (t < limit || (t == limit && query->found.triangle < 0 && isfinite(t))) {
        query->found.triangle = item;
        query->found.t = t;
        for (int i = 0; i < 3; i++) {
            query->found.barycentric[i] = barycentric[i];
        }
    }

    return t;
}

sn_ray_hit sn_triangle_tree_ray(const sn_triangle_tree *tree, sn_vec3 origin, sn_vec3 direction,
                                double limit) {
    ray_query query = {
        .tree = tree, .origin = origin, .direction = direction, .found = {.triangle = -1}};
    double t;
    sn_bvh_ray(&tree->bvh, origin, direction, limit, first_hit, &query, &t);
    return query.found;
}
