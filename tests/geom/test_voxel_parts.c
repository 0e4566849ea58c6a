// Connected parts and neighbours of large grids with more than one chunk, compared with a flood
// fill and a search of each cell, and the same for any number of threads.
#include "support/hash.h"

#include "base/random.h"
#include "geom/voxel/voxel.h"

#include <stdlib.h>

enum { SIDE = 70, SEED = 31 };

// Cells are inside with a probability at which parts of all sizes occur.
static sinew_voxels *make_sponge(sinew_context *context, double density) {
    uint16_t *labels = malloc(sizeof *labels * SIDE * SIDE * SIDE);
    sn_random random = sn_random_seed(SEED);
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        labels[i] = sn_random_unit(&random) < density;
    }

    sinew_label_grid grid = {.cells = {SIDE, SIDE, SIDE}, .spacing = {1, 1, 1}, .labels16 = labels};
    sinew_voxels *voxels = NULL;

    assert_int_equal(sinew_voxels_create_from_labels(context, &grid, SIZE_MAX, &voxels), SINEW_OK);
    free(labels);

    return voxels;
}

static int32_t flood(const sinew_voxels *voxels, const uint64_t *key, int32_t *part,
                     int32_t *stack) {
    int32_t count = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        part[v] = -1;
    }

    for (int32_t first = 0; first < voxels->count; first++) {
        if (part[first] >= 0) {
            continue;
        }

        int32_t depth = 0;
        part[first] = count;
        stack[depth++] = first;

        while (depth > 0) {
            int32_t v = stack[--depth];
            for (int d = 0; d < SN_VOXEL_FACES; d++) {
                int32_t u = voxels->neighbor[v][d];
                if (u < 0 || part[u] >= 0 || (key && key[u] != key[v])) {
                    continue;
                }
                part[u] = count;
                stack[depth++] = u;
            }
        }

        count++;
    }

    return count;
}

static uint64_t check_parts(sinew_context *context, void *user) {
    bool keyed = *(const bool *)user;
    sinew_voxels *voxels = make_sponge(context, keyed ? 1 : 0.32);

    assert_true(voxels->count > 3 << 15);
    sn_arena arena = sn_arena_create(context);
    uint64_t *key = SN_PUSH(&arena, uint64_t, voxels->count);
    int32_t *expected = SN_PUSH(&arena, int32_t, voxels->count);
    int32_t *stack = SN_PUSH(&arena, int32_t, voxels->count);
    sn_random random = sn_random_seed(SEED + 1);

    for (int32_t v = 0; v < voxels->count; v++) {
        key[v] = sn_random_unit(&random) < 0.32;
    }

    int32_t *parts = NULL, count = 0;
    assert_int_equal(sn_voxel_parts(voxels, &arena, keyed ? key : NULL, &parts, &count), SINEW_OK);
    assert_int_equal(flood(voxels, keyed ? key : NULL, expected, stack), count);
    assert_true(count > 100);
    assert_memory_equal(parts, expected, (size_t)voxels->count * sizeof *parts);

    uint64_t hash = test_hash(TEST_HASH_START, parts, (size_t)voxels->count * sizeof *parts);
    sn_arena_destroy(&arena);
    sinew_voxels_destroy(voxels);

    return hash;
}

static void test_parts(void **state) {
    (void)state;
    for (int keyed = 0; keyed < 2; keyed++) {
        test_over_threads(keyed ? "parts by key" : "parts", check_parts, &(bool){keyed});
    }
}

static uint64_t check_neighbors(sinew_context *context, void *user) {
    sinew_voxels *voxels = make_sponge(context, *(const double *)user);
    for (int32_t v = 0; v < voxels->count; v++) {
        int32_t c[3];
        sn_cell_coordinates(voxels->cells, voxels->cell[v], c);
        assert_int_equal(sn_voxel_at(voxels, c[0], c[1], c[2]), v);

        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            int32_t n[3] = {c[0], c[1], c[2]};
            n[d / 2] += d % 2 ? 1 : -1;
            assert_int_equal(voxels->neighbor[v][d], sn_voxel_at(voxels, n[0], n[1], n[2]));
        }
    }

    uint64_t hash = test_hash(TEST_HASH_START, voxels->neighbor,
                              (size_t)voxels->count * sizeof *voxels->neighbor);

    sinew_voxels_destroy(voxels);
    return hash;
}

static void test_neighbors(void **state) {
    (void)state;
    const double densities[] = {0.001, 0.5, 1};
    for (int i = 0; i < 3; i++) {
        test_over_threads("neighbours", check_neighbors, &(double){densities[i]});
    }
}

static int32_t count_parts(const sinew_voxels *voxels) {
    int32_t *parts = malloc(sizeof *parts * (size_t)voxels->count);
    int32_t count = 0;
    assert_int_equal(sinew_voxels_compute_parts(voxels, parts, &count), SINEW_OK);
    free(parts);
    return count;
}

// A sponge has specks of all sizes: dropped, none is left below the share; joined, there is one
// part, every old voxel is still there, and each has kept its stiffness.
static void test_specks(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *voxels = make_sponge(context, 0.33);
    int32_t before = voxels->count;
    int32_t parts = count_parts(voxels);
    double *factors = malloc(sizeof *factors * (size_t)before);
    for (int32_t v = 0; v < before; v++) {
        factors[v] = 2 + voxels->cell[v]; // new voxels have 1
    }
    assert_int_equal(sinew_voxels_set_stiffness(voxels, factors), SINEW_OK);
    free(factors);

    // Nothing is below a share of 0; shares outside [0, 1] are refused.
    sinew_speck_report report;
    assert_int_equal(sinew_voxels_settle_specks(&voxels, SINEW_SPECKS_DROP, 0, &report), SINEW_OK);
    assert_true(report.count == 0 && voxels->count == before);
    assert_int_equal(sinew_voxels_settle_specks(&voxels, SINEW_SPECKS_DROP, NAN, NULL),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_voxels_settle_specks(&voxels, (sinew_specks)2, 0.1, NULL),
                     SINEW_INVALID_ARGUMENT);

    assert_int_equal(sinew_voxels_settle_specks(&voxels, SINEW_SPECKS_JOIN, 1, &report), SINEW_OK);
    assert_int_equal(report.count, parts - 1);
    assert_int_equal(voxels->count, before + report.added);
    assert_int_equal(count_parts(voxels), 1);
    int32_t kept = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        kept += voxels->stiffness[v] == 2 + voxels->cell[v];
    }
    assert_int_equal(kept, before);
    sinew_voxels_destroy(voxels);

    voxels = make_sponge(context, 0.33);
    assert_int_equal(sinew_voxels_settle_specks(&voxels, SINEW_SPECKS_DROP, 1, &report), SINEW_OK);
    assert_int_equal(report.count, parts - 1);
    assert_int_equal(voxels->count, before - report.voxels);
    assert_int_equal(count_parts(voxels), 1);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_neighbors),
                                       cmocka_unit_test(test_specks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
