// Surfaces of every kind of body, with public headers only: triangles, positions, normals,
// velocities, states, rays, nearest points.
#include "support/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *room(size_t count) {
    double *array = calloc(count, sizeof *array);
    assert_non_null(array);
    return array;
}

// Volume inside a surface, and whether its normals have unit length.
static double enclosed_volume(const sinew_mesh *surface, const double *x) {
    double volume = 0;
    for (int32_t t = 0; t < surface->element_count; t++) {
        const int32_t *i = surface->indices + 3 * (size_t)t;
        const double *a = x + 3 * (size_t)i[0], *b = x + 3 * (size_t)i[1],
                     *c = x + 3 * (size_t)i[2];
        volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                   a[2] * (b[0] * c[1] - b[1] * c[0])) /
                  6;
    }
    return volume;
}

static void test_positions(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        const sinew_mesh *surface = sinew_body_get_surface(t.body);
        assert_non_null(surface);
        assert_true(surface->element == SINEW_ELEMENT_TRIANGLE && surface->element_count > 0);

        size_t count = 3 * (size_t)surface->point_count;
        double *x = room(count), *n = room(count), *v = room(count), *next = room(count);
        sinew_body_compute_surface(t.body, x, n);
        for (size_t i = 0; i < count; i++) {
            test_kind_close(kind, "rest position", x[i], surface->points[i], 1e-12);
        }

        // Outward normals: the volume is that of the bar, up to the smoothing of voxels.
        double volume = enclosed_volume(surface, x);
        test_kind_close(kind, "volume", volume, 0.04, test_kind_has_frames(kind) ? 0.008 : 1e-12);
        test_kind_close(kind, "normal", n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1, 1e-12);

        // Velocities are the change of positions.
        test_kinds_deform(&t, kind);
        sinew_body_compute_surface(t.body, x, NULL);
        assert_int_equal(sinew_world_step(t.world, NULL), SINEW_OK);
        sinew_body_compute_surface(t.body, next, NULL);
        assert_int_equal(sinew_body_compute_surface_velocities(t.body, v), SINEW_OK);
        double fastest = 0;
        for (size_t i = 0; i < count; i++) {
            fastest = fmax(fastest, fabs(v[i]));
        }

        assert_true(fastest > 1e-3);
        for (size_t i = 0; i < count; i++) {
            test_kind_close(kind, "velocity", v[i], (next[i] - x[i]) / 0.001, 0.05 * fastest);
        }

        sinew_element_state *states = calloc((size_t)surface->point_count, sizeof *states);
        assert_non_null(states);
        assert_int_equal(sinew_body_compute_surface_states(t.body, states), SINEW_OK);
        for (int32_t i = 0; i < surface->point_count; i++) {
            assert_true(states[i].J > 0.3 && states[i].J < 3);
        }

        free(states);
        free(x);
        free(n);
        free(v);
        free(next);
        test_kinds_destroy(&t);
    }
}

static void test_nodes(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        bool nodal = !test_kind_has_frames(kind) && !test_kind_is_reduced(kind);
        bool boundary = nodal && kind != TEST_EMBEDDED;
        const int32_t *nodes = sinew_body_get_surface_nodes(t.body);
        assert_true((nodes != NULL) == boundary);
        if (nodes) {
            const sinew_mesh *surface = sinew_body_get_surface(t.body);
            const double *rest = sinew_body_get_rest_positions(t.body);
            for (int32_t i = 0; i < surface->point_count; i++) {
                assert_memory_equal(surface->points + 3 * (size_t)i, rest + 3 * (size_t)nodes[i],
                                    3 * sizeof(double));
            }
        }
        test_kinds_destroy(&t);
    }
}

// Forces on vertices push the body as a whole.
static void test_forces(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        size_t count = 3 * (size_t)sinew_body_get_surface(t.body)->point_count;
        double *f = room(count);
        for (size_t i = 0; i < count; i += 3) {
            f[i + 1] = 30.0 / (double)count;
        }

        sinew_measures measures;
        assert_int_equal(sinew_body_set_surface_forces(t.body, f), SINEW_OK);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(sinew_world_step(t.world, NULL), SINEW_OK);
        }

        sinew_body_get_measures(t.body, &measures);
        test_kind_close(kind, "momentum", measures.momentum[1], 0.1, 0.1 * test_kind_loss(kind));
        assert_int_equal(sinew_body_set_surface_forces(t.body, NULL), SINEW_OK);
        assert_int_equal(sinew_world_step(t.world, NULL), SINEW_OK);
        sinew_body_get_measures(t.body, &measures);
        test_kind_close(kind, "momentum after", measures.momentum[1], 0.1,
                        0.1 * test_kind_loss(kind));

        f[2] = NAN;
        assert_int_equal(sinew_body_set_surface_forces(t.body, f), SINEW_INVALID_ARGUMENT);
        free(f);
        test_kinds_destroy(&t);
    }
}

// The nearest point of all triangles, by trying each.
static double brute_distance(const sinew_mesh *surface, const double *x, const double p[3]) {
    double best = INFINITY;
    enum { N = 24 };
    for (int32_t t = 0; t < surface->element_count; t++) {
        const int32_t *i = surface->indices + 3 * (size_t)t;
        for (int u = 0; u <= N; u++) {
            for (int v = 0; u + v <= N; v++) {
                double d2 = 0;
                for (int k = 0; k < 3; k++) {
                    double y = (u * x[3 * i[0] + k] + v * x[3 * i[1] + k] +
                                (N - u - v) * x[3 * i[2] + k]) /
                               N;
                    d2 += (y - p[k]) * (y - p[k]);
                }
                best = fmin(best, d2);
            }
        }
    }
    return sqrt(best);
}

static void test_queries(void **state) {
    (void)state;
    const double from[3] = {0.11, 0.02, 2}, down[3] = {0, 0, -4}, up[3] = {0, 0, 1};
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        sinew_surface_hit hit;
        assert_int_equal(sinew_body_cast_ray(t.body, from, down, INFINITY, &hit), SINEW_OK);
        assert_ptr_equal(hit.body, t.body);
        double slack = test_kind_has_frames(kind) ? 0.02 : 1e-12; // smoothed voxels
        test_kind_close(kind, "height", hit.position[2], 0.1, slack);
        test_kind_close(kind, "distance", hit.distance, 2 - hit.position[2], 1e-12);
        test_kind_close(kind, "normal", hit.normal[2], 1, slack);
        test_kind_close(kind, "x", hit.position[0], from[0], 1e-12);

        assert_int_equal(sinew_body_cast_ray(t.body, from, up, INFINITY, &hit), SINEW_OK);
        assert_null(hit.body);
        assert_int_equal(sinew_body_cast_ray(t.body, from, down, 1, &hit), SINEW_OK);
        assert_null(hit.body);

        // The present surface counts, and the hit is on it.
        test_kinds_deform(&t, kind);
        const sinew_mesh *surface = sinew_body_get_surface(t.body);
        double *x = room(3 * (size_t)surface->point_count);
        sinew_body_compute_surface(t.body, x, NULL);
        assert_int_equal(sinew_body_cast_ray(t.body, from, down, INFINITY, &hit), SINEW_OK);
        assert_ptr_equal(hit.body, t.body);
        const int32_t *corner = surface->indices + 3 * (size_t)hit.triangle;
        for (int k = 0; k < 3; k++) {
            double at = 0;
            for (int c = 0; c < 3; c++) {
                at += hit.barycentric[c] * x[3 * (size_t)corner[c] + (size_t)k];
            }
            test_kind_close(kind, "hit", hit.position[k], at, 1e-12);
        }

        const double p[3] = {0.2, 0.3, 0.25};
        assert_int_equal(sinew_body_find_nearest(t.body, p, INFINITY, &hit), SINEW_OK);
        assert_ptr_equal(hit.body, t.body);
        double brute = brute_distance(surface, x, p);
        assert_true(hit.distance <= brute + 1e-12);
        test_kind_close(kind, "nearest", hit.distance, brute, 2e-3);
        assert_int_equal(sinew_body_find_nearest(t.body, p, 0.01, &hit), SINEW_OK);
        assert_null(hit.body);

        free(x);
        test_kinds_destroy(&t);
    }
}

// The frames that carry each vertex are those of its rest point, also after one has joined.
static void check_weights(test_kind kind, sinew_body *body) {
    const sinew_mesh *surface = sinew_body_get_surface(body);
    int32_t frames = sinew_frame_body_get_node_count(body);
    const int32_t *starts, *nodes;
    const double *weights;
    double *expected = malloc((size_t)frames * sizeof *expected);
    assert_non_null(expected);
    assert_int_equal(sinew_frame_body_get_surface_weights(body, &starts, &nodes, &weights),
                     SINEW_OK);

    bool last = false;
    for (int32_t i = 0; i < surface->point_count; i++) {
        assert_int_equal(
            sinew_frame_body_get_weights(body, surface->points + 3 * (size_t)i, expected),
            SINEW_OK);
        for (int32_t k = starts[i]; k < starts[i + 1]; k++) {
            test_kind_close(kind, "weight", weights[k], expected[nodes[k]], 0);
            last = last || (nodes[k] == frames - 1 && weights[k] > 0);
            expected[nodes[k]] = 0;
        }
        for (int32_t k = 0; k < frames; k++) {
            test_kind_close(kind, "other weights", expected[k], 0, 0);
        }
    }
    assert_true(last); // every frame carries some vertex

    free(expected);
}

static void test_surface_weights(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        const int32_t *starts;
        if (!test_kind_has_frames(kind)) {
            assert_int_equal(sinew_frame_body_get_surface_weights(t.body, &starts, NULL, NULL),
                             SINEW_INVALID_ARGUMENT);
            test_kinds_destroy(&t);
            continue;
        }

        check_weights(kind, t.body);
        sinew_frame_insert_def insert = sinew_default_frame_insert_def();
        insert.position[0] = 0.2;
        insert.position[1] = 0.05;
        insert.range = 0.2;
        int32_t node;
        assert_int_equal(sinew_frame_body_insert(t.body, &insert, &node), SINEW_OK);
        check_weights(kind, t.body);
        assert_int_equal(sinew_frame_body_remove(t.body, node, 0), SINEW_OK);
        check_weights(kind, t.body);
        test_kinds_destroy(&t);
    }
}

static void test_world_ray(void **state) {
    (void)state;
    test_kinds t = test_kinds_create_world();
    sinew_body *far = test_kinds_add(&t, TEST_DUAL_FRAMES, (const double[3]){0, 0, -3});
    sinew_body *near = test_kinds_add(&t, TEST_HEX8, (const double[3]){0, 0, -1});
    sinew_surface_hit hit;
    const double from[3] = {0.03, 0.04, 0}, down[3] = {0, 0, -1};
    assert_int_equal(sinew_world_cast_ray(t.world, from, down, INFINITY, &hit), SINEW_OK);
    assert_ptr_equal(hit.body, near);

    sinew_body_destroy(near);
    assert_int_equal(sinew_world_cast_ray(t.world, from, down, INFINITY, &hit), SINEW_OK);
    assert_ptr_equal(hit.body, far);
    assert_int_equal(sinew_world_cast_ray(t.world, from, (const double[3]){0, 0, 0}, 1, &hit),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_world_cast_ray(t.world, from, down, -1, &hit), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_body_find_nearest(far, (const double[3]){NAN, 0, 0}, 1, &hit),
                     SINEW_INVALID_ARGUMENT);

    // Without bodies nothing is hit, and bad rays are refused all the same.
    sinew_body_destroy(far);
    assert_int_equal(sinew_world_cast_ray(t.world, from, down, INFINITY, &hit), SINEW_OK);
    assert_null(hit.body);
    assert_int_equal(sinew_world_cast_ray(t.world, from, (const double[3]){0, 0, 0}, 1, &hit),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_world_cast_ray(t.world, from, down, -1, &hit), SINEW_INVALID_ARGUMENT);
    assert_int_equal(
        sinew_world_cast_ray(t.world, (const double[3]){0, NAN, 0}, down, INFINITY, &hit),
        SINEW_INVALID_ARGUMENT);
    test_kinds_destroy(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_positions),       cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_forces),          cmocka_unit_test(test_queries),
        cmocka_unit_test(test_surface_weights), cmocka_unit_test(test_world_ray),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
