// What the tests of fields share: angles between axes, fields that must come out, a tube.
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
    for (int32_t k = 0; k < 3 * count; k++) worst = fmax(worst, line_angle(sn_load3(a + 3 * k), sn_load3(b + 3 * k)));
    return worst;
}

static inline sinew_field *make_field(sinew_context *context, const sinew_field_def *def) {
    sinew_field *field = NULL;
    if (sinew_field_create(context, def, &field) != SINEW_OK) fail_msg("%s", sinew_context_message(context));
    return field;
}

static inline sinew_mesh *make_tube_of(sinew_context *context, double scale, int32_t across, int32_t round, int32_t along) {
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

#endif
