// Voxels from surfaces: as from solids, from triangle soup, across holes, with overlaps and
// priorities.
#include "support/solid.h"
#include "surfaces.h"

#include "geom/mesh/mesh.h"

#include <math.h>
#include <string.h>

static int32_t count_differences(const sinew_voxels *a, const sinew_voxels *b) {
    int32_t count = 0;
    for (int a_axis = 0; a_axis < 3; a_axis++) {
        assert_int_equal(a->cells[a_axis], b->cells[a_axis]);
    }

    for (int32_t i = 0; i < a->cells[0] * a->cells[1] * a->cells[2]; i++) {
        int32_t c[3];
        sn_cell_coordinates(a->cells, i, c);
        count += (sn_voxel_at(a, c[0], c[1], c[2]) >= 0) != (sn_voxel_at(b, c[0], c[1], c[2]) >= 0);
    }

    return count;
}

static void test_surfaces_match_solids(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    const sinew_shape shapes[5] = {SINEW_SHAPE_BOX, SINEW_SHAPE_SPHERE, SINEW_SHAPE_CYLINDER,
                                   SINEW_SHAPE_TUBE, SINEW_SHAPE_U};

    for (int i = 0; i < 5; i++) {
        sinew_mesh *mesh = make_surface(context, shapes[i], 1, 24);
        sinew_voxel_report report;
        sinew_voxels *voxels = voxelize(context, mesh, 50, &report);

        assert_int_equal(report.open_edges, 0);
        assert_int_equal(report.disputed_cells, 0);
        test_close("volume of the mesh", report.surface_volume[1], report.surface_volume[0],
                   0.035 * report.surface_volume[0]);
        test_close("volume of the voxels", voxels->count * voxels->volume, report.surface_volume[1],
                   1e-12);

        // The orientation of triangles does not matter.
        sinew_mesh *copy = NULL;

        assert_int_equal(sinew_mesh_copy(context, mesh, &copy), SINEW_OK);
        int32_t *indices = (int32_t *)copy->indices;
        for (int32_t t = 0; t < copy->element_count; t += 3) {
            int32_t swap = indices[3 * t];
            indices[3 * t] = indices[3 * t + 1];
            indices[3 * t + 1] = swap;
        }

        sinew_voxels *other = voxelize(context, copy, 50, NULL);
        assert_int_equal(count_differences(voxels, other), 0);
        sinew_voxels_destroy(other);
        sinew_mesh_destroy(copy);
        sinew_voxels_destroy(voxels);
        sinew_mesh_destroy(mesh);
    }

    sinew_context_destroy(context);
}

// Every triangle with three points of its own, as in an STL file, some twice.
static void test_soup_and_holes(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *ball = make_surface(context, SINEW_SHAPE_SPHERE, 1, 30);
    sinew_voxels *whole = voxelize(context, ball, 40, NULL);
    int32_t count = ball->element_count;
    double *points = sn_allocate(context, (size_t)count * 18, sizeof *points);
    int32_t *indices = sn_allocate(context, (size_t)count * 6, sizeof *indices);
    int32_t soup_count = 0;
    sinew_labelled_surface surface = {NULL, 1, 0};
    sinew_voxel_def grid = sinew_default_voxel_def();

    grid.resolution = 40;
    sinew_voxel_report report;
    for (int damage = 0; damage < 3; damage++) {
        soup_count = 0;
        for (int32_t t = 0; t < count; t++) {
            // Damage 1: a few triangles missing here and there. Damage 2: a cap of the ball
            // missing.
            double z = ball->points[3 * ball->indices[3 * t] + 2];
            if ((damage == 1 && t % 97 == 50) || (damage == 2 && z > 0.3)) {
                continue;
            }

            for (int copy = 0; copy < 1 + (t % 5 == 0); copy++) {
                for (int k = 0; k < 3; k++) {
                    int32_t from = ball->indices[3 * t + k];
                    int32_t to = 3 * soup_count + k;
                    for (int a = 0; a < 3; a++) {
                        points[3 * to + a] = ball->points[3 * from + a];
                    }
                    indices[to] = to;
                }

                soup_count++;
            }
        }

        sinew_mesh soup = {.points = points,
                           .point_count = 3 * soup_count,
                           .element = SINEW_ELEMENT_TRIANGLE,
                           .indices = indices,
                           .element_count = soup_count};

        surface.mesh = &soup;
        sinew_voxels *voxels = NULL;
        sinew_status status =
            sinew_voxels_create_from_surfaces(context, &surface, 1, &grid, &voxels, &report);

        if (status != SINEW_OK) {
            fail_msg("%s", sinew_context_message(context));
        }

        // A cap is missing: the rest is closed across the rim, unless the caller set a limit.
        if (damage == 2) {
            assert_true(report.largest_hole > 0.5 && report.hole_count == 1);
            int32_t above = 0, below = 0; // of cells well inside: the two grids are shifted
            for (int32_t i = 0; i < whole->count; i++) {
                double c[3];
                sinew_voxels_get_center(whole, i, c);
                int32_t found = sinew_voxels_find_nearest(voxels, c, 0.0225);
                above += found >= 0 && c[2] > 0.35;
                below += found < 0 && c[2] < 0.25 && sn_length(sn_load3(c)) < 0.43;
            }
            print_message("ball without its cap: %d cells above the rim, %d missing below\n", above,
                          below);
            assert_true(above == 0 && below == 0);
            sinew_voxels_destroy(voxels);

            grid.hole_limit = 0.1;
            status = sinew_voxels_create_from_surfaces(context, &surface, 1, &grid, &voxels, NULL);
            assert_int_equal(status, SINEW_INVALID_DATA);
            assert_non_null(strstr(sinew_context_message(context), "open"));
            grid.hole_limit = 0;
            continue;
        }

        assert_int_equal(report.open_edges > 0, damage == 1);
        int32_t differences = count_differences(whole, voxels);

        print_message("ball with %d holes: %d of %d cells differ, %d were disputed\n",
                      report.hole_count, differences, whole->count, (int)report.disputed_cells);
        assert_true(differences <= (damage ? 12 : 0)); // at the holes themselves
        sinew_voxels_destroy(voxels);
    }

    // A sheet encloses nothing.
    const double sheet_points[9] = {0, 0, 0, 1, 0, 0.1, 0, 1, 0.2};
    const int32_t sheet_indices[3] = {0, 1, 2};
    sinew_mesh sheet = {.points = sheet_points,
                        .point_count = 3,
                        .element = SINEW_ELEMENT_TRIANGLE,
                        .indices = sheet_indices,
                        .element_count = 1};

    surface.mesh = &sheet;
    sinew_voxels *none = NULL;

    assert_int_equal(sinew_voxels_create_from_surfaces(context, &surface, 1, &grid, &none, &report),
                     SINEW_INVALID_DATA);
    sn_release(context, points, (size_t)count * 18, sizeof *points);
    sn_release(context, indices, (size_t)count * 6, sizeof *indices);
    sinew_voxels_destroy(whole);
    sinew_mesh_destroy(ball);
    sinew_context_destroy(context);
}

// Corners on the middles of cells: every side of the solid is closed, so mirror images agree.
static void test_ties_are_symmetric(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_shape_def def = sinew_default_shape_def();

    def.shape = SINEW_SHAPE_L;
    def.element = SINEW_ELEMENT_TRIANGLE;
    def.thickness = 0.5; // the inner faces pass through middles of the 5 cells of 0.2
    def.cell_size = 0.25;

    sinew_mesh *mesh = NULL, *image = NULL;
    assert_int_equal(sinew_mesh_create_shape(context, &def, &mesh), SINEW_OK);

    sinew_voxels *voxels = voxelize(context, mesh, 5, NULL);
    assert_int_equal(voxels->count, (25 - 4) * 5);
    assert_int_equal(sinew_mesh_copy(context, mesh, &image), SINEW_OK);

    for (int number = 0; number < 48; number++) {
        test_turn turn = test_turn_number(number);
        double *points = (double *)image->points;
        for (int32_t i = 0; i < mesh->point_count; i++) {
            sn_store3(points + 3 * i, test_turn_point(turn, sn_load3(mesh->points + 3 * i)));
        }

        sinew_voxels *turned = test_turn_voxels(voxels, turn, 1, NULL);
        sinew_voxels *direct = voxelize(context, image, 5, NULL);

        assert_int_equal(count_differences(turned, direct), 0);
        sinew_voxels_destroy(turned);
        sinew_voxels_destroy(direct);
    }

    sinew_voxels_destroy(voxels);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(image);
    sinew_context_destroy(context);
}

static void test_priorities(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *outer = make_surface(context, SINEW_SHAPE_BOX, 1, 4);
    sinew_mesh *inner = make_surface(context, SINEW_SHAPE_BOX, 0.5, 4);
    sinew_labelled_surface surfaces[2] = {{inner, 2, 5}, {outer, 1, 0}};
    sinew_voxel_def grid = sinew_default_voxel_def();

    grid.resolution = 20;
    for (int cut = 0; cut < 2; cut++) {
        if (cut) {
            surfaces[0].label = 0;
        }

        sinew_voxels *voxels = NULL;
        assert_int_equal(
            sinew_voxels_create_from_surfaces(context, surfaces, 2, &grid, &voxels, NULL),
            SINEW_OK);
        // The higher priority wins, though it comes first.
        assert_int_equal(sinew_voxels_get_label(voxels, 10, 9, 8), cut ? 0 : 2);
        assert_int_equal(sinew_voxels_get_label(voxels, 1, 1, 1), 1);
        sinew_voxels_destroy(voxels);
    }

    surfaces[1].label = 70000;
    sinew_voxels *none = NULL;

    assert_int_equal(sinew_voxels_create_from_surfaces(context, surfaces, 2, &grid, &none, NULL),
                     SINEW_INVALID_ARGUMENT);
    grid.memory_limit = 1000;
    surfaces[1].label = 1;
    assert_int_equal(sinew_voxels_create_from_surfaces(context, surfaces, 2, &grid, &none, NULL),
                     SINEW_OUT_OF_MEMORY);
    sinew_mesh_destroy(outer);
    sinew_mesh_destroy(inner);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_surfaces_match_solids),
        cmocka_unit_test(test_soup_and_holes),
        cmocka_unit_test(test_ties_are_symmetric),
        cmocka_unit_test(test_priorities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
