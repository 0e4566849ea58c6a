// Traction and pressure on the surface of every kind of body, with public headers only.
#include "support/kinds.h"

#include <math.h>
#include <stdlib.h>

// Triangles all of whose corners lie at x > limit.
static int32_t pick_end(const sinew_mesh *surface, double limit, int32_t *triangles) {
    int32_t count = 0;
    for (int32_t t = 0; t < surface->element_count; t++) {
        const int32_t *i = surface->indices + 3 * (size_t)t;
        bool inside = true;
        for (int k = 0; k < 3; k++) {
            inside = inside && surface->points[3 * (size_t)i[k]] > limit;
        }
        if (inside) {
            triangles[count++] = t;
        }
    }
    return count;
}

static sinew_load_def end_load(const sinew_body *body, int32_t **triangles) {
    const sinew_mesh *surface = sinew_body_get_surface(body);
    sinew_load_def def = sinew_default_load_def();
    *triangles = calloc((size_t)surface->element_count, sizeof **triangles);
    assert_non_null(*triangles);
    def.triangles = *triangles;
    def.triangle_count = pick_end(surface, 0.47, *triangles);
    assert_true(def.triangle_count > 0);
    return def;
}

static void test_traction(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        int32_t *triangles, index = -1;
        sinew_load_def def = end_load(t.body, &triangles);
        def.traction[1] = 100;
        sinew_load_report report;
        sinew_measures measures;
        assert_int_equal(sinew_body_add_load(t.body, &def, &index), SINEW_OK);
        assert_int_equal(sinew_body_set_load_scale(t.body, index, 0.5), SINEW_OK);
        assert_int_equal(sinew_body_get_load(t.body, index, &report), SINEW_OK);

        // The end of the bar; of smoothed voxels a part of it.
        bool frames = test_kind_has_frames(kind);
        test_kind_close(kind, "area", report.rest_area, 0.04, frames ? 0.03 : 1e-12);
        test_kind_close(kind, "present area", report.area, report.rest_area, 1e-12);
        test_kind_close(kind, "force", report.force[1], 50 * report.rest_area, 1e-12);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(sinew_world_step(t.world, NULL), SINEW_OK);
        }

        sinew_body_get_measures(t.body, &measures);
        test_kind_close(kind, "momentum", measures.momentum[1], 0.01 * report.force[1],
                        0.02 * test_kind_loss(kind));
        free(triangles);
        test_kinds_destroy(&t);
    }
}

// A uniform pressure on a closed surface has no resultant, whatever the shape; it follows.
static void test_pressure(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_KINDS; kind++) {
        test_kinds t = test_kinds_create(kind);
        const sinew_mesh *surface = sinew_body_get_surface(t.body);
        int32_t *all = calloc((size_t)surface->element_count, sizeof *all);
        assert_non_null(all);
        for (int32_t i = 0; i < surface->element_count; i++) {
            all[i] = i;
        }

        test_kinds_deform(&t, kind);
        sinew_load_def def = sinew_default_load_def();
        def.kind = SINEW_LOAD_PRESSURE;
        def.pressure = 1000;
        def.triangles = all;
        def.triangle_count = surface->element_count;
        int32_t index;
        sinew_measures before, after;
        sinew_load_report report;
        assert_int_equal(sinew_body_add_load(t.body, &def, &index), SINEW_OK);
        assert_int_equal(sinew_body_get_load(t.body, index, &report), SINEW_OK);
        assert_true(report.area > 0.5 && fabs(report.area - report.rest_area) > 1e-6);

        sinew_body_get_measures(t.body, &before);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(sinew_world_step(t.world, NULL), SINEW_OK);
        }
        sinew_body_get_measures(t.body, &after);
        for (int k = 0; k < 3; k++) {
            test_kind_close(kind, "resultant", report.force[k], 0, 1e-10);
            test_kind_close(kind, "momentum", after.momentum[k], before.momentum[k],
                            2.4 * test_kind_loss(kind));
        }

        free(all);
        test_kinds_destroy(&t);
    }
}

// The faces of selected nodes and the same triangles of the surface are one load.
static void test_faces_and_triangles(void **state) {
    (void)state;
    double tip[2][3];
    for (int way = 0; way < 2; way++) {
        test_kinds t = test_kinds_create(TEST_TET4);
        int32_t *triangles, nodes[64], count = 0;
        const double *rest = sinew_body_get_rest_positions(t.body);
        sinew_load_def def = end_load(t.body, &triangles);
        def.kind = SINEW_LOAD_PRESSURE;
        def.pressure = -5000;
        for (int32_t i = 0; i < sinew_body_get_node_count(t.body); i++) {
            if (rest[3 * (size_t)i] > 0.47) {
                nodes[count++] = i;
            }
        }

        int32_t last = nodes[count - 1];
        if (way == 1) {
            def.triangle_count = 0;
            def.nodes = nodes;
            def.node_count = count;
        }

        assert_int_equal(sinew_body_add_load(t.body, &def, NULL), SINEW_OK);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(sinew_world_step(t.world, NULL), SINEW_OK);
        }

        for (int k = 0; k < 3; k++) {
            tip[way][k] = sinew_body_get_positions(t.body)[3 * (size_t)last + (size_t)k];
        }
        free(triangles);
        test_kinds_destroy(&t);
    }

    for (int k = 0; k < 3; k++) {
        test_kind_close(TEST_TET4, "tip", tip[1][k], tip[0][k], 1e-9);
    }
    assert_true(fabs(tip[0][0] - 0.5) > 1e-5);
}

static void test_bad_loads(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_RIGID_FRAMES);
    int32_t some = 0, none = -1;
    sinew_load_report report;
    sinew_load_def def = sinew_default_load_def();
    assert_int_equal(sinew_body_add_load(t.body, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.nodes = &some;
    def.node_count = 1;
    assert_int_equal(sinew_body_add_load(t.body, &def, NULL), SINEW_UNSUPPORTED);

    def = sinew_default_load_def();
    def.triangles = &none;
    def.triangle_count = 1;
    assert_int_equal(sinew_body_add_load(t.body, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.triangles = NULL;
    assert_int_equal(sinew_body_add_load(t.body, &def, NULL), SINEW_INVALID_ARGUMENT);
    def.triangles = &some;
    def.traction[0] = INFINITY;
    assert_int_equal(sinew_body_add_load(t.body, &def, NULL), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_body_get_load(t.body, 0, &report), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_body_set_load_scale(t.body, 0, 1), SINEW_INVALID_ARGUMENT);
    test_kinds_destroy(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traction),
        cmocka_unit_test(test_pressure),
        cmocka_unit_test(test_faces_and_triangles),
        cmocka_unit_test(test_bad_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
