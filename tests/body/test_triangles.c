// Triangles in plane strain and plane stress, with every law and strain: forces are the energy's
// gradient, the matrix is the forces' derivative, rotations in the plane cost nothing, linear
// displacements are reproduced.
#include "support/body.h"
#include "support/test.h"

#include "body/body.h"

#include <math.h>
#include <stdlib.h>

typedef struct sheet {
    sinew_context *context;
    sinew_mesh *mesh;
    sinew_world *world;
    sinew_body *body;
} sheet;

static sheet make_sheet(int32_t law_index, sinew_plane plane) {
    sheet s = {.context = test_context(1)};
    sinew_shape_def shape = sinew_default_shape_def();

    shape.shape = SINEW_SHAPE_RECTANGLE;
    shape.element = SINEW_ELEMENT_TRIANGLE;
    shape.cells[0] = shape.cells[1] = 3;
    assert_int_equal(sinew_mesh_create_shape(s.context, &shape, &s.mesh), SINEW_OK);

    sinew_world_def world = sinew_default_world_def();
    world.gravity[2] = 0;
    assert_int_equal(sinew_world_create(s.context, &world, &s.world), SINEW_OK);

    sinew_material_def material = test_law(s.context, law_index);
    sinew_body_def def = sinew_default_body_def();

    def.mesh = s.mesh;
    def.materials = &material;
    def.material_count = 1;
    def.plane = plane;
    def.thickness = 0.02;
    assert_int_equal(sinew_body_create(s.world, &def, &s.body), SINEW_OK);

    return s;
}

static void drop_sheet(sheet *s) {
    sinew_world_destroy(s->world);
    sinew_mesh_destroy(s->mesh);
    sinew_context_destroy(s->context);
}

static void turn(double *q, int32_t count, double angle) {
    for (int32_t i = 0; i < count; i++) {
        double x = q[3 * i];
        double y = q[3 * i + 1];
        q[3 * i] = cos(angle) * x - sin(angle) * y;
        q[3 * i + 1] = sin(angle) * x + cos(angle) * y;
    }
}

// Random numbers in the plane.
static void fill_plane(double *x, int32_t rows, double size, uint64_t seed) {
    sn_random random = sn_random_seed(seed);
    for (int32_t i = 0; i < 3 * rows; i++) {
        x[i] = i % 3 < 2 ? sn_random_range(&random, -size, size) : 0;
    }
}

static double evaluate(sinew_body *body, const double *q, double *force, double *matrix) {
    if (force) {
        memset(force, 0, (size_t)sn_body_size(body) * sizeof *force);
    }
    sn_evaluation evaluation = {.q = q, .want_energy = true, .force = force, .matrix = matrix};
    body->ops->elasticity.evaluate(body, &evaluation);
    return evaluation.energy;
}

// Central differences along d with step h: of energies compared with the force, of forces with the
// matrix.
static void difference(sinew_body *body, const double *q, const double *d, double h,
                       double errors[2]) {
    size_t n = (size_t)sn_body_size(body);
    double *moved = calloc(n, sizeof *moved);
    double *force = calloc(n, sizeof *force);
    double *product = calloc(n, sizeof *product);
    double *plus = calloc(n, sizeof *plus);
    double *minus = calloc(n, sizeof *minus);
    double *A = calloc(sn_bsr_value_count(&body->pattern), sizeof *A);
    double slope = 0;

    evaluate(body, q, force, A);
    sn_bsr_mirror(body->context, &body->pattern, A);
    sn_bsr_multiply(body->context, &body->pattern, product, A, d);

    for (size_t i = 0; i < n; i++) {
        moved[i] = q[i] + h * d[i];
    }

    double high = evaluate(body, moved, plus, NULL);
    for (size_t i = 0; i < n; i++) {
        moved[i] = q[i] - h * d[i];
    }

    double low = evaluate(body, moved, minus, NULL);
    for (size_t i = 0; i < n; i++) {
        slope -= force[i] * d[i];
        plus[i] = (minus[i] - plus[i]) / (2 * h);
    }

    assert_true(fabs(slope) > 1e-3);
    errors[0] = fabs((high - low) / (2 * h) - slope) / fabs(slope);
    errors[1] = test_relative_error(plus, product, n);
    free(moved);
    free(force);
    free(product);
    free(plus);
    free(minus);
    free(A);
}

static void test_derivatives(void **state) {
    (void)state;
    for (int32_t l = 0; l < test_law_count(); l++) {
        for (int plane = SINEW_PLANE_STRAIN; plane <= SINEW_PLANE_STRESS; plane++) {
            sheet s = make_sheet(l, (sinew_plane)plane);
            int32_t rows = s.body->rows;
            double *q = calloc(3 * (size_t)rows, sizeof *q);
            double *d = calloc(3 * (size_t)rows, sizeof *d);
            double errors[2][2];

            fill_plane(q, rows, 0.04, 3);
            for (int32_t i = 0; i < 3 * rows; i++) {
                q[i] += s.body->rest[i];
            }

            turn(q, rows, 2.2);
            fill_plane(d, rows, 1, 5);
            difference(s.body, q, d, 1e-3, errors[0]);
            difference(s.body, q, d, 2e-6, errors[1]);

            for (int k = 0; k < 2; k++) {
                if (!(errors[1][k] < 1e-6)) {
                    fail_msg("law %d plane %d: %g", l, plane, errors[1][k]);
                }

                // Second order: the error falls with the square of the step, down to rounding.
                if (errors[0][k] > 1e-5) {
                    assert_true(errors[1][k] < errors[0][k] * 1e-2);
                }
            }

            free(q);
            free(d);
            drop_sheet(&s);
        }
    }
}

static void test_turning_is_free(void **state) {
    (void)state;
    // The first, the linear law, is not invariant under rotation.
    for (int32_t l = 1; l < test_law_count(); l++) {
        for (int plane = SINEW_PLANE_STRAIN; plane <= SINEW_PLANE_STRESS; plane++) {
            sheet s = make_sheet(l, (sinew_plane)plane);
            size_t n = (size_t)sn_body_size(s.body);
            double *q = calloc(n, sizeof *q);
            double *force = calloc(n, sizeof *force);
            memcpy(q, s.body->rest, n * sizeof *q);
            turn(q, s.body->rows, 2.9);
            evaluate(s.body, q, force, NULL);
            // The scale: modulus times the side of a cell times the thickness.
            for (size_t i = 0; i < n; i++) {
                assert_true(fabs(force[i]) < 1e-9 * 1e6 * 0.02 / 3);
            }
            free(q);
            free(force);
            drop_sheet(&s);
        }
    }
}

// Nodes on the rim follow an affine map; the static solve must bring the inner ones onto it.
static void test_patch(void **state) {
    (void)state;
    for (int plane = SINEW_PLANE_STRAIN; plane <= SINEW_PLANE_STRESS; plane++) {
        sheet s = make_sheet(1, (sinew_plane)plane);
        const double *X = sinew_body_get_rest_positions(s.body);
        int32_t count = sinew_body_get_node_count(s.body);
        int32_t inner = 0;
        sn_mat3 G = {{{1e-3, 2e-3, 0}, {4e-4, -2e-3, 0}, {0, 0, 0}}};

        for (int32_t i = 0; i < count; i++) {
            double target[3];
            sn_store3(target, sn_add(sn_load3(X + 3 * i), sn_mat3_apply(G, sn_load3(X + 3 * i))));

            bool rim = fabs(X[3 * i]) > 0.499 || fabs(X[3 * i + 1]) > 0.499;
            inner += !rim;

            if (!rim) {
                continue;
            }

            assert_int_equal(sinew_body_fix_nodes(s.body, &i, 1, SINEW_AXIS_ALL), SINEW_OK);
            assert_int_equal(sinew_body_move_nodes(s.body, &i, 1, target), SINEW_OK);
        }

        assert_true(inner > 0);
        sinew_static_def statics = sinew_default_static_def();

        statics.newton_tolerance = 1e-13;
        statics.newton_iterations = 30;
        assert_int_equal(sinew_world_solve_static(s.world, &statics, NULL), SINEW_OK);

        const double *x = sinew_body_get_positions(s.body);
        for (int32_t i = 0; i < count; i++) {
            sn_vec3 expected = sn_add(sn_load3(X + 3 * i), sn_mat3_apply(G, sn_load3(X + 3 * i)));
            assert_true(sn_distance(expected, sn_load3(x + 3 * i)) < 1e-12);
        }

        drop_sheet(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_turning_is_free),
        cmocka_unit_test(test_patch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
