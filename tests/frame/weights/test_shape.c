// Shape functions in closed form and by distance: values and gradients compared with formulas and
// finite differences, partition of unity, bound labels, evaluation between voxels and at the
// surface, threads, invalid input, memory shortage.
#include "support/shape.h"

#include <math.h>

static double weight_of(const sn_shape_point *point, int32_t node) {
    for (int32_t k = 0; k < point->count; k++) {
        if (point->node[k] == node) {
            return point->weight[k];
        }
    }
    return 0;
}

static sn_vec3 gradient_of(const sn_shape_point *point, int32_t node) {
    for (int32_t k = 0; k < point->count; k++) {
        if (point->node[k] == node) {
            return sn_load3(point->gradient[k]);
        }
    }
    return sn_v3(0, 0, 0);
}

// Sums to one, gradients to zero, nodes ascending.
static void check_unity(const sn_shape_point *point) {
    double sum = 0, scale = 1;
    sn_vec3 slope = sn_v3(0, 0, 0);
    for (int32_t k = 0; k < point->count; k++) {
        sum += point->weight[k];
        slope = sn_add(slope, sn_load3(point->gradient[k]));
        scale = fmax(scale, sn_length(sn_load3(point->gradient[k])));
        if (k) {
            assert_true(point->node[k] > point->node[k - 1]);
        }
    }

    test_close("sum of weights", sum, 1, 1e-12);
    test_close("sum of gradients", sn_length(slope), 0, 1e-11 * scale);
}

static void test_axis_reproduces_linear_motion(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_voxels *voxels = test_solid(context, SINEW_SOLID_BOX, 2, 0.3, 0.2, 0.05);

    // Unequally spaced, not in order, on a slanted axis within the bar.
    const double nodes[15] = {0.2, 0, 0, -1, 0.1, 0, 1, 0, -0.05, -0.35, 0, 0, 0.55, -0.1, 0.05};
    sinew_weights_def def = sinew_default_weights_def();

    for (int kind = 0; kind < 2; kind++) {
        def.kind = kind ? SINEW_WEIGHTS_AXIS_CUBIC : SINEW_WEIGHTS_AXIS_LINEAR;
        def.axis[0] = 2;
        def.axis[1] = 0.1;

        sn_shape *shape = test_shape(context, voxels, NULL, 0, nodes, 5, &def);
        sn_vec3 axis = sn_normalize(sn_load3(def.axis));
        double smallest = 0;

        test_close("node error", shape->report.node_error, 0, 1e-12);
        for (int32_t v = 0; v < voxels->count; v++) {
            sn_shape_point point;
            sn_shape_at_voxel(shape, v, &point);
            check_unity(&point);

            sn_vec3 p = sn_voxel_center(voxels, v);
            sn_vec3 slope = sn_v3(0, 0, 0);
            double s = sn_dot(axis, p);
            double sum = 0;

            for (int32_t k = 0; k < point.count; k++) {
                double node_s = sn_dot(axis, sn_load3(nodes + 3 * point.node[k]));
                sum += point.weight[k] * node_s;
                slope = sn_madd(slope, node_s, sn_load3(point.gradient[k]));
                smallest = fmin(smallest, point.weight[k]);
            }

            double low = sn_dot(axis, sn_load3(nodes + 3));
            double high = sn_dot(axis, sn_load3(nodes + 6));
            if (s < low || s > high) {
                continue;
            }

            test_close("linear motion", sum, s, 1e-12);
            test_close("its gradient", sn_distance(slope, axis), 0, 1e-11);
        }

        // Also at the first and the last node, where the solid may end.
        for (int32_t i = 0; i < 5; i++) {
            sn_shape_point point;
            sn_vec3 slope = sn_v3(0, 0, 0);
            sn_shape_at_point(shape, sn_load3(nodes + 3 * i), &point);
            for (int32_t k = 0; k < point.count; k++) {
                double node_s = sn_dot(axis, sn_load3(nodes + 3 * point.node[k]));
                slope = sn_madd(slope, node_s, sn_load3(point.gradient[k]));
            }
            test_close("gradient at a node", sn_distance(slope, axis), 0, 1e-11);
        }
        assert_true(kind ? smallest < -0.01 : smallest == 0); // Catmull-Rom goes negative
        sn_shape_destroy(shape);
    }

    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

static void test_exact_gradients(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *voxels = test_solid(context, SINEW_SOLID_BOX, 1, 0.6, 0.4, 0.05);
    const double nodes[12] = {-0.4, 0.1, 0, 0.3, -0.2, 0.1, 0.1, 0.2, -0.1, 0.45, 0.2, 0};
    sinew_weights_def def = sinew_default_weights_def();
    sn_random random = sn_random_seed(4);

    for (int kind = 0; kind < 4; kind++) {
        def.kind = kind == 0 ? SINEW_WEIGHTS_AXIS_CUBIC : SINEW_WEIGHTS_RADIAL;
        def.range = kind == 2 ? 0.7 : 0;
        def.falloff = kind == 3 ? 3.5 : 2;
        def.normalize = kind != 3;

        sn_shape *shape = test_shape(context, voxels, NULL, 0, nodes, 4, &def);
        for (int trial = 0; trial < 50; trial++) {
            sn_vec3 p =
                sn_v3(sn_random_range(&random, -0.49, 0.49), sn_random_range(&random, -0.29, 0.29),
                      sn_random_range(&random, -0.19, 0.19));
            sn_shape_point at;

            sn_shape_at_point(shape, p, &at);
            if (def.normalize) {
                check_unity(&at);
            }

            for (int32_t node = 0; node < 4; node++) {
                sn_vec3 g = gradient_of(&at, node);
                double exact[3];
                double error[2] = {0, 0};
                double size = 0;

                sn_store3(exact, g);
                for (int step = 0; step < 2; step++) {
                    double h = step ? 5e-5 : 1e-4;
                    for (int a = 0; a < 3; a++) {
                        sn_vec3 d = sn_v3(a == 0 ? h : 0, a == 1 ? h : 0, a == 2 ? h : 0);
                        sn_shape_point plus, minus;
                        sn_shape_at_point(shape, sn_add(p, d), &plus);
                        sn_shape_at_point(shape, sn_sub(p, d), &minus);
                        double difference =
                            (weight_of(&plus, node) - weight_of(&minus, node)) / (2 * h);
                        error[step] = fmax(error[step], fabs(difference - exact[a]));
                        size = fmax(size, fabs(exact[a]));
                    }
                }

                // Second order: a quarter of the error at half the step, down to rounding.
                if (error[0] > 1e-6 * (1 + size)) {
                    assert_true(error[1] < 0.3 * error[0]);
                }

                assert_true(error[1] < 1e-4 * (1 + size));
            }
        }

        sn_shape_destroy(shape);
    }

    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

// Two nodes: in a straight bar geodesic weights equal the radial ones; in a U they follow the path
// inside the solid.
static void test_geodesic_in_a_bar_and_a_u(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_voxels *bar = test_solid(context, SINEW_SOLID_BOX, 1, 0.2, 0.2, 0.025);
    const double ends[6] = {-0.4, 0.01, 0, 0.45, 0, 0.02};
    sinew_weights_def def = sinew_default_weights_def();

    def.kind = SINEW_WEIGHTS_GEODESIC;
    def.falloff = 1;

    sn_shape *geodesic = test_shape(context, bar, NULL, 0, ends, 2, &def);
    def.kind = SINEW_WEIGHTS_RADIAL;

    sn_shape *radial = test_shape(context, bar, NULL, 0, ends, 2, &def);
    double worst = 0;
    for (int32_t v = 0; v < bar->count; v++) {
        sn_shape_point a, b;
        sn_shape_at_voxel(geodesic, v, &a);
        sn_shape_at_voxel(radial, v, &b);
        check_unity(&a);
        worst = fmax(worst, fabs(weight_of(&a, 0) - weight_of(&b, 0)));
    }

    assert_true(worst < 5e-3); // the marching error
    sn_shape_destroy(geodesic);
    sn_shape_destroy(radial);
    sinew_voxels_destroy(bar);
    sinew_context_destroy(context);
}

static void test_range_and_unreached(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *bar = test_solid(context, SINEW_SOLID_BOX, 1, 0.2, 0.2, 0.05);
    const double node[6] = {-0.4, 0, 0, -0.2, 0, 0};
    sinew_weights_def def = sinew_default_weights_def();

    for (int kind = 0; kind < 2; kind++) {
        def.kind = kind ? SINEW_WEIGHTS_GEODESIC : SINEW_WEIGHTS_RADIAL;
        def.range = 0.3;
        def.adopt_unreached = false;

        sn_shape *shape = NULL;
        assert_int_equal(sn_shape_create(context, bar, NULL, 0, node, 2, &def, &shape),
                         SINEW_INVALID_DATA);
        assert_non_null(strstr(sinew_context_message(context), "no node reaches"));
        def.adopt_unreached = true;
        shape = test_shape(context, bar, NULL, 0, node, 2, &def);
        assert_true(shape->report.unreached_voxels > 100);

        sn_shape_point far;
        sn_shape_at_point(shape, sn_v3(0.4, 0, 0), &far);
        assert_int_equal(far.count, 1);
        assert_int_equal(far.node[0], 1); // the nearer one
        sn_shape_destroy(shape);
    }

    sinew_voxels_destroy(bar);
    sinew_context_destroy(context);
}

static void test_bound_labels(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *bar = test_solid(context, SINEW_SOLID_BOX, 1, 0.2, 0.2, 0.05);

    test_paint_box(bar, sn_v3(-0.5, 0, 0), sn_v3(0.6, 1, 1), 7);
    sinew_tissue tissues[2] = {sinew_default_tissue(), sinew_default_tissue()};

    tissues[1].label = 7;
    tissues[1].node = 0;
    tissues[1].rigid = true;

    const double nodes[6] = {-0.4, 0, 0, 0.4, 0, 0};
    sinew_weights_def def = sinew_default_weights_def();

    def.kind = SINEW_WEIGHTS_RADIAL;
    sn_shape *shape = NULL;

    assert_int_equal(sn_shape_create(context, bar, tissues, 2, nodes, 2, &def, &shape), SINEW_OK);
    for (int32_t v = 0; v < bar->count; v++) {
        sn_shape_point at;
        sn_shape_at_voxel(shape, v, &at);
        if (bar->label[v] != 7) {
            continue;
        }

        assert_int_equal(at.count, 1);
        assert_true(at.weight[0] == 1 && at.node[0] == 0 && at.gradient[0][0] == 0);
    }

    sn_shape_point outside; // a vertex beside the bound part follows it
    sn_shape_at_point(shape, sn_v3(-0.4, 0.11, 0), &outside);
    assert_true(outside.count == 1 && outside.node[0] == 0 && outside.weight[0] == 1);
    sn_shape_destroy(shape);

    // A label without a tissue, with two tissues, or bound to a node that does not exist.
    assert_int_equal(sn_shape_create(context, bar, tissues, 1, nodes, 2, &def, &shape),
                     SINEW_NOT_FOUND);
    assert_non_null(strstr(sinew_context_message(context), "label 7"));
    tissues[1].label = 1;
    assert_int_equal(sn_shape_create(context, bar, tissues, 2, nodes, 2, &def, &shape),
                     SINEW_INVALID_ARGUMENT);
    tissues[1].label = 7;
    tissues[1].node = 2;
    assert_int_equal(sn_shape_create(context, bar, tissues, 2, nodes, 2, &def, &shape),
                     SINEW_INVALID_ARGUMENT);
    sinew_voxels_destroy(bar);
    sinew_context_destroy(context);
}

// Weights that are linear in space stay linear between voxels, at the surface and a little outside.
static void test_points_keep_linear_weights(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_voxels *ball = test_solid(context, SINEW_SOLID_SPHERE, 1, 0.8, 0.6, 0.05);
    double *values = sn_allocate(context, (size_t)ball->count * 2, sizeof *values);
    sn_vec3 slope = sn_v3(0.6, -0.4, 0.3);

    for (int32_t v = 0; v < ball->count; v++) {
        values[2 * v] = 0.5 + sn_dot(slope, sn_voxel_center(ball, v));
        values[2 * v + 1] = 1 - values[2 * v];
    }

    const double nodes[6] = {-0.2, 0, 0, 0.2, 0, 0};
    sinew_weights_def def = sinew_default_weights_def();

    def.kind = SINEW_WEIGHTS_USER;
    def.values = values;
    def.cutoff = 0;

    sn_shape *shape = test_shape(context, ball, NULL, 0, nodes, 2, &def);
    sn_random random = sn_random_seed(8);
    double points[600];

    for (int i = 0; i < 200; i++) {
        sn_vec3 d =
            sn_normalize(sn_v3(sn_random_range(&random, -1, 1), sn_random_range(&random, -1, 1),
                               sn_random_range(&random, -1, 1)));
        double r = i % 2 ? 1 : sn_random_unit(&random); // on the true surface, or inside
        sn_store3(points + 3 * i, sn_v3(0.5 * r * d.x, 0.4 * r * d.y, 0.3 * r * d.z));
    }

    sn_arena arena = sn_arena_create(context);
    sn_vertex_weights vertices;

    assert_int_equal(sn_shape_compute_vertices(shape, &arena, points, 200, &vertices), SINEW_OK);
    for (int i = 0; i < 200; i++) {
        sn_vec3 p = sn_load3(points + 3 * i);
        sn_shape_point at;

        sn_shape_at_point(shape, p, &at);
        check_unity(&at);

        // A point of the true surface can lie outside every voxel's box. It gets the weight of the
        // closest point of a box.
        double error = fabs(weight_of(&at, 0) - (0.5 + sn_dot(slope, p)));

        assert_true(error < (i % 2 ? 0.03 : 1e-12));
        test_close("gradient", sn_distance(gradient_of(&at, 0), slope), 0, 1e-11);
        for (int32_t k = vertices.start[i]; k < vertices.start[i + 1]; k++) {
            assert_true(vertices.weight[k] == weight_of(&at, vertices.node[k]));
        }
    }

    sn_arena_destroy(&arena);
    sn_shape_destroy(shape);
    sn_release(context, values, (size_t)ball->count * 2, sizeof *values);
    sinew_voxels_destroy(ball);
    sinew_context_destroy(context);
}

// Some vertices have more weights than are kept between counting and packing.
static void test_vertices_of_many_nodes(void **state) {
    (void)state;
    enum { NODES = 60, POINTS = 700 };

    sinew_context *context = test_context(2);
    sinew_voxels *bar = test_solid(context, SINEW_SOLID_BOX, 2, 0.2, 0.2, 0.05);
    double nodes[3 * NODES], points[3 * POINTS];

    for (int i = 0; i < NODES; i++) {
        sn_store3(nodes + 3 * i, sn_v3(-0.98 + 0.016 * i, 0, 0)); // dense on one side
    }

    for (int i = 0; i < POINTS; i++) {
        sn_store3(points + 3 * i, sn_v3(0.99 - 1.98 * i / POINTS, 0.09 * sin(i), 0.09 * cos(i)));
    }

    sinew_weights_def def = sinew_default_weights_def();
    def.kind = SINEW_WEIGHTS_GEODESIC;
    def.range = 0.6;
    def.nodes_per_voxel = 50;
    def.adopt_unreached = true;

    sn_shape *shape = test_shape(context, bar, NULL, 0, nodes, NODES, &def);
    sn_arena arena = sn_arena_create(context);
    sn_vertex_weights vertices;

    assert_int_equal(sn_shape_compute_vertices(shape, &arena, points, POINTS, &vertices), SINEW_OK);

    // Every vertex has the weights of its point, without zeros.
    int32_t fewest = NODES;
    int32_t most = 0;

    for (int i = 0; i < POINTS; i++) {
        sn_shape_point at;
        sn_shape_at_point(shape, sn_load3(points + 3 * i), &at);

        int32_t k = vertices.start[i];
        for (int32_t e = 0; e < at.count; e++) {
            if (at.weight[e] == 0) {
                continue;
            }
            assert_int_equal(vertices.node[k], at.node[e]);
            assert_true(vertices.weight[k++] == at.weight[e]);
        }

        assert_int_equal(vertices.start[i + 1], k);
        int32_t count = k - vertices.start[i];

        fewest = count < fewest ? count : fewest;
        most = count > most ? count : most;
    }

    assert_true(fewest < 5 && most > 40);
    sn_arena_destroy(&arena);
    sn_shape_destroy(shape);
    sinew_voxels_destroy(bar);
    sinew_context_destroy(context);
}

static void test_cap_and_cutoff(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *bar = test_solid(context, SINEW_SOLID_BOX, 1, 0.2, 0.2, 0.05);
    double nodes[60];

    for (int i = 0; i < 20; i++) {
        sn_store3(nodes + 3 * i, sn_v3(-0.475 + 0.05 * i, 0.03 * (i % 3 - 1), 0.01));
    }

    sinew_weights_def def = sinew_default_weights_def();
    def.kind = SINEW_WEIGHTS_RADIAL;
    def.nodes_per_voxel = 4;

    sn_shape *shape = test_shape(context, bar, NULL, 0, nodes, 20, &def);
    assert_int_equal(shape->report.most_nodes, 20);
    assert_true(shape->report.largest_loss > 0.1 && shape->report.largest_loss < 0.9);
    assert_true(shape->report.mean_nodes <= 4);

    for (int32_t v = 0; v < bar->count; v++) {
        double sum = 0;
        for (int64_t k = shape->table.start[v]; k < shape->table.start[v + 1]; k++) {
            sum += shape->table.weight[k];
        }

        test_close("capped sum", sum, 1, 1e-12);
        sn_shape_point at;
        sn_shape_at_voxel(shape, v, &at);
        assert_true(at.count <= 4);
        check_unity(&at);
    }

    sn_shape_destroy(shape);
    def.nodes_per_voxel = 16;
    def.cutoff = 0.05;
    shape = test_shape(context, bar, NULL, 0, nodes, 20, &def);

    for (int64_t k = 0; k < shape->report.entry_count; k++) {
        assert_true(shape->table.weight[k] >= 0.05);
    }

    sn_shape_destroy(shape);
    sinew_voxels_destroy(bar);
    sinew_context_destroy(context);
}

static void test_bad_input(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *bar = test_solid(context, SINEW_SOLID_BOX, 1, 0.2, 0.2, 0.05);
    const double good[6] = {-0.4, 0, 0, 0.4, 0, 0};
    const double same[6] = {0.1, 0, 0, 0.1, 0, 0};
    const double outside[6] = {0, 0, 0, 0.8, 0, 0};
    const double not_finite[6] = {0, 0, 0, NAN, 0, 0};
    const double side_by_side[6] = {0, 0.05, 0, 0, -0.05, 0};
    sinew_weights_def def = sinew_default_weights_def();

    def.kind = SINEW_WEIGHTS_RADIAL;
    sn_shape *shape = NULL;

    // No nodes, coincident nodes, nodes that are not finite or outside.
    assert_int_equal(sn_shape_create(context, bar, NULL, 0, good, 0, &def, &shape),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sn_shape_create(context, bar, NULL, 0, same, 2, &def, &shape),
                     SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "nodes 0 and 1 coincide"));
    assert_int_equal(sn_shape_create(context, bar, NULL, 0, not_finite, 2, &def, &shape),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sn_shape_create(context, bar, NULL, 0, outside, 2, &def, &shape),
                     SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "node 1"));

    // A node outside is moved inside if requested.
    def.adopt_outside = true;
    shape = test_shape(context, bar, NULL, 0, outside, 2, &def);
    assert_int_equal(shape->report.moved_nodes, 1);
    test_close("moved in", shape->node_position[3], 0.475, 1e-12);
    sn_shape_destroy(shape);

    // Axis weights need an axis, and nodes at different positions along it.
    def.kind = SINEW_WEIGHTS_AXIS_LINEAR;
    assert_int_equal(sn_shape_create(context, bar, NULL, 0, side_by_side, 2, &def, &shape),
                     SINEW_INVALID_ARGUMENT);
    def.axis[0] = 0;
    assert_int_equal(sn_shape_create(context, bar, NULL, 0, good, 2, &def, &shape),
                     SINEW_INVALID_ARGUMENT);

    // Fields out of range.
    sinew_weights_def bad[8];
    for (int i = 0; i < 8; i++) {
        bad[i] = sinew_default_weights_def();
    }

    bad[0].kind = (sinew_weights)99;
    bad[1].levels = 0;
    bad[2].range = -1;
    bad[3].falloff = 0.5;
    bad[4].tolerance = 0;
    bad[5].cutoff = 0.5;
    bad[6].nodes_per_voxel = 65;
    bad[7].kind = SINEW_WEIGHTS_USER;

    for (int i = 0; i < 8; i++) {
        assert_int_equal(sn_shape_create(context, bar, NULL, 0, good, 2, &bad[i], &shape),
                         SINEW_INVALID_ARGUMENT);
    }

    sinew_voxels_destroy(bar);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

static void test_threads_agree(void **state) {
    (void)state;
    const double nodes[9] = {-0.3, 0, 0, 0.2, 0.1, 0, 0.35, -0.2, 0.1};
    sn_shape *shapes[3];
    sinew_context *contexts[3];
    int64_t bytes[3];
    sinew_voxels *voxels[3];
    sinew_weights_def def = sinew_default_weights_def();

    def.kind = SINEW_WEIGHTS_GEODESIC;
    for (int i = 0; i < 3; i++) {
        contexts[i] = test_context(1 << i);
        bytes[i] = contexts[i]->bytes_in_use;
        voxels[i] = test_solid(contexts[i], SINEW_SOLID_SPHERE, 1, 0.8, 0.6, 0.03);
        shapes[i] = test_shape(contexts[i], voxels[i], NULL, 0, nodes, 3, &def);
        assert_int_equal(shapes[i]->report.entry_count, shapes[0]->report.entry_count);
        size_t size = (size_t)shapes[0]->report.entry_count * sizeof(double);
        assert_memory_equal(shapes[i]->table.weight, shapes[0]->table.weight, size);
    }

    for (int i = 0; i < 3; i++) {
        sn_shape_destroy(shapes[i]);
        sinew_voxels_destroy(voxels[i]);
        assert_int_equal(contexts[i]->bytes_in_use, bytes[i]);
        sinew_context_destroy(contexts[i]);
    }
}

static void test_memory_shortage(void **state) {
    (void)state;
    const double nodes[6] = {-0.3, 0, 0, 0.2, 0.1, 0};
    bool whole = false;

    for (int64_t fail_at = 8; !whole; fail_at++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);
        sinew_voxels *voxels = test_solid(context, SINEW_SOLID_BOX, 1, 0.4, 0.3, 0.05);

        allocator.fail_at = allocator.calls + fail_at - 8;
        sinew_weights_def def = sinew_default_weights_def();

        def.kind = SINEW_WEIGHTS_GEODESIC;
        sn_shape *shape = NULL;
        sinew_status status = sn_shape_create(context, voxels, NULL, 0, nodes, 2, &def, &shape);

        whole = status == SINEW_OK;
        if (!whole) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        sn_shape_destroy(shape);
        sinew_voxels_destroy(voxels);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        assert_true(fail_at < 200);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axis_reproduces_linear_motion),
        cmocka_unit_test(test_exact_gradients),
        cmocka_unit_test(test_geodesic_in_a_bar_and_a_u),
        cmocka_unit_test(test_range_and_unreached),
        cmocka_unit_test(test_bound_labels),
        cmocka_unit_test(test_points_keep_linear_weights),
        cmocka_unit_test(test_vertices_of_many_nodes),
        cmocka_unit_test(test_cap_and_cutoff),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_threads_agree),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
