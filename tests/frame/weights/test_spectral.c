// Spectral weights: cosines along a line, modes compared with a dense solve and with those of a
// box, sums, interpolation and reproduction of the modes, continuity, stiff parts, placement, nodes
// that cannot tell the modes apart, threads, memory shortage.
#include "support/shape.h"

#include "frame/weights/voxel_modes.h"
#include "linalg/dense.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static sinew_weights_def spectral_def(void) {
    sinew_weights_def def = sinew_default_weights_def();
    def.kind = SINEW_WEIGHTS_SPECTRAL;
    return def;
}

static bool no_rigid[SN_LABELS];

// The modes of a line of N voxels are cos(pi k (i + 1/2) / N), also on the grid, so the weights are
// known.
static void test_line(void **state) {
    (void)state;
    enum { N = 200, COUNT = 4 };
    sinew_context *context = test_context(2);
    sinew_voxels *line = test_solid(context, SINEW_SOLID_BOX, 1, 0.005, 0.005, 0.005);
    const int cells[COUNT] = {3, 70, 120, 199};
    double nodes[3 * COUNT] = {0}, P[COUNT * COUNT];

    assert_int_equal(line->count, N);
    for (int i = 0; i < COUNT; i++) {
        nodes[3 * i] = -0.5 + (cells[i] + 0.5) / N;
        for (int k = 0; k < COUNT; k++) {
            // The splines between the voxels damp a wave a little.
            double damping = 0.75 + 0.25 * cos(pi * k / N);
            P[i * COUNT + k] = damping * cos(pi * k * (cells[i] + 0.5) / N);
        }
    }

    sinew_weights_def def = spectral_def();
    sn_shape *shape = test_shape(context, line, NULL, 0, nodes, COUNT, &def);
    for (int x = 0; x < N; x++) {
        // Row of weights w with w P = psi.
        double A[COUNT * COUNT], w[COUNT], work[2 * COUNT];
        for (int k = 0; k < COUNT; k++) {
            w[k] = cos(pi * k * (x + 0.5) / N);
            for (int i = 0; i < COUNT; i++) {
                A[k * COUNT + i] = P[i * COUNT + k];
            }
        }
        assert_int_equal(sn_dense_least_squares(A, COUNT, COUNT, COUNT, w, 1, 1, 0, work), COUNT);

        // Eigenvalues are iterated to 1e-8, hence vectors to 1e-4.
        for (int i = 0; i < COUNT; i++) {
            test_close("cosines", test_table_weight(shape, sn_voxel_at(line, x, 0, 0), i), w[i],
                       2e-4);
        }
    }

    assert_true(shape->report.condition > 1 && shape->report.condition < 10);
    sn_shape_destroy(shape);
    sinew_voxels_destroy(line);
    sinew_context_destroy(context);
}

// Eigenvalues of a box: sums of 2 - 2 cos(pi k / N) along the axes. Large enough for a coarse grid.
static void test_box(void **state) {
    (void)state;
    enum { COUNT = 6 };
    sinew_context *context = test_context(2);
    sinew_voxels *box = test_solid(context, SINEW_SOLID_BOX, 1.2, 0.5, 0.4, 0.02);
    double young[3] = {0, 1e5, 1e5};
    sn_stiffness stiffness = {young, no_rigid};
    sn_voxel_modes modes;
    sn_arena arena = sn_arena_create(context);

    assert_int_equal(box->count, 60 * 25 * 20);
    assert_int_equal(sn_compute_voxel_modes(box, &stiffness, COUNT, &arena, &modes), SINEW_OK);

    // Along x: 1, 2, 3; then y; then x and y, as 1 + (60 / 25)^2 < 2^2 + ... holds.
    const int waves[COUNT][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {1, 1, 0}, {3, 0, 0}};
    const int cells[3] = {60, 25, 20};
    double expected[COUNT];
    for (int i = 0; i < COUNT; i++) {
        expected[i] = 0;
        for (int a = 0; a < 3; a++) {
            expected[i] += 2 - 2 * cos(pi * waves[i][a] / cells[a]);
        }
    }

    for (int i = 0; i < COUNT; i++) {
        int rank = 0;
        for (int k = 0; k < COUNT; k++) {
            rank += expected[k] < expected[i];
        }
        // Two sweeps on the fine grid leave about 1e-4 of the highest modes.
        test_close("eigenvalue of a box", modes.lambda[rank] / expected[COUNT - 1],
                   expected[i] / expected[COUNT - 1], 1e-3);
    }

    sn_arena_destroy(&arena);
    sinew_voxels_destroy(box);
    sinew_context_destroy(context);
}

// A T of two materials: the modes are those of the dense matrix.
static void test_against_dense(void **state) {
    (void)state;
    enum { COUNT = 5 };
    sinew_context *context = test_context(1);
    sinew_voxels *solid = test_solid(context, SINEW_SOLID_T, 1, 0.8, 0.3, 0.1);
    test_paint_box(solid, sn_v3(0.5, 0, 0), sn_v3(1, 2, 2), 2);
    double young[3] = {0, 1e5, 3e6};
    sn_stiffness stiffness = {young, no_rigid};
    sn_arena arena = sn_arena_create(context);
    sn_voxel_modes modes;
    double *conductivity;

    assert_int_equal(sn_compute_voxel_modes(solid, &stiffness, COUNT, &arena, &modes), SINEW_OK);
    assert_int_equal(sn_compute_conductivity(solid, &stiffness, &arena, &conductivity), SINEW_OK);

    int32_t n = solid->count;
    double *A = SN_PUSH(&arena, double, n *n);
    double *values = SN_PUSH(&arena, double, n);
    double *work = SN_PUSH(&arena, double, n);
    assert_int_equal(sn_arena_status(&arena), SINEW_OK);
    for (int32_t v = 0; v < n; v++) {
        for (int d = 0; d < 6; d++) {
            int32_t u = solid->neighbor[v][d];
            if (u < 0) {
                continue;
            }
            double a = conductivity[v];
            double b = conductivity[u];
            A[v * n + v] += 2 * a * b / (a + b);
            A[v * n + u] -= 2 * a * b / (a + b);
        }
    }

    // The iteration ends when eigenvalues change by less than 1e-5.
    assert_true(sn_dense_symmetric_eigen(A, n, n, values, work));
    for (int k = 0; k < COUNT; k++) {
        test_close("eigenvalue", modes.lambda[k], values[k], 1e-5 * values[COUNT - 1] + 1e-12);
    }
    assert_true(values[1] > 1e-3 * values[COUNT - 1]);

    // The span is the same: each mode lies in that of the dense ones.
    for (int k = 0; k < COUNT; k++) {
        double inside = 0;
        for (int i = 0; i < COUNT; i++) {
            double dot = 0;
            for (int32_t v = 0; v < n; v++) {
                dot += modes.value[v * COUNT + k] * A[i * n + v] / sqrt(n);
            }
            inside += dot * dot;
        }
        test_close("span", inside, 1, 1e-5);
    }

    sn_arena_destroy(&arena);
    sinew_voxels_destroy(solid);
    sinew_context_destroy(context);
}

// Weights sum to 1, are 1 and 0 at the nodes, reproduce every mode from its values there, and are
// constant in a stiff part.
static void test_properties(void **state) {
    (void)state;
    enum { COUNT = 4 };
    sinew_context *context = test_context(2);
    sinew_voxels *bar = test_solid(context, SINEW_SOLID_BOX, 1, 0.2, 0.2, 0.02);
    test_paint_box(bar, sn_v3(0.05, 0, 0), sn_v3(0.3, 0.1, 0.1), 2);
    sinew_tissue tissues[2] = {sinew_default_tissue(), sinew_default_tissue()};
    tissues[1].label = 2;
    tissues[1].young = 1e4 * tissues[0].young;

    // Not at the centres of voxels.
    const double nodes[3 * COUNT] = {-0.45, 0.03, 0.011, -0.2, 0.05, 0, 0.213, 0.07, 0, 0.44, 0, 0};
    sinew_weights_def def = spectral_def();
    def.cutoff = 0;
    sn_shape *shape = test_shape(context, bar, tissues, 2, nodes, COUNT, &def);

    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < COUNT; k++) {
            test_close("interpolation", test_weight_at(shape, sn_load3(nodes + 3 * i), k), i == k,
                       1e-9);
        }
    }

    double young[3] = {0, tissues[0].young, tissues[1].young};
    sn_stiffness stiffness = {young, no_rigid};
    sn_arena arena = sn_arena_create(context);
    sn_voxel_modes modes;
    assert_int_equal(sn_compute_voxel_modes(bar, &stiffness, COUNT, &arena, &modes), SINEW_OK);

    double least = 0, spread = 0;
    double first[COUNT] = {NAN};
    for (int32_t v = 0; v < bar->count; v++) {
        double sum = 0;
        for (int i = 0; i < COUNT; i++) {
            double w = test_table_weight(shape, v, i);
            sum += w;
            least = fmin(least, w);
            if (bar->label[v] == 2) {
                first[i] = isnan(first[0]) || i > 0 ? w : first[i];
                spread = fmax(spread, fabs(w - first[i]));
            }
        }
        test_close("sum", sum, 1, 1e-12);
    }

    // Every mode is a combination of the weights, by least squares over the voxels.
    double gram[COUNT * COUNT] = {0}, right[COUNT][COUNT] = {{0}};
    for (int32_t v = 0; v < bar->count; v++) {
        for (int i = 0; i < COUNT; i++) {
            double w = test_table_weight(shape, v, i);
            for (int k = 0; k < COUNT; k++) {
                gram[i * COUNT + k] += w * test_table_weight(shape, v, k);
                right[k][i] += w * modes.value[v * COUNT + k];
            }
        }
    }

    assert_true(sn_dense_cholesky(gram, COUNT, COUNT) < 0);
    for (int k = 0; k < COUNT; k++) {
        sn_dense_cholesky_solve(gram, COUNT, COUNT, right[k]);
        for (int32_t v = 0; v < bar->count; v++) {
            double sum = 0;
            for (int i = 0; i < COUNT; i++) {
                sum += test_table_weight(shape, v, i) * right[k][i];
            }
            test_close("reproduction", sum, modes.value[v * COUNT + k], 1e-8);
        }
    }

    assert_true(least < -0.02);
    assert_true(spread < 0.01);
    sn_arena_destroy(&arena);
    sn_shape_destroy(shape);
    sinew_voxels_destroy(bar);
    sinew_context_destroy(context);
}

// Between voxels weights are smooth: gradients are those of the values, with second order, in the
// solid, beside its surface and beside another material.
static void test_gradients(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *bar = test_solid(context, SINEW_SOLID_T, 1, 0.8, 0.2, 0.05);
    test_paint_box(bar, sn_v3(0.05, 0.3, 0), sn_v3(0.3, 0.1, 0.1), 2);
    sinew_tissue tissues[2] = {sinew_default_tissue(), sinew_default_tissue()};
    tissues[1].label = 2;
    tissues[1].young = 50 * tissues[0].young;

    sinew_placement_def placement = sinew_default_placement_def();
    sinew_weights_def def = spectral_def();
    double nodes[15];
    placement.kind = SINEW_PLACEMENT_SPECTRAL;
    placement.count = 5;
    assert_int_equal(sinew_place_nodes(context, bar, tissues, 2, &placement, nodes, NULL),
                     SINEW_OK);
    sn_shape *shape = test_shape(context, bar, tissues, 2, nodes, 5, &def);
    sn_random random = sn_random_seed(4);
    double largest = 0;

    for (int trial = 0; trial < 500; trial++) {
        // Not closer to a face of the voxel than the steps reach.
        int32_t v = (int32_t)(sn_random_u32(&random) % (uint32_t)bar->count);
        double p[3], at[3];
        sn_store3(p, sn_voxel_center(bar, v));
        for (int a = 0; a < 3; a++) {
            p[a] += sn_random_range(&random, -0.45, 0.45) * bar->spacing[a];
        }

        sn_shape_point point;
        sn_shape_at_point(shape, sn_load3(p), &point);
        for (int a = 0; a < 3; a++) {
            double step = 1e-3 * bar->spacing[a];
            for (int k = 0; k < point.count; k++) {
                memcpy(at, p, sizeof at);
                at[a] = p[a] + step;
                double above = test_weight_at(shape, sn_load3(at), point.node[k]);
                at[a] = p[a] - step;
                double below = test_weight_at(shape, sn_load3(at), point.node[k]);
                // Quadratic along each axis: central differences are exact.
                test_close("gradient", point.gradient[k][a], (above - below) / (2 * step), 1e-7);
                largest = fmax(largest, fabs(point.gradient[k][a]));
            }
        }
    }
    assert_true(largest > 1);

    sn_shape_destroy(shape);
    sinew_voxels_destroy(bar);
    sinew_context_destroy(context);
}

// The largest jump of a weight between two voxels that share a face, at a random point of it.
// `step` from the face, so that a weight without jump differs by its slope times that.
static double jump_at(const sn_shape *shape, int32_t v, int d, double step, sn_random *random) {
    const sinew_voxels *voxels = shape->voxels;
    double p[3], at[3], jump = 0;
    sn_store3(p, sn_voxel_center(voxels, v));
    for (int a = 0; a < 3; a++) {
        p[a] += (a == d / 2 ? 0.5 : sn_random_range(random, -0.49, 0.49)) * voxels->spacing[a];
    }

    for (int i = 0; i < shape->node_count; i++) {
        memcpy(at, p, sizeof at);
        at[d / 2] = p[d / 2] + step;
        double above = test_weight_at(shape, sn_load3(at), i);
        at[d / 2] = p[d / 2] - step;
        jump = fmax(jump, fabs(above - test_weight_at(shape, sn_load3(at), i)));
    }
    return jump;
}

// Weights are continuous across every face: inside a material, along edges and corners of a stiff
// part, and beside a re-entrant corner of the surface.
static void test_continuity(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *solid = test_solid(context, SINEW_SOLID_T, 1, 0.8, 0.2, 0.05);
    test_paint_box(solid, sn_v3(0.05, 0.3, 0), sn_v3(0.3, 0.1, 0.1), 2);
    sinew_tissue tissues[2] = {sinew_default_tissue(), sinew_default_tissue()};
    tissues[1].label = 2;

    for (int contrast = 10; contrast <= 10000; contrast *= 1000) {
        sinew_placement_def placement = sinew_default_placement_def();
        sinew_weights_def def = spectral_def();
        double nodes[15];
        tissues[1].young = contrast * tissues[0].young;
        placement.kind = SINEW_PLACEMENT_SPECTRAL;
        placement.count = 5;
        assert_int_equal(sinew_place_nodes(context, solid, tissues, 2, &placement, nodes, NULL),
                         SINEW_OK);
        sn_shape *shape = test_shape(context, solid, tissues, 2, nodes, 5, &def);
        sn_random random = sn_random_seed(5);

        int32_t borders = 0;
        for (int32_t v = 0; v < solid->count; v++) {
            for (int d = 1; d < SN_VOXEL_FACES; d += 2) {
                int32_t u = solid->neighbor[v][d];
                if (u < 0) {
                    continue;
                }
                // Slopes are below 100 per metre, and the cut-off at 1e-6 is no jump.
                test_close("jump", jump_at(shape, v, d, 1e-9, &random), 0, 2e-6);
                borders += solid->label[v] != solid->label[u];
            }
        }
        assert_true(borders > 20);
        sn_shape_destroy(shape);
    }

    sinew_voxels_destroy(solid);
    sinew_context_destroy(context);
}

// In a bar nodes go to the ends and between them, on the axis, and tell the modes apart well.
static void test_placement(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *bar = test_solid(context, SINEW_SOLID_BOX, 1, 0.18, 0.18, 0.02);
    sinew_placement_def def = sinew_default_placement_def();
    sinew_weights_def weights = spectral_def();
    def.kind = SINEW_PLACEMENT_SPECTRAL;

    for (def.count = 1; def.count <= 6; def.count++) {
        double positions[18];
        assert_int_equal(sinew_place_nodes(context, bar, NULL, 0, &def, positions, NULL), SINEW_OK);
        sn_shape *shape = test_shape(context, bar, NULL, 0, positions, def.count, &weights);
        assert_true(shape->report.condition < 10);
        assert_true(shape->report.node_error < 1e-9);
        sn_shape_destroy(shape);

        for (int i = 0; i < def.count && def.count <= 5; i++) {
            test_close("on the axis", hypot(positions[3 * i + 1], positions[3 * i + 2]), 0, 1e-9);
        }
    }

    // A given node stays.
    const double fixed[3] = {0.1, 0.04, 0};
    double positions[9];
    def.count = 3;
    def.fixed = fixed;
    def.fixed_count = 1;
    assert_int_equal(sinew_place_nodes(context, bar, NULL, 0, &def, positions, NULL), SINEW_OK);
    assert_memory_equal(positions, fixed, sizeof fixed);
    assert_true(fabs(positions[3]) > 0.4 && fabs(positions[6]) > 0.4);
    assert_true(positions[3] * positions[6] < 0);

    sinew_voxels_destroy(bar);
    sinew_context_destroy(context);
}

static void test_refusals(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *bar = test_solid(context, SINEW_SOLID_BOX, 1, 0.1, 0.1, 0.02);
    sinew_weights_def def = spectral_def();
    sn_shape *shape = NULL;

    // Three nodes in one section of a bar see the same of every mode along it.
    const double section[9] = {0, 0, 0, 0, 0.02, 0, 0, 0, 0.02};
    assert_int_equal(sn_shape_create(context, bar, NULL, 0, section, 3, &def, &shape),
                     SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "cannot tell"));

    // More nodes than a voxel may have.
    double many[60];
    for (int i = 0; i < 20; i++) {
        many[3 * i] = -0.49 + i * 0.05;
        many[3 * i + 1] = many[3 * i + 2] = 0;
    }
    assert_int_equal(sn_shape_create(context, bar, NULL, 0, many, 20, &def, &shape),
                     SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "nodes_per_voxel"));
    sinew_voxels_destroy(bar);

    // Too few voxels.
    sinew_voxels *tiny = test_solid(context, SINEW_SOLID_BOX, 0.03, 0.01, 0.01, 0.01);
    assert_int_equal(sn_shape_create(context, tiny, NULL, 0, many + 27, 1, &def, &shape),
                     SINEW_INVALID_ARGUMENT);
    sinew_voxels_destroy(tiny);
    sinew_context_destroy(context);
}

static void test_threads_and_shortage(void **state) {
    (void)state;
    sinew_weights_def def = spectral_def();
    test_shape_threads(&def);
    test_shape_shortage(&def);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_box),
        cmocka_unit_test(test_against_dense),
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_continuity),
        cmocka_unit_test(test_placement),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_threads_and_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
