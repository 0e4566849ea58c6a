// Quadrature points in regions: moments equal those of the voxels, volumes are positive, and there
// are no more points than promised; energies, forces and stiffness equal those of all voxels where
// weights are linear, at each degree of the table of Gilles et al. (2013).
#include "support/frames.h"
#include "support/solid.h"

#include "body/body.h"
#include "frame/body/frame_body.h"
#include "frame/sampling/samples_internal.h"

#include <math.h>
#include <stdlib.h>

static void check_moments(int32_t degree, const double *positions, int32_t n, const char *what) {
    int32_t *chosen = calloc((size_t)n, sizeof *chosen);
    int32_t m = (degree + 1) * (degree + 2) * (degree + 3) / 6;
    double *volumes = calloc((size_t)n, sizeof *volumes);
    double *work = calloc(sn_select_work(degree), sizeof *work);
    for (int32_t i = 0; i < n; i++) {
        volumes[i] = 0.125;
    }

    int32_t count = sn_select_points(degree, positions, n, NULL, chosen, volumes, work);

    assert_true(count > 0 && count <= (n < m ? n : m));
    double all[SN_MAX_MONOMIALS] = {0}, some[SN_MAX_MONOMIALS] = {0}, values[SN_MAX_MONOMIALS];
    for (int32_t i = 0; i < n; i++) {
        sn_compute_monomials(values, degree, sn_load3(positions + 3 * i));
        for (int32_t k = 0; k < m; k++) {
            all[k] += 0.125 * values[k];
        }
    }

    for (int32_t i = 0; i < count; i++) {
        assert_true(volumes[i] > 0 && (i == 0 || chosen[i] > chosen[i - 1]));
        sn_compute_monomials(values, degree, sn_load3(positions + 3 * chosen[i]));
        for (int32_t k = 0; k < m; k++) {
            some[k] += volumes[i] * values[k];
        }
    }

    // Coordinates are below 1, so that all[0] bounds every moment.
    for (int32_t k = 0; k < m; k++) {
        if (fabs(some[k] - all[k]) > 1e-11 * all[0]) {
            fail_msg("%s, degree %d, moment %d: %g, not %g", what, degree, k, some[k], all[k]);
        }
    }

    free(chosen);
    free(volumes);
    free(work);
}

static void test_selection(void **state) {
    (void)state;
    enum { MOST = 3000 };

    static double positions[3 * MOST];
    sn_random random = sn_random_seed(41);
    for (int32_t degree = 1; degree <= 8; degree++) {
        for (int32_t i = 0; i < 3 * MOST; i++) {
            positions[i] = sn_random_range(&random, -1, 1);
        }

        check_moments(degree, positions, 5, "few");
        check_moments(degree, positions, degree > 4 ? 400 : MOST, "many");
        for (int32_t i = 0; i < MOST; i++) {
            positions[3 * i + 1] = 0.3; // flat
        }

        check_moments(degree, positions, 500, "flat");
        for (int32_t i = 0; i < MOST; i++) { // on a grid, and slanted
            int32_t x = i % 10;

            int32_t y = i / 10 % 10;
            int32_t z = i / 100;
            sn_store3(positions + 3 * i, sn_v3(0.05 * x, 0.05 * y + 0.01 * x, 0.03 * z));
        }

        check_moments(degree, positions, 1000, "grid");
    }
}

// Points fitted to the voxels of a part of a grid of 8 x 6 x 4. Returns their number.
static int32_t check_fit(bool (*contains)(int x, int y, int z), const char *what) {
    enum { MOST = 8 * 6 * 4, DEGREE = SN_FIT_DEGREE, MOMENTS = 35 };
    const double h[3] = {0.1, 0.12, 0.15};
    double centers[3 * MOST], parts[MOST], positions[3 * SN_FIT_POINTS], volumes[SN_FIT_POINTS];
    static double work[SN_FIT_WORK];
    sn_fit_input input = {.centers = centers, .parts = parts, .box = h};

    // Voxels, some of which are filled in part, and their centroid and covariance.
    for (int i = 0; i < MOST; i++) {
        int x = i % 8;
        int y = i / 8 % 6;
        int z = i / 48;
        if (!contains(x, y, z)) {
            continue;
        }
        sn_vec3 c = sn_v3(h[0] * (x + 0.5) - 0.4, h[1] * (y + 0.5) - 0.4, h[2] * (z + 0.5) - 0.3);
        double part = h[0] * h[1] * h[2] * (x == 0 ? 0.7 : 1);
        sn_store3(centers + 3 * input.count, c);
        parts[input.count++] = part;
        input.volume += part;
        input.center = sn_madd(input.center, part, c);
    }

    input.center = sn_scale(1 / input.volume, input.center);
    sn_mat3 root = {{{0}}};
    for (int a = 0; a < 3; a++) {
        for (int32_t i = 0; i < input.count; i++) {
            double center[3];
            sn_store3(center, input.center);
            double d = centers[3 * i + a] - center[a];
            root.m[a][a] += parts[i] / input.volume * (d * d + h[a] * h[a] / 12);
        }
        root.m[a][a] = sqrt(root.m[a][a]);
    }
    input.root = &root;

    int32_t count = sn_fit_points(&input, positions, volumes, work);
    double all[MOMENTS] = {0}, some[MOMENTS] = {0}, values[MOMENTS];

    // Moments of the voxels by Gauss points, which are exact.
    sn_gauss gauss = sn_gauss_points(DEGREE);
    for (int32_t i = 0; i < input.count; i++) {
        for (int k = 0; k < 27; k++) {
            const int at[3] = {k % 3, k / 3 % 3, k / 9};
            double X[3], part = parts[i];
            for (int a = 0; a < 3; a++) {
                X[a] = centers[3 * i + a] + 0.5 * h[a] * gauss.position[at[a]];
                part *= gauss.weight[at[a]];
            }
            sn_compute_monomials(values, DEGREE, sn_load3(X));
            for (int m = 0; m < MOMENTS; m++) {
                all[m] += part * values[m];
            }
        }
    }

    for (int32_t p = 0; p < count; p++) {
        assert_true(volumes[p] > 0);
        sn_compute_monomials(values, DEGREE, sn_load3(positions + 3 * p));
        for (int a = 0; a < 3; a++) {
            assert_true(fabs(positions[3 * p + a]) <= 0.4 + 1e-12);
        }
        for (int m = 0; m < MOMENTS; m++) {
            some[m] += volumes[p] * values[m];
        }
    }

    // Coordinates are below 1, so that the volume bounds every moment; the fit ends at 1e-13 of it.
    for (int m = 0; m < MOMENTS && count > 0; m++) {
        if (fabs(some[m] - all[m]) > 1e-12 * all[0]) {
            fail_msg("%s, moment %d: %g, not %g", what, m, some[m], all[m]);
        }
    }
    return count;
}

static bool in_box(int x, int y, int z) {
    (void)x, (void)y, (void)z;
    return true;
}

static bool in_wedge(int x, int y, int z) {
    (void)z;
    return x + y < 8;
}

static bool in_corner(int x, int y, int z) {
    return x < 3 || y < 2 || z < 1;
}

// Two separate rods: no points inside have the moments without being many.
static bool in_rods(int x, int y, int z) {
    return z == 0 && (y == 0 || y == 5) && x < 8;
}

static void test_fit(void **state) {
    (void)state;
    int32_t box = check_fit(in_box, "box");
    int32_t wedge = check_fit(in_wedge, "wedge");
    assert_true(box >= 10 && box <= SN_FIT_POINTS);
    assert_true(wedge >= 10 && wedge <= SN_FIT_POINTS);

    // Moments are right or nothing is found.
    check_fit(in_corner, "corner");
    check_fit(in_rods, "rods");
}

typedef struct options {
    sinew_node_kind kind;
    const char *law;
    int32_t degree; // below -1: one region per voxel
    int32_t threads, regions;
    int32_t exact; // degree that integrates the law over a voxel
} options;

// A bar with frames at its ends and weights linear between them.
static test_frames_def bar_of(sinew_context *context, options o) {
    test_frames_def def = test_default_frames_def(o.kind, 0.5);
    def.size[1] = 0.3;
    def.nodes[1] = (sinew_frame_node){o.kind, {0.5, 0.05, 0}};
    def.body.node_count = 2;
    def.body.assumed_strain = false; // points alone
    assert_int_equal(sinew_material_set_law(context, o.law, &def.material), SINEW_OK);
    def.material.poisson = 0.3;
    def.material.inversion = false; // the polynomial without extension

    // One region for each voxel, which is integrated as a box.
    if (o.degree < -1) {
        def.body.sampling.kind = SINEW_SAMPLING_REGIONS;
        def.body.sampling.count = 1 << 20;
        def.body.sampling.degree = o.exact;
    }

    if (o.degree >= -1) {
        def.body.sampling.kind = SINEW_SAMPLING_REGIONS;
        def.body.sampling.count = o.regions ? o.regions : 3;
        def.body.sampling.degree = o.degree;
    }

    return def;
}

static test_frames make(options o) {
    sinew_context *context = test_context(o.threads ? o.threads : 1);
    test_frames_def def = bar_of(context, o);
    return test_frames_create(context, &def);
}

// Rotated as a whole and deformed at random; with `straight`, such that the rotation of F is the
// same everywhere.
static void deform(const sinew_body *body, bool straight, double *q) {
    const sn_frame_model *model = body->model;
    sn_random random = sn_random_seed(17);
    sn_quat R = sn_quat_exp(sn_v3(1.1, -0.7, 1.9));
    double *xi = calloc((size_t)sn_body_size(body), sizeof *xi);

    for (int32_t i = 0; i < 2; i++) {
        const sn_node *node = &model->nodes.items[i];
        double *rows = xi + 3 * node->row;
        for (int32_t k = 0; k < 3 * node->row_count; k++) {
            rows[k] = straight ? 0 : sn_random_range(&random, -0.1, 0.1);
        }

        if (!straight) {
            continue;
        }

        // Along x only: a shift, a stretch, and for quadratic frames a change of stretch.
        sn_vec3 axis = sn_quat_rotate(R, sn_v3(1, 0, 0));

        sn_store3(xi + 3 * sn_node_translation_row(node), sn_scale(i ? 0.2 : -0.1, axis));
        if (node->kind == SINEW_NODE_RIGID) {
            continue;
        }

        sn_store3(rows + 3, sn_scale(i ? 0.1 : 0.3, axis));
        if (node->kind == SINEW_NODE_QUADRATIC) {
            sn_store3(rows + 12, sn_scale(i ? 0.2 : -0.1, axis));
        }
    }

    test_frames_place(body, xi, q);
    free(xi);
}

// Largest relative difference of energy, force and (unless `straight`) stiffness from those with
// one sample per voxel.
static double difference(options o, bool straight) {
    test_frames sparse = make(o);
    o.degree = -2;

    test_frames dense = make(o);
    test_frames *both[2] = {&sparse, &dense};
    double *force[2], *matrix[2], energy[2];

    for (int k = 0; k < 2; k++) {
        sinew_body *body = both[k]->body;
        double *q = calloc((size_t)body->config_count, sizeof *q);
        force[k] = calloc((size_t)sn_body_size(body), sizeof(double));
        matrix[k] = calloc(sn_bsr_value_count(&body->pattern), sizeof(double));
        deform(body, straight, q);
        sn_evaluation evaluation = {
            .q = q, .want_energy = true, .force = force[k], .matrix = matrix[k]};
        body->ops->elasticity.evaluate(body, &evaluation);
        energy[k] = evaluation.energy;
        free(q);
    }

    assert_true(energy[1] > 0.1);
    double error = fabs(energy[0] / energy[1] - 1);

    error = fmax(error, test_relative_error(force[0], force[1], (size_t)sn_body_size(dense.body)));

    // The stiffness of a rotation that follows F has terms that are not polynomials.
    if (!straight) {
        error = fmax(error, test_relative_error(matrix[0], matrix[1],
                                                sn_bsr_value_count(&dense.body->pattern)));
    }

    for (int k = 0; k < 2; k++) {
        free(force[k]);
        free(matrix[k]);
    }

    test_frames_destroy(&sparse);
    test_frames_destroy(&dense);

    return error;
}

static void test_table(void **state) {
    (void)state;
    static const struct {
        sinew_node_kind kind;
        const char *law;
        int32_t degree;
        bool straight; // corotational: exact where the rotation is constant in the region
    } rows[] = {
        {SINEW_NODE_RIGID, "corotational", 2, true},
        {SINEW_NODE_AFFINE, "corotational", 2, true},
        {SINEW_NODE_RIGID, "linear", 2, false},
        {SINEW_NODE_AFFINE, "linear", 2, false},
        {SINEW_NODE_RIGID, "st-venant-kirchhoff", 4, false},
        {SINEW_NODE_AFFINE, "st-venant-kirchhoff", 4, false},
        {SINEW_NODE_QUADRATIC, "corotational", 4, true},
        {SINEW_NODE_QUADRATIC, "linear", 4, false},
        {SINEW_NODE_QUADRATIC, "st-venant-kirchhoff", 8, false},
    };

    // Under sanitizers two rows; test_bounds has the highest degree.
    size_t count = TEST_SANITIZED ? 5 : sizeof rows / sizeof *rows;
    for (size_t i = 0; i < count; i += TEST_SANITIZED ? 4 : 1) {
        options o = {.kind = rows[i].kind,
                     .law = rows[i].law,
                     .degree = rows[i].degree,
                     .exact = rows[i].degree};
        double error = difference(o, rows[i].straight);
        if (!(error < 1e-9)) {
            fail_msg("%s, kind %d, degree %d: %g", o.law, (int)o.kind, o.degree, error);
        }

        // A lower degree is not enough: the test can fail.
        o.degree = rows[i].degree == 2 ? 1 : rows[i].degree / 2;
        if (!(rows[i].kind == SINEW_NODE_RIGID && rows[i].straight)) {
            assert_true(difference(o, rows[i].straight) > 1e-7);
        }
    }
}

// The error where the table's degree is cut or its conditions do not hold.
static void test_bounds(void **state) {
    (void)state;
    double cut = difference(
        (options){
            .kind = SINEW_NODE_QUADRATIC, .law = "st-venant-kirchhoff", .degree = 4, .exact = 8},
        false);
    assert_true(cut < 0.02);
    double bent = difference(
        (options){.kind = SINEW_NODE_AFFINE, .law = "corotational", .degree = 2, .exact = 4},
        false);
    double midpoint = difference(
        (options){.kind = SINEW_NODE_AFFINE, .law = "corotational", .degree = 0, .exact = 4},
        false);
    assert_true(bent < 0.02 && midpoint > 5 * bent);
}

static void test_counts(void **state) {
    (void)state;
    static const int32_t most[5] = {1, 1, 6, 20, 35};
    for (int32_t degree = -1; degree <= 4; degree++) {
        test_frames f =
            make((options){.kind = SINEW_NODE_AFFINE, .law = "corotational", .degree = degree});
        sinew_sampling_report report;

        assert_int_equal(sinew_frame_body_get_report(f.body, NULL, &report), SINEW_OK);
        assert_int_equal(report.sample_count, 3);
        assert_true(report.point_count <= 3 * most[degree < 0 ? 2 : degree]);
        if (degree < 0 || degree == 2) {
            assert_int_equal(report.point_count, 18);
        }

        double volume = 0;
        const sn_frame_model *model = f.body->model;
        const sn_frame_samples *points = model->layers.items[0]->points;

        for (int32_t p = 0; p < points->count; p++) {
            volume += points->volume[p];
        }

        test_close("volume", volume, 0.06, 1e-14);
        test_frames_destroy(&f);
    }

    // Green strain selects a higher degree automatically.
    test_frames f =
        make((options){.kind = SINEW_NODE_AFFINE, .law = "st-venant-kirchhoff", .degree = -1});

    assert_int_equal(((const sn_frame_model *)f.body->model)->base_samples->degree, 4);
    test_frames_destroy(&f);
}

// The points of a solid with a bay, cut into regions, computed in a rotated grid.
static sn_frame_samples *turned_points(const sinew_voxels *voxels, test_turn turn, sn_arena *arena,
                                       sn_quadrature *quadrature) {
    const double at[2][3] = {{-0.33, 0.2, 0.02}, {0.29, -0.27, -0.02}};
    double nodes[6];
    for (int i = 0; i < 2; i++) {
        sn_store3(nodes + 3 * i, test_turn_point(turn, sn_load3(at[i])));
    }

    sinew_weights_def weights = sinew_default_weights_def();
    weights.kind = SINEW_WEIGHTS_RADIAL;

    sinew_sampling_def sampling = sinew_default_sampling_def();
    sampling.count = 9;

    sn_shape *shape = NULL;
    sn_frame_samples *samples = NULL;

    assert_int_equal(sn_shape_create(arena->context, voxels, NULL, 0, nodes, 2, &weights, &shape),
                     SINEW_OK);
    assert_int_equal(sn_samples_create(shape, &sampling, &samples), SINEW_OK);
    assert_int_equal(sn_quadrature_create(arena, shape, samples, quadrature), SINEW_OK);
    sn_shape_destroy(shape);

    return samples;
}

static void test_turned(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *voxels = test_solid(context, SINEW_SOLID_L, 1, 0.8, 0.2, 0.05);
    sn_arena arena = sn_arena_create(context);
    sn_quadrature rest, turned;
    sn_frame_samples *samples = turned_points(voxels, test_turn_number(0), &arena, &rest);

    assert_true(rest.count >= 4 * samples->count);
    for (int number = 1; number < 48; number += TEST_SANITIZED ? 23 : 5) {
        test_turn turn = test_turn_number(number);
        sinew_voxels *image = test_turn_voxels(voxels, turn, 1, NULL);
        sn_frame_samples *others = turned_points(image, turn, &arena, &turned);

        assert_int_equal(turned.count, rest.count);
        for (int32_t p = 0; p < rest.count; p++) {
            sn_vec3 expected = test_turn_point(turn, sn_load3(rest.position + 3 * p));
            int32_t found = 0;
            for (int32_t k = 0; k < turned.count; k++) {
                found += sn_distance(expected, sn_load3(turned.position + 3 * k)) < 1e-9 &&
                         fabs(turned.volume[k] - rest.volume[p]) < 1e-12;
            }

            if (found != 1) {
                fail_msg("turn %d: point %d is there %d times", number, p, found);
            }
        }

        sn_samples_destroy(others);
        sinew_voxels_destroy(image);
    }

    sn_samples_destroy(samples);
    sn_arena_destroy(&arena);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

// A frame that joins a body of regions: the fade applies to all of their points.
static void test_insertion(void **state) {
    (void)state;
    test_frames f = make(
        (options){.kind = SINEW_NODE_RIGID, .law = "corotational", .degree = 2, .regions = 20});

    deform(f.body, false, f.body->q);
    sinew_measures before, after;

    sinew_body_get_measures(f.body, &before);
    sinew_frame_insert_def def = sinew_default_frame_insert_def();

    def.position[0] = 0.1;
    def.range = 0.3;
    if (sinew_frame_body_insert(f.body, &def, NULL) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f.context));
    }

    sinew_body_get_measures(f.body, &after);
    test_close("energy", after.elastic_energy, before.elastic_energy, 1e-9 * before.elastic_energy);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
    }

    assert_int_equal(sinew_frame_body_remove(f.body, 2, 0.1), SINEW_OK);
    assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
    test_frames_destroy(&f);
}

static void test_threads_and_shortage(void **state) {
    (void)state;
    uint64_t hash = 0;
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        test_frames f = make((options){.kind = SINEW_NODE_AFFINE,
                                       .law = "st-venant-kirchhoff",
                                       .degree = 4,
                                       .threads = threads,
                                       .regions = 20});
        assert_int_equal(sinew_frame_body_hold(f.body, 0, SINEW_HOLD_ALL), SINEW_OK);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(sinew_world_step(f.world, NULL), SINEW_OK);
        }

        if (threads == 1) {
            hash = sinew_world_get_hash(f.world);
        }

        assert_true(sinew_world_get_hash(f.world) == hash);
        test_frames_destroy(&f);
    }

    bool done = false;
    int64_t stride = TEST_SANITIZED ? 5 : 1;
    for (int64_t n = 20; !done && n < 1000; n += stride * (n < 80 ? 1 : 7)) {
        test_allocator allocator = {.fail_at = n};
        sinew_context *context = test_context_failing(&allocator);
        if (!context) {
            continue;
        }

        test_frames f;
        test_frames_def def = bar_of(
            context, (options){.kind = SINEW_NODE_AFFINE, .law = "corotational", .degree = 4});

        done = test_frames_try(&f, context, &def) == SINEW_OK;
        test_frames_destroy(&f);
        assert_int_equal(allocator.live, 0);
    }

    assert_true(done);
}

int main(void) {
    if (TEST_WATCHES_THREADS) {
        cmocka_set_test_filter("test_threads*");
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selection), cmocka_unit_test(test_fit),
        cmocka_unit_test(test_table),     cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_counts),    cmocka_unit_test(test_turned),
        cmocka_unit_test(test_insertion), cmocka_unit_test(test_threads_and_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
