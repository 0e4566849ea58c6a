// Harmonic weights: exact on lines, compared with a dense solve on small blobs, the maximum
// principle, bound labels, the U of Gilles et al. 2011 fig. 3, every instruction set, iterations
// that do not grow with the grid, symmetry, threads, memory shortage.
#include "support/dense.h"
#include "support/shape.h"

#include "base/context.h"

#include <math.h>

static sinew_weights_def harmonic_def(void) {
    sinew_weights_def def = sinew_default_weights_def();
    def.kind = SINEW_WEIGHTS_HARMONIC;
    return def;
}

// On a line the solution is linear in the integral of 1/E.
static void test_line(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_voxels *line = test_solid(context, SINEW_SOLID_BOX, 1, 0.001, 0.001, 0.001);
    double *factor = sn_allocate(context, 1000, sizeof *factor);
    sn_random random = sn_random_seed(12);

    for (int x = 0; x < 1000; x++) {
        factor[sn_voxel_at(line, x, 0, 0)] = exp(sn_random_range(&random, -3, 3));
    }

    assert_int_equal(sinew_voxels_set_stiffness(line, factor), SINEW_OK);
    const double nodes[6] = {-0.4995, 0, 0, 0.4995, 0, 0};
    sinew_weights_def def = harmonic_def();
    sn_shape *shape = test_shape(context, line, NULL, 0, nodes, 2, &def);
    double total = 0, sum = 0;

    for (int x = 0; x < 999; x++) {
        total +=
            0.5 / factor[sn_voxel_at(line, x, 0, 0)] + 0.5 / factor[sn_voxel_at(line, x + 1, 0, 0)];
    }

    for (int x = 0; x < 1000; x++) {
        int32_t v = sn_voxel_at(line, x, 0, 0);
        if (x) {
            sum += 0.5 / factor[sn_voxel_at(line, x - 1, 0, 0)] + 0.5 / factor[v];
        }
        test_close("heterogeneous line", test_table_weight(shape, v, 1), sum / total, 1e-6);
    }

    assert_true(shape->report.residual < 1e-10);
    sn_shape_destroy(shape);
    sn_release(context, factor, 1000, sizeof *factor);
    sinew_voxels_destroy(line);
    sinew_context_destroy(context);
}

// A random blob of 6 x 5 x 5 cells. Parts without a node are adopted by the nearest one.
static sinew_voxels *make_blob(sinew_context *context, sn_random *random) {
    uint16_t labels[150];
    for (int i = 0; i < 150; i++) {
        labels[i] = sn_random_unit(random) < 0.8 ? (uint16_t)(1 + sn_random_u32(random) % 2) : 0;
    }

    labels[0] = labels[149] = labels[77] = 1;
    sinew_label_grid grid = {.cells = {6, 5, 5}, .spacing = {0.1, 0.15, 0.12}, .labels16 = labels};
    sinew_voxels *voxels = NULL;

    assert_int_equal(sinew_voxels_create_from_labels(context, &grid, SIZE_MAX, &voxels), SINEW_OK);

    return voxels;
}

// Distinct voxels for nodes: three corners, then random ones.
static void choose_own(const sinew_voxels *blob, sn_random *random, int32_t *own, int32_t count) {
    own[0] = sn_voxel_at(blob, 0, 0, 0);
    own[1] = sn_voxel_at(blob, 5, 4, 4);
    own[2] = sn_voxel_at(blob, 5, 2, 2);

    for (int32_t i = 3; i < count;) {
        own[i] = (int32_t)(sn_random_u32(random) % (uint32_t)blob->count);
        bool taken = false;
        for (int32_t k = 0; k < i; k++) {
            taken = taken || own[k] == own[i];
        }
        i += !taken;
    }
}

static bool is_among(const int32_t *list, int32_t count, int32_t v) {
    for (int32_t i = 0; i < count; i++) {
        if (list[i] == v) {
            return true;
        }
    }
    return false;
}

// The column of node i by the dense Laplacian with the nodes' rows replaced. A small diagonal keeps
// parts without a node regular.
static void solve_densely(const sinew_voxels *blob, bool stiff, const int32_t *own, int32_t count,
                          int32_t i, double *A, double *x) {
    int32_t n = blob->count;
    memset(A, 0, (size_t)(n * n) * sizeof *A);
    for (int32_t v = 0; v < n; v++) {
        bool known = is_among(own, count, v);
        x[v] = v == own[i];
        A[v * n + v] = known ? 1 : 1e-14;

        for (int d = 0; d < 6 && !known; d++) {
            int32_t u = blob->neighbor[v][d];
            if (u < 0) {
                continue;
            }

            double a = blob->label[v] == 2 && stiff ? 20 : 1;
            double b = blob->label[u] == 2 && stiff ? 20 : 1;
            double c = 2 * a * b / (a + b) / (blob->spacing[d / 2] * blob->spacing[d / 2]);
            A[v * n + v] += c;
            A[v * n + u] -= c;
        }
    }

    assert_true(test_dense_solve(A, n, x));
}

// Three, four, seven, eleven and seventeen nodes: groups of four and of eight, alone and in
// sequence.
static void test_against_dense_solve(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(31);
    sinew_tissue tissues[2] = {sinew_default_tissue(), sinew_default_tissue()};

    tissues[1].label = 2;
    tissues[1].young = 20 * tissues[0].young;

    const int32_t counts[5] = {3, 4, 7, 11, 17};
    for (int round = 0; round < 10; round++) {
        sinew_voxels *blob = make_blob(context, &random);
        int32_t n = blob->count;
        int32_t count = counts[round / 2];
        int32_t own[17];
        double nodes[51];

        // Nodes in voxels of their own.
        choose_own(blob, &random, own, count);
        for (int i = 0; i < count; i++) {
            sn_store3(nodes + 3 * i, sn_voxel_center(blob, own[i]));
        }

        sinew_weights_def def = harmonic_def();
        def.adopt_unreached = true;
        def.cutoff = 0;
        def.nodes_per_voxel = 64;
        def.metric = round % 2 ? SINEW_METRIC_COMPLIANCE : SINEW_METRIC_EUCLIDEAN;

        sn_shape *shape = test_shape(context, blob, tissues, 2, nodes, count, &def);
        double *A = sn_allocate(context, (size_t)(n * n), sizeof *A);
        double *x = sn_allocate(context, (size_t)n, sizeof *x);

        // Compare the weights of each node, except in adopted parts.
        for (int i = 0; i < count; i++) {
            solve_densely(blob, round % 2, own, count, i, A, x);
            int compared = 0;
            for (int32_t v = 0; v < n; v++) {
                if (test_table_weight(shape, v, 0) == 1 && v != own[0]) {
                    continue; // adopted
                }
                if (shape->table.start[v + 1] - shape->table.start[v] < 2) {
                    continue;
                }

                test_close("dense solve", test_table_weight(shape, v, i), x[v], 1e-8);
                compared++;
            }

            assert_true(compared > 50);
        }

        sn_release(context, A, (size_t)(n * n), sizeof *A);
        sn_release(context, x, (size_t)n, sizeof *x);
        sn_shape_destroy(shape);
        sinew_voxels_destroy(blob);
    }

    sinew_context_destroy(context);
}

// Every instruction set, with four and eight nodes at once, on a grid of several levels.
static void test_instruction_sets(void **state) {
    (void)state;
    const double nodes[18] = {-0.3, 0, 0,   0.2,  0.1,  0,    0.35, -0.2, 0.1,
                              0,    0, 0.2, -0.1, 0.25, -0.1, 0.1,  -0.2, -0.1};

    for (int32_t count = 3; count <= 6; count += 3) {
        sn_shape *first = NULL;
        sinew_context *context = test_context(1);
        sinew_voxels *voxels = test_solid(context, SINEW_SOLID_SPHERE, 1, 0.8, 0.6, 0.04);
        sn_isa detected = context->isa;

        for (int isa = 0; isa < SN_ISA_COUNT; isa++) {
            if (!sn_isa_available((sn_isa)isa)) {
                continue;
            }

            context->isa = (sn_isa)isa;
            sinew_weights_def def = harmonic_def();

            def.cutoff = 0;
            sn_shape *shape = test_shape(context, voxels, NULL, 0, nodes, count, &def);
            if (first) {
                for (int32_t v = 0; v < voxels->count; v++) {
                    for (int32_t i = 0; i < count; i++) {
                        test_close(sn_isa_name((sn_isa)isa), test_table_weight(shape, v, i),
                                   test_table_weight(first, v, i), 1e-9);
                    }
                }
            }

            if (first) {
                sn_shape_destroy(shape);
            } else {
                first = shape;
            }
        }

        context->isa = detected;
        sn_shape_destroy(first);
        sinew_voxels_destroy(voxels);
        sinew_context_destroy(context);
    }
}

// The U: node 0 at the end of one arm, node 1 at the end of the other, p beside node 1 but nearer
// to the gap.
static void test_u_shape(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_solid_def solid = sinew_default_solid_def();

    solid.solid = SINEW_SOLID_U;
    solid.size[2] = 0.1;
    solid.thickness = 0.4;

    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.resolution = 50;

    sinew_voxels *u = NULL;
    assert_int_equal(sinew_voxels_create_from_solids(context, &solid, 1, &grid, &u), SINEW_OK);

    // Both nodes are half-way down the arms; p is at the top of the right arm, far from both.
    const double nodes[6] = {-0.3, 0, 0, 0.3, 0, 0};
    sn_vec3 p = sn_v3(0.15, 0.45, 0);
    sinew_weights_def def = harmonic_def();
    double weight[5];
    const sinew_weights kinds[5] = {SINEW_WEIGHTS_RADIAL, SINEW_WEIGHTS_GEODESIC,
                                    SINEW_WEIGHTS_HARMONIC, SINEW_WEIGHTS_HARMONIC,
                                    SINEW_WEIGHTS_VORONOI};

    for (int i = 0; i < 5; i++) {
        def.kind = kinds[i];
        def.node_radius = i == 3 ? 0.15 : 0;
        sn_shape *shape = test_shape(context, u, NULL, 0, nodes, 2, &def);
        weight[i] = test_weight_at(shape, p, 0);
        sn_shape_destroy(shape);
    }

    print_message("U shape, weight of the left node at the tip of the right arm: Euclidean %.3f, "
                  "geodesic %.3f, harmonic %.3f with "
                  "nodes of one voxel and %.4f with nodes of 15 cm, Voronoi %.4f\n",
                  weight[0], weight[1], weight[2], weight[3], weight[4]);
    assert_true(weight[0] > 0.3);
    assert_true(weight[1] < 0.7 * weight[0] && weight[1] > 0.02);
    // A node of one voxel does not fill the arm, so that some weight passes it.
    assert_true(weight[2] < weight[1]);
    assert_true(weight[3] < 0.1 * weight[1]); // a node that nearly fills it
    assert_true(weight[4] == 0);
    sinew_voxels_destroy(u);
    sinew_context_destroy(context);
}

static void test_bound_shell(void **state) {
    (void)state;

    // A shell around a soft body, bound to node 0; node 1 outside it. Weights are 1 on the shell
    // and fall towards node 1.
    sinew_context *context = test_context(2);
    sinew_voxels *body = test_solid(context, SINEW_SOLID_BOX, 1, 0.4, 0.4, 0.05);

    test_paint_box(body, sn_v3(-0.3, 0, 0), sn_v3(0.3, 1, 1), 2);
    sinew_tissue tissues[2] = {sinew_default_tissue(), sinew_default_tissue()};

    tissues[1].label = 2;
    tissues[1].node = 0;
    tissues[1].rigid = true;

    const double nodes[6] = {-0.3, 0, 0, 0.475, 0.025, 0.025};
    sinew_weights_def def = harmonic_def();
    sn_shape *shape = test_shape(context, body, tissues, 2, nodes, 2, &def);
    double before = 1;

    for (double x = -0.125; x < 0.47; x += 0.05) {
        double here = test_weight_at(shape, sn_v3(x, 0.025, 0.025), 0);
        assert_true(here < before + 1e-12 && here >= -1e-12);
        before = here;
    }

    for (int32_t v = 0; v < body->count; v++) {
        double w = test_table_weight(shape, v, 0);
        assert_true(w >= 0 && w <= 1); // maximum principle
        if (body->label[v] == 2) {
            assert_true(w == 1);
        }
    }

    sn_shape_destroy(shape);

    // A free node inside a label that is bound to another has no voxel of its own.
    const double inside[6] = {-0.3, 0, 0, -0.25, 0, 0};

    assert_int_equal(sn_shape_create(context, body, tissues, 2, inside, 2, &def, &shape),
                     SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "node 1"));
    sinew_voxels_destroy(body);
    sinew_context_destroy(context);
}

// The number of iterations stays the same on finer grids.
static void test_iterations_do_not_grow(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    const double nodes[9] = {-0.3, 0.1, 0, 0.2, -0.1, 0.1, 0.3, 0.2, -0.1};
    int32_t iterations[3];

    for (int i = 0; i < 3; i++) {
        sinew_voxels *ball = test_solid(context, SINEW_SOLID_SPHERE, 1, 0.8, 0.6, 0.06 / (1 << i));
        sinew_weights_def def = harmonic_def();
        def.node_radius = 0.08;
        sn_shape *shape = test_shape(context, ball, NULL, 0, nodes, 3, &def);
        iterations[i] = shape->report.iterations;
        assert_true(shape->report.residual < 1e-10);
        sn_shape_destroy(shape);
        sinew_voxels_destroy(ball);
    }

    print_message("iterations at cells of 60, 30, 15 mm: %d, %d, %d\n", iterations[0],
                  iterations[1], iterations[2]);
    assert_true(iterations[2] <= iterations[0] + 4 && iterations[2] < 20);
    sinew_context_destroy(context);
}

static void test_turned(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *voxels = test_solid(context, SINEW_SOLID_L, 1, 0.8, 0.3, 0.05);

    test_paint_box(voxels, sn_v3(-0.4, 0, 0), sn_v3(0.1, 0.3, 0.2), 2);
    sinew_tissue tissues[2] = {sinew_default_tissue(), sinew_default_tissue()};

    tissues[1].label = 2;
    tissues[1].young = 1e7;

    const double nodes[9] = {-0.4, 0.3, 0.05, -0.35, -0.25,
                             0,    0.4, -0.3, -0.1}; // between voxels: several belong to each
    sinew_weights_def def = harmonic_def();
    sn_shape *shape = test_shape(context, voxels, tissues, 2, nodes, 3, &def);

    for (int number = 1; number < 48; number += 7) {
        test_turn turn = test_turn_number(number);
        int32_t *image = NULL;
        sinew_voxels *turned = test_turn_voxels(voxels, turn, 1.7, &image);
        double turned_nodes[9], worst = 0;

        for (int i = 0; i < 3; i++) {
            sn_store3(turned_nodes + 3 * i,
                      sn_scale(1.7, test_turn_point(turn, sn_load3(nodes + 3 * i))));
        }

        sn_shape *other = test_shape(context, turned, tissues, 2, turned_nodes, 3, &def);
        for (int32_t v = 0; v < voxels->count; v++) {
            for (int i = 0; i < 3; i++) {
                worst = fmax(worst, fabs(test_table_weight(shape, v, i) -
                                         test_table_weight(other, image[v], i)));
            }
        }

        if (worst > 1e-9) {
            fail_msg("symmetry %d changes a weight by %g", number, worst);
        }

        sn_shape_destroy(other);
        sn_release(context, image, (size_t)voxels->count, sizeof *image);
        sinew_voxels_destroy(turned);
    }

    sn_shape_destroy(shape);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

static void test_threads_and_shortage(void **state) {
    (void)state;
    sinew_weights_def def = harmonic_def();
    test_shape_threads(&def);
    test_shape_shortage(&def);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_against_dense_solve),
        cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_u_shape),
        cmocka_unit_test(test_bound_shell),
        cmocka_unit_test(test_iterations_do_not_grow),
        cmocka_unit_test(test_turned),
        cmocka_unit_test(test_threads_and_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
