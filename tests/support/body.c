// Builds the beam of body.h, picks and moves its nodes, and lists material laws to test.
#include "support/body.h"

#include "support/test.h"

#include "math/quat.h"

#include <math.h>
#include <stdlib.h>

test_beam_def test_default_beam_def(void) {
    return (test_beam_def){
        .length = 1,
        .thickness = 0.2,
        .cells_along = 5,
        .cells_across = 1,
        .element = SINEW_ELEMENT_TET4,
        .material = sinew_default_material_def(),
        .world = sinew_default_world_def(),
        .threads = 1,
    };
}

test_beam test_beam_create(const test_beam_def *def) {
    test_beam bar = {.context = test_context(def->threads)};
    sinew_shape_def shape = sinew_default_shape_def();

    shape.element = def->element;
    shape.size[0] = def->length;
    shape.size[1] = shape.size[2] = def->thickness;
    shape.center[0] = 0.5 * def->length;
    shape.cells[0] = def->cells_along;
    shape.cells[1] = shape.cells[2] = def->cells_across;

    if (sinew_mesh_create_shape(bar.context, &shape, &bar.mesh) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(bar.context));
    }
    if (sinew_world_create(bar.context, &def->world, &bar.world) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(bar.context));
    }

    sinew_body_def body = sinew_default_body_def();
    body.name = "bar";
    body.mesh = bar.mesh;
    body.model = def->model;
    body.materials = &def->material;
    body.material_count = 1;
    body.mass = def->mass;
    body.mass_damping = def->mass_damping;
    body.stiffness_damping = def->stiffness_damping;

    if (sinew_body_create(bar.world, &body, &bar.body) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(bar.context));
    }

    return bar;
}

void test_beam_destroy(test_beam *bar) {
    sinew_world_destroy(bar->world);
    sinew_mesh_destroy(bar->mesh);
    sinew_context_destroy(bar->context);
}

int32_t test_pick_nodes(const sinew_body *body, int axis, double lower, double upper,
                        int32_t *nodes, int32_t capacity) {
    const double *X = sinew_body_get_rest_positions(body);
    int32_t count = 0;
    for (int32_t i = 0; i < sinew_body_get_node_count(body); i++) {
        if (X[3 * i + axis] < lower || X[3 * i + axis] > upper) {
            continue;
        }
        assert_true(count < capacity);
        nodes[count++] = i;
    }

    assert_true(count > 0);
    return count;
}

void test_clamp(sinew_body *body) {
    int32_t nodes[4096];
    int32_t count = test_pick_nodes(body, 0, -1e-9, 1e-9, nodes, 4096);
    assert_int_equal(sinew_body_fix_nodes(body, nodes, count, SINEW_AXIS_ALL), SINEW_OK);
}

void test_tip_displacement(const sinew_body *body, double length, double displacement[3]) {
    int32_t nodes[4096];
    int32_t count = test_pick_nodes(body, 0, length * (1 - 1e-9), length * (1 + 1e-9), nodes, 4096);
    const double *X = sinew_body_get_rest_positions(body);
    const double *x = sinew_body_get_positions(body);

    for (int k = 0; k < 3; k++) {
        displacement[k] = 0;
        for (int32_t i = 0; i < count; i++) {
            displacement[k] += (x[3 * nodes[i] + k] - X[3 * nodes[i] + k]) / count;
        }
    }
}

void test_rotate_positions(double *positions, int32_t count, double angle) {
    sn_quat q = sn_quat_exp(sn_scale(angle, sn_normalize(sn_v3(1, -2, 0.7))));
    for (int32_t i = 0; i < count; i++) {
        sn_store3(positions + 3 * i,
                  sn_add(sn_quat_rotate(q, sn_load3(positions + 3 * i)), sn_v3(0.3, -0.1, 2)));
    }
}

int32_t test_law_count(void) {
    return sinew_material_law_count() + 2;
}

sinew_material_def test_law(sinew_context *context, int32_t index) {
    sinew_material_def def = sinew_default_material_def();
    def.poisson = 0.3;

    int32_t count = sinew_material_law_count();
    const char *name = index < count    ? sinew_material_law_name(index)
                       : index == count ? "orthotropic"
                                        : "transverse";

    assert_int_equal(sinew_material_set_law(context, name, &def), SINEW_OK);
    def.orthotropic.young_2 = 3e6;
    def.orthotropic.young_3 = 7e6;
    if (index >= count) {
        def.strain = SINEW_STRAIN_GREEN;
    }

    return def;
}
