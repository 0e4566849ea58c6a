// Node placement: even in uniform bars, by compliance in others, held nodes, rigid and disconnected
// parts, coarse and fine grids, invalid input, memory shortage.
#include "support/solid.h"

#include "frame/weights/weights.h"

#include <math.h>
#include <stdlib.h>

static sinew_status place(sinew_context *context, const sinew_voxels *voxels,
                          const sinew_tissue *tissues, int32_t tissue_count,
                          const sinew_placement_def *def, double *positions) {
    return sinew_place_nodes(context, voxels, tissues, tissue_count, def, positions, NULL);
}

static void sort_by_x(double *positions, int count) {
    for (int i = 1; i < count; i++) {
        for (int j = i; j > 0 && positions[3 * j] < positions[3 * j - 3]; j--) {
            for (int a = 0; a < 3; a++) {
                double swap = positions[3 * j + a];
                positions[3 * j + a] = positions[3 * j - 3 + a];
                positions[3 * j - 3 + a] = swap;
            }
        }
    }
}

static void test_even_in_a_bar(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *bar = test_solid(context, SINEW_SOLID_BOX, 1, 0.04, 0.04, 0.01);
    sinew_placement_def def = sinew_default_placement_def();

    for (int count = 1; count <= 6; count++) {
        double positions[18];
        def.count = count;
        def.relaxations = 60;
        assert_int_equal(place(context, bar, NULL, 0, &def, positions), SINEW_OK);
        sort_by_x(positions, count);

        for (int i = 0; i < count; i++) {
            // The iteration stops once nodes move by less than a voxel.
            test_close("even", positions[3 * i], -0.5 + (i + 0.5) / count, 0.25 / count + 0.005);
        }
    }

    sinew_voxels_destroy(bar);
    sinew_context_destroy(context);
}

static void test_soft_parts_get_more(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *bar = test_solid(context, SINEW_SOLID_BOX, 1, 0.04, 0.04, 0.01);

    test_paint_box(bar, sn_v3(0.25, 0, 0), sn_v3(0.5, 1, 1), 2);
    sinew_tissue tissues[2] = {sinew_default_tissue(), sinew_default_tissue()};

    tissues[1].label = 2;
    tissues[1].young = 9 * tissues[0].young;

    sinew_placement_def def = sinew_default_placement_def();
    double positions[27];

    def.count = 9;
    assert_int_equal(place(context, bar, tissues, 2, &def, positions), SINEW_OK);

    int soft = 0;
    for (int i = 0; i < 9; i++) {
        soft += positions[3 * i] < 0;
    }

    assert_in_range(soft, 7, 8); // the soft half has nine tenths of the compliance
    def.metric = SINEW_METRIC_EUCLIDEAN;
    assert_int_equal(place(context, bar, tissues, 2, &def, positions), SINEW_OK);
    soft = 0;

    for (int i = 0; i < 9; i++) {
        soft += positions[3 * i] < 0;
    }

    assert_in_range(soft, 4, 5);
    sinew_voxels_destroy(bar);
    sinew_context_destroy(context);
}

static void test_held_nodes_and_parts(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_solid_def solids[4];

    for (int i = 0; i < 4; i++) {
        solids[i] = sinew_default_solid_def();
    }

    solids[0].size[0] = 1;
    solids[0].size[1] = solids[0].size[2] = 0.2;
    solids[1] = solids[0];
    solids[1].center[1] = 0.5;
    solids[1].size[0] = 0.3; // an island

    for (int i = 2; i < 4; i++) { // two bones
        solids[i].operation = SINEW_SOLID_PAINT;

        solids[i].label = 5;
        for (int a = 0; a < 3; a++) {
            solids[i].size[a] = 0.1;
        }
        solids[i].center[0] = i == 2 ? -0.3 : 0.25;
    }

    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.resolution = 40;

    sinew_voxels *voxels = NULL;
    assert_int_equal(sinew_voxels_create_from_solids(context, solids, 4, &grid, &voxels), SINEW_OK);

    sinew_tissue tissues[2] = {sinew_default_tissue(), sinew_default_tissue()};
    tissues[1].label = 5;
    tissues[1].rigid = true;

    const double fixed[3] = {0.45, 0.05, 0.05};
    sinew_placement_def def = sinew_default_placement_def();

    def.fixed = fixed;
    def.fixed_count = 1;
    def.count = 3;

    // The fixed node, two bones and the island.
    double positions[18];
    assert_int_equal(place(context, voxels, tissues, 2, &def, positions), SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "at least 4 are needed"));
    def.count = 6;

    int32_t part_nodes = 0;
    assert_int_equal(sinew_place_nodes(context, voxels, tissues, 2, &def, positions, &part_nodes),
                     SINEW_OK);
    assert_int_equal(part_nodes, 2);

    for (int a = 0; a < 3; a++) {
        assert_true(positions[a] == fixed[a]);
    }

    int in_bone = 0, on_island = 0;
    for (int i = 0; i < 6; i++) {
        int32_t v = sinew_voxels_find_nearest(voxels, positions + 3 * i, 0.1);
        assert_true(v >= 0);
        in_bone += voxels->label[v] == 5;
        on_island += positions[3 * i + 1] > 0.3;
    }

    assert_int_equal(in_bone, 2);
    assert_int_equal(on_island, 1);

    // The first node in a bone, given by the user, counts for it.
    const double own[3] = {-0.3, 0, 0};

    def.fixed = own;
    assert_int_equal(sinew_place_nodes(context, voxels, tissues, 2, &def, positions, &part_nodes),
                     SINEW_OK);
    assert_int_equal(part_nodes, 1);
    def.count = 2;
    assert_int_equal(place(context, voxels, tissues, 2, &def, positions), SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "not enough"));

    const double outside[3] = {0, 5, 0};
    def.count = 6;
    def.fixed = outside;
    assert_int_equal(place(context, voxels, tissues, 2, &def, positions), SINEW_INVALID_ARGUMENT);
    def.count = 0;
    assert_int_equal(place(context, voxels, tissues, 2, &def, positions), SINEW_INVALID_ARGUMENT);
    def.count = voxels->count + 1;
    assert_int_equal(place(context, voxels, tissues, 2, &def, positions), SINEW_INVALID_ARGUMENT);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

// Largest and mean distance of a voxel from the nearest node.
static double mean_distance(sinew_context *context, const sinew_voxels *voxels,
                            const double *positions, int count) {
    sn_metric metric = sn_metric_euclidean(voxels);
    sn_arena arena = sn_arena_create(context);
    sn_front *front = NULL;

    assert_int_equal(sn_front_create(&arena, &metric, SN_DISTANCE_MARCHING_2, &front), SINEW_OK);
    for (int i = 0; i < count; i++) {
        assert_true(sn_front_seed_point(front, sn_load3(positions + 3 * i), 3, 0.1, i));
    }

    sn_front_run(front, INFINITY, NULL, NULL);
    double sum = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        sum += front->distance[v];
    }

    sn_arena_destroy(&arena);
    return sum / voxels->count;
}

static void test_coarse_is_as_good(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    double mean[2];

    for (int i = 0; i < 2; i++) {
        // 128 000 and 16 000 voxels.
        sinew_voxels *ball =
            test_solid(context, SINEW_SOLID_SPHERE, 1, 0.8, 0.6, i ? 0.0125 : 0.025);
        sinew_placement_def def = sinew_default_placement_def();
        double positions[36];
        def.count = 12;
        assert_int_equal(place(context, ball, NULL, 0, &def, positions), SINEW_OK);
        mean[i] = mean_distance(context, ball, positions, 12);
        sinew_voxels_destroy(ball);
    }

    print_message("mean distance from the nearest of 12 nodes: %.4f m placed on the grid itself, "
                  "%.4f m by way of a coarser one\n",
                  mean[0], mean[1]);
    assert_true(mean[1] < 1.06 * mean[0]);
    assert_true(mean[0] < 0.16); // twelve balls of the same volume would have 0.127
    sinew_context_destroy(context);
}

// A coarse copy has the mean density and the mean compliance of its blocks, so that estimates made
// on it are about the same solid.
static void test_coarse_maps(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *box = test_solid(context, SINEW_SOLID_BOX, 0.8, 0.4, 0.4, 0.05);
    sinew_voxels *coarse = NULL;
    double *factor = calloc((size_t)box->count, sizeof *factor);
    double *young = calloc(SN_LABELS, sizeof *young);
    double mass[2] = {0, 0};
    assert_non_null(factor);
    assert_non_null(young);

    for (int32_t label = 0; label < SN_LABELS; label++) {
        young[label] = 1;
    }
    for (int32_t v = 0; v < box->count; v++) {
        factor[v] = 1 + v % 7;
    }
    assert_int_equal(sinew_voxels_set_density(box, factor), SINEW_OK);
    assert_int_equal(sinew_voxels_set_stiffness(box, factor), SINEW_OK);
    assert_int_equal(sn_coarsen_voxels(box, 2, young, &coarse), SINEW_OK);
    assert_int_equal(8 * coarse->count, box->count);

    double compliance[2] = {0, 0};
    for (int32_t v = 0; v < box->count; v++) {
        mass[0] += box->volume * sn_voxel_density(box, v);
        compliance[0] += box->volume / sn_voxel_stiffness(box, v);
    }
    for (int32_t v = 0; v < coarse->count; v++) {
        mass[1] += coarse->volume * sn_voxel_density(coarse, v);
        compliance[1] += coarse->volume / sn_voxel_stiffness(coarse, v);
    }
    assert_true(fabs(mass[1] / mass[0] - 1) < 1e-12);
    assert_true(fabs(compliance[1] / compliance[0] - 1) < 1e-12);

    free(young);
    free(factor);
    sinew_voxels_destroy(coarse);
    sinew_voxels_destroy(box);
    sinew_context_destroy(context);
}

// A rigid part is a single point of the metric: an entirely rigid body accepts one node and refuses
// a second.
static void test_all_rigid(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *box = test_solid(context, SINEW_SOLID_BOX, 0.4, 0.2, 0.2, 0.05);
    sinew_tissue bone = sinew_default_tissue();

    bone.rigid = true;
    sinew_placement_def def = sinew_default_placement_def();
    double positions[9];

    assert_int_equal(place(context, box, &bone, 1, &def, positions), SINEW_OK);
    def.count = 3;
    assert_int_equal(place(context, box, &bone, 1, &def, positions), SINEW_INVALID_ARGUMENT);
    assert_non_null(
        strstr(sinew_context_message(context), "3 nodes are too many: after 1 of them"));
    sinew_voxels_destroy(box);
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    bool whole = false;
    for (int64_t fail_at = 0; !whole; fail_at++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);
        // Large enough to be coarsened.
        sinew_voxels *box = test_solid(context, SINEW_SOLID_BOX, 1, 0.8, 0.6, 0.025);

        test_paint_box(box, sn_v3(0, 0, 0), sn_v3(0.2, 0.2, 0.2), 2);
        sinew_tissue tissues[2] = {sinew_default_tissue(), sinew_default_tissue()};

        tissues[1].label = 2;
        tissues[1].rigid = true;
        allocator.fail_at = allocator.calls + fail_at;

        sinew_placement_def def = sinew_default_placement_def();
        double positions[9];

        def.count = 3;
        def.relaxations = 1;

        sinew_status status = place(context, box, tissues, 2, &def, positions);
        whole = status == SINEW_OK;
        if (!whole) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        sinew_voxels_destroy(box);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_even_in_a_bar),        cmocka_unit_test(test_soft_parts_get_more),
        cmocka_unit_test(test_held_nodes_and_parts), cmocka_unit_test(test_coarse_is_as_good),
        cmocka_unit_test(test_coarse_maps),          cmocka_unit_test(test_all_rigid),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
