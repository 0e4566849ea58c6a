// Adjacency compared with brute force, boundary and surface, parts, edges, and the underlying
// sorts.
#include "mesh_support.h"

#include "base/sort.h"
#include "base/tuples.h"

static const sinew_element kinds[4] = {SINEW_ELEMENT_TET4, SINEW_ELEMENT_TET10, SINEW_ELEMENT_HEX8,
                                       SINEW_ELEMENT_TRIANGLE};

static bool has_node(const sinew_mesh *mesh, int32_t element, int32_t node) {
    for (int32_t i = 0; i < sn_element_info_of(mesh->element)->nodes; i++) {
        if (sn_mesh_nodes(mesh, element)[i] == node) {
            return true;
        }
    }
    return false;
}

static void test_node_adjacency_is_complete(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int kind = 0; kind < 4; kind++) {
        sinew_mesh *mesh = make_box(context, kinds[kind], 3, 2, 2);
        sn_arena arena = sn_arena_create(context);
        sn_adjacency elements, neighbors;

        assert_ok(context, sn_build_node_elements(&arena, mesh, &elements));
        assert_ok(context, sn_build_node_neighbors(&arena, mesh, &neighbors));
        for (int32_t node = 0; node < mesh->point_count; node++) {
            int32_t next = elements.offsets[node];
            int32_t item = neighbors.offsets[node];
            for (int32_t e = 0; e < mesh->element_count; e++) {
                if (has_node(mesh, e, node)) {
                    assert_int_equal(elements.items[next++], e);
                }
            }

            assert_int_equal(next, elements.offsets[node + 1]);
            for (int32_t other = 0; other < mesh->point_count; other++) {
                bool shared = false;
                for (int32_t i = elements.offsets[node]; i < next; i++) {
                    shared |= has_node(mesh, elements.items[i], other);
                }

                if (shared) {
                    assert_int_equal(neighbors.items[item++], other);
                }
            }

            assert_int_equal(item, neighbors.offsets[node + 1]);
        }

        sn_arena_destroy(&arena);
        sinew_mesh_destroy(mesh);
    }

    sinew_context_destroy(context);
}

static void test_neighbors_share_a_face(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int kind = 0; kind < 4; kind++) {
        sinew_mesh *mesh = make_box(context, kinds[kind], 3, 3, 2);
        const sn_element_info *info = sn_element_info_of(mesh->element);
        sn_arena arena = sn_arena_create(context);
        int32_t *neighbors, at_boundary = 0;
        sn_boundary boundary;

        assert_ok(context, sn_build_element_neighbors(&arena, mesh, &neighbors));
        assert_ok(context, sn_build_boundary(&arena, mesh, &boundary));
        for (int32_t i = 0; i < mesh->element_count * info->faces; i++) {
            int32_t e = i / info->faces;
            int32_t other = neighbors[i];
            if (other < 0) {
                assert_int_equal(boundary.elements[at_boundary], e);
                assert_int_equal(boundary.faces[at_boundary++], i % info->faces);
                continue;
            }

            bool back = false;
            for (int32_t f = 0; f < info->faces; f++) {
                back |= neighbors[other * info->faces + f] == e;
            }

            assert_true(back);
            for (int32_t k = 0; k < info->face_nodes; k++) {
                assert_true(
                    has_node(mesh, other, sn_mesh_nodes(mesh, e)[info->face[i % info->faces][k]]));
            }
        }

        assert_int_equal(at_boundary, boundary.count);

        // A closed surface has no boundary edges; the box has 2 (33 + 32 + 32) outer squares.
        const int32_t expected[4] = {2 * 42, 2 * 42, 42, 0};

        assert_int_equal(boundary.count, expected[kind]);
        sn_arena_destroy(&arena);
        sinew_mesh_destroy(mesh);
    }

    sinew_context_destroy(context);
}

static void test_surface_keeps_nodes_and_labels(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int kind = 0; kind < 4; kind++) {
        sinew_mesh *mesh = make_box(context, kinds[kind], 3, 2, 2);
        sinew_mesh *surface = NULL;
        int32_t *labels = sn_allocate(context, (size_t)mesh->element_count, sizeof *labels);

        for (int32_t e = 0; e < mesh->element_count; e++) {
            labels[e] = e;
        }

        sinew_mesh labelled = *mesh;
        labelled.labels = labels;

        const int32_t *nodes = NULL;
        assert_ok(context, sinew_mesh_create_surface(context, &labelled, &surface, &nodes));
        assert_closed_surface(context, surface, 2);
        test_close("volume",
                   enclosed_volume(surface->points, surface->indices, surface->element_count), 1,
                   1e-14);

        for (int32_t v = 0; v < surface->point_count; v++) {
            assert_true(sn_distance(sn_mesh_point(surface, v), sn_mesh_point(mesh, nodes[v])) == 0);
            if (v > 0) {
                assert_true(nodes[v] > nodes[v - 1]);
            }
        }

        for (int32_t t = 0; t < surface->element_count; t++) {
            for (int i = 0; i < 3; i++) {
                assert_true(
                    has_node(mesh, surface->labels[t], nodes[sn_mesh_nodes(surface, t)[i]]));
            }
        }

        sinew_mesh_destroy(surface);
        sn_release(context, labels, (size_t)mesh->element_count, sizeof *labels);
        sinew_mesh_destroy(mesh);
    }

    sinew_context_destroy(context);
}

static void test_parts_are_distinguished(void **state) {
    (void)state;
    sinew_context *context = test_context(1);

    // Two blocks that touch along nothing, one far cube: 5 x 1 x 1 voxels with gaps.
    const uint8_t voxels[6] = {1, 1, 0, 1, 0, 1};
    sinew_voxel_mesh_def def = sinew_default_voxel_mesh_def();

    def.voxels = voxels;
    for (int k = 0; k < 3; k++) {
        def.cells[k] = k == 0 ? 6 : 1;
    }

    sinew_mesh *mesh = NULL;
    assert_ok(context, sinew_mesh_create_voxels(context, &def, &mesh));

    sn_arena arena = sn_arena_create(context);
    int32_t *parts, count;

    assert_ok(context, sn_build_components(&arena, mesh, &parts, &count));
    assert_int_equal(count, 3);

    const int32_t expected[4] = {0, 0, 1, 2};
    assert_memory_equal(parts, expected, sizeof expected);
    sn_arena_destroy(&arena);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// Two cubes that touch along an edge are one part by nodes, two by faces; an edge with many
// triangles joins all of them.
static void test_hinged_parts(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const uint8_t voxels[4] = {1, 0, 0, 1};
    sinew_voxel_mesh_def def = sinew_default_voxel_mesh_def();

    def.voxels = voxels;
    for (int k = 0; k < 3; k++) {
        def.cells[k] = k < 2 ? 2 : 1;
    }

    def.element = SINEW_ELEMENT_TET4;
    sinew_mesh *mesh = NULL;
    sinew_quality quality;

    assert_ok(context, sinew_mesh_create_voxels(context, &def, &mesh));
    assert_ok(context, sinew_mesh_compute_quality(context, mesh, &quality));
    assert_int_equal(quality.component_count, 1);
    assert_int_equal(quality.face_component_count, 2);
    sinew_mesh_destroy(mesh);

    const double points[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0};
    const int32_t fan[9] = {0, 1, 2, 1, 0, 3, 0, 1, 4};
    sinew_mesh crowded = {points, 5, SINEW_ELEMENT_TRIANGLE, fan, 3, NULL};

    assert_ok(context, sinew_mesh_compute_quality(context, &crowded, &quality));
    assert_int_equal(quality.face_component_count, 1);
    sinew_context_destroy(context);
}

static void test_edges_of_bad_surfaces(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const int32_t tet[12] = {0, 1, 3, 1, 2, 3, 2, 0, 3, 0, 2, 1};

    edge_report report = count_edges(context, tet, 4, 4);
    assert_true(report.edges == 6 && report.open == 0 && report.crowded == 0 &&
                report.inconsistent == 0);
    report = count_edges(context, tet, 3, 4);
    assert_int_equal(report.open, 3);

    const int32_t turned[12] = {0, 1, 3, 1, 2, 3, 2, 0, 3, 0, 1, 2};
    report = count_edges(context, turned, 4, 4);
    assert_int_equal(report.inconsistent, 3);

    const int32_t fan[9] = {0, 1, 2, 1, 0, 3, 0, 1, 4};
    report = count_edges(context, fan, 3, 5);
    assert_int_equal(report.crowded, 1);
    sinew_context_destroy(context);
}

static void test_sorts_are_stable(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_arena arena = sn_arena_create(context);
    sn_random random = sn_random_seed(11);

    enum { COUNT = 1000, WIDTH = 3 };
    int32_t *tuples = SN_PUSH(&arena, int32_t, COUNT * WIDTH);
    int32_t *order;
    int32_t *values = SN_PUSH(&arena, int32_t, COUNT);
    uint64_t *keys = SN_PUSH(&arena, uint64_t, COUNT);

    for (int i = 0; i < COUNT * WIDTH; i++) {
        tuples[i] = (int32_t)(sn_random_u32(&random) % 6);
    }

    for (int i = 0; i < COUNT; i++) {
        keys[i] = (uint64_t)sn_random_u32(&random) % 50 * 0x100000001000u;
        values[i] = i;
    }

    assert_ok(context, sn_sort_tuples(&arena, tuples, WIDTH, COUNT, 6, &order));
    assert_ok(context, sn_sort_by_key(&arena, keys, values, COUNT));
    for (int i = 0; i + 1 < COUNT; i++) {
        const int32_t *a = tuples + WIDTH * order[i];
        const int32_t *b = tuples + WIDTH * order[i + 1];
        int compared = 0;

        for (int k = 0; k < WIDTH && compared == 0; k++) {
            compared = (a[k] > b[k]) - (a[k] < b[k]);
        }

        assert_true(compared < 0 || (compared == 0 && order[i] < order[i + 1]));
        assert_true(keys[i] < keys[i + 1] || (keys[i] == keys[i + 1] && values[i] < values[i + 1]));
    }

    sn_arena_destroy(&arena);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node_adjacency_is_complete),
        cmocka_unit_test(test_neighbors_share_a_face),
        cmocka_unit_test(test_surface_keeps_nodes_and_labels),
        cmocka_unit_test(test_parts_are_distinguished),
        cmocka_unit_test(test_hinged_parts),
        cmocka_unit_test(test_edges_of_bad_surfaces),
        cmocka_unit_test(test_sorts_are_stable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
