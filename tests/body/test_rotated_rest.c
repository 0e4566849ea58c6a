// Bodies placed with a rotation are at rest whatever their strain measure, respond as the unrotated
// ones do, and carry the axes of their material along; plane bodies stay in their plane.
#include "support/body.h"
#include "support/test.h"

#include "body/body.h"
#include "math/quat.h"

#include <math.h>
#include <stdlib.h>

typedef struct block {
    sinew_context *context;
    sinew_mesh *mesh;
    sinew_world *world;
    sinew_body *body;
} block;

static const double still[4] = {0, 0, 0, 1};
static const double oblique[4] = {0.3, -0.5, 0.2, 0.7};
static const double in_plane[4] = {0, 0, 0.6, 0.8};

static sinew_material_def linear_law(sinew_material_law law) {
    sinew_material_def material = sinew_default_material_def();
    material.law = law;
    material.strain = SINEW_STRAIN_INFINITESIMAL;
    material.young = 1e5;
    material.poisson = 0.3;
    material.orthotropic.young_1 = 9e5; // the other constants are the default ones
    material.transverse.young_fibre = 9e5;
    return material;
}

// One body; its material axes are rotated by 30 degrees about z.
static sinew_status make(block *made, sinew_element element, const sinew_material_def *material,
                         const double rotation[4], const double position[3]) {
    *made = (block){.context = test_context(1)};
    sinew_shape_def shape = sinew_default_shape_def();
    bool plane = element == SINEW_ELEMENT_TRIANGLE;

    shape.shape = plane ? SINEW_SHAPE_RECTANGLE : SINEW_SHAPE_BOX;
    shape.element = element;
    shape.cells[0] = 3;
    shape.cells[1] = shape.cells[2] = 2;
    assert_int_equal(sinew_mesh_create_shape(made->context, &shape, &made->mesh), SINEW_OK);

    sinew_world_def world = sinew_default_world_def();
    world.gravity[0] = world.gravity[1] = world.gravity[2] = 0;
    assert_int_equal(sinew_world_create(made->context, &world, &made->world), SINEW_OK);

    size_t count = (size_t)made->mesh->element_count;
    double *axes = calloc(9 * count, sizeof *axes);
    double c = cos(0.5), s = sin(0.5);
    for (size_t e = 0; e < count; e++) {
        memcpy(axes + 9 * e, (const double[9]){c, s, 0, -s, c, 0, 0, 0, 1}, 9 * sizeof *axes);
    }

    sinew_body_def def = sinew_default_body_def();
    def.mesh = made->mesh;
    def.materials = material;
    def.material_count = 1;
    def.material_axes = axes;
    memcpy(def.rotation, rotation, sizeof def.rotation);
    memcpy(def.position, position, sizeof def.position);

    sinew_status status = sinew_body_create(made->world, &def, &made->body);
    free(axes);
    return status;
}

static void drop(block *b) {
    sinew_world_destroy(b->world);
    sinew_mesh_destroy(b->mesh);
    sinew_context_destroy(b->context);
}

// Clamps one end, pulls the other with a rotated force, and solves.
static void pull(block *b, sn_quat R) {
    int32_t count = sinew_body_get_node_count(b->body);
    const double *X = sinew_body_get_rest_positions(b->body);
    double force[3];
    sn_store3(force, sn_quat_rotate(R, sn_v3(20, 35, 0)));

    for (int32_t i = 0; i < count; i++) {
        if (X[3 * i] < -0.499) {
            assert_int_equal(sinew_body_fix_nodes(b->body, &i, 1, SINEW_AXIS_ALL), SINEW_OK);
        } else if (X[3 * i] > 0.499) {
            assert_int_equal(sinew_body_set_forces(b->body, &i, 1, force), SINEW_OK);
        }
    }

    sinew_static_def statics = sinew_default_static_def();
    statics.newton_tolerance = 1e-12;
    assert_int_equal(sinew_world_solve_static(b->world, &statics, NULL), SINEW_OK);
}

static void check_law(sinew_element element, sinew_material_law law) {
    bool plane = element == SINEW_ELEMENT_TRIANGLE;
    const double *r = plane ? in_plane : oblique;
    const double origin[3] = {0, 0, 0}, away[3] = {0.7, -2, plane ? 0 : 1.3};
    sinew_material_def material = linear_law(law);
    block a, b;

    assert_int_equal(make(&a, element, &material, still, origin), SINEW_OK);
    assert_int_equal(make(&b, element, &material, r, away), SINEW_OK);

    // At rest where it was placed: rounding of moduli of 1e6 Pa, lengths of 1 m.
    sinew_measures measures;
    sinew_body_get_measures(b.body, &measures);
    test_close("energy of the placed body", measures.elastic_energy, 0, 1e-20 * 1e6);

    size_t n = (size_t)sn_body_size(b.body);
    double *force = calloc(n, sizeof *force);
    sinew_body_compute_elastic_forces(b.body, force);
    for (size_t i = 0; i < n; i++) {
        assert_true(fabs(force[i]) < 1e-13 * 1e6);
    }
    free(force);

    // The same force gives the same displacement.
    sn_quat R = sn_quat_normalize((sn_quat){r[0], r[1], r[2], r[3]});
    pull(&a, sn_quat_identity());
    pull(&b, R);

    const double *xa = sinew_body_get_positions(a.body);
    const double *xb = sinew_body_get_positions(b.body);
    const double *X = sinew_body_get_rest_positions(a.body);
    double largest = 0, moved = 0;
    for (int32_t i = 0; i < sinew_body_get_node_count(a.body); i++) {
        sn_vec3 expected = sn_add(sn_quat_rotate(R, sn_load3(xa + 3 * i)), sn_load3(away));
        largest = fmax(largest, sn_distance(expected, sn_load3(xb + 3 * i)));
        moved = fmax(moved, sn_distance(sn_load3(xa + 3 * i), sn_load3(X + 3 * i)));
    }
    assert_true(moved > 1e-4); // there is something to compare
    test_close("the same response, rotated", largest, 0, 1e-9 * moved);

    drop(&a);
    drop(&b);
}

static void test_placed_bodies_are_at_rest(void **state) {
    (void)state;
    const sinew_element elements[] = {SINEW_ELEMENT_TET4, SINEW_ELEMENT_TET10, SINEW_ELEMENT_HEX8,
                                      SINEW_ELEMENT_TRIANGLE};
    for (int e = 0; e < 4; e++) {
        check_law(elements[e], SINEW_MATERIAL_HOOKE);
        check_law(elements[e], SINEW_MATERIAL_ORTHOTROPIC);
        check_law(elements[e], SINEW_MATERIAL_TRANSVERSE);
    }
}

static void test_the_strain_stays_what_it_was(void **state) {
    (void)state;
    const double origin[3] = {0, 0, 0};
    sinew_material_def material = linear_law(SINEW_MATERIAL_HOOKE);
    sinew_material_def other = material;
    other.strain = SINEW_STRAIN_COROTATIONAL;
    block b;

    assert_int_equal(make(&b, SINEW_ELEMENT_TET4, &material, oblique, origin), SINEW_OK);
    assert_int_equal(sinew_body_set_material(b.body, 0, &other), SINEW_UNSUPPORTED);
    material.young *= 2;
    assert_int_equal(sinew_body_set_material(b.body, 0, &material), SINEW_OK);
    drop(&b);
}

static void test_plane_bodies_stay_in_their_plane(void **state) {
    (void)state;
    sinew_material_def material = sinew_default_material_def();
    const double origin[3] = {0, 0, 0}, above[3] = {0, 0, 0.1};
    const double about_x[4] = {0.2588190451025208, 0, 0, 0.9659258262890683};
    block b;

    assert_int_equal(make(&b, SINEW_ELEMENT_TRIANGLE, &material, about_x, origin),
                     SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(b.context), "about z only"));
    drop(&b);

    assert_int_equal(make(&b, SINEW_ELEMENT_TRIANGLE, &material, still, above),
                     SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(b.context), "position[2]"));
    drop(&b);

    assert_int_equal(make(&b, SINEW_ELEMENT_TRIANGLE, &material, in_plane, origin), SINEW_OK);
    sinew_measures measures;
    sinew_body_get_measures(b.body, &measures);
    test_close("energy", measures.elastic_energy, 0, 1e-20 * 1e6);
    drop(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_placed_bodies_are_at_rest),
        cmocka_unit_test(test_the_strain_stays_what_it_was),
        cmocka_unit_test(test_plane_bodies_stay_in_their_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
