// Organisms: valid meshes of the requested size with their labels, hollow chambers, curves that
// fields accept.
#include "support/test.h"

#include "geom/search/search.h"
#include "geom/mesh/mesh.h"
#include "io/generate/organism.h"

static void test_kinds(void **state) {
    (void)state;
    sinew_context *context = test_context(1);

    assert_int_equal(sn_organism_count(), 3);
    for (int32_t k = 0; k < sn_organism_count(); k++) {
        sn_organism *organism;
        int32_t requested = k == SN_ORGANISM_PLANT ? 3000 : 2500;

        assert_int_equal(sn_organism_create(context, (sn_organism_kind)k, requested, &organism),
                         SINEW_OK);

        const sinew_mesh *mesh = sn_organism_get_mesh(organism);
        assert_int_equal(sinew_mesh_check(context, mesh), SINEW_OK);

        sinew_quality quality;
        assert_int_equal(sinew_mesh_compute_quality(context, mesh, &quality), SINEW_OK);
        assert_int_equal(quality.face_component_count, 1);
        assert_true(mesh->element_count > 0.6 * requested && mesh->element_count < 1.4 * requested);

        int32_t counts[3] = {0};
        for (int32_t e = 0; e < mesh->element_count; e++) {
            assert_in_range(mesh->labels[e], 1, 2);
            counts[mesh->labels[e]]++;
        }

        assert_true(counts[1] > 200 && (counts[2] > 1000) == (k == SN_ORGANISM_PLANT));

        // The tets fill the skin except for tips that taper to less than a cell, which has twelve
        // tets.
        sinew_embedding *embedding;
        double outside;

        assert_int_equal(
            sinew_embedding_create(context, sn_organism_get_skin(organism), mesh, &embedding),
            SINEW_OK);
        sinew_embedding_get_outside(embedding, NULL, &outside);
        assert_true(outside < 1.5 * cbrt(12 * quality.volume / mesh->element_count));
        sinew_embedding_destroy(embedding);

        sinew_field_def def = sinew_default_field_def();
        def.mesh = mesh;
        def.kind = sn_organism_get_field_kind(organism);
        def.curves = sn_organism_get_curves(organism, &def.curve_count);
        def.unknowns = SINEW_FIELD_BY_VERTEX; // fewer

        sinew_field *field;
        if (sinew_field_create(context, &def, &field) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(context));
        }

        sinew_field_report report;
        sinew_field_get_report(field, &report);
        assert_int_equal(report.isolated_part_count, 0);

        // The plant's quaternions grow towards the tips of leaves.
        for (int32_t e = 0; e < mesh->element_count; e++) {
            double certainty = sinew_field_get_certainties(field)[e];
            assert_true(certainty >= 0 && certainty <= 1);
        }
        sinew_field_destroy(field);
        sn_organism_destroy(organism);
    }

    sn_organism *organism;
    assert_int_equal(sn_organism_create(context, SN_ORGANISM_FISH, 100, &organism),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sn_organism_create(context, SN_ORGANISM_PLANT, 2999, &organism),
                     SINEW_INVALID_ARGUMENT);
    assert_non_null(
        strstr(sinew_context_message(context), "a plant of 2999 tets; it takes at least 3000"));
    assert_int_equal(sn_organism_create(context, (sn_organism_kind)7, 0, &organism),
                     SINEW_INVALID_ARGUMENT);
    sn_organism_destroy(NULL);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

// A shell with two chambers: three closed surfaces, and the middles of the chambers lie outside.
static void test_chambers(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_organism *heart;

    assert_int_equal(sn_organism_create(context, SN_ORGANISM_HEART, 5000, &heart), SINEW_OK);
    sinew_mesh *surface;

    assert_int_equal(
        sinew_mesh_create_surface(context, sn_organism_get_mesh(heart), &surface, NULL), SINEW_OK);

    sn_arena arena = sn_arena_create(context);
    int32_t *parts, count;

    assert_int_equal(sn_build_components(&arena, surface, &parts, &count), SINEW_OK);
    assert_int_equal(count, 3);

    sn_triangle_tree tree;
    assert_int_equal(sn_triangle_tree_build(&arena, surface->points, surface->indices,
                                            surface->element_count, &tree),
                     SINEW_OK);
    test_close("left chamber", sn_triangle_tree_winding(&tree, sn_v3(-0.014, 0, 0), 0), 0, 1e-9);
    test_close("right chamber", sn_triangle_tree_winding(&tree, sn_v3(0.018, 0, 0), 0), 0, 1e-9);
    test_close("the wall between", sn_triangle_tree_winding(&tree, sn_v3(0.003, 0, 0), 0), 1, 1e-9);
    sn_arena_destroy(&arena);
    sinew_mesh_destroy(surface);
    sn_organism_destroy(heart);
    sinew_context_destroy(context);
}

// Creates curves and skin without tets while each allocation fails once.
static void test_memory_shortage(void **state) {
    (void)state;
    bool done = false;
    for (int64_t n = 0; !done; n++) {
        test_allocator allocator = {.fail_at = INT64_MAX};
        sinew_context *context = test_context_failing(&allocator);

        allocator.fail_at = allocator.calls + n;
        sn_organism *organism = NULL;
        sinew_status status = sn_organism_create(context, SN_ORGANISM_PLANT, 0, &organism);

        done = status == SINEW_OK;
        if (!done) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }
        if (done) {
            assert_true(n > 0 && sn_organism_get_mesh(organism) == NULL);
        }

        sn_organism_destroy(organism);
        assert_int_equal(context->bytes_in_use, 0);
        sinew_context_destroy(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds),
                                       cmocka_unit_test(test_chambers),
                                       cmocka_unit_test(test_memory_shortage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
