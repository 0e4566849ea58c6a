// Fields of axes or directions that the caller supplies, and the axes of any field at points.
#include "field/fields.h"

#include <stdlib.h>

static void test_outside_fields(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 1, 2);
    int32_t count = mesh->element_count;
    double *axes = malloc(9 * sizeof(double) * (size_t)count);
    double *directions = malloc(3 * sizeof(double) * (size_t)count);

    for (int32_t e = 0; e < count; e++) {
        sn_quat q = sn_quat_exp(sn_v3(0.1 * e, 1, -0.02 * e));
        sn_mat3 Q = sn_quat_to_mat3(q);
        for (int j = 0; j < 3; j++) {
            sn_store3(axes + 9 * e + 3 * j, sn_scale(2, sn_mat3_column(Q, j)));
        }
        sn_store3(directions + 3 * e, sn_scale(-5, sn_mat3_column(Q, 2)));
    }

    sinew_field *field, *fibres;
    assert_int_equal(sinew_field_create_from_axes(context, mesh, SINEW_FIELD_FRAMES, axes, &field),
                     SINEW_OK);
    assert_int_equal(sinew_field_create_from_directions(context, mesh, directions, &fibres),
                     SINEW_OK);
    assert_true(axes_angle(axes, sinew_field_get_axes(field), count) < 1e-12);

    for (int32_t e = 0; e < count; e += 7) {
        sn_vec3 c = {0};
        for (int k = 0; k < 4; k++) {
            c = sn_madd(c, 0.25, sn_mesh_point(mesh, sn_mesh_nodes(mesh, e)[k]));
        }

        double found[9], point[3];
        sn_store3(point, c);
        sinew_field_compute_axes_at(field, point, found);
        assert_memory_equal(found, sinew_field_get_axes(field) + 9 * e, sizeof found);
        sinew_field_compute_axes_at(fibres, point, found);
        assert_true(line_angle(sn_load3(found + 6), sn_load3(directions + 3 * e)) < 1e-12);
    }

    assert_int_equal(sinew_field_solve(field), SINEW_OK);

    // It has no curves to rotate or move.
    assert_int_equal(sinew_field_get_curve_count(field), 0);
    assert_true(sinew_field_get_certainties(field)[count - 1] == 1);
    assert_int_equal(sinew_field_set_turn(field, 0, 1), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_field_move_curve(field, 0, directions, 2), SINEW_INVALID_ARGUMENT);

    // A point that is not finite gets the axes of the first element; a remote point those of some
    // element.
    const double odd[3][3] = {{NAN, 0, 0}, {0, -INFINITY, 0}, {1e300, 0, 0}};
    for (int k = 0; k < 3; k++) {
        double found[9];
        sinew_field_compute_axes_at(field, odd[k], found);
        if (k < 2) {
            assert_memory_equal(found, sinew_field_get_axes(field), sizeof found);
        }
        test_close("length of an axis", sn_length(sn_load3(found)), 1, 1e-12);
    }

    sinew_field_destroy(field);
    sinew_field_destroy(fibres);

    // Lengths of axes do not matter, within the range of doubles.
    for (int32_t e = 0; e < count; e++) {
        for (int k = 0; k < 9; k++) {
            axes[9 * e + k] *= e % 2 == 0 ? 1e-310 : 1e200;
        }
        for (int k = 0; k < 3; k++) {
            directions[3 * e + k] *= e % 2 == 0 ? 1e-310 : 1e200;
        }
    }

    assert_int_equal(sinew_field_create_from_axes(context, mesh, SINEW_FIELD_FRAMES, axes, &field),
                     SINEW_OK);
    assert_int_equal(sinew_field_create_from_directions(context, mesh, directions, &fibres),
                     SINEW_OK);

    for (int32_t e = 0; e < count; e++) {
        sn_mat3 Q = sn_quat_to_mat3(sn_quat_exp(sn_v3(0.1 * e, 1, -0.02 * e)));
        // Numbers near 1e-310 have only thirteen digits.
        assert_true(line_angle(sn_load3(sinew_field_get_axes(field) + 9 * e + 6),
                               sn_mat3_column(Q, 2)) < 1e-12);
        assert_true(line_angle(sn_load3(sinew_field_get_axes(fibres) + 9 * e + 6),
                               sn_mat3_column(Q, 2)) < 1e-12);
    }

    sinew_field_destroy(field);
    sinew_field_destroy(fibres);
    assert_int_equal(sinew_field_create_from_axes(context, mesh, (sinew_field_kind)5, axes, &field),
                     SINEW_INVALID_ARGUMENT);

    for (int k = 3; k < 6; k++) {
        axes[9 * 3 + k] *= -1;
    }

    assert_int_equal(sinew_field_create_from_axes(context, mesh, SINEW_FIELD_FRAMES, axes, &field),
                     SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "element 3"));
    axes[9 * 2] = NAN;
    assert_int_equal(sinew_field_create_from_axes(context, mesh, SINEW_FIELD_FRAMES, axes, &field),
                     SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "element 2"));
    sn_store3(directions + 15, sn_v3(0, 0, 0));
    assert_int_equal(sinew_field_create_from_directions(context, mesh, directions, &field),
                     SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "element 5"));
    free(axes);
    free(directions);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// By vertex the field is continuous: along a line through the solid it rotates in small steps, and
// it is close to the curve's frames on the curve.
static void test_interpolation(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 1, 5);
    double points[12] = {0.3, 0, -0.9, -0.3, 0, -0.3, -0.3, 0, 0.3, 0.3, 0, 0.9};
    double places[63], frames[189];
    sinew_curve_def curve = sinew_default_curve_def();

    curve.points = points;
    curve.point_count = 4;

    sinew_field_def def = sinew_default_field_def();
    def.mesh = mesh;
    def.curves = &curve;
    def.curve_count = 1;

    for (int kind = 0; kind < 2; kind++) {
        def.kind = (sinew_field_kind)kind;
        def.unknowns = SINEW_FIELD_BY_VERTEX;

        sinew_field *field = make_field(context, &def);
        assert_int_equal(sinew_curve_compute_frames(context, &curve, 21, places, frames), SINEW_OK);
        for (int i = 0; i < 21; i++) {
            double axes[9];
            sinew_field_compute_axes_at(field, places + 3 * i, axes);
            assert_true(line_angle(sn_load3(axes + 6), sn_load3(frames + 9 * i + 6)) < 0.05);
            if (kind == 0) {
                assert_true(line_angle(sn_load3(axes), sn_load3(frames + 9 * i)) < 0.05);
            }
        }

        double before[9], here[9];
        for (int i = 0; i <= 400; i++) {
            double p[3] = {0.1, 0.05, -0.95 + 1.9 * i / 400};
            sinew_field_compute_axes_at(field, p, here);
            if (i > 0) {
                assert_true(line_angle(sn_load3(before + 6), sn_load3(here + 6)) < 0.02);
            }
            memcpy(before, here, sizeof here);
        }

        sinew_field_destroy(field);
    }

    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outside_fields),
        cmocka_unit_test(test_interpolation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
