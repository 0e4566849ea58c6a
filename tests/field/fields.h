// Shared by the tests of fields: angles between axes, fields whose creation must succeed, a box, a
// tube.
#ifndef SN_TESTS_FIELD_FIELDS_H
#define SN_TESTS_FIELD_FIELDS_H

#include "support/test.h"

#include "field/field.h"

static const double PI = 3.14159265358979323846;

// The angle between two directions whose sense does not matter.
static inline double line_angle(sn_vec3 a, sn_vec3 b) {
    return atan2(sn_length(sn_cross(a, b)), fabs(sn_dot(a, b)));
}

// The largest angle between corresponding axes of two sets.
static inline double axes_angle(const double *a, const double *b, int32_t count) {
    double worst = 0;
    for (int32_t k = 0; k < 3 * count; k++) {
        worst = fmax(worst, line_angle(sn_load3(a + 3 * k), sn_load3(b + 3 * k)));
    }
    return worst;
}

static inline sinew_field *make_field(sinew_context *context, const sinew_field_def *def) {
    sinew_field *field = NULL;
    if (sinew_field_create(context, def, &field) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }
    return field;
}

// A box of 1 x 1 x 2 times `scale` around the origin.
static inline sinew_mesh *make_box(sinew_context *context, double scale, int32_t cells) {
    sinew_shape_def def = sinew_default_shape_def();
    def.size[0] = def.size[1] = scale;
    def.size[2] = 2 * scale;
    def.cells[0] = def.cells[1] = cells;
    def.cells[2] = 2 * cells;
    sinew_mesh *mesh;
    assert_int_equal(sinew_mesh_create_shape(context, &def, &mesh), SINEW_OK);

    return mesh;
}

static inline sinew_mesh *make_tube_of(sinew_context *context, double scale, int32_t across,
                                       int32_t round, int32_t along) {
    sinew_shape_def def = sinew_default_shape_def();
    def.shape = SINEW_SHAPE_TUBE;
    def.size[0] = def.size[1] = scale;
    def.size[2] = 2 * scale;
    def.thickness = 0.2 * scale;
    def.cells[0] = across;
    def.cells[1] = round;
    def.cells[2] = along;

    sinew_mesh *mesh;
    assert_int_equal(sinew_mesh_create_shape(context, &def, &mesh), SINEW_OK);

    return mesh;
}

static inline sinew_mesh *make_tube(sinew_context *context, double scale) {
    return make_tube_of(context, scale, 2, TEST_SANITIZED ? 14 : 32, TEST_SANITIZED ? 8 : 24);
}

enum { TUBE_CURVES = 4 };

// A field of a tube with up to TUBE_CURVES curves along it, a quarter turn from one to the next.
static inline sinew_field *make_tube_field(sinew_context *context, int32_t curve_count,
                                           sinew_field_unknowns unknowns,
                                           sinew_field_solver solver) {
    static const double points[TUBE_CURVES][6] = {{0.4, 0, -0.8, 0.38, 0.05, 0.8},
                                                  {0, 0.4, -0.8, -0.05, 0.38, 0.8},
                                                  {-0.4, 0, -0.8, -0.38, -0.05, 0.8},
                                                  {0, -0.4, -0.8, 0.05, -0.38, 0.8}};
    sinew_mesh *mesh = make_tube_of(context, 1, 2, 24, 16);
    sinew_curve_def curves[TUBE_CURVES];

    for (int32_t c = 0; c < curve_count; c++) {
        curves[c] = sinew_default_curve_def();
        curves[c].points = points[c];
        curves[c].point_count = 2;
    }

    sinew_field_def def = sinew_default_field_def();
    def.mesh = mesh;
    def.curves = curves;
    def.curve_count = curve_count;
    def.unknowns = unknowns;
    def.solver = solver;

    sinew_field *field = make_field(context, &def);
    sinew_mesh_destroy(mesh);

    return field;
}

#endif
