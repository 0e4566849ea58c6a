// Files replaced in one piece, names of files, the content of glTF files, and checkpoints of
// scenes.
#include "public.h"

#include <sys/stat.h>
#include <unistd.h>

static bool exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

static void check_content(sinew_context *context, const char *path, const char *text) {
    sinew_bytes *read;
    assert_ok(context, sinew_bytes_load(context, path, 0, &read));
    assert_string_equal(sinew_bytes_get_data(read), text);
    sinew_bytes_destroy(read);
}

static void test_outputs(void **state) {
    (void)state;
    sinew_context *context = public_context();
    const char *path = TEST_OUTPUT_DIR "/public_output/deep/file";
    assert_ok(context, sinew_folder_create(context, TEST_OUTPUT_DIR "/public_output/deep"));
    remove(path);

    // Until it is written, only the temporary file exists, with its room, and it is locked.
    sinew_output *output, *other;
    assert_ok(context, sinew_output_create(context, path, 10000, &output));
    char temporary[512];
    snprintf(temporary, sizeof temporary, "%s", sinew_output_get_temporary(output));
    assert_true(exists(temporary));
    assert_false(exists(path));
    assert_int_equal(sinew_output_create(context, path, 0, &other), SINEW_IO_FAILED);
    assert_non_null(strstr(sinew_context_message(context), "busy"));

    // Then only the file exists, without the room that was left.
    assert_ok(context, sinew_output_write(output, "one", 3));
    assert_ok(context, sinew_output_flush(output));
    assert_null(sinew_output_get_temporary(output));
    assert_int_equal(sinew_output_write(output, "two", 3), SINEW_INVALID_ARGUMENT);
    sinew_output_destroy(output);
    assert_false(exists(temporary));
    check_content(context, path, "one");

    // An output that is given up leaves the old content.
    assert_ok(context, sinew_output_create(context, path, 0, &output));
    sinew_output_destroy(output);
    assert_false(exists(temporary));
    check_content(context, path, "one");

    // A link stays; devices are written directly; folders are not written.
    const char *link = TEST_OUTPUT_DIR "/public_output/link";
    remove(link);
    assert_int_equal(symlink("deep/file", link), 0);
    assert_ok(context, sinew_output_create(context, link, 0, &output));
    assert_ok(context, sinew_output_write(output, "three", 5));
    sinew_output_destroy(output);
    check_content(context, path, "three");
    assert_ok(context, sinew_output_create(context, "/dev/null", 0, &output));
    assert_null(sinew_output_get_temporary(output));
    assert_ok(context, sinew_output_write(output, "four", 4));
    sinew_output_destroy(output);
    assert_int_equal(sinew_output_create(context, TEST_OUTPUT_DIR, 0, &output), SINEW_IO_FAILED);

    // A file is no folder.
    assert_int_equal(sinew_folder_create(context, path), SINEW_INVALID_DATA);
    assert_int_equal(sinew_folder_flush(context, "/nowhere"), SINEW_IO_FAILED);

    sinew_context_destroy(context);
}

static void test_names(void **state) {
    (void)state;
    assert_true(sinew_name_has_ending("a.obj", ".obj"));
    assert_true(sinew_name_has_ending("folder/A.OBJ", ".obj"));
    assert_false(sinew_name_has_ending(".obj", ".obj"));
    assert_false(sinew_name_has_ending("a.obj2", ".obj"));
}

static void test_references(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_bytes *bytes;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    sinew_bytes_add_text(bytes, "x");
    assert_ok(context, sinew_folder_create(context, TEST_OUTPUT_DIR "/public_references"));
    assert_ok(context, sinew_bytes_save(bytes, TEST_OUTPUT_DIR "/public_references/main"));
    assert_ok(context, sinew_bytes_save(bytes, TEST_OUTPUT_DIR "/public_outside"));

    sinew_file *file;
    const void *data;
    size_t size;
    assert_ok(context,
              sinew_file_open(context, TEST_OUTPUT_DIR "/public_references/main", 0, &file));
    const sinew_source *source = sinew_file_get_source(file);
    assert_true(source->fetch(source->fetch_user, "main", &data, &size));
    assert_int_equal(sinew_file_get_status(file), SINEW_OK);
    assert_false(source->fetch(source->fetch_user, "absent", &data, &size));
    assert_int_equal(sinew_file_get_status(file), SINEW_NOT_FOUND);
    assert_int_equal(sinew_file_get_refused_count(file), 0);
    assert_false(source->fetch(source->fetch_user, "../public_outside", &data, &size));
    assert_int_equal(sinew_file_get_refused_count(file), 1);
    assert_int_equal(sinew_file_get_status(file), SINEW_NOT_FOUND);
    sinew_file_allow_outside(file);
    assert_true(source->fetch(source->fetch_user, "../public_outside", &data, &size));

    sinew_file_close(file);
    sinew_bytes_destroy(bytes);
    sinew_context_destroy(context);
}

static void test_gltf(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_mesh *surface = public_surface(context);
    const double times[] = {0, 0.5, 2};
    const double *points[] = {surface->points, surface->points, surface->points};
    sinew_animation_def def = sinew_default_animation_def();
    def.name = "thing";
    def.surface = surface;
    def.image_count = 3;
    def.times = times;
    def.points = points;

    sinew_bytes *bytes;
    sinew_gltf_file *file;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    assert_ok(context, sinew_animation_write(context, &def, "x.glb", bytes));
    sinew_source source = public_source("nameless", bytes);
    assert_true(sinew_gltf_file_detect(&source));
    assert_ok(context, sinew_gltf_file_read(context, &source, &file));

    sinew_gltf_counts counts = sinew_gltf_file_get_counts(file);
    assert_int_equal(counts.meshes, 1);
    assert_int_equal(counts.skins, 0);
    assert_int_equal(counts.animations, 1);
    sinew_gltf_mesh_info mesh = sinew_gltf_file_get_mesh(file, 0);
    assert_string_equal(mesh.name, "thing");
    // Points at creases are repeated, at most three times at the corners of a box.
    assert_in_range(mesh.point_count, surface->point_count + 1, 3 * surface->point_count);
    assert_int_equal(mesh.triangle_count, surface->element_count);
    assert_int_equal(mesh.target_count, 2);
    assert_true(sinew_gltf_file_get_animation(file, 0).duration == 2);
    sinew_gltf_file_destroy(file);

    source.size = 100;
    assert_int_equal(sinew_gltf_file_read(context, &source, &file), SINEW_INVALID_DATA);
    sinew_bytes_destroy(bytes);
    sinew_mesh_destroy(surface);
    sinew_context_destroy(context);
}

// --- scenes

static const char scene_text[] =
    "{\"version\": 1, \"step\": 0.01, \"steps\": 10,"
    " \"materials\": {\"gel\": {\"young\": 1e5, \"poisson\": 0.3, \"density\": 1000}},"
    " \"bodies\": [{\"name\": \"bar\", \"material\": \"gel\","
    "   \"shape\": {\"kind\": \"box\", \"size\": [1, 0.25, 0.25], \"cells\": [4, 1, 1]},"
    "   \"fixed\": [{\"box\": {\"upper\": [-0.5, 9, 9]}}],"
    "   \"loads\": [{\"name\": \"pull\", \"where\": {\"box\": {\"lower\": [0.5, -9, -9]}},"
    "     \"force\": [3, 0, 0]}]}],"
    " \"probes\": [{\"name\": \"tip\", \"body\": \"bar\", \"point\": [0.5, 0, 0]}]}";

static sinew_scene *make_scene(sinew_context *context, const char *setting) {
    sinew_source source = {.name = "bar.json", .data = scene_text, .size = strlen(scene_text)};
    sinew_scene_read_def def = sinew_default_scene_read_def();
    def.settings = &setting;
    def.setting_count = setting ? 1 : 0;
    sinew_scene *scene;
    assert_ok(context, sinew_scene_read(context, &source, &def, NULL, &scene));
    assert_ok(context, sinew_scene_build(scene, NULL));
    return scene;
}

static void test_scene_info(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_scene *scene = make_scene(context, NULL);
    sinew_scene_info info;
    sinew_scene_get_info(scene, &info);
    assert_int_equal(info.attachment_count, 0);

    sinew_scene_body_info body;
    assert_ok(context, sinew_scene_get_body_info(scene, 0, &body));
    assert_string_equal(body.model, "elastic");
    assert_int_equal(body.support_count, 1);
    assert_int_equal(body.load_count, 1);
    assert_int_equal(body.material_count, 1);
    assert_int_equal(body.frame_capacity, 0);
    assert_int_equal(sinew_scene_get_body_info(scene, 1, &body), SINEW_INVALID_ARGUMENT);

    int32_t label = 7;
    sinew_material_def material;
    int32_t gel = sinew_scene_get_body_material(scene, 0, 0, &label);
    assert_int_equal(label, -1);
    assert_string_equal(sinew_scene_get_material(scene, gel, &material), "gel");
    assert_true(material.young == 1e5);
    assert_int_equal(sinew_scene_get_body_material(scene, 0, 1, &label), -1);

    double point[3];
    assert_int_equal(sinew_scene_get_probe_body(scene, 0, point), 0);
    assert_true(point[0] == 0.5);
    assert_int_equal(sinew_scene_get_probe_body(scene, 1, NULL), -1);

    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
}

// In equilibrium the support takes up the load and the weight.
static void test_forces(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_scene *scene = make_scene(context, NULL);
    sinew_step_report report;
    assert_ok(context, sinew_scene_solve_static(scene, &report));
    assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);

    double area = 1, force[3];
    assert_ok(context, sinew_scene_compute_load(scene, 0, &area, force));
    assert_true(area == 0 && force[0] == 3 && force[1] == 0 && force[2] == 0);
    assert_int_equal(sinew_scene_compute_load(scene, 1, NULL, NULL), SINEW_INVALID_ARGUMENT);

    assert_ok(context, sinew_scene_set_load_scale(scene, 0, 0.5));
    assert_ok(context, sinew_scene_compute_load(scene, 0, NULL, force));
    assert_true(force[0] == 1.5);

    sinew_support_report supports[2];
    assert_ok(context, sinew_scene_compute_supports(scene, 0, supports));
    assert_string_equal(supports[0].name, "fixed[0]");
    assert_string_equal(supports[1].name, "other");
    double weight = 1000 * 1 * 0.25 * 0.25 * 9.81;
    assert_true(fabs(supports[0].force[0] + 3) < 1e-4 * weight);
    assert_true(fabs(supports[0].force[2] - weight) < 1e-4 * weight);
    assert_true(fabs(supports[1].force[2]) < 1e-4 * weight);

    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
}

static void test_checkpoints(void **state) {
    (void)state;
    sinew_context *context = public_context();
    sinew_scene *scene = make_scene(context, NULL);
    for (int i = 0; i < 3; i++) {
        assert_ok(context, sinew_scene_step(scene, NULL));
    }

    sinew_bytes *bytes;
    assert_ok(context, sinew_bytes_create(context, &bytes));
    assert_ok(context, sinew_scene_write_checkpoint(scene, bytes));
    assert_int_equal(sinew_bytes_get_size(bytes), sinew_scene_get_checkpoint_size(scene));
    assert_ok(context, sinew_scene_step(scene, NULL));
    uint64_t hash = sinew_world_get_hash(sinew_scene_get_world(scene));

    // The same scene continues bit for bit, whatever it writes; another one refuses.
    sinew_source source = public_source("state", bytes);
    sinew_scene *same = make_scene(context, "output.every=3");
    assert_ok(context, sinew_scene_read_checkpoint(same, &source));
    assert_ok(context, sinew_scene_step(same, NULL));
    assert_true(sinew_world_get_hash(sinew_scene_get_world(same)) == hash);
    sinew_scene *other = make_scene(context, "materials.gel.young=2e5");
    assert_int_equal(sinew_scene_read_checkpoint(other, &source), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "another scene"));

    // Damage anywhere is refused.
    char *copy = malloc(source.size);
    assert_non_null(copy);
    for (size_t at = 0; at < source.size; at += 1 + source.size / 97) {
        memcpy(copy, source.data, source.size);
        copy[at] ^= 4;
        sinew_source damaged = {.name = "state", .data = copy, .size = source.size};
        assert_int_not_equal(sinew_scene_read_checkpoint(same, &damaged), SINEW_OK);
    }
    for (size_t size = 0; size < source.size; size += 1 + source.size / 31) {
        sinew_source cut = {.name = "state", .data = source.data, .size = size};
        assert_int_not_equal(sinew_scene_read_checkpoint(same, &cut), SINEW_OK);
    }
    assert_true(sinew_world_get_hash(sinew_scene_get_world(same)) == hash);

    free(copy);
    sinew_scene_destroy(other);
    sinew_scene_destroy(same);
    sinew_scene_destroy(scene);
    sinew_bytes_destroy(bytes);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outputs),     cmocka_unit_test(test_names),
        cmocka_unit_test(test_references),  cmocka_unit_test(test_gltf),
        cmocka_unit_test(test_scene_info),  cmocka_unit_test(test_forces),
        cmocka_unit_test(test_checkpoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
