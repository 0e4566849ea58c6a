// Points in elements: location compared with brute force, weights that reproduce affine maps inside
// and outside, embedded surfaces, normals, mass properties.
#include "mesh_support.h"

#include "geom/search/search.h"
#include "geom/mesh/mesh.h"

static const double pi = 3.14159265358979323846;

static const sinew_element solids[3] = {SINEW_ELEMENT_TET4, SINEW_ELEMENT_TET10,
                                        SINEW_ELEMENT_HEX8};

static const sn_mat3 shear = {{{1.2, 0.3, -0.1}, {0.2, 0.9, 0.4}, {-0.3, 0.1, 1.1}}};

static sn_vec3 affine(sn_vec3 p) {
    return sn_add(sn_mat3_apply(shear, p), sn_v3(0.5, -1, 2));
}

static void map_points(const sinew_mesh *mesh, double *mapped) {
    for (int32_t i = 0; i < mesh->point_count; i++) {
        sn_store3(mapped + 3 * i, affine(sn_mesh_point(mesh, i)));
    }
}

static sinew_mesh *make_ball(sinew_context *context, sinew_element element, int32_t across,
                             double size) {
    sinew_shape_def def = sinew_default_shape_def();
    def.shape = SINEW_SHAPE_SPHERE;
    def.element = element;
    def.cells[0] = across;

    for (int k = 0; k < 3; k++) {
        def.size[k] = size;
    }

    return make_shape(context, &def);
}

static sn_vec3 weighted(const sinew_mesh *mesh, const double *points, const sn_location *at) {
    sn_vec3 x = sn_v3(0, 0, 0);
    const int32_t *nodes = sn_mesh_nodes(mesh, at->element);
    for (int32_t i = 0; i < sn_element_info_of(mesh->element)->nodes; i++) {
        x = sn_madd(x, at->weights[i], sn_load3(points + 3 * nodes[i]));
    }
    return x;
}

// Inside a tet by the signs of four volumes.
static bool tet_contains(const sinew_mesh *mesh, int32_t e, sn_vec3 p, double slack) {
    const int32_t *n = sn_mesh_nodes(mesh, e);
    sn_vec3 x[4];
    for (int i = 0; i < 4; i++) {
        x[i] = sn_mesh_point(mesh, n[i]);
    }

    double whole = sn_tet_volume6(x[0], x[1], x[2], x[3]);
    for (int i = 0; i < 4; i++) {
        sn_vec3 y[4] = {x[0], x[1], x[2], x[3]};
        y[i] = p;
        if (sn_tet_volume6(y[0], y[1], y[2], y[3]) < slack * whole) {
            return false;
        }
    }

    return true;
}

static void test_location_as_brute_force(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_ball(context, SINEW_ELEMENT_TET4, 5, 2);
    sn_arena arena = sn_arena_create(context);
    sn_element_tree tree;

    assert_ok(context, sn_element_tree_build(&arena, mesh, &tree));
    sn_random random = sn_random_seed(7);
    int inside = 0;

    for (int turn = 0; turn < 1000; turn++) {
        double x = sn_random_range(&random, -1.2, 1.2);
        double y = sn_random_range(&random, -1.2, 1.2);
        sn_vec3 p = sn_v3(x, y, sn_random_range(&random, -1.2, 1.2));
        if (turn % 4 == 0) {
            p = sn_mesh_point(mesh, turn % mesh->point_count); // exactly on a node
        }

        sn_location found = sn_element_tree_locate(&tree, p);
        int32_t expected = -1;
        for (int32_t e = 0; e < mesh->element_count && expected < 0; e++) {
            if (tet_contains(mesh, e, p, -1e-12)) {
                expected = e;
            }
        }

        if (expected >= 0) {
            assert_int_equal(found.element, expected);
            assert_true(found.distance == 0);
            inside++;
        } else {
            assert_true(found.distance > 0);
        }

        test_close("weighted point", sn_distance(weighted(mesh, mesh->points, &found), p), 0,
                   1e-13);
    }

    assert_true(inside > 300 && inside < 900);
    sn_arena_destroy(&arena);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// Outside a box the distance is known, and the element must be one at the nearest point.
static void test_distance_outside_a_box(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int kind = 0; kind < 3; kind++) {
        sinew_mesh *mesh = make_box(context, solids[kind], 4, 3, 3);
        sn_arena arena = sn_arena_create(context);
        sn_element_tree tree;

        assert_ok(context, sn_element_tree_build(&arena, mesh, &tree));
        sn_box box = sn_mesh_box(mesh);
        sn_random random = sn_random_seed(8);

        for (int turn = 0; turn < 300; turn++) {
            double x = sn_random_range(&random, -1, 1);
            double y = sn_random_range(&random, -1, 1);
            sn_vec3 p = sn_v3(x, y, sn_random_range(&random, -1, 1));
            sn_location found = sn_element_tree_locate(&tree, p);

            test_close("distance", found.distance, sqrt(sn_box_distance2(box, p)), 1e-14);
            double sum = 0;

            for (int i = 0; i < sn_element_info_of(mesh->element)->nodes; i++) {
                sum += found.weights[i];
            }

            test_close("sum of weights", sum, 1, 1e-13);
        }

        sn_arena_destroy(&arena);
        sinew_mesh_destroy(mesh);
    }

    sinew_context_destroy(context);
}

static void test_embedding_reproduces_affine_maps(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_mesh *surface = make_ball(context, SINEW_ELEMENT_TRIANGLE, 14, 2.1); // partly outside

    for (int kind = 0; kind < 3; kind++) {
        sinew_mesh *mesh = make_ball(context, solids[kind], 6, 2); // with distorted hexahedra
        sinew_embedding *embedding = NULL;

        assert_ok(context, sinew_embedding_create(context, surface, mesh, &embedding));
        int32_t outside;
        double distance;

        sinew_embedding_get_outside(embedding, &outside, &distance);
        assert_int_equal(outside, surface->point_count);
        // 0.05 from the sphere, up to 0.09 more from its facets.
        assert_true(distance > 0.05 && distance < 0.2);

        double *moved = sn_allocate(context, 3 * (size_t)mesh->point_count, sizeof *moved);
        double *found = sn_allocate(context, 3 * (size_t)surface->point_count, sizeof *found);
        double *expected = sn_allocate(context, 3 * (size_t)surface->point_count, sizeof *expected);

        map_points(mesh, moved);
        map_points(surface, expected);

        int64_t allocations = context->allocations;
        sinew_embedding_compute_points(embedding, moved, found);
        assert_int_equal(context->allocations, allocations);
        assert_true(test_relative_error(found, expected, 3 * (size_t)surface->point_count) < 1e-12);
        sinew_embedding_compute_points(embedding, mesh->points, found);
        assert_true(test_relative_error(found, surface->points, 3 * (size_t)surface->point_count) <
                    1e-12);
        sn_release(context, expected, 3 * (size_t)surface->point_count, sizeof *expected);
        sn_release(context, found, 3 * (size_t)surface->point_count, sizeof *found);
        sn_release(context, moved, 3 * (size_t)mesh->point_count, sizeof *moved);
        sinew_embedding_destroy(embedding);
        sinew_mesh_destroy(mesh);
    }

    sinew_mesh_destroy(surface);
    assert_int_equal(context->bytes_in_use > 0, 1); // the pool of threads is all that is left
    sinew_context_destroy(context);
}

static void test_plane_meshes_embed_curves(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_shape_def def = sinew_default_shape_def();

    def.shape = SINEW_SHAPE_RECTANGLE;
    def.element = SINEW_ELEMENT_TRIANGLE;

    sinew_mesh *mesh = make_shape(context, &def);
    const double points[9] = {0.1, 0.23, 0, -0.49, 0.5, 0, 0.8, 0, 0};
    sinew_mesh curve = {points, 3, SINEW_ELEMENT_TRIANGLE, NULL, 0, NULL};
    sinew_embedding *embedding = NULL;

    assert_ok(context, sinew_embedding_create(context, &curve, mesh, &embedding));
    int32_t outside;
    double distance, found[9], normals[9];

    sinew_embedding_get_outside(embedding, &outside, &distance);
    assert_int_equal(outside, 1);
    test_close("distance", distance, 0.3, 1e-12);
    sinew_embedding_compute_points(embedding, mesh->points, found);
    assert_true(test_relative_error(found, points, 9) < 1e-13);
    sinew_embedding_compute_normals(embedding, found, normals);

    for (int i = 0; i < 9; i++) {
        assert_true(normals[i] == 0);
    }

    sinew_embedding_destroy(embedding);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// Max's weights are exact on a sphere, whatever the triangles.
static void test_normals_of_a_sphere(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *surface = make_ball(context, SINEW_ELEMENT_TRIANGLE, 9, 2);
    sinew_mesh *mesh = make_box(context, SINEW_ELEMENT_TET4, 2, 2, 2);
    sinew_embedding *embedding = NULL;

    assert_ok(context, sinew_embedding_create(context, surface, mesh, &embedding));
    double *normals = sn_allocate(context, 3 * (size_t)surface->point_count, sizeof *normals);

    sinew_embedding_compute_normals(embedding, surface->points, normals);
    assert_true(test_relative_error(normals, surface->points, 3 * (size_t)surface->point_count) <
                1e-12);

    // Without an embedding, at other points: the gradient of an ellipsoid, and bit for bit the
    // normals of the embedding.
    size_t size = 3 * (size_t)surface->point_count;
    double *moved = sn_allocate(context, size, sizeof *moved);
    double *plain = sn_allocate(context, size, sizeof *plain);
    const double stretch[3] = {1, 1.5, 0.8};
    double worst = 0;

    for (size_t i = 0; i < size; i++) {
        moved[i] = 0.3 + stretch[i % 3] * surface->points[i];
    }

    sinew_embedding_compute_normals(embedding, moved, normals);
    sinew_mesh_compute_normals(surface, moved, plain);
    assert_memory_equal(plain, normals, size * sizeof *plain);

    for (size_t i = 0; i < size; i += 3) {
        const double *X = surface->points + i;
        sn_vec3 gradient =
            sn_normalize(sn_v3(X[0] / stretch[0], X[1] / stretch[1], X[2] / stretch[2]));
        worst = fmax(worst, sn_distance(sn_load3(plain + i), gradient));
    }

    assert_true(worst < 0.12); // second order in edge over radius of curvature, which is about 0.35
    sn_release(context, moved, size, sizeof *moved);
    sn_release(context, plain, size, sizeof *plain);
    sn_release(context, normals, 3 * (size_t)surface->point_count, sizeof *normals);
    sinew_embedding_destroy(embedding);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(surface);
    sinew_context_destroy(context);
}

static void test_same_result_for_any_threads(void **state) {
    (void)state;
    uint64_t hashes[3];
    for (int i = 0; i < 3; i++) {
        sinew_context *context = test_context(1 << i);
        sinew_mesh *surface = make_ball(context, SINEW_ELEMENT_TRIANGLE, 20, 2.02);
        sinew_mesh *mesh = make_ball(context, SINEW_ELEMENT_TET4, 6, 2);
        sinew_embedding *embedding = NULL;

        assert_ok(context, sinew_embedding_create(context, surface, mesh, &embedding));
        size_t size = 3 * (size_t)surface->point_count;
        double *points = sn_allocate(context, size, sizeof *points);
        double *normals = sn_allocate(context, size, sizeof *normals);

        sinew_embedding_compute_points(embedding, mesh->points, points);
        sinew_embedding_compute_normals(embedding, points, normals);
        hashes[i] = hash_bytes(hash_bytes(1, points, size * sizeof *points), normals,
                               size * sizeof *normals);
        sn_release(context, points, size, sizeof *points);
        sn_release(context, normals, size, sizeof *normals);
        sinew_embedding_destroy(embedding);
        sinew_mesh_destroy(mesh);
        sinew_mesh_destroy(surface);
        sinew_context_destroy(context);
    }

    assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
}

static void test_bad_input_and_memory_shortage(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *surface = make_ball(context, SINEW_ELEMENT_TRIANGLE, 4, 1);
    sinew_mesh *mesh = make_ball(context, SINEW_ELEMENT_TET4, 4, 1);
    sinew_embedding *embedding = NULL;

    assert_refused(context, sinew_embedding_create(context, mesh, mesh, &embedding),
                   SINEW_INVALID_ARGUMENT, "triangles");
    assert_refused(context, sinew_embedding_create(context, surface, NULL, &embedding),
                   SINEW_INVALID_ARGUMENT, "NULL");

    sinew_mesh empty = *mesh;
    empty.element_count = 0;
    assert_refused(context, sinew_embedding_create(context, surface, &empty, &embedding),
                   SINEW_INVALID_DATA, "no elements");
    sinew_embedding_destroy(NULL);

    sinew_status status = SINEW_OUT_OF_MEMORY;
    for (int64_t fail_at = 1; status != SINEW_OK; fail_at++) {
        test_allocator allocator = {.fail_at = fail_at};
        sinew_context *poor = test_context_failing(&allocator);

        status = sinew_embedding_create(poor, surface, mesh, &embedding);
        assert_true(status == SINEW_OK || status == SINEW_OUT_OF_MEMORY);

        if (status == SINEW_OK) {
            sinew_embedding_destroy(embedding);
        }

        sinew_context_destroy(poor);
        assert_int_equal(allocator.live, 0);
        assert_true(fail_at < 100);
    }

    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(surface);
    sinew_context_destroy(context);
}

static void test_volume_inside_a_surface(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_shape_def def = sinew_default_shape_def();
    const double size[3] = {2, 1, 0.5};
    for (int k = 0; k < 3; k++) {
        def.size[k] = size[k];
        def.center[k] = 1000.0 * k; // far away
    }

    def.element = SINEW_ELEMENT_TRIANGLE;
    sinew_mesh *box = make_shape(context, &def);
    test_close("box", sn_surface_volume(box->points, box->indices, box->element_count), 1, 1e-10);
    assert_true(sn_surface_volume(box->points, box->indices, 0) == 0);
    sinew_mesh_destroy(box);

    // Facets: 96 along the equator, so second-order errors near (2 pi / 96)^2 / 4 = 1e-3.
    sinew_mesh *ball = make_ball(context, SINEW_ELEMENT_TRIANGLE, 40, 2);
    test_close("ball", sn_surface_volume(ball->points, ball->indices, ball->element_count),
               4 * pi / 3, 4e-3 * 4 * pi / 3);
    sinew_mesh_destroy(ball);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_location_as_brute_force),
        cmocka_unit_test(test_distance_outside_a_box),
        cmocka_unit_test(test_embedding_reproduces_affine_maps),
        cmocka_unit_test(test_plane_meshes_embed_curves),
        cmocka_unit_test(test_normals_of_a_sphere),
        cmocka_unit_test(test_same_result_for_any_threads),
        cmocka_unit_test(test_bad_input_and_memory_shortage),
        cmocka_unit_test(test_volume_inside_a_surface),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
