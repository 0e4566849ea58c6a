// Tables of tissues, rigs in files, variants of a body and plots, through the public headers.
#include "public.h"

// --- tables

static const char table_text[] =
    "{\"1\": {\"name\": \"flesh\", \"material\": {\"young\": 6e4, \"poisson\": 0.45}},"
    " \"2\": {\"name\": \"bone\", \"material\": {\"preset\": \"bone\"}, \"rigid\": true}}";

static sinew_tissue_table *read_table(sinew_context *context) {
    sinew_source source = {.name = "t.json", .data = table_text, .size = strlen(table_text)};
    sinew_tissue_table *table;
    assert_ok(context, sinew_tissue_table_read(context, &source, NULL, NULL, &table));
    return table;
}

static void test_tables(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_tissue_table *table = read_table(context);
    int32_t count;
    const sinew_autorig_tissue *tissues = sinew_tissue_table_get(table, &count);
    assert_int_equal(count, 2);
    assert_true(tissues[0].label == 1 && tissues[0].material.young == 6e4 && !tissues[0].rigid);
    assert_true(tissues[1].label == 2 && tissues[1].rigid);
    assert_string_equal(sinew_tissue_table_get_name(table, 1), "bone");
    assert_null(sinew_tissue_table_get_name(table, 2));
    sinew_tissue_table_destroy(table);

    // A specimen has one of its own.
    assert_ok(context, sinew_tissue_table_create_specimen(context, SINEW_SPECIMEN_KNEE, &table));
    sinew_tissue_table_get(table, &count);
    assert_true(count > 1);
    sinew_tissue_table_destroy(table);

    // Every mistake has its place.
    const char wrong[] = "{\"0\": {}, \"1\": {\"nme\": \"x\"}}";
    sinew_source source = {.name = "t.json", .data = wrong, .size = strlen(wrong)};
    sinew_scene_mistakes mistakes = {0};
    assert_ok(context, sinew_bytes_create(context, &mistakes.text));
    assert_int_equal(sinew_tissue_table_read(context, &source, NULL, &mistakes, &table),
                     SINEW_INVALID_DATA);
    assert_int_equal(mistakes.count, 2);
    assert_non_null(strstr(sinew_bytes_get_data(mistakes.text), "t.json:1:"));
    sinew_bytes_destroy(mistakes.text);
    sinew_context_destroy(context);
}

// An atlas of 116 labels by two ranges, one label of its own and a default.
static void test_ranges(void **state) {
    (void)state;
    sinew_context *context = public_context();
    uint16_t labels[120];
    for (int i = 0; i < 120; i++) {
        labels[i] = (uint16_t)(i < 116 ? 10 * (i + 1) : 0);
    }
    sinew_label_grid grid = {.cells = {120, 1, 1}, .spacing = {1, 1, 1}, .labels16 = labels};
    sinew_voxels *voxels;
    assert_ok(context, sinew_voxels_create_from_labels(context, &grid, SIZE_MAX, &voxels));

    const char text[] = "{\"1-500\": {\"name\": \"cortex\", \"material\": {\"young\": 2e3}},"
                        " \"501-509\": {}, \"7\": {\"rigid\": true}, \"510\": {\"rigid\": true},"
                        " \"default\": {\"material\": {\"young\": 9e3}}}";
    sinew_source source = {.name = "t.json", .data = text, .size = strlen(text)};
    sinew_scene_mistakes mistakes = {0};
    sinew_tissue_table *table;
    assert_int_equal(sinew_tissue_table_read(context, &source, voxels, &mistakes, &table),
                     SINEW_INVALID_DATA); // 7 is in 1-500 already
    assert_int_equal(mistakes.count, 1);

    const char good[] = "{\"1-500\": {\"name\": \"cortex\", \"material\": {\"young\": 2e3}},"
                        " \"510\": {\"rigid\": true}, \"2000\": {},"
                        " \"default\": {\"material\": {\"young\": 9e3}}}";
    source = (sinew_source){.name = "t.json", .data = good, .size = strlen(good)};
    assert_ok(context, sinew_tissue_table_read(context, &source, voxels, NULL, &table));
    int32_t count;
    const sinew_autorig_tissue *tissues = sinew_tissue_table_get(table, &count);
    assert_int_equal(count, 117); // the solid's labels and 2000, which is named by itself
    for (int32_t i = 0; i < 116; i++) {
        assert_int_equal(tissues[i].label, 10 * (i + 1));
        assert_true(i == 50 ? tissues[i].rigid : tissues[i].material.young == (i < 50 ? 2e3 : 9e3));
    }
    assert_string_equal(sinew_tissue_table_get_name(table, 49), "cortex");
    assert_string_equal(sinew_tissue_table_get_name(table, 50), "label 510");
    assert_string_equal(sinew_tissue_table_get_name(table, 51), "other labels");
    sinew_tissue_table_destroy(table);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);
}

// --- rigs

// A box with a rigid core, as a model of six frames.
typedef struct rig {
    sinew_voxels *voxels;
    sinew_world *world;
    sinew_body *body;
    sinew_tissue_table *table;
    sinew_autorig_def def;
    sinew_autorig_report report;
} rig;

static void make_rig(sinew_context *context, rig *r) {
    sinew_solid_def solids[2] = {sinew_default_solid_def(), sinew_default_solid_def()};
    solids[0].size[0] = 2;
    solids[1].label = 2;
    for (int c = 0; c < 3; c++) {
        solids[1].size[c] = 0.4;
    }
    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.resolution = 20;
    assert_ok(context, sinew_voxels_create_from_solids(context, solids, 2, &grid, &r->voxels));

    r->table = read_table(context);
    sinew_world_def world = sinew_default_world_def();
    assert_ok(context, sinew_world_create(context, &world, &r->world));
    r->def = sinew_default_autorig_def();
    r->def.voxels = r->voxels;
    r->def.placement.count = 6;
    r->def.kind = SINEW_NODE_AFFINE; // Voronoi weights, which are never negative, suit a skin
    r->def.tissues = sinew_tissue_table_get(r->table, &r->def.tissue_count);
    assert_ok(context, sinew_autorig_create(r->world, &r->def, &r->report, &r->body));
}

static void destroy_rig(rig *r) {
    sinew_world_destroy(r->world);
    sinew_voxels_destroy(r->voxels);
    sinew_tissue_table_destroy(r->table);
}

static void test_rig_files(void **state) {
    (void)state;
    sinew_context *context = public_context();
    rig r = {0};
    make_rig(context, &r);
    sinew_rig_file_def def = sinew_default_rig_file_def();
    def.name = "thing";
    def.body = r.body;
    def.autorig = &r.def;
    def.report = &r.report;
    def.tissues = r.table;

    // The scene with its labels makes the same model.
    sinew_bytes *out;
    assert_ok(context, sinew_bytes_create(context, &out));
    assert_ok(context, sinew_folder_create(context, TEST_OUTPUT_DIR "/public_rig"));
    assert_ok(context, sinew_rig_write_scene(context, &def, out));
    assert_ok(context, sinew_bytes_save(out, TEST_OUTPUT_DIR "/public_rig/scene.json"));
    assert_ok(context,
              sinew_voxels_save(context, r.voxels, TEST_OUTPUT_DIR "/public_rig/labels.nrrd"));
    sinew_scene *scene;
    assert_ok(context, sinew_scene_load(context, TEST_OUTPUT_DIR "/public_rig/scene.json", NULL,
                                        NULL, &scene));
    assert_ok(context, sinew_scene_build(scene, NULL));
    const sinew_body *again = sinew_scene_get_body(scene, sinew_scene_find_body(scene, "thing"));
    assert_int_equal(sinew_frame_body_get_node_count(again), 6);
    int32_t rigid = 0;
    for (int32_t i = 0; i < 6; i++) {
        sinew_node_kind kinds[2];
        double rest[2][3];
        assert_ok(context, sinew_frame_body_get_kind(r.body, i, &kinds[0]));
        assert_ok(context, sinew_frame_body_get_kind(again, i, &kinds[1]));
        assert_ok(context, sinew_frame_body_get_rest(r.body, i, rest[0]));
        assert_ok(context, sinew_frame_body_get_rest(again, i, rest[1]));
        assert_int_equal(kinds[0], kinds[1]);
        rigid += kinds[0] == SINEW_NODE_RIGID;
        for (int c = 0; c < 3; c++) {
            assert_true(fabs(rest[0][c] - rest[1][c]) < 1e-9);
        }
    }
    assert_int_equal(rigid, 1);
    sinew_scene_destroy(scene);

    // Joints and weights.
    double loss = -1;
    sinew_gltf_file *glb;
    sinew_bytes_clear(out);
    assert_ok(context, sinew_rig_write_skin(context, &def, out, &loss));
    assert_true(loss >= 0 && loss < 0.1);
    sinew_source source = public_source("skin.glb", out);
    assert_ok(context, sinew_gltf_file_read(context, &source, &glb));
    assert_int_equal(sinew_gltf_file_get_counts(glb).skins, 1);
    assert_int_equal(sinew_gltf_file_get_skin(glb, 0).joint_count, 6);
    sinew_gltf_file_destroy(glb);

    // Three pictures beside each other, not all of one colour.
    sinew_picture *picture;
    assert_ok(context, sinew_rig_render(context, &def, &picture));
    int32_t width = sinew_picture_get_width(picture);
    assert_true(width >= 3 * 400);
    const uint8_t *pixels = sinew_picture_get_pixels(picture);
    int32_t different = 0;
    for (int32_t i = 3; i < 3 * width * sinew_picture_get_height(picture); i += 3) {
        different += memcmp(pixels + i, pixels, 3) != 0;
    }
    assert_true(different > 1000);
    sinew_picture_destroy(picture);

    // What is missing is refused.
    def.report = NULL;
    assert_int_equal(sinew_rig_write_scene(context, &def, out), SINEW_INVALID_ARGUMENT);
    sinew_rig_file_def unfilled = {0};
    assert_int_equal(sinew_rig_render(context, &unfilled, &picture), SINEW_INVALID_ARGUMENT);

    sinew_bytes_destroy(out);
    destroy_rig(&r);
    sinew_context_destroy(context);
}

static void test_regions_and_parts(void **state) {
    (void)state;
    sinew_context *context = public_context();
    rig r = {0};
    make_rig(context, &r);
    int32_t count = sinew_voxels_get_count(r.voxels);
    int32_t *numbers = malloc((size_t)count * sizeof *numbers);
    assert_non_null(numbers);

    // Every voxel belongs to a sample.
    for (int32_t v = 0; v < count; v++) {
        numbers[v] = -1;
    }
    assert_ok(context, sinew_frame_body_compute_regions(r.body, numbers));
    for (int32_t v = 0; v < count; v++) {
        assert_true(numbers[v] >= 0 && numbers[v] < r.report.sampling.sample_count);
    }

    int32_t parts = 0;
    assert_ok(context, sinew_voxels_compute_parts(r.voxels, numbers, &parts));
    assert_int_equal(parts, 1);
    assert_true(numbers[0] == 0 && numbers[count - 1] == 0);
    free(numbers);
    destroy_rig(&r);

    // All memory is counted, and given back.
    assert_int_equal(sinew_context_get_memory(context), 0);
    sinew_context_destroy(context);
}

// --- variants

static const char bar[] =
    "{\"version\": 1, \"step\": 0.01, \"steps\": 10,"
    " \"materials\": {\"gel\": {\"young\": 1e5, \"poisson\": 0.3, \"density\": 1000}},"
    " \"bodies\": [{\"name\": \"bar\", \"material\": \"gel\", \"position\": [0, 2, 0],"
    "   \"shape\": {\"kind\": \"box\", \"size\": [1, 0.25, 0.25], \"cells\": [8, 2, 2]},"
    "   \"fixed\": [{\"box\": {\"upper\": [-0.5, 9, 9]}}]}]}";

// How far a variant moves the tip within ten steps.
static double drop_of(sinew_context *context, sinew_variants *variants,
                      const sinew_variant_def *def) {
    sinew_variant *variant;
    double before[3], after[3];
    assert_ok(context, sinew_variant_create(variants, def, &variant));
    assert_true(sinew_variant_get_unknown_count(variant) > 0);
    assert_ok(context, sinew_variant_compute_points(variant, before));
    assert_true(fabs(before[0] - 0.5) < 1e-6 && fabs(before[1] - 2) < 1e-6);
    for (int i = 0; i < 10; i++) {
        assert_ok(context, sinew_variant_step(variant));
    }
    assert_ok(context, sinew_variant_compute_points(variant, after));
    sinew_variant_destroy(variant);
    return before[2] - after[2];
}

static void test_variants(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_source source = {.name = "bar.json", .data = bar, .size = strlen(bar)};
    sinew_scene *scene;
    sinew_variants *variants;
    assert_ok(context, sinew_scene_read(context, &source, NULL, NULL, &scene));
    assert_int_equal(sinew_variants_create(scene, 1, &variants), SINEW_INVALID_ARGUMENT);
    assert_ok(context, sinew_variants_create(scene, 0, &variants));
    assert_true(sinew_variants_can_refine(variants));
    assert_int_equal(sinew_body_get_element_count(sinew_variants_get_body(variants)),
                     8 * 2 * 2 * 5);
    const double tip[3] = {0.5, 0, 0};
    assert_ok(context, sinew_variants_set_points(variants, tip, 1));

    // All models fall, by about as much: within 20 % of fine elements, frames within a half.
    sinew_variant_def def = sinew_default_variant_def();
    def.quadratic = true;
    double reference = drop_of(context, variants, &def);
    assert_true(reference > 0.02);
    def = sinew_default_variant_def();
    assert_true(fabs(drop_of(context, variants, &def) / reference - 1) < 0.2);
    def.law = "corotational";
    def.refine = 0.5;
    assert_true(fabs(drop_of(context, variants, &def) / reference - 1) < 0.5);
    def = sinew_default_variant_def();
    def.kind = SINEW_VARIANT_FRAMES;
    def.node_count = 5;
    assert_true(fabs(drop_of(context, variants, &def) / reference - 1) < 0.5);
    def.kind = SINEW_VARIANT_POSITIONS;
    def.iterations = 80;
    assert_true(fabs(drop_of(context, variants, &def) / reference - 1) < 0.5);

    // What a model cannot do is refused with the reason.
    sinew_variant *variant;
    def.kind = SINEW_VARIANT_FRAMES;
    def.node_count = 1;
    assert_int_equal(sinew_variant_create(variants, &def, &variant), SINEW_UNSUPPORTED);
    def.node_count = 0;
    assert_int_equal(sinew_variant_create(variants, &def, &variant), SINEW_INVALID_ARGUMENT);
    sinew_variant_def unfilled = {0};
    assert_int_equal(sinew_variant_create(variants, &unfilled, &variant), SINEW_INVALID_ARGUMENT);

    sinew_variants_destroy(variants);
    sinew_scene_destroy(scene);
    assert_int_equal(sinew_context_get_memory(context), 0);
    sinew_context_destroy(context);
}

static void test_plots(void **state) {
    (void)state;
    sinew_context *context = public_context();
    const double x[] = {1, 10, 100}, y[] = {3, 2, 1};
    sinew_plot_series series = sinew_default_plot_series();
    series.label = "falling";
    series.x = x;
    series.y = y;
    series.count = 3;
    sinew_plot_panel panel = {
        .title = "A panel", .x = {.logarithmic = true}, .series = &series, .series_count = 1};
    sinew_plot plot = {.panels = &panel, .panel_count = 1};
    sinew_bytes *out;
    assert_ok(context, sinew_bytes_create(context, &out));
    assert_ok(context, sinew_plot_write(context, &plot, out));
    assert_non_null(strstr(sinew_bytes_get_data(out), "<svg"));
    assert_non_null(strstr(sinew_bytes_get_data(out), "falling"));
    sinew_bytes_destroy(out);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_rig_files),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_regions_and_parts),
        cmocka_unit_test(test_plots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
