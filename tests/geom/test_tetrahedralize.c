// A closed surface filled with tets: spheres, cubes, tori and hollow ones, whole and broken;
// angles, topology, volume.
#include "mesh_support.h"

#include "geom/repair/repair.h"
#include "geom/search/search.h"

static const double pi = 3.14159265358979323846;

// Labelle and Shewchuk give 10.7 degrees for their stencils; a search over all positions of the
// moved points, taken as independent of each other, finds nothing below 9.2.
static const double angle_floor = 9.2, angle_ceiling = 164.8;

// A surface with arrays of its own, room for additions, and a torus in it: around x (R), small
// circle r.
typedef struct soup {
    double points[3 * 8000];
    int32_t triangles[3 * 16000];
    sinew_mesh mesh;
} soup;

static soup *new_soup(void) {
    soup *s = test_calloc(1, sizeof *s);
    s->mesh = (sinew_mesh){
        .points = s->points, .element = SINEW_ELEMENT_TRIANGLE, .indices = s->triangles};
    return s;
}

static int32_t add_point(soup *s, double x, double y, double z) {
    double *p = s->points + 3 * s->mesh.point_count;
    p[0] = x;
    p[1] = y;
    p[2] = z;
    return s->mesh.point_count++;
}

static void add_triangle(soup *s, int32_t a, int32_t b, int32_t c) {
    int32_t *t = s->triangles + 3 * s->mesh.element_count++;
    t[0] = a;
    t[1] = b;
    t[2] = c;
}

static void add_torus(soup *s, int32_t n, int32_t m, double R, double r) {
    int32_t first = s->mesh.point_count;
    for (int32_t i = 0; i < n * m; i++) {
        double a = 2 * pi * (i / m) / n;
        double b = 2 * pi * (i % m) / m;
        add_point(s, (R + r * cos(b)) * cos(a), (R + r * cos(b)) * sin(a), r * sin(b));
    }

    for (int32_t i = 0; i < n * m; i++) {
        int32_t here = first + i / m * m;
        int32_t next = first + (i / m + 1) % n * m;
        int32_t j = i % m;
        int32_t k = (j + 1) % m;
        add_triangle(s, here + j, next + j, next + k);
        add_triangle(s, here + j, next + k, here + k);
    }
}

static void add_shape(soup *s, sinew_context *context, const sinew_shape_def *def, bool inwards) {
    sinew_mesh *mesh = make_shape(context, def);
    int32_t first = s->mesh.point_count;
    for (int32_t i = 0; i < mesh->point_count; i++) {
        sn_vec3 p = sn_mesh_point(mesh, i);
        add_point(s, p.x, p.y, p.z);
    }

    for (int32_t i = 0; i < mesh->element_count; i++) {
        const int32_t *t = sn_mesh_nodes(mesh, i);
        add_triangle(s, first + t[0], first + t[inwards ? 2 : 1], first + t[inwards ? 1 : 2]);
    }

    sinew_mesh_destroy(mesh);
}

static sinew_shape_def surface_def(sinew_shape shape, double size, int32_t cells) {
    sinew_shape_def def = sinew_default_shape_def();
    def.shape = shape;
    def.element = SINEW_ELEMENT_TRIANGLE;

    for (int k = 0; k < 3; k++) {
        def.size[k] = size;
        def.cells[k] = cells;
    }

    return def;
}

static void add_sphere(soup *s, sinew_context *context, double diameter, bool inwards) {
    sinew_shape_def def = surface_def(SINEW_SHAPE_SPHERE, diameter, 12);
    add_shape(s, context, &def, inwards);
}

static sinew_mesh *fill(sinew_context *context, const soup *s, int32_t count,
                        sinew_tetrahedralize_report *report) {
    sinew_tetrahedralize_def def = sinew_default_tetrahedralize_def();
    def.tet_count = count;
    sinew_mesh *tets = NULL;
    assert_ok(context, sinew_tetrahedralize(context, &s->mesh, &def, &tets, report));
    return tets;
}

static void assert_angles(const sinew_tetrahedralize_report *report) {
    assert_true(report->quality.smallest_angle > angle_floor);
    assert_true(report->quality.largest_angle < angle_ceiling);
}

// Fills, checks the properties that every result must have, and returns the report.
static sinew_tetrahedralize_report fill_and_check(sinew_context *context, const soup *s,
                                                  int32_t count, int32_t euler) {
    sinew_tetrahedralize_report report;
    sinew_mesh *tets = fill(context, s, count, &report);

    assert_good_solid(context, tets, euler);
    assert_angles(&report);
    assert_int_equal(report.quality.component_count, 1);

    // Lattices of symmetric shapes jump from one size to the next, so single cases miss the tenth.
    test_close("number of tets", tets->element_count, count, 0.25 * count);
    sinew_mesh_destroy(tets);

    return report;
}

static void test_sphere_cube_and_torus(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    soup *s = new_soup();

    add_sphere(s, context, 2, false);
    sinew_tetrahedralize_report report = fill_and_check(context, s, 4000, 2);

    test_close("sphere", report.quality.volume, report.surface_volume,
               0.02 * report.surface_volume);
    assert_true(report.surface_distance < 0.2 * report.cell_size);
    assert_int_equal(report.merged_points + report.dropped_triangles + report.flipped_triangles +
                         report.open_edges,
                     0);

    s->mesh.point_count = s->mesh.element_count = 0;
    sinew_shape_def def = surface_def(SINEW_SHAPE_BOX, 1, 4);

    add_shape(s, context, &def, false);
    report = fill_and_check(context, s, 4000, 2);
    test_close("cube", report.quality.volume, 1, 0.03);
    assert_true(report.surface_distance < 0.6 * report.cell_size); // the corners are cut off

    s->mesh.point_count = s->mesh.element_count = 0;
    add_torus(s, 60, 30, 1, 0.35);
    report = fill_and_check(context, s, 3500, 0);
    test_close("torus", report.quality.volume, report.surface_volume, 0.05 * report.surface_volume);
    test_free(s);
    sinew_context_destroy(context);
}

// The volume's error falls with the square of the cell size.
static void test_volume_converges(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    soup *s = new_soup();

    add_torus(s, 90, 45, 1, 0.4);
    double errors[2];
    for (int i = 0; i < 2; i++) {
        sinew_tetrahedralize_def def = sinew_default_tetrahedralize_def();
        def.cell_size = i ? 0.085 : 0.17;
        sinew_mesh *tets = NULL;
        sinew_tetrahedralize_report report;
        assert_ok(context, sinew_tetrahedralize(context, &s->mesh, &def, &tets, &report));
        assert_true(report.cell_size == def.cell_size);
        errors[i] = fabs(1 - report.quality.volume / report.surface_volume);
        sinew_mesh_destroy(tets);
    }

    print_message("volume of a torus: off by %.2e, then %.2e\n", errors[0], errors[1]);
    assert_true(errors[0] < 0.04 && errors[1] < errors[0] / 2.5);
    test_free(s);
    sinew_context_destroy(context);
}

// A cell size that divides a cube puts lattice points exactly on its faces.
static void test_aligned_cube(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    soup *s = new_soup();
    sinew_shape_def shape = surface_def(SINEW_SHAPE_BOX, 1, 2);

    add_shape(s, context, &shape, false);
    for (int32_t cells = 4; cells <= 9; cells++) {
        sinew_tetrahedralize_def def = sinew_default_tetrahedralize_def();
        def.cell_size = 1.0 / cells;
        sinew_mesh *tets = NULL;
        sinew_tetrahedralize_report report;
        assert_ok(context, sinew_tetrahedralize(context, &s->mesh, &def, &tets, &report));
        assert_good_solid(context, tets, 2);
        assert_angles(&report);
        test_close("volume", report.quality.volume, 1, 0.1);
        sinew_mesh_destroy(tets);
    }

    test_free(s);
    sinew_context_destroy(context);
}

static void test_broken_surfaces(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    soup *s = new_soup();

    add_torus(s, 40, 20, 1, 0.35);
    sinew_tetrahedralize_report whole = fill_and_check(context, s, 3500, 0);
    sinew_tetrahedralize_report report;
    const int32_t count = s->mesh.element_count;

    s->mesh.element_count = count - 1; // a missing triangle
    report = fill_and_check(context, s, 3500, 0);
    assert_int_equal(report.open_edges, 3);
    test_close("volume with a hole", report.quality.volume, whole.quality.volume,
               0.01 * whole.quality.volume);
    s->mesh.element_count = count;

    sn_random random = sn_random_seed(9); // a third of the triangles reversed
    int32_t turned = 0;
    for (int32_t i = 0; i < count; i++) {
        if (sn_random_unit(&random) > 1.0 / 3) {
            continue;
        }

        int32_t *t = s->triangles + 3 * i;
        int32_t swap = t[0];
        t[0] = t[1];
        t[1] = swap;
        turned++;
    }

    report = fill_and_check(context, s, 3500, 0);
    assert_int_equal(report.flipped_triangles, turned);
    test_close("volume with turned triangles", report.quality.volume, whole.quality.volume,
               1e-9 * whole.quality.volume);

    for (int32_t i = 0; i < count; i++) { // every triangle again, reversed
        const int32_t *t = s->triangles + 3 * i;

        add_triangle(s, t[0], t[2], t[1]);
    }
    add_triangle(s, 0, 0, 5);
    report = fill_and_check(context, s, 3500, 0);
    assert_int_equal(report.dropped_triangles, count + 1);
    test_close("volume with repetitions", report.quality.volume, whole.quality.volume,
               1e-9 * whole.quality.volume);
    test_free(s);
    sinew_context_destroy(context);
}

// As an STL file gives it: three points of its own for every triangle.
static void test_unconnected_triangles(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    soup *torus = new_soup();
    soup *s = new_soup();

    add_torus(torus, 40, 20, 1, 0.35);
    for (int32_t i = 0; i < 3 * torus->mesh.element_count; i++) {
        const double *p = torus->points + 3 * torus->triangles[i];
        add_point(s, p[0], p[1], p[2]);
    }

    for (int32_t i = 0; i < torus->mesh.element_count; i++) {
        add_triangle(s, 3 * i, 3 * i + 1, 3 * i + 2);
    }

    sinew_tetrahedralize_report report = fill_and_check(context, s, 4000, 0);
    assert_int_equal(report.merged_points, 5 * torus->mesh.point_count);
    assert_int_equal(report.open_edges, 0);
    test_free(s);
    test_free(torus);
    sinew_context_destroy(context);
}

static void test_inverted_and_hollow(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    soup *s = new_soup();

    add_sphere(s, context, 2, true); // inside out
    sinew_tetrahedralize_report report = fill_and_check(context, s, 4000, 2);

    assert_int_equal(report.flipped_triangles, s->mesh.element_count);
    assert_true(report.surface_volume > 4);

    // A cavity faces inwards. The mesh's surface then is two spheres: Euler characteristic 4. The
    // same with everything inside out.
    for (int inverted = 0; inverted < 2; inverted++) {
        s->mesh.point_count = s->mesh.element_count = 0;
        add_sphere(s, context, 2, inverted);
        add_sphere(s, context, 1, !inverted);
        report = fill_and_check(context, s, 5000, 4);
        test_close("hollow", report.quality.volume, pi * 4 / 3 * (1 - 0.125), 0.06 * 4);
        assert_int_equal(report.flipped_triangles, inverted * s->mesh.element_count);
    }

    // Apart, the larger one inside out.
    s->mesh.point_count = s->mesh.element_count = 0;

    sinew_shape_def small = surface_def(SINEW_SHAPE_SPHERE, 1, 8);
    small.center[0] = 3;
    add_shape(s, context, &small, false);

    int32_t right = s->mesh.element_count;
    add_sphere(s, context, 2, true);

    sinew_mesh *tets = fill(context, s, 4000, &report);
    assert_int_equal(report.flipped_triangles, s->mesh.element_count - right);
    assert_int_equal(report.quality.component_count, 2);
    sinew_mesh_destroy(tets);

    // A shell that faces outwards inside another is an overlap.
    s->mesh.point_count = s->mesh.element_count = 0;
    add_sphere(s, context, 2, false);
    add_sphere(s, context, 1, false);
    report = fill_and_check(context, s, 4000, 2);
    test_close("overlap", report.quality.volume, pi * 4 / 3, 0.05 * 4);
    test_free(s);
    sinew_context_destroy(context);
}

static void test_overlapping_and_apart(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    soup *s = new_soup();
    sinew_shape_def def = surface_def(SINEW_SHAPE_SPHERE, 2, 12);

    add_shape(s, context, &def, false);
    def.center[0] = 1;
    add_shape(s, context, &def, false);

    sinew_tetrahedralize_report report = fill_and_check(context, s, 4000, 2);

    // Two unit spheres at distance d = 1: union = 2 V - lens, lens = pi (4 + d) (2 - d)^2 / 12.
    test_close("union", report.quality.volume, 8 * pi / 3 - pi * 5 / 12, 0.05 * 7);

    s->mesh.point_count = s->mesh.element_count = 0;
    def.center[0] = 0;
    add_shape(s, context, &def, false);
    def.center[0] = 3;

    for (int k = 0; k < 3; k++) {
        def.size[k] = 1;
    }

    add_shape(s, context, &def, false);
    sinew_tetrahedralize_def fill_def = sinew_default_tetrahedralize_def();
    sinew_mesh *tets = NULL;

    assert_ok(context, sinew_tetrahedralize(context, &s->mesh, &fill_def, &tets, &report));
    assert_int_equal(report.quality.component_count, 2);
    sinew_mesh_destroy(tets);
    fill_def.largest_component = true;
    assert_ok(context, sinew_tetrahedralize(context, &s->mesh, &fill_def, &tets, &report));
    assert_int_equal(report.quality.component_count, 1);
    assert_true(sn_mesh_box(tets).upper.x < 1.1);
    assert_good_solid(context, tets, 2);
    sinew_mesh_destroy(tets);
    test_free(s);
    sinew_context_destroy(context);
}

// Bumpy and rotated shapes at many sizes: every stencil occurs, and the angles stay bounded.
static void test_angles_of_many_shapes(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(21);
    double smallest = 180, largest = 0;
    soup *s = new_soup();

    for (int turn = 0; turn < 16; turn++) {
        s->mesh.point_count = s->mesh.element_count = 0;
        sinew_shape_def def = surface_def(turn % 2 ? SINEW_SHAPE_SPHERE : SINEW_SHAPE_BOX, 2, 9);

        add_shape(s, context, &def, false);
        sn_vec3 axis = sn_v3(sn_random_range(&random, -1, 1), sn_random_range(&random, -1, 1),
                             sn_random_range(&random, -1, 1));
        sn_mat3 turned = sn_mat3_basis(sn_normalize(axis));

        for (int32_t i = 0; i < s->mesh.point_count; i++) {
            sn_vec3 p = sn_mat3_apply(turned, sn_load3(s->points + 3 * i));
            double bump = 1 + 0.2 * sin(3 * p.x + turn) * sin(4 * p.y) * cos(3 * p.z);
            sn_store3(s->points + 3 * i, sn_scale(bump, p));
        }

        sinew_tetrahedralize_report report;
        sinew_mesh *tets = fill(context, s, 800 + 250 * turn, &report);

        assert_ok(context, sinew_mesh_check(context, tets));
        smallest = fmin(smallest, report.quality.smallest_angle);
        largest = fmax(largest, report.quality.largest_angle);
        sinew_mesh_destroy(tets);
    }

    print_message("dihedral angles from %.2f to %.2f degrees\n", smallest, largest);
    assert_true(smallest > angle_floor && largest < angle_ceiling);
    test_free(s);
    sinew_context_destroy(context);
}

// Random triangles: the result is either an error or a valid mesh.
static void test_random_triangles(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(33);
    int filled = 0;
    soup *s = new_soup();

    for (int turn = 0; turn < 24; turn++) {
        s->mesh.point_count = s->mesh.element_count = 0;
        for (int32_t i = 0; i < 30; i++) {
            double x = sn_random_unit(&random);
            double y = sn_random_unit(&random);
            add_point(s, x, y, turn % 5 == 0 ? 0 : sn_random_unit(&random)); // some all in a plane
        }

        for (int32_t i = 0; i < 8 + 4 * turn; i++) {
            int32_t t[3];
            for (int k = 0; k < 3; k++) {
                t[k] = (int32_t)(sn_random_u32(&random) % 30);
            }
            add_triangle(s, t[0], t[1], t[2]);
        }

        sinew_tetrahedralize_def def = sinew_default_tetrahedralize_def();
        def.cell_size = 0.15;

        sinew_mesh *tets = NULL;
        sinew_tetrahedralize_report report;
        sinew_status status = sinew_tetrahedralize(context, &s->mesh, &def, &tets, &report);

        assert_true(status == SINEW_OK || status == SINEW_INVALID_DATA);
        if (status != SINEW_OK) {
            continue;
        }

        filled++;
        assert_ok(context, sinew_mesh_check(context, tets));
        assert_angles(&report);
        sinew_mesh_destroy(tets);
    }

    assert_true(filled > 5);
    test_free(s);
    sinew_context_destroy(context);
}

static void test_quadratic_tets(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    soup *s = new_soup();

    add_sphere(s, context, 2, false);
    sinew_tetrahedralize_def def = sinew_default_tetrahedralize_def();

    def.element = SINEW_ELEMENT_TET10;
    def.tet_count = 1500;

    sinew_mesh *tets = NULL;
    assert_ok(context, sinew_tetrahedralize(context, &s->mesh, &def, &tets, NULL));
    assert_int_equal(tets->element, SINEW_ELEMENT_TET10);
    assert_good_solid(context, tets, 2);
    sinew_mesh_destroy(tets);
    test_free(s);
    sinew_context_destroy(context);
}

static void test_same_mesh_for_any_threads(void **state) {
    (void)state;
    soup *s = new_soup();

    add_torus(s, 40, 20, 1, 0.35);
    s->mesh.element_count -= 3; // with a hole

    uint64_t hashes[3];
    for (int i = 0; i < 3; i++) {
        sinew_context *context = test_context(1 << i);
        sinew_tetrahedralize_report report;
        sinew_mesh *tets = fill(context, s, 3000, &report);
        hashes[i] = hash_bytes(hash_mesh(tets), &report.surface_distance, sizeof(double));
        sinew_mesh_destroy(tets);
        sinew_context_destroy(context);
    }

    assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
    test_free(s);
}

static void test_bad_input_is_refused(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    soup *s = new_soup();

    add_sphere(s, context, 2, false);
    sinew_tetrahedralize_def good = sinew_default_tetrahedralize_def();
    sinew_tetrahedralize_def def;
    sinew_mesh *tets = NULL;
#define REFUSED(change, expected, word)                                                            \
    def = good;                                                                                    \
    change;                                                                                        \
    assert_refused(context, sinew_tetrahedralize(context, &s->mesh, &def, &tets, NULL), expected,  \
                   word)
    REFUSED(def.tet_count = 0, SINEW_INVALID_ARGUMENT, "tet_count");
    REFUSED(def.cell_size = -1, SINEW_INVALID_ARGUMENT, "cell_size");
    REFUSED(def.cell_size = NAN, SINEW_INVALID_ARGUMENT, "cell_size");
    REFUSED(def.cell_size = 1e-5, SINEW_INVALID_ARGUMENT, "cells");
    REFUSED(def.cell_size = 1e-300, SINEW_INVALID_ARGUMENT, "cells");
    REFUSED(def.cell_size = 1e9, SINEW_INVALID_DATA, "too thin");
    REFUSED(def.element = SINEW_ELEMENT_HEX8, SINEW_INVALID_ARGUMENT, "kind");
    assert_refused(context, sinew_tetrahedralize(context, NULL, &good, &tets, NULL),
                   SINEW_INVALID_ARGUMENT, "NULL");
    assert_refused(context, sinew_tetrahedralize(context, &s->mesh, NULL, &tets, NULL),
                   SINEW_INVALID_ARGUMENT, "NULL");

    double kept = s->points[10];
    s->points[10] = NAN;
    REFUSED(, SINEW_INVALID_DATA, "point 3");
    s->points[10] = kept;
    s->triangles[4] = 100000;
    REFUSED(, SINEW_INVALID_DATA, "node 100000");
    s->mesh.element_count = 0;
    REFUSED(, SINEW_INVALID_DATA, "0 usable triangles");
    s->mesh.element_count = 1; // a single triangle encloses nothing
    REFUSED(, SINEW_INVALID_DATA, "3 open edges");

    sinew_mesh *box = make_box(context, SINEW_ELEMENT_TET4, 1, 1, 1);
    assert_refused(context, sinew_tetrahedralize(context, box, &good, &tets, NULL),
                   SINEW_INVALID_ARGUMENT, "triangles");
    sinew_mesh_destroy(box);
#undef REFUSED
    assert_int_equal(context->bytes_in_use, 0);
    test_free(s);
    sinew_context_destroy(context);
}

static void test_memory_shortage_is_reported(void **state) {
    (void)state;
    soup *s = new_soup();

    add_torus(s, 16, 8, 1, 0.4);
    sinew_status status = SINEW_OUT_OF_MEMORY;
    int64_t fail_at = 1;

    for (; status != SINEW_OK; fail_at++) {
        test_allocator allocator = {.fail_at = fail_at};
        sinew_context *context = test_context_failing(&allocator);
        sinew_tetrahedralize_def def = sinew_default_tetrahedralize_def();
        sinew_tetrahedralize_report report;

        def.tet_count = 500;
        def.element = SINEW_ELEMENT_TET10;
        def.largest_component = true;

        sinew_mesh *tets = NULL;
        status = sinew_tetrahedralize(context, &s->mesh, &def, &tets, &report);
        assert_true(status == SINEW_OK || status == SINEW_OUT_OF_MEMORY);
        sinew_mesh_destroy(tets);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        assert_true(fail_at < 500);
    }

    assert_true(fail_at > 10);
    test_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sphere_cube_and_torus),
        cmocka_unit_test(test_volume_converges),
        cmocka_unit_test(test_aligned_cube),
        cmocka_unit_test(test_broken_surfaces),
        cmocka_unit_test(test_unconnected_triangles),
        cmocka_unit_test(test_inverted_and_hollow),
        cmocka_unit_test(test_overlapping_and_apart),
        cmocka_unit_test(test_angles_of_many_shapes),
        cmocka_unit_test(test_random_triangles),
        cmocka_unit_test(test_quadratic_tets),
        cmocka_unit_test(test_same_mesh_for_any_threads),
        cmocka_unit_test(test_bad_input_is_refused),
        cmocka_unit_test(test_memory_shortage_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
