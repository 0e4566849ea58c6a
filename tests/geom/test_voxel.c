// Voxel grids: labels, solids and surfaces compared with known volumes and with each other; damaged
// surfaces; maps and statistics; the boundary mesh; limits, invalid input, memory shortage.
#include "edges.h"
#include "support/solid.h"
#include "surfaces.h"

#include "geom/mesh/mesh.h"
#include "geom/voxel/voxel_coarse.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static void test_labels(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const uint8_t bytes[12] = {0, 1, 2, 0, 5, 5, 0, 0, 200, 1, 0, 3};
    uint16_t words[12];

    for (int i = 0; i < 12; i++) {
        words[i] = (uint16_t)(bytes[i] * 300);
    }

    sinew_label_grid grid = {
        .cells = {3, 2, 2}, .spacing = {1, 2, 3}, .lower = {-1, 0, 10}, .labels8 = bytes};
    sinew_voxels *voxels = NULL;

    assert_int_equal(sinew_voxels_create_from_labels(context, &grid, SIZE_MAX, &voxels), SINEW_OK);
    assert_int_equal(sinew_voxels_get_count(voxels), 7);
    for (int i = 0; i < 12; i++) {
        int32_t x = i % 3;
        int32_t y = i / 3 % 2;
        int32_t z = i / 6;
        int32_t v = sinew_voxels_get_voxel(voxels, x, y, z);

        assert_int_equal(sinew_voxels_get_label(voxels, x, y, z), bytes[i]);
        assert_int_equal(v >= 0, bytes[i] != 0);
        if (v < 0) {
            continue;
        }

        double center[3];
        sinew_voxels_get_center(voxels, v, center);
        assert_true(center[0] == -1 + x + 0.5 && center[1] == 2 * (y + 0.5) &&
                    center[2] == 10 + 3 * (z + 0.5));

        for (int d = 0; d < 6; d++) { // neighbours point back
            int32_t u = voxels->neighbor[v][d];

            if (u >= 0) {
                assert_int_equal(voxels->neighbor[u][d ^ 1], v);
            }
        }
    }

    assert_int_equal(sinew_voxels_get_label(voxels, -1, 0, 0), 0);
    assert_int_equal(sinew_voxels_get_label(voxels, 0, 2, 0), 0);
    sinew_voxels_destroy(voxels);
    grid.labels8 = NULL;
    grid.labels16 = words;
    grid.flipped[0] = grid.flipped[2] = true;
    assert_int_equal(sinew_voxels_create_from_labels(context, &grid, SIZE_MAX, &voxels), SINEW_OK);

    for (int i = 0; i < 12; i++) {
        assert_int_equal(sinew_voxels_get_label(voxels, 2 - i % 3, i / 3 % 2, 1 - i / 6), words[i]);
    }

    sinew_voxels_destroy(voxels);

    // Both or neither kind of labels, no voxel, bad spacing, too large, over the limit.
    grid.labels8 = bytes;
    assert_int_equal(sinew_voxels_create_from_labels(context, &grid, SIZE_MAX, &voxels),
                     SINEW_INVALID_ARGUMENT);

    const uint8_t empty[12] = {0};
    grid = (sinew_label_grid){.cells = {3, 2, 2}, .spacing = {1, 1, 1}, .labels8 = empty};
    assert_int_equal(sinew_voxels_create_from_labels(context, &grid, SIZE_MAX, &voxels),
                     SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "no voxel"));
    grid.labels8 = bytes;
    grid.spacing[1] = 0;
    assert_int_equal(sinew_voxels_create_from_labels(context, &grid, SIZE_MAX, &voxels),
                     SINEW_INVALID_ARGUMENT);
    grid.spacing[1] = 1;
    grid.cells[0] = 0;
    assert_int_equal(sinew_voxels_create_from_labels(context, &grid, SIZE_MAX, &voxels),
                     SINEW_INVALID_ARGUMENT);
    grid.cells[0] = grid.cells[1] = grid.cells[2] = 2000;
    assert_int_equal(sinew_voxels_create_from_labels(context, &grid, SIZE_MAX, &voxels),
                     SINEW_OUT_OF_MEMORY);
    grid.cells[0] = grid.cells[1] = grid.cells[2] = 1000;
    assert_int_equal(sinew_voxels_create_from_labels(context, &grid, 1000000, &voxels),
                     SINEW_OUT_OF_MEMORY);
    assert_non_null(strstr(sinew_context_message(context), "MB"));
    assert_true(sinew_voxels_estimate_memory(grid.cells, 0.5) > 1e10);
    sinew_context_destroy(context);
}

static void test_solid_volumes(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    const double s[3] = {1.2, 0.8, 0.6};
    const double t = 0.2;
    const double exact[8] = {s[0] * s[1] * s[2],
                             pi / 6 * s[0] * s[1] * s[2],
                             pi / 4 * s[0] * s[1] * s[2],
                             pi / 4 * 0.4 * 0.4 * 0.6 + pi / 6 * 0.4 * 0.4 * 0.4,
                             pi * pi / 4 * (s[0] - t) * t * t,
                             (s[0] * t + (s[1] - t) * t) * s[2],
                             (s[0] * t + (s[1] - t) * t) * s[2],
                             (s[0] * t + 2 * (s[1] - t) * t) * s[2]};

    for (int kind = 0; kind < 8; kind++) {
        sinew_solid_def solid = sinew_default_solid_def();
        solid.solid = (sinew_solid)kind;
        for (int a = 0; a < 3; a++) {
            solid.size[a] = s[a];
        }

        if (kind == SINEW_SOLID_CAPSULE) {
            solid.size[0] = 0.4;
            solid.size[2] = 1;
        }

        solid.thickness = t;
        sinew_voxel_def grid = sinew_default_voxel_def();
        for (int a = 0; a < 3; a++) {
            grid.spacing[a] = 0.02;
        }

        for (int turned = 0; turned < 2; turned++) {
            if (turned) {
                solid.rotation[0] = 0.3;
                solid.rotation[1] = -0.2;
                solid.rotation[2] = 0.5;
                solid.center[0] = 7;
            }

            sinew_voxels *voxels = NULL;
            assert_int_equal(sinew_voxels_create_from_solids(context, &solid, 1, &grid, &voxels),
                             SINEW_OK);

            bool on_grid = !turned && (kind == SINEW_SOLID_BOX || kind >= SINEW_SOLID_L);
            test_close("volume", voxels->count * voxels->volume, exact[kind],
                       on_grid ? 1e-12 : 0.012 * exact[kind]);
            sinew_voxels_destroy(voxels);
        }
    }

    sinew_context_destroy(context);
}

static void test_operations_and_maps(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_solid_def solids[3];

    for (int i = 0; i < 3; i++) {
        solids[i] = sinew_default_solid_def();
    }

    solids[1].operation = SINEW_SOLID_CUT;
    solids[1].size[0] = solids[1].size[1] = 0.4;
    solids[1].size[2] = 2; // a hole along z
    solids[2].operation = SINEW_SOLID_PAINT;
    solids[2].label = 9;
    solids[2].center[0] = 0.4;
    solids[2].size[0] = 0.2;

    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.resolution = 20;

    sinew_voxels *voxels = NULL;
    assert_int_equal(sinew_voxels_create_from_solids(context, solids, 3, &grid, &voxels), SINEW_OK);
    assert_int_equal(voxels->count, 8000 - 8 * 8 * 20);

    sinew_label_statistics statistics[4];
    int32_t count = 0;

    assert_int_equal(sinew_voxels_compute_statistics(voxels, statistics, 4, &count), SINEW_OK);
    assert_int_equal(count, 2);
    assert_int_equal(statistics[1].label, 9);
    assert_int_equal(statistics[1].voxel_count, 4 * 20 * 20);
    assert_int_equal(statistics[1].part_count, 1);
    test_close("volume", statistics[1].volume, 0.2, 1e-12);
    test_close("centre", statistics[1].center[0], 0.4, 1e-12);
    test_close("lower", statistics[1].lower[0], 0.3, 1e-12);
    test_close("upper", statistics[1].upper[2], 0.5, 1e-12);

    const double thickness[2] = {0.1, 0.15};
    const int32_t labels[2] = {3, 4};
    sinew_layers_def layers = {.start = {0, 0, -0.5},
                               .direction = {0, 0, 2},
                               .thickness = thickness,
                               .labels = labels,
                               .count = 2,
                               .repeat = true};

    assert_int_equal(sinew_voxels_paint_layers(voxels, &layers), SINEW_OK);
    assert_int_equal(sinew_voxels_compute_statistics(voxels, statistics, 4, &count), SINEW_OK);
    assert_int_equal(count, 2);
    test_close("share", statistics[0].volume / (statistics[0].volume + statistics[1].volume), 0.4,
               1e-12);
    assert_int_equal(statistics[0].part_count, 4);

    sinew_gradient_def gradient = {
        .start = {-0.5, 0, 0}, .end = {0.5, 0, 0}, .first = 1, .last = 16, .geometric = true};

    assert_int_equal(sinew_voxels_apply_gradient(voxels, &gradient), SINEW_OK);
    for (int32_t v = 0; v < voxels->count; v++) {
        test_close("gradient", voxels->stiffness[v], pow(16, sn_voxel_center(voxels, v).x + 0.5),
                   1e-9);
    }

    // Invalid input.
    layers.count = 0;
    assert_int_equal(sinew_voxels_paint_layers(voxels, &layers), SINEW_INVALID_ARGUMENT);
    gradient.last = 0;
    assert_int_equal(sinew_voxels_apply_gradient(voxels, &gradient), SINEW_INVALID_ARGUMENT);
    solids[2].label = 0;
    assert_int_equal(sinew_voxels_paint(voxels, &solids[2]), SINEW_INVALID_ARGUMENT);
    sinew_voxels_destroy(voxels);
    assert_int_equal(sinew_voxels_create_from_solids(context, solids + 1, 1, &grid, &voxels),
                     SINEW_INVALID_ARGUMENT);
    solids[0].solid = SINEW_SOLID_U;
    solids[0].thickness = 0.6;
    assert_int_equal(sinew_voxels_create_from_solids(context, solids, 1, &grid, &voxels),
                     SINEW_INVALID_ARGUMENT);
    sinew_context_destroy(context);
}

static void test_nearest_and_parts(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(21);
    uint16_t labels[11 * 9 * 7];

    for (int i = 0; i < 11 * 9 * 7; i++) {
        labels[i] = sn_random_unit(&random) < 0.2;
    }

    labels[5] = 1;
    sinew_label_grid grid = {.cells = {11, 9, 7}, .spacing = {0.1, 0.25, 0.15}, .labels16 = labels};
    sinew_voxels *voxels = NULL;

    assert_int_equal(sinew_voxels_create_from_labels(context, &grid, SIZE_MAX, &voxels), SINEW_OK);
    for (int trial = 0; trial < 300; trial++) {
        sn_vec3 p = sn_v3(sn_random_range(&random, -1, 2), sn_random_range(&random, -1, 3),
                          sn_random_range(&random, -1, 2));
        double best = INFINITY, found, point[3];

        for (int32_t v = 0; v < voxels->count; v++) {
            best = fmin(best, sn_distance(p, sn_voxel_center(voxels, v)));
        }

        int32_t nearest[8];
        assert_true(sn_nearest_voxels(voxels, p, INFINITY, nearest, &found) >= 1);
        test_close("nearest", found, best, 1e-12);
        sn_store3(point, p);
        assert_int_equal(sinew_voxels_find_nearest(voxels, point, 0.999 * best), -1);
        assert_int_equal(sinew_voxels_find_nearest(voxels, point, 1.001 * best), nearest[0]);
    }

    // Parts: two voxels in the same part are joined by a chain; checked by relaxing labels until
    // nothing changes.
    sn_arena arena = sn_arena_create(context);
    int32_t *parts = NULL;
    int32_t count = 0;
    int32_t *lowest = SN_PUSH(&arena, int32_t, voxels->count);
    int32_t roots = 0;

    assert_int_equal(sn_voxel_parts(voxels, &arena, NULL, &parts, &count), SINEW_OK);
    for (int32_t v = 0; v < voxels->count; v++) {
        lowest[v] = v;
    }

    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t v = 0; v < voxels->count; v++) {
            for (int d = 0; d < 6; d++) {
                int32_t u = voxels->neighbor[v][d];
                if (u >= 0 && lowest[u] < lowest[v]) {
                    lowest[v] = lowest[u];
                    changed = true;
                }
            }
        }
    }

    for (int32_t v = 0; v < voxels->count; v++) {
        roots += lowest[v] == v;
        assert_int_equal(parts[v], parts[lowest[v]]);
    }

    assert_int_equal(roots, count);
    sn_arena_destroy(&arena);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

static void test_boundary_mesh(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    const sinew_solid solids[3] = {SINEW_SOLID_BOX, SINEW_SOLID_SPHERE, SINEW_SOLID_U};

    for (int i = 0; i < 3; i++) {
        sinew_voxels *voxels = test_solid(context, solids[i], 1, 0.8, 0.6, 0.04);
        test_paint_box(voxels, sn_v3(0.5, 0, 0), sn_v3(0.5, 2, 2), 4);

        double area[2] = {0, 0};
        for (int smoothing = 0; smoothing < 2; smoothing++) {
            sinew_mesh *mesh = NULL;
            assert_int_equal(sinew_voxels_create_surface(voxels, 10 * smoothing, &mesh), SINEW_OK);

            edge_report report =
                count_edges(context, mesh->indices, mesh->element_count, mesh->point_count);
            assert_true(report.open == 0 && report.crowded == 0 && report.inconsistent == 0);

            double volume = 0, worst = 0;
            for (int32_t t = 0; t < mesh->element_count; t++) {
                sn_vec3 a = sn_mesh_point(mesh, mesh->indices[3 * t]);
                sn_vec3 b = sn_mesh_point(mesh, mesh->indices[3 * t + 1]);
                sn_vec3 c = sn_mesh_point(mesh, mesh->indices[3 * t + 2]);

                volume += sn_dot(a, sn_cross(b, c)) / 6;
                area[smoothing] += 0.5 * sn_length(sn_cross(sn_sub(b, a), sn_sub(c, a)));
                assert_true(mesh->labels[t] == (a.x > 0.35 ? 4 : mesh->labels[t] == 4 ? 4 : 1));

                double point[3];
                sn_store3(point, a);
                worst =
                    fmax(worst, sn_distance(a, sn_voxel_center(voxels, sinew_voxels_find_nearest(
                                                                           voxels, point, 1))));
            }

            double full = voxels->count * voxels->volume;
            // Rounded corners; outward normals make it positive.
            test_close("volume", volume, full, 0.08 * full);
            assert_true(worst < 0.04 * 1.8);
            sinew_mesh_destroy(mesh);
        }

        assert_true(area[1] < area[0]);
        sinew_voxels_destroy(voxels);
    }

    sinew_context_destroy(context);
}

// Absurd resolutions are refused before anything large is allocated.
static void test_refused_at_once(void **state) {
    (void)state;
    test_allocator allocator = {.fail_at = INT64_MAX};
    sinew_context *context = test_context_failing(&allocator);
    sinew_mesh *mesh = make_surface(context, SINEW_SHAPE_BOX, 1, 4);
    sinew_labelled_surface surface = {mesh, 1, 0};
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();

    grid.resolution = 1200;
    sinew_voxels *none = NULL;

    assert_int_equal(sinew_voxels_create_from_surfaces(context, &surface, 1, &grid, &none, NULL),
                     SINEW_OUT_OF_MEMORY);
    assert_non_null(strstr(sinew_context_message(context), "1200 x 1080 x 960 cells"));
    assert_int_equal(sinew_voxels_create_from_solids(context, &solid, 1, &grid, &none),
                     SINEW_OUT_OF_MEMORY);
    assert_non_null(strstr(sinew_context_message(context), "the limit is 4295 MB"));
    assert_true(allocator.largest < 4 << 20);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

static sinew_status fill_walls(void *thickness, const sn_grid_frame *frame, uint16_t *labels) {
    const int32_t *n = frame->cells;
    const int32_t wall = *(const int32_t *)thickness;
    for (int32_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        int32_t c[3];
        int32_t deep = INT32_MAX;

        sn_cell_coordinates(n, i, c);
        for (int a = 0; a < 3; a++) {
            if (c[a] < deep) {
                deep = c[a];
            }
            if (n[a] - 1 - c[a] < deep) {
                deep = n[a] - 1 - c[a];
            }
        }

        labels[i] = deep < wall;
    }

    return SINEW_OK;
}

// Details that a coarse grid cannot resolve do not count against a fine one: a wall of one coarse
// cell may have any smaller thickness.
static void test_coarse_question(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_grid_frame frame = {{1000, 900, 30}, {1e-3, 1e-3, 1e-3}, {0, 0, 0}};
    const double cells = 1000.0 * 900 * 30;

    const struct {
        int32_t wall;
        double bytes; // per cell: slightly more than 2 to create the grid, 38 for each cell inside
        bool fits;
    } cases[] = {{2, 2.5, true}, {4, 2.5, false}, {100, 36.5, true}, {100, 35, false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t wall = cases[i].wall;
        sinew_status status =
            sn_check_inside(context, &frame, (size_t)(cases[i].bytes * cells), fill_walls, &wall);
        assert_int_equal(status, cases[i].fits ? SINEW_OK : SINEW_OUT_OF_MEMORY);
    }

    frame.cells[0] = frame.cells[1] = 64; // small: not asked about
    assert_int_equal(sn_check_inside(context, &frame, 1, fill_walls, &(int32_t){100}), SINEW_OK);
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    bool whole = false;
    for (int64_t fail_at = 0; !whole; fail_at++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);
        sinew_mesh *mesh = make_surface(context, SINEW_SHAPE_SPHERE, 1, 8);
        sinew_mesh *surface = NULL;

        allocator.fail_at = allocator.calls + fail_at;
        sinew_labelled_surface labelled = {mesh, 1, 0};
        sinew_voxel_def grid = sinew_default_voxel_def();

        grid.resolution = 12;
        sinew_voxels *voxels = NULL;
        sinew_status status =
            sinew_voxels_create_from_surfaces(context, &labelled, 1, &grid, &voxels, NULL);

        if (status == SINEW_OK) {
            status = sinew_voxels_create_surface(voxels, 2, &surface);
        }

        whole = status == SINEW_OK;
        if (!whole) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        sinew_mesh_destroy(surface);
        sinew_voxels_destroy(voxels);
        sinew_mesh_destroy(mesh);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

// Boxes of any size are voxelised exactly, by cells that fit them.
static void test_boxes_fit(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_solid_def bar = sinew_default_solid_def();
    bar.size[1] = 0.1;
    bar.size[2] = 0.137;

    sinew_voxel_def grid = sinew_default_voxel_def();
    sinew_voxels *voxels = NULL;
    double volume;
    assert_int_equal(sinew_voxels_create_from_solids(context, &bar, 1, &grid, &voxels), SINEW_OK);
    test_close("volume", sinew_voxels_get_volume(voxels, &volume), 0.0137, 1e-15);
    test_close("shape", volume, 0.0137, 1e-15);
    assert_null(sinew_voxels_get_fill(voxels));
    assert_int_equal(voxels->cells[0], 64);
    assert_int_equal(voxels->cells[1], 7);
    assert_int_equal(voxels->cells[2], 9);
    sinew_voxels_destroy(voxels);

    // With a given spacing the outermost cells are partly filled: 0.1 / 0.03 = 3.33 cells, where
    // the outer two of four contain two thirds. Six points along an edge resolve that.
    grid.spacing[0] = grid.spacing[1] = 0.03;
    grid.spacing[2] = 0.137;
    assert_int_equal(sinew_voxels_create_from_solids(context, &bar, 1, &grid, &voxels), SINEW_OK);
    assert_int_equal(voxels->cells[1], 4);
    int32_t middle = sn_voxel_at(voxels, 5, 0, 0);
    test_close("part", sinew_voxels_get_fill(voxels)[middle], 2 / 3.0, 1e-12);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

// Filled parts give solids and surfaces their volume, whatever the cells; without them the error is
// up to twenty times as large.
static void test_filled_parts(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    for (int i = SINEW_SOLID_BOX; i <= SINEW_SOLID_U; i++) {
        sinew_solid_def solid = sinew_default_solid_def();
        solid.solid = (sinew_solid)i;
        solid.size[2] = i == SINEW_SOLID_CAPSULE ? 1.7 : 0.7;
        sn_store3(solid.center, sn_v3(0.1, 2, -3));

        sinew_voxel_def grid = sinew_default_voxel_def();
        grid.resolution = 17;
        sinew_voxels *voxels = NULL;
        double volume;
        assert_int_equal(sinew_voxels_create_from_solids(context, &solid, 1, &grid, &voxels),
                         SINEW_OK);

        // Arms of 4.25 cells: their sides are off by at most a twelfth of a cell, 2 %.
        double found = sinew_voxels_get_volume(voxels, &volume);
        test_close("solid", found / volume, 1, i < SINEW_SOLID_L ? 2e-3 : 0.02);
        sinew_voxels_destroy(voxels);
    }

    const sinew_shape shapes[4] = {SINEW_SHAPE_BOX, SINEW_SHAPE_SPHERE, SINEW_SHAPE_CYLINDER,
                                   SINEW_SHAPE_TUBE};
    for (int i = 0; i < 4; i++) {
        sinew_mesh *mesh = make_surface(context, shapes[i], 1, 24);
        sinew_voxels *voxels = voxelize(context, mesh, 13, NULL);
        double volume;
        double found = sinew_voxels_get_volume(voxels, &volume);
        test_close("surface", found / volume, 1, 1e-2);
        sinew_voxels_destroy(voxels);
        sinew_mesh_destroy(mesh);
    }

    sinew_context_destroy(context);
}

// A ball with a cavity, and a bone inside flesh: cavities count as empty, overlaps once.
static void test_filled_parts_of_several(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *outer = make_surface(context, SINEW_SHAPE_SPHERE, 1, 24);
    sinew_mesh *inner = make_surface(context, SINEW_SHAPE_SPHERE, 0.5, 24);
    sinew_labelled_surface surfaces[2] = {{outer, 1, 0}, {inner, 2, 1}};
    sinew_voxel_def grid = sinew_default_voxel_def();
    double volume[2];

    grid.resolution = 16;
    for (int i = 0; i < 2; i++) {
        sinew_voxels *voxels = NULL;
        surfaces[1].label = i ? 0 : 2;
        assert_int_equal(
            sinew_voxels_create_from_surfaces(context, surfaces, 2, &grid, &voxels, NULL),
            SINEW_OK);
        volume[i] = sinew_voxels_get_volume(voxels, NULL);
        sinew_voxels_destroy(voxels);
    }

    test_close("cavity", volume[1] / volume[0], 7 / 8.0, 3e-3);
    sinew_mesh_destroy(outer);
    sinew_mesh_destroy(inner);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_solid_volumes),
        cmocka_unit_test(test_operations_and_maps),
        cmocka_unit_test(test_nearest_and_parts),
        cmocka_unit_test(test_boundary_mesh),
        cmocka_unit_test(test_refused_at_once),
        cmocka_unit_test(test_coarse_question),
        cmocka_unit_test(test_boxes_fit),
        cmocka_unit_test(test_filled_parts),
        cmocka_unit_test(test_filled_parts_of_several),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
