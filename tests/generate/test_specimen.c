// Specimens: the requested number of voxels, labels as in the table, separate bones, sides of the
// steak joined by bone alone.
#include "sinew/io/specimen.h"
#include "support/test.h"

#include "geom/voxel/voxel.h"

#include <stdio.h>

static sinew_voxels *make(sinew_context *context, sinew_specimen specimen, int32_t count) {
    sinew_voxels *voxels = NULL;
    assert_int_equal(
        sinew_voxels_create_specimen(context, specimen, count, (size_t)1 << 30, &voxels), SINEW_OK);
    return voxels;
}

static void test_counts_and_labels(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int32_t s = 0; s < sinew_specimen_count(); s++) {
        sinew_voxels *voxels = make(context, (sinew_specimen)s, 30000);
        int32_t count, tissue_count;
        sinew_label_statistics found[8];
        const sinew_specimen_tissue *tissues =
            sinew_specimen_tissues((sinew_specimen)s, &tissue_count);

        assert_int_equal(sinew_voxels_compute_statistics(voxels, found, 8, &count), SINEW_OK);
        printf("%s: %d voxels, %d labels\n", sinew_specimen_name((sinew_specimen)s),
               sinew_voxels_get_count(voxels), count);
        assert_in_range(sinew_voxels_get_count(voxels), 22500, 39000);
        assert_int_equal(count, tissue_count);

        for (int32_t i = 0; i < count; i++) {
            assert_int_equal(found[i].label, tissues[i].label);
        }

        assert_int_equal(sinew_specimen_find(sinew_specimen_name((sinew_specimen)s)), s);
        int32_t *parts, part_count;
        sn_arena arena = sn_arena_create(context);

        assert_int_equal(sn_voxel_parts(voxels, &arena, NULL, &parts, &part_count), SINEW_OK);
        assert_int_equal(part_count, 1);
        sn_arena_destroy(&arena);
        sinew_voxels_destroy(voxels);
    }

    assert_int_equal(sinew_specimen_find("unicorn"), -1);
    sinew_context_destroy(context);
}

static void test_parts(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    int32_t count;
    sinew_label_statistics found[8];
    sinew_voxels *voxels = make(context, SINEW_SPECIMEN_STEAK, 20000);

    assert_int_equal(sinew_voxels_compute_statistics(voxels, found, 8, &count), SINEW_OK);
    assert_int_equal(found[0].part_count, 2); // muscle left and right
    assert_int_equal(found[1].part_count, 2); // fat too
    assert_int_equal(found[2].part_count, 1);
    sinew_voxels_destroy(voxels);
    voxels = make(context, SINEW_SPECIMEN_KNEE, 60000);
    assert_int_equal(sinew_voxels_compute_statistics(voxels, found, 8, &count), SINEW_OK);
    assert_int_equal(found[0].part_count, 3); // thigh, shin, cap
    sinew_voxels_destroy(voxels);
    voxels = make(context, SINEW_SPECIMEN_ANIMAL, 60000);
    assert_int_equal(sinew_voxels_compute_statistics(voxels, found, 8, &count), SINEW_OK);
    assert_int_equal(found[1].part_count, 8);
    sinew_voxels_destroy(voxels);
    voxels = make(context, SINEW_SPECIMEN_GRADIENT, 4000);
    assert_int_equal(sinew_voxels_compute_statistics(voxels, found, 8, &count), SINEW_OK);
    assert_true(found[0].stiffness_range[0] < 1.05 && found[0].stiffness_range[1] > 9.5);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

static void test_refusals(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_voxels *voxels = NULL;

    assert_int_equal(
        sinew_voxels_create_specimen(context, SINEW_SPECIMEN_STEAK, 0, 1 << 20, &voxels),
        SINEW_INVALID_ARGUMENT);
    assert_int_equal(
        sinew_voxels_create_specimen(context, (sinew_specimen)99, 10, 1 << 20, &voxels),
        SINEW_INVALID_ARGUMENT);
    assert_int_not_equal(
        sinew_voxels_create_specimen(context, SINEW_SPECIMEN_DRAGON, 7000000, 1 << 20, &voxels),
        SINEW_OK);
    assert_null(voxels);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_and_labels),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
