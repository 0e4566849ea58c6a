// Recovered stresses: exact in homogeneous states for every element, exact for linear stress fields
// in ten-node tets, and at inner nodes of regular meshes of hexahedra.
#include "support/test.h"

#include "body/body.h"

#include <math.h>
#include <stdlib.h>

static const double young = 1e6, poisson = 0.3;

typedef struct block {
    sinew_context *context;
    sinew_mesh *mesh;
    sinew_world *world;
    sinew_body *body;
} block;

// A cube with edges of 1 m around the origin, of the linear law.
static block make(sinew_element element) {
    block b = {.context = test_context(1)};
    sinew_shape_def shape = sinew_default_shape_def();
    shape.shape = SINEW_SHAPE_BOX;
    shape.element = element;
    shape.cells[0] = shape.cells[1] = shape.cells[2] = 4;
    assert_int_equal(sinew_mesh_create_shape(b.context, &shape, &b.mesh), SINEW_OK);

    sinew_world_def world = sinew_default_world_def();
    assert_int_equal(sinew_world_create(b.context, &world, &b.world), SINEW_OK);

    sinew_material_def material = sinew_default_material_def();
    material.strain = SINEW_STRAIN_INFINITESIMAL;
    material.young = young;
    material.poisson = poisson;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = b.mesh;
    def.materials = &material;
    def.material_count = 1;
    assert_int_equal(sinew_body_create(b.world, &def, &b.body), SINEW_OK);
    return b;
}

static void drop(block *b) {
    sinew_world_destroy(b->world);
    sinew_mesh_destroy(b->mesh);
    sinew_context_destroy(b->context);
}

// u = (c x y + a z, 0, 0): strains xx = c y, xy = c x / 2, xz = a / 2.
static void move(sinew_body *body, double a, double c) {
    for (int32_t i = 0; i < body->rows; i++) {
        const double *X = body->rest + 3 * (size_t)i;
        body->q[3 * i] = X[0] + c * X[0] * X[1] + a * X[2];
        body->q[3 * i + 1] = X[1];
        body->q[3 * i + 2] = X[2];
    }
}

static void expect(double stress[6], const double *X, double a, double c) {
    double mu = young / (2 * (1 + poisson));
    double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    stress[0] = (lambda + 2 * mu) * c * X[1];
    stress[1] = stress[2] = lambda * c * X[1];
    stress[3] = 0;
    stress[4] = mu * a;
    stress[5] = mu * c * X[0];
}

static bool is_inner(const double *X) {
    return fabs(X[0]) < 0.499 && fabs(X[1]) < 0.499 && fabs(X[2]) < 0.499;
}

static int32_t check(sinew_element element, double a, double c, bool inner) {
    block b = make(element);
    double *stresses = calloc(6 * (size_t)b.body->rows, sizeof *stresses);
    int32_t compared = 0;

    move(b.body, a, c);
    assert_int_equal(sinew_body_compute_node_stresses(b.body, stresses), SINEW_OK);
    for (int32_t i = 0; i < b.body->rows; i++) {
        const double *X = b.body->rest + 3 * (size_t)i;
        double expected[6];
        if (inner && !is_inner(X)) {
            continue;
        }
        expect(expected, X, a, c);
        for (int k = 0; k < 6; k++) {
            // The Cauchy stress of strains of 1e-6 differs by their square, times the modulus.
            test_close("stress", stresses[6 * i + k], expected[k], 1e-11 * young);
        }
        compared++;
    }

    free(stresses);
    drop(&b);
    return compared;
}

// Ten-node tets have a node on every half cell but in the middles of the 64 cells.
static void test_homogeneous_stress(void **state) {
    (void)state;
    assert_int_equal(check(SINEW_ELEMENT_TET4, 2e-6, 0, false), 125);
    assert_int_equal(check(SINEW_ELEMENT_HEX8, 2e-6, 0, false), 125);
    assert_int_equal(check(SINEW_ELEMENT_TET10, 2e-6, 0, false), 665);
}

static void test_linear_stress(void **state) {
    (void)state;
    assert_int_equal(check(SINEW_ELEMENT_TET10, 1e-6, 3e-6, false), 665);
    assert_int_equal(check(SINEW_ELEMENT_HEX8, 1e-6, 3e-6, true), 27);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_homogeneous_stress),
        cmocka_unit_test(test_linear_stress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
