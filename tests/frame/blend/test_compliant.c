// Compliant frames: compliance coordinates are rest positions in one material and follow 1 / E in
// layers; monomials and their gradients; forces and stiffness by finite differences; a body that
// turns has no energy; wrong weights are refused.
#include "support/solid.h"

#include "sinew/sinew.h"

#include "base/random.h"
#include "frame/body/frame_body.h"

#include <math.h>

typedef struct bar {
    sinew_context *context;
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
} bar;

// A bar whose right half is `ratio` times stiffer.
static sinew_status open_bar(bar *b, double ratio, sinew_weights weights) {
    b->context = test_context(1);
    b->voxels = test_solid(b->context, SINEW_SOLID_BOX, 1, 0.2, 0.2, 0.05);
    test_paint_box(b->voxels, sn_v3(0.25, 0, 0), sn_v3(0.5, 1, 1), 2);
    sinew_world_def world = sinew_default_world_def();
    assert_int_equal(sinew_world_create(b->context, &world, &b->world), SINEW_OK);

    sinew_tissue tissues[2] = {sinew_default_tissue(), sinew_default_tissue()};
    sinew_material_def materials[2];
    const int32_t labels[2] = {1, 2};
    for (int i = 0; i < 2; i++) {
        materials[i] = sinew_default_material_def();
        materials[i].law = SINEW_MATERIAL_HOOKE;
        materials[i].young = i ? ratio * 1e5 : 1e5;
        materials[i].poisson = 0.3;
        tissues[i].label = labels[i];
        tissues[i].young = materials[i].young;
    }

    sinew_frame_node nodes[3];
    for (int i = 0; i < 3; i++) {
        nodes[i] = (sinew_frame_node){SINEW_NODE_COMPLIANT, {-0.4 + 0.4 * i, 0.02, 0}};
    }

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = b->voxels;
    def.tissues = tissues;
    def.tissue_count = def.material_count = 2;
    def.materials = materials;
    def.material_labels = labels;
    def.nodes = nodes;
    def.node_count = 3;
    def.weights.kind = weights;
    return sinew_frame_body_create(b->world, &def, &b->body);
}

static void close_bar(bar *b) {
    sinew_world_destroy(b->world);
    sinew_voxels_destroy(b->voxels);
    sinew_context_destroy(b->context);
}

static sn_vec3 random_point(sn_random *random) {
    return sn_v3(sn_random_range(random, -0.49, 0.49), sn_random_range(random, -0.09, 0.09),
                 sn_random_range(random, -0.09, 0.09));
}

static void test_coordinates(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        double ratio = k ? 10 : 1;
        bar b;
        assert_int_equal(open_bar(&b, ratio, SINEW_WEIGHTS_SPECTRAL), SINEW_OK);
        const sn_shape *field = sn_frame_model_of(b.body)->shape->compliance;
        sn_random random = sn_random_seed(1);

        for (int trial = 0; trial < 200; trial++) {
            sn_vec3 X = random_point(&random);
            double c[3];
            sn_vec3 dc[3];
            sn_shape_compliance_at(field, X, c, dc);
            if (k == 0) {
                test_close("x", c[0], X.x, 1e-6);
                test_close("y", c[1], X.y, 1e-6);
                test_close("z", c[2], X.z, 1e-6);
                test_close("slope", dc[0].x, 1, 1e-5);
            } else {
                // Along the layers: slopes as 1 / E, the flux being the same. The solve ends at
                // 1e-3 of the energy norm.
                double scale = dc[0].x * (X.x < 0 ? 1 : ratio);
                sn_vec3 other[3];
                sn_shape_compliance_at(field, sn_v3(-0.3, 0, 0), c, other);
                test_close("slope in layers", scale / other[0].x, 1, 1e-3);
            }
            test_close("no slope across", dc[0].y, 0, k == 0 ? 1e-5 : 1e-3);
        }
        close_bar(&b);
    }
}

static void test_monomials(void **state) {
    (void)state;
    bar b;
    assert_int_equal(open_bar(&b, 10, SINEW_WEIGHTS_SPECTRAL), SINEW_OK);
    const sn_node *node = &sn_frame_model_of(b.body)->nodes.items[1];
    sn_random random = sn_random_seed(2);

    for (int trial = 0; trial < 50; trial++) {
        // Away from faces of voxels, so that the steps stay in one.
        int32_t voxel = (int32_t)(sn_random_u32(&random) % (uint32_t)b.voxels->count);
        sn_vec3 X = sn_add(sn_voxel_center(b.voxels, voxel), sn_v3(0.01, -0.015, 0.005));
        sn_rest_point at = sn_rest_point_at(X);
        double m[SN_NODE_MAX_CONTROLS];
        sn_vec3 dm[SN_NODE_MAX_CONTROLS];
        assert_int_equal(sn_node_monomials(node, &at, m, dm), 16);

        double step = 1e-5;
        sn_rest_point above = sn_rest_point_at(sn_add(X, sn_v3(step, 0, 0)));
        sn_rest_point below = sn_rest_point_at(sn_sub(X, sn_v3(step, 0, 0)));
        double high[SN_NODE_MAX_CONTROLS], low[SN_NODE_MAX_CONTROLS];
        sn_node_monomials(node, &above, high, NULL);
        sn_node_monomials(node, &below, low, NULL);
        for (int c = 0; c < 16; c++) {
            test_close("monomial", dm[c].x, (high[c] - low[c]) / (2 * step), 1e-7);
        }
        test_close("constant", m[0], 1, 0);
        test_close("product", m[7], at.c[0] * (X.x - node->origin.x), 1e-15);
        test_close("last product", m[15], at.c[2] * (X.z - node->origin.z), 1e-15);
    }
    close_bar(&b);
}

// Force and stiffness are derivatives of the energy, at a bent and turned state; a turned body has
// none.
static void test_derivatives(void **state) {
    (void)state;
    bar b;
    assert_int_equal(open_bar(&b, 10, SINEW_WEIGHTS_SPECTRAL), SINEW_OK);
    const sn_nodes *nodes = &sn_frame_model_of(b.body)->nodes;
    int32_t n = nodes->config_count;
    double q[144], force[144] = {0};
    sn_random random = sn_random_seed(3);
    assert_int_equal(n, 144);

    sn_nodes_place(nodes, q, sn_quat_exp(sn_v3(0.3, -0.7, 1.1)), sn_v3(1, 2, 3));
    sn_evaluation evaluation = {.q = q, .want_energy = true, .force = force};
    b.body->ops->elasticity.evaluate(b.body, &evaluation);
    test_close("energy of a turned body", evaluation.energy, 0, 1e-12);
    for (int i = 0; i < n; i++) {
        test_close("force on a turned body", force[i], 0, 1e-8);
        q[i] += sn_random_range(&random, -0.05, 0.05);
    }

    memset(force, 0, sizeof force);
    b.body->ops->elasticity.evaluate(b.body, &evaluation);
    double largest = 0;
    for (int i = 0; i < n; i++) {
        double error[2];
        for (int k = 0; k < 2; k++) {
            double step = k ? 1e-4 : 2e-4;
            double energy[2];
            for (int side = 0; side < 2; side++) {
                double keep = q[i];
                q[i] += side ? step : -step;
                sn_evaluation at = {.q = q, .want_energy = true};
                b.body->ops->elasticity.evaluate(b.body, &at);
                energy[side] = at.energy;
                q[i] = keep;
            }
            error[k] = fabs((energy[0] - energy[1]) / (2 * step) - force[i]);
        }
        largest = fmax(largest, fabs(force[i]));
        // Second order, down to rounding.
        assert_true(error[1] < 0.3 * error[0] + 1e-5);
    }
    assert_true(largest > 1);
    close_bar(&b);
}

static void test_refusal(void **state) {
    (void)state;
    bar b;
    assert_int_equal(open_bar(&b, 10, SINEW_WEIGHTS_VORONOI), SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(b.context), "needs spectral weights"));
    close_bar(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coordinates),
        cmocka_unit_test(test_monomials),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_refusal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
