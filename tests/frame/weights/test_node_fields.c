// Fields of nodes: listed in order, complete when a slot's buffer is full, the same for any number
// of threads, transposed like a brute-force search; memory shortage.
#include "support/hash.h"
#include "support/solid.h"

#include "base/random.h"
#include "frame/weights/node_fields.h"

static void test_sets_list_in_order(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);

    enum { COUNT = 1000 };
    sn_voxel_set set = sn_voxel_set_push(&arena, COUNT);
    sn_random random = sn_random_seed(5);

    for (int round = 0; round < 20; round++) {
        bool in[COUNT] = {false};
        int32_t wanted = 0, list[COUNT];
        for (int i = 0; i < round * round * 3; i++) {
            int32_t v = (int32_t)(sn_random_u32(&random) % COUNT);
            wanted += !in[v];
            in[v] = true;
            sn_voxel_set_add(&set, v);
        }

        int32_t count = sn_voxel_set_drain(&set, list);
        assert_int_equal(count, wanted);
        for (int32_t i = 0; i < count; i++) {
            assert_true(in[list[i]]);
            if (i) {
                assert_true(list[i] > list[i - 1]);
            }
        }

        assert_int_equal(sn_voxel_set_drain(&set, list), 0);
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

// Node i has every (i + 1)-th voxel, with a value that depends on both. The first nodes alone fill
// the buffer of a slot several times.
typedef struct made_up {
    int32_t voxels;
    int32_t node[SN_FIELD_SLOTS];
} made_up;

static double value_of(int32_t node, int32_t voxel) {
    return 1e6 * node + voxel + 0.25;
}

static int32_t compute_made_up(void *data, int32_t node, int32_t slot) {
    made_up *m = data;
    m->node[slot] = node;
    return (m->voxels + node) / (node + 1);
}

static void store_made_up(void *data, int32_t slot, int32_t *voxels, double *values) {
    const made_up *m = data;
    int32_t node = m->node[slot];
    for (int32_t v = 0, k = 0; v < m->voxels; v += node + 1, k++) {
        voxels[k] = v;
        values[k] = value_of(node, v);
    }
}

enum { NODES = 40 };

static sinew_status make_table(sinew_context *context, const sinew_voxels *voxels, sn_arena *arena,
                               sn_weight_table *table) {
    sn_shape shape = {.context = context, .voxels = voxels, .node_count = NODES};
    sn_node_field fields[NODES];
    int32_t *order;
    made_up m = {.voxels = voxels->count};
    sn_field_maker maker = {compute_made_up, store_made_up, &m,
                            sn_field_slots(context, voxels->count, NODES)};

    SN_TRY(sn_make_fields(&shape, &maker, NULL, NODES, arena, fields));
    SN_TRY(sn_order_fields(fields, NODES, arena, &order));
    for (int32_t i = 0; i < NODES; i++) {
        assert_int_equal(order[i], i);
    }

    int32_t backwards[NODES];
    for (int32_t i = 0; i < NODES; i++) {
        backwards[i] = NODES - 1 - i;
    }

    SN_TRY(sn_make_fields(&shape, &maker, backwards, NODES, arena, fields));
    // Some of the fields are computed twice.
    SN_TRY(sn_make_fields(&shape, &maker, backwards + 7, NODES / 2, arena, fields));

    return sn_transpose_fields(context, arena, fields, NODES, voxels->count, table);
}

static sinew_voxels *make_block(sinew_context *context, sinew_status *status) {
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.resolution = 30;
    sinew_voxels *voxels = NULL;
    *status = sinew_voxels_create_from_solids(context, &solid, 1, &grid, &voxels);
    return voxels;
}

static uint64_t hash_table(sinew_context *context, void *user) {
    (void)user;
    sinew_status status;
    sinew_voxels *voxels = make_block(context, &status);

    assert_int_equal(status, SINEW_OK);
    sn_arena arena = sn_arena_create(context);
    sn_weight_table table;

    assert_int_equal(make_table(context, voxels, &arena, &table), SINEW_OK);
    assert_true(table.start[voxels->count] > 65536); // more than one buffer
    for (int32_t v = 0; v < voxels->count; v++) {
        int64_t k = table.start[v];
        for (int32_t node = 0; node < NODES; node++) {
            if (v % (node + 1)) {
                continue;
            }
            assert_int_equal(table.node[k], node);
            assert_true(table.weight[k] == value_of(node, v));
            k++;
        }

        assert_int_equal(table.start[v + 1], k);
    }

    uint64_t hash = test_hash(TEST_HASH_START, table.weight,
                              (size_t)table.start[voxels->count] * sizeof *table.weight);

    sn_arena_destroy(&arena);
    sinew_voxels_destroy(voxels);

    return hash;
}

static void test_tables_over_threads(void **state) {
    (void)state;
    test_over_threads("table of made-up fields", hash_table, NULL);
}

static void test_memory_shortage(void **state) {
    (void)state;
    bool whole = false;
    int64_t failures = 0;

    for (int64_t fail_at = 1; !whole; fail_at++) {
        test_allocator allocator = {.fail_at = fail_at};
        sinew_context *context = test_context_failing(&allocator);

        assert_non_null(context);
        sinew_status status;
        sinew_voxels *voxels = make_block(context, &status);

        if (status == SINEW_OK) {
            sn_arena arena = sn_arena_create(context);
            sn_weight_table table;
            status = make_table(context, voxels, &arena, &table);
            whole = status == SINEW_OK;
            sn_arena_destroy(&arena);
            sinew_voxels_destroy(voxels);
        }

        if (!whole) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        failures = fail_at;
    }

    assert_true(failures > 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_list_in_order),
        cmocka_unit_test(test_tables_over_threads),
        cmocka_unit_test(test_memory_shortage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
