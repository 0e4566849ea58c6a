// Averaged dilatation: forces are the energy's gradient and the matrix is their derivative at
// rotated, strongly deformed states; rigid motions cost nothing; homogeneous strains feel the law
// alone; nearly incompressible blocks do not lock; all laws converge and agree for small loads; the
// same bits for every number of threads.
#include "support/body.h"
#include "support/hash.h"
#include "support/test.h"

#include "body/body.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct block {
    sinew_mesh *mesh;
    sinew_world *world;
    sinew_body *body;
} block;

static const sinew_element elements[] = {SINEW_ELEMENT_TET4, SINEW_ELEMENT_TET10,
                                         SINEW_ELEMENT_HEX8, SINEW_ELEMENT_TRIANGLE};

static block make(sinew_context *context, sinew_element element, int32_t law, double poisson,
                  sinew_volume volume, int32_t cells) {
    block b;
    sinew_shape_def shape = sinew_default_shape_def();
    shape.shape = element == SINEW_ELEMENT_TRIANGLE ? SINEW_SHAPE_RECTANGLE : SINEW_SHAPE_BOX;
    shape.element = element;
    shape.cells[0] = shape.cells[1] = shape.cells[2] = cells;
    assert_int_equal(sinew_mesh_create_shape(context, &shape, &b.mesh), SINEW_OK);

    sinew_world_def world = sinew_default_world_def();
    world.gravity[0] = world.gravity[1] = world.gravity[2] = 0;
    assert_int_equal(sinew_world_create(context, &world, &b.world), SINEW_OK);

    sinew_material_def material = test_law(context, law);
    material.poisson = poisson;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = b.mesh;
    def.materials = &material;
    def.material_count = 1;
    def.volume = volume;
    assert_int_equal(sinew_body_create(b.world, &def, &b.body), SINEW_OK);
    return b;
}

static void drop(block *b) {
    sinew_world_destroy(b->world);
    sinew_mesh_destroy(b->mesh);
}

static double evaluate(sinew_body *body, const double *q, double *force, double *matrix,
                       bool projected) {
    if (force) {
        memset(force, 0, (size_t)sn_body_size(body) * sizeof *force);
    }
    sn_evaluation evaluation = {
        .q = q, .want_energy = true, .force = force, .matrix = matrix, .projected = projected};
    body->ops->elasticity.evaluate(body, &evaluation);
    return evaluation.energy;
}

// A random deformation of the size of a third of a cell, then rotated; in the plane for triangles.
static void deform(const sinew_body *body, double *q, double size, double angle, uint64_t seed) {
    sn_random random = sn_random_seed(seed);
    bool plane = body->mesh.element == SINEW_ELEMENT_TRIANGLE;
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        double step = sn_random_range(&random, -size, size);
        q[i] = body->rest[i] + (plane && i % 3 == 2 ? 0 : step);
    }

    if (!plane) {
        test_rotate_positions(q, body->rows, angle);
        return;
    }
    for (int32_t i = 0; i < body->rows; i++) {
        double x = q[3 * i], y = q[3 * i + 1];
        q[3 * i] = cos(angle) * x - sin(angle) * y;
        q[3 * i + 1] = sin(angle) * x + cos(angle) * y;
    }
}

static void difference(sinew_body *body, const double *q, const double *d, double h,
                       double errors[2]) {
    size_t n = (size_t)sn_body_size(body);
    double *room = calloc(5 * n, sizeof *room);
    double *moved = room, *force = room + n, *product = room + 2 * n;
    double *plus = room + 3 * n, *minus = room + 4 * n;
    double *A = calloc(sn_bsr_value_count(&body->pattern), sizeof *A);
    double slope = 0;

    evaluate(body, q, force, A, false);
    sn_bsr_mirror(body->context, &body->pattern, A);
    sn_bsr_multiply(body->context, &body->pattern, product, A, d);

    for (size_t i = 0; i < n; i++) {
        moved[i] = q[i] + h * d[i];
    }
    double high = evaluate(body, moved, plus, NULL, false);
    for (size_t i = 0; i < n; i++) {
        moved[i] = q[i] - h * d[i];
    }
    double low = evaluate(body, moved, minus, NULL, false);

    for (size_t i = 0; i < n; i++) {
        slope -= force[i] * d[i];
        plus[i] = (minus[i] - plus[i]) / (2 * h);
    }
    assert_true(fabs(slope) > 1e-3);
    errors[0] = fabs((high - low) / (2 * h) - slope) / fabs(slope);
    errors[1] = test_relative_error(plus, product, n);
    free(room);
    free(A);
}

static void test_derivatives(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int e = 0; e < 4; e++) {
        for (int32_t l = 0; l < test_law_count(); l++) {
            block b = make(context, elements[e], l, 0.49, SINEW_VOLUME_AVERAGED, 2);
            size_t n = (size_t)sn_body_size(b.body);
            double *q = calloc(2 * n, sizeof *q), *d = q + n;
            double errors[2][2];

            deform(b.body, q, 0.05, 2.2, 3 + (uint64_t)l);
            deform(b.body, d, 1, 0, 5);
            for (size_t i = 0; i < n; i++) {
                d[i] -= b.body->rest[i];
            }
            difference(b.body, q, d, 1e-3, errors[0]);
            difference(b.body, q, d, 2e-6, errors[1]);

            for (int k = 0; k < 2; k++) {
                if (!(errors[1][k] < 1e-6)) {
                    fail_msg("element %d law %d: %g, %g", e, l, errors[0][k], errors[1][k]);
                }
                // Second order: the error falls with the square of the step, down to rounding.
                if (errors[0][k] > 1e-5) {
                    assert_true(errors[1][k] < errors[0][k] * 1e-2);
                }
            }

            free(q);
            drop(&b);
        }
    }
    sinew_context_destroy(context);
}

static void test_projected_matrices_are_semidefinite(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int e = 0; e < 4; e++) {
        for (int32_t l = 0; l < test_law_count(); l++) {
            block b = make(context, elements[e], l, 0.49, SINEW_VOLUME_AVERAGED, 2);
            size_t n = (size_t)sn_body_size(b.body);
            double *q = calloc(3 * n, sizeof *q), *d = q + n, *product = q + 2 * n;
            double *A = calloc(sn_bsr_value_count(&b.body->pattern), sizeof *A);

            deform(b.body, q, 0.08, 1.2, 11);
            evaluate(b.body, q, NULL, A, true);
            sn_bsr_mirror(context, &b.body->pattern, A);
            for (uint64_t seed = 1; seed < 40; seed++) {
                double size = 0, energy = 0;
                deform(b.body, d, 1, 0, seed);
                sn_bsr_multiply(context, &b.body->pattern, product, A, d);
                for (size_t i = 0; i < n; i++) {
                    energy += d[i] * product[i];
                    size += fabs(d[i] * product[i]);
                }
                assert_true(energy > -1e-9 * size);
            }

            free(A);
            free(q);
            drop(&b);
        }
    }
    sinew_context_destroy(context);
}

static void test_rigid_motions_are_free(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int e = 0; e < 4; e++) {
        for (int32_t l = 1; l < test_law_count(); l++) { // all but the linear law
            block b = make(context, elements[e], l, 0.4999, SINEW_VOLUME_AVERAGED, 2);
            size_t n = (size_t)sn_body_size(b.body);
            double *q = calloc(2 * n, sizeof *q), *force = q + n;
            deform(b.body, q, 0, 2.9, 1);
            evaluate(b.body, q, force, NULL, false);
            for (size_t i = 0; i < n; i++) {
                assert_true(fabs(force[i]) < 1e-12 * 1e10); // bulk moduli are up to 1e10 Pa
            }
            free(q);
            drop(&b);
        }
    }
    sinew_context_destroy(context);
}

// Where the strain is the same everywhere, energy and forces are those of the standard elements.
static void test_homogeneous_strains_feel_the_law(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_mat3 G = {{{1.2, 0.3, 0}, {-0.1, 0.9, 0}, {0, 0, 1}}};
    for (int e = 0; e < 4; e++) {
        for (int32_t l = 0; l < test_law_count(); l++) {
            block a = make(context, elements[e], l, 0.49, SINEW_VOLUME_STANDARD, 3);
            block b = make(context, elements[e], l, 0.49, SINEW_VOLUME_AVERAGED, 3);
            size_t n = (size_t)sn_body_size(a.body);
            double *q = calloc(3 * n, sizeof *q), *f = q + n, *g = q + 2 * n;
            for (int32_t i = 0; i < a.body->rows; i++) {
                sn_store3(q + 3 * i, sn_mat3_apply(G, sn_load3(a.body->rest + 3 * i)));
            }

            double one = evaluate(a.body, q, f, NULL, false);
            double two = evaluate(b.body, q, g, NULL, false);
            test_close("energy", two / one, 1, 1e-11);
            assert_true(test_relative_error(g, f, n) < 1e-10);

            free(q);
            drop(&a);
            drop(&b);
        }
    }
    sinew_context_destroy(context);
}

// Nothing changes at a Poisson ratio of 0.3, to the last bit.
static void test_ordinary_solids_do_not_change(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int e = 1; e < 3; e++) {
        block a = make(context, elements[e], 1, 0.29, SINEW_VOLUME_STANDARD, 2);
        block b = make(context, elements[e], 1, 0.29, SINEW_VOLUME_AVERAGED, 2);
        size_t n = (size_t)sn_body_size(a.body);
        double *q = calloc(3 * n, sizeof *q), *f = q + n, *g = q + 2 * n;
        deform(a.body, q, 0.05, 1, 2);
        assert_true(evaluate(a.body, q, f, NULL, false) == evaluate(b.body, q, g, NULL, false));
        assert_memory_equal(f, g, n * sizeof *f);
        free(q);
        drop(&a);
        drop(&b);
    }
    sinew_context_destroy(context);
}

// A block on a floor that it sticks to, pressed from above by nodes that may not move sideways: the
// middle bulges. Returns the force over the displacement.
static double press(sinew_element element, int32_t law, double poisson, sinew_volume volume,
                    int32_t cells, double depth) {
    sinew_context *context = test_context(1);
    block b = make(context, element, law, poisson, volume, cells);
    const double *X = sinew_body_get_rest_positions(b.body);
    int32_t count = sinew_body_get_node_count(b.body);

    for (int32_t i = 0; i < count; i++) {
        if (fabs(X[3 * i + 1]) < 0.499) {
            continue;
        }
        double down = X[3 * i + 1] > 0 ? depth : 0;
        double target[3] = {X[3 * i], X[3 * i + 1] - down, X[3 * i + 2]};
        assert_int_equal(sinew_body_fix_nodes(b.body, &i, 1, SINEW_AXIS_ALL), SINEW_OK);
        assert_int_equal(sinew_body_move_nodes(b.body, &i, 1, target), SINEW_OK);
    }

    sinew_static_def statics = sinew_default_static_def();
    sinew_step_report report;
    statics.load_steps = depth > 0.01 ? 4 : 1;
    statics.newton_iterations = 20;
    assert_int_equal(sinew_world_solve_static(b.world, &statics, &report), SINEW_OK);
    if (report.outcome != SINEW_OUTCOME_CONVERGED) {
        fail_msg("element %d, law %d, Poisson ratio %g, depth %g: %s", element, law, poisson, depth,
                 sinew_outcome_name(report.outcome));
    }

    double *reactions = calloc(3 * (size_t)count, sizeof *reactions);
    double force = 0;
    sinew_body_compute_reactions(b.body, reactions);
    for (int32_t i = 0; i < count; i++) {
        force += X[3 * i + 1] > 0.499 ? reactions[3 * i + 1] : 0;
    }

    free(reactions);
    drop(&b);
    sinew_context_destroy(context);
    return -force / depth;
}

// Against a fine mesh of standard ten-node tets. The error of averaged linear tets with three cells
// is large, but they converge: it falls at least with the first power of the size of the cells. The
// others are as close as the reference is to its own limit, 3 %, which CalculiX with quadratic
// hexahedra confirms (docs/theory/elements.md). The error of standard elements is ten times as
// large.
static void test_incompressible_blocks_do_not_lock(void **state) {
    (void)state;
    const sinew_volume standard = SINEW_VOLUME_STANDARD, averaged = SINEW_VOLUME_AVERAGED;
    double reference = press(SINEW_ELEMENT_TET10, 0, 0.4999, standard, 6, 1e-3);
    for (int e = 0; e < 3; e++) {
        double coarse = press(elements[e], 0, 0.4999, averaged, 3, 1e-3) / reference - 1;
        double fine = press(elements[e], 0, 0.4999, averaged, 6, 1e-3) / reference - 1;
        print_message("element %d: %+.3f, %+.3f of %g N/m\n", e, coarse, fine, reference);
        assert_true(fabs(fine) < 0.03 || fine < 0.5 * coarse);
        if (elements[e] == SINEW_ELEMENT_TET10) {
            continue;
        }

        double locked = press(elements[e], 0, 0.4999, standard, 6, 1e-3) / reference - 1;
        assert_true(locked > 10 * fabs(fine));
    }
}

// Every law converges, and approaches the linear one with the first power of the load.
static void test_laws_approach_the_linear_one(void **state) {
    (void)state;
    const double ratios[2] = {0.49, 0.4999};
    for (int e = 0; e < 3; e++) {
        int32_t cells = elements[e] == SINEW_ELEMENT_TET10 ? 2 : 3;
        for (int k = 0; k < 2; k++) {
            double linear = press(elements[e], 0, ratios[k], SINEW_VOLUME_AVERAGED, cells, 1e-3);
            for (int32_t l = 1; l < 7; l++) {
                double small = press(elements[e], l, ratios[k], SINEW_VOLUME_AVERAGED, cells, 1e-4);
                double large = press(elements[e], l, ratios[k], SINEW_VOLUME_AVERAGED, cells, 1e-3);
                double slope = (large - linear) / (small - linear);
                if (!(slope > 9 && slope < 11)) {
                    fail_msg("element %d, law %d, ratio %g: %g, %g of %g N/m", e, l, ratios[k],
                             small, large, linear);
                }
            }
        }
    }
}

// Pressed by a tenth of its height, a block of averaged elements approaches the same block of
// standard ten-node tets: with half the size of the cells the difference is less than half.
static void test_laws_at_large_strains(void **state) {
    (void)state;
    const double depth = 0.1;
    for (int32_t l = 1; l < (TEST_SANITIZED ? 2 : 7); l++) {
        double hex[2], tet[2];
        for (int k = 0; k < 2; k++) {
            int32_t cells = 2 << k;
            double reference =
                press(SINEW_ELEMENT_TET10, l, 0.4999, SINEW_VOLUME_STANDARD, cells, depth);
            tet[k] = press(SINEW_ELEMENT_TET10, l, 0.4999, SINEW_VOLUME_AVERAGED, cells, depth);
            hex[k] = press(SINEW_ELEMENT_HEX8, l, 0.4999, SINEW_VOLUME_AVERAGED, 2 * cells, depth);
            tet[k] = fabs(tet[k] / reference - 1);
            hex[k] = fabs(hex[k] / reference - 1);
        }
        print_message("law %d: ten-node tets %.3f, %.3f, hexahedra %.3f, %.3f\n", l, tet[0], tet[1],
                      hex[0], hex[1]);
        assert_true(tet[1] < 0.5 * tet[0] && hex[1] < 0.5 * hex[0]);

        // Linear tets converge too (press), to a block that is too stiff with so few cells.
        press(SINEW_ELEMENT_TET4, l, 0.4999, SINEW_VOLUME_AVERAGED, 4, depth);
    }
}

// By default the elements that lock are averaged, and no others. One of two bodies presses as the
// automatic one does, the other does not.
static void test_automatic_choice(void **state) {
    (void)state;
    const struct {
        sinew_element element;
        double poisson;
        bool averaged;
    } cases[] = {{SINEW_ELEMENT_HEX8, 0.45, false},  {SINEW_ELEMENT_HEX8, 0.46, true},
                 {SINEW_ELEMENT_TET10, 0.45, false}, {SINEW_ELEMENT_TET10, 0.46, true},
                 {SINEW_ELEMENT_TET4, 0.49, false},  {SINEW_ELEMENT_TET4, 0.495, true}};

    assert_int_equal(sinew_default_body_def().volume, SINEW_VOLUME_AUTO);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sinew_element element = cases[i].element;
        double poisson = cases[i].poisson;
        double standard = press(element, 1, poisson, SINEW_VOLUME_STANDARD, 2, 1e-3);
        double averaged = press(element, 1, poisson, SINEW_VOLUME_AVERAGED, 2, 1e-3);
        double automatic = press(element, 1, poisson, SINEW_VOLUME_AUTO, 2, 1e-3);
        assert_true(fabs(standard - averaged) > 1e-3 * averaged);
        assert_true(automatic == (cases[i].averaged ? averaged : standard));
    }
}

// A custom law has no volume strain that could be averaged.
static void custom_law(void *user, const double F[9], const double frame[9], double *energy,
                       double *P, double *H) {
    (void)user, (void)F, (void)frame, (void)energy, (void)P, (void)H;
}

static void test_custom_laws_are_refused(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    block b = make(context, SINEW_ELEMENT_TET4, 0, 0.49, SINEW_VOLUME_AVERAGED, 1);
    sinew_material_def material = sinew_default_material_def();
    material.law = SINEW_MATERIAL_CUSTOM;
    material.custom.evaluate = custom_law;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = b.mesh;
    def.materials = &material;
    def.material_count = 1;
    def.volume = SINEW_VOLUME_AVERAGED;

    sinew_body *body = NULL;
    assert_int_equal(sinew_body_create(b.world, &def, &body), SINEW_UNSUPPORTED);
    assert_non_null(strstr(sinew_context_message(context), "custom"));
    assert_int_equal(sinew_body_set_material(b.body, 0, &material), SINEW_UNSUPPORTED);

    drop(&b);
    sinew_context_destroy(context);
}

static uint64_t simulate(sinew_context *context, void *user) {
    const sinew_element *element = user;
    block b = make(context, *element, 2, 0.49, SINEW_VOLUME_AVERAGED, 6);
    size_t n = (size_t)sn_body_size(b.body);
    double *q = calloc(2 * n, sizeof *q), *force = q + n;
    size_t values = sn_bsr_value_count(&b.body->pattern);
    double *A = calloc(values, sizeof *A);

    deform(b.body, q, 0.03, 1, 4);
    evaluate(b.body, q, force, A, true);
    uint64_t hash = test_hash(TEST_HASH_START, force, n * sizeof *force);
    hash = test_hash(hash, A, values * sizeof *A);

    free(A);
    free(q);
    drop(&b);
    return hash;
}

static void test_the_same_bits_for_all_threads(void **state) {
    (void)state;
    for (int e = 0; e < 4; e++) {
        sinew_element element = elements[e];
        test_over_threads("averaged dilatation", simulate, &element);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_projected_matrices_are_semidefinite),
        cmocka_unit_test(test_rigid_motions_are_free),
        cmocka_unit_test(test_homogeneous_strains_feel_the_law),
        cmocka_unit_test(test_ordinary_solids_do_not_change),
        cmocka_unit_test(test_incompressible_blocks_do_not_lock),
        cmocka_unit_test(test_laws_approach_the_linear_one),
        cmocka_unit_test(test_laws_at_large_strains),
        cmocka_unit_test(test_automatic_choice),
        cmocka_unit_test(test_custom_laws_are_refused),
        cmocka_unit_test(test_the_same_bits_for_all_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
