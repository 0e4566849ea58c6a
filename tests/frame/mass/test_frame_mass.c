// Mass of frame bodies: the matrix and its product agree, consistent mass gives the kinetic energy
// of the blended motion, gyroscopic terms conserve both momenta, negative weights work, and the
// automatic choice is as documented.
#include "support/test.h"

#include "sinew/sinew.h"

#include "body/body.h"
#include "frame/body/frame_body.h"
#include "geom/voxel/voxel.h"
#include "linalg/dense.h"

#include <math.h>
#include <stdlib.h>

typedef struct fixture {
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
} fixture;

static const sinew_node_kind mixed[4] = {SINEW_NODE_RIGID, SINEW_NODE_QUADRATIC, SINEW_NODE_AFFINE,
                                         SINEW_NODE_RIGID};

static sinew_status try_make(fixture *f, sinew_context *context, sinew_weights weights,
                             sinew_frame_mass mass) {
    *f = (fixture){.context = context};
    sinew_solid_def solid = sinew_default_solid_def();

    solid.solid = SINEW_SOLID_BOX;
    solid.size[0] = 1;
    solid.size[1] = 0.2;
    solid.size[2] = 0.2;

    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.spacing[0] = grid.spacing[1] = grid.spacing[2] = 0.05;
    SN_TRY(sinew_voxels_create_from_solids(f->context, &solid, 1, &grid, &f->voxels));

    sinew_world_def world = sinew_default_world_def();
    world.solver = SINEW_SOLVER_DENSE;
    SN_TRY(sinew_world_create(f->context, &world, &f->world));

    sinew_frame_node nodes[4];
    for (int i = 0; i < 4; i++) {
        nodes[i] = (sinew_frame_node){mixed[i], {-0.45 + 0.3 * i, 0.02 * i, 0}};
    }

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = f->voxels;
    def.nodes = nodes;
    def.node_count = 4;
    def.weights.kind = weights;
    def.sampling.kind = SINEW_SAMPLING_MIDPOINT;
    def.mass = mass;

    return sinew_frame_body_create(f->world, &def, &f->body);
}

static fixture make(sinew_weights weights, sinew_frame_mass mass) {
    fixture f;
    if (try_make(&f, test_context(1), weights, mass) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f.context));
    }
    return f;
}

static void destroy(fixture *f) {
    if (f->world) {
        sinew_world_destroy(f->world);
    }
    if (f->voxels) {
        sinew_voxels_destroy(f->voxels);
    }

    sinew_context_destroy(f->context);
}

// A rotated and deformed state with random rates.
static void stir(sinew_body *body) {
    const sn_frame_model *model = body->model;
    sn_random random = sn_random_seed(77);
    double *xi = calloc((size_t)sn_body_size(body), sizeof *xi);
    double *turned = calloc((size_t)body->config_count, sizeof *turned);

    sn_nodes_place(&model->nodes, turned, sn_quat_exp(sn_v3(1.1, -0.7, 1.9)), sn_v3(0.3, 1, -2));
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        xi[i] = sn_random_range(&random, -0.1, 0.1);
    }

    sn_body_retract(body, body->q, turned, xi);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        body->v[i] = sn_random_range(&random, -2, 2);
    }

    free(xi);
    free(turned);
}

static const sinew_frame_mass kinds[3] = {SINEW_FRAME_MASS_ROW_SUM, SINEW_FRAME_MASS_CONSISTENT,
                                          SINEW_FRAME_MASS_DIAGONAL};

// The whole matrix M, both triangles, dense.
static double *dense_mass(sinew_body *body) {
    size_t n = (size_t)sn_body_size(body);
    double *A = calloc(sn_bsr_value_count(&body->pattern), sizeof *A);
    double *dense = calloc(n * n, sizeof *dense);
    body->ops->motion.add_mass(body, &body->pattern, A, 1, body->q);
    sn_bsr_mirror(body->context, &body->pattern, A);
    sn_bsr_to_dense(&body->pattern, dense, A);
    free(A);

    return dense;
}

static void test_matrix_and_product(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        fixture f = make(SINEW_WEIGHTS_AXIS_LINEAR, kinds[kind]);
        stir(f.body);

        size_t n = (size_t)sn_body_size(f.body);
        double *M = dense_mass(f.body);
        double *y = calloc(n, sizeof *y);
        double *z = calloc(n, sizeof *z);

        f.body->ops->motion.multiply_mass(f.body, y, f.body->v, f.body->q);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                z[i] += M[i * n + j] * f.body->v[j];
            }
        }

        assert_true(test_relative_error(y, z, n) < 1e-12);
        assert_int_equal(sn_dense_cholesky(M, (int32_t)n, (int32_t)n), -1); // positive definite
        free(M);
        free(y);
        free(z);
        destroy(&f);
    }
}

// Consistent mass: half the sum of rho v^2 over finely divided voxels with the voxels' constant
// weights.
static void test_consistent_energy(void **state) {
    (void)state;
    for (int cubic = 0; cubic < 2; cubic++) {
        fixture f = make(cubic ? SINEW_WEIGHTS_AXIS_CUBIC : SINEW_WEIGHTS_AXIS_LINEAR,
                         SINEW_FRAME_MASS_CONSISTENT);

        stir(f.body);
        const sn_frame_model *model = f.body->model;
        const sn_weight_table *table = &model->shape->table;

        sn_nodes_compute_controls(&model->nodes, f.body->q, model->blend.controls);
        static const double gauss[3] = {-0.3872983346207417, 0, 0.3872983346207417};
        static const double weight[3] = {5. / 18, 4. / 9, 5. / 18};
        double energy = 0;

        for (int32_t v = 0; v < f.voxels->count; v++) {
            for (int p = 0; p < 27; p++) { // exact to degree 5, and the square of a quadratic has 4
                sn_vec3 d = sn_scale(0.05, sn_v3(gauss[p % 3], gauss[p / 3 % 3], gauss[p / 9]));

                sn_vec3 X = sn_add(sn_voxel_center(f.voxels, v), d);
                sn_vec3 rate = sn_v3(0, 0, 0);
                for (int64_t k = table->start[v]; k < table->start[v + 1]; k++) {
                    const sn_node *node = &model->nodes.items[table->node[k]];
                    double m[SN_NODE_MAX_CONTROLS];
                    sn_rest_point at = sn_rest_point_at(X);
                    sn_node_monomials(node, &at, m, NULL);
                    for (int32_t c = 0; c < node->control_count; c++) {
                        sn_vec3 u =
                            sn_load3(f.body->v + 3 * (node->row + sn_node_row_of_control(node, c)));
                        sn_vec3 a = sn_load3(model->blend.controls + 3 * (node->control + c));
                        rate = sn_madd(rate, table->weight[k] * m[c],
                                       sn_node_control_turns(node, c) ? sn_cross(u, a) : u);
                    }
                }
                energy += weight[p % 3] * weight[p / 3 % 3] * weight[p / 9] * 0.5 * 1000 *
                          f.voxels->volume * sn_dot(rate, rate);
            }
        }

        sinew_measures measures;
        sinew_body_get_measures(f.body, &measures);
        test_close("kinetic energy", measures.kinetic_energy, energy, 1e-11 * energy);
        destroy(&f);
    }
}

// Without elastic forces or gravity both momenta are conserved: their rates vanish with the step,
// at second order.
static void test_turning_keeps_momenta(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        fixture f = make(SINEW_WEIGHTS_AXIS_LINEAR, kinds[kind]);
        stir(f.body);

        const sn_frame_model *model = f.body->model;
        int32_t n = sn_body_size(f.body);
        double *M = dense_mass(f.body);
        double *a = calloc((size_t)n, sizeof *a);
        double *q = calloc((size_t)f.body->config_count, sizeof *q);
        double *xi = calloc((size_t)n, sizeof *xi);
        double *v = calloc((size_t)n, sizeof *v);
        double g[3] = {0};
        double error[2];

        sn_frame_mass_add_gravity(&model->nodes, model->mass, a, g, f.body->q, f.body->v, NULL);
        assert_int_equal(sn_dense_cholesky(M, n, n), -1);
        sn_dense_cholesky_solve(M, n, n, a);

        for (int trial = 0; trial < 2; trial++) {
            sn_frame_momenta side[2];
            double h = trial ? 1e-4 : 2e-4;
            for (int s = 0; s < 2; s++) {
                double t = s ? h : -h;
                for (int32_t i = 0; i < n; i++) {
                    xi[i] = t * f.body->v[i];
                    v[i] = f.body->v[i] + t * a[i];
                }

                sn_body_retract(f.body, q, f.body->q, xi);
                sn_frame_mass_compute_momenta(&model->nodes, model->mass, q, v, &side[s]);
            }

            sn_vec3 P = sn_sub(sn_load3(side[1].momentum), sn_load3(side[0].momentum));
            sn_vec3 L =
                sn_sub(sn_load3(side[1].angular_momentum), sn_load3(side[0].angular_momentum));

            error[trial] = (sn_length(P) + sn_length(L)) / (2 * h);
        }

        // 40 kg at rates of 2: forces of the order of 100 N without the terms.
        assert_true(error[1] < 1e-3 && error[1] < 0.3 * error[0] + 1e-7);
        free(M);
        free(a);
        free(q);
        free(xi);
        free(v);
        destroy(&f);
    }
}

static void test_negative_weights(void **state) {
    (void)state;
    fixture f = make(SINEW_WEIGHTS_AXIS_CUBIC, SINEW_FRAME_MASS_AUTO);
    const sn_frame_model *model = f.body->model;

    assert_int_equal(model->mass->kind, SINEW_FRAME_MASS_CONSISTENT);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
    }

    // Implicit Euler: n (n + 1) / 2 g h^2.
    double position[3];

    assert_int_equal(sinew_frame_body_get_node(f.body, 2, position, NULL), SINEW_OK);
    test_close("fall", position[2], -210 * 9.81 * 1e-4, 1e-9);
    destroy(&f);
    f = make(SINEW_WEIGHTS_AXIS_LINEAR, SINEW_FRAME_MASS_AUTO);
    model = f.body->model;
    assert_int_equal(model->mass->kind, SINEW_FRAME_MASS_ROW_SUM);
    destroy(&f);
}

static void test_refusals_and_shortage(void **state) {
    (void)state;
    fixture f;

    assert_int_equal(
        try_make(&f, test_context(1), SINEW_WEIGHTS_AXIS_CUBIC, SINEW_FRAME_MASS_ROW_SUM),
        SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(f.context), "consistent"));
    destroy(&f);
    assert_int_equal(try_make(&f, test_context(1), SINEW_WEIGHTS_AXIS_LINEAR, (sinew_frame_mass)9),
                     SINEW_INVALID_ARGUMENT);
    destroy(&f);

    bool done = false;
    // The context itself allocates first.
    for (int64_t n = 20; !done && n < 1000; n += n < 60 ? 1 : 7) {
        test_allocator allocator = {.fail_at = n};

        sinew_context *context = test_context_failing(&allocator);
        if (!context) {
            continue;
        }
        done = try_make(&f, context, SINEW_WEIGHTS_AXIS_LINEAR, SINEW_FRAME_MASS_CONSISTENT) ==
               SINEW_OK;
        destroy(&f);
        assert_int_equal(allocator.live, 0);
    }

    assert_true(done);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix_and_product),    cmocka_unit_test(test_consistent_energy),
        cmocka_unit_test(test_turning_keeps_momenta), cmocka_unit_test(test_negative_weights),
        cmocka_unit_test(test_refusals_and_shortage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
