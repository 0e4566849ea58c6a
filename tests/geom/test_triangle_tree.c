// The bounding volume hierarchy and its queries of triangles, compared with brute force; winding
// numbers of whole and broken surfaces.
#include "mesh_support.h"

#include "geom/search/search.h"

static sn_vec3 random_point(sn_random *random, double size) {
    double x = sn_random_range(random, -size, size);
    double y = sn_random_range(random, -size, size);
    return sn_v3(x, y, sn_random_range(random, -size, size));
}

static sinew_mesh *make_sphere_surface(sinew_context *context, int32_t across) {
    sinew_shape_def def = sinew_default_shape_def();
    def.shape = SINEW_SHAPE_SPHERE;
    def.element = SINEW_ELEMENT_TRIANGLE;
    def.cells[0] = across;

    for (int k = 0; k < 3; k++) {
        def.size[k] = 2;
    }

    return make_shape(context, &def);
}

static bool collect_item(void *data, int32_t item) {
    uint8_t *seen = data;
    assert_int_equal(seen[item], 0);
    seen[item] = 1;
    return true;
}

static void test_overlaps_are_all_found(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(1);
    const int32_t counts[6] = {0, 1, 4, 5, 37, 500};

    for (int c = 0; c < 6; c++) {
        sn_arena arena = sn_arena_create(context);
        int32_t count = counts[c];
        sn_box *boxes = SN_PUSH(&arena, sn_box, count);

        for (int32_t i = 0; i < count; i++) {
            sn_vec3 p = random_point(&random, 1);
            sn_vec3 size = random_point(&random, 0.1);
            boxes[i] = sn_box_with_point((sn_box){p, p}, sn_add(p, size));
        }

        sn_bvh bvh;
        assert_ok(context, sn_bvh_build(&arena, boxes, count, &bvh));
        for (int query = 0; query < 50; query++) {
            if (query == 25) { // moved boxes in the old tree
                for (int32_t i = 0; i < count; i++) {
                    boxes[i] = sn_box_grown(boxes[(i * 7 + 3) % count], 0.01);
                }
                sn_bvh_refit(&bvh, boxes);
            }

            sn_vec3 p = random_point(&random, 1);
            sn_box box = sn_box_grown((sn_box){p, p}, 0.2);
            uint8_t *seen = SN_PUSH(&arena, uint8_t, count);

            sn_bvh_overlap(&bvh, box, collect_item, seen);
            for (int32_t i = 0; i < count; i++) {
                if (sn_box_overlaps(boxes[i], box)) {
                    assert_true(seen[i]);
                }
            }
        }

        sn_arena_destroy(&arena);
    }

    sinew_context_destroy(context);
}

// Many boxes at one position must neither hang nor overflow the stack.
static void test_equal_boxes(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);

    enum { COUNT = 100000 };
    sn_box *boxes = SN_PUSH(&arena, sn_box, COUNT);
    uint8_t *seen = SN_PUSH(&arena, uint8_t, COUNT);
    sn_bvh bvh;

    assert_ok(context, sn_bvh_build(&arena, boxes, COUNT, &bvh));
    sn_bvh_overlap(&bvh, boxes[0], collect_item, seen);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(seen[i], 1);
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

// The closest point by fine sampling of the triangle is never nearer than the one found, and never
// much farther.
static void test_closest_on_one_triangle(void **state) {
    (void)state;
    sn_random random = sn_random_seed(2);
    for (int turn = 0; turn < 300; turn++) {
        sn_vec3 t[3];
        sn_vec3 p = random_point(&random, 2);
        for (int i = 0; i < 3; i++) {
            t[i] = random_point(&random, 1);
        }

        if (turn % 5 == 1) {
            t[2] = sn_scale(0.5, sn_add(t[0], t[1])); // on a line
        }
        if (turn % 5 == 2) {
            t[2] = t[0];
        }
        if (turn % 5 == 3) {
            t[1] = t[2] = t[0];
        }

        double w[3], best = INFINITY;
        sn_vec3 q = sn_closest_on_triangle(p, t[0], t[1], t[2], w);
        sn_vec3 again = sn_madd(sn_madd(sn_scale(w[0], t[0]), w[1], t[1]), w[2], t[2]);

        test_close("barycentric point", sn_distance(again, q), 0, 1e-12);
        test_close("sum", w[0] + w[1] + w[2], 1, 1e-12);
        assert_true(w[0] >= 0 && w[1] >= 0 && w[2] >= 0);
        enum { N = 60 };

        for (int i = 0; i <= N; i++) {
            for (int k = 0; i + k <= N; k++) {
                sn_vec3 s =
                    sn_madd(sn_madd(sn_scale(1 - (i + k) / (double)N, t[0]), i / (double)N, t[1]),
                            k / (double)N, t[2]);
                best = fmin(best, sn_distance(s, p));
            }
        }

        double found = sn_distance(p, q);
        assert_true(found <= best + 1e-12 && found >= best - 3.5 / N);
    }
}

// How often a ray in general position crosses the triangles: those on both sides of whose plane it
// has points, and past all of whose sides it passes the same way round.
static int32_t count_crossings(const sinew_mesh *surface, sn_vec3 p, sn_vec3 direction) {
    int32_t count = 0;
    for (int32_t i = 0; i < surface->element_count; i++) {
        const int32_t *t = sn_mesh_nodes(surface, i);
        sn_vec3 a = sn_sub(sn_mesh_point(surface, t[0]), p);
        sn_vec3 b = sn_sub(sn_mesh_point(surface, t[1]), p);
        sn_vec3 c = sn_sub(sn_mesh_point(surface, t[2]), p);

        double ab = sn_dot(direction, sn_cross(a, b));
        double bc = sn_dot(direction, sn_cross(b, c));
        double ca = sn_dot(direction, sn_cross(c, a));
        bool through = (ab > 0 && bc > 0 && ca > 0) || (ab < 0 && bc < 0 && ca < 0);
        double volume = sn_dot(a, sn_cross(b, c));
        count += through && (volume > 0) == (ab > 0);
    }

    return count;
}

static void test_closest_and_rays_as_brute_force(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *sphere = make_sphere_surface(context, 6);
    sn_arena arena = sn_arena_create(context);
    sn_triangle_tree tree;

    assert_ok(context, sn_triangle_tree_build(&arena, sphere->points, sphere->indices,
                                              sphere->element_count, &tree));

    sn_random random = sn_random_seed(3);
    for (int turn = 0; turn < 300; turn++) {
        sn_vec3 p = random_point(&random, 1.5);
        sn_vec3 direction = random_point(&random, 1);
        double best = INFINITY, w[3];

        for (int32_t i = 0; i < sphere->element_count; i++) {
            const int32_t *t = sn_mesh_nodes(sphere, i);
            sn_vec3 q =
                sn_closest_on_triangle(p, sn_mesh_point(sphere, t[0]), sn_mesh_point(sphere, t[1]),
                                       sn_mesh_point(sphere, t[2]), w);
            best = fmin(best, sn_distance(p, q));
        }

        sn_closest_point found = sn_triangle_tree_closest(&tree, p, INFINITY);
        test_close("distance", found.distance, best, 1e-15);
        test_close("point", sn_distance(found.point, p), best, 1e-12);
        assert_int_equal(sn_triangle_tree_closest(&tree, p, best * 0.999).triangle, -1);
        assert_true(sn_triangle_tree_closest(&tree, p, best * 1.001).triangle == found.triangle);

        int32_t crossings = count_crossings(sphere, p, direction);
        bool inside = sn_triangle_tree_winding(&tree, p, 0) > 0.5;

        assert_true((crossings % 2 == 1) == inside);
        assert_true(inside ? sn_length(p) < 1 : sn_length(p) > 0.85);

        sn_ray_hit hit = sn_triangle_tree_ray(&tree, p, direction, INFINITY);
        assert_true((hit.triangle >= 0) == (crossings > 0));
        if (hit.triangle < 0) {
            continue;
        }

        sn_vec3 at = sn_madd(p, hit.t, direction);
        test_close("hit on the surface", sn_triangle_tree_closest(&tree, at, INFINITY).distance, 0,
                   1e-12);

        // Nothing lies in front of the hit: from just behind it there is one crossing less.
        assert_int_equal(count_crossings(sphere, sn_madd(p, hit.t + 1e-9, direction), direction),
                         crossings - 1);
        assert_int_equal(sn_triangle_tree_ray(&tree, p, direction, hit.t * 0.999).triangle, -1);
    }

    // Along the axes, where the slopes of the other coordinates are infinite.
    sn_ray_hit down = sn_triangle_tree_ray(&tree, sn_v3(0.1, 0.2, 5), sn_v3(0, 0, -1), INFINITY);

    assert_true(down.triangle >= 0 && down.t > 4 && down.t < 4.2);
    sn_arena_destroy(&arena);
    sinew_mesh_destroy(sphere);
    sinew_context_destroy(context);
}

static void test_winding_number(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *sphere = make_sphere_surface(context, 14);
    sn_arena arena = sn_arena_create(context);
    sn_triangle_tree tree, open;

    assert_ok(context, sn_triangle_tree_build(&arena, sphere->points, sphere->indices,
                                              sphere->element_count, &tree));

    // Without a tenth of its triangles.
    assert_ok(context, sn_triangle_tree_build(&arena, sphere->points, sphere->indices,
                                              sphere->element_count * 9 / 10, &open));

    sn_random random = sn_random_seed(4);
    double worst[2] = {0};
    for (int turn = 0; turn < 500; turn++) {
        sn_vec3 p = random_point(&random, 1.3);
        double exact = sn_triangle_tree_winding(&tree, p, 0);
        for (int i = 0; i < 2; i++) {
            worst[i] = fmax(worst[i], fabs(exact - sn_triangle_tree_winding(&tree, p, 2 + i)));
        }

        double radius = sn_length(p);
        if (radius < 0.95) {
            test_close("inside", exact, 1, 1e-12);
        }
        if (radius > 1) {
            test_close("outside", exact, 0, 1e-12);
        }

        double holed = sn_triangle_tree_winding(&open, p, 2);
        if (radius < 0.4) {
            assert_true(holed > 0.75 && holed < 1.0);
        }
        if (radius > 1.6) {
            assert_true(holed < 0.2);
        }
    }

    print_message("far field beyond two radii: off by %.1e at most, beyond three by %.1e\n",
                  worst[0], worst[1]);
    assert_true(worst[0] > 0 && worst[0] < 1e-2 && worst[1] < 1e-3);
    sn_arena_destroy(&arena);
    sinew_mesh_destroy(sphere);
    sinew_context_destroy(context);
}

static void test_no_triangles(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    sn_triangle_tree tree;

    assert_ok(context, sn_triangle_tree_build(&arena, NULL, NULL, 0, &tree));
    assert_int_equal(sn_triangle_tree_closest(&tree, sn_v3(0, 0, 0), INFINITY).triangle, -1);
    assert_int_equal(sn_triangle_tree_ray(&tree, sn_v3(0, 0, 0), sn_v3(1, 0, 0), INFINITY).triangle,
                     -1);
    assert_true(sn_triangle_tree_winding(&tree, sn_v3(0, 0, 0), 2) == 0);
    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

// Along the axes through every vertex of a box: such rays lie in the planes of boxes and through
// edges of triangles.
static void test_rays_along_axes(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    sinew_shape_def def = sinew_default_shape_def();
    def.element = SINEW_ELEMENT_TRIANGLE;
    def.cell_size = 0.05;
    sinew_mesh *surface = make_shape(context, &def);
    sn_triangle_tree tree;
    assert_ok(context, sn_triangle_tree_build(&arena, surface->points, surface->indices,
                                              surface->element_count, &tree));

    for (int32_t i = 0; i < surface->point_count; i++) {
        for (int axis = 0; axis < 3; axis++) {
            double from[3], along[3] = {0};
            sn_store3(from, sn_load3(surface->points + 3 * (size_t)i));
            from[axis] = 2;
            along[axis] = -1;
            sn_ray_hit hit = sn_triangle_tree_ray(&tree, sn_load3(from), sn_load3(along), INFINITY);
            assert_true(hit.triangle >= 0);
            test_close("distance", hit.t, 1.5, 1e-12);
        }
    }

    sinew_mesh_destroy(surface);
    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlaps_are_all_found),
        cmocka_unit_test(test_equal_boxes),
        cmocka_unit_test(test_closest_on_one_triangle),
        cmocka_unit_test(test_closest_and_rays_as_brute_force),
        cmocka_unit_test(test_rays_along_axes),
        cmocka_unit_test(test_winding_number),
        cmocka_unit_test(test_no_triangles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
