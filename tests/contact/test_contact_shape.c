// Contact surfaces: edges, owners and fans of whole, open and broken meshes.
#include "contact_support.h"

static void check_owners(const sn_contact_shape *shape) {
    int32_t corners = 0, edges = 0;
    for (int32_t t = 0; t < shape->triangle_count; t++) {
        for (int k = 0; k < 3; k++) {
            int32_t vertex = sn_at3(shape->triangles, t)[k];
            int32_t edge = sn_at3(shape->triangle_edges, t)[k];
            int32_t next = sn_at3(shape->triangles, t)[(k + 1) % 3];
            const int32_t *ends = shape->edges + 2 * (size_t)edge;

            assert_true(ends[0] < ends[1]);
            assert_true((ends[0] == vertex && ends[1] == next) ||
                        (ends[0] == next && ends[1] == vertex));
            if (shape->owns[t] & SN_CONTACT_OWNS_CORNER << k) {
                corners++;
                assert_int_equal(shape->vertex_owner[vertex], t);
            }
            if (shape->owns[t] & SN_CONTACT_OWNS_EDGE << k) {
                edges++;
                assert_int_equal(shape->edge_faces[2 * (size_t)edge], t);
            }
        }
    }

    int32_t used = 0;
    for (int32_t v = 0; v < shape->vertex_count; v++) {
        used += shape->vertex_owner[v] >= 0;
        assert_true((shape->shortest[v] > 0) == (shape->vertex_owner[v] >= 0));
    }
    assert_int_equal(corners, used);
    assert_int_equal(edges, shape->edge_count);
}

static void test_closed_surfaces(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const sinew_shape shapes[3] = {SINEW_SHAPE_BOX, SINEW_SHAPE_SPHERE, SINEW_SHAPE_TUBE};

    for (int i = 0; i < 3; i++) {
        touch_scene t = touch_begin(context);
        touch_add_shape(&t, shapes[i], 1, 6, sn_v3(0, 0, 0));
        const sn_contact_shape *shape = t.shapes[0];

        check_owners(shape);
        assert_true(shape->closed);
        assert_int_equal(shape->degenerate_count, 0);
        int32_t euler = shape->vertex_count - shape->edge_count + shape->triangle_count;
        assert_int_equal(euler, shapes[i] == SINEW_SHAPE_TUBE ? 0 : 2);
        touch_end(&t);
    }

    sinew_context_destroy(context);
}

static void test_open_and_degenerate(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const double points[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 2, 0, 0, 5, 5, 5};
    // Two good triangles, one flat by its corners, one without area, one with a third face at 1-2.
    const int32_t triangles[15] = {0, 1, 2, 1, 3, 2, 1, 1, 2, 0, 1, 4, 1, 4, 2};
    sinew_mesh mesh = {.points = points,
                       .point_count = 6,
                       .element = SINEW_ELEMENT_TRIANGLE,
                       .indices = triangles,
                       .element_count = 5};

    touch_scene t = touch_begin(context);
    touch_add(&t, &mesh, sn_v3(0, 0, 0));
    const sn_contact_shape *shape = t.shapes[0];
    check_owners(shape);
    assert_int_equal(shape->triangle_count, 3);
    assert_int_equal(shape->degenerate_count, 2);
    assert_int_equal(shape->sources[2], 4);
    assert_int_equal(shape->crowded_count, 1);
    assert_int_equal(shape->open_count, 6);
    assert_false(shape->closed);
    assert_int_equal(shape->vertex_owner[5], -1);

    touch_end(&t);
    sinew_context_destroy(context);
}

static void test_refusals(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    sn_contact_shape shape;

    sinew_mesh *solid = make_box(context, SINEW_ELEMENT_TET4, 1, 1, 1);
    assert_refused(context, sn_contact_shape_build(&arena, solid, &shape), SINEW_INVALID_ARGUMENT,
                   "triangles");
    sinew_mesh_destroy(solid);

    double points[9] = {0, 0, 0, 1, 0, 0, 0, NAN, 0};
    int32_t triangle[3] = {0, 1, 2};
    sinew_mesh mesh = {.points = points,
                       .point_count = 3,
                       .element = SINEW_ELEMENT_TRIANGLE,
                       .indices = triangle,
                       .element_count = 1};
    assert_int_not_equal(sn_contact_shape_build(&arena, &mesh, &shape), SINEW_OK);
    points[7] = 1;
    triangle[2] = 3;
    assert_int_not_equal(sn_contact_shape_build(&arena, &mesh, &shape), SINEW_OK);

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_surfaces),
        cmocka_unit_test(test_open_and_degenerate),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
