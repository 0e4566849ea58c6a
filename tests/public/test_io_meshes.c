// Meshes through the public headers: every format out and in again, from bytes and from a path;
// what a format cannot hold; what is no mesh.
#include "public.h"

static void check_same(const sinew_mesh *a, const sinew_mesh *b, double tolerance) {
    assert_int_equal(a->element, b->element);
    assert_int_equal(a->element_count, b->element_count);
    assert_int_equal(a->point_count, b->point_count);
    for (int32_t i = 0; i < 3 * a->point_count; i++) {
        assert_true(fabs(a->points[i] - b->points[i]) <= tolerance);
    }
}

// Numbers of 32 bits are good to 2^-24 of the largest, 0.5; STL and GLB have no others.
static void round_trip(sinew_context *context, const sinew_mesh *mesh, const char *name,
                       double tolerance, bool same_points) {
    sinew_bytes *bytes;
    sinew_mesh_file *file;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    assert_ok(context, sinew_mesh_write(context, mesh, name, NULL, bytes));
    assert_true(sinew_bytes_get_size(bytes) > 0);

    sinew_source source = public_source(name, bytes);
    assert_true(sinew_mesh_file_detect(&source));
    assert_ok(context, sinew_mesh_file_read(context, &source, &file));
    sinew_mesh best = sinew_mesh_file_get_best(file);
    assert_int_equal(best.element_count, mesh->element_count);
    if (same_points) {
        check_same(&best, mesh, tolerance);
    }
    sinew_mesh_file_destroy(file);
    sinew_bytes_destroy(bytes);

    // The same through a file.
    char path[512];
    snprintf(path, sizeof path, "%s/public_%s", TEST_OUTPUT_DIR, name);
    assert_ok(context, sinew_mesh_save(context, mesh, path, NULL));
    assert_ok(context, sinew_mesh_file_load(context, path, &file));
    best = sinew_mesh_file_get_best(file);
    assert_int_equal(best.element_count, mesh->element_count);
    sinew_mesh_file_destroy(file);
}

static void test_solids(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_mesh *bar = public_bar(context);
    const char *const names[] = {"bar.vtu", "bar.msh", "bar.mesh"};
    for (int i = 0; i < 3; i++) {
        round_trip(context, bar, names[i], 0, true);
    }
    sinew_mesh_destroy(bar);
    sinew_context_destroy(context);
}

static void test_surfaces(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_mesh *surface = public_surface(context);
    round_trip(context, surface, "surface.obj", 0, true);
    round_trip(context, surface, "surface.ply", 0, true);
    round_trip(context, surface, "surface.glb", 3e-8, true);
    round_trip(context, surface, "surface.stl", 3e-8, false);
    sinew_mesh_destroy(surface);
    sinew_context_destroy(context);
}

// Two files, of which the first names the second by its own name.
static void test_tetgen(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_mesh *bar = public_bar(context);
    sinew_mesh_file *file;
    assert_ok(context, sinew_mesh_save(context, bar, TEST_OUTPUT_DIR "/public_bar.node", NULL));
    assert_ok(context, sinew_mesh_file_load(context, TEST_OUTPUT_DIR "/public_bar.node", &file));

    sinew_mesh read = sinew_mesh_file_get_mesh(file, SINEW_ELEMENT_TET4);
    check_same(&read, bar, 0);
    assert_string_equal(sinew_mesh_file_get_format(file), "TetGen");
    sinew_mesh_file_destroy(file);
    sinew_mesh_destroy(bar);
    sinew_context_destroy(context);
}

// Labels and named quantities survive in VTU, compressed and not.
static void test_values(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_mesh *bar = public_bar(context);
    double *heights = malloc((size_t)bar->point_count * sizeof *heights);
    assert_non_null(heights);
    for (int32_t i = 0; i < bar->point_count; i++) {
        heights[i] = bar->points[3 * (size_t)i + 2];
    }

    sinew_values values = {.name = "height", .components = 1, .values = heights};
    sinew_mesh_write_def def = sinew_default_mesh_write_def();
    def.point_values = &values;
    def.point_value_count = 1;
    size_t sizes[2];

    for (int k = 0; k < 2; k++) {
        sinew_bytes *bytes;
        sinew_mesh_file *file;
        def.compress = k == 1;
        assert_ok(context, sinew_bytes_create(context, &bytes));
        assert_ok(context, sinew_mesh_write(context, bar, "bar.vtu", &def, bytes));
        sizes[k] = sinew_bytes_get_size(bytes);
        assert_non_null(strstr(sinew_bytes_get_data(bytes), "Name=\"height\""));

        sinew_source source = public_source("bar.vtu", bytes);
        assert_ok(context, sinew_mesh_file_read(context, &source, &file));
        sinew_mesh read = sinew_mesh_file_get_best(file);
        assert_non_null(read.labels);
        assert_memory_equal(read.labels, bar->labels,
                            (size_t)bar->element_count * sizeof *bar->labels);
        sinew_mesh_file_destroy(file);
        sinew_bytes_destroy(bytes);
    }

    assert_true(sizes[1] <= sizes[0]); // equal where the build has no zlib
    values.components = 0;
    sinew_bytes *bytes;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    assert_int_equal(sinew_mesh_write(context, bar, "bar.vtu", &def, bytes),
                     SINEW_INVALID_ARGUMENT);
    sinew_bytes_destroy(bytes);
    free(heights);
    sinew_mesh_destroy(bar);
    sinew_context_destroy(context);
}

static void test_bad_input(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_mesh *bar = public_bar(context);
    sinew_mesh_file *file = NULL;
    sinew_bytes *bytes;
    assert_ok(context, sinew_bytes_create(context, &bytes));

    // Text that is no mesh, a line that is wrong, a file that does not exist.
    const char text[] = "v 0 0 0\nv 1 0 0\nf 1 2 9\n";
    sinew_source source = {.name = "bad.obj", .data = text, .size = sizeof text - 1};
    assert_int_equal(sinew_mesh_file_read(context, &source, &file), SINEW_INVALID_DATA);
    assert_null(file);
    assert_non_null(strstr(sinew_context_message(context), "bad.obj:3"));
    assert_int_not_equal(sinew_mesh_file_load(context, "/nowhere/at.all", &file), SINEW_OK);
    assert_non_null(strstr(sinew_context_message(context), "/nowhere/at.all"));

    // Formats that hold no tets, and one that does not exist.
    assert_int_not_equal(sinew_mesh_write(context, bar, "bar.stl", NULL, bytes), SINEW_OK);
    assert_int_not_equal(sinew_mesh_write(context, bar, "bar.xyz", NULL, bytes), SINEW_OK);
    assert_true(strlen(sinew_context_message(context)) > 0);

    sinew_bytes_destroy(bytes);
    sinew_mesh_destroy(bar);
    sinew_context_destroy(context);
}

// Which element holds a point: its middle is in it, with weights that give the point back.
static void test_locate(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_mesh *bar = public_bar(context);
    int32_t element;
    double weights[4], distance, middle[3] = {0, 0, 0};

    for (int k = 0; k < 4; k++) {
        for (int a = 0; a < 3; a++) {
            middle[a] += 0.25 * bar->points[3 * (size_t)bar->indices[4 * 7 + k] + (size_t)a];
        }
    }
    assert_ok(context,
              sinew_mesh_locate_points(context, bar, middle, 1, &element, weights, &distance));
    assert_int_equal(element, 7);
    assert_true(distance == 0);
    for (int k = 0; k < 4; k++) {
        assert_true(fabs(weights[k] - 0.25) < 1e-12);
    }

    const double far[3] = {10.5, 0, 0};
    assert_ok(context, sinew_mesh_locate_points(context, bar, far, 1, NULL, NULL, &distance));
    assert_true(fabs(distance - 10) < 1e-12);
    const double nowhere[3] = {NAN, 0, 0};
    assert_int_equal(sinew_mesh_locate_points(context, bar, nowhere, 1, &element, NULL, NULL),
                     SINEW_INVALID_ARGUMENT);
    sinew_mesh_destroy(bar);
    sinew_context_destroy(context);
}

// A closed surface encloses its volume; one without a triangle has a hole with three edges.
static void test_examine(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_mesh *surface = public_surface(context);
    sinew_surface_report report;
    assert_ok(context, sinew_mesh_examine_surface(context, surface, &report));
    assert_int_equal(report.open_edges, 0);
    assert_int_equal(report.merged_points + report.dropped_triangles + report.flipped_triangles, 0);
    assert_true(fabs(report.volume - 0.0625) < 1e-12);

    sinew_mesh open = *surface;
    open.element_count--;
    assert_ok(context, sinew_mesh_examine_surface(context, &open, &report));
    assert_int_equal(report.open_edges, 3);
    sinew_mesh_destroy(surface);
    sinew_context_destroy(context);
}

// OBJ and glTF have y up, Sinew z: a tower stays a tower in every format.
static void test_up_axis(void **state) {
    (void)state;
    sinew_context *context = public_context();
    static const char text[] = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\n"
                               "f 1 3 2\nf 1 4 3\nf 1 2 4\nf 2 3 4\n";
    sinew_source source = {.name = "tower.obj", .data = text, .size = sizeof text - 1};
    sinew_mesh_file *file;
    assert_ok(context, sinew_mesh_file_read(context, &source, &file));

    // (0, 2, 0) is the top, (0, 0, 3) lies in front.
    sinew_mesh mesh = sinew_mesh_file_get_mesh(file, SINEW_ELEMENT_TRIANGLE);
    const double standing[] = {0, 0, 0, 1, 0, 0, 0, 0, 2, 0, -3, 0};
    assert_memory_equal(mesh.points, standing, sizeof standing);

    // Through PLY back to the same text, then through GLB, whose rotation is a rounded quaternion.
    const char *const names[] = {"tower.ply", "tower.obj", "tower.glb"};
    for (int i = 0; i < 3; i++) {
        sinew_bytes *bytes;
        assert_ok(context, sinew_bytes_create(context, &bytes));
        assert_ok(context, sinew_mesh_file_write(file, names[i], bytes));
        sinew_mesh_file_destroy(file);
        source = (sinew_source){.name = names[i],
                                .data = sinew_bytes_get_data(bytes),
                                .size = sinew_bytes_get_size(bytes)};
        assert_ok(context, sinew_mesh_file_read(context, &source, &file));
        mesh = sinew_mesh_file_get_mesh(file, SINEW_ELEMENT_TRIANGLE);
        for (int k = 0; k < 12; k++) {
            assert_true(fabs(mesh.points[k] - standing[k]) <= (i == 2 ? 1e-6 : 0));
        }
        if (i == 1) {
            assert_memory_equal(sinew_bytes_get_data(bytes), text, sizeof text - 1);
        }
        sinew_bytes_destroy(bytes);
    }

    // A file that breaks with the custom.
    assert_ok(context, sinew_mesh_file_set_up(file, 'z'));
    mesh = sinew_mesh_file_get_mesh(file, SINEW_ELEMENT_TRIANGLE);
    assert_true(fabs(mesh.points[7] - 2) < 1e-6 && fabs(mesh.points[11] - 3) < 1e-6);
    assert_int_equal(sinew_mesh_file_set_up(file, 'x'), SINEW_INVALID_ARGUMENT);

    sinew_mesh_file_destroy(file);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solids),    cmocka_unit_test(test_surfaces),
        cmocka_unit_test(test_tetgen),    cmocka_unit_test(test_values),
        cmocka_unit_test(test_bad_input), cmocka_unit_test(test_locate),
        cmocka_unit_test(test_examine),   cmocka_unit_test(test_up_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
