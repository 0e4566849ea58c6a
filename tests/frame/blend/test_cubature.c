// Sample points chosen for the motions of frames: few, with the volume of the solid, exact for
// uniform strain, close to all candidates in every motion; mass exact for rigid motions; the same
// for any number of threads.
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
    sinew_material_def material;
} bar;

static void open_bar(bar *b, int threads) {
    b->context = test_context(threads);
    b->voxels = test_solid(b->context, SINEW_SOLID_BOX, 1, 0.2, 0.2, TEST_SANITIZED ? 0.05 : 0.025);
    sinew_world_def world = sinew_default_world_def();
    assert_int_equal(sinew_world_create(b->context, &world, &b->world), SINEW_OK);

    sinew_placement_def placement = sinew_default_placement_def();
    sinew_frame_node nodes[4];
    double positions[12];
    placement.kind = SINEW_PLACEMENT_SPECTRAL;
    placement.count = 4;
    assert_int_equal(sinew_place_nodes(b->context, b->voxels, NULL, 0, &placement, positions, NULL),
                     SINEW_OK);
    for (int i = 0; i < 4; i++) {
        nodes[i].kind = SINEW_NODE_QUADRATIC;
        memcpy(nodes[i].position, positions + 3 * i, sizeof nodes[i].position);
    }

    b->material = sinew_default_material_def();
    b->material.law = SINEW_MATERIAL_HOOKE;
    b->material.young = 1e5;
    b->material.poisson = 0.3;
    b->material.density = 1000;

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = b->voxels;
    def.nodes = nodes;
    def.node_count = 4;
    def.materials = &b->material;
    def.material_count = 1;
    def.weights.kind = SINEW_WEIGHTS_SPECTRAL;
    assert_int_equal(sinew_frame_body_create(b->world, &def, &b->body), SINEW_OK);
}

static void close_bar(bar *b) {
    sinew_world_destroy(b->world);
    sinew_voxels_destroy(b->voxels);
    sinew_context_destroy(b->context);
}

// Every node carries the same affine motion x = F X.
static void set_affine(const sinew_body *body, sn_mat3 F, double *q) {
    const sn_nodes *nodes = &sn_frame_model_of(body)->nodes;
    memset(q, 0, (size_t)nodes->config_count * sizeof *q);
    for (int32_t i = 0; i < nodes->count; i++) {
        double *config = q + nodes->items[i].config;
        sn_store3(config, sn_mat3_apply(F, nodes->items[i].origin));
        for (int k = 0; k < 3; k++) {
            sn_store3(config + 3 + 3 * k, sn_mat3_column(F, k));
        }
    }
}

static void test_few_points(void **state) {
    (void)state;
    bar b;
    open_bar(&b, 1);
    sinew_sampling_report report;
    assert_int_equal(sinew_frame_body_get_report(b.body, NULL, &report), SINEW_OK);
    assert_true(report.point_count > 40 && report.point_count < 150);
    assert_true(report.energy_error <= 0.003);
    test_close("volume", report.volume, 0.04, 1e-12);

    // Uniform strain has exactly its energy.
    sn_mat3 F = sn_mat3_identity();
    F.m[0][0] = 1.1;
    F.m[1][1] = 0.95;
    double q[120];
    set_affine(b.body, F, q);
    sn_evaluation evaluation = {.q = q, .want_energy = true};
    b.body->ops->elasticity.evaluate(b.body, &evaluation);
    double mu = 1e5 / 2.6;
    double lambda = 1e5 * 0.3 / (1.3 * 0.4);
    double density = mu * (0.1 * 0.1 + 0.05 * 0.05) + 0.5 * lambda * 0.05 * 0.05;
    test_close("energy", evaluation.energy, 0.04 * density, 1e-9 * 0.04 * density);

    close_bar(&b);
}

// The chosen points give random motions the energy of all candidates. Random motions are harder
// than the low ones for which the points were chosen.
static void test_energy(void **state) {
    (void)state;
    bar b;
    open_bar(&b, 1);
    const sn_frame_model *model = sn_frame_model_of(b.body);
    sn_frame_samples *all;
    assert_int_equal(sn_point_candidates(model->shape, 300, &all), SINEW_OK);
    sn_random random = sn_random_seed(5);

    for (int trial = 0; trial < 20; trial++) {
        double energy[2] = {0, 0};
        double a[120];
        for (int i = 0; i < 120; i++) {
            // Higher controls are coefficients of squares of lengths below 1.
            a[i] = sn_random_range(&random, -1, 1);
        }

        for (int k = 0; k < 2; k++) {
            const sn_frame_samples *samples = k ? model->base_samples : all;
            for (int32_t s = 0; s < samples->count; s++) {
                sn_mat3 H = {{{0}}};
                sn_rest_point at = sn_rest_point_at(sn_load3(sn_at3(samples->position, s)));
                for (int32_t e = samples->start[s]; e < samples->start[s + 1]; e++) {
                    const sn_node *node = &model->nodes.items[samples->node[e]];
                    double m[SN_NODE_MAX_CONTROLS];
                    sn_vec3 dm[SN_NODE_MAX_CONTROLS];
                    sn_node_monomials(node, &at, m, dm);
                    for (int32_t c = 0; c < node->control_count; c++) {
                        sn_vec3 g = sn_madd(sn_scale(m[c], sn_load3(sn_at3(samples->gradient, e))),
                                            samples->weight[e], dm[c]);
                        H = sn_mat3_add(H, sn_outer(sn_load3(a + 3 * (node->control + c)), g));
                    }
                }
                sn_mat3 S = sn_mat3_scale(0.5, sn_mat3_add(H, sn_mat3_transpose(H)));
                double norm = sn_mat3_norm(S);
                energy[k] += samples->volume[s] * norm * norm;
            }
        }
        test_close("energy of a random motion", energy[1] / energy[0], 1, 0.15);
    }

    sn_samples_destroy(all);
    close_bar(&b);
}

// Mass, and the energy of a rotation about z: rho V (l^2 + w^2) / 24 omega^2.
static void test_rigid_motion(void **state) {
    (void)state;
    bar b;
    open_bar(&b, 1);
    const sn_nodes *nodes = &sn_frame_model_of(b.body)->nodes;
    double omega = 2;
    for (int32_t i = 0; i < nodes->count; i++) {
        double *v = b.body->v + 3 * nodes->items[i].row;
        sn_store3(v, sn_cross(sn_v3(0, 0, omega), nodes->items[i].origin));
        sn_store3(v + 3, sn_v3(0, omega, 0));
        sn_store3(v + 6, sn_v3(-omega, 0, 0));
    }

    sinew_measures measures;
    sinew_body_get_measures(b.body, &measures);
    test_close("mass", measures.mass, 40, 1e-9);
    test_close("rotation", measures.kinetic_energy, 40 * 1.04 / 24 * omega * omega, 1e-9);
    close_bar(&b);
}

static void test_threads(void **state) {
    (void)state;
    bar b[3];
    int count = TEST_SANITIZED ? 2 : 3;
    for (int i = 0; i < count; i++) {
        open_bar(&b[i], 1 << i);
        const sn_frame_samples *first = sn_frame_model_of(b[0].body)->base_samples;
        const sn_frame_samples *other = sn_frame_model_of(b[i].body)->base_samples;
        assert_int_equal(other->count, first->count);
        assert_memory_equal(other->volume, first->volume,
                            (size_t)first->count * sizeof *first->volume);
        assert_memory_equal(other->position, first->position,
                            3 * (size_t)first->count * sizeof *first->position);
    }

    for (int i = 0; i < count; i++) {
        close_bar(&b[i]);
    }
}

// Candidates have the mass that a map of density gives their voxels: the bar's 40 kg, half of it
// three times as heavy.
static void test_density_map(void **state) {
    (void)state;
    bar b;
    open_bar(&b, 1);
    double factors[20000], expected = 0;
    int32_t count = b.voxels->count;
    assert_in_range(count, 1, 20000);
    for (int32_t v = 0; v < count; v++) {
        factors[v] = v % 2 ? 3 : 1;
        expected += 40.0 / count * factors[v];
    }
    assert_int_equal(sinew_voxels_set_density(b.voxels, factors), SINEW_OK);

    sn_frame_samples *all;
    assert_int_equal(sn_point_candidates(sn_frame_model_of(b.body)->shape, 300, &all), SINEW_OK);
    double mass = 0;
    for (int32_t s = 0; s < all->count; s++) {
        mass += all->mass[s];
    }
    test_close("mass", mass, expected, 1e-9);

    sn_samples_destroy(all);
    close_bar(&b);
}

int main(void) {
    if (TEST_WATCHES_THREADS) {
        cmocka_set_test_filter("test_threads*");
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_points),  cmocka_unit_test(test_energy),
        cmocka_unit_test(test_density_map), cmocka_unit_test(test_rigid_motion),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
