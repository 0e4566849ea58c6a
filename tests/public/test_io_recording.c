// Recordings through the public headers: which files a run writes, when, and where they go.
#include "public.h"

#define BODY                                                                                       \
    "\"name\": \"bar\", \"material\": \"gel\","                                                    \
    "\"shape\": {\"kind\": \"box\", \"size\": [1, 0.25, 0.25], \"cells\": [4, 1, 1]},"             \
    "\"fixed\": [{\"box\": {\"upper\": [-0.5, 9, 9]}}]"

#define SCENE(body)                                                                                \
    "{\"version\": 1, \"step\": 0.01, \"steps\": 6,"                                               \
    " \"materials\": {\"gel\": {\"young\": 1e5, \"poisson\": 0.3, \"density\": 1000}},"            \
    " \"output\": {\"formats\": [\"csv\", \"glb\"], \"every\": 2},"                                \
    " \"preview\": {\"count\": 3, \"size\": [64, 48]},"                                            \
    " \"bodies\": [{" body "}],"                                                                   \
    " \"probes\": [{\"name\": \"tip\", \"body\": \"bar\", \"point\": [0.4, 0, 0]}]}"

static const char elements[] = SCENE(BODY);
static const char frames[] =
    "{\"version\": 1, \"step\": 0.01, \"steps\": 6,"
    " \"bodies\": [{\"name\": \"bar\", \"model\": \"frames\","
    "  \"shape\": {\"solids\": [{\"kind\": \"box\", \"size\": [1, 0.3, 0.3]}]},"
    "  \"frames\": {\"resolution\": 12, \"nodes\": ["
    "   {\"position\": [-0.4, 0, 0], \"hold\": \"all\"},"
    "   {\"position\": [0.4, 0, 0]}]}}]}";

static sinew_scene *make_scene(sinew_context *context, const char *text) {
    sinew_source source = {.name = "bar.json", .data = text, .size = strlen(text)};
    sinew_scene *scene;
    assert_ok(context, sinew_scene_read(context, &source, NULL, NULL, &scene));
    assert_ok(context, sinew_scene_build(scene, NULL));
    return scene;
}

// Files in memory: their names and sizes, and after how many the next one is refused.
typedef struct memory {
    char names[400][64];
    size_t sizes[400];
    int32_t count, most;
} memory;

static sinew_status take(void *user, const char *name, const void *data, size_t size) {
    memory *m = user;
    assert_non_null(data);
    assert_true(m->count < 400);
    if (m->most > 0 && m->count == m->most) {
        return SINEW_IO_FAILED;
    }
    snprintf(m->names[m->count], sizeof *m->names, "%s", name);
    m->sizes[m->count++] = size;
    return SINEW_OK;
}

static size_t size_of(const memory *m, const char *name) {
    for (int32_t i = 0; i < m->count; i++) {
        if (strcmp(m->names[i], name) == 0) {
            return m->sizes[i];
        }
    }
    return 0;
}

static void record(sinew_context *context, sinew_scene *scene, sinew_recording *recording,
                   int32_t steps) {
    assert_ok(context, sinew_recording_add(recording, NULL, steps == 0));
    for (int32_t i = 1; i <= steps; i++) {
        sinew_step_report report;
        assert_ok(context, sinew_scene_step(scene, &report));
        assert_ok(context, sinew_recording_add(recording, &report, i == steps));
    }
}

static void test_files(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_scene *scene = make_scene(context, elements);
    static memory m;
    sinew_recording_def def = sinew_default_recording_def(scene);
    assert_int_equal(def.formats, SINEW_FORMAT_CSV | SINEW_FORMAT_GLB);
    assert_int_equal(def.every, 2);
    assert_int_equal(def.steps, 6);
    def.formats |= SINEW_FORMAT_VTU | SINEW_FORMAT_PLY | SINEW_FORMAT_PC2 | SINEW_FORMAT_PNG;
    def.write = take;
    def.write_user = &m;

    sinew_recording *recording;
    assert_ok(context, sinew_recording_create(scene, &def, &recording));
    record(context, scene, recording, 5);

    // Steps 0, 2, 4 and the last one, with two files each.
    sinew_recording_info info;
    sinew_recording_get_info(recording, &info);
    assert_int_equal(info.image_count, 4);
    assert_int_equal(info.last_image, 5);
    assert_int_equal(info.step_count, 5);
    assert_int_equal(m.count, 8);
    assert_true(size_of(&m, "bar_00003.vtu") > 0 && size_of(&m, "bar_00003.ply") > 0);

    m.count = 0;
    assert_ok(context, sinew_recording_finish(recording));
    sinew_recording_get_info(recording, &info);
    assert_int_equal(m.count, 5 + !info.pictureless);
    assert_true(size_of(&m, "probes.csv") > 0 && size_of(&m, "bar.pvd") > 0);
    assert_true(size_of(&m, "scene.glb") > 0 && size_of(&m, "bar.obj") > 0);
    int32_t points = sinew_scene_get_surface(scene, 0)->point_count;
    assert_int_equal(size_of(&m, "bar.pc2"), 32 + 4 * 12 * (size_t)points);
    assert_true(info.pictureless || size_of(&m, "preview.png") > 0);
    sinew_recorded_skin skin;
    assert_false(sinew_recording_get_skin(recording, 0, &skin));

    sinew_bytes *summary;
    assert_ok(context, sinew_bytes_create(context, &summary));
    assert_ok(context, sinew_recording_write_summary(recording, "stopped", "no reason", summary));
    const char *text = sinew_bytes_get_data(summary);
    assert_non_null(strstr(text, "\"outcome\": \"stopped\""));
    assert_non_null(strstr(text, "\"reason\": \"no reason\""));
    assert_non_null(strstr(text, "\"steps\": 5"));
    sinew_bytes_destroy(summary);

    sinew_recording_destroy(recording);
    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
}

// More images than were announced; a step that is recorded again is not written again.
static void test_many_images(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_scene *scene = make_scene(context, elements);
    static memory m;
    sinew_recording_def def = sinew_default_recording_def(scene);
    def.formats = SINEW_FORMAT_OBJ | SINEW_FORMAT_PC2 | SINEW_FORMAT_CSV;
    def.every = 1;
    def.write = take;
    def.write_user = &m;

    sinew_recording *recording;
    assert_ok(context, sinew_recording_create(scene, &def, &recording));
    record(context, scene, recording, 150);
    assert_int_equal(m.count, 151);
    assert_ok(context, sinew_recording_add(recording, NULL, true));
    assert_ok(context, sinew_recording_finish(recording));
    int32_t points = sinew_scene_get_surface(scene, 0)->point_count;
    assert_int_equal(size_of(&m, "bar.pc2"), 32 + 151 * 12 * (size_t)points);

    sinew_recording_destroy(recording);
    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
}

static int32_t count_lines(const char *text) {
    int32_t lines = 0;
    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

static void test_folder(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_scene *scene = make_scene(context, elements);
    sinew_recording_def def = sinew_default_recording_def(scene);
    def.folder = TEST_OUTPUT_DIR "/public_recording/run";
    sinew_recording *recording;
    assert_ok(context, sinew_recording_create(scene, &def, &recording));
    assert_ok(context, sinew_recording_add(recording, NULL, false));
    for (int i = 0; i < 3; i++) {
        assert_ok(context, sinew_scene_step(scene, NULL));
        assert_ok(context, sinew_recording_add(recording, NULL, false));
    }

    // Only now it is known that step 3 is the last one.
    assert_ok(context, sinew_recording_add(recording, NULL, true));
    assert_ok(context, sinew_recording_finish(recording));
    sinew_recording_destroy(recording);

    // A line of names, then steps 0 to 3.
    sinew_bytes *table;
    assert_ok(context, sinew_bytes_load(context, TEST_OUTPUT_DIR "/public_recording/run/probes.csv",
                                        0, &table));
    assert_int_equal(count_lines(sinew_bytes_get_data(table)), 5);
    sinew_bytes_destroy(table);
    sinew_gltf_file *glb;
    assert_ok(context, sinew_gltf_file_load(
                           context, TEST_OUTPUT_DIR "/public_recording/run/scene.glb", &glb));
    assert_true(fabs(sinew_gltf_file_get_animation(glb, 0).duration - 0.03) < 1e-6);
    sinew_gltf_file_destroy(glb);

    def.folder = "/dev/null/nowhere";
    assert_int_equal(sinew_recording_create(scene, &def, &recording), SINEW_IO_FAILED);
    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
}

// A file that is refused ends the call; its image does not count, and the rest can be finished.
static void test_refusals(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_scene *scene = make_scene(context, elements);
    static memory m;
    sinew_recording_def def = sinew_default_recording_def(scene);
    def.formats = SINEW_FORMAT_PLY | SINEW_FORMAT_GLB;
    def.every = 1;
    def.write = take;
    def.write_user = &m;
    m.most = 1;

    sinew_recording *recording;
    sinew_recording_info info;
    assert_ok(context, sinew_recording_create(scene, &def, &recording));
    assert_ok(context, sinew_recording_add(recording, NULL, false));
    assert_ok(context, sinew_scene_step(scene, NULL));
    assert_int_equal(sinew_recording_add(recording, NULL, false), SINEW_IO_FAILED);
    sinew_recording_get_info(recording, &info);
    assert_int_equal(info.image_count, 1);
    assert_int_equal(sinew_recording_finish(recording), SINEW_IO_FAILED);
    m.most = 0;
    assert_ok(context, sinew_recording_finish(recording));
    assert_true(size_of(&m, "scene.glb") > 0);
    sinew_recording_destroy(recording);

    // Definitions out of range, and scenes that cannot be recorded so.
    sinew_recording_def wrong = {0};
    assert_int_equal(sinew_recording_create(scene, &wrong, &recording), SINEW_INVALID_ARGUMENT);
    wrong = def;
    wrong.every = 0;
    assert_int_equal(sinew_recording_create(scene, &wrong, &recording), SINEW_INVALID_ARGUMENT);
    wrong = def;
    wrong.formats = 1 << 8;
    assert_int_equal(sinew_recording_create(scene, &wrong, &recording), SINEW_INVALID_ARGUMENT);
    wrong = def;
    wrong.skin_joints = 5;
    assert_int_equal(sinew_recording_create(scene, &wrong, &recording), SINEW_INVALID_ARGUMENT);
    wrong = def;
    wrong.direction[0] = NAN;
    assert_int_equal(sinew_recording_create(scene, &wrong, &recording), SINEW_INVALID_ARGUMENT);
    wrong = def;
    wrong.formats = SINEW_FORMAT_SKIN;
    assert_int_equal(sinew_recording_create(scene, &wrong, &recording), SINEW_UNSUPPORTED);
    sinew_scene_destroy(scene);

    sinew_source source = {.name = "bar.json", .data = elements, .size = strlen(elements)};
    assert_ok(context, sinew_scene_read(context, &source, NULL, NULL, &scene));
    assert_int_equal(sinew_recording_create(scene, NULL, &recording), SINEW_INVALID_ARGUMENT);
    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
}

static void test_skins(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_scene *scene = make_scene(context, frames);
    static memory m;
    sinew_recording_def def = sinew_default_recording_def(scene);
    def.formats = SINEW_FORMAT_SKIN | SINEW_FORMAT_VTU;
    def.write = take;
    def.write_user = &m;

    sinew_recording *recording;
    sinew_recorded_skin skin;
    assert_ok(context, sinew_recording_create(scene, &def, &recording));
    record(context, scene, recording, 6);
    assert_ok(context, sinew_recording_finish(recording));
    assert_true(size_of(&m, "bar_frames_00002.vtu") > 0 && size_of(&m, "bar_skin.glb") > 0);
    assert_true(sinew_recording_get_skin(recording, 0, &skin));
    assert_false(sinew_recording_get_skin(recording, 1, &skin));

    // Two rigid frames are what a skin can replay, up to the floats of the file.
    assert_int_equal(skin.joint_count, 2);
    assert_true(skin.truncated_weight == 0);
    assert_true(skin.largest_error < 1e-5);

    sinew_recording_destroy(recording);
    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),  cmocka_unit_test(test_many_images),
        cmocka_unit_test(test_folder), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_skins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
