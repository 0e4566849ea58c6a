// Orderings are permutations that bring neighbours together; no two chunks of a colour share a
// node.
#include "mesh_support.h"

#include "geom/mesh/mesh.h"

static void assert_permutation(sinew_context *context, const int32_t *order, int32_t count) {
    uint8_t *seen = sn_allocate(context, (size_t)count, 1);
    for (int32_t i = 0; i < count; i++) {
        assert_true(order[i] >= 0 && order[i] < count && !seen[order[i]]);
        seen[order[i]] = 1;
    }
    sn_release(context, seen, (size_t)count, 1);
}

// The mesh in a new order; the nodes of an element keep theirs.
static sn_owned_mesh *reorder(sinew_context *context, const sinew_mesh *mesh,
                              const sn_order *order) {
    sn_arena scratch = sn_arena_create(context);
    int32_t *numbers = SN_PUSH(&scratch, int32_t, mesh->point_count);
    sn_owned_mesh *made = NULL;
    assert_ok(context, sn_owned_mesh_create(context, mesh->element, mesh->point_count,
                                            mesh->element_count, false, &made));

    for (int32_t i = 0; i < mesh->point_count; i++) {
        numbers[order->nodes[i]] = i;
        sn_store3(made->points + 3 * (size_t)i, sn_mesh_point(mesh, order->nodes[i]));
    }

    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *nodes = sn_mesh_nodes(mesh, order->elements[e]);
        for (int i = 0; i < 4; i++) {
            made->indices[4 * (size_t)e + (size_t)i] = numbers[nodes[i]];
        }
    }

    sn_arena_destroy(&scratch);
    return made;
}

// A mesh with nodes and elements in random order.
static sn_owned_mesh *shuffled(sinew_context *context, const sinew_mesh *mesh) {
    sn_arena arena = sn_arena_create(context);
    sn_order order = {SN_PUSH(&arena, int32_t, mesh->point_count),
                      SN_PUSH(&arena, int32_t, mesh->element_count)};
    sn_random random = sn_random_seed(5);

    for (int pass = 0; pass < 2; pass++) {
        int32_t *list = pass ? order.elements : order.nodes;
        int32_t count = pass ? mesh->element_count : mesh->point_count;
        for (int32_t i = 0; i < count; i++) {
            int32_t k = (int32_t)(sn_random_u32(&random) % (uint32_t)(i + 1));
            list[i] = list[k];
            list[k] = i;
        }
    }

    sn_owned_mesh *made = reorder(context, mesh, &order);
    sn_arena_destroy(&arena);

    return made;
}

// Mean distance of the node numbers within an element.
static double mean_spread(const sinew_mesh *mesh) {
    double sum = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *nodes = sn_mesh_nodes(mesh, e);
        int32_t low = nodes[0];
        int32_t high = nodes[0];

        for (int32_t i = 1; i < sn_element_info_of(mesh->element)->nodes; i++) {
            low = nodes[i] < low ? nodes[i] : low;
            high = nodes[i] > high ? nodes[i] : high;
        }

        sum += high - low;
    }

    return sum / mesh->element_count;
}

static void test_order_brings_neighbors_together(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *box = make_box(context, SINEW_ELEMENT_TET4, 30, 6, 6);
    sn_owned_mesh *mixed = shuffled(context, box);
    sn_arena arena = sn_arena_create(context);
    sn_order order;

    assert_ok(context, sn_build_hilbert_order(&arena, &mixed->view, &order));
    assert_permutation(context, order.nodes, box->point_count);
    assert_permutation(context, order.elements, box->element_count);

    sn_owned_mesh *hilbert = reorder(context, &mixed->view, &order);
    assert_good_solid(context, &hilbert->view, 2);
    test_close("same volume", mesh_volume(&hilbert->view), 1, 1e-12);

    // Random numbers of 1519 nodes lie about 900 apart; a cross-section has 49 nodes.
    assert_true(mean_spread(&mixed->view) > 700);
    assert_true(mean_spread(&hilbert->view) < 200);

    sn_arena_destroy(&arena);
    sinew_mesh_destroy(&hilbert->view);
    sinew_mesh_destroy(&mixed->view);
    sinew_mesh_destroy(box);
    sinew_context_destroy(context);
}

static void assert_colors_are_apart(sinew_context *context, const sn_coloring *coloring,
                                    const int32_t *indices, int32_t width, int32_t elements,
                                    int32_t nodes) {
    int32_t *owner = sn_allocate(context, (size_t)nodes, sizeof *owner);
    assert_permutation(context, coloring->chunks, coloring->chunk_count);
    assert_int_equal(coloring->color_offsets[0], 0);
    assert_int_equal(coloring->color_offsets[coloring->color_count], coloring->chunk_count);

    for (int32_t color = 0; color < coloring->color_count; color++) {
        memset(owner, -1, (size_t)nodes * sizeof *owner);
        assert_true(coloring->color_offsets[color] < coloring->color_offsets[color + 1]);
        for (int32_t i = coloring->color_offsets[color]; i < coloring->color_offsets[color + 1];
             i++) {
            int32_t chunk = coloring->chunks[i];
            int32_t begin = chunk * coloring->chunk_size;
            for (int32_t e = begin; e < begin + coloring->chunk_size && e < elements; e++) {
                for (int32_t k = 0; k < width; k++) {
                    int32_t node = indices[e * width + k];
                    if (node < 0) {
                        continue;
                    }
                    assert_true(owner[node] == -1 || owner[node] == chunk);
                    owner[node] = chunk;
                }
            }
        }
    }

    sn_release(context, owner, (size_t)nodes, sizeof *owner);
}

static void test_chunks_of_a_color_share_no_node(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *box = make_box(context, SINEW_ELEMENT_TET4, 12, 10, 9);

    for (int32_t size = 1; size <= 1024; size *= 4) {
        sn_arena arena = sn_arena_create(context);
        sn_coloring coloring;
        assert_ok(context, sn_build_coloring(&arena, box->indices, 4, box->element_count,
                                             box->point_count, size, &coloring));
        assert_int_equal(coloring.chunk_count, (box->element_count + size - 1) / size);
        assert_colors_are_apart(context, &coloring, box->indices, 4, box->element_count,
                                box->point_count);
        sn_arena_destroy(&arena);
    }

    sinew_mesh_destroy(box);
    sinew_context_destroy(context);
}

// 150 pairs around one node need 150 colours, more than one word of bits; unused entries are
// skipped.
static void test_many_colors(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    int32_t indices[450];

    for (int32_t i = 0; i < 150; i++) {
        indices[3 * i] = 0;
        indices[3 * i + 1] = i + 1;
        indices[3 * i + 2] = -1;
    }

    sn_arena arena = sn_arena_create(context);
    sn_coloring coloring;

    assert_ok(context, sn_build_coloring(&arena, indices, 3, 150, 151, 1, &coloring));
    assert_int_equal(coloring.color_count, 150);
    assert_colors_are_apart(context, &coloring, indices, 3, 150, 151);
    assert_ok(context, sn_build_coloring(&arena, indices, 3, 0, 151, 16, &coloring));
    assert_int_equal(coloring.color_count, 0);
    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

static void test_memory_shortage_is_reported(void **state) {
    (void)state;
    sinew_status status = SINEW_OUT_OF_MEMORY;
    for (int64_t fail_at = 1; status != SINEW_OK; fail_at++) {
        test_allocator allocator = {.fail_at = fail_at};
        sinew_context *context = test_context_failing(&allocator);
        sn_arena arena = sn_arena_create(context);
        sinew_shape_def def = sinew_default_shape_def();
        sinew_mesh *mesh = NULL;
        sn_order order;
        sn_coloring coloring;

        status = sinew_mesh_create_shape(context, &def, &mesh);
        if (status == SINEW_OK) {
            status = sn_build_hilbert_order(&arena, mesh, &order);
        }
        if (status == SINEW_OK) {
            status = sn_build_coloring(&arena, mesh->indices, 4, mesh->element_count,
                                       mesh->point_count, 64, &coloring);
        }

        assert_true(status == SINEW_OK || status == SINEW_OUT_OF_MEMORY);
        sinew_mesh_destroy(mesh);
        sn_arena_destroy(&arena);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        assert_true(fail_at < 200);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_brings_neighbors_together),
        cmocka_unit_test(test_chunks_of_a_color_share_no_node),
        cmocka_unit_test(test_many_colors),
        cmocka_unit_test(test_memory_shortage_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
