// Bars compared with beam theory: small deflection, the elastica, natural frequencies, uniaxial
// tension, gravity and reactions.
#include "support/body.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

// A transverse end load as a traction, summing to `force` along z.
static void load_tip(test_beam *bar, double length, double thickness, double force) {
    int32_t nodes[4096];
    int32_t count =
        test_pick_nodes(bar->body, 0, length * (1 - 1e-9), length * (1 + 1e-9), nodes, 4096);
    sinew_load_def load = sinew_default_load_def();
    load.nodes = nodes;
    load.node_count = count;
    load.traction[2] = force / (thickness * thickness);
    assert_int_equal(sinew_body_add_load(bar->body, &load, NULL), SINEW_OK);
}

static test_beam_def beam_def(sinew_element element, double thickness, int32_t along,
                              int32_t across) {
    test_beam_def def = test_default_beam_def();
    def.element = element;
    def.thickness = thickness;
    def.cells_along = along;
    def.cells_across = across;
    def.material.poisson = 0;
    def.world.gravity[2] = 0;

    return def;
}

static double small_deflection(sinew_element element, int32_t along, int32_t across) {
    double thickness = 0.1, E = 1e6, force = 1e-3;
    test_beam_def def = beam_def(element, thickness, along, across);
    test_beam bar = test_beam_create(&def);

    test_clamp(bar.body);
    load_tip(&bar, 1, thickness, force);

    sinew_static_def statics = sinew_default_static_def();
    sinew_step_report report;

    assert_int_equal(sinew_world_solve_static(bar.world, &statics, &report), SINEW_OK);
    assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);

    double tip[3];
    test_tip_displacement(bar.body, 1, tip);
    test_beam_destroy(&bar);

    // Timoshenko: bending and shear with the shear coefficient 5/6 of a rectangle.
    double I = pow(thickness, 4) / 12;
    double A = thickness * thickness;
    double G = E / 2;

    return tip[2] / (force / (3 * E * I) + force / (5.0 / 6 * G * A));
}

static void test_small_deflection(void **state) {
    (void)state;
    test_close("ten-node tets over beam theory", small_deflection(SINEW_ELEMENT_TET10, 20, 2), 1,
               0.01);
    // The error of hexahedra falls to a quarter with each halving.
    int32_t fine = TEST_SANITIZED ? 4 : 8;
    test_close("hexahedra over beam theory", small_deflection(SINEW_ELEMENT_HEX8, 10 * fine, fine),
               1, TEST_SANITIZED ? 0.08 : 0.02);
}

// Linear tets are too stiff, and their error falls with the square of the cell size.
static void test_linear_tets_converge(void **state) {
    (void)state;
    double coarse = 1 - small_deflection(SINEW_ELEMENT_TET4, 10, 1);
    double middle = 1 - small_deflection(SINEW_ELEMENT_TET4, 20, 2);
    double fine = 1 - small_deflection(SINEW_ELEMENT_TET4, 40, 4);
    assert_true(coarse > middle && middle > fine && fine > 0);
    double order = log2(middle / fine);
    print_message("linear tets: deflection short by %.3f, %.3f, %.3f; order %.2f\n", coarse, middle,
                  fine, order);
    assert_true(order > 1.0);
}

// End load P with P L^2 / (E I) = 1, 5, 10: tip displacements of the elastica (Mattiasson 1981).
static void test_elastica(void **state) {
    (void)state;
    const double ratio[] = {1, 5, 10};
    const double across[] = {0.30172, 0.71379, 0.81061};
    const double along[] = {0.05643, 0.38763, 0.55500};
    double thickness = 0.02;
    double E = 1e6;
    double I = pow(thickness, 4) / 12;

    for (int i = 0; i < (TEST_SANITIZED ? 1 : 3); i++) {
        test_beam_def def = beam_def(SINEW_ELEMENT_TET10, thickness, 40, 1);
        test_beam bar = test_beam_create(&def);

        test_clamp(bar.body);
        load_tip(&bar, 1, thickness, ratio[i] * E * I);

        sinew_static_def statics = sinew_default_static_def();
        statics.load_steps = 4;
        statics.newton_tolerance = 1e-7;

        sinew_step_report report;
        assert_int_equal(sinew_world_solve_static(bar.world, &statics, &report), SINEW_OK);
        assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);

        double tip[3];
        test_tip_displacement(bar.body, 1, tip);
        test_close("elastica, across", tip[2], across[i], 0.01 * across[i]);
        test_close("elastica, along", -tip[0], along[i], 0.01 * across[i]);
        test_beam_destroy(&bar);
    }
}

// First bending pairs of a slender clamped bar: (beta L)^2 sqrt(E I / rho A L^4) / 2 pi.
static void test_frequencies(void **state) {
    (void)state;
    double thickness = 0.05, E = 1e6, rho = 1000;
    test_beam_def def = beam_def(SINEW_ELEMENT_TET10, thickness, 24, 1);
    test_beam bar = test_beam_create(&def);

    test_clamp(bar.body);
    double f[4];
    double unit = sqrt(E * thickness * thickness / 12 / rho) / (2 * 3.14159265358979);

    assert_int_equal(sinew_body_compute_modes(bar.body, 4, f, NULL), SINEW_OK);
    double first = 1.875104 * 1.875104 * unit;
    double second = 4.694091 * 4.694091 * unit;

    test_close("first bending frequency", f[0], first, 0.01 * first);
    test_close("... in the other direction", f[1], first, 0.01 * first);

    // Shear and rotary inertia, which slender beam theory leaves out, take about 1 % off the second
    // at L/t = 20.
    test_close("second bending frequency", f[2], second, 0.02 * second);
    test_beam_destroy(&bar);
}

static void test_free_body_has_six_rigid_modes(void **state) {
    (void)state;
    test_beam_def def = beam_def(SINEW_ELEMENT_TET4, 0.2, 5, 1);
    test_beam bar = test_beam_create(&def);
    double f[8];

    assert_int_equal(sinew_body_compute_modes(bar.body, 8, f, NULL), SINEW_OK);

    for (int i = 0; i < 6; i++) {
        assert_true(f[i] == 0);
    }

    assert_true(f[6] > 0.1);
    test_beam_destroy(&bar);
}

// A bar hung under its own weight: elongation rho g L^2 / 2E, and the support carries all of it.
static void test_weight_and_reactions(void **state) {
    (void)state;
    test_beam_def def = beam_def(SINEW_ELEMENT_TET10, 0.1, 10, 1);

    def.material.young = 1e9;
    def.world.gravity[0] = 9.81;
    def.world.gravity[2] = 0;

    test_beam bar = test_beam_create(&def);
    test_clamp(bar.body);

    sinew_static_def statics = sinew_default_static_def();
    statics.newton_tolerance = 1e-10;
    assert_int_equal(sinew_world_solve_static(bar.world, &statics, NULL), SINEW_OK);

    double tip[3];
    double expected = 1000 * 9.81 / (2 * 1e9);

    test_tip_displacement(bar.body, 1, tip);
    test_close("elongation", tip[0], expected, 1e-3 * expected);

    int32_t n = sinew_body_get_node_count(bar.body);
    double *reaction = malloc(3 * (size_t)n * sizeof *reaction);
    double sum = 0;

    sinew_body_compute_reactions(bar.body, reaction);
    for (int32_t i = 0; i < n; i++) {
        sum += reaction[3 * i];
    }

    test_close("reaction", sum, -1000 * 0.01 * 9.81, 1e-6);
    free(reaction);
    test_beam_destroy(&bar);
}

// Plane stress and plane strain stretch of a strip against their moduli.
static void test_plane_problems(void **state) {
    (void)state;
    for (int plane = SINEW_PLANE_STRAIN; plane <= SINEW_PLANE_STRESS; plane++) {
        sinew_context *context = test_context(1);
        sinew_shape_def shape = sinew_default_shape_def();

        shape.shape = SINEW_SHAPE_RECTANGLE;
        shape.element = SINEW_ELEMENT_TRIANGLE;
        shape.cells[0] = shape.cells[1] = 4;

        sinew_mesh *mesh;
        assert_int_equal(sinew_mesh_create_shape(context, &shape, &mesh), SINEW_OK);

        sinew_world_def world_def = sinew_default_world_def();
        world_def.gravity[2] = 0;

        sinew_world *world;
        assert_int_equal(sinew_world_create(context, &world_def, &world), SINEW_OK);

        // A linear sheet.
        sinew_material_def material = sinew_default_material_def();
        material.strain = SINEW_STRAIN_INFINITESIMAL;
        material.poisson = 0.3;

        sinew_body_def def = sinew_default_body_def();
        def.mesh = mesh;
        def.materials = &material;
        def.material_count = 1;
        def.plane = (sinew_plane)plane;
        def.thickness = 0.02;

        sinew_body *body;
        assert_int_equal(sinew_body_create(world, &def, &body), SINEW_OK);

        // One side on rollers, the opposite one pulled.
        int32_t nodes[64];
        int32_t count = test_pick_nodes(body, 0, -0.51, -0.49, nodes, 64);

        assert_int_equal(sinew_body_fix_nodes(body, nodes, count, SINEW_AXIS_X), SINEW_OK);
        count = test_pick_nodes(body, 1, -0.51, -0.49, nodes, 64);
        assert_int_equal(sinew_body_fix_nodes(body, nodes, 1, SINEW_AXIS_ALL), SINEW_OK);
        count = test_pick_nodes(body, 0, 0.49, 0.51, nodes, 64);

        sinew_load_def load = sinew_default_load_def();
        load.nodes = nodes;
        load.node_count = count;
        load.traction[0] = 1000;
        assert_int_equal(sinew_body_add_load(body, &load, NULL), SINEW_OK);

        sinew_static_def statics = sinew_default_static_def();
        statics.newton_tolerance = 1e-11;
        assert_int_equal(sinew_world_solve_static(world, &statics, NULL), SINEW_OK);

        // The extension follows the modulus of the plane state.
        double modulus = plane == SINEW_PLANE_STRESS ? 1e6 : 1e6 / (1 - 0.09);
        const double *x = sinew_body_get_positions(body);
        const double *X = sinew_body_get_rest_positions(body);

        test_close("extension", x[3 * nodes[0]] - X[3 * nodes[0]], 1000 / modulus, 1e-9);
        sinew_world_destroy(world);
        sinew_mesh_destroy(mesh);
        sinew_context_destroy(context);
    }
}

// Bent by 40 % of its length, a nearly incompressible bar needs a few full steps uphill; a search
// that only ever goes down takes 75 iterations.
static void test_large_rotations_converge_fast(void **state) {
    (void)state;
    test_beam_def def = beam_def(SINEW_ELEMENT_TET10, 0.2, 5, 1);
    def.material.poisson = 0.4999;
    def.world.solver = SINEW_SOLVER_DIRECT;
    test_beam bar = test_beam_create(&def);
    test_clamp(bar.body);
    load_tip(&bar, 1, 0.2, -200);

    sinew_static_def statics = sinew_default_static_def();
    sinew_step_report report;
    double tip[3];
    statics.load_steps = 1;
    assert_int_equal(sinew_world_solve_static(bar.world, &statics, &report), SINEW_OK);
    test_tip_displacement(bar.body, 1, tip);
    print_message("%d iterations, %g m\n", report.newton_iterations, tip[2]);
    assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);
    assert_true(tip[2] < -0.3 && report.newton_iterations <= 20);
    test_beam_destroy(&bar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_deflection),
        cmocka_unit_test(test_linear_tets_converge),
        cmocka_unit_test(test_elastica),
        cmocka_unit_test(test_frequencies),
        cmocka_unit_test(test_free_body_has_six_rigid_modes),
        cmocka_unit_test(test_weight_and_reactions),
        cmocka_unit_test(test_plane_problems),
        cmocka_unit_test(test_large_rotations_converge_fast),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
