// Scenes and pictures through the public headers: read from bytes and from a path, built, stepped,
// looked into by names, rendered; every mistake reported.
#include "public.h"

static const char bar[] =
    "{ \"version\": 1, \"title\": \"bar\", \"step\": 0.01, \"duration\": 0.1,"
    "  \"gravity\": [0, 0, 0],"
    "  \"materials\": { \"gel\": { \"young\": 1e5, \"poisson\": 0.4, \"density\": 1000 } },"
    "  \"bodies\": [{ \"name\": \"bar\", \"material\": \"gel\","
    "    \"shape\": { \"kind\": \"box\", \"size\": [1, 0.25, 0.25], \"cell\": 0.125 },"
    "    \"fixed\": [{ \"box\": { \"upper\": [-0.49, 1, 1] } }],"
    "    \"loads\": [{ \"name\": \"pull\", \"force\": [10, 0, 0],"
    "      \"where\": { \"box\": { \"lower\": [0.49, -1, -1] } } }] }],"
    "  \"probes\": [{ \"name\": \"tip\", \"body\": \"bar\", \"point\": [0.5, 0, 0] }] }";

static sinew_scene *read_bar(sinew_context *context) {
    sinew_scene *scene;
    sinew_source source = {.name = "bar.json", .data = bar, .size = sizeof bar - 1};
    assert_ok(context, sinew_scene_read(context, &source, NULL, NULL, &scene));
    return scene;
}

static double tip(sinew_context *context, sinew_scene *scene) {
    sinew_probe_state state;
    int32_t probe = sinew_scene_find_probe(scene, "tip");
    assert_int_equal(probe, 0);
    assert_ok(context, sinew_scene_read_probe(scene, probe, &state));
    return state.displacement[0];
}

static void test_names(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_scene *scene = read_bar(context);
    sinew_scene_info info;
    sinew_scene_get_info(scene, &info);
    assert_string_equal(info.title, "bar");
    assert_int_equal(info.steps, 10);

    // Before it is built there is nothing to step.
    assert_null(sinew_scene_get_world(scene));
    assert_null(sinew_scene_get_body(scene, 0));
    assert_int_equal(sinew_scene_step(scene, NULL), SINEW_INVALID_ARGUMENT);
    assert_ok(context, sinew_scene_build(scene, NULL));
    assert_int_equal(sinew_scene_build(scene, NULL), SINEW_INVALID_ARGUMENT);

    assert_int_equal(sinew_scene_get_body_count(scene), 1);
    assert_int_equal(sinew_scene_find_body(scene, "bar"), 0);
    assert_int_equal(sinew_scene_find_body(scene, "rod"), -1);
    assert_string_equal(sinew_body_get_name(sinew_scene_get_body(scene, 0)), "bar");
    assert_null(sinew_scene_get_body(scene, 1));
    assert_null(sinew_scene_get_body_field(scene, 0));
    assert_int_equal(sinew_scene_get_body_mesh(scene, 0)->element, SINEW_ELEMENT_TET4);
    assert_int_equal(sinew_scene_find_probe(scene, "top"), -1);
    assert_int_equal(sinew_scene_find_load(scene, "push"), -1);

    sinew_scene_load_info load;
    assert_ok(context, sinew_scene_get_load(scene, sinew_scene_find_load(scene, "pull"), &load));
    assert_string_equal(load.kind, "force");
    assert_int_equal(load.body, 0);
    assert_true(load.scale == 1);
    assert_int_equal(sinew_scene_get_load(scene, 1, &load), SINEW_INVALID_ARGUMENT);
    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
}

// A load without its factor leaves the bar where it is; with it the bar gets longer, as Hooke says:
// F L / (E A) = 1.6 mm, a little less where the held end cannot narrow.
static void test_loads(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_scene *scene = read_bar(context);
    assert_ok(context, sinew_scene_build(scene, NULL));
    assert_ok(context, sinew_scene_set_load_scale(scene, 0, 0));
    assert_ok(context, sinew_scene_step(scene, NULL));
    assert_true(tip(context, scene) == 0);

    assert_ok(context, sinew_scene_set_load_scale(scene, 0, 1));
    assert_ok(context, sinew_scene_solve_static(scene, NULL));
    double once = tip(context, scene);
    assert_true(once > 0.0013 && once < 0.0017);
    assert_ok(context, sinew_scene_set_load_scale(scene, 0, 2));
    assert_ok(context, sinew_scene_solve_static(scene, NULL));
    assert_true(fabs(tip(context, scene) / once - 2) < 0.02);
    assert_int_equal(sinew_scene_set_load_scale(scene, 0, NAN), SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_scene_set_load_scale(scene, 5, 1), SINEW_INVALID_ARGUMENT);
    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
}

// From a path, changed on the way; a snapshot leads to the same state twice.
static void test_path(void **state) {
    (void)state;
    sinew_context *context = public_context();
    const char *path = TEST_OUTPUT_DIR "/public_bar.json";
    sinew_bytes *bytes;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    sinew_bytes_add_text(bytes, bar);
    assert_ok(context, sinew_bytes_save(bytes, path));
    sinew_bytes_destroy(bytes);

    const char *const settings[] = {"duration=0.05"};
    sinew_scene_read_def def = sinew_default_scene_read_def();
    def.settings = settings;
    def.setting_count = 1;
    sinew_scene *scene;
    sinew_scene_info info;
    assert_ok(context, sinew_scene_load(context, path, &def, NULL, &scene));
    sinew_scene_get_info(scene, &info);
    assert_int_equal(info.steps, 5);
    assert_ok(context, sinew_scene_build(scene, NULL));

    sinew_world *world = sinew_scene_get_world(scene);
    size_t size = sinew_world_get_snapshot_size(world);
    void *snapshot = malloc(size);
    assert_non_null(snapshot);
    assert_ok(context, sinew_scene_step(scene, NULL));
    assert_ok(context, sinew_world_take_snapshot(world, snapshot, size));
    double time = 0;
    assert_true(sinew_snapshot_get_time(snapshot, size, &time) && fabs(time - 0.01) < 1e-12);
    assert_false(sinew_snapshot_get_time("no", 2, &time));
    assert_ok(context, sinew_scene_step(scene, NULL));
    uint64_t hash = sinew_world_get_hash(world);
    assert_ok(context, sinew_scene_restore(scene, snapshot, size));
    assert_ok(context, sinew_scene_step(scene, NULL));
    assert_true(sinew_world_get_hash(world) == hash);
    assert_false(sinew_scene_has_ended(scene));
    free(snapshot);
    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
}

// A mesh that the scene names comes from the host.
static bool fetch(void *user, const char *name, const void **data, size_t *size) {
    const sinew_bytes *mesh = user;
    if (strcmp(name, "bar.msh") != 0) {
        return false;
    }
    *data = sinew_bytes_get_data(mesh);
    *size = sinew_bytes_get_size(mesh);
    return true;
}

static void test_fetch(void **state) {
    (void)state;
    static const char text[] = "{ \"version\": 1, \"bodies\": [{ \"name\": \"bar\","
                               "  \"shape\": { \"file\": \"bar.msh\" } }] }";
    sinew_context *context = public_context();
    sinew_mesh *mesh = public_bar(context);
    mesh->labels = NULL;
    sinew_bytes *bytes;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    assert_ok(context, sinew_mesh_write(context, mesh, "bar.msh", NULL, bytes));

    sinew_source source = {.name = "scene.json",
                           .data = text,
                           .size = sizeof text - 1,
                           .fetch = fetch,
                           .fetch_user = bytes};
    sinew_scene *scene;
    assert_ok(context, sinew_scene_read(context, &source, NULL, NULL, &scene));
    assert_ok(context, sinew_scene_build(scene, NULL));
    assert_int_equal(sinew_body_get_element_count(sinew_scene_get_body(scene, 0)),
                     mesh->element_count);
    sinew_scene_destroy(scene);

    // Nobody to ask: reading works, building does not.
    source.fetch = NULL;
    assert_ok(context, sinew_scene_read(context, &source, NULL, NULL, &scene));
    sinew_scene_mistakes mistakes = {0};
    assert_int_not_equal(sinew_scene_build(scene, &mistakes), SINEW_OK);
    assert_int_equal(mistakes.count, 1);
    assert_non_null(strstr(sinew_context_message(context), "bar.msh"));
    assert_null(sinew_scene_get_world(scene));
    sinew_scene_destroy(scene);
    sinew_bytes_destroy(bytes);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

static void test_mistakes(void **state) {
    (void)state;
    static const char text[] = "{ \"version\": 1,\n  \"stepp\": 0.01,\n  \"bodies\": 7 }";
    sinew_context *context = public_context();
    sinew_scene_mistakes mistakes = {0};
    sinew_scene *scene = NULL;
    assert_ok(context, sinew_bytes_create(context, &mistakes.text));
    sinew_source source = {.name = "bad.json", .data = text, .size = sizeof text - 1};
    assert_int_equal(sinew_scene_read(context, &source, NULL, &mistakes, &scene),
                     SINEW_INVALID_DATA);
    assert_null(scene);
    assert_int_equal(mistakes.count, 2);
    const char *found = sinew_bytes_get_data(mistakes.text);
    assert_non_null(strstr(found, "bad.json:2:"));
    assert_non_null(strstr(found, "bad.json:3:"));
    assert_int_equal(sinew_scene_load(context, "/nowhere/at.all", NULL, NULL, &scene),
                     SINEW_NOT_FOUND);
    sinew_bytes_destroy(mistakes.text);
    sinew_context_destroy(context);
}

static int32_t count_colors(const sinew_picture *picture) {
    const uint8_t *pixels = sinew_picture_get_pixels(picture);
    int32_t width = sinew_picture_get_width(picture);
    int32_t height = sinew_picture_get_height(picture);
    int32_t warm = 0;
    for (int32_t i = 0; i < width * height; i++) {
        const uint8_t *p = pixels + 3 * (size_t)i;
        warm += p[0] > p[2] + 40; // the map goes from cream to red; backdrop and shadows are grey
    }
    return warm;
}

static void test_render(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_scene *scene = read_bar(context);
    sinew_picture_def def = sinew_default_picture_def();
    sinew_picture *picture = NULL;
    def.width = 200;
    def.height = 150;
    assert_int_equal(sinew_scene_render(scene, SINEW_SCENE_COLOR_STRAIN, 0, &def, &picture),
                     SINEW_INVALID_ARGUMENT);
    assert_ok(context, sinew_scene_build(scene, NULL));
    assert_ok(context, sinew_scene_solve_static(scene, NULL));
    assert_ok(context,
              sinew_scene_render(scene, SINEW_SCENE_COLOR_DISPLACEMENT, 0, &def, &picture));
    assert_int_equal(sinew_picture_get_width(picture), 200);
    assert_int_equal(sinew_picture_get_height(picture), 150);
    assert_true(count_colors(picture) > 200 * 150 / 50);

    sinew_bytes *bytes;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    sinew_status written = sinew_picture_write(picture, bytes);
    assert_true(written == SINEW_OK || written == SINEW_UNSUPPORTED);
    if (written == SINEW_OK) {
        assert_memory_equal(sinew_bytes_get_data(bytes), "\x89PNG\r\n\x1a\n", 8);
        assert_ok(context, sinew_picture_save(picture, TEST_OUTPUT_DIR "/public_bar.png"));
    }
    sinew_bytes_destroy(bytes);
    sinew_picture_destroy(picture);

    // A surface of one's own, from above; a camera without a direction; a picture without a size.
    sinew_picture_surface surface = sinew_default_picture_surface();
    surface.mesh = sinew_scene_get_surface(scene, 0);
    surface.points = sinew_scene_compute_surface(scene, 0);
    surface.has_color = true;
    surface.color = 0xE02000;
    picture = NULL;
    assert_ok(context, sinew_picture_render(context, &surface, 1, &def, &picture));
    assert_true(count_colors(picture) > 200 * 150 / 50);
    sinew_picture_destroy(picture);
    memset(def.direction, 0, sizeof def.direction);
    assert_int_equal(sinew_picture_render(context, &surface, 1, &def, &picture),
                     SINEW_INVALID_ARGUMENT);
    def = sinew_default_picture_def();
    def.width = 0;
    assert_int_equal(sinew_picture_render(context, &surface, 1, &def, &picture),
                     SINEW_INVALID_ARGUMENT);

    double *values = malloc((size_t)surface.mesh->point_count * sizeof *values);
    assert_non_null(values);
    assert_ok(context,
              sinew_scene_compute_values(scene, 0, SINEW_SCENE_COLOR_DISPLACEMENT, values));
    assert_int_equal(sinew_scene_compute_values(scene, 0, SINEW_SCENE_COLOR_NONE, values),
                     SINEW_INVALID_ARGUMENT);
    free(values);
    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),    cmocka_unit_test(test_loads),
        cmocka_unit_test(test_path),     cmocka_unit_test(test_fetch),
        cmocka_unit_test(test_mistakes), cmocka_unit_test(test_render),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
