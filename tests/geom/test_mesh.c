// Meshes: copies, exact volumes of curved elements, every error that the checks report, quality of
// known elements, middle nodes.
#include "mesh_support.h"

static const double pi = 3.14159265358979323846;

// One tet with legs of length 1.
static const double corner_points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const int32_t corner_tet[4] = {0, 1, 2, 3};

static sinew_mesh one_tet(const double *points, const int32_t *indices) {
    return (sinew_mesh){.points = points,
                        .point_count = 4,
                        .element = SINEW_ELEMENT_TET4,
                        .indices = indices,
                        .element_count = 1};
}

static void test_copy_is_equal_and_apart(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh mesh = one_tet(corner_points, corner_tet);
    sinew_mesh *copy = NULL;
    const int32_t label = 5;

    mesh.labels = &label;
    assert_ok(context, sinew_mesh_copy(context, &mesh, &copy));
    assert_int_equal(hash_mesh(copy), hash_mesh(&mesh));
    assert_int_equal(copy->labels[0], 5);
    assert_ptr_not_equal(copy->points, mesh.points);
    test_close("volume", sn_element_volume(copy, 0), 1.0 / 6, 1e-16);
    sinew_mesh_destroy(copy);
    sinew_mesh_destroy(NULL);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

// The volume of a curved element by its definition: det J on a fine grid of the natural
// coordinates.
static double sampled_hex_volume(const double (*p)[3], int n) {
    double volume = 0;
    for (int cell = 0; cell < n * n * n; cell++) {
        double u[3] = {(cell % n + 0.5) / n, (cell / n % n + 0.5) / n, (cell / n / n + 0.5) / n};
        double h = 1e-4;
        double J[3][3];

        for (int axis = 0; axis < 3; axis++) {
            for (int c = 0; c < 3; c++) {
                double value[2];
                for (int side = 0; side < 2; side++) {
                    double v[3] = {u[0], u[1], u[2]};
                    double sum = 0;

                    v[axis] += side ? h : -h;
                    for (int i = 0; i < 8; i++) {
                        int x = i == 1 || i == 2 || i == 5 || i == 6;
                        int y = i == 2 || i == 3 || i == 6 || i == 7;
                        int z = i > 3;
                        sum += (x ? v[0] : 1 - v[0]) * (y ? v[1] : 1 - v[1]) *
                               (z ? v[2] : 1 - v[2]) * p[i][c];
                    }

                    value[side] = sum;
                }

                J[c][axis] = (value[1] - value[0]) / (2 * h);
            }
        }

        volume += J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
                  J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
                  J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
    }

    return volume / (n * n * n);
}

static void test_volume_of_a_distorted_hexahedron(void **state) {
    (void)state;
    double points[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                           {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    sn_random random = sn_random_seed(3);

    for (int i = 0; i < 24; i++) {
        points[i / 3][i % 3] += sn_random_range(&random, -0.2, 0.2);
    }

    const int32_t indices[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    sinew_mesh mesh = {&points[0][0], 8, SINEW_ELEMENT_HEX8, indices, 1, NULL};

    // The midpoint rule has an error of the order of 1 / n^2: extrapolate.
    double coarse = sampled_hex_volume((const double(*)[3])points, 8);
    double fine = sampled_hex_volume((const double(*)[3])points, 16);

    test_close("hexahedron", sn_element_volume(&mesh, 0), fine + (fine - coarse) / 3, 1e-8);
}

// A tet10 whose middle nodes are pushed out: the volume between the flat face and a quadratic one
// is known.
static void test_volume_of_a_curved_tet10(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh tet = one_tet(corner_points, corner_tet);
    sinew_mesh *quadratic = NULL;

    assert_ok(context, sinew_mesh_create_quadratic(context, &tet, &quadratic));
    double points[30];

    memcpy(points, quadratic->points, sizeof points);
    sinew_mesh bent = *quadratic;

    bent.points = points;
    test_close("straight", sn_element_volume(&bent, 0), 1.0 / 6, 1e-16);

    // Pushing the middle of edge 01 by (0, -d, 0) moves the face y = 0 by -4 d L0 L1, and L0 L1
    // integrates to 1/24 over the face of area 1/2; the face z = 0 stays flat.
    points[3 * 4 + 1] -= 0.1;
    test_close("bulged", sn_element_volume(&bent, 0), 1.0 / 6 + 4 * 0.1 / 24, 1e-15);
    assert_ok(context, sn_check_volumes(context, &bent));
    points[3 * 4 + 1] = 0.6; // folded: the edge crosses the tet
    assert_refused(context, sn_check_volumes(context, &bent), SINEW_INVALID_DATA, "element 0");
    sinew_mesh_destroy(quadratic);
    sinew_context_destroy(context);
}

static void test_bad_arrays_are_refused(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh good = one_tet(corner_points, corner_tet);
    sinew_mesh bad;

    assert_ok(context, sinew_mesh_check(context, &good));
    const sinew_status argument = SINEW_INVALID_ARGUMENT;
    const sinew_status data = SINEW_INVALID_DATA;

    assert_refused(context, sinew_mesh_check(context, NULL), argument, "NULL");
    bad = good;
    bad.element = (sinew_element)4;
    assert_refused(context, sinew_mesh_check(context, &bad), argument, "kind 4");
    bad = good;
    bad.points = NULL;
    assert_refused(context, sinew_mesh_check(context, &bad), argument, "points");
    bad = good;
    bad.indices = NULL;
    assert_refused(context, sinew_mesh_check(context, &bad), argument, "indices");
    bad = good;
    bad.point_count = 0;
    assert_refused(context, sinew_mesh_check(context, &bad), argument, "0 points");
    bad = good;
    bad.element_count = -2;
    assert_refused(context, sinew_mesh_check(context, &bad), argument, "-2 elements");
    bad = good;
    bad.element_count = INT32_MAX;
    assert_refused(context, sinew_mesh_check(context, &bad), argument, "elements");
    bad = good;
    bad.element_count = 0;
    assert_refused(context, sinew_mesh_check(context, &bad), data, "no elements");

    const int32_t outside[4] = {0, 1, 2, 4};
    const int32_t negative[4] = {0, -1, 2, 3};
    const int32_t twice[4] = {0, 1, 2, 1};

    bad = good;
    bad.indices = outside;
    assert_refused(context, sinew_mesh_check(context, &bad), data,
                   "element 0 names node 4 at place 3; valid are 0 to 3");
    bad.indices = negative;
    assert_refused(context, sinew_mesh_check(context, &bad), data, "node -1");
    bad.indices = twice;
    assert_refused(context, sinew_mesh_check(context, &bad), data, "node 1 twice");

    double points[12];
    memcpy(points, corner_points, sizeof points);
    points[7] = NAN;
    bad = good;
    bad.points = points;
    assert_refused(context, sinew_mesh_check(context, &bad), data, "point 2");
    points[7] = INFINITY;
    assert_refused(context, sinew_mesh_check(context, &bad), data, "point 2");
    sinew_context_destroy(context);
}

static void test_bad_elements_are_refused(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const sinew_status data = SINEW_INVALID_DATA;
    const int32_t turned[4] = {0, 2, 1, 3};
    sinew_mesh bad = one_tet(corner_points, turned);

    assert_refused(context, sinew_mesh_check(context, &bad), data,
                   "element 0 (tet4) has the volume -0.166667 m3");

    double points[12];
    memcpy(points, corner_points, sizeof points);
    points[11] = 0;
    bad = one_tet(points, corner_tet);
    assert_refused(context, sinew_mesh_check(context, &bad), data, "volume 0 m3");
    points[11] = 1e-15; // flat up to rounding
    assert_refused(context, sinew_mesh_check(context, &bad), data, "element 0");

    for (int i = 0; i < 12; i++) {
        points[i] = corner_points[i] * 1e200; // finite, but the volume is not
    }

    assert_refused(context, sinew_mesh_check(context, &bad), data, "finite");
    for (int i = 0; i < 12; i++) {
        points[i] = corner_points[i] * 1e-9; // small is not flat
    }

    assert_ok(context, sinew_mesh_check(context, &bad));

    const double five[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    bad = one_tet(five, corner_tet);
    bad.point_count = 5;
    assert_refused(context, sinew_mesh_check(context, &bad), data, "node 4 belongs to no element");

    const int32_t repeated[12] = {0, 1, 2, 3, 1, 2, 3, 4, 2, 0, 1, 3};
    bad.indices = repeated;
    bad.element_count = 3;
    assert_refused(context, sinew_mesh_check(context, &bad), data,
                   "elements 0 and 2 have the same nodes");

    const double six[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2};
    const int32_t three[12] = {0, 1, 2, 3, 1, 2, 3, 4, 1, 2, 3, 5};

    bad = one_tet(six, three);
    bad.point_count = 6;
    bad.element_count = 3;
    assert_refused(context, sinew_mesh_check(context, &bad), data, "3 elements share one face");
    sinew_context_destroy(context);
}

static void test_quality_of_known_elements(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const double regular[12] = {1,  1, 1,  -1, -1, 1,
                                -1, 1, -1, 1,  -1, -1}; // every other corner of a cube
    sinew_mesh mesh = one_tet(regular, corner_tet);
    sinew_quality quality;

    assert_true(sn_element_volume(&mesh, 0) > 0);
    assert_ok(context, sinew_mesh_compute_quality(context, &mesh, &quality));
    test_close("ratio of the regular tet", quality.smallest_ratio, 1, 1e-14);
    test_close("its dihedral angle", quality.smallest_angle, acos(1.0 / 3) * 180 / pi, 1e-12);
    test_close("and the largest", quality.largest_angle, acos(1.0 / 3) * 180 / pi, 1e-12);
    assert_int_equal(quality.angle_histogram[7], 6);
    assert_int_equal(quality.worst_element, 0);
    test_close("volume", quality.volume, 8.0 / 3, 1e-14);

    sinew_mesh *box = make_box(context, SINEW_ELEMENT_HEX8, 2, 2, 2);
    assert_ok(context, sinew_mesh_compute_quality(context, box, &quality));
    test_close("ratio of cubes", quality.mean_ratio, 1, 1e-14);
    test_close("right angles", quality.smallest_angle, 90, 1e-12);
    assert_int_equal(quality.component_count, 1);
    sinew_mesh_destroy(box);

    const double triangle[9] = {0, 0, 0, 1, 0, 0, 0.5, sqrt(0.75), 0};
    sinew_mesh flat = {triangle, 3, SINEW_ELEMENT_TRIANGLE, corner_tet, 1, NULL};

    assert_ok(context, sinew_mesh_compute_quality(context, &flat, &quality));
    test_close("ratio of the regular triangle", quality.smallest_ratio, 1, 1e-14);
    test_close("its angle", quality.smallest_angle, 60, 1e-12);
    sinew_context_destroy(context);
}

static void test_quality_is_the_same_for_any_threads(void **state) {
    (void)state;
    uint64_t hashes[3];
    for (int i = 0; i < 3; i++) {
        sinew_context *context = test_context(1 << i);
        sinew_shape_def def = sinew_default_shape_def();

        def.shape = SINEW_SHAPE_SPHERE;
        def.cells[0] = 16;

        sinew_mesh *mesh = make_shape(context, &def);
        sinew_quality quality;

        memset(&quality, 0, sizeof quality);
        assert_ok(context, sinew_mesh_compute_quality(context, mesh, &quality));

        const double numbers[2] = {quality.mean_ratio, quality.volume};

        hashes[i] = hash_bytes(1, numbers, sizeof numbers);
        sinew_mesh_destroy(mesh);
        sinew_context_destroy(context);
    }

    assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
}

static void test_middle_nodes_are_shared(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *box = make_box(context, SINEW_ELEMENT_TET4, 3, 2, 2);
    sinew_mesh *quadratic = NULL;

    assert_ok(context, sinew_mesh_create_quadratic(context, box, &quadratic));
    assert_good_solid(context, quadratic, 2);
    for (int32_t e = 0; e < quadratic->element_count; e++) {
        const int32_t *nodes = sn_mesh_nodes(quadratic, e);
        for (int i = 0; i < 6; i++) {
            sn_vec3 a = sn_mesh_point(quadratic, nodes[sn_tet_edges[i][0]]);
            sn_vec3 b = sn_mesh_point(quadratic, nodes[sn_tet_edges[i][1]]);
            sn_vec3 middle = sn_mesh_point(quadratic, nodes[4 + i]);
            test_close("middle", sn_distance(middle, sn_scale(0.5, sn_add(a, b))), 0, 1e-15);
        }
    }

    // Euler for the tet mesh: V - E + F - T = 1 of a ball, with F from 4 T = 2 F - boundary.
    sinew_mesh *surface = NULL;

    assert_ok(context, sinew_mesh_create_surface(context, box, &surface, NULL));
    int32_t faces = (4 * box->element_count + surface->element_count) / 2;
    int32_t edges = quadratic->point_count - box->point_count;

    assert_int_equal(box->point_count - edges + faces - box->element_count, 1);
    assert_refused(context, sinew_mesh_create_quadratic(context, quadratic, &surface),
                   SINEW_INVALID_ARGUMENT, "tet10");
    sinew_mesh_destroy(surface);
    sinew_mesh_destroy(quadratic);
    sinew_mesh_destroy(box);
    sinew_context_destroy(context);
}

// The surface of a box with long sides keeps its shape, stays closed and has short edges.
static void test_refined_triangles(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *box = make_box(context, SINEW_ELEMENT_TRIANGLE, 1, 1, 1);
    sinew_mesh *fine = NULL, *same = NULL;
    const double limit = 0.3;
    assert_int_equal(sinew_mesh_create_refined(context, box, limit, &fine), SINEW_OK);
    assert_int_equal(sinew_mesh_check(context, fine), SINEW_OK);
    assert_true(fine->point_count > 50);
    assert_memory_equal(fine->points, box->points, 3 * sizeof(double) * (size_t)box->point_count);

    // A closed surface of genus 0 has twice as many triangles as points, less four.
    assert_int_equal(fine->element_count, 2 * fine->point_count - 4);
    double area[2] = {0, 0};
    for (int32_t e = 0; e < box->element_count; e++) {
        area[0] += sn_element_volume(box, e);
    }
    for (int32_t e = 0; e < fine->element_count; e++) {
        area[1] += sn_element_volume(fine, e);
        for (int k = 0; k < 3; k++) {
            const int32_t *corner = sn_mesh_nodes(fine, e);
            assert_true(sn_distance(sn_mesh_point(fine, corner[k]),
                                    sn_mesh_point(fine, corner[(k + 1) % 3])) <= limit);
        }
    }
    assert_true(fabs(area[1] / area[0] - 1) < 1e-12);

    // What is short already stays as it is; nonsense is refused.
    assert_int_equal(sinew_mesh_create_refined(context, fine, limit, &same), SINEW_OK);
    assert_int_equal(same->element_count, fine->element_count);
    sinew_mesh_destroy(same);
    assert_int_equal(sinew_mesh_create_refined(context, box, 0, &same), SINEW_INVALID_ARGUMENT);

    sinew_mesh_destroy(fine);
    sinew_mesh_destroy(box);
    sinew_context_destroy(context);
}

static void test_memory_shortage_in_checks(void **state) {
    (void)state;
    sinew_status status = SINEW_OUT_OF_MEMORY;
    for (int64_t fail_at = 1; status != SINEW_OK; fail_at++) {
        test_allocator allocator = {.fail_at = fail_at};
        sinew_context *context = test_context_failing(&allocator);
        sinew_mesh mesh = one_tet(corner_points, corner_tet);
        sinew_mesh *copy = NULL;
        sinew_quality quality;

        status = sinew_mesh_copy(context, &mesh, &copy);
        if (status == SINEW_OK) {
            status = sinew_mesh_check(context, copy);
        }
        if (status == SINEW_OK) {
            status = sinew_mesh_compute_quality(context, copy, &quality);
        }

        assert_true(status == SINEW_OK || status == SINEW_OUT_OF_MEMORY);
        sinew_mesh_destroy(copy);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        assert_true(fail_at < 100);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_is_equal_and_apart),
        cmocka_unit_test(test_volume_of_a_distorted_hexahedron),
        cmocka_unit_test(test_volume_of_a_curved_tet10),
        cmocka_unit_test(test_bad_arrays_are_refused),
        cmocka_unit_test(test_bad_elements_are_refused),
        cmocka_unit_test(test_quality_of_known_elements),
        cmocka_unit_test(test_quality_is_the_same_for_any_threads),
        cmocka_unit_test(test_middle_nodes_are_shared),
        cmocka_unit_test(test_refined_triangles),
        cmocka_unit_test(test_memory_shortage_in_checks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
